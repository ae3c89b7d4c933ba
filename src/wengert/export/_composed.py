"""Functions and layers as PyTorch puts them together of operators, where wengert's own code does it in another way.

Each takes the recorder first (``r.operator`` writes an operator of PyTorch) and then the public function's arguments.
``NotImplemented`` leaves a call to the general rule.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import wengert as torch

from ..fx.experimental._symbols import Number

Tensor = torch.Tensor
COMPOSED: dict[str, Callable[..., Any]] = {}
_REDUCTIONS = {"none": 0, "mean": 1, "sum": 2}
_CUDNN = False  # what PyTorch's CPU build hands on


def composed(function: Callable[..., Any]) -> Callable[..., Any]:
    COMPOSED[function.__name__] = function
    return function


# ---- functions of nn.functional
def _activation(name: str, parameters: str = "", *defaults: Any) -> None:
    """A function with ``inplace``, which names another operator."""

    names = parameters.split()

    def function(r: Any, input: Any, *args: Any, **kwargs: Any) -> Any:
        given = dict(zip([*names, "inplace"], args, strict=False)) | kwargs
        operator = f"{name}_" if given.pop("inplace", False) else name
        return r.operator(operator, input, *[given.get(n, d) for n, d in zip(names, defaults, strict=True)])

    COMPOSED[name] = function


for _name in ["relu", "relu6", "selu", "silu", "mish", "hardswish", "hardsigmoid"]:
    _activation(_name)
_activation("elu", "alpha", 1.0)
_activation("celu", "alpha", 1.0)
_activation("leaky_relu", "negative_slope", 0.01)
_activation("hardtanh", "min_val max_val", -1.0, 1.0)
_activation("threshold", "threshold value", None, None)


def _dropout(name: str, operator: str) -> None:
    def function(
        r: Any, input: Any, p: float = 0.5, training: bool = True, inplace: bool = False, **kwargs: Any
    ) -> Any:
        training = kwargs.get("train", training)
        return r.operator(f"{operator}_" if inplace else operator, input, p, training)

    COMPOSED[name] = function


for _name in ("dropout", "alpha_dropout", "feature_alpha_dropout", "feature_dropout"):
    _dropout(_name, _name)
for _name in ("dropout1d", "dropout2d", "dropout3d"):
    _dropout(_name, "feature_dropout")


def _softmax(name: str) -> None:
    def function(r: Any, input: Any, dim: Any = None, _stacklevel: int = 3, dtype: Any = None) -> Any:
        if isinstance(_stacklevel, torch.dtype):  # torch.softmax(x, dim, dtype)
            dtype = _stacklevel
        if dim is None:
            return NotImplemented
        return r.operator(name, input, dim, *([dtype] if dtype is not None else []))

    COMPOSED[name] = function


_softmax("softmax")
_softmax("log_softmax")


COMPOSED |= {
    "softmin": lambda r, input, dim=None, _stacklevel=3, dtype=None: r.operator(
        "softmax", r.operator("neg", input), dim, *([dtype] if dtype is not None else [])
    ),
    "tanhshrink": lambda r, input: input - input.tanh(),
    "softsign": lambda r, input: input / (input.abs() + 1),
    "layer_norm": lambda r, input, normalized_shape, weight=None, bias=None, eps=1e-5, *_: r.operator(
        "layer_norm", input, list(normalized_shape), weight, bias, eps, _CUDNN
    ),
    "group_norm": lambda r, input, num_groups, weight=None, bias=None, eps=1e-5, *_: r.operator(
        "group_norm", input, num_groups, weight, bias, eps, _CUDNN
    ),
    "rms_norm": lambda r, input, normalized_shape, weight=None, eps=None: r.operator(
        "rms_norm", input, list(normalized_shape), weight, eps
    ),
    "pad": lambda r, input, pad, mode="constant", value=None: r.operator(
        "pad", input, list(pad), mode, None if value is None else float(value)
    ),
    "unfold": lambda r, input, kernel_size, dilation=1, padding=0, stride=1: r.operator(
        "im2col", input, kernel_size, dilation, padding, stride
    ),
    "affine_grid": lambda r, theta, size, align_corners=None: r.operator(
        "affine_grid_generator", theta, list(size), bool(align_corners)
    ),
    "fold": lambda r, input, output_size, kernel_size, dilation=1, padding=0, stride=1: r.operator(
        "col2im", input, output_size, kernel_size, dilation, padding, stride
    ),
}


@composed
def batch_norm(r: Any, input: Any, a: Any, b: Any, *rest: Any, **kwargs: Any) -> Any:
    if len(rest) >= 6 and not isinstance(rest[2], (Tensor, type(None))):  # torch.batch_norm, in the operator's order
        return r.operator("batch_norm", input, a, b, *rest, **kwargs)

    def ordered(
        weight: Any = None, bias: Any = None, training: bool = False, momentum: float = 0.1, eps: float = 1e-5
    ) -> Any:
        return r.operator("batch_norm", input, weight, bias, a, b, training, float(momentum), eps, _CUDNN)

    return ordered(*rest, **kwargs)


@composed
def instance_norm(
    r: Any, input: Any, running_mean: Any = None, running_var: Any = None, weight: Any = None, bias: Any = None,
    use_input_stats: bool = True, momentum: float = 0.1, eps: float = 1e-5, *_: Any,
) -> Any:  # fmt: skip
    return r.operator(
        "instance_norm", input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps, _CUDNN
    )


@composed
def embedding(
    r: Any, input: Any, weight: Any, padding_idx: Any = None, max_norm: Any = None, norm_type: Any = 2.0,
    scale_grad_by_freq: bool = False, sparse: bool = False,
) -> Any:  # fmt: skip
    if not isinstance(weight, Tensor) or max_norm is not None or weight.dtype == torch.int64:
        return NotImplemented
    padding = -1 if padding_idx is None else padding_idx % weight.size(0)
    return r.operator("embedding", weight, input, padding, scale_grad_by_freq, sparse)


def _pool(name: str, order: str) -> None:
    names = order.split()

    def function(r: Any, input: Any, *args: Any, **kwargs: Any) -> Any:
        given = dict(zip(names, args, strict=False)) | kwargs
        indices = given.pop("return_indices", False)
        size = given.pop("kernel_size")
        stride = given.pop("stride", None)
        rest = [given.get(n, d) for n, d in (("padding", 0), ("dilation", 1), ("ceil_mode", False))]
        target = f"{name}_with_indices" if indices else name
        return r.operator(target, input, size, [] if stride is None else stride, *rest)

    for public in (name, f"{name}_with_indices"):
        COMPOSED[public] = function


for _n in (1, 2, 3):
    _pool(f"max_pool{_n}d", "kernel_size stride padding dilation ceil_mode return_indices")


def _adaptive(name: str, n: int) -> None:
    def function(r: Any, input: Any, output_size: Any, return_indices: bool = False) -> Any:
        sizes = [output_size] * n if isinstance(output_size, int) or output_size is None else output_size
        sizes = [input.size(i - n) if s is None else s for i, s in enumerate(sizes)]
        result = r.operator(name, input, sizes)
        return result[0] if "max" in name and not return_indices else result

    COMPOSED[name] = function


for _n in (1, 2, 3):
    _adaptive(f"adaptive_avg_pool{_n}d", _n)
    _adaptive(f"adaptive_max_pool{_n}d", _n)


@composed
def interpolate(
    r: Any, input: Any, size: Any = None, scale_factor: Any = None, mode: str = "nearest", align_corners: Any = None,
    recompute_scale_factor: Any = None, antialias: bool = False,
) -> Any:  # fmt: skip
    n = input.dim() - 2
    names = {
        "nearest": f"upsample_nearest{n}d", "nearest-exact": f"_upsample_nearest_exact{n}d",
        "linear": "upsample_linear1d", "bilinear": "upsample_bilinear2d", "trilinear": "upsample_trilinear3d",
        "bicubic": "upsample_bicubic2d",
    }  # fmt: skip
    if mode not in names or antialias or recompute_scale_factor:
        return NotImplemented
    sizes = [size] * n if isinstance(size, int) else None if size is None else list(size)
    if scale_factor is not None:
        scale_factor = [
            float(s) for s in (scale_factor if isinstance(scale_factor, (list, tuple)) else [scale_factor] * n)
        ]
    corners = [] if "nearest" in mode else [bool(align_corners)]
    return r.run(names[mode], "vec", (input, sizes, *corners, scale_factor), {})


@composed
def grid_sample(
    r: Any, input: Any, grid: Any, mode: str = "bilinear", padding_mode: str = "zeros", align_corners: Any = None
) -> Any:
    modes, paddings = ("bilinear", "nearest", "bicubic"), ("zeros", "border", "reflection")
    return r.operator("grid_sampler", input, grid, modes.index(mode), paddings.index(padding_mode), bool(align_corners))


@composed
def normalize(r: Any, input: Any, p: float = 2.0, dim: Any = 1, eps: float = 1e-12, out: Any = None) -> Any:
    norm = r.operator("linalg_vector_norm", input, float(p), dim, True)
    return input / r.operator("clamp_min", norm, eps).expand_as(input)


@composed
def norm(
    r: Any, input: Any, p: Any = "fro", dim: Any = None, keepdim: bool = False, out: Any = None, dtype: Any = None
) -> Any:
    if isinstance(p, str) and p != "fro":
        return NotImplemented
    ord = 2 if p in ("fro", None) else p
    kwargs = {} if dtype is None else {"dtype": dtype}
    return r.operator("linalg_vector_norm", input, ord, *([None, keepdim] if dim is None else [dim, keepdim]), **kwargs)


# ---- losses
def _loss(name: str, operator: str, order: str, **defaults: Any) -> None:
    """A loss: its parameters in the operator's order, the reduction as a number."""
    placed = order.split()

    def function(r: Any, input: Any, target: Any, *args: Any, **kwargs: Any) -> Any:
        given = dict(zip(placed, args, strict=False)) | kwargs
        if given.get("size_average") is not None or given.get("reduce") is not None:
            return NotImplemented
        given["reduction"] = _REDUCTIONS.get(given.get("reduction", "mean"), given.get("reduction"))
        if name in _BROADCAST:
            input, target = r.operator("broadcast_tensors", [input, target])
        return r.operator(operator, input, target, *[given.get(n, d) for n, d in defaults.items()])

    COMPOSED[name] = function


