"""Key-value stores at which processes find each other: ``TCPStore``, ``FileStore``, ``HashStore``, ``PrefixStore``.

Values are bytes. The server of a ``TCPStore`` is a process of its own (``_launch_server``).
"""

from __future__ import annotations

import contextlib
import os
import socket
import struct
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Any

from . import _launch_server as server

__all__ = [
    "DistBackendError", "DistError", "DistNetworkError", "DistStoreError", "FileStore", "HashStore", "PrefixStore",
    "Store", "TCPStore",
]  # fmt: skip


_SECONDS_TO_ANSWER, _LONGEST = 10.0, 1e8  # beyond what was asked for; what sockets take for a time


class DistError(RuntimeError):
    """The base class of errors of ``torch.distributed``."""


class DistBackendError(DistError):
    """A collective failed."""


class DistNetworkError(DistError):
    """A connection could not be made, or broke."""


class DistStoreError(DistError):
    """A store did not have a key in time."""


def _bytes(text: str | bytes, what: str) -> bytes:
    if isinstance(text, str):
        return text.encode()
    if isinstance(text, bytes):
        return text
    raise TypeError(f"{what}(): incompatible function arguments. A store's keys are str and its values str or bytes, "
                    f"not {type(text).__name__}.")  # fmt: skip


class Store:
    """The base class of stores.

    ``get`` and ``wait`` wait until keys are there, at most ``timeout``.

    >>> import wengert as torch
    >>> store = torch.distributed.HashStore()
    >>> store.set("model", "resnet")
    >>> store.get("model"), store.add("count", 2), store.check(["other"])
    (b'resnet', 2, False)
    """

    _timeout = timedelta(seconds=300)

    @property
    def timeout(self) -> timedelta:
        """How long ``get`` and ``wait`` wait."""
        return self._timeout

    def set_timeout(self, timeout: timedelta) -> None:
        """Set how long ``get`` and ``wait`` wait."""
        self._timeout = timeout

    # What a kind of store has: requests of `_launch_server`, answered by one
    def _ask(self, code: int, *arguments: bytes) -> list[bytes] | None:
        """The answer to a request; ``None`` if a key was not there in time."""
        raise NotImplementedError("Store is an abstract class: make a TCPStore, FileStore, HashStore or PrefixStore")

    def _key(self, key: str | bytes, what: str = "get") -> bytes:
        return _bytes(key, what)

    _process = 0  # the one that the store was made in, or a fork of it that has used it

    def _check_process(self) -> None:
        """Begin anew in a fork: a thread of the parent may hold the lock for ever, and its answers are the parent's."""
        if self._process != os.getpid():
            self._process = os.getpid()
            self._begin()

    def _begin(self) -> None:
        """Make what a process has for itself."""

    def _late(self, code: int, keys: Sequence[bytes], seconds: float) -> Exception:
        return DistStoreError("Wait timeout")

    def _now(self, code: int, *arguments: bytes) -> list[bytes]:
        answer = self._ask(code, *arguments)
        assert answer is not None
        return answer

    def _patiently(self, code: int, keys: list[bytes], timeout: timedelta | None) -> list[bytes]:
        seconds = (self._timeout if timeout is None else timeout).total_seconds()
        answer = self._ask(code, repr(seconds).encode(), *keys)
        if answer is None:
            raise self._late(code, keys, seconds)
        return answer

    def set(self, key: str, value: str | bytes) -> None:
        """Set a value."""
        self._now(server.SET, self._key(key, "set"), _bytes(value, "set"))

    def get(self, key: str) -> bytes:
        """The value of a key, as soon as it is there."""
        return self._patiently(server.GET, [self._key(key)], None)[0]

    def add(self, key: str, value: int) -> int:
        """Add to a number, which is 0 in the beginning, and return it."""
        return int(self._now(server.ADD, self._key(key), b"%d" % value)[0])

    def append(self, key: str, value: str | bytes) -> None:
        """Append to a value."""
        self._now(server.APPEND, self._key(key), _bytes(value, "append"))

    def compare_set(self, key: str, expected_value: str | bytes, desired_value: str | bytes) -> bytes:
        """Set a value if it is the expected one; return what is there then."""
        values = _bytes(expected_value, "compare_set"), _bytes(desired_value, "compare_set")
        return self._now(server.COMPARE_SET, self._key(key), *values)[0]

    def wait(self, keys: list[str], timeout: timedelta | None = None) -> None:
        """Wait until all keys are there."""
        self._patiently(server.WAIT, [self._key(k) for k in keys], timeout)

    def check(self, keys: list[str]) -> bool:
        """Whether all keys are there now."""
        return self._now(server.CHECK, *(self._key(k) for k in keys)) == [b"1"]

    def delete_key(self, key: str) -> bool:
        """Remove a key; return whether it was there."""
        return self._now(server.DELETE, self._key(key)) == [b"1"]

    def num_keys(self) -> int:
        """The number of keys."""
        return int(self._now(server.COUNT)[0])

    def list_keys(self) -> list[str]:
        """The keys."""
        return [key.decode(errors="replace") for key in self._now(server.KEYS)]

    def multi_get(self, keys: list[str]) -> list[bytes]:
        """The values of several keys."""
        return self._patiently(server.GET, [self._key(k) for k in keys], None)

    def multi_set(self, keys: list[str], values: list[str | bytes]) -> None:
        """Set several values."""
        pairs = [b for k, v in zip(keys, values, strict=True) for b in (self._key(k), _bytes(v, "multi_set"))]
        self._now(server.SET, *pairs)

    def has_extended_api(self) -> bool:
        """Whether ``append``, ``multi_get`` and ``multi_set`` work: True."""
        return True

    def clone(self) -> Store:
        """A store on the same values."""
        return self


