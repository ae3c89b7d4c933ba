"""The operators that PyTorch composes of others, which ``run_decompositions`` divides: ``name`` or ``name.overload``.

``SHARING``: those that may give a view of what they are given; a program without writes has none of them.
"""

from __future__ import annotations

from typing import Any

import wengert as torch

from ..utils._aten_schemas import schemas

SHARING = """
adjoint alpha_dropout atleast_1d.default atleast_2d.default atleast_3d.default broadcast_to chunk conj conj_physical
contiguous expand_as feature_alpha_dropout feature_dropout flatten imag linalg_diagonal mH mT matrix_H moveaxis
movedim narrow numpy_T positive ravel real reshape reshape_as split.sizes swapaxes swapdims tensor_split to.device
to.dtype to.dtype_layout to.other unflatten view_as
"""
COMPOSED = """
__and__ __or__ __xor__ _upsample_nearest_exact1d.vec _upsample_nearest_exact2d.vec _weight_norm absolute
adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d adaptive_max_pool1d arccos arccosh arcsin arcsinh arctan
arctan2 arctanh argsort argwhere atleast_1d.Sequence atleast_2d.Sequence atleast_3d.Sequence avg_pool1d bilinear
broadcast_tensors cdist clip column_stack concat concatenate conv1d conv2d conv3d conv_transpose1d conv_transpose2d
conv_transpose3d cosine_embedding_loss cosine_similarity cross cross_entropy_loss ctc_loss det diag diagflat diff
divide dstack einsum fft_fft fft_fft2 fft_fftn fft_fftshift fft_ifft fft_ifft2 fft_ifftn fft_ifftshift fft_irfft
fft_irfft2 fft_irfftn fft_rfft fft_rfft2 fft_rfftn fix fliplr flipud float_power greater greater_equal grid_sampler
group_norm hinge_embedding_loss hstack inner instance_norm inverse isclose isfinite kl_div kron l1_loss
layer_norm less less_equal linalg_cholesky linalg_det linalg_eigh linalg_eigvalsh linalg_inv linalg_matrix_norm
linalg_matrix_power linalg_multi_dot linalg_norm linalg_solve linalg_svd linalg_svdvals linalg_vecdot linear
log_sigmoid log_softmax logdet margin_ranking_loss matmul matrix_exp matrix_power max.other max_pool1d
max_pool1d_with_indices max_pool2d max_pool3d meshgrid min.other mish_backward msort multilabel_margin_loss multiply
nanmean negative nll_loss nll_loss_nd nonzero_numpy not_equal one_hot outer pad pairwise_distance pinverse
poisson_nll_loss prelu relu6 repeat_interleave.self_Tensor repeat_interleave.self_int rms_norm rrelu
scaled_dot_product_attention selu silu_backward slogdet softmax special_erf special_erfc special_erfinv special_exp2
special_expit special_expm1 special_gammainc special_gammaincc special_gammaln special_log1p special_log_softmax
special_logit special_logsumexp special_ndtr special_round special_softmax special_xlogy square std.dim std_mean.dim
subtract sum_to_size take_along_dim tensordot tile triplet_margin_loss true_divide type_as upsample_bicubic2d.vec
upsample_linear1d.vec upsample_nearest1d.vec upsample_nearest3d.vec upsample_trilinear3d.vec vander var.dim
var_mean.dim vstack where.Scalar where.ScalarOther where.ScalarSelf where.default
"""


def overloads_of(names: str) -> list[Any]:
    """The operators of these names."""
    found = []
    for name in names.split():
        packet, _, overload = name.partition(".")
        overloads = [overload] if overload else [s.overload for s in schemas(packet)]
        found += [getattr(getattr(torch.ops.aten, packet), o) for o in overloads]
    return found
