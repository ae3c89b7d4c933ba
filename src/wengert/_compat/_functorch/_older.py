"""Functions of functorch that are not public in ``torch.func``: programs and tests find them in their old places."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

from wengert._base.modes import transform, undone
from wengert._payloads.transforms import Batched, entered
from wengert._payloads.vmap_randomness import randomness_level
from wengert._tape.tensor import Tensor
from wengert.func._autodiff import _positions
from wengert.func._levels import holds, tensor
from wengert.func._vmap import _checked_inputs, _enter, _size
from wengert.func._vmap import vmap as _vmap
from wengert.utils._pytree import broadcast_to_and_flatten, tree_flatten, tree_unflatten


def _as_tuple(val: Any) -> tuple[Any, ...]:
    """A list or tuple as a tuple, anything else in one."""
    return tuple(val) if isinstance(val, (list, tuple)) else (val,)


def _slice_argnums(args: tuple[Any, ...], argnums: Any, as_tuple: bool = True) -> Any:
    """The arguments at these positions, which are checked."""
    found = tuple(args[i] for i in _positions(argnums, len(args)))
    return found if as_tuple or not isinstance(argnums, int) else found[0]


def chunk_vmap(
    func: Callable[..., Any], in_dims: Any = 0, out_dims: Any = 0, randomness: str = "error", chunks: int = 2
) -> Callable[..., Any]:
    """``vmap`` in this many parts; ``chunk_size`` of ``vmap`` is the number of examples in one.

    >>> import wengert as torch
    >>> chunk_vmap(torch.sin, chunks=3)(torch.zeros(4))
    tensor([0., 0., 0., 0.])
    """

    def wrapped(*args: Any, **kwargs: Any) -> Any:
        flat, dims, _ = _checked_inputs(in_dims, args, func)
        size = -(-_size(flat, dims) // chunks)
        return _vmap(func, in_dims, out_dims, randomness, chunk_size=None if chunks == 1 else size)(*args, **kwargs)

    return wrapped


def restore_vmap(func: Callable[..., Any], in_dims: Any, batch_size: int, randomness: str) -> Callable[..., Any]:
    """``vmap`` that returns the outputs as they are inside, and where they are mapped.

    >>> import wengert as torch
    >>> restore_vmap(lambda x: (x, torch.zeros(2)), (0,), 3, "error")(torch.ones(3))
    ((tensor([1., 1., 1.]), tensor([0., 0.])), (0, None))
    """

    def inner(*args: Any, **kwargs: Any) -> tuple[Any, Any]:
        flat, spec = tree_flatten(args)
        dims: Any = broadcast_to_and_flatten(in_dims, spec)
        with undone(transform()) as inside, inside, entered() as tag:
            given = [x if d is None else _enter(x, d, tag) for x, d in zip(flat, dims, strict=True)]
            with randomness_level(randomness, batch_size, tag):
                out = func(*tree_unflatten(given, spec), **kwargs)
        outs, out_spec = tree_flatten(out)
        mapped = [holds(y, Batched, tag) for y in outs]
        entries = {id(y): (x, d) for x, y, d in zip(flat, given, dims, strict=True) if d is not None}
        found = [
            entries.get(id(y), (tensor(y._payload.v), 0)) if m else (y, None) for y, m in zip(outs, mapped, strict=True)
        ]
        return tuple(tree_unflatten(list(part), out_spec) for part in zip(*found, strict=True))  # type: ignore[return-value]

    return inner


def reshape_dim_into(src: int, dst: int, x: Tensor) -> Tensor:
    """A tensor whose dim ``src`` became the outer part of dim ``dst`` of the others.

    >>> import wengert as torch
    >>> reshape_dim_into(0, 0, torch.zeros(2, 3, 5)).shape
    torch.Size([6, 5])
    """
    others = [i for i in range(x.dim()) if i != src % x.dim()]
    dst %= len(others)
    moved = x.permute(*others[:dst], src % x.dim(), *others[dst:])
    return moved.reshape(*moved.shape[:dst], -1, *moved.shape[dst + 2 :])


def reshape_dim_outof(src: int, size1: int, x: Tensor) -> Tensor:
    """A tensor whose dim ``src`` is two, the first of this size.

    >>> import wengert as torch
    >>> reshape_dim_outof(0, 2, torch.zeros(6, 5)).shape
    torch.Size([2, 3, 5])
    """
    src %= x.dim()
    return x.reshape(*x.shape[:src], size1, x.shape[src] // size1, *x.shape[src + 1 :])


def enable_single_level_autograd_function() -> Any:
    """A context that does nothing: custom functions work at every level."""
    return nullcontext()
