"""Selective checkpointing: the names that programs import, and why it is not here."""

from __future__ import annotations

import enum
from typing import Any, NoReturn

from .._errors import noted


class CheckpointPolicy(enum.Enum):
    """What a policy says of an operator of a checkpointed function."""

    MUST_SAVE = 0
    PREFER_SAVE = 1
    MUST_RECOMPUTE = 2
    PREFER_RECOMPUTE = 3
    MUST_CPU_OFFLOAD = 4
    PREFER_CPU_OFFLOAD = 5


class SelectiveCheckpointContext:
    """What a policy is given beside the operator."""

    def __init__(self, *, is_recompute: bool, op_output: Any = None) -> None:
        self.is_recompute = is_recompute
        self.op_output = op_output


def create_selective_checkpoint_contexts(policy_fn_or_list: Any, allow_cache_entry_mutation: bool = False) -> NoReturn:
    """Context managers with which a checkpoint keeps the results of some operators. Not supported."""
    raise noted(
        NotImplementedError("create_selective_checkpoint_contexts: checkpoints recompute everything or nothing here"),
        "Why: a result can only be kept below autograd, and an operator and what records it are one function here.",
        "What to do: leave out context_fn, or put the expensive operators outside of the checkpointed function.",
    )
