"""A test-suite as they are written for PyTorch, run as it stands on both."""

# ruff: noqa: F401, T201, C408, BLE001, PT009, PT027
import unittest

import torch
import torch.autograd._functions
import torch.autograd.forward_ad as fwAD
from torch import inf, nan, nn
from torch.autograd import Function, Variable, detect_anomaly, kineto_available
from torch.autograd.function import InplaceFunction, once_differentiable
from torch.testing import make_tensor
from torch.testing._internal.common_cuda import TEST_CUDA
from torch.testing._internal.common_device_type import (
    deviceCountAtLeast,
    dtypes,
    dtypesIfCUDA,
    dtypesIfMPS,
    expectedFailureMPS,
    instantiate_device_type_tests,
    largeTensorTest,
    onlyCPU,
    onlyCUDA,
    onlyNativeDeviceTypes,
    ops,
    precisionOverride,
    skip,
    skipCPUIf,
    skipMeta,
    skipOps,
    tol,
    toleranceOverride,
    xfail,
)
from torch.testing._internal.common_dtype import (
    all_types_and,
    floating_and_complex_types_and,
    floating_types,
    floating_types_and,
    integral_types,
)
from torch.testing._internal.common_methods_invocations import DecorateInfo, OpInfo, SampleInput, mask_not_all_zeros
from torch.testing._internal.common_utils import (
    IS_LINUX,
    IS_MACOS,
    IS_WINDOWS,
    TEST_WITH_TORCHDYNAMO,
    DeterministicGuard,
    TemporaryFileName,
    TestCase,
    disable_gc,
    freeze_rng_state,
    gradcheck,
    gradgradcheck,
    instantiate_parametrized_tests,
    is_iterable_of_tensors,
    noncontiguous_like,
    parametrize,
    run_tests,
    scoped_load_inline,
    set_default_dtype,
    set_warn_always_context,
    skipCUDANonDefaultStreamIf,
    skipIfMPS,
    skipIfNoLapack,
    skipIfTorchDynamo,
    skipIfWindows,
    skipIfXpu,
    slowTest,
    subtest,
    suppress_warnings,
    xfailIfTorchDynamo,
)


