"""The tape's surface: ``backward``, ``grad``, and what a tensor knows of its place in the graph."""

from __future__ import annotations

import math
import sys
import warnings
import weakref
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from .._base.constants import type_name
from .._base.dtypes import BY_NUMPY
from .._base.dtypes import dtype as Dtype
from .._base.errors import noted, where
from .._base.grad_mode import grad_mode
from .._base.modes import M, in_transform, is_grad_enabled, is_inference_mode_enabled, transforms
from .._payloads.transforms import ones_payload
from .engine import accumulate, run
from .error_text import cpp_name
from .inference import is_inference
from .node import AccumulateGrad, HookDict, Node, Port, RemovableHandle, hooks_of, leaf_node, port_of
from .tensor import Tensor, current_fn, device_of, late, wrap


# ------------------------------------------------------------------------------------------------- backward and grad
def _is_one(value: Any) -> bool:
    return isinstance(value, Tensor) or hasattr(value, "output_nr")


def _listed(value: Any) -> list[Any]:
    return [value] if _is_one(value) else list(value)


def _listed_inputs(inputs: Any, who: str) -> list[Any]:
    if type(inputs) is dict:
        inputs = inputs.values()
    elif isinstance(inputs, Mapping):
        raise TypeError(
            f"`inputs` argument to `{who}()` must be a dict, not {type(inputs).__name__}. Other Mapping types are not "
            "supported."
        )
    listed = _listed(inputs)
    if not listed:
        raise RuntimeError(f"`inputs` argument to `{who}()` cannot be empty.")
    return listed


def _root(i: int, t: Any) -> Node:
    """The node that a pass starts from."""
    edge = edge_node(t)
    if edge is None:
        raise noted(
            RuntimeError(f"element {i} of tensors does not require grad and does not have a grad_fn"),
            "Why: nothing that this tensor was computed from requires grad, or it was computed under no_grad, "
            "or its history was cut by detach(), .data or numpy().",
            "What to do: make a leaf with requires_grad=True before computing the result.",
            code="W003",
        )
    return edge


def edge_node(t: Any) -> Node | None:
    """The node of a tensor or of a GradientEdge."""
    if isinstance(t, Tensor):
        return current_fn(t)
    if not hasattr(t, "node"):
        raise AssertionError("Expected output to be a torch.Tensor")
    node = t.node
    if t.output_nr or len(getattr(node, "meta", ())) > 1:
        return port_of(node, t.output_nr)
    return node


def _of_duals(values: Any) -> bool:
    """Whether dual tensors (``forward_ad``) are among these."""
    forward_ad = sys.modules.get("wengert.autograd.forward_ad")
    return forward_ad is not None and forward_ad.involves_duals(values)


def _edge_shape(edge: Any) -> tuple[Any, Any]:
    """Shape and dtype of what a GradientEdge stands for, as far as it or its node knows them."""
    if hasattr(edge, "shape"):
        return edge.shape, edge.dtype
    meta = getattr(edge.node, "meta", None)
    if meta:
        return meta[edge.output_nr]
    if type(edge.node) is AccumulateGrad:
        return edge.node.box.a.shape, edge.node.box.a.dtype
    return None, None


def _cotangent(i: int, t: Any, g: Any, create_graph: bool) -> Any:
    """The cotangent of one root, checked, in the form in which the pass carries it."""
    if g is None:
        if not isinstance(t, Tensor):
            shape, dtype = _edge_shape(t)
            if shape is None or any(n != 1 for n in shape):
                raise noted(
                    RuntimeError("grad can be implicitly created only for scalar outputs"),
                    "What to do: give a gradient of the shape of what the GradientEdge stands for.",
                )
            g = np.ones(shape, dtype)
            return wrap(g) if create_graph else g
        if t._fn is None:
            return None
        a = t._a
        if type(a) is np.float32:
            return wrap(_ONE) if create_graph else _ONE
        if math.prod(a.shape) != 1:
            raise noted(
                RuntimeError("grad can be implicitly created only for scalar outputs"),
                f"Why: the tensor has shape {list(a.shape)}; a gradient is that of one number.",
                "What to do: reduce it first (.sum().backward()), or give backward() a gradient of the same shape: the "
                "vector of a vector-Jacobian product.",
                code="W004",
            )
        if a.dtype.kind not in "f" and a.dtype.kind != "V":
            raise RuntimeError(f"grad can be implicitly created only for real scalar outputs but got {t.dtype}")
        g = ones_payload(a)
        return wrap(g) if create_graph else g
    if not isinstance(g, Tensor):
        raise TypeError(f"gradients can be either Tensors or None, but got {type(g).__name__}")
    if isinstance(t, Tensor):
        _check_cotangent(i, t, g)
        if g._a.dtype is not t._a.dtype and isinstance(g._a.dtype, np.dtype):
            g = g.to(t.dtype)
    return g if create_graph else g._a


