"""The in-place forms of operators: ``exp_`` from ``exp``, ``+=`` from ``add``.

NumPy's own function writes to a plain tensor without history or observers. In all other cases the operator runs, and
its result is written into the tensor's memory, version and history (``_tape.views``).
"""

from __future__ import annotations

import functools
from sys import _getframe as getframe
from typing import Any

import numpy as np

from .._arrays.fused import MANY
from .._arrays.library import ARITHMETIC, NUMBERS, lib, silently
from .._arrays.memory import owner_of, repeats, unlocked
from .._arrays.overlap import UNASKED, meets, refuse_met, refuse_repeated
from .._arrays.shared_ufuncs import shared
from .._base import errors as lines
from .._base.constants import type_name
from .._base.dtypes import BLAS_FLOATS, FLOATING, REAL_NUMBERS
from .._base.errors import warn
from .._base.modes import (
    MODE,
    inference_tensors,
    is_grad_enabled,
    saved_tensors_hooks,
    slow_always,
    slow_hooks,
    unhooked,
    writes,
)
from .._base.registry import Operator, own
from .._base.torch_function import recovered, refused_in_place
from .inference import is_inference
from .node import in_place_nodes, ticks
from .promotion import cast
from .tensor import Tensor, stale_views, wrap
from .unrecorded import no_grad_views
from .view_chain import memory_of
from .views import (
    check_inplace,
    check_result,
    count_write,
    count_write_at,
    record_write,
    recorded_inplace,
    refresh_for_write,
    refuse_no_grad_view,
    unrecorded,
    writable,
)

ndarray = np.ndarray


def inplace_form(info: Operator) -> Any:
    """The in-place form of an operator, ``exp_`` from ``exp``: the result is written into the first argument."""
    ufunc = info.ufunc or (getattr(lib, info.libname, None) if info.decl is None else None)
    op = info.op
    if not isinstance(ufunc, np.ufunc) or ufunc.nin != info.arity or ufunc.nout != 1:
        return inplace_of(op, info.name + "_", composed=False)
    ufunc = shared(ufunc)
    name, doc = info.name + "_", f"In-place form of ``{info.name}``."
    if info.arity == 1:
        return own(_unary_inplace(ufunc, op, _fallback), name, doc=doc)
    numbers = REAL_NUMBERS.intersection(info.numbers)
    form = own(_binary_inplace(ufunc, op, _fallback, numbers), name, doc=doc)
    # The Python operator (``+=``) does the same, but lets Python try the method of an unknown operand.
    form.as_operator = own(_binary_inplace(ufunc, op, operator_fallback, numbers), name, doc=doc)
    return form


def _fallback(op: Any, self: Any, *args: Any) -> Any:
    try:
        return apply_inplace(op, self, args)
    except (TypeError, AttributeError):  # the only trace of an operand that overrides operators
        return recovered.run(f"{op.__name__}_", (self, *args))


def python_operand(other: Any) -> Any:
    """Convert the right operand of a Python operator for our operator; ``NotImplemented`` if its type is unknown."""
    if isinstance(other, np.generic):
        return other.item()
    if isinstance(other, (Tensor, bool, int, float, complex)):
        return other
    return wrap(other) if isinstance(other, np.ndarray) else NotImplemented


def operator_fallback(op: Any, self: Any, other: Any) -> Any:
    """An in-place operator with a right operand of any type."""
    operand = python_operand(other)
    if operand is not NotImplemented:
        return apply_inplace(op, self, (operand,))
    if hasattr(type(other), "__torch_function__"):
        return refused_in_place.run(f"{op.__name__}_", self, other)
    return NotImplemented


def inplace_of(fn: Any, name: str, composed: bool = True) -> Any:
    """The in-place form, called ``name``, of a public function: its result is written into its first argument.

    ``composed``: the function is composed of operators, which may save, for example, a view of its first argument.
    """
    apply = apply_composed_inplace if composed else apply_inplace

    def form(self: Tensor, *args: Any, **kwargs: Any) -> Any:
        try:
            if (
                stale_views
                or no_grad_views
                or type(self) is not Tensor
                or _tracked(self, args, kwargs)
                or (slow_hooks and not unhooked(self))
            ):
                return apply(fn, self, args, kwargs)
            refuse_overlap(fn, self, args, kwargs)
            result = fn(self, *args, **kwargs) if kwargs else fn(self, *args)
            return result if result is NotImplemented else _write(self, self, result, getframe(1))
        except (TypeError, AttributeError):  # as in _fallback
            return recovered.run(name, (self, *args), kwargs)

    form.__name__ = form.__qualname__ = name
    form.__doc__ = f"In-place form of ``{name.rstrip('_')}``."
    form.__module__ = "wengert"
    return form


