"""Control flow while a graph is written: functions of trees as functions of tensors, which operators take."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wengert._tape.tensor import Tensor
from wengert.utils import _pytree as pytree

__all__ = ["Flat"]


class Flat:
    """The tensors of trees of arguments, and functions of these trees as functions of the tensors."""

    def __init__(self, *trees: Any) -> None:
        self.leaves, self.spec = pytree.tree_flatten(trees)
        self.tensors = [t for t in self.leaves if isinstance(t, Tensor)]
        self.out_spec: Any = None

    def function(self, fn: Callable[..., Any]) -> Callable[..., Any]:
        """A function of the tensors, whose results are in a list."""

        def of_tensors(*tensors: Tensor) -> Any:
            given = iter(tensors)
            trees = pytree.tree_unflatten([next(given) if isinstance(t, Tensor) else t for t in self.leaves], self.spec)
            made, spec = pytree.tree_flatten(fn(*trees))
            if self.out_spec not in (None, spec):
                raise RuntimeError(
                    f"Unmatched output spec from torch.cond branches: true branch tree_spec {self.out_spec} vs false "
                    f"branch tree_spec {spec}."
                )
            self.out_spec = spec
            return made

        return of_tensors

    def result(self, tensors: Any) -> Any:
        """The functions' result, of its tensors."""
        return pytree.tree_unflatten(list(tensors), self.out_spec)
