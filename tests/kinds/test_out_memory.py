"""``out=`` on the memory of an input, and Python operators' methods that are called by the class."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import wengert
import wengert as torch

X = torch.arange(6.0)
FIRST = torch.zeros(4, dtype=torch.long)


@pytest.mark.parametrize(
    "call",
    [
        lambda x: torch.add(x[:4], 1, out=x[1:5]),
        lambda x: torch.exp(x[:4], out=x[1:5]),
        lambda x: torch.gather(x[:4], 0, FIRST, out=x[:4]),
        lambda x: torch.take(x[:4], FIRST, out=x[:4]),
        lambda x: torch.cat([x[:2], x[2:4]], out=x[:4]),
        lambda x: torch.masked_select(x, x > 2, out=x),
        lambda x: torch.kthvalue(x, 2, out=(x, torch.empty((), dtype=torch.long))),
        lambda x: torch.median(x, 0, out=(x[2], torch.empty((), dtype=torch.long))),
        lambda x: torch.max(x, 0, out=(x[2:3], torch.empty((), dtype=torch.long))),
        lambda x: torch.normal(x[:4], 1.0, out=x[1:5]),
        lambda x: torch.bernoulli(x[:2], out=x[1:3]),
        lambda x: torch.linalg.solve_triangular(torch.eye(2), x[:4].view(2, 2), upper=True, out=x[1:5].view(2, 2)),
    ],
)
def test_an_out_on_a_part_of_an_inputs_memory_is_refused(call: Any) -> None:
    with pytest.raises(RuntimeError, match="some elements of the input tensor and the written-to tensor refer to a"):
        call(X.clone())


def test_an_out_that_repeats_elements_is_refused() -> None:
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor refers to a single memory"):
        torch.index_select(X, 0, FIRST[:2], out=torch.zeros(1).expand(4))


def test_an_out_that_is_the_input_is_written() -> None:
    x = X.clone()
    assert torch.add(x, 1, out=x) is x
    assert x.tolist() == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize("name", ["__radd__", "__add__", "__rmul__", "__rand__", "__ror__", "__rxor__", "__eq__"])
def test_a_python_operator_of_a_number_by_the_class(name: str) -> None:
    message = f"descriptor '{name}' for 'torch._C.TensorBase' objects doesn't apply to a 'int' object"
    with pytest.raises(TypeError, match=re.escape(message)):
        getattr(torch.Tensor, name)(2, X)


@pytest.mark.parametrize("name", ["__rsub__", "__rpow__", "__rmod__", "__rfloordiv__", "__rlshift__", "__rmatmul__"])
def test_what_pytorch_leaves_to_python(name: str) -> None:
    assert getattr(torch.Tensor, name)(2, 3) is NotImplemented


def test_an_out_without_elements_repeats_none() -> None:
    empty = torch.zeros(0, 10, 3)
    assert torch.max(torch.zeros(0, 1, 3), empty, out=torch.zeros(0, 10, 3)).shape == empty.shape


def test_an_empty_out_before_the_memory_of_an_input_is_no_part_of_it() -> None:
    """It moves to memory of its own when it gets the result's shape."""
    memory = bytearray(200)
    x, out = (torch.from_numpy(np.ndarray(shape, "f", memory, 0)) for shape in ((10, 5), (0,)))
    index = torch.zeros(5, 5, dtype=torch.int64)
    torch.scatter_reduce(x, 0, index, torch.ones(5, 5), "sum", include_self=False, out=out)
    assert out[0].tolist() == [5.0] * 5 and x[0].tolist() == [0.0] * 5


@pytest.mark.filterwarnings("ignore:An output with one or more elements was resized")
def test_an_out_of_another_shape_keeps_its_memory() -> None:
    base = torch.zeros(6)
    out = base[1:]
    torch.add(torch.ones(2), 1, out=out)
    assert out.tolist() == [2, 2] and out.storage_offset() == 1
    assert base.tolist() == [0, 2, 2, 0, 0, 0]


@pytest.mark.filterwarnings("ignore:An output with one or more elements was resized")
def test_a_resized_out_lies_as_the_result() -> None:
    out = torch.zeros(3, 4)
    torch.exp(torch.zeros(2, 3).t(), out=out)
    assert out.shape == (3, 2) and out.stride() == (1, 3) and out.eq(1).all()


@pytest.mark.parametrize("make", [torch.ones, torch.zeros, torch.empty, torch.randn, torch.rand])
def test_a_maker_keeps_the_memory_of_a_larger_out(make: Any) -> None:
    out = torch.ones(6)[1:]
    memory = out.data_ptr()
    assert make(3, out=out) is out and out.shape == (3,) and out.data_ptr() == memory


