"""The server at which processes find each other: a key-value store, PMI-1 for MPICH, and news of ranks that end.

MPICH asks the launcher of a job over a text protocol, PMI-1: put, get, barrier and seven more commands. Whoever answers
makes processes that anything has started an ``MPI_COMM_WORLD``. The same port serves ``TCPStore`` and tells ranks
that wait which of the others are gone.

The module stands on the standard library alone: rank 0 runs it by its path as a child process, since mpi4py holds
the interpreter's lock in ``MPI_Init``, during which the others must be answered. The launcher runs it on a thread.

NOTE [ What comes from a socket ]
    Anyone who reaches the port can connect. Lengths are bounded before anything is read, a connection that breaks the
    protocol is closed, values are bytes that are never unpickled, and the number of connections, the keys, their bytes
    and those of an answer have a limit. A connection that was closed waits for nothing, and one that the system has no
    descriptor or thread for does not end the server.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import struct
import sys
import threading
import time
from collections.abc import Callable

GREETING = b"WENGERT1"
LONGEST_LINE, LONGEST_KEY, LONGEST_VALUE = 8192, 1 << 16, 1 << 28
MOST_ARGUMENTS, MOST_KEYS, MOST_BYTES, MOST_CONNECTIONS = 1 << 16, 1 << 20, 1 << 30, 4096
_SECONDS_TO_GREET, _SECONDS_TO_LOOK = 30.0, 1.0
OK, TIMED_OUT, REFUSED = 0, 1, 2
_HEAD, _LENGTH = struct.Struct("!BI"), struct.Struct("!I")


class Malformed(Exception):
    """What came is no message of the protocol."""


def receive(connection: socket.socket, count: int, end: float | None = None) -> bytes:
    """Exactly so many bytes; ``OSError`` if the other side has closed before, or has not sent them by ``end``."""
    parts, missing = [], count
    while missing:
        if end is not None:
            connection.settimeout(max(0.001, end - time.monotonic()))
        part = connection.recv(min(missing, 1 << 20))
        if not part:
            raise ConnectionResetError("connection reset by peer")
        parts.append(part)
        missing -= len(part)
    return b"".join(parts)


def _message(code: int, *arguments: bytes) -> bytes:
    """A code, and bytes with their lengths."""
    parts = [_HEAD.pack(code, len(arguments))]
    for a in arguments:
        parts += (_LENGTH.pack(len(a)), a)
    return b"".join(parts)


def write_message(connection: socket.socket, code: int, *arguments: bytes) -> None:
    """Send a message."""
    connection.sendall(_message(code, *arguments))


def read_message(connection: socket.socket, seconds: float | None = None) -> tuple[int, list[bytes]]:
    """The next message, all of it within ``seconds``; ``Malformed`` if it is longer than any may be."""
    end = None if seconds is None else time.monotonic() + seconds
    code, count = _HEAD.unpack(receive(connection, _HEAD.size, end))
    if count > MOST_ARGUMENTS:
        raise Malformed
    arguments, total = [], 0
    for _ in range(count):
        (length,) = _LENGTH.unpack(receive(connection, _LENGTH.size, end))
        total += length
        if total > LONGEST_VALUE:
            raise Malformed
        arguments.append(receive(connection, length, end))
    return code, arguments


def check_open(connection: socket.socket) -> None:
    """``ConnectionError`` if the other side has closed."""
    connection.setblocking(False)
    try:
        if not connection.recv(1, socket.MSG_PEEK):
            raise ConnectionResetError("connection reset by peer")
    except BlockingIOError:
        pass
    finally:
        connection.setblocking(True)


class Table:
    """Keys and values, for several threads: what a store does."""

    def __init__(self) -> None:
        self.values: dict[bytes, bytes] = {}
        self.bytes = 0
        self.changed = threading.Condition()

    def _put(self, key: bytes, value: bytes) -> None:
        new = key not in self.values
        size = self.bytes + len(value) + (len(key) if new else -len(self.values[key]))
        if len(key) > LONGEST_KEY or len(value) > LONGEST_VALUE or size > MOST_BYTES:
            raise Malformed
        if new and len(self.values) >= MOST_KEYS:
            raise Malformed
        self.values[key], self.bytes = value, size
        self.changed.notify_all()

    def set(self, key: bytes, value: bytes) -> None:
        """Set a value."""
        with self.changed:
            self._put(key, value)

    def append(self, key: bytes, value: bytes) -> None:
        """Append to a value."""
        with self.changed:
            self._put(key, self.values.get(key, b"") + value)

    def add(self, key: bytes, amount: int) -> int:
        """Add to a number, which is stored as its digits, and return it."""
        with self.changed:
            try:
                total = int(self.values.get(key, b"0")[:32]) + amount
            except ValueError:
                raise Malformed from None
            self._put(key, b"%d" % total)
            return total

    def compare_set(self, key: bytes, expected: bytes, desired: bytes) -> bytes:
        """Set a value if it is the expected one, or if there is none and none is expected; return what is there."""
        with self.changed:
            there = self.values.get(key)
            if there == expected or (there is None and not expected):
                self._put(key, desired)
                return desired
            return expected if there is None else there

    def get(self, keys: list[bytes], seconds: float) -> list[bytes] | None:
        """The values of keys, when all are there; ``None`` if they are not in time."""
        with self.changed:
            if self.changed.wait_for(lambda: all(k in self.values for k in keys), max(0.0, seconds)):
                return [self.values[k] for k in keys]
            return None

    def delete(self, key: bytes) -> bool:
        """Remove a key; return whether it was there."""
        with self.changed:
            value = self.values.pop(key, None)
            self.bytes -= 0 if value is None else len(key) + len(value)
            return value is not None


class Job:
    """What MPICH asks by PMI-1: the number of ranks, a table and a barrier."""

    def __init__(self) -> None:
        self.size = 0
        self.values: dict[str, str] = {}
        self.changed = threading.Condition()
        self.arrived = self.generation = self.open = 0
        # MPICH names shared memory by it. A name that an earlier job had would find what that one left.
        self.name = f"wengert_{os.getpid()}_{time.time_ns()}"

    def answer(self, words: dict[str, str], connection: socket.socket) -> str:
        """The lines that answer one line of a connection."""
        command = words.get("cmd", "")
        if command == "barrier_in":
            return self._barrier(connection)
        if command in _ANSWERS:
            return _ANSWERS[command].format(job=self)
        reply: Callable[[dict[str, str]], str] | None = getattr(self, f"_do_{command}", None)
        return reply(words) if reply else f"cmd={command[:32]}_result rc=-1 msg=unknown_command\n"

    def _do_initack(self, words: dict[str, str]) -> str:
        rank = int(words["pmiid"])
        return f"cmd=initack rc=0\ncmd=set size={self.size}\ncmd=set rank={rank}\ncmd=set debug=0\n"

    def _do_put(self, words: dict[str, str]) -> str:
        with self.changed:
            if len(self.values) >= MOST_KEYS:
                raise Malformed
            self.values[words["key"]] = words["value"]
        return "cmd=put_result rc=0 msg=success\n"

    def _do_get(self, words: dict[str, str]) -> str:
        value = self.values.get(words["key"])
        if value is None:
            return "cmd=get_result rc=-1 msg=key_not_found value=unknown\n"
        return f"cmd=get_result rc=0 msg=success value={value}\n"

    def _barrier(self, connection: socket.socket) -> str:
        with self.changed:
            generation = self.generation
            self.arrived += 1
            if self.arrived == self.size:
                self.arrived, self.generation = 0, generation + 1
                self.changed.notify_all()
            while not self.changed.wait_for(lambda: self.generation > generation, _SECONDS_TO_LOOK):
                try:
                    check_open(connection)
                except OSError:
                    self.arrived -= 1
                    raise
        return "cmd=barrier_out rc=0\n"


_ANSWERS = {
    "init": "cmd=response_to_init rc=0 pmi_version=1 pmi_subversion=1\n",
    "get_maxes": "cmd=maxes rc=0 kvsname_max=256 keylen_max=64 vallen_max=4096\n",
    "get_appnum": "cmd=appnum rc=0 appnum=0\n",
    "get_my_kvsname": "cmd=my_kvsname rc=0 kvsname={job.name}\n",
    "get_universe_size": "cmd=universe_size rc=0 size={job.size}\n",
    "finalize": "cmd=finalize_ack rc=0\n",
}


class Server:
    """Listens at ``host:port`` (port 0: any that is free), one thread a connection."""

    def __init__(self, host: str = "127.0.0.1", port: int = 0) -> None:
        self.table, self.job = Table(), Job()
        self.watchers: dict[int, socket.socket] = {}  # the ranks that have not ended
        self.news: dict[int, bytes] = {}  # how a rank ended
        self.lock = threading.Lock()
        self.connections: set[socket.socket] = set()
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self.socket = socket.create_server((host, port), family=family, backlog=512)
        self.port: int = self.socket.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True, name="wengert-store").start()

    def close(self) -> None:
        """Take no more connections."""
        self.socket.close()

    def clear(self, kept: bytes) -> None:
        """Forget a job, and all keys but those that begin so."""
        with self.table.changed:
            for key in [k for k in self.table.values if not k.startswith(kept)]:
                self.table.delete(key)
        with self.lock:
            self.job = Job()
            self.news.clear()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                if self.socket.fileno() < 0:
                    return
                time.sleep(0.05)  # of descriptors there are none now
                continue
            self.connections.add(connection)
            try:
                if len(self.connections) > MOST_CONNECTIONS:
                    raise Malformed
                threading.Thread(target=self._serve, args=(connection,), daemon=True).start()
            except (Malformed, RuntimeError):  # RuntimeError: no more threads
                self._leave(connection)

    def _leave(self, connection: socket.socket) -> None:
        self.connections.discard(connection)
        connection.close()

    def _serve(self, connection: socket.socket) -> None:
        try:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
            connection.settimeout(_SECONDS_TO_GREET)  # of those that say nothing, none is kept
            start = receive(connection, len(GREETING))
            connection.settimeout(None)
            if start == GREETING:
                self._serve_store(connection)
            elif start.startswith(b"cmd="):
                job = self.job
                job.open += 1
                try:
                    self._serve_pmi(job, connection, start)
                finally:
                    job.open -= 1
        except (OSError, Malformed, ValueError, TypeError, LookupError, OverflowError, MemoryError, struct.error):
            pass  # a connection that broke, or broke the protocol, is closed
        finally:
            self._leave(connection)

    def _serve_pmi(self, job: Job, connection: socket.socket, rest: bytes) -> None:
        while True:
            while b"\n" not in rest:
                if len(rest) > LONGEST_LINE:
                    raise Malformed
                part = connection.recv(LONGEST_LINE)
                if not part:
                    return
                rest += part
            line, _, rest = rest.partition(b"\n")
            words = dict(word.split("=", 1) for word in line.decode("ascii").split() if "=" in word)
            connection.sendall(job.answer(words, connection).encode("ascii"))

    def _serve_store(self, connection: socket.socket) -> None:
        while True:
            code, arguments = read_message(connection)
            if code == WATCH:
                return self._watch(connection, int(arguments[0]))
            status, answer = self._store(code, arguments, connection)
            if sum(map(len, answer)) > LONGEST_VALUE:  # a value may be asked for many times in one message
                raise Malformed
            write_message(connection, status, *answer)

    def _patiently(
        self, connection: socket.socket | None, ask: Callable[[float], list[bytes] | None], seconds: float
    ) -> list[bytes] | None:
        """What ``ask(seconds)`` answers, ``None`` if it has none in time; a closed connection ends it."""
        end = time.monotonic() + seconds
        while (answer := ask(min(end - time.monotonic(), _SECONDS_TO_LOOK))) is None:
            if not time.monotonic() < end:  # also if it is no number
                return None
            if connection is not None:
                check_open(connection)
        return answer

    def _store(self, code: int, a: list[bytes], connection: socket.socket | None = None) -> tuple[int, list[bytes]]:
        table = self.table
        if code == SET:
            for key, value in zip(a[::2], a[1::2], strict=True):
                table.set(key, value)
            return OK, []
        if code in (GET, WAIT):
            found = self._patiently(connection, lambda seconds: table.get(a[1:], seconds), float(a[0]))
            if found is None:
                return TIMED_OUT, []
            return OK, found if code == GET else []
        if code == ADD:
            return OK, [b"%d" % table.add(a[0], int(a[1][:32]))]
        if code == COMPARE_SET:
            return OK, [table.compare_set(*a)]
        if code == CHECK:
            return OK, [b"1" if all(k in table.values for k in a) else b"0"]
        if code == DELETE:
            return OK, [b"1" if table.delete(a[0]) else b"0"]
        if code == COUNT:
            return OK, [b"%d" % len(table.values)]
        if code == KEYS:
            with table.changed:
                return OK, list(table.values)[:MOST_ARGUMENTS]
        if code == APPEND:
            table.append(*a)
            return OK, []
        if code == SIZE:  # of the job that MPICH will ask for; the first one counts
            self.job.size = self.job.size or int(a[0])
            return OK, [b"%d" % self.job.size]
        raise Malformed

    def _watch(self, connection: socket.socket, rank: int) -> None:
        """Tell a rank how others end, and the others how it does: by a last message, or by none."""
        if not 0 <= rank < MOST_KEYS:
            raise Malformed
        how = b"died"
        with contextlib.suppress(OSError, Malformed, ValueError):
            with self.lock:
                self.watchers[rank] = connection
                for who, ended in self.news.items():
                    _tell(connection, who, ended)
            _, (how,) = read_message(connection)
        with self.lock:
            self.watchers.pop(rank, None)
            self.news[rank] = how[:4096]
            for other in self.watchers.values():
                with contextlib.suppress(OSError):
                    _tell(other, rank, how[:4096])


def _tell(connection: socket.socket, rank: int, how: bytes) -> None:
    """Send how a rank ended to another, without waiting; one that does not read is let go."""
    data = _message(OK, b"%d" % rank, how)
    try:
        if connection.send(data, socket.MSG_DONTWAIT) < len(data):
            raise BlockingIOError
    except BlockingIOError:
        connection.shutdown(socket.SHUT_RDWR)


SET, GET, ADD, COMPARE_SET, WAIT, CHECK, DELETE, COUNT, KEYS, APPEND, SIZE, WATCH = range(12)


def main(host: str, port: str) -> None:
    """Serve until the parent's end of the pipe on stdin is closed, and the others know how it ended."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C ends the parent, and its end this process
    try:
        server = Server(host, int(port))
    except OSError as error:
        print(f"{error.errno} {error.strerror}", flush=True)  # noqa: T201  for the parent
        return
    print(f"0 {server.port}", flush=True)  # noqa: T201
    sys.stdin.buffer.read()
    end = time.monotonic() + 5
    while server.job.open and time.monotonic() < end:  # MPICH asks until the end of MPI_Finalize
        time.sleep(0.005)
    if server.watchers:
        time.sleep(0.2)


if __name__ == "__main__":
    main(*sys.argv[1:])
