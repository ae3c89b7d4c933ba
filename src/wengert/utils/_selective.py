"""Selective checkpointing: a checkpoint that keeps the results of some operators and recomputes the others.

``create_selective_checkpoint_contexts`` returns the two context managers of ``checkpoint``'s ``context_fn``. The first
wraps the first run and keeps the results that the policy selects. The second wraps the later run: an operator with a
kept result makes its node and saves its values as usual, but the array library's function is replaced by one that
returns the kept result.
"""

from __future__ import annotations

import copy
import enum
import math
from collections import defaultdict
from collections.abc import Callable
from contextvars import ContextVar
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np

from .._base.errors import noted
from .._base.modes import begin, ending, together, watching
from .._base.registry import Operator
from .._kinds.slow_path import _in_mode
from .._kinds.templates import variant
from .._tape.node import version_of
from .._tape.tensor import Tensor, wrap
from ._aten import OpOverload, OpOverloadPacket, overload_of
from ._pytree import tree_leaves, tree_map_only


class CheckpointPolicy(enum.Enum):
    """The decision of a policy on an operator. MUST and PREFER have the same effect in wengert."""

    MUST_SAVE = 0
    PREFER_SAVE = 1
    MUST_RECOMPUTE = 2
    PREFER_RECOMPUTE = 3
    MUST_CPU_OFFLOAD = 4
    PREFER_CPU_OFFLOAD = 5


_KEPT = frozenset(CheckpointPolicy) - {CheckpointPolicy.MUST_RECOMPUTE, CheckpointPolicy.PREFER_RECOMPUTE}


class SelectiveCheckpointContext:
    """The context argument of a policy."""

    def __init__(self, *, is_recompute: bool, op_output: Any = None) -> None:
        self.is_recompute = is_recompute
        self.op_output = op_output


Policy = Callable[..., CheckpointPolicy | bool]
_entered: ContextVar[tuple[_Entered, ...]] = ContextVar("wengert_selective_checkpoint", default=())

_arrays: ContextVar[Any] = ContextVar("wengert_recalled", default=None)


def create_selective_checkpoint_contexts(
    policy_fn_or_list: Policy | list[Any], allow_cache_entry_mutation: bool = False
) -> tuple[Any, Any]:
    """Context managers with which a checkpoint keeps the results of some operators.

    ``policy_fn_or_list``: ``policy(ctx, op, *args, **kwargs)`` returns a ``CheckpointPolicy``, where ``op`` is one of
    ``torch.ops.aten``; or a list of the operators whose results are kept. The policy is called in the first run only.
    A write in place to a kept result raises an error, unless ``allow_cache_entry_mutation``. Only one backward pass
    through such a region is possible.

    >>> import functools
    >>> import wengert as torch
    >>> from wengert.utils.checkpoint import checkpoint, create_selective_checkpoint_contexts
    >>> keep = functools.partial(create_selective_checkpoint_contexts, [torch.ops.aten.mm.default])
    >>> w = torch.ones(2, 2, requires_grad=True)
    >>> y = checkpoint(lambda x: torch.mm(x, w).sin(), torch.ones(1, 2), use_reentrant=False, context_fn=keep)
    >>> y.sum().backward()
    >>> w.grad
    tensor([[-0.4161, -0.4161],
            [-0.4161, -0.4161]])
    """
    if isinstance(policy_fn_or_list, list):
        for op in policy_fn_or_list:
            if not isinstance(op, OpOverload):
                packet = (
                    "Please update the OpOverloadPacket to a specific OpOverload.For example, if you have "
                    "`torch.ops.aten.mm`, change it to `torch.ops.aten.mm.default`."
                )
                raise ValueError(
                    f"Expected op in `op_list` to be an OpOverload but got: {op} of type {type(op)}. "
                    + (packet if isinstance(op, OpOverloadPacket) else "")
                )
        wanted = frozenset(policy_fn_or_list)
        policy: Policy = lambda ctx, op, *args, **kwargs: op in wanted
    elif callable(policy_fn_or_list):
        policy = policy_fn_or_list
    else:
        raise TypeError("policy_fn_or_list must be either a function or a list of ops.")
    record = _Record()
    return _Keeping(policy, record), _Recalling(record, allow_cache_entry_mutation)


class _Kept:
    """A result, with the versions of its tensors."""

    def __init__(self, val: Any) -> None:
        self.val = val
        tensors = [t for t in tree_leaves(val) if isinstance(t, Tensor)]
        self.versions = [(cell, cell.version) for cell in map(version_of, tensors)]

    def is_mutated(self) -> bool:
        """Whether a tensor was written since."""
        return any(cell.version != version for cell, version in self.versions)


class _Record:
    """What the first run decided on each operator's calls, in order, and the results that it kept."""

    def __init__(self) -> None:
        self.decisions: dict[Any, list[bool]] = defaultdict(list)
        self.kept: dict[Any, list[_Kept]] = defaultdict(list)


class _Entered(NamedTuple):
    """A context that was entered, and what leaves it: NOTE [ Interrupts ] in _base/modes.py."""

    context: Any
    end: Callable[[], Any]


def _outside(call: Callable[[], Any]) -> Any:
    """Call a function whose operators are nobody's: a policy, or the kernel of a custom operator."""
    before = _entered.get()
    try:
        _entered.set(())
        return call()
    finally:
        _entered.set(before)


