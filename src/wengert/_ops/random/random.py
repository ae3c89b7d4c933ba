"""New random tensors, and tensors filled with random numbers, on PyTorch's CPU stream.

``_arrays.random`` draws the numbers into NumPy arrays; this module has PyTorch's functions around them: arguments,
dtypes, ``out=``, the order in which memory is filled, and the graph. Samples with tensor parameters are in
``sampling``.
"""

from __future__ import annotations

import math
import operator
from sys import _getframe as getframe
from typing import Any

import numpy as np

from ..._arrays import random as _samplers
from ..._arrays.memory import memory_order
from ..._arrays.random.generator import SHORT_DRAW
from ..._arrays.random.real import few_exponentials
from ..._base import dtypes
from ..._base.dtypes import FLOAT32, type_name
from ..._base.errors import unexpected_keyword
from ..._base.modes import slow_if_recording
from ..._base.registry import REGISTRY, public
from ..._base.tracing import TRACER
from ..._kinds.slow_path import misfit
from ..._payloads.meta import Meta
from ..._payloads.vmap_randomness import LEVELS
from ..._tape.error_text import expect_tensor
from ..._tape.inplace import apply_inplace
from ..._tape.promotion import logical_dtype
from ..._tape.tensor import CPU, META, Tensor, device_of, make, wrap
from ..._tape.views import check_inplace, count_write, count_write_at, unrecorded, writable
from ..._tensor_api.construct import made, meta_device, placed
from ..._tensor_api.generator import Generator, default_generator
from ..create.create import shape_of, tuple_shape
from ..create.like import empty_array_like, without_data
from ..create.makers import Options, allocate, maker, options_of, resized
from ._common import Sampler, drawn, needs, source_of


# ---- filling memory
def filled_row(self: Tensor, draw: Any, parameter: float | None = None) -> bool:
    """Fill a few float32 numbers, the commonest case, if no one is to see it: ``draw(generator, count, parameter)``."""
    a = self._payload
    if type(a) is not np.ndarray or a.dtype is not FLOAT32 or a.size > SHORT_DRAW or not a.flags.carray:
        return False
    if LEVELS.get() or not unrecorded(self, None):
        return False
    with default_generator._lock:
        count = a.size
        values = draw(default_generator, count) if parameter is None else draw(default_generator, count, parameter)
    if a.ndim == 1:
        a[...] = values
    else:
        a.flat = values  # sooner than in the shape of ``a``
    count_write_at(self, getframe(2))
    return True


def fill(self: Tensor, node: str, sampler: Sampler, generator: Generator, *args: Any) -> Tensor:
    """Write draws into a tensor, in the order of its memory; the gradient of its former value is zeros.

    ``node``: the operator that records it (``random.values``).
    """
    a = self._payload
    if type(a) is np.ndarray and a.flags.carray and a.dtype in _NATIVE:
        if not LEVELS.get() and unrecorded(self, None):
            a[...] = sampler(generator, a.shape, a.dtype, *args)
            count_write_at(self, getframe(2))
            return self
    tracked = needs(self)
    check_inplace(self, tracked)
    if type(a) is Meta:  # nothing is drawn, and nothing written
        if tracked:
            return apply_inplace(REGISTRY[node].op, self, (a,))
        count_write(self)
        return self
    a = self._payload if not isinstance(self._payload, (np.ndarray, np.generic)) else writable(self)
    values = placed(in_memory_order(a, sampler, generator, logical_dtype(self), *args), device_of(a))
    if tracked:
        return apply_inplace(REGISTRY[node].op, self, (values,))
    if isinstance(a, np.ndarray) and isinstance(values, np.ndarray):
        np.copyto(a, values, casting="unsafe")
        count_write(self)
        return self
    if isinstance(a, np.ndarray) and not getattr(values, "is_traced", False):
        raise RuntimeError(
            "vmap: Cannot ask for different inplace randomness on an unbatched tensor. This will appear like same "
            "randomness. If this is necessary for your usage, please file an issue with functorch."
        )
    return apply_inplace(lambda _: wrap(values), self, ())


_NATIVE = frozenset(map(np.dtype, (np.float32, np.float64, np.int64)))


