"""Samples of distributions whose parameters are tensors: bernoulli, multinomial, normal, poisson, binomial.

The derivative of a drawn number is zero; if a parameter requires grad, the sample has a node with zero gradient (that
of binomial raises), as in PyTorch. For PyTorch 0.1's `reinforce` a sample also stores its score (``_tape.stochastic``).
"""

from __future__ import annotations

import operator
from functools import partial
from typing import Any

import numpy as np

from ..._arrays import random as _samplers
from ..._base import dtypes
from ..._base.dtypes import FLOAT32, type_name
from ..._base.modes import is_grad_enabled, slow_if_recording
from ..._base.registry import REGISTRY, public
from ..._kinds.dims import not_a_bool
from ..._kinds.out import exactly, of_kind, write_out
from ..._kinds.slow_path import misfit, no_complex_grad, require
from ..._payloads.transforms import refuse_tangents
from ..._payloads.vmap_randomness import LEVELS
from ..._tape.error_text import common_shape, expect_tensor
from ..._tape.inplace import apply_inplace
from ..._tape.promotion import logical_dtype
from ..._tape.refusal import underived
from ..._tape.tensor import Tensor, wrap
from ..._tape.views import check_inplace, writable
from ..._tensor_api.generator import Generator, default_generator
from ..create.create import tuple_shape
from ..create.makers import maker, options_of
from ..shape.broadcasting import broadcast_tensors
from ._common import drawn, needs, sampled, source_of
from .random import fill, filled_row, new_random, number, short_shape

# what ``out`` may be
_BERNOULLI = of_kind("fiubV", "\"bernoulli_tensor_cpu_self_\" not implemented for '{Out}'", NotImplementedError)
_NORMAL = of_kind("fcV", "\"normal_kernel_cpu\" not implemented for '{Out}'", NotImplementedError)
_MULTINOMIAL = exactly("multinomial expects Long tensor out, got: {Out}")


def _result(values: Any, node: str, *operands: Tensor) -> Tensor:
    return REGISTRY[node].op(*operands, values) if needs(*operands) else wrap(values)


@public("torch.bernoulli Tensor.bernoulli")
def bernoulli(
    input: Tensor, p: float | None = None, *, generator: Generator | None = None, out: Tensor | None = None
) -> Tensor:
    """Ones with the probabilities that ``input`` holds (or all with probability ``p``), else zeros.

    >>> _ = torch.manual_seed(0)
    >>> torch.bernoulli(torch.tensor([0., 0.9, 1.]))
    tensor([0., 1., 1.])
    """
    if out is None and p is None and generator is None and type(input) is Tensor and input._node is None:
        a = input._payload
        if type(a) is np.ndarray and a.dtype is FLOAT32 and a.size and not (slow_if_recording or LEVELS.get()):
            return wrap(_samplers.bernoulli_tensor(default_generator, a.shape, FLOAT32, a))
    if out is not None:
        return write_out(out, bernoulli, (input, p), {"generator": generator}, _BERNOULLI)
    source = source_of(generator, "bernoulli")
    expect_tensor("bernoulli", "input", 1, input)
    if p is not None:
        p = number(p, "bernoulli", "p", 2)
        return wrap(drawn(_samplers.bernoulli, source, tuple(input.shape), logical_dtype(input), p))

    def sampler(source: Generator, probabilities: Any) -> Any:
        return _samplers.bernoulli_tensor(source, probabilities.shape, probabilities.dtype, probabilities)

    if input._payload.size:
        require(input, "fhiub", "bernoulli_tensor_cpu_self_")
    no_complex_grad("bernoulli", input)
    result = _result(sampled(sampler, source, _array(input)), "bernoulli_values", input)
    return _scored(result, input, "bernoulli")


def _array(t: Tensor) -> Any:
    """A tensor's payload; a NumPy number as an array."""
    return np.asarray(t._payload) if isinstance(t._payload, np.generic) else t._payload


