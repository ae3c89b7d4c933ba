/* -------------------------------------------------------------------------------------------------------- convolution */
/* Sizes: a conv_t, samples, groups, the packed weights' numbers of a group, the padded image's. ``generate.doubled`` makes
   the functions of doubles from these of floats. */
#define SIZES 20
#define PACKED N(SIZES + 2)
#define PADDED N(SIZES + 3)
/* what ``conv_pack`` writes, by blocks of outputs; of some channels at a time, whose part stays in the first cache */
ENTRY(conv_pack_weights_f) { const conv_t k = *(const conv_t *)A[0]; const i64 K = k.KD * k.KH * k.KW, lanes = lanes_of(k.O), blocks = (k.O + lanes - 1) / lanes, turned = N(SIZES + 4);
  for (i64 q = from; q < to; q++) { const i64 b = q % blocks; float *to = P(float, 0) + q / blocks * PACKED + b * lanes * k.C * K; const float *w = P(float, 1) + q / blocks * k.O * k.C * K;
    for (i64 c = 0; c < k.C; c += CHANNELS) { const i64 end = c + CHANNELS < k.C ? c + CHANNELS : k.C;
      for (i64 l = 0; l < lanes; l++) { const i64 o = b * lanes + l;
        if (o >= k.O) for (i64 e = c * K; e < end * K; e++) to[e * lanes + l] = 0;
        else if (!turned) for (i64 e = c * K; e < end * K; e++) to[e * lanes + l] = w[o * k.C * K + e];
        else for (i64 d = c; d < end; d++) for (i64 e = 0; e < K; e++) to[(d * K + e) * lanes + l] = w[(d * k.O + o) * K + K - 1 - e]; } } } }
/* V: vectors of a tile's outputs */
#define IMAGES(name, V, fixed) static __attribute__((noinline)) void name(void **A, i64 from, i64 to) { \
  conv_t k = *(const conv_t *)A[0]; fixed \
  const i64 G = N(SIZES + 1), x = k.C * k.D * k.H * k.W, o = k.O * k.OD * k.OH * k.OW; \
  float *pad = room((PADDED + LANES * k.OD * k.OH * k.OW) * sizeof(float)), *acc = pad + PADDED; \
  for (i64 q = from; q < to; q++) \
    conv_image(P(float, 0) + q * o, P(float, 1) + q * x, P(float, 2) + q % G * PACKED, P(float, 3) ? P(float, 3) + q % G * k.O : 0, k, V * VL, pad, acc); }
#define FLAT k.KD = 1; k.D = 1; k.OD = 1; k.PD = 0; k.SD = 1; k.DD = 1; k.DH = 1; k.DW = 1;
#define SQUARE(n, s) FLAT k.KH = n; k.KW = n; k.SH = s; k.SW = s;
#define IS_FLAT (k.KD == 1 && k.D == 1 && k.OD == 1 && !k.PD && k.DH == 1 && k.DW == 1)
#define IS_SQUARE(n, s) (IS_FLAT && k.KH == n && k.KW == n && k.SH == s && k.SW == s)
IMAGES(images_any, 2, ) IMAGES(images_3_1, 2, SQUARE(3, 1))
#ifdef FLOATS
IMAGES(images_any_1, 1, ) IMAGES(images_3_1_1, 1, SQUARE(3, 1)) IMAGES(images_3_2, 2, SQUARE(3, 2)) IMAGES(images_7_2, 2, SQUARE(7, 2))
#endif
ENTRY(conv_images_f) { const conv_t k = *(const conv_t *)A[0]; part_t f = IS_SQUARE(3, 1) ? images_3_1 : images_any;
#ifdef FLOATS
  f = lanes_of(k.O) == VL ? (f == images_any ? images_any_1 : images_3_1_1) : IS_SQUARE(3, 2) ? images_3_2 : IS_SQUARE(7, 2) ? images_7_2 : f;
#endif
  f(A, from, to); }
#define WEIGHTS(name, V, fixed) static __attribute__((noinline)) void name(void **A, i64 from, i64 to) { \
  conv_t k = *(const conv_t *)A[0]; fixed \
  const i64 M = N(SIZES), G = N(SIZES + 1), x = k.C * k.D * k.H * k.W, o = k.O * k.OD * k.OH * k.OW, each = k.O * k.C * k.KD * k.KH * k.KW, blocks = (k.O + V * VL - 1) / (V * VL); \
  for (i64 q = from; q < to; q++) { const i64 g = q / blocks, b = q % blocks; \
    conv_weight_blocks(P(float, 0) + g * each, P(float, 1) + g * x, P(float, 2) + g * o, M, G * x, G * o, k, V * VL, b, b + 1); } }
WEIGHTS(weights_any, 2, ) WEIGHTS(weights_3_1, 2, SQUARE(3, 1))
#ifdef FLOATS
WEIGHTS(weights_any_1, 1, ) WEIGHTS(weights_3_1_1, 1, SQUARE(3, 1)) WEIGHTS(weights_3_2, 2, SQUARE(3, 2))
#endif
ENTRY(conv_weights_f) { const conv_t k = *(const conv_t *)A[0]; part_t f = IS_SQUARE(3, 1) ? weights_3_1 : weights_any;
#ifdef FLOATS
  f = lanes_of(k.O) == VL ? (f == weights_any ? weights_any_1 : weights_3_1_1) : IS_SQUARE(3, 2) ? weights_3_2 : f;
#endif
  f(A, from, to); }
