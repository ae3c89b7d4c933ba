"""Saved-tensor hooks: pack runs when a value is saved, unpack when a formula or the user reads it.

A node with packed values gets a new class (of the same layout) whose backward step unpacks first; other nodes have no
extra cost. A slot holds a ``PackedBox`` while the value is packed, and during the step an ordinary ``Box`` of the
unpack hook's result. As in PyTorch, packed values are not checked for writes in place.
"""

from __future__ import annotations

import functools
import re
import weakref
from _thread import RLock
from collections.abc import Callable
from itertools import combinations
from typing import Any

from .._base.errors import here, noted, sizes_differ
from .._base.forks import reopened
from .._base.grad_mode import grad_mode
from .._base.modes import MODE, saved_tensors_hooks
from .._base.registry import TENSORS
from .._base.torch_function import AROUND
from .node import FREED, LEAVES, AccumulateGrad, Box, Node, Port, Version, box_of, tick
from .saved import DetachedVersion, original, stale, tensor_of, unbox
from .tensor import Tensor, current_fn, wrap

Hooks = tuple[Callable[[Tensor], Any], Callable[[Any], Tensor]]
_swap = reopened(RLock())  # a packed node's slots are replaced while it runs: one thread at a time


class PackedBox(Box):
    """The pack hook's result, which replaces a saved value in its node."""

    __slots__ = ("packed", "shape", "unpack_hook")
    packed: Any
    shape: tuple[int, ...]
    unpack_hook: Any

    def unpack(self) -> Tensor:
        """The result of the unpack hook, which leaves no mode behind."""
        before = MODE.get()
        try:
            with grad_mode(False):
                tensor = self.unpack_hook(self.packed)
        finally:
            MODE.set(before)
        if not isinstance(tensor, Tensor):
            raise TypeError(
                "Output of saved tensor unpack_hook expected to be a Tensor but got result of type "
                f"{type(tensor).__name__}"
            )
        return tensor

    def opened(self) -> Box:
        """An ordinary box on the unpacked value."""
        box = Box()
        box.a = self.unpack()._payload
        box.cell = None
        return box

    def __call__(self) -> Tensor:
        return self.unpack()


def pack(box: Box, hooks: Hooks, fn: Node | None = None, own: Tensor | None = None) -> PackedBox:
    """Pass a box's value to the pack hook, with the history ``fn``; ``own``: the user's tensor, if it has none."""
    with grad_mode(False):
        return _pack(box, hooks, fn, own)


def _pack(box: Box, hooks: Hooks, fn: Node | None, own: Tensor | None = None, of_result: bool = False) -> PackedBox:
    cell = box.cell
    if cell is None:
        cell = box.cell = Version()
    if fn is not None:
        tensor = tensor_of(box, fn)
    elif own is not None:
        tensor = own
    else:
        tensor = wrap(box.a)
        tensor._box = box
    version = cell.version
    packed = PackedBox()
    packed.a = None
    packed.cell = None
    packed.shape = tensor.shape
    packed.unpack_hook = hooks[1]
    around = AROUND.get()
    packed.packed = hooks[0](tensor) if around is None else around(hooks[0], tensor)
    if of_result:
        tensor._node = None  # what the hook returns mostly refers to it: the node would refer to itself
    if cell.version != version:
        raise RuntimeError(
            "A saved tensor pack hook is modifying its input in place. Tensors provided as input to pack hook cannot "
            "be modified by in-place operations as this can lead to unexpected side-effects. Please open an issue if "
            "you need to perform in-place operations on the input to a pack hook."
        )
    return packed


# ---- a node's saved values
Place = tuple[Any, ...]  # the position of a box: (slot,), ("values", index) or (..., position in a list)


@functools.cache
def _kept_in(cls: type) -> tuple[tuple[str, ...], bool]:
    """The slots of a node class that may hold a box, and whether it has a list of saved values."""
    return tuple(slot for slot in ("x", "y", "result") if hasattr(cls, slot)), hasattr(cls, "values")


