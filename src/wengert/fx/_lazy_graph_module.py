"""``_LazyGraphModule``: a graph module that writes its code when it is first needed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from .graph_module import GraphModule, _format_import_block, reduce_graph_module

__all__: list[str] = []

_use_lazy_graph_module_flag = False
_force_skip_lazy_graph_module_flag = False


@contextmanager
def _force_skip_lazy_graph_module() -> Iterator[None]:
    """A context without lazy modules, whatever ``_use_lazy_graph_module`` says."""
    global _force_skip_lazy_graph_module_flag
    former, _force_skip_lazy_graph_module_flag = _force_skip_lazy_graph_module_flag, True
    try:
        yield
    finally:
        _force_skip_lazy_graph_module_flag = former


@contextmanager
def _use_lazy_graph_module(should_use: bool) -> Iterator[None]:
    """A context in which ``_make_graph_module`` makes lazy modules, or does not."""
    global _use_lazy_graph_module_flag
    former = _use_lazy_graph_module_flag
    _use_lazy_graph_module_flag = should_use and not _force_skip_lazy_graph_module_flag
    try:
        yield
    finally:
        _use_lazy_graph_module_flag = former


def _get_graph_module_cls() -> type[GraphModule]:
    return _LazyGraphModule if _use_lazy_graph_module_flag else GraphModule


def _make_graph_module(*args: Any, graph_module_cls: Any = None, **kwargs: Any) -> GraphModule:
    made: GraphModule = (graph_module_cls or _get_graph_module_cls())(*args, **kwargs)
    return made


class _LazyGraphModule(GraphModule):
    """A graph module whose ``recompile`` only notes that the code is stale."""

    @classmethod
    def from_graphmodule(cls, gm: GraphModule) -> GraphModule:
        """The module as a lazy one."""
        return gm if isinstance(gm, _LazyGraphModule) else _LazyGraphModule(gm, gm.graph)

    @staticmethod
    def force_recompile(gm: GraphModule) -> None:
        """Write the code now, if the module is a lazy one."""
        if isinstance(gm, _LazyGraphModule):
            gm.real_recompile()

    def real_recompile(self) -> None:
        """Write the code, if it is stale."""
        if self._needs_recompile():
            self._real_recompile()

    @classmethod
    def _needs_recompile(cls) -> bool:
        return cls.forward is cls._lazy_forward

    def _lazy_forward(self, *args: Any, **kwargs: Any) -> Any:
        self.real_recompile()
        return self(*args, **kwargs)

    forward = _lazy_forward

    def __reduce__(self) -> tuple[Any, ...]:
        code = self._real_recompile()
        body = self.__dict__.copy()
        del body["_graph"]
        return reduce_graph_module, (body, _format_import_block(code.globals))

    def _real_recompile(self) -> Any:
        return super().recompile()

    @classmethod
    def recompile(cls) -> None:  # type: ignore[override]
        """Note that the code is stale."""
        cls.forward = cls._lazy_forward

    @property
    def code(self) -> str:
        """The code, written now if it is stale."""
        self.real_recompile()
        return super().code

    def __str__(self) -> str:
        self.real_recompile()
        return super().__str__()
