"""C compilers of this machine: which one is found, with which flags it works, and running it.

A compiler is accepted once a library that it made was loaded in a process of its own and gave the right answer. So one
that fails, hangs, writes what is no library or writes one for another processor is found out before anything of its is
loaded here. ``None`` stands for no compiler; the reason is said once, to the logger ``wengert.compile``.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib.util
import logging
import os
import platform
import selectors
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ..._base.forks import new_lock

LOGGER = logging.getLogger("wengert.compile")
SECONDS = 120.0  # that one program may take; zig needs ten for its first
_PROBE_SECONDS = 60.0
_SAID = 2000  # characters of a compiler's messages that are kept
# No part of -ffast-math: nan, infinities, -0 and subnormal numbers are what they are. -fno-trapping-math changes no
# value, and selects are vectorised with it; -fno-semantic-interposition lets functions of one library be inlined;
# without -fno-thread-jumps gcc makes a clamp ten instructions.
_FLAGS = (
    "-std=gnu11", "-O3", "-fno-math-errno", "-fno-trapping-math", "-ffp-contract=off", "-fopenmp-simd",
    "-fno-thread-jumps", "-fno-semantic-interposition", "-fvisibility=hidden", "-fPIC", "-shared", "-pthread", "-w",
)  # fmt: skip
_PLAIN = ("-O2", "-fPIC", "-shared", "-pthread", "-w")  # for a compiler that knows none of the others
_PROBE = """
#include <stdint.h>
#include <math.h>
#include <string.h>
#include <pthread.h>
typedef float vec __attribute__((vector_size(16), aligned(4), may_alias));
__attribute__((visibility("default"))) int64_t wengert_probe(int64_t a, int64_t b) {
  float x[4] = {1, 2, 3, 4}; vec v = *(vec *)x; v = v + v; return a * b + (int64_t)v[3] + (isnan(nanf("")) ? 1 : 0);
}
"""
_CHECK = (
    "import ctypes, sys; f = ctypes.CDLL(sys.argv[1]).wengert_probe; f.argtypes = [ctypes.c_int64] * 2; "
    "f.restype = ctypes.c_int64; sys.exit(0 if f(6, 7) == 51 else 1)"
)
_said: set[str] = set()
ending = threading.Event()  # the interpreter is about to end: compilers end too, and what they began is removed


class Ended(BaseException):
    """Raised where a compiler was waited for."""


@dataclass(frozen=True)
class Compiler:
    """A command that makes shared libraries, the flags that it takes, and what tells it from another."""

    command: tuple[str, ...]
    flags: tuple[str, ...]
    version: str


def say_once(reason: str) -> None:
    """Say why programs run in NumPy, once for each reason; a logger's line can never become an error."""
    if reason not in _said:
        _said.add(reason)
        LOGGER.warning("compiled programs run in NumPy: %s", reason)


@contextlib.contextmanager
def scratch(prefix: str, inside: str | None = None) -> Iterator[str]:
    """A folder for as long as the block runs: Python ends ``TemporaryDirectory``'s before the compiler's thread."""
    folder = tempfile.mkdtemp(prefix=prefix, dir=inside)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def processor() -> str:
    """The processor and its features, as text: what is compiled for one may not run on another."""
    import numpy as np

    found: list[str] = []
    with contextlib.suppress(OSError), open("/proc/cpuinfo", encoding="utf-8", errors="replace") as f:
        found = [line.strip() for line in f if line.startswith(("flags", "Features", "CPU part"))][:1]
    if not found:  # what NumPy knows, but for what its environment variables switch off
        features = getattr(getattr(np, "_core", None), "_multiarray_umath", None)
        found = sorted(k for k, v in getattr(features, "__cpu_features__", {}).items() if v)
    return " ".join([platform.machine(), platform.system(), *found])


def _tuning() -> tuple[str, ...]:
    """The flag that names the processor at hand."""
    return ("-mcpu=native",) if platform.machine().lower() in ("aarch64", "arm64") else ("-march=native",)


def _candidates() -> list[tuple[str, ...]]:
    """Commands to try: the one in ``CC`` and no other if it is set, else the usual names and zig's package."""
    if os.environ.get("CC"):
        try:
            return [tuple(shlex.split(os.environ["CC"]))]
        except ValueError:
            return []
    found: list[tuple[str, ...]] = [(name,) for name in ("cc", "gcc", "clang") if shutil.which(name)]
    if importlib.util.find_spec("ziglang") is not None:
        found.append((sys.executable, "-m", "ziglang", "cc"))
    return found


