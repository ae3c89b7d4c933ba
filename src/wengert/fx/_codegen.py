"""From nodes to Python: ``CodeGen`` writes the text of ``forward``, ``_PyTreeCodeGen`` one whose inputs are nested."""

from __future__ import annotations

import enum
import inspect
import os
import pprint
import re
import types
import typing
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import wengert as torch

from ..utils import _pytree as pytree
from ..utils._aten import OpOverload
from . import _pytree as fx_pytree
from ._compatibility import compatibility
from ._namespace import CUSTOM_BUILTINS, Namespace, register_custom_builtin
from ._naming import is_from_torch, qualified_name, type_text
from .node import Node, tensor_text
from .tensor_type import TensorType, _DynType

register_custom_builtin("torch", "import torch", torch)
register_custom_builtin("device", "from torch import device", torch.device)
register_custom_builtin("fx_pytree", "import torch.fx._pytree as fx_pytree", fx_pytree)
register_custom_builtin("pytree", "import torch.utils._pytree as pytree", pytree)

_REFLECTED = {
    "add": "{} + {}", "sub": "{} - {}", "mul": "{} * {}", "floordiv": "{} // {}", "truediv": "{} / {}",
    "div": "{} / {}", "mod": "{} % {}", "pow": "{} ** {}", "lshift": "{} << {}", "rshift": "{} >> {}",
    "and_": "{} & {}", "or_": "{} | {}", "xor": "{} ^ {}", "getitem": "{}[{}]", "matmul": "{} @ {}",
}  # fmt: skip
reflectable_magic_methods = _REFLECTED
magic_methods = {
    "eq": "{} == {}", "ne": "{} != {}", "lt": "{} < {}", "gt": "{} > {}", "le": "{} <= {}", "ge": "{} >= {}",
    "pos": "+{}", "neg": "-{}", "invert": "~{}", **_REFLECTED,
}  # fmt: skip
inplace_methods = {
    "iadd": "{} += {}", "iand": "{} &= {}", "ifloordiv": "{} //= {}", "ilshift": "{} <<= {}", "imod": "{} %= {}",
    "imul": "{} *= {}", "imatmul": "{} @= {}", "ior": "{} |= {}", "ipow": "{} **= {}", "irshift": "{} >>= {}",
    "isub": "{} -= {}", "itruediv": "{} /= {}", "ixor": "{} ^= {}", "setitem": "{}[{}] = {}",
}  # fmt: skip
# What annotations of `typing` are written as: `typing.List[int]` has the origin `list`.
_TYPING = {
    list: typing.List,  # noqa: UP006
    dict: typing.Dict,  # noqa: UP006
    set: typing.Set,  # noqa: UP006
    frozenset: typing.FrozenSet,  # noqa: UP006
    tuple: typing.Tuple,  # noqa: UP006
}
_COUNTER = re.compile(r"# COUNTER: (\d+)")
_COLOURS = {"red": "\033[31m", "blue": "\033[34m", "dim": "\033[2m", "dim_blue": "\033[2m\033[34m"}
_COLOURS["dim_green"] = "\033[2m\033[32m"


@compatibility(is_backward_compatible=True)
@dataclass
class PythonCode:
    """A graph as Python: the text of its function, the globals that this needs, and the node of each line."""

    src: str
    globals: dict[str, Any]
    _lineno_map: dict[int, int | None] | None
    _prologue_start: int = 0


class _PyTreeInfo(NamedTuple):
    """The names of the parameters, and the structures of arguments and result."""

    orig_args: list[str]
    in_spec: Any
    out_spec: Any


def format_target(base: str, target: str) -> str:
    """``self.a.b``; a part that is no identifier is fetched with ``getattr``."""
    for part in target.split("."):
        base = f"{base}.{part}" if part.isidentifier() else f'getattr({base}, "{part}")'
    return base


