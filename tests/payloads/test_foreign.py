"""Tensors on another library's arrays: every operator and its derivatives, and what a program asks of a device.

The library is ``strict_array``: CuPy's functions and no others, computed by NumPy, never converted and never mixed.
"""

from __future__ import annotations

import copy
import io
import math
import pickle
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import strict_array
from op_cases import arguments, array, call, cases, differentiable, is_variable, tensors

import wengert as torch
from wengert._base.registry import ON_HOST, REGISTRY
from wengert._payloads.foreign import LIBRARIES, Foreign
from wengert._tape.tensor import Tensor

F = torch.nn.functional
COUNT = Counter(name for name, _ in cases())
UNINITIALISED = ("empty",)


@pytest.fixture(autouse=True, scope="module")
def library() -> Iterator[Any]:
    yield strict_array.register()
    LIBRARIES.pop("xla", None)


def on_device(a: Any) -> Tensor:
    """A tensor on an array of the library, made as a program makes it."""
    return torch.as_tensor(strict_array.StrictArray(np.array(a)))


def host(t: Tensor) -> np.ndarray:
    """The elements of a tensor that is on the library's array."""
    assert type(t._payload) is Foreign, f"the result is on {t.device}"
    return t._payload.numpy()


def variables(name: str, operands: list[Any]) -> list[int]:
    underived = REGISTRY[name].__dict__.get("underived", ())
    return [k for k, a in enumerate(operands) if is_variable(a) and k not in underived]


def moved(operands: list[Any], requires_grad: list[int]) -> list[Any]:
    ts = [on_device(a) if isinstance(a, np.ndarray) else a for a in operands]
    for k in requires_grad:
        ts[k].requires_grad_()
    return ts


def gradients(name: str, ins: list[Any], ks: list[int], params: Any) -> tuple[list[Any], list[Any]]:
    """First and second derivatives in the direction of ones."""
    wanted = [ins[k] for k in ks]
    outs = [o for o in differentiable(name, call(name, ins, params)) if o.requires_grad]
    if not outs:
        return [], []
    seeds = [torch.ones_like(o) * 0.5 for o in outs]
    first = torch.autograd.grad(outs, wanted, seeds, create_graph=True, allow_unused=True)
    live = [g for g in first if g is not None and g.requires_grad]
    if not live:
        return list(first), []
    second = torch.autograd.grad(live, wanted, [torch.ones_like(g) for g in live], allow_unused=True)
    return list(first), list(second)


def same(found: list[Any], expected: list[Any]) -> None:
    assert len(found) == len(expected)
    for f, e in zip(found, expected, strict=True):
        assert (f is None) == (e is None)
        if f is not None:
            assert host(f).dtype == array(e).dtype
            rtol, atol = (1e-4, 1e-4) if array(e).dtype in (np.float32, np.complex64) else (1e-7, 1e-9)
            np.testing.assert_allclose(host(f), array(e), rtol=rtol, atol=atol)


@pytest.mark.parametrize("name", sorted(COUNT))
def test_every_operator_forward_backward_and_second_order(name: str) -> None:
    info = REGISTRY[name]
    for i, narrow in [(0, True), *((i, False) for i in range(COUNT[name]))]:
        operands, params = arguments(name, i)
        if narrow:
            if any(is_variable(a) and a.dtype != np.float64 for a in operands) or not any(map(is_variable, operands)):
                continue
            operands = [a.astype(np.float32) if is_variable(a) else a for a in operands]
        expected = call(name, tensors(operands), params)
        found = call(name, moved(operands, []), params)
        for f, e in zip(found, expected, strict=True):
            assert (host(f).dtype, host(f).shape) == (array(e).dtype, array(e).shape)
        if name not in UNINITIALISED:
            same(found, expected)
        ks = variables(name, operands)
        if not ks or info.node is None or info.no_derivative is not None:
            continue
        own = gradients(name, moved(operands, ks), ks, params)
        theirs = gradients(name, tensors(operands, requires_grad=ks), ks, params)
        for f, e in zip(own, theirs, strict=True):
            same(f, e)
        ins = moved(operands, ks)
        outs = [o for o in differentiable(name, call(name, ins, params)) if o.requires_grad]
        if outs:
            torch.autograd.backward(outs, [torch.ones_like(o) * 0.5 for o in outs])
            same([ins[k].grad for k in ks], theirs[0])


