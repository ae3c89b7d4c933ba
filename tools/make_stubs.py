"""Writes the type stubs of what is put together at run time, so that mypy, pyright and editors know it.

    python tools/make_stubs.py            write them
    python tools/make_stubs.py --check    exit with 1 if what is committed is not what would be written

Operators, methods and the functions of some modules come from declarations, which no type checker runs. The stubs are
made from the imported package by `inspect`: `__init__.pyi` (every name of `wengert.__all__`), `_tape/tensor.pyi` (class
`Tensor`, and its module's own functions as they stand in the source), one for every module that fills itself with
`globals().update(namespace(...))`, `return_types.pyi`, and one for every module that only gathers names, in a way that
a checker cannot follow (`gathers`). Nothing is listed here by name but what no annotation can say: `SPECIAL`, and the
signatures with several results in `tools/signatures.pyi`.

A type is what the annotation says where there is one. Without one: a generated operator takes and gives tensors, a
function with a named tuple of its own (`torch.return_types`) gives that, a parameter has the type that its name has
everywhere in PyTorch (`PARAMETERS`) or that of its default, and what is left is `Any`. `int`, `float`, `bool`, ... are
names of wengert's own and methods of Tensor, so Python's are `_int`, `_float`, ... in the stubs.
"""

from __future__ import annotations

import argparse
import ast
import builtins
import copy
import difflib
import importlib
import inspect
import math
import sys
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

SOURCE = Path(__file__).resolve().parent.parent / "src"
sys.path.insert(0, str(SOURCE))

import wengert  # noqa: E402
from wengert._base.registry import REGISTRY  # noqa: E402
from wengert._tensor_api.publish import namespace  # noqa: E402

PACKAGE = SOURCE / "wengert"
FILLED = "globals().update(namespace("  # what a module of generated names has in its source
HEADER = "# Made by tools/make_stubs.py; do not edit.\n"
BUILTINS = (bool, bytes, complex, dict, float, int, list, object, set, slice, str, tuple, type)
TYPES = {  # annotation -> its name in a stub, imported by PRELUDE
    **{python.__name__: f"_{python.__name__}" for python in BUILTINS},
    **dict.fromkeys(("Dtype", "DType", "dtype"), "_dtype"),
    **{name: f"_{name}" for name in ("device", "layout", "memory_format", "Size", "Generator")},
    **{name: name for name in ("Any", "Tensor", "Callable", "Iterable", "Iterator", "Mapping", "Sequence", "Number")},
    **{name: name for name in ("EllipsisType", "Literal", "SupportsIndex", "TypeIs")},
    **{name: f"_{name}" for name in ("TypedStorage", "UntypedStorage", "Node", "RemovableHandle")},
    "Index": "_Index",
    "_P": "_P",
    "_R": "_R",
    "Self": "Self",
}
PRELUDE = f"""\
from builtins import {", ".join(f"{python.__name__} as _{python.__name__}" for python in BUILTINS)}
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import EllipsisType
from typing import Any, ClassVar, Final, Literal, ParamSpec, Self, SupportsIndex, TypeAlias, TypeVar, overload

import numpy as np
from typing_extensions import TypeIs

from {{dots}} import return_types as _return_types
from {{dots}}_base.constants import Size as _Size
from {{dots}}_base.constants import device as _device
from {{dots}}_base.constants import layout as _layout
from {{dots}}_base.constants import memory_format as _memory_format
from {{dots}}_base.dtypes import dtype as _dtype
from {{dots}}_tape.node import Node as _Node
from {{dots}}_tape.node import RemovableHandle as _RemovableHandle
from {{dots}}_tensor_api.storage import TypedStorage as _TypedStorage
from {{dots}}_tensor_api.storage import UntypedStorage as _UntypedStorage
from {{dots}}random import Generator as _Generator
"""
ALIASES = """\
Number: TypeAlias = _bool | _int | _float | _complex
_Index: TypeAlias = SupportsIndex | _slice | EllipsisType | Tensor | np.ndarray | Sequence[Any] | None
_P = ParamSpec("_P")
_R = TypeVar("_R")
"""

