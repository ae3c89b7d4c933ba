"""Random programs on both libraries, line by line: views, writes, passes, hooks, transforms, layouts, threads, errors.

After each line every variable is compared (value, shape, dtype, ``requires_grad``, ``is_leaf``, ``.grad``), and the
line itself: whether it worked, or the class of its error. Each seed is one program: an even one of plain tensors of
up to three dimensions (``_plain``), an odd one of a sort of its own (``SORTS``). A program ends (``_ends``) where
PyTorch refuses what wengert can do or makes a mistake.

``python tests/compare/random_programs.py --seconds 3600`` runs programs for an hour and prints those that differ;
``--seed 17`` runs one, ``--sort mixed`` one sort. The tests run 2,000, others in each week.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
import threading
import time
import warnings
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))

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

NAMES = "abcdefgh"
OVERLAP = "operands share memory"
BROKEN = "an error inside of PyTorch"
FAULTS = "INTERNAL ASSERT|to inference tensor|ZeroTensors are immutable|Please file an issue"
AGAIN = "a second pass"  # PyTorch keeps tensors that it does not need, and refuses more of them
SINGULAR = "a singular matrix"  # or nearly: the last digits decide
STALE = "a saved tensor was written"  # one of those too
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
}
MORE = {  # run by ``--sort`` alone
    "mixed": (MIXED, "", ((3, 3), (2, 3)), ("f4", "f4", "f2", "c8", "f8")),
    "out": (OUT, "", ((3,), (2, 3), (3, 3)), ("f4",)),  # of some of which PyTorch spoils its memory, and ends
}


def _sorted(seed: int, sort: str = "") -> list[str]:
    r = random.Random(seed)
    sort = sort or list(SORTS)[seed // 2 % len(SORTS)]
    table, ending, shapes, dtypes = (SORTS | MORE)[sort]
    composed = callable(table)  # results grow with each transform: they are not given to another one
    lines = []
    for n in "abc":
        recorded = r.random() < 0.7 and not composed and sort != "out"  # which refuses what requires grad
        made = f"R({r.choice(shapes)},False,{r.choice(dtypes)!r}){r.choice(['', ending])}"
        lines.append(f"{n}={made}.requires_grad_({recorded})")
    known = "abc"
    for _ in range(r.randint(4, 12)):
        text = table(r) if callable(table) else r.choice(table.split())
        new = r.choice(NAMES[3:] if composed else NAMES)
        a, b = r.choice(known), r.choice(known)
        line = _named(text, {"a": a, "b": b, "d": new}).replace("with_T", "with T")
        line = re.sub(r"lambda_?(?=[gxy:])", "lambda ", line)
        lines.append(line)
        if re.match(rf"(with T.no_grad\(\):)?{new}=", line) and new not in known and not composed:
            known += new
    return ["FW.enter_dual_level()", *lines, "FW.exit_dual_level()"] if sort == "forward mode" else lines


def program(seed: int, sort: str = "") -> list[str]:
    """The program of a seed, of a sort if one is given."""
    return _sorted(seed, sort) if sort or seed % 2 else _plain(seed // 2)


# ----------------------------------------------------------------------------------------------------------- running
def _helpers(T: ModuleType, log: list[Any]) -> dict[str, Any]:
    """What programs use: hooks that write down what they are told, custom functions, a thread."""

    def told(name: str, gs: Any) -> None:
        log.append((name, [None if g is None else _numbers(g) for g in gs]))

    def in_thread(fn: Any) -> Any:
        outcome: list[Any] = []

        def work() -> None:
            try:
                outcome.append((fn(), None))
            except BaseException as error:  # noqa: BLE001  handed on below
                outcome.append((None, error))

        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        result, error = outcome.pop()
        if error is not None:
            raise error
        return result

    def function(forward: Any, backward: Any) -> Any:
        return type("F", (T.autograd.Function,), {"forward": staticmethod(forward), "backward": staticmethod(backward)})

    def saving(ctx: Any, x: Any, y: Any) -> Any:
        ctx.save_for_backward(x, y)
        return x * y

    def writing(ctx: Any, x: Any) -> Any:
        ctx.mark_dirty(x)
        return x.mul_(2)

    return {
        "H": lambda name: lambda g: told(name, [g]),
        "N": lambda name: lambda gi, go: told(name, (*gi, *go)),
        "P": lambda name: lambda go: told(name, go),
        "A": lambda name: lambda t: told(name, [t.grad]),
        "TH": in_thread,
        "F": T.nn.functional,
        "Double": function(lambda ctx, x: x * 2, lambda ctx, g: g * 2),
        "Same": function(lambda ctx, x: x, lambda ctx, g: g * 3),
        "Two": function(lambda ctx, x, y: (x * 2, y + 1), lambda ctx, g, h: (g * 2, h)),
        "Part": function(lambda ctx, x: x[:1], lambda ctx, g: None),
        "None_": function(lambda ctx, x: x + 1, lambda ctx, g: None),
        "Write": function(writing, lambda ctx, g: g * 2),
        "Product": function(saving, lambda ctx, g: (g * ctx.saved_tensors[1], g * ctx.saved_tensors[0])),
        "FW": T.autograd.forward_ad,
        "CK": partial(T.utils.checkpoint.checkpoint, use_reentrant=False),
        "RE": partial(T.utils.checkpoint.checkpoint, use_reentrant=True),
        **_ruled(T),
    }


def _ruled(T: ModuleType) -> dict[str, Any]:
    """Custom functions with rules for forward mode and ``vmap``."""

    class Saving(T.autograd.Function):  # type: ignore[name-defined, misc]
        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.save_for_backward(*inputs)
            ctx.save_for_forward(*inputs)

    class Cube(Saving):
        @staticmethod
        def forward(x: Any) -> Any:
            return x**3

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return 3 * ctx.saved_tensors[0] ** 2 * g

        jvp = backward

        @staticmethod
        def vmap(info: Any, in_dims: Any, x: Any) -> Any:
            return Cube.apply(x), in_dims[0]

    class Made(T.autograd.Function):  # type: ignore[name-defined, misc]
        generate_vmap_rule = True

        @staticmethod
        def forward(x: Any) -> Any:
            return x.exp()

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.save_for_backward(output)
            ctx.save_for_forward(output)

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * ctx.saved_tensors[0]

        jvp = backward

    class Mul(Saving):
        @staticmethod
        def forward(x: Any, y: Any) -> Any:
            return x * y

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            x, y = ctx.saved_tensors
            return (g * y).sum_to_size(x.shape), (g * x).sum_to_size(y.shape)

        @staticmethod
        def jvp(ctx: Any, p: Any, q: Any) -> Any:
            x, y = ctx.saved_tensors
            return p * y + x * q

        @staticmethod
        def vmap(info: Any, in_dims: Any, x: Any, y: Any) -> Any:
            rank = max(t.ndim - (d is not None) for t, d in zip((x, y), in_dims, strict=True))
            x, y = (
                t.expand(info.batch_size, *t.shape) if d is None else t.movedim(d, 0)
                for t, d in zip((x, y), in_dims, strict=True)
            )
            x, y = (t.reshape(t.shape[0], *(1,) * (rank + 1 - t.ndim), *t.shape[1:]) for t in (x, y))
            return Mul.apply(x, y), 0

    return {"Cube": Cube, "Made": Made, "Mul": Mul}


def _numbers(value: Any) -> Any:
    """A tensor's elements, as float64 or, two by two, complex ones."""
    if value.is_nested:
        return [_numbers(part) for part in value.detach().unbind()]
    plain = value.detach().to_dense().resolve_conj()
    return (plain.cfloat() if plain.is_complex() else plain.double()).numpy().copy()


