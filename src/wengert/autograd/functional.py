"""``torch.autograd.functional``: Jacobians and Hessians of functions of tensors, and products with them.

They use the tape and ``autograd.grad``; ``torch.func`` has the same functions as transforms that nest.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from .._base.grad_mode import enable_grad, grad_mode
from .._base.modes import is_grad_enabled
from .._tape.graph import grad
from .._tape.promotion import logical_dtype
from .._tape.tensor import Tensor
from .._tensor_api.construct import placed_beside

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]

Tensors = Tensor | tuple[Tensor, ...]


# ---- arguments
def _as_tuple(value: Any, what: str | None = None, who: str | None = None) -> tuple[bool, tuple[Tensor, ...]]:
    """Whether the argument is a tuple, and the argument as a tuple of Tensors."""
    single = not isinstance(value, tuple)
    values = (value,) if single else value
    for i, v in enumerate(values):
        if not isinstance(v, Tensor):
            which = f"given {what}" if single else f"value at index {i}"
            raise TypeError(
                f"The {what} given to {who} must be either a Tensor or a tuple of Tensors but the {which} has type "
                f"{type(v)}."
            )
    return not single, values


def _fresh(inputs: tuple[Tensor, ...], create_graph: bool, need_graph: bool) -> tuple[Tensor, ...]:
    """Inputs for differentiation that leave the caller's tensors alone: views in their graph, or new leaves."""
    return tuple(
        t.view_as(t) if create_graph and t.requires_grad else _leaf(t.detach()) if need_graph else t.detach()
        for t in inputs
    )


def _leaf(t: Tensor) -> Tensor:
    """Make a tensor require grad; inside a transform that is an error."""
    return t.requires_grad_()


def _finished(value: Any, create_graph: bool) -> Any:
    """The results, unchanged with ``create_graph``, otherwise without history."""
    if create_graph:
        return value
    if isinstance(value, Tensor):
        return value.detach()
    return tuple(_finished(v, create_graph) for v in value)


def _repacked(value: Any, many: bool | tuple[bool, ...]) -> Any:
    """Unpack tuples of one element where the caller passed or returned a single Tensor."""
    if isinstance(many, tuple):
        outer, inner = many
        value = value if inner else tuple(v[0] for v in value)
        return value if outer else value[0]
    return value if many else value[0]


_grad_postprocess, _tuple_postprocess = _finished, _repacked  # PyTorch's names, which libraries import


def _check_v(v: tuple[Tensor, ...], other: tuple[Tensor, ...], many: bool) -> None:
    if len(v) != len(other):
        if many:
            raise RuntimeError(f"v is a tuple of invalid length: should be {len(other)} but got {len(v)}.")
        raise RuntimeError("The given v should contain a single Tensor.")
    for i, (a, b) in enumerate(zip(v, other, strict=True)):
        if tuple(a.shape) != tuple(b.shape):
            raise RuntimeError(
                f"{f'Entry {i} in ' if many else ''}v has invalid size: should be {b.shape} but got {a.shape}."
            )


def _vector(v: Any, other: tuple[Tensor, ...], many: bool, create_graph: bool, who: str, need: str) -> Any:
    if v is None:
        if len(other) != 1 or other[0].numel() != 1:
            raise RuntimeError(f"The vector v can only be None if {need} a single Tensor with a single element.")
        return None
    _, vs = _as_tuple(v, "v", who)
    vs = _fresh(vs, create_graph, False)
    _check_v(vs, other, many)
    return vs


# ---- strict's checks
_STRICT = {
    "outputs": "Output {i} of the user-provided function does not require gradients. The outputs must be computed in a "
    "differentiable manner from the input when running in strict mode.",
    "grad_inputs": "The gradient with respect to input {i} is independent of the inputs of the user-provided function. "
    "This is not allowed in strict mode.",
    "jacobian": "While computing the hessian, found that the jacobian of the user-provided function with respect to "
    "input {i} is independent of the input. This is not allowed in strict mode. You should ensure that your function "
    "is twice differentiable and that the jacobian depends on the inputs (this would be violated by a linear function "
    "for example).",
    "hessian": "The hessian of the user-provided function with respect to input {i} is independent of the input. This "
    "is not allowed in strict mode. You should ensure that your function is thrice differentiable and that the "
    "hessian depends on the inputs.",
}

