"""``AnnotateTypesWithSchema``: a graph whose nodes have the types that the functions' annotations say."""

from __future__ import annotations

import inspect
from typing import Any

from ... import nn
from ..._tape.tensor import Tensor
from .._naming import public_places
from ..interpreter import Transformer

__all__ = ["AnnotateTypesWithSchema"]


class AnnotateTypesWithSchema(Transformer):
    """Gives calls of ``nn.functional`` and of layers, and attributes, their types."""

    def __init__(
        self, module: Any, annotate_functionals: bool = True, annotate_modules: bool = True,
        annotate_get_attrs: bool = True,
    ) -> None:  # fmt: skip
        super().__init__(module)
        self.annotate_functionals, self.annotate_modules = annotate_functionals, annotate_modules
        self.annotate_get_attrs = annotate_get_attrs

    def call_function(self, target: Any, args: Any, kwargs: Any) -> Any:
        """A node for the call."""
        wanted = self.annotate_functionals and public_places().get(id(target), ("",))[0] == "nn.functional"
        return _typed(super().call_function(target, args, kwargs), _returned(target) if wanted else None)

    def call_module(self, target: Any, args: Any, kwargs: Any) -> Any:
        """A node for the call."""
        called = self.fetch_attr(target)
        wanted = self.annotate_modules and getattr(nn, type(called).__name__, None) is type(called)
        return _typed(super().call_module(target, args, kwargs), _returned(called.forward) if wanted else None)

    def get_attr(self, target: Any, args: Any, kwargs: Any) -> Any:
        """A node for the attribute."""
        value = self.fetch_attr(target)
        kind = Tensor if isinstance(value, Tensor) else type(value) if isinstance(value, (int, float, str)) else None
        return _typed(super().get_attr(target, args, kwargs), kind if self.annotate_get_attrs else None)


def _typed(proxy: Any, kind: Any) -> Any:
    proxy.node.type = proxy.node.type or kind
    return proxy


def _returned(fn: Any) -> Any:
    """The annotation of a function's result, or None. Our functions say ``Any`` where PyTorch's say nothing."""
    try:
        found = inspect.signature(fn, eval_str=True).return_annotation
    except (ValueError, TypeError, NameError):
        return None
    return None if found in (inspect.Signature.empty, Any) else found
