/* What generated programs stand on: vectors, functions of one number, sums. Compiled for any vector width; nan, inf, -0
   and subnormal numbers are what they are, since no part of -ffast-math is on. */
#include <math.h>
#include <stdint.h>
#include <string.h>
#define INLINE static inline __attribute__((always_inline))
#define EXPORT __attribute__((visibility("default")))
#define ROWS static __attribute__((noinline, unused)) void /* inlined with known sizes, gcc 12 leaves some sums scalar */
#define PRAGMA(x) _Pragma(#x)
#ifdef __clang__
#define IVDEP PRAGMA(clang loop vectorize(assume_safety))
#pragma clang fp contract(off)
#else
#define IVDEP PRAGMA(GCC ivdep)
#endif
typedef int64_t i64;
typedef uint8_t u8;
typedef void (*part_t)(void **, i64, i64);
typedef void (*parallel_t)(part_t, void **, i64, i64);
typedef void (*sgemm_t)(int, int, int, i64, i64, i64, float, const float *, i64, const float *, i64, float, float *, i64);
typedef void (*dgemm_t)(int, int, int, i64, i64, i64, double, const double *, i64, const double *, i64, double, double *, i64);
static sgemm_t gemm_f;
static dgemm_t gemm_d;
static parallel_t shared;

#ifdef __AVX512F__
#define VL 16
#elif defined(__AVX__)
#define VL 8
#else
#define VL 4
#endif
typedef float vec_f __attribute__((vector_size(VL * 4), aligned(4), may_alias));
typedef double vec_d __attribute__((vector_size(VL * 4), aligned(8), may_alias));
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
#define FMA_f(a, b, c) __builtin_fmaf(a, b, c)
#define FMA_d(a, b, c) __builtin_fma(a, b, c)
#else
#define FMA_f(a, b, c) ((a) * (b) + (c))
#define FMA_d(a, b, c) ((a) * (b) + (c))
#endif
#if defined(__clang__) && (defined(__FMA__) || defined(__ARM_FEATURE_FMA))
#define FMA_BODY(V, type, fma, count) _Pragma("clang fp contract(fast)") return a * b + c;
#elif defined(__AVX512F__) && !defined(__clang__)
#define FMA_BODY(V, type, fma, count) return (V)__builtin_ia32_vfmadd##type##512_mask(a, b, c, -1, 4);
#elif defined(__FMA__) && !defined(__clang__)
#define FMA_BODY(V, type, fma, count) return (V)__builtin_ia32_vfmadd##type##256(a, b, c);
#elif defined(__ARM_FEATURE_FMA)
#define FMA_BODY(V, type, fma, count) V r; for (int k = 0; k < count; k++) r[k] = fma(a[k], b[k], c[k]); return r;
#else
#define FMA_BODY(V, type, fma, count) return a * b + c;
#endif
#define FMA_OF(name, V, type, fma, count) INLINE V name(V a, V b, V c) { FMA_BODY(V, type, fma, count) }
FMA_OF(fma_v, vec_f, ps, __builtin_fmaf, VL)
FMA_OF(fma_w, vec_d, pd, __builtin_fma, VL / 2)

/* ------------------------------------------------------------------------------------------------------------- memory */
#include <stdlib.h>
/* A thread's own memory, which stays with it: what a range of work needs besides its operands. A function that
   calls another one with such memory has a room of its own. */
