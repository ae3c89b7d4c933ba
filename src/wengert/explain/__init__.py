"""Answers to "why": where a tensor comes from, why a gradient is None, NaN or zero, what holds memory, what takes time.

>>> import wengert as torch
>>> from wengert import explain
>>> w = torch.ones(3, requires_grad=True)
>>> explain.none(w, (w.detach() * 2).sum())
w.grad is None: the loss has no history, so no gradient can reach anything.

Every function looks at what the graph holds anyway (nodes, lines, saved values) and at hooks that it removes again;
nothing is recorded for it in advance. The answers are objects whose text is the answer: at a prompt they show
themselves, in a program ``print`` shows them. The module itself is callable: ``explain(x)`` is ``explain.about(x)``.

======================  =================================================================
``explain(x)``          what a tensor is, where it comes from, which leaves it depends on
``none(x, loss)``       why ``x.grad`` is None
``nan(loss)``           the first value that is not finite, forward or backward
``zero(loss, model)``   where gradients become zero
``memory()``            the graphs that are alive, by the line that made them
``time(step)``          forward and backward time by line of the program
``graph(loss)``         the graph as a picture and as a text tree, repeated lines folded
``steps(loss)``         one HTML page that steps through the backward pass
======================  =================================================================
"""

from __future__ import annotations

import sys
import types
from typing import Any

from ._facts import Answer
from ._graph import Picture, graph
from ._history import about, none
from ._memory import memory
from ._passes import nan, zero
from ._steps import Page, steps
from ._time import time

__all__ = ["Answer", "Page", "Picture", "about", "graph", "memory", "nan", "none", "steps", "time", "zero"]


class _Callable(types.ModuleType):
    def __call__(self, x: Any) -> Answer:
        return about(x)


sys.modules[__name__].__class__ = _Callable
