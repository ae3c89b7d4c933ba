"""The nodes of random functions, whose gradient is zero. Only draws that are recorded need them."""

from __future__ import annotations

from typing import Any

from ..._kinds.general import general
from ..._payloads.batching import batch_size
from ..._payloads.transforms import Batched


def _drawn_for_each(U: Any, info: Any, inner: Any, mine: Any, p: Any) -> Any:
    """The batching rule: the values have the batch dimension, unless all examples share them."""
    values = p[0]
    return values.v if isinstance(values, Batched) else U.expand(values, (batch_size(inner, mine), *values.shape))


def zero_grad(name: str, node: str, tensors: int = 1) -> Any:
    """An operator that returns values drawn beforehand, with zeros as the gradient of the tensors it was drawn for."""

    def one(lib: Any, self: Any, values: Any) -> Any:
        return values if values.dtype is self.dtype else lib.cast(values, self.dtype)

    def two(lib: Any, self: Any, other: Any, values: Any) -> Any:
        return one(lib, self, values)

    body = one if tensors == 1 else two
    body.__name__ = name
    body.__doc__ = f"Values drawn beforehand: the operator behind {node}."
    shapes = ((2, 3), (3,))[:tensors]
    return general(
        grad={
            "self": lambda xp, g, self_shape: xp.sum_to(xp.zeros_like(g), self_shape),
            **({"other": lambda xp, g, other_shape: xp.sum_to(xp.zeros_like(g), other_shape)} if tensors == 2 else {}),
        },
        tensors=tensors,
        node=node,
        batch=_drawn_for_each,
        samples=lambda rng: [(tuple(rng.standard_normal(s) for s in shapes), (rng.standard_normal((2, 3)),))],
        dtypes="f",
    )(body)


zero_grad("uniform_values", "UniformBackward0")
zero_grad("normal_values", "NormalBackward0")
zero_grad("normal_values_of_mean", "NormalBackward1")
zero_grad("normal_values_of_std", "NormalBackward2")
zero_grad("normal_values_of_both", "NormalBackward3", 2)
zero_grad("exponential_values", "ExponentialBackward0")
zero_grad("cauchy_values", "CauchyBackward0")
zero_grad("log_normal_values", "LogNormalBackward0")
zero_grad("geometric_values", "GeometricBackward0")
zero_grad("random_values_from_to", "RandomBackward0")
zero_grad("random_values_to", "RandomBackward1")
zero_grad("random_values", "RandomBackward2")
zero_grad("bernoulli_values", "BernoulliBackward0")
zero_grad("bernoulli_values_of_tensor", "BernoulliBackward1", 2)
zero_grad("bernoulli_values_of_number", "BernoulliBackward2")
zero_grad("poisson_values", "PoissonBackward0")
