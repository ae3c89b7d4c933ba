"""The zip file of a checkpoint: named records, not compressed, aligned for mapping into memory.

This is the part of the ZIP format that ``torch.save`` uses (PKWARE's APPNOTE 6.3.9: sections 4.3.7, 4.3.12, 4.3.14 to
4.3.16 and 4.5.3), with ZIP64 where a size or an offset does not fit into 32 bits. Python's ``zipfile`` can open the
files, but it cannot align records, and it trusts a file more than a loader of untrusted files may.

All names are in one folder, named after the file. A record's name is only looked up, never used as a path.

NOTE [ What is not believed ]
The directory of a file gives the position of each record. ``Archive`` requires: no encryption, one folder, no name
twice, no two records on the same bytes, none outside the file, and a matching local header. ``torch.save`` does not
compress, but who packs an unpacked checkpoint again does: what compressed records say that they hold is at most
``RATIO`` times the file, and what any file may take. Reading every record once then takes memory in proportion to the
file.
"""

from __future__ import annotations

import re
import struct
import zlib
from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple

from .._base.errors import noted, printable
from .budget import FREE

ALIGNMENT = 64

_LOCAL = struct.Struct("<4s5H3I2H")
_CENTRAL = struct.Struct("<4s6H3I5H2I")
_END = struct.Struct("<4s4H2IH")
_END64 = struct.Struct("<4sQ2H2I4Q")
_LOCATOR = struct.Struct("<4sIQI")
_LIMIT = 0xFFFFFFFF  # tests reduce it, to test ZIP64 without 4 GB
_UTF8 = 1 << 11
_UNREADABLE = 1 | 1 << 5 | 1 << 6 | 1 << 13  # encrypted in three ways, or a patch
_STORED, _DEFLATED = 0, 8
_CRC_CHUNK = 1 << 24
RATIO = 8


class Record(NamedTuple):
    """The position of a record's bytes, and their checksum (0: no checksum); how many are in the file, if deflated."""

    start: int
    size: int
    crc: int
    packed: int
    deflated: bool


def damaged(what: str) -> RuntimeError:
    """PyTorch's error for a file that is no zip file or a damaged one."""
    return RuntimeError(
        f"PytorchStreamReader failed reading zip archive: {printable(what, 500)}. There is a high likelihood that your "
        "checkpoint file is corrupted. This can happen if the checkpoint was not saved properly, was transferred "
        "incorrectly, or the file was modified after saving."
    )


def refuse_if(condition: Any, what: str) -> None:
    """Raise the error of a damaged file, whose text costs nothing: what names a record is raised by an ``if``."""
    if condition:
        raise damaged(what)


# ---- writing
class Writer:
    """Writes all bytes to a function that may take fewer than it is given, as a raw file's ``write`` does."""

    def __init__(self, write: Callable[[Any], Any]) -> None:
        self._write = write

    def write(self, data: Any) -> int:
        """Write bytes, or an array's buffer.

        Raises:
            OSError: the file takes no bytes.
        """
        view = memoryview(data).cast("B")
        size = len(view)
        while len(view):
            done = self._write(view)
            done = len(view) if done is None else done  # not every file says how many bytes it took
            if type(done) is not int or not 0 < done <= len(view):
                raise OSError(f"write() should return how many of {len(view)} bytes it took, but it returned {done!r}")
            view = view[done:]
        return size


