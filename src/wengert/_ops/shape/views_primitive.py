"""Shape primitives: views with another shape or order of dimensions, and their transposes.

A view primitive carries its batching rule as a ``Lifted``: the steps that do the same on an array with one more
dimension in front. ``views`` has the public functions, ``strided`` the views of a part of the elements, ``view_chain``
the operators that replay a chain of views.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from ..._arrays.layouts import as_ordered, in_rows
from ..._arrays.library import NEW_AT, may_share_memory
from ..._arrays.sums import FEW, add_up
from ..._base.constants import type_name
from ..._base.errors import noted
from ..._base.late_names import LateFunction
from ..._base.registry import REGISTRY, TENSORS, Operator
from ..._kinds.dims import REQUIRED
from ..._kinds.linear import linear
from ..._tape.error_text import expect_tensor, not_a_tensor


# ---- batching of view operators
class Lifted:
    """The batching rule of a view operator, as steps that a chain of views can replay too.

    ``lift(name, shape, p, size)`` returns (operator, parameters) steps. On an array of shape ``(size, *shape)`` they
    apply ``name`` with the parameters ``p`` to each of the ``size`` elements.
    """

    def __init__(self, lift: Callable[..., tuple[tuple[str, tuple[Any, ...]], ...]]) -> None:
        self.lift = lift

    def __call__(self, U: Any, info: Operator, inner: Any, mine: Any, p: Any) -> Any:
        x = inner[0]
        for name, q in self.lift(info.name, tuple(x.shape[1:]), p, x.shape[0]):
            x = getattr(U, name)(x, *q)
        return x


def lifted_dims(*positions: int) -> Lifted:
    """The rule of an operator whose parameters at ``positions`` are dims (ints or tuples); others are unchanged."""

    def up(dim: Any) -> Any:
        return dim + 1 if isinstance(dim, int) else tuple(d + 1 for d in dim)

    def lift(name: str, shape: Any, p: Any, size: int) -> Any:
        return ((name, tuple(up(q) if i in positions else q for i, q in enumerate(p))),)

    return Lifted(lift)


def lifted_size(name: str, shape: Any, p: Any, size: int) -> Any:
    """The batched steps of an operator whose first parameter is the size of its result."""
    return ((name, ((size, *p[0]), *p[1:])),)


# ---- primitives
@linear(
    transpose=lambda xp, g, self_shape, size: xp.reshape(g, self_shape),
    view=True,
    batch=Lifted(lifted_size),
    samples=[((3, 4), ((4, 3),)), ((2, 3), ((6,),)), ((1,), ((),)), ((0, 3), ((3, 0),))],
)
def view(lib, self, size):
    """A view with another shape, in row-major order."""
    return self.reshape(size)


@linear(
    transpose=lambda xp, g, self_shape, size: xp.reshape(g, self_shape),
    node="UnsafeViewBackward0",
    batch=Lifted(lifted_size),
    samples=[((3, 4), ((4, 3),)), ((), ((1, 1),)), ((0, 2), ((0,),))],
)
def reshape(lib, self, size):
    """A copy with another shape, in row-major order."""
    return self.reshape(size)


TENSORS.reshape = LateFunction(TENSORS, "reshape", "shape.views")  # on Tensors it is a view where the memory allows it


def _lift_expand(name: str, shape: Any, p: Any, size: int) -> Any:
    missing = len(p[0]) - len(shape)
    steps = (("expand", ((size, *p[0]),)),)
    return steps if not missing else (("view", ((size, *(1,) * missing, *shape),)), *steps)


@linear(
    transpose=lambda xp, g, self_shape, size: xp.sum_to(g, self_shape),
    view=True,
    batch=Lifted(_lift_expand),
    samples=[((3, 1), ((3, 4),)), ((4,), ((2, 3, 4),)), ((), ((2, 2),)), ((2,), ((1, 2),)), ((1, 2), ((0, 2),))],
)
def expand(lib, self, size):
    """A view that repeats dimensions of size one."""
    if isinstance(self, np.generic):  # a cotangent: a small full array costs less than the view
        if math.prod(size) > 4096:
            return lib.broadcast_to(self, size)
        r = lib.empty(size, self.dtype)
        r.fill(self)
        return r
    if type(self) is np.ndarray:
        return expanded(self, size)
    return lib.broadcast_to(self, size)


def expanded(a: Any, size: tuple[int, ...]) -> Any:
    """``np.broadcast_to``, but ten times as fast for contiguous arrays, and writeable if no element is repeated."""
    if a.flags.c_contiguous and a.size:
        strides, repeats = _expanded_strides(a.shape, a.strides, size)
        r = np.ndarray(size, a.dtype, a, 0, strides)
        if repeats:
            r.setflags(False)  # see ``locked``
        return r
    lead = len(size) - a.ndim
    if size[lead:] == a.shape and size[:lead].count(1) == lead:
        return a[(None,) * lead + (...,)]
    return np.broadcast_to(a, size)


@functools.lru_cache(4096)
def _expanded_strides(shape: tuple[int, ...], strides: tuple[int, ...], size: tuple[int, ...]) -> tuple[Any, bool]:
    lead = len(size) - len(shape)
    kept = tuple([s if n == m else 0 for n, m, s in zip(shape, size[lead:], strides, strict=True)])
    return (0,) * lead + kept, math.prod(shape) != math.prod(size)


@linear(
    transpose=lambda xp, g, self_shape, size: xp.expand(g, self_shape),
    batch=lambda U, info, inner, mine, p: U.sum_to(
        inner[0]
        if inner[0].ndim - 1 == len(p[0])
        else U.sum_dim(inner[0], tuple(range(1, inner[0].ndim - len(p[0]))), False),
        (inner[0].shape[0], *p[0]),
    ),
    samples=[((3, 4), ((3, 1),)), ((2, 3, 4), ((4,),)), ((2, 2), ((),)), ((0, 2), ((1, 2),))],
)
def sum_to(lib, self, size):
    """Sum the elements down to a shape that broadcasts to the tensor's: the transpose of ``expand``."""
    shape = self.shape
    lead = len(shape) - len(size)
    if shape[lead:] == size:
        if lead == 1:
            if shape[0] == 1:
                return self[0]
            few = shape[0] <= FEW and self.dtype.itemsize > 2
            r = lib.add.reduce(self, 0) if few else add_up(lib, self, 0, False)
            return r if len(size) < 2 else _reduced(self, r)
        dims = tuple(range(lead))
    else:
        dims = tuple(range(lead)) + tuple(i + lead for i, n in enumerate(size) if n == 1 and shape[i + lead] != 1)
    r = add_up(lib, self, dims, True).reshape(size)
    return r if len(size) < 2 else _reduced(self, r)


