"""``torch.nn.functional``: the functions that the operators declare.

>>> import wengert as torch
>>> torch.nn.functional.mse_loss(torch.tensor([1., 2.]), torch.tensor([1., 4.]))
tensor(2.)
"""

from typing import Any

from .._tape.tensor import Tensor
from .._tensor_api.publish import function as _function
from .._tensor_api.publish import lend
from . import _reduction as _Reduction  # noqa: F401  a name that programs import from here

lend("nn.functional", globals())
globals()["__all__"].append("grouped_mm")  # which calls an operator by another name
_lent = globals()["__getattr__"]
_OVERRIDES = ["handle_torch_function", "has_torch_function", "has_torch_function_unary", "has_torch_function_variadic"]
_OF_ATTENTION = (  # which programs import that write attention or a layer anew
    "_canonical_mask", "_check_key_padding_mask", "_in_projection_packed", "_mha_shape_check", "_none_or_dtype",
)  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in _OVERRIDES:
        from .. import overrides

        return getattr(overrides, name)
    if name in _OF_ATTENTION:
        from .._ops.nn import multihead

        return getattr(multihead, name)
    function = _lent(name)
    if name == "linear":  # an operator without a function around it
        function.__annotations__ = {"input": Tensor}
    for written in (function, getattr(function, "__wrapped__", None)):
        types = getattr(written, "__annotations__", {})  # in PyTorch the class stands there, not its name
        types.update({parameter: Tensor for parameter, given in types.items() if given == "Tensor"})
    return function


def grouped_mm(
    mat_a: Tensor, mat_b: Tensor, *, offs: Tensor | None = None, bias: Any = None, out_dtype: Any = None
) -> Tensor:
    """The products of groups of two matrices, or batches of them; ``offs`` says where each group of a matrix ends.

    The groups of a matrix ``mat_a`` are rows, those of a matrix ``mat_b`` columns; two matrices have groups of what
    they are contracted along, and give one product each. What lies behind the last group is 0 in the result.

    >>> import wengert as torch
    >>> rows, experts = torch.ones(3, 2), torch.stack([torch.eye(2), 2 * torch.eye(2)])
    >>> torch.nn.functional.grouped_mm(rows, experts, offs=torch.tensor([1, 3], dtype=torch.int32))
    tensor([[1., 1.],
            [2., 2.],
            [2., 2.]])
    """
    return _function("torch", "_grouped_mm")(mat_a, mat_b, offs=offs, bias=bias, out_dtype=out_dtype)  # type: ignore[no-any-return]
