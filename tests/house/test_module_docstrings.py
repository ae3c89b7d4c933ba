"""The first docstring of a module tells what is in it: a name that it gives in double backticks is found there."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

import wengert

PACKAGE = Path(wengert.__file__).parent
ROOMS = ("_base", "_arrays", "_tape", "_payloads", "_kinds", "_tensor_api", "_ops")
MODULES = [path for room in ROOMS for path in sorted((PACKAGE / room).rglob("*.py"))]
NAME = re.compile(r"``(_?[a-z]\w*(?:\.\w+)*)``")


@cache
def read(path: Path) -> tuple[str, frozenset[str]]:
    """A module's docstring and its names. No tree is kept: half a million nodes would be in each collector's way."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return ast.get_docstring(tree, clean=False) or "", names_in(tree)


def names_in(tree: ast.Module) -> frozenset[str]:
    """Whatever a module defines, imports, takes as a parameter, reads as an attribute or publishes."""
    found: set[str] = set()
    nodes = list(ast.walk(tree))
    prose = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    for node in nodes:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.alias):
            found.add((node.asname or node.name).rpartition(".")[2])
        elif isinstance(node, ast.Name):
            found.add(node.id)
        elif isinstance(node, ast.arg) or (isinstance(node, ast.keyword) and node.arg):
            found.add(node.arg)
        elif isinstance(node, ast.Attribute):
            found.add(node.attr)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in prose:
            found.update(re.findall(r"\w+", node.value))
    return frozenset(found)


@cache
def rooms() -> tuple[Path, ...]:
    return PACKAGE, *(path.parent for path in PACKAGE.rglob("__init__.py"))


@cache
def is_a_module(dotted: str) -> bool:
    """Whether a dotted name is a module of the package, or something that one defines."""
    parts = dotted.split(".")
    for room in rooms():
        at = room.joinpath(*parts)
        if at.is_dir() or at.with_suffix(".py").exists():
            return True
        owner = room.joinpath(*parts[:-1]).with_suffix(".py") if len(parts) > 1 else None
        if owner is not None and owner.exists() and parts[-1] in read(owner)[1]:
            return True
    return False


# Words of the programs and formulas that docstrings speak of, and of other packages.
WORDS = {
    "def",
    "j",
    "gather",
    "cat",
    "exp",
    "exp_",
    "add",
    "addcmul",
    "lerp",
    "vmap",
    "grad",
    "create_graph",
    "retain_grad",
}
WORDS |= {"self_shape", "result0", "result1", "ml_dtypes", "derivatives.yaml"}


def stale_names(path: Path) -> list[str]:
    """The names that a docstring gives and its module does not have; ``NAME`` in one stands for any."""
    text, names = read(path)
    here = names | WORDS
    return [
        name
        for name in NAME.findall(text.partition("\nNOTE [")[0])
        if name not in here
        and "NAME" not in name
        and not name.startswith("torch.")
        and not (name.rpartition(".")[2] in here or is_a_module(name))
    ]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_what_a_modules_docstring_names_is_in_it(path: Path) -> None:
    assert stale_names(path) == []
