"""``assert_close``: compares numbers, tensors and containers with PyTorch's tolerances and error texts.

As in PyTorch there are two passes: ``_pair_up`` walks through the containers and collects pairs of values, and raises
errors about lengths, keys and kinds at once; then the pairs are compared, and the first that differs is reported.
"""

from __future__ import annotations

import cmath
import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import wengert as torch

from .._base.dtypes import dtype as Dtype
from .._base.errors import warn
from .._tape.tensor import Tensor

__all__ = ["assert_allclose", "assert_close", "default_tolerances"]

_TOLERANCES: dict[Dtype, tuple[float, float]] = {
    torch.float16: (0.001, 1e-5),
    torch.bfloat16: (0.016, 1e-5),
    torch.float32: (1.3e-6, 1e-5),
    torch.float64: (1e-7, 1e-7),
    torch.complex32: (0.001, 1e-5),
    torch.complex64: (1.3e-6, 1e-5),
    torch.complex128: (1e-7, 1e-7),
}
_OLD_TOLERANCES = {torch.float16: (1e-3, 1e-3), torch.float32: (1e-4, 1e-5), torch.float64: (1e-5, 1e-8)}
_OF_NUMBERS = {int: torch.int64, float: torch.float64, complex: torch.complex128}

Message = str | Callable[[str], str] | None
Path = tuple[Any, ...]


class _Mismatch(Exception):
    """An error whose text is not final: the class for the user, the text, and the position in the containers."""

    def __init__(self, kind: type[Exception], text: str, path: Path = ()) -> None:
        super().__init__(text)
        self.kind, self.text, self.path = kind, text, path

    def final(self, msg: Message = None) -> Exception:
        """The error for the user."""
        if isinstance(msg, str):
            return self.kind(msg)
        text = self.text
        if self.path:
            text += f"\n\nThe failure occurred for item {''.join(str([item]) for item in self.path)}"
        return self.kind(text if msg is None else msg(text))


@dataclass(frozen=True)
class _Options:
    rtol: float | None
    atol: float | None
    equal_nan: bool
    allow_subclasses: bool = True
    check_device: bool = True
    check_dtype: bool = True
    check_layout: bool = True
    check_stride: bool = False


def assert_close(
    actual: Any,
    expected: Any,
    *,
    allow_subclasses: bool = True,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = False,
    check_device: bool = True,
    check_dtype: bool = True,
    check_layout: bool = True,
    check_stride: bool = False,
    msg: Message = None,
) -> None:
    """Assert that ``|actual - expected| <= atol + rtol * |expected|`` for all elements, and that shapes etc. are equal.

    Args:
        actual, expected: tensors, NumPy arrays, numbers, booleans, None; or sequences or mappings of them.
        allow_subclasses: False if both must have the same class.
        rtol, atol: both or none. The defaults depend on the dtype: 1.3e-6 and 1e-5 for float32, 1e-7 and 1e-7 for
            float64 and complex128, 1e-3 and 1e-5 for float16, 1.6e-2 and 1e-5 for bfloat16, 0 for integers; for two
            dtypes the larger ones apply.
        equal_nan: whether NaN is close to NaN.
        check_device, check_dtype, check_layout, check_stride: whether these must be equal.
        msg: the text of the error, or a function from the default text to a new one.

    Raises:
        AssertionError: the values are not close, or differ in a checked property.
        ValueError: only one of ``rtol`` and ``atol`` is given.
        TypeError: the objects cannot be compared.

    >>> import wengert as torch
    >>> torch.testing.assert_close(torch.tensor([1., 2.]), torch.tensor([1., 2.000001]))
    >>> torch.testing.assert_close([1, torch.tensor([1., 2.])], [1, torch.tensor([1., 3.])])
    Traceback (most recent call last):
    AssertionError: Tensor-likes are not close!
    <BLANKLINE>
    Mismatched elements: 1 / 2 (50.0%)
    Greatest absolute difference: 1.0 at index (1,) (up to 1e-05 allowed)
    Greatest relative difference: 0.3333333432674408 at index (1,) (up to 1.3e-06 allowed)
    <BLANKLINE>
    The failure occurred for item [1]
    """
    __tracebackhide__ = True
    options = _Options(rtol, atol, equal_nan, allow_subclasses, check_device, check_dtype, check_layout, check_stride)
    try:
        pairs = _pair_up(actual, expected, ())
        comparisons = [(path, _comparison(one, other, path, options)) for path, one, other in pairs]
    except _Mismatch as error:
        raise error.final() from None
    for path, compare in comparisons:
        try:
            compare()
        except _Mismatch as error:
            error.path = path
            raise error.final(msg) from None


