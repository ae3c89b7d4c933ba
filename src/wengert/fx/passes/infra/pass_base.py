"""``PassBase``: a change of a graph module as an object that is called."""

from __future__ import annotations

import abc
from typing import Any, NamedTuple

__all__ = ["PassBase", "PassResult"]


class PassResult(NamedTuple):
    """What a pass gives: the module, and whether it was changed."""

    graph_module: Any
    modified: bool


class PassBase(abc.ABC):
    """A pass: ``call`` changes a graph module, ``requires`` and ``ensures`` check it before and after.

    >>> import wengert as torch
    >>> from wengert.fx.passes.infra.pass_base import PassBase, PassResult
    >>> class Lint(PassBase):
    ...     def call(self, graph_module):
    ...         graph_module.graph.lint()
    ...         return PassResult(graph_module, False)
    >>> Lint()(torch.fx.symbolic_trace(lambda x: x + 1)).modified
    False
    """

    def __call__(self, graph_module: Any) -> PassResult | None:
        self.requires(graph_module)
        result = self.call(graph_module)
        self.ensures(graph_module)
        return result

    @abc.abstractmethod
    def call(self, graph_module: Any) -> PassResult | None:
        """Change the module."""

    def requires(self, graph_module: Any) -> None:  # noqa: B027 - checks nothing unless overridden
        """Check the module before; an override raises an error."""

    def ensures(self, graph_module: Any) -> None:  # noqa: B027 - checks nothing unless overridden
        """Check the module after; an override raises an error."""
