"""From which size compiled kernels pay: `python tools/measure_kernels.py`, where ``wengert-kernels`` are installed.

Each work runs with kernels and without them in turns, on one thread, and the least CPU time of many rounds counts. The
table has the ratio of the two by the number of elements, and the bound in the source: ``LEAST`` or ``FEWEST`` of
``_arrays/compiled.py``, or what ``with_kernel`` was given. Below its bound no kernel is asked for: here all are 1.

With ``--works NAME ...`` (none: all) the works of ``benchmarks`` run so, in turns with PyTorch: the ratios to it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from time import process_time
from typing import Any

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")

import numpy as np

import wengert as torch
import wengert.nn.functional as F
from wengert._arrays import compiled

if (found := compiled.kernels()) is None:
    raise SystemExit("wengert-kernels is not installed: python -m pip install ./kernels")

ON = [True]
compiled.kernels = lambda: found if ON[0] else None  # type: ignore[assignment]
SIZES = [1 << k for k in range(9, 19)]


def works(n: int) -> dict[str, tuple[str, Callable[[], Any]]]:
    """Each kernel's work on about n elements; its name in ``compiled.bounds``."""
    random = np.random.RandomState(0)
    columns = min(n, 128)
    x = torch.from_numpy(random.uniform(-1, 1, (n // columns, columns)).astype("f"))
    at = torch.from_numpy(random.randint(0, columns, x.shape))
    t = torch.from_numpy(random.randint(0, columns, len(x)))
    image = x.reshape(-1, 8, 8, 8) if n >= 512 else x.reshape(1, 1, 8, -1)
    channels = image.shape[1]
    weight = torch.ones(channels, channels, 3, 3)
    sequence = x.reshape(8, -1, 32) if n >= 256 else x.reshape(1, 1, -1)
    square = x.reshape(-1)[: int(n**0.5) ** 2].reshape(int(n**0.5), -1)
    heads = x.reshape(1, 4, -1, 16) if n >= 64 else x.reshape(1, 1, 1, -1)
    layers = {kind: getattr(torch.nn, kind)(sequence.shape[2], 32) for kind in ("LSTM", "GRU", "RNN")}
    return {
        "softmax": ("compiled_rows.filled", lambda: x.softmax(1)),
        "log sum exp": ("compiled_rows.log_sum_exp", lambda: x.logsumexp(1)),
        "cross entropy": ("compiled_rows.cross_entropies", lambda: F.cross_entropy(x, t)),
        "layer norm": ("compiled_rows.normalized", lambda: F.layer_norm(x, (columns,))),
        "group norm": ("compiled_rows.normalized", lambda: F.group_norm(image, 2 if channels > 1 else 1)),
        "batch norm": ("compiled_rows.channels", lambda: F.batch_norm(image, None, None, training=True)),
        "sum": ("compiled_rows.whole_sum", x.sum),
        "sums of rows": ("compiled_rows.row_sums", lambda: x.sum(1)),
        "gather": ("compiled_places.read_along", lambda: x.gather(1, at)),
        "scatter_add": ("compiled_places.add_along", lambda: x.scatter_add(1, at, x)),
        "index_add": ("compiled_places.add_rows", lambda: x.index_add(0, t % len(x), x)),
        "cumsum": ("compiled_places.running", lambda: x.cumsum(1)),
        "max pool": ("compiled_windows.window_maxima", lambda: F.max_pool2d(image, 2)),
        "adaptive pool": ("compiled_windows.part_means", lambda: F.adaptive_avg_pool2d(image, (3, 2))),
        "product": ("compiled_products.product", lambda: square @ square),
        "attention": ("compiled_products.attended", lambda: F.scaled_dot_product_attention(heads, heads, heads)),
        "few outputs": ("compiled_windows.convolve", lambda: F.conv2d(image, weight[:3], padding=1)),
        "convolution": ("compiled_windows.convolve", lambda: F.conv2d(image, weight, padding=1)),
        **{kind: (f"compiled_steps.{kind.lower()}_steps", lambda kind=kind: layers[kind](sequence)) for kind in layers},
    }


def ratio(work: Callable[[], Any], rounds: int = 15) -> float:
    """The CPU time with kernels over that without."""
    compiled.bounds.update(dict.fromkeys(compiled.bounds, 1))
    best = {True: float("inf"), False: float("inf")}
    ON[0] = True
    work()
    begin = process_time()
    work()
    count = max(1, int(5e-4 / max(process_time() - begin, 1e-6)))
    for _ in range(rounds):
        for on in (True, False):
            ON[0] = on
            begin = process_time()
            for _ in range(count):
                work()
            best[on] = min(best[on], process_time() - begin)
    return best[True] / best[False]


def beside_torch(only: list[str]) -> None:
    """Print the ratios of the benchmarks' medium and large works to PyTorch, without kernels and with them."""
    import math
    from pathlib import Path

    import torch as theirs

    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
    from benchmarks.libs.torch_api import Torch, Wengert
    from benchmarks.works import works as all_works

    theirs.set_num_threads(1)
    for module in [m for name, m in list(sys.modules.items()) if name.startswith("wengert")]:
        if getattr(vars(module).get("kernels"), "__name__", "") == "kernels":
            module.kernels = compiled.kernels  # type: ignore[attr-defined]
    sides, logs = (Torch(), Wengert()), []
    for work in all_works(False):
        if work.group not in ("medium", "large") or work.method == "loader":
            continue
        if only and not any(word in work.name for word in only):
            continue
        torchs, ours = (getattr(side, work.method)(**work.arguments).call for side in sides)
        best = dict.fromkeys(("torch", "numpy", "kernels"), float("inf"))
        end = process_time() + 1.2
        while process_time() < end:
            for name in best:
                ON[0], call = name == "kernels", torchs if name == "torch" else ours
                for _ in range(3):  # the first of a turn finds other arrays in the caches
                    begin = process_time()
                    call()
                    best[name] = min(best[name], process_time() - begin)
        ratios = [best[name] / best["torch"] for name in ("numpy", "kernels")]
        logs.append([math.log(r) for r in ratios])
        print(f"| {work.name} | {ratios[0]:.2f} | {ratios[1]:.2f} |", flush=True)
    means = [math.exp(sum(column) / len(logs)) for column in zip(*logs, strict=True)]
    print(f"| geometric mean of {len(logs)} works | {means[0]:.2f} | {means[1]:.2f} |")


def main() -> None:
    """Print the table."""
    if sys.argv[1:2] == ["--works"]:
        beside_torch(sys.argv[2:])
        return
    only, given = sys.argv[1:], {}
    print(f"{'elements':16}" + "".join(f"{n:>8}" for n in SIZES) + "   bound")
    for name, (kernel, _) in works(SIZES[0]).items():
        if not only or any(word in name for word in only):
            works(SIZES[-1])[name][1]()  # imports what it needs
            given.update({k: bound for k, bound in compiled.bounds.items() if bound > 1})
            cells = "".join(f"{ratio(works(n)[name][1]):8.2f}" for n in SIZES)
            print(f"{name:16}{cells}{given[kernel]:8}", flush=True)


if __name__ == "__main__":
    main()
