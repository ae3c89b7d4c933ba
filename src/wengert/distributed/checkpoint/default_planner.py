"""Options of saving and loading, under the names of PyTorch's planners. Other planners are not there."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["DefaultLoadPlanner", "DefaultSavePlanner"]


@dataclass
class DefaultSavePlanner:
    """How a state is saved. What several processes hold alike is written by one of them, whatever is asked."""

    flatten_state_dict: bool = True
    flatten_sharded_tensors: bool = True
    dedup_replicated_tensors: bool | None = None
    dedup_save_to_lowest_rank: bool = False
    enable_plan_caching: bool = False


@dataclass
class DefaultLoadPlanner:
    """How a state is loaded; ``allow_partial_load``: what the checkpoint lacks stays as it is."""

    flatten_state_dict: bool = True
    flatten_sharded_tensors: bool = True
    allow_partial_load: bool = False
