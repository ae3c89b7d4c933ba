"""``torch.autograd.graph``: nodes, gradient edges, hooks on several tensors, and saved-tensor hooks."""

from __future__ import annotations

import threading
import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Literal, NamedTuple

import numpy as np

from .._arrays.memory import storage_of
from .._base.forks import new_lock
from .._base.modes import MODE, NO_SAVED_HOOKS, changed, enter, in_reverse_mode, leave_mode, replaced
from .._base.modes import saved_tensors_hooks as _active_hooks
from .._tape.engine import current_pass
from .._tape.inference import is_inference
from .._tape.node import AccumulateGrad, Port, RemovableHandle, version_of
from .._tape.node import Node as TapeNode
from .._tape.tensor import Tensor, current_fn, wrap
from .._tape.views import count_write

__all__ = [
    "GradientEdge",
    "Node",
    "allow_mutation_on_saved_tensors",
    "disable_saved_tensors_hooks",
    "get_gradient_edge",
    "increment_version",
    "register_multi_grad_hook",
    "save_on_cpu",
    "saved_tensors_hooks",
    "set_warn_on_accumulate_grad_stream_mismatch",
]


class Node(ABC):
    """The type of ``grad_fn``, for ``isinstance`` and annotations; programs make no nodes.

    >>> import wengert as torch
    >>> isinstance(torch.ones(2, requires_grad=True).exp().grad_fn, torch.autograd.graph.Node)
    True
    """

    @classmethod
    def __subclasshook__(cls, other: type) -> Any:
        return issubclass(other, TapeNode) or NotImplemented

    @abstractmethod
    def name(self) -> str:
        """The node's name."""
        raise NotImplementedError

    @property
    @abstractmethod
    def next_functions(self) -> tuple[tuple[Node | None, int], ...]:
        """The nodes of the inputs, each with the number of its output."""
        raise NotImplementedError

    @property
    @abstractmethod
    def metadata(self) -> dict[Any, Any]:
        """What programs store about the node."""
        raise NotImplementedError

    @property
    @abstractmethod
    def _input_metadata(self) -> Any:
        """The shape, dtype and device of each gradient that the node takes."""
        raise NotImplementedError

    @abstractmethod
    def _sequence_nr(self) -> int:
        """The number that orders the backward pass."""
        raise NotImplementedError

    @abstractmethod
    def register_hook(self, fn: Callable[..., Any]) -> RemovableHandle:
        """Call ``fn(grad_inputs, grad_outputs)`` after each run of this node."""
        raise NotImplementedError

    @abstractmethod
    def register_prehook(self, fn: Callable[..., Any]) -> RemovableHandle:
        """Call ``fn(grad_outputs)`` before each run of this node."""
        raise NotImplementedError


# ---- edges
class GradientEdge(NamedTuple):
    """The position in the graph at which a tensor's gradient arrives: a node and the number of its output.

    ``autograd.grad`` and ``autograd.backward`` accept it in place of the tensor, which may have been freed.
    """

    node: Any
    output_nr: int
    ownership_token: Any = None


class _EdgeOfTensor(GradientEdge):
    """An edge with the shape and dtype of its tensor; for a scalar, ``autograd.backward`` needs no cotangent."""

    shape: Any
    dtype: Any


_EdgeOfTensor.__name__ = _EdgeOfTensor.__qualname__ = "GradientEdge"


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """The edge at which the gradient of ``tensor`` arrives.

    >>> import wengert as torch
    >>> x = torch.tensor(2., requires_grad=True)
    >>> y = x * x
    >>> edge = torch.autograd.graph.get_gradient_edge(x)
    >>> torch.autograd.grad(y, edge)
    (tensor(4.),)
    """
    if not isinstance(tensor, Tensor):
        raise AttributeError(f"'{type(tensor).__name__}' object has no attribute 'requires_grad'")
    fn = current_fn(tensor)
    if fn is None:
        raise RuntimeError("It is not possible to get the gradient edge for a Tensor that does not require gradients")
    edge = _EdgeOfTensor(fn.fx, fn.k, fn) if type(fn) is Port else _EdgeOfTensor(fn, 0)
    edge.shape, edge.dtype = tuple(tensor._payload.shape), tensor._payload.dtype
    return edge


def increment_version(tensor: Tensor | Iterable[Tensor]) -> None:
    """Increase a tensor's version after a write that was not counted, such as one through a pointer to its memory.

    >>> import wengert as torch
    >>> x = torch.ones(2)
    >>> torch.autograd.graph.increment_version(x)
    >>> x._version
    1
    """
    if not isinstance(tensor, (Tensor, Iterable)):
        raise RuntimeError("increment_version expect a Iterable[Tensor] as input")
    for t in (tensor,) if isinstance(tensor, Tensor) else tensor:
        if not isinstance(t, Tensor):
            raise RuntimeError("increment_version expects each element of the iterable to be a tensor")
        if not is_inference(t):
            count_write(t)


# ---- hooks on saved values
DISABLED: ContextVar[str | None] = ContextVar("wengert_saved_tensors_hooks_disabled", default=None)


