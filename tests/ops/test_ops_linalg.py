"""Linear algebra: what the generated tests cannot know.

Results of decompositions have free signs, phases and orders, so derivatives are taken of losses that do not depend on
them, of real and of complex matrices, along curves of (Hermitian) matrices.
"""

from __future__ import annotations

import math
import warnings
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import wengert as wg
from wengert._base.registry import ARRAYS

la = wg.linalg


def draw(*shape: int, seed: int = 0, dtype: str = "float64") -> np.ndarray:
    rng = np.random.default_rng((seed, *shape))
    a = rng.standard_normal(shape)
    return a + 1j * rng.standard_normal(shape) if dtype == "complex128" else a


def square(n: int = 3, lead: tuple[int, ...] = (), dtype: str = "float64") -> np.ndarray:
    return draw(*lead, n, n, dtype=dtype) + 2 * np.eye(n)


def hermitian(a: Any) -> Any:
    return (a + a.swapaxes(-1, -2).conj()) / 2


def array(t: Any) -> np.ndarray:
    return t.detach().numpy()


def H(t: Any) -> Any:
    return t.mT.conj()


def weights(t: Any, *shape: int) -> Any:
    return wg.tensor(np.random.default_rng(shape).standard_normal(shape), dtype=wg.float64)


def real(t: Any) -> Any:
    return t.real if t.is_complex() else t


def weighted(t: Any) -> Any:
    """A real number that depends on every element."""
    t = real(t)
    return (t * weights(t, *t.shape)).sum()


# Losses that do not depend on signs, phases or the order of columns.
LOSSES: dict[str, Any] = {
    "inv": lambda a: weighted(la.inv(a)),
    "det": lambda a: weighted(la.det(a)),
    "slogdet": lambda a: weighted(la.slogdet(a)[1]),
    "solve": lambda a: weighted(la.solve(a, a @ a + 1)),
    "solve right": lambda a: weighted(la.solve(a, a @ a + 1, left=False)),
    "solve_triangular": lambda a: weighted(la.solve_triangular(a, a @ a, upper=True)),
    "solve_triangular right": lambda a: weighted(la.solve_triangular(a, a @ a, upper=False, left=False)),
    "svdvals": lambda a: weighted(la.svdvals(a)),
    "svd": lambda a: sum(weighted((u * torch_row(s**2)) @ vh) for u, s, vh in [la.svd(a, full_matrices=False)]),
    "qr": lambda a: sum(weighted(q * 2 + a) + weighted(abs(r) ** 2) for q, r in [la.qr(a)]),
    "lu": lambda a: sum(weighted(lower) + weighted(upper) for _, lower, upper in [la.lu(a)]),
    "lu_solve": lambda a: weighted(la.lu_solve(*la.lu_factor(a), a @ a)),
    "lu_solve adjoint": lambda a: weighted(la.lu_solve(*la.lu_factor(a), a @ a, adjoint=True)),
    "pinv": lambda a: weighted(la.pinv(a[..., :2])),
    "lstsq": lambda a: weighted(la.lstsq(a[..., :2], a)[0]),
    "matrix_exp": lambda a: weighted(la.matrix_exp(a)),
    "matrix_power": lambda a: weighted(la.matrix_power(a, 3)) + weighted(la.matrix_power(a, -2)),
    "nuc": lambda a: la.matrix_norm(a, "nuc").sum(),
    "2-norm": lambda a: la.matrix_norm(a, 2).sum(),
    "1-norm": lambda a: la.matrix_norm(a, 1).sum(),
    "cond": lambda a: la.cond(a).sum(),
    "eig": lambda a: sum(weighted((v * torch_row(w**2)) @ la.inv(v)) for w, v in [la.eig(a)]),
    "householder": lambda a: weighted(la.householder_product(a, a[..., 0, :] * 0.3)),
}
HERMITIAN: dict[str, Any] = {
    "cholesky": lambda a: weighted(la.cholesky(a @ H(a) + 1)),
    "cholesky upper": lambda a: weighted(la.cholesky(a @ H(a), upper=True)),
    "cholesky_solve": lambda a: weighted(wg.cholesky_solve(a, la.cholesky(a @ H(a)))),
    "cholesky_inverse": lambda a: weighted(wg.cholesky_inverse(la.cholesky(a @ H(a)))),
    "eigvalsh": lambda a: weighted(la.eigvalsh(a + H(a))),
    "eigh": lambda a: sum(weighted((v * torch_row(w**3)) @ H(v)) for w, v in [la.eigh(a + H(a))]),
    "eigh U": lambda a: sum(weighted((v * torch_row(w**3)) @ H(v)) for w, v in [la.eigh(a + H(a), "U")]),
    "pinv hermitian": lambda a: weighted(la.pinv(a + H(a), hermitian=True)),
}


