"""One call of a C program: the memory that it writes, and the table of addresses that its functions read."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any
from weakref import ref

import numpy as np

from ..._arrays.layouts import with_strides
from ..._arrays.memory import address_of
from ..calls import copied
from ..tape import Constant, Input, Special
from .layout import empty_like_strides
from .pieces import Place
from .steps import Call, step_all

if TYPE_CHECKING:
    from .program import CProgram

empty = np.empty
SCRATCH = -1  # the memory that one operator needs besides its operands
ALIGNED = 64
_SMALL = 4096  # bytes that are copied sooner than a new array's address is found


class _Array:
    """Memory as NumPy sees it; ``base`` lives as long as the array."""

    def __init__(self, at: int, place: Place, base: Any) -> None:
        item = place.dtype.itemsize
        self.base = base
        self.__array_interface__ = {
            "shape": place.shape, "typestr": place.dtype.str, "data": (at + place.offset * item, False),
            "strides": tuple([s * item for s in place.strides]), "version": 3,
        }  # fmt: skip


def _nothing() -> None:
    """What a weak reference to an array that is gone gives."""


class Frame:
    """The memory of one call of a program, and the table of addresses that its C functions read."""

    def __init__(self, program: CProgram) -> None:
        self._program = ref(program)  # which has this frame
        size = program.nbytes + program._scratch_bytes + 2 * ALIGNED
        self.memory = np.empty(size, np.uint8)
        start = -self.memory.ctypes.data % ALIGNED
        self.begin = self.memory.ctypes.data + start
        self.table = (ctypes.c_void_p * max(len(program.memories), 1))()
        self.address = ctypes.addressof(self.table)
        self.given: list[tuple[int, int, Any]] = []  # place in the table, index of the input, its strides
        known = set(program.memories)  # an empty result has no place in the table
        self.untouched = [
            (m, program.plan.values[m].shape, program.plan.values[m].dtype)
            for m in program.fresh_roots
            if m not in known
        ]
        self.made: list[tuple[int, int, Any, Any]] = []  # place in the table, value, its shape and dtype
        self.turned: list[tuple[int, int, Place]] = []  # the same of arrays whose dims lie in another order
        self.copied: list[tuple[int, Any]] = []  # value, memory of the frame that its small array is a copy of
        self.last: list[Any] = []
        self.arrays: dict[Place, Any] = {}  # in the frame's own memory
        for k, m in enumerate(program.memories):
            source = program._sources.get(m)
            if m == SCRATCH:
                self.table[k] = self.begin + -(-program.nbytes // ALIGNED) * ALIGNED
            elif isinstance(source, Input):
                place = program.layout.places[m]
                self.given.append((k, source.index, tuple([s * place.dtype.itemsize for s in place.strides])))
                self.last.append(_nothing)
            elif isinstance(source, Constant):
                self.table[k] = np.asarray(source.array).__array_interface__["data"][0]
            elif m in program.roots and program.simple and program.plan.values[m].nbytes <= _SMALL:
                place = program.layout.places[m]
                slot = empty_like_strides(place, place.strides)
                self.table[k] = address_of(slot)
                self.copied.append((m, slot))
            elif m in program.roots and not program.layout.places[m].dense:
                self.turned.append((k, m, program.layout.places[m]))
            elif m in program.roots:
                self.made.append((k, m, program.plan.values[m].shape, program.plan.values[m].dtype))
            else:
                self.table[k] = self.begin + program.offsets[m]

    @property
    def program(self) -> CProgram:
        """The program whose call it is."""
        found: Any = self._program()
        return found  # type: ignore[no-any-return]

    def run(self, inputs: list[Any]) -> list[Any] | None:
        program, table, last = self.program, self.table, self.last
        for j, (k, index, strides) in enumerate(self.given):
            a = inputs[index]
            if last[j]() is not a:
                if a.strides != strides:
                    turned = self._as_expected(inputs, index, strides)
                    if turned is None:
                        return None
                    inputs = turned
                    a = inputs[index]
                table[k] = address_of(a)
                last[j] = ref(a)
        if program._check is not None and not program._check(self.address):
            return None
        if program.filled:
            self.memory[:] = 255
        own: dict[int, Any] = {}
        for k, m, shape, dtype in self.made:
            own[m] = a = empty(shape, dtype)
            table[k] = address_of(a)
        for k, m, place in self.turned:
            own[m] = a = empty_like_strides(place, place.strides)
            table[k] = address_of(a)
        if program.simple:
            for step in program._steps:
                step(self.address)
            for m, slot in self.copied:
                own[m] = slot.copy("K")
            return [own[r] for r in program.plan.results]
        for m, shape, dtype in self.untouched:
            own[m] = empty(shape, dtype)
        early = {k: copied(self._array(p, inputs, own)) for k, p in program.early}
        for step in program._steps:
            if type(step) is Call:
                self._call(step, inputs, own)
            elif type(step) is list:
                step_all([(x.run, self._array(x.args[1], inputs, own)) for x in step])
            else:
                step(self.address)
        given: dict[Any, Any] = {}  # what is several results is one array
        results = []
        for k, r in enumerate(program.plan.results):
            key = k if k in early or k in program.late else (int(r), program.strides[k])
            if key not in given:
                given[key] = early[k] if k in early else self._result(k, r, inputs, own)
            results.append(given[key])
        return results

    def _as_expected(self, inputs: list[Any], index: int, strides: Any) -> list[Any] | None:
        """The inputs with one in the layout that the program was made for; ``None`` if a copy will not do."""
        a = inputs[index]
        if index in self.program.updated or not a.size:
            return None if a.size else inputs
        made = np.empty(a.shape, a.dtype)
        if made.strides != strides:
            return None
        made[...] = a
        return [*inputs[:index], made, *inputs[index + 1 :]]

    def _result(self, k: int, r: Any, inputs: list[Any], own: dict[int, Any]) -> Any:
        program = self.program
        strides = program.strides[k]
        if strides is not None:
            return with_strides(self._array(program.layout.places[r], inputs, own), strides)
        if r in own and k not in program.late:
            return own[r]
        source = program._sources.get(int(r))
        if isinstance(source, Input) and k not in program.late:
            return inputs[source.index]
        made = self._array(program.layout.places[r], inputs, own)
        return copied(made) if k in program.late or isinstance(source, Constant) else made

    def _array(self, place: Place, inputs: list[Any], own: dict[int, Any]) -> Any:
        """A place as an array that keeps its memory alive."""
        made = self.arrays.get(place)
        if made is not None:
            return made
        source = self.program._sources.get(place.memory)
        whole = place == self.program.layout.places[place.memory]
        if place.memory in own:
            base = own[place.memory]
        elif isinstance(source, Input):
            base = inputs[source.index]
        elif isinstance(source, Constant):
            base = np.asarray(source.array)
        else:
            at = self.begin + self.program.offsets[place.memory]
            made = self.arrays[place] = (
                np.asarray(_Array(at, place, self.memory)) if place.size else np.empty(place.shape, place.dtype)
            )
            return made
        if whole:
            return base
        if place.dense and place.size == base.size and base.flags.c_contiguous and place.dtype == base.dtype:
            return base.reshape(place.shape)
        if not place.size:
            return np.empty(place.shape, place.dtype)
        return np.asarray(_Array(base.__array_interface__["data"][0], place, base))

    def _call(self, step: Call, inputs: list[Any], own: dict[int, Any]) -> None:
        op = step.op

        def array(a: Any) -> Any:
            if isinstance(a, list):
                return [array(x) for x in a]
            return self._array(a, inputs, own) if isinstance(a, Place) else a

        args = [array(a) for a in step.args]
        with np.errstate(all="ignore"):
            if isinstance(op.info, Special):
                results = [step.run(*args)][: len(step.outs)]  # a check has none
            else:
                made: Any = step.run(*args, *map(array, step.p))
                results = list(made) if op.many or len(step.outs) > 1 else [made]
        for place, r in zip(step.outs, results, strict=True):
            if place.size:
                self._array(place, inputs, own)[...] = r
