"""Base of distributions with probabilities or logits, where the other one is computed on access."""

from __future__ import annotations

from typing import Any

from .._base.constants import Size
from .._tape.tensor import Tensor
from .utils import computed, formula, lazy_property, logits_to_probs, probs_to_logits


def one_given(probs: Any, logits: Any) -> tuple[str, Any]:
    """The name and value of the one that is not None.

    Raises:
        ValueError: both are, or none is.
    """
    if (probs is None) == (logits is None):
        raise ValueError("Either `probs` or `logits` must be specified, but not both.")
    return ("logits", logits) if probs is None else ("probs", probs)


class ProbsOrLogits:
    """A mixin: ``probs``, ``logits`` and what was given of the two, ``_param``."""

    _param: Tensor
    _binary = True  # log odds of one event each; False: log probabilities along the last dim

    def _keep(self, name: str, value: Tensor) -> None:
        setattr(self, name, value)
        self._param = value

    @lazy_property
    def logits(self) -> Tensor:
        """Log odds; where there are several events, their log probabilities."""
        return probs_to_logits(self.probs, is_binary=self._binary)

    @lazy_property
    def probs(self) -> Tensor:
        """Probabilities."""
        return logits_to_probs(self.logits, is_binary=self._binary)

    param_shape: Size = computed(lambda self: self._param.size(), "The shape of the probabilities or logits.")

    def _new(self, *args: Any, **kwargs: Any) -> Tensor:
        return self._param.new(*args, **kwargs)


class OfCategorical:
    """A mixin: ``probs``, ``logits`` and ``param_shape`` of the Categorical that a distribution is made with."""

    _categorical: Any

    _param = formula(lambda self: self._categorical._param)

    probs = formula(lambda self: self._categorical.probs, "Probabilities, which sum to 1 along the last dim.")

    logits = formula(lambda self: self._categorical.logits, "Their logarithms.")

    param_shape: Size = computed(lambda self: self._categorical.param_shape, "The shape of the probabilities.")

    def _new(self, *args: Any, **kwargs: Any) -> Tensor:
        return self._categorical._new(*args, **kwargs)


def of_base(name: str) -> Any:
    """A property: the parameter of the distribution that a transformed one is made from."""
    return computed(lambda self: getattr(self.base_dist, name), f"The base distribution's ``{name}``.")
