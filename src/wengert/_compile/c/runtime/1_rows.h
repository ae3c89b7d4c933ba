/* ---------------------------------------------------------------------------------------------- rows: softmax, norms */
#define ROW_FUNCTIONS(s, T) \
static __attribute__((noinline, unused)) T row_max_##s(const T *x, i64 n) { \
  T m = -INFINITY; int bad = 0; \
  PRAGMA(omp simd reduction(max:m) reduction(|:bad)) \
  for (i64 j = 0; j < n; j++) { m = x[j] > m ? x[j] : m; bad |= x[j] != x[j]; } \
  return bad ? (T)NAN : m; } \
ROWS softmax_##s(T *o, const T *x, i64 rows, i64 n) { \
  for (i64 i = 0; i < rows; i++, x += n, o += n) { \
    const T m = row_max_##s(x, n); \
    IVDEP for (i64 j = 0; j < n; j++) o[j] = exp_##s(x[j] - m); \
    const T r = 1 / (T)sum_##s(o, n); \
    for (i64 j = 0; j < n; j++) o[j] *= r; } } \
ROWS softmax_back_##s(T *o, const T *g, const T *y, i64 rows, i64 n) { \
  for (i64 i = 0; i < rows; i++, g += n, y += n, o += n) { \
    const T t = (T)dot_##s(g, y, n); IVDEP for (i64 j = 0; j < n; j++) o[j] = y[j] * (g[j] - t); } } \
ROWS log_softmax_##s(T *o, const T *x, i64 rows, i64 n) { \
  for (i64 i = 0; i < rows; i++, x += n, o += n) { \
    const T m = row_max_##s(x, n); \
    IVDEP for (i64 j = 0; j < n; j++) o[j] = exp_##s(x[j] - m); \
    const T l = (T)log(sum_##s(o, n)); \
    IVDEP for (i64 j = 0; j < n; j++) o[j] = (x[j] - m) - l; } } \
ROWS log_softmax_back_##s(T *o, const T *g, const T *y, i64 rows, i64 n) { \
  for (i64 i = 0; i < rows; i++, g += n, y += n, o += n) { \
    const T t = (T)sum_##s(g, n); IVDEP for (i64 j = 0; j < n; j++) o[j] = g[j] - exp_##s(y[j]) * t; } } \
ROWS nll_log_softmax_back_##s(T *o, const T *y, const i64 *t, i64 rows, i64 n, i64 ignored, T g) { \
  for (i64 i = 0; i < rows; i++, y += n, o += n) { const T h = t[i] == ignored ? 0 : g; \
    IVDEP for (i64 j = 0; j < n; j++) o[j] = exp_##s(y[j]) * h; \
    if (t[i] != ignored && t[i] >= 0 && t[i] < n) o[t[i]] -= g; } } \
ROWS norm_rows_##s(T *o, const T *x, const T *w, const T *b, i64 rows, i64 n, double eps) { \
  for (i64 i = 0; i < rows; i++, x += n, o += n) { \
    const T m = (T)(sum_##s(x, n) / n), r = (T)(1.0 / sqrt(squares_##s(x, n, m) / n + eps)); \
    if (w && b) { IVDEP for (i64 j = 0; j < n; j++) o[j] = (x[j] - m) * r * w[j] + b[j]; } \
    else if (w) { IVDEP for (i64 j = 0; j < n; j++) o[j] = (x[j] - m) * r * w[j]; } \
    else { IVDEP for (i64 j = 0; j < n; j++) o[j] = (x[j] - m) * r; } } } \
ROWS norm_rows_back_##s(T *o, const T *g, const T *x, i64 rows, i64 n, double eps) { \
  for (i64 i = 0; i < rows; i++, x += n, g += n, o += n) { \
    const T m = (T)(sum_##s(x, n) / n); const double v = 1.0 / sqrt(squares_##s(x, n, m) / n + eps); \
    const T r = (T)v, a = (T)(sum_##s(g, n) / n), c = (T)(dot_off_##s(g, x, n, m) * v * v / n); \
    IVDEP for (i64 j = 0; j < n; j++) o[j] = (g[j] - a - (x[j] - m) * c) * r; } } \
/* and with weights: blocks from..to of rows; the sums of g * (x - m) * r and of g over a block's rows go to its part */ \
ROWS norm_rows_all_back_##s(T *o, T *part, const T *g, const T *x, const T *w, i64 rows, i64 n, i64 block, double eps, i64 from, i64 to) { \
  for (i64 b = from; b < to; b++) { T *A = part + b * 2 * n, *B = A + n; memset(A, 0, 2 * n * sizeof(T)); \
    for (i64 i = b * block; i < rows && i < (b + 1) * block; i++) { \
      const T *xi = x + i * n, *gi = g + i * n; T *oi = o + i * n; \
      const T m = (T)(sum_##s(xi, n) / n); const double v = 1.0 / sqrt(squares_##s(xi, n, m) / n + eps); \
      double t[2]; weighted_##s(xi, gi, w, n, m, t); \
      const T r = (T)v, a = (T)(t[0] / n), c = (T)(t[1] * v * v / n); \
      IVDEP for (i64 j = 0; j < n; j++) { const T d = xi[j] - m, h = gi[j]; A[j] += h * (d * r); B[j] += h; oi[j] = (h * w[j] - a - d * c) * r; } } } } \
/* channels from..to of (N, C, L), over N and L */ \
static __attribute__((noinline, unused)) void channel_moments_##s(const T *x, i64 N, i64 C, i64 L, i64 c, T *mean, double *variance) { \
  double t = 0, q = 0; for (i64 n = 0; n < N; n++) t += sum_##s(x + (n * C + c) * L, L); \
  const T m = (T)(t / (N * L)); for (i64 n = 0; n < N; n++) q += squares_##s(x + (n * C + c) * L, L, m); \
  *mean = m; *variance = q / (N * L); } \
/* normalized; then, if asked for, with another array added and negative numbers 0 */ \
INLINE void norm_channels_some_##s(T *o, T *mean, T *variance, const T *x, const T *w, const T *b, const T *more, int relu, i64 N, i64 C, i64 L, double eps, i64 from, i64 to) { \
  for (i64 c = from; c < to; c++) { T m; double v; channel_moments_##s(x, N, C, L, c, &m, &v); \
    if (mean) { mean[c] = m; variance[c] = (T)v; } \
    const T r = (T)(1.0 / sqrt(v + eps)), f = w ? r * w[c] : r, d = b ? b[c] : 0; \
    for (i64 n = 0; n < N; n++) { const i64 k = (n * C + c) * L; const T *p = x + k; T *q = o + k; \
      if (relu && more) { IVDEP for (i64 j = 0; j < L; j++) q[j] = relu_##s((p[j] - m) * f + d + more[k + j]); } \
      else if (relu) { IVDEP for (i64 j = 0; j < L; j++) q[j] = relu_##s((p[j] - m) * f + d); } \
      else { IVDEP for (i64 j = 0; j < L; j++) q[j] = (p[j] - m) * f + d; } } } } \
ROWS norm_channels_##s(T *o, const T *x, const T *w, const T *b, i64 N, i64 C, i64 L, double eps, i64 from, i64 to) { norm_channels_some_##s(o, 0, 0, x, w, b, 0, 0, N, C, L, eps, from, to); } \
ROWS norm_channels_told_##s(T *o, T *mean, T *variance, const T *x, const T *w, const T *b, i64 N, i64 C, i64 L, double eps, i64 from, i64 to) { norm_channels_some_##s(o, mean, variance, x, w, b, 0, 0, N, C, L, eps, from, to); } \
ROWS norm_channels_relu_##s(T *o, T *mean, T *variance, const T *x, const T *w, const T *b, const T *more, i64 N, i64 C, i64 L, double eps, i64 from, i64 to) { norm_channels_some_##s(o, mean, variance, x, w, b, more, 1, N, C, L, eps, from, to); } \
ROWS norm_channels_back_##s(T *o, const T *g, const T *x, i64 N, i64 C, i64 L, double eps, i64 from, i64 to) { \
  for (i64 c = from; c < to; c++) { T m; double v, A = 0, B = 0; channel_moments_##s(x, N, C, L, c, &m, &v); v = 1.0 / sqrt(v + eps); \
    for (i64 n = 0; n < N; n++) { const i64 k = (n * C + c) * L; A += sum_##s(g + k, L); B += dot_off_##s(g + k, x + k, L, m); } \
    const T a = (T)(A / (N * L)), b = (T)(B * v * v / (N * L)), f = (T)v; \
    for (i64 n = 0; n < N; n++) { const i64 k = (n * C + c) * L; IVDEP for (i64 j = 0; j < L; j++) o[k + j] = (g[k + j] - a - (x[k + j] - m) * b) * f; } } } \
/* with weights, whose cotangents are sums; y: the results, of which those of 0 stop the cotangent, or none; h: what is added to it first; kept: where what is left of it goes */ \
ROWS norm_channels_all_back_##s(T *o, T *gw, T *gb, T *kept, const T *g, const T *x, const T *w, const T *mean, const T *variance, const T *y, const T *h, i64 N, i64 C, i64 L, double eps, i64 from, i64 to) { \
  T *left = kept ? kept : o; const T *given = y ? left : g; \
  for (i64 c = from; c < to; c++) { T m; double v, A = 0, B = 0; \
    if (mean) { m = mean[c]; v = variance[c]; } else channel_moments_##s(x, N, C, L, c, &m, &v); \
    v = 1.0 / sqrt(v + eps); \
    for (i64 n = 0; n < N; n++) { const i64 k = (n * C + c) * L; \
      if (y && h) { IVDEP for (i64 j = k; j < k + L; j++) left[j] = y[j] <= 0 ? 0 : g[j] + h[j]; } \
      else if (y) { IVDEP for (i64 j = k; j < k + L; j++) left[j] = y[j] <= 0 ? 0 : g[j]; } \
      A += sum_##s(given + k, L); B += dot_off_##s(given + k, x + k, L, m); } \
    const T a = (T)(A / (N * L)), b = (T)(B * v * v / (N * L)), f = (T)(v * w[c]); gw[c] = (T)(B * v); gb[c] = (T)A; \
    for (i64 n = 0; n < N; n++) { const i64 k = (n * C + c) * L; IVDEP for (i64 j = 0; j < L; j++) o[k + j] = (given[k + j] - a - (x[k + j] - m) * b) * f; } } } \
ROWS pool_back_##s(T *o, const T *g, const i64 *at, i64 out, i64 in, i64 from, i64 to) { \
  memset(o + from * in, 0, (to - from) * in * sizeof(T)); \
  for (i64 p = from; p < to; p++) for (i64 j = 0; j < out; j++) { const i64 k = at[p * out + j]; if (k >= 0 && k < in) o[p * in + k] += g[p * out + j]; } }
ROW_FUNCTIONS(f, float) ROW_FUNCTIONS(d, double)
/* Maxima of the windows of n neighbours in a row, all of whose taps lie in the image: of equal elements the first, of nan the last, as PyTorch. */
#ifdef __clang__
#define PICKED(I, a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define PICKED(I, a, b, ...) __builtin_shuffle(a, b, (I){__VA_ARGS__})
#endif
#define EVENS_1(I, a, b) a /* every other one of the 2 n - 1 numbers of which a has the first n, b the last */
#define EVENS_2(I, a, b) PICKED(I, a, b, 0, 3)
#define EVENS_4(I, a, b) PICKED(I, a, b, 0, 2, 5, 7)
#define EVENS_8(I, a, b) PICKED(I, a, b, 0, 2, 4, 6, 9, 11, 13, 15)
#define EVENS_16(I, a, b) PICKED(I, a, b, 0, 2, 4, 6, 8, 10, 12, 14, 17, 19, 21, 23, 25, 27, 29, 31)
#define MAX_WINDOWS(s, T, B, n) \
typedef T v##s##n##_t __attribute__((vector_size(n * sizeof(T)), aligned(sizeof(T)), may_alias)); \
typedef B v##s##n##_at __attribute__((vector_size(n * sizeof(T)), aligned(sizeof(T)), may_alias)); \
INLINE void max_windows_##s##n(T *o, i64 *at, const T *x, i64 first, i64 W, i64 KH, i64 KW, i64 S, i64 DH, i64 DW) { \
  v##s##n##_t m = {0}; v##s##n##_at where = {0}, lane; for (int l = 0; l < n; l++) lane[l] = (B)(first + l * S); \
  for (i64 u = 0; u < KH; u++) for (i64 v = 0; v < KW; v++) { const i64 place = u * DH * W + v * DW; const T *q = x + first + place; v##s##n##_t e; \
    if (S == 1) e = *(const v##s##n##_t *)q; \
    else if (S == 2) e = EVENS_##n(v##s##n##_at, *(const v##s##n##_t *)q, *(const v##s##n##_t *)(q + n - 1)); \
    else for (int l = 0; l < n; l++) e[l] = q[l * S]; \
    const v##s##n##_at here = lane + (B)place, take = u || v ? (e > m) | (e != e) : (v##s##n##_at){0} == 0; \
    m = (v##s##n##_t)((take & (v##s##n##_at)e) | (~take & (v##s##n##_at)m)); where = (take & here) | (~take & where); } \
  *(v##s##n##_t *)o = m; for (int l = 0; l < n; l++) at[l] = where[l]; }
#define MAX_POOL(s, T, B, a, b, c) \
MAX_WINDOWS(s, T, B, a) MAX_WINDOWS(s, T, B, b) MAX_WINDOWS(s, T, B, c) MAX_WINDOWS(s, T, B, 1) \
INLINE void max_pool_##s(T *o, i64 *at, const T *x, i64 H, i64 W, i64 OH, i64 OW, i64 KH, i64 KW, i64 SH, i64 SW, i64 PH, i64 PW, i64 DH, i64 DW, i64 from, i64 to) { \
  const i64 last = W + PW - 1 - (KW - 1) * DW, end = last < 0 ? 0 : last / SW + 1 < OW ? last / SW + 1 : OW, begin = (PW + SW - 1) / SW, inside = end - begin; /* outputs whose taps lie in the row */ \
  const i64 n = inside >= a && a * sizeof(T) <= 4 * VL ? a : inside >= b && b * sizeof(T) <= 4 * VL ? b : inside >= c ? c : 1; \
  x += from * H * W; o += from * OH * OW; at += from * OH * OW; \
  for (i64 p = from; p < to; p++, x += H * W) for (i64 i = 0; i < OH; i++, o += OW, at += OW) { \
    const i64 y = i * SH - PH, u0 = y < 0 ? (DH - 1 - y) / DH : 0, over = y < H ? (H - 1 - y) / DH + 1 : 0, rows = (over < KH ? over : KH) - u0, first = (y + u0 * DH) * W - PW; \
    for (i64 j = 0; j < OW;) { \
      if (j < begin || j >= end || rows <= 0) { const i64 z = j * SW - PW, v0 = z < 0 ? (DW - 1 - z) / DW : 0, past = z < W ? (W - 1 - z) / DW + 1 : 0, taps = (past < KW ? past : KW) - v0; \
        if (rows <= 0 || taps <= 0) { o[j] = -INFINITY; at[j] = -1; } else max_windows_##s##1(o + j, at + j, x, first + j * SW + v0 * DW, W, rows, taps, 1, DH, DW); \
        j++; continue; } \
      if (j + n > end) j = end - n; \
      const i64 f = first + j * SW; \
      if (n == a) max_windows_##s##a(o + j, at + j, x, f, W, rows, KW, SW, DH, DW); else if (n == b) max_windows_##s##b(o + j, at + j, x, f, W, rows, KW, SW, DH, DW); \
      else if (n == c) max_windows_##s##c(o + j, at + j, x, f, W, rows, KW, SW, DH, DW); else max_windows_##s##1(o + j, at + j, x, f, W, rows, KW, 1, DH, DW); \
      j += n; } } }
MAX_POOL(f, float, int32_t, 16, 8, 4) MAX_POOL(d, double, i64, 8, 4, 2)