class HashStore(Store):
    """A store in this process's memory, for several threads.

    >>> import wengert as torch
    >>> store = torch.distributed.HashStore()
    >>> store.compare_set("best", "", "0.9")
    b'0.9'
    """

    def __init__(self) -> None:
        self._table = server.Table()

    def _ask(self, code: int, *arguments: bytes) -> list[bytes] | None:
        return _answer(self._table, code, arguments)


def _answer(table: server.Table, code: int, arguments: Sequence[bytes]) -> list[bytes] | None:
    asked = server.Server.__new__(server.Server)
    asked.table = table
    try:
        status, answer = asked._store(code, list(arguments))
    except server.Malformed:
        raise ValueError("stoll") if code == server.ADD else DistStoreError("The store is full") from None
    return None if status == server.TIMED_OUT else answer


class PrefixStore(Store):
    """A store whose keys begin with a prefix in another store.

    >>> import wengert as torch
    >>> whole = torch.distributed.HashStore()
    >>> torch.distributed.PrefixStore("run1", whole).set("step", "5")
    >>> whole.list_keys()
    ['run1/step']
    """

    def __init__(self, prefix: str, store: Store) -> None:
        self._prefix, self._store = prefix, store

    @property
    def underlying_store(self) -> Store:
        """The store that has the values."""
        return self._store

    @property
    def timeout(self) -> timedelta:
        return self._store.timeout

    def set_timeout(self, timeout: timedelta) -> None:
        """Set how long ``get`` and ``wait`` wait, of the store below."""
        self._store.set_timeout(timeout)

    def _key(self, key: str | bytes, what: str = "get") -> bytes:
        return self._store._key(f"{self._prefix}/".encode() + _bytes(key, what))

    def _ask(self, code: int, *arguments: bytes) -> list[bytes] | None:
        return self._store._ask(code, *arguments)

    def _late(self, code: int, keys: Sequence[bytes], seconds: float) -> Exception:
        return self._store._late(code, keys, seconds)

    def _patiently(self, code: int, keys: list[bytes], timeout: timedelta | None) -> list[bytes]:
        return self._store._patiently(code, keys, timeout)


