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
static __attribute__((noinline, unused)) void channel_moments_##s(const T *x, i64 N, i64 C, i64 L, i64 c, double eps, T *mean, double *scale) { \
  double t = 0, q = 0; for (i64 n = 0; n < N; n++) t += sum_##s(x + (n * C + c) * L, L); \
  const T m = (T)(t / (N * L)); for (i64 n = 0; n < N; n++) q += squares_##s(x + (n * C + c) * L, L, m); \
  *mean = m; *scale = 1.0 / sqrt(q / (N * L) + eps); } \
ROWS norm_channels_##s(T *o, const T *x, const T *w, const T *b, i64 N, i64 C, i64 L, double eps, i64 from, i64 to) { \
  for (i64 c = from; c < to; c++) { T m; double v; channel_moments_##s(x, N, C, L, c, eps, &m, &v); \
    const T f = w ? (T)v * w[c] : (T)v, d = b ? b[c] : 0; \
    for (i64 n = 0; n < N; n++) { const T *r = x + (n * C + c) * L; T *q = o + (n * C + c) * L; IVDEP for (i64 j = 0; j < L; j++) q[j] = (r[j] - m) * f + d; } } } \
ROWS norm_channels_back_##s(T *o, const T *g, const T *x, i64 N, i64 C, i64 L, double eps, i64 from, i64 to) { \
  for (i64 c = from; c < to; c++) { T m; double v, A = 0, B = 0; channel_moments_##s(x, N, C, L, c, eps, &m, &v); \
    for (i64 n = 0; n < N; n++) { const i64 k = (n * C + c) * L; A += sum_##s(g + k, L); B += dot_off_##s(g + k, x + k, L, m); } \
    const T a = (T)(A / (N * L)), b = (T)(B * v * v / (N * L)), f = (T)v; \
    for (i64 n = 0; n < N; n++) { const i64 k = (n * C + c) * L; IVDEP for (i64 j = 0; j < L; j++) o[k + j] = (g[k + j] - a - (x[k + j] - m) * b) * f; } } } \
ROWS norm_channels_all_back_##s(T *o, T *gw, T *gb, const T *g, const T *x, const T *w, i64 N, i64 C, i64 L, double eps, i64 from, i64 to) { /* with weights, whose cotangents are sums */ \
  for (i64 c = from; c < to; c++) { T m; double v, A = 0, B = 0; channel_moments_##s(x, N, C, L, c, eps, &m, &v); \
    for (i64 n = 0; n < N; n++) { const i64 k = (n * C + c) * L; A += sum_##s(g + k, L); B += dot_off_##s(g + k, x + k, L, m); } \
    const T a = (T)(A / (N * L)), b = (T)(B * v * v / (N * L)), f = (T)(v * w[c]); gw[c] = (T)(B * v); gb[c] = (T)A; \
    for (i64 n = 0; n < N; n++) { const i64 k = (n * C + c) * L; IVDEP for (i64 j = 0; j < L; j++) o[k + j] = (g[k + j] - a - (x[k + j] - m) * b) * f; } } } \
ROWS pool_back_##s(T *o, const T *g, const i64 *at, i64 out, i64 in, i64 from, i64 to) { \
  memset(o + from * in, 0, (to - from) * in * sizeof(T)); \
  for (i64 p = from; p < to; p++) for (i64 j = 0; j < out; j++) { const i64 k = at[p * out + j]; if (k >= 0 && k < in) o[p * in + k] += g[p * out + j]; } } \
INLINE void max_pool_row_##s(T *o, int32_t *at, const T *r, int32_t place, i64 n, i64 S) { /* one element of each window of a row */ \
  IVDEP for (i64 j = 0; j < n; j++) { const T e = r[j * S], m = o[j]; const int32_t b = at[j]; \
    const int take = (b < 0) | (e > m) | (e != e); o[j] = take ? e : m; at[j] = take ? place + (int32_t)(j * S) : b; } } \
INLINE void max_pool_##s(T *o, i64 *at, const T *x, i64 H, i64 W, i64 OH, i64 OW, i64 KH, i64 KW, i64 SH, i64 SW, i64 PH, i64 PW, i64 DH, i64 DW, i64 from, i64 to) { \
  int32_t *where = room(OW * 4); \
  for (i64 p = from; p < to; p++) for (i64 i = 0; i < OH; i++) { T *m = o + (p * OH + i) * OW; \
    for (i64 j = 0; j < OW; j++) { m[j] = -INFINITY; where[j] = -1; } \
    for (i64 u = 0; u < KH; u++) { const i64 y = i * SH - PH + u * DH; if (y < 0 || y >= H) continue; \
      for (i64 v = 0; v < KW; v++) { const i64 z = v * DW - PW, j0 = z < 0 ? (SW - 1 - z) / SW : 0; \
        i64 j1 = W - z <= 0 ? 0 : (W - 1 - z) / SW + 1; j1 = j1 < OW ? j1 : OW; if (j1 <= j0) continue; \
        const i64 first = y * W + j0 * SW + z; const T *r = x + p * H * W + first; \
        if (SW == 2) max_pool_row_##s(m + j0, where + j0, r, (int32_t)first, j1 - j0, 2); \
        else if (SW == 1) max_pool_row_##s(m + j0, where + j0, r, (int32_t)first, j1 - j0, 1); \
        else max_pool_row_##s(m + j0, where + j0, r, (int32_t)first, j1 - j0, SW); } } \
    for (i64 j = 0; j < OW; j++) at[(p * OH + i) * OW + j] = where[j]; } }
ROW_FUNCTIONS(f, float) ROW_FUNCTIONS(d, double)
