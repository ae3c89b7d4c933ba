"""Writes type stubs for names that are put together at run time, for mypy, pyright and editors.

    python tools/make_stubs.py            write them
    python tools/make_stubs.py --check    exit with 1 if what is committed is not what would be written

Operators, methods and the functions of some modules come from declarations, which no type checker runs. The tool
inspects the imported package and writes `__init__.pyi` (every name of `wengert.__all__`), `_tape/tensor.pyi` (class
`Tensor`, and its module's own functions as in the source), `return_types.pyi`, and one stub for every module that

- lends its names from the operators (`lend(...)`),
- only gathers names, in a way that a checker cannot follow (`gathers`),
- stands in for one of PyTorch's: a row of the table in `_compat` (`row_stubs`), or a file that takes the names of one
  (`stand_in_stub`).

`stub_signatures` makes the signatures of functions.
"""

from __future__ import annotations

import argparse
import ast
import builtins
import difflib
import importlib
import inspect
import re
import sys
import types
import typing
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from stub_signatures import (
    ALIASES,
    SIGNATURES,
    SOURCE,
    SPECIAL,
    TYPES,
    Names,
    first_line,
    function,
    is_dunder,
    return_type,
    with_imports,
)

import wengert
from wengert import _ops
from wengert._base.registry import PUBLIC
from wengert._compat import TABLE
from wengert._compat._rows import ROWS

PACKAGE = SOURCE / "wengert"
STAND_INS = PACKAGE / "_compat"
DOORS = ("backends", "cuda")  # what programs import from there by name
FILLED = "\nlend("  # what a module of generated names has in its source
HEADER = "# Made by tools/make_stubs.py; do not edit.\n"
SPECIAL_FIELDS = {"histogramdd.bin_edges": "tuple[Tensor, ...]"}  # of the named tuples


# --------------------------------------------------------------------------------------------------------------- Tensor
def tensor_class() -> str:
    """The class as it is after everything was attached to it."""
    out = [f"class Tensor(metaclass=TensorMeta):{first_line(wengert.Tensor, '    ')}\n"]
    out += [f"    {name}: Any\n" for name in ("_payload", "_node", "_box", "_view")]
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
        if getattr(value.fset, "__name__", "read_only") != "read_only":  # which raises
            text += f"{indent}@{name}.setter\n{indent}def {name}(self, value: {kind}) -> None: ...\n"
        if getattr(value.fdel, "__name__", "read_only") != "read_only":
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
    """A property's type, from its function's annotation; a property named `is_...` is a bool."""
    if name in SPECIAL:
        return SPECIAL[name]
    kind = return_type(value.fget, name)
    return "_bool" if kind == "Any" and name.startswith("is_") else kind


def own_definitions(path: Path) -> Iterator[str]:
    """The names that a module defines beside Tensor, from its source: the library's own modules import them."""
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
    defined = "".join(own_definitions(path))
    return HEADER + with_imports("..", f"\n{ALIASES}\n{defined}\n{tensor_class()}")


# -------------------------------------------------------------------------------------------------------------- modules
def importable(value: Any) -> bool:
    """Whether a class or function can be imported by its own name, from a module whose source defines or imports it."""
    if not value.__module__.startswith("wengert."):
        return False
    module = importlib.import_module(value.__module__)
    if getattr(module, value.__name__, None) is not value:
        return False
    try:
        tree = ast.parse(inspect.getsource(module))
    except (OSError, TypeError):
        return False
    return any(
        (isinstance(node, (ast.ClassDef, ast.FunctionDef)) and node.name == value.__name__)
        or (isinstance(node, ast.ImportFrom) and any(a.name == value.__name__ for a in node.names))
        for node in tree.body
    )


def is_row(module: types.ModuleType) -> bool:
    """Whether a module is a row of the table in `_compat`, and no file."""
    return module.__file__ == TABLE


def stub_of(module: types.ModuleType) -> Path:
    """Where the stub of a module is: beside its file; one of a row is in `_compat`, or in a package of the root."""
    if not is_row(module):
        return Path(module.__file__ or "").with_suffix(".pyi")
    parts = module.__name__.split(".")[1:]
    rooted = parts[0] in DOORS or (PACKAGE / parts[0] / "__init__.py").exists()
    path = (PACKAGE if rooted else STAND_INS).joinpath(*parts)
    return path / "__init__.pyi" if hasattr(module, "__path__") else path.with_suffix(".pyi")


def file_of(module: str) -> str:
    """The dotted path of a module's file below the package, by which type checkers find it."""
    parts = stub_of(importlib.import_module(module)).relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported(name: str, value: Any, home: types.ModuleType) -> str:
    """The import of a class or function from where it is written, under a name that the stub exports."""
    up = "." * len(stub_of(home).relative_to(PACKAGE).parts)
    place, own = f"from {up}{file_of(value.__module__)} import {value.__name__}", value.__name__
    if own == name or name[0] == "_":
        return f"{place} as {name}\n"
    return f"{place}\n{name} = {own}\n" if own[0] == "_" else f"{place} as _{own}\n{name} = _{own}\n"


