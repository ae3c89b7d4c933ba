"""torch.fx: what a tracer records of a program, and what it refuses."""

from __future__ import annotations

import copy
import gc
import operator
import sys
from typing import Any

import pytest

import wengert as torch
from wengert import fx, nn
from wengert.fx.operator_schemas import normalize_function
from wengert.fx.proxy import GraphAppendingTracer

F = nn.functional


def ops(graph: fx.Graph) -> list[str]:
    return [n.name for n in graph.nodes]


def test_arguments_are_recorded_as_they_were_given() -> None:
    def f(x: Any) -> Any:
        return torch.sum(x, dim=1), torch.sum(x, 1), F.linear(x, x), torch.clamp(x, min=0)

    calls = [(n.args[1:], n.kwargs) for n in fx.symbolic_trace(f).graph.nodes if n.op == "call_function"]
    x = next(iter(fx.symbolic_trace(f).graph.nodes))
    assert calls[:2] == [((), {"dim": 1}), ((1,), {})]
    assert [a.name for a in calls[2][0]] == [x.name]
    assert calls[3] == ((), {"min": 0})


def test_functions_are_looked_at_first_only_while_there_are_proxies() -> None:
    plain = torch.sum.__code__
    node = fx.Graph().placeholder("x")
    proxy = fx.Proxy(node)
    assert isinstance(proxy.tracer, GraphAppendingTracer)
    assert torch.relu(proxy + 1).node.name == "relu"
    assert torch.sum.__code__ is not plain
    del proxy
    fx.symbolic_trace(lambda x: x.sum())
    assert torch.sum.__code__ is plain


