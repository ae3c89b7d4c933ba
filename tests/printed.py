"""Texts that programs print, compared but for the last digits of their numbers."""

from __future__ import annotations

import re

NUMBER = re.compile(r"-?\d+\.\d+")


def alike(ours: str, theirs: str) -> bool:
    """Whether two texts are equal, but for the last printed digit of numbers with a point.

    That digit depends on the order of sums, and on which of a function's neighbours the processor's code finds.
    """
    if NUMBER.sub("#", ours) != NUMBER.sub("#", theirs):
        return False
    return all(
        abs(float(mine) - float(other)) <= 1.5 * 10.0 ** -len(other.partition(".")[2]) + 1e-6 * abs(float(other))
        for mine, other in zip(NUMBER.findall(ours), NUMBER.findall(theirs), strict=True)
    )
