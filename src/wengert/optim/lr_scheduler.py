"""Learning-rate schedules, each of which changes the ``"lr"`` of an optimizer's groups at each step.

``get_lr`` computes the next rates from the current ones, which lets several schedules act on one optimizer.
``_get_closed_form_lr``, where defined, computes them from the number of the step alone. Names, state and rounding are
PyTorch's. ``_lr_combined`` and ``_lr_cyclic`` hold the combined, metric-driven and cyclic schedules.
"""

from __future__ import annotations

import functools
import math
import types
import weakref
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable
from typing import Any

from .._base.errors import warn
from .._tape.tensor import Tensor
from .optimizer import Optimizer, _to_scalar

__all__ = [
    "LambdaLR", "MultiplicativeLR", "StepLR", "MultiStepLR", "ConstantLR", "LinearLR", "ExponentialLR", "SequentialLR",
    "CosineAnnealingLR", "ChainedScheduler", "ReduceLROnPlateau", "CyclicLR", "CosineAnnealingWarmRestarts",
    "OneCycleLR", "PolynomialLR", "LRScheduler",
]  # fmt: skip

EPOCH_DEPRECATION_WARNING = (
    "The epoch parameter in `scheduler.step()` was not necessary and is being deprecated where possible. Please use "
    "`scheduler.step()` to step the scheduler. During the deprecation, if epoch is different from None, the closed "
    "form is used instead of the new chainable form, where available. Please open an issue if you are unable to "
    "replicate your use case: https://github.com/pytorch/pytorch/issues/new/choose."
)
_OVERRIDDEN = (
    "Seems like `optimizer.step()` has been overridden after learning rate scheduler initialization. Please, make sure "
    "to call `optimizer.step()` before `lr_scheduler.step()`. See more details at "
)
_TOO_EARLY = (
    "Detected call of `lr_scheduler.step()` before `optimizer.step()`. In PyTorch 1.1.0 and later, you should call "
    "them in the opposite order: `optimizer.step()` before `lr_scheduler.step()`.  Failure to do this will result in "
    "PyTorch skipping the first value of the learning rate schedule. See more details at "
)
_ORDER = "https://pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate"


def _copied(value: Any) -> Any:
    return value.clone() if isinstance(value, Tensor) else value


def _format_param(name: str, optimizer: Optimizer, param: Any) -> list[Any]:
    """One value for each group."""
    count = len(optimizer.param_groups)
    values = param if isinstance(param, (list, tuple)) else [param] * count
    if len(values) != count:
        raise ValueError(
            f"{name} must have the same length as optimizer.param_groups. "
            f"{name} has {len(values)} values, param_groups has {count}."
        )
    return [_copied(value) for value in values]


def _check_anneal_strategy(name: Any) -> None:
    if name not in ("cos", "linear"):
        raise ValueError(f"anneal_strategy must be one of 'cos' or 'linear', instead got {name}")


def _param_groups_val_list(optimizer: Optimizer, key: str) -> list[Any]:
    return [_copied(group[key]) for group in optimizer.param_groups]


def _update_param_group_val(group: dict[str, Any], key: str, value: Any) -> None:
    """Set an option; an option that is a tensor is written in place."""
    if isinstance(group[key], Tensor):
        group[key].fill_(_to_scalar(value))
    else:
        group[key] = value


def _require_optimizer(optimizer: Any) -> None:
    if not isinstance(optimizer, Optimizer):
        raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")


def _notice_steps(optimizer: Any) -> None:
    """Make the optimizer record that it was stepped, for the warning about a schedule stepped before it."""
    if hasattr(optimizer.step, "_wrapped_by_lr_sched"):
        return
    step = optimizer.step.__func__
    reference = weakref.ref(optimizer)

    @functools.wraps(step)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        optimizer = reference()
        optimizer._opt_called = True
        return step(optimizer, *args, **kwargs)

    wrapper._wrapped_by_lr_sched = True
    optimizer.step = wrapper


