"""Kullback-Leibler divergences: the registry of formulas, and ``kl_divergence``, which finds one.

>>> import wengert as torch
>>> from wengert.distributions import Normal, kl_divergence
>>> kl_divergence(Normal(0., 1.), Normal(1., 2.))
tensor(0.4431)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from .._base.errors import noted, warn
from .._tape.tensor import Tensor
from .distribution import Distribution

__all__ = ["kl_divergence", "register_kl"]

Pair = tuple[type, type]
Formula = Callable[[Any, Any], Tensor]

_KL_REGISTRY: dict[Pair, Formula] = {}
_KL_MEMOIZE: dict[Pair, Formula | None] = {}  # classes asked for -> the formula that was found


def register_kl(type_p: type, type_q: type) -> Callable[[Formula], Formula]:
    """Decorator: the divergence of a ``type_p`` from a ``type_q``, which it gets as ``p`` and ``q``.

    It serves for subclasses too, where nothing more specific is registered. Where the first type's order and the
    second's disagree on what that is, a RuntimeWarning names the pair to register.

    Raises:
        TypeError: what is given is no class.

    >>> import wengert as torch
    >>> from wengert.distributions import Normal, kl_divergence, register_kl
    >>> class Mine(Normal):
    ...     pass
    >>> @register_kl(Mine, Mine)
    ... def mine(p, q):
    ...     return (p.loc - q.loc) ** 2
    >>> kl_divergence(Mine(0., 1.), Mine(3., 1.))
    tensor(9.)
    """
    for name, given in (("type_p", type_p), ("type_q", type_q)):
        if not isinstance(given, type):  # any class: Pyro registers bases of its own that are no Distribution's
            raise TypeError(f"Expected {name} to be a Distribution subclass but got {given}")

    def enter(fun: Formula) -> Formula:
        _KL_REGISTRY[type_p, type_q] = fun
        _KL_MEMOIZE.clear()
        return fun

    return enter


def _narrower(a: tuple[type, ...], b: tuple[type, ...]) -> bool:
    """Whether one tuple of types comes before another: by the first types that differ."""
    for x, y in zip(a, b, strict=True):
        if x is not y:
            return issubclass(x, y)
    return False


def _narrowest(matches: Iterable[tuple[type, ...]]) -> tuple[type, ...]:
    found: tuple[type, ...] = ()
    for match in matches:
        if not found or _narrower(match, found):
            found = match
    return found


def _dispatch_kl(type_p: type, type_q: type) -> Formula | None:
    """The formula of the most specific pair of classes; None if there is none."""
    matches = [(p, q) for p, q in _KL_REGISTRY if issubclass(type_p, p) and issubclass(type_q, q)]
    if not matches:
        return None
    by_p = _narrowest(matches)
    by_q = _narrowest((q, p) for p, q in matches)[::-1]
    formula = _KL_REGISTRY[by_p[0], by_p[1]]
    if formula is not _KL_REGISTRY[by_q[0], by_q[1]]:
        warn(
            f"Ambiguous kl_divergence({type_p.__name__}, {type_q.__name__}). "
            f"Please register_kl({by_p[0].__name__}, {by_q[1].__name__})",
            RuntimeWarning,
        )
    return formula


def kl_divergence(p: Distribution, q: Distribution) -> Tensor:
    """``KL(p || q)``, the integral of ``p(x) log(p(x) / q(x))``: one number for each distribution of the batch.

    Raises:
        NotImplementedError: no formula is registered for these classes.

    >>> import wengert as torch
    >>> from wengert.distributions import Exponential, kl_divergence
    >>> kl_divergence(Exponential(torch.tensor([1., 2.])), Exponential(1.))
    tensor([0.0000, 0.1931])
    """
    key = type(p), type(q)
    if key not in _KL_MEMOIZE:
        _KL_MEMOIZE[key] = _dispatch_kl(*key)
    formula = _KL_MEMOIZE[key]
    if formula is None:
        raise noted(
            NotImplementedError(
                f"No KL(p || q) is implemented for p type {p.__class__.__name__} and q type {q.__class__.__name__}"
            ),
            "What to do: register one with register_kl, or estimate it: the mean of "
            "p.log_prob(x) - q.log_prob(x) over draws x of p.",
        )
    return formula(p, q)
