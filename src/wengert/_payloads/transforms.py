"""The payload types of transforms: forward mode (``Dual``), vmap (``Batched``) and nested tapes (``OwnTape``).

A Tensor's payload may be one of these values; the tape makes no difference. An operator on them calls ``bind``, which
peels the newest transform off its operands, runs the operator on the inner values (of any nesting), and applies the
transform's rule. ``tag`` identifies the transform that made a value, so that nested transforms are not confused.

A value's ``dtype`` is not NumPy's object but a ``ValueDtype`` of the value's depth, so the identity test of dtypes on
the hot path fails, and leads here, for a value beside a plain operand or beside a value of another depth.

NOTE [ Levels ]
    Tags increase with time, and the low byte of a tag is the depth: the number of active transforms when this one was
    entered. A Tensor's level is the tag of its payload (0 for an array). An operator first brings its operands to one
    level, the highest among them (``_kinds.slow_path.lift_to_common_level``): a tensor of a lower level is wrapped as a
    constant, with its tape if it is tracked, so each tape stays outside the transforms that are younger than it.
    Reverse mode at depth 0 uses the user's own tape. Inside another transform it needs a younger tape: its variables
    are ``OwnTape`` values, whose only purpose is their tag.
    Never put two operands of different levels on one node.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

import numpy as np

from .._arrays.library import ARITHMETIC, BY_DTYPE, also_constants_for, silently
from .._base import registry
from .._base.dtypes import BY_NUMPY, COMPLEX, FLOATING, INEXACT, INTEGRAL, PYTHON_NUMBERS, REAL, SINGLE_OR_DOUBLE
from .._base.grad_mode import grad_mode
from .._base.modes import enter, leaving
from .._base.registry import NO_ROWS, TENSORS, TRANSFORMED, XP, Operator
from .._tape.engine import run
from .._tape.node import Parts, leaf_node
from .._tape.saved import payload_dtype
from .._tape.tensor import Tensor, payload_like, wrap

_count = itertools.count(1).__next__
DEPTH: ContextVar[int] = ContextVar("wengert_depth", default=0)  # the number of active transforms here
DEEPEST = 0xFF


def new_tag() -> int:
    """The tag of a transform inside of the active ones."""
    depth = DEPTH.get() + 1
    if depth > DEEPEST:
        raise RuntimeError(f"transforms are nested more than {DEEPEST} deep")
    return _count() << 8 | depth


class entered:
    """Context manager of an active transform: ``with entered() as tag:``."""

    __slots__ = ()

    def __enter__(self) -> int:
        tag = new_tag()
        enter(DEPTH, tag & DEEPEST)
        return tag

    __exit__ = leaving((DEPTH, (-1).__add__))


def level_of(t: Any) -> int:
    """The level of a Tensor or payload: the tag of its newest transform, 0 for none."""
    while isinstance(t, Tensor):
        t = t._payload
    return t.tag if isinstance(t, Transformed) else 0


class ValueDtype:
    """The dtype of a transform's value: equal to NumPy's, but another object."""

    __slots__ = ("base_dtype", "itemsize", "kind", "library", "name", "type")

    def __init__(self, dtype: np.dtype[Any]) -> None:
        self.base_dtype = dtype
        self.kind = dtype.kind
        self.itemsize = dtype.itemsize
        self.name = dtype.name
        self.type = dtype.type
        self.library: Any = None  # see ``_payloads.foreign``


class _ValueDtypes(dict[Any, ValueDtype]):
    """A dict from (any dtype, depth) to the one dtype object of values of that depth."""

    def __missing__(self, key: Any) -> ValueDtype:
        dtype, depth = key
        base = plain_dtype(dtype)
        if base is not dtype:
            made = self[key] = self[base, depth]
            return made
        made = self[key] = ValueDtype(base)
        BY_DTYPE[made] = TRANSFORMED
        BY_NUMPY[made] = BY_NUMPY[base]  # type: ignore[index]
        for group in (INEXACT, FLOATING, COMPLEX, INTEGRAL, REAL, SINGLE_OR_DOUBLE):
            if base in group:
                group.add(made)  # type: ignore[arg-type]
        also_constants_for(made, base)
        return made


VALUE_DTYPES = _ValueDtypes()


def plain_dtype(dtype: Any) -> Any:
    """The NumPy dtype of any payload."""
    if isinstance(dtype, ValueDtype):
        return dtype.base_dtype
    return dtype if isinstance(dtype, np.dtype) else dtype.np


def dtype_of(value: Any) -> Any:
    """The NumPy dtype of a Tensor, array or transform value of any nesting."""
    return plain_dtype(payload_dtype(value))


class Transformed:
    """A payload that is not a plain array; ``tag`` identifies the transform that made it."""

    __slots__ = ("__weakref__", "tag", "v")
    __array_ufunc__ = None
    is_meta = False  # see ``_payloads.meta``
    is_traced = False  # see ``_compile.traced``
    is_foreign = False  # see ``_payloads.foreign``
    flags = NO_ROWS
    computed: Any  # of the two payloads that are no transform's: what an operator gives on them
    tag: int
    v: Any

    def __init__(self, v: Any, tag: int) -> None:
        self.v = v
        self.tag = tag

    @property
    def dtype(self) -> ValueDtype:
        """The elements' dtype."""
        return VALUE_DTYPES[self.v.dtype, self.tag & DEEPEST]

    @property
    def ndim(self) -> int:
        """The number of dimensions that the program sees."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements that the program sees."""
        n = 1
        for s in self.shape:
            n *= s
        return n

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape that the program sees."""
        return tuple(self.v.shape)

    def __rsub__(self, other: Any) -> Any:
        return TRANSFORMED.add(TRANSFORMED.neg(self), other)

    def __rtruediv__(self, other: Any) -> Any:
        return TRANSFORMED.mul(TRANSFORMED.reciprocal(self), other)

    def __rpow__(self, other: Any) -> Any:
        return TRANSFORMED.pow(other, self)

    def __getitem__(self, index: Any) -> Any:
        return TRANSFORMED.getitem(self, index if isinstance(index, tuple) else (index,))

    def payload_like(self, make: Any) -> Any:
        """A value of the same nesting on the array ``make(shape, dtype)`` (``_tape.tensor.payload_like``)."""
        return type(self)(payload_like(self.v, make), self.tag)

    def primal(self) -> Any:
        """The values alone, without tangents and tapes at any depth, as far as they are not batched."""
        return self

    @property
    def constant(self) -> Any:
        """This value without tangents and tapes at any depth."""
        return _constant(self)

    @property
    def without_tangent(self) -> Any:
        """This value without the tangent of its own transform."""
        return self

    @property
    def mT(self) -> Any:
        """The last two dimensions exchanged."""
        n = self.ndim
        return TRANSFORMED.permute(self, (*range(n - 2), n - 1, n - 2))

    def copy(self) -> Any:
        """Return the value itself, because values are never written to."""
        return self


def _python_operator(name: str) -> Any:
    """The operator of this name as a method of values."""

    def operator(self: Transformed, *other: Any) -> Any:
        return getattr(TRANSFORMED, name)(self, *other)

    return operator


for _method, _name in {
    "add": "add", "radd": "add", "sub": "sub", "mul": "mul", "rmul": "mul", "truediv": "div", "pow": "pow",
    "floordiv": "floor_divide", "mod": "remainder",
    "neg": "neg", "rand": "bitwise_and", "ror": "bitwise_or", "rxor": "bitwise_xor",
    "eq": "eq", "ne": "ne", "lt": "lt", "le": "le", "gt": "gt", "ge": "ge", "and": "bitwise_and",
    "or": "bitwise_or", "xor": "bitwise_xor", "lshift": "bitwise_left_shift", "rshift": "bitwise_right_shift",
    "invert": "bitwise_not",
}.items():  # fmt: skip
    setattr(Transformed, f"__{_method}__", _python_operator(_name))


def _values(inner: Any) -> Any:
    """``primal`` of what a value holds."""
    while isinstance(inner, Tensor):
        inner = inner._payload
    return inner.primal() if isinstance(inner, Transformed) else inner


def _constant(a: Any) -> Any:
    while isinstance(a, (Dual, OwnTape, Tensor)):
        a = a._payload if isinstance(a, Tensor) else a.v
    if not isinstance(a, Batched):
        return a
    inner = _constant(a.v)
    return a if inner is a.v else Batched(inner, a.tag)


class Dual(Transformed):
    """A primal ``v`` and its tangent ``t`` (``None``: zero)."""

    __slots__ = ("t",)

    def __init__(self, v: Any, t: Any, tag: int) -> None:
        self.v = v
        self.t = t
        self.tag = tag

    def payload_like(self, make: Any) -> Dual:
        return Dual(payload_like(self.v, make), None, self.tag)

    def primal(self) -> Any:
        return _values(self.v)

    @property
    def without_tangent(self) -> Any:
        return Dual(self.v, None, self.tag)


class Batched(Transformed):
    """A batch of values: ``v`` has the batch dimension in front; the program sees the shape without it."""

    __slots__ = ()
    bdim = 0  # where the program's own tensor has the batch dimension

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.v.shape[1:])


class Given(Batched):
    """A batch that ``vmap`` was given with the batch dimension at the place ``bdim``; what is computed has it first."""

    __slots__ = ("bdim",)

    def __init__(self, v: Any, tag: int, bdim: int = 0) -> None:
        super().__init__(v, tag)
        self.bdim = bdim


class OwnTape(Transformed):
    """An unchanged value on a tape of its own level."""

    __slots__ = ()

    def primal(self) -> Any:
        return _values(self.v)


class Constant(Transformed):
    """A payload of a lower level next to a value of this depth: constant to its transform."""

    __slots__ = ("depth",)

    def __init__(self, v: Any, depth: int = 0) -> None:
        self.v = v
        self.tag = 0
        self.depth = depth

    def payload_like(self, make: Any) -> Any:
        return payload_like(self.v, make)

    @property
    def dtype(self) -> ValueDtype:
        return VALUE_DTYPES[self.v.dtype, self.depth]


def of_transform(a: Any) -> bool:
    """Whether a payload is a transform's value, not an array, a ``Meta`` or another library's."""
    return isinstance(a, Transformed) and not (a.is_meta or a.is_traced or a.is_foreign)


def one_example(a: Any) -> Any:
    """The array in whose memory the program sees a payload of any nesting: one example's of a batch."""
    if isinstance(a, Tensor):
        return one_example(a._payload)
    if not of_transform(a):
        return a
    inner = one_example(a.v)
    if not isinstance(a, Batched) or not isinstance(inner, np.ndarray):
        return inner
    return np.lib.stride_tricks.as_strided(inner, inner.shape[1:], inner.strides[1:], writeable=False)