def _seen(T: ModuleType, value: Any) -> Any:
    if not isinstance(value, T.Tensor):
        return repr(value)
    grad = value.grad if value.is_leaf or value.retains_grad else None
    shape = None if value.is_nested else tuple(value.shape)
    facts = (shape, str(value.dtype).split(".")[1], value.requires_grad, value.is_leaf, str(value.layout).split(".")[1])
    return facts, _numbers(value), None if grad is None else _seen(T, grad)


def _run(T: ModuleType, lines: list[str], seed: int, known: dict[str, Any] | None = None) -> list[Any]:
    stream = np.random.RandomState(seed)

    def made(shape: tuple[int, ...], requires_grad: bool, dtype: str) -> Any:
        numbers = np.asarray(stream.uniform(-1.5, 1.5, shape), "f4" if dtype == "b2" else dtype)
        return T.tensor(numbers, requires_grad=requires_grad, dtype=T.bfloat16 if dtype == "b2" else None)

    calls: list[Any] = []
    scope = {} if known is None else known
    scope |= {"T": T, "R": made, "L": T.tensor, "lambda_g": lambda g: g * 2, **_helpers(T, calls)}
    if any("W)" in line for line in lines):
        scope["W"] = T.tensor(stream.uniform(-1, 1, (2, 2, 2, 2)).astype("f4"))
    if any("rand" in line or "dropout" in line for line in lines):
        T.manual_seed(seed)
    log = []
    for line in lines:
        outcome = "ok"
        try:
            exec(line, scope)
        except Exception as error:  # noqa: BLE001  which one is what is compared
            outcome = type(error).__name__
            if "single memory location" in str(error):
                outcome = OVERLAP
            if re.search(FAULTS, str(error)):
                outcome = BROKEN
            if "backward" in line and "a bool tensor is not supported" in str(error):
                outcome = BROKEN  # the formula of logaddexp subtracts the operands
            if "Nested forward mode AD" in str(error) or ("a view of a leaf" in str(error) and "FW" in lines[0]):
                outcome = BROKEN  # what PyTorch refuses of dual tensors
            if "kron" in line and "view size is not compatible" in str(error):
                outcome = BROKEN  # of factors in two orders in memory
            if "Can't detach views" in str(error):
                outcome = BROKEN  # some of PyTorch's gradients are views
            if "singular" in str(error):
                outcome = SINGULAR
            if "second time" in str(error):
                outcome = AGAIN
            if "modified by an inplace operation" in str(error):
                outcome = STALE
        if any(T.is_tensor(t) and not t.is_nested and t.numel() > 2000 for t in map(scope.get, NAMES)):
            return [*log, (LARGE, {})]
        state: dict[str, Any] = {}
        for name in NAMES:
            try:
                state[name] = _seen(T, scope.get(name))
            except RuntimeError as error:  # a view that may not be used any more
                state[name] = type(error).__name__
        log.append((outcome, state | {"calls": tuple(calls)}))
        calls.clear()
    return log


