"""``cross_entropy``: the negative log-likelihood of a softmax's logarithm, in one step where that can be.

NOTE [ One node for two ]
    PyTorch records a LogSoftmaxBackward0 and, after it, a NllLossBackward0. Of the log-probabilities between them one
    in each row is used, and of their cotangents all others are zero. So the usual call, whose targets are classes,
    does without: its one node keeps the exponentials and makes the cotangent of the logits of them, in their memory.
    That node is the NllLossBackward0; whoever asks what is behind it, puts a hook on it or differentiates further
    makes it ``split`` into the two, with log-probabilities made of the exponentials.
"""

from __future__ import annotations

import math
from sys import _getframe as getframe
from typing import Any

import numpy as np

from ..._arrays.library import ARITHMETIC, silently, table_of_ones, vector_of_ones
from ..._arrays.softmax_large import log_sums, row_starts
from ..._arrays.threads import LARGE, among_rows, rows
from ..._base import errors as lines
from ..._base.modes import M
from ..._base.registry import RAW, REGISTRY, T, public
from ..._kinds.slow_path import cast, logical_dtype
from ..._tape.engine import observers
from ..._tape.node import Box, Parts, box_of, ticks
from ..._tape.saved import stale
from ..._tape.tensor import Tensor, make
from ..._tape.unfused import node_of, shown_as
from ..indexing._along import all_below
from ..linalg.matmul import as_tensors, dtype_name
from .classification import nll_nd
from .loss import MEAN, NONE, SUM, reduction_code

ndarray = np.ndarray
_FLOATS = frozenset((np.dtype(np.float32), np.dtype(np.float64)))
_INT64, _FLOAT64 = np.dtype(np.int64), np.dtype(np.float64)
_SMALL_ROW, _SMALL = 64, 65536  # rows that products with ones add up, and how many (``table_of_ones``)
_SAFE_SQUARES = 480.0**2  # exponentials in float64 of what is so small have all digits
_exp: Any = np.exp
_log: Any = np.log


# ----------------------------------------------------------------------------------------------------------- the losses
def _small_losses(x: Any, t: Any) -> tuple[Any, Any, Any] | None:
    """The losses of a few rows and their probabilities, in float64; ``None`` where exponentials would be extreme."""
    n = x.shape[1]
    w = x.astype(_FLOAT64)
    flat = w.ravel()
    if not flat.dot(flat) <= _SAFE_SQUARES:
        return None
    p = _exp(w, w)
    p /= p.dot(table_of_ones(n, n, _FLOAT64))
    losses = _log(p.ravel()[t + row_starts(len(x), n)])
    return np.negative(losses, losses), p, None


def _losses(x: Any, t: Any, keep: bool) -> tuple[Any, Any, Any]:
    """The losses, the exponentials of each row times some factor (if they are to be kept), and the rows' sums."""
    n = x.shape[1]
    if n <= _SMALL_ROW and x.size * n <= _SMALL:
        found = _small_losses(x, t)
        if found is not None:
            return found
    e = np.empty(x.shape, x.dtype) if keep else None
    losses, sums = np.empty(len(x), x.dtype), np.empty(len(x), x.dtype)

    def block(part: slice) -> None:
        r = np.empty_like(x[part]) if e is None else e[part]
        top, above, sums[part] = log_sums(x[part], r)
        top -= x[part].reshape(-1)[t[part] + row_starts(len(r), n)]
        np.add(top, above, losses[part])

    if x.size < LARGE:
        among_rows(n, lambda: block(slice(0, len(x))))
    else:
        rows(block, len(x), n)
    return losses, e, sums


def _total(losses: Any, dtype: Any, reduction: int) -> Any:
    """The losses reduced, in the dtype of the logits."""
    if reduction == NONE:
        return losses.astype(dtype, copy=False)
    n = len(losses)
    total = losses.dot(vector_of_ones(n, losses.dtype)) if n <= 1024 else np.add.reduce(losses)
    return dtype.type(total / n if reduction == MEAN else total)


