"""What the suite of functorch asks of torch.func: modes, arguments that are written, private names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import wengert as T
from wengert._C import _functorch
from wengert.autograd.forward_ad import dual_level, make_dual, unpack_dual
from wengert.func import grad, grad_and_value, hessian, jacfwd, jacrev, jvp, linearize, vjp, vmap


def squares(x: T.Tensor) -> T.Tensor:
    return (x**2).sum()


def test_transforms_work_in_inference_mode() -> None:
    x = T.tensor([1.0, 2.0, 3.0])
    with T.inference_mode():
        first = grad(squares)(x)
        out, pull = vjp(squares, x)
        (second,) = pull(T.tensor(1.0))
        third = jacrev(lambda x: x**2)(x)
        fourth = vmap(grad(lambda x: x**3))(x)
        fifth = grad(grad(lambda x: (x**3).sum()))(x[0])
        assert T.is_inference_mode_enabled()
    assert first.equal(2 * x) and second.equal(2 * x) and out == 14
    assert third.equal(T.diag(2 * x)) and fourth.equal(3 * x**2) and fifth == 6

    def partly(x: T.Tensor) -> T.Tensor:
        with T.inference_mode():
            constant = x**2
        return (x - constant).sum()

    assert grad(partly)(x).equal(T.ones(3))


def test_wrong_states_and_cotangents_are_pytorchs_errors() -> None:
    models = [T.nn.Linear(2, 2), T.nn.Linear(2, 3)]
    with pytest.raises(RuntimeError, match=r"stack expects each tensor to be equal size, but got \[2, 2\] at entry 0"):
        T.func.stack_module_state(models)
    _, pull = vjp(squares, T.ones(2))
    with pytest.raises(TypeError, match="gradients can be either Tensors or None, but got float"):
        pull(1.0)


@pytest.mark.parametrize("aux", [1, 1.0, "abc", None, [T.ones(1), 1]])
def test_what_is_returned_beside_the_value_is_of_tensors(aux: Any) -> None:
    x = T.ones(3)
    calls: list[Callable[[], Any]] = [
        lambda: grad(lambda x: (x.sum(), aux), has_aux=True)(x),
        lambda: vjp(lambda x: (x, aux), x, has_aux=True),
        lambda: jvp(lambda x: (x, aux), (x,), (x,), has_aux=True),
        lambda: jacrev(lambda x: (x, aux), has_aux=True)(x),
    ]
    for call in calls:
        with pytest.raises(RuntimeError, match="Expected tensors, got unsupported type"):
            call()


def test_arguments_that_are_not_differentiated_may_be_written() -> None:
    def overwritten(x: T.Tensor, y: T.Tensor) -> T.Tensor:
        y.copy_(x)
        return y * y

    for transform in (jacrev, jacfwd):
        y = T.zeros(2)
        assert transform(overwritten)(T.tensor([1.0, 2.0]), y).equal(T.tensor([[2.0, 0.0], [0.0, 4.0]]))
        assert y.tolist() == [1, 2] and not y.requires_grad
    y = T.zeros(2)
    gradient, value = grad_and_value(lambda x, y: overwritten(x, y).sum())(T.tensor([1.0, 2.0]), y)
    assert (gradient.tolist(), value.item(), y.tolist(), y.requires_grad) == ([2, 4], 5, [1, 2], False)
    captured = T.zeros(2)
    with pytest.raises(RuntimeError, match="mutate a captured Tensor"):
        grad(lambda x: overwritten(x, captured).sum())(T.ones(2))


def test_an_argument_that_vmap_gives_back_is_the_argument() -> None:
    x = T.rand(2, 3)
    y = x.clone()
    assert vmap(T.Tensor.acos_)(y) is y and y.equal(x.acos())
    other = vmap(T.Tensor.cos_, out_dims=1)(y)
    assert other._base is y and other.equal(y.t())
    assert vmap(lambda a: a, in_dims=1, out_dims=1)(x) is x


def test_one_row_at_a_time_needs_no_vmap() -> None:
    class Counted(T.autograd.Function):
        @staticmethod
        def forward(x: T.Tensor) -> T.Tensor:
            return x.clone()

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            pass

        @staticmethod
        def backward(ctx: Any, g: T.Tensor) -> T.Tensor:
            g.nonzero()
            return g

    x = T.ones(2, 2)
    assert jacrev(Counted.apply, chunk_size=1)(x).equal(T.eye(4).reshape(2, 2, 2, 2))
    with pytest.raises(RuntimeError, match="dynamic shape"):
        jacrev(Counted.apply, chunk_size=2)(x)


@pytest.mark.parametrize("saving", ["save_for_backward", "save_for_forward"])
def test_inputs_that_are_outputs_are_not_saved(saving: str) -> None:
    class Same(T.autograd.Function):
        @staticmethod
        def forward(x: T.Tensor) -> T.Tensor:
            return x

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            getattr(ctx, saving)(output)

        @staticmethod
        def backward(ctx: Any, g: T.Tensor) -> T.Tensor:
            return g

        @staticmethod
        def jvp(ctx: Any, t: T.Tensor) -> T.Tensor:
            return t.view_as(t)

    x = T.tensor(2.0)
    for call in (lambda: Same.apply(x), lambda: grad(Same.apply)(x), lambda: jvp(Same.apply, (x,), (x,))):
        with pytest.raises(RuntimeError, match="An input that has been returned as-is"):
            call()


def test_conjugates_are_views_under_grad_too() -> None:
    seen: list[bool] = []

    def absolute(x: T.Tensor) -> T.Tensor:
        seen.extend([x.is_conj(), x.conj().is_conj()])
        return x.conj().abs()

    x = T.tensor(3 + 4j)
    assert grad(absolute)(x).item() == pytest.approx(0.6 + 0.8j)
    assert seen == [False, True]


def test_refusals_of_vmap() -> None:
    x = T.ones(2, 3)
    with pytest.raises(RuntimeError, match=r"Batching rule not implemented for aten::abs\.out"):
        vmap(lambda x, y: T.abs(x, out=y))(x, x)
    with pytest.raises(RuntimeError, match="Batching rule not implemented for aten::equal"):
        vmap(T.equal)(x, x)


def test_levels() -> None:
    seen: list[Any] = []

    def look(x: T.Tensor) -> T.Tensor:
        seen.append((_functorch.maybe_get_level(x), _functorch.maybe_get_bdim(x), _functorch.dlevel(x)))
        return x.sin()

    vmap(vmap(look))(T.ones(2, 3))
    assert seen == [(2, 0, 2)] and _functorch.dlevel(T.ones(2)) == 0
    escaped: list[T.Tensor] = []
    grad(lambda x: (escaped.append(x.sin()), escaped[-1])[1])(T.tensor(1.0))
    assert _functorch.dlevel(escaped[0]) == -1


X = T.arange(12.0).view(3, 4)
TABLE = T.arange(12.0).view(4, 3)
ROWS = T.tensor([[0, 1, 2], [3, 3, 1]])
SYMMETRIC = T.tensor([[4.0, 1.0], [1.0, 3.0]]).expand(2, 2, 2)
LOOPED: dict[str, tuple[Callable[..., Any], tuple[T.Tensor, ...]]] = {
    "masked_scatter": (lambda a, m, s: a.masked_scatter(m, s), (X, X > 4, X * 2)),
    "embedding_bag": (lambda i: T.nn.functional.embedding_bag(i, TABLE, T.tensor([0, 2])), (ROWS,)),
    "embedding_bag of tables": (
        lambda i, w: T.nn.functional.embedding_bag(i, w, T.tensor([0, 2]), mode="max"),
        (ROWS, T.stack([TABLE, -TABLE])),
    ),
    "histogram": (lambda a: tuple(T.histogram(a, 4, range=(0.0, 12.0))), (X,)),
    "linspace": (lambda a, b: T.linspace(a, b, 5), (T.zeros(3), T.arange(3.0))),
    "logspace": (lambda a: T.logspace(a, 2, 4), (T.zeros(3),)),
    "argwhere": (T.argwhere, (T.eye(3),)),
    "ldl_factor": (lambda a: tuple(T.linalg.ldl_factor(a)), (SYMMETRIC,)),
    "repeat_interleave": (lambda a, r: a.repeat_interleave(r, output_size=6), (X, T.tensor([[1, 1, 2, 2]] * 3))),
}


@pytest.mark.parametrize("name", LOOPED)
def test_operators_that_vmap_runs_for_each_example(name: str) -> None:
    function, args = LOOPED[name]
    results = vmap(function)(*args)
    each = [function(*one) for one in zip(*args, strict=True)]
    if isinstance(results, T.Tensor):
        results, each = (results,), [(r,) for r in each]
    for result, parts in zip(results, zip(*each, strict=True), strict=True):
        T.testing.assert_close(result, T.stack(parts))
    twice = vmap(vmap(function))(*(a.expand(2, *a.shape) for a in args))
    first = twice[0] if isinstance(twice, tuple) else twice
    T.testing.assert_close(first, results[0].expand(2, *results[0].shape))


def test_what_runs_for_each_example_is_differentiated() -> None:
    table = TABLE.clone().requires_grad_()
    bags = vmap(lambda i: T.nn.functional.embedding_bag(i, table, T.tensor([0, 2])))(ROWS)
    bags.sum().backward()
    assert table.grad[:, 0].tolist() == [0.5, 1.5, 1, 1]
    with pytest.raises(RuntimeError, match=r"vmap over torch\.allclose isn't supported yet"):
        vmap(lambda a: T.allclose(a, a))(X)


def test_jvp_writes_to_what_it_was_given() -> None:
    x, v = T.ones(3), T.tensor([1.0, 2.0, 3.0])
    out, tangent = jvp(lambda a: a[1:].mul_(2).sum(), (x,), (v,))
    assert out == 4 and tangent == 10
    assert x.tolist() == [1, 2, 2] and v.tolist() == [1, 4, 6]


def test_levels_and_mapped_dims_that_programs_ask_for() -> None:
    seen = []

    def noted(x: T.Tensor) -> T.Tensor:
        level = _functorch.maybe_get_level(x), _functorch.maybe_get_bdim(x), _functorch.current_level()
        seen.append((*level, _functorch.is_gradtrackingtensor(x), _functorch.get_unwrapped(x).shape))
        return x.sum()

    grad(noted)(T.ones(3))
    vmap(noted, 1)(T.ones(2, 3))
    grad(lambda x: vmap(noted)(x).sum())(T.ones(2, 3))
    vmap(grad(noted))(T.ones(2, 3))
    assert seen == [(1, -1, 1, True, (3,)), (1, 1, 1, False, (2, 3)), (2, 0, 2, False, (2, 3)), (2, -1, 2, True, (3,))]


def test_a_context_with_other_saved_tensors() -> None:
    from wengert._functorch.autograd_function import CtxWithSavedTensors, reductify_leaf

    class Named(T.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx._pt_inner_ctx = 1
            return x.clone()

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            CtxWithSavedTensors(ctx, ())

    with pytest.raises(RuntimeError, match="PyTorch reserves the _pt_inner_ctx field"):
        Named.apply(T.ones(2, requires_grad=True)).sum().backward()
    ctx = CtxWithSavedTensors(CtxWithSavedTensors(type("Plain", (), {})(), (1,)), (2,))
    ctx.note = 3
    assert ctx.saved_tensors == (2,) and ctx._pt_inner_ctx.saved_tensors == (1,) and ctx._pt_inner_ctx.note == 3
    assert reductify_leaf(T.ones(4, 3), 0, None, 4).tolist() == [4, 4, 4]
    assert reductify_leaf(T.ones(3), None, 1, 4).shape == (3, 4)
    assert reductify_leaf(T.ones(2, 4, 5), 1, 0, 4, (5,)).tolist() == [[2] * 5] * 4


def test_the_gradient_of_a_sparse_tensor_that_nothing_depends_on_is_empty() -> None:
    x = T.eye(2).to_sparse()
    for g in (
        grad(lambda x: T.tensor(1.0))(x),
        vjp(lambda x: T.tensor(1.0), x)[1](T.tensor(1.0))[0],
        T.autograd.grad(T.ones(1, requires_grad=True), x.requires_grad_(), materialize_grads=True)[0],
    ):
        assert g.layout is T.sparse_coo and g.shape == (2, 2) and g._nnz() == 0 and not g.requires_grad


def test_sparse_tensors_are_no_dual_tensors() -> None:
    dense = T.eye(2)
    for pair in ((dense.to_sparse(), dense), (dense, dense.to_sparse())):
        with pytest.raises(NotImplementedError, match="Cannot access storage of SparseTensorImpl"):
            jvp(lambda x: x * 2, pair[:1], pair[1:])


@pytest.mark.parametrize(
    "function",
    [
        lambda x: (x[x > 0] ** 2).sum(),
        lambda x: (x.masked_select(x > 0) ** 2).sum(),
        lambda x: (x[(x > 0).nonzero()[:, 0]] ** 2).sum(),
        lambda x: (x**2)[:: 1 + T.equal(x, x)].sum(),
        lambda x: (x**2)[:: 1 + T.allclose(x, x)].sum(),
    ],
)
def test_values_that_decide_on_shapes_are_known_in_nested_transforms(function: Any) -> None:
    x = T.tensor([1.0, -2.0, 3.0])
    second = T.diag(T.tensor([2.0, 0.0, 2.0]))
    for twice in (hessian, lambda f: jacfwd(jacfwd(f)), lambda f: jacrev(jacfwd(f)), lambda f: jacrev(jacrev(f))):
        assert twice(function)(x).equal(second)


@pytest.mark.filterwarnings("ignore:To copy construct from a tensor")
@pytest.mark.parametrize(
    "copied",
    [
        lambda x: x.data, T.tensor, lambda x: x.new_tensor(x), lambda x: T.nn.Parameter(x, requires_grad=False),
        T.autograd.Variable,
    ],
)  # fmt: skip
def test_data_and_new_tensors_have_no_tangent(copied: Any) -> None:
    x = T.tensor([1.0, 2.0])
    assert jacfwd(lambda x: copied(x) * x)(x).equal(T.diag(x))
    assert grad(lambda x: jvp(lambda x: (copied(x) * 3 * x**0).sum(), (x,), (x,))[1])(x).equal(T.zeros(2))
    with dual_level():
        made = copied(make_dual(x, T.ones(2)))
        assert unpack_dual(made).tangent is None
    assert repr(T.zeros(2) + made) == "tensor([1., 2.])"


def test_what_linearize_gives_to_transforms_has_no_history() -> None:
    x = T.tensor([1.0, 2.0])
    _, push = linearize(T.sin, x)
    for made in (
        push(x),
        vmap(push)(T.ones(3, 2)),
        *jvp(push, (x,), (x,)),
        vmap(vmap(push))(T.ones(1, 3, 2)),
    ):
        assert not made.requires_grad
    assert hessian(lambda t: (push(t) ** 2).sum())(x).allclose(T.diag(2 * x.cos() ** 2))
    x.requires_grad_()
    assert linearize(T.sin, x)[1](T.ones(2)).requires_grad


def test_eigenvalues_of_real_matrices_have_real_derivatives_of_derivatives() -> None:
    a = T.tensor([[2.0, 1.0], [1.0, 3.0]])

    def pushed(x: T.Tensor) -> T.Tensor:
        return jvp(lambda x: T.linalg.eigvalsh(x @ x.T).sum(), (x,), (a,))[1]

    assert grad(pushed)(a).allclose(2 * a) and grad(pushed)(a).dtype is T.float32
