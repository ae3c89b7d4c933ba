"""Layout ``strided``: parts of any sizes, whose elements lie one after the other in one dimension.

``_values`` is that dimension; ``_places`` has the size, the steps and the start of each part. A transposition, a chunk
and their like change the places alone. PyTorch has few functions of this layout, and so have we: what it refuses is
refused.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import wengert as torch
from wengert._kinds.dims import normal_dim
from wengert._saving.rebuilding import _rebuild_from_type_v2, _rebuild_nested_tensor

from .core import Nested, as_made_by, flat

_ELEMENTWISE = frozenset((
    "abs", "absolute", "alpha_dropout", "conj", "conj_physical", "cos", "dropout", "feature_alpha_dropout", "gelu",
    "isinf", "isnan", "isneginf", "isposinf", "isreal", "logical_not", "masked_fill", "neg", "negative", "positive",
    "real", "relu", "sgn", "silu", "sin", "softsign", "sqrt", "tanh", "tanhshrink", "add", "sub", "mul", "div",
    "true_divide", "eq", "gt", "ge",
))  # fmt: skip
_PAIRS = frozenset(("add", "sub", "mul", "div", "true_divide"))


class Place(NamedTuple):
    """Where a part lies in the elements."""

    size: tuple[int, ...]
    steps: tuple[int, ...]
    start: int


def _dense(size: Sequence[int]) -> tuple[int, ...]:
    return tuple(math.prod(size[d + 1 :]) for d in range(len(size)))


def _row(sizes: Sequence[Sequence[int]]) -> list[Place]:
    """The places of parts of these sizes, one after the other."""
    places, start = [], 0
    for size in sizes:
        places.append(Place(tuple(size), _dense(size), start))
        start += math.prod(size)
    return places


def strided(parts: Sequence[torch.Tensor], node: str | None = None) -> StridedNested:
    """A nested tensor of copies of the parts, with their history; ``node``: PyTorch's name for its node."""
    first = parts[0] if parts else torch.empty(0)
    for k, part in enumerate(parts):
        if part.dim() != first.dim():
            raise RuntimeError(
                "All Tensors given to nested_tensor must have the same dimension. "
                f"Found dimension {part.dim()} for Tensor at index {k} and dimension {first.dim()} for Tensor at "
                "index 0."
            )
    values = torch.cat([part.reshape(-1) for part in parts]) if parts else first
    if node is not None:
        as_made_by(node, values)
    return StridedNested(values, _row([part.shape for part in parts]))


