"""The shared library: compiled once for each width of vectors that the processors of a machine's kind have.

``python build_library.py FILE [native]`` takes ``$CC``, cc, gcc or clang. The C comes from ``generate.py``, or in a
source distribution from ``generated/``.
"""

from __future__ import annotations

import os
import platform
import shlex
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
# No part of -ffast-math, as in src/wengert/_compile/c/compilers.py.
FLAGS = [
    "-std=gnu11", "-O3", "-fno-math-errno", "-fno-trapping-math", "-ffp-contract=off", "-fopenmp-simd",
    "-fvisibility=hidden", "-fPIC", "-pthread", "-w",
]  # fmt: skip
X86 = {"v2": ["-march=x86-64-v2"], "v3": ["-march=x86-64-v3"], "v4": ["-march=x86-64-v4", "-mprefer-vector-width=512"]}


def suffix() -> str:
    """The ending of a shared library's name."""
    return {"win32": "dll", "darwin": "dylib"}.get(sys.platform, "so")


def compiler() -> list[str]:
    """The command of the C compiler."""
    if os.environ.get("CC"):
        return shlex.split(os.environ["CC"])
    found = next(filter(None, map(shutil.which, ("cc", "gcc", "clang"))), None)
    if found is None:
        raise SystemExit(
            "wengert-kernels is compiled when it is installed: no C compiler was found (CC, cc, gcc, clang)"
        )
    return [found]


def generate(folder: Path) -> None:
    """Write the C into a folder."""
    written = HERE / "generated"
    if written.is_dir():
        shutil.copytree(written, folder, dirs_exist_ok=True)
        return
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "WENGERT_KERNELS": "0"}
    subprocess.run([sys.executable, str(HERE / "generate.py"), str(folder)], check=True, env=environment)


def build(to: Path, native: bool = False) -> None:
    """Compile and link; ``native``: for this processor only, which takes a third of the time."""
    cc = compiler()
    is_x86 = platform.machine().lower() in ("x86_64", "amd64")
    variants = {"plain": ["-march=native"]} if native else X86 if is_x86 else {"plain": []}
    with tempfile.TemporaryDirectory(prefix="wengert-kernels-c-") as made:
        folder = Path(made)
        generate(folder)
        commands = [
            [*cc, *FLAGS, *flags, f"-DFIND=find_{name}", "-c", "kernels.c", "-o", f"{name}.o"]
            for name, flags in variants.items()
        ]
        chosen = [] if is_x86 and not native else ["-DPLAIN"]
        commands.append([*cc, *FLAGS, *chosen, "-c", "dispatch.c", "-o", "dispatch.o"])
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(lambda command: subprocess.run(command, check=True, cwd=folder), commands))
        objects = [command[-1] for command in commands]
        to.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run([*cc, "-shared", "-pthread", *objects, "-o", str(to.resolve()), "-lm"], check=True, cwd=folder)


if __name__ == "__main__":
    build(Path(sys.argv[1]), sys.argv[2:] == ["native"])
