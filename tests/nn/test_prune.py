"""nn.utils.prune: masks, what a pruned module holds, and the same choices as PyTorch's."""

from __future__ import annotations

import copy
from collections import OrderedDict
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import wengert as T
from wengert.nn.utils import prune

Calls = list[tuple[str, tuple[Any, ...], dict[str, Any]]]
CASES: list[Calls] = [
    [("l1_unstructured", ("weight", 0.3), {})],
    [("l1_unstructured", ("weight", 5), {}), ("l1_unstructured", ("weight", 0.5), {})],
    [("random_unstructured", ("weight", 0.4), {})],
    [("random_unstructured", ("bias", 2), {}), ("random_unstructured", ("bias", 1), {})],
    [("ln_structured", ("weight", 0.5), {"n": 2, "dim": 0})],
    [("ln_structured", ("weight", 1), {"n": float("inf"), "dim": -1}), ("l1_unstructured", ("weight", 4), {})],
    [("random_structured", ("weight", 2), {"dim": 1}), ("ln_structured", ("weight", 1), {"n": 1, "dim": 0})],
    [("identity", ("weight",), {}), ("random_structured", ("weight", 0.3), {"dim": 0})],
    [("l1_unstructured", ("weight", 0), {})],
]


def layer(t: Any) -> Any:
    made = t.nn.Linear(6, 5)
    rng = np.random.default_rng(0)
    made.load_state_dict(
        {k: t.tensor(rng.standard_normal(tuple(v.shape)).astype(np.float32)) for k, v in made.state_dict().items()}
    )
    return made


def pruned(t: Any, utils: Any, calls: Calls) -> dict[str, np.ndarray]:
    made = layer(t)
    t.manual_seed(3)
    for name, args, kwargs in calls:
        getattr(utils, name)(made, *args, **kwargs)
    out = made(t.ones(2, 6))
    out.sum().backward()
    values = {k: v.numpy() for k, v in made.state_dict().items()}
    grads = {f"grad of {k}": v.grad.numpy() for k, v in made.named_parameters()}
    return {**values, **grads, "out": out.detach().numpy(), "weight itself": made.weight.detach().numpy()}


@pytest.mark.parametrize("calls", CASES, ids=lambda calls: "-".join(c[0] for c in calls))
def test_as_torch(torch: ModuleType, calls: Calls) -> None:
    from torch.nn.utils import prune as theirs

    expected, got = pruned(torch, theirs, calls), pruned(T, prune, calls)
    assert got.keys() == expected.keys()
    for key, value in expected.items():
        np.testing.assert_allclose(got[key], value, rtol=1e-5, atol=1e-6, err_msg=key)


def test_global_pruning_as_torch(torch: ModuleType) -> None:
    from torch.nn.utils import prune as theirs

    masks = []
    for t, utils in ((T, prune), (torch, theirs)):
        a, b = layer(t), layer(t)
        utils.l1_unstructured(b, "weight", 3)
        utils.global_unstructured([(a, "weight"), (b, "weight"), (a, "bias")], utils.L1Unstructured, amount=0.5)
        masks.append([m.numpy() for m in (a.weight_mask, b.weight_mask, a.bias_mask)])
    for ours, expected in zip(*masks, strict=True):
        np.testing.assert_array_equal(ours, expected)


def test_the_smallest_are_pruned_and_keep_no_gradient() -> None:
    made = T.nn.Linear(4, 1, bias=False)
    with T.no_grad():
        made.weight.copy_(T.tensor([[3.0, -0.1, 2.0, 0.2]]))
    prune.l1_unstructured(made, "weight", 0.5)
    assert made.weight_mask.tolist() == [[1, 0, 1, 0]]
    assert [name for name, _ in made.named_parameters()] == ["weight_orig"]
    made(T.ones(1, 4)).backward()
    assert made.weight_orig.grad.tolist() == [[1, 0, 1, 0]]
    with T.no_grad():
        made.weight_orig += 1
    assert made(T.ones(1, 4)).item() == 7  # the mask is applied anew at each call


def test_remove_makes_it_permanent() -> None:
    made = layer(T)
    original = made.weight
    prune.l1_unstructured(made, "weight", 0.5)
    assert prune.is_pruned(made)
    values = made.weight.tolist()
    prune.remove(made, "weight")
    assert made.weight is original
    assert made.weight.tolist() == values
    assert list(made.state_dict()) == ["bias", "weight"]
    assert not prune.is_pruned(made)
    with pytest.raises(
        ValueError, match=r"Parameter 'weight' of module .* has to be pruned before pruning can be removed"
    ):
        prune.remove(made, "weight")


def test_a_refused_amount_changes_nothing() -> None:
    made = layer(T)
    before = copy.deepcopy(made.state_dict())
    with pytest.raises(ValueError, match="amount=99 should be smaller than the number of parameters to prune=30"):
        prune.l1_unstructured(made, "weight", 99)
    prune.l1_unstructured(made, "bias", 1)
    with pytest.raises(ValueError, match="amount=9 should be smaller than the number of parameters to prune=4"):
        prune.l1_unstructured(made, "bias", 9)
    assert made.state_dict()["weight"].equal(before["weight"])
    assert made.bias_mask.sum().item() == 4
    assert made(T.ones(1, 6)).shape == (1, 5)
    prune.l1_unstructured(made, "bias", 1)
    assert made.bias_mask.sum().item() == 3


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda m: prune.l1_unstructured(m, "weight", "a"),
            TypeError,
            "Invalid type for amount: a. Must be int or float.",
        ),
        (lambda m: prune.l1_unstructured(m, "weight", 1.5), ValueError, r"amount=1.5 should either be a float in the"),
        (
            lambda m: prune.random_structured(m, "bias", 1, 0),
            ValueError,
            "Structured pruning can only be applied to multi",
        ),
        (lambda m: prune.ln_structured(m, "weight", 1, 2, 5), IndexError, "Invalid index 5 for tensor of size"),
        (lambda m: prune.PruningContainer().add_pruning_method(3), TypeError, "is not a BasePruningMethod subclass"),
    ],
)
def test_refusals(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call(layer(T))


def test_prune_of_a_tensor_alone() -> None:
    t = T.tensor([1.0, -3.0, 2.0])
    assert prune.L1Unstructured(amount=1).prune(t).tolist() == [0, -3, 2]
    scores = T.tensor([5.0, 1.0, 7.0])
    assert prune.L1Unstructured(amount=1).prune(t, importance_scores=scores).tolist() == [1, 0, 2]


def test_hooks_are_printed_as_an_ordered_dict() -> None:
    layer = T.nn.Linear(2, 2)
    assert repr(layer._forward_pre_hooks) == "OrderedDict()"
    prune.identity(layer, "weight")
    assert repr(layer._forward_pre_hooks) == repr(OrderedDict(layer._forward_pre_hooks))