def with_parameters_it_has(method: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call a method that a user's class may have overridden with fewer keywords."""
    known = inspect.signature(method).parameters
    return method(*args, **{k: v for k, v in kwargs.items() if k in known})


def last_line_of(stack_trace: str | None) -> str:
    """The innermost frame of a recorded trace, in one line."""
    lines = (stack_trace or "").strip().split("\n")
    for i in range(len(lines) - 2, -1, -1):
        if found := re.fullmatch(r"File \"(.+)\", line (\d+), in (.+)", lines[i].strip()):
            file, line, name = found.groups()
            return f"File: {file}:{line} in {name}, code: {lines[i + 1].strip()}"
    return "No stacktrace found for following nodes"


class CodeGen:
    """Writes a graph's nodes as the Python function ``forward``.

    Subclasses change the parameters (``gen_fn_def``), the return statement (``generate_output``) and what the function
    is given and gives (``process_inputs``, ``process_outputs``, for interpreters).

    >>> import wengert as torch
    >>> torch.fx.CodeGen().gen_fn_def(["x", "y"], "")
    'def forward(self, x, y):'
    """

    def __init__(self) -> None:
        self._body_transformer: Callable[[list[str]], list[str]] | None = None
        self._func_name = "forward"

    def gen_fn_def(self, free_vars: list[str], maybe_return_annotation: str, *, expanded_def: bool = False) -> str:
        """The function's first line; ``self`` is added where it is missing."""
        if not free_vars or free_vars[0] != "self":
            free_vars.insert(0, "self")
        if not expanded_def:
            return f"def {self._func_name}({', '.join(free_vars)}){maybe_return_annotation}:"
        lines = []
        for var in free_vars:
            name, mark, comment = var.partition("#")
            lines.append(f"    {name.rstrip()},  # {comment.lstrip()}\n" if mark else f"    {var},\n")
        return f"def {self._func_name}(\n{''.join(lines)}){maybe_return_annotation}:"

    def _described(self, items: Sequence[Any], descs: Any, prefix: str, repr_fn: Callable[[Any], str]) -> str:
        left, right = "()" if isinstance(items, tuple) else "[]"
        lines = [f"    {repr_fn(item)},  # {desc}\n" for item, desc in zip(items, descs, strict=False)]
        return f"{prefix}{left}\n{''.join(lines)}{right}"

    def generate_output(self, output_args: Any, *, descs: Any = None, repr_fn: Callable[[Any], str] = repr) -> str:
        """The return statement."""
        if descs is not None and isinstance(output_args, (list, tuple)):
            return self._described(output_args, descs, "return ", repr_fn)
        return f"return {repr_fn(output_args)}"

    def process_inputs(self, *args: Any) -> Any:
        """What the placeholders are given, for the arguments of a call."""
        return args

    def process_outputs(self, outputs: Any) -> Any:
        """What a call returns, for what the output node holds."""
        return outputs

    def additional_globals(self) -> list[tuple[str, Any]]:
        """Names and objects that overridden methods write into the code."""
        return []

    def _gen_python_code(self, nodes: Iterable[Node], root_module: str, namespace: Namespace, **how: Any) -> PythonCode:
        return _Writer(self, nodes, root_module, namespace, **how).write()


class _Writer:
    """One run of a ``CodeGen`` over a graph."""

    def __init__(
        self, codegen: CodeGen, nodes: Any, root_module: str, namespace: Namespace, *, verbose: bool = False,
        include_stride: bool = False, include_device: bool = False, colored: bool = False,
        expanded_def: bool = False, record_func: bool = False, additional_meta: list[str] | None = None,
    ) -> None:  # fmt: skip
        self.codegen, self.nodes, self.root, self.namespace = codegen, nodes, root_module, namespace
        self.verbose, self.expanded, self.additional_meta = verbose, expanded_def, additional_meta
        self.stride = include_stride or os.environ.get("FX_GRAPH_SHOW_STRIDE", "0") == "1"
        self.device = include_device or os.environ.get("FX_GRAPH_SHOW_DEVICE", "0") == "1"
        self.show_meta = os.environ.get("FX_GRAPH_SHOW_META", "0") == "1"
        self.colored = colored
        self.free_vars: list[str] = []
        self.body: list[str] = []
        self.globals: dict[str, Any] = {}
        self.wrapped: dict[str, None] = {}
        self.returns = ""
        self.summary: str | None = None

    def colour(self, name: str, text: str) -> str:
        return f"{_COLOURS[name]}{text}\033[0m" if self.colored else text

    def add_global(self, name_hint: str, obj: Any) -> str:
        """The name by which the code reaches an object, which is put among its globals if need be."""
        if obj is not torch.device and is_from_torch(obj):
            return type_text(obj) if isinstance(obj, type) else qualified_name(obj)
        name = self.namespace.create_name(name_hint, obj)
        self.globals[name] = obj
        return name

    # ---- values
    def type_repr(self, o: Any) -> str:
        """An annotation, its classes among the globals."""
        if o == ():
            return "()"
        name = type_text(o)
        if isinstance(o, types.UnionType) and "|" in name:
            return "|".join([self.type_repr(arg) for arg in typing.get_args(o)])
        origin = getattr(o, "__origin__", None)
        if not origin:
            return self.add_global(name, type(o) if isinstance(o, _DynType) else o)
        if isinstance(o, typing._GenericAlias):
            origin = _TYPING.get(origin, origin)
        origin_name = self.add_global(type_text(origin), origin)
        args = [self.type_repr(arg) for arg in (o.dims if isinstance(o, TensorType) else typing.get_args(o))]
        return f"{origin_name}[{','.join(args)}]" if args else origin_name

    def value(self, arg: Any) -> str:
        """An argument as Python."""
        if isinstance(arg, Node):
            return repr(arg)
        if isinstance(arg, tuple) and hasattr(arg, "_fields"):
            return f"{self.add_global(qualified_name(type(arg)), type(arg))}{tuple(arg)!r}"
        if isinstance(arg, OpOverload):
            return qualified_name(arg)
        if isinstance(arg, enum.Enum):
            return f"{self.add_global(type(arg).__name__, type(arg))}.{arg.name}"
        if isinstance(arg, torch.Tensor):
            return f"torch.Tensor(size={list(arg.size())}, dtype={str(arg.dtype).split('.')[-1]})"
        if isinstance(arg, tuple):
            return f"({self.value(arg[0])},)" if len(arg) == 1 else f"({', '.join(map(self.value, arg))})"
        if isinstance(arg, list):
            return f"[{', '.join(map(self.value, arg))}]"
        if isinstance(arg, slice):
            return f"slice({self.value(arg.start)}, {self.value(arg.stop)}, {self.value(arg.step)})"
        return self.colour("blue", repr(arg))

    def call(self, args: Iterable[Any], kwargs: dict[str, Any]) -> str:
        return ", ".join([*map(self.value, args), *[f"{k} = {self.value(v)}" for k, v in kwargs.items()]])

    # ---- lines
    def annotation(self, node: Node) -> str:
        meta = node.meta.get("val", node.meta.get("tensor_meta", node.meta.get("example_value")))
        if self.verbose and isinstance(meta, torch.Tensor):
            text = self.shape_text(meta)
            if "symbolic_shape" in node.meta:  # sizes that may differ
                text = f"{text.partition('[')[0]}[{', '.join(map(str, node.meta['symbolic_shape']))}]"
            plain = type(meta) is torch.Tensor or "symbolic_shape" in node.meta
            return f': "{text}"' if plain else f': "{type(meta).__name__}({text})"'
        if self.verbose and hasattr(meta, "memory_format") and hasattr(meta, "shape"):
            return f': "{tensor_text(meta)}"'
        if self.verbose and "symbol" in node.meta:
            return f': "Sym({node.meta["symbol"]})"'
        return "" if node.type is None else f" : {self.type_repr(node.type)}"

    def shape_text(self, t: Any) -> str:
        dtype, _, shape = tensor_text(t).partition("[")
        stride = str(list(t.stride())) if self.stride else ""
        place = str(t.device) if self.device else ""
        parts = (("red", dtype), ("blue", f"[{shape}"), ("dim_blue", stride), ("dim_green", place))
        return "".join([self.colour(name, text) for name, text in parts])

    def write_summary(self, node: Node) -> None:
        """A comment: the line of the program that made the nodes below it."""
        if node.op in ("placeholder", "output"):
            return
        shown = [f"{key}: {node.meta[key]}" for key in self.additional_meta or () if key in node.meta]
        before = f"# {', '.join(shown)} " if shown else ""
        custom = {
            key: str(value)[:40] + "..." if len(str(value)) > 40 else value
            for key, value in (node.meta.get("custom") or {}).items()
        }
        noted = f" Annotation: {custom}" if custom else ""
        text = "\n" + self.colour("dim", f"{before}#{noted} {last_line_of(node.stack_trace)}") + "\n"
        if text != self.summary:
            self.summary = text
            self.body.append(text)

    def write_node(self, node: Node) -> None:
        write = self.body.append
        typed = self.annotation(node)
        desc = node.meta.get("desc") if self.expanded else None
        if self.show_meta and node.meta:
            lines = [f"{k}: {pprint.pformat(str(v), width=80, compact=True)}\n" for k, v in node.meta.items()]
            write('"""\n' + "".join(lines).replace('"""', "'''") + '"""\n')  # nothing in it may end the comment
        if node.op == "placeholder":
            default = f" = {self.value(node.args[0])}" if node.args else ""
            comment = f"  # {desc}" if desc is not None else ""
            self.free_vars.append(f"{node.target}{typed}{default}{comment}")
            raw = node.target.replace("*", "")
            if raw != repr(node):
                write(f"{node!r} = {raw}\n")
        elif node.op == "output":
            if node.type is not None:
                self.returns = f" -> {self.type_repr(node.type)}"
            write(with_parameters_it_has(self.codegen.generate_output, node.args[0], descs=desc, repr_fn=self.value))
        elif node.op == "get_attr":
            write(f"{node!r}{typed} = {format_target(self.root, node.target)}")
        elif node.op == "call_module":
            write(f"{node!r}{typed} = {format_target(self.root, node.target)}({self.call(node.args, node.kwargs)})")
        elif node.op == "call_method":
            method = format_target(self.value(node.args[0]), node.target)
            write(f"{node!r}{typed} = {method}({self.call(node.args[1:], node.kwargs)})")
        elif node.op == "call_function":
            self.write_function(node, typed)
        else:
            raise NotImplementedError(f"node: {node.op} {node.target}")

    def write_function(self, node: Node, typed: str) -> None:
        target: Any = node.target
        if getattr(target, "__module__", "") == "_operator":
            name, values = target.__name__, [self.value(a) for a in node.args]
            if name in magic_methods:
                self.body.append(f"{node!r}{typed} = {magic_methods[name].format(*values)}")
                return
            if name in inplace_methods:
                self.body.append(f"{inplace_methods[name].format(*values)};  {node!r}{typed} = {values[0]}")
                return
        name = self.add_global(qualified_name(target), target)
        if name == "getattr" and len(node.args) == 2 and isinstance(node.args[1], str) and node.args[1].isidentifier():
            self.body.append(f"{node!r}{typed} = {format_target(self.value(node.args[0]), node.args[1])}")
            return
        self.body.append(f"{node!r}{typed} = {name}({self.call(node.args, node.kwargs)})")
        if node.meta.get("is_wrapped", False):
            self.wrapped.setdefault(name)

    def last_uses(self) -> dict[Node, list[Node]]:
        """The values that each node is the last to use."""
        last: dict[Node, Node] = {}
        ends: dict[Node, list[Node]] = {}
        for user in reversed(self.nodes):
            for n in user._input_nodes:
                if n not in last:
                    last[n] = user
                    ends.setdefault(user, []).append(n)
        return ends

    def write_end(self, node: Node, ends: dict[Node, list[Node]]) -> None:
        """Let go of what is not used below."""
        if node.op == "placeholder":
            return
        gone = [] if node.op == "output" else ends.get(node, [])
        if node.op != "output" and not node.users:
            gone.append(node)
        text = " = ".join([*map(repr, gone), "None"])
        self.body.append(f";  {self.colour('dim', text)}\n" if gone else "\n")

    # ---- the function
    def write(self) -> PythonCode:
        for name, (_, obj) in CUSTOM_BUILTINS.items():
            self.globals[self.namespace.create_name(name, obj)] = obj
        ends = self.last_uses()
        for i, node in enumerate(self.nodes):
            if self.verbose:
                self.write_summary(node)
            self.body.append(f"# COUNTER: {i}\n")
            self.write_node(node)
            self.write_end(node, ends)
        if not self.body:
            self.body.append("pass\n")
        wraps = ""
        if self.wrapped:
            wrap = self.add_global("wrap", torch.fx.wrap)
            wraps = "\n".join([f'{wrap}("{name}")' for name in self.wrapped])
        body = self.codegen._body_transformer(self.body) if self.codegen._body_transformer else self.body
        for name, value in self.codegen.additional_globals():
            self.add_global(name, value)
        first = with_parameters_it_has(
            self.codegen.gen_fn_def, self.free_vars, self.returns, expanded_def=self.expanded
        )
        code, lines = _without_counters(body, first.count("\n") + 1)
        return PythonCode(f"\n{wraps}\n\n{first}\n{code}", self.globals, lines, wraps.count("\n") + 4)


def _without_counters(body: list[str], start: int) -> tuple[str, dict[int, int | None]]:
    """The body, indented, and the index of the node of each line, which comments in the body say."""
    lines: list[str] = []
    of_line: dict[int, int | None] = {}
    index = None
    for line in "".join(body).split("\n"):
        counter = _COUNTER.search(line)
        if counter is not None:
            index = int(counter.group(1))
        else:
            of_line[len(lines) + start] = index
            lines.append(line)
    text = "\n".join(lines).lstrip("\n")
    return "\n".join(["    " + line for line in text.split("\n")]), of_line


class _PyTreeCodeGen(CodeGen):
    """Code whose parameters are nested containers: they are flattened first, and the result is put together last."""

    def __init__(self, pytree_info: _PyTreeInfo) -> None:
        super().__init__()
        self.pytree_info = pytree_info

    def process_inputs(self, *inputs: Any) -> Any:
        """The leaves of the arguments."""
        return pytree.tree_leaves(inputs)

    def process_outputs(self, out: Any) -> Any:
        """The result in its structure."""
        if self.pytree_info is None or self.pytree_info.out_spec is None:
            return out
        return pytree.tree_unflatten(out if isinstance(out, (list, tuple)) else [out], self.pytree_info.out_spec)

    def gen_var_bindings(self, fn_args: list[str], free_vars: list[str], expanded_def: bool) -> str:
        """The lines that take the arguments apart."""
        spec = self.pytree_info.in_spec
        call = f"[{', '.join(fn_args)}], self._in_spec"
        children = spec.children()
        if spec.type is tuple and len(children) == 2 and children[0].type is tuple and children[1].type is dict:
            count, names = children[0].num_children, self.pytree_info.orig_args
            pairs = zip(children[1].context, names[count:], strict=False)
            keywords = "{" + ", ".join([f"'{k}':{v}" for k, v in pairs]) + "}"
            call = f"([{', '.join(names[:count])}], {keywords}), self._in_spec"
        typed = [x for x in free_vars if ":" in x]
        lines = ""
        if typed:  # an annotation is a statement of its own beside an assignment to several names
            lines = "\n    " + ("\n    ".join(typed) if expanded_def else "".join([x + "; " for x in typed]) + "\n")
        names_only = ", ".join([x.split(":")[0].split("#")[0] for x in free_vars])
        return f"{lines}\n    {names_only}, = fx_pytree.tree_flatten_spec({call})"

    def gen_fn_def(self, free_vars: list[str], maybe_return_annotation: str, *, expanded_def: bool = False) -> str:
        """The first line, with the parameters that the traced function had."""
        if self.pytree_info is None:
            return super().gen_fn_def(free_vars, maybe_return_annotation, expanded_def=expanded_def)
        fn_args = self.pytree_info.orig_args
        if fn_args and fn_args[0] == "self":
            free_vars.insert(0, "self")
        first = super().gen_fn_def(fn_args[:], maybe_return_annotation, expanded_def=expanded_def)
        return first + self.gen_var_bindings(fn_args, free_vars, expanded_def) if free_vars else first

    def generate_output(self, output_args: Any, *, descs: Any = None, repr_fn: Callable[[Any], str] = repr) -> str:
        """The return statement, which puts the result together."""
        if not (self.pytree_info and self.pytree_info.out_spec):
            return super().generate_output(output_args, descs=descs, repr_fn=repr_fn)
        if descs is not None and isinstance(output_args, (list, tuple)):
            start = self._described(output_args, descs, "return pytree.tree_unflatten(", repr_fn)
            return start + ", self._out_spec)"
        return f"return pytree.tree_unflatten({repr_fn(output_args)}, self._out_spec)"


class _BoxedCodeGen(CodeGen):
    """Code that takes its arguments in one list, and empties it, so that they can be freed early."""

    def gen_fn_def(self, free_vars: list[str], maybe_return_annotation: str, *, expanded_def: bool = False) -> str:
        """The first lines: the list's items under their names."""
        lines = [f"def {self._func_name}(self, args_list){maybe_return_annotation}:"]
        names = [v.split(":")[0].split("=")[0].strip() for v in free_vars if v != "self"]
        if names:
            fetched = [f"{name} = next(args_iter)" for name in names]
            lines += ["args_iter = iter(args_list)", *fetched, "args_list.clear()"]
        return "\n    ".join(lines)
