"""`python -m benchmarks` runs, and what it measured comes back from the files it writes. No figure is judged here."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
WORK = "mul, not recording"

pytest.importorskip("benchmarks", reason="the benchmarks come with a checkout")

from benchmarks import __main__ as command  # noqa: E402
from benchmarks import report, sweep, sweep_calls, sweep_floors  # noqa: E402
from benchmarks.works import works  # noqa: E402


def benchmarks(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command as a user does."""
    return subprocess.run(
        [sys.executable, "-m", "benchmarks", *arguments],
        cwd=ROOT, capture_output=True, text=True, timeout=240, check=False,
    )  # fmt: skip


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, dict[str, Any]]:
    """One quick run of one work: what it printed, and its data."""
    file = tmp_path_factory.mktemp("benchmarks") / "run.json"
    options = ["--quick", "--only", WORK, "--libs", "wengert", "--threads", "1", "--json", str(file)]
    done = benchmarks(*options)
    assert done.returncode == 0, done.stderr
    return done.stdout, json.loads(file.read_text(encoding="utf-8"))


def test_quick_run(quick: tuple[str, dict[str, Any]]) -> None:
    printed, data = quick
    assert printed.startswith("A quick run of ")
    assert f"| {WORK} |" in printed
    (work,) = data["works"]
    assert work["name"] == WORK and work["lacks"] == {}
    assert 0 < work["seconds"]["wengert"] == min(work["rounds"]["wengert"])
    assert data["quick"] is True and list(data["versions"]) == ["wengert"] and data["threads"] == 1


def test_data_make_the_table_again(quick: tuple[str, dict[str, Any]]) -> None:
    printed, data = quick
    assert report.table(data) == printed


def test_write_and_read_back(quick: tuple[str, dict[str, Any]], tmp_path: Path) -> None:
    printed, data = quick
    page = tmp_path / "benchmarks.md"
    page.write_text(f"before\n{report.BEGIN}\nold\n{report.END}\nafter\n", encoding="utf-8")
    report.write(page, data)
    assert page.read_text(encoding="utf-8") == f"before\n{report.BEGIN}\n{printed}{report.END}\nafter\n"
    assert json.loads(page.with_suffix(".json").read_text(encoding="utf-8")) == data
    report.write(page, data)
    assert page.read_text(encoding="utf-8").count(WORK) == printed.count(WORK), "a second run replaces the first"


