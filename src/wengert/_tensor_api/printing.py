"""The text of a tensor: PyTorch's `repr`, to the character.

The parts, in the order of the file: the print options; the *style* of a number (how one element is written, and how
wide a column is); the *template* of the whole text; the suffixes (`dtype=`, `grad_fn=`, ...); and `format_array`,
which puts them together from a NumPy array and a few facts about the tensor.

PyTorch formats element by element, each one a tensor, first to find the column width and then to print. Here the
whole text is one printf template, built from the shape alone, and one `%` fills in every element at once. The column
width needs no pass over the elements either: see NOTE [ Widths from extremes ].

Nothing here depends on tensors or nodes, so this module can be used, and tested, with NumPy alone.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

# ---- options
_PROFILES: dict[str | None, dict[str, Any]] = {
    "default": {"precision": 4, "threshold": 1000, "edgeitems": 3, "linewidth": 80},
    "short": {"precision": 2, "threshold": 1000, "edgeitems": 2, "linewidth": 80},
    "full": {"precision": 4, "threshold": math.inf, "edgeitems": 3, "linewidth": 80},
}
_PROFILES["0.3"] = _PROFILES["default"]
_options: dict[str, Any] = {**_PROFILES["default"], "sci_mode": None}
era = ""  # "0.3" if tensors are printed as by PyTorch 0.1 to 0.3 (``printing_0_3``)


def set_printoptions(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: str | None = None,
    sci_mode: bool | None = None,
) -> None:
    """Set how tensors are printed, for the whole process.

    Args:
        precision: digits after the point of a floating-point number (4 at first).
        threshold: number of elements above which only the edges are shown (1000 at first).
        edgeitems: how many elements are shown at either end of a dimension when summarising (3 at first).
        linewidth: characters to a line (80 at first); a row of a summarised tensor breaks too.
        profile: `"default"`, `"short"` or `"full"`: values for the four above, which the other arguments override.
            As in PyTorch, another name changes nothing. With `"0.3"` tensors are printed as by PyTorch 0.1 to 0.3,
            until another profile is set: `Variable containing:` and `[torch.FloatTensor of size 3x4]`.
        sci_mode: scientific notation always (True), never (False), or where the numbers call for it (None).
            As in PyTorch, every call sets it: a call that does not mention it goes back to None.

    >>> set_printoptions(precision=2)
    >>> format_array(np.array([1.12345], "float32"), dtype_name="float32")
    'tensor([1.12])'
    >>> set_printoptions(profile="default")
    >>> format_array(np.array([1.12345], "float32"), dtype_name="float32")
    'tensor([1.1235])'
    """
    global era
    if profile in _PROFILES:
        era = profile if profile == "0.3" else ""
        _options.update(_PROFILES[profile])
    given = {"precision": precision, "threshold": threshold, "edgeitems": edgeitems, "linewidth": linewidth}
    _options.update((name, value) for name, value in given.items() if value is not None)
    _options["sci_mode"] = sci_mode


def get_printoptions() -> dict[str, Any]:
    """The current options, as keyword arguments for `set_printoptions`.

    >>> get_printoptions()
    {'precision': 4, 'threshold': 1000, 'edgeitems': 3, 'linewidth': 80, 'sci_mode': None}
    """
    return dict(_options)


@contextlib.contextmanager
def printoptions(**kwargs: Any) -> Iterator[None]:
    """`set_printoptions(**kwargs)` until the end of a `with` block.

    >>> with printoptions(threshold=5, edgeitems=1):
    ...     format_array(np.arange(10), dtype_name="int64")
    'tensor([0,  ..., 9])'
    """
    global era
    before, before_era = get_printoptions(), era
    set_printoptions(**kwargs)
    try:
        yield
    finally:
        set_printoptions(**before)
        era = before_era


# ---- one element
class _Style(NamedTuple):
    """How the elements of one array are written: the printf conversion `%` + flag + width + conversion."""

    flag: str
    conversion: str
    width: int

    @property
    def aligned(self) -> str:
        """The conversion, padded on the left to the width of the column."""
        return f"%{self.flag}{self.width}{self.conversion}"

    @property
    def imaginary(self) -> str:
        """The conversion for the imaginary part: always a sign, no padding, a j."""
        return f"%+{self.flag}{self.conversion}j"


# The `#` flag keeps the point of a number without decimals, and adds none to inf and nan: "2." but "inf".
_WHOLE = ("#", ".0f")


# NOTE [ Widths from extremes ]
# A column is as wide as its longest element, and among numbers of one sign the length of a text is monotone: digits
# before the point grow with the magnitude, and an exponent takes three digits only at the very large and the very
# small. So the longest is among the smallest and the largest of either sign, and only those four are formatted to be
# measured. Do not measure the largest magnitude alone: -1. is as long as 10., and 1e-120 is longer than 1e+05.
#
# Zeros, infinities and nans are printed but never measured: they may exceed the column, as in PyTorch.
def _float_style(values: np.ndarray) -> _Style:
    """The style that PyTorch gives to floating-point `values`: float64, of any shape."""
    regular = values[np.isfinite(values) & (values != 0)]
    if not regular.size:
        return _Style(*_WHOLE, width=1)
    extremes = _extremes(regular)
    magnitudes = [abs(value) for value in extremes]
    if _is_scientific(min(magnitudes), max(magnitudes)):
        flag, conversion = "", f".{_options['precision']}e"
    elif (regular == np.ceil(regular)).all():
        flag, conversion = _WHOLE
    else:
        flag, conversion = "", f".{_options['precision']}f"
    unpadded = f"%{flag}{conversion}"
    return _Style(flag, conversion, max(len(unpadded % value) for value in extremes))


def _extremes(values: np.ndarray) -> list[float]:
    """The smallest and largest of the positive and of the negative `values`, of which there is at least one."""
    low, high = values.min().item(), values.max().item()
    if low > 0 or high < 0:
        return [low, high]
    return [low, values[values < 0].max().item(), values[values > 0].min().item(), high]


def _is_scientific(smallest: float, largest: float) -> bool:
    """Whether magnitudes from `smallest` to `largest` are printed with exponents."""
    chosen = _options["sci_mode"]
    if chosen is not None:
        return bool(chosen)
    return largest / smallest > 1000.0 or largest > 1.0e8 or smallest < 1.0e-4


def _element(array: np.ndarray, dtype_name: str) -> tuple[str, int, list[Any]]:
    """How to print the elements of `array`: the conversion for one, its width, and the values it takes, in order."""
    if "complex" in dtype_name:
        parts = np.ascontiguousarray(array, "complex128").reshape(-1, 1).view("float64")  # columns: real, imaginary
        real, imaginary = _float_style(parts[:, 0]), _float_style(parts[:, 1])
        width = real.width + imaginary.width + 1  # the j; PyTorch's line breaks leave the sign between uncounted
        return real.aligned + imaginary.imaginary, width, parts.ravel().tolist()
    if "float" in dtype_name:
        values = array.astype("float64")
        style = _float_style(values)
        return style.aligned, style.width, values.ravel().tolist()
    # Integers and booleans: the same rule of extremes, and False, the longer, is the lesser.
    width = max(len(str(array.min().item())), len(str(array.max().item())))
    return f"%{width}s", width, array.ravel().tolist()


# ---- the contents: everything between "tensor(" and the suffixes
def format_contents(array: np.ndarray, dtype_name: str, indent: int) -> str:
    """The nested lists of `tensor(...)`, for an array of any shape whose first bracket stands in column `indent`.

    >>> print("values=" + format_contents(np.array([[1.5, 2], [3, 4]]), "float64", indent=7))
    values=[[1.5000, 2.0000],
            [3.0000, 4.0000]]
    """
    if array.size == 0:
        return "[]"
    summarize = array.size > _options["threshold"]
    if summarize and array.ndim and not _options["edgeitems"]:
        return "[...]"
    element, width, values = _element(_edges(array) if summarize else array, dtype_name)
    return _template(array.shape, indent, summarize, element, width) % tuple(values)


def _edges(array: np.ndarray) -> np.ndarray:
    """The elements of `array` in a summary: `edgeitems` at both ends of each dimension longer than twice that."""
    edge = _options["edgeitems"]
    kept = [
        np.array([*range(edge), *range(length - edge, length)]) if length > 2 * edge else np.arange(length)
        for length in array.shape
    ]
    return array[np.ix_(*kept)]


def _template(shape: tuple[int, ...], indent: int, summarize: bool, element: str, width: int) -> str:
    """The printf template of an array of this shape: all rows look alike, so it is built from the inside out."""
    if not shape:
        return element
    depth = len(shape) - 1
    text = _row(_repeat(element, shape[-1], summarize, " ..."), width, indent + depth)
    for length in reversed(shape[:-1]):
        depth -= 1
        newlines = "\n" * (len(shape) - 1 - depth)
        separator = "," + newlines + " " * (indent + depth + 1)
        text = "[" + separator.join(_repeat(text, length, summarize, "...")) + "]"
    return text


def _repeat(text: str, length: int, summarize: bool, dots: str) -> list[str]:
    """The `length` items of one dimension, or its edges with `dots` between them."""
    edge = _options["edgeitems"]
    if summarize and length > 2 * edge:
        return [text] * edge + [dots] + [text] * edge
    return [text] * length


def _row(items: list[str], width: int, indent: int) -> str:
    """The innermost brackets around `items`, broken into lines of as many as fit the line width."""
    per_line = max(1, math.floor((_options["linewidth"] - indent) / (width + 2)))  # 2: the comma and the space
    lines = [", ".join(items[start : start + per_line]) for start in range(0, len(items), per_line)]
    return "[" + (",\n" + " " * (indent + 1)).join(lines) + "]"


# ---- the whole text
def format_array(
    array: np.ndarray,
    *,
    dtype_name: str,
    default_dtype: str = "float32",
    requires_grad: bool = False,
    grad_fn_name: str | None = None,
    class_name: str = "tensor",
    tangent: str | None = None,
    device: str | None = None,
    indent: int = 0,
    contents: str | None = None,
) -> str:
    """The text that PyTorch's `repr` gives to a tensor with these elements, from column `indent` on.

    `dtype_name` alone decides how the elements are read: an array of a dtype that NumPy lacks may be any that
    `astype("float64")` converts exactly. The caller adds the prefix `Parameter containing:`.

    >>> x = np.array([[1, 2], [3, 4]], "float32")
    >>> print(format_array(x, dtype_name="float32", requires_grad=True))
    tensor([[1., 2.],
            [3., 4.]], requires_grad=True)
    >>> print(format_array(x.mean() * 3, dtype_name="float32", grad_fn_name="MeanBackward0"))
    tensor(7.5000, grad_fn=<MeanBackward0>)
    >>> print(format_array(np.zeros((2, 0)), dtype_name="float64"))
    tensor([], size=(2, 0), dtype=torch.float64)
    """
    array = np.asarray(array)
    prefix = class_name + "("
    inner = indent + len(prefix)
    suffixes = [] if device is None else [f"device='{device}'"]
    if device == "meta":
        contents = "..."
        suffixes += [f"size={array.shape}", *dtype_suffix(dtype_name, default_dtype, inferred=False)]
    elif array.size == 0:
        contents = "[]"
        # Without elements nothing tells the shape or an inferred dtype, so both are spelled out.
        suffixes += [f"size={array.shape}"] if array.ndim != 1 else []
        suffixes += dtype_suffix(dtype_name, default_dtype, inferred=False)
    else:
        contents = contents or format_contents(array, dtype_name, inner)
        suffixes += [] if _options["edgeitems"] else [f"size={array.shape}"]
        suffixes += dtype_suffix(dtype_name, default_dtype)
    if grad_fn_name is not None:
        suffixes.append(f"grad_fn=<{grad_fn_name}>")
    elif requires_grad:
        suffixes.append("requires_grad=True")
    if tangent is not None:
        suffixes.append(f"tangent={tangent}")
    return join_suffixes(prefix + contents, suffixes, inner, column=indent) + ")"


def dtype_suffix(dtype_name: str, default: str, inferred: bool = True) -> list[str]:
    """The suffix for a dtype that is not the default one and, if elements are shown, not inferred from them either."""
    understood = {"complex128" if default == "float64" else "complex64", "int64", "bool"} if inferred else set()
    return [] if dtype_name in {default, *understood} else [f"dtype=torch.{dtype_name}"]


def join_suffixes(text: str, suffixes: Sequence[str], indent: int, column: int = 0) -> str:
    """`text`, which begins in `column`, and the suffixes, each on the same line if it fits, else on one of its own.

    >>> print(join_suffixes("tensor([1, 2]", ["dtype=torch.int32", "device='meta'"], indent=7))
    tensor([1, 2], dtype=torch.int32, device='meta'
    >>> with printoptions(linewidth=40):
    ...     print(join_suffixes("tensor([1, 2]", ["dtype=torch.int32", "device='meta'"], indent=7))
    tensor([1, 2], dtype=torch.int32,
           device='meta'
    """
    parts = [text]
    # As PyTorch counts: two characters more than the line has, but only until the first break.
    used = len(text) - text.rfind("\n") + 1 + (0 if "\n" in text else column)
    for suffix in suffixes:
        if used + len(suffix) + 2 > _options["linewidth"]:
            parts.append(",\n" + " " * indent + suffix)
            used = indent + len(suffix)
        else:
            parts.append(", " + suffix)
            used += len(suffix) + 2
    return "".join(parts)


def format_scalar(value: Any, spec: str, owner: object = None) -> str:
    """The result of `Tensor.__format__` for the tensor `owner` with the elements `value`, an array or a scalar.

    A 0-dimensional tensor is formatted as the Python number it holds; any other as an object, which is its `str`, and
    a `TypeError` if `spec` is not empty. Without an `owner` that object is `value`. As in PyTorch, this is for plain
    tensors: a subclass, `Parameter` among them, is formatted as an object even if 0-dimensional.

    >>> format_scalar(np.float32(0.1), ".3f")
    '0.100'
    >>> format_scalar(np.arange(2), "", owner="tensor([0, 1])")
    'tensor([0, 1])'
    """
    if getattr(value, "ndim", 0):
        return object.__format__(value if owner is None else owner, spec)
    item = value.item() if hasattr(value, "item") else value
    if not isinstance(item, (bool, int, float, complex)):
        item = float(item)  # the item of ml_dtypes' bfloat16 and similar types is the scalar itself
    return format(item, spec)


def format_wrapper(class_name: str, value: str, *, level: int, bdim: int | None = None) -> str:
    """The text of a tensor inside a transform of this depth (1: the outermost), around the text of what it wraps.

    >>> print(format_wrapper("BatchedTensor", "tensor([1, 2])", level=1, bdim=0))
    BatchedTensor(lvl=1, bdim=0, value=
        tensor([1, 2])
    )
    """
    batch = "" if bdim is None else f", bdim={bdim}"
    # Blank lines, which separate the blocks of three and more dimensions, are not indented.
    indented = "\n".join("    " + line if line.strip() else line for line in value.split("\n"))
    return f"{class_name}(lvl={level}{batch}, value=\n{indented}\n)"


set_printoptions.__module__ = "wengert._printing"  # as old pickles have it: this module knows NumPy alone
