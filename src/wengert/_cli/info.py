"""`python -m wengert info`: facts about the installation and the machine, for bug reports.

With `--ops` or `--public` it prints a table of operators (`operators`) instead; with `--json` it prints either as JSON.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from importlib import metadata
from typing import Any

import numpy as np

from wengert._arrays.blas import core
from wengert._arrays.compiled import kernels
from wengert._version import __version__

_THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")


def main(ops: list[str] | None, as_json: bool, public: bool = False) -> int:
    """Print the facts or the table of operators (of `ops`, of all if it is empty), as text or as JSON."""
    if ops is not None or public:
        from wengert._cli import operators

        table = operators.rows(ops, public)
        print(json.dumps(operators.data(table), indent=1) if as_json else operators.text(table))
    else:
        print(json.dumps(facts(), indent=1) if as_json else report())
    return 0


def report() -> str:
    """Return the facts, one per line."""
    return "\n".join(f"{name + ':':<11} {value}" for name, value in facts().items())


def facts() -> dict[str, str]:
    """Return the facts by name."""
    build: Any = np.show_config(mode="dicts")
    return {
        "wengert": f"{__version__} ({os.path.dirname(os.path.dirname(__file__))})",
        "Python": f"{platform.python_version()} {platform.python_implementation()} ({sys.executable})",
        "NumPy": np.__version__,
        "SciPy": _installed("scipy"),
        "PyTorch": f"{_installed('torch')} (not used)",
        "BLAS": _blas(build),
        "large work": _large_work(),
        "threads": _threads(),
        "CPU": _cpu(build),
        "platform": platform.platform(),
    }


def _installed(distribution: str) -> str:
    """Return a version without importing anything: SciPy and PyTorch take longer to import than this command to run."""
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return "not installed"


def _blas(build: Any) -> str:
    library = build.get("Build Dependencies", {}).get("blas", {})
    name = f"{library.get('name', 'unknown')} {library.get('version', '')}".strip()
    return f"{name}, kernels for {core()}" if core() else name


def _large_work() -> str:
    """Return the tier that eager's large work runs in."""
    found = kernels()
    return "NumPy" if found is None else f"wengert-kernels {found.version}, {found.variant} ({found.path})"


def _threads() -> str:
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    settings = [f"{name}={os.environ[name]}" for name in _THREAD_VARIABLES if name in os.environ]
    return f"{usable} of {os.cpu_count()} processors usable; {', '.join(settings) or 'no limit set for BLAS'}"


def _cpu(build: Any) -> str:
    found = build.get("SIMD Extensions", {}).get("found", [])
    best = f"; NumPy uses up to {found[-1]}" if found else ""
    return f"{_cpu_name()} ({platform.machine()}){best}"


def _cpu_name() -> str:
    """Return the processor's name as its maker writes it; Python has no function for that."""
    try:
        if sys.platform == "linux":
            with open("/proc/cpuinfo", encoding="utf-8") as file:
                for line in file:
                    if line.startswith("model name"):
                        return line.partition(":")[2].strip()
        elif sys.platform == "darwin":
            command = ["sysctl", "-n", "machdep.cpu.brand_string"]
            return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        pass
    return platform.processor() or "unknown processor"
