"""Graph nodes, the boxes that they save, and the versions that show whether a saved value was overwritten.

A tensor's ``_node`` is the node that made it (or ``None``); a leaf's is its ``AccumulateGrad``, which owns ``.grad``.
A node points to the nodes of its inputs, never to a tensor: a tensor that a formula uses is saved as its ``Box``,
which holds the array and no history, so later writes in place cannot close a reference cycle in a graph.

NOTE [ Sequence numbers ]
    A node's ``seq`` is drawn after its inputs were read, so a node is younger than every node it points to, and
    youngest-first is a topological order. Writes in place draw from the same counter: a saved value is stale
    exactly if its storage was written after the node was made. Nothing is stored at forward time for that check.
    Do not number a node before its inputs are known, and do not decrease its number later.

NOTE [ Boxes ]
    ``Box`` is (array, cell). It is made when a tensor is first saved, written or aliased, and lives in the tensor's
    ``_box``. Tensors that share a version counter (views, detached) have boxes with the same ``Version``; a box whose
    ``cell`` is ``None`` was never written and has no alias.
"""

from __future__ import annotations

import functools
import itertools
import weakref
from collections import deque
from collections.abc import Callable
from typing import Any

from numpy import ndarray

from .._base.forks import new_lock
from .._base.hooks import hook
from .._base.modes import Marks

ticks = itertools.count(1)  # the hot path draws with next(ticks), everything else with tick()
tick: Callable[[], int] = ticks.__next__


class Box:
    """A tensor's array and its version cell: what a node saves."""

    __slots__ = ("a", "cell")
    a: Any
    cell: Any


class Version:
    """The version of one storage: the number of writes, and the time and line of the latest write."""

    __slots__ = ("_code", "followers", "_lasti", "rebased", "_seq", "version", "writer", "writes")
    followers: Any  # of memory with conjugate views: ``_tape.conjugates``

    def __init__(self) -> None:
        self.version = 0
        self._seq = 0
        self.writer: str | None = None  # the name of the node that the latest recorded write made
        self.rebased = 0  # when the base's history was last rewritten: older views must refresh theirs
        self.writes: deque[int] | None = (
            None  # earlier sequence numbers, from which a message finds the expected version
        )
        self._code: Any = None
        self._lasti = 0

    def shown(self) -> int:
        """The version, for ``Tensor._version``."""
        return self.version

    def version_at(self, seq: int) -> int:
        """The version at the time of this sequence number."""
        return self.version - (self._seq > seq) - sum(1 for w in self.writes or () if w > seq)

    def write(self, seq: int, code: Any = None, lasti: int = 0) -> None:
        """Count one write."""
        self.version += 1
        if self._seq:
            self.remember()
        self._seq = seq
        self._code = code
        self._lasti = lasti

    def remember(self) -> None:
        """Store the number of the latest write before the next write overwrites it."""
        if self.writes is None:
            self.writes = deque(maxlen=64)
        self.writes.append(self._seq)


class _FreedCell:
    _seq = float("inf")


FREED = Box()
FREED.a = None
FREED.cell = _FreedCell()


class Hooks:
    """Rare attributes of a node: its hooks and the hooks of the tensors that it made."""

    __slots__ = ("done", "grad_dtype", "metadata", "ports", "post", "post_accumulate", "pre", "retain", "tensor_pre")

    def __init__(self) -> None:
        self.tensor_pre: dict[int, Any] | None = None  # tensor.register_hook
        self.retain: Any = None  # weak reference to the tensor that retains its .grad
        self.pre: dict[int, Any] | None = None  # node.register_prehook
        self.post: dict[int, Any] | None = None  # node.register_hook
        self.post_accumulate: dict[int, Any] | None = None
        self.done: dict[int, Any] | None = None  # called without arguments, after the others; torch.distributed's
        self.metadata: dict[Any, Any] | None = None
        self.ports: dict[int, Any] | None = None  # weak references to the ports that have hooks of their own
        self.grad_dtype: tuple[Any] | None = None  # a leaf's Tensor.grad_dtype: (NumPy's dtype,), or (None,) for any


hooked_leaves = Marks()  # leaves with hooks: while there are any, the order of accumulation matters


class LeafHooks(Hooks):
    """The hooks of a leaf; while any exist, a pass accumulates into each leaf as soon as its gradient is complete."""

    __slots__ = ("mark",)

    def __init__(self) -> None:
        super().__init__()
        self.mark = hooked_leaves.mark()


