# Made by tools/make_stubs.py; do not edit.
from builtins import bool as _bool, bytes as _bytes, complex as _complex, dict as _dict, float as _float, int as _int, list as _list, object as _object, set as _set, slice as _slice, str as _str, tuple as _tuple, type as _type
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import EllipsisType
from typing import Any, ClassVar, Final, Literal, ParamSpec, Self, SupportsIndex, TypeAlias, TypeVar, overload

import numpy as np
from typing_extensions import TypeIs

from .. import return_types as _return_types
from .._base.constants import Size as _Size
from .._base.constants import device as _device
from .._base.constants import layout as _layout
from .._base.constants import memory_format as _memory_format
from .._base.dtypes import dtype as _dtype
from .._tape.node import Node as _Node
from .._tape.node import RemovableHandle as _RemovableHandle
from .._tensor_api.storage import TypedStorage as _TypedStorage
from .._tensor_api.storage import UntypedStorage as _UntypedStorage
from ..random import Generator as _Generator
from .._tape.tensor import Tensor as Tensor
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

Number: TypeAlias = _bool | _int | _float | _complex
_Index: TypeAlias = SupportsIndex | _slice | EllipsisType | Tensor | np.ndarray | Sequence[Any] | None
_P = ParamSpec("_P")
_R = TypeVar("_R")
class SymBool(Any): ...
class SymFloat(Any): ...
class SymInt(Any): ...
def allow_in_graph(fn: Any) -> Any:
    """The function itself."""
def assume_constant_result(fn: Any) -> Any:
    """The function itself."""
def cudagraph_mark_step_begin() -> Any:
    """Does nothing: there are no CUDA graphs."""
from .._compat.compiler import is_compiling as is_dynamo_compiling
def is_exporting() -> _bool:
    """False."""
def substitute_in_graph(original_fn: Any, **kwargs: Any) -> Any:
    """A decorator that changes nothing."""

__all__ = [
    "SymBool",
    "SymFloat",
    "SymInt",
    "allow_in_graph",
    "assume_constant_result",
    "compile",
    "compile_module",
    "cudagraph_mark_step_begin",
    "disable",
    "is_compiling",
    "is_dynamo_compiling",
    "is_exporting",
    "list_backends",
    "program",
    "reset",
    "set_stance",
    "substitute_in_graph",
]
