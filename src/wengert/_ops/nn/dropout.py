"""Dropout: elements or whole channels set to zero at random, the others scaled so that the mean is unchanged.

``dropout_noise`` draws the noise; the tape records a product.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..._arrays import random as _samplers
from ..._base.dtypes import BY_NUMPY, FLOAT32
from ..._base.errors import warn
from ..._base.modes import slow_if_recording
from ..._base.registry import TENSORS, public
from ..._kinds.dims import not_a_bool
from ..._kinds.laid_out import ordered
from ..._kinds.linear import linear
from ..._payloads.meta import Meta, on_meta
from ..._payloads.vmap_randomness import LEVELS
from ..._tape.error_text import expect_tensor
from ..._tape.promotion import cast, logical_dtype
from ..._tape.tensor import Tensor, wrap
from ..._tensor_api.construct import placed_beside
from ..._tensor_api.generator import default_generator
from ..create.convert import clone_public
from ..random._common import drawn
from ..random.random import in_memory_order

_ALPHA = 1.7580993408473766  # the negative of SELU's lower limit


def _checked(p: Any, error: type[Exception]) -> float:
    if not 0 <= float(p) <= 1:
        shown = p if error is ValueError else f"{float(p):g}"  # by Python or by C++
        raise error(f"dropout probability has to be between 0 and 1, but got {shown}")
    return float(p)


def _noise(input: Tensor, sampler: Any, parameter: float, feature: bool) -> Tensor:
    """Draws for each element, or for each channel of each sample."""
    dtype = logical_dtype(input)
    if dtype.kind in "iub":
        raise RuntimeError(f"result type Float can't be cast to the desired output type {BY_NUMPY[dtype].scalar_name}")
    shape = tuple(input.shape)
    if on_meta(input):
        return wrap(Meta(shape[:2] + (1,) * (len(shape) - 2) if feature else shape, dtype))
    if not feature:
        return placed_beside(input, in_memory_order(input._payload, sampler, default_generator, dtype, parameter))
    if len(shape) < 2:
        raise RuntimeError("Feature dropout requires at least 2 dimensions in the input")
    channels = shape[:2] + (1,) * (len(shape) - 2)
    return placed_beside(input, drawn(sampler, default_generator, channels, dtype, parameter))


def _dropped(
    input: Any, p: float, train: bool, feature: bool = False, alpha: bool = False, inplace: bool = False
) -> Tensor:
    if train is True and 0 < p < 1 and not (feature or alpha or inplace or slow_if_recording or LEVELS.get()):
        array = getattr(input, "_payload", None)  # of the commonest kind
        if type(array) is np.ndarray and array.dtype is FLOAT32 and array.size and array.flags.c_contiguous:
            return input * wrap(_samplers.dropout_noise(default_generator, array.shape, FLOAT32, p))
    expect_tensor("dropout", "input", 1, input)
    if type(train) is not bool:
        raise not_a_bool("dropout", "train", train)
    if p == 0 or not train or not input.numel():
        return input
    if p == 1:
        return input.mul_(0.0) if inplace else input * wrap(np.zeros((), logical_dtype(input)))
    if not alpha:
        noise = _noise(input, _samplers.dropout_noise, p, feature)  # 0 or 1 / (1 - p)
        return input.mul_(noise) if inplace else ordered(input * noise, input, noise)
    # self-normalizing networks (Klambauer et al. 2017): dropped elements become -ALPHA; a and b keep mean and variance
    if logical_dtype(input) == np.bool_:  # a product of bools and numbers is of integers
        input = cast(input, np.dtype(np.int64))
    keep = _noise(input, _samplers.bernoulli, 1 - p, feature)
    a: Any = 1 / math.sqrt((_ALPHA * _ALPHA * p + 1) * (1 - p))
    b = (keep - 1) * (_ALPHA * a) + _ALPHA * a * p
    scale = keep * a
    return input.mul_(scale).add_(b) if inplace else ordered(input * scale + b, input, scale)


# ---- torch.dropout and its kin
def _low_level(name: str, feature: bool, alpha: bool) -> None:
    def out_of_place(input: Tensor, p: float, train: bool) -> Tensor:
        return _dropped(input, _checked(p, RuntimeError), train, feature, alpha)

    def in_place(input: Tensor, p: float, train: bool) -> Tensor:
        return _dropped(input, _checked(p, RuntimeError), train, feature, alpha, inplace=True)

    for fn, suffix in ((out_of_place, ""), (in_place, "_")):
        fn.__name__ = fn.__qualname__ = name + suffix
        fn.__doc__ = f"``nn.functional``'s dropout of this kind, with ``train`` given{' in place' if suffix else ''}."
        public(f"torch.{name}{suffix}")(fn)


for _name, _feature, _alpha in (
    ("dropout", False, False),
    ("feature_dropout", True, False),
    ("alpha_dropout", False, True),
    ("feature_alpha_dropout", True, True),
):
    _low_level(_name, _feature, _alpha)


@public("torch.native_dropout")
def native_dropout(input: Tensor, p: float, train: bool | None) -> tuple[Tensor, Tensor]:
    """``(result, mask)``: the mask is True where an element was kept.

    >>> torch.native_dropout(torch.ones(2), 0.5, False)
    (tensor([1., 1.]), tensor([True, True]))
    """
    p = _checked(p, RuntimeError)
    if type(train) is not bool and train is not None:
        raise not_a_bool("native_dropout", "train", train)
    if train is False or not input.numel():
        return input.clone(), placed_beside(input, np.ones(tuple(input.shape), np.bool_))
    if on_meta(input):
        return clone_public(input), wrap(Meta(tuple(input.shape), np.dtype(np.bool_)))
    mask = placed_beside(input, drawn(_native_mask, default_generator, tuple(input.shape), p))
    return TENSORS.native_dropout_values(input, mask._payload, 0.0 if p == 1 else 1 / (1 - p)), mask


@linear(
    transpose=lambda xp, g, mask, scale: xp.native_dropout_values(g, mask, scale),
    node="NativeDropoutBackward0",
    batch="loop",
    samples=[((2, 3), (np.array([[True, False, True], [False, True, True]]), 2.0))],
    dtypes="fc",
)
def native_dropout_values(lib, self, mask, scale):
    """The elements that the mask keeps, scaled."""
    return self * mask * scale


def _native_mask(generator: Any, shape: tuple[int, ...], p: float) -> Any:
    return _samplers.native_dropout_mask(generator, shape, p)


# ---- nn.functional
@public("nn.functional.dropout")
def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Each element is zero with probability ``p``, else divided by 1 - p; the input itself unless ``training``.

    >>> _ = torch.manual_seed(0)
    >>> torch.nn.functional.dropout(torch.ones(4))
    tensor([0., 0., 2., 0.])
    """
    return _dropped(input, _checked(p, ValueError), training, inplace=inplace)


