"""Stochastic gradient descent."""

from __future__ import annotations

from typing import Any

import wengert as torch

from .._tape.tensor import Tensor, wrap
from ._elementwise import (
    ElementwiseOptimizer,
    TensorLibrary,
    check_fused,
    check_one_element,
    check_option,
    number,
    options,
    step_at_rows,
)
from .optimizer import ParamsT, functional_form

__all__ = ["SGD"]

__getattr__ = functional_form("sgd")


def _plain(x: Any, p: Any, g: Any, t: Any, u: Any, lr: Any) -> Any:
    return (x.add_scaled(p, g, -lr, t),)


def _heavy_ball(
    x: Any, p: Any, g: Any, b: Any, t: Any, u: Any, lr: Any, momentum: Any, share: Any, nesterov: bool, first: bool
) -> Any:
    if first:  # PyTorch's first buffer is outside the graph
        b = x.positive(g.detach() if x is TensorLibrary else g, b)
    else:
        b = x.multiply(b, momentum, b)
        b = x.add(b, g, b) if share == 1 else x.add_scaled(b, g, share, t)
    step = x.add(g, x.multiply(b, momentum, t), t) if nesterov else b
    return x.add_scaled(p, step, -lr, u), b


class SGD(ElementwiseOptimizer):
    """Stochastic gradient descent, optionally with momentum.

    With momentum, ``b = momentum * b + (1 - dampening) * g`` takes the place of the gradient ``g``; the first ``b`` is
    the gradient itself. Nesterov's form steps by ``g + momentum * b``. Source: Sutskever et al. 2013, in PyTorch's
    form, where the learning rate multiplies ``b`` and not ``g``. ``foreach`` and ``fused`` have no effect.

    >>> import wengert as torch
    >>> w = torch.tensor([1., 2.], requires_grad=True)
    >>> optimizer = torch.optim.SGD([w], lr=0.25)
    >>> (w * w).sum().backward()
    >>> optimizer.step()
    >>> w
    tensor([0.5000, 1.0000], requires_grad=True)
    """

    _late_options = {"nesterov": False, "maximize": False, "foreach": None, "differentiable": False, "fused": False}
    _late_numbers = ()

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-3,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: float | Tensor = 0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        check_one_element(lr)
        for name, value in (("learning rate", lr), ("momentum value", momentum), ("weight_decay value", weight_decay)):
            check_option(name, value, not value < 0.0)  # NaN is taken, unlike by other optimizers
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        names = "lr momentum dampening weight_decay nesterov maximize foreach differentiable fused"
        super().__init__(params, options(locals(), names))
        check_fused(fused, foreach, differentiable)

    def _step_sparse(self, group: dict[str, Any], p: Tensor, g: Any) -> None:
        """PyTorch's step by a sparse gradient; the momentum's buffer is sparse as well."""
        lr, momentum = number(group["lr"]), group["momentum"]
        if group["weight_decay"] != 0:
            raise RuntimeError("add(sparse, dense) is not supported. Use add(dense, sparse) instead.")
        if group["maximize"]:
            g = -g
        if momentum != 0:
            state: dict[str, Any] = self.state[p]
            before = state.get("momentum_buffer")
            buffer = g.copy() if before is None else before._payload * momentum + g * (1 - group["dampening"])
            state["momentum_buffer"] = wrap(buffer)
            g = g + buffer * momentum if group["nesterov"] else buffer
        step_at_rows(p, g, -lr)

    def _state_of(self, group: dict[str, Any], p: Tensor) -> dict[str, Any]:
        if group["momentum"] == 0:
            return {}
        state: dict[str, Any] = self.state[p]
        if state.get("momentum_buffer") is None:
            state["momentum_buffer"] = torch.empty_like(p.detach())
            state["_first"] = True
        return state

    def _rule(self, group: dict[str, Any], state: dict[str, Any], number: Any) -> Any:
        lr = number(group["lr"])
        momentum = group["momentum"]
        if momentum == 0:
            return _plain, (), (lr,)
        first = state.pop("_first", False)
        constants = (lr, number(momentum), 1 - number(group["dampening"]), group["nesterov"], first)
        return _heavy_ball, ("momentum_buffer",), constants
