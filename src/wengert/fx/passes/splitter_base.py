"""Dividing a graph between what a backend supports and the rest: the base of splitters.

``FxNetAccNodesFinder`` says which nodes a backend ("acc") takes, ``_SplitterBase`` cuts the graph into as few pieces as
it can, by turns for the backend and for the rest ("cpu"), and makes a submodule of each. PyTorch orders the nodes
of a piece by their addresses; here they are in the graph's order, so a split is always the same.
"""

from __future__ import annotations

import copy
import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from ..._base.grad_mode import no_grad
from ..graph_module import GraphModule
from ..node import Node
from .graph_drawer import FxGraphDrawer
from .graph_manipulation import get_size_of_node
from .operator_support import OperatorSupportBase
from .shape_prop import ShapeProp
from .split_utils import move_non_tensor_nodes_on_boundary, split_by_tags
from .tools_common import (
    CALLABLE_NODE_OPS,
    FxNetAccFusionsFinder,
    NodeList,
    NodeSet,
    get_node_target,
    is_node_output_tensor,
)

__all__ = [
    "FxNetAccNodesFinder",
    "FxNetSplitterInternalError",
    "NodeEvent",
    "NodeEventTracker",
    "SplitResult",
    "Subgraph",
    "generate_inputs_for_submodules",
]

DEFAULT_MIN_ACC_MODULE_SIZE = 1
DEFAULT_SKIP_FUSION = DEFAULT_ALLOW_NON_TENSOR = False
TRACKER_DUMP_PATH, NODES_SUFFIX, ALL_SUFFIX = "_fx_net_tracker", "_nodes.txt", "_all.txt"
ENV_FX_NET_ACC_SPLITTER_TRACKER_MODE = "FX_NET_ACC_SPLITTER_TRACKER_MODE"
ENV_FX_NET_ACC_SPLITTER_TRACKER_DUMP_PATH = "FX_NET_ACC_SPLITTER_TRACKER_DUMP_PATH"
ENV_FX_NET_ACC_SPLITTER_TRACKER_TRACKED_NODES = "FX_NET_ACC_SPLITTER_TRACKER_TRACKED_NODES"
TRACKER_MODE = os.environ.get(ENV_FX_NET_ACC_SPLITTER_TRACKER_MODE, "0")
DUMP_PREFIX = os.environ.get(ENV_FX_NET_ACC_SPLITTER_TRACKER_DUMP_PATH, TRACKER_DUMP_PATH)


@dataclass
class _SplitterSettingBase:
    """What a splitter may do. (PyTorch's also reads the command line of the program.)

    Args:
        min_acc_module_size: smaller pieces are not given to the backend.
        skip_fusion: let nodes that hand each other what is no tensor lie in different pieces.
        allow_non_tensor: let values that are no tensors go to and from the backend.
        max_acc_splits: the largest number of submodules; -1 for any.
        move_non_tensor_nodes_on_boundary: leave values that are no tensors to the piece that uses them.
    """

    min_acc_module_size: int = DEFAULT_MIN_ACC_MODULE_SIZE
    skip_fusion: bool = DEFAULT_SKIP_FUSION
    allow_non_tensor: bool = DEFAULT_ALLOW_NON_TENSOR
    max_acc_splits: int = -1
    move_non_tensor_nodes_on_boundary: bool = False


# ---- which nodes
@dataclass
class NodeEvent:
    """What was decided about a node, as ``kind|reason``, and the node that caused it."""

    source: Node
    desc: str
    dep: Node | None = None

    def to_str(self) -> str:
        """One line; ``#`` where the node itself is the cause."""
        cause = "#" if self.dep is None else self.dep.name
        return f"{self.source.name}: {self.desc} {cause}"