LARGE = [
    lambda x, y: x.relu() + F.gelu(x) * F.silu(y) - F.leaky_relu(x, 0.1),
    lambda x, y: torch.where(x > 0, x, y).clamp(-1, 1) / (y.abs() + 1) ** 3,
    lambda x, y: F.elu(x) + F.hardswish(y) + F.softplus(x) + x.sigmoid() + x.tanh(),
    lambda x, y: x.sum(0) + x.mean(1).sum() + x.amax(1).sum() + x.max(0)[0] + x.var(0) + x.norm() + x.std(),
    lambda x, y: x.softmax(1) + y.log_softmax(0) + x.logsumexp(1, keepdim=True),
    lambda x, y: x.cumsum(1) + y.sort(1)[0] + F.layer_norm(x, (512,)),
    lambda x, y: F.mse_loss(x, y) + F.smooth_l1_loss(x, y) + F.binary_cross_entropy_with_logits(x, y.sigmoid()),
    lambda x, y: (x * 0.001 + 1).prod() + x.tril().sum() + F.dropout(x, 0.0).sum(),
    lambda x, y: F.batch_norm(x.reshape(9, 57, 512), None, None, training=True).sum(0),
]  # arrays for which NumPy's bodies have blocks, threads and kernels


@pytest.mark.parametrize("compute", LARGE)
def test_large_operands(compute: Any) -> None:
    rng = np.random.default_rng(0)
    arrays = [rng.standard_normal((513, 512)).astype(np.float32) for _ in range(2)]
    results = []
    for make in (torch.tensor, on_device):
        x, y = (make(a).requires_grad_() for a in arrays)
        out = compute(x, y)
        out.sum().backward()
        results.append([t.detach().cpu().numpy() for t in (out, x.grad, y.grad) if t is not None])
    for found, expected in zip(*results, strict=True):
        np.testing.assert_allclose(found, expected, rtol=2e-3, atol=2e-4)


def test_an_operator_without_a_body_names_itself() -> None:
    def only_numpy(lib: Any, self: Any) -> Any:
        return np.cumsum(self)

    from wengert._kinds.general import general

    only_numpy.__name__ = "only_numpy"
    op = general(batch="loop", samples=[], no_derivative="a test")(only_numpy)
    try:
        with pytest.raises(NotImplementedError, match="Could not run 'aten::only_numpy' with arguments from the 'XLA'"):
            op(on_device([1.0, 2.0]))
    finally:
        del REGISTRY["only_numpy"]


def test_operators_that_compute_on_the_host_are_these() -> None:
    dict(REGISTRY.items())  # all modules are imported
    lapack, special = {"lu_compact", "ldl_compact", "ldl_apply"}, {"airy_ai"}
    assert ON_HOST == lapack | special | {"_standard_gamma_grad", "_dirichlet_grad"}  # upward never


# -------------------------------------------------------------------------------------------- what a program asks of it
D = "xla"
MAKERS = [
    lambda d: torch.zeros(2, 3, device=d),
    lambda d: torch.ones((2,), dtype=torch.int64, device=d),
    lambda d: torch.full((2,), 1.5, device=d),
    lambda d: torch.tensor([[1, 2]], device=d),
    lambda d: torch.as_tensor(np.ones(2), device=d),
    lambda d: torch.asarray([1.0], device=d),
    lambda d: torch.arange(5, device=d),
    lambda d: torch.linspace(0, 1, 5, device=d),
    lambda d: torch.logspace(0, 1, 5, device=d),
    lambda d: torch.eye(2, 3, device=d),
    lambda d: torch.hann_window(5, device=d),
    lambda d: torch.tril_indices(3, 3, device=d),
    lambda d: torch.fft.fftfreq(4, device=d),
    lambda d: torch.complex(torch.ones(2, device=d), torch.zeros(2, device=d)),
    lambda d: torch.zeros_like(torch.ones(2), device=d),
    lambda d: torch.full_like(torch.ones(2, device=d), 3),
    lambda d: torch.ones(2, device=d).new_full((3,), 2.0),
    lambda d: torch.ones(2, device=d).new_tensor([1.0, 2.0]),
    lambda d: torch.arange(3, out=torch.empty(0, dtype=torch.int64, device=d)),
    lambda d: torch.rand(3, device=d),
    lambda d: torch.randn(2, 2, device=d),
    lambda d: torch.randint(9, (4,), device=d),
    lambda d: torch.randperm(4, device=d),
    lambda d: torch.randn_like(torch.ones(3, device=d)),
    lambda d: torch.bernoulli(torch.full((4,), 0.5, device=d)),
    lambda d: torch.normal(torch.zeros(3, device=d), torch.ones(3, device=d)),
    lambda d: torch.multinomial(torch.ones(4, device=d), 2),
    lambda d: torch.empty(4, device=d).uniform_(),
    lambda d: torch.nn.init.kaiming_normal_(torch.empty(3, 3, device=d)),
    lambda d: torch.distributions.Gamma(torch.ones(2, device=d), torch.ones(2, device=d)).rsample(),
]


