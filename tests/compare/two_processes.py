"""One program in two processes beside each other: on wengert under PyTorch's names, and on PyTorch."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any


def answers(program: Path) -> tuple[Any, Any]:
    """What the program prints as its last line, in JSON: on wengert, on PyTorch."""
    started = [
        subprocess.Popen([sys.executable, *command, str(program)], stdout=subprocess.PIPE, text=True)
        for command in (("-m", "wengert", "run"), ())
    ]
    printed = [process.communicate()[0] for process in started]
    assert [process.returncode for process in started] == [0, 0]
    ours, theirs = (json.loads(text.splitlines()[-1]) for text in printed)
    return ours, theirs
