"""Cyclic schedules, some of which also change the momentum; public in ``lr_scheduler``."""

from __future__ import annotations

import math
import types
from collections.abc import Callable
from functools import partial
from typing import Any

from .._tape.tensor import Tensor
from .lr_scheduler import _check_anneal_strategy, _format_param, _Formula, _require_optimizer, _update_param_group_val
from .optimizer import Optimizer


class _WithMomentum(_Formula):
    """A schedule of the rate and, if ``cycle_momentum``, of ``momentum`` or ``betas[0]``."""

    cycle_momentum: bool
    use_beta1: bool

    def _momentum_range(self, least: Any, most: Any, fresh: bool) -> tuple[list[float], list[float]]:
        """Set the bounds of the momentum for each group; ``fresh``: the momentum starts at the upper bound."""
        defaults = self.optimizer.defaults
        if not defaults.keys() & {"momentum", "betas"}:
            raise ValueError("optimizer must support momentum or beta1 with `cycle_momentum` option enabled")
        self.use_beta1 = "betas" in defaults
        lows = _format_param("base_momentum", self.optimizer, least)
        highs = _format_param("max_momentum", self.optimizer, most)
        if fresh:
            for low, high, group in zip(lows, highs, self.optimizer.param_groups, strict=True):
                self._set_momentum(group, high)
                group.update(max_momentum=high, base_momentum=low)
        return lows, highs

    def _set_momentum(self, group: dict[str, Any], momentum: float) -> None:
        if self.use_beta1:
            group["betas"] = (momentum, *group["betas"][1:])
        else:
            group["momentum"] = momentum


class CyclicLR(_WithMomentum):
    """The rate goes up and down between ``base_lr`` and ``max_lr``, the momentum down and up.

    ``mode``: ``"triangular"``; ``"triangular2"``, where each cycle has half the height of the one before;
    ``"exp_range"``, where the height is multiplied by ``gamma`` at each step. ``scale_fn``, a function of the cycle or
    the iteration (``scale_mode``), replaces the mode. Source: Smith 2015.

    >>> import wengert as torch
    >>> optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1., momentum=0.9)
    >>> scheduler = torch.optim.lr_scheduler.CyclicLR(optimizer, base_lr=0., max_lr=1., step_size_up=2)
    >>> rates = []
    >>> for _ in range(5):
    ...     rates += scheduler.get_last_lr()
    ...     optimizer.step()
    ...     scheduler.step()
    >>> rates
    [0.0, 0.5, 1.0, 0.5, 0.0]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        base_lr: float | list[float],
        max_lr: float | list[float],
        step_size_up: int = 2000,
        step_size_down: int | None = None,
        mode: str = "triangular",
        gamma: float = 1.0,
        scale_fn: Callable[[float], float] | None = None,
        scale_mode: str = "cycle",
        cycle_momentum: bool = True,
        base_momentum: float = 0.8,
        max_momentum: float = 0.9,
        last_epoch: int = -1,
    ) -> None:
        _require_optimizer(optimizer)
        self.optimizer, fresh = optimizer, last_epoch == -1
        lows = _format_param("base_lr", optimizer, base_lr)
        if fresh:
            for low, group in zip(lows, optimizer.param_groups, strict=True):
                _update_param_group_val(group, "lr", low)
        self.max_lrs = _format_param("max_lr", optimizer, max_lr)
        rising = float(step_size_up)
        self.total_size = rising + (rising if step_size_down is None else float(step_size_down))
        self.step_ratio = rising / self.total_size
        if scale_fn is None and mode not in ("triangular", "triangular2", "exp_range"):
            raise ValueError("mode is invalid and scale_fn is None")
        self.mode, self.gamma, self.scale_mode, self._scale_fn_custom = mode, gamma, scale_mode, scale_fn
        self._init_scale_fn()
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self.base_momentums, self.max_momentums = self._momentum_range(base_momentum, max_momentum, fresh)
        super().__init__(optimizer, last_epoch)
        self.base_lrs = lows

    def _init_scale_fn(self) -> None:
        if self._scale_fn_custom is not None:
            return
        self.scale_mode = "iterations" if self.mode == "exp_range" else "cycle"
        self._scale_fn_ref: Callable[[float], float]
        if self.mode == "exp_range":
            self._scale_fn_ref = partial(self._exp_range_scale_fn, self.gamma)
        else:
            self._scale_fn_ref = self._triangular_scale_fn if self.mode == "triangular" else self._triangular2_scale_fn

    # The names that pickles of a schedule have.
    @staticmethod
    def _triangular_scale_fn(x: float) -> float:
        return 1.0

    @staticmethod
    def _triangular2_scale_fn(x: float) -> float:
        return 1 / (2.0 ** (x - 1))

    @staticmethod
    def _exp_range_scale_fn(gamma: float, x: float) -> float:
        return float(gamma**x)

    def scale_fn(self, x: float) -> float:
        """The height at a cycle or iteration, relative to the first cycle's."""
        fn = self._scale_fn_ref if self._scale_fn_custom is None else self._scale_fn_custom
        return fn(x)

    def _next(self) -> list[float | Tensor]:
        """The rates for ``self.last_epoch``; sets the momentum too."""
        cycle = math.floor(1 + self.last_epoch / self.total_size)
        x = 1.0 + self.last_epoch / self.total_size - cycle
        height = x / self.step_ratio if x <= self.step_ratio else (x - 1) / (self.step_ratio - 1)
        at = cycle if self.scale_mode == "cycle" else self.last_epoch
        rates = [
            low + (most - low) * height * self.scale_fn(at)
            for low, most in zip(self.base_lrs, self.max_lrs, strict=True)
        ]
        if self.cycle_momentum:
            groups = self.optimizer.param_groups
            for low, most, group in zip(self.base_momentums, self.max_momentums, groups, strict=True):
                self._set_momentum(group, most - (most - low) * height * self.scale_fn(at))
        return rates

    def state_dict(self) -> dict[str, Any]:
        """Every attribute but the optimizer and functions; a callable object is represented by its attributes."""
        fn = self._scale_fn_custom
        kept = None if fn is None or isinstance(fn, types.FunctionType) else fn.__dict__.copy()
        state = {key: value for key, value in super().state_dict().items() if key != "_scale_fn_ref"}
        del state["_scale_fn_custom"]
        return state | {"_scale_fn_custom": kept}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        super().load_state_dict({k: v for k, v in state_dict.items() if k != "_scale_fn_custom"})
        attributes = state_dict["_scale_fn_custom"]
        if attributes is not None:
            self._scale_fn_custom.__dict__.update(attributes)
        self._init_scale_fn()