@pytest.mark.parametrize("make", MAKERS)
def test_makers_give_what_they_give_on_the_cpu(make: Any) -> None:
    torch.manual_seed(3)
    expected = make("cpu")
    torch.manual_seed(3)
    found = make(D)
    assert (str(found.device), found.dtype) == ("xla:0", expected.dtype)
    np.testing.assert_array_equal(host(found), expected.numpy())


def test_a_tensor_shares_the_memory_of_the_librarys_array() -> None:
    a = strict_array.StrictArray(np.ones(3))
    t = torch.from_dlpack(torch.as_tensor(a))
    t.mul_(2)
    t[1:].add_(1)
    np.testing.assert_array_equal(a.get(), [2, 3, 3])


def test_nothing_is_converted_or_moved_by_itself() -> None:
    t = on_device([1.0, 2.0])
    for convert in (t.numpy, lambda: np.asarray(t), lambda: np.add(t, np.ones(2))):
        with pytest.raises((TypeError, RuntimeError)):
            convert()
    with pytest.raises(TypeError, match="can't convert xla:0 device type tensor to numpy"):
        t.numpy()
    assert t.numpy(force=True).tolist() == [1, 2]
    assert (t.cpu().device.type, t.to("cpu").to(D).device.type) == ("cpu", "xla")
    assert t.to(D) is t
    assert t.to(torch.device(D, 0)) is t
    assert t.is_xla
    assert not t.is_cpu
    assert not t.is_cuda
    assert t.get_device() == 0


MIXED = [
    lambda x, c: x + c,
    lambda x, c: c * x,
    lambda x, c: torch.maximum(c, x),
    lambda x, c: x @ c,
    lambda x, c: F.linear(c, x),
    lambda x, c: torch.cat([c, x]),
    lambda x, c: torch.where(x > 0, c, c),
    lambda x, c: torch.addmm(c, x, x),
    lambda x, c: c.add_(x),
    lambda x, c: x.mul_(c),
    lambda x, c: F.mse_loss(x, c),
]


@pytest.mark.parametrize("compute", MIXED)
def test_tensors_of_two_devices_are_an_error(compute: Any) -> None:
    with pytest.raises(RuntimeError, match="Expected all tensors to be on the same device, but found at least two"):
        compute(torch.ones(2, 2, device=D), torch.ones(2, 2))


def test_numbers_and_indices_may_be_the_cpus() -> None:
    x = torch.arange(6.0, device=D).reshape(2, 3)
    assert (x * torch.tensor(2.0)).sum().item() == 30
    assert x[torch.tensor([1])].tolist() == [[3, 4, 5]]
    x[torch.tensor([True, False])] = torch.tensor(1.0)
    assert x.tolist() == [[1, 1, 1], [3, 4, 5]]
    assert torch.zeros(2, 3).copy_(x).device.type == "cpu"
    assert x.copy_(torch.ones(3)).sum().item() == 6


def test_printing_and_numbers() -> None:
    x = torch.arange(3.0, device=D)
    assert repr(x * 2) == "tensor([0., 2., 4.], device='xla:0')"
    assert repr(torch.ones(1, device=D, requires_grad=True) * 2) == (
        "tensor([2.], device='xla:0', grad_fn=<MulBackward0>)"
    )
    assert f"{x[2]:.1f} {float(x[1])} {int(x[2])} {bool(x[0])} {x.tolist()}" == "2.0 1.0 2 False [0.0, 1.0, 2.0]"
    assert torch.allclose(x, x.clone())
    assert torch.equal(x, x)


def test_gradients_pass_a_move() -> None:
    a = torch.ones(2, requires_grad=True)
    b = torch.ones(2, device=D, requires_grad=True)
    (a.to(D) * 3 + b).sum().backward()
    (b.cpu() * 2).sum().backward()
    assert (str(a.grad.device), a.grad.tolist()) == ("cpu", [3, 3])  # type: ignore[union-attr]
    assert (str(b.grad.device), b.grad.tolist()) == ("xla:0", [3, 3])  # type: ignore[union-attr]


def test_writes_in_place_are_recorded_and_checked() -> None:
    x = torch.ones(3, device=D, requires_grad=True)
    y = x * 2
    y[1:].mul_(5)
    y.sum().backward()
    assert x.grad.tolist() == [2, 10, 10]  # type: ignore[union-attr]
    z = x.exp()
    z.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.sum().backward()
    with torch.no_grad():
        x -= 1
    assert x.tolist() == [0, 0, 0]


def test_gradients_have_memory_of_their_own() -> None:
    x, y = (torch.ones(2, device=D, requires_grad=True) for _ in range(2))
    (x + y).sum().backward()
    x.grad.zero_()  # type: ignore[union-attr]
    assert y.grad.tolist() == [1, 1]  # type: ignore[union-attr]
    t = torch.ones(2, 2, device=D)
    F.pad(t, (0, 0)).add_(1)
    assert t.tolist() == [[1, 1], [1, 1]]


