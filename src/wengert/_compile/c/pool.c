/* The threads of all compiled programs: they share one piece's range at a time, spin some 100 us for the next, then sleep.
   Which thread does which part changes no digit. A second caller at the same time does its own work alone. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>
#define MOST 64
static pthread_mutex_t busy = PTHREAD_MUTEX_INITIALIZER, asleep = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t wake = PTHREAD_COND_INITIALIZER;
static _Atomic i64 job, done, sleepers;
static _Atomic uint64_t next[MOST]; /* each thread's own parts */
static atomic_int wanted = 1;
static int started;
static part_t what;
static void **with;
static i64 parts, total;

static void relax(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}
static i64 now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec * (i64)1000000000 + t.tv_nsec; }

/* Parts of job ``mine``, until none is left: first a thread's own, which are the same part of the work in each job, so
   that what it wrote before is in its own cache; then what others have left. A word of ``next`` has the job's number, the
   end of a thread's parts and the next of them: a thread that comes late compares and takes by this word alone, since
   ``parts``, ``what`` and ``with`` may be another job's by then. */
static i64 take(_Atomic uint64_t *word, i64 mine) {
  uint64_t at = atomic_load(word);
  while (at >> 32 == (uint64_t)mine && (at & 65535) < (at >> 16 & 65535))
    if (atomic_compare_exchange_weak(word, &at, at + 1)) return at & 65535;
  return -1;
}
static void work(i64 mine, i64 me, int threads) {
  for (int t = 0; t < threads; t++)
    for (i64 k; (k = take(&next[(me + t) % threads], mine)) >= 0; atomic_fetch_add(&done, 1))
      what(with, total * k / parts, total * (k + 1) / parts);
}
static void *live(void *number) {
  const i64 me = (i64)(intptr_t)number;
  i64 seen = 0;
  for (;;) {
    i64 begin = now();
    while (atomic_load(&job) == seen) {
      for (int k = 0; k < 64; k++) relax();
      if (now() - begin > 100000) {
        pthread_mutex_lock(&asleep);
        atomic_fetch_add(&sleepers, 1);
        while (atomic_load(&job) == seen) pthread_cond_wait(&wake, &asleep);
        atomic_fetch_sub(&sleepers, 1);
        pthread_mutex_unlock(&asleep);
      }
    }
    seen = atomic_load(&job);
    const int threads = atomic_load(&wanted);
    if (me < threads) work(seen, me, threads);
  }
  return 0;
}
static void forked(void) { /* the child has none of the threads */
  started = 0; atomic_store(&sleepers, 0); atomic_store(&job, 0); memset((void *)next, 0, sizeof next);
  pthread_mutex_init(&busy, 0); pthread_mutex_init(&asleep, 0); pthread_cond_init(&wake, 0);
}
EXPORT void wengert_threads(i64 n) { atomic_store(&wanted, n < 1 ? 1 : n > MOST ? MOST : (int)n); }
EXPORT void wengert_parallel(part_t f, void **A, i64 n, i64 grain) {
  const int threads = atomic_load(&wanted);
  if (threads < 2 || pthread_mutex_trylock(&busy)) { f(A, 0, n); return; }
  static int registered;
  if (!registered) { registered = 1; pthread_atfork(0, 0, forked); }
  while (started < threads - 1) {
    pthread_t t; pthread_attr_t a; pthread_attr_init(&a); pthread_attr_setdetachstate(&a, PTHREAD_CREATE_DETACHED);
    const int failed = pthread_create(&t, &a, live, (void *)(intptr_t)(started + 1));
    pthread_attr_destroy(&a);
    if (failed) break;
    started++;
  }
  if (!started) { pthread_mutex_unlock(&busy); f(A, 0, n); return; }
  const i64 p = n / grain, most = threads * 4;
  what = f; with = A; total = n; parts = p < most ? p : most;
  atomic_store(&done, 0);
  const i64 mine = (atomic_load(&job) + 1) & 0xffffffffLL;
  for (int t = 0; t < threads; t++)
    atomic_store(&next[t], (uint64_t)mine << 32 | (uint64_t)(parts * (t + 1) / threads) << 16 | (uint64_t)(parts * t / threads));
  atomic_store(&job, mine);
  if (atomic_load(&sleepers)) { pthread_mutex_lock(&asleep); pthread_cond_broadcast(&wake); pthread_mutex_unlock(&asleep); }
  work(mine, 0, threads);
  for (int k = 0; atomic_load(&done) < parts; k++) if (k < 2000) relax(); else sched_yield();
  pthread_mutex_unlock(&busy);
}
