"""The properties and methods that read and change a tensor's position in the graph.

These are ``requires_grad``, ``grad``, ``grad_dtype``, ``data``, ``retain_grad`` and hooks. This module sets them on
``Tensor``, except for ordinary methods, which ``_tensor_api.publish`` sets.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from .._base.constants import type_name
from .._base.dtypes import BY_NUMPY
from .._base.dtypes import dtype as Dtype
from .._base.errors import noted, refuse_unknown, refuses_unknown, warn, where
from .._base.modes import in_transform, inference_tensors, is_inference_mode_enabled, transforms
from .conjugates import conjugate_views, data_box
from .error_text import cpp_name
from .inference import is_inference, mark_data
from .node import LEAVES, AccumulateGrad, Node, RemovableHandle, add_hook, hooks_of, leaf_node, view_of
from .saved import keep_for_its_node, keep_viewed
from .tensor import Tensor, current_fn, device_of, given_away, make, new, shared_payload, shown_fn
from .view_chain import reshaped_in_place
from .views import begin_history


def assign_requires_grad(self: Tensor, value: bool) -> None:
    """``t.requires_grad = value``: unlike ``requires_grad_()``, it raises for every result of an operator."""
    if value is True and type(current_fn(self)) not in LEAVES:
        raise RuntimeError("you can only change requires_grad flags of leaf variables.")
    set_requires_grad(self, value)


def set_requires_grad(self: Tensor, value: bool) -> None:
    """Turn recording for a leaf on or off."""
    if type(value) is not bool:
        raise RuntimeError("requires_grad must be a bool")
    fn = current_fn(self)
    if type(fn) not in LEAVES:
        if value:
            return
        raise RuntimeError(
            "you can only change requires_grad flags of leaf variables. If you want to use a computed variable in a "
            "subgraph that doesn't require differentiation use var_no_grad = var.detach()."
        )
    if not value:
        if type(fn) is AccumulateGrad:
            grad = fn.grad
            self._node = None
            if grad is not None:
                self.__dict__["_grad"] = grad
            if fn._hooks is not None:  # its hooks are active again when it requires grad again
                self.__dict__["_hooks"] = fn._hooks
        return
    if inference_tensors and is_inference(self) and not is_inference_mode_enabled():
        raise RuntimeError("Setting requires_grad=True on inference tensor outside InferenceMode is not allowed.")
    if type(fn) is not AccumulateGrad:
        check_floating(self, "only Tensors of floating point and complex dtype")
        grad = self.__dict__.pop("_grad", None)
        node = leaf_node(self)
        node.grad = grad
        node._hooks = self.__dict__.pop("_hooks", node._hooks)
        begin_history(self)


def check_floating(self: Tensor, wanted: str = "only Tensors of floating point dtype") -> None:
    """Only floating and complex tensors can require gradients."""
    kind = self._payload.dtype.kind
    if kind not in "fcV":
        raise noted(
            RuntimeError(f"{wanted} can require gradients"),
            f"Why: the tensor is {self.dtype}, and a derivative needs a continuous value.",
            "What to do: convert it first, for example with .float().",
            code="W007",
        )


@refuses_unknown
def requires_grad_(self: Tensor, requires_grad: bool = True, **unknown: Any) -> Tensor:
    """Turn recording for this leaf on or off, in place.

    >>> import wengert as torch
    >>> torch.ones(2).requires_grad_().requires_grad
    True
    """
    if unknown:
        refuse_unknown(requires_grad_, "requires_grad_", unknown)
    if type(requires_grad) is not bool:
        raise TypeError(
            f"requires_grad_(): argument 'requires_grad' (position 1) must be bool, not {type_name(requires_grad)}"
        )
    if transforms and in_transform():
        raise _refused_in_transform(
            "Tensor.requires_grad_() (or perhaps using torch.autograd.functional.* APIs)", "requires_grad_()"
        )
    if requires_grad and self._node is None:
        check_floating(self)
    set_requires_grad(self, requires_grad)
    return self


def _refused_in_transform(what: str, name: str) -> RuntimeError:
    return RuntimeError(
        f"You are attempting to call {what} inside of a function being transformed by a functorch transform. This is "
        "unsupported, please attempt to use the functorch transforms (e.g. grad, vjp, jacrev, jacfwd, hessian) or call "
        f"{name} outside of a function being transformed instead."
    )


def grad_of_other(self: Tensor) -> Tensor | None:
    """``.grad`` of a tensor that is not a leaf requiring grad: retained by ``retain_grad`` or set by the user."""
    grad = self.__dict__.get("_grad")
    if grad is None and type(self._node) not in LEAVES and not self.__dict__.get("_retains"):
        warn(
            "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad attribute won't "
            "be populated during autograd.backward(). If you indeed want the .grad field to be populated for a "
            "non-leaf Tensor, use .retain_grad() on the non-leaf Tensor. If you access the non-leaf Tensor by "
            "mistake, make sure you access the leaf Tensor instead. See github.com/pytorch/pytorch/pull/30531 for "
            "more information. More: docs/errors.md, W009 (python -m wengert explain W009)\n"
            f"Where: it was made at {where(self._node._code, self._node._lasti)}",
            UserWarning,
        )
    return grad


def grad(self: Tensor) -> Tensor | None:
    """The gradient that backward passes have accumulated; ``None`` before the first pass."""
    fn = self._node
    if type(fn) is AccumulateGrad:
        return fn.grad
    return grad_of_other(self) if fn is not None or "_grad" in self.__dict__ else None


def set_grad(self: Tensor, value: Tensor | None) -> None:
    """Assign ``.grad``, with PyTorch's checks."""
    fn = self._node
    if value is None and type(fn) is AccumulateGrad:
        fn.grad = None
        return
    if value is not None:
        if not isinstance(value, Tensor):
            raise TypeError(
                f"assigned grad expected to be a Tensor or None but got grad of type {type(value).__name__}"
            )
        if value is self:
            raise RuntimeError("can't assign Variable as its own grad")
        wanted = grad_dtype(self) if self.is_leaf else self.dtype
        if wanted is not None and value.dtype is not wanted:
            raise RuntimeError(
                f"attempting to assign a gradient with dtype '{cpp_name(value)}' to a tensor with grad_dtype "
                f"'{wanted.scalar_name}'. The gradient must match the tensor's grad_dtype (defaults to the tensor's "
                "dtype). You can set the tensor's grad_dtype attribute with a specific dtype, or None to allow any "
                "dtype. Set grad_dtype with caution. Diverging the dtypes of a tensor and its gradient may break "
                "downstream systems that assume they match."
            )
        if device_of(value._payload) is not device_of(self._payload):
            raise RuntimeError(
                f"attempting to assign a gradient with device type '{value.device}' to a tensor with device type "
                f"'{self.device}'. Please ensure that the gradient and the tensor are on the same device"
            )
        kinds = [getattr(t._payload, "layout", None) for t in (self, value)]
        if kinds[0] is not kinds[1] and (kinds[0] is not None or type(value._payload).__name__ == "Compressed"):
            raise RuntimeError("attempting to assign a gradient to a tensor that has data of a different type")
        if tuple(value.shape) != tuple(self.shape):
            raise RuntimeError(
                f"attempting to assign a gradient of size '{list(value.shape)}' to a tensor of size "
                f"'{list(self.shape)}'. Please ensure that the gradient and the tensor are the same size"
            )
    if type(fn) is AccumulateGrad:
        fn.grad = value
    elif value is None:
        self.__dict__.pop("_grad", None)
    else:
        self.__dict__["_grad"] = value


