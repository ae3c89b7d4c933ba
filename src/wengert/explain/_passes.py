"""``nan`` and ``zero``: a backward pass that is watched at every node, on the loss's own graph, which stays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .._tape.tensor import Tensor, wrap
from ..autograd import grad
from ..autograd.grad_mode import no_grad
from ..nn.modules.module import Module
from ._cause import causes
from ._facts import Answer, history, is_leaf, leaf_text, line_of, listed, names_in_scope, saved, short_name


class Step(NamedTuple):
    """One node's step: the cotangents that arrived and those that it gave."""

    node: Any
    arrived: tuple[Tensor | None, ...]
    given: tuple[Tensor | None, ...]


def watched(loss: Tensor) -> tuple[list[Any], list[Step]]:
    """The nodes behind a scalar, and the steps of a backward pass from it, in order.

    No ``.grad`` changes and the graph is kept. Hooks of the program run, as in every pass.
    """
    nodes = history(loss)
    steps: list[Step] = []
    handles = []
    for node in nodes:
        if not is_leaf(node):

            def after(given: Any, arrived: Any, node: Any = node) -> None:
                steps.append(Step(node, _tuple(arrived), _tuple(given)))

            handles.append(node.register_hook(after))
    leaves = [node.variable for node in nodes if is_leaf(node)]
    try:
        if leaves and loss.grad_fn is not None:
            grad(loss, leaves, loss.detach().clone().fill_(1), retain_graph=True, allow_unused=True)
    finally:
        for handle in handles:
            handle.remove()
    return nodes, steps


def _tuple(x: Any) -> tuple[Any, ...]:
    return x if isinstance(x, tuple) else (x,)


def _bad(t: Tensor | None) -> Tensor | None:
    """The mask of elements that are not finite; None if there are none."""
    if t is None or not (t.is_floating_point() or t.is_complex()):
        return None
    mask = ~t.detach().isfinite()
    return mask if mask.any() else None


class FirstBad:
    """For ``engine.observers``: tells ``say`` of the first step, of any pass, that makes a value nan or inf."""

    def __init__(self, say: Callable[[Answer], None]) -> None:
        self.say = say
        self.steps = 0
        self.done = False

    def __call__(self, node: Any, g: Any, step: Callable[[], Any]) -> Any:
        if self.done:
            return step()
        self.steps += 1
        facts = [(name, value.detach().clone()) for name, value in saved(node)]  # the step frees what is saved
        arrived = (_as_tensor(g),)
        pairs = step()
        given = tuple(_as_tensor(d) for d in pairs[1::2])
        with no_grad():
            self.look(Step(node, arrived, given), facts)
        return pairs

    def look(self, step: Step, facts: list[tuple[str, Tensor]]) -> None:
        if (mask := _bad(step.arrived[0])) is not None and step.arrived[0] is not None:
            self.done = True
            line = line_of(step.node)
            self.say(
                Answer(
                    f"backward() began at a value that is not finite, or got one: {_elements(mask, step.arrived[0])}.",
                    line.shown() if line else "",
                )
            )
        for k, d in enumerate(step.given):
            if not self.done and (mask := _bad(d)) is not None:
                self.done = True
                self.say(_backward(step, k, mask, f"step {self.steps}", facts))


def _as_tensor(a: Any) -> Tensor | None:
    return wrap(a) if isinstance(a, np.ndarray) else a if isinstance(a, Tensor) else None


# ---- nan
def nan(loss: Tensor) -> Answer:
    """The first value that is not finite, among the values that the graph has saved, then in the backward pass.

    >>> import wengert as torch
    >>> from wengert import explain
    >>> x = torch.tensor([4.0, 0.0], requires_grad=True)
    >>> print(explain.nan((x * x).sum()))
    All saved values and all gradients are finite.
    """
    if not loss.requires_grad:
        where = [f"  Probably: {cause}" for cause in causes(loss)]
        return Answer("The loss has no history: there is no graph to look into.", *where)
    with no_grad():
        forward = _forward(loss)
    if forward is not None:
        return forward
    _, steps = watched(loss)
    with no_grad():
        for number, step in enumerate(steps, 1):
            arrived_well = all(_bad(g) is None for g in step.arrived)
            for k, d in enumerate(step.given):
                mask = _bad(d)
                if mask is not None and arrived_well:
                    return _backward(step, k, mask, f"step {number} of {len(steps)}", list(saved(step.node)))
    return Answer("All saved values and all gradients are finite.")


