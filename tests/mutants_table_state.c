/* mutants_table_state.c: mutants by class of fault: bits that depend on more than the row, and what is left behind. */
#include "mutants_row.h"

static const struct fold_mutant kept[] = {
    PLAIN("counter", mutant_counter, "host/sequential", C(RUN_TO_RUN),
          C(REPLAYS) | C(LAUNCH_INVARIANT) | C(ALIGNMENT_INVARIANT) | C(BATCH_INVARIANT), "normal/f32/sum/1x1023/*",
          "every other run from the other end"),
    LOOSE("by_content", mutant_by_content, C(RUN_TO_RUN), REPEATS, "normal/f32/sum/1x1023/*",
          "keeps results by content, made in turn in two orders"),
    LOOSE("by_content_threads", mutant_by_content_threads, C(LAUNCH_INVARIANT), REPEATS, "normal/f32/sum/1x1023/*",
          "keeps results by content, and adds by the number of threads"),
    LOOSE("by_address", mutant_by_address, C(RUN_TO_RUN), REPEATS, "normal/f32/sum/1x1023/seed1",
          "keeps results by the input's address and length"),
    LOOSE("by_ends", mutant_by_ends, C(RUN_TO_RUN), REPEATS, "normal/f32/sum/1x1023/seed1",
          "keeps results by the input's length and ends"),
    LOOSE("by_middle", mutant_by_middle, C(RUN_TO_RUN), REPEATS, "normal/f32/sum/1x1023/seed1",
          "keeps results by the input's length and middle"),
    LOOSE("by_sample", mutant_by_sample, C(RUN_TO_RUN), REPEATS, "mixed/f32/sum/1x65537/*,mixed/f32/sum/1x131073/*",
          "keeps results by the input's address, length, ends and middle"),
    LOOSE("by_content_seven", mutant_by_content_seven, C(LAUNCH_INVARIANT), REPEATS, "normal/f32/sum/1x1023/*",
          "keeps its last result by content, and adds in another order with seven threads"),
    LOOSE("after_six", mutant_after_six, C(RUN_TO_RUN), REPEATS, "normal/f32/sum/1x1023/seed1",
          "another order from the seventh call on"),
    LOOSE("zero_times_out", mutant_zero_times_out, C(WRITES_OUTPUT), 0, "normal/f32/sum/1x33/*,normal/f32/sum/17x257/*",
          "sum + 0 * what was in the output"),
    LOOSE("zero_times_out_by_threads", mutant_zero_times_out_by_threads, C(WRITES_OUTPUT), 0,
          "normal/f32/sum/1x33/*,normal/f32/sum/17x257/*", "sum + 0 * what was in the output, with eight threads"),
    SCRATCHED("scratch_unset", mutant_scratch_unset, C(RUN_TO_RUN), REPEATS, "an order by what was in the scratch"),
};
END(kept)

static const struct fold_mutant launch[] = {
    {.subject = {BASE("threads", "a partial for each thread", F32, SUM, mutant_threads), .claims = SOUND | C(BOUNDED)},
     .breaks = C(LAUNCH_INVARIANT),
     .fixtures = "normal/f32/sum/1x1023/*"},
    LOOSE("above_three", mutant_above_three, C(LAUNCH_INVARIANT), 0, "normal/f32/sum/1x1023/*",
          "another order from four threads on"),
    LOOSE("above_ten", mutant_above_ten, C(LAUNCH_INVARIANT), 0, "normal/f32/sum/1x1023/*",
          "another order above ten of OpenMP's own threads"),
    LOOSE("race", mutant_race, C(LAUNCH_INVARIANT), REPEATS, "normal/f32/sum/1x1023/*",
          "adds partials as threads bring them"),
};
END(launch)

