"""``torch.nested``: batches of tensors of different sizes, which stand in one tensor.

Two layouts, as in PyTorch. ``torch.jagged`` (``_internal.nested_tensor``) allows one dimension to differ and has most
functions; ``torch.strided`` (``_internal.strided``), the older one, allows all to differ and has few. Both are
computed on the tensor of their elements, which has the history. A function that a layout lacks is refused.
"""

from __future__ import annotations

from typing import Any

import wengert as torch
from wengert._base.errors import warn_once

from ._internal import nested_tensor as jagged
from ._internal.core import Nested, as_made_by, offsets_of
from ._internal.nested_tensor import _rebuild_njt as _rebuild_njt  # which pickles name
from ._internal.strided import _rebuilt as _rebuilt
from ._internal.strided import strided

__all__ = [
    "to_padded_tensor", "as_nested_tensor", "nested_tensor", "nested_tensor_from_jagged", "narrow", "masked_select",
]  # fmt: skip


def _layout(layout: Any, what: str = "tensors") -> bool:
    """Whether a layout is jagged. RuntimeError: it is not one of the two."""
    if layout not in (None, torch.strided, torch.jagged):
        raise RuntimeError(f"Specified layout is unsupported for nested {what}: {layout}")
    return layout is torch.jagged


def _made(parts: list[torch.Tensor], dtype: Any, device: Any, is_jagged: bool) -> Any:
    if is_jagged:
        return jagged.jagged_from_list(parts, None, dtype=dtype, device=device)[0]
    warn_once(
        "The PyTorch API of nested tensors is in prototype stage and will change in the near future. We recommend "
        "specifying layout=torch.jagged when constructing a nested tensor, as this layout receives active development, "
        "has better operator coverage, and works with torch.compile."
    )
    kind = parts[0].dtype if dtype is None and parts else dtype
    if kind is not None and not (kind.is_floating_point or kind.is_complex) and any(t.requires_grad for t in parts):
        raise RuntimeError(f"Autograd not support dtype: {kind.scalar_name}")
    made = strided([part.to(device=device, dtype=kind) for part in parts])
    as_made_by("NestedTensorFromTensorListBackward0", made._values)
    return made


