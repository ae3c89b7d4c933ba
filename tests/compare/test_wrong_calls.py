"""Calls that PyTorch's parser of arguments refuses, made on both libraries: the same class and the same text.

Each call is one of a function's signatures with something wrong: an argument of another kind, too few or too many, an
unknown keyword, one that was given twice. What PyTorch raises is compared with what ``argument_parser`` says of the
arguments, to the letter, and with what wengert raises. Two sorts of calls have no such error in wengert:

- Python itself refuses too many arguments and unknown keywords before it enters a function that takes a fixed number
  of arguments, and most functions do: to take any number costs each call some 35 ns. Its words are mostly PyTorch's.
- Some functions accept what PyTorch refuses, such as ``None`` for what is ``None`` if it is not given; of the wrong
  calls here less than one in a hundred.

    python tests/compare/test_wrong_calls.py 5 20       seed 5, 20 calls of each name: the calls that differ
"""

from __future__ import annotations

import collections
import random
import subprocess
import sys
import types
import warnings
from collections.abc import Iterator
from keyword import iskeyword
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import wengert
from wengert._kinds.argument_parser import Signature, _table, refusal

torch = pytest.importorskip("torch", reason="torch is not installed: pip install '.[compare]'")

PLACES = {".": "torch.ones(2, 2).{}", "linalg_": "torch.linalg.{}", "fft_": "torch.fft.{}",
          "special_": "torch.special.{}", "F.": "torch.nn.functional.{}", "": "torch.{}"}  # fmt: skip
RIGHT = {
    "": ("torch.ones(2, 2)",), "number": ("2", "1.5"), "int": ("0", "1"), "index": ("1", "2"), "float": ("0.5",),
    "tensors": ("(torch.ones(2), torch.ones(2))",), "ints": ("(0, 1)", "[1, 1]"), "bool": ("True",),
    "dtype": ("torch.float32",), "device": ("'cpu'",), "layout": ("torch.strided",), "str": ("'a'",),
    "memory_format": ("torch.preserve_format",), "generator": ("torch.Generator()",), "floats": ("[0.5, 1.5]",),
}  # fmt: skip
WRONG = (
    "'a'", "None", "[]", "{}", "Thing()", "1", "1.5", "torch.ones(2, 2)", "['a', 'b']", "True", "1j", "torch.tensor(1)",
    "(1, 'a')", "[1.5]", "torch.float32", "np.float32(1)", "[torch.ones(2), 3]",
)  # fmt: skip
KEYWORDS = ("foo", "dim", "axis", "keepdim", "out", "dtype", "input", "other", "size")
# PyTorch reads the data of this function before it unpacks the size.
DIFFERENT = {"sparse_coo_tensor"}
NEVER_CALLED = ("_cuda", "set_num_", "manual_seed", "set_flush_denormal", "autocast", "_make_subclass")


ROOT = Path(__file__).parents[2]


class Thing:
    pass


def place_of(name: str) -> str:
    """The expression that is called for a name of the table."""
    prefix = next(p for p in PLACES if name.startswith(p) and hasattr(_module(p), name[len(p) :]))
    return PLACES[prefix].format(name[len(prefix) :])


def _module(prefix: str) -> Any:
    return eval(PLACES[prefix].removesuffix(".{}"), {"torch": torch})


def wrong_calls(name: str, count: int, seed: int) -> Iterator[str]:
    """The arguments of wrong calls, as text."""
    r = random.Random(f"{seed} {name}")
    called, text = _table()[name]
    forms = {"-": ["()"], "o": ["(value)"]}.get(text, text.split("; "))
    for _ in range(count):
        signature = Signature(called, r.choice(forms))
        args, kwargs = _right(r, signature)
        how = r.choice(("kind", "kind", "kind", "few", "many", "keyword", "twice"))
        if how == "kind" and (args or kwargs):
            place = r.choice([*range(len(args)), *kwargs])
            (args if isinstance(place, int) else kwargs)[place] = r.choice(WRONG)  # type: ignore[index, call-overload]
        elif how == "few" and args:
            del args[r.randrange(len(args)) :]
        elif how == "twice" and args:
            kwargs[signature.params[0].name] = r.choice(WRONG)
        elif how == "keyword":
            kwargs[r.choice(KEYWORDS)] = r.choice(WRONG)
        else:
            args += [r.choice(WRONG) for _ in range(r.choice((1, 1, 2, 5)))]
        yield f"({', '.join([*args, *(f'{k}={v}' for k, v in kwargs.items() if not iskeyword(k))])})"


