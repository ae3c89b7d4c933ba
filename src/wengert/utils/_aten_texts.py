"""The schemas of the operators that models use, with PyTorch's overloads, in PyTorch's notation.

``T`` is a tensor, ``S`` a number, ``int[2]`` a list of two integers or one integer for both; ``OPTIONS`` stands for the
arguments that say where a new tensor lies. Operators with the same overloads share a paragraph.
``tests/compare/test_export.py`` compares them with PyTorch's own.
"""

OPTIONS = "Layout? layout=None,Device? device=None,bool? pin_memory=None"
TEXT = """
abs absolute acos acosh adjoint alias angle arccos arccosh arcsin arcsinh arctan arctanh argwhere asin asinh atan atanh
  bitwise_not ceil conj conj_physical cos cosh deg2rad det detach digamma erf erfc erfinv exp exp2 expm1 fix fliplr
  flipud floor frac hardsigmoid hardswish imag inverse isfinite isinf isnan isneginf isposinf lgamma lift_fresh
  lift_fresh_copy linalg_matrix_exp log log10 log1p log2 log_sigmoid log_sigmoid_forward logdet logical_not mH mT
  matrix_H matrix_exp mish msort neg negative nonzero nonzero_numpy numpy_T positive rad2deg ravel real reciprocal relu
  relu6 rsqrt selu sgn sigmoid sign signbit silu sin sinc sinh slogdet special_erf special_erfc special_erfcx
  special_erfinv special_exp2 special_expit special_expm1 special_gammaln special_log1p special_log_ndtr special_ndtr
  special_ndtri sqrt square t tan tanh trace trunc view_as_complex view_as_real: default(T self)
arctan2 atan2 equal expand_as fmax fmin gcd hypot inner kron lcm logaddexp logaddexp2 logical_and logical_or
  logical_xor matmul maximum minimum nextafter reshape_as special_gammainc special_gammaincc type_as view_as: default(T
  self,T other)
__lshift__ __or__ __rshift__ __xor__ copysign eq fmod ge greater greater_equal gt le less less_equal lt mul multiply ne
  not_equal true_divide: Tensor(T self,T other) | Scalar(T self,S other)
block_diag broadcast_tensors column_stack dstack hstack linalg_multi_dot vstack: default(T[] tensors)
add rsub sub subtract: Tensor(T self,T other,*,S alpha=1) | Scalar(T self,S other,S alpha=1)
alpha_dropout dropout feature_alpha_dropout feature_dropout: default(T input,float p,bool train)
bitwise_and bitwise_or bitwise_xor remainder: Tensor(T self,T other) | Scalar(T self,S other) | Scalar_Tensor(S self,T
  other)
cat concat concatenate stack: default(T[] tensors,int dim=0)
cummax cummin logcumsumexp unsqueeze: default(T self,int dim)
fft_fft fft_ifft fft_irfft fft_rfft: default(T self,int? n=None,int dim=-1,str? norm=None)
fft_fft2 fft_ifft2 fft_irfft2 fft_rfft2: default(T self,int[1]? s=None,int[1] dim=[-2,-1],str? norm=None)
fft_fftn fft_ifftn fft_irfftn fft_rfftn: default(T self,int[1]? s=None,int[1]? dim=None,str? norm=None)
l1_loss mse_loss multilabel_margin_loss soft_margin_loss: default(T self,T target,int reduction=1)
std std_mean var var_mean: dim(T self,int[1]? dim,bool unbiased=True,bool keepdim=False) | correction(T self,int[1]?
  dim=None,*,S? correction=None,bool keepdim=False)
_adaptive_avg_pool2d adaptive_avg_pool2d adaptive_max_pool2d: default(T self,int[2] output_size)
_adaptive_avg_pool3d adaptive_avg_pool3d adaptive_max_pool3d: default(T self,int[3] output_size)
_unsafe_view broadcast_to sum_to_size: default(T self,int[] size)
_reshape_alias_copy: default(T self,int[] size,int[] stride)
resize: default(T self,int[] size,*,Format? memory_format=None)
resize_as: default(T self,T the_template,*,Format? memory_format=None)
atleast_1d atleast_2d atleast_3d: default(T self) | Sequence(T[] tensors)
cumprod cumsum special_log_softmax: default(T self,int dim,*,dtype? dtype=None)
diag tril triu: default(T self,int diagonal=0)
flip permute tile: default(T self,int[] dims)
grid_sampler grid_sampler_2d grid_sampler_3d: default(T input,T grid,int interpolation_mode,int padding_mode,bool
  align_corners)
gru rnn_relu rnn_tanh: input(T input,T hx,T[] params,bool has_biases,int num_layers,float dropout,bool train,bool
  bidirectional,bool batch_first) | data(T data,T batch_sizes,T hx,T[] params,bool has_biases,int num_layers,float
  dropout,bool train,bool bidirectional)
new_empty new_ones new_zeros: default(T self,int[] size,*,dtype? dtype=None,OPTIONS)
_local_scalar_dense: default(T self)
_log_softmax _softmax: default(T self,int dim,bool half_to_float)
_prelu_kernel prelu: default(T self,T weight)
_unsafe_index index: Tensor(T self,T?[] indices)
_upsample_nearest_exact1d upsample_nearest1d: default(T self,int[1] output_size,float? scales=None) | vec(T
  input,int[]? output_size,float[]? scale_factors)
_upsample_nearest_exact2d upsample_nearest2d: default(T self,int[2] output_size,float? scales_h=None,float?
  scales_w=None) | vec(T input,int[]? output_size,float[]? scale_factors)
adaptive_avg_pool1d adaptive_max_pool1d: default(T self,int[1] output_size)
addbmm baddbmm: default(T self,T batch1,T batch2,*,S beta=1,S alpha=1)
addcdiv addcmul: default(T self,T tensor1,T tensor2,*,S value=1)
all any: default(T self) | dim(T self,int dim,bool keepdim=False) | dims(T self,int[]? dim=None,bool keepdim=False)
allclose isclose: default(T self,T other,float rtol=1e-05,float atol=1e-08,bool equal_nan=False)
amax amin: default(T self,int[1] dim=[],bool keepdim=False)
argmax argmin: default(T self,int? dim=None,bool keepdim=False)
bitwise_left_shift bitwise_right_shift: Tensor(T self,T other) | Tensor_Scalar(T self,S other) | Scalar_Tensor(S self,T
  other)
bmm mm: default(T self,T mat2)
clamp clip: default(T self,S? min=None,S? max=None) | Tensor(T self,T? min=None,T? max=None)
cosine_embedding_loss margin_ranking_loss: default(T input1,T input2,T target,float margin=0.,int reduction=1)
div divide: Tensor(T self,T other) | Scalar(T self,S other) | Tensor_mode(T self,T other,*,str? rounding_mode) |
  Scalar_mode(T self,S other,*,str? rounding_mode)
fft_fftfreq fft_rfftfreq: default(int n,float d=1.,*,dtype? dtype=None,OPTIONS)
fft_fftshift fft_ifftshift: default(T self,int[1]? dim=None)
float_power pow: Tensor_Tensor(T self,T exponent) | Tensor_Scalar(T self,S exponent) | Scalar(S self,T exponent)
hardshrink softshrink: default(T self,S lambd=0.5)
linalg_det linalg_inv: default(T A)
linalg_eigh linalg_eigvalsh: default(T self,str UPLO="L")
linalg_matrix_power matrix_power: default(T self,int n)
log_softmax softmax: int(T self,int dim,dtype? dtype=None)
logit special_logit: default(T self,float? eps=None)
logsumexp special_logsumexp: default(T self,int[1] dim,bool keepdim=False)
bartlett_window blackman_window: default(int window_length,*,dtype? dtype=None,OPTIONS) | periodic(int
  window_length,bool periodic,*,dtype? dtype=None,OPTIONS)
max min: other(T self,T other) | default(T self) | dim(T self,int dim,bool keepdim=False)
max_pool1d max_pool1d_with_indices: default(T self,int[1] kernel_size,int[1] stride=[],int[1] padding=[0],int[1]
  dilation=[1],bool ceil_mode=False)
max_pool2d max_pool2d_with_indices: default(T self,int[2] kernel_size,int[2] stride=[],int[2] padding=0,int[2]
  dilation=1,bool ceil_mode=False)
max_pool3d max_pool3d_with_indices: default(T self,int[3] kernel_size,int[3] stride=[],int[3] padding=0,int[3]
  dilation=1,bool ceil_mode=False)
nanmean nansum: default(T self,int[1]? dim=None,bool keepdim=False,*,dtype? dtype=None)
nll_loss nll_loss_nd: default(T self,T target,T? weight=None,int reduction=1,int ignore_index=-100)
nll_loss2d_forward nll_loss_forward: default(T self,T target,T? weight,int reduction,int ignore_index)
ones zeros: default(int[] size,*,dtype? dtype=None,OPTIONS)
ones_like zeros_like: default(T self,*,dtype? dtype=None,OPTIONS,Format? memory_format=None)
rand randn: default(int[] size,*,dtype? dtype=None,OPTIONS) | generator(int[] size,*,Gen? generator,dtype?
  dtype=None,OPTIONS)
rand_like randn_like: default(T self,*,dtype? dtype=None,OPTIONS,Format? memory_format=None) | generator(T self,*,Gen?
  generator,dtype? dtype=None,OPTIONS,Format? memory_format=None)
reflection_pad1d replication_pad1d: default(T self,int[2] padding)
reflection_pad2d replication_pad2d: default(T self,int[4] padding)
reflection_pad3d replication_pad3d: default(T self,int[6] padding)
special_xlog1py special_xlogy: default(T self,T other) | other_scalar(T self,S other) | self_scalar(S self,T other)
split_with_sizes unsafe_split_with_sizes: default(T self,int[] split_sizes,int dim=0)
tril_indices triu_indices: default(int row,int col,int offset=0,*,dtype? dtype=4,OPTIONS)
upsample_bicubic2d upsample_bilinear2d: default(T self,int[2] output_size,bool align_corners,float?
  scales_h=None,float? scales_w=None) | vec(T input,int[]? output_size,bool align_corners,float[]? scale_factors)
__and__: Scalar(T self,S other) | Tensor(T self,T other)
_embedding_bag: default(T weight,T indices,T offsets,bool scale_grad_by_freq=False,int mode=0,bool sparse=False,T?
  per_sample_weights=None,bool include_last_offset=False,int padding_idx=-1)
_fft_c2c: default(T self,int[] dim,int normalization,bool forward)
_fft_c2r: default(T self,int[] dim,int normalization,int last_dim_size)
_fft_r2c: default(T self,int[] dim,int normalization,bool onesided)
_native_batch_norm_legit_functional: default(T input,T? weight,T? bias,T running_mean,T running_var,bool
  training,float momentum,float eps)
_native_batch_norm_legit: no_stats(T input,T? weight,T? bias,bool training,float momentum,float eps)
_native_batch_norm_legit_no_training: default(T input,T? weight,T? bias,T running_mean,T running_var,float
  momentum,float eps)
_scaled_dot_product_flash_attention_for_cpu: default(T query,T key,T value,float dropout_p=0.,bool is_causal=False,*,T?
  attn_mask=None,float? scale=None)
_to_copy: default(T self,*,dtype? dtype=None,OPTIONS,bool non_blocking=False,Format? memory_format=None)
_weight_norm: default(T v,T g,int dim=0)
empty_permuted: default(int[] size,int[] physical_layout,*,dtype? dtype=None,OPTIONS)
empty_strided: default(int[] size,int[] stride,*,dtype? dtype=None,OPTIONS)
normal: Tensor_float(T mean,float std=1.,*,Gen? generator=None) | float_Tensor(float mean,T std,*,Gen? generator=None) |
  Tensor_Tensor(T mean,T std,*,Gen? generator=None) | float_float(float mean,float std,int[] size,*,Gen?
  generator=None,dtype? dtype=None,OPTIONS)
poisson: default(T self,Gen? generator=None)
randint_like: default(T self,int high,*,dtype? dtype=None,OPTIONS,Format? memory_format=None) | low_dtype(T self,int
  low,int high,*,dtype? dtype=None,OPTIONS,Format? memory_format=None)
addmm: default(T self,T mat1,T mat2,*,S beta=1,S alpha=1)
addmv: default(T self,T mat,T vec,*,S beta=1,S alpha=1)
addr: default(T self,T vec1,T vec2,*,S beta=1,S alpha=1)
affine_grid_generator: default(T theta,int[] size,bool align_corners)
aminmax: default(T self,*,int? dim=None,bool keepdim=False)
arange: default(S end,*,dtype? dtype=None,OPTIONS) | start(S start,S end,*,dtype? dtype=None,OPTIONS) | start_step(S
  start,S end,S step=1,*,dtype? dtype=None,OPTIONS)
argsort: default(T self,int dim=-1,bool descending=False) | stable(T self,*,bool stable,int dim=-1,bool
  descending=False)
as_strided: default(T self,int[] size,int[] stride,int? storage_offset=None)
as_strided_scatter: default(T self,T src,int[] size,int[] stride,int? storage_offset=None)
avg_pool1d: default(T self,int[1] kernel_size,int[1] stride=[],int[1] padding=[0],bool ceil_mode=False,bool
  count_include_pad=True)
avg_pool2d: default(T self,int[2] kernel_size,int[2] stride=[],int[2] padding=0,bool ceil_mode=False,bool
  count_include_pad=True,int? divisor_override=None)
avg_pool3d: default(T self,int[3] kernel_size,int[3] stride=[],int[3] padding=0,bool ceil_mode=False,bool
  count_include_pad=True,int? divisor_override=None)
batch_norm: default(T input,T? weight,T? bias,T? running_mean,T? running_var,bool training,float momentum,float
  eps,bool cudnn_enabled)
bernoulli: default(T self,*,Gen? generator=None) | p(T self,float p,*,Gen? generator=None) | Tensor(T self,T p,*,Gen?
  generator=None)
bilinear: default(T input1,T input2,T weight,T? bias=None)
binary_cross_entropy: default(T self,T target,T? weight=None,int reduction=1)
binary_cross_entropy_with_logits: default(T self,T target,T? weight=None,T? pos_weight=None,int reduction=1)
bincount: default(T self,T? weights=None,int minlength=0)
bucketize: Tensor(T self,T boundaries,*,bool out_int32=False,bool right=False) | Scalar(S self,T boundaries,*,bool
  out_int32=False,bool right=False)
cdist: default(T x1,T x2,float p=2.,int? compute_mode=None)
celu: default(T self,S alpha=1.)
channel_shuffle: default(T self,int groups)
chunk: default(T self,int chunks,int dim=0)
clamp_max: default(T self,S max) | Tensor(T self,T max)
clamp_min: default(T self,S min) | Tensor(T self,T min)
clone: default(T self,*,Format? memory_format=None)
col2im: default(T self,int[2] output_size,int[2] kernel_size,int[2] dilation,int[2] padding,int[2] stride)
complex: default(T real,T imag)
constant_pad_nd: default(T self,int[] pad,S value=0)
contiguous: default(T self,*,Format memory_format=torch.contiguous_format)
conv1d: default(T input,T weight,T? bias=None,int[1] stride=[1],int[1] padding=[0],int[1] dilation=[1],int groups=1) |
  padding(T input,T weight,T? bias=None,int[1] stride=[1],str padding="valid",int[1] dilation=[1],int groups=1)
conv2d: default(T input,T weight,T? bias=None,int[2] stride=[1,1],int[2] padding=[0,0],int[2] dilation=[1,1],int
  groups=1) | padding(T input,T weight,T? bias=None,int[2] stride=[1,1],str padding="valid",int[2] dilation=[1,1],int
  groups=1)
conv3d: default(T input,T weight,T? bias=None,int[3] stride=[1,1,1],int[3] padding=[0,0,0],int[3] dilation=[1,1,1],int
  groups=1) | padding(T input,T weight,T? bias=None,int[3] stride=[1,1,1],str padding="valid",int[3]
  dilation=[1,1,1],int groups=1)
conv_transpose1d: default(T input,T weight,T? bias=None,int[1] stride=[1],int[1] padding=[0],int[1]
  output_padding=[0],int groups=1,int[1] dilation=[1])
conv_transpose2d: input(T input,T weight,T? bias=None,int[2] stride=[1,1],int[2] padding=[0,0],int[2]
  output_padding=[0,0],int groups=1,int[2] dilation=[1,1])
conv_transpose3d: input(T input,T weight,T? bias=None,int[3] stride=[1,1,1],int[3] padding=[0,0,0],int[3]
  output_padding=[0,0,0],int groups=1,int[3] dilation=[1,1,1])
convolution: default(T input,T weight,T? bias,int[] stride,int[] padding,int[] dilation,bool transposed,int[]
  output_padding,int groups)
cosine_similarity: default(T x1,T x2,int dim=1,float eps=1e-08)
count_nonzero: default(T self,int? dim=None) | dim_IntList(T self,int[] dim)
cross: default(T self,T other,int? dim=None)
cross_entropy_loss: default(T self,T target,T? weight=None,int reduction=1,int ignore_index=-100,float
  label_smoothing=0.)
ctc_loss: IntList(T log_probs,T targets,int[] input_lengths,int[] target_lengths,int blank=0,int reduction=1,bool
  zero_infinity=False) | Tensor(T log_probs,T targets,T input_lengths,T target_lengths,int blank=0,int reduction=1,bool
  zero_infinity=False)
diag_embed: default(T self,int offset=0,int dim1=-2,int dim2=-1)
diagflat: default(T self,int offset=0)
diagonal: default(T self,int offset=0,int dim1=0,int dim2=1)
diagonal_scatter: default(T self,T src,int offset=0,int dim1=0,int dim2=1)
diff: default(T self,int n=1,int dim=-1,T? prepend=None,T? append=None)
dist: default(T self,T other,S p=2)
dot: default(T self,T tensor)
einsum: default(str equation,T[] tensors,*,int[]? path=None)
elu: default(T self,S alpha=1,S scale=1,S input_scale=1)
embedding: default(T weight,T indices,int padding_idx=-1,bool scale_grad_by_freq=False,bool sparse=False)
empty: memory_format(int[] size,*,dtype? dtype=None,OPTIONS,Format? memory_format=None)
expand: default(T self,int[] size,*,bool implicit=False)
eye: default(int n,*,dtype? dtype=None,OPTIONS) | m(int n,int m,*,dtype? dtype=None,OPTIONS)
fill: Scalar(T self,S value) | Tensor(T self,T value)
flatten: using_ints(T self,int start_dim=0,int end_dim=-1)
floor_divide: default(T self,T other) | Scalar(T self,S other)
frexp: Tensor(T self)
full: default(int[] size,S fill_value,*,dtype? dtype=None,OPTIONS)
full_like: default(T self,S fill_value,*,dtype? dtype=None,OPTIONS,Format? memory_format=None)
gather: default(T self,int dim,T index,*,bool sparse_grad=False)
gelu: default(T self,*,str approximate="none")
glu: default(T self,int dim=-1)
group_norm: default(T input,int num_groups,T? weight=None,T? bias=None,float eps=1e-05,bool cudnn_enabled=True)
gru_cell: default(T input,T hx,T w_ih,T w_hh,T? b_ih=None,T? b_hh=None)
hamming_window: default(int window_length,*,dtype? dtype=None,OPTIONS) | periodic(int window_length,bool
  periodic,*,dtype? dtype=None,OPTIONS) | periodic_alpha(int window_length,bool periodic,float alpha,*,dtype?
  dtype=None,OPTIONS) | periodic_alpha_beta(int window_length,bool periodic,float alpha,float beta,*,dtype?
  dtype=None,OPTIONS)
hann_window: default(int window_length,*,dtype? dtype=None,OPTIONS) | periodic(int window_length,bool periodic,*,dtype?
  dtype=None,OPTIONS)
hardtanh: default(T self,S min_val=-1,S max_val=1)
heaviside: default(T self,T values)
hinge_embedding_loss: default(T self,T target,float margin=1.,int reduction=1)
histc: default(T self,int bins=100,S min=0,S max=0)
huber_loss: default(T self,T target,int reduction=1,float delta=1.)
im2col: default(T self,int[2] kernel_size,int[2] dilation,int[2] padding,int[2] stride)
index_add: default(T self,int dim,T index,T source,*,S alpha=1)
index_fill: int_Tensor(T self,int dim,T index,T value) | int_Scalar(T self,int dim,T index,S value)
index_put: default(T self,T?[] indices,T values,bool accumulate=False)
index_reduce: default(T self,int dim,T index,T source,str reduce,*,bool include_self=True)
index_select: default(T self,int dim,T index)
instance_norm: default(T input,T? weight,T? bias,T? running_mean,T? running_var,bool use_input_stats,float
  momentum,float eps,bool cudnn_enabled)
isin: Tensor_Tensor(T elements,T test_elements,*,bool assume_unique=False,bool invert=False) | Tensor_Scalar(T
  elements,S test_element,*,bool assume_unique=False,bool invert=False) | Scalar_Tensor(S element,T
  test_elements,*,bool assume_unique=False,bool invert=False)
kl_div: default(T self,T target,int reduction=1,*,bool log_target=False)
kthvalue: default(T self,int k,int dim=-1,bool keepdim=False)
layer_norm: default(T input,int[] normalized_shape,T? weight=None,T? bias=None,float eps=1e-05,bool cudnn_enable=True)
ldexp: Tensor(T self,T other)
leaky_relu: default(T self,S negative_slope=0.01)
lerp: Scalar(T self,T end,S weight) | Tensor(T self,T end,T weight)
linalg_cholesky: default(T self,*,bool upper=False)
linalg_cross: default(T self,T other,*,int dim=-1)
linalg_diagonal: default(T A,*,int offset=0,int dim1=-2,int dim2=-1)
linalg_matrix_norm: default(T self,S ord,int[] dim=[-2,-1],bool keepdim=False,*,dtype? dtype=None) | str_ord(T self,str
  ord="fro",int[] dim=[-2,-1],bool keepdim=False,*,dtype? dtype=None)
linalg_norm: default(T self,S? ord=None,int[1]? dim=None,bool keepdim=False,*,dtype? dtype=None) | ord_str(T self,str
  ord,int[1]? dim=None,bool keepdim=False,*,dtype? dtype=None)
linalg_qr: default(T A,str mode="reduced")
linalg_solve: default(T A,T B,*,bool left=True)
linalg_solve_triangular: default(T self,T B,*,bool upper,bool left=True,bool unitriangular=False)
linalg_svd: default(T A,bool full_matrices=True,*,str? driver=None)
linalg_svdvals: default(T A,*,str? driver=None)
linalg_vecdot: default(T x,T y,*,int dim=-1)
linalg_vector_norm: default(T self,S ord=2,int[1]? dim=None,bool keepdim=False,*,dtype? dtype=None)
linear: default(T input,T weight,T? bias=None)
linspace: Tensor_Tensor(T start,T end,int steps,*,dtype? dtype=None,OPTIONS) | Tensor_Scalar(T start,S end,int
  steps,*,dtype? dtype=None,OPTIONS) | Scalar_Tensor(S start,T end,int steps,*,dtype? dtype=None,OPTIONS) | default(S
  start,S end,int steps,*,dtype? dtype=None,OPTIONS)
logspace: default(S start,S end,int steps,float base=10.0,*,dtype? dtype=None,OPTIONS)
lstm: input(T input,T[] hx,T[] params,bool has_biases,int num_layers,float dropout,bool train,bool bidirectional,bool
  batch_first) | data(T data,T batch_sizes,T[] hx,T[] params,bool has_biases,int num_layers,float dropout,bool
  train,bool bidirectional)
lstm_cell: default(T input,T[] hx,T w_ih,T w_hh,T? b_ih=None,T? b_hh=None)
masked_fill: Scalar(T self,T mask,S value) | Tensor(T self,T mask,T value)
masked_scatter: default(T self,T mask,T source)
masked_select: default(T self,T mask)
max_unpool2d: default(T self,T indices,int[2] output_size)
max_unpool3d: default(T self,T indices,int[3] output_size,int[3] stride,int[3] padding)
mean: default(T self,*,dtype? dtype=None) | dim(T self,int[1]? dim,bool keepdim=False,*,dtype? dtype=None)
median: default(T self) | dim(T self,int dim,bool keepdim=False)
meshgrid: default(T[] tensors) | indexing(T[] tensors,*,str indexing)
mode: default(T self,int dim=-1,bool keepdim=False)
moveaxis: intlist(T self,int[] source,int[] destination) | int(T self,int source,int destination)
movedim: int(T self,int source,int destination) | intlist(T self,int[] source,int[] destination)
multi_margin_loss: default(T self,T target,S p=1,S margin=1,T? weight=None,int reduction=1)
multinomial: default(T self,int num_samples,bool replacement=False,*,Gen? generator=None)
mv: default(T self,T vec)
nan_to_num: default(T self,float? nan=None,float? posinf=None,float? neginf=None)
narrow: default(T self,int dim,int start,int length) | Tensor(T self,int dim,T start,int length)
native_batch_norm: default(T input,T? weight,T? bias,T? running_mean,T? running_var,bool training,float momentum,float
  eps)
native_dropout: default(T input,float p,bool? train)
native_group_norm: default(T input,T? weight,T? bias,int N,int C,int HxW,int group,float eps)
native_layer_norm: default(T input,int[] normalized_shape,T? weight,T? bias,float eps)
new_empty_strided: default(T self,int[] size,int[] stride,*,dtype? dtype=None,OPTIONS)
new_full: default(T self,int[] size,S fill_value,*,dtype? dtype=None,OPTIONS)
norm: Scalar(T self,S p=2) | ScalarOpt_dim(T self,S? p,int[1] dim,bool keepdim=False) | ScalarOpt_dim_dtype(T self,S?
  p,int[1] dim,bool keepdim,*,dtype dtype) | ScalarOpt_dtype(T self,S? p,*,dtype dtype)
one_hot: default(T self,int num_classes=-1)
outer: default(T self,T vec2)
pad: default(T self,int[] pad,str mode="constant",float? value=None)
pairwise_distance: default(T x1,T x2,float p=2.,float eps=9.9999999999999995e-07,bool keepdim=False)
pinverse: default(T self,float rcond=1.0000000000000001e-15)
pixel_shuffle: default(T self,int upscale_factor)
pixel_unshuffle: default(T self,int downscale_factor)
poisson_nll_loss: default(T input,T target,bool log_input,bool full,float eps,int reduction)
polar: default(T abs,T angle)
prod: default(T self,*,dtype? dtype=None) | dim_int(T self,int dim,bool keepdim=False,*,dtype? dtype=None)
randint: default(int high,int[] size,*,dtype? dtype=4,OPTIONS) | generator(int high,int[] size,*,Gen? generator,dtype?
  dtype=4,OPTIONS) | low(int low,int high,int[] size,*,dtype? dtype=4,OPTIONS) | low_generator(int low,int high,int[]
  size,*,Gen? generator,dtype? dtype=4,OPTIONS)
randperm: default(int n,*,dtype? dtype=4,OPTIONS) | generator(int n,*,Gen? generator,dtype? dtype=4,OPTIONS)
repeat: default(T self,int[] repeats)
repeat_interleave: Tensor(T repeats,*,int? output_size=None) | self_Tensor(T self,T repeats,int? dim=None,*,int?
  output_size=None) | self_int(T self,int repeats,int? dim=None,*,int? output_size=None)
reshape: default(T self,int[] shape)
rms_norm: default(T input,int[] normalized_shape,T? weight=None,float? eps=None)
roll: default(T self,int[1] shifts,int[1] dims=[])
rot90: default(T self,int k=1,int[] dims=[0,1])
round: default(T self) | decimals(T self,*,int decimals)
rrelu: default(T self,S lower=0.125,S upper=0.33333333333333331,bool training=False,Gen? generator=None)
scalar_tensor: default(S s,*,dtype? dtype=None,OPTIONS)
scaled_dot_product_attention: default(T query,T key,T value,T? attn_mask=None,float dropout_p=0.,bool
  is_causal=False,*,float? scale=None,bool enable_gqa=False)
scatter: value(T self,int dim,T index,S value) | src(T self,int dim,T index,T src) | reduce(T self,int dim,T index,T
  src,*,str reduce) | value_reduce(T self,int dim,T index,S value,*,str reduce)
scatter_add: default(T self,int dim,T index,T src)
scatter_reduce: two(T self,int dim,T index,T src,str reduce,*,bool include_self=True)
searchsorted: Tensor(T sorted_sequence,T self,*,bool out_int32=False,bool right=False,str? side=None,T? sorter=None) |
  Scalar(T sorted_sequence,S self,*,bool out_int32=False,bool right=False,str? side=None,T? sorter=None)
select: int(T self,int dim,int index)
select_scatter: default(T self,T src,int dim,int index)
slice: Tensor(T self,int dim=0,int? start=None,int? end=None,int step=1)
slice_scatter: default(T self,T src,int dim=0,int? start=None,int? end=None,int step=1)
smooth_l1_loss: default(T self,T target,int reduction=1,float beta=1.)
softplus: default(T self,S beta=1,S threshold=20)
sort: default(T self,int dim=-1,bool descending=False) | stable(T self,*,bool? stable,int dim=-1,bool descending=False)
special_round: default(T self,*,int decimals=0)
special_softmax: default(T self,int dim,dtype? dtype=None)
split: Tensor(T self,int split_size,int dim=0) | sizes(T self,int[] split_size,int dim=0) | default(T self,int[]
  split_sizes,int dim=0)
squeeze: default(T self) | dim(T self,int dim) | dims(T self,int[] dim)
sum: dim_IntList(T self,int[1]? dim,bool keepdim=False,*,dtype? dtype=None) | default(T self,*,dtype? dtype=None)
swapaxes: default(T self,int axis0,int axis1)
swapdims: default(T self,int dim0,int dim1)
take: default(T self,T index)
take_along_dim: default(T self,T indices,int? dim=None)
tensor_split: sections(T self,int sections,int dim=0) | indices(T self,int[] indices,int dim=0) |
  tensor_indices_or_sections(T self,T tensor_indices_or_sections,int dim=0)
tensordot: default(T self,T other,int[] dims_self,int[] dims_other)
threshold: default(T self,S threshold,S value)
to: device(T self,Device device,dtype dtype,bool non_blocking=False,bool copy=False,Format? memory_format=None) |
  dtype(T self,dtype dtype,bool non_blocking=False,bool copy=False,Format? memory_format=None) | other(T self,T
  other,bool non_blocking=False,bool copy=False,Format? memory_format=None) | dtype_layout(T self,*,dtype?
  dtype=None,OPTIONS,bool non_blocking=False,bool copy=False,Format? memory_format=None) | prim_Device(T self,Device?
  device,int? dtype=None,bool non_blocking=False,bool copy=False) | prim_dtype(T self,int? dtype=None,bool
  non_blocking=False,bool copy=False) | prim_other(T self,bool non_blocking=False,bool copy=False)
topk: default(T self,int k,int dim=-1,bool largest=True,bool sorted=True)
transpose: int(T self,int dim0,int dim1)
triplet_margin_loss: default(T anchor,T positive,T negative,float margin=1.,float p=2.,float
  eps=9.9999999999999995e-07,bool swap=False,int reduction=1)
unbind: int(T self,int dim=0)
unflatten: int(T self,int dim,int[] sizes)
unfold: default(T self,int dimension,int size,int step)
unique_consecutive: default(T self,bool return_inverse=False,bool return_counts=False,int? dim=None)
unique_dim: default(T self,int dim,bool sorted=True,bool return_inverse=False,bool return_counts=False)
unsafe_split: Tensor(T self,int split_size,int dim=0)
upsample_linear1d: default(T self,int[1] output_size,bool align_corners,float? scales=None) | vec(T input,int[]?
  output_size,bool align_corners,float[]? scale_factors)
upsample_nearest3d: default(T self,int[3] output_size,float? scales_d=None,float? scales_h=None,float? scales_w=None) |
  vec(T input,int[]? output_size,float[]? scale_factors)
upsample_trilinear3d: default(T self,int[3] output_size,bool align_corners,float? scales_d=None,float?
  scales_h=None,float? scales_w=None) | vec(T input,int[]? output_size,bool align_corners,float[]? scale_factors)
vander: default(T x,int? N=None,bool increasing=False)
view: default(T self,int[] size) | dtype(T self,dtype dtype)
where: self(T condition,T self,T other) | ScalarOther(T condition,T self,S other) | ScalarSelf(T condition,S self,T
  other) | Scalar(T condition,S self,S other) | default(T condition)
xlogy: Tensor(T self,T other) | Scalar_Other(T self,S other) | Scalar_Self(S self,T other)
copy: default(T self,T src,bool non_blocking=False)
zero: default(T self)
empty_like: default(T self,*,dtype? dtype=None,OPTIONS,Format? memory_format=None)
exponential_: default(T self,float lambd=1.,*,Gen? generator=None)
uniform_: default(T self,float from=0.,float to=1.,*,Gen? generator=None)
normal_: default(T self,float mean=0.,float std=1.,*,Gen? generator=None)
polygamma: default(int n,T self)
_unique2: default(T self,bool sorted=True,bool return_inverse=False,bool return_counts=False)
_adaptive_avg_pool2d_backward _adaptive_avg_pool3d_backward hardsigmoid_backward hardswish_backward mish_backward
  silu_backward: default(T grad_output,T self)
sigmoid_backward tanh_backward: default(T grad_output,T output)
_log_softmax_backward_data _softmax_backward_data: default(T grad_output,T output,int dim,dtype input_dtype)
nll_loss2d_backward nll_loss_backward: default(T grad_output,T self,T target,T? weight,int reduction,int ignore_index,T
  total_weight)
upsample_bicubic2d_backward upsample_bilinear2d_backward: default(T grad_output,int[2] output_size,int[4]
  input_size,bool align_corners,float? scales_h=None,float? scales_w=None)
threshold_backward: default(T grad_output,T self,S threshold)
leaky_relu_backward: default(T grad_output,T self,S negative_slope,bool self_is_result)
elu_backward: default(T grad_output,S alpha,S scale,S input_scale,bool is_result,T self_or_result)
gelu_backward: default(T grad_output,T self,*,str approximate="none")
softplus_backward: default(T grad_output,T self,S beta,S threshold)
hardtanh_backward: default(T grad_output,T self,S min_val,S max_val)
log_sigmoid_backward: default(T grad_output,T self,T buffer)
native_layer_norm_backward: default(T grad_out,T input,int[] normalized_shape,T mean,T rstd,T? weight,T? bias,bool[]
  output_mask)
native_group_norm_backward: default(T grad_out,T input,T mean,T rstd,T? weight,int N,int C,int HxW,int group,bool[]
  output_mask)
native_batch_norm_backward: default(T grad_out,T input,T? weight,T? running_mean,T? running_var,T? save_mean,T?
  save_invstd,bool train,float eps,bool[] output_mask)
convolution_backward: default(T grad_output,T input,T weight,int[]? bias_sizes,int[] stride,int[] padding,int[]
  dilation,bool transposed,int[] output_padding,int groups,bool[] output_mask)
embedding_dense_backward: default(T grad_output,T indices,int num_weights,int padding_idx,bool scale_grad_by_freq)
mse_loss_backward: default(T grad_output,T self,T target,int reduction)
smooth_l1_loss_backward: default(T grad_output,T self,T target,int reduction,float beta)
huber_loss_backward: default(T grad_output,T self,T target,int reduction,float delta)
slice_backward: default(T grad_output,int[] input_sizes,int dim,int start,int end,int step)
select_backward: default(T grad_output,int[] input_sizes,int dim,int index)
diagonal_backward: default(T grad_output,int[] input_sizes,int offset,int dim1,int dim2)
max_pool2d_with_indices_backward: default(T grad_output,T self,int[2] kernel_size,int[2] stride,int[2] padding,int[2]
  dilation,bool ceil_mode,T indices)
avg_pool2d_backward: default(T grad_output,T self,int[2] kernel_size,int[2] stride,int[2] padding,bool ceil_mode,bool
  count_include_pad,int? divisor_override)
adaptive_max_pool2d_backward: default(T grad_output,T self,T indices)
upsample_nearest2d_backward: default(T grad_output,int[2] output_size,int[4] input_size,float? scales_h=None,float?
  scales_w=None)
_prelu_kernel_backward: default(T grad_output,T self,T weight)
glu_backward: default(T grad_output,T self,int dim)
binary_cross_entropy_backward: default(T grad_output,T self,T target,T? weight=None,int reduction=1)
_safe_softmax: default(T self,int dim,dtype? dtype=None)
native_dropout_backward: default(T grad_output,T mask,float scale)
_assert_tensor_metadata: default(T a,int[]? size=None,int[]? stride=None,dtype? dtype=None,*,Device? device=None,
  Layout? layout=None)
bernoulli_: Tensor(T self,T p,*,Gen? generator=None) | float(T self,float p=0.5,*,Gen? generator=None)
cauchy_: default(T self,float median=0.,float sigma=1.,*,Gen? generator=None)
fill_diagonal_: default(T self,S fill_value,bool wrap=False)
float_power_ pow_: Scalar(T self,S exponent) | Tensor(T self,T exponent)
floor_divide_: Tensor(T self,T other) | Scalar(T self,S other)
geometric_: default(T self,float p,*,Gen? generator=None)
i0_: default(T self)
igamma_ igammac_ ldexp_: default(T self,T other)
index_copy_: default(T self,int dim,T index,T source)
log_normal_: default(T self,float mean=1.,float std=2.,*,Gen? generator=None)
mvlgamma_: default(T self,int p)
put_: default(T self,T index,T source,bool accumulate=False)
random_: from(T self,int from,int? to,*,Gen? generator=None) | to(T self,int to,*,Gen? generator=None) | default(T
  self,*,Gen? generator=None)
renorm_: default(T self,S p,int dim,S maxnorm)
transpose_: default(T self,int dim0,int dim1)
"""
