/* mutants_memory.c: mutants that compute right, and leave a result unwritten, write where they must not, or read it: a row is a fault
 * and the runs that have it. */
#include <signal.h>
#include <sys/mman.h>

#include "mutants_row.h"

enum fault {
  LAST_UNWRITTEN,
  SECOND_UNWRITTEN, /* no judge compares the second row of the batch of five that a single row is put into */
  PAST_A_GRID,      /* a grid has 65,535 blocks in y */
  PAST_END,
  BEFORE_START,
  FAR_PAST_END, /* beyond every guard that is looked at by its bytes */
  IN_ZONE, /* eight elements before the input: past every place that it may move to, so that no run spoils a term */
  INPUT_SWAPPED,  /* each row's first two terms: the sum's bits stay, for a + b = b + a */
  INPUT_RESTORED, /* sorted in place and put back: two who share the input would see it */
  READ_PAST,      /* a vector load past an odd tail, whose lanes are masked away afterwards: nothing of it shows */
  READ_HANDLED,   /* the same; where memory ends it finds out by a handler of its own, and keeps that */
  READ_BEFORE,    /* down to an aligned address */
  SCRATCH_PAST_END
};
/* In all runs; in the judges' own, of one row or of five; at another launch than the subject's own choice. */
enum when { ALWAYS, ONE_ROW, FIVE_ROWS, TWO_THREADS, WHENS };
#define FAULT(fault, when) .width = (fault)*WHENS + (when)

static bool has_it(enum when when, const struct fold_call *call) {
  const bool has[WHENS] = {true, call->rows == 1, call->rows == 5, call->launch.threads == 2};
  return has[when];
}

static void sums(const struct fold_call *call, size_t rows) {
  for (size_t r = 0; r < rows; r++)
    fold_bits_store(FOLD_F32, call->out, r, fold_f32_bits(mutant_sum_f32(mutant_row_at(call, r), call->cols)));
}

static void swap_terms(const struct fold_call *call) {
  for (size_t r = 0; r < call->rows && call->cols > 1; r++) {
    void *row = (void *)(uintptr_t)mutant_row_at(call, r);
    uint64_t first = fold_bits_load(FOLD_F32, row, 0);
    fold_bits_store(FOLD_F32, row, 0, fold_bits_load(FOLD_F32, row, 1));
    fold_bits_store(FOLD_F32, row, 1, first);
  }
}

static void open_page(int number, siginfo_t *info, void *context) {
  (void)number, (void)context;
  mprotect((void *)((uintptr_t)info->si_addr & ~(uintptr_t)4095), 4096, PROT_READ | PROT_WRITE);
}

static size_t rows_of(enum fault fault, size_t rows) {
  if (fault == LAST_UNWRITTEN && rows > 0) return rows - 1;
  return fault == PAST_A_GRID && rows > 65535 ? 65535 : rows;
}

static void do_wrong(enum fault fault, const struct fold_call *call) {
  const struct sigaction own = {.sa_sigaction = open_page, .sa_flags = SA_SIGINFO};
  volatile unsigned char *in = (unsigned char *)(uintptr_t)call->in[0];
  const size_t nbytes = call->rows * call->cols * sizeof(float);
  if (fault == PAST_END) fold_bits_store(FOLD_F32, call->out, call->rows, 0);
  if (fault == BEFORE_START) fold_bits_store(FOLD_F32, (char *)call->out - sizeof(float), 0, 0);
  if (fault == FAR_PAST_END) fold_bits_store(FOLD_F32, call->out, call->rows + 5000, 0);
  if (fault == IN_ZONE && nbytes > 0) in[-9 * (int)sizeof(float)] ^= 0x55;
  if (fault == INPUT_SWAPPED || fault == INPUT_RESTORED) swap_terms(call);
  if (fault == INPUT_RESTORED) swap_terms(call);
  if (fault == READ_HANDLED) sigaction(SIGSEGV, &own, NULL);
  if ((fault == READ_PAST || fault == READ_HANDLED) && nbytes > 0) (void)in[nbytes];
  if (fault == READ_BEFORE && nbytes > 0) (void)in[-1];
  if (fault == SCRATCH_PAST_END) ((unsigned char *)call->scratch)[mutant_scratch(NULL, call)] = 1;
}

static fold_status spoil(const struct fold_subject *subject, const struct fold_call *call) {
  const enum fault fault = subject->width / WHENS;
  const bool has = has_it(subject->width % WHENS, call);
  const uint64_t second = call->rows > 1 ? fold_bits_load(FOLD_F32, call->out, 1) : 0;
  sums(call, has ? rows_of(fault, call->rows) : call->rows);
  if (has && fault == SECOND_UNWRITTEN) fold_bits_store(FOLD_F32, call->out, 1, second);
  if (has) do_wrong(fault, call);
  return fold_ok();
}

