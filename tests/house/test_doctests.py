"""Every example in a docstring is run, on the installed package, as a reader would run it.

In a public module an example sees `torch` (which is wengert) and nothing else of ours: what works only with a module's
own names in scope does not help a reader. In a private one, whose readers are contributors, it sees the module's names
too. Output is compared to the character, but for `...`, which stands for anything.

The modules are listed from the files of the package, so one that fails to import fails its own test and no other.
"""

from __future__ import annotations

import doctest
import importlib
import inspect
import linecache
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import wengert
from wengert._compat._rows import ROWS

PACKAGE = Path(wengert.__file__).parent


def module_names() -> list[str]:
    names = [f"wengert.{row}" for row in ROWS]
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
        if parts[1] == "_compat" and len(parts) > 2:
            parts = (parts[0], *parts[2:])  # the name under which it is imported
        if parts[-1] == "__main__":
            continue  # importing it would run it
        names.append(".".join(parts[:-1] if parts[-1] == "__init__" else parts))
    return sorted(set(names))


def examples_of(module: ModuleType) -> Iterator[doctest.DocTest]:
    """The module's own docstring, and those of what it defines.

    Doctest's finder passes over a function whose globals are not the module's, which generated operators are; so each
    object that says it is this module's is handed to it by name.
    """
    finder = doctest.DocTestFinder(exclude_empty=True)
    private = any(part.startswith("_") for part in module.__name__.split("."))
    scope = {**(vars(module) if private else {}), "torch": wengert, "__name__": "__main__"}
    yield from finder.find(module.__doc__ or "", module.__name__, module=False, globs=scope)
    seen: set[str] = set()
    for name, value in sorted(vars(module).items()):
        if (
            not (inspect.isclass(value) or inspect.isroutine(value))
            or sys.modules.get(getattr(value, "__module__", None) or "") is not module
        ):
            continue
        for test in finder.find(value, f"{module.__name__}.{name}", module=False, globs=scope):
            if test.docstring not in seen:  # an operator is there as function, as method and under older names
                seen.add(test.docstring)
                yield test


@pytest.mark.parametrize("name", module_names())
def test_doctests(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "wengert":
            raise
        pytest.skip(f"{name} needs {error.name}, which is not installed")
    # Doctest would look at every file that a traceback has shown, before each docstring.
    monkeypatch.setattr(linecache, "checkcache", lambda filename=None: None)
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.REPORT_NDIFF)
    for test in examples_of(module):
        wengert.manual_seed(0)
        output: list[str] = []
        with warnings.catch_warnings():  # the example of a deprecated or a new name is allowed to use it
            warnings.filterwarnings("ignore", message=".*(deprecated|in beta)")
            runner.run(test, out=output.append)
        assert not output, "".join(output)


def test_examples_are_found() -> None:
    """Guards the search: were it to find nothing, every test above would pass."""
    assert len(module_names()) > 5
    assert any(test.examples for name in ("wengert", "wengert._tape.tensor") for test in _examples_by_name(name))


def _examples_by_name(name: str) -> Iterator[doctest.DocTest]:
    return examples_of(importlib.import_module(name))
