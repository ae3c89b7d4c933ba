"""Finding the nodes of a graph whose values two ways to run it disagree on: the base of minimizers.

A minimizer cuts chosen nodes out as a submodule, runs it by ``run_a`` and by ``run_b``, which a subclass has, and gives
both results to ``compare_fn``. The setting ``traverse_method`` says which nodes are tried, in which order.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..graph_module import GraphModule
from ..node import Node, map_arg
from .shape_prop import ShapeProp
from .split_utils import split_by_tags
from .splitter_base import generate_inputs_for_submodules
from .tools_common import CALLABLE_NODE_OPS, FxNetAccFusionsFinder, Names, NodeList, NodeSet

__all__ = ["FxNetMinimizerBadModuleError", "FxNetMinimizerResultMismatchError", "FxNetMinimizerRunFuncError"]


class FxNetMinimizerBadModuleError(Exception):
    """The chosen nodes could not be cut out as one submodule."""


class FxNetMinimizerRunFuncError(Exception):
    """``run_a`` or ``run_b`` raised an error."""


class FxNetMinimizerResultMismatchError(Exception):
    """``compare_fn`` says that the results differ."""


_FAILED = (FxNetMinimizerResultMismatchError, FxNetMinimizerRunFuncError)


@dataclass
class _MinimizerSettingBase:
    """How a minimizer searches.

    Args:
        accumulate_error: give ``run_b`` what it computed itself before, not what ``run_a`` did.
        traverse_method: ``"sequential"`` (each node), ``"binary"`` (halves), ``"block"`` (the smallest run of nodes),
            ``"accumulate"`` (from the first node on), ``"skip"`` (runs between given nodes) or ``"defined"`` (all).
        find_all: go on after the first node that is found.
        return_intermediate: let ``run_nodes`` compare every node.
        all_outputs: compare all results of a submodule.
    """

    accumulate_error: bool = False
    traverse_method: str = "sequential"
    find_all: bool = False
    return_intermediate: bool = False
    all_outputs: bool = False

    def __str__(self) -> str:
        return "".join(["FX Minimizer Settings:\n", *[f"\t{k}: {v}\n" for k, v in vars(self).items()]])


class _MinimizerBase:
    """Finds the nodes on which ``run_a`` and ``run_b`` disagree.

    Args:
        module: what ``symbolic_trace`` gave.
        sample_input: its arguments.
        compare_fn: gets both results and the nodes' names; returns a number for the report, and whether they agree.
        settings: how to search.
        module_exporter: is given a submodule that fails with its arguments, once for each way, and a name.
        exclusion_fn: takes nodes that should not be tried out of a list of nodes.
    """

    def __init__(
        self,
        module: GraphModule,
        sample_input: Any,
        compare_fn: Callable[[Any, Any, Names], tuple[float, bool]],
        settings: _MinimizerSettingBase,
        module_exporter: Callable[[Any, GraphModule, str], None] | None = None,
        exclusion_fn: Callable[[NodeList, int, int], None] | None = None,
    ) -> None:
        if not isinstance(module, GraphModule):
            raise AssertionError(f"Expected GraphModule, got {type(module)}")
        self.module, self.sample_input, self.compare_fn, self.settings = module, sample_input, compare_fn, settings
        self.module_exporter, self.exclusion_fn = module_exporter, exclusion_fn
        self.results: dict[Any, Any] = {}
        self.reports: list[list[str]] = []
        self.iteration = 0
        self.run_shape_prop()
        self.fusions = FxNetAccFusionsFinder(module, set(self._collect_nodes(None, None)))()
        names = [n.name for n in module.graph.nodes if n.op == "placeholder"]
        if len(names) != len(sample_input):
            raise AssertionError(
                f"Placeholder count ({len(names)}) does not match sample_input count ({len(sample_input)})"
            )
        self.a_outputs: dict[str, Any] = dict(zip(names, sample_input, strict=True))
        self.b_outputs = dict(self.a_outputs)

    def run_shape_prop(self) -> None:
        """Note the shapes of all values."""
        ShapeProp(self.module).propagate(*self.sample_input)

    def run_a(self, mod: GraphModule, inputs: Any, report_idx: int = -1) -> Any:
        """Run a submodule in the first way: a subclass has it."""
        raise RuntimeError("run_a() is not implemented.")

    def run_b(self, mod: GraphModule, inputs: Any, report_idx: int = -1) -> Any:
        """Run a submodule in the second way: a subclass has it."""
        raise RuntimeError("run_b() is not implemented.")

    # ---- one trial
    def _tag_nodes(self, selected_nodes: NodeSet) -> None:
        """Write into each node whether it is chosen, before what is chosen, or uses it."""
        for node in self._collect_nodes(None, None):
            uses = [n.tag for n in node.all_input_nodes if n.op in CALLABLE_NODE_OPS]
            after = "main_0" if all(tag == "main_0" for tag in uses) else "main_1"
            node.tag = "minimize" if node in selected_nodes else after

    def _build_submodule(self, nodes: NodeSet) -> tuple[GraphModule, str]:
        """The module with these nodes as a submodule, and the submodule's name."""
        self._tag_nodes(nodes)
        made: Any = split_by_tags(self.module, ["main_0", "minimize", "main_1"])
        found = [name for name, _ in made.named_children() if "minimize" in name]
        if len(found) > 1:
            raise FxNetMinimizerBadModuleError(f"Expected only one minimize submodule with nodes {nodes}")
        if not found:
            raise FxNetMinimizerBadModuleError(f"Minimize submodule was not found with nodes {nodes}")
        return made, found[0]

    def _get_submod_inputs(self, main_module: GraphModule, submod_path: str) -> tuple[Any, Any]:
        """The arguments of a submodule in both ways: those that were computed before, if all of them were."""
        nodes = getattr(main_module, submod_path).graph.nodes
        names = [n.name for n in nodes if n.op == "placeholder"]
        if self.a_outputs.keys() >= set(names):
            a, b = ([known[name] for name in names] for known in (self.a_outputs, self.b_outputs))
        else:
            if self.settings.accumulate_error:
                print(f"Can't find previous stored outputs named {names}!")  # noqa: T201  what programs read
            a = b = generate_inputs_for_submodules(main_module, self.sample_input, [submod_path])[submod_path]
        return a, b if self.settings.accumulate_error else a

    def _store_outputs(self, a_result: Any, b_result: Any, submodule: GraphModule) -> None:
        """Keep what a submodule gave, by the names of its nodes."""
        given = next(n for n in submodule.graph.nodes if n.op == "output").args[0]
        for known, result in ((self.a_outputs, a_result), (self.b_outputs, b_result)):
            if isinstance(given, Node):
                known[given.name] = result
            else:
                known.update((n.name, value) for n, value in zip(given, result, strict=False))

    def _run_and_compare(
        self, split_module: GraphModule, submod_name: str, output_names: Names, report_idx: int = -1
    ) -> None:
        """Run a submodule in both ways; raises an error if one of them fails or the results differ."""
        submodule = getattr(split_module, submod_name)
        a_input, b_input = self._get_submod_inputs(split_module, submod_name)
        if not self.reports:
            self.reports, self.iteration = [[]], 1
        report = self.reports[report_idx if report_idx >= 0 else self.iteration - 1]
        report.append("Run and compare ...")
        if output_names and not self.settings.all_outputs:
            self._give(submodule, output_names)
        key = map_arg(next(n for n in submodule.graph.nodes if n.op == "output").args, lambda n: n.name)
        try:
            a_result = self.run_a(submodule, a_input, report_idx)
            b_result = self.run_b(submodule, b_input, report_idx)
            self._store_outputs(a_result, b_result, submodule)
        except Exception as error:  # noqa: BLE001  of the program's functions
            report.append(f"Exception raised when running {submod_name}: {error}")
            raise FxNetMinimizerRunFuncError(report[-1]) from None
        names = [str(k) for k in key] if output_names is None else output_names
        self.results[key], same = self.compare_fn(a_result, b_result, names)
        report.append(f"Numerical accuracy = {self.results[key]}")
        if not same:
            report.append(f"Result mismatch for {key}")
            if self.module_exporter is not None:
                name = key[-1] if isinstance(key, tuple) else key
                name = str(name[0]) if isinstance(name, tuple) else name
                self.module_exporter(a_input, submodule, f"{name}_cpu")
                self.module_exporter(b_input, submodule, f"{name}_acc")
            raise FxNetMinimizerResultMismatchError(f"Result mismatch for {key}")

    @staticmethod
    def _give(submodule: GraphModule, names: Names) -> None:
        """Let a submodule return the values of these nodes."""
        graph = submodule.graph
        nodes = list(graph.nodes)
        graph.erase_node(nodes[-1])
        wanted = [n for n in nodes[:-1] if n.name in names]
        graph.output(wanted[0] if len(wanted) == 1 else tuple(wanted))
        graph.lint()
        submodule.recompile()

    def _fails(self, nodes: NodeList | NodeSet, outputs: Names, report: list[str]) -> Exception | None:
        """Try these nodes as one submodule: the error, if there is one."""
        self.iteration += 1
        self.reports.append(report)
        try:
            self._run_and_compare(*self._build_submodule(set(nodes)), outputs)
        except _FAILED as error:
            report.append(f"Found culprit from {'run' if isinstance(error, _FAILED[1]) else 'numeric'} error: {nodes}")
            return error
        else:
            report.append("No discrepancy found.")
            return None
        finally:
            self.print_report(report)

    def _wanted(self, nodes: NodeList, start: int = -1, end: int = -1) -> NodeList:
        """The nodes that the program did not exclude."""
        kept = [*nodes]
        if self.exclusion_fn is not None:
            self.exclusion_fn(kept, start, end)
            if not kept:
                self.reports.append(["All nodes are excluded by user"])
        return kept

    # ---- searches
    def _binary_search_impl(self, all_nodes: NodeList, start_idx: int, end_idx: int) -> NodeSet:
        nodes = self._wanted(all_nodes[start_idx:end_idx], start_idx, end_idx)
        report = [f"Binary search: nodes {start_idx} to {end_idx - 1}, {len(nodes)} of them"]
        if not nodes or self._fails(nodes, [nodes[-1].name], report) is None:
            return set()
        if len(nodes) == 1:
            return set(nodes)
        middle = start_idx + len(nodes) // 2
        found = self._binary_search_impl(all_nodes, start_idx, middle)
        if found and not self.settings.find_all:
            return found
        return found | self._binary_search_impl(all_nodes, middle, end_idx)

    def _binary_traverse(self, nodes: NodeList) -> NodeSet:
        """Halve the nodes as long as a half fails."""
        return self._binary_search_impl(nodes, 0, len(nodes))

    def _sequential_traverse(self, nodes: NodeList) -> NodeSet:
        """Try each node, with those that cannot be parted from it."""
        found: NodeSet = set()
        for node in nodes:
            if not self._wanted([node]):
                if self.settings.find_all:
                    continue
                break
            together = self.fusions.get(node, {node})
            error = self._fails(together, [node.name], [f"Sequential traverse: node {node.name}"])
            if error is not None:
                found |= together if isinstance(error, FxNetMinimizerRunFuncError) else {node}
                if not self.settings.find_all:
                    break
        return found

    def _accumulate_traverse(self, nodes: NodeList) -> NodeSet:
        """Try more and more nodes, from the first one on."""
        if self.settings.find_all:
            print("'Find All' mode is not supported in accumulate traversal.")  # noqa: T201  what programs read
            return set()
        for k, node in enumerate(nodes, 1):
            if self._fails(nodes[:k], [node.name], [f"Accumulate traverse: with node {node.name}"]) is not None:
                return {node}
        return set()

    def _defined_traverse(self, nodes: NodeList) -> NodeSet:
        """Try all nodes at once; the report says how it went."""
        kept = self._wanted(nodes)
        if kept:
            self._fails(kept, [kept[-1].name], [f"Defined graph from {kept[0].name} to {kept[-1].name}"])
        return set()

    def _skip_traverse(self, all_nodes: NodeList, skip_nodes: list[str]) -> NodeSet:
        """Try the runs of nodes between those to skip; the last one that was tried is the result."""
        found: NodeSet = set()
        run: NodeList = []
        for node in [*all_nodes, None]:
            if node is not None and node.name not in skip_nodes:
                run.append(node)
            elif run:
                kept = self._wanted(run)
                if self.exclusion_fn is None:
                    kept = [*dict.fromkeys(n for k in kept for n in (k, *self.fusions.get(k, ())))]
                failed = kept and self._fails(kept, [], [f"Nodes {run[0].name} to {run[-1].name}"]) is not None
                found, run = set(kept) if failed else set(), []
        return found

    def _block_traverse(self, nodes: NodeList, find_last_node: bool | None) -> NodeSet:
        """The smallest run of nodes that fails: its end by halving, then its start."""
        first, last = 0, len(nodes) - 1
        if find_last_node is not False:
            end = self._bound(nodes, len(nodes) - 1, True)
            if end is None:
                return set()
            last = end
        if not find_last_node:
            start = self._bound(nodes, last or len(nodes) - 1, False)
            if start is None:
                return set()
            first = start
        return set(nodes[first : last + 1])

    def _bound(self, nodes: NodeList, high: int, last: bool) -> int | None:
        """The place up to ``high`` of the last node that is needed to fail, or of the first one; None without one."""
        low, which = 0, "last" if last else "first"
        while True:
            middle = (low + high) // 2
            part = self._wanted(nodes[: middle + 1] if last else nodes[middle:])
            what = [f"Search for {which} node in culprits: from {part[0].name} to {part[-1].name}"]
            failed = self._fails(part, [part[-1].name], what) is not None
            if low == high:
                if failed:
                    return low
                return None if low == (len(nodes) - 1 if last else 0) else low + (1 if last else -1)
            if failed is last:
                high = middle
            else:
                low = middle + 1

    def _collect_nodes(self, start: str | None, end: str | None) -> NodeList:
        """The calls from one node to another one, by their names."""
        nodes = [n for n in self.module.graph.nodes if n.op in CALLABLE_NODE_OPS]
        names = [n.name for n in nodes]
        first = 0 if start is None else names.index(start) if start in names else len(names)
        return nodes[first : names.index(end) + 1 if end in names else None]

    # ---- what programs call
    def run_nodes(self, start: str | None = None, end: str | None = None) -> None:
        """Try the nodes from ``start`` to ``end``, and print the error if there is one."""
        nodes = self._collect_nodes(start, end)
        chosen = {n for node in nodes for n in (node, *self.fusions.get(node, ()))}
        names = [n.name for n in nodes] if self.settings.return_intermediate else []
        try:
            self._run_and_compare(*self._build_submodule(chosen), names)
        except _FAILED as error:
            print(error)  # noqa: T201  what programs read

    def print_report(self, report: list[str]) -> None:
        """Print one report."""
        print("\n . ".join(report))  # noqa: T201  what programs read

    def print_reports(self) -> None:
        """Print all reports."""
        for report in self.reports:
            self.print_report(report)

    def minimize(
        self,
        start: str | None = None,
        end: str | None = None,
        skip_nodes: list[str] | None = None,
        find_last_node: bool | None = None,
    ) -> NodeSet:
        """The nodes between ``start`` and ``end`` on which both ways disagree.

        Args:
            skip_nodes: for ``"skip"``, the names of the nodes to leave out.
            find_last_node: for ``"block"``, whether to look for the last node only, or for the first one only.
        """
        print(self.settings)  # noqa: T201  what programs read
        print(self.module.graph)  # noqa: T201  what programs read
        nodes, method = self._collect_nodes(start, end), self.settings.traverse_method
        if method == "skip":
            if skip_nodes is None:
                raise RuntimeError("'skip_nodes' can't be None when 'traverse_method' is 'skip'.")
            return self._skip_traverse(nodes, skip_nodes)
        if method == "block":
            return self._block_traverse(nodes, find_last_node)
        if method not in ("sequential", "binary", "accumulate", "defined"):
            raise RuntimeError(f"Unknown traverse method {method}!")
        found: NodeSet = getattr(self, f"_{method}_traverse")(nodes)
        return found
