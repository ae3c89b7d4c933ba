"""Cases for the tests that are made from the registry: arguments for every operator, from what it declares.

A case is (operator name, number); its operands are float64 arrays (integers and bools where the declaration says so),
its parameters plain values. Elementwise operators get shapes with broadcasting, empty and 0-d ones; the others bring
their own samples.
"""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np

from wengert._base.registry import REGISTRY
from wengert._tape.tensor import Tensor, wrap

UNARY_SHAPES: list[tuple[int, ...]] = [(), (3,), (2, 3), (0,), (2, 0, 3)]
BINARY_SHAPES: list[tuple[tuple[int, ...], tuple[int, ...]]] = [
    ((), ()),
    ((3,), (3,)),
    ((2, 3), (3,)),
    ((3, 1), (1, 4)),
    ((), (2, 2)),
    ((0,), (1,)),
]


def rng_of(*key: Any) -> np.random.Generator:
    """A generator that depends on the case alone."""
    return np.random.default_rng(zlib.crc32(repr(key).encode()))


def draw(
    rng: np.random.Generator, shape: tuple[int, ...], domain: tuple[float, float], dtypes: str = "f"
) -> np.ndarray:
    """Values inside a domain, kept apart from each other, from zero and from half-integers, where kinks like to be.

    Complex, integer or bool for an operator that takes no real numbers.
    """
    low, high = domain
    if "f" not in dtypes and "c" in dtypes:
        return np.asarray(draw(rng, shape, domain) + 1j * rng.standard_normal(shape))
    if "f" not in dtypes:
        return np.asarray(rng.integers(1, 6, shape) if "i" in dtypes else rng.random(shape) > 0.5)
    n = int(np.prod(shape))
    grid = low + (high - low) * (np.arange(n) + 0.25 + 0.5 * rng.random(n)) / max(n, 1)
    rng.shuffle(grid)
    near = np.abs(grid * 2 - np.round(grid * 2)) < 0.02
    grid = np.where(near, grid + 0.017 * (high - low), grid)
    return grid.reshape(shape)


def cases() -> list[tuple[str, int]]:
    """All cases."""
    return [(name, i) for name, info in REGISTRY.items() for i in range(_count(info))]


def _count(info: Any) -> int:
    if info.samples is not None:
        return len(_samples(info))
    if info.kind == "unary":
        return len(UNARY_SHAPES)
    return len(BINARY_SHAPES) if info.kind == "binary" else 0


def _samples(info: Any) -> list[Any]:
    return info.samples(rng_of(info.name)) if callable(info.samples) else info.samples


def arguments(name: str, i: int) -> tuple[list[Any], tuple[Any, ...]]:
    """Operands (arrays, ``None`` or numbers) and parameters of one case."""
    info = REGISTRY[name]
    rng = rng_of(name, i)
    if info.samples is None:
        if info.kind == "unary":
            return [draw(rng, UNARY_SHAPES[i], info.domain, info.dtypes)], ()
        a, b = BINARY_SHAPES[i]
        return [
            draw(rng, a, info.domain, info.dtypes),
            draw(rng, b, info.domain_other or info.domain, info.dtypes),
        ], ()
    sample = _samples(info)[i]
    if callable(info.samples):
        operands, params = sample
        operands = (
            list(operands[0])
            if info.arity < 0 and len(operands) == 1 and isinstance(operands[0], (list, tuple))
            else list(operands)
        )
        return operands, tuple(params)
    params = sample[-1]
    shapes = sample[0] if info.arity < 0 else sample[:-1]
    return [draw(rng, tuple(s), info.domain, info.dtypes) if isinstance(s, tuple) else s for s in shapes], _parameters(
        info, params
    )


def _parameters(info: Any, params: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(np.dtype(p) if name == "dtype" and isinstance(p, str) else p
                 for name, p in zip(info.params[max(info.arity, 1):], params, strict=True))  # fmt: skip


def is_variable(a: Any) -> bool:
    """Whether an operand is one that can be differentiated: a floating or complex array."""
    return isinstance(a, np.ndarray) and a.dtype.kind in "fc"


def call(name: str, operands: list[Any], params: tuple[Any, ...]) -> list[Tensor]:
    """Run the operator on Tensors (or ``None`` and numbers); the outputs as a list."""
    info = REGISTRY[name]
    out = info.op(operands, *params) if info.arity < 0 else info.op(*operands, *params)
    return [out] if isinstance(out, Tensor) else list(out)


def tensors(operands: list[Any], *, requires_grad: bool | list[int] = False) -> list[Any]:
    """Operands as Tensors on read-only memory, so that no operator can write to its inputs unseen.

    ``requires_grad``: whether the floating ones do, or the places of those that do.
    """
    result = []
    for k, a in enumerate(operands):
        if not isinstance(a, np.ndarray):
            result.append(a)
            continue
        a = a.copy()
        a.flags.writeable = False
        t = wrap(a)
        if is_variable(a) and (requires_grad is True or (requires_grad and k in requires_grad)):
            t.requires_grad_()
        result.append(t)
    return result


def array(t: Any) -> np.ndarray:
    """A Tensor's values."""
    return np.asarray(t._payload)


# The phase of an eigenvector is free.
UNIQUE = {"eigen_general": lambda L, V: [L, V * V[..., :1, :].conj()]}


def differentiable(name: str, outs: list[Tensor]) -> list[Tensor]:
    """The outputs that have a derivative, made unique where the operator leaves a choice (a sign, a phase)."""
    info = REGISTRY[name]
    flags = info.differentiable
    kept = [o for k, o in enumerate(outs) if flags[min(k, len(flags) - 1)] and o._payload.dtype.kind in "fc"]
    return UNIQUE[name](*kept) if name in UNIQUE else kept


def dot(xs: Any, ys: Any) -> float:
    """The real inner product of two lists of arrays."""
    return float(sum(np.sum((np.conj(x) * y).real) for x, y in zip(xs, ys, strict=True)))
