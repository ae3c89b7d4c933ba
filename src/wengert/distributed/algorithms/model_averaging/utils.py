"""The mean of parameters over processes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import wengert as torch
from wengert import distributed as dist

__all__ = ["average_parameters", "average_parameters_or_parameter_groups", "get_params_to_average"]


def average_parameters(params: Iterable[Any], process_group: Any) -> None:
    """Replace parameters by their mean over the processes."""
    params = list(params)
    group = process_group if process_group is not None else dist.group.WORLD
    if group is dist.GroupMember.NON_GROUP_MEMBER:
        return
    flat = torch.cat([p.detach().reshape(-1) for p in params])
    flat /= dist.get_world_size(group)
    dist.all_reduce(flat, group=group)
    for p, part in zip(params, flat.split([p.numel() for p in params]), strict=True):
        p.data = part.view_as(p).type_as(p)


def get_params_to_average(params: Iterable[Any]) -> list[Any]:
    """The parameters, of a model or of an optimizer's groups, that have a gradient."""
    found: list[Any] = []
    for param in params:
        if isinstance(param, torch.nn.Parameter):
            found.append(param)
        elif isinstance(param, dict):
            found += param["params"]
        else:
            raise NotImplementedError(f"Parameter input of type {type(param)} is not supported")
    return [p for p in found if p.grad is not None]


def average_parameters_or_parameter_groups(params: Iterable[Any], process_group: Any) -> None:
    """Replace those that have a gradient by their mean over the processes."""
    average_parameters(get_params_to_average(params), process_group)
