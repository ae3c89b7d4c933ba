/* Kernels that eager operators call by name: each does the part ``from..to`` of its work, with A[0] the sizes, A[1] the
   real numbers, then its arrays, in ``src/wengert/_arrays/compiled_*.py``'s order. How work is cut changes no digit. */
#define N(k) (((const i64 *)A[0])[k])
#define R(k) (((const double *)A[1])[k])
#define P(T, k) ((T *)A[2 + (k)])
#define ENTRY(name) static void name(void **A, i64 from, i64 to)
#define ROWS_AT_ONCE 32 /* whose sums go into a double together */


INLINE float quick_tanh_f(float x) { /* e / (e + 2), where e is expm1(2 |x|): 2.5 ulp, tanh_f has 1.3 */
  const float y = fabsf(x), a = y > 10.0f ? 20.0f : 2.0f * y, t = a * 1.44269504f + 12582912.0f, k = t - 12582912.0f;
  float r = FMA_f(k, -0.693359375f, a); r = FMA_f(k, 2.12194440e-4f, r);
  float p = 1.9875691500e-4f; p = FMA_f(p, r, 1.3981999507e-3f); p = FMA_f(p, r, 8.3334519073e-3f); p = FMA_f(p, r, 4.1665795894e-2f);
  p = FMA_f(p, r, 1.6666665459e-1f); p = FMA_f(p, r, 5.0000001201e-1f); p = FMA_f(p * r, r, r);
  const float s = bits_to_f((f_to_bits(t) - 0x4b400000u + 127) << 23), e = FMA_f(s, p, s - 1.0f);
  return copysignf(e / (e + 2.0f), x);
}
INLINE double quick_tanh_d(double x) { return tanh(x); }

