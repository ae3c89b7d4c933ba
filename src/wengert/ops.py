"""``torch.ops``: operators as objects (``torch.ops.aten``) and custom operators (``torch.ops.NAMESPACE``)."""

import sys
from importlib import import_module


def __getattr__(name: str) -> object:
    if name == "aten":  # operators as objects, for dispatch modes
        from .utils._aten import aten

        return aten
    if name == "profiler":
        return import_module(".autograd.profiler", __package__)
    if name == "load_library":
        return import_module(".library", __package__).load_library
    if name == "loaded_libraries":
        return set()
    library = sys.modules.get(f"{__package__}.library")
    if library is not None:
        return library.namespace(name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
