"""An error at any call leaves no mode on: KeyboardInterrupt and MemoryError at the n-th place inside of the library.

Those are the places where Python looks for signals: where a function of Python begins, and after a function of C.
`python tests/tape/test_interrupts.py [NAME ...]` takes every place in the programs; the test takes some of each.
"""

from __future__ import annotations

import contextlib
import contextvars
import dis
import gc
import multiprocessing
import os
import random
import signal
import sys
import threading
import warnings
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))

from safe_programs import LASTING, PROGRAMS

import wengert as torch
from wengert._arrays.random import twister
from wengert._base import modes
from wengert._base.heap import is_frozen
from wengert._base.torch_function import STATE
from wengert._base.tracing import TRACER
from wengert._payloads.transforms import DEPTH
from wengert._payloads.vmap_randomness import LEVELS
from wengert._tape import delivery, engine, graph, replaced
from wengert._tape.node import hooked_leaves
from wengert._tape.tensor import stale_views
from wengert._tape.unrecorded import no_grad_views
from wengert._tensor_api import override_sites
from wengert.autograd import function
from wengert.fx import _patching as fx_patching
from wengert.nn.modules import _hooked
from wengert.utils.data import DataLoader, TensorDataset

POINTS = {"call", "c_return"}
PACKAGE = str(Path(torch.__file__).parent)

# What runs its cleaning up in a function of its own, or in another process or thread: not interrupted call by call.
LEFT_OUT = {"threads", "modes_of_tasks"}
# Functions by which a program itself ends a mode, and ends of contexts that are methods of Python, as in PyTorch: an
# interrupt in them may come before their first line.
BY_HAND = {
    "Setting.__enter__", "Setting.__exit__", "Setting.__init__", "exit_dual_level",
    "use_deterministic_algorithms",
}  # fmt: skip

# Each run freezes what there is if there was a freeze before, and with it what an interrupt has left.
FREEZING = {"export"}
HALF = {"autocast", "bfloat16", "checkpointed"}


def state() -> dict[str, Any]:
    """Everything that a program may leave on."""
    return {
        "grad": torch.is_grad_enabled(),
        "inference": torch.is_inference_mode_enabled(),
        "hooks": modes.saved_tensors_hooks(),
        "slow": (len(modes.slow_if_recording), len(modes.slow_always), len(modes.slow_hooks)),
        "transforms": (len(modes.transforms), modes.in_transform(), DEPTH.get(), LEVELS.get()),
        "counts": (len(modes.anomaly), len(modes.inference_tensors), len(hooked_leaves), len(no_grad_views)),
        "views": len(stale_views),
        "modes": (STATE.get().modes, STATE.get().classes, STATE.get().all),
        "autocast": (
            torch.is_autocast_enabled("cpu"),
            torch.get_autocast_dtype("cpu"),
            torch.is_autocast_cache_enabled(),
        ),
        "anomaly": torch.is_anomaly_enabled(),
        "deterministic": torch.are_deterministic_algorithms_enabled(),
        "observers": (len(engine.observers), len(delivery.leaf_observers), len(graph.interceptors)),
        "watchers": (len(replaced.payload_replaced), len(function.watchers)),
        "numpy": np.geterr(),
        "filters": len(warnings.filters),
        "fx": (torch.nn.Module.__call__, torch.nn.Module.__getattr__, fx_patching.CURRENT_PATCHER),
        "export": (torch.nn.RNNBase.forward, torch.nn.modules.batchnorm._count, is_frozen()),
        "module hooks": [
            list(hooks) for name, hooks in vars(_hooked).items() if name.startswith("global_") and name[-5:] == "hooks"
        ],
        "settings": (
            torch.backends.cuda.flash_sdp_enabled(),
            torch.autograd.grad_mode.is_multithreading_enabled(),
            torch.nn.utils.parametrize._cache_enabled,
            TRACER.get(),
            torch.fx.traceback.has_preserved_node_meta(),
        ),
        "parameters": [id(p) for p in LASTING.parameters()],
        "dual": torch.autograd.forward_ad._level() is None,
        "random": zlib.crc32(torch.get_rng_state().numpy().tobytes()),
    }


def by_hand(frame: Any) -> bool:
    """Whether a frame is in the end of a mode that a function of Python ends."""
    return any(f.f_code.co_qualname in BY_HAND for f in (frame, frame.f_back, frame.f_back.f_back) if f)


def calls(run: Callable[[], Any], at: int = 0, error: type[BaseException] = KeyboardInterrupt) -> int:
    """How many calls the library makes and gets in a program; ``error`` is raised at the ``at``-th."""
    count, process = 0, os.getpid()

    def profile(frame: Any, event: str, arg: Any) -> None:
        nonlocal count
        if os.getpid() != process:
            sys.setprofile(None)
        elif event in POINTS and frame.f_code.co_filename.startswith(PACKAGE) and not by_hand(frame):
            count += 1
            if count == at:
                sys.setprofile(None)
                raise error

    sys.setprofile(profile)
    try:
        run()
    finally:
        sys.setprofile(None)
    return count


