# Made by tools/make_stubs.py; do not edit.
from builtins import bool as _bool, int as _int, str as _str
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any
from wengert._base.tracing import COMPILING, TRACER
from wengert._compat import open_rows
from wengert._compat._compilers import backends, default_backend
def compile(model: Callable[..., Any] | None=None, *, fullgraph: bool=False, dynamic: bool | None=None, backend: Any=None, mode: str | None=None, options: dict[str, Any] | None=None, name: str | None=None, disable: bool=False, recompile_limit: int | None=None, isolate_recompiles: bool=False, shapes_spec: Any=None) -> Any:
    ...
def program(fn: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    ...
def compile_module(module: Any, *args: Any, **kwargs: Any) -> None:
    ...
def disable(fn: Any=None, recursive: bool=True, *, reason: str | None=None, wrapping: bool=True) -> Any:
    ...
def is_compiling() -> bool:
    ...
def reset() -> None:
    ...
def list_backends(exclude_tags: Any=('debug', 'experimental')) -> list[str]:
    ...
def set_stance(stance: str='default', **kwargs: Any) -> Any:
    ...
def __getattr__(name: str) -> Any:
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
def get_default_backend() -> _str | Callable[..., Any]:
    """What ``torch.compile`` takes without ``backend``."""
def is_dynamo_compiling() -> _bool:
    """Whether a call is being recorded for a program."""
def is_exporting() -> _bool:
    """False."""
def keep_portable_guards_unsafe(guard_entries: Any, **kwargs: Any) -> Any:
    """Keeps all guards: they cost little."""
def keep_tensor_guards_unsafe(guard_entries: Any, **kwargs: Any) -> Any:
    """Keeps all guards: they cost little."""
def load_cache_artifacts(serialized_artifacts: Any) -> Any:
    """``None``: nothing was saved."""
def load_compiled_function(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: NotImplementedError."""
def nested_compile_region(fn: Any = None, *, options: Any = None, max_reuse_entries: _int = 8, reuse_hash_fn: Any = None) -> Any:
    """The function: what runs several times is part of the program each time."""
def save_cache_artifacts() -> Any:
    """``None``: programs are no artifacts; C is kept on disk."""
def set_default_backend(backend: _str | Callable[..., Any] | None) -> None:
    """What ``torch.compile`` takes without ``backend``; ``None``: ``"inductor"``."""
def set_enable_guard_collectives(enabled: _bool) -> _bool:
    """Does nothing, and returns False: processes do not ask each other whether they recompile."""
def skip_all_guards_unsafe(guard_entries: Any, **kwargs: Any) -> Any:
    """Keeps all guards: they cost little."""
def skip_guard_on_all_nn_modules_unsafe(guard_entries: Any, **kwargs: Any) -> Any:
    """Keeps all guards: they cost little."""
def skip_guard_on_globals_unsafe(guard_entries: Any, **kwargs: Any) -> Any:
    """Keeps all guards: they cost little."""
def skip_guard_on_inbuilt_nn_modules_unsafe(guard_entries: Any, **kwargs: Any) -> Any:
    """Keeps all guards: they cost little."""
def substitute_in_graph(original_fn: Any, **kwargs: Any) -> Any:
    """A decorator that changes nothing."""
def wrap_numpy(fn: Any) -> Any:
    """A function of tensors out of one of NumPy's arrays."""
