"""Warnings point at the user's line, through however many frames of the package they come."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import wengert as torch
from wengert import nn

SOURCES = Path(torch.__file__).parent
ITS_OWN = {"_base/errors.py", "_base/numpy_first.py", "_compat/_imports.py", "_compat/_functorch/functorch/__init__.py"}


def hooked() -> Any:
    net = nn.Sequential(nn.Linear(2, 2))
    net.register_full_backward_hook(lambda *_: None)
    return net(torch.ones(1, 2)).sum().backward()


@pytest.mark.parametrize(
    "call",
    [
        hooked,
        lambda: (torch.ones(2, requires_grad=True) * 2).grad,
        lambda: nn.L1Loss(size_average=True),
        lambda: nn.LSTM(2, 2, 1, dropout=0.5),
        lambda: nn.utils.clip_grad_norm_((p for p in ()), 1.0),
        lambda: torch.utils.checkpoint.checkpoint(lambda a: a, torch.ones(2), use_reentrant=True),
        lambda: torch.optim.lr_scheduler.StepLR(torch.optim.SGD([torch.ones(1)], 0.1), 1).step(),
        lambda: nn.init.kaiming_normal_(torch.empty(2, 0)),
    ],
)
def test_a_warning_names_the_line_of_the_program(call: Callable[[], Any]) -> None:
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        call()
    code = call.__code__
    lines = {line for _, _, line in code.co_lines() if line}
    assert seen
    assert [(w.filename, w.lineno in lines) for w in seen] == [(code.co_filename, True)] * len(seen)


def test_no_module_counts_the_frames_above_it() -> None:
    """``errors.warn`` finds the user's frame; the modules named here are those that it cannot serve."""
    found = set()
    for path in SOURCES.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)) if "warnings.warn" in text else ():
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "warnings.warn":
                found.add(path.relative_to(SOURCES).as_posix())
    assert found <= ITS_OWN, f"use wengert._base.errors.warn in {sorted(found - ITS_OWN)}"
