"""Tests for devices: from a generic class, a class for each available device is made, which is only the CPU.

A generic test takes ``self, device`` and, by its decorators, ``dtype``; ``instantiate_device_type_tests`` makes
``TestThingCPU`` with ``test_x_cpu_float32`` from ``TestThing`` with ``test_x``.
"""

from __future__ import annotations

import functools
import unittest
from collections import namedtuple
from collections.abc import Callable
from enum import Enum
from typing import Any

from ._parametrization import dtype_name, variant
from .common_utils import TEST_SCIPY, TestCase

__all__: list[str] = []

_ATTRIBUTE = "_device_dtypes"


class DeviceTypeTestBase(TestCase):
    """Base of the tests of one device."""

    device_type = "generic_device_type"

    @classmethod
    def get_primary_device(cls) -> str:
        """The device for tests that use a single one."""
        return cls.device_type

    @classmethod
    def get_all_devices(cls) -> list[str]:
        """All devices of the type."""
        return [cls.get_primary_device()]


class CPUTestBase(DeviceTypeTestBase):
    """Base of the tests on the CPU."""

    device_type = "cpu"


device_type_test_bases = [CPUTestBase]


def get_device_type_test_bases() -> list[Any]:
    """The base classes of the available devices."""
    return list(device_type_test_bases)


get_desired_device_type_test_bases = get_device_type_test_bases


def get_all_device_types() -> list[str]:
    """The names of the available devices."""
    return ["cpu"]


def instantiate_device_type_tests(
    generic_test_class: Any,
    scope: dict[str, Any],
    except_for: Any = None,
    only_for: Any = None,
    include_lazy: bool = False,
    allow_mps: bool = False,
    allow_xpu: bool = False,
) -> None:
    """Replace the generic class in ``scope`` by a class for each device."""
    scope.pop(generic_test_class.__name__, None)
    for base in device_type_test_bases:
        if (except_for and base.device_type in _names(except_for)) or (
            only_for and base.device_type not in _names(only_for)
        ):
            continue
        members = {
            name: value
            for name, value in vars(generic_test_class).items()
            if not name.startswith("test") and name not in ("__dict__", "__weakref__", "__module__")
        }
        made = type(
            f"{generic_test_class.__name__}{base.device_type.upper()}", _bases(base, generic_test_class), members
        )
        made.__module__ = generic_test_class.__module__
        for name in dir(generic_test_class):
            if name.startswith("test"):
                _instantiate(made, generic_test_class, name)
        scope[made.__name__] = made


def _names(given: Any) -> Any:
    return (given,) if isinstance(given, str) else given


def _bases(base: Any, generic: Any) -> tuple[Any, ...]:
    """The bases of a device's class: the device's base, and the generic class without its tests."""
    others = [b for b in generic.__bases__ if not issubclass(base, b)]
    return (base, *others)


def _instantiate(made: Any, generic: Any, name: str) -> None:
    """The variants of one generic test, for all values of its parameters and all dtypes."""
    test = getattr(generic, name)
    variants: list[Any] = [(test, "", {}, lambda _: ())]
    if hasattr(test, "parametrize_fn"):
        variants = list(test.parametrize_fn(test, generic, made))
    for function, suffix, kwargs, decorators in variants:
        dtypes = getattr(function, _ATTRIBUTE, {})
        found = dtypes.get(made.device_type, dtypes.get("all"))
        for dtype in [None] if found is None or "dtype" in kwargs else found:
            full = "_".join(part for part in (name, suffix, made.device_type, _dtype_suffix(dtype, kwargs)) if part)
            several = isinstance(dtype, (list, tuple))
            given = kwargs if dtype is None else {**kwargs, "dtypes" if several else "dtype": dtype}
            setattr(made, full, _with_device(variant(function, given, decorators(given)), function, full, made, given))


def _dtype_suffix(dtype: Any, kwargs: dict[str, Any]) -> str:
    if dtype is None:
        return dtype_name(kwargs["dtype"]) if "dtype" in kwargs else ""
    return "_".join(map(dtype_name, dtype)) if isinstance(dtype, (list, tuple)) else dtype_name(dtype)


