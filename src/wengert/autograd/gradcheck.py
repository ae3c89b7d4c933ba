"""``gradcheck`` and ``gradgradcheck``: comparison of derivatives with central differences.

The outputs of a function are treated as real (a complex output by its real and its imaginary part), its inputs as real
or complex. The gradient of a real s with respect to a complex z is ds/dx + i ds/dy, the result of a backward pass.
Jacobians are stored as PyTorch's messages print them, with a row for each element of the input.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._base import errors
from .._base.constants import strided
from .._base.errors import noted, warn
from .._base.grad_mode import enable_grad, grad_mode
from .._payloads.transforms import entered
from .._tape.graph import grad
from .._tape.tensor import Tensor, wrap
from .._tensor_api.generator import Generator
from ._differences import (
    Check,
    central_difference,
    check_inputs,
    elements_of,
    numerical_jacobians,
    remark_on_kink,
    unit_directions,
    zeros_of,
)
from .forward_ad import dual_level, make_dual, unpack_dual
from .function import Function

__all__ = ["GradcheckError", "get_analytical_jacobian", "get_numerical_jacobian", "gradcheck", "gradgradcheck"]

Tensors = Tensor | tuple[Any, ...]


class GradcheckError(RuntimeError):
    """Raised by ``gradcheck`` and ``gradgradcheck`` if a derivative disagrees with the differences."""


_FAST = (
    "\nThe above quantities relating the numerical and analytical jacobians are computed \n"
    "in fast mode. See: https://github.com/pytorch/pytorch/issues/53876 for more background \n"
    "about fast mode. Below, we recompute numerical and analytical jacobians in slow mode:\n\n"
)
_BATCHED = "gradcheck or gradgradcheck failed while testing batched gradient computation."
_BATCHED_FORWARD = "gradcheck failed while testing batched gradient computation with forward-mode AD."


# ---- backward
def _gradients(check: Check, y: Tensor, v: Any, nondet_tol: float, dtypes: bool) -> list[Any]:
    """The gradients of all inputs, as arrays or ``None``, by a backward pass that is made twice and checked."""
    xs = [check.inputs[i] for i in check.wanted]
    passes = [grad(y, xs, wrap(v.copy()), retain_graph=True, allow_unused=True) for _ in range(2)]
    found: list[Any] = []
    for x, g, again in zip(xs, *passes, strict=True):
        if g is not None:
            if dtypes and g.dtype is not x.dtype:
                raise GradcheckError("Gradient has dtype mismatch")
            if g.shape != x.shape:
                raise GradcheckError("Analytical gradient has incorrect size")
            if not np.allclose(_array(g), _array(again), rtol=0, atol=nondet_tol, equal_nan=True):
                raise _not_reentrant(nondet_tol)
        found.append(None if g is None else _array(g))
    return found


def _basis_grads(check: Check, y: Tensor, unit: Any, nondet_tol: float, dtypes: bool) -> list[Any]:
    """The Jacobians of one output with respect to all inputs, by a backward pass for each element."""
    xs = [check.inputs[i]._payload for i in check.wanted]
    jacobians = [np.zeros((x.size, y.numel()), np.complex128 if x.dtype.kind == "c" else np.float64) for x in xs]
    for k in range(y.numel()):
        v = zeros_of(y)
        v.reshape(-1)[k] = unit
        for jac, g in zip(jacobians, _gradients(check, y, v, nondet_tol, dtypes), strict=True):
            if g is not None:
                jac[:, k] = g.reshape(-1)
    return jacobians


def _not_reentrant(tolerance: float) -> GradcheckError:
    return GradcheckError(
        "Backward is not reentrant, i.e., running backward with same input and grad_output multiple times gives "
        "different values, although analytical gradient matches numerical gradient.The tolerance for nondeterminism "
        f"was {tolerance}.\n\nNOTE: If your op relies on non-deterministic operations i.e., it is listed here:\n"
        "https://pytorch.org/docs/stable/generated/torch.use_deterministic_algorithms.html\n"
        "this failure might be expected.\n"
    )


def _mismatch(check: Check, a: Any, n: Any, k: int, i: int, part: str | None, forward: bool) -> str:
    which = "inputs" if forward else "outputs"
    prefix = f"While considering the {part} part of complex {which} only, " if part else ""
    mode = "computed with forward mode " if forward else ""
    single = check.inputs[i]._payload.dtype.itemsize // (2 if check.inputs[i]._payload.dtype.kind == "c" else 1) < 8
    a, n = (wrap(np.asarray(v).astype("f4" if np.isrealobj(v) and single else v.dtype)) for v in (a, n))
    return (
        f"{prefix}Jacobian {mode}mismatch for output {k:d} with respect to input {i:d},\n"
        f"numerical:{n}\nanalytical:{a}\n"
    )


def _refuse(
    check: Check, a: Any, n: Any, k: int, i: int, part: str | None, forward: bool, more: str = ""
) -> GradcheckError:
    return noted(GradcheckError(_mismatch(check, a, n, k, i, part, forward) + more), remark_on_kink(check, i))


def _slow_backward(check: Check, outputs: list[Tensor], nondet_tol: float, dtypes: bool) -> None:
    live = check.differentiable(outputs)
    numerical = [numerical_jacobians(check, i, outputs) for i in check.wanted]
    for part in (1, 0):  # the imaginary parts of complex outputs first, as PyTorch
        for k, y in enumerate(outputs):
            if y._payload.dtype.kind not in "fc" or (part and y._payload.dtype.kind != "c"):
                continue
            if k not in live:
                found = [n[k][part] for n in numerical if n[k][part] is not None]
                if not live and any(np.abs(n).max(initial=0) > check.atol for n in found):
                    raise GradcheckError("Numerical gradient for function expected to be zero")
                continue
            name = None if y._payload.dtype.kind != "c" else ("real", "imaginary")[part]
            rows = _basis_grads(check, y, (1, 1j)[part], nondet_tol, dtypes)
            for i, a, n in zip(check.wanted, rows, numerical, strict=True):
                if not check.close(a, n[k][part]):
                    raise _refuse(check, a, n[k][part], k, i, name, False)


def _unit(t: Tensor, generator: Generator) -> Any:
    """A random direction of length 1 for a tensor. For real ones it is PyTorch's, whose digits errors show."""
    return _unit_like(zeros_of(t), generator)


