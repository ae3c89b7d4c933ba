"""The names that a checkpoint may use, the functions that it may call, and the checks before a call.

``KNOWN`` has the names in PyTorch's files. ``CALLS`` has, for each function that may be called, a version that checks
its arguments: none allocates more memory than its arguments have, and none calls objects of the file. ``cost`` bounds
the work for a file that passes the same long argument to a thousand calls.

NOTE [ Keys ]
A key of a dict is hashed, and CPython hashes tuples by recursion: a tuple nested a million levels deep ends the
process, and one with 60 levels that each hold the level below twice takes years. So keys are checked first
(``check_key``).
"""

from __future__ import annotations

import pickle
from collections import Counter, OrderedDict
from collections.abc import Callable
from typing import Any

from .._arrays.memory import owner_of
from .._base import dtypes
from .._base.constants import Size, device
from .._tape.tensor import Tensor
from .._tensor_api.storage import TypedStorage, UntypedStorage, _Storage
from ..nn.parameter import Parameter
from . import rebuilding
from .storages import STORAGE_NAMES

UnpicklingError = pickle.UnpicklingError
MAX_KEY = 500  # items of a nested key


class StorageType:
    """A storage class in a file, which stands for a dtype."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.dtype = STORAGE_NAMES[name]

    def __repr__(self) -> str:
        return f"StorageType(dtype={self.dtype})"


# ----------------------------------------------------------------------------------------------- calls that are safe
def _encode(text: Any, encoding: Any) -> bytes:
    if not isinstance(text, str) or encoding not in ("latin1", "latin-1", "utf-8", "ascii"):
        raise UnpicklingError(f"_codecs.encode: only text into bytes, but got {type(text)}, {encoding!r}")
    return text.encode(encoding)


def _bytearray(*args: Any) -> bytearray:
    if args and not isinstance(args[0], (bytes, str)):
        raise UnpicklingError(f"bytearray: only of bytes, but got {type(args[0])}")
    return bytearray(_encode(*args)) if args and isinstance(args[0], str) else bytearray(*args)


def _set(items: Any = ()) -> set[Any]:
    if not isinstance(items, (list, tuple)):
        raise UnpicklingError(f"set: only of a list, but got {type(items)}")
    for item in items:
        check_key(item)
    return set(items)


def _complex(real: Any, imag: Any) -> complex:
    if type(real) is not float or type(imag) is not float:
        raise UnpicklingError("complex: only of two floats")
    return complex(real, imag)


def _counter(items: Any = None) -> Counter[Any]:
    if items is not None and type(items) is not dict:
        raise UnpicklingError(f"Counter: only of a dict, but got {type(items)}")
    return Counter(items or {})


def _pairs(items: Any) -> list[tuple[Any, Any]]:
    if not isinstance(items, (list, tuple)) or not all(isinstance(p, (list, tuple)) and len(p) == 2 for p in items):
        raise UnpicklingError("OrderedDict: only of a list of pairs")
    for key, _ in items:
        check_key(key)
    return [(key, value) for key, value in items]


def _size(items: Any = ()) -> Size:
    if not isinstance(items, (list, tuple)) or not all(type(n) is int for n in items):
        raise UnpicklingError("torch.Size: only of integers")
    return Size(items)


def _device(*args: Any) -> device:
    if not all(type(a) in (str, int) for a in args):
        raise UnpicklingError("torch.device: only of a name and a number")
    return device(*args)


def _empty_tensor(*args: Any) -> Tensor:
    if args:
        raise UnpicklingError("a tensor's class is called without arguments in a checkpoint")
    return Tensor()


CALLS: dict[Any, Callable[..., Any]] = {
    OrderedDict: lambda items=(): OrderedDict(_pairs(items)),
    Counter: _counter,
    Parameter: lambda data=None, requires_grad=True: rebuilding._rebuild_parameter(data, requires_grad, None),
    Size: _size,
    Tensor: _empty_tensor,
    device: _device,
    _encode: _encode,
    bytearray: _bytearray,
    set: _set,
    frozenset: lambda items=(): frozenset(_set(items)),
    complex: _complex,
    rebuilding._get_layout: rebuilding._get_layout,
    rebuilding._rebuild_from_type_v2: rebuilding._rebuild_from_type_v2,
    rebuilding._refuse_kind: rebuilding._refuse_kind,
    **{function: function for function in rebuilding.REBUILDERS},
}
"""The functions that a checkpoint may call, and the versions with checked arguments that are called instead."""


def _known_names() -> dict[str, Any]:
    names: dict[str, Any] = {
        "collections.OrderedDict": OrderedDict,
        "collections.Counter": Counter,
        "torch.nn.parameter.Parameter": Parameter,
        "torch.serialization._get_layout": rebuilding._get_layout,
        "torch.Size": Size,
        "torch.Tensor": Tensor,
        "torch.device": device,
        "torch.storage.UntypedStorage": UntypedStorage,
        "torch.storage.TypedStorage": TypedStorage,
        "torch._tensor._rebuild_from_type_v2": rebuilding._rebuild_from_type_v2,
        "_codecs.encode": _encode,
        "builtins.bytearray": bytearray,
        "builtins.set": set,
        "builtins.frozenset": frozenset,
        "builtins.complex": complex,
    }
    names |= {f"torch.{name}": StorageType(name) for name in STORAGE_NAMES}
    names |= {f"torch.{name}": kind for name, kind in dtypes.DTYPES.items()}
    names |= {f"torch.{name.replace('Storage', 'Tensor')}": Tensor for name in STORAGE_NAMES}
    names |= {f"torch._utils.{f.__name__}": f for f in rebuilding.REBUILDERS}
    names |= {f"torch._utils.{n}": rebuilding._refuse_kind for n in rebuilding.REFUSED}
    return names


KNOWN = _known_names()
safe: set[Any] = set()  # the objects that the program has allowed: classes, functions, or (object, name) pairs


def allowed_by_user() -> dict[str, Any]:
    """The objects that ``add_safe_globals`` has allowed, by the name in files."""
    found: dict[str, Any] = {}
    for entry in safe:
        if isinstance(entry, tuple):
            if len(entry) != 2:
                raise ValueError(
                    "Expected tuple of length 2 (global, str of callable full path), but got tuple of length: "
                    f"{len(entry)}"
                )
            if not isinstance(entry[1], str):
                raise TypeError(f"Expected second item in tuple to be str of callable full path, but got: {entry[1]}")
            found[entry[1]] = entry[0]
            continue
        name = f"{entry.__module__}.{entry.__qualname__}"
        found[name] = entry
        package, dot, rest = name.partition(".")
        if package == "wengert":
            found[f"torch{dot}{rest}"] = entry
    return found


def check_key(key: Any) -> None:
    """See NOTE [ Keys ]."""
    if type(key) is not tuple:
        return
    waiting, seen = [(key, 1)], 0
    while waiting:
        items, depth = waiting.pop()
        seen += len(items)
        if seen > MAX_KEY or depth > 100:
            raise UnpicklingError("a key is nested too deep or too large")
        waiting.extend((item, depth + 1) for item in items if isinstance(item, (tuple, frozenset)))


_COPYING = (
    rebuilding._rebuild_tensor_v3,
    rebuilding._rebuild_device_tensor_from_cpu_tensor,
    rebuilding._rebuild_sparse_tensor,
)


def cost(function: Any, args: tuple[Any, ...]) -> int:
    """The approximate number of bytes that a call may copy: the size of its arguments, with their memory if used."""
    total = sum(len(a) for a in args if isinstance(a, (str, bytes, bytearray)))
    total += sum(8 * len(a) for a in args if isinstance(a, (list, tuple, dict, set)))
    if function in _COPYING or (function is rebuilding._rebuild_tensor_v2 and args[6:]):
        inner = [*args, *(i for a in args if type(a) is tuple for i in a)]
        total += sum(a._array.nbytes for a in inner if isinstance(a, _Storage))
        total += sum(min(a._payload.nbytes, owner_of(a._payload).nbytes) for a in inner if isinstance(a, Tensor))
    return total