class StridedNested(Nested):
    """A nested tensor of layout ``strided``.

    >>> import warnings
    >>> warnings.simplefilter("ignore")  # that this is a prototype
    >>> import wengert as torch
    >>> torch.nested.nested_tensor([torch.ones(1, 2), torch.zeros(2, 1)])
    nested_tensor([
      tensor([[1., 1.]]),
      tensor([[0.],
              [0.]])
    ])
    """

    _places: list[Place]

    @staticmethod
    def __new__(cls: Any, values: torch.Tensor, places: list[Place]) -> Any:
        return Nested._wrapper(cls, values.shape, values)

    def __init__(self, values: torch.Tensor, places: list[Place]) -> None:
        self._values, self._places = values, places

    def _like(self, values: torch.Tensor) -> StridedNested:
        return StridedNested(values, self._places)

    def _parts(self) -> tuple[torch.Tensor, ...]:
        if self.is_contiguous():
            lengths = [math.prod(p.size) for p in self._places]
            parts = zip(torch.split(self._values, lengths), self._places, strict=True)
            return tuple(part.view(p.size) for part, p in parts)
        return tuple(torch.as_strided(self._values, *p) for p in self._places)

    def _elements(self, name: str, args: Sequence[Any]) -> list[Any]:
        both = [isinstance(a, StridedNested) for a in args[:2]]
        if all(both) and len(args) > 1:
            if name not in _PAIRS and name != "masked_fill":
                raise RuntimeError(f"{name} does not support nested tensor as other value.")
            if args[0]._sizes() != args[1]._sizes():
                raise RuntimeError(f"{name} does not support broadcasting when given a NestedTensor")
            if args[0]._places != args[1]._places:
                args = [a.contiguous() for a in args[:2]] + list(args[2:])
        elif len(args) > 1 and torch.is_tensor(args[1 - both.index(True)]) and args[1 - both.index(True)].dim():
            kinds = ["nested" if b else "non-nested" for b in both]
            raise RuntimeError(
                f"Expected both self and other to be nested, but got a {kinds[0]} self and {kinds[1]} other"
            )
        return [a._values if isinstance(a, StridedNested) else a for a in args]

    def _elementwise(self, name: str) -> bool:
        return name in _ELEMENTWISE

    def _sizes(self) -> Any:
        return [p.size for p in self._places]

    def _refusal(self, name: str) -> Exception:
        return NotImplementedError(
            f"Could not run 'aten::{name.strip('_')}' with arguments from the 'NestedTensorCPU' backend. Layout "
            "torch.jagged has more functions; nt.unbind() gives the parts."
        )

    # ---- what it is
    @property
    def layout(self) -> Any:  # type: ignore[override]
        return torch.strided

    def dim(self) -> int:
        return len(self._places[0].size) + 1 if self._places else 1

    def size(self, dim: int | None = None) -> Any:  # type: ignore[override]
        """The size along one dimension in which all parts agree."""
        if dim is None:
            raise RuntimeError("Internal error: NestedTensorImpl doesn't support sizes. Please file an issue.")
        at = normal_dim(dim, self.dim())
        sizes = {p.size[at - 1] for p in self._places} if at else {len(self._places)}
        if len(sizes) != 1:
            raise RuntimeError(f"Given dimension {at} is irregular and does not have a size.")
        return sizes.pop()

    def stride(self, dim: int | None = None) -> Any:  # type: ignore[override]
        raise RuntimeError("Internal error: NestedTensorImpl doesn't support strides. Please file an issue.")

    def __len__(self) -> int:
        return self.size()  # type: ignore[no-any-return]

    def tolist(self) -> Any:
        return self.stride()

    def numpy(self, *, force: bool = False) -> Any:
        return self.size()

    def numel(self) -> int:
        return sum(math.prod(p.size) for p in self._places)

    def is_contiguous(self, memory_format: Any = torch.contiguous_format) -> bool:
        return self._places == _row(self._sizes()) and self.numel() == self._values.numel()

    def contiguous(self, memory_format: Any = torch.contiguous_format) -> Any:
        return self if self.is_contiguous() else strided(self._parts(), "CloneBackward0")

    def values(self) -> torch.Tensor:
        """All elements in one dimension, a view with the history of this tensor."""
        return as_made_by("ValuesBackwardAutogradNestedTensor0", self._values[...])[0]  # type: ignore[no-any-return]

    def _nested_tensor_size(self) -> torch.Tensor:
        return torch.tensor(self._sizes(), dtype=torch.int64)

    def _nested_tensor_strides(self) -> torch.Tensor:
        return torch.tensor([p.steps for p in self._places], dtype=torch.int64)

    def _nested_tensor_storage_offsets(self) -> torch.Tensor:
        return torch.tensor([p.start for p in self._places], dtype=torch.int64)

    def __repr__(self, *, tensor_contents: Any = None) -> str:  # type: ignore[override]
        parts = [repr(part.detach().requires_grad_(self.requires_grad)) for part in self._parts()]
        rows = ",\n".join("  " + part.replace("\n", "\n  ") for part in parts)
        node = self.grad_fn
        end = f", grad_fn=<{node.name()}>" if node is not None else ", requires_grad=True" * self.requires_grad
        return f"nested_tensor([\n{rows}\n]{end})"

    def __reduce_ex__(self, protocol: Any) -> Any:
        places = self._nested_tensor_size(), self._nested_tensor_strides(), self._nested_tensor_storage_offsets()
        parts = (self._values, *places)
        attributes = {name: value for name, value in vars(self).items() if name[0] != "_"}
        if attributes:
            return _rebuild_from_type_v2, (_rebuild_nested_tensor, torch.Tensor, parts, attributes)
        return _rebuild_nested_tensor, parts


def _rebuilt(values: torch.Tensor, places: list[Any], requires_grad: bool) -> StridedNested:
    return StridedNested(values.requires_grad_(requires_grad), [Place(*p) for p in places])


# ---- functions by name
_OF_NESTED = "BackwardAutogradNestedTensor0"  # the end of the names of nodes that PyTorch has for nested tensors only


def _moved(node: str, input: StridedNested, places: Iterable[Place]) -> StridedNested:
    """A view of the same elements, in other places; ``node``: PyTorch's name for its node."""
    return StridedNested(as_made_by(node, input._values[...])[0], list(places))


