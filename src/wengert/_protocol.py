"""What a tensor is to Python and NumPy: printing, numbers, iteration, NumPy's and DLPack's protocols, sizes and strides.

These are ``Tensor``'s methods and properties that compute nothing. Copying and pickling are in ``_copying``; storages
in ``_storage``; the operators in ``ops``. ``method`` and ``attribute`` enter them under their public names.
"""

from __future__ import annotations

import numbers
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from . import _dtypes
from ._alias import base_of, bump, check_inplace, writable
from ._dims import normal_dim
from ._dispatch import logical_dtype, type_text
from ._dtypes import BY_NUMPY, as_dtype, make_size
from ._errors import noted
from ._node import view_of
from ._printing import format_array, format_scalar, format_wrapper
from ._registry import place, public
from ._tensor import Tensor, alias_payload, current_fn, wrap

method = public


def attribute(name: str) -> Callable[[Callable[[Any], Any]], property]:
    """Decorator: a property of every tensor."""

    def decorate(fn: Callable[[Any], Any]) -> property:
        made = property(fn)
        place(made, name)
        return made

    return decorate


def checked(input: Any, function: str) -> Tensor:
    """The first argument of a function, which must be a tensor."""
    if not isinstance(input, Tensor):
        raise TypeError(f"{function}(): argument 'input' (position 1) must be Tensor, not {type_text(input)}")
    return input


# ---------------------------------------------------------------------------------------------------------------- printing
@method("Tensor.__repr__ Tensor.__str__")
def _repr(self: Tensor, *, tensor_contents: Any = None) -> str:
    return text_of(self)


def text_of(self: Tensor, indent: int = 0) -> str:
    """What a tensor prints."""
    from ._values import Batched, Dual, Value

    a = self._a
    if isinstance(a, Tensor):
        return format_wrapper("GradTrackingTensor", text_of(a), level=_level(a) + 1)
    name = type(self).__name__ if type(self) not in _PLAIN_NAMES else "tensor"
    facts: dict[str, Any] = {"requires_grad": self._fn is not None, "class_name": name, "indent": indent}
    facts["grad_fn_name"] = _grad_fn_name(self)
    if isinstance(a, Batched):
        return format_wrapper("BatchedTensor", text_of(_inside(a.v)), level=_level(a), bdim=0)
    if isinstance(a, Dual):
        if not isinstance(a.v, (np.ndarray, np.generic)):
            return format_wrapper("GradTrackingTensor", text_of(_inside(a.v)), level=_level(a))
        if a.t is not None:
            facts["tangent"] = text_of(_inside(a.t))
        a = a.v
    elif isinstance(a, Value):
        return text_of(_inside(a.v), indent)
    return format_array(
        np.asarray(a), dtype_name=BY_NUMPY[a.dtype].name, default_dtype=_dtypes.default_dtype.name, **facts
    )


_PLAIN_NAMES = frozenset((Tensor,))


def _inside(payload: Any) -> Tensor:
    return payload if isinstance(payload, Tensor) else wrap(payload)


def _level(payload: Any) -> int:
    """How many transforms a payload is under."""
    from ._values import Const, Value

    level = 0
    while True:
        if isinstance(payload, Tensor):
            inner = payload._a
            level += isinstance(inner, Tensor)
        elif isinstance(payload, Value):
            inner = payload.v
            level += not isinstance(payload, Const)
        else:
            return level
        payload = inner


def _grad_fn_name(self: Tensor) -> str | None:
    try:
        current_fn(self)
        node = self.grad_fn
    except RuntimeError:
        return "Invalid"
    return None if node is None else node.name().rpartition("::")[2]


@method("Tensor.__format__")
def _format(self: Tensor, spec: str) -> str:
    if type(self) is Tensor and self._a.ndim == 0 and isinstance(self._a, (np.ndarray, np.generic)):
        return format_scalar(self._a, spec, owner=self)
    return object.__format__(self, spec)


