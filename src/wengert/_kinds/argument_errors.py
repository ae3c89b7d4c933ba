"""The error of a public function in place of one of NumPy, SciPy or Python that its body ran into.

A body checks what PyTorch checks and leaves the rest to what it calls. When that fails, nothing has been returned yet,
and there is time to look at the arguments: the first that does not fit the function's annotations is refused in the
words of PyTorch's parser; tensors that do not broadcast get its error for that. Nothing is looked at before.
"""

from __future__ import annotations

import functools
import inspect
import re
import types
from typing import Any

import numpy as np

from .._base.constants import type_name
from .._base.errors import INTERNAL, LinAlgError, noted, of_memory
from .._base.exports import is_ours
from .._base.registry import PUBLIC
from .._base.tracebacks import is_of_library, was_raised
from .._tape.error_text import unbroadcast
from .._tape.tensor import Tensor

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
    written = _annotated(function)
    origin = _origin(error)
    if origin == "user" or written is None or isinstance(error, (Warning, NameError)):
        return None  # the program makes warnings errors; a name that is missing is a fault of this package
    if isinstance(error, MemoryError):
        return of_memory(error)
    if origin == "package" and (isinstance(error, TypeError) or _is_functional(function)):
        return None  # PyTorch's functions there are Python, and have no parser that comes first
    names, annotations = _parameters(written)
    for position, (name, value) in enumerate([*zip(names, args, strict=False), *kwargs.items()], 1):
        if name in _SIZES and isinstance(value, Tensor) and value.ndim:
            wanted = "tuple of ints"
        else:
            wanted = _misfit(annotations.get(name, ""), value)
        if wanted:
            place = f" (position {position - method})" if position <= len(args) else ""
            return TypeError(
                f"{_called(function)}(): argument '{name}'{place} must be {wanted}, not {type_name(value)}"
            )
    if origin == "package" or (isinstance(error, TypeError) and _BINDING.search(str(error))):
        return None
    if isinstance(error, (TypeError, AttributeError, StopIteration)):
        return noted(_no_overload(written, _called(function), args[method:], kwargs), f"Why: {error}")
    if isinstance(error, RuntimeError):
        return None  # PyTorch's own class: neither NumPy nor Python has raised it
    return _about_values(function.__name__, [*args, *kwargs.values()], error)


def _is_functional(function: Any) -> bool:
    return is_ours(function.__module__) and function.__module__.endswith(".nn.functional")


def _called(function: Any) -> str:
    """A function's name in PyTorch's errors: ``torch.fft.fft`` is called ``fft_fft``."""
    name, space = function.__name__, function.__module__.rpartition(".")[2]
    if name in PUBLIC["special"] and name not in PUBLIC["torch"]:
        space = "special"
    return f"{space}_{name}" if space in ("fft", "linalg", "special") else name  # type: ignore[no-any-return]


def _no_overload(written: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> TypeError:
    """PyTorch's error for arguments that fit none of a function's signatures."""
    for usual in reversed(written.__defaults__ or ()):
        if not args or args[-1] is not usual:
            break
        args = args[:-1]
    usual_kwargs = written.__kwdefaults__ or {}
    named = {k: v for k, v in kwargs.items() if k not in usual_kwargs or v is not usual_kwargs[k]}
    got = ", ".join([*map(type_name, args), *(f"{k}={type_name(v)}" for k, v in named.items())])
    names, annotations = _parameters(written)
    expected = ", ".join(f"{annotations.get(k, 'Any')} {k}" for k in names)
    return TypeError(f"{name}() received an invalid combination of arguments - got ({got}), but expected ({expected})")


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
    while isinstance(function, types.FunctionType):
        inner = getattr(function, "__wrapped__", None)
        if inner is None:
            if function.__code__.co_flags & inspect.CO_VARARGS and function.__name__.endswith("_"):
                return _annotated(PUBLIC["Tensor"].get(function.__name__[:-1]))  # an in-place form
            return function
        function = inner
    return None


@functools.cache
def _parameters(function: Any) -> tuple[tuple[str, ...], dict[str, str]]:
    code = function.__code__
    return code.co_varnames[: code.co_argcount], {
        k: v.__name__ if isinstance(v, type) else str(v) for k, v in function.__annotations__.items()
    }


def _is_int(value: Any) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def _is_element(value: Any) -> bool:
    return isinstance(value, Tensor) and value.ndim == 0


_FITS: dict[str, Any] = {
    "Tensor": lambda value: isinstance(value, Tensor) or hasattr(type(value), "__torch_function__"),
    "int": lambda value: _is_int(value) or _is_element(value),
    "float": lambda value: isinstance(value, (int, float, np.number)) or _is_element(value),
    "bool": lambda value: isinstance(value, (bool, np.bool_)),
    "str": lambda value: isinstance(value, str),
    "None": lambda value: value is None,
    "Dims": lambda value: (
        value is None or _is_int(value) or (isinstance(value, (tuple, list)) and all(map(_is_int, value)))
    ),
}  # by the word in an annotation
_SIZES = frozenset(("kernel_size", "stride", "padding", "dilation", "output_size", "s", "size", "normalized_shape"))
_WORDS = {"Dims": "tuple of ints", "float": "float"}


def _misfit(annotation: str, value: Any) -> str:
    """The kind of value that PyTorch's error names, if ``value`` is none of the annotated kinds; else ""."""
    kinds = annotation.split(" | ")
    if not annotation or any(kind not in _FITS for kind in kinds) or any(_FITS[kind](value) for kind in kinds):
        return ""
    return _WORDS.get(kinds[0], kinds[0])


def _about_values(name: str, values: list[Any], error: Exception) -> Exception | None:
    """The error if all arguments are of the right kinds."""
    text = str(error)
    if isinstance(error, np.linalg.LinAlgError):
        return LinAlgError(f"{name}: {text}")
    if isinstance(error, OverflowError):
        return RuntimeError("Overflow when unpacking long long")
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
