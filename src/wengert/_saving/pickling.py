"""Picklers that write tensors in PyTorch's form, which PyTorch can read.

A tensor is written as a call of ``torch._utils._rebuild_tensor_v2`` on its storage, and the storage as a persistent id
that refers to a record of the file. wengert's names are written as PyTorch's names, which ``unpickling`` converts back.
``HOME`` is the table of names that differ by more than the package.
"""

from __future__ import annotations

import functools
import io
import pickle
from collections import OrderedDict
from collections.abc import Callable
from importlib import import_module
from itertools import chain
from operator import attrgetter
from types import FunctionType
from typing import Any

import numpy as np

from .._arrays.memory import address_of
from .._base import dtypes
from .._base.dtypes import BY_NUMPY, dtype, layout, memory_format
from .._kinds.return_types import ReturnType
from .._tape.node import RemovableHandle
from .._tape.tensor import Tensor, wrap
from .._tensor_api.copying import _attributes, _warn_of_hooks, state_of, wrapper_parts
from .._tensor_api.generator import Generator
from .._tensor_api.legacy_types import tensortype
from .._tensor_api.storage import TypedStorage, UntypedStorage, _Storage
from ..nn.modules._handles import HookDict, ModuleHandle, WrappedHook
from ..nn.modules.attention import MultiheadAttention
from ..nn.parameter import Parameter
from . import rebuilding
from .places import location_tag
from .storages import NAME_OF_DTYPE, STORAGES, place_of, storage_on

HOME: dict[Any, tuple[str, str]] = {
    Tensor: ("torch", "Tensor"),
    UntypedStorage: ("torch.storage", "UntypedStorage"),
    TypedStorage: ("torch.storage", "TypedStorage"),
    Generator: ("torch._C", "Generator"),
    rebuilding._get_layout: ("torch.serialization", "_get_layout"),
    rebuilding._rebuild_from_type_v2: ("torch._tensor", "_rebuild_from_type_v2"),
    rebuilding._rebuild_njt: ("torch.nested._internal.nested_tensor", "_rebuild_njt"),
    RemovableHandle: ("torch.utils.hooks", "RemovableHandle"),
    ModuleHandle: ("torch.utils.hooks", "RemovableHandle"),
    WrappedHook: ("torch.nn.modules.module", "_WrappedHook"),
    MultiheadAttention: ("torch.nn.modules.activation", "MultiheadAttention"),
}
"""PyTorch's modules of objects that wengert has in other modules."""
MODULES = {"torch.optim.adafactor": "torch.optim._adafactor", "torch.optim.muon": "torch.optim._muon"}
"""Modules that have another name in PyTorch."""


_PLAIN = frozenset((int, str, tuple, dict, list, bool, float, type(None), bytes, OrderedDict))


class StorageTable:
    """The storages of one file, each memory once under a key."""

    def __init__(self, new_key: Callable[[int], str] = str) -> None:
        self.memory: dict[str, np.ndarray] = {}
        self._known: dict[Any, tuple[str, np.dtype]] = {}
        self._new_key = new_key

    def enter(self, memory: np.ndarray, dtype: np.dtype) -> str:
        """The key of a memory. Raises an error if the table has it with another dtype."""
        ident = (address_of(memory), memory.nbytes) if memory.nbytes else object()
        key, known = self._known.get(ident, (None, dtype))
        if known != dtype:
            raise RuntimeError("Cannot save multiple tensors or storages that view the same data as different types")
        if key is None:
            key = self._new_key(len(self.memory))
            self._known[ident] = (key, dtype)
            self.memory[key] = memory
        return key


@functools.lru_cache(32)
def storage_class(of: np.dtype) -> Any:
    """The class of the storages of a dtype: ``torch.FloatStorage``."""
    return STORAGES[NAME_OF_DTYPE[BY_NUMPY[of]]]


