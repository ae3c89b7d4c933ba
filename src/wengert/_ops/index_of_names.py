"""Which module brings which operators, public names and functions of the array library.

Made by tools/make_index.py from the modules; see ``_base.late_names``.
"""

# fmt: off
INDEX: dict[str, dict[str, str]] = {
    "create.create": {"torch": "empty empty_permuted empty_strided eye full ones scalar_tensor zeros"},
    "create.like": {
        "torch": ("empty_like full_like ones_like zeros_like"),
        "Tensor": ("new new_empty new_empty_strided new_full new_ones new_tensor new_zeros"),
    },
    "create.ranges": {"torch": "arange linspace logspace range"},
    "random.values": {
        "operators": ("bernoulli_values bernoulli_values_of_number bernoulli_values_of_tensor binomial_values "
                      "cauchy_values exponential_values geometric_values log_normal_values normal_values "
                      "normal_values_of_both normal_values_of_mean normal_values_of_std poisson_values random_values "
                      "random_values_from_to random_values_to uniform_values"),
    },
    "random.random": {
        "torch": ("rand rand_like randint randint_like randn randn_like randperm"),
        "Tensor": ("cauchy_ exponential_ geometric_ log_normal_ normal_ random_ uniform_"),
    },
    "random.sampling": {
        "torch": ("bernoulli binomial multinomial normal poisson"),
        "Tensor": ("bernoulli bernoulli_ multinomial normal"),
    },
    "nn.dropout": {
        "operators": ("native_dropout_values"),
        "torch": ("alpha_dropout alpha_dropout_ dropout dropout_ feature_alpha_dropout feature_alpha_dropout_ "
                  "feature_dropout feature_dropout_ native_dropout"),
        "nn.functional": ("alpha_dropout dropout dropout1d dropout2d dropout3d feature_alpha_dropout gumbel_softmax"),
    },
    "elementwise.arithmetic": {
        "operators": ("_add_scaled _rsub_scaled _sub_scaled _to_copy add div mul neg rsub sub"),
        "torch": ("add mul multiply neg neg_ negative negative_ positive rsub sub subtract"),
        "Tensor": ("__add__ __iadd__ __imul__ __isub__ __mul__ __neg__ __pos__ __radd__ __rmul__ __rsub__ __sub__ "
                   "__truediv__ add add_ mul mul_ multiply multiply_ neg neg_ negative negative_ positive sub sub_ "
                   "subtract subtract_"),
    },
    "elementwise.division": {
        "operators": ("_div_floor _div_trunc floor_divide fmod remainder"),
        "torch": ("div divide floor_divide fmod remainder true_divide"),
        "Tensor": ("__div__ __floordiv__ __idiv__ __ifloordiv__ __imod__ __itruediv__ __mod__ __rfloordiv__ __rmod__ "
                   "div div_ divide divide_ floor_divide floor_divide_ fmod fmod_ remainder remainder_ true_divide "
                   "true_divide_"),
    },
    "elementwise.powers": {
        "operators": ("_rpow pow reciprocal"),
        "torch": ("float_power pow reciprocal reciprocal_ square square_"),
        "Tensor": ("__ipow__ __pow__ __rdiv__ __rpow__ __rtruediv__ float_power float_power_ pow pow_ reciprocal "
                   "reciprocal_ square square_"),
    },
    "elementwise.compare": {
        "operators": ("_isclose bitwise_and bitwise_left_shift bitwise_not bitwise_or bitwise_right_shift bitwise_xor "
                      "eq ge gt isfinite isinf isnan isneginf isposinf isreal le logical_and logical_not logical_or "
                      "logical_xor lt ne signbit"),
        "torch": ("allclose bitwise_and bitwise_left_shift bitwise_not bitwise_not_ bitwise_or bitwise_right_shift "
                  "bitwise_xor eq equal ge greater greater_equal gt isclose isfinite isinf isnan isneginf isposinf "
                  "isreal le less less_equal logical_and logical_not logical_not_ logical_or logical_xor lt ne "
                  "not_equal signbit"),
        "Tensor": ("__and__ __eq__ __ge__ __gt__ __iand__ __ilshift__ __invert__ __ior__ __irshift__ __ixor__ __le__ "
                   "__lshift__ __lt__ __ne__ __or__ __rand__ __rlshift__ __ror__ __rrshift__ __rshift__ __rxor__ "
                   "__xor__ allclose bitwise_and bitwise_and_ bitwise_left_shift bitwise_left_shift_ bitwise_not "
                   "bitwise_not_ bitwise_or bitwise_or_ bitwise_right_shift bitwise_right_shift_ bitwise_xor "
                   "bitwise_xor_ eq eq_ equal ge ge_ greater greater_ greater_equal greater_equal_ gt gt_ isclose "
                   "isfinite isinf isnan isneginf isposinf isreal le le_ less less_ less_equal less_equal_ "
                   "logical_and logical_and_ logical_not logical_not_ logical_or logical_or_ logical_xor "
                   "logical_xor_ lt lt_ ne ne_ not_equal not_equal_ signbit"),
    },
    "elementwise.where": {
        "operators": ("_clamp _clamp_max _clamp_max_tensor _clamp_min _clamp_min_tensor _clamp_tensors _nan_to_num fmax "
                      "fmin maximum minimum where"),
        "torch": ("clamp clamp_ clamp_max clamp_max_ clamp_min clamp_min_ clip clip_ fmax fmin maximum minimum "
                  "nan_to_num nan_to_num_ where"),
        "Tensor": ("clamp clamp_ clamp_max clamp_max_ clamp_min clamp_min_ clip clip_ fmax fmin maximum minimum "
                   "nan_to_num nan_to_num_ where"),
    },
    "elementwise.complex": {
        "operators": ("angle complex conj conj_physical imag negative_view polar real sgn view_as_complex view_as_real"),
        "torch": ("_neg_view angle complex conj conj_physical conj_physical_ imag is_conj is_neg polar real "
                  "resolve_conj resolve_neg sgn sgn_ view_as_complex view_as_complex_copy view_as_real "
                  "view_as_real_copy"),
        "Tensor": ("_neg_view angle conj conj_physical conj_physical_ imag is_conj is_neg real resolve_conj "
                   "resolve_neg sgn sgn_"),
    },
    "elementwise.unary": {
        "operators": ("_round_decimals abs acos acosh asin asinh atan atanh ceil cos cosh deg2rad exp exp2 expm1 floor "
                      "frac frexp log log10 log1p log2 rad2deg round rsqrt sign sin sinc sinh sqrt tan tanh trunc"),
        "torch": ("abs abs_ absolute absolute_ acos acos_ acosh acosh_ arccos arccos_ arccosh arccosh_ arcsin "
                  "arcsin_ arcsinh arcsinh_ arctan arctan_ arctanh arctanh_ asin asin_ asinh asinh_ atan atan_ "
                  "atanh atanh_ ceil ceil_ cos cos_ cosh cosh_ deg2rad deg2rad_ exp exp2 exp2_ exp_ expm1 expm1_ "
                  "fix fix_ floor floor_ frac frac_ frexp log log10 log10_ log1p log1p_ log2 log2_ log_ rad2deg "
                  "rad2deg_ round round_ rsqrt rsqrt_ sign sign_ sin sin_ sinc sinc_ sinh sinh_ sqrt sqrt_ tan tan_ "
                  "tanh tanh_ trunc trunc_"),
        "Tensor": ("__abs__ abs abs_ absolute absolute_ acos acos_ acosh acosh_ arccos arccos_ arccosh arccosh_ "
                   "arcsin arcsin_ arcsinh arcsinh_ arctan arctan_ arctanh arctanh_ asin asin_ asinh asinh_ atan "
                   "atan_ atanh atanh_ ceil ceil_ cos cos_ cosh cosh_ deg2rad deg2rad_ exp exp2 exp2_ exp_ expm1 "
                   "expm1_ fix fix_ floor floor_ frac frac_ frexp log log10 log10_ log1p log1p_ log2 log2_ log_ "
                   "rad2deg rad2deg_ round round_ rsqrt rsqrt_ sign sign_ sin sin_ sinc sinc_ sinh sinh_ sqrt sqrt_ "
                   "tan tan_ tanh tanh_ trunc trunc_"),
        "special": ("exp2 expm1 log1p round sinc"),
    },
    "elementwise.binary": {
        "operators": ("_addcdiv _addcmul _lerp_number _lerp_tensor atan2 copysign gcd heaviside hypot lcm ldexp "
                      "logaddexp logaddexp2 nextafter"),
        "torch": ("addcdiv addcmul arctan2 atan2 copysign gcd gcd_ heaviside hypot lcm lcm_ ldexp ldexp_ lerp "
                  "logaddexp logaddexp2 nextafter"),
        "Tensor": ("addcdiv addcdiv_ addcmul addcmul_ arctan2 arctan2_ atan2 atan2_ copysign copysign_ gcd gcd_ "
                   "heaviside heaviside_ hypot hypot_ lcm lcm_ ldexp ldexp_ lerp lerp_ logaddexp logaddexp2 "
                   "nextafter nextafter_"),
    },
    "elementwise.special": {
        "operators": ("_logit _mvlgamma _polygamma digamma entr erf erfc erfcx erfinv igamma igammac lgamma log_ndtr "
                      "ndtr ndtri xlog1py xlogy zeta"),
        "torch": ("digamma digamma_ erf erf_ erfc erfc_ erfinv erfinv_ igamma igammac lgamma lgamma_ logit logit_ "
                  "mvlgamma polygamma xlogy xlogy_"),
        "Tensor": ("digamma digamma_ erf erf_ erfc erfc_ erfinv erfinv_ igamma igamma_ igammac igammac_ lgamma "
                   "lgamma_ logit logit_ mvlgamma mvlgamma_ polygamma polygamma_ xlogy xlogy_"),
        "special": ("digamma entr erf erfc erfcx erfinv gammainc gammaincc gammaln log_ndtr logit multigammaln ndtr "
                    "ndtri polygamma psi xlog1py xlogy zeta"),
    },
    "elementwise.bessel": {
        "operators": ("airy_ai bessel_j0 bessel_j1 bessel_y0 bessel_y1 i0 i0e i1 i1e modified_bessel_i0 "
                      "modified_bessel_i1 modified_bessel_k0 modified_bessel_k1 scaled_modified_bessel_k0 "
                      "scaled_modified_bessel_k1 spherical_bessel_j0"),
        "torch": ("i0 i0_"),
        "Tensor": ("i0 i0_"),
        "special": ("airy_ai bessel_j0 bessel_j1 bessel_y0 bessel_y1 i0 i0e i1 i1e modified_bessel_i0 "
                    "modified_bessel_i1 modified_bessel_k0 modified_bessel_k1 scaled_modified_bessel_k0 "
                    "scaled_modified_bessel_k1 spherical_bessel_j0"),
    },
    "elementwise.polynomials": {
        "operators": ("chebyshev_polynomial_t chebyshev_polynomial_u chebyshev_polynomial_v chebyshev_polynomial_w "
                      "hermite_polynomial_h hermite_polynomial_he laguerre_polynomial_l legendre_polynomial_p "
                      "shifted_chebyshev_polynomial_t shifted_chebyshev_polynomial_u shifted_chebyshev_polynomial_v "
                      "shifted_chebyshev_polynomial_w"),
        "special": ("chebyshev_polynomial_t chebyshev_polynomial_u chebyshev_polynomial_v chebyshev_polynomial_w "
                    "hermite_polynomial_h hermite_polynomial_he laguerre_polynomial_l legendre_polynomial_p "
                    "shifted_chebyshev_polynomial_t shifted_chebyshev_polynomial_u shifted_chebyshev_polynomial_v "
                    "shifted_chebyshev_polynomial_w"),
    },
    "nn.rectifiers": {
        "operators": ("_beside_zeros _hardshrink _hardsigmoid _hardswish _hardtanh _leaky_relu _prelu_kernel _rrelu "
                      "_rrelu_with_noise _softshrink _threshold _threshold_backward relu"),
        "torch": ("hardshrink prelu relu relu_ rrelu rrelu_ threshold threshold_"),
        "Tensor": ("hardshrink prelu relu relu_"),
        "nn.functional": ("hardshrink hardsigmoid hardswish hardtanh hardtanh_ leaky_relu leaky_relu_ prelu relu relu6 "
                          "relu_ rrelu rrelu_ softshrink softsign tanhshrink threshold threshold_"),
    },
    "nn.activation": {
        "operators": ("_celu _elu _gelu _glu _log_sigmoid _mish _silu _softplus sigmoid"),
        "torch": ("celu celu_ selu selu_ sigmoid sigmoid_"),
        "Tensor": ("sigmoid sigmoid_"),
        "nn.functional": ("celu celu_ elu elu_ gelu glu logsigmoid mish selu selu_ sigmoid silu softplus tanh"),
        "special": ("expit"),
    },
    "shape.views_primitive": {
        "operators": ("alias expand matrix_t permute reshape squeeze_all squeeze_dim squeeze_dims sum_to transpose_dims "
                      "unsqueeze_dim view"),
    },
    "shape.view_chain": {"operators": "view_gather view_scatter view_scatter_zeros zeros_like"},
    "shape.strided": {
        "operators": ("as_strided_backward as_strided_view diagonal_backward diagonal_view select select_backward "
                      "slice_backward slice_dim unfold_backward unfold_view"),
        "torch": ("as_strided as_strided_scatter diagonal diagonal_scatter narrow select select_scatter "
                  "slice_scatter"),
        "Tensor": ("as_strided as_strided_scatter diagonal diagonal_scatter narrow select select_scatter "
                   "slice_scatter unfold"),
        "linalg": ("diagonal"),
    },
    "shape.views": {
        "torch": ("adjoint flatten moveaxis movedim permute ravel reshape squeeze swapaxes swapdims t transpose "
                  "unflatten unsqueeze"),
        "Tensor": ("H T adjoint flatten mH mT moveaxis movedim permute ravel reshape reshape_as squeeze swapaxes "
                   "swapdims t transpose unflatten unsqueeze view view_as"),
    },
    "shape.broadcasting": {
        "torch": ("atleast_1d atleast_2d atleast_3d broadcast_shapes broadcast_tensors broadcast_to"),
        "Tensor": ("broadcast_to expand expand_as sum_to_size"),
    },
    "shape.join": {
        "operators": ("cat split split_with_sizes stack unbind"),
        "torch": ("cat chunk column_stack concat concatenate dsplit dstack hsplit hstack row_stack split "
                  "split_with_sizes stack tensor_split unbind vsplit vstack"),
        "Tensor": ("chunk dsplit hsplit split split_with_sizes tensor_split unbind vsplit"),
    },
    "indexing.index_primitive": {"operators": "index index_back index_put"},
    "indexing.getitem": {"Tensor": "__getitem__"},
    "create.convert": {
        "operators": ("clone"),
        "torch": ("clone detach detach_"),
        "Tensor": ("bfloat16 bool byte cdouble cfloat chalf char clone contiguous cpu cuda detach detach_ double "
                   "float half int long short to type_as xpu"),
    },
    "indexing.copy_fill": {
        "operators": ("copy fill_number masked_fill"),
        "torch": ("fill fill_ masked_fill zero_"),
        "Tensor": ("copy_ fill_ masked_fill masked_fill_ zero_"),
    },
    "indexing.setitem": {"Tensor": "__setitem__"},
    "shape.resize": {
        "torch": ("as_strided_ resize_ resize_as_"),
        "Tensor": ("as_strided_ resize resize_ resize_as resize_as_ set_ squeeze_ swapaxes_ swapdims_ t_ transpose_ "
                   "unsqueeze_"),
    },
    "shape.rearrange": {
        "operators": ("embed_diagonal flip_dims lower_triangle repeat roll_dims rotate upper_triangle"),
        "torch": ("diag diag_embed diagflat fill_diagonal_ flip fliplr flipud repeat_interleave roll rot90 tile "
                  "tril tril_indices triu triu_indices unravel_index"),
        "Tensor": ("diag diag_embed diagflat fill_diagonal_ flip fliplr flipud repeat repeat_interleave roll rot90 "
                   "tile tril tril_ triu triu_"),
    },
    "shape.combine": {"operators": "blocks", "torch": "block_diag cartesian_prod combinations meshgrid"},
    "shape.view_copies": {
        "torch": ("alias_copy as_strided_copy detach_copy diagonal_copy expand_copy narrow_copy permute_copy "
                  "select_copy slice_copy split_copy split_with_sizes_copy squeeze_copy t_copy transpose_copy "
                  "unbind_copy unfold_copy unsafe_chunk unsafe_split unsafe_split_with_sizes unsqueeze_copy "
                  "view_copy"),
        "Tensor": ("narrow_copy unsafe_chunk unsafe_split unsafe_split_with_sizes"),
    },
    "indexing.scatter": {
        "operators": ("gather gather_back scatter scatter_add scatter_reduce"),
        "torch": ("gather scatter scatter_add scatter_reduce take_along_dim"),
        "Tensor": ("gather scatter scatter_ scatter_add scatter_add_ scatter_reduce scatter_reduce_ take_along_dim"),
    },
    "indexing.index_ops": {
        "operators": ("embedding take_flat"),
        "torch": ("embedding index_add index_copy index_fill index_put index_put_ index_reduce index_select put "
                  "take"),
        "Tensor": ("index_add index_add_ index_copy index_copy_ index_fill index_fill_ index_put index_put_ "
                   "index_reduce index_reduce_ index_select put put_ take"),
        "nn.functional": ("embedding"),
    },
    "indexing.masks": {
        "torch": ("argwhere masked_scatter masked_select nonzero nonzero_static"),
        "Tensor": ("argwhere masked_scatter masked_scatter_ masked_select nonzero nonzero_static"),
        "nn.functional": ("one_hot"),
    },
    "reduce.sums": {
        "operators": ("_not_nan_count all_dim any_dim count_nonzero mean_all mean_dim nansum prod_all prod_dim sum_all "
                      "sum_dim"),
        "torch": ("all any count_nonzero mean nanmean nansum prod sum"),
        "Tensor": ("all any count_nonzero mean nanmean nansum prod sum"),
    },
    "reduce.extrema": {
        "operators": ("_put_along _take_along _tie_count _ties amax amin aminmax argmax argmin max_all max_dim min_all "
                      "min_dim"),
        "torch": ("amax amin aminmax argmax argmin max min"),
        "Tensor": ("amax amin aminmax argmax argmin max min"),
    },
    "reduce.norms": {
        "operators": ("dist linalg_vector_norm"),
        "torch": ("dist norm renorm"),
        "Tensor": ("dist norm renorm renorm_"),
        "linalg": ("norm vector_norm"),
    },
    "reduce.scan": {
        "operators": ("_cumprod_before _cumsum_reverse _delay _recurrence cummax cummin cumprod cumsum logcumsumexp"),
        "torch": ("cummax cummin cumprod cumsum logcumsumexp"),
        "Tensor": ("cummax cummin cumprod cumprod_ cumsum cumsum_ logcumsumexp"),
    },
    "reduce.differences": {"torch": "cumulative_trapezoid diff gradient trapezoid trapz", "Tensor": "diff"},
    "nn.softmax": {
        "operators": ("_log_softmax_backward_data _softmax_backward_data log_softmax logsumexp softmax"),
        "torch": ("log_softmax logsumexp softmax"),
        "Tensor": ("log_softmax logsumexp softmax"),
        "nn.functional": ("log_softmax softmax softmin"),
        "special": ("log_softmax logsumexp softmax"),
    },
    "reduce.sort": {
        "operators": ("_searchsorted _unique2 _unique_consecutive argsort isin kthvalue sort topk unique_dim "
                      "unique_dim_consecutive"),
        "torch": ("argsort bucketize isin kthvalue msort searchsorted sort topk unique unique_consecutive"),
        "Tensor": ("argsort kthvalue msort sort topk unique unique_consecutive"),
    },
    "reduce.statistics": {
        "operators": ("median_all median_dim mode nanmedian_all nanmedian_dim std std_mean var var_mean"),
        "torch": ("corrcoef cov median mode nanmedian nanquantile quantile std std_mean var var_mean"),
        "Tensor": ("corrcoef cov median mode nanmedian nanquantile quantile std var"),
    },
    "reduce.counting": {
        "operators": ("bincount histc"),
        "torch": ("bincount histc histogram histogramdd"),
        "Tensor": ("bincount histc histogram"),
    },
    "linalg.matmul": {
        "operators": ("bmm conj_dot mat_mat mat_vec matmul_nd vec_mat vec_vec"),
        "lib": ("matrix_product product"),
        "torch": ("bmm dot ger matmul mm mv outer vdot"),
        "Tensor": ("__matmul__ __rmatmul__ bmm dot ger matmul mm mv outer vdot"),
        "linalg": ("matmul"),
    },
    "nn.linear": {"operators": "column_sums linear", "lib": "linear_rows", "nn.functional": "linear"},
    "linalg.einsum": {
        "operators": ("contract"),
        "torch": ("bilinear chain_matmul einsum inner kron tensordot"),
        "Tensor": ("inner kron"),
        "nn.functional": ("bilinear"),
        "linalg": ("multi_dot vecdot"),
    },
    "linalg.addmm": {
        "operators": ("affine_bmm affine_bmm_sum affine_mm affine_mv affine_outer"),
        "lib": ("addmm_rows"),
        "torch": ("addbmm addmm addmv addr baddbmm"),
        "Tensor": ("addbmm addbmm_ addmm addmm_ addmv addmv_ addr addr_ baddbmm baddbmm_"),
    },
    "nn.loss": {
        "operators": ("huber smooth_l1 soft_margin squared_error"),
        "nn.functional": ("hinge_embedding_loss huber_loss l1_loss margin_ranking_loss mse_loss smooth_l1_loss "
                          "soft_margin_loss"),
    },
    "nn.likelihoods": {
        "operators": ("bernoulli_logits_nll bernoulli_nll"),
        "nn.functional": ("binary_cross_entropy binary_cross_entropy_with_logits gaussian_nll_loss kl_div poisson_nll_loss"),
    },
    "nn.classification": {
        "operators": ("multi_margin nll nll_backward"),
        "nn.functional": ("multi_margin_loss multilabel_margin_loss multilabel_soft_margin_loss nll_loss"),
    },
    "nn.cross_entropy": {"nn.functional": "cross_entropy"},
    "nn.ctc": {
        "operators": ("ctc_covariance ctc_nll ctc_posterior ctc_within"),
        "torch": ("ctc_loss"),
        "nn.functional": ("ctc_loss"),
    },
    "nn.distance": {
        "operators": ("euclidean_distances"),
        "torch": ("cdist cosine_similarity pairwise_distance pdist"),
        "nn.functional": ("cosine_embedding_loss cosine_similarity normalize pairwise_distance pdist triplet_margin_loss "
                          "triplet_margin_with_distance_loss"),
    },
    "nn.pad": {
        "operators": ("constant_pad_nd fold_border pad_border"),
        "torch": ("constant_pad_nd"),
        "nn.functional": ("pad"),
    },
    "nn.interpolate": {
        "operators": ("upsample upsample_backward"),
        "nn.functional": ("interpolate upsample upsample_bilinear upsample_nearest"),
    },
    "nn.normalization": {
        "operators": ("norm_groups norm_layer standardize standardize_backward"),
        "torch": ("group_norm layer_norm native_group_norm native_layer_norm rms_norm"),
        "nn.functional": ("group_norm layer_norm local_response_norm rms_norm"),
    },
    "nn.batch_norm": {
        "operators": ("norm_by_statistics norm_channels"),
        "torch": ("batch_norm instance_norm"),
        "nn.functional": ("batch_norm instance_norm"),
    },
    "nn.conv": {
        "operators": ("conv_input conv_weight convolution convolution_transposed"),
        "lib": ("conv_back conv_filters conv_forward"),
        "torch": ("conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d convolution"),
        "nn.functional": ("conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d"),
    },
    "nn.pool_primitive": {
        "operators": ("max_parts max_windows mean_parts mean_parts_backward mean_windows mean_windows_backward "
                      "pool_gather pool_scatter unpool"),
    },
    "nn.pool": {
        "torch": ("adaptive_avg_pool1d adaptive_max_pool1d avg_pool1d max_pool1d max_pool2d max_pool3d"),
        "nn.functional": ("adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d adaptive_max_pool1d "
                          "adaptive_max_pool2d adaptive_max_pool3d avg_pool1d avg_pool2d avg_pool3d lp_pool1d lp_pool2d "
                          "lp_pool3d max_pool1d max_pool2d max_pool2d_with_indices max_pool3d max_pool3d_with_indices "
                          "max_unpool1d max_unpool2d max_unpool3d"),
    },
    "nn.fractional_pool": {
        "operators": ("fractional_max"),
        "nn.functional": ("fractional_max_pool2d fractional_max_pool2d_with_indices fractional_max_pool3d "
                          "fractional_max_pool3d_with_indices"),
    },
    "nn.embedding_bag": {"operators": "bag_argmax", "torch": "embedding_bag", "nn.functional": "embedding_bag"},
    "nn.fold": {
        "operators": ("channels_to_pixels col2im im2col pixels_to_channels"),
        "torch": ("channel_shuffle native_channel_shuffle pixel_shuffle pixel_unshuffle"),
        "nn.functional": ("channel_shuffle fold native_channel_shuffle pixel_shuffle pixel_unshuffle unfold"),
    },
    "nn.grid": {
        "operators": ("affine_grid_backward affine_places sample_at spread_from"),
        "torch": ("grid_sampler grid_sampler_2d grid_sampler_3d"),
        "nn.functional": ("affine_grid grid_sample"),
    },
    "nn.attention": {
        "operators": ("attention hide_future keep_past softmax_or_zero"),
        "nn.functional": ("scaled_dot_product_attention"),
    },
    "nn.multihead": {"nn.functional": "multi_head_attention_forward"},
    "nn.recurrent": {"operators": "lstm_layer recurrent_layer"},
    "linalg.inverses": {
        "operators": ("cholesky_solution cofactors determinant inverse sign_logdet solve_left triangular_solve_left"),
    },
    "linalg.decompositions": {
        "operators": ("cholesky_factor eigen_general eigen_hermitian exp_matrix lu_compact orthogonal permutation_of "
                      "pseudo_inverse singular"),
    },
    "linalg.public": {
        "torch": ("cholesky cholesky_inverse cholesky_solve det inverse linalg_inv logdet lu lu_solve lu_unpack qr "
                  "slogdet svd triangular_solve"),
        "Tensor": ("cholesky cholesky_inverse cholesky_solve det inverse logdet lu lu_solve qr slogdet svd "
                   "triangular_solve"),
        "linalg": ("LinAlgError cholesky cholesky_ex det eig eigh eigvals eigvalsh inv inv_ex lu lu_factor "
                   "lu_factor_ex lu_solve qr slogdet solve solve_ex solve_triangular svd svdvals"),
    },
    "linalg.matrix_functions": {
        "operators": ("cross_product trace_of"),
        "torch": ("cross eig gesv lstsq matrix_exp matrix_power matrix_rank pca_lowrank pinverse solve svd_lowrank "
                  "symeig trace vander"),
        "Tensor": ("cross eig gesv lstsq matrix_exp matrix_power matrix_rank pinverse solve symeig trace"),
        "linalg": ("cond cross lstsq matrix_exp matrix_norm matrix_power matrix_rank pinv tensorinv tensorsolve "
                   "vander"),
    },
    "linalg.householder": {
        "torch": ("geqrf orgqr ormqr"),
        "Tensor": ("geqrf orgqr ormqr"),
        "linalg": ("householder_product"),
    },
    "signal.fft": {
        "operators": ("fft_c2c fft_c2r fft_r2c"),
        "fft": ("fft fft2 fftfreq fftn fftshift hfft hfft2 hfftn ifft ifft2 ifftn ifftshift ihfft ihfft2 ihfftn "
                "irfft irfft2 irfftn rfft rfft2 rfftfreq rfftn"),
    },
    "create.window_functions": {"torch": "bartlett_window blackman_window hamming_window hann_window kaiser_window"},
    "signal.spectral": {"torch": "istft stft", "Tensor": "istft stft"},
    "names.positional": {
        "torch": ("_is_all_true _is_any_true _unique _unique2 _weight_norm addmv_ affine_grid_generator "
                  "binary_cross_entropy_with_logits conv_tbc cosine_embedding_loss embedding_renorm_ frobenius_norm "
                  "hash_tensor hinge_embedding_loss kl_div margin_ranking_loss max_pool1d_with_indices "
                  "native_batch_norm norm_except_dim nuclear_norm poisson_nll_loss triplet_margin_loss unique_dim"),
        "Tensor": ("_is_all_true _is_any_true hash_tensor module_load"),
        "nn.functional": ("adaptive_max_pool1d_with_indices adaptive_max_pool2d_with_indices "
                          "adaptive_max_pool3d_with_indices conv_tbc max_pool1d_with_indices"),
    },
    "reduce.segments": {"torch": "_segment_reduce segment_reduce"},
    "linalg.ldl": {"operators": "ldl_apply ldl_compact", "linalg": "ldl_factor ldl_factor_ex ldl_solve"},
    "nn.linear_cross_entropy": {"nn.functional": "linear_cross_entropy"},
    "nn.recurrent_functions": {"torch": "gru gru_cell lstm lstm_cell rnn_relu rnn_relu_cell rnn_tanh rnn_tanh_cell"},
    "names.symbolic": {"torch": "sym_float sym_int sym_ite sym_max sym_min sym_not sym_sqrt sym_sum"},
    "linalg.lobpcg": {"torch": "lobpcg"},
    "create.files": {"torch": "from_file"},
    "random.implicit_gradients": {
        "operators": ("_dirichlet_grad _standard_gamma_grad dirichlet_draws gamma_draws"),
        "torch": ("_dirichlet_grad _sample_dirichlet _standard_gamma _standard_gamma_grad"),
    },
    "names.sparse": {
        "torch": ("dsmm saddmm sparse_coo_tensor spmm"),
        "Tensor": ("_coalesced_ _dimI _dimV _indices _nnz _values coalesce dense_dim indices is_coalesced is_sparse "
                   "layout sparse_dim sparse_mask to_dense to_sparse to_sparse_coo values"),
    },
    "names.compressed": {
        "torch": ("_validate_sparse_csr_tensor_args ccol_indices_copy col_indices_copy crow_indices_copy "
                  "row_indices_copy sparse_compressed_tensor sparse_csc_tensor sparse_csr_tensor values_copy"),
        "Tensor": ("ccol_indices col_indices crow_indices is_sparse_csr row_indices to_sparse_csc to_sparse_csr"),
    },
    "names.private": {
        "torch": ("_assert_async _convert_indices_from_coo_to_csr _convert_indices_from_csr_to_coo _shape_as_tensor"),
    },
    "._arrays.along": {"lib": "along"},
    "._arrays.kernels": {"lib": "bell one_and_exp_of_negative signs where_not_zero with_slope"},
    "._arrays.large": {
        "lib": ("column_sums error_function limited normal_cdf product_of_all sum_of_deviations sum_of_squares "
                "sum_over where"),
    },
    "._arrays.attention": {"lib": "attention_cotangents causal_scores softmax_rows_or_zero"},
    "._arrays.norms": {"lib": "norm_cotangents normalized standardized"},
    "._arrays.batch_norm": {"lib": "channel_cotangents channels_by_statistics normalized_channels"},
    "._arrays.counting": {"lib": "counts_between"},
    "._arrays.sums": {"lib": "mean_of_all sum_along sum_of_all"},
    "._arrays.extrema": {"lib": "put_along taken_along"},
    "._arrays.scipy_functions": {
        "lib": ("scipy_entr scipy_erf scipy_erfc scipy_erfcx scipy_erfinv scipy_gammainc scipy_gammaincc "
                "scipy_gammaln scipy_i0 scipy_i0e scipy_i1 scipy_i1e scipy_j0 scipy_j1 scipy_k0 scipy_k0e "
                "scipy_k1 scipy_k1e scipy_log_ndtr scipy_ndtr scipy_ndtri scipy_psi scipy_xlog1py scipy_xlogy "
                "scipy_y0 scipy_y1 scipy_zeta"),
    },
    "._arrays.linalg": {"lib": "cholesky_factors inverses solutions triangular_solutions"},
    "._arrays.losses": {"lib": "reduced"},
    "._arrays.sorting": {"lib": "kth_with_positions largest_with_positions places_in_rows sorted_with_positions"},
    "._arrays.order_statistics": {"lib": "median_positions most_frequent"},
    "._arrays.recurrent": {
        "lib": ("gru_cotangents gru_forward lstm_cotangents lstm_forward rnn_cotangents rnn_forward"),
    },
    "._arrays.scan": {"lib": "complex_logcumsumexp delayed linear_recurrence products_before"},
    "._arrays.softmax": {"lib": "log_softmax_backward_rows log_softmax_rows softmax_backward_rows softmax_rows"},
    "._tensor_api.layout": {
        "torch": ("get_device is_complex is_distributed is_floating_point is_inference is_same_size is_signed "
                  "is_tensor numel"),
        "Tensor": ("_base _cdata _is_view _view_func apply_ const_data_ptr data_ptr dim dim_order element_size "
                   "get_device is_complex is_contiguous is_cpu is_cuda is_distributed is_floating_point is_inference "
                   "is_ipu is_maia is_meta is_mkldnn is_mps is_mtia is_nested is_pinned is_quantized is_same_size "
                   "is_set_to is_signed is_vulkan is_xla is_xpu itemsize map2_ map_ name nbytes ndimension nelement "
                   "numel pin_memory size storage_offset stride type"),
    },
    "._tensor_api.settings": {
        "torch": ("_assert _check _check_index _check_not_implemented _check_type _check_value "
                  "are_deterministic_algorithms_enabled get_default_device get_deterministic_debug_mode "
                  "get_float32_matmul_precision get_num_interop_threads get_num_threads "
                  "is_deterministic_algorithms_warn_only_enabled is_warn_always_enabled result_type "
                  "set_default_device set_deterministic_debug_mode set_float32_matmul_precision set_flush_denormal "
                  "set_num_interop_threads set_num_threads set_warn_always typename use_deterministic_algorithms"),
    },
}
