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
from .._compat import open_rows as open_rows
from .._tape.tensor import Tensor as Tensor
from ..distributed import algorithms as algorithms
from ..distributed import checkpoint as checkpoint
from ..distributed import constants as constants
from ..distributed import device_mesh as device_mesh
from ..distributed import distributed_c10d as distributed_c10d
from ..distributed import elastic as elastic
from ..distributed import fsdp as fsdp
from ..distributed import launch as launch
from ..distributed import launcher as launcher
from ..distributed import nn as nn
from ..distributed import optim as optim
from ..distributed import rpc as rpc
from ..distributed import run as run
from ..distributed import tensor as tensor
from ..distributed import utils as utils
from ..distributed._buckets import BuiltinCommHookType as BuiltinCommHookType
from ..distributed._buckets import GradBucket as GradBucket
from ..distributed._groups import Backend as Backend
from ..distributed._groups import GroupMember as GroupMember
from ..distributed._groups import destroy_process_group as destroy_process_group
from ..distributed._groups import get_backend as get_backend
from ..distributed._groups import get_backend_config as get_backend_config
from ..distributed._groups import get_default_backend_for_device as get_default_backend_for_device
from ..distributed._groups import get_global_rank as get_global_rank
from ..distributed._groups import get_group_rank as get_group_rank
from ..distributed._groups import get_node_local_rank as get_node_local_rank
from ..distributed._groups import get_pg_count as get_pg_count
from ..distributed._groups import get_process_group_ranks as get_process_group_ranks
from ..distributed._groups import get_rank as get_rank
from ..distributed._groups import get_world_size as get_world_size
from ..distributed._groups import group as group
from ..distributed._groups import init_process_group as init_process_group
from ..distributed._groups import is_available as is_available
from ..distributed._groups import is_backend_available as is_backend_available
from ..distributed._groups import is_gloo_available as is_gloo_available
from ..distributed._groups import is_initialized as is_initialized
from ..distributed._groups import is_mpi_available as is_mpi_available
from ..distributed._groups import is_nccl_available as is_nccl_available
from ..distributed._groups import is_torchelastic_launched as is_torchelastic_launched
from ..distributed._groups import is_ucc_available as is_ucc_available
from ..distributed._groups import is_xccl_available as is_xccl_available
from ..distributed._groups import new_group as new_group
from ..distributed._groups import new_subgroups as new_subgroups
from ..distributed._groups import new_subgroups_by_enumeration as new_subgroups_by_enumeration
from ..distributed._groups import supports_complex as supports_complex
from ..distributed._messages import P2POp as P2POp
from ..distributed._messages import batch_isend_irecv as batch_isend_irecv
from ..distributed._messages import irecv as irecv
from ..distributed._messages import isend as isend
from ..distributed._messages import recv as recv
from ..distributed._messages import send as send
from ..distributed._objects import all_gather_object as all_gather_object
from ..distributed._objects import broadcast_object_list as broadcast_object_list
from ..distributed._objects import gather_object as gather_object
from ..distributed._objects import recv_object_list as recv_object_list
from ..distributed._objects import scatter_object_list as scatter_object_list
from ..distributed._objects import send_object_list as send_object_list
from ..distributed._process_group import ProcessGroup as ProcessGroup
from ..distributed._reduce_op import ReduceOp as ReduceOp
from ..distributed._reduce_op import ReduceOptions as AllToAllOptions
from ..distributed._reduce_op import ReduceOptions as AllreduceCoalescedOptions
from ..distributed._reduce_op import ReduceOptions as AllreduceOptions
from ..distributed._reduce_op import ReduceOptions as BarrierOptions
from ..distributed._reduce_op import ReduceOptions as BroadcastOptions
from ..distributed._reduce_op import ReduceOptions as GatherOptions
from ..distributed._reduce_op import ReduceOptions as ReduceOptions
from ..distributed._reduce_op import ReduceOptions as ReduceScatterOptions
from ..distributed._reduce_op import ReduceOptions as ScatterOptions
from ..distributed._reduce_op import reduce_op as reduce_op
from ..distributed._stores import DistBackendError as DistBackendError
from ..distributed._stores import DistError as DistError
from ..distributed._stores import DistNetworkError as DistNetworkError
from ..distributed._stores import DistStoreError as DistStoreError
from ..distributed._stores import FileStore as FileStore
from ..distributed._stores import HashStore as HashStore
from ..distributed._stores import PrefixStore as PrefixStore
from ..distributed._stores import Store as Store
from ..distributed._stores import TCPStore as TCPStore
from ..distributed._work import Work as Work
from ..distributed.device_mesh import DeviceMesh as DeviceMesh
from ..distributed.device_mesh import init_device_mesh as init_device_mesh
from ..distributed.distributed_c10d import all_gather as all_gather
from ..distributed.distributed_c10d import all_gather_coalesced as all_gather_coalesced
from ..distributed.distributed_c10d import all_gather_into_tensor as all_gather_into_tensor
from ..distributed.distributed_c10d import all_gather_single as all_gather_single
from ..distributed.distributed_c10d import all_reduce as all_reduce
from ..distributed.distributed_c10d import all_reduce_coalesced as all_reduce_coalesced
from ..distributed.distributed_c10d import all_to_all as all_to_all
from ..distributed.distributed_c10d import all_to_all_single as all_to_all_single
from ..distributed.distributed_c10d import barrier as barrier
from ..distributed.distributed_c10d import broadcast as broadcast
from ..distributed.distributed_c10d import gather as gather
from ..distributed.distributed_c10d import monitored_barrier as monitored_barrier
from ..distributed.distributed_c10d import reduce as reduce
from ..distributed.distributed_c10d import reduce_scatter as reduce_scatter
from ..distributed.distributed_c10d import reduce_scatter_single as reduce_scatter_single
from ..distributed.distributed_c10d import reduce_scatter_tensor as reduce_scatter_tensor
from ..distributed.distributed_c10d import scatter as scatter
from ..distributed.rendezvous import register_rendezvous_handler as register_rendezvous_handler
from ..distributed.rendezvous import rendezvous as rendezvous

