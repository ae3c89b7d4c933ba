"""Connectionist temporal classification: the likelihood of a sequence of labels over all its alignments.

Labels with blanks between and around them are the states of a Markov chain; ``log_probs`` are scores of states. The
loss is the logarithm of a sum over paths, its gradient the posterior of the labels, its second derivative their
covariance; each is one recursion over the time steps, for all sequences at once. Source: A. Graves et al.,
"Connectionist Temporal Classification", 2006, and for moments J. Eisner, "Parameter Estimation for Probabilistic
Finite-State Transducers", 2002.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._arrays.ctc import (
    by_label,
    chain_states,
    forward_sums,
    mean_gains,
    occupation,
    padded_targets,
    path_ends,
    path_total,
    scores_of,
)
from ..._base.registry import TENSORS, plain_body, public
from ..._kinds.general import general
from ..._kinds.linear import linear
from ..._tape.promotion import logical_dtype
from ..._tape.tensor import Tensor
from ..._tensor_api.construct import placed_beside
from ..indexing.scatter import known_values
from ..reduce.sums import unimplemented


# ---- primitives
def _nll_back(
    xp: Any, g: Any, log_probs: Any, chain: Any, lengths: Any, sizes: Any, zero_infinity: Any, normal: Any
) -> Any:
    """Minus the posterior. With ``normal``, plus the probabilities, as in PyTorch: that is the gradient by the logits
    whose ``log_softmax`` is the input; through ``log_softmax`` both give the same."""
    r = -xp.ctc_posterior(log_probs, chain, lengths, sizes, zero_infinity)
    if normal:
        r = r + xp.ctc_within(xp.exp(log_probs), lengths)
    return r * xp.unsqueeze_dim(xp.unsqueeze_dim(g, 1), 0)


def _chains(rng: Any, *extra: Any) -> Any:
    chain = chain_states(np.array([[1, 1, 2], [2, 3, 0]]), 0)
    return (chain, np.array([6, 4]), np.array([3, 2]), *extra)


@general(
    grad=_nll_back,
    batch="loop",
    node="CtcLossBackward0",
    dtypes="f",
    samples=lambda rng: [
        ((rng.standard_normal((6, 2, 4)),), _chains(rng, False, False)),
        ((rng.standard_normal((6, 2, 4)),), (_chains(rng)[0], np.array([5, 3]), np.array([0, 1]), False, False)),
    ],
)
def ctc_nll(lib, log_probs, chain, lengths, sizes, zero_infinity, normal):
    """Minus the logarithm of the sum over all alignments, for each sequence."""
    chain = tuple(map(lib.table, chain))
    states, skips = chain
    score = scores_of(lib, log_probs, states)
    return -path_total(
        lib, forward_sums(lib, score, skips), lengths, *path_ends(lib, lengths, sizes, states.shape[1], score.dtype)
    )


@general(
    grad=lambda xp, g, log_probs, chain, lengths, sizes, zero_infinity: xp.ctc_covariance(
        g, log_probs, chain, lengths, sizes, zero_infinity
    ),
    batch="loop",
    dtypes="f",
    no_derivative="its second derivative, the loss's third, is not written",
    samples=lambda rng: [((rng.standard_normal((6, 2, 4)),), _chains(rng, False))],
)
def ctc_posterior(lib, log_probs, chain, lengths, sizes, zero_infinity):
    """The probability of each label at each step, given the sequence."""
    chain = tuple(map(lib.table, chain))
    gamma = occupation(lib, log_probs, chain, lengths, sizes, zero_infinity)[0]
    r = by_label(lib, gamma, chain[0], log_probs.shape[2])
    r[lib.isnan(gamma).any(2)] = np.nan  # no alignment is possible: nan for every label, as in PyTorch
    return r


def _third(xp: Any, g: Any) -> Any:
    raise NotImplementedError("derivative for aten::_ctc_loss_backward is implemented once, not twice")


@general(
    tensors=2,
    grad={
        "h": lambda xp, g, log_probs, chain, lengths, sizes, zero_infinity: xp.ctc_covariance(
            g, log_probs, chain, lengths, sizes, zero_infinity
        ),
        "log_probs": _third,
    },
    batch="loop",
    dtypes="f",
    no_derivative="the loss's third derivative is not written",
    samples=lambda rng: [((rng.standard_normal((6, 2, 4)), rng.standard_normal((6, 2, 4))), _chains(rng, False))],
)
def ctc_covariance(lib, h, log_probs, chain, lengths, sizes, zero_infinity):
    """The covariance of being at each label with the sum of ``h`` along the path: the posterior's derivative."""
    chain = tuple(map(lib.table, chain))
    states, skips = chain
    gamma, score, alpha, beta = occupation(lib, log_probs, chain, lengths, sizes, zero_infinity)
    gain = scores_of(lib, h, states)
    mean = mean_gains(lib, alpha, score, gain, skips)
    # the rest of a path is a path backward: the same recursion on reversed operands
    flip = np.s_[::-1, :, ::-1]
    ahead = lib.zeros_like(skips)
    ahead[:, :-2] = skips[:, 2:]
    whole = beta.copy()
    whole[:, :, :-2] += score
    rest = mean_gains(lib, whole[flip], score[flip], gain[flip], ahead[:, ::-1])[flip] - gain
    found = by_label(lib, gamma * (mean + rest), states, h.shape[2])
    posterior = by_label(lib, gamma, states, h.shape[2])
    return found - posterior * (posterior * h).sum((0, 2))[:, None]


@linear(
    transpose=lambda xp, g, lengths: xp.ctc_within(g, lengths),
    batch="loop",
    dtypes="f",
    samples=[((4, 2, 3), (np.array([4, 2]),))],
)
def ctc_within(lib, self, lengths):
    """The steps before each sequence's end; zeros after it."""
    r = self.copy()
    r[np.arange(len(r))[:, None] >= lengths] = 0
    return r