def follows() -> None:
    """A program that gives right results on the hot path, and random numbers that follow from the generator's state."""
    with torch.random.fork_rng():
        twin = torch.Generator()
        twin.set_state(torch.get_rng_state())
        for count in (20, 3, 6000):
            assert torch.equal(torch.rand(count), torch.rand(count, generator=twin))
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * x
    y.sum().backward()
    assert x.grad.tolist() == [2.0, 4.0]
    assert torch.func.grad(lambda a: (a * a).sum())(torch.ones(2)).tolist() == [2.0, 2.0]
    assert override_sites._level != override_sites.EVERYTHING or override_sites._subclasses


def interrupted(name: str, at: int, error: type[BaseException], before: dict[str, Any]) -> list[str]:
    """What differs after an error at a call; in a context of its own, so that the next one begins as this one."""
    return contextvars.copy_context().run(_interrupted, name, at, error, before)


def _interrupted(name: str, at: int, error: type[BaseException], before: dict[str, Any]) -> list[str]:
    told, sys.unraisablehook = sys.unraisablehook, lambda _: None  # pytest keeps what Python drops, with its frames
    try:
        with contextlib.suppress(error, RuntimeError):
            calls(PROGRAMS[name], at, error)
    finally:
        sys.unraisablehook = told
    after = state()
    if any(after[key] != value for key, value in before.items()):  # tracebacks and frames are cycles
        gc.collect()
        after = state()
    wrong = [f"{key}: {before[key]} -> {after[key]}" for key in before if before[key] != after[key]]
    try:
        try:
            follows()
        except AssertionError:
            gc.collect()
            follows()
    except Exception as failure:  # noqa: BLE001  told below
        wrong.append(repr(failure))
    return wrong


def begun(name: str) -> tuple[int, dict[str, Any]]:
    """How many calls a program makes, and the state before it; without the random stream if the program draws."""
    PROGRAMS[name]()
    drawn = zlib.crc32(torch.get_rng_state().numpy().tobytes())
    count = calls(PROGRAMS[name])
    gc.collect()
    follows()
    before = state()
    if before["random"] != drawn:
        del before["random"]
    if name in HALF:  # the hook of bfloat16 goes when it goes
        del before["slow"]
    return count, before


NAMES = sorted(name for name in PROGRAMS if name not in LEFT_OUT)


@pytest.fixture(scope="module", autouse=True)
def _fewer_objects() -> None:
    """What the tests before have left is not walked through after each of two thousand interrupts."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def _thawed(request: pytest.FixtureRequest) -> Iterator[None]:
    """Nothing is frozen while a program of ``FREEZING`` runs."""
    thaws = is_frozen() and request.getfixturevalue("name") in FREEZING
    if thaws:
        gc.unfreeze()
    yield
    if thaws:
        gc.collect()
        gc.freeze()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.usefixtures("_thawed")
@pytest.mark.parametrize("name", NAMES)
def test_an_interrupt_leaves_nothing_on(name: str) -> None:
    if name == "bfloat16":
        pytest.importorskip("ml_dtypes")
    count, before = begun(name)
    few = random.Random(name).sample(range(1, count + 1), min(count, 25))
    for at in few:
        error = KeyboardInterrupt if at % 4 else MemoryError
        assert not interrupted(name, at, error, before), f"{error.__name__} at call {at} of {count}"


def _wrapper() -> Any:
    class Wrapper(torch.Tensor):
        @classmethod
        def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            raise NotImplementedError

    return torch.Tensor._make_wrapper_subclass(Wrapper, (2,))


def _volatile() -> Any:
    x = torch.ones(2)
    x.volatile = True
    return x * 2


def _twister() -> Any:
    made = twister.Twister()
    made.seed(3)
    made.words(1_000_000)  # more than Python's makes
    return made


def _hooked_leaf() -> Any:
    x = torch.ones(2, requires_grad=True)
    x.register_hook(lambda g: g)
    return x


ENDS: dict[str, Callable[[], Any]] = {
    "wrapper": _wrapper,
    "volatile": _volatile,
    "twister": _twister,
    "shared": lambda: torch.ones(2).share_memory_(),
    "hooked": _hooked_leaf,
    "inference": lambda: torch.inference_mode()(torch.ones)(2),
}


@pytest.mark.parametrize("name", ENDS)
def test_what_ends_with_an_object_ends_in_c(name: str) -> None:
    """Python drops an exception that comes while an object dies: Ctrl-C, as soon as a function of Python begins."""
    before, made, called = state(), ENDS[name](), []

    def profile(frame: Any, event: str, arg: Any) -> None:
        if event == "call":
            called.append(frame.f_code.co_qualname)

    sys.setprofile(profile)
    del made
    sys.setprofile(None)
    assert not called
    after = state()
    assert {key: after[key] for key in before if key != "random"} == {k: v for k, v in before.items() if k != "random"}


# ------------------------------------------------------------------------------------------------------------- workers
_ROWS = torch.arange(6.0).reshape(6, 1)
_LONG: Any = [{"row": torch.full((40_000,), float(i))} for i in range(2)]


def _loaded(data: Any, **options: Any) -> list[Any]:
    loader = DataLoader(data, batch_size=2, multiprocessing_context="fork", **options)
    if options.get("persistent_workers"):
        next(iter(loader))
    return list(loader)


WORKERS: dict[str, Callable[[], Any]] = {
    "none": lambda: list(DataLoader(_LONG, batch_size=2)),
    "two": lambda: _loaded(TensorDataset(_ROWS), num_workers=2),
    "left": lambda: [next(iter(DataLoader(_LONG, num_workers=1, multiprocessing_context="fork")))],
    "long": lambda: _loaded(_LONG, num_workers=1),
    "persistent": lambda: _loaded(TensorDataset(_ROWS), num_workers=1, persistent_workers=True),
    "unordered": lambda: _loaded(_ROWS.tolist(), num_workers=2, in_order=False),
}
# What these give are numbers of the system, which an exception at the very return loses; so does Python's `os.open`.
NUMBERS = {"memfd_create", "recvmsg_into", "unpack"}


def _processes() -> set[tuple[str, str]]:
    """This process's children, with those that have ended but are not waited for, and its open files."""
    files = [("file", name) for name in os.listdir("/proc/self/fd") if os.path.exists(f"/proc/self/fd/{name}")]
    me, found = str(os.getpid()), []
    for name in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            if Path(f"/proc/{name}/stat").read_text().rpartition(")")[2].split()[1] == me:
                found.append(("process", name))
    return {*files, *found}


