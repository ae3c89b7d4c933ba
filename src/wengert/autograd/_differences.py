"""Numeric derivatives for ``gradcheck``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._arrays.memory import repeats
from .._base import errors
from .._base.constants import Size
from .._base.dtypes import from_numpy_dtype
from .._payloads.transforms import plain_dtype
from .._tape.tensor import Tensor, alias_payload, wrap


class Check:
    """One check: the function, its inputs, and the tolerances."""

    def __init__(
        self, func: Callable[..., Any], inputs: Any, eps: float, atol: float, rtol: float, masked: bool = False
    ) -> None:
        given = inputs if isinstance(inputs, tuple) else tuple(inputs) if isinstance(inputs, list) else (inputs,)
        self.func, self.inputs = _by_elements(func, given, masked)
        self.given = None if self.inputs is given else (func, given)  # with sparse inputs
        self.eps, self.atol, self.rtol = eps, atol, rtol
        self.wanted = [i for i, x in enumerate(self.inputs) if isinstance(x, Tensor) and x.requires_grad]

    def call(self, *args: Any) -> list[Tensor]:
        """The outputs that have a derivative."""
        outputs = self.func(*(args or self.inputs))
        outputs = tuple(outputs) if isinstance(outputs, (tuple, list)) else (outputs,)
        if any(isinstance(y, Tensor) and _is_sparse(y) for y in outputs):
            raise ValueError(
                "Sparse output is not supported at gradcheck yet. Please call to_dense(masked_grad=...) on the output "
                "of fn for gradcheck."
            )
        for y in outputs:
            if not isinstance(y, Tensor):
                raise AttributeError(f"'{type(y).__name__}' object has no attribute 'requires_grad'")
        return list(outputs)

    def differentiable(self, outputs: list[Tensor]) -> list[int]:
        """Whether each output requires grad."""
        return [k for k, y in enumerate(outputs) if y.requires_grad]

    def close(self, a: Any, n: Any, scale: float = 1.0) -> bool:
        """Whether an analytical Jacobian is close to the numerical one.

        ``scale``: by what the tolerance of an element is multiplied, for a sum of elements along a direction.
        """
        return bool(np.allclose(a, n, rtol=self.rtol, atol=self.atol * scale, equal_nan=False))


def _by_elements(
    func: Callable[..., Any], inputs: tuple[Any, ...], masked: bool
) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """The function and its inputs with a dense tensor for each sparse input, whose elements are the ones to vary.

    ``masked``: only the elements that the sparse tensor stores are given to the function, the others stay zero.
    """
    sparse = {i: x.detach() for i, x in enumerate(inputs) if isinstance(x, Tensor) and x._node and _is_sparse(x)}
    if not sparse:
        return func, inputs
    sparse = {i: x.coalesce() if x.is_sparse else x for i, x in sparse.items()}

    def on_elements(*args: Any) -> Any:
        return func(*[_stored_as(sparse[i], x, masked) if i in sparse else x for i, x in enumerate(args)])

    return on_elements, tuple(sparse[i].to_dense().requires_grad_() if i in sparse else x for i, x in enumerate(inputs))


def _is_sparse(t: Any) -> bool:
    return getattr(t._payload, "is_sparse", False)


def _stored_as(like: Any, elements: Any, masked: bool) -> Tensor:
    """A sparse tensor of these elements, which stores those that ``like`` stores, or all if others are not zero."""
    from .._ops.names.sparse import recorded_by, to_dense

    given = elements.detach()
    made = given.sparse_mask(like)
    if not masked and bool((made.to_dense() != given).any()):
        dims = {"sparse_dim": like.sparse_dim()} if like.is_sparse else {"layout": like.layout}
        ones = given.new_ones(given.shape)
        made = given.sparse_mask(ones.to_sparse(**dims, **({} if like.is_sparse else {"dense_dim": like.dense_dim()})))
    return recorded_by("ToSparseBackward0", made._payload, (elements,), to_dense)


def check_inputs(inputs: tuple[Any, ...]) -> None:
    found = False
    for i, x in enumerate(inputs):
        if not (isinstance(x, Tensor) and x.requires_grad):
            continue
        found = True
        if x._payload.dtype.itemsize // (2 if x._payload.dtype.kind == "c" else 1) < 8:
            errors.warn(
                f"Input #{i} requires gradient and is not a double precision floating point or complex. This check "
                "will likely fail if all the inputs are not of double precision floating point or complex. "
            )
        a = x._payload
        if isinstance(a, np.ndarray) and a.size and repeats(a.shape, a.strides):
            raise RuntimeError(
                f"The {i}th input has a dimension with stride 0. gradcheck only supports inputs that are "
                "non-overlapping to be able to compute the numerical gradients correctly. You should call .contiguous "
                "on the input before passing it to gradcheck."
            )
    if not found:
        raise ValueError(
            "gradcheck expects at least one input tensor to require gradient, but none of them have requires_grad=True."
        )


def zeros_of(t: Tensor) -> Any:
    """An array of zeros of a tensor's shape and dtype."""
    return np.zeros(t._payload.shape, plain_dtype(t._payload.dtype))


