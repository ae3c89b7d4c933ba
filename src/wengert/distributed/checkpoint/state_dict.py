"""``torch.distributed.checkpoint.state_dict``: states of models and optimizers by the names of parameters.

The names are those of the model itself, without what wrappers such as ``DistributedDataParallel`` add.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any

import wengert as torch
from wengert import distributed as dist

from ..tensor import DTensor, distribute_tensor

__all__ = [
    "StateDictOptions", "get_model_state_dict", "get_optimizer_state_dict", "get_state_dict", "set_model_state_dict",
    "set_optimizer_state_dict", "set_state_dict",
]  # fmt: skip


@dataclasses.dataclass
class StateDictOptions:
    """Options of state dicts.

    ``strict``: as in ``load_state_dict``. ``ignore_frozen_params``: leave out parameters that do not require grad.
    ``full_state_dict``: parameters on "meta" are replaced by the loaded tensors, not written; with ``cpu_offload``
    rank 0 alone gets states. ``broadcast_from_rank0``: rank 0 gives the states to be loaded.
    ``flatten_optimizer_state_dict``: one level of names such as ``state.0.weight.step``.
    """

    full_state_dict: bool = False
    cpu_offload: bool = False
    ignore_frozen_params: bool = False
    keep_submodule_prefixes: bool = True
    strict: bool = True
    broadcast_from_rank0: bool = False
    flatten_optimizer_state_dict: bool = False
    dsd_fqn_modifiers: str = "_fqn_modifiers"


def _own_name(model: Any, name: str) -> str:
    """A name in the model's state, without wrappers."""
    parts, at = [], model
    wrapper = torch.nn.parallel.DistributedDataParallel
    for part in name.split("."):
        if not (part == "_orig_mod" or (part == "module" and isinstance(at, (wrapper, torch.nn.DataParallel)))):
            parts.append(part)
        at = getattr(at, part, None)
    return ".".join(parts)


def _wanted(options: StateDictOptions) -> bool:
    """Whether this process gets states."""
    alone = options.full_state_dict and options.cpu_offload and dist.is_initialized()
    return not alone or dist.get_rank() == 0


def _told(state: Any, options: StateDictOptions) -> Any:
    """The state as the options want it: tensors in parts are made whole, which all processes take part in."""
    if options.full_state_dict:
        state = _mapped(lambda t: t.full_tensor().detach() if isinstance(t, DTensor) else t, state)
    return state if _wanted(options) else {}


def _mapped(fn: Any, state: Any) -> Any:
    if isinstance(state, dict):
        return type(state)((key, _mapped(fn, value)) for key, value in state.items())
    return [_mapped(fn, value) for value in state] if type(state) is list else fn(state)


def _as_part(value: Any, there: Any) -> Any:
    """A whole tensor in the parts of the one that it replaces."""
    if not isinstance(there, DTensor) or isinstance(value, DTensor) or not torch.is_tensor(value):
        return value
    if value.shape != there.shape:
        return value
    return distribute_tensor(value, there.device_mesh, there.placements, src_data_rank=None)


def _given(state: Any, options: StateDictOptions) -> Any:
    """The state to be loaded: that of rank 0, if that is asked for."""
    if not (options.broadcast_from_rank0 and dist.is_initialized()):
        return state
    box = [state if dist.get_rank() == 0 else None]
    dist.broadcast_object_list(box, src=0)
    return box[0]


def get_model_state_dict(
    model: Any, *, submodules: Any = None, options: StateDictOptions | None = None
) -> dict[str, Any]:
    """``model.state_dict()`` by the model's own names, without what the options leave out.

    >>> import wengert as torch
    >>> from wengert.distributed.checkpoint.state_dict import get_model_state_dict
    >>> list(get_model_state_dict(torch.nn.DataParallel(torch.nn.Linear(2, 1))))
    ['weight', 'bias']
    """
    if submodules is not None:
        raise NotImplementedError("get_model_state_dict: take the state_dict() of the submodules instead")
    options = options or StateDictOptions()
    state = model.state_dict()
    if options.ignore_frozen_params:
        frozen = {name for name, p in model.named_parameters() if not p.requires_grad}
        state = {name: value for name, value in state.items() if name not in frozen}
    state = type(state)((_own_name(model, name), value) for name, value in state.items())
    return _told(state, options)


def set_model_state_dict(model: Any, model_state_dict: Any, *, options: StateDictOptions | None = None) -> Any:
    """Load a state by the model's own names; return what ``load_state_dict`` returns.

    >>> import wengert as torch
    >>> from wengert.distributed.checkpoint.state_dict import StateDictOptions, set_model_state_dict
    >>> with torch.device("meta"):
    ...     model = torch.nn.Linear(2, 1)
    >>> whole = StateDictOptions(full_state_dict=True)
    >>> set_model_state_dict(model, torch.nn.Linear(2, 1).state_dict(), options=whole)
    <All keys matched successfully>
    >>> model.weight.device
    device(type='cpu')
    """
    options = options or StateDictOptions()
    there = model.state_dict()
    inside = {_own_name(model, name): name for name in there}
    state = {inside.get(name, name): value for name, value in _given(model_state_dict, options).items()}
    state = {name: _as_part(value, there.get(name)) for name, value in state.items()}
    assign = options.full_state_dict and any(t.is_meta for t in there.values() if torch.is_tensor(t) and t.dim())
    return model.load_state_dict(state, strict=options.strict, assign=assign)


# ---- optimizers
def _listed(optimizers: Any) -> tuple[Any, ...]:
    return (optimizers,) if isinstance(optimizers, torch.optim.Optimizer) else tuple(optimizers)


