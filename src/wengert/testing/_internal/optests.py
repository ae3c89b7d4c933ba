"""A check of operators: the graph that ``make_fx`` gives of a call computes what the call does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import wengert as torch
from wengert.utils import _pytree as pytree

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
