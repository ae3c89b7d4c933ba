"""Batch normalisation. Source: Ioffe and Szegedy 2015."""

from __future__ import annotations

from typing import Any

import numpy as np

import wengert as torch

from ..._base.exports import own_names
from ..._tape.tensor import Tensor, alias_payload
from ..._tape.views import count_write
from .. import functional as F
from .. import init
from ..parameter import Parameter, UninitializedBuffer
from ._making import add_lazy_parameters, add_parameters, own_form
from .lazy import LazyModuleMixin
from .module import Module


class _NormBase(Module):
    """Base of batch and instance normalisation: weights, biases, running statistics."""

    _version = 2  # 2: with num_batches_tracked
    __constants__ = ["track_running_stats", "momentum", "eps", "num_features", "affine"]
    _ranks: tuple[int, ...] = ()  # the numbers of dimensions that an input may have
    weight: Parameter
    bias: Parameter
    running_mean: Tensor | None
    running_var: Tensor | None
    num_batches_tracked: Tensor | None

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        self.num_features, self.eps, self.momentum, self.affine = num_features, eps, momentum, affine
        self.track_running_stats = track_running_stats
        shape = num_features if affine else None
        add_parameters(self, device, dtype, weight=shape, bias=shape if bias else None)
        statistics: dict[str, Any] = {"running_mean": None, "running_var": None, "num_batches_tracked": None}
        if track_running_stats:
            statistics["running_mean"] = torch.zeros(num_features, device=device, dtype=dtype)
            statistics["running_var"] = torch.ones(num_features, device=device, dtype=dtype)
            statistics["num_batches_tracked"] = torch.tensor(0, dtype=torch.long, device=device)
        for name, value in statistics.items():
            self.register_buffer(name, value)
        self.reset_parameters()

    def reset_running_stats(self) -> None:
        """Reset the running statistics."""
        if self.track_running_stats:
            for statistic, first in ((self.running_mean, 0), (self.running_var, 1), (self.num_batches_tracked, 0)):
                statistic.fill_(first)

    def reset_parameters(self) -> None:
        """Set weights to ones and biases to zeros, and reset the running statistics."""
        self.reset_running_stats()
        for parameter, fill in ((self.weight, init.ones_), (self.bias, init.zeros_)) if self.affine else ():
            if parameter is not None:
                fill(parameter)

    def _check_input_dim(self, input: Tensor) -> None:
        if not self._ranks:
            raise NotImplementedError
        if input.dim() not in self._ranks:
            expected = " or ".join(f"{n}D" for n in self._ranks)
            raise ValueError(f"expected {expected} input (got {input.dim()}D input)")

    def extra_repr(self) -> str:
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, "
            f"bias={self.bias is not None}, track_running_stats={self.track_running_stats}"
        )

    def _load_from_state_dict(self, state_dict: Any, prefix: str, local_metadata: Any, *rest: Any) -> None:
        version = local_metadata.get("version", None)
        if (version is None or version < 2) and self.track_running_stats:  # written before PyTorch 0.4.1
            key = prefix + "num_batches_tracked"
            if key not in state_dict:
                tracked = self.num_batches_tracked
                state_dict[key] = tracked if tracked is not None else torch.tensor(0, dtype=torch.long)
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *rest)


class _BatchNorm(_NormBase):
    """Base of batch normalisation for any number of dimensions."""

    _asks = False  # whether a subclass has a ``__getattr__`` of its own, which must be asked

    def __init_subclass__(cls, **rest: Any) -> None:
        super().__init_subclass__(**rest)
        cls._asks = cls.__getattr__ is not Module.__getattr__

    def forward(self, input: Tensor) -> Tensor:
        """The input with mean 0 and variance 1 by channel, times ``weight``, plus ``bias``."""
        self._check_input_dim(input)
        training, track = self.training, self.track_running_stats
        parameters, buffers = ({}, {}) if self._asks else (self._parameters, self._buffers)
        try:  # reads the attributes without the cost of __getattr__
            weight, bias = parameters["weight"], parameters["bias"]
            mean, var, tracked = buffers["running_mean"], buffers["running_var"], buffers["num_batches_tracked"]
        except KeyError:  # they were replaced by other objects
            weight, bias, mean, var = self.weight, self.bias, self.running_mean, self.running_var
            tracked = self.num_batches_tracked
        factor = 0.0 if self.momentum is None else self.momentum
        if training and track and tracked is not None:
            _count(tracked)
            if self.momentum is None:  # the mean over all batches so far
                factor = 1.0 / float(tracked)
        by_batch = training or (mean is None and var is None)
        if training and not track:
            mean = var = None
        return F.batch_norm(input, mean, var, weight, bias, by_batch, factor, self.eps)


_BatchNorm.__init__ = own_form(_BatchNorm, _NormBase.__init__)  # type: ignore[method-assign]
_ONE = np.ones((), np.int64)  # converting the number to an array takes NumPy longer than the addition


def _count(tracked: Any) -> None:
    """``tracked.add_(1)``, at a tenth of its cost for ordinary counters."""
    a = alias_payload(tracked)
    if type(a) is np.ndarray and tracked._node is None:
        np.add(a, _ONE, a)
        count_write(tracked)
    else:
        tracked.add_(1)