def places(n: Any) -> list[Place]:
    """The positions of a node's boxes."""
    slots, listed = _kept_in(type(n))  # type: ignore[arg-type]  # mypy: a class is hashable
    found: list[Place] = [(slot,) for slot in slots if isinstance(getattr(n, slot), Box)]
    if not listed:
        return found
    for j, value in enumerate(n.values or ()):
        if isinstance(value, Box):
            found.append(("values", j))
        elif type(value) is list:
            found += [("values", j, k) for k, item in enumerate(value) if isinstance(item, Box)]
    return found


def _by_name(n: Any) -> list[Place]:
    """``places`` in the order in which PyTorch packs and unpacks them: by the names of the values, the result last."""
    plan, names = getattr(type(n), "plan", None), n.saved_names
    second = next((name for name in names if name not in ("self", "result")), "") if "self" in names else "~"
    slots = {"x": "self", "y": second, "result": "result"}

    def key(place: Place) -> tuple[bool, str]:
        name = slots.get(place[0], "") if plan is None or place[0] != "values" else plan.uses[place[1]]
        return name == "result", name

    return sorted(places(n), key=key)


def _get(n: Any, place: Place) -> Any:
    value = getattr(n, place[0])
    for k in place[1:]:
        value = value[k]
    return value


def _put(n: Any, place: Place, box: Any) -> None:
    if len(place) == 1:
        setattr(n, place[0], box)
    else:
        holder = getattr(n, place[0])
        for k in place[1:-1]:
            holder = holder[k]
        holder[place[-1]] = box


def first_stale(n: Any, box: Box) -> Box:
    """Of a node's values that were overwritten, like this one, the one that PyTorch unpacks first."""
    boxes = [_get(n, place) for place in _by_name(n)]
    return next((b for b in boxes if b.cell is not None and b.cell._seq > n._seq), box)


def replace_boxes(n: Any, old: Box, new: Box, among: tuple[str, ...] | None = None) -> None:
    """Put a box in the place of another one in a node. ``among``: only where the value has one of these names."""
    for place in places(n):
        if _get(n, place) is old:
            if among is None or (place[0] if len(place) == 1 else type(n).plan.uses[place[1]]) in among:
                _put(n, place, new)
    if type(of_user := getattr(n, "_boxes", None)) is tuple:
        n._boxes = tuple((new if box is old else box, fn) for box, fn in of_user)


def pack_node(n: Any, hooks: Hooks) -> list[Box]:
    """Pack all saved values of a node; return the boxes in which they were."""
    found = [
        (place, box) for place, box in ((p, _get(n, p)) for p in _by_name(n)) if type(box) is Box and box is not FREED
    ]
    if not found:
        return []
    with grad_mode(False):
        for place, box in found:
            fn = edge_of(n, place)
            _put(n, place, _pack(box, hooks, fn, of_result=fn is n or (type(fn) is Port and fn.fx is n)))
    _watch(n)
    return [box for _, box in found]


def pack_saved(result: Any, hooks: Hooks, info: Any, args: tuple[Any, ...]) -> None:
    """Pack all saved values of the node of an operator's new result. A pack hook with ``after`` is told of them."""
    boxes: list[Box] | None = None
    for t in result if isinstance(result, (tuple, list)) else (result,):
        if isinstance(t, Tensor) and t._node is not None and type(t._node) is not AccumulateGrad:
            boxes = (boxes or []) + pack_node(t._node.fx if type(t._node) is Port else t._node, hooks)
            if type(t._node) is not Port:
                break
    after = getattr(hooks[0], "after", None)
    if after is not None and boxes is not None:
        after(info, args, boxes)


def _watch(n: Any) -> None:
    if not getattr(type(n), "unpacks", False):
        n.__class__ = _packed_class(type(n))  # type: ignore[arg-type]  # as above


