"""The process of one library: `python -m benchmarks.worker NAME MODULE`. rounds.py starts it and talks to it.

It reads one request per line from the standard input and writes one answer per line to the standard output, in JSON:

    prepare  a Work    makes the inputs, does the work three times -> the time of one call, a digest of the result
    turn     seconds   repeats the work for about `seconds` -> seconds for one unit
    memory             -> the peak of the resident memory minus the memory that was resident before, in bytes
    drop               frees the work

The answer to a request that fails is {"error": ...}. Output of the library goes to the standard error.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import importlib
import itertools
import json
import os
import sys
import time
from typing import Any, TextIO

if __name__ == "__main__":  # the library is imported first, as in a program that uses it; `load` reports errors
    with contextlib.suppress(Exception):
        importlib.import_module(sys.argv[2])

import numpy as np

from benchmarks.libs import Library, Task, load

# Calls that take at least so many seconds are timed one by one, and a turn gives the fastest: work on several threads
# that loses a core to another process for a moment waits far longer than that moment.
ALONE = 2e-4


class Worker:
    def __init__(self, library: Library) -> None:
        self.library = library
        self.task: Task | None = None
        self.once = 0.0

    def prepare(self, method: str, arguments: dict[str, Any]) -> dict[str, Any]:
        if not hasattr(self.library, method):
            raise NotImplementedError("not written for this library")
        arguments = {name: tuple(a) if isinstance(a, list) else a for name, a in arguments.items()}
        begin = time.perf_counter()
        self.task = self.library.program(getattr(self.library, method)(**arguments))
        if not self.task.clocked:
            self._repeat(1)
            self._repeat(1)  # the first step has no gradients to remove, and may be a program of its own
            self.library.ready()
        making = time.perf_counter() - begin
        for _ in range(3):  # the first call compiles; after three, training steps show their updates
            seconds, value = self._repeat(1)
        self.once = seconds
        digest = self._digest(value)
        del value
        gc.collect()
        # The collector skips the objects of the imports and the inputs from here on: collections during a call
        # cost what they would in a program that has imported one library.
        gc.freeze()
        return {"once": self.once, "digest": digest, "making": making}

    def turn(self, seconds: float) -> dict[str, Any]:
        assert self.task is not None
        if self.task.clocked:
            taken, _ = self._repeat(1)
        elif self.once < ALONE:
            self._repeat(1)  # refills the caches, which hold the previous library's data
            count = max(1, round(seconds / max(self.once, 1e-9)))
            taken = self._repeat(count)[0] / count
        else:
            taken = self._fastest(seconds)
        self.once = min(self.once, taken)
        return {"seconds": taken / self.task.per}

    def _fastest(self, seconds: float, least: int = 3, longest: float = 0.5) -> float:
        """The time of the fastest call in `seconds`, of at least `least` calls unless they take too long."""
        taken: list[float] = []
        while sum(taken) < seconds or (len(taken) < least and sum(taken) < longest):
            taken.append(self._repeat(1)[0])
        return min(taken)

    def memory(self) -> dict[str, Any]:
        """The peak memory of one call. Linux only: /proc resets the peak, after malloc has returned its free memory."""
        if not os.path.exists("/proc/self/clear_refs"):
            return {"bytes": None}
        _collect()
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")
        before = _status("VmRSS")
        self._repeat(1)
        return {"bytes": max(0, _status("VmHWM") - before)}

    def drop(self) -> dict[str, Any]:
        self.task = None
        gc.unfreeze()
        _collect()
        return {}

    def _repeat(self, count: int) -> tuple[float, Any]:
        assert self.task is not None
        call = self.task.call
        if self.task.clocked:
            return call()
        others = itertools.repeat(None, count - 1)
        begin = time.perf_counter()
        for _ in others:
            call()
        value = call()
        self.library.wait(value)
        return time.perf_counter() - begin, value

    def _digest(self, value: Any) -> list[list[float]]:
        """For each array of the result: its size, its mean size, and its product with fixed random numbers."""
        digest = []
        for part in value if isinstance(value, (list, tuple)) else [value]:
            array = np.asarray(self.library.to_numpy(part), dtype=np.float64).ravel()
            weights = np.random.RandomState(0).standard_normal(array.size)
            scale = float(np.abs(array).mean()) if array.size else 0.0
            digest.append([float(array.size), scale, float(array @ weights) / max(1.0, array.size**0.5)])
        return digest


def _collect() -> None:
    gc.collect()
    with contextlib.suppress(AttributeError):  # malloc_trim is glibc's
        ctypes.CDLL(None).malloc_trim(0)


def _status(field: str) -> int:
    with open("/proc/self/status") as file:
        for line in file:
            if line.startswith(field + ":"):
                return int(line.split()[1]) * 1024
    raise OSError(f"/proc/self/status has no {field}")


def _error(error: BaseException) -> str:
    text = str(error) if isinstance(error, NotImplementedError) else f"{type(error).__name__}: {error}"
    return text.strip().splitlines()[0][:300]


def _answer(worker: Worker, request: dict[str, Any]) -> dict[str, Any]:
    try:
        return getattr(worker, request.pop("do"))(**request)
    except Exception as error:  # noqa: BLE001 - a library's failure, of whatever kind, is a result here
        worker.task = None
        return {"error": _error(error)}


def serve(name: str, requests: TextIO, answers: TextIO) -> None:
    def say(message: dict[str, Any]) -> None:
        answers.write(json.dumps(message) + "\n")
        answers.flush()

    try:
        library = load(name)
        say({"version": library.version()})
    except Exception as error:  # noqa: BLE001 - whatever an import raises means that the library is not there
        say({"error": _error(error)})
        return
    worker = Worker(library)
    for line in requests:
        say(_answer(worker, json.loads(line)))


if __name__ == "__main__":
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    serve(sys.argv[1], sys.stdin, answers)
