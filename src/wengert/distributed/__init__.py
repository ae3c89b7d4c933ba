"""``torch.distributed``, which is not there: one process computes.

``is_available()`` is False, as in a PyTorch that was built without it. What needs other processes is an error.

>>> import wengert as torch
>>> torch.distributed.is_available(), torch.distributed.is_initialized()
(False, False)
"""

from __future__ import annotations

from typing import Any

from .._absent import dummy
from .._base.errors import noted

_QUESTIONS = (
    "is_available", "is_gloo_available", "is_initialized", "is_mpi_available", "is_nccl_available",
    "is_torchelastic_launched", "is_ucc_available", "is_xccl_available",
)  # fmt: skip
_REFUSED = (
    "all_gather", "all_gather_into_tensor", "all_gather_object", "all_reduce", "all_to_all", "all_to_all_single",
    "barrier", "broadcast", "broadcast_object_list", "destroy_process_group", "gather", "gather_object", "get_backend",
    "get_global_rank", "get_process_group_ranks", "get_rank", "get_world_size", "irecv", "isend",
    "monitored_barrier", "new_group", "recv", "reduce", "reduce_scatter", "reduce_scatter_tensor", "scatter",
    "scatter_object_list", "send",
)  # fmt: skip


def _no(name: str) -> Any:
    def function() -> bool:
        return False

    function.__name__ = function.__qualname__ = name
    function.__doc__ = "False: there is one process."
    return function


def _refusing(name: str) -> Any:
    def function(*args: Any, **kwargs: Any) -> Any:
        raise noted(
            # PyTorch's error before init_process_group, which programs catch
            ValueError("Default process group has not been initialized, please make sure to call init_process_group."),
            f"Why: torch.distributed.{name} concerns several processes; wengert computes in one.",
            "What to do: call it only if torch.distributed.is_available() and torch.distributed.is_initialized().",
        )

    function.__name__ = function.__qualname__ = name
    function.__doc__ = "Needs other processes: ValueError."
    return function


def init_process_group(*args: Any, **kwargs: Any) -> None:
    """Not possible: RuntimeError."""
    raise noted(
        RuntimeError("torch.distributed.init_process_group: wengert computes in one process"),
        "What to do: call it only if torch.distributed.is_available().",
    )


globals().update({name: _no(name) for name in _QUESTIONS})
globals().update({name: _refusing(name) for name in _REFUSED})


class ReduceOp:
    """The names of reductions."""

    SUM, PRODUCT, MIN, MAX, BAND, BOR, BXOR, AVG = "SUM", "PRODUCT", "MIN", "MAX", "BAND", "BOR", "BXOR", "AVG"


# Where processes would find each other.
Store, FileStore, HashStore, PrefixStore, TCPStore = (
    dummy(name) for name in ("Store", "FileStore", "HashStore", "PrefixStore", "TCPStore")
)


class ProcessGroup:
    """A group of processes, of which there is none: for annotations and ``isinstance``."""


class group:
    """The group of all processes: none."""

    WORLD = None


from . import device_mesh as device_mesh  # noqa: E402  after what it is made with
from .device_mesh import DeviceMesh, init_device_mesh  # noqa: E402

__all__ = [  # noqa: PLE0604  the names of tables
    "DeviceMesh",
    "FileStore",
    "HashStore",
    "PrefixStore",
    "ProcessGroup",
    "ReduceOp",
    "Store",
    "TCPStore",
    "group",
    "init_device_mesh",
    "init_process_group",
    *_QUESTIONS,
    *_REFUSED,
]
