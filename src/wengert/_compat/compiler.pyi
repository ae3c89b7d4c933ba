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
from collections.abc import Callable
from typing import Any
from wengert._base.errors import warn_once
from wengert._compat import open_rows
def compile(model: Callable[..., Any] | None=None, *, fullgraph: bool=False, dynamic: bool | None=None, backend: Any='inductor', mode: str | None=None, options: dict[str, Any] | None=None, disable: bool=False, **kwargs: Any) -> Any:
    ...
def _compiled(fn: Any) -> Any:
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
    """Does nothing: nothing is compiled."""
def disable(fn: Any = None, recursive: _bool = True, *, reason: Any = None) -> Any:
    """The function itself."""
def is_compiling() -> _bool:
    """False."""
def is_dynamo_compiling() -> _bool:
    """False."""
def is_exporting() -> _bool:
    """False."""
def list_backends(exclude_tags: Any = ()) -> Any:
    """``[]``, since there is no compiler."""
def reset() -> Any:
    """Does nothing: nothing is compiled."""
def set_stance(stance: _str = 'default', **kwargs: Any) -> Any:
    """A context: no effect."""
def substitute_in_graph(original_fn: Any, **kwargs: Any) -> Any:
    """A decorator that changes nothing."""

__all__ = [
    "SymBool",
    "SymFloat",
    "SymInt",
    "allow_in_graph",
    "assume_constant_result",
    "compile",
    "cudagraph_mark_step_begin",
    "disable",
    "is_compiling",
    "is_dynamo_compiling",
    "is_exporting",
    "list_backends",
    "reset",
    "set_stance",
    "substitute_in_graph",
]
