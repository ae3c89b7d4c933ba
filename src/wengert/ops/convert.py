"""Other dtypes, copies, and writing whole tensors: ``to``, ``clone``, ``detach``, ``copy_``, ``fill_``, ``masked_fill``."""

from __future__ import annotations

from sys import _getframe as getframe
from typing import Any

import numpy as np

from .. import _dtypes
from .._alias import (
    apply_inplace,
    bump,
    check_inplace,
    inplace_of,
    refresh_all,
    unrecorded,
    view_of,
    writable,
    write_recorded,
    written,
)
from .._construct import cpu_only
from .._dispatch import broadcast_error, logical_dtype, type_text
from .._dtypes import as_dtype
from .._dtypes import dtype as Dtype
from .._errors import noted, warn_once
from .._general import general
from .._kinds import linear
from .._modes import M, is_grad_enabled
from .._node import AccumulateGrad, Box, box_of, cell_of
from .._registry import REGISTRY, T, public
from .._saved import payload_dtype
from .._tensor import Tensor, alias_payload, new, stale_views, wrap
from .._values import Batched, Const, Dual, Lift, Value, plain_dtype
from ._ties import recorded
from .create import _dense_like, _empty_in, element
from .shape import ints, matrix_t, payload, squeeze, transpose, unsqueeze
from .strided import as_strided, moved, offset_of, renamed, storage_of


# --------------------------------------------------------------------------------------------------------------- primitives
@linear(
    transpose=lambda xp, g, memory_format: g,
    node="CloneBackward0",
    batch="shape",
    samples=[((2, 3), ("keep",)), ((), ("C",))],
)
def clone(lib, self, memory_format):
    """A copy, of the same order in memory (``keep``), in row-major order (``C``), or with the channels last (``last``)."""
    if memory_format == "C" or type(self) is not np.ndarray or (memory_format == "keep" and self.flags.c_contiguous):
        return self.copy()
    if memory_format == "keep":
        r = _dense_like(self, self.dtype)
    else:
        r = _empty_in(self.shape, self.dtype, _dtypes.channels_last if self.ndim == 4 else _dtypes.channels_last_3d)
    r[...] = self
    return r


def back_to(xp: Any, g: Any, src_shape: tuple[int, ...], src_dtype: Any) -> Any:
    """A cotangent brought back through a broadcast and a change of dtype."""
    if g.shape != src_shape:
        g = xp.sum_to(g, src_shape)
    dtype = plain_dtype(src_dtype)
    return g if plain_dtype(payload_dtype(g)) is dtype else xp._to_copy(g, dtype)


def _batch_copy(U: Any, info: Any, inner: Any, mine: Any, p: Any) -> Any:
    from .._batching import batch_size

    size = batch_size(inner, mine)
    x, src = inner
    if not mine[0]:
        x = U.expand(x, (size, *x.shape))
    if mine[1]:
        src = U.reshape(src, (size,) + (1,) * (x.ndim - src.ndim) + tuple(src.shape[1:]))
    return U.copy(x, src, False)


@general(
    tensors=2,
    grad={
        "self": lambda xp, g: xp.zeros_like(g),
        "src": back_to,
    },
    jvp=lambda xp, tangents, result, self, src, into: (
        None if tangents[1] is None else xp.copy(xp.zeros_like(result), tangents[1], False)
    ),
    holomorphic=False,
    node="CopyBackwards",
    batch=_batch_copy,
    dtypes="fcib",
    samples=[((2, 3), (3,), (False,)), ((2, 3), (), (False,))],
)
def copy(lib, self, src, into):
    """``src`` in the shape and dtype of ``self``; ``into``: written into self's memory."""
    r = self if into else lib.empty(self.shape, self.dtype)
    lib.copyto(r, lib.cast(src, self.dtype) if src.dtype.kind == "c" else src, casting="unsafe")
    return r


COPY = REGISTRY["copy"]


def _copy_name(node: Any) -> str:
    """PyTorch names this node with its namespace; ``fill_`` uses it under its own name."""
    name = type(node).__name__
    return "torch::autograd::CopyBackwards" if name == "CopyBackwards" else name


COPY.node.name = _copy_name
COPY.node.__repr__ = lambda self: f"<{type(self).__name__} object at {id(self):#x}>"  # type: ignore[method-assign,assignment]


