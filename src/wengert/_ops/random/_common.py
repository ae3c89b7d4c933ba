"""Common parts of random functions: their sources, and draws inside of vmaps."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ..._base.dtypes import type_name
from ..._base.modes import is_grad_enabled
from ..._base.tracing import TRACER
from ..._payloads.meta import Meta, on_meta, stand_in, taken
from ..._payloads.vmap_randomness import LEVELS
from ..._tape.tensor import Tensor
from ..._tensor_api.generator import Generator, default_generator

Sampler = Callable[..., Any]


def needs(*tensors: Any) -> bool:
    return any(isinstance(t, Tensor) and t._node is not None for t in tensors) and is_grad_enabled()


# ---- drawing
def source_of(generator: Any, function: str) -> Generator:
    if generator is None:
        return default_generator
    if not isinstance(generator, Generator):
        raise TypeError(f"{function}(): argument 'generator' must be torch.Generator, not {type_name(generator)}")
    return generator


_NOT_ALLOWED = (
    "vmap: called random operation while in randomness error mode. Please either use the 'same' or 'different' "
    "randomness flags on vmap or perform the randomness operation out of vmap"
)


def drawn(sampler: Sampler, generator: Generator, shape: tuple[int, ...], *args: Any) -> Any:
    """``sampler(generator, shape, *args)``; inside of vmaps with ``randomness="different"``, one draw per example."""
    levels = LEVELS.get()
    if not levels:
        tracer = TRACER.get()
        if tracer is not None:
            return tracer.draw(generator, partial(sampler, generator, shape, *args))
        return sampler(generator, shape, *args)
    from ..._payloads.transforms import Batched

    sizes, tags = [], []
    for randomness, size, tag in levels:
        if randomness == "error":
            raise RuntimeError(_NOT_ALLOWED)
        if randomness == "different":
            sizes.append(size)
            tags.append(tag)
    a = sampler(generator, (*sizes, *shape), *args)
    for tag in tags:
        a = Batched(a, tag)
    return a


_PLAIN = frozenset((np.ndarray, float, int))


def sampled(sampler: Sampler, generator: Generator, *operands: Any, rows: int = 0) -> Any:
    """``sampler(generator, *operands)`` with operands that may be payloads of a transform.

    Each example of a batched operand has its own draw. ``rows``: the number of the operands' trailing dims that the
    sampler takes (it takes one dim more, into which all batch dims are folded).
    """
    plain = _PLAIN.issuperset(map(type, operands))
    if (plain or all(isinstance(a, (np.ndarray, np.generic, float, int)) for a in operands)) and not LEVELS.get():
        if TRACER.get() is not None:
            return TRACER.get().draw_for(generator, partial(sampler, generator), operands)
        return sampler(generator, *operands)
    if TRACER.get() is not None and not LEVELS.get() and any(getattr(a, "is_traced", False) for a in operands):
        return TRACER.get().draw_for(generator, partial(sampler, generator), operands)
    if any(on_meta(a) for a in operands):  # nothing is drawn; the result has the shape that it would have
        if rows:
            return taken(sampler(Generator(), *map(stand_in, operands)))
        shapes = [getattr(a, "shape", ()) for a in operands]
        one = sampler(Generator(), *[stand_in(a, (1,) * len(s)) for a, s in zip(operands, shapes, strict=True)])
        return Meta(np.broadcast_shapes(*shapes), one.dtype)
    away = next((a for a in operands if getattr(a, "is_foreign", False)), None)
    if away is not None:  # drawn on the host
        from ..._payloads.foreign import moved

        on_host = [a.numpy() if getattr(a, "is_foreign", False) else a for a in operands]
        return moved(sampled(sampler, generator, *on_host, rows=rows), away.place)
    from ..._payloads.transforms import Batched

    arrays = [opened(a) for a in operands]
    batched = {tag for _, tags in arrays for tag in tags}
    tags, sizes = [], []
    for randomness, size, tag in LEVELS.get():
        if randomness == "error":
            raise RuntimeError(_NOT_ALLOWED)
        if randomness == "same" and tag in batched:
            raise RuntimeError(
                "Vmap does not currently support same randomness with a batched tensor input. Please file an issue "
                "with functorch"
            )
        if randomness == "different":
            tags.append(tag)
            sizes.append(size)
    if not batched <= set(tags):
        raise RuntimeError(_NOT_ALLOWED)
    rank = max(a.ndim - len(own) for a, own in arrays)  # that all operands have for the program
    full = [_expanded(a, own, tags, sizes, rank) for a, own in arrays]
    if rows and tags:
        folded = [a.reshape(-1, *a.shape[len(tags) :]) if a.ndim - len(tags) == rows else a for a in full]
        folded = [a.reshape(-1, a.shape[-1]) for a in folded]
        result = sampler(generator, *folded)
        result = result.reshape(*full[0].shape[:-1], result.shape[-1])
    else:
        result = sampler(generator, *full)
    for tag in tags:
        result = Batched(result, tag)
    return result


def opened(payload: Any) -> tuple[Any, list[int]]:
    """The array inside of a payload, and the tags of the vmaps whose batch dims it has in front, outermost first."""
    if type(payload) is np.ndarray:
        return payload, []
    from ..._payloads.transforms import Batched, Transformed

    tags = []
    while True:
        if isinstance(payload, Batched):
            tags.append(payload.tag)
            payload = payload.v
        elif getattr(payload, "is_foreign", False):
            payload = payload.numpy()
        elif isinstance(payload, Transformed):
            payload = payload.v
        elif isinstance(payload, Tensor):
            payload = payload._payload
        else:
            return np.asarray(payload), tags[::-1]


def check_elements(check: Any, payload: Any) -> None:
    """Run a check on a payload's elements, if it has any; a program that is being recorded repeats it at each call."""
    if getattr(payload, "is_traced", False):
        payload.tracer.check(check, payload)
    elif not on_meta(payload):
        check(opened(payload)[0])


def closed(a: Any, tags: list[int]) -> Any:
    """The payload of an array with the batch dims of these vmaps in front; the inverse of ``opened``."""
    if not tags:
        return a
    from ..._payloads.transforms import Batched

    for tag in tags:
        a = Batched(a, tag)
    return a


def _expanded(a: Any, own: list[int], tags: list[int], sizes: list[int], rank: int) -> Any:
    """The array with the batch dims of all these tags in front."""
    inner = a.shape[len(own) :]
    ones = (1,) * (rank - len(inner)) if own else ()
    shape = tuple(a.shape[own.index(t)] if t in own else 1 for t in tags)
    target = tuple(sizes) + ones + inner
    return np.broadcast_to(a.reshape(shape + ones + inner), target)
