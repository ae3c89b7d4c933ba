"""Starts a worker for each library and times them in turns."""

from __future__ import annotations

import importlib.util
import json
import os
import queue
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.libs import LIBRARIES, MAKERS
from benchmarks.works import EFFORT, QUICK_EFFORT, Effort, Work

ROOT = Path(__file__).resolve().parent.parent
TOLERANCE = 2e-3  # relative to a result's size; two float32 results that differ by less are the same
PATIENCE = 1500.0  # seconds for one answer; a library that takes longer is left out of the work
THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMEXPR_NUM_THREADS",
)
CACHES = ("WENGERT_CACHE_DIR", "TORCHINDUCTOR_CACHE_DIR", "JAX_COMPILATION_CACHE_DIR")


class WorkerGone(Exception):
    """The worker died or did not answer in time."""


class WorkerProcess:
    """The parent's end of a worker."""

    def __init__(self, name: str, threads: int, programs: Path | None = None) -> None:
        self.name = name
        self._environment = dict(os.environ, PYTHONHASHSEED="0", **dict.fromkeys(THREAD_VARIABLES, str(threads)))
        self._environment["WENGERT_KERNELS"] = "1" if name == "wengert-kernels" else "0"
        self._folder = tempfile.TemporaryDirectory(prefix="benchmarks-")  # no program is there already
        folder = str(programs.resolve()) if programs else self._folder.name
        self._environment.update(dict.fromkeys(CACHES, folder), JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS="0")
        self._start()
        hello = self._receive()
        if "error" in hello:
            self.close()
            raise WorkerGone(hello["error"])
        self.version: str = hello["version"]

    def _start(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.worker", self.name, LIBRARIES[self.name][1]],
            cwd=ROOT,
            env=self._environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self._lines: queue.Queue[str | None] = queue.Queue()
        threading.Thread(target=self._read, args=(self._process, self._lines), daemon=True).start()

    @staticmethod
    def _read(process: subprocess.Popen[str], lines: queue.Queue[str | None]) -> None:
        assert process.stdout is not None
        for line in process.stdout:
            lines.put(line)
        lines.put(None)

    def _receive(self) -> dict[str, Any]:
        try:
            line = self._lines.get(timeout=PATIENCE)
        except queue.Empty:
            raise WorkerGone(f"no answer within {PATIENCE:.0f} s") from None
        if line is None:
            code = self._process.wait()
            raise WorkerGone(f"the process ended with {code}")
        return json.loads(line)

    def ask(self, do: str, **arguments: Any) -> dict[str, Any]:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps({"do": do, **arguments}) + "\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            raise WorkerGone("the process ended") from None
        return self._receive()

    def restart(self) -> None:
        self.close()
        self._start()
        self._receive()

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()
        self._folder.cleanup()


@dataclass
class Timing:
    """The measurements of one work by library: seconds per unit of every round, peak memory, or the reason for none."""

    work: Work
    rounds: dict[str, list[float]] = field(default_factory=dict)
    memory: dict[str, int] = field(default_factory=dict)
    making: dict[str, float] = field(default_factory=dict)  # seconds until a program was there
    lacks: dict[str, str] = field(default_factory=dict)

    def seconds(self, library: str) -> float | None:
        return min(self.rounds[library]) if self.rounds.get(library) else None

    def ratio(self, library: str, to: str = "torch") -> float | None:
        mine, other = self.seconds(library), self.seconds(to)
        return mine / other if mine is not None and other else None


def start(
    names: list[str], threads: int, tell: Callable[[str], None], programs: Path | None = None
) -> dict[str, WorkerProcess]:
    """A worker for each library that is installed and works. Compilers keep their programs in the folder `programs`."""
    workers = {}
    for name in names:
        if importlib.util.find_spec(LIBRARIES[name][1]) is None:
            tell(f"{name}: not installed")
            continue
        try:
            workers[name] = WorkerProcess(name, threads, programs)
        except WorkerGone as gone:
            tell(f"{name}: left out, {gone}")
        else:
            tell(f"{name} {workers[name].version}")
    return workers


def measure(
    work: Work, workers: dict[str, WorkerProcess], quick: bool, tell: Callable[[str], None], rounds: bool = True
) -> Timing:
    """Prepares the work in every worker, compares the results, and times the rounds.

    Models are prepared, timed and dropped in one library after the other, which bounds the memory.
    """
    effort = (QUICK_EFFORT if quick else EFFORT)[work.group]
    timing = Timing(work)
    digests: dict[str, Any] = {}
    for names in [[name] for name in workers] if work.group == "model" else [list(workers)]:
        ready = []
        for name in names:
            tell(f"{name}, preparing")
            answer = _ask(timing, workers[name], "prepare", method=work.method, arguments=work.arguments)
            if answer is not None:
                digests[name] = answer["digest"]
                ready.append(name)
                if name in MAKERS:
                    timing.making[name] = answer["making"]
        for name, difference in _differences(digests).items():
            if not difference <= TOLERANCE:
                timing.lacks[name] = f"its result differs from torch's, by {difference:.2g} of its size"
        if rounds:
            _time(timing, {name: workers[name] for name in ready if name not in timing.lacks}, effort, tell)
        for name in names:
            _ask(timing, workers[name], "drop")
    timing.rounds = {name: rounds for name, rounds in timing.rounds.items() if rounds and name not in timing.lacks}
    return timing


def _time(timing: Timing, workers: dict[str, WorkerProcess], effort: Effort, tell: Callable[[str], None]) -> None:
    names = list(workers)
    timing.rounds.update({name: [] for name in names})
    for number in range(effort.rounds):
        tell(f"round {number + 1} of {effort.rounds}")
        turn = number % len(names) if names else 0
        for name in names[turn:] + names[:turn]:
            if name in timing.lacks:
                continue
            time.sleep(effort.rest)
            answer = _ask(timing, workers[name], "turn", seconds=effort.turn)
            if answer is not None:
                timing.rounds[name].append(answer["seconds"])
    for name in names:
        if timing.work.group in ("medium", "large", "model") and name not in timing.lacks:
            answer = _ask(timing, workers[name], "memory")
            if answer is not None and answer["bytes"] is not None:
                timing.memory[name] = answer["bytes"]


def _ask(timing: Timing, worker: WorkerProcess, do: str, **arguments: Any) -> dict[str, Any] | None:
    """The worker's answer, or None if it has none; the reason is then recorded."""
    try:
        answer = worker.ask(do, **arguments)
    except WorkerGone as gone:
        timing.lacks[worker.name] = str(gone)
        worker.restart()
        return None
    if "error" in answer:
        timing.lacks[worker.name] = answer["error"]
        return None
    return answer


def _differences(digests: dict[str, Any]) -> dict[str, float]:
    """The relative difference of each library's result from torch's; empty without torch."""
    reference = digests.get("torch")
    return {name: _difference(digest, reference) for name, digest in digests.items()} if reference else {}


def _difference(digest: list[list[float]], reference: list[list[float]]) -> float:
    if [size for size, *_ in digest] != [size for size, *_ in reference]:
        return float("inf")
    return max(
        max(abs(scale - scale_0), abs(product - product_0)) / (scale_0 + 1e-3)
        for (_, scale, product), (_, scale_0, product_0) in zip(digest, reference, strict=True)
    )
