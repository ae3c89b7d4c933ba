"""Emitters of elementwise operators, comparisons, reductions and sorting."""

from __future__ import annotations

import math
from typing import Any

import wengert as torch

from ._building import EMITTERS, Builder, Value, emits, emits_each

INT = torch.int64
_DIRECT = {
    "abs": "Abs", "acos": "Acos", "acosh": "Acosh", "asin": "Asin", "asinh": "Asinh", "atan": "Atan", "atanh": "Atanh",
    "ceil": "Ceil", "cos": "Cos", "cosh": "Cosh", "erf": "Erf", "exp": "Exp", "floor": "Floor", "isinf": "IsInf",
    "isnan": "IsNaN", "log": "Log", "neg": "Neg", "reciprocal": "Reciprocal", "relu": "Relu", "sigmoid": "Sigmoid",
    "sign": "Sign", "sin": "Sin", "sinh": "Sinh", "softsign": "Softsign", "sqrt": "Sqrt", "tan": "Tan", "tanh": "Tanh",
    "alias": "Identity", "clone": "Identity", "contiguous": "Identity", "detach": "Identity", "lift_fresh": "Identity",
    "lift_fresh_copy": "Identity", "positive": "Identity", "selu": "Selu", "real": "Identity",
}  # fmt: skip
_NEED_FLOATS = frozenset(_DIRECT) - {"abs", "neg", "sign", "relu"}


def result_dtype(b: Builder) -> Any:
    """The dtype of the result of the operator that is being emitted."""
    return b.node.meta["val"].dtype


def floats(b: Builder, x: Any) -> str:
    """A value as PyTorch's functions of real numbers take it: an integer as float32."""
    return str(b.cast(x, result_dtype(b)))


def _direct(name: str, op: str) -> None:
    def emitter(b: Builder, x: Value, *_: Any, **__: Any) -> Any:
        identity = op in ("Identity", "IsInf", "IsNaN")
        return b.emit(op, floats(b, x) if name in _NEED_FLOATS and not identity else x.name)

    EMITTERS[name] = emitter


for _name, _op in _DIRECT.items():
    _direct(_name, _op)


def _composed(b: Builder, x: Value) -> Any:
    """Small helpers for compositions: the constant and the operators on the value's dtype."""
    return lambda v: b.const(v, result_dtype(b) if result_dtype(b).is_floating_point else x.dtype)


emits_each(
    {
        "rsqrt": lambda b, x: b.emit("Reciprocal", b.emit("Sqrt", floats(b, x))),
        "square": lambda b, x: b.emit("Mul", x, x),
        "exp2": lambda b, x: b.emit("Pow", b.const(2, result_dtype(b)), floats(b, x)),
        "expm1": lambda b, x: b.emit("Sub", b.emit("Exp", floats(b, x)), b.const(1, result_dtype(b))),
        "log1p": lambda b, x: b.emit("Log", b.emit("Add", floats(b, x), b.const(1, result_dtype(b)))),
        "log2": lambda b, x: b.emit("Mul", b.emit("Log", floats(b, x)), b.const(1 / math.log(2), result_dtype(b))),
        "log10": lambda b, x: b.emit("Mul", b.emit("Log", floats(b, x)), b.const(1 / math.log(10), result_dtype(b))),
        "erfc": lambda b, x: b.emit("Sub", b.const(1, x.dtype), b.emit("Erf", x)),
        "frac": lambda b, x: b.emit("Sub", x, trunc(b, x)),
        "isfinite": lambda b, x: b.emit("Not", b.emit("Or", b.emit("IsInf", x), b.emit("IsNaN", x))),
    }
)


@emits("round")
def round(b: Builder, x: Value, *, decimals: int = 0) -> Any:
    if not decimals:
        return b.emit("Round", x)
    scale = b.const(10.0**decimals, x.dtype)
    return b.emit("Div", b.emit("Round", b.emit("Mul", x, scale)), scale)


@emits("trunc fix")
def trunc(b: Builder, x: Value) -> Any:
    return b.emit("Mul", b.emit("Sign", x), b.emit("Floor", b.emit("Abs", x)))


@emits("nan_to_num")
def nan_to_num(b: Builder, x: Value, nan: Any = None, posinf: Any = None, neginf: Any = None) -> Any:
    info = torch.finfo(x.dtype)
    y = b.emit("Where", b.emit("IsNaN", x), b.const(nan or 0.0, x.dtype), x)
    high, low = (info.max if posinf is None else posinf), (info.min if neginf is None else neginf)
    y = b.emit("Where", b.emit("IsInf", y, detect_negative=0), b.const(high, x.dtype), y)
    return b.emit("Where", b.emit("IsInf", y, detect_positive=0), b.const(low, x.dtype), y)


