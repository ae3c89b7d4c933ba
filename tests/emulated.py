"""C programs on another processor: compiled by another compiler, run in a process of its own, such as an emulator's.

``WENGERT_EMULATED='aarch64-linux-gnu-gcc|qemu-aarch64' python -m pytest tests/compile/c/test_operators.py`` runs each
test's programs so: what lies left of the bar compiles an executable, what lies right of it (maybe nothing) runs it.
``tests/arrays/test_kernels.py -k processor`` runs the compiled kernels of eager's large work so.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import pathlib
import re
import shlex
import struct
import subprocess
import sys
import tempfile
from typing import Any

import numpy as np

from wengert._arrays import compiled
from wengert._compile.c import cache, compilers, program

_DRIVER = r"""
#include <stdio.h>
static void *read_all(FILE *f, size_t n) {
  char *p = aligned_alloc(64, (n + 191) / 64 * 64);
  if (fread(p, 1, n, f) != n) exit(2);
  return p;
}
#define GEMM(s, T) \
  static void gemm_of_##s(int order, int ta, int tb, i64 m, i64 n, i64 k, T alpha, const T *a, i64 la, const T *b, \
                          i64 lb, T beta, T *c, i64 lc) { \
    if (order != 101) exit(3); \
    for (i64 i = 0; i < m; i++) for (i64 j = 0; j < n; j++) { \
      double t = 0; \
      for (i64 q = 0; q < k; q++) \
        t += (double)(ta == 111 ? a[i * la + q] : a[q * la + i]) * (tb == 111 ? b[q * lb + j] : b[j * lb + q]); \
      c[i * lc + j] = (T)(alpha * t) + (beta == 0 ? 0 : beta * c[i * lc + j]); } }
