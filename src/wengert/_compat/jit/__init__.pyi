# Made by tools/make_stubs.py; do not edit.
from builtins import bool as _bool
from collections.abc import Callable
from importlib import import_module
from typing import Any, Final as Final
from wengert._base.errors import noted, warn, warn_once
from wengert._compat import open_rows
from wengert.nn.modules.module import Module
from ..futures import Future as Future
def _notice() -> None:
    ...
def script(obj: Any, optimize: Any=None, _frames_up: int=0, _rcb: Any=None, example_inputs: Any=None) -> Any:
    ...
def _script_module(module: Any) -> Any:
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
class Error(Exception): ...
from ...nn.modules.module import Module as _Base_RecursiveScriptModule
class RecursiveScriptModule(_Base_RecursiveScriptModule):
    ...
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
from ... import wait as wait