# ---- activations


emits_each(
    {
        "silu": lambda b, x: b.emit("Mul", x, b.emit("Sigmoid", x)),
        "mish": lambda b, x: b.emit("Mul", x, b.emit("Tanh", b.emit("Softplus", x))),
        "relu6": lambda b, x: b.emit("Clip", x, b.const(0, x.dtype), b.const(6, x.dtype)),
        "hardtanh": lambda b, x, low=-1, high=1: b.emit("Clip", x, b.const(low, x.dtype), b.const(high, x.dtype)),
        "hardsigmoid": lambda b, x: b.emit("HardSigmoid", x, alpha=1 / 6, beta=0.5),
        "hardswish": lambda b, x: b.emit("Mul", x, b.emit("HardSigmoid", x, alpha=1 / 6, beta=0.5)),
        "celu": lambda b, x, alpha=1: b.emit("Celu", x, alpha=float(alpha)),
        "leaky_relu": lambda b, x, slope=0.01: b.emit("LeakyRelu", x, alpha=float(slope)),
        "log_sigmoid": lambda b, x: b.emit("Neg", b.emit("Softplus", b.emit("Neg", x))),
        "softshrink": lambda b, x, lambd=0.5: b.emit("Shrink", x, lambd=float(lambd), bias=float(lambd)),
        "log_softmax _log_softmax": lambda b, x, dim, dtype=None: b.emit("LogSoftmax", floats(b, x), axis=dim),
        "hardshrink": lambda b, x, lambd=0.5: b.emit(
            "Where", b.emit("Greater", b.emit("Abs", x), b.const(lambd, x.dtype)), x, b.const(0, x.dtype)
        ),
        "threshold": lambda b, x, limit, value: b.emit(
            "Where", b.emit("Greater", x, b.const(limit, x.dtype)), x, b.const(value, x.dtype)
        ),
        "softmax _softmax": lambda b, x, dim, dtype=None: (
            b.emit("Softmax", floats(b, x), axis=dim) if x.rank else b.const(1, result_dtype(b))
        ),
    }
)


@emits("gelu")
def gelu(b: Builder, x: Value, *, approximate: str = "none") -> Any:
    half = b.emit("Mul", x, b.const(0.5, x.dtype))
    if approximate == "tanh":
        cube = b.emit("Mul", b.emit("Mul", x, x), x)
        inner = b.emit("Add", x, b.emit("Mul", cube, b.const(0.044715, x.dtype)))
        bent = b.emit("Tanh", b.emit("Mul", inner, b.const(math.sqrt(2 / math.pi), x.dtype)))
    else:
        bent = b.emit("Erf", b.emit("Mul", x, b.const(math.sqrt(0.5), x.dtype)))
    return b.emit("Mul", half, b.emit("Add", bent, b.const(1, x.dtype)))


@emits("elu")
def elu(b: Builder, x: Value, alpha: float = 1, scale: float = 1, input_scale: float = 1) -> Any:
    b.refuse_if(scale != 1 or input_scale != 1, "scale and input_scale other than 1 have no form in ONNX")
    return b.emit("Elu", x, alpha=float(alpha))


@emits("prelu")
def prelu(b: Builder, x: Value, weight: Value) -> Any:
    slope = weight.name
    if b.size(weight, 0) > 1 and x.rank > 2:
        slope = b.emit("Reshape", weight, b.const([-1] + [1] * (x.rank - 2), INT))
    return b.emit("PRelu", x, slope)


@emits("softplus")
def softplus(b: Builder, x: Value, beta: float = 1, threshold: float = 20) -> Any:
    if beta == 1:
        return b.emit("Softplus", x)
    scale = b.const(beta, x.dtype)
    return b.emit("Div", b.emit("Softplus", b.emit("Mul", x, scale)), scale)


@emits("glu")
def glu(b: Builder, x: Value, dim: int = -1) -> Any:
    half = b.size(x, dim) // 2
    first, second = b.emit("Split", x, b.const([half, half], INT), outputs=2, axis=dim)
    return b.emit("Mul", first, b.emit("Sigmoid", second))


