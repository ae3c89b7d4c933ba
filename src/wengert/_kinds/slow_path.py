"""The slow path of operators: modes, mixed dtypes, Python numbers, values of transforms, and errors.

The templates in ``_kinds.recording`` call these functions when one of their few tests fails. Each function either
converts the arguments for the hot path and calls the operator again, or raises PyTorch's error.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from .._arrays.layouts import as_iterated
from .._arrays.library import INEXACT
from .._base.constants import type_name
from .._base.dtypes import BY_NUMPY, FLOAT32, INT64, PYTHON_NUMBERS
from .._base.errors import OtherLibraryError, noted
from .._base.modes import MODE, ahead, inference_tensors, is_grad_enabled, slow_always, slow_hooks, unhooked
from .._base.registry import ARRAYS, XP, Operator, on_payloads
from .._base.torch_function import refused
from .._payloads.transforms import DEEPEST, Constant, Transformed, bind, level_of
from .._tape.error_text import broadcast_error, not_a_tensor, too_large, unbroadcast
from .._tape.inference import is_inference, mark, refuse_saved
from .._tape.promotion import NUMBER_DTYPES, cast, common_dtype, default_np, logical_dtype
from .._tape.tensor import Tensor, alias_payload, make, stale_views, wrap
from .._tape.unrecorded import INFERENCE_VIEW, NO_GRAD_VIEW, made_unrecorded
from .._tape.views import prune, refresh_all
from .out import write_out


# ---- modes
def concerned(*operands: Any) -> bool:
    """Whether a mode concerns an operator on these tensors: ``no_grad`` does not if nothing would be recorded."""
    if slow_always:
        return True
    for t in operands:  # noqa: SIM110  any() would take twice as long
        if getattr(t, "_node", t) is not None:
            return True
    return False


def slow(info: Operator, args: tuple[Any, ...], out: Any = None) -> Any:
    """Run an operator while some mode is on somewhere (see ``_base.modes``), or with ``out=``."""
    if out is None and not stale_views and (not slow_hooks or unhooked(*args)):
        state = MODE.get()
        if state is None:
            return _in_mode(info, args) if inference_tensors else info.core(*args)
        if not state.grad:
            return quiet(info, args, state.inference)
    if out is not None:
        return write_out(out, info.op, args, None, info.out_rule)
    if stale_views and is_grad_enabled():
        if info.no_derivative is None:
            refresh_all(args)
        prune()
    for ref in ahead:
        if (counting := ref()) is not None:
            counting.before(info, args)
    if not slow_hooks:
        return _in_mode(info, args)
    hooks = tuple(slow_hooks)
    if len(hooks) == 1:
        return hooks[0](info, args, partial(_in_mode, info, args))
    return _between(hooks, info, args)


def _between(hooks: tuple[Any, ...], info: Operator, args: tuple[Any, ...]) -> Any:
    """Run an operator inside these hooks, the latest outermost."""
    if not hooks:
        return _in_mode(info, args)
    return hooks[-1](info, args, lambda: _between(hooks[:-1], info, args))


def _in_mode(info: Operator, args: tuple[Any, ...]) -> Any:
    """Run an operator in the grad mode and under the saved-tensor hooks of this thread or task."""
    state = MODE.get()
    if inference_tensors and (info.view or state is None or state.grad) and _only_inference(info, args):
        return quiet(info, args)  # such a tensor may require grad, but PyTorch records nothing
    if state is None:
        return _refusing(info.core(*args)) if inference_tensors else info.core(*args)
    if not state.grad:
        return quiet(info, args, state.inference)
    result = _refusing(info.core(*args)) if inference_tensors else info.core(*args)
    if state.hooks:
        from .._tape.saved_hooks import pack_saved

        pack_saved(result, state.hooks[-1], info, args)
    return result


def _only_inference(info: Operator, args: tuple[Any, ...]) -> bool:
    """Whether all tensors among the arguments are inference tensors. (The number of ``x + 1`` is a normal tensor.)"""
    if info.kind == "binary" and not (isinstance(args[0], Tensor) and isinstance(args[1], Tensor)):
        return False
    tensors = [t for a in args for t in (a if type(a) in (list, tuple) else (a,)) if isinstance(t, Tensor)]
    return bool(tensors) and all(map(is_inference, tensors))


def _refusing(result: Any) -> Any:
    refuse_saved(result)
    return result


def slow_operator(info: Operator, args: tuple[Any, ...], out: Any = None) -> Any:
    """``slow`` for the Python operators, which return NotImplemented for an unknown type."""
    y = args[1]
    if isinstance(y, Tensor) or type(y) in NUMBER_DTYPES:
        return slow(info, args, out)
    return refuse_second(info, *args, position=0)


def quiet(info: Operator, args: tuple[Any, ...], inference: bool = False) -> Any:
    """Run an operator without recording, under no_grad or in inference mode.

    There a new tensor is an inference tensor, a view is one if its base is.
    """
    if info.view:
        creation = INFERENCE_VIEW if inference else NO_GRAD_VIEW
        alias_payload(args[0])
        result = info.core(*_without_histories(args))
        for r in (result,) if isinstance(result, Tensor) else result:
            _, op, p, _ = r._view
            made_unrecorded(r, args[0], op, p, creation)  # it keeps its parent, for its version and for writes in place
            if args[0]._node is not None:  # ``core`` has noted it as a view of a twin
                alias_payload(args[0], r)
        return result
    result = info.core(*_without_histories(args))
    if inference:
        if type(result) is Tensor:
            return mark(result)
        for r in result:
            mark(r)
    return result


def _without_histories(args: Any) -> Any:
    """The arguments, in which tensors with a history are replaced by others without one, on the same memory."""
    out = args
    for k, a in enumerate(args):
        kind = type(a)
        if kind in _WITHOUT or (kind is Tensor and a._node is None):  # most arguments
            continue
        if getattr(a, "_node", None) is not None:
            new: Any = make()
            new._payload = a._payload
            new._box = a._box
            new._node = None
        elif kind is tuple or kind is list:
            if not a or type(a[0]) in PYTHON_NUMBERS:  # sizes, dims
                continue
            new = _without_histories(a)
            if new is a:
                continue
        else:
            continue
        if out is args:
            out = list(args)
        out[k] = new
    return out if out is args or type(args) is list else tuple(out)


_WITHOUT = PYTHON_NUMBERS | {type(None), str, slice}  # types of arguments that have no history


# ---- dtypes, numbers
def mixed_dtypes(info: Operator, x: Tensor, y: Tensor) -> Any:
    """Two operands of different dtypes, or of different levels (``_payloads.transforms``, NOTE [ Levels ])."""
    if not (isinstance(x._payload, _ARRAYS) and isinstance(y._payload, _ARRAYS)):
        lifted = lift_to_common_level((x, y), True)
        if lifted is not None:
            x, y = lifted
            if x._payload.dtype is y._payload.dtype:
                return info.op(x, y)
        if type(x._payload) is not type(y._payload):
            run = getattr(type(x._payload), "with_dense", None) or getattr(type(y._payload), "with_dense", None)
            if run is not None:
                return run(info, x, y)
    dtype = (info.promote or common_dtype)((x, y))
    if info.check is not None:
        checked(info, x, y, dtype)
    if info.to_float and dtype not in INEXACT:
        dtype = default_np()
    if dtype is _HALF and info.name in ("mul", "div") and y._node is None and _is_scalar(y) and not _is_scalar(x):
        return info.op(cast(x, dtype), y._payload.item())  # as with a number: computed in float32 and rounded once
    return info.op(cast(x, dtype), cast(y, dtype))


_HALF = np.dtype(np.float16)
_ARRAYS = (np.ndarray, np.generic)


def _is_scalar(t: Tensor) -> bool:
    return isinstance(t._payload, (np.ndarray, np.generic)) and not t._payload.ndim


def mixed_product(info: Operator, tensors: Any, p: tuple[Any, ...]) -> Any:
    """Factors of different levels, or of different dtypes, for which PyTorch raises."""
    lifted = lift_to_common_level(tensors, True)
    if lifted is not None:
        given = [t for t in lifted if t is not None]
        if len({t._payload.dtype for t in given}) == 1:
            return info.op(*lifted, *p)
    for t in tensors:
        run = getattr(type(getattr(t, "_payload", None)), "with_dense", None)
        if run is not None:
            return run(info, *tensors, *p)
    return info.refuse_mixed(info, *tensors, *p)


def lift_to_common_level(tensors: Any, all_of_them: bool = False) -> list[Any] | None:
    """Bring operands to the highest of their levels: those of lower levels are wrapped as constants, with their tape.

    ``all_of_them``: also wrap operands without a tape, so that all have one dtype. Returns ``None`` if nothing changes.
    """
    top = 0
    for t in tensors:
        if isinstance(t, Tensor) and isinstance(t._payload, (Transformed, Tensor)):
            top = max(top, level_of(t))
    if not top:
        if all_of_them and any(isinstance(t, Tensor) and type(t._payload) is Constant for t in tensors):
            return [_unwrapped(t) if isinstance(t, Tensor) and type(t._payload) is Constant else t for t in tensors]
        return None
    depth = top & DEEPEST
    out: list[Any] = []
    changed = False
    for t in tensors:
        if isinstance(t, Tensor) and level_of(t) != top:
            if t._node is not None:
                t = wrap(Constant(t, depth))
                changed = True
            elif all_of_them and not (type(t._payload) is Constant and t._payload.depth == depth):
                t = wrap(Constant(t._payload.v if type(t._payload) is Constant else t._payload, depth))
                changed = True
        out.append(t)
    return out if changed else None


def _unwrapped(t: Tensor) -> Tensor:
    """The value inside a constant, if no transform is left to which it is constant."""
    inner = t._payload.v
    return inner if isinstance(inner, Tensor) else wrap(inner)


def promote_and_retry(info: Operator, x: Tensor, y: Any = None) -> Any:
    """Run an operator on dtypes that the hot path does not handle, mostly integers, possibly with a Python number.

    A declaration's ``check(info, x, y, dtype)`` raises for the dtypes that PyTorch does not support, ``integer`` is the
    body for integers and bools. None of this is recorded.
    """
    if type(y) is int and -128 <= y < 128 and info.integer is None and not info.to_float:
        a = x._payload
        if type(a) is np.ndarray and a.dtype in SIGNED and a.flags.c_contiguous:  # the most common
            if info.check is not None:
                checked(info, x, y, a.dtype)
            try:
                return wrap(getattr(ARRAYS, info.name)(a, y))
            except ValueError as error:
                return refuse_second(info, x, y, error)
    number = info.arity == 2 and not isinstance(y, Tensor)
    if info.arity == 1:
        dtype = logical_dtype(x)
    elif (
        x._payload.dtype in SIGNED
        and not info.to_float
        and (
            -128 <= y < 128
            if type(y) is int
            else not number and y._payload.dtype is x._payload.dtype and not info.promote
        )
    ):
        return _of_one_dtype(info, x, y)
    else:
        dtype = (info.promote or common_dtype)((x, y))
    if info.check is not None:
        checked(info, x, y, dtype)
    if info.to_float and dtype not in INEXACT:
        dtype = default_np()
    if info.arity == 1:
        return info.op(cast(x, dtype)) if info.to_float else _integers(info, x)
    if dtype in INEXACT:
        return info.op(cast(x, dtype), y if number and type(y) is not complex else cast_operand(y, dtype, x))
    return _integers(info, cast(x, dtype), cast_operand(y, dtype, x))


SIGNED = frozenset(np.dtype(name) for name in ("int8", "int16", "int32", "int64"))  # of plain arrays only


def _of_one_dtype(info: Operator, x: Tensor, y: Any) -> Any:
    """The common case of ``promote_and_retry``: signed integers of one dtype, or with a number that fits each."""
    if info.check is not None:
        checked(info, x, y, x._payload.dtype)
    a, b = x._payload, y if type(y) is int else y._payload
    xp = XP[type(a)]
    try:
        r = getattr(xp, info.name)(a, b) if info.integer is None else info.integer(xp.lib, a, b)
        return wrap(_placed(r, a, b))
    except ValueError as error:
        return refuse_second(info, x, y, error)


def _integers(info: Operator, *operands: Tensor) -> Any:
    """Run an operator's body for integers, or the array library's function if it has none."""
    payloads = [t._payload for t in operands]
    xp = XP[type(payloads[0])]
    if xp is not ARRAYS and hasattr(xp, "library"):
        payloads = [xp.library.own(a) for a in payloads]
    try:
        if info.integer is not None and hasattr(xp, "lib"):
            r = info.integer(xp.lib, *payloads)
        else:
            r = getattr(xp, info.name)(*payloads)
        return wrap(_placed(r, *payloads))
    except ValueError as error:
        return refuse_second(info, operands[0], operands[1], error)


def _placed(r: Any, *operands: Any) -> Any:
    """An elementwise result in the order that PyTorch gives it."""
    if type(r) is not np.ndarray or type(operands[0]) is not np.ndarray or operands[0].flags.c_contiguous:
        return r
    return as_iterated(r, [a for a in operands if type(a) is np.ndarray])


def cast_operand(y: Any, dtype: Any, x: Any = None) -> Any:
    """A tensor, or a Python number as a 0-dimensional tensor beside ``x``, in this dtype; integers wrap around as in
    PyTorch."""
    if isinstance(y, Tensor):
        return cast(y, dtype)
    try:
        a = np.asarray(y).astype(dtype)
    except OverflowError:
        raise too_large(y) from None
    library = None if x is None or isinstance(x._payload, _ARRAYS) else getattr(XP[type(x._payload)], "library", None)
    return wrap(a if library is None else library.own(a))


# ---- refusals
def overridden(info: Operator, args: tuple[Any, ...]) -> Any:
    """The result from an operand whose class overrides operators; ``...`` if no operand does."""
    for a in args:
        if hasattr(type(a), "__torch_function__") and not isinstance(a, Tensor):
            return refused.run(info, args)
    return ...


def refuse_first(info: Operator, *args: Any) -> Any:
    """Handle a first argument that is not a tensor: call its override or raise PyTorch's error."""
    tensors = args[: info.arity]
    result = overridden(info, tensors)
    if result is not ...:
        return result
    if any(isinstance(a, Transformed) for a in tensors):
        return bind(info, *args)
    first = info.number_first
    if (
        first
        and type(args[0]) in NUMBER_DTYPES
        and (isinstance(args[1], Tensor) or (first == "alone" and type(args[1]) in NUMBER_DTYPES))
    ):
        return info.op(cast_operand(args[0], common_dtype(args)), args[1])
    if info.overloads:
        raise misfit(_refused_as(info), *args[:2])
    for position, a in enumerate(tensors):
        if not isinstance(a, Tensor):
            name = ("input", "other", "tensor2")[position]
            raise noted(
                not_a_tensor(_refused_as(info), name, position + 1, a),
                "What to do: make it a tensor first, with torch.tensor(...) or torch.as_tensor(...).",
            )
    raise AttributeError(f"{info.name}: a tensor without payload")


