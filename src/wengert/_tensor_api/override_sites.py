"""The public functions that call overriding classes and modes, and the code objects that each function may have.

NOTE [ No override, no cost ]
    A public function looks for overriding arguments only while there can be some. The function object never changes,
    because programs use it as a key; its code does. ``Site`` has three codes:

    plain    as it was written
    guarded  as it was written, with a handler for errors behind it (``with_rescue``), which costs nothing until then.
             Python gives no notice of a new overriding class; but its first instance makes a function fail, and then
             is found among the arguments (``recover``). Operators do this in ``from_operator``, where they handle
             arguments that are not tensors. A function that can have no such handler is called inside a ``try``.
    checked  checks its arguments first, as in PyTorch

    Functions are guarded from the start. After the first instance of an overriding class that is not a ``Tensor``,
    functions composed of operators are checked (``DUCKS``) while the class exists. A subclass of ``Tensor`` fails
    nowhere, but its definition is noticed: while it exists, or a mode is on, every function, method and attribute is
    checked (``EVERYTHING``).
"""

from __future__ import annotations

import functools
import os
import re
import sys
import types
import weakref
from collections.abc import Iterator, Mapping
from typing import Any

from .._base.errors import INTERNAL, OtherLibraryError
from .._base.modes import Marks, enter
from .._base.registry import PUBLIC, REGISTRY, Operator
from .._base.torch_function import STATE, State, recovered, refused, refused_in_place, subclassed
from .._base.tracebacks import STAR, arguments, shortens, with_handler, with_rescue
from .._kinds.dims import REQUIRED
from .._tape import graph
from .._tape.tensor import Tensor
from .construct import FACTORIES
from .decorated import copy_of, copy_throughout, user_arguments, written
from .override_code import by_position, check_code, guard_code, with_constants
from .torch_function import (
    NAMED,
    SITES,
    Converting,
    ask,
    has_torch_function,
    of_another_library,
    overrides,
    overriding,
)

NOTHING, DUCKS, EVERYTHING, _UNSURE = range(4)  # the sets of checked functions

OPERATORS = {
    "__add__": "add", "__radd__": "add", "__iadd__": "add_", "__sub__": "sub", "__isub__": "sub_",
    "__mul__": "mul", "__rmul__": "mul", "__imul__": "mul_", "__truediv__": "div", "__itruediv__": "div_",
    "__mod__": "remainder", "__imod__": "remainder_", "__ifloordiv__": "floor_divide_", "__matmul__": "matmul",
    "__lt__": "lt", "__le__": "le", "__gt__": "gt", "__ge__": "ge", "__eq__": "eq", "__ne__": "ne",
    "__rand__": "bitwise_and", "__ror__": "bitwise_or", "__rxor__": "bitwise_xor",
}  # fmt: skip  # Python's operators by the method that __torch_function__ is given for them
OTHERS = frozenset(
    f"__{kind}{name}__"
    for kind in ("", "r", "i")
    for name in ("pow", "floordiv", "sub", "truediv", "mod", "matmul", "lshift", "rshift", "and", "or", "xor")
)
REFUSABLE = frozenset(OPERATORS) | OTHERS  # operators for which TypeError means NotImplemented


# ---- sites
def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


NOT_OVERRIDABLE = {
    "Tensor": _names(
        "__class__ __delattr__ __dict__ __dir__ __getattribute__ __hash__ __init__ __init_subclass__ __iter__ __new__ "
        "__reduce__ __setattr__ __subclasshook__ __torch_function__ __weakref__ _make_subclass _make_wrapper_subclass "
        "_typed_storage as_subclass reinforce"
    ),
    "torch": _names(
        "is_tensor is_storage typename get_default_dtype set_default_dtype get_default_device set_default_device "
        "set_default_tensor_type can_cast promote_types manual_seed seed initial_seed get_rng_state set_rng_state "
        "is_grad_enabled is_inference_mode_enabled set_printoptions get_num_threads set_num_threads "
        "get_num_interop_threads set_num_interop_threads use_deterministic_algorithms "
        "are_deterministic_algorithms_enabled is_deterministic_algorithms_warn_only_enabled "
        "get_float32_matmul_precision set_float32_matmul_precision is_warn_always_enabled set_warn_always "
        "set_flush_denormal _assert _check _check_value _check_type _check_index _check_not_implemented "
        "_check_with _check_tensor_all _check_tensor_all_with _check_is_size broadcast_shapes"
    ),
}  # PyTorch's list of functions that do not concern tensors


