"""``torch.testing._internal.common_utils``: helpers that most test suites written for PyTorch import.

Flags about devices, compilers and builds of PyTorch say that the feature is missing, and tests that need it are
skipped.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import io
import itertools
import os
import platform
import sys
import tempfile
import threading
import unittest
import warnings
from collections.abc import Callable, Iterable, Iterator
from enum import Enum
from importlib.util import find_spec
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np

import wengert as torch

from ..._tape.tensor import Tensor
from ...library import LIBRARIES_OF_TESTS
from .._creation import make_tensor as make_tensor  # noqa: PLC0414
from ._matrices import *  # noqa: F403  programs import them from here, as what follows
from ._parametrization import *  # noqa: F403
from ._parametrization import _TestParametrizer as _TestParametrizer  # noqa: PLC0414
from ._test_case import SEED, TestCase, setting
from ._test_case import NoTest as NoTest  # noqa: PLC0414
from ._test_case import set_rng_seed as set_rng_seed  # noqa: PLC0414
from ._test_case import set_warn_always_context as set_warn_always_context  # noqa: PLC0414

__all__: list[str] = []
TestCaseBase = TestCase

# ---- where the tests run
IS_LINUX = sys.platform == "linux"
IS_WINDOWS = sys.platform == "win32"
IS_MACOS = sys.platform == "darwin"
IS_X86 = platform.machine() in ("x86_64", "i386", "AMD64")
IS_ARM64 = platform.machine() in ("arm64", "aarch64", "ARM64")
IS_PPC = platform.machine() == "ppc64le"
IS_S390X = platform.machine() == "s390x"
IS_CI = IS_SANDCASTLE = IS_FBCODE = IS_REMOTE_GPU = IS_JETSON = IN_RE_WORKER = False
IS_AVX512_VNNI_SUPPORTED = False
IS_FILESYSTEM_UTF8_ENCODING = sys.getfilesystemencoding() == "utf-8"
NO_MULTIPROCESSING_SPAWN = False
TEST_NUMPY = True
TEST_SCIPY = find_spec("scipy") is not None
TEST_NUMBA = find_spec("numba") is not None
TEST_DILL = find_spec("dill") is not None
TEST_OPT_EINSUM = find_spec("opt_einsum") is not None
TEST_CUDA = TEST_MPS = TEST_XPU = TEST_HPU = TEST_MKL = TEST_ONEDNN = TEST_FAIRSEQ = TEST_TRANSFORMERS = False
TEST_ACCELERATOR = TEST_MULTIACCELERATOR = TEST_MULTIGPU = TEST_CUDA_GRAPH = TEST_PRIVATEUSE1 = False
TEST_WITH_ASAN = TEST_WITH_TSAN = TEST_WITH_UBSAN = TEST_WITH_DEV_DBG_ASAN = TEST_WITH_ROCM = TEST_WITH_MTIA = False
TEST_WITH_TORCHDYNAMO = TEST_WITH_TORCHINDUCTOR = TEST_WITH_AOT_EAGER = TEST_WITH_CROSSREF = TEST_WITH_TV = False
TEST_WITHOUT_COMPILED_AUTOGRAD = True
TEST_CUDA_MEM_LEAK_CHECK = TEST_SKIP_NOARCH = TEST_IN_SUBPROCESS = False
TEST_WITH_SLOW = os.getenv("PYTORCH_TEST_WITH_SLOW") == "1"
TEST_SKIP_FAST = os.getenv("PYTORCH_TEST_SKIP_FAST") == "1"
TEST_WITH_SLOW_GRADCHECK = os.getenv("PYTORCH_TEST_WITH_SLOW_GRADCHECK") == "1"
TEST_Z3 = find_spec("z3") is not None
TEST_LIBROSA = TEST_ACL = TEST_BAILOUTS = RERUN_DISABLED_TESTS = SHOWLOCALS = IS_CPU_EXT_SVE_SUPPORTED = False
TEST_PRIVATEUSE1_DEVICE_TYPE = custom_device_mod = None
USE_PYTEST = has_pytest = find_spec("pytest") is not None
MACOS_VERSION = 0.0
UNITTEST_ARGS = [sys.argv[0]]
GRADCHECK_NONDET_TOL = 1e-12
MI200_ARCH = MI300_ARCH = MI350_ARCH = NAVI_ARCH = ()
dtype2prec_DONTUSE = {torch.float: 1e-5, torch.double: 1e-5, torch.half: 1e-2, torch.bfloat16: 1e-1}
NATIVE_DEVICES = ("cpu", "cuda", "xpu", "meta", "mps", "mtia", "privateuseone")

numpy_to_torch_dtype_dict = {
    np.bool_: torch.bool, np.uint8: torch.uint8, np.uint16: torch.uint16, np.uint32: torch.uint32,
    np.uint64: torch.uint64, np.int8: torch.int8, np.int16: torch.int16, np.int32: torch.int32, np.int64: torch.int64,
    np.float16: torch.float16, np.float32: torch.float32, np.float64: torch.float64, np.complex64: torch.complex64,
    np.complex128: torch.complex128,
}  # fmt: skip
torch_to_numpy_dtype_dict: dict[Any, Any] = {v: k for k, v in numpy_to_torch_dtype_dict.items()}
torch_to_numpy_dtype_dict |= {torch.bfloat16: np.float32, torch.complex32: np.complex64}


def numpy_to_torch_dtype(np_dtype: Any) -> Any:
    """The dtype of tensors for a NumPy dtype."""
    return numpy_to_torch_dtype_dict[np.dtype(np_dtype).type]


def has_corresponding_torch_dtype(np_dtype: Any) -> bool:
    """Whether there is one."""
    return np.dtype(np_dtype).type in numpy_to_torch_dtype_dict


# ---- skips
def lazy_skip_if(condition_fn: Callable[[], bool], reason: str) -> Any:
    """Skip a test if the condition holds when it runs."""

    def decorator(fn: Any) -> Any:
        @functools.wraps(fn)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            if condition_fn():
                raise unittest.SkipTest(reason)
            return fn(*args, **kwargs)

        return wrapper

    return decorator


def _never(fn: Any = None, *args: Any, **kwargs: Any) -> Any:
    """A decorator whose reason to skip never applies, with and without options."""
    return fn if callable(fn) and not args and not kwargs else lambda test: test


skipIfTorchDynamo = skipIfTorchInductor = skipIfRocm = skipIfRocmArch = skipIfXpu = skipIfMPS = skipIfHpu = _never
skipIfMTIA = skipIfCrossRef = skipIfLegacyJitExecutor = skipIfFreeThreaded = skipIfNNModuleInlined = _never
skipIfNoLapack = skipIfCompiledWithoutNumpy = skipRocmIfTorchInductor = skipIfRocmVersionLessThan = _never
skipIfSlowGradcheckEnv = skipCUDAMemoryLeakCheckIf = skipCUDANonDefaultStreamIf = skip_but_pass_in_sandcastle_if = (
    _never
)
xfailIfTorchDynamo = xfailIfACL = xfailIfROCm = xpassIfTorchDynamo_np = runWithoutCompiledAutograd = _never
markDynamoStrictTest = unMarkDynamoStrictTest = make_dynamo_test = serialTest = gcIfJetson = _never
setBlasBackendsToDefaultFinally = setLinalgBackendsToDefaultFinally = recover_orig_fp32_precision = _never
skipIfNoXNNPACK = skipIfNoTorchVision = unittest.skip("not part of wengert")
skipIfNoXPU = skipIfNoAccelerator = skipIfNoAcceleratorTriton = unittest.skip("there is no such device")
runOnRocm = runOnRocmArch = unittest.skip("test currently only works on the ROCm stack")
xfailIfLinux = unittest.expectedFailure if IS_LINUX else _never
xfailIfWindows = unittest.expectedFailure if IS_WINDOWS else _never
xfailIfS390X = unittest.expectedFailure if IS_S390X else _never
xfailIfPy312Plus = unittest.expectedFailure if sys.version_info >= (3, 12) else _never
skipIfNoSciPy = unittest.skipIf(not TEST_SCIPY, "test require SciPy, but SciPy not found")


def xfailIf(condition: bool) -> Any:
    """Expect a failure if the condition holds."""
    return unittest.expectedFailure if condition else _never


skip_but_pass_in_sandcastle = unittest.skip


def skipIfWindows(func: Any = None, *, msg: str = "test doesn't currently work on the Windows stack") -> Any:
    """Skip on Windows."""
    decorator = unittest.skipIf(IS_WINDOWS, msg)
    return decorator(func) if func is not None else decorator


def skipIfPythonVersionMismatch(predicate: Callable[[Any], bool]) -> Any:
    """Skip unless Python's version matches."""
    return unittest.skipIf(not predicate(sys.version_info), "Python version mismatch")


