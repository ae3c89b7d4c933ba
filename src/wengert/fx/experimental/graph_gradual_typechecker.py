"""Types of graphs, inferred from sizes of which some are ``Dyn`` (Siek and Taha's gradual types, for shapes).

``GraphTypeChecker`` gives each node a type, and refuses sizes that do not fit together. ``Refine`` then names what is
``Dyn``, and collects which of the names are equal; ``unify_refinements`` solves that.
"""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable
from typing import Any, TypeVar

import wengert as torch

from ... import nn
from ..graph_module import GraphModule
from ..node import Node, map_arg
from ..tensor_type import Dyn, TensorType, is_consistent, is_more_precise
from .refinement_types import Equality
from .unification import Var

__all__ = [
    "GraphTypeChecker",
    "Refine",
    "broadcast_types",
    "calculate_out_dimension",
    "expand_to_tensor_dim",
    "get_greatest_upper_bound",
    "register_algebraic_expressions_inference_rule",
    "register_inference_rule",
    "register_refinement_rule",
]

Rule = TypeVar("Rule", bound=Callable[..., Any])
_INFERENCE_RULES: dict[Any, Callable[..., Any]] = {}
_REFINEMENT_RULES: dict[Any, Callable[..., Any]] = {}
_RULES: dict[Any, Callable[..., Any]] = {}


# ---- types
def expand_to_tensor_dim(t: Any, n: int) -> TensorType:
    """A type of ``n`` sizes: ``Dyn`` is as many of them.

    Raises:
        TypeError: the type has another number of sizes.
    """
    if t == Dyn:
        return TensorType((Dyn,) * n)
    if not isinstance(t, TensorType):
        raise TypeError(f"Cannot match the type {t}")
    if len(t.dims) != n:
        raise TypeError(f"Cannot extend tensor. Tensor {t} has rank {len(t.dims)}. It should have rank {n}")
    return t


def broadcast_types(t1: Any, t2: Any) -> tuple[Any, Any]:
    """Both types, with the sizes to which they are broadcast.

    >>> from wengert.fx.experimental.graph_gradual_typechecker import broadcast_types
    >>> from wengert.fx.tensor_type import TensorType
    >>> broadcast_types(TensorType((2, 1)), TensorType((3,)))
    (TensorType[(2, 3)], TensorType[(2, 3)])

    Raises:
        TypeError: one is no type of a tensor.
    """
    if any(t == Dyn or isinstance(t, Var) for t in (t1, t2)):
        return t1, t2
    if not isinstance(t1, TensorType) or not isinstance(t2, TensorType):
        raise TypeError(f"Cannot broadcast types {t1} and {t2}")
    count = max(len(t1.dims), len(t2.dims))
    one, other = ([*[1] * (count - len(t.dims)), *t.dims] for t in (t1, t2))
    pairs = [(b if a == 1 else a, a if b == 1 else b) for a, b in zip(one, other, strict=True)]
    return TensorType(tuple([a for a, _ in pairs])), TensorType(tuple([b for _, b in pairs]))


def get_greatest_upper_bound(type1: Any, type2: Any) -> Any:
    """What both types say together.

    Raises:
        TypeError: they contradict each other.
    """
    if type1 == Dyn or type2 == Dyn:
        return type2 if type1 == Dyn else type1
    if isinstance(type1, TensorType) and isinstance(type2, TensorType):
        if not is_consistent(type1, type2):
            raise TypeError(f"Inconsistent types {type1}, {type2}")
        return TensorType(
            tuple([a if is_more_precise(a, b) else b for a, b in zip(type1.dims, type2.dims, strict=True)])
        )
    raise TypeError(f"Inconsistent types {type1}, {type2}")


def calculate_out_dimension(d_in: Any, module_instance: Any, index: int) -> Any:
    """The size after a convolution or pooling, in the dimension ``index`` of the picture."""
    if d_in == Dyn:
        return Dyn

    def of(name: str) -> Any:
        value = getattr(module_instance, name)
        return value[index] if isinstance(value, tuple) else value

    span = of("dilation") * (of("kernel_size") - 1) + 1
    return (d_in + 2 * of("padding") - span) // of("stride") + 1


# ---- rules: for the type of a node
def register_inference_rule(call_target: Any) -> Callable[[Rule], Rule]:
    """A decorator: the rule for a function, ``rule(node)``, or for a class of layers, ``rule(node, layer)``."""
    return _into(_INFERENCE_RULES, call_target, "Inference rule")


