"""Tests for devices: from a generic class, a class for each available device is made, which is only the CPU.

A generic test takes ``self, device`` and, by its decorators, ``dtype``; ``instantiate_device_type_tests`` makes
``TestThingCPU`` with ``test_x_cpu_float32`` from ``TestThing`` with ``test_x``.
"""

from __future__ import annotations

import functools
import inspect
import unittest
from collections import namedtuple
from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from functools import partial
from typing import Any, NamedTuple

from ._parametrization import Variant, _TestParametrizer, dtype_name, variant
from .common_utils import TestCase, _never
from .common_utils import skipIfNoSciPy as skipIfNoSciPy  # noqa: PLC0414  programs import it from here

__all__: list[str] = []

_ATTRIBUTE = "_device_dtypes"
TEST_WITH_ROCM = PYTORCH_CUDA_MEMCHECK = False


def has_cusolver() -> bool:
    """False."""
    return False


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
        bases = (base, *(b for b in generic_test_class.__bases__ if not issubclass(base, b)))
        made = type(f"{generic_test_class.__name__}{base.device_type.upper()}", bases, members)
        made.__module__ = generic_test_class.__module__
        for name in dir(generic_test_class):
            if name.startswith("test"):
                _instantiate(made, generic_test_class, name)
        scope[made.__name__] = made


def _names(given: Any) -> Any:
    return (given,) if isinstance(given, str) else given


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
    asked = {"device", "devices"} & set(inspect.signature(function).parameters)
    wanted = getattr(function, "num_required_devices", None)

    @functools.wraps(test)
    def instantiated(self: Any) -> Any:
        before = self.precision, self.rel_tol
        self.precision, self.rel_tol = _tolerances(function, given.get("dtype"), before)
        if wanted is not None and len(self.get_all_devices()) < wanted:
            raise unittest.SkipTest(f"fewer than {wanted} devices detected")
        device = self.get_primary_device() if wanted is None else self.get_all_devices()
        try:
            return test(self, **dict.fromkeys(asked, device))
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


# ---- decorators
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


dtypesIfCPU, dtypesIfCUDA, dtypesIfMPS, dtypesIfXPU, dtypesIfHPU, dtypesIfPRIVATEUSE1 = (
    functools.partial(dtypes, device_type=device) for device in ("cpu", "cuda", "mps", "xpu", "hpu", "privateuse1")
)


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


def _noting(attribute: str, doc: str) -> Any:
    """A decorator with an argument that it notes in an attribute of the test."""

    def decorator(value: Any) -> Any:
        def note(fn: Any) -> Any:
            setattr(fn, attribute, value)
            return fn

        return note

    decorator.__doc__ = doc
    return decorator


deviceCountAtLeast = _noting("num_required_devices", "Run only with this many devices; the test gets their list.")
precisionOverride = _noting("precision_overrides", "The absolute tolerance of each dtype.")
toleranceOverride = _noting("tolerance_overrides", "Both tolerances of each dtype.")
tol = namedtuple("tol", ["atol", "rtol"])


class expectedFailure:
    """Expect a failure on a device type."""

    def __init__(self, device_type: str | None) -> None:
        self.device_type = device_type

    def __call__(self, fn: Any) -> Any:
        return unittest.expectedFailure(fn) if self.device_type in (None, "all", "cpu") else fn


class OpDTypes(Enum):
    """A selection of an operator's dtypes."""

    supported, unsupported, supported_backward, unsupported_backward = range(4)
    any_one, none, any_common_cpu_cuda_one = range(4, 7)


class ops(_TestParametrizer):
    """A test for each operator of a list (``common_methods_invocations.op_db``) and each of its dtypes."""

    def __init__(self, op_list: Any, *, dtypes: Any = OpDTypes.supported, allowed_dtypes: Any = None, **_: Any) -> None:
        self.op_list, self.opinfo_dtypes, self.allowed_dtypes = list(op_list), dtypes, allowed_dtypes

    def _parametrize_test(self, test: Any, generic_cls: Any, device_cls: Any) -> Iterator[Variant]:
        if device_cls is None:
            raise RuntimeError(
                "The @ops decorator is only intended to be used in a device-specific context; use it with "
                "instantiate_device_type_tests() instead of instantiate_parametrized_tests()"
            )
        for op in self.op_list:
            for dtype in self._dtypes_of(op, device_cls.device_type):
                if self.allowed_dtypes is None or dtype is None or dtype in self.allowed_dtypes:
                    given = {"op": op} if dtype is None else {"op": op, "dtype": dtype}
                    asked = generic_cls.__name__, test.__name__, device_cls.device_type, dtype
                    yield test, op.formatted_name, given, partial(_decorators, test, op, asked)

    def _dtypes_of(self, op: Any, device_type: str) -> Any:
        wanted = self.opinfo_dtypes
        if isinstance(wanted, Sequence) or wanted is OpDTypes.none:
            return [None] if wanted is OpDTypes.none else wanted
        if wanted in (OpDTypes.unsupported, OpDTypes.unsupported_backward):
            return []
        found = list(op.supported_dtypes(device_type))
        return found[:1] if wanted in (OpDTypes.any_one, OpDTypes.any_common_cpu_cuda_one) else found