def _unit_like(like: Any, generator: Generator) -> Any:
    def draw() -> Any:
        from .._ops.random.random import rand

        return rand(like.size, generator=generator)._payload.astype(np.float64)

    u = draw() + 1j * draw() if like.dtype.kind == "c" else draw()
    size = np.sqrt((np.abs(u) ** 2).sum())
    return (u / size if size else u).reshape(like.shape).astype(like.dtype)


def _real_unit(t: Tensor, generator: Generator) -> Any:
    """A random real direction of a tensor that may be complex."""
    return _unit_like(zeros_of(t).real, generator)


def _units(t: Tensor) -> tuple[Any, ...]:
    """The direction of the real axis, and that of the imaginary axis if the elements are complex."""
    return (1, 1j) if t._payload.dtype.kind == "c" else (1,)


def _fast_backward(check: Check, outputs: list[Tensor], nondet_tol: float, dtypes: bool) -> None:
    """Compare along one random direction of each input and each output, instead of whole Jacobians."""
    live = check.differentiable(outputs)
    xs = [check.inputs[i] for i in check.wanted]
    for part in (1, 0) if any(y._payload.dtype.kind == "c" for y in outputs) else (0,):  # as PyTorch, as are the draws
        generator = Generator()
        us = [[_real_unit(x, generator) for _ in _units(x)] for x in xs]
        slopes = [
            [central_difference(check, x, unit * u) for unit, u in zip(_units(x), pair, strict=True)]
            for x, pair in zip(xs, us, strict=True)
        ]
        if not live and any(np.abs(s).max(initial=0) > check.atol for pair in slopes for found in pair for s in found):
            raise GradcheckError("Numerical gradient for function expected to be zero")
        for k in live:
            y = outputs[k]
            is_complex = y._payload.dtype.kind == "c"
            v = _real_unit(y, generator)
            unit = 1j if part and is_complex else 1
            grads = _gradients(check, y, (unit * v).astype(zeros_of(y).dtype), nondet_tol, dtypes)
            for i, x, pair, ss, g in zip(check.wanted, xs, us, slopes, grads, strict=True):
                n, a = np.float64(0), np.float64(0)
                for axis, u, s in zip(_units(x), pair, ss, strict=True):
                    n = n + axis * np.sum(v.reshape(-1) * (s[k].imag if unit == 1j else s[k].real))
                    a = a + axis * (0 if g is None else np.sum(u * (g.real if axis == 1 else g.imag)))
                if not check.close(a, n, sum(u.sum() for u in pair) * v.sum()):
                    name = ("real", "imaginary")[part] if is_complex else None
                    raise _refuse(check, a, n, k, i, name, False, _slow_text(check, outputs, k, i, unit, nondet_tol))