OTHER_ORDER = Hooks()  # of every leaf that is not row-major: its gradient takes the path of leaves with hooks


class RemovableHandle:
    """The handle that ``register_hook`` returns: ``remove()`` removes the hook; also a context manager.

    ``hooks`` is the dict that holds the hook under the handle's ``id``; ``extra_dict`` is one more dict, or a list of
    dicts, from which the hook is removed too. Their class must allow weak references.
    """

    next_id: int = 0

    def __init__(self, hooks: Any, *, extra_dict: Any = None) -> None:
        self.id: int = RemovableHandle.next_id
        RemovableHandle.next_id += 1
        more = [] if extra_dict is None else extra_dict if isinstance(extra_dict, list) else [extra_dict]
        self._refs: list[Any] = [weakref.ref(d) for d in (hooks, *more)]

    @property
    def hooks_dict_ref(self) -> Any:
        """The weak reference to the dict."""
        return self._refs[0]

    def remove(self) -> None:
        """Remove the hook; a second call does nothing."""
        for ref in self._refs:
            hooks = ref()
            if hooks is not None:
                hooks.pop(self.id, None)

    def __getstate__(self) -> Any:
        return (self._refs[0](), self.id, tuple(ref() for ref in self._refs[1:]))  # PyTorch's form

    def __setstate__(self, state: Any) -> None:
        hooks, self.id, *extra = state
        more = extra[0] or () if extra else ()
        self._refs = [weakref.ref(HookDict() if d is None else d) for d in (hooks, *more)]
        RemovableHandle.next_id = max(RemovableHandle.next_id, self.id + 1)  # later ids must differ

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *exc: object) -> None:
        self.remove()


class HookDict(dict[int, Any]):
    """A dict that allows weak references, so that a handle does not keep a graph alive."""

    __slots__ = ("__weakref__",)


# Names of saved values whose attributes ``_saved_NAME`` nodes do not have yet: they get them when one is looked at.
unnamed = {"self", "other", "result", "input", "exponent", "self_sym_sizes"}


@hook
def name_saved_values() -> None:
    """Give nodes the attributes ``_saved_NAME`` of ``unnamed``."""


# By operator: its result in place, of the result and the operands; None: the history stays as it was. See ``Operator``.
in_place_nodes: dict[Any, Any] = {}


TOGETHER = frozenset(("block_diag", "cat", "stack"))  # operators whose gradients PyTorch computes as one list


class Node:
    """A step of the tape: the operation that made a tensor, and its vjp."""

    __slots__ = ("__weakref__", "_code", "_hooks", "_lasti", "_seq")
    _hooks: Hooks | None
    _seq: int
    renumbered = False  # whether a program changed a number: else a node's is above its inputs'
    saved_names: tuple[str, ...] = ()

    by_user = False  # whether its backward step is the user's code
    own_derivative = False  # as in its operator's record: its recorded derivative's node is ``NAMEBackwardBackward0``
    piecewise = False  # as in its operator's record: the second derivative is zeros, and not absent
    step_order: tuple[int, ...] | None = None  # the places among ``_edges()`` in the order in which a step gives them
    viewed: tuple[str, ...] = ()  # the slots or names of saved operands of which PyTorch saves a view: ``keep_viewed``
    runs_on_nothing = False  # whether backward runs without a cotangent (``engine.NothingArrives``)

    def _edges(self) -> tuple[Node | None, ...]:
        """The node of each input, ``None`` if the input needs no gradient."""
        return ()

    def backward(self, xp: Any, g: Any, keep: bool) -> tuple[Any, ...]:
        """``(node, cotangent, ...)`` of the inputs that need one; frees the saved values unless ``keep``."""
        raise NotImplementedError

    def saved(self, name: str) -> Any:
        """The saved value of this name, as ``_saved_NAME`` returns it."""
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '_saved_{name}'")

    def _release(self) -> None:
        """Free the saved values."""

    @property
    def next_functions(self) -> tuple[tuple[Node | None, int], ...]:
        """``(node, output index)`` of each input; ``(None, 0)`` if the input needs no gradient."""
        inputs = self._edges()
        return tuple(
            (None, 0) if m is None or type(m) is NoHistory else (m.fx, m.k) if type(m) is Port else (m.looked_at(), 0)
            for m in inputs
        )

    def looked_at(self) -> Node:
        """The node to show to the user, under the right name if PyTorch has several names for its operator."""
        if unnamed:
            name_saved_values.run()
        return self

    def name(self) -> str:
        """The node's name, as PyTorch names it."""
        return type(self.looked_at()).__name__

    def _sequence_nr(self) -> int:
        return int(self._seq)  # nodes between others (``unfused``) have fractional numbers

    def _set_sequence_nr(self, sequence_nr: int) -> None:
        """Change the number that orders the backward pass. A node that is not above its inputs' may run twice."""
        Node.renumbered = True
        self._seq = sequence_nr

    def _register_hook_dict(self, tensor: Any) -> None:
        """Nothing: the hooks in ``tensor._backward_hooks`` are called as they are."""
        if not hasattr(tensor, "_backward_hooks"):
            raise RuntimeError("_register_hook_dict expected a Tensor")

    @property
    def metadata(self) -> dict[Any, Any]:
        """A dict in which programs may store anything about this node."""
        h = hooks_of(self)
        if h.metadata is None:
            told = getattr(getattr(self, "_lasti", None), "metadata", None)  # in anomaly mode
            h.metadata = {} if told is None else told()
        return h.metadata

    def register_hook(self, fn: Callable[..., Any]) -> RemovableHandle:
        """Call ``fn(grad_inputs, grad_outputs)`` after each run of this node; it may return new grad_inputs."""
        if getattr(self, "operator", "") in TOGETHER:
            ask_for_all(self)
        return add_hook(self, "post", fn)

    def register_prehook(self, fn: Callable[..., Any]) -> RemovableHandle:
        """Call ``fn(grad_outputs)`` before each run of this node; it may return new grad_outputs."""
        return add_hook(self, "pre", fn)

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError(f"cannot pickle '{type(self).__name__}' object")

    def __repr__(self) -> str:
        return f"<{self.name().rpartition('::')[2]} object at {id(self):#x}>"