#define ROW_ENTRIES(s, T) \
ENTRY(rows_softmax_##s) { const i64 n = N(0), k = from * n; softmax_##s(P(T, 0) + k, P(T, 1) + k, to - from, n); } \
ENTRY(rows_log_softmax_##s) { const i64 n = N(0), k = from * n; log_softmax_##s(P(T, 0) + k, P(T, 1) + k, to - from, n); } \
ENTRY(rows_softmax_backward_##s) { const i64 n = N(0), k = from * n; softmax_back_##s(P(T, 0) + k, P(T, 1) + k, P(T, 2) + k, to - from, n); } \
ENTRY(rows_log_softmax_backward_##s) { const i64 n = N(0), k = from * n; log_softmax_back_##s(P(T, 0) + k, P(T, 1) + k, P(T, 2) + k, to - from, n); } \
ENTRY(rows_logsumexp_##s) { const i64 n = N(0); T *o = P(T, 0); \
  for (i64 i = from; i < to; i++) { const T *x = P(T, 1) + i * n; const T m = row_max_##s(x, n); double t = 0; T e[256]; \
    if (!(m - m == 0)) { o[i] = m; continue; } \
    for (i64 b = 0; b < n; b += 256) { const i64 w = n - b < 256 ? n - b : 256; \
      IVDEP for (i64 j = 0; j < w; j++) e[j] = exp_##s(x[b + j] - m); t += sum_##s(e, w); } \
    o[i] = m + (T)log(t); } } \
/* losses, exponentials (or none), their sums; targets */ \
ENTRY(rows_cross_entropy_##s) { const i64 n = N(0), keep = N(1), *t = P(i64, 4); T *losses = P(T, 0), *sums = P(T, 2); \
  T *own = keep ? 0 : room(n * sizeof(T)); \
  for (i64 i = from; i < to; i++) { const T *x = P(T, 3) + i * n; T *e = keep ? P(T, 1) + i * n : own; \
    const T m = row_max_##s(x, n); \
    IVDEP for (i64 j = 0; j < n; j++) e[j] = exp_##s(x[j] - m); \
    const double z = sum_##s(e, n); sums[i] = (T)z; losses[i] = (T)(log(z) + (double)(m - x[t[i]])); } } \
ENTRY(rows_cross_entropy_slopes_##s) { const i64 n = N(0), *t = P(i64, 4); \
  for (i64 i = from; i < to; i++) { const T *e = P(T, 1) + i * n, g = P(T, 2)[i], f = g / P(T, 3)[i]; T *o = P(T, 0) + i * n; \
    IVDEP for (i64 j = 0; j < n; j++) o[j] = e[j] * f; \
    o[t[i]] -= g; } } \
/* result, x, weight, bias, mean, inverse deviation, variance */ \
ENTRY(rows_norm_##s) { const i64 n = N(0); const double eps = R(0); const T *w = P(T, 2), *b = P(T, 3); \
  for (i64 i = from; i < to; i++) { const T *x = P(T, 1) + i * n; T *o = P(T, 0) + i * n; \
    const T m = (T)(sum_##s(x, n) / n); const double v = squares_##s(x, n, m) / n; const T r = (T)(1.0 / sqrt(v + eps)); \
    P(T, 4)[i] = m; P(T, 5)[i] = r; P(T, 6)[i] = (T)v; \
    if (w && b) { IVDEP for (i64 j = 0; j < n; j++) o[j] = (x[j] - m) * r * w[j] + b[j]; } \
    else if (w) { IVDEP for (i64 j = 0; j < n; j++) o[j] = (x[j] - m) * r * w[j]; } \
    else if (b) { IVDEP for (i64 j = 0; j < n; j++) o[j] = (x[j] - m) * r + b[j]; } \
    else { IVDEP for (i64 j = 0; j < n; j++) o[j] = (x[j] - m) * r; } } } \
/* blocks of rows: cotangents of x, g, x, weight, mean, inverse deviation; sums over the block for weight and bias */ \
ENTRY(rows_norm_backward_##s) { const i64 n = N(0), rows = N(1); const T *w = P(T, 3); \
  for (i64 k = from; k < to; k++) { T *gw = P(T, 6) ? P(T, 6) + k * 2 * n : 0, *gb = gw + n; \
    if (gw) memset(gw, 0, 2 * n * sizeof(T)); \
    const i64 end = (k + 1) * ROWS_AT_ONCE < rows ? (k + 1) * ROWS_AT_ONCE : rows; \
    for (i64 i = k * ROWS_AT_ONCE; i < end; i++) { const T *g = P(T, 1) + i * n, *x = P(T, 2) + i * n, m = P(T, 4)[i], r = P(T, 5)[i]; \
      if (gw) { IVDEP for (i64 j = 0; j < n; j++) { gw[j] += g[j] * ((x[j] - m) * r); gb[j] += g[j]; } } \
      T *o = P(T, 0); if (!o) continue; \
      o += i * n; const T *h = g; \
      if (w) { IVDEP for (i64 j = 0; j < n; j++) o[j] = g[j] * w[j]; h = o; } \
      const T a = (T)(sum_##s(h, n) / n), c = (T)(dot_off_##s(h, x, n, m) * r * r / n); \
      IVDEP for (i64 j = 0; j < n; j++) o[j] = (h[j] - a - (x[j] - m) * c) * r; } } } \
/* the sums of x - m and of its squares */ \
static __attribute__((noinline)) void moments_##s(const T *x, i64 n, T m, double *sums) { const int w = VL * 4 / sizeof(T); \
  for (i64 b = 0; b < n; b += 64 * w) { vec_##s a[2] = {{0}}, q[2] = {{0}}; T t = 0, u = 0; i64 j = b; const i64 e = b + 64 * w < n ? b + 64 * w : n; \
    for (; j + 2 * w <= e; j += 2 * w) for (int k = 0; k < 2; k++) { const vec_##s d = *(const vec_##s *)(x + j + k * w) - m; a[k] += d; q[k] += d * d; } \
    for (; j < e; j++) { const T d = x[j] - m; t += d; u += d * d; } \
    sums[0] += t + hsum_##s(a[0] + a[1]); sums[1] += u + hsum_##s(q[0] + q[1]); } } \
/* channels of (N, C, L): result, x, weight, bias, mean, inverse deviation, variance */ \
ENTRY(channels_norm_##s) { const i64 C = N(1), L = N(2); const double eps = R(0); const T *w = P(T, 2), *b = P(T, 3); \
  for (i64 c = from; c < to; c++) { const i64 M = N(0); double t = 0, q = 0; \
    for (i64 n = 0; n < M; n++) t += sum_##s(P(T, 1) + (n * C + c) * L, L); \
    const T m = (T)(t / (M * L)); double off[2] = {0}; for (i64 n = 0; n < M; n++) moments_##s(P(T, 1) + (n * C + c) * L, L, m, off); \
    const double rest = off[0] / (M * L), mean = m + rest; /* the bias takes the rest away */ \
    q = off[1] / (M * L) - rest * rest; if (q < 0) q = 0; const double v = 1.0 / sqrt(q + eps), scale = w ? v * w[c] : v; \
    P(double, 4)[c] = mean; P(double, 5)[c] = v; P(double, 6)[c] = q; \
    const T f = (T)scale, d = (T)((b ? b[c] : 0) - rest * scale); \
    for (i64 n = 0; n < N(0); n++) { const T *x = P(T, 1) + (n * C + c) * L; T *o = P(T, 0) + (n * C + c) * L; \
      IVDEP for (i64 j = 0; j < L; j++) o[j] = (x[j] - m) * f + d; } } } \
/* cotangents of x, weight and bias; g, x, weight, mean, inverse deviation */ \
ENTRY(channels_norm_backward_##s) { const i64 M = N(0), C = N(1), L = N(2); \
  for (i64 c = from; c < to; c++) { const T m = (T)P(double, 6)[c]; const double v = P(double, 7)[c], rest = P(double, 6)[c] - m; double a = 0, b = 0; \
    for (i64 n = 0; n < M; n++) { const i64 k = (n * C + c) * L; a += sum_##s(P(T, 3) + k, L); b += dot_off_##s(P(T, 3) + k, P(T, 4) + k, L, m); } \
    b -= rest * a; \
    if (P(T, 1)) P(T, 1)[c] = (T)(b * v); \
    if (P(T, 2)) P(T, 2)[c] = (T)a; \
    if (!P(T, 0)) continue; \
    const T f = P(T, 5) ? (T)(v * P(T, 5)[c]) : (T)v, p = (T)(a / (M * L) - rest * (b * v * v / (M * L))), q = (T)(b * v * v / (M * L)); \
    for (i64 n = 0; n < M; n++) { const i64 k = (n * C + c) * L; const T *g = P(T, 3) + k, *x = P(T, 4) + k; T *o = P(T, 0) + k; \
      IVDEP for (i64 j = 0; j < L; j++) o[j] = (g[j] - p - (x[j] - m) * q) * f; } } } \
ENTRY(sum_rows_##s) { const i64 n = N(0); for (i64 i = from; i < to; i++) P(T, 0)[i] = (T)sum_##s(P(T, 1) + i * n, n); } \
/* blocks of 256 columns of (m, n) */ \
ENTRY(sum_columns_of_##s) { const i64 m = N(0), n = N(1); sum_columns_##s(P(T, 0), P(T, 1), m, n, n, from * 256, to * 256 < n ? to * 256 : n, 1); } \
ENTRY(max_windows_##s) { max_pool_##s(P(T, 0), P(i64, 1), P(T, 2), N(0), N(1), N(2), N(3), N(4), N(5), N(6), N(7), N(8), N(9), N(10), N(11), from, to); } \
ENTRY(windows_scatter_##s) { pool_back_##s(P(T, 0), P(T, 1), P(i64, 2), N(0), N(1), from, to); } \
/* planes (H, W) in (OH, OW) parts, which may overlap by a row or a column */ \
ENTRY(mean_parts_##s) { const i64 H = N(0), W = N(1), OH = N(2), OW = N(3); T *t = room(W * sizeof(T)); \
  if (OH == 1 && OW == 1) { for (i64 p = from; p < to; p++) P(T, 0)[p] = (T)sum_##s(P(T, 1) + p * H * W, H * W) / (T)(H * W); return; } \
  for (i64 p = from; p < to; p++) for (i64 i = 0; i < OH; i++) { const i64 y = i * H / OH, e = ((i + 1) * H + OH - 1) / OH; \
    if (OW == 1) { P(T, 0)[p * OH + i] = (T)sum_##s(P(T, 1) + (p * H + y) * W, (e - y) * W) / (T)((e - y) * W); continue; } \
    memcpy(t, P(T, 1) + (p * H + y) * W, W * sizeof(T)); \
    for (i64 u = y + 1; u < e; u++) { const T *r = P(T, 1) + (p * H + u) * W; IVDEP for (i64 j = 0; j < W; j++) t[j] += r[j]; } \
    for (i64 j = 0; j < OW; j++) { const i64 b = j * W / OW, f = ((j + 1) * W + OW - 1) / OW; T v = t[b]; \
      if (f - b > 16) v = (T)sum_##s(t + b, f - b); else for (i64 k = b + 1; k < f; k++) v += t[k]; \
      P(T, 0)[(p * OH + i) * OW + j] = v / (T)((e - y) * (f - b)); } } } \
ENTRY(mean_parts_back_##s) { const i64 H = N(0), W = N(1), OH = N(2), OW = N(3); T *t = room(W * sizeof(T)); \
  memset(P(T, 0) + from * H * W, 0, (to - from) * H * W * sizeof(T)); \
  for (i64 p = from; p < to; p++) for (i64 i = 0; i < OH; i++) { const i64 y = i * H / OH, e = ((i + 1) * H + OH - 1) / OH; \
    memset(t, 0, W * sizeof(T)); \
    for (i64 j = 0; j < OW; j++) { const i64 b = j * W / OW, f = ((j + 1) * W + OW - 1) / OW; const T v = P(T, 1)[(p * OH + i) * OW + j] / (T)((e - y) * (f - b)); for (i64 k = b; k < f; k++) t[k] += v; } \
    for (i64 u = y; u < e; u++) { T *r = P(T, 0) + (p * H + u) * W; IVDEP for (i64 j = 0; j < W; j++) r[j] += t[j]; } } } \
/* rows of C channels of L elements, G rows to a sample: result, x, weight, bias, mean, inverse deviation, variance */ \
ENTRY(groups_norm_##s) { const i64 C = N(0), L = N(1), G = N(2), n = C * L; const double eps = R(0); const T *w = P(T, 2), *b = P(T, 3); \
  for (i64 i = from; i < to; i++) { const T *x = P(T, 1) + i * n; T *o = P(T, 0) + i * n; \
    const T m = (T)(sum_##s(x, n) / n); const double v = squares_##s(x, n, m) / n; const T r = (T)(1.0 / sqrt(v + eps)); \
    P(T, 4)[i] = m; P(T, 5)[i] = r; P(T, 6)[i] = (T)v; \
    for (i64 c = 0; c < C; c++, x += L, o += L) { const T f = w ? w[i % G * C + c] : 1, d = b ? b[i % G * C + c] : -0.0; \
      IVDEP for (i64 j = 0; j < L; j++) o[j] = (x[j] - m) * r * f + d; } } } \
/* cotangents of x, g, x, weight, mean, inverse deviation; each channel's sums for weight and for bias (or none) */ \
ENTRY(groups_norm_back_##s) { const i64 C = N(0), L = N(1), G = N(2), n = C * L; const T *w = P(T, 3); \
  for (i64 i = from; i < to; i++) { const T m = P(T, 4)[i], r = P(T, 5)[i]; double a = 0, q = 0; \
    for (i64 c = 0; c < C; c++) { const T *g = P(T, 1) + i * n + c * L, *x = P(T, 2) + i * n + c * L; const double all = sum_##s(g, L), d = dot_off_##s(g, x, L, m), f = w ? w[i % G * C + c] : 1; \
      a += all * f; q += d * f; \
      if (P(T, 6)) { P(T, 6)[i * C + c] = (T)(d * r); P(T, 7)[i * C + c] = (T)all; } } \
    if (!P(T, 0)) continue; \
    const T p = (T)(a / n), k = (T)(q * r * r / n); \
    for (i64 c = 0; c < C; c++) { const T *g = P(T, 1) + i * n + c * L, *x = P(T, 2) + i * n + c * L, f = w ? w[i % G * C + c] : 1; T *o = P(T, 0) + i * n + c * L; \
      IVDEP for (i64 j = 0; j < L; j++) o[j] = (g[j] * f - p - (x[j] - m) * k) * r; } } }
ROW_ENTRIES(f, float) ROW_ENTRIES(d, double)

/* --------------------------------------------------------------------------------------------- elementwise, broadcast */
/* A body's blocks of SOME columns. Sizes: the body, arrays, columns, outer dims, their sizes; for each array its bytes,
   the step of a column in bytes, those of the outer dims. What is not dense along a row is brought into a buffer. */
#define SOME 1024
ENTRY(spread) {
  const i64 *s = A[0]; const part_t body = (part_t)(intptr_t)s[0]; const i64 arrays = s[1], columns = s[2], dims = s[3], *sizes = s + 4;
  const i64 *steps = sizes + dims, each = 2 + dims, blocks = (columns + SOME - 1) / SOME; void *B[18]; B[1] = A[1];
  char *buffer = room(arrays * SOME * 8); void *filled[16] = {0};
  for (i64 q = from; q < to; q++) { const i64 i = q / blocks, j = q % blocks * SOME, w = columns - j < SOME ? columns - j : SOME;
    for (i64 k = 0; k < arrays; k++) { const i64 *t = steps + k * each, bytes = t[0], step = t[1]; char *p = A[2 + k];
      i64 rest = i; for (i64 d = dims - 1; d >= 0; d--) { p += rest % sizes[d] * t[2 + d]; rest /= sizes[d]; }
      p += j * step;
      if (step == bytes) { B[2 + k] = p; continue; }
      char *at = B[2 + k] = buffer + k * SOME * 8;
      if (!step && filled[k] == p) continue;
      filled[k] = p;
      const i64 count = step ? w : columns < SOME ? columns : SOME;
      if (bytes == 4) for (i64 c = 0; c < count; c++) ((uint32_t *)at)[c] = *(uint32_t *)(p + c * step);
      else if (bytes == 8) for (i64 c = 0; c < count; c++) ((uint64_t *)at)[c] = *(uint64_t *)(p + c * step);
      else if (bytes == 2) for (i64 c = 0; c < count; c++) ((uint16_t *)at)[c] = *(uint16_t *)(p + c * step);
      else for (i64 c = 0; c < count; c++) at[c] = p[c * step]; }
    body(B, 0, w); }
}
/* Sums of a body's results, by blocks of 4096 of all N(1) elements; sizes: the body, elements, operands, their bytes. */
#define SUM_OF(s, T) ENTRY(sum_of_##s) { const i64 all = N(1), n = N(2); void *B[18]; T r[4096]; B[1] = A[1]; B[2] = r; \
  for (i64 b = from; b < to; b++) { const i64 at = b * 4096, w = all - at < 4096 ? all - at : 4096; \
    for (i64 k = 0; k < n; k++) B[3 + k] = P(char, 1 + k) + at * N(3 + k); \
    ((part_t)(intptr_t)N(0))(B, 0, w); P(double, 0)[b] = sum_##s(r, w); } }
SUM_OF(f, float) SUM_OF(d, double)

/* ---------------------------------------------------------------------------------------------- products and attention */
void wengert_parallel(part_t, void **, i64, i64);
INLINE void with_blas(i64 single, i64 both) {
  shared = wengert_parallel; blas_f = (sgemm_t)(intptr_t)single; blas_d = (dgemm_t)(intptr_t)both;
  gemm_f = wengert_sgemm; gemm_d = wengert_dgemm;
}
/* One part, which cuts itself. Sizes: BLAS's products, whether both factors are transposed (112, or 111), rows, columns, depth,
   steps between rows of both (or columns) and of the result; result, factors */
#define PRODUCTS(s, T, gemm) \
ENTRY(product_##s) { with_blas(N(0), N(1)); gemm(101, N(2), N(3), N(4), N(5), N(6), 1, P(T, 1), N(7), P(T, 2), N(8), 0, P(T, 0), N(9)); } \
/* heads. Sizes: BLAS's products, whether causal, heads of an example, then z (``2_attention.h``), then steps between examples and \
   between heads of query, key, value, mask, result, and in the backward pass of the cotangents */ \
ENTRY(heads_##s) { with_blas(N(0), N(1)); const i64 *z = &N(4); \
  for (i64 q = from; q < to; q++) attention_##s(AT(T, 0, 4), AT(T, 1, 0), AT(T, 2, 1), AT(T, 3, 2), AT(T, 4, 3), z, R(0), N(2)); } \
ENTRY(heads_back_##s) { with_blas(N(0), N(1)); const i64 *z = &N(4); \
  for (i64 q = from; q < to; q++) attention_back_##s(AT(T, 0, 5), AT(T, 1, 6), AT(T, 2, 7), AT(T, 7, 4), AT(T, 3, 0), AT(T, 4, 1), AT(T, 5, 2), AT(T, 6, 3), z, R(0), N(2)); }
#define AT(T, k, w) (P(T, k) ? P(T, k) + q / N(3) * N(17 + 2 * w) + q % N(3) * N(18 + 2 * w) : 0)
PRODUCTS(f, float, wengert_sgemm) PRODUCTS(d, double, wengert_dgemm)

/* ------------------------------------------------------------------------------------------------------ recurrent layers */
INLINE void step_f(i64 gemm, float *c, const float *a, i64 row, const float *b, i64 m, i64 k, i64 n) {
  product(&(product_t){a, b, c, m, n, k, row, 1, n, 1, n, 0});
}
INLINE void step_d(i64 gemm, double *c, const double *a, i64 row, const double *b, i64 m, i64 k, i64 n) {
  ((dgemm_t)(intptr_t)gemm)(101, 111, 111, m, n, k, 1, a, row, b, n, 0, c, n);
}
/* Sizes: BLAS's product, steps, states, batch, then each layer's own. */
#define EVEN(T, k) ((T *)(((uintptr_t)A[2 + (k)] + 63) & ~(uintptr_t)63)) /* room, from a multiple of 64 bytes on */
#define STEPS(s, T) \
/* blocks of 16 units; inputs, states; room, the weights of input and state, the biases (or none) */ \
ENTRY(lstm_packed_##s) { const i64 n = VL * 4 / sizeof(T), blocks = (N(1) + n - 1) / n, end = to * 16 / n; lstm_pack_##s(EVEN(T, 0), P(T, 1), P(T, 2), P(T, 3), P(T, 4), N(0), N(1), from * 16 / n, end < blocks ? end : blocks); } \
/* rows of the batch; steps, batch, inputs, states, whether in reverse */ \
ENTRY(lstm_forward_##s) { lstm_rows_##s(P(T, 0), P(T, 1), P(T, 2), P(T, 3), P(T, 4), P(T, 5), P(T, 6), P(T, 7), P(T, 8), EVEN(T, 9), N(0), N(1), N(2), N(3), N(4), from, to); } \
/* rows of the state's weights; states */ \
ENTRY(lstm_packed_back_##s) { lstm_pack_back_##s(EVEN(T, 0), P(T, 1), N(0), from, to); } \
ENTRY(lstm_backward_##s) { lstm_back_##s(P(T, 0), P(T, 1), P(T, 2), P(T, 3), P(T, 4), P(T, 5), P(T, 6), EVEN(T, 7), N(0), N(1), N(2), N(3), from, to); } \
/* rows of a step's operands, whether the gates of all steps stay; the weights of reset and update, of the candidate's state \
   and of its input, z, the gates: reset, update, the state's term, the candidate */ \
ENTRY(gru_steps_##s) { const i64 length = N(1), n = N(2), b = N(3), m = n * b, rows = N(4), inputs = rows - n - 1; T *z = P(T, 3), *g = P(T, 4); \
  for (i64 t = 0; t < length; t++, z += rows * b, g += N(5) ? 4 * m : 0) { \
    step_##s(N(0), g, P(T, 0), rows, z, 2 * n, rows, b); \
    step_##s(N(0), g + 2 * m, P(T, 1), n + 1, z + inputs * b, n, n + 1, b); \
    step_##s(N(0), g + 3 * m, P(T, 2), inputs + 1, z, n, inputs + 1, b); \
    const T *before = z + (rows - n) * b; T *after = z + (2 * rows - n) * b; \
    IVDEP for (i64 j = 0; j < m; j++) { const T r = sigmoid_##s(g[j]), u = sigmoid_##s(g[m + j]), c = quick_tanh_##s(g[3 * m + j] + r * g[2 * m + j]); \
      g[j] = r; g[m + j] = u; g[3 * m + j] = c; after[j] = (before[j] - c) * u + c; } } } \
/* rows of a step's operands; gates, z, turned weights, the state's cotangent, those of the outputs (or none), the last first, \
   the gates', room for a state */ \
ENTRY(gru_steps_back_##s) { const i64 length = N(1), n = N(2), b = N(3), m = n * b, rows = N(4); T *dh = P(T, 3), *through = P(T, 6); \
  for (i64 t = length - 1; t >= 0; t--) { const T *g = P(T, 0) + t * 4 * m, *h = P(T, 1) + ((t + 1) * rows - n) * b, *a = P(T, 4) ? P(T, 4) + (length - 1 - t) * m : 0; T *d = P(T, 5) + t * 4 * m; \
    if (a) { IVDEP for (i64 j = 0; j < m; j++) dh[j] += a[j]; } \
    IVDEP for (i64 j = 0; j < m; j++) { const T r = g[j], u = g[m + j], c = g[3 * m + j], e = dh[j], k = (1 - c * c) * (1 - u) * e; \
      d[j] = (r - r * r) * g[2 * m + j] * k; d[m + j] = (u - u * u) * (h[j] - c) * e; d[2 * m + j] = r * k; d[3 * m + j] = k; through[j] = e * u; } \
    step_##s(N(0), dh, P(T, 2), 3 * n, d, n, 3 * n, b); \
    IVDEP for (i64 j = 0; j < m; j++) dh[j] += through[j]; } } \
/* rows of a step's operands, whether tanh; w, z */ \
ENTRY(rnn_steps_##s) { const i64 length = N(1), n = N(2), b = N(3), rows = N(4); T *z = P(T, 1); \
  for (i64 t = 0; t < length; t++, z += rows * b) { T *h = z + (2 * rows - n) * b; \
    step_##s(N(0), h, P(T, 0), rows, z, n, rows, b); \
    if (N(5)) { IVDEP for (i64 j = 0; j < n * b; j++) h[j] = quick_tanh_##s(h[j]); } else { IVDEP for (i64 j = 0; j < n * b; j++) h[j] = max_##s(h[j], 0); } } } \
/* turned weights, slopes that become the states' own cotangents, the state's, those of the outputs (or none), the last first */ \
ENTRY(rnn_steps_back_##s) { const i64 length = N(1), n = N(2), b = N(3), m = n * b; T *dh = P(T, 2); \
  for (i64 t = length - 1; t >= 0; t--) { const T *a = P(T, 3) ? P(T, 3) + (length - 1 - t) * m : 0; T *d = P(T, 1) + t * m; \
    if (a) { IVDEP for (i64 j = 0; j < m; j++) dh[j] += a[j]; } \
    IVDEP for (i64 j = 0; j < m; j++) d[j] *= dh[j]; \
    step_##s(N(0), dh, P(T, 0), n, d, n, n, b); } }
STEPS(f, float) STEPS(d, double)