class _Watching:
    """A context that intercepts each operator of this thread or task."""

    def __init__(self, record: _Record) -> None:
        self.record = record

    @property
    def storage(self) -> dict[Any, list[_Kept]]:
        """The results that were kept, by operator."""
        return self.record.kept

    def __enter__(self) -> Any:
        before, (watch, leave) = _entered.get(), watching(self.see)
        entry = _Entered(self, together(leave, partial(_entered.set, before)))
        begin(together(watch, partial(_entered.set, (*before, entry))), entry.end)
        return self

    __exit__ = ending(_entered)

    def see(self, info: Operator, args: tuple[Any, ...], proceed: Callable[[], Any]) -> Any:
        """Run one operator."""
        entered = _entered.get()
        if not entered or entered[-1].context is not self or info.view:  # a view costs nothing
            return proceed()
        return self.run(overload_of(info, args), info, args, proceed)

    def run(self, op: Any, info: Operator, args: tuple[Any, ...], proceed: Callable[[], Any]) -> Any:
        """Run one operator whose result may be kept."""
        raise NotImplementedError

    def see_custom(self, op: Any, args: tuple[Any, ...], proceed: Callable[[], Any]) -> Any:
        """Run the kernel of a custom operator."""
        raise NotImplementedError


class _Keeping(_Watching):
    """Around the first run."""

    def __init__(self, policy: Policy, record: _Record) -> None:
        super().__init__(record)
        self.policy = policy

    def wants(self, op: Any, args: tuple[Any, ...], result: Any) -> bool:
        """The policy's decision."""
        context = SelectiveCheckpointContext(is_recompute=False, op_output=result)
        answer = _outside(partial(self.policy, context, op, *args))
        return answer is True or answer in _KEPT

    def see_custom(self, op: Any, args: tuple[Any, ...], proceed: Callable[[], Any]) -> Any:
        result = _outside(proceed)
        keep = self.wants(op, args, result)
        self.record.decisions[op].append(keep)
        if keep:
            self.record.kept[op].append(_Kept(tree_map_only(Tensor, Tensor.detach, result)))
        return result

    def run(self, op: Any, info: Operator, args: tuple[Any, ...], proceed: Callable[[], Any]) -> Any:
        result = proceed()
        keep = self.wants(op, args, result)
        parts = result if isinstance(result, (tuple, list)) else (result,)
        if keep and not all(isinstance(t, Tensor) and isinstance(t._payload, (np.ndarray, np.generic)) for t in parts):
            keep = False  # values of a transform
        self.record.decisions[op].append(keep)
        if keep:
            self.record.kept[op].append(_Kept(tree_map_only(Tensor, partial(_apart, tree_leaves(args)), result)))
        return result


def _apart(operands: list[Any], result: Tensor) -> Tensor:
    """What is kept of a result: a copy if it lies in an operand's memory, which ``copy_`` writes at once."""
    arrays = (t._payload for t in operands if isinstance(t, Tensor))
    shared = any(isinstance(a, np.ndarray) and np.may_share_memory(a, result._payload) for a in arrays)
    return wrap(result._payload.copy()) if shared else result.detach()


class _Recalling(_Watching):
    """Around the later run."""

    def __init__(self, record: _Record, mutable: bool) -> None:
        super().__init__(record)
        self.mutable = mutable
        self.seen: dict[Any, int] = {}

    def __enter__(self) -> Any:
        self.seen = defaultdict(int)
        return super().__enter__()

    def run(self, op: Any, info: Operator, args: tuple[Any, ...], proceed: Callable[[], Any]) -> Any:
        if not self.kept(op):
            return proceed()
        result = self.recall(op)
        several = isinstance(result, (tuple, list))
        return recalled(info, args, [t._payload for t in result] if several else result._payload)

    def see_custom(self, op: Any, args: tuple[Any, ...], proceed: Callable[[], Any]) -> Any:
        return self.recall(op) if self.kept(op) else _outside(proceed)

    def kept(self, op: Any) -> bool:
        """Whether the first run kept the result of this call, which it made too."""
        k = self.seen[op]
        self.seen[op] = k + 1
        decisions = self.record.decisions.get(op, ())
        if k == len(decisions):
            call = f"{op} invocation index {k}" if k else op
            raise RuntimeError(
                f"{call} encountered during backward but not found in storage. This can happen if the operations in "
                "the checkpointed region are nondeterministic or depend on global state that changed between forward "
                "and backward."
            )
        return decisions[k]

    def recall(self, op: Any) -> Any:
        """The next result that was kept."""
        if not self.record.kept[op]:
            raise noted(
                RuntimeError(
                    "Trying to backward an extra time. You are only allowed to backward once on any region computed "
                    "under selective activation checkpoint."
                ),
                "Why: what was kept is given away as it is used.",
            )
        kept = self.record.kept[op].pop(0)
        if not self.mutable and kept.is_mutated():
            raise noted(
                RuntimeError("Tensor cached during selective activation checkpoint has been mutated"),
                "What to do: use the out-of-place form, or allow_cache_entry_mutation=True.",
            )
        return kept.val


@cache
def _recalling(info: Operator) -> Operator:
    """An operator whose recording function takes the arrays that were computed before."""
    twin = copy.copy(info)
    given = lambda *_: _arrays.get()
    names = {"table": defaultdict(lambda: given), "raw": given, "fn": given, "LARGE": math.inf}
    twin.__dict__["core"] = variant(info.core, **names)
    return twin


def recalled(info: Operator, args: tuple[Any, ...], arrays: Any) -> Any:
    """The result of an operator, with its node, if the array library's function returned ``arrays``.

    An operator's recording function finds the library's by the names ``table``, ``raw`` and ``fn``
    (``_kinds.elementwise``).
    """
    try:
        _arrays.set(arrays)
        return _in_mode(_recalling(info), args)
    finally:
        _arrays.set(None)
