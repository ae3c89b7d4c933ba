"""``copy.deepcopy``, ``copy.copy`` and pickling of tensors.

A deep copy is a leaf with its own memory; tensors that shared memory before share the copy's. A pickled tensor is its
array, whether it requires grad, and the attributes that the program set on it; gradients and hooks are not pickled.
"""

from __future__ import annotations

import copy
import copyreg
import math
import pickle
import sys
from typing import Any

import numpy as np

from .._arrays.memory import storage_of
from .._base.constants import sparse_coo
from .._base.dtypes import BY_NUMPY
from .._base.dtypes import dtype as Dtype
from .._base.errors import noted, warn
from .._base.late_names import keep_former_name
from .._base.modes import inference_tensors
from .._base.registry import public
from .._payloads.meta import Meta
from .._payloads.transforms import Transformed
from .._tape.inference import is_inference
from .._tape.node import leaf_node
from .._tape.tensor import Tensor, alias_payload, current_fn, new, wrap

MAX_DIMS = 64  # NumPy's
OWN = frozenset(
    (
        "_alias_of", "_detached", "_grad", "_hooks", "_hooks_by_hand", "_overriding", "_retains", "_reward",
        "_stochastic", "_views", "_volatile",
    )
)  # fmt: skip
"""The library's own entries in a tensor's ``__dict__``: no pickle has them, and none may set them."""


def _attributes(self: Tensor) -> dict[str, Any]:
    """The attributes that the program set on a tensor."""
    return {key: value for key, value in self.__dict__.items() if key not in OWN}


def rebuild(cls: type, a: Any, requires_grad: bool) -> Tensor:
    """A tensor from its pickled state."""
    if isinstance(a, (np.ndarray, np.generic)):
        known = BY_NUMPY[a.dtype].np
        if a.dtype is not known:  # unpickling made another dtype object; operators compare dtypes by identity
            a = a.view(known)
    t = new(cls)
    t._payload = a
    t._box = t._node = None
    if requires_grad:
        leaf_node(t)
    return t


def whole_numbers(values: Any, what: str) -> tuple[int, ...]:
    if not isinstance(values, (tuple, list)) or not all(type(v) is int and 0 <= v < 2**63 for v in values):
        raise RuntimeError(f"setStorage: the {what} of a tensor must be integers that are not negative")
    return tuple(values)


def _rebuild_meta_tensor_no_storage(dtype: Any, size: Any, stride: Any, requires_grad: Any) -> Tensor:
    """A tensor without data."""
    if type(dtype) is not Dtype:
        raise pickle.UnpicklingError(f"a tensor's dtype is needed, but got {type(dtype)}")
    sizes, strides = whole_numbers(size, "sizes"), whole_numbers(stride, "strides")
    if len(sizes) != len(strides) or len(sizes) > MAX_DIMS:
        raise RuntimeError(
            f"{len(sizes)} sizes and {len(strides)} strides do not belong to a tensor of up to {MAX_DIMS} dimensions"
        )
    if math.prod(n or 1 for n in sizes) * dtype.itemsize >= 2**63:
        raise RuntimeError("numel: integer multiplication overflow")
    tensor = wrap(Meta(sizes, dtype.np, tuple(s * dtype.np.itemsize for s in strides)))
    return tensor.requires_grad_() if requires_grad is True else tensor


def _rebuild_wrapper_subclass(
    cls: Any, dtype: Any, size: Any, stride: Any, storage_offset: Any, layout: Any, device: Any, requires_grad: Any
) -> Tensor:
    """A tensor without memory of its own; its state is set afterwards."""
    # A class that reduces itself is made of what it then says, and is broken without
    if not (isinstance(cls, type) and issubclass(cls, Tensor)) or cls.__reduce_ex__ is not Tensor.__reduce_ex__:
        raise pickle.UnpicklingError(f"a class of tensors without memory of their own is needed, but got {cls!r:.200}")
    if type(dtype) is not Dtype:
        raise pickle.UnpicklingError(f"a tensor's dtype is needed, but got {type(dtype)}")
    sizes, strides = whole_numbers(size, "sizes"), whole_numbers(stride, "strides")
    return Tensor._make_wrapper_subclass(
        cls, sizes, strides=strides, dtype=dtype, layout=layout, device=device, requires_grad=requires_grad is True
    )


def wrapper_parts(self: Tensor) -> tuple[Any, ...]:
    """What ``_rebuild_wrapper_subclass`` makes a tensor of."""
    sizes, strides = tuple(self.size()), tuple(self.stride())
    return type(self), self.dtype, sizes, strides, 0, self.layout, self.device, self.requires_grad


_SLOTS = frozenset(copyreg._slotnames(Tensor))  # type: ignore[attr-defined]


