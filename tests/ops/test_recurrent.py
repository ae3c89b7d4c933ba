"""``LSTM``, ``GRU`` and ``RNN``: whole layers as one operator, beside the definition and the composed form."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import wengert as wg
from wengert import nn

KINDS = {"LSTM": (nn.LSTM, {}), "GRU": (nn.GRU, {}), "tanh": (nn.RNN, {}), "relu": (nn.RNN, {"nonlinearity": "relu"})}


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def stepwise(kind: str, x: np.ndarray, h: np.ndarray, c: np.ndarray, p: dict[str, np.ndarray]) -> Any:
    """The definition: outputs, last hidden and last cell state."""
    outputs = []
    for given in x:
        a, b = given @ p["weight_ih_l0"].T + p["bias_ih_l0"], h @ p["weight_hh_l0"].T + p["bias_hh_l0"]
        if kind == "LSTM":
            i, f, g, o = np.split(a + b, 4, 1)
            c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
            h = sigmoid(o) * np.tanh(c)
        elif kind == "GRU":
            (ar, az, an), (br, bz, bn) = np.split(a, 3, 1), np.split(b, 3, 1)
            z = sigmoid(az + bz)
            h = (1 - z) * np.tanh(an + sigmoid(ar + br) * bn) + z * h
        else:
            h = np.tanh(a + b) if kind == "tanh" else np.maximum(a + b, 0)
        outputs.append(h)
    return np.stack(outputs), h, c


def layer(kind: str, **options: Any) -> Any:
    wg.manual_seed(0)
    cls, given = KINDS[kind]
    return cls(3, 4, **given, **options).double()


def draw(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape)


def states(kind: str, *tensors: Any) -> Any:
    return tensors if kind == "LSTM" else tensors[0]


def flat(output: Any, state: Any) -> list[Any]:
    return [output, *(state if isinstance(state, tuple) else (state,))]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("recording", [True, False])
def test_a_layer_is_its_definition(kind: str, recording: bool) -> None:
    m = layer(kind)
    x, h, c = draw(5, 2, 3), draw(1, 2, 4, seed=1), draw(1, 2, 4, seed=2)
    with wg.set_grad_enabled(recording):
        found = flat(*m(wg.tensor(x), states(kind, wg.tensor(h), wg.tensor(c))))
    parameters = {name: p.detach().numpy() for name, p in m.named_parameters()}
    output, last, cell = stepwise(kind, x, h[0], c[0], parameters)
    for mine, theirs in zip(found, (output, last[None], cell[None]), strict=False):
        np.testing.assert_allclose(mine.detach().numpy(), theirs, atol=1e-14)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("options", [{}, {"bias": False}, {"bidirectional": True, "num_layers": 2}], ids=str)
def test_the_way_back_agrees_with_the_composed_form(kind: str, options: dict[str, Any]) -> None:
    """What is differentiated again goes through the composed form, which is built from operators tested elsewhere."""
    m = layer(kind, **options)
    x = wg.tensor(draw(4, 3, 3), requires_grad=True)
    wanted = [x, *m.parameters()]

    def loss() -> Any:
        parts = flat(*m(x))
        return sum((wg.tensor(draw(*y.shape, seed=k)) * y).sum() for k, y in enumerate(parts))

    plain = wg.autograd.grad(loss(), wanted)
    composed = wg.autograd.grad(loss(), wanted, create_graph=True)
    for mine, theirs in zip(plain, composed, strict=True):
        assert theirs.requires_grad
        np.testing.assert_allclose(mine.numpy(), theirs.detach().numpy(), rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_derivatives_to_second_order(kind: str) -> None:
    m = layer(kind)
    x = wg.tensor(draw(2, 2, 3), requires_grad=True)
    given = [wg.tensor(draw(1, 2, 4, seed=k), requires_grad=True) for k in (1, 2)]
    inputs = (x, *(given if kind == "LSTM" else given[:1]))

    def outputs(x: Any, *s: Any) -> Any:
        return tuple(flat(*m(x, states(kind, *s))))

    assert wg.autograd.gradcheck(outputs, inputs)
    assert wg.autograd.gradgradcheck(outputs, inputs)


@pytest.mark.parametrize("kind", KINDS)
def test_forward_mode_and_vmap(kind: str) -> None:
    m = layer(kind)
    x, v = wg.tensor(draw(3, 2, 3)), wg.tensor(draw(3, 2, 3, seed=1))
    value, tangent = wg.func.jvp(lambda x: m(x)[0], (x,), (v,))
    step = 1e-6
    np.testing.assert_allclose(value.detach().numpy(), m(x)[0].detach().numpy(), atol=1e-14)
    numeric = (m(x + step * v)[0] - m(x - step * v)[0]) / (2 * step)
    np.testing.assert_allclose(tangent.detach().numpy(), numeric.detach().numpy(), atol=1e-8)
    many = wg.tensor(draw(4, 3, 2, 3, seed=3))
    mapped = wg.func.vmap(lambda x: m(x)[0])(many)
    one_by_one = wg.stack([m(x)[0] for x in many])
    np.testing.assert_allclose(mapped.detach().numpy(), one_by_one.detach().numpy(), atol=1e-14)


def test_a_weight_written_after_the_forward_pass_is_noticed() -> None:
    m = layer("LSTM")
    y, _ = m(wg.tensor(draw(2, 2, 3), requires_grad=True))
    with wg.no_grad():
        m.weight_hh_l0.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_back_twice_gives_the_same() -> None:
    m = layer("GRU")
    y, _ = m(wg.tensor(draw(3, 2, 3)))
    first = wg.autograd.grad(y.sum(), list(m.parameters()), retain_graph=True)
    second = wg.autograd.grad(y.sum(), list(m.parameters()))
    for a, b in zip(first, second, strict=True):
        np.testing.assert_array_equal(a.numpy(), b.numpy())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("sizes", [(5, 40, 3, 41), (37, 2, 3, 5), (16, 16, 2, 16), (1, 70, 2, 60)], ids=str)
def test_whole_layers_have_the_cotangents_of_single_steps(kind: str, sizes: tuple[int, int, int, int]) -> None:
    """The operator's own way back and the composed form, through which ``create_graph`` goes, of large and small."""
    length, batch, inputs, hidden = sizes
    cls, options = KINDS[kind]
    m = cls(inputs, hidden, **options).double()
    x = wg.tensor(draw(length, batch, inputs), requires_grad=True)
    y, state = m(x)
    loss = (y * wg.tensor(draw(*y.shape, seed=1))).sum() + sum(s.sum() for s in wg.utils._pytree.tree_leaves(state))
    with wg.no_grad():  # nothing is kept for a way back
        np.testing.assert_array_equal(m(x)[0].numpy(), y.detach().numpy())
    wanted = [x, *m.parameters()]
    plain = wg.autograd.grad(loss, wanted, retain_graph=True)
    recorded = wg.autograd.grad(loss, wanted, create_graph=True)
    for a, b in zip(plain, recorded, strict=True):
        np.testing.assert_allclose(a.numpy(), b.detach().numpy(), atol=1e-10 * float(b.abs().max()))