class CosineAnnealingWarmRestarts(_Formula):
    """Half cosines from the first rate to ``eta_min``: the first has ``T_0`` steps, each next ``T_mult`` times as many.

    Source: Loshchilov and Hutter, SGDR, 2016.
    """

    def __init__(
        self, optimizer: Optimizer, T_0: int, T_mult: int = 1, eta_min: float = 0.0, last_epoch: int = -1
    ) -> None:
        for wanted, given in (("positive integer T_0", T_0), ("integer T_mult >= 1", T_mult)):
            if given < 1 or not isinstance(given, int):
                raise ValueError(f"Expected {wanted}, but got {given}")
        if not isinstance(eta_min, (float, int)):
            raise ValueError(f"Expected float or int eta_min, but got {eta_min} of type {type(eta_min)}")
        self.T_0 = self.T_i = T_0  # the order of ``state_dict()``
        self.T_mult, self.eta_min = T_mult, eta_min
        self.T_cur: float = last_epoch
        super().__init__(optimizer, last_epoch)

    def _next(self) -> list[float | Tensor]:
        """The rates for ``self.T_cur`` steps after a restart."""
        rise = 1 + math.cos(math.pi * self.T_cur / self.T_i)
        return [self.eta_min + (rate - self.eta_min) * rise / 2 for rate in self.base_lrs]

    def step(self, epoch: float | None = None) -> None:
        """Set the next rate, or the rate of ``epoch``, which may be fractional."""
        if epoch is not None or self.last_epoch < 0:
            target = 0 if epoch is None else epoch
            self._go_to(target)
        else:
            target = self.last_epoch + 1
            restarts, self.T_cur = divmod(self.T_cur + 1, self.T_i)
            if restarts:
                self.T_i *= self.T_mult
        self.last_epoch = math.floor(target)
        with self._stepping():
            rates = self.get_lr()
        self._set_rates(rates)

    def _go_to(self, epoch: float) -> None:
        if epoch < 0:
            raise ValueError(f"Expected non-negative epoch, but got {epoch}")
        if epoch < self.T_0:
            self.T_i = self.T_0
            self.T_cur = epoch
        elif self.T_mult == 1:
            self.T_cur = epoch % self.T_0
        else:
            n = int(math.log(epoch / self.T_0 * (self.T_mult - 1) + 1, self.T_mult))
            self.T_cur = epoch - self.T_0 * (self.T_mult**n - 1) / (self.T_mult - 1)
            self.T_i = self.T_0 * self.T_mult**n