class LRScheduler:
    """Base class of the schedules. A subclass defines ``get_lr``, the list of rates for ``self.last_epoch``.

    >>> import wengert as torch
    >>> class Halving(torch.optim.lr_scheduler.LRScheduler):
    ...     def get_lr(self):
    ...         return [rate / 2 ** self.last_epoch for rate in self.base_lrs]
    >>> optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1.)
    >>> scheduler = Halving(optimizer)
    >>> optimizer.step()
    >>> scheduler.step()
    >>> scheduler.get_last_lr()
    [0.5]
    """

    _get_lr_called_within_step: bool = False
    _is_initial: bool = False

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        _require_optimizer(optimizer)
        self.optimizer = optimizer
        for i, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", _copied(group["lr"]))
            elif "initial_lr" not in group:
                raise KeyError(
                    f"param 'initial_lr' is not specified in param_groups[{i}] when resuming scheduler with "
                    f"last_epoch >= 0.\n"
                    "This typically happens when:\n"
                    "1. You're trying to resume training from a checkpoint but haven't properly loaded the optimizer "
                    "state\n"
                    "2. You're using last_epoch >= 0 for a fresh training run (not recommended)"
                )
        self.base_lrs: list[float | Tensor] = _param_groups_val_list(optimizer, "initial_lr")
        self.last_epoch = last_epoch
        _notice_steps(optimizer)
        self._initial_step()

    def _initial_step(self) -> None:
        self._step_count = 0
        self._is_initial = True
        try:
            self.step()
        finally:
            self._is_initial = False

    def _stepping(self) -> _enable_get_lr_call:
        return _enable_get_lr_call(self)

    def state_dict(self) -> dict[str, Any]:
        """Every attribute but the optimizer."""
        return {key: value for key, value in self.__dict__.items() if key != "optimizer"}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what ``state_dict`` gave."""
        self.__dict__.update(state_dict)

    def get_last_lr(self) -> list[float | Tensor]:
        """The rates that the last step set, one for each group."""
        return self._last_lr

    def get_lr(self) -> list[float | Tensor]:
        """The rates for ``self.last_epoch``; called by ``step``."""
        raise NotImplementedError

    def _rates(self) -> list[Any]:
        return _param_groups_val_list(self.optimizer, "lr")

    def _scaled(self, factor: Any) -> list[Any]:
        return [group["lr"] * factor for group in self.optimizer.param_groups]

    def step(self, epoch: int | None = None) -> None:
        """Set the next rates, or with ``epoch`` (deprecated) the rates of that epoch."""
        if self._step_count == 1:
            self._check_order()
        self._step_count += 1
        if epoch is not None:
            warn(EPOCH_DEPRECATION_WARNING, UserWarning)
        self._update_lr(epoch)

    def _check_order(self) -> None:
        """Warn before the second rate if the optimizer was not stepped with the first."""
        if not hasattr(self.optimizer.step, "_wrapped_by_lr_sched"):
            warn(_OVERRIDDEN + _ORDER, UserWarning)
        elif not getattr(self.optimizer, "_opt_called", False):
            warn(_TOO_EARLY + _ORDER, UserWarning)

    def _update_lr(self, epoch: int | None = None) -> None:
        with self._stepping():
            self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
            closed = None if epoch is None else getattr(self, "_get_closed_form_lr", None)
            rates = self.get_lr() if closed is None else closed()
        self._set_rates(rates)

    def _set_rates(self, rates: list[Any]) -> None:
        for group, rate in zip(self.optimizer.param_groups, rates, strict=True):
            _update_param_group_val(group, "lr", rate)
        self._last_lr = self._rates()


class _LRScheduler(LRScheduler):
    """The name of ``LRScheduler`` until PyTorch 2.0."""


class _enable_get_lr_call:
    """A context in which ``get_lr`` of a scheduler may be called without a warning."""

    def __init__(self, o: LRScheduler) -> None:
        self.o = o

    def __enter__(self) -> _enable_get_lr_call:
        self.o._get_lr_called_within_step = True
        return self

    def __exit__(self, *_: object) -> None:
        self.o._get_lr_called_within_step = False


def _warn_get_lr_called_within_step(scheduler: LRScheduler) -> None:
    if not scheduler._get_lr_called_within_step:
        warn("To get the last learning rate computed by the scheduler, please use `get_last_lr()`.", UserWarning)


class _Formula(LRScheduler):
    """Base of the schedules here: ``_next`` computes the rates; ``get_lr`` warns a caller other than ``step``."""

    def get_lr(self) -> list[float | Tensor]:
        _warn_get_lr_called_within_step(self)
        return self._next()

    def _next(self) -> list[float | Tensor]:
        raise NotImplementedError


class _WithFunctions(_Formula):
    """A schedule given by functions. State dicts hold the attributes of callable objects, but no functions."""

    def __init__(self, optimizer: Optimizer, lr_lambda: Any, last_epoch: int = -1) -> None:
        self.optimizer = optimizer
        count = len(optimizer.param_groups)
        if not isinstance(lr_lambda, (list, tuple)):
            lr_lambda = [lr_lambda] * count
        elif len(lr_lambda) != count:
            raise ValueError(f"Expected {count} lr_lambdas, but got {len(lr_lambda)}")
        self.lr_lambdas: list[Any] = list(lr_lambda)
        self._check_functions()
        super().__init__(optimizer, last_epoch)

    def _check_functions(self) -> None:
        pass

    def state_dict(self) -> dict[str, Any]:
        """Every attribute but the optimizer and functions; callable objects are represented by their attributes."""
        state = {k: v for k, v in self.__dict__.items() if k not in ("optimizer", "lr_lambdas")}
        state["lr_lambdas"] = [
            None if isinstance(fn, types.FunctionType) else fn.__dict__.copy() for fn in self.lr_lambdas
        ]
        return state

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        self.__dict__.update({k: v for k, v in state_dict.items() if k != "lr_lambdas"})
        for fn, attributes in zip(self.lr_lambdas, state_dict["lr_lambdas"], strict=False):
            if attributes is not None:
                fn.__dict__.update(attributes)


class LambdaLR(_WithFunctions):
    """The first rate times ``lr_lambda(epoch)``, where ``lr_lambda`` is a function or a list of one per group.

    >>> import wengert as torch
    >>> optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1.)
    >>> scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda epoch: 1 / (1 + epoch))
    >>> optimizer.step()
    >>> scheduler.step()
    >>> scheduler.get_last_lr()
    [0.5]
    """

    def _next(self) -> list[float | Tensor]:
        return [rate * fn(self.last_epoch) for fn, rate in zip(self.lr_lambdas, self.base_lrs, strict=True)]


class MultiplicativeLR(_WithFunctions):
    """The rate times ``lr_lambda(epoch)`` at each step; ``lr_lambda`` is a function or a list of one per group."""

    def _check_functions(self) -> None:
        for fn in self.lr_lambdas:
            if not callable(fn):
                raise TypeError(f"lr_lambda should be a function, but got {type(fn).__name__}")

    def _next(self) -> list[float | Tensor]:
        if self._is_initial:
            return self._rates()
        groups = self.optimizer.param_groups
        return [group["lr"] * fn(self.last_epoch) for fn, group in zip(self.lr_lambdas, groups, strict=True)]


class StepLR(_Formula):
    """The rate times ``gamma`` every ``step_size`` steps."""

    def __init__(self, optimizer: Optimizer, step_size: int, gamma: float = 0.1, last_epoch: int = -1) -> None:
        self.step_size = step_size
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def _next(self) -> list[float | Tensor]:
        if self.last_epoch == 0 or self.last_epoch % self.step_size != 0:
            return self._rates()
        return self._scaled(self.gamma)

    def _get_closed_form_lr(self) -> list[float | Tensor]:
        return [rate * self.gamma ** (self.last_epoch // self.step_size) for rate in self.base_lrs]


class MultiStepLR(_Formula):
    """The rate times ``gamma`` at each of the ``milestones``."""

    def __init__(
        self, optimizer: Optimizer, milestones: Iterable[int], gamma: float = 0.1, last_epoch: int = -1
    ) -> None:
        self.milestones = Counter(milestones)
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def _next(self) -> list[float | Tensor]:
        if self.last_epoch not in self.milestones:
            return self._rates()
        return self._scaled(self.gamma ** self.milestones[self.last_epoch])

    def _get_closed_form_lr(self) -> list[float | Tensor]:
        passed = bisect_right(sorted(self.milestones.elements()), self.last_epoch)
        return [rate * self.gamma**passed for rate in self.base_lrs]


class ConstantLR(_Formula):
    """The rate times ``factor`` for the first ``total_iters`` steps."""

    def __init__(
        self, optimizer: Optimizer, factor: float = 1.0 / 3, total_iters: int = 5, last_epoch: int = -1
    ) -> None:
        if factor > 1.0 or factor < 0:
            raise ValueError("Constant multiplicative factor expected to be between 0 and 1.")
        self.factor = factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def _next(self) -> list[float | Tensor]:
        if self.last_epoch == 0:
            return self._scaled(self.factor)
        if self.last_epoch != self.total_iters:
            return self._rates()
        return self._scaled(1.0 / self.factor)

    def _get_closed_form_lr(self) -> list[float | Tensor]:
        factor = self.factor + (self.last_epoch >= self.total_iters) * (1 - self.factor)
        return [rate * factor for rate in self.base_lrs]


class LinearLR(_Formula):
    """The rate times a factor that goes linearly from ``start_factor`` to ``end_factor`` in ``total_iters`` steps."""

    def __init__(
        self,
        optimizer: Optimizer,
        start_factor: float = 1.0 / 3,
        end_factor: float = 1.0,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:
        if start_factor > 1.0 or start_factor <= 0:
            raise ValueError("Starting multiplicative factor expected to be greater than 0 and less or equal to 1.")
        if end_factor > 1.0 or end_factor < 0:
            raise ValueError("Ending multiplicative factor expected to be between 0 and 1.")
        self.start_factor, self.end_factor, self.total_iters = start_factor, end_factor, total_iters
        super().__init__(optimizer, last_epoch)

    def _next(self) -> list[float | Tensor]:
        if self.last_epoch == 0:
            return self._scaled(self.start_factor)
        if self._is_initial or self.last_epoch > self.total_iters:
            return self._rates()
        rise = self.end_factor - self.start_factor
        return self._scaled(1.0 + rise / (self.total_iters * self.start_factor + (self.last_epoch - 1) * rise))

    def _get_closed_form_lr(self) -> list[float | Tensor]:
        rise = self.end_factor - self.start_factor
        done = min(self.total_iters, self.last_epoch)
        return [rate * (self.start_factor + rise * done / self.total_iters) for rate in self.base_lrs]


class ExponentialLR(_Formula):
    """The rate times ``gamma`` each step."""

    def __init__(self, optimizer: Optimizer, gamma: float, last_epoch: int = -1) -> None:
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def _next(self) -> list[float | Tensor]:
        return self._rates() if self._is_initial else self._scaled(self.gamma)

    def _get_closed_form_lr(self) -> list[float | Tensor]:
        return [rate * self.gamma**self.last_epoch for rate in self.base_lrs]


class PolynomialLR(_Formula):
    """The first rate times ``(1 - epoch / total_iters) ** power``."""

    def __init__(self, optimizer: Optimizer, total_iters: int = 5, power: float = 1.0, last_epoch: int = -1) -> None:
        self.total_iters = total_iters
        self.power = power
        super().__init__(optimizer, last_epoch)

    def _next(self) -> list[float | Tensor]:
        if self._is_initial or self.last_epoch > self.total_iters:
            return self._rates()
        now = 1.0 - self.last_epoch / self.total_iters
        before = 1.0 - (self.last_epoch - 1) / self.total_iters
        return self._scaled((now / before) ** self.power)

    def _get_closed_form_lr(self) -> list[float | Tensor]:
        done = min(self.total_iters, self.last_epoch)
        return [rate * (1.0 - done / self.total_iters) ** self.power for rate in self.base_lrs]


class CosineAnnealingLR(_Formula):
    """The rate goes from its start to ``eta_min`` along half a cosine of ``T_max`` steps, and back. Source: SGDR, 2016.

    >>> import wengert as torch
    >>> optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1.)
    >>> scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=2)
    >>> optimizer.step()
    >>> scheduler.step()
    >>> scheduler.get_last_lr()
    [0.5]
    """

    def __init__(self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0, last_epoch: int = -1) -> None:
        self.T_max = T_max
        self.eta_min = eta_min
        super().__init__(optimizer, last_epoch)

    def _next(self) -> list[float | Tensor]:
        if self._is_initial:
            return self._rates()
        if self._step_count == 1 and self.last_epoch > 0:  # resumed
            return self._get_closed_form_lr()
        least, groups = self.eta_min, self.optimizer.param_groups
        if (self.last_epoch - 1 - self.T_max) % (2 * self.T_max) == 0:  # at the minimum a ratio cannot raise the rate
            step = 1 - math.cos(math.pi / self.T_max)
            return [g["lr"] + (first - least) * step / 2 for first, g in zip(self.base_lrs, groups, strict=True)]
        ratio = self._height(self.last_epoch) / self._height(self.last_epoch - 1)
        return [ratio * (group["lr"] - least) + least for group in groups]

    def _height(self, epoch: int) -> float:
        """Between 2 and 0."""
        return 1 + math.cos(math.pi * epoch / self.T_max)

    def _get_closed_form_lr(self) -> list[float | Tensor]:
        height = self._height(self.last_epoch)
        return [self.eta_min + (rate - self.eta_min) * height / 2 for rate in self.base_lrs]


from ._lr_combined import ChainedScheduler, ReduceLROnPlateau, SequentialLR  # noqa: E402
from ._lr_cyclic import CosineAnnealingWarmRestarts, CyclicLR, OneCycleLR  # noqa: E402

for _cls in (ChainedScheduler, CosineAnnealingWarmRestarts, CyclicLR, OneCycleLR, ReduceLROnPlateau, SequentialLR):
    _cls.__module__ = __name__
del _cls
