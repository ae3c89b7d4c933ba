"""Schemas of custom operators: texts such as ``"(Tensor x, *, float alpha=1.0) -> Tensor"``."""

from __future__ import annotations

import ast
import inspect
import re
import types
import typing
from collections.abc import Callable, Sequence
from typing import Any

import wengert as torch

from .._tape.tensor import Tensor

_TYPES = {Tensor: "Tensor", int: "SymInt", float: "float", bool: "bool", str: "str", "number": "Scalar"}


def infer_schema(prototype_function: Callable[..., Any], /, *, mutates_args: Any, op_name: str | None = None) -> str:
    """The schema of a function by its annotations: ``"(Tensor x, *, float alpha=1.0) -> Tensor"``.

    Raises ValueError if a parameter has no annotation, or one that operators do not support.
    """
    signature = inspect.signature(prototype_function)
    hints = typing.get_type_hints(prototype_function)
    parts: list[str] = []
    for name, parameter in signature.parameters.items():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise ValueError(
                f"infer_schema(func): We do not support positional-only args, varargs, or varkwargs. {name}"
            )
        if name not in hints:
            raise ValueError(
                f"infer_schema(func): Parameter {name} must have a type annotation. Got func with signature "
                f"{signature})"
            )
        if parameter.kind is parameter.KEYWORD_ONLY and "*" not in parts:
            parts.append("*")
        text = _type_text(hints[name], f"Parameter {name}")
        if mutates_args == "unknown" or name in mutates_args:
            text = text.replace("Tensor", f"Tensor(a{len(parts)}!)", 1)
        value = parameter.default
        if isinstance(value, (str, torch.device)):
            value = f'"{value}"'
        elif isinstance(value, torch.dtype):
            value = str(value).removeprefix("torch.")
        parts.append(f"{text} {name}" + ("" if value is parameter.empty else f"={value}"))
    unknown = set() if mutates_args == "unknown" else {*mutates_args} - signature.parameters.keys()
    if unknown:
        raise ValueError(
            f"infer_schema(func): {unknown} in mutates_args were not found in the custom op's signature. mutates_args "
            "should contain the names of all args that the custom op mutates, or just the string 'unknown' if you "
            f"don't know. Got func with signature {signature})"
        )
    if "return" not in hints:
        raise ValueError(
            "infer_schema(func): No return type annotation was provided. Please add one. Got func with signature "
            f"{signature})"
        )
    result = hints["return"]
    many = typing.get_origin(result) is tuple
    text = ", ".join(_type_text(t, "Return") for t in typing.get_args(result)) if many else _type_text(result, "Return")
    schema = f"({', '.join(parts)}) -> {f'({text})' if many or result is type(None) else text}"
    return schema if op_name is None else op_name + schema


def _type_text(hint: Any, who: str) -> str:
    if hint is type(None):
        return ""
    arguments = typing.get_args(hint)
    origin = typing.get_origin(hint)
    if origin in (typing.Union, types.UnionType) and type(None) in arguments:
        (kind,) = (a for a in arguments if a is not type(None))
        return _type_text(kind, who) + "?"
    if origin in (list, Sequence) and len(arguments) == 1:
        return _type_text(arguments[0], who) + "[]"
    names = {torch.dtype: "ScalarType", torch.device: "Device", **_TYPES}
    if origin in (typing.Union, types.UnionType) and set(arguments) <= {int, float, bool}:
        return "Scalar"
    if hint not in names:
        raise ValueError(f"infer_schema(func): {who} has unsupported type {hint}. The valid types are: {list(names)}.")
    return names[hint]


_PARAMETER = re.compile(
    r"^(?P<type>[\w.]+(?:\(\w+!?\))?\??(?:\[\d*\])?\??)\s+(?P<name>\w+)(?:\s*=\s*(?P<default>.+))?$"
)


def signature_of(schema: str) -> inspect.Signature:
    """The signature of ``"(Tensor x, *, float alpha=1.0) -> Tensor"``."""
    inside = schema.partition("->")[0].strip().removeprefix("(").removesuffix(")")
    kind: Any = inspect.Parameter.POSITIONAL_OR_KEYWORD
    parameters = []
    for part in filter(None, (p.strip() for p in re.split(r",(?![^\[]*\])", inside))):
        if part == "*":
            kind = inspect.Parameter.KEYWORD_ONLY
            continue
        found = _PARAMETER.match(part)
        if found is None:
            raise RuntimeError(f"expected a type and a name in the schema, but found {part!r}")
        annotation = re.sub(r"\(\w+!?\)", "", found["type"])
        default: Any = inspect.Parameter.empty if found["default"] is None else _default(found["default"], annotation)
        parameters.append(inspect.Parameter(found["name"], kind, default=default, annotation=annotation))
    return inspect.Signature(parameters)


def _default(text: str, kind: str) -> Any:
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return getattr(torch, text) if kind.startswith("ScalarType") else text
    return torch.device(value) if kind.startswith("Device") and value is not None else value


def written_by(schema: str) -> set[str]:
    """The names of the parameters that a schema says are written to."""
    return set(re.findall(r"\(\w+!\)[][?\d]*\s+(\w+)", schema.partition("->")[0]))


def keyword_only_tensors(signature: inspect.Signature) -> bool:
    """Whether tensors are passed by keyword alone, to which a derivative has no place to return a gradient."""
    parameters = signature.parameters.values()
    return any(p.kind is p.KEYWORD_ONLY and str(p.annotation).startswith("Tensor") for p in parameters)
