"""Views and writing in place.

NumPy's views are the views. A view tensor knows its parent and the operator that makes it again from a parent
(never strides). Every tensor on one storage shares a version ``Cell`` (``_tape.node``), made on first need.

NOTE [ In place on a view ]
    ``v = base[0]; v.mul_(2)`` changes ``base`` too, so the base's history is rewritten: it becomes ``CopySlices`` of
    its old history and of what was written; ``v`` and every other view find their history again as the view operator of
    the new base. ``v`` does so at once. Other views are not known (nothing is stored when a view is made but its
    parent): if other arrays share the memory, the memory is entered into ``stale_views`` and a reason into ``M``, as
    long as that memory lives, and on the slow path each operand that is a view of it is looked up again if its node is
    older than the last rewrite. What not to do: refresh a view that is younger; its node may have hooks.
"""

from __future__ import annotations

import gc
import sys
import weakref
from types import FrameType
from typing import Any

import numpy as np

from .._base.dtypes import BY_NUMPY, can_cast
from .._base.errors import here, noted
from .._base.modes import MODE, add_reason, drop_reason, in_transform, inference_tensors, transforms
from .._kinds.slow_path import CUSTOM_VIEW, INFERENCE_VIEW, MULTI_OUTPUT_VIEW, NO_GRAD_VIEW, QuietView, cast
from .inference import is_inference, refuse_write
from .node import AccumulateGrad, Box, Cell, Node, Port, cell_of, hooks_of, named, tick, view_of
from .saved import short_name
from .tensor import Tensor, alias_payload, note_view, stale_views, wrap


# ------------------------------------------------------------------------------------------------------------- versions
def bump(tensor: Tensor, seq: int | None = None) -> Cell:
    """Count one write to the tensor's storage."""
    box = tensor._m
    cell = box.cell if box is not None and box.cell is not None else cell_of(tensor)
    code, lasti = here()
    cell.write(tick() if seq is None else seq, code, lasti)
    return cell


def base_of(tensor: Tensor) -> Tensor | None:
    """The tensor at the root of a view's chain; ``None`` for a tensor that is no view."""
    view = view_of(tensor)
    if view is None:
        return None
    while view is not None:
        tensor = view[0]
        view = view_of(tensor)
    return tensor


# --------------------------------------------------------------------------------------------------------------- checks
def check_inplace(self: Tensor, requires_grad: bool) -> None:
    """Refuse a write that the tape could not follow, before anything is written.

    ``requires_grad``: whether what is written, or what is overwritten, needs a gradient.
    """
    state = MODE.get()
    if state is not None and not state.grad:
        return
    view = view_of(self)
    base = base_of(self)
    if view is not None and (requires_grad or base._fn is not None):  # type: ignore[union-attr]
        _check_creation(self, view)
    if type(self._fn) is AccumulateGrad:
        raise noted(
            RuntimeError("a leaf Variable that requires grad is being used in an in-place operation."),
            "Why: the tensor is a leaf: its .grad is the gradient for the value it had when it was used.",
            "What to do: write under torch.no_grad() (an optimizer's step), or compute on a copy (y = x + 1).",
            code="W005",
        )
    if base is not None and (type(base._fn) is AccumulateGrad or (base._fn is None and self._fn is not None)):
        raise noted(
            RuntimeError("a view of a leaf Variable that requires grad is being used in an in-place operation."),
            "Why: writing to the view writes to the leaf, whose .grad is the gradient for the value it had.",
            "What to do: write under torch.no_grad(), or clone() the leaf first.",
            code="W005",
        )


def refuse_quiet_view(self: Tensor) -> None:
    """A view made under no_grad has no history, but its base has: a recorded write to it would be lost on the tape."""
    if self._fn is None and view_of(self) is not None:
        check_inplace(self, False)


def refuse_written(self: Tensor) -> None:
    """A view made under no_grad of what requires grad has no ``grad_fn`` to show once its memory was written to."""
    view = view_of(self)
    if view is not None and isinstance(view[3], QuietView) and cell_of(self).seq > view[3].seq:
        _check_creation(self, view, indirect=True)


