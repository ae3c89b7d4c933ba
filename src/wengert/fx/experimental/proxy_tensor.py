"""``make_fx``: a graph of the operators that a function runs on example tensors, forward and backward.

The function runs on its arguments, once. A dispatch mode writes each operator as a node (``torch.ops.aten``); a
function mode writes what no operator computes: new tensors, and writes in place, as one node each; sums of cotangents
are written where the engine makes them. A tensor is known by
its memory, because the backward pass hands on arrays. One that is neither known nor older than the trace is an error,
not a constant.

NOTE [ Replayed at once ]: wengert's operators have arguments of their own. A node is given PyTorch's name only if the
public function of that name computes the same from these arguments, which is tried when the node is written; otherwise
the node calls wengert's operator itself. So a graph computes what the function computed, whatever its nodes are called.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from contextlib import contextmanager, nullcontext, suppress
from typing import Any

import wengert as torch

from ..._base.errors import noted
from ..._base.heap import living
from ..._tape import delivery
from ..._tape.engine import current_pass, observers
from ..._tape.graph import edge_node
from ..._tape.node import Parts, Port
from ..._tape.passes import Pass
from ..._tape.tensor import Tensor, wrap
from ...nn.modules.module import Module
from ...nn.parameter import Parameter
from ...overrides import TorchFunctionMode
from ...utils import _pytree as pytree
from ...utils._aten import OpOverload, not_intercepted
from ...utils._aten_schemas import factory_defaults, matching
from ...utils._python_dispatch import TorchDispatchMode, _disable_current_modes
from .._codegen import _PyTreeCodeGen, _PyTreeInfo
from .._naming import function_name
from .._symbolic_trace import Tracer
from ..graph import Graph
from ..graph_module import GraphModule
from ..node import Node
from ._aten_calls import as_written, call_of
from ._derivatives import Unknown, derived, saved_results
from ._einsum import einsum, tensordot

__all__ = ["ProxyTorchDispatchMode", "PythonKeyTracer", "get_proxy_mode", "make_fx"]

_RANDOM = ("rand", "bernoulli", "dropout", "multinomial", "normal", "poisson", "exponential", "uniform", "cauchy")
_FILLED = ("empty", "full", "ones", "rand", "randint", "randn", "zeros")
_MAKERS = frozenset(
    {*_FILLED, *[f"{name}_like" for name in _FILLED], *[f"new_{name}" for name in ("empty", "full", "ones", "zeros")]}
    | {"arange", "empty_strided", "eye", "linspace", "logspace", "normal", "randperm"}
)
_WRITES = frozenset({"__setitem__"} | {f"__i{name}__" for name in (
    "add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and", "or", "xor", "lshift", "rshift", "matmul"
)})  # fmt: skip
_CONSTANTS = frozenset({"as_tensor", "asarray", "from_numpy", "frombuffer", "tensor"})
_FIRST_ALONE = frozenset({"clone"})  # operators whose other arguments concern memory only
_IN_STEPS = {"einsum": einsum, "tensordot": tensordot}
_AS_CALLED = frozenset({"index_add", "index_select", "nonzero"})  # whose operators are others here
_LEAVES_ALONE = frozenset({"requires_grad_", "retain_grad", "share_memory_"})


class PythonKeyTracer(Tracer):
    """Writes the graph: parameters are ``_param_constant0``, other tensors from outside ``_tensor_constant0``."""

    def __init__(self, outside: dict[Any, Tensor] | None = None) -> None:
        super().__init__(autowrap_modules=())
        self.root = Module()
        self.graph = Graph(tracer_cls=Tracer)
        self.tensor_attrs = {}
        self.numbers = False  # whether a 0-d tensor that no operator made is a number of the call
        self.nodes: dict[Any, tuple[Any, Node]] = {}  # by memory; the payload keeps it from being used again
        # kept, so that no other tensor gets their memory
        if outside is None:
            outside = {_memory(t): t for t in living() if issubclass(type(t), Tensor)}
        self.outside = outside
        self.payloads: dict[int, tuple[Any, Node]] = {}  # the same by object: parts of a broadcast share their memory
        self.recorded: dict[Any, Any] = {}  # by a result's history: the nodes of its call, and what those need

    def record(self, args: Any, result: Any, last: Node | None) -> None:
        """Note how a call with a history was written: the nodes after ``last``."""
        outputs = {}
        for k, t in enumerate(result if isinstance(result, (tuple, list)) else [result]):
            if isinstance(t, Tensor) and t.requires_grad:
                n: Any = edge_node(t)
                outputs[k], made = self.node_of(t), n.fx if type(n) is Port else n
        if not outputs:
            return
        nodes: list[Node] = []
        for node in reversed(self.graph.nodes):
            if node is last:
                break
            nodes.insert(0, node)
        nodes = [node for node in nodes if node.op == "call_function"]
        inputs = [(edge_node(t), self.node_of(t)) for t in pytree.tree_leaves(args) if _has_history(t)]
        results = [r for node in nodes for r in saved_results(node)]
        saved = {r: self.call(torch.ops.aten.detach.default, (r,), {}) for r in results}
        self.recorded[made] = nodes, saved, outputs, inputs

    def knows(self, tensor: Tensor) -> bool:
        """Whether a tensor has a node, or may get one as an attribute."""
        return id(tensor._payload) in self.payloads or _memory(tensor) in self.nodes or _memory(tensor) in self.outside

    def note(self, tensor: Tensor, node: Node) -> None:
        """A tensor's value is this node's from now on."""
        node.meta.setdefault("val", tensor.detach())
        self.nodes[_memory(tensor)] = self.payloads[id(tensor._payload)] = (tensor._payload, node)

    def node_of(self, tensor: Tensor) -> Node:
        """The node of a tensor's value; one that the function took from outside becomes an attribute."""
        known = self.payloads.get(id(tensor._payload)) or self.nodes.get(_memory(tensor))
        if known is None and self.numbers and tensor.ndim == 0 and _memory(tensor) not in self.outside:
            how: dict[str, Any] = {"dtype": tensor.dtype, "layout": tensor.layout, "device": tensor.device}
            return self.call(torch.ops.aten.scalar_tensor.default, (tensor.item(),), how)
        if known is None:
            if _memory(tensor) not in self.outside and not (tensor.numel() == 1 and bool(tensor == 1)):  # a pass begins
                raise noted(
                    NotImplementedError("make_fx: a tensor was made that no operator computed"),
                    "Why: values inside of torch.func.vmap and jvp, and of NumPy, are no operators' results.",
                )
            last = next(iter(reversed(self.graph.nodes)), None)
            if _memory(tensor) not in self.outside and getattr(last and last.meta.get("val"), "shape", None) == ():
                how = {"pin_memory": False, "memory_format": torch.preserve_format}
                node = self.call(torch.ops.aten.ones_like.default, (last,), how)  # the cotangent of a result
                self.note(tensor, node)
                return node
            name = self.get_fresh_qualname("_param_constant" if isinstance(tensor, Parameter) else "_tensor_constant")
            if isinstance(tensor, Parameter):
                setattr(self.root, name, tensor)
            else:
                self.root.register_buffer(name, tensor.detach())
            node = self.create_node("get_attr", name, (), {})
            self.note(tensor, node)
            return node
        return known[1]

    def create_arg(self, a: Any) -> Any:
        """An argument with nodes in place of tensors."""
        return self.node_of(a) if isinstance(a, Tensor) else super().create_arg(a)

    def call(self, target: Any, args: Any, kwargs: Any) -> Node:
        """A node for a call, named as the function without its overload."""
        name = target.overloadpacket.__name__ if isinstance(target, OpOverload) else None
        return self.create_node("call_function", target, args, kwargs, name=name and self.graph._target_to_str(name))

    def note_results(self, results: Any, node: Node) -> None:
        """Give each tensor of a result its node: an item of it, if the result is a tuple."""
        if isinstance(results, Tensor):
            self.note(results, node)
        elif isinstance(results, (tuple, list)):
            for i, item in enumerate(results):
                if isinstance(item, (Tensor, tuple, list)):
                    self.note_results(item, self.create_node("call_function", operator.getitem, (node, i), {}))


