"""Random programs on both libraries, line by line: views, writes, passes, hooks, transforms, layouts, threads, errors.

After each line every variable is compared (value, shape, dtype, ``requires_grad``, ``is_leaf``, ``.grad``), modules
and optimizers, and the line itself: whether it worked, or the class of its error. With ``--mild`` so are strides, names
of nodes, what is printed of a new variable, and first sentences of errors.

Each seed is one program: an even one of plain tensors of up to three dimensions (``_plain``), an odd one of a sort of
its own (``SORTS``). A program ends (``_ends``) where PyTorch refuses what wengert can do or makes a mistake.

``python tests/compare/random_programs.py --seconds 3600`` runs programs for an hour and prints those that differ;
``--seed 17`` runs one, ``--sort mixed`` one sort. The tests run 2,000, others in each week.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
import time
import warnings
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))

from compare.program_helpers import helpers, numbers
from compare.program_lines import (
    CALLS,
    CHECKPOINTS,
    COMPLEX,
    FORWARD,
    FUNCTIONS,
    HALF,
    HOOKS,
    INPUTS,
    INSIDE,
    LAYOUTS,
    MIXED,
    NESTED,
    OUT,
    OUTSIDE,
    PASSES,
    PLACES,
    READ,
    RULED,
    SECOND,
    SPARSE,
    THREADS,
    VIEWS,
    WRITE,
)
from compare.program_lines_modules import (
    ALGEBRA,
    DISTRIBUTIONS,
    LAYERS,
    LOSSES,
    OPTIMIZERS,
    SEQUENCES,
    STREAMS,
)
from compare.program_lines_objects import CONTEXT, DTYPES, HANDLES, INDEX, MEMORY, MODULES, ORDERS, PRINTED, SAVING

NAMES = "abcdefgh"
OVERLAP = "operands share memory"
BROKEN = "an error inside of PyTorch"
FAULTS = "INTERNAL ASSERT|nested_tensorlist|to inference tensor|ZeroTensors are immutable|Please file an issue"
AGAIN = "a second pass"  # PyTorch keeps tensors that it does not need, and refuses more of them
SINGULAR = "a singular matrix"  # or nearly: the last digits decide
STALE = "a saved tensor was written"  # one of those too
GRADIENTS = r"grad\(|\bG\(|FWD|T\.func|functional"
MANNERS = "'torch\\.|pickle"  # how Python names a class of C
MILD = {"class", "grad_fn", "sentence", "stride", "text"}  # kinds of differences that are reported with ``--mild``
LARGE = "a large tensor"  # products of products (kron) would fill the memory


# ------------------------------------------------------------------------------------------------------ plain programs
def _line(r: random.Random, known: str) -> str:
    a, b, new = r.choice(known), r.choice(known), r.choice(NAMES)

    def drawn(table: str, of: str = "") -> str:
        text = _named(r.choice(table.split()), {"a": a, "b": b})
        return text if not of else of + text if text[0] == "[" else f"{of}.{text}"

    k = r.random()
    if k < 0.36:
        return f"{new}={drawn(READ, a)}"
    if k < 0.5:
        return f"{new}={a}{r.choice(['+', '-', '*', '/', '**', '@', '<', '=='])}{r.choice([b, b, '2', '0.5'])}"
    if k < 0.66:
        return drawn(WRITE, a)
    if k < 0.73:
        return f"{drawn(PLACES, a)}={r.choice([b, '2.', '0'])}"
    if k < 0.77:
        return f"{a}{r.choice(['+', '-', '*', '/'])}={r.choice([b, '2'])}"
    if k < 0.83:
        return f"{new}=T.{drawn(CALLS)}"
    if k < 0.87:
        return "with T.no_grad(): " + r.choice([drawn(WRITE, a), f"{drawn(PLACES, a)}=1."])
    if k < 0.95:
        return drawn(PASSES)
    shape = r.choice([(), (3,), (2, 3), (3, 2), (1, 3), (2, 2, 3), (6,)])
    return f"{new}=R({shape},{r.random() < 0.6},{r.choice(['f4', 'f4', 'f8'])!r})"


def _named(text: str, names: dict[str, str]) -> str:
    """A line with other variables."""
    return re.sub(r"(?<![\w.])[abd]\b", lambda m: names.get(m[0], m[0]), text)


def _plain(seed: int) -> list[str]:
    r = random.Random(seed)
    lines = [f"{n}=R({r.choice([(3,), (2, 3), (3, 3), ()])},{r.random() < 0.6},'f4')" for n in "abc"]
    known = "abc"
    for _ in range(r.randint(4, 12)):
        line = _line(r, known)
        if re.search("no_grad.*(squeeze_|t_)\\(", line):
            continue  # a leaf of another shape: PyTorch's gradient has it if it is copied, else that of the node
        if re.search(r"\b(\w)\.addmm_\((\1,|\w,\1\))", line):
            continue  # a product that is written over one of its factors: PyTorch's result depends on the processor
        lines.append(line)
        if lines[-1][1] == "=" and lines[-1][0] not in known:
            known += lines[-1][0]
    return lines


# ------------------------------------------------------------------------------------------------- the other sorts
def _ruled_composed(r: random.Random) -> str:
    """As ``_composed``: in PyTorch a rule for forward mode has no derivative in forward mode, silently."""
    while len(re.findall(r"jvp\(|jacfwd|hessian", text := _composed(r, RULED))) > 1:
        pass
    return text


def _composed(r: random.Random, inside: str = INSIDE) -> str:
    """Three transforms of a function, each of the one before."""
    text = r.choice(inside.split())
    for k in range(3):
        text = r.choice(OUTSIDE).format(text) + ("(x)" if k < 2 else "(a)")
    return f"d={text}"


SORTS: dict[str, tuple[Any, str, tuple[Any, ...], tuple[str, ...]]] = {  # lines, how a new tensor ends, shapes, dtypes
    "second passes": (SECOND, "", ((3,), (3, 3)), ("f4",)),
    "hooks": (HOOKS, "", ((3,), (2, 3)), ("f4",)),
    "custom functions": (FUNCTIONS, "", ((3,), (3, 3)), ("f4",)),
    "layouts": (LAYOUTS, ".to(memory_format=T.channels_last)", ((2, 2, 4, 4),), ("f4",)),
    "half precision": (HALF, "", ((3, 3), (3,)), ("f2", "b2")),
    "threads": (THREADS, "", ((3,), (2, 3)), ("f4",)),
    "transforms": (_composed, "", ((3,),), ("f8",)),
    "rules of users": (_ruled_composed, "", ((3,),), ("f8",)),
    "views": (VIEWS, "", ((2, 3), (3,)), ("f4",)),
    "inputs": (INPUTS, "", ((3,), (2, 3)), ("f4",)),
    "complex": (COMPLEX, "", ((3,), (3, 3)), ("c8",)),
    "forward mode": (FORWARD, "", ((3,), (2, 3)), ("f8",)),
    "checkpoints": (CHECKPOINTS, "", ((3,), (2, 3)), ("f4",)),
    "sparse": (SPARSE, "", ((3, 3),), ("f4",)),
    "nested": (NESTED, "", ((2, 3), (3, 3)), ("f4",)),
    "handles": (HANDLES, "", ((3,), (2, 3)), ("f4",)),
    "contexts": (CONTEXT, "", ((3,), (2, 3)), ("f4",)),
    "modules": (MODULES, "", ((4, 3),), ("f4",)),
    "saving": (SAVING, "", ((3,), (2, 3)), ("f4", "f8", "i8", "c8")),
    "dtypes": (DTYPES, "", ((3,), (2, 3), ()), ("f4", "f2", "b2", "i8", "i4", "u1", "?", "f8", "i2", "i1")),
    "indices": (INDEX, "", ((2, 3), (3, 3)), ("f4",)),
    "memory": (MEMORY, "", ((2, 3), (3, 3), (3,), ()), ("f4",)),
    "printed": (PRINTED, "", ((3,), (2, 3), ()), ("f4",)),
    "orders": (ORDERS, "", ((3, 3),), ("f8",)),
    "layers": (LAYERS, "", ((2, 4, 4), (2, 4, 4, 4), (4, 4)), ("f4",)),
    "losses": (LOSSES, "", ((2, 3),), ("f4",)),
    "sequences": (SEQUENCES, "", ((3, 2, 4), (2, 2, 4)), ("f4",)),
    "optimizers": (OPTIMIZERS, "", ((4, 3),), ("f4",)),
    "distributions": (DISTRIBUTIONS, "", ((3,), (2, 3)), ("f4", "f8")),
    "algebra": (ALGEBRA, "", ((3, 3), (2, 3), (3,), (2, 3, 3)), ("f8", "c16")),
    "streams": (STREAMS, "", ((3,), (2, 3)), ("f4",)),
}
MORE = {  # run by ``--sort`` alone
    "mixed": (MIXED, "", ((3, 3), (2, 3)), ("f4", "f4", "f2", "c8", "f8")),
    "out": (OUT, "", ((3,), (2, 3), (3, 3)), ("f4",)),  # of some of which PyTorch spoils its memory, and ends
}


def _one(r: random.Random, text: str) -> str:
    """A line with one of the parts of each ``<1|2>``."""
    return re.sub(r"<([^<>]*\|[^<>]*)>", lambda m: r.choice(m[1].split("|")), text)


def _sorted(seed: int, sort: str = "") -> list[str]:
    r = random.Random(seed)
    sort = sort or list(SORTS)[seed // 2 % len(SORTS)]
    table, ending, shapes, dtypes = (SORTS | MORE)[sort]
    composed = callable(table)  # results grow with each transform: they are not given to another one
    lines = []
    for n in "abc":
        recorded = (
            r.random() < 0.7 and not composed and sort not in ("out", "dtypes")
        )  # which refuses what requires grad
        made = f"R({r.choice(shapes)},False,{(dtype := r.choice(dtypes))!r}){r.choice(['', ending])}"
        recorded = recorded and dtype[0] in "fbc"
        lines.append(f"{n}={made}.requires_grad_({recorded})")
    known = "abc"
    for _ in range(r.randint(4, 12)):
        text = table(r) if callable(table) else _one(r, r.choice(table.split()))
        new = r.choice(NAMES[3:] if composed else NAMES)
        a, b = r.choice(known), r.choice(known)
        line = _named(text, {"a": a, "b": b, "d": new}).replace("with_T", "with T")
        line = re.sub(r"lambda_?(?=[gmoxy:])", "lambda ", line).replace("$", " ")
        lines.append(line)
        if re.match(rf"(with T.no_grad\(\):)?{new}=", line) and new not in known and not composed:
            known += new
    return ["FW.enter_dual_level()", *lines, "FW.exit_dual_level()"] if sort == "forward mode" else lines


def program(seed: int, sort: str = "") -> list[str]:
    """The program of a seed, of a sort if one is given."""
    return _sorted(seed, sort) if sort or seed % 2 else _plain(seed // 2)


# ----------------------------------------------------------------------------------------------------------- running
def _seen(T: ModuleType, value: Any, printed: bool = False) -> Any:
    """What a program can see of a variable, and what is printed of it."""
    if isinstance(value, T.nn.Module):
        tensors = {**dict(value.named_parameters()), **dict(value.named_buffers())}
        return {"value": (repr(value), [m.training for m in value.modules()]), **_seen(T, tensors)}
    if isinstance(value, T.optim.Optimizer):
        return _seen(T, value.state_dict())
    if isinstance(value, dict):
        return {str(key): _seen(T, of) for key, of in value.items()}
    if isinstance(value, (list, tuple)):
        return [_seen(T, of) for of in value]
    if not isinstance(value, T.Tensor):
        text = re.sub(r" at 0x\w+", "", repr(value)).replace("wengert", "torch")
        if type(value) is str:
            return {"sentence": text}  # the last digits of what is printed may differ
        return {"value": value if type(value) in (int, float, complex) else text}
    grad = value.grad if value.is_leaf or value.retains_grad else None
    strided = value.layout is T.strided and not value.is_nested
    return {
        "shape": None if value.is_nested else tuple(value.shape),
        "dtype": str(value.dtype).split(".")[1],
        "layout": str(value.layout).split(".")[1],
        "requires_grad": (value.requires_grad, value.is_leaf),
        "value": numbers(value),
        "grad": None if grad is None else _seen(T, grad),
        "grad_fn": value.grad_fn and value.grad_fn.name(),
        "stride": value.stride() if strided else None,
        "text": repr(value) if printed and not value.is_nested else "",
    }


def _run(T: ModuleType, lines: list[str], seed: int, known: dict[str, Any] | None = None) -> list[Any]:
    stream = np.random.RandomState(seed)

    def made(shape: tuple[int, ...], requires_grad: bool, dtype: str) -> Any:
        drawn = np.asarray(
            stream.uniform(-1.5, 1.5, shape) * (1 + 2 * (dtype[0] in "iu")), "f4" if dtype == "b2" else dtype
        )
        return T.tensor(drawn, requires_grad=requires_grad, dtype=T.bfloat16 if dtype == "b2" else None)

    calls: list[Any] = []
    scope = {} if known is None else known
    scope |= {"T": T, "R": made, "L": T.tensor, "lambda_g": lambda g: g * 2, **helpers(T, calls)}
    scope["LOSS"] = partial(_loss, scope)
    if any("set_printoptions" in line for line in lines):
        T.set_printoptions(profile="default")
    if any("W)" in line for line in lines):
        scope["W"] = T.tensor(stream.uniform(-1, 1, (2, 2, 2, 2)).astype("f4"))
    T.manual_seed(seed)
    if any(re.search(r"\bm\b", line) for line in lines):
        scope["m"] = scope["MODULE"]()
        scope["o"] = T.optim.SGD(scope["m"].parameters(), lr=0.1)
    log = []
    for line in lines:
        outcome, sentence = "ok", ""
        try:
            exec(line, scope)
        except Exception as error:  # noqa: BLE001  which one is what is compared
            outcome, sentence = _class_of(error, line, lines[0]), _sentence(error)
        if any(T.is_tensor(t) and not t.is_nested and t.numel() > 2000 for t in map(scope.get, NAMES)):
            return [*log, (LARGE, {})]
        state: dict[str, Any] = {}
        for name in (*NAMES, "m", "o"):
            try:
                state[name] = _seen(T, scope.get(name), line.startswith(f"{name}="))
            except RuntimeError as error:  # a view that may not be used any more
                state[name] = type(error).__name__
        log.append((outcome, state | {"calls": tuple(calls), "sentence": sentence}))
        calls.clear()
    return log


def _loss(scope: dict[str, Any], x: Any) -> Any:
    """A closure for optimizers: the module's loss of ``x``, backward."""

    def closure() -> Any:
        scope["o"].zero_grad()
        loss = scope["m"](x).square().sum()
        loss.backward()
        return loss

    return closure


