/* fp_state.c: the control registers of x86-64 (MXCSR, the x87 control word) and AArch64 (FPCR); elsewhere the rounding mode.
 *
 * OpenMP's other threads are looked at from within a parallel region. It has this thread and as many others as the
 * process has gained since none of OpenMP's ran. If it has gained none there is nothing to look at, so serial subjects
 * pay nothing.
 */
#include "rig/fp_state.h"

#include <fcntl.h>
#include <fenv.h>
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#ifdef __x86_64__
#include <xmmintrin.h>
#endif

#if defined __x86_64__
/* All exceptions masked, to nearest, no flushing; x87 with 64 bits of precision. */
static const struct fold_control usual = {0x1f80, 0x33f};
enum {
  RAISED = 0x3f,
  FLUSHES = 0x8000,
  ZEROES = 0x40,
  SSE_ROUNDING = 0x6000,
  SSE_MASKS = 0x1f80, /* unseen: 0x1f81 */
  X87_PRECISION = 0x300
};
struct fold_control fold_fp_state_arithmetic(void) {
  unsigned short x87;
  __asm__ volatile("fnstcw %0" : "=m"(x87));
  return (struct fold_control){_mm_getcsr() & ~(unsigned)RAISED, x87 & 0xf3f};
}
static void set(struct fold_control e) {
  unsigned short x87 = (unsigned short)e.x87;
  _mm_setcsr(e.sse);
  __asm__ volatile("fldcw %0" : : "m"(x87));
}
/* Names what of `e` is not as before. */
static const char *name_of(struct fold_control e, struct fold_control before) {
  unsigned sse = e.sse ^ before.sse, x87 = e.x87 ^ before.x87;
  return sse & SSE_ROUNDING    ? "the rounding mode"
         : sse & FLUSHES       ? "flush to zero"
         : sse & ZEROES        ? "denormals are zero"
         : sse & SSE_MASKS     ? "which exceptions trap"
         : x87 & X87_PRECISION ? "the x87 precision"
                               : "the x87 control word";
}
#elif defined __aarch64__
enum { FPCR_ROUNDING = 0xc00000, FPCR_FLUSHES = 0x1080000 };
struct fold_control fold_fp_state_arithmetic(void) {
  return (struct fold_control){(unsigned)__builtin_aarch64_get_fpcr(), 0};
}
static const struct fold_control usual = {0, 0};
static void set(struct fold_control e) { __builtin_aarch64_set_fpcr(e.sse); }
static const char *name_of(struct fold_control e, struct fold_control before) {
  const unsigned fpcr = e.sse ^ before.sse;
  return fpcr & FPCR_ROUNDING ? "the rounding mode" : fpcr & FPCR_FLUSHES ? "flush to zero" : "the control register";
}
#else
struct fold_control fold_fp_state_arithmetic(void) {
  return (struct fold_control){(unsigned)fegetround(), 0};
}
static const struct fold_control usual = {FE_TONEAREST, 0};
static void set(struct fold_control e) { fesetround((int)e.sse); }
static const char *name_of(struct fold_control e, struct fold_control before) {
  return (void)e, (void)before, "the rounding mode";
}
#endif

static bool same(struct fold_control a, struct fold_control b) { return a.sse == b.sse && a.x87 == b.x87; }
static void set_usual(void) { set(usual); }
static bool is_usual(struct fold_control arithmetic) { return same(arithmetic, usual); }

/* A descriptor of /proc/self/task, since the system takes as long as a short run to find it by its path. A child of this process, which
 * has its parent's, opens its own. */
static struct {
  int file;
  struct stat at_first;
} tasks_kept = {.file = -1};
static void forget_tasks(void) { tasks_kept.file = -1; }
static void forget_tasks_in_children(void) { pthread_atfork(NULL, NULL, forget_tasks); }

/* The descriptor is checked first: a subject may have closed it or opened another file in its place. */
static bool look_at_tasks(struct stat *tasks) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  if (tasks_kept.file >= 0 && fstat(tasks_kept.file, tasks) == 0 && tasks->st_ino == tasks_kept.at_first.st_ino &&
      tasks->st_dev == tasks_kept.at_first.st_dev)
    return true;
  pthread_once(&once, forget_tasks_in_children);
  tasks_kept.file = open("/proc/self/task", O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (fstat(tasks_kept.file, tasks) != 0) return stat("/proc/self/task", tasks) == 0;
  tasks_kept.at_first = *tasks;
  return true;
}

unsigned fold_thread_count(void) {
  struct stat tasks;
  return look_at_tasks(&tasks) && tasks.st_nlink > 2 ? (unsigned)tasks.st_nlink - 2 : 0;
}

/* How many threads there were when none was OpenMP's; whether the last look met threads that are not OpenMP's. */
static unsigned quiet;
static bool company;

/* After a hard pause, threads that have left OpenMP may not have ended yet. If they were counted as threads that stay,
 * as many threads of the next pool would not be looked at. So this waits until only `before` threads are left; others
 * that stay longer are a subject's own. */
static void wait_for_ends(unsigned before) {
  const struct timespec pause = {.tv_nsec = 50 * 1000};
  for (int i = 0; i < 1000 && fold_thread_count() > before; i++) nanosleep(&pause, NULL);
}

bool fold_fp_state_take(void) {
  const bool other = !is_usual(fold_fp_state_arithmetic());
  if (other) set_usual();
  return other;
}

/* In Clang's runtime a hard pause loses the locks of critical sections (version 14: the next critical section crashes).
 * So its threads stay, and are looked at after each run. */
