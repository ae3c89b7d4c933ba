"""Protocols of a tensor: printing, Python numbers, iteration, NumPy's and DLPack's protocols, subclasses.

Sizes, strides and memory are in ``_tensor_api.layout``, copying and pickling in ``_tensor_api.copying``, storages in
``_tensor_api.storage``, the operators in ``_ops``. ``method`` and ``attribute`` publish them.
"""

from __future__ import annotations

import gc
import numbers
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .._arrays.memory import unlocked
from .._base import dtypes
from .._base.constants import type_name
from .._base.dtypes import BY_NUMPY, PYTHON_NUMBERS
from .._base.errors import no_stream, noted, warn
from .._base.modes import inference_tensors, is_grad_enabled, transforms
from .._base.registry import TENSORS, public, publish
from .._base.torch_function import _disabled_torch_dispatch_impl
from .._payloads.meta import Meta, no_data, no_item, no_numpy
from .._payloads.transforms import Batched, Dual, Transformed
from .._tape.conjugates import conjugate_views, refuse_numpy
from .._tape.error_text import expect_tensor, warn_of_lost_gradient
from .._tape.inference import is_inference
from .._tape.node import AccumulateGrad, box_of, hooks_of, leaf_node
from .._tape.properties import check_floating
from .._tape.tensor import CPU, META, Tensor, alias_payload, current_fn, device_of, new, wrap

method = public


def attribute(name: str) -> Callable[[Callable[[Any], Any]], property]:
    """Decorator that publishes a property of every tensor."""

    def decorate(fn: Callable[[Any], Any]) -> property:
        made = property(fn)
        publish(made, name)
        return made

    return decorate


def _hooks_by_id(self: Tensor) -> Any:
    """The hooks of ``register_hook`` by their handles' ids; ``None`` if there are none."""
    fn = current_fn(self)
    if fn is None or fn._hooks is None or not fn._hooks.tensor_pre:
        return self.__dict__.get("_hooks_by_hand")
    return fn._hooks.tensor_pre


def _replace_hooks(self: Tensor, hooks: Any) -> None:
    """Replace the hooks. Those of a tensor that requires no grad are kept and never run, as in PyTorch."""
    fn = current_fn(self)
    if fn is None:
        self.__dict__["_hooks_by_hand"] = hooks
    else:
        hooks_of(fn).tensor_pre = hooks


def _keep_hooks(self: Tensor) -> None:
    raise RuntimeError("Deletion of _backwards_hooks not allowed!")


publish(property(_hooks_by_id, _replace_hooks, _keep_hooks), "Tensor._backward_hooks")


def _grad_fn(self: Tensor) -> Any:
    """``grad_fn`` under its older name."""
    return self.grad_fn


def _keep_grad_fn(self: Tensor) -> None:
    raise RuntimeError("Deletion of _grad_fn not allowed. Detach tensor instead!")


publish(property(_grad_fn, None, _keep_grad_fn), "Tensor._grad_fn")


@attribute("Tensor._post_accumulate_grad_hooks")
def _post_accumulate_grad_hooks(self: Tensor) -> Any:
    """The hooks of ``register_post_accumulate_grad_hook`` by their handles' ids; ``None`` if there are none."""
    fn = current_fn(self)
    return None if fn is None or fn._hooks is None or not fn._hooks.post_accumulate else fn._hooks.post_accumulate


# ---- printing
@method("Tensor.__repr__")
def _repr(self: Tensor, *, tensor_contents: Any = None) -> str:
    text, known = text_of(self, contents=tensor_contents), PLAIN_NAMES.intersection(type(self).__mro__) - {Tensor}
    is_one = type(self) not in PLAIN_NAMES and (known or self.__dict__.get("_is_param"))  # a parameter of a subclass
    return f"Parameter({text})" if is_one else text


