"""CONTRIBUTING.md: the rooms and the order of their imports; its example of an operator works as it stands.

And what the README says is not here.
"""

from __future__ import annotations

import ast
import functools
import importlib
import os
import re
import subprocess
import sys
from pathlib import Path
from types import FrameType

import wengert
from wengert._base import hooks

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = Path(wengert.__file__).parent
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
EXAMPLE = re.search(
    r"<!-- operator-example:begin -->\n```python\n(.*?)```\n<!-- operator-example:end -->", TEXT, re.DOTALL
)


# The rooms, lowest first; those of one line may import each other. A name with a dot is a module, with what is below
# it, that stands elsewhere than its package: a face of a lower room, or a door to a higher one.
ROOMS = (
    ("_base", "_version", "torch_version"),
    ("_arrays",),
    ("_tape",),
    ("_payloads",),
    ("_kinds",),
    ("_tensor_api",),
    ("_ops",),
    # PyTorch's names of what the rooms above have
    ("linalg", "fft", "special", "signal", "sparse", "masked", "random", "quasirandom", "return_types",
     "overrides", "array_api", "amp", "testing",
     "utils._device", "utils._flops", "utils._pytree", "utils._pytree_nodes"),
    # users' own operators, which modules and checkpoints are made of, and what they need
    ("autograd.function", "autograd._function_node", "autograd._function_forward", "autograd.forward_ad",
     "autograd.grad_mode", "autograd.graph", "autograd._roots", "autograd._task", "func._levels"),
    ("nn",),
    ("utils", "distributions", "multiprocessing"),
    ("func", "optim"),
    ("autograd",),
    ("_saving", "serialization", "storage", "hub", "safetensors", "utils.model_zoo"),
    ("fx",),
    # programs for PyTorch, and what only says that something is not there
    ("_compat", "_compile", "_cli", "__main__", "utils.collect_env", "profiler", "library", "ops", "distributed",
     "nn.parallel.distributed", "export", "onnx", "testing._internal", "explain"),
    ("",),
)  # fmt: skip
RANK = {room: rank for rank, rooms in enumerate(ROOMS) for room in rooms}
PROGRAMS = RANK["linalg"]  # from here on a module may import the package itself, as a program does

ALLOWED: dict[str, str] = {}
"""Imports against the order, ``importer -> imported``, and the reason for each."""

LARGEST_CIRCLE = 8


def rank_of(module: str) -> int:
    """That of the longest part of a module's name that has one; ``KeyError``: it is in no room."""
    name = module.removeprefix("wengert").lstrip(".")
    while name not in RANK:
        name = name.rpartition(".")[0]
        if not name:
            raise KeyError(module)
    return RANK[name]


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


def rank(name: str) -> int:
    return RANK["_compat"] if in_compat(MODULES[name]) else rank_of(name)


def absolute(name: str, package: str) -> str:
    """A module's full name, as ``importlib`` resolves a relative one."""
    dots = len(name) - len(name.lstrip("."))
    if not dots:
        return name
    base = package.split(".")[: len(package.split(".")) - dots + 1]
    return ".".join([*base, *([name[dots:]] if name[dots:] else [])])


@functools.cache
def imports_of(name: str) -> frozenset[str]:
    """The modules of the package that a module imports: at its top, in its functions, by a string, from a table.

    ``import_module("wengert.x")`` and ``sys.modules["wengert.x"]`` are imports in disguise. An import under
    ``if TYPE_CHECKING`` is none.
    """
    path = MODULES[name]
    package = name if path.stem == "__init__" else name.rpartition(".")[0]
    found: set[str] = set()
    text = path.read_text(encoding="utf-8")
    disguised = "import_module" in text or "sys.modules" in text
    waiting: list[ast.AST] = [ast.parse(text)]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        if isinstance(node, ast.Import):
            found |= {a.name for a in node.names}
        elif isinstance(node, ast.ImportFrom):
            target = absolute("." * node.level + (node.module or ""), package)
            found |= {full if (full := f"{target}.{a.name}") in MODULES else target for a in node.names}
        elif not disguised:  # to write every expression out takes long
            pass
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in ("import_module", "importlib.import_module"):
            found |= {absolute(a.value, package) for a in node.args[:1] if isinstance(a, ast.Constant)}
        elif isinstance(node, (ast.Subscript, ast.Call)) and "sys.modules" in ast.unparse(node).partition("(")[0]:
            found |= {c.value for c in ast.walk(node) if isinstance(c, ast.Constant) and isinstance(c.value, str)}
        waiting.extend(ast.iter_child_nodes(node))
    return frozenset(found & MODULES.keys()) - {name}


def imports_upwards() -> set[str]:
    """``importer -> imported`` where the imported module lies in a later room."""
    return {
        f"{name} -> {target}"
        for name in MODULES
        for target in imports_of(name)
        if rank(name) < rank(target) and not (target == "wengert" and rank(name) >= PROGRAMS)
    }