# What Python itself asks of a method, and properties whose type is PyTorch's and not in an annotation.
SPECIAL = {
    "__bool__": "_bool", "__int__": "_int", "__index__": "_int", "__len__": "_int", "__float__": "_float",
    "__complex__": "_complex", "__repr__": "_str", "__str__": "_str", "__hash__": "_int", "__contains__": "_bool",
    "__iter__": "Iterator[Tensor]", "__reversed__": "Tensor", "__array__": "np.ndarray", "shape": "_Size",
    "dtype": "_dtype", "device": "_device", "layout": "_layout", "grad": "Tensor | None", "grad_fn": "_Node | None",
    "is_leaf": "_bool", "requires_grad": "_bool", "_base": "Tensor | None",
}  # fmt: skip

SPECIAL_FIELDS = {"histogramdd.bin_edges": "tuple[Tensor, ...]"}  # of the named tuples

# What a parameter of this name is, wherever neither an annotation nor a default says so.
_INTS, _NUMBER = "_int | Sequence[_int]", "Number"
PARAMETERS = {
    "device": "_device | _str | _int | None", "layout": "_layout | None", "memory_format": "_memory_format | None",
    "dtype": "_dtype | None", "out": "Tensor | None", "hook": "Callable[..., Any]", "tensors": "Sequence[Tensor]",
    "alpha": _NUMBER, "beta": _NUMBER, "fill_value": _NUMBER,
    **dict.fromkeys(("min", "max", "exponent", "other", "value"), "Tensor | Number"),
    **dict.fromkeys(("kernel_size", "dilation", "output_padding", "dims", "shifts"), _INTS),
    **dict.fromkeys(("normalized_shape", "split_sizes", "stride", "size", "dim", "shape"), _INTS),
    **dict.fromkeys(("source", "destination", "indices_or_sections"), f"Tensor | {_INTS}"),
    **dict.fromkeys(("padding",), f"_str | {_INTS}"),
    "*size": _INTS, "*sizes": _INTS, "*dims": _INTS, "*repeats": _INTS, "*tensors": "Tensor | Sequence[Tensor]",
}  # fmt: skip
# Functions of two operands that take a number for the first one too.
NUMBER_FIRST = frozenset(
    "add sub subtract mul multiply div divide true_divide floor_divide remainder pow float_power xlogy "  # noqa: SIM905
    "xlog1py zeta bitwise_and bitwise_or bitwise_xor bitwise_left_shift bitwise_right_shift".split()
)
COMPARISONS = frozenset(("__eq__", "__ne__"))
ARITHMETIC = "add sub mul truediv div floordiv mod pow matmul and or xor lshift rshift".split()  # noqa: SIM905
UNARY = frozenset(("__abs__", "__invert__", "__neg__", "__pos__"))
OPERATORS = frozenset(
    [
        "__eq__",
        "__ne__",
        "__lt__",
        "__le__",
        "__gt__",
        "__ge__",
        *(f"__{r}{n}__" for n in ARITHMETIC for r in ("", "r", "i")),
    ]
)


class Names(ast.NodeTransformer):
    """An annotation in the stub's names; what the stub cannot name is `Any`."""

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return ast.Name(TYPES.get(node.id, "Any"))

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        if isinstance(node.value, ast.Name) and node.value.id == "np" and node.attr == "ndarray":
            return node
        if isinstance(node.value, ast.Name) and node.value.id == "return_types":
            return ast.Attribute(ast.Name("_return_types"), node.attr)
        return ast.Name(TYPES.get(node.attr, "Any"))

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        if isinstance(node.value, str):
            return self.visit(ast.parse(node.value, mode="eval").body)
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        base = self.visit(node.value)
        if ast.unparse(base) in ("Any", "Literal"):
            return base if ast.unparse(base) == "Any" else ast.Subscript(base, node.slice)
        return ast.Subscript(base, self.visit(node.slice))


