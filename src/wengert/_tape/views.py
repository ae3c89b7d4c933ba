"""Views, versions, and the effect of a write in place on the history of a tensor.

NOTE [ Views and writes in place ]
    *Views.* A view tensor holds a NumPy view. Its ``_view`` is (parent, operator, parameters, how it was made): it
    stores its parent and the operator that makes it again, never strides. The parent does not know its views, so
    making a view costs nothing extra. The last parent is the *base*; the operators from the base to the view are the
    view's *chain* (``_tape.view_chain``).

    *Versions.* All tensors on one storage share one ``Version`` (``_tape.node``), made on first use. It counts each
    write and stores the write's number, drawn from the counter that numbers nodes; a saved value is stale if its
    storage was written after the node was made. A recorded write has the number of the node whose result is written,
    so this node may continue to use its result.

    *A write to a tensor that is not a view.* The operator runs on the old value, its result is copied into the
    tensor's memory, and the tensor takes the result's node. If the operator saved the old value, the value is copied
    first; if it saved the result, the saved box takes the tensor's memory.

    *A write to a view: rebasing.* ``v = base[0]; v.mul_(2)`` changes ``base`` too. The base's new node is
    ``CopySlices``, which points to the old node and to the other operands of what was written, whose node's step it
    runs; the view's new node is ``AsStridedBackward0``, which points to ``CopySlices``. A write to a leaf, or to a view
    of a leaf, raises before anything is written, and so does a write to a view whose history cannot be rewritten: made
    under ``no_grad``, by an operator with several outputs, or in a custom function.

    *Other views: staleness.* Other views have changed with the memory, but the base has no list of them. If the
    reference count of the memory shows that there may be some, the memory is added to ``stale_views`` and a reason to
    ``slow_if_recording``, until the memory is freed or has no other view (``prune``). Meanwhile each operand that is a
    view of such memory is checked: if its node is older than the base's last rewrite (``Version.rebased``), it gets a
    new node from its chain and the base's present history (``refresh``). Do not refresh a younger view: its node may
    have hooks.

    *Payloads that cannot be written to*, such as a transform's value, are replaced (``_tape.replaced``).
    Their views share no memory with them; they are known (``note_view``) and made again at once.
"""

from __future__ import annotations

import gc
import sys
import weakref
from functools import partial
from typing import Any

import numpy as np

from .._arrays.memory import owner_of, repeats, storage_of, unlocked
from .._arrays.overlap import refuse_met, refuse_repeated
from .._base import errors as lines
from .._base.dtypes import BY_NUMPY, can_cast
from .._base.errors import here, noted
from .._base.modes import MODE, in_transform, inference_tensors, reason, slow_hooks, transforms, unhooked
from .inference import is_inference, refuse_write
from .node import (
    LEAVES,
    AccumulateGrad,
    Box,
    Node,
    Port,
    Version,
    hooks_of,
    in_place_nodes,
    named,
    tick,
    version_of,
    view_of,
)
from .promotion import cast
from .saved import SEVERAL_VIEWS, WRITTEN_ELSEWHERE, StaleVersion, root_cell, short_name, view_of_written
from .tensor import Tensor, alias_payload, in_memory, stale_views, wrap
from .unrecorded import (
    CUSTOM_VIEW,
    INFERENCE_VIEW,
    MULTI_OUTPUT_VIEW,
    NO_GRAD_VIEW,
    NoGradView,
    no_grad_views,
    viewed_memory,
)
from .view_chain import AsStridedBackward0, CopySlices, base_of, chain_of, memory_of, root_of


# ---- refusals
def unrecorded(self: Tensor, fy: Any) -> bool:
    """Whether neither the tape nor a hook that watches operators needs to see a write into self."""
    if no_grad_views:
        refuse_no_grad_view(self)
    if stale_views or (slow_hooks and not unhooked(self)):
        return False
    if self._node is None and fy is None:
        return True
    state = MODE.get()
    return state is not None and not state.grad