class ArchiveWriter:
    """Writes records to a function that takes bytes; ``close`` writes the directory."""

    def __init__(self, write: Callable[[Any], Any], folder: str, checksums: bool = True) -> None:
        self._file = Writer(write)
        self._folder = folder
        self._checksums = checksums
        self._place = 0
        self._directory: list[bytes] = []

    def _put(self, data: Any) -> None:
        self._place += self._file.write(data)

    def add(self, name: str, data: Any, size: int = 0) -> None:
        """Write one record: bytes, or a 1-dimensional array's buffer.

        ``data=None``: ``size`` zeros without a checksum, to be filled later by the program.
        """
        size = size if data is None else memoryview(data).nbytes
        full = f"{self._folder}/{name}".encode()
        crc = _crc(data) if data is not None and self._checksums else 0
        header, wide = self._place, size >= _LIMIT
        sizes = struct.pack("<HHQQ", 1, 16, size, size) if wide else b""
        before = header + _LOCAL.size + len(full) + len(sizes) + 4
        padding = -before % ALIGNMENT
        extra = sizes + struct.pack("<2sH", b"FB", padding) + b"Z" * padding
        short = 0xFFFFFFFF if wide else size
        version = 45 if wide else 20
        fields = (b"PK\3\4", version, _UTF8, 0, 0, 0x21, crc, short, short, len(full), len(extra))
        self._put(_LOCAL.pack(*fields) + full + extra)
        if data is not None:
            self._put(data)
        else:
            for start in range(0, size, _CRC_CHUNK):
                self._put(bytes(min(_CRC_CHUNK, size - start)))
        self._enter(full, crc, size, header)

    def _enter(self, full: bytes, crc: int, size: int, header: int) -> None:
        extra = b""
        short_size, short_header = size, header
        if size >= _LIMIT:
            extra, short_size = struct.pack("<QQ", size, size), 0xFFFFFFFF
        if header >= _LIMIT:
            extra, short_header = extra + struct.pack("<Q", header), 0xFFFFFFFF
        if extra:
            extra = struct.pack("<HH", 1, len(extra)) + extra
        version = 45 if extra else 20
        fields: tuple[Any, ...] = (b"PK\1\2", version, version, _UTF8, 0, 0, 0x21, crc, short_size, short_size)
        fields += (len(full), len(extra), 0, 0, 0, 0, short_header)
        self._directory.append(_CENTRAL.pack(*fields) + full + extra)

    def close(self) -> None:
        """Write the directory, which ends the file."""
        start, count = self._place, len(self._directory)
        for entry in self._directory:
            self._put(entry)
        size = self._place - start
        if start >= _LIMIT or size >= _LIMIT or count >= 0xFFFF:
            end = self._place
            self._put(_END64.pack(b"PK\6\6", 44, 45, 45, 0, 0, count, count, size, start))
            self._put(_LOCATOR.pack(b"PK\6\7", 0, end, 1))
            start, size, count = 0xFFFFFFFF, 0xFFFFFFFF, 0xFFFF
        self._put(_END.pack(b"PK\5\6", 0, 0, count, count, size, start, 0))


def _crc(data: Any) -> int:
    view, crc = memoryview(data).cast("B"), 0
    for start in range(0, len(view), _CRC_CHUNK):
        crc = zlib.crc32(view[start : start + _CRC_CHUNK], crc)
    return crc