class TorchPickling:
    """Mixin for a module's ``Pickler`` that writes tensors, storages and names."""

    table: StorageTable
    legacy = False

    def persistent_id(self, obj: Any) -> Any:
        """A storage's persistent id: its class, key, location and size."""
        if not isinstance(obj, _Storage):
            return None
        memory, typed = obj._array, isinstance(obj, TypedStorage)
        key = self.table.enter(memory, memory.dtype)
        # PyTorch cannot read bytes without a dtype from the old format, though it writes them
        kind = storage_class(memory.dtype) if typed or self.legacy else UntypedStorage
        ident = ("storage", kind, key, location_tag(obj), memory.size)
        return (*ident, None) if self.legacy else ident

    def reducer_override(self, obj: Any) -> Any:
        """The reduction of tensors and other objects of PyTorch; pickle handles the rest."""
        kind = type(obj)
        if kind in _PLAIN:
            return NotImplemented
        if isinstance(obj, Tensor):
            own: Any = kind.__reduce_ex__
            return _reduce_tensor(obj) if own is Tensor.__reduce_ex__ else NotImplemented
        if isinstance(obj, Generator):
            state = obj.get_state_array()
            return Generator, (dtypes.device("cpu"),), (obj.initial_seed(), None, wrap(state))
        if kind is HookDict:
            return OrderedDict, (), None, None, iter(obj.items())
        if kind in (dtype, memory_format) and isinstance(self, TorchNames):
            return obj.name
        if isinstance(obj, ReturnType) and isinstance(self, TorchNames):
            return kind, (tuple(obj), {})
        if kind is layout:
            return rebuilding._get_layout, (repr(obj),)
        inherited = getattr(super(), "reducer_override", None)
        return inherited(obj) if inherited is not None else NotImplemented


def _reduce_tensor(obj: Tensor) -> tuple[Any, ...]:
    function: Any
    args: tuple[Any, ...]
    hooks: OrderedDict[Any, Any] = OrderedDict()
    _warn_of_hooks(obj)
    if type(obj) is Parameter:
        attributes = _attributes(obj)
        if attributes:
            return rebuilding._rebuild_parameter_with_state, (obj.data, obj.requires_grad, hooks, attributes)
        return rebuilding._rebuild_parameter, (obj.data, obj.requires_grad, hooks)
    if getattr(obj._payload, "is_sparse", False):
        a = obj._payload
        data: tuple[Any, ...]
        if a.layout is dtypes.sparse_coo:
            data = (wrap(a.indices), wrap(a.values), dtypes.Size(a.shape), a.coalesced)
        else:
            data = (wrap(a.ends), wrap(a.minor), wrap(a.values), dtypes.Size(a.shape))
        return rebuilding._rebuild_sparse_tensor, (a.layout, data)
    if hasattr(obj._payload, "asked"):  # without memory of its own
        args = (rebuilding._rebuild_wrapper_subclass, type(obj), wrapper_parts(obj), state_of(obj))
        return rebuilding._rebuild_from_type_v2, args
    if getattr(obj._payload, "is_foreign", False):  # files hold what is on a device as tensors of the CPU
        obj = obj.detach().cpu().requires_grad_(obj.requires_grad)
    if obj.is_meta:
        function = rebuilding._rebuild_meta_tensor_no_storage
        args = (obj.dtype, tuple(obj.shape), obj.stride(), obj.requires_grad)
    else:
        place = place_of(obj)
        by_name = BY_NUMPY[place.memory.dtype] in NAME_OF_DTYPE
        storage = storage_on(place.memory if by_name else place.memory.view(np.uint8), by_name)
        function = rebuilding._rebuild_tensor_v2
        args = (storage, place.offset, place.size, place.stride, obj.requires_grad, hooks)
        if not by_name:
            function, args = rebuilding._rebuild_tensor_v3, (*args, obj.dtype)
    state = state_of(obj)
    if type(obj) is Tensor and not state:
        return function, args
    return rebuilding._rebuild_from_type_v2, (function, type(obj), args, state)


# ---- names
def torch_name(obj: Any, module: str, name: str) -> tuple[str, str]:
    """PyTorch's module and name for ``name`` in ``module`` of wengert."""
    if _has_home(obj):
        return HOME[obj]
    parts = module.split(".")[1:]
    for depth, part in enumerate(parts):
        # public in the parent module, but for PyTorch's own
        if part == "ops" or (part.startswith("_") and part not in ("_utils", "_internal")):
            parts = parts[:depth]
            break
    home = ".".join(["torch", *parts])
    return MODULES.get(home, home), name


def _has_home(obj: Any) -> bool:
    """Whether ``HOME`` has an object; its module may be called ``torch.NAME`` in a program that `wengert run` runs."""
    try:
        return obj in HOME
    except TypeError:  # it cannot be hashed
        return False