def check_inplace(self: Tensor, requires_grad: bool) -> None:
    """Raise for a write that the tape cannot record, before anything is written.

    ``requires_grad``: whether the written or the overwritten value needs a gradient.
    """
    state = MODE.get()
    if state is not None and not state.grad:
        return
    base = None
    creation = 0
    view = getattr(self, "_view", None)
    while view is not None:
        base = view[0]
        creation = creation or view[3]
        view = getattr(base, "_view", None)
    if creation and (requires_grad or base._node is not None):
        raise _creation_error(self, creation, "is being")
    if base is not None and (type(base._node) is AccumulateGrad or (base._node is None and self._node is not None)):
        raise noted(
            RuntimeError("a view of a leaf Variable that requires grad is being used in an in-place operation."),
            "Why: writing to the view writes to the leaf, whose .grad is the gradient for the value it had.",
            "What to do: write under torch.no_grad(), or clone() the leaf first.",
            code="W005",
        )
    if type(self._node) is AccumulateGrad:
        raise noted(
            RuntimeError("a leaf Variable that requires grad is being used in an in-place operation."),
            "Why: the tensor is a leaf: its .grad is the gradient for the value it had when it was used.",
            "What to do: write under torch.no_grad() (an optimizer's step), or compute on a copy (y = x + 1).",
            code="W005",
        )
    fn = self._node
    if base is not None and base._node is not None and fn is not None and (fn._hooks is not None or fn.by_user):
        # neither the hooks of a view's old value nor a pure view's backward see the write: in another dtype it is two
        # nodes, of which ``CopySlices`` runs one
        _set_node(self, _view_node(*chain_of(self)))


def refuse_no_grad_view(self: Tensor) -> None:
    """Raise for a recorded write to an unrecorded view: the write would be missing from its base's history.

    After an unrecorded write to a tensor with a history, or to a view of one, the views are stale: as in PyTorch, those
    that the base had before it required grad get a history, and unrecorded ones or one of several may not be used.
    """
    if self._node is None and view_of(self) is not None:
        check_inplace(self, False)
    state = MODE.get()
    if state is None or state.grad:
        return
    base = root_of(self)
    if base._node is None or type(base._payload) is not np.ndarray:
        return
    owner = owner_of(base._payload)
    if id(base) in _begun:
        if _unasked:
            _ask_for_views()
        stale = id(base) in _begun
    else:
        box = base._box
        stale = id(owner) in viewed_memory and sys.getrefcount(owner) - (box is not None and box.a is owner) > ALONE
    if stale:
        version_of(base).rebased = tick()
        _note_stale(base, owner)


_begun: dict[int, Any] = {}
_unasked: list[bool] = []
_searches = [16]  # how many times the heap may still be searched, which takes milliseconds


def _ask_for_views() -> None:
    """Forget the leaves of ``begin_history`` whose memory only NumPy's arrays share, once for all of them.

    A program that makes such leaves all the time is not searched for ever: those that are left count as viewed.
    """
    _unasked.clear()
    if not _searches[0]:
        return
    _searches[0] -= 1
    bases = [base for ref, _ in _begun.values() if (base := ref()) is not None]
    viewed = {id(view[0]) for view in gc.get_referrers(*bases) if type(view) is tuple}
    for base in bases:
        if id(base) not in viewed:
            _begun.pop(id(base))


def begin_history(base: Tensor) -> None:
    """Have writes check views that a tensor had before it required grad, as long as it lives: they are refused."""
    if not isinstance(base._payload, np.ndarray):
        return
    owner = owner_of(base._payload)
    references = sys.getrefcount(owner)
    box = base._box
    if owner is base._payload and references - (box is not None and box.a is owner) > ALONE:
        key = id(base)
        _begun[key] = weakref.ref(base, lambda _: _begun.pop(key, None)), no_grad_views.mark()
        _unasked[:] = (True,)


def refuse_written(self: Tensor) -> None:
    """Raise for ``grad_fn`` of a view made under no_grad whose memory was written later: it has none."""
    view = view_of(self)
    if view is not None and isinstance(view[3], NoGradView) and version_of(self)._seq > view[3]._seq:
        raise _creation_error(self, view[3], WRITTEN_ELSEWHERE)


def _creation_error(self: Tensor, creation: int, what: str) -> RuntimeError:
    """PyTorch's error for a view whose history cannot be rewritten; ``what`` says which tensor was written."""
    fn = None if type(self._node) in LEAVES else self._node
    name = "" if fn is None else short_name((fn.fx if type(fn) is Port else fn).name())
    if creation in (INFERENCE_VIEW, NO_GRAD_VIEW) or fn is None:
        inference = creation == INFERENCE_VIEW
        mode, now = ("inference", "in normal mode") if inference else ("no_grad", "with grad mode enabled")
        who = "A view was" if fn is None else f"Output {self.output_nr} of {name} is a view of a view which was"
        message = f"{who} created in {mode} mode and {what} modified inplace {now}."
    else:
        message = view_of_written(self.output_nr, name, what)
    if creation == MULTI_OUTPUT_VIEW:
        message += SEVERAL_VIEWS
    elif creation == CUSTOM_VIEW:
        message += (
            " This view was created inside a custom Function (or because an input was returned as-is) and the autograd "
            "logic to handle view+inplace would override the custom backward associated with the custom Function, "
            "leading to incorrect gradients. This behavior is forbidden. You can fix this by cloning the output of the "
            "custom Function."
        )
    else:
        block = "inference_mode" if creation == INFERENCE_VIEW else "no_grad"
        message += (
            " Given that this use case is ambiguous and error-prone, it is forbidden. You can clarify your code by "
            f"moving both the view and the inplace either both inside the {block} block (if you don't want the inplace "
            "to be tracked) or both outside (if you want the inplace to be tracked)."
        )
    return RuntimeError(message)


