# Made by tools/make_stubs.py; do not edit.
from ...distributed.tensor import Partial as Partial
from ...distributed.tensor import Placement as Placement
from ...distributed.tensor import Replicate as Replicate
from ...distributed.tensor import Shard as Shard

__all__ = [
    "Partial",
    "Placement",
    "Replicate",
    "Shard",
]
