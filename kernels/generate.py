"""The kernels' C: what ``wengert`` computes with on large arrays, written down by running it.

Elementwise operators reach large arrays as lists of NumPy calls (``_arrays/fused.py``). ``WORKS`` are run once, forward
and backward, and each list that comes by is written as one loop, in the expressions of the C tier of ``torch.compile``.
Rows, convolutions and pooling are the C tier's functions under the names of ``entries.h`` and the others. ``python generate.py DIR`` writes
``kernels.c``, which is compiled once for each width of vectors, and ``dispatch.c``, which chooses.
"""

from __future__ import annotations

import itertools
import re
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent

# One line is one program of x, y and z (large, positive and below 1) and b (bools); a number is any number.
WORKS = """
x + y; x - y; x * y; x / y; x + 2.5; x * 2.5; 2.5 - x; 2.5 / x; x / 2.5; -x
x ** 2; x ** 3; x ** -1; x ** 4; x ** 0.5; x.square(); x.sqrt(); x.rsqrt(); x.reciprocal(); x.abs()
x.exp(); x.tanh(); x.sigmoid(); x.erf(); x.log(); x.expm1(); x.log1p(); x.exp2()
x.relu(); F.gelu(x); F.gelu(x, approximate="tanh"); F.silu(x); F.leaky_relu(x, 0.1); F.elu(x); F.selu(x); F.celu(x)
F.softplus(x); F.mish(x); F.hardswish(x); F.hardsigmoid(x); F.hardtanh(x); F.relu6(x); F.logsigmoid(x); F.softsign(x)
F.tanhshrink(x); F.softshrink(x); F.hardshrink(x); F.threshold(x, 0.5, 0.1); F.glu(torch.stack([x, y]), 0)
x.clamp(0.2, 0.7); x.clamp(min=0.2); x.clamp(max=0.7); torch.maximum(x, y); torch.minimum(x, y)
torch.addcmul(x, y, z, value=0.3); torch.addcdiv(x, y, z, value=0.3); x.lerp(y, 0.3); x.lerp(y, z); torch.add(x, y, alpha=2)
torch.where(b, x, y); x.masked_fill(b, 0.5); x.masked_fill(b, float("-inf")); torch.where(b, x, 0.0)
F.mse_loss(x, y); F.mse_loss(x, y, reduction="none"); F.mse_loss(x, y, reduction="sum"); F.l1_loss(x, y)
F.smooth_l1_loss(x, y); F.huber_loss(x, y); F.binary_cross_entropy(x, y); F.binary_cross_entropy_with_logits(x, y)
F.kl_div(x, y); F.poisson_nll_loss(x, y); F.soft_margin_loss(x, y.detach()); F.gaussian_nll_loss(x, y, z)
x > y; x < y; x >= y; x <= y; x == y; x != y; x > 0.5; x < 0.5; x >= 0.5; x <= 0.5; x == 0.5; x != 0.5
b & b; b | b; ~b; b ^ b; x.isnan(); x.isfinite(); x.sign(); x.floor(); x.ceil(); x.round(); x.trunc()
x.double(); x.float(); b.float(); F.dropout(x, 0.5)
"""
OPTIMIZERS = """
SGD(p); SGD(p, momentum=0.9); SGD(p, momentum=0.9, nesterov=True); SGD(p, momentum=0.9, dampening=0.1)
Adam(p); Adam(p, amsgrad=True); AdamW(p); AdamW(p, amsgrad=True); NAdam(p); RAdam(p); Adamax(p); Adagrad(p)
Adadelta(p); RMSprop(p); RMSprop(p, centered=True); RMSprop(p, momentum=0.9); RMSprop(p, momentum=0.9, centered=True)
Rprop(p); ASGD(p)
"""
# A NumPy function's C: the name in ``_compile.c.expressions``, or a template.
NAMES = {
    "add": "add", "subtract": "sub", "multiply": "mul", "divide": "div", "negative": "neg", "absolute": "abs",
    "greater": "gt", "greater_equal": "ge", "less": "lt", "less_equal": "le", "equal": "eq", "not_equal": "ne",
    "logical_and": "logical_and", "logical_or": "logical_or", "logical_not": "logical_not", "logical_xor": "logical_xor",
    "bitwise_and": "bitwise_and", "bitwise_or": "bitwise_or", "bitwise_xor": "bitwise_xor", "invert": "bitwise_not",
    "sqrt": "sqrt", "reciprocal": "reciprocal", "exp": "exp", "tanh": "tanh", "log": "log", "expm1": "expm1",
    "log1p": "log1p", "exp2": "exp2", "floor": "floor", "ceil": "ceil", "rint": "round", "trunc": "trunc",
    "maximum": "maximum", "minimum": "minimum", "isnan": "isnan", "isfinite": "isfinite", "isinf": "isinf",
}  # fmt: skip
TEMPLATES = {
    "square": "{0} * {0}", "tanh": "quick_tanh_{s}({0})", "positive": "{0}", "copysign": "copysign({0}, {1})",
    "clip": "min_{s}(max_{s}({0}, {1}), {2})", "sign": "{0} != {0} ? {0} : sign_{s}({0})",
    "fmax": "{0} != {0} ? {1} : {1} != {1} ? {0} : max_{s}({0}, {1})",
    "fmin": "{0} != {0} ? {1} : {1} != {1} ? {0} : min_{s}({0}, {1})",
    "where_not_zero": "{1} != 0 ? {0} : 0", "with_slope": "{1} > 0 ? {0} : {0} * {2}", "signs": "sign_{s}({0})",
    "with_sign_of": "copysign({0}, {1})", "normal_cdf": "cdf_{s}({0})", "error_function": "erf_{s}({0})",
    "bell": "exp_{s}({0} * {0} * -0.5f) * 0x1.988454p-2f",
}  # fmt: skip
CHOICES = {"kept": "{1} ? {0} : 0", "dropped": "{1} ? 0 : {0}", "chosen": "{2} ? {0} : {1}"}  # by a bool, given last
SLOW = {"exp", "tanh", "log", "expm1", "log1p", "exp2"}  # of float64: one call of libm for each element


