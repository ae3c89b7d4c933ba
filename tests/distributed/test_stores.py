"""Stores: what each answers, beside PyTorch's, and what their server does with bytes that are no message."""

from __future__ import annotations

import contextlib
import importlib
import os
import signal
import socket
import struct
import threading
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wengert.distributed import _launch_server as server
from wengert.distributed import _stores
from wengert.distributed._launch import Plan
from wengert.distributed.rendezvous import rendezvous
from wengert.distributed.run import _plan, parse_args

SHORT = timedelta(milliseconds=50)
CALLS = """set('a', '1')|get('a')|get('nope')|add('n', 3)|add('n', -4)|get('n')|check(['a', 'n'])|check(['a', 'zz'])
wait(['a'], SHORT)|wait(['zz'], SHORT)|delete_key('a')|check(['a'])|compare_set('c', '', 'v')|compare_set('c', 'w', 'x')
compare_set('c', 'v', 'x')|compare_set('q', 'w', 'v')|get('c')|append('c', 'tail')|get('c')|num_keys() > 1
multi_set(['m1', 'm2'], ['1', '2'])|multi_get(['m1', 'm2'])|set('b', b'\\xff\\x00')|get('b')|set('', 'empty')|get('')
timeout|set(3, 4)|add('c', 1)""".replace("\n", "|").split("|")


def answers(store: Any, calls: list[str]) -> list[str]:
    found = []
    for call in calls:
        try:
            found.append(repr(eval(f"store.{call}", {"store": store, "SHORT": SHORT})))
        except Exception as error:  # noqa: BLE001  it is compared
            name = "RuntimeError" if type(error).__name__ == "DistStoreError" else type(error).__name__
            found.append(f"{name}: {str(error)[:30]}")
    return found


def made(dist: Any, kind: str, folder: Path) -> Any:
    if kind == "tcp":
        store = dist.TCPStore("127.0.0.1", 0, 1, True)
    elif kind == "file":
        store = dist.FileStore(str(folder / dist.__name__), 1)
    else:
        store = dist.HashStore()
    store.set_timeout(SHORT)
    return dist.PrefixStore("before", store) if kind == "prefix" else store


@pytest.mark.parametrize("kind", ["tcp", "file", "hash", "prefix"])
def test_stores_answer_as_pytorchs(torch: Any, kind: str, tmp_path: Path) -> None:
    theirs = importlib.import_module("torch.distributed")
    calls = CALLS[:-1] if kind == "tcp" else CALLS  # PyTorch's server ends
    assert answers(made(_stores, kind, tmp_path), calls) == answers(made(theirs, kind, tmp_path), calls)


@pytest.mark.parametrize("kind", ["tcp", "file", "hash", "prefix"])
def test_a_key_that_another_thread_sets_ends_the_wait(kind: str, tmp_path: Path) -> None:
    store = made(_stores, kind, tmp_path)
    store.set_timeout(timedelta(seconds=30))
    other = store.clone() if kind == "tcp" else store
    thread = threading.Thread(target=lambda: other.set("late", "1"))
    thread.start()
    assert store.get("late") == b"1"
    thread.join()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork on Windows")
@pytest.mark.parametrize("kind", ["tcp", "file"])
def test_a_fork_has_answers_of_its_own(kind: str, tmp_path: Path) -> None:
    """A child that used its parent's connection read the parent's answers; one whose lock was held waited for ever."""
    store = made(_stores, kind, tmp_path)
    store.multi_set(["parent", "child"], ["1", "2"])
    with store._lock:
        child = os.fork()
        if not child:
            signal.alarm(60)
            os._exit(any(store.get("child") != b"2" for _ in range(100)))
    assert all(store.get("parent") == b"1" for _ in range(100))
    assert os.waitpid(child, 0)[1] == 0


