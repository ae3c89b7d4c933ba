"""`python -m wengert compile script.py:step`: run a program with one function compiled, and show what it became.

The definition of the function gets `torch.compile` as a decorator; nothing else of the program changes. What is printed
at the end is what `torch.compiler.program` holds, and where the function breaks.
"""

from __future__ import annotations

import ast
import os
import sys
from types import ModuleType
from typing import Any

import wengert
from wengert._base.errors import nearest
from wengert._cli import UsageError
from wengert._cli.run import install_torch_alias


def main(target: str, show: bool, arguments: list[str]) -> int:
    """Run the program, then print a function's programs, in full if `show`."""
    path, _, name = target.rpartition(":")
    if not path or not name.isidentifier():
        raise UsageError(f"name a function of a file, as in script.py:step, not {target!r}")
    try:
        with open(path, "rb") as file:  # Python finds out how it is encoded
            tree = ast.parse(file.read(), path)
    except OSError as error:
        raise UsageError(f"can't open file {path!r}: [Errno {error.errno}] {error.strerror}") from error
    except (SyntaxError, MemoryError, RecursionError) as error:
        raise UsageError(f"{path} is no program: {str(error) or 'nested too deep'}") from error
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    if name not in functions:
        raise UsageError(f"{path} defines no function {name!r}{nearest(name, functions)}")
    node = functions[name]
    place = ast.copy_location(ast.Name("__wengert_compiled__", ast.Load()), node)
    node.decorator_list.append(place)
    made: list[Any] = []

    def compiled(fn: Any) -> Any:
        made.append(wengert.compile(fn))
        return made[-1]

    sys.argv = [path, *arguments]
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    remove = install_torch_alias()
    status: Any = 0
    program, ours = ModuleType("__main__"), sys.modules["__main__"]
    vars(program).update(__file__=path, __builtins__=__builtins__, __wengert_compiled__=compiled)
    try:
        sys.modules["__main__"] = program
        exec(compile(tree, os.path.abspath(path), "exec", dont_inherit=True), vars(program))
    except SystemExit as ended:
        status = ended.code or 0
    finally:
        sys.modules["__main__"] = ours
        remove()
    if show:
        from wengert._compile.c import wait

        wait()  # for the C, where there is a compiler
    print(described(name, made[-1]._compiled, show) if made else f"{name} was not defined")
    if status:
        raise SystemExit(status)
    return 0


def described(name: str, compiled: Any, show: bool) -> str:
    """A function's programs and breaks, as text."""
    programs = [p for found in compiled.programs.values() for p in found]
    parts = [f"{name}: {len(programs)} programs, {len(compiled.breaks)} breaks"]
    for k, program in enumerate(programs, 1):
        parts.append(f"program {k}: {program!r}, {program.memory['nbytes']} bytes of planned memory")
        if show:
            parts += [program.source.rstrip(), "guards:", *(f"  {said}" for said in program.guards)]
    for reason, at in compiled.breaks:
        parts.append(f"break: {reason}" + ("" if at is None else f', File "{at[0]}", line {at[1]}'))
    return "\n".join(parts)