class Site:
    """One public function and its possible code objects."""

    def __init__(self, function: Any, primitive: bool) -> None:
        self.function = shortens(function) if primitive else function  # ``guard`` does it for others
        self.method: str | None = None  # of a Python operator, the method passed to __torch_function__
        self.access: Any = None  # of an attribute, the accessor passed to __torch_function__
        self.operator = False
        self.of_tensor = False  # whether it is a method, whose first argument PyTorch's errors do not count
        self.by_classes = True  # False for functions that make tensors from data, which call modes only
        self.plain = function.__code__
        self.guarded: Any = None
        self.checked: Any = None
        self.primitive = primitive  # whether it finds overriding arguments itself
        self.written = written(function)  # with named parameters

    @property
    def named(self) -> types.CodeType:
        """The code with named parameters."""
        if self.written is self.function or not (hasattr(self.function, "__wrapped__") or self.plain.co_flags & STAR):
            return self.plain
        return self.written.__code__  # type: ignore[no-any-return]

    @functools.cached_property
    def unchanged(self) -> Any:
        """The function behind the guard and the check."""
        return copy_of(self.function, self.plain)

    @property
    def func(self) -> Any:
        """The function that ``__torch_function__`` gets."""
        return self.access or (PUBLIC["Tensor"][self.method] if self.method else self.function)

    def guard(self, always: bool = True) -> None:
        """Make the function recover if an overriding argument makes it fail, and have PyTorch's errors.

        The guard goes to the function inside a decorator, not to the wrapper, because it has named parameters.
        Without ``always`` it must cost a call that succeeds nothing.
        """
        self._guard(always)
        if self.guarded is None:
            self.plain = shortens(self.function).__code__

    def _guard(self, always: bool) -> None:
        inner = self.written
        code = inner.__code__
        if inner.__name__ in HOT or code.co_filename.startswith(KINDS) or id(inner) in _guarded:
            return
        rescued = None if self.operator else with_rescue(code, self.rescue)
        if rescued is None and not always:
            return
        _guarded.add(id(inner))
        if rescued is not None:
            inner.__code__ = _guarded_codes[id(rescued)] = rescued
            if inner is self.function:
                self.guarded = inner.__code__
            return
        body = by_position(inner)
        _guarded_codes.update((id(c), c) for c in (code, body.__code__))
        values = {"<body>": body, "<recover>": self.recover}
        inner.__code__ = with_handler(with_constants(guard_code(code, self.operator), code, values))
        if inner is self.function:
            self.guarded = inner.__code__

    def rescue(self, frame: Any) -> Any:
        """``recover`` as a function's last handler, which needs no call for a guard."""
        if not isinstance(sys.exception(), Exception):
            return None
        args, kwargs = arguments(frame.f_code, frame.f_locals)
        instead = self.recover(args, kwargs, frame.f_back)
        return instead and (lambda _: instead())

    def check(self, everything: bool) -> None:
        """Turn the check of the function's arguments on or off."""
        if not everything and self.primitive:
            self.function.__code__ = self.plain
            return
        if self.checked is None:
            code = check_code(len(self.plain.co_freevars))
            checked = with_constants(code, self.plain, {"<enter>": self.enter}, keep_names=False)
            self.checked = with_handler(checked)
        self.function.__code__ = self.checked

    def uncheck(self) -> None:
        """Turn the check off."""
        self.function.__code__ = self.guarded or self.plain

    def enter(self, args: Any, kwargs: dict[str, Any]) -> Any:
        """Run a call of a checked function."""
        state = STATE.get()
        found = overriding(args, kwargs) if state.all and state.classes and self.by_classes else []
        modes = state.modes if state.all else ()
        del state  # the frame of an error must not keep the mode's mark: functions would stay slow
        if modes and not found and isinstance(mode := modes[-1], Converting):
            if mode.is_alone(modes) and not (mode.concerns(self.name) and self.in_python):
                return mode.run(self, args, kwargs)
        if found or modes:
            return self.ask(found, args, kwargs)
        if not (_modes or _subclasses):  # the last mode has ended, in C
            _update()
        return self.run(args, kwargs, 3)

    def run(self, args: Any, kwargs: dict[str, Any], depth: int) -> Any:
        """Run the function; ``depth``: how many calls up its caller is."""
        try:
            return self.unchanged(*args, **kwargs)
        except Exception as error:
            if not self.operator and not _inside_another(sys._getframe(depth)):
                self.refuse(self.unchanged, args, kwargs, error)
            raise

    @functools.cached_property
    def name(self) -> str:
        """The name of the function that ``__torch_function__`` gets."""
        return getattr(self.func, "__name__", "")

    @functools.cached_property
    def in_python(self) -> bool:
        """Whether PyTorch's function is written in Python, which hands on other arguments than it was given."""
        from .python_calls import asks_in_python

        return asks_in_python(self.func)

    def ask(self, found: list[Any], args: Any, kwargs: Any) -> Any:
        """``ask`` for this function; for an operator, a TypeError is converted to NotImplemented."""
        if not self.operator:
            return self._ask(found, args, kwargs)
        try:
            return ask(self.func, found, args, kwargs)
        except OtherLibraryError:
            raise
        except TypeError:
            return NotImplemented

    def _ask(self, found: list[Any], args: Any, kwargs: Any) -> Any:
        """``ask`` with the arguments, and the types, that PyTorch's function hands on."""
        func = self.func
        if self.access is not None:
            return ask(func, found or [args[0]], args, kwargs)
        from .python_calls import as_pytorch_calls, asks_in_python, decide  # not needed before something overrides

        in_python = asks_in_python(func)
        if in_python:
            func, args, kwargs = as_pytorch_calls(func, args, kwargs or {})
            if _asks_no_override(found):
                decide(func, args, kwargs)
            found = overriding(args, kwargs, True)
        return ask(func, found, args, kwargs, in_python)

    def refuse(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], error: Exception) -> None:
        """Raise PyTorch's error in place of one of Python's or NumPy's; ``function`` has the parameters' names."""
        if not self.function.__name__.startswith("__"):  # Python has words for those
            from .._kinds.argument_errors import refuse

            refuse(function, args, kwargs, error, self.of_tensor)

    def recover(self, args: tuple[Any, ...], kwargs: dict[str, Any], frame: Any = None) -> Any:
        """After a failure: the function to call instead, or ``None`` if no argument overrides.

        ``frame``: where the failed function was called; by default two calls up, as for a guard.
        """
        state = STATE.get()
        found = _meet(overriding(args, kwargs)) if state.classes and state.all else []
        error = None if self.operator else sys.exception()  # an operator's guard catches none: it saw NotImplemented
        if not found and error is None:
            return None
        if _inside_another(frame or sys._getframe(2)):
            return None
        if not found:
            if not self.operator and isinstance(error, Exception):
                self.refuse(self.function, args, kwargs, error)
            return None
        args, kwargs = user_arguments(
            self.unchanged if self.named is self.plain else self.written, self.named, args, kwargs
        )
        return lambda: self.ask(found, args, kwargs)


