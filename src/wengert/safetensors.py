"""``torch.safetensors``: safetensors files, read and written without the package ``safetensors``.

The functions are those of ``safetensors.torch``. The format (github.com/huggingface/safetensors, "Format") is: 8 bytes
with the length of the header, little-endian; the header, a JSON object from names to ``{"dtype", "shape",
"data_offsets"}``, with strings under ``"__metadata__"``; the elements, row-major and little-endian, without gaps. A
file holds only numbers and cannot run code; an invalid file raises ``SafetensorError``.

>>> import os, tempfile, wengert as torch
>>> path = os.path.join(tempfile.mkdtemp(), "weights.safetensors")
>>> torch.safetensors.save_file({"weight": torch.ones(2)}, path, {"source": "here"})
>>> torch.safetensors.load_file(path)
{'weight': tensor([1., 1.])}
"""

from __future__ import annotations

import io
import json
import math
import os
import sys
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ._arrays.memory import address_of
from ._base import dtypes
from ._base.dtypes import dtype as Dtype
from ._base.errors import printable
from ._saving.records import read_exactly
from ._saving.replacing import replacing
from ._tape.tensor import Tensor, wrap
from ._tensor_api.construct import cpu_only
from ._tensor_api.copying import MAX_DIMS
from ._tensor_api.protocol import array_of

__all__ = ["SafetensorError", "load", "load_file", "safe_open", "save", "save_file"]

MAX_HEADER = 100_000_000  # bytes, the format's own limit

_BY_NAME = {
    "BOOL": dtypes.bool_, "U8": dtypes.uint8, "I8": dtypes.int8, "U16": dtypes.uint16, "I16": dtypes.int16,
    "F16": dtypes.float16, "BF16": dtypes.bfloat16, "U32": dtypes.uint32, "I32": dtypes.int32,
    "F32": dtypes.float32, "U64": dtypes.uint64, "I64": dtypes.int64, "F64": dtypes.float64,
    "C64": dtypes.complex64,
}  # fmt: skip
_NAME_OF = {dtype: name for name, dtype in _BY_NAME.items()}


class SafetensorError(Exception):
    """Raised for a file that is no valid safetensors file, and for a name that the file does not have."""


# ---- writing
def save_file(tensors: Mapping[str, Tensor], filename: Any, metadata: Mapping[str, str] | None = None) -> None:
    """Write tensors to a file, which is replaced as a whole or not at all.

    Args:
        tensors: a dict of tensors by name. No two may share memory, which the format would write twice.
        filename: the path.
        metadata: a dict of strings to store in the file.

    Raises:
        ValueError: a value is not a tensor, is not contiguous, or has a dtype that the format lacks.
        RuntimeError: two tensors share memory.
    """
    header, arrays = _described(tensors, metadata)
    with replacing(filename) as file:
        _write(file, header, arrays)


def save(tensors: Mapping[str, Tensor], metadata: Mapping[str, str] | None = None) -> bytes:
    """The bytes that ``save_file`` would write.

    >>> import wengert as torch
    >>> torch.safetensors.load(torch.safetensors.save({"a": torch.arange(2)}))
    {'a': tensor([0, 1])}
    """
    header, arrays = _described(tensors, metadata)
    file = io.BytesIO()
    _write(file, header, arrays)
    return file.getvalue()


def _described(tensors: Any, metadata: Any) -> tuple[bytes, list[np.ndarray]]:
    """The header, and the arrays in the order of the file: the widest dtype first, then by name."""
    if not isinstance(tensors, Mapping):
        raise ValueError(f"Expected a dict of [str, torch.Tensor] but received {type(tensors)}")
    arrays = {name: _checked(name, tensor) for name, tensor in tensors.items()}
    _refuse_shared(arrays)
    header: dict[str, Any] = {}
    if metadata is not None:
        if not all(isinstance(k, str) and isinstance(v, str) for k, v in metadata.items()):
            raise TypeError("metadata must be texts by name")
        header["__metadata__"] = dict(metadata)
    order = sorted(arrays, key=lambda name: (-arrays[name].dtype.itemsize, name))
    place = 0
    for name in order:
        a, end = arrays[name], place + arrays[name].nbytes
        dtype = _NAME_OF[dtypes.BY_NUMPY[a.dtype]]
        header[name] = {"dtype": dtype, "shape": list(a.shape), "data_offsets": [place, end]}
        place = end
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    return text + b" " * (-len(text) % 8), [arrays[name] for name in order]