_OLD = "size_average reduce reduction"
_BROADCAST = frozenset(["mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss"])
for _name in ("mse_loss", "l1_loss", "soft_margin_loss", "multilabel_margin_loss"):
    _loss(_name, _name, _OLD, reduction=1)
_loss("smooth_l1_loss", "smooth_l1_loss", f"{_OLD} beta", reduction=1, beta=1.0)
_loss("huber_loss", "huber_loss", "reduction delta", reduction=1, delta=1.0)
_loss("nll_loss", "nll_loss_nd", "weight size_average ignore_index reduce reduction", weight=None, reduction=1,
      ignore_index=-100)  # fmt: skip
_loss("cross_entropy", "cross_entropy_loss", "weight size_average ignore_index reduce reduction label_smoothing",
      weight=None, reduction=1, ignore_index=-100, label_smoothing=0.0)  # fmt: skip
_loss("binary_cross_entropy", "binary_cross_entropy", f"weight {_OLD}", weight=None, reduction=1)
_loss("binary_cross_entropy_with_logits", "binary_cross_entropy_with_logits", f"weight {_OLD} pos_weight", weight=None,
      pos_weight=None, reduction=1)  # fmt: skip
_loss("multi_margin_loss", "multi_margin_loss", f"p margin weight {_OLD}", p=1, margin=1.0, weight=None, reduction=1)
_loss("hinge_embedding_loss", "hinge_embedding_loss", f"margin {_OLD}", margin=1.0, reduction=1)
for _name in ("cosine_embedding_loss", "margin_ranking_loss"):
    _loss(_name, _name, f"target margin {_OLD}", target=None, margin=0.0, reduction=1)