#define ROOM(name) \
static __attribute__((unused)) void *name(i64 bytes) { \
  static __thread char *at; static __thread i64 have; \
  if (have < bytes) { free(at); at = malloc(bytes + 128); have = at ? bytes : 0; if (!at) abort(); } \
  return (void *)(((uintptr_t)at + 63) & ~(uintptr_t)63); \
}
ROOM(room)
typedef float quad __attribute__((vector_size(16), aligned(4), may_alias));
#if defined(__clang__) || __GNUC__ >= 12
#define PICK(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#endif
/* to[p * row + j] = from[j * step + p] for p < k, j < w */
static __attribute__((unused)) void turn_f(float *to, const float *from, i64 step, i64 k, i64 w, i64 row) {
  i64 done = 0;
#ifdef PICK
  for (; done < w && w >= 4; done += 4) { const i64 j = done + 4 <= w ? done : w - 4; const float *q = from + j * step; i64 p = 0; /* the last four may be turned twice */
    for (; p + 4 <= k; p += 4) { float *t = to + p * row + j;
      const quad a = *(quad *)(q + p), b = *(quad *)(q + step + p), c = *(quad *)(q + 2 * step + p), d = *(quad *)(q + 3 * step + p);
      const quad e = PICK(a, b, 0, 4, 1, 5), f = PICK(c, d, 0, 4, 1, 5), g = PICK(a, b, 2, 6, 3, 7), h = PICK(c, d, 2, 6, 3, 7);
      *(quad *)t = PICK(e, f, 0, 1, 4, 5); *(quad *)(t + row) = PICK(e, f, 2, 3, 6, 7);
      *(quad *)(t + 2 * row) = PICK(g, h, 0, 1, 4, 5); *(quad *)(t + 3 * row) = PICK(g, h, 2, 3, 6, 7); }
    for (; p < k; p++) for (i64 l = 0; l < 4; l++) to[p * row + j + l] = q[l * step + p]; }
#endif
  for (i64 j = done; j < w; j++) for (i64 p = 0; p < k; p++) to[p * row + j] = from[j * step + p];
}
static __attribute__((unused)) void turn_d(double *to, const double *from, i64 step, i64 k, i64 w, i64 row) {
  for (i64 j = 0; j < w; j++) for (i64 p = 0; p < k; p++) to[p * row + j] = from[j * step + p];
}

/* ------------------------------------------------------------------------------------------- functions of one number */
INLINE float bits_to_f(uint32_t u) { float f; memcpy(&f, &u, 4); return f; }
INLINE uint32_t f_to_bits(float f) { uint32_t u; memcpy(&u, &f, 4); return u; }