class NodeEventTracker:
    """Keeps what a finder decided.

    Args:
        tracker_mode: 0 writes no file; 1 all events; 2 also those of the nodes that an environment variable names,
            with their causes; 3 also those of nodes with several events.
        dump_prefix: what the names of the files begin with.
    """

    def __init__(self, tracker_mode: int, dump_prefix: str) -> None:
        self.tracker_mode, self.dump_prefix = tracker_mode, dump_prefix
        self.events: list[NodeEvent] = []
        self.node_events: dict[str, list[int]] = {}
        self.writer: Callable[[str], Any] = print

    def add(self, node: Node, desc: str, dep: Node | None = None) -> None:
        """Keep one event."""
        self.node_events.setdefault(node.name, []).append(len(self.events))
        self.events.append(NodeEvent(node, desc, dep))

    def print_node(self, node_name: str, recursive: bool = False, tab: str = "", writer: Any = None) -> None:
        """Write a node's events; ``recursive``: with those of the nodes that caused them."""
        write = writer or self.writer
        for k in self.node_events.get(node_name, ()):
            write(f"{tab}{self.events[k].to_str()}")
            cause = self.events[k].dep
            if recursive and cause is not None:
                self.print_node(cause.name, True, f"| {tab}", write)

    def to_dict(self) -> dict[str, list[str]]:
        """The lines of every node, by its name."""
        return {name: [self.events[k].to_str() for k in places] for name, places in self.node_events.items()}

    def print_all(self, writer: Any = None) -> None:
        """Write the events of all nodes."""
        for name in self.node_events:
            (writer or self.writer)(f"Node: {name}:")
            self.print_node(name, tab="  ", writer=writer)

    def dump(self) -> None:
        """Write the files."""
        if self.tracker_mode < 1:
            return
        with open(self.dump_prefix + ALL_SUFFIX, "w") as file:
            self.print_all(lambda line: file.write(f"{line}\n"))
        if self.tracker_mode not in (2, 3):
            return
        names = [name for name, places in self.node_events.items() if len(places) > 1]
        if self.tracker_mode == 2:
            names = os.environ.get(ENV_FX_NET_ACC_SPLITTER_TRACKER_TRACKED_NODES, "").split(",")
        with open(self.dump_prefix + NODES_SUFFIX, "w") as file:
            for name in names:
                file.write(f"===== Tracking node {name} =====\n")
                self.print_node(name, True, "|-", lambda line: file.write(f"{line}\n"))
                file.write(f"===== End of tracking node {name} =====\n")


class FxNetAccNodesFinder:
    """Finds the nodes that a backend takes: those it supports, less those that give what is no tensor to the rest.

    Args:
        module: a module on which ``ShapeProp`` was run.
        operator_support: what the backend supports.
        allow_non_tensor: take these nodes too.
    """

    def __init__(self, module: GraphModule, operator_support: OperatorSupportBase, allow_non_tensor: bool) -> None:
        self.module, self.operator_support, self.allow_non_tensor = module, operator_support, allow_non_tensor
        self.acc_nodes: NodeSet = set()
        self.tracker = NodeEventTracker(int(TRACKER_MODE), DUMP_PREFIX)

    def reduce_acc_nodes_non_tensor_input_helper(self, cpu_worklist: NodeList) -> None:
        """Give up the users of these nodes, and in turn the users of those whose value is no tensor either."""
        for node in cpu_worklist:  # which grows
            for user in [u for u in node.users if u in self.acc_nodes]:
                self.acc_nodes.discard(user)
                self.tracker.add(user, "acc_del|user_of_new_cpu_node", node)
                if not is_node_output_tensor(user):
                    self.tracker.add(user, "new_cpu_node|non_tensor_output")
                    cpu_worklist.append(user)

    def reduce_acc_nodes_non_tensor_input(self) -> None:
        """Give up what gets a value that is no tensor from the rest."""
        rest = [n for n in self.module.graph.nodes if n.op in CALLABLE_NODE_OPS and n not in self.acc_nodes]
        given = [n for n in rest if not is_node_output_tensor(n)]
        for node in given:
            self.tracker.add(node, "new_cpu_node|callable_non_tensor_input")
        self.reduce_acc_nodes_non_tensor_input_helper(given)

    def reduce_acc_nodes_non_tensor_output(self) -> None:
        """Give up what gives a value that is no tensor to the rest, until nothing does."""
        while True:
            found = []
            for node in [n for n in self.module.graph.nodes if n in self.acc_nodes and not is_node_output_tensor(n)]:
                outside = next((u for u in node.users if u not in self.acc_nodes), None)
                if outside is not None:
                    self.tracker.add(node, "acc_del|non_tensor_output_with_cpu_user", outside)
                    found.append(node)
            if not found:
                return
            self.acc_nodes.difference_update(found)
            self.reduce_acc_nodes_non_tensor_input_helper([*found])

    def __call__(self) -> NodeSet:
        submodules = dict(self.module.named_modules())
        self.acc_nodes = set()
        for node in self.module.graph.nodes:
            if node.op not in CALLABLE_NODE_OPS:
                why = "init_cpu|not_callable"
            elif not self.operator_support.is_node_supported(submodules, node):
                why = "init_cpu|operator_support"
            else:
                why = "init_acc|callable_and_operator_supported"
                self.acc_nodes.add(node)
            self.tracker.add(node, why)
        if not self.allow_non_tensor:
            self.reduce_acc_nodes_non_tensor_input()
            self.reduce_acc_nodes_non_tensor_output()
        self.tracker.dump()
        return self.acc_nodes