def _check_cotangent(i: int, t: Tensor, g: Tensor) -> None:
    if tuple(g.shape) != tuple(t.shape):
        raise RuntimeError(
            f"Mismatch in shape: grad_output[{i}] has a shape of {g.shape} and output[{i}] has a shape of {t.shape}."
        )
    if g.dtype.is_complex != t.dtype.is_complex:
        raise RuntimeError(
            "For complex Tensors, both grad_output and output are required to have the same dtype. Mismatch in dtype: "
            f"grad_output[{i}] has a dtype of {g.dtype} and output[{i}] has a dtype of {t.dtype}."
        )


def backward(
    tensors: Any,
    grad_tensors: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    grad_variables: Any = None,
    inputs: Any = None,
    *,
    retain_variables: bool | None = None,
) -> None:
    """Accumulate the gradients of ``tensors`` into the leaves they were computed from.

    ``grad_tensors`` are the cotangents (``None`` for scalars), of the tensors' shapes. ``retain_graph`` (default: the
    value of ``create_graph``) keeps what the nodes saved, so that the graph can be walked again. ``create_graph``
    records the pass itself. ``inputs`` limits the pass to those tensors. ``grad_variables`` and ``retain_variables``
    are the names of PyTorch 0.1.

    >>> import wengert as torch
    >>> x = torch.tensor([1., 2.], requires_grad=True)
    >>> torch.autograd.backward([x * x, x * 3], [torch.ones(2), torch.ones(2)])
    >>> x.grad
    tensor([5., 7.])
    """
    if transforms and in_transform():
        raise noted(
            RuntimeError(
                "backward() called inside a functorch transform. This is not supported, please use functorch.grad or "
                "functorch.vjp instead or call backward() outside of functorch transforms."
            ),
            "Why: a transform's function has its results as its only effect; .grad of a tensor would be another.",
        )
    if retain_variables is not None:
        retain_graph = retain_variables
    if grad_variables is not None:
        warnings.warn("`grad_variables` is deprecated. Use `grad_tensors` instead.", FutureWarning, stacklevel=2)
        if grad_tensors is not None:
            raise RuntimeError(
                "`grad_tensors` and `grad_variables` (deprecated) arguments both passed to `backward()`. Please only "
                "use `grad_tensors`."
            )
        grad_tensors = grad_variables
    listed = None if inputs is None else _listed_inputs(inputs, "backward")
    tensors = _listed(tensors)
    grads = _listed(grad_tensors) if grad_tensors is not None else [None] * len(tensors)
    if M and _of_duals((*tensors, *grads)):
        from ..autograd.forward_ad import backward_of_duals

        backward_of_duals(tensors, grads, create_graph, listed)
        return
    from . import stochastic

    tensors, grads, seeds = stochastic.seeded(tensors, grads)
    roots = _roots(tensors, grads, create_graph) + seeds
    nodes = None
    if listed is not None:
        nodes = [_kept(t) for t in listed]
    keep = create_graph if retain_graph is None else retain_graph
    if create_graph:
        _warn_create_graph()
    if nodes is None:
        _run(roots, keep, create_graph, None)
    else:
        _accumulate_into(nodes, _run(roots, keep, create_graph, nodes), create_graph)


