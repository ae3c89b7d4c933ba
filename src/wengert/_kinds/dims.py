"""Conversion of users' dims (negative, one or several, ints of any kind) to dims from 0, with PyTorch's errors.

A 0-dimensional tensor accepts the dims 0 and -1, as in PyTorch. It has no dim to reduce, so ``normal_dims`` returns
``()`` for it; ``normal_dim`` returns 0, and its caller must treat a 0-dimensional tensor separately.
"""

from __future__ import annotations

import functools
import inspect
import operator
from collections.abc import Iterable
from typing import Any

from .._base.constants import type_name
from .._base.errors import noted, unexpected_keyword
from .._tape.error_text import not_a_tensor

# By the number of dimensions; NumPy's limit is 64. Indexing reads a dim, negative ones too: that of ``EVERY_DIM`` gives
# the dim counted from 0, that of ``TUPLES_OF_DIM`` the same in a tuple.
EVERY_DIM = tuple([tuple(range(ndim)) for ndim in range(65)])
_ALONE = tuple([(dim,) for dim in range(64)])
TUPLES_OF_DIM = tuple([_ALONE[:ndim] for ndim in range(65)])


class ABSENT:
    """The class that stands for an argument that was not given."""


REQUIRED = inspect.Parameter.empty
"""The usual value of an argument that must be given: its absence is found where it is used, and ``argument_errors``
says what PyTorch says of it, where Python would do so without calling the function. ``inspect`` shows no such value."""


def not_given(function: str, names: Iterable[str], values: Iterable[Any]) -> TypeError:
    """Python's error for the arguments that must be given and were not."""
    missing = [f"'{name}'" for name, value in zip(names, values, strict=False) if value is REQUIRED]
    last = f"{', ' * (len(missing) > 2) or ' '}and {missing[-1]}" if len(missing) > 1 else missing[-1]
    return TypeError(
        f"{function}() missing {len(missing)} required positional argument{'s' * (len(missing) > 1)}: "
        + ", ".join(missing[:-1])
        + last
    )


def remembered(first: int) -> Any:
    """Decorator for what only the arguments decide: its latest results are kept.

    The arguments from ``first`` on are a program's: 2.0 is no kernel's size if 2 is, nor is it one in a tuple.
    """

    def decorate(fn: Any) -> Any:
        @functools.lru_cache(256, typed=True)
        def known(*args: Any) -> tuple[Any, bool]:
            return fn(*args), tuple in map(type, args[first:])

        def found(*args: Any) -> Any:
            try:
                r, has_tuples = known(*args)
            except TypeError:  # a list, which is no key, or something wrong
                return fn(*args)
            return r if not has_tuples or _are_of_ints(args[first:]) else fn(*args)

        return found

    return decorate


def _are_of_ints(values: tuple[Any, ...]) -> bool:
    """Whether all tuples among the values hold ints alone: what keeps results tells only types outside of tuples."""
    for value in values:
        if type(value) is tuple:
            for one in value:
                if type(one) is not int:
                    return False
    return True


def normal_dim(dim: Any, ndim: int, name: str = "operator") -> int:
    """One dim, counted from 0; ``name`` is the function's name in an error.

    >>> normal_dim(-1, 3)
    2
    """
    if type(dim) is not int:
        dim = as_int(dim, name)
    if 0 <= dim < ndim:
        return dim
    n = ndim or 1
    if -n <= dim < n:
        return dim if dim >= 0 else dim + n
    raise out_of_range(dim, n)


