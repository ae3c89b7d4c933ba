"""Times collectives and a data-parallel step on several ranks, on wengert (MPI) and on torch (gloo), in turns.

    python -m benchmarks.distributed                    print the tables
    python -m benchmarks.distributed --write docs/distributed.md   and put them into the page
    python -m benchmarks.distributed --ranks 2 --rounds 5

Each library runs in processes of its own, one thread each. The figure is the best of all rounds: a rank that waits for
a core that something else has measures that. CPU time is that of rank 0's process.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
from pathlib import Path

SIZES = (4, 4096, 65536, 1 << 20, 16 << 20, 64 << 20)
COMMANDS = {
    "wengert": [sys.executable, "-m", "wengert.distributed.run"],
    "torch": [sys.executable, "-m", "torch.distributed.run", "--standalone"],
}
BEGIN, END = "<!-- distributed:begin -->", "<!-- distributed:end -->"


def measured(library: str, ranks: int) -> dict[str, float]:
    """What rank 0 of one run prints."""
    env = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONWARNINGS": "ignore"}
    command = [*COMMANDS[library], "--nproc-per-node", str(ranks), __file__, "--rank"]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=600, check=False)
    if done.returncode:
        raise SystemExit(done.stderr[-3000:])
    return json.loads(done.stdout.splitlines()[-1])  # type: ignore[no-any-return]


def rank() -> None:
    """One rank: microseconds by work."""
    import time

    import torch
    import torch.distributed as dist

    dist.init_process_group("gloo")
    torch.set_num_threads(1)
    found = {}

    def best(call: object, count: int) -> float:
        call()  # type: ignore[operator]
        least = float("inf")
        for _ in range(3):
            dist.barrier()
            start = time.perf_counter()
            for _ in range(count):
                call()  # type: ignore[operator]
            least = min(least, (time.perf_counter() - start) / count)
        return least * 1e6

    found["barrier"] = best(dist.barrier, 200)
    for size in SIZES:
        t = torch.zeros(max(1, size // 4))
        count = 200 if size <= 65536 else 20 if size < 1 << 23 else 3
        found[f"all_reduce {size}"] = best(lambda t=t: dist.all_reduce(t), count)
        found[f"broadcast {size}"] = best(lambda t=t: dist.broadcast(t, 0), count)
    wall, cpu = _step(torch, dist)
    found["step"], found["step, CPU"] = wall, cpu
    if dist.get_world_size() > 1:
        found["own"] = _own_cost(torch, dist)
    if dist.get_rank() == 0:
        print(json.dumps(found), flush=True)
    dist.destroy_process_group()


def _step(torch: object, dist: object) -> tuple[float, float]:
    """Wall and CPU milliseconds of a step of the MLP 784-1024-1024-10 at a global batch of 1024."""
    import time
    from typing import Any

    lib: Any = torch
    group: Any = dist
    n = group.get_world_size()
    lib.manual_seed(0)
    nn = lib.nn
    model: Any = nn.Sequential(nn.Linear(784, 1024), nn.ReLU(), nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 10))
    if n > 1:
        model = nn.parallel.DistributedDataParallel(model)
    optimizer = lib.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    x, y = lib.randn(1024 // n, 784), lib.randint(0, 10, (1024 // n,))
    times = []
    for _ in range(24):
        group.barrier()
        wall, cpu = time.perf_counter(), time.process_time()
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
        times.append((time.perf_counter() - wall, time.process_time() - cpu))
    return min(t[0] for t in times[4:]) * 1e3, sorted(t[1] for t in times[4:])[len(times) // 2 - 2] * 1e3


def _own_cost(torch: object, dist: object) -> float:
    """CPU milliseconds that DistributedDataParallel adds to a pass through 80 layers with 160 small parameters."""
    import time
    from typing import Any

    lib: Any = torch
    group: Any = dist
    nn = lib.nn
    plain, inner = (nn.Sequential(*[nn.Linear(16, 16) for _ in range(80)]) for _ in range(2))
    x = lib.randn(4, 16)
    least = []
    for model in (plain, nn.parallel.DistributedDataParallel(inner)):
        times = []
        for _ in range(200):
            group.barrier()
            cpu = time.process_time()
            for p in model.parameters():
                p.grad = None
            model(x).sum().backward()
            times.append(time.process_time() - cpu)
        least.append(sorted(times)[20] * 1e3)
    return least[1] - least[0]


def size_text(size: int) -> str:
    return f"{size >> 20} MB" if size >= 1 << 20 else f"{size >> 10} kB" if size >= 1024 else f"{size} B"


def tables(ranks: list[int], rounds: int) -> str:
    """The tables as Markdown."""
    lines = []
    steps: dict[tuple[str, int], dict[str, float]] = {}
    for n in ranks:
        best: dict[str, dict[str, float]] = {}
        for _ in range(rounds):
            for library in COMMANDS:
                for name, value in measured(library, n).items():
                    mine = best.setdefault(library, {})
                    mine[name] = min(value, mine.get(name, value))
        for library, found in best.items():
            steps[library, n] = found
        if n == 1:
            continue
        lines += [
            f"{n} ranks, microseconds:",
            "",
            "| work | torch, gloo | wengert, MPI | ratio |",
            "|---|---:|---:|---:|",
        ]
        for name, theirs in best["torch"].items():
            if not name.startswith(("step", "own")):
                ours = best["wengert"][name]
                work, _, size = name.partition(" ")
                shown = f"{work} {size_text(int(size))}" if size else work
                lines.append(f"| {shown} | {theirs:,.0f} | {ours:,.0f} | {ours / theirs:.2f} |")
        lines += ["", "What DistributedDataParallel adds to a pass with 160 small parameters, milliseconds of CPU: "]
        lines[-1] += f"torch {best['torch']['own']:.2f}, wengert {best['wengert']['own']:.2f}."
        lines.append("")
    lines += ["A step of the MLP, milliseconds:", ""]
    lines += [
        "| ranks | torch, wall | wengert, wall | torch, CPU of rank 0 | wengert, CPU of rank 0 |",
        "|---:|---:|---:|---:|---:|",
    ]
    for n in ranks:
        row = [steps[library, n][name] for name in ("step", "step, CPU") for library in ("torch", "wengert")]
        lines.append(f"| {n} | " + " | ".join(f"{value:.1f}" for value in row) + " |")
    return "\n".join(lines)


def main() -> None:
    """Measure and print, or write."""
    parser = argparse.ArgumentParser("python -m benchmarks.distributed", description=__doc__)
    parser.add_argument("--ranks", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--write", type=Path)
    parser.add_argument("--rank", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.rank:
        return rank()
    text = tables(options.ranks, options.rounds)
    load = f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, {platform.machine()}"
    text = (
        f"Measured by `python -m benchmarks.distributed` ({load}), best of {options.rounds} rounds in turns.\n\n{text}"
    )
    print(text)
    if options.write:
        page = options.write.read_text(encoding="utf-8")
        start, stop = page.index(BEGIN) + len(BEGIN), page.index(END)
        options.write.write_text(f"{page[:start]}\n{text}\n{page[stop:]}", encoding="utf-8")


if __name__ == "__main__":
    main()
