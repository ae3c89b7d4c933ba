"""The linear kinds: linear in one tensor (``linear``), in each of two (``bilinear``), product and sum (``affine``).

The only formula of a linear operator is its transpose; forward mode is the operator itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._arrays.layouts import iterated, when_needless
from .._arrays.library import ARITHMETIC, INEXACT
from .._base.dtypes import BY_NUMPY, FLOAT16, FLOAT32
from .._base.registry import ARRAYS, REGISTRY, Impl, Operator, publish
from .._tape.error_text import cpp_name, two_dtypes
from .declare import Formula, Sources, declared, enter, formula_names, names_of, slotted
from .fronts import in_front_of
from .recording import HEAD, PRODUCT, elsewhere, head_of_one, one, parameters
from .templates import Shape

# ---- linear in its one tensor


def linear(
    transpose: Formula,
    *,
    view: bool = False,
    node: str | None = None,
    names: str | None = None,
    otherwise: Any = None,
    along: str | None = None,
    **facts: Any,
) -> Callable[[Any], Any]:
    """Declare an operator that is linear in its one tensor; the other arguments are plain positional parameters.

    ``transpose(xp, g[, self_shape], *parameters)`` is the vjp. The node saves the parameters and, if named, the input's
    shape, never the array; so such a graph can be walked any number of times. ``self_like`` in place of ``self_shape``
    is the shape for ``as_channels_of``, which knows whether the input was channels-last. ``view``: the result shares
    the input's memory, and the operator can make it again from the same input. ``otherwise``: the public function,
    which calls this operator if the tensor is the only argument, as in ``x.sum()``, and handles all other calls itself.
    ``along``: the operator with the parameters ``(dims, keepdim)`` that the public function is for one dim, as in
    ``x.sum(1)``.
    """
    uses = formula_names(transpose)
    keep_like = uses[:1] == ("self_like",)
    keep_shape = keep_like or uses[:1] == ("self_shape",)

    def declare(body: Any) -> Any:
        info = declared(linear, body, {"dtypes": "fcib", **facts}, view=view)
        if uses[keep_shape:] != info.params[1:]:
            raise TypeError(f"the transpose of {info.name} names {uses}: not its parameters {info.params[1:]}")

        calls = (("fx", transpose, ("shape",) * keep_shape + ("params",)),)
        sources: Sources = {name: k for k, name in enumerate(info.params[1:])}
        sources |= {"self_sym_sizes": "shape"} if keep_shape else {}
        kept = ("params",) + ("shape",) * keep_shape
        step = {"transformed": info.piecewise}  # the same formula serves all payloads
        make_node = slotted(info, node, calls, sources, *kept, step=step, saved_names=info.params[1:])

        def jvp(xp: Any, tangents: Any, result: Any, self: Any, *p: Any) -> Any:
            return getattr(xp, info.name)(tangents[0], *p)

        def scope() -> dict[str, Any]:
            dims = {} if along is None else {"along": Impl(along), "Along": REGISTRY[along].node}
            return names_of(info, otherwise=otherwise, elsewhere=elsewhere, **dims)

        def core() -> Shape:
            return one(info, view=view, keep_shape=keep_shape and not keep_like, keep_like=keep_like)

        def alone() -> Shape:
            front: dict[str, Any] = {"along": along is not None, "dims": True, "keepdim": True}
            return one(info, HEAD, keep_shape=keep_shape, alone=True, **front)

        op = enter(info, make_node, jvp, head_of_one(info), core, scope, names if otherwise is None else None)
        if names and otherwise is not None:
            publish(in_front_of(otherwise, HEAD, alone, scope), names)
        return op

    return declare


# ---- linear in each of two tensors


def bilinear(
    self: Formula,
    other: Formula,
    *,
    node: str | None = None,
    names: str | None = None,
    **facts: Any,
) -> Callable[[Any], Any]:
    """Declare an operator that is linear in each of its two tensors; the other arguments are positional parameters.

    ``self(xp, g, self, other, *parameters)`` and ``other(...)`` are the transposes. An operand is saved only if the
    other one needs a gradient; where it is not, its own formula gets its shape and edge (``OperandShape``).
    """

    def declare(body: Any) -> Any:
        info = declared(bilinear, body, facts, arity=2, refuse_mixed=refuse_mixed)
        used = _FACTORS if len(info.params) > 2 else _FACTORS[:2]
        calls = (("fx", self, used), ("fy", other, used))
        make_node = slotted(info, node, calls, _sources(info), *_FACTORS, saved_names=info.params)

        p = parameters(info)

        def core() -> Shape:
            return _product("input", "other", "", p, needless=when_needless(info.layout, "xa", "ya"))

        head = f"input, other{p['p']}"
        return enter(info, make_node, _product_jvp(info.name), head, core, lambda: names_of(info), names)

    return declare


_FACTORS = ("x", "y", "params")  # the values of a factor's formula


def _product(x: str, y: str, c: str, p: dict[str, str], ranks: tuple[int, int] | None = None, **flags: Any) -> Shape:
    """The shape of a product; ``c``: the name of the added tensor, if any; ``p``: the texts of the parameters."""
    if ranks is not None:
        flags |= {"ranks": True, "x_rank": ranks[0], "y_rank": ranks[1]}
    operands = f"{x}, {y}, {c}" if c else f"{x}, {y}"
    head = f"{operands}, *, out=None" if "alone" in flags else operands + p["p"]
    if c and not p["p"]:
        head += "=None"
    parts = {**p, "operands": operands, "sx": "xa.shape", "sy": "ya.shape"}
    if c:
        parts |= {"ca": ", ca", "and_fc": " and fc is None"}
        parts["of_c"] = " or (ca is not None and ca.dtype is not xa.dtype)"
        own = "shape_like({})" if flags["needless"] else "{}.shape"  # whether the order is that of a convolution
        for s, a in (("sx", "xa"), ("sy", "ya")):
            parts[s] = f"of_shape({own.format(a)})" if flags["own_shapes"] else "None"
    return Shape("product", PRODUCT, head, parts, x=x, y=y, c=c, **flags)


def _sources(info: Operator) -> Sources:
    """The slots of the factors, and the positions of the parameters."""
    factors: Sources = {"self": "x", "other": "y", info.params[0]: "x", info.params[1]: "y"}
    return {**{name: k for k, name in enumerate(info.params[info.arity :])}, **factors}


def _product_jvp(name: str, spread: Any = None) -> Any:
    """The forward rule of a product, and of a tensor added to it (``spread`` is the rule of that tensor alone)."""

    def jvp(xp: Any, tangents: Any, result: Any, x: Any, y: Any, *rest: Any) -> Any:
        f = getattr(xp, name)
        tx, ty, *added = tangents
        p = rest[len(added) :]
        if tx is None:
            return spread(xp, *added, result.shape, *p) if ty is None else f(x, ty, *added, *p)
        d = f(tx, y, *added, *p)
        return d if ty is None else d + f(x, ty, *(None for _ in added), *p)

    return jvp


def between(info: Operator, ranks: tuple[int, int]) -> Callable[[Any], Any]:
    """Decorator that makes a public product as fast as its operator if both tensors have the operator's ranks.

    Any other call, and any call that fails, runs the decorated function.
    """

    def decorate(otherwise: Any) -> Any:
        def scope() -> dict[str, Any]:
            return {
                "N": info.node, "otherwise": otherwise, "small": np.ndarray.dot, "large": getattr(ARRAYS, info.name),
                "MANY": MANY, "FLOAT32": FLOAT32, "INEXACT": _OF_BLAS, "RAW_REFUSALS": RAW_REFUSALS,
            }  # fmt: skip

        second = otherwise.__code__.co_varnames[1]  # the name of the keyword argument
        return in_front_of(
            otherwise, f"input, {second}, *, out=None",
            lambda: _product("input", second, "", {"p": "", "ps": "()"}, ranks, alone=True), scope,
        )  # fmt: skip

    return decorate


_OF_BLAS = INEXACT - {FLOAT16}
MANY = 1 << 13  # from this number of elements on, a product calls its library function
RAW_REFUSALS = (ValueError, TypeError, *ARITHMETIC)  # sizes that do not fit, another library's array, strict warnings


def refuse_mixed(info: Operator, x: Any, y: Any, *p: Any) -> Any:
    """PyTorch's error for a product of tensors of two dtypes."""
    raise two_dtypes(f"expected m1 and m2 to have the same dtype, but got: {cpp_name(x)} != {cpp_name(y)}")