def register_refinement_rule(call_target: Any) -> Callable[[Rule], Rule]:
    """A decorator: the rule by which sizes are equal, ``rule(node)``, a list of ``Equality``."""
    return _into(_REFINEMENT_RULES, call_target, "Refinement rule")


def register_algebraic_expressions_inference_rule(call_target: Any) -> Callable[[Rule], Rule]:
    """A decorator: the rule by which sizes are computed, ``rule(node, layer)``."""
    return _into(_RULES, call_target, "Rule")


def _into(rules: dict[Any, Callable[..., Any]], target: Any, kind: str) -> Callable[[Rule], Rule]:
    def register(fn: Rule) -> Rule:
        if target in rules:
            raise RuntimeError(f"{kind} already registered for {target}!")
        rules[target] = fn
        return fn

    return register


def _type_of(arg: Any) -> Any:
    return arg.type if isinstance(arg, Node) else type(arg)


@register_inference_rule(torch.add)
@register_inference_rule(operator.add)
def _sum(n: Node) -> Any:
    one, other = (_type_of(a) for a in n.args)
    for number, tensor in ((one, other), (other, one)):
        if number is int and isinstance(tensor, TensorType):
            return tensor
    new = broadcast_types(one, other)
    n.meta["broadcast"] = new != (one, other)
    if n.meta["broadcast"]:
        n.meta.update({str(a): t for a, t in zip(n.args, new, strict=True)})
    if not is_consistent(*new):
        raise TypeError(
            f"Cannot add arguments {n.args[0]} ({one}) and {n.args[1]} ({other}) in node {n}. Types should match "
        )
    return new[1] if is_more_precise(*new) else new[0]


@register_inference_rule(torch.transpose)
def _transposed(n: Node) -> Any:
    t, *dims = n.args[0].type, *n.args[1:3]
    if t == Dyn:
        return Dyn
    if not isinstance(t, TensorType) or not all(0 <= d < len(t.dims) for d in dims):
        raise TypeError(f"Cannot transpose {dims[0]} and {dims[1]} in type {t} for node {n}")
    sizes = list(t.dims)
    sizes[dims[0]], sizes[dims[1]] = sizes[dims[1]], sizes[dims[0]]
    return get_greatest_upper_bound(TensorType(sizes), n.type)


@register_inference_rule(torch.reshape)
def _reshaped(n: Node) -> Any:
    t, sizes = n.args[0].type, n.args[1]
    made = TensorType([Dyn if size == -1 else size for size in sizes])
    if isinstance(t, TensorType):
        count, wanted = math.prod([1 if size == Dyn else size for size in t.dims]), math.prod(sizes)
        if count % wanted and wanted % count:
            raise TypeError(f"Cannot reshape in node {n} from {t} to {made}")
    elif t != Dyn:
        raise TypeError(f"Cannot reshape in node {n} from {t} to {made}")
    return made


def _flattened_dims(n: Node, rank: int) -> tuple[int, int]:
    given = {"start_dim": 1, "end_dim": -1, **dict(zip(("start_dim", "end_dim"), n.args[1:], strict=False)), **n.kwargs}
    start, end = given["start_dim"], given["end_dim"]
    return rank if start == -1 else abs(start), rank + end + 1 if end < 0 else end + 1


@register_inference_rule(torch.flatten)
def _flattened(n: Node) -> Any:
    t = n.args[0].type
    if not isinstance(t, TensorType):
        return n.type
    sizes = list(t.dims)
    start, end = _flattened_dims(n, len(sizes))
    if not (0 <= start < end <= len(sizes)):
        raise TypeError(f"Incompatible dimensions {start}, {end - 1} in type {t}")
    middle = Dyn if Dyn in sizes[start:end] else math.prod(sizes[start:end])
    return get_greatest_upper_bound(TensorType((*sizes[:start], middle, *sizes[end:])), n.type)


@register_inference_rule(nn.BatchNorm2d)
def _normed(n: Node, module: Any) -> Any:
    x = n.args[0]
    x.type, given = expand_to_tensor_dim(x.type, 4), expand_to_tensor_dim(n.type, 4)
    if not all(is_consistent(t.dims[1], module.num_features) for t in (x.type, given)):
        raise TypeError(f"Cannot apply {module} with input type {x.type} and existing type {n.type} on {n}")
    return get_greatest_upper_bound(x.type, given)


