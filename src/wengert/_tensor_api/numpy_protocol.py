"""NumPy's functions on tensors: ``np.sin(t)`` and ``np.mean(t)`` are recorded if ``t`` requires grad.

On tensors without history NumPy's functions work as in PyTorch: they compute with the arrays by NumPy's rules, and a
universal function returns a tensor. For tensors that require grad PyTorch raises; here the function is replaced by the
operator of the same meaning, by the tables below. A function without an operator raises PyTorch's error.

The protocols are NEP 13 (``__array_ufunc__``) and NEP 18 (``__array_function__``).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._base.dtypes import PYTHON_NUMBERS
from .._base.errors import noted
from .._base.registry import PUBLIC
from .._kinds.slow_path import cast_operand
from .._tape.promotion import cast, common_dtype
from .._tape.tensor import Tensor, alias_payload, wrap

_torch = PUBLIC["torch"]
_special = PUBLIC["special"]
_linalg = PUBLIC["linalg"]
_fft = PUBLIC["fft"]


# ---- universal functions
SAME_NAME = (
    "add subtract multiply divide true_divide floor_divide remainder fmod float_power negative positive "
    "absolute sign exp exp2 expm1 log log2 log10 log1p sqrt square reciprocal sin cos tan arcsin arccos arctan sinh "
    "cosh tanh arcsinh arccosh arctanh arctan2 hypot deg2rad rad2deg floor ceil trunc maximum minimum fmax fmin "
    "copysign heaviside nextafter logaddexp logaddexp2 ldexp frexp gcd lcm matmul greater greater_equal less "
    "less_equal not_equal logical_and logical_or logical_xor logical_not bitwise_and bitwise_or bitwise_xor "
    "bitwise_not isnan isinf isfinite signbit"
)
OTHER_NAME = {
    "equal": "eq", "power": "pow", "fabs": "abs", "rint": "round", "degrees": "rad2deg", "radians": "deg2rad",
    "conjugate": "conj", "invert": "bitwise_not", "left_shift": "bitwise_left_shift",
    "right_shift": "bitwise_right_shift",
}  # fmt: skip
SPECIAL = (
    "expit logit erf erfc erfcx erfinv gammaln digamma psi i0 i0e i1 i1e ndtr ndtri log_ndtr xlogy xlog1py zeta entr "
    "gammainc gammaincc"
)  # SciPy's
REDUCTIONS = {
    "add": "sum", "multiply": "prod", "maximum": "amax", "minimum": "amin", "logical_and": "all", "logical_or": "any",
}  # fmt: skip
SCANS = {"add": "cumsum", "multiply": "cumprod", "maximum": "cummax", "minimum": "cummin", "logaddexp": "logcumsumexp"}


def _ufunc_table() -> dict[str, Callable[..., Any]]:
    table = {name: _torch[name] for name in SAME_NAME.split()}
    table.update({name: _torch[ours] for name, ours in OTHER_NAME.items()})
    table.update({name: _special[name] for name in SPECIAL.split() if name in _special})
    table["modf"] = lambda x: (_torch["frac"](x), _torch["trunc"](x))
    table["divmod"] = lambda x, y: (_torch["floor_divide"](x, y), _torch["remainder"](x, y))
    return table


UFUNCS = _ufunc_table()


def array_ufunc(self: Tensor, ufunc: Any, method: str, *inputs: Any, out: Any = None, **options: Any) -> Any:
    """``Tensor.__array_ufunc__``."""
    operator = UFUNCS.get(ufunc.__name__)
    if not any(must_record(x) for x in inputs):
        if out is None and not options and operator is not None and _is_operator(ufunc, method, inputs):
            return operator(*_operands(inputs, None))
        return _plain_ufunc(ufunc, method, inputs, out, options)
    if out is not None:
        return _refuse_out(ufunc, inputs, out)
    if method == "__call__" and operator is not None and not options.keys() - {"dtype", "casting", "order", "subok"}:
        return operator(*_operands(inputs, options.get("dtype")))
    if method == "reduce" and ufunc.__name__ in REDUCTIONS and not options.keys() - {"axis", "keepdims", "dtype"}:
        return _reduce(REDUCTIONS[ufunc.__name__], *_operands(inputs, options.pop("dtype", None)), **options)
    if method == "accumulate" and ufunc.__name__ in SCANS and not options.keys() - {"axis", "dtype"}:
        scanned = _torch[SCANS[ufunc.__name__]](*_operands(inputs, options.get("dtype")), options.get("axis", 0))
        return scanned if isinstance(scanned, Tensor) else scanned[0]
    if method == "outer" and operator is not None and not options:
        x, y = _operands(inputs, None)
        x, y = (t if isinstance(t, Tensor) else wrap(np.asarray(t)) for t in (x, y))
        return operator(x.reshape(tuple(x.shape) + (1,) * y.ndim), y)
    raise unrecorded(f"numpy.{ufunc.__name__}" + ("" if method == "__call__" else f".{method}"), inputs)


def _is_operator(ufunc: Any, method: str, inputs: Any) -> bool:
    """Whether this is likely Python's operator on a NumPy number and a tensor, or ``/`` on an array and a tensor.

    PyTorch's tensors handle these in their ``__rmul__``, ``__rtruediv__``, ..., by PyTorch's rules.
    """
    if method != "__call__" or len(inputs) != 2:
        return False
    return isinstance(inputs[0], np.generic) or (ufunc is np.divide and isinstance(inputs[0], np.ndarray))


def must_record(x: Any) -> bool:
    """Whether the tape or a transform must see the computation with this operand."""
    return isinstance(x, Tensor) and (x._node is not None or not isinstance(x._payload, (np.ndarray, np.generic)))


def _plain_ufunc(ufunc: Any, method: str, inputs: Any, out: Any, options: dict[str, Any]) -> Any:
    """Run the function on arrays and return tensors, as in PyTorch."""
    if out is not None:
        options["out"] = tuple(_memory(o) for o in out)
    result = getattr(ufunc, method)(*[_memory(x) for x in inputs], **options)
    if out is not None:
        return out if len(out) > 1 else out[0]
    if isinstance(result, tuple):
        return tuple(wrap(np.asarray(r)) for r in result)
    return result if result is None or method == "outer" else wrap(np.asarray(result))


def _memory(x: Any) -> Any:
    return alias_payload(x) if isinstance(x, Tensor) else x


def _refuse_out(ufunc: Any, inputs: Any, out: Any) -> Any:
    if any(isinstance(o, Tensor) for o in out):
        raise RuntimeError(
            f"{ufunc.__name__}(): functions with out=... arguments don't support automatic differentiation, "
            "but one of the arguments requires grad."
        )
    raise unrecorded(f"numpy.{ufunc.__name__} with out=", inputs)


def unrecorded(what: str, args: Any) -> Exception:
    """PyTorch's error for tensors that require grad, or that hold a transform's value."""
    for x in args:
        if must_record(x):
            try:
                x.numpy()
            except RuntimeError as error:
                return noted(error, f"Why: {what} has no operator of its own here, so it could not be recorded.")
    return TypeError(f"{what} is not supported for tensors that require grad")


def _operands(inputs: Any, dtype: Any) -> list[Any]:
    """Convert arrays to tensors, and numbers to the dtype of the computation; all to ``dtype`` if it is given."""
    tensors = [x for x in inputs if isinstance(x, Tensor)]
    ready: list[Any] = []
    for x in inputs:
        if isinstance(x, np.generic):
            x = x.item()
        elif type(x) not in PYTHON_NUMBERS and isinstance(x, int):  # an IntEnum
            x = int(x)
        if type(x) in PYTHON_NUMBERS:
            x = cast_operand(x, common_dtype((x, tensors[0])))
        elif not isinstance(x, Tensor):
            x = wrap(np.asarray(x))
        ready.append(x if dtype is None else cast(x, np.dtype(dtype)))
    return ready


def _reduce(name: str, x: Tensor, axis: Any = 0, keepdims: bool = False) -> Any:
    if axis is None and not keepdims and name in ("sum", "prod"):
        return _torch[name](x)
    if name in ("sum", "amax", "amin"):
        return _torch[name](x, _all_dims(x) if axis is None else axis, keepdims)
    axes = _all_dims(x) if axis is None else (axis,) if isinstance(axis, int) else axis
    for d in sorted((d % x.ndim for d in axes), reverse=True):
        x = _torch[name](x, d, keepdims)
    return x


def _all_dims(x: Tensor) -> tuple[int, ...]:
    return tuple(range(x.ndim))


# ---- other functions
def array_function(self: Tensor, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
    """``Tensor.__array_function__``."""
    name = func.__module__.removeprefix("numpy").removeprefix(".").replace("_", "")
    name = f"{name}.{func.__name__}" if name in ("linalg", "fft") else func.__name__
    if name in ALWAYS or any(must_record(x) for x in _flat((args, kwargs.values()))):
        operator = FUNCTIONS.get(name)
        if operator is not None:
            return operator(*args, **kwargs)
        if name in UNRECORDED:
            return func._implementation(*_detached(args), **_detached(kwargs))
    try:
        return func._implementation(*args, **kwargs)
    except RuntimeError as error:
        if str(error).startswith("Can't call numpy()"):
            noted(error, f"Why: numpy.{name} has no operator of its own here, so it could not be recorded.")
        raise


def _flat(values: Any) -> Any:
    for x in values:
        if isinstance(x, Tensor) or not hasattr(x, "__iter__") or isinstance(x, (str, np.ndarray, np.generic)):
            yield x
        else:
            yield from _flat(x)


def _detached(x: Any) -> Any:
    if isinstance(x, Tensor):
        return x.detach()
    if isinstance(x, dict):
        return {k: _detached(v) for k, v in x.items()}
    return type(x)(_detached(v) for v in x) if type(x) in (list, tuple) else x


def _like(name: str) -> Any:
    """A maker of arrays like another one, for a tensor that requires grad: writes into a tensor are recorded."""

    def like(a: Any, *args: Any, **kwargs: Any) -> Any:
        x = _tensor(a)
        if not isinstance(x._payload, (np.ndarray, np.generic)):
            return _torch[name](x, *args, **kwargs)
        if name == "full_like" and args and isinstance(args[0], Tensor):
            return wrap(np.zeros_like(alias_payload(x), *args[1:], **kwargs)) + args[0]
        return wrap(getattr(np, name)(alias_payload(x), *args, **kwargs))

    return like


def _tensor(x: Any) -> Any:
    return x if isinstance(x, Tensor) else wrap(np.asarray(x))


def _tensors(xs: Any) -> list[Any]:
    return [_tensor(x) for x in (xs.unbind(0) if isinstance(xs, Tensor) else xs)]


def _reducing(name: str) -> Any:
    return lambda a, axis=None, dtype=None, *, keepdims=False: _reduce(
        name, _operands((a,), dtype)[0], axis, _flag(keepdims)
    )


_sum = _reducing("sum")


def _mean(a: Any, axis: Any = None, dtype: Any = None, *, keepdims: Any = False) -> Any:
    (x,) = _operands((a,), dtype)
    if not (x.is_floating_point() or x.is_complex()):
        x = cast(x, np.dtype(np.float64))  # as NumPy
    if axis is None and not _flag(keepdims):
        return _torch["mean"](x)
    return _torch["mean"](x, _all_dims(x) if axis is None else axis, _flag(keepdims))


def _flag(keepdims: Any) -> bool:
    return keepdims is True  # NumPy's default is a special object


def _spread(name: str) -> Any:
    def spread(a: Any, axis: Any = None, dtype: Any = None, *, ddof: int = 0, keepdims: Any = False) -> Any:
        (x,) = _operands((a,), dtype)
        if not (x.is_floating_point() or x.is_complex()):
            x = cast(x, np.dtype(np.float64))
        return _torch[name](x, axis, correction=ddof, keepdim=_flag(keepdims))

    return spread


def _extreme(name: str) -> Any:
    return lambda a, axis=None, *, keepdims=False: _reduce(name, a, axis, _flag(keepdims))


def _scan(name: str) -> Any:
    def scan(a: Any, axis: Any = None, dtype: Any = None) -> Any:
        (x,) = _operands((a,), dtype)
        return _torch[name](x.reshape(-1), 0) if axis is None else _torch[name](x, axis)

    return scan


def _concatenate(arrays: Any, axis: Any = 0, *, dtype: Any = None) -> Any:
    parts = _operands(_tensors(arrays), dtype)
    return _torch["cat"]([p.reshape(-1) for p in parts], 0) if axis is None else _torch["cat"](parts, axis)


def _stacked(name: str) -> Any:
    return lambda arrays: _torch[name](_tensors(arrays))


def _where(condition: Any, *branches: Any) -> Any:
    condition = _tensor(condition)
    if not branches:
        return _torch["nonzero"](condition.detach(), as_tuple=True)
    return (
        _torch["where"](condition.bool(), *_operands(branches, None))
        if any(isinstance(b, Tensor) for b in branches)
        else _torch["where"](condition.bool(), *(_tensor(b) for b in branches))
    )


def _dot(a: Any, b: Any) -> Any:
    x, y = _operands((a, b), None)
    if not x.ndim or not y.ndim:
        return x * y
    if y.ndim <= 2:
        return _torch["matmul"](x, y)
    return _torch["tensordot"](x, y, ([x.ndim - 1], [y.ndim - 2]))


def _reshape(a: Any, /, shape: Any = None, order: str = "C", **kwargs: Any) -> Any:
    if order not in ("C", "A"):
        raise NotImplementedError(f"numpy.reshape(order={order!r}) of a tensor that requires grad")
    return a.reshape(shape if shape is not None else kwargs["newshape"])


def _expand_dims(a: Any, axis: Any) -> Any:
    for d in sorted(axis) if isinstance(axis, (tuple, list)) else (axis,):
        a = a.unsqueeze(d)
    return a


def _repeat(a: Any, repeats: Any, axis: Any = None) -> Any:
    repeats = repeats if isinstance(repeats, (int, Tensor)) else wrap(np.asarray(repeats))
    return _torch["repeat_interleave"](a, repeats, dim=axis)


def _clip(a: Any, a_min: Any = None, a_max: Any = None, *, min: Any = None, max: Any = None) -> Any:
    bounds = [x if x is None or isinstance(x, (int, float, Tensor)) else _tensor(x) for x in
              (a_min if min is None else min, a_max if max is None else max)]  # fmt: skip
    return _torch["clamp"](a, *bounds)


def _take(a: Any, indices: Any, axis: Any = None) -> Any:
    index = _tensor(indices)
    if axis is None:
        return _torch["take"](a, index)
    axis %= a.ndim
    return a[(slice(None),) * axis + (index,)]


def _flip(m: Any, axis: Any = None) -> Any:
    return _torch["flip"](m, _all_dims(m) if axis is None else (axis,) if isinstance(axis, int) else axis)


def _quantile(a: Any, q: Any, axis: Any = None, *, method: str = "linear", keepdims: Any = False) -> Any:
    q = q if isinstance(q, (float, Tensor)) else cast(_tensor(q), a._payload.dtype)
    return _torch["quantile"](a, q, axis, _flag(keepdims), interpolation=method)


def _percentile(a: Any, q: Any, axis: Any = None, **options: Any) -> Any:
    return _quantile(a, q / 100 if isinstance(q, (int, float)) else np.asarray(q) / 100, axis, **options)


def _average(a: Any, axis: Any = None, weights: Any = None, *, keepdims: Any = False) -> Any:
    if weights is None:
        return _mean(a, axis, keepdims=keepdims)
    x, w = _tensor(a), _tensor(weights)
    if w.shape != x.shape:
        w = w.reshape([-1 if d == axis % x.ndim else 1 for d in range(x.ndim)]).expand(x.shape)
    return _sum(x * w, axis, keepdims=keepdims) / _sum(w, axis, keepdims=keepdims)


def _of_first(fn: Any) -> Any:
    """A function here with the same arguments, of which arrays are converted to tensors."""
    return lambda *args, **kwargs: fn(*(_tensor(a) if isinstance(a, np.ndarray) else a for a in args), **kwargs)


def _fft_of(name: str) -> Any:
    return lambda a, n=None, axis=-1, norm=None: _fft[name](a, n, axis, norm)


def _fftn_of(name: str) -> Any:
    return lambda a, s=None, axes=None, norm=None: _fft[name](a, s, axes, norm)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "sum": _sum, "prod": _reducing("prod"), "mean": _mean, "std": _spread("std"), "var": _spread("var"),
    "average": _average,
    "max": _extreme("amax"), "amax": _extreme("amax"), "min": _extreme("amin"), "amin": _extreme("amin"),
    "median": lambda a, axis=None, *, keepdims=False: _quantile(a, 0.5, axis, keepdims=keepdims),
    "quantile": _quantile, "percentile": _percentile,
    "size": lambda a, axis=None: a.numel() if axis is None else a.shape[axis],
    "cumsum": _scan("cumsum"), "cumprod": _scan("cumprod"),
    "concatenate": _concatenate, "stack": lambda arrays, axis=0: _torch["stack"](_tensors(arrays), axis),
    "vstack": _stacked("vstack"), "hstack": _stacked("hstack"), "dstack": _stacked("dstack"),
    "column_stack": _stacked("column_stack"),
    **dict.fromkeys(("split", "array_split"), lambda ary, indices_or_sections, axis=0: list(
        _torch["tensor_split"](ary, indices_or_sections, axis))),
    "where": _where, "dot": _dot, "inner": lambda a, b: _torch["inner"](*_operands((a, b), None)),
    "outer": lambda a, b: _torch["outer"](*(t.reshape(-1) for t in _operands((a, b), None))),
    "vdot": lambda a, b: _torch["vdot"](*(t.reshape(-1) for t in _operands((a, b), None))),
    "tensordot": lambda a, b, axes=2: _torch["tensordot"](*_operands((a, b), None), axes),
    "kron": lambda a, b: _torch["kron"](*_operands((a, b), None)),
    "einsum": lambda equation, *operands, optimize=None: _torch["einsum"](equation, *_operands(operands, None)),
    "trace": lambda a, offset=0, axis1=0, axis2=1: a.diagonal(offset, axis1, axis2).sum(-1),
    "diag": lambda v, k=0: _torch["diag"](v, k), "diagonal": _of_first(_torch["diagonal"]),
    "tril": lambda m, k=0: _torch["tril"](m, k), "triu": lambda m, k=0: _torch["triu"](m, k),
    "reshape": _reshape, "ravel": lambda a, order="C": _reshape(a, -1, order),
    "transpose": lambda a, axes=None: a.permute(tuple(reversed(range(a.ndim))) if axes is None else tuple(axes)),
    "swapaxes": lambda a, axis1, axis2: a.transpose(axis1, axis2),
    "moveaxis": _torch["movedim"],
    "squeeze": lambda a, axis=None: a.squeeze() if axis is None else a.squeeze(axis), "expand_dims": _expand_dims,
    "broadcast_to": lambda array, shape: array.expand((shape,) if isinstance(shape, int) else tuple(shape)),
    "broadcast_arrays": lambda *arrays: _torch["broadcast_tensors"](*_tensors(arrays)),
    "atleast_1d": _of_first(_torch["atleast_1d"]), "atleast_2d": _of_first(_torch["atleast_2d"]),
    "atleast_3d": _of_first(_torch["atleast_3d"]),
    "tile": lambda a, reps: _torch["tile"](a, (reps,) if isinstance(reps, int) else tuple(reps)),
    "repeat": _repeat, "flip": _flip, "roll": lambda a, shift, axis=None: _torch["roll"](a, shift, axis),
    "rot90": lambda m, k=1, axes=(0, 1): _torch["rot90"](m, k, axes),
    "clip": _clip, "take": _take,
    **dict.fromkeys(("round", "around"), lambda a, decimals=0: (
        _torch["round"](a, decimals=decimals) if a.is_floating_point() else a.clone())),
    "sort": lambda a, axis=-1, **_: _torch["sort"](*((a.reshape(-1), 0) if axis is None else (a, axis)))[0],
    "take_along_axis": lambda arr, indices, axis=-1: _torch["take_along_dim"](arr, _tensor(indices), axis),
    "real": _torch["real"], "imag": lambda val: val.imag if val.is_complex() else val * 0,
    "angle": _torch["angle"], "nan_to_num": lambda x, nan=0.0: _torch["nan_to_num"](x, nan),
    "nansum": lambda a, axis=None: _torch["nansum"](a, axis),
    "nanmean": lambda a, axis=None: _torch["nanmean"](a, axis),
    **{name: _like(name) for name in ("zeros_like", "ones_like", "empty_like", "full_like")},
    "diff": lambda a, n=1, axis=-1: _torch["diff"](a, n, axis), "cross": lambda a, b: _torch["cross"](a, b, dim=-1),
    "trapezoid": lambda y, x=None, dx=1.0, axis=-1: _torch["trapezoid"](y, dx=dx, dim=axis) if x is None
    else _torch["trapezoid"](y, _tensor(x), dim=axis),
    "linalg.norm": lambda x, ord=None, axis=None, keepdims=False: _linalg["norm"](x, ord, axis, keepdims),
    "linalg.svd": lambda a, full_matrices=True, compute_uv=True, hermitian=False: (
        _linalg["svd"](a, full_matrices) if compute_uv else _linalg["svdvals"](a)),
    "linalg.eigh": lambda a, UPLO="L": _linalg["eigh"](a, UPLO),
    "linalg.qr": lambda a, mode="reduced": _linalg["qr"](a, mode),
    "linalg.eigvalsh": lambda a, UPLO="L": _linalg["eigvalsh"](a, UPLO),
    "linalg.inv": _linalg["inv"], "linalg.det": _linalg["det"],
    "linalg.solve": lambda a, b: _linalg["solve"](*_operands((a, b), None)),
    "linalg.cholesky": lambda a, *, upper=False: _linalg["cholesky"](a, upper=upper),
    "linalg.slogdet": _linalg["slogdet"], "linalg.pinv": _linalg["pinv"],
    "linalg.matrix_power": _linalg["matrix_power"],
    "linalg.multi_dot": lambda arrays: _linalg["multi_dot"](_tensors(arrays)),
    **{f"fft.{name}": _fft_of(name) for name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")},
    **{f"fft.{name}": _fftn_of(name) for name in ("fftn", "ifftn", "rfftn", "irfftn")},
}  # fmt: skip
# functions whose NumPy code would go wrong with a tensor's methods
ALWAYS = frozenset(("mean", "repeat", "std", "var", "size", "round", "around"))
UNRECORDED = frozenset(
    ("argmax", "argmin", "argsort", "allclose", "isclose", "array_equal", "array_equiv", "count_nonzero", "nonzero")
    + ("argwhere", "searchsorted", "shape", "ndim", "iscomplexobj", "isrealobj", "result_type", "all", "any")
    + ("sign", "histogram", "unique", "array_repr", "array_str")
)  # functions whose results are piecewise constant in the values