def torch_row(v: Any) -> Any:
    return v.unsqueeze(-2)


def along(f: Any, a: np.ndarray, v: np.ndarray, h: float) -> float:
    return (f(wg.tensor(a + h * v)) - f(wg.tensor(a - h * v))).item() / (2 * h)


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("lead", [(), (2,)])
@pytest.mark.parametrize("name", [*LOSSES, *HERMITIAN])
def test_derivatives(name: str, lead: tuple[int, ...], dtype: str) -> None:
    """Reverse mode beside a numeric derivative, and second order beside a numeric derivative of reverse mode."""
    f = {**LOSSES, **HERMITIAN}[name]
    a, v = square(3, lead, dtype), draw(*lead, 3, 3, seed=1, dtype=dtype)

    def gradient(x: np.ndarray) -> np.ndarray:
        leaf = wg.tensor(x, requires_grad=True)
        return array(wg.autograd.grad(f(leaf), leaf)[0])

    got = np.sum((gradient(a).conj() * v).real)
    assert got == pytest.approx(along(f, a, v, 1e-6), rel=1e-5, abs=1e-7)

    leaf = wg.tensor(a, requires_grad=True)
    (g,) = wg.autograd.grad(f(leaf), leaf, create_graph=True)
    u = draw(*lead, 3, 3, seed=2, dtype=dtype)
    (second,) = wg.autograd.grad(real(g.conj() * wg.tensor(u)).sum(), leaf)
    h = 1e-6
    want = np.sum(((gradient(a + h * v) - gradient(a - h * v)).conj() * u).real) / (2 * h)
    assert np.sum((array(second).conj() * v).real) == pytest.approx(want, rel=2e-4, abs=1e-5)


@pytest.mark.parametrize("shape", [(4, 2), (2, 4), (2, 3, 2)])
def test_rectangular_matrices(shape: tuple[int, ...]) -> None:
    losses = {
        "svd": lambda a: sum(weighted((u * torch_row(s**2)) @ vh) for u, s, vh in [la.svd(a, full_matrices=False)]),
        "svd full": lambda a: sum(weighted(s) + weighted(u[..., :2] @ vh[..., :2, :]) for u, s, vh in [la.svd(a)]),
        "qr": lambda a: sum(weighted(q @ r) + weighted(abs(r) ** 2) for q, r in [la.qr(a)]),
        "lu": lambda a: sum(weighted(lower) + weighted(upper) for _, lower, upper in [la.lu(a)]),
        "pinv": lambda a: weighted(la.pinv(a)),
    }
    a, v = draw(*shape), draw(*shape, seed=1)
    for name, f in losses.items():
        leaf = wg.tensor(a, requires_grad=True)
        (g,) = wg.autograd.grad(f(leaf), leaf)
        assert np.sum(array(g) * v) == pytest.approx(along(f, a, v, 1e-6), rel=1e-5), name


def test_equal_values_have_a_finite_derivative() -> None:
    for f in (la.svdvals, la.eigvalsh, lambda a: la.matrix_norm(a, "nuc")):
        a = wg.eye(3, dtype=wg.float64, requires_grad=True)
        f(a).sum().backward()
        np.testing.assert_allclose(array(a.grad), np.eye(3), atol=1e-12)


def test_the_determinant_of_a_singular_matrix_has_its_derivative() -> None:
    a = wg.tensor([[1.0, 2.0], [2.0, 4.0]], requires_grad=True)
    la.det(a).backward()
    np.testing.assert_allclose(array(a.grad), [[4, -2], [-2, 1]], atol=1e-6)
    b = wg.zeros(2, 2, requires_grad=True)
    la.det(b).backward()
    assert not b.grad.any()


