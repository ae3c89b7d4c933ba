"""Tensors without data: device "meta", the default device, modules, files, and what needs elements."""

from __future__ import annotations

import copy
import io
import pickle
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import wengert as T
from wengert import nn

HUGE = 10**12


def meta(*shape: int, **options: Any) -> T.Tensor:
    return T.empty(shape, device="meta", **options)


def facts(t: T.Tensor) -> tuple[str, T.dtype, tuple[int, ...]]:
    return str(t.device), t.dtype, tuple(t.shape)


# ------------------------------------------------------------------------------------------------------------ making
def test_facts() -> None:
    x = meta(2, 3)
    assert (x.is_meta, x.is_cpu, str(x.device), x.get_device()) == (True, False, "meta", -1)
    assert (x.shape, x.dtype, x.numel(), x.nbytes, x.stride(), x.data_ptr()) == ((2, 3), T.float32, 6, 24, (3, 1), 0)
    assert (x.type(), x.layout, x.is_leaf, len(x)) == ("torch.meta.FloatTensor", T.strided, True, 2)
    assert (T.ones(1).is_meta, T.ones(1).is_cpu) == (False, True)
    assert (T.ones(()).sum().is_meta, str(T.ones(()).sum().device)) == (False, "cpu")


@pytest.mark.parametrize(
    "make",
    [
        lambda d: T.zeros(2, 3, device=d),
        lambda d: T.ones((2,), dtype=T.int64, device=d),
        lambda d: T.full((2,), 1, device=d),
        lambda d: T.full((2,), True, device=d),
        lambda d: T.tensor([[1, 2]], device=d),
        lambda d: T.tensor(1.5, device=d),
        lambda d: T.as_tensor([1.0], device=d),
        lambda d: T.as_tensor(np.zeros(2), device=d),
        lambda d: T.asarray([1], device=d),
        lambda d: T.arange(5, device=d),
        lambda d: T.arange(0.0, 1.0, 0.3, device=d),
        lambda d: T.linspace(0, 1, 5, device=d),
        lambda d: T.logspace(0, 1, 5, device=d),
        lambda d: T.eye(2, 3, device=d),
        lambda d: T.rand(3, device=d),
        lambda d: T.randn(3, dtype=T.float64, device=d),
        lambda d: T.randint(3, (2,), device=d),
        lambda d: T.randperm(3, device=d),
        lambda d: T.normal(0.0, 1.0, (3,), device=d),
        lambda d: T.hann_window(5, device=d),
        lambda d: T.tril_indices(3, 3, device=d),
        lambda d: T.fft.fftfreq(4, device=d),
        lambda d: T.empty_strided((2, 2), (1, 2), device=d),
        lambda d: T.empty_permuted((2, 3, 4), (2, 0, 1), device=d),
        lambda d: T.scalar_tensor(3, device=d),
        lambda d: T.zeros_like(T.ones(2, 3).t(), device=d),
        lambda d: T.rand_like(T.ones(2), device=d),
        lambda d: T.ones(2).new_full((3,), 1, device=d),
        lambda d: T.ones(2).new_tensor([1, 2], device=d),
        lambda d: T.empty(1, 2, 3, 4, memory_format=T.channels_last, device=d),
    ],
)
def test_makers_are_as_on_the_cpu_without_data(make: Callable[[str], T.Tensor]) -> None:
    cpu, without = make("cpu"), make("meta")
    assert facts(without) == ("meta", cpu.dtype, tuple(cpu.shape))
    assert without.stride() == cpu.stride()


def test_like_and_new_keep_the_device_and_may_leave_it() -> None:
    x = meta(2, 3)
    for t in (T.zeros_like(x), T.empty_like(x), T.rand_like(x), x.new_zeros(3), x.new_tensor([1]), x.new_empty(2)):
        assert t.is_meta
    for t in (T.zeros_like(x, device="cpu"), T.randn_like(x, device="cpu"), x.new_zeros(2, 3, device="cpu")):
        assert facts(t) == ("cpu", T.float32, (2, 3))