def test_write_needs_its_marks(quick: tuple[str, dict[str, Any]], tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("nothing here\n", encoding="utf-8")
    with pytest.raises(ValueError, match="lacks the lines"):
        report.write(page, quick[1])
    assert page.read_text(encoding="utf-8") == "nothing here\n"


def made_up(wengert: float | None) -> dict[str, Any]:
    """The data of a run of one work with budget 0.5, in which torch took one second."""
    seconds = {"torch": 1.0} if wengert is None else {"torch": 1.0, "wengert": wengert}
    work = {
        "name": "w",
        "group": "small",
        "unit": "call",
        "budget": 0.5,
        "seconds": seconds,
        "peak_bytes": {},
        "lacks": {},
    }
    where = {"processor": "p", "cores": 2, "system": "s", "load": 0.0, "python": "3", "numpy": "2", "blas": "b"}
    return {
        "date": "d", "machine": where, "threads": 1, "quick": True, "versions": {"torch": "2", "wengert": "0"},
        "works": [work], "import_seconds": {}, "installed_bytes": {},
    }  # fmt: skip


@pytest.mark.parametrize(("seconds", "held"), [(0.4, True), (0.5, True), (0.6, False), (None, False)])
def test_a_budget_is_held_or_not(seconds: float | None, held: bool) -> None:
    data = made_up(seconds)
    assert [good for *_, good in report.verdicts(data)] == [held]
    assert ("1 of 1 budgets held" if held else "0 of 1 budgets held; missed: w") in report.table(data)


def test_slices_of_a_run_are_added() -> None:
    """A later slice replaces what it measured of a work, and keeps the rest."""
    first, second = made_up(0.4), made_up(0.3)
    for data, making in ((first, {"wengert-c": 2.0}), (second, {})):
        data["versions"]["wengert-c"] = "0"
        (work,) = data["works"]
        work |= {"rounds": {}, "making_seconds": making}
    second["works"].append({**second["works"][0], "name": "v"})
    (both,) = report.added([first], [second])
    assert [work["seconds"]["wengert"] for work in both["works"]] == [0.3, 0.3]
    assert [work["making_seconds"] for work in both["works"]] == [{"wengert-c": 2.0}, {}]
    text = report.table(both)
    assert "| geometric mean of 2 works |  |  | 0.30 | – |" in text and "| w | 2 s |" in text


def test_list_names_every_work() -> None:
    done = benchmarks("--list")
    assert done.returncode == 0
    assert done.stdout.splitlines() == [*(work.name for work in works(quick=False)), command.FOOTPRINT]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--libs", "numpy"], "no library numpy"),
        (["--only", "no such work"], "nothing has no such work in its name"),
        (["--threads", "0"], "at least 1"),
        (["--write", "x.md", "--only", "mul"], "--write keeps the table of one whole run"),
        (["--add", "--compiled"], "--add adds to the file of --json"),
        (["--make", "--compiled"], "--make needs --compiled, and --programs"),
    ],
)
def test_a_slip_is_a_usage_message(arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        command.parse(arguments)
    assert stopped.value.code == 2
    assert words in capsys.readouterr().err


def test_texts_of_the_sweep_are_spelled_out() -> None:
    assert sweep_calls._texts("a{1|2}{|, x}; b\nc") == ["a1", "a1, x", "a2", "a2, x", "b", "c"]
    texts = sweep_calls._texts(sweep_calls.EXPRESSIONS)
    assert len(texts) == len(set(texts)), "no expression is timed twice"
    assert sweep.SUM_CALL in texts


def test_sweep_says_which_bounds_are_held() -> None:
    timings = {sweep.SUM_CALL: (1.0, 0.5), "x + y, recording": (1.0, 0.5)}
    assert sweep.held(timings)
    assert "2 calls, geometric mean 0.500, 0 above 1" in sweep.report(timings, {}, Counter(), 2)
    assert not sweep.held({**timings, "slow": (1.0, 2.1)})
    assert not sweep.held({sweep.SUM_CALL: (1.0, 0.8)})


def test_calls_above_the_bound_have_a_floor_or_a_reason() -> None:
    timings = {"torch.kron(x, y)": (1.0, 3.0), "x + y, recording": (1.0, 3.0), "torch.linalg.qr(v)": (1.0, 4.0)}
    text = sweep.report(timings, {"torch.linalg.qr(v)": 3.0}, Counter(), 0)
    assert "above it in 1, above 1.4 (the least tape around them passes 2) in 1; a reason have 1, none 1:" in text
    assert "1  composed: several recorded operators, as in PyTorch" in text
    assert "torch.kron(x, y)  (composed)" in text


def test_reasons_name_calls_of_the_sweep() -> None:
    texts = {*sweep_calls._texts(sweep_calls.EXPRESSIONS), *sweep_calls._texts(sweep_calls.STATEMENTS)}
    assert set(sweep_floors.reasons()) <= {*texts, *sweep_calls._elementwise()}


@pytest.mark.compare
def test_floors_of_the_sweep_compute_what_the_calls_do() -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed: pip install '.[compare]'")
    operands = sweep_calls.operands(torch, False)
    floors = sweep_floors.floors()
    for line in sweep_floors.NN.strip().splitlines():
        for text in sweep_calls.spelled(line.partition(" = ")[0]):
            wanted = eval(text, operands).numpy()
            np.testing.assert_allclose(np.reshape(floors[text](), wanted.shape), wanted, atol=1e-5, err_msg=text)


@pytest.mark.compare
def test_sweep_runs(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="torch is not installed: pip install '.[compare]'")
    file = tmp_path / "sweep.json"
    arguments = ["--only", sweep.SUM_CALL, "--rounds", "1", "--json", str(file)]
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.sweep", *arguments],
        cwd=ROOT, capture_output=True, text=True, timeout=240, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("2 calls, geometric mean ")
    figures = json.loads(file.read_text(encoding="utf-8"))
    assert list(figures) == [sweep.SUM_CALL, f"{sweep.SUM_CALL}, recording"]
    assert all(seconds > 0 for pair in figures.values() for seconds in pair)
