"""Shapes: the same elements seen in another shape or order of dimensions.

The primitives come first, pairs of transposes; then what users call. A view primitive carries its batching rule as a
``Lifted``: the steps that do the same on an array with one more dimension in front. ``strided`` holds the views of a
part of the elements, and ``view_gather`` and ``view_scatter``, which replay a chain of views.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from .._dims import normal_dim
from .._dispatch import type_text
from .._dtypes import BY_NUMPY
from .._errors import noted, warn, warn_once
from .._kinds import linear
from .._modes import M
from .._registry import REGISTRY, Info, T, public
from .._tensor import Tensor, alias_payload
from ._ties import tied


# ------------------------------------------------------------------------------------------------- batching of view operators
class Lifted:
    """The batching rule of a view operator, as steps that a chain of views can replay too.

    ``lift(name, shape, p, size)`` gives the (operator, parameters) steps that do to an array of shape
    ``(size, *shape)`` what ``name`` with the parameters ``p`` does to each of its ``size`` elements.
    """

    def __init__(self, lift: Callable[..., tuple[tuple[str, tuple[Any, ...]], ...]]) -> None:
        self.lift = lift

    def __call__(self, U: Any, info: Info, inner: Any, mine: Any, p: Any) -> Any:
        x = inner[0]
        for name, q in self.lift(info.name, tuple(x.shape[1:]), p, x.shape[0]):
            x = getattr(U, name)(x, *q)
        return x


def lifted_dims(*positions: int) -> Lifted:
    """The rule of an operator whose parameters at these positions are dims (an int or a tuple), and no other changes."""

    def up(dim: Any) -> Any:
        return dim + 1 if isinstance(dim, int) else tuple(d + 1 for d in dim)

    def lift(name: str, shape: Any, p: Any, size: int) -> Any:
        return ((name, tuple(up(q) if i in positions else q for i, q in enumerate(p))),)

    return Lifted(lift)


def lifted_size(name: str, shape: Any, p: Any, size: int) -> Any:
    """The steps of an operator whose first parameter is the size of its result."""
    return ((name, ((size, *p[0]), *p[1:])),)


# -------------------------------------------------------------------------------------------------------------- primitives
@linear(
    transpose=lambda xp, g, self_shape, size: xp.reshape(g, self_shape),
    view=True,
    node="ViewBackward0",
    batch=Lifted(lifted_size),
    samples=[((3, 4), ((4, 3),)), ((2, 3), ((6,),)), ((1,), ((),)), ((0, 3), ((3, 0),))],
)
def view(lib, self, size):
    """The same elements in another shape, in row-major order, in the same memory."""
    return self.reshape(size)


@linear(
    transpose=lambda xp, g, self_shape, size: xp.reshape(g, self_shape),
    node="UnsafeViewBackward0",
    batch=Lifted(lifted_size),
    samples=[((3, 4), ((4, 3),)), ((), ((1, 1),)), ((0, 2), ((0,),))],
)
def reshape(lib, self, size):
    """The same elements in another shape, in row-major order, copied."""
    return self.reshape(size)


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
    """The tensor as if repeated along dimensions of size one."""
    if isinstance(self, np.generic):  # a cotangent; a small full array costs less than the view
        n = 1
        for s in size:
            n *= s
        return lib.full(size, self, self.dtype) if n <= 4096 else lib.broadcast_to(self, size)
    shape = self.shape
    lead = len(size) - len(shape)
    if size[lead:] == shape:
        if not lead:
            return self[...]
        if 1 == max(size[:lead]) == min(size[:lead]):
            return self[(None,) * lead]
    if type(self) is not np.ndarray or not self.flags.c_contiguous or not self.size:
        return lib.broadcast_to(self, size)
    # as lib.broadcast_to, which takes ten times as long
    strides = (0,) * lead + tuple([0 if n == 1 else s for n, s in zip(shape, self.strides, strict=True)])
    view = np.ndarray(size, self.dtype, self, 0, strides)
    view.flags.writeable = False
    return view


@linear(
    transpose=lambda xp, g, self_shape, size: xp.expand(g, self_shape),
    batch=lambda U, info, inner, mine, p: U.sum_to(
        inner[0] if inner[0].ndim - 1 == len(p[0]) else U.sum_dim(inner[0], tuple(range(1, inner[0].ndim - len(p[0]))), False),
        (inner[0].shape[0], *p[0]),
    ),
    samples=[((3, 4), ((3, 1),)), ((2, 3, 4), ((4,),)), ((2, 2), ((),)), ((0, 2), ((1, 2),))],
)
def sum_to(lib, self, size):
    """Undo a broadcast: the elements summed down to a shape."""
    shape = self.shape
    lead = len(shape) - len(size)
    if shape[lead:] == size:
        if lead == 1:
            return self[0] if shape[0] == 1 else lib.add.reduce(self, 0)
        dims = tuple(range(lead))
    else:
        dims = tuple(range(lead)) + tuple(i + lead for i, n in enumerate(size) if n == 1 and shape[i + lead] != 1)
    return lib.add.reduce(self, dims, None, None, True).reshape(size)


@linear(
    transpose=lambda xp, g, self_shape, dims: xp.permute(g, tuple(sorted(range(len(dims)), key=dims.__getitem__))),
    view=True,
    batch=Lifted(lambda name, shape, p, size: ((name, ((0, *(d + 1 for d in p[0])),)),)),
    samples=[((2, 3, 4), ((2, 0, 1),)), ((), ((),))],
)
def permute(lib, self, dims):
    """Dimensions reordered; every dim is given as a number from 0."""
    return self.transpose(dims)


@linear(
    transpose=lambda xp, g, self_shape, dim0, dim1: xp.transpose_dims(g, dim0, dim1),
    view=True,
    node="TransposeBackward0",
    batch=lifted_dims(0, 1),
    samples=[((2, 3, 4), (0, 2)), ((2, 3), (1, 0)), ((2,), (0, 0))],
)
def transpose_dims(lib, self, dim0, dim1):
    """Two dimensions exchanged."""
    return self.swapaxes(dim0, dim1) if self.ndim else self[...]


@linear(
    transpose=lambda xp, g, self_shape: xp.matrix_t(g),
    view=True,
    node="TBackward0",
    batch=Lifted(lambda name, shape, p, size: (("transpose_dims", (1, 2)),) if len(shape) == 2 else (("alias", ()),)),
    samples=[((2, 3), ()), ((3,), ()), ((), ())],
)
def matrix_t(lib, self):
    """A matrix transposed; a vector or scalar as it is."""
    return self.transpose()


@linear(
    transpose=lambda xp, g, self_shape: g,
    view=True,
    batch=Lifted(lambda name, shape, p, size: (("alias", ()),)),
    samples=[((2, 3), ()), ((), ())],
)
def alias(lib, self):
    """The same tensor once more, in the same memory."""
    return self[...]


@linear(
    transpose=lambda xp, g, self_shape, dim: xp.reshape(g, self_shape),
    view=True,
    node="UnsqueezeBackward0",
    batch=lifted_dims(0),
    samples=[((2, 3), (1,)), ((2,), (1,)), ((), (0,))],
)
def unsqueeze_dim(lib, self, dim):
    """A dimension of size one put in front of ``dim``."""
    return self[NEW_AT[dim]]


COLONS = [(slice(None),) * n for n in range(66)]
NEW_AT = [(*colons, None, ...) for colons in COLONS]


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
    """Without the dimensions of size one."""
    return self.squeeze() if 1 in self.shape else self[...]


@linear(
    transpose=lambda xp, g, self_shape, dim: xp.reshape(g, self_shape),
    view=True,
    node="SqueezeBackward1",
    batch=Lifted(lambda name, shape, p, size: ((name, (p[0] + 1,)),) if shape else (("alias", ()),)),
    samples=[((1, 3, 1), (2,)), ((2, 3), (0,)), ((), (0,))],
)
def squeeze_dim(lib, self, dim):
    """Without this dimension if its size is one."""
    return self.squeeze(dim) if self.ndim and self.shape[dim] == 1 else self[...]


@linear(
    transpose=lambda xp, g, self_shape, dim: xp.reshape(g, self_shape),
    view=True,
    node="SqueezeBackward2",
    batch=lifted_dims(0),
    samples=[((1, 3, 1), ((0, 1, 2),)), ((2, 1), ((0,),)), ((1,), ((),))],
)
def squeeze_dims(lib, self, dim):
    """Without those of these dimensions whose size is one."""
    ones = tuple(d for d in dim if self.shape[d] == 1)
    return self.squeeze(ones) if ones else self[...]


# ------------------------------------------------------------------------------------------------------ arguments and errors
def payload(input: Any, name: str) -> Any:
    """The payload of a function's first argument, which must be a Tensor."""
    try:
        return input._a
    except AttributeError:
        raise TypeError(f"{name}(): argument 'input' (position 1) must be Tensor, not {type_text(input)}") from None