def _sentence(error: Exception) -> str:
    """The first sentence of an error, without the library's name."""
    return re.split(r"\.\s|\n", str(error).strip().replace("wengert", "torch"))[0].replace(":", "")


def _class_of(error: Exception, line: str, first: str) -> str:
    """The name of an error's class, or of the reason why a program ends there."""
    text = str(error)
    reasons = {
        "single memory location": OVERLAP,
        "singular": SINGULAR,
        "second time": AGAIN,
        "modified by an inplace operation": STALE,
    }
    broken = (
        re.search(FAULTS, text)
        or (
            "backward" in line and "a bool tensor is not supported" in text
        )  # logaddexp's formula subtracts the operands
        or "Nested forward mode AD" in text  # what PyTorch refuses of dual tensors
        or ("a view of a leaf" in text and "FW" in first)
        or ("kron" in line and "view size is not compatible" in text)  # of factors in two orders in memory
        or "Can't detach views" in text  # some of PyTorch's gradients are views
    )
    if broken:
        return BROKEN
    return next((reason for words, reason in reasons.items() if words in text), type(error).__name__)


def _ends(outcome: str, state: dict[str, Any]) -> bool:
    """Whether PyTorch refuses a write of a tensor into itself, or a view of several whose base was written under
    ``no_grad``; has no kernel for a dtype; or has made integers require grad, as ``fill_`` with a gradient does;
    or the dtype is one that NumPy lacks.
    """
    seen = [value for name, value in state.items() if name in NAMES and isinstance(value, dict) and "dtype" in value]
    return (
        outcome in (OVERLAP, AGAIN, BROKEN, SINGULAR, LARGE, "NotImplementedError")
        or "RuntimeError" in state.values()
        or any(v["dtype"] == "complex32" for v in seen)
        or any(v["requires_grad"][0] and not v["dtype"].startswith(("float", "bfloat", "complex")) for v in seen)
    )


