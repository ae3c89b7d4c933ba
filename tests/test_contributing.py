"""CONTRIBUTING.md: its list of modules is the order of imports, and its example of an operator works as it stands.

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

import pytest

import wengert

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = Path(wengert.__file__).parent
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
EXAMPLE = re.search(
    r"<!-- operator-example:begin -->\n```python\n(.*?)```\n<!-- operator-example:end -->", TEXT, re.DOTALL
)


def listed_modules() -> list[str]:
    """The private modules in the order of the table, by their bare names."""
    table = TEXT.partition("## Layout, and why")[2].partition("\n\nThe type stubs")[0]
    cells = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    return [name for cell in cells for name in re.findall(r"`(_[a-z]\w*|ops)(?:\.py|/)`", cell)]


def imported_at_the_top(path: Path) -> set[str]:
    """The modules of the package that a module's top level imports, by their bare names."""
    found = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom) and node.level == 1:
            found |= {a.name for a in node.names} if node.module is None else {node.module.partition(".")[0]}
    return found


def test_the_list_is_complete() -> None:
    there = {path.stem for path in PACKAGE.glob("_[a-z]*.py")}
    there |= {path.parent.name for path in PACKAGE.glob("_[a-z]*/__init__.py")} | {"ops"}
    listed = listed_modules()
    assert sorted(listed) == sorted(there)


@pytest.mark.parametrize("name", [name for name in listed_modules() if (PACKAGE / f"{name}.py").exists()])
def test_a_module_imports_only_from_above(name: str) -> None:
    listed = listed_modules()
    below = set(listed[listed.index(name) + 1 :])
    assert imported_at_the_top(PACKAGE / f"{name}.py") & below == set()


def test_what_is_named_exists() -> None:
    paths = re.findall(r"`((?:tests|tools|docs|benchmarks)/[\w/.]+\.\w+|tests/compare/)`", TEXT)
    made_by_a_run = {"docs/benchmarks.json"}
    assert [p for p in paths if not (ROOT / p).exists() and p not in made_by_a_run and "NAME" not in p] == []


def test_the_named_notes_exist() -> None:
    notes = re.findall(r"\(`(_\w+)`, NOTE (\[ [^\]]+ \])\)", TEXT)
    assert len(notes) >= 3
    assert [note for module, note in notes if note not in (PACKAGE / f"{module}.py").read_text(encoding="utf-8")] == []


def test_the_example_of_an_operator() -> None:
    """It is declared in a process of its own, and the tests that are made from the registry run there."""
    assert EXAMPLE is not None
    program = f"""
import doctest, sys
import pytest
import wengert as torch
scope = {{"__name__": "example"}}
exec({EXAMPLE.group(1)!r}, scope)
from wengert._registry import PUBLIC
assert {{"gudermannian", "gudermannian_"}} <= set(PUBLIC["torch"]) & set(PUBLIC["Tensor"])
torch.gudermannian = scope["gudermannian"]
test = doctest.DocTestFinder().find(torch.gudermannian, "gudermannian", module=False, globs={{}})[0]
assert doctest.DocTestRunner().run(test).failed == 0 and test.examples
sys.exit(pytest.main(["-q", "-p", "no:cacheprovider", "tests/test_every_op.py", "-k", "gudermannian"]))
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
