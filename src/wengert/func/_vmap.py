"""``vmap``: vectorise a function of single examples over a batch."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from .._base.modes import transform, undone
from .._base.registry import REGISTRY, TENSORS
from .._payloads.transforms import Batched, Given, entered
from .._payloads.vmap_randomness import randomness_level
from .._tape.node import view_of
from .._tape.tensor import Tensor, wrap
from ..utils._pytree import TreeSpec, broadcast_to_and_flatten, tree_flatten, tree_map, tree_unflatten
from ._levels import check_captured, holds, in_front, payload, tensor, to_place

_P = ParamSpec("_P")
_R = TypeVar("_R")


def vmap(
    func: Callable[_P, _R],
    in_dims: int | tuple[Any, ...] = 0,
    out_dims: int | tuple[int, ...] | None = 0,
    randomness: str = "error",
    *,
    chunk_size: int | None = None,
) -> Callable[_P, _R]:
    """``func`` mapped over a dimension of its arguments.

    ``in_dims``: the dimension of each argument to map over (``None``: do not map this argument), one value or a nested
    structure like the arguments. ``out_dims``: the position of the mapped dimension in the results. ``randomness``:
    the behaviour of random operators, ``"error"``, or ``"different"`` or ``"same"`` numbers for each example.
    ``chunk_size``: the number of examples to run at once.

    >>> import wengert as torch
    >>> torch.vmap(torch.dot)(torch.ones(3, 2), torch.ones(3, 2))
    tensor([2., 2., 2.])
    """
    if randomness not in ("error", "different", "same"):
        raise RuntimeError(f"Only allowed values for randomness are 'error', 'different', or 'same'. Got {randomness}")
    if not (chunk_size is None or chunk_size > 0):
        raise ValueError(f"vmap: chunk_size should be None or greater than 0. (got {chunk_size})")

    @functools.wraps(func)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        _check_out_dims(out_dims, func)
        flat, dims, spec = _checked_inputs(in_dims, args, func)
        size = _size(flat, dims)
        if chunk_size is None:
            return _run(func, flat, dims, spec, out_dims, kwargs, size, randomness)
        return _chunked(func, flat, dims, spec, out_dims, kwargs, size, randomness, chunk_size)

    return wrapped


def _vmap(func: Any, in_dims: Any = 0, out_dims: Any = 0, allow_none_pass_through: bool = False) -> Any:
    """``vmap`` as it was before it was public, which ``gradcheck`` uses: random operators have another error.

    >>> import wengert as torch
    >>> torch._vmap_internals._vmap(torch.sin)(torch.zeros(2))
    tensor([0., 0.])
    """
    mapped = vmap(func, in_dims, out_dims)

    @functools.wraps(mapped)
    def wrapped(*args: Any) -> Any:
        try:
            return mapped(*args)
        except RuntimeError as error:
            if "in randomness error mode" not in str(error):
                raise
            raise RuntimeError(
                "vmap: We do not yet support calling random operations inside of vmap. Please perform random "
                "operations outside of vmap as a workaround"
            ) from error

    return wrapped


# ---- the caller's slips
def _name(func: Any) -> str:
    if hasattr(func, "__name__"):
        return func.__name__
    if isinstance(func, functools.partial):
        return f"functools.partial({_name(func.func)}, ...)"
    return repr(func)


def _check_out_dims(out_dims: Any, func: Any) -> None:
    def check(d: Any) -> None:
        if d is not None and not isinstance(d, int):
            raise ValueError(
                f"vmap({_name(func)}, ..., out_dims={out_dims}): `out_dims` must be an int, None or a python "
                "collection of ints representing where in the outputs the vmapped dimension should appear."
            )

    tree_map(check, out_dims)


def _checked_inputs(in_dims: Any, args: tuple[Any, ...], func: Any) -> tuple[list[Any], list[int | None], TreeSpec]:
    """The flattened arguments, the mapped dimension of each, and their structure."""
    name = _name(func)
    head = f"vmap({name}, in_dims={in_dims}, ...)(<inputs>): "
    if not isinstance(in_dims, (int, tuple)):
        raise ValueError(
            f"{head}expected `in_dims` to be int or a (potentially nested) tuple matching the structure of inputs, "
            f"got: {type(in_dims)}."
        )
    if not args:
        raise ValueError(
            f"vmap({name})(<inputs>): got no inputs. Maybe you forgot to add inputs, or you are trying to vmap over a "
            "function with no inputs. The latter is unsupported."
        )
    flat, spec = tree_flatten(args)
    dims = broadcast_to_and_flatten(in_dims, spec)
    if dims is None:
        raise ValueError(
            f"{head}in_dims is not compatible with the structure of `inputs`. in_dims has structure "
            f"{tree_flatten(in_dims)[1]} but inputs has structure {spec}."
        )
    return flat, [_checked_dim(x, d, head) for x, d in zip(flat, dims, strict=True)], spec


def _checked_dim(x: Any, d: Any, head: str) -> int | None:
    if d is None:
        return None
    if not isinstance(d, int):
        raise ValueError(f"{head}Got in_dim={d} for an input but in_dim must be either an integer dimension or None.")
    if not isinstance(x, Tensor):
        raise ValueError(
            f"{head}Got in_dim={d} for an input but the input is of type {type(x)}. We cannot vmap over non-Tensor "
            "arguments, please use None as the respective in_dim"
        )
    n = x._payload.ndim
    if not -n <= d < n:
        raise ValueError(
            f"{head}Got in_dim={d} for some input, but that input is a Tensor of dimensionality {n} so expected "
            f"in_dim to satisfy -{n} <= in_dim < {n}."
        )
    return d % n


def _size(flat: list[Any], dims: list[int | None]) -> int:
    sizes = [int(x._payload.shape[d]) for x, d in zip(flat, dims, strict=True) if d is not None]
    if not sizes:
        raise ValueError("vmap: Expected at least one Tensor to vmap over")
    if len(set(sizes)) > 1:
        raise ValueError(
            "vmap: Expected all tensors to have the same size in the mapped dimension, got sizes "
            f"{sizes} for the mapped dimension"
        )
    return sizes[0]


# ---- running
def _run(func: Any, flat: Any, dims: Any, spec: Any, out_dims: Any, kwargs: Any, size: int, randomness: str) -> Any:
    with undone(transform()) as inside, inside, entered() as tag:
        inner = [x if d is None else _enter(x, d, tag) for x, d in zip(flat, dims, strict=True)]
        with randomness_level(randomness, size, tag):
            out = func(*tree_unflatten(inner, spec), **kwargs)
        changed = [(x, y, d) for x, y, d in zip(flat, inner, dims, strict=True) if d is not None]
    _write_back(changed, tag)
    outs, out_spec = tree_flatten(out)
    given = {id(y): (x, d) for x, y, d in changed if holds(y, Batched, tag)}
    left: dict[int, Tensor] = {}  # results by the tensor that was returned, which may be returned twice
    results = [
        _leave(y, d, tag, size, func, given.get(id(y))) if d else _leave_once(y, d, tag, size, func, given, left, outs)
        for y, d in zip(outs, _flat_out_dims(out, out_dims, out_spec, func), strict=True)
    ]
    given.clear()
    if inside.rebound:
        del out, outs, inner, changed
        check_captured(inside, tag, _CAPTURED)
    return tree_unflatten(results, out_spec)


_CAPTURED = (
    "vmap: inplace arithmetic(self, *extra_args) is not possible because there exists a Tensor `other` in extra_args "
    "that has more elements than `self`. This happened due to `other` being vmapped over but `self` not being vmapped "
    "over in a vmap. Please try to use out-of-place operators instead of inplace arithmetic. If said operator is being "
    "called inside the PyTorch framework, please file a bug report instead."
)


def _enter(x: Tensor, d: int, tag: int) -> Tensor:
    return wrap(Batched(payload(x), tag) if d == 0 else Given(payload(in_front(x, d)), tag, d))


def _write_back(changed: list[tuple[Tensor, Tensor, int]], tag: int) -> None:
    """Copy the function's writes to its arguments to the tensors that the caller passed."""
    for x, inner, d in changed:
        if inner._box is None or inner._box.cell is None or not inner._box.cell.version:
            continue
        if not holds(inner, Batched, tag):
            continue
        x.copy_(to_place(tensor(inner._payload.v), d))


