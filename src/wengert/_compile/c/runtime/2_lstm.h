/* -------------------------------------------------------------------------------------------------------------- LSTM */
/* Each row of a batch goes through all steps by itself: threads have some rows each, and never wait for each other. */
#if defined(__AVX512F__) || defined(__aarch64__)
#define FEW 6 /* rows that, by four vectors, fill the registers */
#elif defined(__FMA__)
#define FEW 3
#else
#define FEW 2
#endif
#if defined(__AVX512F__)
#define HOLD(v) asm("" : "+v"(v)) /* or gcc reads it from memory for each row */
#elif defined(__SSE2__)
#define HOLD(v) asm("" : "+x"(v))
#else
#define HOLD(v)
#endif
#define DEEP 128 /* rows of weights that stay in a cache while all rows of x are multiplied by them */
#define FOURS(s, n) case n: if (n <= FEW && V == 4) four_##s(n <= FEW ? n : 1, 4, to, row, from, step, q, xr, w, k); \
  else if (n <= FEW) four_##s(n <= FEW ? n : 1, 2, to, row, from, step, q, xr, w, k); break;
#define LSTM(s, T, n_, W, mad) \
/* R rows of V vectors: o = start + x y; a row of y has four vectors, a column of x is dense */ \
INLINE void four_##s(const int R, const int V, T *o, i64 row, const T *start, i64 step, const T *x, i64 xr, const T *y, i64 k) { \
  vec_##s a[FEW][4]; \
  for (int r = 0; r < R; r++) for (int l = 0; l < V; l++) a[r][l] = *(const vec_##s *)(start + r * step + l * n_); \
  for (i64 p = 0; p < k; p++, x++, y += W) { const T *q = x; vec_##s z[FEW]; HIDE(q); \
    for (int r = 0; r < R; r++) z[r] = q[r * xr] - (vec_##s){0}; \
    for (int l = 0; l < V; l++) { vec_##s u = *(const vec_##s *)(y + l * n_); HOLD(u); for (int r = 0; r < R; r++) a[r][l] = mad(z[r], u, a[r][l]); } } \
  for (int r = 0; r < R; r++) for (int l = 0; l < V; l++) *(vec_##s *)(o + r * row + l * n_) = a[r][l]; \
} \
ROWS fours_##s(const i64 m, const int V, T *o, i64 row, const T *start, i64 first, const T *x, i64 xr, const T *y, const i64 all) { \
  const i64 tiles = (m + FEW - 1) / FEW; /* of equal height, but for one row */ \
  for (i64 d = 0; d < all; d += DEEP) { const i64 k = all - d < DEEP ? all - d : DEEP, step = d ? row : first; const T *w = y + d * W; \
    for (i64 b = 0, i = 0; b < tiles; b++) { const i64 R = m / tiles + (b < m % tiles); T *to = o + i * row; const T *from = d ? to : start + i * first, *q = x + i * xr + d; \
      switch (R) { FOURS(s, 1) FOURS(s, 2) FOURS(s, 3) FOURS(s, 4) FOURS(s, 5) FOURS(s, 6) } \
      i += R; } } \
} \
/* blocks from..to of n_ units: bias, then the input's weights, then the state's; in each row the four gates' units */ \
ROWS lstm_pack_##s(T *to, const T *w, const T *u, const T *b, const T *c, i64 I, i64 H, i64 first, i64 last) { \
  for (i64 k = first; k < last; k++) { const i64 e = H - k * n_ < n_ ? H - k * n_ : n_; T *at = to + k * (1 + I + H) * W; \
    if (e < n_) memset(at, 0, (1 + I + H) * W * sizeof(T)); \
    for (i64 g = 0; g < 4; g++, at += n_) { const i64 r = g * H + k * n_; \
      for (i64 j = 0; j < e; j++) at[j] = b ? b[r + j] + c[r + j] : 0; \
      turn_##s(at + W, w + r * I, I, I, e, W); turn_##s(at + (1 + I) * W, u + r * H, H, H, e, W); } } \
} \
/* r, if there is a backward pass: the factors of the states' cotangents for input, output and forget gate and candidate, that of the cell's; the forget gate */ \
INLINE void lstm_gates_##s(const i64 e, const T *restrict g, T *restrict cell, T *restrict h, T *restrict r, i64 H, const int keep) { \
  IVDEP for (i64 j = 0; j < e; j++) { const T i = sigmoid_##s(g[j]), f = sigmoid_##s(g[n_ + j]), c = tanh_##s(g[2 * n_ + j]), o = sigmoid_##s(g[3 * n_ + j]); \
    const T p = i * c, old = f * cell[j], both = old + p, q = tanh_##s(both), y = o * q; cell[j] = both; h[j] = y; \
    if (keep) { r[j] = (1 - i) * p; r[H + j] = (1 - o) * y; r[2 * H + j] = (1 - f) * old; r[3 * H + j] = i - c * p; r[4 * H + j] = o - q * y; r[5 * H + j] = f; } } \
} \
/* rows from..to of N: outputs, last state and cell; for a backward pass (or none) the factors and the states before each step; cells: each step's, or none */ \
ROWS lstm_rows_##s(T *out, T *hn, T *cell, T *factors, T *states, T *cells, const T *x, const T *h0, const T *c0, const T *pack, i64 L, i64 N, i64 I, i64 H, int reverse, i64 first, i64 last) { \
  const i64 m = last - first, S = N * H, at = first * H; T *g = room(m * W * sizeof(T)); const T *before = h0 + at; \
  memcpy(cell + at, c0 + at, m * H * sizeof(T)); \
  for (i64 t = 0; t < L; t++) { const i64 now = reverse ? L - 1 - t : t; T *h = out + now * S + at; \
    if (states) memcpy(states + now * S + at, before, m * H * sizeof(T)); \
    for (i64 j = 0; j < H; j += n_) { const T *w = pack + j / n_ * (1 + I + H) * W; const i64 e = H - j < n_ ? H - j : n_; \
      fours_##s(m, 4, g, W, w, 0, x + (now * N + first) * I, I, w + W, I); \
      fours_##s(m, 4, g, W, g, W, before, H, w + (1 + I) * W, H); \
      for (i64 i = 0; i < m; i++) { T *c = cell + at + i * H + j, *o = h + i * H + j, *q = g + i * W, *r = factors ? factors + (now * N + first + i) * 6 * H + j : 0; \
        if (!r) lstm_gates_##s(e, q, c, o, r, H, 0); else if (e == n_) lstm_gates_##s(n_, q, c, o, r, H, 1); else lstm_gates_##s(e, q, c, o, r, H, 1); } } \
    if (cells) memcpy(cells + now * S + at, cell + at, m * H * sizeof(T)); \
    before = h; } \
  memcpy(hn + at, before, m * H * sizeof(T)); \
} \
/* rows from..to of u (4 H, H), in panels of four vectors */ \
ROWS lstm_pack_back_##s(T *to, const T *u, i64 H, i64 first, i64 last) { \
  for (i64 j = 0; j < H; j += W) { const i64 e = H - j < W ? H - j : W; T *at = to + j * 4 * H; \
    for (i64 p = first; p < last; p++) { if (e < W) memset(at + p * W, 0, W * sizeof(T)); memcpy(at + p * W, u + p * H + j, e * sizeof(T)); } } \
} \
/* the cotangents of the gates' arguments, (L, N, 4 H), and of the first state and cell, from those of outputs, last state and last cell (each or none) */ \
ROWS lstm_back_##s(T *d, T *dh, T *dc, const T *g, const T *gh, const T *gc, const T *factors, const T *pack, i64 L, i64 N, i64 H, int reverse, i64 first, i64 last) { \
  const i64 m = last - first, at = first * H, row = (H + W - 1) / W * W; T *back = room((m * row + W) * sizeof(T)), *none = back + m * row; \
  memset(back, 0, (m * row + W) * sizeof(T)); \
  for (i64 i = 0; i < m && gh; i++) memcpy(back + i * row, gh + at + i * H, H * sizeof(T)); \
  if (gc) memcpy(dc + at, gc + at, m * H * sizeof(T)); else memset(dc + at, 0, m * H * sizeof(T)); \
  for (i64 t = L - 1; t >= 0; t--) { const i64 now = (reverse ? L - 1 - t : t) * N + first; \
    for (i64 i = 0; i < m; i++) { const T *restrict f = factors + (now + i) * 6 * H, *restrict h = back + i * row, *restrict a = g ? g + (now + i) * H : none; const int given = g != 0; \
      T *restrict c = dc + at + i * H, *restrict o = d + (now + i) * 4 * H; \
      IVDEP for (i64 j = 0; j < H; j++) { const T b = given ? h[j] + a[j] : h[j], k = c[j] + b * f[4 * H + j]; \
        o[j] = f[j] * k; o[H + j] = f[2 * H + j] * k; o[2 * H + j] = f[3 * H + j] * k; o[3 * H + j] = f[H + j] * b; c[j] = k * f[5 * H + j]; } } \
    for (i64 j = 0; j < H; j += W) if (H - j > 2 * n_) fours_##s(m, 4, back + j, row, none, 0, d + now * 4 * H, 4 * H, pack + j * 4 * H, 4 * H); \
      else fours_##s(m, 2, back + j, row, none, 0, d + now * 4 * H, 4 * H, pack + j * 4 * H, 4 * H); } \
  for (i64 i = 0; i < m; i++) memcpy(dh + at + i * H, back + i * row, H * sizeof(T)); \
}
LSTM(f, float, VL, (4 * VL), fma_v) LSTM(d, double, (VL / 2), (2 * VL), fma_w)