def _slow_text(check: Check, outputs: list[Tensor], k: int, i: int, unit: Any, nondet_tol: float) -> str:
    n = numerical_jacobians(check, i, outputs)[k][unit == 1j]
    a = _basis_grads(check, outputs[k], unit, nondet_tol, False)[check.wanted.index(i)]
    worst = np.abs(n - a).max(initial=0)
    return (
        f"{_FAST}Numerical:\n {wrap(n)}\nAnalytical:\n{wrap(a)}\n\n"
        f"The max per-element difference (slow mode) is: {worst}.\n"
    )


# ---- forward
def _detached(check: Check) -> list[Any]:
    """The inputs without their history: forward mode is checked without reverse mode."""
    return [x.detach() if isinstance(x, Tensor) and x.requires_grad else x for x in check.inputs]


def _zeros(check: Check) -> dict[int, Any]:
    """Tangents of zeros for all differentiable inputs."""
    return {j: zeros_of(check.inputs[j]) for j in check.wanted}


def _pushed(check: Check, directions: dict[int, Any]) -> list[Any]:
    """The outputs' flattened tangents for tangents of some inputs; ``None`` for an output without tangent."""
    with dual_level():
        args = _detached(check)
        for i, direction in directions.items():
            args[i] = make_dual(args[i], wrap(np.array(direction)))
        out = []
        for y in check.call(*args):
            t = unpack_dual(y).tangent
            if t is not None and t.dtype is not y.dtype:
                raise GradcheckError("Forward AD gradient has dtype mismatch.")
            out.append(None if t is None else elements_of(t).reshape(-1))
    return out


def _forward(check: Check, outputs: list[Tensor], fast: bool) -> None:
    generator = Generator()
    for i in check.wanted:
        x = check.inputs[i]
        scale = 1.0
        if fast:
            u = _real_unit(x, generator)
            scale = u.sum()
            steps = [(0, unit, (unit * u).astype(zeros_of(x).dtype)) for unit in _units(x)]
        else:
            steps = [(k, u, e.copy()) for k, u, e in unit_directions(x)]
        columns: dict[Any, list[list[Any]]] = {}
        for _, unit, e in steps:
            pair = (_pushed(check, _zeros(check) | {i: e}), central_difference(check, x, e))
            columns.setdefault(unit, []).append(list(pair))
        for unit, pairs in reversed(columns.items()):  # the imaginary part first, as PyTorch
            part = None if x._payload.dtype.kind != "c" else "real" if unit == 1 else "imaginary"
            for k, y in enumerate(outputs):
                if y._payload.dtype.kind not in "fc":
                    continue
                n = np.array([slopes[k] for _, slopes in pairs])
                a = np.array([np.zeros(y.numel(), n.dtype) if ts[k] is None else ts[k] for ts, _ in pairs])
                if not check.close(a, n, scale):
                    raise _refuse(check, a, n, k, i, part, True)


def _undefined_forward(check: Check, outputs: list[Tensor]) -> None:
    """Check that a tangent of zeros and no tangent give the same result."""
    generator = Generator()
    for i in check.wanted:
        x = check.inputs[i]
        u = _unit(x, generator)
        without = _pushed(check, {i: u})
        if len(check.wanted) == 1:
            continue  # there is no other input whose tangent could be missing
        zeroed = _pushed(check, _zeros(check) | {i: u})
        for k, (a, b) in enumerate(zip(without, zeroed, strict=True)):
            a = np.zeros(outputs[k].numel()) if a is None else a
            b = np.zeros(outputs[k].numel()) if b is None else b
            if not np.allclose(a, b, rtol=check.rtol, atol=check.atol):
                raise GradcheckError(
                    f"Mismatch in tangent values for output with index: {k} when an input has an undefined tangent "
                    f"value. Got: {a} but expected: {b}"
                )


