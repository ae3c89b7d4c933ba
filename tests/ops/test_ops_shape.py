"""Views, joining, splitting, conversions: their values, their memory, their history, and what they refuse."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import wengert as W
from wengert._arrays.memory import storage_of
from wengert._base.registry import ARRAYS, REGISTRY
from wengert._tape.tensor import stale_views, wrap
from wengert._tape.view_chain import chain_of, replay


def ramp(T: Any, *shape: int, grad: bool = True) -> Any:
    """Different numbers in a tensor of this shape."""
    return T.arange(float(math.prod(shape))).reshape(shape).clone().requires_grad_(grad)


def names(t: Any) -> list[str]:
    """The names of the nodes along first inputs."""
    found = []
    node = t.grad_fn
    while node is not None:
        found.append(node.name())
        node = node.next_functions[0][0] if node.next_functions else None
    return found


# ------------------------------------------------------------------------------------------------------- beside PyTorch
EXPRESSIONS = """
x.view(6, 4); x.view(-1); x.view(2, -1, 2); x.view((4, 6)); x.view(size=(24,)); x.view(torch.int32); x[..., 0].view(6)
x.reshape(6, 4); x.transpose(0, 1).reshape(24); x.reshape(-1, 2); x.reshape(shape=(3, 8))
x.transpose(0, 1).reshape(3, 2, 4); x.flatten(); x.flatten(1); x.flatten(0, 1); x.transpose(0, 1).flatten()
s.flatten(); x.ravel(); x.transpose(0, 2).ravel(); x.unflatten(2, (2, -1)); x.view_as(torch.ones(4, 6))
x.reshape_as(torch.ones(24)); x.squeeze(); x[:1].squeeze(); x[:1].squeeze(0); x.squeeze(1); x[:1, :1].squeeze((0, 1))
s.squeeze(0); x.unsqueeze(-1); s.unsqueeze(0); x.transpose(0, -1); x.swapaxes(0, 1); x[0].t(); x[0].T; x.mT; x[0].H
x.adjoint(); s.transpose(0, -1); x[0, 0].t(); x.permute(2, 0, 1); x.permute((0, -1, 1)); x.permute(dims=(1, 0, 2))
x.movedim(0, 2); x.movedim((0, 1), (-1, 0)); torch.moveaxis(x, 0, 1); x.expand(5, 2, 3, 4); x.expand(-1, -1, 4)
x[:1].expand(3, 3, 4); x[:, :1].expand(-1, 5, -1); s.expand(2, 3); x.expand(1, 2, 3, 4)
x.transpose(0, 1)[:, :1].expand(3, 4, 4); torch.broadcast_to(x, (2, 2, 3, 4)); x[:1].expand_as(x); x.sum_to_size(1, 4)
x.sum_to_size(2, 1, 4); x.sum_to_size(()); torch.broadcast_tensors(x, torch.ones(1, 4))[1]; x.select(1, -1)
x.narrow(1, 1, 2); x.narrow(0, -1, 1); x.narrow(1, torch.tensor(1), 1); x.diagonal(); x.diagonal(1, 1, 2)
x.diagonal(-9); x.unfold(2, 2, 1); x.unfold(1, 2, 3); x.unfold(0, 2, 1); s.unfold(0, 1, 1); x.unfold(2, 0, 1)
x.transpose(0, 1).unfold(1, 2, 1); x.as_strided((2, 2), (1, 2)); x.as_strided((3, 3), (1, 1), 2)
x.as_strided((), (), 5); x[1].as_strided((2, 2), (4, 1)); torch.diag(x[0]); torch.diag(x[0, 0], 1)
torch.diag(x[0], -1); torch.diag_embed(x); torch.diag_embed(x, 1, 0, 2); torch.diagflat(x[0]); x.tril(); x.triu(1)
x.tril(-1); x.triu(-9); torch.tril_indices(3, 4, 1); torch.triu_indices(3, 2, -1); x.flip(0); x.flip(0, 2)
x.flip((1,)); torch.fliplr(x); torch.flipud(x); torch.rot90(x); torch.rot90(x, 2, (0, 2)); torch.rot90(x, 3)
x.rot90(0); x.roll(1); x.roll(-1, 0); x.roll((1, 2), (0, 2)); x.roll(5, 2); x.repeat(2, 1, 1); x.repeat(2, 1, 1, 2)
s.repeat(3); x.tile((2,)); x.tile(2, 1, 1, 1); torch.repeat_interleave(x, 2); torch.repeat_interleave(x, 2, 1)
torch.repeat_interleave(x, torch.tensor([1, 2]), 0); s.repeat_interleave(3)
torch.repeat_interleave(torch.tensor([1, 0, 2])); torch.repeat_interleave(x, torch.tensor([2]), 2); torch.cat([x, x])
torch.cat([x, x[:, :1]], -2); torch.cat([x, torch.empty(0)], 1); torch.cat([x, x.long()])
torch.cat((x[0], x[1]), axis=1); torch.concat([x]); torch.stack([x, x]); torch.stack([x, x * 2], -1)
torch.stack([s, s], axis=0); torch.hstack([x, x]); torch.hstack([s, s]); torch.vstack([x[0], x[0]])
torch.dstack([x[0], x[0]]); torch.column_stack([x[0, 0], x[0].t()]); torch.row_stack([x[0, 0], x[0]]); x.split(1)[1]
x.split(2, 2)[0]; x.split([1, 2], 1)[1]; x.split(3, 2)[1]; x.chunk(2, 2)[1]; x.chunk(3, 2)[1]; x.chunk(9)[1]
x.unbind(1)[2]; x.tensor_split(2, 2)[1]; x.tensor_split((1, 2), 2)[2]; x.tensor_split(torch.tensor([2]), 1)[0]
x.hsplit(3)[1]; x.vsplit(2)[0]; x.dsplit([1])[1]; torch.unsafe_split(x, 1)[0]; torch.unsafe_chunk(x, 2)[1]
torch.split_copy(x, 1)[0]; torch.unbind_copy(x, 1)[1]; torch.split_with_sizes_copy(x, [1, 1])[1]; torch.atleast_1d(s)
torch.atleast_2d(s); torch.atleast_3d(s); torch.atleast_2d(x[0, 0]); torch.atleast_3d(x[0, 0], x[0])[1]
torch.block_diag(x[0], x[0, 0], s); torch.cartesian_prod(x[0, 0], x[0, 1]); torch.combinations(x[0, 0])
torch.combinations(x[0, 0], 3, True); torch.meshgrid(x[0, 0], x[0, 1], indexing="ij")[1]
torch.meshgrid(x[0, 0], s, indexing="xy")[0]; torch.select_scatter(x, x[0] * 2, 0, 1)
torch.slice_scatter(x, x[:, :1] * 2, 1, 2); torch.diagonal_scatter(x, x.diagonal() * 2); torch.view_copy(x, (24,))
torch.permute_copy(x, (1, 0, 2)); torch.t_copy(x[0]); torch.squeeze_copy(x); torch.expand_copy(s, (2,))
torch.diagonal_copy(x); torch.select_copy(x, 0, 1); torch.slice_copy(x, 1, 0, 2); torch.narrow_copy(x, 1, 0, 2)
torch.unfold_copy(x, 2, 2, 1); torch.alias_copy(x); torch.transpose_copy(x, 0, 1); torch.unsqueeze_copy(x, 0)
torch.as_strided_copy(x, (2,), (1,)); torch.linalg.diagonal(x); x.to(torch.float64); x.to(torch.int64); x.to("cpu")
x.to("cpu", torch.float64); x.to(x.double()); x.to(torch.float32, copy=True); x.double(); x.long(); x.half(); x.bool()
x.cfloat(); x.type_as(x.double()); x.type(torch.float64); x.clone(); x.transpose(0, 1).clone(); x.cpu()
x.contiguous(); x.transpose(0, 1).contiguous(); x[:1].expand(2, 3, 4).clone(); x.detach()
x[None].to(memory_format=torch.channels_last); x[None].contiguous(memory_format=torch.channels_last)
x.masked_fill(x > 3, 0.5); x.masked_fill(x[0] > 3, s); torch.fill(x, 2.0); torch.fill(x, s)
x.masked_fill(torch.tensor([[[True]], [[False]]]), 1.0); x[0].masked_fill(x > 3, 7.0)
"""
CASES = [e.strip() for line in EXPRESSIONS.strip().splitlines() for e in line.split(";")]


@pytest.mark.parametrize("expression", CASES)
def test_as_pytorch(torch: Any, expression: str) -> None:
    """Value, dtype, strides, view or not, node's name, and the gradient, which is taken twice."""
    seen = []
    for T in (torch, W):
        x, s = ramp(T, 2, 3, 4), T.tensor(3.0, requires_grad=True)
        y = eval(expression, {"torch": T, "x": x, "s": s})
        strides = [k for k, n in zip(y.stride(), y.shape, strict=True) if n > 1 and y.numel()]
        facts = [tuple(y.shape), str(y.dtype), strides, y._is_view(), y.requires_grad, y is x]
        facts.append(y.grad_fn.name() if y.grad_fn is not None else None)
        values = [y.detach().numpy()]
        if y.requires_grad:
            weight = T.arange(1.0, y.numel() + 1).reshape(y.shape).to(y.dtype)
            loss = (y * y * weight).sum()
            loss = loss.real if loss.is_complex() else loss
            first = T.autograd.grad(loss.double(), (x, s), create_graph=True, allow_unused=True)
            live = [(g, v) for g, v in zip(first, (x, s), strict=True) if g is not None]
            facts.append([g is None for g in first])
            values += [g.detach().numpy() for g, _ in live]
            if any(g.requires_grad for g, _ in live):
                second = T.autograd.grad(sum((g * g).sum() for g, _ in live), [v for _, v in live], allow_unused=True)
                values += [np.zeros(0) if g is None else g.numpy() for g in second]
        seen.append((facts, values))
    (mine, my_values), (theirs, their_values) = seen[1], seen[0]
    assert mine == theirs
    for a, b in zip(my_values, their_values, strict=True):
        np.testing.assert_allclose(a, b, rtol=2e-3 if "half" in expression else 1e-5)


