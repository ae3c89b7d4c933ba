# Made by tools/make_stubs.py; do not edit.
from ...distributed.device_mesh import DeviceMesh as DeviceMesh
from ...distributed.device_mesh import init_device_mesh as init_device_mesh

__all__ = [
    "DeviceMesh",
    "init_device_mesh",
]