def in_memory_order(a: Any, sampler: Sampler, generator: Generator, np_dtype: Any, *args: Any) -> Any:
    shape = tuple(a.shape)
    if getattr(a, "is_traced", False):
        a = a.array
    if not isinstance(a, np.ndarray) or a.ndim < 2 or a.flags.c_contiguous or LEVELS.get():
        return drawn(sampler, generator, shape, np_dtype, *args)
    order = memory_order(a)
    inner, back = tuple(shape[d] for d in order), [order.index(d) for d in range(a.ndim)]
    tracer = TRACER.get()
    if tracer is not None:
        return tracer.draw(generator, lambda: sampler(generator, inner, np_dtype, *args).transpose(back))
    return sampler(generator, inner, np_dtype, *args).transpose(back)


def _normal_sampler(a: Any) -> Sampler:
    """PyTorch draws normals in blocks only into contiguous memory."""
    if type(a) is np.ndarray and a.dtype is FLOAT32 and a.flags.c_contiguous:
        return _samplers.normal
    if type(a) is not np.ndarray and getattr(a, "is_traced", False):
        a = a.array
    if a.dtype.kind == "c":
        return _complex_normal
    return _samplers.normal_serial if isinstance(a, np.ndarray) and not a.flags.c_contiguous else _samplers.normal


def _complex_normal(source: Generator, shape: Any, dtype: Any, mean: float = 0.0, std: float = 1.0) -> Any:
    """Numbers whose two parts are normal; the mean is that of either part, as in PyTorch."""
    dtype = np.dtype(dtype)
    parts = _samplers.normal(source, (*shape, 2), np.dtype(f"f{dtype.itemsize // 2}"), mean, std / math.sqrt(2))
    return parts.view(dtype)[..., 0]


def number(value: Any, function: str, argument: str, position: int) -> float:
    if type(value) is float:
        return value
    if isinstance(value, Tensor) and value._payload.ndim == 0:
        return float(value.item())
    if isinstance(value, (int, float, np.number)):
        return float(value)
    raise TypeError(f"{function}(): argument '{argument}' (position {position}) must be float, not {type_name(value)}")


def _from_to(function: str, args: tuple[Any, ...], kwargs: dict[str, Any], **defaults: Any) -> tuple[Any, Any]:
    """The arguments ``from`` and ``to``, of which the first is a keyword of Python's."""
    if len(args) > 2:
        raise TypeError(f"{function}() takes from 0 to 2 positional arguments but {len(args)} were given")
    given = dict(zip(("from", "to"), args, strict=False))
    for key in kwargs:
        if key not in ("from", "to") or key in given:
            raise unexpected_keyword(function, key, ("from", "to", "generator"))
    values = {**defaults, **given, **kwargs}
    return values.get("from"), values.get("to")


@public("Tensor.uniform_")
def uniform_(self: Tensor, *args: Any, generator: Generator | None = None, **kwargs: Any) -> Tensor:
    """Fill with numbers uniform on [from, to): ``uniform_(from=0, to=1)``.

    >>> _ = torch.manual_seed(0)
    >>> torch.empty(3).uniform_(1, 2)
    tensor([1.4963, 1.7682, 1.0885])
    """
    low, high = 0.0, 1.0
    if not (args or kwargs or generator) and filled_row(self, Generator._uniforms32):
        return self
    if args or kwargs:
        low, high = _from_to("uniform_", args, kwargs, **{"from": low, "to": high})
        low, high = number(low, "uniform_", "from", 1), number(high, "uniform_", "to", 2)
    return fill(self, "uniform_values", _samplers.uniform, source_of(generator, "uniform_"), low, high)


@public("Tensor.normal_")
def normal_(self: Tensor, mean: float = 0.0, std: float = 1.0, *, generator: Generator | None = None) -> Tensor:
    """Fill with normal numbers.

    >>> _ = torch.manual_seed(0)
    >>> torch.empty(3).normal_(5, 0.1)
    tensor([5.1541, 4.9707, 4.7821])
    """
    if type(mean) is type(std) is float:
        if mean == 0.0 and std == 1.0 and generator is None and filled_row(self, Generator._normals32):
            return self
    else:
        mean, std = number(mean, "normal_", "mean", 1), number(std, "normal_", "std", 2)
    return fill(self, "normal_values", _normal_sampler(self._payload), source_of(generator, "normal_"), mean, std)


@public("Tensor.exponential_")
def exponential_(self: Tensor, lambd: float = 1.0, *, generator: Generator | None = None) -> Tensor:
    """Fill with exponential numbers of rate ``lambd``."""
    rate = number(lambd, "exponential_", "lambd", 1)
    if rate > 0.0 and generator is None and filled_row(self, few_exponentials, -1.0 / rate):
        return self
    return fill(self, "exponential_values", _samplers.exponential, source_of(generator, "exponential_"), rate)