@public("nn.functional.alpha_dropout")
def alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    """Dropout for SELU: dropped elements become its lower limit; mean and variance are unchanged.

    >>> F = torch.nn.functional
    >>> F.alpha_dropout(torch.ones(2), 0.5, training=False)
    tensor([1., 1.])
    """
    return _dropped(input, _checked(p, ValueError), training, alpha=True, inplace=inplace)


@public("nn.functional.feature_alpha_dropout")
def feature_alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    """``alpha_dropout`` of whole channels (dimension 1).

    >>> F = torch.nn.functional
    >>> F.feature_alpha_dropout(torch.ones(1, 2), 0.5, training=False)
    tensor([[1., 1.]])
    """
    return _dropped(input, _checked(p, ValueError), training, True, True, inplace)


@public("nn.functional.dropout1d")
def dropout1d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Whole channels are zero with probability ``p``; input of shape (N, C, L) or (C, L).

    >>> F = torch.nn.functional
    >>> F.dropout1d(torch.ones(1, 1, 2), 0.5, training=False)
    tensor([[[1., 1.]]])
    """
    p = _checked(p, ValueError)
    if input.ndim not in (2, 3):
        raise RuntimeError(
            f"dropout1d: Expected 2D or 3D input, but received a {input.ndim}D input. Note that dropout1d exists to "
            "provide channel-wise dropout on inputs with 1 spatial dimension, a channel dimension, and an optional "
            "batch dimension (i.e. 2D or 3D inputs)."
        )
    return _channels(input, p, training, inplace, 3)


@public("nn.functional.dropout2d")
def dropout2d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Whole channels are zero with probability ``p``; input of shape (N, C, H, W).

    >>> F = torch.nn.functional
    >>> F.dropout2d(torch.ones(1, 1, 1, 2), 0.5, training=False)
    tensor([[[[1., 1.]]]])
    """
    p = _checked(p, ValueError)
    if input.ndim not in (3, 4):
        warn(_deprecated(2, input.ndim, "3D or 4D"))
    if input.ndim == 3:
        warn(
            "dropout2d: Received a 3D input to dropout2d and assuming that channel-wise 1D dropout behavior is desired "
            "- input is interpreted as shape (N, C, L), where C is the channel dim. This behavior will change in a "
            "future release to interpret the input as one without a batch dimension, i.e. shape (C, H, W). To maintain "
            "the 1D channel-wise dropout behavior, please switch to using dropout1d instead."
        )
    return _dropped(input, p, training, feature=True, inplace=inplace)


