"""PyTorch's derivative formulas in its operators' names: what ``make_fx`` writes for the backward step of a call.

``FORMULAS`` has them as PyTorch's ``derivatives.yaml`` does: for each operator, its differentiable arguments and an
expression of ``grad`` (``grads`` of several results), the arguments, ``result`` and functions and methods that are
operators. A line with several arguments gives all of their derivatives. ``q = ...;`` computes a part first, in the
order in which PyTorch does. ``mask`` says of which of a line's arguments derivatives are needed.

NOTE [ A backward step as PyTorch writes it ]: the nodes of a call are steps, and each has a formula, so the cotangents
go back through the steps. Every operator of a formula is run when it is written. What comes out must be what wengert's
own formula gave; otherwise the nodes are taken back, and the operators of wengert's formula are written.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterator
from typing import Any

import wengert as torch

from ..._tape.tensor import Tensor
from ...utils._aten import OpOverload
from ...utils._aten_schemas import matching, schemas
from ...utils._python_dispatch import _disable_current_modes
from ..node import Node, map_aggregate

FORMULAS = """
_log_softmax: self = _log_softmax_backward_data(grad, result, dim, self.dtype)
_prelu_kernel: self, weight = _prelu_kernel_backward(grad, self, weight)
_safe_softmax _softmax: self = _softmax_backward_data(grad, result, dim, self.dtype)
_to_copy: self = grad._to_copy(**options(self))
_adaptive_avg_pool2d: self = _adaptive_avg_pool2d_backward(grad, self)
_adaptive_avg_pool3d: self = _adaptive_avg_pool3d_backward(grad, self)
_unsafe_view reshape view: self = grad.view(size_of(self))
abs: self = grad * self.sgn()
acos: self = grad * -((1 - self * self).rsqrt())
adaptive_max_pool2d: self = adaptive_max_pool2d_backward(grad, self, result1)
add: other = times(grad, alpha); self = grad
addcdiv: self = grad; tensor1 = q = value / tensor2; grad * q; tensor2 = q = tensor2 * tensor2; p = tensor1 * value; p = p / q; -grad * p
addcmul: self = grad; tensor1 = q = tensor2 * value; grad * q; tensor2 = q = tensor1 * value; grad * q
addmm: mat1 = times(grad.mm(mat2.t()), alpha); mat2 = times(right(mat1, mat2, grad, 't'), alpha); self = times(grad, beta)
alias clone contiguous lift_fresh: self = grad
amax amin: self = extreme(grad, result, self, dim, keepdim)
asin: self = grad * (1 - self * self).rsqrt()
atan: self = grad / (self * self + 1)
atan2: self, other = q = other * other; p = self * self + q; q = p.reciprocal().masked_fill(p.eq(0), 0); (grad * other * q, grad * -self * q)
avg_pool1d avg_pool2d: self = avg_pool2d_backward(grad, self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)
baddbmm: batch1 = times(grad.bmm(batch2.transpose(1, 2)), alpha); batch2 = times(batch1.transpose(1, 2).bmm(grad), alpha); self = times(grad, beta)
binary_cross_entropy: self = binary_cross_entropy_backward(grad, self, target, weight, reduction)
binary_cross_entropy_with_logits: self = of_logits(grad, self, target, weight, pos_weight, reduction)
bmm: mat2 = self.transpose(1, 2).bmm(grad); self = grad.bmm(mat2.transpose(1, 2))
cat: tensors = parts_of(grad, tensors, dim)
celu: self = elu_backward(grad, alpha, 1, 1.0 / alpha, False, self)
clamp: self = zero = number(grad, 0.0); between(grad, self, min, max, zero)
clamp_min: self = zero = number(grad, 0.0); where(self.ge(min), grad, zero)
clamp_max: self = zero = number(grad, 0.0); where(self.le(max), grad, zero)
constant_pad_nd: self = constant_pad_nd(grad, [-n for n in pad])
convolution: input, weight, bias = convolution_backward(grad, input, weight, [0] if bias is None else size_of(bias), stride, padding, dilation, transposed, output_padding, groups, mask)
cos: self = grad * -self.sin()
cosh: self = grad * self.sinh()
cumsum: self = grad.flip([dim]).cumsum(dim).flip([dim]) if self.ndim else grad
diagonal: self = diagonal_backward(grad, size_of(self), offset, dim1, dim2)
div: other = q = self / other / other; -grad * q; self = grad.div(other)
dot: self = grad * tensor; tensor = grad * self
elu: self = elu_backward(grad, alpha, scale, input_scale, False, self)
embedding: weight = embedding_dense_backward(grad, indices, weight.shape[0], padding_idx, scale_grad_by_freq)
erf: self = q = (-self.pow(2)).exp(); q * 1.1283791670955126 * grad
exp: self = grad * result
expand: self = sum_to(grad, size_of(self))
expm1: self = grad * (result + 1)
flip: self = grad.flip(dims)
gather: self = zeros_for(grad, self).scatter_add(dim, index, grad)
gelu: self = gelu_backward(grad, self, approximate=approximate)
glu: self = glu_backward(grad, self, dim)
hardsigmoid: self = hardsigmoid_backward(grad, self)
hardswish: self = hardswish_backward(grad, self)
hardtanh: self = hardtanh_backward(grad, self, min_val, max_val)
huber_loss: self = huber_loss_backward(grad, self, target, reduction, delta); target = huber_loss_backward(grad, target, self, reduction, delta)
im2col: self = col2im(grad, list(self.shape[-2:]), kernel_size, dilation, padding, stride)
index: self = index_put(zeros_like(grad, self), indices, grad, True)
index_select: self = zeros_like(grad, self).index_add(dim, index, grad)
leaky_relu: self = leaky_relu_backward(grad, self, negative_slope, False)
lerp.Scalar: end = grad * weight; self = grad * (1 - weight)
linalg_vector_norm: self = norm_slope(grad, self, result, ord, dim, keepdim)
log: self = grad / self
log1p: self = grad / (self + 1)
log2: self = grad / (self * 0.6931471805599453)
log10: self = grad / (self * 2.3025850929940456)
log_sigmoid_forward: self = log_sigmoid_backward(grad, self, result1)
logsumexp: self = g, r = restored(grad, self, dim, keepdim), restored(result, self, dim, keepdim); g * (self - r).exp()
masked_fill: self = masked_fill(grad, mask_, 0)
max.dim min.dim kthvalue median.dim mode: self = scattered(restored(grad, self, dim, keepdim), restored(result1, self, dim, keepdim), self, dim)
max min: self = evenly(grad, self, result)
max_pool2d_with_indices: self = max_pool2d_with_indices_backward(grad, self, kernel_size, stride, padding, dilation, ceil_mode, result1)
maximum: other = shared(grad, self, other).masked_fill_(self.gt(other), 0); self = shared(grad, self, other).masked_fill_(self.lt(other), 0)
mean: self = grad.expand(size_of(self)) / self.numel()
mean.dim: self = restored(grad, self, dim, keepdim).expand(size_of(self)) / counted(self, dim)
minimum: other = shared(grad, self, other).masked_fill_(self.lt(other), 0); self = shared(grad, self, other).masked_fill_(self.gt(other), 0)
mish: self = mish_backward(grad, self)
mm: mat2 = right(self, mat2, grad, 't'); self = grad.mm(mat2.t())
mse_loss: self = mse_loss_backward(grad, self, target, reduction); target = mse_loss_backward(grad, target, self, reduction)
mul: other = grad * self; self = grad.mul(other)
mv: self = grad.view([grad.shape[0], 1]) * vec; vec = self.t().mv(grad)
native_batch_norm: input, weight, bias = native_batch_norm_backward(grad, input, weight, running_mean, running_var, result1, result2, training, eps, mask)
native_dropout: input = native_dropout_backward(grad, result1, 1 / (1 - p))
native_group_norm: input, weight, bias = q, p = saved(result1), saved(result2); native_group_norm_backward(grad if grad.is_contiguous() else grad.clone(memory_format=contiguous_format), input, q, p, weight, N, C, HxW, group, mask)
native_layer_norm: input, weight, bias = native_layer_norm_backward(grad, input, normalized_shape, result1, result2, weight, bias, mask)
neg: self = grad.neg()
nll_loss_forward: self = nll_loss_backward(grad, self, target, weight, reduction, ignore_index, result1)
nll_loss2d_forward: self = nll_loss2d_backward(grad, self, target, weight, reduction, ignore_index, result1)
permute: self = grad.permute(inverse(dims))
pixel_shuffle: self = grad.pixel_unshuffle(upscale_factor)
pixel_unshuffle: self = grad.pixel_shuffle(downscale_factor)
pow.Tensor_Scalar: self = q = self.pow(exponent - 1.0) * float(exponent); grad * q
pow.Tensor_Tensor: exponent = unknown(result); self = q = exponent * self.pow(exponent - 1); p = grad * q; zero = number(grad, 0.0); where(exponent.eq(0.0), zero, p)
prod.dim_int: self = prod_slope(restored(grad, self, dim, keepdim), restored(result, self, dim, keepdim), self, dim)
pow.Scalar: exponent = q = result * log_of(self); grad * q
reciprocal: self = q = result * result; -grad * q
relu: self = threshold_backward(grad, result, 0)
repeat: self = unrepeated(grad, repeats, self)
roll: self = grad.roll([-n for n in shifts], dims)
rsqrt: self = q = result.pow(3); grad * -0.5 * q
rsub: other = grad; self = times(-grad, alpha)
select: self = select_backward(grad, size_of(self), dim, index)
sgn sign floor ceil round trunc: self = zeros_like(grad, self)
sigmoid: self = sigmoid_backward(grad, result)
silu: self = silu_backward(grad, self)
sin: self = grad * self.cos()
sinh: self = grad * self.cosh()
slice: self = slice_backward(grad, size_of(self), dim, 0 if start is None else start, end, step)
smooth_l1_loss: self = smooth_l1_loss_backward(grad, self, target, reduction, beta); target = smooth_l1_loss_backward(grad, target, self, reduction, beta)
softplus: self = softplus_backward(grad, self, beta, threshold)
sort topk: self = scattered(grad, result1, self, -1 if dim is None else dim)
split: self = joined(grads, results, self, dim)
split_with_sizes: self = joined(grads, results, self, dim)
sqrt: self = grad / (result * 2)
squeeze: self = unsqueezed(grad, self, dim)
stack: tensors = rows_of(grad, tensors, dim)
std.correction: self = q = (grad / (result * 2)).masked_fill_(result.eq(0), 0); var_slope(q, self, dim, correction, keepdim)
sub: other = times(-grad, alpha); self = grad
sum: self = grad.expand(size_of(self))
sum.dim_IntList: self = restored(grad, self, dim, keepdim).expand(size_of(self))
t: self = grad.t()
tan: self = grad * (result.pow(2) + 1)
tanh: self = tanh_backward(grad, result)
threshold: self = threshold_backward(grad, self, threshold)
transpose: self = grad.transpose(dim0, dim1)
tril: self = grad.tril(diagonal)
triu: self = grad.triu(diagonal)
unbind: self = stacked(grads, results, dim)
unsqueeze: self = grad.squeeze(dim)
upsample_bicubic2d: self = upsample_bicubic2d_backward(grad, output_size, size_of(self), align_corners, scales_h, scales_w)
upsample_bilinear2d: self = upsample_bilinear2d_backward(grad, output_size, size_of(self), align_corners, scales_h, scales_w)
upsample_nearest2d: self = upsample_nearest2d_backward(grad, output_size, size_of(self), scales_h, scales_w)
var.correction: self = var_slope(grad, self, dim, correction, keepdim)
where.self: other = zero = number(grad, 0); where(condition, zero, grad); self = zero = number(grad, 0); where(condition, grad, zero)
"""


class Unknown(Exception):
    """There is no formula, or an operator of it does not run here."""


@functools.cache
def _table() -> dict[str, list[tuple[tuple[str, ...], Any, frozenset[str]]]]:
    """The formulas of each operator: the arguments, the compiled expression, and the names in it."""
    table = {}
    for line in FORMULAS.strip().split("\n"):
        names, _, text = line.partition(": ")
        lines: list[tuple[tuple[str, ...], str]] = []
        steps: list[str] = []
        for part in text.split("; "):
            left, equals, right = part.partition(" = ")
            owners = tuple(left.split(", "))
            if equals and left.replace(", ", "").isidentifier() and owners[0] not in ("q", "p", "zero", "g"):
                lines.append((owners, ""))
                steps, part = [], right
            left, equals, right = part.partition(" = ")
            if equals and left.split(", ")[0] in ("q", "p", "zero", "g"):
                steps.append(part)
                continue
            lines[-1] = lines[-1][0], "\n".join([*steps, f"answer = {part}"])
        made = [(owners, compile(code, "derivatives", "exec"), code) for owners, code in lines]
        for name in names.split():
            table[name] = [(o, c, frozenset(c.co_names)) for o, c, _ in made]
    return table


def formulas(node: Node) -> Any:
    """Those of a node's operator, or None."""
    if not isinstance(node.target, OpOverload):
        return None
    name = node.target.__name__
    table = _table()
    return table.get(name.removesuffix(".default")) or (
        table.get(name.partition(".")[0]) if name not in table else None
    )


