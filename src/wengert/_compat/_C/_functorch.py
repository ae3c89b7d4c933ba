"""What libraries ask of ``torch._C._functorch``: whether a tensor is one of a transform's.

>>> import wengert as torch
>>> from wengert._C._functorch import is_batchedtensor
>>> torch.vmap(lambda x: x + is_batchedtensor(x))(torch.zeros(2)), is_batchedtensor(torch.zeros(2))
(tensor([1., 1.]), False)
"""

from __future__ import annotations

from typing import Any

from wengert._base.errors import noted
from wengert._payloads.transforms import Batched, Dual, Lift, Value
from wengert._tape.tensor import Tensor, wrap

__all__ = [
    "get_unwrapped", "is_batchedtensor", "is_functionaltensor", "is_functorch_wrapped_tensor", "is_gradtrackingtensor",
    "is_legacy_batchedtensor",
]  # fmt: skip


def is_batchedtensor(tensor: Tensor) -> bool:
    """Whether the innermost transform that a tensor is one of is ``vmap``."""
    return isinstance(tensor._a, Batched)


def is_gradtrackingtensor(tensor: Tensor) -> bool:
    """Whether the innermost transform that a tensor is one of takes derivatives; not of an outermost ``grad``."""
    return isinstance(tensor._a, (Dual, Lift))


def is_functorch_wrapped_tensor(tensor: Tensor) -> bool:
    """Whether a tensor is one of a transform's."""
    return isinstance(tensor._a, Value)


def get_unwrapped(tensor: Tensor) -> Tensor:
    """The tensor inside of a transform's: with the mapped dim in front, for ``vmap``.

    Raises:
        RuntimeError: it is no transform's.
    """
    if not isinstance(tensor._a, Value):
        raise RuntimeError("No wrappers present!")
    return wrap(tensor._a.v)


def _add_batch_dim(*args: Any) -> Tensor:
    """Not possible: levels are ``vmap``'s own.

    Raises:
        NotImplementedError: always.
    """
    raise noted(
        NotImplementedError("torch._C._functorch: wengert cannot make a tensor one of a transform's from outside"),
        "What to do: let torch.vmap map tensors, not objects that hold tensors.",
    )


_remove_batch_dim = _add_batch_dim


def is_legacy_batchedtensor(tensor: Tensor) -> bool:
    """False: there is one vmap."""
    return False


def is_functionaltensor(tensor: Tensor) -> bool:
    """False: nothing is traced."""
    return False
