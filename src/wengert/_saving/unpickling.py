"""Unpicklers: ``WeightsUnpickler``, which runs no code, and Python's unpickler with PyTorch's names.

``WeightsUnpickler`` interprets only the opcodes that ``torch.save`` writes (``_SAFE``). It knows the names in
``admitted``; the error for another name shows it. It calls only functions that are admitted there or that the program
has allowed by ``add_safe_globals``, sets no attributes of classes or functions, and does not recurse. What it may take
is counted (``budget``). Its errors name types: the text of a file's object may not end.
"""

from __future__ import annotations

import _compat_pickle
import pickle
import struct
from collections import Counter, OrderedDict
from collections.abc import Callable
from types import FunctionType
from typing import Any

from .._base.errors import printable, warn
from .._tape.tensor import Tensor
from ..nn.parameter import Parameter
from . import rebuilding
from .admitted import CALLS, KNOWN, LATE, allowed_by_user, charge_state
from .budget import DICT, FIRST_ITEM, ITEM, LIST, MARK, MEMO, ORDERED_ITEM, SET, STORAGE, TENSOR, Budget
from .pickling import HOME, named_in
from .places import passes_through, restored

UnpicklingError = pickle.UnpicklingError
BLOCKED = ("sys", "os", "posix", "nt")


# ---- the interpreter
class _Bounded:
    """The part of a file that a pickle may read."""

    def __init__(self, file: Any, limit: int) -> None:
        self._file = file
        self._limit = limit
        self.done = 0

    def read(self, size: int) -> bytes:
        """The next bytes, which must be there."""
        self.done += size
        data: bytes = self._file.read(size) if self.done <= self._limit else b""
        if len(data) != size:
            raise UnpicklingError("pickle data was truncated")
        return data

    def readline(self) -> bytes:
        """The next line, of at most 1000 bytes."""
        data: bytes = self._file.readline(1000)
        self.done += len(data)
        if not data.endswith(b"\n"):
            raise UnpicklingError("pickle data was truncated")
        return data


class _Memo(dict[int, Any]):
    def __missing__(self, number: int) -> Any:
        raise IndexError(f"no object has the number {number}")


class _Actions(dict[int, Callable[[Any], None]]):
    """The methods of an unpickler by opcode."""

    def __missing__(self, code: int) -> Any:
        raise UnpicklingError(f"Unsupported operand {code}")