@public("nn.functional.dropout3d")
def dropout3d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Whole channels are zero with probability ``p``; input of shape (N, C, D, H, W) or (C, D, H, W).

    >>> F = torch.nn.functional
    >>> F.dropout3d(torch.ones(1, 1, 1, 1, 2), 0.5, training=False)
    tensor([[[[[1., 1.]]]]])
    """
    p = _checked(p, ValueError)
    if input.ndim not in (4, 5):
        warn(_deprecated(3, input.ndim, "4D or 5D"))
    return _channels(input, p, training, inplace, 5)


def _deprecated(n: int, rank: int, wanted: str) -> str:
    return (
        f"dropout{n}d: Received a {rank}-D input to dropout{n}d, which is deprecated and will result in an error in a "
        "future release. To retain the behavior and silence this warning, please use dropout instead. Note that "
        f"dropout{n}d exists to provide channel-wise dropout on inputs with {n} spatial dimensions, a channel "
        f"dimension, and an optional batch dimension (i.e. {wanted} inputs)."
    )


def _channels(input: Tensor, p: float, training: bool, inplace: bool, rank: int) -> Tensor:
    """Feature dropout of an input that may lack its batch dimension."""
    if input.ndim == rank:
        return _dropped(input, p, training, feature=True, inplace=inplace)
    if inplace:
        _dropped(input.unsqueeze(0), p, training, feature=True, inplace=True)
        return input
    return _dropped(input.unsqueeze(0), p, training, feature=True).squeeze(0)


@public("nn.functional.gumbel_softmax")
def gumbel_softmax(logits: Tensor, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1) -> Tensor:
    """A sample of the Gumbel-softmax distribution (Jang et al. 2017): soft, or one-hot with the soft one's gradient.

    >>> _ = torch.manual_seed(0)
    >>> torch.nn.functional.gumbel_softmax(torch.tensor([0., 9.]), hard=True)
    tensor([0., 1.])
    """
    if eps != 1e-10:
        warn("`eps` parameter is deprecated and has no effect.")
    expect_tensor("empty_like", "input", 1, logits)  # which PyTorch calls
    exponentials = drawn(_samplers.exponential, default_generator, tuple(logits.shape), logical_dtype(logits))
    soft = ((logits - placed_beside(logits, exponentials).log()) / tau).softmax(dim)
    if not hard:
        return soft
    index = soft.max(dim, keepdim=True)[1]
    zeros = placed_beside(logits, np.zeros(tuple(logits.shape), logical_dtype(logits)))
    return zeros.scatter(dim, index, 1.0) - soft.detach() + soft