def test_values() -> None:
    a = square(4, (2,))
    t = wg.tensor(a)
    np.testing.assert_allclose(array(la.inv(t)), np.linalg.inv(a))
    np.testing.assert_allclose(array(la.det(t)), np.linalg.det(a))
    np.testing.assert_allclose(array(la.matrix_power(t, 5)), np.linalg.matrix_power(a, 5))
    np.testing.assert_allclose(array(la.pinv(t[..., :2])), np.linalg.pinv(a[..., :2]))
    np.testing.assert_allclose(array(la.cond(t)), np.linalg.cond(a))
    assert la.matrix_rank(wg.ones(3, 3)).item() == 1
    for lower_upper in (la.lu(t), la.lu(t[..., :2]), la.lu(t[..., :3, :])):
        p, lower, upper = lower_upper
        np.testing.assert_allclose(array(p @ lower @ upper), a[..., : p.shape[-1], : upper.shape[-1]], atol=1e-12)
    q, r = la.qr(t[..., :2])
    np.testing.assert_allclose(array(q @ r), a[..., :2])
    np.testing.assert_allclose(array(la.householder_product(*wg.geqrf(t[..., :2]))), array(q), atol=1e-12)
    np.testing.assert_allclose(array(la.vander(wg.tensor([2.0, 3.0]), N=4)), [[1, 2, 4, 8], [1, 3, 9, 27]])
    np.testing.assert_allclose(array(la.cross(t[0, :, :3], t[1, :, :3])), np.cross(a[0, :, :3], a[1, :, :3]))
    x = la.lstsq(t[0, :, :2], t[0]).solution
    np.testing.assert_allclose(array(x), np.linalg.lstsq(a[0, :, :2], a[0], rcond=None)[0], atol=1e-10)


@pytest.mark.parametrize("dtype", [wg.float32, wg.float64, wg.complex64, wg.complex128])
def test_dtypes_stay(dtype: Any) -> None:
    a = wg.eye(3, dtype=dtype) * 2
    value = wg.float32 if dtype in (wg.float32, wg.complex64) else wg.float64
    assert la.inv(a).dtype is la.solve(a, a).dtype is la.cholesky(a).dtype is la.matrix_exp(a).dtype is dtype
    assert la.svdvals(a).dtype is la.eigvalsh(a).dtype is la.matrix_norm(a).dtype is value
    assert la.eig(a).eigenvalues.is_complex()


