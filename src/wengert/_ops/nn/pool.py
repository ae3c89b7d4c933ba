"""The public functions of pooling: the largest element or the mean of windows, or of a number of parts.

The primitives are in ``pool_primitive``; unpooling and p-norms are in ``unpool``.
"""

from __future__ import annotations

import operator
from typing import Any

from ..._arrays.layouts import is_channels_last
from ..._arrays.pooling import pooled_size
from ..._base.constants import type_name
from ..._base.dtypes import FLOAT32, FLOATING
from ..._base.registry import TENSORS, public
from ..._kinds.dims import EVERY_DIM, as_int, remembered
from ..._kinds.keywords import with_out
from ..._kinds.laid_out import with_channels_of
from ..._kinds.out import EXACT
from ..._kinds.slow_path import no_complex_grad, require
from ..._tape.promotion import logical_dtype
from ..._tape.tensor import Tensor
from ..create.convert import contiguous
from ..reduce.sums import mean as mean_public

Ints = tuple[int, ...]

# By function: the dtypes of PyTorch's kernel, and its name if it is another one.
_KERNELS: dict[str, tuple[str, str]] = {
    "avg_pool2d": ("fhl", "avg_pool2d"),
    "avg_pool3d": ("fl", "avg_pool3d_out_frame"),
    "adaptive_avg_pool1d": ("fh", "adaptive_avg_pool2d"),
    "adaptive_avg_pool2d": ("fh", "adaptive_avg_pool2d"),
    "adaptive_avg_pool3d": ("fh", "adaptive_avg_pool3d_cpu"),
    "adaptive_max_pool1d": ("fh", "adaptive_max_pool2d"),
    "adaptive_max_pool3d": ("fh", "adaptive_max_pool3d_cpu"),
}


# ---- public functions
_WORDS = {1: "one int", 2: "two ints", 3: "three ints"}


_POSITIONS = {"kernel_size": 2, "stride": 3, "padding": 4, "dilation": 5, "output_size": 2}


def _whole(name: str, argument: str, value: Any, place: int | None = None) -> int:
    """An int, or the one at a place of a list; a float is refused, whatever its value, as PyTorch does."""
    if place:  # as in PyTorch, which looks at the first of several and unpacks the others
        return as_int(value, name, "tuple of ints", argument, place + 1)
    try:
        if type(value) is not bool:
            return operator.index(value)
    except TypeError:
        pass
    found = "not " if place is None else "but found element of type "
    where = "" if place is None else f" at pos {place}"
    raise TypeError(
        f"{name}(): argument '{argument}' (position {_POSITIONS[argument]}) must be tuple of ints, "
        f"{found}{type_name(value)}{where}"
    )


def per_dim(name: str, argument: str, value: Any, k: int, optional: bool = False) -> Ints:
    if not isinstance(value, (tuple, list)):
        return (_whole(name, argument, value),) * k
    value = tuple(_whole(name, argument, v, place) for place, v in enumerate(value))
    if len(value) not in (1, k):
        choice = "either be omitted," if optional else "either be"
        words = f"a tuple of {_WORDS[k]}"
        raise RuntimeError(f"{name}: {argument} must {choice} a single int, or {words}")
    return value if len(value) == k else value * k


def _check_dtype(name: str, input: Any) -> None:
    """Raise PyTorch's error unless its kernel for windows takes the dtype."""
    a = input._payload
    if a.dtype not in FLOATING or name == "avg_pool3d":
        channels_last = "_channels_last" if name == "max_pool2d" and is_channels_last(a) else ""
        require(input, *(_KERNELS.get(name) or ("fhiu", name + channels_last)))