def _reduced(a: Any, r: Any) -> Any:
    """A sum in rows, as the rule ``rows`` would give it, which would cost a bias's cotangent a call more."""
    return r if type(r) is not np.ndarray or a.flags.c_contiguous else in_rows(r)


@linear(
    transpose=lambda xp, g, self_shape, dims: xp.permute(g, tuple(sorted(range(len(dims)), key=dims.__getitem__))),
    view=True,
    batch=Lifted(lambda name, shape, p, size: ((name, ((0, *(d + 1 for d in p[0])),)),)),
    samples=[((2, 3, 4), ((2, 0, 1),)), ((), ((),))],
)
def permute(lib, self, dims):
    """A view with the dimensions reordered; dims count from 0."""
    return self.transpose(dims)


@linear(
    transpose=lambda xp, g, self_shape, dim0, dim1: xp.transpose_dims(g, dim0, dim1),
    view=True,
    node="TransposeBackward0",
    batch=lifted_dims(0, 1),
    samples=[((2, 3, 4), (0, 2)), ((2, 3), (1, 0)), ((2,), (0, 0))],
)
def transpose_dims(lib, self, dim0, dim1):
    """A view with two dimensions exchanged."""
    return self.swapaxes(dim0, dim1) if self.ndim else self[...]


@linear(
    transpose=lambda xp, g, self_shape: xp.matrix_t(g),
    view=True,
    node="TBackward0",
    batch=Lifted(lambda name, shape, p, size: (("transpose_dims", (1, 2)),) if len(shape) == 2 else (("alias", ()),)),
    samples=[((2, 3), ()), ((3,), ()), ((), ())],
)
def matrix_t(lib, self):
    """The transpose of a matrix; vectors and scalars are unchanged."""
    return self.transpose()


