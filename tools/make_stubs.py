"""Writes the type stubs of what is put together at run time, so that mypy, pyright and editors know it.

    python tools/make_stubs.py            write them
    python tools/make_stubs.py --check    exit with 1 if what is committed is not what would be written

Operators, methods and the functions of some modules come from declarations, which no type checker runs. The stubs are
made from the imported package by `inspect`: `__init__.pyi` (every name of `wengert.__all__`), `_tape/tensor.pyi` (class
`Tensor`, and its module's own functions as they stand in the source), and one for every module that fills itself with
`globals().update(namespace(...))`. Nothing is listed here by name but what no annotation can say (`SPECIAL`).

A type is what the annotation says where there is one. Without one: a generated operator takes and gives tensors, a
parameter has the type of its default, and what is left is `Any`. `int`, `float`, `bool`, ... are names of wengert's own
and methods of Tensor, so Python's are `_int`, `_float`, ... in the stubs.
"""

from __future__ import annotations

import argparse
import ast
import builtins
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

PACKAGE = SOURCE / "wengert"
FILLED = "globals().update(namespace("  # what a module of generated names has in its source
HEADER = "# Made by tools/make_stubs.py; do not edit.\n"
BUILTINS = (bool, bytes, complex, dict, float, int, list, object, set, slice, str, tuple, type)
TYPES = {  # annotation -> its name in a stub, imported by PRELUDE
    **{python.__name__: f"_{python.__name__}" for python in BUILTINS},
    **dict.fromkeys(("Dtype", "DType", "dtype"), "_dtype"),
    **{name: f"_{name}" for name in ("device", "layout", "memory_format", "Size", "Generator")},
    **{name: name for name in ("Any", "Tensor", "Callable", "Iterable", "Iterator", "Mapping", "Sequence", "Number")},
    **{name: f"_{name}" for name in ("TypedStorage", "UntypedStorage", "Node")},
    "Self": "Self",
}
PRELUDE = f"""\
from builtins import {", ".join(f"{python.__name__} as _{python.__name__}" for python in BUILTINS)}
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np

from {{dots}}_base.constants import Size as _Size
from {{dots}}_base.constants import device as _device
from {{dots}}_base.constants import layout as _layout
from {{dots}}_base.constants import memory_format as _memory_format
from {{dots}}_base.dtypes import dtype as _dtype
from {{dots}}_tape.node import Node as _Node
from {{dots}}_tensor_api.storage import TypedStorage as _TypedStorage
from {{dots}}_tensor_api.storage import UntypedStorage as _UntypedStorage
from {{dots}}random import Generator as _Generator
"""
NUMBER = "Number: TypeAlias = _bool | _int | _float | _complex\n"

# What Python itself asks of a method, and properties whose type is PyTorch's and not in an annotation.
SPECIAL = {
    "__bool__": "_bool", "__int__": "_int", "__index__": "_int", "__len__": "_int", "__float__": "_float",
    "__complex__": "_complex", "__repr__": "_str", "__str__": "_str", "__hash__": "_int", "__contains__": "_bool",
    "__iter__": "Iterator[Tensor]", "__reversed__": "Tensor", "__array__": "np.ndarray", "shape": "_Size",
    "dtype": "_dtype", "device": "_device", "layout": "_layout", "grad": "Tensor | None", "grad_fn": "_Node | None",
    "is_leaf": "_bool", "requires_grad": "_bool", "_base": "Tensor | None", "__setitem__": "None",
}  # fmt: skip
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
        return ast.Name(TYPES.get(node.attr, "Any"))

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        if isinstance(node.value, str):
            return self.visit(ast.parse(node.value, mode="eval").body)
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        base = self.visit(node.value)
        if ast.unparse(base) == "Any":
            return base
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


def parameter_type(fn: Any, p: inspect.Parameter, place: int) -> str:
    """A parameter's type in a stub."""
    if p.annotation is not p.empty:
        return annotation(p.annotation, scope_of(fn))
    if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD):
        return "Any"
    if p.name == "out":
        return "Tensor | None"
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
        return annotation(given, scope_of(fn))
    if not is_generated(fn):
        return "Tensor" if is_inplace(name) else "Any"
    info = BY_FUNCTION.get(id(fn))
    return "Tensor" if info is None or info.outputs == 1 else "tuple[Tensor, ...]".replace("tuple", "_tuple")


def parameters(fn: Any, method: bool, out: bool = True) -> str:
    """The parameters of a function, or of a method, whose first is `self`."""
    signature = [p for p in inspect.signature(fn).parameters.values() if out or p.name != "out"]
    parts: list[str] = []
    if method:
        if signature and signature[0].kind in (signature[0].POSITIONAL_ONLY, signature[0].POSITIONAL_OR_KEYWORD):
            signature = signature[1:]
        parts.append("self")
    starred = False
    for place, p in enumerate(signature, start=int(method)):
        if p.kind is p.KEYWORD_ONLY and not starred:
            parts.append("*")
            starred = True
        mark = {p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}.get(p.kind, "")
        starred = starred or mark == "*"
        text = f"{mark}{p.name}: {parameter_type(fn, p, place)}"
        parts.append(text if p.default is p.empty else f"{text} = {default(p.default)}")
        following = signature[place + 1 - int(method) :]
        if p.kind is p.POSITIONAL_ONLY and not (following and following[0].kind is p.POSITIONAL_ONLY):
            parts.append("/")
    return ", ".join(parts)


