"""Named tuples of tensors that functions with several results return: ``torch.return_types``.

They are tuples with PyTorch's repr. In PyTorch their class is a "structseq", whose constructor takes one sequence and
which has no `_fields`, by which programs tell named tuples.

>>> import wengert as torch
>>> torch.max(torch.tensor([[1., 3.], [4., 2.]]), 1)
torch.return_types.max(
values=tensor([3., 4.]),
indices=tensor([1, 0]))
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from typing import Any


class ReturnType(tuple):
    """A named tuple with PyTorch's repr."""

    __slots__ = ()
    n_sequence_fields: int
    n_fields: int
    n_unnamed_fields = 0
    __match_args__: tuple[str, ...]
    _make: Any  # makes an instance from a tuple, whose length is not checked

    def __new__(cls, sequence: Iterable[Any], dict: Any = None) -> ReturnType:
        # in PyTorch's pickles a dict of further fields follows, which is empty
        if not isinstance(dict, (type(None), Mapping)):
            raise TypeError(f"torch.return_types.{cls.__name__}() takes a dict as second arg, if any")
        self = tuple.__new__(cls, sequence)
        n = cls.n_fields
        if len(self) != n:
            raise TypeError(f"torch.return_types.{cls.__name__}() takes a {n}-sequence ({len(self)}-sequence given)")
        return self

    def __repr__(self) -> str:
        lines = ",\n".join(f"{name}={value!r}" for name, value in zip(self.__match_args__, self, strict=True))
        return f"torch.return_types.{type(self).__name__}(\n{lines})"

    def __reduce__(self) -> tuple[Any, ...]:
        return (_make, (type(self).__name__, tuple(self)))


def _make(name: str, values: tuple[Any, ...]) -> ReturnType:
    made: ReturnType = globals()[name](values)
    return made


def _field(k: int) -> property:
    return property(lambda self: self[k])


def return_type(name: str, *fields: str) -> type[ReturnType]:
    """The class of a function's results, made on first use: ``return_type("max", "values", "indices")``.

    It becomes an attribute of this module, which is ``torch.return_types``.
    """
    made = globals().get(name)
    if made is None:
        members: dict[str, Any] = {f: _field(k) for k, f in enumerate(fields)}
        members.update(
            __slots__=(),
            __module__="torch.return_types",
            __match_args__=fields,
            n_fields=len(fields),
            n_sequence_fields=len(fields),
        )
        made = globals()[name] = type(name, (ReturnType,), members)
        made._make = staticmethod(functools.partial(tuple.__new__, made))
        made.__doc__ = f"What ``{name}`` returns: {', '.join(fields)}."
    result: type[ReturnType] = made
    return result


def type_of_outs(kind: type[ReturnType]) -> type[ReturnType]:
    """The class of a function's results that were written into ``out=``: ``max_out`` of ``max``."""
    return return_type(f"{kind.__name__}_out", *kind.__match_args__)