@register_inference_rule(nn.Conv2d)
def _convolved(n: Node, module: Any) -> Any:
    x = n.args[0]
    x.type, given = expand_to_tensor_dim(x.type, 4), expand_to_tensor_dim(n.type, 4)
    count, channels, *picture = x.type.dims
    if not is_consistent(channels, module.in_channels):
        raise TypeError(f"Cannot apply {module} with input type {x.type} and existing type {n.type} on {n}")
    sizes = [calculate_out_dimension(size, module, i) for i, size in enumerate(picture)]
    return get_greatest_upper_bound(TensorType((count, module.out_channels, *sizes)), given)


@register_inference_rule(nn.ReLU)
def _elementwise(n: Node, module: Any) -> Any:
    x = n.args[0]
    if x.type == Dyn and isinstance(n.type, TensorType):
        x.type = expand_to_tensor_dim(x.type, len(n.type.dims))
    return get_greatest_upper_bound(x.type, n.type) if isinstance(x.type, TensorType) else n.type


def _last_sizes(n: Node, module: Any, sizes: Callable[[Any], list[Any]]) -> Any:
    t = n.args[0].type
    if not isinstance(t, TensorType):
        return n.type
    if len(t.dims) not in (3, 4):
        raise TypeError(f"Wrong size {t} for {module}")
    return get_greatest_upper_bound(TensorType((*t.dims[:-2], *sizes(t.dims[-2:]))), n.type)


@register_inference_rule(nn.MaxPool2d)
def _pooled(n: Node, module: Any) -> Any:
    return _last_sizes(
        n, module, lambda picture: [calculate_out_dimension(size, module, i) for i, size in enumerate(picture)]
    )


@register_inference_rule(nn.AdaptiveAvgPool2d)
def _averaged(n: Node, module: Any) -> Any:
    wanted = module.output_size
    pair = wanted if isinstance(wanted, tuple) else (wanted, wanted)
    return _last_sizes(n, module, lambda picture: [a if b is None else b for a, b in zip(picture, pair, strict=True)])


@register_inference_rule(nn.Linear)
def _multiplied(n: Node, module: Any) -> Any:
    t = n.args[0].type
    if not isinstance(t, TensorType):
        return n.type
    if len(t.dims) < 2 or not is_consistent(module.in_features, t.dims[-1]):
        raise TypeError(f"Inconsistent {module.in_features} and {t} in {module}")
    return get_greatest_upper_bound(TensorType((*t.dims[:-1], module.out_features)), n.type)


class GraphTypeChecker:
    """Infers the types of a graph's nodes from those of its inputs, and from those that nodes have.

    >>> import wengert as torch
    >>> from wengert.fx.experimental.graph_gradual_typechecker import GraphTypeChecker
    >>> from wengert.fx.tensor_type import Dyn, TensorType
    >>> def f(x: TensorType((2, Dyn))):
    ...     return torch.flatten(torch.add(x, x), 0)
    >>> gm = torch.fx.symbolic_trace(f)
    >>> GraphTypeChecker({}, gm).type_check()
    True
    >>> [n.type for n in gm.graph.nodes][1:]
    [TensorType[(2, Dyn)], TensorType[(Dyn,)], TensorType[(Dyn,)]]
    """

    def __init__(self, env: Any, traced: GraphModule) -> None:
        self.env, self.traced = env, traced

    def type_check(self) -> bool:
        """Infer all types.

        Raises:
            TypeError: sizes do not fit.
            RuntimeError: there is no rule for a call.
        """
        for n in self.traced.graph.nodes:
            self.type_check_node(n)
        return True

    def type_check_node(self, n: Node) -> Any:
        """Infer the type of one node."""
        if n.type is None:
            n.type = Dyn
        if n.op == "call_function":
            n.type = _rule("target", n.target)(n)
        elif n.op == "call_module":
            module = self.traced.get_submodule(str(n.target))
            n.type = _rule("class", type(module))(n, module)
        elif n.op == "get_attr":
            value = operator.attrgetter(str(n.target))(self.traced)
            n.type = TensorType(tuple(value.shape)) if isinstance(value, torch.Tensor) else n.type
        elif n.op == "output":
            n.type = map_arg(n.args[0], lambda node: node.type)
        elif n.op == "call_method":
            raise NotImplementedError(f"Method {n.op} not yet implemented")
        return n.type


def _rule(kind: str, target: Any) -> Callable[..., Any]:
    if target not in _INFERENCE_RULES:
        raise RuntimeError(f"No inference rule registered for {kind} {target}!")
    return _INFERENCE_RULES[target]


