"""``torch.export.export``: from a module and examples to an ``ExportedProgram``."""

from __future__ import annotations

import inspect
import itertools
import re
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from copy import copy
from typing import Any, NamedTuple

import wengert as torch

from .._base.errors import noted, warn
from ..fx._codegen import last_line_of
from ..fx.experimental._symbols import Known, Number, SizeName
from ..fx.graph import Graph
from ..fx.node import Node
from ..nn.modules.module import Module
from ..utils import _pytree as pytree
from ._compared import plain
from ._numbers import write_numbers
from ._recording import Recorder
from .dynamic_shapes import DynamicSize, ValueRanges, dynamic_sizes, named_arguments
from .exported_program import ExportedProgram, placeholder
from .graph_signature import (
    ConstantArgument,
    ExportGraphSignature,
    InputKind,
    InputSpec,
    OutputKind,
    OutputSpec,
    SymBoolArgument,
    SymFloatArgument,
    SymIntArgument,
    TensorArgument,
)

Tensor = torch.Tensor
_NUMBERS: dict[str, Any] = {"int": SymIntArgument, "float": SymFloatArgument, "bool": SymBoolArgument}


class Trace(NamedTuple):
    """One run of a module: its graph, what its inputs and outputs are, and its result."""

    graph: Graph
    signature: ExportGraphSignature
    constants: dict[str, Any]
    out_spec: Any
    outputs: list[Any]
    inputs: list[Any]
    ranges: dict[Any, Any]
    root: Module
    compared: list[Number] = []  # comparisons of sizes, which hold in this run


def export(
    mod: Module, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None, *, dynamic_shapes: Any = None,
    strict: bool = False, preserve_module_call_signature: tuple[str, ...] = (),
    prefer_deferred_runtime_asserts_over_guards: bool = False,
) -> ExportedProgram:  # fmt: skip
    """Run a module on examples and give what it does as a graph of PyTorch's operators.

    The graph has the examples' shapes and types, and the branches that they take; numbers that depend on what tensors
    hold are computed when it runs (``u0``). A size in ``dynamic_shapes`` may differ: the module is then run on some
    other sizes too, and the graph must compute the same results.

    Args:
        mod: the module.
        args: example inputs, a tuple. Tensors and what ``torch.utils._pytree`` knows.
        kwargs: example inputs by keyword.
        dynamic_shapes: for each input, by its name or in order, a dict ``{dim: Dim}``, a tuple of a ``Dim`` or None
            for each dim, or None; nested as the inputs are.
        strict: accepted; there is one way of tracing.

    Raises:
        ValueError: ``mod`` is not a module.
        GuardOnDataDependentSymNode: the module needs a number out of a tensor at once, as to branch by.
        UserError: the arguments fit neither each other nor the module, or a size is not dynamic.

    >>> import wengert as torch
    >>> program = torch.export.export(torch.nn.Linear(3, 2), (torch.ones(4, 3),))
    >>> for node in program.graph.nodes:
    ...     print(node.name, node.target, node.args)
    p_weight p_weight ()
    p_bias p_bias ()
    input input ()
    linear aten.linear.default (input, p_weight, p_bias)
    output output ((linear,),)
    """
    if not isinstance(mod, Module):
        raise ValueError(f"Expected `mod` to be an instance of `torch.nn.Module`, got {type(mod)}.")
    if not isinstance(args, tuple):
        raise user_error(
            "INVALID_INPUT", f"Expecting `args` to be a tuple of example positional inputs, got {type(args)}"
        )
    return exported(mod, args, dict(kwargs or {}), None, dynamic_shapes)


