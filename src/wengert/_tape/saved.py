"""Access to a node's saved values: the check that they are still valid, and their form for each ``xp``."""

from __future__ import annotations

import gc
import re
import sys
from typing import Any

from .._arrays.library import BY_DTYPE
from .._base.dtypes import BY_NUMPY
from .._base.errors import noted, where
from .._base.modes import anomaly
from .._base.registry import REGISTRY, TENSORS
from .inference import InferenceVersion, not_saved
from .node import FREED, AccumulateGrad, Box, Node, Port, Version
from .tensor import Tensor, tensor_on


def payload_dtype(value: Any) -> Any:
    """The array library's dtype of a Tensor, array or transform value of any nesting."""
    while isinstance(value, Tensor):
        value = value._payload
    return value.dtype


def is_complex(value: Any) -> bool:
    """Whether a Tensor, array or transform value is complex."""
    return bool(payload_dtype(value).kind == "c")


def view_of_written(k: int, name: str, what: str) -> str:
    """The first sentence about a view whose history cannot be rewritten; ``what`` says which tensor was written."""
    return f"Output {k} of {name} is a view and {what} modified inplace."


WRITTEN_ELSEWHERE = "its base or another view of its base has been"
SEVERAL_VIEWS = (
    " This view is the output of a function that returns multiple views. Such functions do not allow the output views "
    "to be modified inplace. You should replace the inplace operation by an out-of-place one."
)
SECOND_PASS = "What to do: call the earlier backward with retain_graph=True, or compute the result anew."


def stale(n: Node, box: Box) -> None:
    """Raise the error for a saved value that was freed or overwritten."""
    if box is FREED:
        raise noted(
            RuntimeError(
                "Trying to backward through the graph a second time (or directly access saved tensors after they have "
                "already been freed). Saved intermediate values of the graph are freed when you call .backward() or "
                "autograd.grad(). Specify retain_graph=True if you need to backward through the graph a second time or "
                "if you need to access saved tensors after calling backward."
            ),
            _made(n),
            "Why: what this node saved was freed by an earlier backward pass.",
            SECOND_PASS,
            code="W001",
        )
    from .saved_hooks import first_stale  # seldom needed

    box = first_stale(n, box)
    cell = box.cell
    if isinstance(cell, InferenceVersion):
        raise noted(not_saved(), _made(n))
    if isinstance(cell, DetachedVersion):
        raise noted(
            RuntimeError(
                "Trying to use a saved tensor that has been detached in-place, i.e. with .detach_().This is not "
                "supported, please use out-of-place `.detach()` instead"
            ),
            _made(n),
        )
    fn = _edge_of_box(n, box)
    if type(fn) is Port and _makes_views(fn):
        message = view_of_written(fn.k, short_name(fn.fx.name()), WRITTEN_ELSEWHERE)
        raise noted(RuntimeError(message + SEVERAL_VIEWS), _made(n))
    raise noted(
        RuntimeError(
            "one of the variables needed for gradient computation has been modified by an inplace operation: "
            f"[{_type_name(box.a)} {list(box.a.shape)}]{producer_name(n, fn, cell)} is at version {cell.version}; "
            f"expected version {cell.version_at(n._seq)} instead. Hint: {_hint()}"
        ),
        _made(n),
        f"Written in place by: {where(cell._code, cell._lasti)}" if cell._code is not None else "",
        f"Why: the derivative of {n.name()} needs the value that was there before it was overwritten.",
        "What to do: run the model again after step() (the optimizer wrote new parameters), or call all backward "
        "passes before step()."
        if cell._code is not None and _is_step(cell)
        else "What to do: use the out-of-place form (x = x + 1 rather than x += 1), or clone() the tensor before "
        "writing.",
        code="W002",
    )


def _is_step(cell: Any) -> bool:
    """Whether the line that wrote is a call of an optimizer's ``step``."""
    from .._base.places import text_of

    return text_of(cell._code, cell._lasti).partition("(")[0].endswith(".step")


class DetachedVersion(Version):
    """The version cell of a value that nodes saved before its tensor was detached in place: they may not use it."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__()
        self._seq = sys.maxsize  # later than every node


class StaleVersion:
    """The version cell of another operand on the storage that an operator writes to: nodes that saved it find it stale.

    The operand's own cell would not show it: the write has the sequence number of the node whose result is written,
    so this node may continue to use its result (``write_recorded``).
    """

    __slots__ = ("_seq", "shared", "version_before")
    rebased = 0  # views of the twin are younger

    def __init__(self, shared: Version) -> None:
        self._seq = 0
        self.shared = shared
        self.version_before = shared.version

    version = property(lambda self: self.shared.version)
    _code = property(lambda self: self.shared._code)
    _lasti = property(lambda self: self.shared._lasti)
    writer = property(lambda self: self.shared.writer)

    def version_at(self, seq: int) -> int:
        """The version before the operator ran."""
        return self.version_before

    def shown(self) -> int:
        """The version that a pack hook sees."""
        return self.version_before


def root_cell(cell: Any) -> Any:
    """The cell in which this one counts, if it is that of a conjugate view."""
    while (shared := getattr(cell, "shared", None)) is not None:
        cell = shared
    return cell


def refuse_detached(t: Tensor) -> None:
    """Before ``t.detach_()``: nodes that saved the tensor as an input may not use it; its own node still may."""
    old = t._box
    assert old is not None
    t._box = keep_for_its_node(t)
    old.cell = DetachedVersion()


def keep_for_its_node(t: Tensor) -> Box:
    """Give a result's own node, if that saved it, a box apart from the one of the nodes that it is an input of."""
    from .saved_hooks import replace_boxes  # seldom needed

    old = t._box
    assert old is not None
    own = Box()
    own.a, own.cell = old.a, old.cell
    fn: Any = t._node
    replace_boxes(fn.fx if type(fn) is Port else fn, old, own)
    return own


