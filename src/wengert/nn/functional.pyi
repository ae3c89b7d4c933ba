# Made by tools/make_stubs.py; do not edit.
from builtins import bool as _bool, float as _float, int as _int, str as _str, tuple as _tuple
from collections.abc import Callable, Sequence
from typing import Any, Literal, overload
from .._base.dtypes import dtype as _dtype
from .._tape.tensor import Ints, Number, Tensor
from .. import adaptive_avg_pool1d as adaptive_avg_pool1d, avg_pool1d as avg_pool1d, bilinear as bilinear, celu as celu, celu_ as celu_, channel_shuffle as channel_shuffle, conv1d as conv1d, conv2d as conv2d, conv3d as conv3d, conv_tbc as conv_tbc, conv_transpose1d as conv_transpose1d, conv_transpose2d as conv_transpose2d, conv_transpose3d as conv_transpose3d, cosine_similarity as cosine_similarity, group_norm as group_norm, hardshrink as hardshrink, layer_norm as layer_norm, max_pool1d as max_pool1d, max_pool1d_with_indices as max_pool1d_with_indices, max_pool2d as max_pool2d, max_pool3d as max_pool3d, native_channel_shuffle as native_channel_shuffle, pairwise_distance as pairwise_distance, pdist as pdist, pixel_shuffle as pixel_shuffle, pixel_unshuffle as pixel_unshuffle, prelu as prelu, relu_ as relu_, rms_norm as rms_norm, rrelu as rrelu, rrelu_ as rrelu_, selu as selu, selu_ as selu_, sigmoid as sigmoid, tanh as tanh, threshold as threshold, threshold_ as threshold_
def adaptive_avg_pool2d(input: Tensor, output_size: _int | Sequence[_int | None] | None) -> Tensor:
    """The means of ``output_size`` parts of each image; ``None`` keeps a dimension's size."""
def adaptive_avg_pool3d(input: Tensor, output_size: _int | Sequence[_int | None] | None) -> Tensor:
    """The means of parts of volumes; see ``adaptive_avg_pool2d``."""
@overload
def adaptive_max_pool1d(input: Tensor, output_size: _int | Sequence[_int | None] | None, return_indices: Literal[False]=False) -> Tensor:
    """The largest elements of parts of signals."""
@overload
def adaptive_max_pool1d(input: Tensor, output_size: _int | Sequence[_int | None] | None, *, return_indices: Literal[True]) -> _tuple[Tensor, Tensor]: ...
def adaptive_max_pool1d_with_indices(input: Tensor, output_size: _int | Sequence[_int | None] | None, return_indices: _bool = False) -> Any:
    """``adaptive_max_pool1d``: the maxima and their indices, whatever ``return_indices`` is."""
@overload
def adaptive_max_pool2d(input: Tensor, output_size: _int | Sequence[_int | None] | None, return_indices: Literal[False]=False) -> Tensor:
    """The largest elements of ``output_size`` parts of each image."""
@overload
def adaptive_max_pool2d(input: Tensor, output_size: _int | Sequence[_int | None] | None, *, return_indices: Literal[True]) -> _tuple[Tensor, Tensor]: ...
def adaptive_max_pool2d_with_indices(input: Tensor, output_size: _int | Sequence[_int | None] | None, return_indices: _bool = False) -> Any:
    """``adaptive_max_pool2d``: the maxima and their indices, whatever ``return_indices`` is."""
@overload
def adaptive_max_pool3d(input: Tensor, output_size: _int | Sequence[_int | None] | None, return_indices: Literal[False]=False) -> Tensor:
    """The largest elements of parts of volumes."""
@overload
def adaptive_max_pool3d(input: Tensor, output_size: _int | Sequence[_int | None] | None, *, return_indices: Literal[True]) -> _tuple[Tensor, Tensor]: ...
def adaptive_max_pool3d_with_indices(input: Tensor, output_size: _int | Sequence[_int | None] | None, return_indices: _bool = False) -> Any:
    """``adaptive_max_pool3d``: the maxima and their indices, whatever ``return_indices`` is."""
def affine_grid(theta: Tensor, size: Ints, align_corners: _bool | None = None) -> Tensor:
    """The places for ``grid_sample`` that apply affine maps ``(N, 2, 3)`` to images of ``size`` ``(N, C, H, W)``."""
def alpha_dropout(input: Tensor, p: _float = 0.5, training: _bool = False, inplace: _bool = False) -> Tensor:
    """Dropout for SELU: dropped elements become its lower limit; mean and variance are unchanged."""
