"""``torch._C._functorch``: queries whether a tensor belongs to a transform.

>>> import wengert as torch
>>> from wengert._C._functorch import is_batchedtensor
>>> torch.vmap(lambda x: x + is_batchedtensor(x))(torch.zeros(2)), is_batchedtensor(torch.zeros(2))
(tensor([1., 1.]), False)
"""

from __future__ import annotations

from wengert._compat import open_rows
from wengert._payloads.transforms import Batched, Dual, OwnTape, Transformed
from wengert._tape.tensor import Tensor, wrap


def is_batchedtensor(tensor: Tensor) -> bool:
    """Whether the innermost transform of a tensor is ``vmap``."""
    return isinstance(tensor._payload, Batched)


def is_gradtrackingtensor(tensor: Tensor) -> bool:
    """Whether the innermost transform of a tensor takes derivatives; False for an outermost ``grad``."""
    return isinstance(tensor._payload, (Dual, OwnTape))


def is_functorch_wrapped_tensor(tensor: Tensor) -> bool:
    """Whether a tensor belongs to a transform."""
    return isinstance(tensor._payload, Transformed)


def get_unwrapped(tensor: Tensor) -> Tensor:
    """The tensor inside a transform's tensor; for ``vmap`` with the mapped dim first.

    Raises:
        RuntimeError: ``tensor`` belongs to no transform.
    """
    if not isinstance(tensor._payload, Transformed):
        raise RuntimeError("No wrappers present!")
    return wrap(tensor._payload.v)


open_rows(globals())