class TCPStore(Store):
    """A store in a server, which ``is_master`` starts, and to which the others connect.

    With ``world_size`` and ``wait_for_workers`` the master waits until so many processes have connected. Port 0 takes
    one that is free; ``port`` says which.

    Raises:
        DistNetworkError: the address is in use, or nobody answers there within ``timeout``.
        DistStoreError: not all have come within ``timeout``.
    """

    def __init__(
        self, host_name: str, port: int, world_size: int | None = None, is_master: bool = False,
        timeout: timedelta = timedelta(seconds=300), wait_for_workers: bool = True, multi_tenant: bool = False,
        master_listen_fd: int | None = None, use_libuv: bool = True,
    ) -> None:  # fmt: skip
        self._timeout, self._world_size = timeout, world_size
        self.host, self.libuvBackend, self._daemon = host_name, use_libuv, None
        if is_master:
            self._daemon = _running.get(port) if multi_tenant else None
            if self._daemon is None:
                self._daemon = Daemon(host_name, port)
            port = self._daemon.port
        self.port = port
        self._check_process()
        self._connect(timeout.total_seconds())
        if wait_for_workers and world_size:
            self._wait_for_workers(world_size, is_master, timeout.total_seconds())

    _socket: Any = None

    def _begin(self) -> None:
        self._lock = threading.Lock()
        if self._socket is not None:
            self._socket.close()  # the parent's stays open

    def _connect(self, seconds: float) -> None:
        self._socket = connect(self.host, self.port, seconds)
        self._closing = weakref.finalize(self, self._socket.close)

    def _wait_for_workers(self, world_size: int, is_master: bool, seconds: float) -> None:
        come, end = self.add("wengert/come", 1), time.monotonic() + seconds
        while is_master and come % world_size:
            if time.monotonic() > end:
                raise DistStoreError(f"Timed out after {int(seconds) + 1} seconds waiting for clients. "
                                     f"{come % world_size}/{world_size} clients joined.")  # fmt: skip
            time.sleep(0.005)
            come = self.add("wengert/come", 0)

    def _ask(self, code: int, *arguments: bytes) -> list[bytes] | None:
        self._check_process()
        with self._lock:
            if self._socket.fileno() < 0:
                self._connect(0.0)
            try:
                status, answer = self._answered(code, arguments)
            except (OSError, server.Malformed) as error:
                self._socket.close()
                raise DistNetworkError(
                    "Failed to recv, got 0 bytes. Connection was likely closed. Did the remote server shutdown or "
                    f"crash? ({self.host}, {self.port}): {error}"
                ) from None
            except BaseException:
                self._socket.close()  # the answer that will come is none to the next question
                raise
        return None if status == server.TIMED_OUT else answer

    def _answered(self, code: int, arguments: Sequence[bytes]) -> tuple[int, list[bytes]]:
        """The status and the answer, from a server that may be stopped, or none of a store's."""
        asked = float(arguments[0]) if code in (server.GET, server.WAIT) else self._timeout.total_seconds()
        seconds = min(max(asked, 0.0), _LONGEST) + _SECONDS_TO_ANSWER
        self._socket.settimeout(seconds)
        server.write_message(self._socket, code, *arguments)
        status, answer = server.read_message(self._socket, seconds)
        if not _fits(code, arguments, status, answer):
            raise server.Malformed("the answer is none of a store's")
        return status, answer

    def _late(self, code: int, keys: Sequence[bytes], seconds: float) -> Exception:
        names = ", ".join("/" + k.decode(errors="replace") for k in keys)
        return DistStoreError(f"wait timeout after {round(seconds * 1000)}ms, keys: {names}")

    def clone(self) -> TCPStore:
        """Another connection to the same server."""
        return TCPStore(self.host, self.port, None, False, self._timeout)

    def __repr__(self) -> str:
        return f"TCPStore(host={self.host!r}, port={self.port}, server={self._daemon is not None})"


def _fits(code: int, arguments: Sequence[bytes], status: int, answer: list[bytes]) -> bool:
    """Whether a server answered what it was asked: whoever listens at the address may say anything."""
    if status == server.TIMED_OUT:
        return code in (server.GET, server.WAIT)
    if status != server.OK:
        return False
    if code in (server.ADD, server.COUNT, server.SIZE):
        return len(answer) == 1 and len(answer[0]) <= 40 and answer[0].removeprefix(b"-").isdigit()
    counts = {server.GET: len(arguments) - 1, server.KEYS: len(answer)}
    one = code in (server.COMPARE_SET, server.CHECK, server.DELETE)
    return len(answer) == counts.get(code, 1 if one else 0)


def connect(host: str, port: int, seconds: float) -> socket.socket:
    """A connection to a store's server, as soon as it answers."""
    end = time.monotonic() + seconds
    while True:
        try:
            connection = socket.create_connection((host, port), max(0.05, end - time.monotonic()))
            connection.settimeout(None)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            connection.sendall(server.GREETING)
            return connection
        except OSError:
            if time.monotonic() > end:
                raise DistNetworkError(
                    f"The client socket has timed out after {round(seconds * 1000)}ms while trying to connect to "
                    f"({host}, {port})."
                ) from None
            time.sleep(0.02)


_running: weakref.WeakValueDictionary[int, Daemon] = weakref.WeakValueDictionary()


class Daemon:
    """A server as a child process: ``port`` is where it listens. It ends soon after this process or object."""

    def __init__(self, host: str, port: int) -> None:
        # Others reach this machine by any of its addresses, unless the name says that all are on it.
        local = {"localhost": "127.0.0.1", "::1": "::1"}.get(host, host if host.startswith("127.") else "0.0.0.0")
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", server.__file__, local, str(port)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True,
        )  # fmt: skip
        assert self._process.stdout is not None
        code, _, rest = self._process.stdout.readline().strip().partition(" ")
        self._process.stdout.close()
        if code != "0":
            self.close()
            raise DistNetworkError(
                "The server socket has failed to listen on any local network address. port: "
                f"{port}, useIpv6: false, code: -{code}, message: {rest.lower()}"
            )
        self.port = int(rest)
        _running[self.port] = self
        self.close = weakref.finalize(self, _end, self._process, os.getpid())

    def close(self) -> None:
        """Let the server end."""
        _end(self._process, os.getpid())