ERRORS = """
x.view(2, 5); x.view(-1, -1); x.view(2, -1, 5); x.view(-2); x.transpose(0, 1).view(24); x.view("a"); x.reshape(7)
x.reshape(-1, 7); x.reshape("a"); x[:0].reshape(-1, 0); x.flatten(2, 1); x.flatten(5); x.unflatten(2, (3, 2))
x.unflatten(0, ()); x.squeeze(5); x.unsqueeze(5); x.transpose(0, 5); x.t(); s.mT.mT; x[0, 0].mT; x.permute(0, 1)
x.permute(0, 0, 1); x.permute(0, 1, 5); x.movedim((0, 1), (0,)); x.movedim((0, 0), (0, 1)); x.movedim(0, 5)
x.expand(3, 3, 4); x.expand(3, 4); x.expand(2, -1, 3, 4)[0].expand(-1, 2, 3, 5); torch.broadcast_shapes((2, 3), (4,))
torch.broadcast_tensors(x, torch.ones(3)); x.sum_to_size(3, 3); x.narrow(1, 1, 3); x.narrow(1, 9, 1)
x.narrow(1, 0, -1); s.narrow(0, 0, 1); x.select(1, 3); x.select(3, 0); s.select(0, 0); x.diagonal(0, 1, 1)
torch.diag(x); x.unfold(2, 5, 1); x.unfold(2, 1, 0); x.as_strided((2, 2), (1,)); x.as_strided((2,), (-1,))
x.as_strided((99,), (1,)); x[0, 0].tril(); x.flip(0, 0); x.flip(9); torch.fliplr(s); torch.rot90(x, 1, (0, 0))
torch.rot90(x, 1, (0,)); x.roll((1, 2), (0,)); s.roll(1, 0); x.repeat(2); x.repeat(2, 2, -1)
torch.repeat_interleave(x, -1); torch.repeat_interleave(x, torch.tensor([1, 2, 3]), 0)
torch.repeat_interleave(x, torch.tensor([-1, 1]), 0); torch.cat([]); torch.cat(x); torch.cat([x, 1])
torch.cat([x, x[0]]); torch.cat([x, x[:, :2]]); torch.cat([x, x], 3); torch.cat([s, s]); torch.stack([])
torch.stack([x, x[0]]); torch.stack([x, x], 5); torch.stack([x, 1]); x.split(0); x.split(-1); x.split([1, 1], 1)
x.split([-1, 4], 1); s.split(1); x.chunk(0); s.chunk(1); x.tensor_split(0); x.hsplit(2); s.hsplit(1)
x[0, 0].vsplit(1); x[0].dsplit(1); s.unbind(); torch.meshgrid(s, s.long(), indexing="ij")
torch.meshgrid(s, indexing="ab"); torch.cartesian_prod(x); torch.combinations(x); torch.combinations(x[0, 0], -1)
torch.select_scatter(x, x, 0, 0); torch.slice_scatter(x, x, 0, 0, 1); x.to("cuda"); x.cuda(); x.to("mps"); x.to(0)
x.to("abc"); x.to(1, 2, 3, 4); x.to(memory_format=torch.channels_last); x.masked_fill(x, 0.0); x.masked_fill(x > 1, x)
x.masked_fill(torch.ones(5, dtype=torch.bool), 0.0); x.masked_fill(x > 1, 1j); x.clone().fill_(x)
x.clone().fill_("a"); x.clone().fill_(1j); x.clone().copy_(torch.ones(5)); x.clone()[0].copy_(x); x.clone().copy_("a")
x.resize_(2); x.clone().t_(); x.unsqueeze_(0); x[0].detach_(); x.long().masked_fill(x > 1, float("nan"))
torch.transpose([1], 0, 1); torch.cat([[1]]); torch.flatten(1); torch.squeeze("a"); torch.unsqueeze([1], 0)
torch.tril([1]); torch.broadcast_tensors(x, 1.0)
"""
ERROR_CASES = [e.strip() for line in ERRORS.strip().splitlines() for e in line.split(";")]


