"""``autograd.grad(is_grads_batched=True)``: one backward pass for a batch of cotangents, with ``Batched`` payloads."""

from __future__ import annotations

from typing import Any

from .._base.errors import noted
from .._base.registry import TENSORS
from .._tape.graph import _input_node, _root, _run
from .._tape.promotion import cast, logical_dtype
from .._tape.tensor import Tensor, current_fn, wrap
from .transforms import Batched, entered


def batched_grads(outputs: list[Any], inputs: list[Any], grads: list[Any], keep: bool, create_graph: bool) -> list[Any]:
    """The gradients of the inputs, with the batch dimension first; ``None`` for an input without gradient."""
    size = None
    for k, (y, g) in enumerate(zip(outputs, grads, strict=False)):
        if g is None:
            raise noted(
                RuntimeError("grad can be implicitly created only for scalar outputs"),
                "Why: is_grads_batched=True needs a batch of gradients for every output.",
            )
        if not isinstance(g, Tensor):
            raise TypeError(f"gradients can be either Tensors or None, but got {type(g).__name__}")
        if not isinstance(y, Tensor):
            raise RuntimeError("Batched grads are not supported with GradientEdge")
        _check(k, y, g)
        if size is not None and size != g.shape[0]:
            raise ValueError(
                "vmap: Expected all tensors to have the same size in the mapped dimension, got sizes "
                f"{[size, g.shape[0]]} for the mapped dimension"
            )
        size = int(g.shape[0])
    if len(grads) != len(outputs):
        raise RuntimeError(f"got {len(outputs)} tensors and {len(grads)} gradients")
    roots: list[Any] = []
    with entered() as tag:
        for i, (y, g) in enumerate(zip(outputs, grads, strict=True)):
            g = cast(g, logical_dtype(y))
            inside = g if create_graph and current_fn(g) is not None else g._payload
            value = Batched(inside, tag)
            roots.append((_root(i, y), wrap(value) if create_graph else value))
        results = _run(roots, keep, create_graph, [_input_node(x) for x in inputs], returned=True)
    return [None if r is None else _unbatched(r, tag, size) for r in results]


def _check(k: int, y: Tensor, g: Tensor) -> None:
    shape = tuple(g.shape[1:])
    if shape != tuple(y.shape):
        raise RuntimeError(
            "If `is_grads_batched=True`, we interpret the first dimension of each grad_output as the batch dimension. "
            "The sizes of the remaining dimensions are expected to match the shape of corresponding output, but a "
            f"mismatch was detected: grad_output[{k}] has a shape of {g[0].shape} and output[{k}] has a shape of "
            f"{y.shape}. If you only want some tensors in `grad_output` to be considered batched, consider using vmap."
        )
    if g.dtype.is_complex != y.dtype.is_complex:
        raise RuntimeError(
            "For complex Tensors, both grad_output and output are required to have the same dtype. Mismatch in dtype: "
            f"grad_output[{k}] has a dtype of {g.dtype} and output[{k}] has a dtype of {y.dtype}."
        )


def _unbatched(r: Tensor, tag: int, size: Any) -> Tensor:
    """A result with its batch dimension as an ordinary dimension.

    Under ``create_graph`` the tape is inside the batch: tracked tensors were passed in as payloads.
    """
    a = r._payload
    if isinstance(a, Batched) and a.tag == tag:
        return a.v if isinstance(a.v, Tensor) else wrap(a.v)
    return TENSORS.expand(r, (size, *a.shape))