def _roots(tensors: list[Any], grads: list[Any], create_graph: bool) -> list[tuple[Node, Any]]:
    if len(tensors) == len(grads) == 1:
        cotangent = _cotangent(0, tensors[0], grads[0], create_graph)
        return [(_root(0, tensors[0]), cotangent)]
    grads = grads[: len(tensors)]
    cotangents = [_cotangent(i, t, g, create_graph) for i, (t, g) in enumerate(zip(tensors, grads, strict=False))]
    if len(grads) != len(tensors):
        raise RuntimeError(f"got {len(tensors)} tensors and {len(grads)} gradients")
    return [(_root(i, t), g) for i, (t, g) in enumerate(zip(tensors, cotangents, strict=True))]


def _kept(t: Any) -> Node:
    """The node of one of ``backward(inputs=)``; an intermediate result keeps its gradient from now on.

    As in PyTorch, where the edge of one only says how far the pass goes.
    """
    if isinstance(t, Tensor):
        retain_grad(t)
    return _input_node(t)


def _warn_create_graph() -> None:
    global _warned_create_graph
    if not _warned_create_graph:
        _warned_create_graph = True
        warnings.warn(
            "Using backward() with create_graph=True will create a reference cycle between the parameter and its "
            "gradient which can cause a memory leak. We recommend using autograd.grad when creating the graph to "
            "avoid this. If you have to use this function, make sure to reset the .grad fields of your parameters to "
            "None after use to break the cycle and avoid the leak.",
            UserWarning,
            stacklevel=3,
        )


_warned_create_graph = False


def _run(roots: Any, keep: bool, create_graph: bool, nodes: Any) -> Any:
    if create_graph and not is_grad_enabled():
        with grad_mode(True):
            return run(roots, keep=keep, create_graph=True, inputs=nodes)
    return run(roots, keep=keep, create_graph=create_graph, inputs=nodes)


def _input_node(t: Any) -> Node:
    if not isinstance(t, Tensor) and not hasattr(t, "node"):
        raise RuntimeError(f"all inputs have to be Tensors or GradientEdges, but got {type(t).__name__}")
    node = edge_node(t)
    if node is None:
        raise noted(
            RuntimeError("One of the differentiated Tensors does not require grad"),
            "What to do: ask for gradients only of tensors that were made with requires_grad=True or computed from "
            "such.",
        )
    return node