@general(
    grad=lambda xp, g: xp.zeros_like(g),
    jvp=lambda xp, tangents, result, self, value: None,
    node="FillBackward0",
    batch="shape",
    dtypes="fcib",
    samples=[((2, 3), (1.5,))],
)
def fill_number(lib, self, value):
    """A tensor of this shape and dtype with one value everywhere."""
    return lib.full(self.shape, value, self.dtype)


@general(
    tensors=3,
    grad={
        "self": lambda xp, g, mask: xp.masked_fill(g, mask, 0),
        "value": lambda xp, g, mask, value_dtype: back_to(xp, xp.masked_fill(g, ~mask, 0), (), value_dtype),
    },
    holomorphic=False,
    batch="elementwise",
    dtypes="fcib",
    samples=lambda rng: [
        ((rng.standard_normal((2, 3)), np.array([True, False, True]), 0.5), ()),
        ((rng.standard_normal((2, 3)), rng.standard_normal((2, 3)) > 0, rng.standard_normal(())), ()),
        ((rng.standard_normal(3), np.array([[True], [False]]), 1.0), ()),
    ],
)
def masked_fill(lib, self, mask, value):
    """``self`` with ``value`` where ``mask`` is true."""
    if isinstance(value, (np.ndarray, np.generic)):
        return lib.where(mask, lib.cast(value, self.dtype), self)
    return lib.where(mask, lib.asarray(value, self.dtype), self)


# ------------------------------------------------------------------------------------------------------------------- copying
_FORMATS = {
    None: "keep",
    _dtypes.preserve_format: "keep",
    _dtypes.contiguous_format: "C",
    _dtypes.channels_last: "last",
    _dtypes.channels_last_3d: "last",
}


def _order(memory_format: Any, rank: int) -> str:
    if memory_format is _dtypes.channels_last and rank != 4:
        raise RuntimeError("required rank 4 tensor to use channels_last format")
    if memory_format is _dtypes.channels_last_3d and rank != 5:
        raise RuntimeError("required rank 5 tensor to use channels_last_3d format")
    try:
        return _FORMATS[memory_format]
    except (KeyError, TypeError):
        raise TypeError(
            f"clone(): argument 'memory_format' must be torch.memory_format, not {type_text(memory_format)}"
        ) from None


@public("torch.clone Tensor.clone")
def clone_public(input: Tensor, *, memory_format: Any = None) -> Tensor:
    """A copy that gradients flow through.

    >>> import wengert as torch
    >>> x = torch.ones(2, requires_grad=True)
    >>> x.clone()
    tensor([1., 1.], grad_fn=<CloneBackward0>)
    """
    if memory_format is None:
        try:
            return clone(input, "keep")
        except AttributeError:
            payload(input, "clone")
            raise
    return clone(input, _order(memory_format, payload(input, "clone").ndim))


@public("Tensor.contiguous")
def contiguous(self: Tensor, memory_format: Any = None) -> Tensor:
    """The tensor itself if its elements lie in memory in row-major order, else a copy in which they do."""
    a = self._a
    if type(a) is not np.ndarray:
        return self
    if memory_format is None or memory_format is _dtypes.contiguous_format:
        return self if a.flags.c_contiguous else clone(self, "C")
    if memory_format is _dtypes.preserve_format:
        raise RuntimeError("preserve memory format is unsupported by the contiguous operator")
    _order(memory_format, a.ndim)
    back = a.transpose(0, *range(2, a.ndim), 1)
    return self if back.flags.c_contiguous else clone(self, "last")


# ---------------------------------------------------------------------------------------------------------------- converting
def converted(self: Tensor, dtype: Dtype, force: bool = False, memory_format: Any = None) -> Tensor:
    """The tensor in another dtype; itself if it is in that dtype already, unless a copy is forced."""
    want = dtype.np
    same = logical_dtype(self) is want
    if same and not force:
        if memory_format is None or memory_format is _dtypes.preserve_format:
            return self
        x = contiguous(self, memory_format)
        return self if x is self else renamed(x, "ToCopyBackward0")
    order = "keep" if memory_format is None else _order(memory_format, self._a.ndim)
    if same:
        return renamed(clone(self, order), "ToCopyBackward0")
    x = self if dtype.is_floating_point or dtype.is_complex or self._fn is None else detach(self)
    if x._a.dtype.kind == "c" and not dtype.is_complex and want.kind != "b":
        warn_once("Casting complex values to real discards the imaginary part")
    x = T._to_copy(x, want)
    return x if order == "keep" else renamed(clone(x, order), "ToCopyBackward0")