def elements_of(t: Tensor) -> Any:
    """A copy of a tensor's elements; a wrapper's are asked for one by one."""
    t = t.detach()
    return np.array(t._payload.numpy() if hasattr(t._payload, "lifted") else t.numpy(force=True))


# ---- differences
def _values(outputs: list[Tensor]) -> list[np.ndarray[Any, Any]]:
    return [elements_of(y) for y in outputs]


def _moved(check: Check, x: Tensor, step: Any) -> list[np.ndarray[Any, Any]]:
    """The outputs with the input's memory changed by a step, which is undone afterwards."""
    a = alias_payload(x)
    before = a.copy()
    if hasattr(a, "lifted"):  # the memory is a wrapper's
        a.write((x.detach() + wrap(np.array(step)))._payload)
        try:
            return _values(check.call())
        finally:
            a.write(before)
    a += step
    try:
        return _values(check.call())
    finally:
        a[...] = before


def central_difference(check: Check, x: Tensor, direction: Any, where: str = "") -> list[np.ndarray[Any, Any]]:
    """The central difference of each output, flattened, along a direction of one input.

    Raises AssertionError if the outputs' shapes or dtypes depend on the values of the input, with ``where`` in it.
    """
    down = _moved(check, x, -check.eps * direction)
    up = _moved(check, x, check.eps * direction)
    for a, b in zip(down, up, strict=True):
        for name, got, wanted in (("shape", a.shape, b.shape), ("dtype", a.dtype, b.dtype)):
            if got != wanted:
                got, wanted = (Size(v) if name == "shape" else from_numpy_dtype(v) for v in (got, wanted))
                raise AssertionError(
                    f"Expected `func` to return outputs with the same {name} when inputs are perturbed {where}by "
                    f"{check.eps}, but got: {name}s {got} and {wanted}."
                )
    if any(u.dtype.kind == "b" for u in up):
        raise RuntimeError(
            "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or `logical_xor()` "
            "operator instead."
        )
    return [((u - d) / (2 * check.eps)).reshape(-1) for u, d in zip(up, down, strict=True)]


def unit_directions(x: Tensor) -> Any:
    """The unit direction of each element (the real one, then the imaginary one)."""
    for k in range(x.numel()):
        e = zeros_of(x)
        for unit in (1, 1j) if x._payload.dtype.kind == "c" else (1,):
            e.reshape(-1)[k] = unit
            yield k, unit, e


def numerical_jacobians(check: Check, i: int, outputs: list[Tensor]) -> list[tuple[Any, Any]]:
    """For each output the Jacobians by input i of its real part and of its imaginary part (``None`` if it is real)."""
    x = check.inputs[i]
    kind = np.complex128 if x._payload.dtype.kind == "c" else np.float64
    parts = [
        (
            np.zeros((x.numel(), y.numel()), kind),
            np.zeros((x.numel(), y.numel()), kind) if y._payload.dtype.kind == "c" else None,
        )
        for y in outputs
    ]
    for k, unit, e in unit_directions(x):
        where = f"on index {tuple(map(int, np.unravel_index(k, x._payload.shape)))} "
        for slope, (re, im) in zip(central_difference(check, x, e, where), parts, strict=True):
            if slope.shape != re.shape[1:]:
                raise RuntimeError(
                    f"The expanded size of the tensor ({re.shape[1]}) must match the existing size ({slope.size}) at "
                    f"non-singleton dimension 0.  Target sizes: [{re.shape[1]}].  Tensor sizes: [{slope.size}]"
                )
            re[k] += unit * slope.real
            if im is not None:
                im[k] += unit * slope.imag
    return parts


def remark_on_kink(check: Check, i: int) -> str:
    """A remark for the message if the one-sided derivatives differ at this point."""
    x = check.inputs[i]
    here = _values(check.call())
    for k, _, e in unit_directions(x):
        up, down = _moved(check, x, check.eps * e), _moved(check, x, -check.eps * e)
        for u, h, d in zip(up, here, down, strict=True):
            right, left = (u - h) / check.eps, (h - d) / check.eps
            scale = max(np.abs(right).max(initial=0), np.abs(left).max(initial=0))
            if scale and np.abs(right - left).max(initial=0) > 0.01 * scale + 1e3 * check.atol:
                return (
                    f"Why: perhaps there is no derivative here: at element {k} of input {i} the slope to the right is "
                    f"{right.ravel()[:4]} and to the left {left.ravel()[:4]}. A kink is no place to compare "
                    "derivatives at."
                )
    return ""
