"""What importing the package may load, and what it may cost."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.metadata import version

import numpy as np
import pytest


def modules_after(code: str) -> set[str]:
    """The modules that are loaded after a program ran in a fresh interpreter."""
    program = f"{code}\nimport sys, json; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout.splitlines()[-1]))


@pytest.fixture(scope="module")
def loaded() -> set[str]:
    return modules_after("import wengert")


@pytest.mark.parametrize(
    "name", ["scipy", "ml_dtypes", "torch", "jax", "matplotlib", "argparse", "unittest", "hypothesis", "threading"]
)
def test_stays_unloaded_until_it_is_needed(loaded: set[str], name: str) -> None:
    with_numpy = modules_after("import numpy")
    assert name in with_numpy or name not in loaded


def test_only_numpy_is_loaded_from_outside(loaded: set[str]) -> None:
    outside = {m.partition(".")[0] for m in loaded - modules_after("import numpy")} - set(sys.stdlib_module_names)
    outside = {m for m in outside if not m.startswith("__editable__") and m != "__mp_main__"}
    assert outside == {"wengert"}


@pytest.mark.parametrize("lock", [True, False])
def test_python_without_its_lock_is_warned_of(lock: bool) -> None:
    program = f"import sys; sys._is_gil_enabled = lambda: {lock}; import wengert"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ("wengert does not support Python without its global lock" in done.stderr) is not lock


def test_scipy_is_loaded_by_the_first_function_that_needs_it() -> None:
    one_ufunc, a_package = (
        any(m.startswith("scipy") for m in modules_after(f"import wengert; wengert.{call}"))
        for call in ("lgamma(wengert.ones(2))", "linalg.lu(wengert.eye(2))")
    )
    assert a_package
    assert one_ufunc is (np.lib.NumpyVersion(version("scipy")) < "1.14.0")  # whose functions need the package


def test_a_device_is_a_context_from_the_start() -> None:
    assert "wengert" in modules_after("import wengert\nwith wengert.device('cpu'): pass")


def test_the_modules_that_programs_import() -> None:
    program = """
import wengert as torch
import wengert.autograd, wengert.func, wengert.nn, wengert.nn.functional as F
import wengert.random, wengert.linalg, wengert.special
from wengert.autograd import Variable, Function
assert torch.autograd is wengert.autograd
assert torch.nn.functional is F
assert torch.autograd.Variable is Variable
"""
    assert "wengert.nn.functional" in modules_after(program)


@pytest.mark.parametrize("module", ["captured", "exported", "record", "running", "c.program"])
def test_a_module_of_the_compiler_may_be_imported_first(module: str) -> None:
    assert f"wengert._compile.{module}" in modules_after(f"import wengert._compile.{module}")


@pytest.mark.parametrize(("set_before", "seen"), [(None, "22"), ("9", "9")])
def test_openblas_waits_shortly_and_the_environment_is_left_alone(set_before: str | None, seen: str) -> None:
    modules_after(f"""
import os, sys
name, set_before = "OPENBLAS_THREAD_TIMEOUT", {set_before!r}
os.environ.pop(name, None)
if set_before is not None:
    os.environ[name] = set_before
seen = []

class Finder:
    def find_spec(self, module, path, target=None):
        if module == "numpy":
            seen.append(os.environ.get(name))

sys.meta_path.insert(0, Finder())
import wengert
assert seen == [{seen!r}], seen
assert os.environ.get(name) == set_before
""")


@pytest.mark.parametrize("enabled", [True, False])
def test_the_first_collection_after_the_import_does_not_walk_through_the_package(enabled: bool) -> None:
    modules_after(f"""
import gc, numpy
if not {enabled}:
    gc.disable()
frozen = gc.get_freeze_count()  # Python 3.12 and later freeze objects of their own
import wengert
assert gc.isenabled() is {enabled} and gc.get_freeze_count() == frozen
if {enabled} and not frozen:
    assert any(listed is wengert.__dict__ for listed in gc.get_objects(2))
