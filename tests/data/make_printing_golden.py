"""Writes printing_golden.json, next to this file: tensors and the text that PyTorch prints for them.

This needs PyTorch (2.13.0 made the committed file); the tests that read the file do not. To make it again:

    python tests/data/make_printing_golden.py

Each entry holds `dtype`, `shape`, `values` (repeated in order to fill the shape; complex numbers as pairs; "arange" for
0, 1, 2, ...), `options` for `set_printoptions`, `facts` for `format_array`, and `text`. Values are those of the tensor
after rounding to its dtype, so that a reader without bfloat16 can hold them in float32.
"""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import torch
from torch.autograd import forward_ad

INF, NAN = math.inf, math.nan
GRAD_FNS = {
    "MulBackward0": lambda t: t * 1,
    "ViewBackward0": lambda t: t.view(t.shape),
    "MeanBackward0": lambda t: t.mean(),
    "NativeLayerNormBackward0": lambda t: torch.nn.functional.layer_norm(t, t.shape[-1:]),
}


def case(values, shape=None, dtype="float32", options=None, **facts):
    """One tensor to print: `values`, a flat list or "arange", repeated to fill `shape`."""
    shape = [len(values)] if shape is None else list(shape)
    return {"dtype": dtype, "shape": shape, "values": values, "options": options or {}, "facts": facts}


SEMANTICS = [
    case([1, 2, 3, 4], (2, 2), requires_grad=True),
    case([7.5], (), grad_fn_name="MeanBackward0"),
    case([2, 4, 6, 8], (2, 2), grad_fn_name="ViewBackward0"),
    case([4, 0.4, 0.02, 0.002]),
    case([20, 2, 0.1, 0.01]),
]
FLOATS = [
    case([1.0]),
    case([0.1], ()),
    case([-0.0], ()),
    case([0.0, -0.0]),
    case([0.0, -0.0, 0.5]),
    case([1, 10, -100]),
    case([1, 1000]),
    case([1, 1001]),
    case([1, 1000.5]),
    case([1e8]),
    case([100000008.0]),
    case([1e-4, 0.05], dtype="float64"),
    case([9.9e-5, 0.05]),
    case([9999.99996, 99.0], dtype="float64"),
    case([-9.99999, 5.5]),
    case([-1.5, 10.25]),
    case([-1e5, 1e-120, 3.0], dtype="float64"),
    case([-9.99999e99, 1e98], dtype="float64"),
    case([-1e9, -1e-120, 1e-3, 1e7], dtype="float64"),
    case([-1e9, -1e-3, 1e-120, 1e7], dtype="float64"),
    case([0.0], (40,)),
    case([5e-324, 1.7976931348623157e308], dtype="float64"),
    case([1.401298464324817e-45, 3.4028234663852886e38]),
    case([-0.00001, 0.2], dtype="float64", options={"sci_mode": False}),
    case([3.14159, -2.71828, 0.5], dtype="float16"),
    case([3.14159, -2.71828, 1000.0], dtype="bfloat16"),
    case([6e-8, 65504.0], dtype="float16"),
    case([0.1 * i for i in range(-10, 21)], dtype="float64"),
]
NOT_FINITE = [
    case([INF]),
    case([NAN], ()),
    case([NAN, NAN, INF, -INF], (2, 2)),
    case([1.0, NAN, -INF]),
    case([1.5, NAN, -INF, INF, 0]),
    case([1.0, 2e9, NAN, -INF]),
    case([-123.0, INF]),
    case([0.0, NAN, -0.0], (2, 3), dtype="float64"),
]
INTEGERS = [
    case([1, -2, 300], dtype="int64"),
    case([7], (), dtype="int64"),
    case([0, 255], dtype="uint8"),
    case([-128, 127, 0], dtype="int8"),
    case([-32768, 5], dtype="int16"),
    case([2147483647, -2147483648], dtype="int32"),
    case([-9223372036854775808, 9223372036854775807], dtype="int64"),
    case([0, 65535], dtype="uint16"),
    case([4294967295], dtype="uint32"),
    case([18446744073709551615, 1], dtype="uint64"),
    case([True, False], dtype="bool"),
    case([True, True], (3, 2), dtype="bool"),
    case([False], (), dtype="bool"),
]
COMPLEX = [
    case([[1, 2], [3, -4]], dtype="complex64"),
    case([[1.5, -0.0]], (), dtype="complex64"),
    case([[0.5, 100], [NAN, -INF], [INF, NAN]], dtype="complex64"),
    case([[1e-7, 2], [3, 4e9]], dtype="complex128"),
    case([[1, 0], [20, 3]], (2, 2), dtype="complex128", default_dtype="float64"),
    case([[0.25, 1]], (7, 3), dtype="complex64", requires_grad=True),
    *[case([[0.25, -1]], (9,), dtype="complex64", options={"linewidth": width}) for width in range(60, 68)],
    case([[0.25, 1.75]], dtype="complex64", options={"precision": 0}),
]
EMPTY = [
    case([0.0], (0,)),
    case([0.0], (2, 0, 3)),
    case([0.0], (0,), dtype="float64"),
    case([0], (0,), dtype="int64"),
    case([True], (0, 1), dtype="bool"),
    case([[0, 0]], (0,), dtype="complex64"),
    case([0.0], (3, 0), requires_grad=True),
]
SHAPES = [
    case("arange", (3, 4), dtype="int64"),
    case("arange", (2, 2, 3), dtype="int64"),
    case([0.5, 1.25, -3], (2, 1, 3, 2)),
    case([1.5], (1, 1, 1, 1, 1)),
    case("arange", (40,), dtype="int64"),
    case([0.1234, -0.5], (25,), dtype="float64"),
    case("arange", (1000,), dtype="int16"),
    case("arange", (1001,), dtype="int64"),
    case("arange", (1001,)),
    case([0.5, -0.25, 12], (1100,)),
    case("arange", (40, 50), dtype="int64"),
    case("arange", (2, 600)),
    case("arange", (600, 2)),
    case("arange", (9, 8, 7, 6), dtype="int32"),
    case([True, False, False], (101, 11), dtype="bool"),
    case([[1, -2.5]], (1200,), dtype="complex64"),
]
OPTIONS = [
    case([1.12345, 100.5], options={"precision": 2}),
    case([1.12345, 2.5], options={"precision": 0}),
    case([1.12345, 2.5], options={"precision": 10}, dtype="float64"),
    case([1, 2, 30], options={"sci_mode": True}),
    case([1e-7, 2e9], options={"sci_mode": False}),
    case("arange", (10,), dtype="int64", options={"threshold": 5}),
    case("arange", (10,), dtype="int64", options={"threshold": 5, "edgeitems": 1, "linewidth": 10}),
    case("arange", (10,), dtype="int64", options={"threshold": 5, "edgeitems": 0}),
    case("arange", (4, 5), dtype="int64", options={"threshold": 5, "edgeitems": 0}),
    case("arange", (3,), options={"edgeitems": 0}),
    case([1.5], (), options={"threshold": 0, "edgeitems": 0}),
    case([0.123456, 7], (6, 5), options={"profile": "short", "threshold": 20}),
    case([1.0], (3, 400), options={"profile": "full", "linewidth": 2000}),
    case([0.5], (30,), options={"linewidth": 40}),
    case([0.5], (5,), options={"linewidth": 1}),
]
FACTS = [
    # Where the line breaks before a suffix: at 61 before the dtype, at 49 before the node too.
    *[
        case([0.5, 1.5], (4,), dtype="float64", grad_fn_name="MulBackward0", options={"linewidth": width})
        for width in (48, 49, 50, 51, 52, 60, 61, 62, 63, 85, 86, 87)
    ],
    case([1.5, 2], dtype="float64"),
    case([1.5, 2], dtype="float64", default_dtype="float64"),
    case([1.5, 2], dtype="float32", default_dtype="float64"),
    case([1.5, 2], dtype="float16", default_dtype="float16"),
    case([[1.5, 2]], dtype="complex64", default_dtype="float64"),
    case([1.5, 2], dtype="float64", requires_grad=True),
    case([1.5, 2], (3, 2), dtype="float64", grad_fn_name="MulBackward0"),
    case([1.5], (9,), requires_grad=True),
    case([0.5, -0.5], (7,), grad_fn_name="MulBackward0"),
    case([0.5, -0.5], (8,), dtype="float64", grad_fn_name="MulBackward0"),
    case([0.5, -0.5, 2], (6, 6), dtype="float64", grad_fn_name="NativeLayerNormBackward0"),
    case([1.5, 2, 3], class_name="Subclass"),
    case([1.5, 2, 3], (12, 3), class_name="Subclass", dtype="bfloat16"),
    case([1.5, 2], (2, 2), device="meta"),
    case([1, 2], (2, 2), device="meta", dtype="int64"),
    case([1.5, 2], tangent="tensor([1., 1.])"),
    case([2.5], (), tangent="1.0"),
]


