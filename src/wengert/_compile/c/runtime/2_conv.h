/* ------------------------------------------------------------------------------------------------------ convolution */
/* Up to three dims, float32: x (N, G * C, D, H, W), w (G * O, C, KD, KH, KW). All sizes are known where it is inlined. */
#define HIDE(p) asm("" : "+r"(p)) /* or gcc keeps what overlaps in registers that it lacks */
#ifdef __AVX512F__
#define TILE 14
#else
#define TILE 6
#endif
#define CHANNELS 16 /* the weights of so many channels stay in the first cache */
#define LANES (2 * VL) /* the outputs that a tile computes at most; where less is idle so, one vector of them */
INLINE i64 lanes_of(i64 outputs) { const i64 vectors = (outputs + VL - 1) / VL; return vectors == 1 || vectors == 3 ? VL : LANES; }
INLINE i64 blocks_of(i64 outputs) { return (outputs + lanes_of(outputs) - 1) / lanes_of(outputs); }
typedef struct { i64 C, D, H, W, O, KD, KH, KW, PD, PH, PW, SD, SH, SW, DD, DH, DW, OD, OH, OW; } conv_t;
#define DP(k) ((k).D + 2 * (k).PD)
#define HP(k) ((k).H + 2 * (k).PH)
#define WP(k) ((k).W + 2 * (k).PW)
#define PLACES 1024 /* whose outputs, of one block, stay in a cache: rows of an image, or of several small ones */
/* The rows of outputs of all images, one after another, are cut in bands of equal height, but for one row. */
INLINE i64 bands_of(i64 N, const conv_t k) { const i64 rows = N * k.OD * k.OH, step = PLACES / k.OW < 1 ? 1 : PLACES / k.OW; return (rows + step - 1) / step; }
/* where the taps of a row of outputs begin; xs: from one image to the next */
INLINE i64 row_at(i64 row, const conv_t k, i64 xs) { return row / (k.OD * k.OH) * xs + (row / k.OH % k.OD * k.SD * HP(k) + row % k.OH * k.SH) * WP(k); }
/* channels from..to with zeros around them */
INLINE void pad_channels(float *pad, const float *x, const conv_t k, i64 from, i64 to) {
  const i64 plane = DP(k) * HP(k) * WP(k); memset(pad + from * plane, 0, (to - from) * plane * 4);
  for (i64 c = from; c < to; c++) for (i64 d = 0; d < k.D; d++) for (i64 i = 0; i < k.H; i++) memcpy(pad + c * plane + ((d + k.PD) * HP(k) + i + k.PH) * WP(k) + k.PW, x + ((c * k.D + d) * k.H + i) * k.W, k.W * 4);
}
/* weights of C channels in blocks from..to of lanes_of(O) outputs, of all groups; flip: the cotangent of the input (w is (C, O, K), turned around) */
INLINE void conv_pack(float *pack, const float *w, i64 C, i64 O, i64 K, int flip, i64 from, i64 to) {
  const i64 lanes = lanes_of(O), blocks = blocks_of(O);
  for (i64 q = from; q < to; q++) { const i64 b = q % blocks * lanes, n = O - b < lanes ? O - b : lanes; float *p = pack + q * C * K * lanes; const float *wg = w + q / blocks * O * C * K;
    if (n < lanes) memset(p, 0, C * K * lanes * 4);
    if (!flip) turn_f(p, wg + b * C * K, C * K, C * K, n, lanes);
    else for (i64 c = 0; c < C; c++) turn_f(p + (c * K + K - 1) * lanes, wg + (c * O + b) * K, K, K, n, -lanes); }
}
/* T places by V vectors of outputs; flat: places begin where ``at`` says, not side by side */
INLINE void conv_tile(const int T, const int V, const int flat, float *o, const float *x, const i64 *at, const float *w, const conv_t k, i64 cs, int first) {
  vec_f a[TILE][2]; i64 off[TILE];
  for (int t = 0; t < T; t++) { off[t] = flat ? at[t] : t * k.SW; for (int l = 0; l < V; l++) a[t][l] = first ? (vec_f){0} : *(vec_f *)(o + (V * t + l) * VL); }
  for (i64 c = 0; c < cs; c++) for (i64 d = 0; d < k.KD; d++) for (i64 i = 0; i < k.KH; i++) { const float *r = x + ((c * DP(k) + d * k.DD) * HP(k) + i * k.DH) * WP(k);
    for (i64 j = 0; j < k.KW; j++, w += V * VL) { const vec_f u = *(const vec_f *)w, v = *(const vec_f *)(w + (V - 1) * VL); const float *q = r + j * k.DW; HIDE(q);
      for (int t = 0; t < T; t++) { const vec_f z = q[off[t]] - (vec_f){0}; a[t][0] = fma_v(u, z, a[t][0]); if (V == 2) a[t][1] = fma_v(v, z, a[t][1]); } } }
  for (int t = 0; t < T; t++) for (int l = 0; l < V; l++) *(vec_f *)(o + (V * t + l) * VL) = a[t][l];
}
#define TILED(n) case n: if (n <= TILE) conv_tile(n <= TILE ? n : 1, V, flat, o, x, at, w, k, cs, first); break;
INLINE void conv_some(const i64 T, const int V, const int flat, float *o, const float *x, const i64 *at, const float *w, const conv_t k, i64 cs, int first) {
  switch (T) { TILED(1) TILED(2) TILED(3) TILED(4) TILED(5) TILED(6) TILED(7) TILED(8) TILED(9) TILED(10) TILED(11) TILED(12) TILED(13) TILED(14) }
}
/* n outputs side by side, or flat ones, in tiles of equal width, but for one place */
INLINE void conv_places(i64 n, const int V, const int flat, float *o, const float *x, const i64 *at, const float *w, const conv_t k, i64 cs, int first) {
  const i64 tiles = (n + TILE - 1) / TILE;
  for (i64 m = 0, j = 0; m < tiles; m++) { const i64 T = n / tiles + (m < n % tiles); conv_some(T, V, flat, o + j * V * VL, flat ? x : x + j * k.SW, flat ? at + j : at, w, k, cs, first); j += T; }
}
/* Whether a row's tiles have fewer than eight sums, which wait for each other: then tiles go on over the ends of rows. */
INLINE int is_flat(const conv_t k) { return k.OW / ((k.OW + TILE - 1) / TILE) * lanes_of(k.O) < 8 * VL; }
/* items from..to, of each group each band of rows each block of outputs; x: N images of G groups, with their borders */
INLINE void conv_items(float *o, const float *x, const float *pack, const float *bias, i64 N, i64 G, const conv_t k, const int V, const int flat, i64 from, i64 to) {
  const i64 lanes = V * VL, blocks = blocks_of(k.O), bands = bands_of(N, k), rows = k.OD * k.OH, L = rows * k.OW, K = k.KD * k.KH * k.KW, plane = DP(k) * HP(k) * WP(k), xs = G * k.C * plane, most = (N * rows + bands - 1) / bands;
  float *acc = room((most * k.OW * (lanes + 2) + VL) * sizeof(float)); i64 *at = (i64 *)(acc + most * k.OW * lanes);
  for (i64 q = from; q < to; q++) { const i64 b = q % blocks, g = q / blocks / bands, band = q / blocks % bands, r0 = N * rows * band / bands, r1 = N * rows * (band + 1) / bands, outputs = k.O - b * lanes < lanes ? k.O - b * lanes : lanes;
    const float *xg = x + g * k.C * plane, *wb = pack + (g * blocks + b) * k.C * K * lanes;
    if (flat) for (i64 r = r0; r < r1; r++) for (i64 j = 0; j < k.OW; j++) at[(r - r0) * k.OW + j] = row_at(r, k, xs) + j * k.SW;
    for (i64 c = 0; c < k.C; c += CHANNELS) { const i64 cs = k.C - c < CHANNELS ? k.C - c : CHANNELS; const float *w = wb + c * K * lanes, *xc = xg + c * plane;
      if (flat) conv_places((r1 - r0) * k.OW, V, 1, acc, xc, at, w, k, cs, c == 0);
      else for (i64 r = r0; r < r1; r++) conv_places(k.OW, V, 0, acc + (r - r0) * k.OW * lanes, xc + row_at(r, k, xs), at, w, k, cs, c == 0); }
    for (i64 r = r0, e; r < r1; r = e) { const i64 n = r / rows, m = ((e = (n + 1) * rows < r1 ? (n + 1) * rows : r1) - r) * k.OW; float *y = o + ((n * G + g) * k.O + b * lanes) * L + r % rows * k.OW;
      turn_f(y, acc + (r - r0) * k.OW * lanes, lanes, outputs, m, L);
      if (bias) for (i64 l = 0; l < outputs; l++) { const float d = bias[g * k.O + b * lanes + l]; for (i64 p = 0; p < m; p++) y[l * L + p] += d; } }
  }
}
/* J rows of taps by V vectors of outputs, over the places of rows that begin at ``at``, which g has; row r is channel r / (KD KH), tap r % (KD KH) */
INLINE void weight_tile(const int J, const int V, const int T, float *acc, const float *x, const float *g, const conv_t k, i64 row, i64 tap, const i64 *at, i64 rows, int first) {
  vec_f a[TILE][2]; const float *base[TILE]; acc += (row * k.KW + tap) * V * VL;
  for (int t = 0; t < J * T; t++) a[t][0] = a[t][1] = (vec_f){0};
  for (int r = 0; r < J; r++) { const i64 q = row + r, c = q / (k.KD * k.KH), d = q / k.KH % k.KD, i = q % k.KH; base[r] = x + ((c * DP(k) + d * k.DD) * HP(k) + i * k.DH) * WP(k) + tap * k.DW; }
  for (i64 i = 0; i < rows; i++) { const i64 off = at[i];
    for (i64 j = 0; j < k.OW; j++, g += V * VL) { const vec_f u = *(const vec_f *)g, v = *(const vec_f *)(g + (V - 1) * VL);
      for (int r = 0; r < J; r++) { const float *z = base[r] + off + j * k.SW; HIDE(z);
        for (int t = 0; t < T; t++) { const vec_f s = z[t * k.DW] - (vec_f){0}; a[r * T + t][0] = fma_v(u, s, a[r * T + t][0]); if (V == 2) a[r * T + t][1] = fma_v(v, s, a[r * T + t][1]); } } } }
  for (int r = 0; r < J; r++) for (int t = 0; t < T; t++) for (int l = 0; l < V; l++) { vec_f *to = (vec_f *)(acc + ((r * k.KW + t) * V + l) * VL); if (first) *to = a[r * T + t][l]; else *to += a[r * T + t][l]; }
}
#define TAPPED(n, m) if (n * m <= TILE && T == m) weight_tile(n * m <= TILE ? n : 1, V, m, acc, x, g, k, row, tap, at, rows, first);
#define TILED_ROWS(n) case n: TAPPED(n, 1) else TAPPED(n, 2) else TAPPED(n, 3) break;
INLINE void weight_some(const i64 J, const int V, const i64 T, float *acc, const float *x, const float *g, const conv_t k, i64 row, i64 tap, const i64 *at, i64 rows, int first) {
  switch (J) { TILED_ROWS(1) TILED_ROWS(2) TILED_ROWS(3) TILED_ROWS(4) TILED_ROWS(5) TILED_ROWS(6) TILED_ROWS(7) TILED_ROWS(8) TILED_ROWS(9) TILED_ROWS(10) TILED_ROWS(11) TILED_ROWS(12) TILED_ROWS(13) TILED_ROWS(14) }
}
/* the cotangent of the weights of blocks from..to of one group's outputs, of taps' rows first..last; xs, gs: from one image, with its border, to the next */
INLINE void conv_weight_blocks(float *gw, const float *x, const float *g, i64 N, i64 xs, i64 gs, const conv_t k, const int V, i64 from, i64 to, i64 first, i64 last) {
  const i64 lanes = V * VL, bands = bands_of(N, k), rows = k.OD * k.OH, L = rows * k.OW, taps = last - first, all = taps * k.KW, whole = k.C * k.KD * k.KH * k.KW, most = (N * rows + bands - 1) / bands, parts = (k.KW + 2) / 3;
  float *acc = room(((to - from) * all * lanes + most * k.OW * lanes + 2 * most + VL) * sizeof(float)), *gt = acc + (to - from) * all * lanes; i64 *at = (i64 *)(gt + most * k.OW * lanes);
  for (i64 band = 0; band < bands; band++) { const i64 r0 = N * rows * band / bands, r1 = N * rows * (band + 1) / bands;
    for (i64 r = r0; r < r1; r++) at[r - r0] = row_at(r, k, xs);
    for (i64 b = from; b < to; b++) { const i64 outputs = k.O - b * lanes < lanes ? k.O - b * lanes : lanes; float *acc_b = acc + (b - from) * all * lanes;
      if (outputs < lanes) memset(gt, 0, (r1 - r0) * k.OW * lanes * sizeof(float));
      for (i64 r = r0, e; r < r1; r = e) { const i64 n = r / rows; e = (n + 1) * rows < r1 ? (n + 1) * rows : r1;
        turn_f(gt + (r - r0) * k.OW * lanes, g + n * gs + b * lanes * L + r % rows * k.OW, L, (e - r) * k.OW, outputs, lanes); }
      for (i64 p = 0, tap = 0; p < parts; p++) { const i64 T = k.KW / parts + (p < k.KW % parts), tiles = (taps + TILE / T - 1) / (TILE / T); /* of equal height, but for one row */
        for (i64 m = 0, r = first; m < tiles; m++) { const i64 J = taps / tiles + (m < taps % tiles);
          weight_some(J, V, T, acc_b - first * k.KW * lanes, x, gt, k, r, tap, at, r1 - r0, band == 0); r += J; }
        tap += T; } } }
  for (i64 b = from; b < to; b++) turn_f(gw + b * lanes * whole + first * k.KW, acc + (b - from) * all * lanes, lanes, k.O - b * lanes < lanes ? k.O - b * lanes : lanes, all, whole);
}
/* the same of all groups, in parts: blocks of outputs, each in two halves of the taps' rows where two threads would find too few blocks */
INLINE i64 cuts_of(i64 G, const conv_t k) { const i64 blocks = G * blocks_of(k.O), tiles = k.C * k.KD * k.KH * 3 / TILE; return blocks > 3 || tiles < 2 ? 1 : 2; }
INLINE void conv_weight(float *gw, const float *x, const float *g, i64 N, i64 G, const conv_t k, const int V, i64 from, i64 to) {
  const i64 blocks = blocks_of(k.O), cuts = cuts_of(G, k), rows = k.C * k.KD * k.KH, xs = k.C * DP(k) * HP(k) * WP(k), gs = k.O * k.OD * k.OH * k.OW;
  for (i64 q = from, e; q < to; q = e) { const i64 b = q / cuts % blocks, c = q % cuts, h = q / cuts / blocks, left = cuts > 1 ? cuts - c : blocks - b; e = q + left < to ? q + left : to;
    const i64 end = c + e - q < cuts ? c + e - q : cuts;
    conv_weight_blocks(gw + h * k.O * rows * k.KW, x + h * xs, g + h * gs, N, G * xs, G * gs, k, V, b, b + (e - q + cuts - 1) / cuts, rows * c / cuts, rows * end / cuts); }
}
/* each tap's part of the cotangent, (C, K, places), added where it belongs */
static __attribute__((unused)) void add_columns(float *x, const float *col, const conv_t k) {
  for (i64 c = 0; c < k.C; c++) for (i64 a = 0; a < k.KD; a++) for (i64 b = 0; b < k.KH; b++) for (i64 e = 0; e < k.KW; e++)
    for (i64 d = 0; d < k.OD; d++) for (i64 i = 0; i < k.OH; i++, col += k.OW) {
      const i64 y = d * k.SD + a * k.DD - k.PD, z = i * k.SH + b * k.DH - k.PH; if (y < 0 || y >= k.D || z < 0 || z >= k.H) continue;
      float *r = x + ((c * k.D + y) * k.H + z) * k.W; const i64 off = e * k.DW - k.PW;
      for (i64 j = 0; j < k.OW; j++) { const i64 v = j * k.SW + off; if (v >= 0 && v < k.W) r[v] += col[j]; } }
}
