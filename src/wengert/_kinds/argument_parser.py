"""PyTorch's parser of arguments, for the text of an error that has already happened.

PyTorch parses the arguments of a function of C by the function's signatures before it does anything else. Functions of
this package take arguments as Python does and look at them only where they need them; when a call has failed, its
arguments are parsed here, as PyTorch's PythonArgParser and format_invalid_args do, and what the parser says is the
error. ``signatures.txt`` has the signatures; a name that it lacks is a Python function in PyTorch too.
"""

from __future__ import annotations

import functools
import operator
import pkgutil
from collections.abc import Iterable
from typing import Any

import numpy as np

from .._base.constants import type_name
from .._tape.error_text import too_large
from .._tape.tensor import Tensor

OPTIONS = ", ".join((
    "dtype? dtype=None", "layout? layout=None", "device? device=None", "bool? pin_memory=False",
    "bool? requires_grad=False",
))  # fmt: skip  # "$options" in the table
TOO_LARGE = "Overflow when unpacking long long"
_NUMPYS = {"dim": ("axis",), "keepdim": ("keepdims",), "input": ("x", "a", "x1"), "other": ("x2",)}
_OF_NUMBERS = frozenset(
    f"{name}{end}"
    for name in ("add", "div", "divide", "mul", "multiply", "sub", "subtract", "true_divide", "floor_divide")
    for end in ("", "_")
) | {"to", "copy_"}  # whose tensors may be numbers


# ---- what fits a kind of parameter
def _is_sequence(value: Any) -> bool:
    return isinstance(value, (tuple, list))


def _is_index(value: Any) -> bool:
    try:
        operator.index(value)
    except Exception:  # noqa: BLE001  an object may do anything there
        return False
    return not isinstance(value, bool)


def _is_too_large(value: Any) -> bool:
    return _is_index(value) and not -(2**63) <= operator.index(value) < 2**63


def _is_int(value: Any) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def _is_real(value: Any) -> bool:
    return isinstance(value, (int, float, np.number, np.bool_))


def _is_number(value: Any) -> bool:
    return _is_real(value) or isinstance(value, complex)


def _is_tensor(value: Any) -> bool:
    return isinstance(value, Tensor) or hasattr(type(value), "__torch_function__")


def _is_element(value: Any) -> bool:
    return isinstance(value, Tensor) and value.ndim == 0 and not value.requires_grad


def _is_storage(value: Any) -> bool:
    return any(cls.__name__ in ("UntypedStorage", "TypedStorage") for cls in type(value).__mro__)


def _is(name: str) -> Any:
    return lambda value: type_name(value) == name


def _is_dtype(value: Any) -> bool:
    return _is("torch.dtype")(value) or any(value is each for each in (float, int, bool, complex))


KINDS: dict[str, tuple[str, Any]] = {
    "number": ("Number", lambda value: _is_number(value) or _is_element(value)),
    "int": ("int", lambda value: _is_int(value) or (_is_element(value) and str(value.dtype)[6:9] in ("int", "uin"))),
    "index": ("int", _is_index),
    "float": ("float", lambda value: _is_real(value) or _is_element(value)),
    "complex": ("complex", lambda value: _is_number(value) or _is_element(value)),
    "bool": ("bool", lambda value: isinstance(value, bool)),
    "str": ("str", lambda value: isinstance(value, str)),
    "ints": ("tuple of ints", lambda value: _is_sequence(value) and (not value or _is_index(value[0]))),
    "floats": ("tuple of floats", lambda value: _is_sequence(value) and (not value or _is_number(value[0]))),
    "numbers": ("tuple of Scalars", lambda value: _is_sequence(value) and all(map(_is_number, value))),
    "tensors": ("tuple of Tensors", _is_sequence),
    "object": ("object", lambda value: True),
    "dtype": ("torch.dtype", _is_dtype),
    "layout": ("torch.layout", _is("torch.layout")),
    "memory_format": ("torch.memory_format", _is("torch.memory_format")),
    "qscheme": ("torch.qscheme", _is("torch.qscheme")),
    "device": ("torch.device", lambda value: _is_int(value) or isinstance(value, str) or _is("torch.device")(value)),
    "generator": ("torch.Generator", _is("torch._C.Generator")),
    "storage": ("torch.Storage", _is_storage),
    "stream": ("torch.Stream", lambda value: True),
    "": ("Tensor", _is_tensor),
}  # how PyTorch's errors call a kind, and what it accepts