# ----------------------------------------------------------------------------------------------------------- Python numbers
def array_of(self: Tensor, refusal: str | None = None) -> Any:
    """The array that a tensor stands for, whatever transforms it is inside of.

    A batched tensor has none: RuntimeError with this text.
    """
    from ._values import Batched

    a = self._a
    while not isinstance(a, (np.ndarray, np.generic)):
        if isinstance(a, Batched):
            raise noted(
                RuntimeError(refusal or "Cannot access data pointer of Tensor that doesn't have storage"),
                "Why: inside of vmap the tensor stands for many at once.",
                "What to do: compute with tensors, for example torch.where(condition, a, b) in place of an if.",
            )
        if isinstance(a, Tensor):
            a = a._a
        elif hasattr(a, "v"):
            a = a.v
        else:
            return np.asarray(a)
    return a


_NO_ITEM = (
    "vmap: It looks like you're calling .item() on a Tensor. We don't support vmap over calling .item() on a Tensor, please "
    "try to rewrite what you're doing with other operations. If error is occurring somewhere inside PyTorch internals, please "
    "file a bug report."
)
_NO_BRANCH = (
    "vmap: It looks like you're attempting to use a Tensor in some data-dependent control flow. We don't support that yet, "
    "please file an issue at https://github.com/pytorch/pytorch/issues ."
)
_PYTHON = frozenset((float, int, bool, complex))


def _number(a: Any) -> Any:
    """The Python number of an array of one element."""
    value = a.item()
    return value if type(value) in _PYTHON else float(value)  # bfloat16 gives itself


@method("Tensor.item")
def item(self: Tensor) -> Any:
    """The one element as a Python number.

    Raises:
        RuntimeError: more or fewer elements than one.

    >>> import wengert as torch
    >>> torch.tensor([[2.5]]).item()
    2.5
    """
    a = self._a
    if not isinstance(a, (np.ndarray, np.generic)):
        a = array_of(self, _NO_ITEM)
    if a.size != 1:
        raise noted(
            RuntimeError(f"a Tensor with {a.size} elements cannot be converted to Scalar"),
            f"Why: the tensor has shape {list(a.shape)}, and item() gives one number.",
            "What to do: tolist() gives them all; reduce (sum, mean) or index first for one of them.",
        )
    return _number(a)


@method("Tensor.tolist")
def tolist(self: Tensor) -> Any:
    """The elements as nested lists of Python numbers, of a 0-dimensional tensor the number.

    >>> import wengert as torch
    >>> torch.tensor([[1, 2], [3, 4]]).tolist()
    [[1, 2], [3, 4]]
    """
    a = array_of(self)
    return (a.astype(np.float32) if a.dtype.kind == "V" else a).tolist()


def _single(self: Tensor, refusal: str) -> Any:
    a = array_of(self, refusal)
    if a.size != 1:
        raise noted(
            ValueError("only one element tensors can be converted to Python scalars"),
            f"Why: the tensor has shape {list(a.shape)}.",
        )
    return _number(a)


def _real(value: Any, to: str) -> Any:
    if type(value) is complex:
        if value.imag != 0:
            raise RuntimeError(f"value cannot be converted to type {to} without overflow")
        return value.real
    return value


@method("Tensor.__float__")
def _float(self: Tensor) -> float:
    a = self._a
    if isinstance(a, np.floating):
        return float(a)
    return float(_real(_single(self, _NO_ITEM), "double"))


@method("Tensor.__int__")
def _int(self: Tensor) -> int:
    return int(_real(_single(self, _NO_ITEM), "int64_t"))


@method("Tensor.__complex__")
def _complex(self: Tensor) -> complex:
    return complex(_single(self, _NO_ITEM))


@method("Tensor.__index__")
def _index(self: Tensor) -> int:
    a = array_of(self, _NO_ITEM)
    if a.size != 1 or a.dtype.kind not in "iub":
        raise TypeError("only integer tensors of a single element can be converted to an index")
    return int(a.item())


@method("Tensor.__bool__ Tensor.is_nonzero")
def _bool(self: Tensor) -> bool:
    a = self._a
    if not isinstance(a, (np.ndarray, np.generic)):
        a = array_of(self, _NO_BRANCH)
    if a.size != 1:
        what = "more than one value" if a.size else "no values"
        raise noted(
            RuntimeError(f"Boolean value of Tensor with {what} is ambiguous"),
            f"Why: the tensor has shape {list(a.shape)}, and an `if`, `and`, `or` or `not` needs one truth value.",
            "What to do: t.all(), t.any() or t.numel() > 0 says which is meant; `&`, `|`, `~` work element by element.",
        )
    return bool(a.item())