# ---- rules: for equal sizes, and for sizes that are computed
def _equal(n: Node, count: int | None) -> list[Equality]:
    one, other = n.args[0].type, n.type
    if not isinstance(one, TensorType) or not isinstance(other, TensorType):
        return []
    return [Equality(a, b) for a, b in list(zip(one.dims, other.dims, strict=False))[:count]]


for _layers, _count in (((nn.ReLU, nn.BatchNorm2d), None), ((nn.AdaptiveAvgPool2d, nn.MaxPool2d), 2),
                        ((nn.Linear, nn.Conv2d), 1)):  # fmt: skip
    for _layer in _layers:
        register_refinement_rule(_layer)(lambda n, count=_count: _equal(n, count))


@register_refinement_rule(torch.add)
@register_refinement_rule(operator.add)
def _equal_in_sum(n: Node) -> list[Equality]:
    types = [_type_of(a) for a in n.args]
    if not all(isinstance(t, TensorType) for t in (*types, n.type)):
        return []
    one, other = broadcast_types(*types)
    return [Equality(a, c) for a, b, c in zip(one.dims, other.dims, n.type.dims, strict=True) if a == b]


@register_refinement_rule(torch.flatten)
def _equal_in_flatten(n: Node) -> list[Equality]:
    one, other = n.args[0].type, n.type
    if not isinstance(one, TensorType) or not isinstance(other, TensorType):
        return []
    start, end = _flattened_dims(n, len(one.dims))
    rest = len(one.dims) - end
    before = zip(other.dims[:start], one.dims[:start], strict=True)
    after = zip(other.dims[len(other.dims) - rest :], one.dims[end:], strict=True)
    return [Equality(a, b) for a, b in [*before, *after]]


@register_algebraic_expressions_inference_rule(nn.Conv2d)
def _computed(n: Node, module: Any) -> None:
    x = n.args[0].type
    if isinstance(x, TensorType) and isinstance(n.type, TensorType):
        sizes = [calculate_out_dimension(size, module, i) for i, size in enumerate(x.dims[2:])]
        n.type = TensorType((*n.type.dims[:2], *sizes))


def _sizewise(fn: Callable[[Any], Any], t: Any) -> Any:
    if isinstance(t, TensorType):
        return TensorType(tuple([_sizewise(fn, size) for size in t.dims]))
    return type(t)([_sizewise(fn, one) for one in t]) if isinstance(t, (list, tuple)) else fn(t)


class Refine:
    """Names the sizes of a checked graph that are ``Dyn``, and collects which of them are equal."""

    def __init__(self, traced: GraphModule) -> None:
        self.traced = traced
        self.constraints: list[Equality] = []
        self.symbol_iter = itertools.count()

    def refine(self) -> bool:
        """Name the sizes and collect the equalities."""
        for n in self.traced.graph.nodes:
            self.refine_node(n)
        return True

    def symbolic_relations(self) -> bool:
        """Turn the names into symbols of SymPy, and give sizes that are computed from others their formulas."""
        for n in self.traced.graph.nodes:
            self.infer_symbolic_relations(n)
        return True

    def replace_dyn_with_fresh_var(self, typ: Any) -> Any:
        """The type, with a new name for each ``Dyn``."""
        return _sizewise(lambda size: Var(next(self.symbol_iter)) if size == Dyn else size, typ)

    def convert_to_sympy_symbols(self, typ: Any) -> Any:
        """The type, with a symbol of SymPy for each name."""
        import sympy

        return _sizewise(lambda size: sympy.symbols(str(size)) if isinstance(size, Var) else size, typ)

    def refine_node(self, n: Node) -> Any:
        """Name the sizes of one node."""
        n.type = self.replace_dyn_with_fresh_var(Dyn if n.type is None else n.type)
        rule = _REFINEMENT_RULES.get(self._target(n))
        if rule is not None:
            self.constraints += rule(n)
        return self._given_on(n)

    def infer_symbolic_relations(self, n: Node) -> Any:
        """Turn the names of one node into symbols."""
        n.type = self.convert_to_sympy_symbols(n.type)
        rule = _RULES.get(self._target(n))
        if rule is not None:
            rule(n, self.traced.get_submodule(str(n.target)))
        return self._given_on(n)

    def _target(self, n: Node) -> Any:
        return type(self.traced.get_submodule(str(n.target))) if n.op == "call_module" else n.target

    def _given_on(self, n: Node) -> Any:
        if n.op == "output":
            n.type = map_arg(n.args[0], lambda node: node.type)
        return n.type