def _has_history(value: Any) -> bool:
    return isinstance(value, Tensor) and value.requires_grad


def _placed(pairs: Any, inputs: Any, found: Any) -> list[Node] | None:
    """The node of each cotangent of a step, or None if one is not among the written ones."""
    placed, left = [], list(found)
    for edge, payload in zip(pairs[::2], pairs[1::2], strict=True):
        nodes = [node for e, node in inputs if e is edge]
        for owner, written in left if payload is not None else ():
            if owner in nodes and _near(written.value, wrap(payload)):
                placed.append(written.node)
                left.remove((owner, written))
                break
        else:
            return None
    return placed


def _near(a: Tensor, b: Tensor) -> bool:
    return a.shape == b.shape and a.dtype == b.dtype and torch.allclose(a, b, 1e-3, 1e-5, equal_nan=True)


def _memory(tensor: Tensor) -> Any:
    """What tells a tensor's value from others: where it lies, and how."""
    payload = tensor._payload
    if type(payload).__name__ == "ndarray" and payload.size:
        return payload.ctypes.data, payload.shape, payload.strides, payload.dtype.str
    return id(payload)


def _same(a: Any, b: Any) -> bool:
    """Whether two results are the same to the bit."""
    if isinstance(a, Tensor) and isinstance(b, Tensor):
        return a.shape == b.shape and a.dtype == b.dtype and bool(torch.equal(torch.nan_to_num(a), torch.nan_to_num(b)))
    if isinstance(a, (tuple, list)) and isinstance(b, (tuple, list)):
        return len(a) == len(b) and all(_same(x, y) for x, y in zip(a, b, strict=True))
    return bool(a == b)


