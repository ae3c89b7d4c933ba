"""``reinplace``: writes results over operands that nothing reads again, ``add`` as ``add_``.

The graph runs on sample inputs, which tells what shares memory. A call is rewritten if no alias of its first argument
is read later, but by calls that would put the result back into the same place (``select_scatter`` after ``select``),
which are then left out.
"""

from __future__ import annotations

import operator
from collections import defaultdict
from typing import Any

import wengert as torch

from ..._arrays.memory import repeats
from ...utils import _pytree as pytree
from ...utils._aten import OpOverload
from .._compatibility import compatibility
from ..graph_module import GraphModule
from ..interpreter import Interpreter
from ..node import Node, map_arg

__all__ = ["reinplace"]

Tensor = torch.Tensor
_aten = torch.ops.aten
# The view into which each of these operators writes.
_VIEWS = {
    _aten.diagonal_scatter.default: _aten.diagonal.default,
    _aten.select_scatter.default: _aten.select.int,
    _aten.slice_scatter.default: _aten.slice.Tensor,
    _aten.as_strided_scatter.default: _aten.as_strided.default,
}


class _Values(Interpreter):
    """Runs a graph, and keeps what each node gives, its place, and the node of which it is a view."""

    def __init__(self, module: GraphModule) -> None:
        super().__init__(module, garbage_collect_values=False)
        self.of: dict[Node, Any] = {}
        self.places: dict[Node, int] = {}
        self.views: dict[Node, Node] = {}

    def run_node(self, n: Node) -> Any:
        """Run one node."""
        result = super().run_node(n)
        self.places[n], self.of[n] = len(self.places), result
        base = n.args[0] if n.op == "call_function" and n.args else None
        if n.target is operator.getitem and isinstance(base, Node) and base.args:
            base = base.args[0]  # of an operator with several results
        if isinstance(base, Node) and not _writes(n) and self.memory(n) & self.memory(base):
            self.views[n] = base
        return result

    def memory(self, n: Node) -> set[int]:
        """What memory a node's tensors lie in."""
        found = pytree.tree_leaves(self.of.get(n))
        return {t.untyped_storage().data_ptr() for t in found if isinstance(t, Tensor) and t.numel()}


def _writes(n: Node) -> bool:
    return isinstance(n.target, OpOverload) and n.target.overloadpacket.__name__.endswith("_")


def _same_place(a: Tensor, b: Tensor) -> bool:
    return a.size() == b.size() and a.stride() == b.stride() and a.storage_offset() == b.storage_offset()