def test_a_file_store_is_removed_by_its_last_user_and_refuses_other_files(tmp_path: Path) -> None:
    path = tmp_path / "store"
    one, two = (_stores.FileStore(str(path), 2) for _ in range(2))
    one.set("k", "v")
    one._closing()
    assert path.exists() and two.get("k") == b"v"
    two._closing()
    assert not path.exists()
    path.write_bytes(bytes(range(256)) * 4)
    with pytest.raises(_stores.DistStoreError, match="no file of a FileStore"):
        _stores.FileStore(str(path), 1)


def test_a_file_store_has_what_its_file_has(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Full:
        """A disk without room."""

        size, unpack = _stores._RECORD.size, _stores._RECORD.unpack

        def pack(self, *_: int) -> bytes:
            raise OSError(28, "No space left on device")

    store = _stores.FileStore(str(tmp_path / "store"), -1)
    store.set("n", "1")
    with monkeypatch.context() as patched, pytest.raises(OSError, match="No space left"):
        patched.setattr(_stores, "_RECORD", Full())
        store.add("n", 1)
    assert store.get("n") == b"1"


def test_a_file_store_that_another_process_locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fcntl = pytest.importorskip("fcntl")
    store = _stores.FileStore(str(tmp_path / "store"), -1)
    store.set_timeout(SHORT)
    monkeypatch.setattr(_stores, "_SECONDS_TO_ANSWER", 0.05)
    with open(store.path, "rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with pytest.raises(_stores.DistStoreError, match="which another process locks"):
            store.set("a", "1")
    store.set("a", "2")
    assert store.get("a") == b"2"


def test_the_errors_of_a_tcp_store() -> None:
    store = _stores.TCPStore("127.0.0.1", 0, 1, True, timeout=SHORT)
    with pytest.raises(_stores.DistNetworkError, match="address already in use"):
        _stores.TCPStore("127.0.0.1", store.port, 1, True, timeout=SHORT)
    with pytest.raises(_stores.DistStoreError, match=r"Timed out after 1 seconds waiting for clients\. 1/2 clients"):
        _stores.TCPStore("127.0.0.1", 0, 2, True, timeout=SHORT)
    free = socket.create_server(("127.0.0.1", 0))
    port = free.getsockname()[1]
    free.close()
    with pytest.raises(_stores.DistNetworkError, match=f"timed out after 50ms while trying to connect to .*{port}"):
        _stores.TCPStore("127.0.0.1", port, 1, False, timeout=SHORT)


# ------------------------------------------------------------------------------------------------- hostile bytes
@pytest.fixture(scope="module")
def served() -> Iterator[server.Server]:
    one = server.Server()
    yield one
    one.close()


def spoken(served: server.Server, data: bytes) -> bytes:
    """What the server answers before it closes the connection."""
    with socket.create_connection(("127.0.0.1", served.port), 10) as connection:
        answer = b""
        try:
            connection.sendall(data)
            connection.shutdown(socket.SHUT_WR)
            while part := connection.recv(1 << 16):
                answer += part
        except OSError:
            pass  # closed while more was sent
        return answer


def message(code: int, *arguments: bytes) -> bytes:
    parts = b"".join(struct.pack("!I", len(a)) + a for a in arguments)
    return struct.pack("!BI", code, len(arguments)) + parts


ANSWERS = {
    "nothing": (0, []), "late": (1, []), "refused": (2, []), "no number": (0, [b"abc"]), "digits": (0, [b"9" * 5000]),
    "many": (0, [b"1"] * 9), "another code": (77, [b"1"]),
}  # fmt: skip
ASKED = """add('a', 1)|compare_set('a', 'b', 'c')|num_keys()|check(['a'])|delete_key('a')|multi_get(['a', 'b'])"""


@pytest.mark.parametrize("kind", ANSWERS)
def test_a_server_that_answers_what_no_store_does(kind: str) -> None:
    def serve() -> None:
        for _ in ASKED.split("|"):
            connection, _ = listening.accept()
            with connection:
                server.receive(connection, len(server.GREETING))
                server.read_message(connection)
                server.write_message(connection, ANSWERS[kind][0], *ANSWERS[kind][1])

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=serve)
        thread.start()
        for call in ASKED.split("|"):
            store = _stores.TCPStore("127.0.0.1", listening.getsockname()[1])
            try:
                found = eval(f"store.{call}", {"store": store})
            except (_stores.DistNetworkError, _stores.DistStoreError) as error:
                assert "none of a store's" in str(error) or kind == "late"  # noqa: PT017  not each call fails
            else:
                assert kind in ("no number", "digits") and not call.startswith(("add", "num", "multi")), found
        thread.join()


@pytest.mark.parametrize("said", [b"", message(0, b"v" * 1000)[:9], message(0, *[b""] * 1000)[:7]])
@pytest.mark.parametrize("call", ["set('a', 'b')", "get('a')", "wait(['a'])", "check(['a'])", "set('a', b'1' * 10**7)"])
def test_a_server_that_does_not_finish_its_answer(call: str, said: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is stopped, or none of a store's: it also sends a byte now and then."""
    monkeypatch.setattr(_stores, "_SECONDS_TO_ANSWER", 0.1)

    def serve() -> None:
        with listening.accept()[0] as connection, contextlib.suppress(OSError):
            server.receive(connection, len(server.GREETING))
            connection.sendall(said)
            while not over.wait(0.02):
                connection.sendall(said[-1:])

    over = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=serve)
        thread.start()
        store = _stores.TCPStore("127.0.0.1", listening.getsockname()[1], timeout=SHORT)
        with pytest.raises(_stores.DistNetworkError, match=r"timed out|none of a store's|reset|Broken pipe"):
            eval(f"store.{call}", {"store": store})
        over.set()
        thread.join()


def test_an_interrupted_question_leaves_no_answer_to_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    store = _stores.TCPStore("127.0.0.1", 0, 1, True)
    store.multi_set(["a", "b"], ["1", "2"])

    def interrupted(*_: Any) -> Any:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(server, "read_message", interrupted)
        store.get("a")
    assert store.get("b") == b"2"
    assert store.get("a") == b"1"


@pytest.mark.parametrize("said", [message(0, b"nobody", b"died"), message(0, b"1", b"died")[:-1]])
def test_news_of_no_rank(said: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    from wengert.distributed import _mpi

    monkeypatch.setattr(_mpi, "_SECONDS_FOR_NEWS", 0.1)
    here, there = socket.socketpair()
    with here, there:
        watch = _mpi.Watch()
        watch._socket = here
        there.sendall(said)
        assert watch.look() == {-1: "died"}


def test_a_file_of_more_than_a_store_may_hold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "MOST_KEYS", 3)
    (tmp_path / "store").write_bytes(b"".join(_stores._RECORD.pack(0, 1, 1) + bytes([k, k]) for k in range(9)))
    with pytest.raises(_stores.DistStoreError, match="holds more than a store may"):
        _stores.FileStore(str(tmp_path / "store"), 1)


@given(st.binary(max_size=200), st.sampled_from([b"", server.GREETING, b"cmd=init "]))
def test_random_bytes_do_no_harm(served: server.Server, data: bytes, start: bytes) -> None:
    spoken(served, start + data)
    alive = server.GREETING + struct.pack("!BI", server.ADD, 2) + b"".join(
        struct.pack("!I", len(a)) + a for a in (b"alive", b"0")
    )  # fmt: skip
    assert spoken(served, alive).endswith(b"0")


@pytest.mark.parametrize(
    "data",
    [
        server.GREETING + struct.pack("!BI", server.SET, 2**32 - 1),  # arguments without end
        server.GREETING + struct.pack("!BII", server.SET, 2, 2**31),  # a key of 2 GB
        server.GREETING + struct.pack("!BII", server.SET, 2, server.LONGEST_KEY + 1) + bytes(server.LONGEST_KEY + 9),
        server.GREETING + struct.pack("!BI", 99, 0),
        server.GREETING + struct.pack("!BII", server.ADD, 2, 1) + b"k" + struct.pack("!I", 5) + b"1e999",
        b"cmd=" + b"x" * 100_000,
        b"cmd=put key=a\n",
        b"cmd=__init__\n" * 3,
    ],
)
def test_what_is_too_long_or_no_message_ends_its_connection(served: server.Server, data: bytes) -> None:
    before = served.table.bytes
    assert len(spoken(served, data)) < 200
    assert served.table.bytes == before


def test_nothing_is_unpickled() -> None:
    """A value that would run code as a pickle is bytes to every store."""
    data = b"cos\nsystem\n(S'false'\ntR."
    store = _stores.TCPStore("127.0.0.1", 0, 1, True)
    store.set("x", data)
    assert store.get("x") == data
    assert "pickle" not in Path(server.__file__).read_text().replace("unpickled", "")
    assert "pickle" not in Path(_stores.__file__).read_text()


def test_a_table_has_bounds() -> None:
    table = server.Table()
    table.bytes = server.MOST_BYTES
    with pytest.raises(server.Malformed):
        table.set(b"k", b"v")


def test_keys_count_and_no_value_grows_beyond_what_an_answer_may_have(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "LONGEST_VALUE", 100)
    monkeypatch.setattr(server, "MOST_BYTES", 150)
    table = server.Table()
    table.set(b"k" * 20, b"v" * 60)
    with pytest.raises(server.Malformed):
        table.append(b"k" * 20, b"v" * 60)
    with pytest.raises(server.Malformed):
        table.set(b"l" * 100, b"")
    table.delete(b"k" * 20)
    assert table.bytes == 0


def test_a_small_question_has_no_huge_answer(served: server.Server) -> None:
    """A megabyte asked for 300 times in one message, as it could be 60,000 times."""
    served.table.set(b"large", bytes(1 << 20))
    got = spoken(served, server.GREETING + message(server.GET, b"1", *[b"large"] * 300))
    served.table.delete(b"large")
    assert not got


@pytest.mark.parametrize(
    "said",
    [
        server.GREETING + message(server.WAIT, b"1e9", b"never"),
        server.GREETING + message(server.GET, b"inf", b"never"),
        b"cmd=barrier_in\n",
    ],
)
def test_who_closes_while_it_waits_waits_no_more(said: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else each would take one of the server's places for ever."""
    monkeypatch.setattr(server, "_SECONDS_TO_LOOK", 0.01)
    one, before = server.Server(), set(threading.enumerate())
    with socket.create_connection(("127.0.0.1", one.port), 10) as connection:
        connection.sendall(said)
    spoken(one, b"x" * 8)  # taken after the other one
    for thread in set(threading.enumerate()) - before:
        thread.join(60)
        assert not thread.is_alive()
    assert not one.connections and one.job.arrived == 0
    one.close()


def watching(one: server.Server, rank: int) -> socket.socket:
    """A connection that hears of ranks' ends."""
    connection = socket.create_connection(("127.0.0.1", one.port), 10)
    connection.sendall(server.GREETING + message(server.WATCH, b"%d" % rank))
    while rank not in one.watchers:
        time.sleep(0.001)
    return connection


def test_who_does_not_read_the_news_keeps_none_from_the_others() -> None:
    one = server.Server()
    full, unread = socket.socketpair()
    with full, unread:
        full.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            while True:
                full.send(bytes(1 << 12))
        full.setblocking(True)
        one.watchers[3] = full
        with watching(one, 1) as good:
            watching(one, 2).close()
            assert server.read_message(good, 60) == (server.OK, [b"2", b"died"])
    one.close()


def test_a_rank_whose_connection_breaks_at_once_has_ended_too() -> None:
    one = server.Server()
    one.news = {3: b"ended"}
    here, there = socket.socketpair()
    there.close()
    with here:
        one._watch(here, 2)
    assert one.news == {3: b"ended", 2: b"died"} and not one.watchers
    one.close()


def test_times_that_are_no_numbers(served: server.Server) -> None:
    for seconds in (b"nan", b"-inf", b"-1"):
        asked = server.GREETING + message(server.WAIT, seconds, b"never")
        assert spoken(served, asked) == struct.pack("!BI", server.TIMED_OUT, 0)


def test_a_server_without_descriptors_or_threads_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    class Accepting:
        """A socket whose first ``accept`` finds no descriptor left."""

        def __init__(self, inner: socket.socket) -> None:
            self.inner, self.failed = inner, False

        def accept(self) -> Any:
            if not self.failed:
                self.failed = True
                raise OSError(24, "Too many open files")
            return self.inner.accept()

        def __getattr__(self, name: str) -> Any:
            return getattr(self.inner, name)

    create = socket.create_server
    monkeypatch.setattr(socket, "create_server", lambda *args, **kwargs: Accepting(create(*args, **kwargs)))
    one = server.Server()
    ask = server.GREETING + message(server.ADD, b"n", b"1")
    assert spoken(one, ask).endswith(b"1")
    start = threading.Thread.start

    def fails(thread: threading.Thread) -> None:
        monkeypatch.setattr(threading.Thread, "start", start)
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", fails)
    assert spoken(one, ask) == b""
    assert spoken(one, ask).endswith(b"2")
    one.close()


# ------------------------------------------------------------------------------------------------- arguments
@pytest.mark.parametrize(
    ("url", "error", "said"),
    [
        ("tcp://127.0.0.1", ValueError, "port number missing"),
        ("tcp://127.0.0.1:1?rank=0", ValueError, "world size parameter missing"),
        ("file://?rank=0&world_size=1", ValueError, "path missing"),
        ("file:///x?world_size=1", ValueError, "rank parameter missing"),
        ("nothing://x", RuntimeError, "No rendezvous handler for nothing://"),
        ("env://", ValueError, "environment variable RANK expected, but not set"),
        (3, RuntimeError, "`url` must be a string"),
    ],
)
def test_a_meeting_that_lacks_something(url: Any, error: type[Exception], said: str, monkeypatch: Any) -> None:
    for name in ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(error, match=said):
        next(rendezvous(url))


def test_torchruns_arguments() -> None:
    args = ["--nnodes=2", "--nproc_per_node=3", "--node_rank=1", "--rdzv_backend=c10d", "--rdzv-endpoint=host:29401"]
    plan: Plan = _plan(parse_args([*args, "--max_restarts", "2", "--rdzv_id=job", "train.py", "--lr", "0.1"]))
    assert (plan.nnodes, plan.nproc, plan.node_rank, plan.host, plan.port) == (2, 3, 1, "host", 29401)
    assert plan.max_restarts == 2 and plan.run_id == "job" and plan.command[-3:] == ["train.py", "--lr", "0.1"]
    plan = _plan(parse_args(["--standalone", "--nproc-per-node", "cpu", "-m", "package.module", "x"]))
    assert plan.port == 0 and plan.nproc >= 1 and plan.command[-3:] == ["-m", "package.module", "x"]
    plan = _plan(parse_args(["--no-python", "--tee", "3", "echo", "hello"]))
    assert plan.command == ["echo", "hello"] and plan.tee
    wrong = {
        "nproc_per_node": "many", "nnodes": "0", "master_port": "65536", "rdzv_endpoint": "host:-1",
        "node_rank": "1", "max_restarts": "-1", "local_ranks_filter": "0,a",
    }  # fmt: skip
    for name, value in wrong.items():
        with pytest.raises(ValueError, match=r"Unsupported \w+ value: (many|0|65536|-1|1|a)$"):
            _plan(parse_args([f"--{name}={value}", "train.py"]))


@pytest.mark.parametrize("sizes", [[-1], [5, -3], [2**62], [2**63 - 1, 1], [10]])
def test_sizes_of_objects_that_a_rank_has_not_sent(sizes: list[int]) -> None:
    from wengert.distributed import _objects

    numbers = _objects._numbers(sizes)
    with pytest.raises(RuntimeError, match=r"negative dimension|can't allocate memory|a rank has sent an object of"):
        _objects._objects(_objects._bytes(numbers.sum())[:4], numbers)
