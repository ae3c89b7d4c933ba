"""The texts of hot functions: one for each shape that some operator has, as `tests/data/shapes.txt` holds them.

That file is reviewed like code: what a change of the kinds does to the functions that every program runs is seen there.
`python tests/kinds/test_shapes.py` writes it anew. The longest text of a kind without a test for `needless` work
stands there whole, another one as what tells it from the nearest one before it. Where texts differ only in what a node
saves, the shortest stands for all; so do mul's and exp's for the forms without modes, for large arrays, of methods and
of Python operators.
"""

from __future__ import annotations

import builtins
import difflib
import dis
import inspect
import itertools
import linecache
import traceback
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

import wengert as torch
from wengert._base.registry import PUBLIC, REGISTRY
from wengert._kinds.templates import first_call_of

GOLDEN = Path(__file__).parent.parent / "data" / "shapes.txt"


def hot_functions(start: Iterable[Any]) -> Iterator[Any]:
    """Those of the functions that are put together from a text, and those that their texts name."""
    waiting = list(start)
    seen: dict[int, Any] = {}
    while waiting:
        fn = waiting.pop()
        first_call = first_call_of(fn)
        if first_call is not None and id(fn) not in seen:
            seen[id(fn)] = fn
            yield fn
            waiting += first_call.names().values()


def all_functions() -> Iterator[Any]:
    """Every function that some operator has."""
    for space in PUBLIC.values():
        yield from space.values()
    for info in REGISTRY.values():
        yield from (info.op, info.method, info.core)
        yield from (node.backward for node in (info.node, info.node_without) if node is not None)


def shown_functions() -> Iterator[Any]:
    """The functions whose texts stand in the file."""
    for info in REGISTRY.values():
        yield from (info.op, *(node.backward for node in (info.node, info.node_without) if node is not None))
    yield from hot_functions((torch.mul, torch.exp, torch.sum, torch.mm, torch.mv, torch.where, torch.cat))
    for name in ("mul", "exp", "sum_dim", "where", "cat", "gather"):
        yield from (REGISTRY[name].core, REGISTRY[name].method)
    yield torch.Tensor.__mul__


def texts() -> dict[str, str]:
    """The text of every shape that is shown, by its name."""
    shapes: dict[str, list[str]] = {}
    for fn in shown_functions():
        first_call = first_call_of(fn)
        if first_call is not None:
            shape = first_call.shape
            shapes.setdefault(shape.label, []).append(shape.text())
    return {label: min(shapes[label], key=lambda text: (len(text), text)) for label in sorted(shapes)}


def golden() -> str:
    """What the file should hold."""
    parts = []
    for _, group in itertools.groupby(texts().items(), lambda item: item[0].partition("(")[0]):
        members = sorted(group, key=lambda item: ("needless=" in item[0], -len(item[1]), item[0]))
        for k, (label, text) in enumerate(members):
            if k == 0:
                parts.append(f"# {label}\n{text}")
            else:
                nearest, lines = min(
                    ((name, _difference(of, text)) for name, of in members[:k]), key=lambda d: len(d[1])
                )
                parts.append("\n".join([f"# {label}", f"# as {nearest}, but", *lines, ""]))
    return "\n".join(parts)


def _difference(before: str, after: str) -> list[str]:
    """The lines that go and those that come, behind the first one's place."""
    return list(difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=0))[2:]


def test_the_file_holds_what_is_put_together() -> None:
    assert golden() == GOLDEN.read_text(), "review what changed, and run python tests/kinds/test_shapes.py"


def test_every_hot_function_can_be_put_together() -> None:
    """No text names what its operator does not give it."""
    for fn in hot_functions(all_functions()):
        made = first_call_of(fn).put_together()
        known = set(made.__globals__) | set(dir(builtins))
        codes = [made.__code__]
        while codes:
            code = codes.pop()
            codes += [c for c in code.co_consts if inspect.iscode(c)]
            names = {i.argval for i in dis.get_instructions(code) if i.opname == "LOAD_GLOBAL"}
            assert names <= known, (fn.__name__, names - known)


def test_a_hot_function_is_one_object_with_its_own_code() -> None:
    mul, add = torch.mul, torch.add
    x = torch.tensor([1.0], requires_grad=True)
    assert (mul(x, x).item(), torch.mul(x, x).item()) == (1.0, 1.0)
    assert torch.mul is mul
    assert mul.__code__ is not add.__code__
    assert (mul.__name__, mul.__qualname__, mul.__code__.co_name) == ("mul", "mul", "mul")


@pytest.mark.parametrize("called", [False, True])
def test_a_signature_is_there_before_the_first_call(called: bool) -> None:
    fn = torch.special.i1 if called else torch.special.i1e
    if called:
        fn(torch.ones(1))
    assert str(inspect.signature(fn)) == "(input, *, out=None)"


def test_a_traceback_shows_the_line_of_the_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WENGERT_TRACEBACK", "full")
    with pytest.raises(RuntimeError) as caught:
        torch.linalg.cholesky(-torch.eye(2))
    frames = [frame for frame in traceback.extract_tb(caught.tb) if "<one(" in frame.filename]
    assert [frame.line for frame in frames] == ["t._payload = r = table[type(a)](a, p0)"]
    assert frames[0].name == "cholesky_factor"
    assert linecache.getline(frames[0].filename, 1).startswith("def ")


if __name__ == "__main__":
    GOLDEN.write_text(golden())
