"""``torch.nn``: neural networks, with layers in ``modules``, functions in ``functional``, initial values in ``init``.

>>> import wengert as torch
>>> from wengert import nn
>>> _ = torch.manual_seed(0)
>>> model = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1))
>>> model(torch.ones(3, 2)).shape
torch.Size([3, 1])
"""

from . import functional, grad, init, modules, parallel, parameter, utils
from .modules import *  # noqa: F403
from .modules import __all__ as _layers
from .parallel import DataParallel
from .parameter import Buffer, Parameter, UninitializedBuffer, UninitializedParameter

__all__ = [  # noqa: PLE0604
    "Buffer",
    "DataParallel",
    "Parameter",
    "UninitializedBuffer",
    "UninitializedParameter",
    "functional",
    "grad",
    "init",
    "modules",
    "parallel",
    "parameter",
    "utils",
    *_layers,
]


def __getattr__(name: str) -> object:
    if name in ("attention", "common_types"):
        from importlib import import_module

        return import_module(f".{name}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