def _slopes(g: Any, t: Any, e: Any, sums: Any, dtype: Any, reduction: int, overwrite: bool) -> Any:
    """The cotangent of the logits: the probabilities, less one at the target, times that of each loss."""
    rows_, n = e.shape
    if reduction == MEAN:
        g = g / rows_
    if sums is None:  # a few probabilities in float64
        r = np.multiply(e, g if not g.ndim else g[:, None], e if overwrite else None)
        r = r.astype(dtype, copy=False)
    elif e.size < LARGE:
        r = np.multiply(e, (g / sums)[:, None], e if overwrite else None)
    else:
        r = e if overwrite else np.empty_like(e)
        scale = (g / sums)[:, None]
        rows(lambda part: np.multiply(e[part], scale[part], r[part]), rows_, n)
    r.reshape(-1)[t + row_starts(rows_, n)] -= g
    return r


# ------------------------------------------------------------------------------------------------------------- the node
_NLL: Any = REGISTRY["nll"].node


class OneStep(_NLL):  # type: ignore[misc]
    """The node of both operators, see NOTE [ One node for two ]. ``meta`` is what ``_losses`` gave, and the dtype."""

    __slots__ = ()
    fx: Any
    meta: Any
    s: Any

    def backward(self, xp: Any, g: Any, keep: bool) -> tuple[Any, ...]:
        if xp is not RAW or type(g) is Parts or observers:
            first, d = self.split().backward(xp, g, keep)
            return first.backward(xp, d, keep)  # type: ignore[no-any-return]  # the pass does not know of that node
        _, target, _, reduction, _ = self.s
        cell = target.cell
        if cell is not None and cell.seq > self.seq:
            stale(self, target)
        edge = self.fx[0]
        e, sums, dtype = self.meta
        d = _slopes(g, target.a, e, sums, dtype, reduction, not keep)
        if not keep:
            e = None
            self.release()
        return (edge, d)

    def release(self) -> None:
        _NLL.release(self)
        self.meta = None

    def split(self) -> Any:
        """This node as that of the second operator alone, with one for the first behind it."""
        if self.meta is None:  # it was freed, as its step will say
            self.__class__ = _NLL
            return self
        e, sums, dtype = self.meta
        with np.errstate(divide="ignore"):
            logs = _log(e)
            if sums is not None:
                logs -= _log(sums)[:, None]
        box = Box()
        box.a = logs.astype(dtype, copy=False)
        box.cell = None
        first = node_of("log_softmax", self, 0.5, fx=self.fx[:1], s=[box, 1])
        self.fx = (first, None, None)
        self.meta = None
        self.__class__ = _NLL
        return self

    @property
    def keeper(self) -> Any:
        """The node whose saved values hooks are put on."""
        return self.split()


OneStep.__name__ = OneStep.__qualname__ = "NllLossBackward0"
OneStep.__module__ = "builtins"
shown_as(OneStep, lambda n: n.split() and None)  # it is split where it stands


def _in_one_step(input: Any, target: Any, a: Any, t: Any, reduction: int) -> Tensor:
    """The cross entropy of logits ``(N, C)`` and N classes, nothing special being asked for."""
    fx = input._fn
    recorded = fx is not None
    try:
        losses, e, sums = _losses(a, t, recorded)
    except ARITHMETIC:
        losses, e, sums = silently(_losses, a, t, recorded)
    r: Any = make()
    r._a = _total(losses, a.dtype, reduction)
    r._m = r._fn = None
    if recorded:
        r._fn = n = OneStep()
        n.fx = (fx, None, None)
        n.s = [a.shape, box_of(target), None, reduction, None]
        n.meta = (e, sums, a.dtype)
        n.seq = next(ticks)
        n.h = None
        frame = lines.user_frame(getframe(2))
        n.code = frame.f_code
        n.lasti = frame.f_lasti
    return r  # type: ignore[no-any-return]


