"""Custom functions on the values of transforms: their ``jvp`` on duals, their ``vmap`` on batches.

A function without these rules runs its ``forward`` on the values: it consists of operators, which support duals and
batches. So ``generate_vmap_rule`` generates nothing and matters only for PyTorch's errors.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .._base.constants import type_name
from .._base.errors import noted
from .._base.grad_mode import grad_mode
from .._base.registry import TENSORS
from .._payloads.transforms import Batched, Constant, Dual, OwnTape, entered, level_of, of_transform
from .._payloads.vmap_randomness import LEVELS
from .._tape.node import view_of
from .._tape.replaced import replace_payload
from .._tape.tensor import Tensor, current_fn, payload_like, wrap
from ..func._levels import check_tangent, holds, in_front, to_place
from ..utils._pytree import broadcast_to_and_flatten, tree_flatten, tree_unflatten
from .forward_ad import _level, dual_of, leads_out, shown, tangent_of
from .function import Function, _in_transform, refuse_saved_inputs, run


class VmapInfo(NamedTuple):
    """The first argument of a ``vmap`` static method: the batch size and the mode of random operators."""

    batch_size: int
    randomness: str


def _plain(p: Any) -> Tensor:
    if isinstance(p, Constant):
        p = p.v
    return p if isinstance(p, Tensor) else wrap(p)


def _inside(t: Tensor) -> Any:
    return t if current_fn(t) is not None else t._payload


def _each(fn: Callable[[Any], Any], outputs: Any) -> Any:
    """``fn`` of an output, or of each of a tuple."""
    return tuple(map(fn, outputs)) if isinstance(outputs, tuple) else fn(outputs)


def applied(cls: Any, args: tuple[Any, ...]) -> Any:
    """Run a function on arguments some of which are values of transforms.

    If a tape holds the values, the call is recorded as usual and its forward comes here again (``inside``). Tensors
    of lower levels that are tracked are moved inside. Then the rule of the innermost transform is applied.
    """
    top = max(map(level_of, args))
    args = tuple(
        wrap(a) if isinstance(a, Tensor) and level_of(a) < top and current_fn(a) is not None else a for a in args
    )
    if any(isinstance(a, Tensor) and current_fn(a) is not None for a in args):
        return run(cls, args)[0]
    return peeled(cls, args)[0]


def peeled(cls: Any, args: tuple[Any, ...]) -> tuple[Any, Any]:
    """The outputs of the function's rule for the innermost transform, and the context if there is one."""
    tag = max(map(level_of, args))
    if not tag:  # constants alone
        return run(cls, tuple(_plain(a._payload) if isinstance(a, Tensor) else a for a in args))
    if any(holds(a, Batched, tag) for a in args):
        return apply_batched(cls, args, tag), None
    if any(holds(a, OwnTape, tag) for a in args):
        return apply_lift(cls, args, tag), None
    return apply_dual(cls, args, tag)


def apply_lift(cls: Any, args: tuple[Any, ...], tag: int) -> Any:
    """Run the function one level further in, on the tape of that level."""
    if cls.setup_context is Function.setup_context:
        raise RuntimeError(NEEDS_SETUP_CONTEXT)
    inner = tuple(_primal(a, holds(a, OwnTape, tag)) for a in args)
    written = {id(i): a for i, a in zip(inner, args, strict=True) if i is not a}

    def lifted(y: Any) -> Any:
        if id(y) in written:
            replace_payload(written[id(y)], OwnTape(_inside(y), tag))
            return written[id(y)]
        return wrap(OwnTape(_inside(y), tag)) if isinstance(y, Tensor) else y

    return _each(lifted, cls.apply(*inner))


def inside(cls: Any, ctx: Any, args: tuple[Any, ...], track: bool) -> Any:
    """``forward`` on values: the rule of their innermost transform, then ``setup_context``."""
    bare = tuple(_untracked(a) for a in args)
    outputs, inner = peeled(cls, bare)
    given = {id(b): a for b, a in zip(bare, args, strict=True)}
    for b, a in zip(bare, args, strict=True):
        if b is not a and b._payload is not a._payload:  # written in place
            replace_payload(a, b._payload)
    outputs = _each(lambda y: given.get(id(y), y), outputs)
    if inner is not None and cls.setup_context is Function.setup_context:
        raise RuntimeError(NEEDS_SETUP_CONTEXT)
    with grad_mode(False):
        cls.setup_context(ctx, args, outputs)
    refuse_saved_inputs(ctx, args, outputs, track)
    return outputs