def _end(process: Any, owner: int) -> None:
    if os.getpid() == owner:  # a forked child has the object too
        with contextlib.suppress(OSError):
            process.stdin.close()
        try:
            process.wait(0.05)
        except subprocess.TimeoutExpired:  # MPICH still asks it, or the machine is busy
            _ending.append(process)
        _ending[:] = [p for p in _ending if p.poll() is None]


_ending: list[Any] = []  # servers that are told to end, until they have


_RECORD = struct.Struct("!BII")


class FileStore(Store):
    """A store in a file that all processes can lock. The last of ``world_size`` processes removes the file.

    >>> import tempfile
    >>> import wengert as torch
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = torch.distributed.FileStore(folder + "/store", 1)
    ...     store.set("a", "1")
    ...     store.get("a")
    b'1'
    """

    def __init__(self, file_name: str, world_size: int = -1) -> None:
        self.path = file_name
        self.add("efcount/", 1)
        self._closing = weakref.finalize(self, _last_removes, file_name, os.getpid())

    def _begin(self) -> None:
        self._table, self._read, self._lock = server.Table(), 0, threading.RLock()

    def _take(self, file: Any) -> None:
        """Lock the file, which another process may hold that is stopped."""
        import fcntl

        end = time.monotonic() + self._timeout.total_seconds() + _SECONDS_TO_ANSWER
        while True:
            try:
                return fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() > end:
                    raise DistStoreError(f"Timed out waiting for {self.path}, which another process locks") from None
                time.sleep(0.001)

    @contextlib.contextmanager
    def _locked(self) -> Iterator[Any]:
        """The file, locked; the table has what others have written."""
        self._check_process()
        with self._lock, open(self.path, "a+b") as file:
            self._take(file)
            file.seek(self._read)
            while len(head := file.read(_RECORD.size)) == _RECORD.size:
                kind, m, n = _RECORD.unpack(head)
                try:
                    if m > server.LONGEST_KEY or n > server.LONGEST_VALUE or kind > 1:
                        raise server.Malformed
                    key, value = file.read(m), file.read(n)
                    if len(value) != n:
                        break  # its writer was killed
                    if kind:
                        self._table.delete(key)
                    else:
                        self._table.set(key, value)
                except server.Malformed:
                    raise DistStoreError(
                        f"{self.path} is no file of a FileStore, damaged, or holds more than a store may"
                    ) from None
                self._read += _RECORD.size + m + n
            file.seek(0, os.SEEK_END)
            if file.tell() != self._read:
                file.truncate(self._read)
            yield file

    def _ask(self, code: int, *arguments: bytes) -> list[bytes] | None:
        if code in (server.GET, server.WAIT):
            end = time.monotonic() + float(arguments[0])
            while True:
                with self._locked():
                    answer = _answer(self._table, code, [b"0", *arguments[1:]])
                if answer is not None or time.monotonic() > end:
                    return answer
                time.sleep(0.01)
        try:
            with self._locked() as file:
                return self._written(file, code, arguments)
        except BaseException:  # the table may have what the file has not: it is read anew
            self._table, self._read = server.Table(), 0
            raise

    def _written(self, file: Any, code: int, arguments: Sequence[bytes]) -> list[bytes] | None:
        """The answer to a request, and what it changes in the file."""
        before = dict(self._table.values)
        answer = _answer(self._table, code, arguments)
        if code in (server.SET, server.ADD, server.COMPARE_SET, server.DELETE, server.APPEND):
            for key in arguments[::2] if code == server.SET else arguments[:1]:
                value = self._table.values.get(key)
                if value is None:
                    file.write(_RECORD.pack(1, len(key), 0) + key)
                elif before.get(key) != value:
                    file.write(_RECORD.pack(0, len(key), len(value)) + key + value)
            file.flush()
            self._read = file.tell()
        return answer

    def _late(self, code: int, keys: Sequence[bytes], seconds: float) -> Exception:
        if code == server.GET:
            name = keys[0].decode(errors="replace")
            return RuntimeError(f"Timeout waiting for key: {name} after {round(seconds * 1000)} ms")
        return RuntimeError("Wait timeout")


def _last_removes(path: str, owner: int) -> None:
    """Count one user less, in the process that was one; the last removes the file."""
    if os.getpid() != owner or not os.path.exists(path):
        return
    store = FileStore.__new__(FileStore)
    store.path = path
    with contextlib.suppress(OSError, DistStoreError, ValueError):
        if store.add("efcount/", -1) <= 0:
            os.unlink(path)
