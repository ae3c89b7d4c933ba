"""The tensors of a module by their names, as libraries swap them: the same answers and errors as PyTorch's."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest

import wengert

PATHS = ("l.bias", "b.running_mean", "t", "n", "x", "q", "l", "a.b", "none", ".t", "")
CALLS = {
    "get_tensor": lambda members, path, value: members.get_tensor(path),
    "set_tensor": lambda members, path, value: members.set_tensor(path, value),
    "swap_tensor": lambda members, path, value: members.swap_tensor(path, value),
    "swap_missing": lambda members, path, value: type(members.swap_tensor(path, value, allow_missing=True)).__name__,
    "swap_number": lambda members, path, value: members.swap_tensor(path, 3),
    "del_tensor": lambda members, path, value: members.del_tensor(path),
    "get_submodule": lambda members, path, value: members.get_submodule(path),
    "swap_submodule": lambda members, path, value: members.swap_submodule(path, type(members.module)()),
    "several": lambda members, path, value: members.swap_tensors(["t", path], [value, value]),
    "unequal": lambda members, path, value: members.set_tensors(["t", path], [value]),
    "all or none": lambda members, path, value: members.swap_tensors_dict({"t": value, path: value})[1],
    "keys": lambda members, path, value: members.check_keys(["l.weight", path]),
}


def module_of(torch: Any) -> Any:
    class Net(torch.nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.l = torch.nn.Linear(2, 2)
            self.b = torch.nn.BatchNorm1d(2)
            self.t, self.n, self.x = torch.ones(1), 3, None
            self.register_buffer("none", None)
            with torch.no_grad():
                self.l.weight.fill_(0.5)
                self.l.bias.fill_(0.25)

    return Net()


def outcome(torch: Any, call: str, path: str) -> tuple[str, ...]:
    """What a call gives, or its error, and what the module has afterwards."""
    module = module_of(torch)
    members = torch.nn.utils._named_member_accessor.NamedMemberAccessor(module)
    try:
        result = repr(CALLS[call](members, path, torch.zeros(2)))
    except Exception as error:  # noqa: BLE001  to be compared
        result = f"{type(error).__name__}: {error}"
    return (
        result,
        repr(list(module._modules)),
        repr(module.state_dict()),
        repr(getattr(module, "t", "no t")),
        repr(hasattr(module, "q")),
    )


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("call", CALLS)
def test_same_as_pytorch(torch: ModuleType, call: str, path: str) -> None:
    __import__("torch.nn.utils._named_member_accessor")
    __import__("wengert.nn.utils._named_member_accessor")
    assert outcome(wengert, call, path) == outcome(torch, call, path)


def test_a_refused_tensor_leaves_the_module_as_it_was() -> None:
    module = module_of(wengert)
    before = repr(module.state_dict())
    with pytest.raises(TypeError, match="attribute `n`: 3 is not an instance"):
        wengert.func.functional_call(module, {"l.bias": wengert.zeros(2), "n": wengert.zeros(1)}, ())
    assert repr(module.state_dict()) == before and module.n == 3