def _check_creation(self: Tensor, view: tuple[Any, ...], indirect: bool = False) -> None:
    """Refuse to rewrite the history of a view that was not made as an ordinary view is.

    ``indirect``: it was its base, or another view of that, that was written to.
    """
    creation = 0
    while view is not None and not creation:
        creation = view[3]
        view = view_of(view[0])  # type: ignore[assignment]
    if not creation:
        return
    fn = None if type(self._fn) is AccumulateGrad else self._fn
    name = "" if fn is None else short_name((fn.fx if type(fn) is Port else fn).name())
    what = "its base or another view of its base has been" if indirect else "is being"
    if creation in (INFERENCE_VIEW, NO_GRAD_VIEW) or fn is None:
        inference = creation == INFERENCE_VIEW
        mode, now = ("inference", "in normal mode") if inference else ("no_grad", "with grad mode enabled")
        named = fn is not None and not inference
        who = f"Output {self.output_nr} of {name} is a view of a view which was" if named else "A view was"
        message = f"{who} created in {mode} mode and {what} modified inplace {now}."
    else:
        message = f"Output {self.output_nr} of {name} is a view and {what} modified inplace."
    if creation == MULTI_OUTPUT_VIEW:
        message += (
            " This view is the output of a function that returns multiple views. Such functions do not allow the "
            "output views to be modified inplace. You should replace the inplace operation by an out-of-place one."
        )
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
    raise RuntimeError(message)


def writable(self: Tensor) -> Any:
    """The tensor's array, in a form that can be written to."""
    a = self._a
    if type(a) is not np.ndarray:
        if inference_tensors:
            refuse_write(self)
        a = alias_payload(self)
    if isinstance(a, np.ndarray) and not a.flags.writeable:
        if inference_tensors and is_inference(self):
            refuse_write(self)
            return unlocked(a)
        if not any(s == 0 and n > 1 for s, n in zip(a.strides, a.shape, strict=True)):
            base = base_of(self)
            if base is not None and isinstance(base._a, np.ndarray) and base._a.flags.writeable:
                return unlocked(a)  # a part of an expanded tensor in which nothing is repeated
        elif not a.size:
            return np.empty(a.shape, a.dtype)
        else:
            raise RuntimeError(
                "unsupported operation: more than one element of the written-to tensor refers to a single memory "
                "location. Please clone() the tensor before performing the operation."
            )
        raise noted(
            RuntimeError("the tensor's memory is read-only"),
            "Why: it was made by from_numpy() or as_tensor() on a NumPy array that is not writable.",
            "What to do: clone() it.",
        )
    return a


def unlocked(a: Any) -> Any:
    """The same memory as an array that may be written to."""
    from .._ops.shape.strided import Memory

    interface = dict(a.__array_interface__)
    interface["data"] = (interface["data"][0], False)
    r = np.asarray(Memory(interface, a))
    return r if r.dtype is a.dtype else r.view(a.dtype)


def check_result(self: Tensor, result: Tensor) -> None:
    """The result of an in-place operator must fit into the tensor it is written to."""
    a, r = self._a, result._a
    if r.shape != a.shape:
        raise RuntimeError(f"output with shape {list(a.shape)} doesn't match the broadcast shape {list(r.shape)}")
    if r.dtype is not a.dtype and not can_cast(BY_NUMPY[r.dtype], BY_NUMPY[a.dtype]):
        raise RuntimeError(f"result type {_cpp(r)} can't be cast to the desired output type {_cpp(a)}")


def _cpp(a: Any) -> str:
    return BY_NUMPY[a.dtype].scalar_name


# -------------------------------------------------------------------------------------------------------------- writing
rebound: list[Any] = []  # who wants to know of tensors whose payload was replaced: fn(tensor)


def rebind(self: Tensor, a: Any, held: int = 2) -> None:
    """A payload that cannot be written to (a transform's value, another library's array) is replaced.

    ``held``: how many of the callers' variables hold the tensor's array.
    """
    if getattr(self._a, "is_sparse", False) and getattr(a, "is_sparse", False):
        self._a.become(a)
        return
    if getattr(self._a, "is_meta", False):  # there is nothing to be written
        return
    view = view_of(self)
    if view is not None:
        _rebind_base(self, a, held)
    if type(self._a) is np.ndarray:
        _note_views(self, held)
    inside = in_transform()
    if inside is not None and getattr(self._a, "tag", None) != getattr(a, "tag", None):
        inside.rebound.append((weakref.ref(self), self._a, self._fn))
    self._a = a
    if self._m is not None:
        self._m = None  # what was saved keeps the old payload
    for fn in rebound:
        fn(self)
    if "_views" in self.__dict__:
        _rebind_views(self)


