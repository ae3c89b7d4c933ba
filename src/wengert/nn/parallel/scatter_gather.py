"""``torch.nn.parallel.scatter_gather``: distribution of arguments over GPUs, of which there are none.

Objects that are not tensors go to every device unchanged; a tensor raises an error, as in PyTorch's CPU build.

>>> from wengert.nn.parallel.scatter_gather import scatter
>>> scatter(("a", {"b": 2}), [0, 1])
[('a', {'b': 2}), ('a', {'b': 2})]
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..._base.absent import WHAT_TO_DO
from ..._base.dtypes import device as Device
from ..._base.errors import noted
from ..._tape.tensor import Tensor

__all__ = ["gather", "scatter", "scatter_kwargs"]


def _rebuild(like: Any, parts: Any) -> Any:
    """A container of the type of ``like`` with other elements."""
    if hasattr(like, "_fields"):  # a named tuple takes its elements as separate arguments
        return type(like)(*parts)
    return list(parts) if isinstance(like, list) else tuple(parts) if isinstance(like, tuple) else type(like)(parts)


def scatter(inputs: Any, target_gpus: Sequence[Any], dim: int = 0) -> list[Any]:
    """One copy of ``inputs`` for each device, with new containers that hold the same objects.

    Raises:
        RuntimeError: ``inputs`` holds a tensor, which no device can take.
    """
    if isinstance(inputs, Tensor):
        for target in target_gpus:
            if not isinstance(target, int) and Device(target).type == "cpu":
                raise noted(ValueError("Expected a non cpu device, but got: cpu"), WHAT_TO_DO)
        raise noted(RuntimeError("a tensor cannot be spread over several devices: there is one"), WHAT_TO_DO)
    elements = list(inputs.items()) if isinstance(inputs, dict) else inputs
    if isinstance(inputs, (tuple, list, dict)) and elements:
        columns = [scatter(element, target_gpus, dim) for element in elements]
        return [_rebuild(inputs, parts) for parts in zip(*columns, strict=True)]
    return [inputs for _ in target_gpus]


def scatter_kwargs(
    inputs: tuple[Any, ...], kwargs: dict[str, Any] | None, target_gpus: Sequence[Any], dim: int = 0
) -> tuple[tuple[Any, ...], tuple[dict[str, Any], ...]]:
    """The positional and keyword arguments of the call for each device."""
    positional = scatter(inputs, target_gpus, dim) if inputs else []
    by_name = scatter(kwargs, target_gpus, dim) if kwargs else []
    calls = max(len(positional), len(by_name))
    positional += [()] * (calls - len(positional))
    by_name += [{}] * (calls - len(by_name))
    return tuple(positional), tuple(by_name)


def gather(outputs: Any, target_device: Any, dim: int = 0) -> Any:
    """Combine the results of several devices; ``None`` if they are None.

    Raises:
        AssertionError: the results are tensors, which only several devices could have returned.
    """
    first = outputs[0]
    if first is None:
        return None
    if isinstance(first, Tensor):
        raise noted(AssertionError("Gather function not implemented for CPU tensors"), WHAT_TO_DO)
    if isinstance(first, dict):
        if any(len(output) != len(first) for output in outputs):
            raise ValueError("All dicts must have the same number of keys")
        return type(first)((key, gather([output[key] for output in outputs], target_device, dim)) for key in first)
    return _rebuild(first, [gather(parts, target_device, dim) for parts in zip(*outputs, strict=True)])
