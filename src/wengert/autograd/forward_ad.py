"""``torch.autograd.forward_ad``: forward mode by dual tensors, within a ``dual_level``.

A dual tensor's payload is a ``Dual``, as inside ``torch.func.jvp``. But here the user holds dual tensors and records
them: they have ``requires_grad``, ``autograd.grad`` accepts them, and when the level ends they become ordinary tensors.

NOTE [ Dual tensors and the tape ]
The tape is inside: primal and tangent are Tensors with their own histories, so reverse over forward
(``unpack_dual(y).tangent.backward()``) needs no special code. For forward over reverse (``autograd.grad`` of a dual
tensor) every primal is on the tape, as a hidden leaf if necessary. The primals' tape computes the gradient with
``create_graph``, and two more passes over it compute the gradient's tangent: ``g -> u dg/dx -> (dg/dx) v``.
"""

from __future__ import annotations

import weakref
from contextvars import ContextVar
from functools import partial
from itertools import repeat
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary, WeakSet

import numpy as np

import wengert as torch

from .._arrays.memory import unlocked
from .._base import modes
from .._base.errors import noted
from .._base.grad_mode import _ModeDecorator, grad_mode
from .._base.torch_function import DISABLED, _disabled_torch_dispatch_impl
from .._payloads.transforms import DEPTH, Batched, Constant, Dual, new_tag, no_tangents
from .._tape import graph, properties, replaced
from .._tape.conjugates import flags
from .._tape.delivery import accumulate
from .._tape.error_text import not_a_tensor
from .._tape.node import AccumulateGrad, Box, leaf_node, version_of, view_of
from .._tape.tensor import Tensor, alias_payload, current_fn, wrap
from .._tape.view_chain import with_node_name
from .._tape.views import count_write
from ..func._levels import check_tangent, holds, only_leads_to
from .function import in_forward
from .grad_mode import Setting

__all__ = ["UnpackedDualTensor", "dual_level", "enter_dual_level", "exit_dual_level", "make_dual", "unpack_dual"]


class UnpackedDualTensor(NamedTuple):
    """The result of ``unpack_dual``: the value, and its tangent or ``None``."""

    primal: Tensor
    tangent: Tensor | None


class DualTensor(Tensor):
    """A tensor of an open level, whose history is that of its primal."""

    __slots__ = ()
    __torch_function__ = DISABLED
    _tangent: Tensor  # the tangent as a tensor, once somebody has seen it

    @property
    def requires_grad(self) -> bool:
        """Whether the primal depends on leaves other than the level's hidden ones."""
        return self._node is not None or _visible(self._payload)

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        properties.set_requires_grad(self, value)

    @property
    def is_leaf(self) -> bool:
        """False for results of operations on tensors that require grad."""
        return not self.requires_grad

    @property
    def data(self) -> Tensor:
        """The primal without history."""
        return unpack_dual(self).primal.detach()

    @data.setter
    def data(self, value: Tensor) -> None:
        properties.set_data(self, value)

    @property
    def grad_fn(self) -> Any:
        """The node of the primal."""
        inner = _tracked(self._payload)
        return inner.grad_fn if inner is not None and _visible(self._payload) else None

    def __repr__(self, *, tensor_contents: Any = None) -> str:  # type: ignore[override]
        from .._tensor_api.protocol import text_of

        primal, tangent = _parts(self, _level())
        if tangent is None or not isinstance(primal._payload, (np.ndarray, np.generic)):
            return text_of(primal if tangent is None else self)
        return text_of(wrap(Dual(primal._payload, tangent, 0), primal._node))

    @property
    def _version(self) -> int:
        """The number of writes to the primal's memory."""
        return unpack_dual(self).primal._version

    def as_strided(self, size: Any, stride: Any, storage_offset: int | None = None) -> Tensor:
        """``Tensor.as_strided`` of the primal and of the tangent, which ``make_dual`` laid out alike."""
        value, level = self._payload, _level()
        assert level is not None
        parts = (_plain(p).as_strided(size, stride, storage_offset) for p in (value.v, value.t) if p is not None)
        inner = [p if p._node is not None else p._payload for p in parts]
        return level.adopt(wrap(Dual(inner[0], inner[1] if len(inner) > 1 else None, level.tag)))

    def storage(self) -> Any:
        """The primal's storage."""
        return unpack_dual(self).primal.storage()

    def untyped_storage(self) -> Any:
        """The primal's storage, as bytes."""
        return unpack_dual(self).primal.untyped_storage()

    def backward(
        self,
        gradient: Any = None,
        retain_graph: Any = None,
        create_graph: bool = False,
        inputs: Any = None,
        *,
        retain_variables: Any = None,
    ) -> None:
        """``Tensor.backward`` for dual tensors: ``.grad`` becomes a dual tensor. The graph is always retained."""
        listed = None if inputs is None else graph._listed_inputs(inputs, "backward")
        backward_of_duals([self], [gradient], create_graph, listed)