@remembered(3)
def _geometry(
    name: str, k: int, shape: Ints, kernel: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool
) -> tuple[Ints, Ints, Ints, Ints, Ints]:
    """Kernel, stride, padding and dilation per dimension, and the output's size. Raises PyTorch's errors."""
    if len(shape) not in (k + 1, k + 2):
        raise RuntimeError(f"non-empty {k + 1}D or {k + 2}D (batch mode) tensor expected for input")
    kernel = per_dim(name, "kernel_size", kernel, k)
    empty = stride is None or (isinstance(stride, (tuple, list)) and not stride)
    stride = kernel if empty else per_dim(name, "stride", stride, k, True)
    padding = per_dim(name, "padding", padding, k)
    dilation = per_dim(name, "dilation", dilation, k)
    if min(stride) == 0:
        raise RuntimeError("stride should not be zero")
    if min(kernel) <= 0:
        raise RuntimeError("kernel size should be greater than zero, but got " + _listed("kernel", kernel, k))
    if min(stride) < 0:
        raise RuntimeError("stride should be greater than zero, but got " + _listed("d", stride, k))
    if min(dilation) <= 0:
        raise RuntimeError("dilation should be greater than zero, but got " + _listed("dilation", dilation, k))
    for p, n, d in zip(padding, kernel, dilation, strict=True):
        if p < 0:
            raise RuntimeError(f"pad must be non-negative, but got pad: {p}")
        if p > ((n - 1) * d + 1) // 2:
            raise RuntimeError(
                f"pad should be at most half of effective kernel size, but got pad={p}, kernel_size={n} and "
                f"dilation={d}"
            )
    if 0 in shape[-k - 1 :] and k == 3:
        kernel_name = "max_pool3d_with_indices_out_cpu_template" if name.startswith("max") else name
        raise RuntimeError(
            f"{kernel_name}(): Expected input's non-batch dimensions to have positive length, but input has a shape "
            f"of {list(shape)} and non-batch dimension 0 has length zero!"
        )
    if 0 in shape[-k - 1 :]:
        raise RuntimeError(
            f"Expected {k + 1}D or {k + 2}D (batch mode) tensor with optional 0 dim batch size for input, but "
            f"got:{list(shape)}"
        )
    size = shape[-k:]
    out = pooled_size(size, kernel, stride, padding, dilation, ceil_mode)
    if min(out) < 1 and name == "avg_pool3d":
        t, h, w = size
        raise RuntimeError(
            f"input image (T: {t} H: {h} W: {w}) smaller than kernel size (kT: {kernel[0]} kH: {kernel[1]} kW: "
            f"{kernel[2]})"
        )
    if min(out) < 1:
        before, after = ("x".join(map(str, (shape[-k - 1], *s))) for s in (size, out))
        raise RuntimeError(f"Given input size: ({before}). Calculated output size: ({after}). Output size is too small")
    return kernel, stride, padding, dilation, out


def _listed(what: str, values: Ints, k: int) -> str:
    return " ".join(f"{what}{'THW'[3 - k + i]}: {v}" for i, v in enumerate(values))


def _of_windows(fn: Any, k: int, doc: str, names: str) -> Any:
    """Publish a function that ``_max_pool_in`` or ``_avg_pool_in`` made."""
    fn.__doc__ = doc
    return public(names.format(k=k))(fn)


def _max_pool_in(k: int, doc: str) -> Any:
    """``max_pool2d`` or ``max_pool3d``, and the function ``..._with_indices``."""
    name = f"max_pool{k}d"

    def max_pool(
        input: Tensor,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        ceil_mode: bool = False,
        return_indices: bool = False,
    ) -> Any:
        a = input._payload
        kernel, step, pad, apart, out = _geometry(name, k, a.shape, kernel_size, stride, padding, dilation, ceil_mode)
        if a.dtype is not FLOAT32:
            _check_dtype(name, input)
        found = TENSORS.max_windows(input, kernel, step, pad, apart, out)
        return found if return_indices else found[0]

    def with_indices(input: Tensor, *args: Any, **kwargs: Any) -> Any:
        kwargs["return_indices"] = True
        return max_pool(input, *args, **kwargs)

    _of_windows(with_indices, k, f"``{name}`` with ``return_indices=True``.", "nn.functional.max_pool{k}d_with_indices")
    return _of_windows(max_pool, k, doc, "torch.max_pool{k}d nn.functional.max_pool{k}d")


max_pool2d = _max_pool_in(
    2,
    """The largest element of each window of images ``(N, C, H, W)`` or ``(C, H, W)``.

    ``stride`` is ``kernel_size`` by default. With ``return_indices`` also returns its index in the flattened image.

    >>> torch.nn.functional.max_pool2d(torch.tensor([[[1., 2., 3., 4.], [5., 6., 7., 8.]]]), 2)
    tensor([[[6., 8.]]])
    """,
)
max_pool3d = _max_pool_in(3, "The largest element of each window of volumes; see ``max_pool2d``.")


def _one(name: str, argument: str, value: Any, before: int = 1) -> Any:
    if isinstance(value, (tuple, list)):
        if len(value) != 1 and (value or argument != "stride"):
            raise RuntimeError(f"{name}() argument '{argument}' should contain one int (got {len(value)})")
        return (before, _whole(name, argument, value[0], 0)) if value else None
    return None if value is None else (before, _whole(name, argument, value))


