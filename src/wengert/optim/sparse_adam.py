"""SparseAdam."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._grad_mode import enable_grad
from .._tensor import Tensor
from ._elementwise import check_betas, check_option
from .optimizer import Optimizer, ParamsT

__all__ = ["SparseAdam"]


class SparseAdam(Optimizer):
    """Adam for sparse gradients, of which there are none in this package: ``step`` refuses dense ones, as PyTorch's.

    It can be made, saved and loaded, and it steps parameters that have no gradient.

    >>> import wengert as torch
    >>> w = torch.ones(2, requires_grad=True)
    >>> optimizer = torch.optim.SparseAdam([w])
    >>> w.sum().backward()
    >>> optimizer.step()
    Traceback (most recent call last):
    RuntimeError: SparseAdam does not support dense gradients, please consider Adam instead
    """

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        maximize: bool = False,
    ) -> None:
        if isinstance(lr, Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        check_option("learning rate", lr, lr > 0.0)
        check_option("epsilon value", eps, eps > 0.0)
        check_betas(betas)
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "maximize": maximize})
        complex_params = [
            [i, j] for i, group in enumerate(self.param_groups) for j, p in enumerate(group["params"]) if p.is_complex()
        ]
        if complex_params:
            raise ValueError(
                f"Complex params at indices {complex_params}: SparseAdam does not support complex parameters"
            )

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Refuse dense gradients."""
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        if any(p.grad is not None for group in self.param_groups for p in group["params"]):
            raise RuntimeError("SparseAdam does not support dense gradients, please consider Adam instead")
        return loss
