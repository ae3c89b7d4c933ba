"""The names that a checkpoint may use, the functions that it may call, and the checks before a call.

``KNOWN`` has the names in PyTorch's files. ``CALLS`` has, for each function that may be called, a version that checks
its arguments and charges for its work (``budget``); none calls objects of the file. Errors name the types of what is
wrong and never show it: the text of a tuple that holds the one below twice, 60 levels deep, does not end.
"""

from __future__ import annotations

import math
import pickle
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from .._base import dtypes
from .._base.constants import Size, device
from .._tape.tensor import Tensor
from .._tensor_api.copying import MAX_DIMS, whole_numbers
from .._tensor_api.legacy_types import TYPES
from .._tensor_api.storage import TypedStorage, UntypedStorage, _Storage
from ..nn.parameter import Parameter
from . import rebuilding
from .budget import DICT, FIRST_ITEM, ITEM, LIST, SET, TENSOR, Budget
from .storages import STORAGE_NAMES

UnpicklingError = pickle.UnpicklingError


class StorageType:
    """A storage class in a file, which stands for a dtype."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.dtype = STORAGE_NAMES[name]

    def __repr__(self) -> str:
        return f"StorageType(dtype={self.dtype})"


# ---- calls that are safe
def _encode(budget: Budget, text: Any, encoding: Any) -> bytes:
    if type(text) is not str or type(encoding) is not str or encoding not in ("latin1", "latin-1", "utf-8", "ascii"):
        raise UnpicklingError(f"_codecs.encode: only text into bytes, but got {type(text)}, {type(encoding)}")
    budget.charge(40 + 2 * len(text))
    return text.encode(encoding)


def _bytearray(budget: Budget, data: Any = b"", *encoding: Any) -> bytearray:
    if type(data) is str:
        data = _encode(budget, data, *encoding)
    elif type(data) not in (bytes, bytearray) or encoding:
        raise UnpicklingError(f"bytearray: only of bytes, but got {type(data)}")
    budget.charge(LIST + len(data))
    return bytearray(data)


def _set(budget: Budget, items: Any = ()) -> set[Any]:
    if type(items) not in (list, tuple):
        raise UnpicklingError(f"set: only of a list, but got {type(items)}")
    budget.charge(SET + ITEM * len(items))
    budget.keys(items, items)
    return set(items)


def _frozenset(budget: Budget, items: Any = ()) -> frozenset[Any]:
    return frozenset(_set(budget, items))


def _complex(budget: Budget, real: Any, imag: Any) -> complex:
    if type(real) is not float or type(imag) is not float:
        raise UnpicklingError("complex: only of two floats")
    budget.charge(40)
    return complex(real, imag)


def _counter(budget: Budget, items: Any = None) -> Counter[Any]:
    if items is not None and type(items) is not dict:
        raise UnpicklingError(f"Counter: only of a dict, but got {type(items)}")
    budget.charge(DICT + FIRST_ITEM + ITEM * len(items or ()))
    made: Counter[Any] = Counter()
    budget.keys(made, items or ())  # those of one hash are compared again
    made.update(items or {})
    return made


def _ordered_dict(budget: Budget, items: Any = ()) -> OrderedDict[Any, Any]:
    if type(items) not in (list, tuple):
        raise UnpicklingError("OrderedDict: only of a list of pairs")
    budget.charge(2 * DICT + 4 * ITEM * len(items))
    if not all(type(p) in (list, tuple) and len(p) == 2 for p in items):
        raise UnpicklingError("OrderedDict: only of a list of pairs")
    budget.keys(items, [key for key, _ in items])
    return OrderedDict(items)


def _size(budget: Budget, items: Any = ()) -> Size:
    if type(items) not in (list, tuple) or not all(type(n) is int and -(2**63) <= n < 2**63 for n in items):
        raise UnpicklingError("torch.Size: only of integers")
    budget.charge(LIST + 8 * len(items))
    return Size(items)


def _device(budget: Budget, *args: Any) -> device:
    budget.charge(100)
    if not all(type(a) is int or (type(a) is str and len(a) < 100 and a.isprintable()) for a in args):
        raise UnpicklingError("torch.device: only of a name and a number")
    return device(*args)


def _empty_tensor(kind: Any) -> Callable[..., Tensor]:
    def call(budget: Budget, *args: Any) -> Tensor:
        if args:
            raise UnpicklingError("a tensor's class is called without arguments in a checkpoint")
        budget.charge(TENSOR)
        made: Tensor = kind()
        return made

    return call


def _mark(budget: Budget) -> Any:
    budget.charge(TENSOR)
    return rebuilding._DimRange()


def _parameter(budget: Budget, data: Any = None, requires_grad: Any = True) -> Any:
    budget.charge(TENSOR)
    return rebuilding._rebuild_parameter(data, requires_grad, None)


def _rebuilt(function: Any) -> Callable[..., Any]:
    def call(budget: Budget, *args: Any) -> Any:
        for inner, given in _calls(function, args):
            _charge(budget, inner, given)
            _check_state(inner, given)
        return function(*args)

    return call


def _calls(function: Any, args: tuple[Any, ...]) -> Iterator[tuple[Any, tuple[Any, ...]]]:
    """A call of ``rebuilding``, and the one that it makes with arguments of the file."""
    yield function, args
    if function is rebuilding._rebuild_from_type_v2 and len(args) == 4 and type(args[2]) is tuple:
        if rebuilding.is_rebuilder(args[0]):
            yield args[0], args[2]


def _check_state(function: Any, args: tuple[Any, ...]) -> None:
    """Check the attributes that a call sets: see NOTE [ Attributes ]."""
    if len(args) != 4 or function not in (rebuilding._rebuild_from_type_v2, rebuilding._rebuild_parameter_with_state):
        return
    cls: Any = Parameter if function is rebuilding._rebuild_parameter_with_state else args[1]
    if isinstance(cls, type) and not hasattr(cls, "__setstate__"):  # which a class of the program's may have
        for attributes in rebuilding.parts_of(args[3]):
            for name, value in attributes.items() if isinstance(attributes, dict) else ():
                rebuilding.check_attribute(cls, name, value=value)


def _charge(budget: Budget, function: Any, args: tuple[Any, ...]) -> None:
    """Charge a call of ``rebuilding``: the tensor, the arguments' length, attributes, and the elements it copies."""
    budget.charge(TENSOR + sum(8 * len(a) for a in args if isinstance(a, (list, tuple))))
    for state in args[2:]:
        charge_state(budget, state)
    if function is rebuilding._rebuild_tensor_v2 and args[6:] and isinstance(args[0], _Storage):
        memory = args[0]._array
        budget.copy(min(memory.nbytes, memory.itemsize * _elements(args[2])))
    elif function is rebuilding._rebuild_device_tensor_from_cpu_tensor and isinstance(args[0], Tensor):
        if type(args[1]) is dtypes.dtype and args[0].dtype is not args[1]:
            budget.copy(args[0]._payload.size * args[1].itemsize)
    elif function is rebuilding._rebuild_nested_tensor:
        _looked_at(budget, args[1:])
    elif function is rebuilding._rebuild_njt and len(args) == 1 and type(args[0]) is dict:
        budget.charge(ITEM * len(args[0]))
        _looked_at(budget, map(args[0].get, ("offsets", "lengths")))
    elif function is rebuilding._rebuild_sparse_tensor and len(args) == 2 and type(args[1]) is tuple:
        _looked_at(budget, args[1][:3])


