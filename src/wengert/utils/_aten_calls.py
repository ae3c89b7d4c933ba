"""PyTorch's calls for wengert's operators whose names or arguments differ: what ``make_fx`` writes in their place.

Each function is given an operator's arguments, tensors among them, and gives PyTorch's operator, its arguments, and how
many results it has, of which the first is ours. ``call_of`` finds the overload and leaves out defaults; ``asked_as`` is
what a dispatch mode is asked about.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from .._base.aten_names import aten_name
from .._base.constants import contiguous_format, device, strided
from .._base.dtypes import from_numpy_dtype
from .._base.registry import TENSORS, Operator
from .._tape.tensor import Tensor
from ._aten import OpOverload, aten, overload_of
from ._aten_schemas import matching, schemas

Call = tuple[str, tuple[Any, ...], dict[str, Any], int]
CALLS: dict[str, Callable[..., Call]] = {}
_ALL = 9223372036854775807


def _call(function: Callable[..., Call]) -> Callable[..., Call]:
    CALLS[function.__name__] = function
    return function


def call_of(
    name: str, plain: str, args: tuple[Any, ...]
) -> tuple[str, str, tuple[Any, ...], dict[str, Any], int] | None:
    """The operator, overload, arguments and number of results for a call; None if no overload fits.

    Args:
        name: wengert's name of the operator.
        plain: PyTorch's name of it.
        args: its arguments.
    """
    function = CALLS.get(name)
    try:
        target, given, named, count = (plain, args, {}, 1) if function is None else function(*args)
    except (TypeError, IndexError):
        return None
    found = matching(target, given, named)
    return None if found is None else (target, *found, count)


def asked_as(info: Operator, args: tuple[Any, ...]) -> tuple[OpOverload, tuple[Any, ...], dict[str, Any]]:
    """PyTorch's call for one of wengert's operators; wengert's own arguments if there is none with the same result."""
    found = call_of(info.name, aten_name(info), args)
    if found is not None:
        name, overload, placed, named, count = found
        known = {id(t) for t in _leaves(args) if isinstance(t, Tensor)}
        if count in (1, info.outputs) and all(
            id(t) in known for t in _leaves((placed, named)) if isinstance(t, Tensor)
        ):
            return getattr(getattr(aten, name), overload), placed, named
    return overload_of(info, args), args, {}


def linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """``nn.functional.linear`` in PyTorch's steps, of which dispatch modes and subclasses are asked."""
    if weight.ndim != 2 or not x.ndim:
        return NotImplemented
    if bias is not None:
        rows = x if x.ndim == 2 else x.reshape(-1, x.shape[-1])
        product = TENSORS.affine_mm(rows, weight.t(), bias, 1, 1)
    else:
        turned = weight.t()
        if x.ndim == 1:
            return x.unsqueeze(0).mm(turned).squeeze(0)
        product = (x if x.ndim == 2 else x.reshape(-1, x.shape[-1])).mm(turned)
    return product if x.ndim == 2 else product.view(*x.shape[:-1], weight.shape[0])


COMPOSED: dict[str, Callable[..., Tensor]] = {"linear": linear}  # operators that PyTorch divides before it asks


def cast_answer(op: OpOverload, answer: Any, count: int, asked: str) -> Any:
    """What a dispatch mode or a subclass answered for an operator with so many results (-1: a list of them).

    ``asked``: the lines of the error that name who was asked.
    """
    if answer is NotImplemented:
        raise TypeError(
            f"Multiple dispatch failed for 'torch._ops.{op}'; all __torch_dispatch__ handlers returned NotImplemented:"
            f"\n\n{asked}\nFor more information, try re-running with TORCH_LOGS=not_implemented"
        )
    if count != 1 and not isinstance(answer, (list, str, tuple)):
        if count == -1:
            raise RuntimeError(
                f"Unable to cast Python instance of type {type(answer)} to C++ type '?' (#define "
                "PYBIND11_DETAILED_ERROR_MESSAGES or compile in debug mode for details)"
            )
        raise RuntimeError(f"Object of type '{type(answer).__name__}' is not an instance of 'sequence'")
    for result in (answer,) if count == 1 else answer:
        if result is not None and not isinstance(result, Tensor):
            raise RuntimeError(f"Unable to cast {result} to Tensor")
    return answer


