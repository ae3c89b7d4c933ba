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
        from ..utils._aten_bodies import convolution_backward  # it imports operators

        x, w = (grad_output.new_empty(1).expand(first), second) if of_input else (first, second)
        if not of_input:
            w = grad_output.new_empty(1).expand(second)
        mask = (of_input, not of_input, False)
        found = convolution_backward(
            grad_output, x, w, None, stride, padding, dilation, False, (0,) * dims, groups, mask
        )[not of_input]
        assert found is not None
        return found

    name = "input" if of_input else "weight"
    function.__name__ = function.__qualname__ = f"conv{dims}d_{name}"
    function.__doc__ = f"The gradient of ``conv{dims}d``'s {name}, given as its size, and the gradient of the result."
    return function


for _dims in (1, 2, 3):
    for _of_input in (True, False):
        _function = _gradient(_dims, _of_input)
        globals()[_function.__name__] = _function
