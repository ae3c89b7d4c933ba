"""Refusals show PyTorch's error only, and one frame of this package at most."""

from __future__ import annotations

import itertools
import pickle
import subprocess
import sys
import traceback
import types
import warnings
from pathlib import Path
from typing import Any

import pytest

import wengert as torch
from wengert._base import notebooks, places, tracebacks
from wengert._base.errors import INTERNAL
from wengert._base.registry import PUBLIC

CASES = [
    line[2:]
    for line in (Path(__file__).parents[1] / "data" / "bad_input.txt").read_text().splitlines()
    if line[0] != "#"
]


class Odd:
    """Nothing that a tensor could be made from."""


def names() -> dict[str, Any]:
    import numpy as np

    return {
        "torch": torch, "np": np, "Odd": Odd, "t": torch.tensor, "x": torch.ones(2, 3), "v": torch.ones(3),
        "m": torch.ones(3, 4), "g": torch.ones(2, 3, requires_grad=True), "i": torch.tensor([0, 1]),
        "b": torch.tensor([True, False]),
    }  # fmt: skip


def error_of(function: Any, *args: Any) -> Exception | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            function(*args)
    except Exception as error:  # noqa: BLE001  whatever it is, it is looked at
        return error
    return None


def shown_before(error: BaseException) -> BaseException | None:
    """The error that a traceback shows above this one."""
    return error.__cause__ or (None if error.__suppress_context__ else error.__context__)


def frames(error: BaseException) -> list[str]:
    """The functions of this package in the traceback."""
    walked = traceback.walk_tb(error.__traceback__)
    return [frame.f_code.co_name for frame, _ in walked if INTERNAL[frame.f_code.co_filename]]


# ---------------------------------------------------------------------------------------------------- every refusal
def test_each_known_refusal_shows_one_error_and_one_frame() -> None:
    found, long = 0, []
    for case in CASES:
        error = error_of(eval, case, names())
        assert error is not None
        assert shown_before(error) is None, case
        found += bool(frames(error))
        if len(frames(error)) > 1:
            long.append((case, frames(error)))
    assert found > 400
    assert len(long) <= 23, long  # classes' own errors, and errors that Python itself raises


PUBLIC_FUNCTIONS = [
    (space, name)
    for space in ("torch", "Tensor", "nn.functional", "linalg", "fft", "special")
    for name in sorted(PUBLIC[space].names())
    if not name.startswith(("set_", "use_", "_", "manual_seed", "seed"))
]


def bad_arguments() -> list[tuple[Any, ...]]:
    """Arguments that hardly any function takes."""
    x = torch.ones(2, 3)
    odd: list[Any] = [Odd(), None, "a", 9, -7, 1.5, torch.ones(5), x.bool(), x.long(), x * 1j, [x, "a"], torch.ones(0)]
    return [(), *((a,) for a in odd), *((x, a) for a in odd), *itertools.product((x,), (9, x), odd)]


@pytest.mark.parametrize("space", ["torch", "Tensor", "nn.functional", "linalg", "fft", "special"])
def test_no_public_function_shows_numpys_error(space: str) -> None:
    refused = 0
    for name in (name for where, name in PUBLIC_FUNCTIONS if where == space):
        function = PUBLIC[space][name]
        for args in bad_arguments() if callable(function) else ():
            if space == "Tensor" and not (args and isinstance(args[0], torch.Tensor)):
                continue
            error = error_of(function, *args)
            if error is not None:
                refused += 1
                assert shown_before(error) is None, (space, name, args, shown_before(error))
    assert refused > 20


# ------------------------------------------------------------------------------------------------------- what is kept
@pytest.mark.parametrize("call", ["torch.tensor('a')", "torch.tensor([1.0]).backward()"])
def test_the_first_line_of_a_program_that_is_refused_shows_one_frame(call: str) -> None:
    program = f"import wengert as torch\n{call}"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.count('  File "') == 2


def test_the_programs_own_frames_and_errors_stay() -> None:
    w = torch.ones(2, requires_grad=True)

    def hook(g: Any) -> Any:
        return 1 / 0

    w.register_hook(hook)
    error = error_of(w.sum().backward)
    assert error is not None
    assert [f.f_code.co_name for f, _ in traceback.walk_tb(error.__traceback__)] == [
        "error_of", "tensor_backward", "hook",
    ]  # fmt: skip
    try:
        raise KeyError("the program's")
    except KeyError:
        second = error_of(torch.cat, [])
    assert isinstance(second, ValueError | RuntimeError)
    assert isinstance(shown_before(second), KeyError)