/* A clamp is written so that the smaller or larger is one instruction, and nan stays. */
INLINE float exp_f(float x) { /* about 1 ulp; 0 and inf where they belong, nan stays: e**r times 2**n twice, so that a subnormal result is rounded once */
  float c = 89.0f < x ? 89.0f : x; c = -104.0f > c ? -104.0f : c;
  float t = FMA_f(c, 0.72134752f, 12583039.0f), k = t - 12583039.0f; /* n in the last bits, with the exponent's bias */
  float r = FMA_f(k, -1.38671875f, c); r = FMA_f(k, 4.24388880e-4f, r);
  float p = 0x1.9b49bcp-13f; p = FMA_f(p, r, 0x1.71bcb8p-10f); p = FMA_f(p, r, 0x1.112846p-7f); p = FMA_f(p, r, 0x1.554a06p-5f);
  p = FMA_f(p, r, 0x1.55550ep-3f); p = FMA_f(p, r, 0x1.00000cp-1f); p = FMA_f(p * r, r, r) + 1.0f;
  float s = bits_to_f(f_to_bits(t) << 23);
  return p * s * s;
}
INLINE float exp_mid_f(float x) { /* the same where the result is a normal number: -87 <= x <= 88, or nan */
  float t = FMA_f(x, 1.44269504f, 12583039.0f), k = t - 12583039.0f;
  float r = FMA_f(k, -0.693359375f, x); r = FMA_f(k, 2.12194440e-4f, r);
  float p = 0x1.6a23f2p-10f; p = FMA_f(p, r, 0x1.123a0ap-7f); p = FMA_f(p, r, 0x1.5558f2p-5f); p = FMA_f(p, r, 0x1.555492p-3f); p = FMA_f(p, r, 0x1.fffffcp-2f);
  return (FMA_f(p * r, r, r) + 1.0f) * bits_to_f(f_to_bits(t) << 23);
}
INLINE float tanh_f(float x) {
  float a = fabsf(x), s = x * x;
  float p = -5.70498872745e-3f; p = FMA_f(p, s, 2.06390887954e-2f); p = FMA_f(p, s, -5.37397155531e-2f); p = FMA_f(p, s, 1.33314422036e-1f); p = FMA_f(p, s, -3.33332819422e-1f);
  float small = copysignf(FMA_f(p * s, x, x), x), big = copysignf(1.0f - 2.0f / (exp_mid_f(20.0f < 2.0f * a ? 20.0f : 2.0f * a) + 1.0f), x);
  return a < 0.625f ? small : big;
}
INLINE float erf_f(float a) { /* after N. Juffa */
  float t = fabsf(a), s = a * a;
  float r = FMA_f(-1.72853470e-5f, t, 3.83197126e-4f), u = FMA_f(-3.88396438e-3f, t, 2.42546219e-2f);
  r = FMA_f(r, s, u); r = FMA_f(r, t, -1.06777877e-1f); r = FMA_f(r, t, -6.34846687e-1f); r = FMA_f(r, t, -1.28717512e-1f); r = FMA_f(r, t, -t);
  float big = copysignf(1.0f - exp_mid_f(-40.0f > r ? -40.0f : r), a);
  float q = -5.96761703e-4f; q = FMA_f(q, s, 4.99119423e-3f); q = FMA_f(q, s, -2.67681349e-2f); q = FMA_f(q, s, 1.12819925e-1f); q = FMA_f(q, s, -3.76125336e-1f); q = FMA_f(q, s, 1.28379166e-1f);
  q = FMA_f(q, a, a);
  return t > 0.927734375f ? big : q;
}
INLINE float log_f(float x) { /* after Cephes; subnormal numbers scaled */
  int tiny = x < 1.17549435e-38f; float y = tiny ? x * 8388608.0f : x;
  uint32_t b = f_to_bits(y); int32_t e = (int32_t)(b >> 23) - 126 - (tiny ? 23 : 0);
  float m = bits_to_f((b & 0x7fffffu) | 0x3f000000u); int low = m < 0.707106781186547524f;
  e = low ? e - 1 : e; m = (low ? m + m : m) - 1.0f;
  float z = m * m, k = (float)e, p = 7.0376836292e-2f;
  p = FMA_f(p, m, -1.1514610310e-1f); p = FMA_f(p, m, 1.1676998740e-1f); p = FMA_f(p, m, -1.2420140846e-1f); p = FMA_f(p, m, 1.4249322787e-1f);
  p = FMA_f(p, m, -1.6668057665e-1f); p = FMA_f(p, m, 2.0000714765e-1f); p = FMA_f(p, m, -2.4999993993e-1f); p = FMA_f(p, m, 3.3333331174e-1f);
  p = p * m * z; p = FMA_f(k, -2.12194440e-4f, p); p = FMA_f(z, -0.5f, p);
  float r = FMA_f(k, 0.693359375f, m + p);
  r = x == 0.0f ? -INFINITY : r; r = x < 0.0f ? NAN : r;
  return x == INFINITY || x != x ? x : r;
}
INLINE float expm1_f(float x) { /* about 1 ulp: 2**n times the polynomial of exp_f without its 1, and 2**n - 1 */
  float c = x > 89.0f ? 89.0f : x; c = c < -25.0f ? -25.0f : c;
  float t = c * 1.44269504f + 12582912.0f;
  int32_t n = (int32_t)(f_to_bits(t) - 0x4b400000u);
  float k = t - 12582912.0f, r = FMA_f(k, -0.693359375f, c); r = FMA_f(k, 2.12194440e-4f, r);
  float p = 1.9875691500e-4f; p = FMA_f(p, r, 1.3981999507e-3f); p = FMA_f(p, r, 8.3334519073e-3f); p = FMA_f(p, r, 4.1665795894e-2f);
  p = FMA_f(p, r, 1.6666665459e-1f); p = FMA_f(p, r, 5.0000001201e-1f); p = FMA_f(p * r, r, r);
  float h = bits_to_f((uint32_t)(n + 126) << 23); /* half of 2**n, which 2**128 is not a float for */
  float y = 2.0f * FMA_f(h, p, h - 0.5f);
  return x == 0.0f ? x : y;
}
INLINE float exp2_f(float x) {
  float c = x > 129.0f ? 129.0f : x; c = c < -151.0f ? -151.0f : c;
  float t = c + 12582912.0f;
  int32_t n = (int32_t)(f_to_bits(t) - 0x4b400000u);
  float r = c - (t - 12582912.0f);
  float p = 1.535336188319500e-4f; p = FMA_f(p, r, 1.339887440266574e-3f); p = FMA_f(p, r, 9.618437357674640e-3f); p = FMA_f(p, r, 5.550332471162809e-2f);
  p = FMA_f(p, r, 2.402264791363012e-1f); p = FMA_f(p, r, 6.931472028550421e-1f); p = FMA_f(p, r, 1.0f);
  int32_t h = n >> 1;
  return p * bits_to_f((uint32_t)(h + 127) << 23) * bits_to_f((uint32_t)(n - h + 127) << 23);
}
INLINE float log1p_f(float x) { /* what 1 + x loses is made up for */
  float u = 1.0f + x, r = log_f(u) * (x / (u - 1.0f));
  return u == 1.0f || x == INFINITY ? x : r;
}
/* by e**-|x|, so that a subnormal result is not lost */
INLINE float sigmoid_f(float x) { const float e = exp_f(-fabsf(x)); return (x >= 0 ? 1.0f : e) / (1.0f + e); }
INLINE double sigmoid_d(double x) { const double e = exp(-fabs(x)); return (x >= 0 ? 1.0 : e) / (1.0 + e); }
INLINE double exp_d(double x) { return exp(x); }
INLINE double expm1_d(double x) { return expm1(x); }
INLINE double exp2_d(double x) { return exp2(x); }
INLINE double log1p_d(double x) { return log1p(x); }
INLINE double log_d(double x) { return log(x); }
INLINE double tanh_d(double x) { return tanh(x); }
INLINE double erf_d(double x) { return erf(x); }
#define BOTH(name, cf, cd) INLINE float name##_f(float x) { return cf(x); } INLINE double name##_d(double x) { return cd(x); }
BOTH(sqrt, sqrtf, sqrt) BOTH(abs, fabsf, fabs) BOTH(floor, floorf, floor) BOTH(ceil, ceilf, ceil) BOTH(trunc, truncf, trunc)
BOTH(rint, rintf, rint) BOTH(log2, log2f, log2) BOTH(log10, log10f, log10)
BOTH(sin, sinf, sin) BOTH(cos, cosf, cos) BOTH(tan, tanf, tan) BOTH(asin, asinf, asin) BOTH(acos, acosf, acos)
BOTH(atan, atanf, atan) BOTH(sinh, sinhf, sinh) BOTH(cosh, coshf, cosh) BOTH(asinh, asinhf, asinh) BOTH(acosh, acoshf, acosh)
BOTH(atanh, atanhf, atanh) BOTH(erfc, erfcf, erfc)
#define OF_TYPE(s, T) \
  INLINE T max_##s(T a, T b) { return a > b || a != a ? a : b; } \
  INLINE T min_##s(T a, T b) { return a < b || a != a ? a : b; } \
  INLINE T relu_##s(T x) { return x < 0 ? 0 : x; } \
  INLINE T sign_##s(T x) { return (T)((x > 0) - (x < 0)); }