def refuse_unbound(name: str, info: Operator | None, *args: Any) -> Any:
    """Raise Python's error for a Python operator's method that is called by its class on what is no tensor."""
    result = overridden(info, args) if info else ...
    if result is not ...:
        return result
    if name in ("__rsub__", "__pow__", "__floordiv__"):  # in PyTorch these are Python functions
        return NotImplemented
    kind = type(args[0]).__name__
    raise TypeError(f"descriptor '{name}' for 'torch._C.TensorBase' objects doesn't apply to a '{kind}' object")


def refuse(info: Operator, operands: Any, args: tuple[Any, ...]) -> Any:
    """``refuse_first`` for operators on any number of tensors: those of the general kind also accept numbers."""
    result = overridden(info, operands)
    if result is not ...:
        return result
    if any(isinstance(t, Transformed) for t in operands):
        return on_payloads(info, *args)
    general = info.kind == "general"
    if general and any(isinstance(t, np.generic) for t in operands):
        fixed = [t.item() if isinstance(t, np.generic) else t for t in operands]
        return info.core(*fixed, *args[len(fixed) :]) if info.arity >= 0 else info.core(fixed, *args[1:])
    for position, t in enumerate(operands):
        if (
            isinstance(t, Tensor)
            or (t is None and (general or position > 1))
            or (general and type(t) in PYTHON_NUMBERS)
        ):
            continue
        if info.arity < 0:
            raise TypeError(f"expected Tensor as element {position} in argument 0, but got {type_name(t)}")
        raise not_a_tensor(info.called, info.params[position], position + 1, t)
    raise AttributeError(f"{info.name}: a tensor without payload")