def grad_dtype(self: Tensor) -> Any:
    """The dtype of ``.grad``: the tensor's dtype unless the program sets another; ``None`` allows any.

    Only leaves have it, and it can be set only on leaves that require grad.

    >>> import wengert as torch
    >>> w = torch.ones(2, requires_grad=True)
    >>> w.grad_dtype = torch.float64
    >>> (w * 2).sum().backward()
    >>> w.grad
    tensor([2., 2.], dtype=torch.float64)
    """
    if not self.is_leaf:
        raise RuntimeError("grad_dtype can only be accessed on leaf tensors.")
    h = None if self._node is None else self._node._hooks
    if h is None or h.grad_dtype is None:
        return self.dtype
    return None if h.grad_dtype[0] is None else BY_NUMPY[h.grad_dtype[0]]


def set_grad_dtype(self: Tensor, dtype: Any) -> None:
    """Assign ``grad_dtype``."""
    if dtype is not None and not isinstance(dtype, Dtype):
        raise RuntimeError(f"grad_dtype must be a torch.dtype or None, but got {type(dtype).__name__}")
    if not self.is_leaf:
        raise RuntimeError("grad_dtype can only be set on leaf tensors.")
    if type(self._node) is not AccumulateGrad:
        raise noted(
            RuntimeError("grad_dtype can only be set on tensors that require grad"),
            "What to do: tensor.requires_grad_() first.",
        )
    grad = self._node.grad
    if dtype is not None and grad is not None and grad.dtype is not dtype:
        raise RuntimeError(
            f"Cannot set grad_dtype to '{dtype.scalar_name}' because there is already a gradient with dtype "
            f"'{cpp_name(grad)}'. Please clear the gradient (.grad = None) before changing grad_dtype, or ensure the "
            "new grad_dtype matches the existing gradient's dtype."
        )
    hooks_of(self._node).grad_dtype = (None if dtype is None else dtype.np,)


def delete_grad(self: Tensor) -> None:
    """``del t.grad``, the same as ``t.grad = None``."""
    set_grad(self, None)


def data(self: Tensor) -> Tensor:
    """A tensor on the same memory, outside the graph, with a version count of its own."""
    if hasattr(self._payload, "asked"):
        return self._payload.asked("detach")  # type: ignore[no-any-return]
    return as_data(self, make() if type(self) is Tensor else new(type(self)))