def saved_results(node: Node) -> list[Node]:
    """The results that the backward step needs and PyTorch saves detached."""
    names = frozenset().union(*(names for _, _, names in formulas(node) or ()))
    items = [n for n in node.users if n.target is operator.getitem]
    return (items[:1] or [node]) * ("result" in names) + items[1:] * ("saved" in names)


class Written:
    """A node and its value, with the operators as methods: what a formula computes with."""

    def __init__(self, writer: Writer, node: Node, value: Tensor) -> None:
        self.writer, self.node, self.value = writer, node, value

    def __getattr__(self, name: str) -> Any:
        if name in ("shape", "ndim", "dtype", "numel", "is_contiguous", "device", "layout"):
            return getattr(self.value, name)
        return functools.partial(getattr(self.writer, name), self)

    def __neg__(self) -> Any:
        return self.writer.neg(self)


def _operator(name: str, swapped: str | None = None) -> Callable[[Written, Any], Any]:
    def method(self: Written, other: Any) -> Any:
        overload = "Tensor" if isinstance(other, Written) else "Scalar"
        return self.writer.run(name, (self, other), {}, overload)

    return method


for _sign, _name in {"add": "add", "sub": "sub", "mul": "mul", "truediv": "div"}.items():
    setattr(Written, f"__{_sign}__", _operator(_name))
