"""Adafactor."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import wengert as torch

from .._base.dtypes import BY_NUMPY
from .._base.limits import finfo
from .._payloads.transforms import plain_dtype
from .._tape.tensor import Tensor, alias_payload
from ._elementwise import ArrayOptimizer, advance, check_one_element, check_shape, new_step
from .optimizer import ParamsT, _to_scalar

__all__ = ["Adafactor"]


class Adafactor(ArrayOptimizer):
    """Adafactor: Adam's scaling, with the second moments of a matrix stored as a row and a column.

    The state of an ``(n, m)`` parameter has ``n + m`` numbers. Steps are relative to the parameter's root mean square,
    and an update whose root mean square exceeds ``d`` is scaled down to it. ``eps``: the lower bounds of the root of
    the second moments (``None``: the dtype's eps) and of the parameter's root mean square. ``foreach`` has no effect.
    Source: Shazeer and Stern 2018.

    >>> import wengert as torch
    >>> w = torch.ones(2, 3, requires_grad=True)
    >>> optimizer = torch.optim.Adafactor([w], lr=0.1)
    >>> w.sum().backward()
    >>> optimizer.step()
    >>> w[0]
    tensor([0.9000, 0.9000, 0.9000], grad_fn=<SelectBackward0>)
    """

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-2,
        beta2_decay: float = -0.8,
        eps: tuple[float | None, float] = (None, 1e-3),
        d: float = 1.0,
        weight_decay: float = 0.0,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
    ) -> None:
        check_one_element(lr)
        for text, value, fine in (
            ("Learning rate should be >= 0", lr, lr >= 0),
            ("beta2_decay should be <= 0", beta2_decay, beta2_decay <= 0),
            ("epsilon1 should be >= 0", eps[0], eps[0] is None or eps[0] >= 0),
            ("epsilon2 should be >= 0", eps[1], eps[1] >= 0),
            ("Clipping threshold d should be >= 1", d, d >= 1),
            ("weight_decay should be >= 0", weight_decay, weight_decay >= 0),
        ):
            if not fine:
                raise ValueError(f"{text} but is: {value}")
        options = {"lr": lr, "beta2_decay": beta2_decay, "eps": eps, "d": d, "weight_decay": weight_decay}
        super().__init__(params, {**options, "foreach": foreach, "maximize": maximize})

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for group in self.param_groups:
            group.setdefault("foreach", None)

    def _state_of(self, p: Tensor) -> dict[str, Any]:
        state = self.state[p]
        if not state:
            made = {"step": new_step()}
            grad = p.grad
            assert grad is not None
            if grad.dim() > 1:
                *lead, rows, columns = grad.shape
                made["row_var"] = grad.new_zeros((*lead, rows, 1))
                made["col_var"] = grad.new_zeros((*lead, 1, columns))
            else:
                made["variance"] = torch.zeros_like(grad)
            state.update(made)  # whole or not at all
        return state

    @staticmethod
    def _step_one(group: dict[str, Any], p: Any, g: Any, state: dict[str, Any]) -> None:
        count = advance(state)
        lr = _to_scalar(group["lr"])
        least = finfo(BY_NUMPY[plain_dtype(p.dtype)]).eps if group["eps"][0] is None else group["eps"][0]
        size = max(group["eps"][1], _root_mean_square(p))
        share = count ** group["beta2_decay"]  # the weight of the new squares in the moments
        if group["weight_decay"] != 0:
            np.multiply(p, 1 - lr * group["weight_decay"], p)
        squares = g * g
        if g.ndim > 1:
            row, column = alias_payload(state["row_var"]), alias_payload(state["col_var"])
            _move(row, squares.mean(-1, keepdims=True), share)
            _move(column, squares.mean(-2, keepdims=True), share)
            moments = row @ column / np.maximum(row.mean(-2, keepdims=True), least)
        else:
            variance = alias_payload(state["variance"])
            _move(variance, squares, share)
            moments = variance
        update = g / np.sqrt(np.maximum(moments, least * least))
        clipped = max(1.0, _root_mean_square(update) / group["d"])
        length = size * min(lr, 1 / math.sqrt(count)) / clipped
        update *= length if group["maximize"] else -length
        np.add(p, update, p)


def _root_mean_square(x: Any) -> float:
    return float(np.linalg.norm(np.ravel(x))) / math.sqrt(x.size) if x.size else 0.0


def _move(average: Any, value: Any, share: float) -> None:
    """Move an average towards a value by a fraction of the distance, in place."""
    check_shape(average, value)
    average += share * (value - average)