def _alike(a: Any, b: Any) -> bool:
    """``_same``, and False for values that cannot be compared: those of transforms."""
    try:
        return _same(a, b)
    except Exception:  # noqa: BLE001
        return False


def _is_random(func: Any) -> bool:
    return any(part in func.name() for part in _RANDOM)


def _replayed(op: Any, args: Any, kwargs: Any) -> Any:
    """What an operator gives, or None if it fails."""
    try:
        with _disable_current_modes(), not_intercepted(), torch.no_grad():
            return op(*args, **kwargs)
    except Exception:  # noqa: BLE001 - it is another function
        return None


def _replays(func: Any, args: Any, result: Any) -> bool:
    """Whether PyTorch's operator of this name gives the result for these arguments (NOTE [ Replayed at once ])."""
    if _is_random(func):
        return False
    named = getattr(getattr(torch.ops.aten, func.overloadpacket.__name__), func._overloadname)
    found = _replayed(named, args, {})
    return found is not None and _alike(found, result)


class ProxyTorchDispatchMode(TorchDispatchMode):
    """Writes each operator that runs."""

    def __init__(self, tracer: PythonKeyTracer, tracing_mode: str = "real") -> None:
        super().__init__()
        self.tracer, self.tracing_mode = tracer, tracing_mode
        self.quiet = 0
        self.called: Any = None  # the public function that runs, its name and arguments

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        if not self.quiet:
            with self.silent():
                last = next(iter(reversed(self.tracer.graph.nodes)), None)
                _write(self.tracer, func, args, result, self.called)
                self.tracer.record(args, result, last)
        return result

    def step(self, n: Any, g: Any, step: Any) -> Any:
        """A backward step: an observer of passes, which writes PyTorch's formula if it computes the same."""
        call = None if self.quiet or isinstance(g, Tensor) else self.tracer.recorded.get(n)
        now = current_pass()
        if call is None or now is None:
            return step()
        now.keep = True  # the step may run again
        tracer, (nodes, saved, outputs, inputs) = self.tracer, call
        with self.silent():
            parts = g.parts if type(g) is Parts else dict.fromkeys(outputs, g)
            grads = {outputs[k]: (tracer.node_of(wrap(p)), wrap(p)) for k, p in parts.items()}
            pairs = step()
            wanted = {node for edge, node in inputs if edge in pairs[::2]}
            try:
                writer, found = derived(tracer, nodes, saved, grads, wanted)
            except Unknown:
                found = []
            placed = _placed(pairs, inputs, found)
            if found and placed is None:
                writer.undo()
        if placed is None:
            return step()
        noted_pairs: list[Any] = []
        for edge, payload, node in zip(pairs[::2], pairs[1::2], placed, strict=True):
            tensor = wrap(payload)
            tracer.note(tensor, node)
            noted_pairs += (edge, tensor._payload)
        return tuple(noted_pairs)

    @contextmanager
    def silent(self) -> Any:
        """A context in which nothing is written."""
        self.quiet += 1
        try:
            yield
        finally:
            self.quiet -= 1


