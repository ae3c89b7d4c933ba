"""The public surface: names, docstrings, signatures."""

from __future__ import annotations

import inspect
import subprocess
import sys

import pytest

import wengert as torch
from wengert._base.registry import PUBLIC, REGISTRY

SPACES = {"torch": torch, "Tensor": torch.Tensor}


@pytest.mark.parametrize("space", sorted(SPACES))
def test_every_declared_name_is_there(space: str) -> None:
    missing = [n for n in PUBLIC[space] if not hasattr(SPACES[space], n)]
    assert not missing


def test_all_lists_what_is_there() -> None:
    assert all(hasattr(torch, n) for n in torch.__all__)
    assert {"Tensor", "tensor", "no_grad", "float32", "autograd", "manual_seed", "Size"} <= set(torch.__all__)


def test_no_private_name_is_declared_public() -> None:
    allowed = {"_softmax_backward_data", "_log_softmax_backward_data"}
    names = [n for names in PUBLIC.values() for n in names if n.startswith("_") and not n.startswith("__")]
    assert [n for n in names if n not in allowed and not hasattr(torch.Tensor, n) and not hasattr(torch, n)] == []


def test_every_operator_has_a_docstring() -> None:
    assert [name for name, info in REGISTRY.items() if not (info.doc or "").strip()] == []


def test_every_public_function_has_a_docstring() -> None:
    bare = [f"{space}.{n}" for space, names in PUBLIC.items() for n, fn in names.items()
            if callable(fn) and not inspect.getdoc(fn) and not n.startswith("__")]  # fmt: skip
    assert bare == []


def test_usage_names_of_the_first_two_groups() -> None:
    """The operators that make 95 % of uses in public programs (shared/USAGE.md)."""
    functions = [
        "mul", "add", "to", "reshape", "sub", "cat", "unsqueeze", "sum", "div", "view", "transpose", "zeros", "item",
        "mean", "arange", "float", "stack", "clone", "all", "matmul", "squeeze", "expand", "flatten", "randn", "pow",
        "ones", "permute", "max", "neg", "eq", "contiguous", "clamp", "abs", "empty", "zeros_like", "exp", "repeat",
        "long", "where", "gt", "allclose", "lt", "any", "sqrt", "min", "masked_fill", "log", "bitwise_not", "gather",
        "ne", "einsum", "unbind", "softmax", "sigmoid", "bitwise_and", "argmax", "new_zeros", "norm", "ge", "ones_like",
        "linspace", "prod", "isfinite", "t", "le", "repeat_interleave", "chunk", "full", "cos", "clamp_min", "eye",
        "sin", "bool", "split", "equal", "flip", "mm", "empty_like", "nonzero", "cumsum", "index_select", "tanh",
        "randint", "sign", "expand_as", "log_softmax", "isnan", "std", "diagonal", "bmm", "unique", "topk", "zero_",
        "broadcast_shapes", "remainder", "bitwise_or", "double", "index_put", "fill",
    ]  # fmt: skip
    missing = [n for n in functions if not hasattr(torch, n) and not hasattr(torch.Tensor, n)]
    import wengert.nn.functional as F

    missing += [n for n in ["pad", "interpolate", "relu", "mse_loss", "normalize", "linear"] if not hasattr(F, n)]
    dunders = [
        "getitem", "setitem", "mul", "rmul", "add", "radd", "sub", "rsub", "truediv", "rtruediv", "pow", "rpow",
        "matmul", "neg", "eq", "ne", "lt", "le", "gt", "ge", "and", "or", "invert",
    ]  # fmt: skip
    missing += [n for n in dunders if not hasattr(torch.Tensor, f"__{n}__")]
    assert missing == []


def test_a_name_gives_the_function_before_anything_is_used() -> None:
    """Not the placeholder of one whose module is not imported yet, whose help is its own."""
    program = (
        "import wengert as torch, wengert.nn.functional, wengert.special, wengert.linalg, wengert.fft\n"
        "for space in (torch.nn.functional, torch.special, torch.linalg, torch.fft, torch):\n"
        "    print(*[n for n in dir(space) if type(getattr(space, n, None)).__name__ in ('LateFunction', 'Unmade')])"
    )
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