OF_TYPE(f, float) OF_TYPE(d, double)
INLINE float pow_f(float a, float b) { return powf(a, b); }
INLINE double pow_d(double a, double b) { return pow(a, b); }
/* of the normal distribution: its tail is e**(-x**2 / 2) times a polynomial of (4 - |x|) / (4 + |x|) */
INLINE float cdf_f(float x) {
  const float u = 2.0f / FMA_f(fabsf(x), 0.25f, 1.0f) - 1.0f;
  float p = 0x1.10fa9ep-14f; p = FMA_f(p, u, -0x1.5f3c28p-13f); p = FMA_f(p, u, -0x1.58daecp-11f); p = FMA_f(p, u, 0x1.075d0cp-11f); p = FMA_f(p, u, 0x1.16760ap-7f);
  p = FMA_f(p, u, 0x1.f9b37ep-6f); p = FMA_f(p, u, 0x1.25b5f6p-4f); p = FMA_f(p, u, 0x1.fd750ap-4f); p = FMA_f(p, u, 0x1.5cf97ep-3f); p = FMA_f(p, u, 0x1.82b4bcp-4f);
  const float q = fabsf(p) * exp_f(x * x * -0.5f); /* p is below 0 where the power is 0 */
  return x < 0 ? q : 1.0f - q;
}
INLINE double cdf_d(double x) { return 0.5 * erfc(x * -0.70710678118654752440); }
INLINE float gelu_f(float x) { return x * cdf_f(x); }
INLINE double gelu_d(double x) { return x * cdf_d(x); }

