"""``torch.export.save`` and ``load``: programs as files that hold no code.

A file is a checkpoint (``torch.save``) of plain containers and tensors, read as such (``weights_only``). Its operators
are names, looked up among PyTorch's declared ones; nothing else in it is called. Names, places and types are checked
before a graph is made, since the graph's Python is written from them.
"""

from __future__ import annotations

import keyword
import math
import operator
import re
from collections import OrderedDict
from typing import Any, NoReturn

import wengert as torch

from .._base.errors import noted, printable
from ..fx.experimental._symbols import SizeName as Symbol
from ..fx.graph import Graph
from ..fx.graph_module import GraphModule
from ..fx.node import Node
from ..utils import _pytree as pytree
from ..utils._aten import OpOverload
from ..utils._aten_schemas import schemas
from ..utils._higher_order import HigherOrderOperator, cond, map_impl, scan, while_loop
from ._dynamic import ValueRanges
from ._functional import MUTATIONS
from .exported_program import ExportedProgram, placeholder
from .graph_signature import (
    ConstantArgument,
    ExportGraphSignature,
    InputKind,
    InputSpec,
    OutputKind,
    OutputSpec,
    TensorArgument,
)

VERSION = 1
Tensor = torch.Tensor
_OPERATORS = "getitem add mul sub floordiv mod truediv pow ge gt le lt eq ne neg abs and_ or_"
_SYMBOLIC = "sym_not sym_float sym_int sym_max sym_min sym_ite"
_PYTHON: dict[str, Any] = {f"operator.{name}": getattr(operator, name) for name in _OPERATORS.split()}
_PYTHON |= {f"torch.{name}": getattr(torch, name) for name in _SYMBOLIC.split()}
_PYTHON |= {f"aten.{op.__name__}": op for op in (
    torch.ops.aten.sym_size.int, torch.ops.aten.item.default, torch.ops.aten._assert_scalar.default
)}  # fmt: skip
_ARGUMENTS = {"neg": 1, "abs": 1, "sym_not": 1, "sym_float": 1, "sym_int": 1, "sym_ite": 3, "item.default": 1}
_FUNCTIONALS = {f"higher_order.{op}": op for op in (cond, map_impl, scan, while_loop)}
_GRAD = "torch._C._set_grad_enabled"
_CONSTANTS = {
    str(c): c
    for c in (
        torch.strided, torch.contiguous_format, torch.preserve_format, torch.channels_last, torch.channels_last_3d,
    )
}  # fmt: skip
_DEPTH = 50
_TEXT, _TRACE = 200, 5000  # characters of an argument, of where a value was computed
_PLAIN = (bool, int, float, str, type(None))


def save(ep: ExportedProgram, f: Any, *, extra_files: dict[str, Any] | None = None, **_: Any) -> None:
    """Write a program to a path or a file: its graph as names and numbers, and its tensors.

    Args:
        extra_files: texts to keep with it, by name.

    Raises:
        AssertionError: an extra file is neither text nor bytes.
        TypeError: ``ep`` is not an ``ExportedProgram``.
        ValueError: its inputs or results have containers that are not Python's own.

    >>> import io, wengert as torch
    >>> file = io.BytesIO()
    >>> torch.export.save(torch.export.export(torch.nn.ReLU(), (torch.ones(2),)), file)
    >>> _ = file.seek(0)
    >>> torch.export.load(file).module()(torch.tensor([-1., 1.]))
    tensor([0., 1.])
    """
    if not isinstance(ep, ExportedProgram):
        raise TypeError(
            f"The 'ep' parameter must be an instance of 'ExportedProgram', got '{type(ep).__name__}' instead."
        )
    for text in (extra_files or {}).values():
        if not isinstance(text, (str, bytes)):
            raise AssertionError(f"Expected string but got {type(text)}")
    nodes, outputs = _written_graph(ep.graph_module)
    tensors = {s.target: ep.tensor(str(s.target)) for s in ep.graph_signature.input_specs if s.target is not None}
    torch.save(
        {
            "wengert.export": VERSION, "name": ep.name, "nodes": nodes,
            "outputs": outputs["tuple"],
            "inputs": [_written_spec(s) for s in ep.graph_signature.input_specs],
            "mutations": [[s.kind.name, s.target] for s in ep.graph_signature.output_specs if s.target is not None],
            "in_spec": _written_tree(_example(ep._in_spec)), "out_spec": _written_tree(_example(ep._out_spec)),
            "ranges": {str(k): [v.lower, v.upper] for k, v in ep.range_constraints.items()},
            "dynamic": [[*place, str(symbol)] for place, symbol in ep.dynamic.items()],
            "parameters": ep.forward_arg_names, "tensors": tensors,
            "state": list(ep.state_dict), "extra_files": dict(extra_files or {}),
        },
        f,
    )  # fmt: skip


