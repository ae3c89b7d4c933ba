"""What is noted on nodes while they are made: the line of the program, annotations, the node that they come from."""

from __future__ import annotations

import copy
import functools
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import Enum
from typing import Any

from .node import Node

__all__ = [
    "NodeSource",
    "NodeSourceAction",
    "annotate",
    "annotate_fn",
    "format_stack",
    "get_current_meta",
    "get_graph_provenance_json",
    "has_preserved_node_meta",
    "preserve_node_meta",
    "reset_grad_fn_seq_nr",
    "set_current_meta",
    "set_current_replay_node",
    "set_grad_fn_seq_nr",
    "set_stack_trace",
]

GRADIENT_ACC_SPECIAL_STACK = "Gradient addition node due to multiple use of tensor around:"

current_meta: dict[str, Any] = {}
current_replay_node: Node | None = None
should_preserve_node_meta = False
anchors: set[tuple[str, str]] = set()  # (file, function): frames that a shortened trace keeps
_FX_METADATA_REGISTRY: dict[str, dict[str, Any]] = {}  # by the file's name: of what nodes the marks in a trace are


def _register_fx_metadata(filename: str, metadata: dict[str, Any]) -> None:
    """Note of what nodes the marks of a graph module are, for readers of traces."""
    _FX_METADATA_REGISTRY[filename] = metadata


class NodeSourceAction(Enum):
    """What a pass did to a node."""

    CREATE = "create"
    REPLACE = "replace"


class NodeSource:
    """Where a node comes from: the node of an earlier graph, and the pass that made this one of it.

    >>> import wengert as torch
    >>> node = torch.fx.Graph().placeholder("x")
    >>> torch.fx.traceback.NodeSource(node, "copy", torch.fx.traceback.NodeSourceAction.CREATE).name
    'x'
    """

    class NodeInfo:
        """The node's name, its target's text and the ``id`` of its graph."""

        def __init__(self, name: str, target: str, graph_id: int) -> None:
            self.name, self.target, self.graph_id = name, target, graph_id

    def __init__(self, node: Node | None, pass_name: str = "", action: Any = None) -> None:
        self.pass_name = pass_name
        self.action = [] if action is None else action if isinstance(action, list) else [action]
        for a in self.action:
            if not isinstance(a, NodeSourceAction):
                raise AssertionError(f"Expected NodeSourceAction, got {type(a)}")
        self.node_info = self.NodeInfo(node.name, str(node.target), id(node.graph)) if node else None
        self.from_node: list[NodeSource] = copy.deepcopy(node.meta.get("from_node", [])) if node else []

    @property
    def name(self) -> str:
        """The earlier node's name."""
        return self.node_info.name if self.node_info else ""

    @property
    def target(self) -> str:
        """The text of its target."""
        return self.node_info.target if self.node_info else ""

    @property
    def graph_id(self) -> int:
        """The ``id`` of its graph."""
        return self.node_info.graph_id if self.node_info else -1

    def _get_action_string(self) -> str:
        return "+".join([a.name.lower() for a in self.action])

    def print_readable(self, indent: int = 0) -> str:
        """The history as lines of text, each source indented below what was made of it."""
        if indent > 9:
            return ""
        first = (
            f"{'    ' * indent}(name={self.name}, pass_name={self.pass_name}, action={self._get_action_string()}, "
            f"graph_id={self.graph_id})\n"
        )
        return first + "".join([source.print_readable(indent + 1) for source in self.from_node])

    __repr__ = print_readable

    def to_dict(self) -> dict[str, Any]:
        """The history as plain dicts."""
        return {
            "name": self.name, "target": self.target, "graph_id": self.graph_id, "pass_name": self.pass_name,
            "action": self._get_action_string(), "from_node": [source.to_dict() for source in self.from_node],
        }  # fmt: skip

    @classmethod
    def _from_dict(cls, d: dict[str, Any] | None) -> NodeSource | None:
        if d is None:
            return None
        if not isinstance(d, dict):
            raise AssertionError(f"Expected a dict, got {type(d)}")
        names = [name.upper() for name in d.get("action", "").split("+")]
        actions = [NodeSourceAction[name] for name in names if name in NodeSourceAction.__members__]
        source = cls(None, d.get("pass_name", ""), actions)
        if {"name", "target", "graph_id"} <= d.keys():
            source.node_info = cls.NodeInfo(d["name"], d["target"], d["graph_id"])
        made = [cls._from_dict(inner) for inner in d.get("from_node") or []]
        source.from_node = [inner for inner in made if inner is not None]
        return source

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NodeSource) and self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash(self.print_readable())


