"""The tape's public functions, ``backward`` and ``grad``, which check their arguments as PyTorch does."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from .._base.dtypes import BY_NUMPY, make_size
from .._base.errors import noted, program_frame, refuse_unknown, refuses_unknown, unexpected_keyword, warn, warn_once
from .._base.grad_mode import grad_mode
from .._base.hooks import hook
from .._base.modes import in_transform, is_grad_enabled, transforms
from .._base.tracebacks import shortens
from .delivery import accumulate
from .engine import run
from .node import AccumulateGrad, Node, NoHistory, port_of
from .properties import retain_grad
from .stochastic import seeded
from .tensor import Tensor, current_fn, payload_like, shown_fn, stale_views, wrap


class Interceptor(NamedTuple):
    """An extension that runs the passes over its own tensors in place of the engine."""

    concerns: Callable[[Sequence[Any]], bool]  # whether such a tensor is among a pass's roots, inputs and cotangents
    backward: Callable[..., None]  # (roots, cotangents, create_graph, inputs)
    grad: Callable[..., list[Any]]  # (roots, inputs, cotangents, keep, create_graph): the gradients


interceptors: list[Interceptor] = []
"""A hook: who takes passes over; ``autograd.forward_ad`` for its dual tensors, while a level is open."""


def _taken_by(values: Sequence[Any]) -> Interceptor | None:
    return next((i for i in interceptors if i.concerns(values)), None)


@hook
def probable_causes(tensor: Tensor, frame: Any) -> Any:
    """Sentences on what cut a tensor's history, from the program's text. Set by ``_tensor_api.publish``."""


_MISSING: Any = object()


@hook
def batched_grads(outputs: list[Any], inputs: list[Any], grads: list[Any], keep: bool, create_graph: bool) -> Any:
    """``grad(is_grads_batched=True)``: gradients with a leading batch dimension. Set by ``_payloads``."""


# ---- backward and grad
def _listed(value: Any) -> list[Any]:
    return [value] if isinstance(value, Tensor) or hasattr(value, "output_nr") else list(value)


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
    if edge is None or type(edge) is NoHistory:
        causes = probable_causes.run(t, program_frame(sys._getframe(1)))
        why = (
            "Why: nothing that this tensor was computed from requires grad, or it was computed under no_grad, or its "
            "history was cut by detach(), .data or numpy()."
        )
        raise noted(
            RuntimeError(f"element {i} of tensors does not require grad and does not have a grad_fn"),
            *([f"Probably: {cause}." for cause in causes] or [why]),
            _advice_on(causes),
            code="W003",
        )
    return edge


_MENDS = {
    "no_grad": "compute the loss outside of that block", "inference_mode": "compute the loss outside of that block",
    "derivative": "compute the loss from the values before it (cross_entropy of the scores, not their argmax)",
    "copies values": "torch.stack([...]) or torch.cat([...]) make one tensor of many and keep their gradients; one "
    "tensor needs no copy",
    "a plain number": "use the tensor itself", "gives an array": "use torch's functions in place of NumPy's",
    "leaves the graph": "leave it out where the gradient must pass", "requires grad": "p.requires_grad_(True) for "
    "those that are to be trained",
}  # fmt: skip  # by words of a cause


def _advice_on(causes: list[str]) -> str:
    mends = dict.fromkeys(mend for cause in causes for words, mend in _MENDS.items() if words in cause)
    return f"What to do: {'; '.join(mends) or 'make a leaf with requires_grad=True before computing the result'}."


def edge_node(t: Any) -> Node | None:
    """The node of a tensor or of a GradientEdge."""
    if isinstance(t, Tensor):
        return current_fn(t)
    if not hasattr(t, "node"):
        raise AssertionError("Expected output to be a torch.Tensor")
    node = t.node
    if t.output_nr or len(getattr(node, "outputs_meta", ())) > 1:
        return port_of(node, t.output_nr)
    return node


def _edge_shape(edge: Any) -> tuple[Any, Any]:
    """The shape and dtype of the tensor behind a GradientEdge, as far as the edge or its node knows them."""
    if hasattr(edge, "shape"):
        return edge.shape, edge.dtype
    if not hasattr(edge, "node"):
        raise AssertionError("Expected output to be a torch.Tensor")
    meta = getattr(edge.node, "outputs_meta", None)
    if meta:
        return meta[edge.output_nr]
    if type(edge.node) is AccumulateGrad:
        return edge.node.box.a.shape, edge.node.box.a.dtype
    return None, None


def _cotangent(i: int, t: Any, g: Any, create_graph: bool) -> Any:
    """Check the cotangent of one root and convert it to the form that the pass uses."""
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
        if t._node is None:
            return None
        a = t._payload
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
        g = payload_like(a, np.ones)
        return wrap(g) if create_graph else g
    if not isinstance(g, Tensor):
        raise TypeError(f"gradients can be either Tensors or None, but got {type(g).__name__}")
    if not isinstance(t, Tensor):
        shape, dtype = _edge_shape(t)
        if shape is not None:
            _check_cotangent(i, SimpleNamespace(shape=make_size(shape), dtype=BY_NUMPY[dtype]), g)
    else:
        _check_cotangent(i, t, g)
        if g._payload.dtype is not t._payload.dtype and isinstance(g._payload.dtype, np.dtype):
            g = g.to(t.dtype)
            if hasattr(t._payload, "lifted"):  # a wrapper's class computes with its own
                g = t._payload.lifted(g)
    return g if create_graph else g._payload


def _check_cotangent(i: int, t: Any, g: Tensor) -> None:
    if tuple(g.shape) != tuple(t.shape):
        raise noted(
            RuntimeError(
                f"Mismatch in shape: grad_output[{i}] has a shape of {g.shape} and output[{i}] has a shape of "
                f"{t.shape}."
            ),
            "What to do: give a gradient of the output's shape: torch.ones_like(output) adds the gradients of its "
            "elements.",
            code="W004",
        )
    if g.dtype.is_complex != t.dtype.is_complex:
        raise RuntimeError(
            "For complex Tensors, both grad_output and output are required to have the same dtype. Mismatch in dtype: "
            f"grad_output[{i}] has a dtype of {g.dtype} and output[{i}] has a dtype of {t.dtype}."
        )


@shortens
@refuses_unknown
def backward(
    tensors: Any = _MISSING,
    grad_tensors: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    grad_variables: Any = None,
    inputs: Any = None,
    **former: Any,
) -> None:
    """Accumulate the gradients of ``tensors`` into the leaves they were computed from.

    ``grad_tensors`` are the cotangents (``None`` for scalars), of the tensors' shapes. ``retain_graph`` (default: the
    value of ``create_graph``) keeps the nodes' saved values, so that the graph can be walked again. ``create_graph``
    records the pass itself. ``inputs`` limits the pass to those tensors. ``variables``, ``grad_variables`` and
    ``retain_variables`` are the names of PyTorch 0.1, with a FutureWarning.

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
    if former or grad_variables is not None:
        tensors, retain_graph = _of_former_names(tensors, retain_graph, grad_variables, former)
    if tensors is _MISSING:
        raise TypeError("backward() missing 1 required positional argument: 'tensors'")
    if grad_variables is not None:
        if grad_tensors is not None:
            raise RuntimeError(
                "`grad_tensors` and `grad_variables` (deprecated) arguments both passed to `backward()`. Please only "
                "use `grad_tensors`."
            )
        grad_tensors = grad_variables
    listed = None if inputs is None else _listed_inputs(inputs, "backward")
    tensors = _listed(tensors)
    grads = _listed(grad_tensors) if grad_tensors is not None else [None] * len(tensors)
    if interceptors and (taker := _taken_by((*tensors, *grads))):
        taker.backward(tensors, grads, create_graph, listed)
        return
    tensors, grads, seeds = seeded(tensors, grads)
    roots = _roots(tensors, grads, create_graph) + seeds
    nodes = None
    if listed is not None:
        nodes = [_kept(t) for t in listed]
    keep = create_graph if retain_graph is None else retain_graph
    if create_graph:
        warn_once(
            "Using backward() with create_graph=True will create a reference cycle between the parameter and its "
            "gradient which can cause a memory leak. We recommend using autograd.grad when creating the graph to "
            "avoid this. If you have to use this function, make sure to reset the .grad fields of your parameters to "
            "None after use to break the cycle and avoid the leak."
        )
    if nodes is None:
        _run(roots, keep, create_graph, None)
    else:
        _accumulate_into(nodes, _run(roots, keep, create_graph, nodes), create_graph)


