"""Checks of operators: that ``make_fx`` gives a graph which computes what the call does, and those of ``opcheck``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import wengert as torch
from wengert.utils import _custom_ops
from wengert.utils import _pytree as pytree
from wengert.utils._aten import OpOverload
from wengert.utils._schemas import written_by

__all__: list[str] = []


def make_fx_check(
    func: Callable[..., Any],
    args: Any,
    kwargs: Any,
    tracing_mode: str,
    assert_close: Callable[..., Any] = torch.testing.assert_close,
    randomize_data: bool = False,
) -> None:
    """Fail unless a call and its graph give the same, on the arguments or on random ones.

    Random arguments of which ``func`` refuses one are not compared.

    >>> from wengert.testing._internal.optests import make_fx_check
    >>> make_fx_check(torch.sin, (torch.ones(2),), {}, "real")
    """
    from wengert.fx.experimental.proxy_tensor import make_fx

    def seeded(function: Callable[..., Any], *given: Any) -> Any:
        torch.manual_seed(42)
        return function(*given)

    def f(args: Any, kwargs: Any) -> Any:
        return func(*args, **kwargs)

    args = list(args)  # a graph of a tuple and a dictionary takes them as positional and keyword arguments
    traced = make_fx(f, tracing_mode=tracing_mode)(args, kwargs)
    if randomize_data:
        args, kwargs = pytree.tree_map_only(torch.Tensor, _drawn, (args, kwargs))
    try:
        expected = seeded(f, args, kwargs)
    except Exception:
        if randomize_data:
            return
        raise
    message = "op(*args, **kwargs) and make_fx(op)(*args, **kwargs) produced different values."
    assert_close(seeded(traced, args, kwargs), expected, msg=message)


def _drawn(x: Any) -> Any:
    return x.detach().clone().uniform_(0, 1).requires_grad_(x.requires_grad) if x.dtype.is_floating_point else x


# ---- opcheck
class OpCheckError(Exception):
    """What ``torch.library.opcheck`` found."""


def opcheck(
    op: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any] | None = None,
    *,
    test_utils: Any = (),
    raise_exception: bool = True,
    rtol: float | None = None,
    atol: float | None = None,
) -> dict[str, Any]:
    """See ``torch.library.opcheck``."""
    if (rtol is None) != (atol is None):
        raise ValueError("opcheck(op, ...): if you specify one of rtol/atol, you must specify both")
    op = getattr(op, "_opoverload", None) or getattr(op, "default", op)
    if not isinstance(op, OpOverload):
        raise ValueError(
            "opcheck(op, ...): op must be instance of torch._ops.OpOverload, e.g. torch.ops.aten.sin.default, got "
            f"{type(op)}"
        )
    names = (test_utils,) if isinstance(test_utils, str) else tuple(test_utils)
    if not {*names} <= _CHECKS.keys():
        raise ValueError(
            f"opcheck(op, ..., test_utils={names}), expected test_utils to be subset of {tuple(_CHECKS)} but it was not"
        )
    found: dict[str, Any] = {}
    for name in names:
        try:
            _CHECKS[name](op, args, kwargs or {}, {} if rtol is None else {"rtol": rtol, "atol": atol})
            found[name] = "SUCCESS"
        except Exception as error:
            if raise_exception:
                text = f"opcheck(op, ...): {name} failed with {error} (scroll up for stack trace)"
                raise OpCheckError(text) from error
            found[name] = error
    return found


def _copied(given: Any) -> Any:
    """Arguments on memory of their own; leaves stay leaves."""
    return pytree.tree_map_only(torch.Tensor, lambda t: t.detach().clone().requires_grad_(t.requires_grad), given)


def _schema_check(op: Any, args: Any, kwargs: Any, close: Any) -> None:
    """The operator writes to what its schema says is written, and returns no other argument's memory."""
    given, named = _copied((args, kwargs))
    result = op(*given, **named)
    custom = getattr(op, "_op", None)
    if custom is None:
        return
    written = written_by(custom._schema)
    for name, value in custom._signature.bind(*given, **named).arguments.items():
        before = custom._signature.bind(*args, **kwargs).arguments[name]
        for t, old in zip(pytree.tree_leaves(value), pytree.tree_leaves(before), strict=True):
            if not isinstance(t, torch.Tensor):
                continue
            if name not in written and not torch.allclose(t, old, 0, 0, equal_nan=True):
                raise RuntimeError(f"Argument {name} is not defined as mutable but was mutated")
            if name not in written and any(torch._C._is_alias_of(t, r) for r in pytree.tree_leaves(result)):
                raise RuntimeError(f"Argument {name} is not defined to alias output but was aliasing")