def assert_allclose(
    actual: Any,
    expected: Any,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = True,
    msg: str = "",
) -> None:
    """The older form of ``assert_close``: dtypes may differ, NaN is close to NaN, and tolerances are larger.

    >>> import warnings, wengert as torch
    >>> with warnings.catch_warnings(action="ignore"):
    ...     torch.testing.assert_allclose([1.0], [1.00001])
    """

    warn(
        "`torch.testing.assert_allclose()` is deprecated since 1.12 and will be removed in a future release. Please "
        "use `torch.testing.assert_close()` instead. You can find detailed upgrade instructions in "
        "https://github.com/pytorch/pytorch/issues/61844.",
        FutureWarning,
    )
    if not isinstance(actual, Tensor):
        actual = torch.tensor(actual)
    if not isinstance(expected, Tensor):
        expected = torch.tensor(expected, dtype=actual.dtype)
    if rtol is None and atol is None:
        rtol, atol = default_tolerances(actual, expected, dtype_precisions=_OLD_TOLERANCES)
    assert_close(actual, expected, rtol=rtol, atol=atol, equal_nan=equal_nan, check_dtype=False, msg=msg or None)


def default_tolerances(
    *inputs: Any, dtype_precisions: dict[Dtype, tuple[float, float]] | None = None
) -> tuple[float, float]:
    """The relative and the absolute tolerance for tensors or dtypes, the largest ones if they differ.

    >>> from wengert.testing._comparison import default_tolerances
    >>> import wengert as torch
    >>> default_tolerances(torch.float32, torch.int64)
    (1.3e-06, 1e-05)
    """
    table = dtype_precisions or _TOLERANCES
    found = []
    for value in inputs:
        if not isinstance(value, (Tensor, Dtype)):
            raise TypeError(f"Expected a torch.Tensor or a torch.dtype, but got {type(value)} instead.")
        found.append(table.get(value.dtype if isinstance(value, Tensor) else value, (0.0, 0.0)))
    return max(rtol for rtol, _ in found), max(atol for _, atol in found)


# ---- pairing
def _pair_up(
    actual: Any, expected: Any, path: Path, sequences: Any = Sequence, mappings: Any = Mapping, texts: Any = str
) -> Iterator[tuple[Path, Any, Any]]:
    """Each position in the containers, with the two values there; ``texts`` are sequences that are values."""
    if all(isinstance(v, sequences) and not isinstance(v, texts) for v in (actual, expected)):
        if len(actual) != len(expected):
            text = f"The length of the sequences mismatch: {len(actual)} != {len(expected)}"
            raise _Mismatch(AssertionError, text, path)
        for i in range(len(actual)):
            yield from _pair_up(actual[i], expected[i], (*path, i), sequences, mappings, texts)
    elif isinstance(actual, mappings) and isinstance(expected, mappings):
        for key in _common_keys(actual, expected, path):
            yield from _pair_up(actual[key], expected[key], (*path, key), sequences, mappings, texts)
    else:
        yield path, actual, expected


def _common_keys(actual: Any, expected: Any, path: Path) -> Any:
    have, want = set(actual.keys()), set(expected.keys())
    if have != want:
        raise _Mismatch(
            AssertionError,
            "The keys of the mappings do not match:\n"
            f"Missing keys in the actual mapping: {sorted(want - have)}\n"
            f"Additional keys in the actual mapping: {sorted(have - want)}",
            path,
        )
    with contextlib.suppress(TypeError):  # keys without an order
        return sorted(have)
    return have


def _comparison(actual: Any, expected: Any, path: Path, options: _Options) -> Callable[[], None]:
    """The function that compares two values of the same kind."""
    if actual is None or expected is None:
        return lambda: _compare_identity("None", actual, expected)
    if isinstance(actual, (bool, np.bool_)) and isinstance(expected, (bool, np.bool_)):
        return lambda: _compare_identity("Booleans", bool(actual), bool(expected))
    numbers = (int, float, complex, np.number)
    if isinstance(actual, numbers) and isinstance(expected, numbers):
        return _number_comparison(actual, expected, path, options)
    tensors = _as_tensors(actual, expected, options)
    if tensors is None:
        raise _Mismatch(
            TypeError,
            f"No comparison pair was able to handle inputs of type {type(actual)} and {type(expected)}.",
            path,
        )
    rtol, atol = _tolerances(*tensors, options=options, path=path)
    return lambda: _compare_tensors(*tensors, rtol, atol, options)


