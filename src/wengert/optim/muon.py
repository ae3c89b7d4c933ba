"""Muon."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import wengert as torch

from .._tape.tensor import Tensor, alias_payload
from ._elementwise import ArrayOptimizer, check_one_element, check_shape
from .optimizer import ParamsT

__all__ = ["Muon"]

_ADJUSTMENTS = ("original", "match_rms_adamw")


class Muon(ArrayOptimizer):
    """Muon: momentum whose update of a matrix is orthogonalised before it is applied.

    The Newton-Schulz iteration does that to about one digit, in bfloat16 as in PyTorch: each product is rounded to
    bfloat16, whether or not ``ml_dtypes`` is installed. Parameters must have two dimensions. ``adjust_lr_fn``: how the
    rate depends on a matrix's shape, ``"original"`` (also ``None``) or ``"match_rms_adamw"``. Source: Jordan 2024,
    https://kellerjordan.github.io/posts/muon/.

    >>> import wengert as torch
    >>> w = torch.ones(2, 2, requires_grad=True)
    >>> optimizer = torch.optim.Muon([w], lr=0.1)
    >>> (w * torch.eye(2)).sum().backward()
    >>> optimizer.step()
    >>> (w < 1).all()
    tensor(True)
    """

    def __init__(
        self,
        params: ParamsT,
        lr: float = 1e-3,
        weight_decay: float = 0.1,
        momentum: float = 0.95,
        nesterov: bool = True,
        ns_coefficients: tuple[float, float, float] = (3.4445, -4.7750, 2.0315),
        eps: float = 1e-7,
        ns_steps: int = 5,
        adjust_lr_fn: str | None = None,
    ) -> None:
        check_one_element(lr)
        for name, value in (("Learning rate", lr), ("momentum", momentum), ("weight decay", weight_decay)):
            if not value >= 0.0:
                raise ValueError(f"{name} should be >= 0 but is: {value}")
        if adjust_lr_fn is not None and adjust_lr_fn not in _ADJUSTMENTS:
            raise ValueError(f"Adjust learning rate function {adjust_lr_fn} is not supported")
        options: dict[str, Any] = {"lr": lr, "weight_decay": weight_decay, "momentum": momentum, "nesterov": nesterov}
        options |= {"ns_coefficients": ns_coefficients, "eps": eps, "ns_steps": ns_steps, "adjust_lr_fn": adjust_lr_fn}
        super().__init__(params, options)
        for group in self.param_groups:
            for p in group["params"]:
                if p.ndim != 2:
                    raise ValueError(
                        f"Muon only supports 2D parameters whereas we found a parameter with size: {p.size()}"
                    )

    def _state_of(self, p: Tensor) -> dict[str, Any]:
        state: dict[str, Any] = self.state[p]
        if "momentum_buffer" not in state:
            assert p.grad is not None
            state["momentum_buffer"] = torch.zeros_like(p.grad)
        return state

    @staticmethod
    def _step_one(group: dict[str, Any], p: Any, g: Any, state: dict[str, Any]) -> None:
        lr, momentum = group["lr"], group["momentum"]
        lr = alias_payload(lr).reshape(())[()] if isinstance(lr, Tensor) else lr  # rounded as its dtype is
        average = alias_payload(state["momentum_buffer"])
        check_shape(average, g)
        average += (1 - momentum) * (g - average)
        update = g + momentum * (average - g) if group["nesterov"] else average
        update = orthogonal(update, group["ns_coefficients"], group["ns_steps"], group["eps"])
        rows, columns = p.shape
        ratio = math.sqrt(max(1, rows / columns))
        if group["adjust_lr_fn"] == "match_rms_adamw":
            ratio = 0.2 * math.sqrt(max(rows, columns))
        p *= 1 - lr * group["weight_decay"]
        p -= (lr * ratio * update).astype(p.dtype)


def orthogonal(matrix: Any, coefficients: tuple[float, float, float], steps: int, eps: float) -> Any:
    """Approximately the nearest orthogonal matrix: a polynomial is iterated that moves the singular values to 1."""
    if steps >= 100:
        raise ValueError("Number of steps must be less than 100 for computational efficiency")
    if len(coefficients) != 3:
        raise ValueError("Coefficients must be a tuple of exactly 3 values")
    a, b, c = coefficients
    x = _bfloat16(matrix)
    tall = x.shape[0] > x.shape[1]
    if tall:
        x = x.T
    x = _bfloat16(x / max(_bfloat16(np.linalg.norm(x)), eps))
    for _ in range(steps):
        gram = _bfloat16(x @ x.T)
        x = _bfloat16(a * x + _bfloat16(b * gram + c * (gram @ gram)) @ x)
    return x.T if tall else x


def _bfloat16(x: Any) -> Any:
    """float32 numbers rounded to bfloat16 (to nearest, ties to even)."""
    bits = np.atleast_1d(np.asarray(x, np.float32)).view(np.uint32)
    bits = (bits + 0x7FFF + ((bits >> 16) & 1)) & np.uint32(0xFFFF0000)
    return bits.view(np.float32).reshape(np.shape(x))
