"""What ``save`` leaves on the disk: the old file or the new one, whole, with its permissions, and nothing else."""

from __future__ import annotations

import errno
import io
import os
import pickle
import signal
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import wengert
from wengert._saving import records
from wengert._saving.replacing import replacing

pytestmark = pytest.mark.skipif(os.name == "nt", reason="permissions, links and locks of POSIX")


def child(program: str, *arguments: Any, **options: Any) -> subprocess.Popen[str]:
    env = {**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(wengert.__file__))}
    command = [sys.executable, "-c", program, *map(str, arguments)]
    return subprocess.Popen(command, env=env, text=True, stdout=subprocess.PIPE, stdin=subprocess.PIPE, **options)


def names(folder: Path) -> list[str]:
    return sorted(p.name for p in folder.iterdir())


WRITER = """
import sys
from wengert._saving.replacing import replacing
with replacing(sys.argv[1]) as file:
    file.write(b"half")
    file.flush()
    print("writing", flush=True)
    sys.stdin.readline()
"""


def test_what_killed_writers_left_is_removed_and_what_others_write_is_not(tmp_path: Path) -> None:
    path = tmp_path / "x.pt"
    wengert.save([1], path)
    alive, *killed = [child(WRITER, path) for _ in range(3)]
    try:
        for process in (alive, *killed):
            assert process.stdout.readline() == "writing\n"
        assert len(names(tmp_path)) == 4
        for process in killed:
            process.kill()
            process.wait()
        wengert.save([2], path)
        assert len(names(tmp_path)) == 2 and wengert.load(path) == [2]
        alive.communicate("\n")
        assert names(tmp_path) == ["x.pt"] and path.read_bytes() == b"half"
    finally:
        for process in (alive, *killed):
            process.kill()
            process.communicate()


def test_what_others_put_under_the_names_of_new_files_stays(tmp_path: Path) -> None:
    path = tmp_path / "x.pt"
    (tmp_path / ".x.pt.0.part").symlink_to(tmp_path / "other")
    (tmp_path / ".x.pt.1.part").mkdir()
    os.mkfifo(tmp_path / ".x.pt.2.part")
    before = names(tmp_path)
    wengert.save([1], path)
    assert names(tmp_path) == sorted([*before, "x.pt"]) and wengert.load(path) == [1]


def test_the_new_file_is_never_open_to_others(tmp_path: Path) -> None:
    path = tmp_path / "x.pt"
    wengert.save([1], path)
    for mode in (0o600, 0o640, 0o444 | 0o200):
        path.chmod(mode)
        with replacing(path) as file:
            assert stat.S_IMODE(os.fstat(file.fileno()).st_mode) == mode
            file.write(b"new")
        assert stat.S_IMODE(path.stat().st_mode) == mode and path.read_bytes() == b"new"


def test_a_new_file_has_the_permissions_of_any_new_file(tmp_path: Path) -> None:
    wengert.save([1], tmp_path / "x.pt")
    (tmp_path / "y").touch()
    assert (tmp_path / "x.pt").stat().st_mode == (tmp_path / "y").stat().st_mode


def test_the_group_gets_no_more_if_it_is_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.pt"
    wengert.save([1], path)
    path.chmod(0o664)
    real = os.stat

    def elsewhere(name: Any, **options: Any) -> Any:
        result = real(name, **options)
        if os.fspath(name) != str(path):
            return result
        return os.stat_result([*result[:4], 12345, 12345, *result[6:10]])

    def refused(*args: Any) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "fchown", refused)
    monkeypatch.setattr(os, "stat", elsewhere)
    with replacing(path) as file:
        assert stat.S_IMODE(os.fstat(file.fileno()).st_mode) == 0o644


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root gives files to others")
def test_the_owner_stays(tmp_path: Path) -> None:
    path = tmp_path / "x.pt"
    wengert.save([1], path)
    os.chown(path, 12345, 23456)
    path.chmod(0o4750)
    wengert.save([2], path)
    status = path.stat()
    assert (status.st_uid, status.st_gid, stat.S_IMODE(status.st_mode)) == (12345, 23456, 0o4750)