def _checked(name: Any, tensor: Any) -> np.ndarray:
    if not isinstance(name, str) or not isinstance(tensor, Tensor):
        raise ValueError(
            f"Key `{name}` is invalid, expected torch.Tensor but received {type(tensor)}"
            if isinstance(name, str)
            else f"Expected a dict of [str, torch.Tensor] but received a key of {type(name)}"
        )
    if tensor.dtype not in _NAME_OF:
        raise ValueError(f"Key `{name}`: the format has no dtype {tensor.dtype}")
    a = np.asarray(array_of(tensor))
    if not a.flags.c_contiguous:
        raise ValueError(
            f"You are trying to save a non contiguous tensor: `{name}` which is not allowed. It either means you are "
            "trying to save tensors which are reference of each other in which case it's recommended to save only the "
            "full tensors, and reslice at load time, or simply call `.contiguous()` on your tensor to pack it before "
            "saving."
        )
    return a


def _refuse_shared(arrays: dict[str, np.ndarray]) -> None:
    spans = sorted((address_of(a), address_of(a) + a.nbytes, name) for name, a in arrays.items() if a.nbytes)
    reach, owner = 0, ""
    for start, end, name in spans:
        if start < reach:
            raise RuntimeError(
                f"Some tensors share memory, this will lead to duplicate memory on disk and potential differences when "
                f"loading them again: [{{{owner!r}, {name!r}}}]. clone() one of them, or leave it out."
            )
        reach, owner = end, name


def _write(file: Any, header: bytes, arrays: list[np.ndarray]) -> None:
    file.write(len(header).to_bytes(8, "little") + header)
    for a in arrays:
        data = a if sys.byteorder == "little" else a.byteswap()
        file.write(data.reshape(-1).view(np.uint8).data)