@functools.cache
def _class_named(cls: type, name: str) -> type:
    return type(name, (cls,), {"__slots__": (), "__module__": cls.__module__})


def named(node: Any, name: str) -> Any:
    """The node under another name, for an operator that is implemented as another one."""
    node.__class__ = _class_named(type(node), name)  # type: ignore[arg-type]  # mypy: a class is hashable
    return node


def hooks_of(node: Node) -> Hooks:
    """The node's hooks, made on first use."""
    if node._hooks is None or node._hooks is OTHER_ORDER:
        node._hooks = Hooks() if node._seq else LeafHooks()
        if type(node) is Port:
            h = hooks_of(node.fx)
            if h.ports is None:
                h.ports = {}
            h.ports[node.k] = weakref.ref(node)
    return node._hooks


def add_hook(node: Node, kind: str, fn: Callable[..., Any]) -> RemovableHandle:
    """Add a function to one of a node's dicts of ``Hooks``, such as "pre"."""
    h = hooks_of(node)
    hooks = getattr(h, kind)
    if hooks is None:
        hooks = HookDict()
        setattr(h, kind, hooks)
    handle = RemovableHandle(hooks)
    hooks[handle.id] = fn
    return handle


def by_edge(n: Any, pairs: tuple[Any, ...]) -> list[Any]:
    """The cotangents in the order of ``next_functions``; a step may give them in another one (``Node.step_order``)."""
    edges = n._edges()
    found = iter(pairs[1::2])
    if n.step_order is None:
        return [None if edge is None else next(found) for edge in edges]
    aligned: list[Any] = [None] * len(edges)
    for k in n.step_order:
        if edges[k] is not None:
            aligned[k] = next(found)
    return aligned


class Port(Node):
    """One of several outputs of a node. The public surface shows the node and the index instead."""

    __slots__ = ("fx", "k")
    fx: Node
    k: int

    def _edges(self) -> tuple[Node | None, ...]:
        return (self.fx,)

    def backward(self, xp: Any, g: Any, keep: bool) -> tuple[Any, ...]:
        return (self.fx, Parts({self.k: g}))


def port_of(node: Node, k: int) -> Port:
    """The port of one output of a node: the port that has hooks, else a new one."""
    h = node._hooks
    if h is not None and h.ports is not None and k in h.ports:
        port = h.ports[k]()
        if port is not None:
            return port
    return new_port(node, k)


def new_port(node: Node, k: int) -> Port:
    """The port of an output that had none."""
    port = Port()
    port.fx = node
    port.k = k
    port._seq = tick()
    port._hooks = None
    port._code = node._code
    port._lasti = node._lasti
    return port


class Parts:
    """Cotangents of a node's outputs by index; unused outputs are absent."""

    __slots__ = ("parts",)
    dtype = None

    def __init__(self, parts: dict[int, Any]) -> None:
        self.parts = parts