def load(f: Any, *, extra_files: dict[str, Any] | None = None, **_: Any) -> ExportedProgram:
    """Read a program. Nothing in the file is run, whatever it holds.

    Args:
        extra_files: a dict whose values are replaced by the texts that the file has under its keys.

    Raises:
        RuntimeError: the file is no such program, is damaged, or names an operator that is not known.
        pickle.UnpicklingError: it holds other objects than tensors and plain containers.
    """
    read = torch.load(f, weights_only=True)
    if not isinstance(read, dict) or read.get("wengert.export") != VERSION:
        raise noted(
            RuntimeError("torch.export.load: the file is not a program that torch.export.save wrote"),
            "Why: it is a checkpoint, PyTorch's own program, or of a later version.",
        )
    for name in extra_files or ():
        text = _item(read, "extra_files", dict).get(name)
        if isinstance(text, (str, bytes)):
            extra_files[name] = text  # type: ignore[index]
    return _Reader(read).program()


# ---- writing
def _written_graph(module: GraphModule) -> tuple[list[Any], Any]:
    """The nodes of a graph, and what it returns."""
    places: dict[Node, int] = {}
    nodes: list[Any] = []
    for node in module.graph.nodes:
        if node.op == "output":
            return nodes, _written(node.args[0], places)
        nodes.append(_written_node(node, places, module))
        places[node] = len(places)
    raise ValueError("torch.export.save: the program returns nothing")


def _written_node(node: Node, places: dict[Node, int], owner: GraphModule) -> dict[str, Any]:
    meta = node.meta.get("val")
    made: dict[str, Any] = {"name": node.name, "op": node.op}
    if node.op == "get_attr":  # the graph of a function that ``cond`` or a loop is given
        nodes, outputs = _written_graph(getattr(owner, str(node.target)))
        return made | {"nodes": nodes, "outputs": outputs}
    if node.op == "call_function":
        made |= {
            "target": _target_name(node), "args": _written(node.args, places),
            "kwargs": {k: _written(v, places) for k, v in node.kwargs.items()},
        }  # fmt: skip
    if isinstance(meta, Tensor):
        made["val"] = [list(meta.shape), list(meta.stride()), str(meta.dtype).rpartition(".")[2]]
    if "symbolic_shape" in node.meta:
        made["symbolic_shape"] = [str(s) if isinstance(s, str) else s for s in node.meta["symbolic_shape"]]
    if "symbol" in node.meta:
        made["symbol"] = str(node.meta["symbol"])
        if "hint" in node.meta:
            made["hint"] = node.meta["hint"]
    if node.stack_trace:
        made["stack_trace"] = node.stack_trace
    return made


def _target_name(node: Node) -> str:
    target: Any = node.target
    if isinstance(target, OpOverload):
        return f"aten.{target.__name__}"
    if isinstance(target, HigherOrderOperator):
        return f"higher_order.{target.__name__}"
    for space in ("operator", "torch"):
        name = f"{space}.{getattr(target, '__name__', '')}"
        if name in _PYTHON:
            return name
    if target is torch._C._set_grad_enabled:
        return _GRAD
    raise noted(
        ValueError(f"torch.export.save: {target} is not an operator of PyTorch"),
        "Why: the program computes something that has no name there; it can be run, and not be saved.",
    )


def _written(a: Any, places: dict[Node, int]) -> Any:
    if isinstance(a, Node):
        return {"node": places[a]}
    if isinstance(a, (list, tuple)):
        return {"list" if isinstance(a, list) else "tuple": [_written(x, places) for x in a]}
    if isinstance(a, torch.dtype):
        return {"dtype": str(a).rpartition(".")[2]}
    if isinstance(a, torch.device):
        return {"device": str(a)}
    if isinstance(a, complex):
        return {"complex": [a.real, a.imag]}
    if str(a) in _CONSTANTS:
        return {"constant": str(a)}
    if isinstance(a, _PLAIN):
        return a
    raise ValueError(f"torch.export.save: an argument of type {type(a).__name__} cannot be saved")