def _names_by_place(model: Any, optimizer: Any) -> list[str]:
    """The name of each parameter of an optimizer, in its order."""
    names = {id(p): _own_name(model, name) for name, p in model.named_parameters(remove_duplicate=False)}
    return [names[id(p)] for group in optimizer.param_groups for p in group["params"]]


def _make_state(optimizer: Any) -> None:
    """Let an optimizer that has made no step make its state: a step with gradients and learning rates of 0."""
    parameters = [p for group in optimizer.param_groups for p in group["params"]]
    if optimizer.state or any(p.grad is not None for p in parameters):
        return
    for p in parameters:
        if p.requires_grad:
            p.grad = torch.zeros_like(p)
    rates = [group.get("lr") for group in optimizer.param_groups]
    for group, rate in zip(optimizer.param_groups, rates, strict=True):
        if rate is not None:
            group["lr"] = torch.tensor(0.0) if isinstance(rate, torch.Tensor) else 0.0
    optimizer.step(closure=None)
    for group, rate in zip(optimizer.param_groups, rates, strict=True):
        if rate is not None:
            group["lr"] = rate
    optimizer.zero_grad(set_to_none=True)


_init_optim_state = _make_state  # its name in PyTorch, which programs import


def get_optimizer_state_dict(
    model: Any, optimizers: Any, *, submodules: Any = None, options: StateDictOptions | None = None
) -> dict[str, Any]:
    """The state of one or several optimizers by the names of parameters: ``state`` and ``param_groups``.

    >>> import wengert as torch
    >>> from wengert.distributed.checkpoint.state_dict import get_optimizer_state_dict
    >>> model = torch.nn.Linear(2, 1)
    >>> state = get_optimizer_state_dict(model, torch.optim.Adam(model.parameters()))
    >>> list(state["state"]), state["param_groups"][0]["params"]
    (['weight', 'bias'], ['weight', 'bias'])
    """
    options = options or StateDictOptions()
    whole: dict[str, Any] = {"state": {}, "param_groups": []}
    for optimizer in _listed(optimizers):
        _make_state(optimizer)
        names, state = _names_by_place(model, optimizer), optimizer.state_dict()
        whole["state"].update({names[place]: value for place, value in state["state"].items()})
        for group in state["param_groups"]:
            whole["param_groups"].append({**group, "params": [names[place] for place in group["params"]]})
    return _told(_flat(whole) if options.flatten_optimizer_state_dict else whole, options)


def _flat(state: dict[str, Any]) -> dict[str, Any]:
    flat = {f"state.{name}.{key}": value for name, values in state["state"].items() for key, value in values.items()}
    for group in state["param_groups"]:
        for name in group["params"]:
            flat.update({f"param_groups.{name}.{key}": value for key, value in group.items() if key != "params"})
    return flat


def set_optimizer_state_dict(
    model: Any, optimizers: Any, optim_state_dict: Any, *, options: StateDictOptions | None = None
) -> None:
    """Load the state of one or several optimizers by the names of parameters, as ``get_optimizer_state_dict`` gives it.

    Raises:
        ValueError: the groups are of another number.
        RuntimeError: a parameter is missing.
    """
    options = options or StateDictOptions()
    state = _given(optim_state_dict, options)
    for optimizer in _listed(optimizers):
        _make_state(optimizer)
        names, current = _names_by_place(model, optimizer), optimizer.state_dict()
        if "param_groups" in state:
            values, groups = state["state"], _groups_for(state["param_groups"], names, current["param_groups"])
        else:
            values = {name: _below(state, f"state.{name}.") for name in names}
            groups = [_below(state, f"param_groups.{names[g['params'][0]]}.") if g["params"] else {}
                      for g in current["param_groups"]]  # fmt: skip
        loaded = {}
        for place in current["state"]:
            if not values.get(names[place]):
                if options.strict:
                    raise RuntimeError(f"Missing optimizer state of the parameter {names[place]}")
                continue
            there = current["state"][place]
            loaded[place] = {key: _as_part(value, there.get(key)) for key, value in values[names[place]].items()}
        merged = [{**old, **new, "params": old["params"]} for old, new in
                  zip(current["param_groups"], groups, strict=True)]  # fmt: skip
        optimizer.load_state_dict({"state": loaded, "param_groups": merged})


def _below(state: dict[str, Any], prefix: str) -> dict[str, Any]:
    return {name[len(prefix) :]: value for name, value in state.items() if name.startswith(prefix)}


def _groups_for(saved: list[dict[str, Any]], names: list[str], current: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The saved group of each group: that with its first parameter."""
    found = []
    for group in current:
        wanted = {names[place] for place in group["params"]}
        same = [other for other in saved if wanted & set(other["params"]) or not wanted]
        if not same:
            raise ValueError("loaded state dict has a different number of parameter groups")
        found.append(same[0])
    return found


def get_state_dict(
    model: Any, optimizers: Any, *, submodules: Any = None, options: StateDictOptions | None = None
) -> tuple[dict[str, Any], dict[str, Any]]:
    """``get_model_state_dict`` and ``get_optimizer_state_dict``."""
    return (
        get_model_state_dict(model, submodules=submodules, options=options),
        get_optimizer_state_dict(model, optimizers, options=options),
    )


def set_state_dict(
    model: Any,
    optimizers: Iterable[Any] | Any,
    *,
    model_state_dict: dict[str, Any],
    optim_state_dict: dict[str, Any],
    options: StateDictOptions | None = None,
) -> Any:
    """``set_optimizer_state_dict``, then ``set_model_state_dict``, whose result is returned."""
    set_optimizer_state_dict(model, optimizers, optim_state_dict, options=options)
    return set_model_state_dict(model, model_state_dict, options=options)
