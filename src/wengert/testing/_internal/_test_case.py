"""``TestCase``: a unittest ``TestCase`` whose ``assertEqual`` compares numbers, tensors and containers by closeness."""

from __future__ import annotations

import contextlib
import os
import random
import re
import sys
import textwrap
import unittest
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from enum import Enum
from typing import Any

import numpy as np

import wengert as torch

from ..._tape.tensor import Tensor
from .._comparison import (
    _check_tolerances,
    _compare_identity,
    _compare_numbers,
    _compare_tensors,
    _Mismatch,
    _Options,
    _pair_up,
    _tolerances,
)

__all__: list[str] = []

SEED = 1234
_NUMBERS = (int, float, complex, np.number)
_SEQUENCES = (Sequence, torch.nn.Sequential, torch.nn.ModuleList, torch.nn.ParameterList)
_MAPPINGS = (Mapping, torch.nn.ModuleDict, torch.nn.ParameterDict)
_LOOSE = {int: torch.int64, float: torch.float32, complex: torch.complex64}  # numbers have their tolerances


class NoTest:
    """Base of classes that pytest must not collect."""

    __test__ = False


@contextlib.contextmanager
def setting(value: Any, ask: Callable[[], Any], change: Callable[[Any], Any]) -> Iterator[None]:
    """A context with another value of a setting."""
    before = ask()
    change(value)
    try:
        yield
    finally:
        change(before)


def set_warn_always_context(new_val: bool) -> contextlib.AbstractContextManager[None]:
    """A context that sets whether warnings that are given once are given always."""
    return setting(new_val, torch.is_warn_always_enabled, torch.set_warn_always)