class _Level:
    """The level, of which only one can be open: its tag, its dual tensors, and the tensors to convert at its end."""

    end: Any  # a function that closes the level

    def __init__(self) -> None:
        self.tag = new_tag()
        self.duals: WeakKeyDictionary[Any, Tensor] = WeakKeyDictionary()  # primal's node on the tape -> tangent
        self.hidden: WeakSet[Any] = WeakSet()  # hidden leaves for primals
        self.members: list[weakref.ref[Tensor]] = []

    def adopt(self, t: Any, tangent: Tensor | None = None) -> Any:
        """Register a tensor with the level if it is dual; ``tangent`` is the tensor that ``unpack_dual`` returns."""
        if type(t) is Tensor and holds(t, Dual, self.tag):
            if t._payload.dtype.kind in "iub":  # converted to a dtype without derivatives
                v = t._payload.v
                t._payload = v._payload if isinstance(v, Tensor) else v
                return t
            t.__class__ = DualTensor
            self.members.append(weakref.ref(t))
            if not _set_fwd_grad_enabled.value:
                t._payload = Dual(t._payload.v, None, self.tag)
        if tangent is not None and type(t) is DualTensor:
            t._tangent = tangent
        return t

    def free(self) -> None:
        """Make ordinary tensors of the level's; an interrupt waits for the last one."""
        while self.members:
            t = self.members[-1]()
            try:
                if t is not None:
                    _set_free(t, self)
                self.members.pop()
            except BaseException:
                self.free()
                raise


LEVEL: ContextVar[_Level | None] = ContextVar("wengert_dual_level", default=None)


class _set_fwd_grad_enabled(Setting):
    """Set whether results carry tangents, immediately or as a context manager."""

    def __init__(self, mode: bool) -> None:
        super().__init__(mode)
        self.before = no_tangents[:]
        no_tangents[:] = [] if mode else [DEPTH.get()]

    def __exit__(self, *exc: Any) -> None:
        super().__exit__(*exc)
        no_tangents[:] = self.before


def _is_fwd_grad_enabled() -> bool:
    """Whether results carry tangents; those of a custom function's ``forward`` do not."""
    return _set_fwd_grad_enabled.value and not in_forward()


_level = LEVEL.get


# ---- levels
def enter_dual_level() -> int:
    """Open the level; ``dual_level`` does so in a ``with`` block."""
    if _level() is not None:
        raise RuntimeError("Nested forward mode AD is not supported at the moment")
    level = _Level()
    watch, leave = modes.watching(_record, (replaced.payload_replaced, _adopt), (graph.interceptors, _DUALS))
    depth = DEPTH.get()
    level.end = modes.together(partial(LEVEL.set, None), partial(DEPTH.set, depth), leave, level.free)
    modes.begin(modes.together(partial(LEVEL.set, level), partial(DEPTH.set, depth + 1), watch), level.end)
    return 0


