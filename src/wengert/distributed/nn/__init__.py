"""``torch.distributed.nn``: collectives that can be differentiated; ``RemoteModule`` needs rpc, which is not there."""

from .functional import *  # noqa: F403
from .functional import __all__ as __all__