# ---- splitting
class FxNetSplitterInternalError(Exception):
    """A graph that could not be split."""


@dataclass
class Subgraph:
    """A piece: its nodes, and whether it is the backend's."""

    is_acc: bool
    nodes: NodeList
    device_ordinal: int | None = None


class SplitResult(NamedTuple):
    """The split module, the inputs of each submodule, and what the names of those for the rest begin with."""

    split_module: GraphModule
    submodule_inputs: dict[str, Any]
    non_acc_submodule_prefix: str


def generate_inputs_for_submodules(
    model: Any, inputs: Sequence[Any], target_submodules: Iterable[str], deepcopy: bool = False
) -> dict[str, Any]:
    """The arguments that each of these submodules gets when the model runs on ``inputs``, by its name."""
    found: dict[str, Any] = {}
    wanted = set(target_submodules)

    def keep(name: str) -> Any:
        return lambda module, given: found.__setitem__(name, copy.deepcopy(given) if deepcopy else given)

    handles = [m.register_forward_pre_hook(keep(name)) for name, m in model.named_modules() if name in wanted]
    try:
        with no_grad():
            model(*inputs)
    finally:
        for handle in handles:
            handle.remove()
    return found


class _SplitterBase:
    """Cuts a module into submodules ``_run_on_acc_0``, ``_run_on_cpu_1``, ..., by turns.

    Args:
        module: what ``symbolic_trace`` gave.
        sample_input: its arguments; the module is run on them.
        operator_support: what the backend supports.
        settings: what may be done.
        non_acc_submodule_name: what the names of the rest's submodules begin with.
        return_tuple: let submodules with one result give a tuple.
        nodes_finder: finds the backend's nodes.
    """

    PCIe_BW = 100 * 2**30  # bytes a second to and from the backend, for ``split_preview``

    def __init__(
        self,
        module: GraphModule,
        sample_input: Sequence[Any],
        operator_support: OperatorSupportBase,
        settings: _SplitterSettingBase,
        non_acc_submodule_name: str = "_run_on_cpu_",
        return_tuple: bool = False,
        nodes_finder: FxNetAccNodesFinder | None = None,
    ) -> None:
        if not isinstance(module, GraphModule):
            raise AssertionError(f"Expected GraphModule, got {type(module)}")
        self.module, self.sample_input, self.operator_support = module, sample_input, operator_support
        self.settings, self.non_acc_submodule_name, self._return_tuple = settings, non_acc_submodule_name, return_tuple
        ShapeProp(module).propagate(*sample_input)
        finder = nodes_finder or FxNetAccNodesFinder(module, operator_support, settings.allow_non_tensor)
        self.acc_nodes = finder()
        self.fusions = {} if settings.skip_fusion else FxNetAccFusionsFinder(module, self.acc_nodes)()
        self.deps = self.find_deps()
        self.update_deps_for_fusions()
        self.tags: list[str] = []
        self._node_submodule_map: dict[str, str] = {}

    def get_node_submodule_map(self) -> dict[str, str]:
        """The submodule of each node, by its name."""
        return self._node_submodule_map

    def find_deps(self) -> dict[Node, NodeSet]:
        """The nodes that each node uses directly."""
        found: dict[Node, NodeSet] = defaultdict(set)
        for node in self._calls():
            found[node] = {n for n in node.all_input_nodes if n.op in CALLABLE_NODE_OPS}
        return found

    def update_deps_for_fusions(self) -> None:
        """Let every node of a group wait for what any of them uses."""
        for node, group in self.fusions.items():
            for other in group:
                self.deps[node] |= self.deps[other] - group
                for user in other.users:
                    if user not in group:
                        self.deps[user].add(node)

    def _calls(self) -> NodeList:
        return [n for n in self.module.graph.nodes if n.op in CALLABLE_NODE_OPS]

    def starter_nodes(self) -> tuple[NodeSet, NodeSet]:
        """The rest's nodes and the backend's that use no other node's result, or an input or attribute."""
        uses = {n: n.all_input_nodes for n in self._calls()}
        found = {
            n
            for n, given in uses.items()
            if any(m.op in ("placeholder", "get_attr") for m in given) or (not given and n.op == "call_function")
        }
        return found - self.acc_nodes, found & self.acc_nodes

    def put_nodes_into_subgraphs(self) -> list[Subgraph]:
        """The pieces, in the order in which they run."""
        left = self._calls()
        done: NodeSet = set()
        is_acc = not any(n not in self.acc_nodes and not self.deps[n] for n in left)
        pieces: list[Subgraph] = []
        while left:
            piece: NodeList = []
            while True:
                ready = next((n for n in left if (n in self.acc_nodes) is is_acc and self.deps[n] <= done), None)
                if ready is None:
                    break
                left.remove(ready)
                done.add(ready)
                piece.append(ready)
            if not piece:
                raise FxNetSplitterInternalError("Subgraph can't be empty")
            pieces.append(Subgraph(is_acc, piece))
            is_acc = not is_acc
        if not pieces:
            raise FxNetSplitterInternalError("Couldn't create subgraphs")
        return pieces

    def remove_small_acc_subgraphs(self, subgraphs: list[Subgraph]) -> list[Subgraph]:
        """Join the backend's pieces that are too small with those before them."""
        kept: list[Subgraph] = []
        least = self.settings.min_acc_module_size
        for piece in subgraphs:
            small = piece.is_acc and len(piece.nodes) < least
            if small:
                print(f"Eliminating acc subgraph because it's smaller than the threshold: {len(piece.nodes)} < {least}")  # noqa: T201  what programs read
                piece.is_acc = False
            if kept and not piece.is_acc and (small or not kept[-1].is_acc):
                kept[-1].nodes.extend(piece.nodes)
            else:
                kept.append(piece)
        return kept

    def tag(self, subgraphs: list[Subgraph]) -> None:
        """Name the pieces, and write each name into its nodes."""
        self.tags = []
        for k, piece in enumerate(subgraphs):
            name = f"{'_run_on_acc_' if piece.is_acc else self.non_acc_submodule_name}{k}"
            self.tags.append(name)
            for node in piece.nodes:
                if hasattr(node, "tag"):
                    raise FxNetSplitterInternalError(f"Node {node} was already tagged")
                node.tag = self._node_submodule_map[node.name] = name

    def split(self, remove_tag: bool = False) -> GraphModule:
        """Make submodules of the named pieces."""
        made: Any = split_by_tags(self.module, self.tags, return_tuple=self._return_tuple)
        if remove_tag:
            for node in self.module.graph.nodes:
                vars(node).pop("tag", None)
        return made  # type: ignore[no-any-return]

    def __call__(self) -> GraphModule:
        pieces = self.put_nodes_into_subgraphs()
        if self.settings.move_non_tensor_nodes_on_boundary:
            move_non_tensor_nodes_on_boundary(pieces)
        pieces = self.remove_small_acc_subgraphs(pieces)
        print("Got {} acc subgraphs and {} non-acc subgraphs".format(*_counts(pieces)))  # noqa: T201  what programs read
        self.tag(pieces)
        return self.split()

    def generate_split_results(self) -> SplitResult:
        """The split module with the inputs of its submodules; raises ValueError if there are too many."""
        made = self()
        names = [name for name, _ in made.named_children()]
        if 0 < self.settings.max_acc_splits < len(names):
            raise ValueError(
                "Cannot fulfill max_acc_splits limit. This may cause split fragmentation and result in performance "
                "issues."
            )
        inputs = generate_inputs_for_submodules(made, self.sample_input, names)
        return SplitResult(made, inputs, self.non_acc_submodule_name)

    # ---- reports
    def _lower_model_to_backend(self, mod: GraphModule, inputs: Any) -> Any:
        """What the backend makes of a submodule: a splitter's own."""
        return mod

    def _find_culprit(self, mod: GraphModule, inputs: Any) -> str:
        """What a report says where a submodule fails: a splitter's own."""
        return "Unable to find a culprit because _find_culprit() function is not implemented."

    def node_support_preview(self, dump_graph: bool = False) -> str:
        """Print and return which calls are supported, with their dtypes; ``dump_graph`` writes a picture of them."""
        submodules = dict(self.module.named_modules())
        lines: dict[bool, dict[str, None]] = {True: {}, False: {}}
        colours: dict[Node, str] = {}
        for node in self._calls():
            dtypes = [_dtype(a) for a in node.args]
            while dtypes and dtypes[-1] is None:
                dtypes.pop()
            named = {k: _dtype(a) for k, a in node.kwargs.items() if isinstance(a, Node)}
            supported = self.operator_support.is_node_supported(submodules, node)
            lines[supported][f"{get_node_target(submodules, node)}: ({tuple(dtypes)}, {named})\n"] = None
            colours[node] = "chartreuse1" if supported else "crimson"
        if dump_graph:
            drawing = FxGraphDrawer(self.module, "node_support", ignore_getattr=True).get_main_dot_graph()
            drawing.colours = {n: colours.get(n, "AliceBlue") for n in drawing.nodes}
            drawing.write_raw("node_support.dot")
        report = "".join(
            f"\n{word} node types in the model:\n{''.join(lines[word == 'Supported'])}"
            for word in ("Supported", "Unsupported")
        )
        print(report)  # noqa: T201  what programs read
        return report

    def split_preview(self, dump_graph: bool = False) -> str:
        """Print and return the pieces, and the bytes that go into and out of the backend's.

        ``dump_graph`` writes a picture of each, ``preview.dot`` and its like.
        """
        pieces, report = self.put_nodes_into_subgraphs(), ""
        for when in ("Before", "After"):
            if when == "After":
                pieces = self.remove_small_acc_subgraphs(pieces)
            report += f"{when} removing small acc subgraphs, total {len(pieces)} subgraphs are created: "
            report += "{} acc subgraphs and {} cpu subgraphs.\n".format(*_counts(pieces))
        self.tag(pieces)
        report += "".join(f"{name}: {len(p.nodes)} node(s)\n" for name, p in zip(self.tags, pieces, strict=True))
        made = self.split(remove_tag=True)
        if dump_graph:
            for name, drawing in FxGraphDrawer(made, "preview", ignore_getattr=True).get_all_dot_graphs().items():
                drawing.write_raw(f"{name}.dot")
        taken = [name for name, piece in zip(self.tags, pieces, strict=True) if piece.is_acc]
        inputs = generate_inputs_for_submodules(made, self.sample_input, taken)
        most, slowest = float(self.PCIe_BW), ""
        for name in taken:
            rate, text = self._rate(name, getattr(made, name), inputs[name])
            report += text
            if rate < most:
                most, slowest = rate, name
        report += f"\nTheoretical max qps (bounds by PCIe bandwidth) for this model is {most},"
        report += f" bottleneck is submodule {slowest}."
        print(report)  # noqa: T201  what programs read
        return report

    def _rate(self, name: str, submodule: GraphModule, inputs: Any) -> tuple[float, str]:
        """How often a second a submodule's values can be sent, and what the report says of it."""
        text = f"\nProcessing acc submodule {name}\n"
        ShapeProp(submodule).propagate(*inputs)
        nodes = list(submodule.graph.nodes)
        sizes = {}
        for kind, found in (
            ("Input", [n for n in nodes if n.op == "placeholder"]),
            ("Output", nodes[-1].all_input_nodes),
        ):
            text += f"Checking {kind.lower()}s...\n"
            sizes[kind] = 0
            for n in found:
                if is_node_output_tensor(n):
                    sizes[kind] += get_size_of_node(submodule, n)[0]
                else:
                    text += f"{kind} {n.name} is not a tensor, this might cause problems during lowering!\n"
        rate = self.PCIe_BW / max(1, *sizes.values())
        text += f"Total input size in bytes is {sizes['Input']}, total output size in bytes is {sizes['Output']},"
        text += f" theoretical max qps (bounds by PCIe bandwidth) for this submodule is {rate}.\n"
        during = "lowering"
        try:
            lowered = self._lower_model_to_backend(submodule, inputs)
            during = "inference"
            lowered(*inputs)
        except RuntimeError:
            return rate, f"{text}Run into an error during {during}!\n{self._find_culprit(submodule, inputs)}"
        return rate, f"{text}Lowering and running succeed!\n"


def _counts(pieces: list[Subgraph]) -> tuple[int, int]:
    """How many pieces are the backend's and how many are not."""
    taken = sum(piece.is_acc for piece in pieces)
    return taken, len(pieces) - taken


def _dtype(a: Any) -> Any:
    return getattr(a.meta.get("tensor_meta"), "dtype", None) if isinstance(a, Node) else None
