"""How a view was made, and views that are made unrecorded, in no-grad or inference mode."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

from numpy import ndarray

from .._arrays.memory import owner_of
from .._base.modes import MODE, Mark, Marks, inference_tensors, rounding, slow_hooks
from .inference import is_inference
from .node import NoHistory, tick, view_of
from .tensor import Tensor, stale_views
from .view_chain import root_of

NO_GRAD_VIEW, MULTI_OUTPUT_VIEW, CUSTOM_VIEW, INFERENCE_VIEW = 2, 1, 3, 4  # 0: ordinarily

no_grad_views = Marks()  # living views of a tensor with a history that were made under no_grad, or several at once

viewed_memory: set[int] = set()
"""The ids of arrays whose memory these views show, of which some may be gone: a write elsewhere looks for none."""


def _note_memory(a: Any) -> None:
    """Enter the memory of an array of which such views are being made."""
    if not no_grad_views:
        viewed_memory.clear()
    viewed_memory.add(id(a if type(a) is not ndarray or a.base is None else owner_of(a)))


class SeveralViews(Mark):
    """``MULTI_OUTPUT_VIEW`` of a recorded view, which writes in place look for as for a ``NoGradView``."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return other == MULTI_OUTPUT_VIEW

    __hash__ = None  # type: ignore[assignment]

    def __int__(self) -> int:
        return MULTI_OUTPUT_VIEW


def _none() -> SeveralViews | None:
    return None


_forget = no_grad_views.remove
_living: Callable[[], SeveralViews | None] = _none  # a weak reference to the one that all living views have


def several_views(a: Any) -> SeveralViews:
    """The mark of the results of an operator with several, which are views of an array."""
    global _living
    _note_memory(a)
    made = _living()
    if made is None:
        made = SeveralViews()
        _living = weakref.ref(made, _forget)
        no_grad_views.append(_living)
    return made


class NoGradView(int):
    """The mark of an unrecorded view of a tensor with a history: ``NO_GRAD_VIEW`` or ``INFERENCE_VIEW``.

    While one lives, writes in place check whether they hit one.
    """

    def __new__(cls, creation: int, a: Any) -> NoGradView:
        _note_memory(a)
        self = int.__new__(cls, creation)
        self.mark = no_grad_views.mark()
        self._seq = tick()  # like a node's: the base's history at this time
        return self


def made_unrecorded(view: Tensor, parent: Tensor, info: Any, params: Any, creation: int = NO_GRAD_VIEW) -> Tensor:
    """Make a tensor a view of ``parent`` that was made under no_grad, or in inference mode.

    If its base requires grad it does too, as a leaf without a gradient (``NoHistory``).
    """
    grand = view_of(parent)
    if parent._node is not None:
        creation = NoGradView(creation, parent._payload)
    elif grand is not None and isinstance(grand[3], NoGradView):
        creation = grand[3]
    view._view = (parent, info, params, creation)
    base = parent if grand is None else root_of(parent)
    if base._node is not None and not (inference_tensors and is_inference(view)):
        view._node = NoHistory()
    return view


def unrecorded_here() -> int:
    """The mark of a view that operators make in this thread or task if they record nothing and nothing watches them.

    0 if the operator itself has to look at the modes that are on somewhere.
    """
    if stale_views or (slow_hooks and slow_hooks != rounding):  # views of bfloat16 have no digits to round
        return 0
    state = MODE.get()
    return 0 if state is None or state.grad else INFERENCE_VIEW if state.inference else NO_GRAD_VIEW
