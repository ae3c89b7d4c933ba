"""What ``DistributedDataParallel`` checks (group, parameters, devices, hooks), and its forward pass in other dtypes."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from functools import partial
from typing import Any

import wengert as torch
from wengert import distributed as dist

from .._base.errors import noted
from ..nn.parameter import UninitializedParameter
from ..utils._pytree import tree_map
from . import _groups

__all__ = [
    "_MixedPrecision", "call_in_dtype", "check_hook", "check_parameters", "devices_of", "group_of", "use_dtypes",
]  # fmt: skip


def group_of(process_group: Any, device_mesh: Any) -> Any:
    """The group that was given, or that of all processes."""
    if process_group is not None and device_mesh is not None:
        raise RuntimeError("Cannot specify both process_group and device_mesh arguments.")
    if device_mesh is not None:
        if device_mesh.ndim != 1:
            raise RuntimeError(f"Only 1D device mesh is supported, but got {device_mesh}.")
        return device_mesh.get_group(mesh_dim=0)
    if process_group is None:
        if not dist.is_initialized():
            raise noted(
                ValueError(
                    "Default process group has not been initialized, please make sure to call init_process_group."
                ),
                "Why: DistributedDataParallel averages gradients over several processes.",
                "What to do: torch.distributed.init_process_group() first, or use the module itself.",
            )
        return dist.group.WORLD
    return process_group


def check_parameters(parameters: list[Any]) -> None:
    if not any(p.requires_grad for p in parameters):
        raise RuntimeError(
            "DistributedDataParallel is not needed when a module doesn't have any parameter that requires a gradient."
        )
    for parameter in parameters:
        if isinstance(parameter, UninitializedParameter):
            raise RuntimeError(
                "Modules with uninitialized parameters can't be used with `DistributedDataParallel`. Run a dummy "
                "forward pass to correctly initialize the modules"
            )


def devices_of(parameters: list[Any], device_ids: Any, output_device: Any) -> tuple[list[int] | None, int | None]:
    """The accelerator that was named for this process, if parameters lie on one."""
    if device_ids is not None and len(device_ids) > 1:
        raise ValueError("device_ids can only be None or contain a single element.")
    if not device_ids and output_device is None:
        return None, None
    first = device_ids[0] if device_ids else output_device
    if _groups.stand_in:  # the CPU is what the program calls a card
        index = first if type(first) is int else torch.cuda.current_device()
        return [index], output_device if type(output_device) is int else index
    raise noted(
        ValueError(
            "DistributedDataParallel device_ids and output_device arguments only work with "
            "single-device/multiple-device GPU modules or CPU modules, but got device_ids "
            f"{device_ids}, output_device {output_device}, and module parameters "
            f"{ {p.device for p in parameters} }."
        ),
        "What to do: leave out device_ids, or start with `python -m wengert run --nproc N --stand-in N`, where CPU "
        "processes stand for cards.",
    )


def check_hook(hook: Any) -> None:
    """That a communication hook can be called, and that its annotations are right where it has some."""
    if not callable(hook):
        raise TypeError("Communication hook must be callable.")
    signature = inspect.signature(hook)
    bucket, result = signature.parameters["bucket"].annotation, signature.return_annotation
    # an annotation that is a text, as under `from __future__ import annotations`, says what its author meant
    if not isinstance(bucket, str) and bucket not in (inspect.Parameter.empty, dist.GradBucket):
        raise ValueError("Communication hook: bucket annotation should be dist.GradBucket.")
    if not isinstance(result, str) and result not in (inspect.Signature.empty, torch.futures.Future[torch.Tensor]):
        raise ValueError("Communication hook: return annotation should be torch.futures.Future[torch.Tensor].")


@dataclass
class _MixedPrecision:
    """The dtypes of parameters and inputs in the forward pass, of the reduction of gradients, and of buffers.

    Parameters, their gradients and ``state_dict`` keep the dtype that they have.
    """

    param_dtype: Any = None
    reduce_dtype: Any = None
    buffer_dtype: Any = None


def use_dtypes(wrapper: Any, policy: _MixedPrecision) -> None:
    """Convert a wrapped module's buffers, and let gradients be reduced in the dtype that is asked for."""
    from .algorithms.ddp_comm_hooks.default_hooks import _compress_hook

    for module in wrapper.module.modules():
        for name, buffer in module._buffers.items():
            if buffer is not None and policy.buffer_dtype is not None and buffer.is_floating_point():
                module._buffers[name] = buffer.to(policy.buffer_dtype)
    dtype = policy.reduce_dtype or policy.param_dtype
    if dtype not in (None, wrapper._module_parameters[0].dtype):
        hook: Any = partial(_compress_hook, dtype)
        hook.communicates_once = True
        wrapper.reducer.register_hook(wrapper.process_group, hook, str(dtype))


def call_in_dtype(module: Any, dtype: Any, args: Any, kwargs: Any) -> Any:
    """Call a module with its parameters and its inputs in another dtype; gradients are those of the parameters."""
    cast = lambda t: t.to(dtype) if torch.is_tensor(t) and t.is_floating_point() and dtype is not None else t
    places = [(m, name, p) for m in module.modules() for name, p in m._parameters.items() if p is not None]
    converted = {id(p): cast(p) for _, _, p in places}
    args, kwargs = tree_map(cast, (args, kwargs))
    try:
        for inner, name, p in places:
            inner._parameters[name] = converted[id(p)]
        return module(*args, **kwargs)
    finally:
        for inner, name, p in places:
            inner._parameters[name] = p
