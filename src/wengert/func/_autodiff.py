"""``grad``, ``vjp`` and ``jvp``.

NOTE [ Which tape ]
Outside other transforms, reverse mode uses the user's own tape: the function's variables are fresh leaves (or nodes on
the outer tape if the arguments are tracked there), and the results are differentiated as by ``autograd.grad``. Inside
another transform it needs a tape of its own level (``_payloads.transforms``, NOTE [ Levels ]): the variables are then
``OwnTape`` values, and all older tensors, tracked or not, are payloads inside them.
"""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any, ParamSpec

import numpy as np

from .._base.grad_mode import grad_mode, recording
from .._base.modes import NO_SAVED_HOOKS, is_grad_enabled, running, saved_tensors_hooks, transform, undone
from .._base.registry import TENSORS
from .._payloads.transforms import (
    DEEPEST,
    DEPTH,
    Batched,
    Dual,
    OwnTape,
    Transformed,
    entered,
    lifted,
    of_transform,
    without_lift,
)
from .._tape.engine import run
from .._tape.graph import _cotangent
from .._tape.node import box_of, leaf_node, version_of
from .._tape.promotion import logical_dtype
from .._tape.properties import check_floating
from .._tape.tensor import Tensor, current_fn, payload_like, wrap
from ..utils._pytree import pprint, tree_flatten, tree_leaves, tree_map, tree_unflatten
from ._levels import (
    VARIABLES,
    bare,
    check_adopted,
    check_captured,
    check_tangent,
    holds,
    only_leads_to,
    payload,
    tensor,
    without_ended,
)

Argnums = int | tuple[int, ...]
_P = ParamSpec("_P")


# ---- reverse mode
class _Tape:
    """The variables of one use of reverse mode, and the backward pass to them."""

    def __init__(self) -> None:
        self.recording = is_grad_enabled()  # whether captured tensors may track the results
        self.lifted = DEPTH.get() > 0
        self.level: Any = entered() if self.lifted else nullcontext(0)
        if saved_tensors_hooks():
            raise RuntimeError(NO_SAVED_HOOKS)
        self.inside = transform()
        self.inside.reverse = True
        self.inside.variables = None if self.lifted else set()
        self.inputs: list[Tensor] = []
        self.own: set[Any] = set()

    tag: int

    def hand_over(self) -> None:
        """Let the transform around look at writes to tensors from outside, after the results are freed."""
        if self.inside.rebound and self.inside.outer is not None:
            self.inside.outer.rebound += self.inside.rebound

    def variable(self, x: Any) -> Tensor:
        """A fresh variable for an argument."""
        if not isinstance(x, Tensor):
            raise ValueError(f"Thing passed to transform API must be Tensor, got {type(x)}")
        if self.lifted:
            t = wrap(OwnTape(payload(x), self.tag))
        elif current_fn(x) is not None:
            t = TENSORS.expand(x, tuple(x.shape))
            self.inputs.append(t)
            self.inside.variables.add(t._node)  # type: ignore[union-attr]
            return t
        else:
            t = wrap(x._payload)
        check_floating(t)
        leaf = leaf_node(t)
        self.own.add(leaf)
        if self.inside.variables is not None:
            self.inside.variables.add(leaf)
        VARIABLES[leaf] = weakref.ref(running())
        self.inputs.append(t)
        return t

    def left(self, y: Any) -> Any:
        """A result to return: detached from this tape, but not from outer ones."""
        if not isinstance(y, Tensor):
            return y
        if self.lifted:
            return tensor(y._payload.v) if holds(y, OwnTape, self.tag) else y
        if y._node is None or (self.recording and not only_leads_to([current_fn(y)], self.own)):
            return y
        return wrap(y._payload)

    def pulled_back(self, outputs: list[Tensor], cotangents: list[Tensor], keep: bool) -> list[Tensor]:
        """The gradients of the variables; zeros for a variable on which the outputs do not depend."""
        live = [(current_fn(y), g) for y, g in zip(outputs, cotangents, strict=True) if self._is_mine(y)]
        nodes: list[Any] = [x._node for x in self.inputs]
        wanted = [n for n in nodes if n is not None]
        if self.lifted:
            record = False
            roots = [(n, lifted(payload(g), self.tag)) for n, g in live]
        else:
            record = self.recording and (
                not only_leads_to([n for n, _ in live], self.own) or any(current_fn(g) is not None for _, g in live)
            )
            roots = [(n, g if record else g._payload) for n, g in live]
        found: Any = [None] * len(wanted)
        if roots and wanted:
            with grad_mode(self.recording):
                found = run(roots, keep=keep or record, create_graph=record, inputs=wanted)  # type: ignore[arg-type]
        grads = iter(found)
        return [self._gradient(x, None if n is None else next(grads)) for x, n in zip(self.inputs, nodes, strict=True)]

    def _is_mine(self, y: Tensor) -> bool:
        if current_fn(y) is None:
            return False
        return not self.lifted or holds(y, OwnTape, self.tag)

    def _gradient(self, x: Tensor, g: Any) -> Tensor:
        if g is None:
            a = payload_like(x._payload, np.zeros)
            return wrap(a.v if self.lifted else a)
        if self.lifted:
            return tensor(without_lift(g._payload, self.tag))
        tracked = self.recording and current_fn(g) is not None and not only_leads_to([current_fn(g)], self.own)
        return g if tracked else bare(g)