def texts() -> list[str]:
    """The texts of the bodies that the works go through."""
    import numpy as np

    import wengert as torch
    import wengert.nn.functional as F
    from wengert._arrays import compiled_bodies, fused, kernels

    found: dict[str, None] = {}
    recorded = fused._recorded

    def listening(body: Any, operands: Any) -> Any:
        program = recorded(body, operands)
        made = program and compiled_bodies.described(program)
        if made:
            found[made[0]] = None
        return program

    fused._recorded = listening
    works = [work.strip() for line in WORKS.strip().splitlines() for work in line.split(";")]
    n = 1 << 18
    try:
        for dtype, vector in itertools.product((torch.float32, torch.float64), (False, True)):
            if vector and dtype is torch.float64:
                continue
            fused._programs.clear()
            known = kernels.has_vector_functions
            for module in (m for name, m in list(sys.modules.items()) if name.startswith("wengert")):
                if getattr(module, "has_vector_functions", None) is known:
                    module.has_vector_functions = lambda vector=vector: vector
            given = torch.rand(n, dtype=dtype) * 0.8 + 0.1
            for work in works:
                x, y, z = (given.clone().requires_grad_() for _ in range(3))
                b = given.detach() > 0.5
                names = {"x": x, "y": y, "z": z, "b": b, "torch": torch, "F": F}
                r = eval(work, names)
                if r.requires_grad:
                    r.backward(torch.ones_like(r))
                    with torch.no_grad():  # without the derivative that some compute at once
                        eval(work, names)
            for ufunc in (np.exp, np.tanh, np.maximum, np.minimum):
                fused.fused_body_of(ufunc, (given.numpy(),) * ufunc.nin)
    finally:
        fused._recorded = recorded
    return list(found)