def exit_dual_level(*, level: int | None = None) -> None:
    """Close the level: its tensors become ordinary ones, without tangents."""
    now = _level()
    if now is None or level not in (None, 0):
        if level in (None, -1) and now is None:
            raise RuntimeError("Dual level must be a positive number.")
        raise RuntimeError(
            "Trying to exit a forward AD level that was not the last one that was created. This is not supported."
        )
    now.end()


def _set_free(t: Tensor, level: _Level) -> None:
    a = t._payload
    if not (isinstance(a, Dual) and a.tag == level.tag):
        return
    visible = _visible(a, level)
    t.__class__ = Tensor
    a = a.v
    if isinstance(a, Tensor):
        t._payload = a._payload
        t._node = a._node if visible else None
        t._box = a._box if visible else None
        if hasattr(a, "_view") and visible and not hasattr(t, "_view"):
            t._view = a._view
    else:
        t._payload = a
        t._box = None


class dual_level(_ModeDecorator):
    """A context in which dual tensors exist, for forward-mode differentiation.

    >>> import wengert as torch
    >>> import wengert.autograd.forward_ad as fwAD
    >>> with fwAD.dual_level():
    ...     x = fwAD.make_dual(torch.tensor([1., 2.]), torch.ones(2))
    ...     fwAD.unpack_dual(x * x).tangent
    tensor([2., 4.])
    """

    def __enter__(self) -> int:
        return enter_dual_level()

    __exit__ = modes.undoing(map(getattr, iter(LEVEL.get, ...), repeat("end"), repeat(exit_dual_level)).__next__)


def _record(info: Any, args: tuple[Any, ...], proceed: Any) -> Any:
    """The hook on operators: run the operator and register its results."""
    result = proceed()
    level = _level()
    if level is not None:
        for t in result if isinstance(result, (tuple, list)) else (result,):
            if holds(t, Dual, level.tag) and not info.view:
                _own_tangent(t._payload, args, level.tag)
            level.adopt(t)
    return result


def _own_tangent(value: Dual, args: tuple[Any, ...], tag: int) -> None:
    """Copy a result's tangent if it is an operand's, as that of ``x + 1`` is: a write to one is not to both."""
    for a in args:
        if holds(a, Dual, tag) and a._payload.t is value.t and type(value.t) is np.ndarray:
            value.t = value.t.copy()


def _adopt(t: Tensor, old: Any, counted: bool = True) -> None:
    level = _level()
    if level is None:
        return
    if type(t) is DualTensor and isinstance(old, Dual) and not isinstance(t._payload, Dual):  # written by ``eq_``
        t._payload = Dual(t._payload, np.zeros(t._payload.shape, t._payload.dtype), level.tag)
    level.adopt(t)
    if type(t) is DualTensor and isinstance(old, Dual) and old.tag == t._payload.tag == level.tag:
        _write_through(t, old, level)


def _write_through(t: Tensor, old: Dual, level: _Level) -> None:
    """After a write in place put the new primal and tangent into the memory of the old ones, which is the user's.

    Nodes that saved the old primal keep its value.
    """
    new, p = t._payload, _plain(old.v)
    made = _plain(new.v)
    if not leads_out(p, level) and _fits(p._payload, made._payload):
        memory, box, node = p._payload, p._box, current_fn(p)
        if node in level.duals:  # the tangent that this primal had
            level.duals[node] = wrap(np.array(_plain(level.duals[node])._payload))
        cell = version_of(p)
        if box is not None:
            box.a, box.cell = memory.copy(), None
        np.copyto(_open(memory), made._payload)
        new.v = made = wrap(memory, made._node)
        made._box = kept = Box()
        kept.a, kept.cell = memory, cell
        count_write(made)
    if _fits(old.t, new.t):
        np.copyto(_open(old.t), new.t)
        new.t = old.t
        known = getattr(t, "_tangent", None)
        if known is not None:
            count_write(known)


def _open(memory: Any) -> Any:
    """The array in a form that can be written: those of inference tensors are locked."""
    return memory if memory.flags.writeable else unlocked(memory)