def entry(name: str, value: Any, home: types.ModuleType) -> str:
    """One public name of a module."""
    if value is not None and value is getattr(typing, name, None):
        return f"from typing import {name} as {name}\n"
    if isinstance(value, type):
        return class_entry(name, value, home)
    if isinstance(value, types.FunctionType):
        elsewhere = home is not wengert or not (name in PUBLIC["torch"] or value.__module__.startswith("wengert._"))
        elsewhere = elsewhere and value.__module__ != home.__name__
        if elsewhere and name not in SIGNATURES["torch"] and importable(value):
            return imported(name, value, home)
        text = function(name, value, home.__name__.partition(".")[2] or "torch")
        in_torch = vars(wengert).get(name) if home is not wengert and name in wengert.__all__ else None
        if isinstance(in_torch, types.FunctionType) and text == function(name, in_torch, "torch"):
            return f"from {'.' * len(stub_of(home).relative_to(PACKAGE).parts)} import {name} as {name}\n"
        return text
    if isinstance(value, Callable):  # type: ignore[arg-type]
        if importable(type(value)):
            return f"{imported(f'_Type_of_{name}', type(value), home)}{name}: _Type_of_{name}\n"
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
    """A class: an import from its module, or a declaration if the class is made at run time."""
    if cls not in wengert.Tensor.__mro__ and issubclass(wengert.Tensor, cls):  # Variable: Tensor by another name
        return imported(name, wengert.Tensor, home)
    if importable(cls):
        return imported(name, cls, home)
    if issubclass(cls, BaseException):
        return f"class {name}({base_of(cls)}): ...\n"
    if name.endswith("Tensor"):
        return f"class {name}(Tensor): ...\n"
    if cls.__module__ != home.__name__:
        ours = cls.__module__.startswith("wengert.")
        return imported(name, cls, home) if ours else f"from {cls.__module__} import {cls.__name__} as {name}\n"
    return made_class(name, cls, home)


def made_class(name: str, cls: type, home: types.ModuleType) -> str:
    """A class that a row makes: with the base that it has, or with any attributes."""
    base, init, body = cls.__mro__[1], vars(cls).get("__init__"), "    ...\n"
    if not importable(base):
        return f"class {name}(Any): ...\n"
    if init:
        known = init.__annotations__.get("return") == "None"
        body = "    def __init__(self, *args: Any, **kwargs: Any) -> None: ...\n"
        body = function("__init__", init, "torch", "    ", method=True) if known else body
    return f"{imported(f'_Base_{name}', base, home)}class {name}(_Base_{name}):\n{body}"


def base_of(cls: type) -> str:
    """The nearest base class that is Python's own."""
    return next(base.__name__ for base in cls.__mro__[1:] if getattr(builtins, base.__name__, None) is base)


def module_entry(package: types.ModuleType, name: str) -> str:
    """A module of the package, from the folder in which it lies."""
    home = file_of(f"{package.__name__}.{name}").rpartition(".")[0]
    up = "." * len(stub_of(package).relative_to(PACKAGE).parts)
    return f"from {up}{home} import {name} as {name}\n"


def taken_whole(module: types.ModuleType, text: str) -> dict[str, list[str]]:
    """What a module takes by `from .x import *`: the modules that list their names as text, with the names."""
    found: dict[str, list[str]] = {}
    for part in re.findall(r"^from (\.\w+) import \*", text, re.MULTILINE):
        inside = importlib.import_module(part, module.__name__)
        source = inspect.getsource(inside)
        if hasattr(inside, "__path__"):
            found.update((part + deeper, names) for deeper, names in taken_whole(inside, source).items())
        elif re.search(r"^__all__ = \[[^*]*\](  # fmt: skip)?$", source, re.MULTILINE):
            found[part] = inside.__all__
    return found


def module_stub(module: types.ModuleType, names: list[str], text: str = "") -> str:
    """The stub of a module that has these public names."""
    whole = taken_whole(module, text)
    names = [name for name in names if not any(name in inside for inside in whole.values())]
    entries = [
        module_entry(module, name)
        if is_module(module, name) and isinstance(vars(module).get(name, module), types.ModuleType)
        else entry(name, getattr(module, name), module)
        for name in names
    ]
    entries = [part for text in entries for part in re.split(r"(?<=\n)(?=(?:class |\w+: |\w+ = |from ))", text)]
    taken: dict[str, list[str]] = {"from .torch_version": ["__version__ as __version__"]} if module is wengert else {}
    for text in entries:
        if text.startswith("from "):
            home, _, part = text.rstrip("\n").partition(" import ")
            taken.setdefault(home, []).append(part)
    imports = [f"from {part} import *\n" for part in whole]
    imports += [f"{home} import {', '.join(sorted({*parts}))}\n" for home, parts in sorted(taken.items())]
    rest = [text for text in entries if not text.startswith("from ")]
    return HEADER + with_imports("." * len(stub_of(module).relative_to(PACKAGE).parts), "".join(imports + rest))


