/* ---------------------------------------------------------------------------------- elements at places, running sums */
/* What is cut along a dim is (outer, n, inner), its index, which is in range, (outer, m, inner). */
/* sizes: n, m, inner; result, x, index: parts are rows (outer, m), or elements where inner is 1 */
#define PLACES_OF(T, name) ENTRY(name) { const i64 n = N(0), m = N(1), inner = N(2); \
  for (i64 q = from; q < to;) { const i64 k = q / m, end = (k + 1) * m < to ? (k + 1) * m : to; const T *x = P(T, 1) + k * n * inner; \
    if (inner == 1) { for (; q < end; q++) P(T, 0)[q] = x[P(i64, 2)[q]]; continue; } \
    for (; q < end; q++) { const i64 *at = P(i64, 2) + q * inner; T *o = P(T, 0) + q * inner; \
      for (i64 j = 0; j < inner; j++) o[j] = x[at[j] * inner + j]; } } }
PLACES_OF(uint8_t, take_along_1)
PLACES_OF(uint16_t, take_along_2)
PLACES_OF(uint32_t, take_along_4)
PLACES_OF(uint64_t, take_along_8)
/* sizes: rows of x, bytes of a row; result, x, index, whether a place is out of range: parts are rows of the result */
ENTRY(rows_at) { const i64 n = N(0), w = N(1); \
  for (i64 q = from; q < to; q++) { const i64 k = from_end(P(i64, 2)[q], n); \
    if (k < 0 || k >= n) { P(i64, 3)[0] = 1; return; } \
    char *o = P(char, 0) + q * w; const char *x = P(char, 1) + k * w; \
    if (w % 64 || w > 2048) memcpy(o, x, w); \
    else for (i64 j = 0; j < w; j += 64) for (int l = 0; l < 64; l += 4 * VL) *(vec_f *)(o + j + l) = *(const vec_f *)(x + j + l); } }
/* Additions are in the order of the index. sizes: n, m, inner; result, index, values: parts are blocks of COLUMNS of outer rows */
#define COLUMNS 16
#define PLACE_ENTRIES(s, T) \
ENTRY(add_along_##s) { const i64 n = N(0), m = N(1), inner = N(2), blocks = (inner + COLUMNS - 1) / COLUMNS; \
  for (i64 q = from; q < to;) { const i64 k = q / blocks, j = q % blocks * COLUMNS, last = to - k * blocks < blocks ? (to - k * blocks) * COLUMNS : inner; \
    T *o = P(T, 0) + k * n * inner; const i64 *at = P(i64, 1) + k * m * inner; const T *v = P(T, 2) + k * m * inner; q = (k + 1) * blocks; \
    if (inner == 1) { for (i64 i = 0; i < m; i++) o[at[i]] += v[i]; continue; } \
    for (i64 i = 0; i < m; i++) for (i64 c = j; c < last; c++) o[at[i * inner + c] * inner + c] += v[i * inner + c]; } } \
/* sizes: runs, elements of a run; result, index, values: parts are blocks of columns */ \
ENTRY(add_runs_##s) { const i64 m = N(0), w = N(1), j = from * COLUMNS, last = to * COLUMNS < w ? to * COLUMNS : w; const i64 *at = P(i64, 1); \
  if (w == 1) { T *o = P(T, 0); const T *v = P(T, 2); for (i64 i = 0; i < m; i++) o[at[i]] += v[i]; return; } \
  for (i64 i = 0; i < m; i++) { T *o = P(T, 0) + at[i] * w; const T *v = P(T, 2) + i * w; IVDEP for (i64 c = j; c < last; c++) o[c] += v[c]; } } \
/* sizes: runs, elements of a run, runs of the result, parts; result (zero first), index, values: parts are blocks of the result's runs */ \
ENTRY(sum_runs_##s) { const i64 m = N(0), w = N(1), low = from * N(2) / N(3), high = to * N(2) / N(3); const i64 *at = P(i64, 1); \
  memset(P(T, 0) + low * w, 0, (high - low) * w * sizeof(T)); \
  for (i64 i = 0; i < m; i++) { if (at[i] < low || at[i] >= high) continue; \
    T *o = P(T, 0) + at[i] * w; const T *v = P(T, 2) + i * w; IVDEP for (i64 c = 0; c < w; c++) o[c] += v[c]; } } \
/* Running sums or products in doubles. sizes: n, inner, whether of products, whether from the end; result, x: parts are \
   rows (several at once, since each waits for its own last) where inner is 1, else blocks of columns of outer rows */ \
INLINE void run_rows_##s(T *o, const T *x, const i64 n, const i64 step, const int rows, const int product, const i64 first, const i64 along) { \
  double t[8]; for (int r = 0; r < rows; r++) t[r] = product ? 1 : -0.0; \
  for (i64 i = 0, k = first; i < n; i++, k += along) for (int r = 0; r < rows; r++) { \
    const double v = x[k + r * step]; t[r] = product ? t[r] * v : t[r] + v; o[k + r * step] = (T)t[r]; } } \
ENTRY(running_##s) { const i64 n = N(0), inner = N(1); const int product = N(2), back = N(3); \
  if (inner == 1) { for (i64 q = from; q < to;) { const i64 k = q * n, first = back ? n - 1 : 0, along = back ? -1 : 1; \
      if (to - q < 4) { run_rows_##s(P(T, 0) + k, P(T, 1) + k, n, n, 1, product, first, along); q++; continue; } \
      if (product) run_rows_##s(P(T, 0) + k, P(T, 1) + k, n, n, 4, 1, first, along); else run_rows_##s(P(T, 0) + k, P(T, 1) + k, n, n, 4, 0, first, along); \
      q += 4; } \
    return; } \
  const i64 blocks = (inner + 255) / 256; double t[256]; \
  for (i64 q = from; q < to; q++) { const i64 k = q / blocks * n * inner + q % blocks * 256, w = inner - q % blocks * 256 < 256 ? inner - q % blocks * 256 : 256; \
    for (i64 c = 0; c < w; c++) t[c] = product ? 1 : -0.0; \
    for (i64 i = 0; i < n; i++) { const i64 at = k + (back ? n - 1 - i : i) * inner; T *o = P(T, 0) + at; const T *x = P(T, 1) + at; \
      if (product) { IVDEP for (i64 c = 0; c < w; c++) { t[c] *= x[c]; o[c] = (T)t[c]; } } \
      else { IVDEP for (i64 c = 0; c < w; c++) { t[c] += x[c]; o[c] = (T)t[c]; } } } } }
PLACE_ENTRIES(f, float) PLACE_ENTRIES(d, double)