def test_infos_instead_of_errors() -> None:
    singular = wg.tensor([[1.0, 2.0], [2.0, 4.0]])
    both = wg.stack([wg.eye(2), singular])
    assert la.inv_ex(both).info.tolist() == [0, 2]
    assert la.inv_ex(both).inverse[0].tolist() == [[1, 0], [0, 1]]
    assert la.cholesky_ex(wg.tensor([[1.0, 2.0], [2.0, 1.0]])).info.item() == 2
    assert la.lu_factor_ex(singular).info.item() == 2
    assert la.solve_ex(singular, singular).info.item() == 2
    assert la.inv_ex(wg.eye(2)).info.dtype is wg.int32


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: la.inv(wg.ones(2, 2)), la.LinAlgError, r"linalg.inv: The diagonal element 2 is zero"),
        (lambda: la.inv(wg.stack([wg.eye(2), wg.ones(2, 2)])), la.LinAlgError, r"\(Batch element 1\)"),
        (lambda: la.solve(wg.ones(2, 2), wg.ones(2)), la.LinAlgError, "the input matrix is singular"),
        (lambda: la.cholesky(-wg.eye(2)), la.LinAlgError, "the leading minor of order 1 is not positive-definite"),
        (lambda: la.inv(wg.ones(3)), RuntimeError, "must have at least 2 dimensions"),
        (
            lambda: la.det(wg.ones(2, 3)),
            RuntimeError,
            "must be batches of square matrices, but they are 2 by 3 matrices",
        ),
        (
            lambda: la.svd(wg.ones(2, 2).long()),
            RuntimeError,
            "Expected a floating point or complex tensor as input. Got Long",
        ),
        (
            lambda: la.solve(wg.eye(3), wg.ones(2, 2)),
            RuntimeError,
            r"Incompatible shapes of A and B .* \(3x3 and 2x2\)",
        ),
        (lambda: la.qr(wg.eye(2), "x"), RuntimeError, "qr received unrecognized mode 'x'"),
        (lambda: la.matrix_norm(wg.eye(2), 3), RuntimeError, "Order 3 not supported"),
        (lambda: la.cross(wg.ones(4), wg.ones(4)), RuntimeError, "must have length 3. Got 4 and 4"),
        (lambda: la.matrix_power(wg.eye(2), 1.5), TypeError, r"argument 'n' \(position 2\) must be int, not float"),
        (
            lambda: wg.symeig(wg.eye(2)),
            RuntimeError,
            "This function was deprecated since version 1.9 and is now removed",
        ),
    ],
)
def test_refusals(call: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        call()


def test_qr_says_what_cannot_be_differentiated() -> None:
    a = wg.tensor(draw(3, 2), requires_grad=True)
    with pytest.raises(RuntimeError, match="not differentiable when mode='complete' and nrows > ncols"):
        la.qr(a, "complete").R.sum().backward()
    with pytest.raises(RuntimeError, match=r"The derivative of linalg.qr depends on Q"):
        la.qr(a, "r").R.sum().backward()


def test_results_have_names() -> None:
    u, s, vh = result = la.svd(wg.eye(2))
    assert result.S is s
    assert type(result).__name__ == "linalg_svd"
    assert repr(la.slogdet(wg.eye(2))).startswith("torch.return_types.linalg_slogdet(\nsign=tensor(1.)")
    assert (u @ wg.diag(s) @ vh).equal(wg.eye(2))


def test_logdet_of_any_sign() -> None:
    assert wg.logdet(wg.eye(2)).item() == 0
    assert math.isnan(wg.logdet(-wg.eye(3)).item())
    assert wg.logdet(wg.zeros(2, 2)).item() == -math.inf


def test_low_rank() -> None:
    wg.manual_seed(0)
    a = wg.tensor(draw(20, 3) @ draw(3, 10, seed=1))
    u, s, v = wg.svd_lowrank(a, q=3)
    np.testing.assert_allclose(array(u * s @ v.mT), array(a), atol=1e-8)


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_gradients_as_in_torch(torch: ModuleType, dtype: str) -> None:
    """Gradients of a leaf are PyTorch's own, also where several are right (Hermitian inputs)."""
    a = square(4, (2,), dtype)
    spd = a @ a.swapaxes(-1, -2).conj() + np.eye(4)
    cases = {
        "inv": (lambda t, x: t.linalg.inv(x), a),
        "det": (lambda t, x: t.linalg.det(x), a),
        "logabsdet": (lambda t, x: t.linalg.slogdet(x)[1], a),
        "solve": (lambda t, x: t.linalg.solve(x, x.mT), a),
        "cholesky": (lambda t, x: t.linalg.cholesky(x), spd),
        "cholesky upper": (lambda t, x: t.linalg.cholesky(x, upper=True), spd),
        "eigvalsh": (lambda t, x: t.linalg.eigvalsh(x), spd),
        "svdvals": (lambda t, x: t.linalg.svdvals(x), a),
        "pinv": (lambda t, x: t.linalg.pinv(x[..., :2]), a),
        "matrix_exp": (lambda t, x: t.linalg.matrix_exp(x), a),
        "lu": (lambda t, x: t.linalg.lu_factor(x)[0], a),
        "R": (lambda t, x: t.linalg.qr(x)[1].abs(), a),
        "lstsq": (lambda t, x: t.linalg.lstsq(x[..., :2], x)[0], a),
        "cond": (lambda t, x: t.linalg.cond(x), a),
    }
    for name, (f, x) in cases.items():
        found = []
        for t in (torch, wg):
            leaf = t.tensor(x, requires_grad=True)
            y = f(t, leaf)
            u = draw(*y.shape, seed=3, dtype=str(y.dtype).removeprefix("torch."))
            (g,) = t.autograd.grad(y, leaf, t.tensor(u))
            found.append((y, g))
        for want, got in zip(*found, strict=True):
            np.testing.assert_allclose(array(got), want.numpy(force=True), rtol=1e-7, atol=1e-8, err_msg=name)


@pytest.mark.parametrize("name", [*LOSSES, *HERMITIAN])
def test_forward_mode_and_vmap(name: str) -> None:
    f = {**LOSSES, **HERMITIAN}[name]
    a, v = square(3), draw(3, 3, seed=1)
    value, tangent = wg.func.jvp(f, (wg.tensor(a),), (wg.tensor(v),))
    assert value.item() == pytest.approx(f(wg.tensor(a)).item())
    assert tangent.item() == pytest.approx(along(f, a, v, 1e-6), rel=1e-5, abs=1e-7)
    batch = wg.tensor(np.stack([a, a + 0.1 * v, a - 0.1 * v]))
    np.testing.assert_allclose(array(wg.func.vmap(f)(batch)), [f(x).item() for x in batch], rtol=1e-8)
    gradients = wg.func.vmap(wg.func.grad(f))(batch)
    np.testing.assert_allclose(array(gradients[1]), array(wg.func.grad(f)(batch[1])), rtol=1e-6, atol=1e-8)


# -------------------------------------------------------------------------------------------------- indefinite matrices
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("hermitian_", [False, True])
@pytest.mark.parametrize("n", [1, 2, 5, 6])
def test_ldl_solves(n: int, hermitian_: bool, dtype: str) -> None:
    a = draw(3, n, n, dtype=dtype)
    a = hermitian(a) if hermitian_ else a + a.swapaxes(-1, -2)
    a[0, range(n), range(n)] = 0 if n > 1 else 1  # blocks of two are needed
    b = draw(3, n, 2, seed=1, dtype=dtype)
    LD, pivots = la.ldl_factor(wg.tensor(a), hermitian=hermitian_)
    np.testing.assert_allclose(a @ la.ldl_solve(LD, pivots, wg.tensor(b), hermitian=hermitian_).numpy(), b, atol=1e-9)
    assert pivots.dtype is wg.int32
    if n > 1:
        assert (pivots[0] < 0).any()


def test_ldl_gradients_and_errors() -> None:
    a = draw(3, 3)
    a = wg.tensor(a + a.T)
    LD, pivots, info = la.ldl_factor_ex(a)
    assert info.item() == 0
    b = wg.tensor(draw(3, 2, seed=1), requires_grad=True)
    assert wg.autograd.gradcheck(lambda b: la.ldl_solve(LD, pivots, b), (b,))
    with pytest.raises(RuntimeError, match="derivative for aten::linalg_ldl_factor_ex is not implemented"):
        la.ldl_factor(a.requires_grad_())[0].sum().backward()
    with pytest.raises(RuntimeError, match="A must be batches of square matrices, but they are 2 by 3 matrices"):
        la.ldl_factor(wg.ones(2, 3))
    with pytest.raises(la.LinAlgError, match="D is zero"):
        la.ldl_factor(wg.zeros(2, 2))
    with pytest.raises(RuntimeError, match="Expected pivots to be integers"):
        la.ldl_solve(LD, pivots.double(), b)


@pytest.mark.parametrize("largest", [True, False])
def test_lobpcg(largest: bool) -> None:
    a = draw(9, 9)
    a = a @ a.T + np.eye(9)
    b = draw(9, 9, seed=1)
    b = b @ b.T + 3 * np.eye(9)
    values, vectors = wg.lobpcg(wg.tensor(a), k=2, largest=largest)
    expected = np.linalg.eigvalsh(a)
    np.testing.assert_allclose(values.numpy(), expected[::-1][:2] if largest else expected[:2])
    values, vectors = wg.lobpcg(wg.tensor(a), k=2, B=wg.tensor(b), largest=largest)
    np.testing.assert_allclose(a @ vectors.numpy(), b @ vectors.numpy() * values.numpy(), atol=1e-9)
    with pytest.raises(ValueError, match="smaller than 3 x the number of requested eigenpairs"):
        wg.lobpcg(wg.eye(4), k=2)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("name", ["inv", "det", "slogdet", "eigh", "eigvalsh", "cholesky", "svd", "qr", "solve"])
def test_the_loops_without_numpys_functions_around_them_compute_the_same(name: str, dtype: str) -> None:
    """One matrix goes to the loop; a batch, a failure and a program that makes errors of warnings to the function."""
    lib = ARRAYS.lib
    ours, numpys = getattr(lib.linalg, name), getattr(np.linalg, name)
    for shape in [(3, 3), (1, 1), (2, 3, 3)] + [(4, 2), (2, 4)] * (name in ("svd", "qr")):
        a = np.random.default_rng(0).standard_normal(shape).astype(dtype)
        if shape[-1] == shape[-2]:
            a = a @ a.swapaxes(-1, -2) + np.eye(shape[-1], dtype=dtype)
        given = (a, a) if name == "solve" else (a,)
        found, wanted = ours(*given), numpys(*given)
        assert isinstance(found, tuple) == isinstance(wanted, tuple)
        for x, y in zip(found, wanted, strict=True) if isinstance(found, tuple) else [(found, wanted)]:
            assert x.dtype == y.dtype
            assert x.shape == y.shape
            np.testing.assert_array_equal(x, y)
    if name in ("inv", "solve", "cholesky"):
        zeros = np.zeros((2, 2), dtype)
        for policy in ("ignore", "error"):
            with warnings.catch_warnings(), pytest.raises(np.linalg.LinAlgError):
                warnings.simplefilter(policy)  # type: ignore[arg-type]
                ours(*[zeros] * (1 + (name == "solve")))


@pytest.mark.filterwarnings("ignore:torch.triangular_solve is deprecated:UserWarning")
def test_tangents_of_triangular_solve_count_the_whole_matrix() -> None:
    A, B, dA = wg.tensor([[2.0, 1.0], [0.5, 4.0]]), wg.tensor([[1.0], [2.0]]), wg.ones(2, 2)
    X, dX = wg.func.jvp(lambda a: wg.triangular_solve(B, a).solution, (A,), (dA,))
    wg.testing.assert_close(A.triu() @ dX, -dA @ X)
    node = wg.triangular_solve(B, A.requires_grad_()).solution.grad_fn
    assert type(node).__name__ == "TriangularSolveBackward0"


def superseded(T: ModuleType, name: str, *args: Any) -> list[str]:
    """What a function of matrices warns of, but for where."""
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        getattr(T, name)(*args)
    return [f"{w.category.__name__}: {str(w.message).partition(' (Triggered')[0]}" for w in warned]


@pytest.mark.parametrize("name", ["cholesky", "qr", "lu", "lu_solve", "triangular_solve"])
def test_superseded_functions_warn_as_in_the_library_that_is_compared(torch: ModuleType, name: str) -> None:
    def found(T: ModuleType) -> list[str]:
        a, pivots = T.eye(2), T.tensor([1, 2], dtype=T.int32)
        args = {"lu_solve": (a, a, pivots), "triangular_solve": (a, a)}.get(name, (a,))
        return superseded(T, name, *args)

    torch.set_warn_always(True)  # PyTorch warns once in a process
    try:
        assert found(wg) == found(torch)
    finally:
        torch.set_warn_always(False)


def test_a_matrix_with_nan_has_a_gradient_of_nan_and_leaves_the_others_of_its_batch() -> None:
    a = wg.tensor([[[1.0, 2.0], [3.0, 4.0]], [[math.nan, 0.0], [0.0, 1.0]]], requires_grad=True)
    (found,) = wg.autograd.grad(wg.linalg.det(a).sum(), a)
    wg.testing.assert_close(found[0], wg.tensor([[4.0, -3.0], [-2.0, 1.0]]))
    assert bool(found[1].isnan().all())


def test_chain_matmul_of_one_matrix_is_a_copy(torch: Any) -> None:
    def outcome(lib: Any) -> list[Any]:
        a, out = lib.ones(2, 2), lib.empty(0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            r, same = lib.chain_matmul(a), lib.chain_matmul(a, out=out) is out
            with pytest.raises(RuntimeError) as one:
                lib.chain_matmul(a[0], a)
            with pytest.raises(RuntimeError) as none:
                lib.chain_matmul()
        return [r.data_ptr() == a.data_ptr(), same, out.tolist(), str(one.value), str(none.value)]

    assert outcome(wg) == outcome(torch)