@functools.cache
def _packed_class(cls: Any) -> Any:
    def backward(n: Any, xp: Any, g: Any, keep: bool) -> tuple[Any, ...]:
        hooked = n._hooks is not None and bool(n._hooks.post)
        opened = [(p, b, b.opened()) for p, b in ((p, _get(n, p)) for p in _by_name(n)) if isinstance(b, PackedBox)]
        with _swap:
            for place, _, box in opened:
                _put(n, place, box)
            try:
                try:
                    pairs = cls.backward(n, xp, g, keep)
                except (ValueError, IndexError) as error:  # NumPy's: a hook gave another shape than was saved
                    raise _of_shapes(error) from None
                _expect_shapes(n, pairs)
                if getattr(n, "plan", None) is not None:  # elementwise operators broadcast
                    for _, packed, box in opened:
                        _expect_shape(n, 0, box.a.shape, packed.shape)
                if n._hooks is not None and n._hooks.post and not hooked:  # an unpack hook has registered them
                    pairs = n.call_posthooks(pairs, xp is TENSORS)
                return pairs
            finally:
                for place, packed, box in opened:
                    try:
                        if _get(n, place) is box:
                            _put(n, place, packed)
                    except (TypeError, IndexError):  # freed as a whole
                        pass

    def saved(n: Any, name: str) -> Any:
        place = place_of(n, name)
        box = None if place is None else _get(n, place)
        if not isinstance(box, PackedBox):
            return cls.saved(n, name)
        return unbox(n, box.opened(), edge_of(n, place), TENSORS)

    members = {"__slots__": (), "__module__": cls.__module__, "backward": backward, "saved": saved, "unpacks": True}
    return type(cls.__name__, (cls,), members)


_SHAPES = re.compile(r"\((\d*(?:,\d*)*)\)")


def _of_shapes(error: ValueError | IndexError) -> RuntimeError:
    """PyTorch's error in place of NumPy's, for values that an unpack hook gave another shape."""
    shapes = [tuple(int(n) for n in found.split(",") if n) for found in _SHAPES.findall(str(error))]
    note = "Why: an unpack hook returned a tensor of another shape than the one that was saved."
    if "not aligned" in str(error) and len(shapes) > 1:
        a, b = ("x".join(map(str, shape)) for shape in shapes[:2])
        return noted(RuntimeError(f"mat1 and mat2 shapes cannot be multiplied ({a} and {b})"), note)
    for x, y in combinations(shapes, 2):
        if any(n != m and 1 not in (n, m) for n, m in zip(x[::-1], y[::-1], strict=False)):
            return noted(RuntimeError(sizes_differ(x, y)), note)
    return noted(RuntimeError("shape mismatch between a saved tensor and the gradient"), note)


def _expect_shapes(n: Any, pairs: tuple[Any, ...]) -> None:
    """Raise PyTorch's error for a gradient of another shape than its leaf's."""
    for i, (m, g) in enumerate(zip(pairs[::2], pairs[1::2], strict=True)):
        if type(m) is AccumulateGrad and g is not None:
            _expect_shape(n, i, g.shape, m.box.a.shape)


def _expect_shape(n: Any, i: int, got: Any, expected: Any) -> None:
    if tuple(got) != tuple(expected):
        raise RuntimeError(
            f"Function {n.name()} returned an invalid gradient at index {i} - got {list(got)} but expected shape "
            f"compatible with {list(expected)}"
        )


def place_of(n: Any, name: str) -> Place | None:
    """The position of the saved value of this name, if it is a tensor."""
    plan = getattr(type(n), "plan", None)
    if plan is not None:
        return ("values", plan.uses.index(name)) if name in plan.uses else None
    if name == "result":
        return ("result",) if hasattr(n, "result") else None
    names = type(n).saved_names
    slots = [slot for slot in ("x", "y") if hasattr(n, slot)]
    if name in ("self", "input") and "x" in slots:
        return ("x",)
    if name == "other" and "y" in slots:
        return ("y",)
    if name in names[:2] and hasattr(n, "params") and names.index(name) < len(slots):
        return (slots[names.index(name)],)
    return None


def edge_of(n: Any, place: Place | None) -> Node | None:
    """The node of the tensor saved at a position."""
    assert place is not None
    if place[0] == "result":
        return n
    if place[0] in ("x", "y"):
        return getattr(n, "f" + place[0], None)
    plan = type(n).plan
    how, i = plan.sources[place[1]]
    if how == "operand":
        return n.fx[i]
    if how == "operands":
        return n.fx[i + place[2]]
    return plan._output(n, i) if how == "result" else None


def pack_box(ctx: Any, box: Box, fn: Any, hooks: Hooks, is_output: bool) -> tuple[Any, Any]:
    """Pack one value of a custom function's ``save_for_backward``."""
    own = None
    if type(fn) is weakref.ref:
        own, fn = fn(), None
    return _Opening(
        pack(box, hooks, None if is_output else fn, own), None if is_output else fn, ctx if is_output else None, fn
    ), fn


