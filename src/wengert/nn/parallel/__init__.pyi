# Made by tools/make_stubs.py; do not edit.
from typing import Any
from ..._base.absent import refusing as refusing
from ..._compat import find_rows as find_rows
from ...nn.parallel import distributed as distributed, scatter_gather as scatter_gather
from ...nn.parallel.data_parallel import DataParallel as DataParallel, data_parallel as data_parallel
from ...nn.parallel.distributed import DistributedDataParallel as DistributedDataParallel
from ...nn.parallel.scatter_gather import gather as gather, scatter as scatter
def parallel_apply(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: RuntimeError."""
def replicate(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: AssertionError."""