def slowTest(fn: Any) -> Any:
    """Mark a test as slow; it runs only where slow tests run."""
    made = lazy_skip_if(lambda: not TEST_WITH_SLOW, "test is slow; run with PYTORCH_TEST_WITH_SLOW to enable test")(fn)
    made.__dict__["slow_test"] = True
    return made


def slowTestIf(condition: bool) -> Any:
    """Mark a test as slow if the condition holds."""
    return slowTest if condition else _never


def skip_exception_type(exc_type: type[Exception]) -> Any:
    """A context that skips the test on certain errors."""

    @contextlib.contextmanager
    def context() -> Iterator[None]:
        try:
            yield
        except exc_type as error:
            raise unittest.SkipTest(f"not implemented: {error}") from error

    return context()


scoped_load_inline = unittest.skip("there is no C++ in wengert")


# ---- contexts
def freeze_rng_state() -> Any:
    """A context that restores the state of the random generator at its end."""
    return torch.random.fork_rng()


def set_default_dtype(dtype: Any) -> contextlib.AbstractContextManager[None]:
    """A context with another default dtype."""
    return setting(dtype, torch.get_default_dtype, torch.set_default_dtype)


@contextlib.contextmanager
def set_default_tensor_type(tensor_type: Any) -> Iterator[None]:
    """A context with another default tensor type."""
    with set_default_dtype(torch.get_default_dtype()):
        torch.set_default_tensor_type(tensor_type)
        yield