class TorchNames:
    """Mixin for a pickler written in Python that writes wengert's names as PyTorch's."""

    def save_global(self: Any, obj: Any, name: str | None = None) -> None:
        """Write a class or function by name."""
        module = getattr(obj, "__module__", None) or ""
        if type(obj) in (dtype, memory_format):
            module, name = "wengert", obj.name
        elif type(obj) is tensortype:
            module = "wengert"
        elif not (_is_ours(obj, module, name) or _has_home(obj)):
            try:
                super().save_global(obj, name)
            except pickle.PicklingError as error:
                raise _in_words_of_c(obj, error) from None
            return
        module, name = torch_name(obj, module, name or obj.__qualname__)
        if self.proto >= 4:
            self.save(module)
            self.save(name)
            self.write(pickle.STACK_GLOBAL)
        elif "." in name:
            owner, _, last = name.rpartition(".")
            self.save_reduce(getattr, (named_in(obj.__module__, owner), last))
        else:
            self.write(pickle.GLOBAL + f"{module}\n{name}\n".encode())
        self.memoize(obj)


def _in_words_of_c(obj: Any, error: Exception) -> Exception:
    """The error of the pickler in C, which PyTorch uses, for a lambda, a local class or another object without name."""
    try:
        pickle.dumps(obj)
    except (pickle.PicklingError, AttributeError) as of_c:
        return of_c
    return error


def named_in(module: str, name: str) -> Any:
    """The object of this name, which may have dots, in a module."""
    return attrgetter(name)(import_module(module))


def _is_ours(obj: Any, module: str, name: str | None) -> bool:
    """Whether an object is found under its name in wengert; for other objects pickle itself raises the error."""
    package, dot, rest = module.partition(".")
    if package not in ("wengert", "torch"):  # the classes of ``return_types`` say that they are PyTorch's
        return False
    try:
        return named_in(f"wengert{dot}{rest}", name or obj.__qualname__) is obj
    except (ImportError, AttributeError):
        return False


# ---- long plain lists
_SCALARS = frozenset((int, float, bool, str, type(None)))
_LONG = 64


def _is_plain(obj: Any) -> bool:
    """Whether a list or dict is long and holds only scalars or tuples of scalars."""
    if len(obj) < _LONG:
        return False
    items = [*obj, *obj.values()] if type(obj) is dict else obj
    kinds = set(map(type, items))
    if tuple in kinds:
        kinds.remove(tuple)  # a tuple of tuples comes here again
        kinds.update(map(type, chain.from_iterable(item for item in items if type(item) is tuple)))
    return kinds <= _SCALARS


def _save_container(pickler: Any, obj: Any) -> None:
    """Write a list or dict; a long plain one with Python's pickler in C, which is 20 times as fast.

    The inner pickler runs without memo (``fast``), since its memo indices would differ from the outer pickler's. An
    immutable item that occurs twice is therefore written twice, which programs cannot observe.
    """
    if pickler.proto >= 4 or not _is_plain(obj):
        pickle._Pickler.dispatch[type(obj)](pickler, obj)
        return
    out = io.BytesIO()
    inner = pickle.Pickler(out, pickler.proto)
    inner.fast = True
    inner.dump(obj)
    pickler.write(out.getvalue()[2:-1])  # without its first opcode, the protocol, and its last, the stop
    pickler.memoize(obj)


def make_pickler(pickle_module: Any, file: Any, protocol: int, table: StorageTable, legacy: bool = False) -> Any:
    """A pickler of a module (``pickle`` or similar) that writes tensors and names in PyTorch's form.

    Only a pickler written in Python supports other names; files of other picklers can be read by wengert alone.
    """
    base = pickle._Pickler if pickle_module is pickle else pickle_module.Pickler
    if issubclass(base, pickle._Pickler):
        own = {FunctionType: TorchNames.save_global, type: _save_type}
        if base is pickle._Pickler:
            own |= {list: _save_container, dict: _save_container}
        members = {"dispatch": {**base.dispatch, **own}}
        cls = type("TorchPickler", (TorchPickling, TorchNames, base), members)
    else:
        cls = type("TorchPickler", (TorchPickling, base), {})
    pickler = cls(file, protocol=protocol)
    pickler.table = table
    pickler.legacy = legacy
    return pickler


def _save_type(pickler: Any, obj: Any) -> None:
    if obj in (type(None), type(NotImplemented), type(...)):
        pickle._Pickler.save_type(pickler, obj)
    else:
        pickler.save_global(obj)