# ---- two operands
def binary(b: Builder, op: str, x: Any, y: Any, dtype: Any = None) -> str:
    """An operator on two operands of one dtype, by default the result's."""
    dtype = result_dtype(b) if dtype is None else dtype
    return str(b.emit(op, b.cast(x, dtype), b.cast(y, dtype)))


def common_dtype(x: Any, y: Any) -> Any:
    """The dtype in which two operands are compared."""
    x, y = (torch.empty(v.shape if v.rank == 0 else [1], dtype=v.dtype) if isinstance(v, Value) else v for v in (x, y))
    return torch.result_type(x, y)


@emits("add")
def add(b: Builder, x: Any, y: Any, alpha: Any = 1) -> Any:
    if result_dtype(b) == torch.bool:
        return binary(b, "Or", x, y)
    return binary(b, "Add", x, y if alpha == 1 else _scaled(b, y, alpha))


emits_each(
    {
        "sub subtract": lambda b, x, y, alpha=1: binary(b, "Sub", x, y if alpha == 1 else _scaled(b, y, alpha)),
        "rsub": lambda b, x, y, alpha=1: binary(b, "Sub", y, x if alpha == 1 else _scaled(b, x, alpha)),
        "mul multiply": lambda b, x, y: binary(b, "And" if result_dtype(b) == torch.bool else "Mul", x, y),
        "fmod": lambda b, x, y: b.emit("Mod", b.cast(x, result_dtype(b)), b.cast(y, result_dtype(b)), fmod=1),
        "maximum": lambda b, x, y: binary(b, "Max", x, y),
        "minimum": lambda b, x, y: binary(b, "Min", x, y),
        "logical_not": lambda b, x: b.emit("Not", b.cast(x, torch.bool)),
        "bitwise_not": lambda b, x: b.emit("Not" if x.dtype == torch.bool else "BitwiseNot", x),
        "masked_fill": lambda b, x, mask, value: b.emit("Where", mask, b.cast(value, x.dtype), x),
        "clamp_max": lambda b, x, max: clamp(b, x, None, max),
        "lerp": lambda b, x, end, weight: b.emit(
            "Add", x, b.emit("Mul", b.cast(weight, x.dtype), b.emit("Sub", end, x))
        ),
        "addcmul": lambda b, x, y, z, *, value=1: b.emit(
            "Add", x, b.emit("Mul", b.emit("Mul", y, z), b.const(value, x.dtype))
        ),
        "addcdiv": lambda b, x, y, z, *, value=1: b.emit(
            "Add", x, b.emit("Mul", b.emit("Div", y, z), b.const(value, x.dtype))
        ),
        "to _to_copy type_as": lambda b, x, *_, **__: (
            b.cast(x, result_dtype(b)) if x.dtype != result_dtype(b) else b.emit("Identity", x)
        ),
    }
)


def _scaled(b: Builder, y: Any, alpha: Any) -> Value:
    dtype = result_dtype(b)
    return Value(binary(b, "Mul", y, alpha), dtype, ())


@emits("div divide true_divide")
def div(b: Builder, x: Any, y: Any, *, rounding_mode: Any = None) -> Any:
    if rounding_mode == "floor":
        return floor_divide(b, x, y)
    quotient = binary(b, "Div", x, y)
    if rounding_mode == "trunc" and result_dtype(b).is_floating_point:
        return trunc(b, Value(quotient, result_dtype(b), ()))
    return quotient


@emits("floor_divide")
def floor_divide(b: Builder, x: Any, y: Any) -> Any:
    dtype = result_dtype(b)
    if dtype.is_floating_point:
        return b.emit("Floor", binary(b, "Div", x, y))
    # ONNX truncates quotients of integers: what is left over decides
    rest = b.emit("Mod", b.cast(x, dtype), b.cast(y, dtype))
    return b.emit("Div", b.emit("Sub", b.cast(x, dtype), rest), b.cast(y, dtype))


@emits("remainder")
def remainder(b: Builder, x: Any, y: Any) -> Any:
    dtype = result_dtype(b)
    if not dtype.is_floating_point:
        return binary(b, "Mod", x, y)
    floor = b.emit("Floor", binary(b, "Div", x, y))
    return b.emit("Sub", b.cast(x, dtype), b.emit("Mul", floor, b.cast(y, dtype)))


@emits("pow")
def pow(b: Builder, x: Any, y: Any) -> Any:
    if not isinstance(y, Value) and y == 2 and isinstance(x, Value) and x.dtype == result_dtype(b):
        return b.emit("Mul", x, x)
    return binary(b, "Pow", x, y)


