"""Optimizers' steps as functions of lists of tensors, which programs call to write optimizers of their own.

``adam(params, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, state_steps, ..., lr=...)`` changes parameters and state
in place, as ``torch.optim.adam.adam`` does; ``init_group`` is ``Optimizer._init_group``, which fills such lists.
"""

from __future__ import annotations

import inspect
from functools import cache
from typing import Any

import wengert as torch

from .sparse_adam import sparse_adam as sparse_adam  # noqa: PLC0414

_NONE = ("foreach", "fused", "grad_scale", "found_inf")  # options that are None by default; other flags are False
_ADAM = "exp_avgs=exp_avg exp_avg_sqs=exp_avg_sq"
_RMSPROP = "square_avgs=square_avg grad_avgs=grad_avg momentum_buffer_list=momentum_buffer"
# function: its class; the lists of states and the entry of the state that each holds; options with a default; options
_TABLE = {
    "sgd": ("SGD", "momentum_buffer_list=momentum_buffer", "has_sparse_grad foreach fused grad_scale found_inf",
            "weight_decay momentum lr dampening nesterov maximize"),
    "adam": ("Adam", f"{_ADAM} max_exp_avg_sqs=max_exp_avg_sq state_steps=step",
             "foreach capturable differentiable fused grad_scale found_inf has_complex decoupled_weight_decay",
             "amsgrad beta1 beta2 lr weight_decay eps maximize"),
    "adamw": ("AdamW", f"{_ADAM} max_exp_avg_sqs=max_exp_avg_sq state_steps=step",
              "foreach capturable differentiable fused grad_scale found_inf has_complex",
              "amsgrad beta1 beta2 lr weight_decay eps maximize"),
    "rmsprop": ("RMSprop", f"{_RMSPROP} state_steps=step", "foreach maximize differentiable capturable has_complex",
                "lr alpha eps weight_decay momentum centered"),
    "adagrad": ("Adagrad", "state_sums=sum state_steps=step",
                "fused grad_scale found_inf has_sparse_grad foreach differentiable has_complex",
                "lr weight_decay lr_decay eps maximize"),
    "adadelta": ("Adadelta", "square_avgs=square_avg acc_deltas=acc_delta state_steps=step",
                 "capturable foreach differentiable has_complex", "lr rho eps weight_decay maximize"),
    "adamax": ("Adamax", "exp_avgs=exp_avg exp_infs=exp_inf state_steps=step",
               "foreach maximize differentiable capturable has_complex", "eps beta1 beta2 lr weight_decay"),
    "nadam": ("NAdam", f"{_ADAM} mu_products=mu_product state_steps=step",
              "decoupled_weight_decay foreach capturable differentiable has_complex maximize",
              "beta1 beta2 lr weight_decay momentum_decay eps"),
    "radam": ("RAdam", f"{_ADAM} state_steps=step",
              "decoupled_weight_decay foreach differentiable capturable has_complex maximize",
              "beta1 beta2 lr weight_decay eps"),
    "asgd": ("ASGD", "axs=ax mus=mu etas=eta state_steps=step",
             "foreach maximize differentiable capturable has_complex", "lambd lr t0 alpha weight_decay"),
    "rprop": ("Rprop", "prevs=prev step_sizes=step_size state_steps=step",
              "foreach capturable maximize differentiable has_complex",
              "step_size_min step_size_max etaminus etaplus"),
}  # fmt: skip
# The order of ``_init_group``'s lists, where it is another one.
_INIT_ORDER = {"RMSprop": ("square_avg", "momentum_buffer", "grad_avg", "step"), "ASGD": ("mu", "ax", "eta", "step")}
_PAIRS = {
    "betas": ("beta1", "beta2"),
    "etas": ("etaminus", "etaplus"),
    "step_sizes": ("step_size_min", "step_size_max"),
}


def _entries(lists: str) -> list[tuple[str, str]]:
    return [(name, entry) for name, _, entry in (pair.partition("=") for pair in lists.split())]


