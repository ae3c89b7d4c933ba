"""The error of a public function in place of one of NumPy, SciPy or Python that its body ran into.

A body checks what PyTorch checks and leaves the rest to what it calls. When that fails, nothing has been returned yet,
and there is time to look at the arguments: what PyTorch's parser says of them (``argument_parser``) is the error, else
tensors that do not broadcast get PyTorch's error for that. Nothing is looked at before.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable
from operator import attrgetter
from types import FunctionType
from typing import Any

import numpy as np

from .._base.calls import Call, call_of
from .._base.constants import type_name
from .._base.errors import INTERNAL, LinAlgError, noted, of_memory
from .._base.exports import is_ours
from .._base.late_names import Unmade
from .._base.registry import PUBLIC
from .._base.tracebacks import arguments, is_of_library, lost, was_raised
from .._tape.error_text import unbroadcast
from .._tape.tensor import Tensor
from .argument_parser import KINDS, TOO_LARGE, refusal, unfit
from .dims import REQUIRED, not_given

_BINDING = re.compile(
    r"required (positional|keyword-only) argument|unexpected keyword|positional arguments? but|multiple values"
)
_OF_TENSORS = re.compile(r"has no attribute '_(payload|node|box)'")  # asked of something else than a tensor
_BROADCAST = re.compile(r"broadcast|same shape|could not be broadcast")


def refuse(
    function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], error: Exception, method: bool = False
) -> None:
    """Raise PyTorch's error in place of ``error``, which a public function's body raised, unless ``error`` stands.

    ``method``: the first argument does not count, as in PyTorch's errors of methods.
    """
    if method and args and not isinstance(args[0], Tensor) and _origin(error) == "inside":
        text = f"descriptor '{function.__name__}' for 'torch._C.TensorBase' objects doesn't apply to a '{{}}' object"
        raise TypeError(text.format(type_name(args[0]))) from None
    instead = _instead_of(function, args, kwargs, error, method)
    if instead is not None:
        try:
            raise instead from None
        finally:
            del instead  # an error and a frame that hold each other would wait for the garbage collector


def _instead_of(
    function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], error: Exception, method: bool
) -> Exception | None:
    origin = _origin(error)
    if origin == "user" or isinstance(error, (Warning, NameError)):
        return None  # the program makes warnings errors; a name that is missing is a fault of this package
    if isinstance(error, MemoryError):
        return of_memory(error)
    if origin == "package" or (isinstance(error, TypeError) and _BINDING.search(str(error))):
        return None  # ``parsed`` looks at it where it leaves for the program
    written = _annotated(function)
    args, kwargs = _given(written, args, kwargs)
    try:
        text = refusal(_name(function, method), args[method:], kwargs) or _misfit(written, args, method)
    except (ValueError, OverflowError) as overflow:
        return overflow
    if text:
        return TypeError(text)
    if isinstance(error, (TypeError, AttributeError, StopIteration)):
        return noted(TypeError(unfit(function.__name__, args[method:], kwargs)), f"Why: {error}")
    if isinstance(error, RuntimeError):
        return None  # PyTorch's own class: neither NumPy nor Python has raised it
    return _about_values(function.__name__, [*args, *kwargs.values()], error)


def _misfit(function: Any, args: tuple[Any, ...], method: bool) -> str:
    """The first argument that does not fit its annotation, for functions that are Python in PyTorch."""
    for position, (name, value) in enumerate(zip(_names(function), args, strict=False), 1):
        annotation = function.__annotations__.get(name)
        kind = getattr(annotation, "__name__", str(annotation))
        word, fits = KINDS.get("" if kind == "Tensor" else kind, ("", None))
        if fits is not None and not fits(value):
            place = f" (position {position - method})"
            return f"{function.__name__}(): argument '{name}'{place} must be {word}, not {type_name(value)}"
    return ""


def parsed(error: Exception, frame: Any) -> Exception | None:
    """See ``_base.tracebacks.parsed``: the parser's error for the call as the program wrote it."""
    if isinstance(error, (Warning, NameError)) or _origin(error) == "user":
        return None
    code = frame.f_code
    if lost(code, frame.f_locals):
        return None
    call = call_of(frame.f_back) if frame.f_back is not None else None
    if type(error) is not TypeError and (call is None or not call.name or call.positional is None):
        return None  # how it was called is a guess, and the error may be right
    args, kwargs = arguments(code, frame.f_locals)
    if any(hasattr(type(x), "__torch_function__") and not isinstance(x, Tensor) for x in args):
        return None  # in PyTorch the object decides
    name, function = _function_of(frame, call, args)
    if not name:
        return None
    if name[0] == "." and args and not isinstance(args[0], Tensor):
        return None
    try:
        text = refusal(name, *_as_written(name, function, call, args, kwargs)) or _missing(function, frame, args)
    except (ValueError, OverflowError) as overflow:
        return overflow
    if not text:
        return None
    if type(error) is not TypeError:
        return TypeError(text)
    error.args = (text, *error.args[1:])
    return error


