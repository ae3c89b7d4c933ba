"""The command `python -m benchmarks`. `--help` lists its options; benchmarks/__init__.py describes its parts."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks import footprint, report
from benchmarks.libs import COMPILED, EAGER, LIBRARIES
from benchmarks.rounds import ROOT, WorkerProcess, measure, start
from benchmarks.works import Work, works

FOOTPRINT = "import and size"
STEPS = frozenset(
    (
        "activation",
        "batch_norm",
        "cnn",
        "conv2d",
        "cross_entropy",
        "elementwise",
        "embedding",
        "gather_rows",
        "gpt2",
        "gpt_block",
        "hessian",
        "layer_norm",
        "mlp",
        "mlp_adam",
        "recurrent",
        "residual",
        "resnet18",
        "softmax",
    )
)  # methods whose works `--compiled` takes: forward and backward, and training steps


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="Times wengert beside torch, JAX, HIPS autograd, MyGrad and tinygrad, whichever are installed, in "
        "one run: every library in every round, the minimum over the rounds, as ratios to torch.",
    )
    parser.add_argument(
        "--quick", action="store_true", help="fewer and shorter rounds, without the largest works but those of --only"
    )
    parser.add_argument(
        "--only", metavar="NAME", action="append", help="works with NAME in their name; may be repeated"
    )
    parser.add_argument("--libs", metavar="A,B", help=f"these libraries alone, of {', '.join(LIBRARIES)}")
    parser.add_argument("--compiled", action="store_true", help="eager beside compiled, on two threads and on one")
    parser.add_argument("--programs", metavar="DIR", type=Path, help="folder of compiled programs, kept and used again")
    parser.add_argument("--make", action="store_true", help="make the programs and stop: how long it takes")
    parser.add_argument("--threads", type=int, help="threads and cores for every library (default 2)")
    parser.add_argument("--write", metavar="FILE.md", type=Path, help="put the table there, and the data beside it")
    parser.add_argument("--json", metavar="FILE", type=Path, help="put the data there")
    parser.add_argument("--add", action="store_true", help="to what the file of --json has of other works")
    parser.add_argument("--list", action="store_true", help="name the works and stop")
    parser.add_argument("--check", action="store_true", help="fail if a budget is not held")
    options = parser.parse_args(arguments)
    options.libs = options.libs.split(",") if options.libs else list(COMPILED if options.compiled else EAGER)
    unknown = [name for name in options.libs if name not in LIBRARIES]
    if unknown:
        parser.error(f"no library {', '.join(unknown)}; there are {', '.join(LIBRARIES)}")
    if options.write and options.only and not options.add:
        parser.error("--write keeps the table of one whole run: leave --only out, or use --json")
    if options.add and not (options.json and options.compiled):
        parser.error("--add adds to the file of --json, and needs --compiled")
    if options.make and not (options.programs and options.compiled):
        parser.error("--make needs --compiled, and --programs, the folder to keep them in")
    if options.threads is not None and options.threads < 1:
        parser.error("--threads must be at least 1")
    options.runs = [options.threads] if options.threads else [2, 1] if options.compiled else [2]
    options.works = [
        work
        for work in works(options.quick)
        if _chosen(work.name, options.only) and (work.quick or options.only or not options.quick)
    ]
    if options.compiled:
        options.works = [work for work in options.works if work.method in STEPS]
    options.footprint = _chosen(FOOTPRINT, options.only) and not options.compiled
    if not options.works and not options.footprint:
        parser.error(f"nothing has {' or '.join(options.only)} in its name; --list names the works")
    return options


def _chosen(name: str, only: list[str] | None) -> bool:
    return not only or any(part.lower() in name.lower() for part in only)


class Progress:
    """Shows the progress on the standard error: one line that changes on a terminal, elsewhere a line for each work."""

    def __init__(self, total: int) -> None:
        self.total, self.done, self.began = total, 0, time.monotonic()
        self.live = sys.stderr.isatty()

    def __call__(self, text: str) -> None:
        if self.live:
            line = f"[{self.done}/{self.total}, {time.monotonic() - self.began:.0f} s] {text}"
            sys.stderr.write("\r" + line[:150].ljust(150))
            sys.stderr.flush()

    def line(self, text: str) -> None:
        sys.stderr.write(("\r" + text.ljust(150) if self.live else text) + "\n")
        sys.stderr.flush()

    def work(self, work: Work) -> Callable[[str], None]:
        return lambda text: self(f"{work.name}: {text}")


def _bind(threads: int) -> None:
    """Restricts this process and its workers to `threads` cores, which is also what libraries count as cores."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])