Written.__radd__ = Written.__add__  # type: ignore[attr-defined]
Written.__rmul__ = Written.__mul__  # type: ignore[attr-defined]
Written.__rsub__ = _operator("rsub")  # type: ignore[attr-defined]
Written.__rtruediv__ = lambda self, other: self.reciprocal() * other  # type: ignore[attr-defined]


class Writer:
    """Runs operators and writes their nodes."""

    def __init__(self, tracer: Any) -> None:
        self.tracer = tracer
        self.made: list[Node] = []

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *args, **kwargs: self.run(name, args, kwargs)

    def value(self, node: Node) -> Any:
        """What a node computes."""
        found = node.meta.get("val")
        if found is None:
            if node.op != "call_function":
                raise Unknown
            args, kwargs = map_aggregate(
                (node.args, node.kwargs), lambda a: self.value(a) if isinstance(a, Node) else a
            )
            found = node.meta["val"] = node.target(*args, **kwargs)  # type: ignore[operator]
        return found

    def of(self, a: Any) -> Any:
        """An argument of a node, with values beside nodes."""
        if isinstance(a, (list, tuple)):
            return [self.of(x) for x in a]
        if isinstance(a, Node):
            value = self.value(a)
            return Written(self, a, value) if isinstance(value, Tensor) else a
        return a

    def run(self, name: str, args: Any, kwargs: Any, overload: str | None = None) -> Any:
        """Run an operator and write it."""
        nodes: dict[int, Node] = {}

        def plain(a: Any) -> Any:
            if isinstance(a, Written):
                nodes[id(a.value)] = a.node
                return a.value
            if isinstance(a, (list, tuple)):
                return [plain(x) for x in a]
            return a

        args, kwargs = tuple(plain(a) for a in args), {k: plain(v) for k, v in kwargs.items()}
        found = matching(name, args, kwargs)
        if found is None:
            raise Unknown(name)
        chosen, placed, named = found
        target = getattr(
            getattr(torch.ops.aten, name), overload if overload and chosen in ("Tensor", "Scalar") else chosen
        )
        result = target(*placed, **named)

        def shown(a: Any) -> Any:
            if isinstance(a, (list, tuple)):
                return type(a)(shown(x) for x in a)
            return nodes[id(a)] if isinstance(a, Tensor) else a

        return self.note(self.write(target, shown(placed), {k: shown(v) for k, v in named.items()}), result)

    def write(self, target: Any, args: Any, kwargs: Any) -> Node:
        node: Node = self.tracer.call(target, args, kwargs)
        self.made.append(node)
        return node

    def note(self, node: Node, result: Any) -> Any:
        node.meta["val"] = result
        if isinstance(result, (tuple, list)):
            items = []
            for i, item in enumerate(result):
                items.append(self.note(self.write(operator.getitem, (node, i), {}), item))
            return items
        return Written(self, node, result)

    def undo(self) -> None:
        """Take back all nodes."""
        for node in reversed(self.made):
            self.tracer.graph.erase_node(node)


