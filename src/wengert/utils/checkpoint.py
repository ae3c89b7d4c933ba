"""Checkpointing saves memory at the cost of time: saved values are dropped, and backward runs the function again.

The current variant (``use_reentrant=False``) uses ``autograd.graph.saved_tensors_hooks``. While the function runs, each
saved value is replaced by a ``_Place``, and the ``_Region`` counts them. The first place that a backward pass reads
makes the region run its function again, under hooks that put the values into the places in the same order. A function
that behaves differently would give wrong gradients, so count, shapes and dtypes are compared.

The old variant (``use_reentrant=True``) is a custom function whose backward step runs a nested backward pass.
"""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from contextvars import ContextVar
from typing import Any

from .._base import errors as lines
from .._base.dtypes import BY_NUMPY, make_size
from .._base.errors import noted, warn
from .._base.grad_mode import enable_grad, no_grad
from .._base.modes import is_grad_enabled, saved_tensors_hooks
from .._tape.engine import current_pass, queue_callback
from .._tape.graph import backward
from .._tape.node import Node, Version, box_of, tick, version_of
from .._tape.saved import stale, tensor_of
from .._tape.saved_hooks import PackedBox, pack
from .._tape.tensor import CPU, Tensor, current_fn
from ..amp.autocast_mode import region_of_now
from ..autograd import graph
from ..autograd._roots import _is_checkpoint_valid
from ..autograd.function import Function
from ..random import fork_rng, get_rng_state, set_rng_state
from ._last_operator import Counting
from ._op_log import Journal
from ._selective import CheckpointPolicy, SelectiveCheckpointContext, create_selective_checkpoint_contexts
from ._selective import _Keeping as _CachingTorchDispatchMode  # noqa: F401
from ._selective import _Recalling as _CachedTorchDispatchMode  # noqa: F401

__all__ = [
    "CheckpointError",
    "CheckpointFunction",
    "CheckpointPolicy",
    "DefaultDeviceType",
    "GraphExecGroup",
    "SelectiveCheckpointContext",
    "check_backward_validity",
    "checkpoint",
    "checkpoint_sequential",
    "create_selective_checkpoint_contexts",
    "detach_variable",
    "get_device_states",
    "noop_context_fn",
    "set_checkpoint_debug_enabled",
    "set_checkpoint_early_stop",
    "set_device_states",
]

Contexts = tuple[AbstractContextManager[Any], AbstractContextManager[Any]]


class CheckpointError(RuntimeError):
    """Raised if the function of a checkpoint saved different values when it ran again."""


def noop_context_fn() -> Contexts:
    """The default ``context_fn``: no context managers around the first and later runs."""
    return contextlib.nullcontext(), contextlib.nullcontext()


# ---- for all of a block
_set: dict[str, bool | None] = {"early_stop": None, "debug": None}  # in place of every checkpoint's own argument


@contextlib.contextmanager
def _setting(name: str, value: bool | None) -> Iterator[None]:
    before, _set[name] = _set[name], value
    try:
        yield
    finally:
        _set[name] = before


def set_checkpoint_early_stop(enable: bool) -> AbstractContextManager[None]:
    """A context that sets whether checkpoints stop recomputing once all saved values are known (True by default).

    >>> import wengert as torch
    >>> from wengert.utils.checkpoint import checkpoint, set_checkpoint_early_stop
    >>> x = torch.ones(2, requires_grad=True)
    >>> with set_checkpoint_early_stop(False):
    ...     y = checkpoint(torch.exp, x, use_reentrant=False)
    >>> y.sum().backward()
    >>> x.grad
    tensor([2.7183, 2.7183])
    """
    return _setting("early_stop", enable)


def set_checkpoint_debug_enabled(enabled: bool | None) -> AbstractContextManager[None]:
    """A context that sets whether checkpoints log their operators; ``None``: as their argument ``debug`` says."""
    return _setting("debug", enabled)


