"""Examples of the documentation with one argument changed, for ``call_fuzzer``.

Every public function and class has an example in its docstring, so the examples reach what the operator database does
not: modules, initializers, optimizers, schedulers, loaders, distributions, transforms, sparse tensors, utilities. An
example that PyTorch does not run is left out. A mutation changes one call in the text of the example, so that a
finding is a program that can be pasted.
"""

from __future__ import annotations

import ast
import contextlib
import copy
import doctest
import functools
import importlib
import inspect
import io
import random
import re
import sys
from collections.abc import Iterator
from typing import Any

from house.test_doctests import examples_of, module_names

import wengert
from wengert._base.registry import PUBLIC

VALUES = """
None True -1 0 1 3 7 0.5 -2.5 1j 2**31 2**62 -2**63 float('nan') float('inf') 'a_string' '' b'bytes' () (1,) (2,3)
[] [2,3] [[1,2],[3]] [None] (-1,) (1.5,) {} {'a':1} {1,2} object() object ... slice(None) print len range(3)
(lambda*a:a) (lambda:0) torch torch.float32 torch.int64 torch.device('cpu') torch.strided torch.Size([2])
torch.nn.Linear(2,2) torch.nn.ReLU torch.ones(2,3) torch.ones(()) torch.ones(0) torch.ones(3) torch.ones(1,1,2)
torch.ones(2,2,2,2) torch.arange(3) torch.ones(2,3,dtype=torch.float64) torch.ones(3,3,dtype=torch.complex64)
torch.tensor([True,False]) torch.eye(3).to_sparse() torch.ones(2,3,dtype=torch.float16)
torch.ones(3,requires_grad=True) [torch.ones(2),torch.ones(3)] (torch.ones(2),3) torch.nn.Parameter(torch.ones(2))
torch.ones(2,device='meta') {'a':torch.ones(2)} [torch.nn.Parameter(torch.ones(2))] torch.Generator()
torch.optim.SGD torch.distributions.Normal(0.,1.) torch.zeros(2).numpy() iter([1]) NotImplemented
"""
KEYWORDS = "dim axis keepdim out dtype device input other foo p eps reduction generator requires_grad lr mode"
NOT_RUN = re.compile(
    r"wengert|tmp|open\(|\.save\(|\.load\(|compile|spawn|fork|set_default|use_determ|manual_seed\(|time|profil|export|"
    r"multiprocessing|num_workers|set_num|hub|sleep|set_printoptions|distributed|explain|jit|onnx|library|_C\b|os\.|"
    r"set_grad_enabled|set_flush|simplefilter|filterwarnings|environ|fx\.|make_fx|hipify|_dynamo|serialization"
)


def examples() -> list[str]:
    """The examples that both libraries may run: a line with what each documents, then its statements."""
    found: dict[tuple[str, ...], str] = {}
    for module in module_names():
        if re.search(r"\._|_C\b|distributed|explain|export|onnx|compat|testing|fx", module):
            continue
        with contextlib.suppress(ImportError):
            for test in examples_of(importlib.import_module(module)):
                found.setdefault(statements(test), test.name.replace("wengert", "torch"))
    parser = doctest.DocTestParser()
    for space, names in PUBLIC.items():
        for name, function in names.items():
            test = parser.get_doctest(str(inspect.getdoc(function)), {}, name, None, 0)
            found.setdefault(statements(test), f"torch.{space}.{name}".replace("torch.torch.", "torch."))
    return sorted(
        "\n".join((f">>> {name}", *lines)) for lines, name in found.items() if lines and not NOT_RUN.search(str(lines))
    )


def statements(test: doctest.DocTest) -> tuple[str, ...]:
    """An example's statements, without the import of the library under its alias."""
    lines = (example.source.strip() for example in test.examples)
    return tuple(line for line in lines if line != "import wengert as torch" and "\n" not in line)


class _Changed(ast.NodeTransformer):
    """Changes the n-th call of a program in one way."""

    def __init__(self, r: random.Random, number: int) -> None:
        self.r, self.number = r, number

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        self.number -= 1
        if self.number == -1:
            self._change(node)
        return node

    def _value(self) -> ast.expr:
        return ast.parse(self.r.choice(VALUES.split()), mode="eval").body

    def _change(self, node: ast.Call) -> None:
        r, how = self.r, self.r.random()
        places = [*range(len(node.args)), *(k.arg for k in node.keywords if k.arg)]
        if how < 0.72 and places:
            self._replace(node, r.choice(places))
        elif how < 0.8 and node.args:
            node.args.pop()
        elif how < 0.9 or not places:
            node.args.append(self._value())
        else:
            node.keywords.append(ast.keyword(r.choice(KEYWORDS.split()), self._value()))

    def _replace(self, node: ast.Call, place: Any) -> None:
        if isinstance(place, int):
            old = node.args[place]
            node.args[place] = self._near(old)
        else:
            keyword = next(k for k in node.keywords if k.arg == place)
            keyword.value = self._near(keyword.value)

    def _near(self, old: ast.expr) -> ast.expr:
        """Another value; of a list now and then one with another item, so that not all of it is wrong."""
        if isinstance(old, ast.List | ast.Tuple) and old.elts and self.r.random() < 0.6:
            new = copy.deepcopy(old)
            k = self.r.randrange(len(new.elts))
            new.elts[k] = self._near(new.elts[k])
            return new
        return self._value()


def mutated(lines: list[str], r: random.Random) -> list[str]:
    """The statements of an example, one of them with a call that is changed."""
    lines = list(lines)
    trees = [ast.parse(line) for line in lines]
    calls = [sum(isinstance(node, ast.Call) for node in ast.walk(tree)) for tree in trees]
    if not sum(calls):
        return lines
    number = r.randrange(sum(calls))
    for k, count in enumerate(calls):
        if number < count:
            lines[k] = ast.unparse(ast.fix_missing_locations(_Changed(r, number).visit(trees[k])))
            break
        number -= count
    return lines


def run(library: Any, lines: list[str]) -> None:
    """Run statements; a value of one is shown, as the prompt shows it."""
    scope = {"torch": library, "__name__": "__main__"}
    real = sys.displayhook
    sys.displayhook = repr
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            for line in lines:
                exec(compile(line, "<example>", "single"), scope)
    finally:
        sys.displayhook = real


def findings(example: str, seed: int, count: int, torch: Any, run_one: Any, judged: Any) -> Iterator[dict[str, str]]:
    """``count`` changes of an example: how ``run_one`` finds each of them on both libraries."""
    name, *right = example.splitlines()
    r = random.Random(f"{seed} {name}")
    if run_one(torch, lambda: run(torch, right)) is not None:
        return
    for _ in range(count):
        lines = mutated(right, r)
        theirs, mine = (run_one(library, functools.partial(run, library, lines)) for library in (torch, wengert))
        yield {"kind": judged(theirs, mine), "name": name, "call": "\n         ".join([name, *lines]),
               "torch": repr(theirs)[:200], "wengert": repr(mine)[:200]}  # fmt: skip
