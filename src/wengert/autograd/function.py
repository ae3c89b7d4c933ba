"""``Function``, the base class of custom functions, whose ``forward`` and ``backward`` the user defines.

The context passed to both is the graph node itself, as in PyTorch, so attributes of ``ctx`` are attributes of
``grad_fn``. Values of ``save_for_backward`` are boxed like those of operators: checked for writes in place, freed with
the graph, without a reference cycle through an output. Functions of PyTorch 0.1 (``F()(x)``, with
``forward(self, x)``) run too: there the instance is the context.
"""

from __future__ import annotations

import functools
import weakref
from typing import Any

import numpy as np

from .._base import errors as lines
from .._base.constants import type_name
from .._base.errors import noted, warn
from .._base.grad_mode import grad_mode
from .._base.modes import in_transform, is_grad_enabled, saved_tensors_hooks, transforms
from .._base.registry import TENSORS
from .._payloads.transforms import of_transform
from .._tape.inference import box_to_save
from .._tape.node import LEAVES, leaf_node, new_port, tick, view_of
from .._tape.refusal import Error, refusing
from .._tape.tensor import Tensor, alias_payload, current_fn, wrap
from .._tape.unrecorded import MULTI_OUTPUT_VIEW
from .._tape.views import check_inplace, count_write, rebase_history
from ..utils._pytree import tree_flatten, tree_unflatten
from ._function_node import BackwardCFunction, FunctionCtx, NodeOfInstance

__all__ = ["BackwardCFunction", "Function", "FunctionCtx", "FunctionMeta", "InplaceFunction", "NestedIOFunction",
           "once_differentiable", "traceable"]  # fmt: skip

BackwardCFunction.__module__ = FunctionCtx.__module__ = __name__


class FunctionMeta(type):
    """The metaclass of functions, which makes the node class of each."""

    def __init__(cls, name: str, bases: Any, members: Any) -> None:
        cls._backward_cls = type(name + "Backward", (BackwardCFunction,), {"_forward_cls": cls})
        super().__init__(name, bases, members)


