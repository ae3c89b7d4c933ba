"""Random hostile files for ``torch.load`` and ``torch.safetensors``: ``python tests/saving/fuzzing.py --files 100000``.

Two sources. ``changed`` takes a good file and changes bytes, numbers and opcodes. ``composed`` writes pickles from a
grammar: opcodes over the names that a file may use, with arguments that mostly fit. The n-th file of a seed is always
the same.

Each file is loaded in a worker process whose memory and processor time are limited. It must load, and its tensors then
be readable, or raise an error of those that are documented. Anything else is reported with the file's number (another
error, a crash, more memory or time than a file may take), and ``--only NUMBER`` writes that file and loads it again.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import pickle
import random
import resource
import signal
import struct
import subprocess
import sys
import tarfile
import traceback
import warnings
import zlib
from collections import Counter, OrderedDict
from collections.abc import Callable
from typing import Any

MEMORY = 192 << 20  # bytes beyond what the process has after the import; the files have some kilobytes
SECONDS = 4.0  # of processor time for one file
MAX_SHOWN = 20


# ------------------------------------------------------------------------------------------------ what a good file has
def objects(torch: Any) -> list[Any]:
    """What programs save: one object of each kind."""
    x, z, w = torch.arange(6.0).reshape(2, 3), torch.tensor([1 + 2j, 3]), torch.tensor([1 + 2j, 3])
    tagged = torch.ones(2)
    tagged.tag = {"a": 1}
    module = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.BatchNorm1d(2))
    with torch.no_grad():
        module[0].weight.fill_(0.5)
        module[0].bias.fill_(-1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # nested tensors are a prototype
        rows = [torch.ones(2, 3), torch.zeros(1, 3)]
        nested = [torch.nested.nested_tensor(rows, layout=layout) for layout in (torch.strided, torch.jagged)]
        moved = torch.nested.nested_tensor(rows, requires_grad=True).transpose(1, 2)
    return [
        x, [x, x.t(), x[0], x[:, 1:]], z.conj(), w.conj().imag, torch.eye(3).to_sparse(), tagged, module.state_dict(),
        torch.nn.Parameter(x, False), torch.ones(3, dtype=torch.uint16),
        {"a": [1, 2.5, None, True, "text", b"bytes", (1, 2), {1, 2}, frozenset([3]), 1j, bytearray(b"ab")]},
        OrderedDict([((1, "a"), torch.Size([2, 3])), (2**70, torch.float32)]), Counter("abca"), torch.device("cpu"),
        torch.empty(2, 3, device="meta"), torch.empty(0, 4), torch.tensor(7), torch.tensor([True, False]),
        torch.eye(3).to_sparse_csr(), {"batch": torch.ones(2, 1, 2).to_sparse_csc()},
        torch.eye(4).to_sparse_bsr((2, 2)), torch.ones(2, 2, 3).to_sparse_bsc((1, 3)), *nested, moved,
    ]  # fmt: skip


def good_files(torch: Any) -> dict[str, list[bytes]]:
    """Files of each kind, without checksums, which would hide what comes behind them."""
    before = torch.serialization.get_crc32_options()
    torch.serialization.set_crc32_options(False)
    files: dict[str, list[bytes]] = {"zip": [], "stream": [], "safetensors": []}
    for obj in objects(torch):
        for kind in ("zip", "stream"):
            file = io.BytesIO()
            torch.save(obj, file, _use_new_zipfile_serialization=kind == "zip")
            files[kind].append(file.getvalue())
    torch.serialization.set_crc32_options(before)
    files["stream"].append(tar_file())
    tensors = {
        "a": torch.arange(6.0).reshape(2, 3),
        "empty": torch.empty(0, 4),
        "c": torch.tensor([True]),
        "d": torch.tensor(3),
    }
    files["safetensors"] = [torch.safetensors.save(tensors, {"k": "v"}), torch.safetensors.save({"x": torch.ones(9)})]
    return files


def tar_file() -> bytes:
    """A tensor as PyTorch before 0.1.10 saved it."""
    storage = pickle.dumps(1, 2) + b"\x80\x02(X\1\0\0\x007X\3\0\0\0cpuctorch\nFloatStorage\nt." + struct.pack("<q", 6)
    storage += bytes(24) + pickle.dumps([], 2)
    tensor = pickle.dumps(1, 2) + b"\x80\x02(K\5X\1\0\0\x007ctorch\nFloatTensor\nt."
    tensor += struct.pack("<iiqqqqq", 2, 0, 2, 2, 3, 1, 1)
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as tar:
        for name, data in (("storages", storage), ("tensors", tensor), ("pickle", b"\x80\x02]K\5Qa.")):
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            tar.addfile(entry, io.BytesIO(data))
    return file.getvalue()


# ------------------------------------------------------------------------------------------------------- changed files
NUMBERS = [0, 1, 2, 127, 128, 255, 256, 2**15, 2**16, 2**31 - 1, 2**31, 2**32 - 1, 2**62, 2**63 - 1, 2**63, 2**64 - 1]
OPCODES = b"()]}NabcdeghijqrstuQRVUTXKMJGII\x80\x81\x85\x86\x87\x88\x89\x8a\x8b\x8c\x8e\x8f\x90\x91\x92\x93\x94."
HEADER_WORDS = [
    b"9223372036854775807", b"-1", b"0", b"1e400", b"NaN", b'"F32"', b'"BOOL"', b"[]", b"{}", b"null", b"[[[[", b",0",
    b'"a"', b'"__metadata__":', b'"shape":[', b"18446744073709551616", b'"\\ud800"', b"true",
]  # fmt: skip


def changed(data: bytes, rng: random.Random, words: list[bytes]) -> bytes:
    """A file with some changes."""
    out = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 3, 8))):
        at = rng.randrange(len(out) or 1)
        how = rng.randrange(9)
        if how == 0:
            out[at : at + 1] = bytes([rng.randrange(256)])
        elif how == 1:
            out[at : at + 1] = bytes([rng.choice(OPCODES)])
        elif how == 2:
            size = rng.choice((1, 2, 4, 8))
            out[at : at + size] = (rng.choice(NUMBERS) & (256**size - 1)).to_bytes(size, "little")
        elif how == 3:
            del out[at : at + rng.choice((1, 2, 5, 50))]
        elif how == 4:
            other = rng.randrange(len(out) or 1)
            out[at:at] = out[other : other + rng.choice((1, 4, 20, 100))]
        elif how == 5:
            out[at:at] = rng.choice(words)
        elif how == 6:
            word = rng.choice(words)
            out[at : at + len(word)] = word
        elif how == 7:
            out[at:at] = out[at : at + rng.choice((1, 2, 5, 20))] * rng.choice((2, 50, 500))
        elif rng.random() < 0.3:
            del out[at:]
    return bytes(out)


# ------------------------------------------------------------------------------------------------ files from a grammar
STORAGES = [("FloatStorage", 16), ("LongStorage", 8), ("BoolStorage", 64), ("ByteStorage", 64), ("DoubleStorage", 8),
            ("ComplexFloatStorage", 8)]  # fmt: skip
COMPRESSED = [f"torch.sparse_{kind}" for kind in ("csr", "csc", "bsr", "bsc")]


class Grammar:
    """Writes one pickle: each method gives the opcodes that leave one value on the stack."""

    def __init__(self, rng: random.Random, names: list[str]) -> None:
        self.rng, self.names = rng, names
        self.known = 0  # entries of the memo
        self.left = rng.choice((3, 6, 12, 30))  # values to come
        self.storages: dict[str, tuple[str, int]] = {}
        self.used: dict[str, int] = {}

    def pickle(self) -> bytes:
        return b"\x80\x02" + self.value() + b"."

    def value(self) -> bytes:
        self.left -= 1
        if self.left < 0:
            return self.plain()
        makers: list[Callable[[], bytes]] = [
            self.plain, self.tensor, self.tensor, self.call, self.call, self.storage, self.list, self.table, self.tuple,
            self.get, self.name, self.built, self.set, self.twice, self.again, self.long,
        ]  # fmt: skip
        made = self.rng.choice(makers)()
        if self.rng.random() < 0.2:
            made += b"q%c" % (self.known % 256)
            self.known += 1
        return made

    def plain(self) -> bytes:
        r = self.rng
        return r.choice(
            (self.number, self.text, lambda: r.choice((b"N", b"\x88", b"\x89", b")")), self.real, self.bytes)
        )()

    def number(self) -> bytes:
        n = self.rng.choice((0, 1, 2, 3, 4, 6, -1, *NUMBERS, -(2**63), 2**70, 10**30))
        if 0 <= n < 256:
            return b"K%c" % n
        data = n.to_bytes(n.bit_length() // 8 + 1, "little", signed=True)
        return b"\x8a%c" % len(data) + data

    def small(self) -> bytes:
        return self.number() if self.rng.random() < 0.1 else b"K%c" % self.rng.choice((0, 1, 1, 2, 3, 4))

    def real(self) -> bytes:
        return b"G" + struct.pack(">d", self.rng.choice((0.0, 1.5, -1.0, float("nan"), float("inf"), 1e300)))

    def bytes(self) -> bytes:
        data = bytes(self.rng.randrange(256) for _ in range(self.rng.randrange(4)))
        return b"U%c" % len(data) + data

    def text(self, *words: str) -> bytes:
        pool = words or (
            "", "a", "0", "1", "cpu", "meta", "cuda", "storage", "latin1", "torch.sparse_coo", "torch.strided", "é",
            "__array_interface__", "__class__", "requires_grad", "conj", "neg", "tag", "data", "x" * 300, "_metadata",
        )  # fmt: skip
        data = self.rng.choice(pool).encode()
        return b"X" + struct.pack("<I", len(data)) + data

    def kept(self, made: bytes) -> tuple[bytes, bytes]:
        """A value that is put into the memo, and the opcodes that get it."""
        number = b"%c" % (self.known % 256)
        self.known += 1
        return made + b"q" + number, b"h" + number

    def long(self) -> bytes:
        """A text or bytes so long that a look at it takes time."""
        made = b"X" + struct.pack("<I", 20_000) + b"a" * 20_000
        return self.rng.choice((made, b"c_codecs\nencode\n" + made + self.text("latin1") + b"\x86R"))

    def twice(self) -> bytes:
        """A tensor of the first formats, to which the file refers before and after its state."""
        made, again = self.kept(self.name("torch.FloatTensor", "torch.LongTensor", "torch.Tensor") + b")R")
        state = b"(" + self.storage() + self.small() + self.sizes() + self.sizes() + b"t"
        return b"(" + made + state + b"b" + again + b"t"

    def again(self) -> bytes:
        """One call, name of an attribute, key or id, with or without something long in it, many times."""
        function, call = self.kept(self.name(*self.names[:5], "torch._utils._rebuild_parameter", "builtins.set"))
        value, get = self.kept(self.rng.choice((self.tensor, self.long, self.tuple, self.list, self.storage))())
        args, given = self.kept(self.rng.choice((get + b"\x85", get + b"\x88N\x87")))
        ident = b"(" + self.text("storage") + b"ctorch\nFloatStorage\n" + self.text("0") + get + b"K\1NtQ"
        state, named = self.kept(b"}" + get + b"K\1s")
        item = self.rng.choice(
            (call + given + b"R", ident, b"}" + get + b"Ns", b"ccollections\nOrderedDict\n)R" + named + b"b",
             b"ccollections\nCounter\n" + named + b"\x85R", b"\x8f(" + get + b"\x90")
        )  # fmt: skip
        return b"(" + function + value + args + state + b"](" + item * self.rng.choice((2, 50, 3000)) + b"et"

    def get(self) -> bytes:
        return b"h%c" % self.rng.randrange(min(self.known, 256)) if self.known else self.plain()

    def name(self, *names: str) -> bytes:
        module, _, name = self.rng.choice(names or self.names).rpartition(".")
        return b"c%s\n%s\n" % (module.encode(), name.encode())

    def dtype(self) -> bytes:
        return self.name(
            "torch.float32", "torch.int64", "torch.bool", "torch.complex64", "torch.uint16", "torch.float64"
        )

    def _several(self, make: Callable[[], bytes] | None = None) -> bytes:
        return b"".join((make or self.value)() for _ in range(self.rng.choice((0, 1, 1, 2, 3))))

    def tuple(self) -> bytes:
        return b"(" + self._several() + b"t"

    def list(self) -> bytes:
        return b"](" + self._several() + b"e"

    def set(self) -> bytes:
        return b"\x8f(" + self._several() + b"\x90"

    def table(self) -> bytes:
        start = self.rng.choice((b"}", b"}", b"ccollections\nOrderedDict\n)R"))
        return start + b"(" + self._several(lambda: self.value() + self.value()) + b"u"

    def attributes(self) -> bytes:
        return b"}(" + self._several(lambda: self.text() + self.value()) + b"u"

    def sizes(self) -> bytes:
        return b"(" + self._several(self.small) + b"t"

    def storage(self) -> bytes:
        key = self.rng.choice("012")
        kind, size = self.storages.setdefault(key, self.rng.choice(STORAGES))
        self.used[key] = size
        if self.rng.random() < 0.05:
            kind, size = self.rng.choice(STORAGES)
        name = self.name("torch." + kind if self.rng.random() < 0.95 else "torch.storage.UntypedStorage")
        count = b"K%c" % size if self.rng.random() < 0.97 else self.number()
        view = b"N" if self.rng.random() < 0.9 else b"(" + self.text("v", "w") + self.small() + self.small() + b"t"
        return b"(" + self.text("storage") + name + self.text(key) + self.text("cpu", "meta") + count + view + b"tQ"

    def flag(self) -> bytes:
        return self.value() if self.rng.random() < 0.03 else self.rng.choice((b"\x88", b"\x89"))

    def tensor(self) -> bytes:
        rank = self.rng.choice((0, 1, 1, 2, 3))
        size = b"(" + b"".join(self.small() for _ in range(rank)) + b"t"
        stride = b"(" + b"".join(self.small() for _ in range(rank)) + b"t"
        parts = [self.storage(), self.small(), size, stride, self.flag(), b"N"]
        function = self.rng.choice(
            ("_rebuild_tensor", "_rebuild_tensor_v2", "_rebuild_tensor_v2", "_rebuild_tensor_v3")
        )
        if function == "_rebuild_tensor":
            del parts[4:]
        elif function == "_rebuild_tensor_v3":
            parts.append(self.dtype())
        if function != "_rebuild_tensor" and self.rng.random() < 0.3:
            parts.append(b"}" + self.text("conj", "neg") + b"\x88s")
        return self._called("torch._utils." + function, parts)

    def strided(self) -> list[bytes]:
        """A call inside of ``_rebuild_from_type_v2``: function, type, arguments."""
        return [
            self.name("torch._utils._rebuild_tensor_v2", "torch._utils._rebuild_parameter", *self.names[:3]),
            self.name("torch.Tensor", "torch.nn.parameter.Parameter"),
            b"(" + self.storage() + b"K\0" + self.sizes() + self.sizes() + b"\x89Nt",
        ]

    def jagged(self) -> bytes:
        """The arguments of a nested tensor."""
        made = b"}(" + self.text("values") + self.tensor() + self.text("offsets") + self.tensor()
        made += self.text("lengths") + self.rng.choice((b"N", self.tensor()))
        made += self.text("_metadata_cache") + self.rng.choice((b"}", self.table()))
        return made + self.text("_ragged_idx") + self.small() + self.text("requires_grad") + self.flag() + b"u"

    def with_state(self) -> list[bytes]:
        """The same of a call that sets attributes."""
        return [
            self.name("torch._utils._rebuild_parameter_with_state"),
            self.name("torch.Tensor", "torch.nn.parameter.Parameter"),
            b"(" + self.tensor() + b"\x89N" + self.attributes() + b"t",
        ]

    def _called(self, function: str, parts: list[bytes]) -> bytes:
        if self.rng.random() < 0.08 and parts:
            parts[self.rng.randrange(len(parts))] = self.value()
        return self.name(function) + b"(" + b"".join(parts) + b"tR"

    def call(self) -> bytes:
        calls: dict[str, Callable[[], list[bytes]]] = {
            "torch._utils._rebuild_parameter": lambda: [self.tensor(), b"\x88", b"N"],
            "torch._utils._rebuild_parameter_with_state": lambda: [self.tensor(), b"\x89", b"N", self.attributes()],
            "torch._tensor._rebuild_from_type_v2": lambda: [
                *self.rng.choice((self.strided, self.with_state))(), self.attributes()
            ],
            "torch._utils._rebuild_device_tensor_from_cpu_tensor": lambda: [
                self.tensor(), self.dtype(), self.text("cpu"), b"\x89",
            ],
            "torch._utils._rebuild_sparse_tensor": lambda: self.rng.choice([
                [
                    self.name("torch.serialization._get_layout") + self.text("torch.sparse_coo") + b"\x85R",
                    b"(" + self.tensor() + self.tensor() + self.sizes() + b"\x88t",
                ],
                [
                    self.name("torch.serialization._get_layout") + self.text(*COMPRESSED)
                    + b"\x85R",
                    b"(" + self.tensor() + self.tensor() + self.tensor() + self.sizes() + b"t",
                ],
            ]),
            "torch._utils._rebuild_nested_tensor": lambda: [self.tensor() for _ in range(4)],
            "torch.nested._internal.nested_tensor._rebuild_njt": lambda: [self.jagged()],
            "torch._utils._rebuild_meta_tensor_no_storage": lambda: [self.dtype(), self.sizes(), self.sizes(), b"\x89"],
            "torch.serialization._get_layout": lambda: [self.text()],
            "torch.Size": lambda: [self.sizes()],
            "torch.device": lambda: [self.text("cpu", "meta", "cuda:0", "cpu:99999999999999999999", "")],
            "collections.OrderedDict": lambda: [
                b"](" + self._several(lambda: self.value() + self.value() + b"\x86") + b"e"
            ],
            "collections.Counter": lambda: [self.table()],
            "builtins.set": lambda: [self.list()],
            "builtins.frozenset": lambda: [self.list()],
            "builtins.bytearray": lambda: [self.text(), self.text("latin1")],
            "builtins.complex": lambda: [self.real(), self.real()],
            "_codecs.encode": lambda: [self.text(), self.text("latin1")],
            "torch.FloatTensor": list,
            "torch.nn.parameter.Parameter": lambda: [self.tensor()],
        }  # fmt: skip
        function = self.rng.choice([*calls] * 3 + self.names[:1])
        return self._called(function, calls[function]() if function in calls else [self._several()])

    def built(self) -> bytes:
        make = self.rng.choice(
            (
                lambda: b"ccollections\nOrderedDict\n)R" + self.attributes(),
                lambda: (
                    b"ctorch\nFloatTensor\n)R(" + self.storage() + self.small() + self.sizes() + self.sizes() + b"t"
                ),
                lambda: b"ctorch.nn.parameter\nParameter\n" + self.tensor() + b"\x85R(" + self.tensor() + b"\x88Nt",
                lambda: self.value() + self.value(),
            )
        )
        return make() + b"b"


def composed(rng: random.Random, names: list[str], writer: Any) -> tuple[str, bytes]:
    """A file whose pickle comes from the grammar: a zip file, or a stream."""
    grammar = Grammar(rng, names)
    data = grammar.pickle()
    elements = bytes(rng.choice((0, 0, 0, 1, 2, 63, 128, 255)) for _ in range(64))
    if rng.random() < 0.3:
        elements = struct.pack("<8q", *(rng.choice((0, 0, 1, 1, 2, -1)) for _ in range(8)))  # indices, perhaps
    if rng.random() < 0.6:
        file = io.BytesIO()
        archive = writer(file.write, "a", False)
        archive.add("data.pkl", data)
        for key in "012":
            archive.add(f"data/{key}", elements)
        if rng.random() < 0.99:
            archive.add("version", b"3\n")
        if rng.random() < 0.2:
            archive.add("byteorder", rng.choice((b"big", b"little", b"\x1b[2J")))
        archive.close()
        return "zip", file.getvalue()
    head = [pickle.dumps(part, 2) for part in (0x1950A86A20F9469CFC6C, 1001, {"little_endian": rng.random() < 0.9})]
    keys = [*grammar.used] if rng.random() < 0.95 else rng.sample("012", rng.randrange(4))
    tail = b"".join(struct.pack("<q", grammar.used.get(key, 8)) + elements for key in keys)
    listed = pickle.dumps(keys, 2)
    if rng.random() < 0.05:  # one long text instead
        listed = (
            b"\x80\x02" + grammar.kept(grammar.long())[0] + b"](" + b"h%c" % ((grammar.known - 1) % 256) * 500 + b"e."
        )
    return "stream", b"".join((*head, data, listed, tail))


# ---------------------------------------------------------------------------------------------- one file after another
class Source:
    """The files of a seed, by number."""

    def __init__(self, torch: Any, seed: int) -> None:
        from wengert._saving.admitted import KNOWN
        from wengert._saving.records import ArchiveWriter

        self.seed, self.good, self.writer = seed, good_files(torch), ArchiveWriter
        self.names = sorted(KNOWN)
        self.words = [b"c%s\n%s\n" % tuple(part.encode() for part in n.rpartition(".")[::2]) for n in self.names]

    def file(self, number: int) -> tuple[str, bytes]:
        """The kind and the bytes of a file."""
        rng = random.Random(f"{self.seed}-{number}")
        if rng.random() < 0.5:
            return composed(rng, rng.sample(self.names, len(self.names)), self.writer)
        kind = rng.choice(("zip", "zip", "stream", "stream", "safetensors"))
        data = rng.choice(self.good[kind])
        if kind == "safetensors":
            return kind, changed(data, rng, HEADER_WORDS)
        if kind == "zip" and rng.random() < 0.7:  # a good archive of a changed pickle
            return kind, self._with_changed_records(data, rng)
        return kind, changed(data, rng, self.words)

    def _with_changed_records(self, data: bytes, rng: random.Random) -> bytes:
        from wengert._saving.records import Archive

        archive, file = Archive(io.BytesIO(data)), io.BytesIO()
        writer = self.writer(file.write, "a", False)
        for name in archive.records:
            record = archive.read(name)
            hit = name == "data.pkl" or rng.random() < 0.2
            writer.add(name, changed(record, rng, self.words) if hit else record)
        writer.close()
        return file.getvalue()


def outcome(torch: Any, kind: str, data: bytes) -> str:
    """ "loaded", or the class of a documented error; every other exception comes out."""
    try:
        if kind == "safetensors":
            got: Any = torch.safetensors.load(data)
        elif kind == "zip" and zlib.crc32(data) % 8 == 0:
            got = mapped(torch, data)
        else:
            got = torch.load(io.BytesIO(data))
    except torch.safetensors.SafetensorError:
        return "SafetensorError"
    except (pickle.UnpicklingError, RuntimeError, EOFError, ValueError) as error:
        if kind == "safetensors" or isinstance(error, RecursionError):
            raise
        said = str(error).replace("\033[1m", "").replace("\033[0m", "")  # PyTorch's own
        if len(said) > 5000 or not all(c.isprintable() or c in "\n\t" for c in said):
            raise AssertionError("an error of more than 5000 characters, or of some that a terminal obeys") from error
        return type(error).__name__
    read(torch, got, len(data))
    return "loaded"


def mapped(torch: Any, data: bytes) -> Any:
    """The object of a file that is mapped into memory."""
    number = os.memfd_create("hostile")
    try:
        os.write(number, data)
        return torch.load(f"/proc/self/fd/{number}", mmap=True)
    finally:
        os.close(number)


def read(torch: Any, obj: Any, size: int) -> None:
    """Read all elements of an object's tensors, as far as they are not repeated."""
    import numpy as np

    waiting, seen = [obj], set()
    while waiting:
        item = waiting.pop()
        if id(item) in seen:
            continue
        seen.add(id(item))
        assert not isinstance(item, (torch.Tensor, OrderedDict)) or not any(n.startswith("__") for n in vars(item))
        if isinstance(item, torch.Tensor):
            waiting.extend(item.__dict__.values())
            if item.is_nested and item.layout is torch.jagged:  # whose parts need not be all of its elements
                ends = item.offsets().tolist()
                assert ends == sorted(ends) or item.lengths() is not None
                assert 0 <= min(ends) <= max(ends) <= item._values.shape[item._ragged_idx - 1]
            elif item.is_nested:
                waiting += item.unbind()
                assert sum(part.numel() for part in item.unbind()) == item.numel()
            elif item.is_sparse:
                places, shape = item._indices(), item.shape
                assert all(0 <= i < n for row, n in zip(places.tolist(), shape, strict=False) for i in row)
                waiting += [places, item._values()]
            elif item.layout is not torch.strided:
                waiting += [item.to_sparse(), item.values()]  # which uses the indices
            elif not item.is_meta and item.numel() <= 1 << 16:
                a = np.asarray(item.detach())
                assert a.shape == tuple(item.shape) and a.dtype is item.dtype.np
                zlib.crc32(a.tobytes())
                assert item.untyped_storage().nbytes() <= 16 * size + 64
        elif isinstance(item, dict):
            waiting.extend((*item.keys(), *item.values(), *vars(item).values()) if type(item) is OrderedDict
                           else (*item.keys(), *item.values()))  # fmt: skip
        elif isinstance(item, (list, tuple, set, frozenset)):
            waiting.extend(item)


