"""The node of a custom function's call, which is also its context ``ctx``."""

from __future__ import annotations

import functools
import threading
import weakref
from contextvars import copy_context
from typing import Any

import numpy as np

from .._base.constants import type_name
from .._base.errors import noted, warn
from .._base.grad_mode import grad_mode
from .._base.modes import is_grad_enabled
from .._base.registry import TENSORS
from .._payloads.transforms import of_transform, zeros
from .._tape.node import FREED, Node, Parts, port_of, tick
from .._tape.promotion import cast
from .._tape.saved import stale, tensor_of
from .._tape.tensor import Tensor, tensor_on, wrap
from .._tape.unrecorded import CUSTOM_VIEW


class FunctionCtx:
    """The methods of a custom function's ``ctx``."""

    __slots__ = ()
    saved_for_forward: tuple[Any, ...] | None

    def save_for_backward(self, *tensors: Any) -> None:
        """Save tensors for ``backward``, which reads them as ``ctx.saved_tensors``.

        They may be inputs, outputs, intermediate results or ``None``. Unlike plain attributes they are checked for
        writes in place and freed with the graph.
        """
        self.to_save = tensors

    def save_for_forward(self, *tensors: Any) -> None:
        """Save tensors for ``jvp``, which reads them as ``ctx.saved_tensors``."""
        for t in tensors:
            assert isinstance(t, Tensor) or t is None, (
                "save_for_forward expects all arguments to be tensors; you should save non-tensors as attributes on "
                "ctx."
            )
        self.saved_for_forward = tensors

    def mark_dirty(self, *args: Any) -> None:
        """Mark inputs that ``forward`` changed in place; each must also be returned."""
        self.dirty_tensors = args

    def mark_shared_storage(self, *pairs: Any) -> None:
        """Deprecated; does nothing, since shared memory is tracked without it."""
        warn(
            "`mark_shared_storage` is deprecated. Tensors with shared storages are automatically tracked. Note that "
            "calls to `set_()` are not tracked",
            FutureWarning,
        )

    def mark_non_differentiable(self, *args: Any) -> None:
        """Mark outputs that have no derivative; they will not require grad."""
        self.non_differentiable = args

    def set_materialize_grads(self, value: bool) -> None:
        """Set whether the gradient of an unused output is zeros (the default) or ``None``."""
        if not isinstance(value, bool):
            raise noted(
                TypeError(
                    "set_materialize_grads received an invalid combination of arguments - got (), but expected (bool)"
                ),
                f"Why: it was given {type_name(value)}.",
            )
        self.materialize_grads = value


_OF_INSTANCES = frozenset(("_input_metadata", "_raw_saved_tensors", "_register_hook_dict", "_sequence_nr",
                           "_set_sequence_nr", "maybe_clear_saved_tensors", "metadata", "needs_input_grad",
                           "next_functions", "register_hook", "register_prehook", "saved_tensors",
                           "saved_variables"))  # fmt: skip


class NodeOfInstance:
    """What an instance of a function has of a node: of its last call's (``F()(x)``), else of one without inputs."""

    _backward_cls: Any

    @functools.cached_property
    def _old_ctx(self) -> Any:
        return self._backward_cls()

    def __getattr__(self, name: str) -> Any:
        if name in _OF_INSTANCES:
            return getattr(self._old_ctx, name)
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def name(self) -> str:
        """The function's name."""
        return type(self).__name__