def _refused_as(info: Operator) -> str:
    """An operator's name in PyTorch's errors about its arguments: ``special_zeta``."""
    return info.refused_as or info.called


def _no_tensor(info: Operator, y: Any, position: int) -> TypeError:
    return not_a_tensor(_refused_as(info), "other", position, y)


def refuse_second(info: Operator, x: Tensor, y: Any, error: Exception | None = None, position: int = 2) -> Any:
    """Handle a second operand that is not a tensor, or whose shape does not broadcast.

    ``position``: its position in PyTorch's error, 1 for a method, which does not count ``self``. It is 0 for the Python
    operators, which return NotImplemented for an unknown type.
    """
    try:
        result = overridden(info, (x, y))
    except TypeError as refusal:
        if position or isinstance(refusal, OtherLibraryError):
            raise
        return NotImplemented  # raised by an override: to Python the same
    if result is not ...:
        return result
    if error is not None:
        if isinstance(error, TypeError):
            raise unsupported(info, x, error, y) from None
        raise unbroadcast((x, y)) or error from None  # a dispatch of the program's own raises what it likes
    if isinstance(y, Transformed):
        return info.op(x, wrap(y))
    if not info.numbers:
        raise _no_tensor(info, y, position or 2)
    if isinstance(y, np.generic):
        return info.op(x, y.item())
    if type(y) in (bool, complex):
        dtype = common_dtype((x, y))
        if info.check is not None:
            checked(info, x, y, dtype)
        if isinstance(x._payload, (Transformed, Tensor)):
            return info.op(x, wrap(Constant(np.asarray(y).astype(dtype), level_of(x) & DEEPEST)))
        if type(y) is bool and logical_dtype(x) in INEXACT:
            return info.op(x, int(y))
        return info.op(cast(x, dtype), cast_operand(y, dtype, x))
    if isinstance(y, (int, float)):  # a subclass, such as an IntEnum
        return info.op(x, int(y) if isinstance(y, int) else float(y))
    if not position:
        if isinstance(y, np.ndarray):
            return info.op(x, wrap(np.asarray(y)))
        return NotImplemented
    if not info.overloads:
        raise _no_tensor(info, y, position)
    raise misfit(_refused_as(info), x, y) if position == 2 else misfit(f".{_refused_as(info)}", y)