def _note_views(self: Tensor, held: int) -> None:
    """An array becomes a transform's value: its views, which shared memory with it until now, are looked for."""
    owner, references = _owner(self._a)
    if references <= _ALONE + held:
        return
    box = self._m
    if references <= _ALONE + _held_by_callers(owner) + (box is not None and box.a is owner):
        return
    for entry in gc.get_referrers(self):
        if type(entry) is tuple and len(entry) == 4 and entry[0] is self:
            for view in gc.get_referrers(entry):
                if isinstance(view, Tensor) and view_of(view) is entry:
                    note_view(self, view)
                    _note_views(view, held)


def _held_by_callers(array: Any) -> int:
    """How many variables of the functions of wengert that are running hold an array."""
    n = 0
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and frame.f_globals.get("__name__", "").startswith("wengert"):
        variables = frame.f_locals
        n += sum([value is array for value in variables.values()])
        if type(variables) is dict and sys.gettrace() is None:  # before Python 3.13 a copy, which would hold it too
            variables.clear()
        frame = frame.f_back
    return n


def _rebind_views(self: Tensor) -> None:
    """Views of a payload that was replaced are made again from the new one, with the views of these."""
    from .._ops.shape.view_chain import replay

    for ref in self.__dict__["_views"]:
        view = ref()
        if view is None:
            continue
        made = view_of(view)
        if made is not None and made[0] is self:
            view._a = replay(self._a, ((made[1].name, made[2]),))
        elif "_detached" in view.__dict__:
            view._a = self.detach()._a  # type: ignore[attr-defined]
        else:
            continue
        view._m = None
        for fn in rebound:
            fn(view)
        if "_views" in view.__dict__:
            _rebind_views(view)


def _rebind_base(self: Tensor, a: Any, held: int) -> None:
    from .._base.registry import T

    parent, info, p, _ = view_of(self)  # type: ignore[misc]
    new = T.view_scatter(wrap(parent._a), wrap(a), ((info.name, p),))
    rebind(parent, new._a, held)
    if not any(ref() is self for ref in parent.__dict__.get("_views", ())):  # it was made while both were arrays
        note_view(parent, self)