@remembered(1)
def _line(n: int, kernel_size: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool) -> tuple[Ints, ...]:
    """Kernel, stride, padding, dilation and the result's length for signals of length n. Raises PyTorch's errors."""
    found: list[Any] = []
    for argument, value in zip(_POSITIONS, (kernel_size, stride, padding, dilation), strict=False):
        size = len(value) if isinstance(value, (tuple, list)) else 1
        if size != 1 and (size or argument != "stride"):
            before, comma = "None, " * (argument == "stride"), "," * (argument != "kernel_size")
            raise RuntimeError(
                f"max_pool1d() {argument} must be {before}an int, list of ints{comma} or tuple of ints of size 1 but "
                f"got size {size}"
            )
        found.append(_one("max_pool1d", argument, value))
    kernel, step, pad, apart = (x[1] for x in (found[0], found[1] or found[0], *found[2:]))
    for argument, value in (("kernel_size", kernel), ("stride", step)):
        if value <= 0:
            raise RuntimeError(f"max_pool1d() {argument} must be greater than zero, but got {value}")
    if pad < 0:
        raise RuntimeError(f"max_pool1d() padding must be non-negative, but got {pad}")
    if pad > kernel // 2:
        raise RuntimeError(
            f"max_pool1d() padding should be at most half of kernel size, but got padding={pad} and "
            f"kernel_size={kernel}"
        )
    if apart <= 0:
        raise RuntimeError(f"max_pool1d() dilation must be greater than zero, but got {apart}")
    count = pooled_size((n,), (kernel,), (step,), (pad,), (apart,), ceil_mode)[0]
    if count <= 0:
        raise RuntimeError(f"max_pool1d() Invalid computed output size: {count}")
    return (kernel,), (step,), (pad,), (apart,), (count,)


def _check_signals(name: str, input: Tensor) -> None:
    if input._payload.ndim not in (2, 3):
        raise RuntimeError(
            f"Expected 2 to 3 dimensions, but got {input._payload.ndim}-dimensional tensor for argument #1 'self' "
            f"(while checking arguments for {name})"
        )


@public("torch.max_pool1d nn.functional.max_pool1d")
def max_pool1d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """The largest element of each window of signals ``(N, C, L)`` or ``(C, L)``; see ``max_pool2d``.

    >>> torch.max_pool1d(torch.tensor([[1., 3., 2., 0.]]), 2)
    tensor([[3., 2.]])
    """
    shape, d = input._payload.shape, input._payload.ndim - 1
    given: Any
    if return_indices:
        _check_signals("max_pool1d", input)
        named = zip(_POSITIONS, (kernel_size, stride, padding, dilation), strict=False)
        given = [_one("max_pool1d", name, value, int(name != "padding")) for name, value in named]
    elif d not in (1, 2) or 0 in shape[-2:]:
        raise RuntimeError(
            "max_pool1d: Expected 2D or 3D (batch mode) tensor with optional 0 dim batch size for input, but got:"
            f"{list(shape)}"
        )
    else:
        geometry = _line(shape[d], kernel_size, stride, padding, dilation, ceil_mode)
        if input._node is None:  # nothing shows PyTorch's detour by images
            if input._payload.dtype is not FLOAT32:
                require(input, "fh", "max_pool1d_impl")
            return TENSORS.max_windows(contiguous(input), *geometry)[0]
        given = [(int(k != 2), *x) for k, x in enumerate(geometry[:4])]
    image = TENSORS.unsqueeze_dim(input, d)
    found = max_pool2d(image, *given, ceil_mode, True)
    values = TENSORS.squeeze_dim(found[0], d)
    return (values, TENSORS.squeeze_dim(found[1], d)) if return_indices else values