def normal_dims(dims: Any, ndim: int, name: str = "operator") -> tuple[int, ...]:
    """One or several dims as a tuple of distinct dims, counted from 0, in the given order; ``None`` means all.

    >>> normal_dims((-1, 0), 3), normal_dims(1, 3), normal_dims(None, 2), normal_dims(-1, 0)
    ((2, 0), (1,), (0, 1), ())
    """
    if type(dims) is int:
        d = normal_dim(dims, ndim)
        return (d,) if ndim else ()
    if dims is None:
        return EVERY_DIM[ndim]
    if not isinstance(dims, (tuple, list)):
        d = normal_dim(as_int(dims, name, "tuple of ints"), ndim)
        return (d,) if ndim else ()
    if len(dims) == 2:  # the commonest
        first, second = dims
        if type(first) is type(second) is int and 0 <= first < ndim and 0 <= second < ndim and first != second:
            return first, second
    found: list[int] = []
    for position, dim in enumerate(dims, 1):
        if type(dim) is not int:
            dim = as_int(dim, name, "tuple of ints", at=position)
        d = dim if 0 <= dim < ndim else normal_dim(dim, ndim)
        if d in found:
            raise RuntimeError(f"dim {d} appears multiple times in the list of dims")
        found.append(d)
    return tuple(found) if ndim else ()


_INDICES = {"k", "index", "start", "length", "diagonal", "repeats", "sections", "split_size"}  # PyTorch's SymInts


def as_int(value: Any, name: str = "operator", wanted: str = "int", argument: str = "dim", at: int = 0) -> int:
    """Convert a dim to int: an int, a NumPy integer or an integer tensor without dimensions; a bool raises.

    ``at``: its position among several, from 1 on. As in PyTorch these and ``_INDICES`` may be tensors of one element of
    any number of dimensions, and all of several but the first may be bools.
    """
    if type(value) is int:
        return value
    alone = wanted == "int" and argument not in _INDICES
    if (not isinstance(value, bool) or at > 1) and not (alone and getattr(value, "ndim", None)):
        try:
            return operator.index(value)
        except (TypeError, RuntimeError):
            pass
    if at:
        why = f'failed to unpack the object at pos {at} with error "type must be {wanted},but got {type_name(value)}"'
        raise TypeError(f"{name}(): argument '{argument}' {why}")
    raise TypeError(f"{name}(): argument '{argument}' (position 2) must be {wanted}, not {type_name(value)}")


def not_a_bool(name: str, argument: str, value: Any) -> TypeError:
    """PyTorch's error for a value of a bool argument that is no bool; ``x.sum(0, 1)`` does not sum over two dims."""
    error = TypeError(f"{name}(): argument '{argument}' must be bool, not {type_name(value)}")
    hint = f"What to do: several dims are given as a tuple, x.{name}((0, 1))."
    return noted(error, hint) if argument == "keepdim" and type(value) is int else error


def out_of_range(dim: int, ndim: int) -> IndexError:
    """PyTorch's error for a dim that the tensor does not have."""
    n = ndim or 1
    return IndexError(f"Dimension out of range (expected to be in range of [{-n}, {n - 1}], but got {dim})")


def rank(input: Any, name: str) -> int:
    """The number of dimensions of an argument that must be a tensor."""
    try:
        ndim: int = input._payload.ndim
        return ndim
    except AttributeError:
        raise not_a_tensor(name, "input", 1, input) from None


NUMPY_NAMES = {"axis": "dim", "keepdims": "keepdim"}  # PyTorch accepts both


def numpy_names(kwargs: dict[str, Any]) -> dict[str, Any]:
    """The keyword arguments, with ``axis`` and ``keepdims`` renamed to ``dim`` and ``keepdim``."""
    renamed = {NUMPY_NAMES.get(name, name): value for name, value in kwargs.items()}
    if len(renamed) < len(kwargs):
        raise TypeError("a dim is given twice")
    return renamed


def numpy_spelling(name: str, kwargs: dict[str, Any]) -> dict[str, Any]:
    """``numpy_names`` for a function that only has ``dim`` and ``keepdim``; ``name`` is its name in an error.

    NumPy's names come after the function's own, whose usual values they replace.
    """
    renamed = {NUMPY_NAMES.get(key, key): value for key, value in kwargs.items()}
    for key in renamed:
        if key not in ("dim", "keepdim"):
            raise unexpected_keyword(name, key, ("dim", "keepdim"))
    return renamed


def nonempty_dims(shape: tuple[int, ...], dims: tuple[int, ...], name: str) -> None:
    """Raise for an operator without identity, such as a maximum, along a dim of size zero."""
    for d in dims:
        if not shape[d]:
            raise IndexError(f"{name}(): Expected reduction dim {d} to have non-zero size.")
