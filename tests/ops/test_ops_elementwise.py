"""The elementwise operators: values and gradients at special points, in-place and ``out=`` forms, Python operators,
refusals; and, where torch is installed, the same expressions on both."""

from __future__ import annotations

import contextlib
import math
import warnings
from typing import Any

import numpy as np
import pytest

import wengert as W
from wengert._base import errors, modes
from wengert._base.registry import PUBLIC, TENSORS

F = type("F", (), {name: staticmethod(fn) for name, fn in PUBLIC["nn.functional"].items()})
special = type("special", (), {name: staticmethod(fn) for name, fn in PUBLIC["special"].items()})
INF, NAN = float("inf"), float("nan")


def leaf(*values: Any, dtype: Any = None) -> Any:
    data = values[0] if len(values) == 1 and isinstance(values[0], list) else list(values)
    return W.tensor(data, dtype=dtype or W.float64, requires_grad=True)


def gradient(fn: Any, *leaves: Any) -> list[np.ndarray]:
    out = fn(*leaves)
    return [np.asarray(g._payload) for g in W.autograd.grad(out.sum(), leaves)]


def values(t: Any) -> list[Any]:
    return np.asarray(t._payload).tolist()


# ----------------------------------------------------------------------------------------------------- Python operators
def test_operators_of_tensors_and_numbers() -> None:
    x = W.tensor([1.0, -3.0])
    assert values(x + 1) == values(1 + x) == [2.0, -2.0]
    assert values(x - 1) == [0.0, -4.0] and values(1 - x) == [0.0, 4.0]
    assert values(x * 2) == values(2 * x) == [2.0, -6.0]
    assert values(x / 2) == [0.5, -1.5] and values(6 / x) == [6.0, -2.0]
    assert values(x // 2) == [0.0, -2.0] and values(7 // x) == [7.0, -3.0]
    assert values(x % 2) == [1.0, 1.0] and values(7 % x) == [0.0, -2.0]
    assert values(x**2) == [1.0, 9.0] and values(2**x) == [2.0, 0.125]
    assert values(-x) == [-1.0, 3.0] and values(abs(x)) == [1.0, 3.0] and +x is x


def test_operators_of_integers_and_bools() -> None:
    i, b = W.tensor([1, 6]), W.tensor([True, False])
    assert values(i & 3) == values(3 & i) == [1, 2]
    assert values(i | 1) == values(1 | i) == [1, 7]
    assert values(i ^ 1) == values(1 ^ i) == [0, 7]
    assert values(i << 2) == [4, 24] and values(1 << i) == [2, 64] and values(i >> 1) == [0, 3]
    assert values(~i) == [-2, -7] and values(~b) == [False, True]
    assert values(b & True) == [True, False] and values(b | b) == [True, False]
    assert (b & 1).dtype is W.int64 and (i / 2).dtype is W.float32 and (i * 1.5).dtype is W.float32


def test_an_unknown_operand_gets_its_own_chance() -> None:
    class Other:
        def __radd__(self, other: Any) -> str:
            return "radd"

        def __lt__(self, other: Any) -> str:
            return "lt"

        def __eq__(self, other: object) -> Any:
            return "eq"

        __hash__ = None

    x = W.tensor([1.0])
    assert x + Other() == "radd"
    assert (x > Other()) == "lt"
    assert (x == Other()) == "eq"
    assert (x == "text") is False and (x != None) is True  # noqa: E711
    for operator in ("+", "-", "/", "//", "**", "&", "<"):
        with pytest.raises(TypeError, match=r"not supported|unsupported operand"):
            eval(f"x {operator} 'text'", {"x": x})
    with pytest.raises(TypeError, match=r"unsupported operand type\(s\) for \+=: 'Tensor' and 'str'"):
        x += "text"


def test_numpy_numbers_and_arrays_as_operands() -> None:
    x = W.tensor([1.0, 2.0])
    for result in (x * np.float64(2), np.float64(2) * x, x * np.array([2.0, 2.0]), np.array([2.0, 2.0]) * x):
        assert isinstance(result, W.Tensor) and values(result) == [2.0, 4.0]
    assert (x * np.float64(2)).dtype is W.float32


def test_tensors_hash_by_identity() -> None:
    x, y = W.tensor([1.0]), W.tensor([1.0])
    assert len({x, y}) == 2 and {x: 1}[x] == 1


def test_comparisons() -> None:
    x, y = W.tensor([1.0, 2.0, NAN]), W.tensor([2.0, 2.0, NAN])
    assert values(x == y) == [False, True, False] and values(x != y) == [True, False, True]
    assert values(x < y) == [True, False, False] and values(x <= y) == [True, True, False]
    assert values(x > 1) == [False, True, False] and values(x >= 1) == [True, True, False]
    assert (x < y).dtype is W.bool and not (leaf(1.0) < 2).requires_grad


def test_integers_wrap_around() -> None:
    u = W.tensor([255, 1], dtype=W.uint8)
    assert values(u + 300) == [43, 45] and values(u * -1) == [1, 255] and values(u - 1) == [254, 0]
    assert values(u == -1) == [True, False] and values(u < -1) == [False, True]
    assert values(W.tensor([1, 2]) + 2**40) == [1 + 2**40, 2 + 2**40]


# ------------------------------------------------------------------------------------------------------------- refusals
REFUSED = [
    ("b - b", RuntimeError, "Subtraction, the `-` operator, with two bool tensors is not supported"),
    ("b - 1", RuntimeError, "Subtraction, the `-` operator, with a bool tensor is not supported"),
    ("1 - b", RuntimeError, "Subtraction, the `-` operator, with a bool tensor is not supported"),
    ("b - x", RuntimeError, "Subtraction, the `-` operator, with a bool tensor is not supported"),
    ("-b", RuntimeError, "Negation, the `-` operator, on a bool tensor is not supported"),
    ("+b", RuntimeError, r"The `\+` operator, on a bool tensor is not supported"),
    ("~x", TypeError, r"~ \(operator.invert\) is only implemented on integer and Boolean-type tensors"),
    ("x & i", NotImplementedError, "\"bitwise_and_cpu\" not implemented for 'Float'"),
    ("x << 1", NotImplementedError, "\"lshift_cpu\" not implemented for 'Float'"),
    ("b >> b", NotImplementedError, "\"rshift_cpu\" not implemented for 'Bool'"),
    ("c < c", NotImplementedError, "\"lt_cpu\" not implemented for 'ComplexFloat'"),
    ("x < 1j", NotImplementedError, "\"lt_cpu\" not implemented for 'ComplexFloat'"),
    ("i // 0", RuntimeError, "ZeroDivisionError"),
    ("i % W.tensor(0)", RuntimeError, "ZeroDivisionError"),
    ("i ** -1", RuntimeError, "Integers to negative integer powers are not allowed"),
    ("b ** b", NotImplementedError, "\"pow\" not implemented for 'Bool'"),
    ("W.pow(2, 3)", TypeError, r"pow\(\) received an invalid combination of arguments - got \(int, int\)"),
    ("W.eq(x, None)", TypeError, r"eq\(\) received an invalid combination of arguments - got \(Tensor, NoneType\)"),
    ("W.add('a', x)", TypeError, r"add\(\): argument 'input' \(position 1\) must be Tensor, not str"),
    ("W.add(x, 'a')", TypeError, r"add\(\): argument 'other' \(position 2\) must be Tensor, not str"),
    ("W.add(x, y, alpha='a')", TypeError, r"add\(\): argument 'alpha' must be Number, not str"),
    ("W.add(x, x, 3)", TypeError, r"add\(\) takes 2 positional arguments but 3 were given"),
    ("W.add(i, i, alpha=2.5)", RuntimeError, "For integral input tensors, argument alpha must not be a floating"),
    ("W.add(i, i, alpha=True)", RuntimeError, "Boolean alpha only supported for Boolean results"),
    ("W.div(x, y, rounding_mode='up')", RuntimeError, "div expected rounding_mode to be one of None, 'trunc', or"),
    ("W.maximum(x, 2)", TypeError, r"maximum\(\): argument 'other' \(position 2\) must be Tensor, not int"),
    ("W.maximum(c, c)", RuntimeError, "maximum not implemented for complex tensors"),
    ("W.sign(c)", NotImplementedError, "Unlike NumPy, torch.sign is not intended to support complex numbers"),
    ("W.floor(c)", NotImplementedError, "floor is not supported for complex inputs"),
    ("W.floor(b)", NotImplementedError, "\"floor_vml_cpu\" not implemented for 'Bool'"),
    ("abs(b)", NotImplementedError, "\"abs_cpu\" not implemented for 'Bool'"),
    ("W.frac(i)", NotImplementedError, "\"frac_cpu\" not implemented for 'Long'"),
    ("W.erf(c)", NotImplementedError, "\"erf_vml_cpu\" not implemented for 'ComplexFloat'"),
    ("W.clamp(x)", RuntimeError, r"torch\.clamp: At least one of 'min' or 'max' must not be None"),
    ("W.clamp(x, x, 3)", TypeError, r"clamp\(\) received an invalid combination of arguments"),
    ("W.clamp(c, 0, 1)", NotImplementedError, "clamp is not supported for complex types"),
    ("W.where(x, x, y)", RuntimeError, "where expected condition to be a boolean tensor, but got a tensor with dtype"),
    ("W.where(b, x)", TypeError, r"where\(\) received an invalid combination of arguments - got \(Tensor, Tensor\)"),
    ("W.isclose(x, i)", RuntimeError, "Float did not match Long"),
    ("W.lerp(x, d, 0.5)", RuntimeError, "expected dtype float for `end` but got dtype double"),
    ("W.lerp(i, i, 0.5)", NotImplementedError, "\"lerp_kernel_scalar\" not implemented for 'Long'"),
    ("W.addcdiv(x, i, i)", RuntimeError, "Integer division with addcdiv is no longer supported"),
    ("W.heaviside(i, x)", RuntimeError, "heaviside is not yet implemented for tensors with different dtypes"),
    ("W.imag(x)", RuntimeError, "imag is not implemented for tensors with non-complex dtypes"),
    ("W.complex(x, d)", RuntimeError, "Expected object of scalar type Float but got scalar type Double"),
    ("W.view_as_complex(x[:1])", RuntimeError, "Tensor must have a last dimension of size 2"),
    ("W.view_as_real(x)", RuntimeError, "view_as_real is only supported for complex tensors"),
    ("W.polygamma(-1, x)", RuntimeError, r"polygamma\(n, x\) does not support negative n"),
    ("W.mvlgamma(x, 0)", RuntimeError, "p has to be greater than or equal to 1"),
    ("W.relu(b)", RuntimeError, "Boolean inputs not supported for relu"),
    ("F.gelu(x, approximate='no')", RuntimeError, "approximate argument must be either none or tanh"),
    ("F.glu(x[:1])", RuntimeError, "Halving dimension must be even, but dimension 0 is size 1"),
    ("F.prelu(x, W.tensor([1., 2., 3.]))", RuntimeError, "Mismatch of parameter numbers and input channel size"),
    ("F.elu(i)", NotImplementedError, "\"elu_cpu\" not implemented for 'Long'"),
    ("x + W.ones(3)", RuntimeError, r"The size of tensor a \(2\) must match the size of tensor b \(3\)"),
]


def operands() -> dict[str, Any]:
    return {
        "W": W,
        "F": F,
        "x": W.tensor([1.0, 2.0]),
        "y": W.tensor([3.0, 4.0]),
        "i": W.tensor([1, 2]),
        "b": W.tensor([True, False]),
        "c": W.tensor([1 + 1j, 2.0]),
        "d": W.tensor([1.0, 2.0], dtype=W.float64),
    }


@pytest.mark.parametrize(("expression", "error", "text"), REFUSED, ids=[r[0] for r in REFUSED])
def test_refused(expression: str, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        eval(expression, operands())


# ------------------------------------------------------------------------------------------------------------- in place
@pytest.mark.parametrize("name", ["add_", "sub_", "mul_", "div_", "__iadd__", "__isub__", "__imul__", "__itruediv__"])
def test_plain_tensors_are_written_in_their_own_memory(name: str) -> None:
    a = W.tensor([1.0, 2.0, 4.0])
    memory, view = a._payload, a[1:]
    expected = {"a": a._payload + 2, "s": a._payload - 2, "m": a._payload * 2, "d": a._payload / 2}[
        name.strip("_").lstrip("i")[0].replace("t", "d")
    ]
    assert getattr(a, name)(W.tensor([2.0, 2.0, 2.0])) is a
    assert a._payload is memory and values(a) == expected.tolist() and values(view) == expected[1:].tolist()
    assert a._version == view._version == 1
    getattr(a, name)(2)
    assert a._version == 2 and a.dtype is W.float32


def test_alpha_scales_a_number_that_is_added_to_a_number() -> None:
    assert W.add(5, 2, alpha=2).item() == 9
    assert W.sub(5, 2, alpha=2).item() == 1
    assert W.add(5, 2.5, alpha=2).dtype is W.float32
    with pytest.raises(RuntimeError, match="For integral input tensors, argument alpha must not be a floating point"):
        W.add(5, 2, alpha=2.5)


def test_in_place_with_alpha_and_in_the_old_order() -> None:
    a = W.tensor([1.0, 2.0])
    a.sub_(W.tensor([1.0, 1.0]), alpha=0.5)
    a.add_(W.tensor([1.0, 1.0]), alpha=2)
    assert values(a) == [2.5, 3.5] and a._version == 2
    errors.warned.clear()
    with pytest.warns(UserWarning, match="This overload of add is deprecated"):
        a.add_(2, W.tensor([1.0, 1.0]))
    assert values(a) == [4.5, 5.5]


def test_in_place_refusals_write_nothing() -> None:
    a = W.tensor([[1.0], [2.0]])
    with pytest.raises(RuntimeError, match=r"output with shape \[2, 1\] doesn't match the broadcast shape \[2, 3\]"):
        a += W.ones(3)
    i = W.tensor([1, 2])
    with pytest.raises(RuntimeError, match="result type Float can't be cast to the desired output type Long"):
        i += 0.5
    with pytest.raises(RuntimeError, match="result type Float can't be cast to the desired output type Long"):
        i.div_(2)
    w = leaf(1.0, 2.0)
    for write in (lambda: w.add_(1), lambda: w.mul_(w), lambda: w[0].sub_(1), lambda: w.exp_(), lambda: w.clamp_(0)):
        with pytest.raises(RuntimeError, match="leaf Variable that requires grad is being used in an in-place"):
            write()
    assert values(a) == [[1.0], [2.0]] and values(i) == [1, 2] and values(w) == [1.0, 2.0]
    assert a._version == i._version == w._version == 0


def test_in_place_on_integers_and_read_only_memory() -> None:
    i = W.tensor([1, 2])
    i += 1
    i *= W.tensor([2, 2])
    assert values(i) == [4, 6] and i._version == 2
    frozen = np.ones(2, np.float32)
    frozen.flags.writeable = False
    from wengert._tape.tensor import wrap

    with pytest.raises(RuntimeError, match="read-only"):
        wrap(frozen).add_(1)


def test_in_place_where_warnings_are_errors() -> None:
    zeros, expected = W.zeros(2), [INF, NAN]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for write in (
            lambda a: a.div_(0),
            lambda a: a.div_(zeros),
            lambda a: a.sub_(W.tensor([1.0, 0.0]), alpha=-INF),
            lambda a: a.addcdiv_(a, zeros),
            lambda a: a.addcdiv_(a, zeros, value=2),
            lambda a: a.reciprocal_().mul_(0).log_().neg_().mul_(W.tensor([1.0, NAN])),
        ):
            a = W.tensor([1.0, 0.0])
            np.testing.assert_array_equal(write(a)._payload, expected)
        a = W.tensor([1.0, 0.0, 4.0])
        np.testing.assert_array_equal(a[::2].div_(a[1:])._payload, [INF, 1.0])  # the operands overlap
        assert values(a) == [INF, 0.0, 1.0]


def test_addcmul_and_addcdiv_in_place() -> None:
    a, b, c = W.tensor([1.0, 2.0]), W.tensor([2.0, 3.0]), W.tensor([4.0, 5.0])
    memory = a._payload
    a.addcmul_(b, c, value=-1).addcdiv_(c, b)
    np.testing.assert_allclose(a._payload, [1 - 8 + 2, 2 - 15 + 5 / 3], rtol=1e-6)
    assert a._payload is memory and a._version == 2
    with pytest.raises(RuntimeError, match=r"output with shape \[2\] doesn't match the broadcast shape \[2, 2\]"):
        a.addcmul_(W.ones(2, 2), c)
    with pytest.raises(RuntimeError, match="leaf Variable that requires grad"):
        leaf(1.0, 2.0, dtype=W.float32).addcmul_(b, c)
    assert a._version == 2
    average = W.tensor([0.0, 8.0])
    assert average.lerp_(W.tensor([4.0, 4.0]), 0.25) is average and values(average) == [1.0, 7.0]
    assert values(average.lerp_(W.tensor([4.0, 4.0]), 0.75)) == [3.25, 4.75] and average._version == 2
    with pytest.raises(RuntimeError, match=r"doesn't match the broadcast shape"):
        average.lerp_(W.ones(2, 2), 0.5)


def test_sgd_by_hand() -> None:
    w = leaf(1.0, 2.0, dtype=W.float32)
    (w * w).sum().backward()
    with W.no_grad():
        w -= 0.5 * w.grad
    assert values(w) == [0.0, 0.0] and w.is_leaf and w.requires_grad and w._version == 1
    w.data.add_(1)
    w.data -= W.tensor([0.5, 0.5])
    assert values(w) == [0.5, 0.5] and w._version == 1


def test_in_place_on_a_result_is_recorded() -> None:
    x = leaf(1.0, 2.0)
    y = x * 2
    y += x
    y.mul_(x)
    y.sub_(1, alpha=2)
    y.div_(2).pow_(2).neg_().exp_()
    (expected,) = gradient(lambda x: W.exp(-(((x * 3 * x - 2) / 2) ** 2)), x)
    np.testing.assert_allclose(W.autograd.grad(y.sum(), x)[0]._payload, expected)


def test_in_place_forms_of_composed_functions_keep_what_they_saved() -> None:
    def steps(v: Any, inplace: bool) -> Any:
        end = W.tensor([3.0, 4.0], dtype=W.float64)
        if inplace:
            v.lerp_(end, 0.25).addcmul_(end, end, value=-2).clamp_(-50.0, 40.0)
            return F.leaky_relu_(F.elu(v, 2.0, inplace=True)).float_power_(2)
        v = W.lerp(v, end, 0.25).addcmul(end, end, value=-2).clamp(-50.0, 40.0)
        return F.leaky_relu(F.elu(v, 2.0)).float_power(2)

    x = leaf(1.0, 2.0)
    (plain,) = gradient(lambda x: steps(x * 1, False), x)
    (written,) = gradient(lambda x: steps(x * 1, True), x)
    np.testing.assert_allclose(written, plain)


def test_saved_value_written_in_place_is_found() -> None:
    x = leaf(1.0, 2.0)
    y = x.exp()
    y.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


# ----------------------------------------------------------------------------------------------------------------- out=
def test_out() -> None:
    x, y, out = W.tensor([1.0, 2.0]), W.tensor([3.0, 4.0]), W.empty(2)
    memory = out._payload
    for fn, expected in [
        (lambda: W.add(x, y, alpha=2, out=out), [7.0, 10.0]),
        (lambda: W.mul(x, y, out=out), [3.0, 8.0]),
        (lambda: W.pow(x, 2, out=out), [1.0, 4.0]),
        (lambda: W.pow(2, x, out=out), [2.0, 4.0]),
        (lambda: W.square(x, out=out), [1.0, 4.0]),
        (lambda: W.true_divide(x, 2, out=out), [0.5, 1.0]),
        (lambda: W.exp2(x, out=out), [2.0, 4.0]),
        (lambda: W.div(y, 2, rounding_mode="floor", out=out), [1.0, 2.0]),
        (lambda: W.clamp(x, max=1.5, out=out), [1.0, 1.5]),
        (lambda: W.where(x > 1, x, y, out=out), [3.0, 2.0]),
        (lambda: W.lt(x, 1.5, out=out), [1.0, 0.0]),
        (lambda: W.lerp(x, y, 0.5, out=out), [2.0, 3.0]),
        (lambda: W.round(x / 4, decimals=1, out=out), [0.2, 0.5]),
    ]:
        assert fn() is out and out._payload is memory
        np.testing.assert_allclose(out._payload, expected, rtol=1e-6)
    with pytest.raises(RuntimeError, match=r"add\(\): functions with out=\.\.\. arguments don't support automatic"):
        W.add(leaf(1.0, 2.0), 1, out=out)
    with pytest.raises(RuntimeError, match="result type Float can't be cast to the desired output type Long"):
        W.exp(x, out=W.empty(2, dtype=W.int64))
    with pytest.warns(UserWarning, match="An output with one or more elements was resized"):
        assert W.add(x, 1, out=W.empty(3)).shape == (2,)
    mantissa, exponent = W.empty(2), W.empty(2, dtype=W.int32)
    W.frexp(x, out=(mantissa, exponent))
    assert values(mantissa) == [0.5, 0.5] and values(exponent) == [1, 2]


# ----------------------------------------------------------------------------------------------------------- alpha, pow
def test_alpha() -> None:
    x, y = leaf(1.0, 2.0), leaf(3.0)
    out = W.sub(x, y, alpha=2)
    assert values(out) == [-5.0, -4.0] and out.grad_fn.name() == "SubBackward0" and out.grad_fn._saved_alpha == 2
    gx, gy = W.autograd.grad(out.sum(), (x, y))
    assert values(gx) == [1.0, 1.0] and values(gy) == [-4.0]
    assert (x + y).grad_fn._saved_alpha == 1
    assert values(W.rsub(x, y, alpha=2)) == [1.0, -1.0]
    errors.warned.clear()
    with pytest.warns(UserWarning, match="This overload of add is deprecated"):
        assert values(W.add(x, 2, y)) == [7.0, 8.0]
    assert values(W.add(W.tensor([True, False]), W.tensor([True, True]), alpha=0)) == [True, False]


@pytest.mark.parametrize("exponent", [0, 1, 2, 3, -1, -2, 0.5, 1.5, 2.5, -0.5])
def test_pow_of_a_number_has_the_right_derivatives(exponent: float) -> None:
    x = leaf(0.5, 2.0)
    y = x**exponent
    (g,) = W.autograd.grad(y.sum(), x, create_graph=True)
    np.testing.assert_allclose(y._payload, np.array([0.5, 2.0]) ** exponent)
    np.testing.assert_allclose(g._payload, exponent * np.array([0.5, 2.0]) ** (exponent - 1))
    if g.requires_grad:
        (h,) = W.autograd.grad(g.sum(), x)
        np.testing.assert_allclose(h._payload, exponent * (exponent - 1) * np.array([0.5, 2.0]) ** (exponent - 2))


def test_pow_at_zero() -> None:
    zero = leaf(0.0, 0.0)
    assert values(zero**0) == [1.0, 1.0] and values(zero ** W.tensor([0.0, 2.0])) == [1.0, 0.0]
    assert gradient(lambda x: x**0, zero)[0].tolist() == [0.0, 0.0]
    assert gradient(lambda x: x ** W.tensor([0.0, 2.0], dtype=W.float64), zero)[0].tolist() == [0.0, 0.0]
    assert gradient(lambda e: W.tensor([0.0, 0.0], dtype=W.float64) ** e, leaf(0.0, 2.0))[0].tolist() == [0.0, 0.0]
    assert gradient(lambda e: 0**e, leaf(0.0, 2.0))[0].tolist() == [0.0, 0.0]
    assert gradient(lambda e: 2**e, leaf(0.0, 1.0))[0].tolist() == [math.log(2), 2 * math.log(2)]


def test_pow_of_integers() -> None:
    i = W.tensor([1, -1, 2])
    assert values(i ** W.tensor([-1, -3, -2])) == [1, -1, 0] and (i**2).dtype is W.int64
    assert values(2 ** W.tensor([1, 2])) == [2, 4] and (2.5 ** W.tensor([1, 2])).dtype is W.float32
    assert (W.tensor([True]) ** 2).dtype is W.int64 and values(W.tensor([True, False]) ** True) == [True, False]
    assert W.float_power(i, 2).dtype is W.float64


def test_pow_node_names() -> None:
    x = leaf(1.0, 2.0)
    nodes = [(x**2).grad_fn, (x ** W.tensor(2.0, dtype=W.float64)).grad_fn, (2**x).grad_fn]
    assert [n.name() for n in nodes] == ["PowBackward0", "PowBackward1", "PowBackward2"]
    assert nodes[0]._saved_exponent == 2 and values(nodes[0]._saved_self) == [1.0, 2.0]
    assert values(nodes[2]._saved_exponent) == [1.0, 2.0] and nodes[2]._saved_self == 2


# --------------------------------------------------------------------------------------------------- rounding, division
def test_rounding() -> None:
    x = W.tensor([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5])
    assert values(W.round(x)) == [-2.0, -2.0, -0.0, 0.0, 2.0, 2.0]
    assert values(W.trunc(x)) == [-2.0, -1.0, -0.0, 0.0, 1.0, 2.0]
    assert values(W.frac(x)) == [-0.5, -0.5, -0.5, 0.5, 0.5, 0.5]
    assert values(W.round(W.tensor([125.0, 135.0]), decimals=-1)) == [120.0, 140.0]
    for fn in (W.round, W.floor, W.ceil, W.trunc, W.sign):
        assert gradient(fn, leaf(0.3, -0.3))[0].tolist() == [0.0, 0.0]
    i = W.tensor([1, 2])
    assert W.floor(i).dtype is W.int64 and not np.shares_memory(W.floor(i)._payload, i._payload)


def test_division_of_negative_numbers() -> None:
    a, b = W.tensor([7, -7, 7, -7]), W.tensor([2, 2, -2, -2])
    assert values(W.div(a, b, rounding_mode="floor")) == values(a // b) == [3, -4, -4, 3]
    assert values(W.div(a, b, rounding_mode="trunc")) == [3, -3, -3, 3]
    assert values(a % b) == [1, 1, -1, -1] and values(W.fmod(a, b)) == [1, -1, 1, -1]
    x = W.tensor([1.0, -1.0, 0.0])
    assert values(x // 0)[:2] == [INF, -INF] and math.isnan(values(x // 0)[2])
    with pytest.raises(RuntimeError, match="derivative for aten::floor_divide is not implemented"):
        (leaf(1.0) // 2).sum().backward()


# --------------------------------------------------------------------------------------------- choosing, special values
def test_where() -> None:
    m, x, y = W.tensor([True, False]), leaf(1.0, 2.0), leaf(3.0, 4.0)
    assert values(W.where(m, x, y)) == values(x.where(m, y)) == [1.0, 4.0]
    assert values(W.where(m, x, 0)) == [1.0, 0.0] and values(W.where(m, 5.0, y)) == [5.0, 4.0]
    assert W.where(m, 1, 2).dtype is W.int64 and W.where(m, 1.0, 2).dtype is W.float32
    assert W.where(m, W.tensor([1, 2]), 1.5).dtype is W.float32
    assert [values(t) for t in W.where(m)] == [[0]]
    gx, gy = gradient(lambda x, y: W.where(m, x, y) * 2, x, y)
    assert gx.tolist() == [2.0, 0.0] and gy.tolist() == [0.0, 2.0]


def test_clamp() -> None:
    x = leaf(-1.0, 0.0, 0.5, 1.0, 2.0, NAN)
    out = W.clamp(x, 0, 1)
    assert values(out)[:5] == [0.0, 0.0, 0.5, 1.0, 1.0] and math.isnan(values(out)[5])
    assert gradient(lambda x: W.clamp(x, 0, 1), x)[0].tolist() == [0.0, 1.0, 1.0, 1.0, 0.0, 0.0]
    assert values(W.clamp(W.tensor([1.0, 5.0]), 3, 2)) == [2.0, 2.0]
    assert W.clamp(W.tensor([1, 2]), 0.5).dtype is W.float32 and W.clamp(W.tensor([1, 2]), max=1).dtype is W.int64
    low, high = leaf(0.0, 0.0), leaf(1.0, -1.0)
    gradients = gradient(lambda x, a, b: W.clamp(x, a, b), leaf(-2.0, 0.5), low, high)
    assert [g.tolist() for g in gradients] == [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]


def test_ties_are_shared() -> None:
    x, y = leaf(1.0, 2.0, 5.0), leaf(1.0, 3.0, 4.0)
    assert [g.tolist() for g in gradient(W.maximum, x, y)] == [[0.5, 0.0, 1.0], [0.5, 1.0, 0.0]]
    assert [g.tolist() for g in gradient(W.minimum, x, y)] == [[0.5, 1.0, 0.0], [0.5, 0.0, 1.0]]
    assert [g.tolist() for g in gradient(W.fmax, x, y)] == [[1.0, 0.0, 1.0], [0.0, 1.0, 0.0]]
    assert values(W.fmax(W.tensor([NAN, 1.0]), W.tensor([1.0, NAN]))) == [1.0, 1.0]
    assert all(math.isnan(v) for v in values(W.maximum(W.tensor([NAN, 1.0]), W.tensor([1.0, NAN]))))


AT_ZERO = [
    (W.abs, 0.0, 0.0), (W.sign, 0.0, 0.0), (W.relu, 0.0, 0.0), (W.sinc, 1.0, 0.0), (W.tanh, 0.0, 1.0),
    (W.sigmoid, 0.5, 0.25), (F.leaky_relu, 0.0, 0.01), (F.elu, 0.0, 1.0), (F.hardtanh, 0.0, 1.0), (F.silu, 0.0, 0.5),
    (F.gelu, 0.0, 0.5), (F.softplus, math.log(2), 0.5), (F.logsigmoid, -math.log(2), 0.5), (F.hardswish, 0.0, 0.5),
    (F.hardsigmoid, 0.5, 1 / 6), (F.softsign, 0.0, 1.0), (F.tanhshrink, 0.0, 0.0), (F.hardshrink, 0.0, 0.0),
    (F.softshrink, 0.0, 0.0), (F.mish, 0.0, 0.6), (W.i0, 1.0, 0.0), (special.i1, 0.0, 0.5), (special.i1e, 0.0, 0.5),
    (W.erf, 0.0, 2 / math.sqrt(math.pi)), (W.sqrt, 0.0, INF), (W.log, -INF, INF),
]  # fmt: skip


@pytest.mark.parametrize(("fn", "value", "slope"), AT_ZERO, ids=[f.__name__ for f, _, _ in AT_ZERO])
def test_at_zero(fn: Any, value: float, slope: float) -> None:
    x = leaf(0.0)
    np.testing.assert_allclose(fn(x)._payload, [value], atol=1e-15)
    np.testing.assert_allclose(gradient(fn, x)[0], [slope], atol=1e-15)


@pytest.mark.parametrize("fn", [W.sigmoid, W.tanh, F.logsigmoid, F.softplus, F.silu, F.gelu, F.mish, F.elu, F.selu])
def test_saturated_activations_have_finite_derivatives(fn: Any) -> None:
    x = W.tensor([-200.0, 200.0], requires_grad=True)
    (g,) = gradient(fn, x)
    if fn is not F.mish:  # as in PyTorch, whose formula overflows there in float32 only beyond 88
        assert np.isfinite(g).all() and np.isfinite(np.asarray(fn(x)._payload)).all()
    assert g.dtype == np.float32


def test_relu_lets_nan_and_infinity_through() -> None:
    x = W.tensor([NAN, -1.0, 1.0], requires_grad=True)
    y = W.relu(x)
    assert math.isnan(values(y)[0]) and values(y)[1:] == [0.0, 1.0]
    y.backward(W.tensor([3.0, INF, INF]))
    assert values(x.grad) == [3.0, 0.0, INF]


def test_isclose_and_equal() -> None:
    a = W.tensor([1.0, NAN, INF])
    assert values(W.isclose(a, a)) == [True, False, True] and values(W.isclose(a, a, equal_nan=True)) == [True] * 3
    assert W.allclose(W.ones(2), W.ones(2) + 1e-7) and not W.allclose(W.ones(2), W.zeros(2))
    assert W.equal(W.ones(2), W.ones(2)) and not W.equal(W.ones(2), W.ones(3)) and not W.equal(a, a)


def test_nan_to_num() -> None:
    x = leaf(NAN, INF, -INF, 1.0, dtype=W.float32)
    top = float(np.finfo(np.float32).max)
    assert values(W.nan_to_num(x)) == [0.0, top, -top, 1.0]
    assert values(W.nan_to_num(x, 1.0, 2.0, 3.0)) == [1.0, 2.0, 3.0, 1.0]
    assert gradient(W.nan_to_num, x)[0].tolist() == [0.0, 0.0, 0.0, 1.0]


# -------------------------------------------------------------------------------------------------------------- complex
def test_real_and_imaginary_parts_are_views() -> None:
    z = W.tensor([1 + 2j, 3 + 4j])
    z.real.mul_(10)
    z.imag = W.tensor([0.0, 1.0])
    assert values(z) == [10 + 0j, 30 + 1j]
    assert np.shares_memory(W.view_as_real(z)._payload, z._payload) and W.view_as_real(z).shape == (2, 2)
    assert np.shares_memory(W.view_as_complex(W.view_as_real(z))._payload, z._payload)
    x = W.ones(2)
    assert x.real is x and W.conj(x) is x and W.resolve_conj(z) is z and not z.is_conj()


def test_complex_gradients_are_pytorchs() -> None:
    z = W.tensor([3 + 4j, 1j], requires_grad=True)
    for fn, expected in [
        (lambda z: z.real, [1, 1]),
        (lambda z: z.imag, [1j, 1j]),
        (lambda z: z.abs(), [0.6 + 0.8j, 1j]),
        (lambda z: z.angle(), [(-0.16 + 0.12j), -1 + 0j]),
        (lambda z: (z * z.conj()).real, [6 + 8j, 2j]),
        (lambda z: (z**2).real, [6 - 8j, -2j]),
        (lambda z: W.exp(z).imag, None),
    ]:
        (g,) = W.autograd.grad(fn(z).sum(), z)
        if expected is None:
            expected = (np.exp(z._payload).conj() * 1j).tolist()
        np.testing.assert_allclose(g._payload, expected, rtol=1e-5, atol=1e-7)


def test_polar_and_complex() -> None:
    r, a = leaf(2.0, 0.0), leaf(0.5, 1.0)
    np.testing.assert_allclose(W.polar(r, a)._payload, np.array([2.0, 0.0]) * np.exp(1j * np.array([0.5, 1.0])))
    gr, ga = gradient(lambda r, a: W.polar(r, a).real, r, a)
    np.testing.assert_allclose(gr, [math.cos(0.5), 0.0])  # PyTorch's choice at 0
    np.testing.assert_allclose(ga, [-2 * math.sin(0.5), 0.0], atol=1e-15)
    gr, ga = gradient(lambda r, a: W.complex(r, a).imag, r, a)
    assert gr.tolist() == [0.0, 0.0] and ga.tolist() == [1.0, 1.0]


# -------------------------------------------------------------------------------------------------------------- special
@pytest.mark.parametrize(
    ("fn", "x", "expected"),
    [
        (W.lgamma, 4.0, math.lgamma(4.0)),
        (W.lgamma, -INF, INF),
        (W.digamma, 1.0, -0.5772156649015329),
        (W.digamma, 0.0, -INF),
        (lambda x: W.polygamma(1, x), 1.0, math.pi**2 / 6),
        (lambda x: W.polygamma(1, x), -0.5, 8.934802200544679),
        (W.erfinv, 1.0, INF),
        (special.ndtr, 0.0, 0.5),
        (special.ndtri, 0.5, 0.0),
        (special.entr, 0.0, 0.0),
        (special.spherical_bessel_j0, 0.0, 1.0),
        (special.spherical_bessel_j0, 3.0, math.sin(3.0) / 3.0),
        (lambda x: special.chebyshev_polynomial_t(x, 5), 0.3, math.cos(5 * math.acos(0.3))),
        (lambda x: special.hermite_polynomial_h(x, 3), 2.0, 8 * 8.0 - 12 * 2.0),
        (lambda x: special.hermite_polynomial_he(x, 3), 2.0, 8.0 - 6.0),
        (lambda x: special.laguerre_polynomial_l(x, 2), 2.0, (4.0 - 8.0 + 2.0) / 2),
        (lambda x: special.legendre_polynomial_p(x, 2), 0.5, (3 * 0.25 - 1) / 2),
        (lambda x: special.legendre_polynomial_p(x, -1), 0.5, 0.0),
        (lambda x: W.mvlgamma(x, 2), 3.0, math.log(math.pi) / 2 + math.lgamma(3.0) + math.lgamma(2.5)),
    ],
)
def test_special_values(fn: Any, x: float, expected: float) -> None:
    np.testing.assert_allclose(fn(W.tensor([x], dtype=W.float64))._payload, [expected], rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("name", ["igamma", "igammac", "zeta"])
def test_derivative_with_respect_to_the_second_operand_only(name: str) -> None:
    fn = getattr(TENSORS, name)
    a, x, h = W.tensor([2.5], dtype=W.float64), 1.3, 1e-5
    numeric = (
        fn(a, W.tensor([x + h], dtype=W.float64))._payload - fn(a, W.tensor([x - h], dtype=W.float64))._payload
    ) / (2 * h)
    np.testing.assert_allclose(gradient(lambda x: fn(a, x), leaf(x))[0], numeric, rtol=1e-6)
    with pytest.raises(RuntimeError, match="is not implemented"):
        fn(leaf(2.5), leaf(x)).sum().backward()


def test_xlogy_is_zero_where_its_first_operand_is() -> None:
    x, y = leaf(0.0, 0.0, 2.0), leaf(0.0, 3.0, 1.0)
    assert values(W.xlogy(x, y)) == [0.0, 0.0, 0.0]
    assert gradient(W.xlogy, x, y)[0].tolist() == [0.0, math.log(3.0), 0.0]
    assert math.isnan(values(W.xlogy(W.tensor([0.0]), W.tensor([NAN])))[0])


@pytest.mark.parametrize("function", [W.xlogy, W.special.xlog1py])
def test_a_zero_cotangent_stays_zero_where_the_logarithm_is_none(function) -> None:
    x = W.tensor([1.0, 1.0, 1.0], requires_grad=True)
    function(x, W.tensor([-3.0, -3.0, NAN])).backward(W.tensor([0.0, 1.0, 0.0]))
    assert repr(x.grad.tolist()) == "[0.0, nan, nan]"


def test_float16_stays_float16_through_scipy() -> None:
    x = W.tensor([0.5], dtype=W.float16)
    for fn in (W.erf, W.lgamma, W.digamma, W.i0, special.ndtr, F.gelu):
        assert fn(x).dtype is W.float16
    assert W.erf(W.tensor([1])).dtype is W.float32


# ---------------------------------------------------------------------------------------------------------- activations
def test_inplace_flags_write_into_their_argument() -> None:
    for fn in (F.relu, F.relu6, F.leaky_relu, F.elu, F.selu, F.celu, F.silu, F.mish, F.hardtanh, F.hardsigmoid,
               F.hardswish, F.rrelu):  # fmt: skip
        x = W.tensor([-1.0, 0.5, 9.0])
        expected = values(fn(x))
        assert fn(x, inplace=True) is x and values(x) == expected and x._version == 1, fn.__name__
    x = W.tensor([-1.0, 2.0])
    assert F.threshold(x, 0.0, 7.0, inplace=True) is x and values(x) == [7.0, 2.0]


def test_prelu_and_glu() -> None:
    x, w = leaf([[-1.0, 2.0], [3.0, -4.0]]), leaf(0.5, 0.25)
    assert values(F.prelu(x, w)) == [[-0.5, 2.0], [3.0, -1.0]]
    gx, gw = gradient(F.prelu, x, w)
    assert gx.tolist() == [[0.5, 1.0], [1.0, 0.25]] and gw.tolist() == [-1.0, -4.0]
    assert F.glu(x, 0).shape == (1, 2)
    np.testing.assert_allclose(F.glu(x, 0)._payload, [[-1 / (1 + math.exp(-3)), 2 / (1 + math.exp(4))]])


# ------------------------------------------------------------------------------------------------------- beside PyTorch
EXPRESSIONS = [
    "x + y", "x - 1", "1 - x", "2 / x", "x / y", "x ** 2", "x ** 0.5", "2 ** x", "x ** y", "x // 2", "x % 2", "x % y",
    "5 % x.detach()", "t.add(x, y, alpha=2)", "t.sub(x, 2, alpha=3)", "t.rsub(x, y)", "t.rsub(x, 2)", "x.square()",
    "t.div(x, y, rounding_mode='floor')", "t.div(x, 2, rounding_mode='trunc')", "t.fmod(x, y)", "t.remainder(x, 2)",
    "t.float_power(x, 2)", "t.true_divide(x, 3)", "x.reciprocal()", "t.positive(x)", "t.sqrt(x)", "t.rsqrt(x)",
    "x.exp()", "t.exp2(x)", "t.expm1(x)", "t.log(x)", "t.log2(x)", "t.log10(x)", "t.log1p(x)", "x.sin()", "x.cos()",
    "x.tan()", "t.asin(x / 9)", "t.acos(x / 9)", "t.atan(x)", "x.sinh()", "x.cosh()", "x.tanh()", "t.asinh(x)",
    "t.acosh(x + 1)", "t.atanh(x / 9)", "t.sinc(x)", "t.deg2rad(x)", "t.rad2deg(x)", "x.abs()", "-x", "t.sign(x)",
    "t.sgn(z)", "x.floor()", "x.ceil()", "x.trunc()", "x.round()", "t.round(x, decimals=2)", "x.frac()",
    "t.frexp(x)[0]", "t.atan2(x, y)", "t.hypot(x, y)", "t.lerp(x, y, 0.3)", "t.lerp(x, y, y)",
    "t.addcmul(x, y, y, value=2)", "t.addcdiv(x, y, x, value=2)", "t.logaddexp(x, y)", "t.logaddexp2(x, y)",
    "t.copysign(x, -1)", "t.copysign(x, y)", "t.nextafter(x, y)", "t.ldexp(x, i)", "t.maximum(x, y)",
    "t.minimum(x, y)", "t.fmax(x, y)", "t.fmin(x, y)", "t.where(x > y, x, y)", "t.where(x > 1, x, 0.)",
    "t.clamp(x, 0.5, 1)", "t.clamp(x, max=1)", "t.clamp(x, y, y + 1)", "t.clamp_min(x, 1)", "t.clamp_max(x, y)",
    "t.nan_to_num(x)", "t.logit(x / 9)", "t.logit(x / 2, 0.4)", "x.sigmoid()", "t.xlogy(x, y)", "t.xlogy(x, 2)",
    "t.erf(x)", "t.erfc(x)", "t.erfinv(x / 9)", "t.lgamma(x)", "t.digamma(x)", "t.polygamma(2, x)",
    "t.mvlgamma(x + 1, 2)", "t.i0(x)", "t.special.i0e(x)", "t.special.i1(x)", "t.special.i1e(x)", "t.special.ndtr(x)",
    "t.special.ndtri(x / 9)", "t.special.log_ndtr(x)", "t.special.erfcx(x)", "t.special.entr(x)",
    "t.special.xlog1py(x, y)", "z * z.conj()", "z.abs()", "z.angle()", "t.view_as_real(z)", "z.real", "z.imag",
    "t.complex(x, y)", "t.polar(x, y)", "z ** 2", "z ** z", "t.exp(z)", "t.log(z)", "t.sqrt(z)", "t.tanh(z)",
    "t.sigmoid(z)", "t.acosh(z)", "z / x", "2j ** x", "x < y", "i == 2", "i & 1", "~i", "i / 2", "i // 2", "i ** 2",
    "t.logical_xor(x, i)", "t.isclose(x, y)", "t.isfinite(x)", "t.gcd(i, 4 * i)", "t.lcm(i, i + 1)",
    "t.heaviside(x.detach(), y.detach())", "t.signbit(-x)", "F.relu(x - 1)", "F.relu6(x * 4)",
    "F.leaky_relu(x - 1, 0.1)", "F.elu(x - 1, 2.)", "F.selu(x - 1)", "F.celu(x - 1, 2.)", "F.gelu(x)",
    "F.gelu(x, approximate='tanh')", "F.silu(x)", "F.mish(x)", "F.softplus(x, 2, 3)", "F.logsigmoid(x)",
    "F.hardtanh(x)", "F.hardswish(x * 4 - 2)", "F.softsign(x)", "F.tanhshrink(x)", "F.softshrink(x)",
    "F.hardshrink(x)", "F.threshold(x, 1., 3.)", "F.prelu(x - 1, y[:1])", "F.glu(x[:2])", "F.rrelu(x - 1)",
]  # fmt: skip
POINTS = {"x": [0.3, 1.25, 2.5], "y": [0.75, 1.0, 2.5], "z": [1 + 2j, -0.5 + 0.25j, 0.3 - 1j], "i": [1, 2, 3]}


def evaluate(lib: Any, expression: str, functional: Any, special_functions: Any, precision: str) -> tuple[Any, Any]:
    real, wide = {"single": (lib.float32, lib.complex64), "double": (lib.float64, lib.complex128)}[precision]
    scope: dict[str, Any] = {"t": lib, "F": functional}
    if lib is W:
        members = {
            **{n: getattr(W, n) for n in dir(W) if not n.startswith("_") and n != "nn"},
            "special": special_functions,
        }
        scope["t"] = type("t", (), {n: staticmethod(v) if callable(v) else v for n, v in members.items()})
    leaves = {}
    for name, data in POINTS.items():
        if name == "i":
            scope[name] = lib.tensor(data)
            continue
        leaves[name] = scope[name] = lib.tensor(data, dtype=wide if name == "z" else real, requires_grad=True)
    return eval(expression, scope), leaves


def as_array(t: Any) -> np.ndarray:
    return np.asarray(t._payload) if isinstance(t, W.Tensor) else t.detach().resolve_conj().numpy()


@pytest.mark.parametrize("precision", ["single", "double"])
@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_as_pytorch(expression: str, precision: str, torch: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs, their_leaves = evaluate(torch, expression, torch.nn.functional, None, precision)
        ours, our_leaves = evaluate(W, expression, F, special, precision)
    tolerance = {"rtol": 2e-5, "atol": 2e-6} if precision == "single" else {"rtol": 1e-9, "atol": 1e-11}
    a, b = as_array(ours), as_array(theirs)
    assert a.dtype == b.dtype and a.shape == b.shape and ours.requires_grad == theirs.requires_grad
    np.testing.assert_allclose(a, b, **tolerance)
    if theirs.grad_fn is None:
        return
    assert ours.grad_fn.name() == theirs.grad_fn.name()
    if "NotImplemented" in theirs.grad_fn.name():
        return
    g = np.linspace(0.5, 1.5, b.size).reshape(b.shape).astype(b.dtype) * (1 - 0.5j if b.dtype.kind == "c" else 1)
    g = g.astype(b.dtype)
    theirs.backward(torch.from_numpy(g.copy()))
    ours.backward(W.tensor(g.tolist(), dtype=ours.dtype))
    for name, theirs_leaf in their_leaves.items():
        mine = our_leaves[name].grad
        if theirs_leaf.grad is None:
            assert mine is None or not np.any(mine._payload)
        else:
            np.testing.assert_allclose(as_array(mine), as_array(theirs_leaf.grad), **tolerance)


# ------------------------------------------------------------------------------------------------------- numerical care
def test_atan2_has_a_gradient_at_the_origin() -> None:
    for g in gradient(W.atan2, leaf(0.0, 1.0), leaf(0.0, 0.0)):
        assert np.isfinite(g).all()
    assert gradient(W.atan2, leaf(0.0), leaf(0.0)) == [[0.0], [0.0]]


def test_log_ndtr_far_out() -> None:
    x = leaf(100.0, 2.0, -50.0)
    (g,) = W.autograd.grad(special.log_ndtr(x).sum(), x, create_graph=True)
    (h,) = W.autograd.grad(g.sum(), x)
    np.testing.assert_allclose(np.asarray(g._payload), [0.0, 0.05524786, 50.01998], rtol=1e-6)
    assert np.isfinite(np.asarray(h._payload)).all()


def test_sinc_of_half_precision_is_zero_at_integers() -> None:
    assert np.abs(W.sinc(W.tensor([1.0, 2.0, 3.0], dtype=W.float16)).float().numpy()).max() < 1e-6


@pytest.mark.parametrize(
    "f",
    [
        lambda x: x * 2.0,
        lambda x: x / 3 + 1,
        lambda x: 2.0**x,
        lambda x: x**1.5,
        lambda x: x**0.5,
        W.sinc,
        W.lgamma,
        W.rsqrt,
        W.logit,
        W.deg2rad,
        W.nan_to_num,
        lambda x: F.gelu(x),
        lambda x: F.elu(x),
        lambda x: F.leaky_relu(x),
        lambda x: F.softshrink(x),
        lambda x: F.hardtanh(x),
        lambda x: W.lerp(x, x * 2, 0.3),
        lambda x: W.where(x > 1, x, 0.0),
        lambda x: F.huber_loss(x, x * 0),
        lambda x: x.amax(-1),
        lambda x: x.std(),
        lambda x: x.softmax(0),
        lambda x: x.sort()[0],
    ],
)
def test_bfloat16_stays_bfloat16(f: Any) -> None:
    pytest.importorskip("ml_dtypes")
    x = W.tensor([0.25, 0.5, 0.75], dtype=W.bfloat16, requires_grad=True)
    y = f(x)
    assert y.dtype is W.bfloat16
    (g,) = W.autograd.grad(y.sum(), x, create_graph=True)
    assert g.dtype is W.bfloat16
    exact = W.tensor([0.25, 0.5, 0.75], dtype=W.float64, requires_grad=True)
    z = f(exact)
    np.testing.assert_allclose(y.double().detach().numpy(), z.detach().numpy(), rtol=0.03, atol=0.01)
    (g_exact,) = W.autograd.grad(z.sum(), exact)
    np.testing.assert_allclose(g.double().detach().numpy(), g_exact.numpy(), rtol=0.05, atol=0.02)


def test_hook_of_bfloat16_is_asked_for_bfloat16_alone() -> None:
    pytest.importorskip("ml_dtypes")
    kept, seen = W.ones(2, dtype=W.bfloat16), []
    hook = modes.rounding[0]

    def watching(info: Any, args: Any, proceed: Any) -> Any:
        seen.append(info.name)
        return hook(info, args, proceed)

    watching.unconcerned = hook.unconcerned  # type: ignore[attr-defined]
    modes.slow_hooks[:] = modes.rounding[:] = [watching]
    try:
        x, y = W.nn.Parameter(W.ones(2)), W.zeros(2)
        (W.cat([x * 2.0, x + y]).sum() * x[0]).backward()
        y.add_(x.detach()).mul_(2.0).exp_()
        y.tanh_()[:1].clamp_(0, 1)
        assert not seen
        assert (kept * 1.5).dtype is W.bfloat16
        kept.add_(0.5)
        W.cat([kept, kept])
        assert set(seen) >= {"mul", "cat"} and len(seen) >= 3, seen
    finally:
        modes.slow_hooks[:] = modes.rounding[:] = [hook]


@pytest.mark.parametrize("f", [lambda x: x * 2.5, lambda x: x**2.5, lambda x: F.linear(x, x, x[:, 0]), lambda x: x @ x])
def test_bfloat16_in_inference_mode(f: Any) -> None:
    pytest.importorskip("ml_dtypes")
    x = W.tensor([[0.3, 1.7], [2.9, 0.1]], dtype=W.bfloat16)
    usual = f(x)
    with W.inference_mode():
        result = f(x)
    assert result.is_inference() and result.dtype is W.bfloat16 and result.tolist() == usual.tolist()


@pytest.mark.parametrize("hooks", [False, True])
def test_products_of_bfloat16_that_do_not_fit(hooks: bool) -> None:
    pytest.importorskip("ml_dtypes")
    x = W.ones(2, 3, dtype=W.bfloat16, requires_grad=True)
    with W.autograd.graph.saved_tensors_hooks(id, id) if hooks else contextlib.nullcontext():
        with pytest.raises(RuntimeError, match="mat1 and mat2 shapes cannot be multiplied"):
            F.linear(x, W.ones(4, 2, dtype=W.bfloat16), W.ones(4, dtype=W.bfloat16))
        with pytest.raises(RuntimeError, match="same dtype"):
            F.linear(x, W.ones(4, 3, dtype=W.bfloat16), W.ones(4))


def test_bfloat16_in_place_and_sorted() -> None:
    pytest.importorskip("ml_dtypes")
    x = W.ones(2, dtype=W.bfloat16)
    x += 0.5
    x *= 2.0
    assert x.tolist() == [3.0, 3.0]
    assert W.tensor([NAN, 1.0, 2.0], dtype=W.bfloat16).sort()[0].tolist()[:2] == [1.0, 2.0]


# ----------------------------------------------------------------------------------------------------------------- out=
@pytest.mark.parametrize(
    ("call", "dtype", "message"),
    [
        (lambda x, out: W.exp(x, out=out), W.int64, "result type Float can't be cast to the desired output type Long"),
        (lambda x, out: W.abs(x, out=out), W.float64, "Found dtype Double but expected Float"),
        (
            lambda x, out: W.mm(x, x, out=out),
            W.int64,
            "Expected out tensor to have dtype float, but got long int instead",
        ),
        (
            lambda x, out: W.argmax(x, 1, out=out),
            W.int32,
            "Expected out tensor to have dtype long int, but got int instead",
        ),
        (lambda x, out: W.where(x > 0, x, x, out=out), W.float64, "Expected out type to be Float but got Double"),
        (
            lambda x, out: W.linalg.pinv(x, out=out),
            W.int64,
            "linalg.pinv: Expected result to be safely castable from Float dtype, but got result with dtype Long",
        ),
        (lambda x, out: W.fft.fft(x, out=out), W.float64, "fft expects a complex output tensor, but got Double"),
        (lambda x, out: W.zeros(2, dtype=W.float32, out=out), W.float64, "does not match dtype of out parameter"),
        (
            lambda x, out: W.linspace(0, 1, 3, dtype=W.float32, out=out),
            W.float64,
            "does not match dtype of out parameter",
        ),
        (lambda x, out: W.isneginf(x, out=out), W.float32, "isneginf does not support non-boolean outputs"),
    ],
)
def test_out_of_another_dtype_is_refused_before_it_is_written(call: Any, dtype: Any, message: str) -> None:
    out = W.full((2, 2), 7).to(dtype)
    with pytest.raises(RuntimeError) as caught:
        call(W.ones(2, 2), out)
    assert message in str(caught.value)
    assert out.tolist() == [[7, 7], [7, 7]]


def test_all_outs_are_checked_before_one_is_written() -> None:
    values_, indices = W.full((2,), 7.0), W.full((2,), 7.0)
    with pytest.raises(RuntimeError, match="Expected out tensor to have dtype long int, but got float instead"):
        W.sort(W.tensor([2.0, 1.0]), out=(values_, indices))
    assert values_.tolist() == [7.0, 7.0]


def test_sums_are_computed_in_the_dtype_of_out() -> None:
    x = W.tensor([1e8, 1.0, -1e8])
    assert W.sum(x, 0, out=W.empty((), dtype=W.float64)).item() == 1.0
    assert W.cumsum(x, 0, out=W.empty(3, dtype=W.int64)).tolist() == [100000000, 100000001, 1]
    assert W.cat([x, x], out=W.empty(0, dtype=W.float64)).dtype is W.float64
    with pytest.raises(TypeError, match="input types can't be cast to the desired output type Long"):
        W.cat([x, x], out=W.empty(0, dtype=W.int64))


def test_special_functions_are_refused_by_their_own_name() -> None:
    with pytest.raises(TypeError, match=r"special_zeta.. received an invalid combination of arguments"):
        special.zeta(W.ones(2), "a")


@pytest.mark.parametrize("exponent", [4, 5, -3, 2.5, 0.75])
def test_small_powers_are_rounded_once(exponent: float) -> None:
    """PyTorch's power is within 0.6 units in the last place; NumPy's in float32 and products are not."""
    x = np.random.default_rng(0).uniform(0.1, 3, 2000).astype(np.float32)
    assert (W.tensor(x) ** exponent).numpy().tobytes() == (x.astype(float) ** exponent).astype("f4").tobytes()
    assert (W.tensor(x[0]) ** exponent).item() == np.float32(float(x[0]) ** exponent)
    assert (W.tensor([3e38]) ** exponent).item() == (np.inf if exponent > 1 else np.float32(3e38**exponent))


@pytest.mark.parametrize("dtype", [W.float32, W.float64, W.float16, W.bfloat16])
def test_a_zero_remainder_has_the_sign_of_the_dividend(dtype: Any) -> None:
    if dtype is W.bfloat16:
        pytest.importorskip("ml_dtypes")
    x = W.tensor([-4.0, 4.0, 0.0, -0.0, -3.0], dtype=dtype)
    for r in (x % 2, x % -2, x.clone().remainder_(2), x % W.tensor(2.0, dtype=dtype)):
        assert W.signbit(r)[:4].tolist() == [True, False, False, True]
    assert str(W.tensor([-4.0, 4.0]) % 2) == "tensor([-0., 0.])"
    assert (x % 2)[4] == 1


@pytest.mark.parametrize("degree", [float("nan"), float("inf"), -float("inf"), -1e30])
@pytest.mark.parametrize("name", ["chebyshev_polynomial_t", "hermite_polynomial_h", "legendre_polynomial_p"])
def test_a_degree_that_is_no_integer_gives_zero_and_spoils_no_other(name: str, degree: float) -> None:
    found = getattr(W.special, name)(W.tensor([3.0, 3.0]), W.tensor([degree, 1.0]))
    assert values(found) == [0.0, 6.0 if name == "hermite_polynomial_h" else 3.0]


def test_a_few_polynomials_are_the_many_ones() -> None:
    """Python's own numbers for few points, SciPy's for more and NumPy's for many."""
    names = [name for name in dir(special) if "_polynomial_" in name]
    assert len(names) == 12
    points, degrees = np.meshgrid(np.linspace(-1.5, 1.5, 13), [0.0, 1.0, 2.5, 3.0, 7.0, 16.0])
    for name in names:
        fn = getattr(special, name)
        many = fn(W.tensor(points), W.tensor(degrees))._payload
        for size in (1, 8, 13):
            few = np.concatenate([fn(W.tensor(points.ravel()[k : k + size]), W.tensor(degrees.ravel()[k : k + size]))
                                  ._payload for k in range(0, points.size, size)])  # fmt: skip
            np.testing.assert_allclose(few, many.ravel(), rtol=1e-9, atol=1e-9)
