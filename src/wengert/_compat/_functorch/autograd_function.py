"""``torch._functorch.autograd_function``: what PyTorch runs custom functions inside of transforms with.

Here custom functions run in the transforms themselves (``autograd._function_forward``), without these.
"""

from __future__ import annotations

from typing import Any

from wengert._compat import open_rows
from wengert._tape.tensor import Tensor
from wengert.func._levels import in_front
from wengert.func._vmap import vmap


class WrappedCtx:
    """A custom function's ``ctx`` around another one, whose attributes it reads and writes."""

    _pt_reserved_attrs: tuple[str, ...] = ("_pt_reserved_attrs", "_pt_inner_ctx")

    def __init__(self, ctx: Any) -> None:
        if not isinstance(ctx, WrappedCtx):
            for name in type(self)._pt_reserved_attrs:
                if hasattr(ctx, name):
                    raise RuntimeError(
                        f"PyTorch reserves the {name} field on ctx. Please name your fields on ctx something else to "
                        "avoid name collision."
                    )
        self._pt_inner_ctx = ctx

    def __getattr__(self, name: str) -> Any:
        return getattr(self._pt_inner_ctx, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name in type(self)._pt_reserved_attrs:
            self.__dict__[name] = value
        else:
            setattr(self._pt_inner_ctx, name, value)


class CtxWithSavedTensors(WrappedCtx):
    """A ``ctx`` that gives other saved tensors than the one inside of it.

    >>> CtxWithSavedTensors(object(), (1, 2)).saved_tensors
    (1, 2)
    """

    _pt_reserved_attrs = ("_pt_new_saved_tensors", *WrappedCtx._pt_reserved_attrs)

    def __init__(self, ctx: Any, new_saved_tensors: Any) -> None:
        super().__init__(ctx)
        self._pt_new_saved_tensors = new_saved_tensors

    @property
    def saved_tensors(self) -> Any:
        """The other tensors."""
        return self._pt_new_saved_tensors


def reductify_leaf(
    grad_input: Tensor | None,
    grad_input_bdim: int | None,
    input_bdim: int | None,
    batch_size: int,
    target_shape_without_bdim_to_reduce_to: Any = None,
) -> Tensor | None:
    """The gradient of an input from the one for each example: their sum, or one for each where the input is mapped.

    >>> import wengert as torch
    >>> reductify_leaf(torch.ones(3), 0, None, 3)
    tensor(3.)
    """
    if grad_input is None or (grad_input_bdim is None and input_bdim is None):
        return grad_input
    if input_bdim is None:
        return grad_input.sum(grad_input_bdim)
    if grad_input_bdim is None:
        mapped = grad_input.expand(batch_size, *grad_input.shape)
    else:
        mapped = in_front(grad_input, grad_input_bdim)
    if target_shape_without_bdim_to_reduce_to is not None:
        mapped = vmap(Tensor.sum_to_size, (0, None))(mapped, target_shape_without_bdim_to_reduce_to)
    return mapped.movedim(0, input_bdim)


open_rows(globals())
