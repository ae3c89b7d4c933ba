"""Legacy stochastic nodes: ``reinforce`` (PyTorch 0.1.12 to 0.2).

``a = probs.multinomial()`` (or ``bernoulli()``, ``normal()``) on a tensor of probabilities that requires grad returns
a stochastic result. ``a.reinforce(r)`` sets its reward, and a backward pass from it sends ``reward * d(-log p(a))`` to
the inputs of the probabilities (R. J. Williams 1992, REINFORCE).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._base.errors import here, noted
from .._base.modes import is_grad_enabled
from .node import Node, tick
from .tensor import Tensor


class StochasticFunction(Node):
    """The node of a sample; its cotangent is the reward."""

    __slots__ = ("fx", "score")
    fx: Node | None

    def __init__(self, source: Tensor, score: Callable[[Any], Any]) -> None:
        self.fx = source._node
        self.score = score
        self._seq = tick()
        self._hooks = None
        self._code, self._lasti = here()

    def _edges(self) -> tuple[Node | None, ...]:
        return (self.fx,)

    def backward(self, xp: Any, g: Any, keep: bool) -> tuple[Any, ...]:
        reward = getattr(g, "reward", None)
        if reward is None:
            raise RuntimeError("differentiating stochastic functions requires providing a reward")
        return (self.fx, self.score(reward))


def stochastic(sample: Tensor, source: Tensor, score: Callable[[Any], Any]) -> Tensor:
    """Make ``sample`` a stochastic result of ``source``; ``score(reward)`` is the cotangent of ``source``.

    Nothing is done unless recording is on and the source requires grad.
    """
    if source._node is not None and is_grad_enabled():
        sample.__dict__["_stochastic"] = StochasticFunction(source, score)
    return sample


def reinforce(self: Tensor, reward: Any) -> None:
    """Set the reward of a stochastic result, for the backward pass that follows (legacy).

    ``reward`` is a number or a tensor of the sample's shape.
    """
    if "_stochastic" not in self.__dict__:
        raise noted(
            RuntimeError("reinforce() can be only called on outputs of stochastic functions"),
            "Why: this tensor is not a sample from multinomial(), bernoulli() or normal() of a tensor that requires "
            "grad.",
        )
    self.__dict__["_reward"] = reward


class _Reward:
    """The cotangent of a stochastic node: its reward."""

    dtype = None

    def __init__(self, reward: Any) -> None:
        self.reward = reward


def seeded(tensors: list[Any], grads: list[Any]) -> tuple[list[Any], list[Any], list[tuple[Node, Any]]]:
    """Split the roots of a pass: ordinary tensors with their gradients, and stochastic nodes with their rewards."""
    if not any(isinstance(t, Tensor) and "_stochastic" in t.__dict__ for t in tensors):
        return tensors, grads, []
    plain, plain_grads, seeds = [], [], []
    for t, g in zip(tensors, grads, strict=True):
        node = t.__dict__.get("_stochastic") if isinstance(t, Tensor) else None
        if node is None or "_reward" not in t.__dict__:  # without a reward it is today's sample, whose gradient is 0
            plain.append(t)
            plain_grads.append(g)
            continue
        reward = t.__dict__.pop("_reward")
        seeds.append((node, _Reward(reward._payload if isinstance(reward, Tensor) else reward)))
    return plain, plain_grads, seeds
