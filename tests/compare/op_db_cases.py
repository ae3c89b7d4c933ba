"""PyTorch's own operator database, `torch.testing._internal.common_methods_invocations.op_db`, made ready for wengert.

Every entry (an OpInfo) carries a function, sample inputs and error inputs, all of them made of PyTorch's objects.
`counterpart` finds wengert's function for PyTorch's, `Inputs` copies the arguments with their values, strides and
shared storages, and `outcome` runs either side to something that `mismatch` can compare: NumPy arrays or an error.
"""

from __future__ import annotations

import functools
import importlib
import itertools
import types
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import pytest

import wengert

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    torch = pytest.importorskip("torch", reason="torch is not installed: pip install '.[compare]'")
    pytest.importorskip("expecttest", reason="expecttest, which torch's operator database imports, is not installed")
    from torch.testing._internal import common_methods_invocations as invocations
    from torch.testing._internal import common_utils
    from torch.testing._internal.opinfo import core

# PyTorch asks `inspect.stack()` at each operator which test runs, to count inputs: most of the time of these tests.
core.extract_test_fn = common_utils.extract_test_fn = lambda: None
# And `torch.manual_seed` keeps its whole stack as text for each kind of device that has not been used yet.
for _device in (torch.cuda, torch.xpu, torch.mtia):
    _device.manual_seed_all = lambda seed: None
DTYPES = (torch.float32, torch.float64, torch.complex128, torch.int64, torch.bool)

# Where a function of PyTorch may be public. Several names may be one object.
NAMESPACES = (
    "torch",
    "torch.nn.functional",
    "torch.linalg",
    "torch.special",
    "torch.fft",
    "torch.masked",
    "torch.signal.windows",
    "torch.sparse",
    "torch.nn.init",
)


class Absent(Exception):
    """wengert has no function of that name."""


# ---- functions


def _public_names() -> dict[int, list[str]]:
    """From the identity of each of PyTorch's public functions and methods to its names."""
    names: dict[int, list[str]] = {}
    for space in NAMESPACES:
        module = importlib.import_module(space)
        for name in dir(module):
            value = getattr(module, name)
            if callable(value) and not isinstance(value, type):
                names.setdefault(id(value), []).append(f"{space}.{name}")
    for name in dir(torch.Tensor):
        names.setdefault(id(getattr(torch.Tensor, name)), []).append(f"torch.Tensor.{name}")
    return names


_PUBLIC_NAMES = _public_names()


def look_up(*names: str) -> Any:
    """wengert's object of PyTorch's dotted name, the first that is there."""
    for name in names:
        try:
            return functools.reduce(getattr, name.split(".")[1:], wengert)
        except AttributeError:
            continue
    raise Absent(names[0])


