# Made by tools/make_stubs.py; do not edit.
from builtins import bool as _bool, bytes as _bytes, complex as _complex, dict as _dict, float as _float, int as _int, list as _list, object as _object, set as _set, slice as _slice, str as _str, tuple as _tuple, type as _type
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import EllipsisType
from typing import Any, ClassVar, Final, Literal, ParamSpec, Self, SupportsIndex, TypeAlias, TypeVar, overload

import numpy as np
from typing_extensions import TypeIs

from ... import return_types as _return_types
from ..._base.constants import Size as _Size
from ..._base.constants import device as _device
from ..._base.constants import layout as _layout
from ..._base.constants import memory_format as _memory_format
from ..._base.dtypes import dtype as _dtype
from ..._tape.node import Node as _Node
from ..._tape.node import RemovableHandle as _RemovableHandle
from ..._tensor_api.storage import TypedStorage as _TypedStorage
from ..._tensor_api.storage import UntypedStorage as _UntypedStorage
from ...random import Generator as _Generator
from ..._tape.tensor import Tensor as Tensor
from collections.abc import Callable
from typing import Any, Final
from wengert._base.errors import noted, warn, warn_once
from wengert._compat import open_rows
from ..futures import Future
def _notice() -> None:
    ...
def script(obj: Any, optimize: Any=None, _frames_up: int=0, _rcb: Any=None, example_inputs: Any=None) -> Any:
    ...
def trace(func: Any, example_inputs: Any=None, optimize: Any=None, check_trace: bool=True, *args: Any, example_kwarg_inputs: dict[str, Any] | None=None, **kwargs: Any) -> Any:
    ...
def trace_module(mod: Any, inputs: Any, *args: Any, **kwargs: Any) -> Any:
    ...
def save(m: Any, f: Any, _extra_files: Any=None) -> None:
    ...
def load(f: Any, map_location: Any=None, _extra_files: Any=None, _restore_shapes: bool=False) -> Any:
    ...
def freeze(mod: Any, preserved_attrs: Any=None, optimize_numerics: bool=True) -> Any:
    ...
def ignore(drop: Any=False, **kwargs: Any) -> Any:
    ...
def isinstance(obj: Any, target_type: Any) -> bool:
    ...
class Attribute:
    """A value with a type, as TorchScript's classes are given them."""

    def __init__(self, value: Any, type: Any) -> None:
        ...
def fork(func: Callable[..., Any], *args: Any, **kwargs: Any) -> Future[Any]:
    ...
def set_module(obj: Any, mod: str) -> None:
    ...
def _wait(future: Future[Any]) -> Any:
    ...

Number: TypeAlias = _bool | _int | _float | _complex
_Index: TypeAlias = SupportsIndex | _slice | EllipsisType | Tensor | np.ndarray | Sequence[Any] | None
_P = ParamSpec("_P")
_R = TypeVar("_R")
class Error(RuntimeError): ...
class ScriptFunction(Any): ...
from ...nn.modules.module import Module as _Base_ScriptModule
class ScriptModule(_Base_ScriptModule):
    ...
class TracerWarning(Warning): ...
def annotate(the_type: Any, the_value: Any) -> Any:
    """The value."""
def enable_onednn_fusion(enabled: Any) -> Any:
    """Nothing to switch."""
def export(fn: Any) -> Any:
    """The function itself."""
def fuser(name: Any) -> Any:
    """A context that does nothing."""
def interface(obj: Any) -> Any:
    """The class itself."""
def is_scripting() -> _bool:
    """False."""
def is_tracing() -> _bool:
    """False."""
def onednn_fusion_enabled() -> _bool:
    """False."""
def optimize_for_inference(mod: Any, other_methods: Any = None) -> Any:
    """The module itself."""
def optimized_execution(should_optimize: Any) -> Any:
    """A context that does nothing."""
def script_if_tracing(fn: Any) -> Any:
    """The function itself."""
def script_method(fn: Any) -> Any:
    """The function itself."""
def set_fusion_strategy(strategy: Any) -> Any:
    """Nothing to set; ``[]`` was the strategy before."""
from ..._compat._devices import NoContext as _Base_strict_fusion
class strict_fusion(_Base_strict_fusion):
    ...
def unused(fn: Any) -> Any:
    """The function itself."""
def wait(future: Any) -> Any:
    """The result of a future."""

__all__ = [
    "Attribute",
    "Error",
    "Final",
    "Future",
    "ScriptFunction",
    "ScriptModule",
    "TracerWarning",
    "annotate",
    "enable_onednn_fusion",
    "export",
    "fork",
    "freeze",
    "fuser",
    "ignore",
    "interface",
    "is_scripting",
    "is_tracing",
    "isinstance",
    "load",
    "onednn_fusion_enabled",
    "optimize_for_inference",
    "optimized_execution",
    "save",
    "script",
    "script_if_tracing",
    "script_method",
    "set_fusion_strategy",
    "set_module",
    "strict_fusion",
    "trace",
    "trace_module",
    "unused",
    "wait",
]
