"""The public names of a module as directives for autodoc: `<!-- api: wengert.nn -->` in a page stands for them.

What follows the module chooses: `functions`, `classes` (the default is both), or `methods` for a class.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wengert import Tensor

if TYPE_CHECKING:
    from sphinx.application import Sphinx

_MARK = re.compile(r"^<!-- api: ([\w.]+) ?(\w*) -->$", re.MULTILINE)
_STARS = re.compile(r"(?<=[(\[ ,])\*+(?=[,)\]\w ])")
_SAME_EVERYWHERE = "forward, extra_repr, reset_parameters"  # what each layer has, and documents in the class


def expanded(text: str) -> str:
    """A page's text with the directives in place of the marks."""
    return _MARK.sub(lambda found: "```{eval-rst}\n" + "\n".join(_directives(*found.groups())) + "\n```", text)


def _directives(path: str, kind: str) -> Iterator[str]:
    if kind == "methods":
        owner = _found(path)
        for name in sorted(n for n in dir(owner) if not n.startswith("_")):
            value = inspect.getattr_static(owner, name)
            called = callable(value) or isinstance(value, (classmethod, staticmethod))
            if getattr(value, "__doc__", None):
                yield f".. {'automethod' if called else 'autoattribute'}:: {path}.{name}\n"
        return
    module = importlib.import_module(path)
    for name in sorted(module.__all__, key=str.lower):
        value = getattr(module, name)
        if isinstance(value, type) and kind != "functions" and value is not Tensor:  # which has a page of its own
            again = "" if _home()[value] == path else "   :no-index:\n"
            yield f".. autoclass:: {path}.{name}\n   :members:\n   :exclude-members: {_SAME_EVERYWHERE}\n{again}"
        elif inspect.isroutine(value) and kind != "classes":
            yield f".. autofunction:: {path}.{name}\n"


@functools.cache
def _home() -> dict[type, str]:
    """The module in which a class has its entry of the index; that of `torch` comes last."""
    text = "".join(path.read_text(encoding="utf-8") for path in sorted(Path(__file__).parents[1].glob("api/*.md")))
    home: dict[type, str] = {}
    for path in sorted({path for path, kind in _MARK.findall(text) if kind != "methods"}, reverse=True):
        for name in importlib.import_module(path).__all__:
            value = getattr(importlib.import_module(path), name)
            if isinstance(value, type):
                home.setdefault(value, path)
    return home


def _found(path: str) -> Any:
    module, _, name = path.rpartition(".")
    return getattr(importlib.import_module(module), name)


def _plain(app: Sphinx, what: str, name: str, value: object, options: object, lines: list[str]) -> None:
    """Stars of shapes, `(*, in_features)`, begin no emphasis."""
    for index, line in enumerate(lines):
        if not line.lstrip().startswith((">>>", "...")):
            parts = line.split("``")  # every other one is code
            parts[::2] = [
                re.sub(r"(?<=[(\[ ,])\*+(?=[,)\]\w ])", lambda s: s[0].replace("*", "\\*"), p) for p in parts[::2]
            ]
            lines[index] = "``".join(parts)


def _python_domain() -> Any:
    """Sphinx's domain, which looks for each name once.

    A name that is nowhere, such as ``int`` in a signature, is compared with the ends of all six thousand that are: at
    each of its places, that was a quarter of the site's time. Pages are written when all names are known.
    """
    from sphinx.domains.python import PythonDomain  # here, since a test without Sphinx imports this module

    class Python(PythonDomain):
        def find_obj(self, env: Any, *name: Any) -> list[tuple[str, Any]]:
            known: dict[Any, list[tuple[str, Any]]] = self.__dict__.setdefault("known", {})
            if name not in known:
                known[name] = super().find_obj(env, *name)
            return known[name]

    return Python


def connect(app: Sphinx) -> None:
    """Let autodoc read docstrings as they are written: a single backtick quotes code."""
    app.add_domain(_python_domain(), override=True)
    app.config.default_role = "code"
    app.connect("autodoc-process-docstring", _plain)