def outcome(T: Any, expression: str) -> str:
    """The error's class and first line, or that there is none."""
    try:
        eval(expression, {"torch": T, "x": ramp(T, 2, 3, 4), "s": T.tensor(3.0)})
    except Exception as error:  # noqa: BLE001 - whatever it is, it is compared
        return f"{type(error).__name__}: {str(error).splitlines()[0].split(' and itemsize')[0]}"
    return "no error"


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("expression", ERROR_CASES)
def test_errors_are_pytorchs(torch: Any, expression: str) -> None:
    """PyTorch's class and first line, for what is refused."""
    mine, theirs = outcome(W, expression), outcome(torch, expression)
    assert theirs != "no error" or "mT" in expression
    assert mine == theirs


# ------------------------------------------------------------------------------------------------------ memory of views
def test_views_share_memory_and_version() -> None:
    """A view is the base's memory and counts its writes; a copy is neither."""
    x = ramp(W, 2, 3, 4, grad=False)
    views = [x[0], x[:, 1:], x.view(6, 4), x.reshape(-1), x.mT, x.expand(5, 2, 3, 4), x.diagonal(), x.unfold(2, 2, 1)]
    views += [
        x.squeeze(),
        x.unsqueeze(0),
        x.permute(2, 0, 1),
        x.as_strided((2,), (3,)),
        *x.split(1),
        *x.unbind(1),
        x[...],
        x[None],
    ]
    for v in views:
        assert v._is_view()
        assert v._base is x
        assert np.shares_memory(v.numpy(), x.numpy())
    x.add_(1)
    assert {v._version for v in views} == {1}
    for c in (x.clone(), x.mT.reshape(-1), x.flip(0), x.repeat(1, 1, 1), x[[0, 1]], x[x > 0], torch_cat(x)):
        assert not c._is_view()
        assert not np.shares_memory(c.numpy(), x.numpy())
        assert c._version == 0


