"""Emitters of operators that change shapes, take and put elements, and make tensors."""

from __future__ import annotations

from typing import Any

import wengert as torch

from ._building import Builder, Value, emits, emits_each
from ._elementwise import INT, result_dtype

_END = 9223372036854775807


@emits("view reshape _unsafe_view")
def view(b: Builder, x: Value, size: Any) -> Any:
    b.refuse_if(isinstance(size, torch.dtype), "a view as another dtype has no form in ONNX")
    return b.emit("Reshape", x, b.ints(size), allowzero=1 if 0 in x.shape else None)


@emits("flatten")
def flatten(b: Builder, x: Value, start_dim: int = 0, end_dim: int = -1) -> Any:
    if x.rank == 0:
        return b.emit("Reshape", x, b.const([1], INT))
    start, end = start_dim % x.rank, end_dim % x.rank
    shape = b.shape_of(x) if not all(isinstance(s, int) for s in x.shape) else None
    if shape is None:
        sizes: list[Any] = list(x.shape)
        return b.emit("Reshape", x, b.const([*sizes[:start], -1, *sizes[end + 1 :]], INT))
    parts = [b.const([-1], INT)]
    if start:
        parts.insert(0, b.emit("Slice", shape, b.const([0], INT), b.const([start], INT)))
    if end + 1 < x.rank:
        parts.append(b.emit("Slice", shape, b.const([end + 1], INT), b.const([x.rank], INT)))
    return b.emit("Reshape", x, b.emit("Concat", *parts, axis=0) if len(parts) > 1 else parts[0])


@emits("unflatten")
def unflatten(b: Builder, x: Value, dim: int, sizes: Any) -> Any:
    dim %= x.rank
    return b.emit("Reshape", x, b.ints([*_sizes(b, x, 0, dim), *sizes, *_sizes(b, x, dim + 1, x.rank)]))


def _sizes(b: Builder, x: Value, start: int, end: int) -> list[Any]:
    """Some sizes of a value, numbers and values of the graph."""
    found: list[Any] = []
    for d in range(start, end):
        size = x.shape[d]
        if not isinstance(size, int):
            size = Value(b.emit("Gather", b.emit("Shape", x), b.const(d, INT)), INT, ())
        found.append(size)
    return found


