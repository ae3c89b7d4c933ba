"""Dual tensors and the objects they are made of: the same tensors, on the same memory, for as long as they live."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import pytest

import wengert as torch
import wengert.autograd.forward_ad as fwAD
from wengert.autograd import Function


def test_the_level_that_is_open() -> None:
    assert fwAD._current_level == -1
    with fwAD.dual_level() as level:
        assert fwAD._current_level == level == 0
    assert fwAD._current_level == -1


def test_the_tangent_is_the_tensor_that_was_given(no_gc: None) -> None:
    x, t = torch.rand(2), torch.rand(2, requires_grad=True)
    with fwAD.dual_level():
        dual = fwAD.make_dual(x, t)
        assert fwAD.unpack_dual(dual).tangent is t and fwAD.unpack_dual(dual).primal is not x
        made = dual * 2
        assert fwAD.unpack_dual(made).tangent is fwAD.unpack_dual(made).tangent
        ref = torch._C._WeakTensorRef(t)
        del t, made
        assert not ref.expired()  # the dual tensor keeps it
        del dual
        assert ref.expired()  # the level does not


def test_a_write_in_place_reaches_what_was_given() -> None:
    x, t = torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0])
    with fwAD.dual_level():
        dual = fwAD.make_dual(x, t)
        assert dual.untyped_storage().data_ptr() == x.untyped_storage().data_ptr() and dual._version == x._version
        shifted = dual + 1  # its tangent has the same values, in memory of its own
        dual *= 2
        assert x.tolist() == [2.0, 4.0] and t.tolist() == [6.0, 8.0] and dual._version == x._version == 1
        assert fwAD.unpack_dual(dual).tangent is t and fwAD.unpack_dual(shifted).tangent.tolist() == [3.0, 4.0]
        fwAD.unpack_dual(dual).primal.mul_(10)
        assert x.tolist() == [20.0, 40.0] and fwAD.unpack_dual(dual).primal.tolist() == [20.0, 40.0]
    assert x.tolist() == dual.tolist() == [20.0, 40.0]


def test_derivatives_of_what_was_computed_before_a_write() -> None:
    """Forward over reverse, where the primal's memory is overwritten later."""
    w = torch.tensor([2.0, 5.0], requires_grad=True)
    with fwAD.dual_level():
        x = fwAD.make_dual(torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0]))
        y = (x * x * w).sum()
        x.mul_(10)
        (g,) = torch.autograd.grad(y, w)
        primal, tangent = fwAD.unpack_dual(g)
        assert primal.tolist() == [1.0, 4.0] and tangent.tolist() == [6.0, 16.0]


def test_a_tangent_of_another_layout_is_copied() -> None:
    part = torch.randn(5)[:4].detach()
    t = torch.randn(4)
    with fwAD.dual_level():
        dual = fwAD.make_dual(part, t)
        found = fwAD.unpack_dual(dual).tangent
        assert found is not t and found.tolist() == t.tolist()
        assert dual.as_strided((5,), (1,), 0).shape == (5,)
        assert fwAD.unpack_dual(fwAD.make_dual(torch.zeros(2, 3).t(), torch.ones(3, 2))).tangent.stride() == (1, 3)


def test_switches_by_their_private_names() -> None:
    try:
        torch._C._set_fwd_grad_enabled(False)
        assert not fwAD._is_fwd_grad_enabled()
    finally:
        torch._C._set_fwd_grad_enabled(True)
    assert fwAD._is_fwd_grad_enabled()


# ----------------------------------------------------------------------------------------------------- custom functions
def function(forward: Any, jvp: Any, **more: Any) -> Any:
    return type("F", (Function,), {"forward": staticmethod(forward), "jvp": staticmethod(jvp), **more})


def test_a_function_with_a_jvp_beside_a_tensor_that_requires_grad() -> None:
    F = function(lambda ctx, n, x, y: x * n + y, lambda ctx, n, dx, dy: dx * 2 + dy)
    with fwAD.dual_level():
        x = fwAD.make_dual(torch.ones(()), torch.tensor(3.0))
        assert fwAD.unpack_dual(F.apply(2, x, torch.ones((), requires_grad=True))).tangent.item() == 6.0
    assert torch.autograd.gradcheck(
        F.apply,
        (2, torch.ones((), dtype=torch.double, requires_grad=True), torch.ones((), dtype=torch.double)),
        check_forward_ad=True, check_backward_ad=False,
    )  # fmt: skip