@public("Tensor.cauchy_")
def cauchy_(self: Tensor, median: float = 0.0, sigma: float = 1.0, *, generator: Generator | None = None) -> Tensor:
    """Fill with Cauchy numbers."""
    median, sigma = number(median, "cauchy_", "median", 1), number(sigma, "cauchy_", "sigma", 2)
    return fill(self, "cauchy_values", _samplers.cauchy, source_of(generator, "cauchy_"), median, sigma)


@public("Tensor.log_normal_")
def log_normal_(self: Tensor, mean: float = 1.0, std: float = 2.0, *, generator: Generator | None = None) -> Tensor:
    """Fill with numbers whose logarithm is normal with this mean and standard deviation."""
    mean, std = number(mean, "log_normal_", "mean", 1), number(std, "log_normal_", "std", 2)
    return fill(self, "log_normal_values", _samplers.log_normal, source_of(generator, "log_normal_"), mean, std)


@public("Tensor.geometric_")
def geometric_(self: Tensor, p: float, *, generator: Generator | None = None) -> Tensor:
    """Fill with numbers of trials up to the first success, of probability ``p``."""
    p = number(p, "geometric_", "p", 1)
    return fill(self, "geometric_values", _samplers.geometric, source_of(generator, "geometric_"), p)


@public("Tensor.random_")
def random_(self: Tensor, *args: Any, generator: Generator | None = None, **kwargs: Any) -> Tensor:
    """Fill with integers: ``random_()`` up to the dtype's largest; ``random_(to)``, ``random_(from, to)`` below ``to``.

    >>> _ = torch.manual_seed(0)
    >>> torch.zeros(5, dtype=torch.int64).random_(10)
    tensor([4, 9, 3, 0, 3])
    """
    source = source_of(generator, "random_")
    for value in (*args, *kwargs.values()):
        if value is not None and (isinstance(value, float) or not hasattr(value, "__index__")):
            raise misfit(".random_", *args, **kwargs)
    if not args and not kwargs:
        return fill(self, "random_values", _samplers.random, source)
    if (len(args) == 1 and not kwargs) or (not args and kwargs.keys() == {"to"}):
        to = operator.index(args[0] if args else kwargs["to"])
        return fill(self, "random_values_to", _samplers.randint, source, 0, to)
    low, high = _from_to("random_", args, kwargs, **{"from": 0, "to": None})
    if high is None:
        return fill(self, "random_values_from_to", _samplers.random_from, source, operator.index(low))
    return fill(self, "random_values_from_to", _samplers.randint, source, operator.index(low), operator.index(high))


# ---- new tensors
def new_random(
    function: str, shape: tuple[int, ...], asked: Options, default: Any, sampler: Sampler, *args: Any
) -> Tensor:
    """A new tensor of draws, or ``out`` filled with them; nothing is drawn for a tensor without data."""
    source = source_of(asked.generator, function)
    dtype, out = asked.dtype, asked.out
    if out is None:
        np_dtype = default if dtype is None else dtype.np
        if asked.device is not None and meta_device(asked.device):
            return made(Meta(shape, np_dtype), asked.requires_grad)
        a = allocate(lambda s, d: drawn(sampler, source, s, d, *args), shape, np_dtype)
        return made(placed(a, asked.device), asked.requires_grad)
    if not isinstance(out, Tensor):
        raise TypeError(f"{function}(): argument 'out' must be Tensor, not {type_name(out)}")
    if dtype is not None and dtype is not out.dtype:
        raise RuntimeError(f"dtype {dtype.scalar_name} does not match dtype of out parameter ({out.dtype.scalar_name})")
    check_inplace(out, False)
    if tuple(out.shape) != shape:
        if isinstance(out._payload, (np.ndarray, Meta)):
            out.resize_(shape)
        else:
            resized(out, placed(np.empty(shape, logical_dtype(out)), out.device))
    if sampler is _samplers.normal:
        sampler = _normal_sampler(out._payload)
    fill(out, "random_values", sampler, source, *args)
    return out.requires_grad_() if asked.requires_grad else out


_SHORT = 1 << 16  # elements for which memory always suffices


