"""The lines ``Executing: <MulBackward0 object at ...> with grad_outputs: [f32[3]]`` of the log "torch.autograd.graph".

NOTE [ Who asks for the lines ]
    A pass must not ask a logger for its level, and ``import wengert`` does not import ``logging``. So the logger tells:
    Python empties the ``_cache`` of every logger whenever a level changes. ``watch`` runs when an operator's module is
    imported and the program has imported ``logging``, or the environment has TORCH_LOGS.
"""

from __future__ import annotations

import logging
import os
import time
from typing import Any

from .._base.dtypes import BY_NUMPY
from .delivery import leaf_observers
from .engine import NothingArrives, observers
from .node import Parts, Port, hooked_leaves
from .tensor import Tensor

LOGS = {"autograd": "torch.autograd", "all": "torch"}  # TORCH_LOGS's names -> loggers
LOG = logging.getLogger("torch.autograd.graph")


def _shown(g: Any) -> str:
    if g is None:
        return "None"
    dtype = g.dtype if isinstance(g, Tensor) else BY_NUMPY.get(g.dtype, g.dtype)
    return f"{getattr(dtype, 'abbr', dtype)}[{', '.join(map(str, g.shape))}]"


def _executing(n: Any, g: Any, step: Any) -> Any:
    if type(n) is not Port:
        node = n.node if type(n) is NothingArrives else n
        count = max(len(getattr(node, "outputs_meta", ())), 1)
        given = [g.parts.get(k) for k in range(count)] if type(g) is Parts else [g]
        LOG.debug("Executing: %s with grad_outputs: [%s]", node, ",".join(map(_shown, given)))
    return step()


class _Told(dict[int, bool]):
    """A logger's cache of levels, which is emptied when a level changes."""

    mark: Any = None  # makes passes accumulate into leaves in PyTorch's order

    def clear(self) -> None:
        super().clear()
        wanted = LOG.getEffectiveLevel() <= logging.DEBUG
        if wanted is (self.mark is not None):
            return
        self.mark = hooked_leaves.mark() if wanted else None
        for known in (observers, leaf_observers):
            if wanted:
                known.append(_executing)
            else:
                known.remove(_executing)


class Formatter(logging.Formatter):
    """PyTorch's form of a line: ``V1123 02:17:25.967000 30534 torch/autograd/graph.py:955] ...``."""

    def format(self, record: logging.LogRecord) -> str:
        """The record's lines, each with its level, time, process and place."""
        at = time.strftime("%m%d %H:%M:%S", time.localtime(record.created))
        level = {"DEBUG": "V"}.get(record.levelname, record.levelname[:1])
        place = f"{os.path.basename(record.pathname)}:{record.lineno}"
        before = f"{level}{at}.{int(record.msecs * 1000):06d} {record.process} {place}]"
        return "\n".join(f"{before} {line}" for line in record.getMessage().split("\n"))


def watch() -> None:
    """Write the lines from now on as long as the logger's level asks for them."""
    if type(LOG._cache) is _Told:
        return
    LOG._cache = _Told()
    above = logging.getLogger("torch")
    if above.level == logging.NOTSET:  # the root's level does not ask for the lines
        above.setLevel(logging.WARNING)
    mine = logging.getLogger("torch.autograd")
    if not mine.handlers:
        mine.addHandler(logging.StreamHandler())
        mine.handlers[-1].setFormatter(Formatter())
        mine.propagate = False
    set_levels(os.environ.get("TORCH_LOGS", ""))


def set_levels(settings: str) -> None:
    """Set levels by a text as that of TORCH_LOGS: ``+autograd`` all lines, ``autograd`` INFO, ``-autograd`` errors."""
    for setting in settings.split(","):
        name = LOGS.get(setting.strip().lstrip("+-"))
        if name is not None:
            level = {"+": logging.DEBUG, "-": logging.ERROR}.get(setting.strip()[0], logging.INFO)
            logging.getLogger(name).setLevel(level)
    LOG._cache.clear()
