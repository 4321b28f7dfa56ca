/* mutants_environment.c: mutants that compute right and leave their arithmetic's environment, or their process, changed. */
#include <fenv.h>
#include <locale.h>
#include <omp.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef __SSE__
#include <xmmintrin.h>
#endif

#include "mutants_row.h"

static fold_status sums(const struct fold_call *call) { return mutant_rows_f32(call, mutant_sum_f32); }

static void round_up(void) { fesetround(FE_UPWARD); }

/* Flush to zero, denormals are zero, traps: bits of MXCSR. Elsewhere the rounding mode stands for them. */
static void set_sse(unsigned bits, bool clear) {
#ifdef __SSE__
  _mm_setcsr(clear ? _mm_getcsr() & ~bits : _mm_getcsr() | bits);
#else
  (void)bits, (void)clear;
  round_up();
#endif
}

#define LEAVES(name, what)                                                                      \
  fold_status mutant_##name(const struct fold_subject *subject, const struct fold_call *call) { \
    fold_status status = sums(call);                                                            \
    (void)subject;                                                                              \
    what;                                                                                       \
    return status;                                                                              \
  }
static LEAVES(rounding_left, round_up()) static LEAVES(flushing_left, set_sse(0x8000, false)) static LEAVES(
    zeroing_left,
    set_sse(0x40, false)) static LEAVES(trapping_left,
                                        set_sse(0x80, true)) /* an invalid operation ends the next subject */
    static LEAVES(threads_left, omp_set_num_threads(omp_get_max_threads() + 1)) static LEAVES(
        dynamic_left,
        omp_set_dynamic(
            !omp_get_dynamic())) static LEAVES(nesting_left,
                                               omp_set_max_active_levels(
                                                   omp_get_max_active_levels() == 7
                                                       ? 6
                                                       : 7)) static LEAVES(schedule_left,
                                                                           omp_set_schedule(
                                                                               omp_sched_guided,
                                                                               13)) static LEAVES(rounding_left_by_threads,
                                                                                                  if (call->launch
                                                                                                          .threads == 2)
                                                                                                      round_up())

        static void flush_in_pool(void) {
#pragma omp parallel num_threads(3)
  if (omp_get_thread_num() == 2) set_sse(0x8000, false);
}
static LEAVES(flushing_left_in_pool, flush_in_pool())

    static void set_x87_single(void) {
#ifdef __x86_64__
  unsigned short word = 0x7f;
  __asm__ volatile("fldcw %0" : : "m"(word));
#else
  round_up();
#endif
}
static LEAVES(x87_left, set_x87_single())

    /* The next one would wait for a count that it never reaches. */
    static LEAVES(scratch_head_left, ((unsigned char *)call->scratch)[100] = 1)

    /* What the harness itself stands on. */
    static void block_a_signal(void) {
  sigset_t mask;
  sigemptyset(&mask);
  sigaddset(&mask, SIGUSR2);
  pthread_sigmask(SIG_BLOCK, &mask, NULL);
}
static LEAVES(signals_left, block_a_signal()) static LEAVES(variable_left, setenv("OMP_STACKSIZE", "1M",
                                                                                  1)) static LEAVES(variable_taken,
                                                                                                    unsetenv("PATH"))

    static void write_variable(void) {
  char *path = getenv("PATH");
  if (path && path[0]) path[0] = '?';
}
static LEAVES(variable_written, write_variable())

    static void leave_folder(void) {
  if (chdir("/") != 0 || chdir("proc") != 0) abort();
}
static LEAVES(folder_left,
              leave_folder()) static LEAVES(folder_left_by_threads,
                                            if (call->launch.threads == 2)
                                                leave_folder()) static LEAVES(locale_left,
                                                                              setlocale(LC_CTYPE, "C.UTF-8"))

    static void take_a_locale(void) {
  static locale_t own;
  if (!own) own = newlocale(LC_NUMERIC_MASK, "POSIX", (locale_t)0);
  uselocale(own);
}
static LEAVES(own_locale_left, take_a_locale())

#define LEFT(id, text) PLAIN(#id, mutant_##id, "host/sequential", C(LEAVES_NO_TRACE), 0, "normal/f32/sum/1x33/*", text)
    static const struct fold_mutant environment[] = {
        LEFT(rounding_left, "leaves rounding upwards"),
        LEFT(flushing_left, "leaves flush to zero"),
        LEFT(zeroing_left, "leaves denormals are zero"),
        LEFT(trapping_left, "leaves a trap for invalid operations"),
        LEFT(x87_left, "leaves the x87 at single precision"),
        LEFT(rounding_left_by_threads, "leaves rounding upwards where it has two threads"),
        LEFT(flushing_left_in_pool, "leaves flush to zero in a thread of OpenMP alone"),
        LEFT(threads_left, "leaves OpenMP another number of threads"),
        LEFT(dynamic_left, "leaves OpenMP adjusting its threads"),
        LEFT(nesting_left, "leaves OpenMP another nesting"),
        LEFT(schedule_left, "leaves OpenMP another schedule"),
        LEFT(signals_left, "leaves a signal blocked"),
        LEFT(variable_left, "leaves a variable set"),
        LEFT(variable_taken, "takes a variable away"),
        LEFT(variable_written, "writes to a variable where it is"),
        LEFT(folder_left, "leaves another current folder"),
        LEFT(folder_left_by_threads, "leaves another current folder where it has two threads"),
        LEFT(locale_left, "leaves another locale"),
        LEFT(own_locale_left, "leaves its thread a locale of its own"),
        SCRATCHED("scratch_head_left", mutant_scratch_head_left, C(LEAVES_NO_TRACE), 0,
                  "leaves a count in its scratch's head"),
};
END(environment)
