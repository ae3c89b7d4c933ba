"""The arguments of a call by the names of its parameters: ``normalize_function``, ``normalize_module``.

A function that PyTorch compiles has overloads, as ``utils._aten_schemas`` declares them, among which types decide. Any
other has its signature.
"""

from __future__ import annotations

import functools
import inspect
import numbers
import re
import typing
from typing import Any, NamedTuple

from .. import nn
from .._base.constants import device
from .._base.errors import warn
from .._base.exports import is_ours
from .._tape.tensor import Tensor
from .._tensor_api.python_calls import is_written_in_python, signature_of
from .._tensor_api.torch_function import public_places
from ..random import Generator
from ..utils._aten import OpOverload, OpOverloadPacket
from ..utils._aten_schemas import Argument, Schema, out_name, schemas
from ._naming import function_name

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


@functools.cache
def _overloads(op: Any) -> list[tuple[inspect.Signature, str, bool]] | None:
    """The overloads of a function that PyTorch compiles: each as a signature, as text, and whether it writes."""
    if isinstance(op, (OpOverload, OpOverloadPacket)):
        name = op.overloadpacket.__name__ if isinstance(op, OpOverload) else op.__name__
    elif public_places().get(id(op)) and not is_written_in_python(op):
        name = function_name(op)
    else:
        return None
    found = schemas(name)
    if isinstance(op, OpOverload):
        found = tuple([s for s in found if s.overload == op._overloadname])
    elif not name.endswith("_"):
        found += tuple([_with_out(s) for s in found])
    return [_signature(s) for s in found] or None


def _with_out(schema: Schema) -> Schema:
    return Schema(schema.name, out_name(schema.overload), (*schema.arguments, Argument("out", "T", None, True, True)))


_TYPES: dict[str, Any] = {
    "T": Tensor, "S": numbers.Number, "int": int, "float": float, "bool": bool, "str": str, "dtype": int,
    "Layout": int, "Format": int, "Device": device, "Gen": Generator,
}  # fmt: skip
_SHOWN = {"T": "Tensor", "S": "Scalar", "dtype": "ScalarType", "Format": "MemoryFormat", "Gen": "Generator"}


def _type(kind: str) -> Any:
    if kind.endswith("?"):
        return typing.Optional[_type(kind[:-1])]  # noqa: UP045 - `type_matches` looks for `typing.Union`
    if kind.endswith("]"):
        return typing.List[_type(kind[: kind.rindex("[")])]  # noqa: UP006
    return _TYPES[kind]


def _signature(schema: Schema) -> tuple[inspect.Signature, str, bool]:
    parameters: list[inspect.Parameter] = []
    words, starred = [], False
    inside = schema.name.endswith("_") and not schema.name.endswith("__")
    for i, a in enumerate(schema.arguments):
        kind: Any = inspect.Parameter.KEYWORD_ONLY if a.keyword_only else inspect.Parameter.POSITIONAL_OR_KEYWORD
        default = inspect.Parameter.empty if a.required else a.default
        written = "input" if a.name == "self" else a.name
        if written == "from":  # a keyword of Python: what stands before it goes by place too
            kind = inspect.Parameter.POSITIONAL_ONLY
            parameters = [p.replace(kind=kind) for p in parameters]
        parameters.append(inspect.Parameter(written, kind, default=default, annotation=_type(a.type)))
        if a.keyword_only and not starred:
            starred = True
            words.append("*")
        shown = "Tensor(a!)" if a.name == "out" or (inside and i == 0) else re.sub(
            r"^[A-Za-z]+", lambda m: _SHOWN.get(m[0], m[0]), a.type
        )  # fmt: skip
        words.append(f"{shown} {a.name}" if a.required else f"{shown} {a.name}={a.default}")
    writes = inside or (schema.arguments[-1:] != () and schema.arguments[-1].name == "out")
    overload = "" if schema.overload == "default" else f".{schema.overload}"
    text = f"aten::{schema.name}{overload}({', '.join(words)}) -> Tensor{'(a!)' if writes else ''}"
    return inspect.Signature(parameters, return_annotation=Tensor), text, writes


def get_signature_for_torch_op(op: Any, return_schemas: bool = False) -> Any:
    """The signatures of a function's overloads in a list, or None for one that is not PyTorch's.

    Args:
        return_schemas: return also the overloads as text; None for a function that PyTorch writes in Python.

    >>> import wengert as torch
    >>> [list(s.parameters) for s in torch.fx.operator_schemas.get_signature_for_torch_op(torch.relu)]
    [['input'], ['input', 'out']]
    """
    found = _overloads(op) if callable(op) else None
    signatures, texts = None, None
    if found is not None:
        signatures, texts = [s for s, _, _ in found], [text for _, text, _ in found]
    elif public_places().get(id(op)) and not is_written_in_python(op):
        signatures = [signature_of(op)]
    return (signatures, texts) if return_schemas else signatures


def _fitting(found: Any, args: Any, kwargs: Any) -> list[Any]:
    """The overloads that take such arguments."""
    fitting = []
    for overload in found:
        try:
            overload[0].bind(*args, **kwargs)
        except TypeError:
            continue
        fitting.append(overload)
    return fitting


def check_for_mutable_operation(target: Any, args: Any, kwargs: Any) -> None:
    """Refuse a call that writes into its arguments.

    Raises:
        RuntimeError: it does: the name ends with ``_``, or ``out`` is given.
    """
    fitting = _fitting(_overloads(target) or (), args, kwargs)
    if len(fitting) == 1 and fitting[0][2]:
        raise RuntimeError(
            f"Tried to trace mutable operation {fitting[0][1]}. FX only supports functional code, so operations that "
            "mutate operands in-place (e.g. via `out` arguments) are not supported"
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


def _torchscript_type_to_python_type(ts_type: Any) -> Any:
    """The annotation of a type that ``torch._C._jit_try_infer_type`` gave."""
    return ts_type.annotation


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
    kwargs = kwargs or {}
    target = target if isinstance(target, (OpOverload, OpOverloadPacket)) else getattr(target, "_op", target)
    found = _overloads(target)
    if found is None:
        return _without_overloads(target, args, kwargs, normalize_to_only_use_kwargs)
    fitting = _fitting(found, args, kwargs)
    if len(fitting) > 1 and arg_types is None and kwarg_types is None:
        name, shown = getattr(target, "__name__", target), "\n".join([str(f[0]) for f in fitting])
        raise RuntimeError(
            f"Tried to normalize arguments to torch._VariableFunctionsClass.{name} but the schema match was "
            "ambiguous! Please provide argument types to the normalize_arguments() call. Available schemas:\n" + shown
        )
    if len(fitting) > 1:
        types = arg_types or (), kwarg_types or {}
        fitting = [f for f in _fitting(found, *types) if _has_types(f[0], *types)]
    return _normalized(fitting[0][0], args, kwargs, normalize_to_only_use_kwargs) if fitting else None


def _has_types(sig: inspect.Signature, args: Any, kwargs: Any) -> bool:
    given = sig.bind(*args, **kwargs).arguments
    return all(type_matches(sig.parameters[name].annotation, kind) for name, kind in given.items())


def _without_overloads(target: Any, args: Any, kwargs: Any, only_kwargs: bool) -> ArgsKwargsPair | None:
    compiled = public_places().get(id(target)) and not is_written_in_python(target)
    try:
        return _normalized(signature_of(target), args, kwargs, only_kwargs, not compiled)
    except (TypeError, ValueError) as e:
        if isinstance(e, ValueError) or is_ours(getattr(target, "__module__", None)):
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
