"""The least that NumPy needs for a call of the sweep: its value by the cheapest NumPy calls, and nothing else.

No tape, no promotion, no check and no error message: what is left is a floor for every implementation on NumPy. A line
is `call = NumPy's expression`, with the operands of `sweep_calls.py` as arrays, `np` and `scipy.special` as `special`.
The floor of a call holds for its recorded form too. A call in which several words stand for each other is written as in
`sweep_calls.py`; the expression is then the same for all of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.sweep_calls import operands, spelled

NN = """
m.log_softmax(dim=1) = (d := m - m.max(1, keepdims=True)) - np.log(np.exp(d).sum(1, keepdims=True))
"""
ELEMENTWISE = """
"""
INDEXING = """
t.scatter_add_(1, j, n) = np.add.at(m.reshape(-1), (j + np.arange(0, 12, 4)[:, None]).reshape(-1), n.reshape(-1))
m.scatter_add(1, j, n) = np.add.at(m.reshape(-1), (j + np.arange(0, 12, 4)[:, None]).reshape(-1), n.reshape(-1))
t.scatter_(1, j, n) = m.reshape(-1).__setitem__(j + np.arange(0, 12, 4)[:, None], n)
m.gather(1, j) = m.reshape(-1).take(j + np.arange(0, 12, 4)[:, None])
t.index_add_(0, i, n) = np.add.at(m, i, n)
t.index_copy_(0, i, n) = m.__setitem__(i, n)
t.tril_() = np.copyto(m, 0, where=r)
torch.kron(x, y) = (x[:, None] * y).reshape(16)
torch.vstack([x, y]) = np.concatenate((x, y)).reshape(2, 4)
torch.linalg.qr(v) = np.linalg.qr(v)
"""


def floors() -> dict[str, Callable[[], Any]]:
    """The function for each call that has a floor, by the call's name."""
    import numpy as np
    import scipy.special
    import torch

    arrays = {
        name: value.numpy() if torch.is_tensor(value) else value for name, value in operands(torch, False).items()
    }
    scope = {**arrays, "np": np, "special": scipy.special}
    found = {}
    for line in filter(None, (NN + ELEMENTWISE + INDEXING).splitlines()):
        name, _, expression = line.partition(" = ")
        body = eval(f"lambda: {expression}", scope)
        found.update(dict.fromkeys(spelled(name), body))
    return found