class _Names(dict[str, Any]):
    """The names of a formula: arguments, functions of this module, operators."""

    def __init__(self, writer: Writer, values: dict[str, Any]) -> None:
        super().__init__(values)
        self.writer = writer

    def __missing__(self, name: str) -> Any:
        if name in _HELPERS:
            return _HELPERS[name]
        if name in ("list", "range", "len", "float"):
            raise KeyError(name)
        return getattr(self.writer, name)


# ---- the functions of PyTorch's file
_HELPERS: dict[str, Any] = {"contiguous_format": torch.contiguous_format}


def _helper(function: Any) -> Any:
    _HELPERS[function.__name__] = function
    return function


@_helper
def size_of(x: Written) -> list[int]:
    return list(x.shape)


@_helper
def times(x: Written, number: Any) -> Written:
    return x if number == 1 else x * number


def _dims(x: Written, dim: Any) -> list[int]:
    dims = [dim] if isinstance(dim, int) else list(range(x.ndim)) if not dim else list(dim)
    return sorted(d % x.ndim for d in dims)


@_helper
def restored(x: Written, self: Written, dim: Any, keepdim: bool) -> Written:
    """With the dimensions of a reduction again."""
    if keepdim or x.ndim == self.ndim or not self.ndim or (not isinstance(dim, int) and not dim):
        return x
    if isinstance(dim, int):
        return x.unsqueeze(dim)  # type: ignore[no-any-return]
    for d in _dims(self, dim):
        x = x.unsqueeze(d)
    return x


