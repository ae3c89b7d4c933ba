"""``torch._C._functorch``: queries whether a tensor belongs to a transform.

>>> import wengert as torch
>>> from wengert._C._functorch import is_batchedtensor
>>> torch.vmap(lambda x: x + is_batchedtensor(x))(torch.zeros(2)), is_batchedtensor(torch.zeros(2))
(tensor([1., 1.]), False)
"""

from __future__ import annotations

from wengert._compat import open_rows
from wengert._payloads.transforms import DEEPEST, DEPTH, Batched, Dual, OwnTape, Transformed
from wengert._tape.tensor import Tensor, wrap
from wengert.func._levels import only_leads_to


def is_batchedtensor(tensor: Tensor) -> bool:
    """Whether the innermost transform of a tensor is ``vmap``."""
    return isinstance(tensor._payload, Batched)


def is_gradtrackingtensor(tensor: Tensor) -> bool:
    """Whether the innermost transform of a tensor takes derivatives; False for an outermost ``grad``."""
    return isinstance(tensor._payload, (Dual, OwnTape))


def is_functorch_wrapped_tensor(tensor: Tensor) -> bool:
    """Whether a tensor belongs to a transform."""
    return isinstance(tensor._payload, Transformed)


def maybe_get_level(tensor: Tensor) -> int:
    """The number of transforms around the innermost one of a tensor, from 1; -1 outside of any."""
    p = tensor._payload
    return p.tag & DEEPEST if isinstance(p, Transformed) else -1


def maybe_get_bdim(tensor: Tensor) -> int:
    """The mapped dim, which is always the first; -1 if the innermost transform is not ``vmap``."""
    return 0 if isinstance(tensor._payload, Batched) else -1


def dlevel(tensor: Tensor) -> int:
    """``maybe_get_level``; 0 outside of transforms, and -1 for a value of one that has ended."""
    level = maybe_get_level(tensor)
    if level < 0:
        return -1 if tensor._node is not None and only_leads_to([tensor._node], ()) else 0
    return level if level <= DEPTH.get() else -1


def get_unwrapped(tensor: Tensor) -> Tensor:
    """The tensor inside a transform's tensor; for ``vmap`` with the mapped dim first.

    Raises:
        RuntimeError: ``tensor`` belongs to no transform.
    """
    if not isinstance(tensor._payload, Transformed):
        raise RuntimeError("No wrappers present!")
    return wrap(tensor._payload.v)


open_rows(globals())