class WeightsUnpickler(pickle._Unpickler):
    """Reads one pickle of tensors and plain containers from a binary file.

    It is Python's unpickler, restricted to the opcodes in ``_SAFE`` and with checked versions of those that look up a
    name, call something, or change an object.

    Args:
        file: the file, positioned at the pickle; nothing is read beyond the pickle's end.
        limit: the number of bytes left in the file.
        persistent_load: called with the id of a storage.
        encoding: the encoding of byte strings that Python 2 wrote; "bytes" keeps them as bytes.
    """

    def __init__(self, file: Any, limit: int, persistent_load: Callable[[Any], Any], encoding: str = "utf-8") -> None:
        bounded = _Bounded(file, limit)
        super().__init__(bounded, encoding=encoding)
        self._empty = not limit
        self._budget = Budget(bounded, max(limit, getattr(persistent_load, "size", 0)))
        self._charge = self._budget.charge
        self._storage = persistent_load
        self._user = allowed_by_user()
        self._user_values = {id(value) for value in self._user.values()}
        self.memo = _Memo()

    def load(self) -> Any:
        """Read and return the object.

        Raises:
            UnpicklingError: the pickle is damaged, or uses something that is not allowed.
            EOFError: the file is empty.
        """
        if self._empty:
            raise EOFError("Ran out of input")
        try:
            return super().load()
        except (IndexError, KeyError, TypeError, ValueError, AttributeError, OverflowError, struct.error) as error:
            if passes_through(error, restored):  # an error of the program's
                raise
            said = " ".join(printable(a, 200) for a in error.args if type(a) is str)
            raise UnpicklingError(f"the pickle is damaged: {type(error).__name__}: {said}") from error

    def load_proto(self) -> None:
        self.proto = self.read(1)[0]
        if self.proto != 2:
            warn(
                f"Detected pickle protocol {self.proto} in the checkpoint, which was not the default pickle protocol "
                "used by `torch.load` (2). The weights_only Unpickler might not support all instructions implemented "
                "by this protocol, please file an issue for adding support if you encounter this."
            )

    # ---- names, calls, state
    def load_global(self) -> None:
        self._push_global(*_in_python_3(*(self.readline()[:-1].decode("utf-8") for _ in range(2))))

    def _push_global(self, module: str, name: str) -> None:
        full = f"{module}.{name}"
        if module in BLOCKED:
            shown = printable(full, 1000)[:1000]  # what is not printable becomes longer
            raise UnpicklingError(f"Trying to load unsupported GLOBAL {shown} whose module {module} is blocked.")
        if full in KNOWN:
            self.stack.append(KNOWN[full])
        elif full in LATE:
            self.stack.append(torch_object(module, name))
        elif full in self._user:
            self.stack.append(self._user[full])
        else:
            shown = printable(full.removeprefix("builtins."), 1000)[:1000]
            raise UnpicklingError(
                f"Unsupported global: GLOBAL {shown} was not an allowed global by default. Please use "
                f"`torch.serialization.add_safe_globals([{shown}])` or the "
                f"`torch.serialization.safe_globals([{shown}])` context manager to allowlist this global if you trust "
                "this class/function."
            )

    def load_reduce(self) -> None:
        args, function = self.stack.pop(), self.stack[-1]
        if type(args) is not tuple:
            raise UnpicklingError(f"Can only call with a tuple of arguments, but got {type(args)}")
        self.stack[-1] = self._called(function, args, "Trying to call reduce for unrecognized function")

    def load_newobj(self) -> None:
        args, cls = self.stack.pop(), self.stack.pop()
        if type(args) is not tuple:
            raise UnpicklingError(f"Can only call with a tuple of arguments, but got {type(args)}")
        if id(cls) in self._user_values and isinstance(cls, type):
            self._charge(TENSOR)
            self.stack.append(cls.__new__(cls, *args))
            return
        refusal = "Can only create new object for nn.Parameter or classes allowlisted via `add_safe_globals` but got"
        self.stack.append(self._called(cls, args, refusal))

    def _called(self, function: Any, args: tuple[Any, ...], refusal: str) -> Any:
        call = CALLS.get(function) if isinstance(function, (type, FunctionType)) else None
        if call is not None:
            return call(self._budget, *args)
        if id(function) in self._user_values:
            self._charge(TENSOR)
            return function(*args)
        raise UnpicklingError(f"{refusal} {_shown(function)}")

    def load_build(self) -> None:
        state, obj = self.stack.pop(), self.stack[-1]
        self._charge(TENSOR)
        if type(obj) is Tensor:
            self._old_tensor(obj, state)
        elif type(obj) is Parameter:
            self._old_parameter(obj, state)
        elif type(obj) is OrderedDict:
            if type(state) is not dict:
                raise UnpicklingError(f"Can only set attributes of an OrderedDict from a dict, but got {type(state)}")
            charge_state(self._budget, state)
            for name in state:
                rebuilding.check_attribute(OrderedDict, name, "_metadata")  # the versions of a state_dict's modules
            obj.__dict__.update(state)
        elif type(obj) is rebuilding._DimRange:
            pass
        elif id(type(obj)) in self._user_values:
            charge_state(self._budget, state)
            _set_state(obj, state)
        else:
            raise UnpicklingError(
                "Can only build Tensor, Parameter, OrderedDict or types allowlisted via `add_safe_globals`, but got "
                f"{type(obj)}"
            )

    @staticmethod
    def _old_tensor(obj: Tensor, state: Any) -> None:
        """The form before PyTorch 0.4: an empty tensor, then ``(storage, offset, size, stride)``.

        It is filled where it is: the file may have referred to it already.
        """
        if type(state) is not tuple or len(state) != 4:
            raise UnpicklingError(f"an old tensor needs four values, but got {type(state)}")
        storage, offset, size, stride = state
        obj.data = rebuilding._rebuild_tensor(storage, offset, size, stride)

    @staticmethod
    def _old_parameter(obj: Any, state: Any) -> None:
        """The form before PyTorch 0.4: ``(data, requires_grad, hooks)``."""
        data, requires_grad = state[:2] if type(state) is tuple and len(state) == 3 else (None, None)
        if not isinstance(data, Tensor):
            raise UnpicklingError(f"a parameter needs a tensor, but got {type(data)}")
        obj.data = data
        obj.requires_grad = requires_grad is True

    def load_binpersid(self) -> None:
        ident = self.stack.pop()
        if type(ident) is not tuple or not ident:
            raise UnpicklingError(f"persistent_load id must be tuple or int, but got {type(ident)}")
        if type(ident[0]) not in (str, bytes) or ident[0] not in ("storage", b"storage"):
            raise UnpicklingError(f"Only persistent_load of storage is allowed, but got {type(ident[0])}")
        self._charge(sum(len(part) for part in ident[:6] if type(part) is bytes))  # which will be decoded
        made = getattr(self._storage, "made", 0)
        self.stack.append(self._storage(ident))
        self._charge(STORAGE * (getattr(self._storage, "made", 0) - made))

    # ---- containers
    def load_mark(self) -> None:
        self._charge(MARK)
        super().load_mark()

    def load_empty_list(self) -> None:
        self._charge(LIST)
        self.stack.append([])

    def load_empty_dictionary(self) -> None:
        self._charge(DICT)
        self.stack.append({})

    def load_empty_set(self) -> None:
        self._charge(SET)
        self.stack.append(set())

    def load_tuple(self) -> None:
        self._append_tuple(self.pop_mark())

    def load_tuple1(self) -> None:
        self._append_tuple([self.stack.pop()])

    def load_tuple2(self) -> None:
        last = self.stack.pop()
        self._append_tuple([self.stack.pop(), last])

    def load_tuple3(self) -> None:
        last, middle = self.stack.pop(), self.stack.pop()
        self._append_tuple([self.stack.pop(), middle, last])

    def _append_tuple(self, items: list[Any]) -> None:
        self._charge(40 + 8 * len(items))
        self.stack.append(tuple(items))

    def load_binput(self) -> None:
        self._put(self.read(1)[0])

    def load_long_binput(self) -> None:
        self._put(int.from_bytes(self.read(4), "little"))

    def _put(self, number: int) -> None:
        self._charge(0 if number in self.memo else MEMO)
        self.memo[number] = self.stack[-1]

    def load_append(self) -> None:
        item = self.stack.pop()
        self._target(list, "append to lists").append(item)

    def load_appends(self) -> None:
        items = self.pop_mark()
        self._charge(8 * len(items))
        self._target(list, "extend lists").extend(items)

    def load_additems(self) -> None:
        items = self.pop_mark()
        target = self._target(set, "add to sets")
        self._charge(ITEM * len(items))
        self._budget.keys(target, items)
        target.update(items)

    def load_setitem(self) -> None:
        value, key = self.stack.pop(), self.stack.pop()
        self._set_items_of([key, value])

    def load_setitems(self) -> None:
        self._set_items_of(self.pop_mark())

    def _set_items_of(self, items: list[Any]) -> None:
        target = self.stack[-1]
        if type(target) not in (dict, OrderedDict, Counter):
            raise UnpicklingError(
                f"Can only SETITEMS for dict, collections.OrderedDict, collections.Counter, but got {type(target)}"
            )
        keys = items[::2]
        item = ORDERED_ITEM if type(target) is OrderedDict else ITEM
        self._charge(item * len(keys) + (0 if target else FIRST_ITEM))
        self._budget.keys(target, keys)
        for key, value in zip(keys, items[1::2], strict=True):
            target[key] = value

    def _target(self, kind: type, what: str) -> Any:
        target = self.stack[-1]
        if type(target) is not kind:
            raise UnpicklingError(f"Can only {what}, but got {type(target)}")
        return target