def annotation(value: Any, scope: dict[str, Any]) -> str:
    """The text of an annotation in a stub."""
    if value is inspect.Parameter.empty:
        return "Any"
    text = value if isinstance(value, str) else _plain_text(value)
    alias = scope.get(text)  # such as `Dims`, which stands for a union
    if text not in TYPES and isinstance(alias, (types.UnionType, types.GenericAlias)):
        text = str(alias).replace("collections.abc.", "").replace("typing.", "")
    return ast.unparse(Names().visit(ast.parse(text, mode="eval").body))


def _plain_text(value: Any) -> str:
    return "None" if value is None else value.__name__ if isinstance(value, type) else str(value).replace("typing.", "")


def default(value: Any) -> str:
    """The text of a default value: short and plain ones as they are."""
    if value is None or type(value) in (bool, int, str) or (type(value) is float and math.isfinite(value)):
        return repr(value)
    if type(value) is tuple and all(type(v) in (bool, int) for v in value):
        return repr(value)
    return "..."


def scope_of(fn: Any) -> dict[str, Any]:
    """The names of the module where a function's annotations were written; a wrapper's own globals are another's."""
    return vars(sys.modules.get(inspect.unwrap(fn).__module__, types))


def is_generated(fn: Any) -> bool:
    """Whether a kind has made this function: it carries no annotations of its own."""
    fn = inspect.unwrap(fn)
    return isinstance(fn, types.FunctionType) and fn.__module__ == "wengert" and not fn.__annotations__


BY_FUNCTION = {id(info.op): info for info in REGISTRY.values()}


# Functions and methods whose signatures are written by hand, by space: "torch" -> {"max": [overloads]}.
SIGNATURES: dict[str, dict[str, list[ast.FunctionDef]]] = {}
for _space in ast.parse((Path(__file__).parent / "signatures.pyi").read_text(encoding="utf-8")).body:
    if isinstance(_space, ast.ClassDef):
        _found = SIGNATURES.setdefault(_space.name.strip("_").replace("_", "."), {})
        for _node in _space.body:
            assert isinstance(_node, ast.FunctionDef)
            _found.setdefault(_node.name, []).append(_node)


def parameter_type(fn: Any, p: inspect.Parameter, place: int) -> str:
    """A parameter's type in a stub."""
    mark = "*" if p.kind is p.VAR_POSITIONAL else ""
    if place == 0 and fn.__name__ in NUMBER_FIRST:
        return "Tensor | Number"
    if p.annotation not in (p.empty, "Any") or p.kind is p.VAR_KEYWORD:
        return annotation(p.annotation, scope_of(fn))
    if p.name == "out" and "_return_types" in result_by_name(fn, fn.__name__):
        return "Tensor | Sequence[Tensor] | None"
    if mark + p.name in PARAMETERS:
        kind = PARAMETERS[mark + p.name]
        return f"{kind} | None" if p.default is None and "None" not in kind else kind
    if p.annotation is not p.empty or mark:
        return "Any"
    if place == 0 and p.name in ("input", "self"):
        return "Tensor"
    if is_generated(fn) and p.default in (p.empty, None):
        info = BY_FUNCTION.get(id(fn))
        operands = abs(info.arity) if info else 2
        if place >= operands:
            return "Any"
        kind = "Tensor" if place == 0 or (info and info.kind in ("linear", "bilinear")) else "Tensor | Number"
        return kind if p.default is p.empty else f"{kind} | None"
    return {bool: "_bool", int: "_int", float: "_float", str: "_str"}.get(type(p.default), "Any")