GEMM(f, float) GEMM(d, double)
"""
_MAIN = r"""
int main(int argc, char **argv) {
  FILE *f = fopen(argv[2], "rb"); i64 *head = read_all(f, 16), regions = head[0], entries = head[1];
  i64 *sizes = read_all(f, regions * 8), *table = read_all(f, entries * 16);
  char **at = calloc(regions, 8), **P = calloc(entries + 1, 8);
  for (i64 k = 0; k < regions; k++) at[k] = read_all(f, sizes[k]);
  for (i64 k = 0; k < entries; k++) P[k] = at[table[2 * k]] + table[2 * k + 1];
  fclose(f);
  gemm_f = gemm_of_f; gemm_d = gemm_of_d;
  switch (atoi(argv[1])) { CASES }
  f = fopen(argv[2], "wb");
  for (i64 k = 0; k < regions; k++) fwrite(at[k], 1, sizes[k], f);
  return fclose(f);
}
"""

# A kernel's name, the file, and the body that the kernel runs (or BLAS's product, whose address is its first size).
_KERNELS = r"""
void wengert_parallel(part_t f, void **A, i64 total, i64 grain) { f(A, 0, total); }
int main(int argc, char **argv) {
  FILE *f = fopen(argv[2], "rb"); i64 *head = read_all(f, 40), regions = head[0], entries = head[1];
  i64 *sizes = read_all(f, regions * 8), *table = read_all(f, entries * 16);
  void **A = calloc(entries + 2, 8); char **at = calloc(regions, 8);
  A[0] = read_all(f, head[2] * 8); A[1] = read_all(f, head[3] * 8);
  for (i64 k = 0; k < regions; k++) at[k] = read_all(f, sizes[k]);
  for (i64 k = 0; k < entries; k++) A[2 + k] = table[2 * k] < 0 ? 0 : at[table[2 * k]] + table[2 * k + 1];
  fclose(f);
  if (argc > 3) *(i64 *)A[0] = (i64)(intptr_t)find_plain(argv[3]);
  if (strstr(argv[1], "_steps_f") || strstr(argv[1], "_steps_back_f")) *(i64 *)A[0] = (i64)(intptr_t)gemm_of_f;
  if (strstr(argv[1], "_steps_d") || strstr(argv[1], "_steps_back_d")) *(i64 *)A[0] = (i64)(intptr_t)gemm_of_d;
  if (!strncmp(argv[1], "product_", 8) || !strncmp(argv[1], "heads_", 6)) {
    ((i64 *)A[0])[0] = (i64)(intptr_t)gemm_of_f; ((i64 *)A[0])[1] = (i64)(intptr_t)gemm_of_d; }
  const i64 half = head[4] / 2;
  if (half) find_plain(argv[1])(A, 0, half);
  find_plain(argv[1])(A, half, head[4]);
  f = fopen(argv[2], "wb");
  for (i64 k = 0; k < regions; k++) fwrite(at[k], 1, sizes[k], f);
  return fclose(f);
}
"""


class EmulatedKernels:
    """``compiled.Kernels`` whose kernels are processes."""

    variant = "emulated"

    def __init__(self, spec: str, folder: pathlib.Path) -> None:
        here = pathlib.Path(__file__).resolve().parent.parent
        environment = {**os.environ, "WENGERT_KERNELS": "0"}
        environment.pop("WENGERT_EMULATED", None)
        subprocess.run([sys.executable, str(here / "kernels/generate.py"), str(folder)], check=True, env=environment)
        compile_, _, run = spec.partition("|")
        text = (folder / "kernels.c").read_text()
        self.names = ["", *re.findall(r'^  \{"(\w+)", \w+\}', text, re.M)]
        (folder / "all.c").write_text(f"#define FIND find_plain\n{text}\n{_DRIVER}{_KERNELS}")
        flags = [flag for flag in compilers._FLAGS if flag not in ("-shared", "-fPIC")]
        command = [*shlex.split(compile_), *flags, "-static", str(folder / "all.c"), "-o", str(folder / "all"), "-lm"]
        subprocess.run(command, check=True)
        self.command = [*shlex.split(run), str(folder / "all")]

    def find(self, name: str) -> int | None:
        return self.names.index(name) if name in self.names else None

    def call(self, name: str, dtype: Any, total: int, size: int, sizes: Any, numbers: Any, *arrays: Any) -> None:
        self.run(self.names.index(f"{name}_{compiled.SUFFIX[dtype]}"), total, 1, sizes, numbers, *arrays)

    def run(self, kernel: int, total: int, grain: int, sizes: Any, numbers: Any, *arrays: Any) -> None:
        if total <= 0:
            return
        name, sizes = self.names[kernel], [int(n) for n in sizes]
        body = [self.names[sizes[0]]] if name == "spread" or name.startswith("sum_of_") else []
        merged: list[list[int]] = []
        for low, high in sorted(_bounds(a) for a in arrays if a is not None and a.size):
            if merged and low <= merged[-1][1]:
                merged[-1][1] = max(merged[-1][1], high)
            else:
                merged.append([low, high])
        table: list[int] = []
        for a in arrays:
            at = -1 if a is None or not a.size else a.__array_interface__["data"][0]
            k = next((k for k, (low, high) in enumerate(merged) if low <= at < high), -1)
            table += [k, at - merged[k][0] if k >= 0 else 0]
        lengths = [high - low for low, high in merged]
        head = [len(merged), len(arrays), len(sizes), len(numbers), total, *lengths, *table, *sizes]
        with tempfile.NamedTemporaryFile() as f:
            f.write(struct.pack(f"<{len(head)}q{len(numbers)}d", *head, *numbers))
            f.writelines(ctypes.string_at(low, n) for (low, _), n in zip(merged, lengths, strict=True))
            f.flush()
            subprocess.run([*self.command, name, f.name, *body], check=True, timeout=600)
            back = pathlib.Path(f.name).read_bytes()
        for (low, _), n in zip(merged, lengths, strict=True):
            ctypes.memmove(low, back[:n], n)
            back = back[n:]


def _bounds(a: Any) -> tuple[int, int]:
    """The first byte of an array and the one behind its last."""
    low = high = a.__array_interface__["data"][0]
    for n, s in zip(a.shape, a.strides, strict=True):
        low, high = low + min((n - 1) * s, 0), high + max((n - 1) * s, 0)
    return low, high + a.itemsize


class _Step:
    """A function of a program, as a process that is given all memory and gives it back."""

    def __init__(self, made: Any, number: int, executable: str, run: list[str]) -> None:
        self.made, self.number, self.command = made, number, [*run, executable, str(number)]

    def __call__(self, address: int) -> None:
        frame = _frames[address]
        spans = [(frame.memory.ctypes.data, frame.memory.ctypes.data + frame.memory.nbytes)]
        spans += [_bounds(ref()) for ref in frame.last if ref().size]
        for k, m in enumerate(self.made.memories):
            source = self.made._sources.get(m)
            if source is not None and hasattr(source, "array") and np.asarray(source.array).size:
                spans.append(_bounds(np.asarray(source.array)))
            elif source is None and m in self.made.roots:
                spans.append((frame.table[k], frame.table[k] + self.made.plan.values[m].nbytes))
        merged: list[list[int]] = []
        for low, high in sorted(spans):
            if merged and low <= merged[-1][1]:
                merged[-1][1] = max(merged[-1][1], high)
            else:
                merged.append([low, high])
        entries = []
        for pointer in frame.table[: len(self.made.memories)]:
            k = next((k for k, (low, high) in enumerate(merged) if low <= (pointer or 0) <= high), 0)
            entries += [k, (pointer or merged[0][0]) - merged[k][0]]
        sizes = [high - low for low, high in merged]
        head = struct.pack(f"<{2 + len(sizes) + len(entries)}q", len(sizes), len(entries) // 2, *sizes, *entries)
        with tempfile.NamedTemporaryFile() as f:
            f.write(head + b"".join(ctypes.string_at(low, n) for (low, _), n in zip(merged, sizes, strict=True)))
            f.flush()
            subprocess.run([*self.command, f.name], check=True, timeout=600)
            back = pathlib.Path(f.name).read_bytes()
        for (low, _), n in zip(merged, sizes, strict=True):
            ctypes.memmove(low, back[:n], n)
            back = back[n:]


_frames: dict[int, Any] = {}


def install(spec: str, folder: Any) -> None:
    """Let all programs from now on run as ``spec`` says."""
    compile_, _, run = spec.partition("|")
    load, init = program.CProgram._load, program._Frame.__init__

    def loaded(self: Any) -> None:
        load(self)
        cases = "".join(f"case {k}: run{k}(P); break; " for k, has in enumerate(self._runs) if has)
        text = f"{cache.runtime()}\n{self.source}\n{_DRIVER}{_MAIN.replace('CASES', cases)}"
        executable = str(folder / hashlib.sha256(text.encode()).hexdigest()[:20])
        pathlib.Path(executable + ".c").write_text(text)
        flags = [flag for flag in compilers._FLAGS if flag not in ("-shared", "-fPIC")]
        command = [*shlex.split(compile_), *flags, "-static", executable + ".c", "-o", executable, "-lm"]
        subprocess.run(command, check=True)
        numbers = iter([k for k, has in enumerate(self._runs) if has])
        self._steps = [
            s if isinstance(s, program.Call) else _Step(self, next(numbers), executable, shlex.split(run))
            for s in self._steps
        ]

    def framed(self: Any, made: Any) -> None:
        init(self, made)
        _frames[self.address] = self

    program.CProgram._load = loaded  # type: ignore[method-assign]
    program._Frame.__init__ = framed  # type: ignore[method-assign]