def _shown(value: Any) -> str:
    """The name of a class or function, and of another value its type."""
    return value.__qualname__ if isinstance(value, (type, FunctionType)) else f"a value of {type(value)}"


def _in_python_3(module: str, name: str) -> tuple[str, str]:
    """The name in Python 3 of a name that Python 2 may have written."""
    module, name = _compat_pickle.NAME_MAPPING.get((module, name), (module, name))
    return _compat_pickle.IMPORT_MAPPING.get(module, module), name


def _set_state(obj: Any, state: Any) -> None:
    """Set the state of an object of an allowed class, as pickle does; a tensor's as far as files may set it."""
    own = getattr(obj, "__setstate__", None)
    if own is not None:
        own(state)
        return
    slots = None
    if isinstance(state, tuple) and len(state) == 2:
        state, slots = state
    for named in (state, slots):
        for name, value in (named or {}).items():
            if isinstance(obj, Tensor):
                rebuilding.check_attribute(type(obj), name, value=value)
            if type(name) is not str or (name[:2] == name[-2:] == "__"):
                raise UnpicklingError(
                    f"an attribute of {type(obj)} cannot be set from a file: its name is Python's own"
                )
    if state:
        obj.__dict__.update(state)
    for name, value in (slots or {}).items():
        setattr(obj, name, value)