def test_saturated_gates_stay_accurate() -> None:
    """A closed gate lets through ``exp(-20)``, not 0, and overflow in an open one gives 1 in silence."""
    m = nn.LSTM(1, 1)
    with wg.no_grad():
        for p in m.parameters():
            p.zero_()
        m.bias_ih_l0.copy_(wg.tensor([-20.0, 200.0, 1.0, 0.0]))
    _, (_, c) = m(wg.zeros(1, 1, 1), (wg.zeros(1, 1, 1), wg.zeros(1, 1, 1)))
    np.testing.assert_allclose(c.item(), np.exp(-20.0) * np.tanh(1.0), rtol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("options", [{}, {"bidirectional": True, "num_layers": 2}], ids=str)
def test_packed_sequences_are_as_each_alone(kind: str, options: dict[str, Any]) -> None:
    m = layer(kind, **options)
    rnn = nn.utils.rnn
    alone = [wg.tensor(draw(n, 3, seed=n), requires_grad=True) for n in (5, 2, 4)]
    together = [x.detach().requires_grad_() for x in alone]
    weights = list(m.parameters())

    def loss(parts: Any) -> Any:
        return sum((y * y * (k + 1)).sum() for k, y in enumerate(parts))

    results = [flat(*m(x)) for x in alone]
    first = wg.autograd.grad(sum(loss(parts) for parts in results), [*alone, *weights])
    output, state = m(rnn.pack_sequence(together, enforce_sorted=False))
    found = [[y, *(s[:, k] for s in flat(None, state)[1:])] for k, y in enumerate(rnn.unpack_sequence(output))]
    second = wg.autograd.grad(sum(loss(parts) for parts in found), [*together, *weights])
    for mine, theirs in zip(found, results, strict=True):
        for a, b in zip(mine, theirs, strict=True):
            np.testing.assert_allclose(a.detach().numpy(), b.detach().numpy(), atol=1e-14)
    for a, b in zip(second, first, strict=True):
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-11, atol=1e-12)


def test_what_is_behind_the_end_of_a_sequence_is_not_looked_at() -> None:
    """There a layer without bounds goes on growing until it is infinite."""
    m = nn.RNN(1, 1, nonlinearity="relu")
    with wg.no_grad():
        for p in m.parameters():
            p.fill_(1e6)
    sequences = [wg.full((n, 1), v, requires_grad=True) for n, v in ((12, -1e9), (1, 1.0))]
    output, _ = m(nn.utils.rnn.pack_sequence(sequences))
    short = nn.utils.rnn.unpack_sequence(output)[1]
    grads = wg.autograd.grad(short.sum(), [sequences[1], m.weight_ih_l0, m.weight_hh_l0])
    assert [g.item() for g in grads] == [1e6, 1.0, 0.0]


OPTIONS: list[dict[str, Any]] = [
    {},
    {"bias": False},
    {"batch_first": True},
    {"num_layers": 2, "bidirectional": True},
]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_values_gradients_and_node_as_in_pytorch(torch: Any, kind: str, options: dict[str, Any], dtype: str) -> None:
    found = []
    for lib in (torch, wg):
        lib.manual_seed(0)
        cls, given = KINDS[kind]
        m = getattr(lib.nn, cls.__name__)(5, 6, **given, **options).to(getattr(lib, dtype))
        x = lib.tensor(draw(4, 3, 5).astype(dtype), requires_grad=True)
        output, state = m(x)
        parts = flat(output, state)
        sum((y * y).sum() for y in parts).backward()
        arrays = [*(y.detach().numpy() for y in parts), x.grad.numpy(), *(p.grad.numpy() for p in m.parameters())]
        found.append((output.grad_fn.name(), arrays))
    (their_name, theirs), (my_name, mine) = found
    assert my_name.rstrip("01") == their_name.rstrip("01")
    tolerance = 2e-6 if dtype == "float32" else 1e-14
    for a, b in zip(mine, theirs, strict=True):
        assert (a.shape, a.dtype) == (b.shape, b.dtype)
        np.testing.assert_allclose(a, b, rtol=10 * tolerance, atol=tolerance * max(1.0, np.abs(b).max()))