def test_nothing_is_drawn() -> None:
    T.manual_seed(0)
    before = T.get_rng_state()
    T.rand(3, device="meta")
    meta(3).normal_().uniform_().random_().exponential_().bernoulli_(0.5)
    nn.init.kaiming_uniform_(meta(3, 3))
    nn.init.trunc_normal_(meta(3, 3))
    nn.functional.dropout(meta(3, 3))
    T.bernoulli(meta(3))
    nn.Linear(3, 3, device="meta")
    assert bool((T.get_rng_state() == before).all())


def test_huge_tensors_cost_nothing() -> None:
    x = meta(HUGE, requires_grad=True)
    ((x * 2).exp() + 1).sum().backward()
    assert facts(x.grad) == ("meta", T.float32, (HUGE,))
    w = meta(1 << 20, 1 << 20)
    y = (w @ w.t()).softmax(1).cumsum(0).topk(5, 1)[0]
    assert y.shape == (1 << 20, 5)
    assert w.mean((0, 1), keepdim=True).shape == (1, 1)
    with pytest.raises(RuntimeError, match="Storage size calculation overflowed"):
        meta(1 << 62)


def test_a_transformer_of_many_billion_parameters_runs() -> None:
    layer = nn.TransformerEncoderLayer(12288, 96, 49152, device="meta", batch_first=True)
    encoder = nn.TransformerEncoder(layer, 96, enable_nested_tensor=False)
    y = encoder(meta(8, 2048, 12288))
    y.sum().backward()
    assert sum(p.numel() for p in encoder.parameters()) > 170e9
    assert all(p.grad is not None and p.grad.shape == p.shape and p.grad.is_meta for p in encoder.parameters())


# ---------------------------------------------------------------------------------------------------------- printing
def test_text() -> None:
    x = meta(2, 3)
    assert repr(x) == "tensor(..., device='meta', size=(2, 3))"
    assert repr(meta(3, dtype=T.int64)) == "tensor(..., device='meta', size=(3,), dtype=torch.int64)"
    w = nn.Parameter(x)
    assert repr(w) == "Parameter containing:\ntensor(..., device='meta', size=(2, 3), requires_grad=True)"
    assert repr(w * 2) == "tensor(..., device='meta', size=(2, 3), grad_fn=<MulBackward0>)"
    assert f"{meta()}" == "tensor(..., device='meta', size=())"


