# Made by tools/make_stubs.py; do not edit.
from typing import Any
from ._objects import *
from ._stores import *
from .._compat import open_rows as open_rows
from ..distributed import algorithms as algorithms, autograd as autograd, checkpoint as checkpoint, constants as constants, device_mesh as device_mesh, distributed_c10d as distributed_c10d, elastic as elastic, fsdp as fsdp, launch as launch, launcher as launcher, nn as nn, optim as optim, rpc as rpc, run as run, tensor as tensor, utils as utils
from ..distributed._buckets import BuiltinCommHookType as BuiltinCommHookType, GradBucket as GradBucket
from ..distributed._groups import Backend as Backend, GroupMember as GroupMember, destroy_process_group as destroy_process_group, get_backend as get_backend, get_backend_config as get_backend_config, get_default_backend_for_device as get_default_backend_for_device, get_global_rank as get_global_rank, get_group_rank as get_group_rank, get_node_local_rank as get_node_local_rank, get_pg_count as get_pg_count, get_process_group_ranks as get_process_group_ranks, get_rank as get_rank, get_world_size as get_world_size, group as group, init_process_group as init_process_group, is_available as is_available, is_backend_available as is_backend_available, is_gloo_available as is_gloo_available, is_initialized as is_initialized, is_mpi_available as is_mpi_available, is_nccl_available as is_nccl_available, is_torchelastic_launched as is_torchelastic_launched, is_ucc_available as is_ucc_available, is_xccl_available as is_xccl_available, new_group as new_group, new_subgroups as new_subgroups, new_subgroups_by_enumeration as new_subgroups_by_enumeration, supports_complex as supports_complex
from ..distributed._messages import P2POp as P2POp, batch_isend_irecv as batch_isend_irecv, irecv as irecv, isend as isend, recv as recv, send as send
from ..distributed._process_group import ProcessGroup as ProcessGroup
from ..distributed._reduce_op import ReduceOp as ReduceOp, ReduceOptions as ReduceOptions, ReduceOptions as _ReduceOptions, reduce_op as reduce_op
from ..distributed._work import Work as Work
from ..distributed.device_mesh import DeviceMesh as DeviceMesh, init_device_mesh as init_device_mesh
from ..distributed.distributed_c10d import all_gather as all_gather, all_gather_coalesced as all_gather_coalesced, all_gather_into_tensor as all_gather_into_tensor, all_gather_single as all_gather_single, all_reduce as all_reduce, all_reduce_coalesced as all_reduce_coalesced, all_to_all as all_to_all, all_to_all_single as all_to_all_single, barrier as barrier, broadcast as broadcast, gather as gather, monitored_barrier as monitored_barrier, reduce as reduce, reduce_scatter as reduce_scatter, reduce_scatter_single as reduce_scatter_single, reduce_scatter_tensor as reduce_scatter_tensor, scatter as scatter
from ..distributed.rendezvous import register_rendezvous_handler as register_rendezvous_handler, rendezvous as rendezvous
AllToAllOptions = _ReduceOptions
AllreduceCoalescedOptions = _ReduceOptions
AllreduceOptions = _ReduceOptions
BarrierOptions = _ReduceOptions
BroadcastOptions = _ReduceOptions
GatherOptions = _ReduceOptions
ReduceScatterOptions = _ReduceOptions
ScatterOptions = _ReduceOptions
default_pg_timeout: Any
