"""Every distribution, transform, constraint and divergence beside PyTorch's: draws from the same seed, values,
gradients, texts, errors.

Draws are equal to the bit where they are only drawn and scaled. Where a logarithm, an exponential or a cosine of
NumPy's stands between, which may differ in the last place from PyTorch's, they are compared as values are.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from itertools import product
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from distribution_cases import CASES, DIVERGENCES, ERRORS, TRANSFORMS, build, made

import wengert

DTYPES = ("float32", "float64")
# drawn from the stream and at most scaled and moved (not multiplied by a matrix, which each BLAS does in its own order)
EXACT = (
    "Bernoulli", "Beta", "Binomial", "Categorical", "Cauchy", "Chi2", "Dirichlet", "Exponential", "FisherSnedecor",
    "Gamma", "Geometric", "HalfCauchy", "HalfNormal", "Independent", "MixtureSameFamily", "Multinomial",
    "NegativeBinomial", "Normal", "OneHot", "Poisson", "StudentT", "Uniform",
)  # fmt: skip
# (the case begins with, what is asked for) where PyTorch 2.13 has an error or nan by mistake, and here is a result
BETTER = {
    ("GeneralizedPareto", "log_prob"),  # float64: "Double did not match Float"
    ("GeneralizedPareto", "cdf"),
    ("Kumaraswamy", "mode"),  # always nan
    ("Multinomial", "entropy"),  # of an expanded one: no attribute '_binomial'
    ("Wishart precision", "mean"),  # df a number and the matrix a batch
    ("Wishart precision", "mode"),
    ("Wishart precision", "variance"),
    ("Wishart precision", "stddev"),
    ("Wishart", "gradient of rsample"),  # a mask that was overwritten
}


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    """PyTorch's warnings: of a Wishart draw that it takes for singular, of its own deprecated names."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def outcome(function: Callable[[], Any]) -> tuple[Any, Exception | None]:
    try:
        return function(), None
    except Exception as error:  # noqa: BLE001  which one it is is compared
        return None, error


def text(value: Any) -> str:
    return str(value).replace("wengert", "torch")


def better(name: str, what: str) -> bool:
    return any(name.startswith(start) and what == asked for start, asked in BETTER)


def arrays_agree(ours: np.ndarray, theirs: np.ndarray, what: str, scale: float = 1.0) -> None:
    assert ours.shape == theirs.shape, what
    assert ours.dtype == theirs.dtype, what
    rtol, atol = (2e-5, 2e-5) if theirs.dtype == np.float32 else (1e-8, 1e-9)
    np.testing.assert_allclose(ours, theirs, rtol * scale, atol * scale, err_msg=what)


def agree(name: str, what: str, ours: Callable[[], Any], theirs: Callable[[], Any]) -> tuple[Any, Any] | None:
    """Compare two results, or two errors; give the results back if there are any."""
    a, a_error = outcome(ours)
    b, b_error = outcome(theirs)
    if a_error is None and better(name, what) and (b_error is not None or bool(b.isnan().any())):
        return None
    assert type(a_error).__name__ == type(b_error).__name__, (what, a_error, b_error)
    if b_error is not None:
        assert text(a_error)[:80] == text(b_error)[:80]
        return None
    if hasattr(b, "detach"):
        arrays_agree(a.detach().numpy(), b.detach().numpy(), what)
        assert a.requires_grad == b.requires_grad, what
    else:
        assert text(a) == text(b), what
    return a, b


def gradients_agree(name: str, what: str, pair: Any, leaves: Any, torch: ModuleType) -> None:
    if pair is None or not pair[1].requires_grad:
        return
    weights = np.random.default_rng(0).standard_normal(pair[1].shape)
    grads = []
    for lib, result, inputs in zip((wengert, torch), pair, leaves, strict=True):
        total = (result * lib.tensor(weights, dtype=result.dtype)).nansum()
        grads.append(outcome(lambda: lib.autograd.grad(total, inputs, retain_graph=True, allow_unused=True)))  # noqa: B023
    (ours, our_error), (theirs, their_error) = grads
    if their_error is not None and our_error is None:
        assert better(name, f"gradient of {what}"), (what, their_error)
        return
    assert text(our_error) == text(their_error), what
    if their_error is not None:
        return
    for k, (a, b) in enumerate(zip(ours, theirs, strict=True)):
        assert (a is None) == (b is None), (what, k)
        if a is not None:
            x, y = a.numpy(), b.numpy()
            if name.startswith("Wishart"):  # PyTorch's cholesky_solve has a gradient above the factor's diagonal
                x, y = (np.tril(m) if m.ndim > 1 else m for m in (x, y))
            largest = max(1.0, float(np.abs(y[np.isfinite(y)]).max(initial=0)))
            arrays_agree(x, y, f"gradient of {what}", 3 * largest)


