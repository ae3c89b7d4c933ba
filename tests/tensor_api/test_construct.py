"""Making tensors: from data, from other libraries' memory, by size, by the old constructors; and what is refused."""

from __future__ import annotations

import array
import decimal
import enum
import warnings
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import wengert as T
from wengert._base import errors


@pytest.fixture(autouse=True)
def _warnings_shown_again() -> None:
    """What the process warns of once is warned of in each test."""
    errors.warned.clear()


# ------------------------------------------------------------------------------------------------------ beside PyTorch
class Colour(enum.IntEnum):
    RED = 1


def names(torch: Any) -> dict[str, Any]:
    """What the expressions below see, made with either library."""
    read_only = np.arange(3.0)
    read_only.flags.writeable = False
    return {
        "torch": torch,
        "np": np,
        "array": array.array,
        "decimal": decimal,
        "Colour": Colour,
        "read_only": read_only,
        "n": np.arange(6.0).reshape(2, 3),
        "a": torch.tensor([1.0, 2.0]),
        "g": torch.tensor([1.0, 2.0], requires_grad=True),
        "i": torch.tensor(3),
        "m": torch.ones(2, 3),
    }


def outcome(torch: Any, expression: str) -> tuple[Any, ...]:
    """What an expression gives: text, dtype and shape; or the class and first line of its error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            value = eval(expression, names(torch))
        except Exception as error:  # noqa: BLE001  whatever it is, is what is compared
            first = str(error).split("\n")[0].partition(", but expected one of")[0]
            return type(error).__name__, first
    text = repr(value).replace("wengert", "torch")
    return text, str(getattr(value, "dtype", "")), tuple(getattr(value, "shape", ()))


SAME_AS_PYTORCH = """
torch.tensor([[1, 2, 3], [1, 2]])
torch.tensor([[1, 2, 3], 1])
torch.tensor([1, [2]])
torch.tensor([[1], []])
torch.tensor([[1, 2], [3, 'a']])
torch.tensor('a')
torch.tensor(['a'])
torch.tensor(b'ab')
torch.tensor(None)
torch.tensor([1, None])
torch.tensor({})
torch.tensor({1, 2})
torch.tensor(object())
torch.tensor([object()])
torch.tensor(lambda: 1)
torch.tensor(x for x in range(3))
torch.tensor(2**63)
torch.tensor([2**70])
torch.tensor([2**70, 1.0])
torch.tensor([10**400], dtype=torch.float64)
torch.tensor([1e300])
torch.tensor(1e300)
torch.tensor(-1e39)
torch.tensor(1e39)
torch.tensor([300], dtype=torch.uint8)
torch.tensor([-1], dtype=torch.uint8)
torch.tensor([-255], dtype=torch.uint8)
torch.tensor([-256], dtype=torch.uint8)
torch.tensor([-1], dtype=torch.uint16)
torch.tensor([-1], dtype=torch.uint64)
torch.tensor([2**64 - 1], dtype=torch.uint64)
torch.tensor([2**64], dtype=torch.uint64)
torch.tensor([2**31], dtype=torch.int32)
torch.tensor([200], dtype=torch.int8)
torch.tensor([1.5, -1.5], dtype=torch.int64)
torch.tensor([float('nan')], dtype=torch.int64)
torch.tensor([1e30], dtype=torch.int64)
torch.tensor([1 + 2j], dtype=torch.float32)
torch.tensor([1 + 2j], dtype=torch.int64)
torch.tensor([1 + 2j, 0], dtype=torch.bool)
torch.tensor([0.5, 0, 2, float('nan'), 2**70], dtype=torch.bool)
torch.tensor([True, False])
torch.tensor([True, 2])
torch.tensor([True, 2.5])
torch.tensor([1, 2.5, 1j])
torch.tensor([True, 1j])
torch.tensor([])
torch.tensor(())
torch.tensor([[], []])
torch.tensor([[[]]])
torch.tensor(range(3))
torch.tensor(array('f', [1, 2]))
torch.tensor(bytearray(b'ab'))
torch.tensor(memoryview(b'ab'))
torch.tensor(torch.Size([1, 2]))
torch.tensor(np.float64(1.5))
torch.tensor(np.float32(1.5))
torch.tensor(np.int8(1))
torch.tensor(np.bool_(True))
torch.tensor([np.float64(1.5)])
torch.tensor([np.float32(1.5), 2])
torch.tensor([np.float64(1.5), 2.0])
torch.tensor([np.int8(1), 2])
torch.tensor([np.int8(1), np.uint8(2)])
torch.tensor([np.float16(1), np.int64(2)])
torch.tensor([np.uint64(3), 1])
torch.tensor([np.uint64(3), 1.0])
torch.tensor([np.arange(3), np.arange(3)])
torch.tensor([np.arange(3), [1., 2, 3]])
torch.tensor([[np.arange(3)], [np.arange(3)]])
torch.tensor([np.arange(3), np.arange(2)])
torch.tensor(np.arange(3))
torch.tensor(np.array(1.5))
torch.tensor(np.zeros((0, 3)))
torch.tensor(np.array(['a']))
torch.tensor(np.array([None]))
torch.tensor(np.array([1, 2], dtype='>i4'))
torch.tensor(np.arange(3)[::-1])
torch.tensor(np.array([1, 2], dtype=np.longdouble))
torch.tensor(np.datetime64('2020-01-01'))
torch.tensor([np.datetime64('2020-01-01')])
torch.tensor(np.ma.array([1, 2], mask=[0, 1]))
torch.tensor(a)
torch.tensor(g)
torch.tensor(g, dtype=torch.int64)
torch.tensor([torch.tensor(1.), torch.tensor(2)])
torch.tensor([torch.tensor(1, dtype=torch.int8), 2.5])
torch.tensor([torch.tensor([1.]), torch.tensor([2.])])
torch.tensor([torch.tensor([1.]), 1.0])
torch.tensor([torch.tensor([1., 2.]), torch.tensor([2., 3.])])
torch.tensor([torch.tensor(1. + 1j), 2])
torch.tensor([1, 2], requires_grad=True)
torch.tensor([True], requires_grad=True)
torch.tensor([1.], requires_grad=True)
torch.tensor([1j], requires_grad=True)
torch.tensor([1.], requires_grad='a')
torch.tensor([1.], requires_grad=1)
torch.tensor([1.], requires_grad=None)
torch.tensor([1.], dtype='float32')
torch.tensor([1.], dtype=np.float32)
torch.tensor([1.], dtype=float)
torch.tensor([1.5], dtype=int)
torch.tensor([1.], dtype=bool)
torch.tensor([1.], dtype=complex)
torch.tensor([1.], device='cuda')
torch.tensor([1.], device='cpu')
torch.tensor([1.], device='foo')
torch.tensor([1.], device=0)
torch.tensor([1.], device=1.5)
torch.tensor([1.], foo=1)
torch.tensor(1, 2)
torch.tensor(1, pin_memory=True)
torch.tensor(decimal.Decimal(1))
torch.tensor([decimal.Decimal(1)])
torch.tensor([decimal.Decimal(1)], dtype=torch.float32)
torch.tensor([Colour.RED, 2])
torch.tensor(Colour.RED)
torch.tensor(['1'], dtype=torch.float32)
torch.tensor([None], dtype=torch.float32)
torch.tensor([object()], dtype=torch.float32)
torch.tensor([object()], dtype=torch.int64)
torch.tensor([[1, 2], [3, [4]]], dtype=torch.float32)
torch.tensor([[1, 2], 3], dtype=torch.float32)
torch.tensor(1 + 2j)
torch.tensor(1, dtype=torch.float16)
torch.tensor([100000., 1e-7, 2049.], dtype=torch.float16)
torch.tensor(float('nan'))
torch.tensor([(1, 2), [3, 4]])
torch.from_numpy(n)
torch.from_numpy([1])
torch.from_numpy(np.float32(1))
torch.from_numpy(n[::-1])
torch.from_numpy(n[:, ::2]).stride()
torch.from_numpy(np.zeros(3, dtype=[('a', 'i4')]))
torch.from_numpy(np.zeros((2,), dtype='>f4'))
torch.from_numpy(np.ndarray((2,), 'i4', b'\\0' * 12, 0, (6,)))
torch.as_tensor(n)
torch.as_tensor(n, dtype=torch.float32)
torch.as_tensor(a) is a
torch.as_tensor(g) is g
torch.as_tensor(g, dtype=torch.float32) is g
torch.as_tensor(g, dtype=torch.float64)
torch.as_tensor([1, 2])
torch.as_tensor(np.float32(2))
torch.as_tensor(3)
torch.as_tensor(a, requires_grad=True)
torch.asarray(a) is a
torch.asarray(n)
torch.asarray([1, 2.])
torch.asarray(g) is g
torch.asarray(g, requires_grad=False)
torch.asarray(g, copy=True)
torch.asarray(a, dtype=torch.float64, copy=False)
torch.asarray([1], copy=False)
torch.asarray(n, copy=False)
torch.asarray(b'\\0\\0\\0\\1', dtype=torch.int32)
torch.asarray(array('i', [1, 2]), dtype=torch.int32)
torch.asarray(memoryview(b'ab'))
torch.asarray(5)
torch.asarray('a')
torch.asarray(n, dtype=torch.int8)
torch.asarray(n, requires_grad=True)
torch.asarray([1], requires_grad=True)
torch.frombuffer(bytearray(b'abcd'), dtype=torch.uint8)
torch.frombuffer(bytearray(b'abcdefgh'), dtype=torch.int16, count=2, offset=2)
torch.frombuffer(bytearray(b'abcdefgh'), dtype=torch.int16, offset=9)
torch.frombuffer(bytearray(b'abcdefgh'), dtype=torch.int16, offset=1)
torch.frombuffer(bytearray(b'abcdefgh'), dtype=torch.int16, count=9)
torch.frombuffer(bytearray(b'abcdefgh'), dtype=torch.int16, count=0)
torch.frombuffer(bytearray(b'abcdefgh'), dtype=torch.int16, count=-2)
torch.frombuffer(bytearray(b''), dtype=torch.int16)
torch.frombuffer(bytearray(b'abcdefg'), dtype=torch.int16)
torch.frombuffer([1], dtype=torch.int8)
torch.frombuffer(bytearray(b'abcdefgh'), dtype=torch.float32, requires_grad=True)
torch.frombuffer(bytearray(b'abcdefgh'), dtype=torch.int32, requires_grad=True)
torch.frombuffer(n, dtype='f')
torch.from_dlpack(n)
torch.from_dlpack(g)
torch.from_dlpack(n, copy=True)
torch.zeros(2, 3)
torch.zeros((2, 3))
torch.zeros([2, 3])
torch.zeros(torch.Size([2]))
torch.zeros(())
torch.zeros()
torch.zeros(2, [3])
torch.zeros([2, 3], 4)
torch.zeros(2.5)
torch.zeros([2.5])
torch.zeros('a')
torch.zeros(-1)
torch.zeros(2, -1)
torch.zeros(np.int64(2), np.int32(3))
torch.zeros(torch.tensor(2))
torch.zeros((torch.tensor(2), 3))
torch.zeros(True)
torch.zeros(None)
torch.zeros(2, None)
torch.zeros(2, dtype=torch.int32)
torch.zeros(2, dtype='a')
torch.zeros(2, dtype=float)
torch.zeros(2, requires_grad=True)
torch.zeros(2, dtype=torch.int8, requires_grad=True)
torch.zeros(2, out=torch.empty(2))
torch.zeros(2, out=torch.empty(3))
torch.zeros(2, out=torch.empty(2, dtype=torch.int64))
torch.zeros(2, out=torch.empty(2), dtype=torch.int64)
torch.zeros(2, device='cuda')
torch.zeros(2, layout=3)
torch.zeros(2, foo=3)
torch.zeros(size=(2,))
torch.zeros(10**18, 10**18)
torch.ones(2, dtype=torch.bool)
torch.ones(-1)
torch.empty(2, 3, 4, 5, memory_format=torch.channels_last).stride()
torch.empty(2, 3, memory_format=torch.channels_last)
torch.empty(2, 3, memory_format=torch.preserve_format)
torch.full((2,), 3)
torch.full((2,), 3.)
torch.full((2,), True)
torch.full((2,), 1j)
torch.full(2, 3.)
torch.full([2], torch.tensor(3.))
torch.full([2], torch.tensor([3.]))
torch.full([2], np.float64(3.))
torch.full([2], 3.7, dtype=torch.int64)
torch.full([2], 300, dtype=torch.uint8)
torch.full([2], -1, dtype=torch.uint8)
torch.full([2], 1e300)
torch.full([2], float('inf'))
torch.full([2], float('nan'), dtype=torch.int64)
torch.full([2], 1j, dtype=torch.float32)
torch.full([2], 'a')
torch.full(size=[2], fill_value=1)
torch.full([2], 1, requires_grad=True)
torch.full([2], 1, out=torch.empty(2))
torch.full([2], 2**63)
torch.eye(3)
torch.eye(2, 3)
torch.eye(3, 2, dtype=torch.int64)
torch.eye(-1)
torch.eye(2, -1)
torch.eye(0)
torch.eye(2.)
torch.eye(2, dtype=torch.bool)
torch.arange(5)
torch.arange(5.)
torch.arange(1, 5, 2)
torch.arange(1, 2.5, 0.5)
torch.arange(5, 1, -1)
torch.arange(5, 1)
torch.arange(1, 5, 0)
torch.arange(start=1, end=5)
torch.arange(end=5)
torch.arange(1, end=5)
torch.arange(0, 1, 0.1)
torch.arange(3, dtype=torch.int8)
torch.arange(3, dtype=torch.float16)
torch.arange(3, dtype=torch.bool)
torch.arange(3, dtype=torch.complex64)
torch.arange(torch.tensor(3))
torch.arange(np.float64(3))
torch.arange(True)
torch.arange('a')
torch.arange()
torch.arange(float('inf'))
torch.arange(float('nan'))
torch.arange(1e20)
torch.arange(2**63)
torch.arange(0.5, 4, dtype=torch.int64)
torch.arange(0.5, 4, 0.7, dtype=torch.int64)
torch.arange(3, requires_grad=True)
torch.arange(3., requires_grad=True)
torch.arange(3, out=torch.empty(0))
torch.range(1, 2.5, 0.5)
torch.range(1, 3, dtype=torch.int64)
torch.range(3, 1)
torch.range(3, 1, -1)
torch.linspace(0, 1, 5)
torch.linspace(0, 1, 1)
torch.linspace(0, 1, 0)
torch.linspace(0, 1, -1)
torch.linspace(0, 1)
torch.linspace(10, 0, 4, dtype=torch.int64)
torch.linspace(0, 1j, 3)
torch.linspace(torch.tensor(0.), torch.tensor(1.), 3)
torch.linspace(0, torch.tensor([1.]), 3)
torch.linspace(0, 1, steps=3, dtype=torch.float64)
torch.linspace(0, 1, 3.)
torch.linspace(0, 1, 3, dtype=torch.bool)
torch.logspace(0, 1, 3)
torch.logspace(0, 2, 3, base=2)
torch.logspace(0, 2, 3, dtype=torch.int64)
torch.zeros_like(a)
torch.zeros_like(g, requires_grad=True)
torch.zeros_like(a, dtype=torch.int8)
torch.zeros_like(1)
torch.zeros_like(m.t()).stride()
torch.zeros_like(m.t(), memory_format=torch.contiguous_format).stride()
torch.zeros_like(m[:, ::2]).stride()
torch.zeros_like(a.expand(3, 2)).stride()
torch.zeros_like(torch.ones(2, 3, 4, 5).permute(2, 0, 1, 3)[:, :1]).stride()
torch.full_like(a, 3)
torch.full_like(i, 3.5)
torch.full_like(a, torch.tensor(2.))
torch.ones_like(a, dtype=torch.bool)
torch.empty_like(a, dtype=torch.int8).dtype
torch.empty_strided((2, 3), (1, 2)).stride()
torch.empty_strided((2,), (1, 2))
torch.empty_permuted((2, 3, 4), (2, 0, 1)).stride()
torch.empty_permuted((2, 3, 4), (2, 0, 0))
torch.scalar_tensor(3)
torch.scalar_tensor(True)
torch.scalar_tensor(2j)
torch.scalar_tensor('a')
a.new_tensor([1, 2])
i.new_tensor([1.5])
a.new_tensor(g)
a.new_zeros(2, 3)
a.new_zeros((2,), dtype=torch.int8)
a.new_zeros()
a.new_ones(2)
i.new_full((2,), 3.5)
a.new_empty_strided((2, 3), (1, 2)).stride()
i.new_zeros(2, requires_grad=True)
a.new([1, 2])
a.new(2, 3).shape
a.new()
a.new(a)
i.new([1.5])
a.new((2, 3))
a.new(3.5)
a.new([1, 2], [3])
torch.Tensor()
torch.Tensor(2, 3).shape
torch.Tensor((2, 3))
torch.Tensor([2, 3])
torch.Tensor(torch.Size([2, 3])).shape
torch.Tensor(a)
torch.Tensor(g)
torch.Tensor(torch.tensor([1, 2]))
torch.Tensor(1.5)
torch.Tensor(True)
torch.Tensor(None)
torch.Tensor('a')
torch.Tensor({})
torch.Tensor(n)
torch.Tensor(np.float32(2))
torch.Tensor(np.int64(2)).shape
torch.Tensor(2, 3.)
torch.Tensor(-1)
torch.Tensor([[1, 2], [3]])
torch.Tensor([1, 'a'])
torch.Tensor(size=(2, 3)).shape
torch.Tensor(data=[1, 2])
torch.Tensor([1], requires_grad=True)
torch.Tensor([1, 2], device='cuda')
torch.LongTensor([1.5, 2])
torch.LongTensor(3).shape
torch.LongTensor(n)
torch.FloatTensor(5.)
torch.ByteTensor([-1, 1])
torch.ByteTensor([300])
torch.BoolTensor([0, 2])
torch.HalfTensor([1.5])
torch.DoubleTensor([[1, 2], [3, 4]])
torch.set_default_tensor_type('torch.LongTensor')
torch.set_default_tensor_type(torch.float64)
""".strip().splitlines()


@pytest.mark.parametrize("expression", SAME_AS_PYTORCH)
def test_same_as_pytorch(expression: str, torch: ModuleType) -> None:
    assert outcome(T, expression) == outcome(torch, expression)


@given(st.data())
def test_nested_lists_become_what_numpy_makes_of_them(data: st.DataObject) -> None:
    shape = data.draw(st.lists(st.integers(1, 4), max_size=3))
    kind = data.draw(st.sampled_from([st.integers(-(2**63), 2**63 - 1), st.booleans(), st.floats(width=32)]))
    values: Any = data.draw(_nested(kind, shape))
    t = T.tensor(values)
    expected = np.array(values)
    assert t.shape == expected.shape
    if expected.dtype == np.float64:
        expected = expected.astype(np.float32)
    assert t.numpy().dtype == expected.dtype
    assert np.array_equal(t.numpy(), expected, equal_nan=expected.dtype.kind == "f")
    assert np.array_equal(np.array(t.tolist()), expected, equal_nan=expected.dtype.kind == "f")


def _nested(element: Any, shape: list[int]) -> Any:
    if not shape:
        return element
    inner = _nested(element, shape[1:])
    return st.one_of(
        st.lists(inner, min_size=shape[0], max_size=shape[0]),
        st.lists(inner, min_size=shape[0], max_size=shape[0]).map(tuple),
    )


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64", "complex128", "int8", "int64"])
def test_ranges_have_pytorchs_digits(dtype: str, torch: ModuleType) -> None:
    rng = np.random.RandomState(0)
    for _ in range(60):
        start, step, steps = rng.randn() * 5, abs(rng.randn()) + 0.01, int(rng.randint(0, 200))
        end = start + step * steps
        kwargs = {"dtype": getattr(torch, dtype)}, {"dtype": getattr(T, dtype)}
        if dtype.startswith("float"):
            expected, got = torch.arange(start, end, step, **kwargs[0]), T.arange(start, end, step, **kwargs[1])
            assert np.array_equal(expected.numpy(), got.numpy())
        expected, got = (
            torch.linspace(start, end / 9, steps, **kwargs[0]),
            T.linspace(start, end / 9, steps, **kwargs[1]),
        )
        assert np.array_equal(expected.numpy(), got.numpy())


# ------------------------------------------------------------------------------------ where wengert goes its own way
def test_a_ragged_list_whose_first_row_is_empty_loses_nothing() -> None:
    # PyTorch gives a tensor of shape (2, 0) and drops the 1
    with pytest.raises(ValueError, match="expected sequence of length 0 at dim 1"):
        T.tensor([[], [1]])


def test_the_error_of_a_ragged_list_says_what_to_do() -> None:
    with pytest.raises(ValueError) as caught:
        T.tensor([[1, 2], [3]])
    assert any("pad" in note for note in caught.value.__notes__)


def test_a_list_of_tensors_points_to_stack() -> None:
    with pytest.raises(ValueError) as caught:
        T.tensor([T.ones(2), T.ones(2)])
    assert any("torch.stack" in note for note in caught.value.__notes__)


def test_numpy_scalars_of_zero_dimensions_in_a_list() -> None:
    assert T.tensor([np.array(1.5), np.array(2.0)]).dtype is T.float64


def test_too_many_dimensions_is_a_value_error() -> None:
    deep: Any = [1.0]
    for _ in range(100):
        deep = [deep]
    with pytest.raises(ValueError, match="too many dimensions"):
        T.tensor(deep)
    endless: Any = []
    endless.append(endless)
    with pytest.raises(ValueError, match="too many dimensions"):
        T.tensor(endless)


# ---------------------------------------------------------------------------------------------------------- memory
def test_tensor_copies_and_from_numpy_shares() -> None:
    a = np.zeros(3)
    shared, copied, also = T.from_numpy(a), T.tensor(a), T.as_tensor(a)
    a[0] = 5
    assert shared.tolist() == also.tolist() == [5, 0, 0]
    assert copied.tolist() == [0, 0, 0]
    shared[1] = 7
    assert a.tolist() == [5, 7, 0]


def test_from_numpy_is_not_the_users_array_object() -> None:
    a = np.zeros(6)
    t = T.from_numpy(a)
    with warnings.catch_warnings():  # NumPy 2.5 advises against it
        warnings.simplefilter("ignore", DeprecationWarning)
        a.shape = (2, 3)
    assert t.shape == (6,)


def test_a_read_only_array_warns_once_and_cannot_be_written_to() -> None:
    a = np.zeros(2)
    a.flags.writeable = False
    with pytest.warns(UserWarning, match="not writable") as caught:
        t, _ = T.from_numpy(a), T.from_numpy(a)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    with pytest.raises(RuntimeError, match="read-only"):
        t.add_(1)
    assert t.tolist() == [0, 0]


def test_a_buffer_is_shared() -> None:
    memory = bytearray(4)
    t = T.frombuffer(memory, dtype=T.uint8)
    t[1] = 7
    assert memory == b"\0\7\0\0"
    with pytest.warns(UserWarning, match="not writable"):
        read_only = T.frombuffer(b"ab", dtype=T.uint8)
    with pytest.raises(RuntimeError, match="read-only"):
        read_only.zero_()


@pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) < "2.2.0", reason="NumPy before 2.2 reads DLPack only")
def test_dlpack_both_ways_shares_memory() -> None:
    t = T.arange(3.0)
    a = np.from_dlpack(t)
    back = T.from_dlpack(a)
    t[0] = 9
    assert a[0] == 9
    assert back[0].item() == 9
    assert T.from_dlpack(t).data_ptr() == t.data_ptr()


def test_dlpack_with_pytorch(torch: ModuleType) -> None:
    t = T.arange(3.0)
    theirs = torch.from_dlpack(t)
    theirs[0] = 9
    assert t[0].item() == 9
    assert T.from_dlpack(theirs).data_ptr() == t.data_ptr()
    with pytest.raises(BufferError, match="require gradient"):
        torch.from_dlpack(T.ones(1, requires_grad=True))


def test_the_old_constructor_shares_a_tensors_memory() -> None:
    t = T.ones(2)
    assert T.Tensor(t).data_ptr() == t.data_ptr()
    with pytest.raises(TypeError, match=r"expected torch\.LongTensor"):
        T.LongTensor(t)


# ----------------------------------------------------------------------------------------------------- warnings, dtypes
def test_copying_a_tensor_with_tensor_warns_at_the_users_line() -> None:
    with pytest.warns(UserWarning, match="recommended to use sourceTensor") as caught:
        T.tensor(T.ones(1))
    assert caught[0].filename == __file__


def test_the_default_dtype_is_that_of_floats() -> None:
    T.set_default_dtype(T.float64)
    try:
        assert T.tensor(1.5).dtype is T.tensor([1, 2.0]).dtype is T.zeros(1).dtype is T.arange(1.0).dtype is T.float64
        assert T.Tensor(1).dtype is T.rand(1).dtype is T.float64
        assert T.tensor(1j).dtype is T.complex128
        assert repr(T.tensor(1.5)) == "tensor(1.5000)"
    finally:
        T.set_default_dtype(T.float32)
    assert T.get_default_dtype() is T.float32
    with pytest.warns(UserWarning, match="set_default_tensor_type"):
        T.set_default_tensor_type("torch.DoubleTensor")
    try:
        assert T.get_default_dtype() is T.float64
    finally:
        T.set_default_tensor_type(T.FloatTensor)


def test_legacy_types_are_names_for_dtypes() -> None:
    t = T.ones(2)
    assert isinstance(t, T.FloatTensor)
    assert not isinstance(t, T.LongTensor)
    assert not isinstance(1.0, T.FloatTensor)
    assert isinstance(T.LongTensor([1]), T.LongTensor)
    assert repr(T.FloatTensor) == "<class 'torch.FloatTensor'>"
    assert T.FloatTensor.dtype is T.float32
    assert not issubclass(T.FloatTensor, T.Tensor)
    for name in ("Double", "Half", "Byte", "Char", "Short", "Int", "Bool"):
        kind = getattr(T, f"{name}Tensor")
        assert kind([1]).type() == f"torch.{name}Tensor"
        assert t.type(kind).type() == t.type(f"torch.{name}Tensor").type() == f"torch.{name}Tensor"


def test_out_is_filled_where_it_lies() -> None:
    out = T.ones(4)
    view = out[1:3]
    assert T.zeros(2, out=view) is view
    assert out.tolist() == [1, 0, 0, 1]
    assert out._version == 1
    with pytest.raises(RuntimeError, match="leaf Variable"):
        T.zeros(2, out=T.ones(2, requires_grad=True))


def test_a_size_that_no_memory_has() -> None:
    with pytest.raises(RuntimeError, match="can't allocate memory"):
        T.empty(2**55)
    with pytest.raises(TypeError, match="Overflow when unpacking long long"):
        T.zeros(2**63)


def test_subclasses_are_made_by_the_old_constructor() -> None:
    class Named(T.Tensor):
        pass

    t = Named([1.0, 2.0])
    assert type(t) is Named
    assert repr(t) == "Named([1., 2.])"
    assert type(T.ones(2).as_subclass(Named)) is Named
    made = T.Tensor._make_subclass(Named, T.ones(2), True)
    assert made.requires_grad and made.is_leaf


# ------------------------------------------------------------------------------------------------------- inference mode
def test_tensors_of_inference_mode_cannot_be_saved() -> None:
    w = T.tensor([1.0, 2.0], requires_grad=True)
    with T.inference_mode():
        a = T.ones(2)
        b = a * 2
        view = w.view(2, 1)
    assert a.is_inference() and b.is_inference() and a.view(2, 1).is_inference()
    assert not w.is_inference() and not view.is_inference() and not (a + 1).is_inference()
    (w + a).sum().backward()
    assert w.grad.tolist() == [1, 1]
    with pytest.raises(RuntimeError, match="Inference tensors cannot be saved for backward"):
        (w * a).sum().backward()
    with pytest.raises(RuntimeError, match="Setting requires_grad=True on inference tensor"):
        a.requires_grad_()
    (w * a.clone()).sum().backward()
    assert w.grad.tolist() == [2, 2]


@pytest.mark.parametrize("dtype", [T.float32, T.float64])
def test_what_begins_or_ends_with_zero_has_no_negative_zero(dtype: Any) -> None:
    for x in (
        T.linspace(0, -1, 3, dtype=dtype),
        T.linspace(-1, 0, 100, dtype=dtype),
        T.arange(0.0, -1.0, -0.3, dtype=dtype),
    ):
        assert not np.signbit(x.numpy()[x.numpy() == 0]).any()