def _fits(a: Any, b: Any) -> bool:
    """Whether an array can be written into another one's memory."""
    return type(a) is np.ndarray is type(b) and a is not b and a.shape == b.shape and a.dtype is b.dtype


# ---- dual tensors
def make_dual(tensor: Tensor, tangent: Tensor, *, level: int | None = None) -> Tensor:
    """A dual tensor with the value of ``tensor`` and a tangent, which operations on it propagate.

    Backward passes go through it to both.
    """
    now = _level()
    if now is None or (level is not None and level < 0):
        raise RuntimeError(
            "Trying to create a dual Tensor for forward AD but no level exists, make sure to enter_dual_level() first."
        )
    if level is not None and level > 0:
        raise RuntimeError("Invalid level given to _make_dual")
    for t, what in ((tensor, "primal"), (tangent, "tangent")):
        if not (t.is_floating_point() or t.is_complex()):
            raise ValueError(f"Expected {what} to be floating point or complex, but got: {t.dtype}")
    if holds(tensor, Dual, now.tag):
        if tensor._payload.t is not None:
            raise RuntimeError(
                "Making a dual Tensor based on a Tensor that already has a forward gradient at the same level 0 is not "
                "supported."
            )
        tensor = _plain(tensor._payload.v)
    if holds(tangent, Dual, now.tag) and tangent._payload.t is not None:
        raise RuntimeError(
            "Setting a forward grad that itself has a forward gradient at the same level0 is not supported."
        )
    dispatch = getattr(type(tensor), "__torch_dispatch__", _disabled_torch_dispatch_impl)
    if dispatch is not _disabled_torch_dispatch_impl and type(tensor._payload) is np.ndarray:  # the class is asked
        tensor = dispatch(torch.ops.aten.alias.default, (type(tensor),), (tensor,), {})
    check_tangent(tensor, tangent)
    if not _same_layout(tensor, tangent):
        tangent = _laid_out(tangent, tensor)
    return now.adopt(wrap(dual_of(tensor, tangent, now)), tangent)


def dual_of(tensor: Tensor, tangent: Tensor, level: _Level) -> Dual:
    """The value of a new dual tensor, whose primal is on the tape."""
    primal = _on_tape(tensor, level)
    level.duals[current_fn(primal)] = tangent
    return Dual(primal, tangent if current_fn(tangent) is not None else tangent._payload, level.tag)


