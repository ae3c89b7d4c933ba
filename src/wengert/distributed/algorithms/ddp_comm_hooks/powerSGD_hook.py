"""PowerSGD: gradients are sent as products of two thin matrices, and what is lost is added in the next iteration.

One step of the power method: ``P = M Q``, summed and made orthogonal; ``Q = M^T P``, averaged; then ``M`` is ``P Q^T``.

Source: Vogels et al. 2019, "PowerSGD: Practical Low-Rank Gradient Compression for Distributed Optimization".
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import wengert as torch
from wengert import distributed as dist

from . import default_hooks as default

__all__ = ["PowerSGDState", "batched_powerSGD_hook", "powerSGD_hook"]

Shape = tuple[int, int, int, int]


def _orthogonalize(matrices: torch.Tensor, epsilon: float = 0) -> None:
    """Make the columns of each matrix orthonormal, in place: Gram-Schmidt for one or two, QR for more."""
    rank = matrices.shape[2]
    if rank > 2 and matrices.dtype not in (torch.float16, torch.bfloat16):
        matrices.copy_(torch.linalg.qr(matrices)[0])
        return
    for i in range(rank):
        column = matrices[:, :, i : i + 1]
        column /= torch.norm(column, dim=1, keepdim=True) + epsilon
        if i + 1 < rank:
            rest = matrices[:, :, i + 1 :]
            rest -= torch.sum(column * rest, dim=1, keepdim=True) * column


class PowerSGDState:
    """What a hook keeps between iterations, and how far it goes.

    Parameters:
        process_group: the processes; None for all.
        matrix_approximation_rank: the columns of the thin matrices.
        start_powerSGD_iter: from which iteration on; before, the mean is taken as it is.
        min_compression_rate: a matrix that saves less than this is sent as it is.
        use_error_feedback: add in each iteration what the one before lost.
        warm_start: begin with the last iteration's ``Q``, not with a random one.
        orthogonalization_epsilon: added to the norms of columns.
        random_seed: of the random ``Q``, the same on all processes.
        batch_tensors_with_same_shape: multiply matrices of one shape together.

    Raises:
        ValueError: ``start_powerSGD_iter`` is below 2 although something is kept between iterations: the buckets of the
            first two differ.
    """

    def __init__(
        self,
        process_group: Any,
        matrix_approximation_rank: int = 1,
        start_powerSGD_iter: int = 1_000,
        min_compression_rate: float = 2,
        use_error_feedback: bool = True,
        warm_start: bool = True,
        orthogonalization_epsilon: float = 0,
        random_seed: int = 0,
        compression_stats_logging_frequency: int = 10_000,
        batch_tensors_with_same_shape: bool = False,
    ) -> None:
        if (use_error_feedback or warm_start) and start_powerSGD_iter <= 1:
            raise ValueError(
                "Expect `start_powerSGD_iter` > 1 if `use_error_feedback` or `warm_start` is enabled, because PowerSGD "
                "can only be applied after the first two iterations in DDP."
            )
        self.process_group, self.matrix_approximation_rank = process_group, matrix_approximation_rank
        self.start_powerSGD_iter, self.min_compression_rate = start_powerSGD_iter, min_compression_rate
        self.use_error_feedback, self.warm_start = use_error_feedback, warm_start
        self.orthogonalization_epsilon = orthogonalization_epsilon
        self.batch_tensors_with_same_shape = batch_tensors_with_same_shape
        self.compression_stats_logging_frequency = max(1, compression_stats_logging_frequency)
        self.rng = np.random.RandomState(random_seed)
        self.error_dict: dict[int, Any] = {}
        self.p_memory_dict: dict[int, Any] = {}
        self.q_memory_dict: dict[int, Any] = {}
        self.iter = self.next_stats_report = 0
        self.total_numel_before_compression = self.total_numel_after_compression = 0

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "process_group"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.process_group = None
        vars(self).update(state)

    def maybe_increase_iter(self, bucket: Any) -> None:
        """Count an iteration, by its last bucket."""
        self.iter += bucket.is_last()

    def compression_stats(self) -> tuple[float, int, int]:
        """By how much gradients were compressed; how many numbers they have; how many were sent."""
        before, after = self.total_numel_before_compression, self.total_numel_after_compression
        return before / after if after else 0, before, after

    # ---- the steps of both hooks
    def _with_error(self, key: int, gradients: torch.Tensor) -> Any:
        """Add what the last iteration lost; a copy of the sum."""
        if not self.use_error_feedback:
            return None
        if key in self.error_dict:
            gradients.add_(self.error_dict[key])
        return gradients.clone()

    def _done(self, key: int, gradients: torch.Tensor, before: Any, bucket: Any) -> None:
        if before is not None:
            self.error_dict[key] = before - gradients
        if not self.warm_start:
            self.p_memory_dict.clear()
            self.q_memory_dict.clear()
        self.maybe_increase_iter(bucket)

    def _thin(
        self, key: int, shapes: list[tuple[int, int, int, int]], dtype: torch.dtype
    ) -> tuple[list[Any], list[Any]]:
        """The thin matrices for shapes ``(batch, n, m, rank)``, as parts of one memory; ``Q`` is orthogonal."""
        fresh = not self.warm_start or key not in self.p_memory_dict
        if fresh:
            self.p_memory_dict[key] = torch.empty(sum(b * n * r for b, n, _, r in shapes), dtype=dtype)
            self.q_memory_dict[key] = torch.empty(sum(b * m * r for b, _, m, r in shapes), dtype=dtype)
        ps, qs = self._parts(key, shapes)
        if fresh:
            with torch.random.fork_rng(devices=[]):
                torch.manual_seed(self.rng.randint(1_000_000_000))
                for q in qs:
                    q.copy_(torch.randn(*q.shape, dtype=dtype))
        for q in qs:
            _orthogonalize(q, self.orthogonalization_epsilon)
        return ps, qs

    def _parts(self, key: int, shapes: list[Shape]) -> tuple[list[Any], list[Any]]:
        ps = self.p_memory_dict[key].split([b * n * r for b, n, _, r in shapes])
        qs = self.q_memory_dict[key].split([b * m * r for b, _, m, r in shapes])
        return (
            [p.view(b, n, r) for p, (b, n, _, r) in zip(ps, shapes, strict=True)],
            [q.view(b, m, r) for q, (b, _, m, r) in zip(qs, shapes, strict=True)],
        )


def _sum(tensor: torch.Tensor, group: Any) -> Any:
    return dist.all_reduce(tensor, group=group, async_op=True).get_future()


def _low_rank(state: PowerSGDState, key: int, group: Any, matrices: list[Any], first: Any) -> Any:
    """A future, after another one, of matrices replaced by their mean approximations."""
    shapes = [(*m.shape, min(*m.shape[1:], state.matrix_approximation_rank)) for m in matrices]
    ps, qs = state._thin(key, shapes, matrices[0].dtype if matrices else torch.get_default_dtype())
    for matrix, p, q in zip(matrices, ps, qs, strict=True):
        torch.bmm(matrix, q, out=p)

    def sum_p(future: Any) -> None:
        future.value()  # its error, if it failed
        _sum(state.p_memory_dict[key], group).wait()

    def sum_q(future: Any) -> None:
        future.value()
        for matrix, p, q in zip(matrices, ps, qs, strict=True):
            _orthogonalize(p, state.orthogonalization_epsilon)
            torch.bmm(matrix.transpose(1, 2), p, out=q)
        _sum(state.q_memory_dict[key], group).wait()

    def multiply(future: Any) -> None:
        future.value()
        state.q_memory_dict[key].div_(group.size())
        for matrix, p, q in zip(matrices, ps, qs, strict=True):
            matrix.copy_(torch.bmm(p, q.transpose(1, 2)))

    return first.then(sum_p).then(sum_q).then(multiply)


def powerSGD_hook(state: PowerSGDState, bucket: Any) -> Any:
    """The mean of the gradients; a matrix that is large enough is approximated by a product of thin ones."""
    group = state.process_group if state.process_group is not None else dist.group.WORLD
    gradients = bucket.buffer()
    if state.iter < state.start_powerSGD_iter:
        state.maybe_increase_iter(bucket)
        return default._allreduce_fut(group, gradients)
    key = bucket.index()
    before = state._with_error(key, gradients)
    as_they_are: list[torch.Tensor] = []
    by_shape: dict[tuple[int, int], list[torch.Tensor]] = {}
    for tensor in bucket.gradients():
        matrix = tensor.view(tensor.shape[0], -1)
        n, m = matrix.shape
        compressed = (n + m) * min(n, m, state.matrix_approximation_rank)
        state.total_numel_before_compression += n * m
        if compressed * state.min_compression_rate < n * m:
            by_shape.setdefault((n, m), []).append(matrix)
            state.total_numel_after_compression += compressed
        else:
            as_they_are.append(tensor)
            state.total_numel_after_compression += n * m
    # each batch of matrices, and those that it was put together from
    batches: list[tuple[torch.Tensor, list[torch.Tensor]]] = []
    for same in by_shape.values():
        together = state.batch_tensors_with_same_shape and len(same) > 1
        batches += [(torch.stack(same), same)] if together else [(matrix.unsqueeze(0), []) for matrix in same]
    flat = torch.cat([t.reshape(-1) for t in as_they_are]) if as_they_are else gradients.new_empty(0)

    def unpack(future: Any) -> None:
        parts = future.value()[0].div_(group.size()).split([t.numel() for t in as_they_are])
        for tensor, part in zip(as_they_are, parts, strict=True):
            tensor.copy_(part.view(tensor.shape))

    def finish(future: Any) -> torch.Tensor:
        future.value()
        for batch, originals in batches:
            for original, matrix in zip(originals, batch, strict=False):
                original.copy_(matrix)
        state._done(key, gradients, before, bucket)
        return gradients

    first = _sum(flat, group).then(unpack if as_they_are else lambda future: future.value())
    return _low_rank(state, key, group, [batch for batch, _ in batches], first).then(finish)


def batched_powerSGD_hook(state: PowerSGDState, bucket: Any) -> Any:
    """The mean of the gradients, all of which are taken as one square matrix and approximated."""
    group = state.process_group if state.process_group is not None else dist.group.WORLD
    gradients = bucket.buffer()
    if state.iter < state.start_powerSGD_iter:
        state.maybe_increase_iter(bucket)
        return default._allreduce_fut(group, gradients)
    key, length = bucket.index(), gradients.numel()
    side = math.ceil(math.sqrt(length))
    state.total_numel_before_compression += length
    state.total_numel_after_compression += side * state.matrix_approximation_rank * 2
    padded = gradients.new_zeros(side * side)
    padded[:length] = gradients
    before = state._with_error(key, padded)

    def finish(future: Any) -> torch.Tensor:
        future.value()
        state._done(key, padded, before, bucket)
        return gradients.copy_(padded[:length])

    ready: Any = torch.futures.Future()
    ready.set_result(None)
    return _low_rank(state, key, group, [padded.view(1, side, side)], ready).then(finish)
