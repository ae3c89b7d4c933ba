/* ---------------------------------------------------------------------------------------------------------- attention */
/* One head, in blocks of queries whose weights stay in the cache. z: queries L, keys S, E, D, then the steps between rows of q, k, v, the
   mask's rows and columns, and those of the other operands. gemm_s is asked for products on this thread. */
#define ALONE_f 0
#define ALONE_d 101
INLINE i64 queries(i64 L, i64 S) { const i64 b = 65536 / S < 64 ? 64 : 65536 / S; return b < L ? b : L; }
#define ATTENTION(s, T) \
ROWS weights_##s(T *p, const T *q, const T *k, const T *mask, const i64 *z, T scale, int causal, i64 i0, i64 b, i64 n) { \
  gemm_##s(ALONE_##s, 111, 112, b, n, z[2], 1, q + i0 * z[4], z[4], k, z[5], 0, p, n); \
  for (i64 i = i0; i < i0 + b; i++, p += n) { const i64 e = causal && i + 1 < n ? i + 1 : n; \
    if (mask && z[8] == 1) { const T *a = mask + i * z[7]; IVDEP for (i64 j = 0; j < n; j++) p[j] = p[j] * scale + a[j]; } \
    else if (mask) { const T *a = mask + i * z[7]; for (i64 j = 0; j < n; j++) p[j] = p[j] * scale + a[j * z[8]]; } \
    else for (i64 j = 0; j < n; j++) p[j] *= scale; \
    for (i64 j = e; j < n; j++) p[j] = -INFINITY; /* rows of one length have no elements left over from vectors */ \
    const T m = row_max_##s(p, n); \
    if (m == -INFINITY) { memset(p, 0, n * sizeof(T)); continue; } /* every key is masked */ \
    IVDEP for (i64 j = 0; j < n; j++) p[j] = exp_##s(p[j] - m); \
    const T r = 1 / (T)sum_##s(p, n); \
    for (i64 j = 0; j < n; j++) p[j] *= r; } } \
ROWS attention_##s(T *o, const T *q, const T *k, const T *v, const T *mask, const i64 *z, T scale, int causal) { \
  const i64 L = z[0], S = z[1], B = queries(L, S); T *p = room(B * S * sizeof(T)); \
  for (i64 i = 0; i < L; i += B) { const i64 b = i + B < L ? B : L - i, n = causal && i + b < S ? i + b : S; \
    weights_##s(p, q, k, mask, z, scale, causal, i, b, n); \
    gemm_##s(ALONE_##s, 111, 111, b, z[3], n, 1, p, n, v, z[6], 0, o + i * z[9], z[9]); } } \
ROWS attention_back_##s(T *gq, T *gk, T *gv, const T *g, const T *q, const T *k, const T *v, const T *mask, const i64 *z, T scale, int causal) { \
  const i64 L = z[0], S = z[1], E = z[2], D = z[3], B = queries(L, S); T *p = room(2 * B * S * sizeof(T)), *h = p + B * S; \
  for (i64 j = 0; j < S; j++) { if (gk) memset(gk + j * z[11], 0, E * sizeof(T)); if (gv) memset(gv + j * z[12], 0, D * sizeof(T)); } \
  for (i64 i = 0; i < L; i += B) { const i64 b = i + B < L ? B : L - i, n = causal && i + b < S ? i + b : S; const T *d = g + i * z[9]; \
    weights_##s(p, q, k, mask, z, scale, causal, i, b, n); \
    if (gv) gemm_##s(ALONE_##s, 112, 111, n, D, b, 1, p, n, d, z[9], 1, gv, z[12]); \
    if (!gq && !gk) continue; \
    gemm_##s(ALONE_##s, 111, 112, b, n, D, 1, d, z[9], v, z[6], 0, h, n); \
    for (i64 r = 0; r < b; r++) { T *x = h + r * n; const T *w = p + r * n, t = (T)dot_##s(x, w, n); IVDEP for (i64 j = 0; j < n; j++) x[j] = w[j] * (x[j] - t) * scale; } \
    if (gq) gemm_##s(ALONE_##s, 111, 111, b, E, n, 1, h, n, k, z[5], 0, gq + i * z[10], z[10]); \
    if (gk) gemm_##s(ALONE_##s, 112, 111, n, E, b, 1, h, n, q + i * z[4], z[4], 1, gk, z[11]); } }
ATTENTION(f, float) ATTENTION(d, double)