def tensor_of(entry):
    """The tensor that `entry` describes; what it leaves open (rounded values) is filled in."""
    dtype = getattr(torch, entry["dtype"])
    if entry["values"] == "arange":
        flat = torch.arange(math.prod(entry["shape"])).to(dtype)
    else:
        values = [complex(*value) if isinstance(value, list) else value for value in entry["values"]]
        pattern = torch.tensor(values, dtype=dtype)
        rounded = torch.view_as_real(pattern) if dtype.is_complex else pattern
        entry["values"] = rounded.tolist()
        flat = pattern[torch.from_numpy(np.resize(np.arange(len(values)), math.prod(entry["shape"])))]
    return flat.reshape(entry["shape"])


def dressed(tensor, entry):
    """`tensor` with the gradient, the class, the device and the tangent that the facts ask for."""
    facts = entry["facts"]
    if facts.get("requires_grad") or "grad_fn_name" in facts:
        tensor.requires_grad_()
    if "grad_fn_name" in facts:
        tensor = GRAD_FNS[facts["grad_fn_name"]](tensor)
        entry["facts"]["requires_grad"] = True
        entry["values"] = tensor.flatten().tolist()
    if "class_name" in facts:
        tensor = tensor.as_subclass(type(facts["class_name"], (torch.Tensor,), {}))
    if "device" in facts:
        tensor = tensor.to(facts["device"])
    if "tangent" in facts:
        tensor = forward_ad.make_dual(tensor, torch.ones_like(tensor))
    return tensor


def text_of(entry):
    """What PyTorch prints, under the options and the default dtype of `entry`."""
    default = torch.get_default_dtype()
    torch.set_default_dtype(getattr(torch, entry["facts"].get("default_dtype", "float32")))
    try:
        with forward_ad.dual_level(), torch._tensor_str.printoptions(**entry["options"]):
            return repr(dressed(tensor_of(entry), entry))
    finally:
        torch.set_default_dtype(default)


def main():
    entries = [*SEMANTICS, *FLOATS, *NOT_FINITE, *INTEGERS, *COMPLEX, *EMPTY, *SHAPES, *OPTIONS, *FACTS]
    lines = [json.dumps({**entry, "text": text_of(entry)} | {"values": entry["values"]}) for entry in entries]
    path = Path(__file__).with_name("printing_golden.json")
    path.write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")


if __name__ == "__main__":
    main()