_NO_FORMAT = "NYI: querying is_contiguous inside of vmap for memory_format other than torch.contiguous_format"


def refuse_formats(a: Any, memory_format: Any, *known: Any, message: str = _NO_FORMAT) -> None:
    """Raise PyTorch's error for a batch and an order of its elements in memory that is none of these."""
    if isinstance(a, Batched) and memory_format not in known:
        name = "".join(part.capitalize() for part in str(memory_format).removeprefix("torch.").split("_"))
        raise RuntimeError(message.format(name))


XP[Dual] = XP[Batched] = XP[Given] = XP[Constant] = XP[OwnTape] = TRANSFORMED
XP[Tensor] = TENSORS


# ---- binding
@registry.bind.set
def bind(info: Operator, *args: Any) -> Any:
    """Run one operator on payloads of any nesting: peel off the newest transform, apply its rule, continue inside."""
    if info.arity >= 0:
        operands, p = list(args[: info.arity]), args[info.arity :]
    else:
        operands, p = list(args[0]), args[1:]
    operands = [a.v if type(a) is Constant else a for a in operands]
    tag = inside = 0
    for a in operands:
        if isinstance(a, Transformed):
            if a.tag > tag:
                tag = a.tag
        elif isinstance(a, Tensor):
            inside = max(inside, level_of(a))
    if inside >= tag:  # Tensors are the newest thing here, or no transform is left
        return _bottom(info, operands, p)
    mine = [isinstance(a, Transformed) and a.tag == tag for a in operands]
    inner = [a.v if m else a for a, m in zip(operands, mine, strict=True)]
    if any(isinstance(a, Batched) for a, m in zip(operands, mine, strict=True) if m):
        from .batching import batched

        try:
            out = batched(info, operands, inner, mine, p)
        except ARITHMETIC:
            out = silently(batched, info, operands, inner, mine, p)
        return _each(info, lambda o: Batched(o, tag), out)
    if any(isinstance(a, OwnTape) for a, m in zip(operands, mine, strict=True) if m):
        out = call(info, inner, p)
        return _each(info, lambda o: OwnTape(o, tag), out)
    return _dual(info, operands, inner, mine, p, tag)


