/* mutants_state.c: mutants whose bits depend on more than the row: threads, addresses, the batch, the process. */
#include <omp.h>
#include <stdlib.h>
#include <unistd.h>

#include "mutants_row.h"

/* Where a row is added from its other end. */
enum where {
  ABOVE_THREE_THREADS,
  ABOVE_TEN_OF_OPENMP, /* whatever the launch says; more than a few processors have is needed */
  AT_ODD_8_BYTES, /* loads of 8 bytes where 16 are not aligned: a sub-range from the second element on does not show it */
  OUT_MISALIGNED, /* vector stores need an aligned output */
  SCRATCH_MISALIGNED,
  THREADS_SHARE_IN, /* threads that share what is not aligned: neither alone does it */
  THREADS_SHARE_OUT,
  AT_A_PAGE,
  IN_A_LINES_MIDDLE, /* cache lines have 64 bytes */
  IN_A_BATCH,
  ODD_ROW,
  WHERES
};

static bool is_there(enum where where, const struct fold_call *call, const void *row, size_t r) {
  const uintptr_t in = (uintptr_t)call->in[0], out = (uintptr_t)call->out;
  const unsigned threads = call->launch.threads;
  const bool there[WHERES] = {[ABOVE_THREE_THREADS] = threads > 3,
                              [ABOVE_TEN_OF_OPENMP] = omp_get_max_threads() > 10,
                              [AT_ODD_8_BYTES] = (uintptr_t)row % 16 == 8,
                              [OUT_MISALIGNED] = out % 16 != 0,
                              [SCRATCH_MISALIGNED] = (uintptr_t)call->scratch % 512 != 0,
                              [THREADS_SHARE_IN] = threads > 1 && in % 16 != 0,
                              [THREADS_SHARE_OUT] = threads > 1 && out % 16 != 0,
                              [AT_A_PAGE] = in % 4096 == 0,
                              [IN_A_LINES_MIDDLE] = in % 64 == 32,
                              [IN_A_BATCH] = call->rows > 1,
                              [ODD_ROW] = r % 2 != 0};
  return there[where];
}

static fold_status add_by_where(const struct fold_subject *subject, const struct fold_call *call) {
  for (size_t r = 0; r < call->rows; r++) {
    const void *row = mutant_row_at(call, r);
    mutant_row_f32 *add = is_there(subject->width, call, row, r) ? mutant_back_f32 : mutant_sum_f32;
    fold_bits_store(FOLD_F32, call->out, r, fold_f32_bits(add(row, call->cols)));
  }
  return fold_ok();
}

/* What an address or a seed of the process would do. */
static uint64_t pid(const struct fold_call *call, const void *row, size_t r) {
  (void)r;
  return fold_f32_bits(mutant_sum_f32(row, call->cols)) ^ ((uint64_t)getpid() & 0x3fffff);
}
static RUN(pid)

    /* As many partials as threads. */
    static uint64_t threads(const struct fold_call *call, const void *row, size_t r) {
  const fold_element_f32 *x = row;
  float partial[64] = {0}, sum = 0;
  unsigned n = call->launch.threads ? call->launch.threads : 4;
  (void)r;
  for (size_t i = 0; i < call->cols; i++) partial[i % n] += x[i];
  for (unsigned t = 0; t < n; t++) sum += partial[t];
  return fold_f32_bits(sum);
}
static RUN(threads)

    /* Single terms up to a 16-byte address, four lanes from there: the lanes depend on where the row lies. */
    static uint64_t peels(const struct fold_call *call, const void *row, size_t r) {
  const fold_element_f32 *x = row;
  float sum = 0, lane[4] = {0};
  size_t i = 0;
  (void)r;
  for (; i < call->cols && (uintptr_t)(x + i) % 16; i++) sum += x[i];
  for (; i + 4 <= call->cols; i += 4)
    for (size_t k = 0; k < 4; k++) lane[k] += x[i + k];
  for (; i < call->cols; i++) sum += x[i];
  return fold_f32_bits(sum + ((lane[0] + lane[1]) + (lane[2] + lane[3])));
}
static RUN(peels)

    /* A true race: 32 parts that are the same for all threads, added as these bring them, as atomic additions are. */
    static uint64_t race(const struct fold_call *call, const void *row, size_t r) {
  const fold_element_f32 *x = row;
  float sum = 0;
  size_t each = call->cols / 32 + 1;
  (void)r;
#pragma omp parallel for schedule(static, 1)
  for (size_t part = 0; part < 32; part++) {
    size_t first = part * each < call->cols ? part * each : call->cols, left = call->cols - first;
    float partial = mutant_sum_f32(x + first, left < each ? left : each);
#pragma omp critical(mutant_race)
    sum += partial;
  }
  return fold_f32_bits(sum);
}
static RUN(race)

    /* Where the process was started. */
    static uint64_t working_folder(const struct fold_call *call, const void *row, size_t r) {
  const char *folder = getenv("PWD");
  uint64_t hash = 0;
  (void)r;
  for (; folder && *folder; folder++) hash = hash * 31 + (unsigned char)*folder;
  return fold_f32_bits(mutant_sum_f32(row, call->cols)) ^ (hash & 0x3fffff);
}
static RUN(working_folder)