@public("Tensor.to")
def to(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """The tensor in another dtype or on another device: itself if nothing changes and ``copy`` is not asked for.

    ``to(dtype)``, ``to(device, dtype)``, ``to(other)``, with ``non_blocking``, ``copy`` and ``memory_format``.

    >>> import wengert as torch
    >>> torch.ones(2).to(torch.int64)
    tensor([1, 1])
    >>> x = torch.ones(2)
    >>> x.to('cpu') is x
    True
    """
    if len(args) == 1 and not kwargs and type(args[0]) is Dtype:
        return converted(self, args[0])
    dtype, copy_, memory_format = _to_arguments(args, kwargs)
    return converted(self, self.dtype if dtype is None else dtype, copy_, memory_format)


_TO = ("dtype", "device", "non_blocking", "copy", "memory_format")


def _to_arguments(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, bool, Any]:
    unknown = [k for k in kwargs if k not in _TO]
    dtype, device = kwargs.get("dtype"), kwargs.get("device")
    rest = list(args)
    ok = not unknown
    if rest and isinstance(rest[0], Tensor):
        dtype = rest.pop(0).dtype
    elif rest and (isinstance(rest[0], Dtype) or (isinstance(rest[0], type) and rest[0] in (float, int, bool, complex))):
        dtype = as_dtype(rest.pop(0), "to")
    elif rest:
        device = rest.pop(0)
        if rest and (rest[0] is None or not isinstance(rest[0], bool)):
            dtype = rest.pop(0)
    flags = [kwargs.get("non_blocking", False), kwargs.get("copy", False)]
    ok = ok and len(rest) <= 2 and all(isinstance(f, (bool, int)) for f in rest)
    ok = ok and (device is None or isinstance(device, (str, int, _dtypes.device)))
    if not ok:
        got = [type_text(a) for a in args] + [f"{k}={type_text(v)}" for k, v in kwargs.items()]
        raise TypeError(
            f"to() received an invalid combination of arguments - got ({', '.join(got)}), but expected one of:\n"
            " * (torch.device device = None, torch.dtype dtype = None, bool non_blocking = False, bool copy = False, *, "
            "torch.memory_format memory_format = None)\n"
            " * (torch.dtype dtype, bool non_blocking = False, bool copy = False, *, torch.memory_format memory_format = None)\n"
            " * (Tensor tensor, bool non_blocking = False, bool copy = False, *, torch.memory_format memory_format = None)\n"
        )
    flags[: len(rest)] = rest
    if type(device) is int:
        raise noted(
            RuntimeError("Cannot access accelerator device when none is available."),
            "What to do: wengert computes on the CPU: give 'cpu', or leave the device out.",
        )
    cpu_only(device, "to")
    return None if dtype is None else as_dtype(dtype, "to"), bool(flags[1]), kwargs.get("memory_format")


def _converter(name: str, dtype: Dtype) -> None:
    want = None if dtype in (_dtypes.bfloat16, _dtypes.complex32) else dtype.np

    def convert(self: Tensor, memory_format: Any = None) -> Tensor:
        if memory_format is None and self._a.dtype is want:
            return self
        return converted(self, dtype, memory_format=memory_format)

    convert.__name__ = convert.__qualname__ = name
    convert.__doc__ = f"The tensor in dtype ``{dtype!r}``; itself if it is in that dtype already."
    public(f"Tensor.{name}")(convert)


for _name, _dtype in {
    "float": _dtypes.float32, "double": _dtypes.float64, "half": _dtypes.float16, "bfloat16": _dtypes.bfloat16,
    "int": _dtypes.int32, "long": _dtypes.int64, "short": _dtypes.int16, "char": _dtypes.int8, "byte": _dtypes.uint8,
    "bool": _dtypes.bool_, "cfloat": _dtypes.complex64, "cdouble": _dtypes.complex128, "chalf": _dtypes.complex32,
}.items():  # fmt: skip
    _converter(_name, _dtype)


@public("Tensor.type_as")
def type_as(self: Tensor, other: Tensor) -> Tensor:
    """The tensor in the dtype of another."""
    return converted(self, other.dtype)


@public("Tensor.cpu")
def cpu(self: Tensor, memory_format: Any = None) -> Tensor:
    """The tensor itself: it is on the CPU."""
    return self


def _absent(name: str) -> None:
    def absent(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        raise noted(
            AssertionError(f"Torch not compiled with {name.upper()} enabled"),
            "What to do: wengert computes with NumPy on the CPU: leave the call out, or ask torch.cuda.is_available() first.",
        )

    absent.__name__ = absent.__qualname__ = name
    absent.__doc__ = f"There is no {name}: an AssertionError, as in PyTorch built without it."
    public(f"Tensor.{name}")(absent)


for _name in ("cuda", "xpu"):
    _absent(_name)


# ---------------------------------------------------------------------------------------------------------------- detaching
def _without_history(a: Any) -> Any:
    """A payload without tangents and without the tape of an outer transform."""
    if isinstance(a, Dual):
        return Const(_without_history(a.v)) if not isinstance(a.v, Value) else _without_history(a.v)
    if isinstance(a, (Batched, Lift)):
        return type(a)(_without_history(a.v), a.tag)
    if isinstance(a, Tensor):
        return detach(a)
    return a


@public("torch.detach Tensor.detach")
def detach(input: Tensor) -> Tensor:
    """The same memory without history: a leaf that needs no gradient, and shares the version counter.

    >>> import wengert as torch
    >>> x = torch.ones(2, requires_grad=True)
    >>> (x * 2).detach()
    tensor([2., 2.])
    """
    try:
        a = input._a
    except AttributeError:
        a = payload(input, "detach")
    if type(a) is not np.ndarray:
        a = alias_payload(input)
        if not isinstance(a, np.ndarray):
            a = _without_history(a)
    t = new(Tensor)
    t._fn = None
    t._a = a
    t._m = b = Box()
    b.a = a
    b.cell = cell_of(input)
    return t


@public("torch.detach_ Tensor.detach_")
def detach_(self: Tensor) -> Tensor:
    """Cut the tensor off its history, in place."""
    if view_of(self) is not None:
        raise RuntimeError(
            "Can't detach views in-place. Use detach() instead. If you are using DistributedDataParallel (DDP) for training, and "
            "gradient_as_bucket_view is set as True, gradients are views of DDP buckets, and hence detach_() cannot be called on "
            "these gradients. To fix this error, please refer to the Optimizer.zero_grad() function in torch/optim/optimizer.py "
            "as the solution."
        )
    self._fn = None
    if isinstance(self._a, (Value, Tensor)):
        self._a = _without_history(self._a)
    return self


# ---------------------------------------------------------------------------------------------------------- writing into self
def copy_into(self: Tensor, src: Tensor) -> Tensor:
    """``self.copy_(src)`` where a shape that does not fit is ``expand``'s error, as for ``x[...] = v``."""
    if not src._a.ndim and self._a.ndim:
        return fill_(self, src)
    if self._a.shape != src._a.shape:
        from .shape import _expand_size

        _expand_size(tuple(self._a.shape), src)
    return copy_(self, src)


@public("Tensor.copy_")
def copy_(self: Tensor, src: Any, non_blocking: bool = False) -> Tensor:
    """Write another tensor's values, broadcast and in self's dtype, into self.

    >>> import wengert as torch
    >>> torch.zeros(2, 2).copy_(torch.tensor([1, 2]))
    tensor([[1., 2.],
            [1., 2.]])
    """
    if not isinstance(src, Tensor):
        if not isinstance(src, (bool, int, float, complex)):
            raise TypeError(f"copy_(): argument 'other' (position 1) must be Tensor, not {type_text(src)}")
        from .index import number

        src = wrap(number(src, logical_dtype(self)))
    if self._a.shape != src._a.shape:
        if self._fn is not None or src._fn is not None:
            check_inplace(self, True)
        _check_broadcast(self, src)
    return _written_over(self, src, "CopyBackwards")


def _written_over(self: Tensor, src: Tensor, node: str) -> Tensor:
    """Write ``src``, which broadcasts to self, over self."""
    a, s = self._a, src._a
    if type(a) is not np.ndarray:
        a = alias_payload(self)
    if not isinstance(s, (np.ndarray, np.generic)) or not isinstance(a, np.ndarray):
        return apply_inplace(lambda x, v: renamed(copy(x, v, False), node), self, (src,))
    if s.dtype.kind == "c" != a.dtype.kind:
        warn_once("Casting complex values to real discards the imaginary part")
        s = s.real
    if unrecorded(self, src._fn):
        np.copyto(writable(self), s, casting="unsafe")
        written(self, getframe(2))
        return self
    if stale_views and is_grad_enabled():
        refresh_all((self, src))
    tracked = self._fn is not None or src._fn is not None
    if tracked:
        check_inplace(self, True)
    a = writable(self)
    if not tracked or not is_grad_enabled():
        np.copyto(a, s, casting="unsafe")
        bump(self)
        return self
    if np.may_share_memory(a, src._a):
        src = clone(src, "keep")
    # a view's old value goes through the base, which loses what is overwritten: no zeros need to go back to it
    old = wrap(a, None if view_of(self) is not None else self._fn)
    made = copy(old, src, True)
    write_recorded(self, old, made if node == "CopyBackwards" else renamed(made, node))
    return self


def _check_broadcast(self: Tensor, src: Tensor) -> None:
    have, want = tuple(self._a.shape), tuple(src._a.shape)
    try:
        both = np.broadcast_shapes(have, want)
    except ValueError:
        raise broadcast_error(self, src) from None
    if both != have:
        raise RuntimeError(f"output with shape {list(have)} doesn't match the broadcast shape {list(both)}")


def _fill(self: Tensor, value: Any, node: str) -> Tensor:
    """Write one number everywhere."""
    a = self._a
    if type(a) is np.ndarray and (type(value) is float or not value) and a.dtype.kind in "fc" and unrecorded(self, None):
        try:
            a.fill(value)
        except ValueError:  # memory that may not be written to: what follows says why
            pass
        else:
            written(self, getframe(2))
            return self
    if type(a) is np.ndarray and 0 in a.strides and a.size and any(s == 0 and n > 1 for s, n in zip(a.strides, a.shape, strict=True)):
        once = tuple(slice(0, 1) if s == 0 else slice(None) for s in a.strides)
        _fill(self[once], value, node)  # what is repeated is in memory once
        return self
    value = element(value, logical_dtype(self))
    if isinstance(a, (np.ndarray, np.generic)) and (unrecorded(self, None) or not is_grad_enabled()):
        writable(self).fill(value)
        bump(self)
        return self
    return apply_inplace(lambda x: renamed(fill_number(x, value), node), self, ())


@public("Tensor.fill_ torch.fill_")
def fill_(self: Tensor, value: Any) -> Tensor:
    """Write one value, a number or a 0-dimensional tensor, everywhere."""
    if isinstance(value, Tensor):
        _one_value(value, "fill_ only supports 0-dimension value tensor but got tensor with {} dimensions.")
        return _written_over(self, value, "FillBackward3")
    if isinstance(value, np.generic):
        value = value.item()
    if not isinstance(value, (bool, int, float, complex)):
        raise TypeError(
            f"fill_() received an invalid combination of arguments - got ({type_text(value)}), but expected one of:\n"
            " * (Tensor value)\n * (Number value)\n"
        )
    return _fill(self, value, "FillBackward2")


@public("Tensor.zero_ torch.zero_")
def zero_(self: Tensor) -> Tensor:
    """Write zeros everywhere."""
    a = getattr(self, "_a", None)
    if type(a) is np.ndarray and a.flags.writeable and unrecorded(self, None):
        a.fill(0)
        written(self, getframe(1))
        return self
    return _fill(self, 0, "ZeroBackward0")


def _one_value(value: Tensor, text: str) -> None:
    if value._a.ndim:
        raise RuntimeError(text.format(value._a.ndim))


@public("torch.fill")
def fill(input: Tensor, value: Any) -> Tensor:
    """A tensor like ``input`` with one value everywhere."""
    payload(input, "fill")
    if isinstance(value, Tensor):
        _one_value(value, "fill only supports 0-dimension value tensor but got tensor with {} dimensions.")
        return renamed(copy(input, value, False), "FillBackward1")
    return fill_number(input, element(value, logical_dtype(input)))


# ------------------------------------------------------------------------------------------------------------------ masked_fill
@public("torch.masked_fill Tensor.masked_fill")
def masked_fill_public(input: Tensor, mask: Tensor, value: Any) -> Tensor:
    """The tensor with ``value`` (a number or a 0-dimensional tensor) where the bool tensor ``mask`` is true.

    >>> import wengert as torch
    >>> torch.ones(3).masked_fill(torch.tensor([True, False, True]), 0.)
    tensor([0., 1., 0.])
    """
    a = payload(input, "masked_fill")
    if type(value) is float and type(a) is np.ndarray and type(mask) is Tensor and not M:
        m = mask._a
        if type(m) is np.ndarray and m.dtype.kind == "b" and a.dtype.kind in "fc" and _fits_into(m.shape, a.shape):
            r = np.where(m, np.asarray(value, a.dtype), a)
            if input._fn is None:
                return wrap(r)
            t = recorded(MASKED_FILL, (input._fn, None, None), [box_of(mask), None], r)
            t._fn.shapes = [a.shape, m.shape, ()]  # type: ignore[union-attr]
            return t
    if not isinstance(mask, Tensor):
        raise TypeError(
            f"masked_fill() received an invalid combination of arguments - got ({type_text(mask)}, {type_text(value)}), but "
            "expected one of:\n * (Tensor mask, Tensor value)\n * (Tensor mask, Number value)\n"
        )
    if logical_dtype(mask).kind != "b":
        raise RuntimeError(f"masked_fill_ only supports boolean masks, but got mask with dtype {_c_name(mask)}")
    if isinstance(value, Tensor):
        _one_value(
            value, "masked_fill_ only supports a 0-dimensional value tensor, but got tensor with {} dimension(s)."
        )
        if logical_dtype(input).kind in "iu" and isinstance(value._a, (np.ndarray, np.generic)):
            element(value._a.item(), logical_dtype(input))
        return renamed(masked_fill(input, mask, value), "MaskedFillBackward1")
    if isinstance(value, np.generic):
        value = value.item()
    if not isinstance(value, (bool, int, float, complex)):
        raise TypeError(
            f"masked_fill() received an invalid combination of arguments - got (Tensor, {type_text(value)}), but expected one of:\n"
            " * (Tensor mask, Tensor value)\n * (Tensor mask, Number value)\n"
        )
    return masked_fill(input, mask, element(value, logical_dtype(input)))


def _c_name(t: Tensor) -> str:
    names = {"float32": "float", "float64": "double", "int64": "long int", "int32": "int", "uint8": "unsigned char",
             "int16": "short int", "int8": "signed char", "float16": "c10::Half"}  # fmt: skip
    dtype = logical_dtype(t)
    return names.get(dtype.name, dtype.name)


def _fits_into(shape: tuple[int, ...], whole: tuple[int, ...]) -> bool:
    """Whether a shape broadcasts to another, which it leaves as it is."""
    lead = len(whole) - len(shape)
    if lead < 0:
        return False
    return (not lead and shape == whole) or all(n in (1, m) for n, m in zip(shape, whole[lead:], strict=True))


MASKED_FILL = REGISTRY["masked_fill"]
assert MASKED_FILL.formulas.uses == ("mask", "value_dtype")  # type: ignore[attr-defined]
public("Tensor.masked_fill_")(inplace_of(masked_fill_public, "masked_fill_"))


# -------------------------------------------------------------------------------------------------- other shape, in place
def _new_payload(self: Tensor, a: Any, cell: Any) -> None:
    """Give a tensor another array; what was saved of it keeps the old one."""
    moved.append("another array")
    self._a = a
    box = self._m = Box()
    box.a = a
    box.cell = cell
    if type(self._fn) is AccumulateGrad:
        self._fn.box = box


def _view_in_place(view: Any, self: Tensor, name: str) -> Tensor:
    """Make a tensor the view of itself that ``view`` gives; ``name`` is its node's."""
    if stale_views:
        from .._alias import refresh

        refresh(self)
    if self._fn is not None:
        check_inplace(self, True)
    cell = cell_of(self)
    own = view_of(self)
    alias_payload(self)
    old = wrap(self._a, self._fn)
    old._m = self._m
    if own is not None:
        old._v = own
    result = view(old)
    if own is not None:
        self._v = (*result._v[:3], own[3])
    recorded = is_grad_enabled() and result._fn is not None
    if recorded:
        self._fn = renamed(result, name)._fn
    _new_payload(self, result._a, cell)
    bump(self, self._fn.seq if recorded else None)  # type: ignore[union-attr]
    return self


@public("Tensor.unsqueeze_")
def unsqueeze_(self: Tensor, dim: int) -> Tensor:
    """In-place form of ``unsqueeze``."""
    return _view_in_place(lambda x: unsqueeze(x, dim), self, "UnsqueezeBackward1")


@public("Tensor.squeeze_")
def squeeze_(self: Tensor, dim: Any = None) -> Tensor:
    """In-place form of ``squeeze``."""
    number = 3 if dim is None else 5 if isinstance(dim, (tuple, list)) else 4
    return _view_in_place(lambda x: squeeze(x, dim), self, f"SqueezeBackward{number}")


@public("Tensor.transpose_ Tensor.swapaxes_ Tensor.swapdims_")
def transpose_(self: Tensor, dim0: int, dim1: int) -> Tensor:
    """In-place form of ``transpose``."""
    return _view_in_place(lambda x: transpose(x, dim0, dim1), self, "TransposeBackward1")


@public("Tensor.t_")
def t_(self: Tensor) -> Tensor:
    """In-place form of ``t``."""
    if self._a.ndim > 2:
        raise RuntimeError(f"t_() expects a tensor with <= 2 dimensions, but self is {self._a.ndim}D")
    return _view_in_place(matrix_t, self, "TBackward1")


@public("Tensor.as_strided_ torch.as_strided_")
def as_strided_(self: Tensor, size: Any, stride: Any, storage_offset: int | None = None) -> Tensor:
    """In-place form of ``as_strided``."""
    return _view_in_place(lambda x: as_strided(x, size, stride, storage_offset), self, "AsStridedBackward1")


@public("Tensor.resize_ torch.resize_")
def resize_(self: Tensor, *sizes: Any, memory_format: Any = None) -> Tensor:
    """Another size on the same memory, in row-major order; more memory is taken if it does not suffice.

    New elements are uninitialised. Memory cannot grow in place: if more was taken, tensors that shared the old memory
    keep it.

    >>> import wengert as torch
    >>> torch.arange(6).resize_(2, 2)
    tensor([[0, 1],
            [2, 3]])
    """
    size = ints(sizes, "resize_")
    if self._fn is not None:
        raise RuntimeError("cannot resize variables that require grad")
    if any(n < 0 for n in size):
        raise RuntimeError(f"Trying to create tensor with negative dimension {min(size)}: {list(size)}")
    a = alias_payload(self)
    if not isinstance(a, np.ndarray):
        raise RuntimeError("resize_() is not possible inside of a transform")
    if a.shape == size:
        return self
    r = _resized(a, size)
    cell = cell_of(self)
    own = view_of(self)
    if own is not None and not np.may_share_memory(r, storage_of(a)):
        del self._v
    _new_payload(self, r, cell)
    bump(self)
    return self


def _resized(a: Any, size: tuple[int, ...]) -> Any:
    store, start = storage_of(a), offset_of(a)
    n = 1
    for s in size:
        n *= s
    have = store.nbytes // a.itemsize - start
    strides = np.empty(size, np.bool_).strides if n else (0,) * len(size)
    if n <= have and n:
        from .strided import _at

        return _at(a, size, strides, 0)
    r = np.empty(n, a.dtype)
    if have > 0 and n:
        from .strided import _at

        r[:have] = _at(a, (have,), (1,), 0)
    return r.reshape(size)


@public("Tensor.resize_as_ torch.resize_as_")
def resize_as_(self: Tensor, other: Tensor, *, memory_format: Any = None) -> Tensor:
    """``self.resize_(other.shape)``."""
    return resize_(self, tuple(other._a.shape))


@public("Tensor.set_")
def set_(self: Tensor, source: Any = None, storage_offset: int = 0, size: Any = None, stride: Any = None) -> Tensor:
    """Make a tensor use another's memory and size; without a source, none."""
    if self._fn is not None and is_grad_enabled():
        check_inplace(self, True)
    if source is None:
        _new_payload(self, np.empty(0, self._a.dtype), cell_of(self))
        bump(self)
        return self
    if not isinstance(source, Tensor):
        raise TypeError(f"set_(): argument 'source' (position 1) must be Tensor, not {type_text(source)}")
    if logical_dtype(source) is not logical_dtype(self):
        raise RuntimeError(
            f"Could not set tensor of type {self.dtype.scalar_name} to a tensor of type {source.dtype.scalar_name}"
        )
    a = alias_payload(source)
    if size is not None:
        if stride is None:
            stride = tuple(s // a.itemsize for s in np.empty(ints((size,), "set_"), a.dtype).strides)
        a = as_strided(detach(source), size, stride, storage_offset)._a
    _new_payload(self, a, cell_of(self))
    bump(self)
    return self
