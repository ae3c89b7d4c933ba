"""What a first call takes: python tools/measure_first_calls.py [--together | --assembling] [runs] [text ...]

A fresh process for each call, after `import wengert` and its operands; bytecode caches warm, CPU time, the least of the
runs, the collector off. Behind it what no order of the package's modules can save, measured in the same process: to
find, read and unmarshal the bytecode of the modules that the call imported, NumPy's and SciPy's among them, to define
what they define (their code runs with nothing in the place of each thing that it imports, decorators among them), and
to compile the texts of the functions that it assembled, without assembling or running them. `text`: only calls with it
in their name.

`--together` calls all of them in one process instead, in a random order, as a program does that uses many: each process
has another order, and a call's figure is the median over the processes. The collector is on, as a program has it.

`--assembling` measures the function alone, for every operator: its recording function, method and backward step, each
as if it were the first of its shape, with all modules imported, in a random order; the least of the runs. The floor is
to compile its text.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from measure_import import environment

CALLS = """
x + y; x * 2.0; x == y; torch.exp(x); torch.relu(x); torch.sigmoid(x); torch.tanh(x); F.gelu(x); x.clamp(0, 1)
torch.where(x > 0, x, y); x.sum(); m.sum(1); m.mean(0); m.max(); m.max(1); m.argmax(1); m.amax(1); m.std(); m.var(1)
m.norm(); m.cumsum(1); m.sort(1); m.topk(2); m.view(12); m.reshape(4, 3); m.t(); m.transpose(0, 1); m.unsqueeze(0)
m.squeeze(); m.flatten(); torch.cat([x, y]); torch.stack([x, y]); m.chunk(2, 1); m[0]; m[:, 1]; m[i]; x[x > 0]
m.gather(1, j); m.index_select(0, i); m.masked_fill(m > 0, 0.0); m @ m.T; x.dot(y); torch.einsum('ij,j->i', m, x)
torch.linalg.inv(v); torch.linalg.svd(v); m.softmax(1); F.log_softmax(m, 1); F.cross_entropy(m, i); F.mse_loss(x, y)
F.dropout(x); F.layer_norm(m, (4,)); F.linear(m, m); F.conv2d(p, w); F.max_pool2d(p, 2); F.embedding(i, m)
torch.zeros(3); torch.arange(5); torch.tensor([1.0]); torch.rand(3); torch.randn(3); x.to(torch.float64); x.clone()
x.detach(); repr(x); x.tolist(); (z * z).sum().backward(); x.add_(y); x.copy_(y)
"""
OPERANDS = """
import gc, linecache, marshal, random, statistics, sys, time
import wengert as torch, wengert.nn.functional as F
x, y, z = torch.tensor([.5, .25, .75, .875]), torch.tensor([1., 2., 3., 4.]), torch.tensor([1., 2.], requires_grad=True)
m = torch.tensor([[.5, -1.25, 2., .75], [1.5, -.5, 3., .25], [-2., 1.25, .125, 1.]])
v = torch.tensor([[2., 1.], [0., 3.]])
i, j = torch.tensor([0, 2, 1]), torch.tensor([[0, 1, 2, 3]])
p, w = torch.tensor([[[[1.] * 4] * 4]]), torch.tensor([[[[1.] * 2] * 2]])
clock = time.thread_time
"""
FLOOR = """
import builtins
from importlib.machinery import PathFinder
from wengert._kinds.templates import _codes


class Nothing:
    # stands for whatever a module imports: it can be called, asked and iterated over, and does nothing
    def __call__(self, /, *args, **kwargs):
        return self

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def __setitem__(self, key, value):
        pass

    def __iter__(self):
        return iter(())

    def __mro_entries__(self, bases):
        return ()

    __getitem__ = __or__ = __ror__ = __and__ = __add__ = __radd__ = __sub__ = __mul__ = __call__


nothing = Nothing()
alone = {**vars(builtins), "__import__": lambda *_: nothing}


def define(code):
    try:
        exec(code, {"__builtins__": alone, "__name__": "module"})
    except Exception:  # what needs more than nothing ends it, and the floor is lower than it could be
        pass


def known():
    return set(sys.modules), set(_codes)


def floor(modules, codes):
    specs = [s for name in modules if (s := getattr(sys.modules[name], "__spec__", None)) and s.cached]
    texts = ["".join(linecache.getlines(_codes[key].co_filename)) for key in codes]
    begun = clock()
    for spec in specs:
        package = spec.parent if spec.submodule_search_locations is None else spec.name.rpartition(".")[0]
        PathFinder.find_spec(spec.name, getattr(sys.modules.get(package), "__path__", None))
        with open(spec.cached, "rb") as file:
            define(marshal.loads(file.read()[16:]))
    for text in texts:
        compile(text, "text", "exec")
    return clock() - begun


def first(call):
    modules, codes = known()
    begun = clock()
    call()
    return clock() - begun, sys.modules.keys() - modules, _codes.keys() - codes
"""
ALONE = (
    OPERANDS
    + FLOOR
    + """
call = eval("lambda: " + sys.argv[1])
gc.collect()
gc.disable()
taken, modules, codes = first(call)
least = floor(modules, codes)
begun = clock()
call()
print(taken, least, clock() - begun, len(modules), len(codes))
"""
)
TOGETHER = (
    OPERANDS
    + FLOOR
    + """
