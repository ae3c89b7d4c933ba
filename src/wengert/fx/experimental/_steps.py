"""Operators that PyTorch computes in several steps, for graphs of operators."""

from __future__ import annotations

import math
import operator
from typing import Any

import wengert as torch

from ...utils._aten import not_intercepted
from ...utils._aten_calls import as_written
from ...utils._python_dispatch import _disable_current_modes
from ..node import Node
from ._makers import memory_of

__all__ = ["composed", "replayed"]


def replayed(op: Any, args: Any, kwargs: Any) -> Any:
    """What an operator gives, or None if it fails."""
    try:
        with _disable_current_modes(), not_intercepted(), torch.no_grad():
            return op(*args, **kwargs)
    except Exception:  # noqa: BLE001 - it is another function
        return None


def _batched(tracer: Any, a: Any, b: Any, result: Any) -> Node:
    """The last node of a product of batches: both are expanded to matrices of one batch."""
    aten, call, first = torch.ops.aten, tracer.call, tracer.node_of(a)
    second, rows, batch = tracer.node_of(b), list(a.shape[-2:]), list(result.shape[: b.ndim - 2])
    if a.ndim == b.ndim == 3 and a.shape[0] == 1 != b.shape[0]:
        first, a = call(aten.squeeze.dim, (first, 0), {}), a.squeeze(0)
    if a.ndim <= 2:
        call(aten.transpose.int, (second, -2, -1), {})
        rows = [1, *rows][-2:]
    else:
        batch = list(result.shape[:-2])
    flat = []
    for node, x, sizes in ((first, a, rows), (second, b, list(b.shape[-2:]))):
        expanded = call(aten.expand.default, (node, [*batch, *sizes]), {})
        shape = [math.prod(batch), *sizes]
        if replayed(torch.Tensor.view, (x.expand(*batch, *sizes), shape), {}) is None:
            copied = call(aten.clone.default, (expanded,), {"memory_format": torch.contiguous_format})
            flat.append(call(aten._unsafe_view.default, (copied, shape), {}))
        else:
            flat.append(call(aten.view.default, (expanded, shape), {}))
    return call(aten._unsafe_view.default, (call(aten.bmm.default, tuple(flat), {}), list(result.shape)), {})  # type: ignore[no-any-return]


def composed(tracer: Any, name: str, args: Any, result: Any, called: Any) -> Node | None:
    """The last node of an operator that PyTorch computes in several steps, or None if it is none."""
    if name in ("norm_channels", "norm_by_statistics"):  # what cuDNN would need
        how = {"dtype": torch.uint8, "layout": torch.strided, "device": torch.device("cpu")}
        tracer.call(torch.ops.aten.empty.memory_format, ([0],), how)
    aten, call, node_of = torch.ops.aten, tracer.call, tracer.node_of
    if name == "linear" and args[1].ndim == 2 and args[0].ndim:
        x, weight, bias = (*args, None)[:3]
        rows, flat = node_of(x), [x.shape[:-1].numel(), x.shape[-1]]
        if x.ndim != 2 and bias is not None:
            rows = call(aten.view.default, (rows, flat), {})
        turned = call(aten.t.default, (node_of(weight),), {})
        if x.ndim == 1 and bias is None:
            product = call(aten.mm.default, (call(aten.unsqueeze.default, (rows, 0), {}), turned), {})
            return call(aten.squeeze_.dim, (product, 0), {})
        if x.ndim > 2 and bias is None:
            rows = call(aten.view.default, (rows, flat), {})
        if bias is None:
            product = call(aten.mm.default, (rows, turned), {})
        else:
            product = call(aten.addmm.default, (node_of(bias), rows, turned), {})
        if x.ndim == 2:
            return product
        return call((aten._unsafe_view if bias is None else aten.view).default, (product, list(result.shape)), {})
    if name == "matmul_nd" and args[1].ndim <= 2:
        x, other = args
        rows = call(aten.view.default, (node_of(x), [x.shape[:-1].numel(), x.shape[-1]]), {})
        product = call((aten.mm if other.ndim == 2 else aten.mv).default, (rows, node_of(other)), {})
        return call(aten._unsafe_view.default, (product, list(result.shape)), {})
    if name == "argsort":
        args = args[:3]
        found = as_written(("sort", "default", args, {}, 2), *called) if called is not None else None
        node = call(aten.sort.default, (node_of(args[0]), *(found[2] if found else args)[1:]), {})
        return [call(operator.getitem, (node, i), {}) for i in (0, 1)][1]
    if name == "vec_mat":
        product = call(aten.mm.default, (call(aten.unsqueeze.default, (node_of(args[0]), 0), {}), node_of(args[1])), {})
        return call(aten.squeeze_.dim, (product, 0), {})
    if name == "matmul_nd":
        return _batched(tracer, args[0], args[1], result)
    if name == "reshape" and not args[0].is_contiguous() and memory_of(result)[0] != memory_of(args[0])[0]:
        copied = call(aten.clone.default, (node_of(args[0]),), {"memory_format": torch.contiguous_format})
        return call(aten._unsafe_view.default, (copied, list(args[1])), {})
    return None