def _write(tracer: PythonKeyTracer, func: Any, args: Any, result: Any, called: Any) -> None:
    """The nodes of a call: PyTorch's operators, if they compute the result, or wengert's own."""
    aten, info = torch.ops.aten, func.info
    node = _composed(tracer, info.name, args, result, called) if info is not None else None
    if node is not None:
        tracer.note_results(result, node)
        return
    if info is not None and info.name in _FIRST_ALONE:
        args = args[:1]
    found = None if info is None or _is_random(func) else call_of(info.name, func.overloadpacket.__name__, args)
    if found is not None:
        name, overload, placed, named, count = found if called is None else as_written(found, *called)
        op = getattr(getattr(aten, name), overload)
        results = _replayed(op, placed, named)
        several = count > 1 and isinstance(result, Tensor)  # of which ours is the first
        if results is not None and _alike(results[0] if several else results, result):
            node = tracer.call(op, tracer.create_arg(placed), tracer.create_arg(named))
            tracer.note_results((result, *results[1:]) if several else result, node)
            return
    given = tracer.create_arg(tuple(args))
    if _replays(func, args, result):
        target = getattr(getattr(aten, func.overloadpacket.__name__), func._overloadname)
    else:
        target = info.op
    tracer.note_results(result, tracer.call(target, given, {}))


def _composed(tracer: PythonKeyTracer, name: str, args: Any, result: Any, called: Any) -> Node | None:
    """The last node of an operator that PyTorch computes in several steps, or None if it is none."""
    if name in ("norm_channels", "norm_by_statistics"):  # what cuDNN would need
        how = {"dtype": torch.uint8, "layout": torch.strided, "device": torch.device("cpu")}
        tracer.call(torch.ops.aten.empty.memory_format, ([0],), how)
    aten, call, node_of = torch.ops.aten, tracer.call, tracer.node_of
    if name == "linear" and args[1].ndim == 2 and args[0].ndim >= 2:
        x, weight, bias = (*args, None)[:3]
        turned, rows = call(aten.t.default, (node_of(weight),), {}), node_of(x)
        if x.ndim > 2:
            rows = call(aten.view.default, (rows, [x.shape[:-1].numel(), x.shape[-1]]), {})
        if bias is None:
            product = call(aten.mm.default, (rows, turned), {})
        else:
            product = call(aten.addmm.default, (node_of(bias), rows, turned), {})
        if x.ndim == 2:
            return product
        return call((aten._unsafe_view if bias is None else aten.view).default, (product, list(result.shape)), {})
    if name == "matmul_nd" and args[0].ndim >= 3 and args[1].ndim <= 2:
        x, other = args
        rows = call(aten.view.default, (node_of(x), [x.shape[:-1].numel(), x.shape[-1]]), {})
        product = call((aten.mm if other.ndim == 2 else aten.mv).default, (rows, node_of(other)), {})
        return call(aten._unsafe_view.default, (product, list(result.shape)), {})
    if name == "argsort":
        found = as_written(("sort", "default", args, {}, 2), *called) if called is not None else None
        node = call(aten.sort.default, (node_of(args[0]), *(found[2] if found else args)[1:]), {})
        return [call(operator.getitem, (node, i), {}) for i in (0, 1)][1]
    if name == "matmul_nd" and args[0].ndim >= 3 and args[0].shape[:-2] == args[1].shape[:-2]:
        flat = []
        for x in args:
            expanded = call(aten.expand.default, (node_of(x), list(x.shape)), {})
            flat.append(call(aten.view.default, (expanded, [x.shape[:-2].numel(), *x.shape[-2:]]), {}))
        return call(aten._unsafe_view.default, (call(aten.bmm.default, tuple(flat), {}), list(result.shape)), {})
    if name == "reshape" and not args[0].is_contiguous() and _memory(result)[0] != _memory(args[0])[0]:
        copied = call(aten.clone.default, (node_of(args[0]),), {"memory_format": torch.contiguous_format})
        return call(aten._unsafe_view.default, (copied, list(args[1])), {})
    return None