def _same_layout(tensor: Tensor, tangent: Tensor) -> bool:
    """Whether views of the tangent can be made as those of the tensor are; otherwise the level copies it."""
    a, b = tensor._payload, tangent._payload
    if type(a) is np.ndarray and isinstance(b, Batched) and type(b.v) is np.ndarray:  # one tangent for each example
        return not a.size or tensor.stride() == wrap(b.v).stride()[1:]
    if type(a) is not np.ndarray or type(b) is not np.ndarray or not a.size:
        return True
    pairs = zip(a.shape, tensor.stride(), tangent.stride(), strict=True)
    if any(n != 1 and s != t for n, s, t in pairs) or tensor.storage_offset() != tangent.storage_offset():
        return False
    if flags(tensor) != flags(tangent):
        return False
    sizes = (t.untyped_storage().nbytes() // t._payload.itemsize for t in (tensor, tangent))
    return len(set(sizes)) == 1


def _laid_out(tangent: Tensor, tensor: Tensor) -> Tensor:
    """A copy of the tangent whose elements lie in its memory as the tensor's lie in its own."""
    if isinstance(tangent._payload, Batched):
        return tangent.clone()
    size = tensor.untyped_storage().nbytes() // tensor._payload.itemsize
    memory = wrap(np.zeros(size, tangent._payload.dtype))
    places = memory.as_strided(tensor.shape, tensor.stride(), tensor.storage_offset())
    return places.copy_(tangent)


def _on_tape(tensor: Tensor, level: _Level) -> Tensor:
    if current_fn(tensor) is not None:
        with grad_mode(True):
            return tensor.view_as(tensor)
    primal = _alias(tensor)
    level.hidden.add(leaf_node(primal))
    return primal


def _alias(tensor: Tensor) -> Tensor:
    """A tensor on the same memory, with the same count of writes and without history."""
    made = wrap(alias_payload(tensor))
    if type(made._payload) is np.ndarray:
        made._box = box = Box()
        box.a, box.cell = made._payload, version_of(tensor)
    return made


def _plain(p: Any) -> Tensor:
    return p if isinstance(p, Tensor) else wrap(p)


def unpack_dual(tensor: Tensor, *, level: int | None = None) -> UnpackedDualTensor:
    """``(primal, tangent)`` of a tensor; the tangent is ``None`` if it has none."""
    now = _level()
    if now is not None and level is not None and level > 0:
        raise RuntimeError("Invalid level given to _fw_primal")
    if now is not None and not isinstance(tensor, Tensor):
        raise not_a_tensor("_unpack_dual", "dual", 1, tensor)
    if now is None or (level is not None and level < 0):
        return UnpackedDualTensor(tensor, None)
    primal, tangent = _parts(tensor, now)
    return UnpackedDualTensor(with_node_name(primal.view_as(primal), "torch::autograd::Identity"), tangent)


def _parts(tensor: Tensor, now: _Level | None) -> tuple[Tensor, Tensor | None]:
    a = tensor._payload
    while tensor._node is None and isinstance(a, (Constant, Tensor)):  # results of operators on constants in a level
        tensor = _plain(a.v) if isinstance(a, Constant) else a
        a = tensor._payload
    if now is None or not isinstance(a, Dual) or a.tag != now.tag:
        return tensor, None
    return shown(a.v, now), tangent_of(tensor)


def tangent_of(t: Tensor) -> Tensor | None:
    """The tangent of a dual tensor: the same tensor each time, and the one that ``make_dual`` was given."""
    p = t._payload.t
    if p is None:
        return None
    level = _level()
    if level is None or t._payload.tag != level.tag or type(t) is not DualTensor:
        return _plain(p)
    known = getattr(t, "_tangent", None)
    if known is not None and (p is known or p is known._payload):
        return known
    view = view_of(t)
    if view is not None and type(view[0]) is DualTensor and holds(view[0], Dual, level.tag):
        made = _tangent_of_view(t, tangent_of(view[0]), view)
    else:
        made = shown(p, level)
    t._tangent = made
    return made


def _tangent_of_view(t: DualTensor, above: Tensor | None, view: tuple[Any, ...]) -> Tensor:
    """The tangent of a view of a dual tensor: a view of that one's tangent, or the same one for the same geometry."""
    parent, info, p, _ = view
    if above is None:
        return _plain(t._payload.t)
    if info.name in ("view", "expand", "reshape") and t.shape == parent.shape:
        made = above
    else:
        made = info.op(above, *p) if info.outputs == 1 else info.op(above, *p[:-1])[p[-1]]
    t._payload = Dual(t._payload.v, made if made._node is not None else made._payload, t._payload.tag)
    return made


def shown(p: Any, level: _Level) -> Tensor:
    """The primal or tangent of a dual tensor for the user, without the level's hidden leaves."""
    t = _plain(p)
    if t._node is not None and not leads_out(t, level):
        return _alias(t)
    return t


def leads_out(t: Tensor, level: _Level) -> bool:
    return t._node is not None and not only_leads_to([current_fn(t)], level.hidden)


def _tracked(a: Any) -> Tensor | None:
    """The primal of a dual payload, if it is on a tape."""
    while isinstance(a, Dual):
        a = a.v
    return a if isinstance(a, Tensor) and a._node is not None else None


def _visible(a: Any, level: _Level | None = None) -> bool:
    level = _level() if level is None else level
    inner = _tracked(a)
    return inner is not None and level is not None and leads_out(inner, level)


# ---- backward through dual tensors
def _inner(t: Any, tag: int) -> Any:
    """The tensor on the tape that represents an output, an input or a cotangent."""
    while holds(t, Dual, tag):
        t = _plain(t._payload.v)
    return t


def _asked(t: Any, level: _Level) -> Any:
    """An output or input as ``_inner`` gives it, without history if only the level's hidden leaves are behind it."""
    inner = _inner(t, level.tag)
    return inner if inner is t or t.requires_grad else shown(inner, level)


def involves_duals(values: Any) -> bool:
    """Whether these roots, inputs or cotangents are dual tensors."""
    level = _level()
    return level is not None and any(isinstance(t, DualTensor) for t in values)


def grad_of_duals(
    outputs: list[Any], inputs: list[Any], grads: list[Any], keep: bool, create_graph: bool
) -> list[Tensor | None]:
    """``autograd.grad`` if some tensors are dual; the gradients are dual too."""
    level = _level()
    assert level is not None
    tag = level.tag
    roots = graph._roots([_asked(y, level) for y in outputs], [_inner(g, tag) for g in grads], True)
    nodes = [graph._input_node(_asked(x, level)) for x in inputs]
    found = graph._run(roots, True, True, nodes, returned=True)
    return [None if g is None else _with_tangent(g, level, create_graph) for g in found]


def _with_tangent(g: Tensor, level: _Level, create_graph: bool) -> Tensor:
    with grad_mode(True):
        tangent = _tangent_of(g, level)
    primal = g
    if not create_graph:
        primal = wrap(g._payload)
        tangent = None if tangent is None else tangent.detach()
    if tangent is None:
        return primal if leads_out(primal, level) else wrap(primal._payload)
    if primal._node is None:
        return make_dual(primal, tangent)
    inner = tangent if tangent._node is not None else tangent._payload
    return level.adopt(wrap(Dual(primal, inner, level.tag)))


def _tangent_of(g: Tensor, level: _Level) -> Tensor | None:
    """The tangent of a tensor on the primals' tape, from the tangents of all dual tensors."""
    if current_fn(g) is None or not level.duals:
        return None
    u = wrap(np.zeros(g._payload.shape, g._payload.dtype))
    leaf_node(u)
    duals = list(level.duals.items())
    pulled = graph._run(graph._roots([g], [u], True), True, True, [node for node, _ in duals], returned=True)
    pairs = [(s, v) for s, (_, v) in zip(pulled, duals, strict=True) if s is not None and s._node is not None]
    if not pairs:
        return None
    (t,) = graph.grad([s for s, _ in pairs], u, [v for _, v in pairs], create_graph=True, allow_unused=True)
    return t


def backward_of_duals(tensors: list[Any], grads: list[Any], create_graph: bool, inputs: list[Any] | None) -> None:
    """``autograd.backward`` if some tensors are dual."""
    level = _level()
    if level is None:
        raise noted(RuntimeError("backward() of a dual tensor outside of its level"))
    if inputs is None:
        targets = _leaves([current_fn(_inner(t, level.tag)) for t in tensors], level)
    else:
        targets = inputs
    found = grad_of_duals(tensors, targets, grads, True, create_graph)
    for t, g in zip(targets, found, strict=True):
        node = current_fn(_inner(t, level.tag))
        if g is not None and type(node) is AccumulateGrad:
            accumulate(node, g if create_graph else g._payload, create_graph)


def _leaves(roots: list[Any], level: _Level) -> list[Tensor]:
    seen = set(roots)
    stack = [n for n in roots if n is not None]
    leaves = []
    while stack:
        n = stack.pop()
        if type(n) is AccumulateGrad:
            if n not in level.hidden:
                leaves.append(n.variable)
            continue
        for m in n._edges():
            if m is not None and m not in seen:
                seen.add(m)
                stack.append(m)
    return leaves


_DUALS = graph.Interceptor(involves_duals, backward_of_duals, grad_of_duals)


def __getattr__(name: str) -> int:
    if name == "_current_level":  # PyTorch's count of open levels, from -1
        return -1 if _level() is None else 0
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
