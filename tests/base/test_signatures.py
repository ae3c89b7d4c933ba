"""Signatures that are made when they are looked at."""

from __future__ import annotations

import copy
import inspect
import pickle

from wengert._base.signatures import shown_with


def function(a: int, *more: int, **unknown: object) -> int:
    return a


def shown() -> inspect.Signature:
    def named(a: int, *more: int, **unknown: object) -> int:
        return a

    return shown_with(lambda parameters: parameters[:2])(named).__signature__  # type: ignore[attr-defined,no-any-return]


SAME = inspect.signature(function).replace(parameters=[*inspect.signature(function).parameters.values()][:2])


def test_they_are_signatures_like_others() -> None:
    assert shown() == SAME
    assert hash(shown()) == hash(SAME)
    assert str(shown()) == str(SAME)
    assert repr(shown()) == repr(SAME)
    assert shown().bind(1, 2).args == (1, 2)
    assert list(shown().parameters) == ["a", "more"]
    assert shown().return_annotation == "int"


def test_they_can_be_changed_copied_and_pickled() -> None:
    other = [inspect.Parameter("b", inspect.Parameter.KEYWORD_ONLY)]
    assert str(shown().replace(parameters=other, return_annotation=str)) == "(*, b) -> str"
    assert copy.copy(shown()) == copy.deepcopy(shown()) == SAME
    assert pickle.loads(pickle.dumps(shown())) == SAME


def test_a_function_has_the_plain_one_from_then_on() -> None:
    fn = shown_with(lambda parameters: parameters[:1])(lambda a, b: a)
    before = inspect.signature(fn)
    assert str(before) == "(a)"
    assert type(inspect.signature(fn)) is inspect.Signature
    assert inspect.signature(fn) == before
