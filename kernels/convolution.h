/* -------------------------------------------------------------------------------------------------------- convolution */
/* Sizes: a conv_t, samples, groups, the padded image's numbers, whether weights are turned. ``generate.doubled`` makes
   the functions of doubles from these of floats. */
#define SIZES 20
ENTRY(conv_pad_f) { const conv_t k = *(const conv_t *)A[0]; pad_channels(P(float, 0), P(float, 1), k, from, to); }
ENTRY(conv_pack_weights_f) { const conv_t k = *(const conv_t *)A[0]; conv_pack(P(float, 0), P(float, 1), k.C, k.O, k.KD * k.KH * k.KW, (int)N(SIZES + 3), from, to); }
/* V: vectors of a tile's outputs; images have their borders */
#define IMAGES(name, V, fixed) static __attribute__((noinline)) void name(void **A, i64 from, i64 to) { \
  conv_t k = *(const conv_t *)A[0]; fixed \
  const i64 G = N(SIZES + 1), x = k.C * DP(k) * HP(k) * WP(k), o = k.O * k.OD * k.OH * k.OW, packed = k.C * k.KD * k.KH * k.KW * blocks_of(k.O) * V * VL; \
  for (i64 q = from; q < to; q++) \
    conv_items(P(float, 0) + q * o, P(float, 1) + q * x, P(float, 2) + q % G * packed, P(float, 3) ? P(float, 3) + q % G * k.O : 0, 1, 1, k, V, 0, 0, bands_of(1, k) * blocks_of(k.O)); }
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
  for (i64 q = from; q < to; q++) conv_weight(P(float, 0), P(float, 1), P(float, 2), N(SIZES), N(SIZES + 1), k, V, q, q + 1); }
WEIGHTS(weights_any, 2, ) WEIGHTS(weights_3_1, 2, SQUARE(3, 1))
#ifdef FLOATS
WEIGHTS(weights_any_1, 1, ) WEIGHTS(weights_3_1_1, 1, SQUARE(3, 1)) WEIGHTS(weights_3_2, 2, SQUARE(3, 2))
#endif
ENTRY(conv_weights_f) { const conv_t k = *(const conv_t *)A[0]; part_t f = IS_SQUARE(3, 1) ? weights_3_1 : weights_any;
#ifdef FLOATS
  f = lanes_of(k.O) == VL ? (f == weights_any ? weights_any_1 : weights_3_1_1) : IS_SQUARE(3, 2) ? weights_3_2 : f;
#endif
  f(A, from, to); }
ENTRY(conv_weight_parts_f) { const conv_t k = *(const conv_t *)A[0]; *P(i64, 0) = N(SIZES + 1) * blocks_of(k.O) * cuts_of(N(SIZES + 1), k); }
ENTRY(conv_lanes_f) { *P(i64, 0) = lanes_of(N(0)); }

/* Few outputs of a group, as of a depthwise convolution: planes (sample, output), whose rows are sums of shifted rows. */
INLINE void add_taps(const i64 n, const i64 S, float *restrict o, const float *x, const float *w, i64 count, i64 apart) {
  IVDEP for (i64 j = 0; j < count; j++) { float t = o[j]; for (i64 e = 0; e < n; e++) t = FMA_f(w[e], x[j * S + e * apart], t); o[j] = t; }
}
#define TAPS(n) (k.SW == 1 ? add_taps(n, 1, o, r, w, k.OW, k.DW) : k.SW == 2 ? add_taps(n, 2, o, r, w, k.OW, k.DW) : add_taps(n, k.SW, o, r, w, k.OW, k.DW))
ENTRY(conv_planes_f) { const conv_t k = *(const conv_t *)A[0]; const i64 G = N(SIZES + 1), K = k.KD * k.KH * k.KW, turned = N(SIZES + 3);
  const i64 L = k.OD * k.OH * k.OW; float *own = room((k.C * K + 1) * sizeof(float));
  for (i64 q = from; q < to; q++) { const i64 c = q % (G * k.O), n = q / (G * k.O), g = c / k.O; const float *x = P(float, 1) + (n * G + g) * k.C * DP(k) * HP(k) * WP(k);
    const float *weights = P(float, 2) + c * k.C * K, bias = P(float, 3) ? P(float, 3)[c] : 0;
    if (turned) { for (i64 d = 0; d < k.C; d++) for (i64 e = 0; e < K; e++) own[d * K + e] = P(float, 2)[((g * k.C + d) * k.O + c % k.O) * K + K - 1 - e]; weights = own; }
    for (i64 d = 0; d < k.OD; d++) for (i64 i = 0; i < k.OH; i++) { float *o = P(float, 0) + q * L + (d * k.OH + i) * k.OW; const float *w = weights;
      for (i64 j = 0; j < k.OW; j++) o[j] = bias;
      for (i64 m = 0; m < k.C; m++) for (i64 a = 0; a < k.KD; a++) for (i64 b = 0; b < k.KH; b++, w += k.KW) {
        const float *r = x + ((m * DP(k) + d * k.SD + a * k.DD) * HP(k) + i * k.SH + b * k.DH) * WP(k);
        if (k.KW == 3) TAPS(3); else for (i64 e = 0; e < k.KW; e++, r += k.DW, w++) TAPS(1);
        if (k.KW != 3) w -= k.KW; } } } }
/* their weights' cotangents: parts are outputs; a tap's products are added up by vectors along the rows */
ENTRY(conv_plane_weights_f) { const conv_t k = *(const conv_t *)A[0]; const i64 M = N(SIZES), G = N(SIZES + 1), K = k.KD * k.KH * k.KW;
  const i64 L = k.OD * k.OH * k.OW; float *row = room((k.OW + VL) * sizeof(float));
  for (i64 c = from; c < to; c++) { const i64 g = c / k.O; float *o = P(float, 0) + c * k.C * K; memset(o, 0, k.C * K * sizeof(float));
    for (i64 n = 0; n < M; n++) { const float *x = P(float, 1) + (n * G + g) * k.C * DP(k) * HP(k) * WP(k), *given = P(float, 2) + (n * G * k.O + c) * L; float *at = o;
      for (i64 m = 0; m < k.C; m++) for (i64 a = 0; a < k.KD; a++) for (i64 b = 0; b < k.KH; b++) for (i64 e = 0; e < k.KW; e++, at++) { vec_f t = {0}; float rest = 0; const float *h = given;
        for (i64 d = 0; d < k.OD; d++) for (i64 i = 0; i < k.OH; i++, h += k.OW) {
          const float *r = x + ((m * DP(k) + d * k.SD + a * k.DD) * HP(k) + i * k.SH + b * k.DH) * WP(k) + e * k.DW; i64 j = 0;
          if (k.SW != 1) { for (; j < k.OW; j++) row[j] = r[j * k.SW]; r = row; j = 0; }
          for (; j + VL <= k.OW; j += VL) t = fma_v(*(const vec_f *)(h + j), *(const vec_f *)(r + j), t);
          for (; j < k.OW; j++) rest += h[j] * r[j]; }
        *at += rest + hsum_f(t); } } } }