class TooSlow(BaseException):
    """A file took more than ``SECONDS`` of processor time."""


def work(seed: int, first: int, last: int, step: int, place: int, torch: Any) -> None:
    """Load every ``step``-th file and print what is wrong, one line of JSON each; the counts come last."""

    def too_slow(*_: Any) -> None:
        raise TooSlow

    source = Source(torch, seed)
    signal.signal(signal.SIGVTALRM, too_slow)
    with open("/proc/self/statm") as file:
        pages = int(file.read().split()[0])
    limit = pages * os.sysconf("SC_PAGE_SIZE") + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    counts: Counter[str] = Counter()
    for number in range(first, last, step):
        os.pwrite(place, struct.pack("<q", number), 0)  # which file it was, if the process ends
        kind, data = source.file(number)
        signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
        try:
            counts[f"{kind} {outcome(torch, kind, data)}"] += 1
        except BaseException as error:  # noqa: BLE001  whatever it is, it is the finding
            counts[f"{kind} WRONG"] += 1
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
            text = "".join(traceback.format_exception(error)[-3:])[-1500:]
            print(json.dumps({"number": number, "kind": kind, "error": type(error).__name__, "text": text}), flush=True)
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    print(json.dumps({"counts": counts}), flush=True)


def run(files: int, seed: int, workers: int, folder: str) -> tuple[Counter[str], list[dict[str, Any]]]:
    """Load ``files`` files in ``workers`` processes; the counts of outcomes, and what is wrong."""
    running = []
    for first in range(workers):
        place = os.open(os.path.join(folder, f"place-{first}"), os.O_RDWR | os.O_CREAT)
        numbers = map(str, (first, files, workers, place))
        command = [sys.executable, __file__, "--seed", str(seed), "--work", *numbers]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, pass_fds=(place,))
        running.append((process, place))
    counts: Counter[str] = Counter()
    wrong: list[dict[str, Any]] = []
    for process, place in running:
        lines = [json.loads(line) for line in process.communicate()[0].splitlines()]
        counts.update(next((line["counts"] for line in lines if "counts" in line), {}))
        wrong += [line for line in lines if "number" in line]
        if process.returncode:
            (number,) = struct.unpack("<q", os.pread(place, 8, 0) or bytes(8))
            wrong.append({"number": number, "error": f"the process ended with {process.returncode}", "text": ""})
        os.close(place)
    return counts, wrong


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description="Load random hostile files.")
    parser.add_argument("--files", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--only", type=int, help="write this file as 'hostile.NUMBER' and load it")
    parser.add_argument("--work", nargs=4, type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.work or options.only is not None:
        import wengert as torch

        if options.only is not None:
            kind, data = Source(torch, options.seed).file(options.only)
            with open(f"hostile.{options.only}", "wb") as file:
                file.write(data)
            print(kind, len(data), outcome(torch, kind, data))
        else:
            work(options.seed, *options.work, torch)
        return
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        counts, wrong = run(options.files, options.seed, options.workers, folder)
    for name, count in sorted(counts.items()):
        print(f"{count:9} {name}")
    for finding in wrong[:MAX_SHOWN]:
        print(finding["number"], finding.get("kind"), finding["error"], finding["text"], sep="\n  ")
    print(f"{sum(counts.values())} files, {len(wrong)} wrong")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
