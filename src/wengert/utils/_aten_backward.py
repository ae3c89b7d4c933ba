"""The operators of PyTorch that are backward steps of others, such as ``aten.gelu_backward``.

Most are made from their declarations: ``NAME_backward`` gives the gradients of ``NAME``, with its own arguments, by
wengert's own formula. Those that are given a result or statistics in place of the operand are written out.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import wengert as torch

from .._arrays.layouts import is_channels_last
from .._kinds.slow_path import no_complex_grad, require
from ._aten_schemas import schemas

_FORWARD = {"nll_loss_backward": "nll_loss_forward", "nll_loss2d_backward": "nll_loss2d_forward",
            "log_sigmoid_backward": "log_sigmoid"}  # fmt: skip
_OF_ANOTHER_NAME = {"self_or_result": "self", "is_result": "", "self_is_result": ""}


def threshold_backward(grad_output: Any, self: Any, threshold: Any) -> Any:
    return torch.where(self <= threshold, torch.zeros_like(grad_output), grad_output)


def sigmoid_backward(grad_output: Any, output: Any) -> Any:
    return grad_output * (1 - output) * output


def tanh_backward(grad_output: Any, output: Any) -> Any:
    return grad_output * (1 - output * output)


def _softmax_backward_data(grad_output: Any, output: Any, dim: int, input_dtype: Any) -> Any:
    grad_output, output = grad_output.contiguous(), output.contiguous()
    weighted = grad_output * output
    return (weighted - output * weighted.sum(dim, keepdim=True)).to(input_dtype)


def _log_softmax_backward_data(grad_output: Any, output: Any, dim: int, input_dtype: Any) -> Any:
    return (grad_output - output.exp() * grad_output.sum(dim, keepdim=True)).to(input_dtype)


def embedding_dense_backward(
    grad_output: Any, indices: Any, num_weights: int, padding_idx: int, scale_grad_by_freq: bool
) -> Any:
    weight = grad_output.new_zeros(num_weights, grad_output.shape[-1])
    place = padding_idx if padding_idx >= 0 else None
    embedding = functools.partial(torch.nn.functional.embedding, scale_grad_by_freq=scale_grad_by_freq)
    return _gradients(lambda w: embedding(indices, w, place), [weight], grad_output)[0]


def native_dropout_backward(grad_output: Any, mask: Any, scale: float) -> Any:
    return no_complex_grad("native_dropout_backward", grad_output * mask * scale)


def max_pool2d_with_indices_backward(
    grad_output: Any,
    self: Any,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    ceil_mode: bool,
    indices: Any,
) -> Any:
    require(self, "fh", "max_pool2d_backward")
    zeros = torch.where(torch.zeros((), dtype=torch.bool), self, 0)  # the derivative by ``self`` is zero
    made = zeros.flatten(-2).scatter_add(-1, indices.flatten(-2), grad_output.flatten(-2)).view_as(self)
    return made.to(memory_format=torch.channels_last) if is_channels_last(self._payload) else made.contiguous()


def _masked(gradients: Any, mask: Any) -> tuple[Any, ...]:
    return tuple([g if wanted else None for g, wanted in zip(gradients, mask, strict=True)])


def _affine(grad: Any, x: Any, weight: Any, bias: Any, mask: Any, normal: Callable[[Any], Any], shown: Any) -> Any:
    """The gradients of ``normal(x) * weight + bias``, with weight and bias in the shape ``shown``."""
    operands = [x, *(grad.new_ones(shown) if t is None else t.reshape(shown) for t in (weight, bias))]
    found = _gradients(lambda x, w, b: normal(x) * w + b, operands, grad)
    kinds = (x.shape, *(None if t is None else t.shape for t in (weight, bias)))
    mask = [wanted and kind is not None for wanted, kind in zip(mask, kinds, strict=True)]
    return _masked([g if kind is None else g.reshape(kind) for g, kind in zip(found, kinds, strict=True)], mask)


def _normal(x: Any, dims: Any, rstd: Any) -> Any:
    """``(x - mean) * rstd`` with both as functions of ``x``; ``rstd`` says what ``eps`` was."""
    own = x.mean(dims, keepdim=True)
    var = x.var(dims, correction=0, keepdim=True)
    return (x - own) * (var + (rstd.reshape(var.shape) ** -2 - var.detach())).rsqrt()


def native_layer_norm_backward(
    grad_out: Any, input: Any, normalized_shape: Any, mean: Any, rstd: Any, weight: Any, bias: Any, output_mask: Any
) -> Any:
    dims = list(range(input.ndim - len(normalized_shape), input.ndim))
    bias = bias if bias is not None or not output_mask[2] else weight
    normal = functools.partial(_normal, dims=dims, rstd=rstd)
    return _affine(grad_out, input, weight, bias, output_mask, normal, list(normalized_shape))


def native_group_norm_backward(
    grad_out: Any, input: Any, mean: Any, rstd: Any, weight: Any, N: int, C: int, HxW: int, group: int, output_mask: Any
) -> Any:
    def normal(x: Any) -> Any:
        return _normal(x.reshape(N, group, -1), [2], rstd).reshape(x.shape)

    bias = grad_out.new_zeros(C) if output_mask[2] else None
    return _affine(grad_out, input, weight, bias, output_mask, normal, [C] + [1] * (input.ndim - 2))


def native_batch_norm_backward(
    grad_out: Any, input: Any, weight: Any, running_mean: Any, running_var: Any, save_mean: Any, save_invstd: Any,
    train: bool, eps: float, output_mask: Any,
) -> Any:  # fmt: skip
    shown = [1, input.shape[1]] + [1] * (input.ndim - 2)

    def normal(x: Any) -> Any:
        if train:
            return _normal(x, [d for d in range(x.ndim) if d != 1], save_invstd)
        return (x - running_mean.reshape(shown)) * (running_var.reshape(shown) + eps).rsqrt()

    bias = grad_out.new_zeros(input.shape[1]) if output_mask[2] else None
    return _affine(grad_out, input, weight, bias, output_mask, normal, shown)


def _gradients(function: Callable[..., Any], operands: list[Any], grad: Any) -> tuple[Any, ...]:
    with torch.enable_grad():
        operands = [t.detach().requires_grad_() for t in operands]
        result = function(*operands)
        result = result[0] if isinstance(result, tuple) else result
        return torch.autograd.grad(result, operands, grad.to(result.dtype))


def _of_forward(name: str, forward: str, given: dict[str, Any]) -> Any:
    """The gradients of an operator, from the arguments of its backward step."""
    grad = given["grad_output"]
    given = {_OF_ANOTHER_NAME.get(k, k): v for k, v in given.items()}
    sizes = given.get("input_sizes", given.get("input_size"))
    if sizes is not None:
        given["self"] = given["input"] = grad.new_zeros(sizes)
    if "output_size" not in given:
        given["output_size"] = list(grad.shape[-2 - ("3d" in name) :])
    schema = schemas(forward)[0]
    names = [a.name for a in schema.arguments]
    several = [n for n in ("self", "input", "weight") if n in names and schema.arguments[names.index(n)].type == "T"]
    several = several if name == "_prelu_kernel_backward" else several[:1]
    op = getattr(getattr(torch.ops.aten, forward), schema.overload)

    def run(*operands: Any) -> Any:
        values = given | dict(zip(several, operands, strict=True))
        placed = [values.get(a.name, a.default) for a in schema.arguments if not a.keyword_only]
        return op(*placed, **{a.name: values.get(a.name, a.default) for a in schema.arguments if a.keyword_only})

    found = _gradients(run, [given[n] for n in several], grad)
    return found if len(found) > 1 else found[0]


def body(name: str) -> Callable[..., Any] | None:
    """What computes an operator of this kind, or None."""
    if name in globals() and name.endswith(("_backward", "_backward_data")):
        return globals()[name]  # type: ignore[no-any-return]
    forward = _FORWARD.get(name, name.removesuffix("_backward"))
    if not name.endswith("_backward") or not schemas(name) or not schemas(forward):
        return None

    def call(*args: Any, **kwargs: Any) -> Any:
        bound = schemas(name)[0].bound(args, kwargs)
        return _of_forward(name, forward, bound)

    return call