def _each(node: str, input: StridedNested, f: Callable[[torch.Tensor], torch.Tensor]) -> StridedNested:
    return strided([f(part) for part in input._parts()], node)


class _Sum(torch.autograd.Function):  # type: ignore[misc]
    """Sums along the last dimension of one part. As in PyTorch, the sum of a nested tensor saves its input."""

    @staticmethod
    def forward(ctx: Any, values: torch.Tensor, input: StridedNested) -> torch.Tensor:
        ctx.save_for_backward(values)
        ctx.places = input._places
        return _each("", input._like(values), lambda part: part.sum(-1, keepdim=True))._values

    @staticmethod
    def backward(ctx: Any, g: torch.Tensor) -> Any:
        (values,) = ctx.saved_tensors
        spread, start = torch.zeros_like(values), 0
        for p in ctx.places:
            rows = math.prod(p.size[:-1])
            torch.as_strided(spread, *p).copy_(g[start : start + rows].view(*p.size[:-1], 1).expand(p.size))
            start += rows
        return spread, None


def _sum(func: Any, input: StridedNested, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    dims = [dim] if isinstance(dim, int) else dim
    if not dims:
        raise input._refusal("sum")
    if len(dims) != 1:
        raise RuntimeError("NestedTensor only allows reduction of a single dimension for now.")
    if normal_dim(dims[0], input.dim()) != input.dim() - 1:
        raise RuntimeError(
            "NestedTensor can only be reduced across the last dimension for now got dimension "
            f"{normal_dim(dims[0], input.dim())} instead."
        )
    if dtype is not None:
        raise RuntimeError("NestedTensor does not support dtype argument for now.")
    if not keepdim:
        raise RuntimeError("NestedTensor always requires keepdim=True for now.")
    return StridedNested(_Sum.apply(input._values, input), _row([(*p.size[:-1], 1) for p in input._places]))


def _softmax(func: Any, input: StridedNested, dim: Any = None, *rest: Any, **kwargs: Any) -> Any:
    d = normal_dim(dim, input.dim())
    if d == 0:
        raise RuntimeError("Cannot apply softmax across nested dimension 0")
    return _each("SoftmaxBackward0", input, lambda part: func(part, d - 1, *rest, **kwargs))


def _layer_norm(
    func: Any, input: StridedNested, shape: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5
) -> Any:
    if weight is None or bias is None:
        raise ValueError("NestedTensor layer_norm requires weight and bias")
    return _each("NativeLayerNormBackward0", input, lambda part: func(part, shape, weight, bias, eps))


def _last(input: StridedNested) -> int:
    """The size of the last dimension, which must be that of all parts."""
    lasts = [p.size[-1] for p in input._places]
    if len(set(lasts)) > 1:
        raise RuntimeError(
            "Expected all tensors in nested tensor to have the same trailing dimension, instead last dimension equals: "
            f" {lasts[0]}"
        )
    return lasts[0]


def _linear(func: Any, input: StridedNested, weight: Any, bias: Any = None) -> Any:
    _last(input)
    return _each("LinearBackward0", input, lambda part: func(part, weight, bias))


def _matmul(func: Any, input: Any, other: Any) -> Any:
    both = [isinstance(t, StridedNested) for t in (input, other)]
    if not all(both):
        kinds = ["nested" if b else "non-nested" for b in both]
        raise RuntimeError(f"Expected both to be nested, but got a {kinds[0]} self and {kinds[1]} other")
    for a, b in zip(input._places, other._places, strict=True):
        if a.size[-1] != b.size[-2]:
            raise RuntimeError(
                f"matmul: Nested tensors cannot be matrix multiplied, last dimension of self has sizes {a.size[-1]}\n"
                f"second last dimension of mat2 has sizes {b.size[-2]}"
            )
    pairs = zip(input._parts(), other._parts(), strict=True)
    return strided([torch.matmul(*pair) for pair in pairs], "MatmulBackward0")


def _bmm(func: Any, input: Any, mat2: Any) -> Any:
    pairs = [tuple(t.unbind()) for t in (input, mat2)]
    if len(pairs[0]) != len(pairs[1]):
        raise RuntimeError(
            f"Expected size for the 1st dimension of batch2 tensor to be: {len(pairs[0])} but got: {len(pairs[1])}."
        )
    for k, (a, b) in enumerate(zip(*pairs, strict=True)):
        if a.shape[1] != b.shape[0]:
            raise RuntimeError(
                f"{k}-th nested matrices in batch cannot be multiplied ({a.shape[0]}x{a.shape[1]} and "
                f"{b.shape[0]}x{b.shape[1]})"
            )
    return strided([torch.matmul(*pair) for pair in zip(*pairs, strict=True)], "BmmBackward0")


def _transpose(func: Any, input: StridedNested, dim0: int, dim1: int) -> Any:
    a, b = (normal_dim(d, input.dim()) for d in (dim0, dim1))
    if a == b:
        return input
    if not (a and b):
        raise RuntimeError("Nested tensor dimension 0 cannot be transposed")

    def change(p: Place) -> Place:
        order = list(range(len(p.size)))
        order[a - 1], order[b - 1] = order[b - 1], order[a - 1]
        return Place(tuple(p.size[k] for k in order), tuple(p.steps[k] for k in order), p.start)

    return _moved("TransposeBackward0", input, map(change, input._places))


def _chunk(func: Any, input: StridedNested, chunks: int, dim: int = 0) -> Any:
    if normal_dim(dim, input.dim()) != input.dim() - 1:
        raise RuntimeError("Chunk for nested tensors is currently only supported for the last dimension.")
    if not input.is_contiguous():
        raise RuntimeError("chunk expects `self` to be contiguous.")
    if _last(input) % chunks:
        raise RuntimeError(
            "Chunk for nested tensors is only supported for nested tensors with trailing dimension "
            f"divisible by chunks, got: {_last(input)} % {chunks} != 0"
        )
    width = _last(input) // chunks
    return tuple(
        _moved(
            "Chunk" + _OF_NESTED,
            input,
            [Place((*p.size[:-1], width), p.steps, p.start + k * width) for p in input._places],
        )
        for k in range(chunks)
    )


def _unbind(func: Any, input: StridedNested, dim: int = 0) -> Any:
    d = normal_dim(dim, input.dim())
    if d:
        raise RuntimeError(f"NestedTensor can only be unbound along dimension 0 got dimension {d} instead.")
    return input._unbound()


def _select(func: Any, input: StridedNested, dim: int, index: int) -> Any:
    d = normal_dim(dim, input.dim())
    if d == 0:
        n = len(input._places)
        if not -n <= index < n:
            raise IndexError(f"index {index} is out of bounds for dimension 0 with size {n}")
        return as_made_by("Select" + _OF_NESTED, input._parts()[index])[0]

    def change(p: Place) -> Place:
        start = p.start + (index % p.size[d - 1]) * p.steps[d - 1]
        return Place(p.size[: d - 1] + p.size[d:], p.steps[: d - 1] + p.steps[d:], start)

    return _moved("Select" + _OF_NESTED, input, map(change, input._places))


def _getitem(func: Any, input: StridedNested, index: Any) -> Any:
    index = index if isinstance(index, tuple) else (index,)
    first, rest = (index[0], index[1:]) if index else (..., ())
    if isinstance(first, int):
        part = _select(func, input, 0, first)
        return part[rest] if rest else part
    if first is ... and all(isinstance(k, int) for k in rest):
        for k, at in enumerate(rest):
            input = _select(func, input, k - len(rest), at)
        return input
    raise input._refusal("slice.Tensor")


def _narrow(func: Any, input: StridedNested, dim: int, start: int, length: int) -> Any:
    if dim != 0:
        raise RuntimeError(f"narrow(): only dim=0 supported for nested tensors, but got: {dim}")
    n = len(input._places)
    if start + length > n:
        raise RuntimeError(f"start ({start}) + length ({length}) exceeds dimension size ({n}).")
    return _moved("NotImplemented", input, input._places[start : start + length])


def _fixed(name: str, verb: str, input: StridedNested, d: int) -> None:
    if d == 0:
        raise RuntimeError(
            f"{name}(): For nested tensors, {verb} dimension 0 is not supported at the moment if you need this "
            "feature, please open an issue on github describing your use case."
        )


def _unsqueeze(func: Any, input: StridedNested, dim: int) -> Any:
    d = normal_dim(dim, input.dim() + 1)
    _fixed("unsqueeze", "unsqueezing", input, d)

    def change(p: Place) -> Place:
        step = p.size[d - 1] * p.steps[d - 1] if d <= len(p.size) else 1
        return Place((*p.size[: d - 1], 1, *p.size[d - 1 :]), (*p.steps[: d - 1], step, *p.steps[d - 1 :]), p.start)

    return _moved("UnsqueezeBackward0", input, map(change, input._places))


def _squeeze(func: Any, input: StridedNested, dim: Any = None) -> Any:
    if dim is None:
        raise RuntimeError(
            "squeeze(): For nested tensors, squeeze without the dim argument is not supported at the moment, however "
            "you can use squeeze(Tensor self, int dim) instead if you need this feature, please open an issue on "
            "github describing your use case."
        )
    d = normal_dim(dim, input.dim())
    _fixed("squeeze", "squeezing", input, d)
    if any(p.size[d - 1] != 1 for p in input._places):
        return input
    places = [Place(p.size[: d - 1] + p.size[d:], p.steps[: d - 1] + p.steps[d:], p.start) for p in input._places]
    return _moved("Squeeze" + _OF_NESTED, input, places)


def _reshape(func: Any, input: StridedNested, *size: Any, **kwargs: Any) -> Any:
    wanted = flat(size) or kwargs["shape"]
    if not wanted or wanted[0] != len(input._places):
        name = getattr(func, "__name__", "reshape")
        raise RuntimeError(f"{name}: For now nested {name} cannot change or infer the implicit batch dimension")
    sizes = []
    for p in input._places:
        # -1 is a dimension's own size where the part has that dimension, else what is left
        here = [
            p.size[k] if n == -1 and k < len(p.size) and -1 not in wanted[2 + k :] else n
            for k, n in enumerate(wanted[1:])
        ]
        if math.prod(here) != math.prod(p.size):
            raise RuntimeError(f"shape '{list(wanted)}' is invalid for input of size {math.prod(p.size)}")
        sizes.append(tuple(here))
    return _moved("View" + _OF_NESTED, input.contiguous(), _row(sizes))


def _cat(func: Any, tensors: Sequence[Any], dim: int = 0) -> Any:
    if not all(isinstance(t, StridedNested) for t in tensors):
        raise RuntimeError("Expected all tensors to be nested.")
    d = normal_dim(dim, tensors[0].dim())
    rows = [t._parts() for t in tensors]
    if d == 0:
        return strided([part for row in rows for part in row])
    return strided([func(parts, d - 1) for parts in zip(*rows, strict=True)])


def _copy(func: Any, input: StridedNested, src: Any, *rest: Any) -> Any:
    if not isinstance(src, StridedNested):
        raise RuntimeError("copy_ only supports Nested Tensors as source")
    if src._sizes() != input._sizes():
        raise RuntimeError("copy_ only supports tensors that are the same size for Nested implementations")
    func(input._values, src.contiguous()._values, *rest)
    return input


def _attention(func: Any, query: Any, key: Any, value: Any, *rest: Any, **kwargs: Any) -> Any:
    parts = zip(*(t._parts() for t in (query, key, value)), strict=True)
    return strided([func(*t, *rest, **kwargs) for t in parts], "MatmulBackward0")


def _embedding(func: Any, input: StridedNested, *rest: Any, **kwargs: Any) -> Any:
    return _each("EmbeddingBackward0", input, lambda part: func(part, *rest, **kwargs))


def _clone(func: Any, input: StridedNested, **kwargs: Any) -> Any:
    if kwargs.get("memory_format") is torch.contiguous_format:
        input = input.contiguous()
    return input._like(func(input._values))


StridedNested._rules = {
    "sum": _sum,
    "softmax": _softmax,
    "layer_norm": _layer_norm,
    "linear": _linear,
    "matmul": _matmul,
    "bmm": _bmm,
    **dict.fromkeys(("transpose", "swapaxes", "swapdims"), _transpose),
    "chunk": _chunk,
    "unbind": _unbind,
    "select": _select,
    "__getitem__": _getitem,
    "narrow": _narrow,
    "unsqueeze": _unsqueeze,
    "squeeze": _squeeze,
    **dict.fromkeys(("reshape", "view"), _reshape),
    **dict.fromkeys(("cat", "concat"), _cat),
    "copy_": _copy,
    "scaled_dot_product_attention": _attention,
    "embedding": _embedding,
    "clone": _clone,
}