def torch_cat(x: Any) -> Any:
    """x alone, joined: a copy all the same."""
    return W.cat([x])


def test_an_expanded_view_refuses_to_be_written() -> None:
    """Elements that share memory cannot be written one by one; a view that repeats nothing can."""
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor refers to a single memory"):
        W.ones(3).expand(2, 3).add_(1)
    x = W.ones(3)
    x.expand(1, 3).add_(1)
    assert x.tolist() == [2, 2, 2]


def test_detach_shares_the_version() -> None:
    """detach() is a leaf on the same memory with the same count of writes; .data counts by itself."""
    x = W.ones(2, requires_grad=True) * 1
    d = x.detach()
    assert d.is_leaf and not d.requires_grad and not d._is_view()
    x.add_(1)
    assert (d._version, d.tolist()) == (1, [2, 2])
    d.add_(1)
    assert x._version == 2


# ----------------------------------------------------------------------------------------------- in place through views
def test_writes_through_views_are_recorded() -> None:
    """The base's history becomes CopySlices; every view looks its own up again, whenever it was made."""
    a = ramp(W, 3, 4)
    x = a * 2
    before, inner = x[1], x[0][1:]
    v = x[0]
    v += 1
    assert names(x) == ["torch::autograd::CopySlices", "MulBackward0", "torch::autograd::AccumulateGrad"]
    for view in (v, before, inner):
        assert view.grad_fn.name() == "AsStridedBackward0"
        assert view.grad_fn.next_functions[0][0] is x.grad_fn
    v.mul_(3)
    (x * W.arange(12.0).reshape(3, 4)).sum().backward()
    expected = 2 * np.arange(12.0).reshape(3, 4)
    expected[0] *= 3
    np.testing.assert_allclose(a.grad.numpy(), expected)


