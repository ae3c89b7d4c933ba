"""Arrays of another library, on a device of their own: a type of payload, and the library's registration.

A ``Foreign`` holds an array of a library that has NumPy's interface and dtypes, as CuPy's arrays do. It is a
``Transformed`` that no transform made: the hot path's test of dtypes leads operators on it away, ``transforms.bind``
hands them to ``computed``, and formulas, transforms and optimizers run on it as on any value. So only the bodies of
operators meet the library's arrays. The body that a declaration has runs with the library in place of NumPy's
``lib``; a body that is tuned to NumPy's memory (``out=``, strides, BLAS, threads) has a plain one beside it
(``_base.registry.plain``), which runs here. Nothing is converted or moved but where the program asks for it.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from typing import Any

import numpy as np

from .._arrays.library import late_functions
from .._base.dtypes import BY_NUMPY
from .._base.dtypes import device as Device
from .._base.errors import LinAlgError, noted
from .._base.registry import ARRAYS, ON_HOST, PLAIN, PLAIN_BODIES, REGISTRY, TRANSFORMED, XP, Namespace, Operator
from .._tape.tensor import Tensor, device_of, wrap
from .meta import no_numpy, two_devices
from .transforms import DEEPEST, VALUE_DTYPES, Transformed, ValueDtype, plain_dtype

LIBRARIES: dict[str, Library] = {}  # by the type of their device
_FIRST_DEPTH = DEEPEST + 4  # depths that no transform, no ``Meta`` and no ``Traced`` has; one for each library


class Library:
    """An array library whose arrays tensors may hold, and the device that they are on.

    ``kind`` is the type of the device ("cuda"), ``module`` has NumPy's functions, ``array`` is the class of the
    arrays. ``upload(array, index)`` and ``download(array)`` copy from and to NumPy, ``strided(array, shape, strides,
    offset)`` is a view of an array's memory, ``index_of(array)`` the number of its device. ``special`` has SciPy's
    special functions, if the library has them.
    """

    def __init__(
        self,
        kind: str,
        module: Any,
        array: type,
        upload: Callable[[np.ndarray, int], Any],
        download: Callable[[Any], np.ndarray],
        strided: Callable[[Any, Any, Any, int], Any],
        index_of: Callable[[Any], int] = lambda a: 0,
        special: Any = None,
    ) -> None:
        self.kind, self.module, self.array, self.special = kind, module, array, special
        self.upload, self.download, self.index_of, self.strided = upload, download, index_of, strided
        self.depth = _FIRST_DEPTH + len(LIBRARIES)
        self.lib: Any = Functions(self)
        self.xp = Bodies(self)
        self.dtypes = _Dtypes(self)
        LIBRARIES[kind] = self
        XP[array] = self.xp

    def own(self, a: Any) -> Any:
        """A NumPy array or number as an array of the library, any other object itself."""
        return self.upload(np.asarray(a), self.index()) if isinstance(a, (np.ndarray, np.generic)) else a

    def on_host(self, fn: Any) -> Any:
        """A function of NumPy's arrays as one of the library's, on copies of operands and results."""

        def moved(a: Any, how: Any, kind: Any) -> Any:
            if isinstance(a, kind):
                return how(a)
            return type(a)(moved(x, how, kind) for x in a) if type(a) in (tuple, list) else a

        def run(*args: Any) -> Any:
            r = fn(*moved(args, self.download, self.array))
            return moved(r, self.own, (np.ndarray, np.generic))

        return run

    def index(self) -> int:
        """The number of the device on which new arrays are made."""
        return 0

    def place(self, index: int) -> Device:
        """The device of this number."""
        return Device(self.kind, index)

    def make(self, maker: Any, shape: Any, dtype: Any, index: int | None = None) -> Foreign:
        """A payload that the library's function of this NumPy function's name makes: zeros, ones, empty."""
        with self.on(self.index() if index is None else index):
            made = getattr(self.module, maker.__name__.lstrip("_"), None)
            if made is None:  # computed in NumPy
                return Foreign(self.upload(maker(shape, plain_dtype(dtype)), self.index()), self)
            return Foreign(made(shape, plain_dtype(dtype)), self)

    def on(self, index: int) -> Any:
        """A context in which new arrays are made on the device of this number."""
        return nullcontext()

    def raising(self) -> Any:
        """A context in which linear algebra that fails raises."""
        return nullcontext()

    def payload(self, a: Any) -> Foreign:
        """A payload on the memory of an array of the library."""
        if a.dtype not in BY_NUMPY:
            raise TypeError(f"can't convert an array of dtype {a.dtype} of {self.kind}")
        return Foreign(a, self)


def library_at(kind: str) -> Library | None:
    """The library of a type of device, ``None`` if there is none."""
    found = LIBRARIES.get(kind)
    if found is None and kind == "cuda":
        from .cuda import connected

        found = connected()
    return found


stand_in = False  # `--stand-in` lets the CPU stand for cards


def can_pin() -> bool:
    """Whether there are cards that pinned memory is for."""
    return stand_in or library_at("cuda") is not None


def library_of(ty: type) -> Library | None:
    """The library of a class of arrays, ``None`` for any other class."""
    for library in LIBRARIES.values():
        if issubclass(ty, library.array):
            return library
    return library_at("cuda") if ty.__module__.partition(".")[0] == "cupy" else None


def moved(a: Any, device: Device) -> Any:
    """A payload on another device: of its library, or of NumPy on the CPU."""
    if isinstance(a, Foreign):
        if device.type == a.library.kind and device.index in (None, a.place.index):
            return a
        a = a.numpy()
    library = library_at(device.type)
    if library is None:
        return a
    index = library.index() if device.index is None else device.index
    return Foreign(library.upload(np.asarray(a), index), library)


class _Dtypes(dict[Any, ValueDtype]):
    """NumPy's dtype -> the dtype of the payloads of one library."""

    def __init__(self, library: Library) -> None:
        self.library = library

    def __missing__(self, dtype: Any) -> ValueDtype:
        made = self[dtype] = VALUE_DTYPES[dtype, self.library.depth]
        made.library = self.library
        return made