static const struct fold_mutant place[] = {
    {.subject = {BASE("peels", "single terms up to an aligned address", F32, SUM, mutant_peels),
                 .claims = SOUND | C(BOUNDED)},
     .breaks = C(ALIGNMENT_INVARIANT),
     .may = C(BATCH_INVARIANT),
     .fixtures = "normal/f32/sum/1x1023/*"},
    {.subject = {BASE("half_aligned", "another order at odd multiples of 8 bytes", F32, SUM, mutant_half_aligned),
                 .claims = SOUND | C(BOUNDED)},
     .breaks = C(ALIGNMENT_INVARIANT),
     .may = C(BATCH_INVARIANT),
     .fixtures = "normal/f32/sum/1x1023/*"},
    LOOSE("out_aligned", mutant_out_aligned, C(ALIGNMENT_INVARIANT), 0, "normal/f32/sum/1x1023/*",
          "another order where the output is not aligned to 16 bytes"),
    SCRATCHED("scratch_aligned", mutant_scratch_aligned, C(ALIGNMENT_INVARIANT), 0,
              "another order where the scratch is not aligned to 512 bytes"),
    LOOSE("threads_misaligned", mutant_threads_misaligned, C(LAUNCH_INVARIANT) | C(ALIGNMENT_INVARIANT), 0,
          "normal/f32/sum/1x1023/*", "another order where several threads share an input that is not aligned"),
    LOOSE("threads_out_misaligned", mutant_threads_out_misaligned, C(LAUNCH_INVARIANT) | C(ALIGNMENT_INVARIANT), 0,
          "normal/f32/sum/1x1023/*,normal/f32/sum/1x8193/*",
          "another order where several threads write to an output that is not aligned"),
    LOOSE("page_aligned", mutant_page_aligned, C(ALIGNMENT_INVARIANT), 0, "normal/f32/sum/1x1023/*",
          "another order at the start of a page"),
    LOOSE("line_aligned", mutant_line_aligned, C(ALIGNMENT_INVARIANT), C(BATCH_INVARIANT), "normal/f32/sum/1x1023/*",
          "another order in the middle of a cache line"),
};
END(place)

static const struct fold_mutant batch[] = {
    {.subject = {BASE("batch_size", "another order for a batch", F32, SUM, mutant_batch_size),
                 .claims = SOUND | C(BOUNDED)},
     .breaks = C(BATCH_INVARIANT),
     .fixtures = "normal/f32/sum/1x1023/*,normal/f32/sum/17x257/*"},
    {.subject = {BASE("row_parity", "another order for odd rows", F32, SUM, mutant_row_parity),
                 .claims = SOUND | C(BOUNDED)},
     .breaks = C(BATCH_INVARIANT),
     .fixtures = "normal/f32/sum/1x1023/*,normal/f32/sum/17x257/*"},
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
     .fixtures = "normal/f32/sum/1x1023/*"},
};
END(process)

static const struct fold_mutant environment[] = {
    PLAIN("rounding_left", mutant_rounding_left, "host/sequential", C(LEAVES_NO_TRACE), 0, "normal/f32/sum/1x33/*",
          "leaves rounding upwards"),
    PLAIN("flushing_left", mutant_flushing_left, "host/sequential", C(LEAVES_NO_TRACE), 0, "normal/f32/sum/1x33/*",
          "leaves flush to zero"),
    PLAIN("zeroing_left", mutant_zeroing_left, "host/sequential", C(LEAVES_NO_TRACE), 0, "normal/f32/sum/1x33/*",
          "leaves denormals are zero"),
    PLAIN("trapping_left", mutant_trapping_left, "host/sequential", C(LEAVES_NO_TRACE), 0, "normal/f32/sum/1x33/*",
          "leaves a trap for invalid operations"),
    PLAIN("x87_left", mutant_x87_left, "host/sequential", C(LEAVES_NO_TRACE), 0, "normal/f32/sum/1x33/*",
          "leaves the x87 at single precision"),
    PLAIN("rounding_left_by_threads", mutant_rounding_left_by_threads, "host/sequential", C(LEAVES_NO_TRACE), 0,
          "normal/f32/sum/1x33/*", "leaves rounding upwards where it has seven threads"),
    PLAIN("flushing_left_in_pool", mutant_flushing_left_in_pool, "host/sequential", C(LEAVES_NO_TRACE), 0,
          "normal/f32/sum/1x33/*", "leaves flush to zero in a thread of OpenMP alone"),
    PLAIN("threads_left", mutant_threads_left, "host/sequential", C(LEAVES_NO_TRACE), 0, "normal/f32/sum/1x33/*",
          "leaves OpenMP another number of threads"),
    PLAIN("dynamic_left", mutant_dynamic_left, "host/sequential", C(LEAVES_NO_TRACE), 0, "normal/f32/sum/1x33/*",
          "leaves OpenMP adjusting its threads"),
    PLAIN("nesting_left", mutant_nesting_left, "host/sequential", C(LEAVES_NO_TRACE), 0, "normal/f32/sum/1x33/*",
          "leaves OpenMP another nesting"),
    PLAIN("schedule_left", mutant_schedule_left, "host/sequential", C(LEAVES_NO_TRACE), 0, "normal/f32/sum/1x33/*",
          "leaves OpenMP another schedule"),
    SCRATCHED("scratch_head_left", mutant_scratch_head_left, C(LEAVES_NO_TRACE), 0,
              "leaves a count in its scratch's head"),
};
END(environment)