def avg_pool2d(input: Tensor, kernel_size: Ints, stride: Ints | None = None, padding: _str | Ints = 0, ceil_mode: _bool = False, count_include_pad: _bool = True, divisor_override: _int | None = None, *, out: Tensor | None = None) -> Tensor:
    """The mean of each window of images ``(N, C, H, W)`` or ``(C, H, W)``."""
def avg_pool3d(input: Tensor, kernel_size: Ints, stride: Ints | None = None, padding: _str | Ints = 0, ceil_mode: _bool = False, count_include_pad: _bool = True, divisor_override: _int | None = None, *, out: Tensor | None = None) -> Tensor:
    """The mean of each window of volumes; see ``avg_pool2d``."""
def batch_norm(input: Tensor, running_mean: Tensor | None, running_var: Tensor | None, weight: Tensor | None = None, bias: Tensor | None = None, training: _bool = False, momentum: _float = 0.1, eps: _float = 1e-05) -> Tensor:
    """Each channel of ``(N, C, *)`` standardised over the batch (``training``) or by the running statistics."""
def binary_cross_entropy(input: Tensor, target: Tensor, weight: Tensor | None = None, size_average: _bool | None = None, reduce: _bool | None = None, reduction: _str = 'mean') -> Tensor:
    """Cross entropy of probabilities ``input`` with targets between 0 and 1, of the same size."""
def binary_cross_entropy_with_logits(input: Tensor, target: Tensor, weight: Tensor | None = None, size_average: _bool | None = None, reduce: _bool | None = None, reduction: _str = 'mean', pos_weight: Tensor | None = None) -> Tensor:
    """Cross entropy of ``sigmoid(input)`` with targets between 0 and 1; ``pos_weight`` weighs the positive part."""
def cosine_embedding_loss(input1: Tensor, input2: Tensor, target: Tensor, margin: _float = 0, size_average: _bool | None = None, reduce: _bool | None = None, reduction: _str = 'mean') -> Tensor:
    """``1 - cos(x1, x2)`` where the target is 1, ``max(0, cos(x1, x2) - margin)`` where it is -1."""
def cross_entropy(input: Tensor, target: Tensor, weight: Tensor | None = None, size_average: _bool | None = None, ignore_index: _int = -100, reduce: _bool | None = None, reduction: _str = 'mean', label_smoothing: _float = 0.0) -> Tensor:
    """Cross entropy of ``softmax(input)`` and targets: classes (int64), or probabilities of the input's shape."""
def ctc_loss(log_probs: Tensor, targets: Tensor, input_lengths: Tensor | Sequence[Any], target_lengths: Tensor | Sequence[Any], blank: _int = 0, reduction: _str = 'mean', zero_infinity: _bool = False) -> Tensor:
    """Minus the log-likelihood of label sequences over all their alignments with the steps of ``log_probs``."""
def dropout(input: Tensor, p: _float = 0.5, training: _bool = True, inplace: _bool = False) -> Tensor:
    """Each element is zero with probability ``p``, else divided by 1 - p; the input itself unless ``training``."""
def dropout1d(input: Tensor, p: _float = 0.5, training: _bool = True, inplace: _bool = False) -> Tensor:
    """Whole channels are zero with probability ``p``; input of shape (N, C, L) or (C, L)."""
def dropout2d(input: Tensor, p: _float = 0.5, training: _bool = True, inplace: _bool = False) -> Tensor:
    """Whole channels are zero with probability ``p``; input of shape (N, C, H, W)."""
def dropout3d(input: Tensor, p: _float = 0.5, training: _bool = True, inplace: _bool = False) -> Tensor:
    """Whole channels are zero with probability ``p``; input of shape (N, C, D, H, W) or (C, D, H, W)."""
def elu(input: Tensor, alpha: _float = 1.0, inplace: _bool = False) -> Tensor:
    """Each element, and ``alpha * (exp(x) - 1)`` where it is negative."""
