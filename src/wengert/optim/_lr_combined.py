"""Schedules that combine other schedules, and ``ReduceLROnPlateau``; public in ``lr_scheduler``."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

from .._base.errors import warn
from .lr_scheduler import (
    EPOCH_DEPRECATION_WARNING,
    LRScheduler,
    _param_groups_val_list,
    _require_optimizer,
    _update_param_group_val,
)
from .optimizer import Optimizer


class _Combined(LRScheduler):
    """A schedule that holds others in ``_schedulers``."""

    _schedulers: Any

    def _check(self, schedulers: Sequence[Any], optimizer: Any, purpose: str) -> Any:
        name = type(self).__name__
        if len(schedulers) < 1:
            raise ValueError(f"{name} expects at least one scheduler{purpose}, but got no scheduler.")
        optimizer = optimizer or schedulers[0].optimizer
        for i, scheduler in enumerate(schedulers):
            if not hasattr(scheduler, "optimizer"):
                raise TypeError(f"{name} at index {i} should have `optimizer` as its attribute.")
            if isinstance(scheduler, ReduceLROnPlateau):
                raise ValueError(
                    f"{name} does not support `ReduceLROnPlateau` scheduler as it requires additional kwargs to be "
                    f"specified when calling `step`, but got one at index {i} in the given schedulers sequence."
                )
            if optimizer != scheduler.optimizer:
                raise ValueError(
                    f"{name} expects all schedulers to belong to the same optimizer, but got scheduler "
                    f"{type(scheduler).__name__} at index {i} has {scheduler.optimizer}, which is different from "
                    f"{type(optimizer).__name__}."
                )
        return optimizer

    def state_dict(self) -> dict[str, Any]:
        """Every attribute but the optimizer; the schedulers are represented by their state dicts."""
        state = {k: v for k, v in self.__dict__.items() if k not in ("optimizer", "_schedulers")}
        state["_schedulers"] = [s.state_dict() for s in self._schedulers]
        return state

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        self.__dict__.update({k: v for k, v in state_dict.items() if k != "_schedulers"})
        for scheduler, state in zip(self._schedulers, state_dict["_schedulers"], strict=False):
            scheduler.load_state_dict(state)


class SequentialLR(_Combined):
    """Several schedules one after the other: at each of the ``milestones`` the next one starts.

    >>> import wengert as torch
    >>> from wengert.optim.lr_scheduler import ConstantLR, ExponentialLR, SequentialLR
    >>> optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1.)
    >>> parts = [ConstantLR(optimizer, factor=0.25, total_iters=9), ExponentialLR(optimizer, gamma=0.5)]
    >>> scheduler = SequentialLR(optimizer, parts, milestones=[1])
    >>> rates = []
    >>> for _ in range(3):
    ...     rates += scheduler.get_last_lr()
    ...     optimizer.step()
    ...     scheduler.step()
    >>> rates
    [0.25, 1.0, 0.5]
    """

    def __init__(
        self, optimizer: Optimizer, schedulers: list[LRScheduler], milestones: list[int], last_epoch: int = -1
    ) -> None:
        self.optimizer = self._check(schedulers, optimizer, "")
        if len(milestones) != len(schedulers) - 1:
            raise ValueError(
                "Sequential Schedulers expects number of schedulers provided to be one more than the number of "
                f"milestone points, but got number of schedulers {len(schedulers)} and the number of milestones to be "
                f"equal to {len(milestones)}"
            )
        # Each schedule made a step when it was created. These steps are undone, and the first schedule starts again.
        for group in optimizer.param_groups:
            _update_param_group_val(group, "lr", group["initial_lr"])
        self._schedulers, self._milestones = schedulers, milestones
        self.last_epoch = last_epoch + 1
        self.recursive_undo()
        first = schedulers[bisect_right(milestones, 0)]
        first._initial_step()
        self._last_lr = first.get_last_lr()

    def recursive_undo(self, sched: Any = None) -> None:
        """Undo the step that each schedule made when it was created."""
        schedule = self if sched is None else sched
        if hasattr(schedule, "_schedulers"):
            for part in schedule._schedulers:
                self.recursive_undo(part)
        elif hasattr(schedule, "last_epoch"):
            schedule.last_epoch -= 1

    def step(self) -> None:  # type: ignore[override]
        """Step the current schedule."""
        self.last_epoch += 1
        passed = bisect_right(self._milestones, self.last_epoch)
        current = self._schedulers[passed]
        if passed and self._milestones[passed - 1] == self.last_epoch:
            current._update_lr(0)  # it starts now
        else:
            current.step()
        self._last_lr = current.get_last_lr()


class ChainedScheduler(_Combined):
    """Several schedules at once: each changes the rate that the previous one has set."""

    def __init__(self, schedulers: Sequence[LRScheduler], optimizer: Optimizer | None = None) -> None:
        self.optimizer = self._check(schedulers, optimizer, " to be chained")
        self._schedulers = schedulers
        self._last_lr = self._rates()

    def step(self) -> None:  # type: ignore[override]
        """Step all of them."""
        for scheduler in self._schedulers:
            scheduler.step()
        self._last_lr = self._rates()


class ReduceLROnPlateau(LRScheduler):
    """Multiply the rate by ``factor`` when a metric has not improved for more than ``patience`` steps.

    Call ``step(metric)``. ``mode``: whether lower (``"min"``) or higher (``"max"``) values are better. An improvement
    must exceed ``threshold``, which is relative (``"rel"``) or absolute (``"abs"``) by ``threshold_mode``. The first
    ``cooldown`` steps after a reduction do not count.

    >>> import wengert as torch
    >>> optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1.)
    >>> scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, factor=0.5, patience=1)
    >>> for loss in (3., 2., 2., 2.):
    ...     scheduler.step(loss)
    >>> scheduler.get_last_lr()
    [0.5]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        mode: str = "min",
        factor: float = 0.1,
        patience: int = 10,
        threshold: float = 1e-4,
        threshold_mode: str = "rel",
        cooldown: int = 0,
        min_lr: list[float] | float = 0,
        eps: float = 1e-8,
    ) -> None:
        if factor >= 1.0:
            raise ValueError("Factor should be < 1.0.")
        _require_optimizer(optimizer)
        self.factor, self.optimizer = factor, optimizer  # the order of ``state_dict()``
        count = len(optimizer.param_groups)
        each = isinstance(min_lr, (list, tuple))
        self.default_min_lr = None if each else min_lr
        self.min_lrs = list(min_lr) if each else [min_lr] * count  # type: ignore[arg-type]
        if len(self.min_lrs) != count:
            raise ValueError(f"expected {count} min_lrs, got {len(self.min_lrs)}")
        self.patience, self.cooldown, self.eps = patience, cooldown, eps
        self.last_epoch, self._last_lr = 0, _param_groups_val_list(optimizer, "lr")
        self._init_is_better(mode, threshold, threshold_mode)
        self._reset()

    def _reset(self) -> None:
        self.best, self.cooldown_counter, self.num_bad_epochs = self.mode_worse, 0, 0

    def step(self, metrics: Any, epoch: int | None = None) -> None:  # type: ignore[override]
        """Record the metric, a number or a tensor with one element, and reduce the rate if it has stopped improving."""
        value = float(metrics)
        if epoch is not None:
            warn(EPOCH_DEPRECATION_WARNING, UserWarning)
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        improved = self._is_better(value, self.best)
        if improved:
            self.best = value
        cooling = self.in_cooldown
        if cooling:
            self.cooldown_counter -= 1
        bad = 0 if improved or cooling else self.num_bad_epochs + 1
        if bad > self.patience:
            self._reduce_lr(self.last_epoch)
            self.cooldown_counter, bad = self.cooldown, 0
        self.num_bad_epochs = bad
        self._last_lr = self._rates()

    def _reduce_lr(self, epoch: int) -> None:
        groups = self.optimizer.param_groups
        if len(groups) != len(self.min_lrs):
            if self.default_min_lr is None:
                raise RuntimeError(
                    f"The number of param groups in the `optimizer` ({len(groups)}) differs from when "
                    f"`ReduceLROnPlateau` was initialized ({len(self.min_lrs)}), usually due to a new param group "
                    "being added to the optimizer. Please modify the `min_lrs` field to match the length of the "
                    "`optimizer` param groups."
                )
            self.min_lrs = [self.default_min_lr] * len(groups)
        for group, least in zip(groups, self.min_lrs, strict=True):
            old = float(group["lr"])
            new = max(old * self.factor, least)
            if old - new > self.eps:
                _update_param_group_val(group, "lr", new)

    @property
    def in_cooldown(self) -> bool:
        """Whether the cooldown after a reduction is still running."""
        return self.cooldown_counter > 0

    def _is_better(self, a: float, best: float) -> bool:
        if self.mode == "min":
            return a < (best * (1.0 - self.threshold) if self.threshold_mode == "rel" else best - self.threshold)
        return a > (best * (self.threshold + 1.0) if self.threshold_mode == "rel" else best + self.threshold)

    def _init_is_better(self, mode: str, threshold: float, threshold_mode: str) -> None:
        worst = {"min": math.inf, "max": -math.inf}
        for what, given, known in (("mode", mode, worst), ("threshold mode", threshold_mode, ("rel", "abs"))):
            if given not in known:
                raise ValueError(f"{what} {given} is unknown!")
        self.mode_worse, self.mode = worst[mode], mode
        self.threshold, self.threshold_mode = threshold, threshold_mode

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        self.__dict__.update(state_dict)
        self._init_is_better(self.mode, self.threshold, self.threshold_mode)