def _flat_out_dims(out: Any, out_dims: Any, spec: TreeSpec, func: Any) -> list[Any]:
    dims: list[Any] | None
    if isinstance(out, Tensor):
        if isinstance(out_dims, int) or out_dims is None:
            dims = [out_dims]
        else:
            dims = list(out_dims) if isinstance(out_dims, tuple) and len(out_dims) == 1 else None
    else:
        dims = broadcast_to_and_flatten(out_dims, spec)
    if dims is None:
        raise ValueError(
            f"vmap({_name(func)}, ..., out_dims={out_dims})(<inputs>): out_dims is not compatible with the structure "
            f"of `outputs`. out_dims has structure {tree_flatten(out_dims)[1]} but outputs has structure {spec}."
        )
    return dims


def _leave_once(
    y: Any, d: Any, tag: int, size: int, func: Any, given: dict[int, Any], left: dict[int, Tensor], outs: list[Any]
) -> Any:
    """A result in front: the same for the same tensor, and a view of the result for its base if this is returned."""
    if d is None or id(y) in given or not holds(y, Batched, tag):
        return _leave(y, d, tag, size, func, given.get(id(y)))
    if id(y) in left:
        return left[id(y)]
    view = view_of(y)
    if view is None or not any(view[0] is o for o in outs) or not holds(view[0], Batched, tag):
        made = _leave(y, d, tag, size, func, None)
    else:
        from .._ops.shape.view_chain import lifted  # operators are imported when they are needed

        parent, info, p, _ = view
        k = None if info.outputs == 1 else p[-1]
        made = _leave_once(parent, d, tag, size, func, given, left, outs)
        for name, q in lifted(info, parent._payload.shape, p if k is None else p[:-1], size):
            made = REGISTRY[name].op(made, *q)
        made = made if k is None else made[k]
    left[id(y)] = made
    return made


