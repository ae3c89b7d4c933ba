"""Positions on 32-bit platforms: the sources call what casts them, and the operators run by a 32-bit NumPy's rules.

`python tools/in_browser.py -m pytest tests/kinds/test_every_op.py` runs them on one.
"""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import wengert as torch
from wengert._arrays import intp

TESTS = Path(__file__).parent.parent
SOURCES = TESTS.parent / "src" / "wengert"
# Methods of arrays that take or return `intp`; the names of other objects that have methods of these names.
METHODS = {"take", "repeat", "argsort", "argpartition", "reduceat", "bincount", "choose", "put"}
ROOMS = ("_arrays", "_ops", "_payloads", "_kinds")
OTHERS = {"intp", "lib", "jobs", "finished", "columns", "TENSORS", "xp", "functional", "F"}


def _calls(tree: ast.AST) -> Any:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in METHODS:
            owner = node.func.value
            name = owner.attr if isinstance(owner, ast.Attribute) else getattr(owner, "id", None)
            if name not in OTHERS and (node.func.attr != "repeat" or name == "np"):
                yield node


# Their positions are NumPy's own, or tables made in `intp`; none is a result.
KNOWN = {
    "_arrays/conv/by_table.py": 2,
    "_arrays/pooling.py": 6,
    "_arrays/random/box_muller.py": 2,
    "_ops/indexing/index_primitive.py": 1,
    "_payloads/sparse.py": 1,
}


def test_positions_go_through_intp() -> None:
    found: dict[str, int] = {}
    for room in ROOMS:
        for path in sorted((SOURCES / room).rglob("*.py")):
            number = len(list(_calls(ast.parse(path.read_text(encoding="utf-8")))))
            if number and path.name != "intp.py":
                found[str(path.relative_to(SOURCES))] = number
    assert found == KNOWN, "call what _arrays/intp.py has of the name, or add the place with its reason"


def test_where_numpy_has_64_bits_nothing_stands_in_between() -> None:
    if np.dtype(np.intp).itemsize == 8:
        assert intp.take is np.ndarray.take and intp.bincount is np.bincount
    else:
        assert intp.take(np.arange(3.0), np.array([2], np.int64)) == 2.0


@pytest.mark.skipif(np.dtype(np.intp).itemsize < 8, reason="this NumPy has 32 bits itself")
def test_every_operator_by_the_rules_of_32_bits() -> None:
    path = os.pathsep.join([str(TESTS), str(TESTS.parent / "src")])
    environment = {**os.environ, "PYTHONPATH": path}
    environment.pop("PYTEST_ADDOPTS", None)  # of the run that this test is in
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "narrow"]
    chosen = ["test_reverse_mode", "test_float32_stays_float32"]
    done = subprocess.run(
        [*command, *(f"tests/kinds/test_every_op.py::{name}" for name in chosen)],
        cwd=TESTS.parent, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:]


@pytest.mark.parametrize(
    "made",
    [
        lambda x: x.sort().indices,
        lambda x: x.topk(2).indices,
        lambda x: x.argsort(),
        lambda x: x.argmax(),
        lambda x: x.max(0).indices,
        lambda x: x.median(0).indices,
        lambda x: x.kthvalue(1).indices,
        lambda x: x.mode(0).indices,
        lambda x: x.cummax(0).indices,
        lambda x: x.nonzero(),
        lambda x: x.unique(return_inverse=True)[1],
        lambda x: torch.arange(3),
        lambda x: torch.randperm(600),
        lambda x: torch.tensor([1, 2]),
        lambda x: x.int().sum(),
        lambda x: torch.nn.functional.max_pool1d(x[None, None], 2, return_indices=True)[1],
        lambda x: torch.multinomial(x.abs(), 2),
        lambda x: torch.bincount(x.abs().int()),
    ],
)
def test_positions_and_sums_of_integers_are_int64(made: Any) -> None:
    assert made(torch.tensor([3.0, -1.0, 2.0, 2.0])).dtype is torch.int64
