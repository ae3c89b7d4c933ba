"""Every public operator of PyTorch is here, or docs/absent.md says why not."""

from __future__ import annotations

import inspect
from functools import reduce
from pathlib import Path
from typing import Any

import pytest

import wengert
from wengert._base.absent_names import ABSENT, why

SPACES = ("", "Tensor", "nn.functional", "linalg", "fft", "special", "signal.windows", "masked")
DOCS = Path(__file__).parents[2] / "docs"


def operators(torch: Any, space: str) -> set[str]:
    """The public functions and methods that PyTorch has there."""
    if not space:
        return {name for name in dir(torch._C._VariableFunctions) if not name.startswith("_")}
    home = reduce(getattr, space.split("."), torch)
    names = {name for name in dir(home) if not name.startswith("_")}
    if space == "Tensor":
        return names
    return {
        name for name in names if inspect.isroutine(getattr(home, name)) and "typing" not in str(getattr(home, name))
    }


@pytest.mark.parametrize("space", SPACES)
def test_absent_names_have_a_reason(space: str, torch: Any) -> None:
    mine = reduce(getattr, space.split("."), wengert) if space else wengert
    absent = {name for name in operators(torch, space) if not hasattr(mine, name)}
    assert sorted(name for name in absent if why(name) is None) == []


def test_the_page_has_every_reason() -> None:
    text = (DOCS / "absent.md").read_text(encoding="utf-8")
    for what, (reason, _) in ABSENT.items():
        assert f"## {what}\n" in text
        assert reason in text


def test_the_error_says_why() -> None:
    assert not hasattr(wengert, "quantize_per_tensor")
    with pytest.raises(AttributeError, match="has no attribute 'sparse_bsr_tensor'") as caught:
        wengert.sparse_bsr_tensor
    assert any("CSR holds the same elements" in note for note in caught.value.__notes__)