_loss("triplet_margin_loss", "triplet_margin_loss", f"negative margin p eps swap {_OLD}", negative=None, margin=1.0,
      p=2.0, eps=1e-6, swap=False, reduction=1)  # fmt: skip


@composed
def poisson_nll_loss(
    r: Any, input: Any, target: Any, log_input: bool = True, full: bool = False, size_average: Any = None,
    eps: float = 1e-8, reduce: Any = None, reduction: Any = "mean",
) -> Any:  # fmt: skip
    return r.operator("poisson_nll_loss", input, target, log_input, full, eps, _REDUCTIONS.get(reduction, reduction))


@composed
def kl_div(r: Any, input: Any, target: Any, *args: Any, **kwargs: Any) -> Any:
    given = dict(zip(("size_average", "reduce", "reduction", "log_target"), args, strict=False)) | kwargs
    reduction, log_target = given.get("reduction", "mean"), given.get("log_target", False)
    batch = reduction == "batchmean"
    code = 2 if batch else _REDUCTIONS.get(reduction, reduction)
    result = r.operator("kl_div", input, target, code, log_target=log_target)
    return result / input.size(0) if batch and input.dim() else result


# ---- methods of tensors, and what is called as one; "Tensor.": it differs from the function of its name
COMPOSED |= {
    "__rtruediv__": lambda r, self, other: r.operator("mul", r.operator("reciprocal", self), other),
    "__rpow__": lambda r, self, other: r.operator("pow", other, self),
    "__rfloordiv__": lambda r, self, other: r.operator(
        "floor_divide", r.operator("full", [], other, dtype=self.dtype), self
    ),
    "type_as": lambda r, self, other: r.operator("type_as", self, other),
    "cpu": lambda r, self, memory_format=None: self,
    "chunk": lambda r, input, chunks, dim=0: r.operator("chunk", input, chunks, dim),
    "broadcast_tensors": lambda r, *tensors: r.operator("broadcast_tensors", list(tensors)),
    "Tensor.unfold": lambda r, self, dimension, size, step: r.operator("unfold", self, dimension, size, step),
    "Tensor.where": lambda r, self, condition, other: r.operator("where", condition, self, other),
    "Tensor.contiguous": lambda r, self, memory_format=torch.contiguous_format: (
        self
        if self.is_contiguous(memory_format=memory_format)
        else r.operator("contiguous", self, memory_format=memory_format)
    ),
    "Tensor.type": lambda r, self, dtype=None, *_, **__: (
        to(r, self, dtype) if isinstance(dtype, torch.dtype) else NotImplemented
    ),
}


