"""Averages of a model's parameters during training: stochastic weight averaging and exponential averages.

Source: Izmailov et al. 2018, "Averaging weights leads to wider optima and better generalization".
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from copy import deepcopy
from itertools import chain
from typing import Any

import wengert as torch

from .._base.exports import own_names
from .._base.grad_mode import no_grad
from .._tape.tensor import Tensor
from ..nn.modules.module import Module
from .lr_scheduler import _check_anneal_strategy, _format_param, _Formula
from .optimizer import Optimizer


def _check_decay(decay: float) -> None:
    if decay < 0.0 or decay > 1.0:
        raise ValueError(f"Invalid decay value {decay} provided. Please provide a value in [0,1] range.")


def _averages(tensor: Tensor) -> bool:
    return tensor.is_floating_point() or tensor.is_complex()


def get_ema_multi_avg_fn(decay: float = 0.999) -> Callable[..., None]:
    """A function that moves a list of averages, in place, by ``1 - decay`` of the way to the current values."""
    _check_decay(decay)

    @no_grad()
    def ema_update(ema_param_list: Any, current_param_list: Any, _: Any) -> None:
        for average, current in zip(ema_param_list, current_param_list, strict=True):
            if _averages(average):
                average.lerp_(current, 1 - decay)
            else:
                average.copy_(average * decay + current * (1 - decay))

    return ema_update


def get_swa_multi_avg_fn() -> Callable[..., None]:
    """A function that adds current values to a list of plain averages, in place."""

    @no_grad()
    def swa_update(averaged_param_list: Any, current_param_list: Any, num_averaged: Any) -> None:
        share = 1 / (float(num_averaged) + 1)
        for average, current in zip(averaged_param_list, current_param_list, strict=True):
            if _averages(average):
                average.lerp_(current, share)
            else:
                average.copy_(average + (current - average) * share)

    return swa_update


def get_ema_avg_fn(decay: float = 0.999) -> Callable[..., Tensor]:
    """A function that returns the exponential average of one tensor."""
    _check_decay(decay)

    @no_grad()
    def ema_update(ema_param: Tensor, current_param: Tensor, num_averaged: Any) -> Tensor:
        return decay * ema_param + (1 - decay) * current_param

    return ema_update


def get_swa_avg_fn() -> Callable[..., Tensor]:
    """A function that returns the plain average of one tensor."""

    @no_grad()
    def swa_update(averaged_param: Tensor, current_param: Tensor, num_averaged: Any) -> Tensor:
        return averaged_param + (current_param - averaged_param) / (num_averaged + 1)

    return swa_update


class AveragedModel(Module):
    """A copy of a model, ``.module``, whose parameters are averages over the calls of ``update_parameters``.

    ``avg_fn(average, current, count)`` or ``multi_avg_fn(averages, currents, count)`` defines the average, which is the
    plain mean by default. ``use_buffers``: average the buffers too, instead of copying them.

    >>> import wengert as torch
    >>> model = torch.nn.Linear(1, 1, bias=False)
    >>> averaged = torch.optim.swa_utils.AveragedModel(model)
    >>> for value in (1., 2., 6.):
    ...     _ = torch.nn.init.constant_(model.weight, value)
    ...     averaged.update_parameters(model)
    >>> averaged.module.weight.item()
    3.0
    """

    n_averaged: Tensor

    def __init__(
        self,
        model: Module,
        device: Any = None,
        avg_fn: Callable[..., Tensor] | None = None,
        multi_avg_fn: Callable[..., None] | None = None,
        use_buffers: bool = False,
    ) -> None:
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertionError("Only one of avg_fn and multi_avg_fn should be provided")
        super().__init__()
        average = deepcopy(model)
        self.module = average if device is None else average.to(device)
        self.register_buffer("n_averaged", torch.tensor(0, dtype=torch.long, device=device))
        self.avg_fn, self.multi_avg_fn, self.use_buffers = avg_fn, multi_avg_fn, use_buffers

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Call the averaged model."""
        return self.module(*args, **kwargs)

    def _tensors(self, model: Module) -> list[Tensor]:
        buffers = model.buffers() if self.use_buffers else ()
        return [t.detach() for t in chain(model.parameters(), buffers)]

    def update_parameters(self, model: Module) -> None:
        """Add the model's current parameters to the average."""
        averages, currents = self._tensors(self.module), self._tensors(model)
        if self.n_averaged == 0:
            for average, current in zip(averages, currents, strict=False):
                average.copy_(current)
        elif self.avg_fn is not None:
            for average, current in zip(averages, currents, strict=False):
                average.copy_(self.avg_fn(average, current, self.n_averaged))
        else:
            (self.multi_avg_fn or get_swa_multi_avg_fn())(averages, currents, self.n_averaged)
        if not self.use_buffers:
            for average, current in zip(self.module.buffers(), model.buffers(), strict=True):
                average.detach().copy_(current.detach())
        self.n_averaged += 1