@public("Tensor.bernoulli_")
def bernoulli_(self: Tensor, p: Any = 0.5, *, generator: Generator | None = None) -> Tensor:
    """Fill with ones of probability ``p``, a number or a tensor that broadcasts, and zeros elsewhere."""
    if type(p) is float and 0.0 <= p <= 1.0 and generator is None and filled_row(self, Generator._coins, p):
        return self
    source = source_of(generator, "bernoulli_")
    if not isinstance(p, Tensor):
        return fill(self, "bernoulli_values_of_number", _samplers.bernoulli, source, number(p, "bernoulli_", "p", 1))
    shape = tuple(self.shape)
    try:
        fits = np.broadcast_shapes(tuple(p.shape), shape) == shape
    except ValueError:
        fits = False
    if not fits:
        from ..._tensor_api.layout import not_expandable

        raise not_expandable(shape, tuple(p.shape))
    tracked = needs(self, p)
    check_inplace(self, tracked)
    if isinstance(self._payload, (np.ndarray, np.generic)):
        writable(self)

    def sampler(source: Generator, probabilities: Any) -> Any:
        lead = probabilities.shape[: probabilities.ndim - p._payload.ndim]
        wide = np.broadcast_to(probabilities, np.broadcast_shapes(probabilities.shape, (*lead, *shape)))
        return _samplers.bernoulli_tensor(source, wide.shape, logical_dtype(self), wide)

    values = sampled(sampler, source, _array(p))
    if tracked:
        return apply_inplace(REGISTRY["bernoulli_values_of_tensor"].op, self, (p, values))
    return apply_inplace(lambda _: wrap(values), self, ())