def text_of(self: Tensor, indent: int = 0, contents: str | None = None) -> str:
    """The text of a tensor, as ``repr`` returns it; ``contents``: the text of its elements."""
    from . import printing  # not before a tensor is shown

    a = self._payload
    if printing.era and isinstance(a, (np.ndarray, np.generic)) and a.dtype.kind != "c":
        return _text_of_0_3(self, np.asarray(a))
    if getattr(a, "is_sparse", False):
        from .printing_sparse import text_of as sparse_text

        return sparse_text(self, indent, _grad_fn_name(self))
    if transforms or isinstance(a, (Transformed, Tensor)):
        from .printing_transforms import text_inside

        text = text_inside(self, text_of)
        if text is not None:
            return text
    name = type(self).__name__ if type(self) not in PLAIN_NAMES else "tensor"
    facts: dict[str, Any] = {"requires_grad": self.requires_grad, "class_name": name, "indent": indent}
    facts |= {"grad_fn_name": _grad_fn_name(self), "contents": contents}
    if isinstance(a, Dual):
        if a.t is not None:
            facts["tangent"] = f"{_inside(a.t)}"
        a = a.v
    elif type(a) is Meta:
        facts["device"] = "meta"
        a = np.broadcast_to(np.zeros((), a.dtype.base_dtype), a.shape)
    elif getattr(a, "is_foreign", False):
        facts["device"] = None if a.place == CPU else str(a.place)
        a = a.numpy() if contents is None else np.broadcast_to(np.zeros((), a.dtype.base_dtype), a.shape)
    elif isinstance(a, Transformed):
        return text_of(_inside(a.v), indent)
    return printing.format_array(
        np.asarray(a), dtype_name=BY_NUMPY[a.dtype].name, default_dtype=dtypes.default_dtype.name, **facts
    )


def _text_of_0_3(self: Tensor, a: np.ndarray) -> str:
    """The text of a tensor in the era of Variables: those that require grad, that ``Variable`` made, and gradients."""
    from .printing import get_printoptions
    from .printing_0_3 import format_0_3

    name = "torch.ByteTensor" if a.dtype.kind == "b" else self.type()  # comparisons gave bytes then
    text = format_0_3(a, name, get_printoptions())
    facts = self.__dict__
    is_variable = self._node is not None or facts.get("_is_variable") or facts.get("_volatile")
    if not is_variable:
        is_variable = any(type(holder) is AccumulateGrad for holder in gc.get_referrers(self))
    return f"Variable containing:{text}" if is_variable else text


PLAIN_NAMES: set[type] = {Tensor}  # classes that print as "tensor"; Parameter adds itself


def _inside(payload: Any) -> Tensor:
    return payload if isinstance(payload, Tensor) else wrap(payload)


def _grad_fn_name(self: Tensor) -> str | None:
    try:
        current_fn(self)
        node = self.grad_fn
    except RuntimeError:
        return "Invalid"
    return None if node is None else node.name().rpartition("::")[2]


@method("Tensor.__format__")
def _format(self: Tensor, spec: str) -> str:
    from .printing import format_scalar

    if type(self) is Tensor and self._payload.ndim == 0 and isinstance(self._payload, (np.ndarray, np.generic)):
        return format_scalar(self._payload, spec, owner=self)
    if not self._payload.ndim and getattr(self._payload, "is_foreign", False):
        return format_scalar(self._payload.numpy(), spec, owner=self)
    return object.__format__(self, spec)


# ---- Python numbers
def array_of(self: Tensor, refusal: str | None = None) -> Any:
    """The array behind a tensor, inside any transforms.

    Raises RuntimeError with this text for a batched tensor, which has none.
    """
    a = self._payload
    if isinstance(a, (np.ndarray, np.generic)):
        return a

    while not isinstance(a, (np.ndarray, np.generic)):
        if isinstance(a, Batched):
            raise noted(
                RuntimeError(refusal or "Cannot access data pointer of Tensor that doesn't have storage"),
                "Why: inside of vmap the tensor stands for many at once.",
                "What to do: compute with tensors, for example torch.where(condition, a, b) in place of an if.",
            )
        if isinstance(a, Tensor):
            a = a._payload
        elif type(a) is Meta:
            if refusal is None:
                raise no_data()
            if a.size == 1:
                raise no_item()
            return a  # the caller raises unless there is one element
        elif getattr(a, "is_foreign", False):
            a = a.numpy()
        elif hasattr(a, "v"):
            a = a.v
        elif refusal is None or a.size == 1:
            from .._payloads.sparse_errors import lacks

            if refusal is None:
                raise lacks(a, "data")
            return a.to_dense()
        else:
            return a  # the caller raises: it has more than one element
    return a