@linear(
    transpose=lambda xp, g, self_shape: g,
    view=True,
    batch=Lifted(lambda name, shape, p, size: (("alias", ()),)),
    samples=[((2, 3), ()), ((), ())],
)
def alias(lib, self):
    """A view of the whole tensor."""
    return self[...]


def _received(xp: Any, g: Any, order: tuple[int, ...]) -> Any:
    if xp is not TENSORS:
        return as_ordered(g, order)
    if as_ordered(g._payload, order) is g._payload:
        return g
    return xp.permute(xp.clone(xp.permute(g, order), "C"), tuple(sorted(range(len(order)), key=order.__getitem__)))


@linear(
    transpose=_received,
    view=True,
    batch=Lifted(lambda name, shape, p, size: (("alias", ()),)),
    samples=[((2, 3), ((1, 0),)), ((), ((),))],
)
def received(lib, self, order):
    """A view of the whole tensor whose cotangent lies in this order of its dims, outermost first."""
    return self[...]


@linear(
    transpose=lambda xp, g, self_shape, dim: xp.reshape(g, self_shape),
    view=True,
    node="UnsqueezeBackward0",
    batch=lifted_dims(0),
    samples=[((2, 3), (1,)), ((2,), (1,)), ((), (0,))],
)
def unsqueeze_dim(lib, self, dim):
    """A view with a new dimension of size one in front of ``dim``."""
    return self[NEW_AT[dim]]


def _lift_squeeze(name: str, shape: Any, p: Any, size: int) -> Any:
    return (("squeeze_dims", (tuple(i + 1 for i, n in enumerate(shape) if n == 1),)),)


@linear(
    transpose=lambda xp, g, self_shape: xp.reshape(g, self_shape),
    view=True,
    node="SqueezeBackward0",
    batch=Lifted(_lift_squeeze),
    samples=[((1, 3, 1), ()), ((), ()), ((2,), ())],
)
def squeeze_all(lib, self):
    """A view without the dimensions of size one."""
    return self.squeeze() if 1 in self.shape else self[...]


@linear(
    transpose=lambda xp, g, self_shape, dim: xp.reshape(g, self_shape),
    view=True,
    node="SqueezeBackward1",
    batch=Lifted(lambda name, shape, p, size: ((name, (p[0] + 1,)),) if shape else (("alias", ()),)),
    samples=[((1, 3, 1), (2,)), ((2, 3), (0,)), ((), (0,))],
)
def squeeze_dim(lib, self, dim):
    """A view without ``dim`` if its size is one."""
    return self.squeeze(dim) if self.ndim and self.shape[dim] == 1 else self[...]


@linear(
    transpose=lambda xp, g, self_shape, dim: xp.reshape(g, self_shape),
    view=True,
    node="SqueezeBackward2",
    batch=lifted_dims(0),
    samples=[((1, 3, 1), ((0, 1, 2),)), ((2, 1), ((0,),)), ((1,), ((),))],
)
def squeeze_dims(lib, self, dim):
    """A view without the dimensions in ``dim`` whose size is one."""
    ones = tuple(d for d in dim if self.shape[d] == 1)
    return self.squeeze(ones) if ones else self[...]


# ---- arguments and errors
def payload(input: Any, name: str) -> Any:
    """The payload of a function's first argument, which must be a Tensor."""
    try:
        return input._payload
    except AttributeError:
        raise not_a_tensor(name, "input", 1, input) from None


