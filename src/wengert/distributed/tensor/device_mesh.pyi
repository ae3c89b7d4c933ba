# Made by tools/make_stubs.py; do not edit.
from ...distributed.device_mesh import DeviceMesh as DeviceMesh, init_device_mesh as init_device_mesh