@public("torch.multinomial Tensor.multinomial")
def multinomial(
    input: Tensor,
    num_samples: int = 1,
    replacement: bool = False,
    *,
    generator: Generator | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """Indices drawn with the weights that ``input`` holds, of shape (n,) or (rows, n); int64, ``num_samples`` of a row.

    Raises RuntimeError for weights that are negative, infinite or all zero, and if there are fewer than samples
    without replacement.

    >>> _ = torch.manual_seed(0)
    >>> torch.multinomial(torch.ones(5), 3)
    tensor([2, 4, 1])
    """
    if out is not None:
        if isinstance(out, Tensor):  # before anything is drawn, and before the weights are checked
            _MULTINOMIAL.check(np.dtype(np.int64), logical_dtype(out))
        return write_out(out, multinomial, (input, num_samples, replacement), {"generator": generator}, _MULTINOMIAL)
    source = source_of(generator, "multinomial")
    expect_tensor("multinomial", "input", 1, input)
    if isinstance(num_samples, (float, bool)) or not hasattr(num_samples, "__index__"):
        raise TypeError(f"multinomial(): argument 'num_samples' (position 2) must be int, not {type_name(num_samples)}")
    if type(replacement) is not bool:
        raise not_a_bool("multinomial", "replacement", replacement)
    count = operator.index(num_samples)
    values = sampled(lambda g, prob: _samplers.multinomial(g, prob, count, replacement), source, _array(input), rows=1)
    return _scored(wrap(values), input, "multinomial")


@maker("torch.normal", "generator", "out")
def normal(mean: Any, std: Any = 1.0, size: Any = None, **kwargs: Any) -> Tensor:
    """Normal numbers: of the tensors ``mean`` and ``std`` (either may be a number), or of two numbers and a ``size``.

    >>> _ = torch.manual_seed(0)
    >>> torch.normal(torch.tensor([10., 20.]), 0.1)
    tensor([10.1541, 19.9707])
    """
    if type(mean) is type(std) is float and type(size) is tuple and not (kwargs or slow_if_recording or LEVELS.get()):
        shape = short_shape((size,))
        if shape:
            return wrap(_samplers.normal(default_generator, shape, dtypes.default_np, mean, std))
    asked = options_of("normal", kwargs)
    tensors = [a for a in (mean, std) if isinstance(a, Tensor)]
    if tensors and size is not None and any(a.ndim or a.requires_grad for a in tensors):
        raise _normal_mismatch(mean, std, size)
    if tensors and size is None:
        if asked.out is not None:
            return _normal_into(asked.out, mean, std, asked.generator)
        return _normal_of_tensors(mean, std, source_of(asked.generator, "normal"))
    if size is None or not isinstance(size, (tuple, list)):
        raise _normal_mismatch(mean, std, size)
    args = (number(mean, "normal", "mean", 1), number(std, "normal", "std", 2))
    return new_random("normal", tuple_shape("normal", size), asked, dtypes.default_np, _samplers.normal, *args)


def _normal_mismatch(*args: Any) -> TypeError:
    return misfit("normal", *(a for a in args if a is not None))


def _normal_into(out: Any, mean: Any, std: Any, generator: Any) -> Any:
    """PyTorch fills the ``out``, then multiplies and adds in place."""
    sampler = _samplers.normal_tensor
    if isinstance(out, Tensor):
        if not isinstance(std, Tensor):
            mean = broadcast_tensors(mean, out)[0]
        _NORMAL.check(FLOAT32, logical_dtype(out))
        sampler = partial(sampler, dtype=logical_dtype(out))
    draw = partial(_normal_of_tensors, source=source_of(generator, "normal"), sampler=sampler)
    draw.__name__ = "normal"  # type: ignore[attr-defined]
    return write_out(out, draw, (mean, std), None, _NORMAL)


def _normal_of_tensors(mean: Any, std: Any, source: Generator, sampler: Any = _samplers.normal_tensor) -> Tensor:
    operands = []
    for value, argument, position in ((mean, "mean", 1), (std, "std", 2)):
        operands.append(_array(value) if isinstance(value, Tensor) else number(value, "normal", argument, position))
    if isinstance(mean, Tensor) and isinstance(std, Tensor):
        common_shape(mean, std)
    values = sampled(sampler, source, *operands)
    if isinstance(mean, Tensor):
        no_complex_grad("normal", mean)
    if isinstance(mean, Tensor) and isinstance(std, Tensor):
        return _scored(_result(values, "normal_values_of_both", mean, std), mean, "normal", std)
    if isinstance(mean, Tensor):
        return _scored(_result(values, "normal_values_of_mean", mean), mean, "normal", std)
    return _result(values, "normal_values_of_std", std)


@public("Tensor.normal")
def normal_method(self: Tensor, std: Any = 1.0, *, generator: Generator | None = None) -> Tensor:
    """Normal numbers around this tensor (PyTorch 0.1's form of ``torch.normal(mean, std)``)."""
    return normal(self, std, generator=generator)


def _scored(result: Tensor, source: Tensor, kind: str, std: Any = None) -> Tensor:
    """Legacy: store the score that ``reinforce`` needs in a sample whose parameters require grad."""
    if source._node is not None and is_grad_enabled() and isinstance(result._payload, (np.ndarray, np.generic)):
        from ..._tape.stochastic import stochastic

        sample, parameter = np.array(result._payload), source._payload
        scale = std._payload if isinstance(std, Tensor) else std
        stochastic(result, source, lambda reward: _SCORES[kind](reward, sample, parameter, scale))
    return result


def _multinomial_score(reward: Any, sample: Any, prob: Any, _: Any) -> Any:
    """The reward times the gradient of -log of the probabilities that were drawn."""
    rows, drawn_ = prob.reshape(-1, prob.shape[-1]), sample.reshape(-1, sample.shape[-1])
    grad = np.zeros_like(rows)
    places = (np.arange(len(rows))[:, None], drawn_)
    rewards = np.broadcast_to(np.asarray(reward, grad.dtype), sample.shape).reshape(drawn_.shape)
    np.add.at(grad, places, -rewards / rows[places])
    return grad.reshape(prob.shape)


def _bernoulli_score(reward: Any, sample: Any, prob: Any, _: Any) -> Any:
    with np.errstate(all="ignore"):
        grad = np.where(sample == 1, -1 / prob, 1 / (1 - prob))
    return (np.asarray(reward) * grad).astype(prob.dtype)


def _normal_score(reward: Any, sample: Any, mean: Any, std: Any) -> Any:
    grad = np.asarray(reward) * (mean - sample) / np.square(std)
    extra = grad.ndim - mean.ndim
    axes = tuple(range(extra)) + tuple(
        i + extra for i, n in enumerate(mean.shape) if n == 1 and grad.shape[i + extra] != 1
    )
    return (grad.sum(axes, keepdims=True).reshape(mean.shape) if axes else grad).astype(mean.dtype)


_SCORES = {"multinomial": _multinomial_score, "bernoulli": _bernoulli_score, "normal": _normal_score}


@public("torch.poisson")
def poisson(input: Tensor, generator: Generator | None = None) -> Tensor:
    """Poisson numbers with the rates that ``input`` holds, of its shape and dtype.

    >>> _ = torch.manual_seed(0)
    >>> torch.poisson(torch.tensor([1., 4., 30.]))
    tensor([ 2.,  5., 26.])
    """
    source = source_of(generator, "poisson")
    values = sampled(_samplers.poisson, source, _array(expect_tensor("poisson", "input", 1, input)))
    return _result(values, "poisson_values", input)


@public("torch.binomial")
def binomial(count: Tensor, prob: Tensor, generator: Generator | None = None) -> Tensor:
    """Numbers of successes in ``count`` trials of probability ``prob``; the two broadcast and have one dtype.

    >>> _ = torch.manual_seed(0)
    >>> torch.binomial(torch.tensor([10., 10.]), torch.tensor([0., 1.]))
    tensor([ 0., 10.])
    """
    source = source_of(generator, "binomial")
    operands = (expect_tensor("binomial", "count", 1, count), expect_tensor("binomial", "prob", 2, prob))
    for t in operands:
        refuse_tangents("aten::binomial", t)
    values = sampled(_samplers.binomial, source, *(_array(t) for t in operands))
    return underived("binomial", (wrap(values),), *operands)[0]