def short_shape(size: tuple[Any, ...]) -> tuple[int, ...] | None:
    """The shape of a small tensor, given in one of the commonest forms; ``None`` for arguments that need checks."""
    if len(size) == 1 and isinstance(size[0], tuple):
        size = size[0]
    count = 1
    for n in size:
        if type(n) is not int or n < 0:
            return None
        count *= n
    return size if size and count < _SHORT else None


def _short_range(args: tuple[Any, ...]) -> tuple[int, int, tuple[int, ...]] | None:
    """The limits and the shape from the commonest arguments of ``randint``; ``None`` for others."""
    if len(args) == 2:
        args = (0, *args)
    if len(args) != 3 or type(args[0]) is not int or type(args[1]) is not int or not isinstance(args[2], tuple):
        return None
    shape = short_shape(args[2:])
    return None if shape is None else (args[0], args[1], shape)


def _of_sizes(function: str, sampler: Sampler, size: tuple[Any, ...], kwargs: dict[str, Any]) -> Tensor:
    if not (kwargs or slow_if_recording or LEVELS.get()):
        shape = short_shape(size)
        if shape is not None:
            t: Tensor = make()
            t._payload = sampler(default_generator, shape, dtypes.default_np)
            t._node = t._box = None
            return t
    asked = options_of(function, kwargs, True)
    return new_random(function, shape_of(function, size, asked.others), asked, dtypes.default_np, sampler)


@maker("torch.rand", "generator", "out")
def rand(*size: Any, **kwargs: Any) -> Tensor:
    """Uniform numbers on [0, 1).

    >>> _ = torch.manual_seed(0)
    >>> torch.rand(3)
    tensor([0.4963, 0.7682, 0.0885])
    """
    return _of_sizes("rand", _samplers.uniform, size, kwargs)


@maker("torch.randn", "generator", "out")
def randn(*size: Any, **kwargs: Any) -> Tensor:
    """Standard normal numbers.

    >>> _ = torch.manual_seed(0)
    >>> torch.randn(3)
    tensor([ 1.5410, -0.2934, -2.1788])
    """
    return _of_sizes("randn", _samplers.normal, size, kwargs)


@maker("torch.randint", "generator", "out")
def randint(*args: Any, **kwargs: Any) -> Tensor:
    """Integers in [low, high): ``randint(high, size)``, ``randint(low, high, size)``; int64 if no dtype is given.

    >>> _ = torch.manual_seed(0)
    >>> torch.randint(0, 10, (5,))
    tensor([4, 9, 3, 0, 3])
    """
    short = None if kwargs or slow_if_recording or LEVELS.get() else _short_range(args)
    if short:
        low, high, shape = short
        return wrap(_samplers.randint(default_generator, shape, dtypes.int64.np, low, high))
    asked = options_of("randint", kwargs, True)
    low, high, size = _randint_arguments("randint", ("high", "size"), ("low", "high", "size"), args, asked.others)
    shape = tuple_shape("randint", size)
    return new_random("randint", shape, asked, dtypes.int64.np, _samplers.randint, low, high)