def both(name: str, dtype: str, torch: ModuleType) -> tuple[Any, Any, tuple[list[Any], list[Any]]]:
    ours, our_leaves = build(name, wengert, dtype)
    theirs, their_leaves = build(name, torch, dtype)
    return ours, theirs, (our_leaves, their_leaves)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", CASES)
def test_properties(name: str, dtype: str, torch: ModuleType) -> None:
    ours, theirs, leaves = both(name, dtype, torch)
    for attribute in (
        "batch_shape",
        "event_shape",
        "has_rsample",
        "has_enumerate_support",
        "support",
        "arg_constraints",
    ):
        agree(name, attribute, lambda: getattr(ours, attribute), lambda: getattr(theirs, attribute))  # noqa: B023
    agree(name, "repr", lambda: repr(ours), lambda: repr(theirs))
    for attribute in ("mean", "mode", "variance", "stddev"):
        pair = agree(name, attribute, lambda: getattr(ours, attribute), lambda: getattr(theirs, attribute))  # noqa: B023
        gradients_agree(name, attribute, pair, leaves, torch)
    for method in ("entropy", "perplexity"):
        pair = agree(name, method, lambda: getattr(ours, method)(), lambda: getattr(theirs, method)())  # noqa: B023
        if method == "entropy":
            gradients_agree(name, method, pair, leaves, torch)
    for expand in (True, False):
        agree(name, "support", lambda: ours.enumerate_support(expand), lambda: theirs.enumerate_support(expand))  # noqa: B023


def seeded(lib: ModuleType, function: Callable[[], Any]) -> Any:
    lib.manual_seed(1)
    return function()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", CASES)
def test_draws_and_what_is_computed_of_them(name: str, dtype: str, torch: ModuleType) -> None:
    ours, theirs, leaves = both(name, dtype, torch)
    for shape in ((), (3,), (2, 9)):
        a, b = (seeded(lib, lambda: d.sample(shape)) for lib, d in ((wengert, ours), (torch, theirs)))  # noqa: B023
        assert wengert.rand(1).item() == torch.rand(1).item()  # as much of the stream was spent
        draws = b.numpy()
        if name.startswith(EXACT):
            np.testing.assert_array_equal(a.numpy(), draws)
        else:
            arrays_agree(a.numpy(), draws, "sample", 10)
        for method in ("log_prob", "cdf"):
            pair = agree(
                name, method,
                lambda: getattr(ours, method)(wengert.tensor(draws)),  # noqa: B023
                lambda: getattr(theirs, method)(torch.tensor(draws)),  # noqa: B023
            )  # fmt: skip
            gradients_agree(name, method, pair, leaves, torch)
    levels = np.linspace(0.1, 0.9, 5, dtype=dtype).reshape(-1, *(1,) * len(theirs.batch_shape))
    pair = agree(name, "icdf", lambda: ours.icdf(wengert.tensor(levels)), lambda: theirs.icdf(torch.tensor(levels)))
    gradients_agree(name, "icdf", pair, leaves, torch)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", CASES)
def test_differentiable_draws(name: str, dtype: str, torch: ModuleType) -> None:
    ours, theirs, leaves = both(name, dtype, torch)
    for shape in ((), (4,)):
        pair = agree(
            name, "rsample",
            lambda: seeded(wengert, lambda: ours.rsample(shape)),  # noqa: B023
            lambda: seeded(torch, lambda: theirs.rsample(shape)),  # noqa: B023
        )  # fmt: skip
        gradients_agree(name, "rsample", pair, leaves, torch)


