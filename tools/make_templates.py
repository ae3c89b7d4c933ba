"""Writes src/wengert/_folded.py: the kinds' templates with their flags worked out.

    python tools/make_templates.py           write it
    python tools/make_templates.py --check   exit with 1 if it is not what would be written

A template (see ``_kinds.elementwise``) is one closure for every operator of its kind; what an operator does not need
stands behind a flag (``if keep_result:``). Flags are known when an operator is declared, yet each costs a few
nanoseconds at every call, and the templates for two tensors have eleven. Here each template is written once for each
set of flags that some operator has: what a flag rules out is left out. Without the file everything works as well, some
5 % slower.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import operator
import sys
import types
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "wengert"
TARGET = PACKAGE / "_kinds/folded.py"
HEAD = '''"""The kinds' templates without their flags, one for each set of flags that an operator has.

Made by tools/make_templates.py from the templates in unary, elementwise and linear, which are what to read and to
change.
"""
# mypy: ignore-errors
'''
UNKNOWN = object()
# Operators too seldom used, or too slow themselves, for a template of their own: what is written is loaded at import.
SELDOM = {
    "_clamp_max_tensor", "_clamp_min_tensor", "_div_floor", "_div_trunc", "airy_ai", "angle", "conj",
    "conj_physical", "copysign", "floor_divide", "fmod", "gcd", "hypot", "igamma", "igammac", "lcm", "ldexp",
    "nextafter", "remainder", "sgn", "view_as_complex", "view_as_real", "zeta",
}  # fmt: skip
COMPARE = {ast.Eq: operator.eq, ast.Lt: operator.lt, ast.Is: operator.is_, ast.IsNot: operator.is_not}


class Fold(ast.NodeTransformer):
    """Replaces flags by their values, and drops the branches that cannot be taken."""

    def __init__(self, flags: dict[str, Any]) -> None:
        self.flags = flags

    def value(self, node: ast.expr) -> Any:
        """What a test comes to, ``UNKNOWN`` where only a call can tell."""
        match node:
            case ast.Constant():
                return node.value
            case ast.Name(id=name):
                return self.flags.get(name, UNKNOWN)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                v = self.value(operand)
                return v if v is UNKNOWN else not v
            case ast.Compare(left=left, ops=[op], comparators=[ast.Constant(value=right)]):
                v = self.value(left)
                compare = COMPARE.get(type(op))
                return UNKNOWN if v is UNKNOWN or compare is None else compare(v, right)
        return UNKNOWN

    def test(self, node: ast.expr) -> Any:
        """A test with its flags worked out: ``True``, ``False`` or what is left of it."""
        if isinstance(node, ast.BoolOp):
            stop = isinstance(node.op, ast.Or)  # the value that settles it
            left: list[ast.expr] = []
            for operand in node.values:
                v = self.test(operand)
                if v is stop:  # whatever the others are: no test has an effect
                    return stop
                if not isinstance(v, bool):
                    left.append(v)
            if not left:
                return not stop
            return left[0] if len(left) == 1 else ast.BoolOp(node.op, left)
        v = self.value(node)
        return node if v is UNKNOWN else bool(v)

    def visit_If(self, node: ast.If) -> Any:
        test = self.test(node.test)
        if test is True:
            return self.block(node.body)
        if test is False:
            return self.block(node.orelse)
        return ast.If(test, self.block(node.body) or [ast.Pass()], self.block(node.orelse))

    def visit_IfExp(self, node: ast.IfExp) -> Any:
        test = self.test(node.test)
        if isinstance(test, bool):
            return self.visit(node.body if test else node.orelse)
        return self.generic_visit(node)

    def block(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """The statements that are left, up to the first that always leaves the function."""
        out: list[ast.stmt] = []
        for statement in body:
            new = self.visit(statement)
            out += new if isinstance(new, list) else [new]
            if out and isinstance(out[-1], ast.Return | ast.Raise):
                break
        return out

    def visit_Name(self, node: ast.Name) -> Any:
        return ast.Constant(self.flags[node.id]) if node.id in self.flags else node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        node.body = self.block(node.body)
        keywords = zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
        kept = [(argument, default) for argument, default in keywords if argument.arg not in self.flags]
        node.args.kwonlyargs, node.args.kw_defaults = [a for a, _ in kept], [d for _, d in kept]
        return node


def templates() -> dict[tuple[str, str], ast.FunctionDef]:
    """The functions nested in the modules of kinds, by module and qualified name."""
    found: dict[tuple[str, str], ast.FunctionDef] = {}

    def walk(module: str, prefix: str, node: ast.AST) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.FunctionDef):
                found[module, prefix + child.name] = child
                walk(module, f"{prefix}{child.name}.<locals>.", child)
            else:
                walk(module, prefix, child)

    for module in ("_kinds.unary", "_kinds.elementwise", "_kinds.linear"):
        walk(f"wengert.{module}", "", ast.parse((PACKAGE / f"{module.replace(chr(46), chr(47))}.py").read_text()))
    return found


class Asked(dict[Any, Any]):
    """Stands in for what the file holds: remembers what the declarations ask for, and has none of it."""

    def get(self, key: Any, template: Any = None) -> Any:
        declaration = sys._getframe(2).f_locals  # of the kind's function that declares the operator
        if declaration["info"].name not in SELDOM:
            self[key] = template.__code__.co_freevars
        return template


def text() -> str:
    """What the file should hold, for the operators as they are declared now."""
    stand_in = types.ModuleType("wengert._kinds.folded")
    stand_in.FOLDED = asked = Asked()  # type: ignore[attr-defined]
    sys.modules["wengert._kinds.folded"] = stand_in
    sys.path.insert(0, str(ROOT / "src"))
    importlib.import_module("wengert")
    sources = templates()
    parts, table = [HEAD], []
    for k, key in enumerate(sorted(asked, key=repr)):
        module, qualname, flags = key
        source = ast.parse(ast.unparse(sources[module, qualname])).body[0]
        function = Fold(dict(flags)).visit(source)
        for argument in (*function.args.args, *function.args.kwonlyargs, function.args.vararg, function.args.kwarg):
            if argument is not None:
                argument.annotation = None
        function.returns = None
        used = {n.id for n in ast.walk(function) if isinstance(n, ast.Name)}
        free = [name for name in asked[key] if name in used]
        body = "".join(f"    {line}\n" for line in ast.unparse(ast.fix_missing_locations(function)).splitlines())
        parts.append(f"\n\ndef _{k}({', '.join(free)}):\n{body}    return {function.name}\n")
        table.append(f"    {key!r}: _{k},\n")
    parts.append("\n\nFOLDED = {\n" + "".join(table) + "}\n")
    return "".join(parts)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 if the file is out of date")
    arguments = parser.parse_args()
    wanted = text()
    if arguments.check:
        if TARGET.exists() and TARGET.read_text() == wanted:
            return 0
        print(f"{TARGET.relative_to(ROOT)} is out of date: run python tools/make_templates.py", file=sys.stderr)
        return 1
    TARGET.write_text(wanted)
    return 0


if __name__ == "__main__":
    sys.exit(main())