def grad(
    outputs: Any,
    inputs: Any,
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> tuple[Tensor, ...]:
    """The gradients of ``outputs`` with respect to ``inputs``, returned; no ``.grad`` is touched.

    Inputs may be leaves or intermediate results. One that the outputs do not depend on is an error, unless
    ``allow_unused`` (then ``None``) or ``materialize_grads`` (then zeros). ``is_grads_batched``: the cotangents have a
    leading dimension of many vectors, and so have the results.

    >>> import wengert as torch
    >>> x = torch.tensor(3., requires_grad=True)
    >>> torch.autograd.grad(x ** 2, x)
    (tensor(6.),)
    """
    if materialize_grads and allow_unused is False:
        raise ValueError(
            "Expected allow_unused to be True or not passed when materialize_grads=True, but got: allow_unused=False."
        )
    if allow_unused is None:
        allow_unused = materialize_grads
    if not only_inputs:
        warnings.warn(
            "only_inputs argument is deprecated and is ignored now (defaults to True). To accumulate gradient for "
            "other parts of the graph, please use torch.autograd.backward.",
            FutureWarning,
            stacklevel=2,
        )
    outs, ins = _listed(outputs), _listed_inputs(inputs, "grad")
    grads = _listed(grad_outputs) if grad_outputs is not None else [None] * len(outs)
    keep = create_graph if retain_graph is None else retain_graph
    if is_grads_batched:
        from ..autograd._batched import batched_grads

        results = batched_grads(outs, ins, grads, keep, create_graph)
    elif M and _of_duals((*outs, *ins, *grads)):
        from ..autograd.forward_ad import grad_of_duals

        results = grad_of_duals(outs, ins, grads, keep, create_graph)
    else:
        roots = _roots(outs, grads, create_graph)
        results = _run(roots, keep, create_graph, [_input_node(t) for t in ins])
    for i, r in enumerate(results):
        if r is None and not allow_unused:
            raise noted(
                RuntimeError(
                    f"The differentiated Tensor at index {i} appears to not have been used in the graph. Set "
                    "allow_unused=True if this is the desired behavior."
                ),
                f"Which: input {i}{_shape_text(ins[i])}.",
                "Why: no operation leads from it to the outputs; perhaps it was replaced, detached or computed after "
                "them.",
                code="W010",
            )
    if materialize_grads:
        results = [zeros_like(t) if r is None else r for t, r in zip(ins, results, strict=True)]
    if type(inputs) is dict:
        return dict(zip(inputs, results, strict=True))  # type: ignore[return-value]
    return tuple(results)


def zeros_like(t: Any) -> Tensor:
    """Zeros for an input that nothing depends on."""
    if not isinstance(t, Tensor):
        raise RuntimeError("materialize_grads cannot be used when the given input is a GradientEdge")
    return t * 0 if not isinstance(t._a, (np.ndarray, np.generic)) else wrap(np.zeros(t._a.shape, t._a.dtype))


def _shape_text(t: Any) -> str:
    return f", of shape {list(t.shape)}" if isinstance(t, Tensor) else ""


def tensor_backward(
    self: Tensor,
    gradient: Tensor | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Any = None,
    *,
    retain_variables: bool | None = None,
) -> None:
    """Accumulate this tensor's gradients into the leaves it was computed from; see ``autograd.backward``.

    A scalar needs no ``gradient`` (it is 1); else it is the cotangent, of this tensor's shape. ``retain_variables`` is
    PyTorch 0.1's name of ``retain_graph``.

    >>> import wengert as torch
    >>> x = torch.tensor([1., 2.], requires_grad=True)
    >>> (x * x).sum().backward()
    >>> x.grad
    tensor([2., 4.])
    """
    fn = self._fn
    if (
        inputs is None
        and fn is not None
        and not create_graph
        and gradient is None
        and type(self._a) is np.float32
        and not transforms
    ):
        keep = retain_variables if retain_graph is None else retain_graph
        run([(current_fn(self), _ONE)], keep=bool(keep), create_graph=False)  # type: ignore[list-item]
        return
    backward(self, gradient, retain_graph, create_graph, inputs=inputs, retain_variables=retain_variables)


_ONE = np.float32(1)


# ------------------------------------------------------------------------------------------------- a tensor's own facts
def assign_requires_grad(self: Tensor, value: bool) -> None:
    """``t.requires_grad = value``: unlike ``requires_grad_()`` it is refused for every result of an operator."""
    if value is True and type(current_fn(self)) not in (AccumulateGrad, type(None)):
        raise RuntimeError("you can only change requires_grad flags of leaf variables.")
    set_requires_grad(self, value)


def set_requires_grad(self: Tensor, value: bool) -> None:
    """Turn recording for a leaf on or off."""
    if type(value) is not bool:
        raise RuntimeError("requires_grad must be a bool")
    fn = current_fn(self)
    if fn is not None and type(fn) is not AccumulateGrad:
        if value:
            return
        raise RuntimeError(
            "you can only change requires_grad flags of leaf variables. If you want to use a computed variable in a "
            "subgraph that doesn't require differentiation use var_no_grad = var.detach()."
        )
    if not value:
        if fn is not None:
            grad = fn.grad  # type: ignore[attr-defined]
            self._fn = None
            if grad is not None:
                self.__dict__["_grad"] = grad
            if fn.h is not None:  # its hooks hold again once it requires grad again
                self.__dict__["_hooks"] = fn.h
        return
    if fn is None:
        check_floating(self, "only Tensors of floating point and complex dtype")
        if is_inference(self) and not is_inference_mode_enabled():
            raise RuntimeError("Setting requires_grad=True on inference tensor outside InferenceMode is not allowed.")
        grad = self.__dict__.pop("_grad", None)
        node = leaf_node(self)
        node.grad = grad
        node.h = self.__dict__.pop("_hooks", node.h)


def check_floating(self: Tensor, wanted: str = "only Tensors of floating point dtype") -> None:
    """Only floating and complex tensors can require gradients."""
    kind = self._a.dtype.kind
    if kind not in "fcV":
        raise noted(
            RuntimeError(f"{wanted} can require gradients"),
            f"Why: the tensor is {self.dtype}, and a derivative needs a continuous value.",
            "What to do: convert it first, for example with .float().",
            code="W007",
        )


def requires_grad_(self: Tensor, requires_grad: bool = True) -> Tensor:
    """Turn recording for this leaf on or off, in place.

    >>> import wengert as torch
    >>> torch.ones(2).requires_grad_().requires_grad
    True
    """
    if type(requires_grad) is not bool:
        raise TypeError(
            f"requires_grad_(): argument 'requires_grad' (position 1) must be bool, not {type_name(requires_grad)}"
        )
    if transforms and in_transform():
        raise _refused_in_transform(
            "Tensor.requires_grad_() (or perhaps using torch.autograd.functional.* APIs)", "requires_grad_()"
        )
    if requires_grad and self._fn is None:
        kind = self._a.dtype.kind
        if kind not in "fcV":
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
    """``.grad`` of a tensor that is no leaf requiring grad: what retain_grad kept or the user put there."""
    grad = self.__dict__.get("_grad")
    if grad is None and self._fn is not None and not self.__dict__.get("_retains"):
        warnings.warn(
            "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad attribute won't "
            "be populated during autograd.backward(). If you indeed want the .grad field to be populated for a "
            "non-leaf Tensor, use .retain_grad() on the non-leaf Tensor. If you access the non-leaf Tensor by "
            "mistake, make sure you access the leaf Tensor instead. See github.com/pytorch/pytorch/pull/30531 for "
            f"more informations. (It was made at {where(self._fn.code, self._fn.lasti)}; docs/errors.md, W009)",
            UserWarning,
            stacklevel=3,
        )
    return grad


def set_grad(self: Tensor, value: Tensor | None) -> None:
    """Assign ``.grad``, with PyTorch's checks."""
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
        if device_of(value._a) is not device_of(self._a):
            raise RuntimeError(
                f"attempting to assign a gradient with device type '{value.device}' to a tensor with device type "
                f"'{self.device}'. Please ensure that the gradient and the tensor are on the same device"
            )
        if tuple(value.shape) != tuple(self.shape):
            raise RuntimeError(
                f"attempting to assign a gradient of size '{list(value.shape)}' to a tensor of size "
                f"'{list(self.shape)}'. Please ensure that the gradient and the tensor are the same size"
            )
    fn = self._fn
    if type(fn) is AccumulateGrad:
        fn.grad = value
    elif value is None:
        self.__dict__.pop("_grad", None)
    else:
        self.__dict__["_grad"] = value


def grad_dtype(self: Tensor) -> Any:
    """The dtype of ``.grad``, which is the tensor's unless the program sets another; ``None`` for any.

    Only leaves have one, and only those that require grad may be given one.

    >>> import wengert as torch
    >>> w = torch.ones(2, requires_grad=True)
    >>> w.grad_dtype = torch.float64
    >>> (w * 2).sum().backward()
    >>> w.grad
    tensor([2., 2.], dtype=torch.float64)
    """
    if not self.is_leaf:
        raise RuntimeError("grad_dtype can only be accessed on leaf tensors.")
    h = None if self._fn is None else self._fn.h
    if h is None or h.grad_dtype is None:
        return self.dtype
    return None if h.grad_dtype[0] is None else BY_NUMPY[h.grad_dtype[0]]


def set_grad_dtype(self: Tensor, dtype: Any) -> None:
    """Assign ``grad_dtype``."""
    if dtype is not None and not isinstance(dtype, Dtype):
        raise RuntimeError(f"grad_dtype must be a torch.dtype or None, but got {type(dtype).__name__}")
    if not self.is_leaf:
        raise RuntimeError("grad_dtype can only be set on leaf tensors.")
    if type(self._fn) is not AccumulateGrad:
        raise noted(
            RuntimeError("grad_dtype can only be set on tensors that require grad"),
            "What to do: tensor.requires_grad_() first.",
        )
    grad = self._fn.grad
    if dtype is not None and grad is not None and grad.dtype is not dtype:
        raise RuntimeError(
            f"Cannot set grad_dtype to '{dtype.scalar_name}' because there is already a gradient with dtype "
            f"'{cpp_name(grad)}'. Please clear the gradient (.grad = None) before changing grad_dtype, or ensure the "
            "new grad_dtype matches the existing gradient's dtype."
        )
    hooks_of(self._fn).grad_dtype = (None if dtype is None else dtype.np,)


def set_data(self: Tensor, value: Tensor) -> None:
    """``t.data = u``: t takes over u's memory, outside of the graph; t keeps its place in the graph and its version."""
    if not isinstance(value, Tensor):
        raise TypeError(f"Variable data has to be a tensor, but got {type(value).__name__}")
    from .tensor import alias_payload

    a = alias_payload(value)
    if a is self._a:
        return
    if device_of(a) is not device_of(self._a):
        raise noted(
            RuntimeError(
                "Attempted to call `variable.set_data(tensor)`, but `variable` and `tensor` have incompatible tensor "
                "type."
            ),
            f"Why: the one is on device '{self.device}', the other on '{value.device}'.",
        )
    fn = self._fn
    if fn is not None and (a.dtype.kind not in "fcV"):
        raise RuntimeError("data set to a tensor that requires gradients must be floating point or complex dtype")
    from .view_chain import moved

    moved.append("data")
    self._a = a
    if self._m is not None:
        self._m.a = a


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
    fn = current_fn(self)
    if fn is None:
        raise RuntimeError("can't retain_grad on Tensor that has requires_grad=False")
    if type(fn) is AccumulateGrad or self.__dict__.get("_retains"):
        return
    self.__dict__["_retains"] = True
    hooks_of(fn).retain = weakref.ref(self)


def retains_grad(self: Tensor) -> bool:
    """Whether ``retain_grad`` is in force for this intermediate result."""
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
    fn = current_fn(self)
    if fn is None:
        raise noted(
            RuntimeError("cannot register a hook on a tensor that doesn't require gradient"),
            "Why: no backward pass ever reaches this tensor.",
            "What to do: make it, or something it is computed from, with requires_grad=True.",
        )
    h = hooks_of(fn)
    if h.tensor_pre is None:
        h.tensor_pre = HookDict()
    handle = RemovableHandle(h.tensor_pre)
    h.tensor_pre[handle.id] = hook
    return handle


def register_post_accumulate_grad_hook(self: Tensor, hook: Callable[[Tensor], None]) -> RemovableHandle:
    """Call ``hook(tensor)`` after this leaf's ``.grad`` was accumulated in a backward pass."""
    fn = current_fn(self)
    if fn is None:
        raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
    if type(fn) is not AccumulateGrad:
        raise RuntimeError("post accumulate grad hooks cannot be registered on non-leaf tensors")
    h = hooks_of(fn)
    if h.post_accumulate is None:
        h.post_accumulate = HookDict()
    handle = RemovableHandle(h.post_accumulate)
    h.post_accumulate[handle.id] = hook
    return handle


def _accumulate_into(nodes: list[Node], results: list[Any], create_graph: bool) -> None:
    """``backward(inputs=...)``: add what was captured to the leaves' ``.grad``."""
    done: set[Node] = set()
    for node, g in zip(nodes, results, strict=True):
        if node in done or type(node) is not AccumulateGrad or (g is None and node.h is None):
            continue  # an intermediate result kept its gradient by itself
        done.add(node)
        accumulate(node, g if create_graph or g is None else g._a, create_graph, hooks_done=True)


def pack_saved(result: Any, hooks: tuple[Any, Any]) -> None:
    """Give what a new node saved to the pack hook; unpacked when a formula needs it."""
    global _pack_node
    if _pack_node is None:
        from ..autograd._saved_hooks import pack_node as _pack_node
    for t in result if isinstance(result, (tuple, list)) else (result,):
        if isinstance(t, Tensor) and t._fn is not None and type(t._fn) is not AccumulateGrad:
            node = t._fn.fx if type(t._fn) is Port else t._fn
            _pack_node(node, hooks)
            if type(t._fn) is not Port:
                break


_pack_node: Any = None  # of the autograd package, which is not imported before something needs it


GRAD_CODE = grad.__code__  # by which a pass of autograd.grad is told
late.grad_of_other, late.set_data = grad_of_other, set_data
late.set_grad, late.set_requires_grad = set_grad, assign_requires_grad
