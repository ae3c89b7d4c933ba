"""Adagrad."""

from __future__ import annotations

from typing import Any

import numpy as np

import wengert as torch

from .._tape.tensor import Tensor
from .._tape.views import writable
from ._elementwise import (
    LATE,
    ElementwiseOptimizer,
    advance,
    check_fused,
    check_lr,
    check_not_negative,
    new_step,
    number,
    options,
    step_at_rows,
)
from .optimizer import ParamsT, functional_form

__all__ = ["Adagrad"]

__getattr__ = functional_form("adagrad")


def _adagrad(x: Any, p: Any, g: Any, total: Any, t: Any, u: Any, lr: Any, eps: Any) -> Any:
    total = x.add(total, x.multiply(g, g, t), total)
    t = x.add(x.sqrt(total, t), eps, t)
    return x.quotient_step(p, g, -lr, t, u), total


class Adagrad(ElementwiseOptimizer):
    """Adagrad: divides the gradient by the root of the sum of its squares so far. Source: Duchi et al. 2011.

    The learning rate of step ``t`` is ``lr / (1 + (t - 1) * lr_decay)``.

    >>> import wengert as torch
    >>> w = torch.tensor([1., 2.], requires_grad=True)
    >>> optimizer = torch.optim.Adagrad([w], lr=0.1)
    >>> (w * w).sum().backward()
    >>> optimizer.step()
    >>> w
    tensor([0.9000, 1.9000], requires_grad=True)
    """

    _late_options = LATE | {"fused": None}

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-2,
        lr_decay: float = 0,
        weight_decay: float = 0,
        initial_accumulator_value: float = 0,
        eps: float = 1e-10,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        check_lr(lr)
        check_not_negative(
            lr_decay=lr_decay,
            weight_decay=weight_decay,
            initial_accumulator_value=initial_accumulator_value,
            epsilon=eps,
        )
        names = "lr lr_decay eps weight_decay initial_accumulator_value foreach maximize differentiable fused"
        super().__init__(params, options(locals(), names))
        check_fused(fused, foreach, differentiable)
        for group in self.param_groups:
            for p in group["params"]:
                self._begin(group, p, self.state[p])

    def _begin(self, group: dict[str, Any], p: Tensor, state: dict[str, Any]) -> None:
        value = self.defaults["initial_accumulator_value"]
        state["step"] = new_step(fused=group["fused"])
        value = complex(value, value) if p.is_complex() else value
        state["sum"] = torch.full_like(p.detach(), value, memory_format=torch.preserve_format)

    def _step_sparse(self, group: dict[str, Any], p: Tensor, g: Any) -> None:
        """The same update, of the elements that the sparse gradient stores."""
        if group["weight_decay"] != 0:
            raise RuntimeError("weight_decay option is not compatible with sparse gradients")
        state = self.state[p]
        lr = number(group["lr"]) / (1 + (advance(state) - 1) * group["lr_decay"])
        g = (-g if group["maximize"] else g).coalesce()
        total = writable(state["sum"])
        total[tuple(g.indices)] += g.values * g.values
        step_at_rows(p, g.like(g.values / (np.sqrt(total[tuple(g.indices)]) + group["eps"])), -lr)

    def share_memory(self) -> None:
        """Move the sums to shared memory."""
        for group in self.param_groups:
            for p in group["params"]:
                self.state[p]["sum"].share_memory_()

    def _rule(self, group: dict[str, Any], state: dict[str, Any], number: Any) -> Any:
        lr = number(group["lr"]) / (1 + (advance(state) - 1) * group["lr_decay"])
        return _adagrad, ("sum",), (lr, group["eps"])
