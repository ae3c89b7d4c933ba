"""``torch.nn.grad``: the gradients of convolutions, called by themselves.

>>> import wengert as torch
>>> w, g = torch.ones(1, 1, 2), torch.ones(1, 1, 3)
>>> torch.nn.grad.conv1d_input((1, 1, 4), w, g)
tensor([[[1., 2., 2., 1.]]])
>>> torch.nn.grad.conv1d_weight(torch.arange(4.).reshape(1, 1, 4), (1, 1, 2), g)
tensor([[[3., 6.]]])
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._base.registry import TENSORS
from .._tape.tensor import Tensor

__all__: list[str] = []


def _gradient(dims: int, of_input: bool) -> Callable[..., Tensor]:
    def function(
        first: Any,
        second: Any,
        grad_output: Tensor,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
    ) -> Tensor:
        from .._ops.nn.conv import per_dim

        given = {"stride": stride, "padding": padding, "dilation": dilation}
        geometry = [per_dim(name, value, dims) for name, value in given.items()]
        if of_input:
            return TENSORS.conv_input(grad_output, second, tuple(first[2:]), *geometry, groups)  # type: ignore[no-any-return]
        return TENSORS.conv_weight(first, grad_output, tuple(second[2:]), *geometry, groups)  # type: ignore[no-any-return]

    name = "input" if of_input else "weight"
    function.__name__ = function.__qualname__ = f"conv{dims}d_{name}"
    function.__doc__ = f"The gradient of ``conv{dims}d``'s {name}, given as its size, and the gradient of the result."
    return function


for _dims in (1, 2, 3):
    for _of_input in (True, False):
        _function = _gradient(_dims, _of_input)
        globals()[_function.__name__] = _function
