"""``torch.ops.aten``: operators as objects, for dispatch modes and as keys of tables.

``torch.ops.aten.mm`` is a packet, ``torch.ops.aten.mm.default`` one of its overloads. In wengert all overloads of a
packet compute the same; they have PyTorch's names for comparisons such as ``func == torch.ops.aten.mul.Tensor``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from .._base.aten_names import aten_name
from .._base.registry import PUBLIC, REGISTRY, Operator
from .._base.torch_function import STATE
from .._tape.tensor import Tensor
from .._tensor_api.torch_function import ask, overriding

# PyTorch's overload for an operator of wengert, where it is not the default.
_OVERLOAD = {
    "sum_dim": "dim_IntList", "mean_dim": "dim", "select": "int", "transpose_dims": "int", "slice_dim": "Tensor",
    "prod_dim": "dim_int", "max_dim": "dim", "min_dim": "dim", "any_dim": "dim", "all_dim": "dim", "where": "self",
    "index": "Tensor", "masked_fill": "Scalar", "split": "Tensor", "unbind": "int", "squeeze_dim": "dim",
    "squeeze_dims": "dims", "fill_number": "Scalar", "_lerp_number": "Scalar", "_lerp_tensor": "Scalar",
    "median_dim": "dim", "_add_scaled": "Tensor", "_sub_scaled": "Tensor",
    **dict.fromkeys(("var", "std", "var_mean", "std_mean"), "correction"),
}  # fmt: skip
# Families of PyTorch's internal operators that wengert does not have: tables of operators may contain them, nothing
# dispatches to them, and a call raises an error.
_INTERNAL = re.compile(r"_(sparse|cudnn|fused|scaled_dot_product|flash_attention|efficient_attention|thnn|nested)_\w+")
_PYTHONS = frozenset(f"__{i}{name}__" for i in ("", "i") for name in ("and", "or", "xor", "lshift", "rshift"))
_BY_SECOND = {"eq", "ne", "lt", "le", "gt", "ge", "rsub"}
_PLAIN_BINARY = {"atan2", "hypot", "logaddexp", "logaddexp2", "maximum", "minimum", "fmax", "fmin", "nextafter"}


def overload_name(info: Operator, args: tuple[Any, ...]) -> str:
    """The overload that a call belongs to."""
    if info.name in _OVERLOAD:
        return _OVERLOAD[info.name]
    if info.name == "pow":
        return "Tensor_Tensor" if isinstance(args[1], Tensor) else "Tensor_Scalar"
    if info.kind != "binary" or info.name in _PLAIN_BINARY or aten_name(info) in ("mm", "mv", "dot"):
        return "default"
    return "Tensor" if isinstance(args[1], Tensor) or info.name not in _BY_SECOND else "Scalar"


class OpOverloadPacket:
    """All overloads of one operator: ``torch.ops.aten.mul``."""

    def __init__(self, name: str, namespace: str = "aten") -> None:
        self.__name__ = name
        self.__module__ = f"torch._ops.{namespace}"
        self._qualified_op_name = f"{namespace}::{name}"
        self._overloads: dict[str, OpOverload] = {}

    def __getattr__(self, name: str) -> OpOverload:
        if (name.startswith("__") and name.endswith("__")) or name in ("_op", "_schema", "overloadpacket"):
            raise AttributeError(name)
        if name not in self._overloads:
            self._overloads[name] = OpOverload(self, name)
        return self._overloads[name]

    def overloads(self) -> list[str]:
        """The names of the overloads that were accessed so far."""
        return list(self._overloads)

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        found = not_tensors(args, kwargs)
        if found:
            return ask(self, found, args, kwargs)
        if _writer.get() is not None and _body(self.__name__) is not None:
            return self.default(*args, **kwargs)
        return _public(self.__name__)(*args, **kwargs)

    def __str__(self) -> str:
        return f"aten.{self.__name__}"

    def __repr__(self) -> str:
        return f"<OpOverloadPacket(op='aten.{self.__name__}')>"


NOTHING: tuple[Any, ...] = (None, None, (), ((), {}))
intercepted: ContextVar[tuple[Any, ...]] = ContextVar("wengert_intercepted", default=NOTHING)
"""The call that a mode is asked about: its overload, wengert's operator, wengert's arguments, and what it is given."""


@contextmanager
def not_intercepted() -> Iterator[None]:
    """Inside, overloads are functions of PyTorch's arguments, also while a dispatch mode is asked."""
    before = intercepted.get()
    try:
        intercepted.set(NOTHING)
        yield
    finally:
        intercepted.set(before)


def _stands_for(given: Any, original: Any) -> bool:
    """Whether an argument may have taken the place of an intercepted call's: the same object, or another tensor."""
    if isinstance(original, (list, tuple)):
        same = type(given) is type(original) and len(given) == len(original)
        return given is original or (same and all(map(_stands_for, given, original)))
    if isinstance(original, dict):
        same = type(given) is dict and given.keys() == original.keys()
        return same and all(_stands_for(given[k], v) for k, v in original.items())
    return given is original or (isinstance(given, Tensor) and isinstance(original, Tensor))


def _taken_over(args: Any, shown: Any, given: Any) -> Any:
    """Wengert's arguments ``given`` with the tensors that took the place of those which the mode was shown."""
    places: dict[int, Any] = {}
    _note(places, args, shown)
    return _put(places, given)


def _note(places: dict[int, Any], new: Any, old: Any) -> None:
    """Note what stands in each tensor's place."""
    if isinstance(old, dict):
        new, old = [new[k] for k in old], list(old.values())
    if isinstance(old, (list, tuple)):
        for one in zip(new, old, strict=True):
            _note(places, *one)
    elif isinstance(old, Tensor):
        places[id(old)] = new