def inplace_one_by_one(fn: Any, name: str, warns: bool = False) -> Any:
    """``inplace_of`` for a function of which PyTorch's kernel writes one element after the other.

    So it may write to an expanded tensor: an element gets what one of its places gets. ``warns``: PyTorch deprecates
    that.
    """
    form = inplace_of(fn, name)

    @functools.wraps(form)
    def one_by_one(self: Any, *args: Any, **kwargs: Any) -> Any:
        if not is_expanded(self):
            return form(self, *args, **kwargs)
        a = self._payload

        def write(into: Any, r: Any) -> None:
            changed = (r != a) & ((r == r) | (a == a))  # nan is what it was
            into[changed] = r[changed]

        return write_expanded(self, name if warns else None, fn, args, kwargs, write)

    return one_by_one


def inplace_with_numbers(form: Any, body: Any) -> Any:
    """An in-place ``form``, but ``body(array, *numbers)`` is written to few plain floats beside numbers."""

    @functools.wraps(form)
    def direct(self: Any, *args: Any, **kwargs: Any) -> Any:
        a = getattr(self, "_payload", None)
        if type(a) is ndarray and a.dtype in BLAS_FLOATS and a.size < MANY and a.flags.writeable and not kwargs:
            if args and REAL_NUMBERS.issuperset(map(type, args)) and unrecorded(self, None):
                try:
                    a[...] = body(a, *args)
                except (TypeError, ArithmeticError, RuntimeWarning):  # ``form`` repeats it, or raises the error
                    pass
                else:
                    count_write_at(self, getframe(1))
                    return self
        return form(self, *args, **kwargs)

    return direct


def is_expanded(self: Any) -> bool:
    """Whether a tensor is a NumPy array that repeats elements of memory that may be written."""
    a = getattr(self, "_payload", None)
    if type(a) is not ndarray or a.flags.writeable or not a.size or (inference_tensors and is_inference(self)):
        return False
    return repeats(a.shape, a.strides) and bool(owner_of(a).flags.writeable)


def write_expanded(self: Tensor, name: str | None, fn: Any, args: Any, kwargs: Any, write: Any) -> Tensor:
    """Write ``fn(self, *args)`` into an expanded tensor by ``write(memory, result)``; ``name``: what to warn of."""
    recorded = _tracked(self, args, kwargs) and is_grad_enabled()
    if stale_views and recorded:
        refresh_for_write(self)
    if no_grad_views:
        refuse_no_grad_view(self)
    if recorded:
        check_inplace(self, True)
    a = self._payload
    result = fn(wrap(a, self._node if recorded else None), *args, **kwargs)
    if name is not None:
        warn_expanded(name)
    write(unlocked(a), result._payload)
    del a  # references to memory are counted: NOTE [ Views and writes in place ]
    if recorded and result._node is not None:
        record_write(self, result._node)
    else:
        count_write(self)
    return self


def warn_expanded(name: str) -> None:
    """PyTorch's warning about a write to an expanded tensor."""
    example = "indices] = tensor" if name == "index_put_" else "mask] = scalar"
    warn(
        f"Use of {name} on expanded tensors is deprecated. Please clone() the tensor before performing this "
        f"operation. This also applies to advanced indexing e.g. tensor[{example}"
    )


def _unary_inplace(ufunc: Any, op: Any, otherwise: Any) -> Any:
    def form(self: Any) -> Any:
        a = getattr(self, "_payload", None)
        if type(a) is not np.ndarray or a.dtype not in FLOATING or not unrecorded(self, None):
            return otherwise(op, self)
        try:
            ufunc(a, a)
        except (ValueError, TypeError):  # read-only memory, or no loop for floats: `otherwise` says so
            return otherwise(op, self)
        except ARITHMETIC:
            pass  # see ``warned``
        count_write_at(self, getframe(1))
        return self

    return form


def _binary_inplace(ufunc: Any, op: Any, otherwise: Any, numbers: Any) -> Any:
    """The path of plain floating tensors: the ufunc writes directly into the memory."""

    def form(self: Any, other: Any) -> Any:
        try:
            a = self._payload
            if type(other) in numbers:
                b = NUMBERS[a.dtype][other]
                fy = None
            else:
                b = other._payload
                fy = other._node
                if b.dtype is not a.dtype:
                    del a  # references to memory are counted: NOTE [ Views and writes in place ]
                    return otherwise(op, self, other)
        except AttributeError:
            return otherwise(op, self, other)
        if type(a) is not ndarray or a.dtype not in FLOATING:
            return otherwise(op, self, other)
        if slow_always or no_grad_views:
            del a  # as above
            if not unrecorded(self, fy):
                return otherwise(op, self, other)
            a = self._payload
        elif self._node is not None or fy is not None:
            state = MODE.get()
            if state is None or state.grad:
                del a
                return otherwise(op, self, other)
        if type(b) is ndarray and (b.base is not None or a.base is not None) and meets(a, b):
            del a, b
            return otherwise(op, self, other)
        try:
            ufunc(a, b, a)
        except (ValueError, TypeError):  # as above, or self would have to be broadcast
            return otherwise(op, self, other)
        except ARITHMETIC:
            warned(ufunc, a, b)
        box = self._box
        cell = None if box is None else box.cell
        if cell is None or cell.writes is None:
            count_write_at(self, getframe(1))
            return self
        f = getframe(1)  # as ``count_write_at`` does
        cell._code = c = f.f_code
        if c is not lines.user_code:
            f = lines.user_frame(f)
            cell._code = f.f_code
        cell._lasti = f.f_lasti
        cell.version += 1
        cell.writes.append(cell._seq)
        cell._seq = next(ticks)
        return self

    return form


