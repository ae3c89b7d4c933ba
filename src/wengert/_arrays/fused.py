"""Elementwise bodies as lists of NumPy calls, each of which writes into existing memory.

``g * (1 - result * result)`` makes three arrays, and a large one that lies in no cache costs more to write than to
compute. A body that is elementwise in its operands makes the same few calls for any values, so it is run once on
placeholders that record the calls (``fused_body_of``). ``FusedBody.run`` then runs the list on one block: a step writes
into the block of the result or into a buffer whose content is no longer needed. The calls and their order are the
body's own, and so are the digits.

A body that uses something a placeholder does not know (a shape, a method, the truth of a value) becomes no program and
is called with arrays instead. ``kernel`` declares a step of several NumPy calls that a body may use.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from functools import partial
from itertools import repeat
from operator import itemgetter
from types import FunctionType, SimpleNamespace
from typing import Any

import numpy as np

from .._base.dtypes import BLAS_FLOATS

SIZE = 1 << 17  # the size of a placeholder, about that of a block
MANY = 2048  # elements from which bodies of more NumPy calls are the faster ones


def recordable(x: Any) -> bool:
    """Whether kernels take an operand: an array of float32 or float64, or a placeholder for a block of one."""
    return x.dtype in BLAS_FLOATS


class _NoProgram(Exception):
    """The body used something that a placeholder does not know."""


class Slot(int):
    """The number of an operand or of a step's result; a plain int among the arguments is a value."""


# ---- recording
class _Steps(list[Any]):
    """(function, arguments, slot, dtype) of each step; ``named``: what C has in the place of some."""

    def __init__(self, operands: int) -> None:
        super().__init__([(None, (), operands - 1, None)])
        self.named: dict[int, tuple[Any, list[int]]] = {}


class Placeholder(np.lib.mixins.NDArrayOperatorsMixin):
    """A stand-in for an array while a body is recorded. ``sample``: one element, which has the array's dtype."""

    __slots__ = ("sample", "slot", "steps")
    size = SIZE
    shape = (SIZE,)
    ndim = 1

    def __init__(self, steps: _Steps, slot: int, sample: Any) -> None:
        self.steps = steps
        self.slot = slot
        self.sample = sample

    @property
    def dtype(self) -> Any:
        return self.sample.dtype

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, out: Any = (), **kwargs: Any) -> Any:
        if method != "__call__" or kwargs or ufunc.nout != 1:
            raise _NoProgram
        return self._record(ufunc, inputs, out[0] if out else None)

    def _record(self, fn: Any, inputs: Any, out: Any = None) -> Any:
        samples = [_sample(x) for x in inputs]
        with np.errstate(all="ignore"):
            sample = fn(*samples)
        if type(sample) is not np.ndarray or sample.shape != (1,):
            raise _NoProgram
        if out is not None and (type(out) is not Placeholder or out.dtype is not sample.dtype):
            raise _NoProgram
        arguments = [x.slot if type(x) is Placeholder else _constant(x, samples, sample.dtype) for x in inputs]
        if fn in _PAIRED:
            arguments = [_Filled(x) if type(x) is np.ndarray else x for x in arguments]
        slot = self._known(fn, arguments, sample)
        if slot is None:
            slot = Slot(self.steps[-1][2] + 1)
            self.steps.append((fn, arguments, slot, sample.dtype))
        if out is None:
            return Placeholder(self.steps, slot, sample)
        out.slot = slot  # from here on `out` is the result of this step
        return out

    def _known(self, fn: Any, arguments: list[Any], sample: Any) -> Any:
        """The slot that already holds the value: an equal earlier step, or the operand of a multiplication by 1."""
        if fn in _BY_ONE and type(arguments[1]) is np.ndarray and arguments[1] == 1 and sample.dtype is self.dtype:
            return arguments[0]
        if all(type(x) is Slot for x in arguments):
            return next((step[2] for step in self.steps if step[0] is fn and step[1] == arguments), None)
        return None

    def __array_function__(self, *args: Any) -> Any:
        raise _NoProgram

    def __pow__(self, exponent: Any) -> Any:  # NumPy's shortcuts, which only its operator uses
        if type(exponent) in (int, float) and self.dtype.kind == "f" and exponent in _SHORT_POWERS:
            return _SHORT_POWERS[exponent](self)
        return _power(self, exponent)

    def conj(self) -> Any:
        return np.conjugate(self) if self.dtype.kind == "c" else self

    def named(self, name: str, r: Placeholder) -> None:
        """Note that ``r`` is a function of this alone, which C has under a name of its own."""
        self.steps.named[r.slot] = SimpleNamespace(__name__=name), [self.slot]

    def clip(self, low: Any, high: Any) -> Any:
        if type(low) is Placeholder or type(high) is Placeholder:
            raise _NoProgram
        return self._record(_clip(low, high), (self,))

    def astype(self, dtype: Any) -> Any:
        dtype = np.dtype(dtype)
        return self if dtype is self.dtype else self._record(_cast(dtype), (self,))

    def __bool__(self) -> bool:
        raise _NoProgram

    __hash__ = object.__hash__