@pytest.mark.parametrize("name", CASES)
def test_expanded(name: str, torch: ModuleType) -> None:
    ours, theirs, leaves = both(name, "float64", torch)
    batch = (2, *theirs.batch_shape)
    ours, theirs = ours.expand(batch), theirs.expand(batch)
    assert (ours.batch_shape, ours.event_shape) == (tuple(theirs.batch_shape), tuple(theirs.event_shape))
    agree(name, "repr", lambda: repr(ours), lambda: repr(theirs))
    draws = agree(
        name, "sample",
        lambda: seeded(wengert, lambda: ours.sample((2,))), lambda: seeded(torch, lambda: theirs.sample((2,))),
    )  # fmt: skip
    assert draws is not None
    value = draws[1].numpy()
    pair = agree(
        name, "log_prob", lambda: ours.log_prob(wengert.tensor(value)), lambda: theirs.log_prob(torch.tensor(value))
    )
    gradients_agree(name, "log_prob", pair, leaves, torch)
    for attribute in ("mean", "mode", "variance"):
        agree(name, attribute, lambda: getattr(ours, attribute), lambda: getattr(theirs, attribute))  # noqa: B023
    agree(name, "entropy", lambda: ours.entropy(), lambda: theirs.entropy())


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("first", DIVERGENCES)
def test_divergences(first: str, dtype: str, torch: ModuleType) -> None:
    """Of every class from every other, registered or not."""
    found = 0
    for make, (second, others) in product(DIVERGENCES[first], DIVERGENCES.items()):
        for other in others:
            results, leaves, errors = [], [], []
            for lib in (wengert, torch):
                (p, p_leaves), (q, q_leaves) = made(make, lib, dtype), made(other, lib, dtype)
                result, error = outcome(lambda: lib.distributions.kl_divergence(p, q))  # noqa: B023
                results.append(result)
                errors.append(type(error).__name__)
                leaves.append(p_leaves + q_leaves)
            assert errors[0] == errors[1], (first, second)
            if results[1] is None:
                continue
            found += 1
            ours, theirs = (r.detach().numpy() for r in results)
            arrays_agree(ours, theirs, f"{first}, {second}", 5)
            finite = np.isfinite(theirs)
            if results[1].requires_grad and finite.any():
                kept = [lib.where(lib.tensor(finite), r, 0.0) for lib, r in zip((wengert, torch), results, strict=True)]
                gradients_agree(first, f"kl {first}, {second}", kept, leaves, torch)
    assert found or first == "StudentT"


@pytest.mark.parametrize("dtype", DTYPES)
def test_derivatives_of_gamma_and_beta_draws(dtype: str, torch: ModuleType) -> None:
    """In every region that has an approximation of its own."""
    rng = np.random.default_rng(0)
    shape = np.exp(rng.uniform(-5, 6, 5000)).astype(dtype)
    draw = (shape * np.exp(rng.standard_normal(5000) * np.minimum(3, 2 / np.sqrt(shape)))).astype(dtype)
    ours, theirs = (lib._standard_gamma_grad(lib.tensor(shape), lib.tensor(draw)).numpy() for lib in (wengert, torch))
    np.testing.assert_allclose(ours, theirs, rtol=1e-6 if dtype == "float32" else 1e-11)
    a, b = np.exp(rng.uniform(-3, 5, (2, 5000))).astype(dtype)
    x = np.clip(rng.beta(a, b), 0.001, 0.999).astype(dtype)
    ours, theirs = (
        lib._dirichlet_grad(lib.tensor(x), lib.tensor(a), lib.tensor(a + b)).numpy() for lib in (wengert, torch)
    )
    np.testing.assert_allclose(ours, theirs, rtol=2e-3 if dtype == "float32" else 1e-9)
    assert np.median(np.abs(ours - theirs) / theirs) < (1e-7 if dtype == "float32" else 1e-14)


def test_refusals_of_gamma_and_dirichlet_draws(torch: ModuleType) -> None:
    one = {"float32": [1.0], "float64": [1.0], "int64": [1], "float16": [1.0]}
    for call in (
        lambda lib, t: lib._standard_gamma(t["int64"]),
        lambda lib, t: lib._standard_gamma(t["float16"]),
        lambda lib, t: lib._standard_gamma(2.0),
        lambda lib, t: lib._sample_dirichlet(t["int64"]),
        lambda lib, t: lib._dirichlet_grad(t["float32"], t["float32"], t["float64"]),
    ):
        found = []
        for lib in (wengert, torch):
            tensors = {name: lib.tensor(value, dtype=getattr(lib, name)) for name, value in one.items()}
            _, error = outcome(lambda: call(lib, tensors))  # noqa: B023
            found.append((type(error).__name__, str(error)))
        assert found[0] == found[1]


def test_the_same_divergences_are_registered(torch: ModuleType) -> None:
    pairs = [{(p.__name__, q.__name__) for p, q in lib.distributions.kl._KL_REGISTRY} for lib in (wengert, torch)]
    assert pairs[0] == pairs[1]
    assert len(pairs[0]) == 87


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", TRANSFORMS)
def test_transforms(name: str, dtype: str, torch: ModuleType) -> None:
    make, shape = TRANSFORMS[name]
    x = np.random.default_rng(0).standard_normal(shape).astype(dtype)
    x = np.abs(x) if name.endswith("positive") else x
    (ours, _), (theirs, _) = made(make, wengert, dtype), made(make, torch, dtype)
    a, b = wengert.tensor(x, requires_grad=True), torch.tensor(x, requires_grad=True)
    y = agree(name, "call", lambda: ours(a), lambda: theirs(b))
    assert y is not None
    back = agree(name, "inv", lambda: ours.inv(y[0]), lambda: theirs.inv(y[1]))
    jacobian = agree(
        name, "jacobian",
        lambda: ours.log_abs_det_jacobian(a, y[0]), lambda: theirs.log_abs_det_jacobian(b, y[1]),
    )  # fmt: skip
    for pair in (y, back, jacobian):
        gradients_agree(name, "transform", pair, ([a], [b]), torch)
    for attribute in ("sign", "bijective", "event_dim", "domain", "codomain", "inv"):
        agree(name, attribute, lambda: repr(getattr(ours, attribute)), lambda: repr(getattr(theirs, attribute)))  # noqa: B023
    agree(name, "repr", lambda: repr(ours), lambda: repr(theirs))
    agree(name, "cache", lambda: repr(ours.with_cache()), lambda: repr(theirs.with_cache()))
    shapes = (5, *x.shape), (5, *y[1].shape)
    agree(
        name,
        "forward_shape",
        lambda: tuple(ours.forward_shape(shapes[0])),
        lambda: tuple(theirs.forward_shape(shapes[0])),
    )
    agree(
        name,
        "inverse_shape",
        lambda: tuple(ours.inverse_shape(shapes[1])),
        lambda: tuple(theirs.inverse_shape(shapes[1])),
    )


