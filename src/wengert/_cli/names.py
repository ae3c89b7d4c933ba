"""PyTorch's names in `__module__` and `__name__`, for programs under `python -m wengert run`.

`repr(nn.Linear)`, `torch.nn.__name__`, `type(x.shape).__module__` and pickles are made from these attributes. So `run`
gives the classes and functions of every module of wengert PyTorch's names when the module is loaded. Outside `run`
they keep their own names: without the alias, pickle could not find them under PyTorch's.
"""

from __future__ import annotations

import sys
from importlib.machinery import ModuleSpec, PathFinder
from types import FunctionType
from typing import Any

from wengert._base.late_names import LateModule
from wengert._base.registry import PUBLIC
from wengert._cli.children import changing
from wengert._tensor_api.publish import LATE_FORMER

# PyTorch's modules for objects of private modules of wengert (see `FORMER` in `_tensor_api.publish`).
_HOMES = {
    "cuda": {"AcceleratorError": "", "OutOfMemoryError": ""},
    "_constants": {"Size": "", "device": "", "layout": "", "memory_format": ""},
    "_construct": {"as_tensor": "", "from_numpy": "", "tensor": ""},
    "_dtypes": {"dtype": ""},
    "_grad_mode": dict.fromkeys(
        ("enable_grad", "inference_mode", "no_grad", "set_grad_enabled"), ".autograd.grad_mode"
    ),
    "_graph": {"backward": ".autograd", "grad": ".autograd"},
    "_limits": {"finfo": "", "iinfo": ""},
    "_node": {"Node": ".autograd.graph", "RemovableHandle": ".utils.hooks"},
    "nn.modules.attention": {"MultiheadAttention": ".nn.modules.activation"},
    "_storage": {"TypedStorage": ".storage", "UntypedStorage": ".storage"},
}

_changed: list[tuple[Any, str, str]] = []  # object, attribute, former value


def show_pytorchs_names() -> None:
    """Rename the modules that are loaded; `rename` is called for each module that is loaded later."""
    for name, module in list(sys.modules.items()):
        if name.startswith("wengert."):
            rename(module, name)
    wengert: Any = sys.modules["wengert"]
    _set(wengert, "__name__", "torch")  # programs that take dotted names apart compare it
    for space, members in PUBLIC.items():
        if space != "Tensor":
            shown = "torch" if space == "torch" else f"torch.{space}"
            _rename_members(members, shown.replace("torch", "wengert", 1), shown)
    _set(wengert.Tensor, "__module__", "torch")  # by which opt_einsum and others recognise the library of an array


def show_own_names() -> None:
    """Undo it."""
    while _changed:
        owner, attribute, old = _changed.pop()
        _write(owner, attribute, old)


def spec_that_renames(fullname: str, path: Any) -> ModuleSpec | None:
    """The spec of a module of wengert, with a loader that renames it once it is loaded."""
    return changing(PathFinder.find_spec(fullname, path), rename)


def rename(module: Any, name: str = "") -> None:
    """Give PyTorch's names to a module and its definitions; ``name`` is the name of the import."""
    name = name or getattr(module, "__name__", "")
    if not name.startswith("wengert.") or name.startswith(("wengert._cli", "wengert.ops", "wengert._arrays")):
        return
    inner = name.removeprefix("wengert.")
    if inner != "_C":  # by which programs recognise an official build of PyTorch
        sys.modules.setdefault(f"torch.{inner}", module)
    if isinstance(module, LateModule):
        return  # its members are renamed when they are there
    for former, home in LATE_FORMER.items():
        if inner == home:
            rename(module, f"wengert.{former}")
    for key, home in _HOMES.get(inner, {}).items():
        if hasattr(module, key):
            _set(getattr(module, key), "__module__", f"torch{home}")
    if not inner.startswith("_"):
        _set(module, "__name__", f"torch.{inner}")
    _rename_members(vars(module), name, f"torch.{inner}")


def _rename_members(members: dict[str, Any], name: str, shown: str) -> None:
    for value in list(members.values()):
        if isinstance(value, (type, FunctionType)):
            module = value.__module__ or ""
            if module == name or module.startswith(name + "."):
                _set(value, "__module__", shown + module.removeprefix(name))


def _set(owner: Any, attribute: str, value: str) -> None:
    _changed.append((owner, attribute, getattr(owner, attribute)))
    _write(owner, attribute, value)


def _write(owner: Any, attribute: str, value: str) -> None:
    line = vars(owner).get("__firstlineno__")
    setattr(owner, attribute, value)
    if line is not None:  # Python 3.13 and newer delete it when `__module__` is set, and inspect.getsource needs it
        owner.__firstlineno__ = line