def as_data(self: Tensor, t: Tensor) -> Tensor:
    """The new tensor ``t``, made what ``self.data`` is."""
    a = self._payload
    if type(a) is not np.ndarray:
        a = getattr(a, "without_tangent", shared_payload(self, t, counted=False))
    t._payload = a
    t._node = None
    t._box = data_box(self, a) if conjugate_views else None
    return mark_data(t) if inference_tensors and is_inference(self) else t


def set_data(self: Tensor, value: Tensor) -> None:
    """``t.data = u``: t takes over u's memory, not u's history; t keeps its own node and version."""
    if getattr(value, "_payload", None) is self._payload:  # as in ``w.data -= step``, already written in place
        return
    if not isinstance(value, Tensor):
        raise TypeError(f"Variable data has to be a tensor, but got {type(value).__name__}")
    a = given_away(value)
    if a is self._payload:
        return
    if type(a) is not type(self._payload) and getattr(a, "is_sparse", False) != getattr(
        self._payload, "is_sparse", False
    ):
        raise RuntimeError(
            "Attempted to call `variable.set_data(tensor)`, but `variable` and `tensor` have incompatible tensor type."
        )
    if device_of(a) is not device_of(self._payload):
        raise noted(
            RuntimeError(
                "Attempted to call `variable.set_data(tensor)`, but `variable` and `tensor` have incompatible tensor "
                "type."
            ),
            f"Why: the one is on device '{self.device}', the other on '{value.device}'.",
        )
    fn = self._node
    if fn is not None and (a.dtype.kind not in "fcV"):
        raise RuntimeError("data set to a tensor that requires gradients must be floating point or complex dtype")
    reshaped_in_place[:] = ("data",)
    if view_of(self) is not None and isinstance(a, np.ndarray):
        a = a[...]
    self._payload = a
    if self._box is not None:
        if type(fn) not in LEAVES:
            keep_for_its_node(self)
        keep_viewed(self._box)
        self._box.a = a
    if inference_tensors:
        if is_inference(value):
            mark_data(self)
        elif is_inference(self) and view_of(self) is None:
            self._box = None


def retain_grad(self: Tensor) -> None:
    """Keep this intermediate result's gradient in ``.grad``.

    >>> import wengert as torch
    >>> x = torch.tensor(2., requires_grad=True)
    >>> y = x * 3
    >>> y.retain_grad()
    >>> (y * y).backward()
    >>> y.grad
    tensor(12.)
    """
    if transforms and in_transform():
        raise _refused_in_transform("Tensor.retain_grad()", "retain_grad()")
    fn = shown_fn(self)
    if fn is None:
        raise RuntimeError("can't retain_grad on Tensor that has requires_grad=False")
    if type(fn) in LEAVES or self.__dict__.get("_retains"):
        return
    self.__dict__["_retains"] = True
    hooks_of(fn).retain = weakref.ref(self)


def retains_grad(self: Tensor) -> bool:
    """Whether this intermediate result retains its gradient, see ``retain_grad``."""
    return bool(self.__dict__.get("_retains", False))


def register_hook(self: Tensor, hook: Callable[[Tensor], Tensor | None]) -> RemovableHandle:
    """Call ``hook(grad)`` with this tensor's gradient in each backward pass; it may return a new gradient.

    >>> import wengert as torch
    >>> v = torch.tensor([0., 0., 0.], requires_grad=True)
    >>> h = v.register_hook(lambda grad: grad * 2)
    >>> v.backward(torch.ones(3))
    >>> v.grad
    tensor([2., 2., 2.])
    >>> h.remove()
    """
    fn = shown_fn(self)
    if fn is None:
        raise noted(
            RuntimeError("cannot register a hook on a tensor that doesn't require gradient"),
            "Why: no backward pass ever reaches this tensor.",
            "What to do: make it, or something it is computed from, with requires_grad=True.",
        )
    return add_hook(fn, "tensor_pre", hook)


def register_post_accumulate_grad_hook(self: Tensor, hook: Callable[[Tensor], None]) -> RemovableHandle:
    """Call ``hook(tensor)`` after this leaf's ``.grad`` was accumulated in a backward pass."""
    fn = shown_fn(self)
    if fn is None:
        raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
    if type(fn) not in LEAVES:
        raise RuntimeError("post accumulate grad hooks cannot be registered on non-leaf tensors")
    return add_hook(fn, "post_accumulate", hook)


def input_metadata(self: Node) -> Any:
    """The shape, dtype and device of each gradient that the node takes."""
    from .metadata import input_metadata

    return input_metadata(self)


def _no_deleting(message: str) -> Any:
    def refuse(self: Tensor) -> None:
        raise RuntimeError(message)

    return refuse


Tensor.requires_grad = Tensor.requires_grad.setter(assign_requires_grad).deleter(
    _no_deleting("requires_grad must be a bool")
)
Node._input_metadata = property(input_metadata)
Tensor.grad = property(grad, set_grad, delete_grad)  # type: ignore[assignment]  # the stub shows the value
Tensor.data = property(data, set_data, _no_deleting("Deleting tensor data is not allowed. Delete tensor instead!"))  # type: ignore[assignment]  # as above
