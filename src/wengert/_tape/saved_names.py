"""PyTorch's names of a node's saved values, if our formulas use other names or values.

``dir(grad_fn)`` reads them, and so does the look-up of a ``_saved_NAME`` that the node itself does not know. So tools
that draw or print a graph, such as torchviz, see PyTorch's names. A value that PyTorch's formula needs and ours does
not save has no name here.
"""

from __future__ import annotations

import math
from operator import itemgetter
from typing import Any

from .node import Node, unnamed
from .saved import original
from .tensor import Tensor

_NO_SIZES = frozenset(  # view operators whose formula does not use the input's shape
    ("AliasBackward0", "CloneBackward0", "PermuteBackward0", "TBackward0", "ToCopyBackward0", "TransposeBackward0",
     "UnsqueezeBackward0")
)  # fmt: skip
_INTERNAL = frozenset(  # our formulas' own
    ("along", "bias_shape", "chain", "input_like", "input_shape", "memory_format", "own", "self_dtype", "self_like",
     "self_shape", "shape", "tensors_from1", "tensors_from2", "tensors_shape", "value_dtype", "weight_shape")
)  # fmt: skip


def _first(value: Any) -> Any:
    return value[0]


def _whole(value: Any) -> Any:
    """An index as PyTorch shows it: a negative index as an unsigned number."""
    value = -100 if value is None else value  # nll_loss's default
    return value if value >= 0 else value + 2**64


def _at_dims(dims: Any, tensors: Any) -> tuple[Any, ...]:
    """The tensors of an index, and ``None`` for the dims before them that have none."""
    found = dict(zip(dims, tensors, strict=True))
    return tuple(map(found.get, range(max(found) + 1)))


def _number_of(*choices: str) -> Any:
    return choices.index


def _upsampled(dims: str) -> tuple[Any, ...]:
    scales = [(f"scales_{d}" if len(dims) > 1 else "scales", "scales", itemgetter(k)) for k, d in enumerate(dims)]
    return ("output_size<size", "self_sym_sizes", *scales)


_SIZE_ONLY = ("self_sym_sizes",)
_PAD = ("padding<pad",)
_POOL = ("ceil_mode", "dilation", "kernel_size<kernel", "padding", "result1", "stride")

