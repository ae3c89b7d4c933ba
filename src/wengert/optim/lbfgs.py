"""L-BFGS, with a line search that meets the strong Wolfe conditions.

Source: Nocedal and Wright, Numerical Optimization, algorithms 7.4, 7.5, 3.5 and 3.6. The constants and the stopping
criteria are those of Schmidt's minFunc, which PyTorch follows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import wengert as torch

from .._tape.tensor import Tensor
from ._elementwise import check_lr
from .optimizer import Optimizer, ParamsT, _to_scalar

__all__ = ["LBFGS"]


def _cubic_interpolate(x1: Any, f1: Any, g1: Any, x2: Any, f2: Any, g2: Any, bounds: Any = None) -> Any:
    """The minimum, within the bounds, of the cubic with the given values and slopes at two points."""
    mean_slope = g1 + g2 - 3 * (f1 - f2) / (x1 - x2)
    square = mean_slope**2 - g1 * g2
    (left, g_left), (right, g_right) = ((x1, g1), (x2, g2)) if x1 <= x2 else ((x2, g2), (x1, g1))
    low, high = (left, right) if bounds is None else bounds
    if not square >= 0:  # no minimum, or NaN
        return (low + high) / 2.0
    root = square.sqrt()
    least = right - (right - left) * ((g_right + root - mean_slope) / (g_right - g_left + 2 * root))
    return min(max(least, low), high)


class _Point:
    """A step length with the loss, the gradient and the slope along the direction there."""

    __slots__ = ("f", "g", "slope", "t")

    def __init__(self, t: Any, f: float, g: Tensor, slope: Any) -> None:
        self.t, self.f, self.g, self.slope = t, f, g, slope


def _cubic_between(a: _Point, b: _Point, bounds: Any = None) -> Any:
    return _cubic_interpolate(a.t, a.f, a.slope, b.t, b.f, b.slope, bounds)


def _strong_wolfe(
    obj_func: Callable[..., tuple[Any, Tensor]],
    x: Any,
    t: Any,
    d: Tensor,
    f: Any,
    g: Tensor,
    gtd: Any,
    c1: float = 1e-4,
    c2: float = 0.9,
    tolerance_change: float = 1e-9,
    max_ls: int = 25,
) -> tuple[Any, Tensor, Any, int]:
    """PyTorch's line search, for libraries that call it. Returns loss, gradient, step length, evaluations."""

    def evaluate(t: Any) -> _Point:
        f, g = obj_func(x, t, d)
        return _Point(t, f, g, g.dot(d))

    found, evaluations = _search(evaluate, _Point(0, f, g, gtd), t, d, max_ls, c1, c2, tolerance_change)
    return found.f, found.g, found.t, evaluations


def _search(
    evaluate: Callable[[Any], _Point],
    start: _Point,
    t: Any,
    d: Tensor,
    max_ls: int,
    c1: float = 1e-4,
    c2: float = 0.9,
    tolerance_change: float = 1e-9,
) -> tuple[_Point, int]:
    """A step length with a lower loss and a flatter slope, and the number of evaluations of the loss."""
    new = evaluate(t)
    evaluations = 1
    rounds = 0
    before = start
    ends: list[_Point] = []
    while rounds < max_ls:
        t = new.t
        if new.f > start.f + c1 * t * start.slope or (rounds > 1 and new.f >= before.f):
            ends = [before, new]
            break
        if abs(new.slope) <= -c2 * start.slope:
            return new, evaluations
        if new.slope >= 0:
            ends = [before, new]
            break
        t = _cubic_between(before, new, (t + 0.01 * (t - before.t), t * 10))
        before = new
        new = evaluate(t)
        evaluations += 1
        rounds += 1
    if rounds == max_ls:
        ends = [start, new]
    return _zoom(evaluate, start, ends, d, max_ls - rounds, evaluations, c1, c2, tolerance_change)


