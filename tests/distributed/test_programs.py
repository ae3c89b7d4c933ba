"""Programs as people write them for DistributedDataParallel, on two processes: they print what PyTorch prints.

`programs/printed.json` holds what they print under PyTorch and gloo. One group is launched for all of them, since a
start takes longer than most. `python tests/distributed/test_programs.py [NAME...]` writes the file, or parts, anew.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).resolve().parent
PRINTED = HERE / "programs" / "printed.json"
NAMES = (
    "accumulation", "checkpoint", "comm_hooks", "elastic", "gan", "join", "language_model", "loader", "metrics",
    "mnist_ddp", "sharded", "unused", "wrapper", "zero",
)  # fmt: skip
WENGERT = [sys.executable, "-m", "wengert.distributed.run"]
TORCH = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
ON_FOUR = ("join", "sharded", "unused", "zero")  # those of which two processes are a special case


def run(launcher: list[str], out: Path, names: tuple[str, ...], ranks: int = 2) -> dict[str, str]:
    """What each rank of each program prints, by `name.rank`."""
    env = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    command = [*launcher, "--nproc-per-node", str(ranks), str(HERE / "run_programs.py"), str(out), *names]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=120, check=False)
    printed = {path.stem: path.read_text() for path in sorted(out.glob("*.txt"))}
    assert done.returncode == 0, done.stderr[-4000:] + "".join(text[-500:] for text in printed.values())
    return printed


def same(ours: str, theirs: str) -> None:
    from printed import alike  # tests alone find it, not the command that writes printed.json

    assert alike(ours, theirs), f"{ours}\n\nwhere PyTorch prints\n\n{theirs}"


@pytest.fixture(scope="module")
def printed(tmp_path_factory: Any) -> dict[str, str]:
    if importlib.util.find_spec("mpi4py") is None:
        pytest.skip("several processes need mpi4py: python -m pip install '.[mpi]'")
    return run(WENGERT, tmp_path_factory.mktemp("printed"), (*NAMES, "own_checks"))


@pytest.mark.parametrize("name", NAMES)
def test_a_program_prints_what_it_prints_under_pytorch(printed: dict[str, str], name: str) -> None:
    expected = json.loads(PRINTED.read_text())
    for rank in (0, 1):
        same(printed[f"{name}.{rank}"], expected[f"{name}.{rank}"])


def test_four_processes(tmp_path: Path) -> None:
    if importlib.util.find_spec("mpi4py") is None:
        pytest.skip("several processes need mpi4py: python -m pip install '.[mpi]'")
    expected = json.loads(PRINTED.read_text())["on four"]
    for key, text in run(WENGERT, tmp_path, ON_FOUR, 4).items():
        same(text, expected[key])


def test_what_pytorch_needs_gpus_for(printed: dict[str, str]) -> None:
    assert printed["own_checks.0"] == printed["own_checks.1"] == "all checks passed\n"


def test_a_program_that_starts_its_processes_itself() -> None:
    if importlib.util.find_spec("mpi4py") is None:
        pytest.skip("several processes need mpi4py: python -m pip install '.[mpi]'")
    command = [sys.executable, "-m", "wengert", "run", str(HERE / "programs" / "spawned.py")]
    env = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    same(done.stdout, json.loads(PRINTED.read_text())["spawned"])


def written(names: tuple[str, ...]) -> dict[str, Any]:
    """What PyTorch prints."""
    texts: dict[str, Any] = {}
    for name in names:  # each by itself: gloo does not always end a group before the next one begins
        if name == "spawned":
            command = [sys.executable, str(HERE / "programs" / "spawned.py")]
            texts[name] = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout
        elif name == "on four":
            with tempfile.TemporaryDirectory() as folder:
                for one in ON_FOUR:
                    texts[name] = run_pytorch(Path(folder), one, 4)
        else:
            with tempfile.TemporaryDirectory() as folder:
                texts.update(run_pytorch(Path(folder), name))
    return texts


def run_pytorch(out: Path, name: str, ranks: int = 2) -> dict[str, str]:
    """Run a program on PyTorch, up to three times: a process of gloo now and then aborts as it ends, which ends all."""
    for _ in range(2):
        with contextlib.suppress(AssertionError):
            return run(TORCH, out, (name,), ranks)
    return run(TORCH, out, (name,), ranks)


@pytest.mark.compare
@pytest.mark.parametrize("name", ["wrapper", "unused", "join"])
def test_the_file_holds_what_pytorch_prints(torch: Any, name: str) -> None:
    before = json.loads(PRINTED.read_text())
    for key, text in written((name,)).items():
        same(before[key], text)


if __name__ == "__main__":
    asked = tuple(sys.argv[1:])
    texts = (json.loads(PRINTED.read_text()) if asked else {}) | written(asked or (*NAMES, "spawned", "on four"))
    PRINTED.write_text(json.dumps(texts, indent=1, sort_keys=True) + "\n")