# ------------------------------------------------------------------------------------------------------ what users call
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

    >>> import wengert as torch
    >>> torch.nn.functional.cross_entropy(torch.zeros(2, 10), torch.tensor([3, 7]))
    tensor(2.3026)
    """
    code = reduction_code(reduction, size_average, reduce)
    a, t = getattr(input, "_a", None), getattr(target, "_a", None)
    if type(a) is type(t) is ndarray and a.ndim == 2 and t.ndim == 1 and not label_smoothing and a.dtype in _FLOATS:
        if (
            weight is None
            and not M
            and len(t) == len(a) > 0
            and t.dtype == _INT64
            and not 0 <= ignore_index < a.shape[1]
            and all_below(t, a.shape[1])
            and a.flags.c_contiguous
            and type(input) is type(target) is Tensor
        ):
            return _in_one_step(input, target, a, t, code)
        return nll_nd(T.log_softmax(input, 1), target, weight, code, ignore_index)  # type: ignore[no-any-return]
    as_tensors("cross_entropy_loss", ("input", input), ("target", target))
    if not 0.0 <= label_smoothing <= 1.0:
        raise RuntimeError(f"label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing}")
    class_dim = 0 if input._a.ndim == 1 else 1
    if tuple(input.shape) == tuple(target.shape):
        if logical_dtype(target).kind != "f":
            raise RuntimeError(
                f"Expected floating point type for target with class probabilities, got {dtype_name(target)}"
            )
        if ignore_index >= 0:
            raise RuntimeError("ignore_index is not supported for floating point target")
        _check_class_weight(input, weight, class_dim)
        return _from_probabilities(input, target, weight, code, label_smoothing, class_dim)
    if logical_dtype(input).kind in "iub":
        raise NotImplementedError(f"\"log_softmax_lastdim_kernel_impl\" not implemented for '{dtype_name(input)}'")
    if label_smoothing:
        _check_class_weight(input, weight, class_dim)
        return _smoothed(
            T.log_softmax(input, class_dim), target, weight, code, ignore_index, label_smoothing, class_dim
        )
    return nll_nd(T.log_softmax(input, class_dim), target, weight, code, ignore_index)


def _check_class_weight(input: Any, weight: Any, class_dim: int) -> None:
    n = input._a.shape[class_dim]
    if weight is not None and tuple(weight.shape) != (n,):
        raise RuntimeError(
            f"cross_entropy: weight tensor should be defined either for all {n} classes or no classes but got weight "
            f"tensor of shape: {list(weight.shape)}"
        )


def _by_class(weight: Any, rank: int, class_dim: int) -> Any:
    """The weights in a shape that broadcasts along the classes."""
    return T.reshape(weight, tuple(weight._a.shape[0] if d == class_dim else 1 for d in range(rank)))


def _from_probabilities(input: Any, target: Any, weight: Any, code: int, label_smoothing: float, class_dim: int) -> Any:
    n = input._a.shape[class_dim]
    if label_smoothing:
        target = target * (1 - label_smoothing) + label_smoothing / n
    product = T.log_softmax(input, class_dim) * target
    if weight is not None:
        product = product * _by_class(weight, input._a.ndim, class_dim)
    if code == NONE:
        return -product.sum(class_dim)
    total = -product.sum()
    if code == SUM:
        return total
    samples = math.prod(s for d, s in enumerate(input._a.shape) if d != class_dim)
    return total / samples if samples else total * math.nan


def _smoothed(
    logs: Any, target: Any, weight: Any, code: int, ignore_index: int, label_smoothing: float, class_dim: int
) -> Any:
    """ATen's ``cross_entropy_loss_label_smoothing``: the picked class and the mean of all, each reduced by itself."""
    picked = nll_nd(logs, target, weight, code, ignore_index)
    n = logs._a.shape[class_dim]
    weighted = logs if weight is None else logs * _by_class(weight, logs._a.ndim, class_dim)
    smooth = -weighted.sum(class_dim)
    ignored = target == ignore_index
    smooth = T.where(ignored, T.zeros_like(smooth), smooth)
    if code == SUM:
        smooth = smooth.sum()
    elif code == MEAN:
        kept = ~ignored
        if weight is None:
            smooth = smooth.sum() / kept.sum()
        else:
            share = weight[T.where(ignored, T.zeros_like(target), target)]
            total = (share * cast(kept, logical_dtype(share))).sum()
            smooth = smooth.sum() / total
    return picked * (1 - label_smoothing) + smooth * (label_smoothing / n)
