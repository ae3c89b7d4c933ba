"""CONTRIBUTING.md: the rooms and the order of their imports; its example of an operator works as it stands.

And what the README says is not here.
"""

from __future__ import annotations

import ast
import importlib
import os
import re
import subprocess
import sys
from pathlib import Path

import wengert

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = Path(wengert.__file__).parent
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
EXAMPLE = re.search(
    r"<!-- operator-example:begin -->\n```python\n(.*?)```\n<!-- operator-example:end -->", TEXT, re.DOTALL
)


# The rooms, lowest first; those of one line may import each other. Public modules that are named nowhere stand last.
ROOMS = (
    ("_base",),
    ("_arrays",),
    ("_tape",),
    ("_payloads",),
    ("_kinds",),
    ("_tensor_api",),
    ("_ops",),
    ("nn",),
    ("utils", "distributions"),
    ("func", "optim"),
    ("autograd",),
    ("_saving",),
    ("_compat", "_cli"),
)
RANK = {room: rank for rank, rooms in enumerate(ROOMS) for room in rooms}
UPWARDS = ROOT / "tests" / "data" / "imports_upwards.txt"


def room_of(module: str) -> str:
    """The first part of a module's name below the package."""
    return module.removeprefix("wengert").lstrip(".").partition(".")[0]


def rank_of(module: str) -> int:
    return RANK.get(room_of(module), len(ROOMS))


def modules() -> dict[str, Path]:
    """Every module of the package, by its dotted name; one of `_compat` has the name under which it is imported."""
    found = {}
    for path in PACKAGE.rglob("*.py"):
        parts = list(path.relative_to(PACKAGE).with_suffix("").parts)
        if parts[0] == "_compat" and len(parts) > 1:
            parts = parts[1:]
        found[".".join(["wengert", *(parts[:-1] if parts[-1] == "__init__" else parts)])] = path
    return found


MODULES = modules()


def in_compat(path: Path) -> bool:
    return "_compat" in path.relative_to(PACKAGE).parts


def imports_of(name: str, path: Path) -> set[str]:
    """The modules of the package that a module imports, at its top or inside of its functions."""
    package = name if path.stem == "__init__" else name.rpartition(".")[0]
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {a.name for a in node.names if a.name.partition(".")[0] == "wengert"}
        elif isinstance(node, ast.ImportFrom):
            base = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            target = ".".join([*base, *([node.module] if node.module else [])])
            if target.partition(".")[0] == "wengert":
                found |= {full if (full := f"{target}.{a.name}") in MODULES else target for a in node.names}
    return found


def imports_upwards() -> set[str]:
    """``importer -> imported`` where the imported module lies in a later room.

    From ``nn`` upwards the package itself may be imported: those rooms are programs for PyTorch.
    """
    found = set()
    for name, path in MODULES.items():
        rank = len(ROOMS) - 1 if in_compat(path) else rank_of(name)
        for target in imports_of(name, path):
            there = MODULES.get(target)
            if target == "wengert" and rank >= RANK["nn"]:
                continue
            if there is not None and rank < (len(ROOMS) - 1 if in_compat(there) else rank_of(target)):
                found.add(f"{name} -> {target}")
    return found


def test_a_module_imports_only_from_its_own_room_and_lower_ones() -> None:
    listed = [line for line in UPWARDS.read_text().splitlines() if line and not line.startswith("#")]
    assert listed == sorted(imports_upwards())


def test_every_private_room_is_in_the_order_and_in_the_table() -> None:
    there = {path.parent.name for path in PACKAGE.glob("_*/__init__.py")} | {"_compat"}
    assert there == {room for rooms in ROOMS for room in rooms if room.startswith("_")}
    table = TEXT.partition("## Layout, and why")[2].partition("\n\nThe type stubs")[0]
    assert there <= set(re.findall(r"^\| `(\w+)/`", table, flags=re.MULTILINE))


def test_what_is_named_exists() -> None:
    paths = re.findall(r"`((?:tests|tools|docs|benchmarks)/[\w/.]+\.\w+|tests/compare/)`", TEXT)
    made_by_a_run = {"docs/benchmarks.json"}
    assert [p for p in paths if not (ROOT / p).exists() and p not in made_by_a_run and "NAME" not in p] == []


def test_the_named_notes_exist() -> None:
    notes = re.findall(r"\(`([\w.]+)`, NOTE (\[ [^\]]+ \])\)", TEXT)
    assert len(notes) >= 3
    texts = {module: MODULES[f"wengert.{module}"].read_text(encoding="utf-8") for module, _ in notes}
    assert [note for module, note in notes if note not in texts[module]] == []


def test_the_example_of_an_operator() -> None:
    """It is declared in a process of its own, and the tests that are made from the registry run there."""
    assert EXAMPLE is not None
    program = f"""
import doctest, sys
import pytest
import wengert as torch
scope = {{"__name__": "example"}}
exec({EXAMPLE.group(1)!r}, scope)
from wengert._base.registry import PUBLIC
assert {{"gudermannian", "gudermannian_"}} <= set(PUBLIC["torch"]) & set(PUBLIC["Tensor"])
torch.gudermannian = scope["gudermannian"]
test = doctest.DocTestFinder().find(torch.gudermannian, "gudermannian", module=False, globs={{}})[0]
assert doctest.DocTestRunner().run(test).failed == 0 and test.examples
sys.exit(pytest.main(["-q", "-p", "no:cacheprovider", "tests/kinds/test_every_op.py", "-k", "gudermannian"]))
"""
    environment = {name: value for name, value in os.environ.items() if name != "PYTEST_ADDOPTS"}
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    passed = re.search(r"(\d+) passed", done.stdout)
    assert passed is not None and int(passed.group(1)) > 30


def is_there(dotted: str) -> bool:
    """Whether a program finds `torch.a.b`, be it a module or a name."""
    value: object = wengert
    for place, name in enumerate(parts := dotted.split(".")[1:]):
        try:
            value = getattr(value, name)
        except AttributeError:
            try:
                value = importlib.import_module(".".join(["wengert", *parts[: place + 1]]))
            except ModuleNotFoundError:
                return False
    return True


def test_what_the_readme_misses_is_missing() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (line,) = re.findall(r"^- Not here yet: (.*)$", readme, flags=re.MULTILINE)
    missing = re.findall(r"`(torch\.[\w.]+)`", line)
    assert missing
    assert [name for name in missing if is_there(name)] == []
    assert all(map(is_there, ["torch.nn.Linear", "torch.autograd.grad", "torch.linalg.norm", "torch.special.erfcx"]))