class SkipSpec(NamedTuple):
    """An operator whose test is skipped, or fails."""

    op_name: str
    variant_name: str
    device_type: str | None
    dtypes: Any
    expected_failure: bool


def xfail(op_name: str, variant_name: str = "", *, device_type: str | None = None, dtypes: Any = None) -> SkipSpec:
    """An operator whose test fails, for ``skipOps``."""
    return SkipSpec(op_name, variant_name, device_type, dtypes, True)


def skip(op_name: str, variant_name: str = "", *, device_type: str | None = None, dtypes: Any = None) -> SkipSpec:
    """An operator whose test is skipped, for ``skipOps``."""
    return SkipSpec(op_name, variant_name, device_type, dtypes, False)


def skipOps(to_skip: Iterable[Any]) -> Any:
    """Decorator for a test under ``ops``, of which some operators' tests are skipped or fail."""

    def decorated(fn: Any) -> Any:
        fn._op_overrides = [*getattr(fn, "_op_overrides", ()), *(SkipSpec(*spec) for spec in to_skip)]
        return fn

    return decorated


def _decorators(test: Any, op: Any, asked: Any, param_kwargs: Any) -> list[Any]:
    """The decorators of one operator's test: the operator's, and those of ``skipOps``."""
    _, _, device_type, dtype = asked
    specs = [
        spec
        for spec in getattr(test, "_op_overrides", ())
        if (spec.op_name, spec.variant_name) == (op.name, op.variant_test_name)
        and spec.device_type in (None, device_type)
        and (spec.dtypes is None or dtype in spec.dtypes)
    ]
    found = [unittest.expectedFailure if spec.expected_failure else unittest.skip("Skipped!") for spec in specs]
    return [*op.get_decorators(*asked, param_kwargs), *found]


def onlyCPU(fn: Any) -> Any:
    """Run on the CPU only."""
    return onlyOn("cpu")(fn)


def onlyNativeDeviceTypes(fn: Any) -> Any:
    """Run on PyTorch's native devices, which are all devices."""
    return fn


def onlyNativeDeviceTypesAnd(devices: Any = None) -> Any:
    """Run on PyTorch's native devices and on the given ones."""
    return _never


def onlyCUDA(fn: Any) -> Any:
    """Run on CUDA only: never."""
    return onlyOn("cuda")(fn)


def largeTensorTest(size: Any, device: Any = None, inductor: Any = None) -> Any:
    """A test that needs much memory: skipped."""
    return unittest.skip(f"needs {size} of memory")


onlyMPS = onlyXPU = onlyHPU = onlyPRIVATEUSE1 = onlyCUDAAndPRIVATEUSE1 = onlyAccelerator = onlyCUDA
expectedFailureCPU = expectedFailure("cpu")
expectedFailureCUDA = expectedFailureMPS = expectedFailureXLA = expectedFailureMeta = expectedFailureXPU = _never
expectedFailureHPU = expectedFailureMPSPre14 = expectedFailureMPSPre15 = expectedFailureMPSComplex = _never
skipMeta = skipXLA = skipLazy = skipMPS = skipXPU = skipHPU = skipGPU = skipPRIVATEUSE1 = skipCUDAIfNoMagma = _never
skipCUDAIf = skipGPUIf = skipMPSIf = skipXPUIf = skipHPUIf = skipXLAIf = skipLazyIf = skipMetaIf = _never
skipCUDAIfRocm = skipCUDAIfNotRocm = skipCUDAIfNoCudnn = skipCUDAIfNoCusolver = skipCUDAIfNoSparseGeneric = _never
skipCUDAIfNoMagmaAndNoCusolver = skipCUDAIfNoMagmaAndNoLinalgsolver = skipCUDAIfCudnnVersionLessThan = _never
skipCUDAIfNotMiopenSuggestNHWC = skipCUDAVersionIn = skipCUDAIfVersionLessThan = skipCUDAIfMiopen = _never
skipCPUIfNoLapack = skipCPUIfNoFFT = skipCPUIfNoMkl = skipCPUIfNoMkldnn = skipCPUIfNoMklSparse = _never
skipPRIVATEUSE1If = skipIfCudnn = skipSystemMemoryTest = skipCPUIfNotMkldnn = _never
disablecuDNN = disableMkldnn = _never
skipCPU = unittest.skip("skipped on the CPU")
