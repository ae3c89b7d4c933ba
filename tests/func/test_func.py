"""torch.func: transforms of functions, as in PyTorch."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest
from programs import running

import wengert as T

PROGRAMS = running.programs("transforms")


@pytest.mark.parametrize("name", PROGRAMS)
def test_program_logs_what_torch_logged(name: str) -> None:
    assert running.log_of(PROGRAMS[name], T) == running.recorded("transforms")[name]


def test_recorded_logs_are_torchs(torch: ModuleType) -> None:
    assert {k: running.log_of(p, torch) for k, p in PROGRAMS.items()} == running.recorded("transforms")


# A tape of its own level is used inside of other transforms only; every program must come out the same on it, but those
# that call backward(), which is refused there.
@pytest.mark.parametrize("name", [n for n in PROGRAMS if n not in ("vmap", "closures")])
def test_programs_inside_of_another_transform(name: str) -> None:
    def run(x: T.Tensor) -> T.Tensor:
        log.extend(running.log_of(PROGRAMS[name], T))
        return x

    log: list[str] = []
    T.vmap(run)(T.zeros(2))
    inside = [line.replace("True", "False") for line in log]
    assert inside == [line.replace("True", "False") for line in running.recorded("transforms")[name]]


def test_nothing_is_left_open() -> None:
    from wengert._base.modes import slow_if_recording
    from wengert._payloads.transforms import DEPTH

    for name in ("forward", "transforms"):
        for prog in running.programs(name).values():
            running.log_of(prog, T)
            assert DEPTH.get() == 0
            assert not slow_if_recording


# ------------------------------------------------------------------------------------------------------- written inside
def captured_by(name: str, y: T.Tensor) -> Any:
    ones = T.ones(2)
    return {
        "vmap": lambda: T.vmap(lambda x: y.add_(x).sum())(ones),
        "vmap, returned": lambda: T.vmap(lambda x: y.add_(x))(ones),
        "vmap, an argument that is not mapped": lambda: T.vmap(lambda x, z: z.add_(x), (0, None))(ones, y),
        "jvp": lambda: T.func.jvp(lambda x: y.add_(x).sum(), (ones,), (ones,)),
        "grad in vmap": lambda: T.vmap(T.func.grad(lambda x: y.add_(x).sum()))(T.ones(3, 2)),
        "vmap in grad": lambda: T.func.grad(lambda x: T.vmap(lambda z: y.add_(z).sum())(x).sum())(T.ones(3, 2)),
    }[name]()


@pytest.mark.parametrize(
    "name",
    ["vmap", "vmap, returned", "vmap, an argument that is not mapped", "jvp", "grad in vmap", "vmap in grad"],
)
def test_a_write_to_a_captured_tensor_is_refused_and_undone(name: str) -> None:
    y = T.ones(2)
    with pytest.raises(RuntimeError, match=r"inplace arithmetic.* is not possible|would mutate a captured Tensor"):
        captured_by(name, y)
    assert y.tolist() == [1.0, 1.0]
    assert not y.requires_grad


def test_what_is_made_inside_may_be_written_to() -> None:
    assert T.vmap(lambda x: T.zeros(2).add_(x))(T.ones(3)).tolist() == [[1.0, 1.0]] * 3
    assert T.vmap(T.func.grad(lambda x: x.clone().mul_(2).sum()))(T.ones(3, 2)).tolist() == [[2.0, 2.0]] * 3


def test_a_cotangent_of_another_shape_is_refused() -> None:
    _, pull = T.func.vjp(T.sin, T.ones(2))
    with pytest.raises(RuntimeError, match=r"^Mismatch in shape: grad_output"):
        pull(T.ones(1))


VALUES_INSIDE = {
    "mask": lambda L: L.vmap(lambda x: x[x > 0])(L.ones(2, 3)),
    "nonzero": lambda L: L.vmap(lambda x: x.nonzero())(L.ones(2, 3)),
    "unique": lambda L: L.vmap(lambda x: x.unique())(L.ones(2, 3)),
}


@pytest.mark.parametrize("name", VALUES_INSIDE)
def test_shapes_that_depend_on_values_are_refused_as_by_torch(name: str, torch: ModuleType) -> None:
    texts = []
    for L in (T, torch):
        with pytest.raises(RuntimeError) as error:
            VALUES_INSIDE[name](L)
        texts.append(str(error.value))
    assert texts[0] == texts[1]


def test_a_transform_that_fails_leaves_nothing_behind() -> None:
    y = T.ones(2)

    def f(x: T.Tensor) -> T.Tensor:
        y.add_(x)
        raise ValueError("midway")

    for call in (lambda: T.vmap(f)(T.ones(3)), lambda: T.vmap(T.func.grad(f))(T.ones(3))):
        with pytest.raises(ValueError, match="midway"):
            call()
        assert y.tolist() == [1.0, 1.0]
        assert not y.requires_grad


def _captures(lib: Any) -> dict[str, Any]:
    c, d = lib.zeros(3), lib.zeros(())

    def read(f: Any) -> Any:
        return lambda x: (f(x), x.sum())[1]

    return {
        "copy_": read(c.copy_),
        "mul_": read(c.mul_),
        "item": read(lambda x: c.__setitem__(0, x[0])),
        "view": read(lambda x: c.view(3).add_(x)),
        "scalar": read(lambda x: d.copy_(x.sum())),
    }


@pytest.mark.parametrize("how", ["grad", "vjp", "grad of grad"])
@pytest.mark.parametrize("name", _captures(T))
def test_a_write_to_a_captured_tensor_is_refused(how: str, name: str) -> None:
    f = _captures(T)[name]
    run = {
        "grad": lambda: T.func.grad(f)(T.ones(3)),
        "vjp": lambda: T.func.vjp(f, T.ones(3)),
        "grad of grad": lambda: T.func.grad(lambda y: T.func.grad(f)(y).sum())(T.ones(3)),
    }[how]
    with pytest.raises(RuntimeError, match=r"would mutate a captured Tensor\. This is not supported"):
        run()


def test_what_a_function_writes_to_its_own_tensors_is_its_own() -> None:
    def f(x: Any) -> Any:
        y = T.zeros(3)
        y.add_(x)
        y[1] = x[0] * 2
        total = T.zeros(())
        return total.add_((y * y).sum())

    assert T.func.grad(f)(T.ones(3)).tolist() == [10.0, 0.0, 2.0]
    out, pull = T.func.vjp(lambda x: T.zeros(3).add_(x), T.ones(3))
    assert out.tolist() == [1.0] * 3
    assert pull(T.ones(3))[0].tolist() == [1.0] * 3
    counter = T.zeros(())
    T.func.grad(lambda x: (counter.add_(1), x.sum())[1])(T.ones(3))
    assert counter.grad_fn is None


@pytest.mark.parametrize(
    ("f", "args"),
    [
        (lambda x: T.nn.functional.linear(x, T.arange(6.0).view(2, 3)), (T.randn(4, 3),)),
        (lambda w: T.nn.functional.linear(T.arange(3.0), w), (T.randn(4, 2, 3),)),
        (lambda x: x.transpose(0, -1), (T.randn(4),)),
        (T.linalg.matrix_rank, (T.stack((T.eye(3), T.ones(3, 3))),)),
        (lambda x: T.linalg.cholesky_ex(x).info, (T.stack((T.eye(3), -T.eye(3))),)),
        (lambda x: T.linalg.inv_ex(x).inverse, (T.stack((2 * T.eye(3), T.zeros(3, 3))),)),
        (lambda x: T.geqrf(x).tau, (T.randn(2, 4, 3),)),
        (lambda x: T.nonzero_static(x, size=2), (T.tensor([[0, 1, 0], [1, 1, 1]]),)),
        (T.hash_tensor, (T.arange(6.0).view(2, 3),)),
        (lambda b: T.func.jvp(lambda a: T.Tensor.__rpow__(a, T.tensor(2.0)), (b,), (b,))[1], (T.randn(3),)),
    ],
)
def test_vmap_is_a_loop(f: Any, args: tuple[Any, ...]) -> None:
    loop = T.stack([f(*example) for example in zip(*args, strict=True)])
    T.testing.assert_close(T.func.vmap(f)(*args), loop, equal_nan=True)
    nested = T.func.vmap(T.func.vmap(f))(*(T.stack((a, a)) for a in args))
    T.testing.assert_close(nested, T.stack((loop, loop)), equal_nan=True)


class _Scaled(T.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(x: Any, y: Any) -> Any:
        return x * y

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        x, y = ctx.saved_tensors
        return grads[0] * y, grads[0] * x


def test_generated_rule_sums_over_broadcast_dims() -> None:
    x, y = T.ones(2, 4), T.arange(24.0).reshape(2, 3, 4)
    g = T.func.grad(lambda x: T.func.vmap(_Scaled.apply)(x, y).sum())(x)
    assert T.equal(g, y.sum(1))


def test_a_custom_function_in_vmap_keeps_the_history_of_what_is_not_mapped() -> None:
    weight, rows = T.ones(3), T.arange(12.0).view(4, 3)

    def loss(weight: T.Tensor) -> T.Tensor:
        return T.func.vmap(_Scaled.apply, (None, 0))(weight, rows).sum()

    assert T.func.grad(loss)(weight).equal(rows.sum(0))
    leaf = weight.requires_grad_()
    assert T.autograd.grad(loss(leaf), leaf)[0].equal(rows.sum(0))


class _Row(T.autograd.Function):
    @staticmethod
    def forward(x: Any, row: int) -> Any:
        return x[row]

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.shape, ctx.row = inputs[0].shape, inputs[1]

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        g = grads[0].new_zeros(ctx.shape)
        g[ctx.row] = grads[0]
        return g, None

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        return _Row.apply(tangents[0], ctx.row)

    @staticmethod
    def vmap(info: Any, in_dims: Any, x: Any, row: int) -> Any:
        return _Row.apply(x.movedim(in_dims[0], 1), row), 0


def test_function_that_returns_a_view_in_nested_transforms() -> None:
    x = T.ones(3, 5)
    jacobian = T.func.jacfwd(lambda x: _Row.apply(x, 2))(x)
    assert T.equal(jacobian, T.func.jacrev(lambda x: _Row.apply(x, 2))(x))
    hessian = T.func.hessian(lambda x: _Row.apply(x, 2).sum())(x)
    assert hessian.tolist() == T.zeros(3, 5, 3, 5).tolist()


class _Cube(T.autograd.Function):
    """A rule for every transform."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x: Any) -> Any:
        return x**3

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(*inputs)
        ctx.save_for_forward(*inputs)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        return 3 * ctx.saved_tensors[0] ** 2 * grads[0]

    jvp = backward


