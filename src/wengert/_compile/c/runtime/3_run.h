/* ------------------------------------------------------------------------------------------------------------ running */
/* A piece on its range, cut among threads if there is enough of it. */
INLINE void go(part_t f, void **A, i64 total, i64 grain) {
  if (grain && total >= 2 * grain && shared) shared(f, A, total, grain); else if (total > 0) f(A, 0, total);
}
/* Python's index: a negative one counts from the end */
INLINE i64 from_end(i64 k, i64 n) { return k < 0 ? k + n : k; }