_DIMS = frozenset({"dim", "dim0", "dim1", "dim2", "dims"})
_LAST = frozenset({"argsort", "mode", "sort"})  # whose dimension is the last if none is given
_OTHERWISE = frozenset({"flatten", "movedim", "moveaxis", "repeat_interleave", "unflatten"})  # with dims of their own
_PLACES = frozenset({"index", "start", "end"})


def _placed_on(function: str, args: Any, kwargs: Any) -> dict[str, Any]:
    """Where a copy lies, if the program has said so, also by another tensor."""
    layout = {"layout": strided} if function == "type_as" else {}
    said = "device" in kwargs or any(isinstance(a, (Tensor, str, device)) for a in args[1:])
    return {**layout, "device": device("cpu")} if function in ("to", "type_as") and said else {}


def as_written(
    found: tuple[str, str, tuple[Any, ...], dict[str, Any], int], function: str, args: tuple[Any, ...], kwargs: Any
) -> tuple[str, str, tuple[Any, ...], dict[str, Any], int]:
    """A call with the negative dimensions, places and sizes with which the program called a public function.

    An operator is given none of them; where one of its numbers is one of the program's less the number of dimensions
    (or the size), the program's is shown.
    """
    name, overload, placed, named, count = found
    if function in _OTHERWISE:
        return found
    if function == "contiguous" and name == "clone":
        return name, overload, placed, {"memory_format": contiguous_format}, count
    if name == "_to_copy":
        return name, overload, placed, named | _placed_on(function, args, kwargs), count
    shown = _left_out(name, function, args, kwargs, placed)
    if shown is not None:
        again = matching(name, shown, {} if len(shown) == 1 else named)
        return found if again is None else (name, *again, count)
    negative = {v for v in _numbers((args[1:], kwargs)) if v < 0}
    if function == "ravel" or (function in _LAST and len(args) == 1 and "dim" not in kwargs):
        negative.add(-1)
    tensor = next((v for v in _leaves(placed) if isinstance(v, Tensor)), None)
    declared = [s for s in schemas(name) if s.overload == overload]
    if not negative or tensor is None or not declared:
        return found
    n = tensor.ndim + (name in ("unsqueeze", "stack"))
    parameters = [a for a in declared[0].arguments if not a.keyword_only]
    values = [*placed, *[a.default for a in parameters[len(placed) :]]]
    for i, parameter in enumerate(parameters):
        if function == "__getitem__" and parameter.name in _PLACES and type(values[i]) is int:
            shown = values[i] - tensor.shape[values[1]]
            values[i] = shown if shown in negative else values[i]
        elif function != "__getitem__" and parameter.name in _DIMS:
            values[i] = _less(values[i], n, negative)
        elif parameter.name == "size" and name in ("view", "expand"):
            sizes = list(_numbers(args[1:] or tuple(kwargs.values())))
            if function in ("expand", "reshape", "view") and len(sizes) == len(values[i]):
                values[i] = sizes
            elif function == "ravel":
                values[i] = [-1]
    again = matching(name, tuple(values), named)
    return found if again is None else (name, *again, count)


def _left_out(name: str, function: str, args: Any, kwargs: Any, placed: Any) -> Any:
    """The arguments of a call whose defaults PyTorch hands on in another form, or None."""
    if "pool" in name and len(placed) > 2 and function.partition("_with")[0] in name and "adaptive" not in function:
        given = (*args, None, None, None)[2] if "stride" not in kwargs else kwargs["stride"]
        return (*placed[:2], [], *placed[3:]) if given is None else None  # the kernel's size
    if function in ("norm", "std", "var") and len(args) == 1:
        given = [(key, value) for key, value in kwargs.items() if value not in (None, False)]
        if given in ([], [("p", "fro")]):
            return placed[:1]
    if name == "mean" and function == "adaptive_avg_pool2d":
        return (placed[0], [-1, -2], True)
    if function == "relu6":
        return (placed[0], 0, 6)
    if name == "constant_pad_nd" and len(placed) == 2:
        return (*placed, 0.0)
    if function == "__get__" and name == "transpose":  # mT, mH
        return (placed[0], -2, -1)
    return None


def _less(value: Any, n: int, negative: set[int]) -> Any:
    if isinstance(value, (list, tuple)):
        return [_less(v, n, negative) for v in value]
    return value - n if type(value) is int and value - n in negative else value


