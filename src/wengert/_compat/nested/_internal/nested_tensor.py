"""``NestedTensor``: layout ``jagged``, one ragged dimension, in which the parts lie one after the other.

``_values`` has all dims but that of the batch; ``_offsets`` says where each part begins along dimension
``_ragged_idx - 1`` of it. With ``_lengths`` the parts may end before the next one begins.
"""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from typing import Any

import wengert as torch
from wengert._base.constants import make_size
from wengert._kinds.dims import normal_dim
from wengert._saving.rebuilding import _rebuild_from_type_v2, _rebuild_njt, check_attribute

from .core import Nested, as_made_by, offsets_of, padded, shown_as_base
from .nested_int import get_tensor_symint


def _store_val_in_tensor(val: int) -> torch.Tensor:
    return torch.zeros(val, 0)


class NestedTensor(Nested):
    """A nested tensor of layout ``jagged``. Its size has a symbol, such as ``j1``, for the ragged dimension.

    >>> import wengert as torch
    >>> nt = torch.nested.nested_tensor([torch.ones(2, 4), torch.ones(3, 4)], layout=torch.jagged)
    >>> nt.sum(1)
    tensor([[2., 2., 2., 2.],
            [3., 3., 3., 3.]])
    """

    _offsets: torch.Tensor
    _lengths: torch.Tensor | None
    _ragged_idx: int
    _metadata_cache: dict[str, Any]

    @staticmethod
    def __new__(cls: Any, values: Any, offsets: Any, *, lengths: Any = None, **kwargs: Any) -> Any:
        assert offsets is not None, "offsets must not be None"
        assert offsets.ndim == 1, f"offsets must be 1D, but got {offsets.ndim}D"
        assert not isinstance(values, Nested), "values must not be a NestedTensor"
        batch = offsets.shape[0] - 1
        assert lengths is None or lengths.shape[0] == batch, (
            f"offsets and lengths batch sizes must match: offsets.shape[0] - 1 = {batch}, "
            f"lengths.shape[0] = {lengths.shape[0]}"
        )
        return Nested._wrapper(cls, (batch, *values.shape), values)

    def __init__(self, values: Any, offsets: Any, *, lengths: Any = None, **kwargs: Any) -> None:
        if kwargs.get("requires_grad") and not values.requires_grad:
            values = values.detach().requires_grad_()
        self._values, self._offsets, self._lengths = values, offsets, lengths
        self._ragged_idx = kwargs.get("_ragged_idx", 1)
        self._metadata_cache = kwargs.get("_metadata_cache") or {}
        get_tensor_symint(offsets if lengths is None else lengths)  # numbers are given in the order of making

    def _like(self, values: torch.Tensor, ragged_idx: int | None = None) -> NestedTensor:
        return NestedTensor(
            values,
            self._offsets,
            lengths=self._lengths,
            _ragged_idx=self._ragged_idx if ragged_idx is None else ragged_idx,
            _metadata_cache=self._metadata_cache,
        )

    def _part_lengths(self) -> torch.Tensor:
        return self._offsets.diff() if self._lengths is None else self._lengths

    def _parts(self) -> tuple[torch.Tensor, ...]:
        axis = self._ragged_idx - 1
        if self._lengths is None:
            return tuple(torch.split(self._values, self._offsets.diff().tolist(), axis))
        places = zip(self._offsets.tolist(), self._lengths.tolist(), strict=False)
        return tuple(torch.narrow(self._values, axis, start, n) for start, n in places)

    def _sizes(self) -> Any:
        return tuple(self._size)

    def _elements(self, name: str, args: Sequence[Any]) -> list[Any]:
        whole = next(a for a in args if isinstance(a, Nested))
        return [self._element(name, a, whole, args) if torch.is_tensor(a) else a for a in args]

    def _element(self, name: str, a: Any, whole: Any, args: Sequence[Any]) -> Any:
        end = whole._ragged_idx + 1
        if isinstance(a, Nested):
            if a is whole or (isinstance(a, NestedTensor) and a._size[:end] == whole._size[:end]):
                return a._values
        elif a.dim() > whole.dim():
            raise NotImplementedError("NYI: broadcasting NT with T with larger dim")
        else:
            while a.dim() and a.shape[0] == 1:
                a = a.squeeze(0)
            if whole.dim() >= a.dim() + 2:
                return a
            if whole.dim() == a.dim() and whole._size[0] == a.shape[0]:
                sizes = list(a.shape)
                sizes[whole._ragged_idx] = whole._get_max_seqlen()
                return nested_from_padded(a.expand(sizes), whole._offsets, whole._ragged_idx)._values
        shapes = " and ".join(str(tuple(b._size)) if isinstance(b, Nested) else str(b.shape) for b in args[:2])
        if any(not isinstance(b, Nested) for b in args[:2]):
            shapes = " and ".join(str(b.shape) for b in args[:2])
        raise RuntimeError(f"cannot call binary pointwise function {name}.Tensor with inputs of shapes {shapes}")

    def _refusal(self, name: str) -> Exception:
        return NotImplementedError(f"aten.{name.strip('_') if name.startswith('__') else name}.default")

    def _node_size(self) -> Any:
        return list(self._size)

    # ---- what it is
    @property
    def _size(self) -> tuple[Any, ...]:
        at = self._ragged_idx - 1
        ragged = get_tensor_symint(self._offsets if self._lengths is None else self._lengths)
        shape = self._values.shape
        return (self._offsets.shape[0] - 1, *shape[:at], ragged, *shape[at + 1 :])

    @property
    def _strides(self) -> tuple[Any, ...]:
        steps = self._values.stride()
        return (self._size[self._ragged_idx] * steps[self._ragged_idx - 1], *steps)

    @property
    def layout(self) -> Any:  # type: ignore[override]
        return torch.jagged

    def size(self, dim: int | None = None) -> Any:  # type: ignore[override]
        """The size; that of the ragged dimension is a symbol."""
        size = self._size
        return make_size(size) if dim is None else size[normal_dim(dim, len(size))]

    def stride(self, dim: int | None = None) -> Any:  # type: ignore[override]
        steps = self._strides
        return steps if dim is None else steps[normal_dim(dim, len(steps))]

    def dim(self) -> int:
        return self._values.dim() + 1

    def numel(self) -> int:
        if self._lengths is None:
            return self._values.numel()
        return sum(part.numel() for part in self._parts())

    def is_contiguous(self, memory_format: Any = torch.contiguous_format) -> bool:
        return self._lengths is None and self._values.is_contiguous(memory_format=memory_format)

    def _is_contiguous_or_false(self) -> bool:
        return self.is_contiguous()

    def contiguous(self, memory_format: Any = torch.contiguous_format) -> Any:
        if self.is_contiguous():
            return self
        if self._lengths is not None:
            assert self._ragged_idx == 1, "NJT with ragged_idx != 1 not supported for contiguous clone"
            return jagged_from_list(list(self._parts()), None)[0]
        return self._like(self._values.contiguous())

    def __len__(self) -> int:
        return self._offsets.shape[0] - 1

    def values(self) -> torch.Tensor:
        """All elements, a view with the history of this tensor."""
        return as_made_by("NestedGetValuesBackward0", shown_as_base(self)[...])[0]  # type: ignore[no-any-return]

    def offsets(self) -> torch.Tensor:
        """Where each part begins, and where the last one ends."""
        return self._offsets

    def lengths(self) -> torch.Tensor | None:
        """The length of each part, if they do not fill the offsets."""
        return self._lengths

    def _seqlen(self, name: str) -> int:
        known = self._metadata_cache.get(f"{name}_seqlen")
        if known is None:
            found = int(getattr(self._part_lengths(), name)())
            known = self._metadata_cache[f"{name}_seqlen"] = _store_val_in_tensor(found)
        return known.shape[0]

    def _get_max_seqlen(self) -> int:
        return self._seqlen("max")

    def _get_min_seqlen(self) -> int:
        return self._seqlen("min")

    _max_seqlen = property(_get_max_seqlen)
    _min_seqlen = property(_get_min_seqlen)

    @property
    def _max_seqlen_tensor(self) -> torch.Tensor | None:
        return self._metadata_cache.get("max_seqlen")

    @property
    def _min_seqlen_tensor(self) -> torch.Tensor | None:
        return self._metadata_cache.get("min_seqlen")

    @property
    def _maybe_max_seqlen(self) -> int | None:
        known = self._max_seqlen_tensor
        return None if known is None else known.shape[0]

    @property
    def _maybe_min_seqlen(self) -> int | None:
        known = self._min_seqlen_tensor
        return None if known is None else known.shape[0]

    def to_padded_tensor(self, padding: float, output_size: Any = None) -> torch.Tensor:
        if self._lengths is not None:
            raise RuntimeError("to_padded_tensor(): not supported for nested tensors with holes")
        return padded(self, padding, output_size)

    def tolist(self) -> Any:
        raise RuntimeError(".tolist() is not supported for tensor subclasses, got NestedTensor")

    def numpy(self, *, force: bool = False) -> Any:
        raise RuntimeError(".numpy() is not supported for tensor subclasses.")

    def apply_(self, callable: Any) -> Any:
        self._values.apply_(callable)
        return self

    def __repr__(self, *, tensor_contents: Any = None) -> str:  # type: ignore[override]
        history = f", requires_grad={self.requires_grad}" if self.requires_grad else ""
        if self.grad_fn:
            history = f", grad_fn={self.grad_fn}"
        return f"NestedTensor(size={self._size}, offsets={self._offsets}{history}, contiguous={self.is_contiguous()})"

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name[0] != "_"}

    def __setstate__(self, state: Any) -> None:
        if "_values" not in vars(self):
            raise pickle.UnpicklingError("a nested tensor is made of its elements, not of another tensor")
        for name, value in (state if type(state) is dict else {}).items():
            if type(name) is str and name[:1] != "_":  # the others are its own
                check_attribute(NestedTensor, name)
                setattr(self, name, value)

    def __reduce_ex__(self, protocol: Any) -> Any:
        kwargs = {
            "values": self._values.detach() if self.is_leaf else self._values,
            "offsets": self._offsets,
            "lengths": self._lengths,
            "_ragged_idx": self._ragged_idx,
            "_metadata_cache": self._metadata_cache,
            "requires_grad": self.requires_grad,
        }
        return _rebuild_from_type_v2, (_rebuild_njt, NestedTensor, (kwargs,), self.__getstate__())

    def __tensor_flatten__(self) -> tuple[list[str], dict[str, Any]]:
        names = ["_values", "_offsets", "_lengths", "_min_seqlen_tensor", "_max_seqlen_tensor"]
        kept = [name for name in names if getattr(self, name) is not None]
        return kept, {"requires_grad": self.requires_grad, "ragged_idx": self._ragged_idx}

    @staticmethod
    def __tensor_unflatten__(inner: dict[str, Any], meta: Any, outer_size: Any, outer_stride: Any) -> NestedTensor:
        found = {name: inner.get(f"_{name}_tensor") for name in ("min_seqlen", "max_seqlen")}
        return NestedTensor(
            inner["_values"],
            inner["_offsets"],
            lengths=inner.get("_lengths"),
            requires_grad=meta["requires_grad"],
            _ragged_idx=meta["ragged_idx"],
            _metadata_cache={name: value for name, value in found.items() if value is not None},
        )