_accumulate_lock = new_lock()


class AccumulateGrad(Node):
    """The node of a leaf: it owns ``.grad`` and holds the tensor weakly, so leaf and graph make no cycle."""

    __slots__ = ("box", "cls", "grad", "ref")
    __module__ = "builtins"  # as PyTorch prints it
    lock = _accumulate_lock

    def __init__(self, tensor: Any, box: Box) -> None:
        self._seq = 0
        self._hooks = None
        self._code = None
        self._lasti = 0
        self.grad: Any = None
        self.box = box
        self.cls = type(tensor)
        self.ref = weakref.ref(tensor)

    @property
    def variable(self) -> Any:
        """The leaf tensor, or a new tensor on its memory if the program has dropped the leaf."""
        tensor = self.ref()
        if tensor is None:
            owned = getattr(self.box.a, "tensor", None)  # a payload that knows its tensor, with attributes
            tensor = object.__new__(self.cls) if owned is None else owned()
            tensor._payload, tensor._box, tensor._node = self.box.a, self.box, self
            self.ref = weakref.ref(tensor)
        return tensor

    @property
    def next_functions(self) -> tuple[tuple[Node | None, int], ...]:
        return ()

    def name(self) -> str:
        return "torch::autograd::AccumulateGrad"


class NoHistory(Node):
    """The node of a view that was made under ``no_grad`` of a tensor with a history.

    As in PyTorch, operators on such a view are recorded, and what comes back to it goes nowhere.
    """

    __slots__ = ()

    def __init__(self) -> None:
        self._seq = tick()
        self._hooks = None
        self._code = None
        self._lasti = 0

    def backward(self, xp: Any, g: Any, keep: bool) -> tuple[Any, ...]:
        return ()


def ask_for_all(n: Any) -> None:
    """Let a node of ``TOGETHER`` compute the gradients of constants too, for hooks: they go nowhere."""
    needs = tuple([m is not None for m in n.fx])
    n.fx = tuple([NoHistory() if m is None else m for m in n.fx])
    n.values = [(True,) * len(needs) if type(v) is tuple and v == needs else v for v in n.values]


LEAVES = frozenset((type(None), AccumulateGrad, NoHistory))  # the types of nodes of leaves


def leaf_node(tensor: Any) -> AccumulateGrad:
    """Make a tensor a leaf that requires grad."""
    box = tensor._box
    if box is None:
        box = box_of(tensor)
    node = tensor._node = AccumulateGrad(tensor, box)
    a = box.a
    if a.ndim > 1 and hasattr(type(a), "__array_finalize__") and not a.flags.c_contiguous:  # an array of NumPy
        node._hooks = OTHER_ORDER
    return node


def box_of(tensor: Any) -> Box:
    """The tensor's box, made on first use; a view's box shares the cell of its base."""
    box = tensor._box
    if box is None:
        box = Box()
        box.a = a = tensor._payload
        box.cell = None
        if type(a) is not ndarray or a.base is not None:  # as in ``view_of``
            view = getattr(tensor, "_view", None)
            if view is not None:
                box.cell = version_of(view[0])
        tensor._box = box
    return box


def version_of(tensor: Any) -> Version:
    """The version cell that the tensor shares with its base, views and detached aliases."""
    box = tensor._box
    if box is not None and box.cell is not None:
        return box.cell  # type: ignore[no-any-return]
    a = tensor._payload
    if type(a) is ndarray and a.base is None:  # no view: what follows, for a chain of one
        if box is None:
            box = tensor._box = Box()
            box.a = a
        box.cell = cell = Version()
        return cell
    chain = [tensor]
    while True:  # a loop, not recursion: a chain of views may be long
        a = tensor._payload
        view = None if type(a) is ndarray and a.base is None else getattr(tensor, "_view", None)  # as in ``view_of``
        if view is None:
            cell = Version()
            break
        tensor = view[0]
        box = tensor._box
        if box is not None and box.cell is not None:
            cell = box.cell
            break
        chain.append(tensor)
    for t in chain:
        box = t._box
        if box is None:
            box = t._box = Box()
            box.a = t._payload
        box.cell = cell
    return cell


def view_of(tensor: Any) -> tuple[Any, ...] | None:
    """``(parent, operator, parameters, creation)`` of a view, ``None`` for any other tensor.

    A view's array is one in NumPy too; to read an unset slot takes ten times as long as to look at that.
    """
    a = tensor._payload
    return None if type(a) is ndarray and a.base is None else getattr(tensor, "_view", None)