def test_a_folder_that_takes_no_new_files_is_an_error_before_the_first_byte(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x.pt"
    wengert.save([1], path)
    before = path.read_bytes()
    real = os.open

    def refusing(name: Any, flags: int, mode: int = 0) -> int:
        if flags & os.O_CREAT:
            raise PermissionError(errno.EACCES, "Permission denied", name)
        return real(name, flags, mode)

    monkeypatch.setattr(os, "open", refusing)
    for target in (path, tmp_path / "y.pt"):
        with pytest.raises(PermissionError, match="Permission denied") as info:
            wengert.save([2], target)
        assert any("What to do: save to another folder" in note for note in info.value.__notes__)
    monkeypatch.undo()
    assert path.read_bytes() == before and names(tmp_path) == ["x.pt"]


def test_a_file_that_may_not_be_written_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.pt"
    wengert.save([1], path)
    monkeypatch.setattr(os, "access", lambda name, mode: mode != os.W_OK)  # root may write everything
    with pytest.raises(PermissionError, match="Permission denied"):
        wengert.save([2], path)
    assert wengert.load(path) == [1]


def test_links(torch: Any, tmp_path: Path) -> None:
    itself, one, two = (tmp_path / name for name in ("itself", "one", "two"))
    itself.symlink_to("itself")
    one.symlink_to(two)
    two.symlink_to(one)
    for path in (itself, one):
        for lib in (wengert, torch):
            with pytest.raises(RuntimeError, match="open file failed with strerror: Too many levels of symbolic links"):
                lib.save([1], path)
        assert path.is_symlink()
    (tmp_path / "dangling").symlink_to(tmp_path / "new")
    wengert.save([1], tmp_path / "dangling")
    assert (tmp_path / "dangling").is_symlink() and wengert.load(tmp_path / "new") == [1]


LIMITED = """
import resource, signal, sys, wengert
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]),) * 2)
try:
    wengert.save(wengert.ones(100_000), sys.argv[1], _use_new_zipfile_serialization=sys.argv[3] == "zip")
except OSError as error:
    print(error.errno)
"""


@pytest.mark.parametrize("kind", ["zip", "stream"])
def test_a_full_disk_leaves_the_old_file(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "x.pt"
    wengert.save([1], path)
    for limit in (0, 100, 200_000):
        assert int(child(LIMITED, path, limit, kind).communicate()[0]) == errno.EFBIG
        assert wengert.load(path) == [1] and names(tmp_path) == ["x.pt"]


def test_a_signal_while_it_is_written_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "x.pt"
    wengert.save([1], path)
    process = child(WRITER, path, stderr=subprocess.DEVNULL)
    assert process.stdout.readline() == "writing\n"
    process.send_signal(signal.SIGINT)
    process.communicate()
    assert wengert.load(path) == [1] and names(tmp_path) == ["x.pt"]


# --------------------------------------------------------------------------------------------------------- short writes
class Short(io.RawIOBase):
    """A raw file that takes at most 100 bytes at a time."""

    def __init__(self, most: int = 100) -> None:
        self.data, self.most = bytearray(), most

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:  # type: ignore[override]
        taken = bytes(data)[: self.most]
        self.data += taken
        return len(taken)


@pytest.mark.parametrize("zipped", [True, False])
def test_short_writes_are_finished(zipped: bool) -> None:
    file = Short()
    wengert.save({"a": wengert.arange(1000)}, file, _use_new_zipfile_serialization=zipped)
    assert wengert.load(io.BytesIO(file.data))["a"].tolist() == [*range(1000)]


@pytest.mark.parametrize("zipped", [True, False])
@pytest.mark.parametrize("answer", [0, -1, 10**9, "5"])
def test_writes_that_make_no_sense_end(zipped: bool, answer: Any) -> None:
    file = Short()
    file.write = lambda data: answer  # type: ignore[method-assign]
    with pytest.raises(OSError, match="should return how many"):
        wengert.save({"a": wengert.arange(1000)}, file, _use_new_zipfile_serialization=zipped)


class Odd(io.BytesIO):
    """A file whose ``readinto`` gives what makes no sense."""

    answer: Any = -1

    def readinto(self, buffer: Any) -> Any:
        return self.answer


@pytest.mark.parametrize("zipped", [True, False])
@pytest.mark.parametrize("answer", [0, -1, 10**9, None, "5"])
def test_reads_that_make_no_sense_end(zipped: bool, answer: Any) -> None:
    good = io.BytesIO()
    wengert.save(wengert.arange(1000), good, _use_new_zipfile_serialization=zipped)
    file = Odd(good.getvalue())
    file.answer = answer
    with pytest.raises((RuntimeError, pickle.UnpicklingError), match="unexpected end of file"):
        wengert.load(file)


@pytest.mark.parametrize("zipped", [True, False])
def test_a_file_need_not_say_where_it_is_after_a_seek(zipped: bool) -> None:
    class Silent(io.BytesIO):
        def seek(self, *where: int) -> Any:
            super().seek(*where)

    file = Silent()
    wengert.save([1], file, _use_new_zipfile_serialization=zipped)
    file.seek(0)
    assert wengert.load(file) == [1]


@pytest.mark.parametrize("zipped", [True, False])
def test_the_name_of_a_folder_is_not_that_of_a_file(zipped: bool, tmp_path: Path) -> None:
    wengert.save([1], tmp_path / "x.pt")
    with pytest.raises(RuntimeError, match="Is a directory"):
        wengert.save([2], f"{tmp_path}/x.pt/", _use_new_zipfile_serialization=zipped)
    assert wengert.load(tmp_path / "x.pt") == [1]


def test_a_mapping_is_of_the_file_that_was_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between the reading of the directory and the mapping another writer may replace the file."""
    path = tmp_path / "x.pt"
    wengert.save(wengert.zeros(1000), path)
    real = records.Archive.__init__

    def slow(self: Any, file: Any) -> None:
        real(self, file)
        wengert.save([wengert.ones(1000)] * 2, path)

    monkeypatch.setattr(records.Archive, "__init__", slow)
    got = wengert.load(path, mmap=True)
    assert got.shape == (1000,) and not got.any()


@pytest.mark.filterwarnings("ignore")  # of a file that Python closes
def test_an_interrupt_at_any_call_leaves_no_open_file_and_no_new_one(tmp_path: Path) -> None:
    path, where = tmp_path / "a.pt", []
    wengert.save([1], path)

    def opened() -> set[str]:
        return {f.name for f in Path("/proc/self/fd").iterdir()} if os.path.isdir("/proc/self/fd") else set()

    def interrupted(at: int) -> bool:
        count = 0

        def profile(frame: Any, event: str, arg: Any) -> None:
            nonlocal count
            if event in ("call", "c_return") and frame.f_code.co_filename.endswith("replacing.py"):
                count += 1
                if count == at and frame.f_code.co_name in ("_new_file", "_opened", "_lock", "replacing"):
                    where[:] = [frame.f_code.co_name, frame.f_lineno, event]
                    sys.setprofile(None)
                    raise KeyboardInterrupt

        sys.setprofile(profile)
        try:
            wengert.save([at], path)
        except KeyboardInterrupt:
            pass
        finally:
            sys.setprofile(None)
        return count >= at

    before, at = opened(), 1
    while interrupted(at):
        at += 1
        assert opened() == before and os.listdir(tmp_path) == ["a.pt"], (at, where)
    assert at > 20
    assert os.listdir(tmp_path) == ["a.pt"]
    assert wengert.load(path) == [at]