def _differing(x: Any, y: Any, rtol: float) -> set[str]:
    """In what two values differ: the keys of facts, or "value"; printed digits count where all of them agree."""
    if isinstance(x, dict) and isinstance(y, dict):
        if x.keys() != y.keys():
            return {"value"}
        found: set[str] = set()
        for key in x.keys() - {"text"}:
            kinds = _differing(x[key], y[key], rtol)
            found |= {key} if kinds == {"value"} and key in MILD else kinds
        if not found and x.get("text", "") != y.get("text", "") and _same_bits(x["value"], y["value"]):
            found = {"text"}
        return found
    if isinstance(x, (tuple, list)) and isinstance(y, (tuple, list)):
        if len(x) != len(y):
            return {"value"}
        return set().union(*(_differing(p, q, rtol) for p, q in zip(x, y, strict=True)))
    if isinstance(x, np.ndarray) and isinstance(y, np.ndarray):
        scale = np.abs(x[np.isfinite(x)]).max(initial=1.0)
        atol = rtol / (10 if rtol < 0.01 else 1) * scale
        return set() if x.shape == y.shape and np.allclose(x, y, rtol, atol, equal_nan=True) else {"value"}
    if isinstance(x, (float, complex)) and isinstance(y, (float, complex)):
        return set() if np.isclose(x, y, rtol, rtol, equal_nan=True) else {"value"}
    return set() if type(x) is type(y) and not isinstance(x, np.ndarray) and x == y else {"value"}


