"""``help`` of every public function: its parameters, what it returns, an example; and every example is run."""

from __future__ import annotations

import doctest
import inspect
import io
import linecache
import pydoc
import subprocess
import sys
import warnings
from typing import Any

import pytest

import wengert
from wengert._base.registry import PUBLIC

SPACES = sorted(set(PUBLIC) - {"Tensor"})
NO_FUNCTIONS = {"LinAlgError"}


def functions(space: str) -> dict[str, Any]:
    return {n: f for n, f in PUBLIC[space].items() if not n.startswith("_") and n not in NO_FUNCTIONS}


@pytest.mark.parametrize("space", SPACES)
def test_help_tells_parameters_results_and_an_example(space: str) -> None:
    lacking = {}
    for name, function in functions(space).items():
        text = inspect.getdoc(function) or ""
        signature = inspect.signature(function)
        named = [p.name for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD and p.name[0] != "_"]
        wanted = [">>>", *(f"    {p}" for p in named if f"*{p}" not in text)]
        if named:
            wanted.append("Args:")
        if str(signature.return_annotation) != "None":
            wanted.append("Returns:")
        missing = [part for part in wanted if part not in text]
        if missing:
            lacking[name] = missing
    assert lacking == {}


@pytest.mark.parametrize("space", SPACES)
def test_examples_run(space: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # Doctest would look at every file that a traceback has shown, before each docstring.
    monkeypatch.setattr(linecache, "checkcache", lambda filename=None: None)
    parser, runner = doctest.DocTestParser(), doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    output: list[str] = []
    for name, function in functions(space).items():
        test = parser.get_doctest(str(inspect.getdoc(function)), {"torch": wengert}, name, None, 0)
        wengert.manual_seed(0)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=".*deprecated")
            runner.run(test, out=output.append)
    assert not output, "".join(output)


def test_help_itself_print_and_doctest_show_the_same() -> None:
    shown = io.StringIO()
    pydoc.Helper(output=shown)(wengert.add)
    for text in (shown.getvalue(), str(wengert.add.__doc__), f"{wengert.add.__doc__!s}"):
        for part in ("alpha (default 1)", "out (Tensor | None", "Returns:", ">>> torch.add("):
            assert part in text
    assert wengert.exp.__doc__.startswith("e to the power of each element.")
    (test,) = doctest.DocTestFinder().find(wengert.cos_, "cos_", module=False)
    assert [example.want for example in test.examples][1] == "tensor([1.0000, 0.5403])\n"


def test_nothing_is_put_together_before_it_is_read() -> None:
    program = (
        "import sys, wengert as torch; torch.add(torch.ones(2), 1); print('wengert._base.help_text' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