def check_result(self: Tensor, result: Tensor) -> None:
    """The result of an in-place operator must fit into the tensor it is written to."""
    a, r = self._payload, result._payload
    if r.shape != a.shape:
        raise RuntimeError(f"output with shape {list(a.shape)} doesn't match the broadcast shape {list(r.shape)}")
    if r.dtype is not a.dtype and not can_cast(BY_NUMPY[r.dtype], BY_NUMPY[a.dtype]):
        raise noted(
            RuntimeError(f"result type {_cpp(r)} can't be cast to the desired output type {_cpp(a)}"),
            f"Why: an in-place operator keeps the dtype of its tensor, {BY_NUMPY[a.dtype]}.",
            "What to do: use the out-of-place form (x = x + 0.5 rather than x += 0.5), or convert first: x = "
            "x.float().",
            code="W022",
        )


def _cpp(a: Any) -> str:
    return BY_NUMPY[a.dtype].scalar_name


# ---- writing
def count_write(tensor: Tensor, seq: int | None = None) -> Version:
    """Count one write to the tensor's storage."""
    cell = version_of(tensor)
    code, lasti = here()
    cell.write(tick() if seq is None else seq, code, lasti)
    return cell


def count_write_at(self: Tensor, frame: Any) -> None:
    """``count_write`` for hot code: one write by the current line of ``frame``."""
    box = self._box
    cell = None if box is None else box.cell
    if cell is None:
        cell = version_of(self)
    code = frame.f_code
    if code is not lines.user_code:
        frame = lines.user_frame(frame)
        code = frame.f_code
    cell.version += 1
    if cell._seq:
        if cell.writes is None:
            cell.remember()
        else:
            cell.writes.append(cell._seq)
    cell._seq = tick()
    cell._code = code
    cell._lasti = frame.f_lasti


def writable(self: Tensor) -> Any:
    """The tensor's array in a writable form."""
    a = self._payload
    if type(a) is not np.ndarray:
        if inference_tensors:
            refuse_write(self)
        a = alias_payload(self)
        if type(known := in_memory(a)) is np.ndarray and known is not a and not known.flags.writeable:
            _unlocked(self, known)  # what eager refuses is refused before it is recorded
    if isinstance(a, np.ndarray) and not a.flags.writeable:
        return _unlocked(self, a)
    return a


def _unlocked(self: Tensor, a: Any) -> Any:
    """An array that NumPy does not write to, in a writable form, if its elements may be written."""
    if inference_tensors and is_inference(self):
        refuse_write(self)
        return unlocked(a)
    if not repeats(a.shape, a.strides):
        if storage_of(a).flags.writeable:
            return unlocked(a)  # a part of an expanded tensor without repeated elements
    elif not a.size:
        return np.empty(a.shape, a.dtype)
    else:
        refuse_repeated(a)
    raise noted(
        RuntimeError("the tensor's memory is read-only"),
        "Why: it was made by from_numpy() or as_tensor() on a NumPy array that is not writable.",
        "What to do: clone() it.",
    )


def _old(self: Tensor, copied: bool) -> Tensor:
    """An alias of the tensor with its old history, on a copy of its memory if the write would change it too early."""
    a = self._payload
    written = isinstance(a, np.ndarray) or getattr(a, "is_foreign", False)
    if type(a) is np.ndarray and not a.flags.writeable:
        refuse_repeated(a)
    return wrap(a.copy() if copied and written else a, self._node)