@cache
def _signature(name: str) -> inspect.Signature:
    _, lists, flags, options = _TABLE[name]
    places = ["params", "d_p_list" if name == "sgd" else "grads", *(n for n, _ in _entries(lists))]
    parameter, either = inspect.Parameter, inspect.Parameter.POSITIONAL_OR_KEYWORD
    return inspect.Signature([
        *(parameter(place, either) for place in places),
        *(parameter(flag, either, default=None if flag in _NONE else False) for flag in flags.split()),
        *(parameter(option, inspect.Parameter.KEYWORD_ONLY) for option in options.split()),
    ])  # fmt: skip


def _step(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    cls, lists, flags, options = _TABLE[name]
    try:
        bound = _signature(name).bind(*args, **kwargs)
    except TypeError as error:
        raise TypeError(f"{name}() {error}") from None
    bound.apply_defaults()
    params, grads, *states = list(bound.arguments.values())[: 2 + len(_entries(lists))]
    given = bound.arguments
    if given.get("found_inf") is not None and given["found_inf"].item():
        return
    if given.get("grad_scale") is not None:
        grads = [g / given["grad_scale"] for g in grads]
    paired = {pair: tuple(given[n] for n in names) for pair, names in _PAIRS.items() if names[0] in given}
    plain = {n: given[n] for n in (*flags.split(), *options.split())}
    for taken in (*_NONE, "has_sparse_grad", "has_complex", *(n for names in _PAIRS.values() for n in names)):
        plain.pop(taken, None)
    # the parameters may be any tensors; leaves on the same memory can be stepped
    works = list(params) if given.get("differentiable") else [p.detach() for p in params]
    optimizer = getattr(torch.optim, cls)(works, **paired, **plain)
    for k, (p, g) in enumerate(zip(works, grads, strict=True)):
        p.grad = g
        for (_, entry), held in zip(_entries(lists), states, strict=True):
            if k < len(held) and held[k] is not None:
                optimizer.state[p][entry] = held[k]
    optimizer.step()
    if name == "sgd" and given["momentum"]:
        states[0][:] = [optimizer.state[p]["momentum_buffer"] for p in works]


def init_group(optimizer: Any, group: dict[str, Any], *lists: list[Any]) -> Any:
    """Fill lists with the parameters of a group that have a gradient, the gradients and entries of the states."""
    mro = [cls.__name__ for cls in type(optimizer).__mro__]
    name, entries = next((cls, _entries(held)) for base in mro for cls, held, _, _ in _TABLE.values() if cls == base)
    order = _INIT_ORDER.get(name) or [entry for _, entry in entries]
    params, grads, *states = lists
    for p in group["params"]:
        if p.grad is None:
            continue
        if name == "SGD":
            state = optimizer.state[p] if group["momentum"] else {}
            states[0].append(state.get("momentum_buffer"))
        else:
            state = optimizer._state_of(group, p)
            for entry, held in zip(order, states, strict=True):
                if entry in state:
                    held.append(state[entry])
        params.append(p)
        grads.append(p.grad)
    sparse, complex_ = any(g.is_sparse for g in grads), any(p.is_complex() for p in params)
    return sparse if name == "SGD" else (sparse, complex_) if name == "Adagrad" else complex_


def functional(name: str) -> Any:
    """The function of this name."""

    def step(*args: Any, **kwargs: Any) -> None:
        _step(name, args, kwargs)

    step.__name__ = step.__qualname__ = name
    step.__module__ = f"{__package__}.{name}"
    step.__doc__ = f"The step of ``torch.optim.{_TABLE[name][0]}`` on lists of tensors, which it changes in place."
    return step


sgd, adam, adamw, rmsprop, adagrad, adadelta = map(
    functional, ("sgd", "adam", "adamw", "rmsprop", "adagrad", "adadelta")
)
adamax, nadam, radam, asgd, rprop = map(functional, ("adamax", "nadam", "radam", "asgd", "rprop"))
