"""What `import wengert` takes beside NumPy's own import: python tools/measure_import.py [runs]

Fresh processes in alternation, bytecode caches warm, CPU time without the interpreter's start; the least of the runs.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
IMPORTS = {
    "numpy": "import numpy",
    "wengert": "import wengert",
    "wengert with nn and optim": "import wengert, wengert.nn, wengert.optim",
}
BOUNDS = {"wengert": 1.35, "wengert with nn and optim": 2.0}


def environment(cache: str) -> dict[str, str]:
    """The environment of a process whose bytecode is in this folder."""
    env = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    env |= {"PYTHONPATH": str(ROOT / "src"), "PYTHONPYCACHEPREFIX": cache}
    return env | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def seconds(statement: str, cache: str) -> float:
    """The CPU time of one import in a new process."""
    program = f"import time; a = time.process_time()\n{statement}\nprint(time.process_time() - a)"
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment(cache), capture_output=True, text=True, check=True
    )
    return float(done.stdout)


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 15
    with tempfile.TemporaryDirectory() as cache:
        for statement in IMPORTS.values():
            seconds(statement, cache)
        taken = [{name: seconds(statement, cache) for name, statement in IMPORTS.items()} for _ in range(runs)]
    least = {name: min(each[name] for each in taken) for name in IMPORTS}
    for name, value in least.items():
        bound = f", bound {BOUNDS[name]}" if name in BOUNDS else ""
        print(f"{name}: {value * 1000:.1f} ms, {value / least['numpy']:.2f} times NumPy's{bound}")


if __name__ == "__main__":
    main()
