"""``torch.nn.parallel``: ``DataParallel``, which on one device calls its module directly, and several processes.

``DistributedDataParallel`` is in ``distributed``, which is imported when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from ..._base.absent import refusing
from ..modules.module import Module
from .scatter_gather import gather, scatter

__all__ = [
    "DataParallel",
    "DistributedDataParallel",
    "data_parallel",
    "gather",
    "parallel_apply",
    "replicate",
    "scatter",
]

replicate = refusing("replicate", AssertionError, "Broadcast function not implemented for CPU tensors")
parallel_apply = refusing("parallel_apply", RuntimeError, "Cannot access accelerator device when none is available.")


class DataParallel(Module):
    """A wrapper that in PyTorch splits batches over GPUs. Without GPUs it calls the module, as in PyTorch.

    Names in its ``state_dict`` begin with ``module.``, as in checkpoints of such models.

    >>> import wengert as torch
    >>> model = torch.nn.DataParallel(torch.nn.Linear(2, 1))
    >>> list(model.state_dict())
    ['module.weight', 'module.bias']
    >>> model(torch.ones(3, 2)).shape
    torch.Size([3, 1])
    """

    def __init__(self, module: Module, device_ids: Any = None, output_device: Any = None, dim: int = 0) -> None:
        super().__init__()
        self.module = module
        self.device_ids: list[Any] = []

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """What the module gives."""
        return self.module(*inputs, **kwargs)


def data_parallel(
    module: Module,
    inputs: Any,
    device_ids: Any = None,
    output_device: Any = None,
    dim: int = 0,
    module_kwargs: dict[str, Any] | None = None,
) -> Any:
    """``module(*inputs, **module_kwargs)``."""
    if not isinstance(inputs, tuple):
        inputs = (inputs,) if inputs is not None else ()
    return module(*inputs, **(module_kwargs or {}))


def __getattr__(name: str) -> Any:
    if name in ("DistributedDataParallel", "distributed"):  # needs torch.distributed, which few programs do
        module = import_module(f"{__name__}.distributed")
        return module if name == "distributed" else module.DistributedDataParallel
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