Number: TypeAlias = _bool | _int | _float | _complex
_Index: TypeAlias = SupportsIndex | _slice | EllipsisType | Tensor | np.ndarray | Sequence[Any] | None
_P = ParamSpec("_P")
_R = TypeVar("_R")
default_pg_timeout: Any

__all__ = [
    "AllToAllOptions",
    "AllreduceCoalescedOptions",
    "AllreduceOptions",
    "Backend",
    "BarrierOptions",
    "BroadcastOptions",
    "BuiltinCommHookType",
    "DeviceMesh",
    "DistBackendError",
    "DistError",
    "DistNetworkError",
    "DistStoreError",
    "FileStore",
    "GatherOptions",
    "GradBucket",
    "GroupMember",
    "HashStore",
    "P2POp",
    "PrefixStore",
    "ProcessGroup",
    "ReduceOp",
    "ReduceOptions",
    "ReduceScatterOptions",
    "ScatterOptions",
    "Store",
    "TCPStore",
    "Work",
    "algorithms",
    "all_gather",
    "all_gather_coalesced",
    "all_gather_into_tensor",
    "all_gather_object",
    "all_gather_single",
    "all_reduce",
    "all_reduce_coalesced",
    "all_to_all",
    "all_to_all_single",
    "barrier",
    "batch_isend_irecv",
    "broadcast",
    "broadcast_object_list",
    "checkpoint",
    "constants",
    "default_pg_timeout",
    "destroy_process_group",
    "device_mesh",
    "distributed_c10d",
    "elastic",
    "fsdp",
    "gather",
    "gather_object",
    "get_backend",
    "get_backend_config",
    "get_default_backend_for_device",
    "get_global_rank",
    "get_group_rank",
    "get_node_local_rank",
    "get_pg_count",
    "get_process_group_ranks",
    "get_rank",
    "get_world_size",
    "group",
    "init_device_mesh",
    "init_process_group",
    "irecv",
    "is_available",
    "is_backend_available",
    "is_gloo_available",
    "is_initialized",
    "is_mpi_available",
    "is_nccl_available",
    "is_torchelastic_launched",
    "is_ucc_available",
    "is_xccl_available",
    "isend",
    "launch",
    "launcher",
    "monitored_barrier",
    "new_group",
    "new_subgroups",
    "new_subgroups_by_enumeration",
    "nn",
    "open_rows",
    "optim",
    "recv",
    "recv_object_list",
    "reduce",
    "reduce_op",
    "reduce_scatter",
    "reduce_scatter_single",
    "reduce_scatter_tensor",
    "register_rendezvous_handler",
    "rendezvous",
    "rpc",
    "run",
    "scatter",
    "scatter_object_list",
    "send",
    "send_object_list",
    "supports_complex",
    "tensor",
    "utils",
]
