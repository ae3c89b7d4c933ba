"""Compressed sparse tensors: each line of ``tests/data/compressed.txt`` gives the same text on both libraries, but
for the last digits of numbers.

A line is statements and an expression, between semicolons. The text of a tensor is its ``repr``, dtype, whether it
requires grad and its node's name; of an error, its class and first sentence. ``T`` is the library; the other names
are those of ``scope``.
"""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import Any

import pytest
from printed import alike

import wengert

LINES = (Path(__file__).parent.parent / "data" / "compressed.txt").read_text(encoding="utf-8").splitlines()
SIZE = 60


def scope(T: Any) -> dict[str, Any]:
    """Dense, COO, CSR and CSC tensors, batches, hybrids, index and value dtypes."""
    wide = T.tensor([[0.0, 1, 0], [2, 0, 3], [0, 0, 0], [4, 0, 5]])
    square = T.tensor([[1.0, 0, 2], [0, 3, 0], [4, 0, 5]])
    places = T.tensor([0, 1, 2], dtype=T.int32), T.tensor([1, 0], dtype=T.int32)
    return {
        "T": T, "torch": T, "A": wide, "c": wide.to_sparse_csr(), "k": wide.to_sparse_csc(), "o": wide.to_sparse(),
        "S": square, "s": square.to_sparse_csr(), "sk": square.to_sparse_csc(), "so": square.to_sparse(),
        "s2": T.tensor([[0.0, 0, 1], [0, 2, 0], [3, 0, 0]]).to_sparse_csr(), "dbl": square.double().to_sparse_csr(),
        "d": T.arange(6.0).reshape(3, 2), "v": T.arange(3.0), "e": T.arange(12.0).reshape(4, 3),
        "D": T.arange(9.0).reshape(3, 3), "Bt": T.tensor([[[0.0, 1], [2, 3]], [[1, 0], [4, 5]]]),
        "b": T.sparse_csr_tensor(
            T.tensor([[0, 1, 3], [0, 1, 3]]), T.tensor([[1, 0, 1], [0, 0, 1]]),
            T.tensor([[1.0, 2, 3], [1, 4, 5]]), (2, 2, 2),
        ),
        "i32": T.sparse_csr_tensor(*places, T.tensor([1.0, 2.0]), (2, 2)),
        "z": T.tensor([[0, 1 + 2j], [3j, 0]]).to_sparse_csr(), "n": T.tensor([[0, 1], [3, 0]]).to_sparse_csr(),
        "bo": T.tensor([[False, True], [True, False]]).to_sparse_csr(),
        "h": T.sparse_csr_tensor(T.tensor([0, 1, 2]), T.tensor([1, 0]), T.tensor([[1.0, 2], [3, 4]]), (2, 2, 2)),
        "emp": T.sparse_csr_tensor(T.tensor([0, 0, 0]), T.tensor([], dtype=T.int64), T.tensor([]), (2, 2)),
    }  # fmt: skip


def told(T: Any, x: Any) -> str:
    if isinstance(x, T.Tensor):
        return f"{x!r}|{x.dtype}|{x.requires_grad}|{x.grad_fn and type(x.grad_fn).__name__}"
    if isinstance(x, (tuple, list)):
        return f"{type(x).__name__}({', '.join(told(T, item) for item in x)})"
    return repr(x)


def outcome(T: Any, line: str) -> str:
    names = scope(T)
    *first, last = line.split("; ")
    try:
        for statement in first:
            exec(statement, names)
        return told(T, eval(last, names)).replace("wengert", "torch")
    except Exception as error:  # noqa: BLE001  whatever it is, it is compared
        return f"{type(error).__name__}: " + re.split(r"(?<=[^0-9])\.\s|\n", str(error))[0][:260]


@pytest.mark.parametrize("first", range(0, len(LINES), SIZE))
def test_lines_say_the_same_on_both_libraries(torch: Any, first: int) -> None:
    different = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for line in LINES[first : first + SIZE]:
            got, wanted = outcome(wengert, line), outcome(torch, line)
            if not alike(got, wanted):
                different[line] = (got, wanted)
    assert different == {}