_BY_ONE = frozenset((np.multiply, np.divide))
_power: Any = np.power
_SHORT_POWERS: dict[float, Any] = {2: np.square, 0.5: np.sqrt, -1: np.reciprocal, 1: np.positive}


def _sample(x: Any) -> Any:
    if type(x) is Placeholder:
        return x.sample
    if isinstance(x, (int, float, np.generic)) or (type(x) is np.ndarray and not x.ndim and not x.flags.writeable):
        return x
    raise _NoProgram


def _constant(x: Any, samples: list[Any], result: Any) -> Any:
    """A number in the form that NumPy takes fastest: an array of the dtype of the computation, if that is known."""
    if isinstance(x, np.generic):
        return np.asarray(x)
    if type(x) is not np.ndarray:
        dtypes = {s.dtype for s in samples if isinstance(s, (np.ndarray, np.generic))}
        if len(dtypes) == 1 and (dtype := dtypes.pop()).kind == "f" and (result is dtype or result.kind == "b"):
            return np.asarray(x, dtype)
    return x


class _Filled:
    """A constant as a block: NumPy's ``maximum`` takes four times as long with a number."""

    def __init__(self, number: Any) -> None:
        self.number = number

    def like(self, block: Any) -> Any:
        if not block.flags.c_contiguous:
            return self.number
        size = block.size
        room = SIZE
        while room < size:
            room *= 2
        return _filled(self.number.tobytes(), self.number.dtype, room)[:size].reshape(block.shape)


@functools.lru_cache(4)
def _filled(number: bytes, dtype: Any, size: int) -> Any:
    """A read-only array with ``size`` copies of a number; zeros that are never written take no memory."""
    block = np.zeros(size, dtype)
    if any(number):
        block.fill(np.frombuffer(number, dtype)[0])
    block.flags.writeable = False
    return block


# ---- kernels
def kernel(fn: Callable[..., None]) -> Any:
    """Decorator: turn ``fn(out, *operands)``, which fills ``out``, into a function of arrays or placeholders.

    ``out`` has the dtype of the first operand, and shares no memory with any of them.
    """

    def step(*operands: Any) -> Any:
        out = operands[-1]
        fn(out, *operands[:-1])

    @functools.wraps(fn)
    def form(*operands: Any) -> Any:
        for x in operands:
            if type(x) is Placeholder:
                return x._record(whole, operands)
        return whole(*operands)

    def whole(*operands: Any) -> Any:
        if len(operands) > arity:
            return step(*operands)
        first = operands[0]
        shapes = {x.shape for x in operands if type(x) is np.ndarray}
        out = np.empty_like(first) if shapes == {first.shape} else np.empty(np.broadcast_shapes(*shapes), first.dtype)
        fn(out, *operands)
        return out

    arity = fn.__code__.co_argcount - 1
    whole.separate = True
    whole.__name__ = fn.__name__
    return form


def _clip(low: Any, high: Any) -> Any:
    def clip(x: Any, out: Any = None) -> Any:
        return x.clip(low, high, out)

    clip.limits = (low, high)
    return clip


@functools.lru_cache(256)
def _cast(dtype: Any) -> Any:
    def cast(x: Any, out: Any = None) -> Any:
        if out is None:
            return x.astype(dtype)
        np.copyto(out, x, casting="unsafe")
        return out

    return cast


_PAIRED = {  # ufuncs that are slow with a number, and how they take ``out``: two of them by name only
    np.maximum: lambda x, y, out: np.maximum(x, y, out=out),
    np.minimum: lambda x, y, out: np.minimum(x, y, out=out),
    np.fmax: np.fmax,
    np.fmin: np.fmin,
}


# ---- cost
SLOW = frozenset(
    getattr(np, name)
    for name in (
        "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "arcsin", "arccos", "arctan",
        "sinh", "cosh", "tanh", "arcsinh", "arccosh", "arctanh", "arctan2", "hypot", "power", "float_power", "sqrt",
        "cbrt", "logaddexp", "logaddexp2", "remainder", "fmod", "floor_divide", "gcd", "lcm", "nextafter",
    )
)  # fmt: skip
_QUICK_STEP, _SLOW_STEP, _ACCESS = 0.025, 0.075, 0.02  # ns a byte: a step in the cache, a slow one; memory