_PACKAGE = os.path.dirname(os.path.dirname(__file__))
# Files whose functions check their operands themselves.
KINDS = (os.path.join(_PACKAGE, "_kinds", ""), os.path.join(_PACKAGE, "_tape", "inplace.py"))
HOT = frozenset(("__getitem__", "__setitem__"))  # too often called for a guard


for _fn in (graph.grad, graph.backward):
    SITES[id(_fn)] = Site(_fn, True)

_SPACES = ("Tensor", "torch", "nn.functional", "linalg", "fft", "special")  # spaces whose functions may be overridden
copies: dict[int, Any] = {}  # function, by id -> the method of its own that ``Tensor`` has


def add(value: Any, places: list[tuple[str, str]]) -> Any:
    """Add the sites of a function that is published under these names; return the function that is the method.

    That is a copy if a composed function has both kinds of names: a method's first argument is a tensor, so most
    methods need no guard, and the call of a guard is measurable.
    """
    names = sorted([each for each in places if each[0] in _SPACES], key=lambda each: _SPACES.index(each[0]))
    if not isinstance(value, types.FunctionType):
        if _members:  # attributes are looked at from the first override of everything on
            _add_attributes({name: value for space, name in names if space == "Tensor"})
        return value
    info, method = dict.get(REGISTRY, value.__name__), value
    operator = info is not None and value is info.op
    if not operator and names and names[0][0] == "Tensor" != names[-1][0]:
        method = copies.get(id(value)) or copies.setdefault(id(value), copy_throughout(value))
    primitive = operator or (info is not None and value is info.method) or value in FACTORIES
    for space, name in names:
        fn = method if space == "Tensor" else value
        if id(fn) not in SITES and name not in NOT_OVERRIDABLE.get(space, ()):
            _add(fn, space, name, primitive and "otherwise" not in fn.__code__.co_freevars)
    return method


