"""20,000 random hostile files: see ``tests/saving/fuzzing.py``, which also runs a million."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import ModuleType

import pytest

import wengert

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs limits of memory, and files without a name")


@pytest.fixture(scope="module")
def fuzzing() -> ModuleType:
    from saving import fuzzing

    return fuzzing


def test_every_file_loads_or_is_a_documented_error(fuzzing: ModuleType, tmp_path: Path) -> None:
    counts, wrong = fuzzing.run(20_000, 0, 2, str(tmp_path))
    assert not wrong, "\n".join(map(str, wrong[: fuzzing.MAX_SHOWN]))
    assert sum(counts.values()) == 20_000
    for kind in ("zip", "stream"):  # the files come far enough to be worth it
        assert counts[f"{kind} loaded"] > 2000


def test_a_file_depends_on_its_number_alone(fuzzing: ModuleType) -> None:
    one, two = (fuzzing.Source(wengert, 3) for _ in range(2))
    forwards = [one.file(n) for n in range(50)]
    assert forwards == [two.file(n) for n in reversed(range(50))][::-1]


@pytest.mark.parametrize(
    "program", ["raise KeyError(1)", "raise RecursionError", "bytearray(1 << 30)", "while True: pass"]
)
def test_what_it_finds(fuzzing: ModuleType, program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A loader with a fault of each kind, in place of ``torch.load``."""
    broken = tmp_path / "broken.py"
    text = Path(fuzzing.__file__).read_text()
    broken.write_text(
        text.replace("got = torch.load(io.BytesIO(data))", f"exec({program!r})").replace(
            "SECONDS = 4.0", "SECONDS = 0.2"
        )
    )
    monkeypatch.setattr(fuzzing, "__file__", str(broken))
    counts, wrong = fuzzing.run(4, 0, 1, str(tmp_path))
    found = {line["error"] for line in wrong}
    assert len(found) == 1 and found <= {"KeyError", "RecursionError", "MemoryError", "TooSlow"}
    assert counts and json.dumps(wrong)


def test_a_crash_is_found(fuzzing: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = tmp_path / "broken.py"
    text = Path(fuzzing.__file__).read_text()
    broken.write_text(text.replace("got = torch.load(io.BytesIO(data))", "os.kill(os.getpid(), signal.SIGSEGV)"))
    monkeypatch.setattr(fuzzing, "__file__", str(broken))
    _, wrong = fuzzing.run(10, 0, 1, str(tmp_path))
    assert [line["error"] for line in wrong] == ["the process ended with -11"] and 0 <= wrong[0]["number"] < 10
