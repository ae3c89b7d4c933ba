"""What every test stands on: the same random numbers each time, no garbage collector where leaks are looked for, and
the real torch where it is installed."""

from __future__ import annotations

import faulthandler
import functools
import gc
import importlib.metadata
import importlib.util
import random
import re
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import hypothesis
import numpy as np
import pytest
from _pytest.faulthandler import fault_handler_stderr_fd_key

HERE = Path(__file__).parent

# A failure must come again when the test is run again: examples are derived from the test, not from the clock.
# `--hypothesis-profile=explore` looks at new ones, more of them.
hypothesis.settings.register_profile("fixed", derandomize=True, deadline=None, database=None)
hypothesis.settings.register_profile("explore", max_examples=2000, deadline=None)
hypothesis.settings.load_profile("fixed")


@pytest.fixture(autouse=True)
def _fixed_randomness() -> None:
    """Every test starts from the same state of every generator, so that none depends on which ran before it."""
    import wengert

    random.seed(0)
    np.random.seed(0)
    wengert.manual_seed(0)
    real_torch = sys.modules.get("torch")
    if real_torch is not None and real_torch is not wengert:
        real_torch.manual_seed(0)


@pytest.fixture(autouse=True)
def _warnings_come_again() -> None:
    """What is warned of once in a process is warned of in every test that does it, whichever ran before."""
    from wengert._base import errors

    errors.warned.clear()


@pytest.fixture(autouse=True)
def _bfloat16_is_forgotten() -> Iterator[None]:
    """Operators leave the hot path as soon as there is a bfloat16 array; the next test begins without."""
    yield
    module = sys.modules.get("wengert._kinds.bfloat16")
    if module is not None:
        module.detach()


@pytest.fixture
def no_gc() -> Iterator[None]:
    """The garbage collector off: what is still alive inside is held by a reference, what died needed no collector."""
    was_enabled = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


_armed = 0.0


def pytest_runtest_setup(item: pytest.Item) -> None:
    """A test that hangs prints every thread's traceback after five to six minutes.

    pytest's own `faulthandler_timeout` starts and joins a thread at every test: on busy cores a sixth of the time of
    short ones.
    """
    global _armed
    if time.monotonic() > _armed + 60 and sys.platform != "emscripten":
        _armed = time.monotonic()
        faulthandler.dump_traceback_later(360, file=item.config.stash[fault_handler_stderr_fd_key])


def pytest_sessionfinish() -> None:
    faulthandler.cancel_dump_traceback_later()


def _import_torch() -> ModuleType:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip("torch", reason="torch is not installed: pip install '.[compare]'")


@pytest.fixture
def torch() -> ModuleType:
    """The real torch; the test is skipped where it is not installed, and is marked `compare`."""
    return _import_torch()


@functools.cache
def _holds_torch(module: ModuleType | None) -> bool:
    real_torch = sys.modules.get("torch")
    if real_torch is None or module is None or getattr(real_torch, "__name__", "") != "torch":
        return False
    return any(value is real_torch for value in vars(module).values())


@functools.cache
def _may_compare(path: Path) -> bool:
    """Whether a file's text shows a need of torch: a parameter of that name, or a module that may be missing."""
    shown = re.search(r"(\(|, )torch(:|,|\))|importorskip|compare", path.read_text(encoding="utf-8"))
    return bool(shown) or (HERE / "compare") in path.parents


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Where only comparisons run (`-m compare`), files without any are not read: half a minute of each worker."""
    if config.option.markexpr != "compare" or collection_path.suffix != ".py":
        return None
    return None if _may_compare(collection_path) else True


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks `compare` what needs torch: tests/compare, what uses the fixture `torch`, and modules that hold torch."""
    for item in items:
        if (
            "torch" in getattr(item, "fixturenames", ())
            or (HERE / "compare") in item.path.parents
            or _holds_torch(getattr(item, "module", None))
        ):
            item.add_marker("compare")
            assert _may_compare(item.path), f"{item.path} would not be read by `-m compare`"


def pytest_collection_finish() -> None:
    """What has been collected stays to the end: without this, every `gc.collect()` of a test goes through all of it."""
    gc.collect()
    gc.freeze()


def pytest_report_header() -> list[str]:
    """Which package is tested: the installed one, and not a source tree that happens to lie on the path."""
    spec = importlib.util.find_spec("wengert")
    place = spec.origin if spec else "not installed: pip install '.[test]'"
    return [f"wengert: {place}", f"numpy: {np.__version__}, torch: {_torch_version()}"]


def _torch_version() -> str:
    try:
        return importlib.metadata.version("torch")
    except importlib.metadata.PackageNotFoundError:
        return "not installed (tests marked `compare` are skipped)"