def _parts(x: Any, y: Any, rtol: float) -> tuple[Any, Any]:
    """The parts of two values that differ."""
    if isinstance(x, dict) and isinstance(y, dict) and x.keys() == y.keys():
        pairs = {key: _parts(x[key], y[key], rtol) for key in x if _differing(x[key], y[key], rtol)}
        return (
            ({key: p for key, (p, _) in pairs.items()}, {key: q for key, (_, q) in pairs.items()}) if pairs else (x, y)
        )
    return x, y


def _same_bits(x: Any, y: Any) -> bool:
    """Whether two arrays print the same digits, signs of zeros included."""
    if not np.array_equal(x, y, equal_nan=True):
        return False
    return bool((np.signbit([x.real, x.imag]) == np.signbit([y.real, y.imag])).all())


def _shared(torch: ModuleType, lines: list[str], seed: int) -> bool:
    """Whether the last line writes to a tensor that repeats elements, or from another one on the same memory."""
    scope: dict[str, Any] = {}
    _run(torch, lines[:-1], seed, scope)
    dense = {
        name: t
        for name, t in scope.items()
        if name in NAMES and isinstance(t, torch.Tensor) and t.layout is torch.strided and not t.is_nested
    }
    names = re.findall(r"\b[a-h]\b", lines[-1])
    if "out=" in lines[-1]:  # its memory may grow, in PyTorch also that of its views
        used = [dense[name] for name in (*names, *(name for name in dense if name not in names)) if name in dense]
    else:
        used = [dense[name] for name in dict.fromkeys(names) if name in dense]
    places = {t.untyped_storage().data_ptr() for t in used}
    repeated = any(
        t.numel() > 1 + sum((n - 1) * s for n, s in zip(t.shape, t.stride(), strict=True)) for t in dense.values()
    )
    return len(places) < len(used) or repeated