def _ends(outcome: str, state: dict[str, Any]) -> bool:
    """Whether PyTorch refuses a write of a tensor into itself, or a view of several whose base was written under
    ``no_grad``; has no kernel for a dtype; or has made integers require grad, as ``fill_`` with a gradient does;
    or the dtype is one that NumPy lacks.
    """
    seen = [value for name, value in state.items() if name in NAMES and isinstance(value, tuple)]
    return (
        outcome in (OVERLAP, AGAIN, BROKEN, SINGULAR, LARGE, "NotImplementedError")
        or "RuntimeError" in state.values()
        or any(v[0][1] == "complex32" for v in seen)
        or any(v[0][2] and not v[0][1].startswith(("float", "bfloat", "complex")) for v in seen)
    )


def _alike(x: Any, y: Any, rtol: float = 1e-4) -> bool:
    if isinstance(x, (tuple, list)) and isinstance(y, (tuple, list)):
        return len(x) == len(y) and all(_alike(p, q, rtol) for p, q in zip(x, y, strict=True))
    if isinstance(x, np.ndarray) and isinstance(y, np.ndarray):
        scale = np.abs(x[np.isfinite(x)]).max(initial=1.0)
        return x.shape == y.shape and np.allclose(x, y, rtol, rtol / (10 if rtol < 0.01 else 1) * scale, equal_nan=True)
    return not isinstance(x, np.ndarray) and not isinstance(y, np.ndarray) and bool(x == y)


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
    return len(places) < len(used) or any(0 in t.stride() for t in dense.values())


def difference(seed: int, torch: ModuleType, wengert: ModuleType, sort: str = "") -> str | None:
    """What differs in a seed's program; ``None`` if nothing does."""
    lines = program(seed, sort)
    rtol = 5e-2 if any("'f2'" in line or "'b2'" in line or "half()" in line for line in lines) else 1e-4
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs, ours = (_run(T, lines, seed) for T in (torch, wengert))
    for k, ((outcome, state), (mine, my_state)) in enumerate(zip(theirs, ours, strict=False)):
        if _ends(outcome, state):
            return None
        if "as_strided" in lines[k] and {outcome, mine} == {"ok", "RuntimeError"}:
            return None  # PyTorch's result of a reduction may lie in larger memory, its gradient in that of one element
        if (outcome, mine) in ((STALE, "ok"), ("ok", OVERLAP)) or mine == SINGULAR:
            return None
        if {outcome, mine} <= {OVERLAP, STALE, AGAIN, "RuntimeError", "NotImplementedError"}:
            mine = outcome  # which refusal comes first
        if "backward" in lines[k] and "ok" not in (outcome, mine):
            return None  # which leaves had their gradients when the pass failed is the engine's affair
        text = f"seed {seed}:\n" + "\n".join(lines[: k + 1])
        only_whether = seed % 2 or sort  # the plain ones compare errors too
        if mine != outcome and not (only_whether and "ok" not in (mine, outcome)):
            if re.search(r"out=|_\(|[-+*/\]]=", lines[k]) and _shared(torch, lines[: k + 1], seed):
                return None
            return f"{text}\nPyTorch: {outcome}, wengert: {mine}"
        for name, theirs_of in state.items():
            if not _alike(theirs_of, my_state[name], rtol):
                if re.search(r"_\(|\w=\w", lines[k].replace(" ", "")) and _shared(torch, lines[: k + 1], seed):
                    return None  # of a tensor to an overlapping part of itself: the order decides
                return f"{text}\n{name}, PyTorch: {theirs_of}\n{name}, wengert: {my_state[name]}"
    return None


def main() -> None:
    """Run programs for a while, or one."""
    import torch

    import wengert

    parser = argparse.ArgumentParser(description="Random programs on PyTorch and on wengert.")
    parser.add_argument("--seconds", type=float, default=3600, help="how long to run (an hour)")
    parser.add_argument("--seed", type=int, help="one program")
    parser.add_argument("--sort", default="", help="programs of one sort, such as 'mixed'")
    parser.add_argument("--first", type=int, default=int(time.time()), help="the first seed")
    args = parser.parse_args()
    end = time.monotonic() + args.seconds
    seed, count, found = args.first if args.seed is None else args.seed, 0, 0
    while count == 0 or (args.seed is None and time.monotonic() < end):
        text = difference(seed, torch, wengert, args.sort)
        if text is not None:
            found += 1
            print(text, "\n", flush=True)  # noqa: T201  a command's output
        seed, count = seed + 1, count + 1
    print(f"{count} programs, {found} differ")  # noqa: T201


if __name__ == "__main__":
    main()