def elu_(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """In-place form of ``elu``."""
def embedding(input: Tensor, weight: Tensor, padding_idx: _int | None = None, max_norm: _float | None = None, norm_type: _float = 2.0, scale_grad_by_freq: _bool = False, sparse: _bool = False) -> Tensor:
    """The rows of a matrix at some indices."""
def embedding_bag(input: Tensor, weight: Tensor, offsets: Tensor | None = None, max_norm: _float | None = None, norm_type: _float = 2, scale_grad_by_freq: _bool = False, mode: _str = 'mean', sparse: _bool = False, per_sample_weights: Tensor | None = None, include_last_offset: _bool = False, padding_idx: _int | None = None) -> Tensor:
    """The sum, mean or maximum of the rows of a matrix at the indices of each bag."""
def feature_alpha_dropout(input: Tensor, p: _float = 0.5, training: _bool = False, inplace: _bool = False) -> Tensor:
    """``alpha_dropout`` of whole channels (dimension 1)."""
def fold(input: Tensor, output_size: _int | Sequence[_int | None] | None, kernel_size: Ints, dilation: Ints = 1, padding: _str | Ints = 0, stride: Ints = 1) -> Tensor:
    """Columns ``(N, C * kernel elements, windows)`` added up in images ``(N, C, *output_size)``."""
@overload
def fractional_max_pool2d(input: Tensor, kernel_size: Ints, output_size: Ints | None=None, output_ratio: _float | Sequence[_float] | None=None, return_indices: Literal[False]=False, _random_samples: Tensor | None=None) -> Tensor:
    """The largest elements of windows at random places of images ``(N, C, H, W)`` or ``(C, H, W)``."""
@overload
def fractional_max_pool2d(input: Tensor, kernel_size: Ints, output_size: Ints | None=None, output_ratio: _float | Sequence[_float] | None=None, *, return_indices: Literal[True], _random_samples: Tensor | None=None) -> _tuple[Tensor, Tensor]: ...
def fractional_max_pool2d_with_indices(input: Tensor, kernel_size: Ints, output_size: _int | Sequence[_int | None] | None = None, output_ratio: Any = None, return_indices: _bool = False, _random_samples: Tensor | None = None) -> Any:
    """``fractional_max_pool2d`` with ``return_indices=True``."""
@overload
def fractional_max_pool3d(input: Tensor, kernel_size: Ints, output_size: Ints | None=None, output_ratio: _float | Sequence[_float] | None=None, return_indices: Literal[False]=False, _random_samples: Tensor | None=None) -> Tensor:
    """The largest elements of windows at random places of volumes; see ``fractional_max_pool2d``."""
@overload
def fractional_max_pool3d(input: Tensor, kernel_size: Ints, output_size: Ints | None=None, output_ratio: _float | Sequence[_float] | None=None, *, return_indices: Literal[True], _random_samples: Tensor | None=None) -> _tuple[Tensor, Tensor]: ...
def fractional_max_pool3d_with_indices(input: Tensor, kernel_size: Ints, output_size: _int | Sequence[_int | None] | None = None, output_ratio: Any = None, return_indices: _bool = False, _random_samples: Tensor | None = None) -> Any:
    """``fractional_max_pool3d`` with ``return_indices=True``."""
def gaussian_nll_loss(input: Tensor, target: Tensor, var: Any, full: _bool = False, eps: _float = 1e-06, reduction: _str = 'mean') -> Tensor:
    """Negative log-likelihood under normal distributions with means ``input`` and variances ``var`` (at least eps)."""
def gelu(input: Tensor, *, approximate: _str = 'none', out: Tensor | None = None) -> Tensor:
    """x times the probability that a standard normal variable is below x; ``approximate="tanh"``: without erf."""
def glu(input: Tensor, dim: _int = -1) -> Tensor:
    """The first half along a dim of even size, times the sigmoid of the second."""
def grid_sample(input: Tensor, grid: Tensor, mode: _str = 'bilinear', padding_mode: _str = 'zeros', align_corners: _bool | None = None) -> Tensor:
    """Images ``(N, C, H, W)`` sampled at the places ``(N, Ho, Wo, 2)``, or volumes at ``(N, Do, Ho, Wo, 3)``."""
def grouped_mm(mat_a: Tensor, mat_b: Tensor, *, offs: Tensor | None = None, bias: Any = None, out_dtype: Any = None) -> Tensor:
    """The products of groups of two matrices, or batches of them; ``offs`` says where each group of a matrix ends."""
def gumbel_softmax(logits: Tensor, tau: _float = 1, hard: _bool = False, eps: _float = 1e-10, dim: _int = -1) -> Tensor:
    """A sample of the Gumbel-softmax distribution (Jang et al. 2017): soft, or one-hot with the soft one's gradient."""
def hardsigmoid(input: Tensor, inplace: _bool = False) -> Tensor:
    """``min(max(0, x + 3), 6) / 6``."""
def hardswish(input: Tensor, inplace: _bool = False) -> Tensor:
    """``x * min(max(0, x + 3), 6) / 6``."""
def hardtanh(input: Tensor, min_val: _float = -1.0, max_val: _float = 1.0, inplace: _bool = False) -> Tensor:
    """Each element, at least ``min_val`` and at most ``max_val``; the derivative is 0 at both."""
def hardtanh_(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """In-place form of ``hardtanh``."""
def hinge_embedding_loss(input: Tensor, target: Tensor, margin: _float = 1.0, size_average: _bool | None = None, reduce: _bool | None = None, reduction: _str = 'mean') -> Tensor:
    """The input where the target is 1, ``max(0, margin - input)`` where it is -1."""
def huber_loss(input: Tensor, target: Tensor, reduction: _str = 'mean', delta: _float = 1.0, weight: Tensor | None = None) -> Tensor:
    """``0.5 d^2`` where ``|d| <= delta``, ``delta (|d| - 0.5 delta)`` elsewhere."""
def instance_norm(input: Tensor, running_mean: Tensor | None = None, running_var: Tensor | None = None, weight: Tensor | None = None, bias: Tensor | None = None, use_input_stats: _bool = True, momentum: _float = 0.1, eps: _float = 1e-05) -> Tensor:
    """Each channel of each sample of ``(N, C, *)`` standardised by itself."""
def interpolate(input: Tensor, size: Ints | None = None, scale_factor: Any = None, mode: _str = 'nearest', align_corners: _bool | None = None, recompute_scale_factor: _bool | None = None, antialias: _bool = False) -> Tensor:
    """A batch of signals, images or volumes ``(N, C, ...)`` resampled to ``size``, or by ``scale_factor``."""
def kl_div(input: Tensor, target: Tensor, size_average: _bool | None = None, reduce: _bool | None = None, reduction: _str = 'mean', log_target: _bool = False) -> Tensor:
    """``target * (log(target) - input)`` for log-probabilities input; "batchmean" divides by the size of the batch."""
def l1_loss(input: Tensor, target: Tensor, size_average: _bool | None = None, reduce: _bool | None = None, reduction: _str = 'mean', weight: Tensor | None = None) -> Tensor:
    """Mean of the absolute differences of input and target."""
def leaky_relu(input: Tensor, negative_slope: _float = 0.01, inplace: _bool = False) -> Tensor:
    """Each element, times ``negative_slope`` if it is negative."""
def leaky_relu_(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """In-place form of ``leaky_relu``."""
def linear(input: Tensor, weight: Tensor | Number, bias: Any = None) -> Any:
    """``input @ weight.T + bias``: the fully connected layer."""
def linear_cross_entropy(input: Tensor, linear_weight: Tensor, target: Tensor, *, linear_bias: Tensor | None = None, weight: Tensor | None = None, reduction: _str = 'mean', ignore_index: _int | None = None, label_smoothing: _float = 0.0, options: Any = None) -> Tensor:
    """``cross_entropy(linear(input, linear_weight, linear_bias), target)``."""
def local_response_norm(input: Tensor, size: _int, alpha: _float = 0.0001, beta: _float = 0.75, k: _float = 1.0) -> Tensor:
    """Each element divided by ``(k + alpha * mean of squares over size neighbouring channels) ** beta``."""
def log_softmax(input: Tensor, dim: _int | None = None, _stacklevel: _int = 3, dtype: _dtype | None = None) -> Tensor:
    """Logarithm of softmax along a dim; see ``nn.functional.softmax`` for a missing ``dim``."""
def logsigmoid(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The logarithm of ``sigmoid``, without overflow."""
def lp_pool1d(input: Tensor, norm_type: _float, kernel_size: Ints, stride: Ints | None = None, ceil_mode: _bool = False) -> Tensor:
    """The p-norm of each window of signals, p being ``norm_type``."""
def lp_pool2d(input: Tensor, norm_type: _float, kernel_size: Ints, stride: Ints | None = None, ceil_mode: _bool = False) -> Tensor:
    """The p-norm of each window of images."""
def lp_pool3d(input: Tensor, norm_type: _float, kernel_size: Ints, stride: Ints | None = None, ceil_mode: _bool = False) -> Tensor:
    """The p-norm of each window of volumes."""
def margin_ranking_loss(input1: Tensor, input2: Tensor, target: Tensor, margin: _float = 0, size_average: _bool | None = None, reduce: _bool | None = None, reduction: _str = 'mean') -> Tensor:
    """``max(0, -target * (input1 - input2) + margin)``."""
def max_pool2d_with_indices(input: Tensor, *args: Any, **kwargs: Any) -> Any:
    """``max_pool2d`` with ``return_indices=True``."""
def max_pool3d_with_indices(input: Tensor, *args: Any, **kwargs: Any) -> Any:
    """``max_pool3d`` with ``return_indices=True``."""
def max_unpool1d(input: Tensor, indices: Tensor, kernel_size: Ints, stride: Ints | None = None, padding: _str | Ints = 0, output_size: _int | Sequence[_int | None] | None = None) -> Tensor:
    """The maxima of ``max_pool1d`` put back where its indices say."""
def max_unpool2d(input: Tensor, indices: Tensor, kernel_size: Ints, stride: Ints | None = None, padding: _str | Ints = 0, output_size: _int | Sequence[_int | None] | None = None) -> Tensor:
    """The maxima of ``max_pool2d`` put back where its indices say, zeros elsewhere."""
def max_unpool3d(input: Tensor, indices: Tensor, kernel_size: Ints, stride: Ints | None = None, padding: _str | Ints = 0, output_size: _int | Sequence[_int | None] | None = None) -> Tensor:
    """The maxima of ``max_pool3d`` put back where its indices say."""
def mish(input: Tensor, inplace: _bool = False) -> Tensor:
    """``x * tanh(softplus(x))`` (Misra 2019)."""
def mse_loss(input: Tensor, target: Tensor, size_average: _bool | None = None, reduce: _bool | None = None, reduction: _str = 'mean', weight: Tensor | None = None) -> Tensor:
    """Mean of the squared differences of input and target (``reduction``: "mean", "sum" or "none")."""
def multi_head_attention_forward(query: Tensor, key: Tensor, value: Tensor, embed_dim_to_check: _int, num_heads: _int, in_proj_weight: Tensor | None, in_proj_bias: Tensor | None, bias_k: Tensor | None, bias_v: Tensor | None, add_zero_attn: _bool, dropout_p: _float, out_proj_weight: Tensor, out_proj_bias: Tensor | None, training: _bool = True, key_padding_mask: Tensor | None = None, need_weights: _bool = True, attn_mask: Tensor | None = None, use_separate_proj_weight: _bool = False, q_proj_weight: Tensor | None = None, k_proj_weight: Tensor | None = None, v_proj_weight: Tensor | None = None, static_k: Tensor | None = None, static_v: Tensor | None = None, average_attn_weights: _bool = True, is_causal: _bool = False) -> _tuple[Tensor, Tensor | None]:
    """Multi-head attention of ``(L, N, E)`` queries on ``(S, N, E)`` keys and values; see ``nn.MultiheadAttention``."""
def multi_margin_loss(input: Tensor, target: Tensor, p: _int = 1, margin: _float = 1.0, weight: Tensor | None = None, size_average: _bool | None = None, reduce: _bool | None = None, reduction: _str = 'mean') -> Tensor:
    """``sum(max(0, margin - x[target] + x[j]) ** p) / C`` over the classes other than the target; p is 1 or 2."""
def multilabel_margin_loss(input: Tensor, target: Tensor, size_average: _bool | None = None, reduce: _bool | None = None, reduction: _str = 'mean') -> Tensor:
    """``sum(max(0, 1 - x[target] + x[j])) / C`` over pairs of a target and another class."""
def multilabel_soft_margin_loss(input: Tensor, target: Tensor, weight: Tensor | None = None, size_average: _bool | None = None, reduce: _bool | None = None, reduction: _str = 'mean') -> Tensor:
    """Binary cross entropy with logits, averaged over the classes (the last dimension)."""
def nll_loss(input: Tensor, target: Tensor, weight: Tensor | None = None, size_average: _bool | None = None, ignore_index: _int = -100, reduce: _bool | None = None, reduction: _str = 'mean') -> Tensor:
    """Negative log-likelihood: minus the element of ``input`` that each target names."""
def normalize(input: Tensor, p: _float = 2.0, dim: Ints = 1, eps: _float = 1e-12, *, out: Tensor | None = None) -> Tensor:
    """The vectors along ``dim`` divided by their p-norm, or by ``eps`` if that is larger."""
def one_hot(tensor: Tensor, num_classes: _int = -1) -> Tensor:
    """A vector for each class number, with a one at that index and zeros elsewhere."""
def pad(input: Tensor, pad: Ints, mode: _str = 'constant', value: _float | None = None) -> Tensor:
    """The tensor padded: ``pad`` is (left, right) for the last dimension, then for the one before it, and so on."""
def poisson_nll_loss(input: Tensor, target: Tensor, log_input: _bool = True, full: _bool = False, size_average: _bool | None = None, eps: _float = 1e-08, reduce: _bool | None = None, reduction: _str = 'mean') -> Tensor:
    """Negative log-likelihood of counts under a Poisson distribution with rate ``exp(input)`` (or ``input``)."""
def relu(input: Tensor, inplace: _bool = False) -> Tensor:
    """``torch.relu``."""
def relu6(input: Tensor, inplace: _bool = False) -> Tensor:
    """``min(max(0, x), 6)``."""
def scaled_dot_product_attention(query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None = None, dropout_p: _float = 0.0, is_causal: _bool = False, scale: _float | None = None, enable_gqa: _bool = False) -> Tensor:
    """``softmax(query @ key.mT / sqrt(E) + mask) @ value``."""
def silu(input: Tensor, inplace: _bool = False) -> Tensor:
    """``x * sigmoid(x)``, also known as swish."""
def smooth_l1_loss(input: Tensor, target: Tensor, size_average: _bool | None = None, reduce: _bool | None = None, reduction: _str = 'mean', beta: _float = 1.0) -> Tensor:
    """``0.5 d^2 / beta`` where the difference ``|d|`` is below beta, ``|d| - 0.5 beta`` elsewhere."""
def soft_margin_loss(input: Tensor, target: Tensor, size_average: _bool | None = None, reduce: _bool | None = None, reduction: _str = 'mean') -> Tensor:
    """``log(1 + exp(-target * input))`` for targets of 1 and -1."""
def softmax(input: Tensor, dim: _int | None = None, _stacklevel: _int = 3, dtype: _dtype | None = None) -> Tensor:
    """exp(x) over its sum along a dim. ``dim`` is 1 by default, or 0 for 0, 1 or 3 dimensions (as old programs expect)."""
def softmin(input: Tensor, dim: _int | None = None, _stacklevel: _int = 3, dtype: _dtype | None = None) -> Tensor:
    """Softmax of the negated input; see ``nn.functional.softmax`` for a missing ``dim``."""
def softplus(input: Tensor, beta: _float = 1, threshold: _float = 20, *, out: Tensor | None = None) -> Tensor:
    """``log(1 + exp(beta * x)) / beta``, and x itself where ``beta * x`` is above the threshold."""
def softshrink(input: Tensor, lambd: _float = 0.5, *, out: Tensor | None = None) -> Tensor:
    """Each element moved by ``lambd`` towards 0."""
def softsign(input: Tensor) -> Tensor:
    """``x / (1 + abs(x))``."""
def tanhshrink(input: Tensor) -> Tensor:
    """``x - tanh(x)``."""
def triplet_margin_loss(anchor: Tensor, positive: Tensor, negative: Tensor, margin: _float = 1.0, p: _float = 2, eps: _float = 1e-06, swap: _bool = False, size_average: _bool | None = None, reduce: _bool | None = None, reduction: _str = 'mean') -> Tensor:
    """``max(0, margin + d(anchor, positive) - d(anchor, negative))`` with d the ``pairwise_distance``."""
def triplet_margin_with_distance_loss(anchor: Tensor, positive: Tensor, negative: Tensor, *, distance_function: Callable[[Tensor, Tensor], Tensor] | None = None, margin: _float = 1.0, swap: _bool = False, reduction: _str = 'mean') -> Tensor:
    """``triplet_margin_loss`` with a given distance function."""
def unfold(input: Tensor, kernel_size: Ints, dilation: Ints = 1, padding: _str | Ints = 0, stride: Ints = 1) -> Tensor:
    """The windows of images ``(N, C, H, W)`` as columns: ``(N, C * kernel elements, windows)``."""
def upsample(input: Tensor, size: Ints | None = None, scale_factor: Any = None, mode: _str = 'nearest', align_corners: _bool | None = None) -> Tensor:
    """Deprecated in PyTorch: see ``interpolate``."""
def upsample_bilinear(input: Tensor, size: Ints | None = None, scale_factor: Any = None) -> Tensor:
    """Deprecated in PyTorch: ``interpolate`` with ``mode="bilinear", align_corners=True``."""
def upsample_nearest(input: Tensor, size: Ints | None = None, scale_factor: Any = None) -> Tensor:
    """Deprecated in PyTorch: see ``interpolate``."""
