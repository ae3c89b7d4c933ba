"""``torch.distributed.checkpoint.state_dict``: complete state dicts of models, in one process."""

from __future__ import annotations

import dataclasses
from typing import Any

__all__ = ["StateDictOptions", "get_model_state_dict", "set_model_state_dict"]


@dataclasses.dataclass
class StateDictOptions:
    """Options of state dicts. Options for several processes are stored but have no effect.

    ``strict``: as in ``load_state_dict``. ``ignore_frozen_params``: leave out parameters that do not require grad.
    ``full_state_dict``: parameters on "meta" are replaced by the loaded tensors, not written.
    """

    full_state_dict: bool = False
    cpu_offload: bool = False
    ignore_frozen_params: bool = False
    keep_submodule_prefixes: bool = True
    strict: bool = True
    broadcast_from_rank0: bool = False
    flatten_optimizer_state_dict: bool = False
    dsd_fqn_modifiers: str = "_fqn_modifiers"


def get_model_state_dict(
    model: Any, *, submodules: Any = None, options: StateDictOptions | None = None
) -> dict[str, Any]:
    """``model.state_dict()``, without what the options leave out.

    >>> import wengert as torch
    >>> from wengert.distributed.checkpoint.state_dict import get_model_state_dict
    >>> list(get_model_state_dict(torch.nn.Linear(2, 1)))
    ['weight', 'bias']
    """
    if submodules is not None:
        raise NotImplementedError("get_model_state_dict: take the state_dict() of the submodules instead")
    state = model.state_dict()
    if options is not None and options.ignore_frozen_params:
        frozen = {name for name, p in model.named_parameters() if not p.requires_grad}
        state = {name: value for name, value in state.items() if name not in frozen}
    return state  # type: ignore[no-any-return]


def set_model_state_dict(model: Any, model_state_dict: Any, *, options: StateDictOptions | None = None) -> Any:
    """Return ``model.load_state_dict(model_state_dict)``.

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
    assign = options.full_state_dict and any(t.is_meta for t in model.state_dict().values() if t.dim())
    return model.load_state_dict(model_state_dict, strict=options.strict, assign=assign)