def _check_tolerances(options: _Options, path: Path = ()) -> None:
    if (options.rtol is None) != (options.atol is None):
        missing = "rtol" if options.rtol is None else "atol"
        text = f"Both 'rtol' and 'atol' must be either specified or omitted, but got no {missing}."
        raise _Mismatch(ValueError, text, path)


def _tolerances(*inputs: Any, options: _Options, path: Path) -> tuple[float, float]:
    _check_tolerances(options, path)
    if options.rtol is not None and options.atol is not None:
        return options.rtol, options.atol
    return default_tolerances(*inputs)


def _as_tensors(actual: Any, expected: Any, options: _Options) -> tuple[Tensor, Tensor] | None:
    """Two values as tensors, if the class of one is a subclass of the other's."""
    related = isinstance(actual, type(expected)) or isinstance(expected, type(actual))
    if not related or (not options.allow_subclasses and type(actual) is not type(expected)):
        return None
    try:
        return tuple(v if isinstance(v, Tensor) else torch.as_tensor(v) for v in (actual, expected))  # type: ignore[return-value]
    except (TypeError, ValueError, RuntimeError):
        return None


# ---- comparing
def _compare_identity(kind: str, actual: Any, expected: Any) -> None:
    if actual is not expected:
        raise _Mismatch(AssertionError, f"{kind} mismatch: {actual} is not {expected}")


def _number_comparison(actual: Any, expected: Any, path: Path, options: _Options) -> Callable[[], None]:
    actual, expected = (v.item() if isinstance(v, np.number) else v for v in (actual, expected))
    kinds = [_OF_NUMBERS.get(type(v)) for v in (actual, expected)]
    if None in kinds:
        raise _Mismatch(
            RuntimeError,
            f"Originating a NumberPair() at item {''.join(str([i]) for i in path)} with\n\n"
            f"{type(actual).__name__}(): {actual}\n\nand\n\n{type(expected).__name__}(): {expected}\n\n"
            "is not possible: a bool is compared with bools only.",
        )
    rtol, atol = _tolerances(*kinds, options=options, path=path)
    return lambda: _compare_numbers(actual, expected, rtol, atol, options)


def _compare_numbers(actual: Any, expected: Any, rtol: float, atol: float, options: _Options) -> None:
    if options.check_dtype and type(actual) is not type(expected):
        text = f"The (d)types do not match: {type(actual)} != {type(expected)}."
        raise _Mismatch(AssertionError, text)
    if actual == expected or (options.equal_nan and cmath.isnan(actual) and cmath.isnan(expected)):
        return
    difference = abs(actual - expected)
    if not (cmath.isfinite(difference) and difference <= atol + rtol * abs(expected)):
        raise _Mismatch(AssertionError, _number_text(actual, expected, rtol, atol))


def _compare_tensors(actual: Tensor, expected: Tensor, rtol: float, atol: float, options: _Options) -> None:
    attributes: list[tuple[str, Any, Any, bool]] = [
        ("shape", actual.shape, expected.shape, True),
        ("layout", actual.layout, expected.layout, options.check_layout),
        ("stride()", *_strides(actual, expected, options), options.check_stride),
        ("device", actual.device, expected.device, options.check_device),
        ("dtype", actual.dtype, expected.dtype, options.check_dtype),
    ]
    for name, one, other, checked in attributes:
        if checked and one != other:
            text = f"The values for attribute '{name}' do not match: {one} != {other}."
            raise _Mismatch(AssertionError, text)
    with torch.no_grad():
        actual, expected = _of_one_dtype(actual.detach(), expected.detach())
        if actual.layout is not expected.layout:
            actual, expected = actual.to_dense(), expected.to_dense()
        if actual.layout is torch.jagged:
            actual, expected = actual.values(), expected.values()
        elif actual.layout is not torch.strided:
            return _compare_sparse(actual, expected, rtol, atol, options)
        _compare_values(actual, expected, rtol, atol, options)
    return None


