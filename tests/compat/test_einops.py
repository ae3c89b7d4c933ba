"""``functorch.einops.rearrange`` and the grammar of its patterns."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import wengert as T
from wengert._functorch.functorch.einops import rearrange
from wengert._functorch.functorch.einops._parsing import AnonymousAxis, ParsedExpression, comma_separate

ARRAY = np.arange(120).reshape(2, 3, 4, 5)
X = T.tensor(ARRAY)

MEANT: dict[str, Any] = {
    "a b c d -> d c b a": ARRAY.transpose(),
    "a b c d -> (a b) (c d)": ARRAY.reshape(6, 20),
    "a b c d -> (d a) c b": ARRAY.transpose(3, 0, 2, 1).reshape(10, 4, 3),
    "a ... d -> d ... a": ARRAY.transpose(3, 1, 2, 0),
    "... d -> d (...)": ARRAY.transpose(3, 0, 1, 2).reshape(5, 24),
    "... -> ...": ARRAY,
    "a b c d -> a 1 b () c d": ARRAY[:, None, :, None],
    "a (b) c d -> b a c d": ARRAY.transpose(1, 0, 2, 3),
}


@pytest.mark.parametrize("pattern", MEANT)
def test_dims_by_their_names(pattern: str) -> None:
    assert np.array_equal(rearrange(X, pattern).numpy(), MEANT[pattern])


def test_dims_are_split_by_sizes_and_tensors_stacked() -> None:
    whole = T.arange(24)
    assert rearrange(whole, "(a b c) -> b a c", a=2, c=3).equal(whole.reshape(2, 4, 3).transpose(0, 1))
    assert rearrange([X, X], "n a b c d -> a b c d n").equal(T.stack([X, X], -1))
    assert rearrange(X[:1], "1 b c d -> b c d").equal(X[0])
    assert rearrange(T.tensor(1), "->") == 1
    leaf = T.ones(2, 6, requires_grad=True)
    rearrange(leaf, "a (b c) -> c (a b)", b=2).sum().backward()
    assert leaf.grad.equal(T.ones(2, 6))


@pytest.mark.parametrize(
    ("pattern", "sizes", "error", "text"),
    [
        ("a b -> b a", {}, ValueError, r"in pattern \(2\) must be equal to .* the tensor \(4\)"),
        ("a b c d e ... -> a", {}, ValueError, "only on one side"),
        ("a b c d e ... -> a b c d e ...", {}, ValueError, "must be less than or equal to"),
        ("a 3 c d -> a c d", {}, ValueError, "only supports unnamed axes of size 1"),
        ("a b c d -> d c b a", {"e": 1}, ValueError, "Identifiers not found in rearrange expression: {'e'}"),
        ("a b c d -> d c b a", {"a": "2"}, TypeError, "must be integers, got: <class 'str'>"),
        ("a b c d", {}, ValueError, "must contain a single '->' separator"),
        ("a b a c -> a b c", {}, ValueError, "duplicate dimension 'a'"),
        ("a (b c d -> a", {}, ValueError, "Imbalanced parentheses"),
        ("a b) c d -> a", {}, ValueError, "Brackets are not balanced"),
        ("((a b) c) d -> a", {}, ValueError, "brackets inside brackets not allowed"),
        ("a.b c -> a", {}, ValueError, "dots only inside ellipsis"),
        ("... a ... -> a", {}, ValueError, "only one ellipsis"),
        ("a (...) -> a ...", {}, ValueError, "parenthesis in the left side"),
        ("a b c d -> ... a b c d", {}, ValueError, "found in right side, but not left side"),
        ("a* b c d -> a", {}, ValueError, r"Unknown character '\*'"),
        ("2a b c d -> a", {}, ValueError, "Invalid axis identifier: 2a\nnot a valid python identifier"),
        ("a b (c e) d -> a b c e d", {"c": 3}, Exception, "does not evenly fit into larger dimension: 4 vs"),
        ("a b (c e) d -> a b c e d", {}, Exception, "cannot infer the sizes of two dimensions at once d2 and d3"),
        ("a b c d -> d c b a", {"a": 3}, Exception, r"\(2 != 3\) when matching dimension pack \(d0,\)"),
    ],
)
def test_patterns_that_do_not_fit(pattern: str, sizes: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        rearrange(X, pattern, **sizes)


def test_the_grammar() -> None:
    side = ParsedExpression("a (b ...) 1 3")
    assert side.composition[:3] == [["a"], ["b", "\u2026"], []] and side.has_ellipsis_parenthesized
    assert side.has_non_unitary_anonymous_axes and repr(side.composition[3]) == "[3-axis]"
    assert ParsedExpression("a _ a", allow_underscore=True, allow_duplicates=True).composition == [["a"], ["_"], ["a"]]
    assert [ParsedExpression.check_axis_name(name) for name in ("a1", "_a", "a_", "1", "")] == [True] + [False] * 4
    assert comma_separate([("a", ("b", "c")), ("d",)]) == "(a, (b, c)), (d,)"
    with pytest.raises(ValueError, match="should have positive length, not 0"):
        AnonymousAxis("0")
    with pytest.warns(FutureWarning, match="discouraged to use 'axis'"):
        ParsedExpression("axis")
