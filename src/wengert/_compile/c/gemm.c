/* Products of matrices of float32, row-major: o = x y, or o + x y; by these tiles and on this thread if ``order`` is 0. A tile of the result, TALL rows by two vectors, stays in
   registers; x and y are packed in the order in which tiles read them. Each number is one sum in the order of k, in steps of
   DEPTH, however the work is cut among threads. OpenBLAS's tiles are as good for 8 floats at a
   time, but not where it was told (or thinks) to be on another processor, and its threads spin; for 4 they are better. */
#ifdef __AVX512F__
#define TALL 14
#else
#define TALL 6
#endif
#ifndef OWN /* whether these tiles are used where there is a BLAS, too */
#define OWN (VL >= 8)
#endif
#define DEPTH 256
#define BROAD 512 /* columns of y that are packed at a time */
#define WIDE (2 * VL)
#define ALONE 4e6 /* multiplications that one thread does sooner than several */
typedef struct { const float *x, *y; float *o; i64 m, n, k, xr, xc, yr, yc, row; int add; } product_t; /* steps of x's rows and columns, of y's, of o's rows */

INLINE void tile(const int R, i64 k, const float *x, const float *y, i64 row, float *o, i64 step, int add) {
  vec_f a[TALL][2];
  for (int t = 0; t < R; t++) for (int l = 0; l < 2; l++) a[t][l] = add ? *(vec_f *)(o + t * step + l * VL) : (vec_f){0};
  for (i64 p = 0; p < k; p++, x += R, y += row) { const vec_f u = *(const vec_f *)y, v = *(const vec_f *)(y + VL); const float *q = x; HIDE(q);
    for (int t = 0; t < R; t++) { const vec_f z = q[t] - (vec_f){0}; a[t][0] = fma_v(u, z, a[t][0]); a[t][1] = fma_v(v, z, a[t][1]); } }
  for (int t = 0; t < R; t++) for (int l = 0; l < 2; l++) *(vec_f *)(o + t * step + l * VL) = a[t][l];
}
#define TILE(n) case n: if (n <= TALL) tile(n <= TALL ? n : 1, k, x, y, row, o, step, add); break;
static __attribute__((noinline)) void tiles(i64 R, i64 k, const float *x, const float *y, i64 row, float *o, i64 step, int add) {
  switch (R) { TILE(1) TILE(2) TILE(3) TILE(4) TILE(5) TILE(6) TILE(7) TILE(8) TILE(9) TILE(10) TILE(11) TILE(12) TILE(13) TILE(14) }
}
/* w columns of y, k rows, in panels of WIDE; direct: whole panels are read where they are */
static void pack(float *at, const product_t *g, const float *y, i64 w, i64 k, int direct) {
  for (i64 j = 0; j < w; j += WIDE) { const i64 e = w - j < WIDE ? w - j : WIDE; float *to = at + j * k;
    if (direct && e == WIDE) continue;
    if (e < WIDE) memset(to, 0, k * WIDE * 4);
    if (g->yc != 1) turn_f(to, y + j * g->yc, g->yc, k, e, WIDE);
    else if (e < WIDE) for (i64 p = 0; p < k; p++, to += WIDE) memcpy(to, y + p * g->yr + j, e * 4);
    else for (i64 p = 0; p < k; p++, to += WIDE) for (i64 l = 0; l < WIDE; l += VL) *(vec_f *)(to + l) = *(const vec_f *)(y + p * g->yr + j + l); }
}
ROOM(panels_room)
static void product(const product_t *g) {
  const i64 panels = (g->m + TALL - 1) / TALL; /* of equal height, but for one row */
  const int direct = g->yc == 1 && g->m <= 5 * TALL;
  float *at = panels_room((DEPTH * (BROAD + TALL) + VL + TALL * WIDE) * 4), *xs = at + DEPTH * BROAD, *edge = xs + TALL * DEPTH + VL;
  for (i64 c = 0; c < g->n; c += BROAD) { const i64 w = g->n - c < BROAD ? g->n - c : BROAD;
    for (i64 d = 0; d < g->k; d += DEPTH) { const i64 k = g->k - d < DEPTH ? g->k - d : DEPTH; const int add = g->add || d > 0;
      const float *y = g->y + d * g->yr + c * g->yc;
      pack(at, g, y, w, k, direct);
      for (i64 b = 0, i = 0; b < panels; b++) { const i64 R = g->m / panels + (b < g->m % panels); const float *x = g->x + i * g->xr + d * g->xc;
        if (g->xc == 1) turn_f(xs, x, g->xr, k, R, R);
        else if (VL >= TALL && i + VL <= g->m) for (i64 p = 0; p < k; p++) *(vec_f *)(xs + p * R) = *(const vec_f *)(x + p * g->xc); /* the next row covers what is too much */
        else for (i64 p = 0; p < k; p++) for (i64 t = 0; t < R; t++) xs[p * R + t] = x[p * g->xc + t * g->xr];
        for (i64 j = 0; j < w; j += WIDE) { float *o = g->o + i * g->row + c + j; const i64 e = w - j;
          if (e >= WIDE) { if (direct) tiles(R, k, xs, y + j, g->yr, o, g->row, add); else tiles(R, k, xs, at + j * k, WIDE, o, g->row, add); continue; }
          if (add) for (i64 t = 0; t < R; t++) for (i64 l = 0; l < WIDE; l++) edge[t * WIDE + l] = l < e ? o[t * g->row + l] : 0;
          tiles(R, k, xs, at + j * k, WIDE, edge, WIDE, add);
          for (i64 t = 0; t < R; t++) memcpy(o + t * g->row, edge + t * WIDE, e * 4); }
        i += R; } } }
}
/* parts from..to of the result's rows, if it is tall, or columns: each packs the other factor, which is the smaller one, anew */
typedef struct { product_t whole; i64 step; int tall; } cut_t;
static void some(void **A, i64 from, i64 to) {
  const cut_t *c = A[0]; product_t g = c->whole; const i64 a = from * c->step, b = to * c->step;
  if (c->tall) { g.x += a * g.xr; g.o += a * g.row; g.m = (b < g.m ? b : g.m) - a; }
  else { g.y += a * g.yc; g.o += a; g.n = (b < g.n ? b : g.n) - a; }
  product(&g);
}
#define LONG 96 /* rows or columns of a part, at least: to pack a factor then takes less than a tenth of the time */
static sgemm_t blas_f;
static dgemm_t blas_d;
/* Products by BLAS, which has one thread meanwhile (``CProgram``): cut into parts of UNIT rows or columns times a number that
   follows from the sizes alone, so that no digit depends on the number of threads. */
