"""Helpers for the outputs and cotangents of a backward pass, which programs import by PyTorch's private names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._base.constants import strided
from .._tape.engine import current_pass
from .._tape.graph import _check_cotangent, _edge_shape
from .._tape.tensor import Tensor, payload_like, wrap


def _tensor_or_tensors_to_tuple(tensors: Any, length: int) -> tuple[Any, ...]:
    """A tuple of tensors from one tensor or a sequence; ``length`` times ``None`` for ``None``."""
    if tensors is None:
        return (None,) * length
    return (tensors,) if isinstance(tensors, Tensor) else tuple(tensors)


def _calculate_shape(output: Any, grad: Tensor, is_grads_batched: bool) -> tuple[Any, Any]:
    """The shapes of an output (a tensor or a GradientEdge) and of one cotangent."""
    if not isinstance(output, Tensor):
        if is_grads_batched:
            raise RuntimeError("Batched grads are not supported with GradientEdge")
        from .._base.dtypes import make_size

        return make_size(_edge_shape(output)[0]), grad.shape
    if type(output) is not Tensor and output.is_nested and output.layout is strided:
        return output._nested_tensor_size(), grad._nested_tensor_size()  # type: ignore[attr-defined]
    return output.shape, grad.shape[1:] if is_grads_batched else grad.shape


def _make_grads(outputs: Sequence[Any], grads: Sequence[Any], is_grads_batched: bool) -> tuple[Any, ...]:
    """The checked cotangents of outputs; ones for a scalar without a given cotangent."""
    made: list[Any] = []
    for i, (output, g) in enumerate(zip(outputs, grads, strict=False)):
        if g is None:
            if not output.requires_grad:
                made.append(None)
            elif output.numel() != 1:
                raise RuntimeError("grad can be implicitly created only for scalar outputs")
            elif not output.dtype.is_floating_point:
                raise RuntimeError(
                    f"grad can be implicitly created only for real scalar outputs but got {output.dtype}"
                )
            else:
                made.append(wrap(payload_like(output._payload, np.ones)))
        elif isinstance(g, Tensor):
            if isinstance(output, Tensor):
                _check_cotangent(i, output, g[0] if is_grads_batched else g)
            made.append(g)
        else:
            raise TypeError(f"gradients can be either Tensors or None, but got {type(g).__name__}")
    return tuple(made)


def _is_checkpoint_valid() -> bool:
    """Whether the running pass accumulates into all leaves, in which case a nested pass may do so too."""
    now = current_pass()
    return now is None or now.inputs is None
