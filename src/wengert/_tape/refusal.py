"""Nodes of tensors that are handed on unchanged, whose backward step raises an error or gives no gradient."""

from __future__ import annotations

from functools import lru_cache, partial
from typing import Any

from .._base import errors as lines
from .._base.errors import warn
from .._base.modes import is_grad_enabled
from .node import Node, in_place_nodes, new_port, tick
from .promotion import cast, logical_dtype
from .tensor import Tensor, alias_payload, current_fn, wrap


class Refusal(Node):
    """The node; without a message it gives no gradient."""

    __slots__ = ("fx", "message", "outputs_meta")
    __module__ = "builtins"  # as PyTorch prints it

    def __init__(self, message: str | None, edges: tuple[Node | None, ...], outputs: Any) -> None:
        self.message = message
        self.fx = edges
        self.outputs_meta = tuple((None, None) if o is None else (o._payload.shape, o._payload.dtype) for o in outputs)
        self._hooks = None
        self._seq = tick()
        self._code, self._lasti = lines.here()

    def _edges(self) -> tuple[Node | None, ...]:
        return self.fx

    def name(self) -> str:
        return f"torch::autograd::{type(self).__name__}"

    def backward(self, xp: Any, g: Any, keep: bool) -> tuple[Any, ...]:
        if self.message is not None:
            raise RuntimeError(self.message)
        return tuple(x for m in self.fx if m is not None for x in (m, None))


Error = type("Error", (Refusal,), {"__slots__": (), "__module__": "builtins"})
NotImplemented_ = type("NotImplemented", (Refusal,), {"__slots__": (), "__module__": "builtins"})
UndefinedGradBackward = type("UndefinedGradBackward", (Refusal,), {"__slots__": (), "__module__": "builtins"})


def warn_of_fallback(name: str) -> None:
    """PyTorch's warning of a backward pass through an operator that was registered without a derivative."""
    warn(
        f"{name}: an autograd kernel was not registered to the Autograd key(s) but we are trying to backprop through "
        "it. This may lead to silently incorrect behavior. This behavior is deprecated and will be removed in a future "
        "version of PyTorch. If your operator is differentiable, please ensure you have registered an autograd kernel "
        "to the correct Autograd key (e.g. DispatchKey::Autograd, DispatchKey::CompositeImplicitAutograd). If your "
        "operator is not differentiable, or to squash this warning and use the previous behavior, please register "
        "torch::CppFunction::makeFallthrough() to DispatchKey::Autograd."
    )


class WarnNotImplemented(Refusal):
    """The node of a result that nothing recorded: its backward warns and gives no gradient."""

    __slots__ = ()
    __module__ = "builtins"

    def backward(self, xp: Any, g: Any, keep: bool) -> tuple[Any, ...]:
        """Warn, and pass nothing on."""
        warn_of_fallback(str(self.message))
        return tuple(x for m in self.fx if m is not None for x in (m, None))


class _InPlace(Refusal):
    """The node of an operator's in-place form where it is not that of the operator."""

    __slots__ = ()
    __module__ = "builtins"

    def name(self) -> str:
        return type(self).__name__


class _NotDerived(_InPlace):
    __slots__ = ()
    __module__ = "builtins"

    def backward(self, xp: Any, g: Any, keep: bool) -> tuple[Any, ...]:
        raise NotImplementedError(self.message)


class _Zeros(_InPlace):
    """The node of a comparison, whose result has its operand's dtype and so a gradient."""

    __slots__ = ("operands",)
    __module__ = "builtins"

    def backward(self, xp: Any, g: Any, keep: bool) -> tuple[Any, ...]:
        pairs: list[Any] = []
        for m, (shape, dtype) in zip(self.fx, self.operands, strict=True):
            zeros = xp.sum_to(xp.zeros_like(g), shape)
            pairs += () if m is None else (m, xp._to_copy(zeros, dtype))
        return tuple(pairs)


@lru_cache(None)
def _class_of(base: Any, name: str) -> Any:
    return type(name, (base,), {"__slots__": (), "__module__": "builtins"})


def _refused(op: Any, result: Any, old: Any) -> Any:
    cls = _class_of(_NotDerived, f"{op.__name__.capitalize()}Backward1")
    message = f"the derivative for 'inplace version of {op.__name__}' is not implemented."
    return refusing(cls, message, (result,), (old._node,))[0]


def _with_zeros(op: Any, result: Any, old: Any, other: Any) -> Any:
    operands = [t for t in (old, other) if isinstance(t, Tensor)]
    result = cast(result, logical_dtype(old))
    cls = _class_of(_Zeros, f"{op.__name__.capitalize()}Backward{len(operands) - 1}")
    (result,) = refusing(cls, None, (result,), tuple(current_fn(t) for t in operands))
    result._node.operands = [(t._payload.shape, logical_dtype(t)) for t in operands]
    return result


def record_in_place(op: Any, how: str) -> None:
    """Let the in-place form of an operator have another node than the operator's: see ``Operator.in_place``."""
    in_place_nodes[op] = {"refused": partial(_refused, op), "unrecorded": None, "zeros": partial(_with_zeros, op)}[how]


def refusing(cls: Any, message: str | None, tensors: tuple[Any, ...], edges: tuple[Node | None, ...]) -> Any:
    """Tensors on the same memory, with one node of ``Refusal``; ``None`` stays ``None``."""
    node = cls(message, edges, tensors)
    results: list[Any] = []
    for k, t in enumerate(tensors):
        results.append(None if t is None else wrap(alias_payload(t), node if len(tensors) == 1 else new_port(node, k)))
    return tuple(results)


def underived(aten: str, results: Any, *operands: Any) -> Any:
    """Results of an operator that PyTorch records without a derivative: a backward pass that arrives there is an error.

    Operands that are no tensors are passed over.
    """
    edges = tuple(fn for t in operands if isinstance(t, Tensor) and (fn := current_fn(t)) is not None)
    if not edges or not is_grad_enabled():
        return results
    return refusing(NotImplemented_, f"derivative for aten::{aten} is not implemented", results, edges)
