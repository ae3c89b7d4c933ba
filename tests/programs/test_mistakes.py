"""Fifty mistakes: the errors below them name the mend, and the mended programs run."""

from __future__ import annotations

import linecache
import traceback
import warnings
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import pytest

import wengert
from wengert._base.errors import INTERNAL

FILE = Path(__file__).parents[1] / "data" / "mistakes.txt"


class Mistake(NamedTuple):
    name: str
    fails: str
    works: str
    words: str


def mistakes() -> list[Mistake]:
    text = "\n".join(line for line in FILE.read_text(encoding="utf-8").splitlines() if not line.startswith("# "))
    return [
        Mistake(name, *(part.strip("\n") for part in rest.split("\n--\n")))
        for name, _, rest in (case.partition("\n") for case in text.split("== ")[1:])
    ]


MISTAKES = mistakes()


def run(text: str, torch: ModuleType, name: str) -> None:
    filename = f"<{name}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    exec(compile(text, filename, "exec"), {"torch": torch, "nn": torch.nn, "F": torch.nn.functional})


def error_of(mistake: Mistake, torch: ModuleType) -> Exception:
    with warnings.catch_warnings(), pytest.raises(Exception) as caught:
        warnings.simplefilter("ignore")
        run(mistake.fails, torch, mistake.name)
    assert isinstance(caught.value, Exception)
    return caught.value


NAMED = [pytest.param(mistake, id=mistake.name) for mistake in MISTAKES]


@pytest.mark.parametrize("mistake", NAMED)
def test_the_notes_name_the_mend(mistake: Mistake) -> None:
    error = error_of(mistake, wengert)
    notes = "\n".join(getattr(error, "__notes__", ()))
    if mistake.words == "-":
        assert not INTERNAL[traceback.extract_tb(error.__traceback__)[-1].filename]
    else:
        assert mistake.words in notes, f"{error}\n{notes}"


@pytest.mark.parametrize("mistake", NAMED)
def test_the_mended_program_runs(mistake: Mistake) -> None:
    run(mistake.works, wengert, f"{mistake.name}, mended")


@pytest.mark.parametrize("mistake", NAMED)
def test_pytorch_refuses_and_accepts_the_same(torch: ModuleType, mistake: Mistake) -> None:
    ours, theirs = error_of(mistake, wengert), error_of(mistake, torch)
    assert type(ours).__name__ == type(theirs).__name__
    assert str(ours).split("\n")[0].split(". ")[0][:60] == str(theirs).split("\n")[0].split(". ")[0][:60]
    run(mistake.works, torch, f"{mistake.name}, mended")


def test_fifty_mistakes_and_their_frames() -> None:
    assert len(MISTAKES) == 50
    assert sum(mistake.words != "-" for mistake in MISTAKES) >= 45
    counts = [
        sum(INTERNAL[entry.filename] for entry in traceback.extract_tb(error_of(mistake, wengert).__traceback__))
        for mistake in MISTAKES
    ]
    assert sorted(counts)[25] <= 1
    assert max(counts) <= 3