# ---- making them
def jagged_from_list(
    tensors: list[torch.Tensor], offsets: torch.Tensor | None, dtype: Any = None, device: Any = None
) -> tuple[NestedTensor, torch.Tensor]:
    """A NestedTensor of tensors that differ in one dimension, with their history, and its offsets."""
    if not tensors:
        raise RuntimeError("Cannot construct a nested tensor from an empty tensor list")
    for facts, what in (
        ({t.dtype for t in tensors}, "have the same dtype"),
        ({t.device for t in tensors}, "be on the same device"),
        ({t.dim() for t in tensors}, "have the same dim"),
    ):
        if len(facts) != 1:
            raise RuntimeError(f"When constructing a nested tensor, all tensors in list must {what}")
    if tensors[0].dim() == 0:
        raise RuntimeError("Cannot construct a nested tensor from a list of zero-dim tensors")
    first = tensors[0].shape
    ragged = [d for d in range(len(first)) if any(t.shape[d] != first[d] for t in tensors)]
    if len(ragged) > 1:
        raise RuntimeError(
            "Cannot represent given tensor list as a nested tensor with the jagged layout. "
            "Note that the jagged layout only allows for a single ragged dimension. "
            "For example: (B, *, D_0, D_1, ..., D_N), with ragged * dim."
        )
    axis = ragged[0] if ragged else 0
    values = torch.cat(tensors, axis).to(device=device, dtype=dtype)
    lengths = [t.shape[axis] for t in tensors]
    if offsets is None:
        offsets = offsets_of(torch.tensor(lengths)).to(device=values.device)
    made = nested_view_from_values_offsets(values, offsets, axis + 1, min(lengths), max(lengths))
    return made, offsets


