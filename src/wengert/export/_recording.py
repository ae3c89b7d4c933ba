"""What a program does as PyTorch's operators: the tracer of ``torch.export`` and ``torch.jit.trace``.

The program runs on its examples, once, under a function mode. A call of a public function that is an operator of
PyTorch becomes a node of that name (``utils._aten_schemas``), and the node's operator computes the value that the
program goes on with: so a graph computes what was run. A function that PyTorch writes in Python is entered, in
PyTorch's version of it where ours is put together in another way (``_composed``). What ours computes without public
functions is written operator by operator, as ``make_fx`` does.
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any
from weakref import ref

import wengert as torch

from .._base.errors import noted
from .._base.heap import living_of
from .._tensor_api.python_calls import asks_in_python
from .._tensor_api.torch_function import SITES
from ..fx._naming import function_name, place_of
from ..fx._utils import without_data
from ..fx.experimental._symbols import Number, hint_of
from ..fx.experimental._unbacked import SIZE_QUESTIONS, Unbacked, extremes_of_numbers
from ..fx.experimental.proxy_tensor import ProxyTorchDispatchMode, PythonKeyTracer, memory_of
from ..fx.node import Node, map_aggregate
from ..fx.passes.shape_prop import _extract_tensor_metadata
from ..nn.modules.module import Module
from ..nn.parameter import Parameter
from ..overrides import TorchFunctionMode
from ..utils._aten_schemas import factory_defaults, matching, matching_out, schemas
from ..utils._higher_order import written_by
from ..utils._pytree import tree_leaves
from ._compared import Compared

Tensor = torch.Tensor

# Methods for Python's operators, and attributes, by the operator that computes them.
_OPERATORS = {
    "__neg__": "neg", "__pos__": "positive", "__abs__": "abs", "__invert__": "bitwise_not", "__pow__": "pow",
    "__floordiv__": "floor_divide", "__rsub__": "rsub", "__add__": "add", "__radd__": "add", "__mul__": "mul",
    "__rmul__": "mul", "__sub__": "sub", "__truediv__": "div", "__div__": "div", "__mod__": "remainder",
    "__matmul__": "matmul", "__eq__": "eq", "__ne__": "ne", "__lt__": "lt", "__le__": "le", "__gt__": "gt",
    "__ge__": "ge", "__iadd__": "add_", "__isub__": "sub_", "__imul__": "mul_", "__itruediv__": "div_",
    "__ifloordiv__": "floor_divide_", "__imod__": "remainder_", "__ipow__": "pow_", "bitwise_and": "bitwise_and",
}  # fmt: skip
_ATTRIBUTES = {
    "T": "numpy_T", "mT": "mT", "H": "matrix_H", "mH": "mH", "real": "real", "imag": "imag", "data": "detach",
}  # fmt: skip
_RENAMED = {"divide": "div", "concat": "concat", "row_stack": "vstack", "logsigmoid": "log_sigmoid"}
_CASTS = {
    "float": "float32", "double": "float64", "half": "float16", "bfloat16": "bfloat16", "long": "int64",
    "int": "int32", "short": "int16", "char": "int8", "byte": "uint8", "bool": "bool", "cfloat": "complex64",
    "cdouble": "complex128",
}  # fmt: skip
LEAVE_TENSORS = frozenset(["item", "tolist", "numpy", "__bool__", "__int__", "__float__", "__index__", "__array__",
                            "__complex__", "__contains__", "equal", "allclose"])  # fmt: skip
_MAKE_CONSTANTS = frozenset(["tensor", "as_tensor", "asarray", "from_numpy", "frombuffer"])


class Recorder(PythonKeyTracer):
    """The graph that is being written, and the node of each tensor.

    Args:
        on_value: called with the name of a function that takes a number out of a tensor, and the tensor; the number
            is a constant then. None: it is computed when the graph runs.
        bounded: whether the inputs' sizes are the examples'.
    """

    record_stack_traces = _record_forward_stack_traces_only = names_operands = True
    last = ""  # the operator that was run last, for errors

    def __init__(self, on_value: Callable[[str, Tensor], None] | None, bounded: bool = True) -> None:
        super().__init__({})
        self.on_value = on_value
        self.of_object: dict[int, tuple[Tensor, Node]] = {}  # the tensor keeps its id from being used again
        self.before: dict[int, ref[Tensor]] = {}  # the tensors of before, by id: which constants are no results
        self.constants: dict[Node, Tensor] = {}
        self.fixed: set[Node] = set()  # nodes whose value is the same for all inputs
        self.torch_fn: tuple[str, str] | None = None  # the call of the program that is being written
        self.calls: Counter[tuple[str, Any]] = Counter()
        self.inside = False  # of that call
        self.in_function = False  # in the forward of a custom function, which runs without gradients
        self.mode = _Functions(self)
        self.dispatch = ProxyTorchDispatchMode(self)
        self.grad = torch.is_grad_enabled()
        self.unbacked = Unbacked(self, bounded) if on_value is None else None
        self.compared = None if bounded else Compared(self)

    @contextmanager
    def recording(self, root: Module) -> Iterator[None]:
        """A context in which the calls of a module are written."""
        from ._layers import layers_noted, layers_replaced

        with (
            written_by(self.dispatch),
            nullcontext() if self.unbacked is None else extremes_of_numbers(),
            layers_replaced(self),
            layers_noted(self, root),
            self.dispatch,
            self.mode,
            torch.fx.traceback.preserve_node_meta(False),
        ):
            self.before = {id(t): ref(t) for t in living_of(Tensor)}
            yield

    # ---- tensors and nodes
    def note(self, tensor: Tensor, node: Node) -> None:
        with torch._C.DisableTorchFunction():
            node.meta["val"] = without_data(tensor)
            node.meta["tensor_meta"] = _extract_tensor_metadata(tensor)
        self.of_object[id(tensor)] = tensor, node
        self.nodes[memory_of(tensor)] = tensor._payload, node

    def _node_of(self, tensor: Tensor) -> Node:
        """The node of a tensor's value; a tensor from outside becomes a constant of the graph."""
        known = self.known_node(tensor)
        if known is not None:
            return known
        was_there = self.before.get(id(tensor))
        if was_there is None or was_there() is not tensor:
            raise noted(
                NotImplementedError("torch.export: a tensor was made that no operator computed"),
                "Why: values of NumPy, and inside of torch.func's transforms, are no operators' results.",
            )
        return self.constant(tensor)

    def known_node(self, tensor: Tensor) -> Node | None:
        """The node of a tensor's value, if it has one."""
        known = self.of_object.get(id(tensor)) or self.nodes.get(memory_of(tensor))
        return None if known is None else known[1]

    def constant(self, tensor: Tensor) -> Node:
        """A new constant."""
        prefix = "_param_constant" if isinstance(tensor, Parameter) else "_tensor_constant"
        name = f"{prefix}{len(self.constants)}"
        with self.outermost():
            node = self.create_node("get_attr", name, (), {})
        self.constants[node] = tensor
        self.fixed.add(node)
        self.note(tensor, node)
        return node

    @property
    def numbers(self) -> Any:
        """What knows of numbers that are not known, or None."""
        return self.unbacked

    def constant_of(self, node: Node) -> Tensor:
        """The tensor of a constant."""
        return self.constants[node]

    def lifted(self, func: Callable[..., Tensor], *args: Any, **kwargs: Any) -> Any:
        """A copy of a constant that a function makes of numbers."""
        with self.dispatch.silent():
            made = func(*args, **kwargs).detach()
        self.constant(made)
        return self.operator("lift_fresh_copy", made)

    def note_results(self, results: Any, node: Node) -> None:
        """Give each tensor of a result its node, and say whether it depends on the inputs."""
        if all(n in self.fixed for n in node.all_input_nodes) and "rand" not in str(node.target):
            self.fixed.add(node)
        if isinstance(results, (tuple, list)):
            results = tuple(results)
        super().note_results(results, node)
        if self.unbacked is not None and node.target is not operator.getitem and node not in self.fixed:
            self.unbacked.note(node, results)

    def create_arg(self, a: Any) -> Any:
        """An argument with nodes in place of tensors and of numbers that are not known."""
        return a.known.node_of(a) if isinstance(a, Number) else super().create_arg(a)

    def create_node(self, kind: str, target: Any, *rest: Any, **kwargs: Any) -> Node:
        """Write a node, with the program's call that it is a part of."""
        node = super().create_node(kind, target, *rest, **kwargs)
        if kind == "call_function" and self.torch_fn is not None:
            node.meta["torch_fn"] = self.torch_fn
        return node

    # ---- calls
    def note_call(self, name: str, kind: str, function: Any) -> None:
        """The program calls a function of this name; ``kind``: what type PyTorch's function has."""
        self.calls[kind, function] += 1
        self.torch_fn = f"{name}_{self.calls[kind, function]}", f"{kind}.{name}"

    def note_custom(self, func: Any) -> None:
        """The program calls an operator of its own."""
        self.note_call(func.__name__, "OpOverload", func)

    def operator(self, name: str, *args: Any, **kwargs: Any) -> Any:
        """Run an operator of PyTorch, and write it.

        Raises:
            TypeError: these are not its arguments.
        """
        found = matching(name, args, kwargs)
        if found is None:
            raise TypeError(f"aten::{name} has no overload for these arguments")
        return self.run(name, *found)

    def run(self, name: str, overload: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run one overload, and write it."""
        op = getattr(getattr(torch.ops.aten, name), overload)
        Recorder.last = str(op)
        self.note_grad_mode()
        given, named = self.create_arg(args), self.create_arg(kwargs)
        if self.unbacked is not None:
            args, kwargs = map_aggregate((args, kwargs), hint_of)
        with self.dispatch.silent():
            result = op(*args, **kwargs)
        self.note_results(result, self.call(op, given, named))
        return result

    def note_grad_mode(self) -> None:
        """Write that ``no_grad`` was entered or left."""
        if torch.is_grad_enabled() is not self.grad and not self.in_function:
            self.grad = not self.grad
            self.create_node("call_function", torch._C._set_grad_enabled, (self.grad,), {})

    def enter(self, func: Any, args: Any, kwargs: Any) -> Any:
        """Run a public function's own code, and write the calls inside."""
        site = SITES.get(id(func))
        if site is None:  # it asks modes itself, so it runs without one
            return func(*args, **kwargs)
        with self.mode:
            result = site.unchanged(*args, **kwargs)
        if isinstance(result, Tensor) and id(result) not in self.of_object and memory_of(result) not in self.nodes:
            if not any(isinstance(a, Tensor) for a in tree_leaves((args, kwargs))):
                self.constant(result)  # of a function that makes a tensor of numbers
        return result

    def composed(self, function: Any, args: Any, kwargs: Any) -> Any:
        """Run PyTorch's version of a function, and write the calls inside."""
        with self.mode:
            return function(self, *args, **kwargs)


class _Functions(TorchFunctionMode):
    """Hears of every public function."""

    def __init__(self, recorder: Recorder) -> None:
        super().__init__()
        self.recorder = recorder

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        recorder = self.recorder
        if recorder.dispatch.quiet:
            return func(*args, **(kwargs or {}))
        inside, recorder.inside = recorder.inside, True
        try:
            if not inside:
                recorder.note_call(*self._called(func))
            return self._write(func, args, kwargs or {}, inside)
        finally:
            recorder.inside = inside

    def _called(self, func: Any) -> tuple[str, str, Any]:
        """PyTorch's name of a function, what type it has there, and what tells it from others."""
        name, layers = function_name(func), list(self.recorder.module_stack.values())
        if name in ("relu", "relu_") and layers and layers[-1][1] == _RELU:
            return "relu", "function", ("nn.functional", "relu")  # which PyTorch's layer calls
        return _METHODS_OF_PYTHON.get(name, name), _kind(func), place_of(func)

    def _write(self, func: Any, args: Any, kwargs: Any, inside: bool) -> Any:
        from ._composed import COMPOSED

        recorder = self.recorder
        space, name = place_of(func)
        if recorder.unbacked is not None and name in SIZE_QUESTIONS and args and isinstance(args[0], Tensor):
            sizes = recorder.unbacked.sizes(args[0])
            if recorder.compared is not None and not inside:
                sizes = recorder.compared.sizes(args[0], sizes)
            return SIZE_QUESTIONS[name](sizes, func, *args, **(kwargs or {}))
        if space == "attribute":
            if name in _ATTRIBUTES:
                return recorder.operator(_ATTRIBUTES[name], *args)
            return func(*args, **kwargs)
        if name in LEAVE_TENSORS:
            taken = _value_taken(recorder, name, args)
            return func(*args, **kwargs) if taken is NotImplemented else taken
        if name in _MAKE_CONSTANTS and space in ("torch", ""):
            return _constant_made(recorder, func, args, kwargs)
        if name == "requires_grad_" or (space == "Tensor" and name in METADATA):
            return func(*args, **kwargs)
        composed = COMPOSED.get(f"{space}.{name}")
        if composed is None and space not in ("linalg", "fft", "special"):
            composed = COMPOSED.get(name)
        if composed is not None:
            result = recorder.composed(composed, args, kwargs)
            if result is not NotImplemented:
                return result
        if name in _CASTS and space == "Tensor":
            return recorder.composed(COMPOSED["to"], (args[0], getattr(torch, _CASTS[name])), {})
        found = _as_operator(space, name, args, kwargs)
        if found is not None:
            return recorder.run(*found)
        if kwargs.get("out") is not None:
            return self._copied_out(func, args, dict(kwargs))
        return recorder.enter(func, args, kwargs)

    def _copied_out(self, func: Any, args: Any, kwargs: Any) -> Any:
        """Write what a function returns, which is no operator, into ``out``."""
        out = kwargs.pop("out")
        with self:
            result = func(*args, **kwargs)
        for written, value in zip(tree_leaves(out), tree_leaves(result), strict=True):
            if written.shape != value.shape:
                self.recorder.operator("resize_", written, list(value.shape))
            self.recorder.operator("copy_", written, value)
        return out


_METHODS_OF_PYTHON = {"__rtruediv__": "__rdiv__", "__pow__": "pow", "__ipow__": "pow_"}  # by PyTorch's names
_SLOTS = frozenset(["__getitem__", "__setitem__"])
_RELU = "torch.nn.modules.activation.ReLU"
_IN_PYTHON = frozenset(["__pow__", "__ipow__", "__floordiv__", "unflatten", "_assert"])  # PyTorch's methods
METADATA = frozenset(
    [
        "size", "dim", "ndimension", "numel", "nelement", "stride", "storage_offset", "is_contiguous", "element_size",
        "is_floating_point", "is_complex", "is_signed", "get_device", "data_ptr", "untyped_storage", "storage",
        "__len__", "__repr__", "__str__", "__format__", "__hash__", "register_hook", "retain_grad", "has_names",
        "is_shared", "names", "dim_order", "is_set_to", "__deepcopy__", "is_inference",
    ]
)  # fmt: skip


def _kind(func: Any) -> str:
    """The name of the type of PyTorch's function."""
    space, name = place_of(func)
    if asks_in_python(func) or name[:3] == "__r" or name in _IN_PYTHON:
        return "function"
    if space == "Tensor":
        return "wrapper_descriptor" if name in _SLOTS else "method_descriptor"
    return "method-wrapper" if space == "attribute" else "builtin_function_or_method"


def _as_operator(space: str, name: str, args: Any, kwargs: Any) -> tuple[str, str, Any, Any] | None:
    """The operator that a call is: its name, overload and arguments. None: a function written in Python."""
    kwargs = {k: v for k, v in kwargs.items() if k != "out" or v is not None}
    name = _OPERATORS.get(name, _RENAMED.get(name, name))
    candidates = [f"{space}_{name}"] if space in ("linalg", "fft", "special") else []
    for candidate in (*candidates, name):
        if not schemas(candidate):
            continue
        given = dict(kwargs)
        if given.pop("requires_grad", False):
            return None
        if "out" in given:
            found = matching_out(candidate, args, given)
            return found and (candidate, *found)
        found = matching(candidate, args, given)
        if found is not None:
            overload, placed, named = found
            return candidate, overload, placed, named | factory_defaults(candidate)
    return None


def _value_taken(recorder: Recorder, name: str, args: Any) -> Any:
    """What a call gives that takes a number out of tensors; NotImplemented: what it gives in the example."""
    for a in args:
        if isinstance(a, Tensor) and recorder.node_of(a) not in recorder.fixed:
            if recorder.unbacked is None:
                recorder.on_value(name, a)
            else:
                return recorder.unbacked.taken(name, a)
    return NotImplemented


def _constant_made(recorder: Recorder, func: Any, args: Any, kwargs: Any) -> Any:
    """``torch.tensor([1, 2])`` in a program: a constant, copied when the graph runs."""
    if args and isinstance(args[0], Tensor):
        return recorder.enter(func, args, kwargs)
    if any(isinstance(x, Number) for x in tree_leaves(args[:1])):
        return _tensor_of_numbers(recorder, args[0], kwargs.get("dtype"))
    return recorder.operator("detach_", recorder.lifted(func, *args, **kwargs))


def _tensor_of_numbers(recorder: Recorder, data: Any, dtype: Any) -> Any:
    """``torch.tensor([x.shape[0], 2])``: operators make it, since its numbers are known when the graph runs."""
    if dtype is None:
        with recorder.dispatch.silent():
            dtype = torch.tensor([hint_of(x) for x in tree_leaves(data)]).dtype

    def made(data: Any) -> Any:
        if isinstance(data, (list, tuple)):
            return recorder.operator("stack", [made(x) for x in data])
        return recorder.operator("scalar_tensor", data, dtype=dtype, **factory_defaults("scalar_tensor"))

    from ._composed import COMPOSED

    return recorder.operator("detach_", COMPOSED["to"](recorder, made(data), torch.device("cpu"), dtype))
