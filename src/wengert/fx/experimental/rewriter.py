"""``RewritingTracer``: a tracer that first rewrites the program's ``assert`` as calls that a graph can hold."""

from __future__ import annotations
import __future__

import ast
import copy
import inspect
from collections.abc import Callable
from types import FunctionType
from typing import Any

from ...nn.modules.module import Module
from .._symbolic_trace import Tracer
from ..graph import Graph

__all__ = ["AST_Rewriter", "RewritingTracer"]


def _dedented(lines: list[str]) -> str:
    """A function's text, moved to the left as far as its ``def`` allows; a text in it may stand further left."""
    first = next(line for line in lines if line.lstrip().startswith(("def ", "async def ", "class ")))
    indent = first[: len(first) - len(first.lstrip())]
    return "".join([line.removeprefix(indent) for line in lines])


class AST_Rewriter(ast.NodeTransformer):
    """Rewrites a function's source: ``assert`` as ``torch._assert``, ``x: T = v`` as a call of ``annotate``."""

    def rewrite(self, fn: Any) -> FunctionType:
        """The function, rewritten."""
        tree = ast.parse(_dedented(inspect.getsourcelines(fn)[0]))
        later = fn.__code__.co_flags & __future__.annotations.compiler_flag  # this module's own is not the program's
        code = compile(ast.fix_missing_locations(self.visit(tree)), "", "exec", later, dont_inherit=True)
        scope = dict(fn.__globals__)
        before = set(scope)
        exec(code, scope)
        (name,) = set(scope) - before or {fn.__name__}
        made = scope[name]
        result = FunctionType(made.__code__, fn.__globals__, made.__name__, made.__defaults__, made.__closure__)
        result.__kwdefaults__ = copy.copy(made.__kwdefaults__)
        result.__annotations__ = made.__annotations__
        return result

    def visit_Assert(self, node: ast.Assert) -> ast.AST:
        """``torch._assert(test, message)``."""
        call = ast.parse("torch._assert()", mode="eval").body
        assert isinstance(call, ast.Call)
        call.args = [node.test, node.msg or ast.Constant(value="")]
        return ast.copy_location(ast.Expr(value=call), node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        """``target = annotate(value, T)``."""
        if node.value is None:
            return node
        called = ast.Call(func=ast.Name(id="annotate", ctx=ast.Load()), args=[node.value, node.annotation], keywords=[])
        return ast.copy_location(ast.Assign(targets=[node.target], value=called), node)


class RewritingTracer(Tracer):
    """Traces a program after rewriting it."""

    def trace(self, root: Module | Callable[..., Any], concrete_args: Any = None) -> Graph:
        """The graph of the program."""
        return super().trace(_rewritten(root), concrete_args)


def _rewritten(fn: Any) -> Any:
    if not isinstance(fn, Module):
        return AST_Rewriter().rewrite(fn)

    class RewrittenModule(Module):
        """The module, with its ``forward`` rewritten, and its submodules'."""

        def __init__(self, original: Module) -> None:
            super().__init__()
            for key, value in vars(original).items():
                self.__dict__[key] = copy.copy(_rewritten(value) if isinstance(value, Module) else value)

    RewrittenModule.forward = AST_Rewriter().rewrite(fn.forward)
    return RewrittenModule(fn)
