"""Compiled programs on disk, in the user's cache directory, and their loading.

The name of a library is the hash of its source, flags, compiler and processor. It is written under another name, then
renamed, with its hash beside it: what another process, a crash or a full disk left unfinished has no hash or another
one, and is never loaded. The directory has to be the user's own, and closed to others: what lies in it is run.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import hashlib
import os
import shutil
import stat
import sys
import time
from importlib import resources

from .compilers import Compiler, compiled, compiler, processor, say_once, scratch

KEPT = 2000  # libraries; the ones that were not used for longest go first


def directory() -> str:
    """Where libraries lie: ``WENGERT_CACHE_DIR``, else the folder of this system for a user's caches."""
    given = os.environ.get("WENGERT_CACHE_DIR")
    if given:
        return os.path.abspath(given)
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or os.path.expanduser("~\\AppData\\Local")
    elif sys.platform == "darwin":
        base = os.path.expanduser("~/Library/Caches")
    else:
        base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return os.path.abspath(os.path.join(base, "wengert", "c"))


@functools.cache
def runtime() -> str:
    """The text of ``runtime.h`` and its parts, which every program begins with."""
    folder = resources.files(__package__).joinpath("runtime")
    names = sorted(p.name for p in folder.iterdir() if p.name.endswith(".h"))
    return "\n".join(folder.joinpath(name).read_text(encoding="utf-8") for name in names)


def _own(path: str, kind: int) -> bool:
    """Whether a path is what it should be, belongs to this user, and nobody else can write to it."""
    try:
        found = os.lstat(path)
    except OSError:
        return False
    if stat.S_IFMT(found.st_mode) != kind:
        return False
    return os.name != "posix" or (found.st_uid == os.geteuid() and not found.st_mode & 0o022)


def _folder() -> str | None:
    """The cache directory, if it can be used."""
    path = directory()
    try:
        os.makedirs(path, 0o700, exist_ok=True)
    except OSError as error:
        say_once(f"the cache directory cannot be made ({error})")
        return None
    if not _own(path, stat.S_IFDIR):
        say_once(f"the cache directory {path} is not this user's alone")
        return None
    return path


def _digest(path: str) -> str:
    with open(path, "rb") as f:
        return hashlib.file_digest(f, "sha256").hexdigest()


def _whole(path: str) -> bool:
    """Whether a library is as it was written."""
    if not (_own(path, stat.S_IFREG) and _own(path + ".sum", stat.S_IFREG)):
        return False
    try:
        with open(path + ".sum", encoding="ascii") as f:
            return f.read(65) == _digest(path)
    except (OSError, ValueError):
        return False


def _make(found: Compiler, source: str, path: str) -> str | None:
    """Compile into the cache; the reason if that failed."""
    folder = os.path.dirname(path)
    try:
        with scratch("new-", folder) as inside:
            made = os.path.join(inside, "program")
            failed = compiled(found, source, made)
            if failed is not None:
                return failed
            os.chmod(made, 0o600)
            note = made + ".sum"
            with open(note, "w", encoding="ascii") as f:
                f.write(_digest(made))
            for name in (made, note):
                with open(name, "rb") as f:
                    os.fsync(f.fileno())
            os.replace(made, path)
            os.replace(note, path + ".sum")
        _forget(folder)
    except OSError as error:
        return f"the cache directory {folder} cannot be written to ({error})"
    return None


def _forget(folder: str) -> None:
    """Remove the libraries that were not used for longest, if there are too many, and what a crash left behind."""
    libraries = []
    for e in os.scandir(folder):
        with contextlib.suppress(OSError):  # another process is at it too
            if e.name.endswith(".lib"):
                libraries.append((e.stat().st_mtime, e.path))
            elif e.name.startswith("new-") and e.stat().st_mtime < time.time() - 3600:
                shutil.rmtree(e.path, ignore_errors=True)
    for _, old in sorted(libraries)[: max(len(libraries) - KEPT, 0)]:
        for path in (old, old + ".sum"):
            with contextlib.suppress(OSError):
                os.unlink(path)


def path_of(found: Compiler, source: str) -> str:
    """The file that a source's library has in the cache."""
    key = "\0".join([source, *found.command, *found.flags, found.version, processor()])
    return os.path.join(directory(), hashlib.sha256(key.encode()).hexdigest()[:40] + ".lib")


_loaded: dict[str, ctypes.CDLL] = {}


def library(body: str) -> ctypes.CDLL | None:
    """The library of a program that follows the runtime's text; ``None`` if there is no way to one."""
    found = compiler()
    if found is None or _folder() is None:
        return None
    source = f"{runtime()}\n{body}"
    path = path_of(found, source)
    if path in _loaded:
        return _loaded[path]
    if not _whole(path):
        failed = _make(found, source, path)
        if failed is not None or not _whole(path):
            say_once(failed or f"the cache directory {os.path.dirname(path)} does not keep what is written to it")
            return None
    with contextlib.suppress(OSError):
        os.utime(path)
    try:
        return _loaded.setdefault(path, ctypes.CDLL(path))
    except OSError as error:
        say_once(f"a compiled program cannot be loaded ({error})")
        return None