# ---- reading
class Archive:
    """The records of a zip file that begins at the current position of ``file``.

    Raises:
        RuntimeError: the file is not a zip file, or breaks a rule of NOTE [ What is not believed ].
    """

    def __init__(self, file: Any) -> None:
        self._file = file
        self.origin = file.tell()
        self.size = bytes_left(file)
        start, size, count = self._end()
        found = self._entries(start, size, count)
        self._place_records(found, start)
        self._check_version()

    # ---- the directory
    def _at(self, place: int, size: int) -> bytes:
        refuse_if(place < 0 or size < 0 or place + size > self.size, "invalid header or archive is corrupted")
        self._file.seek(self.origin + place)
        data = self._file.read(size)
        refuse_if(len(data) != size, "unexpected end of file")
        return data

    def _end(self) -> tuple[int, int, int]:
        """The position and length of the directory, and its number of entries."""
        tail = min(self.size, _END.size + 0xFFFF)
        data = self._at(self.size - tail, tail)
        found = data.rfind(b"PK\5\6")
        refuse_if(found < 0 or len(data) - found < _END.size, "failed finding central directory")
        _, disk, first_disk, here, count, size, start, _ = _END.unpack_from(data, found)
        refuse_if(disk or first_disk or here != count, "archive of several parts")
        end = self.size - tail + found
        if 0xFFFFFFFF in (size, start) or count == 0xFFFF:
            size, start, count, end = self._end64(end)
        refuse_if(start + size > end, "invalid header or archive is corrupted")
        return start, size, count

    def _end64(self, end: int) -> tuple[int, int, int, int]:
        signature, _, place, _ = _LOCATOR.unpack(self._at(end - _LOCATOR.size, _LOCATOR.size))
        refuse_if(signature != b"PK\6\7" or place > end, "failed finding central directory")
        fields = _END64.unpack(self._at(place, _END64.size))
        if fields[0] != b"PK\6\6" or fields[1] < _END64.size - 12 or fields[6] != fields[7]:
            raise damaged("failed finding central directory")
        return fields[8], fields[9], fields[7], place

    def _entries(self, start: int, size: int, count: int) -> dict[str, Record]:
        """The records by name, each at the position of its local header."""
        data = self._at(start, size)
        entries: dict[str, Record] = {}
        place = inflated = 0
        for _ in range(count):
            refuse_if(place + _CENTRAL.size > size, "invalid header or archive is corrupted")
            fields = _CENTRAL.unpack_from(data, place)
            signature, flags, method, crc = fields[0], fields[3], fields[4], fields[7]
            packed, plain, n, extra, comment, header = *fields[8:13], fields[16]
            place += _CENTRAL.size
            if signature != b"PK\1\2" or place + n + extra + comment > size:
                raise damaged("invalid header or archive is corrupted")
            name = _decoded(data[place : place + n])
            plain, packed, header = _wide(data[place + n : place + n + extra], plain, packed, header)
            place += n + extra + comment
            if flags & _UNREADABLE or fields[13]:
                raise damaged(f"record {name!r} is encrypted, a patch, or on another disk")
            if method not in (_STORED, _DEFLATED) or (method == _STORED and packed != plain):
                raise damaged(f"record {name!r} is compressed in a way that PyTorch does not read either")
            inflated += plain if method == _DEFLATED else 0
            if inflated > RATIO * self.size + FREE:
                raise damaged(f"record {name!r} is compressed, and would be much larger than the file")
            if name in entries:
                raise damaged(f"record {name!r} is there twice")
            entries[name] = Record(header, plain, crc, packed, method == _DEFLATED)
        refuse_if(place != size, "invalid header or archive is corrupted")
        return entries

    def _place_records(self, entries: dict[str, Record], directory: int) -> None:
        spans, found = [], {}
        for name, record in entries.items():
            header, size = record.start, record.packed
            fields = _LOCAL.unpack(self._at(header, _LOCAL.size))
            n, extra = fields[9], fields[10]
            start = header + _LOCAL.size + n + extra
            if (
                fields[0] != b"PK\3\4"
                or start + size > directory
                or fields[3] != (_DEFLATED if record.deflated else _STORED)
            ):
                raise damaged(f"the header of record {name!r} is wrong")
            if _decoded(self._at(header + _LOCAL.size, n)) != name:
                raise damaged(f"the header of record {name!r} is wrong")
            spans.append((header, start + size, name))
            found[name] = record._replace(start=start)
        spans.sort()
        for (_, end, name), (header, _, other) in pairwise(spans):
            if header < end:
                raise damaged(f"records {name!r} and {other!r} overlap")
        self._strip_folder(found)

    def _strip_folder(self, found: dict[str, Record]) -> None:
        """Names without their common folder: that of the first record, as in PyTorch."""
        refuse_if(not found, "archive does not contain any files")
        first = next(iter(found))
        folder, slash, _ = first.partition("/")
        refuse_if(not slash or not folder, f"file in archive is not in a subdirectory: {first}")
        for name in found:
            if not name.startswith(folder + "/"):
                raise damaged(f"file in archive is not in a subdirectory {folder}/: {name}")
        self.records = {name[len(folder) + 1 :]: record for name, record in found.items()}

    def _check_version(self) -> None:
        name = ".data/version" if ".data/version" in self else "version"
        if name not in self:
            raise noted(
                RuntimeError('Expected hasRecord("version") to be true, but got false.'),
                "Why: every file of torch.save has a record named version; this one was packed by something else.",
            )
        shown = self.read(name)[:20]
        found = re.match(rb"\s*([+-]?\d+)", shown)
        if found is None:
            raise RuntimeError(
                f"Couldn't parse the version {printable(shown.decode('ascii', 'replace'))} as Long Long."
            )
        version = int(found[1])
        for wrong, bound, most in (version < 1, "minimum", 1), (version > 10, "maximum", 10):
            if wrong:
                raise RuntimeError(
                    f"Attempted to read a PyTorch file with version {version}, but the {bound} supported version for "
                    f"reading is {most}. Regenerate it with another version of PyTorch."
                )

    # ---- the records
    def __contains__(self, name: str) -> bool:
        return name in self.records

    def find(self, name: str) -> Record:
        """The position of a record.

        Raises:
            RuntimeError: the archive has no record of this name.
        """
        record = self.records.get(name)
        if record is None:
            raise RuntimeError(f"PytorchStreamReader failed locating file {printable(name)}: file not found")
        return record

    def read(self, name: str, verify: bool = True) -> bytes:
        """A record's bytes."""
        record = self.find(name)
        data = self._at(record.start, record.packed)
        if record.deflated:
            data = _inflated(name, data, record.size)
        if verify and record.crc:
            self._check(name, record, data)
        return data

    def read_into(self, name: str, buffer: Any, verify: bool = True) -> None:
        """Fill a writable buffer of the record's size."""
        record = self.find(name)
        if record.deflated:
            memoryview(buffer).cast("B")[:] = self.read(name, verify)
            return
        self._file.seek(self.origin + record.start)
        read_exactly(self._file, buffer)
        if verify and record.crc:
            self._check(name, record, buffer)

    @staticmethod
    def _check(name: str, record: Record, data: Any) -> None:
        if _crc(data) != record.crc:
            raise damaged(f"the checksum of record {name!r} is wrong")