class OneCycleLR(_WithMomentum):
    """One cycle: the rate rises from ``max_lr / div_factor`` to ``max_lr`` and falls far below its start.

    The cycle has ``total_steps`` steps, or ``epochs * steps_per_epoch``; the rate rises during the fraction
    ``pct_start`` of them. ``three_phase``: the rate falls to its start in a second phase and below it in a third.
    Source: Smith and Topin 2017.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        max_lr: float | list[float],
        total_steps: int | None = None,
        epochs: int | None = None,
        steps_per_epoch: int | None = None,
        pct_start: float = 0.3,
        anneal_strategy: str = "cos",
        cycle_momentum: bool = True,
        base_momentum: float | list[float] = 0.85,
        max_momentum: float | list[float] = 0.95,
        div_factor: float = 25.0,
        final_div_factor: float = 1e4,
        three_phase: bool = False,
        last_epoch: int = -1,
    ) -> None:
        _require_optimizer(optimizer)
        self.optimizer, fresh = optimizer, last_epoch == -1
        self.total_steps = _count_steps(total_steps, epochs, steps_per_epoch)
        self._schedule_phases = self._phases(pct_start, three_phase)
        if pct_start < 0 or pct_start > 1 or not isinstance(pct_start, float):
            raise ValueError(f"Expected float between 0 and 1 pct_start, but got {pct_start}")
        _check_anneal_strategy(anneal_strategy)
        self._anneal_func_type = anneal_strategy
        peaks = _format_param("max_lr", optimizer, max_lr)
        if fresh:
            for peak, group in zip(peaks, optimizer.param_groups, strict=True):
                first = peak / div_factor
                group.update(initial_lr=first, max_lr=peak, min_lr=first / final_div_factor)
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self._momentum_range(base_momentum, max_momentum, fresh)
        super().__init__(optimizer, last_epoch)

    def _phases(self, pct_start: float, three_phase: bool) -> list[dict[str, Any]]:
        keys = ("end_step", "start_lr", "end_lr", "start_momentum", "end_momentum")
        peak = pct_start * self.total_steps
        rows: list[tuple[Any, ...]] = [(float(peak) - 1, "initial_lr", "max_lr", "max_momentum", "base_momentum")]
        last = self.total_steps - 1
        if three_phase:
            rows.append((float(2 * peak) - 2, "max_lr", "initial_lr", "base_momentum", "max_momentum"))
            rows.append((last, "initial_lr", "min_lr", "max_momentum", "max_momentum"))
        else:
            rows.append((last, "max_lr", "min_lr", "base_momentum", "max_momentum"))
        return [dict(zip(keys, row, strict=True)) for row in rows]

    def _anneal_func(self, start: Any, end: Any, pct: float) -> Any:
        if self._anneal_func_type == "cos":
            return end + (start - end) / 2.0 * (math.cos(math.pi * pct) + 1)
        if self._anneal_func_type != "linear":  # a state_dict may say anything
            raise ValueError(f"Unknown _anneal_func_type: {self._anneal_func_type}")
        return (end - start) * pct + start

    def _next(self) -> list[float | Tensor]:
        """The rates for ``self.last_epoch``; sets the momentum too."""
        step = self.last_epoch
        if step > self.total_steps:
            raise ValueError(f"Tried to step {step} times. The specified number of total steps is {self.total_steps}")
        start = 0.0
        for phase in self._schedule_phases:
            if step <= phase["end_step"] or phase is self._schedule_phases[-1]:
                break
            start = phase["end_step"]
        pct = (step - start) / (phase["end_step"] - start)
        rates = []
        for group in self.optimizer.param_groups:
            rates.append(self._anneal_func(group[phase["start_lr"]], group[phase["end_lr"]], pct))
            if self.cycle_momentum:
                ends = group[phase["start_momentum"]], group[phase["end_momentum"]]
                self._set_momentum(group, self._anneal_func(*ends, pct))
        return rates


def _count_steps(total_steps: Any, epochs: Any, steps_per_epoch: Any) -> int:
    if total_steps is not None:
        if total_steps <= 0 or not isinstance(total_steps, int):
            raise ValueError(f"Expected positive integer total_steps, but got {total_steps}")
        return total_steps
    if epochs is None or steps_per_epoch is None:
        raise ValueError("You must define either total_steps OR (epochs AND steps_per_epoch)")
    for name, count in (("epochs", epochs), ("steps_per_epoch", steps_per_epoch)):
        if not isinstance(count, int) or count <= 0:
            raise ValueError(f"Expected positive integer {name}, but got {count}")
    return epochs * steps_per_epoch
