"""Writing a file so that a crash, a full disk or an error halfway leaves the old one as it was.

The bytes go to a new file in the same folder, are flushed to the disk, and the new file then takes the old one's name
and permissions. What is no regular file (a pipe, /dev/null) is written to directly.
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
        RuntimeError: the folder does not exist, or the path is one.
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
        # "x": never a file, or a link, that somebody else put there
        opened = open(temporary, "xb")  # noqa: SIM115  closed below
    except PermissionError:
        if not os.path.isfile(target):
            raise
        with open(target, "wb") as file:  # a folder that takes no new files, with one that may be written to
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
    """Bring the new name to the disk too, where the system can."""
    with contextlib.suppress(OSError):
        number = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)