# ---- further checks
def _batched(check: Check, y: Tensor, k: int) -> None:
    xs = [check.inputs[i] for i in check.wanted]
    generator = Generator()
    vs = [_unit(y, generator) for _ in range(2)]
    singly = [grad(y, xs, wrap(v), retain_graph=True, allow_unused=True) for v in vs]
    try:
        at_once = grad(y, xs, wrap(np.stack(vs)), retain_graph=True, allow_unused=True, is_grads_batched=True)
    except (RuntimeError, IndexError) as error:
        raise GradcheckError(f"While computing batched gradients, got: {error}\n\n{_BATCHED}") from error
    for i, r, ones in zip(check.wanted, at_once, zip(*singly, strict=True), strict=True):
        if r is not None:
            _compare_batched(k, i, r, ones, _BATCHED)


def _compare_batched(k: int, i: int, found: Tensor, singly: tuple[Tensor, ...], failed: str) -> None:
    expected = np.stack([_array(t) for t in singly])
    if not np.allclose(_array(found), expected):
        raise GradcheckError(
            f"\nFor output {k} and input {i}:\n\n{failed}\n\nGot:\n{found}\n\nExpected:\n{wrap(expected)}\n"
        )


def _batched_forward(check: Check) -> None:
    from ..func._autodiff import dual, unpacked
    from ..func._vmap import _vmap
    from ._function_forward import OF_AUTOGRAD

    generator = Generator()
    for i in check.wanted:
        x = check.inputs[i].detach()
        vs = [_unit(x, generator) for _ in range(2)]

        def push(v: Tensor, i: int = i, x: Tensor = x) -> Any:
            def partial(z: Tensor) -> Any:
                args = _detached(check)
                args[i] = z
                return tuple(y for y in check.call(*args) if y._payload.dtype.kind in "fc")

            with entered() as tag:
                OF_AUTOGRAD.add(tag)
                try:
                    return tuple(unpacked(y, tag, False)[1] for y in partial(dual(x, v, tag)))
                finally:
                    OF_AUTOGRAD.discard(tag)

        singly = [push(wrap(v)) for v in vs]
        try:
            at_once = _vmap(push)(wrap(np.stack(vs)))
        except RuntimeError as error:
            raise GradcheckError(f"While computing batched gradients, got: {error}\n\n{_BATCHED_FORWARD}") from error
        for k, (r, ones) in enumerate(zip(at_once, zip(*singly, strict=True), strict=True)):
            _compare_batched(k, i, r, ones, _BATCHED_FORWARD)


def _array(g: Tensor) -> Any:
    """The elements of a gradient of any layout."""
    return elements_of(g.to_dense())


def _zero_in_zero_out(check: Check, outputs: list[Tensor]) -> None:
    xs = [check.inputs[i] for i in check.wanted]
    if check.given is not None:  # the gradients of the sparse tensors themselves, not of their values
        func, given = check.given
        made = func(*given)
        made = made if isinstance(made, (tuple, list)) else (made,)
        outputs = [y for y in made if isinstance(y, Tensor) and y.requires_grad]
        xs = [x for x in given if isinstance(x, Tensor) and x.requires_grad]
    zeros = [wrap(zeros_of(y)) for y in outputs]
    for g, x in zip(grad(outputs, xs, zeros, allow_unused=True, retain_graph=True), xs, strict=True):
        if g is None:
            continue
        if g.layout is not x.layout and g.layout is not strided:
            raise GradcheckError(f"grad is incorrect layout ({g.layout} is not {x.layout})")
        for kind in ("sparse_dim", "dense_dim") if g.layout is not strided else ():
            got, wanted = getattr(g, kind)(), getattr(x, kind)()
            if got != wanted:
                raise GradcheckError(f"grad is sparse tensor, but has incorrect {kind} {got}, expected {wanted}")
        if _array(g).any():
            raise GradcheckError("backward not multiplied by grad_output")
        if g.dtype is not x.dtype:
            raise GradcheckError("grad is incorrect type")
        if g.shape != x.shape:
            raise GradcheckError("grad is incorrect size")


