"""The shape of an operator's result, from those of its operands: for tensors without data (``_payloads.meta``).

A rule is ``rule(info, operands, p)`` and returns the result (a ``Meta``, or a tuple of them), or ``None`` if the
operands do not fit; then the operator itself runs on arrays of the same shapes and raises the error. An operator
without a rule always runs on arrays; a rule costs the same for all sizes. Most operators get their rule from their
batching rule: ``"elementwise"`` means that shapes broadcast, ``("dim", ...)`` that the other dims do not change.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .._arrays.index_shapes import result_shape, without_masks
from .._base.registry import REGISTRY, Operator
from .meta import Meta, computed, in_order, like, run, stand_in
from .transforms import plain_dtype

Rule = Callable[[Operator, list[Any], tuple[Any, ...]], Any]

REFUSED = {
    "_unique2": "_unique2", "_unique_consecutive": "unique_consecutive", "unique_dim": "unique_dim",
    "unique_dim_consecutive": "unique_dim_consecutive", "bincount": "bincount",
}  # fmt: skip  # operators whose result's shape depends on elements, by PyTorch's name


def rule_for(info: Operator) -> Rule | None:
    """The operator's rule, ``None`` if it has none."""
    rule = RULES.get(info.name)
    if rule is None:
        if info.name.endswith("_values"):  # the numbers drawn for the operand
            return like_first
        if info.batch == "elementwise":
            return elementwise
        if (
            info.arity == 1
            and type(info.batch) is tuple
            and info.batch[0] == "dim"
            and [*map(len, info.batch[1:])] == [1]
        ):
            return along_dims
    return rule


def _shapes(operands: list[Any]) -> list[tuple[int, ...]]:
    return [tuple(a.shape) for a in operands if hasattr(a, "shape")]


# ---- shapes that broadcast
def elementwise(info: Operator, operands: list[Any], p: tuple[Any, ...]) -> Any:
    """The operands broadcast; the dtype comes from a run on one element."""
    shape = np.broadcast_shapes(*_shapes(operands))
    out = _on_one_element(info, operands, p)
    source = next((a for a in operands if isinstance(a, Meta) and a.shape == shape), None)

    def made(r: Any) -> Meta:
        return Meta(shape, r.dtype) if source is None else like(source, r.dtype)

    return tuple(map(made, out)) if isinstance(out, tuple) else made(out)


def _on_one_element(info: Operator, operands: list[Any], p: tuple[Any, ...]) -> Any:
    """The result of a run on one element of each operand."""
    return run(info, [stand_in(a, (1,) * len(getattr(a, "shape", ())), one=True) for a in operands], p)


def reduced_loss(info: Operator, operands: list[Any], p: tuple[Any, ...]) -> Any:
    """Elementwise, then perhaps reduced to one number: a run on one element shows whether."""
    shape = np.broadcast_shapes(*_shapes(operands))
    out = _on_one_element(info, operands, p)
    return Meta(shape if out.ndim == len(shape) else (), out.dtype)


def to_number(info: Operator, operands: list[Any], p: tuple[Any, ...]) -> Any:
    """One number of all elements."""
    if any(0 in s for s in _shapes(operands)):
        return None
    return Meta((), _on_one_element(info, operands, p).dtype)


def like_first(info: Operator, operands: list[Any], p: tuple[Any, ...]) -> Any:
    """Dense, with the first operand's shape and dtype."""
    return like(operands[0])


def like_second(info: Operator, operands: list[Any], p: tuple[Any, ...]) -> Any:
    """The first operand's dtype and the second's shape."""
    return Meta(operands[1].shape, operands[0].dtype)


# ---- dims passed through
_LONG = 4099  # replaces greater lengths; no parameter has this value


def along_dims(info: Operator, operands: list[Any], p: tuple[Any, ...]) -> Any:
    """All dims but the named ones do not change: the operator runs with one element in each of them."""
    a = operands[0]
    if a.size <= _LONG:
        return None
    dims = p[info.params.index(info.batch[1][0]) - 1]
    named = range(a.ndim) if dims is None else (dims,) if isinstance(dims, int) else dims
    named = {d % a.ndim for d in named}
    longest = _LONG if len(named) == 1 else 2
    small = tuple(min(n, longest) if d in named else min(n, 1) for d, n in enumerate(a.shape))
    out = run(info, [stand_in(a, small)], p)

    def made(r: Any) -> Meta:
        return Meta(_passed(a.shape, small, named, r.shape), r.dtype)

    return tuple(map(made, out)) if isinstance(out, tuple) else made(out)


def _passed(shape: Any, small: Any, named: Any, result: Any) -> tuple[int, ...]:
    """The result's shape from that of the small run: a named dim keeps its length, or has the small result's."""
    if len(result) < len(shape):
        return tuple(n for d, n in enumerate(shape) if d not in named)
    parts = zip(shape, small, result, strict=True)
    return tuple(r if d in named and r != s else n for d, (n, s, r) in enumerate(parts))