_NO_ITEM = (
    "vmap: It looks like you're calling .item() on a Tensor. We don't support vmap over calling .item() on a Tensor, "
    "please try to rewrite what you're doing with other operations. If error is occurring somewhere inside PyTorch "
    "internals, please file a bug report."
)
_NO_BRANCH = (
    "vmap: It looks like you're attempting to use a Tensor in some data-dependent control flow. We don't support that "
    "yet, please file an issue at https://github.com/pytorch/pytorch/issues ."
)
_BY_KIND = {"f": float, "i": int, "u": int, "b": bool, "c": complex}
_OF_SCALAR: dict[type, Any] = {dtype.type: _BY_KIND[dtype.kind] for dtype in BY_NUMPY if dtype.kind in _BY_KIND}
"""NumPy's kinds of number -> Python's: called, it takes a tenth of the time of ``item``."""


def _number(a: Any) -> Any:
    """The Python number of an array of one element."""
    value = a.item()
    return value if type(value) in PYTHON_NUMBERS else float(value)  # a bfloat16 returns itself


@method("Tensor.item")
def item(self: Tensor) -> Any:
    """The one element as a Python number.

    Raises:
        RuntimeError: the tensor does not have exactly one element.

    >>> torch.tensor([[2.5]]).item()
    2.5
    """
    a = self._payload
    number = _OF_SCALAR.get(type(a))
    if number is not None:
        return number(a)
    if type(a) is not np.ndarray and not isinstance(a, np.generic):
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
    """The elements as nested lists of Python numbers; for a 0-dimensional tensor, the number.

    >>> torch.tensor([[1, 2], [3, 4]]).tolist()
    [[1, 2], [3, 4]]
    """
    a = self._payload
    number = _OF_SCALAR.get(type(a))
    if number is not None:
        return number(a)
    if type(a) is not np.ndarray:
        if hasattr(a, "asked"):
            raise RuntimeError(f".tolist() is not supported for tensor subclasses, got {type(self).__name__}")
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


def _conversion(kind: type, cpp: str) -> Any:
    """The conversion of a tensor of one element to a real number of Python; ``cpp``: the name of its type in errors."""

    def convert(self: Tensor) -> Any:
        if kind is float and self._node is not None:
            warn_of_lost_gradient(self)
        a = self._payload
        if _OF_SCALAR.get(type(a), complex) is not complex:
            return kind(a)
        return kind(_real(_single(self, _NO_ITEM), cpp))

    return convert


method("Tensor.__float__")(_conversion(float, "double"))
method("Tensor.__int__")(_conversion(int, "int64_t"))


@method("Tensor.__complex__")
def _complex(self: Tensor) -> complex:
    if self._node is not None:
        warn_of_lost_gradient(self)
    return complex(_single(self, _NO_ITEM))


@method("Tensor.__index__")
def _index(self: Tensor) -> int:
    a = array_of(self, _NO_ITEM)
    if a.size != 1 or a.dtype.kind not in "iub":
        raise TypeError("only integer tensors of a single element can be converted to an index")
    return int(a.item())


@method("Tensor.__bool__ Tensor.is_nonzero")
def _bool(self: Tensor) -> bool:
    """Whether the one element is not zero; RuntimeError if there are more or fewer."""
    a = self._payload
    if type(a) in _OF_SCALAR:
        return bool(a)
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
    """Whether the one element of a tensor is not zero.

    >>> torch.is_nonzero(torch.tensor([0.])), torch.is_nonzero(torch.tensor(2))
    (False, True)
    """
    return _bool(expect_tensor("is_nonzero", "input", 1, input))


# ---- sequences
@method("Tensor.__len__")
def _len(self: Tensor) -> int:
    shape = self._payload.shape
    if not shape:
        raise TypeError("len() of a 0-d tensor")
    return shape[0]


