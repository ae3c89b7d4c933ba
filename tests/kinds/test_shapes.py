"""The texts of hot functions: one for each shape that some operator has, as `tests/data/shapes.txt` holds them.

That file is reviewed like code: what a change of the kinds does to the functions that every program runs is seen there.
`python tests/test_shapes.py` writes it anew. Where shapes differ only in what a node saves, one stands for all.
"""

from __future__ import annotations

import builtins
import dis
import inspect
import linecache
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import wengert as torch
from wengert._base.registry import PUBLIC, REGISTRY
from wengert._kinds.templates import Shape, first_call_of

GOLDEN = Path(__file__).parent / "data" / "shapes.txt"
ONE_FOR_ALL = ("saved", "formulas", "kept")  # what does not tell two shapes apart


def hot_functions() -> Iterator[Any]:
    """Every function that is put together from a text: the operators', and those that their texts name."""
    waiting = [fn for space in PUBLIC.values() for fn in space.values()]
    for info in REGISTRY.values():
        waiting += [info.op, info.method, info.core]
        waiting += [node.backward for node in (info.node, info.node_without) if node is not None]
    seen: set[int] = set()
    while waiting:
        fn = waiting.pop()
        first_call = first_call_of(fn)
        if first_call is not None and id(fn) not in seen:
            seen.add(id(fn))
            yield fn
            waiting += first_call.names().values()


def texts() -> dict[str, str]:
    """The text of every shape, by its name."""
    shapes: dict[str, Shape] = {}
    for fn in hot_functions():
        shape = first_call_of(fn).shape
        short = Shape(shape.body, shape.head, **{k: v for k, v in shape.asked.items() if k not in ONE_FOR_ALL})
        shapes[short.label] = min(shape, shapes.get(short.label, shape), key=lambda s: (len(s.label), s.label))
    return {label: shapes[label].text() for label in sorted(shapes)}


def golden() -> str:
    """What the file should hold."""
    return "\n\n".join(f"# {label}\n{text}" for label, text in texts().items())


def test_the_file_holds_what_is_put_together() -> None:
    assert golden() == GOLDEN.read_text(), "review what changed, and run python tests/test_shapes.py"


def test_every_hot_function_can_be_put_together() -> None:
    """No text names what its operator does not give it."""
    for fn in hot_functions():
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


def test_a_traceback_shows_the_line_of_the_text() -> None:
    def fails(*_: Any) -> Any:
        raise ZeroDivisionError

    broken = torch.tensor([1.0])
    try:
        torch.linalg.svdvals(object.__new__(type(broken)))  # no payload
    except Exception as error:
        frames = [f for f in traceback.extract_tb(error.__traceback__) if "_body(" in f.filename]
        assert frames and all(f.line for f in frames)
        assert linecache.getline(frames[0].filename, 1).startswith("def ")
    else:
        raise AssertionError


if __name__ == "__main__":
    GOLDEN.write_text(golden())