def exported(
    mod: Module,
    args: Any,
    kwargs: dict[str, Any],
    on_value: Callable[[str, Tensor], None] | None,
    dynamic_shapes: Any = None,
) -> ExportedProgram:
    """``export``; ``on_value`` is called where the module takes a number out of a tensor, a constant of the graph."""
    leaves, in_spec = pytree.tree_flatten((args, kwargs))
    found, known = dynamic_sizes(mod, args, kwargs, leaves, dynamic_shapes)
    ranges: dict[Any, Any] = {}
    if found:
        from ._dynamic import traced_with_sizes

        trace, found, ranges = traced_with_sizes(mod, leaves, in_spec, found, known)
    else:
        trace = traced(mod, leaves, in_spec, on_value)
    kept = mod.state_dict(keep_vars=True)
    state = {name: kept[name] for name, _ in mod.named_parameters(remove_duplicate=False) if name in kept} | kept
    constants = trace.constants | {name: b for name, b in mod.named_buffers() if name not in state}
    return ExportedProgram(
        trace.graph, trace.signature, state, constants, in_spec, trace.out_spec, ranges | trace.ranges,
        (args, kwargs), type(mod).__name__, _dynamic_places(found), _names_of_arguments(mod, args),
        [name for name, _ in mod.named_modules(remove_duplicate=False) if name], trace.root,
    )  # fmt: skip


def _names_of_arguments(mod: Module, args: Any) -> list[str]:
    """The parameters of a module's ``forward`` that get the positional arguments; none where it takes any number."""
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    names = [p.name for p in inspect.signature(mod.forward).parameters.values() if p.kind in kinds]
    return names[: len(args)]


def _dynamic_places(found: list[DynamicSize]) -> dict[tuple[int, int], SizeName]:
    return {(size.leaf, size.dim): size.text for size in found}


def user_error(kind: str, message: str, *notes: str) -> Exception:
    """The error of a program that cannot be exported as it is."""
    from .._dynamo.exc import UserError, UserErrorType

    return noted(UserError(UserErrorType[kind], message), *notes)


# ---- one run
def traced(
    mod: Module, leaves: list[Any], in_spec: Any, on_value: Callable[[str, Tensor], None] | None,
    differing: Collection[tuple[int, int]] = (),
) -> Trace:  # fmt: skip
    """Run a module on these inputs; ``differing``: which of their sizes may be others, by leaf and dim."""
    recorder = Recorder(on_value, not differing)
    specs: list[InputSpec] = []
    held: dict[int, str] = {}
    args, kwargs = pytree.tree_unflatten(leaves, in_spec)
    names: list[str] = []
    for name in _leaf_names(mod, args, kwargs):
        names.append(_distinct(name, names))
    for kind, prefix, pairs in (
        (InputKind.PARAMETER, "p", mod.named_parameters(remove_duplicate=False)),
        (InputKind.BUFFER, "b", mod.named_buffers(remove_duplicate=False)),
    ):  # fmt: skip
        for target, tensor in pairs:
            name = f"{prefix}_{_identifier(target.removeprefix('self_'))}"
            node = recorder.graph.placeholder(_distinct(name, names))
            persistent = _is_persistent(mod, target) if kind is InputKind.BUFFER else None
            specs.append(InputSpec(kind, TensorArgument(node.name), target, persistent))
            recorder.note(tensor, node)
            held[id(tensor)] = target
    inputs: list[Any] = []
    copies: dict[int, Tensor] = {}
    before = len(specs)
    for name, leaf in zip(names, leaves, strict=True):
        node = placeholder(recorder.graph, name)
        if isinstance(leaf, Tensor):
            leaf = _input_copies(leaf, copies)
            recorder.note(leaf, node)
            if recorder.compared is not None:
                recorder.compared.static |= {(node, d) for d in range(leaf.ndim) if (len(inputs), d) not in differing}
            argument: Any = TensorArgument(node.name)
        else:
            node.meta["val"] = leaf
            argument = ConstantArgument(node.name, leaf)
        specs.append(InputSpec(InputKind.USER_INPUT, argument, None))
        inputs.append(leaf)
    args, kwargs = pytree.tree_unflatten(inputs, in_spec)
    grad = torch.is_grad_enabled()
    with _kept(mod) as assigned, recorder.recording(mod):
        result = mod(*args, **kwargs)
    outputs, out_spec = pytree.tree_flatten(result)
    outputs = [plain(leaf) for leaf in outputs]
    _restore_grad_mode(recorder, grad)
    returned = []
    for leaf in outputs:
        if isinstance(leaf, Tensor):
            node = recorder.node_of(leaf)
            returned.append(OutputSpec(OutputKind.USER_OUTPUT, TensorArgument(node.name)))
        elif isinstance(leaf, Number):
            node = recorder.create_arg(leaf)
            argument = ConstantArgument("", node)
            if isinstance(node, Node):
                argument = _NUMBERS[leaf.symbolic](node.name)
            returned.append(OutputSpec(OutputKind.USER_OUTPUT, argument))
        elif leaf is None or isinstance(leaf, (bool, int, float, str)):
            returned.append(OutputSpec(OutputKind.USER_OUTPUT, ConstantArgument("", leaf)))
        else:
            raise user_error("INVALID_OUTPUT", f"the module returns a {type(leaf).__name__}, which no graph can hold")
    for old, new in assigned:
        write = (recorder.node_of(old), recorder.node_of(new))
        recorder.create_node("call_function", torch.ops.aten.copy_.default, write, {}, name="copy__default")
    output = recorder.graph.output(tuple([recorder.create_arg(x) for x in outputs]))
    if recorder.unbacked is not None:
        write_numbers(recorder.unbacked)
        for spec, node in zip(returned, output.args[0], strict=True):
            if isinstance(node, Node):
                spec.arg.name = node.name
    constants = _lift(recorder, mod, specs, before)
    ranges = {} if recorder.unbacked is None else _ranges(recorder.unbacked.known)
    return Trace(
        recorder.graph, ExportGraphSignature(specs, returned), constants, out_spec, outputs, leaves, ranges,
        recorder.root, recorder.compared.events if recorder.compared is not None else [],
    )  # fmt: skip


