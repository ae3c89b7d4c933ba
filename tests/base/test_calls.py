"""How the program called a function, read from its instructions, and the errors that say it."""

from __future__ import annotations

import sys
from typing import Any

import pytest

import wengert as torch
from wengert._base.calls import Call, call_of


class Here:
    def method(self, *args: Any, **kwargs: Any) -> Call | None:
        return call_of(sys._getframe(1))


here = Here()
method = here.method


def test_calls_as_they_are_written() -> None:
    pair, named = [here, here], {"k": 1}
    calls = [
        method(1, here, k=2),
        here.method(1, pair[0:1]),
        pair[0].method(a=1, b=[1, 2]),
        here.method(),
        here.method(*pair),
        here.method(**named),
    ]  # not in assertions, of which pytest makes other calls
    assert calls == [
        Call("", None, 2, ("k",)),
        Call("method", None, 2, ()),
        Call("method", None, 0, ("a", "b")),
        Call("method", None, 0, ()),
        Call("method", None, None, ()),
        Call("method", None, None, ("k",)) if sys.version_info >= (3, 13) else None,
    ]


def told(call: Any) -> str:
    with pytest.raises(TypeError) as error:
        call()
    return str(error.value)


def test_errors_say_how_the_argument_was_given() -> None:
    x: Any = torch.zeros(2, 3)
    assert told(lambda: torch.argmax(x, "a")).startswith("argmax(): argument 'dim' (position 2) must be")
    assert told(lambda: x.argmax("a")).startswith("argmax(): argument 'dim' (position 1) must be")
    assert told(lambda: x.argmax(dim="a")).startswith("argmax(): argument 'dim' must be")
    assert told(lambda: torch.argmax(x, *["a"])).startswith("argmax(): argument 'dim' (position 2) must be")
    assert told(lambda: torch.special.expit(3)).startswith("special_expit(): argument 'input' (position 1) must be")


def test_several_names_of_one_function() -> None:
    x: Any = torch.zeros(2)
    assert told(lambda: torch.arctan2(x, [])).startswith("arctan2(): argument 'other' (position 2) must be")
    assert told(lambda: torch.atan2(x, [])).startswith("atan2(): argument 'other' (position 2) must be")