def _zoom(
    evaluate: Callable[[Any], _Point],
    start: _Point,
    ends: list[_Point],
    d: Tensor,
    rounds: int,
    evaluations: int,
    c1: float,
    c2: float,
    tolerance_change: float,
) -> tuple[_Point, int]:
    """Narrow an interval that holds a good step length."""
    longest = d.abs().max()
    stuck = False
    low, high = (0, 1) if ends[0].f <= ends[-1].f else (1, 0)
    for _ in range(rounds):
        if abs(ends[1].t - ends[0].t) * longest < tolerance_change:
            break
        t = _cubic_between(ends[0], ends[1])
        least, most = min(ends[0].t, ends[1].t), max(ends[0].t, ends[1].t)
        margin = 0.1 * (most - least)
        if min(most - t, t - least) < margin:  # close to an end twice, or at an end: move a tenth inwards
            if stuck or t >= most or t <= least:
                t = most - margin if abs(t - most) < abs(t - least) else least + margin
                stuck = False
            else:
                stuck = True
        else:
            stuck = False
        new = evaluate(t)
        evaluations += 1
        if new.f > start.f + c1 * t * start.slope or new.f >= ends[low].f:
            ends[high] = new
            low, high = (0, 1) if ends[0].f <= ends[1].f else (1, 0)
            continue
        done = abs(new.slope) <= -c2 * start.slope
        if not done and new.slope * (ends[high].t - ends[low].t) >= 0:
            ends[high] = ends[low]
        ends[low] = new
        if done:
            break
    return ends[low], evaluations


KEPT = ("d", "t", "old_dirs", "old_stps", "ro", "H_diag", "prev_flat_grad", "prev_loss")  # between steps


