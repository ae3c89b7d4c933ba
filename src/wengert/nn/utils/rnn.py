"""Sequences of different lengths: padded, or packed for recurrent layers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple, Self

import wengert as torch

from ..._base.constants import type_name
from ..._tape.error_text import expect_tensor
from ..._tape.tensor import Tensor
from ..._tape.view_chain import with_node_name

__all__ = [
    "PackedSequence", "invert_permutation", "pack_padded_sequence", "pack_sequence", "pad_packed_sequence",
    "pad_sequence", "unpack_sequence", "unpad_sequence",
]  # fmt: skip


class PackedSequence_(NamedTuple):
    """The fields of ``PackedSequence``."""

    data: Tensor
    batch_sizes: Tensor
    sorted_indices: Tensor | None
    unsorted_indices: Tensor | None


def _in_dtype(name: str, dtype: str) -> Any:
    """A method that converts the data of a packed sequence."""

    def convert(self: Any) -> Any:
        return self.to(dtype=getattr(torch, dtype))

    convert.__name__, convert.__qualname__ = name, f"PackedSequence.{name}"
    convert.__doc__ = f"The data in {dtype}."
    return convert


class PackedSequence(PackedSequence_):
    """Sequences of different lengths without padding: the first elements of all, then the second ones, and so on.

    ``batch_sizes[k]`` is the number of sequences that have a k-th element. ``pack_sequence`` and
    ``pack_padded_sequence`` make packed sequences.
    """

    def __new__(
        cls, data: Any, batch_sizes: Any = None, sorted_indices: Any = None, unsorted_indices: Any = None
    ) -> Self:
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        if batch_sizes is None:
            if not (isinstance(data, (list, tuple)) and len(data) == 2):
                raise AssertionError("Expected data to be a list or tuple of length 2")
            data, batch_sizes = data
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    def to(self, *args: Any, **kwargs: Any) -> Self:
        """The sequence in another dtype, or itself if nothing changes."""
        data = self.data.to(*args, **kwargs)
        return self if data is self.data else type(self)(data, *self[1:])

    def cpu(self, *args: Any, **kwargs: Any) -> Self:
        """The sequence itself, which is on the CPU."""
        return self.to(*args, **kwargs)

    def cuda(self, *args: Any, **kwargs: Any) -> Self:
        """Raises an error, as PyTorch without CUDA does."""
        return self.to(*args, **{**kwargs, "device": "cuda"})

    def pin_memory(self) -> Self:
        """The sequence itself: on the CPU all memory counts as pinned."""
        return type(self)(*(None if t is None else t.pin_memory() for t in self))

    double = _in_dtype("double", "float64")
    float = _in_dtype("float", "float32")
    half = _in_dtype("half", "float16")
    long = _in_dtype("long", "int64")
    int = _in_dtype("int", "int32")
    short = _in_dtype("short", "int16")
    char = _in_dtype("char", "int8")
    byte = _in_dtype("byte", "uint8")

    @property
    def is_cuda(self) -> bool:
        """False."""
        return self.data.is_cuda

    def is_pinned(self) -> bool:
        """Whether the data is pinned."""
        return self.data.is_pinned()


def invert_permutation(permutation: Tensor | None) -> Tensor | None:
    """The permutation that undoes this one."""
    if permutation is None:
        return None
    output = torch.empty_like(permutation)
    output.scatter_(0, permutation, torch.arange(0, permutation.numel()))
    return output


def pack_padded_sequence(
    input: Tensor, lengths: Any, batch_first: bool = False, enforce_sorted: bool = True
) -> PackedSequence:
    """Pack padded sequences (L, N, *), or (N, L, *) with ``batch_first``.

    ``enforce_sorted``: the sequences must be sorted by length, the longest first.

    >>> import wengert as torch
    >>> from wengert.nn.utils.rnn import pack_padded_sequence
    >>> pack_padded_sequence(torch.tensor([[1, 4], [2, 5], [3, 0]]), [3, 2]).data
    tensor([1, 4, 2, 5, 3])
    """
    expect_tensor("_pack_padded_sequence", "input", 1, input)
    if isinstance(lengths, Tensor):
        lengths = lengths.to(dtype=torch.int64)
    else:
        lengths = torch.as_tensor(lengths, dtype=torch.int64)
    if lengths.dim() != 1:
        raise RuntimeError(
            f"'lengths' argument should be a 1D CPU int64 tensor, but got {lengths.dim()}D cpu Long tensor"
        )
    sorted_indices = None
    if not enforce_sorted:
        lengths, sorted_indices = torch.sort(lengths, descending=True)
        input = input.index_select(0 if batch_first else 1, sorted_indices)
    if batch_first:
        input = input.transpose(0, 1)
    sizes = _batch_sizes(input, lengths.tolist())
    data = torch.cat([input[t, :size] for t, size in enumerate(sizes)], 0)
    data = with_node_name(data, "PackPaddedSequenceBackward0")
    return PackedSequence(data, torch.tensor(sizes, dtype=torch.int64), sorted_indices, None)


def _batch_sizes(input: Tensor, lengths: list[int]) -> list[int]:
    """The number of sequences that have a k-th element, for each k."""
    if input.numel() == 0:
        raise RuntimeError("Cannot pack empty tensors.")
    if len(lengths) != input.size(1):
        raise RuntimeError(
            f"Expected `len(lengths)` to be equal to batch_size, but got {len(lengths)} (batch_size={input.size(1)})"
        )
    if any(n <= 0 for n in lengths):
        raise RuntimeError(
            "Length of all samples has to be greater than 0, but found an element in 'lengths' that is <= 0"
        )
    if lengths != sorted(lengths, reverse=True):
        raise RuntimeError(
            "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. You can pass "
            "`enforce_sorted=False` to pack_padded_sequence and/or pack_sequence to sidestep this requirement if you "
            "do not need ONNX exportability."
        )
    if lengths[0] > input.size(0):
        raise RuntimeError(f"Expected sequence length to be at most {input.size(0)}, but got {lengths[0]}")
    return [sum(n > t for n in lengths) for t in range(lengths[0])]


def pad_packed_sequence(
    sequence: PackedSequence, batch_first: bool = False, padding_value: float = 0.0, total_length: int | None = None
) -> tuple[Tensor, Tensor]:
    """Undo packing: padded sequences (L, N, *), or (N, L, *) with ``batch_first``, and their lengths."""
    sizes = sequence.batch_sizes.tolist()
    steps, batch = len(sizes), sizes[0]
    if total_length is not None:
        if total_length < steps:
            raise ValueError(
                "Expected total_length to be at least the length of the longest sequence in input, but got "
                f"total_length={total_length} and max sequence length being {steps}"
            )
        steps = total_length
    data = sequence.data
    padded = data.new_full((steps, batch, *data.shape[1:]), padding_value)
    first = begin = 0
    for end, size in enumerate([*sizes[1:], 0], 1):  # steps of one size are written at once, as in PyTorch
        if size != sizes[first]:
            rows = (end - first) * sizes[first]
            part = data[begin : begin + rows].view(end - first, sizes[first], *data.shape[1:])
            padded[first:end].narrow(1, 0, sizes[first]).copy_(part)
            first, begin = end, begin + rows
    if batch_first:
        padded = padded.transpose(0, 1)
    lengths = torch.tensor([sum(size > n for size in sizes) for n in range(batch)], dtype=torch.int64)
    order = sequence.unsorted_indices
    if order is not None:
        padded, lengths = padded.index_select(0 if batch_first else 1, order), lengths[order]
    return padded, lengths


def pad_sequence(
    sequences: Any, batch_first: bool = False, padding_value: float = 0.0, padding_side: str = "right"
) -> Tensor:
    """Stack sequences (L_k, *) of different lengths to (L, N, *), or (N, L, *) with ``batch_first``.

    >>> import wengert as torch
    >>> from wengert.nn.utils.rnn import pad_sequence
    >>> pad_sequence([torch.tensor([1, 2, 3]), torch.tensor([4])], batch_first=True)
    tensor([[1, 2, 3],
            [4, 0, 0]])
    """
    if not isinstance(sequences, Iterable):
        raise RuntimeError(
            f"pad_sequence: Expected iterable for input sequences, but got arg of type: {type(sequences)}"
        )
    if padding_side not in ("left", "right"):
        raise RuntimeError(f"Expected padding_side to be one of left or right, but got {padding_side}.")
    rows = tuple(sequences)
    for place, row in enumerate(rows):
        if not isinstance(row, Tensor):
            raise TypeError(f"expected Tensor as element {place} in argument 0, but got {type_name(row)}")
    if not rows:
        raise RuntimeError("received an empty list of sequences")
    longest = max(row.size(0) for row in rows)
    padded = []
    for row in (row.to(rows[0].dtype) for row in rows):
        missing = longest - row.size(0)
        if row.shape[1:] != rows[0].shape[1:]:  # PyTorch copies it into a row of that shape
            row = row.new_empty(row.size(0), *rows[0].shape[1:]).copy_(row)
        if missing:
            blank = row.new_full((missing, *row.shape[1:]), padding_value)
            row = torch.cat([row, blank] if padding_side == "right" else [blank, row], 0)
        padded.append(row)
    return torch.stack(padded, 0 if batch_first else 1)


def unpad_sequence(padded_sequences: Tensor, lengths: Tensor, batch_first: bool = False) -> list[Tensor]:
    """Undo padding: the sequences as a list."""
    rows = padded_sequences if batch_first else padded_sequences.transpose_(0, 1)  # in place, as in PyTorch
    steps = torch.arange(rows.shape[1])
    return [row[steps < n] for row, n in zip(rows, lengths, strict=True)]


def pack_sequence(sequences: list[Tensor], enforce_sorted: bool = True) -> PackedSequence:
    """Pack sequences (L_k, *) of different lengths."""
    lengths = torch.as_tensor([s.size(0) for s in sequences])
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences: PackedSequence) -> list[Tensor]:
    """Undo packing: the sequences as a list."""
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)