def _leave(y: Any, d: Any, tag: int, size: int, func: Any, given: tuple[Tensor, int] | None) -> Any:
    """A result outside; ``given``: the argument that the function returned as it is, and its mapped dim."""
    name = _name(func)
    batched = holds(y, Batched, tag)
    if d is None:
        if batched:
            raise ValueError(f"vmap({name}, ...): `{name}` can not return a BatchedTensor when out_dim is None")
        return y
    if not isinstance(y, Tensor):
        raise ValueError(
            f"vmap({name}, ...): `{name}` must only return Tensors, got type {type(y)}. Did you mean to set out_dims= "
            "to None for output?"
        )
    if given is not None and -given[0].dim() <= d < given[0].dim():
        x, mapped = given
        at = d % x.dim()
        return x if at == mapped else to_place(in_front(x, mapped), at)
    out = tensor(y._payload.v) if batched else TENSORS.expand(y, (size, *y._payload.shape))
    n = out._payload.ndim
    if not -n <= d < n:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-n}, {n - 1}], but got {d})")
    return to_place(out, d % n)


def _chunked(
    func: Any, flat: Any, dims: Any, spec: Any, out_dims: Any, kwargs: Any, size: int, randomness: str, chunk: int
) -> Any:
    from .. import cat
    from ..random import get_rng_state, set_rng_state

    pieces = []
    state = get_rng_state() if randomness == "same" else None
    for start in range(0, max(size, 1), chunk):
        if state is not None:
            set_rng_state(state)
        n = min(chunk, size - start)
        part = [x if d is None else x.narrow(d, start, n) for x, d in zip(flat, dims, strict=True)]
        pieces.append(_run(func, part, dims, spec, out_dims, kwargs, n, randomness))
    flats = [tree_flatten(p) for p in pieces]
    out_spec = flats[0][1]
    flat_dims = _flat_out_dims(pieces[0], out_dims, out_spec, func)
    joined = [flats[0][0][k] if d is None else cat([f[0][k] for f in flats], d) for k, d in enumerate(flat_dims)]
    return tree_unflatten(joined, out_spec)