class Function(FunctionCtx, NodeOfInstance, metaclass=FunctionMeta):
    """Base class of custom functions: define static methods ``forward`` and ``backward``, and call ``apply``.

    ``forward(ctx, *args)`` computes the outputs, without recording, and saves values for
    ``backward(ctx, *grad_outputs)``, which returns one gradient per argument, ``None`` where none is needed.

    >>> import wengert as torch
    >>> class Square(torch.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         ctx.save_for_backward(x)
    ...         return x * x
    ...     @staticmethod
    ...     def backward(ctx, grad):
    ...         (x,) = ctx.saved_tensors
    ...         return 2 * x * grad
    >>> x = torch.tensor(3., requires_grad=True)
    >>> Square.apply(x).backward()
    >>> x.grad
    tensor(6.)
    """

    generate_vmap_rule = False
    clear_saved_tensors_on_access = False
    boxed_grads_call = False  # ``backward(ctx, grads)`` is given a list, from which it may remove gradients

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if _is_static(type(self), "forward"):
            warn(
                f"{type(self)} should not be instantiated. Methods on autograd functions are all static, so you should "
                "invoke them on the class itself. Instantiating an autograd function will raise an error in a future "
                "version of PyTorch.",
                DeprecationWarning,
            )

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """Compute the outputs. Subclasses define this."""
        raise NotImplementedError("You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> Any:
        """Save values for backward, if ``forward`` takes no ``ctx``."""
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        """Compute the gradients of the arguments from those of the outputs. Subclasses define this."""
        raise NotImplementedError(
            "You must implement either the backward or vjp method for your custom autograd.Function to use it with "
            "backward mode AD."
        )

    vjp = backward

    @staticmethod
    def jvp(ctx: Any, *grad_inputs: Any) -> Any:
        """Compute the tangents of the outputs from those of the arguments (forward mode). Subclasses define this."""
        raise NotImplementedError(
            "You must implement the jvp function for custom autograd.Function to use it with forward mode AD."
        )

    @staticmethod
    def vmap(info: Any, in_dims: Any, *args: Any) -> Any:
        """The batching rule. Subclasses define this."""
        raise NotImplementedError(
            "To use autograd.Function with vmap, you must either override the vmap staticmethod or set "
            "generate_vmap_rule=True."
        )

    @classmethod
    def _own_backward(cls, ctx: Any, grads: list[Any]) -> Any:
        """The results of ``vjp`` or ``backward``, whichever the class defines."""
        backward, vjp = cls.backward, cls.vjp
        if vjp is not Function.vjp:
            if backward is not Function.backward:
                raise RuntimeError(
                    "Implementing both 'backward' and 'vjp' for a custom Function is not allowed. You should only "
                    "implement one of them."
                )
            backward = vjp
        return backward(ctx, grads) if cls.boxed_grads_call else backward(ctx, *grads)

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Run the function on ``args`` and record it."""
        if kwargs or (cls.setup_context is not Function.setup_context and len(args) != _argument_count(cls.forward)):
            args = _bound_arguments(cls, args, kwargs)
        if _in_transform(args):
            from ._function_forward import applied

            return applied(cls, args)
        if transforms and cls.setup_context is Function.setup_context and in_transform():
            from ._function_forward import NEEDS_SETUP_CONTEXT

            raise RuntimeError(NEEDS_SETUP_CONTEXT)
        outputs, ctx = run(cls, args)
        ctx.__dict__.pop("saved_for_forward", None)  # only forward mode reads it, and an output in it would be a cycle
        return outputs

    # ---- PyTorch 0.1 to 0.4
    def __call__(self, *args: Any) -> Any:
        """Run an old-style function, whose instance is its context."""
        if _is_static(type(self), "forward"):
            raise noted(
                RuntimeError(
                    "Legacy autograd function with non-static forward method is deprecated. Please use new-style "
                    "autograd function with static forward method. (Example: "
                    "https://pytorch.org/docs/stable/autograd.html#torch.autograd.Function)"
                ),
                f"What to do: {type(self).__name__}.apply(...) calls a static forward.",
            )
        return run(type(self), args, old_style=self)[0]


def _is_static(cls: Any, name: str) -> bool:
    for base in cls.__mro__:
        if name in base.__dict__:
            return isinstance(base.__dict__[name], (staticmethod, classmethod))
    return False


def _argument_count(fn: Any) -> int:
    code = getattr(fn, "__code__", None)
    return -1 if code is None or code.co_flags & 0x0C or code.co_kwonlyargcount else code.co_argcount


def _bound_arguments(cls: Any, args: Any, kwargs: Any) -> tuple[Any, ...]:
    """Keyword arguments of ``apply`` in the order of ``forward``."""
    import inspect

    with_ctx = cls.setup_context is Function.setup_context
    signature = inspect.signature(cls.forward)
    if with_ctx:
        _refuse_names(cls.forward.__name__, list(signature.parameters.values())[1:], len(args), kwargs)
    bound = signature.bind(*((None, *args) if with_ctx else args), **kwargs)
    bound.apply_defaults()
    for name in kwargs:
        if name in bound.kwargs:  # gradients are returned by position
            if in_transform():
                raise NotImplementedError(
                    "Run vmap on autograd.Function with kwarg-only Tensor args. Please do not pass kwarg-only Tensors "
                    f"to autograd.Function. Got: {kwargs}"
                )
            raise TypeError(f"{cls.forward.__name__}() got an unexpected keyword argument '{name}'")
    return bound.args[1:] if with_ctx else bound.args


def _refuse_names(name: str, parameters: list[Any], given: int, kwargs: Any) -> None:
    """Raise PyTorch's errors for keyword arguments that are not all of the others."""
    places = {p.name: i for i, p in enumerate(parameters) if p.kind is p.POSITIONAL_OR_KEYWORD}
    for key in kwargs:
        if key not in places:
            raise TypeError(f"{name}() got an unexpected keyword argument '{key}'")
        if places[key] < given:
            raise TypeError(f"{name}() got multiple values for argument '{key}'")
    for key, i in places.items():
        if i >= given and key not in kwargs and parameters[i].default is parameters[i].empty:
            raise TypeError(f"{name}() missing required argument: '{key}' (position {i})")


# ---- running
watchers: list[Any] = []  # observers around every call of a custom function: fn(cls, args, proceed) -> proceed()


def run(cls: Any, args: tuple[Any, ...], old_style: Any = None) -> tuple[Any, BackwardCFunction]:
    """Call ``forward`` without recording and attach the history to its outputs."""
    if watchers:
        return _watched(tuple(watchers), cls, args, old_style)
    return _run(cls, args, old_style)


def _watched(hooks: tuple[Any, ...], cls: Any, args: tuple[Any, ...], old_style: Any) -> Any:
    if not hooks:
        return _run(cls, args, old_style)
    return hooks[-1](cls, args, lambda: _watched(hooks[:-1], cls, args, old_style))


def _run(cls: Any, args: tuple[Any, ...], old_style: Any) -> tuple[Any, BackwardCFunction]:
    ctx = cls._backward_cls()
    frame = lines.user_frame(lines.sys._getframe(1))
    ctx._code, ctx._lasti = frame.f_code, frame.f_lasti
    edges = tuple([current_fn(a) for a in args if isinstance(a, Tensor)])
    ctx.needs_input_grad = needs = tuple([isinstance(a, Tensor) and a._node is not None for a in args])
    track = True in needs and is_grad_enabled()
    if old_style is None and _in_transform(args):
        from ._function_forward import inside

        outputs = inside(cls, ctx, args, track)
    else:
        with grad_mode(False):
            outputs = _call_forward(cls, ctx, args, old_style, track)
    single = not isinstance(outputs, tuple)
    flat = (outputs,) if single else outputs
    if ctx._is_pure_view:
        ctx.check_pure_view(args, flat)
    if old_style is not None:
        _adopt_old_context(ctx, old_style)
    if not track:
        if ctx.dirty_tensors:
            _check_dirty(ctx, flat)
            for t in ctx.dirty_tensors:
                count_write(t)
        fresh = tuple([_alias_input(o, args, ctx) for o in flat])
        return (fresh[0] if single else fresh), ctx
    ctx._next = edges
    ctx._inputs = tuple([(a._payload.shape, a._payload.dtype) if isinstance(a, Tensor) else None for a in args])
    ctx._seq = tick()
    results = _with_history(ctx, args, flat)
    _save(ctx, results)
    return (results[0] if single else tuple(results)), ctx


def _in_transform(args: tuple[Any, ...]) -> bool:
    """Whether one of these tensors holds a transform's value."""
    for a in args:  # noqa: SIM110  a generator takes three times as long
        if isinstance(a, Tensor) and of_transform(a._payload):
            return True
    return False


def _call_forward(cls: Any, ctx: Any, args: tuple[Any, ...], old_style: Any, track: bool) -> Any:
    if old_style is not None:
        old_style.__dict__["_old_ctx"] = ctx
        outputs = old_style.forward(*args)
    elif cls.setup_context is Function.setup_context:
        outputs = cls.forward(ctx, *args)
    else:
        outputs = cls.forward(*args)
        cls.setup_context(ctx, args, outputs)
        refuse_saved_inputs(ctx, args, outputs, track)
    return outputs


def in_forward() -> bool:
    """Whether a custom function's ``forward`` is running here: it is found on the stack, so that no call notes it."""
    frame: Any = lines.sys._getframe(1)
    while frame is not None and frame.f_code is not _call_forward.__code__:
        frame = frame.f_back
    return frame is not None


def refuse_saved_inputs(ctx: Any, args: tuple[Any, ...], outputs: Any, track: bool) -> None:
    """Raise PyTorch's error if ``setup_context`` saved an input that is an output as it is.

    Where recording is off, PyTorch has made such an output of an input that requires grad a view.
    """
    outs = outputs if isinstance(outputs, tuple) else (outputs,)
    same = [o for o in outs if isinstance(o, Tensor) and any(o is a for a in args) and (track or o._node is None)]
    if not same:
        return
    for saved in (ctx.to_save, getattr(ctx, "saved_for_forward", None)):
        for t in saved or ():
            if any(t is o for o in same) and not any(t is d for d in ctx.dirty_tensors):
                raise RuntimeError(
                    "An input that has been returned as-is as output is being saved for backward. This is not "
                    "supported if you override setup_context. You should return and save a view of the input instead, "
                    "e.g. with x.view_as(x) or setup ctx inside the forward function itself."
                )


def _adopt_old_context(ctx: Any, old: Any) -> None:
    """Move the marks that an old-style instance made during its call to the node."""
    state = old.__dict__
    for name in ("to_save", "dirty_tensors", "non_differentiable"):
        if name in state:
            setattr(ctx, name, state.pop(name))
    if "materialize_grads" in state:
        ctx.materialize_grads = state["materialize_grads"]
    ctx._old_style = old
    # the node refers to the instance; a reference back would be a cycle, which only the garbage collector frees
    old.__dict__["_old_ctx"] = _Weak(ctx)


class _Weak:
    """A weak proxy of a node."""

    def __init__(self, node: Any) -> None:
        self._ref = weakref.ref(node)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ref(), name)


