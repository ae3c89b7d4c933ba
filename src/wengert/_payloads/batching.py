"""The batching rules of vmap, one word in most declarations.

``"elementwise"``   operands broadcast; the batch dimension goes in front of all of them
``("dim", NAMES)``  the parameters of these names are dimensions (an int or a tuple of ints), counted one further;
                    operands that are not batched are expanded
``("dim", NAMES, SIZES)``  as well, the parameters SIZES are shapes, which get the batch dimension in front
``"shape"``         as "dim" with no dimension: the parameters do not depend on the rank
``("core", (n, ...))``  the operands' last n dimensions are the operator's own, all in front of them broadcast
``("fold", k, ...)``    the first k operands (and the outputs) have a leading batch dimension of their own, into which
                    vmap's is folded; if another operand is batched, the operator runs for each (``"loop"``)
``"loop"``          the operator runs once for each element: said, never assumed
a function          ``rule(U, info, inner, mine, parameters)`` -> result (or results) with the batch dimension in front
"""

from __future__ import annotations

from typing import Any

from .._base.registry import TENSORS, TRANSFORMED, Operator
from .._tape.tensor import Tensor, wrap
from .transforms import Batched, call, level_of


def batched(info: Operator, operands: list[Any], inner: list[Any], mine: list[bool], p: tuple[Any, ...]) -> Any:
    """Apply an operator's batching rule; ``mine`` marks the values of ``inner`` that have the batch dimension."""
    rule = info.batch
    if rule == "elementwise":
        return call(info, _aligned(operands, inner, mine, (0,) * len(operands)), p)
    if rule == "shape":
        return call(info, _expanded(inner, mine), p)
    if rule == "loop":
        return loop(info, inner, mine, p)
    if type(rule) is tuple:
        if rule[0] == "dim":
            inner = _expanded(inner, mine)
            return call(info, inner, _shifted(info, operands, p, inner[0].shape[0], *rule[1:]))
        if rule[0] == "core":
            return call(info, _aligned(operands, inner, mine, rule[1]), p)
        if rule[0] == "fold":
            return _folded(info, inner, mine, p, rule[1])
    if callable(rule):
        return rule(TRANSFORMED, info, inner, mine, p)
    if info.name in _OF_VALUES:
        raise RuntimeError(
            "vmap: We do not support batching operators that can output dynamic shape. Attempted to vmap over "
            f"aten::{info.name}. Please file an issue at https://github.com/pytorch/pytorch/issues if you need this "
            "feature."
        )
    raise RuntimeError(f"Batching rule not implemented for aten::{info.name}. We could not generate a fallback.")


_OF_VALUES = frozenset(("_unique2", "unique_dim", "_unique_consecutive", "unique_dim_consecutive"))


def batch_size(inner: list[Any], mine: list[bool]) -> int:
    """The size of the batch dimension."""
    return next(v.shape[0] for v, m in zip(inner, mine, strict=True) if m)


def _rank(a: Any) -> int:
    return getattr(a, "ndim", 0)


def _expanded(inner: list[Any], mine: list[bool]) -> list[Any]:
    if all(mine):
        return inner
    size = batch_size(inner, mine)
    return [
        v if m or v is None or not hasattr(v, "shape") else TRANSFORMED.expand(v, (size, *v.shape))
        for v, m in zip(inner, mine, strict=True)
    ]


def _shifted(
    info: Operator, operands: list[Any], p: tuple[Any, ...], n: int, dims: tuple[str, ...], sizes: tuple[str, ...] = ()
) -> tuple[Any, ...]:
    first = 1 if info.arity < 0 else info.arity
    rank = max(_rank(a) for a in operands)
    shifted = list(p)
    for name in (*dims, *sizes):
        i = info.params.index(name) - first
        shifted[i] = (n, *p[i]) if name in sizes else _shift(p[i], rank)
    return tuple(shifted)


def _shift(dim: Any, rank: int) -> Any:
    if dim is None:
        return tuple(range(1, rank + 1))
    if isinstance(dim, int):
        return dim + 1 if dim >= 0 else dim + rank + 1
    return tuple(_shift(d, rank) for d in dim)


def _aligned(operands: list[Any], inner: list[Any], mine: list[bool], core: tuple[int, ...]) -> list[Any]:
    lead = max(_rank(a) - c for a, c in zip(operands, core, strict=True) if a is not None)
    out = []
    for v, a, m, c in zip(inner, operands, mine, core, strict=True):
        missing = lead - (_rank(a) - c) if a is not None else 0
        if m and missing > 0:
            v = TRANSFORMED.reshape(v, (v.shape[0],) + (1,) * missing + tuple(v.shape[1:]))
        out.append(v)
    return out


def _folded(info: Operator, inner: list[Any], mine: list[bool], p: tuple[Any, ...], k: int) -> Any:
    if any(mine[k:]):
        return loop(info, inner, mine, p)
    size = batch_size(inner, mine)
    folded = []
    for v, m in zip(inner[:k], mine[:k], strict=True):
        if v is not None and not m:
            v = TRANSFORMED.expand(v, (size, *v.shape))
        folded.append(None if v is None else TRANSFORMED.reshape(v, (v.shape[0] * v.shape[1], *v.shape[2:])))
    out = call(info, folded + list(inner[k:]), p)
    if info.outputs == 1:
        return TRANSFORMED.reshape(out, (size, out.shape[0] // size, *out.shape[1:]))
    return tuple(TRANSFORMED.reshape(o, (size, o.shape[0] // size, *o.shape[1:])) for o in out)


def loop(info: Operator, inner: list[Any], mine: list[bool], p: tuple[Any, ...]) -> Any:
    """Run an operator that has no batched form once for each element."""
    size = batch_size(inner, mine)
    results = []
    for i in range(size):
        one = [TRANSFORMED.select(v, 0, i) if m else v for v, m in zip(inner, mine, strict=True)]
        results.append(call(info, one, p))
    if info.outputs == 1:
        return TRANSFORMED.stack(results, 0)
    return tuple(TRANSFORMED.stack(list(r), 0) for r in zip(*results, strict=True))


def for_each_example(fn: Any, *args: Any) -> Any:
    """What a function of tensors gives for each example of the innermost vmap, as PyTorch's fallback does.

    ``None`` where no argument is of a vmap, or another transform is inside of it.
    """
    top = max([level_of(t) for t in args if isinstance(t, Tensor)], default=0)
    mine = [isinstance(t, Tensor) and level_of(t) == top for t in args]
    inner = [t._payload for t, m in zip(args, mine, strict=True) if m]
    if not top or not isinstance(inner[0], Batched):
        return None
    values = [
        t if not m else t._payload.v if isinstance(t._payload.v, Tensor) else wrap(t._payload.v)
        for t, m in zip(args, mine, strict=True)
    ]
    results = [
        fn(*[TENSORS.select(v, 0, i) if m else v for v, m in zip(values, mine, strict=True)])
        for i in range(inner[0].v.shape[0])
    ]

    def stacked(parts: Any) -> Any:
        whole = TENSORS.stack(list(parts), 0)
        return wrap(Batched(whole._payload if whole._node is None else whole, inner[0].tag))

    if isinstance(results[0], Tensor):
        return stacked(results)
    return type(results[0])(map(stacked, zip(*results, strict=True)))