def _of_former_names(tensors: Any, retain_graph: Any, grads: Any, former: dict[str, Any]) -> tuple[Any, Any]:
    """The arguments ``tensors`` and ``retain_graph``, as they may have been called in PyTorch 0.1, with one warning."""
    for word in former:
        if word not in FORMER:
            known = ("tensors", "grad_tensors", "retain_graph", "create_graph", "inputs", *FORMER)
            eras = "; ".join(f"{new} was {old} until PyTorch {era}" for old, (new, era) in FORMER.items())
            raise unexpected_keyword("backward", word, known, f"Former names: {eras}.")
    used = [*former] if grads is None else [*former, "grad_variables"]
    warn(" ".join(f"`{old}` is deprecated. Use `{FORMER[old][0]}` instead." for old in used), FutureWarning)
    if "variables" in former and tensors is not _MISSING:
        raise TypeError("backward() got multiple values for argument 'tensors'")
    keep = former.get("retain_variables")
    return former.get("variables", tensors), retain_graph if keep is None else keep


FORMER = {
    "variables": ("tensors", "0.3"), "grad_variables": ("grad_tensors", "0.3"),
    "retain_variables": ("retain_graph", "0.1.12"),
}  # fmt: skip


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
    """The node of one of ``backward(inputs=)``; an intermediate result retains its gradient from now on.

    A GradientEdge to an intermediate result, as in PyTorch, only limits the pass.
    """
    if isinstance(t, Tensor):
        retain_grad(t)
    return _input_node(t)