def _seeded(op: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """`wrapper_set_seed` of the database: the operator draws from the seed 42."""
    wengert.manual_seed(42)
    return op(*args, **kwargs)


_REBUILT: dict[int, tuple[Any, Any]] = {id(invocations.wrapper_set_seed): (None, _seeded)}


def counterpart(fn: Any) -> Any:
    """wengert's function for one of PyTorch's: by its public name, or the same Python code on wengert's names."""
    if id(fn) in _PUBLIC_NAMES:
        return look_up(*_PUBLIC_NAMES[id(fn)])
    if id(fn) in _REBUILT:
        return _REBUILT[id(fn)][1]
    if getattr(fn, "__module__", None) == "_operator":
        return fn
    if isinstance(fn, functools.partial):
        return functools.partial(counterpart(fn.func), *convert(fn.args), **convert(fn.keywords))
    if isinstance(fn, types.MethodType):
        return types.MethodType(counterpart(fn.__func__), fn.__self__)
    if isinstance(fn, (torch._ops.OpOverload, torch._ops.OpOverloadPacket)):
        return look_up(f"torch.ops.{fn}")
    if not isinstance(fn, types.FunctionType):
        name = getattr(fn, "__qualname__", getattr(fn, "__name__", repr(fn)))
        raise Absent(str(name))
    if fn.__module__.startswith("torch.") and not fn.__module__.startswith("torch.testing"):
        name = f"{fn.__module__}.{fn.__qualname__}"
        try:
            return getattr(importlib.import_module("wengert" + fn.__module__.removeprefix("torch")), fn.__qualname__)
        except (ImportError, AttributeError):
            raise Absent(name) from None
    return _rebuild(fn)


def _rebuild(fn: types.FunctionType) -> types.FunctionType:
    scope = {"__builtins__": __builtins__, "__name__": fn.__module__}
    cells = [types.CellType() for _ in fn.__closure__ or ()]
    copy = types.FunctionType(fn.__code__, scope, fn.__name__, None, tuple(cells))
    _REBUILT[id(fn)] = (fn, copy)  # before its parts: a function may name itself
    try:
        for name in _names_used(fn.__code__):
            if name in fn.__globals__:
                scope[name] = _convert_name(fn.__globals__[name])
        for old, new in zip(fn.__closure__ or (), cells, strict=True):
            new.cell_contents = _convert_name(old.cell_contents)
        copy.__defaults__ = convert(fn.__defaults__)
        copy.__kwdefaults__ = convert(fn.__kwdefaults__)
    except BaseException:
        del _REBUILT[id(fn)]
        raise
    return copy


def _names_used(code: types.CodeType) -> set[str]:
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names |= _names_used(constant)
    return names


def _convert_name(value: Any) -> Any:
    if value is torch:
        return wengert
    if isinstance(value, types.ModuleType) and value.__name__.startswith("torch."):
        return look_up(value.__name__)
    if isinstance(value, types.FunctionType | types.BuiltinFunctionType | types.MethodDescriptorType):
        return counterpart(value) if getattr(value, "__module__", None) != "builtins" else value
    return convert(value)


# ---- arguments


class Unsupported(Exception):
    """An argument that wengert has no form of: a sparse tensor, another device."""


class Inputs:
    """Copies of one sample's arguments. Tensors that are one object stay one, those that share a storage share one."""

    def __init__(self) -> None:
        self.copies: dict[int, Any] = {}
        self.storages: dict[tuple[int, int, Any], Any] = {}
        self.kept: list[Any] = []  # else a copy's memory, and so its address, would be that of the next one

    def __call__(self, value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            if id(value) not in self.copies:
                self.copies[id(value)] = self._tensor(value)
            return self.copies[id(value)]
        if isinstance(value, torch.Size):
            return wengert.Size(value)
        if isinstance(value, torch.dtype | torch.memory_format | torch.layout):
            try:
                return getattr(wengert, str(value).removeprefix("torch."))
            except AttributeError:
                raise Unsupported(str(value)) from None
        if isinstance(value, torch.device):
            return wengert.device(str(value))
        if isinstance(value, torch.Generator):
            return wengert.Generator().manual_seed(value.initial_seed())
        if isinstance(value, torch.nn.Module):
            return look_up(f"torch.nn.{type(value).__name__}")()
        if isinstance(value, torch.nn.LinearCrossEntropyOptions):
            return wengert.nn.LinearCrossEntropyOptions(**{f: self(getattr(value, f)) for f in value.__slots__})
        if isinstance(value, slice):
            return slice(self(value.start), self(value.stop), self(value.step))
        if isinstance(value, dict):
            return {key: self(item) for key, item in value.items()}
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            return type(value)(*map(self, value))
        if isinstance(value, list | tuple):
            return type(value)(map(self, value))
        if isinstance(value, types.FunctionType | types.BuiltinFunctionType | types.MethodDescriptorType):
            return counterpart(value)
        return value

    def _tensor(self, value: Any) -> Any:
        if value.device.type != "cpu" or value.is_quantized:
            raise Unsupported(f"{value.layout} on {value.device}")
        if value.layout is not torch.strided:
            return self._sparse(value)
        plain = value.detach().resolve_conj().resolve_neg()
        self.kept.append(plain)
        if plain.dtype is torch.bfloat16 or plain.ndim > 64:
            raise Unsupported("NumPy has no bfloat16 and at most 64 dimensions")
        whole = plain.untyped_storage().nbytes() // plain.element_size()
        key = (plain.untyped_storage().data_ptr(), whole, plain.dtype)
        if key not in self.storages or not key[0]:
            flat = torch.as_strided(plain, (whole,), (1,), 0).numpy().copy()
            self.storages[key] = wengert.from_numpy(flat)
        # What is expanded is so here too: memory in which entries repeat may not be written to.
        shape = [1 if step == 0 else n for n, step in zip(plain.shape, plain.stride(), strict=True)]
        copy = self.storages[key].as_strided(shape, plain.stride(), plain.storage_offset()).detach()
        if list(plain.shape) != shape:
            copy = copy.expand(tuple(plain.shape))
        return copy.requires_grad_() if value.requires_grad else copy

    def _sparse(self, value: Any) -> Any:
        detached, size = value.detach(), tuple(value.shape)
        if value.layout is torch.sparse_coo:
            parts = (self(detached._indices()), self(detached._values()))
            copy = wengert.sparse_coo_tensor(*parts, size, is_coalesced=value.is_coalesced())
        elif value.layout in (torch.sparse_csr, torch.sparse_csc):
            names = ("crow_indices", "col_indices") if value.is_sparse_csr else ("ccol_indices", "row_indices")
            parts = tuple(self(getattr(detached, name)()) for name in (*names, "values"))
            copy = wengert.sparse_compressed_tensor(*parts, size, layout=self(value.layout))
        else:
            raise Unsupported(f"{value.layout}")
        return copy.requires_grad_() if value.requires_grad else copy


def convert(value: Any) -> Any:
    return Inputs()(value)


def tensors_in(value: Any) -> list[Any]:
    """Every tensor in nested arguments or results, of either library, each once."""
    found: dict[int, Any] = {}

    def visit(item: Any) -> None:
        if isinstance(item, torch.Tensor | wengert.Tensor):
            found[id(item)] = item
        elif isinstance(item, dict):
            for inner in item.values():
                visit(inner)
        elif isinstance(item, list | tuple):
            for inner in item:
                visit(inner)

    visit(value)
    return list(found.values())


def with_tensors(value: Any, new: dict[int, Any]) -> Any:
    """The same nested arguments with some tensors exchanged."""
    if id(value) in new:
        return new[id(value)]
    if isinstance(value, dict):
        return {key: with_tensors(item, new) for key, item in value.items()}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(with_tensors(item, new) for item in value))
    if type(value) in (list, tuple):
        return type(value)(with_tensors(item, new) for item in value)
    return value


class Side:
    """One library's half of a comparison: its module, its function, and a sample in its own objects."""

    def __init__(self, lib: Any, fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], process: Any):
        self.lib, self.fn, self.args, self.kwargs, self.process = lib, fn, args, kwargs, process

    def call(self, **more: Any) -> Any:
        return self.fn(*self.args, **self.kwargs, **more)

    def leaves(self) -> list[Any]:
        return [t for t in tensors_in((self.args, self.kwargs)) if t.requires_grad]

    def processed(self, result: Any) -> Any:
        """What the database compares gradients of: singular vectors without their arbitrary signs, and the like."""
        return self.process(result) if self.process is not None else result