def _randint_arguments(
    function: str, short: tuple[str, ...], long: tuple[str, ...], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[int, int, Any]:
    names = long if len(args) + len(kwargs) == len(long) else short
    given = dict(zip(names, args, strict=False))
    if len(args) > len(names) or given.keys() & kwargs.keys() or {*given, *kwargs} != set(names):
        raise misfit(function, *args, **kwargs)
    given.update(kwargs)
    values = []
    for name in ("low", "high"):
        value = given.get(name, 0)
        if isinstance(value, (float, bool)) or not hasattr(value, "__index__"):
            where = names.index(name) + 1
            raise TypeError(f"{function}(): argument '{name}' (position {where}) must be int, not {type_name(value)}")
        values.append(operator.index(value))
    size = given.get("size")
    if "size" in names and not isinstance(size, (tuple, list)):
        where = names.index("size") + 1
        raise TypeError(
            f"{function}(): argument 'size' (position {where}) must be tuple of ints, not {type_name(size)}"
        )
    return values[0], values[1], size


@maker("torch.randperm", "generator", "out")
def randperm(n: int, **kwargs: Any) -> Tensor:
    """A random permutation of 0, ..., n - 1; int64 if no dtype is given.

    >>> _ = torch.manual_seed(0)
    >>> torch.randperm(6)
    tensor([2, 5, 3, 0, 1, 4])
    """
    if type(n) is int and n >= 0 and not (kwargs or slow_if_recording or LEVELS.get()):
        return wrap(_samplers.randperm(default_generator, n))
    asked = options_of("randperm", kwargs)
    if isinstance(n, (float, bool)) or not hasattr(n, "__index__"):
        raise TypeError(f"randperm(): argument 'n' (position 1) must be int, not {type_name(n)}")
    return new_random("randperm", (operator.index(n),), asked, dtypes.int64.np, _permutations)


def _permutations(generator: Generator, shape: tuple[int, ...], np_dtype: Any) -> Any:
    if len(shape) == 1:
        return _samplers.randperm(generator, shape[0], np_dtype)
    rows = [_samplers.randperm(generator, shape[-1], np_dtype) for _ in range(int(np.prod(shape[:-1])))]
    return np.array(rows, np_dtype).reshape(shape)


_LIKE: dict[str, Sampler] = {"uniform_": _samplers.uniform, "normal_": _samplers.normal, "random_": _samplers.randint}


def _like(function: str, input: Any, fill: str, kwargs: dict[str, Any], *args: Any) -> Tensor:
    sampler = _LIKE[fill]
    if not kwargs and type(input) is Tensor:
        a = input._payload
        if type(a) is np.ndarray and a.flags.c_contiguous and not (slow_if_recording or LEVELS.get()):
            t: Tensor = make()
            source, shape, dtype = default_generator, a.shape, a.dtype  # a call with a star takes twice as long
            t._payload = sampler(source, shape, dtype, *args) if args else sampler(source, shape, dtype)
            t._node = t._box = None
            return t
    asked = options_of(function, kwargs)
    a = expect_tensor(function, "input", 1, input)._payload
    np_dtype = logical_dtype(input) if asked.dtype is None else asked.dtype.np
    order, device = asked.memory_format, asked.device
    if meta_device(device) if device is not None else device_of(a) is META:
        return made(without_data(a, np_dtype, order), asked.requires_grad)
    if device is not None:
        a = a if device_of(a) is CPU else np.empty(a.shape, np_dtype)
    else:
        device = device_of(a)
    if getattr(a, "is_sparse", False):
        from ..._payloads.sparse_errors import refused

        raise refused(a, fill)
    if LEVELS.get() or (order is None and type(a) is np.ndarray and a.flags.c_contiguous):
        source = source_of(asked.generator, function)
        return made(placed(drawn(sampler, source, tuple(a.shape), np_dtype, *args), device), asked.requires_grad)
    if device is not CPU and not isinstance(a, (np.ndarray, np.generic)):
        source = source_of(asked.generator, function)
        return made(placed(drawn(sampler, source, tuple(a.shape), np_dtype, *args), device), asked.requires_grad)
    t = wrap(empty_array_like(wrap(a), np_dtype, order))
    getattr(t, fill)(*args, generator=asked.generator)
    return made(t._payload, asked.requires_grad)


@maker("torch.rand_like", "generator", "memory_format")
def rand_like(input: Tensor, **kwargs: Any) -> Tensor:
    """Uniform numbers on [0, 1), of another tensor's shape and dtype.

    >>> _ = torch.manual_seed(0)
    >>> torch.rand_like(torch.ones(2))
    tensor([0.4963, 0.7682])
    """
    return _like("rand_like", input, "uniform_", kwargs)


@maker("torch.randn_like", "generator", "memory_format")
def randn_like(input: Tensor, **kwargs: Any) -> Tensor:
    """Standard normal numbers, of another tensor's shape and dtype.

    >>> _ = torch.manual_seed(0)
    >>> torch.randn_like(torch.ones(2))
    tensor([ 1.5410, -0.2934])
    """
    return _like("randn_like", input, "normal_", kwargs)


@maker("torch.randint_like", "generator", "memory_format")
def randint_like(input: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """Integers in [low, high), of another tensor's shape and dtype: ``(input, high)`` or ``(input, low, high)``.

    >>> _ = torch.manual_seed(0)
    >>> torch.randint_like(torch.ones(3), 10)
    tensor([4., 9., 3.])
    """
    limits = {name: value for name, value in kwargs.items() if name in ("low", "high")}
    options = {name: value for name, value in kwargs.items() if name not in limits}
    low, high, _ = _randint_arguments("randint_like", ("high",), ("low", "high"), args, limits)
    return _like("randint_like", input, "random_", options, low, high)