# node -> its names: NAME, NAME<SOURCE for a value saved under another name, (NAME, source, function), (NAME, value);
# a source may be several, or "" for the node itself; a value is that of a node that has not saved its own
_NAMES: dict[str, tuple[Any, ...]] = {
    "AddBackward0": (("alpha", 1),),
    "SubBackward0": (("alpha", 1),),
    "RsubBackward0": (("alpha", 1),),
    "DivBackward0": ("other", "self", ("rounding_mode", None)),
    "MeanBackward0": (("self_sym_numel", "self_sym_sizes", math.prod), "self_sym_sizes"),
    "MeanBackward1": ("dim", "keepdim", ("self_sym_numel", "self_sym_sizes", math.prod), "self_sym_sizes"),
    "ViewBackward0": _SIZE_ONLY,
    "UnsafeViewBackward0": _SIZE_ONLY,
    "ReshapeAliasBackward0": _SIZE_ONLY,
    "ExpandBackward0": _SIZE_ONLY,
    "SplitBackward0": ("dim", "self_sym_sizes", "split_size"),
    "ToCopyBackward0": (),
    "CatBackward0": ("dim",),
    "StackBackward0": ("dim",),
    "EmbeddingBackward0": (
        "indices",
        ("padding_idx", "padding_idx", _whole),
        "scale_grad_by_freq",
        ("sparse", False),
        ("weight_sym_argsize_0", "weight_shape", _first),
    ),
    "IndexSelectBackward0": (
        ("dim", "dims", _first),
        ("index", "tensors_from1", _first),
        ("self_sym_sizes", "tensors_shape", _first),
    ),
    "IndexBackward0": (
        ("indices", ("dims", "tensors_from1"), _at_dims),
        ("self_sym_sizes", "tensors_shape", _first),
    ),
    "IndexPutBackward0": ("accumulate", ("indices", ("dims", "tensors_from2"), _at_dims)),
    "IndexFillBackward0": (("dim", "dims", _first), ("index", "tensors_from2", _first)),
    "IndexCopyBackward0": (("dim", "dims", _first), ("index", "tensors_from2", _first)),
    "IndexAddBackward0": (("alpha", 1), ("dim", "dims", _first), ("index", "tensors_from2", _first)),
    "GatherBackward0": ("dim", "index", ("sparse_grad", False)),
    "TakeBackward0": ("index",),
    "FmodBackward0": (),
    "RemainderBackward0": (),
    "AsStridedBackward0": ("size", ("storage_offset", "storage_offset", lambda k: k or None), "stride"),
    "Im2ColBackward0": (
        "dilation",
        "kernel_size",
        "padding",
        "stride",
        ("self_sym_argsize_minus_2", "self_sym_sizes", itemgetter(-2)),
        ("self_sym_argsize_minus_1", "self_sym_sizes", itemgetter(-1)),
    ),
    "AddbmmBackward0": (
        "alpha",
        "batch1",
        "batch2",
        "beta",
        ("batch1_sym_argsize_0", "batch1", lambda t: t.shape[0]),
        ("batch1_sym_argsize_1", "batch1", lambda t: t.shape[1]),
        ("batch2_sym_argsize_2", "batch2", lambda t: t.shape[2]),
    ),
    "DivBackward2": (("rounding_mode", "", lambda n: n.operator.removeprefix("_div_")),),
    "PdistBackward0": (("p", "ord", float), "result"),
    "CdistBackward0": (("p", "ord", float), "result", "x1", "x2"),
    "LinalgDetBackward0": ("A<self",),
    "FftR2CBackward0": ("dim<dims", "onesided"),
    "FftC2CBackward0": ("dim<dims", "forward"),
    "ConvolutionBackward0": (
        ("bias_sym_sizes_opt", "bias_shape", lambda shape: shape or (0,)),
        "dilation",
        "groups",
        "input",
        ("output_padding", "padding", lambda padding: (0,) * len(padding)),
        "padding",
        "stride",
        ("transposed", False),
        "weight",
    ),
    "AvgPool2DBackward0": (
        "count_include_pad<include_pad",
        "divisor_override<override",
        "kernel_size<kernel",
        "padding",
        "stride",
    ),
    "GridSampler2DBackward0": (
        "align_corners<align",
        "grid",
        "input",
        ("interpolation_mode", "mode", _number_of("bilinear", "nearest", "bicubic")),
        ("padding_mode", "padding", _number_of("zeros", "border", "reflection")),
    ),
    **{f"{kind}Pad{k}DBackward0": _PAD for kind in ("Reflection", "Replication") for k in (1, 2, 3)},
    **{f"UpsampleNearest{exact}{k}DBackward0": _upsampled("dhw"[-k:]) for exact in ("", "Exact") for k in (1, 2, 3)},
    **{
        f"Upsample{kind}DBackward0": ("align_corners", *_upsampled(dims))
        for kind, dims in {"Linear1": "w", "Bilinear2": "hw", "Bicubic2": "hw", "Trilinear3": "dhw"}.items()
    },
    **{f"Foreach{op}Backward{k}": (("scalar", "scalars")[k], "self") for op in ("Maximum", "Minimum") for k in (0, 1)},
    "ForeachPowBackward1": ("exponent", "self"),
    "MaskedFillBackward0": ("mask",),
    "MaskedFillBackward1": ("mask",),
    "NativeLayerNormBackward0": ("input", "normalized_shape<along", "weight"),
    "NativeGroupNormBackward0": ("input", "weight"),
    "NativeBatchNormBackward0": ("eps", "input", ("training", True), "weight"),
    "LinalgInvExBackward0": ("inverse<result",),
    "LinalgCholeskyExBackward0": ("L<result",),
    "LinalgEighBackward0": ("eigenvalues<result0", "eigenvectors<result1"),
    "LinalgEigBackward0": ("eigenvalues<result0", "eigenvectors<result1"),
    "LinalgQrBackward0": ("Q<result0", "R<result1", "mode"),
    "LinalgSvdBackward0": (
        "S<result1",
        ("S_sym_argsize_minus_1", "result1", lambda s: s.shape[-1]),
        "U<result0",
        "Vh<result2",
        "full_matrices<full",
    ),
    "MaxPool2DWithIndicesBackward0": _POOL,
    "MaxPool3DWithIndicesBackward0": _POOL,
    "NllLossBackward0": (("ignore_index", "ignore_index", _whole), "reduction", "target", "weight"),
    "NllLoss2DBackward0": (("ignore_index", "ignore_index", _whole), "reduction", "target", "weight"),
}