def _alias_input(o: Any, args: tuple[Any, ...], ctx: Any) -> Any:
    """Outputs of an unrecorded call: an input that is returned unchanged becomes a new tensor on the same memory.

    A view is marked as one that a custom function made, unless recording is off: see ``views.check_inplace``.
    """
    if not isinstance(o, Tensor) or any(o is d for d in ctx.dirty_tensors):
        return o
    if any(o is a for a in args):
        if of_transform(o._payload):
            return wrap(o._payload)
        if not is_grad_enabled():
            return o.detach()
        o = o.view_as(o)
    view = view_of(o)
    if view is not None and is_grad_enabled():
        o._view = (*view[:3], ctx.view_creation)
    return o


def _with_history(ctx: Any, args: tuple[Any, ...], flat: tuple[Any, ...]) -> list[Any]:
    dirty = {id(t) for t in ctx.dirty_tensors}
    plain = {id(t) for t in ctx.non_differentiable}
    inputs = {id(a): a for a in args if isinstance(a, Tensor)}
    if dirty or plain:
        _check_dirty(ctx, flat)
    ctx.outputs_meta = meta = [
        (o._payload.shape, o._payload.dtype) if isinstance(o, Tensor) else (None, None) for o in flat
    ]
    many = len(flat) > 1
    results: list[Any] = []
    for k, o in enumerate(flat):
        if not isinstance(o, Tensor):
            results.append(o)
            continue
        differentiable = id(o) not in plain and o._payload.dtype.kind in "fcV"
        node: Any = (new_port(ctx, k) if many else ctx) if differentiable else None
        if node is None and not ctx._materialize_non_diff_grads:
            meta[k] = (None, None)
        if id(o) in dirty:
            _check_dirty_view(o, id(o) in inputs, many)
        results.append(_one_output(ctx, o, node, id(o) in inputs, id(o) in dirty))
    tracked = [r for r in results if isinstance(r, Tensor) and r._node is not None] if many else ()
    if len(tracked) > 1:  # a write to one of several views could not be distinguished from a write to another
        for r in tracked:
            view = view_of(r)
            if view is not None and id(r) not in dirty:
                r._view = (*view[:3], MULTI_OUTPUT_VIEW)
    if any(t not in inputs for t in dirty):
        lines.warn(_NOT_AN_INPUT)
    return results


