"""``Parameter`` and ``Buffer``: tensors that a module registers when they are assigned to it, and their lazy forms.

Results of operations on parameters are plain Tensors, and so are ``.data`` and ``.detach()``.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any, Self

import numpy as np

from .._base.aten_names import aten_name
from .._base.dtypes import dtype as Dtype
from .._base.dtypes import get_default_dtype
from .._base.errors import refuse_unknown, refuses_unknown
from .._base.exports import own_names
from .._base.modes import inference_tensors, is_inference_mode_enabled, watching
from .._base.torch_function import DISABLED
from .._tape.inference import is_inference
from .._tape.node import Version, box_of, leaf_node, version_of
from .._tape.properties import as_data, check_floating
from .._tape.tensor import Tensor, TensorMeta, make, new, shared_payload
from .._tensor_api.construct import placed
from .._tensor_api.protocol import PLAIN_NAMES


def _leaf(cls: type, data: Tensor, requires_grad: bool) -> Any:
    """A leaf of a class that shares the memory and the version of ``data``, but not its history."""
    t = new(cls)
    t._payload = shared_payload(data, t, counted=True)
    t._node = t._box = None
    cell: Version = version_of(data)
    box_of(t).cell = cell
    if requires_grad:
        check_floating(t, "Only Tensors of floating point and complex dtype")
        if inference_tensors and is_inference(data) and not is_inference_mode_enabled():
            raise RuntimeError("Setting requires_grad=True on inference tensor outside InferenceMode is not allowed.")
        leaf_node(t)
    return t


def _empty(device: Any, dtype: Dtype | None) -> Tensor:
    t = make()
    t._payload = placed(np.empty(0, (dtype or get_default_dtype()).np), device)
    t._node = t._box = None
    return t


class _ParameterMeta(TensorMeta):
    """An instance of another tensor class counts as a parameter if it was made one."""

    def __instancecheck__(cls, instance: Any) -> bool:
        if type.__instancecheck__(cls, instance):
            return True
        return cls is Parameter and isinstance(instance, Tensor) and getattr(instance, "_is_param", False)


class Parameter(Tensor, metaclass=_ParameterMeta):
    """A tensor that is a parameter of a module: it requires grad, and assigning it to a module registers it.

    It shares the memory of ``data``. ``requires_grad=False`` makes one that is saved and moved, but not trained.

    Raises:
        RuntimeError: the dtype is neither floating nor complex, and ``requires_grad`` is not False.

    >>> import wengert as torch
    >>> torch.nn.Parameter(torch.ones(2))
    Parameter containing:
    tensor([1., 1.], requires_grad=True)
    """

    __torch_function__ = DISABLED

    @refuses_unknown
    def __new__(cls, data: Any = None, requires_grad: bool = True, **unknown: Any) -> Self:
        if unknown:
            refuse_unknown(Parameter.__new__, "Parameter.__new__", unknown)
        if data is None:
            data = _empty(None, None)
        if type(data) is Tensor or type(data) is Parameter:
            return _leaf(cls, data, requires_grad)
        kind = type(data)
        t = data.detach()
        if type(t) is not kind:
            t = t.as_subclass(kind)
        t.requires_grad_(requires_grad)
        t._is_param = True
        return t

    @property
    def data(self) -> Tensor:
        """A plain tensor on the same memory, without history."""
        return as_data(self, make())

    @data.setter
    def data(self, value: Tensor) -> None:
        Tensor.data.fset(self, value)

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        known = memo.get(id(self))
        if known is None:
            known = memo[id(self)] = type(self)(self.data.clone(), self.requires_grad)
        return known

    def __repr__(self, **options: Any) -> str:  # type: ignore[override]
        text = Tensor.__repr__(self)
        return "Parameter containing:" + (text[20:] if text.startswith("Variable containing:") else "\n" + text)


PLAIN_NAMES.add(Parameter)


_waiting: list[object] = []  # one for each uninitialized tensor, as long as it lives
_leaving: list[Callable[[], Any]] = []  # what takes the hook away after the last one


def _refuse_uninitialized(info: Any, args: tuple[Any, ...], proceed: Callable[[], Any]) -> Any:
    """The hook around every operator while there are uninitialized tensors."""
    found = [a for a in args if isinstance(a, UninitializedTensorMixin)]
    if found and info.name not in _ALLOWED:
        raise _uninitialized(found[0], aten_name(info))
    return proceed()


def _uninitialized(t: Any, function: str) -> ValueError:
    return ValueError(
        f"Attempted to use an uninitialized parameter in {function}. This error happens when you are using "
        f"a `LazyModule` or explicitly manipulating `torch.nn.parameter.{type(t).__name__}` objects. When "
        "using LazyModules Call `forward` with a dummy batch to initialize the parameters before calling torch "
        "functions"
    )


_ALLOWED = {"_to_copy", "convert", "detach"}


def _watched(t: Any) -> Any:
    """An uninitialized tensor, on which operators are refused until it gets a shape or dies."""
    if not _waiting:
        watch, leave = watching(_refuse_uninitialized)
        watch()
        _leaving.append(leave)
    t._end_of_watch = end = weakref.finalize(t, _unwatch, key := object())
    end.atexit = False
    _waiting.append(key)
    return t


def _unwatch(key: object) -> None:
    _waiting.remove(key)
    if not _waiting:
        _leaving.pop()()


class UninitializedTensorMixin:
    """Base of parameters and buffers whose shape a lazy module determines at its first call."""

    __slots__ = ()
    cls_to_become: Any = None
    __torch_function__ = DISABLED

    def materialize(self: Any, shape: Any, device: Any = None, dtype: Dtype | None = None) -> None:
        """Allocate uninitialised memory of a shape; the object becomes an ordinary ``Parameter`` or tensor."""
        from .._ops.create.create import empty

        self._payload = empty(
            shape, dtype=dtype or self.dtype, device=self.device if device is None else device
        )._payload
        self._box.a = self._payload
        if self._node is not None:
            self._node.cls = self.cls_to_become
        self.__dict__.pop("_end_of_watch")()
        self.__class__ = self.cls_to_become

    @property
    def shape(self) -> Any:
        """Raises RuntimeError: the shape is not known yet."""
        raise RuntimeError(
            "Can't access the shape of an uninitialized parameter or buffer. This error usually happens in "
            "`load_state_dict` when trying to load an uninitialized parameter into an initialized one. Call `forward` "
            "to initialize the parameters before accessing their attributes."
        )

    def numel(self) -> int:
        """Raises ValueError: the number of elements is not known yet."""
        raise _uninitialized(self, "<method 'numel' of 'torch._C.TensorBase' objects>")

    nelement = numel

    def dim(self) -> int:
        """Raises ValueError: the number of dimensions is not known yet."""
        raise _uninitialized(self, "<method 'dim' of 'torch._C.TensorBase' objects>")

    def share_memory_(self) -> Any:
        """Raises RuntimeError: there is no memory yet."""
        raise RuntimeError(
            "Can't share memory on an uninitialized parameter or buffer. Call `forward` to initialize the parameters "
            "before calling `module.share_memory()`."
        )

    def __repr__(self, **options: Any) -> str:
        return f"<{type(self).__name__}>"

    def __reduce_ex__(self: Any, protocol: Any) -> Any:
        return (type(self), (self.requires_grad,))


def is_lazy(param: Any) -> bool:
    """Whether a parameter or buffer has no shape yet."""
    return isinstance(param, UninitializedTensorMixin)


class UninitializedParameter(UninitializedTensorMixin, Parameter):
    """A parameter without a shape; ``materialize(shape)`` makes it an ordinary one.

    >>> import wengert as torch
    >>> p = torch.nn.UninitializedParameter()
    >>> p
    <UninitializedParameter>
    >>> p.materialize((2, 3))
    >>> p.shape
    torch.Size([2, 3])
    """

    cls_to_become = Parameter

    def __new__(cls, requires_grad: bool = True, device: Any = None, dtype: Dtype | None = None) -> Self:
        return _watched(_leaf(cls, _empty(device, dtype), requires_grad))  # type: ignore[no-any-return]

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        known = memo.get(id(self))
        if known is None:
            known = memo[id(self)] = type(self)(self.requires_grad, None, self.dtype)
        return known


class _BufferMeta(TensorMeta):
    def __instancecheck__(cls, instance: Any) -> bool:
        if type.__instancecheck__(cls, instance):
            return True
        return cls is Buffer and isinstance(instance, Tensor) and getattr(instance, "_is_buffer", False)


class Buffer(Tensor, metaclass=_BufferMeta):
    """A tensor that a module registers as a buffer when it is assigned; ``persistent=False``: not in ``state_dict``.

    >>> import wengert as torch
    >>> m = torch.nn.Module()
    >>> m.mean = torch.nn.Buffer(torch.zeros(2))
    >>> dict(m.named_buffers())
    {'mean': tensor([0., 0.])}
    """

    __torch_function__ = DISABLED

    def __new__(cls, data: Any = None, *, persistent: bool = True) -> Self:
        if data is None:
            data = _empty(None, None)
        t = data.detach().requires_grad_(data.requires_grad)
        t.persistent = persistent
        t._is_buffer = True
        return t


def _converted(name: str) -> Any:
    """A method of tensors that gives an uninitialized buffer of another dtype or device, for a module that moves."""

    def convert(self: Any, *args: Any, **kwargs: Any) -> Any:
        t = getattr(Tensor, name)(self, *args, **kwargs)  # which is imported when it is used
        return t if t is self else type(self)(t.requires_grad, t.device, t.dtype, self.persistent)

    convert.__name__ = name
    return convert


class UninitializedBuffer(UninitializedTensorMixin, Tensor):
    """A buffer without a shape; ``materialize(shape)`` makes it an ordinary tensor."""

    cls_to_become = Tensor

    def __new__(
        cls, requires_grad: bool = False, device: Any = None, dtype: Dtype | None = None, persistent: bool = True
    ) -> Self:
        t = _leaf(cls, _empty(device, dtype), requires_grad)
        t.persistent = persistent
        t._is_buffer = True
        return _watched(t)  # type: ignore[no-any-return]

    to, half, float, double = map(_converted, ("to", "half", "float", "double"))


__all__ = own_names(globals())  # noqa: PLE0605