_SAFE = (
    "additems append appends binfloat binget binint binint1 binint2 binpersid binput binstring binunicode build "
    "empty_dictionary empty_list empty_set empty_tuple false global long1 long4 long_binget long_binput mark newobj "
    "none proto reduce setitem setitems short_binstring stop true tuple tuple1 tuple2 tuple3"
)
_BY_NAME = {f"load_{name}": getattr(WeightsUnpickler, f"load_{name}") for name in _SAFE.split()}
WeightsUnpickler.dispatch = _Actions(
    (code, _BY_NAME[fn.__name__]) for code, fn in WeightsUnpickler.dispatch.items() if fn.__name__ in _BY_NAME
)


# ---- the unpickler of all
_FROM_HOME = {f"{module}.{name}": obj for obj, (module, name) in HOME.items()}
_MOVED = {"torch.tensor": "torch._tensor", "torch.autograd.variable": "torch.autograd"}


def torch_object(module: str, name: str) -> Any:
    """wengert's object for a name of PyTorch.

    Raises:
        AttributeError: wengert has no such object.
    """
    full = f"{module}.{name}"
    for table in (_FROM_HOME, KNOWN):
        if full in table:
            return table[full]
    package = __package__.partition(".")[0]
    inside = _MOVED.get(module, module).split(".")[1:]
    places = [inside[:depth] for depth in range(len(inside), -1, -1)]  # PyTorch has some names in a submodule
    for place in (*places, ["nn", "functional"], ["linalg"], ["special"]):
        try:
            return named_in(".".join([package, *place]), name)
        except (ImportError, AttributeError):
            continue
    raise AttributeError(f"Can't get attribute {name!r} on module {module!r}: the file needs {full}, wengert lacks it")


def make_unpickler(pickle_module: Any, file: Any, persistent_load: Callable[[Any], Any], **options: Any) -> Any:
    """An unpickler of a module (``pickle`` or similar) that resolves PyTorch's names to wengert's objects.

    It runs any code in the file, so it is only for trusted files.
    """

    def find_class(self: Any, module: str, name: str) -> Any:
        if module == "torch" or module.startswith("torch."):
            return torch_object(module, name)
        return pickle_module.Unpickler.find_class(self, module, name)

    cls = type("TorchUnpickler", (pickle_module.Unpickler,), {"find_class": find_class})
    unpickler = cls(file, **options)
    unpickler.persistent_load = persistent_load
    return unpickler


def globals_in(file: Any) -> set[str]:
    """The names that a pickle uses, found without running it."""
    import pickletools

    names: set[tuple[str, ...]] = set()  # not joined: two long texts may be used again and again
    strings: list[str] = []
    for code, value, _ in pickletools.genops(file):
        if code.name in ("GLOBAL", "INST"):
            names.add(_in_python_3(*value.split(" ", 1)))
        elif code.name == "STACK_GLOBAL" and len(strings) >= 2:
            names.add(tuple(strings[-2:]))
        elif isinstance(value, str):
            strings.append(value)
    return set(map(".".join, names))