def _leaves(value: Any) -> Any:
    """What stands in nested tuples, lists, dicts and slices."""
    if isinstance(value, slice):
        value = (value.start, value.stop, value.step)
    elif isinstance(value, dict):
        value = tuple(value.values())
    if not isinstance(value, (tuple, list)):
        yield value
        return
    for item in value:
        yield from _leaves(item)


def _numbers(value: Any) -> Any:
    return [v for v in _leaves(value) if type(v) is int]


def _to(name: str, *args: Any, results: int = 1, **named: Any) -> Call:
    return name, args, named, results


def _scaled(name: str, x: Any, other: Any, alpha: Any) -> Call:
    return _to(name, x, other, alpha=alpha)


for _name in ("add", "sub", "rsub"):
    CALLS[f"_{_name}_scaled"] = partial(_scaled, _name)


@_call
def sort(x: Any, dim: int, descending: bool, stable: bool) -> Call:
    if stable:
        return _to("sort", x, stable=True, dim=dim, descending=descending, results=2)
    return _to("sort", x, dim, descending, results=2)


@_call
def sum_to(x: Any, shape: Any) -> Call:
    more = x.ndim - len(shape)
    dims = [k for k in range(x.ndim) if k < more or shape[k - more] != x.shape[k]]
    if more and len(dims) > more:
        raise TypeError("two sums in PyTorch")
    return _to("sum", x, dims, not more)


@_call
def convolution_transposed(
    x: Any, w: Any, b: Any, size: Any, stride: Any, padding: Any, dilation: Any, groups: int
) -> Call:
    shown = zip(size, x.shape[2:], w.shape[2:], stride, padding, dilation, strict=True)
    extra = [o - ((n - 1) * s - 2 * p + d * (k - 1) + 1) for o, n, k, s, p, d in shown]
    return _to("convolution", x, w, b, stride, padding, dilation, True, extra, groups)


