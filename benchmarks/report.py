"""The report of a run as a Markdown table and as JSON. Ratios are to torch in the same run; smaller is faster."""

from __future__ import annotations

import datetime
import json
import math
import os
import platform
import re
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.libs import LIBRARIES, MAKERS
from benchmarks.rounds import Timing

BEGIN, END = "<!-- benchmarks:begin -->", "<!-- benchmarks:end -->"
COMPILED_BEGIN, COMPILED_END = "<!-- benchmarks-compiled:begin -->", "<!-- benchmarks-compiled:end -->"
IMPORT_ALLOWANCE = 0.060  # seconds above NumPy's own import
IMPORT_RATIO = 0.25
WORTH_COMPARING = 1_000_000  # bytes: ratios of smaller peaks compare pages, not libraries
HEADINGS = {
    "small": "Small work",
    "graph": "A deep graph",
    "medium": "Medium work",
    "large": "Large work",
    "model": "Whole models",
}


def machine() -> dict[str, Any]:
    """The processor, how many of its cores this process may use, the system, its load before, and NumPy's BLAS."""
    model = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        found = re.search(r"^model name\s*:\s*(.+)$", cpuinfo.read_text(), flags=re.MULTILINE)
        model = found.group(1) if found else model
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    blas = np.show_config(mode="dicts")["Build Dependencies"]["blas"]
    kernels = os.environ.get("OPENBLAS_CORETYPE")  # slower kernels than the processor's own, or faster ones
    return {
        "processor": model,
        "cores": cores,
        "system": f"{platform.system()} {platform.machine()}",
        "load": _load(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "blas": f"{blas.get('name')} {blas.get('version')}" + (f", made to use {kernels} kernels" if kernels else ""),
    }


def _load() -> float | None:
    """How many threads of other programs are running; on Linux at this moment, elsewhere over the last minute."""
    running = Path("/proc/loadavg")
    if not running.exists():
        return round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None
    found = []
    for _ in range(5):
        time.sleep(0.02)
        found.append(int(running.read_text().split()[3].split("/")[0]) - 1)
    return sum(found) / len(found)


def data_of(
    timings: list[Timing],
    versions: dict[str, str],
    imports: dict[str, list[float]],
    sizes: dict[str, tuple[int, int]],
    where: dict[str, Any],
    threads: int,
    quick: bool,
) -> dict[str, Any]:
    """All measurements of a run, in the form of the JSON file."""
    return {
        "date": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "machine": where,
        "threads": threads,
        "quick": quick,
        "versions": versions,
        "works": [
            {
                "name": timing.work.name,
                "group": timing.work.group,
                "unit": timing.work.unit,
                "budget": timing.work.budget,
                "seconds": {name: _short(min(rounds)) for name, rounds in timing.rounds.items() if rounds},
                "rounds": {name: [_short(s) for s in rounds] for name, rounds in timing.rounds.items()},
                "peak_bytes": timing.memory,
                "making_seconds": {name: _short(s) for name, s in timing.making.items()},
                "lacks": timing.lacks,
            }
            for timing in timings
        ],
        "import_seconds": {module: [_short(s) for s in taken] for module, taken in imports.items()},
        "installed_bytes": {name: {"own": own, "with_required": total} for name, (own, total) in sizes.items()},
    }


def _short(number: float) -> float:
    return float(f"{number:.4g}")


def verdicts(data: dict[str, Any]) -> list[tuple[str, float, float, bool]]:
    """(name, wengert's figure, the budget, whether it is held) for each work that has a budget.

    The budget of a work that wengert cannot do counts as not held, with the figure infinity. Without torch the list is
    empty.
    """
    held: list[tuple[str, float, float, bool]] = []
    if "wengert" not in data["versions"]:
        return held
    for work in data["works"]:
        if work["budget"] is not None and "torch" in work["seconds"]:
            ratio = _ratio(work["seconds"], "wengert")
            figure = float("inf") if ratio is None else ratio
            held.append((work["name"], figure, work["budget"], figure <= work["budget"]))
    imports = {module: min(taken) for module, taken in data["import_seconds"].items()}
    if "wengert" in imports and "numpy" in imports:
        over = imports["wengert"] - imports["numpy"]
        held.append(("import, seconds above NumPy's", over, IMPORT_ALLOWANCE, over <= IMPORT_ALLOWANCE))
    if "wengert" in imports and "torch" in imports:
        ratio = imports["wengert"] / imports["torch"]
        held.append(("import", ratio, IMPORT_RATIO, ratio <= IMPORT_RATIO))
    return held


def table(data: dict[str, Any]) -> str:
    """The whole report in Markdown."""
    if set(MAKERS) & data["versions"].keys() - {"jax"}:
        return _compiled_report(data)
    parts = [_conditions(data)]
    for group, heading in HEADINGS.items():
        works = [work for work in data["works"] if work["group"] == group]
        if works:
            parts.append(f"### {heading}\n\n{_works_table(works, list(data['versions']))}")
    memory = [work for work in data["works"] if work["peak_bytes"].get("torch", 0) >= WORTH_COMPARING]
    if memory:
        parts.append(f"### Peak memory of one call, above what the inputs take\n\n{_memory_table(memory, data)}")
    if data["import_seconds"] or data["installed_bytes"]:
        parts.append(f"### Import and size\n\n{_footprint_table(data)}")
    parts.append(_budget_lines(data))
    lacking = _lacking_lines(data)
    if lacking:
        parts.append(f"### What is missing\n\n{lacking}")
    return "\n\n".join(part for part in parts if part) + "\n"


def _compiled_report(data: dict[str, Any]) -> str:
    """The report of a run with compilers: one table, what each program took to make, and peak memory."""
    heading = f"### {data['threads']} thread{'s' * (data['threads'] > 1)}"
    parts = [heading, _conditions(data), _compiled_table(data["works"], list(data["versions"])), _beaten(data)]
    made = [work for work in data["works"] if work["making_seconds"]]
    if made:
        parts.append(f"#### Until a program is there\n\n{_making_table(made, list(data['versions']))}")
    memory = [work for work in data["works"] if work["peak_bytes"].get("torch", 0) >= WORTH_COMPARING]
    if memory:
        parts.append(f"#### Peak memory of one call, above what the inputs take\n\n{_memory_table(memory, data)}")
    lacking = _lacking_lines(data)
    if lacking:
        parts.append(f"#### What is missing\n\n{lacking}")
    return "\n\n".join(part for part in parts if part) + "\n"


def _compiled_table(works: list[dict[str, Any]], libraries: list[str]) -> str:
    others = [name for name in libraries if name != "torch"]
    rows = [["work", "torch", "per", *map(_title, others)]]
    for work in works:
        seconds = work["seconds"]
        if seconds:
            first = time_text(seconds["torch"]) if "torch" in seconds else "–"
            rows.append([work["name"], first, work["unit"], *(_cell(seconds, name, time_text) for name in others)])
    means = []
    for name in others:
        ratios = [ratio for work in works if (ratio := _ratio(work["seconds"], name)) is not None]
        means.append(f"{math.exp(sum(map(math.log, ratios)) / len(ratios)):.2f}" if ratios else "–")
    rows.append([f"geometric mean of {len(rows) - 1} works", "", "", *means])
    return _markdown(rows)


def _beaten(data: dict[str, Any]) -> str:
    """The works in which compiled C takes over a tenth longer than torch.compile or JAX."""
    slower = [
        f"{work['name']} ({seconds['wengert-c'] / seconds[other]:.2f} of {_title(other)})"
        for work in data["works"]
        for seconds in [work["seconds"]]
        for other in ("torch-compile", "jax")
        if "wengert-c" in seconds and other in seconds and seconds["wengert-c"] > 1.1 * seconds[other]
    ]
    if not {"torch-compile", "jax"} & data["versions"].keys():
        return ""
    return f"C takes over a tenth longer than another compiler's program in: {'; '.join(slower) or 'no work'}."


def added(before: list[dict[str, Any]], runs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The data of earlier runs with those of `runs`, which replace what they measured of the same work and threads."""
    merged = {data["threads"]: data for data in before}
    for run in runs:
        old = merged.setdefault(run["threads"], dict(run, works=[]))
        works = {work["name"]: work for work in old["works"]}
        for work in run["works"]:
            found = works.get(work["name"], {})
            fields = ("seconds", "rounds", "peak_bytes", "making_seconds", "lacks")
            works[work["name"]] = work | {f: {**found.get(f, {}), **work[f]} for f in fields}
            works[work["name"]]["lacks"] = {
                name: why for name, why in works[work["name"]]["lacks"].items() if name not in work["seconds"]
            }
        merged[run["threads"]] = run | {"versions": old["versions"] | run["versions"], "works": list(works.values())}
    return [merged[threads] for threads in sorted(merged, reverse=True)]


def _conditions(data: dict[str, Any]) -> str:
    where = data["machine"]
    versions = ", ".join(f"{_title(name)} {version}" for name, version in data["versions"].items())
    kind = "A quick run" if data["quick"] else "A whole run"
    load = where["load"] or 0.0
    busy = (
        f" **The machine was busy when the run began (load {load:g}): work on several threads is not to be trusted.**"
        if load > 0.5 * where["cores"]
        else ""
    )
    return (
        f"{kind} of {data['date']} on {where['processor']}, {where['cores']} cores, {where['system']}, with "
        f"{data['threads']} threads for every library. Python {where['python']}, NumPy {where['numpy']} "
        f"({where['blas']}), {versions}.{busy}"
    )


def _title(name: str) -> str:
    return LIBRARIES[name][2]


def _ratio(figures: dict[str, float], name: str) -> float | None:
    return figures[name] / figures["torch"] if figures.get("torch") and name in figures else None


def _cell(figures: dict[str, float], name: str, show: Any) -> str:
    """A ratio to torch, or the figure itself if torch has none."""
    ratio = _ratio(figures, name)
    if ratio is not None:
        return f"{ratio:.2f}" if ratio < 99.5 else f"{ratio:.0f}"
    return show(figures[name]) if name in figures else "–"


def _works_table(works: list[dict[str, Any]], libraries: list[str]) -> str:
    others = [name for name in libraries if name not in ("torch", "wengert")]
    rows = [["work", "torch", "per", "wengert / torch", "budget", "held", *(f"{_title(n)} / torch" for n in others)]]
    for work in works:
        seconds, budget = work["seconds"], work["budget"]
        ratio = _ratio(seconds, "wengert")
        held = "" if budget is None or "wengert" not in libraries else "yes" if ratio and ratio <= budget else "**no**"
        rows.append(
            [
                work["name"],
                time_text(seconds["torch"]) if "torch" in seconds else "–",
                work["unit"],
                _cell(seconds, "wengert", time_text),
                "" if budget is None else f"{budget:g}",
                held,
                *(_cell(seconds, name, time_text) for name in others),
            ]
        )
    return _markdown(rows)


def _making_table(works: list[dict[str, Any]], libraries: list[str]) -> str:
    makers = [name for name in MAKERS if name in libraries]
    rows = [["work", *map(_title, makers)]]
    for work in works:
        taken = work["making_seconds"]
        rows.append([work["name"], *(time_text(taken[name]) if name in taken else "–" for name in makers)])
    return _markdown(rows)


def _memory_table(works: list[dict[str, Any]], data: dict[str, Any]) -> str:
    others = [name for name in data["versions"] if name != "torch"]
    rows = [["work", "torch", *(f"{_title(name)} / torch" for name in others)]]
    for work in works:
        peaks = work["peak_bytes"]
        rows.append([work["name"], _size(peaks["torch"]), *(_cell(peaks, name, _size) for name in others)])
    return _markdown(rows)


def _footprint_table(data: dict[str, Any]) -> str:
    imports = {module: min(taken) for module, taken in data["import_seconds"].items()}
    rows = [["", "import", "/ torch", "own files", "with what it requires"]]
    for name in ["numpy", *data["versions"]]:
        module = LIBRARIES[name][1] if name in LIBRARIES else name
        sizes = data["installed_bytes"].get(name, {})
        ratio = _ratio(imports, module)
        rows.append(
            [
                LIBRARIES[name][2] if name in LIBRARIES else "NumPy",
                time_text(imports[module]) if module in imports else "–",
                f"{ratio:.2f}" if ratio is not None else "–",
                _size(sizes["own"]) if sizes else "–",
                _size(sizes["with_required"]) if sizes else "–",
            ]
        )
    return _markdown(rows)


def _budget_lines(data: dict[str, Any]) -> str:
    held = verdicts(data)
    if not held:
        return ""
    missed = [
        f"{what} ({'not done' if figure == float('inf') else f'{figure:.3g}'}, budget {budget:g})"
        for what, figure, budget, good in held
        if not good
    ]
    count = f"{len(held) - len(missed)} of {len(held)} budgets held"
    return f"{count}." if not missed else f"{count}; missed: {'; '.join(missed)}."


def _lacking_lines(data: dict[str, Any]) -> str:
    reasons: dict[tuple[str, str], list[str]] = {}
    for work in data["works"]:
        for name, reason in work["lacks"].items():
            reasons.setdefault((name, reason), []).append(work["name"])
    return "\n".join(f"- {_title(name)}: {reason} ({'; '.join(what)})" for (name, reason), what in reasons.items())


def time_text(seconds: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


def _size(number: float) -> str:
    return f"{number / 1e6:.3g} MB" if number < 999.5e6 else f"{number / 1e9:.3g} GB"


def _markdown(rows: list[list[str]]) -> str:
    head, *body = rows
    rule = ["---", *["---:"] * (len(head) - 1)]
    return "\n".join("| " + " | ".join(row) + " |" for row in [head, rule, *body])


def write_compiled(path: Path, runs: list[dict[str, Any]]) -> None:
    """Writes the tables of compiled works between their markers of `path`."""
    before, begin, rest = path.read_text(encoding="utf-8").partition(COMPILED_BEGIN)
    _, end, after = rest.partition(COMPILED_END)
    if not begin or not end:
        raise ValueError(f"{path} lacks the lines {COMPILED_BEGIN} and {COMPILED_END}, between which the tables go")
    tables = "\n".join(map(table, runs))
    path.write_text(f"{before}{COMPILED_BEGIN}\n{tables}{COMPILED_END}{after}", encoding="utf-8")


def write(path: Path, data: dict[str, Any]) -> None:
    """Writes the table between the markers of `path`, and the figures to a JSON file beside it."""
    text = path.read_text(encoding="utf-8") if path.exists() else f"# Benchmarks\n\n{BEGIN}\n{END}\n"
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"{path} lacks the lines {BEGIN} and {END}, between which the table goes")
    path.write_text(f"{before}{BEGIN}\n{table(data)}{END}{after}", encoding="utf-8")
    path.with_suffix(".json").write_text(as_json(data), encoding="utf-8")


def as_json(data: Any) -> str:
    lines = json.dumps(data, indent=1, ensure_ascii=False)
    return re.sub(r"\[\s+([^\[\]{}]*?)\s+\]", lambda m: "[" + re.sub(r"\s+", " ", m.group(1)) + "]", lines) + "\n"