class Parameter:
    """One parameter of a signature: ``ints[2]? stride=None``; without a kind it is a tensor."""

    def __init__(self, text: str, keyword_only: bool, of_numbers: bool) -> None:
        described, equals, default = text.partition("=")
        kind, _, self.name = described.rpartition(" ")
        self.optional, self.keyword_only = bool(equals), keyword_only
        self.names = (self.name, *_NUMPYS.get(self.name, ()))
        self.may_be_none = kind.endswith("?") or default == "None"
        self.kind, _, size = kind.rstrip("?").partition("[")
        self.word, self._fits = KINDS[self.kind]
        self._alone = {"ints": _is_index if size else None, "": _is_number if of_numbers else None}.get(self.kind)
        self.text = f"{self.word} {self.name}" + (f" = {default}" if equals else "")

    def fits(self, value: Any) -> bool:
        return self._fits(value) or (self._alone is not None and self._alone(value))

    def overflow(self, value: Any) -> Exception | None:
        """The error for an int that fits, but has too many bits."""
        if self.kind in ("int", "index", "ints") and _is_too_large(value):
            return ValueError(TOO_LARGE)
        if self.kind in ("number", "") and type(value) is int and not -(2**63) <= value < 2**64:
            return too_large(value)
        return None

    def unfit_element(self, value: Any, index: int) -> str:
        """What the error says of an element that shows its kind only when it is taken out of a tuple or list."""
        if self.kind in ("ints", "floats", "tensors") and _is_sequence(value):
            for k, element in enumerate(value):
                if self.kind == "tensors" and not _is_tensor(element):
                    return f"expected Tensor as element {k} in argument {index}, but got {type_name(element)}"
                if self.kind == "ints" and not (isinstance(element, bool) or _is_index(element)):
                    return (
                        f"argument '{self.name}' failed to unpack the object at pos {k + 1} with error "
                        f'"type must be tuple of ints,but got {type_name(element)}"'
                    )
                if self.kind == "ints" and _is_too_large(element):
                    return (
                        f"argument '{self.name}' failed to unpack the object at pos {k + 1} with error "
                        f'"{TOO_LARGE}\n"'
                    )
                if self.kind == "floats" and not (_is_real(element) or _is_element(element)):
                    return (
                        f"argument '{self.name}' must be tuple of floats, but found element of type "
                        f"{type_name(element)} at pos {k + 1}"
                    )
        return ""