class LBFGS(Optimizer):
    """L-BFGS: steps by an estimate of the inverse Hessian made from the last ``history_size`` steps.

    ``step(closure)`` makes up to ``max_iter`` iterations and calls the closure, which recomputes the loss and the
    gradients, up to ``max_eval`` times (``5/4 * max_iter`` by default). ``line_search_fn``: ``"strong_wolfe"``, or
    None for steps of length ``lr``. All parameters must be in one group.

    >>> import wengert as torch
    >>> w = torch.tensor([3., -2.], requires_grad=True)
    >>> optimizer = torch.optim.LBFGS([w], line_search_fn="strong_wolfe")
    >>> def closure():
    ...     optimizer.zero_grad()
    ...     loss = ((w - 1) ** 2).sum()
    ...     loss.backward()
    ...     return loss
    >>> optimizer.step(closure)
    tensor(13., grad_fn=<SumBackward0>)
    >>> torch.allclose(w, torch.ones(2))
    True
    """

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1,
        max_iter: int = 20,
        max_eval: int | None = None,
        tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9,
        history_size: int = 100,
        line_search_fn: str | None = None,
    ) -> None:
        check_lr(lr)
        defaults = {
            "lr": lr,
            "max_iter": max_iter,
            "max_eval": max_iter * 5 // 4 if max_eval is None else max_eval,
            "tolerance_grad": tolerance_grad,
            "tolerance_change": tolerance_change,
            "history_size": history_size,
            "line_search_fn": line_search_fn,
        }
        super().__init__(params, defaults)
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS doesn't support per-parameter options (parameter groups)")
        self._params = self.param_groups[0]["params"]
        self._numel_cache: int | None = None

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._params = self.param_groups[0]["params"]
        self._numel_cache = None

    def _numel(self) -> int:
        if self._numel_cache is None:
            self._numel_cache = sum(2 * p.numel() if p.is_complex() else p.numel() for p in self._params)
        return self._numel_cache

    def _gather_flat_grad(self) -> Tensor:
        parts = []
        for p in self._params:
            part = torch.zeros(p.numel(), dtype=p.dtype) if p.grad is None else p.grad.reshape(-1)
            parts.append(torch.view_as_real(part).reshape(-1) if p.is_complex() else part)
        return torch.cat(parts, 0)

    def _add_grad(self, step_size: Any, update: Tensor) -> None:
        offset = 0
        for p in self._params:
            real = torch.view_as_real(p) if p.is_complex() else p
            count = real.numel()
            real.add_(update[offset : offset + count].view_as(real), alpha=step_size)
            offset += count

    def _evaluate(self, closure: Any, origin: list[Tensor], t: Any, d: Tensor) -> _Point:
        """The loss and the gradient after a step of length ``t``; the parameters are restored afterwards."""
        self._add_grad(t, d)
        loss = float(closure())
        grad = self._gather_flat_grad()
        for p, before in zip(self._params, origin, strict=True):
            p.copy_(before)
        return _Point(t, loss, grad, grad.dot(d))

    @torch.no_grad()
    def step(self, closure: Callable[[], Any]) -> Any:  # type: ignore[override]
        """Minimise for up to ``max_iter`` iterations; return the loss before the first."""
        assert len(self.param_groups) == 1, f"Expected exactly one param_group, but got {len(self.param_groups)}"
        closure = torch.enable_grad()(closure)
        group = self.param_groups[0]
        lr = _to_scalar(group["lr"])
        state = self.state[self._params[0]]
        state.setdefault("func_evals", 0)
        state.setdefault("n_iter", 0)
        now = dict.fromkeys(KEPT) | state  # what ``_direction`` needs; written back at the end, as PyTorch does
        first_loss = closure()
        loss = float(first_loss)
        evaluations = 1
        state["func_evals"] += 1
        grad = self._gather_flat_grad()
        if grad.abs().max() <= group["tolerance_grad"]:
            return first_loss
        iterations = 0
        while iterations < group["max_iter"]:
            iterations += 1
            state["n_iter"] += 1
            first = now["d"] is None  # also if an interrupt has ended the first iteration
            if not first:
                now["al"] = state.setdefault("al", [None] * group["history_size"])
            d = _direction(now, grad, first, group["history_size"])
            if now["prev_flat_grad"] is None:
                now["prev_flat_grad"] = grad.clone()
            else:
                now["prev_flat_grad"].copy_(grad)
            before = loss
            t = min(1.0, 1.0 / grad.abs().sum()) * lr if first else lr
            now["d"], now["t"], now["prev_loss"] = d, t, before
            slope = grad.dot(d)
            if slope > -group["tolerance_change"]:
                break
            spent = 0
            if group["line_search_fn"] is not None:
                loss, grad, t, spent = self._search(closure, group, t, d, _Point(0, loss, grad, slope), evaluations)
                now["t"] = t
                self._add_grad(t, d)
            else:
                self._add_grad(t, d)
                if iterations != group["max_iter"]:
                    loss = float(closure())
                    grad = self._gather_flat_grad()
                    spent = 1
            evaluations += spent
            state["func_evals"] += spent
            if iterations == group["max_iter"] or evaluations >= group["max_eval"]:
                break
            if grad.abs().max() <= group["tolerance_grad"]:
                break
            tolerance = group["tolerance_change"]
            if (d * t).abs().max() <= tolerance or abs(loss - before) < tolerance:
                break
        state.update((key, now[key]) for key in KEPT)
        return first_loss

    def _search(
        self, closure: Any, group: dict[str, Any], t: Any, d: Tensor, start: _Point, evaluations: int
    ) -> tuple[float, Tensor, Any, int]:
        if group["line_search_fn"] != "strong_wolfe":
            raise RuntimeError("only 'strong_wolfe' is supported")
        origin = [p.clone() for p in self._params]
        found, spent = _search(
            lambda t: self._evaluate(closure, origin, t, d), start, t, d, group["max_eval"] - evaluations
        )
        return found.f, found.g, found.t, spent


def _direction(state: dict[str, Any], grad: Tensor, first: bool, history_size: int) -> Tensor:
    """Minus the inverse Hessian's estimate times the gradient, by the two-loop recursion."""
    if first:
        state["old_dirs"], state["old_stps"], state["ro"], state["H_diag"] = [], [], [], 1
        return -grad
    old_dirs, old_stps, ro = state["old_dirs"], state["old_stps"], state["ro"]
    y = grad - state["prev_flat_grad"]
    s = state["d"] * state["t"]
    ys = y.dot(s)
    if ys > 1e-10:
        if len(old_dirs) == history_size:
            for history in (old_dirs, old_stps, ro):
                history.pop(0)
        old_dirs.append(y)
        old_stps.append(s)
        ro.append(1.0 / ys)
        state["H_diag"] = ys / y.dot(y)
    al = state["al"]
    q = -grad
    for i in range(len(old_dirs) - 1, -1, -1):
        al[i] = old_stps[i].dot(q) * ro[i]
        q.add_(old_dirs[i], alpha=-al[i])
    r = q * state["H_diag"]
    for i in range(len(old_dirs)):
        r.add_(old_stps[i], alpha=al[i] - old_dirs[i].dot(r) * ro[i])
    return r
