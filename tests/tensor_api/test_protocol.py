"""What a tensor is to Python and NumPy: text, numbers, sequences, copies, pickles, memory."""

from __future__ import annotations

import copy
import gc
import multiprocessing
import pickle
import warnings
import weakref
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import wengert as T
from wengert._base import errors


def names(torch: Any) -> dict[str, Any]:
    g = torch.tensor([1.0, 2.0], requires_grad=True)
    return {
        "torch": torch,
        "np": np,
        "copy": copy,
        "pickle": pickle,
        "a": torch.tensor([1.0, 2.0]),
        "b": torch.tensor(True),
        "c": torch.tensor(1 + 2j),
        "e": torch.empty(0),
        "g": g,
        "gs": torch.tensor(2.5, requires_grad=True),
        "i": torch.tensor(3),
        "m": torch.ones(2, 3),
        "o": torch.tensor([[3]]),
        "s": torch.tensor(2.5),
        "y": g * 2,
    }


def outcome(torch: Any, expression: str) -> tuple[Any, ...]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            value = eval(expression, names(torch))
        except Exception as error:  # noqa: BLE001  whatever it is, is what is compared
            return type(error).__name__, str(error).split("\n")[0]
    return repr(value).replace("wengert", "torch"), str(getattr(value, "dtype", ""))


SAME_AS_PYTORCH = """
a.item()
e.item()
o.item()
gs.item()
b.item()
c.item()
torch.tensor(1., dtype=torch.bfloat16).item()
float(gs)
int(gs)
bool(gs)
float(a)
float(c)
float(torch.tensor(2 + 0j))
int(c)
complex(s)
complex(a)
float(i)
int(s)
int(torch.tensor(float('nan')))
int(torch.tensor(float('inf')))
range(5)[i]
[1, 2, 3][torch.tensor(1)]
[1, 2, 3][torch.tensor(1.)]
[1, 2, 3][torch.tensor([1])]
[1, 2, 3][torch.tensor([1, 2])]
[1, 2, 3][torch.tensor(True)]
hex(i)
bool(a)
bool(e)
bool(o)
bool(torch.tensor([float('nan')]))
a.is_nonzero()
e.is_nonzero()
torch.is_nonzero(s)
len(a)
len(s)
list(s)
list(a)
list(g)
list(m)
list(e)
1 in a
torch.tensor(1.) in a
'x' in a
[1] in a
None in a
np.float32(1) in a
1 in g
a.tolist()
m.tolist()
s.tolist()
g.tolist()
e.tolist()
c.tolist()
a.numpy()
g.numpy()
g.numpy(force=True)
y.numpy()
s.numpy()
np.asarray(g)
np.asarray(a)
np.asarray(a, dtype=np.float64)
a.__array__(np.float64)
a.__array_wrap__(np.array([1, 2]))
np.sin(a)
np.add(a, a)
np.add(np.ones(2), a)
a.size(0)
a.size(-1)
a.size(1)
s.size(0)
a.size(1.5)
a.size('a')
m.size()
m.dim(), m.ndimension(), m.ndim, m.numel(), m.nelement(), m.element_size(), m.itemsize, m.nbytes
m.stride()
m.stride(0)
m.stride(-1)
m.stride(2)
m.t().stride()
m[1].storage_offset()
m[:, 1:].stride(), m[:, 1:].storage_offset()
torch.zeros(2, 0, 3).stride(), torch.zeros(0, 3).stride()
m.is_contiguous(), m.t().is_contiguous()
torch.ones(1, 2, 3, 4).is_contiguous(memory_format=torch.channels_last)
torch.empty(1, 2, 3, 4, memory_format=torch.channels_last).is_contiguous(memory_format=torch.channels_last)
torch.is_floating_point(a), torch.is_complex(c), a.is_signed()
torch.is_floating_point(1)
torch.is_complex(1)
torch.is_tensor(1), torch.is_tensor(a), torch.is_storage(a.untyped_storage())
torch.numel(1)
torch.numel(m)
'{:.3f}'.format(s)
'{:.3f}'.format(a)
'{}'.format(a)
f'{gs:.2f}'
f'{i:04d}'
f'{b}'
hash(a) == id(a)
copy.deepcopy(y)
copy.deepcopy(g)
copy.copy(g)
pickle.loads(pickle.dumps(g))
pickle.loads(pickle.dumps(y))
a.is_set_to(a)
a.is_set_to(a.view(2, 1))
a.is_same_size(g)
a.untyped_storage().nbytes(), len(a.storage()), a.storage().size()
a.storage()
a.storage().dtype
a.is_shared()
a.pin_memory()
a.is_pinned()
a.is_cuda, a.is_sparse, a.is_quantized, a.is_meta, a.is_mps, a.is_cpu, a.layout, a.name, a.is_nested
a._is_view(), a[0]._is_view()
a.detach()._is_view(), a.detach()._base
a.apply_(lambda x: x + 1)
g.apply_(lambda x: x + 1)
a.map_(a, lambda x, y: x + y)
a.map2_(a, a, lambda x, y, z: x + y + z)
torch.ones(2).map_(torch.ones(3), lambda x, y: x)
g.__dlpack__()
a.get_device()
a.type()
i.type()
c.type(), b.type()
a.type('torch.DoubleTensor')
a.type(torch.LongTensor)
a.type(torch.int8)
a.type('foo')
a.type(3)
a.type(float)
a.type(torch.FloatTensor) is a
a.is_neg(), a.is_conj(), a.dense_dim(), a.sparse_dim(), a.dim_order(), m.t().dim_order()
a.data_ptr() == a.numpy().ctypes.data
e.data_ptr()
torch.typename(a), torch.typename(1), torch.typename(dict)
str(type(a))
torch.result_type(i, 1.5), torch.result_type(torch.ones(2, dtype=torch.int8), i)
torch._check(True)
torch._check(False, lambda: 'no')
torch._check(False, 'no')
torch._check(a)
torch._check(None)
torch._check_with(ValueError, False, lambda: 'no')
torch._check_with(int, False, lambda: 'no')
torch._check_tensor_all(a > 0), torch._check_tensor_all(a[:0] > 0)
torch._check_tensor_all(a > 1, lambda: 'no')
torch._check_tensor_all(a)
torch._check_tensor_all(3)
torch._check_tensor_all_with(IndexError, a > 1)
torch._assert(False, 'no')
torch.ones(2, 2)[0]._base.shape
""".strip().splitlines()