class Signature:
    """One signature of a function: ``(input, int dim, *, dtype? dtype=None, out=None)``."""

    def __init__(self, name: str, text: str) -> None:
        body, _, flag = text.replace("$options", OPTIONS)[1:].rpartition(")")
        self.name, self.hidden, self.deprecated = name, bool(flag), flag == "|deprecated"
        before, _, after = body.partition("*")
        self.params = [
            Parameter(each, part is after, name in _OF_NUMBERS)
            for part in (before, after)
            for each in part.split(", ")
            if each
        ]
        self.options = [p.text for p in self.params]
        self.max_positional = sum(not p.keyword_only for p in self.params)
        self.min = sum(not p.optional for p in self.params)
        if after:
            self.options.insert(self.max_positional, "*")

    def __str__(self) -> str:
        return f"({', '.join(self.options)})"

    def refusal(self, args: Any, kwargs: dict[str, Any]) -> str:
        """The error of a call by this signature, or ""; raise what PyTorch raises though other signatures might fit."""
        rest, left, late = len(args), len(kwargs), ""
        large: Exception | None = None
        takes_rest = self.max_positional == 1 and self.params[0].kind == "ints"  # view(2, 3) is view((2, 3))
        if rest > self.max_positional and not takes_rest:
            return self._takes(rest)
        at = 0
        for k, parameter in enumerate(self.params):
            by_name = at >= rest
            if by_name:
                name = next((name for name in parameter.names if name in kwargs), None)
                if name is None:
                    if parameter.optional:
                        continue
                    return self._missing(k)
                value, left = kwargs[name], left - 1
            elif parameter.keyword_only:
                return self._takes(rest)
            else:
                value = args[at]
            if value is None and parameter.may_be_none:
                at += not by_name
            elif parameter.fits(value):
                at += not by_name
                late = late or parameter.unfit_element(value, k)
                large = large or parameter.overflow(value)
                if late and parameter.kind == "tensors":
                    raise TypeError(late)
            elif takes_rest and not at and not by_name and _is_index(args[0]):
                late, at = parameter.unfit_element(args, k), rest
            elif rest > self.max_positional and not by_name:
                return self._takes(rest)
            else:
                return self._misfit(parameter, value, "" if by_name else f" (position {at + 1})")
        if at < rest:
            return self._takes(rest)
        if left:
            return self._unexpected(rest, kwargs)
        if late:
            raise TypeError(f"{self.name}(): {late}")
        if large is not None:
            raise large
        return ""

    def _takes(self, given: int) -> str:
        most = self.max_positional
        if self.min == most:
            return f"{self.name}() takes {most} positional argument{'s' * (most != 1)} but {given} " + (
                "was given" if given == 1 else "were given"
            )
        return f"{self.name}() takes from {self.min} to {most} positional arguments but {given} were given"

    def _missing(self, first: int) -> str:
        names = [f'"{p.name}"' for p in self.params[first:] if not p.optional]
        plural = "s" * (len(names) == 1)  # as PyTorch has it
        return f"{self.name}() missing {len(names)} required positional argument{plural}: {', '.join(names)}"

    def _misfit(self, parameter: Parameter, value: Any, place: str) -> str:
        found = f"not {type_name(value)}"
        if parameter.kind == "ints" and place and _is_sequence(value):
            found = f"but found element of type {type_name(value[0])} at pos 0"
        return f"{self.name}(): argument '{parameter.name}'{place} must be {parameter.word}, {found}"

    def _unexpected(self, given: int, kwargs: dict[str, Any]) -> str:
        places = {p.name: k for k, p in enumerate(self.params)}
        for name in kwargs:
            if name not in places:
                return f"{self.name}() got an unexpected keyword argument '{name}'"
            if places[name] < given:
                return f"{self.name}() got multiple values for argument '{name}'"
        return "invalid keyword arguments"

    def words(self) -> list[tuple[str, str]]:
        """What PyTorch's hints read from the signature's text: ``*`` counts, and ``out = None`` has the name None."""
        return [text.rpartition(" ")[::2] for text in self.options or [""]]  # type: ignore[misc]  # three parts

    def wrong_keywords(self, kwargs: dict[str, Any]) -> str:
        names = [name for _, name in self.words()]
        known = names[max(0, len(names) - len(kwargs)) :]
        return ", ".join(name for name in _shuffled(kwargs) if name not in known)

    def misfits(self, args: Any, kwargs: dict[str, Any]) -> str:
        """The arguments, if the signature has as many, with a mark at those of another kind."""
        words = self.words()
        if len(words) != len(args) + len(kwargs):
            return ""
        described = []
        for k, (kind, name) in enumerate(words):
            value = args[k] if k < len(args) else kwargs[name]
            mark = "" if type_name(value) in {"float": ("float", "int")}.get(kind, (kind,)) else "!"
            described.append(f"{mark}{f'{name}=' * (k >= len(args))}{_in_detail(value)}{mark}, ")
        return _in_parentheses(described, bool(args))


def _in_detail(value: Any) -> str:
    inside = ", ".join(map(type_name, value)) if _is_sequence(value) else ""
    if isinstance(value, tuple):
        return f"{type_name(value)} of ({inside}{',' * (len(value) == 1)})"
    return f"{type_name(value)} of [{inside}]" if isinstance(value, list) else type_name(value)


def _in_parentheses(described: list[str], positional: bool) -> str:
    """A list of arguments; PyTorch takes the last comma away only if there are positional ones."""
    return f"({''.join(described)[: -2 if positional else None]})"


def _shuffled(names: Iterable[str]) -> list[str]:
    """Keywords in the order of PyTorch's errors: that of the ``std::unordered_map`` which they are put into."""
    order: list[tuple[int, str]] = []
    for name in names:
        bucket = _hash(name.encode()) % 13
        same = (k for k, (other, _) in enumerate(order) if other == bucket)
        order.insert(next(same, 0), (bucket, name))
    return [name for _, name in order]


