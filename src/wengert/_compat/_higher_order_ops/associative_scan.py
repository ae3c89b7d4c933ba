"""``associative_scan``: all results of an associative function along a dim, in a logarithmic number of steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import wengert as torch
from wengert._kinds.dims import normal_dim
from wengert._tape.tensor import Tensor
from wengert.utils._pytree import tree_flatten, tree_leaves, tree_unflatten

__all__ = ["associative_scan"]

Leaves = list[Tensor]


def associative_scan(
    combine_fn: Callable[[Any, Any], Any], xs: Any, dim: int, reverse: bool = False, combine_mode: str = "pointwise"
) -> Any:
    """``x0, f(x0, x1), f(f(x0, x1), x2), ...`` along a dim, for an associative ``combine_fn``.

    ``xs``: a tensor, or a container of tensors of one length; ``combine_fn`` takes and returns the same structure
    without the dim (``combine_mode="generic"``; the other mode is for kernels of other devices). ``reverse`` begins at
    the end. Neighbours are combined in pairs, and so are the results (Blelloch, Prefix Sums and Their Applications,
    1990).

    Raises:
        ValueError: another mode, no tensors, or an empty or missing dim.

    >>> import wengert as torch
    >>> from wengert._higher_order_ops.associative_scan import associative_scan
    >>> associative_scan(lambda a, b: a + b, torch.arange(5), 0, combine_mode="generic")
    tensor([ 0,  1,  3,  6, 10])
    """
    leaves, spec = tree_flatten(xs)
    dim = _checked(combine_fn, leaves, dim, combine_mode)
    mapped = torch.func.vmap(combine_fn)

    def combine(left: Leaves, right: Leaves) -> Leaves:
        if not left[0].shape[0]:
            return left
        return tree_leaves(mapped(tree_unflatten(left, spec), tree_unflatten(right, spec)))

    elements = [t.movedim(dim, 0) for t in leaves]
    if reverse:
        elements = [t.flip(0) for t in elements]
    found = _scanned(combine, elements)
    if reverse:
        found = [t.flip(0) for t in found]
    return tree_unflatten([t.movedim(0, dim) for t in found], spec)


def _checked(combine_fn: Any, leaves: list[Any], dim: int, combine_mode: str) -> int:
    if not callable(combine_fn):
        raise ValueError(f"Combine_fn must be a callable, but got {combine_fn}")
    if combine_mode not in ("pointwise", "generic"):
        raise ValueError(f"Combine_mode must either 'pointwise' or 'generic', but got {combine_mode}")
    if not leaves:
        raise ValueError("Expected at least 1 xs leaf")
    if any(not isinstance(t, Tensor) for t in leaves):
        raise ValueError("xs leaves must be a Tensor")
    if combine_mode == "pointwise":
        raise ValueError("For combine_mode='pointwise', all input tensors need to be on CUDA or XPU")
    dim = normal_dim(dim, leaves[0].ndim)
    if any(t.ndim <= dim or t.shape[dim] == 0 for t in leaves):
        raise ValueError("All xs leaves must at least have 'dim' number of dimensions and scan dimension > 0")
    return dim


def _scanned(combine: Callable[[Leaves, Leaves], Leaves], elements: Leaves) -> Leaves:
    """All results along dim 0: those at odd indices from the pairs, the others from these."""
    n = elements[0].shape[0]
    if n < 2:
        return elements
    odd = _scanned(combine, combine([t[:-1:2] for t in elements], [t[1::2] for t in elements]))
    before = [t[:-1] for t in odd] if n % 2 == 0 else odd
    even = combine(before, [t[2::2] for t in elements])
    even = [torch.cat([t[:1], later]) for t, later in zip(elements, even, strict=True)]
    return [_interleaved(a, b) for a, b in zip(even, odd, strict=True)]


def _interleaved(even: Tensor, odd: Tensor) -> Tensor:
    """The elements of both, interleaved; ``even`` may have one more."""
    n = odd.shape[0]
    pairs = torch.stack([even[:n], odd], 1).flatten(0, 1)
    return torch.cat([pairs, even[n:]]) if even.shape[0] > n else pairs


def _fake_associative_scan(combine_fn: Any, xs: Any, dim: int, reverse: bool = False) -> Any:
    """With any function and on any device: with this PyTorch's tests compare."""
    return associative_scan(combine_fn, xs, dim, reverse, combine_mode="generic")