def _count(run: Callable[[], Any], at: int, error: type[BaseException]) -> int:
    """``calls`` with what its exception holds gone."""
    try:
        return calls(run, at, error)
    except error:
        return 0


def _interrupt(*process: Any) -> None:
    raise KeyboardInterrupt


needs_proc = pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="reads Linux's list of processes")


@needs_proc
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", WORKERS)
def test_an_interrupt_leaves_no_worker(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "unraisablehook", lambda _: None)  # one that comes while an iterator is freed
    monkeypatch.setattr(sys.modules[__name__], "by_hand", _gives_a_number)
    run = WORKERS[name]
    wanted = sorted(map(repr, run()))
    count = calls(run)
    gc.collect()
    before, places, threads = state(), _processes(), threading.active_count()
    del before["random"]  # each iteration draws the workers' seed
    ends = range(count - 17, count + 1, 2) if name == "left" else ()  # where the workers are ended
    few = {*random.Random(name).sample(range(1, count + 1), 3), *ends}
    for at in sorted(few):
        _count(run, at, KeyboardInterrupt if at % 4 else MemoryError)
        if _processes() != places:
            gc.collect()
        assert _processes() == places, f"call {at} of {count}"
        assert threading.active_count() == threads
        after = state()
        assert {key: after[key] for key in before} == before
    follows()
    assert sorted(map(repr, run())) == wanted


def _gives_a_number(frame: Any) -> bool:
    """Whether a line gets a number of the system; or whether it is a list's own frame, where CPython 3.11 crashes."""
    return frame.f_code.co_name == "<listcomp>" or not NUMBERS.isdisjoint(_names_at(frame))


def _names_at(frame: Any) -> set[str]:
    code, line = frame.f_code, frame.f_lineno
    return {i.argval for i in dis.get_instructions(code) if i.positions and i.positions.lineno == line}


@needs_proc
@pytest.mark.filterwarnings("ignore")
def test_an_interrupt_while_a_worker_starts_waits_until_it_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    fork = os.fork

    def interrupted() -> int:
        pid = fork()
        if pid:
            signal.raise_signal(signal.SIGINT)
        return pid

    loader: Any = DataLoader(_LONG, num_workers=2, multiprocessing_context="fork")
    places = _processes()
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with monkeypatch.context() as patched:
            patched.setattr(os, "fork", interrupted)
            with pytest.raises(KeyboardInterrupt):
                iter(loader)
            patched.setattr(multiprocessing.context.ForkProcess, "_Popen", _interrupt)
            with pytest.raises(KeyboardInterrupt):
                iter(loader)
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)
    assert _processes() == places


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    sys.unraisablehook = lambda _: None
    for name in sys.argv[1:] or NAMES:
        count, before = begun(name)
        bad = []
        for at in range(1, count + 1):
            wrong = interrupted(name, at, KeyboardInterrupt, before)
            if wrong:
                bad.append((at, wrong))
        print(f"{name}: {count} calls, {len(bad)} leave something: {bad[:3]}", flush=True)  # noqa: T201