class UndefinedGrad(Function):
    """The identity, with no gradient in backward."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        """The value as it is."""
        return x.view_as(x)

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        """Nothing."""
        return None


_UNDEFINED = (
    "Backwards compatibility: New undefined gradient support checking feature is enabled by default, but it may break "
    "existing callers of this function. If this is true for you, you can call this function with "
    '"check_undefined_grad=False" to disable the feature'
)


def _undefined_backward(check: Check) -> None:
    """Check that backward returns zeros or None for outputs without cotangent."""
    xs = [check.inputs[i] for i in check.wanted]
    count = len(check.differentiable(check.call()))
    for skipped in [None, *range(count if count > 1 else 0)]:
        outputs = check.call()
        live = [outputs[k] for k in check.differentiable(outputs)]
        cut = [UndefinedGrad.apply(y) if skipped in (None, k) else y for k, y in enumerate(live)]
        zeros = [wrap(zeros_of(y)) for y in cut]
        try:
            found = grad(cut, xs, zeros, allow_unused=True)
        except RuntimeError as error:
            errors.warn(_UNDEFINED)
            raise GradcheckError(
                'Expected backward function to handle undefined output grads. Please look at "Notes about undefined '
                'output gradients" in "tools/autograd/derivatives.yaml"'
            ) from error
        for g in found:
            if g is not None and _array(g).any():
                errors.warn(_UNDEFINED)
                raise GradcheckError(
                    "Expected all input grads to be undefined or zero when all output grads are undefined or zero. "
                    "Please look at "
                    '"Notes about undefined output gradients" in "tools/autograd/derivatives.yaml"'
                )


# ---- the checks
def gradcheck(
    func: Callable[..., Any],
    inputs: Tensors,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_batched_forward_grad: bool = False,
    check_forward_ad: bool = False,
    check_backward_ad: bool = True,
    fast_mode: bool = False,
    masked: bool | None = None,
) -> bool:
    """Whether the gradients of ``func`` at ``inputs`` agree with central differences.

    Inputs that require grad should have double precision. ``fast_mode`` compares along one random direction instead
    of whole Jacobians. If the gradients differ, a GradcheckError shows where, and whether the function seems to have a
    kink there; with ``raise_exception=False`` the result is False.

    >>> import wengert as torch
    >>> x = torch.tensor([0.5, 1.5], dtype=torch.float64, requires_grad=True)
    >>> torch.autograd.gradcheck(lambda x: x.sin() * x, x)
    True
    """
    assert check_forward_ad or check_backward_ad, (
        "Expected at least one of check_forward_ad or check_backward_ad to be True"
    )
    assert check_backward_ad or not check_batched_grad, (
        "Setting check_batched_grad=True requires check_backward_ad to be True"
    )
    assert check_forward_ad or not check_batched_forward_grad, (
        "Setting check_batched_forward_grad=True requires check_forward_ad to be True"
    )
    check = Check(func, inputs, eps, atol, rtol, bool(masked))
    check_inputs(check.inputs)
    try:
        with enable_grad():
            outputs = check.call()
            if check_backward_ad:
                (_fast_backward if fast_mode else _slow_backward)(check, outputs, nondet_tol, check_grad_dtypes)
            if check_forward_ad:
                _forward(check, outputs, fast_mode)
                if check_undefined_grad:
                    _undefined_forward(check, outputs)
            if check_batched_forward_grad:
                _batched_forward(check)
            live = [outputs[k] for k in check.differentiable(outputs)]
            if check_backward_ad and live:
                for k, y in enumerate(live if check_batched_grad else ()):
                    _batched(check, y, k)
                _zero_in_zero_out(check, live)
                if check_undefined_grad:
                    _undefined_backward(check)
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def gradgradcheck(
    func: Callable[..., Any],
    inputs: Tensors,
    grad_outputs: Any = None,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    gen_non_contig_grad_outputs: bool = False,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_fwd_over_rev: bool = False,
    check_rev_over_rev: bool = True,
    fast_mode: bool = False,
    masked: bool = False,
) -> bool:
    """Whether the second derivatives of ``func`` agree with central differences of the first.

    >>> import wengert as torch
    >>> x = torch.tensor([0.5, 1.5], dtype=torch.float64, requires_grad=True)
    >>> torch.autograd.gradgradcheck(lambda x: x.sin() * x, x)
    True
    """
    assert check_fwd_over_rev or check_rev_over_rev, (
        "Expected at least one of check_fwd_over_rev or check_rev_over_rev to be True"
    )
    assert check_rev_over_rev or not check_undefined_grad, (
        "Setting check_undefined_grad=True requires check_rev_over_rev to be True"
    )
    assert check_rev_over_rev or not check_batched_grad, (
        "Setting check_batched_grad=True requires check_rev_over_rev to be True"
    )
    check = Check(func, inputs, eps, atol, rtol, masked)
    with enable_grad():
        outputs = check.call()
    live = check.differentiable(outputs)
    if not live:  # nothing to differentiate again
        return True
    given = _cotangents([outputs[k] for k in live], grad_outputs, gen_non_contig_grad_outputs)
    count = len(given)
    wanted = check.wanted
    wanted_grads = [g.requires_grad for g in given]

    def gradients(*args: Any) -> tuple[Tensor, ...]:
        xs = [x if i not in wanted or x.requires_grad else x.requires_grad_() for i, x in enumerate(args[:-count])]
        vs = [
            v if not w or v.requires_grad else v.requires_grad_()
            for v, w in zip(args[-count:], wanted_grads, strict=True)
        ]
        with grad_mode(True):
            ys = check.call(*xs)
            found = grad([ys[k] for k in live], [xs[i] for i in wanted], vs, create_graph=True, allow_unused=True)
        return tuple(g for g in found if g is not None)

    return gradcheck(
        gradients, (*check.inputs, *given), eps=eps, atol=atol, rtol=rtol, raise_exception=raise_exception,
        nondet_tol=nondet_tol, check_undefined_grad=check_undefined_grad, check_grad_dtypes=check_grad_dtypes,
        check_batched_grad=check_batched_grad, fast_mode=fast_mode, check_forward_ad=check_fwd_over_rev,
        check_backward_ad=check_rev_over_rev, masked=masked,
    )  # fmt: skip


def _cotangents(outputs: list[Tensor], given: Any, apart: bool) -> tuple[Tensor, ...]:
    if given is not None:
        return tuple(given) if isinstance(given, (tuple, list)) else (given,)
    from ..testing import make_tensor

    return tuple(
        make_tensor(y.shape, dtype=y.dtype, device="cpu", low=-1, high=1, requires_grad=True, noncontiguous=apart)
        for y in outputs
    )


def _deprecated(name: str, grad_out: float) -> None:
    warn(
        f"`{name}` was part of PyTorch's private API and not meant to be exposed. We are deprecating it and it will be "
        "removed in a future version of PyTorch. If you have a specific use for this or feature request for this to be "
        "a stable API, please file us an issue at https://github.com/pytorch/pytorch/issues/new",
        FutureWarning,
    )
    if grad_out != 1.0:
        raise ValueError(f"Expected grad_out to be 1.0. {name} no longer supports values of grad_out != 1.0.")


def get_numerical_jacobian(
    fn: Callable[..., Any], inputs: Any, target: Any = None, eps: float = 1e-3, grad_out: float = 1.0
) -> Any:
    """Deprecated; for old tests. The Jacobians of ``fn(inputs)``'s first output by differences."""
    _deprecated("get_numerical_jacobian", grad_out)
    check = Check(lambda *xs: fn(inputs), inputs, eps, 0, 0)
    outputs = check.call()
    return tuple(wrap(numerical_jacobians(check, i, outputs)[0][0]) for i in check.wanted)