@_helper
def counted(self: Written, dim: Any) -> int:
    shape: list[int] = list(self.shape)
    return functools.reduce(operator.mul, [shape[d] for d in _dims(self, dim)], 1)


@_helper
def number(x: Written, value: float) -> Written:
    return x.writer.scalar_tensor(value, dtype=x.dtype, layout=x.layout, device=x.device)  # type: ignore[no-any-return]


@_helper
def options(x: Written) -> dict[str, Any]:
    return {"dtype": x.dtype, "layout": x.layout, "device": x.device}


@_helper
def zeros_for(x: Written, like: Written) -> Written:
    return x.new_zeros(list(like.shape))  # type: ignore[no-any-return]


@_helper
def zeros_like(x: Written, like: Written) -> Written:
    return x.new_zeros(list(like.shape), **options(like))  # type: ignore[no-any-return]


@_helper
def scattered(x: Written, index: Written, self: Written, dim: int) -> Written:
    return zeros_for(x, self).scatter(dim, index, x)  # type: ignore[no-any-return]


@_helper
def right(x: Written, y: Written, grad: Written, turn: str) -> Written:
    """The derivative of a product by its right operand: turned twice if that lies in columns, as PyTorch does."""
    if y.value.stride()[0] == 1 and y.value.stride()[1] == y.shape[0]:
        return grad.t().mm(x).t()  # type: ignore[no-any-return]
    return x.t().mm(grad)  # type: ignore[no-any-return]


@_helper
def inverse(dims: Any) -> list[int]:
    return [[d % len(dims) for d in dims].index(i) for i in range(len(dims))]


@_helper
def sum_to(x: Written, shape: list[int]) -> Written:
    if list(x.shape) == shape:
        return x
    lead = x.ndim - len(shape)
    dims = [*range(lead), *(d for d in range(lead, x.ndim) if shape[d - lead] == 1 != x.shape[d])]
    x = x.sum(dims, True)
    return x.view(shape) if lead else x  # type: ignore[no-any-return]


@_helper
def parts_of(x: Written, tensors: list[Written], dim: int) -> list[Written]:
    ends = [0]
    for t in tensors:
        ends.append(ends[-1] + t.shape[dim])
    return [x.slice(dim, a, b) for a, b in zip(ends, ends[1:], strict=False)]