ENTRY(conv_lanes_f) { *P(i64, 0) = lanes_of(N(0)); }

/* Few outputs of a group, as of a depthwise convolution: planes (sample, output), whose rows are sums of shifted rows. */
INLINE void add_taps(const i64 n, const i64 S, float *restrict o, const float *x, const float *w, i64 count, i64 apart) {
  IVDEP for (i64 j = 0; j < count; j++) { float t = o[j]; for (i64 e = 0; e < n; e++) t = FMA_f(w[e], x[j * S + e * apart], t); o[j] = t; }
}
#define TAPS(n) (k.SW == 1 ? add_taps(n, 1, o, r, w, k.OW, k.DW) : k.SW == 2 ? add_taps(n, 2, o, r, w, k.OW, k.DW) : add_taps(n, k.SW, o, r, w, k.OW, k.DW))
ENTRY(conv_planes_f) { const conv_t k = *(const conv_t *)A[0]; const i64 G = N(SIZES + 1), K = k.KD * k.KH * k.KW, turned = N(SIZES + 4);
  const i64 DP = k.D + 2 * k.PD, HP = k.H + 2 * k.PH, WP = k.W + 2 * k.PW, L = k.OD * k.OH * k.OW, padded = k.PD || k.PH || k.PW;
  float *image = room((PADDED + k.C * K + 64) * sizeof(float)), *own = image + PADDED; i64 held = -1;
  for (i64 q = from; q < to; q++) { const i64 c = q % (G * k.O), n = q / (G * k.O), g = c / k.O; const float *x = P(float, 1) + (n * G + g) * k.C * k.D * k.H * k.W;
    if (padded) { if (held != n * G + g) pad_image(image, x, k.C, k.D, k.H, k.W, k.PD, k.PH, k.PW, DP, HP, WP); held = n * G + g; x = image; }
    const float *weights = P(float, 2) + c * k.C * K, bias = P(float, 3) ? P(float, 3)[c] : 0;
    if (turned) { for (i64 d = 0; d < k.C; d++) for (i64 e = 0; e < K; e++) own[d * K + e] = P(float, 2)[((g * k.C + d) * k.O + c % k.O) * K + K - 1 - e]; weights = own; }
    for (i64 d = 0; d < k.OD; d++) for (i64 i = 0; i < k.OH; i++) { float *o = P(float, 0) + q * L + (d * k.OH + i) * k.OW; const float *w = weights;
      for (i64 j = 0; j < k.OW; j++) o[j] = bias;
      for (i64 m = 0; m < k.C; m++) for (i64 a = 0; a < k.KD; a++) for (i64 b = 0; b < k.KH; b++, w += k.KW) {
        const float *r = x + ((m * DP + d * k.SD + a * k.DD) * HP + i * k.SH + b * k.DH) * WP;
        if (k.KW == 3) TAPS(3); else for (i64 e = 0; e < k.KW; e++, r += k.DW, w++) TAPS(1);
        if (k.KW != 3) w -= k.KW; } } } }
/* their weights' cotangents: parts are outputs; a tap's products are added up by vectors along the rows */
ENTRY(conv_plane_weights_f) { const conv_t k = *(const conv_t *)A[0]; const i64 M = N(SIZES), G = N(SIZES + 1), K = k.KD * k.KH * k.KW;
  const i64 DP = k.D + 2 * k.PD, HP = k.H + 2 * k.PH, WP = k.W + 2 * k.PW, L = k.OD * k.OH * k.OW, padded = k.PD || k.PH || k.PW;
  float *image = room((PADDED + k.OW + VL) * sizeof(float)), *row = image + PADDED;
  for (i64 c = from; c < to; c++) { const i64 g = c / k.O; float *o = P(float, 0) + c * k.C * K; memset(o, 0, k.C * K * sizeof(float));
    for (i64 n = 0; n < M; n++) { const float *x = P(float, 1) + (n * G + g) * k.C * k.D * k.H * k.W, *given = P(float, 2) + (n * G * k.O + c) * L; float *at = o;
      if (padded) { pad_image(image, x, k.C, k.D, k.H, k.W, k.PD, k.PH, k.PW, DP, HP, WP); x = image; }
      for (i64 m = 0; m < k.C; m++) for (i64 a = 0; a < k.KD; a++) for (i64 b = 0; b < k.KH; b++) for (i64 e = 0; e < k.KW; e++, at++) { vec_f t = {0}; float rest = 0; const float *h = given;
        for (i64 d = 0; d < k.OD; d++) for (i64 i = 0; i < k.OH; i++, h += k.OW) {
          const float *r = x + ((m * DP + d * k.SD + a * k.DD) * HP + i * k.SH + b * k.DH) * WP + e * k.DW; i64 j = 0;
          if (k.SW != 1) { for (; j < k.OW; j++) row[j] = r[j * k.SW]; r = row; j = 0; }
          for (; j + VL <= k.OW; j += VL) t = fma_v(*(const vec_f *)(h + j), *(const vec_f *)(r + j), t);
          for (; j < k.OW; j++) rest += h[j] * r[j]; }
        *at += rest + hsum_f(t); } } } }