def _inflated(name: str, data: bytes, size: int) -> bytes:
    """The bytes of a compressed record, no more than it says that it has."""
    inflater = zlib.decompressobj(-zlib.MAX_WBITS)
    try:
        plain = inflater.decompress(data, size + 1)  # 0 would mean any number
    except zlib.error:
        plain = b""
    if len(plain) != size or not inflater.eof:
        raise damaged(f"record {name!r} cannot be decompressed")
    return plain


def bytes_left(file: Any) -> int:
    """The number of bytes from the current position to the end of a file whose ``seek`` may return anything."""
    here = file.tell()
    file.seek(0, 2)
    end = file.tell()
    file.seek(here)
    return end - here


def read_exactly(file: Any, buffer: Any) -> None:
    """Fill a writable buffer from a file.

    Raises:
        RuntimeError: the file ends too early.
    """
    view = memoryview(buffer).cast("B")
    readinto = getattr(file, "readinto", None)
    while len(view):
        if readinto is not None:
            done = readinto(view)
        else:
            data = file.read(len(view))
            done = len(data)
            if done <= len(view):
                view[:done] = data
        refuse_if(type(done) is not int or not 0 < done <= len(view), "unexpected end of file")
        view = view[done:]


def _decoded(name: bytes) -> str:
    try:
        return name.decode()
    except UnicodeDecodeError:
        raise damaged("a record's name is no text") from None


def _wide(extra: bytes, plain: int, packed: int, header: int) -> tuple[int, int, int]:
    """Sizes and position, from the ZIP64 field if the 32-bit fields refer to it."""
    values = [plain, packed, header]
    if 0xFFFFFFFF not in values:
        return plain, packed, header
    while len(extra) >= 4:
        kind, size = struct.unpack_from("<HH", extra)
        refuse_if(4 + size > len(extra), "invalid header or archive is corrupted")
        if kind == 1:
            field = extra[4 : 4 + size]
            for i, value in enumerate(values):
                if value == 0xFFFFFFFF:
                    refuse_if(len(field) < 8, "invalid header or archive is corrupted")
                    (values[i],), field = struct.unpack_from("<Q", field), field[8:]
            return values[0], values[1], values[2]
        extra = extra[4 + size :]
    return plain, packed, header