def _untracked(a: Any) -> Any:
    if isinstance(a, Tensor) and a._node is not None:
        t = wrap(a._payload)
        t._box = a._box
        return t
    return a


NEEDS_SETUP_CONTEXT = (
    "In order to use an autograd.Function with functorch transforms (vmap, grad, jvp, jacrev, ...), it must override "
    "the setup_context staticmethod. For more details, please see "
    "https://pytorch.org/docs/main/notes/extending.func.html"
)


# ---- forward mode
OF_AUTOGRAD: set[int] = set()  # tags of duals that are not torch.func's: ``gradcheck``'s, besides the open dual level


def apply_dual(cls: Any, args: tuple[Any, ...], tag: int) -> tuple[Any, Any]:
    """Run ``forward`` on the primals and ``jvp`` on the tangents."""
    mine = [holds(a, Dual, tag) for a in args]
    level = _level()
    of_autograd = tag in OF_AUTOGRAD or (level is not None and level.tag == tag)
    if cls.setup_context is Function.setup_context and not of_autograd:
        raise RuntimeError(NEEDS_SETUP_CONTEXT)
    if cls.jvp is Function.jvp:
        raise noted(
            NotImplementedError(
                "You must implement the jvp function for custom autograd.Function to use it with forward mode AD."
            ),
            f"Which: {cls.__name__} has no static method jvp(ctx, *grad_inputs).",
        )
    primals = tuple(_primal(a, m) for a, m in zip(args, mine, strict=True))
    alone = level is not None and level.tag == tag and not any(_leads_out(p, level) for p in primals)
    if level is not None and alone:  # nobody can ask for gradients of what is given
        primals = tuple(shown(p, level) if m else p for p, m in zip(primals, mine, strict=True))
    tangents = tuple(tangent_of(a) if m else None for a, m in zip(args, mine, strict=True))
    duals = {id(p): a for p, a, m in zip(primals, args, mine, strict=True) if m}
    if _in_transform(primals) and not any(isinstance(a, Tensor) and current_fn(a) is not None for a in primals):
        outputs, ctx = peeled(cls, primals)
        if cls.setup_context is not Function.setup_context:  # ``jvp`` reads what this level saves, not the inner one
            ctx = cls._backward_cls()
            cls.setup_context(ctx, primals, outputs)
        nondifferentiable: tuple[Any, ...] = ()
    else:
        outputs, ctx = run(cls, primals)
        nondifferentiable = ctx.non_differentiable
    outs = outputs if isinstance(outputs, tuple) else (outputs,)
    versions = tuple(0 if t is None or of_transform(t._payload) else t._version for t in tangents)
    results = _tangents(cls, ctx, primals, tangents, outs)
    _check_none(outs, results, nondifferentiable)
    _check_sharing(zip(args, primals, tangents, versions, strict=True), outs, results)
    made = tuple(_dual_output(y, t, tag, duals, level if alone else None) for y, t in zip(outs, results, strict=True))
    ctx.__dict__.pop("saved_for_forward", None)
    return (made if outs is outputs else made[0]), ctx


def _leads_out(p: Any, level: Any) -> bool:
    return isinstance(p, Tensor) and current_fn(p) is not None and leads_out(p, level)


def _primal(a: Any, mine: bool) -> Any:
    if mine:
        return _plain(a._payload.v)
    return a._payload if isinstance(a, Tensor) and isinstance(a._payload, Tensor) else a  # as ``applied`` wrapped it