class BatchNorm1d(_BatchNorm):
    """Batch normalisation over (N, C) or (N, C, L)."""

    _ranks = (2, 3)


class BatchNorm2d(_BatchNorm):
    """Batch normalisation over (N, C, H, W).

    Training mode uses the batch's mean and variance, and moves ``running_mean`` and ``running_var`` towards them by
    ``momentum``; eval mode uses the running statistics.

    >>> import wengert as torch
    >>> norm = torch.nn.BatchNorm2d(3)
    >>> norm(torch.ones(2, 3, 4, 4)).shape, norm.running_mean
    (torch.Size([2, 3, 4, 4]), tensor([0.1000, 0.1000, 0.1000]))
    """

    _ranks = (4,)


class BatchNorm3d(_BatchNorm):
    """Batch normalisation over (N, C, D, H, W)."""

    _ranks = (5,)


class SyncBatchNorm(_BatchNorm):
    """Batch normalisation with the mean and variance of the batches of all processes, in training.

    In one process, and in eval mode, it is ``BatchNorm``. ``process_group``: the processes, all by default.
    """

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        process_group: Any = None,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)
        self.process_group = process_group

    def _check_input_dim(self, input: Tensor) -> None:
        if input.dim() < 2:
            raise ValueError(f"expected at least 2D input (got {input.dim()}D input)")
        if input.size(1) == 0:
            raise ValueError("SyncBatchNorm number of input channels should be non-zero")

    def forward(self, input: Tensor) -> Tensor:
        """The input with mean 0 and variance 1 by channel over all processes, times ``weight``, plus ``bias``."""
        group: Any = None
        if self.training and torch.distributed.is_initialized():
            group = self.process_group or torch.distributed.group.WORLD
        size = 1 if group is None else torch.distributed.get_world_size(group)
        if size == 1:
            return super().forward(input)
        self._check_input_dim(input)
        mean, var, factor = None, None, 0.0 if self.momentum is None else self.momentum
        if self.track_running_stats:
            mean, var = self.running_mean, self.running_var
            _count(self.num_batches_tracked)
            if self.momentum is None:
                factor = 1.0 / float(self.num_batches_tracked)  # type: ignore[arg-type]
        from ._functions import SyncBatchNorm as over_processes

        return over_processes.apply(input, self.weight, self.bias, mean, var, self.eps, factor, group, size)

    @classmethod
    def convert_sync_batchnorm(cls, module: Any, process_group: Any = None) -> Any:
        """Convert every batch normalisation in a module to ``SyncBatchNorm``, and return the module."""
        converted = module
        if isinstance(module, _BatchNorm):
            converted = SyncBatchNorm(
                module.num_features,
                module.eps,
                module.momentum,
                module.affine,
                module.track_running_stats,
                process_group,
                bias=module.bias is not None,
            )
            if module.affine:
                converted.weight, converted.bias = module.weight, module.bias
            for name in ("running_mean", "running_var", "num_batches_tracked", "training"):
                setattr(converted, name, getattr(module, name))
        for name, child in module.named_children():
            converted.add_module(name, cls.convert_sync_batchnorm(child, process_group))
        return converted


# ---- lazy
class _LazyNormBase(LazyModuleMixin, _NormBase):
    """Base of normalisations that take ``num_features`` from the channels of the first input."""

    def __init__(
        self,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(0, eps, momentum, False, False, device, dtype, bias=False)
        self.affine = affine
        self.track_running_stats = track_running_stats
        if affine:
            add_lazy_parameters(self, device, dtype, *(("weight", "bias") if bias else ("weight",)))
        if track_running_stats:
            self.running_mean = UninitializedBuffer(device=device, dtype=dtype)
            self.running_var = UninitializedBuffer(device=device, dtype=dtype)
            self.num_batches_tracked = torch.tensor(0, dtype=torch.long)

    def reset_parameters(self) -> None:
        """Set initial values if the shapes are known."""
        if not self.has_uninitialized_params() and self.num_features != 0:
            super().reset_parameters()

    def initialize_parameters(self, input: Tensor) -> None:
        """Take the number of channels from the first input."""
        if not self.has_uninitialized_params():
            return
        self.num_features = input.shape[1]
        names = ("weight", "bias", "running_mean", "running_var")
        self._materialize(**dict.fromkeys(names, (self.num_features,)))


class LazyBatchNorm1d(_LazyNormBase, BatchNorm1d, becomes=BatchNorm1d):
    """``BatchNorm1d`` that takes ``num_features`` from its first input."""


class LazyBatchNorm2d(_LazyNormBase, BatchNorm2d, becomes=BatchNorm2d):
    """``BatchNorm2d`` that takes ``num_features`` from its first input."""


class LazyBatchNorm3d(_LazyNormBase, BatchNorm3d, becomes=BatchNorm3d):
    """``BatchNorm3d`` that takes ``num_features`` from its first input."""


__all__ = own_names(globals())  # noqa: PLE0605
