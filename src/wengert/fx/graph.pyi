# Made by tools/make_stubs.py; do not edit.
from ..fx import Graph as Graph

__all__ = [
    "Graph",
]