def difference(seed: int, torch: ModuleType, wengert: ModuleType, sort: str = "", mild: bool = False) -> str | None:
    """What differs in a seed's program; ``None`` if nothing does. ``mild``: differences of ``MILD`` kinds count too."""
    lines = program(seed, sort)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs, ours = (_run(T, lines, seed) for T in (torch, wengert))
    rtol = 5e-2 if any("'f2'" in line or "'b2'" in line or "half()" in line for line in lines) else 1e-4
    known: set[str] = set()  # in what gradients differ, and so what is computed from them
    first = None
    for k, ((outcome, state), (mine, my_state)) in enumerate(zip(theirs, ours, strict=False)):
        if _ends(outcome, state) or "RuntimeError" in my_state.values():
            return first
        found = _of_line(lines[k], outcome, mine, state, my_state, rtol, known, bool(seed % 2 or sort))
        if found is None:
            continue
        kinds, text = found
        text = f"seed {seed}:\n" + "\n".join(lines[: k + 1]) + "\n" + text
        if not kinds:
            return first
        if kinds <= MILD:
            first = first or (text if mild else None)
            continue
        written = re.search(r"out=|_\(|[-+*/\]]=|\w=\w", lines[k].replace(" ", ""))
        return first if written and _shared(torch, lines[: k + 1], seed) else text
    return first


