"""Calls that are wrong in one way each, made on PyTorch and on wengert: what they raise is compared.

The right calls are the samples of PyTorch's operator database, a few tensors for public functions that it lacks, and
the examples of the documentation (``example_calls``).
A mutation changes one argument: another shape, dtype, layout or kind, nan, infinity and extreme integers, strides in
another order, None, a negative or huge number, NumPy's numbers; or it drops, adds or renames one. The kinds of
findings:

    inside    an error of NumPy, SciPy or Python itself came out where PyTorch has an error of its own or none
    class     the classes of the errors differ
    verdict   one library works and the other raises
    value     both work, and the results have other values, shapes or dtypes
    sentence  the classes agree and the first sentences do not

A child process runs the cases, with limits on memory and time, so that a crash of PyTorch ends a chunk and not the run:

    python tests/compare/call_fuzzer.py --seed 7 --seconds 3600        every operator in turn, an hour long
    python tests/compare/call_fuzzer.py --only scatter --cases 500 --show class
"""

from __future__ import annotations

import argparse
import collections
import json
import random
import re
import resource
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))

from compare import example_calls
from compare import op_db_cases as cases

import wengert

torch = cases.torch
KINDS = ("inside", "class", "verdict", "value", "sentence")
INSIDE = re.compile(
    r"ufunc|operands could not be broadcast|could not broadcast|cannot reshape array|object arrays|gufunc"
    r"|axes don't match|out of bounds for axis|array is too big|maximum supported dimension|setting an array"
    r"|has no attribute|'NoneType' object|not supported between instances|unsupported operand|not iterable"
    r"|not subscriptable|cannot unpack|values to unpack|tuple index out of range|list index out of range"
    r"|cannot be interpreted as an integer|zip\(\)|object is not callable|must be real number|bad operand"
    r"|could not convert|invalid literal|scipy|Cannot interpret|Cannot cast|no implementation found"
    r"|int too large|can't multiply sequence|can only concatenate|unhashable|_payload|negative dimensions"
    r"|math domain"
)
PYTHONS = (
    KeyError,
    AssertionError,
    ZeroDivisionError,
    UnboundLocalError,
    NameError,
    MemoryError,
    RecursionError,
    StopIteration,
)
SHAPES: tuple[tuple[int, ...], ...] = (
    (),
    (0,),
    (1,),
    (3,),
    (5,),
    (2, 0),
    (2, 3),
    (3, 3),
    (1, 1, 2),
    (2, 3, 4),
    (2, 2, 3, 3),
)
DTYPES = (torch.float32, torch.float64, torch.int64, torch.int32, torch.bool, torch.complex64, torch.float16)
NUMBERS = (-1, 0, 1, 2, 7, -9, 0.5, -1.5, True, float("nan"), float("inf"), 2**31, 2**62, 1j)
EXTREME = (float("nan"), float("inf"), -float("inf"), -0.0, 100.0, 2.5)
# Vectors have free signs, and what follows a nan in a factorization is the library's affair.
UNSETTLED = re.compile(
    "eig|svd|qr|lu|lstsq|pca|lowrank|householder|ormqr|cholesky|ldl|inv|solve|det|matrix|cond|polygamma"
)
OTHERS = (None, "a string", (), (1,), [2, 3], (1, -1), (1.5,), {"a": 1}, slice(None), ..., object)
LAYOUTS = (torch.sparse_coo, torch.sparse_csr, torch.sparse_csc)
sparse = 0.08  # how often a tensor is sparse: --sparse
EXTRA = ("axis", "keepdims", "foo", "out", "dtype", "dim", "input", "other", "device", "generator")


