"""The error of a checkpoint, which all processes raise when one of them has failed."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from typing import Any

from wengert import distributed as dist

__all__ = ["CheckpointException"]


class CheckpointException(BaseException):
    """``failures`` holds the errors by rank, each with its trace. It is no ``Exception``, as in PyTorch."""

    def __init__(self, msg: str, failures: dict[int, Any]) -> None:
        super().__init__(msg, failures)
        self._failures = failures

    @property
    def failures(self) -> dict[int, Any]:
        """The errors by rank."""
        return self._failures

    def __str__(self) -> str:
        text = f"CheckpointException ranks:{self._failures.keys()}\n"
        for rank, (error, trace) in self._failures.items():
            text += f"Traceback (most recent call last): (RANK {rank})\n" + "".join(traceback.format_list(trace or ()))
            text += "".join(traceback.format_exception_only(error))
        return text


class Together:
    """The processes of a checkpoint: all of a group, or this one."""

    def __init__(self, group: Any, alone: bool) -> None:
        self.alone, self.group = alone or not dist.is_initialized(), group
        self.rank = 0 if self.alone else dist.get_rank(group)
        self.size = 1 if self.alone else dist.get_world_size(group)

    def each(self, step: str, work: Callable[[], Any]) -> list[Any]:
        """Do something in each process; return what all have returned.

        Raises:
            CheckpointException: it failed in one of them.
        """
        result: Any = None
        failure: Any = None
        try:
            result = work()
        except Exception as error:  # noqa: BLE001  it is raised on all processes
            failure = _portable(error), traceback.extract_tb(error.__traceback__)
        everyone: list[Any] = [(result, failure)]
        if not self.alone:
            everyone = [None] * self.size
            dist.all_gather_object(everyone, (result, failure), group=self.group)
        failures = {rank: failure for rank, (_, failure) in enumerate(everyone) if failure is not None}
        if failures:
            raise CheckpointException(step, failures)
        return [result for result, _ in everyone]


def _portable(error: Exception) -> Exception:
    """The error, if other processes can read it; otherwise its text."""
    import pickle

    try:
        pickle.loads(pickle.dumps(error))
    except Exception:  # noqa: BLE001  whatever a class of the user's raises
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error.with_traceback(None)