def _entries(n: Any) -> dict[str, Any]:
    """PyTorch's name -> (source, function) or (value,)."""
    listed = _NAMES.get(n.name())
    if listed is None or (len(listed) == 1 and "alpha" in n.saved_names):
        names = [name for name in n.saved_names if name not in _INTERNAL]
        if "self_shape" in n.saved_names or (hasattr(n, "shape") and type(n).__name__ not in _NO_SIZES):
            names.append("self_sym_sizes")
        listed = tuple(dict.fromkeys(names))
    found: dict[str, Any] = {}
    for entry in listed:
        if isinstance(entry, tuple):
            found[entry[0]] = entry[1:]
        else:
            name, _, source = entry.partition("<")
            found[name] = (source or name, None)
    return found


def names_of(n: Node) -> list[str]:
    """The names of a node's saved values in ``dir``."""
    return [name for name in _entries(n) if _known(n, name)]


def _known(n: Any, name: str) -> bool:
    try:
        named_value(n, name)
    except AttributeError:
        return False
    except RuntimeError:  # freed
        return True
    return True


def named_value(n: Any, name: str) -> Any:
    """The saved value under PyTorch's name or under a name of our formulas."""
    how = _entries(n).get(name)
    if how is None:
        return n.saved(name)
    if len(how) == 1 or (name == "output_padding" and name in n.saved_names):
        return n.saved(name) if name in n.saved_names else how[0]
    source, change = how
    if isinstance(source, tuple):
        return change(*(_kept(n, part) for part in source))
    value = _kept(n, source)
    return value if change is None else change(value)


def _kept(n: Any, name: str) -> Any:
    if not name:
        return n
    try:
        return n.saved(name)
    except AttributeError:
        if name == "bias_shape":
            return getattr(n, "c", None)
        if name != "self_sym_sizes":
            raise
    if hasattr(n, "shape"):  # the linear kind saves the shape there
        return n.shape
    return n.saved("self_shape")


# ---- attributes of nodes
def _dir(self: Node) -> list[str]:
    names = (n for n in object.__dir__(self) if not n.startswith(("_saved_", "_raw_saved_")))
    return [*names, *("_saved_" + n for n in names_of(self))]


class _Saved:
    """``_saved_NAME``, for every class of nodes that saves something under this name.

    These descriptors on ``Node`` replace a ``__getattr__``: if a class has one, CPython looks up each slot of its
    instances the slow way, and a backward pass takes half as long again.
    """

    __slots__ = ("key",)

    def __init__(self, key: str) -> None:
        self.key = key

    def __get__(self, node: Any, owner: Any = None) -> Any:
        if node is None:
            return self
        value = named_value(node, self.key)
        return original(value, node) if isinstance(value, Tensor) else value


class _RawSaved(_Saved):
    """``_raw_saved_NAME``: the saved value as an object that takes hooks."""

    __slots__ = ()

    def __get__(self, node: Any, owner: Any = None) -> Any:
        if node is None:
            return self
        from .saved_hooks import SavedTensor, place_of  # seldom needed

        node = getattr(node, "keeper", node)  # a node whose graph was made (``unfused``)
        if place_of(node, self.key) is None:
            source = _entries(node).get(self.key, ("",))[0]
            if isinstance(source, tuple):  # the tensors of an index
                dims, of = source
                known = dict(zip(node.saved(dims), range(len(node.saved(dims))), strict=True))
                return tuple(SavedTensor(node, of, known.get(d, -1)) for d in range(max(known) + 1))
            raise AttributeError(f"'{type(node).__name__}' object has no attribute '_raw_saved_{self.key}'")
        return SavedTensor(node, self.key)


_named: set[str] = set()


def name_all() -> None:
    """Give nodes the attributes ``_saved_NAME`` and ``_raw_saved_NAME`` for the names that have none yet."""
    for key in tuple(unnamed):
        if key not in _named:
            setattr(Node, "_saved_" + key, _Saved(key))
            setattr(Node, "_raw_saved_" + key, _RawSaved(key))
            _named.add(key)
        unnamed.discard(key)  # last, for interrupts and for other threads


unnamed.update(e[0] if type(e) is tuple else e.partition("<")[0] for names in _NAMES.values() for e in names)
Node.__dir__ = _dir  # type: ignore[assignment]
