"""Docstrings of public functions, which are completed when they are read.

NOTE [ Docstrings that are put together when they are read ]
    The parameters of 800 functions have 300 names, and one name means the same nearly everywhere. So a docstring says
    what is special about its function; ``Docstring`` adds the rest from the signature and the list of names when
    ``help``, ``inspect.getdoc``, doctest, Sphinx or ``print`` reads it. Until then it costs nothing. All of them but
    ``print`` begin with ``expandtabs``; to other methods of strings it is the docstring as it was written.
"""

from __future__ import annotations

from typing import Any


class Docstring(str):
    """A function's docstring, to which its parameters, its result and an example are added when it is read."""

    names: tuple[str, ...]

    def whole(self) -> str:
        """The docstring as it is shown."""
        from .help_text import whole

        return whole(str.__str__(self), self.names)

    def expandtabs(self, tabsize: Any = 8) -> str:
        return self.whole().expandtabs(tabsize)

    def __str__(self) -> str:
        return self.whole()


def described(doc: Any, names: tuple[str, ...]) -> Any:
    """A docstring of the function of these public names, and of those that it had before."""
    if not isinstance(doc, str):
        return doc
    made = Docstring(str.__str__(doc))
    made.names = (*getattr(doc, "names", ()), *names)
    return made
