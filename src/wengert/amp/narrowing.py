"""The conversions in an ``autocast`` region for the CPU: narrow for products, wide for losses and decompositions.

A region is a function mode (``_tensor_api.torch_function``): it receives public calls, including those of modules, and
converts their floating point arguments before they run. The lists of functions are PyTorch's for the CPU. Recurrent
layers look up the region themselves (``nn.modules.rnn``).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._base import dtypes
from .._base.dtypes import BY_NUMPY
from .._base.modes import OUTER, enter, is_grad_enabled, leaving
from .._ops.create.convert import converted
from .._tape.node import AccumulateGrad, view_of
from .._tape.promotion import logical_dtype
from .._tape.tensor import CPU, Tensor, device_of
from .._tensor_api.function_modes import BaseTorchFunctionMode
from .._tensor_api.torch_function import Converting, overrides
from .autocast_mode import SETTINGS

# In bfloat16 or float16: products, which save time in PyTorch and accumulate in float32.
NARROW = frozenset((
    "addbmm", "addmm", "baddbmm", "bmm", "chain_matmul", "conv1d", "conv2d", "conv3d", "conv_tbc", "conv_transpose1d",
    "conv_transpose2d", "conv_transpose3d", "einsum", "linear", "matmul", "mm", "multi_dot",
    "multi_head_attention_forward", "prelu", "scaled_dot_product_attention", "tensordot", "vecdot",
))  # fmt: skip

# In float32: losses, decompositions, transforms, and functions for which PyTorch has no narrow kernel.
WIDE = frozenset((
    "adaptive_avg_pool3d", "adaptive_max_pool3d", "avg_pool3d", "binary_cross_entropy",
    "binary_cross_entropy_with_logits", "cdist", "cholesky", "cholesky_ex", "cholesky_inverse", "cholesky_solve",
    "cond", "cosine_embedding_loss", "cross_entropy", "ctc_loss", "eig", "eigh", "eigvals", "eigvalsh", "fft", "fft2",
    "fftn", "fractional_max_pool2d", "fractional_max_pool3d", "geqrf", "grid_sample", "hfft", "hinge_embedding_loss",
    "householder_product", "huber_loss", "ifft", "ifft2", "ifftn", "ihfft", "inv", "inv_ex", "inverse", "irfft",
    "irfft2", "irfftn", "kl_div", "l1_loss", "lstsq", "lu_solve", "margin_ranking_loss", "matrix_rank", "max_pool3d",
    "max_unpool2d", "max_unpool3d", "mse_loss", "multi_margin_loss", "multilabel_margin_loss", "nanquantile",
    "nll_loss", "orgqr", "ormqr", "pinverse", "poisson_nll_loss", "polar", "prod", "qr", "quantile", "rfft", "rfft2",
    "rfftn", "smooth_l1_loss", "soft_margin_loss", "solve", "stft", "svd", "svdvals", "tensorinv", "tensorsolve",
    "trace", "triangular_solve", "triplet_margin_loss", "view_as_complex",
))  # fmt: skip


def region_dtype() -> Any:
    """The narrow dtype of the region that this thread is in; ``None`` outside, or where nothing is converted."""
    region = SETTINGS.get().narrowing
    return region.dtype if region is not None and region.enabled else None


class hidden:
    """A context in which nothing is converted."""

    def __enter__(self) -> None:
        now = SETTINGS.get()
        enter(SETTINGS, now._replace(narrowing=None, outer=now))

    __exit__ = leaving((SETTINGS, OUTER))


class Narrowing(Converting, BaseTorchFunctionMode):
    """The mode of a region, of one dtype. A region hides the enclosing one, even if it converts nothing."""

    def __init__(self, dtype: Any, cache: bool, enabled: bool) -> None:
        self.dtype, self._cache, self.enabled = dtype, cache, enabled

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None) -> Any:
        """Run a function on converted arguments; calls inside it are not converted."""
        args, kwargs = self.arguments(getattr(func, "__name__", ""), args, kwargs or {})
        return func(*args, **kwargs)

    def concerns(self, name: str) -> bool:
        """Whether it is one of the listed functions."""
        return (name in NARROW or name in WIDE) and self.enabled and SETTINGS.get().narrowing is self

    def arguments(self, name: str, args: Any, kwargs: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        """The arguments of a listed function in its dtype."""
        if not self.concerns(name):
            return args, kwargs
        target = self.dtype if name in NARROW else dtypes.float32
        return self._converted(args, target), {k: self._converted(v, target) for k, v in kwargs.items()}

    def _converted(self, value: Any, target: Any) -> Any:
        if isinstance(value, Tensor):  # read as it is: public attributes go through what is asked for overrides
            a, own = value._payload, BY_NUMPY[logical_dtype(value)]
            wrong = own.is_floating_point and own is not target and own is not dtypes.float64
            return self._cast(value, target) if wrong and (type(a) is np.ndarray or device_of(a) is CPU) else value
        if isinstance(value, (list, tuple)):
            return type(value)([self._converted(v, target) for v in value])
        return value

    def _cast(self, value: Tensor, target: Any) -> Tensor:
        parameter = type(value._node) is AccumulateGrad and view_of(value) is None
        if not (parameter and self._cache and target is self.dtype and is_grad_enabled()):
            return _to(value, target)
        # One copy of a parameter for the whole region, as in PyTorch: gradients accumulate in the narrow dtype.
        casts = SETTINGS.get().casts
        if casts is None:
            return _to(value, target)
        if id(value) not in casts:
            casts[id(value)] = (value, _to(value, target))  # the parameter is kept alive: its id must not be reused
        return casts[id(value)][1]


def _to(value: Tensor, target: Any) -> Tensor:
    return value.to(target) if overrides(type(value)) else converted(value, target)
