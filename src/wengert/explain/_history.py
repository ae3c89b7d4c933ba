"""``about`` and ``none``: where a tensor comes from, and why its ``.grad`` is None."""

from __future__ import annotations

from collections.abc import Mapping

from .._base.heap import living_of
from .._tape.node import Node, Port
from .._tape.tensor import Tensor
from ._cause import causes
from ._facts import Answer, history, is_leaf, leaf_text, line_of, listed, named, names_in_scope, short_name


def about(x: Tensor) -> Answer:
    """What a tensor is, where it comes from, and which leaves it depends on.

    >>> import wengert as torch
    >>> from wengert import explain
    >>> w = torch.ones(3, requires_grad=True)
    >>> explain(w)
    w: shape [3], torch.float32, a leaf that requires grad; w.grad is None
    """
    names = names_in_scope()
    name = named(x, names, "tensor")
    head = f"{name}: shape {list(x.shape)}, {x.dtype}, "
    if not x.requires_grad:
        return Answer(head + "requires no grad: nothing that it was computed from does")
    if x.is_leaf:
        state = "None" if x.grad is None else f"there, of shape {list(x.grad.shape)}"
        return Answer(head + f"a leaf that requires grad; {name}.grad is {state}")
    nodes = history(x)
    leaves = [leaf_text(n, names) for n in nodes if is_leaf(n)]
    line = line_of(nodes[0])
    return Answer(
        head + f"made by {short_name(nodes[0])}",
        line.shown() if line else "",
        f"  behind it: {len(nodes) - len(leaves)} operations, {len(leaves)} leaves: {listed(leaves)}",
    )


def none(x: Tensor, loss: Tensor | None = None) -> Answer:
    """Why ``x.grad`` is None; ``loss`` is the tensor whose ``backward()`` was meant to fill it.

    >>> import wengert as torch
    >>> from wengert import explain
    >>> w = torch.ones(3)
    >>> explain.none(w)
    w.grad is None because w does not require grad.
      Fix: w.requires_grad_() before it is used
    """
    names = names_in_scope()
    name = named(x, names, "x")
    grad = f"{name}.grad"
    if x.is_leaf and x.grad is not None:
        return Answer(f"{grad} is not None: it has shape {list(x.grad.shape)}.")
    if not x.requires_grad:
        return _not_asked(x, name, grad)
    if not x.is_leaf and not x.retains_grad:
        return _not_a_leaf(x, name, grad, names)
    if loss is None:
        return Answer(
            f"{grad} is None: no backward() has reached it yet, or zero_grad() has set it to None.",
            _uses(x),
            f"  Ask explain.none({name}, loss) with the tensor that backward() is called on.",
        )
    if not loss.requires_grad:
        return Answer(
            f"{grad} is None: the loss has no history, so no gradient can reach anything.",
            *(f"  Probably: {cause}" for cause in causes(loss)),
        )
    nodes = history(loss)
    if x._node in nodes or x.grad_fn in nodes:
        return Answer(
            f"{grad} is None, but a path leads from the loss to {name}: "
            "backward() was not called on this loss, or zero_grad() was called after it."
        )
    reached = [leaf_text(n, names) for n in nodes if is_leaf(n)]
    return Answer(
        f"{grad} is None because no path leads from the loss to {name}.",
        f"  The loss depends on {listed(reached)}.",
        _uses(x),
    )


def _not_asked(x: Tensor, name: str, grad: str) -> Answer:
    if not (x.is_floating_point() or x.is_complex()):
        return Answer(f"{grad} is None because {name} holds {x.dtype}: only floating-point numbers have gradients.")
    return Answer(
        f"{grad} is None because {name} does not require grad.", f"  Fix: {name}.requires_grad_() before it is used"
    )


def _not_a_leaf(x: Tensor, name: str, grad: str, names: Mapping[int, str]) -> Answer:
    nodes = history(x)
    line = line_of(nodes[0])
    leaves = [leaf_text(n, names) for n in nodes if is_leaf(n)]
    return Answer(
        f"{grad} is None because {name} is not a leaf.",
        line.shown() if line else "",
        f"  It was made by {short_name(nodes[0])}; the gradient goes on to {listed(leaves)}.",
        f"  Fix: make {name} a leaf: {name} = (...).detach().requires_grad_(); to look only: {name}.retain_grad()",
    )


def _uses(x: Tensor) -> str:
    """The lines that used a leaf, or a sentence that nothing has."""
    if x._node is None:
        return "  Nothing that was recorded has used it."
    users = [node for node in living_of(Node) if type(node) is not Port]
    lines = {str(line): line for node in users if x._node in node._edges() and (line := line_of(node))}
    if not lines:
        return "  No graph that is alive uses it."
    shown = "\n".join(line.shown("    ") for line in list(lines.values())[:3])
    return f"  It was used here, but the result is no part of the loss:\n{shown}"
