"""``cross_entropy``: the negative log-likelihood of a softmax's logarithm, in one step if possible.

NOTE [ One node for two ]
    PyTorch records a LogSoftmaxBackward0 and, after it, a NllLossBackward0. Only one log-probability in each row is
    used, and the cotangents of all others are zero. So the usual call, whose targets are classes, does not compute
    them: its one node saves the exponentials and makes the cotangent of the logits from them, in their memory. That
    node is the NllLossBackward0. Reading its next node, registering a hook on it or differentiating twice makes it
    ``split`` into the two nodes, with log-probabilities made from the exponentials.
"""

from __future__ import annotations

import math
import operator
from sys import _getframe as getframe
from typing import Any

import numpy as np

from ..._arrays.along import all_below
from ..._arrays.library import ARITHMETIC, silently
from ..._arrays.losses import (
    IN_PYTHON,
    MEAN,
    NONE,
    SUM,
    cross_entropies,
    cross_entropy_slopes,
    total_cross_entropy,
    total_loss,
)
from ..._base import errors as lines
from ..._base.dtypes import BLAS_FLOATS, FLOATING, INT64
from ..._base.modes import slow_if_recording
from ..._base.registry import ARRAYS, REGISTRY, TENSORS, public
from ..._kinds.slow_path import require
from ..._tape.engine import observers
from ..._tape.error_text import expect_tensors
from ..._tape.node import Box, Parts, box_of, ticks
from ..._tape.promotion import cast, logical_dtype
from ..._tape.saved import stale
from ..._tape.tensor import Tensor, make, wrap
from ..._tape.unfused import node_of, shown_as
from ..._tape.view_chain import with_node_name
from ..linalg.matmul import dtype_name
from .classification import nll_nd
from .loss import reduction_code

ndarray = np.ndarray


# ---- the node
_NLL: Any = REGISTRY["nll"].node


class OneStep(_NLL):
    """The node of both operators, NOTE [ One node for two ]; ``outputs_meta``: results of the kernel, the dtype."""

    __slots__ = ()
    fx: Any
    outputs_meta: Any
    values: Any

    def backward(self, xp: Any, g: Any, keep: bool) -> tuple[Any, ...]:
        if xp is not ARRAYS or type(g) is Parts or observers:
            first, d = self.split().backward(xp, g, keep)
            return first.backward(xp, d, keep)  # the pass has not counted `first`
        _, target, _, reduction, _ = self.values
        cell = target.cell
        if cell is not None and cell._seq > self._seq:
            stale(self, target)
        edge = self.fx[0]
        e, sums, dtype = self.outputs_meta
        d = cross_entropy_slopes(g, target.a, e, sums, dtype, reduction, not keep)
        if not keep:
            e = None
            self._release()
        return (edge, d)

    def _release(self) -> None:
        _NLL._release(self)
        self.outputs_meta = None

    def split(self) -> Any:
        """Turn this node into that of the second operator alone, with a new node for the first behind it."""
        if self.outputs_meta is None:  # it was freed: its step will raise
            self.__class__ = _NLL
            return self
        e, sums, dtype = self.outputs_meta
        with np.errstate(divide="ignore"):
            logs = np.log(e)
            if sums is not None:
                logs -= np.log(sums)[:, None]
        box = Box()
        box.a = logs.astype(dtype, copy=False)
        box.cell = None
        first = node_of("log_softmax", self, 0.5, fx=self.fx[:1], values=[box, 1])
        self.fx = (first, None, None)
        self.outputs_meta = None
        self.__class__ = _NLL
        return self

    @property
    def keeper(self) -> Any:
        """The node on whose saved values hooks are registered."""
        return self.split()


OneStep.__name__ = OneStep.__qualname__ = "NllLossBackward0"
OneStep.__module__ = "builtins"
shown_as(OneStep, lambda n: n.split() and None)  # the node itself is split


def _in_one_step(input: Any, target: Any, a: Any, t: Any, reduction: int) -> Tensor:
    """The cross entropy of logits ``(N, C)`` and N classes, without weights or other options."""
    fx = input._node
    recorded = fx is not None
    if not recorded and a.size <= IN_PYTHON and reduction != NONE:
        total = total_cross_entropy(a, t)
        if total is not None:
            return wrap(a.dtype.type(total / len(a) if reduction == MEAN else total))
    try:
        losses, e, sums = cross_entropies(a, t, recorded)
    except ARITHMETIC:
        losses, e, sums = silently(cross_entropies, a, t, recorded)
    r: Any = make()
    r._payload = total_loss(losses, a.dtype, reduction)
    r._box = r._node = None
    if recorded:
        r._node = n = OneStep()
        n.fx = (fx, None, None)
        n.values = [a.shape, box_of(target), None, reduction, None]
        n.outputs_meta = (e, sums, a.dtype)
        n._seq = next(ticks)
        n._hooks = None
        frame = lines.user_frame(getframe(2))
        n._code = frame.f_code
        n._lasti = frame.f_lasti
    return r