def test_comparisons_write_to_what_requires_grad(torch: Any) -> None:
    def outcome(lib: Any) -> list[Any]:
        found: list[Any] = []
        for name in ("gt", "eq", "logical_and"):
            leaf, x = lib.zeros(3, requires_grad=True), lib.ones(3, requires_grad=True)
            getattr(lib, name)(x, lib.ones(3), out=leaf)
            found += [leaf.tolist(), leaf.requires_grad, leaf.is_leaf]
        with pytest.raises(RuntimeError) as caught:
            lib.add(x, x, out=leaf)
        lib.manual_seed(0)
        return [*found, str(caught.value), lib.randn(2, out=lib.zeros(2, dtype=lib.complex64)).shape]

    assert repr(outcome(wengert)) == repr(outcome(torch))


def test_refusals_of_out_and_of_complex_factors(torch: Any) -> None:
    def outcome(lib: Any) -> list[str]:
        x, of_ints = lib.ones(3), lib.zeros(3, dtype=lib.int64)
        half = lib.ones(3, dtype=lib.float16)
        calls: list[Any] = [
            lambda: lib.clamp(x, 0, 1, out=of_ints), lambda: lib.clamp(of_ints, min=1, out=lib.zeros(3)),
            lambda: lib.where(x > 0, x, 2.0, out=lib.zeros(3)), lambda: lib.addcmul(x, x, x, value=2j),
            lambda: lib.addcdiv(half, half, half, value=2j), lambda: lib.add(x, x, alpha=2j),
            lambda: lib.add(x, other=x, out=of_ints), lambda: lib.isposinf(x, out=of_ints),
        ]  # fmt: skip
        found = []
        for call in calls:
            with pytest.raises((RuntimeError, TypeError)) as caught:
                call()
            found.append(f"{caught.type.__name__}: {str(caught.value).splitlines()[0]}")
        return found

    assert outcome(wengert) == outcome(torch)


IN_PLACE = """
a[1:].add_(a[:-1])
a[1:].copy_(a[:-1])
a[1:] = a[:-1]
a[1:] *= a[:-1]
a[1:].addcmul_(a[:-1], a[1:])
a[1:].lerp_(a[:-1], .5)
a[1:].clamp_(a[:-1])
a[1:].atan2_(a[:-1])
a[::2].add_(a[1:4])
a[:3].add_(a[2:])
a.add_(a); a.copy_(a[...]); a[:] = a.view(5)
a[0] += 1; a[1:3] *= 2; a[1:3].sub_(a[3:])
a.copy_(a.double())
m.add_(m.t())
m.copy_(m.t())
m.t().add_(m)
m.mul_(m[0])
m.mul_(m[0, 0])
m[0].sub_(m[1])
m[:, :2].sub_(m[:, 1:])
m.lerp_(m, .5)
m.masked_fill_(m.t() > 0, m[0, 0])
m.index_add_(0, i, m[:1])
m.index_copy_(0, i, m[1:2])
m.index_reduce_(0, i, m[:1], "amax")
m.scatter_(0, m.long() * 0, m)
m.scatter_add_(0, m.long() * 0, m)
m.index_put_((i,), m[1])
m[i] = m[1]
m[m > 3] = m[0, 1]
m.put_(i, m[1, :1])
m.addmm_(m, m)
e.add_(1)
e.mul_(T.ones(2, 3, 3))
e.zero_(); e.fill_(2)
e[0] = 1; e[:, 0].add_(1)
e.copy_(T.ones(3))
e.normal_()
e.clamp_(0, 1)
e.scatter_(0, T.zeros(1, 3).long(), 1.)
T.add(a[1:], a[:-1], out=a[1:])
T.exp(m[:1], out=m)
T.cumsum(a[1:], 0, out=a[:-1])
T.addmm(m.t(), m, m, out=m)
T.index_add(m, 0, i, m[:1] * 2, out=m)
T.scatter(m, 0, m.long() * 0, m, out=m)
""".strip().splitlines()


@pytest.mark.parametrize("recorded", [False, True])
@pytest.mark.parametrize("line", IN_PLACE)
def test_what_is_refused_of_shared_memory_is_pytorchs(torch: Any, line: str, recorded: bool) -> None:
    found = []
    for lib in (torch, wengert):
        lib.manual_seed(0)
        one = lib.ones((), requires_grad=recorded and "out=" not in line)
        names = {"T": lib, "a": lib.arange(5.0) * one, "m": lib.arange(9.0).view(3, 3) * one, "i": lib.tensor([0])}
        names["e"] = (lib.ones(3) * one).expand(3, 3)
        try:
            exec(line, names)
        except RuntimeError as error:
            found.append(str(error).partition("\n")[0])
        else:
            # the product that PyTorch writes over its own factor is another one on each kind of processor
            found.append("computed" if "addmm_" in line else [names[name].tolist() for name in "ame"])
    assert found[0] == found[1]
