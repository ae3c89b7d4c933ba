"""``torch.distributed``: processes that compute together, on MPI.

It needs mpi4py and an MPI library: ``python -m pip install 'wengert[mpi]'``. Without them ``is_available()`` returns
False, and functions that need other processes raise an error.

>>> import wengert as torch
>>> torch.distributed.is_initialized()
False
"""

from .._compat import open_rows
from . import distributed_c10d
from ._buckets import FIRST_BUCKET_BYTES as _DEFAULT_FIRST_BUCKET_BYTES
from ._buckets import BuiltinCommHookType, GradBucket
from ._objects import *  # noqa: F403
from ._objects import __all__ as _in_objects
from ._stores import *  # noqa: F403
from ._stores import __all__ as _in_stores
from .distributed_c10d import *  # noqa: F403
from .distributed_c10d import __all__ as _in_c10d
from .distributed_c10d import (
    _all_gather_base,
    _coalescing_manager,
    _CoalescingManager,
    _get_default_group,
    _get_default_store,
    _get_process_group_name,
    _rank_not_in_group,
    _reduce_scatter_base,
)
from .rendezvous import register_rendezvous_handler, rendezvous

for _name in _in_objects:
    setattr(distributed_c10d, _name, globals()[_name])
open_rows(globals())

from .device_mesh import DeviceMesh, init_device_mesh  # noqa: E402

__all__ = [  # noqa: PLE0604
    *_in_objects, *_in_c10d, *(name for name in _in_stores if name not in _in_c10d),
    "BuiltinCommHookType", "DeviceMesh", "GradBucket", "init_device_mesh", "register_rendezvous_handler", "rendezvous",
]  # fmt: skip