def _explicit(use_reentrant: bool | None, function: str, announcement: str) -> bool:
    """The variant that was chosen; with a warning the old one if none was."""
    if use_reentrant is not None:
        return use_reentrant
    warn(
        f"torch.utils.{function}: the use_reentrant parameter should be passed explicitly. {announcement} "
        "use_reentrant=False is recommended, but if you need to preserve the current default behavior, you can pass "
        "use_reentrant=True. Refer to docs for more details on the differences between the two variants.",
    )
    return True


_group: ContextVar[GraphExecGroup | None] = ContextVar("wengert_graph_exec_group", default=None)


class GraphExecGroup:
    """A context whose backward passes share recomputed values: each region runs again at most once for all of them.

    The passes must not need the same saved value. Only for ``use_reentrant=False``.
    """

    def __init__(self) -> None:
        self.replays: list[_Replay] = []

    def __enter__(self) -> GraphExecGroup:
        now = _group.get()
        if now is not None:
            raise RuntimeError(f"GraphExecGroup contexts cannot be nested. Already inside group {now}")
        _group.set(self)
        return self

    def __exit__(self, *exc: object) -> None:
        _group.set(None)
        self.replays.clear()

    @classmethod
    def _get_current_group(cls) -> GraphExecGroup | None:
        return _group.get()


# ---- the function
def checkpoint(
    function: Callable[..., Any],
    *args: Any,
    use_reentrant: bool | None = None,
    context_fn: Callable[[], Contexts] = noop_context_fn,
    determinism_check: str = "default",
    debug: bool = False,
    early_stop: bool = True,
    **kwargs: Any,
) -> Any:
    """``function(*args, **kwargs)`` without keeping the saved values of its nodes, which backward recomputes.

    Use ``use_reentrant=False``: it works with ``autograd.grad``, with keyword arguments, nested, and with tensors
    inside any object. ``True`` (the default, with a warning) exists for old programs.

    ``preserve_rng_state=False`` (another keyword): later runs may draw different random numbers. The other arguments
    are for ``use_reentrant=False`` only. ``context_fn()`` returns two context managers, for the first run and for later
    ones. ``determinism_check``: ``"default"`` compares shapes, dtypes and devices of saved values, ``"none"`` nothing.
    ``debug``: errors list the operators of both runs. ``early_stop=False``: later runs go to the function's end.

    Raises ``CheckpointError`` in backward if a later run saves different values. Source: Chen et al., Training Deep
    Nets with Sublinear Memory Cost, arXiv:1604.06174.

    >>> import wengert as torch
    >>> from wengert.utils.checkpoint import checkpoint
    >>> runs = []
    >>> def block(x):
    ...     runs.append("run")
    ...     return x.sin().cos()
    >>> x = torch.tensor([1., 2.], requires_grad=True)
    >>> checkpoint(block, x, use_reentrant=False).sum().backward()
    >>> x.grad, runs
    (tensor([-0.4029,  0.3284]), ['run', 'run'])
    """
    use_reentrant = _explicit(
        use_reentrant,
        "checkpoint",
        "Starting in PyTorch 2.9, calling checkpoint without use_reentrant will raise an exception.",
    )
    preserve = kwargs.pop("preserve_rng_state", True)
    if not use_reentrant:
        journal = Journal() if (debug if _set["debug"] is None else _set["debug"]) else None
        if journal is not None:
            if context_fn is not noop_context_fn:
                raise ValueError("debug=True is incompatible with non-default context_fn")
            context_fn = journal.contexts
        region = _Region(function, kwargs, preserve, determinism_check, journal)
        region.early_stop = early_stop if _set["early_stop"] is None else _set["early_stop"]
        return region.run(args, *context_fn())
    if kwargs:
        raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
    if context_fn is not noop_context_fn or debug is not False:
        raise ValueError("Passing `context_fn` or `debug` is only supported when use_reentrant=False.")
    return CheckpointFunction.apply(function, preserve, *args)


