/* What the library shows: the kernels of the widest vectors that this processor has, by name, and the threads. */
static part_t (*find)(const char *);
static const char *chosen;
static part_t find_none(const char *name) { return 0; }
#ifdef PLAIN
part_t find_plain(const char *);
static void choose(void) { find = find_plain; chosen = "this processor"; }
#else
part_t find_v2(const char *), find_v3(const char *), find_v4(const char *);
#define HAS(feature) __builtin_cpu_supports(feature)
static void choose(void) { /* WENGERT_KERNELS_VARIANT: at most 2, 3 or 4 */
  const char *given = getenv("WENGERT_KERNELS_VARIANT"); const int most = given ? atoi(given) : 4;
  __builtin_cpu_init();
  if (most >= 4 && HAS("avx512f") && HAS("avx512bw") && HAS("avx512cd") && HAS("avx512dq") && HAS("avx512vl")) { find = find_v4; chosen = "x86-64-v4"; }
  else if (most >= 3 && HAS("avx2") && HAS("fma") && HAS("bmi2")) { find = find_v3; chosen = "x86-64-v3"; }
  else if (HAS("sse4.2")) { find = find_v2; chosen = "x86-64-v2"; }
  else { find = find_none; chosen = "none for this processor"; }
}
#endif
EXPORT i64 wengert_kernels_abi(void) { return 4; }
EXPORT const char *wengert_kernels_version(void) { return WENGERT_VERSION; }
EXPORT const char *wengert_kernels_variant(void) { if (!find) choose(); return chosen; }
EXPORT part_t wengert_kernels_find(const char *name) { if (!find) choose(); return find(name); }
EXPORT void wengert_kernels_run(part_t f, i64 total, i64 grain, void *sizes, void *numbers, void **arrays, i64 count) {
  void *A[32] = {sizes, numbers}; for (i64 k = 0; k < count && k < 30; k++) A[2 + k] = arrays[k];
  if (grain && total >= 2 * grain) wengert_parallel(f, A, total, grain); else if (total > 0) f(A, 0, total);
}

/* A ufunc's loop whose elements the threads share; ``data`` says which, and from how many on. What is added up (the result
   does not move) or runs on (the result is one element behind an operand) stays whole. */
typedef void (*loop_t)(char **, const intptr_t *, const intptr_t *, void *);
typedef struct { loop_t loop; void *data; i64 operands, least; } shared_t;
#define UNIT 1024 /* elements: parts begin where vectors do */
static void some(void **A, i64 from, i64 to) {
  const shared_t *s = A[0]; char **all = A[1], *args[8]; const intptr_t *steps = A[2], n = *(const intptr_t *)A[3];
  const intptr_t first = from * UNIT, count = (to * UNIT < n ? to * UNIT : n) - first;
  for (i64 k = 0; k < s->operands; k++) args[k] = all[k] + first * steps[k];
  s->loop(args, &count, steps, s->data);
}
EXPORT void wengert_kernels_loop(char **args, const intptr_t *n, const intptr_t *steps, void *data) {
  const shared_t *s = data; const i64 last = s->operands - 1;
  if (*n < s->least || !steps[last] || args[last] - args[0] == steps[last]) { s->loop(args, n, steps, s->data); return; }
  void *A[] = {data, args, (void *)steps, (void *)n};
  wengert_parallel(some, A, (*n + UNIT - 1) / UNIT, s->least / (2 * UNIT));
}