def run(command: tuple[str, ...], seconds: float, cwd: str | None = None) -> tuple[int | None, str]:
    """``(exit status, first messages)`` of a command; the status is ``None`` if it did not start or took too long.

    The command has a session of its own, which is ended as a whole, and nobody to read more than its first messages.
    Its temporary files lie in ``cwd``: one that is ended leaves them there.
    """
    new: dict[str, Any] = {"start_new_session": True} if os.name == "posix" else {}
    if cwd is not None:
        new["env"] = {**os.environ, "TMPDIR": cwd}
    try:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=cwd, **new
        )
    except (OSError, ValueError) as error:
        return None, str(error)
    text = b""
    try:
        text, in_time = _read(process, time.monotonic() + seconds)
        status = process.returncode if in_time else None
        return status, text.decode(errors="replace") if in_time else f"it took more than {seconds:g} s"
    finally:
        _end(process)


def _read(process: Any, deadline: float) -> tuple[bytes, bool]:
    """What a process says first, and whether it ended in time."""
    if os.name != "posix":  # pipes cannot be waited for
        try:
            return process.communicate(timeout=max(deadline - time.monotonic(), 0))[0][:_SAID], True
        except subprocess.TimeoutExpired:
            return b"", False
    text, pipe = b"", process.stdout
    with selectors.DefaultSelector() as selector:
        selector.register(pipe, selectors.EVENT_READ)
        while time.monotonic() < deadline:
            if ending.is_set():
                raise Ended
            if selector.select(0.05):
                some = os.read(pipe.fileno(), 65536)
                text = (text + some)[:_SAID]
                if not some:
                    break
            if process.poll() is not None:  # a child of its may still hold the pipe
                break
    try:
        process.wait(max(deadline - time.monotonic(), 0))
    except subprocess.TimeoutExpired:
        return text, False
    return text, True


def _end(process: Any) -> None:
    """End a process with all that it started."""
    if os.name == "posix":
        with contextlib.suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
    elif process.poll() is None:
        process.kill()
    process.wait()
    if process.stdout is not None:
        process.stdout.close()


def compiled(compiler: Compiler, source: str, to: str, seconds: float | None = None) -> str | None:
    """Compile C into the file ``to``; the reason if it failed, ``None`` if there is a library now."""
    c = f"{to}.c"
    try:
        with open(c, "w", encoding="utf-8") as f:
            f.write(source)
        command = (*compiler.command, *compiler.flags, c, "-o", to, "-lm")
        status, text = run(command, SECONDS if seconds is None else seconds, os.path.dirname(to))
        if status != 0:
            return f"the compiler {shlex.join(compiler.command)} failed: {_line(text) or f'exit status {status}'}"
        return None if _is_library(to) else f"the compiler {shlex.join(compiler.command)} made no library"
    except OSError as error:
        return f"a program could not be written ({error})"
    finally:
        with contextlib.suppress(OSError):
            os.unlink(c)


def _line(text: str) -> str:
    """The line of a compiler's messages that says most."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return next((line for line in lines if "error" in line.lower()), lines[0] if lines else "")[:200]


def _is_library(path: str) -> bool:
    try:
        with open(path, "rb") as f:
            head = f.read(4)
    except OSError:
        return False
    machos = (b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe")
    return head == b"\x7fELF" or head[:2] == b"MZ" or head in machos


def _accepted(command: tuple[str, ...], folder: str) -> Compiler | str:
    """A compiler, with the first flags that it takes; the reason if it takes none."""
    status, version = run((*command, "--version"), _PROBE_SECONDS)
    if status != 0:
        return f"the compiler {shlex.join(command)} does not run: {_line(version) or f'exit status {status}'}"
    reason = None
    for flags in ((*_FLAGS, *_tuning()), _FLAGS, _PLAIN):
        compiler = Compiler(command, flags, hashlib.sha256(version.encode()).hexdigest()[:16] + _line(version))
        to = os.path.join(folder, f"probe{len(flags)}")
        failed = compiled(compiler, _PROBE, to, _PROBE_SECONDS)
        if failed is None:
            status, _ = run((sys.executable, "-I", "-S", "-c", _CHECK, to), _PROBE_SECONDS)
            if status == 0:
                return compiler
            failed = f"what the compiler {shlex.join(command)} makes does not run here"
        reason = reason or failed
        if "took more than" in failed:
            break
    return reason or ""


_lock = new_lock()


def compiler() -> Compiler | None:
    """The compiler of this machine; looked for once for each value of ``CC`` and ``PATH``."""
    with _lock:
        return _found(os.environ.get("CC"), os.environ.get("PATH"))


@functools.lru_cache(8)
def _found(cc: str | None, path: str | None) -> Compiler | None:
    reason = "no C compiler was found (CC, cc, gcc, clang, or the package ziglang)"
    try:
        with scratch("wengert-") as folder:
            for command in _candidates():
                found = _accepted(command, folder)
                if isinstance(found, Compiler):
                    return found
                reason = found
    except OSError as error:
        reason = f"a compiler could not be tried ({error})"
    say_once(reason)
    return None