def test_a_loop_that_fills_a_tensor() -> None:
    """x[i] = f(x[i - 1]): each step reads what the one before wrote."""
    w = W.tensor(0.5, requires_grad=True)
    x = W.zeros(4)
    x[0] = 1.0
    for i in range(1, 4):
        x[i] = x[i - 1].clone() * w
    x.sum().backward()
    assert w.grad.item() == pytest.approx(1 + 2 * 0.5 + 3 * 0.25)


def test_plus_equals_of_a_part() -> None:
    """x[i] += v writes the part twice, which PyTorch counts, and needs the gradient through it once."""
    a = W.ones(3, requires_grad=True)
    x = a * 1
    x[1] += 2 * a[0]
    assert x._version == 2
    x.sum().backward()
    assert a.grad.tolist() == [3, 1, 1]


def test_views_that_are_gone_cost_nothing() -> None:
    """As long as another view may be out of date, operators look; once it is gone they do not."""
    before = set(stale_views)
    x = W.ones(3, requires_grad=True) * 1
    v = x[0]
    x.mul_(2)
    assert set(stale_views) - before
    assert (v + 0).item() == 2
    assert v.grad_fn.name() == "AsStridedBackward0"
    del v
    x + 1
    assert not set(stale_views) - before


@pytest.mark.parametrize("change", ["t_", "squeeze_", "unsqueeze_"])
def test_views_of_a_tensor_that_was_reshaped_in_place(change: str) -> None:
    """A view keeps to its elements, whatever shape its base was given since."""
    a = ramp(W, 3, 1) if change == "squeeze_" else ramp(W, 3, 3)
    x = a * 1
    v = x[1]
    getattr(x, change)(*([0] if change == "unsqueeze_" else []))
    v.mul_(5)
    x.sum().backward()
    assert a.grad.tolist() == [[5.0 if i == 1 else 1.0] * a.shape[1] for i in range(3)]


