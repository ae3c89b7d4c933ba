"""Post-local SGD: the mean over all processes at first, then over those of one machine.

Source: Lin et al. 2018, "Don't Use Large Mini-Batches, Use Local SGD".
"""

from __future__ import annotations

from typing import Any

import wengert as torch
from wengert import distributed as dist

from . import default_hooks as default

__all__ = ["PostLocalSGDState", "post_localSGD_hook"]


class PostLocalSGDState:
    """The groups, and in which iteration the change is made; ``subgroup`` None: the processes of this machine.

    ``post_local_gradient_allreduce`` False: after the change, gradients stay where they are.
    """

    def __init__(
        self, process_group: Any, subgroup: Any, start_localSGD_iter: int, post_local_gradient_allreduce: bool = True
    ) -> None:
        self.process_group, self.subgroup = process_group, subgroup
        self.start_localSGD_iter = start_localSGD_iter
        self.post_local_gradient_allreduce = post_local_gradient_allreduce
        self.iter = 0

    def maybe_increase_iter(self, bucket: Any) -> None:
        """Count an iteration, by its last bucket."""
        self.iter += bucket.is_last()


def post_localSGD_hook(state: PostLocalSGDState, bucket: Any) -> Any:
    """The mean over all processes up to an iteration, then over a part of them.

    Parameters then differ between the parts; see ``torch.distributed.algorithms.model_averaging.averagers``.
    """
    if state.iter < state.start_localSGD_iter:
        state.maybe_increase_iter(bucket)
        return default._allreduce_fut(state.process_group, bucket.buffer())
    if not state.post_local_gradient_allreduce:
        future: Any = torch.futures.Future()
        future.set_result(bucket.buffer())
        return future
    if state.subgroup is None:
        state.subgroup, _ = dist.new_subgroups()
    return default._allreduce_fut(state.subgroup, bucket.buffer())