_ABSENT = {
    "back": "The output of the user-provided function is independent of input {i}. This is not allowed in strict mode.",
    "back_trick": "The gradient with respect to the input is independent of entry {i} in the grad_outputs when using "
    "the double backward trick to compute forward mode gradients. This is not allowed in strict mode.",
    "double_back": "The jacobian of the user-provided function is independent of input {i}. This is not allowed in "
    "strict mode.",
    "double_back_trick": "The hessian of the user-provided function is independent of entry {i} in the grad_jacobian. "
    "This is not allowed in strict mode as it prevents from using the double backward trick to replace forward mode "
    "AD.",
}


def _require_grad(tensors: Sequence[Tensor | None], what: str, strict: bool) -> None:
    if not strict:
        return
    for i, t in enumerate(tensors):
        if t is None:
            raise RuntimeError(
                f"The output of the user-provided function is independent of input {i}. This is not allowed in strict "
                "mode."
            )
        if not t.requires_grad:
            raise RuntimeError(_STRICT[what].format(i=i))


def _filled(
    grads: Sequence[Any], like: Sequence[Tensor], strict: bool, create_graph: bool, stage: str
) -> tuple[Tensor, ...]:
    """Replace missing gradients by zeros, or in strict mode raise an error."""
    out = []
    for i, g in enumerate(grads):
        if g is None:
            if strict:
                raise RuntimeError(_ABSENT[stage].format(i=i))
            g = _zeros(like[i])
        elif strict and create_graph and not g.requires_grad:
            which = "hessian" if "double" in stage else "jacobian"
            raise RuntimeError(
                f"The {which} of the user-provided function is independent of input {i}. This is not allowed in "
                "strict mode when create_graph=True."
            )
        out.append(g)
    return tuple(out)


def _zeros(t: Tensor) -> Tensor:
    return (
        t.detach() * 0
        if not isinstance(t._payload, (np.ndarray, np.generic))
        else placed_beside(t, np.zeros(t._payload.shape, logical_dtype(t)))
    )


def _grads(
    outputs: Any, inputs: Any, vectors: Any = None, create_graph: bool = False, retain_graph: bool | None = None
) -> Any:
    """``autograd.grad`` of the outputs that have a graph."""
    vectors = (None,) * len(outputs) if vectors is None else vectors
    live = [(o, v) for o, v in zip(outputs, vectors, strict=True) if o is not None and o.requires_grad]
    if not live:
        return (None,) * len(inputs)
    outs, vs = zip(*live, strict=True)
    return grad(outs, inputs, vs, allow_unused=True, create_graph=create_graph, retain_graph=retain_graph)


# ---- products
class _Evaluated(NamedTuple):
    """A function's inputs, outputs and vector, and whether inputs and outputs were tuples."""

    xs: tuple[Tensor, ...]
    vs: Any
    outputs: tuple[Tensor, ...]
    many_in: bool
    many_out: bool

    def vector(self) -> Any:
        """The vector, or ones if it is None."""
        return (
            tuple(placed_beside(x, np.ones(x._payload.shape, logical_dtype(x))) for x in self.xs)
            if self.vs is None
            else self.vs
        )

    def given_back(self, result: Any, many: bool, create_graph: bool) -> tuple[Any, Any]:
        """The outputs and a result, in the form for the user."""
        outputs = _repacked(_finished(self.outputs, create_graph), self.many_out)
        return outputs, _repacked(_finished(result, create_graph), many)


def _evaluated(who: str, func: Any, inputs: Any, v: Any, create_graph: bool, strict: bool) -> _Evaluated:
    many_in, xs = _as_tuple(inputs, "inputs", who)
    xs = _fresh(xs, create_graph, True)
    vs = _vector(v, xs, many_in, create_graph, who, "the input to the user-provided function is")
    many_out, outputs = _as_tuple(func(*xs), "outputs of the user-provided function", who)
    _require_grad(outputs, "outputs", strict)
    return _Evaluated(xs, vs, outputs, many_in, many_out)