calls = [(text, eval("lambda: " + text)) for text in sys.argv[2:]]
random.Random(int(sys.argv[1])).shuffle(calls)
taken = {text: first(call) for text, call in calls}
for text in sys.argv[2:]:
    seconds, modules, codes = taken[text]
    print(seconds, floor(modules, codes))
"""
)
ASSEMBLING = (
    OPERANDS
    + """
import wengert._ops
from wengert._base.registry import REGISTRY
from wengert._kinds.templates import _codes, first_call_of
wengert._ops.load_all()
functions = {}
for name, info in REGISTRY.items():
    for what in ("op", "method", "node.backward"):
        part = info
        for attribute in what.split("."):
            part = getattr(part, attribute, None)
        found = first_call_of(part)
        if found is not None and found.made is None:
            functions.setdefault(id(found), (name + " " + what, found))
found = list(functions.values())
random.Random(int(sys.argv[1])).shuffle(found)  # the first of a process fills CPython's own caches
gc.collect()
gc.disable()
for name, each in found:
    _codes.clear()
    begun = clock()
    each.put_together()
    taken = clock() - begun
    text = "".join(linecache.getlines(each.made.__code__.co_filename))
    begun = clock()
    compile(text, "text", "exec")
    print(taken, clock() - begun, name, sep="|")
"""
)


def assembling(runs: int) -> None:
    """Print what it takes to put each function together: those above 1 ms, and a summary."""
    least: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as cache:
        for run in range(runs):
            for line in printed(cache, ASSEMBLING, str(run)).splitlines():
                *figures, name = line.split("|")
                known = least.setdefault(name, [1.0, 1.0])
                known[:] = map(min, known, map(float, figures))
    rows = sorted((taken, floor, name) for name, (taken, floor) in least.items())
    for taken, floor, name in rows:
        if taken > 1e-3:
            print(f"{taken * 1e3:7.2f} ms, floor {floor * 1e3:6.2f}  {name}")
    print(summary(rows))


def printed(cache: str, program: str, *arguments: str) -> str:
    """What a program prints in a fresh process."""
    command = [sys.executable, "-c", program, *arguments]
    return subprocess.run(command, env=environment(cache), capture_output=True, text=True, check=True).stdout


def measured(cache: str, program: str, *arguments: str) -> tuple[float, ...]:
    """The figures that a program prints in a fresh process."""
    return tuple(map(float, printed(cache, program, *arguments).split()))


def together(wanted: list[str], runs: int) -> None:
    """Print the median first call of each text over `runs` processes that call all of them."""
    with tempfile.TemporaryDirectory() as cache:
        measured(cache, TOGETHER, "0", *wanted)  # fills the cache of bytecode
        orders = [measured(cache, TOGETHER, str(order), *wanted) for order in range(runs)]
    firsts, floors = (list(zip(*(order[k::2] for order in orders), strict=True)) for k in (0, 1))
    rows = sorted(zip(map(statistics.median, firsts), map(statistics.median, floors), wanted, strict=True))
    for first, least, call in rows:
        print(f"{first * 1e3:7.2f} ms, floor {least * 1e3:6.2f}  {call}")
    first, least = (statistics.median(map(sum, zip(*figures, strict=True))) * 1e3 for figures in (firsts, floors))
    print(f"{summary(rows)}; all together in one process {first:.0f} ms, floor {least:.0f} ms")


def summary(rows: list[tuple[float, float, str]]) -> str:
    """One line about the first calls: (seconds, floor, call) each."""
    first, least = (statistics.median(row[k] for row in rows) * 1e3 for k in (0, 1))
    over = [least for first, least, _ in rows if first > 1e-3]
    return (
        f"median of {len(rows)}: {first:.2f} ms, floor {least:.2f} ms; within 1 ms: {len(rows) - len(over)}; "
        f"of the others {sum(least > 1e-3 for least in over)} have a floor above it"
    )


def main() -> None:
    arguments = [argument for argument in sys.argv[1:] if not argument.startswith("--")]
    runs = int(arguments[0]) if arguments else 3
    if "--assembling" in sys.argv[1:]:
        assembling(runs)
        return
    calls = [call.strip() for call in CALLS.replace("\n", ";").split(";")]
    wanted = [call for call in calls if call and (not arguments[1:] or any(text in call for text in arguments[1:]))]
    if "--together" in sys.argv[1:]:
        together(wanted, runs)
        return
    with tempfile.TemporaryDirectory() as cache:
        for call in wanted:
            measured(cache, ALONE, call)  # fills the cache of bytecode
        rows = sorted((min(measured(cache, ALONE, call) for _ in range(runs)), call) for call in wanted)
    for (first, least, second, modules, texts), call in rows:
        read = f"{modules:3.0f} modules, {texts:1.0f} texts"
        print(f"{first * 1e3:7.2f} ms, floor {least * 1e3:6.2f}, {read}, then {second * 1e6:5.0f} µs  {call}")
    print(summary([(first, least, call) for (first, least, *_), call in rows]))


if __name__ == "__main__":
    main()
