"""``torch.__version__``: the version of PyTorch that wengert follows, with wengert's version after the plus sign.

Programs check it to choose what to call, so it must be PyTorch's. wengert's version is ``torch.version.wengert``.

>>> import wengert as torch
>>> torch.__version__ >= "2.0", torch.__version__ >= (2, 10), torch.__version__.split(".")[:2]
(True, True, ['2', '13'])
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from ._version import __version__ as _own

__all__ = ["TorchVersion"]

FOLLOWS = "2.13.0"
_STAGES = {"dev": -4, "a": -3, "alpha": -3, "b": -2, "beta": -2, "rc": -1, "post": 1}
_PARTS = r"v?(\d+(?:\.\d+)*)[-_.]?(?:(dev|alpha|a|beta|b|rc|post)[-_.]?(\d*))?.*?(?:\+(.*))?$"


class TorchVersion(str):
    """A string that compares as a version, with strings and with tuples of numbers.

    >>> from wengert.torch_version import TorchVersion
    >>> TorchVersion("1.10.0a") > "1.2", TorchVersion("1.10.0") >= (1, 10)
    (True, True)
    """

    __slots__ = ()

    def __lt__(self, other: Any) -> bool:
        return _ordered(self, other) < 0

    def __le__(self, other: Any) -> bool:
        return _ordered(self, other) <= 0

    def __gt__(self, other: Any) -> bool:
        return _ordered(self, other) > 0

    def __ge__(self, other: Any) -> bool:
        return _ordered(self, other) >= 0

    def __eq__(self, other: object) -> bool:
        return _ordered(self, other) == 0

    def __ne__(self, other: object) -> bool:
        return _ordered(self, other) != 0

    __hash__ = str.__hash__


def _ordered(a: str, b: Any) -> int:
    """-1, 0 or 1 if ``a`` is less than, equal to or greater than ``b``; invalid versions compare as strings."""
    if not isinstance(b, str):
        b = ".".join(map(str, b)) if isinstance(b, Iterable) else str(b)  # packaging's Version too
    one, other = _key(a), _key(b)
    if one is None or other is None:
        one, other = (str.__str__(a),), (str.__str__(b),)
    return (one > other) - (one < other)


def _key(text: str) -> tuple[Any, ...] | None:
    """The sort key of a version (PEP 440): numbers without trailing zeros, stage, local part."""
    found = re.match(_PARTS, text, re.IGNORECASE)
    if found is None:
        return None
    numbers = [int(n) for n in found[1].split(".")]
    while numbers and not numbers[-1]:
        numbers.pop()
    stage = _STAGES.get((found[2] or "").lower(), 0)
    local = [(1, int(p), "") if p.isdigit() else (0, 0, p) for p in re.split(r"[-_.]", found[4] or "") if p]
    return tuple(numbers), stage, int(found[3] or 0), tuple(local)


__version__ = TorchVersion(f"{FOLLOWS}+wengert.{_own}")
