# Made by tools/make_stubs.py; do not edit.
from ...nn.utils import clip_grad as clip_grad
from ...nn.utils import convert_parameters as convert_parameters
from ...nn.utils import fusion as fusion
from ...nn.utils import init as init
from ...nn.utils import memory_format as memory_format
from ...nn.utils import parametrizations as parametrizations
from ...nn.utils import parametrize as parametrize
from ...nn.utils import prune as prune
from ...nn.utils import rnn as rnn
from ...nn.utils import stateless as stateless
from ...nn.utils.clip_grad import clip_grad_norm as clip_grad_norm
from ...nn.utils.clip_grad import clip_grad_norm_ as clip_grad_norm_
from ...nn.utils.clip_grad import clip_grad_value_ as clip_grad_value_
from ...nn.utils.clip_grad import clip_grads_with_norm_ as clip_grads_with_norm_
from ...nn.utils.clip_grad import get_total_norm as get_total_norm
from ...nn.utils.convert_parameters import parameters_to_vector as parameters_to_vector
from ...nn.utils.convert_parameters import vector_to_parameters as vector_to_parameters
from ...nn.utils.fusion import fuse_conv_bn_eval as fuse_conv_bn_eval
from ...nn.utils.fusion import fuse_conv_bn_weights as fuse_conv_bn_weights
from ...nn.utils.fusion import fuse_linear_bn_eval as fuse_linear_bn_eval
from ...nn.utils.fusion import fuse_linear_bn_weights as fuse_linear_bn_weights
from ...nn.utils.init import skip_init as skip_init
from ...nn.utils.memory_format import convert_conv2d_weight_memory_format as convert_conv2d_weight_memory_format
from ...nn.utils.memory_format import convert_conv3d_weight_memory_format as convert_conv3d_weight_memory_format
from ...nn.utils.spectral_norm import remove_spectral_norm as remove_spectral_norm
from ...nn.utils.spectral_norm import spectral_norm as spectral_norm
from ...nn.utils.weight_norm import remove_weight_norm as remove_weight_norm
from ...nn.utils.weight_norm import weight_norm as weight_norm

__all__ = [
    "clip_grad",
    "clip_grad_norm",
    "clip_grad_norm_",
    "clip_grad_value_",
    "clip_grads_with_norm_",
    "convert_conv2d_weight_memory_format",
    "convert_conv3d_weight_memory_format",
    "convert_parameters",
    "fuse_conv_bn_eval",
    "fuse_conv_bn_weights",
    "fuse_linear_bn_eval",
    "fuse_linear_bn_weights",
    "fusion",
    "get_total_norm",
    "init",
    "memory_format",
    "parameters_to_vector",
    "parametrizations",
    "parametrize",
    "prune",
    "remove_spectral_norm",
    "remove_weight_norm",
    "rnn",
    "skip_init",
    "spectral_norm",
    "stateless",
    "vector_to_parameters",
    "weight_norm",
]