@_helper
def rows_of(x: Written, tensors: list[Written], dim: int) -> list[Written]:
    return [x.select(dim, i) for i in range(len(tensors))]


@_helper
def unsqueezed(x: Written, self: Written, dim: Any) -> Written:
    for d in [d for d in _dims(self, dim) if self.shape[d] == 1]:
        x = x.unsqueeze(d)
    return x


@_helper
def joined(grads: Any, results: list[Any], self: Written, dim: int) -> Written:
    def filled(i: int) -> Any:
        return grads[i] if i in grads else self.writer.zeros(list(results[i].shape), **options(self))

    return self.writer.cat([filled(i) for i in range(len(results))], dim % self.ndim)  # type: ignore[no-any-return]


@_helper
def stacked(grads: Any, results: list[Any], dim: int) -> Written:
    first: Written = next(iter(grads.values()))
    empty = [i for i in range(len(results)) if i not in grads]
    zero = first.writer.zeros([], **options(first)) if empty else first
    rows = [grads[i] if i in grads else zero.expand(list(first.shape)) for i in range(len(results))]
    return first.writer.stack(rows, dim)  # type: ignore[no-any-return]


@_helper
def unrepeated(x: Written, repeats: list[int], self: Written) -> Written:
    lead = len(repeats) - self.ndim
    sizes: list[int] = []
    dims: list[int] = []
    for i, n in enumerate(repeats):
        if n != 1:
            dims.append(len(sizes))
            sizes.append(n)
        if i >= lead:
            sizes.append(self.shape[i - lead])
    return x.view(sizes).sum(dims) if dims else x  # type: ignore[no-any-return]


@_helper
def between(x: Written, self: Written, low: Any, high: Any, zero: Written) -> Written:
    if low is None or high is None:
        return x.writer.where(self.ge(low) if high is None else self.le(high), x, zero)  # type: ignore[no-any-return]
    inside = self.ge(low).logical_and_(self.le(high))
    return x.writer.where(inside, x, zero)  # type: ignore[no-any-return]


@_helper
def shared(x: Written, self: Written, other: Written) -> Written:
    half = x / 2
    return x.writer.where(self.eq(other), half, x)  # type: ignore[no-any-return]


@_helper
def extreme(grad: Written, result: Written, self: Written, dim: Any, keepdim: bool) -> Written:
    shape = [1 if d in _dims(self, dim) else n for d, n in enumerate(self.shape)]
    mask = (result if keepdim else result.view(shape)).eq(self)
    grad = grad if keepdim else grad.view(shape)
    return grad / mask.sum(_dims(self, dim), True) * mask  # type: ignore[no-any-return]


@_helper
def evenly(grad: Written, self: Written, result: Written) -> Written:
    nan = self.isnan()
    nan = nan.logical_and(result.isnan())
    mask = self.eq(result).logical_or_(nan)
    share = grad / mask.sum()
    return mask * share  # type: ignore[no-any-return]


@_helper
def norm_slope(grad: Written, self: Written, norm: Written, p: Any, dim: Any, keepdim: bool) -> Written:
    if p != 2:
        raise Unknown
    grad, norm = restored(grad, self, dim, keepdim), restored(norm, self, dim, keepdim)
    q = self / norm  # type: ignore[operator]
    return grad * q.masked_fill_(norm.eq(0), 0)  # type: ignore[no-any-return]


@_helper
def var_slope(grad: Written, self: Written, dim: Any, correction: Any, keepdim: bool) -> Written:
    correction = 1 if correction is None else correction
    grad = restored(grad, self, dim, keepdim)
    centred = self - self.mean(dim, True) if dim else self - self.mean()
    return grad * (2.0 / (counted(self, dim) - correction)) * centred  # type: ignore[no-any-return,operator]


@_helper
def of_logits(grad: Written, self: Written, target: Written, weight: Any, pos_weight: Any, reduction: int) -> Written:
    if weight is not None or pos_weight is not None:
        raise Unknown
    found = (self.sigmoid() - target) * grad
    return found.writer.run("div_", (found, self.numel()), {}, "Scalar") if reduction == 1 else found  # type: ignore[no-any-return]