def checkpoint_sequential(
    functions: Any, segments: int, input: Any, use_reentrant: bool | None = None, **kwargs: Any
) -> Any:
    """A ``Sequential`` or a list of functions, applied one after the other in ``segments`` checkpoints.

    The last segment is not checkpointed, since its backward step comes next. ``use_reentrant`` and
    ``preserve_rng_state`` are those of ``checkpoint``.

    >>> import wengert as torch
    >>> from wengert.utils.checkpoint import checkpoint_sequential
    >>> x = torch.tensor([0.5], requires_grad=True)
    >>> y = checkpoint_sequential([torch.sin, torch.exp, torch.tanh, torch.cos], 2, x, use_reentrant=False)
    >>> y.backward()
    >>> x.grad
    tensor([-0.1656])
    """
    use_reentrant = _explicit(
        use_reentrant,
        "checkpoint.checkpoint_sequential",
        "In version 2.9 we will raise an exception if use_reentrant is not passed.",
    )
    preserve = kwargs.pop("preserve_rng_state", True)
    if kwargs:
        raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
    steps = list(functions.children() if hasattr(functions, "children") else functions)
    size = len(steps) // segments
    last = size * (segments - 1)
    for start in range(0, last, size):
        part = _one_after_the_other(steps[start : start + size])
        input = checkpoint(part, input, use_reentrant=use_reentrant, preserve_rng_state=preserve)
    return _one_after_the_other(steps[last:])(input)


def _one_after_the_other(steps: list[Any]) -> Callable[[Any], Any]:
    def forward(input: Any) -> Any:
        for step in steps:
            input = step(input)
        return input

    return forward


# ---- what is kept
class _Inputs(Node):
    """The arguments of a region, saved as by a node: checked for writes in place, passed to the hooks around it."""

    __slots__ = ("boxed_edges", "given")

    def __init__(self, args: tuple[Any, ...]) -> None:
        self._hooks = None
        self._code, self._lasti = lines.here()
        hooks = saved_tensors_hooks()
        self.given: list[Any] = []  # an argument as it is, or None for one of boxed_edges
        self.boxed_edges: list[Any] = []  # (history, box) of each argument; (None, None) of one that is no tensor
        for a in args:
            if isinstance(a, Tensor):
                fn = current_fn(a)
                box = box_of(a)
                self.boxed_edges.append((fn, pack(box, hooks[-1], fn) if hooks else box))
                self.given.append(a if fn is None else None)  # as in PyTorch, the function sees the same object again
            else:
                self.boxed_edges.append((None, None))
                self.given.append(a)
        self._seq = tick()

    def name(self) -> str:
        return "CheckpointBackward"

    def read(self) -> list[Any]:
        """The arguments, with the history that they had."""
        return [
            a if box is None else self._tensor(a, fn, box)
            for a, (fn, box) in zip(self.given, self.boxed_edges, strict=True)
        ]

    def _tensor(self, given: Any, fn: Any, box: Any) -> Tensor:
        if isinstance(box, PackedBox):
            return tensor_of(box.opened(), fn)
        if box.cell is not None and box.cell._seq > self._seq:
            stale(self, box)
        return given if given is not None and given._node is None else tensor_of(box, fn)


class _Place:
    """The object that a node holds in place of a saved value."""

    __slots__ = ("__weakref__",)


class _Replay:
    """The values that one later run of a region's function put into the places, for one backward pass.

    The pass refers to it by one of its final callbacks, so unread values are freed at the end of the pass.
    """

    def __init__(self, region: _Region) -> None:
        self.region = region
        self.values: weakref.WeakKeyDictionary[_Place, tuple[Tensor, Version, int]] = weakref.WeakKeyDictionary()
        self.count = 0

    def __call__(self) -> None:
        self.values.clear()


class _Enough(Exception):
    """Raised to stop a later run once all saved values are known."""