_NOT_AN_INPUT = (
    "ctx.mark_dirty() received a tensor that was not an input. Only input Tensors that have been mutated should be "
    "passed to ctx.mark_dirty()."
)


def _check_dirty_view(t: Tensor, is_input: bool, many: bool) -> None:
    """A written view must be an input and the only output: its base's history is rewritten for one node."""
    if view_of(t) is None:
        return
    if not is_input:
        raise RuntimeError(_NOT_AN_INPUT)
    if many:
        raise RuntimeError(
            "If your Function modifies inplace an input that is a view of another Tensor, your Function cannot return "
            "more than one Tensor. This is not supported by the current autograd engine. You should either make sure "
            "the input is not a view (using .clone() for example) or make your Function only return one Tensor "
            "(potentially splitting it into two Functions: one doing the inplace that returns a single Tensor and a "
            "second one that does the other operations). You can ask on the forum https://discuss.pytorch.org/ if you "
            "need help to do this change."
        )


def _check_dirty(ctx: Any, flat: tuple[Any, ...]) -> None:
    for t in ctx.non_differentiable:
        if not isinstance(t, Tensor):
            raise RuntimeError(f"mark_non_differentiable only accepts variable arguments, but got {type_name(t)}")
    for i, t in enumerate(ctx.dirty_tensors):
        if not isinstance(t, Tensor):
            raise RuntimeError(f"mark_dirty can only accept variables, but argument {i} is of type {type_name(t)}")
        if not any(t is o for o in flat):
            raise RuntimeError(
                "Some elements marked as dirty during the forward method were not returned as output. The inputs that "
                "are modified inplace must all be outputs of the Function."
            )


