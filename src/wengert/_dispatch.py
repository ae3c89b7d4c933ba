"""Off the hot path: modes, operands of several dtypes, Python numbers, values of transforms, and refusals.

The templates in ``_kinds`` come here when one of their few tests fails. Each function either makes the arguments fit
for the hot path and calls the operator again, or raises PyTorch's error.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _dtypes
from ._backends.numpy import INEXACT
from ._errors import noted, where
from ._inference import mark_results
from ._modes import MODE
from ._node import AccumulateGrad
from ._registry import T, Info
from ._tensor import Tensor, stale_views, wrap

NO_GRAD_VIEW, MULTI_OUTPUT_VIEW, CUSTOM_VIEW, INFERENCE_VIEW = 2, 1, 3, 4  # how a view was made, if not ordinarily

slow_hooks: list[Any] = []  # what else wants to see an operator on the slow path: fn(info, args, out) -> result or ...


# ------------------------------------------------------------------------------------------------------------------- modes
def slow(info: Info, args: tuple[Any, ...], out: Any = None) -> Any:
    """Run an operator while some mode is on somewhere (see ``_modes``), or with ``out=``."""
    if out is None and not stale_views and not slow_hooks:
        state = MODE.get()
        if state is None:
            return info.core(*args)
        if state.only_quiet and not info.view:  # no_grad, mostly an optimizer's step on plain tensors
            for a in args:
                if type(a) is Tensor:
                    if a._fn is not None:
                        break
                elif type(a) is not float:
                    break
            else:
                return info.core(*args)
    if out is not None:
        from ._alias import write_out

        return write_out(out, info.op, args)
    if stale_views:
        from ._alias import refresh_all

        refresh_all(args)
    for hook in slow_hooks:
        result = hook(info, args)
        if result is not ...:
            return result
    state = MODE.get()
    if state is None:
        return info.core(*args)
    if not state.grad:
        result = quiet(info, args)
        return mark_results(info, result) if state.inference else result
    result = info.core(*args)
    if state.hooks:
        from ._graph import pack_saved

        pack_saved(result, state.hooks[-1])
    return result


def slow_operator(info: Info, args: tuple[Any, ...], out: Any = None) -> Any:
    """``slow`` for the Python operators: an unknown type is given its own chance."""
    y = args[1]
    if isinstance(y, Tensor) or type(y) in _NUMBER:
        return slow(info, args, out)
    return refuse_quietly(info, *args)


def quiet(info: Info, args: tuple[Any, ...]) -> Any:
    """Run an operator without recording."""
    result = info.core(*[_without_history(a) for a in args])
    if info.view:  # a view stays tied to the tensor it was made from, for its version and for writes in place
        single = isinstance(result, Tensor)
        for r in (result,) if single else result:
            _, op, p, creation = r._v
            r._v = (args[0], op, p, creation or NO_GRAD_VIEW)
    return result


def _without_history(a: Any) -> Any:
    if isinstance(a, Tensor):
        if a._fn is None:
            return a
        t = wrap(a._a)
        t._m = a._m
        return t
    if type(a) in (list, tuple) and any(isinstance(t, Tensor) for t in a):
        return type(a)(_without_history(t) for t in a)
    return a


# ---------------------------------------------------------------------------------------------------------- dtypes, numbers
def kind_of(t: Tensor) -> tuple[Any, str]:
    """An operand as the promotion rules see it."""
    return (logical_dtype(t), "dim" if t._a.ndim else "zero")


def logical_dtype(t: Tensor) -> Any:
    """The NumPy dtype of a tensor whose payload may be a transform's value."""
    a = t._a
    while isinstance(a, Tensor):
        a = a._a
    d = a.dtype
    return getattr(d, "base_dtype", d)


_NUMBER = {
    bool: np.dtype(np.bool_),
    int: np.dtype(np.int64),
    float: np.dtype(np.float64),
    complex: np.dtype(np.complex128),
}


def common_dtype(operands: Any) -> Any:
    """The NumPy dtype that PyTorch computes in, for tensors and Python numbers together."""
    return _dtypes.result_dtype(
        tuple(kind_of(t) if isinstance(t, Tensor) else (_NUMBER[type(t)], "scalar") for t in operands)
    )


def default_np() -> Any:
    """The default floating dtype as NumPy's."""
    return _dtypes.get_default_dtype().np


def cast(t: Any, dtype: Any) -> Any:
    """The tensor in another NumPy dtype, recorded; itself if it is in that dtype already."""
    return t if logical_dtype(t) is dtype else T._to_copy(t, dtype)


