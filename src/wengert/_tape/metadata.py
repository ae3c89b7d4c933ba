"""``grad_fn._input_metadata``: the shape, dtype and device of each gradient that a node takes.

A node stores this only for several outputs. For one output it is found in the tensor that the node made, which the
collector lists among the objects that refer to the node: a program seldom asks, and recording must not pay for it.
"""

from __future__ import annotations

import gc
import weakref
from typing import Any, NamedTuple

from .._base.dtypes import BY_NUMPY
from .node import AccumulateGrad, Node
from .tensor import CPU, Tensor, device_of


class InputMetadata(NamedTuple):
    """The facts about one gradient that a node takes."""

    shape: list[int]
    dtype: Any
    device: Any
    is_nested_tensor: bool = False
    is_cpp_nested_tensor: bool = False


told: weakref.WeakKeyDictionary[Node, tuple[InputMetadata, ...]] = weakref.WeakKeyDictionary()
"""What other rooms say of nodes whose gradients are more than they look here: nested tensors."""


def input_metadata(n: Node) -> tuple[InputMetadata, ...]:
    """The facts about each gradient that a node takes."""
    if n in told:
        return told[n]
    known = getattr(n, "outputs_meta", None)
    if known is not None:
        return tuple(
            InputMetadata(list(shape), BY_NUMPY[dtype], CPU)
            for shape, dtype in known
            if dtype is not None and dtype.kind in "fcV"
        )
    if type(n) is AccumulateGrad:
        return (_of_payload(n.box.a),)
    for holder in gc.get_referrers(n):
        if isinstance(holder, Tensor) and holder._node is n:
            return (_of_payload(holder._payload),)
    raise RuntimeError(f"_input_metadata of {n.name()} is known only while the tensor that it made is alive")


def _of_payload(a: Any) -> InputMetadata:
    return InputMetadata(list(a.shape), BY_NUMPY[a.dtype], device_of(a))