# ------------------------------------------------------------------------------------------------------- no elements
@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda x, s: s.item(), RuntimeError, r"Tensor.item\(\) cannot be called on meta tensors"),
        (lambda x, s: bool(s), RuntimeError, r"Tensor.item\(\) cannot be called on meta tensors"),
        (lambda x, s: float(s), RuntimeError, r"Tensor.item\(\) cannot be called on meta tensors"),
        (lambda x, s: x.item(), RuntimeError, "a Tensor with 6 elements cannot be converted to Scalar"),
        (lambda x, s: x.tolist(), NotImplementedError, "Cannot copy out of meta tensor; no data!"),
        (lambda x, s: x.cpu(), NotImplementedError, "Cannot copy out of meta tensor; no data!"),
        (lambda x, s: x.to("cpu"), NotImplementedError, "Cannot copy out of meta tensor; no data!"),
        (lambda x, s: T.zeros(2, 3).copy_(x), NotImplementedError, "Cannot copy out of meta tensor; no data!"),
        (lambda x, s: x.numpy(), TypeError, "can't convert meta device type tensor to numpy"),
        (lambda x, s: np.asarray(x), TypeError, "can't convert meta device type tensor to numpy"),
        (lambda x, s: x.nonzero(), NotImplementedError, r"The register_meta function for torch.nonzero\(\)"),
        (lambda x, s: x[x > 0], NotImplementedError, r"The register_meta function for torch.nonzero\(\)"),
        (lambda x, s: x.unique(), NotImplementedError, "aten::_unique2: attempted to run this operator with Meta"),
        (lambda x, s: x.masked_select(x > 0), NotImplementedError, "aten::masked_select: attempted to run"),
        (lambda x, s: T.equal(x, x), NotImplementedError, "aten::equal: attempted to run this operator with Meta"),
        (lambda x, s: T.allclose(x, x), RuntimeError, r"Tensor.item\(\) cannot be called on meta tensors"),
        (lambda x, s: x.share_memory_(), RuntimeError, "_share_fd_: only available on CPU"),
        (lambda x, s: x.__dlpack__(), BufferError, "Cannot pack tensors on meta"),
    ],
)
def test_what_needs_elements_is_an_error(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call(meta(2, 3), meta())


def test_devices_do_not_mix() -> None:
    x, c = meta(2, 3), T.ones(2, 3)
    for call in (lambda: x + c, lambda: x == c, lambda: T.where(x > 0, x, c), lambda: T.cat([x, c])):
        with pytest.raises(RuntimeError, match="Tensor on device cpu is not on the expected device meta!"):
            call()
    for call in (lambda: c + x, lambda: c + meta(), lambda: T.stack([c, x]), lambda: c @ x.t(), lambda: c[x.long()]):
        with pytest.raises(RuntimeError, match="Tensor on device meta is not on the expected device cpu!"):
            call()
    assert (x + T.tensor(2.0)).is_meta
    assert (T.tensor(2.0) * x).is_meta
    assert x[T.tensor([0])].shape == (1, 3)
    assert x[T.tensor([True, False])].shape == (1, 3)
    assert nn.functional.embedding(T.tensor([0, 1]), x).shape == (2, 3)
    with pytest.raises(RuntimeError, match="Attempting to copy from device cpu to device meta"):
        T.add(c, 1, out=meta(2, 3))


# ------------------------------------------------------------------------------------------------------------ views
def test_views_share_a_storage_and_have_strides() -> None:
    x = meta(2, 3, 4)
    t = x.transpose(0, 2)
    assert (t.shape, t.stride(), t.is_contiguous(), t._is_view(), t._base is x) == (
        (4, 3, 2),
        (1, 4, 12),
        False,
        True,
        True,
    )
    assert t.contiguous().stride() == (6, 2, 1)
    assert (x[1].storage_offset(), x[:, 1:].storage_offset(), x[..., ::2].stride()) == (12, 4, (12, 4, 2))
    assert (x.view(6, 4).stride(), x.view(-1).shape, x.expand(5, 2, 3, 4).stride()) == ((4, 1), (24,), (0, 12, 4, 1))
    assert x.untyped_storage().nbytes() == x[0].untyped_storage().nbytes() == 96
    assert (x.as_strided((2, 2), (1, 2), 3).stride(), x.unfold(2, 2, 1).shape) == ((1, 2), (2, 3, 3, 2))
    assert [p.storage_offset() for p in x.split(2, 2)] == [0, 2]
    with pytest.raises(RuntimeError, match="view size is not compatible with input tensor's size and stride"):
        t.view(24)
    assert t.reshape(24).shape == (24,)
    assert x.to(T.float64).stride() == (12, 4, 1)
    assert meta(1, 2, 3, 4).to(memory_format=T.channels_last).stride() == (24, 1, 8, 2)
    assert T.ones(2, 3).t().to("meta").stride() == (1, 3)


def test_writes_are_checked_and_counted() -> None:
    x = meta(2, 3)
    x.copy_(T.ones(3))
    x[0].fill_(1)
    x[:, 1] = 2.0
    x.t().add_(1).mul_(meta(3, 2))
    x.zero_()
    assert x._version == 6
    with pytest.raises(RuntimeError, match=r"The size of tensor a \(3\) must match the size of tensor b \(5\)"):
        x.copy_(T.ones(5))
    with pytest.raises(RuntimeError, match="result type Float can't be cast to the desired output type Long"):
        x.long().add_(1.5)
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad is being used in an in-place operation"):
        x.requires_grad_().add_(1)


def test_results_have_the_dtypes_and_errors_of_the_cpu() -> None:
    x, i = meta(2, 3), meta(3, dtype=T.int64)
    assert (x + i).dtype is T.float32
    assert (i / 2).dtype is T.float32
    assert (i // 2).dtype is T.int64
    assert i.sum().dtype is T.int64
    assert (i > 1).dtype is T.bool
    assert x.to(T.complex64).abs().dtype is T.float32
    with pytest.raises(RuntimeError, match=r"The size of tensor a \(3\) must match the size of tensor b \(4\)"):
        x + meta(4)
    with pytest.raises(RuntimeError, match="mat1 and mat2 shapes cannot be multiplied"):
        x @ x
    with pytest.raises(RuntimeError, match="expected m1 and m2 to have the same dtype"):
        x @ meta(3, 2, dtype=T.float64)
    with pytest.raises(IndexError, match="Dimension out of range"):
        x.sum(5)


def test_out() -> None:
    x = meta(2)
    r = meta(2)
    assert T.add(x, x, out=r) is r
    assert T.zeros(3, out=meta(0)).shape == (3,)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert T.mul(meta(4), 2, out=r).shape == (4,)


# --------------------------------------------------------------------------------------------------------- gradients
def test_gradients_are_without_data_too() -> None:
    layer = nn.Linear(3, 4, device="meta")
    x = meta(2, 3, requires_grad=True)
    y = layer(x)
    assert (y.grad_fn.name(), y.requires_grad, y.is_leaf) == ("AddmmBackward0", True, False)
    y.sum().backward()
    for t in (layer.weight, layer.bias, x):
        assert facts(t.grad) == facts(t)
    (g,) = T.autograd.grad((x**3).sum(), x, create_graph=True)
    (h,) = T.autograd.grad(g.sum(), x)
    assert facts(h) == facts(x)


def test_a_tensor_that_left_its_data_takes_no_gradient_back() -> None:
    x = T.ones(3, requires_grad=True)
    y = (x * 2).to("meta")
    assert (y.is_meta, y.grad_fn.name()) == (True, "ToCopyBackward0")
    with pytest.raises(NotImplementedError, match="Cannot copy out of meta tensor; no data!"):
        y.sum().backward()


def test_transforms() -> None:
    x = meta(3, 4)
    assert facts(T.func.vmap(lambda v: v.sin().sum())(x)) == ("meta", T.float32, (3,))
    assert facts(T.func.grad(lambda v: v.sin().sum())(x)) == facts(x)
    value, tangent = T.func.jvp(T.sin, (x,), (x,))
    assert facts(value) == facts(tangent) == facts(x)
    assert T.func.jacrev(T.sin)(meta(3)).shape == (3, 3)


class Square(T.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        (x,) = ctx.saved_tensors
        return 2 * x * g


def test_functions_of_the_programs_own() -> None:
    x = meta(3, requires_grad=True)
    Square.apply(x).sum().backward()
    assert facts(x.grad) == facts(x)


@pytest.mark.parametrize("name", ["SGD", "Adam", "AdamW", "Adagrad", "RMSprop", "Adadelta", "RAdam", "Rprop"])
@pytest.mark.parametrize("foreach", [False, True])
def test_optimizers_step(name: str, foreach: bool) -> None:
    layer = nn.Linear(3, 4, device="meta")
    optimizer = getattr(T.optim, name)(layer.parameters(), foreach=foreach)
    for _ in range(2):
        optimizer.zero_grad()
        layer(meta(2, 3)).sum().backward()
        assert nn.utils.clip_grad_norm_(layer.parameters(), 1.0).is_meta
        optimizer.step()
    for state in optimizer.state.values():
        assert all(v.is_meta for k, v in state.items() if isinstance(v, T.Tensor) and v.dim())


# ----------------------------------------------------------------------------------------------------- default device
def test_default_device() -> None:
    with T.device("meta"):
        assert T.get_default_device() == T.device("meta")
        made = (T.zeros(2), T.tensor([1.0]), T.arange(3), T.randn(2), T.hann_window(3), nn.LSTM(2, 2).weight_ih_l0)
        assert all(t.is_meta for t in made)
        assert T.zeros(2, device="cpu").is_cpu
        assert T.from_numpy(np.ones(2)).is_cpu
        assert T.zeros_like(T.zeros(2, device="cpu")).is_cpu
        with T.device("cpu"):
            assert T.ones(1).is_cpu
        assert T.ones(1).is_meta
        assert nn.BatchNorm1d(4).num_batches_tracked.is_meta
    assert T.ones(1).is_cpu
    assert T.get_default_device() == T.device("cpu")


def test_set_default_device() -> None:
    T.set_default_device("meta")
    try:
        assert T.ones(1).is_meta
        with T.device("cpu"):
            assert T.ones(1).is_cpu
        T.set_default_device("cpu")
        assert T.ones(1).is_cpu
    finally:
        T.set_default_device(None)
    assert T.ones(1).is_cpu
    with pytest.raises(AssertionError, match="Torch not compiled with CUDA enabled"), T.device("cuda"):
        T.ones(1)


def test_the_default_device_lies_below_the_modes() -> None:
    seen = []

    class Mode(T.overrides.TorchFunctionMode):
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            seen.append(func.__name__)
            return func(*args, **(kwargs or {}))

    with Mode(), T.device("meta"):
        assert T.ones(1).is_meta
    with T.device("meta"), Mode():
        assert T.ones(1).is_meta
    assert seen.count("ones") == 2


# ----------------------------------------------------------------------------------------------------------- modules
def test_to_and_to_empty() -> None:
    module = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4)).to("meta")
    assert all(t.is_meta for t in (*module.parameters(), *module.buffers()))
    with pytest.raises(NotImplementedError, match=r"Please use torch.nn.Module.to_empty\(\) instead of"):
        module.to("cpu")
    with pytest.raises(NotImplementedError, match="Cannot copy out of meta tensor; no data!"):
        module.cpu()
    before = module[0].weight
    assert module.to_empty(device="cpu") is module
    after = module[0].weight
    assert after is not before
    assert (type(after), after.requires_grad, after.is_cpu) == (nn.Parameter, True, True)
    assert module(T.ones(2, 3)).shape == (2, 4)
    assert nn.Linear(3, 4, device="meta").half().weight.dtype is T.float16
    assert nn.Linear(3, 4, device="meta").to("meta", T.float64).weight.dtype is T.float64


def test_load_state_dict() -> None:
    full = nn.Linear(3, 4)
    empty = nn.Linear(3, 4, device="meta")
    told = "copying from a non-meta parameter in the checkpoint to a meta parameter"
    with pytest.warns(UserWarning, match=f"for weight: {told}"), pytest.warns(UserWarning, match=f"for bias: {told}"):
        empty.load_state_dict(full.state_dict())
    assert empty.weight.is_meta
    empty.load_state_dict(full.state_dict(), assign=True)
    assert empty.weight.is_cpu
    assert T.equal(empty.weight, full.weight)
    with pytest.raises(RuntimeError, match="no data!"):
        full.load_state_dict(nn.Linear(3, 4, device="meta").state_dict())


def test_skip_init() -> None:
    T.manual_seed(0)
    before = T.get_rng_state()
    assert nn.utils.skip_init(nn.Linear, 3, 4).weight.is_cpu
    assert nn.utils.skip_init(nn.Linear, 3, 4, device="meta").weight.is_meta
    assert bool((T.get_rng_state() == before).all())


def test_data_and_grad_stay_on_one_device() -> None:
    w = nn.Parameter(meta(2))
    with pytest.raises(RuntimeError, match="incompatible tensor type"):
        w.data = T.ones(2)
    with pytest.raises(RuntimeError, match="attempting to assign a gradient with device type 'cpu'"):
        w.grad = T.ones(2)
    w.data = meta(3)
    assert w.shape == (3,)


@pytest.mark.parametrize(
    "make",
    [
        lambda: (nn.LSTM(3, 4, device="meta"), (meta(5, 2, 3),)),
        lambda: (nn.GRU(3, 4, 2, bidirectional=True, device="meta"), (meta(5, 2, 3),)),
        lambda: (nn.LSTMCell(3, 4, device="meta"), (meta(2, 3),)),
        lambda: (nn.MultiheadAttention(4, 2, device="meta"), (meta(5, 2, 4),) * 3),
        lambda: (nn.Conv2d(2, 4, 3, device="meta"), (meta(1, 2, 8, 8),)),
        lambda: (nn.ConvTranspose2d(2, 4, 3, device="meta"), (meta(1, 2, 8, 8),)),
        lambda: (nn.BatchNorm2d(2, device="meta"), (meta(1, 2, 8, 8),)),
        lambda: (nn.GroupNorm(1, 2, device="meta"), (meta(1, 2, 8, 8),)),
        lambda: (nn.InstanceNorm2d(2, affine=True, device="meta"), (meta(1, 2, 8, 8),)),
        lambda: (nn.LayerNorm(8, device="meta"), (meta(2, 8),)),
        lambda: (nn.RMSNorm(8, device="meta"), (meta(2, 8),)),
        lambda: (nn.Embedding(5, 3, device="meta"), (meta(2, dtype=T.int64),)),
        lambda: (nn.Bilinear(2, 3, 4, device="meta"), (meta(5, 2), meta(5, 3))),
    ],
)
def test_modules_run_both_ways(make: Any) -> None:
    module, inputs = make()
    result = module(*inputs)
    result = result[0] if isinstance(result, tuple) else result
    result.sum().backward()
    assert result.is_meta
    assert all(facts(p.grad) == facts(p) for p in module.parameters())


def test_autocast_leaves_them_alone() -> None:
    with T.autocast("cpu", dtype=T.float16):
        assert nn.Linear(3, 4, device="meta")(meta(2, 3)).dtype is T.float32


# ------------------------------------------------------------------------------------------------------------- files
def test_copies_and_pickles() -> None:
    x = meta(2, 3).t()
    w = nn.Parameter(meta(2, 3))
    for twin in (copy.deepcopy(x), copy.copy(x), pickle.loads(pickle.dumps(x))):
        assert (facts(twin), twin.stride()) == (facts(x), (1, 3))
    for twin in (copy.deepcopy(w), pickle.loads(pickle.dumps(w))):
        assert (type(twin), facts(twin), twin.requires_grad) == (nn.Parameter, facts(w), True)
    pair = copy.deepcopy([x, x[0]])
    assert pair[0].untyped_storage().nbytes() == 24


def through_a_file(value: Any, **options: Any) -> Any:
    file = io.BytesIO()
    T.save(value, file)
    file.seek(0)
    return T.load(file, **options)


def test_saved_and_loaded() -> None:
    state = nn.Sequential(nn.Linear(3, 4, device="meta"), nn.BatchNorm1d(4, device="meta")).state_dict()
    loaded = through_a_file(state)
    assert {k: facts(v) for k, v in loaded.items()} == {k: facts(v) for k, v in state.items()}
    assert through_a_file(meta(2, requires_grad=True), map_location="cpu").is_meta


def test_map_location() -> None:
    x = T.arange(6.0).reshape(2, 3)
    loaded = through_a_file({"x": x, "row": x[1], "t": x.t(), "n": T.tensor(3)}, map_location="meta")
    assert facts(loaded["x"]) == ("meta", T.float32, (2, 3))
    assert (loaded["row"].storage_offset(), loaded["t"].stride()) == (3, (1, 3))
    assert facts(loaded["n"]) == ("meta", T.int64, ())
    assert through_a_file(x, map_location=T.device("meta")).untyped_storage().nbytes() == 24


def test_storages() -> None:
    storage = meta(2, 3).untyped_storage()
    assert (str(storage.device), storage.nbytes(), len(storage), storage.data_ptr()) == ("meta", 24, 24, 0)
    assert repr(storage) == "...\n[torch.storage.UntypedStorage(device=meta) of size 24]"
    with pytest.raises(NotImplementedError, match="Cannot copy out of meta tensor; no data!"):
        storage.cpu()


def test_a_plain_program_does_not_import_the_rules() -> None:
    import subprocess
    import sys

    code = "import sys, wengert as T; (T.ones(2) + 1).sum(); assert 'wengert._payloads.meta_rules' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
