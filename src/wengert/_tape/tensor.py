"""The class Tensor: a payload, the node that made it, and rare metadata.

``_payload``
    a NumPy array (a NumPy scalar for a 0-dimensional result), another library's array, or the value of a transform
    (``Dual``, ``Batched``)
``_node``
    the node that made it, ``None`` if it needs no gradient; a leaf's is its ``AccumulateGrad``
``_box``
    its ``Box``, made when the tensor is first saved, written or aliased
``_view``
    for a view (parent, operator, parameters, how it was made); unset otherwise

``_tensor_api.publish`` attaches the operators and most methods, which the ``_ops`` modules declare;
``_tape.properties`` attaches those that need the graph (``grad``, ``data``, ...).
"""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np
from numpy import ndarray

from .._base.dtypes import BY_NUMPY, SIZES, device
from .._base.hooks import hook
from .._base.torch_function import DISABLED, subclassed, taken_over
from .node import LEAVES, Box, Node, Port, box_of, version_of, view_of

new: Any = object.__new__
CPU = device("cpu")
META = device("meta")


class TensorMeta(type):
    """The metaclass of ``Tensor``: it makes ``Tensor(3, 4)`` the legacy constructor.

    ``Tensor`` has no ``__new__`` in Python, so operators make their results at C speed (``make``). A subclass inherits
    ``__new__`` from a mixin, for ``super().__new__(cls, data)``.
    """

    def __new__(mcls, name: str, bases: tuple[type, ...], members: dict[str, Any], **kwargs: Any) -> Any:
        if any(base.__dict__.get("_is_root", False) for base in bases):
            bases = (*bases, _LegacyNew)
        cls = super().__new__(mcls, name, bases, members, **kwargs)
        if "__torch_dispatch__" in members and "__torch_function__" not in vars(cls):
            if getattr(cls.__torch_function__, "__func__", None) is Tensor.__dict__["__torch_function__"].__func__:
                cls.__torch_function__ = staticmethod(DISABLED)  # as in PyTorch: such a class is asked below autograd
        if "_is_root" not in members and getattr(cls, "__torch_function__", DISABLED) is not DISABLED:
            subclassed.run(cls)
        return cls

    def __setattr__(cls, name: str, value: Any) -> None:
        type.__setattr__(cls, name, value)
        if name == "__torch_function__" and cls.__torch_function__ is not DISABLED:  # a class may get it later
            subclassed.run(cls)

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        if cls.__dict__.get("_is_root", False):
            return _LegacyNew.__new__(cls, *args, **kwargs)
        return type.__call__(cls, *args, **kwargs)

    def __repr__(cls) -> str:
        # classes print as in PyTorch, under the names that users import
        package, _, module = cls.__module__.partition(".")
        if package != __package__.partition(".")[0]:
            return type.__repr__(cls)
        return f"<class 'torch.{cls.__qualname__ if module == '_tensor' else f'{module}.{cls.__qualname__}'}'>"