def stands_for_a_primal(t: Tensor) -> bool:
    """Whether a leaf is hidden from the user: a dual tensor's primal on its tape (``forward_ad``)."""
    from .forward_ad import _level

    level = _level()
    return level is not None and t._node in level.hidden


def _one_output(ctx: Any, o: Any, node: Any, is_input: bool, is_dirty: bool) -> Any:
    if is_dirty:
        if o._node is not None and type(o._node) in LEAVES:
            if stands_for_a_primal(o):
                count_write(o, ctx._seq)
                o._node = node
                return o
            raise noted(
                RuntimeError("a leaf Variable that requires grad has been used in an in-place operation."),
                f"Why: {ctx.name()} marked it as dirty.",
                "What to do: give the function a copy (clone()), or call it under torch.no_grad().",
                code="W005",
            )
        check_inplace(o, True)
        count_write(o, ctx._seq)
        rebase_history(o, node)
        return o
    if is_input and node is None and isinstance(o._payload, np.ndarray):
        return o.detach()
    if is_input:  # returned unchanged: a view of the input, which may not be written in place
        a = alias_payload(o)
        t = wrap(a[...] if isinstance(a, np.ndarray) else a, node)
        if isinstance(a, np.ndarray):
            t._view = (o, _ALIAS, (a.shape,), ctx.view_creation)
        return t
    view = view_of(o)
    if view is not None and node is not None:  # a view made in forward: its history is this function, not the view's
        o._view = (*view[:3], ctx.view_creation)
    o._node = node
    return o


def _save(ctx: Any, results: list[Any]) -> None:
    """Box the values passed to ``save_for_backward``."""
    for name in ("dirty_tensors", "non_differentiable"):  # an output among them would be a cycle
        ctx.__dict__.pop(name, None)
    to_save = ctx.__dict__.pop("to_save", ())
    if not to_save:
        ctx._boxes = ()
        return
    hooks = saved_tensors_hooks()
    boxes: list[Any] = []
    for t in to_save:
        if t is None:
            boxes.append((None, None))
            continue
        if not isinstance(t, Tensor):
            raise TypeError(
                f"save_for_backward can only save variables, but argument {len(boxes)} is of type {type_name(t)}"
            )
        box = box_to_save(t)
        k = next((k for k, r in enumerate(results) if r is t and r._node is not None), None)
        if hooks:
            from .._tape.saved_hooks import pack_box

            boxes.append(
                pack_box(
                    ctx,
                    box,
                    ctx._output_node(k) if k is not None else t._node or weakref.ref(t),
                    hooks[-1],
                    k is not None,
                )
            )
        else:
            boxes.append((box, k if k is not None else weakref.ref(t) if t._node is None else t._node))
    ctx._boxes = tuple(boxes)


