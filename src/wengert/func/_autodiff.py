"""``grad``, ``vjp``, ``jvp`` and the Jacobians made of them."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from .._dispatch import logical_dtype
from .._engine import run
from .._graph import ones_payload
from .._grad_mode import grad_mode
from .._node import leaf_node
from .._registry import T
from .._tensor import Tensor, current_fn, wrap
from .._values import Dual, next_tag, zeros_payload
from ..utils._pytree import TreeSpec, tree_flatten, tree_map, tree_unflatten
from ._levels import only_leads_to, payload, tensor
from ._vmap import vmap


def _entered(x: Any) -> Any:
    """A fresh variable on an input: a leaf, or a node on the outer tape if the input is tracked there."""
    if not isinstance(x, Tensor):
        return x
    if current_fn(x) is not None:
        return T.clone(x)
    t = wrap(x._a)
    leaf_node(t)
    return t


def _left(y: Any, own: set[Any]) -> Any:
    """A result without the transform's own leaves, if nothing else was tracked."""
    if isinstance(y, Tensor) and y._fn is not None and only_leads_to([y._fn], own):
        return wrap(y._a)
    return y


def _pullback(outputs: list[Tensor], cotangents: list[Any], inputs: list[Tensor], own: set[Any], keep: bool) -> list[Any]:
    """The inputs' gradients, recorded only if a tape outside of this transform could want that."""
    roots = [(current_fn(y), g) for y, g in zip(outputs, cotangents, strict=True) if current_fn(y) is not None]
    record = not only_leads_to([n for n, _ in roots], own) or any(current_fn(g) is not None for _, g in roots)
    nodes: list[Any] = [x._fn for x in inputs]
    if not roots:
        return [wrap(zeros_payload(x._a)) for x in inputs]
    with grad_mode(record):
        grads = run([(n, g if record else g._a) for n, g in roots], keep=keep or record, create_graph=record, inputs=nodes)
    assert grads is not None
    return [wrap(zeros_payload(x._a)) if g is None else _left(g, own) for g, x in zip(grads, inputs, strict=True)]


def _select(args: tuple[Any, ...], argnums: Any) -> Any:
    if isinstance(argnums, int):
        _check_argnum(argnums, len(args))
        return args[argnums]
    for i in argnums:
        _check_argnum(i, len(args))
    return tuple(args[i] for i in argnums)


def _check_argnum(i: int, n: int) -> None:
    if not isinstance(i, int) or not -n <= i < n:
        raise RuntimeError(f"Got argnum={i}, but only {n} positional inputs")


def _replaced(args: tuple[Any, ...], argnums: Any, values: Any) -> tuple[Any, ...]:
    out = list(args)
    if isinstance(argnums, int):
        out[argnums] = values
    else:
        for i, v in zip(argnums, values, strict=True):
            out[i] = v
    return tuple(out)


def grad_and_value(func: Callable[..., Any], argnums: Any = 0, has_aux: bool = False) -> Callable[..., Any]:
    """A function that returns ``(gradient, value)`` of a scalar function; with ``has_aux`` ``(gradient, (value, aux))``.

    >>> import wengert as torch
    >>> torch.func.grad_and_value(lambda x: x ** 3)(torch.tensor(2.))
    (tensor(12.), tensor(8.))
    """

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        with grad_mode(True):
            chosen, spec = tree_flatten(_select(args, argnums))
            for x in chosen:
                if not isinstance(x, Tensor):
                    raise RuntimeError(f"grad(f, argnums={argnums}) expects the chosen arguments to be Tensors, got {type(x)}")
            inner = [_entered(x) for x in chosen]
            own = {x._fn for x, outer in zip(inner, chosen, strict=True) if current_fn(outer) is None}
            value = func(*_replaced(args, argnums, tree_unflatten(inner, spec)), **kwargs)
            aux = None
            if has_aux:
                if not (isinstance(value, tuple) and len(value) == 2):
                    raise RuntimeError(
                        "grad_and_value(f)(*args): output of function f should be a tuple: (output, aux) if has_aux is True"
                    )
                value, aux = value
            _check_scalar(value)
            grads = _pullback([value], [wrap(ones_payload(value._a))], inner, own, False)
        value = _left(value, own)
        result = tree_unflatten(grads, spec)
        if has_aux:
            return result, (value, tree_map(lambda t: _left(t, own), aux))
        return result, value

    return wrapper


def _check_scalar(value: Any) -> None:
    if not isinstance(value, Tensor):
        raise RuntimeError(
            f"grad_and_value(f)(*args): Expected f(*args) to return a Tensor, got {type(value)}"
        )
    if value._a.ndim:
        raise RuntimeError(
            "grad_and_value(f)(*args): Expected f(*args) to return a scalar tensor, got tensor with "
            f"{value._a.ndim} dims. Maybe you wanted to use the vjp or jacrev APIs instead?"
        )


