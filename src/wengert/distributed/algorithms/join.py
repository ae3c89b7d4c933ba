"""Uneven inputs: a process that has none left answers the collectives of the others until all have ended.

What communicates in each iteration is a ``Joinable``; its ``JoinHook`` repeats these collectives with nothing to give.
``Join`` is the context around the loop. At the begin of each iteration the first joinable counts the processes that
are still at work, by an ``all_reduce`` of ones; those at the end of the context take part in it with zeros.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import wengert as torch
from wengert import distributed as dist

from ..._base.errors import warn

__all__ = ["Join", "JoinHook", "Joinable"]

MANY = 1000
"""How many iterations a process may be ahead of the others without a warning."""


class JoinHook:
    """What a process without inputs does in place of a joinable. Both methods may be overridden."""

    def main_hook(self) -> None:
        """Called once for each iteration of the others: answer its collectives."""

    def post_hook(self, is_last_joiner: bool) -> None:
        """Called when no process has inputs left; ``is_last_joiner``: this process was among the last."""


class _JoinConfig(NamedTuple):
    """What a joinable knows of the context that it is in."""

    enable: bool
    throw_on_early_termination: bool
    is_first_joinable: bool

    @staticmethod
    def construct_disabled_join_config() -> _JoinConfig:
        """That of a joinable outside of any context."""
        return _JoinConfig(enable=False, throw_on_early_termination=False, is_first_joinable=False)


class Joinable(ABC):
    """Base of classes with collectives in each iteration, before which they call ``Join.notify_join_context(self)``."""

    @abstractmethod
    def __init__(self) -> None:
        super().__init__()
        self._join_config = _JoinConfig.construct_disabled_join_config()

    @abstractmethod
    def join_hook(self, **kwargs: Any) -> JoinHook:
        """The hook for one context; ``kwargs`` are those of ``Join``."""

    @property
    @abstractmethod
    def join_device(self) -> torch.device:
        """The device of the context's own collectives."""

    @property
    @abstractmethod
    def join_process_group(self) -> Any:
        """The group of the context's own collectives."""


def _sum(value: float, joinable: Any, **options: Any) -> tuple[torch.Tensor, Any]:
    """A number of each process, summed."""
    tensor = torch.full((1,), value, device=joinable.join_device)
    return tensor, dist.all_reduce(tensor, group=joinable.join_process_group, **options)


class Join:
    """A context around a training loop in which processes may have different numbers of inputs.

    Parameters:
        joinables: what communicates in each iteration, such as a ``DistributedDataParallel``.
        enable: False turns the context into nothing.
        throw_on_early_termination: as soon as one process has no inputs left, all raise a ``RuntimeError``.

    Raises:
        ValueError: there are no joinables, or they are of several groups.

    Other keyword arguments are passed to ``join_hook`` of each joinable.
    """

    def __init__(
        self, joinables: list[Any], enable: bool = True, throw_on_early_termination: bool = False, **kwargs: Any
    ) -> None:
        if len(joinables) == 0:
            raise ValueError("The join context manager requires at least one joinable")
        self._joinables = joinables
        self._join_hooks = [joinable.join_hook(**kwargs) for joinable in joinables]
        self._enable, self._throw_on_early_termination = enable, throw_on_early_termination
        for i, joinable in enumerate(joinables):
            joinable._join_config = _JoinConfig(enable, throw_on_early_termination, i == 0)
        self._process_group = joinables[0].join_process_group
        if any(joinable.join_process_group is not self._process_group for joinable in joinables):
            raise ValueError("Using join context manager with multiple process groups")
        self._rank = dist.get_rank(self._process_group)

    def __enter__(self) -> None:
        """Nothing to do: ``notify_join_context`` begins each iteration."""

    def __exit__(self, kind: Any, value: Any, traceback: Any) -> None:
        if not self._enable or kind:
            return
        first, answered, is_last_joiner = self._joinables[0], 0, True
        while _sum(0.0, first)[0].item():
            if answered == MANY:
                warn(
                    f"Detected uneven input skew of greater than {MANY}. This means that rank {self._rank} has at "
                    f"least {MANY} fewer inputs than other currently-active ranks. This level of skew could lead to "
                    "performance degradation during training."
                )
            if self._throw_on_early_termination:
                _sum(1.0, first)
                raise RuntimeError(f"Rank {self._rank} exhausted all inputs.")
            for hook in self._join_hooks:
                hook.main_hook()
            is_last_joiner = False
            answered += 1
        for hook in self._join_hooks:
            hook.post_hook(is_last_joiner)

    @staticmethod
    def notify_join_context(joinable: Any) -> Any:
        """Tell the context that this process begins an iteration; the work that counts them, or None.

        Raises:
            RuntimeError: another process has no inputs left, and the context has ``throw_on_early_termination``.
        """
        if not hasattr(joinable, "_join_config"):
            raise AssertionError(f"Check that the {type(joinable)} constructor calls the ``Joinable`` constructor")
        config = joinable._join_config
        if not config.is_first_joinable or not config.enable:
            return None
        _, work = _sum(1.0, joinable, async_op=True)
        if config.throw_on_early_termination and _sum(0.0, joinable)[0].item():
            raise RuntimeError("Detected at least one rank that exhausted inputs. Throwing across all ranks.")
        return work
