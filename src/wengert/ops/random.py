"""Random tensors, on PyTorch's CPU stream: new ones, filled ones, and samples of distributions with tensor parameters.

``_samplers`` draws the numbers, into NumPy arrays; here are PyTorch's functions around them: arguments, dtypes,
``out=``, the order in which memory is filled, and the graph. A drawn number does not depend on what was there or on
the parameters, so the derivative is zero; where something requires grad a node says so, as in PyTorch (``zero_grad``).

Inside of ``vmap`` its ``randomness`` decides what a draw means (``_vmap_randomness``): see ``drawn`` and ``sampled``.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import _dtypes, _samplers
from .._alias import apply_inplace, bump, check_inplace, writable, write_out
from .._construct import made
from .._dispatch import broadcast_error, logical_dtype
from .._dtypes import type_name
from .._dtypes import dtype as Dtype
from .._general import general
from .._modes import is_grad_enabled
from .._registry import public
from .._tensor import Tensor, wrap
from .._vmap_randomness import LEVELS
from ..random import Generator, default_generator
from .create import allocate, empty_array_like, like_options, memory_order, options, resized, shape_of, tuple_shape

Sampler = Callable[..., Any]


# ------------------------------------------------------------------------------------------------------------- zero gradients
def _zero_grad(name: str, node: str, tensors: int = 1) -> Any:
    """An operator that gives values drawn beforehand, and zeros as the gradient of what they were drawn for."""
    if tensors == 1:

        def one(lib: Any, self: Any, values: Any) -> Any:
            return values

        one.__name__ = name
        one.__doc__ = f"Values drawn for ``self``: the operator behind {node}."
        return general(
            grad=lambda xp, g, self_shape: xp.sum_to(xp.zeros_like(g), self_shape),
            node=node,
            batch="loop",
            samples=lambda rng: [((rng.standard_normal((2, 3)),), (rng.standard_normal((2, 3)),))],
            dtypes="f",
        )(one)

    def two(lib: Any, self: Any, other: Any, values: Any) -> Any:
        return values

    two.__name__ = name
    two.__doc__ = f"Values drawn for ``self`` and ``other``: the operator behind {node}."
    return general(
        grad={
            "self": lambda xp, g, self_shape: xp.sum_to(xp.zeros_like(g), self_shape),
            "other": lambda xp, g, other_shape: xp.sum_to(xp.zeros_like(g), other_shape),
        },
        tensors=2,
        node=node,
        batch="loop",
        samples=lambda rng: [
            ((rng.standard_normal((2, 3)), rng.standard_normal((3,))), (rng.standard_normal((2, 3)),)),
        ],
        dtypes="f",
    )(two)


UNIFORM_ = _zero_grad("uniform_values", "UniformBackward0")
NORMAL_ = _zero_grad("normal_values", "NormalBackward0")
NORMAL_MEAN = _zero_grad("normal_values_of_mean", "NormalBackward1")
NORMAL_STD = _zero_grad("normal_values_of_std", "NormalBackward2")
NORMAL_BOTH = _zero_grad("normal_values_of_both", "NormalBackward3", 2)
EXPONENTIAL_ = _zero_grad("exponential_values", "ExponentialBackward0")
CAUCHY_ = _zero_grad("cauchy_values", "CauchyBackward0")
LOG_NORMAL_ = _zero_grad("log_normal_values", "LogNormalBackward0")
GEOMETRIC_ = _zero_grad("geometric_values", "GeometricBackward0")
RANDOM_FROM_TO = _zero_grad("random_values_from_to", "RandomBackward0")
RANDOM_TO = _zero_grad("random_values_to", "RandomBackward1")
RANDOM_ = _zero_grad("random_values", "RandomBackward2")
BERNOULLI = _zero_grad("bernoulli_values", "BernoulliBackward0")
BERNOULLI_TENSOR = _zero_grad("bernoulli_values_of_tensor", "BernoulliBackward1", 2)
BERNOULLI_NUMBER = _zero_grad("bernoulli_values_of_number", "BernoulliBackward2")
POISSON = _zero_grad("poisson_values", "PoissonBackward0")
BINOMIAL = _zero_grad("binomial_values", "BinomialBackward0", 2)


def _needs(*tensors: Any) -> bool:
    return any(isinstance(t, Tensor) and t._fn is not None for t in tensors) and is_grad_enabled()


# -------------------------------------------------------------------------------------------------------------------- drawing
def _source(generator: Any, function: str) -> Generator:
    if generator is None:
        return default_generator
    if not isinstance(generator, Generator):
        raise TypeError(f"{function}(): argument 'generator' must be torch.Generator, not {type_name(generator)}")
    return generator


_NOT_ALLOWED = (
    "vmap: called random operation while in randomness error mode. Please either use the 'same' or 'different' randomness "
    "flags on vmap or perform the randomness operation out of vmap"
)


def drawn(sampler: Sampler, generator: Generator, shape: tuple[int, ...], *args: Any) -> Any:
    """``sampler(generator, shape, *args)``; inside of vmaps that ask for it, one draw for each example."""
    levels = LEVELS.get()
    if not levels:
        return sampler(generator, shape, *args)
    from .._values import Batched

    sizes, tags = [], []
    for randomness, size, tag in levels:
        if randomness == "error":
            raise RuntimeError(_NOT_ALLOWED)
        if randomness == "different":
            sizes.append(size)
            tags.append(tag)
    a = sampler(generator, (*sizes, *shape), *args)
    for tag in tags:
        a = Batched(a, tag)
    return a


def sampled(sampler: Sampler, generator: Generator, *operands: Any, rows: int = 0) -> Any:
    """``sampler(generator, *operands)`` with operands that may be payloads of a transform.

    Of a batched operand each example has its draw. ``rows``: how many trailing dims of the operands are the sampler's
    own (it takes one dim more, into which all batch dims are folded).
    """
    if all(isinstance(a, (np.ndarray, np.generic, float, int)) for a in operands) and not LEVELS.get():
        return sampler(generator, *operands)
    from .._values import Batched

    opened = [_opened(a) for a in operands]
    batched = {tag for _, tags in opened for tag in tags}
    tags, sizes = [], []
    for randomness, size, tag in LEVELS.get():
        if randomness == "error":
            raise RuntimeError(_NOT_ALLOWED)
        if randomness == "same" and tag in batched:
            raise RuntimeError(
                "Vmap does not currently support same randomness with a batched tensor input. Please file an issue with "
                "functorch"
            )
        if randomness == "different":
            tags.append(tag)
            sizes.append(size)
    if not batched <= set(tags):
        raise RuntimeError(_NOT_ALLOWED)
    full = [_expanded(a, own, tags, sizes, rank) for (a, own), rank in _ranked(opened)]
    if rows and tags:
        folded = [a.reshape(-1, *a.shape[len(tags) :]) if a.ndim - len(tags) == rows else a for a in full]
        folded = [a.reshape(-1, a.shape[-1]) for a in folded]
        result = sampler(generator, *folded)
        result = result.reshape(*full[0].shape[:-1], result.shape[-1])
    else:
        result = sampler(generator, *full)
    for tag in tags:
        result = Batched(result, tag)
    return result


def _opened(payload: Any) -> tuple[Any, list[int]]:
    """The array inside of a payload, and the tags of the vmaps whose batch dims it has in front, outermost first."""
    from .._values import Batched, Value

    tags = []
    while True:
        if isinstance(payload, Batched):
            tags.append(payload.tag)
            payload = payload.v
        elif isinstance(payload, Value):
            payload = payload.v
        elif isinstance(payload, Tensor):
            payload = payload._a
        else:
            return np.asarray(payload), tags[::-1]


def _ranked(opened: Any) -> Any:
    """Each opened operand with the rank that all of them have for the program."""
    rank = max(a.ndim - len(tags) for a, tags in opened)
    return [(pair, rank) for pair in opened]


def _expanded(a: Any, own: list[int], tags: list[int], sizes: list[int], rank: int) -> Any:
    """The array with the batch dims of all these tags in front."""
    inner = a.shape[len(own) :]
    ones = (1,) * (rank - len(inner)) if own else ()
    shape = tuple(a.shape[own.index(t)] if t in own else 1 for t in tags)
    target = tuple(sizes) + ones + inner
    return np.broadcast_to(a.reshape(shape + ones + inner), target)


# ------------------------------------------------------------------------------------------------------------- filling memory
def _fill(self: Tensor, zero: Any, sampler: Sampler, generator: Generator, *args: Any) -> Tensor:
    """Write draws into a tensor, in the order of its memory; what it was before gets a gradient of zeros."""
    tracked = _needs(self)
    check_inplace(self, tracked)
    a = self._a if not isinstance(self._a, (np.ndarray, np.generic)) else writable(self)
    values = _in_memory_order(a, sampler, generator, logical_dtype(self), *args)
    if tracked:
        return apply_inplace(zero, self, (values,))
    if isinstance(a, np.ndarray) and isinstance(values, np.ndarray):
        np.copyto(a, values, casting="unsafe")
        bump(self)
        return self
    if isinstance(a, np.ndarray):
        raise RuntimeError(
            "vmap: Cannot ask for different inplace randomness on an unbatched tensor. This will appear like same "
            "randomness. If this is necessary for your usage, please file an issue with functorch."
        )
    return apply_inplace(lambda _: wrap(values), self, ())


def _in_memory_order(a: Any, sampler: Sampler, generator: Generator, np_dtype: Any, *args: Any) -> Any:
    shape = tuple(a.shape)
    if not isinstance(a, np.ndarray) or a.ndim < 2 or a.flags.c_contiguous or LEVELS.get():
        return drawn(sampler, generator, shape, np_dtype, *args)
    order = memory_order(a)
    values = sampler(generator, tuple(shape[d] for d in order), np_dtype, *args)
    return values.transpose([order.index(d) for d in range(a.ndim)])


def _normal_sampler(a: Any) -> Sampler:
    """PyTorch draws normals in blocks only into contiguous memory."""
    return _samplers.normal_serial if isinstance(a, np.ndarray) and not a.flags.c_contiguous else _samplers.normal


def _number(value: Any, function: str, argument: str, position: int) -> float:
    if isinstance(value, Tensor) and value._a.ndim == 0:
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
            raise TypeError(f"{function}() got an unexpected keyword argument '{key}'")
    values = {**defaults, **given, **kwargs}
    return values.get("from"), values.get("to")


@public("Tensor.uniform_")
def uniform_(self: Tensor, *args: Any, generator: Generator | None = None, **kwargs: Any) -> Tensor:
    """Fill with numbers uniform on [from, to): ``uniform_(from=0, to=1)``.

    >>> import wengert as torch
    >>> _ = torch.manual_seed(0)
    >>> torch.empty(3).uniform_(1, 2)
    tensor([1.4963, 1.7682, 1.0885])
    """
    low, high = _from_to("uniform_", args, kwargs, **{"from": 0.0, "to": 1.0})
    low, high = _number(low, "uniform_", "from", 1), _number(high, "uniform_", "to", 2)
    return _fill(self, UNIFORM_, _samplers.uniform, _source(generator, "uniform_"), low, high)


@public("Tensor.normal_")
def normal_(self: Tensor, mean: float = 0.0, std: float = 1.0, *, generator: Generator | None = None) -> Tensor:
    """Fill with normal numbers.

    >>> import wengert as torch
    >>> _ = torch.manual_seed(0)
    >>> torch.empty(3).normal_(5, 0.1)
    tensor([5.1541, 4.9707, 4.7821])
    """
    mean, std = _number(mean, "normal_", "mean", 1), _number(std, "normal_", "std", 2)
    return _fill(self, NORMAL_, _normal_sampler(self._a), _source(generator, "normal_"), mean, std)


@public("Tensor.exponential_")
def exponential_(self: Tensor, lambd: float = 1.0, *, generator: Generator | None = None) -> Tensor:
    """Fill with exponential numbers of rate ``lambd``."""
    rate = _number(lambd, "exponential_", "lambd", 1)
    return _fill(self, EXPONENTIAL_, _samplers.exponential, _source(generator, "exponential_"), rate)


@public("Tensor.cauchy_")
def cauchy_(self: Tensor, median: float = 0.0, sigma: float = 1.0, *, generator: Generator | None = None) -> Tensor:
    """Fill with Cauchy numbers."""
    median, sigma = _number(median, "cauchy_", "median", 1), _number(sigma, "cauchy_", "sigma", 2)
    return _fill(self, CAUCHY_, _samplers.cauchy, _source(generator, "cauchy_"), median, sigma)


@public("Tensor.log_normal_")
def log_normal_(self: Tensor, mean: float = 1.0, std: float = 2.0, *, generator: Generator | None = None) -> Tensor:
    """Fill with numbers whose logarithm is normal with this mean and standard deviation."""
    mean, std = _number(mean, "log_normal_", "mean", 1), _number(std, "log_normal_", "std", 2)
    return _fill(self, LOG_NORMAL_, _samplers.log_normal, _source(generator, "log_normal_"), mean, std)


@public("Tensor.geometric_")
def geometric_(self: Tensor, p: float, *, generator: Generator | None = None) -> Tensor:
    """Fill with numbers of trials up to the first success, of probability ``p``."""
    p = _number(p, "geometric_", "p", 1)
    return _fill(self, GEOMETRIC_, _samplers.geometric, _source(generator, "geometric_"), p)


@public("Tensor.random_")
def random_(self: Tensor, *args: Any, generator: Generator | None = None, **kwargs: Any) -> Tensor:
    """Fill with integers: ``random_()`` up to the dtype's largest, ``random_(to)``, ``random_(from, to)`` without ``to``.

    >>> import wengert as torch
    >>> _ = torch.manual_seed(0)
    >>> torch.zeros(5, dtype=torch.int64).random_(10)
    tensor([4, 9, 3, 0, 3])
    """
    source = _source(generator, "random_")
    for value in (*args, *kwargs.values()):
        if value is not None and (isinstance(value, float) or not hasattr(value, "__index__")):
            got = ", ".join([type_name(v) for v in args] + [f"{k}={type_name(v)}" for k, v in kwargs.items()])
            raise TypeError(
                f"random_() received an invalid combination of arguments - got ({got}), but expected one of:\n"
                " * (*, torch.Generator generator = None)\n"
                " * (int from, int to, *, torch.Generator generator = None)\n"
                " * (int to, *, torch.Generator generator = None)\n"
            )
    if not args and not kwargs:
        return _fill(self, RANDOM_, _samplers.random, source)
    if len(args) == 1 and not kwargs or not args and kwargs.keys() == {"to"}:
        to = operator.index(args[0] if args else kwargs["to"])
        return _fill(self, RANDOM_TO, _samplers.randint, source, 0, to)
    low, high = _from_to("random_", args, kwargs, **{"from": 0, "to": None})
    if high is None:
        return _fill(self, RANDOM_FROM_TO, _samplers.random_from, source, operator.index(low))
    return _fill(self, RANDOM_FROM_TO, _samplers.randint, source, operator.index(low), operator.index(high))


# ----------------------------------------------------------------------------------------------------------------- new tensors
def _new(
    function: str, shape: tuple[int, ...], dtype: Dtype | None, out: Tensor | None, requires_grad: bool, default: Any,
    sampler: Sampler, generator: Any, *args: Any,
) -> Tensor:  # fmt: skip
    """A new tensor of draws, or ``out`` filled with them."""
    source = _source(generator, function)
    if out is None:
        np_dtype = default if dtype is None else dtype.np
        return made(allocate(lambda s, d: drawn(sampler, source, s, d, *args), shape, np_dtype), requires_grad)
    if not isinstance(out, Tensor):
        raise TypeError(f"{function}(): argument 'out' must be Tensor, not {type_name(out)}")
    if dtype is not None and dtype is not out.dtype:
        raise RuntimeError(
            f"dtype {dtype.scalar_name} does not match dtype of out parameter ({out.dtype.scalar_name})"
        )
    check_inplace(out, False)
    if tuple(out.shape) != shape:
        resized(out, np.empty(shape, out._a.dtype))
    if sampler is _samplers.normal:
        sampler = _normal_sampler(out._a)
    _fill(out, None, sampler, source, *args)
    return out.requires_grad_() if requires_grad else out


@public("torch.rand")
def rand(
    *size: Any,
    generator: Generator | None = None,
    out: Tensor | None = None,
    dtype: Dtype | None = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
    **kwargs: Any,
) -> Tensor:
    """Uniform numbers on [0, 1).

    >>> import wengert as torch
    >>> _ = torch.manual_seed(0)
    >>> torch.rand(3)
    tensor([0.4963, 0.7682, 0.0885])
    """
    dtype = options("rand", dtype, layout, device, pin_memory, requires_grad)
    shape = shape_of("rand", size, kwargs)
    return _new("rand", shape, dtype, out, requires_grad, _dtypes.default_np, _samplers.uniform, generator)


@public("torch.randn")
def randn(
    *size: Any,
    generator: Generator | None = None,
    out: Tensor | None = None,
    dtype: Dtype | None = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
    **kwargs: Any,
) -> Tensor:
    """Standard normal numbers.

    >>> import wengert as torch
    >>> _ = torch.manual_seed(0)
    >>> torch.randn(3)
    tensor([ 1.5410, -0.2934, -2.1788])
    """
    dtype = options("randn", dtype, layout, device, pin_memory, requires_grad)
    shape = shape_of("randn", size, kwargs)
    return _new("randn", shape, dtype, out, requires_grad, _dtypes.default_np, _samplers.normal, generator)


@public("torch.randint")
def randint(
    *args: Any,
    generator: Generator | None = None,
    out: Tensor | None = None,
    dtype: Dtype | None = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
    **kwargs: Any,
) -> Tensor:
    """Integers in [low, high): ``randint(high, size)``, ``randint(low, high, size)``; int64 if no dtype is given.

    >>> import wengert as torch
    >>> _ = torch.manual_seed(0)
    >>> torch.randint(0, 10, (5,))
    tensor([4, 9, 3, 0, 3])
    """
    dtype = options("randint", dtype, layout, device, pin_memory, requires_grad)
    low, high, size = _randint_arguments("randint", ("high", "size"), ("low", "high", "size"), args, kwargs)
    shape = tuple_shape("randint", size)
    default = _dtypes.int64.np
    return _new("randint", shape, dtype, out, requires_grad, default, _samplers.randint, generator, low, high)


def _randint_arguments(
    function: str, short: tuple[str, ...], long: tuple[str, ...], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[int, int, Any]:
    names = long if len(args) + len(kwargs) == len(long) else short
    given = dict(zip(names, args, strict=False))
    if len(args) > len(names) or given.keys() & kwargs.keys() or {*given, *kwargs} != set(names):
        got = ", ".join([type_name(a) for a in args] + [f"{k}={type_name(v)}" for k, v in kwargs.items()])
        raise TypeError(
            f"{function}() received an invalid combination of arguments - got ({got}), but expected one of:\n"
            f" * ({', '.join(short)}, *, torch.Generator generator = None, ...)\n"
            f" * ({', '.join(long)}, *, torch.Generator generator = None, ...)\n"
        )
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
        raise TypeError(f"{function}(): argument 'size' (position {where}) must be tuple of ints, not {type_name(size)}")
    return values[0], values[1], size


@public("torch.randperm")
def randperm(
    n: int,
    *,
    generator: Generator | None = None,
    out: Tensor | None = None,
    dtype: Dtype | None = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """A random permutation of 0, ..., n - 1; int64 if no dtype is given.

    >>> import wengert as torch
    >>> _ = torch.manual_seed(0)
    >>> torch.randperm(6)
    tensor([2, 5, 3, 0, 1, 4])
    """
    dtype = options("randperm", dtype, layout, device, pin_memory, requires_grad)
    if isinstance(n, (float, bool)) or not hasattr(n, "__index__"):
        raise TypeError(f"randperm(): argument 'n' (position 1) must be int, not {type_name(n)}")
    n = operator.index(n)
    default = _dtypes.int64.np
    return _new("randperm", (n,), dtype, out, requires_grad, default, _permutations, generator)


def _permutations(generator: Generator, shape: tuple[int, ...], np_dtype: Any) -> Any:
    if len(shape) == 1:
        return _samplers.randperm(generator, shape[0], np_dtype)
    rows = [_samplers.randperm(generator, shape[-1], np_dtype) for _ in range(int(np.prod(shape[:-1])))]
    return np.array(rows, np_dtype).reshape(shape)


def _like(
    function: str, input: Any, dtype: Any, layout: Any, device: Any, pin: Any, requires_grad: Any, order: Any,
    generator: Any, fill: str, *args: Any,
) -> Tensor:  # fmt: skip
    np_dtype = like_options(function, input, dtype, layout, device, pin, requires_grad)
    if LEVELS.get():
        sampler = {"uniform_": _samplers.uniform, "normal_": _samplers.normal, "random_": _samplers.randint}[fill]
        return made(drawn(sampler, _source(generator, function), tuple(input.shape), np_dtype, *args), requires_grad)
    t = wrap(empty_array_like(input, np_dtype, order))
    getattr(t, fill)(*args, generator=generator)
    return made(t._a, requires_grad)


@public("torch.rand_like")
def rand_like(
    input: Tensor,
    *,
    generator: Generator | None = None,
    dtype: Dtype | None = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """Uniform numbers on [0, 1), of another tensor's shape and dtype."""
    rest = (dtype, layout, device, pin_memory, requires_grad, memory_format, generator)
    return _like("rand_like", input, *rest, "uniform_")