@_call
def norm_groups(x: Any, w: Any, b: Any, rows: Any, axes: Any, eps: float, shape: Any, _: Any) -> Call:
    size, channels = x[0, 0].numel(), x.shape[1]
    return _to("native_group_norm", x, w, b, x.shape[0], channels, size, rows[0] // x.shape[0], eps, results=3)


@_call
def nll(x: Any, target: Any, weight: Any, reduction: int, ignored: Any) -> Call:
    name = "nll_loss_forward" if x.ndim <= 2 else "nll_loss2d_forward"
    return _to(name, x, target, weight, reduction, -100 if ignored is None else ignored, results=2)


@_call
def attention(q: Any, k: Any, v: Any, mask: Any, causal: bool, scale: float, *_: Any) -> Call:
    named = {} if scale == q.shape[-1] ** -0.5 else {"scale": scale}
    name = "_scaled_dot_product_flash_attention_for_cpu"
    return _to(name, q, k, v, 0.0, causal, attn_mask=mask, **named, results=2)


@_call
def upsample(x: Any, size: Any, mode: str, aligned: bool, scales: Any) -> Call:
    name = f"upsample_{mode}{len(size)}d" if mode != "nearest-exact" else f"_upsample_nearest_exact{len(size)}d"
    corners = () if "nearest" in mode else (aligned,)
    return _to(name, x, list(size), *corners, *(scales or ()))


@_call
def index(tensors: Any, dims: Any) -> Call:
    indices = dict(zip(dims, tensors[1:], strict=True))
    return _to("index", tensors[0], [indices.get(d) for d in range(max(dims) + 1)])


@_call
def pad_border(x: Any, pad: Any, mode: str) -> Call:
    kind = {"replicate": "replication", "reflect": "reflection"}[mode]
    return _to(f"{kind}_pad{len(pad) // 2}d", x, list(pad))


@_call
def sample_at(x: Any, grid: Any, mode: str, padding: str, align: bool, _: Any) -> Call:
    codes = ["bilinear", "nearest", "bicubic"].index(mode), ["zeros", "border", "reflection"].index(padding)
    return _to(f"grid_sampler_{x.ndim - 2}d", x, grid, *codes, align)


def _spread(name: str, x: Any, axes: Any, correction: float, keepdim: bool) -> Call:
    given = () if len(axes) == x.ndim else (list(axes),)
    named: dict[str, Any] = {"correction": correction} if given or correction != 1 else {}
    return _to(name, x, *given, **named, keepdim=keepdim)


CALLS |= {
    "convolution": lambda x, w, b, stride, padding, dilation, groups: _to(
        "convolution", x, w, b, stride, padding, dilation, False, [0] * len(stride), groups
    ),
    "norm_layer": lambda x, w, b, rows, axes, eps, shape, _: _to(
        "native_layer_norm", x, list(shape), w, b, eps, results=3
    ),
    "norm_by_statistics": lambda x, mean, var, w, b, eps, *_: _to(
        "native_batch_norm", x, w, b, mean, var, False, 0.1, eps, results=3
    ),
    "norm_channels": lambda x, w, b, shape, axes, eps, *_: _to(
        "native_batch_norm", x, w, b, None, None, True, 0.1, eps, results=3
    ),
    "_gelu": lambda x, approximate: _to("gelu", x, approximate=approximate),
    "softmax": lambda x, dim: _to("_softmax", x, dim, False),
    "log_softmax": lambda x, dim: _to("_log_softmax", x, dim, False),
    "max_windows": lambda x, kernel, stride, padding, dilation, *_: _to(
        f"max_pool{len(kernel)}d_with_indices", x, kernel, stride, padding, dilation, results=2
    ),
    "mean_windows": lambda x, kernel, stride, padding, _, counted, divisor: _to(
        f"avg_pool{len(kernel)}d", x, kernel, stride, padding, False, counted, divisor
    ),
    "mean_parts": lambda x, size: _to(f"_adaptive_avg_pool{len(size)}d", x, size),
    "max_parts": lambda x, size: _to(f"adaptive_max_pool{len(size)}d", x, size, results=2),
    "_prelu_kernel": lambda x, weight: _to("_prelu_kernel", x, weight),
    **{name: partial(_spread, name) for name in ("var", "std", "var_mean", "std_mean")},
    "slice_dim": lambda x, dim, start, stop, step: _to(
        "slice", x, dim, start, _ALL if stop == x.shape[dim] else stop, step
    ),
    "smooth_l1": lambda x, target, reduction, beta: _to("smooth_l1_loss", x, target, reduction, float(beta)),
    "clone": lambda x, order="keep", *_: _to(
        "clone", x, **({"memory_format": contiguous_format} if order == "C" else {})
    ),
    "_to_copy": lambda x, dtype, *_: _to("_to_copy", x, dtype=from_numpy_dtype(dtype)),
    "gather": lambda x, index, dim: _to("gather", x, dim, index),
    "affine_mm": lambda a, b, x, beta, alpha: _to("addmm", x, a, b, beta=beta, alpha=alpha),
    "affine_mv": lambda a, b, x, beta, alpha: _to("addmv", x, a, b, beta=beta, alpha=alpha),
    "affine_outer": lambda a, b, x, beta, alpha: _to("addr", x, a, b, beta=beta, alpha=alpha),
    "topk": lambda x, k, dim, *flags: _to("topk", x, k, -1 if dim == x.ndim - 1 else dim, *flags),
    "_glu": lambda x, dim: _to("glu", x, -1 if dim == x.ndim - 1 else dim),
    "_rpow": lambda x, base: _to("pow", base, x),
    "_log_sigmoid": lambda x: _to("log_sigmoid_forward", x, results=2),
    "_elu": lambda x, alpha, scale, input_scale: _to("elu", x, alpha, scale, input_scale),
    "_addcmul": lambda x, a, b, value: _to("addcmul", x, a, b, value=value),
    "_addcdiv": lambda x, a, b, value: _to("addcdiv", x, a, b, value=value),
    "affine_bmm": lambda a, b, x, beta, alpha: _to("baddbmm", x, a, b, beta=beta, alpha=alpha),
    "scatter": lambda x, index, src, dim: _to("scatter", x, dim, index, src),
    "scatter_add": lambda x, index, src, dim: _to("scatter_add", x, dim, index, src),
    "any_dim": lambda x, dims, keepdim: _to(
        "any", x, dims[0] if isinstance(dims, (tuple, list)) and len(dims) == 1 else dims, keepdim
    ),
    "all_dim": lambda x, dims, keepdim: _to(
        "all", x, dims[0] if isinstance(dims, (tuple, list)) and len(dims) == 1 else dims, keepdim
    ),
}
