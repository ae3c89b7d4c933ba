"""Custom functions on the values of transforms: their ``jvp`` on duals, their ``vmap`` on batches.

A function that has neither runs its ``forward`` on the values themselves: it is made of operators, which know duals and
batches. So ``generate_vmap_rule`` has nothing to generate, and is only looked at for PyTorch's refusals.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from .._dispatch import type_text
from .._errors import noted
from .._grad_mode import grad_mode
from .._registry import T
from .._tensor import Tensor, current_fn, wrap
from .._values import Batched, Const, Dual, Value
from .forward_ad import _level, check_tangent
from .function import Function, run


class VmapInfo(NamedTuple):
    """What a ``vmap`` static method is told: how many examples there are, and what random operators do."""

    batch_size: int
    randomness: str


def newest_tag(args: Any) -> int:
    """The transform that was entered last, of those that the arguments are under."""
    tag = 0
    for a in args:
        if isinstance(a, Tensor) and isinstance(a._a, Value) and a._a.tag > tag:
            tag = a._a.tag
    return tag


def _plain(p: Any) -> Tensor:
    if isinstance(p, Const):
        p = p.v
    return p if isinstance(p, Tensor) else wrap(p)


def _inside(t: Tensor) -> Any:
    return t if current_fn(t) is not None else t._a


def applied(cls: Any, args: tuple[Any, ...]) -> Any:
    """Run a function on arguments of which some are values: peel the newest transform off."""
    tag = newest_tag(args)
    if any(isinstance(a, Tensor) and isinstance(a._a, Batched) and a._a.tag == tag for a in args):
        return apply_batched(cls, args)
    return apply_dual(cls, args)


# ---------------------------------------------------------------------------------------------------------------- forward mode
def apply_dual(cls: Any, args: tuple[Any, ...]) -> Any:
    """Forward on the primals, ``jvp`` on the tangents."""
    tag = newest_tag(args)
    mine = [isinstance(a, Tensor) and isinstance(a._a, Dual) and a._a.tag == tag for a in args]
    if not any(mine):
        return apply_batched(cls, args)
    tracked = [t for t in args if isinstance(t, Tensor) and current_fn(t) is not None]
    if cls.jvp is Function.jvp:
        raise noted(
            NotImplementedError(
                "You must implement the jvp function for custom autograd.Function to use it with forward mode AD."
            ),
            f"Which: {cls.__name__} has no static method jvp(ctx, *grad_inputs).",
        )
    primals = tuple(_plain(a._a.v) if m else a for a, m in zip(args, mine, strict=True))
    tangents = tuple(None if not m or a._a.t is None else _plain(a._a.t) for a, m in zip(args, mine, strict=True))
    before = {id(p): p for p in primals if isinstance(p, Tensor)}
    dual_of = {id(p): a for p, a, m in zip(primals, args, mine, strict=True) if m}
    outputs, ctx = _run_inside(cls, primals)
    single = not isinstance(outputs, tuple)
    outs = (outputs,) if single else outputs
    results = _tangents(cls, ctx, tangents, outs)
    made = []
    for y, t in zip(outs, results, strict=True):
        made.append(_dual_output(y, t, tag, before, dual_of))
    del tracked
    return made[0] if single else tuple(made)


def _run_inside(cls: Any, args: tuple[Any, ...]) -> Any:
    """Apply the function one transform further in, and the context that it was given."""
    if newest_tag(args):
        contexts: list[Any] = []
        outputs = applied_with_context(cls, args, contexts)
        return outputs, contexts[-1]
    return run(cls, args)


def applied_with_context(cls: Any, args: tuple[Any, ...], contexts: list[Any]) -> Any:
    """As ``applied``; the context of a run on the values themselves is put into ``contexts``."""
    outputs, ctx = run(cls, args)
    contexts.append(ctx)
    return outputs


def _tangents(cls: Any, ctx: Any, tangents: tuple[Any, ...], outs: tuple[Any, ...]) -> tuple[Any, ...]:
    if all(t is None for t in tangents):
        return (None,) * len(outs)
    if ctx.materialize_grads:
        given = tuple(t if t is not None or facts is None else _zeros(facts) for t, facts in zip(tangents, _facts(ctx, tangents), strict=True))
    else:
        given = tangents
    with _forward_saved(ctx):
        result = cls.jvp(ctx, *given)
    results = result if isinstance(result, tuple) else (result,)
    if len(results) != len(outs):
        raise RuntimeError(
            f"Function's jvp returned an invalid number of forward gradients (expected {len(outs)} but got {len(results)})"
        )
    for k, (t, y) in enumerate(zip(results, outs, strict=True)):
        if t is not None and not isinstance(t, Tensor):
            raise RuntimeError(f"expected Variable or None (got {type_text(t)}) for grad output {k}.")
        if t is not None and isinstance(y, Tensor):
            check_tangent(y, t)
    return results


class _forward_saved:
    """Inside, ``ctx.saved_tensors`` is what ``save_for_forward`` kept, if it was called."""

    def __init__(self, ctx: Any) -> None:
        self.ctx = ctx

    def __enter__(self) -> None:
        self.boxes = self.ctx._boxes
        if self.ctx.saved_for_forward is not None:
            self.ctx._boxes = None

    def __exit__(self, *exc: object) -> None:
        self.ctx._boxes = self.boxes


def _facts(ctx: Any, tangents: tuple[Any, ...]) -> tuple[Any, ...]:
    return getattr(ctx, "_inputs", ()) or (None,) * len(tangents)


def _zeros(facts: tuple[Any, Any]) -> Tensor:
    from .._values import zeros

    return wrap(zeros(*facts))


def _dual_output(y: Any, t: Any, tag: int, before: dict[int, Any], dual_of: dict[int, Any]) -> Any:
    if not isinstance(y, Tensor) or y._a.dtype.kind not in "fcV":
        return y
    value = Dual(_inside(y), None if t is None else _inside(t), tag)
    if id(y) in before and id(y) in dual_of:  # written in place: the dual tensor itself is returned
        from .._alias import rebind

        outer = dual_of[id(y)]
        rebind(outer, value)
        return outer
    made = wrap(value)
    level = _level()
    return made if level is None or level.tag != tag else level.adopt(made)


# ----------------------------------------------------------------------------------------------------------------------- vmap
def check_vmap(cls: Any) -> None:
    """PyTorch's refusals of a function that says nothing, or two things, about vmap."""
    has_rule = cls.vmap is not Function.vmap
    if cls.generate_vmap_rule:
        if has_rule:
            raise RuntimeError(
                f"You tried to vmap over {cls.__name__}, but it has both generate_vmap_rule=True and an overridden vmap "
                "staticmethod. Please set generate_vmap_rule=False or delete the overridden vmap staticmethod to avoid ambiguity. "
                "For more details, please see https://pytorch.org/docs/main/notes/extending.func.html"
            )
        return
    if not has_rule:
        raise RuntimeError(
            f"You tried to vmap over {cls.__name__}, but it does not have vmap support. Please override and implement the vmap "
            "staticmethod or set generate_vmap_rule=True. For more details, please see "
            "https://pytorch.org/docs/main/notes/extending.func.html"
        )


