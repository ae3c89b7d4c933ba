"""Control flow as functions of functions: ``cond``, ``while_loop``, ``scan``, ``associative_scan``, ``map``.

They are Python's own ``if`` and loops, with PyTorch's rules for arguments and results, and are differentiable. While a
graph is written, each is a node of it (``_written``).
"""

from .associative_scan import associative_scan
from .cond import cond
from .map import map
from .scan import scan
from .while_loop import while_loop

__all__ = ["associative_scan", "cond", "map", "scan", "while_loop"]
