"""The index of names: `import wengert` imports no operator module, and every name is found where the index says."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import wengert as torch
from wengert._base.registry import PUBLIC, REGISTRY
from wengert._ops.index_of_names import INDEX

ROOT = Path(__file__).resolve().parents[2]


def python(program: str) -> str:
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_the_index_is_up_to_date() -> None:
    if not (ROOT / "tools").is_dir():
        pytest.skip("an installed package")
    done = subprocess.run([sys.executable, str(ROOT / "tools" / "make_index.py"), "--check"], check=False, timeout=120)
    assert done.returncode == 0, "run python tools/make_index.py"


def test_importing_imports_no_operator() -> None:
    imported = python(
        "import sys, wengert, wengert.nn, wengert.optim\n"
        "print(*sorted(m for m in sys.modules if m.startswith('wengert._ops.')))"
    )
    assert imported == "wengert._ops.index_of_names"


def test_a_from_import_brings_its_modules_only() -> None:
    """``from`` asks a module for ``__path__``; the search for an unknown name imports everything."""
    program = (
        "import sys; from wengert.linalg import norm; from wengert.fft import fft; from wengert.special import erf\n"
        "print(len([m for m in sys.modules if m.startswith('wengert._ops.')]))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 50


def test_a_method_an_operator_and_a_function_bring_their_modules() -> None:
    assert python("import wengert as t; print((t.tensor([1.0]) + 1).sort().values.item())") == "2.0"
    assert python("import wengert as t; x = t.tensor([2.0]); x.real = t.tensor([3.0]); print(x.item())") == "3.0"
    assert python("import wengert as t; print(t.Tensor.logsumexp.__name__, hasattr(t.Tensor, 'nothing'))") == (
        "logsumexp False"
    )
    assert python("import wengert.nn.functional as F; print(F.relu.__name__, 'gelu' in dir(F))") == "relu True"


def test_what_comes_late_is_overridden_all_the_same() -> None:
    program = (
        "import wengert as t\n"
        "from wengert.overrides import TorchFunctionMode, resolve_name\n"
        "seen = []\n"
        "class Mode(TorchFunctionMode):\n"
        "    def __torch_function__(self, func, types, args=(), kwargs=None):\n"
        "        seen.append(func)\n"
        "        return func(*args, **(kwargs or {}))\n"
        "x = t.tensor([[1.0]])\n"
        "with Mode():\n"
        "    x.mT; x.itemsize; x.logsumexp(0); t.special.i0e(x); t.numel(x)\n"
        "print(*map(resolve_name, seen))"
    )
    assert python(program) == (
        "torch.Tensor.mT.__get__ torch.Tensor.itemsize.__get__ torch.Tensor.logsumexp torch.special.i0e torch.numel"
    )


def test_what_is_not_there_is_an_error() -> None:
    with pytest.raises(AttributeError, match=r"module 'wengert\.linalg' has no attribute 'nothing'"):
        torch.linalg.nothing
    assert not hasattr(torch, "nothing_of_this_name")


def test_a_name_that_the_index_does_not_hold_is_found() -> None:
    program = (
        "from wengert._ops import index_of_names\n"
        "for groups in index_of_names.INDEX.values():\n"
        "    groups['torch'] = groups.get('torch', '').replace(' logaddexp', ' ')\n"
        "from wengert._base.registry import PUBLIC\n"
        "PUBLIC['torch'].home.pop('logaddexp')\n"
        "import wengert\n"
        "print(wengert.submodule('logaddexp').__name__)"
    )
    assert python(program) == "logaddexp"


def test_tables_read_as_a_whole_are_complete() -> None:
    assert {"mul", "fft_c2c", "nll"} <= set(REGISTRY) | {"fft_c2c"}
    names = {name for groups in INDEX.values() for name in groups.get("torch", "").split()}
    assert names <= set(PUBLIC["torch"].keys())
    assert len(REGISTRY) == len(list(REGISTRY))


def test_an_interrupted_first_use_does_no_harm() -> None:
    """Ctrl-C while a first use imports an operator module: the next use imports it again, whole."""
    program = """
import wengert as torch
from wengert._kinds import declare
register, seen = declare.register, []

def interrupted(info):
    register(info)
    seen.append(info.name)
    if len(seen) == 4:
        raise KeyboardInterrupt

declare.register = interrupted
x = torch.tensor([1., 2.])
for use in (lambda: x.exp(), lambda: len(torch.__all__) and list(__import__("wengert")._base.registry.REGISTRY)):
    try:
        use()
    except KeyboardInterrupt:
        print("interrupted")
    declare.register = register
print((x * 0).exp().tolist(), (x * x + x.sum()).tolist(), torch.linalg.det(torch.eye(2)).item())
"""
    assert python(program) == "interrupted\n[1.0, 1.0] [4.0, 7.0] 1.0"


def test_a_name_is_found_although_another_thread_took_its_function_from_the_list() -> None:
    program = """
import wengert as torch
from wengert._base.registry import places, publish

def twice(x): return x + x

publish(twice, "torch._twice Tensor._twice")
places.pop(id(twice))
print(torch._twice is twice, torch.ones(1)._twice())
"""
    assert python(program) == "True tensor([2.])"


def test_threads_may_use_a_function_first_at_the_same_time() -> None:
    """Modules are imported and methods attached while other threads do the same."""
    program = '''
import random, sys, threading
import wengert as torch, wengert.nn.functional as F

sys.setswitchinterval(1e-6)
x, rows = torch.rand(3, 4), torch.tensor([0, 2, 1])
calls = """torch.std(x); x.std(); x.topk(2); torch.topk(x, 2); F.softmax(x, 1); x.softmax(1); x.logsumexp(0); x.median()
torch.median(x, 1); x.unfold(0, 2, 1); torch.linalg.inv(x[:, :3]); torch.fft.fft(x); x.mT; torch.special.i0e(x)
x.roll(1); torch.roll(x, 1); x.var(0); x.gather(1, rows[:, None]); torch.einsum("ij->j", x)"""
calls = calls.replace("\\n", ";").split(";")
together, failed = threading.Barrier(8), []

def run(k):
    mine = random.Random(k).sample(calls, len(calls)) if k % 2 else calls
    together.wait()
    for call in mine:
        try:
            eval(call.strip())
        except Exception as error:
            failed.append((call, repr(error)))

threads = [threading.Thread(target=run, args=(k,)) for k in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(failed)
'''
    assert [python(program) for _ in range(3)] == ["[]"] * 3


def test_an_import_of_operators_leaves_the_collector_as_it_was() -> None:
    """Its functions are not looked at: they go to the oldest generation, behind the program's own garbage."""
    program = (
        "import gc, weakref, wengert as torch\n"
        "class Cycle: pass\n"
        "c = Cycle(); c.own = c; gone = weakref.ref(c); del c\n"
        "torch.ones(3).std()\n"
        "print(gone() is None, gc.isenabled(), gc.get_freeze_count())\n"
        "gc.freeze(); frozen = gc.get_freeze_count()\n"
        "torch.ones(3).cumsum(0); gc.disable(); torch.fft.fft(torch.ones(3))\n"
        "print(gc.get_freeze_count() > frozen * 0.9 > 0, gc.isenabled())"
    )
    assert python(program).split() == ["True", "True", "0", "True", "False"]
