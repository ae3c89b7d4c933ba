"""How time grows with the size of the work: `python -m benchmarks.growth`.

Each work is timed at sizes over four decades, with wengert and torch in turns. The pictures show time per element, or
per node of the graph: a flat line means linear time. They are written to docs/ as SVG files, the figures to
growth.json.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks import report
from benchmarks.__main__ import _bind
from benchmarks.rounds import ROOT, measure, start
from benchmarks.works import Work

LIBRARIES = ("torch", "wengert")
COLOURS = {"torch": "#dc2626", "wengert": "#2563eb"}
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 680, 410, 78, 620, 56, 344
STYLE = """<style>
  .paper { fill: #ffffff }
  text { fill: #1f2328 }
  line { stroke: #dddddd }
  @media (prefers-color-scheme: dark) {
    .paper { fill: #0d1117 }
    text { fill: #f0f6fc }
    line { stroke: #3d444d }
  }
</style>"""


@dataclass(frozen=True)
class Sweep:
    """One work at several sizes; ``per``: what its time is divided by, besides its size, if the work does not do it."""

    name: str
    unit: str
    sizes: tuple[int, ...]
    method: str
    arguments: str  # the argument that is the size
    fixed: dict[str, object]
    counts: bool = False  # whether the work itself gives the time of one unit


DECADES = (100, 1_000, 10_000, 100_000, 1_000_000)
SWEEPS = (
    Sweep("exp, tanh, sigmoid, add and back", "element", DECADES, "elementwise", "size",
          {"names": ("exp", "tanh", "sigmoid", "add")}),
    Sweep("sum", "element", (*DECADES, 10_000_000), "reduction", "size", {"name": "sum"}),
    Sweep("a graph, forward", "node", DECADES[:-1], "deep_forward", "nodes", {}, counts=True),
    Sweep("a graph, backward", "node", DECADES[:-1], "deep_backward", "nodes", {}, counts=True),
    Sweep("a graph, released", "node", DECADES[:-1], "deep_release", "nodes", {}, counts=True),
)  # fmt: skip


def sweep_times(sweep: Sweep, workers: dict[str, object]) -> dict[str, list[float | None]]:
    """Seconds for one element or node, by library, at each size."""
    found: dict[str, list[float | None]] = {name: [] for name in workers}
    for size in sweep.sizes:
        group = "graph" if sweep.counts else "small" if size < 50_000 else "medium"
        work = Work(f"{sweep.name}, {size}", sweep.method, {**sweep.fixed, sweep.arguments: size}, group)
        timing = measure(work, workers, True, lambda text: None)  # type: ignore[arg-type]
        for name in workers:
            seconds = timing.seconds(name)
            found[name].append(None if seconds is None else seconds / (1 if sweep.counts else size))
        print(f"{sweep.name}, {size}: " + ", ".join(_said(name, found[name][-1]) for name in workers), file=sys.stderr)
    return found


def _said(name: str, seconds: float | None) -> str:
    return f"{name} -" if seconds is None else f"{name} {seconds * 1e9:.3g} ns"


def picture(sweep: Sweep, times: dict[str, list[float | None]]) -> str:
    """The sweep as an SVG: both axes in decades."""
    known = [t for line in times.values() for t in line if t]
    low, high = math.floor(math.log10(min(known))), math.ceil(math.log10(max(known)))
    first, last = math.log10(sweep.sizes[0]), math.log10(sweep.sizes[-1])

    def x(size: float) -> float:
        return LEFT + (RIGHT - LEFT) * (math.log10(size) - first) / (last - first)

    def y(seconds: float) -> float:
        return BOTTOM - (BOTTOM - TOP) * (math.log10(seconds) - low) / ((high - low) or 1)

    body = [f'<text x="{LEFT}" y="30" font-size="16">{sweep.name}: time per {sweep.unit}</text>']
    for k in range(low, high + 1):
        at = y(10.0**k)
        body.append(f'<line x1="{LEFT}" x2="{RIGHT}" y1="{at:.1f}" y2="{at:.1f}"/>')
        body.append(f'<text x="{LEFT - 8}" y="{at + 4:.1f}" text-anchor="end">{10.0 ** (k + 9):g} ns</text>')
    body += [f'<text x="{x(s):.1f}" y="{BOTTOM + 20}" text-anchor="middle">{s:,}</text>' for s in sweep.sizes]
    body.append(f'<text x="{RIGHT}" y="{BOTTOM + 44}" text-anchor="end">{sweep.unit}s</text>')
    for row, (name, line) in enumerate(times.items()):
        points = [(x(size), y(t)) for size, t in zip(sweep.sizes, line, strict=True) if t]
        text = " ".join(f"{a:.1f},{b:.1f}" for a, b in points)
        body.append(f'<polyline points="{text}" fill="none" stroke="{COLOURS[name]}" stroke-width="2.5"/>')
        body += [f'<circle cx="{a:.1f}" cy="{b:.1f}" r="3.5" fill="{COLOURS[name]}"/>' for a, b in points]
        place = f'x="{RIGHT - 8}" y="{TOP + 18 + 18 * row}" text-anchor="end"'
        body.append(f'<text {place} style="fill: {COLOURS[name]}">{name}</text>')
    size = f'width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}"'
    lines = "\n".join(body)
    style = 'font-family="sans-serif" font-size="13"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} {style}>\n'
        f'{STYLE}\n<rect class="paper" width="100%" height="100%"/>\n{lines}\n</svg>\n'
    )


def steepest(sizes: Sequence[int], line: Sequence[float | None]) -> float:
    """The cost of one element at the largest size over that at the cheapest smaller size: 1 is linear."""
    known = [t for t in line if t]
    return known[-1] / min(known) if known and sizes else math.nan


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.growth", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--out", type=Path, default=ROOT / "docs", help="where the pictures go (default: docs/)")
    parser.add_argument("--threads", type=int, default=2, help="threads and cores for both libraries (default 2)")
    options = parser.parse_args(arguments)
    _bind(options.threads)
    where = report.machine()
    workers = start(list(LIBRARIES), options.threads, lambda text: print(text, file=sys.stderr))
    if not workers:
        print("neither torch nor wengert can be used", file=sys.stderr)
        return 1
    data: dict[str, object] = {"machine": where, "versions": {name: w.version for name, w in workers.items()}}
    try:
        for number, sweep in enumerate(SWEEPS, 1):
            times = sweep_times(sweep, workers)  # type: ignore[arg-type]
            (options.out / f"growth-{number}.svg").write_text(picture(sweep, times), encoding="utf-8")
            data[sweep.name] = {"unit": sweep.unit, "sizes": sweep.sizes, "seconds": times}
            rises = ", ".join(f"{name} {steepest(sweep.sizes, line):.2f}" for name, line in times.items())
            print(f"{sweep.name}: the largest size against the cheapest, per {sweep.unit}: {rises}")
    finally:
        for worker in workers.values():
            worker.close()
    (options.out / "growth.json").write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