def steps() -> dict[str, str]:
    """The loops of the optimizers' steps, by name."""
    import wengert as torch
    from wengert.optim import _as_c, _elementwise

    class NoKernels:
        find = staticmethod(lambda name: None)

    found: dict[str, str] = {}
    written = _as_c.written

    def listening(kernel: Any, dtype: Any, states: int, *rest: Any) -> Any:
        text, numbers = written(kernel, dtype, states, *rest)
        c = "float" if dtype.char == "f" else "double"
        lines = [f"  {c} *a{k} = A[{2 + k}];" for k in range(2 + states)]
        lines += ["  const double *k = A[1];", *[f"  const {c} k{j} = ({c})k[{j}];" for j in range(len(numbers))]]
        found[_as_c.name_of(text)] = "\n".join([*lines, "  IVDEP\n  for (i64 i = from; i < to; i++) {", text, "  }"])
        return text, numbers

    works = [work.strip() for line in OPTIMIZERS.strip().splitlines() for work in line.split(";")]
    extra = [{}, {"weight_decay": 0.1}, {"maximize": True}, {"weight_decay": 0.1, "maximize": True}]
    _as_c.written, _as_c.kernels, _elementwise.kernels = listening, NoKernels, NoKernels
    try:
        for dtype, work, more in itertools.product((torch.float32, torch.float64), works, extra):
            p = torch.nn.Parameter(torch.ones(_elementwise.LEAST, dtype=dtype))
            given = work.replace("(p", f"([p], **{more}")
            try:
                optimizer = eval(f"torch.optim.{given}", {"torch": torch, "p": p})
            except TypeError:  # Rprop has no weight decay
                continue
            p.grad = torch.ones_like(p)
            for _ in range(8):  # RAdam's first steps are others
                optimizer.step()
    finally:
        _as_c.written = written
    return found


def loop(text: str) -> str | None:
    """A body's C; ``None`` if a step has no rule."""
    import numpy as np

    from wengert._arrays.compiled import SUFFIX
    from wengert._compile.c.expressions import C_TYPES, expression

    kinds, *steps, lasts = text.split(";")
    known: list[tuple[str, Any]] = []
    before, lines, count = [], [], 0
    operands = [np.dtype(k) if k != "-" else None for k in kinds]
    if any(d is not None and d not in C_TYPES for d in operands):
        return None
    results = lasts.split(" ")
    at = len(results) + 2
    for k, dtype in enumerate(operands):
        if dtype is not None:
            before.append(f"  const {C_TYPES[dtype]} *a{k} = A[{at}];")
            lines.append(f"    const {C_TYPES[dtype]} x{k} = a{k}[i];")
            at += 1
        known.append((f"x{k}", dtype))
    for step in steps:
        char, name, *words = step.split(" ")
        dtype = np.dtype(char)
        if dtype not in C_TYPES or (dtype == np.float64 and name in SLOW):
            return None
        given: list[Any] = []
        of_arrays = {known[int(w)][1] for w in words if w.isdigit()}
        for word in words:
            if word.isdigit():
                given.append(known[int(word)])
            elif word.startswith("="):
                given.append(float(word[1:]))
            else:  # a number has the arrays' dtype, but an array's its own
                kind = np.dtype(word[1]) if word[1:] else (of_arrays.pop() if len(of_arrays) == 1 else dtype)
                if kind not in SUFFIX:
                    return None
                before.append(f"  const {C_TYPES[kind]} k{count} = ({C_TYPES[kind]})k[{count}];")
                given.append((f"k{count}", kind))
                count += 1
        c, s = C_TYPES[dtype], SUFFIX.get(dtype, "")
        if name == "power":
            value = expression("pow", given, (), dtype) if given[1:] and given[1] in (2.0, 3.0, 0.5) else None
        elif name == "cast":
            value = expression("_to_copy", given, (), dtype)
        elif name in TEMPLATES or name in CHOICES:
            last = [g[0] for g in given[-1:]] if name in CHOICES else []
            operands_of = given[: len(given) - len(last)]
            if dtype not in SUFFIX or any(g[1] != dtype for g in operands_of):
                return None
            value = (TEMPLATES.get(name) or CHOICES[name]).format(*[g[0] for g in operands_of], *last, s=s)
            value = f"({c})({value})".replace("copysign(", "copysignf(" if s == "f" else "copysign(")
        else:
            value = expression(NAMES[name], given, (), dtype) if name in NAMES else None
        if value is None:
            return None
        known.append((f"v{len(known)}", dtype))
        lines.append(f"    const {c} {known[-1][0]} = {value};")
    for k, r in enumerate(results):
        name, dtype = known[int(r)]
        before.append(f"  {C_TYPES[dtype]} *restrict o{k} = A[{k + 2}];")
        lines.append(f"    o{k}[i] = {name};")
    numbers = ["  const double *k = A[1];"] if count else []
    return "\n".join([*numbers, *before, "  IVDEP\n  for (i64 i = from; i < to; i++) {", *lines, "  }"])