def _ranges(known: Known) -> dict[Any, Any]:
    """The bounds of the symbols."""
    return {SizeName(s): ValueRanges(v.lower, v.upper, not isinstance(v.hint, float)) for s, v in known.symbols.items()}


def _input_copies(leaf: Tensor, copies: dict[int, Tensor]) -> Tensor:
    """A tensor in place of the user's, which a program may write to."""
    if id(leaf) not in copies:
        copies[id(leaf)] = leaf.detach().clone().requires_grad_(leaf.requires_grad)
    return copies[id(leaf)]


@contextmanager
def _kept(mod: Module) -> Iterator[list[tuple[Tensor, Tensor]]]:
    """A context after which a module's attributes and buffers and the random stream are as they were before.

    It gives a list that tells afterwards which tensors took buffers' places.
    """
    before = [(b, b.detach().clone()) for b in mod.buffers()]
    holders = list(_holders(mod))
    kept = [copy(holder) for _, holder in holders]
    buffers = [(m._buffers, dict(m._buffers)) for m in mod.modules()]
    state = torch.get_rng_state()
    assigned: list[tuple[Tensor, Tensor]] = []
    try:
        yield assigned
    finally:
        torch.set_rng_state(state)
        pairs = [(old, now.get(name)) for now, were in buffers for name, old in were.items()]
        assigned += [(old, new) for old, new in pairs if new is not old and old is not None and new is not None]
        names = []
        for (path, holder), old in zip(holders, kept, strict=True):
            names += _put_back(path, holder, old)
        with torch.no_grad():
            for b, value in before:
                if not torch.equal(b, value):
                    b.copy_(value)
        if names:
            one = len(names) == 1
            warn(_ASSIGNED.format("attribute" if one else "attributes", ", ".join(names), "was" if one else "were"))


_STANDARD = frozenset(vars(Module()))  # attributes that every module has
_ASSIGNED = (
    "The tensor {} {} {} assigned during export. Such attributes must be registered as buffers using the "
    "`register_buffer` API "
    "(https://pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.register_buffer)."
)