# ------------------------------------------------------------------------------------------------------------ mutations
def _tensor(r: random.Random, like: Any = None) -> Any:
    shape = r.choice(SHAPES) if like is None or r.random() < 0.6 else tuple(like.shape)
    dtype = r.choice(DTYPES) if like is None or r.random() < 0.5 else like.dtype
    values = np.random.RandomState(r.randrange(1000)).uniform(-2, 3, shape)
    if values.size and dtype.is_floating_point and r.random() < 0.2:
        values.flat[r.randrange(values.size)] = r.choice(EXTREME)
    made = torch.tensor(values).to(dtype)
    if made.numel() and dtype in (torch.int64, torch.int32) and r.random() < 0.1:
        made.view(-1)[0] = r.choice((torch.iinfo(dtype).min, torch.iinfo(dtype).max))
    if r.random() < 0.2:
        made = made.mT.contiguous().mT if len(shape) > 1 else torch.stack([made, made], -1)[..., 0]
    if r.random() < sparse:
        made = made.to_sparse(layout=r.choice(LAYOUTS if len(shape) == 2 else LAYOUTS[:1]))
    return made.requires_grad_() if made.dtype.is_floating_point and r.random() < 0.3 else made


def mutated(r: random.Random, value: Any) -> Any:
    """Another value in place of an argument."""
    if r.random() < 0.25:
        return r.choice(OTHERS) if r.random() < 0.6 else r.choice((_tensor(r), r.choice(NUMBERS)))
    if isinstance(value, torch.Tensor):
        return _tensor(r, value)
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return r.choice((*NUMBERS, *OTHERS))
    if isinstance(value, int | float | complex):
        if r.random() < 0.3:
            return np.asarray(value)[()] if r.random() < 0.6 else torch.tensor(value)
        return r.choice(NUMBERS)
    if isinstance(value, list | tuple) and value:
        items = list(value)
        k = r.randrange(len(items))
        how = r.random()
        if how < 0.5:
            items[k] = mutated(r, items[k])
        elif how < 0.75:
            del items[k]
        else:
            items.insert(k, items[k])
        return type(value)(items) if type(value) in (list, tuple) else tuple(items)
    return r.choice((*NUMBERS, *OTHERS))


