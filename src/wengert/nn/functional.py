"""``torch.nn.functional``: the functions that the operators declare.

>>> import wengert as torch
>>> torch.nn.functional.mse_loss(torch.tensor([1., 2.]), torch.tensor([1., 4.]))
tensor(2.)
"""

from typing import Any

from .._tape.tensor import Tensor
from .._tensor_api.publish import lend
from . import _reduction as _Reduction  # noqa: F401  a name that programs import from here

lend("nn.functional", globals())
_lent = globals()["__getattr__"]
_OVERRIDES = ["handle_torch_function", "has_torch_function", "has_torch_function_unary", "has_torch_function_variadic"]


def __getattr__(name: str) -> Any:
    if name in _OVERRIDES:
        from .. import overrides

        return getattr(overrides, name)
    function = _lent(name)
    for written in (function, getattr(function, "__wrapped__", None)):
        types = getattr(written, "__annotations__", {})  # in PyTorch the class stands there, not its name
        types.update({parameter: Tensor for parameter, given in types.items() if given == "Tensor"})
    return function
