"""Small calls of every kind, wengert beside torch: `python -m benchmarks.sweep`.

The calls (`sweep_calls.py`) are everyday ones: every elementwise operator of wengert's registry, and expressions and
statements with the rest, not recording and recording. `--database` takes instead every operator of PyTorch's own
operator database, exotic ones too, on its first small sample. A call that raises or warns in one of the two libraries,
or whose results differ in shape or dtype, is left out and counted. Calls above the bound are shown with their floor,
where `sweep_floors.py` has one: the time of NumPy's calls alone.

Both libraries run in this process on one thread, in turns; a figure is the least CPU time of a call over the rounds.
"""

from __future__ import annotations

import argparse
import functools
import gc
import itertools
import json
import math
import os
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.rounds import THREAD_VARIABLES
from benchmarks.sweep_calls import Call, database, everyday
from benchmarks.sweep_floors import ENOUGH, floors, reasons
from benchmarks.sweep_replay import KNOWN, Recorder, results

GEOMETRIC_MEAN, WORST, SUM_OF_DIM = 0.85, 2.0, 0.7  # the ratios to torch 2.13 that must be held
SUM_CALL = "m.sum(1)"
ROUNDS, TURN = 12, 0.0015  # seconds of CPU time in each


class LeftOut(Exception):
    """Why a call is not timed."""


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.sweep", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "--only", metavar="TEXT", action="append", help="calls with TEXT in their name; may be repeated"
    )
    parser.add_argument("--database", action="store_true", help="the calls of PyTorch's operator database instead")
    parser.add_argument("--slowest", metavar="N", type=int, default=20, help="show so many of the slowest (default 20)")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"turns of each library (default {ROUNDS})")
    parser.add_argument(
        "--floors",
        action="store_true",
        help="also time each call's own calls of NumPy and SciPy, and its Tensors, alone",
    )
    parser.add_argument("--json", metavar="FILE", type=Path, help="put the figures there")
    parser.add_argument("--list", action="store_true", help="name the calls and stop")
    parser.add_argument("--check", action="store_true", help="fail if a bound is not held")
    return parser.parse_args(arguments)


# ---- timing


def agree(call: Call) -> None:
    """Does the call once in both libraries; raises LeftOut where it cannot be timed."""
    results = []
    for number, function in enumerate((call.torch, call.wengert)):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                operands = [call.fresh[number]()] if call.fresh else []
                shapes = [tuple(t.shape) for t in operands]
                result = function(*operands)
        except Warning as error:
            raise LeftOut(f"{'wengert' if number else 'torch'} warns") from error
        except Exception as error:
            raise LeftOut(f"{'wengert' if number else 'torch'} raises") from error
        if [tuple(t.shape) for t in operands] != shapes:
            raise LeftOut("its operand changes shape")
        results.append([(tuple(t.shape), str(t.dtype)) for t in _tensors(result)])
    if results[0] != results[1]:
        raise LeftOut("shapes or dtypes differ")


def _tensors(result: Any) -> list[Any]:
    if isinstance(result, list | tuple):
        return [t for part in result for t in _tensors(part)]
    return [result] if hasattr(result, "requires_grad") else []


def measure(call: Call, rounds: int) -> tuple[float, float]:
    """Seconds of CPU time for one call in torch and in wengert, the least over the rounds."""
    functions = (call.torch, call.wengert)
    best = [math.inf, math.inf]
    counts = [5, 5]
    for number in range(rounds + 2):  # two more, in which the counts settle
        for side in (0, 1) if number % 2 else (1, 0):
            function = functions[side]
            if call.fresh:
                function = functools.partial(function, call.fresh[side]())
            seconds = _turn(function, counts[side])
            best[side] = min(best[side], seconds)
            if number < 2:
                counts[side] = max(3, min(20_000, int(TURN / best[side])))
    return best[0], best[1]


def _turn(function: Callable[[], Any], count: int) -> float:
    repeats = itertools.repeat(None, count)
    clock = time.thread_time_ns
    begun = clock()
    for _ in repeats:
        function()
    return (clock() - begun) / count * 1e-9


# ---- what it says


def geometric_mean(ratios: list[float]) -> float:
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def measure_floors(timings: dict[str, tuple[float, float]]) -> dict[str, float]:
    """Seconds of NumPy's calls alone, for each call above the bound whose floor is known."""
    known, found = floors(), {}
    for name, (theirs, mine) in timings.items():
        function = known.get(name.removesuffix(", recording"))
        if function and mine > WORST * theirs:
            function()
            found[name] = min(_turn(function, max(3, int(TURN / mine))) for _ in range(ROUNDS))
    return found


def floor_of(call: Call, made: list[float], rounds: int) -> float:
    """Seconds for the calls of NumPy and SciPy that a call of wengert makes, and for a Tensor as each result."""
    operands = [call.fresh[1]()] if call.fresh else []
    recorder = Recorder(functools.partial(call.wengert, *operands))
    try:
        recorder.run()
    except (ValueError, TypeError, IndexError, RuntimeError):  # a call that cannot be made twice
        return math.nan
    count = max(3, int(TURN / 3 / max(_turn(recorder.run, 5), 1e-8)))
    seconds = min(_turn(recorder.run, count) for _ in range(rounds))
    return seconds + sum(each - made[2] for each in (made[recorded] for recorded in recorder.results))


