"""Control flow as functions of functions: ``cond``, ``while_loop``, ``scan``, ``associative_scan``, ``map``.

PyTorch has them for its tracer. Here nothing is traced: they are Python's own ``if`` and loops, with PyTorch's rules
for what goes in and comes out, and can be differentiated like all else.
"""

from __future__ import annotations

from .associative_scan import associative_scan
from .cond import cond
from .map import map
from .scan import scan
from .while_loop import while_loop

__all__ = ["associative_scan", "cond", "map", "scan", "while_loop"]