def _hash(text: bytes) -> int:
    """``std::hash`` of libstdc++, which is MurmurHash64A."""
    factor, most = 0xC6A4A7935BD1E995, 2**64 - 1
    result = 0xC70F6907 ^ (len(text) * factor & most)
    for at in range(0, len(text), 8):
        part = int.from_bytes(text[at : at + 8], "little")
        if at + 8 <= len(text):
            part = part * factor & most
            part = (part ^ part >> 47) * factor & most
        result = (result ^ part) * factor & most
    result = (result ^ result >> 47) * factor & most
    return result ^ result >> 47


# ---- functions
@functools.cache
def _table() -> dict[str, tuple[str, str]]:
    """A function's name in errors, and its signatures, by name; a method's begins with a dot."""
    table = {}
    text = pkgutil.get_data(__package__, "signatures.txt")
    assert text is not None
    for line in text.decode().splitlines():
        names, _, signatures = line.partition(": ")
        for each in names.split() if line[0] != "#" else ():
            name, _, called = each.partition("=")
            table[name] = called or name.rpartition(".")[2], signatures
    return table


@functools.lru_cache(256)
def _signatures(called: str, text: str) -> list[Signature]:
    return sorted([Signature(called, each) for each in text.split("; ")], key=lambda signature: signature.deprecated)


def refusal(name: str, args: Any, kwargs: dict[str, Any]) -> str:
    """What PyTorch's parser says of a call of a function; "" if the arguments fit, or the parser does not know it.

    Raise its ValueError or OverflowError for an int that has more than 64 bits.

    >>> refusal("abs", ("a",), {}), refusal(".cumsum", (), {"dim": 1.5})
    ("abs(): argument 'input' (position 1) must be Tensor, not str", "cumsum(): argument 'dim' must be int, not float")
    """
    called, text = _table().get(name, ("", ""))
    if text in ("", "-", "o"):
        return _of_c(name, text, len(args), kwargs) if text else ""
    signatures = _signatures(called, text)
    count = len(args) + len(kwargs)
    refusals = []
    for signature in signatures:
        try:
            refusals.append(signature.refusal(args, kwargs))
        except TypeError as error:
            return str(error)
        if not refusals[-1]:
            return ""
    if len(signatures) == 1:
        return refusals[0]
    shown = [(s, r) for s, r in zip(signatures, refusals, strict=True) if not s.hidden]
    plausible = [r for s, r in shown if s.min <= count <= len(s.params)]
    return plausible[0] if len(plausible) == 1 else _no_overload(called, [s for s, _ in shown], args, kwargs)


def unfit(name: str, args: Any, kwargs: dict[str, Any]) -> str:
    """The error of arguments that fit none of a function's signatures, where PyTorch has none that tells."""
    return f"{name}() received an invalid combination of arguments - got {_got(args, kwargs)}"


def _got(args: Any, kwargs: dict[str, Any]) -> str:
    described = [f"{type_name(v)}, " for v in args] + [f"{k}={type_name(kwargs[k])}, " for k in _shuffled(kwargs)]
    return _in_parentheses(described, bool(args))


def _of_c(name: str, takes: str, given: int, kwargs: dict[str, Any]) -> str:
    called = f"TensorBase{name}()" if name[0] == "." else f"torch.{name}()"
    if kwargs:
        return f"{called} takes no keyword arguments"
    if given == (takes == "o"):
        return ""
    return f"{called} takes {'exactly one argument' if takes == 'o' else 'no arguments'} ({given} given)"


def _no_overload(name: str, signatures: list[Signature], args: Any, kwargs: dict[str, Any]) -> str:
    head = f"{name}() received an invalid combination of arguments - got"
    got = _got(args, kwargs)
    if len(signatures) == 1:
        (signature,) = signatures
        wrong = signature.wrong_keywords(kwargs)
        if wrong:
            return f"{head} unrecognized keyword arguments: {wrong}"
        return f"{head} {signature.misfits(args, kwargs) or got}, but expected {signature}"
    lines = [f"{head} {got}, but expected one of:\n"]
    for signature in signatures:
        lines.append(f" * {signature}\n")
        if len(signature.words()) == len(args) + len(kwargs):
            wrong = signature.wrong_keywords(kwargs)
            why = "keywords were incorrect" if wrong else "arguments have invalid types"
            lines.append(f"      didn't match because some of the {why}: {wrong or signature.misfits(args, kwargs)}\n")
    return "".join(lines)