class _Makers(TorchFunctionMode):
    """Writes what no operator computes: new tensors, and writes in place."""

    def __init__(self, mode: ProxyTorchDispatchMode) -> None:
        super().__init__()
        self.mode = mode

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if self.mode.quiet:
            return func(*args, **kwargs)
        name = function_name(func)
        if func in (torch.Tensor.backward, torch.autograd.backward):
            raise noted(
                NotImplementedError("make_fx: a call of backward() writes into leaves, which a graph does not show"),
                "What to do: return torch.autograd.grad(loss, leaves).",
            )
        in_place = name in _WRITES or (name[-1:] == "_" and name[-2:] != "__" and name not in _LEAVES_ALONE)
        if name == "detach":
            return self._detached(func(*args, **kwargs), args[0])
        if name == "dropout" and (result := self._dropped(*args, **kwargs)) is not None:
            return result
        if name in _CONSTANTS:
            return self._constant(func(*args, **kwargs))
        if name in _IN_STEPS:
            return _IN_STEPS[name](*args, **kwargs)
        if in_place or name in _MAKERS or name in _AS_CALLED or kwargs.get("out") is not None:
            return self._whole(func, name, args, kwargs)
        former, self.mode.called = self.mode.called, (name, args, kwargs)
        self.mode.tracer.numbers = name == "where"
        try:
            result = func(*args, **kwargs)
        finally:
            self.mode.called, self.mode.tracer.numbers = former, False
        tensors = [t for t in pytree.tree_leaves(result) if isinstance(t, Tensor)]
        if tensors and not any(self.mode.tracer.knows(t) for t in tensors):
            with suppress(NotImplementedError):  # one of a transform's values: an error where it is used
                self._note_whole(func, name, args, kwargs, result)
        return result

    def _note_whole(self, func: Any, name: str, args: Any, kwargs: Any, result: Any) -> None:
        """One node for a call that ran no operator."""
        tracer, found = self.mode.tracer, matching(name, args, kwargs)
        if found is None:
            call = func, tracer.create_arg(tuple(args)), tracer.create_arg(dict(kwargs))
        else:
            call = getattr(getattr(torch.ops.aten, name), found[0]), *(tracer.create_arg(v) for v in found[1:])
        tracer.note_results(result, tracer.call(*call))

    def _dropped(self, x: Any, p: float = 0.5, training: bool = True, inplace: bool = False, train: Any = None) -> Any:
        """What dropout gives in training, with its mask: the operator is random, so it is not run twice."""
        tracer, train = self.mode.tracer, training if train is None else train
        if not train or inplace or not isinstance(x, Tensor):
            return None
        last = next(iter(reversed(tracer.graph.nodes)), None)
        op = torch.ops.aten.native_dropout.default
        node = tracer.call(op, (tracer.node_of(x), float(p), True), {})
        with self.mode.silent():
            results = op(x, p, True)
        tracer.note_results(results, node)
        tracer.record((x,), results, last)
        return results[0]

    def _detached(self, result: Tensor, tensor: Tensor) -> Tensor:
        """A detached tensor: another node on the same memory."""
        tracer, payload = self.mode.tracer, result._payload
        if type(payload).__name__ == "ndarray" and tracer.knows(tensor):
            node = tracer.call(torch.ops.aten.detach.default, (tracer.node_of(tensor),), {})
            result._payload = payload.view()
            tracer.payloads[id(result._payload)] = (result._payload, node)
            node.meta["val"] = result
        return result

    def _constant(self, result: Tensor) -> Tensor:
        """A tensor made of numbers, as an attribute and its copy."""
        tracer = self.mode.tracer
        tracer.outside[_memory(result)] = result
        copied = tracer.call(torch.ops.aten.lift_fresh_copy.default, (tracer.node_of(result),), {})
        tracer.note(result, copied)
        return result

    def _whole(self, func: Any, name: str, args: Any, kwargs: Any) -> Any:
        """One node for a call, whatever operators it runs."""
        tracer = self.mode.tracer
        last = next(iter(reversed(tracer.graph.nodes)), None)
        given, named = tracer.create_arg(tuple(args)), tracer.create_arg(dict(kwargs))
        with self.mode.silent():
            result = func(*args, **kwargs)
        target: Any = operator.setitem if name == "__setitem__" else _aten(name, args) or func
        found = matching(name, args, kwargs) if name in _AS_CALLED else None
        if found is not None:
            target = getattr(getattr(torch.ops.aten, name), found[0])
            given, named = (tracer.create_arg(v) for v in found[1:])
        if name in ("ones", "zeros", "empty", "rand", "randn") and args and not isinstance(args[0], (tuple, list)):
            given = (list(given),)
        if name in ("new_ones", "new_zeros", "new_empty") and len(args) > 1 and isinstance(args[1], int):
            given = (given[0], list(given[1:]))
        if isinstance(target, OpOverload):
            named = {
                **named,
                **{k: v for k, v in factory_defaults(target.overloadpacket.__name__).items() if k not in named},
            }
        node = tracer.call(target, given, named)
        written = kwargs.get("out") if kwargs.get("out") is not None else args[0] if name == "__setitem__" else result
        tracer.note_results(written, node)
        if name in _AS_CALLED:
            tracer.record(args, result, last)
        return result