def _comparison(name: str, op: str, negated: bool = False) -> None:
    def emitter(b: Builder, x: Any, y: Any) -> Any:
        dtype = common_dtype(x, y)
        if dtype == torch.bool and op != "Equal":
            dtype = torch.int32
        compared = b.emit(op, b.cast(x, dtype), b.cast(y, dtype))
        return b.emit("Not", compared) if negated else compared

    for each in name.split():
        EMITTERS[each] = emitter


_comparison("eq", "Equal")
_comparison("ne not_equal", "Equal", True)
_comparison("gt greater", "Greater")
_comparison("ge greater_equal", "GreaterOrEqual")
_comparison("lt less", "Less")
_comparison("le less_equal", "LessOrEqual")


def _logical(names: str, op: str, bitwise: str | None) -> None:
    def emitter(b: Builder, x: Any, y: Any) -> Any:
        if result_dtype(b) == torch.bool:
            return b.emit(op, b.cast(x, torch.bool), b.cast(y, torch.bool))
        return binary(b, str(bitwise), x, y)

    for name in names.split():
        EMITTERS[name] = emitter


for _word, _op in (("and", "And"), ("or", "Or"), ("xor", "Xor")):
    _logical(f"__{_word}__ bitwise_{_word} logical_{_word}", _op, f"Bitwise{_op}")


@emits("where")
def where(b: Builder, condition: Value, x: Any, y: Any) -> Any:
    dtype = result_dtype(b)
    return b.emit("Where", b.cast(condition, torch.bool), b.cast(x, dtype), b.cast(y, dtype))


@emits("clamp clip clamp_min")
def clamp(b: Builder, x: Value, min: Any = None, max: Any = None) -> Any:
    result = b.cast(x, result_dtype(b))
    if not isinstance(min, Value) and not isinstance(max, Value):
        return b.emit("Clip", result, *[None if v is None else b.cast(v, result_dtype(b)) for v in (min, max)])
    for op, bound in (("Max", min), ("Min", max)):
        if bound is not None:
            result = b.emit(op, result, b.cast(bound, result_dtype(b)))
    return result


# ---- reductions
def axes_of(x: Value, dim: Any) -> list[int] | None:
    """Dims as ONNX takes them; None: all."""
    if dim is None or (isinstance(dim, list) and not dim):
        return None
    return [d % max(x.rank, 1) for d in (dim if isinstance(dim, (list, tuple)) else [dim])]