class TestThings(TestCase):
    def test_mask(self):
        self.assertTrue(mask_not_all_zeros((3, 4)).any())

    @parametrize("a", [1, 2.5, "x"])
    @parametrize("b,c", [(1, 2), subtest((3, 4), name="named"), subtest((5, 6), decorators=[unittest.skip("no")])])
    def test_parameters(self, a, b, c):
        self.assertEqual(c - b, 1)

    @parametrize("dtype", [torch.float32, torch.int64])
    def test_dtype(self, dtype):
        self.assertEqual(torch.ones(2, dtype=dtype), [1, 1])

    @parametrize("fn", [torch.sin, subtest(torch.cos, name="cosine")], name_fn=lambda f: f"f_{f.__name__}")
    def test_function(self, fn):
        self.assertTrue(gradcheck(fn, (torch.randn(2, dtype=torch.double, requires_grad=True),)))
        self.assertTrue(gradgradcheck(fn, (torch.randn(2, dtype=torch.double, requires_grad=True),)))

    @skipIfTorchDynamo("no")
    @skipIfTorchDynamo("x")
    @skipIfXpu(msg="x")
    @skipIfWindows(msg="x")
    @skipCUDANonDefaultStreamIf(True)
    @skipIfNoLapack
    def test_decorated(self):
        self.assertIsInstance(inf, float)

    @slowTest
    def test_slow(self):
        self.fail()

    @scoped_load_inline
    def test_cpp(self, load_inline):
        raise unittest.SkipTest("no")

    def test_contexts(self):
        with set_default_dtype(torch.double):
            self.assertIs(torch.ones(1).dtype, torch.double)
        with freeze_rng_state():
            a = torch.rand(1)
        self.assertEqual(a, torch.rand(1))
        with TemporaryFileName() as f:
            torch.save(a, f)
            self.assertEqual(torch.load(f), a)
        with DeterministicGuard(True):
            self.assertTrue(torch.are_deterministic_algorithms_enabled())
        with disable_gc():
            pass
        with set_warn_always_context(True):
            self.assertTrue(torch.is_warn_always_enabled())
        self.assertFalse(noncontiguous_like(torch.ones(2, 2)).is_contiguous())
        self.assertTrue(is_iterable_of_tensors([a, a]))
        self.assertFalse(is_iterable_of_tensors(a))

    def test_equal(self):
        import enum

        import numpy as np

        class E(enum.IntEnum):
            A = 1

        for x, y, kw in [
            (1, 1.0, {}),
            (True, 1, {}),
            (torch.tensor(1.0), 1, {}),
            (torch.tensor([1.0]), 1, {}),
            (1, torch.tensor(2), {}),
            (torch.tensor([1.0, 2.0]), 1, {}),
            (torch.tensor([1.0, 2.0]), [1, 2], {}),
            ([1, 2], torch.tensor([1.0, 2.0]), {}),
            (np.ones(2), torch.ones(2, dtype=torch.double), {}),
            (np.ones(2), torch.ones(2), {}),
            (None, None, {}),
            (None, 1, {}),
            ("a", "b", {}),
            ("a", "a", {}),
            ({1, 2}, {2, 1}, {}),
            ({1}, {2}, {}),
            (int, float, {}),
            (int, int, {}),
            ({"a": 1}, {"a": 1.0}, {}),
            ({"a": 1}, {"b": 1.0}, {}),
            ([1], [1, 2], {}),
            ((1,), [1], {}),
            (object, 1, {}),
            (torch.ones(2), torch.ones(2).double(), {}),
            (torch.ones(2), torch.ones(2).double(), dict(exact_dtype=False)),
            (torch.ones(2), torch.ones(3), {}),
            (nan, nan, {}),
            (torch.tensor(nan), torch.tensor(nan), {}),
            (torch.tensor(nan), torch.tensor(nan), dict(equal_nan=False)),
            (1.0, 1.0 + 1e-6, {}),
            (1.0, 1.1, {}),
            (1.0, 1.1, dict(atol=0.2, rtol=0)),
            (1.0, 1.1, dict(atol=0.2)),
            (torch.Size([1, 2]), (1, 2), {}),
            (torch.Size([1, 2]), [1, 3], {}),
            (E.A, 1, {}),
            (E.A, E.A, {}),
            (True, torch.tensor(True), {}),
            (True, torch.tensor([True, False]), {}),
            (1j, 1j, {}),
            (1, 1j, {}),
            ("a", 1, {}),
            (torch.float32, torch.float32, {}),
            (torch.float32, torch.float64, {}),
            (torch.device("cpu"), torch.device("cpu"), {}),
            (torch.ones(1), None, {}),
            (range(3), [0, 1, 2], {}),
            (torch.ones(2).to_sparse(), torch.ones(2).to_sparse(), {}),
            (torch.ones(2).to_sparse(), torch.ones(2), {}),
            (torch.ones(2).to_sparse(), torch.ones(2) * 2, {}),
            ([torch.ones(2), {"k": torch.zeros(1)}], [torch.ones(2), {"k": torch.ones(1)}], {}),
            (b"a", b"a", {}),
            (1 + 0j, 1, {}),
            (2**40, 2.0**40, {}),
            (torch.tensor([1, 2]), torch.tensor([1, 3]), dict(msg="hello")),
            (3, 4, dict(msg="hello")),
            (np.float32(1), 1, {}),
            (np.bool_(True), True, {}),
            (torch.tensor(3), torch.tensor(3.0), dict(exact_dtype=False)),
            (print, print, {}),
            (print, len, {}),
            (torch.ones(2, 3), torch.ones(3, 2).t(), dict(exact_stride=True)),
            ((), [], {}),
            (torch.ones(0), [], {}),
            (torch.nn.Sequential(), [], {}),
        ]:
            try:
                self.assertEqual(x, y, **kw)
                print("equal", x, y)
            except Exception as e:
                print(x, y, type(e).__name__, e)
        self.assertNotEqual(1, 2)
        with self.assertRaises(AssertionError):
            self.assertNotEqual(1, 1.0)
        self.precision = 0.5
        self.assertEqual(1.0, 1.4)
        self.assertEqualIgnoreType(torch.ones(1), torch.ones(1).double())
        with self.assertWarnsOnceRegex(UserWarning, "He"):
            import warnings

            warnings.warn("Hello")
        try:
            self.assertExpected("no file of this test")
        except Exception as e:
            print(type(e).__name__, str(e).split("\n\n")[:2])
        self.assertExpectedInline(
            "a\nb",
            """\
a
b""",
        )


class TestDevices(TestCase):
    def test_device(self, device):
        self.assertEqual(device, "cpu")
        self.assertEqual(self.device_type, "cpu")

    @dtypes(torch.float, torch.double)
    @dtypesIfCUDA(torch.half)
    def test_dtype(self, device, dtype):
        self.assertEqual(make_tensor((2,), device=device, dtype=dtype).dtype, dtype)

    @dtypes(*floating_types_and(torch.half))
    @parametrize("flag", [True, False])
    def test_both(self, device, dtype, flag):
        self.assertTrue(dtype.is_floating_point)

    @onlyCUDA
    def test_cuda(self, device):
        self.fail()

    @deviceCountAtLeast(1)
    def test_count(self, devices):
        self.assertEqual(len(devices), 1)

    @onlyCPU
    @skipMeta
    @expectedFailureMPS
    def test_cpu(self, device):
        pass

    @precisionOverride({torch.float: 1.0})
    @dtypes(torch.float)
    def test_precision(self, device, dtype):
        self.assertEqual(1.0, 1.5)

    @toleranceOverride({torch.float: tol(1.0, 0)})
    @dtypes(torch.float)
    def test_tolerance(self, device, dtype):
        self.assertEqual(torch.tensor(1.0), torch.tensor(1.5))

    @dtypes((torch.float, torch.double))
    def test_tuple(self, device, dtypes):
        self.assertEqual(len(dtypes), 2)

    @skipCPUIf(True, "no")
    def test_skipped(self, device):
        self.fail()