def _add(fn: Any, space: str, name: str, primitive: bool) -> None:
    site = SITES[id(fn)] = Site(fn, primitive)
    site.by_classes = fn not in FACTORIES
    if space == "Tensor":
        if name[0] != "_":
            fn.__defaults__ = required(fn)
        site.of_tensor = True
        site.operator = name in REFUSABLE
        site.method = OPERATORS.get(name)
    if not primitive:
        site.guard(_takes_another(space, fn.__name__, site.written))
    if _level:
        site.check(_level == EVERYTHING)


def _add_attributes(members: Mapping[str, Any]) -> None:
    for site in _attribute_sites(members):
        _members.append(site)
        if _level == EVERYTHING:
            site.check(True)


def required(fn: Any) -> tuple[Any, ...]:
    """The usual values of a method's parameters with ``REQUIRED`` for those that have none, but for the tensor."""
    usual = fn.__defaults__ or ()
    return (REQUIRED,) * (fn.__code__.co_argcount - 1 - len(usual)) + usual


TENSORS = frozenset(("other", "src", "source", "exponent", "tensor1", "tensor2", "mat2"))  # even if annotated "Any"
NO_TENSORS = frozenset(("size", "sizes", "shape", "n", "start", "end", "low", "high", "m", "fill_value"))


def add_function(fn: Any) -> Any:
    """Decorator that lets a public function be overridden although it is not declared as an operator."""
    NAMED[fn] = f"torch.{fn.__module__.partition('.')[2]}.{fn.__name__}"
    site = SITES[id(fn)] = Site(fn, False)
    site.guard()
    if _level:
        site.check(_level == EVERYTHING)
    return fn


def _takes_another(space: str, name: str, fn: Any) -> bool:
    """Whether a function has a tensor parameter that may override, besides a method's ``self``."""
    code = fn.__code__
    names = code.co_varnames[: code.co_argcount]
    if code.co_flags & STAR:
        names += (code.co_varnames[code.co_argcount + code.co_kwonlyargcount],)
    if space == "Tensor":
        annotated = fn.__annotations__
        return name in REFUSABLE or any(
            [k in TENSORS or "Tensor" in str(annotated.get(k, "")) for k in names[1:]]  # noqa: C419
        )
    return bool(names) and names[0] not in NO_TENSORS