def _reduction(names: str, op: str) -> None:
    def emitter(b: Builder, x: Value, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
        return b.reduce(op, b.cast(x, result_dtype(b)), axes_of(x, dim), keepdim)

    for name in names.split():
        EMITTERS[name] = emitter


_reduction("sum", "ReduceSum")
_reduction("mean", "ReduceMean")
_reduction("prod", "ReduceProd")
_reduction("amax", "ReduceMax")
_reduction("amin", "ReduceMin")
_reduction("logsumexp", "ReduceLogSumExp")


@emits("any all")
def any_all(b: Builder, x: Value, dim: Any = None, keepdim: bool = False) -> Any:
    op = "ReduceMax" if "any" in str(b.node.target) else "ReduceMin"
    true = b.cast(Value(b.cast(x, torch.bool), torch.bool, x.shape), torch.int32)
    return b.emit("Cast", b.reduce(op, true, axes_of(x, dim), keepdim), to=b.element_type(torch.bool))


@emits("max min")
def max_min(b: Builder, x: Value, dim: Any = None, keepdim: bool = False) -> Any:
    largest = "max" in str(b.node.target)
    if isinstance(dim, Value):
        return binary(b, "Max" if largest else "Min", x, dim)
    if dim is None:
        return b.reduce("ReduceMax" if largest else "ReduceMin", x.name, None, False)
    values = b.reduce("ReduceMax" if largest else "ReduceMin", x.name, [dim % x.rank], keepdim)
    return [values, b.emit("ArgMax" if largest else "ArgMin", x, axis=dim, keepdims=int(keepdim))]


@emits("argmax argmin")
def arg(b: Builder, x: Value, dim: Any = None, keepdim: bool = False) -> Any:
    op = "ArgMax" if "argmax" in str(b.node.target) else "ArgMin"
    if dim is None:
        flat = b.emit("Reshape", x, b.const([-1], INT))
        return b.emit(op, flat, axis=0, keepdims=0)
    return b.emit(op, x, axis=dim, keepdims=int(keepdim))


def _variance(b: Builder, x: Value, dim: Any, correction: Any, keepdim: bool) -> tuple[str, str]:
    axes = axes_of(x, dim)
    mean = b.reduce("ReduceMean", x.name, axes, True)
    squares = b.emit("Mul", off := b.emit("Sub", x, mean), off)
    total = b.reduce("ReduceSum", squares, axes, keepdim)
    count = b.emit("ReduceProd", b.emit("Gather", b.shape_of(x), b.const(axes or list(range(x.rank)), INT)), keepdims=0)
    count = b.emit("Sub", b.emit("Cast", count, to=b.element_type(x.dtype)), b.const(correction, x.dtype))
    mean = mean if keepdim else b.reduce("ReduceMean", x.name, axes, False)
    return b.emit("Div", total, count), mean


@emits("var std var_mean std_mean")
def var(
    b: Builder, x: Value, dim: Any = None, unbiased: Any = True, keepdim: bool = False, *, correction: Any = None
) -> Any:
    name = b.node.target.overloadpacket.__name__
    variance, mean = _variance(b, x, dim, int(unbiased) if correction is None else correction, keepdim)
    result = b.emit("Sqrt", variance) if name.startswith("std") else variance
    return [result, mean] if name.endswith("_mean") else result


@emits("linalg_vector_norm")
def vector_norm(
    b: Builder, x: Value, ord: float = 2, dim: Any = None, keepdim: bool = False, *, dtype: Any = None
) -> Any:
    axes = axes_of(x, dim)
    if ord == 2:
        return b.reduce("ReduceL2", x.name, axes, keepdim)
    if ord == 1:
        return b.reduce("ReduceL1", x.name, axes, keepdim)
    if math.isinf(ord):
        return b.reduce("ReduceMax" if ord > 0 else "ReduceMin", b.emit("Abs", x), axes, keepdim)
    powers = b.reduce("ReduceSum", b.emit("Pow", b.emit("Abs", x), b.const(ord, x.dtype)), axes, keepdim)
    return b.emit("Pow", powers, b.const(1 / ord, x.dtype))


@emits("cumsum")
def cumsum(b: Builder, x: Value, dim: int, *, dtype: Any = None) -> Any:
    return b.emit("CumSum", b.cast(x, result_dtype(b)), b.const(dim, INT))


@emits("topk")
def topk(b: Builder, x: Value, k: Any, dim: int = -1, largest: bool = True, sorted: bool = True) -> Any:
    return b.emit("TopK", x, b.ints([k]), outputs=2, axis=dim, largest=int(largest), sorted=int(sorted))


@emits("sort argsort")
def sort(b: Builder, x: Value, dim: int = -1, descending: bool = False, *, stable: Any = None) -> Any:
    results = b.emit("TopK", x, b.const([b.size(x, dim)], INT), outputs=2, axis=dim, largest=int(descending))
    return results if "argsort" not in str(b.node.target) else results[1]


@emits("mse_loss l1_loss")
def mse_loss(b: Builder, x: Value, target: Value, reduction: int = 1) -> Any:
    off = b.emit("Sub", x, target)
    each = b.emit("Mul", off, off) if "mse" in str(b.node.target) else b.emit("Abs", off)
    return each if not reduction else b.emit("ReduceMean" if reduction == 1 else "ReduceSum", each, keepdims=0)


@emits("binary_cross_entropy_with_logits")
def logits_loss(
    b: Builder, x: Value, target: Value, weight: Any = None, pos_weight: Any = None, reduction: int = 1
) -> Any:
    b.refuse_if(weight is not None or pos_weight is not None, "weights have no form here")
    each = b.emit("Sub", b.emit("Softplus", x), b.emit("Mul", x, target))
    return each if not reduction else b.emit("ReduceMean" if reduction == 1 else "ReduceSum", each, keepdims=0)


@emits("cross_entropy_loss")
def cross_entropy(
    b: Builder, x: Value, target: Value, weight: Any = None, reduction: int = 1, ignore_index: int = -100,
    label_smoothing: float = 0.0,
) -> Any:  # fmt: skip
    b.refuse_if(target.dtype != INT or label_smoothing, "only class indices without smoothing have a form in ONNX")
    return b.emit("SoftmaxCrossEntropyLoss", x, target, weight, ignore_index=ignore_index,
                  reduction=("none", "mean", "sum")[reduction])  # fmt: skip
