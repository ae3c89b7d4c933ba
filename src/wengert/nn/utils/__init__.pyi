# Made by tools/make_stubs.py; do not edit.
from ...nn.utils import clip_grad as clip_grad, convert_parameters as convert_parameters, fusion as fusion, init as init, memory_format as memory_format, parametrizations as parametrizations, parametrize as parametrize, prune as prune, rnn as rnn, stateless as stateless
from ...nn.utils.clip_grad import clip_grad_norm as clip_grad_norm, clip_grad_norm_ as clip_grad_norm_, clip_grad_value_ as clip_grad_value_, clip_grads_with_norm_ as clip_grads_with_norm_, get_total_norm as get_total_norm
from ...nn.utils.convert_parameters import parameters_to_vector as parameters_to_vector, vector_to_parameters as vector_to_parameters
from ...nn.utils.fusion import fuse_conv_bn_eval as fuse_conv_bn_eval, fuse_conv_bn_weights as fuse_conv_bn_weights, fuse_linear_bn_eval as fuse_linear_bn_eval, fuse_linear_bn_weights as fuse_linear_bn_weights
from ...nn.utils.init import skip_init as skip_init
from ...nn.utils.memory_format import convert_conv2d_weight_memory_format as convert_conv2d_weight_memory_format, convert_conv3d_weight_memory_format as convert_conv3d_weight_memory_format
from ...nn.utils.spectral_norm import remove_spectral_norm as remove_spectral_norm, spectral_norm as spectral_norm
from ...nn.utils.weight_norm import remove_weight_norm as remove_weight_norm, weight_norm as weight_norm
