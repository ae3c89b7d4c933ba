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
/* channels of (N, C, L): result, x, weight, bias, mean, inverse deviation, variance */ \
ENTRY(channels_norm_##s) { const i64 C = N(1), L = N(2); const double eps = R(0); const T *w = P(T, 2), *b = P(T, 3); \
  for (i64 c = from; c < to; c++) { const i64 M = N(0); double t = 0, q = 0; \
    for (i64 n = 0; n < M; n++) t += sum_##s(P(T, 1) + (n * C + c) * L, L); \
    const T m = (T)(t / (M * L)); for (i64 n = 0; n < M; n++) q += squares_##s(P(T, 1) + (n * C + c) * L, L, m); \
    q /= M * L; const double v = 1.0 / sqrt(q + eps); \
    P(double, 4)[c] = m; P(double, 5)[c] = v; P(double, 6)[c] = q; \
    const T f = w ? (T)(v * w[c]) : (T)v, d = b ? b[c] : 0; \
    for (i64 n = 0; n < N(0); n++) { const T *x = P(T, 1) + (n * C + c) * L; T *o = P(T, 0) + (n * C + c) * L; \
      IVDEP for (i64 j = 0; j < L; j++) o[j] = (x[j] - m) * f + d; } } } \
/* cotangents of x, weight and bias; g, x, weight, mean, inverse deviation */ \
ENTRY(channels_norm_backward_##s) { const i64 M = N(0), C = N(1), L = N(2); \
  for (i64 c = from; c < to; c++) { const T m = (T)P(double, 6)[c]; const double v = P(double, 7)[c]; double a = 0, b = 0; \
    for (i64 n = 0; n < M; n++) { const i64 k = (n * C + c) * L; a += sum_##s(P(T, 3) + k, L); b += dot_off_##s(P(T, 3) + k, P(T, 4) + k, L, m); } \
    if (P(T, 1)) P(T, 1)[c] = (T)(b * v); \
    if (P(T, 2)) P(T, 2)[c] = (T)a; \
    if (!P(T, 0)) continue; \
    const T f = P(T, 5) ? (T)(v * P(T, 5)[c]) : (T)v, p = (T)(a / (M * L)), q = (T)(b * v * v / (M * L)); \
    for (i64 n = 0; n < M; n++) { const i64 k = (n * C + c) * L; const T *g = P(T, 3) + k, *x = P(T, 4) + k; T *o = P(T, 0) + k; \
      IVDEP for (i64 j = 0; j < L; j++) o[j] = (g[j] - p - (x[j] - m) * q) * f; } } } \
ENTRY(sum_rows_##s) { const i64 n = N(0); for (i64 i = from; i < to; i++) P(T, 0)[i] = (T)sum_##s(P(T, 1) + i * n, n); } \
/* sums of blocks of N(0) of N(1) elements, as doubles */ \
ENTRY(sum_blocks_##s) { const i64 n = N(0), all = N(1); \
  for (i64 i = from; i < to; i++) P(double, 0)[i] = sum_##s(P(T, 1) + i * n, (i + 1) * n < all ? n : all - i * n); } \
/* blocks of 256 columns of (m, n) */ \
ENTRY(sum_columns_of_##s) { const i64 m = N(0), n = N(1); sum_columns_##s(P(T, 0), P(T, 1), m, n, n, from * 256, to * 256 < n ? to * 256 : n, 1); } \
ENTRY(max_windows_##s) { max_pool_##s(P(T, 0), P(i64, 1), P(T, 2), N(0), N(1), N(2), N(3), N(4), N(5), N(6), N(7), N(8), N(9), N(10), N(11), from, to); } \
ENTRY(windows_scatter_##s) { pool_back_##s(P(T, 0), P(T, 1), P(i64, 2), N(0), N(1), from, to); }
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

/* -------------------------------------------------------------------------------------------------------- convolution */
/* Sizes: a conv_t, samples, groups, the packed weights' numbers of a group, the padded image's. */
#define SIZES 20
#define PACKED N(SIZES + 2)
#define PADDED N(SIZES + 3)
ENTRY(conv_pack_weights) { const conv_t k = *(const conv_t *)A[0]; const i64 K = k.KD * k.KH * k.KW;
  for (i64 g = from; g < to; g++) conv_pack(P(float, 0) + g * PACKED, P(float, 1) + g * k.O * k.C * K, k.C, k.O, K, (int)N(SIZES + 4)); }
#define IMAGES(name, fixed) static __attribute__((noinline)) void name(void **A, i64 from, i64 to) { \
  conv_t k = *(const conv_t *)A[0]; fixed \
  const i64 G = N(SIZES + 1), x = k.C * k.D * k.H * k.W, o = k.O * k.OD * k.OH * k.OW; \
  float *pad = room((PADDED + LANES * k.OD * k.OH * k.OW) * 4), *acc = pad + PADDED; \
  for (i64 q = from; q < to; q++) \
    conv_image(P(float, 0) + q * o, P(float, 1) + q * x, P(float, 2) + q % G * PACKED, P(float, 3) ? P(float, 3) + q % G * k.O : 0, k, pad, acc); }
#define FLAT k.KD = 1; k.D = 1; k.OD = 1; k.PD = 0; k.SD = 1; k.DD = 1; k.DH = 1; k.DW = 1;
#define SQUARE(n, s) FLAT k.KH = n; k.KW = n; k.SH = s; k.SW = s;
IMAGES(images_any, ) IMAGES(images_1_1, FLAT k.SH = 1; k.SW = 1;) IMAGES(images_3_1, SQUARE(3, 1)) IMAGES(images_3_2, SQUARE(3, 2)) IMAGES(images_5_1, SQUARE(5, 1)) IMAGES(images_7_2, SQUARE(7, 2))
INLINE int is_flat(const conv_t k) { return k.KD == 1 && k.D == 1 && k.OD == 1 && !k.PD && k.DH == 1 && k.DW == 1; }
#define IS_SQUARE(n, s) (is_flat(k) && k.KH == n && k.KW == n && k.SH == s && k.SW == s)
ENTRY(conv_images) { const conv_t k = *(const conv_t *)A[0];
  (IS_SQUARE(3, 1) ? images_3_1 : IS_SQUARE(3, 2) ? images_3_2 : IS_SQUARE(5, 1) ? images_5_1 : IS_SQUARE(7, 2) ? images_7_2
   : is_flat(k) && k.SH == 1 && k.SW == 1 ? images_1_1 : images_any)(A, from, to); }
#define WEIGHTS(name, fixed) static __attribute__((noinline)) void name(void **A, i64 from, i64 to) { \
  conv_t k = *(const conv_t *)A[0]; fixed \
  const i64 M = N(SIZES), G = N(SIZES + 1), x = k.C * k.D * k.H * k.W, o = k.O * k.OD * k.OH * k.OW, each = k.O * k.C * k.KD * k.KH * k.KW, blocks = (k.O + LANES - 1) / LANES; \
  float *pad = room((PADDED + LANES * k.OD * k.OH * k.OW) * 4), *gt = pad + PADDED; \
  for (i64 q = from; q < to; q++) { const i64 g = q / blocks, b = q % blocks; \
    conv_weight_blocks(P(float, 0) + g * each, P(float, 1) + g * x, P(float, 2) + g * o, M, G * x, G * o, k, pad, gt, b, b + 1); } }
WEIGHTS(weights_any, ) WEIGHTS(weights_3_1, SQUARE(3, 1)) WEIGHTS(weights_3_2, SQUARE(3, 2)) WEIGHTS(weights_1_1, FLAT k.SH = 1; k.SW = 1;)
ENTRY(conv_weights) { const conv_t k = *(const conv_t *)A[0];
  (IS_SQUARE(3, 1) ? weights_3_1 : IS_SQUARE(3, 2) ? weights_3_2 : is_flat(k) && k.SH == 1 && k.SW == 1 ? weights_1_1 : weights_any)(A, from, to); }
ENTRY(conv_lanes) { *P(i64, 0) = LANES; }

/* ------------------------------------------------------------------------------------------------------ recurrent layers */
/* Sizes: BLAS's product, steps, rows of a step's operands, states, batch. w, z, cell, factors (or none), cells (or none),
   room for the gates: input, output, forget, candidate. The product of each step is by the packed weights (m, k) of
   convolution, where batches fill its tiles: a third faster than BLAS on so few columns. */
typedef struct { conv_t k; float *pack, *acc; } packed_f;
INLINE int pack_f(packed_f *w, const float *a, i64 m, i64 k, i64 n) {
  if (n < TILE || m < LANES) return 0;
  const i64 rows = (m + LANES - 1) / LANES * LANES;
  w->k = (conv_t){k, 1, 1, n, m, 1, 1, 1, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, n};
  w->pack = room((rows * k + LANES * n) * 4); w->acc = w->pack + rows * k;
  conv_pack(w->pack, a, k, m, 1, 0);
  return 1;
}
static __attribute__((noinline)) void packed_product_f(const packed_f *w, const float *b, float *c) {
  conv_t k = w->k; FLAT k.KH = 1; k.KW = 1; k.SH = 1; k.SW = 1; k.PH = 0; k.PW = 0; k.H = 1; k.OH = 1;
  conv_image(c, b, w->pack, 0, k, 0, w->acc);
}
typedef struct { int none; } packed_d;
INLINE int pack_d(packed_d *w, const double *a, i64 m, i64 k, i64 n) { return 0; }
INLINE void packed_product_d(const packed_d *w, const double *b, double *c) {}
#define STEPS(s, T) \
INLINE void lstm_gates_##s(const i64 m, const T *restrict g, T *restrict cell, T *restrict h, T *restrict r, const int keep) { \
  IVDEP for (i64 j = 0; j < m; j++) { const T i = sigmoid_##s(g[j]), o = sigmoid_##s(g[m + j]), f = sigmoid_##s(g[2 * m + j]), c = quick_tanh_##s(g[3 * m + j]); \
    const T p = i * c, old = f * cell[j], both = old + p, q = quick_tanh_##s(both), y = o * q; cell[j] = both; h[j] = y; \
    if (keep) { r[j] = (1 - i) * p; r[m + j] = (1 - o) * y; r[2 * m + j] = (1 - f) * old; r[3 * m + j] = i - c * p; r[4 * m + j] = o - q * y; r[5 * m + j] = f; } } } \
ENTRY(lstm_steps_##s) { const s##gemm_t gemm = (s##gemm_t)(intptr_t)N(0); const i64 length = N(1), rows = N(2), n = N(3), b = N(4), m = n * b; \
  T *z = P(T, 1), *g = P(T, 5); packed_##s w; const int packed = pack_##s(&w, P(T, 0), 4 * n, rows, b); \
  for (i64 t = 0; t < length; t++, z += rows * b) { \
    if (packed) packed_product_##s(&w, z, g); else gemm(101, 111, 111, 4 * n, b, rows, 1, P(T, 0), rows, z, b, 0, g, b); \
    if (P(T, 3)) lstm_gates_##s(m, g, P(T, 2), z + (2 * rows - n) * b, P(T, 3) + t * 6 * m, 1); \
    else lstm_gates_##s(m, g, P(T, 2), z + (2 * rows - n) * b, 0, 0); \
    if (P(T, 4)) memcpy(P(T, 4) + t * m, P(T, 2), m * sizeof(T)); } } \
/* sizes: BLAS's product, steps, states, batch, whether the first state's is wanted. factors, turned weights, the cell's and \
   the state's cotangents, those of the outputs (or none), the last first, the gates' */ \
ENTRY(lstm_steps_back_##s) { const s##gemm_t gemm = (s##gemm_t)(intptr_t)N(0); const i64 length = N(1), n = N(2), b = N(3), m = n * b; \
  T *dc = P(T, 2), *dh = dc + m; packed_##s w; const int packed = pack_##s(&w, P(T, 1), n, 4 * n, b); \
  for (i64 t = length - 1; t >= 0; t--) { const T *f = P(T, 0) + t * 6 * m, *a = P(T, 3) ? P(T, 3) + (length - 1 - t) * m : 0; T *d = P(T, 4) + t * 4 * m; \
    if (a) { IVDEP for (i64 j = 0; j < m; j++) dh[j] += a[j]; } \
    IVDEP for (i64 j = 0; j < m; j++) { const T h = dh[j], c = dc[j] + h * f[4 * m + j]; \
      d[j] = f[j] * c; d[m + j] = f[m + j] * h; d[2 * m + j] = f[2 * m + j] * c; d[3 * m + j] = f[3 * m + j] * c; dc[j] = c * f[5 * m + j]; } \
    if (!t && !N(4)) break; \
    if (packed) packed_product_##s(&w, d, dh); else gemm(101, 111, 111, n, b, 4 * n, 1, P(T, 1), 4 * n, d, b, 0, dh, b); } }
typedef sgemm_t fgemm_t;
STEPS(f, float) STEPS(d, double)