def return_types_stub() -> str:
    """`return_types.pyi`: the named tuples, all of tensors but for one field; those of the same fields share a base."""
    out: dict[str, str] = {}
    names = [cls.__match_args__ for cls in wengert.return_types.all_return_types]
    for cls in wengert.return_types.all_return_types:
        kinds = {field: SPECIAL_FIELDS.get(f"{cls.__name__}.{field}", "Tensor") for field in cls.__match_args__}
        given = f"tuple[{', '.join(kinds.values())}]"
        base = f"_{'_'.join(kinds)}" if names.count(cls.__match_args__) > 1 and "..." not in given else cls.__name__
        made = f"class {base}({given}):\n    def __new__(cls, sequence: {given}) -> Self: ...\n"
        made += "".join(f"    @property\n    def {field}(self) -> {kind}: ...\n" for field, kind in kinds.items())
        made += "".join(f"    {name}: Final = {getattr(cls, name)}\n" for name in ("n_fields", "n_sequence_fields"))
        out.setdefault(base, f"{made}    n_unnamed_fields: Final = 0\n")
        out.setdefault(cls.__name__, f"class {cls.__name__}({base}): ...\n")
    return HEADER + with_imports(".", f"{''.join(out.values())}all_return_types: list[type]\n")


def gathers(tree: ast.Module) -> bool:
    """Whether a module only gathers names from others, in a way that type checkers cannot follow."""
    defined = {node.name for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    if defined - {"__getattr__", "__dir__"}:
        return False
    lists = [
        node.value for node in tree.body if isinstance(node, ast.Assign) and ast.unparse(node.targets) == "__all__"
    ]
    literal = all(isinstance(part, ast.Constant) for value in lists for part in getattr(value, "elts", [value]))
    return bool(lists) and ("__getattr__" in defined or not literal)


def gathered(module: types.ModuleType, tree: ast.Module) -> list[str]:
    """The public names of such a module: its list of names, its imports by name, the modules in its folder."""
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


def stand_in_stub(module: types.ModuleType, tree: ast.Module) -> str:
    """The stub of a module that fills itself from tables: its own source without bodies, and the tables' names."""
    kinds = (ast.Import, ast.ImportFrom, ast.ClassDef, ast.FunctionDef, ast.AnnAssign)
    kept = [node for node in tree.body if isinstance(node, kinds)]
    public, bound = public_names(module, tree), set[str]()
    for node in kept:
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
            bound.add(node.name)
        elif isinstance(node, ast.AnnAssign):
            bound.add(ast.unparse(node.target))
        else:
            bound.update(name.asname or name.name for name in node.names)
            for name in node.names:  # a stub exports `a as a`
                name.asname = name.asname or (name.name if name.name in public else None)
    for node in ast.walk(ast.Module(kept, [])):
        if isinstance(node, ast.FunctionDef):
            node.body = [ast.Expr(ast.Constant(...))]
        elif isinstance(node, ast.AnnAssign):
            node.value = None
    names = [name for name in public if name not in bound]
    source = "\n".join(ast.unparse(node) for node in kept if "__future__" not in ast.unparse(node))
    rest = "".join(entry(name, getattr(module, name), module) for name in names)
    dots = "." * len(Path(module.__file__ or "").relative_to(PACKAGE).parts)
    return HEADER + with_imports(dots, f"{source}\n{rest}")


def public_names(module: types.ModuleType, tree: ast.Module) -> list[str]:
    """The names that a module lists, assigns, defines or imports, without those that begin with an underscore."""
    found = set(getattr(module, "__all__", ()))
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found.add(node.name)
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found.update(name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name))
        elif isinstance(node, ast.ImportFrom) and node.module is None:
            found.update(name.asname or name.name for name in node.names)
    return sorted(name for name in found if not name.startswith("_"))


def row_stubs() -> dict[Path, str]:
    """Of public modules that are rows of the table in `_compat`."""
    public = [f"wengert.{name}" for name in ROWS if not any(part.startswith("_") for part in name.split("."))]
    modules = [module for module in map(importlib.import_module, public) if is_row(module)]
    return {stub_of(module): module_stub(module, module.__all__) for module in modules}


def is_module(package: types.ModuleType, name: str) -> bool:
    """Whether a public name is a module of the package: seen from the files, so that none must be imported."""
    if f"{package.__name__}.{name}".partition(".")[2] in ROWS:
        return True
    folders = map(Path, getattr(package, "__path__", ()))
    return any((folder / f"{name}.py").exists() or (folder / name / "__init__.py").exists() for folder in folders)


def stubs() -> dict[Path, str]:
    """Every stub by its path."""
    _ops.load_all()
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
            found[path.with_suffix(".pyi")] = module_stub(module, gathered(module, ast.parse(text)), text)
        elif "\nopen_rows(" in text and (row := name.replace(f".{STAND_INS.name}.", ".").partition(".")[2]) in ROWS:
            if row[0] != "_":
                module = importlib.import_module(f"wengert.{row}")
                found[path.with_suffix(".pyi")] = stand_in_stub(module, ast.parse(text))
    found.update(row_stubs())
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
    """Write the stubs, or compare them with the files."""
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
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_text(text, encoding="utf-8")
        print(path.relative_to(SOURCE.parent))
    return 0


if __name__ == "__main__":
    sys.exit(main())