def disable_gc() -> contextlib.AbstractContextManager[None]:
    """A context without garbage collection."""
    return setting(False, gc.isenabled, lambda on: gc.enable() if on else gc.disable())


class ProfilingMode(Enum):
    """How PyTorch's TorchScript runs graphs; here there is no difference."""

    LEGACY, SIMPLE, PROFILING = 1, 2, 3


GRAPH_EXECUTOR = ProfilingMode.PROFILING
CudaNonDefaultStream = CudaSyncGuard = AlwaysWarnTypedStorageRemoval = contextlib.nullcontext
enable_profiling_mode = enable_profiling_mode_for_profiling_tests = num_profiled_runs = contextlib.nullcontext


class DeterministicGuard:
    """A context with other settings of determinism."""

    def __init__(self, deterministic: bool, *, warn_only: bool = False, fill_uninitialized_memory: bool = True) -> None:
        self.deterministic, self.warn_only = deterministic, warn_only

    def __enter__(self) -> None:
        self._before = torch.are_deterministic_algorithms_enabled()
        self._before_warn = torch.is_deterministic_algorithms_warn_only_enabled()
        torch.use_deterministic_algorithms(self.deterministic, warn_only=self.warn_only)

    def __exit__(self, *error: object) -> None:
        torch.use_deterministic_algorithms(self._before, warn_only=self._before_warn)


def wrapDeterministicFlagAPITest(fn: Any) -> Any:
    """A decorator that restores the settings of determinism after a test."""

    @functools.wraps(fn)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        with DeterministicGuard(torch.are_deterministic_algorithms_enabled()):
            return fn(*args, **kwargs)

    return wrapper


set_cwd = contextlib.chdir


@contextlib.contextmanager
def TemporaryFileName(*args: Any, **kwargs: Any) -> Iterator[str]:
    """A context with a temporary file; yields its name."""
    kwargs["delete"] = False
    made = tempfile.NamedTemporaryFile(*args, **kwargs)  # noqa: SIM115
    made.close()
    try:
        yield made.name
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(made.name)


def TemporaryDirectoryName(suffix: str | None = None) -> contextlib.AbstractContextManager[str]:
    """A context with a temporary folder; yields its name."""
    return tempfile.TemporaryDirectory(suffix=suffix)


def suppress_warnings(fn: Any) -> Any:
    """A decorator that suppresses the warnings of a test."""

    @functools.wraps(fn)
    def wrapper(*args: Any, **kwargs: Any) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fn(*args, **kwargs)

    return wrapper