def test_rules_for_forward_mode_are_differentiated_in_forward_mode() -> None:
    """PyTorch's second derivative is zero, silently."""
    func, x = T.func, T.tensor([0.5, -1.2, 0.8], dtype=T.float64)
    assert T.allclose(func.jacfwd(func.jacfwd(_Cube.apply))(x).sum((1, 2)), 6 * x)
    assert T.allclose(func.vmap(func.grad(lambda x: func.jacfwd(func.jacfwd(_Cube.apply))(x)))(x), T.full_like(x, 6))


def test_a_custom_function_on_what_is_constant_to_every_transform() -> None:
    func, x = T.func, T.tensor([2.0, 3.0])

    def partly(x: Any) -> Any:
        return _Cube.apply(x.detach()) * x

    assert func.jacrev(func.jacfwd(partly))(x).count_nonzero() == 0
    assert func.jacfwd(partly)(x).tolist() == [[8.0, 0.0], [0.0, 27.0]]


class _Product(T.autograd.Function):
    @staticmethod
    def forward(x: Any, y: Any) -> Any:
        return x * y

    setup_context = _Scaled.setup_context
    backward = _Scaled.backward

    @staticmethod
    def vmap(info: Any, in_dims: Any, x: Any, y: Any) -> Any:
        return _Product.apply(x.expand_as(y) if in_dims[0] is None else x, y), 0