# ---- public functions
@public("nn.functional.cross_entropy")
def cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    """Cross entropy of ``softmax(input)`` and targets: classes (int64), or probabilities of the input's shape.

    ``input`` holds logits, ``(C,)``, ``(N, C)`` or ``(N, C, d1, ...)``. See ``nll_loss`` for ``weight`` and
    ``ignore_index``; ``label_smoothing`` mixes that share of the uniform distribution into the targets.

    >>> torch.nn.functional.cross_entropy(torch.zeros(2, 10), torch.tensor([3, 7]))
    tensor(2.3026)
    """
    code = reduction_code(reduction, size_average, reduce)
    a, t = getattr(input, "_payload", None), getattr(target, "_payload", None)
    if type(a) is type(t) is ndarray and a.ndim == 2 and t.ndim == 1 and not label_smoothing and a.dtype in BLAS_FLOATS:
        if (
            weight is None
            and not slow_if_recording
            and len(t) == len(a) > 0
            and t.dtype is INT64
            and not 0 <= ignore_index < a.shape[1]
            and all_below(t, a.shape[1])
            and a.flags.c_contiguous
            and type(input) is type(target) is Tensor
        ):
            return _in_one_step(input, target, a, t, code)
        return nll_nd(TENSORS.log_softmax(input, 1), target, weight, code, ignore_index)
    expect_tensors("cross_entropy_loss", input=input, target=target)
    if label_smoothing > 1.0:
        raise RuntimeError(f"label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing}")
    class_dim = 0 if input._payload.ndim == 1 else 1
    if tuple(input.shape) == tuple(target.shape):
        if logical_dtype(target) not in FLOATING:
            raise RuntimeError(
                f"Expected floating point type for target with class probabilities, got {dtype_name(target)}"
            )
        if ignore_index >= 0:
            raise RuntimeError("ignore_index is not supported for floating point target")
        _check_class_weight(input, weight, class_dim)
        return _from_probabilities(input, target, weight, code, label_smoothing, class_dim)
    require(input, "fh", f"log_softmax_{'' if input._payload.ndim > 2 else 'lastdim_'}kernel_impl")
    if label_smoothing > 0.0:
        _check_class_weight(input, weight, class_dim)
        return _smoothed(
            TENSORS.log_softmax(input, class_dim), target, weight, code, ignore_index, label_smoothing, class_dim
        )
    return nll_nd(TENSORS.log_softmax(input, class_dim), target, weight, code, ignore_index)


def _check_class_weight(input: Any, weight: Any, class_dim: int) -> None:
    n = input._payload.shape[class_dim]
    if weight is not None and tuple(weight.shape) != (n,):
        raise RuntimeError(
            f"cross_entropy: weight tensor should be defined either for all {n} classes or no classes but got weight "
            f"tensor of shape: {list(weight.shape)}"
        )


def _by_class(weight: Any, rank: int, class_dim: int) -> Any:
    """The weights in a shape that broadcasts along the classes."""
    return TENSORS.reshape(weight, tuple(weight._payload.shape[0] if d == class_dim else 1 for d in range(rank)))


def _from_probabilities(input: Any, target: Any, weight: Any, code: int, label_smoothing: float, class_dim: int) -> Any:
    n = input._payload.shape[class_dim]
    if label_smoothing > 0.0:
        target = target * (1 - label_smoothing) + label_smoothing / n
    product = TENSORS.log_softmax(input, class_dim) * target
    if weight is not None:
        product = product * _by_class(weight, input._payload.ndim, class_dim)
    if code == NONE:
        return -product.sum(class_dim)
    total = -product.sum()
    if code == SUM:
        return total
    samples = math.prod(s for d, s in enumerate(input._payload.shape) if d != class_dim)
    return with_node_name(total / samples if samples else total * math.nan, "DivBackward1")


def _smoothed(
    logs: Any, target: Any, weight: Any, code: int, ignore_index: int, label_smoothing: float, class_dim: int
) -> Any:
    """ATen's ``cross_entropy_loss_label_smoothing``: the target's class and the mean of all, reduced separately."""
    picked = nll_nd(logs, target, weight, code, ignore_index)
    if logs._payload.ndim == target._payload.ndim == 1:
        raise RuntimeError(f"output with shape [] doesn't match the broadcast shape {list(target.shape)}")
    n = logs._payload.shape[class_dim]
    weighted = logs if weight is None else logs * _by_class(weight, logs._payload.ndim, class_dim)
    smooth = -weighted.sum(class_dim)
    ignored = target == ignore_index
    smooth = TENSORS.where(ignored, TENSORS.zeros_like(smooth), smooth)
    if code == SUM:
        smooth = smooth.sum()
    elif code == MEAN:
        kept = ~ignored
        if weight is None:
            smooth = smooth.sum() / kept.sum()
        else:
            share = weight[TENSORS.where(ignored, TENSORS.zeros_like(target), target)]
            total = (share * cast(kept, logical_dtype(share))).sum()
            smooth = smooth.sum() / total
    parts = picked * (1 - label_smoothing), smooth * (label_smoothing / n)
    return operator.add(*(with_node_name(part, "MulBackward1") for part in parts))
