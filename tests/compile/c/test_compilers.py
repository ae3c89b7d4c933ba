"""Compilers and the cache of libraries: whatever is wrong with either, programs run in NumPy and nothing is raised."""

from __future__ import annotations

import logging
import os
import pathlib
import shutil
import stat
import subprocess
import sys
import threading

import pytest

from wengert._compile.c import cache, compilers

BODY = "EXPORT int64_t answer(void) { return 42; }\n"
has_compiler = pytest.mark.skipif(
    not any(shutil.which(c) for c in ("cc", "gcc", "clang")), reason="no C compiler is on this machine"
)
posix = pytest.mark.skipif(os.name != "posix", reason="a script stands for a compiler")


@pytest.fixture(autouse=True)
def fresh(tmp_path, monkeypatch):
    """No compiler is known, the cache is empty, nothing was said."""
    monkeypatch.setenv("WENGERT_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(compilers, "_said", set())
    monkeypatch.setattr(cache, "_loaded", {})
    monkeypatch.delenv("CC", raising=False)
    compilers._found.cache_clear()
    yield
    compilers._found.cache_clear()


def script(path, text):
    path.write_text("#!/bin/sh\n" + text)
    path.chmod(0o755)
    return str(path)


def said(caplog):
    return [r.getMessage() for r in caplog.records if r.name == "wengert.compile"]


def files():
    folder = cache.directory()
    return sorted(os.listdir(folder)) if os.path.isdir(folder) else []


@has_compiler
def test_a_library_is_made_once_and_found_again(monkeypatch):
    lib = cache.library(BODY)
    assert lib.answer() == 42
    assert [name.rpartition(".")[2] for name in files()] == ["lib", "sum"]
    monkeypatch.setattr(cache, "_loaded", {})
    monkeypatch.setattr(cache, "compiled", None)  # not called again
    assert cache.library(BODY).answer() == 42


@has_compiler
def test_the_file_is_closed_to_others():
    cache.library(BODY)
    for name in files():
        assert not os.stat(os.path.join(cache.directory(), name)).st_mode & 0o022
    assert stat.S_IMODE(os.stat(cache.directory()).st_mode) == 0o700


@posix
@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("exit 1", "does not run"),
        ("echo gcc 1; [ \"$1\" = --version ] || { echo 'x.c: error: no' >&2; exit 1; }", "error: no"),
        ("echo gcc 1", "made no library"),
        ('echo gcc 1; while [ $# -gt 1 ]; do [ "$1" = -o ] && printf \'half\' > "$2"; shift; done', "made no library"),
        (
            'echo gcc 1; while [ $# -gt 1 ]; do [ "$1" = -o ] && printf \'\\177ELFhalf\' > "$2"; shift; done',
            "does not run here",
        ),
        ("kill -9 $$", "does not run"),
    ],
)
def test_a_compiler_that_fails(tmp_path, monkeypatch, caplog, text, reason):
    monkeypatch.setenv("CC", script(tmp_path / "cc", text))
    with caplog.at_level(logging.WARNING):
        assert cache.library(BODY) is None
        assert cache.library(BODY) is None
    assert len(said(caplog)) == 1
    assert reason in said(caplog)[0]


@posix
def test_a_compiler_that_hangs_is_ended_with_its_children(tmp_path, monkeypatch, caplog):
    note = tmp_path / "child"
    monkeypatch.setenv("CC", script(tmp_path / "cc", f"sleep 1000 & echo $! > {note}; wait"))
    monkeypatch.setattr(compilers, "_PROBE_SECONDS", 0.5)
    with caplog.at_level(logging.WARNING):
        assert cache.library(BODY) is None
    assert "took more than" in said(caplog)[0]
    child = int(note.read_text())
    state = subprocess.run(["ps", "-o", "stat=", "-p", str(child)], capture_output=True, text=True, check=False).stdout
    assert not state.strip() or state.startswith("Z")


@posix
def test_a_compiler_that_talks_without_end(tmp_path, monkeypatch):
    monkeypatch.setenv("CC", script(tmp_path / "cc", "while :; do echo yes; done"))
    monkeypatch.setattr(compilers, "_PROBE_SECONDS", 0.5)
    assert cache.library(BODY) is None


@pytest.mark.parametrize("cc", ["false", "/no/such/compiler", "'", "cc -no-such-flag-exists"])
def test_cc_names_the_only_compiler(monkeypatch, caplog, cc):
    monkeypatch.setenv("CC", cc)
    with caplog.at_level(logging.WARNING):
        assert cache.library(BODY) is None
    assert len(said(caplog)) == 1