def circles() -> list[list[str]]:
    """Modules that import each other, also by way of others; the package itself, which all programs import, is none.

    Tarjan's strongly connected components, without recursion.
    """
    arrows = {name: sorted(imports_of(name) - {"wengert"}) for name in MODULES if name != "wengert"}
    number: dict[str, int] = {}
    low: dict[str, int] = {}
    path: list[str] = []
    found = []
    for start, targets in arrows.items():
        work = [(start, iter(targets))] if start not in number else []
        while work:
            name, rest = work[-1]
            if name not in number:
                number[name] = low[name] = len(number)
                path.append(name)
            for target in rest:
                if target not in number:
                    work.append((target, iter(arrows[target])))
                    break
                if target in path:
                    low[name] = min(low[name], low[target])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[name])
                if low[name] == number[name]:
                    circle = path[path.index(name) :]
                    del path[path.index(name) :]
                    if len(circle) > 1:
                        found.append(sorted(circle))
    return sorted(found, key=len)


def test_every_module_is_in_a_room() -> None:
    assert all(rank(name) >= 0 for name in MODULES)


def test_a_module_imports_only_from_its_own_room_and_lower_ones() -> None:
    assert imports_upwards() == ALLOWED.keys()
    assert all(ALLOWED.values())


def test_circles_of_imports_are_small_and_inside_one_room() -> None:
    found = circles()
    assert [circle for circle in found if len(circle) > LARGEST_CIRCLE] == []
    assert [circle for circle in found if len({name.split(".")[1] for name in circle}) > 1] == []


def test_no_module_has_more_than_600_lines() -> None:
    lengths = {path.name: len(path.read_text(encoding="utf-8").splitlines()) for path in PACKAGE.rglob("*.py")}
    assert {name: n for name, n in lengths.items() if n > 600} == {}


def test_hooks_are_those_that_are_listed_and_each_is_set() -> None:
    """What a lower room needs of a higher one goes through a hook (`_base.hooks`), and there are few."""
    section = TEXT.partition("### Hooks between rooms")[2].partition("\n### ")[0]
    assert sorted(re.findall(r"^\| `(\w[\w.]+)` \|", section, flags=re.MULTILINE)) == sorted(
        name.removeprefix("wengert.") for name in hooks.DECLARED if name.startswith("wengert.")
    )
    assert [name for name, hook in hooks.DECLARED.items() if not hasattr(hook, "run") or not hook.__doc__] == []


def test_every_private_room_is_in_the_order_and_in_the_table() -> None:
    there = {path.parent.name for path in PACKAGE.glob("_*/__init__.py")} | {"_compat"}
    assert there == {room for room in RANK if room.startswith("_") and (PACKAGE / room).is_dir()}
    table = TEXT.partition("## Layout, and why")[2].partition("\n### ")[0]
    assert there <= set(re.findall(r"^\| `(\w+)/`", table, flags=re.MULTILINE))


def test_the_picture_has_every_room() -> None:
    picture = TEXT.partition("```mermaid")[2].partition("```")[0]
    private = [room for room in RANK if re.fullmatch(r"_[a-z]+(?:_[a-z]+)*", room)]
    assert [room for room in private if f"{room}/" not in picture] == ["_version"]
    assert picture.count("-->") >= 10


def test_two_lines_call_by_call() -> None:
    """The table is what a trace of the two lines shows, in that order."""
    table = TEXT.partition("### Two lines, call by call")[2].partition("\n\nThe type stubs")[0]
    listed = re.findall(r"^\| `([^`]+)` \| `([^`]+)`", table, flags=re.MULTILINE)
    x = wengert.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = wengert.tensor([10.0, 20.0, 30.0])
    seen: list[tuple[str, str]] = []

    def two_lines() -> None:
        loss = (x * y).sum()
        loss.backward()

    def entered(frame: FrameType, event: str, arg: object) -> None:
        path = Path(frame.f_code.co_filename)
        if event == "call" and PACKAGE in path.parents:
            file = path.relative_to(PACKAGE).as_posix()
            seen.append((frame.f_code.co_name, file.partition("<")[0]))

    for _ in range(2):  # what is made or imported on first use
        two_lines()
        x.grad = None
    previous = sys.getprofile()
    sys.setprofile(entered)
    try:
        two_lines()
    finally:
        sys.setprofile(previous)
    assert listed == seen


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
    assert passed is not None and int(passed.group(1)) == 8  # the checks, each on all cases of the operator


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
    (line,) = re.findall(r"^- (.*) are not implemented yet", readme, flags=re.MULTILINE)
    missing = re.findall(r"`(torch\.[\w.]+)`", line)
    assert missing
    assert [name for name in missing if is_there(name)] == []
    assert all(map(is_there, ["torch.nn.Linear", "torch.autograd.grad", "torch.linalg.norm", "torch.special.erfcx"]))
