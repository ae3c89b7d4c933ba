"""The same programs traced and divided by both libraries: graphs, code and errors are the same text."""

from __future__ import annotations

import copy
import io
import math
import operator
import pickle
import types
import warnings
from importlib import import_module
from typing import Any

import pytest

import wengert

EXPRESSIONS = """
    F.max_pool2d(x, 2)
    F.avg_pool2d(x, 2)
    F.adaptive_avg_pool2d(x, (1, 1))
    F.layer_norm(x, (3,))
    F.batch_norm(x, x, x)
    F.cross_entropy(x, x)
    F.pad(x, (1, 1))
    F.interpolate(x, scale_factor=2)
    F.gelu(x)
    F.threshold(x, 1, 2)
    F.logsigmoid(x)
    F.embedding(x, x)
    F.conv2d(x, x, padding=1)
    F.one_hot(x, 3)
    F.mse_loss(x, x)
    F.scaled_dot_product_attention(x, x, x)
    F.group_norm(x, 2)
    F.softplus(x)
    F.unfold(x, 2)
    F.silu(x)
    F.log_softmax(x, dim=1)
    torch.split(x, 2)
    torch.einsum('ij,jk->ik', x, x)
    torch.stack([x, x], dim=1)
    torch.where(x > 0, x, 0.0)
    torch.linalg.norm(x)
    torch.fft.fft(x)
    torch.special.bessel_j0(x)
    torch.max(x, 1)
    torch.max(x, 1)[0]
    torch.max(x, 1).values
    torch.clamp(x, min=0, max=1)
    torch.add(x, 1, alpha=2)
    torch.zeros_like(x)
    torch.full_like(x, 2)
    torch.cdist(x, x)
    torch.broadcast_tensors(x, x)
    torch.unique(x)
    torch.flatten(x, 1)
    torch.bmm(x, x)
    torch.arange(x.size(0))
    torch.zeros((x.size(0), 3))
    torch.ones(x.shape)
    torch.full((x.shape[0],), 1.0)
    x.view(x.size(0), -1)
    x.shape[0] + 1
    2 - x
    x ** 2
    2 ** x
    x // 2
    x % 2
    -x
    ~x
    abs(x)
    x[0]
    x[:, 1:]
    x[..., None]
    x[x > 0]
    x.T
    x.dtype
    x.to(torch.float64)
    x.to('cpu')
    x.mT @ x
    x & 1
    1 | x
    x == 1
    x <= 1
    T + x
    x + T
    T * x
    T.add(x)
    torch.add(T, x)
    T @ x
    T == x
    T[x]
    T / x
    T - x
    T ** x
    T.view(x)
    T < x
    T.matmul(x)
    math.sqrt(x)
    math.floor(x)
    isinstance(x, torch.Tensor)
    hasattr(x, 'foo')
    getattr(x, 'foo', 3)
    x.foo.bar(1)
    x.foo.bar
    x(3)
    x.real
    x.grad
    {'a': x, 'b': [x, (x, 1)]}
    slice(x, None)
    x.sum().item()
    x.float().half().cpu()
    float('inf') + x
    x + float('nan')
    x.sum(dim=-1, keepdim=True)
    torch.device('cpu')
    x.new_zeros(x.size())
    torch.finfo(torch.float32).max * x
    x + 1j
    [a for a in x]
    1 if x else 2
    len(x)
    bool(x)
    int(x)
    float(x)
    list(x)
    dict(**x)
    range(x)
    x in [1]
    3 in x
    operator.add(x, 1)
    operator.iadd(x, 1)
    torch.Size([x.shape[0]])
    F.dropout(x, 0.3, inplace=True)
    nn.Linear(3, 3)(x)
    nn.Parameter(T) + x
    {x: 1}
    object()
    [object(), x]
    x.add_(1)
    torch.relu_(x)
    torch.is_tensor(x)
    torch.sigmoid(input=x)
    torch.cat((x, T))
    torch.cat([T, x], dim=-1)
    torch._assert(x, 'no')
    x.__class__
    torch.numel(x)
    torch.is_floating_point(x)
    x.is_cuda
    torch.nn.functional.relu(x, True)
    torch.rand_like(x)
    torch.bernoulli(x)
    torch.nn.init.xavier_uniform_(x)
    torch.ops.aten.add(x, 1)
    torch.ops.aten.add.Tensor(x, 1)
    torch.squeeze(x)
    torch.sum(x, (1, 2))
    torch.mean(x, dim=0, keepdim=True)
    torch.transpose(x, 0, 1)
    torch.chunk(x, 2)
    torch.matmul(x, x)
    torch.pow(x, 2)
    torch.rsqrt(x)
    torch.var(x, 1)
    torch.topk(x, 2)
    torch.argmax(x)
    torch.roll(x, 1)
    torch.masked_fill(x, x, 0)
    torch.logsumexp(x, 1)
    torch.outer(x, x)
    torch.tril(x)
    torch.nn.functional.linear(x, x, bias=x)
    torch.nn.functional.conv1d(x, x, None, 2)
    torch.nn.functional.softmax(x)
    torch.gather(x, 0, x)
    torch.dropout(x, 0.5, True)
    torch.baddbmm(x, x, x)
"""