def _time_works(options: argparse.Namespace, workers: dict[str, WorkerProcess], progress: Progress) -> list[Any]:
    timings = []
    for work in options.works:
        timing = measure(work, workers, options.quick, progress.work(work), not options.make)
        if options.programs and not options.make:
            timing.making.clear()  # the programs were there
        timings.append(timing)
        progress.done += 1
        figures = [
            f"{name} {report.time_text(min(rounds))}" + (f" ({ratio:.2f})" if ratio and name != "torch" else "")
            for name, rounds in timing.rounds.items()
            for ratio in [timing.ratio(name)]
        ]
        shown = options.libs if options.compiled else ("torch", "wengert")
        lacks = [f"{name}: {reason[:60]}" for name, reason in timing.lacks.items() if name in shown]
        figures += [f"{name} made in {report.time_text(s)}" for name, s in timing.making.items() if options.make]
        progress.line(f"{progress.done:3}/{progress.total} {work.name}: {', '.join(figures + lacks)}")
    return timings


def _footprints(options: argparse.Namespace, names: list[str], progress: Progress) -> tuple[Any, Any]:
    modules = ["numpy", *(LIBRARIES[name][1] for name in names)]
    imports = footprint.import_seconds(modules, 3 if options.quick else 10, progress)
    sizes = {name: footprint.installed_bytes(LIBRARIES[name][1], LIBRARIES[name][1]) for name in names}
    sizes["numpy"] = footprint.installed_bytes("numpy", "numpy")
    progress.done += 1
    return imports, sizes


def main(arguments: list[str] | None = None) -> int:
    options = parse(arguments)
    if options.list:
        print("\n".join([*(work.name for work in options.works), *([FOOTPRINT] if options.footprint else [])]))
        return 0
    runs: list[dict[str, Any]] = []
    for threads in options.runs if options.works or options.footprint else ():
        data = _run(options, threads)
        if data is None:
            print("none of the libraries can be used", file=sys.stderr)
            return 1
        if not options.make:
            print(report.table(data), end="")
        runs.append(data)
    if options.add and options.json.exists():
        runs = report.added(json.loads(options.json.read_text(encoding="utf-8")), runs)
    if options.json:
        options.json.write_text(report.as_json(runs if options.compiled else runs[0]), encoding="utf-8")
    if options.write and options.compiled:
        report.write_compiled(options.write, runs)
    elif options.write:
        report.write(options.write, data)
    return int(options.check and not all(held for *_, held in report.verdicts(data)))


def _run(options: argparse.Namespace, threads: int) -> dict[str, Any] | None:
    """The data of a run on so many threads; None if no library can be used."""
    _bind(threads)
    where = report.machine()
    progress = Progress(len(options.works) + options.footprint)
    workers = start(options.libs, threads, progress.line, options.programs)
    if not workers:
        return None
    try:
        timings = _time_works(options, workers, progress)
    finally:
        for worker in workers.values():
            worker.close()
    imports, sizes = _footprints(options, list(workers), progress) if options.footprint else ({}, {})
    versions = {name: worker.version for name, worker in workers.items()}
    data = report.data_of(timings, versions, imports, sizes, where, threads, options.quick)
    progress("done")
    progress.line("")
    return data


if __name__ == "__main__":
    assert ROOT.is_dir()
    sys.exit(main())
