"""``make_functional`` and its relatives, functorch's predecessors of ``torch.func.functional_call``."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from wengert._base.registry import TENSORS
from wengert._tape.tensor import Tensor
from wengert.func import functional_call
from wengert.nn.modules.module import Module

__all__ = [
    "FunctionalModule", "FunctionalModuleWithBuffers", "combine_state_for_ensemble", "make_functional",
    "make_functional_with_buffers",
]  # fmt: skip


class FunctionalModuleWithBuffers(Module):
    """``func(params, buffers, *args)``: the result of a module with these parameters and buffers."""

    def __init__(self, stateless_model: Module, param_names: tuple[str, ...], buffer_names: tuple[str, ...]) -> None:
        super().__init__()
        self.stateless_model, self.param_names, self.buffer_names = stateless_model, param_names, buffer_names

    def forward(self, params: Iterable[Tensor], buffers: Iterable[Tensor], *args: Any, **kwargs: Any) -> Any:
        """Call the module with ``params`` and ``buffers`` in place of its own."""
        state = dict(zip((*self.param_names, *self.buffer_names), (*params, *buffers), strict=True))
        return functional_call(self.stateless_model, state, args, kwargs)


class FunctionalModule(FunctionalModuleWithBuffers):
    """``func(params, *args)``: the result of a module with these parameters."""

    def forward(self, params: Iterable[Tensor], *args: Any, **kwargs: Any) -> Any:
        """Call the module with ``params`` in place of its own parameters."""
        return super().forward(params, (), *args, **kwargs)


def make_functional_with_buffers(
    model: Module, disable_autograd_tracking: bool = False
) -> tuple[FunctionalModuleWithBuffers, tuple[Tensor, ...], tuple[Tensor, ...]]:
    """``func, params, buffers``: a copy of a module as a function of its state.

    ``disable_autograd_tracking=True``: ``params`` do not require grad.
    """
    model = copy.deepcopy(model)
    params, buffers = dict(model.named_parameters()), dict(model.named_buffers())
    if disable_autograd_tracking:
        for param in params.values():
            param.requires_grad_(False)
    func = FunctionalModuleWithBuffers(model, tuple(params), tuple(buffers))
    return func, tuple(params.values()), tuple(buffers.values())


def make_functional(
    model: Module, disable_autograd_tracking: bool = False
) -> tuple[FunctionalModule, tuple[Tensor, ...]]:
    """``func, params``: a copy of a module without buffers as a function of its parameters.

    Raises:
        RuntimeError: the module has buffers.
    """
    if any(True for _ in model.buffers()):
        raise RuntimeError(
            "make_functional(model): `model` has buffers. Please use make_functional_with_buffers(model) instead."
        )
    func, params, _ = make_functional_with_buffers(model, disable_autograd_tracking)
    return FunctionalModule(func.stateless_model, func.param_names, ()), params


def combine_state_for_ensemble(
    models: Sequence[Module],
) -> tuple[FunctionalModuleWithBuffers, tuple[Tensor, ...], tuple[Tensor, ...]]:
    """``func, params, buffers`` of modules of one class, their states stacked for ``vmap(func)``.

    Raises:
        RuntimeError: no module, or modules of several classes or modes.
    """
    if len(models) == 0:
        raise RuntimeError("combine_state_for_ensemble: Expected at least one model, got 0.")
    if len({m.training for m in models}) > 1:
        raise RuntimeError("combine_state_for_ensemble: Expected all models to have the same training/eval mode.")
    if any(type(m) is not type(models[0]) for m in models):
        raise RuntimeError("combine_state_for_ensemble: Expected all models to be of the same class.")
    funcs, *states = zip(*(make_functional_with_buffers(model) for model in models), strict=True)
    params, buffers = (
        tuple(TENSORS.stack(shards, 0).detach() for shards in zip(*state, strict=True)) for state in states
    )
    return funcs[0], params, buffers


def functional_init_with_buffers(
    model_class: Any, ensemble_shape: tuple[int, ...] = (), device: Any = "cpu"
) -> Callable[..., Any]:
    """``init(*args)``: the params and buffers of ``model_class(*args)``, its function, and their names.

    ``ensemble_shape=(n,)``: those of ``n`` modules, stacked.
    """

    def wrapped(*args: Any, **kwargs: Any) -> Any:
        if len(ensemble_shape) >= 2:
            raise ValueError("NYI: ensemble_shape with more than 1 element")
        if ensemble_shape and ensemble_shape[0] <= 0:
            raise ValueError(f"num_models {ensemble_shape[0]} should be > 0")
        models = [model_class(*args, **kwargs).to(device) for _ in range(math.prod(ensemble_shape))]
        made = combine_state_for_ensemble(models) if ensemble_shape else make_functional_with_buffers(models[0])
        func, params, buffers = made
        apply = lambda weights, buffers, data: func(weights, buffers, *data)
        return params, buffers, apply, func.param_names, func.buffer_names

    return wrapped


def functional_init(model_class: Any, ensemble_shape: tuple[int, ...] = (), device: Any = "cpu") -> Callable[..., Any]:
    """``init(*args)``: the params of ``model_class(*args)``, its function, and their names."""

    def wrapped(*args: Any, **kwargs: Any) -> Any:
        made = functional_init_with_buffers(model_class, ensemble_shape, device)(*args, **kwargs)
        params, buffers, func, names, _ = made
        return params, lambda weights, data: func(weights, buffers, data), names

    return wrapped