def apply_batched(cls: Any, args: tuple[Any, ...]) -> Any:
    """The function's own rule; with ``generate_vmap_rule`` it simply runs on the batches."""
    check_vmap(cls)
    if cls.generate_vmap_rule:
        return run(cls, args)[0]
    tag = newest_tag(args)
    mine = [isinstance(a, Tensor) and isinstance(a._a, Batched) and a._a.tag == tag for a in args]
    size = next(a._a.v.shape[0] for a, m in zip(args, mine, strict=True) if m)
    outside = [a for a, m in zip(args, mine, strict=True) if m and current_fn(a) is not None]
    if outside:  # the tape is outside of the batch: the rule becomes one step on it
        return run(_batched_step(cls, tag, size), args)[0]
    from .._vmap_randomness import LEVELS

    randomness = next((r for r, _, t in LEVELS.get() if t == tag), "error")
    inner = tuple(_plain(a._a.v) if m else a for a, m in zip(args, mine, strict=True))
    in_dims = tuple(0 if m else None for m in mine)
    returned = cls.vmap(VmapInfo(int(size), randomness), in_dims, *inner)
    if not (isinstance(returned, tuple) and len(returned) == 2):
        raise RuntimeError(
            f"Expected the vmap staticmethod to have two returns, an output and out_dims with pytree structure compatible with the "
            f"output. Got a {len(returned) if isinstance(returned, tuple) else 1} returns"
        )
    output, out_dims = returned
    return _rebatched(output, out_dims, tag)


def _rebatched(output: Any, out_dims: Any, tag: int) -> Any:
    from ..utils._pytree import broadcast_to_and_flatten, tree_flatten, tree_unflatten

    flat, spec = tree_flatten(output)
    dims = broadcast_to_and_flatten(out_dims, spec)
    if dims is None:
        raise ValueError(
            f"The autograd.Function's vmap staticmethod returned an incompatible (output, out_dims) tuple. Expected out_dims={out_dims} "
            f"to be compatible with the structure of `output`. out_dims has structure {tree_flatten(out_dims)[1]} but output has "
            f"structure {spec}."
        )
    made = []
    for y, d in zip(flat, dims, strict=True):
        if not isinstance(y, Tensor) or d is None:
            made.append(y)
            continue
        d %= y._a.ndim
        front = y if d == 0 else T.permute(y, (d, *(i for i in range(y._a.ndim) if i != d)))
        made.append(wrap(Batched(_inside(front), tag)))
    return tree_unflatten(made, spec)


def _batched_step(cls: Any, tag: int, size: int) -> Any:
    """The function with its vmap rule as forward: for a tape that holds batches."""

    class Step(Function):
        @staticmethod
        def forward(ctx: Any, *args: Any) -> Any:
            with grad_mode(True):
                leaves = tuple(wrap(a._a).requires_grad_(a.requires_grad) if isinstance(a, Tensor) and a._a.dtype.kind in "fcV"
                               else a for a in args)  # fmt: skip
                inner = tuple(
                    wrap(Batched(_plain(a._a.v) if isinstance(a._a, Batched) and a._a.tag == tag else a, tag))
                    if isinstance(a, Tensor) and isinstance(a._a, Batched)
                    else a
                    for a in leaves
                )
                del inner
            raise NotImplementedError(f"{cls.__name__}: a vmap rule under a tape outside of the batch")

    return Step