class _Numbers(dict[Any, Any]):
    """dtype -> the number as an array of a library."""

    def __init__(self, library: Library, value: int) -> None:
        self.library, self.value = library, value

    def __missing__(self, dtype: Any) -> Any:
        return self.library.module.full((), self.value, dtype)


class _AsTheyAre(dict[Any, Any]):
    """dtype -> number -> the number."""

    def __missing__(self, key: Any) -> Any:
        return _NUMBERS if isinstance(key, np.dtype) else key


_AS_THEY_ARE, _NUMBERS = _AsTheyAre(), _AsTheyAre()


class _Associative:
    """A ufunc with the methods ``reduce`` and ``accumulate``, which CuPy's comparisons lack."""

    def __init__(self, lib: Functions, name: str, reduced: str | None) -> None:
        self.lib, self.fn, self.reduced = lib, getattr(lib._library.module, name), reduced

    def __call__(self, *operands: Any, **options: Any) -> Any:
        return self.fn(*operands, **options)

    def at(self, a: Any, index: Any, values: Any) -> None:
        """The result into the places of an array."""
        self.fn.at(a, index, values)

    def reduce(self, x: Any, axis: Any = 0, dtype: Any = None, out: Any = None, keepdims: bool = False) -> Any:
        """The result over some dims."""
        if self.reduced is None:
            return self.accumulate(x, axis).swapaxes(axis, 0)[-1]
        return getattr(self.lib, self.reduced)(x, axis, keepdims=keepdims)

    def accumulate(self, x: Any, axis: int = 0, dtype: Any = None) -> Any:
        """The running result, in steps of 1, 2, 4, ... elements."""
        r = (x if dtype is None else x.astype(dtype)).copy()
        rows, step = r.swapaxes(axis, 0), 1
        while step < len(rows):
            rows[step:] = self.fn(rows[:-step], rows[step:])
            step *= 2
        return r


_REDUCED = {"maximum": "max", "minimum": "min", "logical_and": "all", "logical_or": "any", "logaddexp": None,
            "fmax": "nanmax", "fmin": "nanmin"}  # fmt: skip


