"""docs/modules.md: made from PyTorch's names, up to date, and the names are PyTorch's."""

from __future__ import annotations

import importlib
import inspect
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).parents[2]
NAMES = json.loads((ROOT / "tools" / "pytorch_2_13.json").read_text(encoding="utf-8"))


def test_the_document_is_up_to_date() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "tools" / "make_module_table.py"), "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_names_are_pytorchs(torch: ModuleType) -> None:
    kinds = {"nn": torch.nn.Module, "optim": torch.optim.Optimizer}
    for space, kind in kinds.items():
        module = importlib.import_module(f"torch.{space}")
        found = {n for n, c in vars(module).items() if inspect.isclass(c) and issubclass(c, kind)}
        assert found == set(NAMES[space])
    for space in ("distributions.transforms", "utils.data"):
        assert set(importlib.import_module(f"torch.{space}").__all__) == set(NAMES[space])
    for space, names in NAMES.items():
        module = importlib.import_module(f"torch.{space}")
        assert [n for n in names if not hasattr(module, n)] == []