def _tangents(
    cls: Any, ctx: Any, primals: tuple[Any, ...], tangents: tuple[Any, ...], outs: tuple[Any, ...]
) -> tuple[Any, ...]:
    if all(t is None for t in tangents):
        return (None,) * len(outs)
    if ctx.materialize_grads:
        tangents = tuple(
            wrap(payload_like(x._payload, np.zeros))
            if t is None and isinstance(x, Tensor) and x._payload.dtype.kind in "fcV"
            else t
            for x, t in zip(primals, tangents, strict=True)
        )
    with _forward_saved(ctx):
        result = cls.jvp(ctx, *tangents)
    results = result if isinstance(result, tuple) else (result,)
    if len(results) != len(outs):
        raise RuntimeError(
            f"Function's jvp returned an invalid number of forward gradients (expected {len(outs)} but got "
            f"{len(results)})"
        )
    for k, (t, y) in enumerate(zip(results, outs, strict=True)):
        if t is not None and not isinstance(t, Tensor):
            raise RuntimeError(f"expected Variable or None (got {type_name(t)}) for grad output {k}.")
        if t is not None and isinstance(y, Tensor):
            check_tangent(y, t)
    return results


def _check_none(outs: Any, results: Any, nondifferentiable: tuple[Any, ...]) -> None:
    """An output without a derivative has no tangent."""
    for k, (y, t) in enumerate(zip(outs, results, strict=True)):
        if t is None or (
            isinstance(y, Tensor) and y._payload.dtype.kind in "fcV" and not any(y is n for n in nondifferentiable)
        ):
            continue
        raise RuntimeError(
            f"Function's jvp returned a gradient at position {k}, but  the corresponding forward output is not a "
            "differentiable Tensor.You should return None at that position instead."
        )


def _check_sharing(inputs: Any, outs: Any, results: Any) -> None:
    """Check that a tangent was written in place, or is a view, if its tensor was or is.

    ``inputs``: for each input it, its primal, its tangent, and the tangent's version before ``jvp`` ran.
    """
    given = [each for each in inputs if each[2] is not None]
    for y, t in zip(outs, results, strict=True):
        for a, x, dx, before in given:
            if t is None or not isinstance(y, Tensor) or not _share(x, y):
                continue
            if y is x:
                if t is not dx or t._version == before:
                    raise RuntimeError(
                        "An inplace custom Function is not modifying the forward mode gradients inplace. If the "
                        "forward is modifying an input inplace, then the jvp function must modify the corresponding "
                        "gradient inplace."
                    )
            elif of_transform(t._payload):  # whose views are not told apart
                continue
            elif view_of(t) is None and not (t is dx and view_of(a) is not None):
                raise RuntimeError(
                    "A custom Function's forward is returning a view (or an input as-is) but the jvp is not returning "
                    "a view."
                )
            elif not _share(dx, t):
                which = "the given grad input" if view_of(a) is None else "the same base as the given grad input"
                raise RuntimeError(
                    f"A custom Function is returning a view but the jvp is not returning a view of {which}."
                )


def _share(x: Tensor, y: Tensor) -> bool:
    a, b = x._payload, y._payload
    return type(a) is np.ndarray and type(b) is np.ndarray and np.may_share_memory(a, b)


class _forward_saved:
    """A context in which ``ctx.saved_tensors`` are the tensors of ``save_for_forward``."""

    def __init__(self, ctx: Any) -> None:
        self.ctx = ctx

    def __enter__(self) -> None:
        self.boxes = self.ctx._boxes
        self.ctx._boxes = None
        if self.ctx.saved_for_forward is None:
            self.ctx.saved_for_forward = ()

    def __exit__(self, *exc: object) -> None:
        self.ctx._boxes = self.boxes


def _dual_output(y: Any, t: Any, tag: int, duals: dict[int, Any], alone: Any) -> Any:
    """``alone``: the level of ``forward_ad``, if the function ran without history: its output starts a new one."""
    if not isinstance(y, Tensor) or y._payload.dtype.kind not in "fcV":
        return y
    if alone is not None and t is not None:
        value = dual_of(y, t, alone)
    else:
        value = Dual(_inside(y), None if t is None else _inside(t), tag)
    if id(y) in duals:  # written in place: the dual tensor itself is returned
        made = duals[id(y)]
        replace_payload(made, value)
    else:
        made = wrap(value)
    level = _level()
    return made if level is None or level.tag != tag else level.adopt(made, t)