@composed
def unique(
    r: Any, input: Any, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False, dim: Any = None
) -> Any:
    if dim is not None:
        return NotImplemented
    result = r.operator("_unique2", input, sorted, return_inverse, return_counts)
    kept = [result[0], *([result[1]] if return_inverse else []), *([result[2]] if return_counts else [])]
    return kept[0] if len(kept) == 1 else tuple(kept)


@composed
def unique_consecutive(
    r: Any, input: Any, return_inverse: bool = False, return_counts: bool = False, dim: Any = None
) -> Any:
    result = r.operator("unique_consecutive", input, return_inverse, return_counts, dim)
    kept = [result[0], *([result[1]] if return_inverse else []), *([result[2]] if return_counts else [])]
    return kept[0] if len(kept) == 1 else tuple(kept)


@composed
def nonzero(r: Any, input: Any, *, as_tuple: bool = False) -> Any:
    if as_tuple:
        return tuple(r.operator("nonzero_numpy", input))
    return NotImplemented


@composed
def to(r: Any, self: Any, *args: Any, **kwargs: Any) -> Any:
    known = {"dtype": self.dtype, "device": self.device, "layout": self.layout}
    r.create_node("call_function", torch.ops.aten._assert_tensor_metadata.default, (r.node_of(self),), known,
                  name="_assert_tensor_metadata_default")  # fmt: skip
    if len(args) == 1 and isinstance(args[0], Tensor) and not kwargs:
        return r.operator("to", self, args[0].device, args[0].dtype)
    flags = {k: True for k in ("non_blocking", "copy") if kwargs.get(k)}
    named = {k: kwargs[k] for k in ("dtype", "device") if kwargs.get(k) is not None}
    switches = iter(("non_blocking", "copy"))
    for a in args:
        if isinstance(a, Tensor):
            named |= {"dtype": a.dtype, "device": a.device}
        elif isinstance(a, torch.dtype):
            named["dtype"] = a
        elif isinstance(a, (str, torch.device)):
            named["device"] = a
        elif a is not None:
            flags[next(switches)] = a
    if "device" not in named:
        return r.operator("to", self, named["dtype"], **flags) if named else self
    device = torch.device(named["device"])
    if device.type != "cpu":
        return NotImplemented
    if "dtype" in named:
        return r.operator("to", self, device, named["dtype"], **flags)
    return r.operator("to", self, dtype=self.dtype, layout=torch.strided, device=device, **flags)


@composed
def cpu(r: Any, self: Any, memory_format: Any = None) -> Any:
    return to(r, self, "cpu")


