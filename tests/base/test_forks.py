"""A fork at any moment: the child has only the thread that forked, and does not wait for the others."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
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