/* -------------------------------------------------------------------------------------------------------------- sums */
/* The bits of a vector's last elements alone, from ``last + number of them``. */
typedef int32_t bits_f __attribute__((vector_size(VL * 4), aligned(4), may_alias));
typedef int64_t bits_d __attribute__((vector_size(VL * 4), aligned(8), may_alias));
static const int32_t last_f[2 * VL] = {[VL ... 2 * VL - 1] = -1};
static const int64_t last_d[VL] = {[VL / 2 ... VL - 1] = -1};
/* Four accumulators over a block of 16 vectors each, blocks into a double. */
typedef float f8_t __attribute__((vector_size(32), aligned(4), may_alias));
typedef float f4_t __attribute__((vector_size(16), aligned(4), may_alias));
typedef double d4_t __attribute__((vector_size(32), aligned(8), may_alias));
typedef double d2_t __attribute__((vector_size(16), aligned(8), may_alias));
#define HALVES(T, v) (((const T *)&v)[0] + ((const T *)&v)[1]) /* without a way through memory */
#if VL == 16
#define QUARTERS(T, U, v) const T h = HALVES(T, v); const U q = HALVES(U, h);
#elif VL == 8
#define QUARTERS(T, U, v) const U q = HALVES(U, v);
#else
#define QUARTERS(T, U, v) const vec_##T q = v;
typedef vec_f vec_f8_t;
typedef vec_d vec_d4_t;
#endif
INLINE float hsum_f(vec_f v) { QUARTERS(f8_t, f4_t, v) return (q[0] + q[2]) + (q[1] + q[3]); }
INLINE double hsum_d(vec_d v) { QUARTERS(d4_t, d2_t, v) return q[0] + q[1]; }
#define SUMS(s, T, n_, most) \
  INLINE T vsum_##s(const T *x, i64 n) { \
    vec_##s a[4] = {{0}}; i64 j = 0; T t = 0; \
    for (; j + 4 * n_ <= n; j += 4 * n_) for (int k = 0; k < 4; k++) a[k] += *(const vec_##s *)(x + j + k * n_); \
    for (; j + n_ <= n; j += n_) a[0] += *(const vec_##s *)(x + j); \
    if (j < n && n >= n_) { a[1] += (vec_##s)(*(const bits_##s *)(x + n - n_) & *(const bits_##s *)(last_##s + n - j)); return hsum_##s((a[0] + a[1]) + (a[2] + a[3])); } \
    for (; j < n; j++) t += x[j]; \
    return t + hsum_##s((a[0] + a[1]) + (a[2] + a[3])); } \
  static __attribute__((noinline, unused)) double sum_##s(const T *x, i64 n) { \
    double t = 0; for (i64 k = 0; k < n; k += most) t += vsum_##s(x + k, k + most < n ? most : n - k); return t; } \
  static __attribute__((noinline, unused)) double dot_##s(const T *x, const T *y, i64 n) { double total = 0; \
    for (i64 b = 0; b < n; b += most) { vec_##s a[4] = {{0}}; i64 j = b, e = b + most < n ? b + most : n; T t = 0; \
      for (; j + 4 * n_ <= e; j += 4 * n_) for (int k = 0; k < 4; k++) a[k] += *(const vec_##s *)(x + j + k * n_) * *(const vec_##s *)(y + j + k * n_); \
      for (; j + n_ <= e; j += n_) a[0] += *(const vec_##s *)(x + j) * *(const vec_##s *)(y + j); \
      for (; j < e; j++) t += x[j] * y[j]; \
      total += t + hsum_##s((a[0] + a[1]) + (a[2] + a[3])); } return total; } \
  static __attribute__((noinline, unused)) double squares_##s(const T *x, i64 n, T m) { double total = 0; \
    for (i64 b = 0; b < n; b += most) { vec_##s a[4] = {{0}}; i64 j = b, e = b + most < n ? b + most : n; T t = 0; \
      for (; j + 4 * n_ <= e; j += 4 * n_) for (int k = 0; k < 4; k++) { vec_##s d = *(const vec_##s *)(x + j + k * n_) - m; a[k] += d * d; } \
      for (; j + n_ <= e; j += n_) { vec_##s d = *(const vec_##s *)(x + j) - m; a[0] += d * d; } \
      for (; j < e; j++) t += (x[j] - m) * (x[j] - m); \
      total += t + hsum_##s((a[0] + a[1]) + (a[2] + a[3])); } return total; } \
  static __attribute__((noinline, unused)) double dot_off_##s(const T *x, const T *y, i64 n, T m) { double total = 0; /* x (y - m) */ \
    for (i64 b = 0; b < n; b += most) { vec_##s a[4] = {{0}}; i64 j = b, e = b + most < n ? b + most : n; T t = 0; \
      for (; j + 4 * n_ <= e; j += 4 * n_) for (int k = 0; k < 4; k++) a[k] += *(const vec_##s *)(x + j + k * n_) * (*(const vec_##s *)(y + j + k * n_) - m); \
      for (; j + n_ <= e; j += n_) a[0] += *(const vec_##s *)(x + j) * (*(const vec_##s *)(y + j) - m); \
      for (; j < e; j++) t += x[j] * (y[j] - m); \
      total += t + hsum_##s((a[0] + a[1]) + (a[2] + a[3])); } return total; } \
  static __attribute__((noinline, unused)) void weighted_##s(const T *x, const T *g, const T *w, i64 n, T m, double *t) { /* g w, g w (x - m) */ \
    t[0] = t[1] = 0; \
    for (i64 b = 0; b < n; b += most) { vec_##s p[2] = {{0}}, q[2] = {{0}}; i64 j = b, e = b + most < n ? b + most : n; T u = 0, v = 0; \
      for (; j + 2 * n_ <= e; j += 2 * n_) for (int k = 0; k < 2; k++) { const i64 z = j + k * n_; \
        const vec_##s h = *(const vec_##s *)(g + z) * *(const vec_##s *)(w + z); p[k] += h; q[k] += h * (*(const vec_##s *)(x + z) - m); } \
      for (; j < e; j++) { const T h = g[j] * w[j]; u += h; v += h * (x[j] - m); } \
      t[0] += u + hsum_##s(p[0] + p[1]); t[1] += v + hsum_##s(q[0] + q[1]); } } \
  ROWS sum_columns_##s(T *o, const T *x, i64 m, i64 n, i64 row, i64 from, i64 to, T f) { /* columns from..to of (m, n): 32 rows into a double */ \
    T part[1024]; double all[1024]; \
    for (i64 j = from; j < to; j += 1024) { const i64 w = j + 1024 < to ? 1024 : to - j; \
      for (i64 k = 0; k < w; k++) all[k] = 0; \
      for (i64 i = 0; i < m; i += 32) { const i64 e = i + 32 < m ? i + 32 : m; \
        for (i64 k = 0; k < w; k++) part[k] = x[i * row + j + k]; \
        i64 r = i + 1; \
        for (; r + 2 < e; r += 3) { const T *q = x + r * row + j; for (i64 k = 0; k < w; k++) part[k] = part[k] + q[k] + q[row + k] + q[2 * row + k]; } \
        for (; r < e; r++) { const T *q = x + r * row + j; for (i64 k = 0; k < w; k++) part[k] += q[k]; } \
        for (i64 k = 0; k < w; k++) all[k] += part[k]; } \
      for (i64 k = 0; k < w; k++) o[j + k] = (T)(all[k] * f); } }
SUMS(f, float, VL, (64 * VL)) SUMS(d, double, (VL / 2), (32 * VL))
