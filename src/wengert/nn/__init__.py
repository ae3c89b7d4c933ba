"""Neural networks: ``torch.nn``. Layers are in ``modules``, functions in ``functional``, initial values in ``init``.

>>> import wengert as torch
>>> from wengert import nn
>>> _ = torch.manual_seed(0)
>>> model = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1))
>>> model(torch.ones(3, 2)).shape
torch.Size([3, 1])
"""

from . import functional, init, modules, parameter, utils
from .modules import *  # noqa: F403
from .modules import __all__ as _layers
from .parameter import Buffer, Parameter, UninitializedBuffer, UninitializedParameter

__all__ = [  # noqa: PLE0604
    "Buffer",
    "Parameter",
    "UninitializedBuffer",
    "UninitializedParameter",
    "functional",
    "init",
    "modules",
    "parameter",
    "utils",
    *_layers,
]