class _Facts(tuple[Any, Any]):
    """The properties of a value that later runs must reproduce: shape and dtype. (There is one device.)"""

    __slots__ = ()

    def __str__(self) -> str:
        shape, dtype = self
        return str({"shape": make_size(shape), "dtype": BY_NUMPY[dtype], "device": CPU})


_CHECKS: dict[str, Callable[[Tensor], Any]] = {
    # the dtype of a transform's or a recording's value is NumPy's beneath
    "default": lambda x: _Facts((x._payload.shape, getattr(x._payload.dtype, "base_dtype", x._payload.dtype))),
    "none": lambda _: None,
}


class _Region:
    """One checkpointed call: the function to run again, and the places that its nodes hold."""

    early_stop = True
    complete = False  # whether the first run is over
    last = None  # the operator before which a later run may stop: utils._last_operator
    uncounted = False  # a backward pass ran inside the first run: its saved values cannot be compared

    def __init__(
        self, function: Any, kwargs: dict[str, Any], preserve: bool, determinism_check: str, journal: Journal | None
    ) -> None:
        if determinism_check not in _CHECKS:
            raise ValueError(f"determinism_check should be one of {list(_CHECKS)}, but got {determinism_check}")
        self.function = function
        self.kwargs = kwargs
        self.facts_of = _CHECKS[determinism_check]
        self.journal = journal
        self.random_state = get_rng_state() if preserve else None
        self.autocast = region_of_now()
        self.places: list[weakref.ref[_Place]] = []
        self.facts: list[Any] = []

    # ---- the first run
    def run(self, args: tuple[Any, ...], first: AbstractContextManager[Any], again: AbstractContextManager[Any]) -> Any:
        """Run the function; ``again`` is entered around later runs."""
        if not is_grad_enabled():
            return self.function(*args, **self.kwargs)
        self.inputs = _Inputs(args)
        self.context = again
        returned = False
        aside = Counting(self.put_aside)
        with graph.saved_tensors_hooks(aside, self.get), first:
            result = self.function(*args, **self.kwargs)
            returned = True
        if not returned:
            raise RuntimeError(
                "torch.utils.checkpoint: the forward context provided by context_fn suppressed an exception raised "
                "during the checkpointed forward. This is not supported because checkpoint cannot return a value for "
                "a failed forward."
            )
        self.complete = True
        self.last = aside.found()
        return result

    def put_aside(self, x: Tensor) -> _Place:
        """The pack hook: keep a place instead of the value."""
        place = _Place()
        self.places.append(weakref.ref(place))
        self.facts.append(self.facts_of(x))
        return place

    # ---- in backward
    def get(self, place: _Place) -> Tensor:
        """The unpack hook: the value of a place, recomputed with all others if this pass has not done so yet."""
        try:
            return self._get(place)
        except CheckpointError as error:
            if self.journal is None:
                raise
            self.journal.explain(error)

    def _get(self, place: _Place) -> Tensor:
        found = self._replay().values.pop(place, None)
        if found is None:
            overlap = (
                "Performing two backward calls that overlap (i.e. require the same saved activation in order to "
                "compute gradients) is not allowed while under the torch.utils.checkpoint.GraphExecGroup context. "
                if _group.get() is not None
                else ""
            )
            raise CheckpointError(
                "torch.utils.checkpoint: Unpack is being triggered for a tensor that was already unpacked once. "
                f"{overlap}If you are calling ctx.saved_tensors in backward, make sure to do so only once. Otherwise "
                "please open an issue with details on your use case."
            )
        value, cell, version = found
        if cell.version != version:
            raise noted(
                RuntimeError(
                    "one of the variables needed for gradient computation has been modified by an inplace operation: "
                    f"[{value.type()} {list(value.shape)}] is at version {cell.version}; expected version {version} "
                    "instead."
                ),
                "Why: the checkpoint's function overwrites a value that a derivative needs.",
                "What to do: use the out-of-place form in the function, or clone() the tensor before writing.",
                code="W002",
            )
        return value

    def _replay(self) -> _Replay:
        """The later run of the backward pass that is running, or of the group that it belongs to."""
        group = _group.get()
        now = current_pass() if group is None else None
        known = group.replays if group is not None else [] if now is None else now.callbacks or []
        for replay in reversed(known):
            if type(replay) is _Replay and replay.region is self:
                return replay
        replay = _Replay(self)
        self._run_again(replay)
        if group is not None:
            group.replays.append(replay)
        elif now is not None:
            queue_callback(replay)
        return replay

    def _run_again(self, replay: _Replay) -> None:
        args = self.inputs.read()
        state = self.random_state
        with fork_rng(enabled=state is not None), self.autocast(), contextlib.suppress(_Enough):
            if state is not None:
                set_rng_state(state)
            back = Counting(self._putting_back(replay), self.last if self.early_stop else None)
            with graph.saved_tensors_hooks(back, lambda x: x), enable_grad(), self.context:
                self.function(*args, **self.kwargs)
        if not self.uncounted:
            self._compare(replay)

    def _putting_back(self, replay: _Replay) -> Callable[[Tensor], Tensor]:
        """The pack hook of a later run: its values belong to the places, in order."""

        def put_back(x: Tensor) -> Tensor:
            x = x.detach() if x.requires_grad else x
            k = replay.count
            replay.count += 1
            if k >= len(self.places):
                if self.complete:
                    raise CheckpointError(
                        "torch.utils.checkpoint: trying to save more tensors during recomputation than during the "
                        f"original forward pass.\n{_TIP}"
                    )
                self.uncounted = True
                return x
            place = self.places[k]()
            if place is not None:
                cell = version_of(x)  # a recorded write may give x another box, of the memory that its node refers to
                replay.values[place] = (x, cell, cell.version)
            if self.early_stop and replay.count == len(self.places):
                raise _Enough
            return x

        return put_back

    def _compare(self, replay: _Replay) -> None:
        if replay.count != len(self.places):
            raise CheckpointError(
                "torch.utils.checkpoint: A different number of tensors was saved during the original forward and "
                f"recomputation.\nNumber of tensors saved during forward: {len(self.places)}\n"
                f"Number of tensors saved during recomputation: {replay.count}.\n{_TIP}"
            )
        different = ""
        for k, (ref, facts) in enumerate(zip(self.places, self.facts, strict=True)):
            place = ref()
            found = None if place is None else replay.values.get(place)
            if found is not None and (now := self.facts_of(found[0])) != facts:
                different += f"tensor at position {k}:\nsaved metadata: {facts}\nrecomputed metadata: {now}\n"
        if different:
            raise CheckpointError(
                "torch.utils.checkpoint: Recomputed values for the following tensors have different metadata than "
                f"during the forward pass.\n{different}.\n{_TIP}"
            )