class _Opening:
    """A function that unpacks one value of a custom function and restores its history."""

    def __init__(self, packed: PackedBox, fn: Any, ctx: Any, port: Any) -> None:
        self.packed = packed
        self.fn = fn
        self.ctx = None if ctx is None else weakref.ref(ctx)  # weak: an output's node owns this object
        self.k = getattr(port, "k", None)

    def __call__(self) -> Tensor:
        fn = self.fn
        if fn is None and self.ctx is None:  # without a history the hook's tensor itself is given, as in PyTorch
            tensor = self.packed.unpack()
            return tensor if tensor._node is None else wrap(tensor._payload)
        if self.ctx is not None:
            ctx = self.ctx()
            fn = ctx._output_node(self.k or 0)
        return tensor_of(self.packed.opened(), fn)


# ---- _raw_saved_NAME
def _check_registrable(freed: bool, packed: bool, saved: bool) -> None:
    """Raise PyTorch's error for ``register_hooks`` on a value that was freed, is packed already or was not saved."""
    if freed:
        raise RuntimeError(
            "Calling register_hooks on a saved tensor after it has been freed. Saved intermediate values of the graph "
            "are freed when you call .backward() or autograd.grad(). Specify retain_graph=True if you need to backward "
            "through the graph a second time or if you need to access saved variables after calling backward."
        )
    if packed:
        raise RuntimeError(
            "Calling register_hooks on a saved tensor whose hooks have already been set. Hint: only one pair of hooks "
            "is allowed at a time."
        )
    if not saved:
        raise noted(
            RuntimeError("Calling register_hooks on a saved tensor with value None is forbidden"),
            "Why: this derivative does not need the value, so it was not saved.",
        )


def _incompatible(call: str, signature: str, *given: Any) -> TypeError:
    return TypeError(
        f"{call}(): incompatible function arguments. The following argument types are supported:\n    1. {signature}\n"
        f"\nInvoked with: {', '.join(map(repr, given))}"
    )


def _check_hooks(self: Any, *hooks: Any) -> None:
    if len(hooks) != 2 or not all(map(callable, hooks)):
        raise _incompatible(
            "register_hooks",
            "(self: torch._C._autograd.SavedTensor, arg0: collections.abc.Callable, arg1: collections.abc.Callable) -> "
            "None",
            self,
            *hooks,
        )


_NOT_GIVEN: Any = object()


class SavedTensor:
    """One saved value of a node, ``grad_fn._raw_saved_NAME``: hooks can be registered on it.

    ``k``: its position, if it is one of several of this name; -1 for a dim of an index that has no tensor.
    """

    def __init__(self, node: Any = None, name: str | None = None, k: int | None = None) -> None:
        if name is None:
            raise RuntimeError("Trying to create a SavedTensor object from Python is forbidden.")
        self._node = node
        self._name = name
        self._at = k

    def _place(self) -> Place | None:
        place = place_of(self._node, self._name) if self._at != -1 else None
        return place if place is None or self._at is None else (*place, self._at)

    def _kept(self) -> tuple[Any, Any]:
        """The box of the value, if it is one, and the history of the tensor; the node itself for its own result."""
        place = self._place()
        box = None if place is None else _get(self._node, place)
        if not isinstance(box, Box):
            return None, None
        fn = edge_of(self._node, place)
        return box, self._node if type(fn) is Port and fn.fx is self._node else fn

    def _tensor(self, box: Box, fn: Any) -> Tensor:
        """The tensor of a box that is not packed."""
        return tensor_of(box, fn)

    @property
    def data(self) -> Any:
        """The saved tensor, or what the pack hook made of it; ``None`` once it was freed.

        A result of the node itself has no history here.
        """
        box, fn = self._kept()
        if box is None or box is FREED:
            return None
        if isinstance(box, PackedBox):
            return box.packed
        return tensor_of(box, None) if fn is self._node else original(self._tensor(box, fn), self._node)

    def unpack(self) -> Any:
        """The saved tensor, unpacked."""
        if self._at == -1:
            return None
        found = self._node.saved(self._name)
        found = found if self._at is None else found[self._at]
        return original(found, self._node) if isinstance(found, Tensor) else found

    @property
    def unpack_hook(self) -> Any:
        """The current unpack hook, or None."""
        box, _ = self._kept()
        return box.unpack_hook if isinstance(box, PackedBox) else None

    def register_hooks(self, pack_hook: Callable[[Tensor], Any], unpack_hook: Any = _NOT_GIVEN) -> None:
        """Pack this saved value now, and unpack it where it is read."""
        _check_hooks(self, pack_hook, *() if unpack_hook is _NOT_GIVEN else (unpack_hook,))
        box, fn = self._kept()
        _check_registrable(box is FREED, isinstance(box, PackedBox), box is not None)
        self._pack(box, fn, (pack_hook, unpack_hook))

    def _pack(self, box: Box, fn: Any, hooks: Hooks) -> None:
        place = self._place()
        assert place is not None
        _put(self._node, place, pack(box, hooks))
        _watch(self._node)

    def __repr__(self) -> str:
        return f"<torch._C._autograd.SavedTensor object at {id(self):#x}>"


