"""Checks of operators: of what ``torch.library`` was told of one, and of the graph that ``make_fx`` gives of a call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import wengert as torch
from wengert.utils import _pytree as pytree
from wengert.utils._aten import OpOverload

__all__: list[str] = []


class OpCheckError(Exception):
    """What ``opcheck`` raises."""


def opcheck(op: Any, args: Any, kwargs: Any, test_utils: Any, raise_exception: bool, rtol: Any, atol: Any) -> Any:
    """``torch.library.opcheck``."""
    overload = getattr(op, "_opoverload", getattr(op, "default", op))
    if not isinstance(overload, OpOverload):
        raise ValueError(
            "opcheck(op, ...): op must be instance of torch._ops.OpOverload, e.g. torch.ops.aten.sin.default, got "
            f"{type(op)}"
        )
    wanted = (test_utils,) if isinstance(test_utils, str) else test_utils
    if not set(wanted) <= set(_CHECKS):
        raise ValueError(
            f"opcheck(op, ..., test_utils={wanted}), expected test_utils to be subset of {tuple(_CHECKS)} but it was "
            "not"
        )
    found: dict[str, Any] = {}
    for name in wanted:
        given, named = pytree.tree_map_only(torch.Tensor, _cloned, (tuple(args), dict(kwargs or {})))
        try:
            _CHECKS[name](overload, given, named, {"rtol": rtol, "atol": atol})
        except Exception as error:
            if raise_exception:
                text = f"opcheck(op, ...): {name} failed with {error} (scroll up for stack trace)"
                raise OpCheckError(text) from error
            found[name] = error
        else:
            found[name] = "SUCCESS"
    return found


def _cloned(t: Any) -> Any:
    return t.detach().clone().requires_grad_(t.requires_grad)


def _check_schema(op: Any, args: Any, kwargs: Any, close: Any) -> None:
    """A call writes to what the schema says."""
    custom = getattr(op, "_op", None)
    before = pytree.tree_map_only(torch.Tensor, _cloned, (args, kwargs))
    with torch.no_grad():
        op(*args, **kwargs)
    if custom is None:
        return
    old, new = (custom._signature.bind(*a, **k).arguments for a, k in (before, (args, kwargs)))
    for name, value in new.items():
        pairs = zip(pytree.tree_leaves(old[name]), pytree.tree_leaves(value), strict=True)
        changed = any(isinstance(t, torch.Tensor) and not torch.equal(s, t) for s, t in pairs)
        if changed and name not in custom._mutates:
            raise RuntimeError(f"Argument {name} is not defined as mutable but was mutated")


def _check_registration(op: Any, args: Any, kwargs: Any, close: Any) -> None:
    """A call runs; wengert records a kernel's own operators for no operator that has a derivative of its own."""
    op(*args, **kwargs)


def _check_fake(op: Any, args: Any, kwargs: Any, close: Any) -> None:
    """A call on tensors without data gives results of the shapes and dtypes of a call."""
    real = pytree.tree_leaves(op(*args, **kwargs))
    custom = getattr(op, "_op", None)
    if custom is not None and custom._fake is None and any(isinstance(r, torch.Tensor) for r in real):
        raise RuntimeError(
            f"There was no fake impl registered for {custom}. This is necessary for torch.compile/export/fx tracing to "
            f"work. Please use `{custom._init_fn.__name__}.register_fake` to add an fake impl."
        )
    on_meta = pytree.tree_map_only(torch.Tensor, lambda t: t.to("meta"), (args, kwargs))
    for made, wanted in zip(real, pytree.tree_leaves(op(*on_meta[0], **on_meta[1])), strict=True):
        for what in ("shape", "dtype") if isinstance(made, torch.Tensor) else ():
            one, other = getattr(made, what), getattr(wanted, what)
            if one != other:
                raise RuntimeError(
                    f"When comparing the output of {op} on FakeTensor and concrete Tensors, found mismatched tensor "
                    f"metadata: {what.capitalize()}s {one} and {other} are not equal!"
                )


def _check_compiled(op: Any, args: Any, kwargs: Any, close: Any) -> None:
    """A compiled call has a call's results and gradients."""
    given, named = pytree.tree_map_only(torch.Tensor, _cloned, (args, kwargs))
    _check_fake(op, given, named, close)
    found = []
    for call in (op, torch.compile(op, backend="eager")):
        given, named = pytree.tree_map_only(torch.Tensor, _cloned, (args, kwargs))
        results = [r for r in pytree.tree_leaves(call(*given, **named)) if isinstance(r, torch.Tensor)]
        leaves = [t for t in pytree.tree_leaves((given, named)) if isinstance(t, torch.Tensor)]
        roots, learned = ([t for t in of if t.requires_grad] for of in (results, leaves))
        grads = torch.autograd.grad([r.sum() for r in roots], learned, allow_unused=True) if roots else ()
        found.append((results, leaves, [g for g in grads if g is not None]))
    torch.testing.assert_close(found[1], found[0], **close)


_CHECKS: dict[str, Callable[..., None]] = {
    "test_schema": _check_schema, "test_autograd_registration": _check_registration, "test_faketensor": _check_fake,
    "test_aot_dispatch_static": _check_compiled, "test_aot_dispatch_dynamic": _check_compiled,
}  # fmt: skip


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
