"""``torch.export`` beside PyTorch's: the operators of a graph, their overloads and arguments, to the character."""

from __future__ import annotations

import re
from typing import Any

import pytest
from export_cases import all_expressions, module_of

import wengert
from wengert.utils._aten_schemas import _paragraphs, schemas


def described(ep: Any) -> list[str]:
    lines = []
    for n in ep.graph.nodes:
        text = f"{n.name} = {n.op} {n.target} {n.args} {n.kwargs}"
        lines.append(re.sub(r"<(?:built-in )?function (\w+)(?: at \w+)?>", r"\1", text).replace("wengert", "torch"))
    return lines


def program(torch: Any, expression: str) -> Any:
    return torch.export.export(*module_of(torch, expression))


@pytest.mark.parametrize("expression", all_expressions())
def test_the_operators_of_an_expression_are_pytorchs(torch: Any, expression: str) -> None:
    assert described(program(wengert, expression)) == described(program(torch, expression))


SIZED = """
z[: z.shape[0] // 2]; z * (1 / z.shape[0]); z * min(z.shape[0], 50); torch.zeros(max(z.shape[0], 2) + 1); z + z.shape[0] ** 0.5
z.view(z.shape[0] * z.shape[1]); z.flatten() + z.shape[0] - z.shape[0]; torch.zeros(z.shape[1], z.shape[0] - 1); z.repeat(z.shape[0], 1)
z + 1 if z.shape[0] > 100 else z - 1; torch.cond(z.shape[0] > 100, lambda t: t + 1, lambda t: t - 1, (z,)); z if z.shape[0] > 1 else -z
z.sum(1).expand(3, z.shape[0]); torch.arange(z.shape[0]) * 2; torch.ones(z.size(0), z.size(0)).tril()[None] + z.sum(); z * torch.tensor(z.shape[0]); z.add_(1) * 2
"""  # noqa: E501


@pytest.mark.parametrize("expression", [e for line in SIZED.strip().split("\n") for e in line.split("; ")])
def test_what_is_computed_of_sizes_is_pytorchs(torch: Any, expression: str) -> None:
    said = []
    for library in (wengert, torch):
        module, inputs = module_of(library, expression)
        ep = library.export.export(module, inputs, dynamic_shapes=({0: library.export.Dim.DYNAMIC},))
        said.append([*described(ep), str(ep.range_constraints)])
    assert said[0] == said[1]


DERIVED = """
z.view(z.shape[0] // 2, 2, -1).sum(1); z.reshape(2, -1); z[::2] + z[1::2]; z * z.shape[0]
z.expand(z.shape[0] + 1, -1, -1)
"""


@pytest.mark.parametrize("expression", [e for line in DERIVED.strip().split("\n") for e in line.split("; ")])
def test_what_is_computed_of_derived_sizes_is_pytorchs(torch: Any, expression: str) -> None:
    said = []
    for library in (wengert, torch):
        module, inputs = module_of(library, expression)
        twice = 2 * library.export.Dim("n", min=2)
        inputs = (library.ones(4, *inputs[0].shape[1:]), *inputs[1:])
        said.append(described(library.export.export(module, inputs, dynamic_shapes=({0: twice},))))
    assert said[0] == said[1]


DIVIDED = """
F.linear(z, z, z[:, 0]); F.conv2d(im, k2, b2, 2, 1); F.layer_norm(x, (4,)); F.group_norm(im, 3); F.softmax(x, -1); F.gelu(x); F.silu(x)
F.batch_norm(im, w3, w3 + 1); F.batch_norm(im, w3, w3 + 1, None, None, True); F.dropout(x, 0.5, False); F.dropout(x, 0.5, True); F.softplus(x)
F.hardswish(x); F.mish(x); F.glu(x); F.logsigmoid(x); F.celu(x); F.relu6(x); F.mse_loss(x, y); F.max_pool2d(im, 2); F.adaptive_avg_pool2d(im, 2)
z.t().mT.reshape(-1).view(3, 4).flatten().unflatten(0, (2, 6)); x.to(torch.float64); x.to("cpu", torch.float64); x.cpu(); torch.mul(x, 2, out=torch.empty_like(x)) + 1; x.split(1); x.unbind(1); torch.stack([x, y]); x @ y.mT
torch.zeros(2, 3) + torch.ones(3); torch.zeros_like(x); x.new_ones(2); torch.arange(5); z.tril(); x.squeeze(); x // 2; x.chunk(2, -1)
x.add_(1); F.relu(x + 1, inplace=True).mul_(2); x.clone()[0].add_(1); torch.cond(z.sum(1)[0] > 0, lambda t: t + 1, lambda t: t - 1, (z,))
F.scaled_dot_product_attention(im, im, im); F.embedding(i, z); F.pad(x, (1, 1)); x.logsumexp(1); torch.einsum("bij,bkj->bik", x, y)
"""  # noqa: E501


@pytest.mark.filterwarnings("ignore::FutureWarning")  # which PyTorch's own code raises
@pytest.mark.parametrize("expression", [e for line in DIVIDED.strip().split("\n") for e in line.split("; ")])
def test_decompositions_are_pytorchs(torch: Any, expression: str) -> None:
    said: list[Any] = []
    for library in (wengert, torch):
        ep = program(library, expression)
        made = [ep.run_decompositions({}), ep.run_decompositions()]
        said.append([(described(p), str(p.graph_signature)) for p in made])
    assert said[0] == said[1]


NEEDED = """
z if z.sum() > 3 else -z; z if z.nonzero().shape[0] > 3 else -z; [w + k for k in range(c.nonzero().shape[0])]; [k for k in c[c > 0]]
len(z[z > 0]) * z; torch.arange(int(c[2])); float(z[0, 0]) * z; [1, 2, 3, 4][c.nonzero().shape[0]]; torch.stack([w] * c.nonzero().shape[0])
z if z[0, 0].item() > 0 else -z; z if c[0].item() == 1 else -z; torch.zeros(int(z[0, 0].item()))
"""  # noqa: E501


@pytest.mark.parametrize("expression", [e for line in NEEDED.strip().split("\n") for e in line.split("; ")])
def test_a_value_that_is_needed_at_once_is_pytorchs_error(torch: Any, expression: str) -> None:
    said = []
    for library in (wengert, torch):
        with pytest.raises(RuntimeError) as e:
            program(library, expression)
        said.append((type(e.value).__name__, str(e.value).split("\n")[0]))
    assert said[0] == said[1]


def test_declared_arguments_are_pytorchs(torch: Any) -> None:
    """Names, order and defaults of each declared overload."""
    known = {(s.name, s.overload_name or "default"): s for s in torch._C._jit_get_all_schemas()}
    wrong = []
    for name in _paragraphs():
        for schema in schemas(name):
            theirs = known.get((f"aten::{name}", schema.overload)) or known.get((f"aten::{name}_", schema.overload))
            if theirs is None:
                wrong.append(f"{name}.{schema.overload} is not there")
                continue
            ours = [(a.name, a.keyword_only, a.required) for a in schema.arguments]
            if ours != [(a.name, a.kwarg_only, not a.has_default_value()) for a in theirs.arguments]:
                wrong.append(f"{name}.{schema.overload}: {theirs}")
    assert wrong == []