def _right(r: random.Random, signature: Signature) -> tuple[list[str], dict[str, str]]:
    args: list[str] = []
    kwargs: dict[str, str] = {}
    named = False
    for p in signature.params:
        if p.optional and r.random() < 0.6:
            named = True
            continue
        named = named or p.keyword_only or r.random() < 0.1
        value = r.choice(RIGHT.get(p.kind, ("'a'",)))
        if named:
            kwargs[p.name] = value
        else:
            args.append(value)
    return args, kwargs


def outcome(library: Any, text: str) -> Any:
    """What a call raises: its class and text, and whether Python raised it before the function was entered."""
    try:
        eval(compile(text, "<call>", "eval"), {"torch": library, "np": np, "Thing": Thing})
    except Exception as error:  # noqa: BLE001  it is compared
        trace: types.TracebackType | None = error.__traceback__
        entered = trace is not None and trace.tb_next is not None and trace.tb_next.tb_next is not None
        return type(error).__name__, str(error), entered
    return None


def compared(names: list[str], count: int, seed: int) -> Iterator[tuple[str, str, Any, Any]]:
    """How each call compares ("text", "parser", "accepted", "Python"), the call, and what both libraries raise."""
    given = "(lambda *args, **kwargs: (args, kwargs))"
    for name in names:
        for text in wrong_calls(name, count, seed):
            args, kwargs = eval(given + text, {"torch": wengert, "np": np, "Thing": Thing})
            said = refusal(name, args, kwargs)
            if not said:
                continue  # no call for the parser: not made
            call = place_of(name) + text
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                theirs, mine = outcome(torch, call), outcome(wengert, call)
            if theirs is None or theirs[:2] != ("TypeError", said):
                how = "parser"
            elif mine is None:
                how = "accepted"
            else:
                how = "" if mine[:2] == theirs[:2] else "text" if mine[2] else "Python"
            yield how, call, theirs, mine


def sample(prefix: str, step: int) -> list[str]:
    """Every ``step``-th name that begins so."""
    names = [n for n in _table() if not any(word in n for word in NEVER_CALLED) and _begins(n) == prefix]
    return sorted(set(names) - DIFFERENT)[::step]


def _begins(name: str) -> str:
    return next(p for p in PLACES if name.startswith(p))


@pytest.mark.parametrize(("prefix", "step", "count"), [(".", 2, 3), ("", 3, 3), ("linalg_", 1, 5), ("fft_", 1, 5),
                                                       ("special_", 1, 3), ("F.", 1, 5)])  # fmt: skip
def test_the_errors_of_wrong_calls_are_pytorchs(prefix: str, step: int, count: int) -> None:
    found = list(compared(sample(prefix, step), count, 1))
    number = collections.Counter(how for how, *_ in found)
    assert len(found) > 50
    wrong = [f"{call}\n    {theirs}\n    {mine}" for how, call, theirs, mine in found if how in ("parser", "text")]
    assert not wrong, "\n".join(wrong[:20])
    assert number["accepted"] <= len(found) * 0.02, number


def test_the_table_of_signatures_is_that_of_pytorch() -> None:
    done = subprocess.run([sys.executable, ROOT / "tools" / "make_signatures.py", "--check"], check=False, timeout=240)
    assert done.returncode == 0, "run python tools/make_signatures.py"


def main(seed: int, count: int) -> None:
    names = [name for prefix in PLACES for name in sample(prefix, 1)]
    number = collections.Counter[str]()
    for how, call, theirs, mine in compared(names, count, seed):
        number[how or "equal"] += 1
        if how in ("parser", "text"):
            sys.stdout.write(f"{how}: {call}\n    {theirs}\n    {mine}\n")
    sys.stdout.write(f"{dict(number)}\n")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
