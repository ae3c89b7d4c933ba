"""``torch.PyTorchFileReader``: the records of a file of ``torch.save``, one by one. lightning uses it."""

from __future__ import annotations

import os
from typing import Any

from .records import Archive


class PyTorchFileReader:
    """The records of a checkpoint, by name: ``data.pkl``, ``data/0``, ``version``, ...

    ``name_or_buffer``: a path, or a file open for reading bytes.

    Raises:
        RuntimeError: the file does not exist, is no archive, or lacks the record.

    >>> import io, wengert as torch
    >>> file = io.BytesIO()
    >>> torch.save(torch.ones(2), file)
    >>> reader = torch.PyTorchFileReader(io.BytesIO(file.getvalue()))
    >>> reader.has_record("data/0"), reader.get_record("data/0") == torch.ones(2).numpy().tobytes()
    (True, True)
    """

    def __init__(self, name_or_buffer: Any) -> None:
        if isinstance(name_or_buffer, (str, os.PathLike)):
            try:
                name_or_buffer = open(name_or_buffer, "rb")  # noqa: SIM115  open as long as the reader is
            except OSError as error:
                raise RuntimeError(
                    f"open file failed because of errno {error.errno} on fopen: {error.strerror}, "
                    f"file path: {os.fspath(name_or_buffer)}"
                ) from None
        self._archive = Archive(name_or_buffer)

    def get_all_records(self) -> list[str]:
        """The names of all records."""
        return list(self._archive.records)

    def has_record(self, name: str) -> bool:
        """Whether there is a record of this name."""
        return name in self._archive

    def get_record(self, name: str) -> bytes:
        """The bytes of a record."""
        return self._archive.read(name)

    def get_record_size(self, name: str) -> int:
        """The number of bytes of a record."""
        return self._archive.find(name).size

    def get_record_offset(self, name: str) -> int:
        """The offset in the file of a record's bytes."""
        return self._archive.find(name).start