def _run(roots: Any, keep: bool, create_graph: bool, nodes: Any, returned: bool = False) -> Any:
    if create_graph and not is_grad_enabled():
        with grad_mode(True):
            return run(roots, keep=keep, create_graph=True, inputs=nodes, returned=returned)
    return run(roots, keep=keep, create_graph=create_graph, inputs=nodes, returned=returned)


def _input_node(t: Any) -> Node:
    if not isinstance(t, Tensor) and not hasattr(t, "node"):
        raise RuntimeError(f"all inputs have to be Tensors or GradientEdges, but got {type(t).__name__}")
    node = shown_fn(t) if isinstance(t, Tensor) else edge_node(t)
    if node is None:
        raise noted(
            RuntimeError("One of the differentiated Tensors does not require grad"),
            "What to do: ask for gradients only of tensors that were made with requires_grad=True or computed from "
            "such.",
        )
    return NoHistory() if type(node) is NoHistory else node  # nothing leads to it


@shortens
@refuses_unknown
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
    **unknown: Any,
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
    if unknown:
        refuse_unknown(grad, "grad", unknown)
    if materialize_grads and allow_unused is False:
        raise ValueError(
            "Expected allow_unused to be True or not passed when materialize_grads=True, but got: allow_unused=False."
        )
    if allow_unused is None:
        allow_unused = materialize_grads
    if not only_inputs:
        warn(
            "only_inputs argument is deprecated and is ignored now (defaults to True). To accumulate gradient for "
            "other parts of the graph, please use torch.autograd.backward.",
            FutureWarning,
        )
    outs, ins = _listed(outputs), _listed_inputs(inputs, "grad")
    grads = _listed(grad_outputs) if grad_outputs is not None else [None] * len(outs)
    keep = create_graph if retain_graph is None else retain_graph
    if is_grads_batched:
        results = batched_grads.run(outs, ins, grads, keep, create_graph)
    elif interceptors and (taker := _taken_by((*outs, *ins, *grads))):
        results = taker.grad(outs, ins, grads, keep, create_graph)
    else:
        roots = _roots(outs, grads, create_graph)
        results = _run(roots, keep, create_graph, [_input_node(t) for t in ins], returned=True)
    for i, r in enumerate(results):
        if r is None and not allow_unused:
            raise noted(
                RuntimeError(
                    f"The differentiated Tensor at index {i} appears to not have been used in the graph. Set "
                    "allow_unused=True if this is the desired behavior."
                ),
                f"Which: input {i}" + (f", of shape {list(ins[i].shape)}." if isinstance(ins[i], Tensor) else "."),
                "Why: no operation leads from it to the outputs; perhaps it was replaced, detached or computed after "
                "them.",
                "What to do: compute the outputs from it; or allow_unused=True for None, materialize_grads=True for "
                "zeros.",
                code="W010",
            )
    if materialize_grads:
        results = [zeros_like(t, create_graph) if r is None else r for t, r in zip(ins, results, strict=True)]
    if type(inputs) is dict:
        return dict(zip(inputs, results, strict=True))  # type: ignore[return-value]
    return tuple(results)


def zeros_like(t: Any, requires_grad: bool | None) -> Tensor:
    """Zeros for an input that no output depends on."""
    if not isinstance(t, Tensor):
        raise RuntimeError("materialize_grads cannot be used when the given input is a GradientEdge")
    a = t._payload
    if not isinstance(a, (np.ndarray, np.generic)) and not getattr(a, "is_sparse", False):
        return t * 0
    return wrap(payload_like(a, np.zeros)).requires_grad_(bool(requires_grad))


@shortens
@refuses_unknown
def tensor_backward(
    self: Tensor,
    gradient: Tensor | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Any = None,
    *,
    retain_variables: bool | None = None,
    **unknown: Any,
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
    fn = self._node
    if unknown:
        refuse_unknown(tensor_backward, "Tensor.backward", unknown)
    if retain_graph is None:
        retain_graph = retain_variables
    if (
        inputs is None
        and fn is not None
        and not create_graph
        and gradient is None
        and type(self._payload) is np.float32
        and not transforms
        and not stale_views
    ):
        run([(fn, _ONE)], keep=retain_graph)  # type: ignore[arg-type]  # None is no
        return
    backward(self, gradient, retain_graph, create_graph, inputs=inputs)


tensor_backward.__name__, tensor_backward.__qualname__ = "backward", "Tensor.backward"  # in Python's errors
_ONE = np.float32(1)


def _accumulate_into(nodes: list[Node], results: list[Any], create_graph: bool) -> None:
    """``backward(inputs=...)``: add the captured gradients to the leaves' ``.grad``."""
    done: set[Node] = set()
    for node, g in zip(nodes, results, strict=True):
        if node in done or type(node) is not AccumulateGrad or g is None:
            continue  # an intermediate result has already retained its gradient
        done.add(node)
        accumulate(node, g if create_graph else g._payload, create_graph, hooks_done=True)
