"""A fork at any moment: the child has only the thread that forked, and does not wait for the others."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import pytest

import wengert as torch

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork"),
    pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning"),
]


@contextmanager
def busy(work: Callable[[], Any]) -> Iterator[None]:
    """Another thread does this all the time."""
    stop, started = threading.Event(), threading.Event()

    def run() -> None:
        while not stop.is_set():
            work()
            started.set()

    thread = threading.Thread(target=run)
    thread.start()
    started.wait()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def forked(work: Callable[[], Any]) -> int:
    """Run this in a child and return how it ended; an alarm ends one that waits."""
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(20)
        try:
            work()
        except BaseException:  # noqa: BLE001  nothing of the child may go on
            os._exit(1)
        os._exit(0)
    return os.waitpid(child, 0)[1]


def draws() -> None:
    state = torch.get_rng_state()
    torch.manual_seed(1)
    first = torch.rand(3)
    torch.manual_seed(1)
    assert torch.equal(first, torch.rand(3))
    torch.set_rng_state(state)
    torch.randn(3)


def test_fork_while_another_thread_draws() -> None:
    with busy(lambda: torch.randn(200_000)):
        assert [forked(draws) for _ in range(8)] == [0] * 8
    draws()


def test_fork_while_another_thread_draws_from_a_generator_of_its_own() -> None:
    generator = torch.Generator()
    with busy(lambda: torch.randn(200_000, generator=generator)):
        assert [forked(lambda: torch.rand(2, generator=generator)) for _ in range(4)] == [0] * 4
    torch.rand(2, generator=generator)


def test_fork_while_another_thread_walks_back() -> None:
    x = torch.ones(3, requires_grad=True)

    def walks() -> None:
        with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
            (x * x).exp().sum().backward()

    with busy(walks):
        assert [forked(walks) for _ in range(8)] == [0] * 8
    walks()


def test_fork_while_another_thread_compiles() -> None:
    program = torch.compiler.program(lambda x: (x.sin() * 2).sum(), torch.ones(3))
    compilers, record = (import_module(f"wengert._compile.{name}") for name in ("c.compilers", "record"))

    def works() -> None:
        torch.compile(lambda x: (x.cos() * 2).sum())(torch.ones(3))
        with compilers._lock, program.lock:  # the compiler is looked for, the program runs
            pass

    locks = [compilers._lock, record.recording, program.lock]

    def holds() -> None:
        with contextlib.ExitStack() as stack:
            for lock in locks:
                stack.enter_context(lock)
            time.sleep(0.2)

    with busy(holds):
        assert [forked(works) for _ in range(4)] == [0] * 4
    works()


_INTERRUPTED = """
import os, signal, sys, _thread, threading, time
import wengert as torch

signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores the signal
generator = torch.Generator()
torch.rand(3), torch.rand(3, generator=generator), torch.ones(500, 500) @ torch.ones(500, 500)

def interrupted():
    try:
        child = os.fork()
    except KeyboardInterrupt:
        return True
    if child == 0:
        torch.rand(3), torch.rand(3, generator=generator)
        os._exit(0)
    return False

def hold():
    with generator._lock:
        holds.set()
        time.sleep(0.5)

holds, me = threading.Event(), threading.get_ident()
thread = threading.Thread(target=hold)
thread.start()
holds.wait()
threading.Timer(0.1, signal.pthread_kill, (me, signal.SIGINT)).start()
print(interrupted(), generator._lock.acquire(blocking=False))  # it came while the fork waited for the lock
generator._lock.release()
thread.join()

os.register_at_fork(before=_thread.interrupt_main)  # called first
print(interrupted(), generator._lock.acquire(blocking=False))
generator._lock.release()
"""


def test_an_interrupt_during_a_fork_is_raised_where_the_fork_returns() -> None:
    command = [
        sys.executable,
        "-W",
        "ignore",
        "-c",
        _INTERRUPTED,
    ]  # Python's warning of threads loses it
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.stdout == "True True\nTrue True\n", ran.stderr


def test_no_function_of_python_is_called_at_a_fork() -> None:
    """One would lose a signal that is waiting."""
    program = (
        "import os; register, seen = os.register_at_fork, []\n"
        "os.register_at_fork = lambda **calls: (seen.extend(calls.values()), register(**calls))\n"
        "import wengert as torch; torch.rand(3), torch.ones(500, 500) @ torch.ones(500, 500), torch.save, torch.jit\n"
        "print(len(seen), [f for f in seen if getattr(f, '__module__', None) and f.__module__.startswith('wengert')])"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    number, _, written = ran.stdout.partition(" ")
    assert int(number) > 5 and written == "[]\n"
