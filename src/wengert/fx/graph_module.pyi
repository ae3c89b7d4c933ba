# Made by tools/make_stubs.py; do not edit.
from ..fx import GraphModule as GraphModule

__all__ = [
    "GraphModule",
]
