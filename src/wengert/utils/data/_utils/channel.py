"""The channel between a ``DataLoader`` and a worker: a socket, and unnamed shared memory for large arrays.

A message is pickled without its arrays (PEP 574). Small arrays follow it through the socket. Large ones are written to
a `memfd` (Linux), an unnamed file in memory, whose descriptor goes through the socket; the receiver maps it. So a
crash leaves nothing behind, a killed process can hold no lock, and the death of a process is noticed at once, because
its socket closes.

NOTE [ Who waits for whom ]
A worker that cannot send because the main process does not read yet receives the main process's messages meanwhile.
The main process does not: while it sends it waits for the worker to read. So they never wait for each other. Never
receive on both sides: each could then hold back the second half of a message for which the other waits.

The thresholds were measured: to hand over a batch, 64 KB take 20 us either way, 1 MB 0.19 ms through the socket,
0.15 ms read back from a memfd and 0.33 ms mapped, 16 MB 3.6, 3.4 and 2.7 ms. Data in a memfd does not fill the socket,
so the worker can continue.
"""

from __future__ import annotations

import contextlib
import io
import mmap
import os
import pickle
import select
import selectors
import socket
import struct
import weakref
from collections import deque
from multiprocessing.reduction import ForkingPickler
from typing import Any

import numpy as np

import wengert.multiprocessing  # noqa: F401  registers how tensors are pickled between processes

from ...._base.errors import noted
from . import MP_STATUS_CHECK_INTERVAL

_HEAD = struct.Struct("<4sIQQ?")  # mark, number of buffers, bytes of pickle, bytes of data, whether that is in a memfd
_MARK = b"WDL1"
_PLACE = struct.Struct("<QQ")  # offset and size of a buffer
_ALIGNED = 64
_IN_PICKLE = 128  # arrays smaller than this many bytes stay in the pickle
_IN_SOCKET = 1 << 16  # data smaller than this many bytes goes through the socket
_READ_BACK = 1 << 23  # data smaller than this many bytes is read from the memfd and not mapped
_MAPPINGS = 256  # each costs a descriptor as long as its arrays live; with so many alive data is read back instead
_PIECES = 512  # buffers in one system call, below every system's IOV_MAX
_PADDING = bytes(_ALIGNED)
_CLOSED_ON_EXEC = getattr(socket, "MSG_CMSG_CLOEXEC", 0)

_mapped: weakref.WeakSet[mmap.mmap] = weakref.WeakSet()


class Closed(Exception):
    """Raised if the process at the other end has closed the channel or has died."""


def pair() -> tuple[Channel, Channel]:
    """Two ends: the main process's and the worker's."""
    here, there = socket.socketpair()
    return Channel(here, False), Channel(there, True)


class Channel:
    """One end: ``send`` and ``receive`` objects, ``wait`` for one to come, ``close``.

    ``drains``: whether this end takes in messages while it cannot send; only the worker's does.
    """

    def __init__(self, sock: socket.socket, drains: bool) -> None:
        sock.setblocking(False)
        self._socket = sock
        self._drains = drains
        self._waiting: deque[Any] = deque()
        self._parent: int | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return Channel, (self._socket, self._drains)

    def fileno(self) -> int:
        """The socket's descriptor."""
        return self._socket.fileno()

    def guard(self) -> None:
        """In the worker: treat the death of the parent process as the end of the channel.

        The socket also signals it, unless a third process has a copy of the other end.
        """
        self._parent = os.getppid()

    def _orphaned(self) -> bool:
        return self._parent is not None and os.getppid() != self._parent

    def close(self) -> None:
        """End the channel: the other side gets ``Closed``, even if a third process has a copy of this end."""
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()

    def forget(self) -> None:
        """Close this process's copy of an end; the channel stays open."""
        self._socket.close()

    # ---- waiting
    def _ready(self, read: bool, write: bool, seconds: float | None) -> tuple[bool, bool]:
        """Wait until the socket can be read or written, and return which of the two. A closed end counts as both."""
        if hasattr(select, "poll"):
            poll = select.poll()
            poll.register(self._socket, select.POLLIN * read | select.POLLOUT * write)
            events = poll.poll(None if seconds is None else seconds * 1000)
            mask = events[0][1] if events else 0
            return bool(mask & ~select.POLLOUT), bool(mask & ~select.POLLIN)
        sockets = [self._socket]
        readable, writable, _ = select.select(sockets * read, sockets * write, [], seconds)
        return bool(readable), bool(writable)

    def wait(self, seconds: float | None) -> bool:
        """Whether a message (or the end) arrives within the time."""
        return bool(self._waiting) or self._ready(True, False, seconds)[0]

    # ---- sending
    def send(self, message: Any) -> None:
        """Send an object.

        Raises:
            Closed: the other side has ended.
            Exception: an error of pickling; nothing was sent.
        """
        (count, pickle_size), head, data = _pickled(message)
        size = sum(map(len, data))
        fd = _memfd(data) if size >= _IN_SOCKET else None
        front = _HEAD.pack(_MARK, count, pickle_size, size, fd is not None) + head
        if fd is None:
            self._send_all([front, *data], None)
            return
        try:
            self._send_all([front], fd)
        finally:
            os.close(fd)

    def _send_all(self, pieces: list[Any], fd: int | None) -> None:
        todo = [memoryview(piece) for piece in pieces]
        extra = [] if fd is None else [(socket.SOL_SOCKET, socket.SCM_RIGHTS, struct.pack("i", fd))]
        while todo:
            try:
                if hasattr(self._socket, "sendmsg"):
                    sent = self._socket.sendmsg(todo[:_PIECES], extra)
                else:
                    sent = self._socket.send(todo[0])
            except BlockingIOError:
                readable, writable = self._ready(self._drains, True, MP_STATUS_CHECK_INTERVAL)
                if readable and self._drains:
                    self._waiting.append(self._read_message())
                elif not writable and self._orphaned():
                    raise Closed from None
                continue
            except OSError as error:
                raise Closed from error
            extra = []
            _advance(todo, sent)

    # ---- receiving
    def receive(self) -> Any:
        """Wait for the next object and return it.

        Raises:
            Closed: the other side has ended.
        """
        return self._waiting.popleft() if self._waiting else self._read_message()

    def _read_message(self) -> Any:
        fds: list[int] = []
        try:
            mark, count, pickle_size, size, in_memfd = _HEAD.unpack(self._read(_HEAD.size, fds))
            if mark != _MARK:  # its sizes would be anything
                raise noted(
                    RuntimeError("What came from a DataLoader worker is no batch"),
                    "Why: something in that process has written to the socket of its DataLoader.",
                )
            head = self._read(count * _PLACE.size + pickle_size, fds)
            data = _from_memfd(fds, size) if in_memfd else self._read(size, fds)
        finally:
            for fd in fds:
                os.close(fd)
        places = _PLACE.iter_unpack(head[: count * _PLACE.size])
        return pickle.loads(head[count * _PLACE.size :], buffers=[data[start : start + n] for start, n in places])

    def _read(self, size: int, fds: list[int]) -> memoryview:
        memory = memoryview(np.empty(size, np.uint8))  # type: ignore[arg-type]
        done = 0
        while done < size:
            try:
                got = self._read_some(memory[done:], fds)
            except BlockingIOError:
                if not self._ready(True, False, MP_STATUS_CHECK_INTERVAL)[0] and self._orphaned():
                    raise Closed from None
                continue
            except OSError as error:
                raise Closed from error
            if not got:
                raise Closed
            done += got
        return memory

    def _read_some(self, memory: memoryview, fds: list[int]) -> int:
        if not hasattr(self._socket, "recvmsg_into"):
            return self._socket.recv_into(memory)
        got, extra, _, _ = self._socket.recvmsg_into([memory], socket.CMSG_SPACE(4), _CLOSED_ON_EXEC)
        for level, kind, content in extra:
            if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
                fds.append(struct.unpack("i", content[:4])[0])
        return got


