"""Compiled kernels of large work: the same values as NumPy's path, and NumPy's path where the library is not right.

The kernels are those of the installed ``wengert-kernels``; without it their tests are skipped.
"""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from wengert._arrays.compiled import ABI

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
ULPS = 4


def run(program: list[str], **environment: str) -> subprocess.CompletedProcess[str]:
    given = {**os.environ, **environment}
    if environment.get("WENGERT_EMULATED") == "":
        del given["WENGERT_EMULATED"]
    patience = 3000 if "WENGERT_EMULATED" in given else 250
    done = subprocess.run(
        [sys.executable, *program], env=given, capture_output=True, text=True, timeout=patience, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done


def has_compiler() -> bool:
    return bool(os.environ.get("CC")) or any(map(shutil.which, ("cc", "gcc", "clang")))


@pytest.fixture(scope="module")
def installed() -> None:
    """The kernels are there: `.ci/run` has a step with them."""
    if importlib.util.find_spec("wengert_kernels") is None:
        pytest.skip("wengert-kernels is not installed (python -m pip install ./kernels)")


def results(tmp_path: Path, name: str, **environment: str) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    file = tmp_path / f"{name}.npz"
    done = run([str(HERE / "kernel_program.py"), str(file)], **environment)
    with np.load(file) as found:
        return dict(found), json.loads(done.stdout.splitlines()[-1])


@pytest.fixture(scope="module")
def numpys(tmp_path_factory: pytest.TempPathFactory) -> dict[str, np.ndarray]:
    found, said = results(tmp_path_factory.mktemp("numpy"), "numpy", WENGERT_KERNELS="0", WENGERT_EMULATED="")
    assert said == {"kernels": [], "variant": None}
    return found


def compare(ours: dict[str, np.ndarray], numpys: dict[str, np.ndarray]) -> None:
    """Equal within ULPS units of the last place of what was added up; nan, infinities, zeros' signs as NumPy's."""
    wrong = []
    for name, want in numpys.items():
        if name.endswith("|size"):
            continue
        got = ours[name]
        assert got.dtype == want.dtype
        assert got.shape == want.shape
        if want.dtype.kind != "f":
            if not np.array_equal(got, want):
                wrong.append(f"{name}: not equal")
            continue
        size = np.maximum(np.abs(want).astype(np.float64), numpys.get(f"{name}|size", 0.0))
        if "special" not in name:
            size = np.maximum(size, 1.0)  # the operands' size
        finite = np.isfinite(want)
        allowed = (
            ULPS * np.finfo(want.dtype).eps * np.where(finite, size, 0) + 2 * np.finfo(want.dtype).smallest_subnormal
        )
        with np.errstate(invalid="ignore", over="ignore"):
            bad = np.abs(got.astype(np.float64) - want.astype(np.float64)) > allowed
        bad &= finite
        bad |= (np.isnan(got) != np.isnan(want)) | (np.isinf(got) != np.isinf(want))
        bad |= np.isinf(want) & (np.sign(got) != np.sign(want))
        bad |= (want == 0) & (got == 0) & (np.signbit(got) != np.signbit(want)) & ("special" in name)
        if bad.any():
            at = tuple(np.argwhere(bad)[0]) if want.ndim else ()
            wrong.append(f"{name}: {int(bad.sum())} of {want.size}, {got[at]!r}, not {want[at]!r} at {at}")
    assert not wrong, "\n".join(wrong)


@pytest.fixture(scope="module")
def ours(installed: None, tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    # An LSTM's products are BLAS's own, whose digits depend on its threads: one, here and in the run with two of ours.
    threads = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "WENGERT_EMULATED": ""}
    return results(tmp_path_factory.mktemp("ours"), "ours", **threads)


def test_kernels_give_numpys_values(ours: Any, numpys: dict[str, np.ndarray]) -> None:
    found, said = ours
    compare(found, numpys)
    kinds = {name.partition("_")[0] for name in said["kernels"]}
    assert kinds >= {"body", "rows", "channels", "conv", "max", "step", "sum"}, said
    assert kinds >= {"lstm", "gru", "rnn", "groups", "mean", "running", "take", "add"}, said
    assert sum(name.startswith("body_") for name in said["kernels"]) > 60
    assert sum(name.startswith("step_") for name in said["kernels"]) >= 11


@pytest.mark.parametrize("variant", ["3", "2"])
def test_narrower_vectors(installed: None, numpys: dict[str, np.ndarray], tmp_path: Path, variant: str) -> None:
    compare(results(tmp_path, "narrow", WENGERT_KERNELS_VARIANT=variant)[0], numpys)


@pytest.mark.skipif("WENGERT_EMULATED" not in os.environ, reason="WENGERT_EMULATED names no compiler and emulator")
def test_on_another_processor(numpys: dict[str, np.ndarray], tmp_path: Path) -> None:
    found, said = results(tmp_path, "emulated", WENGERT_KERNELS="0")
    assert said["variant"] == "emulated"
    assert len(said["kernels"]) > 100
    compare(found, numpys)


def test_digits_do_not_depend_on_threads(ours: Any, tmp_path: Path) -> None:
    two, _ = results(tmp_path, "two", OMP_NUM_THREADS="2", OPENBLAS_NUM_THREADS="1")
    for name, want in ours[0].items():
        np.testing.assert_array_equal(two[name], want, err_msg=name)


PROGRAM = """
import logging, sys
logging.basicConfig(stream=sys.stdout, format="%(name)s: %(message)s")
import wengert as torch
assert "wengert_kernels" not in sys.modules
x = torch.ones(1000, 1000)
torch.ones(3).sum()
assert "wengert_kernels" not in sys.modules
print(round(x.softmax(1).sum().item()), (x + x).sum().item(), torch.nn.functional.silu(x).mean().item())
"""
NUMPYS = "1000 2000000.0 0.7310"


def broken(tmp_path: Path, library: bytes) -> str:
    package = tmp_path / "wengert_kernels"
    package.mkdir()
    (package / "__init__.py").write_text("raise ValueError('is never imported')")
    (package / "kernels.so").write_bytes(library)
    done = run(
        ["-c", PROGRAM],
        PYTHONPATH=os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")]),
        WENGERT_KERNELS="",
    )
    said, numbers = done.stdout.strip().splitlines()
    assert numbers.startswith(NUMPYS), numbers
    assert said.startswith("wengert.kernels: large work runs in NumPy: wengert-kernels: "), said
    return said


def test_a_file_that_is_no_library_is_said_once(tmp_path: Path) -> None:
    assert "kernels.so" in broken(tmp_path, b"not a library")


@pytest.mark.parametrize(
    ("abi", "version", "told"), [("7", '"0"', "its interface is 7"), (str(ABI), '"9.9"', "wengert 9.9")]
)
def test_another_version_is_said_once(tmp_path: Path, abi: str, version: str, told: str) -> None:
    if not has_compiler():
        pytest.skip("there is no C compiler to make a library with")
    source = tmp_path / "other.c"
    source.write_text(
        f"#include <stdint.h>\nint64_t wengert_kernels_abi(void) {{ return {abi}; }}\n"
        f"const char *wengert_kernels_version(void) {{ return {version}; }}\n"
        "const char *wengert_kernels_variant(void) { return 0; }\n"
        "void *wengert_kernels_find(const char *n) { return 0; }\n"
        "void wengert_kernels_run(void) {}\nvoid wengert_threads(int64_t n) {}\n"
    )
    cc = os.environ.get("CC", "").split() or [next(filter(None, map(shutil.which, ("cc", "gcc", "clang"))))]
    subprocess.run([*cc, "-shared", "-fPIC", str(source), "-o", str(tmp_path / "other.so")], check=True, timeout=60)
    assert told in broken(tmp_path, (tmp_path / "other.so").read_bytes())


def test_off_by_the_environment(installed: None) -> None:
    done = run(["-c", PROGRAM], WENGERT_KERNELS="0")
    assert done.stdout.startswith(NUMPYS)
    assert "NumPy" in run(["-m", "wengert", "info"], WENGERT_KERNELS="0").stdout.split("large work:")[1].splitlines()[0]


def test_info_names_the_library(installed: None) -> None:
    done = run(["-m", "wengert", "info"], WENGERT_KERNELS="")
    assert "wengert-kernels" in done.stdout.split("large work:")[1].splitlines()[0]


def test_the_c_is_generated_where_pip_takes_an_editable_install_away(tmp_path: Path) -> None:
    source = str(ROOT / "src")
    (tmp_path / "sitecustomize.py").write_text(
        "import sys\nsys.path[:] = [path for path in sys.path if not path.endswith('src')]\n"
    )
    made = tmp_path / "made"
    made.mkdir()
    build = f"import build_library, pathlib; build_library.generate(pathlib.Path({str(made)!r}))"
    run(["-c", build], PYTHONPATH=os.pathsep.join([str(tmp_path), str(ROOT / "kernels"), source]))
    assert sorted(file.name for file in made.iterdir()) == ["dispatch.c", "kernels.c"]
