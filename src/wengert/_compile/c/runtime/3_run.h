/* ------------------------------------------------------------------------------------------------------------ running */
/* A piece on its range, cut among threads if there is enough of it. */
INLINE void go(part_t f, void **A, i64 total, i64 grain) {
  if (grain && total >= 2 * grain && shared) shared(f, A, total, grain); else if (total > 0) f(A, 0, total);
}