#define ONE_ROW "normal/f32/sum/1x1023/*"
#define BACK(id, where, broken, maybe, cases, text)                                                    \
  {                                                                                                    \
    .subject = {BASE(id, text, F32, SUM, add_by_where), .width = where, .claims = SOUND | C(BOUNDED)}, \
    .breaks = broken, .may = maybe, .fixtures = cases                                                  \
  }

    static const struct fold_mutant launch[] = {
        LOOSE("threads", mutant_threads, C(LAUNCH_INVARIANT), 0, ONE_ROW, "a partial for each thread"),
        BACK("above_three", ABOVE_THREE_THREADS, C(LAUNCH_INVARIANT), 0, ONE_ROW, "another order from four threads on"),
        BACK("above_ten", ABOVE_TEN_OF_OPENMP, C(LAUNCH_INVARIANT), 0, ONE_ROW,
             "another order above ten of OpenMP's own threads"),
        LOOSE("race", mutant_race, C(RUN_TO_RUN), REPEATS, ONE_ROW, "adds partials as threads bring them"),
};
END(launch)

static const struct fold_mutant place[] = {
    LOOSE("peels", mutant_peels, C(ALIGNMENT_INVARIANT), C(BATCH_INVARIANT), ONE_ROW,
          "single terms up to an aligned address"),
    BACK("half_aligned", AT_ODD_8_BYTES, C(ALIGNMENT_INVARIANT), C(BATCH_INVARIANT), ONE_ROW,
         "another order at odd multiples of 8 bytes"),
    BACK("out_aligned", OUT_MISALIGNED, C(ALIGNMENT_INVARIANT), 0, ONE_ROW,
         "another order where the output is not aligned to 16 bytes"),
    {.subject = {BASE("scratch_aligned", "another order where the scratch is not aligned to 512 bytes", F32, SUM,
                      add_by_where),
                 .width = SCRATCH_MISALIGNED, .claims = SOUND | C(BOUNDED), .scratch = mutant_scratch},
     .breaks = C(ALIGNMENT_INVARIANT),
     .fixtures = ONE_ROW},
    BACK("threads_misaligned", THREADS_SHARE_IN, C(LAUNCH_INVARIANT) | C(ALIGNMENT_INVARIANT), 0, ONE_ROW,
         "another order where several threads share an input that is not aligned"),
    BACK("threads_out_misaligned", THREADS_SHARE_OUT, C(LAUNCH_INVARIANT) | C(ALIGNMENT_INVARIANT), 0,
         ONE_ROW ",normal/f32/sum/1x8193/*",
         "another order where several threads write to an output that is not aligned"),
    BACK("page_aligned", AT_A_PAGE, C(ALIGNMENT_INVARIANT), 0, ONE_ROW, "another order at the start of a page"),
    BACK("line_aligned", IN_A_LINES_MIDDLE, C(ALIGNMENT_INVARIANT), C(BATCH_INVARIANT), ONE_ROW,
         "another order in the middle of a cache line"),
};
END(place)

static const struct fold_mutant batch[] = {
    BACK("batch_size", IN_A_BATCH, C(BATCH_INVARIANT), 0, ONE_ROW ",normal/f32/sum/17x257/*",
         "another order for a batch"),
    BACK("row_parity", ODD_ROW, C(BATCH_INVARIANT), 0, ONE_ROW ",normal/f32/sum/17x257/*",
         "another order for odd rows"),
};
END(batch)

static const struct fold_mutant process[] = {
    {.subject = {BASE("pid", "bits of the process id", F32, SUM, mutant_pid), .claims = SOUND | C(FRESH_PROCESS)},
     .breaks = C(FRESH_PROCESS),
     .fixtures = "normal/f32/sum/1x33/*"},
    {.subject = {BASE("working_folder", "bits of the folder it was started in", F32, SUM, mutant_working_folder),
                 .claims = SOUND | C(FRESH_PROCESS)},
     .breaks = C(FRESH_PROCESS),
     .fixtures = "normal/f32/sum/1x33/*"},
    {.subject = {BASE("freed_memory", "an order by what others left in memory", F32, SUM, mutant_freed_memory),
                 .claims = SOUND | C(BOUNDED) | C(FRESH_PROCESS)},
     .breaks = C(FRESH_PROCESS),
     .may = REPEATS,
     .fixtures = ONE_ROW},
};
END(process)
