"""The threads of compiled programs: their C, with loads and stores held up so that one order comes always."""

from __future__ import annotations

import ctypes
from importlib import resources

import pytest

from wengert._compile.c import compilers

pytestmark = pytest.mark.usefixtures("c_cache")

# A thread that has done its part of the first job looks for another just before the second job is announced.
_DRIVER = """
#include <stdint.h>
#include <stdatomic.h>
#include <pthread.h>
#include <sched.h>
#define EXPORT __attribute__((visibility("default")))
typedef int64_t i64;
typedef void (*part_t)(void **, i64, i64);
static atomic_int second, helped, announced, answered;
static __thread int main_thread;
static void at_load(void *), at_store(void *);
#define atomic_load(p) (at_load((void *)(p)), atomic_load_explicit(p, memory_order_seq_cst))
#define atomic_store(p, v) (at_store((void *)(p)), atomic_store_explicit(p, v, memory_order_seq_cst))
POOL
#undef atomic_load
#undef atomic_store
static void until(atomic_int *flag) { while (!*flag) sched_yield(); }
static void at_load(void *p) {
  if (main_thread || !helped) return;
  if (p == (void *)&next) until(&announced);
  if (p == (void *)&job && announced) answered = 1;
}
static void at_store(void *p) {
  if (main_thread && second && p == (void *)&next) { announced = 1; until(&answered); }
}
static void count(void **A, i64 from, i64 to) {
  atomic_int *hits = A[0];
  if (main_thread && !second) until(&helped);
  if (!main_thread && !second) helped = 1;
  if (!main_thread && announced) answered = 1;
  for (i64 i = from; i < to; i++) hits[i]++;
}
EXPORT int64_t wrong(void) {
  static atomic_int first[8], hits[8];
  void *A[] = {first}, *B[] = {hits};
  main_thread = 1;
  wengert_threads(2);
  wengert_parallel(count, A, 2, 1);
  second = 1;
  wengert_parallel(count, B, 8, 1);
  i64 found = 0;
  for (int i = 0; i < 8; i++) found += hits[i] != 1;
  return found;
}
"""


def test_a_late_thread_takes_no_part_of_the_next_job(tmp_path):
    pool = resources.files("wengert._compile.c").joinpath("pool.c").read_text(encoding="utf-8")
    path = str(tmp_path / "driver")
    assert compilers.compiled(compilers.compiler(), _DRIVER.replace("POOL", pool), path) is None
    assert ctypes.CDLL(path).wrong() == 0
