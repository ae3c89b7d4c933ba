"""``torch.ops``: operators as objects (``torch.ops.aten``) and custom operators (``torch.ops.NAMESPACE``)."""

import sys
from functools import cache
from importlib import import_module

from . import _ops


def __getattr__(name: str) -> object:
    if name == "aten":  # operators as objects, for dispatch modes
        from .utils._aten import aten

        return aten
    if name == "higher_order":
        return import_module(".utils._higher_order", __package__)
    if name == "profiler":
        return import_module(".autograd.profiler", __package__)
    if name == "load_library":
        return import_module(".library", __package__).load_library
    if name == "loaded_libraries":
        return set()
    return import_module(".library", __package__).namespace(name)


@cache
def _of_dispatcher(name: str) -> object:
    """What PyTorch has in ``torch._ops``, which is here the room of the operators."""
    if name in ("OpOverload", "OpOverloadPacket"):
        return getattr(import_module(".utils._aten", __package__), name)
    if name == "HigherOrderOperator":
        return import_module(".utils._higher_order", __package__).HigherOrderOperator
    if name == "TorchBindOpOverload":  # none is here
        return import_module("._base.absent", __package__).absent_class(name)
    if name == "ops":
        return sys.modules[__name__]
    raise AttributeError(f"module 'torch._ops' has no attribute {name!r}")


vars(_ops)["__getattr__"] = _of_dispatcher