def check_arguments(name: str, *args: Any, **kwargs: Any) -> None:
    """Raise a TypeError for what PyTorch's parser refuses, in a function that would take it and has microseconds."""
    from .argument_parser import refusal

    text = refusal(name, args, kwargs)
    if text:
        raise TypeError(text)


def misfit(name: str, *args: Any, **kwargs: Any) -> TypeError:
    """PyTorch's error for arguments that fit none of the signatures of a function, or of a method: ``.view``."""
    from .argument_parser import refusal, unfit

    return TypeError(refusal(name, args, kwargs) or unfit(name.lstrip("."), args, kwargs))


def checked(info: Operator, x: Tensor, y: Any, dtype: Any) -> None:
    """The operator's own check; as in PyTorch, shapes that do not broadcast come before a dtype without a kernel."""
    try:
        info.check(info, x, y, dtype)  # type: ignore[misc]
    except NotImplementedError:
        if isinstance(y, Tensor):
            try:
                np.broadcast_shapes(tuple(x._payload.shape), tuple(y._payload.shape))
            except ValueError:
                raise broadcast_error(x, y) from None
        raise


def unsupported(info: Operator, x: Tensor, error: TypeError, y: Any = None) -> Exception:
    """The error to raise for a TypeError of an operator's body: PyTorch's error if the dtype is not supported."""
    kind = logical_dtype(x).kind
    if info.check is not None:
        checked(info, x, x if y is None else y, logical_dtype(x))
    group = {"b": "b", "c": "c", "i": "i", "u": "i"}.get(kind, "f")
    return error if group in info.dtypes else not_implemented(info, x)


