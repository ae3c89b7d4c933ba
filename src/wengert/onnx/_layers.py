"""Emitters of products and of layers: convolutions, pooling, normalization, recurrent layers, attention."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import wengert as torch

from ._building import Builder, Value, emits, emits_each
from ._elementwise import INT, axes_of
from ._shapes import transpose

_END = 9223372036854775807


# ---- products
@emits("linear")
def linear(b: Builder, x: Value, weight: Value, bias: Any = None) -> Any:
    if x.rank == 2 and weight.rank == 2:
        return b.emit("Gemm", x, weight, bias, transB=1)
    turned = b.emit("Transpose", weight, perm=list(range(weight.rank))[::-1])
    product = b.emit("MatMul", x, turned)
    return product if bias is None else b.emit("Add", product, bias)


emits_each(
    {
        "matmul mm bmm mv dot": lambda b, x, y: b.emit("MatMul", x, y),
        "outer": lambda b, x, y: b.emit("Mul", b.emit("Unsqueeze", x, b.const([1], INT)), y),
        "einsum": lambda b, equation, operands, *, path=None: b.emit(
            "Einsum", *operands, equation=equation.replace(" ", "")
        ),
    }
)


@emits("addmm baddbmm")
def addmm(b: Builder, x: Value, y: Value, z: Value, *, beta: Any = 1, alpha: Any = 1) -> Any:
    product = b.emit("MatMul", y, z)
    if alpha != 1:
        product = b.emit("Mul", product, b.const(alpha, x.dtype))
    return b.emit("Add", x if beta == 1 else b.emit("Mul", x, b.const(beta, x.dtype)), product)


@emits("cosine_similarity")
def cosine_similarity(b: Builder, x: Value, y: Value, dim: int = 1, eps: float = 1e-8) -> Any:
    axes = axes_of(x, dim)
    floor = b.const(eps, x.dtype)
    norms = [b.emit("Max", b.reduce("ReduceL2", v.name, axes, True), floor) for v in (x, y)]
    product = b.emit("Mul", b.emit("Div", x, norms[0]), b.emit("Div", y, norms[1]))
    return b.reduce("ReduceSum", product, axes, False)


# ---- convolutions and pooling
def _each(value: Any, n: int) -> list[int]:
    values = list(value) if isinstance(value, (list, tuple)) else [value]
    return values * n if len(values) == 1 else values


emits_each(
    {
        "conv1d conv2d conv3d": lambda b, x, weight, bias=None, stride=1, padding=0, dilation=1, groups=1: convolution(
            b, x, weight, bias, stride, padding, dilation, False, 0, groups
        ),
        "reflection_pad1d reflection_pad2d reflection_pad3d": lambda b, x, padding: pad(b, x, padding, "reflect"),
        "replication_pad1d replication_pad2d replication_pad3d": lambda b, x, padding: pad(b, x, padding, "replicate"),
    }
)


@emits("convolution")
def convolution(
    b: Builder, x: Value, weight: Value, bias: Any, stride: Any, padding: Any, dilation: Any, transposed: bool,
    output_padding: Any, groups: int,
) -> Any:  # fmt: skip
    n = weight.rank - 2
    kernel = [b.size(weight, d) for d in range(2, weight.rank)]
    pads: Any = None
    if isinstance(padding, str):
        wide = [d * (k - 1) if padding == "same" else 0 for d, k in zip(_each(dilation, n), kernel, strict=True)]
        pads = [w // 2 for w in wide] + [w - w // 2 for w in wide]
    else:
        pads = _each(padding, n) * 2
    name = x.name
    if x.rank == weight.rank - 1:
        name = b.emit("Unsqueeze", x, b.const([0], INT))
    result = b.emit(
        "ConvTranspose" if transposed else "Conv", name, weight, bias, kernel_shape=kernel, strides=_each(stride, n),
        pads=pads, dilations=_each(dilation, n), group=groups,
        output_padding=_each(output_padding, n) if transposed else None,
    )  # fmt: skip
    return result if name == x.name else b.emit("Squeeze", result, b.const([0], INT))


@emits("conv_transpose1d conv_transpose2d conv_transpose3d")
def conv_transpose(
    b: Builder, x: Value, weight: Value, bias: Any = None, stride: Any = 1, padding: Any = 0, output_padding: Any = 0,
    groups: int = 1, dilation: Any = 1,
) -> Any:  # fmt: skip
    return convolution(b, x, weight, bias, stride, padding, dilation, True, output_padding, groups)


@emits("max_pool1d max_pool2d max_pool3d")
def max_pool(
    b: Builder, x: Value, kernel: Any, stride: Any = (), padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False
) -> Any:
    n = int(str(b.node.target).split("pool")[1][0])
    return b.emit(
        "MaxPool", x, kernel_shape=_each(kernel, n), strides=_each(stride or kernel, n), pads=_each(padding, n) * 2,
        dilations=_each(dilation, n), ceil_mode=int(ceil_mode),
    )  # fmt: skip


@emits("avg_pool1d avg_pool2d avg_pool3d")
def avg_pool(
    b: Builder, x: Value, kernel: Any, stride: Any = (), padding: Any = 0, ceil_mode: bool = False,
    count_include_pad: bool = True, divisor_override: Any = None,
) -> Any:  # fmt: skip
    n = int(str(b.node.target).split("pool")[1][0])
    kernel = _each(kernel, n)
    result = b.emit(
        "AveragePool", x, kernel_shape=kernel, strides=_each(stride or kernel, n), pads=_each(padding, n) * 2,
        ceil_mode=int(ceil_mode), count_include_pad=int(count_include_pad),
    )  # fmt: skip
    if divisor_override is None:
        return result
    return b.emit("Mul", result, b.const(math.prod(kernel) / divisor_override, x.dtype))


@emits("adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d _adaptive_avg_pool2d _adaptive_avg_pool3d")
def adaptive_avg_pool(b: Builder, x: Value, size: list[int]) -> Any:
    return _adaptive(b, x, size, "AveragePool")


@emits("adaptive_max_pool1d adaptive_max_pool2d adaptive_max_pool3d")
def adaptive_max_pool(b: Builder, x: Value, size: list[int]) -> Any:
    return [_adaptive(b, x, size, "MaxPool"), None]


def _adaptive(b: Builder, x: Value, size: list[int], op: str) -> Any:
    n = len(size)
    if set(size) == {1}:
        if x.rank == n + 2:
            return b.emit(f"Global{op}", x)
        return b.reduce(
            "ReduceMean" if op == "AveragePool" else "ReduceMax", x.name, list(range(x.rank - n, x.rank)), True
        )
    given = [b.size(x, d - n) for d in range(n)]
    b.refuse_if(any(g % s for g, s in zip(given, size, strict=True)), "the output's sizes must divide the input's")
    kernel = [g // s for g, s in zip(given, size, strict=True)]
    return b.emit(op, x, kernel_shape=kernel, strides=kernel)


@emits("pad constant_pad_nd")
def pad(b: Builder, x: Value, pad: list[int], mode: Any = "constant", value: Any = None) -> Any:
    if not isinstance(mode, str):
        mode, value = "constant", mode
    rank = x.rank
    low, high = [0] * rank, [0] * rank
    for i in range(len(pad) // 2):
        low[rank - 1 - i], high[rank - 1 - i] = pad[2 * i], pad[2 * i + 1]
    modes = {"constant": "constant", "reflect": "reflect", "replicate": "edge", "circular": "wrap"}
    fill = b.const(value or 0, x.dtype) if mode == "constant" else None
    return b.emit("Pad", x, b.ints(low + high), fill, mode=modes[mode])


@emits("upsample_nearest1d upsample_nearest2d upsample_nearest3d upsample_linear1d upsample_bilinear2d "
       "upsample_trilinear3d upsample_bicubic2d")  # fmt: skip
def upsample(b: Builder, x: Value, size: Any, *rest: Any) -> Any:
    name = b.node.target.overloadpacket.__name__
    scales = rest[-1] if b.node.target._overloadname == "vec" else None
    nearest = "nearest" in name
    aligned = not nearest and rest[0]
    mode = "nearest" if nearest else "cubic" if "cubic" in name else "linear"
    halves = {"nearest": "asymmetric", "cubic": "half_pixel", "linear": "pytorch_half_pixel"}
    how = "align_corners" if aligned else halves[mode]
    attributes: dict[str, Any] = {"mode": mode, "coordinate_transformation_mode": how}
    if nearest:
        attributes["nearest_mode"] = "floor"
    if mode == "cubic":
        attributes["cubic_coeff_a"] = -0.75
    if scales:
        return b.emit("Resize", x, None, b.const([1.0, 1.0, *scales], torch.float32), **attributes)
    first = b.emit("Slice", b.shape_of(x), b.const([0], INT), b.const([2], INT))
    return b.emit("Resize", x, None, None, b.emit("Concat", first, b.ints(size), axis=0), **attributes)


@emits("grid_sampler grid_sampler_2d")
def grid_sampler(b: Builder, x: Value, grid: Value, mode: int, padding: int, align_corners: bool) -> Any:
    return b.emit(
        "GridSample", x, grid, mode=("bilinear", "nearest", "bicubic")[mode],
        padding_mode=("zeros", "border", "reflection")[padding], align_corners=int(align_corners),
    )  # fmt: skip


# ---- normalization
@emits("batch_norm")
def batch_norm(
    b: Builder, x: Value, weight: Any, bias: Any, mean: Any, var: Any, training: bool, momentum: float, eps: float,
    _: bool = False,
) -> Any:  # fmt: skip
    b.refuse_if(training or mean is None, "batch statistics have no form in an exported model; call model.eval() first")
    channels = b.size(mean, 0)
    scale = weight if weight is not None else b.const(np.ones(channels), x.dtype)
    shift = bias if bias is not None else b.const(np.zeros(channels), x.dtype)
    return b.emit("BatchNormalization", x, scale, shift, mean, var, epsilon=float(eps), momentum=1 - float(momentum))


@emits("instance_norm")
def instance_norm(
    b: Builder, x: Value, weight: Any, bias: Any, mean: Any, var: Any, use_input_stats: bool, momentum: float,
    eps: float, _: bool = False,
) -> Any:  # fmt: skip
    if not use_input_stats:
        return batch_norm(b, x, weight, bias, mean, var, False, momentum, eps)
    channels = b.size(x, 1)
    scale = weight if weight is not None else b.const(np.ones(channels), x.dtype)
    shift = bias if bias is not None else b.const(np.zeros(channels), x.dtype)
    return b.emit("InstanceNormalization", x, scale, shift, epsilon=float(eps))


@emits("group_norm")
def group_norm(
    b: Builder, x: Value, groups: int, weight: Any = None, bias: Any = None, eps: float = 1e-5, _: bool = False
) -> Any:
    parts = b.emit("Reshape", x, b.const([0, groups, -1], INT))
    one, zero = b.const(np.ones(groups), x.dtype), b.const(np.zeros(groups), x.dtype)
    result = b.emit("Reshape", b.emit("InstanceNormalization", parts, one, zero, epsilon=float(eps)), b.shape_of(x))
    for op, v in (("Mul", weight), ("Add", bias)):
        if v is not None:
            result = b.emit(op, result, b.emit("Reshape", v, b.const([-1] + [1] * (x.rank - 2), INT)))
    return result


@emits("layer_norm")
def layer_norm(
    b: Builder, x: Value, shape: list[int], weight: Any = None, bias: Any = None, eps: float = 1e-5, _: bool = True
) -> Any:
    if b.opset < 17:
        axes = list(range(x.rank - len(shape), x.rank))
        off = b.emit("Sub", x, b.reduce("ReduceMean", x.name, axes, True))
        spread = b.reduce("ReduceMean", b.emit("Mul", off, off), axes, True)
        result = b.emit("Div", off, b.emit("Sqrt", b.emit("Add", spread, b.const(eps, x.dtype))))
        result = result if weight is None else b.emit("Mul", result, weight)
        return result if bias is None else b.emit("Add", result, bias)
    scale = weight if weight is not None else b.const(np.ones(shape), x.dtype)
    return b.emit("LayerNormalization", x, scale, bias, axis=-len(shape), epsilon=float(eps))


@emits("rms_norm")
def rms_norm(b: Builder, x: Value, shape: list[int], weight: Any = None, eps: Any = None) -> Any:
    axes = list(range(x.rank - len(shape), x.rank))
    eps = torch.finfo(x.dtype).eps if eps is None else eps
    mean = b.reduce("ReduceMean", b.emit("Mul", x, x), axes, True)
    result = b.emit("Div", x, b.emit("Sqrt", b.emit("Add", mean, b.const(eps, x.dtype))))
    return result if weight is None else b.emit("Mul", result, weight)


@emits("dropout feature_dropout alpha_dropout")
def dropout(b: Builder, x: Value, p: float, train: bool) -> Any:
    b.refuse_if(train and p, "random values have no place in an exported model; call model.eval() first")
    return b.emit("Identity", x)


@emits("embedding")
def embedding(b: Builder, weight: Value, indices: Value, *_: Any) -> Any:
    return b.emit("Gather", weight, indices, axis=0)


# ---- recurrent layers
_ORDERS = {"LSTM": (0, 3, 1, 2), "GRU": (1, 0, 2), "RNN": (0,)}  # ONNX's gates by their places in PyTorch's weights


def _gates(b: Builder, op: str, v: Any, what: str) -> Any:
    """A weight or bias, with its gates as ONNX has them."""
    b.refuse_if(v.array is None, f"the {what} must be parameters or constants")
    parts = np.split(v.array, len(_ORDERS[op]))
    return np.concatenate([parts[i] for i in _ORDERS[op]])


def _recurrent(
    b: Builder, op: str, x: Value, states: list[Value], params: list[Any], has_biases: bool, layers: int,
    dropout: float, train: bool, both: bool, batch_first: bool, **attributes: Any,
) -> Any:  # fmt: skip
    b.refuse_if(train and dropout, "random values have no place in an exported model; call model.eval() first")
    directions, size = 2 if both else 1, 4 if has_biases else 2
    b.refuse_if(len(params) != layers * directions * size, "projections have no form in ONNX")
    hidden = b.size(states[0], 2)
    current = b.emit("Transpose", x, perm=[1, 0, 2]) if batch_first else x.name
    last: list[list[str]] = [[] for _ in states]
    for layer in range(layers):
        mine = [params[(layer * directions + d) * size :][:size] for d in range(directions)]
        stacks = [np.stack([_gates(b, op, m[i], "weights") for m in mine]) for i in (0, 1)]
        w, r = (b.const(stack, name=f"{b.node.name}_w") for stack in stacks)
        bias = None
        if has_biases:
            both_biases = [np.concatenate([_gates(b, op, v, "biases") for v in m[2:4]]) for m in mine]
            bias = b.const(np.stack(both_biases), name=f"{b.node.name}_b")
        window = b.scalar_ints(layer * directions, (layer + 1) * directions, 0)
        begin = [b.emit("Slice", s, *window) if layers > 1 else s.name for s in states]
        results = b.emit(
            op, current, w, r, bias, None, *begin, outputs=1 + len(states), hidden_size=hidden,
            direction="bidirectional" if both else "forward", **attributes,
        )  # fmt: skip
        turned = b.emit("Transpose", results[0], perm=[0, 2, 1, 3])
        current = b.emit("Reshape", turned, b.const([0, 0, -1], INT))
        for kept, name in zip(last, results[1:], strict=True):
            kept.append(name)
    output = b.emit("Transpose", current, perm=[1, 0, 2]) if batch_first else current
    return [output, *[b.emit("Concat", *names, axis=0) if layers > 1 else names[0] for names in last]]


def _unpacked(b: Builder, args: Any) -> None:
    b.refuse_if(len(args) != 9 or not isinstance(args[8], bool), "packed sequences have no form here")


@emits("lstm")
def lstm(b: Builder, *args: Any) -> Any:
    _unpacked(b, args)
    return _recurrent(b, "LSTM", args[0], args[1], *args[2:])


@emits("gru")
def gru(b: Builder, *args: Any) -> Any:
    _unpacked(b, args)
    return _recurrent(b, "GRU", args[0], [args[1]], *args[2:], linear_before_reset=1)


@emits("rnn_tanh rnn_relu")
def rnn(b: Builder, *args: Any) -> Any:
    _unpacked(b, args)
    kind = "Tanh" if "tanh" in str(b.node.target) else "Relu"
    return _recurrent(b, "RNN", args[0], [args[1]], *args[2:], activations=[kind] * (2 if args[7] else 1))


def _projected(b: Builder, x: Value, w: Value, bias: Any, gates: int) -> list[str]:
    """The parts of ``x @ w.T + bias``, one for each gate."""
    whole = b.emit("Gemm", x, w, bias, transB=1)
    return list(b.emit("Split", whole, b.const([b.size(w, 0) // gates] * gates, INT), outputs=gates, axis=1))


@emits("lstm_cell")
def lstm_cell(
    b: Builder, x: Value, states: list[Value], w_ih: Value, w_hh: Value, b_ih: Any = None, b_hh: Any = None
) -> Any:
    h, c = states
    pairs = zip(_projected(b, x, w_ih, b_ih, 4), _projected(b, h, w_hh, b_hh, 4), strict=True)
    i, f, g, o = (b.emit("Add", p, q) for p, q in pairs)
    kept = b.emit("Mul", b.emit("Sigmoid", f), c)
    new = b.emit("Add", kept, b.emit("Mul", b.emit("Sigmoid", i), b.emit("Tanh", g)))
    return [b.emit("Mul", b.emit("Sigmoid", o), b.emit("Tanh", new)), new]


@emits("gru_cell")
def gru_cell(b: Builder, x: Value, h: Value, w_ih: Value, w_hh: Value, b_ih: Any = None, b_hh: Any = None) -> Any:
    mine, theirs = _projected(b, x, w_ih, b_ih, 3), _projected(b, h, w_hh, b_hh, 3)
    r, z = (b.emit("Sigmoid", b.emit("Add", mine[i], theirs[i])) for i in (0, 1))
    n = b.emit("Tanh", b.emit("Add", mine[2], b.emit("Mul", r, theirs[2])))
    return b.emit("Add", n, b.emit("Mul", z, b.emit("Sub", h, n)))


# ---- attention
@emits("scaled_dot_product_attention")
def attention(
    b: Builder, query: Value, key: Value, value: Value, attn_mask: Any = None, dropout_p: float = 0.0,
    is_causal: bool = False, *, scale: Any = None, enable_gqa: bool = False,
) -> Any:  # fmt: skip
    b.refuse_if(dropout_p, "random values have no place in an exported model; call model.eval() first")
    dtype = query.dtype
    keys, values = key, value
    if enable_gqa:
        keys, values = (_repeated(b, v, b.size(query, -3) // b.size(v, -3)) for v in (key, value))
    factor = 1 / math.sqrt(b.size(query, -1)) if scale is None else scale
    scores = b.emit("MatMul", b.emit("Mul", query, b.const(factor, dtype)), transpose(b, keys, -2, -1))
    if is_causal:
        tail = b.emit("Slice", b.emit("Shape", scores), b.const([-2], INT), b.const([_END], INT))
        ones = b.emit("Expand", b.const(-math.inf, dtype), tail)
        future = b.emit("Trilu", ones, b.const(1, INT), upper=1)
        scores = b.emit("Add", scores, future)
    if attn_mask is not None and attn_mask.dtype == torch.bool:
        scores = b.emit("Where", attn_mask, scores, b.const(-math.inf, dtype))
    elif attn_mask is not None:
        scores = b.emit("Add", scores, attn_mask)
    return b.emit("MatMul", b.emit("Softmax", scores, axis=-1), values)


def _repeated(b: Builder, x: Value, times: int) -> Value:
    """Heads of keys or values, each as often as queries share it."""
    from ._shapes import repeat_interleave

    shape = (*x.shape[:-3], b.size(x, -3) * times, *x.shape[-2:])
    return Value(repeat_interleave(b, x, times, -3), x.dtype, shape)


@emits("im2col")
def im2col(b: Builder, x: Value, kernel: Any, dilation: Any, padding: Any, stride: Any) -> Any:
    """A convolution with a kernel that has one 1: channels by elements of the window."""
    kernel = _each(kernel, 2)
    channels, size = b.size(x, 1), math.prod(kernel)
    weight = np.tile(np.eye(size).reshape(size, 1, *kernel), (channels, 1, 1, 1))
    made = b.emit(
        "Conv", x, b.const(weight, x.dtype), kernel_shape=kernel, strides=_each(stride, 2), pads=_each(padding, 2) * 2,
        dilations=_each(dilation, 2), group=channels,
    )  # fmt: skip
    return b.emit("Reshape", made, b.const([0, channels * size, -1], INT))