def _put(places: dict[int, Any], old: Any) -> Any:
    if type(old) in (list, tuple):
        return type(old)([_put(places, one) for one in old])
    return places.get(id(old), old)


class OpOverload:
    """One overload of an operator: ``torch.ops.aten.mul.Tensor``. Overloads with the same names are equal."""

    namespace = "aten"

    def __init__(self, packet: OpOverloadPacket, overload: str) -> None:
        self._overloadpacket = self.overloadpacket = packet
        self._overloadname = overload
        self.__module__ = f"torch._ops.{self.namespace}"
        self.__name__ = f"{packet.__name__}.{overload}"
        self.__qualname__ = self.name()

    @property
    def info(self) -> Operator | None:
        """The operator of wengert, of which a dispatch mode is asked; ``None`` outside of that."""
        op, info, *_ = intercepted.get()
        return info if op is self else None

    def name(self) -> str:
        """``"aten::mul.Tensor"``, ``"aten::mm"``."""
        ending = "" if self._overloadname == "default" else f".{self._overloadname}"
        return self._overloadpacket._qualified_op_name + ending

    def decompose(self, *args: Any, **kwargs: Any) -> Any:
        """``NotImplemented``: operators have no recorded decomposition."""
        return NotImplemented

    @property
    def _schema(self) -> Any:
        """The overload's declared arguments, or None."""
        from ._aten_schemas import schemas

        found = [s for s in schemas(self._overloadpacket.__name__) if s.overload == self._overloadname]
        return found[0] if found else None

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        found = not_tensors(args, kwargs)
        if found:
            return ask(self, found, args, kwargs)
        op, info, given, shown = intercepted.get()
        if op is self and _stands_for((args, kwargs), shown):
            return info.op(*_taken_over((args, kwargs), shown, given))
        name, write = self._overloadpacket.__name__, _writer.get()
        if write is not None:
            result = write(self, args, kwargs, _body(name, self._overloadname) is not None)
            if result is not NotImplemented:
                return result
        return _public(name, self._overloadname)(*args, **kwargs)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OpOverload) and self.name() == other.name()

    def __hash__(self) -> int:
        return hash(self.name())

    def __str__(self) -> str:
        return f"aten.{self.__name__}"

    def __repr__(self) -> str:
        return f"<OpOverload(op='aten.{self._overloadpacket.__name__}', overload='{self._overloadname}')>"


class _Namespace:
    """``torch.ops.aten``."""

    def __init__(self) -> None:
        self._packets: dict[str, OpOverloadPacket] = {}
        self._known: set[str] = set()

    def __getattr__(self, name: str) -> OpOverloadPacket:
        packet = self._packets.get(name)
        if packet is None:
            if name.startswith("__") and name not in _PYTHONS:
                raise AttributeError(name)
            if name not in self._names() and _find_public(name) is None and not _INTERNAL.fullmatch(name):
                raise AttributeError(f"'_OpNamespace' 'aten' object has no attribute '{name}'")
            packet = self._packets[name] = OpOverloadPacket(name)
        return packet

    def _names(self) -> set[str]:
        if not self._known:
            self._known = {aten_name(info) for info in REGISTRY.values()}
        return self._known


aten = _Namespace()


def overload_of(info: Operator, args: tuple[Any, ...]) -> OpOverload:
    """The object that represents this call of an operator."""
    return getattr(getattr(aten, aten_name(info)), overload_name(info, args))  # type: ignore[no-any-return]


def not_tensors(args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
    """The arguments that override functions and are no tensors: a tracer's values. Subclasses are asked further in."""
    state = STATE.get()
    if not (state.classes and state.all):
        return []
    return [a for a in overriding(args, kwargs) if not isinstance(a, Tensor)]


_writer: ContextVar[Any] = ContextVar("wengert_writer", default=None)


@contextmanager
def bodies_written(write: Any) -> Iterator[None]:
    """Inside, ``write`` is asked about calls of overloads, and told whether they are no public functions.

    It gives the result, or ``NotImplemented``.
    """
    token = _writer.set(write)
    try:
        yield
    finally:
        _writer.reset(token)


def _body(name: str, overload: str = "default") -> Any:
    """The function of an operator that is no public function, and that PyTorch does not divide, or None."""
    from . import _aten_backward
    from ._aten_bodies import BODIES, DIVIDED

    found = BODIES.get(f"{name}_{overload}") or BODIES.get(name)
    if name in DIVIDED or overload == "vec":
        return None
    return found or (_aten_backward.body(name) if "_backward" in name else None)


def _find_public(name: str, overload: str = "default") -> Any:
    from . import _aten_backward
    from ._aten_bodies import BODIES

    body = BODIES.get(f"{name}_{overload}") or BODIES.get(name)
    if body is not None:
        return body
    if name.startswith("_foreach_"):
        from .._tensor_api import foreach

        return getattr(foreach, name, None)
    for space in ("torch", "Tensor", "nn.functional", "linalg", "special", "fft"):
        for short in (name, name.lstrip("_"), name.removeprefix(f"{space}_")):
            if short in PUBLIC.get(space, {}):
                return PUBLIC[space][short]
    return _aten_backward.body(name) if "_backward" in name else None


def _public(name: str, overload: str = "default") -> Any:
    fn = _find_public(name, overload)
    if fn is None:
        raise NotImplementedError(f"torch.ops.aten.{name}: there is no public function of this name to call")
    return fn