def jagged_from_tensor_and_lengths(
    tensor: torch.Tensor, starts: torch.Tensor, lengths: torch.Tensor
) -> tuple[NestedTensor, torch.Tensor, torch.Tensor | None]:
    """Rows of a tensor, each from its start and of its length: a NestedTensor, its offsets and its lengths."""
    batch = tensor.shape[0]
    if any(t.dim() > 1 or (t.dim() == 1 and t.shape[0] not in (1, batch)) for t in (starts, lengths)):
        raise RuntimeError(
            "When constructing a jagged nested tensor using narrow(), "
            "your start and length must be Tensors that broadcast to input.shape[0]"
        )
    starts, lengths = starts.expand(batch), lengths.expand(batch)
    assert tensor.dim() >= 2, "tensor must at least be 2D for the nested narrow op to work"
    longest = tensor.shape[1]
    begins = starts + longest * torch.arange(batch)
    offsets = torch.cat([begins, (begins[-1] + lengths[-1]).unsqueeze(0)])
    values = tensor.view(-1, *tensor.shape[2:])
    least, most = int(lengths.min()), int(lengths.max())
    gapless = bool((lengths[1:-1] == longest).all()) and bool((offsets[1:-2].diff() == longest).all())
    if gapless and int(offsets[0] + lengths[0]) == longest:
        kept = values[int(offsets[0]) : int(offsets[-1])]
        return nested_view_from_values_offsets(kept, offsets - offsets[0], 1, least, most), offsets, None
    made = nested_view_from_values_offsets_lengths(values, offsets, lengths, 1, least, most)
    return made, offsets, lengths