@contextmanager
def preserve_node_meta(enable: bool = True) -> Iterator[None]:
    """Give new nodes the ``meta`` of the node that is being run: passes keep stack traces."""
    global should_preserve_node_meta, current_meta
    saved = should_preserve_node_meta, current_meta.copy()
    try:
        should_preserve_node_meta = enable
        yield
    finally:
        should_preserve_node_meta, current_meta = saved


def has_preserved_node_meta() -> bool:
    """Whether ``preserve_node_meta`` is on."""
    return should_preserve_node_meta


def get_current_meta() -> dict[str, Any]:
    """What new nodes are given."""
    return current_meta


@contextmanager
def set_current_meta(node: Node, pass_name: str = "") -> Iterator[None]:
    """Inside of ``preserve_node_meta``, give new nodes this node's ``meta``, and note that they come from it."""
    global current_meta
    if not (should_preserve_node_meta and node.meta):
        yield
        return
    saved = current_meta
    try:
        current_meta = {**node.meta, "from_node": [NodeSource(node, pass_name, NodeSourceAction.CREATE)]}
        yield
    finally:
        current_meta = saved


@contextmanager
def set_current_replay_node(node: Node | None) -> Iterator[None]:
    """Note the node that is made again."""
    global current_replay_node
    saved = current_replay_node
    try:
        current_replay_node = node
        yield
    finally:
        current_replay_node = saved


def get_current_replay_node() -> Node | None:
    """The node that is made again, or None."""
    return current_replay_node


@contextmanager
def annotate(annotation_dict: dict[str, Any]) -> Iterator[None]:
    """Give nodes made inside these entries in ``meta["custom"]``.

    >>> import wengert as torch
    >>> with torch.fx.traceback.annotate({"stage": 1}):
    ...     torch.fx.traceback.get_current_meta()["custom"]
    {'stage': 1}
    """
    had = "custom" in current_meta
    old = copy.copy(current_meta.get("custom", {}))
    try:
        current_meta.setdefault("custom", {}).update(annotation_dict)
        yield
    finally:
        if had:
            current_meta["custom"] = old
        else:
            del current_meta["custom"]


def annotate_fn(annotation_dict: dict[str, Any]) -> Callable[[Any], Any]:
    """A decorator: calls of the function are made inside of ``annotate``."""

    def decorate(func: Any) -> Any:
        code = getattr(func, "__code__", None)
        if code is not None:
            anchors.add((code.co_filename, code.co_name))

        @functools.wraps(func)
        def annotated(*args: Any, **kwargs: Any) -> Any:
            with annotate(annotation_dict):
                return func(*args, **kwargs)

        return annotated

    return decorate


def set_stack_trace(stack: list[str]) -> None:
    """Inside of ``preserve_node_meta``, give new nodes this trace."""
    if should_preserve_node_meta:
        if stack:
            current_meta["stack_trace"] = "".join(stack)
        else:
            current_meta.pop("stack_trace", None)


def format_stack() -> list[str]:
    """The trace that new nodes are given; outside of ``preserve_node_meta``, the caller's."""
    if should_preserve_node_meta:
        return [current_meta.get("stack_trace", "")]
    return traceback.format_list(traceback.extract_stack()[:-1])


def set_grad_fn_seq_nr(seq_nr: int) -> None:
    """Note the number of the backward node that is running."""
    if should_preserve_node_meta:
        current_meta["grad_fn_seq_nr"] = [*current_meta.get("grad_fn_seq_nr", []), seq_nr]
        current_meta["in_grad_fn"] = current_meta.get("in_grad_fn", 0) + 1


def reset_grad_fn_seq_nr() -> None:
    """Undo ``set_grad_fn_seq_nr``."""
    if not should_preserve_node_meta:
        return
    level = current_meta.get("in_grad_fn", 0)
    if level <= 0:
        raise AssertionError(f"Expected current_level > 0, got {level}")
    if level == 1:
        del current_meta["in_grad_fn"], current_meta["grad_fn_seq_nr"]
    else:
        current_meta["in_grad_fn"] = level - 1
        current_meta["grad_fn_seq_nr"] = current_meta["grad_fn_seq_nr"][:-1]


def get_graph_provenance_json(graph: Any) -> dict[str, Any]:
    """The sources of each function's node, as plain dicts."""
    return {
        node.name: [source.to_dict() for source in node.meta.get("from_node", [])]
        for node in graph.nodes
        if node.op == "call_function"
    }
