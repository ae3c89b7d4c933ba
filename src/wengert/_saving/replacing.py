"""Atomic replacement of a file: a crash, a full disk or an error leaves the old file unchanged.

The bytes are written to a new file in the same folder and flushed to the disk; the new file then takes the old one's
name. It has the old one's permissions, and its owner where the system allows that, before its first byte. Links are
followed. Files that are not regular (a pipe, /dev/null) are written directly. Where the folder takes no new file, an
error is raised before anything is written: a file that is overwritten in place is lost if the disk is full. Another
name of the old file (a hard link) keeps the old contents.

NOTE [ Leftovers ]
A writer that is killed leaves its new file behind. Writers hold a lock on their new files, which the system gives up
when a process ends, however it ends. So the next writer of the same name removes each file of that name that nobody
holds. The names are numbered: a look at a few of them finds what was left, where listing a large folder takes long. A
writer that gets the lock on its own file only after another has removed it takes another number.
"""

from __future__ import annotations

import contextlib
import functools
import os
import stat
from collections.abc import Iterator
from typing import Any

try:
    import fcntl
except ImportError:  # Windows: what killed writers left stays
    fcntl = None  # type: ignore[assignment]

_NUMBERED = 8  # new files of one name that are looked for; more writers at once take random names
_OLD = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)  # a pipe of that name must not block


@contextlib.contextmanager
def replacing(path: Any) -> Iterator[Any]:
    """A binary file to write to, which becomes ``path`` when the block ends without an error.

    Raises:
        RuntimeError: the folder does not exist, or ``path`` is a folder, or a link to itself.
        PermissionError: the folder takes no new file, or the old file may not be written.
    """
    target = os.path.realpath(os.fsdecode(path))
    old = _checked(target, os.fsdecode(path))
    if old is not None and not stat.S_ISREG(old.st_mode):
        with open(target, "wb") as file:
            yield file
        return
    file, temporary = _new_file(target, old)
    try:
        with file:
            if old is not None:
                _give_as_old(file.fileno(), target, old)
            yield file
            file.flush()
            os.fsync(file.fileno())
            if fcntl is not None:  # while the lock is held: nobody may remove the file before it has its name
                os.replace(temporary, target)
        if fcntl is None:
            os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
    _sync_folder(os.path.dirname(target))


def _checked(target: str, shown: str) -> os.stat_result | None:
    """The old file's status; an error for what cannot be written."""
    folder = os.path.dirname(target)
    if os.path.islink(target):  # realpath has followed all others
        raise RuntimeError(f"open file failed with strerror: Too many levels of symbolic links: {shown}")
    if not os.path.isdir(folder):
        raise RuntimeError(f"Parent directory {os.path.dirname(shown) or '.'} does not exist.")
    if os.path.isdir(target) or shown.endswith(("/", os.sep)):  # realpath takes the slash away
        raise RuntimeError(f"open file failed with strerror: Is a directory: {shown}")
    try:
        old = os.stat(target)
    except FileNotFoundError:
        return None
    if not os.access(target, os.W_OK):
        raise PermissionError(13, "Permission denied", shown)
    if hasattr(os, "geteuid") and os.stat(folder).st_mode & stat.S_ISVTX:
        if os.geteuid() not in (0, old.st_uid, os.stat(folder).st_uid):
            raise _refused("in its folder only the owner of a file may replace it", shown)
    return old


def _refused(why: str, shown: str) -> PermissionError:
    error = PermissionError(13, "Permission denied", shown)
    error.add_note(f"Why: {why}, and a file that is overwritten in place is lost if the disk is full.")
    error.add_note("What to do: save to another folder, or open the file yourself and give the open file.")
    return error


# ---- the new file
def _new_file(target: str, old: os.stat_result | None) -> tuple[Any, str]:
    """A new file beside the target, open and locked. What killed writers left is removed."""
    folder, name = os.path.split(target)
    start = os.path.join(folder, f".{name[:40]}.")
    _remove_leftovers(start)
    try:
        return _opened(start, target, old)
    except BaseException:  # an interrupt may have come when a file had been made
        _remove_leftovers(start)
        raise


def _opened(start: str, target: str, old: os.stat_result | None) -> tuple[Any, str]:
    ends = [*map(str, range(_NUMBERED)), *(os.urandom(6).hex() for _ in range(_NUMBERED))]
    opener = functools.partial(os.open, mode=0o666 if old is None else 0o600)  # an interrupt cannot lose the number
    for end in ends:
        temporary = f"{start}{end}.part"
        try:
            file = open(temporary, "xb", opener=opener)  # noqa: SIM115  it is closed when the file is whole
        except FileExistsError:
            continue
        except PermissionError:
            raise _refused("the folder takes no new file", target) from None
        try:
            if _lock(file.fileno()) is not False and os.fstat(file.fileno()).st_nlink:
                return file, temporary
        except BaseException:
            file.close()
            raise
        file.close()
    raise FileExistsError(17, "File exists", temporary)


def _lock(number: int) -> bool | None:
    """Whether this process has the lock on an open file now; None where files have no locks."""
    if fcntl is None:
        return None
    try:
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


def _remove_leftovers(start: str) -> None:
    """Remove the files of killed writers: see NOTE [ Leftovers ]."""
    for end in range(_NUMBERED):
        temporary = f"{start}{end}.part"
        with contextlib.suppress(OSError):
            number = os.open(temporary, _OLD)
            try:
                if stat.S_ISREG(os.fstat(number).st_mode) and _lock(number) is True:
                    if os.path.samestat(os.fstat(number), os.lstat(temporary)):  # nobody else can take the name now
                        os.unlink(temporary)
            finally:
                os.close(number)


def _give_as_old(number: int, target: str, old: os.stat_result) -> None:
    """Give a new file the owner, permissions and extended attributes (access lists) of the old one."""
    if not hasattr(os, "fchmod"):
        return
    mode, own = stat.S_IMODE(old.st_mode), os.fstat(number)
    if (own.st_uid, own.st_gid) != (old.st_uid, old.st_gid):
        try:
            os.fchown(number, old.st_uid, old.st_gid)
        except OSError:
            with contextlib.suppress(OSError):
                os.fchown(number, -1, old.st_gid)
    if os.fstat(number).st_gid != old.st_gid:  # another group gets what everybody had, not what the old group had
        mode = (mode & ~0o2070) | (mode & 0o007) << 3
    if os.fstat(number).st_uid != old.st_uid:
        mode &= ~0o4000
    if hasattr(os, "listxattr"):
        with contextlib.suppress(OSError):
            for name in os.listxattr(target):
                os.setxattr(number, name, os.getxattr(target, name))
    with contextlib.suppress(OSError):  # file systems without permissions
        os.fchmod(number, mode)


def _sync_folder(folder: str) -> None:
    """Flush the folder, and with it the new name, to the disk if the system can."""
    with contextlib.suppress(OSError):
        number = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)
