"""``torch._C._functorch``: queries whether a tensor belongs to a transform.

>>> import wengert as torch
>>> from wengert._C._functorch import is_batchedtensor
>>> torch.vmap(lambda x: x + is_batchedtensor(x))(torch.zeros(2)), is_batchedtensor(torch.zeros(2))
(tensor([1., 1.]), False)
"""

from __future__ import annotations

import numpy as np

from wengert._compat import open_rows
from wengert._payloads.transforms import DEEPEST, DEPTH, Batched, of_transform
from wengert._tape.tensor import Tensor, wrap
from wengert._tensor_api.printing_transforms import program_order, tapes_above
from wengert.func._levels import only_leads_to


def is_batchedtensor(tensor: Tensor) -> bool:
    """Whether the innermost transform of a tensor is ``vmap``."""
    return isinstance(tensor._payload, Batched)


def is_gradtrackingtensor(tensor: Tensor) -> bool:
    """Whether the innermost transform of a tensor takes derivatives."""
    return is_functorch_wrapped_tensor(tensor) and not is_batchedtensor(tensor)


def is_functorch_wrapped_tensor(tensor: Tensor) -> bool:
    """Whether a tensor belongs to a transform."""
    return maybe_get_level(tensor) > 0


def maybe_get_level(tensor: Tensor) -> int:
    """The number of transforms around the innermost one of a tensor, from 1; -1 outside of any."""
    p = tensor._payload
    around, levels = tapes_above(tensor)
    if of_transform(p):
        return around + (p.tag & DEEPEST)
    return levels[-1] if levels else -1


def current_level() -> int:
    """The number of transforms that are running, which is the innermost one's level.

    Raises:
        RuntimeError: none is running.
    """
    level = levels_here()
    if not level:
        raise RuntimeError("no current level")
    return level


def levels_here() -> int:
    """The number of transforms that are running."""
    return tapes_above(wrap(np.zeros(())))[0] + DEPTH.get()


def maybe_get_bdim(tensor: Tensor) -> int:
    """The mapped dim of what ``vmap`` was given, else the first; -1 if the innermost transform is not ``vmap``."""
    return tensor._payload.bdim if isinstance(tensor._payload, Batched) else -1


def dlevel(tensor: Tensor) -> int:
    """``maybe_get_level``; 0 outside of transforms, and -1 for a value of one that has ended."""
    level = maybe_get_level(tensor)
    if level < 0:
        return -1 if tensor._node is not None and only_leads_to([tensor._node], ()) else 0
    return level if level <= levels_here() else -1


def get_unwrapped(tensor: Tensor) -> Tensor:
    """The tensor inside a transform's tensor.

    Raises:
        RuntimeError: ``tensor`` belongs to no transform.
    """
    if not is_functorch_wrapped_tensor(tensor):
        raise RuntimeError("No wrappers present!")
    return program_order(tensor._payload) if of_transform(tensor._payload) else wrap(tensor._payload)


open_rows(globals())
