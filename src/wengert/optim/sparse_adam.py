"""SparseAdam."""

from __future__ import annotations

import math
from collections.abc import Callable
from operator import attrgetter
from typing import Any

import numpy as np

import wengert as torch

from .._tape.tensor import Tensor
from .._tape.views import writable
from ._elementwise import check_betas, check_one_element, check_option, number, step_at_rows
from .optimizer import Optimizer, ParamsT, loss_of

__all__ = ["SparseAdam"]


_REFUSED: tuple[tuple[Callable[[Tensor], bool], str], ...] = (
    (attrgetter("is_sparse"), "Sparse params at indices {}: SparseAdam requires dense parameter tensors"),
    (torch.is_complex, "Complex params at indices {}: SparseAdam does not support complex parameters"),
)


class SparseAdam(Optimizer):
    """SparseAdam: Adam for sparse gradients, which updates only the elements that a gradient stores.

    The averages of other elements do not decay. All else is as in ``Adam``.

    >>> import wengert as torch
    >>> w = torch.ones(3, 1, requires_grad=True)
    >>> optimizer = torch.optim.SparseAdam([w], lr=0.1)
    >>> torch.nn.functional.embedding(torch.tensor([0, 2]), w, sparse=True).sum().backward()
    >>> optimizer.step()
    >>> w.tolist()[1]
    [1.0]
    """

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        maximize: bool = False,
    ) -> None:
        check_one_element(lr)
        check_option("learning rate", lr, lr > 0.0)
        check_option("epsilon value", eps, eps > 0.0)
        check_betas(betas)
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "maximize": maximize})
        for is_wrong, text in _REFUSED:
            groups = enumerate(self.param_groups)
            found = [[i, j] for i, group in groups for j, p in enumerate(group["params"]) if is_wrong(p)]
            if found:
                raise ValueError(text.format(found))

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Change the parameters by their gradients, which must be sparse.

        ``closure`` computes the loss and the gradients anew, and returns the loss, which ``step`` returns.

        Raises:
            RuntimeError: a gradient is dense.
        """
        loss = None if closure is None else loss_of(closure)
        for group in self.param_groups:
            given = [(p, p.grad) for p in group["params"] if p.grad is not None]
            if not all(getattr(grad._payload, "is_sparse", False) for _, grad in given):
                raise RuntimeError("SparseAdam does not support dense gradients, please consider Adam instead")
            for p, grad in given:
                state: dict[str, Any] = self.state[p]
                if not state:
                    state.update(step=0, exp_avg=torch.zeros_like(p.detach()), exp_avg_sq=torch.zeros_like(p.detach()))
                state["step"] += 1
                with np.errstate(all="ignore"):
                    _update(
                        p, (-grad._payload if group.get("maximize", False) else grad._payload).coalesce(), state, group
                    )
        return loss


def _update(p: Tensor, g: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
    """One parameter's step, at the indices of a coalesced gradient."""
    beta1, beta2 = group["betas"]
    at = tuple(g.indices) or None  # of a tensor without dims, its one element in a row
    mean, square = writable(state["exp_avg"]), writable(state["exp_avg_sq"])
    m = mean[at]
    m = m + (g.values - m) * (1 - beta1)
    v = square[at]
    v = v + (g.values * g.values - v) * (1 - beta2)
    mean[at], square[at] = m, v
    step = state["step"]
    size = number(group["lr"]) * math.sqrt(1 - beta2**step) / (1 - beta1**step)
    step_at_rows(p, g.like(m / (np.sqrt(v) + group["eps"])), -size)


def sparse_adam(
    params: list[Tensor], grads: list[Tensor], exp_avgs: list[Tensor], exp_avg_sqs: list[Tensor],
    state_steps: list[int], *, eps: float, beta1: float, beta2: float, lr: float, maximize: bool,
) -> None:  # fmt: skip
    """The step of ``torch.optim.SparseAdam`` on lists of tensors, which it changes in place."""
    group = {"betas": (beta1, beta2), "lr": lr, "eps": eps}
    with np.errstate(all="ignore"):
        for p, grad, mean, square, step in zip(params, grads, exp_avgs, exp_avg_sqs, state_steps, strict=True):
            state = {"step": step, "exp_avg": mean, "exp_avg_sq": square}
            _update(p, (-grad._payload if maximize else grad._payload).coalesce(), state, group)
