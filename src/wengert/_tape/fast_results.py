"""Tensors on arrays that were already computed, for functions too hot to go through their operator's template.

Each function does what the templates of ``_kinds.elementwise`` and ``_kinds.general`` do after the array library's
function. The caller has checked that the payloads are plain NumPy arrays, and ``result_of``'s that no mode is on
(``modes.slow_if_recording`` is empty).
"""

from __future__ import annotations

from sys import _getframe as getframe
from typing import Any

from .._base import errors as lines
from .._base.modes import slow_if_recording
from .._base.registry import Operator
from .inference import mark_if_on
from .node import Port, ticks
from .tensor import Tensor, make, wrap
from .unrecorded import MULTI_OUTPUT_VIEW, made_unrecorded, several_views, unrecorded_here


def without_history(r: Any) -> Tensor:
    """The result of an operator on plain arrays without history, or where ``unrecorded_here``; ``r`` is its array."""
    t = wrap(r)
    return mark_if_on(t) if slow_if_recording else t


def view_result(info: Operator, input: Tensor, params: tuple[Any, ...], r: Any, depth: int = 2) -> Tensor:
    """The result of the view operator ``info`` with the parameters ``params`` on ``input``; ``r`` is its array.

    ``depth``: the number of calls between the user's line and this function.
    """
    t = make()
    t._box = None
    t._payload = r
    if slow_if_recording:
        t._node = None
        creation = unrecorded_here()
        return made_unrecorded(t, input, info, params, creation) if creation else info.op(input, *params)
    t._view = (input, info, params, 0)
    fx = input._node
    if fx is None:
        t._node = None
        return t
    n = info.node()
    n.fx = fx
    n._seq = next(ticks)
    n._hooks = None
    n.params = params
    n.shape = input._payload.shape
    f = getframe(depth)
    n._code = c = f.f_code
    if c is not lines.user_code:
        f = lines.user_frame(f)
        n._code = f.f_code
    n._lasti = f.f_lasti
    t._node = n
    return t


def view_results(
    info: Operator, input: Tensor, params: tuple[Any, ...], arrays: Any, saved: list[Any], depth: int = 2
) -> tuple[Tensor, ...]:
    """The results of a view operator with several outputs; ``saved`` are the values that its formula uses."""
    if slow_if_recording:
        creation = unrecorded_here()
        if not creation:
            return info.op(input, *params)  # type: ignore[no-any-return]
        return tuple([made_unrecorded(wrap(a), input, info, params + (k,), creation) for k, a in enumerate(arrays)])
    tensors = []
    fx = input._node
    if fx is None:
        for k, a in enumerate(arrays):
            t = make()
            t._box = t._node = None
            t._payload = a
            t._view = (input, info, params + (k,), MULTI_OUTPUT_VIEW)
            tensors.append(t)
        return tuple(tensors)
    n = info.node()
    n.fx = (fx,)
    n.values = saved
    n._seq = next(ticks)
    n._hooks = None
    f = getframe(depth)
    n._code = c = f.f_code
    if c is not lines.user_code:
        f = lines.user_frame(f)
        n._code = c = f.f_code
    n._lasti = lasti = f.f_lasti
    n.outputs_meta = meta = []
    several = several_views(input._payload)
    for k, a in enumerate(arrays):
        t = make()
        t._box = None
        t._payload = a
        t._view = (input, info, params + (k,), several)
        t._node = m = Port()
        m.fx = n
        m.k = k
        m._seq = next(ticks)
        m._hooks = None
        m._code = c
        m._lasti = lasti
        meta.append((a.shape, a.dtype))
        tensors.append(t)
    return tuple(tensors)


def result_of(info: Operator, edges: tuple[Any, ...], saved: list[Any], r: Any, depth: int = 2) -> Tensor:
    """The result of the general operator ``info`` on operands with these nodes; ``r`` is its array.

    ``saved``: the values that its formulas use, in the order of their first use. At least one node is not ``None``.
    ``depth``: as in ``view_result``.
    """
    t = make()
    t._box = None
    t._payload = r
    n = info.node()
    n.fx = edges
    n.values = saved
    n._seq = next(ticks)
    n._hooks = None
    f = getframe(depth)
    n._code = c = f.f_code
    if c is not lines.user_code:
        f = lines.user_frame(f)
        n._code = f.f_code
    n._lasti = f.f_lasti
    t._node = n
    return t