# ---- arguments
def _positions(argnums: Any, count: int) -> tuple[int, ...]:
    """The chosen arguments' positions, from 0."""
    if isinstance(argnums, bool) or not isinstance(argnums, (int, tuple)):
        raise RuntimeError(f"argnums must be int or Tuple[int, ...], got: {type(argnums)}")
    positions = tuple(_position(i, count) for i in ((argnums,) if isinstance(argnums, int) else argnums))
    if not positions:
        raise RuntimeError("argnums must be non-empty")
    if len(set(positions)) != len(positions):
        raise RuntimeError(f"argnums elements must be unique, got {positions}")
    return positions


def _position(i: Any, count: int) -> int:
    if not isinstance(i, int):
        raise RuntimeError(f"argnum must be int, got: {type(i)}")
    if not -count <= i < count:
        raise RuntimeError(f"Got argnum={i}, but only {count} positional inputs")
    return i % count


class Chosen:
    """The arguments by which a function is differentiated, and the function of them alone."""

    def __init__(self, func: Callable[..., Any], argnums: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.func, self.args, self.kwargs = func, args, kwargs
        self.positions = _positions(argnums, len(args))
        self.values = tuple(args[i] for i in self.positions)
        self.single = isinstance(argnums, int)
        self.depth = DEPTH.get()

    def call(self, *values: Any) -> Any:
        """The function with these in place of the chosen arguments.

        The others are aliases: the function may write to its arguments, but not to tensors that it captured.
        """
        aliases: list[tuple[Tensor, Tensor]] = []
        own = lambda x: _alias(x, aliases)
        chosen = dict(zip(self.positions, values, strict=True))
        given = [chosen[i] if i in chosen else tree_map(own, a) for i, a in enumerate(self.args)]
        result = self.func(*given, **{name: tree_map(own, a) for name, a in self.kwargs.items()})
        for x, t in aliases:
            if t._payload is not x._payload and of_transform(t._payload):
                self._write_back(x, t._payload)
        return result

    def _write_back(self, x: Tensor, p: Any) -> None:
        """Write to an argument what a transform inside wrote to its alias."""
        while isinstance(p, Transformed) and p.tag & DEEPEST > self.depth:
            if isinstance(p, Batched):  # one value for each example does not fit
                raise RuntimeError(CAPTURED)
            p = p.v
        arrays = (new := tensor(p))._payload, x._payload
        if not all(isinstance(a, np.ndarray) for a in arrays) or not np.may_share_memory(*arrays):
            x.copy_(new)

    def each(self, results: Any) -> Any:
        """A tuple of what belongs to each chosen argument; without the tuple if one was chosen by an int."""
        return results[0] if self.single else results


def _alias(x: Any, aliases: list[tuple[Tensor, Tensor]]) -> Any:
    if type(x) is not Tensor or x._node is not None:
        return x
    t = wrap(x._payload)
    box_of(t).cell = version_of(x)
    aliases.append((x, t))
    return t


# ---- grad and vjp
def grad_and_value(
    func: Callable[_P, Any], argnums: Argnums = 0, has_aux: bool = False
) -> Callable[_P, tuple[Any, Any]]:
    """A function that returns ``(gradient, value)`` of a scalar function; ``(gradient, (value, aux))`` if ``has_aux``.

    >>> import wengert as torch
    >>> torch.func.grad_and_value(lambda x: x ** 3)(torch.tensor(2.))
    (tensor(12.), tensor(8.))
    """

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        tape = _Tape()
        with undone(tape.inside), tape.level as tape.tag, recording(), tape.inside:
            chosen = Chosen(func, argnums, args, kwargs)
            flat, spec = tree_flatten(chosen.values)
            inner = [tape.variable(x) for x in flat]
            value = chosen.call(*tree_unflatten(inner, spec))
            value, aux = _parted(value, has_aux, "grad_and_value(f)(*args)")
            if tape.inside.adopted:
                check_adopted(tape.inside, tree_flatten((inner, value, aux))[0], CAPTURED)
            _check_scalar(value)
            if logical_dtype(value).kind not in "fV" and current_fn(value) is not None:
                raise RuntimeError(f"grad can be implicitly created only for real scalar outputs but got {value.dtype}")
            one = wrap(without_lift(payload_like(value._payload, np.ones), tape.tag))
            grads = tape.pulled_back([value], [one], False)
        tape.hand_over()
        result = chosen.each(tree_unflatten(grads, spec))
        value = tape.left(value)
        return (result, (value, tree_map(tape.left, aux))) if has_aux else (result, value)

    return wrapper


def _parted(out: Any, has_aux: bool, who: str) -> tuple[Any, Any]:
    """What a function returned, as its output and the rest (``None`` without ``has_aux``)."""
    if not has_aux:
        return out, None
    if not (isinstance(out, tuple) and len(out) == 2):
        raise RuntimeError(f"{who}: output of function f should be a tuple: (output, aux) if has_aux is True")
    for x in tree_leaves(out[1]):
        if not isinstance(x, Tensor):
            raise RuntimeError(f"Expected tensors, got unsupported type {type(x)}")
    return out


def _check_scalar(value: Any) -> None:
    if not isinstance(value, Tensor):
        raise RuntimeError(f"grad_and_value(f)(*args): Expected f(*args) to return a Tensor, got {type(value)}")
    if value._payload.ndim:
        raise RuntimeError(
            "grad_and_value(f)(*args): Expected f(*args) to return a scalar Tensor, got tensor with "
            f"{value._payload.ndim} dims. Maybe you wanted to use the vjp or jacrev APIs instead?"
        )


def grad(func: Callable[_P, Any], argnums: Argnums = 0, has_aux: bool = False) -> Callable[_P, Any]:
    """The gradient of a function that returns a scalar Tensor, as a function of the same arguments.

    ``argnums``: which arguments (an int, or a tuple of ints), each a Tensor or a nested structure of Tensors.

    >>> import wengert as torch
    >>> torch.func.grad(torch.func.grad(lambda x: x ** 3))(torch.tensor(2.))
    tensor(12.)
    """
    both = grad_and_value(func, argnums, has_aux)

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        result, value = both(*args, **kwargs)
        return (result, value[1]) if has_aux else result

    return wrapper


def vjp(
    func: Callable[..., Any], *primals: Any, has_aux: bool = False
) -> tuple[Any, Callable[..., Any]] | tuple[Any, Callable[..., Any], Any]:
    """``(func(*primals), vjp_fn)``: ``vjp_fn(cotangents)`` returns the vector-Jacobian products, one for each primal.

    >>> import wengert as torch
    >>> out, vjp_fn = torch.func.vjp(torch.sin, torch.zeros(2))
    >>> vjp_fn(torch.ones(2))
    (tensor([1., 1.]),)
    """
    tape = _Tape()
    with undone(tape.inside), tape.level as tape.tag, recording(), tape.inside:
        flat, spec = tree_flatten(primals)
        inner = [tape.variable(x) for x in flat]
        out = func(*tree_unflatten(inner, spec))
        out, aux = _parted(out, has_aux, "vjp(f, *primals)")
        outs, out_spec = tree_flatten(out)
        if tape.inside.adopted:
            check_adopted(tape.inside, tree_flatten((inner, outs, aux))[0], CAPTURED)
        _check_outputs(outs, "vjp(f, *primals)")
        for y in outs:
            if logical_dtype(y).kind not in "fcV":
                raise RuntimeError(
                    "vjp(f, ...): All outputs of f must be floating-point or complex Tensors, got Tensor with dtype "
                    f"{y.dtype}"
                )
    tape.hand_over()

    def vjp_fn(cotangents: Any, retain_graph: bool = True, create_graph: bool | None = None) -> Any:
        flat_given, given_spec = tree_flatten(cotangents)
        if given_spec != out_spec:
            raise RuntimeError(
                "Expected pytree structure of cotangents to be the same as pytree structure of outputs to the "
                f"function. cotangents: {pprint(given_spec)}, primal output: {pprint(out_spec)}"
            )
        for i, (y, g) in enumerate(zip(outs, flat_given, strict=True)):
            flat_given[i] = made = _cotangent(i, y, g, True)
            if g is None and made is not None:  # of one number
                flat_given[i] = wrap(without_lift(made._payload, tape.tag))
        tape.recording = is_grad_enabled() if create_graph is None else create_graph
        with recording():
            return tree_unflatten(tape.pulled_back(outs, flat_given, True), spec)

    primal_out = tree_unflatten([tape.left(y) for y in outs], out_spec)
    if has_aux:
        return primal_out, vjp_fn, tree_map(tape.left, aux)
    return primal_out, vjp_fn


def _check_outputs(outs: list[Any], who: str) -> None:
    if not outs or outs == [None]:
        raise RuntimeError(f"{who}: Expected f to be a function that has non-empty output (got output = {outs})")
    for y in outs:
        if not isinstance(y, Tensor):
            raise RuntimeError(f"{who}: expected f(*primals) to return only tensors, got unsupported type {type(y)}")


# ---- forward mode
_JVP = "jvp(f, primals, tangents)"


def jvp(
    func: Callable[..., Any], primals: Any, tangents: Any, *, strict: bool = False, has_aux: bool = False
) -> tuple[Any, Any] | tuple[Any, Any, Any]:
    """``(func(*primals), tangent)``: the Jacobian-vector product, by forward mode.

    ``strict``: raise an error if an output does not depend on the inputs.

    >>> import wengert as torch
    >>> torch.func.jvp(torch.sin, (torch.zeros(2),), (torch.ones(2),))
    (tensor([0., 0.]), tensor([1., 1.]))
    """
    if not isinstance(primals, tuple):
        raise RuntimeError(f"{_JVP}: Expected primals to be a tuple. E.g. it should be valid to call f(*primals).")
    flat, spec = tree_flatten(primals)
    flat_tangents, tangent_spec = tree_flatten(tangents)
    if spec != tangent_spec:
        raise RuntimeError(
            f"{_JVP}: Expected primals and tangents to have the same python structure. For example, if primals is a "
            f"tuple of 3 tensors, tangents also must be. Got primals with structure {spec} and tangents with "
            f"structure {tangent_spec}"
        )
    for values, name in ((flat, "primals"), (flat_tangents, "tangents")):
        if not values:
            raise RuntimeError(f"{_JVP}: Expected {name} to contain at least one Tensor.")
        for v in values:
            if not isinstance(v, Tensor):
                raise RuntimeError(f"{_JVP}: Expected {name} to only contain Tensors, got {type(v)}")
    with undone(transform()) as inside, inside, entered() as tag:
        inner = [dual(x, v, tag) for x, v in zip(flat, flat_tangents, strict=True)]
        given = [y._payload for y in inner]
        out = func(*tree_unflatten(inner, spec))
        changed = [
            (x, v, y._payload)
            for x, v, y, a in zip(flat, flat_tangents, inner, given, strict=True)
            if y._payload is not a
        ]
    _write_back(changed, tag)
    out, aux = _parted(out, has_aux, _JVP)
    outs, out_spec = tree_flatten(out)
    _check_outputs(outs, _JVP)
    parts = [unpacked(y, tag, strict) for y in outs]
    result = tree_unflatten([p for p, _ in parts], out_spec), tree_unflatten([t for _, t in parts], out_spec)
    if has_aux:
        aux = tree_map(lambda y: unpacked(y, tag, False)[0] if isinstance(y, Tensor) else y, aux)
    if inside.rebound:
        del inner, out, outs
        check_captured(inside, tag, CAPTURED)
    return (*result, aux) if has_aux else result


CAPTURED = (
    "During a grad (vjp, jvp, grad, etc) transform, the function provided attempted to call in-place operation that "
    "would mutate a captured Tensor. This is not supported; please rewrite the function being transformed to "
    "explicitly accept the mutated Tensor(s) as inputs."
)


def dual(x: Tensor, v: Tensor, tag: int) -> Tensor:
    """A tensor of the transform with this tag, of a primal and its tangent."""
    for t, what in ((x, "primal"), (v, "tangent")):
        if logical_dtype(t).kind not in "fcV":
            raise ValueError(f"Expected {what} to be floating point or complex, but got: {t.dtype}")
    check_tangent(x, v)
    return wrap(Dual(payload(x), payload(v), tag))


def _write_back(changed: list[tuple[Tensor, Tensor, Any]], tag: int) -> None:
    """Copy the function's writes to its arguments to the caller's primals and tangents, whose memory they are."""
    for x, v, a in changed:
        if isinstance(a, Dual) and a.tag == tag:
            x.copy_(tensor(a.v))
            if a.t is None:
                v.zero_()
            else:
                v.copy_(tensor(a.t))


def unpacked(y: Tensor, tag: int, strict: bool) -> tuple[Any, Any]:
    """A result's primal and tangent, zeros without one; ``strict`` refuses a result without."""
    primal = y
    if holds(y, Dual, tag):
        primal = tensor(y._payload.v)
        if y._payload.t is not None:
            return primal, tensor(y._payload.t)
    if strict:
        raise RuntimeError(
            "jvp(f, primals, tangents, strict=True): The output of f is independent of the inputs. This is not "
            "allowed with strict=True."
        )
    return primal, wrap(payload_like(primal._payload, np.zeros))


def linearize(func: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[..., Any]]:
    """``(func(*primals), jvp_fn)``: ``jvp_fn(*tangents)`` is the Jacobian-vector product at ``primals``.

    >>> import wengert as torch
    >>> out, f = torch.func.linearize(torch.sin, torch.zeros(2))
    >>> f(torch.ones(2))
    tensor([1., 1.])
    """
    flat, spec = tree_flatten(primals)
    if not flat:
        raise RuntimeError("linearize(f, *primals): Expected primals to contain at least one Tensor.")
    out, pull = vjp(func, *primals)
    outs, out_spec = tree_flatten(out)
    # vjp is linear and jvp is its transpose: vjp is recorded once, and its graph walked for each tangent
    with entered() as tag:
        zeros = [wrap(OwnTape(payload_like(y._payload, np.zeros), tag)) for y in outs]
        leaves = [leaf_node(u) for u in zeros]
        with grad_mode(True):
            back, _ = tree_flatten(pull(tree_unflatten(zeros, out_spec)))

    def jvp_fn(*tangents: Any) -> Any:
        flat_tangents, tangent_spec = tree_flatten(tangents)
        if tangent_spec != spec:
            raise RuntimeError(f"Expected the tangents {tangent_spec} to have the same argspec as the primals {spec}")
        for i, (x, v) in enumerate(zip(flat, flat_tangents, strict=True)):
            for what in ("shape", "dtype"):
                have, want = getattr(v, what), getattr(x, what)
                if have != want:
                    raise RuntimeError(
                        f"tangent:{i} with {what} {have} in flattened pytree doesn't match the {what} {want} of the "
                        "corresponding primal."
                    )
        roots = [
            (r._node, lifted(payload(v), tag)) for r, v in zip(back, flat_tangents, strict=True) if r._node is not None
        ]
        found: Any = [None] * len(leaves)
        if roots:
            found = run(roots, keep=True, create_graph=False, inputs=leaves)  # type: ignore[arg-type]
        results = []
        for g, y in zip(found, outs, strict=True):
            if g is None:
                results.append(wrap(payload_like(y._payload, np.zeros)))
                continue
            results.append(tensor(without_ended(without_lift(g._payload, tag))))
        return tree_unflatten(results, out_spec)

    return out, jvp_fn


__all__ = ["grad", "grad_and_value", "jvp", "linearize", "vjp"]