def _missing(function: Any, frame: Any, args: tuple[Any, ...]) -> str:
    """Python's error for arguments that were not given, where ``REQUIRED`` stands in their places."""
    if not any(value is REQUIRED for value in args):
        return ""
    return str(not_given(function.__name__, frame.f_code.co_varnames, args))


# ---- which function was called, and how
_PREFIXES = {
    "torch": "", "Tensor": ".", "linalg": "linalg_", "fft": "fft_", "special": "special_", "nn.functional": "F.",
}  # fmt: skip


def _function_of(frame: Any, call: Call | None, args: tuple[Any, ...]) -> tuple[str, Any]:
    """The parser's name of the function that runs in a frame, and the function: by the name that was called, if any."""
    space = _space(call)
    if call is not None and space is not None:
        function = getattr(call.owner, call.name, None)
        if _runs(function, frame):
            return _PREFIXES[space] + call.name, function
    called = call.name if call is not None else ""
    found = [(prefix, called, _named(space, called)) for space, prefix in _PREFIXES.items()]
    found = [each for each in found if _runs(each[2], frame)]
    if not found:
        place = frame.f_globals  # asked once: there are thousands of functions
        found = [
            (prefix, name, fn)
            for space, prefix in _PREFIXES.items()
            for name, fn in _here(space)
            if type(fn) is FunctionType and fn.__globals__ is place and _runs(fn, frame)
        ]
    if not found:
        return "", None
    bound = call is not None and _is_bound(call, args, found[0][2])
    prefix, name, function = min(found, key=lambda each: ((each[0] == ".") is not bound, each[1] != each[2].__name__))
    return prefix + name, function


def _here(space: str) -> Iterable[tuple[str, Any]]:
    """The public functions of a space whose modules are imported, with their names."""
    here = [each for each in PUBLIC[space].here() if type(each[1]) is not Unmade]
    return [*vars(Tensor).items(), *here] if space == "Tensor" else here


def _named(space: str, name: str) -> Any:
    found = PUBLIC[space].peek(name)
    return (None if type(found) is Unmade else found) or (vars(Tensor).get(name) if space == "Tensor" else None)


def _is_bound(call: Call, args: tuple[Any, ...], function: Any) -> bool:
    """Whether a call is one of a tensor's method. (A local variable before the dot is taken for a tensor.)

    Then the function was given one argument by position more than the call has, which has not its usual value.
    """
    count = call.positional
    if count is None or not call.name or call.owner is not None:
        return False
    if count >= len(args) or not isinstance(args[0], Tensor) or args[count] is REQUIRED:
        return False
    names = _names(function)
    if count >= len(names):
        return True
    return names[count] not in call.keywords and args[count] is not _usual(function).get(names[count], REQUIRED)


_DEFINITION = attrgetter("co_firstlineno", "co_name", "co_filename")


def _runs(fn: Any, frame: Any) -> bool:
    """Whether a frame is one of a function, whose code may have changed meanwhile."""
    if not isinstance(fn, FunctionType) or fn.__globals__ is not frame.f_globals:
        return False
    if "FIRST_CALL" in frame.f_globals:  # a namespace of its own
        return True
    code = fn.__code__
    return _DEFINITION(code) == _DEFINITION(frame.f_code) and all(
        frame.f_locals.get(name, fn) is cell.cell_contents
        for name, cell in zip(code.co_freevars, fn.__closure__ or (), strict=True)
        if name in frame.f_locals
    )


def _space(call: Call | None) -> str | None:
    """The space of a call ``torch.linalg.det(x)`` or ``Tensor.det(x)``; ``None`` if it is written in another way."""
    if call is None or call.owner is None:
        return None
    if isinstance(call.owner, type):
        return "Tensor" if issubclass(call.owner, Tensor) else None
    space = call.owner.__name__.partition(".")[2] or "torch"
    return space if is_ours(call.owner.__name__) and space in _PREFIXES else None


