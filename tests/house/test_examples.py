"""The programs in examples/: they run, draw their picture, and print what PyTorch prints."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree
from pathlib import Path
from types import ModuleType

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
SHORT = {
    "char_gpt": ["--steps", "3"],
    "digits_cnn": ["--epochs", "1"],
    "gaussian_process": ["--steps", "30"],
    "neural_ode": ["--steps", "50"],
    "reinforce": ["--episodes", "25"],
    "vae": ["--epochs", "5"],
}
WHOLE = {name: ["--way", "new"] if name == "reinforce" else [] for name in SHORT}  # PyTorch has no old way any more


def printed(program: Path, out: Path, options: list[str]) -> str:
    """What a program prints, but for the name of its picture."""
    done = subprocess.run(
        [sys.executable, str(program), "--out", str(out), *options],
        capture_output=True,
        text=True,
        cwd=out,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return re.sub(r"^picture: .*\n", "", done.stdout, flags=re.MULTILINE)


def test_every_example_is_run_here() -> None:
    assert {path.stem for path in EXAMPLES.glob("*.py")} - {"common"} == set(SHORT)


@pytest.mark.parametrize("name", SHORT)
def test_runs_and_draws(name: str, tmp_path: Path) -> None:
    text = printed(EXAMPLES / f"{name}.py", tmp_path, SHORT[name])
    assert re.search(r"\d\.\d", text), text
    picture = xml.etree.ElementTree.parse(tmp_path / f"{name}.svg").getroot()
    assert picture.tag.endswith("svg")
    assert len(picture) > 5


def test_the_old_way_and_the_new_way_of_reinforce_agree(tmp_path: Path) -> None:
    lines = printed(EXAMPLES / "reinforce.py", tmp_path, ["--episodes", "50"]).splitlines()
    old = [line.removeprefix("old way") for line in lines if line.startswith("old")]
    new = [line.removeprefix("new way") for line in lines if line.startswith("new")]
    assert len(old) == 2
    assert old == new


@pytest.mark.parametrize("name", WHOLE)
def test_prints_what_pytorch_prints(torch: ModuleType, name: str, tmp_path: Path) -> None:
    source = (EXAMPLES / f"{name}.py").read_text(encoding="utf-8")
    source = source.replace("import wengert as torch", "import torch").replace("import wengert.", "import torch.")
    source = source.replace("from wengert", "from torch")
    source = source.replace("Path(__file__).resolve().parent.parent", f"Path({str(EXAMPLES.parent)!r})")
    theirs = tmp_path / f"{name}_of_pytorch.py"
    theirs.write_text(source, encoding="utf-8")
    shutil.copy(EXAMPLES / "common.py", tmp_path)
    assert printed(EXAMPLES / f"{name}.py", tmp_path, WHOLE[name]) == printed(theirs, tmp_path, WHOLE[name])