@hook
def construct(cls: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """``Tensor(3, 4)``, ``Tensor([1., 2.])``, ..., also for subclasses. Set by ``_tensor_api.legacy_types``."""


class _LegacyNew:
    __slots__ = ()

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        return construct.run(cls, args, kwargs)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        pass


def _looked_up(self: Tensor) -> Node | None:
    try:
        return current_fn(self)
    except RuntimeError:  # made under no_grad, and its base was written later: it has no history
        return None


def _of_recorded(view: tuple[Any, ...]) -> bool:
    """Whether the base of a view without a history has one: PyTorch calls such a view a leaf that requires grad.

    Such a view was made under ``no_grad``, or before its base required grad. Operators on it are not recorded.
    """
    base = view[0]
    while (further := view_of(base)) is not None:
        base = further[0]
    return base._node is not None and not (base._box is not None and getattr(base._box.cell, "read_only", False))


class Tensor(metaclass=TensorMeta):
    """A multi-dimensional array that can record the operators applied to it.

    Made by ``tensor``, ``zeros``, ... or, as in old programs, ``Tensor(3, 4)`` (uninitialised) and ``Tensor([1.])``.

    >>> import wengert as torch
    >>> w = torch.tensor([1., 2.], requires_grad=True)
    >>> (w * w).sum().backward()
    >>> w.grad
    tensor([2., 4.])
    """

    __slots__ = ("__dict__", "__weakref__", "_payload", "_node", "_box", "_view")
    _payload: Any
    _node: Node | None
    _box: Box | None
    _view: tuple[Any, ...]

    _is_root = True
    __array_priority__ = 1000

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """The default for subclasses: run the function on tensors and return instances of the subclass."""
        return taken_over.run(cls, func, types, args, kwargs)

    # ---- facts
    @property
    def shape(self) -> Any:
        """The size of each dimension.

        >>> import wengert as torch
        >>> torch.ones(2, 3).shape
        torch.Size([2, 3])
        """
        return SIZES[self._payload.shape]

    @property
    def dtype(self) -> Any:
        """The element type, such as ``torch.float32``."""
        return BY_NUMPY[self._payload.dtype]

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return self._payload.ndim

    @property
    def device(self) -> device:
        """The tensor's device: ``device(type='cpu')``, or ``device(type='meta')`` for a tensor without data."""
        return CPU if type(self._payload) is ndarray else device_of(self._payload)

    @property
    def requires_grad(self) -> bool:
        """Whether operators on this tensor are recorded."""
        if self._node is not None and not stale_views:
            return True
        a = self._payload
        if type(a) is not ndarray or a.base is None:  # not a view
            return current_fn(self) is not None if stale_views else False
        view = view_of(self)
        if view is None:
            return self._node is not None
        return (bool(stale_views) and _looked_up(self) is not None) or _of_recorded(view)

    @property
    def is_leaf(self) -> bool:
        """True for a tensor that the user made or that needs no gradient."""
        if not stale_views:
            return type(self._node) in LEAVES
        a = self._payload
        if type(a) is ndarray and a.base is None:  # not a view
            return type(current_fn(self)) in LEAVES
        return self.grad_fn is None  # which may refuse a view

    @property
    def grad_fn(self) -> Node | None:
        """The node that made this tensor; ``None`` for a leaf."""
        a = self._payload
        no_view = type(a) is ndarray and a.base is None
        fn = self._node if no_view and not stale_views else shown_fn(self)
        if type(fn) in LEAVES:
            if no_view:
                return None
            view = view_of(self)
            if view is not None and _of_recorded(view):
                from .views import refuse_written

                refuse_written(self)
            return None
        return (fn.fx if type(fn) is Port else fn).looked_at()

    @property
    def output_nr(self) -> int:
        """The index of this tensor among its node's outputs."""
        fn = self._node
        return fn.k if type(fn) is Port else 0

    @property
    def _version(self) -> int:
        box = self._box
        if box is None:
            if view_of(self) is None:
                return 0
            box = box_of(self)
        return 0 if box.cell is None else box.cell.shown()


def device_of(a: Any) -> device:
    """The device of a payload, or of the payload inside a transform's value."""
    while not isinstance(a, (np.ndarray, np.generic)):
        if getattr(a, "is_meta", False):
            return META
        if getattr(a, "is_traced", False):  # its elements are not to be asked for
            return CPU
        if getattr(a, "is_foreign", False):
            return a.place
        inner = a._payload if isinstance(a, Tensor) else getattr(a, "v", None)
        if inner is None:  # a sparse array
            break
        a = inner
    return CPU


def in_memory(a: Any) -> Any:
    """The payload whose order in memory counts: the array of one that is traced (``_compile.traced``), else itself."""
    return a.array if getattr(a, "is_traced", False) else a


make: Any = type.__call__.__get__(Tensor)  # a bare Tensor: the caller sets its slots


def wrap(a: Any, fn: Node | None = None) -> Tensor:
    """A Tensor on a payload."""
    t = make()
    t._payload = a
    t._node = fn
    t._box = None
    return t


def tensor_on(a: Any, fn: Node | None = None) -> Tensor:
    """``wrap``, which gives for the payload of a wrapper subclass the wrapper."""
    return wrap(a, fn) if type(a) is ndarray or not hasattr(a, "tensor") else a.tensor(fn)


def payload_like(a: Any, make: Any) -> Any:
    """A payload nested like another one, on the array ``make(shape, dtype)``, such as ``np.zeros`` or ``np.ones``."""
    while isinstance(a, Tensor):
        a = a._payload
    nested = getattr(a, "payload_like", None)
    return make(a.shape, a.dtype) if nested is None else nested(make)


def note_view(base: Tensor, view: Tensor) -> None:
    """Note a view of a transform's value: it shares no memory, so a write to the base must update it."""
    views = base.__dict__.setdefault("_views", [])
    if len(views) & 31 == 31:
        views[:] = [ref for ref in views if ref() is not None]
    views.append(weakref.ref(view))


def shared_payload(tensor: Tensor, alias: Tensor, counted: bool) -> Any:
    """``alias_payload`` for a tensor that is no view and has no history, neither of a transform.

    While a call is recorded, a write to either is one to the other. ``counted``: whether the two have one version
    count.
    """
    a = alias_payload(tensor)
    a = getattr(a, "constant", a)
    if getattr(a, "is_traced", False):
        note_view(tensor, alias)
        alias.__dict__["_alias_of"] = tensor, counted
    return a


def alias_payload(tensor: Tensor, view: Tensor | None = None) -> Any:
    """The payload in a form whose memory can be shared: a NumPy scalar is replaced by a 0-dimensional array.

    ``view``: the tensor that will share it.
    """
    a = tensor._payload
    if isinstance(a, np.generic):
        a = tensor._payload = np.array(a)
        if tensor._box is not None:
            tensor._box.a = a
            if getattr(tensor._box.cell, "read_only", False):
                a.flags.writeable = False
    elif view is not None and hasattr(a, "tag"):
        note_view(tensor, view)
    return a


def given_away(tensor: Tensor) -> Any:
    """``alias_payload`` for what shares the memory in ways that no recording of the call can follow: that ends."""
    a = alias_payload(tensor)
    if getattr(a, "is_traced", False):
        a.tracer.stop("the memory of a tensor is given away")
        a = alias_payload(tensor)
    return a


stale_views: dict[int, Any] = {}  # memory with views whose history may be out of date; see ``views``


def current_fn(tensor: Tensor) -> Node | None:
    """The tensor's node, refreshed first if the tensor is a view of memory that was written later."""
    if stale_views:
        from .views import refresh

        refresh(tensor)
    return tensor._node


def shown_fn(tensor: Tensor) -> Node | None:
    """``current_fn`` where a program looks at it: a view whose memory was written unrecorded gets a new node, too."""
    fn = current_fn(tensor)
    if fn is not None and view_of(tensor) is not None and fn._seq < version_of(tensor)._seq:
        from .views import regenerate

        regenerate(tensor)
    return tensor._node
