"""The first recording of the session is made before any test's."""

from __future__ import annotations

import pytest

import wengert
from wengert._compile import dispatch


@pytest.fixture(autouse=True)
def _programs_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run programs in NumPy from their first call, whether they are faster or not."""
    monkeypatch.setattr(dispatch, "TRIALS", 0)
    monkeypatch.setattr(dispatch, "REST", 0)


@pytest.fixture(scope="session", autouse=True)
def _first_recording() -> None:
    """Let the recorder look at what `tests/conftest.py` has frozen, which it does once and with a freeze of its own.

    What that freeze hides, the recorder finds by no name: a function that was made before would run eagerly.
    """
    assert wengert.compile(lambda x: x + 1, backend="numpy")(wengert.ones(1)).item() == 2