def call(info: Operator, operands: list[Any], p: tuple[Any, ...]) -> Any:
    """``bind`` on a list of operands."""
    return bind(info, *operands, *p) if info.arity >= 0 else bind(info, operands, *p)


def _bottom(info: Operator, operands: list[Any], p: tuple[Any, ...]) -> Any:
    """Run the operator when no transform is left: on Tensors if there are any, else on arrays."""
    if any(isinstance(a, Tensor) for a in operands):
        lifted = [a if isinstance(a, Tensor) or a is None or type(a) in PYTHON_NUMBERS else wrap(a) for a in operands]
        out = info.op(*lifted, *p) if info.arity >= 0 else info.op(lifted, *p)
        # with its history, if it has one; integers have none
        return _each(info, lambda t: t if t._node is not None and differentiable(t) else t._payload, out)
    for a in operands:
        if isinstance(a, Transformed):  # not a transform's value: an array without data, or one that is traced
            return type(a).computed(info, operands, p)
    # through a Tensor, for the usual promotion and treatment of integers
    lifted = [a if a is None or type(a) in PYTHON_NUMBERS else wrap(a) for a in operands]
    if not any(isinstance(a, Tensor) for a in lifted):
        lifted[0] = wrap(np.asarray(lifted[0]))
    given = (*lifted, *p) if info.arity >= 0 else (lifted, *p)
    out = around_arrays[0](info, given, lambda: info.core(*given)) if around_arrays else info.core(*given)
    return _each(info, lambda t: t._payload, out)