@pytest.mark.parametrize("expression", SAME_AS_PYTORCH)
def test_same_as_pytorch(expression: str, torch: ModuleType) -> None:
    if "bfloat16" in expression:
        pytest.importorskip("ml_dtypes")
    assert outcome(T, expression) == outcome(torch, expression)


def test_reversed(torch: ModuleType) -> None:
    assert repr(reversed(T.arange(3))) == repr(reversed(torch.arange(3)))
    assert [t.tolist() for t in reversed(T.ones(2, 2))] == [[1, 1], [1, 1]]
    assert reversed(T.tensor(1)).item() == 1


# -------------------------------------------------------------------------------------------------------------- NumPy
def test_numpy_shares_memory_also_of_a_result_of_no_dimensions() -> None:
    t = T.ones(3).sum()
    t.numpy()[...] = 7
    assert t.item() == 7
    a = T.ones(2)
    with warnings.catch_warnings():  # NumPy 2.5 advises against it
        warnings.simplefilter("ignore", DeprecationWarning)
        a.numpy().shape = (2, 1)
    assert a.shape == (2,)


def test_numpy_of_a_tensor_that_requires_grad_names_the_way_out() -> None:
    with pytest.raises(RuntimeError, match=r"Use tensor\.detach\(\)\.numpy\(\) instead") as caught:
        T.ones(2, requires_grad=True).numpy()
    assert any("W006" in note for note in caught.value.__notes__)
    t = T.ones(2, requires_grad=True)
    t.data.numpy()[0] = 5
    assert t.tolist() == [5, 1]


def test_array_protocol_copies_only_when_it_must() -> None:
    t = T.ones(2)
    assert np.shares_memory(np.asarray(t), t.numpy())
    assert not np.shares_memory(np.array(t), t.numpy())
    assert np.shares_memory(np.array(t, copy=False), t.numpy())
    with pytest.raises(ValueError, match="avoid copy"):
        np.asarray(t, dtype=np.float64, copy=False)