def nested_tensor(
    tensor_list: Any,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> torch.Tensor:
    """A nested tensor of copies of the tensors, or lists of numbers, in a list; a leaf.

    The tensors have one number of dimensions; in layout ``torch.jagged`` they differ in one dimension at most.

    >>> import wengert as torch
    >>> rows = [torch.arange(3.), torch.arange(2.)]
    >>> nt = torch.nested.nested_tensor(rows, layout=torch.jagged, requires_grad=True)
    >>> (nt * 2).sum().backward()
    >>> nt.grad.unbind()
    (tensor([2., 2., 2.]), tensor([2., 2.]))
    """
    is_jagged = _layout(layout)
    if not isinstance(tensor_list, (list, tuple)):
        raise TypeError("Only lists (List[Tensor] and List[List...[Scalar]]) are accepted in nested_tensor")
    kind = dtype
    if kind is None and tensor_list and not is_jagged:
        kind = torch.as_tensor(tensor_list[0]).dtype
    parts = [t.detach().clone() if torch.is_tensor(t) else torch.tensor(t, dtype=kind) for t in tensor_list]
    with torch.no_grad():
        made = _made(parts, dtype, device, is_jagged)
    made._values.requires_grad_(requires_grad)
    return made  # type: ignore[no-any-return]


def as_nested_tensor(ts: Any, dtype: Any = None, device: Any = None, layout: Any = None) -> torch.Tensor:
    """A nested tensor of the tensors in a list, or of the rows of a tensor, with their history.

    >>> import wengert as torch
    >>> a = torch.ones(2, requires_grad=True)
    >>> nt = torch.nested.as_nested_tensor([a, torch.ones(3)], layout=torch.jagged)
    >>> (nt * 3).sum().backward()
    >>> a.grad
    tensor([3., 3.])
    """
    is_tensor = torch.is_tensor(ts)
    if not is_tensor and not (isinstance(ts, (list, tuple)) and all(torch.is_tensor(t) for t in ts)):
        raise TypeError("as_nested_tensor(): Expected first argument to be a tensor or a list / tuple of tensors ")
    if is_tensor and ts.dim() <= 1:
        raise RuntimeError("as_nested_tensor(): Expected tensor argument to have dim() > 1")
    if isinstance(ts, Nested):
        if layout is None or ts.layout != layout or ts.layout is torch.strided:
            raise RuntimeError("as_nested_tensor(): Converting between nested tensor layouts is not supported")
        return ts.to(device=device, dtype=dtype)
    is_jagged = _layout(layout)
    if is_tensor and is_jagged:
        batch, length = ts.shape[:2]
        offsets = torch.arange(0, batch * length + 1, length)
        values = ts.flatten(0, 1).to(device=device, dtype=dtype)
        return jagged.nested_view_from_values_offsets(values, offsets, 1, length, length)
    return _made(list(ts), dtype, device, is_jagged)  # type: ignore[no-any-return]


def to_padded_tensor(input: torch.Tensor, padding: float, output_size: Any = None, out: Any = None) -> torch.Tensor:
    """A tensor of the parts of a nested tensor, each filled up with ``padding`` to the largest, or to ``output_size``.

    >>> import wengert as torch
    >>> nt = torch.nested.nested_tensor([torch.ones(2), torch.ones(3)], layout=torch.jagged)
    >>> torch.nested.to_padded_tensor(nt, 0.0)
    tensor([[1., 1., 0.],
            [1., 1., 1.]])
    """
    if not isinstance(input, Nested):
        raise NotImplementedError(
            "Could not run 'aten::to_padded_tensor' with arguments from the 'CPU' backend. It takes a nested tensor."
        )
    made = input.to_padded_tensor(padding, output_size)
    return made if out is None else out.resize_(made.shape).copy_(made)


def nested_tensor_from_jagged(
    values: torch.Tensor,
    offsets: Any = None,
    lengths: Any = None,
    jagged_dim: int | None = None,
    min_seqlen: int | None = None,
    max_seqlen: int | None = None,
) -> torch.Tensor:
    """A nested tensor of layout ``torch.jagged`` on the memory of ``values``, whose parts begin at ``offsets``.

    ``offsets`` has one number more than there are parts. With ``lengths`` alone the parts follow each other; with both
    they may end before the next one begins.

    >>> import wengert as torch
    >>> nt = torch.nested.nested_tensor_from_jagged(torch.arange(5.), torch.tensor([0, 2, 5]))
    >>> nt.unbind()
    (tensor([0., 1.]), tensor([2., 3., 4.]))
    """
    if offsets is None:
        if lengths is None:
            raise RuntimeError("nested_tensor_from_jagged(): At least one of offsets or lengths is required.")
        offsets = offsets_of(lengths)
        lengths = None
    jagged_dim = 1 if jagged_dim is None else jagged_dim
    if jagged_dim < 1:
        raise ValueError(f"Expected jagged_dim >=1, but got {jagged_dim}.")
    for k, (name, given) in enumerate((("input", values), ("offsets", offsets)), 1):
        if not torch.is_tensor(given):
            raise TypeError(
                f"_nested_view_from_jagged(): argument '{name}' (position {k}) must be Tensor, not "
                f"{type(given).__name__}"
            )
    return jagged.nested_view_from_values_offsets_lengths(values, offsets, lengths, jagged_dim, min_seqlen, max_seqlen)


def narrow(tensor: torch.Tensor, dim: int, start: Any, length: Any, layout: Any = torch.strided) -> torch.Tensor:
    """A nested tensor of ``length`` elements of each row of a tensor, from ``start`` on; both may be tensors.

    >>> import wengert as torch
    >>> x = torch.arange(6.).reshape(2, 3)
    >>> torch.nested.narrow(x, 1, 0, torch.tensor([1, 2]), layout=torch.jagged).unbind()
    (tensor([0.]), tensor([3., 4.]))
    """
    for name, given in (("start", start), ("length", length)):
        if not isinstance(given, int) and not torch.is_tensor(given):
            raise RuntimeError(f"{name} must be an integer or a tensor")
    if not _layout(layout, "narrow"):
        if not (isinstance(start, int) and isinstance(length, int)):
            raise RuntimeError("start and length must be integers for the strided layout NT impl")
        return as_nested_tensor(torch.unbind(tensor)).narrow(dim, start, length)
    if dim != 1:
        raise RuntimeError("jagged layout only supports dim=1")
    starts, lengths = (torch.as_tensor(t, dtype=torch.int64) for t in (start, length))
    return jagged.jagged_from_tensor_and_lengths(tensor, starts, lengths)[0]


def masked_select(tensor: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """A nested tensor of layout ``torch.jagged`` of the elements of each row where ``mask`` is True.

    >>> import wengert as torch
    >>> x = torch.arange(6.).reshape(2, 3)
    >>> torch.nested.masked_select(x, x > 1).unbind()
    (tensor([2.]), tensor([3., 4., 5.]))
    """
    if tensor.layout is not torch.strided:
        raise RuntimeError(f"torch.nested.masked_select requires a strided tensor, but got {tensor.layout}")
    values = torch.masked_select(tensor, mask)
    counts = mask.expand_as(tensor).sum(-1).reshape(-1)
    return nested_tensor_from_jagged(values, lengths=counts)