# ---- gradients
def gradcheck(fn: Any, inputs: Any, **kwargs: Any) -> bool:
    """``autograd.gradcheck``, by default in fast mode and with batched gradients."""
    return torch.autograd.gradcheck(fn, inputs, **_checks(kwargs))


def gradgradcheck(fn: Any, inputs: Any, grad_outputs: Any = None, **kwargs: Any) -> bool:
    """``autograd.gradgradcheck``, by default in fast mode and with batched gradients."""
    return torch.autograd.gradgradcheck(fn, inputs, grad_outputs, **_checks(kwargs))


def _checks(kwargs: dict[str, Any]) -> dict[str, Any]:
    usual = {"check_batched_grad": True, "fast_mode": not TEST_WITH_SLOW_GRADCHECK}
    return kwargs | {name: value for name, value in usual.items() if kwargs.get(name) is None}


def _assertGradAndGradgradChecks(test_case: Any, apply_fn: Any, inputs: Any, **kwargs: Any) -> None:
    test_case.assertTrue(gradcheck(apply_fn, inputs, **kwargs))
    test_case.assertTrue(gradgradcheck(apply_fn, inputs, **kwargs))


def outs_and_grads(fn: Any, graph_inps: Any, inps: Any) -> Any:
    """The outputs, and the gradients of the inputs that require grad."""
    outs = fn(*graph_inps)
    for out in torch.utils._pytree.tree_leaves(outs):
        if isinstance(out, Tensor) and out.requires_grad:
            out.sum().backward(retain_graph=True)
    leaves = [t for t in torch.utils._pytree.tree_leaves(inps) if isinstance(t, Tensor)]
    grads = [t.grad for t in leaves]
    for t in leaves:
        t.grad = None
    return outs, grads


def compare_equal_outs_and_grads(test: Any, m1: Any, m2: Any, inps: Any) -> None:
    """Fail unless two functions have the same outputs and gradients."""
    one, one_grads = outs_and_grads(m1, inps, inps)
    other, other_grads = outs_and_grads(m2, inps, inps)
    test.assertEqual(one, other)
    test.assertEqual(one_grads, other_grads)


# ---- helpers
def load_tests(loader: Any, tests: Any, pattern: Any) -> Any:
    """The tests, as unittest's protocol ``load_tests`` wants them."""
    return tests


def download_file(url: str, binary: bool = True) -> str:
    """Skip the test: tests do not use the network."""
    raise unittest.SkipTest(f"{url} is not downloaded")


def coalescedonoff(f: Any) -> Any:
    """Run a test with ``coalesced=True`` and ``False``."""

    @functools.wraps(f)
    def wrapped(self: Any, *args: Any, **kwargs: Any) -> None:
        f(self, *args, **kwargs, coalesced=True)
        f(self, *args, **kwargs, coalesced=False)

    return wrapped


def is_coalesced_indices(s: Tensor) -> bool:
    """Whether the indices of a sparse tensor are sorted and unique."""
    columns = [tuple(column) for column in s._indices().t().tolist()]
    return all(one < other for one, other in itertools.pairwise(columns))


def bytes_to_scalar(byte_list: list[int], dtype: Any, device: Any) -> Tensor:
    """The number with these bytes."""
    return torch.tensor(byte_list, dtype=torch.uint8).view(dtype)[0].to(device)


def random_matrix_with_scaled_reduction_dim(
    rows: int,
    columns: int,
    *batch_dims: int,
    dtype: Any = torch.double,
    device: Any = "cpu",
    requires_grad: bool = False,
    reduction_dim: int = -1,
) -> Tensor:
    """Random matrices, normal with variance one over the size of the dimension that a product sums over."""
    sigma = 1 / np.sqrt(columns if reduction_dim == -1 else rows)
    return (torch.randn(*batch_dims, rows, columns, dtype=dtype, device=device) * sigma).requires_grad_(requires_grad)


def retry(ExceptionToCheck: Any, tries: int = 3, delay: int = 3, skip_after_retries: bool = False) -> Any:
    """Run a test again if it raises this error."""

    def decorate(f: Any) -> Any:
        @functools.wraps(f)
        def again(*args: Any, **kwargs: Any) -> Any:
            for left in reversed(range(tries)):
                try:
                    return f(*args, **kwargs)
                except ExceptionToCheck:
                    if not left:
                        raise

        return again

    return decorate