# ---- a product and a sum


def affine(
    first: Formula,
    second: Formula,
    added: Formula,
    spread: Formula,
    *,
    node: str,
    node_without: str | None = None,
    added_first: bool = False,
    own_shapes: bool = True,
    ranks: tuple[int, int] | None = None,
    other_ranks: Callable[..., Any] | None = None,
    refuse_shapes: Callable[..., Any],
    names: str | None = None,
    **facts: Any,
) -> Callable[[Any], Any]:
    """Declare an operator ``product(x, y, *parameters) + added``, which is the computation of a layer.

        @affine(
            first=lambda xp, g, input, weight: xp.mat_mat(g, weight),      # input's cotangent: a product again
            second=lambda xp, g, input, weight: xp.mat_mat(g.mT, input),   # weight's
            added=lambda xp, g, shape: xp.sum_to(g, shape),                # bias's: it needs only the bias's shape
            spread=lambda xp, t, shape: xp.expand(t, shape),               # the transpose of `added`
            node="AddmmBackward0",
        )
        def linear(lib, input, weight, bias): ...

    The positional arguments are the two factors, the added tensor (or ``None``) and plain parameters. As in the
    bilinear kind, a factor is saved only if the other one needs a gradient. This is a separate kind because a layer
    is one node in PyTorch (``AddmmBackward0``, ``ConvolutionBackward0``), and the most frequent node of a small model.

    ``first`` and ``second`` are called with ``(xp, g, x, y, *parameters)``. ``added(xp, g, shape, *parameters)`` is the
    vjp of the added tensor, and ``spread(xp, tangent, shape, *parameters)`` its jvp. ``node_without``: the node's name
    if no tensor is added. ``added_first``: the order of ``next_functions``. ``own_shapes``: whether a factor's formula
    reads the shape of that factor; if not, it gets that factor's edge where the factor is not saved. ``ranks``: the
    ranks of the factors that the operator itself accepts; calls with other ranks go to ``other_ranks``, which costs
    less here than in a function around the operator.
    ``refuse_shapes(error, x, y, added, *parameters)`` raises PyTorch's error for arrays that the library rejected.
    """

    def declare(body: Any) -> Any:
        info = declared(affine, body, facts, arity=3, refuse_mixed=refuse_addmm)
        p = _FACTORS[2:] if len(info.params) > 3 else ()
        factors = (*_FACTORS[:2], *p)
        calls = (("fc", added, ("c", *p)), ("fx", first, factors), ("fy", second, factors))
        step = {} if own_shapes else {"own_edges": True}

        def node_of(name: str, order: str) -> Any:
            return slotted(
                info, name, calls, _sources(info), *_FACTORS, "c", order=order, views=info.saved_as, step=step,
                saved_names=(*info.saved_as, *info.params[:2], *info.params[3:]),
            )  # fmt: skip

        order = "cxy" if added_first else "xyc"
        without = order if node_without in (None, node) else "xy" if added_first else "xy-"
        info.make_node_without = node_of(node_without or node, without)

        def scope() -> dict[str, Any]:
            return names_of(
                info, With=info.node, Without=info.node_without, refuse_shapes=refuse_shapes, other_ranks=other_ranks,
            )  # fmt: skip

        x, y, c = info.params[:3]
        p_texts = parameters(info)

        def core() -> Shape:
            # a product of vectors is a matrix, so the ranks of all operands tell nothing
            needless = "" if info.layout is iterated else when_needless(info.layout, "xa", "ya")
            return _product(x, y, c, p_texts, ranks, own_shapes=own_shapes, needless=needless)

        head = f"{x}, {y}, {c}{p_texts['p'] or '=None'}"
        return enter(info, node_of(node, order), _product_jvp(info.name, spread), head, core, scope, names)

    return declare


def refuse_addmm(info: Operator, x: Any, y: Any, c: Any, *p: Any) -> Any:
    """PyTorch's error for a layer whose tensors have several dtypes."""
    if c is None:
        return refuse_mixed(info, x, y)
    names = {t: BY_NUMPY[t._payload.dtype].scalar_name for t in (c, x, y)}
    if x.dtype is not y.dtype:
        raise two_dtypes(f"mat1 and mat2 must have the same dtype, but got {names[x]} and {names[y]}")
    raise two_dtypes(f"self and mat2 must have the same dtype, but got {names[c]} and {names[x]}")