around_arrays: list[Any] = []  # the hook of bfloat16 (``_kinds.bfloat16``), which operators inside of values need too


# ---- forward mode
# While ``forward_ad._set_fwd_grad_enabled(False)`` holds, the number of transforms that were active where it began:
# their results have no tangents, but those of transforms that begin inside of it do.
no_tangents: list[int] = []


def _dual(info: Operator, operands: list[Any], inner: list[Any], mine: list[bool], p: tuple[Any, ...], tag: int) -> Any:
    out = call(info, inner, p)
    tangents = [a.t if m else None for a, m in zip(operands, mine, strict=True)]
    off = no_tangents and tag & DEEPEST <= no_tangents[0]
    if info.node is None or off or all(t is None for t in tangents):
        return _each(info, lambda o: Dual(o, None, tag), out)
    if info.jvp is not None:
        rule, given = info.jvp, (TRANSFORMED, tangents, out, *inner, *p)
    else:
        rule, given = transposed_jvp, (info, tangents, out, inner, p)
    try:
        t = rule(*given)
    except ARITHMETIC:
        t = silently(rule, *given)
    return _each(info, lambda o, k: Dual(o, k if differentiable(o) else None, tag), out, t)


def no_forward(name: str) -> NotImplementedError:
    """PyTorch's error of an operator without a forward-mode rule; ``name`` with "aten::" if it has no derivative."""
    text = f"Trying to use forward AD with {name} that does not support it"
    if name.startswith("aten::"):
        return NotImplementedError(f"{text}.")
    return NotImplementedError(
        f"{text} because it has not been implemented yet.\nPlease file an issue to PyTorch at "
        "https://github.com/pytorch/pytorch/issues/new?template=feature-request.yml so that we can prioritize its "
        "implementation or submit a PR adding the implementation to derivatives.yaml"
    )


def refuse_tangents(name: str, t: Tensor | None) -> None:
    """Raise ``no_forward``'s error for a tensor that has a tangent, of any transform."""
    a: Any = t
    while isinstance(a, (Tensor, Transformed)):
        if isinstance(a, Dual) and a.t is not None:
            raise no_forward(name)
        a = a._payload if isinstance(a, Tensor) else getattr(a, "v", None)  # one without data has none


def differentiable(value: Any) -> bool:
    """Whether the value has a dtype that derivatives exist for: real or complex floating point."""
    return payload_dtype(value).kind in "fcV"


def _each(info: Operator, fn: Any, *outputs: Any) -> Any:
    """``fn`` of an operator's result, or of each of its results."""
    return fn(*outputs) if info.outputs == 1 else tuple(map(fn, *outputs))