def find_library_location(lib_name: str) -> Path:
    """The place of a library of C++ examples of PyTorch's tests. ``torch.ops.load_library`` lets it be missing."""
    return LIBRARIES_OF_TESTS / lib_name


def is_iterable(obj: Any) -> bool:
    """Whether an object is iterable."""
    try:
        iter(obj)
    except TypeError:
        return False
    return True


def is_iterable_of_tensors(iterable: Any, include_empty: bool = False) -> bool:
    """Whether an object, not itself a tensor, is an iterable of tensors only."""
    if isinstance(iterable, Tensor) or not is_iterable(iterable):
        return False
    found = list(iterable)
    return all(isinstance(t, Tensor) for t in found) if found else include_empty


def iter_indices(tensor: Tensor) -> Any:
    """The indices of all elements."""
    if tensor.dim() == 0:
        return range(0)
    if tensor.dim() == 1:
        return range(tensor.size(0))
    return np.ndindex(*tensor.shape)


def first_sample(self: unittest.TestCase, samples: Iterable[Any]) -> Any:
    """The first sample, or skip the test if there is none."""
    try:
        return next(iter(samples))
    except StopIteration as error:
        raise unittest.SkipTest("Skipped! Need at least 1 sample input") from error


def clone_input_helper(input: Any) -> Any:
    """A copy of a tensor, or of all tensors in a sequence."""
    if isinstance(input, Tensor):
        return torch.clone(input)
    return tuple(map(clone_input_helper, input)) if isinstance(input, (list, tuple)) else input


def to_gpu(obj: Any, type_map: Any = None) -> Any:
    """Not here."""
    raise unittest.SkipTest("there is no GPU")


def munge_exc(e: Any, *, suppress_suffix: bool = True, suppress_prefix: bool = True, **kwargs: Any) -> str:
    """An error's text."""
    return str(e)


def raise_on_run_directly(file_to_call: str) -> None:
    """Raise an error for a test file that only another file should run."""
    raise RuntimeError(f"This test file is not meant to be run directly, use:\n\n\tpython {file_to_call} TESTNAME\n\n")


def run_concurrently(worker_func: Any, num_threads: int | None = None, args: Any = (), kwargs: Any = None) -> None:
    """Run a function in several threads at once, or each function of a list in its own thread."""
    functions = list(worker_func) if isinstance(worker_func, (list, tuple)) else [worker_func] * (num_threads or 2)
    barrier = threading.Barrier(len(functions))
    errors: list[BaseException] = []

    def work(function: Any) -> None:
        barrier.wait()
        try:
            function(*args, **(kwargs or {}))
        except BaseException as error:  # noqa: BLE001  handed on below
            errors.append(error)

    threads = [threading.Thread(target=work, args=(function,)) for function in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


class LazyVal:
    """The value of a function, which is called when the value is first needed."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self.make = functools.cache(make)

    def __bool__(self) -> bool:
        return bool(self.make())


class BytesIOContext(io.BytesIO):
    """A file in memory for a ``with`` block."""

    def __exit__(self, *error: object) -> None:
        pass


def shell(command: Any, cwd: Any = None, env: Any = None, stdout: Any = None, stderr: Any = None) -> int:
    """Run a command and give its exit status."""
    import subprocess

    return subprocess.run(command, cwd=cwd, env=env, stdout=stdout, stderr=stderr, check=False).returncode


def copy_func(f: Any) -> Any:
    """A function with the same code."""
    made = FunctionType(f.__code__, f.__globals__, f.__name__, f.__defaults__, f.__closure__)
    made.__kwdefaults__ = f.__kwdefaults__
    return functools.update_wrapper(made, f)


def xfail_inherited_tests(tests: list[str]) -> Any:
    """A class decorator that expects inherited tests to fail."""

    def decorate(cls: Any) -> Any:
        for name in tests:
            setattr(cls, name, unittest.expectedFailure(copy_func(getattr(cls, name))))
        return cls

    return decorate


def find_free_port() -> int:
    """A free port."""
    import socket

    with contextlib.closing(socket.socket()) as s:
        s.bind(("localhost", 0))
        return int(s.getsockname()[1])


def run_tests(argv: Any = None) -> None:
    """Run the tests of the main module, as ``unittest.main`` does."""
    torch.manual_seed(SEED)
    unittest.main(argv=sys.argv if argv is None else argv)