class _Alias:
    """The view operator of an input that a custom function returned unchanged."""

    name = "reshape"
    outputs = 1

    @staticmethod
    def core(parent: Tensor, shape: tuple[int, ...]) -> Tensor:
        """The same tensor, for replaying the view."""
        return TENSORS.reshape(parent, shape)


_ALIAS = _Alias()


class InplaceFunction(Function):
    """A function with an ``inplace`` flag, for old programs."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace


class NestedIOFunction(Function):
    """An old-style function (``F()(x)``) whose arguments and results are nested tuples and lists of tensors.

    Subclasses define ``forward_extended(self, *input)`` and ``backward_extended(self, *grad_output)``, which take and
    return nested structures.
    """

    def __call__(self, *input: Any) -> Any:
        """Run it on nested arguments."""
        flat, self._input_spec = tree_flatten(input)
        flat_output = super().__call__(*flat)
        return tree_unflatten(list(flat_output), self._output_spec)

    def forward(self, *args: Any) -> Any:  # type: ignore[override]
        """Run ``forward_extended`` on the structures."""
        output = self.forward_extended(*tree_unflatten(list(args), self._input_spec))
        flat, self._output_spec = tree_flatten(output)
        return tuple(flat)

    def backward(self, *gradients: Any) -> Any:  # type: ignore[override]
        """Run ``backward_extended`` on the structures."""
        return tuple(tree_flatten(self.backward_extended(*tree_unflatten(list(gradients), self._output_spec)))[0])

    def save_for_backward(self, *args: Any) -> None:
        """Save nested tensors for backward."""
        flat, self._saved_spec = tree_flatten(args)
        super().save_for_backward(*flat)

    @property
    def saved_tensors(self) -> Any:
        """The tensors of ``save_for_backward``, nested as before."""
        return tree_unflatten(list(self._old_ctx.saved_tensors), self._saved_spec)

    def mark_dirty(self, *args: Any) -> None:
        """Mark inputs, nested, that were changed in place."""
        super().mark_dirty(*tree_flatten(args)[0])

    def mark_non_differentiable(self, *args: Any) -> None:
        """Mark outputs, nested, that have no derivative."""
        super().mark_non_differentiable(*tree_flatten(args)[0])

    def forward_extended(self, *input: Any) -> Any:
        """Compute the outputs. Subclasses define this."""
        raise NotImplementedError

    def backward_extended(self, *grad_output: Any) -> Any:
        """Compute the gradients of the inputs. Subclasses define this."""
        raise NotImplementedError


def once_differentiable(fn: Any) -> Any:
    """Decorator for a ``backward`` that is not differentiable: a second derivative raises an error."""

    @functools.wraps(fn)
    def wrapper(ctx: Any, *args: Any) -> Any:
        with grad_mode(False):
            outputs = fn(ctx, *args)
        if not is_grad_enabled() or not any(isinstance(a, Tensor) and a.requires_grad for a in args):
            return outputs
        many = isinstance(outputs, tuple)
        values = outputs if many else (outputs,)
        outs = tuple(v if isinstance(v, Tensor) else None for v in values)
        leaves = tuple(None if o is None else leaf_node(wrap(o._payload)) for o in outs)
        refused = refusing(
            Error, "trying to differentiate twice a function that was marked with @once_differentiable", outs, leaves
        )
        return refused if many else refused[0]

    return wrapper


def traceable(fn_cls: Any) -> Any:
    """Does nothing; for old programs."""
    return fn_cls


def _is_setup_context_defined(fn: Any) -> bool:
    """Whether ``fn`` is a ``setup_context`` other than the one of ``Function``, which raises an error."""
    return fn is not Function.setup_context