# ---- reading
def load_file(filename: Any, device: Any = "cpu") -> dict[str, Tensor]:
    """The tensors of a file, by name.

    Raises:
        SafetensorError: the file is damaged, or no safetensors file.
        FileNotFoundError: the file does not exist.
    """
    with safe_open(filename, device=device) as file:
        return {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  it is no dict


def load(data: bytes) -> dict[str, Tensor]:
    """The tensors in the bytes that ``save`` returned, by name."""
    source = _Source(io.BytesIO(data), len(data))
    return {name: source.tensor(name) for name in source.entries}


class _Source:
    """A file whose header was read and found consistent with the file's size."""

    def __init__(self, file: Any, size: int) -> None:
        if size < 8:
            raise SafetensorError("Error while deserializing header: header too small")
        file.seek(0)
        length = int.from_bytes(file.read(8), "little")
        if length > MAX_HEADER:
            raise SafetensorError("Error while deserializing header: header too large")
        if length > size - 8:
            raise SafetensorError("Error while deserializing header: invalid header length")
        self._file = file
        self._start = 8 + length
        header = _parsed(file.read(length))
        self.metadata = _texts(header.pop("__metadata__", None))
        self.entries = _entries(header, size - self._start)

    def tensor(self, name: str) -> Tensor:
        """One tensor, read from the file."""
        if name not in self.entries:
            raise SafetensorError(f"File does not contain tensor {name}")
        dtype, shape, start, _ = self.entries[name]
        a = np.empty(shape, dtype.np)
        self._file.seek(self._start + start)
        if a.size:
            try:
                read_exactly(self._file, a.reshape(-1).view(np.uint8))
            except RuntimeError:
                raise SafetensorError(f"the file ends within tensor {name[:100]!a}") from None
        return wrap(a if sys.byteorder == "little" else a.byteswap())


def _parsed(text: bytes) -> dict[str, Any]:
    objects = 0

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal objects
        objects += 1
        if objects * 40 > len(text) + 400:  # an entry has at least 46 characters
            raise SafetensorError("Error while deserializing header: more objects than tensors can be described")
        "".join(text for pair in pairs for text in pair if type(text) is str).encode()  # half of a surrogate pair
        found = dict(pairs)
        if len(found) != len(pairs):
            raise SafetensorError("Error while deserializing header: a name is there twice")
        return found

    try:
        header = json.loads(text.decode(), object_pairs_hook=once)
    except (ValueError, RecursionError) as error:
        said = printable(str(error), 200)
        raise SafetensorError(f"Error while deserializing header: invalid JSON: {said}") from None
    if not isinstance(header, dict) or not text.startswith(b"{"):
        raise SafetensorError("Error while deserializing header: not an object of JSON")
    return header


def _texts(metadata: Any) -> dict[str, str] | None:
    if metadata is None:
        return None
    if not isinstance(metadata, dict) or not all(isinstance(v, str) for v in metadata.values()):
        raise SafetensorError("Error while deserializing header: __metadata__ must hold texts")
    return metadata


def _entries(header: dict[str, Any], size: int) -> dict[str, tuple[Dtype, tuple[int, ...], int, int]]:
    """Name -> dtype, shape, offset. Checks that the tensors fill the rest of the file without gaps or overlaps."""
    entries = {name: _entry(name, facts) for name, facts in header.items()}
    place = 0
    for name, (_, _, start, end) in sorted(entries.items(), key=lambda item: item[1][2:]):
        if start != place:
            raise SafetensorError(
                f"Error while deserializing header: invalid offset for tensor `{printable(name, 100)}`"
            )
        place = end
    if place != size:
        raise SafetensorError("Error while deserializing header: incomplete metadata, file not fully covered")
    return entries


def _entry(name: str, facts: Any) -> tuple[Dtype, tuple[int, ...], int, int]:
    try:
        dtype, shape, offsets = _BY_NAME[facts["dtype"]], facts["shape"], facts["data_offsets"]
        start, end = offsets
        # the number of sizes first: a product of a million numbers takes hours
        fit = type(shape) is list and len(shape) <= MAX_DIMS and all(_is_count(n) for n in (*shape, start, end))
        if not fit or math.prod(n or 1 for n in shape) * dtype.itemsize >= 2**63:  # empty, and yet of no size at all
            raise ValueError
        if math.prod(shape) * dtype.itemsize != end - start:
            raise ValueError
        return dtype, tuple(shape), start, end
    except (KeyError, TypeError, ValueError):
        raise SafetensorError(
            f"Error while deserializing header: the entry of tensor `{printable(name, 100)}` is wrong, or of a dtype "
            "that wengert does not have"
        ) from None


def _is_count(n: Any) -> bool:
    return type(n) is int and 0 <= n < 2**63


class safe_open:
    """A safetensors file whose tensors are read one by one; a context manager.

    >>> import os, tempfile, wengert as torch
    >>> path = os.path.join(tempfile.mkdtemp(), "weights.safetensors")
    >>> torch.safetensors.save_file({"a": torch.eye(3), "b": torch.ones(2)}, path)
    >>> with torch.safetensors.safe_open(path, framework="pt") as file:
    ...     file.keys(), file.get_tensor("b"), file.get_slice("a")[1:, :2]
    (['a', 'b'], tensor([1., 1.]), tensor([[0., 1.],
            [0., 0.]]))
    """

    def __init__(self, filename: Any, framework: str = "pt", device: Any = "cpu") -> None:
        cpu_only(device, "safe_open")
        self._file = open(os.fspath(filename), "rb")  # noqa: SIM115  closed by __exit__; a number is no open file
        try:
            self._source = _Source(self._file, os.fstat(self._file.fileno()).st_size)
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> safe_open:
        return self

    def __exit__(self, *error: object) -> None:
        self._file.close()

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def keys(self) -> list[str]:
        """The names, sorted."""
        return sorted(self._source.entries)

    def offset_keys(self) -> list[str]:
        """The names in the order of the file."""
        return sorted(self._source.entries, key=lambda name: self._source.entries[name][2])

    def metadata(self) -> dict[str, str] | None:
        """The strings stored in the file's metadata."""
        return self._source.metadata

    def get_tensor(self, name: str) -> Tensor:
        """One tensor."""
        return self._source.tensor(name)

    def get_slice(self, name: str) -> Any:
        """A tensor of which ``[...]`` reads a part; it has ``get_shape()`` and ``get_dtype()``."""
        return _Slice(self._source, name)


class _Slice:
    def __init__(self, source: _Source, name: str) -> None:
        if name not in source.entries:
            raise SafetensorError(f"File does not contain tensor {name}")
        self._source = source
        self._name = name

    def get_shape(self) -> list[int]:
        """The shape."""
        return list(self._source.entries[self._name][1])

    def get_dtype(self) -> str:
        """The format's name of the dtype."""
        return _NAME_OF[self._source.entries[self._name][0]]

    def __getitem__(self, index: Any) -> Tensor:
        return self._source.tensor(self._name)[index].clone()
