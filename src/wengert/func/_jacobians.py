"""Jacobians and Hessians, of ``vjp`` and ``jvp`` under ``vmap``."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable
from typing import Any, ParamSpec

import numpy as np

from .._base.registry import TENSORS
from .._tape.promotion import logical_dtype
from .._tape.tensor import Tensor, payload_like, wrap
from .._tensor_api.construct import placed_beside
from ..utils._pytree import TreeSpec, tree_flatten, tree_map, tree_unflatten
from ._autodiff import Argnums, Chosen, jvp, vjp
from ._vmap import vmap

_P = ParamSpec("_P")


def _basis(x: Tensor, count: int | None = None, before: int = 0) -> Tensor:
    """The standard basis of a tensor's space, with the basis vectors along a new first dim.

    It may be a part of that of several tensors with ``count`` elements, ``before`` of them before this one's.
    """
    n = math.prod(x.shape)
    rows = np.eye(n if count is None else count, n, -before, dtype=logical_dtype(x))
    return placed_beside(x, rows.reshape((len(rows), *x.shape)))


def _refuse_complex(who: str, values: Any, what: str) -> None:
    for i, t in enumerate(tree_flatten(values)[0]):
        if isinstance(t, Tensor) and logical_dtype(t).kind == "c":
            raise RuntimeError(
                f"{who}: Expected all {what}s to be real but received complex tensor at flattened input idx: {i}"
            )


def jacrev(
    func: Callable[_P, Any],
    argnums: Argnums = 0,
    *,
    has_aux: bool = False,
    chunk_size: int | None = None,
    _preallocate_and_copy: bool = False,
) -> Callable[_P, Any]:
    """The Jacobian of a function by reverse mode: the derivative of each output with respect to each argument.

    ``argnums`` chooses the arguments; ``chunk_size`` is the number of rows to compute at once.

    >>> import wengert as torch
    >>> torch.func.jacrev(torch.sin)(torch.zeros(2))
    tensor([[1., 0.],
            [0., 1.]])
    """
    if not (chunk_size is None or chunk_size > 0):
        raise ValueError("jacrev: `chunk_size` should be greater than 0.")

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        _refuse_complex("jacrev", args, "input")
        chosen = Chosen(func, argnums, args, kwargs)
        pulled = vjp(chosen.call, *chosen.values, has_aux=has_aux)
        out, vjp_fn = pulled[0], pulled[1]
        _refuse_complex("jacrev", out, "output")
        flat_out, out_spec = tree_flatten(out)
        results = []
        for k, y in enumerate(flat_out):

            def one(v: Tensor, k: int = k) -> Any:
                given = [v if j == k else wrap(payload_like(z._payload, np.zeros)) for j, z in enumerate(flat_out)]
                return vjp_fn(tree_unflatten(given, out_spec))

            if chunk_size == 1:  # PyTorch's way for functions that vmap cannot map
                each = [one(v) for v in _basis(y)]
                rows = chosen.each(tree_map(lambda *rs: TENSORS.stack(rs, 0), *each))
            else:
                rows = chosen.each(vmap(one, chunk_size=chunk_size)(_basis(y)))
            results.append(tree_map(lambda r, y=y: r.reshape(tuple(y.shape) + tuple(r.shape[1:])), rows))
        jac = tree_unflatten(results, out_spec)
        return (jac, pulled[2]) if has_aux else jac

    return wrapper


def jacfwd(
    func: Callable[_P, Any], argnums: Argnums = 0, has_aux: bool = False, *, randomness: str = "error"
) -> Callable[_P, Any]:
    """The Jacobian of a function by forward mode.

    >>> import wengert as torch
    >>> torch.func.jacfwd(torch.sin)(torch.zeros(2))
    tensor([[1., 0.],
            [0., 1.]])
    """

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        _refuse_complex("jacfwd", args, "input")
        chosen = Chosen(func, argnums, args, kwargs)
        flat, spec = tree_flatten(chosen.values)
        if not flat:
            raise RuntimeError("jacfwd(f, ...)(*args): Expected primals to contain at least one Tensor.")
        for x in flat:
            if not isinstance(x, Tensor):
                raise RuntimeError(f"jacfwd(f, ...)(*args): Expected primals to only contain Tensors, got {type(x)}")

        def partial(*leaves: Any) -> Any:
            return chosen.call(*tree_unflatten(list(leaves), spec))

        def one(*tangents: Tensor) -> Any:
            pushed = jvp(partial, tuple(flat), tangents, has_aux=has_aux)
            _refuse_complex("jacfwd", pushed[0], "output")
            return (pushed[1], pushed[2]) if has_aux else pushed[1]

        ends = list(itertools.accumulate((math.prod(x.shape) for x in flat), initial=0))
        bases = [_basis(x, ends[-1], before) for x, before in zip(flat, ends, strict=False)]
        col = vmap(one, out_dims=(-1, 0) if has_aux else -1, randomness=randomness)(*bases)
        aux = None
        if has_aux:
            col, aux = col
            aux = tree_map(lambda t: t[0] if isinstance(t, Tensor) else t, aux)
        columns = [
            tree_map(lambda c, x=x, k=k: c[..., ends[k] : ends[k + 1]].reshape((*c.shape[:-1], *x.shape)), col)
            for k, x in enumerate(flat)
        ]
        jac = _transposed(columns, spec, chosen)
        return (jac, aux) if has_aux else jac

    return wrapper


def _transposed(columns: list[Any], spec: TreeSpec, chosen: Chosen) -> Any:
    """Transpose a list over inputs of structures over outputs to a structure over outputs of structures over inputs."""
    flat = [tree_flatten(c) for c in columns]
    out_spec = flat[0][1]
    by_output = [chosen.each(tree_unflatten([f[0][k] for f in flat], spec)) for k in range(out_spec.num_leaves)]
    return tree_unflatten(by_output, out_spec)


def hessian(func: Callable[_P, Any], argnums: Argnums = 0) -> Callable[_P, Any]:
    """The Hessian of a function, by forward mode over reverse mode.

    >>> import wengert as torch
    >>> torch.func.hessian(lambda x: (x ** 3).sum())(torch.ones(2))
    tensor([[6., 0.],
            [0., 6.]])
    """
    return jacfwd(jacrev(func, argnums), argnums)


__all__ = ["hessian", "jacfwd", "jacrev"]