def return_type(fn: Any, name: str) -> str:
    """A function's result in a stub."""
    if name in SPECIAL:
        return SPECIAL[name]
    given = inspect.signature(fn).return_annotation
    if given is not inspect.Signature.empty and not (given == "Any" and is_inplace(name)):
        kind = annotation(given, scope_of(fn))
        return result_by_name(fn, name) if kind == "Any" else kind
    if not is_generated(fn):
        return "Tensor" if is_inplace(name) else result_by_name(fn, name)
    info = BY_FUNCTION.get(id(fn))
    return "Tensor" if info is None or info.outputs == 1 else "tuple[Tensor, ...]".replace("tuple", "_tuple")


def result_by_name(fn: Any, name: str) -> str:
    """The named tuple of a function that is called as its class in `torch.return_types`; what the method says."""
    name = f"linalg_{name}" if fn.__module__ == "wengert.linalg" else name
    if hasattr(wengert.return_types, name):
        return f"_return_types.{name}"
    method = vars(wengert.Tensor).get(name)
    if isinstance(method, types.FunctionType) and method is not fn:
        return annotation(inspect.signature(method).return_annotation, scope_of(method))
    return "Any"


def parameters(fn: Any, method: bool, out: bool = True) -> str:
    """The parameters of a function, or of a method, whose first is `self`."""
    signature = [p for p in inspect.signature(fn).parameters.values() if out or p.name != "out"]
    if out and "out" in (fn.__kwdefaults__ or {}) and "out" not in inspect.signature(fn).parameters:
        named = inspect.Parameter("out", inspect.Parameter.KEYWORD_ONLY, default=None)  # see `with_out`
        signature.insert(len(signature) - (bool(signature) and signature[-1].kind is named.VAR_KEYWORD), named)
    parts: list[str] = []
    if method:
        if signature and signature[0].kind in (signature[0].POSITIONAL_ONLY, signature[0].POSITIONAL_OR_KEYWORD):
            signature = signature[1:]
        parts.append("self")
    starred = False
    old = any(p.name == "old" for p in signature)  # the numbers of PyTorch 0.4 come between the tensors
    for place, p in enumerate(signature, start=int(method)):
        if p.kind is p.KEYWORD_ONLY and not starred:
            parts.append("*")
            starred = True
        mark = {p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}.get(p.kind, "")
        starred = starred or mark == "*"
        kind = "Tensor | Number" if old and p.kind is p.POSITIONAL_OR_KEYWORD else parameter_type(fn, p, place)
        text = f"{mark}{p.name}: {kind}"
        parts.append(text if p.default is p.empty else f"{text} = {default(p.default)}")
        following = signature[place + 1 - int(method) :]
        if p.kind is p.POSITIONAL_ONLY and not (following and following[0].kind is p.POSITIONAL_ONLY):
            parts.append("/")
    return ", ".join(parts)


def is_inplace(name: str) -> bool:
    """Whether a name is that of an in-place form, such as `add_`."""
    return name.endswith("_") and not name.endswith("__")


def declared(name: str, fn: Any) -> Any:
    """The function whose parameters are to be shown: what a form of it, in place or of a method, hands all on to."""
    kinds = [p.kind for p in inspect.signature(fn).parameters.values()]
    hands_on = kinds[-2:] == [inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD]
    base = vars(wengert.Tensor).get(name[:-1]) if is_inplace(name) and hands_on else None
    if [p.name for p in inspect.signature(fn).parameters.values()] == ["input", "args"]:  # a method, as a function
        base = vars(wengert.Tensor)[name]
    return base if isinstance(base, types.FunctionType) else fn


def is_dunder(name: str) -> bool:
    """Whether a name is one of Python's own, such as `__add__`."""
    return name.startswith("__") and name.endswith("__")


def first_line(obj: Any, indent: str) -> str:
    """The first line of the docstring as a docstring, or `...`."""
    doc = (inspect.getdoc(obj) or "").strip().partition("\n\n")[0].replace("\n", " ").strip()
    if not doc:
        return " ..."
    doc = doc.replace("\\", "\\\\").replace('"""', "'''")
    if doc.endswith('"'):
        doc += " "
    return f'\n{indent}"""{doc}"""'


