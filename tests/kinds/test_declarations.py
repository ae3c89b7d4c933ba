"""A declaration refuses what it does not know, and the record of an operator has a field for every fact."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from wengert._base import registry
from wengert._base.registry import REGISTRY, Operator
from wengert._kinds.declare import FACTS, declared
from wengert._kinds.elementwise import binary, parametric, unary
from wengert._kinds.general import general
from wengert._kinds.linear import affine, bilinear, linear


def f(input: Any) -> None:
    """A body."""


@pytest.mark.parametrize(
    ("decorator", "wrong", "right"),
    [
        (unary, "chekc", "check"),
        (unary, "holomorhpic", "holomorphic"),  # the decorator's own keyword
        (binary, "to_flaot", "to_float"),
        (parametric, "slop", "slope"),
        (general, "ouptuts", "outputs"),
        (general, "constant_from", "constants_from"),
    ],
)
def test_a_misspelt_keyword_is_an_error_that_names_the_nearest(decorator: Any, wrong: str, right: str) -> None:
    text = f"{decorator.__name__}() got an unexpected keyword '{wrong}'; did you mean '{right}'?"
    with pytest.raises(TypeError, match=re.escape(text)):
        decorator(**{wrong: None})(f)


@pytest.mark.parametrize(
    ("decorator", "given", "wrong", "right"),
    [
        (linear, {"transpose": lambda xp, g: g}, "veiw", "view"),
        (bilinear, {"self": None, "other": None}, "refuse_mixde", "refuse_mixed"),
        (affine, dict.fromkeys(("first", "second", "added", "spread", "node", "refuse_shapes")), "rank", "ranks"),
    ],
)
def test_a_misspelt_keyword_of_the_linear_kinds(decorator: Any, given: Any, wrong: str, right: str) -> None:
    with pytest.raises(TypeError, match=f"unexpected keyword '{wrong}'; did you mean '{right}'"):
        decorator(**given, **{wrong: None})(f)


def test_a_keyword_like_no_other_is_refused_without_a_guess() -> None:
    with pytest.raises(TypeError, match=r"unary\(\) got an unexpected keyword 'qqq'$"):
        unary(qqq=1)(f)


def test_a_fact_of_another_kind_is_refused() -> None:
    with pytest.raises(TypeError, match="unexpected keyword 'absent'"):
        unary(absent=True)(f)


@pytest.mark.parametrize("dtypes", ["", "fx", None, ("f",)])
def test_dtypes_are_letters(dtypes: Any) -> None:
    with pytest.raises(ValueError, match="must be some of the letters 'fcib'"):
        unary(dtypes=dtypes)(f)


def test_a_public_name_has_a_space() -> None:
    with pytest.raises(ValueError, match=r"'exp' is no public name: one is 'space.name', as in 'torch.exp'"):
        registry.publish(f, "exp")


def test_a_formula_names_operands_only() -> None:
    with pytest.raises(TypeError, match="a formula names 'othr', which is none of self, other, result; did you mean"):
        binary(self=lambda xp, g, othr: g, other=lambda xp, g: g)
    with pytest.raises(TypeError, match="a formula of f names 'inptu', which it does not have; did you mean 'input'"):
        general(grad=lambda xp, g, inptu: g)(f)


def test_nothing_is_entered_by_a_refused_declaration() -> None:
    assert "f" not in REGISTRY


def test_every_field_is_typed_and_explained_in_a_line() -> None:
    source = Path(registry.__file__).read_text()
    body = source[source.index("class Operator:") : source.index("    def __init__(self, body")]
    lines = [line for line in body.splitlines() if re.match(r"    \w+: ", line)]
    assert len(lines) == len(Operator.__annotations__)
    assert [line for line in lines if "  # " not in line] == []


def test_every_declared_fact_is_a_field() -> None:
    facts = {fact for names in FACTS.values() for fact in names}
    assert facts <= set(Operator.__annotations__)


def test_an_operator_has_no_fact_without_a_field() -> None:
    for info in REGISTRY.values():
        assert set(vars(info)) <= {*Operator.__annotations__, "core", "method", "node", "node_without"}, info


def test_usual_facts_are_those_of_the_kind() -> None:
    info = declared(unary, f, {"dtypes": "f"}, to_float=True)
    assert (info.kind, info.dtypes, info.to_float, info.arity, info.called) == ("unary", "f", True, 1, "f")