def test_forward_does_not_see_the_level() -> None:
    """The inputs of ``forward`` require no grad if the program's do not."""
    seen = []

    def forward(ctx: Any, x: Any) -> Any:
        seen.append(x.requires_grad)
        return x * 2

    F = function(forward, lambda ctx, dx: dx * 2)
    with fwAD.dual_level():
        F.apply(fwAD.make_dual(torch.ones(2), torch.ones(2)))
    assert seen == [False]


def test_forward_over_reverse_through_a_jvp() -> None:
    F = function(lambda ctx, x: x * x, lambda ctx, dx: dx * 20)
    w = torch.tensor(3.0, requires_grad=True)
    with fwAD.dual_level():
        y = F.apply(fwAD.make_dual(torch.tensor(2.0), torch.tensor(1.0))) * w
        (g,) = torch.autograd.grad(y, w)
        assert fwAD.unpack_dual(g).tangent.item() == 20.0  # by the function's own rule


def test_what_is_saved_for_backward_is_not_for_jvp() -> None:
    seen = []

    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x.clone()

    def jvp(ctx: Any, dx: Any) -> Any:
        seen.append(ctx.saved_tensors)
        return dx

    F = function(forward, jvp, backward=staticmethod(lambda ctx, g: g * ctx.saved_tensors[0]))
    x = torch.tensor(3.0, requires_grad=True)
    with fwAD.dual_level():
        F.apply(fwAD.make_dual(x, torch.ones(()))).backward()
    assert seen == [()] and x.grad.item() == 3.0


def doubled(ctx: Any, x: Any) -> Any:
    ctx.mark_dirty(x)
    return x.mul_(2)


def two(ctx: Any, x: Any, y: Any) -> Any:
    out = y.clone()
    ctx.mark_non_differentiable(out)
    return x.clone(), out


part: Any = lambda ctx, x: x.narrow(0, 0, 1)
SLIPS = [
    (two, lambda ctx, a, b: (a, a.clone()), "jvp returned a gradient at position 1"),
    (doubled, lambda ctx, a: a, "not modifying the forward mode gradients inplace"),
    (doubled, lambda ctx, a: a * 2, "not modifying the forward mode gradients inplace"),
    (part, lambda ctx, a: a.narrow(0, 0, 1).clone(), "the jvp is not returning a view.$"),
    (part, lambda ctx, a: a.narrow(0, 0, 1).clone().view(1), "not returning a view of the given grad input"),
    (lambda ctx, x: x, lambda ctx, a: a, "the jvp is not returning a view.$"),
]


@pytest.mark.parametrize(("forward", "jvp", "message"), SLIPS)
def test_slips_of_a_jvp(forward: Any, jvp: Any, message: str) -> None:
    with fwAD.dual_level(), pytest.raises(RuntimeError, match=message):
        args = [fwAD.make_dual(torch.ones(2), torch.ones(2)), torch.ones(2)][: 2 if forward is two else 1]
        function(forward, jvp).apply(*args)


def test_a_function_that_writes_in_place() -> None:
    with fwAD.dual_level():
        x, t = torch.tensor(1.0), torch.tensor(1.0)
        dual = fwAD.make_dual(x, t)
        out = function(doubled, lambda ctx, a: a.mul_(2)).apply(dual)
        assert out is dual and fwAD.unpack_dual(out).tangent is t and t.item() == x.item() == 2.0


def test_a_jvp_that_returns_a_view() -> None:
    with fwAD.dual_level():
        t = torch.ones(2)
        out = function(part, lambda ctx, a: a.narrow(0, 0, 1)).apply(fwAD.make_dual(torch.ones(2), t))
        assert fwAD.unpack_dual(out).tangent._base is t


