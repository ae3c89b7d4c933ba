"""Schemas of custom operators: texts such as ``"(Tensor x, *, float alpha=1.0) -> Tensor"``."""

from __future__ import annotations

import ast
import inspect
import itertools
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
    if isinstance(mutates_args, str) and mutates_args != "unknown":
        raise ValueError(
            "mutates_args must either be a sequence of the names of the arguments that are mutated or the string "
            "'unknown'. "
        )
    signature = inspect.signature(prototype_function)

    def refuse(what: str) -> typing.NoReturn:
        raise ValueError(f"infer_schema(func): {what} Got func with signature {signature})")

    try:
        hints = typing.get_type_hints(prototype_function)
    except NameError as error:
        refuse(f"Unsupported type annotation {error.name}. It is not a type. ({error}).")

    def text_of(hint: Any, who: str, allowed: re.Pattern[str]) -> str:
        text = _type_text(hint)
        if not allowed.fullmatch(text):
            refuse(f"{who} has unsupported type {hint}. The valid types are: {allowed.pattern}.")
        return text

    parts: list[str] = []
    for name, parameter in signature.parameters.items():
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            refuse(f"We do not support positional-only args, varargs, or varkwargs. {name}")
        if name not in hints:
            refuse(f"Parameter {name} must have a type annotation.")
        if parameter.kind is parameter.KEYWORD_ONLY and "*" not in parts:
            parts.append("*")
        text = text_of(hints[name], f"Parameter {name}", _PARAMETERS)
        if name in mutates_args and not text.startswith("Tensor"):
            refuse(f"Parameter {name} is in mutable_args but only Tensors or collections of Tensors can be mutated")
        if mutates_args == "unknown" or name in mutates_args:
            text = text.replace("Tensor", f"Tensor(a{len(parts)}!)", 1)
        default = "" if parameter.default is parameter.empty else f"={_default_text(name, parameter.default, refuse)}"
        parts.append(f"{text} {name}{default}")
    unknown = set() if mutates_args == "unknown" else {*mutates_args} - signature.parameters.keys()
    if unknown:
        refuse(
            f"{unknown} in mutates_args were not found in the custom op's signature. mutates_args should contain the "
            "names of all args that the custom op mutates, or just the string 'unknown' if you don't know."
        )
    if "return" not in hints:
        refuse("No return type annotation was provided. Please add one.")
    result = hints["return"]
    if result is type(None):
        text = "()"
    elif typing.get_origin(result) is tuple:
        arguments = typing.get_args(result)
        if not all(_RESULTS.fullmatch(_type_text(t)) for t in arguments):
            refuse(f"Return has unsupported type {result}. The valid types are: {_RESULTS.pattern}.")
        text = f"({', '.join(map(_type_text, arguments))})"
    else:
        text = text_of(result, "Return", _RESULTS)
    schema = f"({', '.join(parts)}) -> {text}"
    return schema if op_name is None else op_name + schema


_PARAMETERS = re.compile(
    r"Tensor(\?|\[\]|\?\[\])?|(SymInt|float|bool)(\?|\[\]|\[\]\?)?|Scalar(\?|\[\])?|(str|ScalarType|Device)\??"
)
_RESULTS = re.compile(r"Tensor(\[\])?|SymInt|float|bool|Scalar")


def _default_text(name: str, value: Any, refuse: Callable[[str], typing.NoReturn]) -> str:
    if isinstance(value, (str, torch.device)):
        return f'"{value}"'
    if isinstance(value, torch.dtype):
        return str(value).removeprefix("torch.")
    if value is None or isinstance(value, (int, float)):
        return str(value)
    refuse(
        f"Parameter {name} has an unsupported default value type {type(value)}. Please file an issue on GitHub so we "
        "can prioritize this."
    )


def _type_text(hint: Any) -> str:
    """The schema's name of a type, "" where it has none."""
    arguments = typing.get_args(hint)
    origin = typing.get_origin(hint)
    if origin in (typing.Union, types.UnionType) and type(None) in arguments and len(arguments) == 2:
        return next(_type_text(a) for a in arguments if a is not type(None)) + "?"
    if origin in (list, Sequence) and len(arguments) == 1:
        return _type_text(arguments[0]) + "[]"
    if origin in (typing.Union, types.UnionType) and set(arguments) <= {int, float, bool}:
        return "Scalar"
    names = {torch.dtype: "ScalarType", torch.device: "Device", **_TYPES}
    return names.get(hint, "") if isinstance(hint, (type, str)) else ""


def with_aliases_named(schema: str) -> str:
    """A schema in which ``Tensor!``, one that is written to and is no other's alias, is called ``Tensor($0!)``."""
    number = itertools.count()
    return re.sub(r"\bTensor!", lambda _: f"Tensor(${next(number)}!)", schema)


_PARAMETER = re.compile(
    r"^(?P<type>[\w.]+(?:\([$\w]+!?\))?\??(?:\[\d*\])?\??)\s+(?P<name>\w+)(?:\s*=\s*(?P<default>.+))?$"
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
        annotation = re.sub(r"\([$\w]+!?\)", "", found["type"])
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
    return set(re.findall(r"\([$\w]+!\)[][?\d]*\s+(\w+)", schema.partition("->")[0]))


def keyword_only_tensors(signature: inspect.Signature) -> bool:
    """Whether tensors are passed by keyword alone, to which a derivative has no place to return a gradient."""
    parameters = signature.parameters.values()
    return any(p.kind is p.KEYWORD_ONLY and str(p.annotation).startswith("Tensor") for p in parameters)