_TIP = (
    "\nTip: To see a more detailed error message, either pass `debug=True` to\n"
    "`torch.utils.checkpoint.checkpoint(...)` or wrap the code block\n"
    "with `with torch.utils.checkpoint.set_checkpoint_debug_enabled(True):` to\n"
    "enable checkpoint\u2011debug mode globally.\n\n"
    "If this error occurs under torch.compile with automatic_dynamic_shapes enabled,\nit may be because the "
    "recomputation selected a different compiled graph than the\nforward pass (e.g., a dynamic graph instead of the "
    "original static graph).\nTo fix this, either:\n  - Use torch._dynamo.mark_dynamic() to explicitly mark varying "
    "dimensions as\n    dynamic upfront, avoiding the static-to-dynamic transition.\n  - Call "
    "torch._C._dynamo.eval_frame._set_lru_cache(False) to disable LRU cache\n    reordering, which can change which "
    "graph is checked first between forward\n    and recompute.\nSee https://github.com/pytorch/pytorch/issues/166926 "
    "for more details and\nworkaround examples.\n"
)


# ---- the old variant
class CheckpointFunction(Function):
    """The variant ``use_reentrant=True``: backward runs the function again, recorded, and a nested backward pass."""

    @staticmethod
    def forward(ctx: Any, run_function: Any, preserve_rng_state: bool, *args: Any) -> Any:
        """Run without recording; keep the arguments."""
        check_backward_validity(args)
        ctx.run_function = run_function
        ctx.random_state = get_rng_state() if preserve_rng_state else None
        ctx.autocast = region_of_now()
        ctx.others = [None if isinstance(a, Tensor) else a for a in args]
        ctx.places = [i for i, a in enumerate(args) if isinstance(a, Tensor)]
        ctx.save_for_backward(*(args[i] for i in ctx.places))
        with no_grad():
            return run_function(*args)

    @staticmethod
    def backward(ctx: Any, *args: Any) -> Any:
        """Run again and walk back through it."""
        if not _is_checkpoint_valid():
            raise RuntimeError(
                "When use_reentrant=True, torch.utils.checkpoint is incompatible with .grad() or passing an `inputs` "
                "parameter to .backward(). To resolve this error, you can either set use_reentrant=False, or call "
                ".backward() without passing the `inputs` argument."
            )
        given = list(ctx.others)
        for i, tensor in zip(ctx.places, ctx.saved_tensors, strict=True):
            given[i] = tensor
        state = ctx.random_state
        with fork_rng(enabled=state is not None):
            if state is not None:
                set_rng_state(state)
            inputs = detach_variable(tuple(given))
            with enable_grad(), ctx.autocast():
                outputs = ctx.run_function(*inputs)
        if isinstance(outputs, Tensor):
            outputs = (outputs,)
        pairs = [(o, g) for o, g in zip(outputs, args, strict=True) if isinstance(o, Tensor) and o.requires_grad]
        if not pairs:
            raise noted(
                RuntimeError("none of output has requires_grad=True, this checkpoint() is not necessary"),
                "What to do: pass use_reentrant=False, which records what the function computes.",
            )
        backward([o for o, _ in pairs], [g for _, g in pairs])
        return (None, None, *(x.grad if isinstance(x, Tensor) else None for x in inputs))