def recorded_inplace(op: Any, copied: bool, self: Tensor, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Tensor:
    """Run an operator in place, on an alias of the tensor; ``copied``: on a copy of its memory (``_old``)."""
    old = _old(self, copied)
    twins: list[StaleVersion] = []
    operands = []
    for a in args:
        operands.append(_stale_alias(a, self, twins, op) if isinstance(a, Tensor) else a)  # noqa: PERF401  a frame less
    for k, a in kwargs.items():
        if isinstance(a, Tensor):
            kwargs = {**kwargs, k: _stale_alias(a, self, twins, op)}
    result = op(old, *operands, **kwargs)
    if result is NotImplemented:
        return result
    if (recorded := in_place_nodes.get(op)) is not None:
        result = recorded(result, old, *operands, **kwargs)
    saved = old._box
    del old  # references to memory are counted: _set_history, which no caller's stack must hold either
    write_recorded(self, saved, result)
    for cell in twins:
        cell._seq = version_of(self)._seq + 1
    return self


def _stale_alias(a: Tensor, self: Tensor, cells: list[StaleVersion], op: Any) -> Tensor:
    """An alias that replaces another operand on self's storage (``StaleVersion``)."""
    if getattr(a, "_view", None) is None and (a._box is None or a._box.cell is None) and a is not self:
        if a is not base_of(self):
            return a
    if type(written := memory_of(self)) is np.ndarray:
        refuse_met(op.__name__, written, memory_of(a))
    shared = version_of(self)
    if root_cell(version_of(a)) is not root_cell(shared):
        return a
    refresh(a)  # the twin is no view, whose history would be renewed
    cell = StaleVersion(shared)
    cells.append(cell)
    twin = wrap(a._payload, a._node)
    twin._box = box = Box()
    box.a = a._payload
    box.cell = cell
    return twin


def write_recorded(self: Tensor, saved: Box | None, result: Tensor) -> None:
    """Write a recorded result into self's memory and history; ``saved`` is the box of the old value, if any."""
    check_result(self, result)
    if self._payload.dtype is not result._payload.dtype:
        result = _in_dtype(result, self._payload.dtype)
    a = writable(self)
    r = result._payload
    node = result._node
    foreign = getattr(a, "is_foreign", False) and getattr(r, "is_foreign", False)
    if not foreign and (not isinstance(a, np.ndarray) or not isinstance(r, (np.ndarray, np.generic))):
        from .replaced import replace_payload

        del a
        replace_payload(self, r)
        if getattr(r, "is_traced", False) and result._box is not None and node is not None:
            result._box.cell = cell = version_of(self)  # as below: after a recorded call they are one memory
            cell._seq = node._seq
        rebase_history(self, node)
        return
    if saved is not None and (saved.a is a or saved.a is self._payload):
        saved.a = a.copy()  # the formula needs the old value, which is overwritten now
    if foreign:
        a.write(r)
    elif r is not a:  # an operator may have written into self's memory itself
        np.copyto(a, r, casting="unsafe")
    cell = version_of(self)
    if node is None:
        code, lasti = here()
        cell.write(tick(), code, lasti)
    else:
        cell.write(node._seq, node._code, node._lasti)
    box = result._box
    if box is not None:  # the formula needs the result: it is self's memory from now on
        box.a = a
        box.cell = cell
        if view_of(self) is None:
            self._box = box
    del a
    rebase_history(self, node)


def _in_dtype(result: Tensor, dtype: Any) -> Tensor:
    node = result.grad_fn
    result = cast(result, dtype)
    if node is not None and result._node is not None:
        named(result._node, node.name())  # the graph shows one operator
    return result


def record_write(tensor: Tensor, node: Node) -> None:
    """``write_recorded`` for an operator of ``node`` that has written to the tensor itself and saved no result."""
    version_of(tensor).write(node._seq, node._code, node._lasti)
    rebase_history(tensor, node)


# ---- rebasing
def rebase_history(self: Tensor, node: Node | None, part: tuple[Any, ...] | None = None) -> Node | None:
    """Set the new history of a tensor that was written in place, of its base and of the other views.

    ``part``: the chain of the part of the tensor that was written. Returns the new node of the tensor or its base.
    """
    if getattr(self, "_view", None) is None:
        made = node if part is None else CopySlices(self, part, node, None)
        _set_history(self, made)
        return made
    base, chain = chain_of(self)
    slices = CopySlices(base, chain + (part or ()), node, self._node if part is None else None)
    _set_history(base, slices, self)
    _set_node(self, AsStridedBackward0(base, chain, slices._code, slices._lasti))
    return slices


def _set_node(tensor: Tensor, node: Node | None) -> None:
    """Replace a tensor's node.

    ``retain_grad`` moves to the new node; hooks stay with the old value.
    """
    before = tensor._node
    tensor._node = node
    if before is None or before._hooks is None or before._hooks.retain is None:
        return
    if before._hooks.retain() is tensor and node is not before:
        before._hooks.retain = None
        if node is not None:
            hooks_of(node).retain = weakref.ref(tensor)


def _set_history(base: Tensor, node: Node | None, through: Tensor | None = None) -> None:
    """Set the history of a tensor that is not a view; views of its memory, if there are any, must refresh theirs.

    ``through``: the view that was written to, which gets its own new node.
    """
    cell = version_of(base)
    if node is not None:
        cell.writer = node.name()
        if base._node is None and transforms:
            inside = in_transform()
            if inside is not None:  # it may be a tensor from outside: func._levels.check_adopted
                inside.adopted.append(weakref.ref(base))
    _set_node(base, node)
    cell.rebased = tick()
    if not isinstance(base._payload, np.ndarray):
        _regenerate_views(base, through)
        return
    owner = base._payload
    while isinstance(owner.base, np.ndarray):  # ``owner_of`` without a call, in whose frame a reference might stay
        owner = owner.base
    references = sys.getrefcount(owner)
    box = base._box
    boxed = box is not None and box.a is owner
    if references - boxed <= ALONE + (through is not None and through._payload.base is owner):
        return
    _note_stale(base, owner)


def _note_stale(base: Tensor, owner: Any) -> None:
    """Have operators look whether views of this memory are older than the base's history."""
    if base._payload is owner:  # a view of its own, so that from now on only views refer to the owner: see prune
        box = base._box
        base._payload = owner[...]
        if box is not None and box.a is owner:
            box.a = base._payload
    key = id(owner)
    if key not in stale_views:
        stale_views[key] = weakref.ref(owner, partial(stale_views.pop, key)), reason()


def _regenerate_views(base: Tensor, through: Tensor | None) -> None:
    """Set the history of the views of a transform's value at once, because they are known."""
    for ref in base.__dict__.get("_views", ()):
        view = ref()
        if view is None:
            continue
        if view is not through:
            view._node = _view_node(*chain_of(view))
        _regenerate_views(view, through)


def _view_node(base: Tensor, chain: tuple[Any, ...]) -> Node | None:
    """The node of a view of a base whose history was rewritten."""
    return None if base._node is None else AsStridedBackward0(base, chain, *here())


# ---- staleness
def prune() -> None:
    """Drop memory from ``stale_views`` if no other view of it is left."""
    for key, (ref, _) in list(stale_views.items()):
        owner = ref()
        if owner is None or sys.getrefcount(owner) <= _ONE_VIEW:
            stale_views.pop(key, None)


def _calibrated() -> tuple[int, int]:
    """The references to a tensor's array of its own, and to the owner of its view, which a local variable holds too.

    They are measured, because they depend on how this Python stores variables; an argument may have one more (see
    ``delivery``).
    """
    t = wrap(np.empty(1))
    owner = t._payload
    alone = sys.getrefcount(owner)
    t._payload = owner[...]
    return alone, sys.getrefcount(owner)


ALONE, _ONE_VIEW = _calibrated()


def refresh(tensor: Tensor) -> None:
    """Renew a view's history if its base's history was rewritten after the view was made."""
    base = base_of(tensor)
    if base is None:
        return
    box = base._box
    if box is None or box.cell is None or not box.cell.rebased:
        return
    fn = tensor._node
    if fn is None:
        if base._node is None or _no_grad_view_since(tensor) > box.cell.rebased:
            return
    elif fn._seq > box.cell.rebased:
        return
    regenerate(tensor)


def _no_grad_view_since(tensor: Tensor) -> int:
    """The creation time of a view that was made under no_grad of a tensor with a history; 0 for any other tensor."""
    view = view_of(tensor)
    while view is not None:
        if isinstance(view[3], NoGradView):
            return view[3]._seq
        view = view_of(view[0])
    return 0


def refresh_for_write(tensor: Tensor) -> None:
    """``refresh`` of a tensor that will be written to; the error for a view that may not be comes before all others."""
    view = view_of(tensor)
    while view is not None and not view[3]:
        view = view_of(view[0])
    if view is not None:
        check_inplace(tensor, False)
    refresh(tensor)


def refresh_all(args: Any) -> None:
    """``refresh`` all tensors among an operator's arguments."""
    for a in args:
        if isinstance(a, Tensor):
            refresh(a)
        elif type(a) in (list, tuple):
            refresh_all(a)


def regenerate(tensor: Tensor) -> None:
    """Make a view's node again from its base's history: one node for the whole chain, as in PyTorch."""
    base, chain = chain_of(tensor)
    if base._node is None:
        return
    view = view_of(tensor)
    while view is not None:
        if view[3]:
            raise _creation_error(tensor, view[3], WRITTEN_ELSEWHERE)
        view = view_of(view[0])
    _set_node(tensor, _view_node(base, chain))
