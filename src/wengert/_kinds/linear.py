"""The linear kinds: linear in one tensor (``linear``), in each of two (``bilinear``), product and sum (``affine``).

The only formula of a linear operator is its transpose; forward mode is the operator itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._arrays.library import ARITHMETIC, INEXACT
from .._base.dtypes import BY_NUMPY, FLOAT32
from .._base.registry import ARRAYS, TENSORS, Impl, Operator, publish
from .._tape.error_text import cpp_name, not_a_tensor
from .._tape.node import Box
from .._tape.saved import is_complex, unbox
from .._tape.tensor import Tensor, alias_payload
from .backward import AFFINE_BACKWARD, BILINEAR_BACKWARD, LINEAR_BACKWARD
from .declare import (
    Formula,
    camel,
    declared,
    edges_x,
    edges_xy,
    enter,
    formula_names,
    node_class,
    not_saved,
    release_of,
)
from .recording import AFFINE, BILINEAR, LINEAR
from .slow_path import mixed_product, overridden, refuse_first
from .templates import BACKWARD, Shape, hot

# --------------------------------------------------------------------------------------------- linear in its one tensor


def linear(
    transpose: Formula,
    *,
    view: bool = False,
    node: str | None = None,
    names: str | None = None,
    otherwise: Any = None,
    **facts: Any,
) -> Callable[[Any], Any]:
    """Declare an operator that is linear in its one tensor; the other arguments are plain positional parameters.

    ``transpose(xp, g[, self_shape], *parameters)`` is the vjp. The node saves the parameters and, if named, the input's
    shape, never the array; so such a graph can be walked any number of times. ``view``: the result shares the input's
    memory, and the operator can make it again from the same input. ``otherwise``: the public function, which calls
    this operator if the tensor is the only argument, as in ``x.sum()``, and handles all other calls itself.
    """
    uses = formula_names(transpose)
    keep_shape = uses[:1] == ("self_shape",)

    def declare(body: Any) -> Any:
        info = declared(linear, body, {"dtypes": "fcib", **facts}, view=view)
        if uses[keep_shape:] != info.params[1:]:
            raise TypeError(f"the transpose of {info.name} names {uses}: not its parameters {info.params[1:]}")

        def saved(n: Any, key: str) -> Any:
            if key in info.params[1:]:
                return n.p[info.params.index(key) - 1]
            if key == "self_sym_sizes" and keep_shape:
                return n.shape
            raise not_saved(n, key)

        step = Shape("linear_backward", LINEAR_BACKWARD, BACKWARD, keep_shape=keep_shape)
        N = node_class(
            node or camel(info.name) + "Backward0",
            ("fx", "p") + ("shape",) * keep_shape,
            edges=edges_x,
            backward=hot(f"{info.name}_backward", step, lambda: {"transpose": transpose}),
            saved=saved,
            saved_names=info.params[1:],
        )

        def scope() -> dict[str, Any]:
            return {"info": info, "N": N, "table": Impl(info.name), "alias_payload": alias_payload}

        def jvp(xp: Any, tangents: Any, result: Any, self: Any, *p: Any) -> Any:
            return getattr(xp, info.name)(tangents[0], *p)

        asked = {"view": view, "keep_shape": keep_shape, "p": ", *p"}
        op = hot(info.name, Shape("linear", LINEAR, "input, *p", **asked, modes=True), scope, info.doc)
        enter(info, op, N, jvp, Shape("linear", LINEAR, "input, *p", **asked))
        if names and otherwise is None:
            publish(op, names)
        elif names:
            alone = Shape("linear", LINEAR, "input, *args, **kwargs", keep_shape=keep_shape, alone=True)
            publish(in_front_of(otherwise, alone, lambda: {**scope(), "otherwise": otherwise}), names)
        return op

    return declare


def in_front_of(otherwise: Any, shape: Shape, scope: Callable[[], dict[str, Any]]) -> Any:
    """A public function that is its operator in the usual call and passes any other call to ``otherwise``."""
    fn = hot(otherwise.__name__, shape, scope, otherwise.__doc__)
    fn.__wrapped__ = otherwise
    return fn


# ---------------------------------------------------------------------------------------- linear in each of two tensors


def bilinear(
    self: Formula, other: Formula, *, node: str | None = None, names: str | None = None, **facts: Any
) -> Callable[[Any], Any]:
    """Declare an operator that is linear in each of its two tensors; the other arguments are positional parameters.

    ``self(xp, g, self, other, *parameters)`` and ``other(...)`` are the transposes. An operand is saved only if the
    other one needs a gradient; a formula may read the shape of its own operand.
    """

    def transformed(n: Any, xp: Any, g: Any, keep: bool) -> tuple[Any, ...]:
        conj = is_complex(g)
        if conj:
            g = xp.conj(g)
        x, y = _factor(n, "x", xp), _factor(n, "y", xp)
        pairs: tuple[Any, ...] = ()
        for edge, formula in ((n.fx, self), (n.fy, other)):
            if edge is not None:
                d = formula(xp, g, x, y, *n.p)
                pairs += (edge, xp.conj(d) if conj else d)
        if not keep:
            n.release()
        return pairs

    def declare(body: Any) -> Any:
        info = declared(bilinear, body, facts, arity=2, refuse_mixed=refuse_mixed)
        name = info.name
        of_step = {"gx_": self, "gy_": other, "transformed": transformed, "of_shape": of_shape}
        N = node_class(
            node or camel(name) + "Backward0",
            ("fx", "fy", "x", "y", "p"),
            edges=edges_xy,
            backward=hot(f"{name}_backward", Shape("bilinear_backward", BILINEAR_BACKWARD, BACKWARD), lambda: of_step),
            release=release_of("xy"),
            saved=_saved_factors(info, 2),
            saved_names=info.params,
        )

        def scope() -> dict[str, Any]:
            return {"info": info, "N": N, "table": Impl(name), "mixed_product": mixed_product}

        def jvp(xp: Any, tangents: Any, result: Any, x: Any, y: Any, *p: Any) -> Any:
            f = getattr(xp, name)
            total = None if tangents[0] is None else f(tangents[0], y, *p)
            if tangents[1] is not None:
                d = f(x, tangents[1], *p)
                total = d if total is None else total + d
            return total

        op = hot(name, Shape("bilinear", BILINEAR, "input, other, *p", modes=True), scope, info.doc)
        enter(info, op, N, jvp, Shape("bilinear", BILINEAR, "input, other, *p"))
        if names:
            publish(op, names)
        return op

    return declare


class OperandShape:
    """The shape of an operand, saved in place of an operand that only its own gradient would need."""

    __slots__ = ("shape",)
    shape: tuple[int, ...]

    @property
    def ndim(self) -> int:
        return len(self.shape)


def of_shape(shape: tuple[int, ...]) -> OperandShape:
    """An ``OperandShape``."""
    s = OperandShape()
    s.shape = shape
    return s


def _factor(n: Any, slot: str, xp: Any) -> Any:
    value = getattr(n, slot)
    return of_shape(value) if type(value) is tuple else unbox(n, value, getattr(n, "f" + slot), xp)


def _saved_factors(info: Operator, operands: int) -> Any:
    """The look-up behind ``grad_fn._saved_NAME``: the factors, and the parameters after the operands."""
    slots = {"self": "x", "other": "y", info.params[0]: "x", info.params[1]: "y"}

    def saved(n: Any, key: str) -> Any:
        key, view = info.saved_as.get(key, (key, None))
        if view is not None:
            value = saved(n, key)
            return None if value is None else view(value)
        if key in slots:
            value = getattr(n, slots[key])
            return unbox(n, value, getattr(n, "f" + slots[key]), TENSORS) if isinstance(value, Box) else None
        if key in info.params[operands:]:
            return n.p[info.params.index(key) - operands]
        raise not_saved(n, key)

    return saved


def between(info: Operator, ranks: tuple[int, int]) -> Callable[[Any], Any]:
    """Decorator that makes a public product as fast as its operator if both tensors have the operator's ranks.

    Any other call, and any call that fails, runs the decorated function.
    """

    def decorate(otherwise: Any) -> Any:
        def scope() -> dict[str, Any]:
            return {
                "N": info.node, "otherwise": otherwise, "small": np.ndarray.dot, "large": getattr(ARRAYS, info.name),
                "MANY": MANY, "FLOAT32": FLOAT32, "INEXACT": INEXACT, "RAW_REFUSALS": RAW_REFUSALS,
            }  # fmt: skip

        return in_front_of(
            otherwise,
            Shape("bilinear", BILINEAR, "input, other, *, out=None", ranks=True, x_rank=ranks[0], y_rank=ranks[1]),
            scope,
        )

    return decorate


MANY = 1 << 15  # from this number of elements on, a product calls its library function
RAW_REFUSALS = (ValueError, TypeError, *ARITHMETIC)  # sizes that do not fit, another library's array, strict warnings


def refuse_mixed(info: Operator, x: Any, y: Any, *p: Any) -> Any:
    """PyTorch's error for a product of tensors of two dtypes."""
    a, b = cpp_name(x), cpp_name(y)
    raise RuntimeError(f"expected m1 and m2 to have the same dtype, but got: {a} != {b}")