def trained(device: str) -> tuple[float, Any]:
    torch.manual_seed(0)
    nn = torch.nn
    model = nn.Sequential(
        nn.Conv2d(1, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(64, 10),
        nn.LayerNorm(10), nn.GELU(), nn.Dropout(0.1), nn.Linear(10, 3),
    ).to(device)  # fmt: skip
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    x = torch.linspace(-1, 1, 320).reshape(5, 1, 8, 8).to(device)
    y = torch.tensor([0, 1, 2, 0, 1], device=device)
    for _ in range(3):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    assert all(p.grad.device.type == p.device.type == device for p in model.parameters())
    return loss.item(), model


def test_training_takes_the_same_steps() -> None:
    ours, model = trained(D)
    assert ours == pytest.approx(trained("cpu")[0], rel=1e-5)
    file = io.BytesIO()
    torch.save(model.state_dict(), file)
    file.seek(0)
    state = torch.load(file)
    assert all(t.device.type == "cpu" for t in state.values())  # files hold tensors of the CPU
    twin = copy.deepcopy(model)
    twin.load_state_dict(state)
    x = torch.ones(1, 1, 8, 8, device=D)
    assert torch.equal(twin.eval()(x), model.eval()(x))
    assert str(pickle.loads(pickle.dumps(x)).device) == "xla:0"


def test_layers_with_their_own_paths() -> None:
    nn = torch.nn
    x = torch.randn(2, 5, 8, device=D)
    for layer in (
        nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), nn.LSTM(8, 4, bidirectional=True), nn.GRU(8, 4),
    ):  # fmt: skip
        out = layer.to(D)(x)
        (out[0] if isinstance(out, tuple) else out).sum().backward()
        assert all(p.grad.device.type == D for p in layer.parameters())
    assert nn.Linear(8, 2, device=D)(x).device.type == D
    assert nn.Embedding(3, 4, device=D)(torch.tensor([0, 2], device=D)).device.type == D


def test_transforms() -> None:
    x = torch.ones(3, device=D)
    assert torch.func.grad(lambda t: (t**2).sum())(x).tolist() == [2, 2, 2]
    assert torch.vmap(torch.func.grad(lambda t: t**3))(x).tolist() == [3, 3, 3]
    assert torch.func.hessian(lambda t: (t**3).sum())(x).diagonal().tolist() == [6, 6, 6]
    primal, tangent = torch.func.jvp(torch.sin, (x,), (x,))
    assert (primal.device.type, tangent.device.type) == (D, D)
    assert tangent[0].item() == pytest.approx(math.cos(1))


def test_the_default_device() -> None:
    with torch.device(D):
        assert torch.zeros(2).device.type == D
    assert torch.zeros(2).device.type == "cpu"


# -------------------------------------------------------------------------------------------------------------- cards
def test_without_a_card_cuda_is_not_there() -> None:
    if torch.cuda.is_available():
        pytest.skip("there is a card")
    device = "cuda" if torch.cuda.is_available() else "cpu"
    assert torch.ones(2).to(device).device.type == "cpu"
    with pytest.raises(AssertionError, match="Torch not compiled with CUDA enabled"):
        torch.zeros(2, device="cuda")


@pytest.mark.skipif(not torch.cuda.is_available(), reason="CuPy with a card is needed")
def test_on_a_card() -> None:
    ours, _ = trained("cuda")
    assert ours == pytest.approx(trained("cpu")[0], rel=1e-3)
    torch.cuda.synchronize()
    assert torch.cuda.memory_allocated() > 0
    x = torch.randn(64, 64, device="cuda", generator=torch.Generator("cuda").manual_seed(0))
    assert torch.allclose((x @ x).cpu(), x.cpu() @ x.cpu(), atol=1e-3)
    assert str(x.cuda().device) == f"cuda:{torch.cuda.current_device()}"
    unlike = []
    for name in sorted(COUNT):  # every operator, forward and backward: what differs is named
        try:
            operands, params = arguments(name, 0)
            ins = [torch.as_tensor(a, device="cuda") if isinstance(a, np.ndarray) else a for a in operands]
            found, expected = call(name, ins, params), call(name, tensors(operands), params)
            if name not in UNINITIALISED:
                for f, e in zip(found, expected, strict=True):
                    np.testing.assert_allclose(f.cpu().numpy(), array(e), rtol=1e-4, atol=1e-5)
        except Exception as error:  # noqa: BLE001  the list of all is the result
            unlike.append((name, str(error).splitlines()[0]))
    assert not unlike