def _written_spec(spec: InputSpec) -> dict[str, Any]:
    made: dict[str, Any] = {"kind": spec.kind.name, "name": spec.arg.name, "target": spec.target}
    if spec.persistent is not None:
        made["persistent"] = spec.persistent
    if isinstance(spec.arg, ConstantArgument):
        if not isinstance(spec.arg.value, _PLAIN):
            raise ValueError(f"torch.export.save: an input of type {type(spec.arg.value).__name__} cannot be saved")
        made["value"] = spec.arg.value
    return made


def _example(spec: Any) -> Any:
    return pytree.tree_unflatten([None] * spec.num_leaves, spec)


def _written_tree(tree: Any) -> Any:
    if tree is None:
        return None
    for cls in (list, tuple):
        if type(tree) is cls:
            return {cls.__name__: [_written_tree(t) for t in tree]}
    if type(tree) in (dict, OrderedDict) and all(isinstance(k, (str, int)) for k in tree):
        return {"dict" if type(tree) is dict else "ordered": [[k, _written_tree(v)] for k, v in tree.items()]}
    raise ValueError(f"torch.export.save: a container of type {type(tree).__name__} cannot be saved")


# ---- reading
def _refuse(what: str) -> NoReturn:
    raise RuntimeError(f"torch.export.load: the file is damaged: {what}")


def _need(condition: Any, what: str) -> None:
    if not condition:
        _refuse(what)


def _item(table: Any, key: str, kind: Any) -> Any:
    value = table.get(key) if isinstance(table, dict) else None
    known = isinstance(value, kind) and not (kind is int and isinstance(value, bool))
    _need(known, f"{key} is a {type(value).__name__}")
    return value


def _identifier(name: Any) -> str:
    """A name that generated code may use as it is."""
    if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]{0,199}", name) or keyword.iskeyword(name):
        _refuse("the name of a node is no identifier")
    if name.startswith("__") or name in ("self", "torch", "device", "fx_pytree", "pytree", "inf", "nan", "NoneType"):
        _refuse(f"a node has the name {name}")
    return str(name)


def _target(name: Any) -> str:
    """The dotted name of a parameter, buffer or constant."""
    if not isinstance(name, str) or not all(re.fullmatch(r"[A-Za-z0-9_]{1,200}", p) for p in name.split(".")):
        _refuse("the name of a tensor is no dotted name")
    parts = name.split(".")
    if len(parts) > _DEPTH or any(p.startswith("__") or hasattr(_MODULE, p) for p in parts):
        _refuse("the name of a tensor is not allowed")
    return str(name)


_MODULE = torch.nn.Module()