def told_floors(timings: dict[str, tuple[float, float]], lowest: dict[str, float]) -> str:
    """The geometric mean of the floors, beside that of the calls that have one."""
    known = {name: max(seconds, 1e-8) for name, seconds in lowest.items() if not math.isnan(seconds)}
    ratios = [
        [seconds / timings[name][0] for name, seconds in known.items()],
        [timings[name][1] / timings[name][0] for name in known],
    ]
    share = sum(known[name] / timings[name][1] for name in known) / len(known)
    return (
        f"floors (the calls of NumPy and SciPy that are made, and one Tensor a result): {len(known)} calls, geometric "
        f"mean {geometric_mean(ratios[0]):.3f} of torch, where the calls have {geometric_mean(ratios[1]):.3f}; "
        f"{share:.0%} of their time on average"
    )


def report(
    timings: dict[str, tuple[float, float]], bare: dict[str, float], left_out: Counter[str], slowest: int
) -> str:
    """The figures, the calls that break a bound and the slowest, with their floors."""
    known = reasons()
    ratios = sorted(((mine / theirs, name) for name, (theirs, mine) in timings.items()), reverse=True)
    above = ", ".join(f"{sum(ratio > bound for ratio, _ in ratios)} above {bound:g}" for bound in (1, 1.5, WORST))
    lines = [f"{len(ratios)} calls, geometric mean {geometric_mean([ratio for ratio, _ in ratios]):.3f}, {above}"]
    for title, wanted in (("not recording", False), ("recording", True)):
        part = [ratio for ratio, name in ratios if name.endswith(", recording") is wanted]
        lines += [f"{title}: {len(part)} calls, geometric mean {geometric_mean(part):.3f}"] if part else []
    if left_out:
        lines.append("left out: " + ", ".join(f"{why} ({n})" for why, n in left_out.most_common()))
    over = [name for ratio, name in ratios if ratio > WORST]
    floor = {name: bare[name] / timings[name][0] for name in over if name in bare}
    why = {name: reason for name in over if (reason := known.get(name.removesuffix(", recording")))}
    if over:
        counts = [sum(value > bound for value in floor.values()) for bound in (WORST, ENOUGH)]
        left = Counter(why[name] for name in over if floor.get(name, 0) <= ENOUGH and name in why)
        unexplained = sum(floor.get(name, 0) <= ENOUGH and name not in why for name in over)
        lines.append(
            f"of the {len(over)} above {WORST:g}, NumPy's calls alone are above it in {counts[0]}, above {ENOUGH:g} "
            f"(the least tape around them passes {WORST:g}) in {counts[1]}; a reason have {sum(left.values())}, "
            f"none {unexplained}:"
        )
        lines += [f"{n:6}  {reason}" for reason, n in left.most_common()]
    for ratio, name in ratios[: max(slowest, len(over))]:
        theirs, mine = timings[name]
        proof = f"floor {floor[name]:5.2f}" if name in floor else " " * 11
        reason = f"  ({why[name].partition(':')[0]})" if name in why and floor.get(name, 0) <= ENOUGH else ""
        lines.append(f"{ratio:6.2f}  {proof}  {mine * 1e6:7.2f} / {theirs * 1e6:.2f} µs  {name[:150]}{reason}")
    lines += [f"{name}: {timings[name][1] / timings[name][0]:.2f}"
              for name in (SUM_CALL, f"{SUM_CALL}, recording") if name in timings]  # fmt: skip
    return "\n".join(lines)


def held(timings: dict[str, tuple[float, float]]) -> bool:
    """Whether the bounds are held by what was timed."""
    ratios = {name: mine / theirs for name, (theirs, mine) in timings.items()}
    return (
        geometric_mean(list(ratios.values())) <= GEOMETRIC_MEAN
        and max(ratios.values()) <= WORST
        and all(ratio <= SUM_OF_DIM for name, ratio in ratios.items() if name.startswith(SUM_CALL))
    )


def main(arguments: list[str] | None = None) -> int:
    options = parse(arguments)
    if options.floors and not KNOWN:
        print("--floors reads the frames of CPython 3.11 alone", file=sys.stderr)
        return 1
    os.environ.update(dict.fromkeys(THREAD_VARIABLES, "1"))
    import torch

    import wengert

    torch.set_num_threads(1)
    wengert.set_num_threads(1)
    only = [text.lower() for text in options.only or ()]
    timings: dict[str, tuple[float, float]] = {}
    left_out: Counter[str] = Counter()
    live, begun = sys.stderr.isatty(), time.monotonic()
    gc.disable()
    lowest: dict[str, float] = {}
    made = [min(_turn(f, 20_000) for _ in range(ROUNDS)) for f in (*results(), lambda: None)] if options.floors else []
    for number, call in enumerate(database() if options.database else everyday(torch, wengert), 1):
        if only and not any(text in call.name.lower() for text in only):
            continue
        if options.list:
            print(call.name)
            continue
        try:
            agree(call)
        except LeftOut as why:
            left_out[str(why)] += 1
            continue
        timings[call.name] = measure(call, options.rounds)
        if options.floors:
            lowest[call.name] = floor_of(call, made, options.rounds)
        if number % 50 == 0:
            gc.collect()
        if live or number % 200 == 0:
            text = f"[{number}, {time.monotonic() - begun:.0f} s] {call.name}"
            sys.stderr.write("\r" + text[:120].ljust(120) if live else text[:120] + "\n")
    if options.list:
        return 0
    if not timings:
        print("no call has that in its name; --list names them", file=sys.stderr)
        return 1
    print(
        ("\r" + " " * 120 + "\r" if live else "") + report(timings, measure_floors(timings), left_out, options.slowest)
    )
    if lowest:
        print(told_floors(timings, lowest))
    if options.json:
        options.json.write_text(json.dumps({name: list(pair) for name, pair in timings.items()}, indent=0) + "\n")
    return int(options.check and not held(timings))


if __name__ == "__main__":
    sys.exit(main())
