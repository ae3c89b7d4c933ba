"""The graph of PyTorch nodes behind a fused node, made when a program inspects it.

``linear`` is ``addmm(bias, input, weight.t())`` in PyTorch, and a batched ``matmul`` is a product of matrices between
views; here each is one node. ``next_functions`` of such a node must return PyTorch's nodes. So on the first access the
node becomes the head of that graph: from then on real nodes do its step, and a program can register hooks on them and
compute gradients at them. A graph that is not inspected costs nothing.

The new nodes have sequence numbers between those of the fused node and of the nodes drawn before it, so the order of a
pass does not change. A node whose saved values are already freed cannot be taken apart and is shown unchanged.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from .._base.registry import REGISTRY
from .node import FREED, AccumulateGrad, Box, Node, Version, named, unnamed


def shown_as(N: Any, graph: Callable[[Any], Node | None]) -> None:
    """Let nodes of the class ``N`` show the graph ``graph(node)``; ``None`` means their own edges."""

    def next_functions(n: Any) -> Any:
        _take_apart(n, graph)
        return Node.next_functions.fget(n)

    def of_head(name: str) -> Any:
        def method(n: Any, *args: Any) -> Any:
            _take_apart(n, graph)
            return getattr(Node, name)(n, *args)

        return method

    N.next_functions = property(next_functions, doc=Node.next_functions.__doc__)
    for name in ("__dir__", "__call__", "register_hook", "register_prehook"):  # hooks get the node's own cotangents
        setattr(N, name, of_head(name))


def _take_apart(n: Any, graph: Callable[[Any], Node | None]) -> None:
    if type(n).__dict__.get("taken_apart"):
        return
    head = graph(n)
    if head is not None:
        n.__class__ = _head_class(type(n))  # type: ignore[arg-type]  # mypy: a class is hashable
        n.fx = head


@functools.cache
def _head_class(cls: Any) -> Any:
    """A class of the same layout whose nodes delegate everything to the first node of their graph, in ``fx``."""
    members = {
        "__slots__": (),
        "__module__": cls.__module__,
        "taken_apart": True,
        "_edges": lambda n: n.fx._edges(),
        "backward": lambda n, xp, g, keep: n.fx.backward(xp, g, keep),
        "_release": lambda n: n.fx._release(),
        "saved": lambda n, key: n.fx.saved(key),
        "keeper": property(lambda n: getattr(n.fx, "layer", n.fx)),
        "shape": property(lambda n: n.fx.shape),
        "saved_names": property(lambda n: n.fx.saved_names),
    }
    return type(cls.__name__, (cls,), members)


# ---- nodes of the graph
def node_of(operator: str, after: Node, step: float, **slots: Any) -> Any:
    """A node of a registered operator with the line of ``after`` and a sequence number ``step`` before it."""
    n = REGISTRY[operator].node()
    n._seq = after._seq - step
    n._hooks = None
    n._code, n._lasti = after._code, after._lasti
    for key, value in slots.items():
        setattr(n, key, value)
    return n


def copy_of(n: Any) -> Any:
    """A copy of the node ``n`` without its hooks."""
    other = type(n)()
    for cls in type(n).__mro__[:-1]:
        for slot in cls.__dict__.get("__slots__", ()):
            if slot != "__weakref__" and hasattr(n, slot):
                setattr(other, slot, getattr(n, slot))
    other._hooks = None
    return other


def let_go(n: Any) -> None:
    """Drop the saved values of a node that was taken apart."""
    for slot in ("x", "y"):
        if isinstance(getattr(n, slot), Box):
            setattr(n, slot, FREED)


def reshaped(box: Any, shape: tuple[int, ...]) -> Any:
    """A saved value in another shape, with the same version cell; a saved shape is returned unchanged."""
    if type(box) is tuple:
        return shape
    if box.cell is None:
        box.cell = Version()
    other = Box()
    other.a = box.a.reshape(shape)
    other.cell = box.cell
    return other


def shape_of(value: Any) -> tuple[int, ...] | None:
    """The shape of an operand from a product's saved value; ``None`` if the value was freed or packed."""
    if type(value) is tuple:
        return value
    return tuple(value.a.shape) if type(value) is Box and value.a is not None else None


def viewed(edge: Node | None, value: Any, shape: tuple[int, ...], n: Node, step: float) -> Node | None:
    """The node of ``reshape`` to this shape in PyTorch's graph: a view, or a copy and a view."""
    if edge is None:
        return None
    old = shape_of(value)
    a = value.a if type(value) is Box else None
    if not isinstance(a, np.ndarray) or a.flags.c_contiguous:
        return node_of("view", n, step, fx=edge, params=(shape,), shape=old)
    if np.may_share_memory(a.reshape(shape), a):
        return named(node_of("view", n, step, fx=edge, params=(shape,), shape=old), "ReshapeAliasBackward0")
    clone = node_of("clone", n, step + 0.05, fx=edge, params=("C",))
    return node_of("reshape", n, step, fx=clone, params=(shape,), shape=old)


# ---- the products' graphs
def matmul_graph(n: Any) -> Node | None:
    """The graph of a batch of matrices times a matrix, a vector or another batch: a product between views."""
    sx, sy = shape_of(n.x), shape_of(n.y)
    if sx is None or sy is None or len(sx) < 3:
        return None
    *lead, rows, k = sx
    if len(sy) > 2:
        return _batched(n, sx, sy)
    many = int(np.prod(lead, dtype=np.int64)) * rows
    left = viewed(n.fx, n.x, (many, k), n, 0.4)
    product = node_of(
        "mat_mat" if len(sy) == 2 else "mat_vec", n, 0.2, fx=left, fy=n.fy, x=reshaped(n.x, (many, k)), y=n.y
    )
    return _head(n, product, (many, *sy[1:]), (*lead, rows, *sy[1:]))


