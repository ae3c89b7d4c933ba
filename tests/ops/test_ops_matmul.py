"""Products of vectors and matrices: what the generated tests cannot know.

Derivatives, forward mode and vmap of every primitive are checked by test_every_op.py. Here: which product a call means,
dtypes, errors, in place and out=, graph names, and PyTorch's own answers where it is installed.
"""

from __future__ import annotations

import itertools
import warnings
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import wengert as wg
from wengert._base import errors

F = wg.nn.functional
SHAPES = [
    ((3,), (3,)),
    ((2, 3), (3,)),
    ((3,), (3, 2)),
    ((2, 3), (3, 4)),
    ((5, 2, 3), (3, 4)),
    ((5, 2, 3), (3,)),
    ((3,), (5, 3, 2)),
    ((2, 3), (5, 3, 4)),
    ((5, 2, 3), (5, 3, 4)),
    ((6, 1, 2, 3), (5, 3, 1)),
    ((0, 3), (3, 2)),
    ((2, 0), (0, 2)),
    ((0, 2, 3), (3, 2)),
]


def draw(*shape: int, dtype: Any = np.float64, seed: int = 0) -> np.ndarray:
    return np.random.default_rng((seed, *shape)).standard_normal(shape).astype(dtype)


def leaf(a: Any) -> wg.Tensor:
    return wg.tensor(a, requires_grad=True)


def array(t: Any) -> np.ndarray:
    return t.detach().numpy()


def numeric(f: Any, arrays: list[np.ndarray], u: np.ndarray, h: float = 1e-6) -> list[np.ndarray]:
    """The gradient of ``sum(u * f(...))`` with respect to every array, element by element."""
    grads = []
    for k, a in enumerate(arrays):
        g = np.zeros_like(a)
        for i in np.ndindex(a.shape):
            up, down = ([x.copy() for x in arrays] for _ in range(2))
            up[k][i] += h
            down[k][i] -= h
            g[i] = np.sum(u * (f(*up) - f(*down))) / (2 * h)
        grads.append(g)
    return grads