class _Reinplacer:
    """One graph that is being rewritten."""

    def __init__(self, gm: GraphModule, values: _Values) -> None:
        self.graph, self.values = gm.graph, values
        self.aliases: dict[int, set[Node]] = defaultdict(set)
        for n in self.graph.nodes:
            for memory in values.memory(n):
                self.aliases[memory].add(n)
        self.inputs = set().union(*[values.memory(n) for n in self.graph.find_nodes(op="placeholder")])
        self.left_out: dict[Node, None] = {}

    def run(self) -> None:
        """Rewrite what can be."""
        for n in list(self.graph.nodes):
            if n.op == "call_function" and isinstance(n.target, OpOverload) and n.args:
                self.rewrite(n)
        for n in reversed(list(self.graph.nodes)):
            if n in self.left_out:
                self.graph.erase_node(n)

    def rewrite(self, n: Node) -> None:
        """Write a call's result over its first argument, if that is sound."""
        first: Any = n.args[0]
        if not isinstance(first, Node) or not isinstance(self.values.of.get(first), Tensor) or not self.fits(n, first):
            return
        memory = self.values.memory(first)
        aliases = set().union(*[self.aliases[m] for m in memory])
        later = self.later_users(aliases, self.values.places[n])
        put_back = {user for user in later if self.puts_back(user, aliases)}
        if later - put_back:
            return
        if n.target in _VIEWS and n not in self.left_out:
            with self.graph.inserting_before(n):
                view = self.graph.call_function(_VIEWS[n.target], (first, *n.args[2:]), n.kwargs)
                self.graph.call_function(_aten.copy_.default, (view, n.args[1]))
            self.left_out[n] = None
        elif (in_place := _in_place(n.target)) is not None:
            n.target = in_place
        else:
            return
        joined = aliases.union(*[self.aliases[m] for m in self.values.memory(n)])
        for m in memory | self.values.memory(n):
            self.aliases[m] = joined
        self.left_out |= dict.fromkeys(put_back)
        for old in (n, *put_back):
            self.replace(old, n)

    def fits(self, n: Node, first: Node) -> bool:
        """Whether the first argument may hold the result: equal size and dtype, memory of the graph's own."""
        old, new = self.values.of[first], pytree.tree_leaves(self.values.of[n])
        if len(new) == 1 and isinstance(new[0], Tensor):
            overlaps = repeats(old.shape, old.stride())
            if old.numel() != new[0].numel() or old.dtype != new[0].dtype or overlaps:
                return False
        return not self.values.memory(first) & self.inputs and sum(a is first for a in n.args) == 1

    def later_users(self, aliases: set[Node], place: int) -> set[Node]:
        """What reads one of these nodes after a place; views of them, which are among them, do not."""
        found = {user for alias in aliases for user in alias.users}
        return {
            user
            for user in found
            if self.values.places.get(user, -1) > place
            and not (user in aliases and (isinstance(user.target, OpOverload) or user.target is operator.getitem))
        }

    def puts_back(self, n: Node, aliases: set[Node]) -> bool:
        """Whether a call writes a value into the place at which one of these nodes is a view."""
        values = self.values
        view: Any = _VIEWS.get(n.target)
        if view is None:
            return False
        for alias in aliases:
            base: Any = values.views.get(alias)
            if base is None or not _same_place(values.of[base], values.of[n.args[0]]):
                continue
            try:
                again = view(values.of[base], *n.args[2:], **n.kwargs)
            except (RuntimeError, IndexError):
                continue
            if _same_place(again, values.of[alias]):
                return True
        return False

    def replace(self, old: Node, n: Node) -> None:
        """Let what reads a result after a call read the first argument."""
        new: Any = old.args[0]
        for user in list(old.users):
            if self.values.places.get(user, -1) > self.values.places[n]:
                user.args = map_arg(user.args, lambda a: new if a is old else a)
                user.kwargs = map_arg(user.kwargs, lambda a: new if a is old else a)


def _in_place(op: OpOverload) -> OpOverload | None:
    """The operator that writes its result over its first argument."""
    name = f"{op.overloadpacket.__name__}_"
    if op.overloadpacket.__name__.endswith("_") or not hasattr(Tensor, name):
        return None
    found: OpOverload = getattr(getattr(_aten, name), op._overloadname)
    return found if op._schema is not None and found._schema is not None else None


@compatibility(is_backward_compatible=True)
def reinplace(gm: GraphModule, *sample_args: Any) -> GraphModule:
    """Change a graph of PyTorch's operators: calls write over operands that nothing reads again.

    Inputs are not written. The sample arguments tell what shares memory.

    >>> import wengert as torch
    >>> from wengert.fx.passes.reinplace import reinplace
    >>> from wengert.fx.experimental.proxy_tensor import make_fx
    >>> gm = make_fx(lambda x: x.sin().add(1))(torch.ones(2))
    >>> [str(n.target) for n in reinplace(gm, torch.ones(2)).graph.nodes if n.op == "call_function"]
    ['aten.sin.default', 'aten.add_.Tensor']
    """
    values = _Values(gm)
    with torch.random.fork_rng(devices=[]):
        values.run(*[a.detach().clone() if isinstance(a, Tensor) else a for a in sample_args])
    _Reinplacer(gm, values).run()
    gm.recompile()
    return gm