def _aten(name: str, args: Any) -> Any:
    """The operator of PyTorch that has a function's name, or None."""
    if name.startswith("__i"):
        return getattr(operator, name.strip("_"))
    second = len(args) > 1 and isinstance(args[1], (Tensor, int, float))
    overload = "Tensor" if name in ("add_", "sub_", "mul_", "div_") and second else "default"
    return getattr(getattr(torch.ops.aten, name, None), overload, None)


# ---- tracing
_current: list[ProxyTorchDispatchMode] = []


@contextmanager
def _sums_written(mode: ProxyTorchDispatchMode) -> Any:
    """A context in which the backward pass writes the sums of cotangents, and hands on results without losing them."""
    plain, tracer = Pass.add, mode.tracer

    def add(self: Pass, node: Any, old: Any, new: Any) -> Any:
        if old is None or type(old) is Parts or mode.quiet:
            return plain(self, node, old, new)
        with mode.silent():
            given = tuple([tracer.node_of(x if isinstance(x, Tensor) else wrap(x)) for x in (old, new)])
            result = plain(self, node, old, new)
            written = tracer.call(torch.ops.aten.add.Tensor, given, {})
            tracer.note(result if isinstance(result, Tensor) else wrap(result), written)
        return result

    def own(g: Any) -> Any:  # the tracer refers to all arrays, so a result is always copied: it stays the same node's
        copied = own_plainly(g)
        if copied is not g and not mode.quiet:
            tracer.note(wrap(copied), tracer.node_of(wrap(g)))
        return copied

    own_plainly = delivery._own
    step = mode.step
    Pass.add, delivery._own = add, own
    observers.append(step)
    try:
        yield
    finally:
        Pass.add, delivery._own = plain, own_plainly
        observers.remove(step)