def get_numerical_jacobian_wrt_specific_input(
    fn: Callable[..., Any],
    input_idx: int,
    inputs: Any,
    outputs: Any,
    eps: float,
    input: Any = None,
    is_forward_ad: bool = False,
) -> tuple[Tensor, ...]:
    """The Jacobians of all outputs of ``fn`` with respect to one input, by differences, each ``(inputs, outputs)``."""
    check = Check(fn, inputs, eps, 0, 0)
    return tuple(wrap(real) for real, _ in numerical_jacobians(check, input_idx, check.call()))


_ANY = np.finfo(np.float64).max  # no two passes differ by more


def get_analytical_jacobian(inputs: Any, output: Tensor, nondet_tol: float = 0.0, grad_out: float = 1.0) -> Any:
    """Deprecated; for old tests. Returns ``(jacobians, reentrant, sizes_ok, types_ok)`` of one output."""
    _deprecated("get_analytical_jacobian", grad_out)
    check = Check(lambda *xs: output, inputs, 0, 0, 0)
    jacobians = _basis_grads(check, output, 1, _ANY, False)
    again = _basis_grads(check, output, 1, _ANY, False)
    reentrant = all(np.abs(a - b).max(initial=0) <= nondet_tol for a, b in zip(jacobians, again, strict=True))
    return tuple(wrap(j) for j in jacobians), reentrant, True, True