@composed
def __getitem__(r: Any, self: Any, key: Any) -> Any:
    """PyTorch's order: numbers, slices and new dims from left to right, then all index tensors at once."""
    keys = list(key) if isinstance(key, tuple) else [key]
    if any(isinstance(k, (list, range)) or (hasattr(k, "__array__") and not isinstance(k, Tensor)) for k in keys):
        keys = [
            r.lifted(torch.tensor, k) if not isinstance(k, (int, slice, Tensor, type(None), type(...), Number)) else k
            for k in keys
        ]
    taken = sum(
        k.dim() if _is_mask(k) else 1 for k in keys if k is not None and k is not ... and not isinstance(k, bool)
    )
    result, dim, tensors = self, 0, {}
    for k in keys:
        if k is ...:
            dim += self.dim() - taken
        elif k is None:
            result, dim = r.operator("unsqueeze", result, dim), dim + 1
        elif isinstance(k, bool):
            return NotImplemented
        elif isinstance(k, slice):
            start, stop, step = (v if v is None or isinstance(v, Number) else int(v) for v in (k.start, k.stop, k.step))
            if isinstance(start, Number) or isinstance(stop, Number):
                result = r.operator("slice", result, dim, start, stop, *([step] if step is not None else []))
            elif (start, stop, step if step != 1 else None) != (None, None, None):
                start = 0 if start is None else start
                stop = 9223372036854775807 if stop is None else stop
                result = r.operator("slice", result, dim, start, stop, *([step] if step not in (None, 1) else []))
            dim += 1
        elif isinstance(k, Tensor):
            tensors[dim] = k
            dim += k.dim() if _is_mask(k) else 1
        else:
            result = r.operator("select", result, dim, k if isinstance(k, Number) else int(k))
    if tensors:
        indices = [tensors.get(d) for d in range(max(tensors) + 1)]
        flat = [k for d, k in enumerate(indices) if k is not None or not _covered(tensors, d)]
        return r.run("index", "Tensor", (result, flat), {})
    return r.operator("alias", result) if result is self else result


def _is_mask(k: Any) -> bool:
    return isinstance(k, Tensor) and k.dtype in (torch.bool, torch.uint8)


def _covered(tensors: dict[int, Any], d: int) -> bool:
    """Whether a dim belongs to a mask that began before it."""
    return any(start < d < start + k.dim() for start, k in tensors.items() if _is_mask(k))


@composed
def __setitem__(r: Any, self: Any, key: Any, value: Any) -> Any:
    keys = list(key) if isinstance(key, tuple) else [key]
    tensors = [k for k in keys if isinstance(k, (Tensor, list))]
    if not tensors:
        r.operator("copy_" if isinstance(value, Tensor) else "fill_", __getitem__(r, self, key), value)
        return None
    if all(isinstance(k, (Tensor, list)) or k == slice(None) for k in keys):
        value_tensor = value if isinstance(value, Tensor) else r.lifted(torch.tensor, value, dtype=self.dtype)
        indices = [torch.tensor(k) if isinstance(k, list) else k if isinstance(k, Tensor) else None for k in keys]
        r.run("index_put_", "default", (self, indices, value_tensor), {})
        return None
    return NotImplemented


@composed
def split(r: Any, tensor: Any, split_size_or_sections: Any = None, dim: int = 0, **kwargs: Any) -> Any:
    size = kwargs.get("split_size", split_size_or_sections)
    if isinstance(size, (int, Number)):
        return r.operator("split", tensor, size, dim)
    return r.operator("split_with_sizes", tensor, list(size), dim)


@composed
def einsum(r: Any, *args: Any) -> Any:
    if not isinstance(args[0], str):
        return NotImplemented
    operands = args[1] if len(args) == 2 and isinstance(args[1], (list, tuple)) else args[1:]
    return r.operator("einsum", args[0], list(operands))


@composed
def meshgrid(r: Any, *tensors: Any, indexing: Any = None) -> Any:
    given = list(tensors[0]) if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)) else list(tensors)
    return r.operator("meshgrid", given, **({} if indexing is None else {"indexing": indexing}))


@composed
def tensordot(r: Any, a: Any, b: Any, dims: Any = 2, out: Any = None) -> Any:
    if isinstance(dims, int):
        dims = list(range(-dims, 0)), list(range(dims))
    return r.operator("tensordot", a, b, list(dims[0]), list(dims[1]))