def _of_line(
    line: str, outcome: str, mine: str, state: Any, my_state: Any, rtol: float, known: set[str], sorted_: bool
) -> tuple[set[str], str] | None:
    """In what a line's outcomes differ, and how; an empty set: the rest of the program says nothing."""
    if "as_strided" in line and {outcome, mine} == {"ok", "RuntimeError"}:
        return set(), ""  # PyTorch's result of a reduction may lie in larger memory, its gradient in that of a number
    if (outcome, mine) in ((STALE, "ok"), ("ok", OVERLAP)) or mine == SINGULAR:
        return set(), ""
    sentences = [state["sentence"], my_state["sentence"]]
    if {outcome, mine} <= {OVERLAP, STALE, AGAIN, "RuntimeError", "NotImplementedError"}:
        mine = outcome  # which refusal comes first
    if "backward" in line and "ok" not in (outcome, mine):
        return set(), ""  # which leaves had their gradients when the pass failed is the engine's affair
    if mine != outcome:
        kind = "whether" if "ok" in (mine, outcome) else "class" if sorted_ else "the class"
        return {kind}, f"{kind}: PyTorch: {outcome} {sentences[0]}, wengert: {mine} {sentences[1]}"
    if outcome != "ok" and re.search(r"\[.*\]=|_\(|_hooks\(", line):
        return set(), ""  # what was written or packed before the error
    kinds: set[str] = set()
    texts = []
    for name in (*NAMES, "m", "o", "calls"):
        differing = _differing(state[name], my_state[name], rtol)
        if re.search(GRADIENTS, line):
            known |= differing & {"stride", "grad_fn"}  # ``test_gradient_layouts`` has a list
        if differing - known:
            kinds |= differing - known
            pair = _parts(state[name], my_state[name], rtol)
            texts.append(f"{'/'.join(sorted(differing))} of {name}, PyTorch: {pair[0]}\n{name}, wengert: {pair[1]}")
    if not kinds and sentences[0] != sentences[1] and not re.search(MANNERS, sentences[0]):
        return {"sentence"}, f"sentence: PyTorch: {sentences[0]}, wengert: {sentences[1]}"
    return (kinds, "\n".join(texts)) if kinds else None


def main() -> None:
    """Run programs for a while, or one."""
    import torch

    import wengert

    parser = argparse.ArgumentParser(description="Random programs on PyTorch and on wengert.")
    parser.add_argument("--seconds", type=float, default=3600, help="how long to run (an hour)")
    parser.add_argument("--seed", type=int, help="one program")
    parser.add_argument("--sort", default="", help="programs of one sort, such as 'mixed'")
    parser.add_argument("--mild", action="store_true", help="print also how names, strides and sentences differ")
    parser.add_argument("--first", type=int, default=int(time.time()), help="the first seed")
    args = parser.parse_args()
    end = time.monotonic() + args.seconds
    seed, count, found = args.first if args.seed is None else args.seed, 0, 0
    while count == 0 or (args.seed is None and time.monotonic() < end):
        text = difference(seed, torch, wengert, args.sort, args.mild)
        if text is not None:
            found += 1
            print(text, "\n", flush=True)  # noqa: T201  a command's output
        seed, count = seed + 1, count + 1
    print(f"{count} programs, {found} differ")  # noqa: T201


if __name__ == "__main__":
    main()