@method("torch.is_nonzero")
def is_nonzero(input: Tensor) -> bool:
    """Whether the one element of a tensor is not zero."""
    return _bool(checked(input, "is_nonzero"))


# --------------------------------------------------------------------------------------------------------------- sequences
@method("Tensor.__len__")
def _len(self: Tensor) -> int:
    shape = self._a.shape
    if not shape:
        raise TypeError("len() of a 0-d tensor")
    return shape[0]


@method("Tensor.__iter__")
def _iter(self: Tensor) -> Iterator[Tensor]:
    if not self._a.shape:
        raise TypeError("iteration over a 0-d tensor")
    return iter(self.unbind(0))


@method("Tensor.__reversed__")
def _reversed(self: Tensor) -> Tensor:
    return self.flip(0) if self._a.shape else self


@method("Tensor.__contains__")
def _contains(self: Tensor, element: Any) -> bool:
    if isinstance(element, (Tensor, numbers.Number)):
        return bool((self == element).any())
    raise RuntimeError(
        f"Tensor.__contains__ only supports Tensor or scalar, but you passed in a {type(element)}."
    )


@method("Tensor.__hash__")
def _hash(self: Tensor) -> int:
    return id(self)


@method("Tensor.__dir__")
def _dir(self: Tensor) -> list[str]:
    hidden = ("_a", "_fn", "_m", "_v", "__slots__", "__weakref__")
    return sorted({*dir(type(self)), *self.__dict__}.difference(hidden))


# ------------------------------------------------------------------------------------------------------------------- NumPy
@method("Tensor.numpy")
def numpy(self: Tensor, *, force: bool = False) -> np.ndarray:
    """The elements as a NumPy array that shares the tensor's memory.

    ``force=True`` is ``detach().numpy()``.

    Raises:
        RuntimeError: the tensor requires grad: what is done to an array cannot be recorded.

    >>> import wengert as torch
    >>> t = torch.zeros(2)
    >>> t.numpy()[0] = 1
    >>> t
    tensor([1., 0.])
    """
    if self._fn is not None and not force:
        raise noted(
            RuntimeError("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead."),
            "Why: what is computed with a NumPy array is not recorded, so its gradient would be lost.",
            "What to do: tensor.detach().numpy() where no gradient is wanted; it shares the memory as well.",
            code="W006",
        )
    a = self._a
    if type(a) is np.ndarray:
        return a[...]
    if isinstance(a, np.generic):
        return alias_payload(self)[...]
    if isinstance(a, Tensor) and not force:
        raise RuntimeError("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")
    return array_of(self)[...]


