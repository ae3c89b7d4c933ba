"""``nn.init`` and ``nn.utils`` beside PyTorch."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import wengert as W
from wengert import nn


def _equal(ours: Any, theirs: Any) -> None:
    np.testing.assert_allclose(ours.detach().numpy(), theirs.detach().numpy(), rtol=1e-5, atol=1e-6)


# ----------------------------------------------------------------------------------------------------------------- init
INITS = {
    "uniform_": lambda i, t: i.uniform_(t, -1, 2),
    "normal_": lambda i, t: i.normal_(t, 1, 3),
    "trunc_normal_": lambda i, t: i.trunc_normal_(t, 0, 1, -0.8, 1.5),
    "trunc_normal_narrow": lambda i, t: i.trunc_normal_(t, 0, 1, 1.5, 1.8),
    "constant_": lambda i, t: i.constant_(t, 3),
    "ones_": lambda i, t: i.ones_(t),
    "zeros_": lambda i, t: i.zeros_(t),
    "eye_": lambda i, t: i.eye_(t),
    "xavier_uniform_": lambda i, t: i.xavier_uniform_(t, 2.0),
    "xavier_normal_": lambda i, t: i.xavier_normal_(t),
    "kaiming_uniform_": lambda i, t: i.kaiming_uniform_(t, nonlinearity="relu", mode="fan_out"),
    "kaiming_normal_": lambda i, t: i.kaiming_normal_(t, a=0.1),
    "orthogonal_": lambda i, t: i.orthogonal_(t, 1.5),
    "sparse_": lambda i, t: i.sparse_(t, 0.4),
}


@pytest.mark.parametrize("name", INITS)
@pytest.mark.parametrize("shape", [(5, 7), (20, 6)])
def test_init_beside_torch(name: str, shape: tuple[int, ...], torch: Any) -> None:
    results = []
    for lib in (W, torch):
        lib.manual_seed(3)
        t = lib.empty(shape, requires_grad=True)
        assert INITS[name](lib.nn.init, t) is t
        assert t.is_leaf and t.requires_grad
        results.append((t, lib.rand(2)))
    _equal(results[0][0], results[1][0])
    _equal(results[0][1], results[1][1])  # the stream stands at the same place


def test_dirac_and_gains(torch: Any) -> None:
    for shape, groups in (((4, 2, 3), 2), ((3, 3, 3, 3), 1), ((2, 2, 1, 2, 3), 1)):
        ours, theirs = W.empty(shape), torch.empty(shape)
        _equal(nn.init.dirac_(ours, groups), torch.nn.init.dirac_(theirs, groups))
    for name in ("linear", "conv2d", "sigmoid", "tanh", "relu", "leaky_relu", "selu"):
        assert nn.init.calculate_gain(name) == torch.nn.init.calculate_gain(name)
    with pytest.raises(ValueError, match="Unsupported nonlinearity x"):
        nn.init.calculate_gain("x")
    with pytest.warns(FutureWarning, match="`nn.init.xavier_normal` is now deprecated in favor of"):
        nn.init.xavier_normal(W.empty(2, 2))


# ------------------------------------------------------------------------------------------------------------- clipping
@pytest.mark.parametrize("norm_type", [2.0, 1.0, float("inf"), 0.5])
def test_clip_grad_norm(norm_type: float, torch: Any) -> None:
    results = []
    for lib in (W, torch):
        params = [lib.nn.Parameter(lib.zeros(3)), lib.nn.Parameter(lib.zeros(2, 2)), lib.nn.Parameter(lib.zeros(1))]
        params[0].grad = lib.tensor([3.0, -4.0, 1.0])
        params[1].grad = lib.tensor([[1.0, 2.0], [3.0, 4.0]])
        total = lib.nn.utils.clip_grad_norm_(iter(params), 2.0, norm_type=norm_type)
        results.append([total, params[0].grad, params[1].grad])
    for ours, theirs in zip(*results, strict=True):
        _equal(ours, theirs)


def test_clipping_alone() -> None:
    p = nn.Parameter(W.zeros(2))
    p.grad = W.tensor([float("nan"), 1.0])
    with pytest.raises(RuntimeError, match="for gradients from `parameters`"):
        nn.utils.clip_grad_norm_(p, 1.0, error_if_nonfinite=True)
    p.grad = W.tensor([5.0, -0.1])
    nn.utils.clip_grad_value_([p], 0.5)
    assert p.grad.tolist() == [0.5, pytest.approx(-0.1)]
    p.grad = W.tensor([0.3, 0.4])
    grad = p.grad
    assert nn.utils.clip_grad_norm_([p], 1.0).item() == pytest.approx(0.5)
    assert p.grad is grad and p.grad.tolist() == pytest.approx([0.3, 0.4])
    assert nn.utils.clip_grad_norm_([], 1.0).item() == 0


@pytest.mark.parametrize("scale", [1e-30, 1.0, 1e19, float("inf"), float("nan")])
def test_plain_gradients_are_clipped_as_others_are(scale: float) -> None:
    """The short way on arrays gives what the operators give, to the digit, and counts as writes."""
    results = []
    for checked in (False, True):
        params = [nn.Parameter(W.zeros(s)) for s in ((2, 3), (), (0,), (5,))]
        for k, p in enumerate(params):
            p.grad = W.tensor(np.random.default_rng(k).standard_normal(p.shape).astype(np.float32))
        params[0].grad[0, 0] *= scale
        versions = [p.grad._version for p in params]
        if checked:
            total = nn.utils.get_total_norm([p.grad for p in params])
            nn.utils.clip_grads_with_norm_(params, 0.7, total)
        else:
            total = nn.utils.clip_grad_norm_(params, 0.7)
        assert [p.grad._version for p in params] == [v + 1 for v in versions]
        results.append([total, *(p.grad.clone() for p in params)])
        nn.utils.clip_grad_value_(params, 0.01)
        results[-1] += [p.grad for p in params]
    for a, b in zip(*results, strict=True):
        assert a.dtype is b.dtype and a.shape == b.shape
        np.testing.assert_array_equal(a.numpy(), b.numpy())
    assert not (np.abs(results[0][-1].numpy()) > np.float32(0.01)).any()


def test_parameters_to_vector() -> None:
    layer = nn.Linear(2, 3)
    vector = nn.utils.parameters_to_vector(layer.parameters())
    assert vector.shape == (9,) and vector.requires_grad
    nn.utils.vector_to_parameters(W.arange(9.0), layer.parameters())
    assert layer.weight.tolist() == [[0, 1], [2, 3], [4, 5]] and layer.bias.tolist() == [6, 7, 8]
    assert isinstance(layer.weight, nn.Parameter)


# ------------------------------------------------------------------------------------------------------------ sequences
def _sequences(lib: Any) -> list[Any]:
    rng = np.random.RandomState(0)
    return [lib.tensor(rng.standard_normal((n, 4)).astype(np.float32), requires_grad=True) for n in (2, 5, 3)]


@pytest.mark.parametrize("mode", ["RNN", "LSTM", "GRU"])
@pytest.mark.parametrize("bidirectional", [False, True])
def test_packed_sequences_through_recurrent_layers(mode: str, bidirectional: bool, torch: Any) -> None:
    results = []
    for lib in (W, torch):
        lib.manual_seed(0)
        layer = getattr(lib.nn, mode)(4, 5, 2, bidirectional=bidirectional)
        sequences = _sequences(lib)
        packed = lib.nn.utils.rnn.pack_sequence(sequences, enforce_sorted=False)
        output, state = layer(packed)
        unpack = lib.nn.utils.rnn.pad_packed_sequence
        padded, lengths = unpack(output, batch_first=True, padding_value=-1.0, total_length=6)
        states = list(state) if isinstance(state, tuple) else [state]
        (padded.sum() + sum((s * s).sum() for s in states)).backward()
        grads = [t.grad for t in (*sequences, *layer.parameters())]
        results.append([*packed, padded, lengths, *states, *grads])
    for ours, theirs in zip(*results, strict=True):
        assert ours.shape == theirs.shape
        np.testing.assert_allclose(ours.detach().numpy(), theirs.detach().numpy(), rtol=1e-4, atol=1e-5)


def test_padding() -> None:
    rnn = nn.utils.rnn
    rows = [W.tensor([1, 2, 3]), W.tensor([4])]
    assert rnn.pad_sequence(rows).tolist() == [[1, 4], [2, 0], [3, 0]]
    assert rnn.pad_sequence(rows, True, 9, padding_side="left").tolist() == [[1, 2, 3], [9, 9, 4]]
    back = rnn.unpad_sequence(rnn.pad_sequence(rows, batch_first=True), W.tensor([3, 1]), batch_first=True)
    assert [t.is_contiguous() and t._base is None for t in back] == [True, True]
    assert [b.tolist() for b in back] == [[1, 2, 3], [4]]
    packed = rnn.pack_sequence(rows)
    assert isinstance(packed, rnn.PackedSequence) and packed.sorted_indices is None
    assert [u.tolist() for u in rnn.unpack_sequence(packed)] == [[1, 2, 3], [4]]
    assert packed.double().data.dtype is W.float64 and packed.cpu() is packed
    with pytest.raises(RuntimeError, match="must be sorted in decreasing order when `enforce_sorted` is True"):
        rnn.pack_sequence(rows[::-1])
    with pytest.raises(RuntimeError, match="Length of all samples has to be greater than 0"):
        rnn.pack_padded_sequence(W.ones(3, 2), [3, 0])


# ----------------------------------------------------------------------------------------------------- parametrizations
WRAPPERS = {
    "weight_norm": lambda u, m: u.weight_norm(m),
    "weight_norm_dim": lambda u, m: u.weight_norm(m, dim=None),
    "spectral_norm": lambda u, m: u.spectral_norm(m, n_power_iterations=2),
    "parametrizations.weight_norm": lambda u, m: u.parametrizations.weight_norm(m, dim=1),
    "parametrizations.spectral_norm": lambda u, m: u.parametrizations.spectral_norm(m),
}


@pytest.mark.parametrize("name", WRAPPERS)
def test_weight_wrappers_beside_torch(name: str, torch: Any) -> None:
    results, printed = [], []
    for lib in (W, torch):
        lib.manual_seed(0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            layer = WRAPPERS[name](lib.nn.utils, lib.nn.Linear(4, 3))
        x = lib.linspace(-1, 1, 8).view(2, 4)
        for _ in range(2):
            y = layer(x)
        (y * y).sum().backward()
        state = layer.state_dict()
        printed.append((repr(layer), list(state), [n for n, _ in layer.named_parameters()]))
        results.append([y, *state.values(), *(p.grad for p in layer.parameters())])
    assert printed[0] == printed[1]
    for ours, theirs in zip(*results, strict=True):
        _equal(ours, theirs)


@pytest.mark.parametrize("name", ["weight_norm", "spectral_norm"])
def test_removing_old_wrappers(name: str) -> None:
    layer = nn.Linear(4, 3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        getattr(nn.utils, name)(layer)
    before = layer.eval()(W.ones(1, 4))
    getattr(nn.utils, f"remove_{name}")(layer)
    assert [n for n, _ in layer.named_parameters()] == ["bias", "weight"]
    assert W.allclose(layer(W.ones(1, 4)), before)
    with pytest.raises(ValueError, match=f"{name} of 'weight' not found in"):
        getattr(nn.utils, f"remove_{name}")(layer)


class Symmetric(nn.Module):
    def forward(self, x: Any) -> Any:
        return x.triu() + x.triu(1).transpose(-1, -2)

    def right_inverse(self, x: Any) -> Any:
        return x.triu()


def test_parametrize() -> None:
    from wengert.nn.utils import parametrize

    layer = nn.Linear(3, 3)
    parametrize.register_parametrization(layer, "weight", Symmetric())
    assert parametrize.is_parametrized(layer, "weight") and type(layer).__name__ == "ParametrizedLinear"
    assert W.equal(layer.weight, layer.weight.T)
    assert [n for n, _ in layer.named_parameters()] == ["bias", "parametrizations.weight.original"]
    layer.weight = W.ones(3, 3)
    assert layer.parametrizations.weight.original.tolist() == [[1, 1, 1], [0, 1, 1], [0, 0, 1]]
    layer(W.ones(2, 3)).sum().backward()
    assert layer.parametrizations.weight.original.grad is not None
    with parametrize.cached():
        assert layer.weight is layer.weight
    assert layer.weight is not layer.weight
    with pytest.raises(RuntimeError, match="only supported through state_dict"):
        layer.__getstate__()
    parametrize.remove_parametrizations(layer, "weight")
    assert type(layer) is nn.Linear and layer.weight.tolist() == [[1.0] * 3] * 3
    with pytest.raises(ValueError, match="does not have a parameter, a buffer, or a parametrized element"):
        parametrize.register_parametrization(layer, "x", Symmetric())


def test_functional_call() -> None:
    from wengert.nn.utils.stateless import _functional_call as call

    net = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))
    state = {name: t * 0 for name, t in net.state_dict().items() if t.is_floating_point()}
    before = net[0].weight
    x = W.ones(3, 2)
    assert not call(net, state, x).any()
    assert net[0].weight is before and isinstance(before, nn.Parameter)
    weight = W.ones(2, 2, requires_grad=True)
    call(net[0], {"weight": weight}, (x,)).sum().backward()
    assert weight.grad is not None and before.grad is None
    with pytest.raises(RuntimeError, match=r"Unexpected key\(s\): 'q'"):
        call(net[0], {"q": weight}, (x,), strict=True)


def test_fusion_and_skip_init() -> None:
    conv, norm = nn.Conv2d(2, 3, 1).eval(), nn.BatchNorm2d(3).eval()
    norm.running_mean.uniform_()
    norm.running_var.uniform_(1, 2)
    x = W.randn(2, 2, 3, 3)
    assert W.allclose(nn.utils.fuse_conv_bn_eval(conv, norm)(x), norm(conv(x)), atol=1e-6)
    W.manual_seed(0)
    expected = W.rand(1)
    W.manual_seed(0)
    assert nn.utils.skip_init(nn.Linear, 2, 3).weight.shape == (3, 2)
    assert W.equal(W.rand(1), expected)


def test_data_parallel_on_one_device() -> None:
    model = W.nn.DataParallel(W.nn.Linear(2, 1), device_ids=[0])
    assert list(model.state_dict()) == ["module.weight", "module.bias"]
    x = W.ones(3, 2)
    assert model(x).equal(model.module(x))
    assert W.nn.parallel.data_parallel(model.module, x).equal(model(x))
    with pytest.raises(ValueError, match="Default process group has not been initialized"):
        W.nn.parallel.DistributedDataParallel(model.module)


def test_attention_takes_any_of_pytorchs_kernels() -> None:
    from wengert.nn.attention import SDPBackend, sdpa_kernel

    with sdpa_kernel([SDPBackend.FLASH_ATTENTION, SDPBackend.MATH]), sdpa_kernel(SDPBackend.MATH):
        assert str(SDPBackend.MATH) == "SDPBackend.MATH"
    with pytest.raises(AssertionError, match="Backend must be an instance of SDPBackend"), sdpa_kernel(3):
        pass


@pytest.mark.parametrize(("dim", "node"), [(0, "WeightNormInterface"), (1, "Mul"), (2, "WeightNormInterface")])
def test_the_node_of_a_weight_norm(dim: int, node: str) -> None:
    layer: Any = nn.utils.parametrizations.weight_norm(nn.Conv1d(3, 2, 2), dim=dim)
    assert layer.weight.grad_fn.name() == f"{node}Backward0"
