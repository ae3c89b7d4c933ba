"""``vmap``: a function of single examples, run on a whole batch at once."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from .._dispatch import type_text
from .._registry import T
from .._tensor import Tensor, wrap
from .._values import Batched, next_tag
from ..utils._pytree import TreeSpec, broadcast_to_and_flatten, tree_flatten, tree_unflatten
from ._levels import payload, tensor


def vmap(
    func: Callable[..., Any],
    in_dims: Any = 0,
    out_dims: Any = 0,
    randomness: str = "error",
    *,
    chunk_size: int | None = None,
) -> Callable[..., Any]:
    """``func`` mapped over a dimension of its arguments.

    ``in_dims``: the dimension of each argument that is mapped over (``None``: the same for all), a value or a nested
    structure like the arguments; ``out_dims`` where the mapped dimension goes in the results. ``randomness``: what
    random operators do inside: ``"error"``, ``"different"`` or ``"same"`` for each example. ``chunk_size``: how many
    examples at once.

    >>> import wengert as torch
    >>> torch.vmap(torch.dot)(torch.ones(3, 2), torch.ones(3, 2))
    tensor([2., 2., 2.])
    """
    if randomness not in ("error", "different", "same"):
        raise RuntimeError(f"Only allowed values for randomness are 'error', 'different', or 'same'. Got {randomness}")
    if chunk_size is not None and chunk_size <= 0:
        raise ValueError(f"vmap: chunk_size should be None or greater than 0. (got {chunk_size})")

    @functools.wraps(func)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        flat, spec = tree_flatten(args)
        dims = _flat_in_dims(in_dims, flat, spec, func)
        size = _size(flat, dims, spec, func)
        if chunk_size is None or chunk_size >= size:
            return _run(func, flat, dims, spec, out_dims, kwargs, size, randomness)
        return _chunked(func, flat, dims, spec, out_dims, kwargs, size, randomness, chunk_size)

    return wrapped


def _name(func: Any) -> str:
    return getattr(func, "__name__", repr(func))


def _flat_in_dims(in_dims: Any, flat: list[Any], spec: TreeSpec, func: Any) -> list[int | None]:
    if not isinstance(in_dims, (int, tuple, list)) or isinstance(in_dims, bool):
        if in_dims is not None:
            raise ValueError(
                f"vmap({_name(func)}, in_dims={in_dims}, ...)(<inputs>): expected `in_dims` to be int or a (potentially nested) "
                f"tuple matching the structure of inputs, got: {type(in_dims)}."
            )
    if not flat:
        raise ValueError(
            f"vmap({_name(func)})(<inputs>): got no inputs. Maybe you forgot to add inputs, or you are trying to vmap over a "
            "function with no inputs. The latter is unsupported."
        )
    dims = broadcast_to_and_flatten(tuple(in_dims) if isinstance(in_dims, list) else in_dims, spec)
    if dims is None:
        raise ValueError(
            f"vmap({_name(func)}, in_dims={in_dims}, ...)(<inputs>): in_dims is not compatible with the structure of `inputs`. "
            f"in_dims has structure {tree_flatten(in_dims)[1]} but inputs has structure {spec}."
        )
    return [_checked_dim(x, d, in_dims, func) for x, d in zip(flat, dims, strict=True)]


def _checked_dim(x: Any, d: Any, in_dims: Any, func: Any) -> int | None:
    head = f"vmap({_name(func)}, in_dims={in_dims}, ...)(<inputs>): "
    if d is None:
        return None
    if not isinstance(d, int):
        raise ValueError(
            f"{head}Got in_dim={d} for an input but in_dim must be either an integer dimension or None."
        )
    if not isinstance(x, Tensor):
        raise ValueError(
            f"{head}Got in_dim={d} for an input but the input is of type {type(x)}. We cannot vmap over non-Tensor arguments, "
            "please use None as the respective in_dim"
        )
    n = x._a.ndim
    if not -n <= d < n:
        raise ValueError(
            f"{head}Got in_dim={d} for some input, but that input is a Tensor of dimensionality {n} so expected in_dim to "
            f"satisfy -{n} <= in_dim < {n}."
        )
    return d % n


def _size(flat: list[Any], dims: list[int | None], spec: TreeSpec, func: Any) -> int:
    sizes = [x._a.shape[d] for x, d in zip(flat, dims, strict=True) if d is not None]
    if not sizes:
        raise ValueError(
            f"vmap({_name(func)}, in_dims=..., ...)(<inputs>): at least one input must be mapped over: every in_dim is None."
        )
    if len(set(sizes)) > 1:
        raise ValueError(
            "vmap: Expected all tensors to have the same size in the mapped dimension, got sizes "
            f"{sizes} for the mapped dimension"
        )
    return int(sizes[0])


def _run(func: Any, flat: Any, dims: Any, spec: Any, out_dims: Any, kwargs: Any, size: int, randomness: str) -> Any:
    tag = next_tag()
    from .._vmap_randomness import randomness_level

    inner = []
    for x, d in zip(flat, dims, strict=True):
        if d is None:
            inner.append(x)
            continue
        front = x if d == 0 else T.permute(x, (d, *(i for i in range(x._a.ndim) if i != d)))
        inner.append(wrap(Batched(payload(front), tag)))
    with randomness_level(randomness, size, tag):
        out = func(*tree_unflatten(inner, spec), **kwargs)
    outs, out_spec = tree_flatten(out)
    flat_out_dims = broadcast_to_and_flatten(tuple(out_dims) if isinstance(out_dims, list) else out_dims, out_spec)
    if flat_out_dims is None and isinstance(out_dims, tuple) and len(out_dims) == 1 and out_spec.is_leaf():
        flat_out_dims = [out_dims[0]]
    if flat_out_dims is None:
        raise ValueError(
            f"vmap({_name(func)}, ..., out_dims={out_dims}): out_dims is not compatible with the structure of `outputs`. "
            f"out_dims has structure {tree_flatten(out_dims)[1]} but outputs has structure {out_spec}."
        )
    return tree_unflatten([_leave(y, d, tag, size, func) for y, d in zip(outs, flat_out_dims, strict=True)], out_spec)


def _leave(y: Any, d: Any, tag: int, size: int, func: Any) -> Any:
    if y is None and d is None:
        return None
    if not isinstance(y, Tensor):
        raise ValueError(
            f"vmap({_name(func)}, ...): `{_name(func)}` must only return Tensors, got type {type_text(y) if y is None else type(y)}. "
            "Did you mean to set out_dims= to None for output?"
        )
    a = y._a
    if not (isinstance(a, Batched) and a.tag == tag):
        if d is None:
            return y
        out = T.expand(y, (size, *a.shape))
    else:
        if d is None:
            raise ValueError(
                f"vmap({_name(func)}, ...): `{_name(func)}` can not return a BatchedTensor when out_dim is None"
            )
        out = tensor(a.v)
    n = out._a.ndim
    d = d % n
    return out if d == 0 else T.permute(out, (*range(1, d + 1), 0, *range(d + 1, n)))


def _chunked(func: Any, flat: Any, dims: Any, spec: Any, out_dims: Any, kwargs: Any, size: int, randomness: str, chunk: int) -> Any:
    pieces = []
    for start in range(0, size, chunk):
        n = min(chunk, size - start)
        part = [x if d is None else x.narrow(d, start, n) for x, d in zip(flat, dims, strict=True)]
        pieces.append(tree_flatten(_run(func, part, dims, spec, out_dims, kwargs, n, randomness)))
    out_spec = pieces[0][1]
    flat_out = broadcast_to_and_flatten(out_dims, out_spec) or [0] * out_spec.num_leaves
    from .. import cat

    joined = [cat([p[0][k] for p in pieces], flat_out[k]) for k in range(out_spec.num_leaves)]
    return tree_unflatten(joined, out_spec)
