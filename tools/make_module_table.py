"""Writes docs/modules.md: which of PyTorch's layers, optimizers, schedules, distributions and data tools wengert has.

    python tools/make_module_table.py            write it
    python tools/make_module_table.py --check    exit with 1 if it is not what would be written

PyTorch's names are in tools/pytorch_2_13.json, which tests/house/test_modules_table.py compares with PyTorch where it
is installed. wengert's names are looked up; the reasons for missing names are written in this file.
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "src"))

DOCUMENT = ROOT / "docs" / "modules.md"
NAMES = ROOT / "tools" / "pytorch_2_13.json"

TITLES = {
    "nn": "Layers, losses and containers: `torch.nn`",
    "nn.utils": "`torch.nn.utils`",
    "nn.init": "Initial values: `torch.nn.init`",
    "optim": "Optimizers: `torch.optim`",
    "optim.lr_scheduler": "Schedules: `torch.optim.lr_scheduler`",
    "optim.swa_utils": "Averages of weights: `torch.optim.swa_utils`",
    "distributions": "Distributions: `torch.distributions`",
    "distributions.transforms": "Transforms: `torch.distributions.transforms`",
    "utils.data": "Data: `torch.utils.data`",
}
_PIPES = "datapipes are deprecated in PyTorch; write a Dataset"
WHY_NOT = {
    **dict.fromkeys(
        (
            "DFIterDataPipe",
            "DataChunk",
            "IterDataPipe",
            "MapDataPipe",
            "argument_validation",
            "functional_datapipe",
            "guaranteed_datapipes_determinism",
            "non_deterministic",
            "runtime_validation",
            "runtime_validation_disabled",
        ),
        _PIPES,
    ),
}


def is_here(space: str, name: str) -> bool:
    """Whether wengert has the name."""
    try:
        module = importlib.import_module(f"wengert.{space}")
    except ImportError:
        return False
    return hasattr(module, name)


def text() -> str:
    """The document."""
    lines = [
        "# PyTorch's modules in wengert",
        "",
        (
            "PyTorch's layers, optimizers, schedules and distributions, and which of them wengert has. "
            "Operators and functions are in [operators.md](operators.md)."
        ),
        "",
        "<!-- Made by tools/make_module_table.py; do not edit. -->",
    ]
    for space, names in json.loads(NAMES.read_text(encoding="utf-8")).items():
        rows = [(name, is_here(space, name)) for name in names]
        here = sum(found for _, found in rows)
        lines += [
            "",
            f"## {TITLES[space]}",
            "",
            f"{here} of {len(rows)}.",
            "",
            "| name | here | why not |",
            "|---|---|---|",
        ]
        lines += [
            f"| `{n}` | {'yes' if found else 'no'} | {'' if found else WHY_NOT.get(n, '?')} |" for n, found in rows
        ]
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="only say whether the document is up to date")
    made = text()
    if "| ? |" in made:
        print(
            "no reason is given for: " + ", ".join(line.split("`")[1] for line in made.splitlines() if "| ? |" in line)
        )
        return 1
    if parser.parse_args().check:
        if DOCUMENT.exists() and DOCUMENT.read_text(encoding="utf-8") == made:
            return 0
        print(f"{DOCUMENT} is not up to date: python tools/make_module_table.py")
        return 1
    DOCUMENT.write_text(made, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