def slots_of(self: Tensor) -> dict[str, Any]:
    """What a tensor has in slots of its class."""
    names = copyreg._slotnames(type(self))  # type: ignore[attr-defined]
    return {name: getattr(self, name) for name in names if name not in _SLOTS and hasattr(self, name)}


def state_of(self: Tensor) -> Any:
    """What the program has set on a tensor, or what its class says."""
    own = getattr(type(self), "__getstate__", None)
    if own is not None and own is not object.__getstate__:
        return own(self)
    slots = slots_of(self) if type(self) is not Tensor else None
    return (_attributes(self), slots) if slots else _attributes(self)


@public("Tensor.__reduce_ex__")
def _reduce(self: Tensor, protocol: Any) -> tuple[Any, ...]:
    a = self._payload
    if hasattr(a, "asked"):  # without memory of its own
        return _rebuild_wrapper_subclass, wrapper_parts(self), state_of(self)
    if not isinstance(a, np.generic):
        a = _array(self, "pickled")
    _warn_of_hooks(self)
    lost = type(self) is Tensor and getattr(a, "layout", None) is sparse_coo  # as in PyTorch's pickles
    parts = (rebuild, (type(self), a, self._node is not None and not lost))
    attributes = _attributes(self)
    if type(a) is Meta and type(self) is Tensor and not attributes:
        return _rebuild_meta_tensor_no_storage, (self.dtype, tuple(a.shape), self.stride(), self._node is not None)
    return (*parts, attributes) if attributes else parts


def _warn_of_hooks(self: Tensor) -> None:
    hooks = self._node._hooks if self._node is not None else self.__dict__.get("_hooks")
    for hook in (hooks.tensor_pre or {}).values() if hooks is not None else ():
        if not hasattr(hook, "__torch_unserializable__"):
            warn(
                f"backward hook {hook!r} on tensor will not be serialized.  If this is expected, you can decorate the "
                "function with @torch.utils.hooks.unserializable_hook to suppress this warning",
            )


def _array(self: Tensor, what: str) -> Any:
    if type(self._payload) is Meta or getattr(self._payload, "is_foreign", False):
        return self._payload
    if isinstance(self._payload, (Transformed, Tensor)):
        raise RuntimeError(f"a tensor inside of a transform (grad, vmap, jvp) cannot be {what}")
    a = alias_payload(self)
    if inference_tensors and is_inference(self):  # the copy is an ordinary tensor
        return a.copy()
    return a


@public("Tensor.__deepcopy__")
def _deepcopy(self: Tensor, memo: dict[int, Any]) -> Tensor:
    known = memo.get(id(self))
    if known is not None:
        return known
    current_fn(self)
    if not self.is_leaf:
        raise noted(
            RuntimeError(
                "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the "
                "moment.  If you were attempting to deepcopy a module, this may be because of a "
                "torch.nn.utils.weight_norm usage, see https://github.com/pytorch/pytorch/pull/103001"
            ),
            f"Why: the tensor was made by {self.grad_fn.name()}; a copy of it would need a copy of its history."
            if self.grad_fn is not None
            else "",
            "What to do: tensor.detach().clone() copies the value, tensor.clone() keeps the history.",
        )
    if hasattr(self._payload, "asked"):
        twin = self._payload.asked("clone")
    else:
        twin = rebuild(type(self), _deep_array(_array(self, "copied"), memo), False)
    memo[id(self)] = twin
    if self._node is not None:
        leaf_node(twin)
    grad = self.grad
    if grad is not None:
        twin.grad = copy.deepcopy(grad, memo)
    attributes = _attributes(self)
    if attributes:
        twin.__dict__.update(copy.deepcopy(attributes, memo))
    return twin


def _deep_array(a: Any, memo: dict[int, Any]) -> Any:
    """A copy of an array; arrays on the same memory become arrays on the same copy."""
    if not isinstance(a, np.ndarray):
        return copy.deepcopy(a, memo)
    owner = storage_of(a)
    if owner.base is not None or type(owner) is not np.ndarray:  # memory of another kind: a buffer, a file
        return a.copy()
    copied = memo.get(id(owner))
    if copied is None:
        copied = memo[id(owner)] = owner.copy(order="K")
        memo.setdefault(id(memo), []).append(owner)  # keeps the id valid as long as the memo lives
    if a is owner:
        return copied
    if copied.strides != owner.strides:  # the owner was not dense: the offset below would point to another element
        return a.copy()
    offset = a.__array_interface__["data"][0] - owner.__array_interface__["data"][0]
    view = np.ndarray(a.shape, a.dtype, copied, offset, a.strides)
    view.flags.writeable = a.flags.writeable
    return view


keep_former_name("_copying", sys.modules[__name__], rebuild)