def written_by_hand(name: str, fn: Any, indent: str, space: str) -> str:
    """A signature from `tools/signatures.pyi`, for which there may be several; empty if it is not there."""
    found = SIGNATURES.get(space, {}).get(name, [])
    if not found and space == "torch":
        found = SIGNATURES["nn.functional"].get(name, [])
    if not found and space == "Tensor":
        found = [as_method(node) for node in SIGNATURES["torch"].get(name, []) if node.args.args]
    text = ""
    for node in map(copy.deepcopy, found):
        Names().visit(node)
        head = f"{indent}@overload\n" if len(found) > 1 else ""
        text += f"{head}{indent}def {name}({ast.unparse(node.args)}) -> {ast.unparse(node.returns or ast.Name('Any'))}:"
        text += f"{first_line(fn, indent + '    ')}\n"
    return text


def as_method(node: ast.FunctionDef) -> ast.FunctionDef:
    """A function's signature as that of the method: its first parameter is `self`, and there is no `out`."""
    node = copy.deepcopy(node)
    given = node.args
    given.args[0] = ast.arg("self")
    kept = [(a, d) for a, d in zip(given.kwonlyargs, given.kw_defaults, strict=True) if a.arg != "out"]
    given.kwonlyargs, given.kw_defaults = [a for a, _ in kept], [d for _, d in kept]
    return node


def function(name: str, fn: Any, space: str, indent: str = "", method: bool = False) -> str:
    """`def NAME(...) -> ...` with the first line of its docstring."""
    written = written_by_hand(name, fn, indent, space)
    if written:
        return written
    ignore = "  # type: ignore[override]" if name in COMPARISONS else ""
    taken, given = parameters(declared(name, fn), method, out=not method), return_type(fn, name)
    if method and name in OPERATORS:  # Python gives them one operand, of any type
        taken, given = f"self, other: {'Any' if name in COMPARISONS else 'Tensor | Number'}, /", "Tensor"
    elif method and name in UNARY:
        taken = "self"
    head = f"{indent}def {name}({taken}) -> {given}:"
    return f"{head}{ignore}{first_line(fn, indent + '    ')}\n"


# --------------------------------------------------------------------------------------------------------------- Tensor
def tensor_class() -> str:
    """The class as it is after everything was attached to it."""
    out = [f"class Tensor(metaclass=TensorMeta):{first_line(wengert.Tensor, '    ')}\n"]
    out += [f"    {name}: Any\n" for name in ("_a", "_fn", "_m", "_v")]
    members = {n: v for n, v in vars(wengert.Tensor).items() if is_member(n, v)}
    if "__init__" not in members:  # the metaclass hands the call to the legacy constructor
        out.append("    def __init__(self, *args: Any, **kwargs: Any) -> None: ...\n")
    for name in sorted(members):
        out.append(member(name, members[name]))
    return "".join(out)


def is_member(name: str, value: Any) -> bool:
    """Whether a name of the class's dictionary is something that users or the library call."""
    if isinstance(value, (types.FunctionType, property, staticmethod, classmethod)):
        return name.isidentifier()
    return not is_dunder(name) and not inspect.isdatadescriptor(value)


def member(name: str, value: Any) -> str:
    """One method, property or constant."""
    indent = "    "
    if isinstance(value, property):
        kind = property_type(name, value)
        text = f"{indent}@property\n{indent}def {name}(self) -> {kind}:{first_line(value, indent * 2)}\n"
        if value.fset is not None:
            text += f"{indent}@{name}.setter\n{indent}def {name}(self, value: {kind}) -> None: ...\n"
        if value.fdel is not None:
            text += f"{indent}@{name}.deleter\n{indent}def {name}(self) -> None: ...\n"
        return text
    if isinstance(value, staticmethod):
        return f"{indent}@staticmethod\n{function(name, value.__func__, 'Tensor', indent)}"
    if isinstance(value, classmethod):
        text = function(name, value.__func__, "Tensor", indent, method=True).replace("(self", "(cls", 1)
        return f"{indent}@classmethod\n{text}"
    if isinstance(value, types.FunctionType):
        return function(name, value, "Tensor", indent, method=True)
    return f"{indent}{name}: ClassVar[{TYPES.get(type(value).__name__, 'Any')}]\n"