def shape_of_other(other: Any, name: str) -> tuple[int, ...]:
    """The shape of a method's argument ``other``, which must be a Tensor."""
    try:
        return tuple(other._payload.shape)
    except AttributeError:
        return tuple(expect_tensor(name, "other", 1, other)._payload.shape)


def none_given(name: str, argument: str) -> TypeError:
    """PyTorch's error for a call without the ints that a function takes."""
    return TypeError(f'{name}() missing 1 required positional arguments: "{argument}"')


def given_twice(name: str, argument: str) -> TypeError:
    """PyTorch's error for a call with ints by place and by keyword."""
    return TypeError(f"{name}() got multiple values for argument '{argument}'")


def ints(args: tuple[Any, ...], name: str, argument: str = "size") -> tuple[int, ...]:
    """Read ints that were passed one by one or as one tuple or list."""
    if len(args) == 1 and type(args[0]) is not int and not hasattr(args[0], "__index__"):
        if args[0] is REQUIRED:
            raise none_given(name, argument)
        args = args[0]
        if not isinstance(args, (tuple, list)):
            raise TypeError(
                f"{name}(): argument '{argument}' (position 1) must be tuple of ints, not {type_name(args)}"
            )
    for n in args:
        if type(n) is not int:
            break
    else:
        return tuple(args)
    found = []
    for place, n in enumerate(args):
        try:
            if isinstance(n, bool) and not place:
                raise TypeError
            found.append(operator.index(n))
        except TypeError:
            raise TypeError(
                f"{name}(): argument '{argument}' failed to unpack the object at pos {place + 1} with error "
                f'"type must be tuple of ints,but got {type_name(n)}"'
            ) from None
    return tuple(found)


def listed_ints(value: Any, name: str, argument: str = "size", at: str = "") -> tuple[int, ...]:
    """Read ints that must be passed as one tuple or list. ``at``: what the error says of the argument's position."""
    if not isinstance(value, (tuple, list)):
        raise TypeError(f"{name}(): argument '{argument}'{at} must be tuple of ints, not {type_name(value)}")
    return ints((value,), name, argument)


def full_size(size: tuple[int, ...], shape: tuple[int, ...]) -> tuple[int, ...]:
    """Replace -1 in a size and check the size against the number of elements of ``shape``."""
    numel = 1
    for n in shape:
        numel *= n
    known = 1
    free = -1
    for i, n in enumerate(size):
        if n == -1:
            if free >= 0:
                raise RuntimeError("only one dimension can be inferred")
            free = i
        elif n < 0:
            raise RuntimeError(f"invalid shape dimension {n} at index {i} of shape {list(size)}")
        else:
            known *= n
    if free >= 0:
        if known == 0 and numel == 0:
            raise RuntimeError(
                f"cannot reshape tensor of 0 elements into shape {list(size)} because the unspecified dimension size "
                "-1 can be any value and is ambiguous"
            )
        if known and numel % known == 0:
            return size[:free] + (numel // known,) + size[free + 1 :]
    elif known == numel:
        return size
    raise noted(
        RuntimeError(f"shape '{list(size)}' is invalid for input of size {numel}"),
        f"Why: a tensor of shape {list(shape)} has {numel} elements, and the sizes asked for multiply to {known}"
        + (" times the inferred one." if free >= 0 else "."),
    )


def shares(r: Any, a: Any) -> bool:
    """Whether the array ``r``, just made from ``a`` by ``reshape``, shares the memory of ``a``."""
    return r.base is not None and may_share_memory(r, a)


# Every view operator's formula names ``self_shape``, even if it needs no shape: ``view_result`` always stores it.
VIEW, EXPAND, PERMUTE, TRANSPOSE, T_, UNSQUEEZE, SQUEEZE_ALL, SQUEEZE_DIM = (
    REGISTRY[name]
    for name in (
        "view",
        "expand",
        "permute",
        "transpose_dims",
        "matrix_t",
        "unsqueeze_dim",
        "squeeze_all",
        "squeeze_dim",
    )
)