@plain_body
def plain_ctc_within(lib, self, lengths):
    return lib.where((lib.arange(len(self))[:, None] < lengths)[..., None], self, 0)


# ---- arguments
_WHILE = "(while checking arguments for ctc_loss_allocate_outputs)"


def _lengths(value: Any, name: str) -> Any:
    if isinstance(value, Tensor):
        if logical_dtype(value).kind not in "iu":
            raise RuntimeError(f"{name} must be integral")
        value = known_values(value, "ctc_loss")
    elif not isinstance(value, (tuple, list)):
        raise TypeError(f"ctc_loss(): argument '{name}' must be tuple of ints, not {type(value).__name__}")
    return np.asarray(value, np.int64).reshape(-1)


def _check(scores: Any, targets: Any, lengths: Any, sizes: Any, blank: int) -> None:
    steps, batch, labels = scores.shape
    if not 0 <= blank < labels:
        raise RuntimeError("blank must be in label range")
    for name, value in (("input_lengths", lengths), ("target_lengths", sizes)):
        if len(value) != batch:
            raise RuntimeError(f"{name} must be of size batch_size")
    for name, value in (("target_lengths", sizes), ("input_lengths", lengths)):
        if value.min() < 0:
            least = value[value < 0][0]
            raise RuntimeError(f"Expected {name} to have value at least 0, but got value {least} {_WHILE}")
    if targets.ndim not in (1, 2):
        raise RuntimeError(
            f"Expected 1 to 2 dimensions, but got {targets.ndim}-dimensional tensor for argument #2 'targets' {_WHILE}"
        )
    wanted = int(sizes.sum()) if targets.ndim == 1 else batch
    if targets.shape[0] != wanted:
        raise RuntimeError(
            f"Expected tensor to have size {wanted} at dimension 0, but got size {targets.shape[0]} for argument #2 "
            f"'targets' {_WHILE}"
        )
    if targets.ndim == 2 and targets.shape[1] < sizes.max():
        raise RuntimeError(
            f"Expected tensor to have size at least {sizes.max()} at dimension 1, but got size {targets.shape[1]} for "
            f"argument #2 'targets' {_WHILE}"
        )
    if lengths.max() > steps:
        raise RuntimeError(
            f"Expected input_lengths to have value at most {steps}, but got value {lengths.max()} {_WHILE}"
        )


@public("torch.ctc_loss")
def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Any,
    target_lengths: Any,
    blank: int = 0,
    reduction: int = 0,
    zero_infinity: bool = False,
) -> Tensor:
    """``nn.functional.ctc_loss`` with the reduction as a number: 0 none, 1 mean, 2 sum.

    >>> log_probs = torch.full((2, 1, 2), 0.5).log()
    >>> torch.ctc_loss(log_probs, torch.tensor([[1]]), [2], [1])
    tensor([0.2877])
    """
    if log_probs._payload.ndim not in (2, 3):
        raise RuntimeError(
            f"Expected 3-dimensional tensor, but got {log_probs._payload.ndim + 1}-dimensional tensor for argument #1 "
            f"'log_probs' {_WHILE}"
        )
    alone = log_probs._payload.ndim == 2
    if alone:
        log_probs = TENSORS.unsqueeze_dim(log_probs, 1)
    if 0 in log_probs._payload.shape:
        raise RuntimeError("log_probs tensor must not be empty")
    dtype = logical_dtype(log_probs)
    if dtype.kind != "f" or dtype.itemsize < 4:
        raise unimplemented("ctc_loss_cpu", log_probs)
    lengths, sizes = _lengths(input_lengths, "input_lengths"), _lengths(target_lengths, "target_lengths")
    raw = np.asarray(known_values(targets, "ctc_loss")).astype(np.int64, copy=False)
    if alone and raw.ndim == 1:
        raw = raw[None]
    _check(log_probs._payload, raw, lengths, sizes, blank)
    chain = chain_states(padded_targets(raw, sizes, log_probs._payload.shape[2], blank), blank)
    loss = TENSORS.ctc_nll(log_probs, chain, lengths, sizes, bool(zero_infinity), True)
    if zero_infinity:
        loss = TENSORS.where(loss == np.inf, 0.0, loss)
    if reduction == 1:
        loss = (loss / placed_beside(log_probs, np.maximum(sizes, 1).astype(dtype))).mean()
    elif reduction == 2:
        loss = loss.sum()
    elif alone:
        loss = TENSORS.squeeze_dim(loss, 0)
    return loss


@public("nn.functional.ctc_loss")
def ctc_loss_public(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Any,
    target_lengths: Any,
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> Tensor:
    """Minus the log-likelihood of label sequences over all their alignments with the steps of ``log_probs``.

    ``log_probs`` is ``(T, N, C)`` or ``(T, C)``; ``targets`` ``(N, S)``, or all targets one after the other;
    the lengths are tensors or sequences of ints. ``"mean"`` divides by the targets' lengths first. A target that is
    too long has an infinite loss; with ``zero_infinity`` it has loss and gradient zero. As in PyTorch, the gradient
    assumes normalised ``log_probs``: it is the gradient by the logits. It can be differentiated once more.

    >>> log_probs = torch.full((2, 1, 2), 0.5).log()
    >>> torch.nn.functional.ctc_loss(log_probs, torch.tensor([[1]]), (2,), (1,))
    tensor(0.2877)
    """
    numbers = {"none": 0, "mean": 1, "sum": 2}
    if reduction not in numbers:
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return ctc_loss(log_probs, targets, input_lengths, target_lengths, blank, numbers[reduction], zero_infinity)