def mutation(r: random.Random, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """A call that differs in one argument."""
    items, named = list(args), dict(kwargs)
    how = r.random()
    places = [*range(len(items)), *named]
    if how < 0.72 and places:
        place = r.choice(places)
        if isinstance(place, int):
            items[place] = mutated(r, items[place])
        else:
            named[place] = mutated(r, named[place])
    elif how < 0.8 and len(items) > 1:
        items.pop()
    elif how < 0.86:
        items.append(mutated(r, None))
    elif how < 0.9 and "dim" in named:
        named["axis"] = named.pop("dim")
    else:
        named[r.choice(EXTRA)] = mutated(r, None)
    return tuple(items), named


# ---------------------------------------------------------------------------------------------------------- right calls
class _Plain:
    """A sample in the form of the database's."""

    output_process_fn_grad = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.input, self.args, self.kwargs = args[0], args[1:], kwargs


NOT_CALLED = re.compile(
    r"^(_|set_|manual_seed|seed|initial_seed|get_|is_|init|load|save|compile|from_file|use_|fork|import_|default_|cuda|"
    r"share_memory|pin_memory|backward|register|retain|storage|untyped|data_ptr|apply_|map|numpy$|new$|type$|cpu$|"
    r"xpu|mtia|ipu|hpu|mps|to$|__|refine|rename|align|names|empty|resize|set$|sparse|to_sparse|to_mkldnn|vmap|cond$|"
    r"while_loop|typename|nelement|quantize|fake_quant|dequantize|q_|int_repr|get_default|inference|enable|no_grad|"
    r"Generator|hspmm|smm|sspaddmm|saddmm|mkldnn|miopen|cudnn|fbgemm|triton|batch_norm_|random_|module_load|normal|"
    r"rand|bernoulli|cauchy_|exponential_|geometric_|log_normal_|uniform_|dropout|multinomial|poisson|element_size|"
    r"thread|autocast|clear|wait$|result_type|can_cast|promote_types|fill_)|unpickl|pickl|_packed|dropout"
)


def public_functions() -> dict[str, Any]:
    """PyTorch's public functions by name that wengert has too, and that compute."""
    found = {}
    spaces = {"torch": torch, "nn.functional": torch.nn.functional, "linalg": torch.linalg, "fft": torch.fft,
              "special": torch.special, "Tensor": torch.Tensor}  # fmt: skip
    for space, module in spaces.items():
        for name in sorted(
            set(cases.look_up(f"torch.{space}" if space != "torch" else "torch").__dict__) | set(dir(module))
        ):
            fn = getattr(module, name, None)
            full = f"torch.{name}" if space == "torch" else f"torch.{space}.{name}"
            if callable(fn) and not isinstance(fn, type) and not NOT_CALLED.search(name):
                try:
                    found[full] = (fn, cases.look_up(full))
                except cases.Absent:
                    continue
    return found


def right_calls(name: str) -> Iterator[tuple[Any, Any]]:
    """(PyTorch's function, sample): of an entry of the database, or of a public function."""
    if name.startswith("torch."):
        fn = FUNCTIONS[name][0]
        x = torch.tensor([[1.0, -2.0, 0.5], [0.25, 3.0, -1.0]])
        yield fn, _Plain(x)
        yield fn, _Plain(x, x.clone())
        yield fn, _Plain(x[:, :2].clone(), 1)
        return
    op = OPERATORS[name]
    for sample in cases.samples(op, torch.float32, False, 3):
        yield op.op, sample


FUNCTIONS = public_functions()
OPERATORS = {
    cases.full_name(op): op
    for op in cases.invocations.op_db
    if not cases.is_absent(op) and not NOT_CALLED.search(op.name.rpartition(".")[2]) and torch.float32 in op.dtypes
}
NAMES = sorted([*FUNCTIONS, *OPERATORS])  # to them come ``example_calls.examples()``


# ------------------------------------------------------------------------------------------------------------- one case
def _text(value: Any) -> str:
    if isinstance(value, torch.Tensor):
        return f"T{tuple(value.shape)}:{str(value.dtype).removeprefix('torch.')}"
    if isinstance(value, np.generic):
        return f"np.{type(value).__name__}({value})"
    if isinstance(value, list | tuple):
        return "(" + ", ".join(map(_text, value)) + ")"
    return repr(value)[:60]


def _run(library: Any, call: Callable[[], Any], results: list[Any] | None = None) -> Any:
    """The error of a call, or None: its result comes to ``results``."""
    signal.setitimer(signal.ITIMER_REAL, 3)
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            library.manual_seed(0)
            result = call()
            if results is not None:
                results.append(cases.plain(result))
        return None
    except Exception as error:  # noqa: BLE001  which one is what is compared
        return cases.Failure(error)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def _from_inside(failure: cases.Failure) -> bool:
    error = failure.error
    return (
        not type(error).__module__.startswith(("builtins", "torch", "wengert"))
        or isinstance(error, PYTHONS)
        or bool(INSIDE.search(str(error)))
    )


def judged(theirs: Any, mine: Any) -> str:
    """The kind of a finding, or ""."""
    if theirs is not None and isinstance(theirs.error, NotImplementedError | MemoryError) and mine is None:
        return ""  # wengert may have a kernel more, and does not take memory before it is used
    if theirs is not None and ("alloc" in str(theirs.error) or "memory" in str(theirs.error)):
        return ""
    if mine is not None and _from_inside(mine) and not (theirs is not None and _from_inside(theirs)):
        return "inside"
    if theirs is None or mine is None:
        return "" if theirs is mine else "verdict"
    if theirs.kind is not mine.kind:
        return "class"
    if mine.kind is TypeError:  # PyTorch's lists of overloads are not ours
        return ""
    return "" if theirs.sentence == mine.sentence else "sentence"


class TooSlow(BaseException):
    """A case took longer than its limit."""


def _too_slow(*_: Any) -> None:
    raise TooSlow


def findings(name: str, seed: int, count: int) -> Iterator[dict[str, str]]:
    """``count`` mutated calls of one function: those that differ, and an entry with kind "" for each that does not."""
    if name.startswith(">>> "):
        yield from example_calls.findings(name, seed, count, torch, _run, judged)
        return
    r = random.Random(f"{seed} {name}")
    calls = list(right_calls(name))
    for _ in range(count if calls else 0):
        fn, sample = r.choice(calls)
        args, kwargs = mutation(r, (sample.input, *sample.args), sample.kwargs)
        wrong = _Plain(*args, **kwargs) if args else None
        if wrong is None or (name.startswith("torch.Tensor.") and not isinstance(args[0], torch.Tensor)):
            continue
        try:
            theirs, mine = cases.sides(fn, wrong)
            if name in FUNCTIONS:
                mine.fn = FUNCTIONS[name][1]
            theirs.args, theirs.kwargs = _copied(theirs.args), _copied(theirs.kwargs)
            results: list[Any] = []
            expected, got = _run(torch, theirs.call, results), _run(wengert, mine.call, results)
        except (TooSlow, cases.Unsupported, cases.Absent):
            continue
        except Exception:  # noqa: BLE001  what cannot be copied is no case
            continue
        call = f"{name}({', '.join([*map(_text, args), *(f'{k}={_text(v)}' for k, v in kwargs.items())])})"
        kind = judged(expected, got)
        if not kind and len(results) == 2 and not UNSETTLED.search(name) and cases.mismatch(*results):
            kind, expected, got = "value", *results
        yield {"kind": kind, "name": name, "call": call, "torch": repr(expected)[:200], "wengert": repr(got)[:200]}


def _copied(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return value.detach().clone().requires_grad_(value.requires_grad)
    if isinstance(value, dict):
        return {k: _copied(v) for k, v in value.items()}
    return type(value)(map(_copied, value)) if type(value) in (list, tuple) else value


# ------------------------------------------------------------------------------------------------------------ processes
def say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def child(names: list[str], seed: int, count: int) -> None:
    """Run the cases of some functions, and print a line for each finding."""
    resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))
    signal.signal(signal.SIGALRM, _too_slow)
    torch.set_num_threads(1)
    for name in names:
        try:
            for found in findings(name, seed, count):
                say(json.dumps(found))
        except TooSlow:
            continue