def _avg_pool_in(k: int, doc: str) -> Any:
    """``avg_pool2d`` or ``avg_pool3d``."""
    name = f"avg_pool{k}d"

    def avg_pool(
        input: Tensor,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> Tensor:
        if divisor_override == 0:
            raise RuntimeError("divisor must be not zero")
        a = input._payload
        kernel, step, pad, _, out = _geometry(name, k, a.shape, kernel_size, stride, padding, 1, ceil_mode)
        if a.dtype is not FLOAT32:
            _check_dtype(name, input)
        return TENSORS.mean_windows(input, kernel, step, pad, out, bool(count_include_pad), divisor_override)

    return _of_windows(with_out(EXACT)(avg_pool), k, doc, "nn.functional.avg_pool{k}d")


avg_pool2d = _avg_pool_in(
    2,
    """The mean of each window of images ``(N, C, H, W)`` or ``(C, H, W)``.

    >>> torch.nn.functional.avg_pool2d(torch.tensor([[[1., 2., 3., 4.], [5., 6., 7., 8.]]]), 2)
    tensor([[[3.5000, 5.5000]]])
    """,
)
avg_pool3d = _avg_pool_in(3, "The mean of each window of volumes; see ``avg_pool2d``.")


@public("torch.avg_pool1d nn.functional.avg_pool1d")
def avg_pool1d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Tensor:
    """The mean of each window of signals ``(N, C, L)`` or ``(C, L)``; see ``avg_pool2d``.

    >>> torch.avg_pool1d(torch.tensor([[1., 3., 2., 0.]]), 2)
    tensor([[2., 1.]])
    """
    _check_signals("avg_pool1d", input)
    d = input._payload.ndim - 1
    kernel, step = _one("avg_pool1d", "kernel_size", kernel_size), _one("avg_pool1d", "stride", stride)
    pads = _one("avg_pool1d", "padding", padding, 0)
    r = avg_pool2d(TENSORS.unsqueeze_dim(input, d), kernel, step, pads, ceil_mode, count_include_pad)
    return TENSORS.squeeze_dim(r, d)


# ---- adaptive
def _wanted(name: str, k: int, input: Any, output_size: Any) -> Ints:
    """The output's size; ``None`` keeps a dimension."""
    shape = tuple(input._payload.shape)
    if len(shape) < k + 1 and k > 1 and isinstance(output_size, (tuple, list)):
        raise ValueError(f"Input dimension should be at least {k + 1}")
    if len(shape) not in (k + 1, k + 2):
        if k == 1:
            raise RuntimeError(
                f"Expected 2 to 3 dimensions, but got {len(shape)}-dimensional tensor for argument #1 'self' (while "
                f"checking arguments for {name})"
            )
        colon = ":" * ("max" in name)
        raise RuntimeError(f"{name}(): Expected {k + 1}D or {k + 2}D tensor, but got{colon} {list(shape)}")
    if not isinstance(output_size, (tuple, list)):
        _whole(name, "output_size", 0 if output_size is None else output_size)
        output_size = (output_size,) * k
    output_size = [o if o is None else _whole(name, "output_size", o, place) for place, o in enumerate(output_size)]
    if len(output_size) != k:
        if k == 1:
            raise RuntimeError(f"{name}() argument 'output_size' should contain one int (got {len(output_size)})")
        what = "(): internal error: output_size.size()" if "max" in name else ": output_size"
        raise RuntimeError(f"{name}{what} must be {k}")
    out = tuple(n if o is None else o for o, n in zip(output_size, shape[-k:], strict=True))
    if min(out) < 0:
        raise _negative_size(name, k, shape, out)
    for i, n in enumerate(shape[-k:]):
        if n == 0:
            raise RuntimeError(
                f"{name}(): Expected input to have non-zero size for non-batch dimensions, but input has sizes "
                f"{list(shape)} with dimension {i + len(shape) - k} being empty"
            )
    if input._payload.dtype not in FLOATING and 0 not in shape:
        require(input, *_KERNELS.get(name, ("fh", name)))
    return out


def _negative_size(name: str, k: int, shape: Ints, out: Ints) -> RuntimeError:
    if k == 1:  # PyTorch runs the one-dimensional functions as two-dimensional ones
        name, out = name.replace("1d", "2d"), (1, *out)
    if "max" in name:
        return RuntimeError(f"Trying to create tensor with negative dimension {min(out)}: {[*shape[:-k], *out]}")
    received = ", ".join(map(str, out[:2])) + "".join(f",{n}" for n in out[2:])  # as PyTorch writes them
    return RuntimeError(
        f"{name}: elements of output_size must be greater than or equal to 0 but received {{{received}}}"
    )


def _adaptive_avg(k: int, input: Any, output_size: Any) -> Any:
    a = input._payload
    rank = a.ndim
    dims = EVERY_DIM[rank][-k:]
    is_mean = type(output_size) is int and output_size == 1  # which PyTorch takes of any rank
    if is_mean and rank < k:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-rank}, {rank - 1}], but got {-k})")
    if is_mean and a.dtype in FLOATING:
        return with_channels_of(input, TENSORS.mean_dim(input, dims, True))
    ones = is_mean or all(o == 1 for o in (output_size if isinstance(output_size, (tuple, list)) else (output_size,)))
    if ones and rank > k and logical_dtype(input) not in FLOATING:
        return mean_public(input, dims, True)  # which refuses integers
    out = () if is_mean else _wanted(f"adaptive_avg_pool{k}d", k, input, output_size)
    if input._payload.dtype not in FLOATING:
        require(input, "ciub" if k == 2 and not input._payload.size else "", _KERNELS[f"adaptive_avg_pool{k}d"][1])
        no_complex_grad("_adaptive_avg_pool2d", input)
    if all(o == 1 for o in out):
        return with_channels_of(input, TENSORS.mean_dim(input, dims, True))
    return TENSORS.mean_parts(_of_volumes(k, input), out)