def test_in_place_views_are_nodes_of_their_own(torch: Any) -> None:
    """unsqueeze_ and its like: names, versions, the refusal on a leaf, and saved values that are stale then."""
    for T in (torch, W):
        a = T.ones(2, 1, requires_grad=True)
        x = a * 2
        assert names(x.unsqueeze_(0).squeeze_().unsqueeze_(1).transpose_(0, 1).t_())[:5] == [
            "TBackward1", "TransposeBackward1", "UnsqueezeBackward1", "SqueezeBackward3", "UnsqueezeBackward1",
        ]  # fmt: skip
        assert x._version == 5
        assert not x._is_view()
        y = a * 2
        z = y * y
        y.unsqueeze_(0)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            z.sum().backward()
        with pytest.raises(
            RuntimeError, match="a leaf Variable that requires grad is being used in an in-place operation"
        ):
            a.squeeze_()


def test_outputs_of_split_refuse() -> None:
    """Views that were made several at a time are not written to while anything is recorded."""
    x = W.ones(4, requires_grad=True) * 1
    parts = x.split(2)
    with pytest.raises(RuntimeError, match="Output 1 of Split is a view and is being modified inplace"):
        parts[1].add_(1)
    x.add_(1)
    with pytest.raises(RuntimeError, match="its base or another view of its base has been modified inplace"):
        parts[0] * 2
    with W.no_grad():
        x.unbind()[0].add_(1)
    assert x.tolist() == [3, 2, 2, 2]


# ------------------------------------------------------------------------------------------------------ chains of views
STEPS = st.sampled_from(["select", "slice", "permute", "view", "unsqueeze", "diagonal", "expand"])


@given(st.lists(st.tuples(STEPS, st.integers(0, 5), st.integers(0, 5)), max_size=4), st.booleans())
def test_a_chain_replays_on_any_base(steps: list[tuple[str, int, int]], fortran: bool) -> None:
    """view_gather is the view, view_scatter a copy with the view written, whatever the base's order in memory."""
    x = wrap(np.asarray(np.arange(24.0).reshape(2, 3, 4), order="F" if fortran else "C"))
    v = x
    for name, a, b in steps:
        n = v.dim()
        if name == "select" and n and v.shape[a % n]:
            v = v.select(a % n, b % v.shape[a % n])
        elif name == "slice" and n:
            v = v[(slice(None),) * (a % n) + (slice(b % 2, None, 1 + a % 2),)]
        elif name == "permute":
            v = v.permute(*np.roll(np.arange(n), a).tolist()) if n else v
        elif name == "view" and v.is_contiguous():
            v = v.view(-1)
        elif name == "unsqueeze":
            v = v.unsqueeze(a % (n + 1))
        elif name == "diagonal" and n > 1:
            v = v.diagonal(a - 2)
        elif name == "expand" and not any(s == 0 for s in v.stride()):
            v = v.expand(2, *v.shape)
    base, chain = chain_of(v)
    assert base is x
    other = np.random.default_rng(0).standard_normal((2, 3, 4))
    np.testing.assert_array_equal(ARRAYS.view_gather(other, chain), replay(other, chain))
    if any(name == "expand" for name, *_ in chain):
        return  # written places repeat
    source = np.full(v.shape, -1.0)
    written = ARRAYS.view_scatter(other, source, chain)
    places = replay(np.arange(24).reshape(2, 3, 4), chain).reshape(-1)
    expected = other.copy().reshape(-1)
    expected[places] = -1
    np.testing.assert_array_equal(written.reshape(-1), expected)
    np.testing.assert_array_equal(other, np.random.default_rng(0).standard_normal((2, 3, 4)))


def test_chains_have_a_batched_form() -> None:
    """Every view operator says how it runs with one more dimension in front, alone and within a chain."""
    views = [info for info in REGISTRY.values() if info.view]
    assert len(views) > 15
    for info in views:
        assert info.batch == "shape" or hasattr(info.batch, "lift"), info


def test_as_strided_of_overlapping_memory() -> None:
    """Elements that are shown several times get the sum of what comes back."""
    x = ramp(W, 5)
    x.as_strided((3, 3), (1, 1)).sum().backward()
    assert x.grad.tolist() == [1, 2, 3, 2, 1]