@method("Tensor.__array__")
def _array(self: Tensor, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
    a = self.numpy()
    if dtype is not None and a.dtype != dtype:
        if copy is False:
            raise ValueError("Unable to avoid copy while creating an array as requested.")
        return a.astype(dtype)
    return a.copy() if copy else a


@method("Tensor.__array_wrap__")
def _array_wrap(self: Tensor, array: Any, context: Any = None, return_scalar: bool = False) -> Tensor:
    # NumPy hands its functions' results here. (PyTorch makes uint8 of bool, from the time when it had no bool.)
    return wrap(np.asarray(array))


@method("Tensor.__dlpack__")
def dlpack(self: Tensor, *args: Any, **kwargs: Any) -> Any:
    """The tensor's memory for another library (the DLPack protocol); one that requires grad is refused."""
    _refuse_export(self)
    array_of(self)
    return alias_payload(self).__dlpack__(*args, **kwargs)


@method("Tensor._refuse_export")
def _refuse_export(self: Tensor) -> None:
    if self._fn is not None:
        raise noted(
            BufferError("Can't export tensors that require gradient, use tensor.detach()"),
            "Why: what another library computes is not recorded.",
        )


@method("Tensor.__dlpack_device__")
def dlpack_device(self: Tensor) -> tuple[int, int]:
    """(1, 0): the CPU."""
    return (1, 0)


# ---------------------------------------------------------------------------------------------------------------- the shape
@method("Tensor.size")
def size(self: Tensor, dim: int | None = None) -> Any:
    """The size of each dimension, or of one.

    >>> import wengert as torch
    >>> torch.ones(2, 3).size(), torch.ones(2, 3).size(-1)
    (torch.Size([2, 3]), 3)
    """
    shape = self._a.shape
    if dim is None:
        return make_size(shape)
    return shape[_own_dim(dim, shape, "size")]


def _own_dim(dim: Any, shape: tuple[int, ...], function: str) -> int:
    if isinstance(dim, (float, str)):
        raise TypeError(f"{function}(): argument 'dim' (position 1) must be int, not {type_text(dim)}")
    if not shape:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    return normal_dim(dim, len(shape), function)


@method("Tensor.dim Tensor.ndimension")
def dim(self: Tensor) -> int:
    """The number of dimensions.

    >>> import wengert as torch
    >>> torch.ones(2, 3).dim()
    2
    """
    return len(self._a.shape)


@method("Tensor.numel Tensor.nelement")
def numel(self: Tensor) -> int:
    """The number of elements.

    >>> import wengert as torch
    >>> torch.ones(2, 3).numel()
    6
    """
    return self._a.size


place(lambda input: checked(input, "numel")._a.size, "torch.numel")


@method("Tensor.stride")
def stride(self: Tensor, dim: int | None = None) -> Any:
    """How many elements lie between neighbours in each dimension, or in one.

    >>> import wengert as torch
    >>> torch.ones(2, 3).stride(), torch.ones(2, 3).stride(0)
    ((3, 1), 3)
    """
    strides = strides_of(self._a)
    return strides if dim is None else strides[_own_dim(dim, self._a.shape, "stride")]


def strides_of(a: Any) -> tuple[int, ...]:
    """An array's strides in elements."""
    strides = getattr(a, "strides", None)
    if strides is None or not a.size:  # NumPy and PyTorch differ in those of an array without elements
        return contiguous_strides(a.shape)
    return tuple(s // a.dtype.itemsize for s in strides)


def contiguous_strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The strides of a new array in row-major order, as PyTorch counts them."""
    strides, step = [], 1
    for n in reversed(shape):
        strides.append(step)
        step *= max(n, 1)
    return tuple(reversed(strides))


@method("Tensor.is_contiguous")
def is_contiguous(self: Tensor, memory_format: Any = _dtypes.contiguous_format) -> bool:
    """Whether the elements lie in memory in row-major order, or in that of ``memory_format``.

    >>> import wengert as torch
    >>> torch.ones(2, 3).is_contiguous(), torch.ones(2, 3).t().is_contiguous()
    (True, False)
    """
    a = self._a
    if not isinstance(a, np.ndarray):
        return True
    if memory_format is _dtypes.channels_last:
        return a.ndim == 4 and a.transpose(0, 2, 3, 1).flags.c_contiguous
    if memory_format is _dtypes.channels_last_3d:
        return a.ndim == 5 and a.transpose(0, 2, 3, 4, 1).flags.c_contiguous
    return a.flags.c_contiguous


@method("Tensor.dim_order")
def dim_order(self: Tensor, *, ambiguity_check: Any = False) -> tuple[int, ...]:
    """The dimensions in the order in which they lie in memory, the outermost first."""
    strides = strides_of(self._a)
    return tuple(sorted(range(len(strides)), key=lambda d: -strides[d]))


@method("Tensor.is_same_size")
def is_same_size(self: Tensor, other: Tensor) -> bool:
    """Whether two tensors have the same shape."""
    return self._a.shape == other._a.shape


@method("Tensor.get_device")
def get_device(self: Tensor) -> int:
    """The number of the accelerator: -1, as tensors are on the CPU."""
    return -1


# ------------------------------------------------------------------------------------------------------------------ memory
@method("Tensor.element_size")
def element_size(self: Tensor) -> int:
    """Bytes per element.

    >>> import wengert as torch
    >>> torch.ones(2).element_size()
    4
    """
    return self._a.dtype.itemsize


@attribute("Tensor.itemsize")
def itemsize(self: Tensor) -> int:
    """Bytes per element."""
    return self._a.dtype.itemsize


@attribute("Tensor.nbytes")
def nbytes(self: Tensor) -> int:
    """Bytes of all elements together."""
    return self._a.dtype.itemsize * self._a.size


@method("Tensor.data_ptr Tensor.const_data_ptr")
def data_ptr(self: Tensor) -> int:
    """The address of the first element; 0 if there is none."""
    array_of(self)
    a = alias_payload(self)
    return _address(a) if a.size and isinstance(a, np.ndarray) else 0


def _address(a: np.ndarray) -> int:
    return a.__array_interface__["data"][0]


def owner_of(a: np.ndarray) -> np.ndarray:
    """The array whose memory this one is a view of; itself if it is none."""
    while isinstance(a.base, np.ndarray):
        a = a.base
    return a


@method("Tensor.storage_offset")
def storage_offset(self: Tensor) -> int:
    """How many elements the first one lies behind the beginning of the storage.

    >>> import wengert as torch
    >>> torch.ones(2, 3)[1].storage_offset()
    3
    """
    a = self._a
    if not isinstance(a, np.ndarray) or not a.size:
        return 0
    return (_address(a) - _address(owner_of(a))) // a.dtype.itemsize


@method("Tensor.is_set_to")
def is_set_to(self: Tensor, tensor: Tensor) -> bool:
    """Whether two tensors are the same memory seen in the same way: shape, strides and offset."""
    a, b = alias_payload(self), alias_payload(tensor)
    return a is b or (
        _address(a) == _address(b) and a.shape == b.shape and a.strides == b.strides and a.dtype == b.dtype
    )


@attribute("Tensor._base")
def base(self: Tensor) -> Tensor | None:
    """The tensor that this one is a view of; ``None`` if it is no view."""
    return base_of(self)


@method("Tensor._is_view")
def is_view(self: Tensor) -> bool:
    """Whether this tensor is a view of another."""
    return view_of(self) is not None


@method("Tensor.pin_memory")
def pin_memory(self: Tensor, device: Any = None) -> Tensor:
    """Raises RuntimeError: there is no accelerator to pin memory for."""
    raise RuntimeError("Cannot access accelerator device when none is available.")


@method("Tensor.is_pinned")
def is_pinned(self: Tensor, device: Any = None) -> bool:
    """False: there is no accelerator."""
    return False


# ------------------------------------------------------------------------------------------------------------ kinds of dtype
@method("Tensor.is_floating_point")
def _is_floating_point(self: Tensor) -> bool:
    return BY_NUMPY[self._a.dtype].is_floating_point


@method("torch.is_floating_point")
def is_floating_point(input: Tensor) -> bool:
    """Whether the dtype is a floating one.

    >>> import wengert as torch
    >>> torch.is_floating_point(torch.ones(2)), torch.is_floating_point(torch.tensor(1))
    (True, False)
    """
    return BY_NUMPY[checked(input, "is_floating_point")._a.dtype].is_floating_point


@method("Tensor.is_complex")
def _is_complex(self: Tensor) -> bool:
    return BY_NUMPY[self._a.dtype].is_complex


@method("torch.is_complex")
def is_complex(input: Tensor) -> bool:
    """Whether the dtype is a complex one."""
    return BY_NUMPY[checked(input, "is_complex")._a.dtype].is_complex


@method("Tensor.is_signed")
def is_signed(self: Tensor) -> bool:
    """Whether the dtype has negative numbers."""
    return BY_NUMPY[self._a.dtype].is_signed


place(lambda input: is_signed(checked(input, "is_signed")), "torch.is_signed")


@method("torch.is_tensor")
def is_tensor(obj: Any) -> bool:
    """Whether an object is a tensor.

    >>> import wengert as torch
    >>> torch.is_tensor(torch.ones(1)), torch.is_tensor([1.])
    (True, False)
    """
    return isinstance(obj, Tensor)


@method("Tensor.type")
def type_(self: Tensor, dtype: Any = None, non_blocking: bool = False, **kwargs: Any) -> Any:
    """The name of the tensor's type, or the tensor converted to another.

    ``dtype``: a dtype, a legacy type (``torch.LongTensor``) or its name.

    >>> import wengert as torch
    >>> torch.ones(1).type(), torch.ones(1).type(torch.LongTensor)
    ('torch.FloatTensor', tensor([1]))
    """
    from ._legacy_types import dtype_of_type, name_of_type

    if dtype is None:
        return name_of_type(self.dtype)
    target = dtype_of_type(dtype)
    return self if target is self.dtype else self.to(target)


@method("Tensor.is_inference")
def _is_inference(self: Tensor) -> bool:
    """Whether the tensor was made under ``inference_mode``."""
    from ._inference import is_inference

    return is_inference(self)


place(lambda input: _is_inference(checked(input, "is_inference")), "torch.is_inference")


def _constant(name: str, value: Any, doc: str) -> None:
    def get(self: Tensor) -> Any:
        return value

    get.__doc__ = doc
    place(property(get), f"Tensor.{name}")


for _name in ("cuda", "xpu", "ipu", "mps", "meta", "xla", "vulkan", "maia", "mtia", "mkldnn", "sparse", "sparse_csr"):
    _constant(f"is_{_name}", False, f"False: no tensor here is of kind {_name!r}.")
for _name in ("quantized", "nested"):
    _constant(f"is_{_name}", False, f"False: no tensor here is of kind {_name!r}.")
_constant("is_cpu", True, "True: tensors are on the CPU.")
_constant("layout", _dtypes.strided, "How the elements are stored: always ``torch.strided``.")
_constant("name", None, "``None``: kept for programs that ask.")

for _name in ("is_conj", "is_neg", "is_distributed"):
    place(lambda self: False, f"Tensor.{_name}")
place(lambda input: False, "torch.is_conj")
place(lambda input: False, "torch.is_neg")
place(lambda self: len(self._a.shape), "Tensor.dense_dim")
place(lambda self: 0, "Tensor.sparse_dim")


@method("Tensor.to_dense")
def to_dense(self: Tensor, dtype: Any = None, *, masked_grad: Any = None) -> Tensor:
    """The tensor itself, as every tensor is dense; converted if ``dtype`` is given."""
    return self if dtype is None else self.to(as_dtype(dtype, "to_dense"))


# ----------------------------------------------------------------------------------------------- Python functions in place
def _by_elements(self: Tensor, name: str, fn: Callable[..., Any], others: tuple[Tensor, ...]) -> Tensor:
    if self._fn is not None:
        raise noted(
            RuntimeError(
                f"Can't call {name}() on Variable that requires grad. Use var.detach().{name}() instead."
            ),
            "Why: the derivative of a Python function is not known.",
        )
    check_inplace(self, False)
    a = writable(self)
    columns = []
    for other in others:
        b = array_of(other)
        try:
            columns.append(np.broadcast_to(b, a.shape).ravel().tolist())
        except ValueError:
            raise _not_expandable(a.shape, b.shape) from None
    values = [fn(*row) for row in zip(a.ravel().tolist(), *columns, strict=True)]
    a[...] = np.array(values, a.dtype).reshape(a.shape)
    bump(self)
    return self


def _not_expandable(target: tuple[int, ...], shape: tuple[int, ...]) -> RuntimeError:
    for d in range(1, len(shape) + 1):
        if d > len(target) or shape[-d] not in (1, target[-d]):
            break
    where = len(target) - d
    return RuntimeError(
        f"The expanded size of the tensor ({target[where]}) must match the existing size ({shape[-d]}) at non-singleton "
        f"dimension {where}.  Target sizes: {list(target)}.  Tensor sizes: {list(shape)}"
    )


@method("Tensor.apply_")
def apply_(self: Tensor, callable: Callable[[Any], Any]) -> Tensor:
    """Replace each element by a Python function of it; slow, and never recorded.

    >>> import wengert as torch
    >>> torch.tensor([1., 2.]).apply_(lambda x: x * 10)
    tensor([10., 20.])
    """
    return _by_elements(self, "apply_", callable, ())


@method("Tensor.map_")
def map_(self: Tensor, tensor: Tensor, callable: Callable[[Any, Any], Any]) -> Tensor:
    """Replace each element by a Python function of it and of another tensor's element."""
    return _by_elements(self, "map_", callable, (tensor,))


@method("Tensor.map2_")
def map2_(self: Tensor, x: Tensor, y: Tensor, callable: Callable[[Any, Any, Any], Any]) -> Tensor:
    """Replace each element by a Python function of it and of two other tensors' elements."""
    return _by_elements(self, "map2_", callable, (x, y))


__all__ = ["array_of", "contiguous_strides", "logical_dtype", "owner_of", "strides_of", "text_of"]