def text_of(torch: Any, expression: str) -> str:
    """What tracing ``lambda x: expression`` gives, or the class and first line of its error."""
    names = {"torch": torch, "nn": torch.nn, "F": torch.nn.functional, "T": torch.ones(3), "math": math}
    program = eval(f"lambda x: {expression}", {**names, "operator": operator})
    try:
        gm = torch.fx.symbolic_trace(program)
    except Exception as e:  # noqa: BLE001 - the error is what is compared
        return f"{type(e).__name__}: {str(e).splitlines()[0]}"
    copied = copy.deepcopy(gm)
    assert (str(copied.graph), copied.code) == (str(gm.graph), gm.code)
    gm.graph.lint()
    return f"{gm.graph}{gm.code}{[(n.name, list(n.users)) for n in gm.graph.nodes]}"


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("expression", [line.strip() for line in EXPRESSIONS.strip().splitlines()])
def test_traces_are_the_same_text(torch: Any, expression: str) -> None:
    assert text_of(wengert, expression) == text_of(torch, expression)


def module_of(torch: Any) -> Any:
    """A model of layers, parameters, buffers, constants and containers."""
    nn = torch.nn

    class Model(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.param = nn.Parameter(torch.ones(3, 4))
            self.linear = nn.Linear(4, 5)
            self.register_buffer("shift", torch.ones(5))
            self.constant = torch.ones(2)
            self._seq = nn.Sequential(nn.Linear(5, 5), nn.ReLU())

        def forward(self, x, y=None, *args, k=3):  # type: ignore[no-untyped-def]
            h = self._seq(self.linear(x + self.param).clamp(min=0.0, max=1.0)) + self.shift
            a, b = h.split(1)
            return torch.topk(torch.sum(h, dim=-1), 3), self.constant * 2, torch.tensor([1.0]) + a, {"a": [b[1:, None]]}

    return Model()


def readable(torch: Any, change: Any) -> str:
    gm = torch.fx.symbolic_trace(module_of(torch))
    change(torch, gm)
    gm.recompile()
    return f"{gm}{gm.graph}{gm.print_readable(print_output=False)}{gm.graph.python_code('self')._lineno_map}"


def insert(torch: Any, gm: Any) -> None:
    """A node before, one after, all uses replaced, what is left over removed."""
    node = gm.graph.find_nodes(op="call_method", target="clamp")[0]
    with gm.graph.inserting_after(node):
        new = gm.graph.call_function(torch.tanh, (node,))
    node.replace_all_uses_with(new)
    new.args = (node,)
    with gm.graph.inserting_before(node):
        gm.graph.call_function(torch.exp, (node.args[0],))
    gm.graph.eliminate_dead_code()


def transform(torch: Any, gm: Any) -> None:
    gm.graph = torch.fx.Transformer(gm).transform().graph


def replace(torch: Any, gm: Any) -> None:
    torch.fx.replace_pattern(gm, lambda x, y: torch.sum(x + y, dim=-1), lambda x, y: torch.maximum(x, y))


CHANGES = [lambda torch, gm: None, insert, transform, replace]


@pytest.mark.parametrize("change", CHANGES)
def test_modules_are_the_same_text(torch: Any, change: Any) -> None:
    assert readable(wengert, change) == readable(torch, change)


def errors(torch: Any) -> list[str]:
    """What wrong uses of a graph raise."""
    fx = torch.fx
    graph = fx.Graph()
    x = graph.placeholder("x")
    y = graph.call_function(torch.cat, ([x],), {"dim": 0})
    graph.output(y)
    other = fx.Graph()
    other.output(other.get_attr("a.b"))
    tries = [
        lambda: graph.erase_node(x),
        lambda: graph.create_node("bad", "x"),
        lambda: graph.create_node("call_function", "x"),
        lambda: fx.GraphModule(3, graph),
        lambda: fx.GraphModule({}, other),
        lambda: graph.call_function(torch.cat, [x]),
        lambda: y.args[0].append(1),
        lambda: y.kwargs.update(a=1),
        lambda: fx.wrap(3),
        lambda: fx.wrap("name"),
        lambda: fx.map_arg([x], 3),
        lambda: x.insert_arg(5, 1),
        lambda: graph.inserting_before(other.output_node()),
        lambda: graph.find_nodes(op="call_function"),
        lambda: fx.Interpreter(fx.GraphModule({}, graph)).run(),
        lambda: fx.symbolic_trace(lambda a: a, {"a": 3})(4),
        lambda: fx.Tracer().trace(3),
    ]
    said = []
    for attempt in tries:
        try:
            said.append(f"no error: {attempt()}")
        except Exception as e:  # noqa: BLE001 - the error is what is compared
            said.append(f"{type(e).__name__}: {e}")
    return said


def test_errors_are_the_same_text(torch: Any) -> None:
    assert errors(wengert) == errors(torch)


def test_a_pickle_of_pytorch_is_read(torch: Any) -> None:
    """The code of a graph module imports ``torch``; here that is this package."""
    gm = torch.fx.symbolic_trace(torch.nn.Sequential(torch.nn.ReLU()))
    function, (body, imports) = gm.__reduce__()
    ours = wengert.fx.symbolic_trace(wengert.nn.Sequential(wengert.nn.ReLU()))
    assert (function.__name__, body["_code"], imports) == ("reduce_graph_module", ours.code, ours.__reduce__()[1][1])
    assert pickle.loads(pickle.dumps(ours)).code == gm.code
    assert isinstance(ours.forward, types.MethodType)


HOW = [{}, {"keep_original_order": True}, {"keep_original_node_name": True}, {"keep_original_input_name": False},
       {"partition_affix": "a"}, {"tuple_return": True}]  # fmt: skip


def parts(torch: Any, how: dict[str, Any]) -> str:
    """A module divided in four."""
    split_module = import_module(f"{torch.__name__}.fx.passes.split_module").split_module

    class Model(torch.nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.layers = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU())
            self.scale = torch.nn.Parameter(torch.ones(2))

        def forward(self, x, y):  # type: ignore[no-untyped-def]
            a, b = self.layers(x + y).split(1)
            return torch.cat([a, b * self.scale]).sum(dim=0) * x, y

    gm = torch.fx.symbolic_trace(Model())
    order = {node: i for i, node in enumerate(gm.graph.nodes)}
    names: dict[str, str] = {}
    split = split_module(gm, gm, lambda node: order[node] // 4, names, **how)
    return f"{split.code}{[(n, m.code) for n, m in split.named_children() if hasattr(m, 'code')]}{names}"


@pytest.mark.parametrize("how", HOW)
def test_parts_are_the_same_text(torch: Any, how: dict[str, Any]) -> None:
    assert parts(wengert, how) == parts(torch, how)


def test_each_library_reads_the_others_file(torch: Any) -> None:
    for writer, reader in ((torch, wengert), (wengert, torch)):
        written = writer.fx.symbolic_trace(writer.nn.Sequential(writer.nn.Linear(2, 2), writer.nn.ReLU()))
        file = io.BytesIO()
        writer.save(written, file)
        file.seek(0)
        read = reader.load(file, weights_only=False)
        assert (type(read).__mro__[1], read.code) == (reader.fx.GraphModule, written.code)
        assert read(reader.ones(1, 2)).tolist() == written(writer.ones(1, 2)).tolist()


_DECIDING = """
    dropout relu celu batch_norm instance_norm ctc_loss cross_entropy mse_loss triplet_margin_with_distance_loss
    embedding embedding_bag gumbel_softmax grid_sample interpolate group_norm affine_grid multi_head_attention_forward
    adaptive_avg_pool2d unfold lp_pool2d max_unpool2d upsample upsample_bilinear softmax layer_norm max_pool2d pad
    softplus linear
"""
_ASKED = ("has_torch_function", "has_torch_function_unary", "has_torch_function_variadic")


@pytest.mark.parametrize(
    "name",
    _DECIDING.split(),
)
def test_functions_that_do_not_ask_for_overrides_decide_on_what_they_are_given(
    torch: Any, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    def traced(T: Any) -> tuple[str, str]:
        for asked in _ASKED:
            monkeypatch.setattr(T.nn.functional, asked, lambda *args: False)
        try:
            T.fx.symbolic_trace(getattr(T.nn.functional, name))
        except Exception as error:  # noqa: BLE001  whatever PyTorch raises is compared
            return type(error).__name__, str(error).partition(". ")[0]
        finally:
            monkeypatch.undo()
        return "", "traced"

    with warnings.catch_warnings(action="ignore"):
        assert traced(wengert) == traced(torch)


def test_a_function_that_only_calls_another_is_traced_as_that(torch: Any) -> None:
    codes = [T.fx.symbolic_trace(T.nn.functional.grouped_mm).code for T in (wengert, torch)]
    assert codes[0].partition("\n    ")[2] == codes[1].partition("\n    ")[2]
