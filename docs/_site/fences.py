"""Markdown as text and fenced blocks. It stands alone, so that tools and tests read it without Sphinx."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_FENCE = re.compile(r"^```(.*)$")
_STILL = re.compile(r"<!-- (quoted: .*|not run) -->$")


class Fence(NamedTuple):
    """A part of a page: the first line of a fenced block (None: text outside of blocks) and its text."""

    info: str | None
    body: str
    still: bool = False  # a comment before the block says that it is not to be run


def fences(text: str) -> Iterator[Fence]:
    """The parts of a page, in order."""
    info: str | None = None
    still = False
    held: list[str] = []
    for line in text.splitlines(keepends=True):
        found = _FENCE.match(line)
        if found is None or (info is not None and found[1].strip()):
            held.append(line)
        elif info is None:
            before = "".join(held)
            yield Fence(None, before)
            info, still, held = found[1].strip(), bool(_STILL.search(before.rstrip())), []
        else:
            yield Fence(info, "".join(held), still)
            info, held = None, []
    yield Fence(info, "".join(held), still)


def is_run(fence: Fence) -> bool:
    """Whether a block is a program or a session."""
    return fence.info is not None and not fence.still and fence.info.split()[:1] in (["python"], ["pycon"])
