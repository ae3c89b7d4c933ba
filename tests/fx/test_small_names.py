"""What PyTorch's suites about graphs ask beside: constants, purity, pickles of lazy modules, operators on proxies."""

import copy
import inspect
import pickle
import unittest
from types import SimpleNamespace

import pytest

import wengert as torch
from wengert.fx import symbolic_trace
from wengert.fx._lazy_graph_module import _LazyGraphModule, _use_lazy_graph_module
from wengert.fx.experimental.proxy_tensor import make_fx
from wengert.fx.experimental.schema_type_annotation import AnnotateTypesWithSchema
from wengert.fx.operator_schemas import _torchscript_type_to_python_type, normalize_function, normalize_module
from wengert.fx.passes.graph_transform_observer import GraphTransformObserver
from wengert.testing._internal.common_device_type import instantiate_device_type_tests
from wengert.testing._internal.common_nn import get_new_module_tests, module_tests


def test_a_constant_that_the_program_writes_keeps_its_value() -> None:
    def f(x):
        y = torch.tensor(3)
        y.add_(1)
        return x + y

    gm = make_fx(f)(torch.zeros(2))
    assert gm(torch.zeros(2)).tolist() == gm(torch.zeros(2)).tolist() == [4, 4]


@pytest.mark.parametrize("with_bias", [True, False])
def test_linear_of_one_row_is_a_product_of_matrices(with_bias) -> None:
    def f(x, w, b):
        return torch.nn.functional.linear(x, w, b if with_bias else None)

    args = torch.rand(2), torch.rand(3, 2), torch.rand(3)
    gm = make_fx(f)(*args)
    names = [n.name for n in gm.graph.nodes if n.op == "call_function"]
    assert names == (["view", "t", "addmm", "view_1"] if with_bias else ["t", "unsqueeze", "mm", "squeeze_"])
    assert torch.allclose(gm(*args), f(*args))


def test_a_call_that_writes_its_out_stays() -> None:
    def f(a):
        torch.ops.aten.add.out(a, a, out=a)
        return a

    gm = symbolic_trace(f)
    assert not gm.graph.eliminate_dead_code()


def test_a_lazy_graph_module_pickles_its_code() -> None:
    with _use_lazy_graph_module(True):
        gm = pickle.loads(pickle.dumps(symbolic_trace(lambda x: x.sin())))
        assert isinstance(gm, _LazyGraphModule)
        assert "sin" in gm.code


def test_an_observed_module_can_be_copied() -> None:
    gm = symbolic_trace(lambda x: x.sin())
    with GraphTransformObserver(gm, "copy"):
        copied = copy.deepcopy(gm)
    assert copied._create_node_hooks == copied._replace_hooks == []


def test_a_programs_operator_is_one_call_in_a_graph() -> None:
    lib = torch.library.Library("fx_small_names", "DEF")
    lib.define("twice(Tensor x, int n) -> Tensor")

    def f(x, n):
        return torch.ops.fx_small_names.twice(torch.ops.fx_small_names.twice.default(x, 2), n)

    targets = [n.target for n in symbolic_trace(f).graph.nodes if n.op == "call_function"]
    assert targets == [torch.ops.fx_small_names.twice.default, torch.ops.fx_small_names.twice]


def test_names_of_operators() -> None:
    x = torch.rand(3, 2)
    copied = torch.ops.aten._reshape_alias_copy.default(x, [2, 3], [1, 2])
    assert torch.equal(copied, x.T)
    for target in (torch.ops.aten.resize_as_, torch.ops.aten.resize_as_.default):
        found = normalize_function(target, (x,), {"the_template": copied}, normalize_to_only_use_kwargs=True)
        assert found is not None
        assert found.kwargs["input"] is x
        assert found.kwargs["the_template"] is copied


