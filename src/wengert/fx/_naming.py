"""The names under which a graph's code calls functions: PyTorch's, whatever the function's own module is called."""

from __future__ import annotations

import builtins
import inspect
import types
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from .._base.errors import INTERNAL
from .._base.exports import PACKAGE, is_ours
from .._tensor_api.torch_function import name_of, public_places
from ..utils._aten import OpOverload, OpOverloadPacket
from ..utils._higher_order import HigherOrderOperator

# What PyTorch's functional takes from its compiled part, by the name that a trace shows.
_COMPILED_NN = frozenset(
    [
        "avg_pool2d",
        "avg_pool3d",
        "elu_",
        "gelu",
        "hardtanh_",
        "leaky_relu_",
        "linear",
        "log_sigmoid",
        "one_hot",
        "scaled_dot_product_attention",
        "softplus",
        "softshrink",
    ]
)
_PREFIXED = frozenset(["linalg", "fft", "special"])
_IN_TORCH_FUNCTIONAL = frozenset(
    [
        "atleast_1d",
        "atleast_2d",
        "atleast_3d",
        "block_diag",
        "broadcast_shapes",
        "broadcast_tensors",
        "cartesian_prod",
        "cdist",
        "chain_matmul",
        "einsum",
        "lu",
        "meshgrid",
        "norm",
        "split",
        "stft",
        "tensordot",
        "unique",
        "unique_consecutive",
        "unravel_index",
    ]
)
_RENAMED = {"logsigmoid": "log_sigmoid", "threshold": "_threshold"}  # what PyTorch's `__name__` is


def as_torch(module: str) -> str:
    """PyTorch's name of one of our modules; any other module's own."""
    head, dot, rest = module.partition(".")
    module = f"torch{dot}{rest}" if head == PACKAGE else module
    return module.replace("torch._ops", "torch.ops", 1)


def module_of_frame(frame: Any) -> str:
    """The name of the module of a frame. Functions put together from a text have none: they are the package's."""
    return frame.f_globals.get("__name__") or ("wengert" if INTERNAL[frame.f_code.co_filename] else "")


def function_name(fn: Any) -> str:
    """The name that a node of this function is called by: PyTorch's ``__name__``."""
    place = public_places().get(id(fn))
    if place is not None and place[0] in _PREFIXED:
        return f"{place[0]}_{place[1]}"
    if place is not None:
        return _RENAMED.get(place[1], place[1])
    return getattr(fn, "__name__", None) or type(fn).__name__


def module_of(fn: Any) -> str:
    """The module that a function is imported from, under PyTorch's name.

    Raises:
        RuntimeError: it says none.
    """
    module = getattr(fn, "__module__", None)
    if module is None:
        raise RuntimeError(f"cannot find module for {fn}")
    return as_torch(module)


def qualified_name(fn: Callable[..., Any]) -> str:
    """How a graph's code calls a function: ``torch.relu``, ``torch.nn.functional.dropout``, ``getattr``."""
    if isinstance(fn, (OpOverload, OpOverloadPacket)):
        return f"{as_torch(fn.__module__)}.{fn.__name__}"
    if isinstance(fn, HigherOrderOperator):
        return f"torch.ops.higher_order.{fn.__name__}"
    name = fn.__name__
    if getattr(builtins, name, None) is fn:
        return name
    place = public_places().get(id(fn))
    if place is not None:
        space, public = place[0], place[1] if place[0] in _PREFIXED else _RENAMED.get(place[1], place[1])
        if space == "torch":
            return f"torch.functional.{public}" if public in _IN_TORCH_FUNCTIONAL else f"torch.{public}"
        if space == "nn.functional" and public in _COMPILED_NN:
            return f"torch._C._nn.{public}"
        if space in _PREFIXED:
            return f"torch._C._{space}.{space}_{public}"
        return f"torch.{space}.{public}"
    if name == "<lambda>":
        try:
            name = inspect.getsource(fn).split("=")[0].strip()
        except Exception as e:
            raise RuntimeError("Unable to represent lambda") from e
    return f"{module_of(fn)}.{name}"


def is_from_torch(obj: Any) -> bool:
    """Whether generated code reaches an object by ``torch.``; what only private modules have is handed in instead."""
    if isinstance(obj, (OpOverload, OpOverloadPacket, HigherOrderOperator)) or id(obj) in public_places():
        return True
    module = getattr(obj, "__module__", None)
    if module is None:
        return False
    parts = as_torch(module).split(".")
    if parts[0] != "torch" or parts[1:2] in (["_dynamo"], ["_inductor"]):
        return False
    name = getattr(obj, "__qualname__", "")
    return "<locals>" not in name and _reached(parts[1:], name) is obj


def _reached(parts: list[str], name: str) -> Any:
    """What ``torch.PARTS.NAME`` gives."""
    import wengert as found

    for part in (*parts, *name.split(".")):
        found = getattr(found, part, None)  # type: ignore[assignment]
    return found


def annotation(fn: Any, name: str) -> Any:
    """The annotation of a parameter or of ``"return"``, or None. A program's stays a text where it is one.

    Our own say ``Any`` where PyTorch's functions say nothing.
    """
    found = getattr(fn, "__annotations__", {}).get(name)
    if isinstance(found, str) and is_ours(fn.__module__):
        with suppress(NameError):
            found = eval(found, fn.__globals__)
            return None if found is Any else found
        return None
    return found


def type_text(obj: Any) -> str:
    """A type as annotations write it: ``int``, ``torch.Tensor``, ``list[int]``."""
    if isinstance(obj, type) and not isinstance(obj, types.GenericAlias):
        if obj.__module__ == "builtins":
            return obj.__qualname__
        return f"{_module_of_type(obj)}.{obj.__qualname__}"
    if obj is ...:
        return "..."
    if isinstance(obj, types.FunctionType):
        return obj.__name__
    return repr(obj)


def _module_of_type(cls: type) -> str:
    if not is_ours(cls.__module__):
        return cls.__module__
    if _reached([], cls.__qualname__) is cls:
        return "torch"
    return as_torch(cls.__module__)


def place_of(func: Any) -> tuple[str, str]:
    """Where a public function stands: ``("linalg", "norm")``; of an attribute ``("attribute", name)``."""
    place = public_places().get(id(func))
    if place is not None:
        return place
    name = name_of(func) or ""
    if name.endswith(".__get__"):
        return "attribute", name.split(".")[-2]
    return "", getattr(func, "__name__", "")