@given(arrays.arrays(np.float32, arrays.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4)), st.data())
def test_strides_and_offsets_are_numpys(a: np.ndarray, data: st.DataObject) -> None:
    axes = data.draw(st.permutations(range(a.ndim)))
    t = T.from_numpy(a.transpose(axes))
    assert t.size() == a.transpose(axes).shape
    if t.numel():
        assert t.stride() == tuple(s // 4 for s in a.transpose(axes).strides)
        assert t.data_ptr() == a.ctypes.data
    assert t.is_contiguous() == a.transpose(axes).flags.c_contiguous


# --------------------------------------------------------------------------------------------------- iteration, hashing
def test_iteration_is_recorded() -> None:
    x = T.tensor([1.0, 2.0, 3.0], requires_grad=True)
    first, *_, last = x
    (first * last).backward()
    assert x.grad.tolist() == [3, 0, 1]


def test_tensors_are_keys_by_identity() -> None:
    a, b = T.ones(2), T.ones(2)
    assert {a: 1, b: 2}[b] == 2
    assert len({a, b, a}) == 2
    assert "size" in dir(a) and "_payload" not in dir(a)


# --------------------------------------------------------------------------------------------------- copies and pickles
def test_deepcopy_of_a_leaf() -> None:
    x = T.tensor([1.0, 2.0], requires_grad=True)
    x.note = ["mine"]
    (x * x).sum().backward()
    twin = copy.deepcopy(x)
    assert twin.requires_grad and twin.is_leaf
    assert twin.grad.tolist() == [2, 4] and twin.grad is not x.grad
    assert twin.note == ["mine"] and twin.note is not x.note
    assert not np.shares_memory(twin.detach().numpy(), x.detach().numpy())
    assert repr(twin) == "tensor([1., 2.], requires_grad=True)"
    (twin * 3).sum().backward()
    assert x.grad.tolist() == [2, 4]


def test_deepcopy_keeps_shared_memory_and_identity() -> None:
    base = T.zeros(2, 3)
    pair = [base, base[1], base.t(), base, base.as_strided((2, 2), (1, 2), 2)]
    twin = copy.deepcopy(pair)
    assert twin[0] is twin[3]
    twin[0][1, 0] = 5
    assert twin[1].tolist() == [5, 0, 0] and twin[2].tolist() == [[0, 5], [0, 0], [0, 0]]
    assert twin[4].tolist() == [[0, 0], [5, 0]] and twin[4].storage_offset() == 2
    assert base.tolist() == [[0, 0, 0], [0, 0, 0]]
    assert twin[2].stride() == base.t().stride()


def test_deepcopy_of_a_result_is_refused() -> None:
    y = T.ones(2, requires_grad=True) * 2
    with pytest.raises(RuntimeError, match="Only Tensors created explicitly by the user") as caught:
        copy.deepcopy(y)
    assert any("MulBackward0" in note for note in caught.value.__notes__)


def test_copy_shares_memory() -> None:
    x = T.zeros(2, requires_grad=True)
    twin = copy.copy(x)
    assert twin is not x and twin.requires_grad
    assert twin.data_ptr() == x.data_ptr()


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64", "int8", "uint64", "bool"])
def test_pickles(dtype: str) -> None:
    t = T.ones(2, 3, dtype=getattr(T, dtype))
    for value in (t, t.t(), t[:, 1], t.sum()):
        back = pickle.loads(pickle.dumps(value))
        assert back.dtype is value.dtype and back.tolist() == value.tolist() and not back.requires_grad
        assert repr(back) == repr(value)


def test_a_pickle_has_no_gradient_and_no_hooks() -> None:
    x = T.ones(2, requires_grad=True)
    x.name_of_mine = "w"
    (x * 2).sum().backward()
    back = pickle.loads(pickle.dumps(x))
    assert back.requires_grad and back.is_leaf and back.grad is None
    assert back.name_of_mine == "w"
    x.register_hook(lambda g: g)
    with pytest.warns(UserWarning, match="will not be serialized"):
        pickle.dumps(x)


def test_a_pickled_part_does_not_carry_the_whole() -> None:
    assert len(pickle.dumps(T.zeros(100_000)[:2])) < 1000


def test_a_copy_leaves_no_cycle(no_gc: None) -> None:
    x = T.ones(2, requires_grad=True)
    twin = copy.deepcopy(x)
    alive = weakref.ref(twin)
    del twin
    assert alive() is None
    assert gc.isenabled() is False


# --------------------------------------------------------------------------------------------------------------- memory
def test_storages() -> None:
    t = T.arange(6.0).view(2, 3)
    storage = t[1].untyped_storage()
    assert storage.nbytes() == 24 and storage.data_ptr() == t.data_ptr()
    errors.warned.clear()
    with pytest.warns(UserWarning, match="TypedStorage is deprecated"):
        typed = t.t().storage()
    assert list(typed) == [0, 1, 2, 3, 4, 5] and typed[2] == 2.0
    version = t._version
    typed[0] = 9
    assert t[0, 0].item() == 9 and t._version == version + 1
    assert typed.fill_(1).tolist() == [1] * 6
    assert "of size 6]" in repr(typed)


def test_apply_counts_as_a_write() -> None:
    w = T.ones(2, requires_grad=True)
    x = T.ones(2)
    y = (w * x).sum()
    x.apply_(lambda v: v + 1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()


def _add_one(t: Any) -> None:
    t.add_(1)


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="needs fork")
def test_shared_memory_is_seen_by_a_forked_process() -> None:
    t = T.zeros(3).share_memory_()
    assert t.is_shared() and not T.zeros(1).is_shared()
    process = multiprocessing.get_context("fork").Process(target=_add_one, args=(t,))
    process.start()
    process.join()
    assert t.tolist() == [1, 1, 1]
    with pytest.raises(RuntimeError, match="view"):
        T.zeros(2)[0].share_memory_()


# ----------------------------------------------------------------------------------------------------------- transforms
def test_a_batched_tensor_prints_and_refuses_numbers() -> None:
    seen: list[str] = []

    def look(x: Any) -> Any:
        seen.append(repr(x))
        return x * 2

    T.func.vmap(look)(T.tensor([1.0, 2.0]))
    assert seen == ["BatchedTensor(lvl=1, bdim=0, value=\n    tensor([1., 2.])\n)"]
    for fn, text in (
        (lambda x: x.item(), r"calling \.item\(\) on a Tensor"),
        (lambda x: float(x), r"calling \.item\(\) on a Tensor"),
        (lambda x: bool(x > 1), "data-dependent control flow"),
        (lambda x: x.numpy(), "doesn't have storage"),
        (lambda x: x.tolist(), "doesn't have storage"),
    ):
        with pytest.raises(RuntimeError, match=text):
            T.func.vmap(fn)(T.tensor([1.0, 2.0]))


def test_a_tensor_inside_of_jvp_prints_its_wrapper() -> None:
    seen: list[str] = []

    def look(x: Any) -> Any:
        seen.append(repr(x))
        return x * x.item()

    value, tangent = T.func.jvp(look, (T.tensor(2.0),), (T.tensor(3.0),))
    assert seen == ["GradTrackingTensor(lvl=1, value=\n    tensor(2.)\n)"]
    assert (value.item(), tangent.item()) == (4, 6)


# ------------------------------------------------------------------------------------------------------------- settings
def test_settings_are_kept() -> None:
    threads = T.get_num_threads()
    T.set_num_threads(3)
    assert T.get_num_threads() == 3
    T.set_num_threads(threads)
    with pytest.raises(RuntimeError, match="set_num_threads expects a positive integer"):
        T.set_num_threads(0)
    T.use_deterministic_algorithms(True)
    assert T.are_deterministic_algorithms_enabled()
    T.use_deterministic_algorithms(False)
    assert T.get_default_device() == T.device("cpu")
    T.set_default_device("cuda")
    try:
        for call in (T.get_default_device, lambda: T.ones(1)):
            with pytest.raises(AssertionError, match="not compiled with CUDA"):
                call()
    finally:
        T.set_default_device(None)


def test_what_the_package_lacks_says_so() -> None:
    with pytest.raises(AttributeError, match="module 'wengert' has no attribute 'no_such_name'"):
        T.no_such_name
    assert T.inf == float("inf") and T.pi > 3 and T.newaxis is None
    assert {"nn", "autograd", "random", "tensor", "float32"} <= set(dir(T))


def test_numpy_of_what_requires_grad_is_refused_only_while_recording() -> None:
    x = T.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match=r"Can't call numpy\(\) on Tensor that requires grad"):
        x.numpy()
    with T.no_grad():
        assert np.shares_memory(x.numpy(), x.detach().numpy())
        assert np.asarray(x * 2).tolist() == [2, 2]