def _gradient(at: _Evaluated, who: str, strict: bool) -> Any:
    """The gradient of the only output, which must have one element."""
    _scalar_output(at.outputs, at.many_out, who)
    jac = _grads(at.outputs, at.xs, None, True)
    _require_grad(jac, "jacobian", strict)
    return jac


def _linear_in_cotangents(ys: Any, xs: tuple[Tensor, ...], like: tuple[Tensor, ...]) -> tuple[Any, Any]:
    """Cotangents of ys and their backward pass, which is linear in them: its gradient with respect to them is a jvp."""
    us = tuple(_leaf(_zeros(y)) for y in like)
    return us, _grads(ys, xs, us, True)


def vjp(
    func: Callable[..., Any],
    inputs: Tensors,
    v: Tensors | None = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Tensors, Tensors]:
    """``(func(inputs), v J)``: the vector-Jacobian product. ``v`` has the outputs' shapes.

    ``create_graph`` makes both differentiable. ``strict``: raise an error if the outputs do not depend on an input.

    >>> import wengert as torch
    >>> torch.autograd.functional.vjp(lambda x: x ** 2, torch.tensor([1., 2.]), torch.ones(2))
    (tensor([1., 4.]), tensor([2., 4.]))
    """
    with enable_grad():
        many_in, xs = _as_tuple(inputs, "inputs", "vjp")
        xs = _fresh(xs, create_graph, True)
        many_out, outputs = _as_tuple(func(*xs), "outputs of the user-provided function", "vjp")
        _require_grad(outputs, "outputs", strict)
        vs = _vector(v, outputs, many_out, create_graph, "vjp", "the user-provided function returns")
    with grad_mode(create_graph or is_grad_enabled()):
        result = _filled(_grads(outputs, xs, vs, create_graph), xs, strict, create_graph, "back")
    return _repacked(_finished(outputs, create_graph), many_out), _repacked(_finished(result, create_graph), many_in)


def jvp(
    func: Callable[..., Any],
    inputs: Tensors,
    v: Tensors | None = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Tensors, Tensors]:
    """``(func(inputs), J v)``: the Jacobian-vector product, by two backward passes. ``v`` has the inputs' shapes.

    >>> import wengert as torch
    >>> torch.autograd.functional.jvp(lambda x: x ** 2, torch.tensor([1., 2.]), torch.ones(2))
    (tensor([1., 4.]), tensor([2., 4.]))
    """
    with enable_grad():
        at = _evaluated("jvp", func, inputs, v, create_graph, strict)
        us, back = _linear_in_cotangents(at.outputs, at.xs, at.outputs)
        _require_grad(back, "grad_inputs", strict)
    with grad_mode(create_graph or is_grad_enabled()):
        result = _filled(_grads(back, us, at.vector(), create_graph), at.outputs, strict, create_graph, "back_trick")
    return at.given_back(result, at.many_out, create_graph)


def _scalar_output(outputs: tuple[Tensor, ...], many: bool, who: str) -> None:
    if many:
        raise RuntimeError(f"The function given to {who} should return a single Tensor")
    if outputs[0].numel() != 1:
        raise RuntimeError(f"The Tensor returned by the function given to {who} should contain a single element")


def vhp(
    func: Callable[..., Any],
    inputs: Tensors,
    v: Tensors | None = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Tensor, Tensors]:
    """``(func(inputs), v H)``: the vector-Hessian product of a scalar function.

    >>> import wengert as torch
    >>> torch.autograd.functional.vhp(lambda x: (x ** 3).sum(), torch.tensor([1., 2.]), torch.ones(2))
    (tensor(9.), tensor([ 6., 12.]))
    """
    with enable_grad():
        at = _evaluated("vhp", func, inputs, v, create_graph, strict)
        jac = _gradient(at, "vhp", strict)
    with grad_mode(create_graph or is_grad_enabled()):
        result = _filled(_grads(jac, at.xs, at.vs, create_graph), at.xs, strict, create_graph, "double_back")
    return at.given_back(result, at.many_in, create_graph)