@method("Tensor.__iter__")
def _iter(self: Tensor) -> Iterator[Tensor]:
    if not self._payload.shape:
        raise TypeError("iteration over a 0-d tensor")
    return iter(self.unbind(0))


@method("Tensor.__reversed__")
def _reversed(self: Tensor) -> Tensor:
    return self.flip(0) if self._payload.shape else self


@method("Tensor.__contains__")
def _contains(self: Tensor, element: Any) -> bool:
    if isinstance(element, (Tensor, numbers.Number)):
        return bool((self == element).any())
    raise RuntimeError(f"Tensor.__contains__ only supports Tensor or scalar, but you passed in a {type(element)}.")


@method("Tensor.__hash__")
def _hash(self: Tensor) -> int:
    return id(self)


@method("Tensor.__dir__")
def _dir(self: Tensor) -> list[str]:
    hidden = ("_payload", "_node", "_box", "_view", "__slots__", "__weakref__")
    return sorted({*dir(type(self)), *self.__dict__}.difference(hidden))


# ---- NumPy
@method("Tensor.numpy")
def numpy(self: Tensor, *, force: bool = False) -> np.ndarray:
    """The elements as a NumPy array that shares the tensor's memory.

    ``force=True`` is ``detach().numpy()``.

    Raises:
        RuntimeError: the tensor requires grad and recording is on: operations on an array cannot be recorded.

    >>> t = torch.zeros(2)
    >>> t.numpy()[0] = 1
    >>> t
    tensor([1., 0.])
    """
    if self._node is not None and not force and is_grad_enabled():
        if device_of(self._payload) is not CPU:
            raise no_numpy(device_of(self._payload))
        raise noted(
            RuntimeError("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead."),
            "Why: what is computed with a NumPy array is not recorded, so its gradient would be lost.",
            "What to do: tensor.detach().numpy() where no gradient is wanted; it shares the memory as well.",
            code="W006",
        )
    if conjugate_views and not force:
        refuse_numpy(self)
    a = self._payload
    if type(a) is np.ndarray:
        return a[...] if not inference_tensors else _unlocked(self, a)
    if device_of(a) is not CPU:
        if force and device_of(a) is not META:
            return array_of(self)
        raise no_numpy(device_of(a))
    if getattr(a, "is_sparse", False):
        return np.asarray(a)  # which raises
    if isinstance(a, np.generic):
        return alias_payload(self)[...]
    if hasattr(a, "asked"):
        raise RuntimeError(".numpy() is not supported for tensor subclasses.")
    if isinstance(a, Tensor) and not force:
        raise RuntimeError("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")
    return array_of(self)[...]


def _unlocked(self: Tensor, a: Any) -> Any:
    """A writable array on an inference tensor's memory, for NumPy."""
    return unlocked(a) if not a.flags.writeable and is_inference(self) else a[...]


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
    # NumPy passes its functions' results here. (PyTorch converts bool to uint8, from the time when it had no bool.)
    return wrap(np.asarray(array))