def _strides(actual: Tensor, expected: Tensor, options: _Options) -> tuple[Any, Any]:
    dense = actual.layout is expected.layout is torch.strided and options.check_stride
    return (actual.stride(), expected.stride()) if dense else (None, None)


def _compare_sparse(actual: Tensor, expected: Tensor, rtol: float, atol: float, options: _Options) -> None:
    """Compare sparse tensors of one layout: the number of elements, their indices, their values."""
    names = {torch.sparse_csr: ("crow_indices", "col_indices"), torch.sparse_csc: ("ccol_indices", "row_indices")}
    kind = repr(actual.layout).rpartition("_")[2].upper()
    what = f"in sparse {kind} tensors does not match:"
    if kind == "COO" and actual.sparse_dim() != expected.sparse_dim():
        text = f"The number of sparse dimensions {what} {actual.sparse_dim()} != {expected.sparse_dim()}"
        raise _Mismatch(AssertionError, text)
    if actual._nnz() != expected._nnz():
        text = f"The number of specified values {what} {actual._nnz()} != {expected._nnz()}"
        raise _Mismatch(AssertionError, text)
    values = "_values" if kind == "COO" else "values"
    parts = [(name, 0.0, 0.0) for name in names.get(actual.layout, ("_indices",))] + [(values, rtol, atol)]
    for name, r, a in parts:
        one, other = _of_one_dtype(getattr(actual, name)(), getattr(expected, name)())
        _compare_values(one, other, r, a, options, f"Sparse {kind} {name.lstrip('_')}")


def _compare_values(
    actual: Tensor, expected: Tensor, rtol: float, atol: float, options: _Options, called: str = "Tensor-likes"
) -> None:
    matches = torch.isclose(actual, expected, rtol=rtol, atol=atol, equal_nan=options.equal_nan)
    if bool(matches.all()):
        return
    if actual.ndim == 0:
        raise _Mismatch(AssertionError, _number_text(actual.item(), expected.item(), rtol, atol))
    raise _Mismatch(AssertionError, _tensor_text(actual, expected, matches, rtol, atol, called))


def _of_one_dtype(actual: Tensor, expected: Tensor) -> tuple[Tensor, Tensor]:
    if actual.dtype is expected.dtype:
        return actual, expected
    wide = (torch.uint16, torch.uint32, torch.uint64)  # promoted with nothing
    dtype = torch.promote_types(*(torch.int64 if t.dtype in wide else t.dtype for t in (actual, expected)))
    return actual.to(dtype), expected.to(dtype)


# ---- texts
def _number_text(actual: Any, expected: Any, rtol: float, atol: float) -> str:
    difference = abs(actual - expected)
    relative = float("inf") if expected == 0 else difference / abs(expected)
    equality = rtol == 0 and atol == 0
    lines = [
        f"Scalars are not {'equal' if equality else 'close'}!",
        "",
        f"Expected {expected} but got {actual}.",
        f"Absolute difference: {difference}{_allowed(atol, equality)}",
        f"Relative difference: {relative}{_allowed(rtol, equality)}",
    ]
    return "\n".join(lines)


def _allowed(tolerance: float, equality: bool) -> str:
    return "" if equality else f" (up to {tolerance} allowed)"


def _tensor_text(
    actual: Tensor, expected: Tensor, matches: Tensor, rtol: float, atol: float, called: str = "Tensor-likes"
) -> str:
    total = matches.numel()
    wrong = total - int(matches.sum())
    one, other = actual.flatten(), expected.flatten()
    if not actual.dtype.is_floating_point and not actual.dtype.is_complex:
        one, other = one.to(torch.int64), other.to(torch.int64)
    absolute = (one - other).abs()
    absolute[matches.flatten()] = 0  # only what differs counts
    relative = absolute / other.abs()
    relative[matches.flatten()] = 0
    equality = rtol == 0 and atol == 0
    lines = [f"{called} are not {'equal' if equality else 'close'}!", ""]
    lines.append(f"Mismatched elements: {wrong} / {total} ({wrong / total:.1%})")
    for name, difference, tolerance in (("absolute", absolute, atol), ("relative", relative, rtol)):
        worst, place = difference.max(0)
        index = tuple(int(i) for i in np.unravel_index(int(place), tuple(actual.shape)))
        lines.append(f"Greatest {name} difference: {worst.item()} at index {index}{_allowed(tolerance, equality)}")
    return "\n".join(lines)
