"""The cost of a library before it computes anything: the time of its import and its size on disk."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

CLOCKED_IMPORT = "import time; begin = time.perf_counter(); import {}; print(time.perf_counter() - begin)"


def import_seconds(modules: Iterable[str], rounds: int, tell: Callable[[str], None]) -> dict[str, list[float]]:
    """Seconds of `import MODULE` in a fresh process without the interpreter's start, each module once per round."""
    seconds: dict[str, list[float]] = {module: [] for module in modules}
    for number in range(rounds + 1):
        tell(f"import times, round {number} of {rounds}")
        for module, taken in seconds.items():
            done = subprocess.run(
                [sys.executable, "-c", CLOCKED_IMPORT.format(module)],
                capture_output=True,
                text=True,
                env=dict(os.environ, PYTHONDONTWRITEBYTECODE=""),
                check=False,
            )
            if done.returncode == 0 and number > 0:  # the first round writes byte code and fills the file cache
                taken.append(float(done.stdout.split()[-1]))
    return {module: taken for module, taken in seconds.items() if taken}


def installed_bytes(module: str, package: str) -> tuple[int, int]:
    """The bytes of the package's own files, and the bytes with all packages that it requires."""
    required: dict[str, int] = {}
    _collect(package, module, required)
    return required[_normal(package)], sum(required.values())


def _collect(package: str, module: str, sizes: dict[str, int]) -> None:
    name = _normal(package)
    if name in sizes:
        return
    sizes[name] = 0
    try:
        distribution = importlib.metadata.distribution(package)
    except importlib.metadata.PackageNotFoundError:
        sizes[name] = _tree_bytes(module)
        requirements = ["numpy", "scipy"] if name == "wengert" and sizes[name] else []  # from the source tree
    else:
        files = {os.path.realpath(file.locate()) for file in distribution.files or ()}
        sizes[name] = sum(os.path.getsize(file) for file in files if os.path.isfile(file))
        sizes[name] = max(sizes[name], _tree_bytes(module))  # an editable install lists few files
        requirements = [r for r in distribution.requires or () if "extra ==" not in r and _installed(_name_of(r))]
    for requirement in requirements:
        _collect(_name_of(requirement), _name_of(requirement).replace("-", "_"), sizes)


def _tree_bytes(module: str) -> int:
    try:
        spec = importlib.util.find_spec(module)
    except (ImportError, ValueError):
        return 0
    places = list(spec.submodule_search_locations or ()) if spec else []
    files = [path for place in places for path in Path(place).rglob("*")]
    return sum(path.stat().st_size for path in files if path.is_file())


def _installed(package: str) -> bool:
    try:
        importlib.metadata.distribution(package)
    except importlib.metadata.PackageNotFoundError:
        return False
    return True


def _name_of(requirement: str) -> str:
    match = re.match(r"[A-Za-z0-9._-]+", requirement)
    assert match is not None, requirement
    return match.group()


def _normal(package: str) -> str:
    return re.sub(r"[-_.]+", "-", package).lower()