@method("Tensor.__array_ufunc__")
def _array_ufunc(self: Tensor, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
    from .numpy_protocol import array_ufunc

    return array_ufunc(self, ufunc, method, *inputs, **options)


@method("Tensor.__array_function__")
def _array_function(self: Tensor, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
    from .numpy_protocol import array_function

    return array_function(self, func, types, args, kwargs)


@method("Tensor.__dlpack__")
def dlpack(self: Tensor, *args: Any, **kwargs: Any) -> Any:
    """The tensor's memory for another library (the DLPack protocol); one that requires grad is refused."""
    _refuse_export(self)
    if device_of(self._payload) is META:
        raise BufferError("Cannot pack tensors on meta")
    if getattr(self._payload, "is_foreign", False):
        return self._payload.v.__dlpack__(*args, **kwargs)
    if getattr(self._payload, "is_sparse", False):
        raise BufferError("Can't export tensors with layout other than torch.strided")
    array_of(self)
    if self.is_conj():
        raise BufferError("Can't export tensors with the conjugate bit set")
    no_stream(kwargs.pop("stream", None))
    return self.numpy(force=True).__dlpack__(*args, **kwargs)


@method("Tensor._refuse_export")
def _refuse_export(self: Tensor) -> None:
    """Raises BufferError if the tensor requires grad: another library's computations are not recorded."""
    if self._node is not None:
        raise noted(
            BufferError("Can't export tensors that require gradient, use tensor.detach()"),
            "Why: what another library computes is not recorded.",
        )


@method("Tensor.__dlpack_device__")
def dlpack_device(self: Tensor) -> tuple[int, int]:
    """(1, 0): the CPU; of another library's array its own."""
    a = self._payload
    if device_of(a) is META:
        raise ValueError("Unknown device type meta for Dlpack")
    return a.v.__dlpack_device__() if getattr(a, "is_foreign", False) else (1, 0)


@method("Tensor.__array_namespace__")
def array_namespace(self: Tensor, /, *, api_version: str | None = None) -> Any:
    """The functions of the Python array API standard for tensors, `wengert.array_api`.

    >>> torch.ones(2).__array_namespace__().__array_api_version__
    '2024.12'
    """
    if api_version not in (None, "2021.12", "2022.12", "2023.12", "2024.12"):
        raise ValueError(f"version {api_version!r} of the array API is not supported: 2024.12 and those before it are")
    from .publish import submodule

    return submodule("array_api")


@method("Tensor.to_device")
def to_device(self: Tensor, device: Any, /, *, stream: Any = None) -> Tensor:
    """The tensor on a device, as ``to`` gives it: the name of the array API standard.

    >>> torch.ones(2).to_device("cpu")
    tensor([1., 1.])
    """
    if stream is not None:
        raise ValueError(f"the device {device} has no streams")
    return self.to(device)


# ---- subclasses
@method("Tensor.as_subclass")
def as_subclass(self: Tensor, cls: type) -> Tensor:
    """The tensor as an instance of a subclass, with the same memory and history."""
    if not isinstance(cls, type):
        raise TypeError(f"cls must be a type (got {type_name(cls)})")
    if not issubclass(cls, Tensor):
        raise TypeError("as_subclass(): argument 'cls' (position 1) must be a subclass of Tensor")
    _tell_of_dispatch(cls)
    t = TENSORS.alias(self)
    t.__class__ = cls
    return t


def _tell_of_dispatch(cls: Any) -> None:
    """Warn of an instance with memory: only wrappers are asked below autograd."""
    dispatch = getattr(cls, "__torch_dispatch__", None)
    if dispatch is not None and dispatch is not _disabled_torch_dispatch_impl:
        warn(
            f"{cls.__qualname__}.__torch_dispatch__ is not called for a tensor with memory of its own: only wrappers "
            "(Tensor._make_wrapper_subclass) are asked by it."
        )


def _make_subclass(cls: type, data: Tensor, require_grad: bool = False, **kwargs: Any) -> Tensor:
    """A leaf of a subclass on the memory of ``data``, outside of its history."""
    _tell_of_dispatch(cls)
    t: Tensor = new(cls)
    t._payload = data._payload if not isinstance(data._payload, np.generic) else alias_payload(data)
    t._node = t._box = None
    if data._box is not None and data._box.cell is not None:
        box_of(t).cell = data._box.cell
    if require_grad:
        check_floating(t, "Only Tensors of floating point and complex dtype")
        leaf_node(t)
    return t


publish(staticmethod(_make_subclass), "Tensor._make_subclass")


def _make_wrapper_subclass(
    cls: type,
    size: Any,
    strides: Any = None,
    storage_offset: Any = None,
    memory_format: Any = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    *policies: Any,
    **named_policies: Any,
) -> Tensor:
    """A tensor without memory of its own, whose class's ``__torch_dispatch__`` computes operators on it."""
    from .publish import submodule

    make = submodule("utils._wrapper_subclass").make_wrapper_subclass
    return make(cls, size, strides, dtype, device, requires_grad)  # type: ignore[no-any-return]


publish(staticmethod(_make_wrapper_subclass), "Tensor._make_wrapper_subclass")