#define UNIT 16
#define PARTS 4
typedef struct { int tx, ty; i64 m, n, k, lx, ly, lo; int add; const void *x, *y; void *o; i64 step; int tall; } call_t;
#define BY_BLAS(s, T) \
static void part_##s(void **A, i64 from, i64 to) { const call_t *c = A[0]; \
  for (i64 q = from; q < to; q++) { const i64 at = q * c->step, left = (c->tall ? c->m : c->n) - at, w = left < c->step ? left : c->step; \
    const T *x = (const T *)c->x + (!c->tall ? 0 : c->tx == 111 ? at * c->lx : at), *y = (const T *)c->y + (c->tall ? 0 : c->ty == 111 ? at : at * c->ly); \
    blas_##s(101, c->tx, c->ty, c->tall ? w : c->m, c->tall ? c->n : w, c->k, 1, x, c->lx, y, c->ly, c->add, (T *)c->o + (c->tall ? at * c->lo : at), c->lo); } } \
static void by_blas_##s(int tx, int ty, i64 m, i64 n, i64 k, const T *x, i64 lx, const T *y, i64 ly, int add, T *o, i64 lo) { \
  if ((double)m * n * k < ALONE * sizeof(float) / sizeof(T) / 4) { blas_##s(101, tx, ty, m, n, k, 1, x, lx, y, ly, add, o, lo); return; } \
  const i64 long_ = m > n ? m : n, step = ((long_ + PARTS - 1) / PARTS + UNIT - 1) / UNIT * UNIT; \
  const call_t c = {tx, ty, m, n, k, lx, ly, lo, add, x, y, o, step, m > n}; \
  void *A[] = {(void *)&c}; go(part_##s, A, (long_ + step - 1) / step, 1); }
BY_BLAS(f, float) BY_BLAS(d, double)
EXPORT void wengert_sgemm(int order, int tx, int ty, i64 m, i64 n, i64 k, float alpha, const float *x, i64 lx, const float *y, i64 ly, float beta, float *o, i64 lo) {
  if (blas_f && !OWN && order) { by_blas_f(tx, ty, m, n, k, x, lx, y, ly, beta != 0, o, lo); return; }
  product_t g = {x, y, o, m, n, k, tx == 111 ? lx : 1, tx == 111 ? 1 : lx, ty == 111 ? ly : 1, ty == 111 ? 1 : ly, lo, beta != 0};
  if (!order || (double)m * n * k < ALONE) { product(&g); return; }
  const i64 span = m > n ? m : n, unit = m > n ? TALL : WIDE, most = span / LONG, parts = most < 2 ? 1 : most < 4 ? 2 : most / 4 * 4;
  const cut_t c = {g, ((span + parts - 1) / parts + unit - 1) / unit * unit, m > n};
  void *A[] = {(void *)&c};
  go(some, A, (span + c.step - 1) / c.step, 1);
}
EXPORT void wengert_dgemm(int order, int tx, int ty, i64 m, i64 n, i64 k, double alpha, const double *x, i64 lx, const double *y, i64 ly, double beta, double *o, i64 lo) {
  by_blas_d(tx, ty, m, n, k, x, lx, y, ly, beta != 0, o, lo);
}
EXPORT void init(void **p) { shared = (parallel_t)p[0]; blas_f = (sgemm_t)p[1]; blas_d = (dgemm_t)p[2]; }