def _passes_of(fn: Any) -> int:
    return 1 if isinstance(fn, np.ufunc) else 3  # a kernel makes several calls


def _cost_of_step(fn: Any, dtype: Any) -> float:
    return (_SLOW_STEP if fn in SLOW else _QUICK_STEP) * dtype.itemsize * _passes_of(fn)


def cost_of(ufunc: Any, operands: Any) -> float:
    """The approximate nanoseconds for an element outside the cache; right to a factor of 2 on common machines."""
    dtypes = [x.dtype for x in operands if type(x) is np.ndarray and x.ndim]
    widest = max(dtypes, key=lambda dtype: dtype.itemsize)
    return _cost_of_step(ufunc, widest) + _ACCESS * (sum([dtype.itemsize for dtype in dtypes]) + widest.itemsize)


# ---- programs
def _leading_to(lasts: list[int], steps: list[Any]) -> list[Any]:
    """The steps that the results need."""
    used = set(lasts)
    needed = []
    for step in reversed(steps):
        if step[2] in used:
            needed.append(step)
            used.update(x for x in step[1] if type(x) is Slot)
    needed.reverse()
    return needed


class FusedBody:
    """The steps of a body on registers: the operands, the results' blocks, other buffers, constants.

    A step writes into a buffer that it is the last to read, if its function allows that, or into one whose content is
    no longer needed. A step is stored as its function and a getter of its arguments from the registers, so that little
    Python runs between two steps: other threads wait for the interpreter meanwhile.
    """

    __slots__ = (
        "buffers", "compiled", "constants", "cost", "dtypes", "form", "outputs", "passes", "single", "steps", "width",
    )  # fmt: skip

    def __init__(self, dtypes: list[Any], steps: list[Any], lasts: list[int]) -> None:
        """``dtypes``: of the operands, ``None`` for a number; ``steps``: (function, arguments, slot, dtype).

        ``lasts``: the slots of the results.
        """
        count = len(dtypes)
        needed = _leading_to(lasts, steps)
        self.form: Any = None  # all operands' dtypes, steps, results: what ``compiled_bodies`` writes down
        self.compiled: Any = None  # the kernel, once it was looked for
        final = {x: k for k, step in enumerate(needed) for x in step[1] if type(x) is Slot}  # where a slot is last read
        final.update((slot, len(needed)) for slot in lasts)
        place: dict[int, Any] = {k: k for k in range(count)}  # slot -> operand, or buffer and dtype
        sizes: list[int] = []  # of an element of each buffer
        free: list[int] = []
        calls: list[Any] = []
        written: dict[tuple[int, Any], None] = {}  # the buffers and the dtypes that they are used with
        buffer_of: dict[int, int] = {}  # slot -> buffer
        for k, (fn, arguments, slot, dtype) in enumerate(needed):
            dying = {buffer_of[x] for x in arguments if type(x) is Slot and x in buffer_of and final[x] == k}
            separate = getattr(fn, "separate", False)
            candidates = list(free) if separate else [*dying, *free]
            b = next((b for b in candidates if sizes[b] == dtype.itemsize), None)
            if b is None:
                b = len(sizes)
                sizes.append(dtype.itemsize)
            elif b in free:
                free.remove(b)
            free += [d for d in dying if d != b]
            buffer_of[slot] = b
            written[b, dtype] = None
            calls.append((fn, [place.get(x) if type(x) is Slot else _Constant(x) for x in arguments], (b, dtype)))
            place[slot] = (b, dtype)
        made = {slot: dtype for _, _, slot, dtype in needed}
        self.dtypes = [made[slot] for slot in lasts]  # of the results
        self._number(calls, written, [buffer_of[slot] for slot in lasts], count)
        self.width = len(dtypes) + len({b for b, _ in written})  # the number of arrays
        self.passes = sum([_passes_of(fn) for fn, _, _, _ in needed])
        self.single = self.passes == 1 and _Filled not in map(type, self.constants)  # no use for blocks
        self.cost = sum([_cost_of_step(fn, dtype) for fn, _, _, dtype in needed])  # ns for each element, about
        self.cost += _ACCESS * sum([dtype.itemsize for dtype in (*dtypes, *self.dtypes) if dtype is not None])

    def _number(self, calls: list[Any], written: Any, results: list[int], count: int) -> None:
        """Give the registers their numbers."""
        outputs = [key for key in written if key[0] in results]
        self.outputs = [(results.index(b), dtype) for b, dtype in outputs]
        self.buffers = [key for key in written if key[0] not in results]
        constants = [x for _, arguments, _ in calls for x in arguments if type(x) is _Constant]
        self.constants = [x.value for x in constants]
        registers = {x: k for k, x in enumerate([*range(count), *outputs, *self.buffers, *constants])}
        self.steps = [
            (_PAIRED.get(fn, fn), itemgetter(*[registers[x] for x in arguments], registers[target]))
            for fn, arguments, target in calls
        ]

    def run(self, outs: Sequence[Any], operands: Sequence[Any]) -> None:
        """Run the body on one block and write into the blocks ``outs``."""
        registers = [*operands, *self._views(outs), *self._own(outs[0])]
        for fn, take in self.steps:
            fn(*take(registers))

    def run_along(self, outs: Sequence[Any], operands: Sequence[Any], size: int) -> None:
        """Run the body on arrays of one dim, in equal blocks of at least ``size`` elements."""
        n = len(outs[0])
        size = math.ceil(n / max(n // size, 1) / 64) * 64
        whole = n // size * size
        is_cut = [type(a) is np.ndarray and a.ndim > 0 for a in operands]
        if whole:
            own, steps = self._own(outs[0][:size]), self.steps
            pairs = zip(operands, is_cut, strict=True)
            tables = [a[:whole].reshape(-1, size) if cut else repeat(a) for a, cut in pairs]
            tables += self._views([out[:whole].reshape(-1, size) for out in outs])
            for block in zip(*tables, strict=False):  # numbers are repeated without end
                registers = [*block, *own]
                for fn, take in steps:
                    fn(*take(registers))
        if whole < n:
            rest = [a[whole:] if cut else a for a, cut in zip(operands, is_cut, strict=True)]
            self.run([out[whole:] for out in outs], rest)

    def _views(self, outs: Sequence[Any]) -> list[Any]:
        return [outs[k] if outs[k].dtype is dtype else outs[k].view(dtype) for k, dtype in self.outputs]

    def _own(self, block: Any) -> list[Any]:
        """Buffers and constants for a block of this size."""
        buffers: dict[int, Any] = {}
        for b, dtype in self.buffers:
            if b not in buffers:
                buffers[b] = np.empty(block.shape, dtype)
        made = [buffers[b] if buffers[b].dtype is dtype else buffers[b].view(dtype) for b, dtype in self.buffers]
        return made + [x.like(block) if type(x) is _Filled else x for x in self.constants]


class _Constant:
    """A constant among the arguments of a step."""

    def __init__(self, value: Any) -> None:
        self.value = value


def fused_body_of(body: Any, operands: tuple[Any, ...]) -> FusedBody | None:
    """The program of a body on these operands; arrays are told apart by dtype only, other parameters by value."""
    try:
        key = (_identity(body), *[_kind_of(x) for x in operands])
        return _programs[key]
    except TypeError:  # the body holds something mutable: a closure over a list
        return None
    except KeyError:
        pass
    program = _recorded(body, operands)
    if len(_programs) >= 2000:
        _programs.clear()
    _programs[key] = program
    return program


_programs: dict[Any, FusedBody | None] = {}


def _identity(body: Any) -> Any:
    """The key of a body: two closures of one ``lambda`` over the same values are the same body."""
    if type(body) is partial:
        if body.keywords:
            raise TypeError
        return (_identity(body.func), *map(_value_of, body.args))
    if type(body) is FunctionType and body.__closure__ is not None:
        values = [*(body.__defaults__ or ()), *[cell.cell_contents for cell in body.__closure__]]
        return (body.__code__, *map(_value_of, values))
    return body


def _value_of(x: Any) -> Any:
    if type(x) is float:
        return float, x.hex()  # equal zeros differ by their sign, and nan is not equal to itself
    return type(x), x


def _kind_of(x: Any) -> Any:
    return x.dtype if type(x) is np.ndarray else _value_of(x)


def _recorded(body: Any, operands: tuple[Any, ...]) -> FusedBody | None:
    steps = _Steps(len(operands))
    try:
        r = body(
            *[
                Placeholder(steps, Slot(k), np.ones(1, x.dtype)) if type(x) is np.ndarray else x
                for k, x in enumerate(operands)
            ]
        )
    except Exception:  # noqa: BLE001  the body itself will say what is wrong
        return None
    results = r if type(r) is tuple else (r,)
    lasts = [value.slot for value in results if type(value) is Placeholder]
    if len(lasts) < len(results) or min(lasts) < len(operands) or len(set(lasts)) < len(lasts):
        return None
    dtypes = [x.dtype if type(x) is np.ndarray and x.ndim else None for x in operands]
    program = FusedBody(dtypes, steps[1:], lasts)
    in_c = [(*steps.named.get(slot, (fn, given)), slot, dtype) for fn, given, slot, dtype in steps[1:]]
    program.form = [x.dtype if type(x) is np.ndarray else None for x in operands], _leading_to(lasts, in_c), lasts
    return program