def warned(ufunc: Any, a: Any, b: Any) -> None:
    """After ``ufunc(a, b, a)`` raised a warning that the program made an error of (``-W error``).

    NumPy raises it after the loop, when the values are written, except if it worked on a copy because the operands
    overlap.
    """
    if isinstance(b, np.ndarray) and b is not a and np.may_share_memory(a, b):
        silently(ufunc, a, b, a)


def apply_inplace(op: Any, self: Tensor, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None) -> Tensor:
    """Run ``op(self, *args)`` and write the result into ``self``: its memory, its version and its history."""
    if slow_hooks and getattr(writes, "op", None) is not op:
        return _announced(op, self, args, kwargs)
    if not isinstance(self, Tensor):
        raise TypeError(f"argument 'self' must be Tensor, not {type_name(self)}")
    if stale_views and is_grad_enabled():
        refresh_for_write(self)
    if no_grad_views:
        refuse_no_grad_view(self)
    if _tracked(self, args, kwargs) and in_place_nodes.get(op, op) is not None:
        check_inplace(self, True)
        if MODE.get() is None or MODE.get().grad:
            copied = saved_tensors_hooks()  # a hook may keep its argument
            return recorded_inplace(op, bool(copied), self, args, kwargs or {})
    refuse_overlap(op, self, args, kwargs)
    source = self
    if self._node is not None:
        source = wrap(self._payload)
    result = op(source, *args, **kwargs) if kwargs else op(source, *args)
    if result is NotImplemented:
        return result
    return _write(self, source, result, getframe(1))


def _write(self: Tensor, source: Tensor, result: Any, frame: Any) -> Tensor:
    """Write an unrecorded result, computed from ``source``, into ``self``; ``frame``: where the write was asked for."""
    a, r = self._payload, result._payload
    if type(a) is ndarray is type(r) and r.dtype is a.dtype and r.shape == a.shape and a.flags.writeable:
        if r is not a:
            a[...] = r
        count_write_at(self, frame)
        return self
    check_result(self, result)
    a = writable(self)
    if isinstance(a, np.ndarray) and isinstance(result._payload, (np.ndarray, np.generic)):
        if result._payload is not a:
            np.copyto(a, result._payload, casting="unsafe")
    else:
        del a
        from .replaced import replace_payload

        if self._payload.dtype is not result._payload.dtype:
            result = cast(result, self._payload.dtype)
        replace_payload(self, result._payload, source is not self and source._payload is self._payload)
        if getattr(result._payload, "is_traced", False):
            return self  # it is counted
    count_write(self)
    return self


def _announced(op: Any, self: Tensor, args: tuple[Any, ...], kwargs: dict[str, Any] | None) -> Tensor:
    """``apply_inplace`` under hooks that watch operators: it tells them that the in-place form is running."""
    outer = getattr(writes, "op", None)
    writes.op = op
    try:
        return apply_inplace(op, self, args, kwargs)
    finally:
        writes.op = outer


def apply_composed_inplace(
    fn: Any, self: Tensor, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None
) -> Tensor:
    """``apply_inplace`` for a function composed of operators: their saved values of ``self`` must outlive the write."""
    if isinstance(self, Tensor) and _tracked(self, args, kwargs) and is_grad_enabled():
        if stale_views:
            refresh_for_write(self)
        check_inplace(self, True)
        return recorded_inplace(fn, True, self, args, kwargs or {})
    return apply_inplace(fn, self, args, kwargs)


def refuse_overlap(op: Any, self: Tensor, args: Any, kwargs: Any) -> None:
    """Raise PyTorch's error for a write to elements that lie in one place, or in the memory of an operand."""
    a, name = memory_of(self), op.__name__
    if type(a) is not ndarray or name in UNASKED:
        return
    if not a.flags.writeable:
        refuse_repeated(a)
    for t in (*args, *kwargs.values()) if kwargs else args:
        if isinstance(t, Tensor):
            refuse_met(name, a, memory_of(t))


def _tracked(self: Tensor, args: Any, kwargs: Any) -> bool:
    """Whether self or an argument has a history."""
    if self._node is not None:
        return True
    for a in (*args, *kwargs.values()) if kwargs else args:  # noqa: SIM110  a generator takes three times as long
        if isinstance(a, Tensor) and a._node is not None:
            return True
    return False
