"""The ONNX graph while it is built: names of values, constants, sizes, writes in place.

An emitter is a function for one of PyTorch's operators (``@emits``): it is given the builder and the operator's
arguments, tensors as ``Value``, and gives the name of the result, or names if it has several.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

import wengert as torch

from .._base.errors import noted
from ..export._tracing import line_of
from ..fx.experimental._symbols import SizeName as Symbol
from ..fx.node import Node, map_arg
from ..utils._aten import OpOverload
from ..utils._higher_order import HigherOrderOperator
from ._errors import UnsupportedOperatorError

Tensor = torch.Tensor
Emitter = Callable[..., Any]
EMITTERS: dict[str, Emitter] = {}


def emits(names: str) -> Callable[[Emitter], Emitter]:
    """Register the emitter of these operators of PyTorch, whatever their overload."""

    def register(emitter: Emitter) -> Emitter:
        EMITTERS.update(dict.fromkeys(names.split(), emitter))
        return emitter

    return register


def emits_each(rows: dict[str, Emitter]) -> None:
    """Register emitters of one expression: the names of operators, as ``emits`` has them, and the function of each."""
    for names, emitter in rows.items():
        emitter.__name__ = emitter.__qualname__ = names.split()[0]  # for errors
        emits(names)(emitter)


class Value(NamedTuple):
    """A value of the ONNX graph: its name and what is known of it. ``shape`` has a text for a size that may differ."""

    name: str
    dtype: Any
    shape: tuple[Any, ...]
    array: Any = None  # of a constant

    @property
    def rank(self) -> int:
        """The number of dims."""
        return len(self.shape)


# Operators whose result is their first argument's memory.
VIEWS = frozenset(
    [
        "alias", "detach", "diagonal", "expand", "expand_as", "movedim", "narrow", "numpy_T", "permute", "select",
        "slice", "squeeze", "swapaxes", "swapdims", "t", "transpose", "unflatten", "unfold", "unsqueeze", "view",
        "view_as", "mT", "mH", "real", "reshape", "flatten", "contiguous", "broadcast_to",
    ]
)  # fmt: skip


def _is_copy(node: Node, name: str) -> bool:
    """Whether an operator that gives a view where it can had to copy."""
    argument: Any = node.args[0]
    return name in ("reshape", "flatten", "contiguous") and not argument.meta["val"].is_contiguous()


_OF_NUMBERS = {
    "add": "Add", "sub": "Sub", "mul": "Mul", "floordiv": "Div", "truediv": "Div", "neg": "Neg", "mod": "Mod",
    "pow": "Pow", "sym_max": "Max", "sym_min": "Min", "sym_float": "Identity", "sym_int": "Identity", "abs": "Abs",
}  # fmt: skip


def _is_asserted(node: Node) -> bool:
    """Whether a number serves only assertions, which have no form in ONNX."""
    return all(
        "_assert_scalar" in str(user.target) or ("symbol" in user.meta and user.users and _is_asserted(user))
        for user in node.users
    )


_NUMBERS = {bool: torch.bool, int: torch.int64, float: torch.float32}


class Builder:
    """An ONNX graph.

    Args:
        onnx: the package.
        opset: the version of its operators.
        sizes: the sizes that may differ.
    """

    def __init__(self, onnx: Any, opset: int, sizes: Iterable[Symbol]) -> None:
        self.onnx, self.opset = onnx, opset
        self.sizes = {str(s): s.shown for s in sizes if s.shown.isidentifier()}  # their names in the program
        self.nodes: list[Any] = []
        self.initializers: list[Any] = []
        self.values: dict[Node, Any] = {}
        self.places: dict[Node, tuple[Node, tuple[Node, ...]]] = {}  # of views and of results of writes
        self.versions: dict[Node, int] = {}  # how often a memory was written to
        self.taken_at: dict[Node, int] = {}  # the version that a view was taken of
        self.used: dict[str, int] = {}
        self.known: dict[Any, str] = {}
        self.captured: set[str] = set()  # names that graphs inside of the graph use
        self.node: Any = None  # that is being emitted

    # ---- names
    def fresh(self, hint: str) -> str:
        """A name that is not there yet."""
        count = self.used.get(hint, -1) + 1
        self.used[hint] = count
        return hint if count == 0 else self.fresh(f"{hint}_{count}")

    def emit(self, op: str, *inputs: Any, outputs: int = 1, **attributes: Any) -> Any:
        """Add a node and give the name of its output, or names. An input that is left out is None."""
        hint = self.node.name if self.node is not None else op.lower()
        names = [self.fresh(hint) for _ in range(outputs)]
        given = ["" if i is None else i.name if isinstance(i, Value) else i for i in inputs]
        while given and not given[-1]:
            given.pop()
        attributes = {k: v for k, v in attributes.items() if v is not None}
        self.nodes.append(
            self.onnx.helper.make_node(op, given, names, name=self.fresh(f"node_{names[0]}"), **attributes)
        )
        return names[0] if outputs == 1 else names

    def const(self, value: Any, dtype: Any = None, name: str | None = None) -> str:
        """The name of a constant; small ones that are equal are one."""
        array = np.asarray(value, None if dtype is None else as_numpy(dtype))
        key = (array.dtype.str, array.shape, array.tobytes()) if array.size <= 16 and name is None else None
        if key in self.known:
            return self.known[key]
        made = self.fresh(name or "c")
        self.initializers.append(
            self.onnx.numpy_helper.from_array(np.ascontiguousarray(array).reshape(array.shape), made)
        )
        if key is not None:
            self.known[key] = made
        return made

    # ---- values
    def element_type(self, dtype: Any) -> int:
        """ONNX's number of a dtype."""
        if dtype == torch.bfloat16:
            return int(self.onnx.TensorProto.BFLOAT16)
        return int(self.onnx.helper.np_dtype_to_tensor_dtype(np.dtype(as_numpy(dtype))))

    def cast(self, value: Any, dtype: Any) -> Any:
        """The name of a value of this dtype: a constant for a number."""
        if not isinstance(value, Value):
            return self.const(value, dtype)
        if value.dtype == dtype:
            return value.name
        return self.emit("Cast", value.name, to=self.element_type(dtype))

    def shape_of(self, value: Value) -> str:
        """The name of a value's shape as a tensor."""
        if all(isinstance(s, int) for s in value.shape):
            return self.const(list(value.shape), torch.int64)
        return str(self.emit("Shape", value.name))

    def size(self, value: Value, dim: int) -> int:
        """One size of a value, which must not be one that may differ."""
        size = value.shape[dim]
        if not isinstance(size, int):
            raise self.unsupported(f"size {dim} of an argument may differ, and this operator needs to know it")
        return size

    def info(self, value: Value) -> Any:
        """What an input or output is."""
        shape = [s if isinstance(s, int) else str(s) for s in value.shape]
        return self.onnx.helper.make_tensor_value_info(value.name, self.element_type(value.dtype), shape)

    def ints(self, values: Any) -> str:
        """The name of a list of sizes as a tensor; some may be values of the graph."""
        values = list(values)
        if all(isinstance(v, int) for v in values):
            return self.const(values, torch.int64)
        parts = [
            self.emit("Reshape", v.name, self.const([1], torch.int64)) if isinstance(v, Value)
            else self.const([v], torch.int64) for v in values
        ]  # fmt: skip
        return str(self.emit("Concat", *parts, axis=0))

    def scalar_ints(self, *values: Any) -> list[str]:
        """The names of numbers as tensors of one element."""
        return [self.ints([v]) for v in values]

    def reduce(self, op: str, x: str, axes: Any, keepdim: bool) -> str:
        """A reduction over some dims, or all (None)."""
        if axes is None or (self.opset < 18 and op != "ReduceSum"):
            return str(self.emit(op, x, axes=axes, keepdims=int(keepdim)))
        return str(self.emit(op, x, self.const(list(axes), torch.int64), keepdims=int(keepdim)))

    def unsupported(self, why: str, name: Any = None) -> Exception:
        """The error of an operator that has no form in ONNX, or not with these arguments."""
        target = getattr(self.node, "target", name)
        return noted(
            UnsupportedOperatorError(f"No ONNX function found for {target!r}"),
            f"Why: {why}.",
            f"Where: {line_of(self.node)}",
            "What to do: compute it with other operators; docs/export.md lists those that are written.",
        )

    def refuse_if(self, condition: Any, why: str) -> None:
        """Raise the error of arguments that have no form in ONNX."""
        if condition:
            raise self.unsupported(why)

    # ---- nodes
    def run(self, node: Node) -> None:
        """Emit what a node of the exported program computes."""
        self.node = node
        target: Any = node.target
        if isinstance(target, HigherOrderOperator):
            from ._control_flow import written

            self.values[node] = written(self, node)
            return
        if not isinstance(target, OpOverload):
            self.values[node] = self.of_python(node)
            return
        name = target.overloadpacket.__name__
        in_place = name[-1] == "_" and not name.startswith("__")
        if in_place:
            name = name[:-1]
        if name in ("_assert_tensor_metadata", "_assert_scalar"):
            return
        made = self.made(node, name)
        if in_place:
            self.write(node, made)
            return
        self.values[node] = made
        if name in VIEWS and isinstance(node.args[0], Node) and not _is_copy(node, name):
            root, path = self.place(node.args[0])
            self.places[node] = root, (*path, node)
            self.taken_at[node] = self.versions.get(root, 0)

    def made(self, node: Node, name: str) -> Any:
        """The values of a node: of constants at once, and else by its emitter."""
        args, kwargs = map_arg(node.args, self.value), map_arg(node.kwargs, self.value)
        folded = self.folded(node, args, kwargs)
        if folded is not None:
            return folded
        emitter = EMITTERS.get(name)
        if emitter is None:
            raise self.unsupported("this operator has no emitter")
        kwargs = {k: v for k, v in dict(kwargs).items() if k not in ("pin_memory", "device", "layout", "memory_format")}
        try:
            names = emitter(self, *args, **kwargs)
        except TypeError as e:
            raise self.unsupported(f"not with these arguments ({e})") from e
        return self.described(names, node)

    def described(self, names: Any, node: Node) -> Any:
        """Names with what the trace knows of the results."""
        if isinstance(names, (list, tuple)):
            metas = {n.args[1]: n for n in node.users if n.op == "call_function" and len(n.args) == 2}
            return [self.described(n, metas[i]) if i in metas else n for i, n in enumerate(names)]
        meta = node.meta.get("val")
        if not isinstance(meta, Tensor):
            return Value(names, _NUMBERS[type(node.meta.get("hint", 0))], ())
        return Value(names, meta.dtype, self.sizes_of(node))

    def sizes_of(self, node: Node) -> tuple[int | str, ...]:
        """The sizes of a node's value; texts of those that may differ."""
        shape = node.meta.get("symbolic_shape", node.meta["val"].shape)
        return tuple(
            [re.sub(r"\w+", lambda m: self.sizes.get(m[0], m[0]), d) if isinstance(d, str) else d for d in shape]
        )

    def of_python(self, node: Node) -> Any:
        """``getitem``, arithmetic of sizes, and ``_set_grad_enabled``, which has no meaning in ONNX."""
        name = getattr(node.target, "__name__", "")
        args = [self.values[a] if isinstance(a, Node) else a for a in node.args]
        if name == "getitem":
            return args[0][args[1]]
        if name == "_set_grad_enabled":
            return None
        if _is_asserted(node):
            return None
        op = _OF_NUMBERS.get(name)
        if op is None:
            raise self.unsupported("this function has no emitter")
        hints = [n.meta.get("hint", 0) for n in (node, *node.all_input_nodes)]
        whole = op not in ("Pow", "Div") and not any(isinstance(h, float) for h in hints)
        dtype = torch.int64 if whole or name == "floordiv" else torch.float32
        made = self.emit(op, *[self.cast(a, dtype) for a in args])
        if name == "floordiv":  # ONNX rounds towards zero
            number = torch.float32
            made = self.emit("Floor", self.emit("Div", *[self.cast(a, number) for a in args]))
            made = self.emit("Cast", made, to=self.element_type(dtype))
        elif name in ("pow", "sym_int") and not isinstance(hints[0], float):
            dtype = torch.int64
            made = self.emit("Cast", made, to=self.element_type(dtype))
        return Value(made, dtype, ())

    def folded(self, node: Node, args: Any, kwargs: Any) -> Any:
        """The value of a node that depends on no input, computed now."""
        found: list[Any] = []
        map_values((args, kwargs), found.append)
        if any(v.array is None for v in found) or "rand" in str(node.target) or sum(v.array.size for v in found) > 4096:
            return None
        meta = node.meta.get("val")
        if not isinstance(meta, Tensor) or meta.numel() > 1 << 22 or "symbolic_shape" in node.meta:
            return None
        given = map_values((args, kwargs), lambda v: torch.tensor(v.array))
        with torch.no_grad():
            target: Any = node.target
            computed = target(*given[0], **given[1]).numpy()
        return Value(self.const(computed, name=node.name), meta.dtype, tuple(meta.shape), computed)

    # ---- writes in place
    def place(self, node: Node) -> tuple[Node, tuple[Node, ...]]:
        """The node that made the memory of a value, and the views that lead from there to it."""
        return self.places.get(node, (node, ()))

    def value(self, node: Node) -> Any:
        """What a node's value is now: a view of what was written since is taken again."""
        root, path = self.place(node)
        if not path:
            return self.values[root]
        view = path[-1]
        version = self.versions.get(root, 0)
        if self.taken_at[view] != version:
            outer, self.node = self.node, view
            target: Any = view.target
            self.values[view] = self.made(view, target.overloadpacket.__name__)
            self.taken_at[view] = version
            self.node = outer
        return self.values[view]

    def write(self, node: Node, new: Value) -> None:
        """After a write in place: the memory has new contents, which its views see."""
        place: Any = node.args[0]
        old = self.value(place)
        name = self.cast(new, old.dtype)
        if new.shape != old.shape:
            name = self.emit("Expand", name, self.shape_of(old))
        root, path = self.places[node] = self.place(place)
        if path:
            name = self.scattered(self.values[root], path, name, old)
        self.values[root] = self.values[root]._replace(name=name, array=None)
        self.versions[root] = self.versions.get(root, 0) + 1

    def scattered(self, whole: Value, path: tuple[Node, ...], name: str, part: Value) -> str:
        """A value with other elements where a view is: their places are counted now."""
        if not all(isinstance(s, int) for s in (*whole.shape, *part.shape)):
            raise self.unsupported("it writes into a view of a value whose sizes may differ")
        places = torch.arange(int(np.prod(whole.shape, dtype=int))).reshape(whole.shape)
        for view in path:
            target: Any = view.target
            places = target(places, *view.args[1:], **view.kwargs)
        flat = [self.emit("Reshape", v, self.const([-1], torch.int64)) for v in (whole.name, name)]
        new = self.emit("ScatterElements", flat[0], self.const(places.reshape(-1).numpy()), flat[1], axis=0)
        return str(self.emit("Reshape", new, self.const(list(whole.shape), torch.int64)))


def map_values(tree: Any, function: Callable[[Value], Any]) -> Any:
    """Nested arguments with something in place of each value."""
    if isinstance(tree, Value):
        return function(tree)
    if isinstance(tree, (list, tuple)):
        return type(tree)([map_values(t, function) for t in tree])
    if isinstance(tree, dict):
        return {k: map_values(v, function) for k, v in tree.items()}
    return tree


def as_numpy(dtype: Any) -> Any:
    """NumPy's dtype."""
    return dtype.np if isinstance(dtype, torch.dtype) else dtype