def is_inplace(name: str) -> bool:
    """Whether a name is that of an in-place form, such as `add_`."""
    return name.endswith("_") and not name.endswith("__")


def declared(name: str, fn: Any) -> Any:
    """The function whose parameters are to be shown: for an in-place form that hands all on, what it is a form of."""
    kinds = [p.kind for p in inspect.signature(fn).parameters.values()]
    hands_on = kinds[-2:] == [inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD]
    base = vars(wengert.Tensor).get(name[:-1]) if is_inplace(name) and hands_on else None
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


def function(name: str, fn: Any, indent: str = "", method: bool = False) -> str:
    """`def NAME(...) -> ...` with the first line of its docstring."""
    ignore = "  # type: ignore[override]" if name in COMPARISONS else ""
    taken, given = parameters(declared(name, fn), method, out=not is_inplace(name)), return_type(fn, name)
    if method and name in OPERATORS:  # Python gives them one operand, of any type
        taken, given = "self, other: Any, /", "Tensor"
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
        return f"{indent}@staticmethod\n{function(name, value.__func__, indent)}"
    if isinstance(value, classmethod):
        text = function(name, value.__func__, indent, method=True).replace("(self", "(cls", 1)
        return f"{indent}@classmethod\n{text}"
    if isinstance(value, types.FunctionType):
        return function(name, value, indent, method=True)
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
    return f"{HEADER}{PRELUDE.format(dots='..')}\n{NUMBER}{rest}\n{defined}\n{tensor_class()}"


# -------------------------------------------------------------------------------------------------------------- modules
def importable_class(cls: type) -> bool:
    """Whether a class can be imported by its own name, from a module whose source defines it."""
    if not cls.__module__.startswith("wengert."):
        return False
    module = importlib.import_module(cls.__module__)
    if getattr(module, cls.__name__, None) is not cls:
        return False
    try:
        tree = ast.parse(inspect.getsource(module))
    except (OSError, TypeError):
        return False
    return any(isinstance(node, ast.ClassDef) and node.name == cls.__name__ for node in tree.body)


def entry(name: str, value: Any, home: types.ModuleType) -> str:
    """One public name of a module."""
    if isinstance(value, type):
        return class_entry(name, value, home)
    if isinstance(value, types.FunctionType):
        return function(name, value)
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


def file_of(module: str) -> str:
    """The dotted path of a module's file below the package: what type checkers find it by."""
    parts = Path(importlib.import_module(module).__file__ or "").relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def class_entry(name: str, cls: type, home: types.ModuleType) -> str:
    """A class: imported from where it is written, or, if it is made at run time, declared."""
    if cls is wengert.Tensor:
        return ""
    if importable_class(cls):
        up = "." * (1 + home.__name__.count(".") - (not hasattr(home, "__path__")) if "." in home.__name__ else 1)
        return f"from {up}{file_of(cls.__module__)} import {cls.__name__} as {name}\n"
    if issubclass(cls, BaseException):
        return f"class {name}({base_of(cls)}): ...\n"
    return f"class {name}(Tensor): ...\n" if name.endswith("Tensor") else f"{name}: _type[Any]\n"


def base_of(cls: type) -> str:
    """The nearest base that Python has itself."""
    return next(base.__name__ for base in cls.__mro__[1:] if getattr(builtins, base.__name__, None) is base)


def module_entry(package: types.ModuleType, name: str) -> str:
    """A module of the package, from the folder in which it lies."""
    home = file_of(f"{package.__name__}.{name}").rpartition(".")[0]
    return f"from .{home} import {name} as {name}\n"


def module_stub(module: types.ModuleType, names: list[str]) -> str:
    """The stub of a module that has these public names."""
    path = Path(module.__file__ or "")
    depth = len(path.relative_to(PACKAGE).parts)
    dots = "." * depth
    out = [HEADER, PRELUDE.format(dots=dots), f"from {dots}_tape.tensor import Tensor as Tensor\n"]
    if module is wengert:
        out.append("from ._version import __version__ as __version__\n")
    entries = [
        module_entry(module, name) if is_module(module, name) else entry(name, getattr(module, name), module)
        for name in names
    ]
    imports = [text for text in entries if text.startswith("from ")]
    rest = [text for text in entries if not text.startswith("from ")]
    listed = "".join(f'    "{name}",\n' for name in names)
    out += [*sorted(imports), "\n", NUMBER, *rest, f"\n__all__ = [\n{listed}]\n"]
    return "".join(out)


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
        if FILLED in path.read_text(encoding="utf-8"):
            parts = path.relative_to(SOURCE).with_suffix("").parts
            module = importlib.import_module(".".join(parts[:-1] if parts[-1] == "__init__" else parts))
            found[path.with_suffix(".pyi")] = module_stub(module, sorted(module.__all__))
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