class SavedOfFunction(SavedTensor):
    """One value of a custom function's ``save_for_backward``, as in ``_raw_saved_tensors``."""

    def __init__(self, ctx: Any, k: int) -> None:
        super().__init__(ctx, "", k)

    def _kept(self) -> tuple[Any, Any]:
        """The box of the value, if it is one, and its history; the node itself for its own result."""
        ctx = self._node
        if ctx._boxes is FREED:
            return FREED, None
        box, fn = ctx._boxes[self._at]
        return (box.packed if isinstance(box, _Opening) else box), ctx if isinstance(fn, int) else fn

    def _tensor(self, box: Box, fn: Any) -> Tensor:
        """The tensor of a box that is not packed."""
        found: Tensor = self._node._unpack(box, fn)
        return found

    def unpack(self) -> Any:
        """The saved tensor, unpacked."""
        ctx = self._node
        if ctx._boxes is FREED:
            stale(ctx, FREED)
        box, fn = ctx._boxes[self._at]
        return None if box is None else original(ctx._unpack(box, fn), ctx)

    def _pack(self, box: Box, fn: Any, hooks: Hooks) -> None:
        ctx, k = self._node, self._at
        output = fn is ctx
        packed = pack_box(ctx, box, ctx._output_node(ctx._boxes[k][1]) if output else fn, hooks, output)
        ctx._boxes = (*ctx._boxes[:k], packed, *ctx._boxes[k + 1 :])


class _Keeper(Node):
    """A node of no graph, which holds the tensor of a ``SavedTensor`` that a program made."""

    __slots__ = ("fx", "x")
    saved_names = ("self",)

    def __init__(self, tensor: Tensor, is_output: bool) -> None:
        self._seq = tick()
        self._hooks = None
        self._code, self._lasti = here()
        self.fx = current_fn(tensor)
        self.x = box_of(tensor)
        if is_output and type(self.fx) not in LEAVES:  # a result, which only the node that made it may read
            self.fx = self
            self.x = Box()
            self.x.a, self.x.cell = tensor._payload, DetachedVersion()

    def saved(self, name: str) -> Any:
        return unbox(self, self.x, self.fx, TENSORS)


def make_saved_tensor(tensor: Tensor, is_output: bool, is_inplace_on_view: bool = False) -> SavedTensor:
    """A tensor as a node saves it, without a node; it goes through the hooks of ``saved_tensors_hooks``.

    ``is_output``: the tensor is a result of the node that saves it.
    """
    if not isinstance(tensor, Tensor) or not isinstance(is_output, bool) or not isinstance(is_inplace_on_view, bool):
        signature = "(tensor: torch.Tensor, is_output: bool, is_inplace_on_view: bool = False)"
        raise _incompatible(
            "_make_saved_tensor",
            f"{signature} -> torch._C._autograd.SavedTensor",
            tensor,
            is_output,
            is_inplace_on_view,
        )
    made = SavedTensor(_Keeper(tensor, is_output), "self")
    hooks = saved_tensors_hooks()
    if hooks:
        made.register_hooks(*hooks[-1])
    return made


SavedOfFunction.__name__ = "SavedTensor"  # as PyTorch names both
