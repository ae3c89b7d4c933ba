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
from .._compat import open_rows
class ReduceOp:
    """The names of reductions."""
    SUM, PRODUCT, MIN, MAX, BAND, BOR, BXOR, AVG = ('SUM', 'PRODUCT', 'MIN', 'MAX', 'BAND', 'BOR', 'BXOR', 'AVG')
class ProcessGroup:
    """A group of processes. Never instantiated; for annotations and ``isinstance``."""
class group:
    """The group of all processes, which is None."""
    WORLD = None
from .device_mesh import DeviceMesh, init_device_mesh

Number: TypeAlias = _bool | _int | _float | _complex
_Index: TypeAlias = SupportsIndex | _slice | EllipsisType | Tensor | np.ndarray | Sequence[Any] | None
_P = ParamSpec("_P")
_R = TypeVar("_R")
class FileStore(Any): ...
class HashStore(Any): ...
class PrefixStore(Any): ...
class Store(Any): ...
class TCPStore(Any): ...
def all_gather(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: ValueError."""
def all_gather_into_tensor(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: ValueError."""
def all_gather_object(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: ValueError."""
def all_reduce(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: ValueError."""
def all_to_all(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: ValueError."""
def all_to_all_single(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: ValueError."""
def barrier(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: ValueError."""
def broadcast(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: ValueError."""
def broadcast_object_list(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: ValueError."""
def destroy_process_group(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: ValueError."""
def gather(*args: Any, **kwargs: Any) -> Tensor:
    """Not possible here: ValueError."""
def gather_object(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: ValueError."""
def get_backend(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: ValueError."""
def get_global_rank(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: ValueError."""
def get_process_group_ranks(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: ValueError."""
def get_rank(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: ValueError."""
def get_world_size(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: ValueError."""
def init_process_group(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: RuntimeError."""
def irecv(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: ValueError."""
def is_available() -> _bool:
    """False: there is one process."""
def is_gloo_available() -> _bool:
    """False: there is one process."""
def is_initialized() -> _bool:
    """False: there is one process."""
def is_mpi_available() -> _bool:
    """False: there is one process."""
def is_nccl_available() -> _bool:
    """False: there is one process."""
def is_torchelastic_launched() -> _bool:
    """False: there is one process."""
def is_ucc_available() -> _bool:
    """False: there is one process."""
def is_xccl_available() -> _bool:
    """False: there is one process."""
def isend(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: ValueError."""
def monitored_barrier(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: ValueError."""
def new_group(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: ValueError."""
def recv(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: ValueError."""
def reduce(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: ValueError."""
def reduce_scatter(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: ValueError."""
def reduce_scatter_tensor(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: ValueError."""
def scatter(*args: Any, **kwargs: Any) -> Tensor:
    """Not possible here: ValueError."""
def scatter_object_list(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: ValueError."""
def send(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: ValueError."""

__all__ = [
    "DeviceMesh",
    "FileStore",
    "HashStore",
    "PrefixStore",
    "ProcessGroup",
    "ReduceOp",
    "Store",
    "TCPStore",
    "all_gather",
    "all_gather_into_tensor",
    "all_gather_object",
    "all_reduce",
    "all_to_all",
    "all_to_all_single",
    "barrier",
    "broadcast",
    "broadcast_object_list",
    "destroy_process_group",
    "gather",
    "gather_object",
    "get_backend",
    "get_global_rank",
    "get_process_group_ranks",
    "get_rank",
    "get_world_size",
    "group",
    "init_device_mesh",
    "init_process_group",
    "irecv",
    "is_available",
    "is_gloo_available",
    "is_initialized",
    "is_mpi_available",
    "is_nccl_available",
    "is_torchelastic_launched",
    "is_ucc_available",
    "is_xccl_available",
    "isend",
    "monitored_barrier",
    "new_group",
    "recv",
    "reduce",
    "reduce_scatter",
    "reduce_scatter_tensor",
    "scatter",
    "scatter_object_list",
    "send",
]