def hvp(
    func: Callable[..., Any],
    inputs: Tensors,
    v: Tensors | None = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Tensor, Tensors]:
    """``(func(inputs), H v)``: the Hessian-vector product of a scalar function. ``vhp`` gives the same at less cost.

    >>> import wengert as torch
    >>> torch.autograd.functional.hvp(lambda x: (x ** 3).sum(), torch.tensor([1., 2.]), torch.ones(2))
    (tensor(9.), tensor([ 6., 12.]))
    """
    with enable_grad():
        at = _evaluated("hvp", func, inputs, v, create_graph, strict)
        jac = _gradient(at, "hvp", strict)
        us, back = _linear_in_cotangents(jac, at.xs, at.xs)
        _require_grad(jac, "hessian", strict)
    with grad_mode(create_graph or is_grad_enabled()):
        result = _filled(_grads(back, us, at.vector(), create_graph), at.xs, strict, create_graph, "double_back_trick")
    return at.given_back(result, at.many_in, create_graph)


# ---- Jacobians
def jacobian(
    func: Callable[..., Any],
    inputs: Tensors,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any:
    """The Jacobian: for each output and input a Tensor whose shape is the output's followed by the input's.

    ``vectorize`` computes all rows at once by vmap, or with ``strategy="forward-mode"`` all columns.

    >>> import wengert as torch
    >>> torch.autograd.functional.jacobian(lambda x: x ** 2, torch.tensor([1., 2.]))
    tensor([[2., 0.],
            [0., 4.]])
    """
    if strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError(
            'Expected strategy to be either "forward-mode" or "reverse-mode". Hint: If your function has more outputs '
            'than inputs, "forward-mode" tends to be more performant. Otherwise, prefer to use "reverse-mode".'
        )
    if strategy == "forward-mode":
        return _forward_jacobian(func, inputs, create_graph, strict, vectorize)
    with enable_grad():
        many_in, xs = _as_tuple(inputs, "inputs", "jacobian")
        xs = _fresh(xs, create_graph, True)
        many_out, outputs = _as_tuple(func(*xs), "outputs of the user-provided function", "jacobian")
        _require_grad(outputs, "outputs", strict)
        if vectorize:
            if strict:
                raise RuntimeError(
                    "torch.autograd.functional.jacobian: `strict=True` and `vectorized=True` are not supported "
                    "together. Please either set `strict=False` or `vectorize=False`."
                )
            jac = tuple(_rows_at_once(y, xs, create_graph) for y in outputs)
        else:
            jac = tuple(_rows_one_by_one(i, y, xs, create_graph, strict) for i, y in enumerate(outputs))
        return _repacked(_finished(jac, create_graph), (many_out, many_in))


def _construct_standard_basis_for(tensors: tuple[Tensor, ...], tensor_numels: tuple[int, ...]) -> tuple[Tensor, ...]:
    """The rows of a unit matrix, split into columns for each tensor; a private name that libraries import."""
    ends = np.cumsum(tensor_numels)
    return tuple(
        placed_beside(t, np.eye(ends[-1], n, int(n - end), dtype=logical_dtype(t)))
        for t, n, end in zip(tensors, tensor_numels, ends, strict=True)
    )


def _rows_at_once(y: Tensor, xs: tuple[Tensor, ...], create_graph: bool) -> tuple[Tensor, ...]:
    if not y.requires_grad:
        found: Any = (None,) * len(xs)
    else:
        basis = placed_beside(y, np.eye(y.numel(), dtype=logical_dtype(y)).reshape((y.numel(), *y.shape)))
        found = grad(
            y, xs, basis, retain_graph=True, create_graph=create_graph, allow_unused=True, is_grads_batched=True
        )
    return tuple(
        placed_beside(x, np.zeros((*y.shape, *x.shape), logical_dtype(x)))
        if g is None
        else g.reshape((*y.shape, *x.shape))
        for g, x in zip(found, xs, strict=True)
    )


def _rows_one_by_one(i: int, y: Tensor, xs: tuple[Tensor, ...], create_graph: bool, strict: bool) -> tuple[Tensor, ...]:
    from .. import stack

    rows: list[list[Tensor]] = [[] for _ in xs]
    flat = y.reshape(-1)
    for j in range(y.numel()):
        for k, (g, x) in enumerate(zip(_grads((flat[j],), xs, None, create_graph, True), xs, strict=True)):
            if g is None:
                if strict:
                    raise RuntimeError(
                        f"Output {i} of the user-provided function is independent of input {k}. This is not allowed in "
                        "strict mode."
                    )
                g = _zeros(x)
            elif strict and create_graph and not g.requires_grad:
                raise RuntimeError(
                    f"The jacobian of the user-provided function is independent of input {i}. This is not allowed in "
                    "strict mode when create_graph=True."
                )
            rows[k].append(g)
    return tuple(
        stack(r, 0).reshape((*y.shape, *x.shape))
        if r
        else placed_beside(x, np.zeros((*y.shape, *x.shape), logical_dtype(x)))
        for r, x in zip(rows, xs, strict=True)
    )


def _forward_jacobian(func: Any, inputs: Any, create_graph: bool, strict: bool, vectorize: bool) -> Any:
    if create_graph:
        raise NotImplementedError(
            'torch.autograd.functional.jacobian: `create_graph=True` and `strategy="forward-mode"` are not supported '
            'together (yet). Please either set `create_graph=False` or `strategy="reverse-mode"`.'
        )
    if strict:
        raise RuntimeError(
            'torch.autograd.functional.jacobian: `strict=True` and `strategy="forward-mode"` are not supported '
            'together (yet). Please either set `strict=False` or `strategy="reverse-mode"`.'
        )
    if not vectorize:
        raise NotImplementedError(
            "Computing Jacobian using forward-AD or forward-over-reverse Hessian isonly implemented for "
            "`vectorize=True`."
        )
    from ..func import jvp, vmap

    many_in, xs = _as_tuple(inputs, "inputs", "jacobian")
    sizes = tuple(x.numel() for x in xs)
    many_out = False

    def checked(*args: Any) -> tuple[Tensor, ...]:
        nonlocal many_out
        many_out, outputs = _as_tuple(func(*args), "outputs", "None")
        return outputs

    def columns(*tangents: Tensor) -> Any:
        return jvp(checked, xs, tuple(t.view_as(x) for t, x in zip(tangents, xs, strict=True)))[1]

    found = vmap(columns)(*_construct_standard_basis_for(xs, sizes))
    jac = [
        [
            part.movedim(0, -1).reshape((*column.shape[1:], *x.shape))
            for part, x in zip(column.split(sizes), xs, strict=True)
        ]
        for column in found
    ]
    return _repacked(jac, (many_out, many_in))


def hessian(
    func: Callable[..., Any],
    inputs: Tensors,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:
    """The Hessian of a scalar function: the Jacobian of its gradient.

    >>> import wengert as torch
    >>> torch.autograd.functional.hessian(lambda x: (x ** 3).sum(), torch.tensor([1., 2.]))
    tensor([[ 6.,  0.],
            [ 0., 12.]])
    """
    many_in, xs = _as_tuple(inputs, "inputs", "hessian")
    if outer_jacobian_strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError('Expected strategy to be either "forward-mode" or "reverse-mode".')

    def scalar(*args: Any) -> Tensor:
        out = func(*args)
        many_out, outputs = _as_tuple(out, "outputs of the user-provided function", "hessian")
        _require_grad(outputs, "outputs", strict)
        _scalar_output(outputs, many_out, "hessian")
        return out.squeeze()

    if outer_jacobian_strategy == "forward-mode":
        from ..func import grad as gradient_of

        every = gradient_of(scalar, argnums=tuple(range(len(xs))))
        result = _forward_jacobian(every, tuple(xs), create_graph, strict, vectorize)
        return _repacked(result, (many_in, many_in))

    def gradient(*args: Any) -> Any:
        jac = jacobian(scalar, args, create_graph=True)
        _require_grad(jac, "jacobian", strict)
        return jac

    result = jacobian(gradient, xs, create_graph=create_graph, strict=strict, vectorize=vectorize)
    return _repacked(result, (many_in, many_in))
