"""Parts of PyTorch's error messages: types, dtypes, arguments that are not tensors, shapes that do not broadcast."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._base.constants import type_name
from .._base.dtypes import BY_NUMPY
from .._base.errors import noted, sizes_differ, warn_once, where
from .._base.modes import is_grad_enabled
from .node import AccumulateGrad
from .promotion import logical_dtype
from .tensor import Tensor


def not_a_tensor(function: str, argument: str, position: int, value: Any) -> TypeError:
    """PyTorch's error for an argument that must be a tensor; positions count from 1."""
    return TypeError(
        f"{function}(): argument '{argument}' (position {position}) must be Tensor, not {type_name(value)}"
    )


def of_python(ask: Callable[[], Any]) -> Exception:
    """Python's error for something else than a tensor, of which a function that is Python in PyTorch asks this."""
    try:
        ask()
    except (AttributeError, TypeError) as error:
        return error.with_traceback(None)
    return TypeError("the argument must be Tensor")


def expect_tensor(function: str, argument: str, position: int, value: Any) -> Tensor:
    """Return the argument if it is a tensor, else raise PyTorch's error."""
    if not isinstance(value, Tensor):
        raise not_a_tensor(function, argument, position, value)
    return value


def expect_tensors(function: str, **arguments: Any) -> Any:
    """Raise PyTorch's error for the first of a function's leading arguments that is not a tensor."""
    for value in arguments.values():
        if type(value) is not Tensor:
            break
    else:  # the usual case
        return
    for position, (argument, value) in enumerate(arguments.items(), 1):
        if not isinstance(value, Tensor):
            raise not_a_tensor(function, argument, position, value)


_CPP = {
    "float16": "c10::Half", "bfloat16": "c10::BFloat16", "float32": "float", "float64": "double", "bool": "bool",
    "int8": "signed char", "int16": "short int", "int32": "int", "int64": "long int", "uint8": "unsigned char",
    "uint16": "short unsigned int", "uint32": "unsigned int", "uint64": "long unsigned int",
    "complex64": "c10::complex<float>", "complex128": "c10::complex<double>",
}  # fmt: skip


def cpp_name(of: Any) -> str:
    """The C++ name of a tensor's or NumPy's dtype, as PyTorch's errors show it: ``long int``."""
    dtype = logical_dtype(of) if isinstance(of, Tensor) else of
    return _CPP[str(BY_NUMPY[dtype]).removeprefix("torch.")]


def too_large(value: int) -> OverflowError:
    """What Python says when PyTorch converts an int of more than 64 bits to a number of a tensor."""
    return OverflowError("int too big to convert" if value > 0 else "can't convert negative int to unsigned")


def broadcast_error(x: Any, y: Any) -> RuntimeError:
    """PyTorch's error for shapes that do not broadcast, with notes on where the operands were made."""
    return noted(
        RuntimeError(sizes_differ(x.shape, y.shape)),
        f"Why: shapes {list(x.shape)} and {list(y.shape)} do not broadcast: from the last dimension on, sizes must be "
        "equal or 1.",
        _origin("tensor a", x),
        _origin("tensor b", y),
        "What to do: reshape, unsqueeze or transpose one of them so that the sizes agree.",
        code="W008",
    )


def unbroadcast(values: Any) -> RuntimeError | None:
    """PyTorch's error for the first two tensors among these values that do not broadcast, if there are such."""
    tensors = [t for t in values if isinstance(t, Tensor)]
    for k, y in enumerate(tensors):
        for x in tensors[:k]:
            sizes = zip(tuple(x.shape)[::-1], tuple(y.shape)[::-1], strict=False)
            if any(m != n and m != 1 and n != 1 for m, n in sizes):
                return broadcast_error(x, y)
    return None


def common_shape(*tensors: Any) -> tuple[int, ...]:
    """The shape to which tensors broadcast; PyTorch's error if they do not."""
    shapes = [tuple(t._payload.shape) for t in tensors]
    if shapes and shapes.count(shapes[0]) == len(shapes):
        return shapes[0]
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        error = unbroadcast(tensors)
        if error is None:
            raise
        raise error from None


def two_dtypes(message: str) -> RuntimeError:
    """The error of a product or a layer whose operands have several dtypes."""
    return noted(
        RuntimeError(message),
        "Why: products convert nothing; NumPy's numbers are float64 (from_numpy keeps it), parameters float32.",
        "What to do: x.float() for the input, or model.double() for the layers.",
        code="W011",
    )


def _origin(name: str, t: Any) -> str:
    fn = getattr(t, "_node", None)
    if fn is None or type(fn) is AccumulateGrad:
        return ""
    return f"Where: {name} was made at {where(fn._code, fn._lasti)}"


def warn_of_lost_gradient(x: Tensor) -> None:
    """PyTorch's warning where a tensor that requires grad becomes a number; ``array[0] = w.sum()`` comes here too."""
    if x._node is not None and is_grad_enabled():
        warn_once(
            "Converting a tensor with requires_grad=True to a scalar may lead to unexpected behavior.\nConsider using "
            "tensor.detach() first.",
            more=lambda: "".join("\n" + note for note in (_origin("the tensor", x), _LOST) if note),
        )


_LOST = (
    "Why: the number has no gradient, and neither has an array or a list that it is put into.\n"
    "What to do: torch.zeros(...) in place of np.zeros(...), or torch.stack([...]), keep the gradient; item() says "
    "that none is wanted."
)
