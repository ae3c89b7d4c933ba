"""``ReduceOp``: the names of reductions, and what MPI calls them."""

from __future__ import annotations

from enum import IntEnum
from typing import Any

import numpy as np

from .._base.errors import noted
from . import _mpi

__all__ = ["ReduceOp", "ReduceOptions", "reduce_op"]


class RedOpType(IntEnum):
    """The kinds of reductions."""

    SUM, AVG, PRODUCT, MIN, MAX, BAND, BOR, BXOR, PREMUL_SUM, UNUSED = range(10)

    def __repr__(self) -> str:
        return f"<RedOpType.{self.name}: {self.value}>"

    def __str__(self) -> str:
        return f"RedOpType.{self.name}"


class ReduceOp:
    """A reduction: ``ReduceOp.SUM``, ``AVG``, ``PRODUCT``, ``MIN``, ``MAX``, ``BAND``, ``BOR`` or ``BXOR``.

    ``AVG`` is the sum divided by the number of processes.

    >>> import wengert as torch
    >>> torch.distributed.ReduceOp.SUM
    <RedOpType.SUM: 0>
    """

    RedOpType: Any = RedOpType
    SUM, AVG, PRODUCT, MIN = RedOpType.SUM, RedOpType.AVG, RedOpType.PRODUCT, RedOpType.MIN
    MAX, BAND, BOR, BXOR = RedOpType.MAX, RedOpType.BAND, RedOpType.BOR, RedOpType.BXOR
    PREMUL_SUM, UNUSED = RedOpType.PREMUL_SUM, RedOpType.UNUSED

    def __init__(self, op: Any) -> None:
        self.op = RedOpType(op)

    def __eq__(self, other: Any) -> bool:
        return self.op == kind_of(other) if isinstance(other, (ReduceOp, RedOpType)) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.op)


class reduce_op:
    """The old names of ``ReduceOp``'s: ``reduce_op.SUM``."""

    SUM, PRODUCT, MIN, MAX = ReduceOp.SUM, ReduceOp.PRODUCT, ReduceOp.MIN, ReduceOp.MAX


class ReduceOptions:
    """What a process group's own methods take: the reduction, the root, the time."""

    def __init__(self) -> None:
        self.reduceOp: Any = ReduceOp.SUM
        self.rootRank = self.rootTensor = 0
        self.timeout: Any = None
        self.asyncOp = True


def kind_of(op: Any) -> RedOpType:
    """The kind of a reduction; ``TypeError`` if it is none."""
    if type(op) is RedOpType:
        return op
    if isinstance(op, ReduceOp):
        return op.op
    raise noted(
        TypeError(f"(): incompatible function arguments. {op!r} is no ReduceOp"),
        "What to do: torch.distributed.ReduceOp.SUM, for example.",
    )


_NAMES = {"PRODUCT": "PROD", "AVG": "SUM"}
_OF_BOOLS = {"SUM": "LOR", "MAX": "LOR", "BOR": "LOR", "AVG": "LOR",
             "PRODUCT": "LAND", "MIN": "LAND", "BAND": "LAND", "BXOR": "LXOR"}  # fmt: skip


def mpis(op: RedOpType, dtype: np.dtype[Any]) -> Any:
    """MPI's operation for arrays of a dtype.

    Raises:
        RuntimeError: it is for integers, or is not there.
    """
    name = op.name
    if name in ("PREMUL_SUM", "UNUSED"):
        raise RuntimeError(f"Cannot use ReduceOp.{name} with Gloo")
    if dtype.kind == "b":
        return getattr(_mpi.MPI, _OF_BOOLS[name])
    if name in ("BAND", "BOR", "BXOR") and dtype.kind not in "iu":
        raise RuntimeError(f"Cannot use ReduceOp.{name} with non-integral dtype")
    return getattr(_mpi.MPI, _NAMES.get(name, name))
