"""Modules as functions of their parameters (``functional_call``, ``stack_module_state``), and ``debug_unwrap``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .._base.registry import PUBLIC
from .._payloads.transforms import Transformed
from .._tape.tensor import Tensor, wrap

Dicts = dict[str, Tensor] | Sequence[dict[str, Tensor]]


def functional_call(
    module: Any,
    parameter_and_buffer_dicts: Dicts,
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """Call a module with other tensors in place of some of its parameters and buffers.

    The tensors are given by the module's names, in one dict or in several without common names. ``args`` is the tuple
    of arguments, or a single argument. ``tie_weights``: a tensor that the module has under several names is replaced
    under all of them. ``strict``: the names must be exactly the module's.

    >>> import wengert as torch
    >>> layer = torch.nn.Linear(2, 1)
    >>> values = {"weight": torch.tensor([[1., 2.]]), "bias": torch.tensor([3.])}
    >>> torch.func.functional_call(layer, values, torch.tensor([10., 20.]))
    tensor([53.])
    """
    from ..nn.utils.stateless import _functional_call

    given = _joined(parameter_and_buffer_dicts)
    return _functional_call(module, given, args, kwargs, tie_weights=tie_weights, strict=strict)


def _joined(dicts: Any) -> dict[str, Tensor]:
    """Merge the dicts. A single dict is returned itself, since the caller sees what the call writes to it."""
    if isinstance(dicts, dict):
        return dicts
    if not isinstance(dicts, Sequence):
        raise ValueError(
            f"Expected parameter_and_buffer_dicts to be a dict, or a list/tuple of dicts, but got {type(dicts)}"
        )
    if not all(isinstance(d, dict) for d in dicts):
        raise ValueError("Expected all elements of parameter_and_buffer_dicts to be dictionaries")
    counts: dict[str, int] = {}
    for name in (name for d in dicts for name in d):
        counts[name] = counts.get(name, 0) + 1
    repeated = [name for name, count in counts.items() if count > 1]
    if repeated:
        raise ValueError(f"{repeated} appeared in multiple dictionaries; behavior of functional call is ambiguous")
    return {name: tensor for d in dicts for name, tensor in d.items()}


def stack_module_state(models: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """The parameters and buffers of several modules of one class, stacked by name: an ensemble for ``vmap``.

    The stacked parameters are new leaves, which can be passed to an optimizer.

    >>> import wengert as torch
    >>> models = [torch.nn.Linear(3, 2) for _ in range(4)]
    >>> params, buffers = torch.func.stack_module_state(models)
    >>> call = lambda p, b, x: torch.func.functional_call(models[0], (p, b), x)
    >>> torch.vmap(call, (0, 0, None))(params, buffers, torch.ones(5, 3)).shape
    torch.Size([4, 5, 2])
    """
    if len(models) == 0:
        raise RuntimeError("stack_module_state: Expected at least one model, got 0.")
    if len({bool(m.training) for m in models}) > 1:
        raise RuntimeError("stack_module_state: Expected all models to have the same training/eval mode.")
    if len({type(m) for m in models}) > 1:
        raise RuntimeError("stack_module_state: Expected all models to be of the same class.")
    return (_stacked([dict(m.named_parameters()) for m in models]), _stacked([dict(m.named_buffers()) for m in models]))


def _stacked(states: list[dict[str, Any]]) -> dict[str, Any]:
    stack = PUBLIC["torch"]["stack"]
    result: dict[str, Any] = {}
    for name in states[0]:
        tensors = [state[name] for state in states]
        needs = {t.requires_grad for t in tensors}
        if len(needs) > 1:
            raise RuntimeError(f"Expected {name} from each model to have the same .requires_grad")
        stacked = stack(tensors, 0)
        result[name] = stacked.detach().requires_grad_() if needs == {True} else stacked
    return result


def replace_all_batch_norm_modules_(root: Any) -> Any:
    """Remove the running statistics of every batch normalization in ``root``, for ``vmap``; return ``root``.

    >>> import wengert as torch
    >>> net = torch.nn.Sequential(torch.nn.BatchNorm1d(3))
    >>> torch.func.replace_all_batch_norm_modules_(net)[0].running_mean is None
    True
    """
    from ..nn.modules.batchnorm import _BatchNorm

    for module in root.modules():
        if isinstance(module, _BatchNorm) and module.track_running_stats:
            module.running_mean = module.running_var = module.num_batches_tracked = None
            module.track_running_stats = False
    return root


def functionalize(func: Callable[..., Any], *, remove: str = "mutations") -> Callable[..., Any]:
    """A function that returns what ``func`` returns and writes to the same arguments.

    In PyTorch it removes the writes in place from traced graphs. wengert does not trace, so it is ``func`` itself.
    """
    if remove not in ("mutations", "mutations_and_views"):
        raise RuntimeError(
            f"functionalize(f, remove='mutations'): received invalid argument for remove={remove}. Valid options are:\n"
            "     remove='mutations': all inplace and out= operators will be removed from the program, and replaced "
            "with their out-of-place equivalents.\n"
            "     remove='mutations_and_views': In addition to the above, all aliasing operators {view} will be "
            "replaced with their non-aliasing counterparts, {view}_copy.\n"
        )
    return func


def debug_unwrap(tensor: Tensor, *, recurse: bool = True) -> Tensor:
    """The value inside a tensor of ``vmap`` (the whole batch) or forward mode (the primal), for debugging only.

    ``recurse``: unwrap all levels, not only the innermost. Other tensors are returned unchanged.

    >>> import wengert as torch
    >>> def f(x):
    ...     print(torch.func.debug_unwrap(x).shape)
    ...     return x
    >>> _ = torch.vmap(f)(torch.ones(3, 2))
    torch.Size([3, 2])
    """
    if not isinstance(tensor, Tensor):
        raise TypeError(f"debug_unwrap(): argument 'tensor' must be Tensor, not {type(tensor).__name__}")
    inner = _inside(tensor)
    while recurse and inner is not None:
        tensor, inner = inner, _inside(inner)
    return tensor if inner is None else inner


def _inside(t: Tensor) -> Tensor | None:
    a = t._payload
    inner = a.v if isinstance(a, Transformed) else a
    return inner if isinstance(inner, Tensor) else None if inner is a else wrap(inner)