# ---- vmap
def check_vmap(cls: Any) -> None:
    """Raise PyTorch's errors for a function with no vmap rule, or with two."""
    if cls.setup_context is Function.setup_context:
        raise RuntimeError(NEEDS_SETUP_CONTEXT)
    has_rule = cls.vmap is not Function.vmap
    if cls.generate_vmap_rule and has_rule:
        raise RuntimeError(
            f"You tried to vmap over {cls.__name__}, but it has both generate_vmap_rule=True and an overridden vmap "
            "staticmethod. Please set generate_vmap_rule=False or delete the overridden vmap staticmethod to avoid "
            "ambiguity. For more details, please see https://pytorch.org/docs/main/notes/extending.func.html"
        )
    if not cls.generate_vmap_rule and not has_rule:
        raise RuntimeError(
            f"You tried to vmap over {cls.__name__}, but it does not have vmap support. Please override and implement "
            "the vmap staticmethod or set generate_vmap_rule=True. For more details, please see "
            "https://pytorch.org/docs/main/notes/extending.func.html"
        )


def apply_batched(cls: Any, args: tuple[Any, ...], tag: int) -> Any:
    """Apply the function's vmap rule; with ``generate_vmap_rule`` run the function on the batches."""
    check_vmap(cls)
    if cls.generate_vmap_rule:
        mine = [holds(a, Batched, tag) for a in args]
        inner = [_primal(a, m) for a, m in zip(args, mine, strict=True)]
        return _each(lambda y: _enter(y, tag), _generated(cls, tuple(mine)).apply(*inner))
    flat, spec = tree_flatten(args)
    dims = [a._payload.bdim if holds(a, Batched, tag) else None for a in flat]
    inner = [_primal(a, False) if d is None else to_place(_primal(a, True), d) for a, d in zip(flat, dims, strict=True)]
    size = next(a._payload.v.shape[0] for a, d in zip(flat, dims, strict=True) if d is not None)
    randomness = next((r for r, _, t in LEVELS.get() if t == tag), "error")
    returned = cls.vmap(VmapInfo(int(size), randomness), tree_unflatten(dims, spec), *tree_unflatten(inner, spec))
    if not (isinstance(returned, tuple) and len(returned) == 2):
        got = f"{len(returned)} returns" if isinstance(returned, tuple) else f"a {type(returned)}"
        raise RuntimeError(
            "Expected the vmap staticmethod to have two returns, an output and out_dims with pytree structure "
            f"compatible with the output. Got {got} instead"
        )
    output, out_dims = returned
    written = {(id(i), d): a for i, a, d in zip(inner, flat, dims, strict=True) if d is not None}
    return _rebatched(output, out_dims, tag, written)


def _enter(t: Any, tag: int) -> Any:
    return wrap(Batched(_inside(t), tag)) if isinstance(t, Tensor) else t


def _leave(t: Any, tag: int, size: int) -> Any:
    if holds(t, Batched, tag):
        return _plain(t._payload.v)
    return TENSORS.expand(t, (size, *t._payload.shape)) if isinstance(t, Tensor) else t


def _summed_to(g: Any, shape: tuple[int, ...]) -> Any:
    """A batch of gradients, each summed over the dims in which its operand was broadcast to the others."""
    if tuple(g._payload.shape[1:]) == shape:
        return g
    size, lead = g._payload.shape[0], g._payload.ndim - 1 - len(shape)
    return g.sum_to_size((size, *(1,) * lead, *shape)).reshape((size, *shape))


def _generated(cls: Any, mine: tuple[bool, ...]) -> Any:
    """``_generate``'s class; the function's class keeps it, since each class is a cycle for the garbage collector."""
    made = cls.__dict__.get("_generated")
    if made is None:
        made = cls._generated = {}
    if mine not in made:
        made[mine] = _generate(cls, mine)
    return made[mine]