class Functions:
    """What operators' bodies compute with: the plain forms of ``lib``'s own functions, and the library's functions."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self.ZEROS, self.ONES = _Numbers(library, 0), _Numbers(library, 1)
        self.NUMBERS = _AS_THEY_ARE

    def strided(self, a: Any, shape: Any, strides: Any, offset: int = 0) -> Any:
        """A view of an array's memory with these strides, from ``offset`` bytes after its first element on."""
        return self._library.strided(a, shape, strides, offset)

    def host(self, a: Any) -> Any:
        """A copy in NumPy."""
        return self._library.download(a)

    def table(self, a: Any) -> Any:
        """An array of NumPy, such as a table of indices that sizes alone determine, as one of the library."""
        return self._library.own(a)

    def add_at(self, r: Any, index: Any, values: Any) -> None:
        """``add.at`` of an array: CuPy's adds no int64, and to bits it is the same to add uint64."""
        if r.dtype.kind in "iub":
            wide = r.astype(np.int64)
            self._library.module.add.at(wide.view(np.uint64), index, values.astype(np.int64).view(np.uint64))
            r[...] = wide.astype(r.dtype)
        else:
            self._library.module.add.at(r, index, values)

    def __getattr__(self, name: str) -> Any:
        if name in late_functions:
            late_functions[name]  # its module has the plain form
        found: Any
        if name in PLAIN:
            found = partial(PLAIN[name], self)
        elif name in _REDUCED:
            found = _Associative(self, name, _REDUCED[name])
        elif name.startswith("scipy_"):
            found = getattr(self._library.special, name.removeprefix("scipy_"))
        else:
            found = getattr(self._library.module, name)
        setattr(self, name, found)
        return found


class Bodies(Namespace):
    """The raw functions of operators for one library, each made when it is first used."""

    def __init__(self, library: Library) -> None:
        self.library = library
        self.lib = library.lib

    def __getattr__(self, name: str) -> Any:
        if name not in REGISTRY:
            raise AttributeError(f"no operator is called {name}")
        info, library = REGISTRY[name], self.library
        body = PLAIN_BODIES.get(name) or info.decl

        def raw(*args: Any) -> Any:
            try:
                args = (
                    tuple(map(library.own, args)) if info.arity >= 0 else (list(map(library.own, args[0])), *args[1:])
                )
                with library.raising():
                    r = getattr(self.lib, info.libname)(*args) if body is None else body(self.lib, *args)
            except np.linalg.LinAlgError as error:
                raise LinAlgError(f"torch.linalg.{info.name}: {error}") from None
            except (TypeError, AttributeError) as error:
                raise _without_body(info, library) from error
            results = (r,) if info.outputs == 1 else tuple(r)
            if not all(isinstance(each, library.array) for each in results):
                raise _without_body(info, library)
            if not info.view:
                given = [a for a in (args if info.arity >= 0 else args[0]) if isinstance(a, library.array)]
                results = tuple(_alone(each, given, library) for each in results)
            return results[0] if info.outputs == 1 else results

        made = library.on_host(getattr(ARRAYS, name)) if name in ON_HOST else raw
        setattr(self, name, made)
        return made


def _alone(r: Any, given: list[Any], library: Library) -> Any:
    """A result on memory of its own."""
    shared = any(r is a or (r.base is not None and library.module.may_share_memory(r, a)) for a in given)
    return r.copy() if shared else r


def _without_body(info: Operator, library: Library) -> NotImplementedError:
    return noted(
        NotImplementedError(
            f"Could not run 'aten::{info.name}' with arguments from the '{library.kind.upper()}' backend."
        ),
        f"Why: the body of {info.name} needs NumPy's arrays, or {library.kind} computes nothing of such operands.",
        "What to do: t.cpu() moves a tensor; who writes operators gives this one a plain body (CONTRIBUTING.md).",
    )


