"""scikit-learn's, SciPy's and array_api_extra's array API paths, on wengert as on PyTorch."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

PROGRAMS = Path(__file__).with_name("array_api_programs.py")
NEEDED = {"sklearn": ["sklearn"], "scipy": ["scipy"], "extra": ["array_api_compat", "array_api_extra"]}


def answers(library: str, what: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, str(PROGRAMS), library, what], capture_output=True, text=True, check=True, timeout=400
    )
    return dict(json.loads(line) for line in done.stdout.splitlines())


def agree(one: Any, two: Any) -> bool:
    if isinstance(one, list) and isinstance(two, list):
        return len(one) == len(two) and all(agree(a, b) for a, b in zip(one, two, strict=True))
    if isinstance(one, dict) and isinstance(two, dict):
        return one.keys() == two.keys() and all(agree(one[name], two[name]) for name in one if name != "says")
    if isinstance(one, float) or isinstance(two, float):
        return math.isclose(one, two, rel_tol=1e-5, abs_tol=1e-6) or (math.isnan(one) and math.isnan(two))
    return bool(one == two)


@pytest.mark.parametrize("what", NEEDED)
def test_what_runs_with_torch_runs_and_gives_the_same(torch: Any, what: str) -> None:
    for module in NEEDED[what]:
        pytest.importorskip(module, reason=f"{module} is not installed: pip install '.[compare]'")
    ours, theirs = answers("wengert", what), answers("torch", what)
    assert ours.keys() == theirs.keys()
    worked = [name for name, answer in theirs.items() if not (isinstance(answer, dict) and "error" in answer)]
    assert len(worked) > 0.9 * len(theirs)
    differing = {name: (ours[name], theirs[name]) for name in worked if not agree(ours[name], theirs[name])}
    assert differing == {}
