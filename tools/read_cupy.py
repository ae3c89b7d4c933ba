"""Write CuPy's interface to tests/data/cupy_interface.txt: names, parameters, what its ufuncs have.

``tests/strict_array.py`` takes nothing else, so a body that runs on its arrays calls only what CuPy has. CuPy is
imported for it, which needs no GPU: ``pip install cupy-cuda12x``. ``--check`` compares.
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

FILE = Path(__file__).resolve().parents[1] / "tests" / "data" / "cupy_interface.txt"
MODULES = ("cupy", "cupy.linalg", "cupy.fft", "cupyx.scipy.special")
UNLOADED = "cupyx.scipy.linalg"  # its import loads cuBLAS: its files are read instead


def parameters(f: Any) -> str:
    """The names of a function's parameters, ``**`` for any keyword; those of a compiled one stand in its docstring."""
    try:
        text = str(inspect.signature(f))
    except (TypeError, ValueError):
        text = re.sub(r"^[^(]*", "", (f.__doc__ or "").split("\n")[0])
    text = re.sub(r"\[[^\]]*\]|<[^>]*>|'[^']*'|->.*$", "", text).strip("()")
    names = [re.sub(r"[=:].*", "", part).strip().split(" ")[-1] for part in text.split(",")]
    return ",".join(n for n in (name.strip("()") for name in names) if n not in ("", "/", "*", "self", "\\*", "-1"))


def described(name: str, f: Any) -> str | None:
    """A name with its kind: a ufunc with its numbers of operands and methods, a function, a value."""
    from cupy import ufunc

    if isinstance(f, ufunc):
        return f"{name}:{f.nin}{f.nout}{'at' * (f._scatter_op is not None)}"
    if callable(f) and not isinstance(f, type):
        return f"{name}({parameters(f)})"
    return None if inspect.ismodule(f) else name


def unloaded() -> list[str]:
    """The functions of a module that is not imported."""
    import cupyx

    folder = Path(cupyx.__file__).parents[1].joinpath(*UNLOADED.split("."))
    trees = [ast.parse(file.read_text(encoding="utf-8")) for file in folder.glob("_*.py")]
    found = {node.name: node.args for tree in trees for node in tree.body if isinstance(node, ast.FunctionDef)}
    return [f"{name}({','.join(a.arg for a in args.args)})" for name, args in sorted(found.items()) if name[0] != "_"]


def interface() -> str:
    """The text of the file."""
    import cupy

    lines = []
    for module in MODULES:
        found = vars(import_module(module))
        entries = [described(n, found[n]) for n in sorted(found) if not n.startswith("_")]
        lines.append(f"{module}: {' '.join(e for e in entries if e)}")
    lines.append(f"{UNLOADED}: {' '.join(unloaded())}")
    methods = [described(n, getattr(cupy.ndarray, n)) for n in sorted(dir(cupy.ndarray)) if not n.startswith("_")]
    return "\n".join([f"version: {cupy.__version__}", *lines, f"ndarray: {' '.join(e for e in methods if e)}"]) + "\n"


if __name__ == "__main__":
    text = interface()
    if "--check" in sys.argv:
        sys.exit(0 if FILE.read_text(encoding="utf-8") == text else f"{FILE} is out of date: run {sys.argv[0]}")
    FILE.write_text(text, encoding="utf-8")