def _forward(loss: Tensor) -> Answer | None:
    """The oldest node with a saved value, or the loss, that is not finite."""
    for node in reversed(history(loss)):
        if is_leaf(node):
            if (mask := _bad(node.variable)) is not None:
                names = names_in_scope()
                return Answer(f"The leaf {leaf_text(node, names)} is not finite: {_elements(mask, node.variable)}.")
            continue
        for name, value in saved(node):
            mask = _bad(value)
            if mask is not None:
                line = line_of(node)
                what = "result" if name == "result" else f"operand `{name}`"
                return Answer(
                    f"forward: the {what} of {short_name(node)} is not finite: {_elements(mask, value)}.",
                    line.shown() if line else "",
                )
    mask = _bad(loss)
    if mask is None:
        return None
    line = line_of(loss.grad_fn)
    return Answer(
        f"forward: the loss is not finite ({_elements(mask, loss)}), although all values that were saved are.",
        line.shown() if line else "",
    )


def _elements(mask: Tensor, values: Tensor) -> str:
    """``nan at [1], 2 of 3 elements``."""
    first = mask.nonzero()[0].tolist()
    value = values.detach()[tuple(first)].item() if first else values.item()
    if not first:
        return f"{value}"
    return f"{value} at {first}, {int(mask.sum())} of {values.numel()} elements"


def _backward(step: Step, k: int, mask: Tensor, where: str, kept: list[tuple[str, Tensor]]) -> Answer:
    node, d = step.node, step.given[k]
    assert d is not None
    first = tuple(mask.nonzero()[0].tolist())
    line = line_of(node)
    arrived = [g.detach()[first].item() for g in step.arrived if g is not None and g.shape == d.shape]
    facts = [f"saved {name} = {v.detach()[first].item():g}" for name, v in kept if v.shape == d.shape]
    cotangent = f"     arriving gradient {arrived[0]:g}, {', '.join(facts)}" if arrived else ""
    hint = ""
    if arrived and arrived[0] == 0:
        hint = (
            "  A zero arrives: a later operation (where, a mask, a clamp) had thrown this element away, and\n"
            "  0 times an infinite slope is nan. Fix: give the operation a harmless operand there first,\n"
            "  safe = torch.where(mask, x, 1.0), and select afterwards."
        )
    return Answer(
        f"forward: finite everywhere.  backward: first value that is not finite at {where}.",
        f"{line.shown()}   {short_name(node)}" if line else f"  {short_name(node)}",
        f"     to input {k}: {_elements(mask, d)}",
        cotangent.rstrip(", "),
        hint,
    )


# ---- zero
def zero(loss: Tensor, model: Module | None = None) -> Answer:
    """Where gradients become zero: the operations that turn a gradient that is not zero into zeros.

    With ``model``, its parameters that the loss does not depend on, or that get zeros, are named.

    >>> import wengert as torch
    >>> from wengert import explain
    >>> x = torch.tensor([-1.0, -2.0], requires_grad=True)
    >>> answer = explain.zero(torch.relu(x).sum())
    >>> answer.text.splitlines()[0]
    'ReluBackward0 turns a gradient into zeros (all 2 elements).'
    """
    if not loss.requires_grad:
        return Answer(
            "The loss has no history: there is no graph to look into.", *(f"  Probably: {c}" for c in causes(loss))
        )
    nodes, steps = watched(loss)
    lines: list[str] = []
    with no_grad():
        for step in steps:
            if any(g is not None and bool(g.any()) for g in step.arrived):
                lines += _lost(step)
    if model is not None:
        lines += _parameters(model, nodes)
    return Answer(*lines) if lines else Answer("No operation turns a gradient into zeros.")


_REASONS = {
    "ReluBackward0": "Its operand is negative everywhere: dead units.",
    "ClampBackward1": "Its operand lies outside of the bounds everywhere.",
    "HardtanhBackward0": "Its operand lies outside of the bounds everywhere.",
    "SigmoidBackward0": "Its operand is so large that the slope underflows: a saturated unit.",
    "TanhBackward0": "Its operand is so large that the slope underflows: a saturated unit.",
    "RoundBackward0": "Rounding has slope zero everywhere.",
    "FloorBackward0": "Rounding has slope zero everywhere.",
    "CeilBackward0": "Rounding has slope zero everywhere.",
    "SignBackward0": "The sign has slope zero everywhere.",
    "MulBackward0": "The other factor is zero everywhere.",
}


def _lost(step: Step) -> list[str]:
    lost = [d for d in step.given if d is not None and d.numel() and not d.any()]
    if not lost:
        return []
    name, line = short_name(step.node), line_of(step.node)
    text = f"{name} turns a gradient into zeros (all {lost[0].numel()} elements)."
    return [text, line.shown() if line and line.text else "", f"  {_REASONS[name]}" if name in _REASONS else ""]


def _parameters(model: Module, nodes: list[Any]) -> list[str]:
    reached = {id(node.variable) for node in nodes if is_leaf(node)}
    unused = [path for path, p in model.named_parameters() if p.requires_grad and id(p) not in reached]
    frozen = [path for path, p in model.named_parameters() if not p.requires_grad]
    return [
        f"The loss does not depend on {listed(unused)}." if unused else "",
        f"These require no grad: {listed(frozen)}." if frozen else "",
    ]
