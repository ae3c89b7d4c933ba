"""What every test stands on: the same random numbers each time, no garbage collector where leaks are looked for, and
the real torch where it is installed."""

from __future__ import annotations

import faulthandler
import functools
import gc
import importlib.metadata
import importlib.util
import inspect
import re
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import hypothesis
import numpy as np
import pytest
from _pytest.faulthandler import fault_handler_stderr_fd_key

HERE = Path(__file__).parent
MISSING = "torch is not installed: pip install '.[compare]'"

# A failure must come again when the test is run again: examples are derived from the test, not from the clock.
# `--hypothesis-profile=explore` looks at new ones, more of them.
hypothesis.settings.register_profile("fixed", derandomize=True, deadline=None, database=None)
hypothesis.settings.register_profile("explore", max_examples=2000, deadline=None)
hypothesis.settings.load_profile("fixed")


@pytest.fixture(autouse=True)
def _as_before_all_others() -> Iterator[None]:
    """Every test begins as if none had run before it. One fixture does it all: each takes a tenth of a short test.

    What has to be done is in `one_by_one`, whose cases begin so too.
    """
    import one_by_one

    one_by_one.begin()
    yield
    one_by_one.end()


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
        return pytest.importorskip("torch", reason=MISSING)


@pytest.fixture
def torch() -> ModuleType:
    """The real torch; the test is skipped where it is not installed, and is marked `compare`."""
    module = _import_torch()
    # PyTorch's compiler switches the checks of distributions off, once in a process: on again for the next test.
    module.distributions.Distribution.set_default_validate_args(True)
    return module


def pytest_sessionstart(session: pytest.Session) -> None:
    """A worker of xdist sends what is shown: of a test that passes, its result.

    Each of the six messages a test wakes the process that prints: together they took as long as a short test.
    """
    option = session.config.option
    if option.verbose > 0 or getattr(option, "xmlpath", None):
        return
    for plugin in session.config.pluginmanager.get_plugins():
        if type(plugin).__name__ == "WorkerInteractor":
            plugin.sendevent = functools.partial(_sent_if_shown, plugin.sendevent)


def _sent_if_shown(send: Callable[..., None], name: str, **what: Any) -> None:
    if name == "testreport":
        report = what["data"]
        if report["when"] != "call" and report["outcome"] == "passed" and report["duration"] < 0.005:
            return
    elif name in ("logstart", "logfinish"):
        return
    send(name, **what)


@functools.cache
def _holds_torch(module: ModuleType | None) -> bool:
    real_torch = sys.modules.get("torch")
    if real_torch is None or module is None or getattr(real_torch, "__name__", "") != "torch":
        return False
    return any(value is real_torch for value in vars(module).values())


@functools.cache
def _may_compare(path: Path) -> bool:
    """Whether a file's text shows a need of torch: a parameter of that name, or a module that may be missing."""
    shown = re.search(r"(\(|, )torch(:|,|\))|importorskip\(.torch|\bcompare\b", path.read_text(encoding="utf-8"))
    return bool(shown) or _is_comparison(path)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Where only comparisons run (`-m compare`), files without any are not read: half a minute of each worker."""
    if config.option.markexpr != "compare" or collection_path.suffix != ".py":
        return None
    return None if _may_compare(collection_path) else True


class WithoutTorch(pytest.Item):
    """A test function that asks for torch where it is not installed: skipped once, for all its cases.

    Seven thousand cases would take both workers half a minute, to be made and to be skipped.
    """

    def __init__(self, *, function: FunctionType, **what: Any) -> None:
        super().__init__(**what)
        self.function = function

    def runtest(self) -> None:
        raise AssertionError("skipped beforehand")

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, self.function.__code__.co_firstlineno - 1, self.name


def pytest_pycollect_makeitem(collector: pytest.Collector, name: str, obj: object) -> WithoutTorch | None:
    if not name.startswith("test_") or not isinstance(obj, FunctionType) or _torch_is_there():
        return None
    if "torch" not in inspect.signature(obj).parameters:
        return None
    return WithoutTorch.from_parent(collector, name=name, function=obj)


@functools.cache
def _torch_is_there() -> bool:
    return importlib.util.find_spec("torch") is not None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks `compare` what needs torch: tests/compare, what uses the fixture `torch`, and modules that hold torch.

    Where torch is not installed, what asks for it by another fixture is skipped before its fixtures are made.
    """
    for item in items:
        asks = isinstance(item, WithoutTorch) or "torch" in getattr(item, "fixturenames", ())
        if asks or _is_comparison(item.path) or _holds_torch(getattr(item, "module", None)):
            item.add_marker("compare")
            assert _may_compare(item.path), f"{item.path} would not be read by `-m compare`"
        if asks and not _torch_is_there():
            item.add_marker(pytest.mark.skip(reason=MISSING))


@functools.cache
def _is_comparison(path: Path) -> bool:
    return (HERE / "compare") in path.parents


def pytest_collection() -> None:
    """What is collected stays: looking for garbage among it is a sixth of the time."""
    gc.disable()


def pytest_collection_finish() -> None:
    """What has been collected stays to the end: without this, every `gc.collect()` of a test goes through all of it."""
    gc.enable()
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