def autograd_registration_check(op: Any, args: Any, kwargs: Any) -> None:
    """Refuse an operator whose kernel records a history although no derivative of it was registered."""
    given = [t for t in pytree.tree_leaves((args, kwargs)) if isinstance(t, torch.Tensor)]
    if not any(t.requires_grad for t in given):
        raise RuntimeError(
            "autograd_registration_check: no inputs have requires_grad=True so we are unable to actually perform this "
            "test. Please pass inputs that do require grad."
        )
    custom = getattr(op, "_op", None)
    if custom is None or custom.has_derivative:
        return
    before = _custom_ops.fallback_mode
    try:
        _custom_ops.fallback_mode = "nothing"
        results = pytree.tree_leaves(op(*args, **kwargs))
    finally:
        _custom_ops.fallback_mode = before
    if any(isinstance(r, torch.Tensor) and r.requires_grad and not any(r is t for t in given) for r in results):
        raise AssertionError(
            f"{op.name()}: at least one output of this operator has requires_grad=True but the operator does not have "
            "an autograd kernel defined at an autograd key (e.g. DispatchKey::Autograd). This could mean that you have "
            "incorrectly registered an autograd kernel to a non-Autograd DispatchKey, which may lead to silently "
            "incorrect results. If your operator consists of regular PyTorch operations, consider not using an "
            "operator at all or registering your operator as CompositeImplicitAutograd. If you have an "
            "autograd.Function registered to a backend (CPU/CUDA/XPU) key, the correct location for it is the Autograd "
            "key."
        )


def _registration_check(op: Any, args: Any, kwargs: Any, close: Any) -> None:
    if any(isinstance(t, torch.Tensor) and t.requires_grad for t in pytree.tree_leaves((args, kwargs))):
        autograd_registration_check(op, *_copied((args, kwargs)))


def _fake_check(op: Any, args: Any, kwargs: Any, close: Any) -> None:
    """The results on tensors without data have the shapes, dtypes and strides of the others."""
    fakes = pytree.tree_map_only(torch.Tensor, lambda t: t.detach().to("meta"), (args, kwargs))
    given, named = _copied((args, kwargs))
    real = pytree.tree_leaves(op(*given, **named))
    fake = pytree.tree_leaves(op(*fakes[0], **fakes[1]))
    for r, f in zip(real, fake, strict=True):
        if not isinstance(r, torch.Tensor):
            continue
        told = f"When comparing the output of {op} on FakeTensor and concrete Tensors, found mismatched tensor metadata"
        for what, a, b in (
            ("Dtypes", r.dtype, f.dtype),
            ("Shapes", r.shape, f.shape),
            ("Strides", r.stride(), f.stride()),
        ):
            if a != b:
                raise RuntimeError(f"{told}: {what} {a} and {b} are not equal!")


def _compiled_check(op: Any, args: Any, kwargs: Any, close: Any) -> None:
    """The results and the gradients are the same in compiled functions."""

    def called(function: Any) -> tuple[list[Any], list[Any]]:
        given, named = _copied((args, kwargs))
        leaves = [t for t in pytree.tree_leaves((given, named)) if isinstance(t, torch.Tensor) and t.requires_grad]
        results = function(*given, **named)
        outs = [r for r in pytree.tree_leaves(results) if isinstance(r, torch.Tensor)]
        recorded = [r for r in outs if r.requires_grad]
        if not recorded or not leaves:
            return outs, []
        return outs, list(
            torch.autograd.grad(recorded, leaves, [torch.ones_like(r) for r in recorded], allow_unused=True)
        )

    def function(*args: Any, **kwargs: Any) -> Any:
        args, kwargs = pytree.tree_map_only(torch.Tensor, torch.clone, (args, kwargs))
        return op(*args, **kwargs)

    for expected, found in zip(called(function), called(torch.compile(function, backend="aot_eager")), strict=True):
        for a, b in zip(expected, found, strict=True):
            if a is not None or b is not None:
                torch.testing.assert_close(b, a, **close)


_CHECKS: dict[str, Callable[..., None]] = {
    "test_schema": _schema_check, "test_autograd_registration": _registration_check, "test_faketensor": _fake_check,
    "test_aot_dispatch_static": _compiled_check, "test_aot_dispatch_dynamic": _compiled_check,
}  # fmt: skip