def ints(args: tuple[Any, ...], name: str, argument: str = "size") -> tuple[int, ...]:
    """Ints given one by one or as one tuple or list."""
    if len(args) == 1 and not hasattr(args[0], "__index__"):
        args = args[0]
        if not isinstance(args, (tuple, list)):
            raise TypeError(f"{name}(): argument '{argument}' (position 1) must be tuple of ints, not {type_text(args)}")
    found = []
    for place, n in enumerate(args):
        if type(n) is int:
            found.append(n)
            continue
        try:
            found.append(operator.index(n))
        except TypeError:
            raise TypeError(
                f"{name}(): argument '{argument}' failed to unpack the object at pos {place + 1} with error "
                f'"type must be tuple of ints,but got {type_text(n)}"'
            ) from None
    return tuple(found)


def full_size(size: tuple[int, ...], shape: tuple[int, ...]) -> tuple[int, ...]:
    """A size with its -1, if it has one, replaced, and checked against the number of elements of ``shape``."""
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
            raise RuntimeError(f"invalid shape dimension {n}")
        else:
            known *= n
    if free >= 0:
        if known == 0 and numel == 0:
            raise RuntimeError(
                f"cannot reshape tensor of 0 elements into shape {list(size)} because the unspecified dimension size -1 "
                "can be any value and is ambiguous"
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
    """Whether the array ``r``, just made from ``a`` by ``reshape``, is in a's memory."""
    return r.base is not None and np.may_share_memory(r, a)


# Every view operator's formula names ``self_shape``, whether it needs it or not: so ``tied`` may always store it.
VIEW, EXPAND, PERMUTE, TRANSPOSE, T_, UNSQUEEZE, SQUEEZE_ALL, SQUEEZE_DIM = (
    REGISTRY[name]
    for name in (
        "view", "expand", "permute", "transpose_dims", "matrix_t", "unsqueeze_dim", "squeeze_all", "squeeze_dim"
    )
)


# --------------------------------------------------------------------------------------------------------- view and reshape
@public("torch.reshape Tensor.reshape")
def reshape_public(input: Tensor, *size: Any, shape: Any = None) -> Tensor:
    """The same elements in another shape: a view where the memory allows it, else a copy.

    One size may be -1: it is inferred.

    >>> import wengert as torch
    >>> torch.arange(6).reshape(2, -1)
    tensor([[0, 1, 2],
            [3, 4, 5]])
    """
    if len(size) == 1 and type(size[0]) is tuple:
        size = size[0]
    elif shape is not None:
        size = ints((shape,), "reshape", "shape")
    elif not size or type(size[0]) is not int:
        size = ints(size, "reshape", "shape")
    a = getattr(input, "_a", None)
    if type(a) is not np.ndarray:
        a = payload(input, "reshape")
        if not isinstance(a, np.generic):
            return view(input, full_size(size, tuple(a.shape)))
        a = alias_payload(input)
    try:
        r = a.reshape(size)
    except (ValueError, TypeError):
        size = ints(size, "reshape", "shape")
        r = a.reshape(full_size(size, a.shape))
    base = r.base
    if base is a or (base is a.base and base is not None) or shares(r, a):
        t = view(input, r.shape) if M else tied(VIEW, input, (r.shape,), r)
        if t._fn is not None and not a.flags.c_contiguous:
            from .strided import renamed

            return renamed(t, "ReshapeAliasBackward0")
        return t
    return reshape(input, r.shape)


def _reshape_recorded(self: Tensor, size: Any) -> Tensor:
    """What ``xp.reshape`` is on Tensors: a view if the memory allows it."""
    return reshape_public(self, tuple(size))


T.reshape = _reshape_recorded


@public("Tensor.view")
def view_public(self: Tensor, *shape: Any, size: Any = None, dtype: Any = None) -> Tensor:
    """The same memory in another shape, or, given a dtype, its bytes as elements of another type.

    A shape that the memory's strides do not allow is a RuntimeError; ``reshape`` copies then.

    >>> import wengert as torch
    >>> torch.arange(6).view(3, 2)
    tensor([[0, 1],
            [2, 3],
            [4, 5]])
    >>> torch.ones(1).view(torch.int32)
    tensor([1065353216], dtype=torch.int32)
    """
    if len(shape) == 1 and type(shape[0]) is tuple:
        shape = shape[0]
    elif shape and type(shape[0]) is int:
        pass
    elif size is not None:
        shape = ints((size,), "view")
    elif dtype is not None or (len(shape) == 1 and isinstance(shape[0], type(BY_NUMPY[np.dtype(bool)]))):
        from .strided import view_dtype

        return view_dtype(self, dtype or shape[0])
    else:
        shape = _view_size(shape)
    a = self._a
    if type(a) is not np.ndarray:
        if not isinstance(a, np.generic):
            return view(self, full_size(shape, tuple(a.shape)))
        a = alias_payload(self)
    try:
        r = a.reshape(shape)
    except (ValueError, TypeError):
        shape = ints((tuple(shape),), "view")
        r = a.reshape(full_size(shape, a.shape))
    base = r.base
    if base is not a and (base is not a.base or base is None) and not shares(r, a):
        raise noted(
            RuntimeError(
                "view size is not compatible with input tensor's size and stride (at least one dimension spans across two "
                "contiguous subspaces). Use .reshape(...) instead."
            ),
            f"Why: the tensor's shape is {list(a.shape)} and its strides are {[s // a.itemsize for s in a.strides]}: "
            f"no strides give its elements the shape {list(r.shape)} in the order they have now.",
            "What to do: reshape() copies if it must; contiguous().view() always copies here.",
        )
    return view(self, r.shape) if M else tied(VIEW, self, (r.shape,), r)


def _view_size(shape: Any) -> tuple[int, ...]:
    try:
        if shape:
            return ints(shape, "view")
    except TypeError:
        pass
    got = ", ".join(type_text(s) for s in shape)
    raise TypeError(
        f"view() received an invalid combination of arguments - got ({got}), but expected one of:\n"
        " * (torch.dtype dtype)\n * (tuple of ints size)\n"
    )


@public("Tensor.reshape_as")
def reshape_as(self: Tensor, other: Tensor) -> Tensor:
    """``self.reshape(other.shape)``."""
    return reshape_public(self, tuple(other._a.shape))


@public("Tensor.view_as")
def view_as(self: Tensor, other: Tensor) -> Tensor:
    """``self.view(other.shape)``."""
    return view_public(self, tuple(other._a.shape))


@public("torch.flatten Tensor.flatten")
def flatten(input: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """The dimensions from ``start_dim`` to ``end_dim`` made one; a 0-dimensional tensor becomes one-dimensional.

    >>> import wengert as torch
    >>> torch.ones(2, 3, 4).flatten(1).shape
    torch.Size([2, 12])
    """
    a = payload(input, "flatten")
    if type(a) is np.ndarray and start_dim == 0 and end_dim == -1 and a.ndim > 1 and a.flags.c_contiguous and not M:
        return tied(VIEW, input, ((a.size,),), a.reshape(-1))
    start, end = normal_dim(start_dim, a.ndim, "flatten"), normal_dim(end_dim, a.ndim, "flatten")
    if start > end:
        raise RuntimeError("flatten() has invalid args: start_dim cannot come after end_dim")
    shape = tuple(a.shape)
    if not shape:
        return reshape_public(input, (1,))
    if start == end:
        return input
    n = 1
    for s in shape[start : end + 1]:
        n *= s
    return reshape_public(input, shape[:start] + (n,) + shape[end + 1 :])


@public("torch.ravel Tensor.ravel")
def ravel(input: Tensor) -> Tensor:
    """All elements in one dimension; a view if the tensor is contiguous."""
    a = payload(input, "ravel")
    if type(a) is np.ndarray and not a.flags.c_contiguous:
        return view_public(T.clone(input, "C"), (a.size,))
    return view_public(input, (a.size,))


@public("torch.unflatten Tensor.unflatten")
def unflatten(input: Tensor, dim: int, sizes: Any) -> Tensor:
    """One dimension made several; one of ``sizes`` may be -1.

    >>> import wengert as torch
    >>> torch.ones(2, 6).unflatten(1, (3, -1)).shape
    torch.Size([2, 3, 2])
    """
    a = payload(input, "unflatten")
    dim = normal_dim(dim, a.ndim, "unflatten")
    sizes = ints((sizes,), "unflatten", "sizes")
    if not sizes:
        raise RuntimeError("unflatten: sizes must be non-empty")
    shape = tuple(a.shape)
    n = shape[dim]
    try:
        sizes = full_size(sizes, (n,))
    except RuntimeError as error:
        if "is invalid for input" not in str(error):
            raise
        raise RuntimeError(
            f"unflatten: Provided sizes {list(sizes)} don't multiply up to the size of dim {dim} ({n}) in the input tensor"
        ) from None
    return view_public(input, shape[:dim] + sizes + shape[dim + 1 :])


# ------------------------------------------------------------------------------------------------- dimensions of size one
@public("torch.unsqueeze Tensor.unsqueeze")
def unsqueeze(input: Tensor, dim: int | None = None, *, axis: int | None = None) -> Tensor:
    """A view with a dimension of size one at position ``dim``.

    >>> import wengert as torch
    >>> torch.ones(3).unsqueeze(-1).shape
    torch.Size([3, 1])
    """
    if dim is None:
        if axis is None:
            raise TypeError("unsqueeze() missing 1 required positional arguments: \"dim\"")
        dim = axis
    a = getattr(input, "_a", None)
    if type(a) is np.ndarray and not M:
        rank = a.ndim
        if type(dim) is not int or not 0 <= dim <= rank:
            dim = normal_dim(dim, rank + 1, "unsqueeze")
        return tied(UNSQUEEZE, input, (dim,), a[NEW_AT[dim]])
    return unsqueeze_dim(input, normal_dim(dim, payload(input, "unsqueeze").ndim + 1, "unsqueeze"))


@public("torch.squeeze Tensor.squeeze")
def squeeze(input: Tensor, dim: Any = None, *, axis: Any = None) -> Tensor:
    """A view without the dimensions of size one: all of them, or those named.

    >>> import wengert as torch
    >>> torch.ones(1, 3, 1).squeeze(0).shape
    torch.Size([3, 1])
    """
    if axis is not None:
        dim = axis
    a = getattr(input, "_a", None)
    fast = type(a) is np.ndarray and not M
    if dim is None:
        return tied(SQUEEZE_ALL, input, (), a.squeeze()) if fast else squeeze_all(input)  # type: ignore[union-attr]
    ndim = payload(input, "squeeze").ndim
    if type(dim) is int and fast and -ndim <= dim < ndim:
        d = dim if dim >= 0 else dim + ndim
        return tied(SQUEEZE_DIM, input, (d,), a.squeeze(d) if a.shape[d] == 1 else a[...])  # type: ignore[union-attr]
    if isinstance(dim, (tuple, list)):
        from .._dims import normal_dims

        return squeeze_dims(input, normal_dims(dim, ndim, "squeeze"))
    return squeeze_dim(input, normal_dim(dim, ndim, "squeeze"))


# ------------------------------------------------------------------------------------------------------ order of dimensions
@public("torch.transpose Tensor.transpose torch.swapaxes Tensor.swapaxes torch.swapdims Tensor.swapdims")
def transpose(input: Tensor, dim0: int, dim1: int) -> Tensor:
    """A view with two dimensions exchanged.

    >>> import wengert as torch
    >>> torch.ones(2, 3, 4).transpose(0, -1).shape
    torch.Size([4, 3, 2])
    """
    a = getattr(input, "_a", None)
    if type(a) is np.ndarray and not M and type(dim0) is type(dim1) is int:
        n = a.ndim
        if -n <= dim0 < n and -n <= dim1 < n:
            p = (dim0 if dim0 >= 0 else dim0 + n, dim1 if dim1 >= 0 else dim1 + n)
            return tied(TRANSPOSE, input, p, a.swapaxes(dim0, dim1))
    ndim = payload(input, "transpose").ndim
    return transpose_dims(input, normal_dim(dim0, ndim, "transpose"), normal_dim(dim1, ndim, "transpose"))


@public("torch.t Tensor.t")
def t(input: Tensor) -> Tensor:
    """A matrix transposed; tensors of fewer dimensions as they are."""
    a = payload(input, "t")
    ndim = a.ndim
    if ndim > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {ndim}D")
    return matrix_t(input) if M or type(a) is not np.ndarray else tied(T_, input, (), a.transpose())


@public("torch.permute Tensor.permute")
def permute_public(input: Tensor, *order: Any, dims: Any = None) -> Tensor:
    """A view with the dimensions in another order.

    >>> import wengert as torch
    >>> torch.ones(2, 3, 4).permute(2, 0, 1).shape
    torch.Size([4, 2, 3])
    """
    if dims is not None:
        order = (dims,)
    if len(order) == 1 and type(order[0]) in (tuple, list):
        order = tuple(order[0])
    a = payload(input, "permute")
    ndim = a.ndim
    if type(a) is np.ndarray and not M and PERMUTATIONS.get(order) == ndim:
        return tied(PERMUTE, input, (order,), a.transpose(order))
    dims = ints(order, "permute", "dims") if order else ()
    if len(dims) != ndim:
        raise RuntimeError(
            "permute(sparse_coo): number of dimensions in the tensor input does not match the length of the desired ordering "
            f"of dimensions i.e. input.dim() = {ndim} is not equal to len(dims) = {len(dims)}"
        )
    dims = tuple([d if 0 <= d < ndim else normal_dim(d, ndim, "permute") for d in dims])
    if len(set(dims)) != ndim:
        raise RuntimeError("permute(): duplicate dims are not allowed.")
    if len(PERMUTATIONS) < 1000:
        PERMUTATIONS[dims] = ndim
    return permute(input, dims)


PERMUTATIONS: dict[Any, int] = {}  # the dims of earlier calls that were found to be right, with the number of dimensions


@public("torch.movedim Tensor.movedim torch.moveaxis Tensor.moveaxis")
def movedim(input: Tensor, source: Any, destination: Any) -> Tensor:
    """A view with some dimensions moved to other positions, the others in their order.

    >>> import wengert as torch
    >>> torch.ones(2, 3, 4).movedim(0, -1).shape
    torch.Size([3, 4, 2])
    """
    ndim = payload(input, "movedim").ndim
    several = isinstance(source, (tuple, list))
    if several is not isinstance(destination, (tuple, list)):
        raise TypeError(
            f"movedim() received an invalid combination of arguments - got (Tensor, {type_text(source)}, "
            f"{type_text(destination)}), but expected one of:\n * (Tensor input, int source, int destination)\n"
            " * (Tensor input, tuple of ints source, tuple of ints destination)\n"
        )
    source, destination = (source, destination) if several else ((source,), (destination,))
    if len(source) != len(destination):
        raise RuntimeError(
            f"movedim: Invalid source or destination dims: source ({list(source)} dims) should contain the same number of "
            f"dims as destination ({list(destination)} dims)"
        )
    src = [normal_dim(d, ndim, "movedim") for d in source]
    dst = [normal_dim(d, ndim, "movedim") for d in destination]
    for what, dims, given in (("source", src, source), ("destination", dst, destination)):
        if len(set(dims)) != len(dims):
            raise RuntimeError(f"movedim: repeated dim in `{what}` ({list(given)})")
    if not ndim:
        return alias(input)
    rest = iter(d for d in range(ndim) if d not in src)
    at = dict(zip(dst, src, strict=True))
    return permute(input, tuple(at[i] if i in at else next(rest) for i in range(ndim)))


def _last_two(self: Tensor, name: str, conj: bool) -> Tensor:
    ndim = self._a.ndim
    if not ndim and not conj:
        warn(f"Tensor.{name} is deprecated on 0-D tensors. This function is the identity in these cases.")
        return self
    if ndim < 2:
        raise RuntimeError(f"tensor.{name} is only supported on matrices or batches of matrices. Got {ndim}-D tensor.")
    r = transpose_dims(self, ndim - 2, ndim - 1)
    return T.conj(r) if conj and r._a.dtype.kind == "c" else r


def _transposed(self: Tensor) -> Tensor:
    """The last two dimensions exchanged: each matrix of a batch transposed."""
    return _last_two(self, "mT", False)


def _adjoint(self: Tensor) -> Tensor:
    """Each matrix of a batch transposed and conjugated."""
    return _last_two(self, "mH", True)


@public("torch.adjoint Tensor.adjoint")
def adjoint(input: Tensor) -> Tensor:
    """Each matrix of a batch transposed and conjugated.

    >>> import wengert as torch
    >>> torch.ones(5, 2, 3).adjoint().shape
    torch.Size([5, 3, 2])
    """
    payload(input, "adjoint")
    return _last_two(input, "adjoint()", True)


def _reversed(self: Tensor) -> Tensor:
    """The tensor with its dimensions in reverse order."""
    ndim = self._a.ndim
    if ndim != 2:
        warn_once(
            "The use of `x.T` on tensors of dimension other than 2 to reverse their shape is deprecated and it will throw an "
            "error in a future release. Consider `x.mT` to transpose batches of matrices or `x.permute(*torch.arange(x.ndim - "
            "1, -1, -1))` to reverse the dimensions of a tensor."
        )
    return permute(self, tuple(range(ndim - 1, -1, -1)))


def _hermitian(self: Tensor) -> Tensor:
    """A matrix transposed and conjugated."""
    ndim = self._a.ndim
    if ndim not in (0, 2):
        raise RuntimeError(f"tensor.H is only supported on matrices (2-D tensors). Got {ndim}-D tensor.")
    if not ndim:
        warn("Tensor.H() is deprecated on 0-D tensors. Consider using x.conj().")
        return T.conj(self) if self._a.dtype.kind == "c" else self
    r = transpose_dims(self, 0, 1)
    return T.conj(r) if r._a.dtype.kind == "c" else r


public("Tensor.T")(property(_reversed))
public("Tensor.H")(property(_hermitian))
public("Tensor.mT")(property(_transposed))
public("Tensor.mH")(property(_adjoint))


# --------------------------------------------------------------------------------------------------------------- broadcasting
def _expand_size(size: tuple[int, ...], input: Tensor) -> tuple[int, ...]:
    """The size that ``expand`` is asked for, with every -1 replaced, checked."""
    shape = tuple(input._a.shape)
    lead = len(size) - len(shape)
    if lead < 0:
        raise RuntimeError(
            f"expand({_type_name(input)}{{{list(shape)}}}, size={list(size)}): the number of sizes provided ({len(size)}) must "
            f"be greater or equal to the number of dimensions in the tensor ({len(shape)})"
        )
    full = list(size)
    for i in range(len(size) - 1, -1, -1):  # from the last on, as PyTorch, which names the first that it finds
        n = size[i]
        old = shape[i - lead] if i >= lead else 1
        if n == -1:
            if i < lead:
                raise RuntimeError(
                    f"The expanded size of the tensor (-1) isn't allowed in a leading, non-existing dimension {i}"
                )
            n = old
        elif n < 0 and i < lead:
            raise RuntimeError(
                f"The expanded size of the tensor ({n}) isn't allowed in a leading, non-existing dimension {i}"
            )
        elif n < 0 or old not in (1, n):
            raise RuntimeError(
                f"The expanded size of the tensor ({n}) must match the existing size ({old}) at non-singleton dimension {i}.  "
                f"Target sizes: {list(size)}.  Tensor sizes: {list(shape)}"
            )
        full[i] = n
    return tuple(full)


def _type_name(t: Tensor) -> str:
    from .._saved import _type_name as name

    return name(t._a)


@public("Tensor.expand")
def expand_public(self: Tensor, *size: Any, implicit: bool = False, **given: Any) -> Tensor:
    """A view in which dimensions of size one, and new ones in front, seem repeated; -1 keeps a dimension's size.

    The repeated elements share memory: writing to the view in place is an error.

    >>> import wengert as torch
    >>> torch.tensor([[1], [2]]).expand(-1, 3)
    tensor([[1, 1, 1],
            [2, 2, 2]])
    """
    if given:
        for name in given:
            if name != "size" or size:
                raise TypeError(f"expand() got an unexpected keyword argument '{name}'")
        size = (given["size"],)
    if len(size) == 1 and type(size[0]) is tuple:
        size = size[0]
    a = self._a
    if type(a) is np.ndarray and not M:
        r = _expanded(a, size)
        if r is not None:
            return tied(EXPAND, self, (r.shape,), r)
    return expand(self, _expand_size(ints(size, "expand") if size else (), self))


_expansions: dict[Any, Any] = {}  # (shape, sizes, bytes of an element) -> (full size, strides, repeats), of earlier calls


def _expanded(a: Any, size: tuple[Any, ...]) -> Any:
    """The view that ``expand`` makes if the sizes are plainly right; ``None`` if they must be looked at."""
    if not a.flags.c_contiguous:
        return None
    try:
        full, strides, repeats = _expansions[a.shape, size, a.itemsize]
    except (KeyError, TypeError):
        plan = _plan_expansion(a, size)
        if plan is None:
            return None
        full, strides, repeats = plan
        if len(_expansions) < 10000:
            _expansions[a.shape, size, a.itemsize] = plan
    r = np.ndarray(full, a.dtype, a, 0, strides)
    if repeats or not a.flags.writeable:
        r.flags.writeable = False
    return r


def _plan_expansion(a: Any, size: tuple[Any, ...]) -> Any:
    lead = len(size) - a.ndim
    if lead < 0 or not a.size:
        return None
    full = []
    strides = []
    repeats = False
    for n, old, stride in zip(size, (1,) * lead + a.shape, (0,) * lead + a.strides, strict=True):
        if type(n) is not int or not (n > 0 or (n == -1 and stride)):
            return None
        if n not in (-1, old):
            if old != 1:
                return None
            repeats = True
            stride = 0
        full.append(old if n == -1 else n)
        strides.append(stride)
    return tuple(full), tuple(strides), repeats


@public("torch.broadcast_to Tensor.broadcast_to")
def broadcast_to(input: Tensor, size: Any) -> Tensor:
    """``input.expand(size)``."""
    payload(input, "broadcast_to")
    return expand_public(input, ints((size,), "broadcast_to"))


@public("Tensor.expand_as")
def expand_as(self: Tensor, other: Tensor) -> Tensor:
    """``self.expand(other.shape)``."""
    return expand_public(self, tuple(other._a.shape))


@public("Tensor.sum_to_size")
def sum_to_size(self: Tensor, *size: Any) -> Tensor:
    """The elements summed until the shape is ``size``, from which ``self``'s shape must be a broadcast.

    >>> import wengert as torch
    >>> torch.ones(2, 3).sum_to_size(1, 3)
    tensor([[2., 2., 2.]])
    """
    size = ints(size, "sum_to_size")
    shape = tuple(self._a.shape)
    lead = len(shape) - len(size)
    if lead < 0 or any(n not in (1, shape[i + lead]) for i, n in enumerate(size)):
        raise RuntimeError(f"size {{{list(size)}}} is not expandable to size {{{list(shape)}}}.")
    if not size:
        return T.sum_all(self)
    dims = tuple(i for i, n in enumerate(shape) if i < lead or size[i - lead] != n)
    if not dims:
        return self
    r = T.sum_dim(self, dims, True)
    return view_public(r, size) if lead else r


@public("torch.broadcast_shapes")
def broadcast_shapes(*shapes: Any) -> Any:
    """The shape that tensors of these shapes broadcast to.

    >>> import wengert as torch
    >>> torch.broadcast_shapes((2, 1), (3,), 1)
    torch.Size([2, 3])
    """
    from .._dtypes import make_size

    result: list[int] = []
    for k, shape in enumerate(shapes):
        if isinstance(shape, (tuple, list)):
            shape = tuple(operator.index(n) for n in shape)
        else:
            shape = (operator.index(shape),)
        if any(n < 0 for n in shape):
            n = next(n for n in shape if n < 0)
            raise RuntimeError(f"Trying to create tensor with negative dimension ({n}): ({n})")
        result = [1] * (len(shape) - len(result)) + result
        for i in range(-1, -len(shape) - 1, -1):
            n = shape[i]
            if n in (1, result[i]):
                continue
            if result[i] != 1:
                raise RuntimeError(
                    f"Attempting to broadcast a dimension of length {n} at {i}! Mismatching argument at index {k} had {shape}; "
                    f"but expected shape should be broadcastable to {result}"
                )
            result[i] = n
    return make_size(tuple(result))


@public("torch.broadcast_tensors")
def broadcast_tensors(*tensors: Any) -> tuple[Tensor, ...]:
    """The tensors expanded to their common shape."""
    if len(tensors) == 1 and isinstance(tensors[0], (tuple, list)):
        tensors = tuple(tensors[0])
    shape: tuple[int, ...] = ()
    for k, x in enumerate(tensors):
        mine = tuple(payload(x, "broadcast_tensors").shape)
        try:
            shape = np.broadcast_shapes(shape, mine)
        except ValueError:
            from .._dispatch import broadcast_error

            other = next(y for y in tensors[:k] if not _fits(y, x))
            raise broadcast_error(other, x) from None
    return tuple(x if tuple(x._a.shape) == shape else expand(x, shape) for x in tensors)


def _fits(x: Tensor, y: Tensor) -> bool:
    try:
        np.broadcast_shapes(tuple(x._a.shape), tuple(y._a.shape))
    except ValueError:
        return False
    return True


@public("torch.atleast_1d")
def atleast_1d(*tensors: Any) -> Any:
    """Each tensor, a 0-dimensional one with one dimension."""
    return _each(tensors, "atleast_1d", lambda x: view_public(x, (1,)) if x._a.ndim == 0 else x)


@public("torch.atleast_2d")
def atleast_2d(*tensors: Any) -> Any:
    """Each tensor with at least two dimensions; a vector becomes a row."""
    return _each(
        tensors,
        "atleast_2d",
        lambda x: view_public(x, (1, 1)) if x._a.ndim == 0 else unsqueeze_dim(x, 0) if x._a.ndim == 1 else x,
    )


@public("torch.atleast_3d")
def atleast_3d(*tensors: Any) -> Any:
    """Each tensor with at least three dimensions; a vector of n becomes (1, n, 1), a matrix (m, n) becomes (m, n, 1)."""

    def at_least(x: Tensor) -> Tensor:
        ndim = x._a.ndim
        if ndim == 0:
            return view_public(x, (1, 1, 1))
        if ndim == 1:
            return unsqueeze_dim(unsqueeze_dim(x, 0), 2)
        return unsqueeze_dim(x, 2) if ndim == 2 else x

    return _each(tensors, "atleast_3d", at_least)


def _each(tensors: tuple[Any, ...], name: str, fn: Callable[[Tensor], Tensor]) -> Any:
    several = len(tensors) != 1
    if not several and isinstance(tensors[0], (tuple, list)):
        several, tensors = True, tuple(tensors[0])
    for x in tensors:
        payload(x, name)
    return tuple(fn(x) for x in tensors) if several else fn(tensors[0])