def constraints_of(lib: ModuleType) -> dict[str, Any]:
    c = lib.distributions.constraints
    plain = (
        "boolean", "one_hot", "nonnegative_integer", "positive_integer", "real", "real_vector", "positive",
        "nonnegative", "simplex", "lower_triangular", "lower_cholesky", "corr_cholesky", "square", "symmetric",
        "positive_semidefinite", "positive_definite", "unit_interval", "dependent",
    )  # fmt: skip
    return {
        **{name: getattr(c, name) for name in plain},
        "greater_than": c.greater_than(0.5),
        "greater_than_eq": c.greater_than_eq(0.5),
        "less_than": c.less_than(0.5),
        "interval": c.interval(-0.5, 0.5),
        "half_open_interval": c.half_open_interval(-1.0, 1.0),
        "integer_interval": c.integer_interval(-1, 1),
        "_IntegerLessThan": c._IntegerLessThan(1),
        "multinomial": c.multinomial(3),
        "independent": c.independent(c.positive, 1),
        "cat": c.cat([c.positive, c.real], -1, [1, 2]),
        "stack": c.stack([c.positive, c.real, c.boolean], -1),
        "mixture": c.MixtureSameFamilyConstraint(c.positive),
    }


VALUES = [
    1.0, np.nan, [0.0, 1.0, -1.0], [0.2, 0.3, 0.5], [0.0, 1.0, 0.0], [1.0, 1.0, 2.0],
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]], [[1.0, 0.0, 0.0], [0.6, 0.8, 0.0], [0.0, 0.0, 1.0]],
    [[2.0, 0.5, 0.1], [0.5, 2.0, 0.1], [0.1, 0.1, 1.0]], [[1.0, 2.0, 0.0], [2.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
    [[1.0, 2.0, 3.0], [2.0, 3.0, 4.0]],
]  # fmt: skip


def test_constraints(torch: ModuleType) -> None:
    theirs = constraints_of(torch)
    for name, ours in constraints_of(wengert).items():
        assert repr(ours) == repr(theirs[name])
        for attribute in ("is_discrete", "event_dim"):
            agree(name, attribute, lambda: getattr(ours, attribute), lambda: getattr(theirs[name], attribute))  # noqa: B023
        for value in VALUES:
            a, a_error = outcome(lambda: ours.check(wengert.tensor(value)))  # noqa: B023
            b, b_error = outcome(lambda: theirs[name].check(torch.tensor(value)))  # noqa: B023
            assert (a_error is None) == (b_error is None), (name, value)
            assert b_error is not None or a.tolist() == b.tolist(), (name, value)
        for registry in ("biject_to", "transform_to"):
            agree(
                name, registry,
                lambda: repr(getattr(wengert.distributions, registry)(ours)),  # noqa: B023
                lambda: repr(getattr(torch.distributions, registry)(theirs[name])),  # noqa: B023
            )  # fmt: skip


@pytest.mark.parametrize("number", range(len(ERRORS)))
def test_errors(number: int, torch: ModuleType) -> None:
    found = []
    for lib in (wengert, torch):
        result, error = outcome(lambda: ERRORS[number](lib))  # noqa: B023
        found.append((type(error).__name__, " ".join(text(error).split()), text(repr(result))))
    assert found[0] == found[1]


def test_the_same_names(torch: ModuleType) -> None:
    """In the package and in its modules."""
    import importlib
    import pkgutil

    assert set(wengert.distributions.__all__) == set(torch.distributions.__all__)
    for module in pkgutil.iter_modules(torch.distributions.__path__):
        ours = importlib.import_module(f"wengert.distributions.{module.name}")
        theirs = importlib.import_module(f"torch.distributions.{module.name}")
        assert [n for n in theirs.__all__ if not hasattr(ours, n)] == [], module.name
