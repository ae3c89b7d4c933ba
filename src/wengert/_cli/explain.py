"""`python -m wengert explain`: the page about an error, or a program that is watched for its first NaN."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

from . import UsageError, run


def is_code(word: str) -> bool:
    """Whether a word is the code of an error: ``W001``."""
    return re.fullmatch(r"[wW]\d{3}", word) is not None


def page(code: str) -> int:
    """Print the page about an error."""
    print(sections()[code] if code in sections() else _missing(code))
    return 0


def _missing(code: str) -> str:
    known = sorted(sections())
    raise UsageError(f"there is no page {code}: the codes are {known[0]} to {known[-1]}")


def sections() -> dict[str, str]:
    """The pages of docs/errors.md by code, as they are in the installed package or in a checkout."""
    path: Any = files("wengert._cli").joinpath("data", "errors.md")
    if not path.is_file():
        path = Path(__file__).resolve().parents[3] / "docs" / "errors.md"
    text = path.read_text(encoding="utf-8")
    parts = re.split(r'^<a id="(W\d+)"></a>\n', text, flags=re.MULTILINE)
    return {code: part.strip() for code, part in zip(parts[1::2], parts[2::2], strict=True)}


def program(path: str, arguments: list[str]) -> int:
    """Run a program as `run` does, and explain on standard error the first cotangent that is not finite."""
    from wengert._tape import engine
    from wengert.explain._passes import FirstBad

    watcher: Callable[..., Any] = FirstBad(lambda answer: print(f"\nexplain: {answer}\n", file=sys.stderr))
    engine.observers.append(watcher)
    return run.run_file(path, arguments)