def grad(func: Callable[..., Any], argnums: Any = 0, has_aux: bool = False) -> Callable[..., Any]:
    """The gradient of a function that returns a scalar Tensor, as a function of the same arguments.

    ``argnums``: which arguments (an int, or a tuple of ints), each a Tensor or a nested structure of Tensors.

    >>> import wengert as torch
    >>> torch.func.grad(torch.func.grad(lambda x: x ** 3))(torch.tensor(2.))
    tensor(12.)
    """
    both = grad_and_value(func, argnums, has_aux)

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        result, value = both(*args, **kwargs)
        return (result, value[1]) if has_aux else result

    return wrapper


def vjp(func: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """``(func(*primals), vjp_fn)``: ``vjp_fn(cotangents)`` gives the vector-Jacobian products, one for each primal.

    >>> import wengert as torch
    >>> out, vjp_fn = torch.func.vjp(torch.sin, torch.zeros(2))
    >>> vjp_fn(torch.ones(2))
    (tensor([1., 1.]),)
    """
    with grad_mode(True):
        flat, spec = tree_flatten(primals)
        inner = [_entered(x) for x in flat]
        own = {x._fn for x, outer in zip(inner, flat, strict=True) if isinstance(x, Tensor) and current_fn(outer) is None}
        out = func(*tree_unflatten(inner, spec))
        aux = None
        if has_aux:
            if not (isinstance(out, tuple) and len(out) == 2):
                raise RuntimeError("vjp(f, *primals): output of function f should be a tuple: (output, aux) if has_aux is True")
            out, aux = out
    outs, out_spec = tree_flatten(out)
    for y in outs:
        if not isinstance(y, Tensor):
            raise RuntimeError(
                "vjp(f, *primals): Expected f(*primals) to return only tensors, got unsupported type " + str(type(y))
            )

    def vjp_fn(*cotangents: Any, retain_graph: bool = True, create_graph: bool | None = None) -> Any:
        given = cotangents[0] if len(cotangents) == 1 and not (isinstance(out, tuple) and len(out) == 1
                                                               and not isinstance(cotangents[0], tuple)) else cotangents  # fmt: skip
        flat_given, given_spec = tree_flatten(given)
        if given_spec != out_spec and len(flat_given) != len(outs):
            raise RuntimeError(
                f"Expected pytree structure of cotangents to be the same as pytree structure of outputs to the function. "
                f"cotangents: {given_spec}, primal output: {out_spec}"
            )
        with grad_mode(True):
            grads = _pullback(outs, flat_given, inner, own, True)
        result = tree_unflatten(grads, spec)
        return result

    primal_out = tree_unflatten([_left(y, own) for y in outs], out_spec)
    if has_aux:
        return primal_out, vjp_fn, tree_map(lambda t: _left(t, own), aux)
    return primal_out, vjp_fn


def jvp(func: Callable[..., Any], primals: Any, tangents: Any, *, strict: bool = False, has_aux: bool = False) -> Any:
    """``(func(*primals), tangent)``: the Jacobian-vector product, by forward mode.

    >>> import wengert as torch
    >>> torch.func.jvp(torch.sin, (torch.zeros(2),), (torch.ones(2),))
    (tensor([0., 0.]), tensor([1., 1.]))
    """
    if not isinstance(primals, tuple):
        raise RuntimeError("jvp(f, primals, tangents): Expected primals to be a tuple. E.g. it should be valid to call f(*primals).")
    flat, spec = tree_flatten(primals)
    flat_tangents, tangent_spec = tree_flatten(tangents)
    if spec != tangent_spec:
        raise RuntimeError(
            "jvp(f, primals, tangents): Expected primals and tangents to have the same python structure. For example, if "
            f"primals is a tuple of 3 tensors, tangents also must be. Got primals with structure {spec} and tangents with "
            f"structure {tangent_spec}"
        )
    if not flat:
        raise RuntimeError("jvp(f, primals, tangents): Expected primals to be non-empty")
    tag = next_tag()
    inner = [wrap(Dual(payload(x), payload(v), tag)) for x, v in zip(flat, flat_tangents, strict=True)]
    out = func(*tree_unflatten(inner, spec))
    aux = None
    if has_aux:
        out, aux = out
    outs, out_spec = tree_flatten(out)
    parts = [_unpacked(y, tag) for y in outs]
    result = tree_unflatten([p for p, _ in parts], out_spec), tree_unflatten([t for _, t in parts], out_spec)
    if has_aux:
        return *result, tree_map(lambda y: _unpacked(y, tag)[0], aux)
    return result


def _unpacked(y: Any, tag: int) -> tuple[Any, Any]:
    if not isinstance(y, Tensor):
        raise RuntimeError(f"jvp(f, primals, tangents): Expected f(*primals) to return only tensors, got {type(y)}")
    a = y._a
    if isinstance(a, Dual) and a.tag == tag:
        primal = tensor(a.v)
        return primal, tensor(a.t if a.t is not None else zeros_payload(primal._a))
    return y, wrap(zeros_payload(y._a))


def linearize(func: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[..., Any]]:
    """``(func(*primals), jvp_fn)``: ``jvp_fn(*tangents)`` is the linear map of the tangents at ``primals``.

    >>> import wengert as torch
    >>> out, f = torch.func.linearize(torch.sin, torch.zeros(2))
    >>> f(torch.ones(2))
    tensor([1., 1.])
    """
    out = func(*primals)

    def jvp_fn(*tangents: Any) -> Any:
        return jvp(func, primals, tangents)[1]

    return out, jvp_fn


def _basis(x: Tensor) -> Tensor:
    """The standard basis of a tensor's space, one vector for each element, in front."""
    n = 1
    for s in x.shape:
        n *= s
    return wrap(np.eye(n, dtype=logical_dtype(x)).reshape((n, *x.shape)))


def jacrev(func: Callable[..., Any], argnums: Any = 0, *, has_aux: bool = False, chunk_size: int | None = None,
           _preallocate_and_copy: bool = False) -> Callable[..., Any]:  # fmt: skip
    """The Jacobian of a function by reverse mode: for each output, its derivative by each chosen argument.

    >>> import wengert as torch
    >>> torch.func.jacrev(torch.sin)(torch.zeros(2))
    tensor([[1., 0.],
            [0., 1.]])
    """

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        chosen = _select(args, argnums)

        def partial(*xs: Any) -> Any:
            values = xs[0] if isinstance(argnums, int) else xs
            return func(*_replaced(args, argnums, values), **kwargs)

        primals = (chosen,) if isinstance(argnums, int) else chosen
        pulled = vjp(partial, *primals, has_aux=has_aux)
        out, vjp_fn = pulled[0], pulled[1]
        flat_out, out_spec = tree_flatten(out)
        results = []
        for k, y in enumerate(flat_out):

            def one(v: Tensor, k: int = k) -> Any:
                given = [v if j == k else wrap(zeros_payload(z._a)) for j, z in enumerate(flat_out)]
                return vjp_fn(tree_unflatten(given, out_spec))

            rows = vmap(one, chunk_size=chunk_size)(_basis(y))
            rows = rows[0] if isinstance(argnums, int) else rows
            results.append(tree_map(lambda r, y=y: r.reshape(tuple(y.shape) + tuple(r.shape[1:])), rows))
        jac = tree_unflatten(results, out_spec)
        return (jac, pulled[2]) if has_aux else jac

    return wrapper


def jacfwd(func: Callable[..., Any], argnums: Any = 0, has_aux: bool = False, *, randomness: str = "error") -> Callable[..., Any]:
    """The Jacobian of a function by forward mode.

    >>> import wengert as torch
    >>> torch.func.jacfwd(torch.sin)(torch.zeros(2))
    tensor([[1., 0.],
            [0., 1.]])
    """

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        chosen = _select(args, argnums)
        primals = (chosen,) if isinstance(argnums, int) else chosen
        flat, spec = tree_flatten(primals)

        def partial(*leaves: Any) -> Any:
            xs = tree_unflatten(list(leaves), spec)
            return func(*_replaced(args, argnums, xs[0] if isinstance(argnums, int) else xs), **kwargs)

        columns = []
        aux = None
        for k, x in enumerate(flat):

            def one(v: Tensor, k: int = k) -> Any:
                tangents = tuple(v if j == k else wrap(zeros_payload(z._a)) for j, z in enumerate(flat))
                pushed = jvp(partial, tuple(flat), tangents, has_aux=has_aux)
                return (pushed[1], pushed[2]) if has_aux else pushed[1]

            col = vmap(one, out_dims=(-1, 0) if has_aux else -1, randomness=randomness)(_basis(x))
            if has_aux:
                col, aux = col
                aux = tree_map(lambda t: t[0], aux)
            columns.append(tree_map(lambda c, x=x: c.reshape(tuple(c.shape[:-1]) + tuple(x.shape)), col))
        jac = _transposed(columns, spec, isinstance(argnums, int))
        return (jac, aux) if has_aux else jac

    return wrapper


def _transposed(columns: list[Any], spec: TreeSpec, single: bool) -> Any:
    """A list by input of structures by output, as a structure by output of structures by input."""
    flat = [tree_flatten(c) for c in columns]
    out_spec = flat[0][1]
    by_output = []
    for k in range(out_spec.num_leaves):
        xs = tree_unflatten([f[0][k] for f in flat], spec)
        by_output.append(xs[0] if single else xs)
    return tree_unflatten(by_output, out_spec)


def hessian(func: Callable[..., Any], argnums: Any = 0) -> Callable[..., Any]:
    """The Hessian of a function: forward mode over reverse mode.

    >>> import wengert as torch
    >>> torch.func.hessian(lambda x: (x ** 3).sum())(torch.ones(2))
    tensor([[6., 0.],
            [0., 6.]])
    """
    return jacfwd(jacrev(func, argnums), argnums)