class TestCase(unittest.TestCase):
    """A test case with PyTorch's assertions; every test starts from the same random seed."""

    precision: float = 0  # the least tolerances
    rel_tol: float = 0
    maxDiff = None
    _default_dtype_check_enabled = False

    def setUp(self) -> None:
        """Seed the generators, and store the default dtype."""
        super().setUp()
        set_rng_seed(SEED)
        if self._default_dtype_check_enabled and torch.get_default_dtype() is not torch.float32:
            raise AssertionError("the default dtype is not float32 at the beginning of a test")

    # ---- equality
    def assertEqual(
        self,
        x: Any,
        y: Any,
        msg: str | Callable[[str], str] | None = None,
        *,
        atol: float | None = None,
        rtol: float | None = None,
        equal_nan: bool = True,
        exact_dtype: bool = True,
        exact_device: bool = False,
        exact_layout: bool = False,
        exact_stride: bool = False,
        exact_is_coalesced: bool = False,
    ) -> None:
        """Fail unless both are close. Types of numbers may differ, sequences may replace tensors, NaN equals NaN."""
        __tracebackhide__ = True
        if isinstance(x, Tensor) and isinstance(y, Sequence):
            y = torch.as_tensor(y, dtype=x.dtype)
        elif isinstance(x, Sequence) and isinstance(y, Tensor):
            x = torch.as_tensor(x, dtype=y.dtype)
        x, y = (
            v.unbind() if isinstance(v, Tensor) and v.is_nested and v.layout is torch.strided else v for v in (x, y)
        )
        options = _Options(rtol, atol, equal_nan, True, exact_device, exact_dtype, exact_layout, exact_stride)
        path: tuple[Any, ...] = ()
        try:
            _check_tolerances(options)
            for path, one, other in _pair_up(x, y, (), _SEQUENCES, _MAPPINGS, (str, bytes)):  # noqa: B007  used below
                self._compare_two(one, other, options)
        except _Mismatch as error:
            error.path = error.path or path
            shown = msg
            if isinstance(msg, str) and self.longMessage:

                def shown(text: str, msg: str = msg) -> str:
                    return f"{text}\n{msg}"

            raise error.final(shown) from None

    def assertNotEqual(self, x: Any, y: Any, msg: str | None = None, **kwargs: Any) -> None:  # type: ignore[override]
        """Fail if the two are close."""
        with self.assertRaises(AssertionError, msg=msg):
            self.assertEqual(x, y, msg, **kwargs)

    def assertEqualTypeString(self, x: Any, y: Any) -> None:
        """Fail unless device, dtype and type are equal."""
        self.assertEqual(x.device, y.device)
        self.assertEqual(x.dtype, y.dtype)
        self.assertEqual(x.is_sparse, y.is_sparse)

    def assertEqualIgnoreType(self, *args: Any, **kwargs: Any) -> None:
        """``assertEqual`` of tensors whose dtypes may differ."""
        self.assertEqual(*args, exact_dtype=False, **kwargs)

    def assertEqualBroadcasting(self, x: Any, y: Any, *args: Any, **kwargs: Any) -> None:
        """``assertEqual`` of a tensor and a number or a sequence that is broadcast to its shape."""
        y = y if isinstance(y, Tensor) else torch.full_like(x, y) if not isinstance(y, Sequence) else torch.tensor(y)
        self.assertEqual(x, y.expand_as(x).to(x.dtype), *args, **kwargs)

    def _compare_two(self, x: Any, y: Any, options: _Options) -> None:
        booleans = (bool, np.bool_)
        arrays = (Tensor, np.ndarray)
        either = (*booleans, *_NUMBERS, *arrays)
        if x is None or y is None:
            _compare_identity("None", x, y)
        elif (isinstance(x, booleans) and isinstance(y, either)) or (isinstance(y, booleans) and isinstance(x, either)):
            _compare_identity("Booleans", *(bool(_one(v, "boolean")) for v in (x, y)))
        elif (isinstance(x, _NUMBERS) and isinstance(y, (*_NUMBERS, Enum, *arrays))) or (
            isinstance(y, _NUMBERS) and isinstance(x, (*_NUMBERS, Enum, *arrays))
        ):
            x, y = (_number(v) for v in (x, y))
            rtol, atol = self._tolerances(_LOOSE[type(x)], _LOOSE[type(y)], options=options)
            _compare_numbers(x, y, rtol, atol, replace(options, check_dtype=False))
        elif isinstance(x, arrays) and isinstance(y, arrays):
            x, y = (v if isinstance(v, Tensor) else torch.as_tensor(v) for v in (x, y))
            rtol, atol = self._tolerances(x.dtype, y.dtype, options=options)
            _compare_tensors(*_dense(x, y, options), rtol, atol, options)
        else:
            _compare_objects(x, y)

    def _tolerances(self, *dtypes: Any, options: _Options) -> tuple[float, float]:
        rtol, atol = _tolerances(*dtypes, options=options, path=())
        return max(rtol, self.rel_tol), max(atol, self.precision)

    # ---- warnings and errors
    @contextlib.contextmanager
    def assertWarnsOnceRegex(self, category: type[Warning], regex: str = "") -> Iterator[None]:
        """Fail unless the block gives a warning of this class, and one whose text begins with the expression."""
        with warnings.catch_warnings(record=True) as caught, set_warn_always_context(True):
            warnings.simplefilter("always")
            yield
        if not caught:
            self.fail("no warning caught")
        self.assertTrue(any(type(w.message) is category for w in caught))
        texts = [str(w.message) for w in caught]
        self.assertTrue(any(re.match(regex, text) for text in texts), f"{regex}, {texts}")

    def assertExpectedRaises(self, exc_type: type[Exception], fn: Any, *args: Any, **kwargs: Any) -> None:
        """Fail unless the call raises the exception."""
        with self.assertRaises(exc_type):
            fn(*args, **kwargs)

    def assertNotWarn(self, callable: Any, msg: str = "") -> None:
        """Fail if the call warns."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            callable()
        self.assertTrue(len(caught) == 0, msg)

    @contextlib.contextmanager
    def assertRaisesRegexWithHighlight(self, exception: type[Exception], regex: str, highlight: str) -> Iterator[None]:
        """Fail unless the block raises the exception."""
        with self.assertRaisesRegex(exception, regex):
            yield

    def assertExpected(self, s: str, subname: str | None = None) -> None:
        """Fail unless the text equals that of the file for this test and ``subname`` in the folder ``expect``.

        The folder lies beside the test's module. With the environment variable ``EXPECTTEST_ACCEPT``, the text is
        written to the file.
        """
        if not isinstance(s, str):
            raise TypeError("assertExpected is strings only")
        module = type(self).__module__
        name = self.id().removeprefix(f"{module}.")
        folder = os.path.join(os.path.dirname(os.path.realpath(str(sys.modules[module].__file__))), "expect")
        path = os.path.join(folder, "-".join(filter(None, (name, subname))) + ".expect")
        if os.getenv("EXPECTTEST_ACCEPT"):
            with open(path, "w") as file:
                file.write(s)
            return
        if not os.path.exists(path):
            raise RuntimeError(
                f"I got this output for {name}{f' ({subname})' if subname else ''}:\n\n{s}\n\n"
                f"No expect file exists; to accept the current output, set EXPECTTEST_ACCEPT=1 and run {name} again."
            )
        with open(path) as file:
            self.assertMultiLineEqual(file.read(), s)

    def assertExpectedInline(self, actual: str, expect: str, skip: int = 0) -> None:
        """Fail unless the text equals the one in the program."""
        self.assertMultiLineEqual(textwrap.dedent(expect).strip(), str(actual).strip())

    def assertExpectedRaisesInline(self, exc_type: Any, callable: Any, expect: str, *args: Any, **kwargs: Any) -> None:
        """Fail unless the call raises the exception with this text."""
        try:
            callable(*args, **kwargs)
        except exc_type as error:
            self.assertExpectedInline(str(error), expect)
            return
        self.fail(f"Did not raise when expected to {exc_type}")

    def assertLeaksNoCudaTensors(self, name: str | None = None) -> Any:
        """A context that checks nothing: there is no CUDA."""
        return contextlib.nullcontext()

    # ---- what tests use
    def genSparseTensor(
        self, size: Any, sparse_dim: int, nnz: int, is_uncoalesced: bool, device: Any, dtype: Any
    ) -> tuple[Tensor, Tensor, Tensor]:
        """A random sparse COO tensor, its indices and its values."""
        from .._creation import make_tensor

        if nnz and not all(size[d] > 0 for d in range(sparse_dim)):
            raise AssertionError(f"invalid arguments: size={size}, sparse_dim={sparse_dim}, nnz={nnz}")
        values = make_tensor([nnz, *size[sparse_dim:]], device=device, dtype=dtype, low=-1, high=1)
        indices = torch.rand(sparse_dim, nnz)
        indices.mul_(torch.tensor(size[:sparse_dim]).unsqueeze(1).to(indices))
        indices = indices.to(torch.long)
        if is_uncoalesced:
            indices = torch.cat([indices[:, : nnz // 2], indices[:, : (nnz + 1) // 2]], 1)
        made = torch.sparse_coo_tensor(indices, values, torch.Size(size), dtype=dtype)
        made = made.detach().clone()._coalesced_(False) if is_uncoalesced else made.coalesce()
        return made, made._indices().clone(), made._values().clone()

    def safeToDense(self, t: Tensor) -> Tensor:
        """``coalesce`` if the tensor has this method."""
        return t.coalesce().to_dense() if t.is_sparse else t.to_dense()

    @staticmethod
    def runWithPytorchAPIUsageStderr(code: str) -> str:
        """The standard error output of a program."""
        import subprocess

        return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False).stderr


def _one(value: Any, kind: str) -> Any:
    """The only element."""
    if isinstance(value, (Tensor, np.ndarray)):
        count = value.numel() if isinstance(value, Tensor) else value.size
        if count > 1:
            text = f"Only single element tensor-likes can be compared against a {kind}. Got {count} elements instead."
            raise _Mismatch(ValueError, text)
    return value.item() if isinstance(value, (Tensor, np.ndarray, np.generic)) else value


def _number(value: Any) -> Any:
    found = value.value if isinstance(value, Enum) else _one(value, "number")
    return int(found) if isinstance(found, bool) else next(k(found) for k in _LOOSE if isinstance(found, k))


def _dense(x: Tensor, y: Tensor, options: _Options) -> tuple[Tensor, Tensor]:
    """Compare sparse tensors by their values; the layouts must be equal unless they may differ."""
    if not (x.is_sparse or y.is_sparse):
        return x, y
    if options.check_layout and x.layout != y.layout:
        text = f"The values for attribute 'layout' do not match: {x.layout} != {y.layout}."
        raise _Mismatch(AssertionError, text)
    return x.to_dense(), y.to_dense()


def _compare_objects(x: Any, y: Any) -> None:
    """unittest's comparison, with a description of the compared values before its message."""
    kinds: tuple[tuple[Any, str], ...] = (((str, bytes), "String"), (set, "Set"), (type, "Type"), (object, "Object"))
    case = unittest.TestCase()
    name = next(n for k, n in kinds if isinstance(x, k) and isinstance(y, k))
    try:
        case.assertEqual(x, y)
    except AssertionError as error:
        raise _Mismatch(AssertionError, f"{name} comparison failed: {error}") from None


def set_rng_seed(seed: int | None = None) -> None:
    """Seed wengert's, Python's and NumPy's streams."""
    seed = SEED if seed is None else seed
    torch.manual_seed(seed)
    random.seed(seed)
    np.random.seed(seed)