# --------------------------------------------------------------------------------------------------------------- matmul
@pytest.mark.parametrize(("a", "b"), SHAPES)
def test_matmul_is_numpys(a: tuple[int, ...], b: tuple[int, ...]) -> None:
    x, y = draw(*a), draw(*b, seed=1)
    tx, ty = leaf(x), leaf(y)
    r = tx @ ty
    np.testing.assert_allclose(array(r), x @ y)
    u = draw(*r.shape, seed=2)
    r.backward(wg.tensor(u))
    for got, want in zip((tx.grad, ty.grad), numeric(np.matmul, [x, y], u), strict=True):
        np.testing.assert_allclose(array(got), want, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("dtype", [wg.float16, wg.float32, wg.float64, wg.complex64, wg.int32, wg.int64, wg.uint8])
def test_a_product_keeps_the_dtype(dtype: Any) -> None:
    a = wg.ones(2, 2, dtype=dtype)
    for r in (
        a @ a,
        a.mv(a[0]),
        a[0].dot(a[0]),
        wg.bmm(a[None], a[None]),
        F.linear(a, a),
        wg.einsum("ij,jk->ik", a, a),
    ):
        assert r.dtype is dtype


def test_gradients_are_blas_products_of_the_operands_dtype() -> None:
    a, b = (leaf(draw(3, 3, dtype=np.float32, seed=k)) for k in range(2))
    (a @ b).sum().backward()
    assert a.grad.dtype is b.grad.dtype is wg.float32


def test_noncontiguous_operands() -> None:
    x = leaf(draw(4, 6))
    y = x.T[::2].flip(0) @ x[:, ::3]
    want = array(x).T[::2][::-1] @ array(x)[:, ::3]
    np.testing.assert_allclose(array(y), want)
    y.sum().backward()
    f = lambda a: a.T[::2][::-1] @ a[:, ::3]
    np.testing.assert_allclose(array(x.grad), numeric(f, [array(x).copy()], np.ones(y.shape))[0], rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda t: t(2, 3) @ t(4, 5), RuntimeError, r"mat1 and mat2 shapes cannot be multiplied \(2x3 and 4x5\)"),
        (lambda t: t(5, 2, 3) @ t(4, 2), RuntimeError, r"mat1 and mat2 shapes cannot be multiplied \(10x3 and 4x2\)"),
        (lambda t: t(2, 3) @ t(4), RuntimeError, r"size mismatch, got input \(2\), mat \(2x3\), vec \(4\)"),
        (lambda t: t(3) @ t(4), RuntimeError, r"inconsistent tensor size, expected tensor \[3\] and src \[4\]"),
        (
            lambda t: t(()) @ t(2),
            RuntimeError,
            "both arguments to matmul need to be at least 1D, but they are 0D and 1D",
        ),
        (lambda t: t(5, 2, 3) @ t(5, 2, 3), RuntimeError, r"to be: \[5, 3\] but got: \[5, 2\]\."),
        (
            lambda t: t(5, 2, 3) @ t(4, 3, 2),
            RuntimeError,
            r"The size of tensor a \(5\) must match the size of tensor b \(4\)",
        ),
        (
            lambda t: t(2, 3) @ t(3, 2).double(),
            RuntimeError,
            "expected m1 and m2 to have the same dtype, but got: float != double",
        ),
        (lambda t: wg.mm(t(2, 3, 3), t(3, 3)), RuntimeError, "self must be a matrix"),
        (lambda t: wg.mm(t(2, 3), 3), TypeError, r"mm\(\): argument 'mat2' \(position 2\) must be Tensor, not int"),
        (lambda t: t(2, 3) @ 3, TypeError, "unsupported operand type"),
        (lambda t: wg.dot(t(3, 2), t(3)), RuntimeError, "1D tensors expected, but got 2D and 1D tensors"),
        (lambda t: wg.bmm(t(2, 3), t(2, 3, 2)), RuntimeError, "batch1 must be a 3D tensor"),
        (lambda t: t(2, 2).bool() @ t(2, 2).bool(), NotImplementedError, "not implemented for 'Bool'"),
        (lambda t: wg.outer(t(2, 2), t(2)), RuntimeError, "outer: Expected 1-D argument self, but got 2-D"),
        (
            lambda t: F.linear(t(2, 3), t(5, 4)),
            RuntimeError,
            r"mat1 and mat2 shapes cannot be multiplied \(2x3 and 4x5\)",
        ),
        (lambda t: F.linear(t(2, 3), t(4, 3), t(5)), RuntimeError, "The expanded size of the tensor"),
        (lambda t: wg.addmm(t(3), t(2, 3), t(3, 2)), RuntimeError, "The expanded size of the tensor"),
        (
            lambda t: wg.einsum("ij,jk", t(2, 3), t(4, 5)),
            RuntimeError,
            "does not broadcast with previously seen size 3",
        ),
        (lambda t: wg.einsum("ij->ik", t(2, 3)), RuntimeError, "output subscript k does not appear in the equation"),
        (lambda t: wg.einsum("i$->i", t(2, 3)), RuntimeError, "invalid subscript given at index 1"),
        (lambda t: wg.tensordot(t(2, 3), t(4, 5), 1), RuntimeError, "contracted dimensions need to match"),
    ],
)
def test_refusals(call: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        call(wg.ones)


def test_out_takes_the_results_dtype_only() -> None:
    a = wg.ones(2, 2)
    out = wg.empty(2, 2)
    assert wg.mm(a, a, out=out) is out
    assert out.tolist() == [[2, 2], [2, 2]]
    with pytest.raises(RuntimeError, match="Expected out tensor to have dtype float, but got double instead"):
        wg.mm(a, a, out=wg.empty(2, 2, dtype=wg.float64))
    with pytest.raises(RuntimeError, match="don't support automatic differentiation"):
        wg.mm(leaf(np.ones((2, 2), np.float32)), a, out=out)


# ----------------------------------------------------------------------------------------------------- the linear layer
@pytest.mark.parametrize("lead", [(), (1,), (4,), (2, 3), (0,)])
@pytest.mark.parametrize("with_bias", [False, True])
def test_linear(lead: tuple[int, ...], with_bias: bool) -> None:
    x, w, b = draw(*lead, 3), draw(2, 3), draw(2)
    tensors = [leaf(a) for a in ((x, w, b) if with_bias else (x, w))]
    y = F.linear(*tensors)
    f = lambda x, w, b=None: x @ w.T + (0 if b is None else b)
    arrays = [array(t).copy() for t in tensors]
    np.testing.assert_allclose(array(y), f(*arrays))
    u = draw(*y.shape, seed=3)
    y.backward(wg.tensor(u))
    for t, want in zip(tensors, numeric(f, arrays, u), strict=True):
        np.testing.assert_allclose(array(t.grad), want, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("lead", ["x", "x[:1]", "x[:, ::2]", "x.transpose(0, 1)", "x[0].expand(2, 4, 5)", "x.mT @ x"])
def test_linear_of_a_tensor_that_is_not_contiguous_is_a_product_and_a_sum(torch: ModuleType, lead: str) -> None:
    said = []
    for t in (torch, wg):
        x, w, b = t.arange(60.0).view(3, 4, 5).sin(), t.arange(10.0).view(2, 5).cos().requires_grad_(), t.ones(2)
        y = t.nn.functional.linear(eval(lead, {"x": x}), w, b.requires_grad_())
        names, node = [], y.grad_fn
        while node is not None:
            names.append(node.name())
            node = node.next_functions[0][0] if node.next_functions else None
        y.pow(2).sum().backward()
        said.append((names, y.stride(), y.tolist(), w.grad.stride(), w.grad.tolist(), b.grad.tolist()))
    assert said[0][0] == said[1][0] and said[0][1] == said[1][1] and said[0][3] == said[1][3]
    for k in (2, 4, 5):
        np.testing.assert_allclose(said[0][k], said[1][k], rtol=1e-5, atol=1e-5)


def test_linear_is_one_node_and_saves_what_its_gradients_need() -> None:
    x, w, b = wg.ones(2, 3), leaf(np.ones((4, 3), np.float32)), leaf(np.ones(4, np.float32))
    y = F.linear(x, w, b)
    node = y.grad_fn
    assert node.name() == "AddmmBackward0"
    assert [f and f.name() for f, _ in node.next_functions] == [
        "torch::autograd::AccumulateGrad",
        None,
        "TBackward0",  # as in PyTorch: see tests/tape/test_unfused.py
    ]
    assert node._saved_mat1 is not None
    assert node._saved_mat2 is None  # the weight is kept only for the input's gradient, which is not wanted
    assert F.linear(x, w).grad_fn.name() == "MmBackward0"
    assert F.linear(wg.ones(5, 2, 3), w, b).grad_fn.name() == "ViewBackward0"
    w.data.mul_(3)
    y.sum().backward()
    np.testing.assert_array_equal(array(w.grad), np.full((4, 3), 2.0))


def test_writing_to_a_saved_factor_is_noticed() -> None:
    x, w = leaf(draw(2, 2)), leaf(draw(2, 2))
    z = x * 1
    y = z @ w
    z.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_second_backward_through_a_product_is_refused() -> None:
    y = (leaf(draw(2, 2)) @ leaf(draw(2, 2))).sum()
    y.backward()
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        y.backward()


# ----------------------------------------------------------------------------------------------------- sums of products
EQUATIONS = [
    ("ij,jk->ik", [(2, 3), (3, 4)]),
    ("ij,jk", [(2, 3), (3, 4)]),
    ("ij,jk->ki", [(2, 3), (3, 4)]),
    ("bij,bjk->bik", [(5, 2, 3), (5, 3, 4)]),
    ("ij,ij->", [(2, 3), (2, 3)]),
    ("ij->ji", [(2, 3)]),
    ("ii->i", [(3, 3)]),
    ("ii", [(3, 3)]),
    ("ij->", [(2, 3)]),
    ("i,j->ij", [(2,), (3,)]),
    ("...ij,...jk->...ik", [(5, 2, 3), (3, 4)]),
    ("i...,i...->...", [(2, 3), (2, 3)]),
    ("ij,jk,kl->il", [(2, 3), (3, 4), (4, 2)]),
    ("i,j,k,ij,jk->", [(2,), (3,), (4,), (2, 3), (3, 4)]),
    ("bhqd,bhkd->bhqk", [(2, 2, 3, 4), (2, 2, 5, 4)]),
    ("ijk,j->ik", [(2, 3, 4), (3,)]),
    ("ia,ib->iab", [(2, 3), (2, 4)]),
    ("iij,jk->ik", [(2, 2, 3), (3, 4)]),
    ("ij,ij->ij", [(2, 3), (2, 3)]),
    ("aB,Bc->ac", [(2, 3), (3, 4)]),
    (",->", [(), ()]),
    ("i j, j k -> i k", [(2, 3), (3, 4)]),
]


@pytest.mark.parametrize(("equation", "shapes"), EQUATIONS)
def test_einsum_is_numpys(equation: str, shapes: list[tuple[int, ...]]) -> None:
    arrays = [draw(*s, seed=k) for k, s in enumerate(shapes)]
    tensors = [leaf(a) for a in arrays]
    r = wg.einsum(equation, *tensors)
    f = lambda *a: np.einsum(equation.replace(" ", ""), *a)
    np.testing.assert_allclose(array(r), f(*arrays), rtol=1e-10)
    u = draw(*r.shape, seed=9)
    r.backward(wg.tensor(u))
    for t, want in zip(tensors, numeric(f, arrays, u), strict=True):
        np.testing.assert_allclose(array(t.grad), want, rtol=1e-5, atol=1e-7)


def test_einsum_broadcasts_dimensions_of_size_one() -> None:
    a, b = leaf(draw(1, 3)), leaf(draw(2, 3))
    r = wg.einsum("ij,ij->ij", a, b)
    np.testing.assert_allclose(array(r), array(a) * array(b))
    r.sum().backward()
    np.testing.assert_allclose(array(a.grad), array(b).sum(0, keepdims=True))


def test_einsum_with_numbered_dimensions_and_lists() -> None:
    a, b = wg.tensor(draw(2, 3)), wg.tensor(draw(3, 4))
    want = array(a) @ array(b)
    np.testing.assert_allclose(array(wg.einsum(a, [0, 1], b, [1, 2], [0, 2])), want)
    np.testing.assert_allclose(array(wg.einsum(a, [0, 1], b, [1, 2])), want)
    np.testing.assert_allclose(array(wg.einsum("ij,jk", [a, b])), want)
    np.testing.assert_allclose(array(wg.einsum(a, [..., 1], b, [1, 2], [..., 2])), want)


@pytest.mark.parametrize(
    "equation",
    ["ab,ca->cb", "ebcd,bnec->bnd", "bnd,bnec->ebcd", "ad,bda->dab", "acb,c->ab", "a,dceab->bdec", "b,adc->cdba",
     "ba,cb->ac", "aab,bc->cb", "abc,b->ca"],
)  # fmt: skip
def test_results_of_einsum_lie_as_pytorchs(torch: ModuleType, equation: str) -> None:
    """Programs call view on them."""
    sizes = dict(zip("abcden", range(2, 8), strict=True))
    shapes = [[sizes[label] for label in side] for side in equation.partition("->")[0].split(",")]
    ours, theirs = (lib.einsum(equation, *(lib.ones(s) for s in shapes)) for lib in (wg, torch))
    assert ours.stride() == theirs.stride() and ours.tolist() == theirs.tolist()


def test_a_bad_order_of_many_factors_is_not_taken() -> None:
    """Left to right this would make a tensor of 10**9 elements."""
    n = 1000
    v = wg.ones(n)
    assert wg.einsum("i,j,k,i,j,k->", v, v, v, v, v, v).item() == float(n) ** 3


def test_dtypes_of_tensordot_and_einsum() -> None:
    one, two = wg.ones(1, 1, 3, dtype=wg.int32), wg.ones(2, 1, 2, dtype=wg.int32)
    result = wg.tensordot(one, two, ((0, 1), (2, 0)))  # the dims of size 1 meet sums, which stay int32
    assert result.dtype is wg.int32
    assert result.tolist() == [[4], [4], [4]]
    with pytest.raises(NotImplementedError, match="\"dot\" not implemented for 'Bool'"):
        wg.tensordot(one[0, 0].bool(), one[0, 0].bool(), 1)
    b = wg.tensor([True, False])
    assert wg.einsum("i,j->ij", b, b).tolist() == [[True, False], [False, False]]  # nothing is added up
    with pytest.raises(NotImplementedError, match="\"bmm\" not implemented for 'Bool'"):
        wg.einsum("i,i->", b, b)


def test_multi_dot_and_kron_and_tensordot() -> None:
    a, b, c = draw(2, 30), draw(30, 4), draw(4, 5)
    np.testing.assert_allclose(array(wg.linalg.multi_dot([wg.tensor(x) for x in (a, b, c)])), a @ b @ c)
    np.testing.assert_allclose(
        array(wg.linalg.multi_dot([wg.tensor(x) for x in (a[0], b, c[:, 0])])), a[0] @ b @ c[:, 0]
    )
    np.testing.assert_allclose(array(wg.kron(wg.tensor(a), wg.tensor(b[:2]))), np.kron(a, b[:2]))
    x, y = draw(2, 3, 4), draw(4, 3, 5)
    np.testing.assert_allclose(
        array(wg.tensordot(wg.tensor(x), wg.tensor(y), ([2, 1], [0, 1]))), np.tensordot(x, y, ([2, 1], [0, 1]))
    )


# ---------------------------------------------------------------------------------------------------------- addmm & co.
def test_beta_zero_ignores_nan_in_the_input() -> None:
    a = wg.eye(2)
    r = wg.addmm(wg.full((2, 2), float("nan")), a, a, beta=0)
    assert r.tolist() == [[1, 0], [0, 1]]


def test_addmm_of_2017() -> None:
    m, a = wg.ones(2, 2), wg.eye(2)
    errors.warned.clear()
    with pytest.warns(UserWarning, match="This overload of addmm is deprecated"):
        r = wg.addmm(2, m, 3, a, a)
    assert r.tolist() == [[5, 2], [2, 5]]
    assert m.addmm(2, a, a).tolist() == [[3, 2], [2, 3]]  # of all overloads a process is told of the first alone
    assert wg.add(m, 2, m).tolist() == [[3, 3], [3, 3]]


def test_addmm_in_place_is_recorded() -> None:
    a, b = leaf(draw(2, 3)), leaf(draw(3, 2))
    c = leaf(draw(2, 2)) * 1
    c.addmm_(a, b, alpha=2)
    assert c.grad_fn.name() == "AddmmBackward0"
    c.sum().backward()
    np.testing.assert_allclose(array(a.grad), 2 * np.ones((2, 2)) @ array(b).T)


# ------------------------------------------------------------------------------------------------ beside PyTorch itself
PROGRAMS = {
    "matmul": lambda t, a, b: t.matmul(a[:2, :3], b[:3, :2]),
    "mm": lambda t, a, b: t.mm(a, b),
    "mv": lambda t, a, b: t.mv(a, b[0]),
    "dot": lambda t, a, b: t.dot(a[0], b[0]),
    "vdot": lambda t, a, b: t.vdot(a[0], b[0]),
    "inner": lambda t, a, b: t.inner(a, b),
    "outer": lambda t, a, b: t.outer(a[0], b[0]),
    "addmm": lambda t, a, b: t.addmm(a[0], a, b, beta=0.5, alpha=2),
    "addmv": lambda t, a, b: t.addmv(a[0], a, b[0], beta=0.5),
    "addr": lambda t, a, b: t.addr(a, a[0], b[0], alpha=3),
    "baddbmm": lambda t, a, b: t.baddbmm(a, a[None], b[None], alpha=3),
    "addbmm": lambda t, a, b: t.addbmm(a, a[None], b[None], beta=2),
    "linear 3-d": lambda t, a, b: t.nn.functional.linear(a[None], b, a[0]),
    "bilinear": lambda t, a, b: t.nn.functional.bilinear(a, b, a[None], b[0, :1]),
    "einsum": lambda t, a, b: t.einsum("ij,kj->ik", a, b),
    "kron": lambda t, a, b: t.kron(a[:2], b[:, :2]),
    "tensordot": lambda t, a, b: t.tensordot(a, b, 1),
    "vecdot": lambda t, a, b: t.linalg.vecdot(a, b),
}


@pytest.mark.parametrize("name", list(PROGRAMS))
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128"])
def test_as_in_torch(torch: ModuleType, name: str, dtype: str) -> None:
    program = PROGRAMS[name]
    if name == "bilinear" and dtype == "complex128":
        pytest.skip("PyTorch has no bilinear of complex numbers")
    arrays = [draw(4, 4, seed=k).astype(dtype) for k in range(2)]
    if dtype == "complex128":
        arrays = [a + 1j * draw(4, 4, seed=7 + k) for k, a in enumerate(arrays)]
    results = []
    for t in (torch, wg):
        a, b = (t.tensor(x, requires_grad=True) for x in arrays)
        r = program(t, a, b)
        u = t.tensor(
            (draw(*r.shape, seed=5) + (1j * draw(*r.shape, seed=6) if dtype == "complex128" else 0)).astype(dtype)
        )
        ga, gb = t.autograd.grad(r, [a, b], u, create_graph=True)
        # a complex loss is not differentiated: the second derivative is of its real part
        total = (ga * gb).sum()
        total = total.real if dtype == "complex128" else total
        ha, hb = t.autograd.grad(total, [a, b], allow_unused=True)
        results.append([x for x in (r, ga, gb, ha, hb) if x is not None])
    tolerance = 2e-4 if dtype == "float32" else 1e-9
    for want, got in zip(*results, strict=True):
        assert str(want.dtype) == str(got.dtype)
        np.testing.assert_allclose(
            array(got), want.detach().resolve_conj().numpy(), rtol=tolerance, atol=tolerance * 10
        )


def test_every_pair_of_ranks_has_pytorchs_shape_and_node(torch: ModuleType) -> None:
    for ra, rb in itertools.product(range(1, 5), repeat=2):
        a = (2, 3, 4, 5)[4 - ra :]
        b = (2, 3, 5, 6)[4 - rb :] if rb > 1 else (5,)
        names = []
        for t in (torch, wg):
            r = t.matmul(t.ones(*a, requires_grad=True), t.ones(*b, requires_grad=True))
            names.append((tuple(r.shape), r.grad_fn.name()))
        if names[0][1] not in (
            "CloneBackward0",
            "TransposeBackward0",
        ):  # PyTorch folds the left batch behind a transpose
            assert names[0] == names[1], (a, b)
        assert names[0][0] == names[1][0]


def test_chain_matmul_warns() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        r = wg.chain_matmul(wg.ones(2, 3), wg.ones(3, 4))
    assert r.shape == (2, 4)
    assert "chain_matmul is deprecated" in str(caught[0].message)


@pytest.mark.parametrize("shapes", [((2, 3), (3, 4)), ((190, 180), (180, 7)), ((4, 3), (3, 9000))])
def test_a_large_product_says_as_little_as_a_small_one(shapes: Any) -> None:
    """NumPy's ``matmul``, which large ones go through, warns of infinity times zero; its ``dot`` does not."""
    x, y = (wg.full(shape, value, requires_grad=True) for shape, value in zip(shapes, (float("inf"), 0.0), strict=True))
    z = x @ y
    assert z.isnan().all()
    z.backward(wg.zeros_like(z))
    assert not x.grad.any()
    assert y.grad.isnan().all()
    assert wg.nn.functional.linear(x, y.t()).isnan().all()
    with pytest.raises(RuntimeError, match="cannot be multiplied"):
        x @ wg.zeros(shapes[0])


@pytest.mark.parametrize("rows", [1, 2, 64, 65])
def test_rows_times_many_weights(rows: int) -> None:
    x, w, b = draw(rows, 300), draw(200, 300, seed=1), draw(200, seed=2)
    for weight in (w, np.asfortranarray(w)):
        y = F.linear(wg.tensor(x), wg.from_numpy(weight), wg.tensor(b))
        assert y.is_contiguous()
        np.testing.assert_allclose(y.numpy(), x @ w.T + b, rtol=1e-12, atol=1e-12)
