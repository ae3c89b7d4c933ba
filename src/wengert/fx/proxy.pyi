# Made by tools/make_stubs.py; do not edit.
from ..fx import Proxy as Proxy
from ..fx import Tracer as TracerBase

__all__ = [
    "Proxy",
    "TracerBase",
]
