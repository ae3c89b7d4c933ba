"""Multinomial: indices drawn with given weights.

Source: PyTorch's `ATen/native/Distributions.cpp` (`multinomial_out`), `ATen/native/cpu/MultinomialKernel.cpp`.
"""

from __future__ import annotations

import math

import numpy as np

from ..intp import argsort, int64
from .common import REAL, name_of, resolve, torch_name
from .generator import Generator
from .real import exponential
from .topk_order import topk_order


def multinomial(
    generator: Generator | None, prob: np.ndarray, num_samples: int, replacement: bool = False
) -> np.ndarray:
    """Indices drawn with the given weights: `torch.multinomial`.

    `prob` is floating, of shape (n,) or (rows, n); the result is int64 of shape (num_samples,) or (rows, num_samples).
    Without replacement, or for one sample, the largest of weight / Exp(1) (the Gumbel trick); with it, a search in the
    cumulative weights.

    >>> multinomial(Generator().manual_seed(0), np.ones(5, np.float32), 3)
    array([2, 4, 1])
    """
    if not 0 < prob.ndim <= 2:
        raise RuntimeError("prob_dist must be 1 or 2 dim")
    if name_of(prob.dtype) not in REAL:
        raise RuntimeError(f"multinomial only supports floating-point dtypes for input, got: {torch_name(prob.dtype)}")
    if num_samples <= 0:
        raise RuntimeError("cannot sample n_sample <= 0 samples")
    if not replacement and num_samples > prob.shape[-1]:
        raise RuntimeError("cannot sample n_sample > prob_dist.size(-1) samples without replacement")
    if prob.shape[-1] > 1 << 24:
        raise RuntimeError("number of categories cannot exceed 2^24")
    if prob.ndim == 2 and not prob.shape[0]:
        return np.empty((0, num_samples), np.int64)
    sample = _multinomial_search if replacement and num_samples > 1 else _multinomial_race
    made = sample(resolve(generator), prob if prob.ndim == 2 else prob[None], num_samples)
    return made.reshape(*prob.shape[:-1], num_samples)


def _multinomial_race(generator: Generator, prob: np.ndarray, num_samples: int) -> np.ndarray:
    if not prob.shape[1]:
        raise RuntimeError(
            "aminmax(): cannot compute aminmax over an empty dimension as the operation has no identity."
        )
    lowest = prob.item(prob.argmin())  # nan if there is one; NumPy finds the position faster than the value
    if not (prob.item(prob.argmax()) < math.inf and lowest >= 0):
        raise RuntimeError("probability tensor contains either `inf`, `nan` or element < 0")
    if not lowest > 0 and not np.logical_and.reduce(np.logical_or.reduce(prob, 1)):
        raise RuntimeError("invalid multinomial distribution (sum of probabilities <= 0)")
    clock = exponential(generator, prob.shape, prob.dtype)
    with np.errstate(all="ignore"):
        ratio = prob / clock
    if ratio.dtype.itemsize == 2:
        ratio = ratio.astype(np.float32)
    if num_samples == 1:
        return int64(ratio.argmax(1)[:, None])
    return np.array([_largest_first(row, num_samples) for row in ratio])


def _largest_first(ratio: np.ndarray, k: int) -> np.ndarray:
    if not ratio.item(ratio.argmax()) <= math.inf:  # nan, of 0 / 0, which topk puts first
        ratio = np.where(np.isnan(ratio), np.inf, ratio)
    order = argsort(-ratio)
    leading = ratio[order[: k + 1]]
    if np.count_nonzero(leading[1:] == leading[:-1]):
        return np.array(topk_order(ratio.tolist(), k), np.int64)
    return order[:k]


def _multinomial_search(generator: Generator, prob: np.ndarray, num_samples: int) -> np.ndarray:
    single = prob.astype(np.float64 if prob.dtype == np.float64 else np.float32, copy=False)
    made = np.empty((prob.shape[0], num_samples), np.int64)
    with generator._lock:
        for weights, row in zip(single, made, strict=True):
            bad = np.flatnonzero(~((weights >= 0) & np.isfinite(weights)))
            if bad.size:
                what = "= infinity or NaN" if weights[bad[0]] > 0 else "< 0"
                raise RuntimeError(f"invalid multinomial distribution (encountering probability entry {what})")
            cumulative = np.add.accumulate(weights)  # one after the other, in the dtype of the weights
            if not (weights.size and cumulative[-1] > 0):
                raise RuntimeError("invalid multinomial distribution (sum of probabilities <= 0)")
            cumulative /= cumulative[-1]
            cumulative[-1] = 1
            row[:] = np.searchsorted(cumulative.astype(np.float64), generator._uniforms64(num_samples))
    return made