def property_type(name: str, value: property) -> str:
    """A property's type: from its function; what is named like a fact, `is_...`, is a bool."""
    if name in SPECIAL:
        return SPECIAL[name]
    kind = return_type(value.fget, name)
    return "_bool" if kind == "Any" and name.startswith("is_") else kind


def own_definitions(path: Path) -> Iterator[str]:
    """What a module defines beside Tensor, from its source: the library's own modules import it."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef):
            yield from _from_source(node)
        elif isinstance(node, ast.ClassDef) and node.name != "Tensor":
            bases = f"({', '.join(map(ast.unparse, node.bases))})" if node.bases else ""
            yield f"class {node.name}{bases}:\n    def __getattr__(self, name: _str) -> Any: ...\n"
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                if isinstance(target, ast.Name) and target.id != "__all__":
                    yield f"{target.id}: Any\n"


def _from_source(node: ast.FunctionDef) -> Iterator[str]:
    for argument in ast.walk(node.args):
        if isinstance(argument, ast.arg) and argument.annotation is not None:
            argument.annotation = Names().visit(argument.annotation)
    returns = "Any" if node.returns is None else ast.unparse(Names().visit(node.returns))
    yield f"def {node.name}({ast.unparse(node.args)}) -> {returns}: ...\n"


def tensor_stub() -> str:
    """`_tape/tensor.pyi`."""
    path = PACKAGE / "_tape/tensor.py"
    listed = importlib.import_module("wengert._tape.tensor").__all__
    defined = "\n".join(own_definitions(path))
    own = {line.split("(")[0].split(":")[0].split()[-1] for line in defined.splitlines() if line and line[0] != " "}
    foreign = [name for name in listed if name not in own and name != "Tensor"]
    rest = "".join(f"{name}: Any\n" for name in foreign)
    return f"{HEADER}{PRELUDE.format(dots='..')}\n{ALIASES}{rest}\n{defined}\n{tensor_class()}"


# -------------------------------------------------------------------------------------------------------------- modules
def importable(value: Any) -> bool:
    """Whether a class or function can be imported by its own name, from a module whose source defines it."""
    if not value.__module__.startswith("wengert."):
        return False
    module = importlib.import_module(value.__module__)
    if getattr(module, value.__name__, None) is not value:
        return False
    try:
        tree = ast.parse(inspect.getsource(module))
    except (OSError, TypeError):
        return False
    return any(isinstance(node, (ast.ClassDef, ast.FunctionDef)) and node.name == value.__name__ for node in tree.body)


def file_of(module: str) -> str:
    """The dotted path of a module's file below the package: what type checkers find it by."""
    parts = Path(importlib.import_module(module).__file__ or "").relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported(name: str, value: Any, home: types.ModuleType) -> str:
    """The import of a class or function from where it is written."""
    up = "." * (1 + home.__name__.count(".") - (not hasattr(home, "__path__")) if "." in home.__name__ else 1)
    return f"from {up}{file_of(value.__module__)} import {value.__name__} as {name}\n"


def entry(name: str, value: Any, home: types.ModuleType) -> str:
    """One public name of a module."""
    if isinstance(value, type):
        return class_entry(name, value, home)
    if isinstance(value, types.FunctionType):
        elsewhere = home is not wengert or not (name in namespace("torch") or value.__module__.startswith("wengert._"))
        if elsewhere and name not in SIGNATURES["torch"] and importable(value):
            return imported(name, value, home)
        return function(name, value, home.__name__.partition(".")[2] or "torch")
    if isinstance(value, Callable):  # type: ignore[arg-type]
        return f"{name}: Callable[..., Any]\n"
    kind = type(value)
    known = {"dtype": "_dtype", "layout": "_layout", "memory_format": "_memory_format"}.get(kind.__name__)
    if value is None:
        known = "None"
    elif kind.__name__.endswith("Generator"):
        known = "_Generator"
    elif known is None and kind.__module__ == "builtins":
        known = TYPES.get(kind.__name__)
    return f"{name}: {known or 'Any'}\n"