emits_each(
    {
        "unsqueeze": lambda b, x, dim: b.emit("Unsqueeze", x, b.const([dim % (x.rank + 1)], INT)),
        "permute": lambda b, x, dims: permuted(b, x, [d % x.rank for d in dims]),
        "t numpy_T": lambda b, x: permuted(b, x, list(range(x.rank))[::-1]),
        "mT adjoint mH matrix_H": lambda b, x: transpose(b, x, -2, -1),
        "expand_as": lambda b, x, other: b.emit("Expand", x, b.shape_of(other)),
        "view_as reshape_as": lambda b, x, other: b.emit("Reshape", x, b.shape_of(other)),
        "chunk": lambda b, x, chunks, dim=0: split(b, x, -(-b.size(x, dim) // chunks), dim),
        "unbind": lambda b, x, dim=0: [b.emit("Gather", x, b.const(i, INT), axis=dim) for i in range(b.size(x, dim))],
        "select": lambda b, x, dim, index: b.emit("Gather", x, b.cast(index, INT), axis=dim),
        "pixel_shuffle": lambda b, x, factor: b.emit("DepthToSpace", x, blocksize=factor, mode="CRD"),
    }
)


@emits("squeeze")
def squeeze(b: Builder, x: Value, dim: Any = None) -> Any:
    dims = range(x.rank) if dim is None else [d % x.rank for d in (dim if isinstance(dim, list) else [dim])]
    ones = [d for d in dims if x.shape[d] == 1]
    return b.emit("Squeeze", x, b.const(ones, INT)) if ones else b.emit("Identity", x)


def permuted(b: Builder, x: Value, order: list[int]) -> Any:
    """A value with its dims in another order."""
    return b.emit("Transpose", x, perm=order)


@emits("transpose swapaxes swapdims")
def transpose(b: Builder, x: Value, dim0: int, dim1: int) -> Any:
    order = list(range(x.rank))
    if order:
        order[dim0], order[dim1] = order[dim1], order[dim0]
    return permuted(b, x, order)


@emits("movedim")
def movedim(b: Builder, x: Value, source: Any, destination: Any) -> Any:
    pairs = zip(*([d] if isinstance(d, int) else d for d in (source, destination)), strict=True)
    placed = {to % x.rank: at % x.rank for at, to in pairs}
    rest = iter([d for d in range(x.rank) if d not in placed.values()])
    return permuted(b, x, [placed[d] if d in placed else next(rest) for d in range(x.rank)])


@emits("expand broadcast_to")
def expand(b: Builder, x: Value, size: Any, *, implicit: bool = False) -> Any:
    return b.emit("Expand", x, b.ints([1 if isinstance(s, int) and s == -1 else s for s in size]))


@emits("broadcast_tensors")
def broadcast_tensors(b: Builder, tensors: list[Value]) -> Any:
    if all(v.shape == tensors[0].shape for v in tensors):
        return [v.name for v in tensors]
    results = []
    for x in tensors:
        name = x.name
        for other in tensors:
            name = name if other is x else b.emit("Expand", name, b.shape_of(other))
        results.append(name)
    return results


@emits("repeat tile")
def repeat(b: Builder, x: Value, repeats: Any) -> Any:
    missing = len(repeats) - x.rank
    name = x.name
    if missing > 0:
        name = b.emit("Unsqueeze", x, b.const(list(range(missing)), INT))
    return b.emit("Tile", name, b.ints([1] * -missing + list(repeats)))


@emits("repeat_interleave")
def repeat_interleave(b: Builder, x: Value, repeats: Any, dim: Any = None, *, output_size: Any = None) -> Any:
    b.refuse_if(isinstance(repeats, Value), "repeats in a tensor have no form in ONNX")
    if dim is None:
        x = Value(b.emit("Reshape", x, b.const([-1], INT)), x.dtype, ("n",))
        dim = 0
    dim %= x.rank
    widened = b.emit("Unsqueeze", x, b.const([dim + 1], INT))
    tiled = b.emit("Tile", widened, b.const([1] * (dim + 1) + [repeats] + [1] * (x.rank - dim - 1), INT))
    sizes = [*_sizes(b, x, 0, dim), -1, *_sizes(b, x, dim + 1, x.rank)]
    return b.emit("Reshape", tiled, b.ints(sizes))


@emits("cat concat")
def cat(b: Builder, tensors: list[Value], dim: int = 0) -> Any:
    kept = [v for v in tensors if v.shape != (0,)] or tensors[:1]
    return b.emit("Concat", *[b.cast(v, result_dtype(b)) for v in kept], axis=dim)


@emits("hstack vstack")
def hstack(b: Builder, tensors: list[Value]) -> Any:
    b.refuse_if(any(v.rank < 2 for v in tensors), "only of tensors with two dims or more")
    return cat(b, tensors, 1 if "hstack" in str(b.node.target) else 0)


@emits("stack")
def stack(b: Builder, tensors: list[Value], dim: int = 0) -> Any:
    at = b.const([dim % (tensors[0].rank + 1)], INT)
    return b.emit("Concat", *[b.emit("Unsqueeze", b.cast(v, result_dtype(b)), at) for v in tensors], axis=dim)


def _divided(b: Builder, x: Value, sizes: list[int], dim: int) -> list[str]:
    if len(sizes) == 1:
        return [b.emit("Identity", x)]
    return list(b.emit("Split", x, b.const(sizes, INT), outputs=len(sizes), axis=dim))


@emits("split unsafe_split split_with_sizes")
def split(b: Builder, x: Value, size: Any, dim: int = 0) -> Any:
    if isinstance(size, list):
        return _divided(b, x, size, dim)
    total = b.size(x, dim)
    return _divided(b, x, [min(size, total - at) for at in range(0, total, size)] or [0], dim)


@emits("slice")
def slice(b: Builder, x: Value, dim: int = 0, start: Any = None, end: Any = None, step: int = 1) -> Any:
    start, end = 0 if start is None else start, _END if end is None else end
    return b.emit("Slice", x, *b.scalar_ints(start, end, dim, step))


@emits("narrow")
def narrow(b: Builder, x: Value, dim: int, start: Any, length: Any) -> Any:
    if isinstance(start, int) and isinstance(length, int):
        return slice(b, x, dim, start, start + length)
    end = b.emit("Add", b.ints([start]), b.ints([length]))
    return b.emit("Slice", x, b.ints([start]), end, b.const([dim], INT))


@emits("flip")
def flip(b: Builder, x: Value, dims: list[int]) -> Any:
    count = len(dims)
    low = b.const([-_END] * count, INT)
    return b.emit("Slice", x, b.const([-1] * count, INT), low, b.const(dims, INT), b.const([-1] * count, INT))


@emits("roll")
def roll(b: Builder, x: Value, shifts: list[int], dims: Any = None) -> Any:
    b.refuse_if(not dims, "roll without dims has no form here")
    name = x.name
    for shift, dim in zip(shifts, dims, strict=True):
        if shift == 0:
            continue
        first = b.emit("Slice", name, b.const([-shift], INT), b.const([_END], INT), b.const([dim], INT))
        second = b.emit("Slice", name, b.const([0], INT), b.const([-shift], INT), b.const([dim], INT))
        name = b.emit("Concat", first, second, axis=dim)
    return name if name != x.name else b.emit("Identity", x)


@emits("channel_shuffle")
def channel_shuffle(b: Builder, x: Value, groups: int) -> Any:
    sizes = _sizes(b, x, 0, x.rank)
    split = b.emit("Reshape", x, b.ints([sizes[0], groups, b.size(x, 1) // groups, *sizes[2:]]))
    turned = b.emit("Transpose", split, perm=[0, 2, 1, *range(3, x.rank + 1)])
    return b.emit("Reshape", turned, b.ints(sizes))


# ---- taking, putting
@emits("index _unsafe_index")
def index(b: Builder, x: Value, indices: list[Any]) -> Any:
    given = [(d, i) for d, i in enumerate(indices) if i is not None]
    if any(i.dtype in (torch.bool, torch.uint8) for _, i in given):
        b.refuse_if(len(given) > 1 or given[0][0] != 0, "a mask among other indices has no form here")
        places = b.emit("Transpose", b.emit("NonZero", given[0][1]), perm=[1, 0])
        return b.emit("GatherND", x, places)
    if len(given) == 1:
        return b.emit("Gather", x, given[0][1], axis=given[0][0])
    dims = [d for d, _ in given]
    if dims != list(range(dims[0], dims[0] + len(dims))):
        raise b.unsupported("index tensors that are not next to each other have no form here")
    name = x.name
    if dims[0]:  # bring the indexed dims to the front
        name = b.emit("Transpose", x, perm=[*dims, *[d for d in range(x.rank) if d not in dims]])
    rank = max(i.rank for _, i in given)
    whole = given[0][1].name
    for _, i in given[1:]:
        whole = b.emit("Add", b.emit("Mul", whole, b.const(0, INT)), i) if i.shape != given[0][1].shape else whole
    shape = b.emit("Shape", whole)
    last = [b.emit("Unsqueeze", b.emit("Expand", b.cast(i, INT), shape), b.const([-1], INT)) for _, i in given]
    taken = b.emit("GatherND", name, b.emit("Concat", *last, axis=-1))
    if dims[0]:
        order = [*range(rank, rank + dims[0]), *range(rank), *range(rank + dims[0], rank + x.rank - len(dims))]
        taken = b.emit("Transpose", taken, perm=order)
    return taken


@emits("index_put")
def index_put(b: Builder, x: Value, indices: list[Any], values: Value, accumulate: bool = False) -> Any:
    if len(indices) == 1 and indices[0].dtype == torch.bool and values.rank == 0:
        mask = indices[0]
        name = mask.name
        if mask.rank < x.rank:
            name = b.emit("Unsqueeze", mask, b.const(list(range(mask.rank, x.rank)), INT))
        return b.emit("Where", name, b.cast(values, x.dtype), x)
    if any(i is None or i.dtype == torch.bool for i in indices):
        raise b.unsupported("it writes by a mask, or not into the first dims")
    shape = indices[0].shape
    b.refuse_if(any(i.shape != shape for i in indices), "index tensors of different shapes have no form here")
    last = [b.emit("Unsqueeze", b.cast(i, INT), b.const([-1], INT)) for i in indices]
    places = b.emit("Concat", *last, axis=-1) if len(last) > 1 else last[0]
    whole = (*shape, *x.shape[len(indices) :])
    new = b.cast(values, x.dtype)
    if values.shape != whole:
        new = b.emit("Expand", new, b.ints(list(whole)))
    return b.emit("ScatterND", x, places, new, reduction="add" if accumulate else None)


def _flat(b: Builder, x: Value, mask: Value) -> list[str]:
    """A tensor and a mask, of one shape, as lists."""
    b.refuse_if(x.shape != mask.shape, "only with a mask of the tensor's shape")
    return [b.emit("Reshape", v, b.const([-1], INT)) for v in (x, mask)]


@emits("_unique2")
def unique(b: Builder, x: Value, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False) -> Any:
    values, _, inverse, counts = b.emit("Unique", x, outputs=4, sorted=1)
    return [values, b.emit("Reshape", inverse, b.shape_of(x)), counts]


emits_each(
    {
        "index_select": lambda b, x, dim, index: b.emit("Gather", x, index, axis=dim),
        "gather": lambda b, x, dim, index, *, sparse_grad=False: b.emit("GatherElements", x, index, axis=dim),
        "scatter_add": lambda b, x, dim, index, src: scatter(b, x, dim, index, src, reduce="add"),
        "nonzero": lambda b, x: b.emit("Transpose", b.emit("NonZero", x), perm=[1, 0]),
        "argwhere": lambda b, x: b.emit("Transpose", b.emit("NonZero", x), perm=[1, 0]),
        "masked_select": lambda b, x, mask: b.emit("Compress", *_flat(b, x, mask)),
        "item": lambda b, x: b.emit("Reshape", x, b.const([], INT)),
        "sym_size": lambda b, x, dim: b.emit("Gather", b.emit("Shape", x), b.const(dim, INT)),
    }
)


@emits("take_along_dim")
def take_along_dim(b: Builder, x: Value, indices: Value, dim: Any = None) -> Any:
    if dim is None or any(
        a != c for d, (a, c) in enumerate(zip(x.shape, indices.shape, strict=True)) if d != dim % x.rank
    ):
        raise b.unsupported("only for indices with the tensor's other sizes")
    return b.emit("GatherElements", x, indices, axis=dim)


@emits("scatter")
def scatter(b: Builder, x: Value, dim: int, index: Value, src: Any, *, reduce: Any = None) -> Any:
    if not isinstance(src, Value):
        src = Value(b.emit("Expand", b.const(src, x.dtype), b.shape_of(index)), x.dtype, index.shape)
    elif src.shape != index.shape:
        raise b.unsupported("src must have the index's shape")
    mode = {"add": "add", "multiply": "mul"}.get(reduce)
    return b.emit("ScatterElements", x, index, src, axis=dim, reduction=mode)


@emits("tril triu")
def triangle(b: Builder, x: Value, diagonal: int = 0) -> Any:
    upper = int("triu" in str(b.node.target))
    if x.dtype != torch.bool:
        return b.emit("Trilu", x, b.const(diagonal, INT), upper=upper)
    kept = b.emit("Trilu", b.cast(x, torch.int32), b.const(diagonal, INT), upper=upper)
    return b.emit("Cast", kept, to=b.element_type(torch.bool))


@emits("one_hot")
def one_hot(b: Builder, x: Value, num_classes: int = -1) -> Any:
    b.refuse_if(num_classes < 0, "the number of classes must be given")
    return b.emit("OneHot", x, b.const([num_classes], INT), b.const([0, 1], INT))


@emits("copy")
def copy(b: Builder, x: Value, src: Value, non_blocking: bool = False) -> Any:
    name = b.cast(src, x.dtype)
    return name if src.shape == x.shape else b.emit("Expand", name, b.shape_of(x))


# ---- making
def filled(b: Builder, shape: str, value: Any, dtype: Any) -> Any:
    """A tensor of one value."""
    return b.emit("Expand", b.cast(value, dtype), shape)


emits_each(
    {
        "zeros new_zeros": lambda b, *args, dtype=None: filled(b, b.ints(args[-1]), 0, result_dtype(b)),
        "ones new_ones": lambda b, *args, dtype=None: filled(b, b.ints(args[-1]), 1, result_dtype(b)),
        "full new_full": lambda b, *args, dtype=None: filled(b, b.ints(args[-2]), args[-1], result_dtype(b)),
        "empty new_empty": lambda b, *args, dtype=None: filled(b, b.ints(args[-1]), 0, result_dtype(b)),
        "zeros_like empty_like zero": lambda b, x, *, dtype=None: filled(b, b.shape_of(x), 0, result_dtype(b)),
        "ones_like": lambda b, x, *, dtype=None: filled(b, b.shape_of(x), 1, result_dtype(b)),
        "full_like fill": lambda b, x, value, *, dtype=None: filled(b, b.shape_of(x), value, result_dtype(b)),
        "scalar_tensor": lambda b, value, *, dtype=None: b.cast(value, result_dtype(b)),
    }
)


@emits("arange")
def arange(b: Builder, *args: Any, dtype: Any = None) -> Any:
    start, end, step = (0, args[0], 1) if len(args) == 1 else (*args, 1)[:3]
    return b.emit("Range", *[b.cast(v, result_dtype(b)) for v in (start, end, step)])


@emits("meshgrid")
def meshgrid(b: Builder, tensors: list[Value], *, indexing: str = "ij") -> Any:
    b.refuse_if(indexing != "ij", "only indexing='ij' has a form here")
    shape = b.ints([s for v in tensors for s in (_sizes(b, v, 0, v.rank) or [1])])
    count = len(tensors)
    return [
        b.emit("Expand", b.emit("Reshape", v, b.const([1] * i + [-1] + [1] * (count - i - 1), INT)), shape)
        for i, v in enumerate(tensors)
    ]