def two_layouts(info, device, dtype, requires_grad, **kwargs):
    x = make_tensor((2, 3), device=device, dtype=dtype, requires_grad=requires_grad)
    return [SampleInput(x, args=(x,)), SampleInput(x.t(), args=(x.t(),), kwargs={})]


FAILS = DecorateInfo(unittest.expectedFailure, "TestOperators", "test_fails", dtypes=(torch.float64,))
OPERATORS = [
    OpInfo("add", dtypes=floating_types(), sample_inputs_func=two_layouts, supports_forward_ad=True, skips=(FAILS,)),
    OpInfo("special.xlogy", variant_test_name="of_rows", dtypes=floating_types(), sample_inputs_func=two_layouts),
    OpInfo("twice", op=lambda x, y: x + y, dtypes=(torch.float64,), sample_inputs_func=two_layouts),
]


class TestImports(TestCase):
    def test_names_of_the_suites_of_functorch_and_fx(self):
        from torch._decomp import decomposition_table
        from torch._dynamo.eval_frame import innermost_fn
        from torch._higher_order_ops.associative_scan import _fake_associative_scan
        from torch._higher_order_ops.map import _fake_map
        from torch._higher_order_ops.scan import _fake_scan
        from torch._higher_order_ops.schema import HopSchemaGenerator
        from torch._subclasses.fake_tensor import DataDependentOutputException, DynamicOutputShapeException
        from torch._subclasses.functional_tensor import FunctionalTensor, FunctionalTensorMode
        from torch.fx.experimental.graph_gradual_typechecker import GraphTypeChecker, Refine, broadcast_types
        from torch.fx.experimental.symbolic_shapes import bind_symbols, eval_guards, guard_int, guard_or_false
        from torch.fx.experimental.unification import Var
        from torch.fx.passes.runtime_assert import insert_deferred_runtime_asserts
        from torch.testing._internal.common_modules import module_db
        from torch.testing._internal.hop_db import hop_db
        from torch.testing._internal.opinfo.core import XFailRule, sample_skips_and_xfails

        self.assertEqual((guard_int(3), guard_or_false(3 > 4)), (3, False))
        module = torch.nn.Linear(2, 2)
        self.assertIs(innermost_fn(torch._dynamo.disable(module.forward)).__self__, module)
        self.assertIsInstance(decomposition_table, dict)
        self.assertIsInstance(module_db, list)
        self.assertTrue(issubclass(DynamicOutputShapeException, RuntimeError) and Var("n") == Var("n"))
        self.assertTrue(all(isinstance(cls, type) for cls in (HopSchemaGenerator, FunctionalTensor, GraphTypeChecker)))
        self.assertEqual(repr(Var("n")), "~n")
        x = torch.arange(4.0)
        self.assertEqual(_fake_associative_scan(lambda a, b: a + b, x, 0, reverse=True), x.flip(0).cumsum(0).flip(0))
        self.assertEqual(_fake_scan(lambda c, x: (c + x, c * x), init=x[0], xs=x)[1], torch.tensor([0.0, 0, 2, 9]))
        self.assertEqual(_fake_map(lambda x, y: x * y, x, x[2]), x * 2)


class TestOperators(TestCase):
    @ops(OPERATORS)
    def test_shapes(self, device, dtype, op):
        for sample in op.sample_inputs(device, dtype):
            self.assertEqual(op(sample.input, *sample.args, **sample.kwargs).shape, sample.input.shape)

    @ops(OPERATORS[:1])
    def test_fails(self, device, dtype, op):
        self.assertEqual(dtype, torch.float32)

    @ops(OPERATORS)
    @skipOps(
        [skip("twice"), xfail("special.xlogy", "of_rows", dtypes=(torch.float32,)), xfail("add", device_type="no")]
    )
    def test_skipped(self, device, dtype, op):
        self.assertFalse(op.name == "special.xlogy" and dtype is torch.float32)


instantiate_device_type_tests(TestOperators, globals())
instantiate_parametrized_tests(TestThings)
instantiate_device_type_tests(TestDevices, globals(), except_for=None)

if __name__ == "__main__":
    run_tests()