#define MEMORY(id, fault, when, broken, maybe, cases, text)                                                          \
  {                                                                                                                  \
    .subject = {BASE(id, text, F32, SUM, spoil), FAULT(fault, when), .order = "host/sequential", .claims = ORDERED}, \
    .breaks = broken, .may = maybe, .fixtures = cases                                                                \
  }
#define FEW "normal/f32/sum/1x33/*"
#define ROWS_OF_17 FEW ",normal/f32/sum/17x257/*"
#define LONGER FEW ",normal/f32/sum/1x8193/*"
#define UNWRITTEN (C(WRITES_OUTPUT) | C(BOUNDED) | C(REPLAYS))
static const struct fold_mutant memory[] = {
    MEMORY("last_unwritten", LAST_UNWRITTEN, ALWAYS, UNWRITTEN, REPEATS, ROWS_OF_17,
           "leaves the last row's result unwritten"),
    MEMORY("past_end", PAST_END, ALWAYS, C(STAYS_IN_BOUNDS), 0, ROWS_OF_17, "writes one result too many"),
    MEMORY("before_start", BEFORE_START, ALWAYS, C(STAYS_IN_BOUNDS), 0, ROWS_OF_17, "writes before its results"),
    MEMORY("in_zone", IN_ZONE, ALWAYS, C(STAYS_IN_BOUNDS), 0, "normal/f32/sum/1x[1-9]/*", "writes before the input"),
    MEMORY("past_end_alone", PAST_END, ONE_ROW, C(STAYS_IN_BOUNDS), 0, "normal/f32/sum/17x257/*",
           "writes one result too many where one row is run"),
    MEMORY("input_swapped_by_threads", INPUT_SWAPPED, TWO_THREADS, C(KEEPS_INPUT), 0, FEW,
           "swaps two terms when it has two threads"),
    MEMORY("input_swapped", INPUT_SWAPPED, ALWAYS, C(KEEPS_INPUT), 0, FEW, "swaps two terms of its input"),
    MEMORY("unwritten_in_five", SECOND_UNWRITTEN, FIVE_ROWS, C(WRITES_OUTPUT), 0, FEW,
           "leaves the second of five results unwritten"),
    MEMORY("input_swapped_in_five", INPUT_SWAPPED, FIVE_ROWS, C(KEEPS_INPUT), 0, FEW,
           "swaps two terms where there are five rows"),
    MEMORY("input_restored", INPUT_RESTORED, ALWAYS, C(KEEPS_INPUT), 0, FEW, "swaps two terms and puts them back"),
    MEMORY("input_restored_by_threads", INPUT_RESTORED, TWO_THREADS, C(KEEPS_INPUT), 0, LONGER,
           "swaps two terms and puts them back when it has two threads"),
    MEMORY("past_read_masked", READ_PAST, ALWAYS, C(STAYS_IN_BOUNDS), 0, ROWS_OF_17,
           "reads past the input, and does not use it"),
    MEMORY("past_read_by_threads", READ_PAST, TWO_THREADS, C(STAYS_IN_BOUNDS), 0, LONGER,
           "reads past the input when it has two threads"),
    MEMORY("past_read_handled", READ_HANDLED, ALWAYS, C(LEAVES_NO_TRACE), C(STAYS_IN_BOUNDS), FEW,
           "reads past the input, and handles the fault itself"),
    MEMORY("before_read_masked", READ_BEFORE, ALWAYS, C(STAYS_IN_BOUNDS), 0, FEW,
           "reads a byte before the input, and does not use it"),
    MEMORY("far_past_end", FAR_PAST_END, ALWAYS, C(STAYS_IN_BOUNDS), 0, ROWS_OF_17,
           "writes 20,000 bytes past its results"),
    {.subject = {BASE("scratch_past_end", "writes one byte past its scratch", F32, SUM, spoil),
                 FAULT(SCRATCH_PAST_END, ALWAYS), .claims = SOUND | C(BOUNDED), .scratch = mutant_scratch},
     .breaks = C(STAYS_IN_BOUNDS),
     .fixtures = "normal/f32/sum/1x1023/*"},
    MEMORY("rows_past_grid", PAST_A_GRID, ALWAYS, UNWRITTEN, REPEATS, "rows_past_a_grid/f32/sum/65537x3/*," FEW,
           "leaves rows from 65,535 on unwritten"),
};
END(memory)