def run(names: list[str], seed: int, count: int, timeout: float) -> list[dict[str, str]]:
    """The findings of a child process."""
    numbers = ["--seed", str(seed), "--cases", str(count), "--sparse", str(sparse)]
    command = [sys.executable, __file__, "--child", *numbers, "--names", *names]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=False).stdout
    except subprocess.TimeoutExpired as error:
        done = (error.stdout or b"").decode() if isinstance(error.stdout, bytes) else error.stdout or ""
    return [json.loads(line) for line in done.splitlines() if line.startswith("{") and line.endswith("}")]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--cases", type=int, default=20, help="calls of each function")
    parser.add_argument("--seconds", type=float, default=0, help="go on with further seeds so long")
    parser.add_argument("--sparse", type=float, default=sparse, help="how often a tensor is sparse, from 0 to 1")
    parser.add_argument("--only", default="", help="functions with this in their names")
    parser.add_argument("--show", default="inside", choices=KINDS, help="print findings down to this kind")
    parser.add_argument("--names", nargs="*")
    parser.add_argument("--child", action="store_true")
    args = parser.parse_args()
    globals()["sparse"] = args.sparse
    if args.child:
        child(args.names, args.seed, args.cases)
        return
    names = [name for name in [*example_calls.examples(), *NAMES] if args.only in name]
    begin, seed, total = time.monotonic(), args.seed, collections.Counter[str]()
    while True:
        for k in range(0, len(names), 50):  # PyTorch may crash, which ends the others of its chunk
            for found in run(names[k : k + 50], seed, args.cases, 600):
                total[found["kind"]] += 1
                if found["kind"] in KINDS[: KINDS.index(args.show) + 1]:
                    say("{kind:8} {call}\n    torch    {torch}\n    wengert  {wengert}".format(**found))
            if args.seconds and time.monotonic() - begin > args.seconds:
                break
        seed += 1
        if time.monotonic() - begin >= args.seconds:
            break
    say(str({kind or "agree": total[kind] for kind in (*KINDS, "")}))


if __name__ == "__main__":
    main()