# Functions and macros of convolution that have a form for doubles, and their words.
OF_FLOATS = (
    r"conv_(?:tile|some|places|pack|items|weight|weight_blocks)|pad_channels|weight_(?:tile|some)|row_at|is_flat|"
    r"add_(?:taps|columns)|(?:lanes|blocks|bands|cuts)_of|TILED|TILED_ROWS|TAPPED|LANES|IMAGES|WEIGHTS|(?:images|weights)_\w+"
)


def doubled(text: str) -> str:
    """Convolution's C for doubles, from that for floats."""
    text = re.sub(rf"\b(?:{OF_FLOATS})\b", r"\g<0>_d", re.sub(r"^typedef.*\n", "", text, flags=re.M))
    text = re.sub(r"(\w)_f\b", r"\1_d", text).replace("fma_v", "fma_w")
    text = text.replace("vectors == 1 || vectors == 3 ? VL : LANES_d", "LANES_d")  # they have fewer forms
    text = re.sub(r"\bfloat\b", "double", re.sub(r"\bVL\b", "(VL / 2)", text))
    return re.sub(r"\* 4(?=\))", "* 8", text)


def sources() -> dict[str, str]:
    """The two files."""
    from importlib import resources

    from wengert._arrays.compiled_bodies import name_of
    from wengert._compile.c.cache import runtime
    from wengert._version import __version__

    inner = resources.files("wengert._compile.c")
    conv = inner.joinpath("runtime/2_conv.h").read_text(encoding="utf-8")
    products = inner.joinpath("gemm.c").read_text(encoding="utf-8").replace("EXPORT", "static __attribute__((unused))")
    entries, places, own = ((HERE / f"{n}.h").read_text(encoding="utf-8") for n in ("entries", "places", "convolution"))
    entries = "\n".join([entries, places, "#define FLOATS", own, "#undef FLOATS", doubled(conv), doubled(own)])
    bodies = {name_of(text): body for text in texts() if (body := loop(text)) is not None}
    bodies.update(steps())
    names = re.findall(r"^(?:ENTRY|PLACES_OF)\((?:\w+, )?(\w+)\)", entries, re.M)
    names += [f"{n}_{s}" for n in re.findall(r"ENTRY\((\w+?)_##s\)", entries) for s in "fd"]
    functions = [f"static void {name}(void **A, i64 from, i64 to) {{\n{body}\n}}" for name, body in bodies.items()]
    table = ",\n".join(f'  {{"{name}", {name}}}' for name in sorted({*names, *bodies}))
    find = f"""
typedef struct {{ const char *name; part_t kernel; }} row_t;
static const row_t table[] = {{
{table}
}};
part_t FIND(const char *name) {{
  i64 low = 0, high = sizeof(table) / sizeof(row_t);
  while (low < high) {{ const i64 m = (low + high) / 2; const int c = strcmp(name, table[m].name);
    if (!c) return table[m].kernel;
    if (c < 0) high = m; else low = m + 1; }}
  return 0;
}}
"""
    pool = inner.joinpath("pool.c").read_text(encoding="utf-8")
    version = f'#define WENGERT_VERSION "{__version__}"'
    return {
        "kernels.c": "\n".join([runtime(), products, entries, *functions, find]),
        "dispatch.c": "\n".join([runtime(), version, pool, (HERE / "dispatch.c").read_text(encoding="utf-8")]),
    }


if __name__ == "__main__":
    # Not by PYTHONPATH: pip's build environment takes away the folders of an editable install, which this may be.
    sys.path.insert(0, str(HERE.parent / "src"))
    for name, text in sources().items():
        (Path(sys.argv[1]) / name).write_text(text, encoding="utf-8")