def _refuse_if_disabled() -> None:
    message = NO_SAVED_HOOKS if in_reverse_mode() else DISABLED.get()
    if message is not None:
        raise RuntimeError(message)


def push_hooks(pack_hook: Any, unpack_hook: Any) -> None:
    """Push a pair of saved-tensor hooks, which apply until they are popped."""
    _refuse_if_disabled()
    MODE.set(replaced(hooks=(*(_active_hooks() or ()), (pack_hook, unpack_hook))))


def pop_hooks() -> None:
    """Remove the innermost pair, and nothing else."""
    MODE.set(replaced(hooks=(_active_hooks() or ())[:-1] or None))


class saved_tensors_hooks:
    """A context in which saved tensors go through ``pack_hook``, and through ``unpack_hook`` when they are read.

    ``pack_hook(tensor)`` may return any object, from which ``unpack_hook`` makes a tensor with the same content. The
    innermost context applies. A packed value is not checked for writes in place.

    >>> import wengert as torch
    >>> x = torch.tensor([1., 2.], requires_grad=True)
    >>> with torch.autograd.graph.saved_tensors_hooks(lambda t: t.detach().numpy().copy(), torch.from_numpy):
    ...     y = x * x
    >>> y.sum().backward()
    >>> x.grad
    tensor([2., 4.])
    """

    def __init__(self, pack_hook: Callable[[Tensor], Any], unpack_hook: Callable[[Any], Tensor]) -> None:
        self.pack_hook = pack_hook
        self.unpack_hook = unpack_hook

    def __enter__(self) -> None:
        _refuse_if_disabled()
        enter(MODE, changed(hooks=(*(_active_hooks() or ()), (self.pack_hook, self.unpack_hook))))

    __exit__ = leave_mode


class save_on_cpu(saved_tensors_hooks):
    """A context that keeps saved tensors in the CPU's memory, where all of wengert's tensors are anyway."""

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda") -> None:
        def pack(tensor: Tensor) -> tuple[Any, Tensor]:
            return tensor.device, tensor.cpu()

        def unpack(packed: tuple[Any, Tensor]) -> Tensor:
            device, tensor = packed
            return tensor.to(device)

        super().__init__(pack, unpack)


@contextmanager
def disable_saved_tensors_hooks(error_message: str) -> Iterator[None]:
    """A context in which ``saved_tensors_hooks`` raises an error with this message.

    >>> import wengert as torch
    >>> with torch.autograd.graph.disable_saved_tensors_hooks("not here"):
    ...     with torch.autograd.graph.save_on_cpu():
    ...         pass
    Traceback (most recent call last):
    RuntimeError: not here
    """
    state = MODE.get()
    if state is not None and state.hooks:
        raise RuntimeError(error_message)
    before = DISABLED.get()
    try:
        DISABLED.set(error_message)
        yield
    finally:
        DISABLED.set(before)


class _Handle:
    """The handle of a saved tensor in the graph, which keeps the copy alive while a node needs it."""

    __slots__ = ("__weakref__", "cell", "memory", "version")

    def __init__(self, tensor: Tensor, memory: Any) -> None:
        self.cell = version_of(tensor)
        self.version = self.cell.version
        self.memory = weakref.ref(memory)  # another tensor may get the address once this one's memory is gone


def _lives_as_memory(tensor: Tensor) -> Any:
    a = tensor._payload
    return storage_of(a) if type(a) is np.ndarray else tensor


class _AllowMutationOnSavedContext:
    """The object that ``allow_mutation_on_saved_tensors`` yields: the values of saved tensors that are still needed."""

    def __init__(self) -> None:
        self.original: weakref.WeakKeyDictionary[_Handle, Tensor] = weakref.WeakKeyDictionary()
        self.tid_to_weakhandle: weakref.WeakValueDictionary[Any, _Handle] = weakref.WeakValueDictionary()

    @property
    def cloned(self) -> dict[_Handle, Tensor]:
        """The copies of the tensors that were written after they were saved."""
        return {h: copy for h, copy in self.original.items() if h.cell.version != h.version}

    def clear(self) -> None:
        """Let go of all copies."""
        self.original.clear()
        self.tid_to_weakhandle.clear()


_mutable = threading.local()