def test_as_strided_reaches_the_whole_storage() -> None:
    """Its offset counts from the start of the storage, as PyTorch's does, also on a view."""
    x = ramp(W, 6, grad=False)
    v = x[4:]
    assert v.as_strided((2,), (1,), 0).tolist() == [0, 1]
    assert v.as_strided((2,), (1,)).tolist() == [4, 5]
    assert storage_of(v.as_strided((2,), (1,), 0).numpy()) is storage_of(x.numpy())


# -------------------------------------------------------------------------------------------------- joining, converting
def test_cat_of_empty_vectors_and_dtypes() -> None:
    """A vector without elements goes with any shape, gets a gradient of its own shape, and counts for the dtype."""
    e = W.empty(0, dtype=W.float64, requires_grad=True)
    y = W.cat([e, W.ones(2, 3)], 1)
    assert (y.dtype, tuple(y.shape)) == (W.float64, (2, 3))
    y.sum().backward()
    assert tuple(e.grad.shape) == (0,)
    out = W.empty(0)
    assert W.cat([W.ones(1), W.zeros(1)], out=out) is out
    assert out.tolist() == [1, 0]


def test_conversions_that_change_nothing_return_the_tensor() -> None:
    """So there is nothing to pay for them; a copy is made when it is asked for."""
    x = W.ones(2)
    same = (
        x.to(W.float32),
        x.to("cpu"),
        x.float(),
        x.to(x),
        x.contiguous(),
        x.cpu(),
        x.type(W.float32),
        x.type_as(x),
        x.to(),
    )
    for y in same:
        assert y is x
    assert x.to(W.float32, copy=True) is not x


def test_resize() -> None:
    """On memory that suffices the elements are seen again; more memory keeps them and adds some."""
    x = ramp(W, 2, 3, grad=False)
    a = x.numpy()
    assert x.resize_(2, 2).tolist() == [[0, 1], [2, 3]]
    assert np.shares_memory(x.numpy(), a)
    assert x.resize_(6).tolist() == [0, 1, 2, 3, 4, 5]
    assert x.resize_(3, 3).reshape(-1)[:6].tolist() == [0, 1, 2, 3, 4, 5]
    assert x.resize_as_(W.ones(1)).tolist() == [0]
    y = ramp(W, 2, 3, grad=False).t()
    assert y.resize_(6).tolist() == [0, 1, 2, 3, 4, 5]


def test_set_takes_over_memory() -> None:
    """set_ makes a tensor another one's memory."""
    x, y = W.ones(2), W.zeros(3)
    x.set_(y).add_(1)
    assert y.tolist() == [1, 1, 1]
    assert W.ones(4).set_().numel() == 0


def test_views_inside_of_transforms() -> None:
    """Batched and dual values go through views, in-place writes to them included."""

    def f(x: Any) -> Any:
        y = x.unsqueeze(0).expand(2, -1).clone()
        y[0] = x * 2
        y[:, 1:].mul_(3)
        y.t()[0].add_(1)
        return y.reshape(-1).unflatten(0, (2, -1)).flip(0).roll(1, 0)

    xs = ramp(W, 4, 3, grad=False)
    batched = W.vmap(f)(xs)
    one_by_one = W.stack([f(x) for x in xs])
    np.testing.assert_array_equal(batched.numpy(), one_by_one.numpy())
    _, tangent = W.func.jvp(f, (xs[0],), (W.ones(3),))
    np.testing.assert_allclose(tangent.numpy(), W.func.jacrev(f)(xs[0]).sum(-1).numpy())


def test_view_takes_pythons_types_as_dtypes() -> None:
    """As every ``dtype=`` does: ``float`` is float64."""
    x = W.ones(2, dtype=W.float64)
    assert x.view(float).dtype == W.float64 and x.view(complex).tolist() == [1 + 1j]
    assert x.view(int).tolist() == [4607182418800017408] * 2 and x.view(dtype=bool).shape == (16,)
    with pytest.raises(TypeError, match="invalid combination of arguments - got \\(type\\)"):
        x.view(str)