def test_no_compiler(monkeypatch, caplog, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(compilers.importlib.util, "find_spec", lambda name: None)
    with caplog.at_level(logging.WARNING):
        assert cache.library(BODY) is None
    assert "no C compiler was found" in said(caplog)[0]


def test_zig_is_the_last_to_be_tried(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(compilers.importlib.util, "find_spec", lambda name: name)
    assert compilers._candidates() == [(sys.executable, "-m", "ziglang", "cc")]


@has_compiler
def test_a_program_that_does_not_compile(caplog):
    with caplog.at_level(logging.WARNING):
        assert cache.library("this is no C") is None
    assert len(said(caplog)) == 1
    assert files() == []


@has_compiler
def test_a_cache_that_cannot_be_made(tmp_path, monkeypatch, caplog):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("WENGERT_CACHE_DIR", str(tmp_path / "file" / "cache"))
    with caplog.at_level(logging.WARNING):
        assert cache.library(BODY) is None
    assert "cannot be made" in said(caplog)[0]


@has_compiler
@posix
def test_a_cache_that_others_can_write_to(caplog):
    os.makedirs(cache.directory())
    os.chmod(cache.directory(), 0o777)
    with caplog.at_level(logging.WARNING):
        assert cache.library(BODY) is None
    assert "not this user's alone" in said(caplog)[0]


@has_compiler
@posix
def test_a_cache_of_another_user(monkeypatch, caplog):
    os.makedirs(cache.directory())
    mine = os.geteuid()
    monkeypatch.setattr(cache.os, "geteuid", lambda: mine + 1)
    with caplog.at_level(logging.WARNING):
        assert cache.library(BODY) is None
    assert "not this user's alone" in said(caplog)[0]


@has_compiler
@posix
def test_a_link_is_no_cache(tmp_path, monkeypatch):
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    monkeypatch.setenv("WENGERT_CACHE_DIR", str(tmp_path / "link"))
    assert cache.library(BODY) is None


@has_compiler
@pytest.mark.parametrize("harm", ["cut", "empty", "changed", "no sum", "empty sum", "link"])
def test_what_was_not_finished_is_made_again(monkeypatch, harm, tmp_path):
    assert cache.library(BODY).answer() == 42
    path = pathlib.Path(cache.directory(), files()[0])
    whole = path.read_bytes()
    path.unlink()  # the loaded one stays as it is
    data = {"cut": whole[: len(whole) // 2], "empty": b"", "changed": whole[:-1] + b"\1"}.get(harm, whole)
    if harm == "link":
        (tmp_path / "other").write_bytes(whole)
        os.symlink(tmp_path / "other", path)
    else:
        path.write_bytes(data)
        path.chmod(0o600)
    if harm == "no sum":
        os.unlink(f"{path}.sum")
    if harm == "empty sum":
        pathlib.Path(f"{path}.sum").write_text("")
    assert not cache._whole(str(path))
    monkeypatch.setattr(cache, "_loaded", {})
    assert cache.library(BODY).answer() == 42
    assert cache._whole(str(path))


@has_compiler
def test_a_full_disk(monkeypatch, caplog):
    def full(*args, **keywords):
        raise OSError(28, "No space left on device")

    compilers.compiler()
    monkeypatch.setattr(cache.os, "fsync", full)
    with caplog.at_level(logging.WARNING):
        assert cache.library(BODY) is None
    assert "No space left" in said(caplog)[0]
    assert files() == []


@has_compiler
def test_two_processes_and_many_threads_at_once(tmp_path):
    code = (
        "import threading\nfrom wengert._compile.c import cache\nr = []\n"
        f"f = lambda: r.append(cache.library({BODY!r}).answer())\n"
        "t = [threading.Thread(target=f) for _ in range(3)]\n[x.start() for x in t]\n[x.join() for x in t]\nprint(r)"
    )
    running = [subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) for _ in range(2)]
    assert [p.communicate(timeout=120)[0].strip() for p in running] == ["[42, 42, 42]"] * 2
    assert len(files()) == 2


@has_compiler
def test_old_libraries_go_first(monkeypatch):
    monkeypatch.setattr(cache, "KEPT", 2)
    names = []
    for k in range(4):
        body = f"EXPORT int64_t answer(void) {{ return {k}; }}\n"
        cache.library(body)
        names.append(cache.path_of(compilers.compiler(), f"{cache.runtime()}\n{body}"))
        os.utime(names[-1], (k, k))
    left = [os.path.exists(n) for n in names]
    assert left == [False, False, True, True] and len(files()) == 4


@has_compiler
def test_what_another_process_removes_meanwhile_is_no_error(monkeypatch):
    scandir = os.scandir

    other = os.path.join(cache.directory(), "new-of-another")
    os.makedirs(other)

    def listed(folder):
        if folder != cache.directory() or not os.path.exists(other):
            return scandir(folder)
        names = list(scandir(folder))
        os.rmdir(other)
        return names

    monkeypatch.setattr(os, "scandir", listed)
    assert cache.library(BODY).answer() == 42


@has_compiler
def test_the_key_has_everything(monkeypatch):
    found = compilers.compiler()
    path = cache.path_of(found, BODY)
    others = [
        compilers.Compiler((*found.command, "-v"), found.flags, found.version),
        compilers.Compiler(found.command, (*found.flags, "-g"), found.version),
        compilers.Compiler(found.command, found.flags, found.version + "1"),
    ]
    assert len({path, cache.path_of(found, BODY + " "), *[cache.path_of(o, BODY) for o in others]}) == 5
    monkeypatch.setattr(cache, "processor", lambda: "another")
    assert cache.path_of(found, BODY) != path


def test_saying_is_once_for_each_reason(caplog):
    with caplog.at_level(logging.WARNING):
        threads = [threading.Thread(target=compilers.say_once, args=("one",)) for _ in range(3)]
        [t.start() for t in threads]
        [t.join() for t in threads]
        compilers.say_once("two")
    assert len(said(caplog)) == 2


@has_compiler
def test_what_a_crash_left_behind_goes():
    os.makedirs(os.path.join(cache.directory(), "new-old"), 0o700)
    os.makedirs(os.path.join(cache.directory(), "new-now"), 0o700)
    os.chmod(cache.directory(), 0o700)
    os.utime(os.path.join(cache.directory(), "new-old"), (1, 1))
    cache.library(BODY)
    assert [name for name in files() if name.startswith("new-")] == ["new-now"]


@posix
def test_a_program_that_ends_meanwhile_leaves_nothing_behind(tmp_path):
    """The compiler is ended with the interpreter, and so are its files."""
    slow = tmp_path / "cc"
    begun = tmp_path / "begun"
    slow.write_text(
        f"#!{sys.executable} -IS\nimport os, sys, tempfile, time\n"
        "if '--version' in sys.argv: sys.exit()\n"
        f"tempfile.mkstemp()\nopen({str(begun)!r}, 'w').write(str(os.getpid()))\ntime.sleep(600)\n"
    )
    slow.chmod(0o700)
    program = (
        "import os, time, wengert as torch\n"
        "f = torch.compile(lambda x: x + 1)\nf(torch.ones(2))\n"
        f"while not os.path.exists({str(begun)!r}) or not open({str(begun)!r}).read(): time.sleep(0.01)\n"
    )
    folder = tmp_path / "temporary"
    folder.mkdir()
    env = {**os.environ, "CC": str(slow), "TMPDIR": str(folder), "WENGERT_CACHE_DIR": str(tmp_path / "c")}
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert not list(folder.iterdir())
    with pytest.raises(ProcessLookupError):
        os.kill(int(begun.read_text()), 0)


@has_compiler
@pytest.mark.parametrize("level", ["-O0", "-O1", "-O3"])
def test_sums_read_vectors_wherever_they_lie(level):
    """On the stack too, where a compiler need not align more than a vector's type says; a fault ends the process."""
    code = f"""
from dataclasses import replace
import ctypes
import numpy as np
from wengert._compile.c import cache, compilers
found = compilers.compiler()
quick = replace(found, flags=tuple([{level!r} if f in ("-O2", "-O3") else f for f in found.flags]))
cache.compiler = lambda: quick
body = "EXPORT void sums(void **p, i64 n) {{ double *o = p[0];"
for s, t, k in (("f", "float", 1), ("d", "double", 2)):
    body += f" {{{{ const {{t}} *x = p[{{k}}]; double t[2]; weighted_{{s}}(x, x, x, n, 1, t); *o++ = t[0]; *o++ = t[1];"
    body += f" *o++ = sum_{{s}}(x, n); *o++ = squares_{{s}}(x, n, 1); *o++ = dot_{{s}}(x, x, n); "
    body += f" *o++ = dot_off_{{s}}(x, x, n, 1); }}}}"
sums = cache.library(body + " }}").sums
for n in (1, 7, 16, 100):
    x = np.arange(1, n + 2) / 4
    for start in (0, 1):
        o, d = np.empty(12), x[start:][:n]
        f = x.astype(np.float32)[start:][:n]
        sums((ctypes.c_void_p * 3)(*[a.ctypes.data for a in (o, f, d)]), ctypes.c_int64(n))
        y = d - 1
        want = [(d * d).sum(), (d * d * y).sum(), d.sum(), (y * y).sum(), (d * d).sum(), (d * y).sum()]
        np.testing.assert_allclose(o, want * 2, 1e-5)
"""
    ran = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True, timeout=240)
    assert ran.returncode == 0, ran.stderr


def test_the_folder_of_the_compilers_thread_outlives_pythons_finalizers():
    program = """if True:
        import os, weakref
        from wengert._compile.c import compilers

        def accepted(command, folder):
            weakref.finalize._exitfunc()  # what Python does at its end, before the thread is waited for
            print(os.path.isdir(folder))
            return "none"

        compilers._accepted, compilers._candidates = accepted, lambda: [("cc",)]
        compilers.compiler()
    """
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=240, check=True)
    assert done.stdout == "True\n"