def mixed(info: Info, x: Tensor, y: Tensor) -> Any:
    """Two operands of different dtypes, or a plain tensor and the value of a transform."""
    from ._values import Const, Value

    vx, vy = isinstance(x._a, Value), isinstance(y._a, Value)
    if vx or vy or isinstance(x._a, Tensor) or isinstance(y._a, Tensor):
        lifted = push_down((x, y))
        if lifted is not None:
            return info.op(*lifted)
        dx, dy = logical_dtype(x), logical_dtype(y)
        if dx is dy:
            constant = wrap(Const(y._a if vx else x._a))
            return info.op(x, constant) if vx else info.op(constant, y)
    dtype = info.__dict__.get("promote", common_dtype)((x, y))
    if info.to_float and dtype not in INEXACT:  # type: ignore[attr-defined]
        dtype = default_np()
    return info.op(cast(x, dtype), cast(y, dtype))


def mixed_product(info: Info, tensors: Any, p: tuple[Any, ...]) -> Any:
    """Factors of different dtypes: constants that meet values of a transform, or a product that PyTorch refuses."""
    from ._values import Const, Value

    lifted = push_down(tensors)
    if lifted is not None:
        return info.op(*lifted, *p)
    given = [t for t in tensors if t is not None]
    if any(isinstance(t._a, Value) for t in given) and len({logical_dtype(t) for t in given}) == 1:
        constants = [t if t is None or isinstance(t._a, Value) else wrap(Const(t._a)) for t in tensors]
        return info.op(*constants, *p)
    return info.refuse_mixed(info, *tensors, *p)  # type: ignore[attr-defined]


def push_down(tensors: Any) -> list[Any] | None:
    """A tracked tensor from outside of a transform meets a value inside it: it goes inside as a payload.

    So its tape stays outside. ``None`` if there is nothing to do.
    """
    from ._values import Value

    inside = [isinstance(t, Tensor) and isinstance(t._a, Value) for t in tensors]
    if not any(inside):
        return None
    outside = [isinstance(t, Tensor) and not i and t._fn is not None for t, i in zip(tensors, inside, strict=True)]
    if not any(outside):
        return None
    return [wrap(t) if o else t for t, o in zip(tensors, outside, strict=True)]


def care(info: Info, x: Tensor, y: Any = None) -> Any:
    """Operands of a dtype that is not the hot path's (mostly an integer one), possibly with a Python number.

    A declaration's ``check(info, x, y, dtype)`` refuses the dtypes that PyTorch refuses, ``integer`` is the body for
    integers and bools. Nothing of this records.
    """
    number = info.arity == 2 and not isinstance(y, Tensor)
    if info.arity == 1:
        dtype = logical_dtype(x)
    else:
        dtype = info.__dict__.get("promote", common_dtype)((x, y))
    check = info.__dict__.get("check")
    if check is not None:
        check(info, x, y, dtype)
    if info.to_float and dtype not in INEXACT:
        dtype = default_np()
    if info.arity == 1:
        return info.op(cast(x, dtype)) if info.to_float else _integers(info, x)
    if dtype in INEXACT:
        return info.op(cast(x, dtype), y if number and type(y) is not complex else cast_operand(y, dtype))
    return _integers(info, cast(x, dtype), cast_operand(y, dtype))


def _integers(info: Info, *operands: Tensor) -> Any:
    """Run an operator's body for integers, or the array library's function where there is none."""
    from ._registry import XP

    payloads = [t._a for t in operands]
    xp = XP[type(payloads[0])]
    body = info.__dict__.get("integer")
    try:
        if body is not None and hasattr(xp, "lib"):
            return wrap(body(xp.lib, *payloads))
        return wrap(getattr(xp, info.name)(*payloads))
    except ValueError as error:
        return second_operand(info, operands[0], operands[1], error)


def cast_operand(y: Any, dtype: Any) -> Any:
    """A tensor, or a Python number as a 0-dimensional tensor, in this dtype; integers wrap around as in PyTorch."""
    if isinstance(y, Tensor):
        return cast(y, dtype)
    return wrap(np.asarray(y).astype(dtype))


# --------------------------------------------------------------------------------------------------------------- refusals
def type_text(value: Any) -> str:
    """A value's type as PyTorch's messages name it."""
    ty = type(value)
    return ty.__name__ if ty.__module__ in ("builtins",) or isinstance(value, Tensor) else f"{ty.__module__}.{ty.__name__}"