# ------------------------------------------------------------------------------------------------------------ gradcheck
def test_how_often_gradcheck_asks_for_a_jvp() -> None:
    asked = []

    def jvp(ctx: Any, a: Any, b: Any) -> Any:
        asked.append(1)
        return a, b

    F = function(lambda ctx, x, y: (x.clone(), y.clone()), jvp)
    x, y = (torch.rand(1, dtype=torch.double, requires_grad=True) for _ in range(2))
    counts = []
    for undefined, batched, both in (
        (False, False, True),
        (True, False, True),
        (True, True, True),
        (True, True, False),
    ):
        asked.clear()
        torch.autograd.gradcheck(
            F.apply, (x, y if both else y.detach()), check_forward_ad=True, check_backward_ad=False,
            check_undefined_grad=undefined, check_batched_forward_grad=batched,
        )  # fmt: skip
        counts.append(len(asked))
    assert counts == [2, 6, 12, 5]


def test_gradcheck_finds_random_numbers_in_a_jvp() -> None:
    def jvp(ctx: Any, a: Any) -> Any:
        torch.randn_like(a)
        return a * 2

    F = function(lambda ctx, x: x * 2, jvp, backward=staticmethod(lambda ctx, g: g * 2))
    with pytest.raises(RuntimeError, match="do not yet support calling random operations inside of vmap"):
        torch.autograd.gradcheck(
            F.apply,
            torch.rand(2, dtype=torch.double, requires_grad=True),
            check_forward_ad=True,
            check_batched_forward_grad=True,
        )


def test_jacobians_by_their_old_names() -> None:
    old = torch.autograd.gradcheck.__globals__
    x = torch.rand(2, dtype=torch.double, requires_grad=True)
    with pytest.warns(FutureWarning, match="`get_numerical_jacobian` was part of PyTorch's private API"):
        (found,) = old["get_numerical_jacobian"](lambda xs: xs[0] * 2, (x,), eps=1e-6)
    torch.testing.assert_close(found, 2 * torch.eye(2, dtype=torch.double))
    with pytest.warns(FutureWarning), pytest.raises(ValueError, match=r"Expected grad_out to be 1\.0"):
        old["get_analytical_jacobian"]((x,), x * 2, grad_out=2.0)
    random = torch.rand_like

    class Noisy(Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x.clone()

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * (1 + random(g))

    with pytest.warns(FutureWarning):
        assert not old["get_analytical_jacobian"]((x,), Noisy.apply(x))[1]


def test_what_a_level_holds(no_gc: None) -> None:
    """A tangent that depends on its own primal lives until the level ends."""

    def inside() -> Any:
        a = torch.rand(2, requires_grad=True)
        fwAD.make_dual(torch.rand_like(a), a).exp()
        return weakref.ref(a)

    with fwAD.dual_level():
        ref = inside()
    gc.collect()
    assert ref() is None


def test_the_tangent_of_a_view_is_a_view_of_its_bases_tangent() -> None:
    def tangent(t: Any) -> Any:
        return fwAD.unpack_dual(t).tangent

    with fwAD.dual_level():
        dual = fwAD.make_dual(torch.ones(2, 3), torch.arange(6.0).view(2, 3).clone())
        turned, row = dual.t(), dual[0]
        assert tangent(turned)._base is tangent(dual) is tangent(row)._base
        turned.mul_(3)
        assert tangent(dual).tolist() == [[0.0, 3.0, 6.0], [9.0, 12.0, 15.0]]
        assert (tangent(row).tolist(), tangent(turned)[0].tolist()) == ([0.0, 3.0, 6.0], [0.0, 9.0])
        base = torch.zeros(3, 2)
        base.t().copy_(dual)
        view = base.view_as(base)
        view.copy_(base * 2)
        assert tangent(view) is tangent(base)
        assert tangent(base).tolist() == (tangent(dual) * 2).t().tolist()


def test_tangents_of_a_written_view_and_its_base_leave_vmap_as_a_view_and_its_base() -> None:
    for view in (torch.zeros(2, 2).t(), torch.zeros(2, 2).view(2, 2)):
        alike = view.stride() == (2, 1)

        def jvp(direction: Any, view: Any = view) -> Any:
            with fwAD.dual_level():
                view.copy_(fwAD.make_dual(torch.zeros(2, 2), direction))
                return tuple(fwAD.unpack_dual(t).tangent for t in (view, view._base))

        directions = torch.arange(12.0).view(3, 2, 2)
        of_view, of_base = torch._vmap_internals._vmap(jvp)(directions)
        assert of_view.tolist() == directions.tolist()
        assert of_base is of_view or (of_view._base is of_base and of_base.tolist() == directions.mT.tolist())
        assert (of_base is of_view) == alike