# ---- products
def _product(info: Operator, operands: list[Any], p: tuple[Any, ...]) -> Any:
    x, y = operands[:2]
    sx, sy = tuple(x.shape), tuple(y.shape)
    if not sx or not sy or sx[-1] != sy[-2 if len(sy) > 1 else 0]:
        return None
    try:
        batch = np.broadcast_shapes(sx[:-2], sy[:-2])
    except ValueError:
        return None
    # the factors have one dtype already
    return Meta((*batch, *sx[-2:-1], *(sy[-1:] if len(sy) > 1 else ())), plain_dtype(x.dtype))


def _added_product(info: Operator, operands: list[Any], p: tuple[Any, ...]) -> Any:
    r = _product(info, operands, p)
    added = operands[2]
    if r is None or added is None:
        return r
    try:
        fits = np.broadcast_shapes(r.shape, tuple(added.shape)) == r.shape
    except ValueError:
        fits = False
    return r if fits else None


def _contraction(info: Operator, operands: list[Any], p: tuple[Any, ...]) -> Any:
    x, y = operands
    a, b, out = p
    sizes = dict(zip(a, x.shape, strict=True))
    for label, n in zip(b, y.shape, strict=True):
        if sizes.setdefault(label, n) != n:
            return None
    return Meta(tuple(sizes[label] for label in out), x.dtype)


def _layer(info: Operator, operands: list[Any], p: tuple[Any, ...]) -> Any:
    x, w, b = operands
    if len(w.shape) != 2 or not x.shape or x.shape[-1] != w.shape[1]:
        return None
    shape = (*x.shape[:-1], w.shape[0])
    if b is not None and tuple(b.shape) not in ((w.shape[0],), (1,), ()):
        return None
    return Meta(shape, x.dtype)


def _convolution(info: Operator, operands: list[Any], p: tuple[Any, ...]) -> Any:
    x, w = operands[:2]
    stride, padding, dilation, groups = p
    if len(x.shape) != len(w.shape) or x.shape[1] != w.shape[1] * groups or w.shape[0] % groups:
        return None
    if not all(isinstance(q, tuple) and all(isinstance(n, int) for n in q) for q in (stride, padding, dilation)):
        return None
    sizes = []
    for n, k, s, q, d in zip(x.shape[2:], w.shape[2:], stride, padding, dilation, strict=True):
        size = (n + 2 * q - d * (k - 1) - 1) // s + 1
        if size <= 0:
            return None
        sizes.append(size)
    return Meta((x.shape[0], w.shape[0], *sizes), x.dtype)


def _attention(info: Operator, operands: list[Any], p: tuple[Any, ...]) -> Any:
    q, k, v = operands[:3]
    try:
        batch = np.broadcast_shapes(q.shape[:-2], k.shape[:-2], v.shape[:-2])
    except ValueError:
        return None
    return Meta((*batch, q.shape[-2], v.shape[-1]), q.dtype)


def _ldl_solution(info: Operator, operands: list[Any], p: tuple[Any, ...]) -> Any:
    A, _, B = operands
    lead = np.broadcast_shapes(A.shape[:-2], B.shape[:-2])
    n = len(lead)
    return in_order((*lead, *B.shape[-2:]), B.dtype, (*range(n), n + 1, n))


# ---- joining, reshaping
def _cat(info: Operator, operands: list[Any], p: tuple[Any, ...]) -> Any:
    dim = p[0]
    first = operands[0].shape
    rest = [(*a.shape[:dim], *a.shape[dim + 1 :]) for a in operands]
    if any(r != rest[0] or len(a.shape) != len(first) for r, a in zip(rest, operands, strict=True)):
        return None
    return Meta((*first[:dim], sum(a.shape[dim] for a in operands), *first[dim + 1 :]), operands[0].dtype)


def _stack(info: Operator, operands: list[Any], p: tuple[Any, ...]) -> Any:
    dim, shape = p[0], operands[0].shape
    if any(a.shape != shape for a in operands):
        return None
    return Meta((*shape[:dim], len(operands), *shape[dim:]), operands[0].dtype)


def _of_size(position: int) -> Rule:
    """A rule: the parameter at this position is the result's shape."""

    def rule(info: Operator, operands: list[Any], p: tuple[Any, ...]) -> Any:
        return Meta(tuple(p[position]), operands[0].dtype)

    return rule


def _repeat(info: Operator, operands: list[Any], p: tuple[Any, ...]) -> Any:
    a, repeats = operands[0], p[0]
    shape = (1,) * (len(repeats) - a.ndim) + a.shape
    return Meta(tuple(n * r for n, r in zip(shape, repeats, strict=True)), a.dtype)


