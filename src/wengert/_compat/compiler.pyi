# Made by tools/make_stubs.py; do not edit.
from builtins import bool as _bool
import sys
from collections.abc import Callable
from typing import Any
from wengert._base.tracing import TRACER
from wengert._compat import open_rows
def compile(model: Callable[..., Any] | None=None, *, fullgraph: bool=False, dynamic: bool | None=None, backend: Any='inductor', mode: str | None=None, options: dict[str, Any] | None=None, disable: bool=False, **kwargs: Any) -> Any:
    ...
def program(fn: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    ...
def compile_module(module: Any, *args: Any, **kwargs: Any) -> None:
    ...
def disable(fn: Any=None, recursive: bool=True, *, reason: str | None=None) -> Any:
    ...
def is_compiling() -> bool:
    ...
def reset() -> None:
    ...
def list_backends(exclude_tags: Any=('debug', 'experimental')) -> list[str]:
    ...
def set_stance(stance: str='default', **kwargs: Any) -> Any:
    ...
class SymBool(Any): ...
class SymFloat(Any): ...
class SymInt(Any): ...
def allow_in_graph(fn: Any) -> Any:
    """The function itself."""
def assume_constant_result(fn: Any) -> Any:
    """The function itself."""
def cudagraph_mark_step_begin() -> Any:
    """Does nothing: there are no CUDA graphs."""
from .._compat.compiler import is_compiling as _is_compiling
is_dynamo_compiling = _is_compiling
def is_exporting() -> _bool:
    """False."""
def substitute_in_graph(original_fn: Any, **kwargs: Any) -> Any:
    """A decorator that changes nothing."""
