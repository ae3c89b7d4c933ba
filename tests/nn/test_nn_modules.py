"""Every module beside PyTorch's: the same seed gives the same parameters, outputs, gradients, names and printing."""

from __future__ import annotations

import copy
import pickle
import warnings
from typing import Any

import numpy as np
import pytest
from nn_cases import CASES

import wengert
from wengert import nn


def _made(torch: Any, case: Any) -> tuple[Any, list[Any], Any]:
    """The module, its inputs and its output, all from the same seeds."""
    arrays = case.inputs(np.random.RandomState(3))
    inputs = [torch.tensor(a, requires_grad=k < case.grads and a.dtype.kind == "f") for k, a in enumerate(arrays)]
    torch.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        module = case.make(torch.nn)
        output = module(*inputs)
    return module, inputs, output


def _tensors(value: Any) -> list[Any]:
    if isinstance(value, (tuple, list)):
        return [t for v in value for t in _tensors(v)]
    return [] if value is None else [value]


def _array(t: Any) -> Any:
    return None if t is None else t.detach().numpy()


def _close(ours: Any, theirs: Any, what: str, tolerance: float) -> None:
    if ours is None or theirs is None:
        assert ours is None and theirs is None, what
        return
    ours, theirs = _array(ours), _array(theirs)
    assert ours.dtype == theirs.dtype and ours.shape == theirs.shape, (what, ours.shape, theirs.shape, ours.dtype)
    np.testing.assert_allclose(ours, theirs, rtol=tolerance * 10, atol=tolerance, err_msg=what)


def _sum_of(torch: Any, output: Any) -> Any:
    """One number of all floating outputs, with weights that tell their elements apart."""
    total = 0
    for t in _tensors(output):
        if t.is_floating_point() and t.requires_grad:
            weights = torch.linspace(0.5, 1.5, t.numel(), dtype=t.dtype).view(t.shape)
            total = total + (t * weights).sum()
    return total


@pytest.mark.parametrize("name", CASES)
def test_beside_torch(name: str, torch: Any) -> None:
    case = CASES[name]
    theirs, their_inputs, their_output = _made(torch, case)
    ours, our_inputs, our_output = _made(wengert, case)
    assert repr(ours) == repr(theirs)
    our_state, their_state = ours.state_dict(), theirs.state_dict()
    assert list(our_state) == list(their_state)
    assert our_state._metadata == their_state._metadata
    for key in their_state:
        _close(our_state[key], their_state[key], key, case.tolerance)
    for k, (a, b) in enumerate(zip(_tensors(our_output), _tensors(their_output), strict=True)):
        _close(a, b, f"output {k}", case.tolerance)
        assert a.requires_grad == b.requires_grad
        assert type(a.grad_fn).__name__ == type(b.grad_fn).__name__  # torchviz writes it
    total = _sum_of(torch, their_output)
    if not isinstance(total, torch.Tensor):
        return
    total.backward()
    _sum_of(wengert, our_output).backward()
    for (key, a), (_, b) in zip(ours.named_parameters(), theirs.named_parameters(), strict=True):
        _close(a.grad, b.grad, f"gradient of {key}", case.tolerance)
    for k, (a, b) in enumerate(zip(our_inputs, their_inputs, strict=True)):
        _close(a.grad, b.grad, f"gradient of input {k}", case.tolerance)


@pytest.mark.parametrize("name", ["LSTMCell", "GRUCell"])
def test_cells_have_the_graphs_of_pytorchs(name: str, torch: Any) -> None:
    def names(lib: Any) -> list[str]:
        found, todo = [], [t.grad_fn for t in _tensors(_made(lib, CASES[name])[2])]
        while todo:
            node = todo.pop()
            if node is not None:
                found.append(type(node).__name__)
                todo += [inner for inner, _ in node.next_functions]
        return sorted(found)

    assert names(wengert) == names(torch)


@pytest.mark.parametrize("name", CASES)
def test_copies_and_state(name: str) -> None:
    """A deep copy, a pickled copy and one that loads the state dict compute the same."""
    module, inputs, output = _made(wengert, CASES[name])
    expected = [_array(t) for t in _tensors(output)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        loaded = CASES[name].make(nn)
    if CASES[name].name.startswith("Lazy"):
        loaded(*inputs)
    assert repr(loaded) == repr(module)
    assert repr(loaded.load_state_dict(module.state_dict())) == "<All keys matched successfully>"
    others = {"deepcopy": copy.deepcopy(module), "pickle": pickle.loads(pickle.dumps(module)), "state": loaded}
    for how, other in others.items():
        assert type(other) is type(module)
        assert [type(p) for p in other.parameters()] == [type(p) for p in module.parameters()]
        module.eval()
        other.eval()
        wengert.manual_seed(5)
        ours = [_array(t) for t in _tensors(other(*inputs))]
        wengert.manual_seed(5)
        expected = [_array(t) for t in _tensors(module(*inputs))]
        for a, b in zip(ours, expected, strict=True):
            np.testing.assert_array_equal(a, b, err_msg=how)


def test_every_module_of_torch_is_there(torch: Any) -> None:
    absent = {"LinearCrossEntropyLoss", "LinearCrossEntropyOptions", "DataParallel"}
    theirs = {n for n in dir(torch.nn) if isinstance(getattr(torch.nn, n), type)}
    assert sorted(theirs - set(dir(nn)) - absent) == []
    tested = {case.name.partition("_")[0] for case in CASES.values()}
    assert len(tested) > 100


@pytest.mark.parametrize("affine", [True, False])
def test_batch_norm_of_nothing_leaves_its_statistics(affine: bool) -> None:
    m = nn.BatchNorm1d(3, affine=affine)
    y = m(wengert.zeros(0, 3, 4, requires_grad=True))
    assert y.shape == (0, 3, 4) and m.running_var.tolist() == [1.0, 1.0, 1.0]
    y.sum().backward()


def test_nan_of_a_pooled_power_reaches_its_whole_window() -> None:
    x = wengert.tensor([[[-1.0, 2.0, 3.0, 4.0]]], requires_grad=True)
    nn.LPPool1d(1.5, 2)(x).sum().backward()
    assert x.grad.isnan().tolist() == [[[True, True, False, False]]]


@pytest.mark.parametrize("cell", [nn.RNNCell, nn.GRUCell])
def test_states_that_do_not_fit_a_cell(cell: Any) -> None:
    m = cell(4, 5)
    with pytest.raises(RuntimeError, match="Input batch size 3 doesn't match hidden0 batch size 2"):
        m(wengert.zeros(3, 4), wengert.zeros(2, 5))
    with pytest.raises(RuntimeError, match="hidden0 has inconsistent hidden_size: got 6, expected 5"):
        m(wengert.zeros(3, 4), wengert.zeros(3, 6))


def test_a_tensor_for_the_states_of_an_lstm() -> None:
    with pytest.raises(TypeError, match=r"argument 'hx' \(position 2\) must be tuple of Tensors, not Tensor"):
        nn.LSTMCell(4, 5)(wengert.zeros(3, 4), wengert.zeros(3, 5))
    with pytest.raises(IndexError, match="index 1 is out of bounds for dimension 0 with size 1"):
        nn.LSTM(4, 5)(wengert.zeros(2, 3, 4), wengert.zeros(1, 3, 5))