""")


STATE = """
import gc, json, locale, logging, os, random, resource, signal, sys, threading, time, warnings
import numpy as np

def state():
    return {
        "environment": dict(os.environ), "path": list(sys.path), "meta_path": list(map(repr, sys.meta_path)),
        "hooks": [repr(h) for h in (sys.displayhook, sys.excepthook, sys.breakpointhook, sys.unraisablehook)],
        "signals": [repr(signal.getsignal(n)) for n in sorted(signal.valid_signals())],
        "collector": [gc.isenabled(), gc.get_threshold(), gc.get_debug(), gc.get_freeze_count(), len(gc.callbacks)],
        "threads": [threading.active_count(), threading.stack_size(), sys.getswitchinterval()],
        "limits": [sys.getrecursionlimit(), [resource.getrlimit(n) for n in range(8)]],
        "traces": [sys.gettrace(), sys.getprofile(), threading.gettrace(), threading.getprofile()],
        "random": [hash(random.getstate()), hash(str(np.random.get_state()))], "folder": os.getcwd(),
        "numpy": [np.geterr(), str(np.get_printoptions()), np.geterrcall()], "locale": locale.setlocale(locale.LC_ALL),
        "descriptors": sorted(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else [],
        "umask": (lambda mask: (mask, os.umask(mask)))(os.umask(0))[0], "zone": time.tzname,
        "logging": [logging.root.level, len(logging.root.handlers), logging.root.manager.disable],
        "streams": [repr(s) for s in (sys.stdin, sys.stdout, sys.stderr)],
        "filters": list(map(repr, warnings.filters)),
    }

before = state()
import wengert
after = state()
added = [f for f in after.pop("filters") if f not in before["filters"]]
lost = [f for f in before.pop("filters") if f not in list(map(repr, warnings.filters))]
print(json.dumps([[k for k in before if before[k] != after[k]], added, lost]))
"""


def test_the_import_changes_no_setting_but_a_filter_for_its_own_lines() -> None:
    """NumPy's warnings from lines of this package are nobody's; those of a program's own NumPy calls still come."""
    pytest.importorskip("resource")
    done = subprocess.run([sys.executable, "-c", STATE], capture_output=True, text=True, check=True)
    changed, added, lost = json.loads(done.stdout)
    assert (changed, lost) == ([], [])
    assert len(added) == 1 and "RuntimeWarning" in added[0] and "wengert" in added[0], added
    program = (
        "import sys, warnings\nimport wengert, numpy as np\nwith warnings.catch_warnings(record=True) as told:\n"
        "    warnings.simplefilter('always', append=True)\n    np.zeros(1) / np.zeros(1)\n"
        "    wengert.zeros(1) / wengert.zeros(1)\nprint(len(told), [w.category.__name__ for w in told])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "1 ['RuntimeWarning']\n"


@pytest.mark.parametrize("line", [*range(1, 66, 16), *range(68, 117, 4)])  # of 116 where this was written
def test_an_interrupt_while_methods_are_attached_leaves_them_usable(line: int) -> None:
    modules_after(f"""
import sys, wengert
from wengert._tensor_api import override_sites
from wengert._tensor_api.publish import place, settle

looked_at = {{f.__code__ for f in (place, settle, override_sites.add, override_sites._add)}}

x = wengert.tensor([3.0, 1.0, 2.0])
left = {line}

def trace(frame, event, arg):
    return inside if frame.f_code in looked_at else None

def inside(frame, event, arg):
    global left
    left -= event == "line"
    if not left:
        sys.settrace(None)
        raise KeyboardInterrupt
    return inside

sys.settrace(trace)
try:
    x.topk(2)
except KeyboardInterrupt:
    assert not left
sys.settrace(None)
assert x.topk(2).values.tolist() == [3.0, 2.0]
assert x.sort().values.tolist() == wengert.msort(x).tolist() == [1.0, 2.0, 3.0]
assert x.topk.__func__.__code__ is not wengert.topk.__code__
""")