def _with_device(test: Any, function: Any, name: str, made: Any, given: dict[str, Any]) -> Any:
    @functools.wraps(test)
    def instantiated(self: Any) -> Any:
        before = self.precision, self.rel_tol
        self.precision, self.rel_tol = _tolerances(function, given.get("dtype"), before)
        wanted = getattr(function, "num_required_devices", None)
        device: Any = self.get_primary_device()
        if wanted is not None:
            device = self.get_all_devices()
            if len(device) < wanted:
                raise unittest.SkipTest(f"fewer than {wanted} devices detected")
        try:
            return test(self, device)
        finally:
            self.precision, self.rel_tol = before

    instantiated.__name__ = name
    instantiated.__qualname__ = f"{made.__qualname__}.{name}"
    instantiated.__dict__.pop("parametrize_fn", None)
    del instantiated.__wrapped__
    return instantiated


def _tolerances(function: Any, dtype: Any, before: tuple[float, float]) -> tuple[float, float]:
    if dtype in getattr(function, "precision_overrides", {}):
        return function.precision_overrides[dtype], before[1]
    if dtype in getattr(function, "tolerance_overrides", {}):
        found = function.tolerance_overrides[dtype]
        return found.atol, found.rtol
    return before


# ---------------------------------------------------------------------------------------------------------- decorators
class dtypes:
    """The dtypes with which a test runs, single ones or tuples."""

    def __init__(self, *args: Any, device_type: str = "all") -> None:
        self.args = list(args)
        self.device_type = device_type

    def __call__(self, fn: Any) -> Any:
        found = dict(getattr(fn, _ATTRIBUTE, {}))
        if self.device_type in found:
            raise RuntimeError(f"dtypes redefinition for {self.device_type}")
        found[self.device_type] = self.args
        setattr(fn, _ATTRIBUTE, found)
        return fn


def _dtypes_of(device_type: str) -> Callable[..., Any]:
    def decorator(*args: Any) -> Any:
        return dtypes(*args, device_type=device_type)

    return decorator


dtypesIfCPU, dtypesIfCUDA, dtypesIfMPS = _dtypes_of("cpu"), _dtypes_of("cuda"), _dtypes_of("mps")
dtypesIfXPU, dtypesIfHPU, dtypesIfPRIVATEUSE1 = _dtypes_of("xpu"), _dtypes_of("hpu"), _dtypes_of("privateuse1")


class skipIf:
    """Skip a test on a device type if the condition holds."""

    def __init__(self, dep: Any, reason: str, device_type: str | None = None) -> None:
        self.dep, self.reason, self.device_type = dep, reason, device_type

    def __call__(self, fn: Any) -> Any:
        @functools.wraps(fn)
        def wrapper(slf: Any, *args: Any, **kwargs: Any) -> Any:
            holds = getattr(slf, self.dep, True) if isinstance(self.dep, str) else self.dep
            if holds and self.device_type in (None, slf.device_type):
                raise unittest.SkipTest(self.reason)
            return fn(slf, *args, **kwargs)

        return wrapper


class skipCPUIf(skipIf):
    """Skip on the CPU if the condition holds."""

    def __init__(self, dep: Any, reason: str) -> None:
        super().__init__(dep, reason, device_type="cpu")


class onlyOn:
    """Run on these device types only."""

    def __init__(self, device_type: Any) -> None:
        self.device_type = device_type

    def __call__(self, fn: Any) -> Any:
        @functools.wraps(fn)
        def only_fn(slf: Any, *args: Any, **kwargs: Any) -> Any:
            if slf.device_type not in _names(self.device_type):
                raise unittest.SkipTest(f"Only runs on {self.device_type}")
            return fn(slf, *args, **kwargs)

        return only_fn


class deviceCountAtLeast:
    """Run only with this many devices; the test gets their list."""

    def __init__(self, num_required_devices: int) -> None:
        self.num_required_devices = num_required_devices

    def __call__(self, fn: Any) -> Any:
        fn.num_required_devices = self.num_required_devices
        return fn


