"""What is passed on: licences, notices, and wheels and sdists that two builds make alike."""

from __future__ import annotations

import email
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
LICENCES = ["LICENSE", "NOTICE", "src/wengert/_cli/data/README.md"]


def test_the_licences_are_named_and_there() -> None:
    assert PROJECT["project"]["license"] == "MIT AND CC-BY-4.0"
    assert PROJECT["project"]["license-files"] == LICENCES
    for name in LICENCES:
        assert (ROOT / name).read_text()
    for name in ("LICENSE", "NOTICE", "SECURITY.md"):
        assert f"/{name}" in PROJECT["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]


BUILD = """
import os, sys
from hatchling import build
os.umask(int(sys.argv[1], 8))
build.build_wheel(".")
build.build_sdist(".")
"""


def built(folder: Path, umask: str, zone: str) -> dict[str, bytes]:
    """The wheel and the sdist of a copy of the tree."""
    ignored = shutil.ignore_patterns(".git", "__pycache__", ".venv", "dist", "build", ".*_cache", ".hypothesis")
    shutil.copytree(ROOT, folder, ignore=ignored)
    for path in folder.rglob("*.py"):
        os.utime(path, (1_000_000_000 + len(umask) * len(zone), 10**9))
    env = {**os.environ, "TZ": zone, "PYTHONDONTWRITEBYTECODE": "1"}
    env.pop("SOURCE_DATE_EPOCH", None)
    subprocess.run([sys.executable, "-c", BUILD, umask], cwd=folder, env=env, check=True, stdout=subprocess.DEVNULL)
    return {path.suffix: path.read_bytes() for path in (*folder.glob("*.whl"), *folder.glob("*.tar.gz"))}


def test_two_builds_give_the_same_bytes_and_hold_the_licences(tmp_path: Path) -> None:
    pytest.importorskip("hatchling")
    one, two = built(tmp_path / "one", "022", "UTC"), built(tmp_path / "two", "077", "Asia/Tokyo")
    assert len(one) == 2
    assert {k: hashlib.sha256(v).hexdigest() for k, v in one.items()} == {
        k: hashlib.sha256(v).hexdigest() for k, v in two.items()
    }
    with zipfile.ZipFile(next((tmp_path / "one").glob("*.whl"))) as wheel:
        inside = {name.partition(".dist-info/licenses/")[2] for name in wheel.namelist()}
        assert inside >= set(LICENCES)
        (metadata,) = (name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
        told = email.message_from_bytes(wheel.read(metadata))
        page = told.get_payload()
        assert "# wengert" in page and re.findall(r"\]\((?!https?:|#)", page) == []
        assert "](https://pypi.org/project/wengert/#files)" in page
        assert told["Description-Content-Type"] == "text/markdown"
        assert told.get_all("Project-URL") == [f"{k}, {v}" for k, v in PROJECT["project"]["urls"].items()]
        assert told["License-Expression"] == "MIT AND CC-BY-4.0" and told.get_all("License-File") == LICENCES
    with tarfile.open(next((tmp_path / "one").glob("*.tar.gz"))) as sdist:
        inside = {name.partition("/")[2] for name in sdist.getnames()}
        assert inside >= {*LICENCES, "SECURITY.md", "pyproject.toml", "hatch_build.py", "tests/saving/fuzzing.py"}