def test_a_custom_function_in_vmap_keeps_the_history_of_a_variable_of_a_transform_outside() -> None:
    def f(x: Any) -> Any:
        return T.func.vmap(_Product.apply, (None, 0))(x, T.stack([x, x])).sum()

    assert T.func.vmap(T.func.grad(f))(T.tensor([1.0, 2.0])).tolist() == [4.0, 8.0]


class _ExpInPlace(T.autograd.Function):
    @staticmethod
    def forward(x: Any) -> Any:
        a = x.numpy()
        np.exp(a, a)
        return x

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.mark_dirty(inputs[0])
        ctx.save_for_backward(output)
        ctx.save_for_forward(output)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        return grads[0] * ctx.saved_tensors[0]

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        return tangents[0].mul_(ctx.saved_tensors[0])

    @staticmethod
    def vmap(info: Any, in_dims: Any, x: Any) -> Any:
        _ExpInPlace.apply(x)
        return x, in_dims[0]


def test_function_that_writes_in_place_in_nested_transforms() -> None:
    x = T.rand(4)
    g = T.func.vmap(T.func.grad(lambda x: _ExpInPlace.apply(x.clone())))(x)
    assert T.allclose(g, x.exp())
    hessian = T.func.hessian(lambda x: _ExpInPlace.apply(x.clone()).sum())(x)
    assert T.allclose(hessian, x.exp().diag())