# ---- reasons
_ducks: set[int] = set()  # ids of the living overriding classes: subclasses of Tensor and others
_subclasses: set[int] = set()
_modes = Marks()  # not empty while a mode is on, in any thread
_level = NOTHING


def _update(modes: bool = False) -> None:
    """Give all functions the codes that are needed now; ``modes``: those for modes too."""
    global _level
    level = EVERYTHING if modes or _modes or _subclasses else DUCKS if _ducks else NOTHING
    before = _level
    if level == before:
        return
    _level = _UNSURE  # an interrupt in here leaves functions of both kinds: the next call of a checked one goes on
    if before in (EVERYTHING, _UNSURE) or level == EVERYTHING:
        _check_members(level == EVERYTHING)
    for site in SITES.values():
        if level:
            site.check(level == EVERYTHING)
        else:
            site.uncheck()
    _level = level


def _asks_no_override(found: list[Any]) -> bool:
    """Whether a program put something in the place of what functions of ``nn.functional`` ask, which answers no."""
    asked = vars(sys.modules.get(f"{__package__.partition('.')[0]}.nn.functional", sys)).get("has_torch_function")
    return asked is not None and asked is not has_torch_function and not asked(found)


def _meet(found: list[Any]) -> list[Any]:
    """Note the classes of overriding arguments that are not tensors; those of another library raise instead."""
    for a in found:
        if not isinstance(a, Tensor) and id(type(a)) not in _ducks and not of_another_library(type(a)):
            _remember(type(a), _ducks)
    return found


def _remember(cls: type, classes: set[int]) -> None:
    classes.add(id(cls))
    weakref.finalize(cls, _forget, id(cls), classes).atexit = False
    _update()


def _forget(key: int, classes: set[int]) -> None:
    classes.discard(key)
    _update()


class Overriding:
    """Functions look for instances of a class as long as this lives: the class overrides only while it has some."""

    def __init__(self, cls: type) -> None:
        _subclasses.add(id(cls))
        weakref.finalize(self, _forget, id(cls), _subclasses).atexit = False
        _update()


@subclassed.set
def new_subclass(cls: Any) -> None:
    if overrides(cls):
        _remember(cls, _subclasses)


def replace_modes(modes: tuple[Any, ...]) -> None:
    """Replace the modes of this thread or task."""
    _update(bool(modes))
    STATE.set(STATE.get()._replace(modes=modes, mark=_modes.mark() if modes else None))


def enter_modes(modes: tuple[Any, ...]) -> None:
    """Replace the modes until ``leave_modes``."""
    enter(STATE, modes_state(modes))


def modes_state(modes: tuple[Any, ...]) -> State:
    """The state inside of other modes, which a context goes to."""
    _update(bool(modes))
    state = STATE.get()
    return state._replace(modes=modes, outer=state, mark=_modes.mark() if modes else None)


def check_everything() -> Any:
    """Let every function look at its arguments first, as inside of a mode, until ``end_check`` of the result.

    So a tracer gets the arguments as the user wrote them. Without it a function asks its overriding arguments only
    where they make it fail.
    """
    _update(True)
    return [_modes.mark()]


def end_check(everything: list[Any]) -> None:
    """End one ``check_everything``; one that is forgotten ends at the next call of a function."""
    everything.clear()
    _update()


@refused.set
def from_operator(info: Operator, args: tuple[Any, ...]) -> Any:
    """No override is called if a public function called the operator with its own argument: it will recover itself."""
    state = STATE.get()
    found = overriding(args) if state.classes and state.all else []
    site = _site_of(info, sys._getframe(1))
    if not _meet(found) or site is None or _inside_another(sys._getframe(1)):
        return ...
    return site.ask(found, args, None)


