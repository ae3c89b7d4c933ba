"""``torch.nn.utils``: clipping gradients, parameters as one vector, sequences, reparametrisations."""

from types import FunctionType as _Function

from . import rnn
from .clip_grad import clip_grad_norm, clip_grad_norm_, clip_grad_value_, clip_grads_with_norm_, get_total_norm
from .convert_parameters import parameters_to_vector, vector_to_parameters
from .fusion import fuse_conv_bn_eval, fuse_conv_bn_weights, fuse_linear_bn_eval, fuse_linear_bn_weights
from .init import skip_init
from .memory_format import convert_conv2d_weight_memory_format, convert_conv3d_weight_memory_format
from .spectral_norm import remove_spectral_norm, spectral_norm
from .weight_norm import remove_weight_norm, weight_norm

__all__ = ["rnn", *sorted(name for name, value in globals().items() if isinstance(value, _Function))]  # noqa: PLE0604


def __getattr__(name: str) -> object:
    # the larger modules are imported at their first use, as ``nn`` itself is
    if name in ("parametrizations", "parametrize", "prune", "stateless"):
        from importlib import import_module

        return import_module(f".{name}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