def _as_written(
    name: str, function: Any, call: Call | None, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of a call by position, without a method's tensor, and those by keyword."""
    method = name[0] == "."
    if call is not None:
        places = {name: k for k, name in enumerate(_names(function))}
        named = {k: args[places[k]] if k in places else kwargs.get(k) for k in call.keywords}
        if call.positional is not None and call.positional + method <= len(args) + isinstance(call.owner, type):
            return args[method : call.positional + (method and not isinstance(call.owner, type))], named
        if call.positional is None:
            args, _ = _given(function, args, kwargs)
            return args[method : min([places[k] for k in named if k in places], default=len(args))], named
    args, kwargs = _given(function, args, kwargs)
    return args[method:], kwargs


def _names(function: Any) -> tuple[str, ...]:
    """The names of a function's parameters that may be given by position."""
    return function.__code__.co_varnames[: function.__code__.co_argcount]  # type: ignore[no-any-return]


def _usual(function: Any) -> dict[str, Any]:
    """Their usual values."""
    values = function.__defaults__ or ()
    return dict(zip(_names(function)[::-1], values[::-1], strict=False))


def _given(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments without those that have their usual values; what follows the first of these is given by keyword."""
    usual = _usual(function)
    given = list(zip(_names(function), args, strict=False))
    kept = [value is not usual.get(name, REQUIRED) and value is not REQUIRED for name, value in given]
    count = kept.index(False) if False in kept else len(args)
    named = {name: value for (name, value), keep in zip(given[count:], kept[count:], strict=True) if keep}
    by_name = function.__kwdefaults__ or {}
    return args[:count], named | {k: v for k, v in kwargs.items() if k not in by_name or v is not by_name[k]}


def _name(function: Any, method: bool) -> str:
    """The parser's name of a function: ``fft_fft`` for ``torch.fft.fft``."""
    space = function.__module__.partition(".")[2] if is_ours(function.__module__) else ""
    if function.__name__ in PUBLIC["special"].names() and function.__name__ not in PUBLIC["torch"].names():
        space = "special"
    return ("." if method else _PREFIXES.get(space, "")) + function.__name__  # type: ignore[no-any-return]


def _origin(error: BaseException) -> str:
    """The code that raised an error: the "package" by a statement, NumPy, SciPy or Python "inside", or the "user"."""
    traceback = error.__traceback__
    if traceback is None:
        return "package"
    while traceback.tb_next is not None:
        traceback = traceback.tb_next
    filename = traceback.tb_frame.f_code.co_filename
    if INTERNAL[filename]:
        return "package" if was_raised(traceback) and not _OF_TENSORS.search(str(error)) else "inside"
    return "inside" if is_of_library(filename) else "user"


def _annotated(function: Any) -> Any:
    """The function with named parameters behind the decorators of a public function."""
    while isinstance(function, FunctionType):
        inner = getattr(function, "__wrapped__", None)
        if inner is None:
            if function.__code__.co_flags & inspect.CO_VARARGS and function.__name__.endswith("_"):
                return _annotated(PUBLIC["Tensor"].get(function.__name__[:-1]))  # an in-place form
            return function
        function = inner
    return None


def _about_values(name: str, values: list[Any], error: Exception) -> Exception | None:
    """The error if all arguments are of the right kinds."""
    text = str(error)
    if text == "SVD did not converge":
        return LinAlgError(
            "linalg.svd: The algorithm failed to converge because the input matrix contained non-finite values."
        )
    if isinstance(error, np.linalg.LinAlgError):
        return LinAlgError(f"{name}: {text}")
    if isinstance(error, OverflowError):
        return ValueError(TOO_LARGE)
    if isinstance(error, ValueError) and _BROADCAST.search(text):
        instead = unbroadcast(values)
        if instead is not None:
            return instead
    given = ", ".join(_described(value) for value in values)
    kind = IndexError if isinstance(error, IndexError) else RuntimeError
    return noted(kind(f"{name}(): these arguments do not fit together: {given}"), f"Why: {text}")


def _described(value: Any) -> str:
    if isinstance(value, Tensor):
        return f"a tensor of shape {list(value.shape)} and dtype {str(value.dtype).removeprefix('torch.')}"
    return repr(value) if type(value) in (int, float, bool, str, type(None)) else type_name(value)
