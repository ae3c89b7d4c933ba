"""Atomic replacement of a file: a crash, a full disk or an error leaves the old file unchanged.

The bytes are written to a new file in the same folder and flushed to the disk; the new file then takes the old one's
name and permissions. Files that are not regular (a pipe, /dev/null) are written directly.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator
from typing import Any


@contextlib.contextmanager
def replacing(path: Any) -> Iterator[Any]:
    """A binary file to write to, which becomes ``path`` when the block ends without an error.

    Raises:
        RuntimeError: the folder does not exist, or ``path`` is a folder.
    """
    target = os.path.realpath(os.fsdecode(path))
    _check_target(target, os.fsdecode(path))
    if os.path.exists(target) and not os.path.isfile(target):
        with open(target, "wb") as file:
            yield file
        return
    folder, name = os.path.split(target)
    temporary = os.path.join(folder, f".{name[:40]}.{os.urandom(6).hex()}.part")
    try:
        # "x": never an existing file or link of another user
        opened = open(temporary, "xb")  # noqa: SIM115  closed below
    except PermissionError:
        if not os.path.isfile(target):
            raise
        with open(target, "wb") as file:  # the folder is not writable, but the file is
            yield file
        return
    try:
        with opened as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if os.path.exists(target):
            shutil.copymode(target, temporary)
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
    _sync_folder(folder)


def _check_target(target: str, shown: str) -> None:
    if not os.path.isdir(os.path.dirname(target)):
        raise RuntimeError(f"Parent directory {os.path.dirname(shown) or '.'} does not exist.")
    if os.path.isdir(target):
        raise RuntimeError(f"open file failed with strerror: Is a directory: {shown}")


def _sync_folder(folder: str) -> None:
    """Flush the folder, and with it the new name, to the disk if the system can."""
    with contextlib.suppress(OSError):
        number = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)