def _looked_at(budget: Budget, values: Iterable[Any]) -> None:
    """Charge the look at all elements of tensors, which takes copies of them."""
    budget.copy(sum(3 * a._payload.nbytes for a in values if isinstance(a, Tensor)))


def charge_state(budget: Budget, state: Any) -> None:
    """Charge the attributes in a state, and their names, each letter of which is looked at."""
    for attributes in rebuilding.parts_of(state):
        if isinstance(attributes, dict):
            budget.charge(2 * ITEM * len(attributes))
            budget.charge(sum(len(name) for name in attributes if type(name) is str))


def _elements(size: Any) -> int:
    """The number of elements of a size, as far as it is one."""
    return math.prod(whole_numbers(size, "sizes")[:MAX_DIMS])


CALLS: dict[Any, Callable[..., Any]] = {
    OrderedDict: _ordered_dict,
    Counter: _counter,
    Parameter: _parameter,
    rebuilding._DimRange: _mark,
    Size: _size,
    **{kind: _empty_tensor(kind) for kind in (Tensor, *TYPES.values())},
    device: _device,
    _encode: _encode,
    bytearray: _bytearray,
    set: _set,
    frozenset: _frozenset,
    complex: _complex,
    **{f: _rebuilt(f) for f in (*rebuilding.REBUILDERS, *rebuilding.OTHERS)},
}
"""The functions that a checkpoint may call, and what is called instead, with the budget and the arguments."""


_REFUSED = (
    *(f"torch._utils.{name}" for name in rebuilding.REFUSED),
    *(f"torch.{name}Storage" for name in ("QInt8", "QUInt8", "QInt32", "QUInt4x2", "QUInt2x4")),
)


def _known_names() -> dict[str, Any]:
    names: dict[str, Any] = {
        "collections.OrderedDict": OrderedDict, "collections.Counter": Counter,
        "torch.nn.parameter.Parameter": Parameter, "torch.serialization._get_layout": rebuilding._get_layout,
        "torch.Size": Size, "torch.Tensor": Tensor, "torch.device": device,
        "torch.storage.UntypedStorage": UntypedStorage, "torch.storage.TypedStorage": TypedStorage,
        "torch._tensor._rebuild_from_type_v2": rebuilding._rebuild_from_type_v2, "_codecs.encode": _encode,
        "builtins.bytearray": bytearray, "builtins.set": set, "builtins.frozenset": frozenset,
        "builtins.complex": complex,
    }  # fmt: skip
    names |= {f"torch.{name}": StorageType(name) for name in STORAGE_NAMES}
    names |= {str(kind): kind for kind in dtypes.DTYPES.values()}
    names |= {f"torch.{name}": kind for name, kind in TYPES.items()}
    names |= {f"torch._utils.{f.__name__}": f for f in rebuilding.REBUILDERS}
    names["torch.nested._internal.nested_tensor._rebuild_njt"] = rebuilding._rebuild_njt
    names["torch._dynamo.decorators._DimRange"] = rebuilding._DimRange
    names |= dict.fromkeys(_REFUSED, rebuilding._refuse_kind)
    return names


KNOWN = _known_names()
LATE = frozenset(("torch.nested._internal.nested_tensor.NestedTensor",))  # admitted, and imported where a file has it
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