@no_grad()
def update_bn(loader: Iterable[Any], model: Module, device: Any = None) -> None:
    """Recompute the running statistics of batch normalisation by one pass over the data."""
    norms = [m for m in model.modules() if isinstance(m, torch.nn.modules.batchnorm._BatchNorm)]
    if not norms:
        return
    momenta = [m.momentum for m in norms]
    was_training = model.training
    model.train()
    for m in norms:
        m.reset_running_stats()
        m.momentum = None
    for batch in loader:
        data = batch[0] if isinstance(batch, (list, tuple)) else batch
        model(data if device is None else data.to(device))
    for m, momentum in zip(norms, momenta, strict=True):
        m.momentum = momentum
    model.train(was_training)


def _evenly(t: float) -> float:
    return t


def _half_cosine(t: float) -> float:
    return (1 - math.cos(math.pi * t)) / 2


class SWALR(_Formula):
    """The rate goes from its start to ``swa_lr`` in ``anneal_epochs`` steps and then stays there.

    >>> import wengert as torch
    >>> optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1.)
    >>> scheduler = torch.optim.swa_utils.SWALR(optimizer, swa_lr=0.5, anneal_epochs=2, anneal_strategy="linear")
    >>> optimizer.step()
    >>> scheduler.step()
    >>> scheduler.get_last_lr()
    [0.75]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        swa_lr: float,
        anneal_epochs: int = 10,
        anneal_strategy: str = "cos",
        last_epoch: int = -1,
    ) -> None:
        for group, target in zip(optimizer.param_groups, _format_param("swa_lr", optimizer, swa_lr), strict=True):
            group["swa_lr"] = target
        _check_anneal_strategy(anneal_strategy)
        if not (isinstance(anneal_epochs, int) and anneal_epochs >= 0):
            raise ValueError(f"anneal_epochs must be equal or greater than 0, got {anneal_epochs}")
        self._set_anneal_func(anneal_strategy)
        self.anneal_epochs = anneal_epochs
        super().__init__(optimizer, last_epoch)

    def _share(self, step: int) -> float:
        """The fraction of the way to ``swa_lr`` that is done."""
        return self.anneal_func(max(0, min(1, step / max(1, self.anneal_epochs))))

    def _next(self) -> list[float | Tensor]:
        """The rates after ``_step_count - 1`` steps."""
        step = self._step_count - 1
        if self.anneal_epochs == 0:
            step = max(1, step)
        before, now = self._share(step - 1), self._share(step)
        rates = []
        for group in self.optimizer.param_groups:
            target = group["swa_lr"]
            first = target if before == 1 else (group["lr"] - before * target) / (1 - before)
            rates.append(target * now + first * (1 - now))
        return rates

    def _set_anneal_func(self, anneal_strategy: str) -> None:
        self._anneal_strategy = anneal_strategy
        self.anneal_func = _half_cosine if anneal_strategy == "cos" else _evenly

    def state_dict(self) -> dict[str, Any]:
        """Every attribute but the optimizer and the function."""
        return {k: v for k, v in self.__dict__.items() if k not in ("optimizer", "anneal_func")}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        self.__dict__.update(state_dict)
        self._set_anneal_func(self._anneal_strategy)


__all__ = own_names(globals())  # noqa: PLE0605