@pytest.mark.parametrize("to", [lambda x: x.int(), lambda x: x.bool(), lambda x: T.zeros(2, dtype=T.long).copy_(x)])
def test_integers_have_no_tangent(to: Any) -> None:
    """The derivative of what passes through integers is zero, as PyTorch's is, also after a cast back."""
    x = T.tensor([1.5, 2.5])
    whole, tangent = T.func.jvp(to, (x,), (T.ones(2),))
    assert T.equal(tangent, T.zeros_like(whole))
    assert T.equal(T.func.jvp(lambda x: to(x).float(), (x,), (T.ones(2),))[1], T.zeros(2))
    assert T.equal(T.func.jvp(lambda x: to(x) * x, (x,), (T.ones(2),))[1], to(x).float())
    assert T.equal(T.func.jacfwd(lambda x: to(x).float())(x), T.zeros(2, 2))
    product = T.func.jacrev(T.func.vmap(lambda x: to(x)[0] * x))(x.repeat(2, 1))
    assert T.equal(product.sum((1, 2)), to(x)[0].float().expand(2, 2))
    assert T.equal(T.func.jacrev(T.func.jacfwd(lambda x: to(x) * x))(x), T.zeros(2, 2, 2))


def test_views_of_a_tensor_whose_shape_changes_in_place() -> None:
    def f(x: T.Tensor) -> tuple[T.Tensor, ...]:
        y = x.clone()
        d, v = y.detach(), y[1:]
        y.t_()
        y.unsqueeze_(1)
        v.mul_(2)
        y[0].add_(5)
        return v * 1, y * 1, d * 1

    x = T.arange(6.0).view(2, 3)
    v, y, d = (t[1].tolist() for t in T.vmap(f)(T.stack([x, x])))
    assert v == [[11, 8, 10]] and y == [[[5, 11]], [[1, 8]], [[2, 10]]] and d == [[5, 1, 2], [11, 8, 10]]  # PyTorch's
    grad = T.func.grad(lambda x: sum((t * t).sum() for t in f(x)))
    assert T.vmap(grad)(T.stack([x, x]))[0].tolist() == [[10, 2, 4], [88, 64, 80]]


def test_a_view_whose_shape_changes_in_place_follows_its_base() -> None:
    def f(x: T.Tensor) -> tuple[T.Tensor, ...]:
        y = x.clone()
        v = y[1:]
        v.t_()
        y.add_(1)
        v.mul_(3)
        return v * 1, y * 1

    x = T.arange(6.0).view(2, 3)
    v, y = (t[0].tolist() for t in T.vmap(f)(T.stack([x, x])))
    assert v == [[12], [15], [18]] and y == [[1, 2, 3], [12, 15, 18]]


def test_vmap_returns_one_tensor_for_one_and_views_of_a_result_as_its_views() -> None:
    def several(x: Any) -> Any:
        y = x * 2
        return y[0], y, y.t(), y, y.unbind(1)[1]

    x = T.arange(12.0).view(2, 3, 2).clone().requires_grad_()
    first, y, turned, again, column = T.func.vmap(several)(x)
    assert y is again
    assert all(t._base is y for t in (first, turned, column))
    assert (first.tolist(), column.tolist()) == ((x[:, 0] * 2).tolist(), (x[:, :, 1] * 2).tolist())
    assert turned.tolist() == (x.mT * 2).tolist()
    (first.sum() + turned.sum()).backward()
    assert x.grad.tolist() == [[[4.0, 4.0], [2.0, 2.0], [2.0, 2.0]]] * 2


def test_vjp_takes_the_cotangents_that_autograd_takes(torch: ModuleType) -> None:
    def outcomes(lib: Any) -> str:
        found: list[Any] = []
        sin, one, several = lib.sin, lib.tensor(1.0), lib.ones(3)
        for x, g in (
            (one, None), (several, None), (one.to(lib.complex64), None), (one, 2.0), (several, lib.ones(3).double()),
        ):  # fmt: skip
            try:
                (r,) = lib.func.vjp(sin, x)[1](g)
                found.append((r.mean().item().__round__(5), str(r.dtype).split(".")[1]))
            except (RuntimeError, TypeError) as error:
                found.append((type(error).__name__, str(error).split("\n")[0]))
        second = lib.func.grad(lambda x: lib.func.vjp(sin, x)[1](None)[0])(one).item()
        return repr([*found, round(second, 5)])

    assert outcomes(T) == outcomes(torch)
