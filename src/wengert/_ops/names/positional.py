"""Functions of ``torch.`` behind those of ``nn.functional``, with positional arguments and reductions as numbers.

Traced and translated programs call them. A reduction is 0 (none, the default), 1 (mean) or 2 (sum).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..._base.dtypes import type_name
from ..._base.errors import warn_once
from ..._base.registry import TENSORS, public
from ..._kinds.dims import normal_dim, rank
from ..._kinds.keywords import with_out
from ..._kinds.out import exactly
from ..._kinds.slow_path import check_arguments, misfit, require
from ..._payloads.batching import for_each_example
from ..._payloads.meta import on_meta
from ..._tape.inplace import apply_inplace
from ..._tape.promotion import logical_dtype
from ..._tape.tensor import Tensor, wrap
from ..._tape.view_chain import with_node_name
from ..._tensor_api.construct import placed_beside
from ..indexing.embedding import _renorm
from ..indexing.scatter import values_or_zeros
from ..linalg.addmm import addmv
from ..linalg.matrix_functions import matrix_norm
from ..nn.batch_norm import batch_norm
from ..nn.conv import conv1d
from ..nn.distance import cosine_embedding_loss, pairwise_distance
from ..nn.grid import affine_grid
from ..nn.likelihoods import bernoulli_logits_nll, poisson_nll_loss
from ..nn.loss import hinge_embedding_loss, margin_ranking_loss, reduce_values
from ..nn.pool import adaptive_max_pool1d, adaptive_max_pool2d, adaptive_max_pool3d, max_pool1d
from ..reduce.norms import vector_norm
from ..reduce.sort import unique
from ..shape.views_primitive import payload

_REDUCTION = ("none", "mean", "sum")


def _reduction(name: str, code: Any, position: int) -> int:
    if isinstance(code, (bool, float)) or not hasattr(code, "__index__"):
        raise TypeError(f"{name}(): argument 'reduction' (position {position}) must be int, not {type_name(code)}")
    return int(code)


# ---- losses
@public("torch.kl_div")
def kl_div(input: Tensor, target: Tensor, reduction: int = 0, *, log_target: bool = False) -> Tensor:
    """``nn.functional.kl_div`` with the reduction as a number.

    >>> torch.kl_div(torch.tensor([0.5]).log(), torch.tensor([1.]))
    tensor([0.6931])
    """
    check_arguments("kl_div", input, target, log_target=log_target)
    code = _reduction("kl_div", reduction, 3)
    first = TENSORS.exp(target) * (target - input) if log_target else TENSORS.xlogy(target, target) - target * input
    return reduce_values(first, code)


@public("torch.binary_cross_entropy_with_logits")
def binary_cross_entropy_with_logits(
    input: Tensor, target: Tensor, weight: Tensor | None = None, pos_weight: Tensor | None = None, reduction: int = 0
) -> Tensor:
    """``nn.functional.binary_cross_entropy_with_logits`` with the reduction as a number; the target may broadcast.

    >>> torch.binary_cross_entropy_with_logits(torch.tensor([0.]), torch.tensor([1.]))
    tensor([0.6931])
    """
    check_arguments("binary_cross_entropy_with_logits", input, target, weight, pos_weight)
    code = _reduction("binary_cross_entropy_with_logits", reduction, 5)
    return bernoulli_logits_nll(input, target, weight, pos_weight, code)


@public("torch.poisson_nll_loss")
def torch_poisson_nll_loss(
    input: Tensor, target: Tensor, log_input: bool, full: bool, eps: float, reduction: int
) -> Tensor:
    """``nn.functional.poisson_nll_loss`` with the reduction as a number.

    >>> torch.poisson_nll_loss(torch.tensor([0.]), torch.tensor([2.]), True, False, 1e-8, 1)
    tensor(1.)
    """
    check_arguments("poisson_nll_loss", input, target, log_input, full, eps, 1)
    code = _reduction("poisson_nll_loss", reduction, 6)
    return poisson_nll_loss(input, target, log_input, full, eps=eps, reduction=_REDUCTION[code])


@public("torch.cosine_embedding_loss")
def torch_cosine_embedding_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0, reduction: int = 0
) -> Tensor:
    """``nn.functional.cosine_embedding_loss`` with the reduction as a number.

    >>> x, y = torch.tensor([[1., 0.]]), torch.tensor([[0., 1.]])
    >>> torch.cosine_embedding_loss(x, y, torch.tensor([1]))
    tensor([1.])
    """
    code = _reduction("cosine_embedding_loss", reduction, 5)
    return cosine_embedding_loss(input1, input2, target, margin, reduction=_REDUCTION[code])


@public("torch.hinge_embedding_loss")
def torch_hinge_embedding_loss(input: Tensor, target: Tensor, margin: float = 1.0, reduction: int = 0) -> Tensor:
    """``nn.functional.hinge_embedding_loss`` with the reduction as a number.

    >>> torch.hinge_embedding_loss(torch.tensor([0.25, 2.]), torch.tensor([-1, 1]))
    tensor([0.7500, 2.0000])
    """
    code = _reduction("hinge_embedding_loss", reduction, 4)
    return hinge_embedding_loss(input, target, margin, reduction=_REDUCTION[code])


@public("torch.margin_ranking_loss")
def torch_margin_ranking_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0, reduction: int = 0
) -> Tensor:
    """``nn.functional.margin_ranking_loss`` with the reduction as a number.

    >>> torch.margin_ranking_loss(torch.tensor([1.]), torch.tensor([3.]), torch.tensor([1.]))
    tensor([2.])
    """
    code = _reduction("margin_ranking_loss", reduction, 5)
    return margin_ranking_loss(input1, input2, target, margin, reduction=_REDUCTION[code])


@public("torch.triplet_margin_loss")
def torch_triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2.0,
    eps: float = 1e-6,
    swap: bool = False,
    reduction: int = 0,
) -> Tensor:
    """``nn.functional.triplet_margin_loss`` with the reduction as a number.

    >>> torch.triplet_margin_loss(torch.tensor([[0.]]), torch.tensor([[1.]]), torch.tensor([[1.5]]))
    tensor([0.5000])
    """
    code = _reduction("triplet_margin_loss", reduction, 8)
    near, far = pairwise_distance(anchor, positive, p, eps), pairwise_distance(anchor, negative, p, eps)
    if swap:
        far = TENSORS.minimum(far, pairwise_distance(positive, negative, p, eps))
    return reduce_values((margin + near - far).clamp_min(0), code)


# ---- norms
@public("torch.frobenius_norm")
@with_out
def frobenius_norm(input: Tensor, dim: Any, keepdim: bool = False) -> Tensor:
    """Deprecated: ``linalg.vector_norm(input, 2, dim, keepdim)``.

    >>> torch.frobenius_norm(torch.tensor([[3., 4.]]), dim=(0, 1))
    tensor(5.)
    """
    check_arguments("frobenius_norm", input, dim, keepdim)
    warn_once(
        "at::frobenius_norm is deprecated and it is just left for JIT compatibility. It will be removed in a future "
        "PyTorch release. Please use `linalg.vector_norm(A, 2., dim, keepdim)` instead"
    )
    return vector_norm(input, 2.0, dim if isinstance(dim, int) else tuple(dim) or None, keepdim)


@public("torch.nuclear_norm")
@with_out
def nuclear_norm(input: Tensor, dim: Any = (-2, -1), keepdim: bool = False) -> Tensor:
    """Deprecated: ``linalg.matrix_norm(input, "nuc", dim, keepdim)``.

    >>> torch.nuclear_norm(torch.tensor([[3., 0.], [0., 4.]]))
    tensor(7.)
    """
    warn_once(
        "at::nuclear_norm is deprecated and it is just left for JIT compatibility. It will be removed in a future "
        "PyTorch release. Please use `linalg.matrix_norm(A, 'nuc', dim, keepdim)` instead"
    )
    if isinstance(dim, bool):
        dim, keepdim = (-2, -1), dim
    return matrix_norm(input, "nuc", tuple(dim), keepdim)


@public("torch.norm_except_dim")
def norm_except_dim(v: Tensor, pow: int = 2, dim: int = 0) -> Tensor:
    """The norm over all dims but ``dim`` (-1: over all dims), with the reduced dims kept at size 1.

    >>> torch.norm_except_dim(torch.tensor([[3., 4.], [6., 8.]]))
    tensor([[ 5.],
            [10.]])
    """
    check_arguments("norm_except_dim", v, pow, dim)
    if dim == -1:
        return vector_norm(v, pow)
    rank = v._payload.ndim
    kept = normal_dim(dim, rank)
    others = tuple(d for d in range(rank) if d != kept)
    return vector_norm(v, pow, others, True) if others else TENSORS.abs(v)


@public("torch._weight_norm")
def _weight_norm(v: Tensor, g: Tensor, dim: int = 0) -> Tensor:
    """``v`` scaled to norm ``g`` over all dims but ``dim``."""
    check_arguments("_weight_norm", v, g, dim)
    weight = v * (g / norm_except_dim(v, 2, dim))
    fused = dim in (0, v._payload.ndim - 1)  # PyTorch has one kernel for these
    return with_node_name(weight, "WeightNormInterfaceBackward0") if fused else weight


# ---- layers
@public("torch.native_batch_norm")
@with_out(exactly("expected scalar type {Result} but found {Out}"))
def native_batch_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    training: bool,
    momentum: float,
    eps: float,
) -> tuple[Tensor, Tensor, Tensor]:
    """``nn.functional.batch_norm`` with the means and inverse deviations of the batch (empty if not training).

    >>> result, mean, scale = torch.native_batch_norm(torch.tensor([[1.], [3.]]), None, None, None, None, True, 0.1, 0.)
    >>> mean, scale
    (tensor([2.]), tensor([1.]))
    """
    dtype = logical_dtype(input)
    require(input, "fh", "batch_norm")
    if not training:
        result = batch_norm(input, running_mean, running_var, weight, bias, False, momentum, eps)
        size = input._payload.shape[1:2] if on_meta(input) else (0,)  # PyTorch's shape for tensors without data
        return result, placed_beside(input, np.empty(size, dtype)), placed_beside(input, np.empty(size, dtype))
    x = input.detach()
    dims = (0, *range(2, x._payload.ndim))
    mean = TENSORS.mean_dim(x, dims, True)
    deviation = x - mean
    scale = (TENSORS.mean_dim(deviation * deviation, dims, False) + eps) ** -0.5
    # PyTorch checks neither eps nor the number of values here
    result = _standardized(input, weight, bias, running_mean, running_var, momentum, eps)
    return result, TENSORS.reshape(mean, (mean._payload.shape[1],)), scale


def _standardized(input: Any, weight: Any, bias: Any, mean: Any, var: Any, momentum: float, eps: float) -> Any:
    if eps > 0:
        return batch_norm(input, mean, var, weight, bias, True, momentum, eps)
    dims = (0, *range(2, input._payload.ndim))
    deviation = input - TENSORS.mean_dim(input, dims, True)
    result = deviation * (TENSORS.mean_dim(deviation * deviation, dims, True) + eps) ** -0.5
    along = (-1, *(1,) * (input._payload.ndim - 2))
    if weight is not None:
        result = result * weight.reshape(along)
    return with_node_name(result if bias is None else result + bias.reshape(along), "NativeBatchNormBackward0")


@public("torch.conv_tbc nn.functional.conv_tbc")
def conv_tbc(input: Tensor, weight: Tensor, bias: Tensor, pad: int = 0) -> Tensor:
    """``conv1d`` of (time, batch, channels) with a weight (width, channels in, channels out).

    >>> torch.conv_tbc(torch.ones(3, 1, 1), torch.ones(2, 1, 1), torch.zeros(1)).flatten()
    tensor([2., 2.])
    """
    x, w, b = (payload(t, "conv_tbc") for t in (input, weight, bias))
    if x.ndim != 3:
        raise RuntimeError("Input must have 3 dims: time, batch, in_channel")
    if w.ndim != 3:
        raise RuntimeError("Weight tensor must have 3 dims: kernel_width, in_channels, out_channels.")
    if b.ndim != 1:
        raise RuntimeError("Bias must be 1-D")
    if x.shape[2] != w.shape[1]:
        raise RuntimeError("Input dim 2 (input channels) is not == dim 1 in the weight tensor")
    if b.shape[0] != w.shape[2]:
        raise RuntimeError("Bias size must equal dim 2 in the weight tensor (output channels).")
    result = conv1d(TENSORS.permute(input, (1, 2, 0)), TENSORS.permute(weight, (2, 1, 0)), bias, padding=int(pad))
    return with_node_name(TENSORS.permute(result, (2, 0, 1)), "ConvTbcBackward0")


@public("torch.affine_grid_generator")
def affine_grid_generator(theta: Tensor, size: Sequence[int], align_corners: bool) -> Tensor:
    """``nn.functional.affine_grid``.

    >>> torch.affine_grid_generator(torch.tensor([[[1., 0., 0.], [0., 1., 0.]]]), (1, 1, 1, 2), False)
    tensor([[[[-0.5000,  0.0000],
              [ 0.5000,  0.0000]]]])
    """
    return affine_grid(theta, size, align_corners)


@public("torch.max_pool1d_with_indices nn.functional.max_pool1d_with_indices")
def max_pool1d_with_indices(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> tuple[Tensor, Tensor]:
    """``nn.functional.max_pool1d``: the maxima and their indices.

    >>> torch.max_pool1d_with_indices(torch.tensor([[1., 3., 2., 0.]]), 2)
    (tensor([[3., 2.]]), tensor([[1, 2]]))
    """
    stride = stride if stride is None or isinstance(stride, int) or len(stride) else None
    return max_pool1d(input, kernel_size, stride, padding, dilation, ceil_mode, True)


def _with_indices(rank: int, pool: Any) -> None:
    def form(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
        return pool(input, output_size, True)

    name = form.__name__ = form.__qualname__ = f"adaptive_max_pool{rank}d_with_indices"
    form.__doc__ = f"``adaptive_max_pool{rank}d``: the maxima and their indices, whatever ``return_indices`` is."
    public(f"nn.functional.{name}")(form)


for _rank, _pool in enumerate((adaptive_max_pool1d, adaptive_max_pool2d, adaptive_max_pool3d), 1):
    _with_indices(_rank, _pool)


# ---- in place
@public("torch.addmv_")
def addmv_(input: Tensor, mat: Tensor, vec: Tensor, *, beta: float = 1, alpha: float = 1) -> Tensor:
    """``Tensor.addmv_`` as a function.

    >>> torch.addmv_(torch.tensor([1., 2.]), torch.eye(2), torch.tensor([3., 4.]))
    tensor([4., 6.])
    """
    return apply_inplace(addmv, input, (mat, vec), {"beta": beta, "alpha": alpha})


@public("torch.embedding_renorm_")
def embedding_renorm_(input: Tensor, indices: Tensor, max_norm: float, norm_type: float) -> Tensor:
    """Scale the rows of a matrix at ``indices`` whose norm is larger than ``max_norm`` down to it, in place.

    >>> torch.embedding_renorm_(torch.tensor([[3., 4.], [6., 8.]]), torch.tensor([1]), 5., 2.)
    tensor([[3., 4.],
            [3., 4.]])
    """
    _renorm(input, indices, max_norm, norm_type)
    return input


# ---- hashes
@public("torch.hash_tensor Tensor.hash_tensor")
@with_out(exactly("Expected result to be of dtype uint64, but got {Out}"))
def hash_tensor(input: Tensor, dim: Any = (), *, keepdim: bool = False, mode: int = 0) -> Tensor:
    """A uint64 hash of the elements along dims, by default of all: the exclusive or of their 64-bit patterns.

    Floating numbers are converted to float64, integers to int64.

    >>> torch.hash_tensor(torch.tensor([[1, 2], [3, 4]]), 0)
    tensor([2, 6], dtype=torch.uint64)
    """
    payload(input, "hash_tensor")
    if (each := for_each_example(lambda one: hash_tensor(one, dim, keepdim=keepdim, mode=mode), input)) is not None:
        return each
    a = values_or_zeros(input, "hash_tensor")
    if mode != 0:
        raise RuntimeError(f"Unknown hash_tensor mode: {mode}")
    dims = (dim,) if isinstance(dim, int) else tuple(dim or ())
    dims = tuple(normal_dim(d, a.ndim) for d in dims)
    if not a.size and not dims:
        raise RuntimeError(
            "hash_tensor: Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim "
            "with the 'dim' argument."
        )
    for d in dims:
        if a.ndim and not a.shape[d]:
            raise IndexError(f"hash_tensor: Expected reduction dim {d} to have non-zero size.")
    if a.dtype.kind == "c":
        from ..._base.registry import REGISTRY
        from ..._kinds.slow_path import not_implemented

        raise not_implemented(REGISTRY["abs"], input, "xor_sum_cpu")
    wide = np.float64 if a.dtype.kind not in "iub" else a.dtype if a.dtype == np.uint64 else np.int64
    bits = np.ascontiguousarray(a.astype(wide)).view(np.uint64).reshape(a.shape)
    axis: Any = dims if dims and a.ndim else None
    xor: Any = np.bitwise_xor.reduce
    return placed_beside(input, np.asarray(xor(bits, axis=axis, keepdims=keepdim)))


# ---- unique
@public("torch.unique_dim")
def unique_dim(
    input: Tensor, dim: int, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False
) -> tuple[Tensor, Tensor, Tensor]:
    """``torch.unique`` along a dimension, with inverse indices and counts, which are empty unless requested.

    >>> torch.unique(torch.tensor([[1, 1], [0, 0], [1, 1]]), dim=0)
    tensor([[0, 0],
            [1, 1]])
    """
    values, inverse, counts = unique(input, True, True, True, dim)
    empty = wrap(np.empty(0, np.int64))
    return values, inverse if return_inverse else empty, counts if return_counts else empty


@public("torch._unique")
def _unique(input: Tensor, sorted: bool = True, return_inverse: bool = False) -> tuple[Tensor, Tensor]:
    """``torch.unique`` with inverse indices, which are empty unless requested."""
    values, inverse, _ = _unique2(input, sorted, return_inverse)
    return values, inverse


@public("torch._unique2")
def _unique2(
    input: Tensor, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False
) -> tuple[Tensor, Tensor, Tensor]:
    """``torch.unique`` with inverse indices and counts, which are empty unless requested."""
    values, inverse, counts = unique(input, sorted, True, True)
    if type(return_inverse) is not bool or type(return_counts) is not bool:
        raise misfit("_unique2", input, sorted, return_inverse, return_counts)
    empty = wrap(np.empty(0, np.int64))
    return values, inverse if return_inverse else empty, counts if return_counts else empty


# ---- derivatives and casts, which programs call by their inner names
def _of_softmax(name: str, grad_output: Tensor, output: Tensor, dim: int, input_dtype: Any) -> Tensor:
    check_arguments(name, grad_output, output, dim, input_dtype)
    dim = normal_dim(dim, rank(output, name))
    if grad_output.shape != output.shape:
        raise RuntimeError(
            f"Expected tensor for argument #1 'grad' to have same size as tensor for argument #2 'output'; but "
            f"{list(grad_output.shape)} does not equal {list(output.shape)} (while checking arguments for "
            f"{name.strip('_').removesuffix('_data')})"
        )
    return getattr(TENSORS, name)(grad_output, output, dim)


@public("torch._softmax_backward_data")
def _softmax_backward_data(grad_output: Tensor, output: Tensor, dim: int, input_dtype: Any) -> Tensor:
    """The gradient of softmax's input, given those of its output and the output: for custom functions (DeBERTa's).

    >>> torch._softmax_backward_data(torch.tensor([1., 0.]), torch.tensor([0.5, 0.5]), 0, torch.float32)
    tensor([ 0.2500, -0.2500])
    """
    return _of_softmax("_softmax_backward_data", grad_output, output, dim, input_dtype)


@public("torch._log_softmax_backward_data")
def _log_softmax_backward_data(grad_output: Tensor, output: Tensor, dim: int, input_dtype: Any) -> Tensor:
    """The gradient of log_softmax's input, given those of its output and the output.

    >>> torch._log_softmax_backward_data(torch.tensor([1., 0.]), torch.tensor([0.5, 0.5]).log(), 0, torch.float32)
    tensor([ 0.5000, -0.5000])
    """
    return _of_softmax("_log_softmax_backward_data", grad_output, output, dim, input_dtype)


def _cast(name: str) -> Any:
    def cast(input: Tensor, non_blocking: bool = False) -> Tensor:
        check_arguments(f"_cast_{name}", input, non_blocking)
        return getattr(input, name.lower())()

    cast.__name__ = cast.__qualname__ = f"_cast_{name}"
    cast.__doc__ = f"``input.{name.lower()}()``."
    return public(f"torch._cast_{name}")(cast)


for _name in ("Byte", "Char", "Double", "Float", "Half", "Int", "Long", "Short"):
    globals()[f"_cast_{_name}"] = _cast(_name)


# ---- loading state
@public("Tensor.module_load")
def module_load(self: Tensor, other: Tensor, assign: bool = False) -> Tensor:
    """The new value of a parameter: ``other`` if ``assign``, else this tensor with the values of ``other``."""
    if assign:
        return other.detach()
    return self.copy_(other).detach()
