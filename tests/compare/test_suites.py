"""A test-suite written with ``torch.testing._internal``: the same names, the same outcomes."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

SUITE = Path(__file__).parent.parent / "programs" / "suite.py"


def outcome(*command: str) -> str:
    """What the tests print, without times and reasons."""
    env = {k: v for k, v in os.environ.items() if k != "CI"}  # by which PyTorch's helpers ask for reports in XML
    ran = subprocess.run(
        [sys.executable, *command, str(SUITE), "-v"], capture_output=True, text=True, env=env, check=False
    )
    text = re.sub(r"skipped .*|in [0-9.]+s", "", ran.stdout + ran.stderr)
    return re.sub(r"0x[0-9a-f]+", "0x", text)


def test_the_same_tests(torch: ModuleType) -> None:
    ours, theirs = outcome("-m", "wengert", "run"), outcome()
    assert ours == theirs
    assert "OK" in ours