class _Reader:
    """One program being read: ``read`` is what the file holds, of which nothing is known."""

    def __init__(self, read: dict[Any, Any]) -> None:
        self.read = read
        self.graph, self.root = Graph(), torch.nn.Module()
        self.depth = 0  # of a function's graph
        self.nodes: list[Node] = []
        self.names: set[str] = set()
        self.seen: set[int] = set()  # the containers that were read: shared ones, 50 levels deep, have 2**50 items

    def once(self, container: Any) -> Any:
        """A container, which is not to be at two places."""
        _need(id(container) not in self.seen, "a container is there twice")
        self.seen.add(id(container))
        return container

    def program(self) -> ExportedProgram:
        """The program."""
        tensors = _item(self.read, "tensors", dict)
        for name, tensor in tensors.items():
            _target(name)
            _need(isinstance(tensor, Tensor), f"{name} is no tensor")
            below = any(name[:i] in tensors for i, letter in enumerate(name) if letter == ".")
            _need(not below, f"{name} is below a tensor")
        specs = [self.spec(s, tensors) for s in _item(self.read, "inputs", list)]
        written = _item(self.read, "nodes", list)
        _need(len(written) >= len(specs), "there are fewer nodes than inputs")
        for i, node in enumerate(written):
            self.node(node, specs[i] if i < len(specs) else None)
        outputs = [self.argument(a, 0) for a in _item(self.read, "outputs", list)]
        _need(all(isinstance(o, (Node, *_PLAIN)) for o in outputs), "an output is no value")
        self.graph.output(tuple(outputs))
        in_spec, out_spec = (self.tree(self.read.get(key)) for key in ("in_spec", "out_spec"))
        users = [s for s in specs if s.kind is InputKind.USER_INPUT]
        children = in_spec.children()
        kinds = [in_spec.type, *[child.type for child in children]]
        _need(kinds == [tuple, tuple, dict], "the structure of the inputs is not that of a call")
        for key in children[1].context or ():
            _identifier(key)
        mutations = self.mutations(specs)
        fits = in_spec.num_leaves == len(users) and out_spec.num_leaves == len(outputs) - len(mutations)
        _need(fits, "the structures do not fit the inputs and outputs")
        kinds = [*mutations, *[(OutputKind.USER_OUTPUT, None)] * out_spec.num_leaves]
        _need(all(isinstance(o, Node) for o in outputs[: len(mutations)]), "what is written is no tensor")
        made = [
            OutputSpec(kind, TensorArgument(o.name) if isinstance(o, Node) else ConstantArgument("", o), target)
            for o, (kind, target) in zip(outputs, kinds, strict=True)
        ]
        state = {
            name: tensors[name] for name in _item(self.read, "state", list) if isinstance(name, str) and name in tensors
        }
        ranges, dynamic = self.ranges(), self.dynamic(len(users))
        return ExportedProgram(
            self.graph, ExportGraphSignature(specs, made), state, {k: v for k, v in tensors.items() if k not in state},
            in_spec, out_spec, ranges, None, _identifier(self.read.get("name")), dynamic, self.parameters(), None,
            self.root,
        )  # fmt: skip

    def mutations(self, specs: list[InputSpec]) -> list[tuple[OutputKind, str]]:
        """The inputs that the first outputs are new values of."""
        targets = {(MUTATIONS[s.kind].name, s.target or s.arg.name) for s in specs if s.kind in MUTATIONS}
        made = []
        for pair in self.read.get("mutations", []):  # files of earlier versions have none
            _need(isinstance(pair, list) and len(pair) == 2 and tuple(pair) in targets, "an unknown input is written")
            made.append((OutputKind[pair[0]], str(pair[1])))
        return made

    def parameters(self) -> list[str]:
        """The names of the exported module's parameters."""
        names = self.read.get("parameters", [])  # files of earlier versions have none
        _need(isinstance(names, list), "the parameters' names are damaged")
        made = [_identifier(name) for name in names]
        _need(len(set(made)) == len(made), "two parameters have one name")
        return made

    def spec(self, written: Any, tensors: dict[str, Any]) -> InputSpec:
        """What an input is."""
        kind = _item(written, "kind", str)
        _need(kind in InputKind.__members__, "an input is of no known kind")
        name = _identifier(written.get("name"))
        if kind == "USER_INPUT":
            if "value" not in written:
                return InputSpec(InputKind.USER_INPUT, TensorArgument(name), None)
            _need(isinstance(written["value"], _PLAIN), "an input's value is no number or text")
            return InputSpec(InputKind.USER_INPUT, ConstantArgument(name, written["value"]), None)
        target = _target(written.get("target"))
        _need(target in tensors, f"there is no tensor {target}")
        persistent = written.get("persistent")
        _need(persistent is None or isinstance(persistent, bool), "persistent is no bool")
        return InputSpec(InputKind[kind], TensorArgument(name), target, persistent)

    def node(self, written: Any, spec: InputSpec | None) -> None:
        """Add a node."""
        name = _identifier(_item(written, "name", str))
        _need(name not in self.names, f"two nodes have the name {name}")
        self.names.add(name)
        op = _item(written, "op", str)
        if self.depth and op == "placeholder":
            _need(all(n.op == "placeholder" for n in self.nodes), "an input stands behind what computes")
            node = placeholder(self.graph, name)
        elif spec is not None:
            _need(op == "placeholder", f"the node {name} has the wrong kind")
            _need(spec.arg.name == name, "the inputs have other names than their nodes")
            node = placeholder(self.graph, name)
        elif op == "get_attr":
            node = self.function(written, name)
        else:
            _need(op == "call_function", f"the node {name} has the wrong kind")
            node = self.call(written, name)
        _need(node.name == name, f"a node may not have the name {name}")
        self.note(node, written, spec)
        self.nodes.append(node)

    def function(self, written: Any, name: str) -> Node:
        """Add the graph of a function that ``cond`` or a loop is given, under one of the names that they are given."""
        _need(re.fullmatch(r"[a-z_]+_graph_\d+", name) is not None, f"a graph may not have the name {name}")
        inner = _Reader(self.read)
        inner.seen, inner.depth = self.seen, self.depth + 1
        _need(inner.depth <= _DEPTH, "graphs are nested too deep")
        for node in self.once(_item(written, "nodes", list)):
            inner.node(node, None)
        result = inner.argument(written.get("outputs"), 0)
        results = result if isinstance(result, (list, tuple)) else [result]
        _need(all(isinstance(o, Node) for o in results), "a function returns no tensors")
        inner.graph.output(result)
        setattr(self.root, name, GraphModule(inner.root, inner.graph))
        return self.graph.create_node("get_attr", name, (), {}, name)

    def call(self, written: Any, name: str) -> Node:
        """Add the call of an operator, which is looked up by its name."""
        target = _item(written, "target", str)
        args = self.argument(written.get("args"), 0)
        kwargs = {k: self.argument(v, 0) for k, v in _item(written, "kwargs", dict).items()}
        _need(isinstance(args, tuple), "the arguments of a node are no tuple")
        function, allowed, least, most = _function(target)
        _need(kwargs.keys() <= allowed and least <= len(args) <= most, f"{target} has no such arguments")
        if isinstance(function, HigherOrderOperator):
            _need(all(_is_function(args[k]) for k in function.functions), f"{target} is given no functions")
            lists = [args[k] for k in function.operands]
            known = all(isinstance(a, (list, tuple)) and all(isinstance(n, Node) for n in a) for a in lists)
            _need(known, f"{target} is given no tensors")
        _need(function is not operator.getitem or isinstance(args[0], Node), "an item of no value is taken")
        return self.graph.create_node("call_function", function, args, kwargs, name)

    def note(self, node: Node, written: Any, spec: InputSpec | None) -> None:
        """Note a value's shape, strides and dtype."""
        val = written.get("val")
        given = spec is not None and spec.kind is InputKind.USER_INPUT and isinstance(spec.arg, TensorArgument)
        _need(val is not None or not given, "the shape of an input is missing")
        if "symbol" in written:
            node.meta["symbol"] = _symbol(written["symbol"])
            if isinstance(written.get("hint"), (bool, int, float)):
                node.meta["hint"] = written["hint"]
        if isinstance(written.get("stack_trace"), str):
            lines = written["stack_trace"][:_TRACE].split("\n")  # one text may be that of every node
            node.stack_trace = "\n".join([printable(line) for line in lines])
        if val is None:
            return
        _need(_is_list(val, 3) and isinstance(val[2], str), "the shape of a value is damaged")
        shape, stride = (self.sizes(v) for v in val[:2])
        small = len(shape) == len(stride) and max(math.prod(shape), _last(shape, stride)) < 1 << 50
        _need(small, "the shape of a value is damaged")
        node.meta["val"] = torch.empty_strided(shape, stride, dtype=_dtype(val[2]), device="meta")
        symbolic = written.get("symbolic_shape")
        if symbolic is not None:
            _need(_is_list(symbolic, len(shape)), "the sizes of a value are damaged")
            node.meta["symbolic_shape"] = tuple([_symbol(s) if isinstance(s, str) else _size(s) for s in symbolic])

    def sizes(self, v: Any) -> list[int]:
        """A list of sizes, or of strides."""
        _need(isinstance(v, list) and len(v) <= 64, "the shape of a value is damaged")
        return [_size(s) for s in v]

    def argument(self, a: Any, depth: int) -> Any:
        """An argument of a node."""
        if isinstance(a, _PLAIN):
            _need(type(a) is not int or _fits(a), "a number has more than 64 bits")
            if type(a) is str and len(a) > _TEXT:
                self.once(a)  # it will be written into the program wherever it stands
            return a
        _need(isinstance(a, dict) and len(a) == 1 and depth <= _DEPTH, "an argument is of no known form")
        ((kind, value),) = a.items()
        if kind == "node" and type(value) is int and 0 <= value < len(self.nodes):
            return self.nodes[value]
        if kind in ("list", "tuple") and isinstance(value, list):
            items = [self.argument(x, depth + 1) for x in self.once(value)]
            return items if kind == "list" else tuple(items)
        if kind == "dtype" and isinstance(value, str):
            return _dtype(value)
        if kind == "device" and value in ("cpu", "meta"):
            return torch.device(value)
        if kind == "constant" and isinstance(value, str) and value in _CONSTANTS:
            return _CONSTANTS[value]
        if kind == "complex" and _is_list(value, 2) and all(isinstance(v, float) for v in value):
            return complex(*value)
        _refuse("an argument is of no known form")

    def tree(self, written: Any) -> Any:
        """The structure of inputs or results."""
        return pytree.tree_structure(self.container(written, 0))

    def container(self, written: Any, depth: int) -> Any:
        """A container with 0 for each leaf."""
        if written is None:
            return 0
        _need(isinstance(written, dict) and len(written) == 1 and depth <= _DEPTH, "a structure is of no known form")
        ((kind, items),) = written.items()
        if kind in ("list", "tuple") and isinstance(items, list):
            made = [self.container(x, depth + 1) for x in self.once(items)]
            return made if kind == "list" else tuple(made)
        if kind in ("dict", "ordered") and isinstance(items, list):
            pairs = [(p[0], self.container(p[1], depth + 1)) for p in self.once(items) if _is_list(p, 2)]
            if len(pairs) == len(items) and all(isinstance(k, (str, int)) for k, _ in pairs):
                return (dict if kind == "dict" else OrderedDict)(pairs)
        _refuse("a structure is of no known form")

    def ranges(self) -> dict[Symbol, ValueRanges]:
        """The bounds of the sizes that may differ."""
        made = {}
        for name, bounds in _item(self.read, "ranges", dict).items():
            known = _is_list(bounds, 2) and all(isinstance(v, (int, float)) for v in bounds)
            _need(known and all(isinstance(v, float) or _fits(v) for v in bounds), "the bounds of a size are damaged")
            made[_symbol(name)] = ValueRanges(*bounds)
        return made

    def dynamic(self, count: int) -> dict[tuple[int, int], Symbol]:
        """The places of the sizes that may differ."""
        made = {}
        for item in _item(self.read, "dynamic", list):
            known = _is_list(item, 3) and all(type(v) is int for v in item[:2])
            _need(known, "a size that may differ is damaged")
            _need(0 <= item[0] < count and 0 <= item[1] < 64, "a size that may differ is of no input")
            made[item[0], item[1]] = _symbol(item[2])
        return made