def keep_viewed(box: Box) -> None:
    """Before the array in a box is replaced: nodes of which PyTorch's have saved a view of it continue to use it."""
    if sys.getrefcount(box) <= _UNSAVED:
        return
    from .saved_hooks import replace_boxes  # seldom needed

    own = Box()
    own.a, own.cell = box.a, box.cell
    holders = gc.get_referrers(box)
    holders += gc.get_referrers(*(h for h in holders if type(h) is list))  # the saved values of a node of many
    for n in holders:
        if isinstance(n, Node) and n.viewed:
            replace_boxes(n, box, own, n.viewed)


_UNSAVED = 4  # the references to the box of a leaf that no node has saved, here


def _made(n: Node) -> str:
    place = where(n._code, n._lasti)
    return f"Where: {n.name()} was made at {place}" if place else ""


def _hint() -> str:
    if anomaly:
        return (
            "the backtrace further above shows the operation that failed to compute its gradient. The variable in "
            "question was changed in there or anywhere later. Good luck!"
        )
    return (
        "enable anomaly detection to find the operation that failed to compute its gradient, with "
        "torch.autograd.set_detect_anomaly(True, check_nan=False)."
    )


def _type_name(a: Any) -> str:
    name = BY_NUMPY[a.dtype].scalar_name
    legacy = name in ("Float", "Double", "Half", "Long", "Int", "Short", "Char", "Byte")
    return f"torch.{name}Tensor" if legacy else f"CPU{name}Type"


def _edge_of_box(n: Node, box: Box) -> Node | Port | None:
    """The node of a saved value, or n itself, of which it is a result."""
    saved = [(getattr(n, "f" + name, None), getattr(n, name, None)) for name in ("x", "y")]
    return next((edge for edge, value in (*saved, *getattr(n, "boxed_edges", ())) if value is box), n)


def _makes_views(fn: Node | Port | None) -> bool:
    """Whether a node is that of an operator whose results are views."""
    operator = getattr(fn.fx if type(fn) is Port else fn, "operator", "")
    return operator in REGISTRY and REGISTRY[operator].view


def producer_name(n: Node, fn: Node | Port | None, cell: Version) -> str:
    """The name of the node that made a saved value's current content: the latest recorded write, an input of n, or n.

    The name is empty for a leaf. ``fn`` is the node of the saved value.
    """
    k = 0
    if fn is not n:
        if type(fn).__name__ == "AsStridedBackward0" or _makes_views(fn):
            return ", which is output 0 of AsStrided,"  # a view of what was written is made anew from its base
        if cell.writer is not None:
            return f", which is output 0 of {short_name(cell.writer)},"
    if type(fn) is Port:
        fn, k = fn.fx, fn.k
    if fn is None or type(fn) is AccumulateGrad:
        return ""
    return f", which is output {k} of {short_name(fn.name())},"


def short_name(name: str) -> str:
    """A node's name in this message: ``MulBackward0`` -> ``Mul``, ``SumBackward1`` -> ``Sum1``."""
    return re.sub(r"Backward0?(\d*)$", r"\1", name)


def unbox(n: Node, box: Any, fn: Node | None, xp: Any) -> Any:
    """A saved value in the form for ``xp``: under ``create_graph`` a Tensor with its history, else the array.

    A value that is not a box (a Python scalar, ``None``, a shape) is returned unchanged.
    """
    if not isinstance(box, Box):
        return box
    cell = box.cell
    if cell is not None and cell._seq > n._seq:
        stale(n, box)
    if xp is not TENSORS:
        return box.a
    return tensor_of(box, fn)


def tensor_of(box: Box, fn: Node | None) -> Tensor:
    """A Tensor on a box, with the history from the time of saving; for a leaf, the leaf itself."""
    if type(fn) is AccumulateGrad and fn.box is box:
        return fn.variable
    t = tensor_on(box.a, fn)
    t._box = box
    return t


def original(t: Tensor, node: Node) -> Tensor:
    """The tensor from which an input was saved, if it is alive: nodes save arrays (``_tape.node``, NOTE [ Boxes ])."""
    fn: Any = t._node
    if type(fn) is not AccumulateGrad and (fn.fx if type(fn) is Port else fn) is not node:
        for other in gc.get_referrers(t._box):
            made = isinstance(other, Tensor) and hasattr(other, "_node") and other is not t  # not one half-made
            if made and other._node is fn and other._payload is t._payload:
                return other
    return t


def xp_of(value: Any) -> Any:
    """The namespace for the type of a cotangent."""
    if isinstance(value, Tensor):
        return TENSORS
    return BY_DTYPE[value.dtype]
