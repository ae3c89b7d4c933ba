"""What an exported program asks of its inputs: the structure of the trace, its sizes, and values that are constants."""

from __future__ import annotations

import math
from typing import Any

import wengert as torch

from ..nn.modules.module import Module
from ..utils import _pytree as pytree
from .dynamic_shapes import root_of
from .graph_signature import ConstantArgument, InputKind

Tensor = torch.Tensor


class GuardsFn(Module):
    """A call of this, among a program's own operators, refuses inputs for which the graph would compute something else.

    Args:
        guards: for each condition the place of the input, its dim or None, ``"=="``, ``"<="``, ``">="`` or ``"%"``,
            the other side and the condition's text. The other side is a value; the place and dim of an earlier size,
            with the factor and the summand that make each of the two of one number; or, for ``"%"``, these of a size.
    """

    _is_impure = True  # so that it stays in the graph, where nothing uses its result

    def __init__(self, guards: list[tuple[int, int | None, str, Any, str]]) -> None:
        super().__init__()
        self.guards = guards

    def forward(self, *args: Any) -> None:
        """Check the inputs, flattened.

        Raises:
            AssertionError: one does not fit.
        """
        for leaf, dim, sign, other, text in self.guards:
            value = args[leaf] if dim is None else args[leaf].size()[dim]
            if sign == "%":
                value, other = (value - other[1]) % other[0], 0
            elif isinstance(other, tuple):
                leaf, dim, (its_scale, its_shift), (scale, shift) = other
                other = (args[leaf].size()[dim] - its_shift) * scale
                value = (value - shift) * its_scale
            fits = value == other if sign in ("==", "%") else value <= other if sign == "<=" else value >= other
            if not fits and not (other != other and value != value):
                raise AssertionError(f"Guard failed: {text}")


def guards_of(program: Any, names: list[str]) -> GuardsFn:
    """The conditions on a program's inputs; ``names``: the parameters of its ``forward``."""
    guards: list[tuple[int, int | None, str, Any, str]] = []
    sources: dict[str, tuple[int, int, str, int, int]] = {}
    for i, (path, value) in enumerate(zip(_paths(program._in_spec, names), _examples(program), strict=True)):
        if isinstance(value, (int, float, str)):
            guards.append((i, None, "==", value, f"{path} == {value!r}"))
        for dim, size in enumerate(value.shape if isinstance(value, Tensor) else ()):
            source, text = f"{path}.size()[{dim}]", program.dynamic.get((i, dim))
            symbol, scale, shift = (None, 1, 0) if text is None else root_of(text)
            if symbol is None:
                guards.append((i, dim, "==", size, f"{source} == {size}"))
            elif symbol in sources:
                leaf, at, first, *line = sources[symbol]
                sides = [_shown_of(source, *line), _shown_of(first, scale, shift)]
                if (scale, shift) != (1, 0) or line != [1, 0]:
                    sides.reverse()
                guards.append((i, dim, "==", (leaf, at, tuple(line), (scale, shift)), " == ".join(sides)))
            else:
                sources[symbol] = i, dim, source, scale, shift
                if scale > 1:
                    guards.append((i, dim, "%", (scale, shift), f"{_shown_of(source, 1, -shift)} % {scale} == 0"))
                bounds = program.range_constraints.get(text)
                if bounds is not None and bounds.lower > 2:  # a graph for 2 rows is one for 1 and 0, as PyTorch has it
                    guards.append((i, dim, ">=", bounds.lower, f"{source} >= {bounds.lower}"))
                if bounds is not None and not math.isinf(bounds.upper):
                    guards.append((i, dim, "<=", bounds.upper, f"{source} <= {bounds.upper}"))
    return GuardsFn(guards)


def _shown_of(source: str, scale: int, shift: int) -> str:
    rest = f"{shift} + " if shift else ""
    return f"{rest}{f'{scale} * ' if scale > 1 else ''}{source}"


def _examples(program: Any) -> list[Any]:
    nodes = program.graph.find_nodes(op="placeholder")
    return [
        spec.arg.value if isinstance(spec.arg, ConstantArgument) else node.meta.get("val")
        for spec, node in zip(program.graph_signature.input_specs, nodes, strict=True)
        if spec.kind is InputKind.USER_INPUT
    ]


def _paths(in_spec: Any, names: list[str]) -> list[str]:
    """How the program's parameters reach each input: ``d['a']``."""
    numbered = pytree.tree_unflatten(list(range(in_spec.num_leaves)), in_spec)
    args, kwargs = numbered
    return [
        path[0].key + pytree.keystr(path[1:])
        for path, _ in pytree.tree_flatten_with_path(dict(zip(names, (*args, *kwargs.values()), strict=True)))[0]
    ]


class InputCheck:
    """A hook ahead of a program's call: the structure of its inputs, and without guards their sizes."""

    def __init__(self, program: Any) -> None:
        self.in_spec = program._in_spec
        self.examples, self.dynamic = _examples(program), program.dynamic

    def __call__(self, module: Any, args: Any, kwargs: Any) -> None:
        wanted = self.in_spec.children()[1].context or []
        if set(kwargs) != set(wanted):
            raise ValueError(
                f"Ran into a kwarg keyword mismatch: Got the following keywords {list(kwargs)} but expected {wanted}"
            )
        found, spec = pytree.tree_flatten_with_path((args, {key: kwargs[key] for key in wanted}))
        if spec != self.in_spec:
            raise ValueError(
                f"Trying to flatten user inputs with exported input tree spec: \n{self.in_spec}\nbut actually got "
                f"inputs with tree spec of: \n{spec}.\nPlease check that the inputs have the same number and type of "
                "args and kwargs as the ones you used when tracing."
            )
        if "_guards_fn" not in module._modules:
            for i, ((path, value), example) in enumerate(zip(found, self.examples, strict=True)):
                self._check(i, _shown(path), value, example)

    def _check(self, i: int, name: str, value: Any, example: Any) -> None:
        if not isinstance(example, Tensor):
            if isinstance(example, (int, float, str)) and value != example:
                raise RuntimeError(f"Expected input at {name} to be equal to {example}, but got {value}")
            return
        if not isinstance(value, Tensor):
            raise RuntimeError(f"Expected input at {name} to be a tensor, but got {type(value)}")
        if value.dim() != example.dim():
            raise RuntimeError(
                f"Unexpected number of dimensions in input at {name}.shape (expected {example.shape}, got "
                f"{value.shape})"
            )
        for dim, (size, expected) in enumerate(zip(value.shape, example.shape, strict=True)):
            if size != expected and (i, dim) not in self.dynamic:
                raise RuntimeError(
                    f"Expected input at {name}.shape[{dim}] to be equal to {expected}, but got {size}. If you meant "
                    "for this dimension to be dynamic, please re-export and specify dynamic_shapes (e.g. with "
                    "Dim.DYNAMIC)"
                )


def _shown(path: Any) -> str:
    """Where an input stands in a call: ``*args[0]``, ``'key'``."""
    if path[0].idx == 0:
        return f"*args{pytree.keystr(path[1:])}"
    return str(path[1])[1:-1] + str(pytree.keystr(path[2:]))
