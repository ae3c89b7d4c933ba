"""The functions of PyTorch that layout ``jagged`` has beside the elementwise ones, by their names."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import wengert as torch
from wengert._kinds.dims import normal_dim

from . import nested_tensor as jagged
from .core import Nested, flat, offsets_of, padded
from .nested_int import NestedInt


def _inner(nt: Any, dim: int) -> int:
    """A dimension among those of the values; the batch is the ragged one."""
    return nt._ragged_idx - 1 if dim == 0 else dim - 1


def _dim(nt: Any, dim: int, name: str, more: int = 0, ragged: bool = False, batch: bool = False) -> int:
    """A dimension counted from 0, if the function ``name`` may work along it."""
    found = normal_dim(dim, nt.dim() + more)
    if found == nt._ragged_idx and not ragged:
        raise RuntimeError(f"{name}(): not supported for NestedTensor on ragged dim")
    if found == 0 and not batch:
        raise RuntimeError(f"{name}(): not supported for NestedTensor on dim=0")
    return found


def _whole(name: str, nt: Any, argument: str = "input", rest: str = "") -> Any:
    """Refuses what has holes, or another ragged dimension than the first."""
    if not isinstance(nt, jagged.NestedTensor) or nt._lengths is not None or nt._ragged_idx != 1:
        raise ValueError(
            f"NestedTensor {name}({argument}: jt{rest}): expected {argument} to be a contiguous jagged layout "
            "NestedTensor"
        )
    return nt


# ---- reductions
def _lowest(nt: Any) -> Any:
    return -math.inf if nt.dtype.is_floating_point else torch.iinfo(nt.dtype).min


def _highest(nt: Any) -> Any:
    return math.inf if nt.dtype.is_floating_point else torch.iinfo(nt.dtype).max


_NEUTRAL: dict[str, Callable[[Any], Any]] = {
    "sum": lambda nt: 0, "mean": lambda nt: 0, "prod": lambda nt: 1, "any": lambda nt: False, "all": lambda nt: True,
    "amax": _lowest, "max": _lowest, "argmax": _lowest, "amin": _highest, "min": _highest, "argmin": _highest,
}  # fmt: skip


def _each(f: Callable[[Any], Any], results: Any) -> Any:
    """``f`` of a result, or of each of several."""
    if torch.is_tensor(results):
        return f(results)
    return type(results)(*map(f, results)) if hasattr(results, "_fields") else type(results)(map(f, results))


def _reduced(name: str) -> Callable[..., Any]:
    def reduce(func: Any, input: Any, dim: Any = None, keepdim: bool = False, **kwargs: Any) -> Any:
        values, ragged = input._values, input._ragged_idx
        if isinstance(dim, Nested):  # max(a, b), elementwise
            return input._like(func(*input._elements(name, (input, dim))))
        if dim is None or dim == () or dim == []:
            if not keepdim:
                return func(values, **kwargs)
            return func(values, dim, keepdim=True, **kwargs).unsqueeze(ragged)
        several = isinstance(dim, (tuple, list))
        dims = [normal_dim(d, input.dim()) for d in (dim if several else [dim])]
        inner: Any = tuple(dict.fromkeys(_inner(input, d) for d in dims))
        inner = inner if several else inner[0]
        rest = any(d not in (0, ragged) for d in dims)
        if ragged not in dims:
            if 0 in dims:
                raise RuntimeError(
                    f"{name}(): reducing along the batch dimension but not the ragged dimension is not supported for "
                    "nested tensors"
                )
            before = 0 if keepdim else sum(d < ragged for d in dims)
            return _each(lambda r: input._like(r, ragged - before), func(values, inner, keepdim=keepdim, **kwargs))
        if name == "mean" and rest and 0 not in dims:
            raise AssertionError("Cannot reduce on both ragged and non-batch dimensions without also reducing on batch")
        if input._lengths is not None:
            raise RuntimeError(
                f"{name}(): reducing across the ragged dimension is not supported for non-contiguous nested tensors "
                "with holes"
            )
        if 0 in dims:
            results = func(values, inner, keepdim=keepdim, **kwargs)
            return _each(lambda r: r.unsqueeze(0), results) if keepdim else results
        if rest:
            raise RuntimeError(
                f"{name}(): reducing along a ragged and non-batch dimension is not supported for nested tensors"
            )
        rows = padded(input, _NEUTRAL[name](input))
        if name != "mean":
            return func(rows, [ragged] if several else ragged, keepdim=keepdim, **kwargs)
        total = rows.sum(ragged, keepdim=True, **kwargs)
        mean = total / input._offsets.diff().reshape(-1, *[1] * (total.dim() - 1))
        return mean if keepdim else mean.squeeze(ragged)

    return reduce


def _softmax(name: str) -> Callable[..., Any]:
    def run(func: Any, input: Any, dim: Any = None, *rest: Any, **kwargs: Any) -> Any:
        if isinstance(dim, tuple):
            raise RuntimeError(f"{name}(): not supported for dimensions of type 'tuple' for NestedTensor")
        d = normal_dim(dim, input.dim())
        if d == 0:
            raise RuntimeError(f"{name}(): not supported when reducing across the batch dimension for NestedTensor")
        kwargs.pop("_stacklevel", None)
        rest = rest[1:] if rest and isinstance(rest[0], int) else rest
        if d != input._ragged_idx:
            return input._like(func(input._values, d - 1, *rest, **kwargs))
        if name == "log_softmax" or d > 1:
            which = "" if name == "log_softmax" else " for ragged_idx > 1"
            raise RuntimeError(
                f"{name}(): not supported when reducing along the ragged dimension{which} for NestedTensor"
            )
        if input._lengths is not None:
            raise RuntimeError(
                f"{name}(): not supported where lengths is not None if reducing across the ragged dimension for "
                "NestedTensor"
            )
        return input._like(torch.cat([func(part, 0, *rest, **kwargs) for part in input._parts()]))

    return run


# ---- layers
def _linear(func: Any, input: Any, weight: Any, bias: Any = None) -> Any:
    _whole("linear_default", input, rest=", weight: t, bias: t?")
    return input._like(func(input._values, weight, bias))


def _layer_norm(func: Any, input: Any, *rest: Any, **kwargs: Any) -> Any:
    if input.dim() <= 2:
        raise RuntimeError("layer_norm(): not supported for NestedTensor objects with 2 or fewer dimensions")
    return input._like(func(input._values, *rest, **kwargs))


def _rms_norm(func: Any, input: Any, normalized_shape: Sequence[int], *rest: Any, **kwargs: Any) -> Any:
    if len(normalized_shape) > input.dim() - input._ragged_idx - 1:
        raise ValueError("rms_norm(): Normalization over the ragged dim not supported for nested tensors")
    return input._like(func(input._values, normalized_shape, *rest, **kwargs))


def _embedding(func: Any, input: Any, *rest: Any, **kwargs: Any) -> Any:
    return input._like(func(input._values, *rest, **kwargs))


def _attention(
    func: Any, query: Any, key: Any, value: Any, attn_mask: Any = None, dropout_p: float = 0.0,
    is_causal: bool = False, scale: Any = None, enable_gqa: bool = False,
) -> Any:  # fmt: skip
    """Of each part by itself; the ragged dimension is the last but one."""
    three = (query, key, value)
    if not all(isinstance(t, jagged.NestedTensor) for t in three):
        raise ValueError(
            f"Expected query, key, and value to be nested or dense, but got {[t.is_nested for t in three]}"
        )
    if attn_mask is not None:
        raise ValueError("Masks are not yet supported!")
    if query.dim() < 4:
        raise RuntimeError("No viable backend for scaled_dot_product_attention was found.")
    options = {"dropout_p": dropout_p, "is_causal": is_causal, "scale": scale, "enable_gqa": enable_gqa}
    parts = [func(*t, **options) for t in zip(*(t._parts() for t in three), strict=True)]
    axis = query._ragged_idx - 1
    return query._like(torch.cat([part.transpose(0, axis) for part in parts]).transpose(0, axis))


def _matmul(func: Any, input: Any, other: Any) -> Any:
    a, b = (isinstance(t, Nested) for t in (input, other))
    if a and not b and input._ragged_idx < input.dim() - 1:
        if other.dim() == 2 < input.dim():
            return input._like(func(input._values, other))
        if other.dim() == input.dim() >= 3:
            return input._like(_products(func, input._parts(), torch.unbind(other, 0), input._ragged_idx - 1))
    elif b and not a and other._ragged_idx >= 2:
        if input.dim() == 2 < other.dim():
            return other._like(func(input, other._values))
        if other.dim() == input.dim() >= 3:
            return other._like(_products(func, torch.unbind(input, 0), other._parts(), other._ragged_idx - 1))
    elif a and b:
        end = input._ragged_idx + 1
        if input.dim() > 3 and other.dim() > 3 and input._size[:end] == other._size[:end]:
            return input._like(func(input._values, other._values))
        across = (input.dim(), other.dim(), input._ragged_idx, other._ragged_idx) == (3, 3, 2, 1)
        if across and input._size[2] == other._size[1]:
            return torch.stack([func(*pair) for pair in zip(input._parts(), other._parts(), strict=True)])
    size = input._size if a else tuple(input.shape)
    raise RuntimeError(f"matmul(): not supported between inputs of shapes {size} and {other.shape}")


def _products(func: Any, left: Any, right: Any, axis: int) -> torch.Tensor:
    return torch.cat([func(*pair) for pair in zip(left, right, strict=True)], axis)


def _bmm(func: Any, input: Any, mat2: Any) -> Any:
    for name, t in (("input", input), ("mat2", mat2)):
        if t.dim() != 3:
            raise ValueError(f"bmm(): {name} must be 3D")
    return _matmul(torch.matmul, input, mat2)


# ---- parts and shapes
def _unbind(func: Any, input: Any, dim: int = 0) -> Any:
    if dim != 0:
        raise RuntimeError("unbind(): only supported for NestedTensor on dim=0")
    return input._unbound()


def _several(name: str) -> Callable[..., Any]:
    def run(func: Any, input: Any, size: Any, dim: int = 0) -> Any:
        d = _dim(_whole(name, input), dim, name, batch=name == "chunk")
        if d:
            return tuple(input._like(values) for values in func(input._values, size, d - 1))
        lengths = func(input._offsets.diff(), size)
        values = torch.split(input._values, [int(n.sum()) for n in lengths])
        offsets = [offsets_of(n) for n in lengths]
        return tuple(jagged.NestedTensor(v, o) for v, o in zip(values, offsets, strict=True))

    return run


def _narrow(func: Any, input: Any, dim: int, start: Any, length: Any) -> Any:
    d = _dim(_whole("narrow", input), dim, "narrow")
    return input._like(func(input._values, d - 1, start, length))


def _select(func: Any, input: Any, dim: int, index: int) -> Any:
    d = _dim(input, dim, "select", batch=True)
    if d == 0:
        return input._parts()[index]
    if input._lengths is not None:
        raise ValueError("select(): not yet supported on dim != 0 for non-contiguous nested tensor with holes")
    return input._like(func(input._values, d - 1, index), input._ragged_idx - (d < input._ragged_idx))


def _getitem(func: Any, input: Any, index: Any) -> Any:
    index = index if isinstance(index, tuple) else (index,)
    first, rest = (index[0], index[1:]) if index else (..., ())
    if first is ...:
        if len(rest) > input.dim() - 1 - input._ragged_idx:
            raise RuntimeError("slice(): not supported for NestedTensor on ragged dim")
        return input._like(func(input._values, (..., *rest)))
    if isinstance(first, int):
        part = input._parts()[first]
        return part[rest] if rest else part
    raise RuntimeError("slice(): not supported for NestedTensor on dim=0")


def _transpose(func: Any, input: Any, dim0: int, dim1: int) -> Any:
    both = [normal_dim(d, input.dim()) for d in (dim0, dim1)]
    ragged = input._ragged_idx
    if ragged in both:
        if 0 in both:
            raise ValueError("Transpose is not supported on the batch dimension for jagged NT")
        ragged = sum(both) - ragged
    elif 0 in both:
        raise RuntimeError("transpose(): not supported for NestedTensor on dim=0")
    return input._like(torch.transpose(input._values, both[0] - 1, both[1] - 1), ragged)


def _permute(func: Any, input: Any, *dims: Any) -> Any:
    order: Any = flat(dims)
    if len(order) != input.dim():
        raise ValueError(
            f"permute(): number of dimensions in the tensor input ({input.dim()}) does not match the length of the "
            f"desired ordering of dimensions ({len(order)})."
        )
    order = [normal_dim(d, input.dim()) for d in order]
    if len(set(order)) != len(order):
        raise ValueError("permute(): duplicate dims are not allowed.")
    if input._lengths is not None:
        raise ValueError("permute(): not supported on jagged layout nested tensor with holes")
    if order[0] != 0:
        raise ValueError("Permute is not supported on the batch dimension for jagged NT")
    return input._like(func(input._values, [d - 1 for d in order[1:]]), order.index(input._ragged_idx))


def _unsqueeze(func: Any, input: Any, dim: int) -> Any:
    d = _dim(input, dim, "unsqueeze", more=1, ragged=True)
    return input._like(func(input._values, d - 1), input._ragged_idx + (d <= input._ragged_idx))


def _squeeze(func: Any, input: Any, dim: Any = None) -> Any:
    if dim is None:
        raise input._refusal("squeeze")
    return input._like(func(input._values, _dim(_whole("squeeze", input), dim, "squeeze") - 1))


def _view(name: str) -> Callable[..., Any]:
    def run(func: Any, input: Any, *size: Any, **kwargs: Any) -> Any:
        size = flat(size) or tuple(kwargs["shape"])
        if len(size) == 1 and isinstance(size[0], torch.dtype):
            return input._like(func(input._values, size[0]))
        here, end = input._size, input._ragged_idx + 1
        if input._ragged_idx != 1 and here != size:
            raise RuntimeError(
                "view(): does not support ragged_idx != 1 except when inp._size == size. "
                f"inp._size is ({here}) and size is ({size})."
            )
        fits = all(a == b or b == -1 for a, b in zip(here[:end], size[:end], strict=False))
        if len(size) < 3 or not fits:
            raise RuntimeError(f"view(): cannot view shape {here} as {list(size)}")
        inner = list(size[1:])
        inner[input._ragged_idx - 1] = input._values.shape[input._ragged_idx - 1]
        return input._like(func(input._values, inner))

    return run


def _flatten(func: Any, input: Any, start_dim: int = 0, end_dim: int = -1) -> Any:
    start, end = (_dim(input, d, "flatten") for d in (start_dim, end_dim))
    return input if start == end else input._like(func(input._values, start - 1, end - 1))


def _unflatten(func: Any, input: Any, dim: int, sizes: Any) -> Any:
    d = _dim(input, dim, "unflatten")
    more = len(sizes) - 1 if d < input._ragged_idx else 0
    return input._like(func(input._values, d - 1, sizes), input._ragged_idx + more)


def _expand(func: Any, input: Any, *size: Any) -> Any:
    size = flat(size)
    end = input._ragged_idx + 1
    if len(size) < end or any(a != b and b != -1 for a, b in zip(input._size[:end], size, strict=False)):
        raise RuntimeError(f"expand(): cannot expand shape {input._size} -> {size}")
    return input._like(func(input._values, [-1 if isinstance(n, NestedInt) else n for n in size[1:]]))


def _joined(name: str, more: int) -> Callable[..., Any]:
    def run(func: Any, tensors: Sequence[Any], dim: int = 0) -> Any:
        first = next(t for t in tensors if isinstance(t, Nested))
        if name == "stack" and not all(isinstance(t, Nested) for t in tensors):
            raise RuntimeError("stack(): expected all nested tensors inputs")
        d = _dim(first, dim, name, more)
        values = [first._element(name, t, first, (first, t)) for t in tensors]
        return first._like(func(values, d - 1))

    return run


def _equal(func: Any, a: Any, b: Any) -> bool:
    return isinstance(b, Nested) and a._sizes() == b._sizes() and func(a._values, b._values)


def _close(func: Any, a: Any, b: Any, *rest: Any, **kwargs: Any) -> bool:
    return func(*a._elements("allclose", (a, b)), *rest, **kwargs)


def _copy(func: Any, input: Any, src: Any, *rest: Any) -> Any:
    if isinstance(src, Nested) and src._offsets.tolist() != input._offsets.tolist():
        raise RuntimeError("copy_ only supports Nested Tensors that have same size and the exact same offset tensor.")
    func(input._values, src._values if isinstance(src, Nested) else src, *rest)
    return input


def _masked_select(func: Any, input: Any, mask: Any) -> Any:
    _whole("masked_select_default", input)
    if input.dim() > 2:
        raise RuntimeError("masked_select only support 2-D selections currently")
    lengths = torch.stack([part.sum() for part in mask._parts()])
    return jagged.NestedTensor(func(input._values, mask._values), offsets_of(lengths))


def _new_empty(func: Any, input: Any, *size: Any, **kwargs: Any) -> Any:
    size = flat(size)
    if size:
        raise RuntimeError("new_empty() not supported for NJT with shape != ()")
    return func(input._values, (), **kwargs)


RULES: dict[str, Callable[..., Any]] = {
    **{name: _reduced(name) for name in _NEUTRAL},
    **{name: _softmax(name) for name in ("softmax", "log_softmax")},
    "linear": _linear,
    "layer_norm": _layer_norm,
    "rms_norm": _rms_norm,
    "embedding": _embedding,
    "scaled_dot_product_attention": _attention,
    "matmul": _matmul,
    "bmm": _bmm,
    "unbind": _unbind,
    **{name: _several(name) for name in ("chunk", "split", "split_with_sizes")},
    "narrow": _narrow,
    "select": _select,
    "__getitem__": _getitem,
    **dict.fromkeys(("transpose", "swapaxes", "swapdims"), _transpose),
    "permute": _permute,
    "unsqueeze": _unsqueeze,
    "squeeze": _squeeze,
    **{name: _view(name) for name in ("view", "reshape")},
    "flatten": _flatten,
    "unflatten": _unflatten,
    "expand": _expand,
    "cat": _joined("cat", 0),
    "concat": _joined("cat", 0),
    "stack": _joined("stack", 1),
    "equal": _equal,
    "allclose": _close,
    "copy_": _copy,
    "masked_select": _masked_select,
    **dict.fromkeys(("new_empty", "new_ones", "new_zeros"), _new_empty),
    "is_nonzero": lambda func, a: bool(a),
}