def get_proxy_mode() -> ProxyTorchDispatchMode | None:
    """The mode of the ``make_fx`` that is running, or None.

    >>> import wengert as torch
    >>> torch.fx.experimental.proxy_tensor.get_proxy_mode() is None
    True
    """
    return _current[-1] if _current else None


@contextmanager
def disable_proxy_modes_tracing(enable_current: bool = False) -> Any:
    """A context in which nothing is written."""
    mode = get_proxy_mode()
    with mode.silent() if mode is not None else nullcontext():
        yield


def make_fx(
    f: Callable[..., Any], decomposition_table: Any = None, tracing_mode: str = "real", *_: Any, **__: Any
) -> Callable[..., GraphModule]:
    """The graph of the operators that a function runs: ``make_fx(f)(*examples)`` is a module that runs them again.

    Shapes, numbers and branches are those of the examples. Gradients that the function computes are in the graph.

    Args:
        f: a function, or a module.
        tracing_mode: ``"real"``; the other modes of PyTorch run the examples too.

    Raises:
        NotImplementedError: the function calls ``backward()``, or ``decomposition_table`` is given.

    >>> import wengert as torch
    >>> from wengert.fx.experimental.proxy_tensor import make_fx
    >>> def slope(x):
    ...     return torch.func.grad(lambda x: torch.sin(x).sum())(x)
    >>> gm = make_fx(slope)(torch.ones(2))
    >>> [n.name for n in gm.graph.nodes if "cos" in n.name]
    ['cos']
    >>> torch.equal(gm(torch.zeros(2)), torch.ones(2))
    True
    """
    if decomposition_table:
        raise NotImplementedError("make_fx: decomposition_table is not supported")

    @functools.wraps(f if not isinstance(f, Module) else type(f).forward)
    def wrapped(*args: Any) -> GraphModule:
        tracer = PythonKeyTracer()
        names = _parameter_names(f, len(args))
        leaves, spec = pytree.tree_flatten(args)
        nested = not all(child.is_leaf() for child in spec.children())
        flat_names = _leaf_names(names, spec) if nested else [f"{name}_1" for name in names]
        inputs = []
        for name, leaf in zip(flat_names, leaves, strict=True):
            node = tracer.graph.placeholder(name)
            if isinstance(leaf, Tensor):
                leaf = leaf.detach().requires_grad_(leaf.requires_grad) if leaf.is_leaf else leaf
                tracer.note(leaf, node)
            inputs.append(leaf)
        mode = ProxyTorchDispatchMode(tracer, tracing_mode)
        _current.append(mode)
        try:
            with mode, _Makers(mode), _sums_written(mode):
                result = f(*pytree.tree_unflatten(inputs, spec))
        finally:
            _current.pop()
        outputs, out_spec = pytree.tree_flatten(result)
        if nested or not (out_spec.is_leaf() or all(child.is_leaf() for child in out_spec.children())):
            tracer.graph.set_codegen(_PyTreeCodeGen(_PyTreeInfo(names, spec, out_spec)))
            result = outputs
        tracer.graph.output(tracer.create_arg(result))
        return GraphModule(tracer.root, tracer.graph, getattr(f, "__name__", type(f).__name__))

    return wrapped


def _parameter_names(f: Any, count: int) -> list[str]:
    """The names of the inputs: those of the function's parameters, ``arg0`` where it has none of its own."""
    code = getattr(f, "__code__", None)
    names = list(code.co_varnames[: code.co_argcount]) if code is not None else []
    return names[:count] if len(names) >= count else [f"arg{i}" for i in range(count)]


def _leaf_names(names: list[str], spec: Any) -> list[str]:
    """The names of the leaves: ``d_1``, ``d_2`` for those of ``d``."""
    return [
        f"{name}_{i + 1}" for name, child in zip(names, spec.children(), strict=True) for i in range(child.num_leaves)
    ]
