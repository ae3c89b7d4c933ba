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
typedef struct { i64 C, KD, KH, KW, HP, WP, DP, DD, DH, DW, S; } taps_t;
INLINE void conv_tile(const int T, const int V, float *o, const float *x, const float *w, const taps_t t, i64 cs, int first) {
  vec_f a[TILE][2];
  for (int k = 0; k < T; k++) for (int l = 0; l < V; l++) a[k][l] = first ? (vec_f){0} : *(vec_f *)(o + (V * k + l) * VL);
  for (i64 c = 0; c < cs; c++) for (i64 d = 0; d < t.KD; d++) for (i64 i = 0; i < t.KH; i++) { const float *r = x + ((c * t.DP + d * t.DD) * t.HP + i * t.DH) * t.WP;
    for (i64 j = 0; j < t.KW; j++, w += V * VL) { const vec_f u = *(const vec_f *)w, v = *(const vec_f *)(w + (V - 1) * VL); const float *q = r + j * t.DW; HIDE(q);
      for (int k = 0; k < T; k++) { const vec_f z = q[k * t.S] - (vec_f){0}; a[k][0] = fma_v(u, z, a[k][0]); if (V == 2) a[k][1] = fma_v(v, z, a[k][1]); } } }
  for (int k = 0; k < T; k++) for (int l = 0; l < V; l++) *(vec_f *)(o + (V * k + l) * VL) = a[k][l];
}
#define TILED(n) case n: if (n <= TILE) conv_tile(n <= TILE ? n : 1, V, o, x, w, t, cs, first); break;
INLINE void conv_some(const i64 T, const int V, float *o, const float *x, const float *w, const taps_t t, i64 cs, int first) {
  switch (T) { TILED(1) TILED(2) TILED(3) TILED(4) TILED(5) TILED(6) TILED(7) TILED(8) TILED(9) TILED(10) TILED(11) TILED(12) TILED(13) TILED(14) }
}
INLINE void pad_image(float *to, const float *x, i64 C, i64 D, i64 H, i64 W, i64 PD, i64 PH, i64 PW, i64 DP, i64 HP, i64 WP) {
  memset(to, 0, C * DP * HP * WP * 4);
  for (i64 c = 0; c < C; c++) for (i64 d = 0; d < D; d++) for (i64 i = 0; i < H; i++) memcpy(to + ((c * DP + d + PD) * HP + i + PH) * WP + PW, x + ((c * D + d) * H + i) * W, W * 4);
}
/* weights in blocks of lanes_of(O) outputs; flip: the cotangent of the input (w is (C, O, K), turned around) */
INLINE void conv_pack(float *pack, const float *w, i64 C, i64 O, i64 K, int flip) {
  const i64 lanes = lanes_of(O), blocks = (O + lanes - 1) / lanes;
  for (i64 b = 0; b < blocks; b++) for (i64 c = 0; c < C; c++) for (i64 k = 0; k < K; k++) for (i64 l = 0; l < lanes; l++) { const i64 q = b * lanes + l;
    pack[((b * C + c) * K + k) * lanes + l] = q >= O ? 0 : flip ? w[(c * O + q) * K + K - 1 - k] : w[(q * C + c) * K + k]; }
}
typedef struct { i64 C, D, H, W, O, KD, KH, KW, PD, PH, PW, SD, SH, SW, DD, DH, DW, OD, OH, OW; } conv_t;
/* one image of one group; lanes: lanes_of(O); pad: room for it with its border, acc: lanes numbers for each place */
INLINE void conv_image(float *o, const float *x, const float *pack, const float *bias, const conv_t k, const i64 lanes, float *pad, float *acc) {
  const i64 DP = k.D + 2 * k.PD, HP = k.H + 2 * k.PH, WP = k.W + 2 * k.PW, K = k.KD * k.KH * k.KW, L = k.OD * k.OH * k.OW, blocks = (k.O + lanes - 1) / lanes, tiles = (k.OW + TILE - 1) / TILE; /* of equal width, but for one place */
  const taps_t t = {k.C, k.KD, k.KH, k.KW, HP, WP, DP, k.DD, k.DH, k.DW, k.SW};
  if (k.PD || k.PH || k.PW) { pad_image(pad, x, k.C, k.D, k.H, k.W, k.PD, k.PH, k.PW, DP, HP, WP); x = pad; }
  for (i64 b = 0; b < blocks; b++) {
    for (i64 c = 0; c < k.C; c += CHANNELS) { const i64 cs = k.C - c < CHANNELS ? k.C - c : CHANNELS; const float *wb = pack + (b * k.C + c) * K * lanes; const int f = c == 0;
      for (i64 d = 0; d < k.OD; d++) for (i64 i = 0; i < k.OH; i++) {
        const float *xi = x + ((c * DP + d * k.SD) * HP + i * k.SH) * WP; float *ob = acc + (d * k.OH + i) * k.OW * lanes; i64 j = 0;
        for (i64 n = 0; n < tiles; n++) { const i64 T = k.OW / tiles + (n < k.OW % tiles); if (lanes == VL) conv_some(T, 1, ob + j * lanes, xi + j * k.SW, wb, t, cs, f); else conv_some(T, 2, ob + j * lanes, xi + j * k.SW, wb, t, cs, f); j += T; }
      } }
    for (i64 l = 0; l < lanes && b * lanes + l < k.O; l++) { float *q = o + (b * lanes + l) * L; const float d = bias ? bias[b * lanes + l] : 0; for (i64 p = 0; p < L; p++) q[p] = acc[p * lanes + l] + d; }
  }
}
/* J rows of taps by V vectors of outputs, over the places in rows from..to of images that are xs apart, which g has; row r is channel r / (KD KH), tap r % (KD KH) */
INLINE void weight_tile(const int J, const int V, float *acc, const float *x, const float *g, const conv_t k, i64 row, i64 tap, const int T, i64 DP, i64 HP, i64 WP, i64 images, i64 xs, i64 from, i64 to) {
  vec_f a[TILE][2]; const float *base[TILE]; acc += (row * k.KW + tap) * V * VL;
  for (int t = 0; t < J * T; t++) a[t][0] = a[t][1] = (vec_f){0};
  for (int r = 0; r < J; r++) { const i64 q = row + r, c = q / (k.KD * k.KH), d = q / k.KH % k.KD, i = q % k.KH; base[r] = x + ((c * DP + d * k.DD) * HP + i * k.DH) * WP + tap * k.DW; }
  for (i64 n = 0; n < images; n++) for (i64 d = 0; d < k.OD; d++) for (i64 i = from; i < to; i++) { const i64 at = n * xs + (d * k.SD * HP + i * k.SH) * WP;
    for (i64 j = 0; j < k.OW; j++, g += V * VL) { const vec_f u = *(const vec_f *)g, v = *(const vec_f *)(g + (V - 1) * VL);
      for (int r = 0; r < J; r++) { const float *z = base[r] + at + j * k.SW; HIDE(z);
        for (int t = 0; t < T; t++) { const vec_f s = z[t * k.DW] - (vec_f){0}; a[r * T + t][0] = fma_v(u, s, a[r * T + t][0]); if (V == 2) a[r * T + t][1] = fma_v(v, s, a[r * T + t][1]); } } } }
  for (int r = 0; r < J; r++) for (int t = 0; t < T; t++) for (int l = 0; l < V; l++) *(vec_f *)(acc + ((r * k.KW + t) * V + l) * VL) += a[r * T + t][l];
}
#define TILED_ROWS(n) case n: if (n <= TILE && T == 1) weight_tile(n <= TILE ? n : 1, V, acc, x, g, k, row, tap, 1, DP, HP, WP, images, xs, from, to); \
  else if (3 * n <= TILE && T == 3) weight_tile(3 * n <= TILE ? n : 1, V, acc, x, g, k, row, tap, 3, DP, HP, WP, images, xs, from, to); break;