def _holders(mod: Module) -> Iterator[tuple[str, Any]]:
    """What holds a module's attributes, the lists and dicts among these, and how a warning names what they hold."""
    for name, m in mod.named_modules():
        path = ".".join(["self", *([name] if name else [])])
        yield path + ".{}", vars(m)
        for key, value in vars(m).items():
            if isinstance(value, (dict, list)):
                yield "" if key in _STANDARD else f"{path}.{key}[{{!r}}]", value


def _put_back(path: str, holder: Any, kept: Any) -> list[str]:
    """Give a list or dict the items that it had; the names of the tensors that came in."""
    pairs, were = (list(h.items() if isinstance(h, dict) else enumerate(h)) for h in (holder, kept))
    if len(pairs) == len(were) and all(k == j and v is w for (k, v), (j, w) in zip(pairs, were, strict=True)):
        return []
    holder.clear()
    (holder.update if isinstance(holder, dict) else holder.extend)(kept)
    old = dict(were)
    return [path.format(k) for k, v in pairs if path and isinstance(v, Tensor) and v is not old.get(k)]


def _restore_grad_mode(recorder: Recorder, grad: bool) -> None:
    if recorder.grad is not grad:
        recorder.create_node("call_function", torch._C._set_grad_enabled, (grad,), {})


def _identifier(target: str) -> str:
    return re.sub(r"\W", "_", target)


def _is_persistent(mod: Module, target: str) -> bool:
    owner, _, name = target.rpartition(".")
    return name not in mod.get_submodule(owner)._non_persistent_buffers_set


def _leaf_names(mod: Module, args: Any, kwargs: Any) -> list[str]:
    """PyTorch's names of the placeholders: the parameter's name, and the way to the leaf inside."""
    names = []
    try:
        bound = named_arguments(mod, args, kwargs)
    except (TypeError, ValueError):
        bound = {**{f"args_{i}": a for i, a in enumerate(args)}, **kwargs}
    for path, _ in pytree.tree_flatten_with_path(bound)[0]:
        parts = [getattr(k, "key", getattr(k, "idx", getattr(k, "name", ""))) for k in path]
        names.append(_identifier("_".join(map(str, parts))).lower() if len(parts) > 1 else str(parts[0]))
    return names


def _distinct(name: str, taken: list[str]) -> str:
    """A name that is none of these: ``x``, ``x_1``, ``x_2``."""
    numbered = (f"{name}_{i}" for i in itertools.count(1))
    return next(n for n in itertools.chain([name], numbered) if n not in taken)


def _lift(recorder: Recorder, mod: Module, specs: list[InputSpec], before: int) -> dict[str, Any]:
    """Make placeholders of the constants, ahead of the user's inputs, and give the constants by their names."""
    attributes = {id(v): (f"{path}.{k}" if path else k) for path, m in mod.named_modules() for k, v in vars(m).items()
                  if isinstance(v, Tensor)}  # fmt: skip
    placeholders = [n for n in recorder.graph.nodes if n.op == "placeholder"]
    place: Any = (
        placeholders[before]
        if len(placeholders) > before
        else next(n for n in recorder.graph.nodes if n.op != "placeholder")
    )
    constants: dict[str, Any] = {}
    count = 0
    for node, tensor in recorder.constants.items():
        if not node.users:
            recorder.graph.erase_node(node)
            continue
        target = attributes.get(id(tensor))
        if target is None:
            target = f"lifted_tensor_{count}"
            count += 1
        with recorder.graph.inserting_before(place):
            lifted = recorder.graph.placeholder(f"c_{_identifier(target)}")
        lifted.meta = {"val": node.meta["val"]}
        node.replace_all_uses_with(lifted)
        recorder.graph.erase_node(node)
        specs.insert(before + len(constants), InputSpec(
            InputKind.CONSTANT_TENSOR, TensorArgument(lifted.name), target
        ))  # fmt: skip
        constants[target] = tensor
    return constants


def line_of(node: Node) -> str:
    """Where the program computes a node: ``file:line in name, code: text``."""
    text = last_line_of(node.stack_trace)
    return text.removeprefix("File: ") if text.startswith("File: ") else "an unknown line"