@_helper
def prod_slope(grad: Written, result: Written, self: Written, dim: int) -> Written:
    shape = list(self.shape)
    shape[dim] = 1
    one = self.writer.ones(shape, **options(self))
    before = self.writer.cat([one, self.slice(dim, 0, self.shape[dim] - 1)], dim).cumprod(dim)
    after = self.slice(dim, 1, self.shape[dim]).flip([dim])
    after = self.writer.cat([one, after], dim).cumprod(dim).flip([dim])
    return grad * (before * after)  # type: ignore[no-any-return,operator]


@_helper
def unknown(*_: Any) -> None:
    raise Unknown


@_helper
def log_of(number: Any) -> float:
    import math

    return math.log(number)


# ---- back through the steps
def derived(
    tracer: Any, steps: list[Node], saved: dict[Node, Node], grads: dict[Node, Any], wanted: set[Node]
) -> tuple[Writer, list[tuple[Node, Written]]]:
    """Write the backward step of a call.

    Args:
        steps: the nodes of the call.
        saved: the detached results of steps that need theirs.
        grads: the nodes and values of the cotangents, by the nodes of the results.
        wanted: the nodes of the operands whose gradients are wanted.

    Raises:
        Unknown: it cannot be.
    """
    writer = Writer(tracer)
    held: dict[Node, Written] = {node: Written(writer, *given) for node, given in grads.items()}
    needed = set(wanted)
    for node in steps:
        if needed.intersection(node.all_input_nodes):
            needed.add(node)
    found: list[tuple[Node, Written]] = []
    try:
        with _disable_current_modes(), torch.no_grad():
            for node in reversed(steps):
                if node.target is operator.getitem or node not in needed:
                    continue
                for owner, gradient in _one(writer, node, saved, held, needed):
                    if owner in wanted:
                        found.append((owner, gradient))
                    else:
                        held[owner] = held[owner] + gradient if owner in held else gradient  # type: ignore[operator]
    except Exception as error:
        writer.undo()
        raise Unknown from error
    return writer, found


def _one(
    writer: Writer, node: Node, saved: dict[Node, Node], held: dict[Node, Written], needed: set[Node]
) -> Iterator[tuple[Node, Written]]:
    """The gradients of one step's operands."""
    schema: Any = next(
        s for s in schemas(node.target.__name__.partition(".")[0]) if s.overload == node.target._overloadname
    )  # type: ignore[union-attr]
    given = dict(zip([a.name for a in schema.arguments], node.args, strict=False)) | node.kwargs
    values = {a.name: writer.of(given.get(a.name, a.default)) for a in schema.arguments}
    items = {n.args[1]: n for n in node.users if n.target is operator.getitem}
    if items:
        grads = {i: held[n] for i, n in items.items() if n in held}
        values |= {f"result{i}": writer.of(n) for i, n in items.items()}
        values["grads"], values["results"] = grads, [values[f"result{i}"] for i in sorted(items)]  # type: ignore[type-var]
        if not grads:
            return
        values["grad"] = next(iter(grads.values()))
    elif node in held:
        values["grad"] = held[node]
    else:
        return

    def detached(n: Node) -> Written:
        return writer.note(writer.write(torch.ops.aten.detach.default, (saved[n],), {}), writer.value(n))  # type: ignore[no-any-return]

    values["saved"] = lambda written: detached(written.node)
    found = formulas(node)
    if found is None:
        raise Unknown
    if "mask" in values:
        values["mask_"] = values.pop("mask")
    values.setdefault("dim", None)
    if any("result" in names for _, _, names in found):
        values["result"] = detached(items.get(0, node))
    answers: dict[str, Any] = {}
    for owners, code, names in found:
        want = [_wants(given.get(owner), needed) for owner in owners]
        if not any(want):
            continue
        space = _Names(writer, {**values, "mask": want} if "mask" in names else values)
        exec(code, {}, space)  # the table above
        answer = space["answer"]
        answers |= zip(owners, answer if len(owners) > 1 else [answer], strict=False)
    for argument in schema.arguments:
        owner, answer = given.get(argument.name), answers.get(argument.name)
        pairs = zip(owner, answer, strict=True) if isinstance(owner, (list, tuple)) and answer else [(owner, answer)]
        for n, gradient in pairs:
            if n in needed and isinstance(gradient, Written):
                yield n, sum_to(gradient, list(writer.value(n).shape))


def _wants(owner: Any, needed: set[Node]) -> bool:
    return (
        any(n in needed for n in owner)
        if isinstance(owner, (list, tuple))
        else isinstance(owner, Node) and owner in needed
    )