class Foreign(Transformed):
    """An array ``v`` of a library."""

    __slots__ = ("library",)
    is_foreign = True
    tag = 0
    v: Any

    def __init__(self, v: Any, library: Library) -> None:
        self.v = v
        self.library = library

    dtype = property(lambda self: self.library.dtypes[self.v.dtype])
    shape = property(lambda self: self.v.shape)
    strides = property(lambda self: self.v.strides)
    itemsize = property(lambda self: self.v.itemsize)
    nbytes = property(lambda self: self.v.nbytes)
    place = property(lambda self: self.library.place(self.library.index_of(self.v)))

    def numpy(self) -> np.ndarray:
        """A copy in NumPy."""
        return self.library.download(self.v)

    def payload_like(self, make: Any) -> Foreign:
        return self.library.make(make, self.v.shape, self.v.dtype)

    def write(self, a: Foreign) -> None:
        """Write the elements of another array into this one's memory."""
        if a.v is not self.v:
            self.v[...] = a.v

    def copy(self) -> Foreign:
        """A copy on memory of its own."""
        return Foreign(self.v.copy(), self.library)

    own = copy  # a gradient's memory is its tensor's alone

    def fill(self, value: Any) -> None:
        """Write a number to all elements."""
        self.v.fill(value)

    def astype(self, dtype: Any, copy: bool = True) -> Foreign:
        """Convert to another dtype."""
        return Foreign(self.v.astype(plain_dtype(dtype), copy=copy), self.library)

    def item(self) -> Any:
        """The one element as a Python number."""
        return self.numpy().item()

    def all(self) -> bool:
        """Whether all elements are true."""
        return bool(self.v.all())

    def __reduce__(self) -> Any:
        return _from_file, (self.numpy(), self.place)

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise no_numpy(self.place)

    def __deepcopy__(self, memo: Any) -> Foreign:
        return self.copy()

    @staticmethod
    def with_dense(info: Operator, *args: Any) -> Any:
        """Run an operator on several tensors whose payloads differ in type."""
        tensors = args[: info.arity] if info.arity >= 0 else args[0]
        here: Any = next(t._payload for t in tensors if isinstance(t, Tensor) and type(t._payload) is Foreign)
        moved = [beside(here, info, t) if isinstance(t, Tensor) else t for t in tensors]
        return info.op(*moved, *args[info.arity :]) if info.arity >= 0 else info.op(moved, *args[1:])


def _from_file(a: Any, place: Device) -> Any:
    """The payload of a pickle, on the device that it came from."""
    return moved(a, place)


def beside(here: Foreign, info: Operator, t: Tensor) -> Tensor:
    """An operand beside a tensor of another library: one of NumPy may be a number, or an index."""
    a = t._payload
    if isinstance(a, (np.ndarray, np.generic)):
        if not a.ndim and t._node is None:
            return wrap(Foreign(here.library.upload(np.asarray(a), here.library.index_of(here.v)), here.library))
        raise two_devices(here.place, device_of(a))
    return t


def _raw(here: Foreign, a: Any) -> Any:
    """An operand as the library's bodies take it."""
    if isinstance(a, Foreign) and a.library is here.library:
        return a.v
    if isinstance(a, (np.ndarray, np.generic)):  # a formula's constant: ``check_devices`` has seen the tensors
        return here.library.upload(np.asarray(a), here.library.index_of(here.v))
    if isinstance(a, Transformed):
        raise two_devices(here.place, device_of(a))
    return a


def computed(info: Operator, operands: list[Any], p: tuple[Any, ...]) -> Any:
    """The result of an operator on payloads if some are arrays of a library."""
    here = next(a for a in operands if isinstance(a, Foreign))
    library = here.library
    raws = [_raw(here, a) for a in operands]
    lifted = [wrap(a) if isinstance(a, library.array) else a for a in raws]
    p = tuple(a.v if isinstance(a, Foreign) else a for a in p)
    with library.on(library.index_of(here.v)):
        out = info.core(*lifted, *p) if info.arity >= 0 else info.core(lifted, *p)
    if info.outputs == 1:
        return Foreign(out._payload, library)
    return tuple(Foreign(o._payload, library) for o in out)


Foreign.computed = staticmethod(computed)
XP[Foreign] = TRANSFORMED