def not_implemented(info: Operator, x: Tensor, name: str | None = None) -> NotImplementedError:
    """PyTorch's error for a dtype that an operator does not support."""
    kernel = name or info.kernel or f"{info.called}_cpu"
    return NotImplementedError(f"\"{kernel}\" not implemented for '{BY_NUMPY[logical_dtype(x)].scalar_name}'")


def no_complex_grad(name: str, t: Tensor) -> Tensor:
    """The tensor; PyTorch's error if it is complex and records, for operators with a derivative for reals only."""
    if t._node is not None and logical_dtype(t).kind == "c" and is_grad_enabled():
        raise RuntimeError(f"{name} does not support automatic differentiation for outputs with complex dtype.")
    return t


def require(t: Any, groups: str, kernel: str) -> None:
    """Raise PyTorch's error unless a kernel takes a tensor's dtype.

    ``groups``: some of "f" float32 and float64, "h" half precision, "c" complex, "i" signed, "l" int64 alone, "u"
    unsigned, "b" bool.
    """
    if t._payload.dtype is FLOAT32 and "f" in groups:
        return
    dtype = logical_dtype(t)
    group = "h" if dtype.itemsize == 2 and dtype.kind in "fV" else dtype.kind
    if group not in groups and not (dtype == INT64 and "l" in groups):
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{BY_NUMPY[dtype].scalar_name}'")


def refuse_elements(a: Any, bad: Any, text: str) -> None:
    """Raise PyTorch's error for an array of which ``bad`` is true; a compiled function asks at each call."""
    if getattr(a, "is_traced", False):
        a.tracer.check(lambda a: refuse_elements(a, bad, text), a)
    elif isinstance(a, (np.ndarray, np.generic)) and a.size and bad(a):
        raise RuntimeError(text)