INLINE void weight_some(const i64 J, const int V, float *acc, const float *x, const float *g, const conv_t k, i64 row, i64 tap, const int T, i64 DP, i64 HP, i64 WP, i64 images, i64 xs, i64 from, i64 to) {
  switch (J) { TILED_ROWS(1) TILED_ROWS(2) TILED_ROWS(3) TILED_ROWS(4) TILED_ROWS(5) TILED_ROWS(6) TILED_ROWS(7) TILED_ROWS(8) TILED_ROWS(9) TILED_ROWS(10) TILED_ROWS(11) TILED_ROWS(12) TILED_ROWS(13) TILED_ROWS(14) }
}
#define PLACES 1024 /* whose cotangents stay in a cache, and are added up before they are added to the others': rows of an image, or small images */
/* the cotangent of the weights of outputs from..to (blocks of lanes_of(O)), over images */
INLINE void conv_weight_blocks(float *gw, const float *x, const float *g, i64 N, i64 xn, i64 gn, const conv_t k, const i64 lanes, i64 from, i64 to) {
  const i64 DP = k.D + 2 * k.PD, HP = k.H + 2 * k.PH, WP = k.W + 2 * k.PW, L = k.OD * k.OH * k.OW, rows = k.C * k.KD * k.KH, all = rows * k.KW, padded = k.PD || k.PH || k.PW, image = k.C * DP * HP * WP;
  enum { T3 = 3 }; const int T = k.KW % T3 == 0 ? T3 : 1; const i64 tiles = (rows + TILE / T - 1) / (TILE / T); /* of equal height, but for one row */
  const i64 many = PLACES / L < 1 ? 1 : PLACES / L < N ? PLACES / L : N, some = PLACES / (k.OD * k.OW), step = some < 1 ? 1 : some < k.OH ? some : k.OH, xs = padded ? image : xn;
  float *acc = room(((to - from) * all * lanes + many * k.OD * step * k.OW * lanes + padded * many * image + VL) * sizeof(float)), *gt = acc + (to - from) * all * lanes, *pad = gt + many * k.OD * step * k.OW * lanes;
  memset(acc, 0, (to - from) * all * lanes * sizeof(float));
  for (i64 n = 0; n < N; n += many) { const float *xp = x + n * xn; const i64 images = N - n < many ? N - n : many;
    if (padded) { for (i64 m = 0; m < images; m++) pad_image(pad + m * image, xp + m * xn, k.C, k.D, k.H, k.W, k.PD, k.PH, k.PW, DP, HP, WP); xp = pad; }
    for (i64 b = from; b < to; b++) { const i64 outputs = k.O - b * lanes; float *part = acc + (b - from) * all * lanes;
      for (i64 i0 = 0; i0 < k.OH; i0 += step) { const i64 i1 = i0 + step < k.OH ? i0 + step : k.OH; float *at = gt;
        for (i64 m = n; m < n + images; m++) for (i64 d = 0; d < k.OD; d++) for (i64 p = (d * k.OH + i0) * k.OW; p < (d * k.OH + i1) * k.OW; p++, at += lanes)
          for (i64 l = 0; l < lanes; l++) at[l] = l < outputs ? g[m * gn + (b * lanes + l) * L + p] : 0;
        for (i64 tap = 0; tap < k.KW; tap += T) { i64 r = 0;
          for (i64 c = 0; c < tiles; c++) { const i64 J = rows / tiles + (c < rows % tiles); if (lanes == VL) weight_some(J, 1, part, xp, gt, k, r, tap, T, DP, HP, WP, images, xs, i0, i1); else weight_some(J, 2, part, xp, gt, k, r, tap, T, DP, HP, WP, images, xs, i0, i1); r += J; } } } } }
  for (i64 b = from; b < to; b++) for (i64 q0 = 0; q0 < all; q0 += VL) for (i64 l = 0; l < lanes && b * lanes + l < k.O; l++) for (i64 q = q0; q < all && q < q0 + VL; q++) gw[(b * lanes + l) * all + q] = acc[((b - from) * all + q) * lanes + l];
}
/* each tap's part of the cotangent, (C, K, places), added where it belongs */
static __attribute__((unused)) void add_columns(float *x, const float *col, const conv_t k) {
  for (i64 c = 0; c < k.C; c++) for (i64 a = 0; a < k.KD; a++) for (i64 b = 0; b < k.KH; b++) for (i64 e = 0; e < k.KW; e++)
    for (i64 d = 0; d < k.OD; d++) for (i64 i = 0; i < k.OH; i++, col += k.OW) {
      const i64 y = d * k.SD + a * k.DD - k.PD, z = i * k.SH + b * k.DH - k.PH; if (y < 0 || y >= k.D || z < 0 || z >= k.H) continue;
      float *r = x + ((c * k.D + y) * k.H + z) * k.W; const i64 off = e * k.DW - k.PW;
      for (i64 j = 0; j < k.OW; j++) { const i64 v = j * k.SW + off; if (v >= 0 && v < k.W) r[v] += col[j]; } }
}