class expectedFailure:
    """Expect a failure on a device type."""

    def __init__(self, device_type: str | None) -> None:
        self.device_type = device_type

    def __call__(self, fn: Any) -> Any:
        return unittest.expectedFailure(fn) if self.device_type in (None, "all", "cpu") else fn


class precisionOverride:
    """The absolute tolerance of each dtype."""

    def __init__(self, d: dict[Any, float]) -> None:
        self.d = d

    def __call__(self, fn: Any) -> Any:
        fn.precision_overrides = self.d
        return fn


tol = namedtuple("tol", ["atol", "rtol"])


class toleranceOverride:
    """Both tolerances of each dtype."""

    def __init__(self, d: dict[Any, Any]) -> None:
        self.d = d

    def __call__(self, fn: Any) -> Any:
        fn.tolerance_overrides = self.d
        return fn


class OpDTypes(Enum):
    """A selection of an operator's dtypes."""

    supported = 0
    unsupported = 1
    supported_backward = 2
    unsupported_backward = 3
    any_one = 4
    none = 5
    any_common_cpu_cuda_one = 6


def _as_it_is(fn: Any = None, *args: Any, **kwargs: Any) -> Any:
    """A decorator for another device, which leaves the test unchanged, with and without options."""
    return fn if callable(fn) and not args and not kwargs else lambda test: test


def onlyCPU(fn: Any) -> Any:
    """Run on the CPU only."""
    return onlyOn("cpu")(fn)


def onlyNativeDeviceTypes(fn: Any) -> Any:
    """Run on PyTorch's native devices, which are all devices."""
    return fn


def onlyNativeDeviceTypesAnd(devices: Any = None) -> Any:
    """Run on PyTorch's native devices and on the given ones."""
    return _as_it_is


def onlyCUDA(fn: Any) -> Any:
    """Run on CUDA only: never."""
    return onlyOn("cuda")(fn)


def largeTensorTest(size: Any, device: Any = None, inductor: Any = None) -> Any:
    """A test that needs much memory: skipped."""
    return unittest.skip(f"needs {size} of memory")


onlyMPS = onlyXPU = onlyHPU = onlyPRIVATEUSE1 = onlyCUDAAndPRIVATEUSE1 = onlyAccelerator = onlyCUDA
expectedFailureCPU = expectedFailure("cpu")
expectedFailureCUDA = expectedFailureMPS = expectedFailureXLA = expectedFailureMeta = expectedFailureXPU = _as_it_is
expectedFailureHPU = expectedFailureMPSPre14 = expectedFailureMPSPre15 = expectedFailureMPSComplex = _as_it_is
skipMeta = skipXLA = skipLazy = skipMPS = skipXPU = skipHPU = skipGPU = skipPRIVATEUSE1 = skipCUDAIfNoMagma = _as_it_is
skipCUDAIf = skipGPUIf = skipMPSIf = skipXPUIf = skipHPUIf = skipXLAIf = skipLazyIf = skipMetaIf = _as_it_is
skipCUDAIfRocm = skipCUDAIfNotRocm = skipCUDAIfNoCudnn = skipCUDAIfNoCusolver = skipCUDAIfNoSparseGeneric = _as_it_is
skipCUDAIfNoMagmaAndNoCusolver = skipCUDAIfNoMagmaAndNoLinalgsolver = skipCUDAIfCudnnVersionLessThan = _as_it_is
skipCUDAIfNotMiopenSuggestNHWC = skipCUDAVersionIn = skipCUDAIfVersionLessThan = skipCUDAIfMiopen = _as_it_is
skipCPUIfNoLapack = skipCPUIfNoFFT = skipCPUIfNoMkl = skipCPUIfNoMkldnn = skipCPUIfNoMklSparse = _as_it_is
skipPRIVATEUSE1If = skipIfCudnn = skipSystemMemoryTest = skipCPUIfNotMkldnn = _as_it_is
disablecuDNN = disableMkldnn = _as_it_is
skipCPU = unittest.skip("skipped on the CPU")
skipIfNoSciPy = unittest.skipIf(not TEST_SCIPY, "test require SciPy, but SciPy not found")
