"""wengert: PyTorch's tensors and gradients on NumPy.

    import wengert as torch

The package has functions and dtypes by PyTorch's names. ``torch.nn``, ``torch.autograd`` and the other modules are
imported when they are first used.

>>> import wengert as torch
>>> x = torch.tensor([1., 2., 3.], requires_grad=True)
>>> (x * x).sum().backward()
>>> x.grad
tensor([2., 4., 6.])
"""

from math import e, inf, nan, pi
from typing import Any

from ._base import numpy_first as _first  # before anything that imports NumPy

# isort: split
from . import _compat, _ops, ops
from ._base.dtypes import (
    DTYPES,
    LAYOUTS,
    MEMORY_FORMATS,
    Size,
    can_cast,
    device,
    dtype,
    get_default_dtype,
    layout,
    memory_format,
    promote_types,
    set_default_dtype,
)
from ._base.grad_mode import enable_grad, inference_mode, is_grad_enabled, no_grad, set_grad_enabled
from ._base.limits import finfo, iinfo
from ._base.modes import is_inference_mode_enabled
from ._base.registry import PUBLIC
from ._payloads import transforms as _transforms
from ._tape.tensor import Tensor
from ._tensor_api.publish import attach, function, module_names, submodule
from .random import Generator, default_generator, get_rng_state, initial_seed, manual_seed, seed, set_rng_state
from .torch_version import __version__

__path__.append(_compat.FOLDER)  # PyTorch's modules that have little to do here are found there
_compat.open_rows(globals())

newaxis = None

attach()
for _names in (DTYPES, LAYOUTS, MEMORY_FORMATS):
    globals().update(_names)
for _name in ("DTYPES", "LAYOUTS", "MEMORY_FORMATS", "attach", "_names", "_name"):
    globals().pop(_name, None)
_functions = PUBLIC["torch"].names()  # each comes when it is first named
for _name in _functions & globals().keys():
    del globals()[_name]


def __getattr__(name: str) -> Any:
    if name in _functions:
        value = globals()[name] = function("torch", name)
        return value
    if name == "__all__":
        return _all()
    return submodule(name)


def _all() -> list[str]:
    """All public names, of functions and of modules."""
    public = {name for name in (*globals(), *_functions) if not name.startswith("_")}.union(module_names())
    return sorted(public - {"Any", "PUBLIC", "function", "module_names", "ops", "submodule"})


def __dir__() -> list[str]:
    return sorted({*globals(), "__all__", *_all()} - {"Any", "PUBLIC", "function", "module_names", "submodule"})


_first.imported()
