"""Tensor subclasses without memory of their own: ``Tensor._make_wrapper_subclass`` and ``__torch_dispatch__``.

A wrapper's payload is ``Wrapped``, a ``Transformed`` that no transform made: the hot path's test of dtypes leads
operators on it to ``transforms.bind``, which ends in ``Wrapped.computed``. There the class is asked, below autograd:
the operator around it makes the node and saves payloads, and derivative formulas ask the class too. While there are
wrappers, a hook on operators (``_base.modes``) makes the tensor that the class returned the operator's result.
"""

from __future__ import annotations

import weakref
from contextvars import ContextVar
from typing import Any

import numpy as np

from .._base import dtypes
from .._base.aten_names import aten_name
from .._base.grad_mode import grad_mode
from .._base.modes import Watched, writes
from .._base.registry import PUBLIC, TRANSFORMED, XP, Operator
from .._base.torch_function import _disabled_torch_dispatch_impl
from .._payloads.meta import dense_strides
from .._payloads.transforms import DEEPEST, VALUE_DTYPES, Transformed, level_of, plain_dtype
from .._tape.node import leaf_node
from .._tape.properties import check_floating
from .._tape.tensor import Tensor, new, wrap
from .._tensor_api.copying import slots_of
from .._tensor_api.torch_function import _insert
from ._aten import NOTHING, aten, intercepted, overload_name
from ._aten_calls import COMPOSED, asked_as, cast_answer

_DEPTH = DEEPEST + 0x100  # a depth that no transform and no other payload has
_asked: ContextVar[tuple[Any, tuple[Any, ...], list[Any]]] = ContextVar("wengert_wrapped_call", default=(None, (), []))
"""The operator of wengert that the program called, its arguments, and a place for the tensor that the class returned:
it is the operator's result, the same object, if it lives until then."""


class Wrapped(Transformed):
    """The metadata of a wrapper, and what its tensor is made of again when only this is left of it.

    The wrapper holds the payload and not the other way around. What its class has in slots would be lost with it:
    ``kept`` is what was there when an operator last had the wrapper as an operand or a result.
    """

    __slots__ = ("_dtype", "_shape", "cls", "kept", "owner", "place", "state", "strides", "watch")
    is_foreign = True  # its memory is elsewhere, and is written in place
    tag = 0

    def __init__(self, owner: Tensor, shape: tuple[int, ...], dtype: Any, strides: Any, place: Any) -> None:
        self._shape, self._dtype, self.strides, self.place = shape, VALUE_DTYPES[dtype, _DEPTH], strides, place
        self.cls, self.state, self.owner = type(owner), owner.__dict__, weakref.ref(owner)
        self.kept: dict[str, Any] = {}
        self.watch = _wrappers.mark()

    v = property(lambda self: None)
    shape = property(lambda self: self._shape)
    dtype = property(lambda self: self._dtype)
    itemsize = property(lambda self: self._dtype.itemsize)
    nbytes = property(lambda self: self.size * self.itemsize)

    def tensor(self, fn: Any = None) -> Tensor:
        """The wrapper that has this payload, or one that is equal to it; ``fn``: with this history."""
        t: Any = self.owner()
        if t is None or t._payload is not self:
            t = new(self.cls)
            for name, value in self.kept.items():
                setattr(t, name, value)
            t.__dict__ = self.state
            t._payload, t._node, t._box = self, None, None
            self.owner = weakref.ref(t)
        if fn is not None and t._node is not fn:
            t = copy_of(t)
            t._node = fn
        return t  # type: ignore[no-any-return]

    def asked(self, name: str, *args: Any, **kwargs: Any) -> Any:
        """What the class answers for an operator that wengert has no declaration of."""
        name, _, overload = name.partition(".")
        return dispatch(getattr(getattr(aten, name), overload or "default"), (self.tensor(), *args), kwargs)

    def lifted(self, g: Tensor) -> Tensor:
        """A cotangent of this that is no wrapper, as one."""
        return g if isinstance(g._payload, Wrapped) else wrap(self.payload_like(np.zeros)) + g

    def payload_like(self, make: Any) -> Any:
        return self.asked({"zeros": "zeros_like", "ones": "ones_like"}.get(make.__name__, "empty_like"))._payload

    def copy(self) -> Any:
        """A copy on memory of its own."""
        return self.asked("clone")._payload

    own = copy  # a gradient's memory is its tensor's alone

    def write(self, a: Any) -> None:
        """Write the elements of another tensor into this one's memory."""
        if a is not self:
            self.asked("copy_", shown(a))

    def fill(self, value: Any) -> None:
        """Write a number to all elements."""
        self.asked("fill_.Scalar", value)

    def astype(self, dtype: Any, copy: bool = True) -> Any:
        """Convert to another dtype."""
        if plain_dtype(dtype) is self._dtype.base_dtype:
            return self
        return self.asked("_to_copy", dtype=dtypes.BY_NUMPY[dtype])._payload

    def item(self) -> Any:
        """The one element as a Python number."""
        return self.asked("_local_scalar_dense")

    def numpy(self) -> Any:
        """The elements, each asked for."""
        flat = self.tensor().detach().reshape(-1).unbind() if self.shape else ()
        numbers = [t.item() for t in flat] if self.shape else self.item()
        return np.array(numbers, self._dtype.base_dtype).reshape(self.shape)

    def all(self) -> bool:
        """Whether all elements are true."""
        return bool(self.tensor().all())

    @staticmethod
    def computed(info: Operator, operands: list[Any], p: tuple[Any, ...]) -> Any:
        """Ask the class of an operand for the result of an operator."""
        called, args, returned = _asked.get()
        if called is not info:
            given = [shown(a) for a in operands]
            args = (*given, *p) if info.arity >= 0 else (given, *p)
        if any(isinstance(a, Wrapped) for a in operands):
            out = dispatch(*asked_as(info, args), (info, args))
            if called is info:
                returned.append(out)
        else:  # a cotangent and a saved value that were both beside wrappers
            with grad_mode(False):
                out = info.op(*args)
        return out._payload if isinstance(out, Tensor) else tuple(t._payload for t in out)

    @staticmethod
    def with_dense(info: Operator, *args: Any) -> Any:
        """Run an operator on tensors of which only some are wrappers."""
        operands = args[: info.arity] if info.arity >= 0 else args[0]
        beside = [_beside(t) for t in operands]
        return info.op(*beside, *args[len(beside) :]) if info.arity >= 0 else info.op(beside, *args[1:])


