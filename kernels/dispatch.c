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
EXPORT i64 wengert_kernels_abi(void) { return 2; }
EXPORT const char *wengert_kernels_version(void) { return WENGERT_VERSION; }
EXPORT const char *wengert_kernels_variant(void) { if (!find) choose(); return chosen; }
EXPORT part_t wengert_kernels_find(const char *name) { if (!find) choose(); return find(name); }
EXPORT void wengert_kernels_run(part_t f, void **A, i64 total, i64 grain) {
  if (grain && total >= 2 * grain) wengert_parallel(f, A, total, grain); else if (total > 0) f(A, 0, total);
}