def transposed_jvp(info: Operator, tangents: list[Any], out: Any, inner: list[Any], p: tuple[Any, ...]) -> Any:
    """The tangent from the reverse formula alone: ``vjp(u)`` is linear in ``u``, and its transpose is the jvp.

    The formula is recorded on an arbitrary cotangent ``u`` and walked backward with the tangents as cotangents (the
    "double-backward trick", J. Townsend 2017).
    """
    given = [a for a in (*inner, *tangents) if a is not None and type(a) not in PYTHON_NUMBERS]
    if not any(isinstance(a, (Transformed, Tensor)) for a in given):
        with grad_mode(True):
            return _transposed(info, tangents, inner, p, lambda a: a)
    with grad_mode(True), entered() as tag:  # this tape must be younger than the operands' transforms
        ts = _transposed(info, tangents, inner, p, lambda a: OwnTape(a, tag))
    return _each(info, lambda a: without_lift(a, tag), ts)


def without_lift(a: Any, tag: int) -> Any:
    """The value that a tape's holds, if it is of the tape with this tag."""
    if isinstance(a, Transformed) and a.tag > tag:
        return below(a, lambda v: without_lift(v, tag))
    return a.v if isinstance(a, OwnTape) and a.tag == tag else a


def lifted(a: Any, tag: int) -> Any:
    """A value on the tape with this tag; values of transforms that began later stay around it, newest outermost."""
    if isinstance(a, Transformed) and a.tag > tag:
        return below(a, lambda v: lifted(v, tag))
    return OwnTape(a, tag)


def below(a: Any, change: Callable[[Any], Any]) -> Any:
    """A transform's value with another one inside."""
    if isinstance(a, Dual):
        return Dual(change(a.v), None if a.t is None else change(a.t), a.tag)
    return type(a)(change(a.v), a.tag)


def _transposed(info: Operator, tangents: list[Any], inner: list[Any], p: tuple[Any, ...], lift: Any) -> Any:
    leaves = []
    for a, t in zip(inner, tangents, strict=True):
        if a is None or type(a) in PYTHON_NUMBERS:
            leaves.append(a)
            continue
        leaf = wrap(lift(a))
        if t is not None:
            leaf_node(leaf)
        leaves.append(leaf)
    recorded = info.core(*leaves, *p) if info.arity >= 0 else info.core(leaves, *p)
    outs = (recorded,) if info.outputs == 1 else recorded
    cotangents = [None if y._node is None else _leaf(payload_like(y._payload, np.zeros)) for y in outs]
    live = [(y, u) for y, u in zip(outs, cotangents, strict=True) if u is not None]
    if not live:
        return None if info.outputs == 1 else (None,) * len(outs)
    g: Any
    if info.outputs == 1:
        node, g = live[0][0]._node, live[0][1]
    else:
        node = live[0][0]._node.fx
        g = Parts({k: u for k, u in enumerate(cotangents) if u is not None})
    pairs = node.backward(TENSORS, g, True)
    tangent_of = {id(x._node): t for x, t in zip(leaves, tangents, strict=True) if t is not None}
    roots = []
    for i in range(0, len(pairs), 2):
        d = pairs[i + 1]
        if d is not None and d._node is not None:
            roots.append((d._node, wrap(lift(tangent_of[id(pairs[i])]))))
    wanted = [u._node for _, u in live]
    results: Any = run(roots, keep=True, create_graph=True, inputs=wanted) if roots else [None] * len(wanted)
    found = iter(results)
    ts = [None if u is None else _payload_or_none(next(found)) for u in cotangents]
    return ts[0] if info.outputs == 1 else tuple(ts)


def _leaf(a: Any) -> Tensor:
    t = wrap(a)
    leaf_node(t)
    return t


def _payload_or_none(t: Any) -> Any:
    return None if t is None else t._payload


def zeros(shape: Any, dtype: Any) -> Any:
    """Plain zeros, a constant to every transform."""
    library = getattr(dtype, "library", None)
    return np.zeros(shape, plain_dtype(dtype)) if library is None else library.make(np.zeros, shape, dtype)


TRANSFORMED.zeros = zeros
TENSORS.zeros = lambda shape, dtype: wrap(zeros(shape, dtype))
registry.ARRAYS.zeros = np.zeros