class _Beside(Transformed):
    """The payload of a tensor ``v`` that is no wrapper, as an operand beside one."""

    __slots__ = ()
    is_foreign = True
    tag = 0
    computed = Wrapped.computed

    def __init__(self, v: Tensor) -> None:
        self.v = v

    dtype = property(lambda self: VALUE_DTYPES[self.v._payload.dtype, _DEPTH])
    place = property(lambda self: self.v.device)


def _beside(t: Any) -> Any:
    if not isinstance(t, Tensor) or isinstance(t._payload, (Wrapped, _Beside)):
        return t
    made = wrap(_Beside(t), t._node)
    made._box = t._box
    return made


XP[Wrapped] = XP[_Beside] = TRANSFORMED


# ---- asking classes
def shown(a: Any) -> Any:
    """An argument as ``__torch_dispatch__`` gets it: for a payload, or a tensor that has its payload, the wrapper."""
    kind = type(a)
    if kind is list or kind is tuple:
        return kind(map(shown, a))
    inner = a._payload if isinstance(a, Tensor) else a
    if isinstance(inner, Wrapped):
        return a if type(a) is inner.cls else inner.tensor()
    if isinstance(inner, _Beside):
        return inner.v
    return wrap(a) if isinstance(a, (np.ndarray, np.generic)) else a