def class_entry(name: str, cls: type, home: types.ModuleType) -> str:
    """A class: imported from where it is written, or, if it is made at run time, declared."""
    if cls is wengert.Tensor:
        return ""
    if cls not in wengert.Tensor.__mro__ and issubclass(wengert.Tensor, cls):  # Variable: Tensor by another name
        return imported(name, wengert.Tensor, home)
    if importable(cls):
        return imported(name, cls, home)
    if issubclass(cls, BaseException):
        return f"class {name}({base_of(cls)}): ...\n"
    return f"class {name}(Tensor): ...\n" if name.endswith("Tensor") else f"{name}: _type[Any]\n"


def base_of(cls: type) -> str:
    """The nearest base that Python has itself."""
    return next(base.__name__ for base in cls.__mro__[1:] if getattr(builtins, base.__name__, None) is base)


def module_entry(package: types.ModuleType, name: str) -> str:
    """A module of the package, from the folder in which it lies."""
    home = file_of(f"{package.__name__}.{name}").rpartition(".")[0]
    up = "." * len(Path(package.__file__ or "").relative_to(PACKAGE).parts)
    return f"from {up}{home} import {name} as {name}\n"


def module_stub(module: types.ModuleType, names: list[str]) -> str:
    """The stub of a module that has these public names."""
    path = Path(module.__file__ or "")
    depth = len(path.relative_to(PACKAGE).parts)
    dots = "." * depth
    out = [HEADER]
    if module is wengert:
        out.append("from .torch_version import __version__ as __version__\n")
    entries = [
        module_entry(module, name)
        if is_module(module, name) and isinstance(vars(module).get(name, module), types.ModuleType)
        else entry(name, getattr(module, name), module)
        for name in names
    ]
    imports = [text for text in entries if text.startswith("from ")]
    rest = [text for text in entries if not text.startswith("from ")]
    listed = "".join(f'    "{name}",\n' for name in names)
    if rest:
        imports.append(f"from {dots}_tape.tensor import Tensor as Tensor\n")
        out.append(PRELUDE.format(dots=dots))
    out += [*sorted(imports), "\n", *([ALIASES, *rest, "\n"] if rest else []), f"__all__ = [\n{listed}]\n"]
    return "".join(out)


def return_types_stub() -> str:
    """`return_types.pyi`: the named tuples, all of tensors but for one field."""
    out = [HEADER, "from typing import Final, Self\n\nfrom ._tape.tensor import Tensor\n"]
    for cls in wengert.return_types.all_return_types:
        kinds = {field: SPECIAL_FIELDS.get(f"{cls.__name__}.{field}", "Tensor") for field in cls._fields}
        base = f"tuple[{', '.join(kinds.values())}]"
        out.append(f"\nclass {cls.__name__}({base}):\n    def __new__(cls, sequence: {base}) -> Self: ...\n")
        out += [f"    @property\n    def {field}(self) -> {kind}: ...\n" for field, kind in kinds.items()]
        out += [f"    {name}: Final = {getattr(cls, name)}\n" for name in ("n_fields", "n_sequence_fields")]
        out.append("    n_unnamed_fields: Final = 0\n")
    names = ["all_return_types", *(cls.__name__ for cls in wengert.return_types.all_return_types)]
    listed = "".join(f'    "{name}",\n' for name in names)
    out.append(f"\nall_return_types: list[type]\n\n__all__ = [\n{listed}]\n")
    return "".join(out)


