# Made by tools/make_stubs.py; do not edit.
from ...distributed.tensor import Partial as Partial, Placement as Placement, Replicate as Replicate, Shard as Shard
