"""Writes src/wengert/_ops/index_of_names.py: which operator module brings which names.

    python tools/make_index.py           write it
    python tools/make_index.py --check   exit with 1 if it is not what would be written

By the index `import wengert` knows all names without importing what makes them.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "src" / "wengert" / "_ops" / "index_of_names.py"
HEAD = '''"""Which module brings which operators, public names and functions of the array library.

Made by tools/make_index.py from the modules; see ``_base.late_names``.
"""

# fmt: off
INDEX: dict[str, dict[str, str]] = '''
GROUPS = ("operators", "lib", "torch", "Tensor", "nn.functional", "linalg", "fft", "special")


def found() -> dict[str, dict[str, list[str]]]:
    """The names by module and group, as the modules bring them now."""
    sys.path.insert(0, str(ROOT / "src"))
    if not TARGET.exists():
        TARGET.write_text(HEAD + "{}\n")
    from wengert import _ops
    from wengert._arrays.library import late_functions
    from wengert._base.late_names import PublicTable, Table
    from wengert._base.registry import PUBLIC, REGISTRY

    tables = {id(REGISTRY): "operators", id(late_functions): "lib"} | {id(t): space for space, t in PUBLIC.items()}
    homes: dict[tuple[str, str], str] = {}

    enter = {Table: dict.__setitem__, PublicTable: PublicTable.__setitem__}

    def note(table: Any, name: str, value: Any) -> None:
        enter[type(table)](table, name, value)
        frame: Any = sys._getframe(1)
        while frame.f_code.co_name != "<module>":
            frame = frame.f_back
        module = frame.f_globals["__name__"].removeprefix("wengert.").removeprefix("_ops.")
        if module.startswith("_"):  # a module of another room that operators name functions of
            module = f".{module}"
        key = (tables.get(id(table), ""), name)
        if homes.setdefault(key, module) != module:
            sys.exit(f"{key[0]}.{name} is brought by {homes[key]} and by {module}: which one there is would depend")

    before = {*sys.modules}  # what is imported at once needs no place in the index
    Table.__setitem__ = PublicTable.__setitem__ = note  # type: ignore[method-assign]
    for room in ("_arrays", "_tensor_api"):
        for path in sorted((ROOT / "src" / "wengert" / room).glob("*.py")):
            importlib.import_module(f"wengert.{room}.{path.stem}")
    _ops.load_all()
    index: dict[str, dict[str, list[str]]] = {module: {} for module in _ops.MODULES}
    for (group, name), module in homes.items():
        index.setdefault(module, {}).setdefault(group, []).append(name)
    return {module: groups for module, groups in index.items() if groups and f"wengert{module}" not in before}


def text() -> str:
    """What the file should hold."""
    rows = []
    for module, groups in found().items():
        lines = [f'"{group}": "{" ".join(sorted(groups[group]))}"' for group in GROUPS if group in groups]
        rows.append(f'"{module}": {{{", ".join(lines)}}},\n')
    return HEAD + "{\n" + "".join(rows) + "}\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 if the file is out of date")
    arguments = parser.parse_args()
    wanted = text()
    if arguments.check:
        if TARGET.read_text() == wanted:
            return 0
        print(f"{TARGET.relative_to(ROOT)} is out of date: run python tools/make_index.py", file=sys.stderr)
        return 1
    TARGET.write_text(wanted)
    return 0


if __name__ == "__main__":
    sys.exit(main())