def gathers(tree: ast.Module) -> bool:
    """Whether a module only gathers names from others, and does it in a way that a checker cannot follow."""
    defined = {node.name for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    if defined - {"__getattr__", "__dir__"}:
        return False
    lists = [
        node.value for node in tree.body if isinstance(node, ast.Assign) and ast.unparse(node.targets) == "__all__"
    ]
    literal = all(isinstance(part, ast.Constant) for value in lists for part in getattr(value, "elts", [value]))
    return bool(lists) and ("__getattr__" in defined or not literal)


def gathered(module: types.ModuleType, tree: ast.Module) -> list[str]:
    """What such a module is imported for: its list of names, what it imports by name, the modules in its folder."""
    imported = [
        name.asname or name.name
        for node in tree.body
        if isinstance(node, ast.ImportFrom) and node.level
        for name in node.names
        if name.name != "*"
    ]
    folder = Path(module.__file__ or "").parent
    inside = [path.stem if path.suffix else path.name for path in folder.iterdir() if is_module(module, path.stem)]
    return sorted({name for name in (*module.__all__, *imported, *inside) if not name.startswith("_")})


def is_module(package: types.ModuleType, name: str) -> bool:
    """Whether a public name is a module of the package: seen from the files, so that none must be imported."""
    folders = map(Path, getattr(package, "__path__", ()))
    return any((folder / f"{name}.py").exists() or (folder / name / "__init__.py").exists() for folder in folders)


def stubs() -> dict[Path, str]:
    """Every stub by its path."""
    found = {
        PACKAGE / "__init__.pyi": module_stub(wengert, sorted(wengert.__all__)),
        PACKAGE / "_tape/tensor.pyi": tensor_stub(),
    }
    for path in sorted(PACKAGE.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        parts = path.relative_to(SOURCE).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        if FILLED in text:
            module = importlib.import_module(name)
            found[path.with_suffix(".pyi")] = module_stub(module, sorted(module.__all__))
        elif len(parts) > 2 and parts[-1] == "__init__" and parts[1][0] != "_" and gathers(ast.parse(text)):
            module = importlib.import_module(name)
            found[path.with_suffix(".pyi")] = module_stub(module, gathered(module, ast.parse(text)))
    found[PACKAGE / "return_types.pyi"] = return_types_stub()
    found[PACKAGE / "autograd/variable.pyi"] = module_stub(wengert.autograd.variable, ["Variable"])
    return found


# --------------------------------------------------------------------------------------------------------- command line
def stale(wanted: dict[Path, str]) -> Iterator[str]:
    """The differences between the committed stubs and those that would be written."""
    for path, text in wanted.items():
        name = str(path.relative_to(SOURCE.parent))
        old = path.read_text(encoding="utf-8") if path.exists() else ""
        yield from difflib.unified_diff(old.splitlines(), text.splitlines(), name, "as it should be", lineterm="", n=0)
    for path in sorted(PACKAGE.rglob("*.pyi")):
        if path not in wanted and path.read_text(encoding="utf-8").startswith(HEADER):
            yield f"{path.relative_to(SOURCE.parent)}: nothing is generated there any more"


def main() -> int:
    """Write the stubs, or compare them."""
    parser = argparse.ArgumentParser(description="Writes the type stubs of what is put together at run time.")
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 if a stub is not up to date")
    options = parser.parse_args()
    wanted = stubs()
    if options.check:
        differences = list(stale(wanted))
        if differences:
            shown = "\n".join(differences[:40])
            print(f"{shown}\n\nthe stubs are not up to date: run python tools/make_stubs.py", file=sys.stderr)
        return int(bool(differences))
    for path in sorted(PACKAGE.rglob("*.pyi")):
        if path not in wanted and path.read_text(encoding="utf-8").startswith(HEADER):
            path.unlink()
    for path, text in wanted.items():
        path.write_text(text, encoding="utf-8")
        print(path.relative_to(SOURCE.parent))
    return 0


if __name__ == "__main__":
    sys.exit(main())