@contextmanager
def allow_mutation_on_saved_tensors() -> Iterator[_AllowMutationOnSavedContext]:
    """A context in which saved tensors may be written in place: backward uses the saved value.

    Both forward and backward must run inside. PyTorch copies a saved tensor when it is first written; wengert copies it
    when it is saved.

    >>> import wengert as torch
    >>> with torch.autograd.graph.allow_mutation_on_saved_tensors():
    ...     a = torch.ones(2, requires_grad=True)
    ...     b = a * 3
    ...     out = (b ** 2).sum()
    ...     _ = b.mul_(100)
    ...     out.backward()
    >>> a.grad
    tensor([18., 18.])
    """
    if getattr(_mutable, "ctx", None) is not None:
        raise RuntimeError("allow_mutation_on_saved_tensors contexts cannot be nested")
    ctx = _AllowMutationOnSavedContext()

    def pack(tensor: Tensor) -> _Handle:
        key = (tensor.data_ptr(), tuple(tensor.shape), tensor.stride(), tensor._version)
        memory = _lives_as_memory(tensor)
        handle = ctx.tid_to_weakhandle.get(key)
        if handle is None or handle.memory() is not memory:
            handle = ctx.tid_to_weakhandle[key] = _Handle(tensor, memory)
            ctx.original[handle] = wrap(tensor._payload.copy())
        return handle

    def unpack(handle: _Handle) -> Tensor:
        if getattr(_mutable, "ctx", None) is not ctx or handle not in ctx.original:
            raise AssertionError(
                "Trying to backward outside of the 'allow_mutation_on_saved_tensors' contextin which the graph was "
                "originally recorded."
            )
        return ctx.original[handle]

    with saved_tensors_hooks(pack, unpack):
        _mutable.ctx = ctx
        try:
            yield ctx
        finally:
            ctx.clear()
            _mutable.ctx = None


# ---- hooks on several tensors
class _MultiHandle(RemovableHandle):
    def __init__(self, handles: tuple[RemovableHandle, ...]) -> None:
        self.handles = handles

    def remove(self) -> None:
        """Take all the hooks away."""
        for handle in self.handles:
            handle.remove()


def register_multi_grad_hook(
    tensors: Sequence[Tensor],
    fn: Callable[[Sequence[Tensor | None]], None] | Callable[[Tensor], None],
    *,
    mode: Literal["all", "any"] = "all",
) -> RemovableHandle:
    """Call ``fn`` once per backward pass for several tensors.

    ``"all"``: call ``fn(grads)`` when all gradients that the pass computes are known (``None`` for the others).
    ``"any"``: call ``fn(grad)`` with the first gradient.

    >>> import wengert as torch
    >>> a, b = torch.ones(1, requires_grad=True), torch.ones(1, requires_grad=True)
    >>> c, d = a * b, a * b
    >>> h = torch.autograd.graph.register_multi_grad_hook((a, b, c, d), lambda gs: print([g is not None for g in gs]))
    >>> c.sum().backward()
    [True, True, True, False]
    """
    if mode not in ("all", "any"):
        raise ValueError(f"Expects mode to be one of ('all', 'any') but got {mode}")
    return _MultiHandle((_on_any if mode == "any" else _on_all)(tensors, fn))


def _pass_id() -> tuple[Any, int]:
    now = current_pass()
    if now is None:
        raise AssertionError("expected this hook to be called inside a backward call")
    return now, now.id


def _on_any(tensors: Sequence[Tensor], fn: Any) -> tuple[RemovableHandle, ...]:
    lock = new_lock()
    latest: list[int] = []  # the passes in which fn has run

    def hook(grad: Tensor) -> None:
        _, key = _pass_id()
        with lock:
            if key in latest:
                return
            latest.append(key)
            del latest[:-8]
        fn(grad)

    return tuple(t.register_hook(hook) for t in tensors if t.requires_grad)


def _on_all(tensors: Sequence[Tensor], fn: Any) -> tuple[RemovableHandle, ...]:
    lock = new_lock()
    state: dict[int, list[Any]] = {}  # by pass: [calls left, gradients]
    sources = [_source(t) for t in tensors]
    has_leaf = any(type(current_fn(t)) is AccumulateGrad for t in tensors)

    def start(now: Any) -> list[Any]:
        if has_leaf:
            from ._task import refuse_leaf

            refuse_leaf(now)
        only_root = {now.roots[0][0]} if len(now.roots) == 1 else set()  # PyTorch does not count it: fn may run twice
        running = {(n.fx, n.k) if type(n) is Port else (n, None) for n in now.nodes() - only_root}
        return [sum((ref(), k) in running for ref, k in sources), [None] * len(sources)]

    def inner(i: int) -> Callable[[Tensor], None]:
        def hook(grad: Tensor) -> None:
            now, key = _pass_id()
            with lock:
                if key not in state:
                    state[key] = start(now)
                entry = state[key]
                entry[0] -= 1
                entry[1][i] = grad
                done = entry[0] == 0
                if done:
                    del state[key]
            if done:
                fn(entry[1])

        return hook

    return tuple(t.register_hook(inner(i)) for i, t in enumerate(tensors))


def _source(t: Tensor) -> tuple[weakref.ref[Any], int | None]:
    """The node of a tensor and the number of its output. The node is not kept alive: it holds the hook."""
    fn = current_fn(t)
    if fn is None:
        raise AssertionError("Expected gradient function to be set")
    return (weakref.ref(fn.fx), fn.k) if type(fn) is Port else (weakref.ref(fn), None)


_stream_warnings = True


def set_warn_on_accumulate_grad_stream_mismatch(enabled: bool) -> None:
    """Notes the choice: there are no streams that could mismatch."""
    global _stream_warnings
    _stream_warnings = enabled