def first_operand(info: Info, *args: Any) -> Any:
    """An argument that must be a tensor is none."""
    from ._values import Value

    tensors = args[: info.arity]
    if any(isinstance(a, Value) for a in tensors):
        from ._values import bind

        return bind(info, *args)
    if info.__dict__.get("number_first") and type(args[0]) in _NUMBER and (isinstance(args[1], Tensor) or type(args[1]) in _NUMBER):
        return info.op(cast_operand(args[0], common_dtype(args)), args[1])
    if info.__dict__.get("overloads"):
        raise _no_overload(info, *args[:2])
    for position, a in enumerate(tensors):
        if not isinstance(a, Tensor):
            name = ("input", "other", "tensor2")[position]
            raise noted(
                TypeError(
                    f"{info.called}(): argument '{name}' (position {position + 1}) must be Tensor, not {type_text(a)}"
                ),
                "What to do: make it a tensor first, with torch.tensor(...) or torch.as_tensor(...).",
            )
    raise AttributeError(f"{info.name}: a tensor without payload")


def second_operand(info: Info, x: Tensor, y: Any, error: Exception | None = None) -> Any:
    """The second operand is not a tensor, or its shape does not fit."""
    return _second(info, x, y, error, False)


def refuse_quietly(info: Info, x: Tensor, y: Any, error: Exception | None = None) -> Any:
    """As ``second_operand``, for the Python operators: an unknown type is given its own chance."""
    return _second(info, x, y, error, True)


def _second(info: Info, x: Tensor, y: Any, error: Exception | None, operator: bool) -> Any:
    from ._values import Const, Value

    if error is not None:
        if isinstance(error, TypeError):
            raise not_implemented(info, x) from None
        if isinstance(y, Tensor):
            raise broadcast_error(x, y) from None
        raise error
    if isinstance(y, Value):
        return info.op(x, wrap(y))
    if not info.__dict__.get("numbers", True):
        raise TypeError(f"{info.called}(): argument 'other' (position 2) must be Tensor, not {type_text(y)}")
    if isinstance(y, np.generic):
        return info.op(x, y.item())
    if type(y) in (bool, complex):
        if isinstance(x._a, Value) or isinstance(x._a, Tensor):
            return info.op(x, wrap(Const(np.asarray(y).astype(common_dtype((x, y))))))
        if type(y) is bool and logical_dtype(x) in INEXACT:
            return info.op(x, int(y))
        dtype = common_dtype((x, y))
        return info.op(cast(x, dtype), cast_operand(y, dtype))
    if isinstance(y, int) or isinstance(y, float):  # a subclass, such as an IntEnum
        return info.op(x, int(y) if isinstance(y, int) else float(y))
    if operator:
        if isinstance(y, np.ndarray):
            return info.op(x, wrap(np.asarray(y)))
        return NotImplemented
    if not info.__dict__.get("overloads"):
        raise TypeError(f"{info.called}(): argument 'other' (position 2) must be Tensor, not {type_text(y)}")
    raise _no_overload(info, x, y)


def _no_overload(info: Info, x: Any, y: Any) -> TypeError:
    return TypeError(
        f"{info.called}() received an invalid combination of arguments - got ({type_text(x)}, {type_text(y)}), but expected "
        "one of:\n * (Tensor input, Tensor other, *, Tensor out = None)\n * (Tensor input, Number other, *, Tensor out = None)\n"
    )


def not_implemented(info: Info, x: Tensor, name: str | None = None) -> NotImplementedError:
    """PyTorch's error for a dtype that an operator does not take."""
    kernel = name or info.__dict__.get("kernel") or f"{info.called}_cpu"
    return NotImplementedError(f"\"{kernel}\" not implemented for '{_dtypes.BY_NUMPY[logical_dtype(x)].scalar_name}'")


def broadcast_error(x: Any, y: Any) -> RuntimeError:
    """PyTorch's error for shapes that do not broadcast, with where the operands came from."""
    a, b = tuple(x.shape), tuple(y.shape)
    n = max(len(a), len(b))
    pa, pb = (1,) * (n - len(a)) + a, (1,) * (n - len(b)) + b
    for dim in range(n - 1, -1, -1):
        if pa[dim] != pb[dim] and pa[dim] != 1 and pb[dim] != 1:
            break
    message = f"The size of tensor a ({pa[dim]}) must match the size of tensor b ({pb[dim]}) at non-singleton dimension {dim}"
    return noted(
        RuntimeError(message),
        f"Why: shapes {list(a)} and {list(b)} do not broadcast: from the last dimension on, sizes must be equal or 1.",
        _origin("a", x),
        _origin("b", y),
        "What to do: reshape, unsqueeze or transpose one of them so that the sizes agree.",
        code="W008",
    )


def _origin(name: str, t: Any) -> str:
    fn = getattr(t, "_fn", None)
    if fn is None or type(fn) is AccumulateGrad:
        return ""
    return f"Where: tensor {name} was made at {where(fn.code, fn.lasti)}"