def _head(n: Any, product: Node, inner: tuple[int, ...], outer: tuple[int, ...]) -> Node:
    let_go(n)
    return node_of("reshape", n, 0, fx=product, params=(outer,), shape=inner)


def _batched(n: Any, sx: tuple[int, ...], sy: tuple[int, ...]) -> Node:
    """The graph for two batches: both are expanded to the same batch dimensions, which are flattened to one."""
    batch = np.broadcast_shapes(sx[:-2], sy[:-2])
    many = int(np.prod(batch, dtype=np.int64))
    edges: list[Any] = []
    kept: list[Any] = []
    for edge, value, shape, step in ((n.fx, n.x, sx, 0.4), (n.fy, n.y, sy, 0.5)):
        size, flat = (*batch, *shape[-2:]), (many, *shape[-2:])
        wide = value
        if shape != size:
            wide = size if type(value) is tuple else _expanded(value, size)
        if edge is not None:
            edge = node_of("expand", n, step + 0.2, fx=edge, params=(size,), shape=shape)
        edges.append(viewed(edge, wide, flat, n, step))
        kept.append(reshaped(wide, flat))
    product = node_of("bmm", n, 0.2, fx=edges[0], fy=edges[1], x=kept[0], y=kept[1])
    return _head(n, product, (many, sx[-2], sy[-1]), (*batch, sx[-2], sy[-1]))


def _expanded(box: Box, size: tuple[int, ...]) -> Box:
    wide: Box = reshaped(box, box.a.shape)
    wide.a = np.broadcast_to(box.a, size)
    return wide


def row_graph(n: Any) -> Node | None:
    """The graph of a vector times a matrix: a product of two matrices, the first with one row."""
    sx, sy = shape_of(n.x), shape_of(n.y)
    if sx is None or sy is None:
        return None
    row = None if n.fx is None else node_of("unsqueeze_dim", n, 0.4, fx=n.fx, params=(0,), shape=sx)
    product = node_of("mat_mat", n, 0.2, fx=row, fy=n.fy, x=reshaped(n.x, (1, *sx)), y=n.y)
    let_go(n)
    return named(node_of("squeeze_dim", n, 0, fx=product, params=(0,), shape=(1, *sy[1:])), "SqueezeBackward4")


# ---- the layer
class LayerHead(Node):
    """The layer's own step, which returns the cotangent of the transposed weight."""

    __slots__ = ("layer", "to")
    layer: Any
    to: tuple[Node | None, ...]
    saved_names = property(lambda self: self.layer.saved_names)

    def _edges(self) -> tuple[Node | None, ...]:
        return self.to

    def backward(self, xp: Any, g: Any, keep: bool) -> tuple[Any, ...]:
        pairs = self.layer.backward(xp, g, keep)
        transposed = self.to[-1]
        if transposed is None:
            return pairs
        return (*pairs[:-2], transposed, xp.permute(pairs[-1], (1, 0)))

    def saved(self, name: str) -> Any:
        return self.layer.saved(name)

    def _release(self) -> None:
        self.layer._release()


def layer_graph(n: Any) -> Node | None:
    """The graph of ``linear``: a product with the transposed weight."""
    head = LayerHead()
    head._seq, head._hooks, head._code, head._lasti = n._seq, None, n._code, n._lasti
    transposed = None
    if n.fy is not None:
        shape = shape_of(n.x if n.y is None else n.y) or (0, 0)
        transposed = node_of("matrix_t", n, 0.5, fx=n.fy, params=(), shape=shape)
    head.to = (*n._edges()[:-1], transposed)
    head.layer = copy_of(n)
    let_go(n)
    return head


# ---- sizes and strides of the factors
def with_sizes(
    N: Any, first: str, second: str, kept: tuple[str, ...] = (), transposed: bool = False, **more: Any
) -> None:
    """PyTorch's names of the saved values of a product of two matrices: the factors, their sizes and their strides.

    ``kept``: further names that the node knows; ``more``: names with a constant value. ``transposed``: the second
    factor's node is that of its transpose.
    """
    plain = N.saved
    slots = {first: "x", second: "y"}
    sizes = {f"{name}_sym_sizes": name for name in slots}
    strides = {f"{name}_sym_strides": name for name in slots}

    def layout(n: Any, name: str) -> tuple[Any, Any]:
        value, edge = getattr(n, slots[name]), getattr(n, "f" + slots[name])
        if isinstance(value, Box) and value is not FREED:
            tensor = plain(n, name)
            return tuple(tensor.shape), tuple(tensor.stride())
        if type(edge) is not AccumulateGrad:  # values that the formulas do not need were not saved
            return (value, None) if type(value) is tuple else (None, None)
        step = -1 if transposed and name == second else 1
        return tuple(edge.variable.shape[::step]), tuple(edge.variable.stride()[::step])

    def saved(n: Any, key: str) -> Any:
        if key in more:
            return more[key]
        if key in sizes:
            return layout(n, sizes[key])[0]
        if key in strides:
            name = strides[key]
            return () if getattr(n, "f" + slots[name]) is None else layout(n, name)[1]
        return plain(n, key)

    N.saved = saved
    N.saved_names = (*slots, *sizes, *strides, *kept, *more)
    unnamed.update(N.saved_names)