def _padded(info: Operator, operands: list[Any], p: tuple[Any, ...]) -> Any:
    a, pad = operands[0], p[0]
    shape = list(a.shape)
    for k in range(len(pad) // 2):
        shape[-1 - k] += pad[2 * k] + pad[2 * k + 1]
    return Meta(tuple(shape), a.dtype) if min(shape) >= 0 else None


def _last_dims(position: int) -> Rule:
    """A rule: the parameter at this position holds the sizes of the result's last dims."""

    def rule(info: Operator, operands: list[Any], p: tuple[Any, ...]) -> Any:
        a, sizes = operands[0], tuple(p[position])
        shape = a.shape[: a.ndim - len(sizes)] + sizes
        return Meta(shape, a.dtype) if info.outputs == 1 else (Meta(shape, a.dtype), Meta(shape, np.dtype(np.int64)))

    return rule


def _index(info: Operator, operands: list[Any], p: tuple[Any, ...]) -> Any:
    a, indices = operands[0], operands[1:]
    dims, arrays = without_masks(p[0], indices)
    return Meta(result_shape(a.shape, dims, [i.shape for i in arrays]), a.dtype)


def _clone(info: Operator, operands: list[Any], p: tuple[Any, ...]) -> Any:
    a = operands[0]
    if p[0] == "keep":
        return like(a)
    return Meta(a.shape, a.dtype) if p[0] == "C" else in_order(a.shape, a.dtype, (0, *range(2, a.ndim), 1))


def _gathered(info: Operator, operands: list[Any], p: tuple[Any, ...]) -> Any:
    a = operands[0]
    for name, q in p[0]:
        each = REGISTRY[name]
        a = computed(each, [a], q) if each.outputs == 1 else computed(each, [a], q[:-1])[q[-1]]
    return a


def _put_along(info: Operator, operands: list[Any], p: tuple[Any, ...]) -> Any:
    a, (dim, size) = operands[0], p[:2]
    return Meta((*a.shape[:dim], size, *a.shape[dim + 1 :]) if a.ndim else (), a.dtype)


RULES: dict[str, Rule] = {
    **dict.fromkeys(
        ("lower_triangle", "upper_triangle", "flip_dims", "roll_dims", "fill_number", "native_dropout_values",
         "copy", "scatter", "scatter_add", "scatter_reduce", "hide_future", "keep_past", "softmax_or_zero",
         "standardize", "standardize_backward", "view_scatter", "norm_layer", "norm_groups", "norm_channels",
         "norm_by_statistics"),
        like_first,
    ),
    "index_put": lambda info, operands, p: like(operands[0]),
    "_put_along": _put_along,
    **dict.fromkeys(
        ("mean_parts_backward", "mean_windows_backward", "upsample_backward", "pool_scatter"), _last_dims(0)
    ),
    "pool_gather": like_second,
    "clone": _clone,
    "view_gather": _gathered,
    **dict.fromkeys(("gather", "_take_along"), like_second),
    **dict.fromkeys(
        ("sum_all", "mean_all", "max_all", "min_all", "prod_all", "median_all", "nanmedian_all", "dist"), to_number
    ),
    **dict.fromkeys(
        ("squared_error", "huber", "smooth_l1", "soft_margin", "bernoulli_nll", "bernoulli_logits_nll"), reduced_loss
    ),
    **dict.fromkeys(("mat_mat", "bmm", "mat_vec", "vec_mat", "vec_vec", "matmul_nd"), _product),
    **dict.fromkeys(("affine_mm", "affine_bmm", "affine_mv"), _added_product),
    "contract": _contraction,
    "linear": _layer,
    "column_sums": lambda info, operands, p: Meta(operands[0].shape[1:], operands[0].dtype),
    **dict.fromkeys(("_log_softmax_backward_data", "_softmax_backward_data", "_glu_backward"), like_first),
    "convolution": _convolution,
    "conv_input": lambda info, operands, p: Meta((*operands[0].shape[:1], operands[1].shape[1] * p[4], *p[0]),
                                                 operands[0].dtype),
    "conv_weight": lambda info, operands, p: Meta(
        (operands[1].shape[1], operands[0].shape[1] // p[4], *p[0]), operands[0].dtype
    ),
    "attention": _attention,
    "ldl_apply": _ldl_solution,
    "cat": _cat,
    "stack": _stack,
    "reshape": lambda info, operands, p: (
        Meta(tuple(p[0]), operands[0].dtype) if math.prod(p[0]) == operands[0].size else None
    ),
    "repeat": _repeat,
    "constant_pad_nd": _padded,
    "embedding": lambda info, operands, p: Meta((*operands[1].shape, *operands[0].shape[1:]), operands[0].dtype),
    "index": _index,
    "nll": lambda info, operands, p: Meta(operands[1].shape if p[0] in ("none", 0) else (), operands[0].dtype),
    "nll_backward": lambda info, operands, p: Meta(tuple(p[0]), operands[0].dtype),
    **dict.fromkeys(
        ("sum_to", "select_backward", "slice_backward", "diagonal_backward", "unfold_backward", "as_strided_backward",
         "view_scatter_zeros"),
        _of_size(0),
    ),
    **dict.fromkeys(("mean_parts", "max_parts", "upsample"), _last_dims(0)),
    "max_windows": _last_dims(4),
    "mean_windows": _last_dims(3),
}  # fmt: skip