def dispatch(op: Any, args: tuple[Any, ...], kwargs: dict[str, Any], call: Any = None) -> Any:
    """The first answer that is not ``NotImplemented``, of the arguments' classes; ``call``: wengert's operator's."""
    found: list[Any] = []
    for a in args:
        for t in a if type(a) in (list, tuple) else (a,):
            if isinstance(t, Tensor) and isinstance(t._payload, Wrapped):
                _insert(found, t)
                _keep_slots(t)
    kinds = tuple(map(type, found))
    asked, before = _asked.set((None, (), [])), intercepted.set((op, *call, (args, kwargs)) if call else NOTHING)
    writing = getattr(writes, "op", None)
    try:
        writes.op = None
        with grad_mode(False):
            for cls in kinds:
                out = cls.__torch_dispatch__(op, kinds, args, kwargs)  # type: ignore[attr-defined]
                if out is not NotImplemented:
                    if call is not None:
                        cast_answer(op, out, call[0].outputs, "")
                    for t in out if type(out) in (list, tuple) else (out,):
                        if isinstance(t, Tensor) and isinstance(t._payload, Wrapped):
                            _keep_slots(t)
                    return out
    finally:
        _asked.reset(asked)
        intercepted.reset(before)
        writes.op = writing
    return cast_answer(op, NotImplemented, 1, "".join(f"  - tensor subclass {cls!r}\n" for cls in kinds))


def _around(info: Operator, args: tuple[Any, ...], proceed: Any) -> Any:
    """The hook on operators: a call with wrappers results in the tensors that their class made."""
    tensors = [t for a in args for t in (a if type(a) in (list, tuple) else (a,)) if isinstance(t, Tensor)]
    if not any(isinstance(t._payload, Wrapped) for t in tensors) or any(map(level_of, tensors)):
        return proceed()  # under a transform the classes are asked inside of it, about what is left of the arguments
    composed = COMPOSED[info.name](*args) if info.name in COMPOSED else NotImplemented
    if composed is not NotImplemented:
        return composed
    given = shown(args)
    writing = getattr(getattr(writes, "op", None), "__name__", None)
    if writing is not None and not any(t._node is not None for t in tensors):
        name = f"{aten_name(info)}_"
        whole = writing == info.name or info.name in ("copy", "fill_number")  # not a part of a composed function
        if whole and name in PUBLIC["Tensor"] and isinstance(tensors[0]._payload, Wrapped):
            dispatch(getattr(getattr(aten, name), overload_name(info, args)), given, {})
            return args[0]
    returned: list[Any] = []  # lives until the result is found below
    before = _asked.set((info, given, returned))
    try:
        result = proceed()
    finally:
        _asked.reset(before)
    if isinstance(result, Tensor):
        return _adopted(result, tensors)
    return type(result)([_adopted(t, tensors) for t in result]) if type(result) in (list, tuple) else result


_wrappers = Watched(_around)  # not empty while there are wrappers


def _adopted(t: Tensor, operands: list[Tensor]) -> Tensor:
    """The wrapper of which an operator's result has the payload, with the result's history."""
    if type(t) is not Tensor or not isinstance(t._payload, Wrapped):
        return t
    owner = t._payload.tensor()
    if owner._node is not None or any(owner is a for a in operands):  # the class returned what it was given
        owner = copy_of(owner)
    owner._node, owner._box = t._node, t._box
    if hasattr(t, "_view"):
        owner._view = t._view
    return owner


def copy_of(t: Tensor) -> Tensor:
    """Another wrapper with the same payload and attributes."""
    made: Tensor = new(type(t))
    for name, value in slots_of(t).items():
        setattr(made, name, value)
    made.__dict__ = t.__dict__
    made._payload, made._node, made._box = t._payload, None, None
    return made


def _keep_slots(t: Tensor) -> None:
    if t is t._payload.owner():
        t._payload.kept = slots_of(t)


# ---- making wrappers
def make_wrapper_subclass(cls: Any, size: Any, strides: Any, dtype: Any, device: Any, requires_grad: bool) -> Tensor:
    """``Tensor._make_wrapper_subclass``."""
    if not isinstance(cls, type):
        raise TypeError(f"cls must be a type (got {type(cls).__name__})")
    if getattr(cls, "__torch_dispatch__", _disabled_torch_dispatch_impl) is _disabled_torch_dispatch_impl:
        raise TypeError(f"{cls.__name__} must define __torch_dispatch__")
    kind = (dtypes.default_dtype if dtype is None else dtype).np
    shape = tuple(map(int, size))
    steps = dense_strides(shape, kind.itemsize) if strides is None else tuple(n * kind.itemsize for n in strides)
    t: Tensor = new(cls)
    t._payload = Wrapped(t, shape, kind, steps, dtypes.device("cpu" if device is None else device))
    t._node = t._box = None
    if requires_grad:
        check_floating(t, "Only Tensors of floating point and complex dtype")
        leaf_node(t)
    return t
