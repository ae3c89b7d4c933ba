"""Connectionist temporal classification: recursions over the time steps, for all sequences at once.

Labels with blanks between and around them are the states of a Markov chain; ``log_probs`` are scores of states.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from . import intp

_NEVER = -np.inf


def chain_states(targets: Any, blank: int) -> tuple[Any, Any]:
    """The labels ``(B, S)`` with blanks around each, and whether a state may be reached from two before it."""
    states = np.full((targets.shape[0], 2 * targets.shape[1] + 1), blank, np.int64)
    states[:, 1::2] = targets
    skips = np.zeros(states.shape, bool)
    skips[:, 2:] = (states[:, 2:] != states[:, :-2]) & (states[:, 2:] != blank)
    return states, skips


def scores_of(lib: Any, x: Any, states: Any) -> Any:
    """The elements ``(T, B, S)`` of ``(T, B, C)`` that belong to the states."""
    return lib.take_along_axis(x, states[None], 2)


def forward_sums(lib: Any, score: Any, skips: Any) -> Any:
    """``log sum exp`` over the paths that begin at the first step and end in each state, two columns of pads first."""
    steps, batch, states = score.shape
    alpha = lib.full((steps, batch, states + 2), _NEVER, score.dtype)
    if not steps:
        return alpha
    alpha[0, :, 2:4] = score[0, :, :2]
    for t in range(1, steps):
        before = alpha[t - 1]
        r = lib.logaddexp(before[:, 2:], before[:, 1:-1])
        r = lib.logaddexp(r, lib.where(skips, before[:, :-2], score.dtype.type(_NEVER)))
        lib.add(r, score[t], alpha[t, :, 2:])
    return alpha


def path_ends(lib: Any, lengths: Any, sizes: Any, states: int, dtype: Any) -> tuple[Any, Any]:
    """The last steps, and zero for the states in which a path may end (otherwise minus infinity)."""
    end = lib.full((len(sizes), states), _NEVER, dtype)
    rows = lib.arange(len(sizes))
    end[rows, 2 * sizes] = 0
    end[rows[sizes > 0], 2 * sizes[sizes > 0] - 1] = 0
    return lengths - 1, end


def _backward(lib: Any, score: Any, skips: Any, last: Any, end: Any) -> Any:
    """``log sum exp`` over the rest of the paths, after the step itself; two columns of pads at the end."""
    steps, batch, states = score.shape
    beta = lib.full((steps, batch, states + 2), _NEVER, score.dtype)
    later = lib.full((batch, states + 2), _NEVER, score.dtype)
    skip_to = lib.zeros((batch, states), bool)
    skip_to[:, :-2] = skips[:, 2:]
    for t in range(steps - 1, -1, -1):
        if t < steps - 1:
            lib.add(beta[t + 1, :, :-2], score[t + 1], later[:, :-2])
            r = lib.logaddexp(later[:, :-2], later[:, 1:-1])
            beta[t, :, :-2] = lib.logaddexp(r, lib.where(skip_to, later[:, 2:], score.dtype.type(_NEVER)))
        ending = last == t
        if ending.any():
            beta[t, ending, :-2] = end[ending]
    return beta


def path_total(lib: Any, alpha: Any, lengths: Any, last: Any, end: Any) -> Any:
    """The logarithm of the sum over all paths of each sequence."""
    if not len(alpha):
        final = lib.zeros_like(end) + lib.where(lib.arange(end.shape[1]) == 0, 0, _NEVER)
    else:
        final = alpha[lib.maximum(last, 0), lib.arange(len(last)), 2:]
        start = lib.full(end.shape[1], _NEVER, end.dtype)
        start[0] = 0
        final = lib.where((lengths == 0)[:, None], start, final)  # no step: only no label is possible
    return lib.logaddexp.reduce(lib.where(end == 0, final, end), 1)


def by_label(lib: Any, weights: Any, states: Any, labels: int) -> Any:
    """The sums over the states of each label: ``(T, B, S)`` to ``(T, B, C)``."""
    steps, batch, _ = weights.shape
    place = lib.arange(steps * batch).reshape(steps, batch, 1) * labels + states
    if type(weights) is np.ndarray:
        r = intp.bincount(place.reshape(-1), weights.reshape(-1), steps * batch * labels)
    else:
        r = lib.zeros(steps * batch * labels, weights.dtype)
        lib.add_at(r, place.reshape(-1), weights.reshape(-1))
    return r.astype(weights.dtype).reshape(steps, batch, labels)


def occupation(lib: Any, log_probs: Any, chain: Any, lengths: Any, sizes: Any, zero_infinity: bool) -> tuple[Any, ...]:
    """The probability of being in each state at each step, and the values that it was computed from."""
    states, skips = chain
    score = scores_of(lib, log_probs, states)
    last, end = path_ends(lib, lengths, sizes, states.shape[1], score.dtype)
    alpha, beta = forward_sums(lib, score, skips), _backward(lib, score, skips, last, end)
    total = path_total(lib, alpha, lengths, last, end)
    with np.errstate(invalid="ignore"):
        gamma = lib.exp(alpha[:, :, 2:] + beta[:, :, :-2] - total[:, None])
    gamma[lib.arange(len(score))[:, None] >= lengths] = 0
    if zero_infinity:
        gamma[:, lib.isneginf(total)] = 0
    return gamma, score, alpha, beta


def mean_gains(lib: Any, alpha: Any, score: Any, gain: Any, skips: Any) -> Any:
    """The mean of the gains along the paths that end in each state, the state's own included."""
    mean = lib.zeros((*score.shape[:2], score.shape[2] + 2), score.dtype)
    mean[:, :, 2:] = gain
    for t in range(1, len(score)):
        here = score[t] - lib.where(lib.isneginf(alpha[t, :, 2:]), np.inf, alpha[t, :, 2:])
        before, earlier = alpha[t - 1], mean[t - 1]
        r = lib.exp(before[:, 2:] + here) * earlier[:, 2:]
        r += lib.exp(before[:, 1:-1] + here) * earlier[:, 1:-1]
        r += lib.where(skips, lib.exp(before[:, :-2] + here) * earlier[:, :-2], 0)
        mean[t, :, 2:] += r
    return mean[:, :, 2:]


def padded_targets(targets: Any, sizes: Any, labels: int, blank: int) -> Any:
    """The targets of either form as ``(B, L)``, with blanks after the end of each."""
    inside = np.arange(int(sizes.max())) < sizes[:, None]
    r = np.full(inside.shape, blank, np.int64)
    r[inside] = targets if targets.ndim == 1 else targets[:, : inside.shape[1]][inside]
    if r.size and (r.min() < 0 or r.max() >= labels):
        raise RuntimeError(f"Expected targets to have values from 0 to {labels - 1}")
    return r