def _generate(cls: Any, mine: tuple[bool, ...]) -> Any:
    """A custom function on whole batches, whose methods are ``vmap``s of the function's methods."""

    def entering(values: Any, tag: int) -> tuple[Any, ...]:
        return tuple(_enter(a, tag) if m else a for a, m in zip(values, mine, strict=True))

    def size_of(args: tuple[Any, ...]) -> int:
        return int(next(a._payload.shape[0] for a, m in zip(args, mine, strict=True) if m))

    class Generated(Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(*args: Any) -> Any:
            with entered() as tag:
                return _each(lambda y: _leave(y, tag, size_of(args)), cls.forward(*entering(args, tag)))

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            with entered() as tag:
                proxy = ctx.proxy = _BatchedContext(ctx, tag)
                outs = _each(lambda y: _enter(y, tag), output)
                lifted = outs if isinstance(outs, tuple) else (outs,)
                plain = output if isinstance(output, tuple) else (output,)
                proxy.parents = {id(o): p for o, p in zip(lifted, plain, strict=True)}
                cls.setup_context(proxy, entering(inputs, tag), outs)
                proxy.parents = {}
            ctx.size = size_of(inputs)
            ctx.shapes = [a._payload.shape[1:] if m else None for a, m in zip(inputs, mine, strict=True)]

        @staticmethod
        def backward(ctx: Any, *grads: Any) -> Any:
            with entered() as tag:
                ctx.proxy.tag = tag
                results = cls.backward(ctx.proxy, *(_enter(g, tag) for g in grads))
                results = results if isinstance(results, tuple) else (results,)
                full = [_leave(r, tag, ctx.size) for r in results]
            pairs = zip(full, ctx.shapes, strict=True)
            return tuple(r if r is None else r.sum(0) if s is None else _summed_to(r, s) for r, s in pairs)

        @staticmethod
        def jvp(ctx: Any, *tangents: Any) -> Any:
            with entered() as tag:
                ctx.proxy.tag = tag
                return _each(lambda r: _leave(r, tag, ctx.size), cls.jvp(ctx.proxy, *entering(tangents, tag)))

    Generated.__name__ = cls.__name__
    Generated._backward_cls.__name__ = cls.__name__ + "Backward"
    return Generated


_MARKING = ("save_for_backward", "save_for_forward", "mark_dirty", "mark_non_differentiable")


class _BatchedContext:
    """The ``ctx`` of a function with a generated rule, through which batches are saved."""

    def __init__(self, ctx: Any, tag: int) -> None:
        self.__dict__.update(_ctx=weakref.ref(ctx), tag=tag, parents={}, flags={})

    def _strip(self, kind: str, tensors: tuple[Any, ...]) -> list[Any]:
        flags = self.flags[kind] = [holds(t, Batched, self.tag) for t in tensors]
        return [self.parents.get(id(t), _plain(t._payload.v)) if f else t for t, f in zip(tensors, flags, strict=True)]

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._ctx(), name)
        if name not in _MARKING:
            return method
        return lambda *tensors: method(*self._strip(name, tensors))

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        ctx = self._ctx()
        forward = ctx._boxes is None and ctx.saved_for_forward is not None
        flags = self.flags.get("save_for_forward" if forward else "save_for_backward", [])
        return tuple(_enter(t, self.tag) if f else t for t, f in zip(ctx.saved_tensors, flags, strict=False))


def _rebatched(output: Any, out_dims: Any, tag: int, given: dict[tuple[int, int], Any]) -> Any:
    """The outputs of a ``vmap`` static method as batches; ``given``: its batched arguments, by tensor and dim."""
    flat, spec = tree_flatten(output)
    dims = broadcast_to_and_flatten(out_dims, spec)
    if dims is None:
        raise RuntimeError(
            f"The autograd.Function's vmap staticmethod returned an incompatible (output, out_dims) tuple. Expected "
            f"out_dims={out_dims} to be compatible with the structure of `output`. out_dims has structure "
            f"{tree_flatten(out_dims)[1]} but output has structure {spec}. For more details, please see "
            "https://pytorch.org/docs/main/notes/extending.func.html"
        )
    made = []
    for y, d in zip(flat, dims, strict=True):
        if not isinstance(y, Tensor) or d is None:
            made.append(y)
            continue
        d %= y._payload.ndim
        known = given.get((id(y), d))
        made.append(wrap(Batched(_inside(in_front(y, d)), tag)) if known is None else known)
    return tree_unflatten(made, spec)