def _is_function(value: Any) -> bool:
    return isinstance(value, Node) and value.op == "get_attr"


def _is_list(value: Any, length: int) -> bool:
    return isinstance(value, list) and len(value) == length


def _fits(number: int) -> bool:
    """Whether a number has no more than 64 bits."""
    return -(2**63) <= number < 2**64


def _symbol(text: Any) -> Symbol:
    known = isinstance(text, str) and re.fullmatch(r"[A-Za-z0-9_+*/%(),=<>&|~.\- ]{1,200}", text)
    _need(known, "the name of a size is damaged")
    symbol = Symbol(text)
    symbol.shown = text
    return symbol


def _size(s: Any) -> int:
    _need(type(s) is int and 0 <= s < 1 << 50, "a size or a stride is damaged")
    return int(s)


def _last(shape: list[int], stride: list[int]) -> int:
    """The place in memory of the last element."""
    return sum((n - 1) * step for n, step in zip(shape, stride, strict=True)) if all(shape) else 0


def _dtype(name: str) -> Any:
    found = getattr(torch, name, None) if name.isidentifier() else None
    _need(isinstance(found, torch.dtype), "there is no such dtype")
    try:
        found.np  # noqa: B018  what NumPy has no dtype for, tensors cannot have
    except TypeError:
        _refuse(f"no tensor has the dtype {name}")
    return found


def _function(target: str) -> tuple[Any, set[str], int, int]:
    """An operator by its name, its keywords, and how many arguments stand by place, at least and at most."""
    if target in _PYTHON:
        count = _ARGUMENTS.get(target.partition(".")[2], 2)
        return _PYTHON[target], set(), count, count
    if target in _FUNCTIONALS:
        count = 3 if target == "higher_order.map_impl" else 4
        return _FUNCTIONALS[target], set(), count, count
    if target == _GRAD:
        return torch._C._set_grad_enabled, set(), 1, 1
    parts = target.split(".")
    known = [s for s in schemas(parts[1]) if s.overload == parts[2]] if len(parts) == 3 and parts[0] == "aten" else []
    if not known:
        raise noted(
            RuntimeError(f"torch.export.load: the operator {target[:100]!r} is not known"),
            "Why: a file may name PyTorch's operators only, those that wengert declares.",
        )
    arguments = known[0].arguments
    function = getattr(getattr(torch.ops.aten, parts[1]), parts[2])
    return function, {a.name for a in arguments}, 0, sum(not a.keyword_only for a in arguments)