# -------------------------------------------------------------------------------------------------- a product and a sum


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
    reads the shape of that factor. ``ranks``: the ranks of the factors that the operator itself accepts; calls with
    other ranks go to ``other_ranks``, which costs less here than in a function around the operator.
    ``refuse_shapes(error, x, y, added, *parameters)`` raises PyTorch's error for arrays that the library rejected.
    """

    def transformed(n: Any, xp: Any, g: Any, keep: bool) -> tuple[Any, ...]:
        conj = is_complex(g)
        x, y = unbox(n, n.x, n.fx, xp), unbox(n, n.y, n.fy, xp)
        if conj:
            g = xp.conj(g)
        pairs: tuple[Any, ...] = ()
        for edge, formula, operands in ((n.fc, added, None), (n.fx, first, (x, y)), (n.fy, second, (x, y))):
            if edge is not None:
                d = formula(xp, g, *((n.c,) if operands is None else operands), *n.p)
                pairs += (edge, xp.conj(d) if conj else d)
        if not keep:
            n.release()
        return pairs

    def declare(body: Any) -> Any:
        info = declared(affine, body, facts, arity=3, refuse_mixed=refuse_addmm)
        name = info.name
        of_step = {"first": first, "second": second, "added": added, "transformed": transformed}
        members = {
            "backward": hot(f"{name}_backward", Shape("affine_backward", AFFINE_BACKWARD, BACKWARD), lambda: of_step),
            "release": release_of("xy"),
            "saved": _saved_factors(info, 3),
            "saved_names": (*info.saved_as, *info.params[:2], *info.params[3:]),
        }
        slots = ("fx", "fy", "fc", "x", "y", "c", "p")
        With = node_class(node, slots, edges=_edges_added_first if added_first else _edges_added_last, **members)
        without = With.edges if node_without in (None, node) else edges_xy if added_first else _edges_without
        Without = node_class(node_without or node, slots, edges=without, **members)

        def scope() -> dict[str, Any]:
            return {
                "info": info, "With": With, "Without": Without, "table": Impl(name), "of_shape": of_shape,
                "no_tensor": _no_tensor, "mixed_product": mixed_product, "refuse_shapes": refuse_shapes,
                "other_ranks": other_ranks,
            }  # fmt: skip

        def jvp(xp: Any, tangents: Any, result: Any, x: Any, y: Any, c: Any, *p: Any) -> Any:
            f = getattr(xp, name)
            tx, ty, tc = tangents
            if tx is not None:
                d = f(tx, y, tc, *p)
                return d if ty is None else d + f(x, ty, None, *p)
            return f(x, ty, tc, *p) if ty is not None else spread(xp, tc, result.shape, *p)

        x, y, c = info.params[:3]
        head = f"{x}, {y}, {c}=None, *p"
        asked = {"x": x, "y": y, "c": c, "own_shapes": own_shapes}
        if ranks is not None:
            asked |= {"ranks": True, "x_rank": ranks[0], "y_rank": ranks[1]}
        info.node_without = Without
        op = hot(name, Shape("affine", AFFINE, head, **asked, modes=True), scope, info.doc)
        enter(info, op, With, jvp, Shape("affine", AFFINE, head, **asked))
        if names:
            publish(op, names)
        return op

    return declare


def _edges_added_first(n: Any) -> tuple[Any, ...]:
    return (n.fc, n.fx, n.fy)


def _edges_added_last(n: Any) -> tuple[Any, ...]:
    return (n.fx, n.fy, n.fc)


def _edges_without(n: Any) -> tuple[Any, ...]:
    return (n.fx, n.fy, None)


def _no_tensor(info: Operator, x: Any, y: Any, c: Any, *p: Any) -> Any:
    """Handle an operand that is not a Tensor: a payload from inside a transform, or a mistake."""
    operands = (x, y) if c is None else (x, y, c)
    result = overridden(info, operands)
    if result is not ...:
        return result
    for position, t in enumerate(operands):
        if not isinstance(t, Tensor):
            from .._payloads.transforms import Transformed, bind

            if isinstance(t, Transformed):
                return bind(info, x, y, c, *p)
            raise not_a_tensor(info.name.strip("_"), info.params[position], position + 1, t)
    return refuse_first(info, x, y, c, *p)


def refuse_addmm(info: Operator, x: Any, y: Any, c: Any, *p: Any) -> Any:
    """PyTorch's error for a layer whose tensors have several dtypes."""
    if c is None or x.dtype is not y.dtype:
        return refuse_mixed(info, x, y)
    a, b = (BY_NUMPY[t._payload.dtype].scalar_name for t in (c, x))
    raise RuntimeError(f"self and mat2 must have the same dtype, but got {a} and {b}")
