"""``torch.nn.parallel``: ``DataParallel``, which on one device calls its module directly, and several processes.

``DistributedDataParallel`` is in ``distributed``, which is imported when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from ..._base.absent import refusing
from ..._compat import find_rows
from .data_parallel import DataParallel, data_parallel
from .scatter_gather import gather, scatter

__all__ = [
    "DataParallel", "DistributedDataParallel", "data_parallel", "gather", "parallel_apply", "replicate", "scatter",
]  # fmt: skip

replicate = refusing("replicate", AssertionError, "Broadcast function not implemented for CPU tensors")
parallel_apply = refusing("parallel_apply", RuntimeError, "Cannot access accelerator device when none is available.")


def __getattr__(name: str) -> Any:
    if name in ("DistributedDataParallel", "distributed"):  # needs torch.distributed, which few programs do
        module = import_module(f"{__name__}.distributed")
        return module if name == "distributed" else module.DistributedDataParallel
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


find_rows(globals())
