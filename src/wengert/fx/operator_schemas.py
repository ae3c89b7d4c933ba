"""The arguments of a call by the names of its parameters: ``normalize_function``, ``normalize_module``.

PyTorch matches overloads of its operators by type; here each public function has one signature, which is taken.
"""

from __future__ import annotations

import inspect
import numbers
import typing
from typing import Any, NamedTuple

from .. import nn
from .._base.errors import warn
from .._base.registry import PUBLIC
from ..utils._aten import OpOverload, OpOverloadPacket
from ._calls import is_written_in_python, signature_of
from ._naming import is_ours, public_places

__all__ = [
    "ArgsKwargsPair",
    "check_for_mutable_operation",
    "create_type_hint",
    "get_signature_for_torch_op",
    "normalize_function",
    "normalize_module",
    "type_matches",
]


class ArgsKwargsPair(NamedTuple):
    """The positional and the keyword arguments of a call."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]


def get_signature_for_torch_op(op: Any, return_schemas: bool = False) -> Any:
    """The signatures of a public function in a list, or None for one of the user's; schemas there are none.

    >>> import wengert as torch
    >>> torch.fx.operator_schemas.get_signature_for_torch_op(torch.nonzero.__call__) is None
    True
    """
    signatures = None
    if isinstance(op, (OpOverload, OpOverloadPacket)):
        name = (op.overloadpacket if isinstance(op, OpOverload) else op).__name__
        op = PUBLIC["torch"].get(name) or PUBLIC["Tensor"].get(name)
    if op is not None and is_ours(getattr(op, "__module__", None)):
        try:
            signatures = [signature_of(op)]
        except (TypeError, ValueError):
            signatures = None
    return (signatures, None) if return_schemas else signatures


def check_for_mutable_operation(target: Any, args: Any, kwargs: Any) -> None:
    """Refuse a call that writes into its arguments.

    Raises:
        RuntimeError: it does: the name ends with ``_``, or ``out`` is given.
    """
    name = getattr(target, "__name__", "")
    ours = is_ours(getattr(target, "__module__", None)) and not isinstance(target, type)
    in_place = name.endswith("_") and not name.endswith("__")
    if ours and (in_place or kwargs.get("out") is not None):
        schema = f"aten::{name}({'Tensor(a!) self' if in_place else 'Tensor self, *, Tensor(a!) out'}) -> Tensor(a!)"
        raise RuntimeError(
            f"Tried to trace mutable operation {schema}. FX only supports functional code, so operations that mutate "
            "operands in-place (e.g. via `out` arguments) are not supported"
        )


def create_type_hint(x: Any) -> Any:
    """The annotation of a list or tuple of types: ``list[T]``, ``tuple[T, ...]``; anything else as it is."""
    if not isinstance(x, (list, tuple)):
        return x
    made: Any = list.__class_getitem__ if isinstance(x, list) else (lambda t: tuple.__class_getitem__((t, ...)))
    try:
        base: Any = x[0] if len(x) else Any
        for t in x:
            if issubclass(t, base):
                continue
            base = t if issubclass(base, t) else None
            if base is None:
                return made(Any)
        return made(base)
    except Exception:  # noqa: BLE001 - of items that are no types
        warn(f"We were not able to successfully create type hint from the type {x}")
    return x


def type_matches(signature_type: Any, argument_type: Any) -> bool:
    """Whether a parameter with this annotation takes an argument of this type."""
    origin = getattr(signature_type, "__origin__", signature_type)
    if signature_type is argument_type:
        return True
    if origin is typing.Union and signature_type != argument_type:
        return any(type_matches(c, argument_type) for c in typing.get_args(signature_type))
    if getattr(signature_type, "__origin__", None) is list:
        return _list_matches(signature_type, argument_type)
    if signature_type is int and getattr(argument_type, "__name__", "") == "dtype":
        return True
    if signature_type is numbers.Number and argument_type in (int, float):
        return True
    return inspect.isclass(argument_type) and inspect.isclass(signature_type) and issubclass(
        argument_type, signature_type
    )  # fmt: skip


def _list_matches(signature_type: Any, argument_type: Any) -> bool:
    item = typing.get_args(signature_type)[0]
    if argument_type is int and item is int:
        return True
    if not inspect.isclass(item):
        warn(f"Does not support nested parametric types, got {signature_type}. Please file a bug.")
        return False
    if getattr(argument_type, "__origin__", None) is list:
        return issubclass(typing.get_args(argument_type)[0], item)
    if typing.get_origin(argument_type) is not tuple:
        return False
    contained = typing.get_args(argument_type)
    return contained == ((),) or all(c is Ellipsis or issubclass(c, item) for c in contained)


def normalize_function(
    target: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any] | None = None,
    arg_types: Any = None,
    kwarg_types: Any = None,
    normalize_to_only_use_kwargs: bool = False,
) -> ArgsKwargsPair | None:
    """A function's arguments under the names of its parameters, with defaults.

    Returns:
        The arguments; positional ones stay so unless ``normalize_to_only_use_kwargs``. None if the function has
        parameters such as ``*args``, or they do not fit.

    >>> import wengert as torch
    >>> torch.fx.operator_schemas.normalize_function(
    ...     torch.nn.functional.dropout, (1,), {"training": False}, normalize_to_only_use_kwargs=True
    ... ).kwargs
    {'input': 1, 'p': 0.5, 'training': False, 'inplace': False}
    """
    if isinstance(target, (OpOverload, OpOverloadPacket)):
        found = get_signature_for_torch_op(target)
        if not found:
            return None
        signature = found[0]
    else:
        try:
            signature = signature_of(target)
        except (TypeError, ValueError):
            return None
    try:
        return _normalized(
            signature,
            args,
            kwargs or {},
            normalize_to_only_use_kwargs,
            not public_places().get(id(target)) or is_written_in_python(target),
        )
    except TypeError:
        if is_ours(getattr(target, "__module__", None)):
            return None
        raise


def _normalize_function_or_error(target: Any, args: Any, kwargs: Any = None, *rest: Any) -> ArgsKwargsPair:
    found = normalize_function(target, args, kwargs, *rest)
    if found is None:
        raise RuntimeError(f"Failed to normalize function {target} with args {args} and kwargs {kwargs}")
    return found


def normalize_module(
    root: Any, target: str, args: tuple[Any, ...], kwargs: Any = None, normalize_to_only_use_kwargs: bool = False
) -> ArgsKwargsPair | None:
    """The arguments of a layer of ``torch.nn`` under the names of its parameters; None for other modules.

    Raises:
        RuntimeError: the root has no such module.
    """
    try:
        module = root.get_submodule(target)
    except AttributeError as e:
        raise RuntimeError(f"Tried to normalize node with target {target} but root did not have that target!") from e
    if getattr(nn, type(module).__name__, None) is not type(module):
        return None
    signature = inspect.signature(inspect.unwrap(module.forward))
    return _normalized(signature, args, kwargs or {}, normalize_to_only_use_kwargs)


def _normalized(
    sig: inspect.Signature, args: Any, kwargs: Any, only_kwargs: bool, defaults: bool = True
) -> ArgsKwargsPair | None:
    names = list(sig.parameters)
    takers = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    if any(p.kind not in takers for p in sig.parameters.values()) and names != ["input", "from", "to", "generator"]:
        return None
    bound = sig.bind(*args, **kwargs)
    if defaults:  # a compiled function of PyTorch has other ones in each overload
        bound.apply_defaults()
    placed = 0 if only_kwargs else len(args)
    values = bound.arguments
    named = {n: values[n] for n in names[placed:] if n in values}
    return ArgsKwargsPair(tuple([values[n] for n in names[:placed]]), named)