def _site_of(info: Operator, frame: Any) -> Site | None:
    """The site of the public function that runs an operator: of the Python operator if it is one."""
    members = PUBLIC["Tensor"]
    for _ in range(3):
        name = frame.f_code.co_name
        if name in REFUSABLE and name in members:
            return SITES.get(id(members[name]))
        if info.method is not None and frame.f_code is info.method.__code__:
            return SITES.get(id(info.method))
        frame = frame.f_back
    public = PUBLIC["torch"].get(info.called) or members.get(info.called)
    return SITES.get(id(info.op)) or SITES.get(id(public))


_guarded: set[int] = set()  # functions, by id
_guarded_codes: dict[int, types.CodeType] = {}  # the codes that run inside a guard
_CATCHER = "_apply_inplace"  # the function that calls ``recover_method``


def _inside_another(frame: Any) -> bool:
    """Whether a public function called this one: that function, which the user called, will recover."""
    while frame is not None and INTERNAL[frame.f_code.co_filename]:
        if id(frame.f_code) in _guarded_codes or frame.f_code.co_name == _CATCHER:
            return True
        frame = frame.f_back
    return False


def _instead_of(method: str, args: tuple[Any, ...], kwargs: dict[str, Any], frame: Any) -> Any:
    """What to call instead of a tensor's method that failed, if an argument overrides."""
    site = SITES.get(id(PUBLIC["Tensor"].get(method)))
    return site and site.recover(args, kwargs, frame)


@refused_in_place.set
def from_inplace(method: str, self: Tensor, other: Any) -> Any:
    instead = _instead_of(method, (self, other), {}, sys._getframe(1))
    try:
        return instead() if instead else NotImplemented
    except OtherLibraryError:
        raise
    except TypeError:
        return NotImplemented


@recovered.set
def recover_method(method: str, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None) -> Any:
    instead = _instead_of(method, args, kwargs or {}, sys._getframe(1))
    if not instead:
        error = sys.exception()
        if type(error) is TypeError and method.endswith("_") and not method.endswith("__"):
            _tell_of_method(error, method)
        raise  # noqa: PLE0704  what is being handled
    return instead()


def _tell_of_method(error: TypeError, method: str) -> None:
    """Convert a function's error to its in-place method's: with the method's name, and without counting ``self``."""
    text = str(error.args[0]) if error.args else ""
    name = method.rstrip("_")
    if text.startswith((f"{name}():", f"{method}():")):
        text = re.sub(r"\(position (\d+)\)", lambda m: f"(position {int(m[1]) - 1})", text, count=1)
    elif text.startswith(f"{name}() received an invalid combination"):
        text = text.replace(" - got (Tensor, ", " - got (", 1)
    error.args = (text.replace(f"{name}()", f"{method}()", 1), *error.args[1:])


# ---- methods and attributes of Tensor
_members: list[Site] = []


def _check_members(on: bool) -> None:
    """Turn the check of the class's other members on or off: attributes, and methods that are not declared."""
    if not _members:
        _find_members()
    for site in _members:
        if on:
            site.check(True)
        else:
            site.uncheck()


def _find_members() -> None:
    for name, member in vars(Tensor).items():
        if isinstance(member, types.FunctionType) and name not in NOT_OVERRIDABLE["Tensor"] and id(member) not in SITES:
            _members.append(Site(member, True))
    _members.extend(_attribute_sites(vars(Tensor)))


def _attribute_sites(members: Mapping[str, Any]) -> Iterator[Site]:
    """The sites of the members that are properties."""
    for name, member in members.items():
        if isinstance(member, property) and name not in NOT_OVERRIDABLE["Tensor"]:
            for fn, access in ((member.fget, "__get__"), (member.fset, "__set__"), (member.fdel, "__delete__")):
                if isinstance(fn, types.FunctionType):
                    site = Site(fn, True)
                    site.access = getattr(member, access)
                    yield site