def test_an_error_that_is_kept_keeps_no_mode_on() -> None:
    """The frames of its traceback held the mode's mark, as IPython's last error does: every function stayed slow."""
    from wengert._tensor_api import override_sites

    class Fails(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return func(*args, **(kwargs or {}))

    with pytest.raises(RuntimeError) as kept, Fails():
        torch.ones(4, 6).view(5, 6)
    torch.ones(1)  # a mode ends in C: the next call of a public function notices
    assert kept.value.__traceback__ is not None and override_sites._level == override_sites.NOTHING


def test_what_a_trace_replaced_is_put_back_after_an_error() -> None:
    call, fetch = nn.Module.__call__, nn.Module.__getattr__
    with pytest.raises(fx.proxy.TraceError, match="control flow"):
        fx.symbolic_trace(lambda x: 1 if x else 2)
    assert (nn.Module.__call__, nn.Module.__getattr__) == (call, fetch)


@pytest.mark.parametrize(
    ("program", "error", "text"),
    [
        (lambda x: list(x), fx.proxy.TraceError, "Proxy object cannot be iterated"),
        (lambda x: bool(x), fx.proxy.TraceError, "cannot be used as inputs to control flow"),
        (lambda x: [] + [len({1: x}[1])], RuntimeError, "'len' is not supported in symbolic tracing"),
        (lambda x: x + {x: 1}, RuntimeError, "cannot contain a Node. Got key: x"),
        (lambda x: x + object(), NotImplementedError, "argument of type"),
        (lambda x: x + nn.Parameter(torch.ones(1)), NameError, "parameter is not a member"),
        (lambda x: nn.Linear(1, 1)(x), NameError, "not installed as a submodule"),
    ],
)
def test_what_cannot_be_traced_is_refused(program: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        fx.symbolic_trace(program)


def test_unpacking_takes_items() -> None:
    def f(x: Any) -> Any:
        a, b = x
        return a + b

    assert ops(fx.symbolic_trace(f).graph) == ["x", "getitem", "getitem_1", "add", "output"]


def test_concrete_arguments_are_checked_by_the_graph() -> None:
    def f(x: Any, flag: bool, d: Any) -> Any:
        return {"sum": x + d["a"] * d["b"][0]} if flag else x

    gm = fx.symbolic_trace(f, {"flag": True, "d": {"a": fx.PH, "b": [fx.PH]}})
    assert gm(1, True, {"a": 2, "b": [3]}) == {"sum": 7}
    assert fx.Interpreter(gm).run(1, True, {"a": 2, "b": [3]}) == {"sum": 7}
    assert copy.deepcopy(gm)(1, True, {"a": 2, "b": [3]}) == {"sum": 7}
    with pytest.raises(AssertionError, match="flag has been specialized to have value True"):
        gm(1, False, {"a": 2, "b": [3]})


def test_parameters_by_star_and_keyword() -> None:
    def f(x: Any, *args: Any, k: int = 2, **kwargs: Any) -> Any:
        return x + args[0] * k + kwargs["z"]

    gm = fx.symbolic_trace(f)
    assert gm(1, 3, 10, z=100) == 131  # the keyword stands before the star, as in PyTorch


def test_asserts_can_be_recorded() -> None:
    class Recording(fx.Tracer):
        trace_asserts = True

    scope: dict[str, Any] = {}
    exec("def f(x):\n    assert x.sum() > 0\n    return x", scope)  # pytest rewrites asserts
    assert ops(Recording().trace(scope["f"])) == ["x", "sum_1", "gt", "assert_fn", "output"]


def test_a_tracer_may_know_lengths_and_conditions() -> None:
    class Knowing(fx.Tracer):
        def iter(self, obj: Any) -> Any:
            return iter([obj[0], obj[1]])

        def to_bool(self, obj: Any) -> bool:
            return True

        def keys(self, obj: Any) -> Any:
            return ["a"]

    assert ops(Knowing().trace(lambda x: sum(i for i in x) if x else 0))[1:3] == ["getitem", "getitem_1"]
    assert ops(Knowing().trace(lambda x: dict(**x))) == ["x", "getitem", "output"]


def test_shapes_of_parameters_and_buffers_as_proxies() -> None:
    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = nn.Parameter(torch.ones(2, 3))
            self.register_buffer("shift", torch.ones(3))

        def forward(self, x: Any) -> Any:
            return x + self.weight if self.weight.shape[0] == 2 else x

    class Buffers(fx.Tracer):
        proxy_buffer_attributes = True

    assert ops(fx.Tracer(param_shapes_constant=True).trace(Model())) == ["x", "weight", "add", "output"]
    model = Model()
    type(model).forward = lambda self, x: x + self.shift.sum()  # type: ignore[method-assign]
    assert ops(Buffers().trace(model)) == ["x", "shift", "sum_1", "add", "output"]


def test_stack_traces_name_the_line_of_the_program() -> None:
    class Model(nn.Module):
        def forward(self, x: Any) -> Any:
            return torch.relu(x)

    tracer = fx.Tracer()
    tracer.record_stack_traces = True
    graph = tracer.trace(Model())
    (relu,) = graph.find_nodes(op="call_function", target=torch.relu)
    assert relu.stack_trace is not None
    assert relu.stack_trace.endswith("return torch.relu(x)")
    text = fx.GraphModule(tracer.root, graph).print_readable(print_output=False)
    assert "in forward, code: return torch.relu(x)" in text
    assert fx.Transformer(fx.GraphModule(tracer.root, graph)).transform().graph.find_nodes(
        op="call_function", target=torch.relu
    )[0].stack_trace == relu.stack_trace  # fmt: skip


def test_modules_that_are_not_leaves_are_gone_through() -> None:
    class Inner(nn.Module):
        def forward(self, x: Any) -> Any:
            return x.relu()

    class Outer(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner, self.layer = Inner(), nn.Linear(1, 1)

        def forward(self, x: Any) -> Any:
            return self.layer(self.inner(x))

    graph = fx.Tracer().trace(Outer())
    assert [(n.op, n.target) for n in graph.nodes][1:3] == [("call_method", "relu"), ("call_module", "layer")]
    stack = graph.find_nodes(op="call_method")[0].meta["nn_module_stack"]
    assert list(stack.items()) == [("inner", ("inner", Inner))]


def test_operators_by_name_are_traced() -> None:
    graph = fx.symbolic_trace(lambda x: torch.ops.aten.add.Tensor(x, 1)).graph
    assert [n.target for n in graph.nodes][1] == torch.ops.aten.add.Tensor
    assert "torch.ops.aten.add.Tensor(x, 1)" in graph.python_code("self").src


def test_patterns_are_replaced() -> None:
    def f(x: Any, w: Any) -> Any:
        a = torch.cat([w, w]).sum()
        return torch.cat([x, w]).sum() + a

    gm = fx.symbolic_trace(f)
    found = fx.replace_pattern(gm, lambda a, b: torch.cat([a, b]).sum(), lambda a, b: a.sum() + b.sum())
    assert len(found) == 1  # the other has one value in two places
    x, w = torch.ones(2), torch.ones(3)
    assert float(gm(x, w)) == 11.0
    assert [n.target for n in gm.graph.nodes if n.op == "call_function"] == [torch.cat, operator.add, operator.add]


def test_arguments_by_the_names_of_parameters() -> None:
    found = normalize_function(F.dropout, (1,), {"training": False}, normalize_to_only_use_kwargs=True)
    assert found == ((), {"input": 1, "p": 0.5, "training": False, "inplace": False})


def test_an_interpreter_says_which_node_failed() -> None:
    gm = fx.symbolic_trace(lambda x: x.absent())
    with pytest.raises(AttributeError, match="While executing %absent"):
        fx.Interpreter(gm).run(torch.ones(1))


def test_a_stack_trace_keeps_no_frame_alive() -> None:
    """Its own frame in the list of frames was a cycle: modes of the callers stayed on until the next collection."""
    from wengert._tensor_api import override_sites

    class Plus(nn.Module):
        def forward(self, x: Any) -> Any:
            return x + 1

    gc.collect()
    gc.disable()
    try:
        torch.export.export(Plus(), (torch.ones(3),))
        torch.ones(1)  # a mode ends in C: the next call of a public function notices
        assert override_sites._level == override_sites.NOTHING
    finally:
        gc.enable()


def _calls_what_is_not_there(x: Any) -> Any:
    return torch.no_such_function(x)


def test_a_script_of_a_graph_has_the_compilers_types_and_looks_at_functions() -> None:
    def first(x: Any, y: Any) -> Any:
        return x

    kinds = list[torch.Tensor]
    first.__annotations__ = {"x": kinds, "y": tuple[str, int], "return": kinds}
    with pytest.warns(UserWarning, match="no TorchScript"):
        script = torch.jit.script(fx.symbolic_trace(first))
    assert "Tuple[str,int]" in script.code and "List[" in script.code
    assert isinstance(script, torch.jit.ScriptModule) and script([torch.ones(1)], ("a", 1))[0] == 1
    graph = fx.Graph()
    graph.output(graph.call_function(_calls_what_is_not_there, (graph.placeholder("x"),)))
    with pytest.raises(RuntimeError, match=r"is being compiled since it was called from 'GraphModule\.forward'"):
        torch.jit.script(fx.GraphModule(nn.Module(), graph))


def test_a_profilers_mark_is_no_dead_code() -> None:
    graph = fx.Graph()
    handle = graph.call_function(torch.ops.profiler._record_function_enter_new, ("block",))
    graph.call_function(torch.ops.profiler._record_function_exit, (handle,))
    graph.output(None)
    assert not graph.eliminate_dead_code() and len(graph.nodes) == 3
    fx.GraphModule(nn.Module(), graph)()


def test_a_test_case_captures_streams() -> None:
    from wengert.testing._internal.jit_utils import JitTestCase

    with JitTestCase().capture_stderr() as captured:
        sys.stderr.write("written\n")
    assert captured == ["written\n"]


def test_values_of_nodes_are_noted() -> None:
    from wengert.fx.passes.fake_tensor_prop import FakeTensorProp

    gm = fx.symbolic_trace(lambda x: (x.sum(0), x[0]))
    FakeTensorProp(gm).propagate(torch.ones(2, 3))
    assert [n.meta["val"] is not None for n in gm.graph.nodes] == [True] * 4


def test_graphs_are_lazy_modules_where_programs_ask_for_them() -> None:
    from wengert.fx._lazy_graph_module import _LazyGraphModule, _use_lazy_graph_module

    def twice(x: Any) -> Any:
        return x.sin() * 2

    with _use_lazy_graph_module(True):
        traced = torch.fx.symbolic_trace(twice)
        made = [traced, torch.fx.Transformer(traced).transform()]
    for module in made:
        assert isinstance(module, _LazyGraphModule) and module._needs_recompile()
        assert module(torch.zeros(1)).item() == 0 and not module._needs_recompile()
    assert not isinstance(torch.fx.symbolic_trace(twice), _LazyGraphModule)


@pytest.mark.parametrize("name", ["upsample", "upsample_nearest", "upsample_bilinear"])
def test_an_old_name_of_interpolate_is_traced_by_itself_and_warns(name: str) -> None:
    with pytest.warns(UserWarning, match=f"`nn.functional.{name}` is deprecated"):
        gm = fx.symbolic_trace(getattr(torch.nn.functional, name))
    calls = [n.target for n in gm.graph.nodes if n.op == "call_function"]
    assert calls == [torch.nn.functional.interpolate]
    with pytest.warns(UserWarning, match="deprecated"):
        fx.symbolic_trace(lambda x: getattr(torch.nn.functional, name)(x, 3))