def first_ready(channels: list[Channel], seconds: float) -> Channel | None:
    """The first of several channels with a message within the time."""
    with getattr(selectors, "PollSelector", selectors.SelectSelector)() as selector:
        for channel in channels:
            selector.register(channel, selectors.EVENT_READ)
        ready = selector.select(seconds)
    return ready[0][0].fileobj if ready else None  # type: ignore[return-value]


# ---- bytes
def _pickled(message: Any) -> tuple[tuple[int, int], bytes, list[memoryview]]:
    """Number of buffers and bytes of pickle; their places and the pickle; the buffers with padding between them."""
    buffers: list[memoryview] = []

    def leave_out(buffer: pickle.PickleBuffer) -> bool:
        view = buffer.raw()
        if view.nbytes < _IN_PICKLE:
            return True
        buffers.append(view)
        return False

    file = io.BytesIO()
    ForkingPickler(file, 5, True, leave_out).dump(message)
    places, data, end = [], [], 0
    for view in buffers:
        places.append(_PLACE.pack(end, view.nbytes))
        padding = -view.nbytes % _ALIGNED
        data += [view, memoryview(_PADDING)[:padding]] if padding else [view]
        end += view.nbytes + padding
    return (len(buffers), file.tell()), b"".join(places) + file.getvalue(), data


def _advance(todo: list[memoryview], sent: int) -> None:
    """Remove the bytes that were sent from a list of pieces."""
    done = 0
    while done < len(todo) and sent >= len(todo[done]):
        sent -= len(todo[done])
        done += 1
    del todo[:done]
    if sent:
        todo[0] = todo[0][sent:]


def _memfd(data: list[memoryview]) -> int | None:
    """The descriptor of a memfd with this content; None if none can be made."""
    if not hasattr(os, "memfd_create"):
        return None
    try:
        fd = os.memfd_create("wengert-batch", os.MFD_CLOEXEC)
    except OSError:  # too many descriptors are open
        return None
    try:
        todo = list(data)
        while todo:
            _advance(todo, os.writev(fd, todo[:_PIECES]))
    except BaseException:
        os.close(fd)
        raise
    return fd


def _from_memfd(fds: list[int], size: int) -> memoryview:
    """The content of a memfd: mapped if it is large, else read."""
    if not fds:  # the system had to drop the descriptor
        raise noted(
            RuntimeError(
                "Too many open files. Communication with the workers is no longer possible. Please increase the limit "
                "using `ulimit -n` in the shell"
            ),
            "Why: a batch from a worker comes as an open file, and this process may not have one more.",
        )
    if size >= _READ_BACK and len(_mapped) < _MAPPINGS:
        mapping = mmap.mmap(fds[0], size)
        _mapped.add(mapping)
        return memoryview(mapping)
    memory = memoryview(np.empty(size, np.uint8))  # type: ignore[arg-type]
    done = 0
    while done < size:
        got = os.preadv(fds[0], [memory[done:]], done)
        if not got:
            raise Closed  # it has fewer bytes than were promised
        done += got
    return memory