def _of_volumes(k: int, input: Any) -> Any:
    """Volumes without a batch in rows: they are no images, whose channels may be innermost."""
    return contiguous(input) if k == 3 and input._payload.ndim == 4 else input


@public("nn.functional.adaptive_avg_pool2d")
def adaptive_avg_pool2d(input: Tensor, output_size: Any) -> Tensor:
    """The means of ``output_size`` parts of each image; ``None`` keeps a dimension's size.

    >>> torch.nn.functional.adaptive_avg_pool2d(torch.arange(12.).view(1, 3, 4), (1, 2))
    tensor([[[4.5000, 6.5000]]])
    """
    return _adaptive_avg(2, input, output_size)


@public("nn.functional.adaptive_avg_pool3d")
def adaptive_avg_pool3d(input: Tensor, output_size: Any) -> Tensor:
    """The means of parts of volumes; see ``adaptive_avg_pool2d``.

    >>> torch.nn.functional.adaptive_avg_pool3d(torch.arange(8.).view(1, 2, 2, 2), 1)
    tensor([[[[3.5000]]]])
    """
    return _adaptive_avg(3, input, output_size)


def first(value: Any) -> Any:
    return value[0] if isinstance(value, (tuple, list)) else value


@public("torch.adaptive_avg_pool1d nn.functional.adaptive_avg_pool1d")
def adaptive_avg_pool1d(input: Tensor, output_size: Any) -> Tensor:
    """The means of parts of signals; see ``adaptive_avg_pool2d``.

    >>> torch.adaptive_avg_pool1d(torch.tensor([[1., 3., 2., 0.]]), 2)
    tensor([[2., 1.]])
    """
    _wanted("adaptive_avg_pool1d", 1, input, output_size)
    d = input._payload.ndim - 1
    return TENSORS.squeeze_dim(adaptive_avg_pool2d(TENSORS.unsqueeze_dim(input, d), (1, first(output_size))), d)


def _adaptive_max(k: int, input: Any, output_size: Any, return_indices: bool) -> Any:
    out = _wanted(f"adaptive_max_pool{k}d", k, input, output_size)
    found = TENSORS.max_parts(_of_volumes(k, input), out)
    return found if return_indices else found[0]


@public("nn.functional.adaptive_max_pool2d")
def adaptive_max_pool2d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """The largest elements of ``output_size`` parts of each image.

    >>> torch.nn.functional.adaptive_max_pool2d(torch.arange(4.).view(1, 2, 2), 1)
    tensor([[[3.]]])
    """
    return _adaptive_max(2, input, output_size, return_indices)


@public("nn.functional.adaptive_max_pool3d")
def adaptive_max_pool3d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """The largest elements of parts of volumes.

    >>> torch.nn.functional.adaptive_max_pool3d(torch.arange(8.).view(1, 2, 2, 2), 1)
    tensor([[[[7.]]]])
    """
    return _adaptive_max(3, input, output_size, return_indices)


@public("nn.functional.adaptive_max_pool1d")
def adaptive_max_pool1d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """The largest elements of parts of signals.

    >>> torch.nn.functional.adaptive_max_pool1d(torch.tensor([[1., 3., 2., 0.]]), 2)
    tensor([[3., 2.]])
    """
    _wanted("adaptive_max_pool1d", 1, input, output_size)
    d = input._payload.ndim - 1
    found = _adaptive_max(2, TENSORS.unsqueeze_dim(input, d), (1, first(output_size)), True)
    found = tuple(TENSORS.squeeze_dim(t, d) for t in found)
    return found if return_indices else found[0]


@public("torch.adaptive_max_pool1d")
def torch_adaptive_max_pool1d(input: Tensor, output_size: Any) -> Any:
    """``nn.functional.adaptive_max_pool1d``: the maxima and their indices.

    >>> torch.adaptive_max_pool1d(torch.tensor([[1., 3., 2., 0.]]), 2)
    (tensor([[3., 2.]]), tensor([[1, 2]]))
    """
    return adaptive_max_pool1d(input, output_size, True)