def detach_variable(inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """The tensors of a tuple without history, with the same ``requires_grad``; other objects unchanged."""
    if not isinstance(inputs, tuple):
        raise RuntimeError(f"Only tuple of tensors is supported. Got Unsupported input type: {type(inputs).__name__}")
    return tuple(a.detach().requires_grad_(a.requires_grad) if isinstance(a, Tensor) else a for a in inputs)


def check_backward_validity(inputs: Iterable[Any]) -> None:
    """Warn if no tensor among the inputs requires grad."""
    if not any(a.requires_grad for a in inputs if isinstance(a, Tensor)):
        warn("None of the inputs have requires_grad=True. Gradients will be None")


# ---- devices
class DefaultDeviceType:
    """The device type whose random state is kept if no argument determines it; wengert has only the CPU."""

    _type: str | None = None

    @staticmethod
    def set_device_type(device: str = "cuda") -> None:
        """Set the default."""
        DefaultDeviceType._type = device

    @staticmethod
    def get_device_type() -> str:
        """The default; ``"cpu"`` if it was never set."""
        return DefaultDeviceType._type or "cpu"


def _infer_device_type(*args: Any) -> str:
    """The type of the arguments' device, which is the default: there is the CPU only."""
    return DefaultDeviceType.get_device_type()


def get_device_states(*args: Any) -> tuple[list[int], list[Tensor]]:
    """The devices other than the CPU among the arguments, and their random states, of which there are none."""
    return [], []


def set_device_states(devices: Iterable[int], states: Iterable[Tensor], *, device_type: str | None = None) -> None:
    """Set the random states of devices other than the CPU, of which there are none."""
    if list(devices):
        raise RuntimeError(f"set_device_states: no device of type {device_type or DefaultDeviceType.get_device_type()}")
