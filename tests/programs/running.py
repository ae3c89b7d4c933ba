"""Programs that run on wengert and on the real torch alike, and what they log.

A program is a function ``prog(T, L, err)``: ``T`` is the module (``wengert`` or ``torch``), ``L(*values)`` writes a
line of the log, ``err(fn, *args)`` calls and logs the result or the error. ``tests/data/programs_NAME.json`` holds the
logs of torch 2.13, so that the tests stand where torch is not installed; ``python -m programs.running`` in ``tests``
writes them again.
"""

from __future__ import annotations

import importlib
import json
import re
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

DATA = Path(__file__).parent.parent / "data"
MODULES = ("engine", "functions", "forward", "transforms", "checks")


def programs(name: str) -> dict[str, Callable[..., None]]:
    """The programs of one module, by name."""
    module = importlib.import_module(f"programs.{name}")
    return {k.removeprefix("prog_"): v for k, v in vars(module).items() if k.startswith("prog_")}


def recorded(name: str) -> dict[str, list[str]]:
    """What torch logged."""
    return json.loads((DATA / f"programs_{name}.json").read_text())


def log_of(prog: Callable[..., None], T: ModuleType) -> list[str]:
    """Run one program."""
    log: list[str] = []

    def write(*values: Any) -> None:
        log.append(" ".join(v if isinstance(v, str) else text(v, T) for v in values))

    def err(fn: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
        try:
            result = fn(*args, **kwargs)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is logged
            write(f"{type(error).__name__}: {plain(str(error))[:400]}")
        else:
            write("no error", result)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        prog(T, write, err)
    return log


def number(x: Any) -> str:
    if isinstance(x, complex):
        return f"{number(x.real)}+{number(x.imag)}j"
    if isinstance(x, float):
        return f"{0.0 if x == 0 else x:.5g}"
    return str(x)


def numbers(x: Any) -> str:
    return "[" + ", ".join(map(numbers, x)) + "]" if isinstance(x, list) else number(x)


def plain(s: str) -> str:
    s = re.sub(r"0x[0-9a-f]+", "0x", s)
    s = re.sub(r"<(function|lambda) [^>]*>", r"<\1>", s)
    return s.replace("wengert", "torch").replace("programs.", "")


def text(v: Any, T: ModuleType) -> str:
    """A value as it stands in a log: rounded, and without what differs by implementation."""
    if isinstance(v, T.Tensor):
        return f"T{numbers(v.detach().tolist())}{v.dtype}{v.requires_grad}"
    if type(v) in (tuple, list):
        return type(v).__name__ + "(" + ", ".join(text(x, T) for x in v) + ")"
    if isinstance(v, tuple) and hasattr(v, "_fields"):
        return type(v).__name__ + "(" + ", ".join(f"{f}={text(x, T)}" for f, x in zip(v._fields, v, strict=True)) + ")"
    if type(v) is dict:
        return "{" + ", ".join(f"{k}: {text(x, T)}" for k, x in v.items()) + "}"
    if isinstance(v, float):
        return number(v)
    return plain(repr(v))


def main() -> None:
    """Write the logs of the installed torch."""
    import torch

    for name in sys.argv[1:] or MODULES:
        logs = {k: log_of(prog, torch) for k, prog in programs(name).items()}
        (DATA / f"programs_{name}.json").write_text(json.dumps(logs, indent=0) + "\n")


if __name__ == "__main__":
    main()