class BackwardCFunction(Node, FunctionCtx):
    """The node, and context, of one call of a custom function."""

    # No __slots__: the user's attributes live here.
    by_user = True
    _forward_cls: Any = None
    _next: tuple[Node | None, ...] = ()
    outputs_meta: Any = ()
    to_save: tuple[Any, ...] = ()
    saved_for_forward: tuple[Any, ...] | None = None
    dirty_tensors: tuple[Any, ...] = ()
    non_differentiable: tuple[Any, ...] = ()
    materialize_grads = True
    _materialize_non_diff_grads = True
    runs_on_nothing = True
    needs_input_grad: tuple[bool, ...] = ()
    _boxes: Any = None
    _inputs: Any = ()
    _old_style: Any = None
    _is_pure_view = False  # set by ``forward``: its only output is a view of its only tensor, made by its own operators
    _bare = False

    def __init__(self) -> None:
        self._hooks = None
        self._seq = tick()
        self._code = None
        self._lasti = 0

    def _edges(self) -> tuple[Node | None, ...]:
        return self._next

    def check_pure_view(self, args: tuple[Any, ...], outputs: tuple[Any, ...]) -> None:
        """Raise PyTorch's error if a function that says it is a pure view has several tensors or outputs."""
        if len(outputs) != 1 or sum(isinstance(a, Tensor) for a in args) != 1:
            raise RuntimeError(
                "Pure view custom Function can only have one input Tensor and one output Tensor. Open an issue if you "
                "need to support more."
            )

    @property
    def view_creation(self) -> int:
        """How a view that is its output was made: a write to a pure view rewrites its base's history."""
        return 0 if self._is_pure_view else CUSTOM_VIEW

    def name(self) -> str:
        """The function's name with ``Backward`` added."""
        return type(self).__name__

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """The tensors passed to ``save_for_backward``, with their history."""
        boxes = self._boxes
        if boxes is None:
            return self.saved_for_forward if self.saved_for_forward is not None else tuple(self.to_save)
        if boxes is FREED:
            stale(self, FREED)
        if boxes is _READ:
            raise RuntimeError(
                "saved_tensors can only be accessed once when clear_saved_tensors_on_access=True is set on the "
                "autograd.Function. Either access saved_tensors only once, or set clear_saved_tensors_on_access=False."
            )
        tensors = tuple(None if b is None else self._unpack(b, fn) for b, fn in boxes)
        if self._forward_cls.clear_saved_tensors_on_access:
            self._boxes = _READ
        if self._bare:
            return tuple(t if t is None or t._node is None else wrap(t._payload) for t in tensors)
        return tensors

    def _unpack(self, box: Any, fn: Any) -> Any:
        if callable(box):
            return box()
        cell = box.cell
        if cell is not None and cell._seq > self._seq:
            stale(self, box)
        if type(fn) is weakref.ref:  # an input without history: the user's own tensor, if it is still the same
            t = fn()
            fn = None
            if t is not None and t._box is box and t._node is None:
                return t
        return tensor_of(box, self._output_node(fn) if isinstance(fn, int) else fn)

    @property
    def _raw_saved_tensors(self) -> tuple[Any, ...]:
        from .._tape.saved_hooks import SavedOfFunction

        if self._boxes is FREED:
            stale(self, FREED)
        return tuple(SavedOfFunction(self, k) for k in range(len(self._boxes or ())))

    @property
    def saved_variables(self) -> tuple[Any, ...]:
        """``saved_tensors`` under its name of PyTorch 0.1."""
        warn("'saved_variables' is deprecated; use 'saved_tensors'", DeprecationWarning)
        return self.saved_tensors

    def _output_node(self, k: int) -> Node:
        return port_of(self, k) if len(self.outputs_meta) > 1 else self

    @property
    def boxed_edges(self) -> list[tuple[Any, Any]]:
        """The history and the box of each saved value, for the error about an overwritten value."""
        return [
            (self if isinstance(fn, int) else None if type(fn) is weakref.ref else fn, box)
            for box, fn in (() if self._boxes is _READ else self._boxes or ())
        ]

    def _release(self) -> None:
        if self._boxes is not None and self._boxes is not _READ:
            self._boxes = FREED

    maybe_clear_saved_tensors = _release

    def __repr__(self) -> str:
        return f"<torch.autograd.function.{self.name()} object at {id(self):#x}>"

    def backward(self, xp: Any, g: Any, keep: bool) -> tuple[Any, ...]:
        grads = self._cotangents(g)
        recorded = xp is TENSORS or any(p._node is not None for p in grads if p is not None)
        # tapes of transforms that record inside the values, and only they: saved tensors are returned without history
        inner = not recorded and is_grad_enabled() and any(of_transform(p._payload) for p in grads if p is not None)
        self._bare = inner
        try:
            with grad_mode(recorded or inner):
                results = self._nested_backward(grads)
        finally:
            self._bare = False
        raw = not (xp is TENSORS or (xp is None and any(isinstance(v, Tensor) for v in _parts(g))))
        pairs = self._checked(results, raw)
        if not keep:
            self._release()
        return pairs

    def _cotangents(self, g: Any) -> list[Any]:
        """The cotangents of all outputs as Tensors; zeros or ``None`` for unused outputs."""
        parts = g.parts if type(g) is Parts else {0: g}
        grads: list[Any] = []
        for k, (shape, dtype) in enumerate(self.outputs_meta):
            v = parts.get(k)
            if v is None:
                v = wrap(zeros(shape, dtype)) if self.materialize_grads and dtype is not None else None
            grads.append(v if v is None or isinstance(v, Tensor) else tensor_on(v))
        return grads

    def apply(self, *grads: Any) -> Any:
        """The results of the user's ``backward`` for these gradients."""
        return self._forward_cls._own_backward(self, list(grads))

    def apply_jvp(self, *tangents: Any) -> Any:
        """The results of the user's ``jvp`` for these tangents."""
        return self._forward_cls.jvp(self, *tangents)

    def _nested_backward(self, grads: list[Any]) -> tuple[Any, ...]:
        """Run the user's ``backward`` within backward passes nested to any depth.

        Python limits the depth of calls in one thread, so from time to time another thread continues, as in PyTorch.
        """
        depth = _nesting.depth = getattr(_nesting, "depth", 0) + 1
        try:
            return self._call_backward(grads) if depth < _DEEP else _in_a_thread(self._call_backward, grads)
        finally:
            _nesting.depth = depth - 1

    def _call_backward(self, grads: list[Any]) -> tuple[Any, ...]:
        old = self._old_style
        results = self._forward_cls._own_backward(self, grads) if old is None else old.backward(*grads)
        return results if isinstance(results, tuple) else (results,)

    def _checked(self, results: tuple[Any, ...], raw: bool) -> tuple[Any, ...]:
        """The user's gradients, checked against the inputs and converted for the pass."""
        inputs = self._inputs
        n = len(inputs)
        if len(results) > n and all(r is None for r in results[n:]):
            results = results[:n]
        if len(results) != n:
            raise RuntimeError(
                f"function {self.name()} returned an incorrect number of gradients (expected {n}, got {len(results)})"
            )
        pairs: list[Any] = []
        edges = iter(self._next)
        for i, (r, facts) in enumerate(zip(results, inputs, strict=True)):
            if facts is None:
                if r is not None:
                    raise RuntimeError(
                        f"function {self.name()} returned a gradient different than None at position {i + 1}, but the "
                        "corresponding forward input was not a Variable"
                    )
                continue
            edge = next(edges)
            if edge is None:
                continue
            if r is not None:
                h = edge._hooks
                r = self._fitting(i, r, facts if h is None or h.grad_dtype is None else (facts[0], None))
                if raw:
                    r = r._payload
            pairs += (edge, r)
        return tuple(pairs)

    def _fitting(self, i: int, r: Any, facts: tuple[Any, Any]) -> Any:
        if not isinstance(r, Tensor):
            raise RuntimeError(f"expected Variable or None (got {type_name(r)})")
        shape, dtype = facts
        if tuple(r.shape) != tuple(shape):
            if not _expandable(tuple(shape), tuple(r.shape)):
                raise RuntimeError(
                    f"Function {self.name()} returned an invalid gradient at index {i} - got {list(r.shape)} but "
                    f"expected shape compatible with {list(shape)}"
                )
            r = TENSORS.sum_to(r, tuple(shape))
        if isinstance(dtype, np.dtype) and r._payload.dtype is not dtype and isinstance(r._payload.dtype, np.dtype):
            if r._payload.dtype.kind == "c" and dtype.kind != "c":
                raise noted(
                    RuntimeError(
                        "Expected isFloatingType(grad.scalar_type()) || (input_is_complex == grad_is_complex) to be "
                        "true, but got false."
                    ),
                    f"Why: {self.name()} returned a complex gradient at index {i} for an input that is real.",
                )
            r = cast(r, dtype)
        return r


_READ = object()  # replaces saved tensors that may be read only once
_DEEP = 20  # the depth of nested passes in one thread
_nesting = threading.local()


def _in_a_thread(fn: Any, *args: Any) -> Any:
    """Call a function in a new thread, which starts with an empty call stack."""
    outcome: list[Any] = []

    def work() -> None:
        try:
            outcome.append((fn(*args), None))
        except BaseException as error:  # noqa: BLE001  handed on below
            outcome.append((None, error))

    thread = threading.Thread(target=copy_context().run, args=(work,))
    try:
        thread.start()
    except RuntimeError:  # a platform without threads: what the call stack holds must do
        return fn(*args)
    thread.join()
    result, error = outcome.pop()
    if error is not None:
        raise error
    return result


def _parts(g: Any) -> Any:
    return g.parts.values() if type(g) is Parts else (g,)


def _expandable(shape: tuple[int, ...], wide: tuple[int, ...]) -> bool:
    if len(shape) > len(wide):
        return False
    return all(s in (1, w) for s, w in zip(reversed(shape), reversed(wide), strict=False))