void fold_fp_state_end_threads(void) {
#ifndef __clang__
  omp_pause_resource_all(omp_pause_hard);
#endif
}

pid_t fold_fork(void) {
  fold_fp_state_end_threads();
  fflush(NULL);
  return fork();
}

void fold_fp_state_reset(void) {
  set_usual();
  if (quiet && fold_thread_count() == quiet) return;
#ifdef __clang__
  if (quiet) return;
#endif
  fold_fp_state_end_threads();
  wait_for_ends(quiet ? quiet : 1);
  quiet = fold_thread_count();
}

void fold_fp_state_begin(void) {
  if (quiet == 0) fold_fp_state_reset();
}

void fold_fp_state_begin_without_openmp(void) { quiet = fold_thread_count(); }

/* What the last code of a guest's in this thread began with, and left. */
static _Thread_local struct {
  bool any, loaded;
  struct fold_control begun, left;
} visit;

/* OpenMP's other threads keep the arithmetic of the thread that made them: a guest whose arithmetic is another one gets
 * threads of its own, and the harness new ones after it. */
static void renew_threads(void) {
  fold_fp_state_end_threads();
  if (quiet) wait_for_ends(quiet);
}

void fold_fp_state_enter(struct fold_control theirs) {
  if (!is_usual(theirs)) renew_threads();
  visit.begun = theirs;
  set(theirs);
}

struct fold_control fold_fp_state_leave(bool loaded) {
  visit.left = fold_fp_state_arithmetic();
  visit.any = true;
  visit.loaded = loaded && !is_usual(visit.begun);
  set_usual();
  return visit.left;
}

struct fold_openmp fold_openmp_now(void) {
  struct fold_openmp now = {
      .threads = omp_get_max_threads(), .dynamic = omp_get_dynamic(), .levels = omp_get_max_active_levels()};
  omp_sched_t schedule;
  omp_get_schedule(&schedule, &now.chunk);
  now.schedule = (int)schedule;
  return now;
}

static const char *find_setting(const struct fold_openmp *a, const struct fold_openmp *b) {
  if (a->threads != b->threads) return "OpenMP's number of threads";
  if (a->dynamic != b->dynamic) return "OpenMP's dynamic adjustment of threads";
  if (a->levels != b->levels) return "OpenMP's nesting";
  return a->schedule != b->schedule || a->chunk != b->chunk ? "OpenMP's schedule" : NULL;
}

static void set_settings(const struct fold_openmp *f) {
  omp_set_num_threads(f->threads);
  omp_set_dynamic(f->dynamic);
  omp_set_max_active_levels(f->levels);
  omp_set_schedule((omp_sched_t)f->schedule, f->chunk);
}

/* A thread that was joined is still counted for a moment: a team that counts it as OpenMP's would start another one, whose stack then seems to
 * be the subject's. Only a number that was not seen before is waited for. */
static unsigned count_steady_threads(void) {
  static unsigned usual_number;
  const struct timespec pause = {.tv_nsec = 50 * 1000};
  unsigned all = fold_thread_count();
  for (int i = 0; i < 20 && all > quiet && all != usual_number; i++) {
    nanosleep(&pause, NULL);
    all = fold_thread_count();
  }
  usual_number = all;
  return all;
}

/* Finds an environment that is not `wanted` among those of OpenMP's other threads, and gives all of them the usual one. */
static bool look_at_threads(struct fold_control wanted, struct fold_control *found) {
  /* unseen: 65 */
  enum { MOST = 64 }; /* threads; a team of more than there are creates threads, which the next look would count */
  unsigned all = count_steady_threads(), threads = all > quiet ? all - quiet + 1 : 1;
  bool any = false, grew = all > quiet;
#ifdef __clang__
  company = false; /* the threads that `quiet` counts may be OpenMP's */
#else
  company = quiet > 1;
#endif
  if (all == quiet && quiet > 0) return false;
  if (threads < 2) threads = (unsigned)omp_get_max_threads();
  if (threads > MOST) threads = MOST;
#pragma omp parallel num_threads(threads)
  {
    struct fold_control mine = fold_fp_state_arithmetic();
    if (!is_usual(mine)) set_usual();
    if (!same(mine, wanted) && omp_get_thread_num() > 0) {
#pragma omp critical(fold_fp_state)
      {
        any = true;
        *found = mine;
      }
    }
  }
  company |= grew && fold_thread_count() > all; /* OpenMP had to create threads: as many were not its own */
  return any;
}

bool fold_fp_state_restore(const struct fold_openmp *before, bool threads, char changed[80]) {
  const struct fold_control begun = visit.any ? visit.begun : usual;
  struct fold_control mine = visit.any ? visit.left : fold_fp_state_arithmetic(), theirs;
  const bool loaded = visit.any && visit.loaded, own = !is_usual(begun) || !is_usual(mine);
  struct fold_openmp now = fold_openmp_now();
  const char *setting = find_setting(before, &now); /* unseen: & now , before */
  visit.any = false;
  set_usual();
  changed[0] = '\0';
  if (!same(mine, begun))
    snprintf(changed, 80, "%s", name_of(mine, begun));
  else if (loaded)
    snprintf(changed, 80, "%s, when it was loaded", name_of(mine, usual));
  if (setting) {
    if (!changed[0]) snprintf(changed, 80, "%s", setting);
    set_settings(before);
  }
  if ((threads || own) && look_at_threads(begun, &theirs) && !changed[0])
    snprintf(changed, 80, "%s in one of OpenMP's threads", name_of(theirs, begun));
  if (own) renew_threads();
  return !changed[0];
}

bool fold_fp_state_has_company(void) { return company; }