def nested_view_from_values_offsets(
    values: Any, offsets: Any, ragged_idx: int = 1, min_seqlen: int | None = None, max_seqlen: int | None = None
) -> NestedTensor:
    """A NestedTensor on the memory of ``values``, with their history."""
    return nested_view_from_values_offsets_lengths(values, offsets, None, ragged_idx, min_seqlen, max_seqlen)


def nested_view_from_values_offsets_lengths(
    values: Any,
    offsets: Any,
    lengths: Any,
    ragged_idx: int = 1,
    min_seqlen: int | None = None,
    max_seqlen: int | None = None,
) -> NestedTensor:
    """A NestedTensor on the memory of ``values``, whose parts have these lengths."""
    known = {"min_seqlen": min_seqlen, "max_seqlen": max_seqlen}
    cache = {name: _store_val_in_tensor(n) for name, n in known.items() if n is not None}
    (view,) = as_made_by("NestedViewFromJaggedBackward0", values[...])
    return NestedTensor(view, offsets, lengths=lengths, _ragged_idx=ragged_idx, _metadata_cache=cache)


def nested_from_padded(
    padded: Any,
    offsets: Any,
    ragged_idx: int = 1,
    min_seqlen: int | None = None,
    max_seqlen: int | None = None,
    sum_S: int | None = None,
) -> NestedTensor:
    """A NestedTensor of the first elements of each row of a padded tensor."""
    axis = ragged_idx - 1
    lengths = offsets.diff().tolist()
    rows = [torch.narrow(row, axis, 0, n) for row, n in zip(torch.unbind(padded, 0), lengths, strict=True)]
    return nested_view_from_values_offsets(torch.cat(rows, axis), offsets, ragged_idx, min_seqlen, max_seqlen)


def buffer_from_jagged(jagged: NestedTensor) -> torch.Tensor:
    return jagged.values()


def _nested_get_values(nested: NestedTensor) -> torch.Tensor:
    """``nested.values()``."""
    return nested.values()


def _nested_get_offsets(nested: NestedTensor) -> torch.Tensor:
    return nested._offsets


def _nested_get_lengths(nested: NestedTensor) -> torch.Tensor | None:
    return nested._lengths


def _nested_get_ragged_idx(nested: NestedTensor) -> int:
    return nested._ragged_idx


from . import ops  # noqa: E402  # the rules, which make NestedTensors

NestedTensor._rules = ops.RULES