def sides(fn: Callable[..., Any], sample: Any) -> tuple[Side, Side]:
    inputs = Inputs()
    args = (sample.input, *sample.args)
    process = sample.output_process_fn_grad
    mine = Side(wengert, counterpart(fn), inputs(args), inputs(sample.kwargs), process and counterpart(process))
    return Side(torch, fn, args, dict(sample.kwargs), process), mine


def samples(op: Any, dtype: Any, requires_grad: bool, limit: int) -> Iterator[Any]:
    """Up to `limit` of the database's samples, from its first ones and from further on."""
    yield from _of_the_last_operator(op, dtype, requires_grad, limit)


def _draw(op: Any, dtype: Any, requires_grad: bool, limit: int) -> Iterator[Any]:
    torch.manual_seed(0)
    with warnings.catch_warnings():  # torch's own samples call what torch advises against
        warnings.simplefilter("ignore")
        drawn: Iterable[Any] = op.sample_inputs("cpu", dtype, requires_grad=requires_grad)
        made = list(itertools.islice(drawn, 8 * limit))
    step = max(1, len(made) // limit)
    for sample in made[::step][:limit]:
        if all(t.layout is torch.strided and t.numel() <= 10000 for t in tensors_in([sample.input, sample.args])):
            yield sample


_operator: Any = None
_kept: dict[Any, tuple[list[Any], list[int]]] = {}


def _of_the_last_operator(op: Any, *asked: Any) -> list[Any]:
    """The samples that were drawn for this operator before, unless one was written to: to draw them takes a fifth."""
    global _operator
    if op is not _operator:
        _operator = op
        _kept.clear()
    made, versions = _kept.get(asked, ([], []))
    if asked not in _kept or _versions(made) != versions:
        made = list(_draw(op, *asked))
        _kept[asked] = made, _versions(made)
    return made


def _versions(made: list[Any]) -> list[int]:
    return [t._version for sample in made for t in tensors_in((sample.input, sample.args, sample.kwargs))]


# ---- results


def outcome(run: Callable[[Side], Any], side: Side) -> Any:
    """What `run` gives for one side, in NumPy's and Python's objects; an error as its class and first sentence."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        side.lib.manual_seed(0)
        try:
            return plain(run(side))
        except Absent:
            raise
        except Exception as error:  # noqa: BLE001  (whatever it is, the other side must raise the same)
            return Failure(error)


class Failure:
    def __init__(self, error: BaseException):
        self.error = error
        self.kind = next(k for k in type(error).__mro__ if k.__module__ == "builtins")
        self.sentence = first_sentence(str(error))

    def __repr__(self) -> str:
        return f"{type(self.error).__name__}: {self.sentence}"


def first_sentence(text: str) -> str:
    line = text.strip().split("\n")[0]
    return " ".join(line.split(". ")[0].rstrip(".").split())


def plain(value: Any) -> Any:
    if isinstance(value, torch.Tensor | wengert.Tensor) and value.dtype in (torch.bfloat16, wengert.bfloat16):
        return ["bfloat16", plain(value.float())]
    if isinstance(value, torch.Tensor):
        dense = value.detach().resolve_conj().resolve_neg()
        return (dense + 0 if dense._is_zerotensor() else dense).numpy()
    if isinstance(value, wengert.Tensor):
        return value.numpy(force=True)
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, torch.dtype | wengert.dtype | torch.device | wengert.device):
        return str(value)
    return value


TOLERANCE = {"f2": 5e-3, "f4": 3e-5, "f8": 1e-8, "c8": 3e-5, "c16": 1e-8}


def mismatch(theirs: Any, mine: Any, *, values: bool = True, sentences: bool = False) -> str:
    """The first thing in which two outcomes differ, or an empty string. `sentences`: of errors, their text as well."""
    if isinstance(theirs, Failure) or isinstance(mine, Failure):
        if isinstance(theirs, Failure) and isinstance(mine, Failure):
            alike = issubclass(mine.kind, theirs.kind) and (not sentences or mine.sentence == theirs.sentence)
            return "" if alike else f"torch: {theirs}; wengert: {mine}"
        return f"torch: {_short(theirs)}; wengert: {_short(mine)}"
    if isinstance(theirs, list):
        if not isinstance(mine, list) or len(mine) != len(theirs):
            return f"torch: {len(theirs)} results; wengert: {_short(mine)}"
        pairs = zip(theirs, mine, strict=True)
        return next(filter(None, (mismatch(a, b, values=values) for a, b in pairs)), "")
    if not isinstance(theirs, np.ndarray) or not isinstance(mine, np.ndarray):
        same = type(theirs) is type(mine) and (theirs == mine or theirs != theirs)
        return "" if same or not values else f"torch: {_short(theirs)}; wengert: {_short(mine)}"
    if theirs.dtype != mine.dtype or theirs.shape != mine.shape:
        return f"torch: {theirs.dtype}{list(theirs.shape)}; wengert: {mine.dtype}{list(mine.shape)}"
    rtol = TOLERANCE.get(theirs.dtype.str[1:], 0)
    if not values or theirs.size == 0 or np.allclose(theirs, mine, rtol, rtol * _scale(theirs), equal_nan=True):
        return ""
    return f"values of {theirs.dtype}{list(theirs.shape)}: torch {_short(theirs)}; wengert {_short(mine)}"


def _scale(array: np.ndarray) -> float:
    """What an absolute error is measured by: an entry that is small beside the largest is as exact as that one is.

    Products and functions of matrices are rounded by norm, and each BLAS and each machine adds up in its own order.
    """
    if array.dtype.kind not in "fc":
        return 1.0
    sizes = np.abs(array)
    return max(1.0, 0.01 * float(sizes.max(where=np.isfinite(sizes), initial=0.0)))


def _short(value: Any) -> str:
    text = repr(value.ravel()[:6].tolist()) if isinstance(value, np.ndarray) else repr(value)
    return text if len(text) < 300 else text[:300] + "..."


def full_name(op: Any) -> str:
    return op.name + (f".{op.variant_test_name}" if op.variant_test_name else "")


def describe(sample: Any) -> str:
    """A sample's arguments in one line, tensors as dtype and shape."""

    def show(value: Any) -> str:
        if isinstance(value, torch.Tensor):
            return f"{str(value.dtype).removeprefix('torch.')}{list(value.shape)}"
        if isinstance(value, list | tuple):
            return "(" + ", ".join(map(show, value)) + ")"
        return repr(value)

    parts = [*map(show, (sample.input, *sample.args)), *(f"{k}={show(v)}" for k, v in sample.kwargs.items())]
    text = f"({', '.join(parts)})"
    return text if len(text) < 300 else text[:300] + "..."


def error_inputs(op: Any) -> Iterator[Any]:
    """The database's error inputs that concern the CPU and what wengert has a form of."""
    torch.manual_seed(0)
    try:
        yield from op.error_inputs("cpu")
    except (RuntimeError, NotImplementedError):
        return


# ---- which operators there are


def is_constructor(op: Any) -> bool:
    return op.get_method() is None


def is_absent(op: Any) -> bool:
    """Whether wengert lacks the function, or what the database's Python code for it names."""
    if isinstance(op.op, torch._ops.OpOverloadPacket) and not op.supported_dtypes("cpu"):
        return True  # of another device
    try:
        counterpart(op.op)
    except Absent:
        return True
    if id(op.op) in _PUBLIC_NAMES:
        return False
    name = op.name.removeprefix("torch.")
    try:
        look_up(f"torch.{name}", f"torch.Tensor.{name}", f"torch.Tensor.{name}_", f"torch.ops.aten.{name}")
    except Absent:
        return True
    return False


def absent_forms(op: Any) -> set[str]:
    """Methods, in-place forms and aliases that PyTorch has and wengert lacks, as `Tensor.NAME` or `NAME`."""
    forms = {alias.name: alias.op for alias in op.aliases}
    absent = set()
    for fn in (op.get_method(), op.get_inplace(), *forms.values()):
        try:
            if fn is not None:
                counterpart(fn)
        except Absent as error:
            absent.add(str(error).removeprefix("torch."))
    return absent