@public("torch.randn_like")
def randn_like(
    input: Tensor,
    *,
    generator: Generator | None = None,
    dtype: Dtype | None = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """Standard normal numbers, of another tensor's shape and dtype."""
    rest = (dtype, layout, device, pin_memory, requires_grad, memory_format, generator)
    return _like("randn_like", input, *rest, "normal_")


@public("torch.randint_like")
def randint_like(
    input: Tensor,
    *args: Any,
    generator: Generator | None = None,
    dtype: Dtype | None = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    memory_format: Any = None,
    **kwargs: Any,
) -> Tensor:
    """Integers in [low, high), of another tensor's shape and dtype: ``randint_like(input, high)`` or with ``low`` first."""
    low, high, _ = _randint_arguments("randint_like", ("high",), ("low", "high"), args, kwargs)
    rest = (dtype, layout, device, pin_memory, requires_grad, memory_format, generator)
    return _like("randint_like", input, *rest, "random_", low, high)


# --------------------------------------------------------------------------------------------- samples with tensor parameters
def _tensor(value: Any, function: str, argument: str = "input", position: int = 1) -> Tensor:
    if not isinstance(value, Tensor):
        raise TypeError(f"{function}(): argument '{argument}' (position {position}) must be Tensor, not {type_name(value)}")
    return value


def _result(values: Any, zero: Any, *operands: Tensor) -> Tensor:
    return zero(*operands, values) if _needs(*operands) else wrap(values)


@public("torch.bernoulli Tensor.bernoulli")
def bernoulli(
    input: Tensor, p: float | None = None, *, generator: Generator | None = None, out: Tensor | None = None
) -> Tensor:
    """Ones with the probabilities that ``input`` holds (or all with probability ``p``), else zeros.

    >>> import wengert as torch
    >>> _ = torch.manual_seed(0)
    >>> torch.bernoulli(torch.tensor([0., 0.9, 1.]))
    tensor([0., 1., 1.])
    """
    if out is not None:
        return write_out(out, bernoulli, (input, p), {"generator": generator})
    source = _source(generator, "bernoulli")
    _tensor(input, "bernoulli")
    if p is not None:
        p = _number(p, "bernoulli", "p", 2)
        return wrap(drawn(_samplers.bernoulli, source, tuple(input.shape), logical_dtype(input), p))

    def sampler(source: Generator, probabilities: Any) -> Any:
        return _samplers.bernoulli_tensor(source, probabilities.shape, probabilities.dtype, probabilities)

    result = _result(sampled(sampler, source, _array(input)), BERNOULLI, input)
    return _scored(result, input, "bernoulli")


def _array(t: Tensor) -> Any:
    """A tensor's payload; a NumPy number as an array."""
    return np.asarray(t._a) if isinstance(t._a, np.generic) else t._a


@public("Tensor.bernoulli_")
def bernoulli_(self: Tensor, p: Any = 0.5, *, generator: Generator | None = None) -> Tensor:
    """Fill with ones of probability ``p``, a number or a tensor that broadcasts, and zeros elsewhere."""
    source = _source(generator, "bernoulli_")
    if not isinstance(p, Tensor):
        return _fill(self, BERNOULLI_NUMBER, _samplers.bernoulli, source, _number(p, "bernoulli_", "p", 1))
    shape = tuple(self.shape)
    try:
        fits = np.broadcast_shapes(tuple(p.shape), shape) == shape
    except ValueError:
        fits = False
    if not fits:
        from .._protocol import _not_expandable

        raise _not_expandable(shape, tuple(p.shape))
    tracked = _needs(self, p)
    check_inplace(self, tracked)
    if isinstance(self._a, (np.ndarray, np.generic)):
        writable(self)

    def sampler(source: Generator, probabilities: Any) -> Any:
        lead = probabilities.shape[: probabilities.ndim - p._a.ndim]
        wide = np.broadcast_to(probabilities, np.broadcast_shapes(probabilities.shape, (*lead, *shape)))
        return _samplers.bernoulli_tensor(source, wide.shape, logical_dtype(self), wide)

    values = sampled(sampler, source, _array(p))
    if tracked:
        return apply_inplace(BERNOULLI_TENSOR, self, (p, values))
    return apply_inplace(lambda _: wrap(values), self, ())


@public("torch.multinomial Tensor.multinomial")
def multinomial(
    input: Tensor,
    num_samples: int = 1,
    replacement: bool = False,
    *,
    generator: Generator | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """Indices drawn with the weights that ``input`` holds, of shape (n,) or (rows, n); int64, ``num_samples`` of a row.

    Raises RuntimeError for weights that are negative, infinite or all zero, and if there are fewer than samples
    without replacement.

    >>> import wengert as torch
    >>> _ = torch.manual_seed(0)
    >>> torch.multinomial(torch.ones(5), 3)
    tensor([2, 4, 1])
    """
    if out is not None:
        return write_out(out, multinomial, (input, num_samples, replacement), {"generator": generator})
    source = _source(generator, "multinomial")
    _tensor(input, "multinomial")
    if isinstance(num_samples, (float, bool)) or not hasattr(num_samples, "__index__"):
        raise TypeError(f"multinomial(): argument 'num_samples' (position 2) must be int, not {type_name(num_samples)}")
    count = operator.index(num_samples)
    values = sampled(lambda g, prob: _samplers.multinomial(g, prob, count, bool(replacement)), source, _array(input), rows=1)
    return _scored(wrap(values), input, "multinomial")


@public("torch.normal")
def normal(
    mean: Any = 0.0,
    std: Any = 1.0,
    size: Any = None,
    *,
    generator: Generator | None = None,
    out: Tensor | None = None,
    dtype: Dtype | None = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """Normal numbers: of the tensors ``mean`` and ``std`` (either may be a number), or of two numbers and a ``size``.

    >>> import wengert as torch
    >>> _ = torch.manual_seed(0)
    >>> torch.normal(torch.tensor([10., 20.]), 0.1)
    tensor([10.1541, 19.9707])
    """
    if isinstance(mean, Tensor) or isinstance(std, Tensor):
        if size is not None:
            raise _normal_mismatch(mean, std, size)
        if out is not None:
            return write_out(out, normal, (mean, std), {"generator": generator})
        return _normal_of_tensors(mean, std, _source(generator, "normal"))
    if size is None or not isinstance(size, (tuple, list)):
        raise _normal_mismatch(mean, std, size)
    chosen = options("normal", dtype, layout, device, pin_memory, requires_grad)
    args = (_number(mean, "normal", "mean", 1), _number(std, "normal", "std", 2))
    shape = tuple_shape("normal", size)
    return _new("normal", shape, chosen, out, requires_grad, _dtypes.default_np, _samplers.normal, generator, *args)


def _normal_mismatch(*args: Any) -> TypeError:
    got = ", ".join(type_name(a) for a in args if a is not None)
    return TypeError(
        f"normal() received an invalid combination of arguments - got ({got}), but expected one of:\n"
        " * (Tensor mean, Tensor std, *, torch.Generator generator = None, Tensor out = None)\n"
        " * (Tensor mean, float std = 1, *, torch.Generator generator = None, Tensor out = None)\n"
        " * (float mean, Tensor std, *, torch.Generator generator = None, Tensor out = None)\n"
        " * (float mean, float std, tuple of ints size, *, torch.Generator generator = None, Tensor out = None, ...)\n"
    )


def _normal_of_tensors(mean: Any, std: Any, source: Generator) -> Tensor:
    operands = []
    for value, argument, position in ((mean, "mean", 1), (std, "std", 2)):
        operands.append(_array(value) if isinstance(value, Tensor) else _number(value, "normal", argument, position))
    if isinstance(mean, Tensor) and isinstance(std, Tensor):
        try:
            np.broadcast_shapes(tuple(mean.shape), tuple(std.shape))
        except ValueError:
            raise broadcast_error(mean, std) from None
    values = sampled(_samplers.normal_tensor, source, *operands)
    if isinstance(mean, Tensor) and isinstance(std, Tensor):
        return _scored(_result(values, NORMAL_BOTH, mean, std), mean, "normal", std)
    if isinstance(mean, Tensor):
        return _scored(_result(values, NORMAL_MEAN, mean), mean, "normal", std)
    return _result(values, NORMAL_STD, std)


@public("Tensor.normal")
def normal_method(self: Tensor, std: Any = 1.0, *, generator: Generator | None = None) -> Tensor:
    """Normal numbers around this tensor (PyTorch 0.1's form of ``torch.normal(mean, std)``)."""
    return normal(self, std, generator=generator)


def _scored(result: Tensor, source: Tensor, kind: str, std: Any = None) -> Tensor:
    """Legacy: what ``reinforce`` needs to know of a sample of something that requires grad."""
    if source._fn is not None and is_grad_enabled() and isinstance(result._a, (np.ndarray, np.generic)):
        from .._stochastic import stochastic

        sample, parameter = np.array(result._a), source._a
        scale = std._a if isinstance(std, Tensor) else std
        stochastic(result, source, lambda reward: _SCORES[kind](reward, sample, parameter, scale))
    return result


def _multinomial_score(reward: Any, sample: Any, prob: Any, _: Any) -> Any:
    """The reward times the gradient of -log of the probabilities that were drawn."""
    rows, drawn_ = prob.reshape(-1, prob.shape[-1]), sample.reshape(-1, sample.shape[-1])
    grad = np.zeros_like(rows)
    places = (np.arange(len(rows))[:, None], drawn_)
    rewards = np.broadcast_to(np.asarray(reward, grad.dtype), sample.shape).reshape(drawn_.shape)
    np.add.at(grad, places, -rewards / rows[places])
    return grad.reshape(prob.shape)


def _bernoulli_score(reward: Any, sample: Any, prob: Any, _: Any) -> Any:
    with np.errstate(all="ignore"):
        grad = np.where(sample == 1, -1 / prob, 1 / (1 - prob))
    return (np.asarray(reward) * grad).astype(prob.dtype)


def _normal_score(reward: Any, sample: Any, mean: Any, std: Any) -> Any:
    grad = np.asarray(reward) * (mean - sample) / np.square(std)
    extra = grad.ndim - mean.ndim
    axes = tuple(range(extra)) + tuple(i + extra for i, n in enumerate(mean.shape) if n == 1 and grad.shape[i + extra] != 1)
    return (grad.sum(axes, keepdims=True).reshape(mean.shape) if axes else grad).astype(mean.dtype)


_SCORES = {"multinomial": _multinomial_score, "bernoulli": _bernoulli_score, "normal": _normal_score}


@public("torch.poisson")
def poisson(input: Tensor, generator: Generator | None = None) -> Tensor:
    """Poisson numbers with the rates that ``input`` holds, of its shape and dtype.

    >>> import wengert as torch
    >>> _ = torch.manual_seed(0)
    >>> torch.poisson(torch.tensor([1., 4., 30.]))
    tensor([ 0.,  4., 34.])
    """
    source = _source(generator, "poisson")
    values = sampled(_samplers.poisson, source, _array(_tensor(input, "poisson")))
    return _result(values, POISSON, input)


@public("torch.binomial")
def binomial(count: Tensor, prob: Tensor, generator: Generator | None = None) -> Tensor:
    """Numbers of successes in ``count`` trials of probability ``prob``; the two broadcast and have one dtype."""
    source = _source(generator, "binomial")
    operands = (_tensor(count, "binomial", "count"), _tensor(prob, "binomial", "prob", 2))
    return _result(sampled(_samplers.binomial, source, *(_array(t) for t in operands)), BINOMIAL, *operands)