def test_types_of_values_for_scripts() -> None:
    def of(value):
        return _torchscript_type_to_python_type(torch._C._jit_try_infer_type(value).type())

    assert [of(v) for v in (1, True, 1.5, "a", None, torch.float32)] == [int, bool, float, str, type(None), int]
    assert [str(of(v)) for v in ([1, 2], (1, 2.0), {"a": 1})] == [
        "typing.List[int]", "typing.Tuple[int, float]", "typing.Dict[str, int]"
    ]  # fmt: skip
    assert not torch._C._jit_try_infer_type([1, "a"]).success()
    assert not torch._C._jit_try_infer_type(object()).success()


def test_layers_for_tests_have_named_arguments() -> None:
    for given in module_tests + get_new_module_tests():
        layer = getattr(torch.nn, given["module_name"])(*given["constructor_args"])
        inputs = given["input_fn"]() if "input_fn" in given else torch.randn(given["input_size"])
        inputs = inputs if isinstance(inputs, tuple) else (inputs,)
        root = torch.nn.Sequential(layer)
        found = normalize_module(root, "0", inputs, normalize_to_only_use_kwargs=True)
        assert found is not None
        layer(**found.kwargs)


def test_a_test_that_takes_no_device_is_given_none() -> None:
    scope: dict[str, type] = {}

    class TestOne(unittest.TestCase):
        def test_it(self) -> None:
            self.seen = True

    instantiate_device_type_tests(TestOne, scope)
    case = scope["TestOneCPU"]("test_it_cpu")
    assert unittest.TextTestRunner(stream=SimpleNamespace(write=str, flush=str)).run(case).wasSuccessful()


def test_a_switch_inside_of_others_is_patched() -> None:
    config = torch._inductor.config
    with config.patch("trace.enabled", True):
        assert config.trace.enabled
    assert not config.trace.enabled
    with pytest.raises(AttributeError, match="does not exist"):
        config.patch("trace.absent", True)


def test_whether_a_graph_gives_a_tuple() -> None:
    from wengert._inductor.compile_fx import graph_returns_tuple

    assert graph_returns_tuple(symbolic_trace(lambda x: (x,)))
    assert not graph_returns_tuple(symbolic_trace(lambda x: x))


def test_numbers_of_calls_are_kept_in_a_context() -> None:
    traceback = torch.fx.traceback
    with traceback._preserve_node_seq_nr():
        with traceback._preserve_node_seq_nr(False):
            assert not traceback._is_preserving_node_seq_nr()
        assert traceback._is_preserving_node_seq_nr()
    assert not traceback._is_preserving_node_seq_nr()


@pytest.mark.parametrize("name", ["linear", "relu", "relu_", "celu_", "threshold_", "max_pool2d_with_indices"])
def test_functions_of_layers_say_that_their_first_parameter_is_a_tensor(name: str) -> None:
    first, *_ = inspect.signature(getattr(torch.nn.functional, name)).parameters.values()
    assert first.annotation is torch.Tensor


def test_a_programs_operators_have_their_names_in_code() -> None:
    library = torch.library.Library("named_in_code", "DEF")
    library.define("scaled(Tensor x, float by) -> Tensor")
    twice = torch.library.custom_op(
        "named_in_code::twice", lambda x: x + x, mutates_args=(), schema="(Tensor x) -> Tensor"
    )
    packet = torch.ops.named_in_code.scaled
    code = symbolic_trace(lambda x: twice(packet(x, 2.0))).code
    assert "scaled = torch.ops.named_in_code.scaled(x, 2.0)" in code
    assert "twice_default = torch.ops.named_in_code.twice.default(scaled)" in code
    assert isinstance(packet, type(torch.ops.aten.add)) and packet.__module__ == "torch._ops.named_in_code"
    assert packet.default is packet.default and packet.default.overloadpacket == packet


def test_annotations_of_layers_are_in_the_code() -> None:
    code = symbolic_trace(torch.nn.EmbeddingBag(4, 2)).code
    assert "offsets : torch.Tensor|NoneType = None" in code
    pooled = AnnotateTypesWithSchema(
        symbolic_trace(torch.nn.Sequential(torch.nn.MaxPool2d(2), torch.nn.ReLU()))
    ).transform()
    assert [node.type for node in pooled.graph.nodes][1:3] == [None, torch.Tensor]
