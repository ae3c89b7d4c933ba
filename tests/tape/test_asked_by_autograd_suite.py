"""What PyTorch's own autograd suite asks of the tape: views and inference tensors, what was detached, private names."""

from __future__ import annotations

import io
import sys
import warnings
from typing import Any

import pytest

import wengert as torch
from wengert.testing._internal.common_utils import TestCase

VIEW_OPERATORS: list[Any] = [
    lambda v: v.as_strided_((1, 0), (2, 2)), lambda v: v.transpose_(0, 0), lambda v: v.t_(), lambda v: v.squeeze_(0),
    lambda v: v.unsqueeze_(0), lambda v: v.swapdims_(0, 0),
]  # fmt: skip


class Viewed(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x.view_as(x)

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return g


@pytest.mark.parametrize("reshape", VIEW_OPERATORS)
@pytest.mark.parametrize(
    ("view", "message"),
    [
        (lambda x: x.view_as(x), None),
        (lambda x: x.unbind()[0], "function that returns multiple views"),
        (Viewed.apply, "view was created inside a custom Function"),
    ],
)
def test_view_operators_in_place(reshape: Any, view: Any, message: str | None) -> None:
    """They are writes to a view, and refused where a write is; under ``no_grad`` the next write is refused."""
    for made, reshaped in ((True, True), (True, False), (False, True), (False, False)):
        base = torch.rand(2, 3, requires_grad=True).clone()
        with torch.set_grad_enabled(made):
            x = view(base)
        expected = message if made else "A view was created in no_grad mode"
        with torch.set_grad_enabled(reshaped):
            if reshaped and expected:
                with pytest.raises(RuntimeError, match=expected):
                    reshape(x)
                continue
            reshape(x)
        if expected:
            with pytest.raises(RuntimeError, match=expected):
                x.add_(1)
        else:
            x.add_(1)
        reshape(view(torch.rand(2, 3))).add_(1)  # nothing to refuse without a history


# ------------------------------------------------------------------------------------------------------ inference mode
@pytest.mark.parametrize("requires_grad", [True, False])
def test_views_of_inference_tensors(requires_grad: bool) -> None:
    with torch.inference_mode():
        x = torch.ones(1, 2, 3, requires_grad=requires_grad)
        inside = x.view(-1)
        x.resize_(1, 2)
        assert x.requires_grad is requires_grad and torch.is_inference(x)
        y = torch.ones(1, 2, 3, requires_grad=requires_grad)
    for view in (inside, y.view(-1)):
        assert torch.is_inference(view) and not view.requires_grad and not view._is_view() and view.is_leaf


@pytest.mark.parametrize("requires_grad", [True, False])
def test_views_that_inference_mode_makes_of_other_tensors(requires_grad: bool) -> None:
    """They require grad as their base does, and are leaves."""
    base = torch.ones(2, 3, requires_grad=requires_grad).clone()
    with torch.inference_mode():
        view = base.view(-1).view(3, 2)
        assert view._is_view() and view.is_leaf and view.requires_grad is requires_grad
        view.add_(2)
        assert view._version == base._version and not torch.is_inference(view)
    if not requires_grad:
        assert not (view * view).requires_grad
        return
    with pytest.raises(RuntimeError, match="A view was created in inference mode and its base or another view"):
        view * view
    with pytest.raises(RuntimeError, match="A view was created in inference mode and is being modified inplace"):
        view.add_(1)


@pytest.mark.parametrize("write", [lambda x: x.add_(2), lambda x: x.transpose_(0, 1)])
def test_bases_that_are_written_later(write: Any) -> None:
    base = torch.ones(2, 3, requires_grad=True).clone()
    with torch.inference_mode():
        view = base.view(-1)
    write(base)
    with pytest.raises(RuntimeError, match="created in inference mode and its base or another view"):
        _ = view.grad_fn


@pytest.mark.parametrize("mode", [torch.no_grad, torch.inference_mode])
def test_a_view_of_such_a_view(mode: Any) -> None:
    x = torch.zeros(2)
    with mode():
        y = x.view(2)
    z = y.requires_grad_(True).view(2)
    with pytest.raises(
        RuntimeError, match=r"a view of a view .* is being .* inside the (no_grad block|inference_mode)"
    ):
        z /= 2


# --------------------------------------------------------------------------------------------------------- detached
def test_what_was_saved_before_a_detach_in_place() -> None:
    a = torch.ones(2, requires_grad=True).clone()
    b = a.sin()
    product = a * torch.ones(2)
    a.detach_()
    with pytest.raises(RuntimeError, match="a saved tensor that has been detached in-place"):
        b.sum().backward()
    product.sum().backward()  # it saved the other operand
    a.add_(1)


@pytest.mark.parametrize("operator", [torch.exp, lambda x: torch.softmax(x, 0)])
def test_results_may_be_detached(operator: Any) -> None:
    """A node may use its own result, which it saved."""
    x = torch.ones(2, requires_grad=True)
    y = operator(x)
    again = y * 2
    y.detach_()
    again.sum().backward()
    assert x.grad is not None


# ----------------------------------------------------------------------------------------------------- names and texts
def test_what_cannot_be_deleted() -> None:
    x = torch.ones(2, requires_grad=True)
    for name, message in (
        ("data", "Deleting tensor data is not allowed"),
        ("requires_grad", "requires_grad must be a bool"),
        ("_backward_hooks", "Deletion of _backwards_hooks not allowed"),
        ("_grad_fn", "Deletion of _grad_fn not allowed"),
    ):
        with pytest.raises(RuntimeError, match=message):
            delattr(x, name)
    with pytest.raises(RuntimeError, match="incompatible tensor type"):
        torch.ones(2).data = torch.ones(2).to_sparse()


def test_hooks_that_are_set_as_a_dict() -> None:
    called: list[int] = []
    x, y = torch.ones(2), torch.ones(2, requires_grad=True)
    x._backward_hooks = {0: lambda g: called.append(0)}
    y._backward_hooks = {1: lambda g: called.append(1)}
    (x * y).sum().backward()
    assert called == [1] and 0 in x._backward_hooks


def test_a_saved_tensor_is_not_made_by_hand() -> None:
    with pytest.raises(RuntimeError, match="Trying to create a SavedTensor object from Python is forbidden"):
        torch.autograd.SavedTensor()
    saved = torch.ones(2, requires_grad=True).exp().grad_fn._raw_saved_result
    for hooks in ((lambda x: x,), (1, 1)):
        with pytest.raises(TypeError, match="incompatible function arguments"):
            saved.register_hooks(*hooks)


def test_the_order_of_a_pass_is_known_only_in_one() -> None:
    with pytest.raises(RuntimeError, match="should only be called during the backward pass"):
        torch._C._current_graph_task_execution_order()


def test_names_of_nodes_of_written_views() -> None:
    def written() -> str:
        view = torch.ones(2, 2, requires_grad=True).clone().view(-1)
        view.add_(1)
        return type(view.grad_fn).__name__

    assert written() == "AsStridedBackward0"
    with torch.autograd._force_original_view_tracking(True):
        assert written() == "ViewBackward0" and torch.autograd.is_view_replay_enabled()
    assert written() == "AsStridedBackward0" and not torch.autograd.is_view_replay_enabled()


def test_versions_that_are_set() -> None:
    x = torch.ones(2).add_(1)
    torch._C._autograd._unsafe_set_version_counter((x,), (7,))
    assert x._version == 7
    with pytest.raises(RuntimeError, match="Cannot set"):
        torch._C._autograd._unsafe_set_version_counter((x,), (-1,))


def test_anomaly_mode_where_warnings_are_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its text goes to standard error, and the error of the pass comes through."""
    text = io.StringIO()
    with warnings.catch_warnings(), pytest.warns(UserWarning, match="Anomaly Detection"):
        mode = torch.autograd.detect_anomaly()
    with mode:
        monkeypatch.setattr(sys, "stderr", text)
        x = torch.ones(2, requires_grad=True) + 1
        y = x**2
        x += 1
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            y.sum().backward()
    assert "Error detected in PowBackward0" in text.getvalue()


def test_unique_by_its_inner_names() -> None:
    x = torch.tensor([3, 1, 3])
    values, inverse = torch._unique(x, return_inverse=True)
    assert (values.tolist(), inverse.tolist()) == ([1, 3], [1, 0, 1])
    assert torch._unique2(x)[1].numel() == 0 and torch._unique2(x, return_counts=True)[2].tolist() == [1, 2]
    assert torch._VF.unique_dim(x, 0)[0].tolist() == [1, 3]


def test_names_of_the_profiler() -> None:
    assert not torch.autograd._profiler_enabled()
    with torch.autograd.profiler.profile() as prof:
        assert torch.autograd._profiler_enabled()
        block = torch.ops.profiler._record_function_enter("block", None)
        torch.ones(2) * 2
        torch.ops.profiler._record_function_exit(block)
    assert "block" in [e.name for e in prof.function_events]
    util = torch.autograd.profiler_util
    events = util.EventList([util.FunctionEvent(k, "", 0, *span) for k, span in enumerate([(0, 2), (1, 2), (1, 3)])])
    events._populate_cpu_children()
    assert [[c.id for c in e.cpu_children] for e in events] == [[], [], [1]]


def test_cached_tensors() -> None:
    x = torch.ones(2)
    torch._C._set_cached_tensors_enabled(True)
    torch._C._add_cached_tensor(x)
    assert torch._C._is_cached_tensor(x) and not torch._C._is_cached_tensor(x.detach())
    torch._C._remove_cached_tensor(x)
    assert not torch._C._is_cached_tensor(x)
    assert torch.jit._wait(torch.jit._fork(lambda: 3)) == 3


@pytest.mark.parametrize("name", ["pow", "mul", "exp", "function"])
def test_saved_tensors_are_there_in_a_nodes_post_hook_and_not_after_it(name: str) -> None:
    class Function(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * 2

    make: Any
    make, read = {
        "pow": (lambda x: x.pow(2), lambda n: n._saved_self),
        "mul": (lambda x: x * x, lambda n: n._saved_other),
        "exp": (lambda x: x.exp().log(), lambda n: n._saved_self),
        "function": (Function.apply, lambda n: n.saved_tensors[0]),
    }[name]
    x = torch.ones(2, requires_grad=True)
    y = make(x)
    seen = []
    y.grad_fn.register_hook(lambda inputs, outputs: seen.append(read(y.grad_fn).shape))
    y.sum().backward()
    assert seen == [(2,)]
    with pytest.raises(RuntimeError, match="second time"):
        read(y.grad_fn)
    with pytest.raises(RuntimeError, match="second time"):
        y.sum().backward()


def test_unsafe_pieces_without_a_graph() -> None:
    x = torch.ones(4, requires_grad=True) * 1
    with torch.no_grad():
        for piece in (*x.unsafe_chunk(2), *x.unsafe_split(2), *torch.split_copy(x, 2)):
            assert not piece.requires_grad and piece.grad_fn is None and not piece._is_view()


def test_the_metadata_of_a_node_in_anomaly_mode() -> None:
    x = torch.ones(2, requires_grad=True)
    with warnings.catch_warnings(action="ignore"), torch.autograd.detect_anomaly():
        node = (x * 2).grad_fn
        grad = torch.autograd.grad((x**3).sum(), x, create_graph=True)[0]
    assert "x * 2" in node.metadata["traceback_"][-1]
    assert "parent_" not in node.metadata
    assert "PowBackward0" in type(grad.grad_fn.metadata["parent_"]).__name__
    assert (x * 2).grad_fn.metadata == {}


def test_a_parameter_is_not_made_of_an_inference_tensor() -> None:
    with torch.inference_mode():
        t = torch.ones(2)
        assert torch.nn.Parameter(t).requires_grad
    with pytest.raises(RuntimeError, match="Setting requires_grad=True on inference tensor outside InferenceMode"):
        torch.nn.Parameter(t)
    assert not torch.nn.Parameter(t, requires_grad=False).requires_grad


def test_unpack_dual_names_its_argument() -> None:
    with torch.autograd.forward_ad.dual_level(), pytest.raises(TypeError, match="argument 'dual'"):
        torch.autograd.forward_ad.unpack_dual(3)  # type: ignore[arg-type]


def test_scatter_of_a_number_in_transforms() -> None:
    index = torch.tensor([0])
    value, tangent = torch.func.jvp(lambda x: x.scatter(0, index, 2.5), (torch.ones(2),), (torch.ones(2),))
    assert value.tolist() == [2.5, 1.0] and tangent.tolist() == [0.0, 1.0]
    assert torch.vmap(lambda x: x.scatter(0, index, 2))(torch.ones(2, 2)).tolist() == [[2, 1], [2, 1]]


def test_distances_of_order_zero_have_a_gradient_of_zeros() -> None:
    x = torch.rand(3, 2, requires_grad=True)
    for d in (torch.cdist(x, x.detach(), 0.0), torch.pdist(x, 0.0)):
        assert torch.autograd.grad(d.sum(), x)[0].tolist() == [[0.0, 0.0]] * 3


def test_saved_values_have_pytorchs_names() -> None:
    x = torch.ones(1, 2, 2, requires_grad=True)
    upsample = torch.nn.functional.interpolate
    node = upsample(x, 4, mode="linear").grad_fn
    assert (node._saved_output_size, node._saved_scales, node._saved_align_corners) == ((4,), None, False)
    node = upsample(x[None], scale_factor=2, mode="bilinear").grad_fn
    assert (node._saved_output_size, node._saved_scales_h, node._saved_scales_w) == ((4, 4), 2.0, 2.0)
    index = torch.tensor([0, 1])
    first, second = x[0][:, index].grad_fn._saved_indices
    assert first is None and second.tolist() == [0, 1]
    assert torch.pdist(x[0], 1).grad_fn._saved_p == 1.0
    assert x.gather(0, torch.zeros(1, 1, 1, dtype=torch.long)).grad_fn._saved_sparse_grad is False
    assert torch.nn.functional.conv1d(x, x).grad_fn._saved_transposed is False
    assert "_saved_other" not in dir(x.fmod(2).grad_fn)


def test_gradcheck_of_other_outputs() -> None:
    x = torch.ones(2, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda x: (x * 2, x.detach() * 2), x)
    with pytest.raises(AttributeError, match="'int' object has no attribute 'requires_grad'"):
        torch.autograd.gradcheck(lambda x: 3, x)
    with pytest.raises(RuntimeError, match="with two bool tensors is not supported"):
        torch.autograd.gradcheck(lambda x: x > 0, x)


@pytest.mark.parametrize("name", ["fmod", "remainder", "floor_divide", "copysign"])
def test_complex_numbers_that_require_grad_are_refused_too(name: str) -> None:
    with pytest.raises(NotImplementedError, match="not implemented for 'ComplexFloat'"):
        getattr(torch.tensor([1 + 2j], requires_grad=True), name)(2)


@pytest.mark.parametrize("name", ["erfcx", "ndtri", "log_ndtr", "bessel_j0"])
def test_functions_without_half_precision_in_transforms(name: str) -> None:
    fn = getattr(torch.special, name)
    x = torch.full((2,), 0.25)
    if name != "bessel_j0":  # which has no derivative
        assert torch.func.jvp(fn, (x,), (x,))[0].tolist() == fn(x).tolist()
    assert torch.vmap(fn)(x[None]).tolist() == fn(x[None]).tolist()
    with pytest.raises(NotImplementedError, match="not implemented for 'Half'"):
        fn(x.half())


def test_volatile_warns_where_none_is() -> None:
    with pytest.warns(UserWarning, match=r"volatile was removed \(Variable.volatile is always False\)"):
        assert not torch.ones(1).volatile
    x = torch.ones(1)
    x.volatile = True
    assert (x * 2).volatile
    assert not torch.ones(1).volatile  # no warning in a program that has such


def test_an_unpack_hook_leaves_no_mode() -> None:
    def unpack(t: torch.Tensor) -> torch.Tensor:
        context.__enter__()
        torch.set_grad_enabled(False)
        return t

    context = torch.autograd.graph.saved_tensors_hooks(lambda t: t, unpack)
    x = torch.ones(2, requires_grad=True)
    with context:
        y = x.sin().sum()
    y.backward()
    assert torch.is_grad_enabled()
    assert x.sin().grad_fn._raw_saved_self.unpack_hook is None


def test_saved_tensors_of_an_index_take_hooks() -> None:
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    y = x[:, torch.tensor([1, 0])]
    first, second = y.grad_fn._raw_saved_indices
    assert first.unpack() is None and first.data is None
    assert second.unpack().tolist() == [1, 0]
    with pytest.raises(RuntimeError, match="value None is forbidden"):
        first.register_hooks(lambda t: t, lambda t: t)
    second.register_hooks(lambda t: t, lambda t: t.flip(0))
    (y * torch.tensor([1.0, 10.0])).sum().backward()
    assert x.grad.tolist() == [[1.0, 10.0], [1.0, 10.0]]


def test_saved_names_of_sizes_and_modes() -> None:
    x = torch.ones(1, 1, 3, 3, requires_grad=True)
    assert torch.nn.Conv2d(1, 2, 3)(x).grad_fn._saved_bias_sym_sizes_opt == (2,)
    assert torch.nn.Conv2d(1, 2, 3, bias=False)(x).grad_fn._saved_bias_sym_sizes_opt == (0,)
    unfolded = torch.nn.functional.unfold(x, 2).grad_fn
    assert (unfolded._saved_self_sym_argsize_minus_2, unfolded._saved_self_sym_argsize_minus_1) == (3, 3)
    a = torch.ones(2, 3, 4, requires_grad=True)
    product = torch.addbmm(torch.ones(3, 3), a, a.mT).grad_fn
    assert (product._saved_batch1_sym_argsize_0, product._saved_batch1_sym_argsize_1) == (2, 3)
    assert product._saved_batch2_sym_argsize_2 == 3
    for mode in ("trunc", "floor", None):
        assert torch.div(a, 2.0, rounding_mode=mode).grad_fn._saved_rounding_mode == mode
    assert a.as_strided((3,), (1,), 1).grad_fn._saved_storage_offset == 1
    assert a.as_strided((3,), (1,)).grad_fn._saved_storage_offset is None


def test_threshold_takes_any_number() -> None:
    x = torch.tensor([0.0, 2.0], requires_grad=True)
    for threshold in (1 + 0j, 1.0, 1, True):
        y = torch.threshold(x, threshold, 1 + 0j)
        assert type(y.grad_fn._saved_threshold) is type(threshold) and y.tolist() == [1.0, 2.0]
        assert torch.autograd.grad(y.sum(), x)[0].tolist() == [0.0, 1.0]
    for threshold, value in ((1j, 0), (0, 1j)):
        with pytest.raises(RuntimeError, match="value cannot be converted to type float without overflow"):
            torch.threshold(x, threshold, value)
    with pytest.raises(TypeError, match=r"argument 'threshold' \(position 2\) must be Number, not Tensor"):
        torch.threshold(x, torch.tensor([1.0]), 2)


def test_a_backward_may_warn() -> None:
    with pytest.warns(UserWarning, match="Warn from backward"):
        torch._C._nn._test_warn_in_autograd(torch.zeros((), requires_grad=True)).backward()


def test_a_dispatch_mode_is_given_the_operators_themselves() -> None:
    from wengert.utils._python_dispatch import TorchDispatchMode

    aten = torch.ops.aten
    seen = []

    class Mode(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]
            seen.append(func)
            if func is aten.sum.dim_IntList:
                assert aten.sum.dim_IntList(torch.ones(2, 3), [0]).tolist() == [2.0, 2.0, 2.0]  # another call of it
            return func(*args, **(kwargs or {}))

    x = torch.ones(2, 3)
    with Mode():
        assert (x.sin() * 2).sum(1).shape == (2,)
    assert all(f is g for f, g in zip(seen, (aten.sin.default, aten.mul.Tensor, aten.sum.dim_IntList), strict=True))
    with Mode(), Mode():
        x.sin()
    assert seen[3] is seen[4] is aten.sin.default


def test_random_sparse_tensors_of_test_cases() -> None:
    case = TestCase()
    for shape, count in (((2, 0), 0), ((2, 3), 4)):
        made, indices, values = case.genSparseTensor(shape, 2, count, True, "cpu", torch.float64)
        assert not made.is_coalesced() and made.shape == shape
        assert indices.shape == (2, count) and values.shape == (count,)
    with pytest.raises(AssertionError, match="invalid arguments"):
        case.genSparseTensor((2, 0), 2, 1, False, "cpu", torch.float64)


@pytest.mark.parametrize(
    ("operator", "message"),
    [
        (lambda x, m: x.sin(), r"The size of tensor a \(3\) must match the size of tensor b \(6\) at non-singleton"),
        (lambda x, m: x / x, "The size of tensor a"),
        (lambda x, m: m @ m, r"mat1 and mat2 shapes cannot be multiplied \(3x6 and 3x3\)"),
        (lambda x, m: x.prod(), "returned an invalid gradient at index 0 - got"),
        (lambda x, m: x[torch.tensor([0, 1])], "shape mismatch"),
        (lambda x, m: torch.nn.functional.layer_norm(m, (3,)), "returned an invalid gradient at index 0 - got"),
        (lambda x, m: torch.nn.functional.group_norm(m, 3), "returned an invalid gradient at index 0 - got"),
    ],
)
def test_an_unpack_hook_that_changes_a_shape(operator: Any, message: str) -> None:
    """An error of PyTorch's, not of NumPy's."""
    x, m = torch.ones(3, requires_grad=True), torch.ones(3, 3, requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: torch.cat([t, t])):
        y = operator(x, m).sum()
    with pytest.raises(RuntimeError, match=message):
        y.backward()
    assert x.grad is None and m.grad is None


@pytest.mark.parametrize("unpack", [lambda t: t[:1], lambda t: t.reshape(-1)[:1], lambda t: t.flatten()])
@pytest.mark.parametrize(
    "operator",
    [
        lambda m: torch.nn.functional.layer_norm(m, (4,), torch.ones(4, requires_grad=True)),
        lambda m: m.softmax(-1),
        lambda m: torch.nn.functional.cross_entropy(m, torch.tensor([0, 1, 2])),
        lambda m: torch.nn.functional.batch_norm(m, None, None, training=True),
    ],
)
def test_an_unpack_hook_never_gives_a_silent_gradient(operator: Any, unpack: Any) -> None:
    """Where the shape would broadcast, and where NumPy would miss a dimension."""
    m = torch.randn(3, 4, requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t, unpack):
        y = operator(m).sum()
    with pytest.raises(RuntimeError):
        y.backward()
    assert m.grad is None


# -------------------------------------------------------------------------------------------- the suite of PyTorch 0.4
def test_names_that_it_imports() -> None:
    from wengert._six import container_abcs, inf, int_classes, istuple, string_classes, with_metaclass
    from wengert.testing import make_non_contiguous, rand_like, randn_like

    assert isinstance([], container_abcs.Sequence)
    assert isinstance("", string_classes) and isinstance(1, int_classes)
    assert inf == float("inf") and istuple((1,)) and not istuple([])
    assert isinstance(with_metaclass(type, dict)(), dict)
    assert rand_like is torch.rand_like and randn_like is torch.randn_like
    x = torch.rand(3, 4, requires_grad=True)
    apart = make_non_contiguous(x)
    assert torch.equal(apart, x) and not apart.is_contiguous()
    assert make_non_contiguous(torch.tensor(2.0)).item() == 2


@pytest.mark.parametrize(("b", "a"), [((3, 2), (3, 3)), ((2, 3, 3), (2, 3, 3)), ((2, 2, 3, 3), (1, 3, 3))])
def test_gesv(b: Any, a: Any) -> None:
    x = torch.rand(*b, dtype=torch.double, requires_grad=True)
    m = (torch.rand(*a, dtype=torch.double) + 3 * torch.eye(3, dtype=torch.double)).requires_grad_()
    for solved, factors in (torch.gesv(x, m), x.gesv(m)):
        assert torch.allclose(m @ solved, x.expand_as(solved))
        assert torch.equal(factors, torch.linalg.lu_factor(m)[0]) and not factors.requires_grad
    assert torch.autograd.gradcheck(torch.gesv, (x, m))


@pytest.mark.parametrize(
    ("masked", "expected"),
    [
        (lambda x, mask: x.masked_select(mask), [1.0, 3.0]),
        (lambda x, mask: x.masked_fill(mask, 9), [9.0, 2.0, 9.0]),
        (lambda x, mask: x.masked_fill(mask, torch.tensor(9.0)), [9.0, 2.0, 9.0]),
        (lambda x, mask: x.clone().masked_fill_(mask, 9), [9.0, 2.0, 9.0]),
        (lambda x, mask: x.masked_scatter(mask, torch.tensor([7.0, 8.0])), [7.0, 2.0, 8.0]),
    ],
)
def test_masks_of_bytes(masked: Any, expected: list[float]) -> None:
    x, mask = torch.tensor([1.0, 2.0, 3.0], requires_grad=True), torch.ByteTensor([1, 0, 2])
    with pytest.warns(UserWarning, match=r"received a mask with dtype torch\.uint8, this behavior is now deprecated"):
        y = masked(x, mask)
    assert y.tolist() == expected and y.requires_grad
    with pytest.raises(RuntimeError, match=r"boolean masks|BoolTensor"):
        masked(x, mask.long())


def test_gather_by_one_number_from_a_vector_with_gaps() -> None:
    x = torch.arange(8.0)[::2].detach().requires_grad_()
    assert x[::2].gather(0, torch.tensor(1)).item() == 4
    (g,) = torch.autograd.grad(x[::2].gather(0, torch.tensor(1)), x)
    assert g.tolist() == [0.0, 0.0, 1.0, 0.0]


def test_gradgradcheck_without_a_gradient() -> None:
    x = torch.rand(3, dtype=torch.double, requires_grad=True)
    assert torch.autograd.gradgradcheck(lambda x: x.clone().eq_(1.0), (x,))


def test_saved_inputs_are_the_tensors_themselves() -> None:
    a = torch.rand(3, requires_grad=True)
    b = a * a
    c = a * b
    assert c.grad_fn._saved_self is a and c.grad_fn._saved_other is b
    d = torch.exp(b)
    assert d.grad_fn._saved_result is not d
    del b
    assert torch.equal(c.grad_fn._saved_other, a * a)


def test_materialized_zeros_are_differentiated_again() -> None:
    x, a = torch.tensor(0.5, requires_grad=True), torch.tensor(1.0, requires_grad=True)
    first = torch.autograd.grad(x * a, x, create_graph=True)
    second = torch.autograd.grad(first, x, create_graph=True, allow_unused=True, materialize_grads=True)
    assert second[0].requires_grad
    assert torch.autograd.grad(second, x, materialize_grads=True)[0].item() == 0


def test_empty_tensors_as_complex_numbers() -> None:
    assert torch.view_as_complex(torch.zeros(0, 2).clone() * 2).shape == (0,)