def recorded_inplace(op: Any, old: Tensor, self: Tensor, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Tensor:
    """``old`` stands for self as it was; a node that saves it gets a copy of its memory (``write_recorded``)."""
    twins: list[Overwritten] = []
    args = tuple(_twin(a, self, twins) for a in args)
    kwargs = {k: _twin(a, self, twins) for k, a in kwargs.items()}
    result = op(old, *args, **kwargs)
    if result is NotImplemented:
        return result
    write_recorded(self, old, result)
    for cell in twins:
        cell.seq = cell_of(self).seq + 1
    return self


class Overwritten:
    """The cell of another operand on the storage that an operator writes to: whoever saved it finds it stale.

    Its own cell would not say so: the write has the sequence number of the node that made what is written, so that
    this node may go on using its result (``write_recorded``).
    """

    __slots__ = ("seq", "shared", "version_before")

    def __init__(self, shared: Cell) -> None:
        self.seq = 0
        self.shared = shared
        self.version_before = shared.version

    version = property(lambda self: self.shared.version)
    code = property(lambda self: self.shared.code)
    lasti = property(lambda self: self.shared.lasti)
    writer = property(lambda self: self.shared.writer)

    def version_at(self, seq: int) -> int:
        """The version that the operator saw."""
        return self.version_before


def _twin(a: Any, self: Tensor, cells: list[Overwritten]) -> Any:
    """What stands for another operand on self's storage (``Overwritten``)."""
    if not isinstance(a, Tensor) or (
        a is not self and view_of(a) is view_of(self) is None and (a._m is None or a._m.cell is None)
    ):
        return a
    shared = cell_of(self)
    if cell_of(a) is not shared:
        return a
    cell = Overwritten(shared)
    cells.append(cell)
    twin = wrap(a._a, a._fn)
    twin._m = box = Box()
    box.a = a._a
    box.cell = cell
    return twin


def write_recorded(self: Tensor, old: Tensor, result: Tensor) -> None:
    """Put a recorded result into self's memory and history."""
    check_result(self, result)
    if self._a.dtype is not result._a.dtype:
        node = result.grad_fn
        result = cast(result, self._a.dtype)
        if node is not None and result._fn is not None:
            named(result._fn, node.name())  # one operator to whoever looks
    a = writable(self)
    if not isinstance(a, np.ndarray) or not isinstance(result._a, (np.ndarray, np.generic)):
        rebind(self, result._a)
        rebase(self, result._fn)
        return
    if old._m is not None and old._a is a:  # the formula needs the old value, which is overwritten now
        old._m.a = a.copy()
    if result._a is not a:  # an operator may have written into self's memory itself
        np.copyto(a, result._a, casting="unsafe")
    node = result._fn
    cell = bump(self, None if node is None else node.seq)
    box = result._m
    if box is not None:  # the formula needs the result: it is self's memory from now on
        box.a = a
        box.cell = cell
        if view_of(self) is None:
            self._m = box
    rebase(self, node)


def rebase(self: Tensor, node: Node | None) -> None:
    """Give a tensor that was written in place its new history, and its base and other views theirs."""
    if view_of(self) is None:
        _replace_history(self, node)
        _mark_views(self)
        return
    from .._ops.shape.view_chain import chain_of, gathered

    base, chain = chain_of(self)
    _replace_history(base, CopySlices(base, chain, node))
    _mark_views(base, self)
    before = self._fn
    self._fn = gathered(base, chain)
    _move_retain_grad(self, before)


def record_write(tensor: Tensor, node: Node) -> None:
    """What ``write_recorded`` does for a tensor that is no view and that ``node``'s operator has written to."""
    cell_of(tensor).write(node.seq, node.code, node.lasti)
    _replace_history(tensor, node)
    _mark_views(tensor)


def record_slices(base: Tensor, chain: tuple[Any, ...], node: Node | None) -> None:
    """As ``write_recorded``, for a view that nobody has: the part that ``chain`` makes of ``base`` was written."""
    slices = CopySlices(base, chain, node)
    cell = cell_of(base)
    cell.write(slices.seq, slices.code, slices.lasti)
    _replace_history(base, slices)
    _mark_views(base)


def _replace_history(tensor: Tensor, node: Node | None) -> None:
    before = tensor._fn
    tensor._fn = node
    if node is not None:
        cell_of(tensor).writer = node.name()
        if before is None and transforms:
            inside = in_transform()
            if inside is not None:  # it may be a tensor from outside: func._levels.check_adopted
                inside.adopted.append(weakref.ref(tensor))
    _move_retain_grad(tensor, before)


def _move_retain_grad(tensor: Tensor, before: Node | None) -> None:
    """``retain_grad`` is about the tensor as it is now; its hooks stay with the value that it had."""
    if before is None or before.h is None or before.h.retain is None:
        return
    if before.h.retain() is tensor and tensor._fn is not before:
        before.h.retain = None
        if tensor._fn is not None:
            hooks_of(tensor._fn).retain = weakref.ref(tensor)


def _mark_views(base: Tensor, written: Tensor | None = None) -> None:
    """The base's history changed: other views of its memory, if there are any, must look theirs up again.

    ``written``: the view that was written to, which has its new history.
    """
    cell = cell_of(base)
    cell.rebased = tick()
    if not isinstance(base._a, np.ndarray):
        _regenerate_views(base, written)
        return
    owner, references = _owner(base._a)
    box = base._m
    boxed = box is not None and box.a is owner
    if references - boxed <= _ALONE + (written is not None and written._a.base is owner):
        return
    if base._a is owner:  # a view of its own, so that from now on only views refer to the owner: see prune
        base._a = owner[...]
        if boxed:
            box.a = base._a  # type: ignore[union-attr]
    key = id(owner)
    if key not in stale_views:
        add_reason("stale views")
        stale_views[key] = weakref.ref(owner, lambda _: _forget(key))


def _regenerate_views(base: Tensor, written: Tensor | None) -> None:
    """The same for a transform's value, whose views are known: they get their history at once."""
    from .._ops.shape.view_chain import chain_of, gathered

    for ref in base.__dict__.get("_views", ()):
        view = ref()
        if view is None:
            continue
        if view is not written:
            view._fn = gathered(*chain_of(view))
        _regenerate_views(view, written)


def _owner(a: Any) -> tuple[Any, int]:
    """The array that owns an array's memory, and how many references there are to it (a view has one)."""
    while isinstance(a.base, np.ndarray):
        a = a.base
    return a, sys.getrefcount(a)


def prune() -> None:
    """Memory of which no other view is left needs no more care."""
    for key, ref in list(stale_views.items()):
        owner = ref()
        if owner is None or _owner(owner)[1] <= _ONE_VIEW:
            _forget(key)


def _calibrated() -> tuple[int, int]:
    """What ``_owner`` counts for a tensor's array that nothing else refers to, and in ``prune`` if it is a view.

    Measured, as it depends on how this Python holds its variables.
    """
    t = wrap(np.empty(1))
    alone = _owner(t._a)[1]
    owner = t._a
    t._a = owner[...]
    return alone, _owner(owner)[1]


_ALONE, _ONE_VIEW = _calibrated()


def _forget(key: int) -> None:
    if stale_views.pop(key, None) is not None:
        drop_reason("stale views")


# ------------------------------------------------------------------------------------------------ finding history again
def refresh(tensor: Tensor) -> None:
    """Look up a view's history again if its base was rewritten since the view was made."""
    base = base_of(tensor)
    if base is None:
        return
    box = base._m
    if box is None or box.cell is None or not box.cell.rebased:
        return
    fn = tensor._fn
    if fn is None:
        if base._fn is None or _quiet_since(tensor) > box.cell.rebased:
            return
    elif fn.seq > box.cell.rebased:
        return
    regenerate(tensor)


def _quiet_since(tensor: Tensor) -> int:
    """When a view without history was made under no_grad of what had one; 0 for any other."""
    view = view_of(tensor)
    while view is not None:
        if isinstance(view[3], QuietView):
            return view[3].seq
        view = view_of(view[0])
    return 0


def refresh_for_write(tensor: Tensor) -> None:
    """``refresh`` of what will be written to: that one of several views may not be is said before all else."""
    view = view_of(tensor)
    if view is not None and view[3] == MULTI_OUTPUT_VIEW:
        check_inplace(tensor, False)
    refresh(tensor)


def refresh_all(args: Any) -> None:
    """``refresh`` for all tensors among an operator's arguments."""
    for a in args:
        if isinstance(a, Tensor):
            refresh(a)
        elif type(a) in (list, tuple):
            refresh_all(a)


def regenerate(tensor: Tensor) -> None:
    """Make a view's node again from its base's history: one node, whatever the views between, as PyTorch's."""
    from .._ops.shape.view_chain import chain_of, gathered

    base, chain = chain_of(tensor)
    if base._fn is None:
        return
    _check_creation(tensor, tensor._v, indirect=True)
    before = tensor._fn
    tensor._fn = gathered(base, chain)
    _move_retain_grad(tensor, before)


class CopySlices(Node):
    """The history of a tensor that was written through a view: what was there before, and what was written."""

    __slots__ = ("chain", "fx", "fy", "shape")
    __module__ = "builtins"  # as it prints in PyTorch

    def __init__(self, base: Tensor, chain: tuple[Any, ...], written: Node | None) -> None:
        self.fx = base._fn
        self.fy = written
        self.chain = chain
        self.shape = base._a.shape
        self.seq = tick()
        self.h = None
        self.code, self.lasti = here()

    def edges(self) -> tuple[Node | None, ...]:
        return (self.fx, self.fy)

    def name(self) -> str:
        return "torch::autograd::CopySlices"

    def __repr__(self) -> str:
        return f"<CopySlices object at {id(self):#x}>"

    def backward(self, xp: Any, g: Any, keep: bool) -> tuple[Any, ...]:
        pairs: list[Any] = []
        if self.fx is not None:
            pairs += (self.fx, xp.view_scatter(g, xp.zeros_like(xp.view_gather(g, self.chain)), self.chain))
        if self.fy is not None:
            pairs += (self.fy, xp.view_gather(g, self.chain))
        return tuple(pairs)