def test_what_the_package_did_not_foresee_keeps_its_frames(monkeypatch: pytest.MonkeyPatch) -> None:
    from wengert._tape import graph

    monkeypatch.setattr(graph, "_listed", lambda value: len(3))  # type: ignore[arg-type]
    error = error_of(torch.autograd.backward, torch.ones(2))
    assert isinstance(error, TypeError)
    assert traceback.extract_tb(error.__traceback__)[-1].name == "<lambda>"


def test_full_tracebacks_on_request(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WENGERT_TRACEBACK", "full")
    error = error_of(torch.ones(2).backward)
    assert error is not None
    assert frames(error)[0] == "tensor_backward"
    assert len(frames(error)) > 2


# --------------------------------------------------------------------------------------------------------- the handler
def made(text: str, filename: str) -> Any:
    scope: dict[str, Any] = {}
    exec(compile(text, filename, "exec"), scope)
    return scope


FUNCTIONS = (
    """
def low(x):
    raise ValueError(x)

def plain(x):
    return low(x)

def closing(x):
    def inner(y):
        return low(x) + y
    return inner

def handling(x):
    for k in range(3):
        try:
            {}[k]
        except KeyError:
            pass
    try:
        if x: low(x)
        return 1
    finally:
        x = None

def constants(x):
"""
    + "".join(f"    y = {k}.5\n" for k in range(300))
    + "    return low(x)\n"
)


def test_a_function_with_cells_that_assigns_its_parameters_is_rescued_without_a_guard() -> None:
    def inner(x: int, dim: Any, y: int = 2) -> Any:
        dim, y = dim + 1, 5
        return [dim.missing for _ in range(x + y)], lambda: dim

    seen = []

    def run(frame: Any) -> Any:
        seen.append(tracebacks.arguments(frame.f_code, frame.f_locals))
        return lambda frame: "instead"

    code = tracebacks.with_rescue(inner.__code__, run)
    assert code is not None
    inner.__code__ = code
    for _ in range(100):
        assert inner(1, 3) == "instead"
    assert seen == [((1, 3, 2), {})] * 100


@pytest.mark.parametrize("name", ["plain", "closing", "handling", "constants"])
def test_a_function_with_the_handler_does_the_same(name: str) -> None:
    ours = str(Path(tracebacks.__file__).with_name("made.py"))
    function = made(FUNCTIONS, ours)[name]
    function = function(1) if name == "closing" else function
    before = function.__code__
    tracebacks.shortens(function)
    assert function.__code__.co_code[: len(before.co_code)] == before.co_code
    assert tracebacks.with_handler(function.__code__) is function.__code__
    assert list(function.__code__.co_positions())[: len(before.co_code) // 2] == list(before.co_positions())
    if name == "handling":
        assert function(0) == 1
    for _ in range(100):  # the interpreter specializes the code meanwhile
        error = error_of(function, 7)
        assert isinstance(error, ValueError)
        assert len(frames(error)) == 1
        assert sys.exception() is None


def test_generators_are_left_alone() -> None:
    def generator() -> Any:
        yield 1

    code = generator.__code__
    assert tracebacks.shortens(generator).__code__ is code


# --------------------------------------------------------------------------------------------------- layers, notebooks
def test_a_layer_is_named() -> None:
    class Net(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.body = torch.nn.Sequential(torch.nn.Linear(9, 8), torch.nn.ReLU())
            self.head = torch.nn.Linear(9, 2)

        def forward(self, x: Any) -> Any:
            return self.head(self.body(x))

    net = Net()
    with pytest.raises(RuntimeError, match="mat1 and mat2 shapes cannot be multiplied") as caught:
        net(torch.ones(5, 9))
    assert (
        caught.value.__notes__[0] == "In: net.head = Linear(in_features=9, out_features=2, bias=True), which got [5, 8]"
    )
    with pytest.raises(RuntimeError) as caught:
        net.body(torch.ones(5, 4, dtype=torch.float64))
    assert caught.value.__notes__[0].startswith("In: net.body.0 = Linear(in_features=9, out_features=8, bias=True), ")
    assert caught.value.__notes__[0].endswith(", which got [5, 4] (float64)")
    with pytest.raises(RuntimeError) as caught:
        torch.nn.Linear(2, 2)(torch.ones(3, 5))
    assert caught.value.__notes__[0].startswith("In: Linear(in_features=2")


def test_a_layer_whose_description_fails_hides_no_error() -> None:
    class Bad(torch.nn.Module):
        def extra_repr(self) -> str:
            raise ZeroDivisionError

        def forward(self, x: Any) -> Any:
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        Bad()(torch.ones(2))


class Shell:
    """What is used of a running IPython."""

    class InteractiveTB:
        @staticmethod
        def structured_traceback(kind: Any, error: Any, tb: Any) -> list[str]:
            return [entry.name for entry in traceback.extract_tb(tb)]

    class compile:
        @staticmethod
        def format_code_name(filename: str) -> tuple[str, str] | None:
            return ("Cell", "In[7]") if filename.endswith("/ipykernel_22/33.py") else None


def test_in_a_notebook_cells_are_named_and_no_frame_of_ours_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    module = types.ModuleType("IPython")
    module.get_ipython = Shell  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "IPython", module)
    assert notebooks.shell() is not None
    text = "w = torch.ones(2, requires_grad=True)\nl = (w * w).sum()\nl.backward()\nl.backward()\n"
    error = error_of(exec, compile(text, "/tmp/ipykernel_22/33.py", "exec"), {"torch": torch})
    assert error is not None
    assert error._render_traceback_() == ["error_of", "<module>"]  # type: ignore[attr-defined]
    assert error.__notes__[0] == "Where: MulBackward0 was made at Cell In[7], line 2"
    again = pickle.loads(pickle.dumps(error))
    assert again.args == error.args


# -------------------------------------------------------------------------------------------------------------- places
def place_of(text: str, filename: str = "<test>") -> str:
    import linecache

    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    scope: dict[str, Any] = {"torch": torch}
    exec(compile(text, filename, "exec"), scope)
    node = scope["y"].grad_fn
    return places.place(node._code, node._lasti)


def test_the_part_of_the_line_is_marked() -> None:
    start = "x = torch.ones(2, requires_grad=True)\n"
    assert (
        place_of(start + "y = x + x * 2\n")
        == 'File "<test>", line 2, in <module>\n    y = x + x * 2\n        ^^^^^^^^^'
    )
    assert place_of(start + "y = x.neg()\n").split("\n")[1:] == ["    y = x.neg()", "        ^^^^^^^"]
    several = place_of(start + "y = torch.add(\n    x,\n    x,\n)\n").split("\n")[1:]
    assert several[0::2] == ["    y = torch.add(", "        x,", "        x,", "    )"]
    assert several[1::2] == ["        ^^^^^^^^^^", "        ^^", "        ^^", "    ^"]
    wide = place_of(start + "y = ('値', x.exp())[1]\n").split("\n")[1:]
    assert wide == ["    y = ('値', x.exp())[1]", "               ^^^^^^^"]
    assert place_of(start + "x.exp()\n\ny = -x\n").split("\n")[0] == 'File "<test>", line 4, in <module>'


def test_lines_typed_at_a_prompt_are_found_in_the_history(monkeypatch: pytest.MonkeyPatch) -> None:
    typed = [
        "x = torch.ones(2)",
        "def f(x):",
        "    z = x + 1",
        "    return z.exp()",
        "y = 1 +",
        "y = f(x.requires_grad_())",
    ]
    history = types.ModuleType("readline")
    history.get_current_history_length = lambda: len(typed)  # type: ignore[attr-defined]
    history.get_history_item = lambda k: typed[k - 1]  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "readline", history)
    scope: dict[str, Any] = {"torch": torch}
    for statement in (typed[0], "\n".join(typed[1:4]) + "\n", typed[5]):
        exec(compile(statement + "\n", "<stdin>", "single"), scope)
    node = scope["y"].grad_fn
    shown = places.place(node._code, node._lasti)
    assert shown.split("\n") == ['File "<stdin>", line 3, in f', "    return z.exp()", "           ^^^^^^^"]
