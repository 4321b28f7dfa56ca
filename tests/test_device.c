/* test_device.c: rigs and judges over a device that is played: memory that nobody but the engine's calls and the subjects on it may
 * touch, and launches that are done when somebody waits for them. Needs no GPU.
 *
 * Defines what engine.c defines, so that the linker takes these.
 */
#include <criterion/criterion.h>
#include <fenv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <xxhash.h>

#include "arithmetics.h"
#include "bits.h"
#include "engine.h"
#include "rig_private.h"
#include "generator.h"
#include "host/host.h"
#include "starve.h"
#include "tally.h"
#include "varied.h"

/* ---- the device ---- */

enum { MOST = 16, QUEUE = 64, PAGE = 4096, POISON = 0xa5, READ_PART = 1 << 22 };

struct task {
  struct fold_fill fill; /* where there is no subject */
  const struct fold_subject *subject;
  struct fold_call call;
};

static struct {
  struct {
    unsigned char *at;
    size_t bytes;
  } memory[MOST];
  struct task queue[QUEUE];
  size_t waiting;
  unsigned calls, fails_in; /* the call that fails; 0: none */
  size_t most_bytes;        /* more is not there; 0: any number */
  size_t read;              /* bytes that came to the host, but for gathered ones */
  int state, kept_state;    /* calls are made in state 0 alone */
} device;

static void open_memory(int access) {
  for (size_t i = 0; i < MOST; i++)
    if (device.memory[i].at) __real_mprotect(device.memory[i].at, device.memory[i].bytes, access);
}

static void compute(const struct fold_subject *subject, const struct fold_call *call);

static void drain(void) {
  open_memory(PROT_READ | PROT_WRITE);
  for (size_t i = 0; i < device.waiting; i++) {
    struct task *t = &device.queue[i];
    if (t->subject)
      compute(t->subject, &t->call);
    else
      memset(t->fill.at, t->fill.byte, t->fill.nbytes);
  }
  device.waiting = 0;
}

/* Before each of the device's calls, and after it. */
static fold_status begin(void) {
  device.calls++;
  drain();
  cr_assert_eq(device.state, 0, "a call in a state that a subject left");
  return device.calls == device.fails_in ? fold_error(FOLD_ENVIRONMENT, "call %u failed", device.calls) : fold_ok();
}
static fold_status end(void) { return open_memory(PROT_NONE), fold_ok(); }

static fold_status device_alloc(size_t nbytes, void **memory) {
  size_t free_place = 0, held = 0;
  if (nbytes < (size_t)2 * FOLD_RIG_GUARD)
    device.calls--; /* of no room: a copy that need not be kept, and never fails */
  FOLD_TRY(begin());
  for (size_t i = 0; i < MOST; i++) held += device.memory[i].bytes;
  while (free_place < MOST - 1 && device.memory[free_place].at) free_place++;
  size_t bytes = (nbytes + PAGE - 1) / PAGE * PAGE;
  if (nbytes == 0 || (device.most_bytes && held + bytes > device.most_bytes))
    return end(), fold_error(FOLD_NO_MEMORY, "no memory for %zu bytes", nbytes);
  *memory = __real_mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  cr_assert(*memory != MAP_FAILED && !device.memory[free_place].at);
  memset(*memory, 0x5c, bytes);
  device.memory[free_place].at = *memory;
  device.memory[free_place].bytes = bytes;
  return end();
}

static void device_release(void *memory) {
  drain();
  size_t i = 0;
  while (i < MOST - 1 && device.memory[i].at != memory) i++;
  cr_assert(memory && device.memory[i].at == memory, "what was not taken is given back");
  __real_munmap(memory, device.memory[i].bytes);
  device.memory[i].at = NULL;
  device.memory[i].bytes = 0;
  end();
}

static fold_status device_write(void *to, const void *from_host, size_t nbytes) {
  FOLD_TRY(begin());
  memcpy(to, from_host, nbytes);
  return end();
}

static fold_status device_read(void *to_host, const void *from, size_t nbytes) {
  FOLD_TRY(begin());
  memcpy(to_host, from, nbytes);
  device.read += nbytes;
  return end();
}

static fold_status device_gather(const struct fold_piece *pieces, size_t n) {
  FOLD_TRY(begin());
  for (size_t i = 0; i < n; i++) memcpy(pieces[i].to_host, pieces[i].from, pieces[i].nbytes);
  return end();
}

static fold_status device_fill(const struct fold_fill *fills, size_t n) {
  FOLD_TRY(begin());
  for (size_t i = 0; i < n; i++) {
    cr_expect(fills[i].at && fills[i].nbytes > 0, "a fill of nothing");
    device.queue[device.waiting++] = (struct task){.fill = fills[i]};
  }
  return end();
}

static fold_status device_copy(void *to, const void *from, size_t nbytes) {
  FOLD_TRY(begin());
  memcpy(to, from, nbytes);
  return end();
}

static fold_status device_same(const void *a, const void *b, size_t nbytes, bool *same) {
  FOLD_TRY(begin());
  *same = memcmp(a, b, nbytes) == 0;
  return end();
}

static fold_status device_finish(void) {
  FOLD_TRY(begin());
  return end();
}

static void device_keep(void) { device.kept_state = device.state; }

static void device_restore(char changed[80]) {
  if (device.state == device.kept_state) return;
  strcpy(changed, "the device's state");
  device.state = device.kept_state;
}

static fold_status host_alloc(size_t nbytes, void **memory) {
  *memory = aligned_alloc(256, (nbytes + 255) / 256 * 256);
  return *memory ? fold_ok() : fold_error(FOLD_NO_MEMORY, "no memory");
}

const struct fold_engine_ops *fold_engine_of(enum fold_engine engine) {
  static const struct fold_engine_ops host = {.alloc = host_alloc, .is_host = true};
  static const struct fold_engine_ops ops = {.alloc = device_alloc,
                                             .release = device_release,
                                             .write = device_write,
                                             .read = device_read,
                                             .gather = device_gather,
                                             .fill = device_fill,
                                             .copy = device_copy,
                                             .same = device_same,
                                             .finish = device_finish,
                                             .keep = device_keep,
                                             .restore = device_restore};
  return engine == FOLD_HOST ? &host : engine == FOLD_CUDA ? &ops : NULL;
}

fold_status fold_engine_ready(enum fold_engine engine) { return (void)engine, fold_ok(); }

/* ---- subjects on it ---- */

enum fault {
  RIGHT,
  NOT_WRITTEN, /* the last row */
  AT_OUTPUT,   /* these write a byte `aside` from the start of an argument */
  AT_INPUT,
  AT_SCRATCH,
  NEEDS_SCRATCH, /* and is right */
  CHANGES_INPUT, /* the last term */
  CHANGES_FIVE,  /* the same, of five rows */
  AT_7_BLOCKS,   /* these are wrong at that launch or place */
  AT_128_THREADS,
  AT_AN_ADDRESS,
  KEEPS_RESULTS, /* of the address and shape that it saw last */
  COUNTS_RUNS,
  OF_A_METHOD,  /* what `method_run` makes of it */
  LEAVES_STATE, /* the engine's */
};
static fold_run *method_run;
static ptrdiff_t aside;
static size_t scratch_bytes = 5000;
static struct {
  unsigned runs;
  struct varied_runs varied;
  ptrdiff_t scratch_at;
  bool scratch_right;
} seen;

static double sum_of(const struct fold_call *call, size_t row) {
  double sum = 0;
  for (size_t i = 0; i < call->cols; i++)
    sum += fold_bits_to_double(call->dtype, fold_bits_load(call->dtype, call->in, row * call->cols + i));
  return sum;
}

static bool is_wrong(enum fault fault, const struct fold_call *call) {
  return (fault == AT_7_BLOCKS && call->launch.blocks == 7) || (fault == AT_128_THREADS && call->launch.block == 128) ||
         (fault == AT_AN_ADDRESS && (uintptr_t)call->in % 64 == 20) || (fault == COUNTS_RUNS && seen.runs > 1);
}

static void look_at_scratch(const struct fold_call *call) {
  const unsigned char *scratch = call->scratch;
  seen.scratch_right = (uintptr_t)scratch % 256 == 0;
  for (size_t i = 0; i < scratch_bytes; i++) seen.scratch_right &= scratch[i] == (i < FOLD_SCRATCH_ZEROED ? 0 : POISON);
}

static void compute(const struct fold_subject *subject, const struct fold_call *call) {
  static struct fold_call kept;
  static double sums[8];
  enum fault fault = (enum fault)subject->width;
  unsigned char *in = (unsigned char *)(uintptr_t)call->in, *out = call->out;
  size_t n = call->rows * call->cols, size = fold_dtype_size(call->dtype);
  seen.runs++;
  varied_note(&seen.varied, (struct varied){.blocks = call->launch.blocks,
                                            .block = call->launch.block,
                                            .shift = (int)((uintptr_t)in % 256 / size),
                                            .out_shift = (int)((uintptr_t)out % 256 / size),
                                            .nan = call->rows && out[0] == 0xff});
  bool known = fault == KEEPS_RESULTS && kept.in == call->in && kept.rows == call->rows && kept.cols == call->cols;
  for (size_t r = 0; r + (fault == NOT_WRITTEN) < call->rows; r++) {
    double sum = known ? sums[r % 8] : sum_of(call, r);
    sums[r % 8] = sum;
    fold_bits_store(call->dtype, out, r, fold_bits_from_double(call->dtype, sum + is_wrong(fault, call)));
  }
  kept = *call;
  if (fault == OF_A_METHOD) method_run(subject, call);
  if (fault == NEEDS_SCRATCH) look_at_scratch(call);
  if (fault == AT_OUTPUT) out[aside] ^= 1;
  if (fault == AT_INPUT) in[aside] ^= 1;
  if (fault == AT_SCRATCH) ((unsigned char *)call->scratch)[aside] ^= 1;
  if (fault == CHANGES_INPUT || (fault == CHANGES_FIVE && call->rows == 5)) in[n * size - 1] ^= 1;
}

static fold_status launch(const struct fold_subject *subject, const struct fold_call *call) {
  cr_assert(device.waiting < QUEUE);
  device.queue[device.waiting++] = (struct task){.subject = subject, .call = *call};
  if (subject->width == LEAVES_STATE) device.state = 1;
  return fold_ok();
}

static size_t ask_scratch(const struct fold_subject *subject, const struct fold_call *call) {
  (void)call;
  return subject->width == AT_SCRATCH || subject->width == NEEDS_SCRATCH ? scratch_bytes : 0;
}

static struct fold_subject subject_of(enum fault fault) {
  return (struct fold_subject){.name = "s",
                               .engine = FOLD_CUDA,
                               .dtypes = 1u << FOLD_F32,
                               .ops = 1u << FOLD_SUM,
                               .width = fault,
                               .run = launch,
                               .scratch = ask_scratch};
}

/* ---- rigs ---- */

enum { ROWS = 3, COLS = 5, TERMS = ROWS * COLS, BYTES = TERMS * 4 };

static fold_status open_rig(struct fold_rig *rig, size_t rows, size_t cols) {
  FOLD_TRY(fold_rig_open(rig, FOLD_CUDA, FOLD_F32, rows * cols, rows));
  for (size_t i = 0; i < rows * cols; i++) ((float *)fold_rig_input(rig))[i] = (float)(i % 1000 + 1);
  return fold_rig_load(rig);
}

static struct fold_traces run_as(struct fold_rig *rig, enum fault fault, float got[ROWS]) {
  struct fold_subject subject = subject_of(fault);
  struct fold_request request = {.rows = ROWS, .cols = COLS, .poison = POISON};
  struct fold_traces traces;
  cr_assert_eq(fold_rig_run(rig, &subject, &request, got, &traces).code, FOLD_OK);
  return traces;
}

static size_t count_memory(void) {
  size_t n = 0;
  for (size_t i = 0; i < MOST; i++) n += device.memory[i].at != NULL;
  return n;
}

static void expect_clean(struct fold_rig *rig, const char *after) {
  float got[ROWS];
  struct fold_traces t = run_as(rig, RIGHT, got);
  cr_expect(!t.out_of_bounds && !t.unwritten && !t.left[0] && !t.wrote_input, "after %s the next one is blamed", after);
  cr_expect(got[0] == 15 && got[1] == 40 && got[2] == 65, "after %s: %g %g %g", after, got[0], got[1], got[2]);
}

Test(device, a_run_computes_and_leaves_no_trace) {
  struct fold_rig rig;
  float got[ROWS];
  cr_assert_eq(open_rig(&rig, ROWS, COLS).code, FOLD_OK);
  for (ptrdiff_t shift = -2; shift <= FOLD_RIG_SLACK; shift++) {
    cr_assert_eq(fold_rig_move(&rig, shift).code, FOLD_OK);
    expect_clean(&rig, "a move");
  }
  struct fold_traces t = run_as(&rig, NOT_WRITTEN, got);
  cr_expect(t.unwritten && t.unwritten_at == ROWS - 1 && got[1] == 40);
  expect_clean(&rig, "a row that was not written");
  fold_rig_close(&rig);
  cr_expect_eq(count_memory(), 0);
}

/* A byte beyond either end of any argument, as far as guards reach. */
Test(device, a_write_outside_is_seen_and_placed) {
  static const struct {
    enum fault fault;
    enum fold_argument of;
    ptrdiff_t end;
  } arguments[] = {{AT_OUTPUT, FOLD_OUTPUT, ROWS * 4}, {AT_INPUT, FOLD_INPUT, BYTES}, {AT_SCRATCH, FOLD_SCRATCH, 5000}};
  struct fold_rig rig;
  float got[ROWS];
  cr_assert_eq(open_rig(&rig, ROWS, COLS).code, FOLD_OK);
  for (ptrdiff_t shift = 0; shift < 4; shift += 3)
    for (size_t i = 0; i < sizeof arguments / sizeof *arguments; i++) {
      cr_assert_eq(fold_rig_move(&rig, shift).code, FOLD_OK);
      const struct fold_rig_input *in = &rig.in[0];
      const ptrdiff_t end = arguments[i].end,
                      last = arguments[i].of == FOLD_INPUT
                                 ? (ptrdiff_t)in->room.bytes - 1 - (ptrdiff_t)fold_rig_place(&rig, in)
                                 : end + 400,
                      places[] = {-1, -300, -FOLD_RIG_GUARD, end, end + 100, last};
      for (size_t p = 0; p < sizeof places / sizeof *places; p++) {
        aside = places[p];
        struct fold_traces t = run_as(&rig, arguments[i].fault, got);
        cr_expect(
            t.out_of_bounds && t.bounds_of == arguments[i].of && t.bounds_by == FOLD_WRITTEN && t.bounds_at == aside,
            "argument %zu, shift %td, at %td: %d, %d at %td", i, shift, aside, t.out_of_bounds, (int)t.bounds_of,
            t.bounds_at);
        cr_expect(got[0] == 15 && got[2] == 65 && !t.left[0]);
        expect_clean(&rig, "a write outside");
      }
    }
  fold_rig_close(&rig);
}

/* Of any size in any sequence; 256 bytes further where that is asked for. */
Test(device, scratch_is_what_was_asked_for) {
  static const size_t sizes[] = {5000, 100, 300000, 4096, 300001, 1};
  struct fold_subject subject = subject_of(NEEDS_SCRATCH);
  struct fold_rig rig;
  float got[ROWS];
  cr_assert_eq(open_rig(&rig, ROWS, COLS).code, FOLD_OK);
  for (size_t i = 0; i < 2 * sizeof sizes / sizeof *sizes; i++) {
    struct fold_request request = {.rows = ROWS, .cols = COLS, .poison = POISON, .scratch_shift = i % 2};
    struct fold_traces t;
    scratch_bytes = sizes[i / 2];
    seen.scratch_right = false;
    cr_assert_eq(fold_rig_run(&rig, &subject, &request, got, &t).code, FOLD_OK);
    cr_expect(seen.scratch_right && !t.left[0] && !t.out_of_bounds, "%zu bytes: %s", scratch_bytes, t.left);
  }
  scratch_bytes = 5000;
  aside = 17;
  struct fold_traces t = run_as(&rig, AT_SCRATCH, got);
  cr_expect_str_eq(t.left, "byte 17 of its scratch's head, which must be zero again");
  expect_clean(&rig, "scratch that was left");
  fold_rig_close(&rig);
  cr_expect_eq(count_memory(), 0);
}

/* What the process had before the first run is nobody's. */
Test(device, a_subject_is_blamed_for_what_it_leaves_alone) {
  struct fold_rig rig;
  cr_assert_eq(open_rig(&rig, ROWS, COLS).code, FOLD_OK);
  fesetround(FE_UPWARD);
  expect_clean(&rig, "another rounding mode");
  cr_expect_eq(fegetround(), FE_TONEAREST);
  fold_rig_close(&rig);
}

Test(device, the_engines_state_is_put_back_and_named) {
  struct fold_rig rig;
  float got[ROWS];
  cr_assert_eq(open_rig(&rig, ROWS, COLS).code, FOLD_OK);
  cr_expect_str_eq(run_as(&rig, LEAVES_STATE, got).left, "the device's state");
  expect_clean(&rig, "another state of the engine");
  fold_rig_close(&rig);
}

Test(device, closed_pages_are_refused) {
  struct fold_subject subject = subject_of(RIGHT);
  struct fold_rig rig;
  struct fold_traces t;
  float got[ROWS];
  cr_assert_eq(open_rig(&rig, ROWS, COLS).code, FOLD_OK);
  for (enum fold_placement p = FOLD_AT_START; p <= FOLD_AT_END; p++) {
    struct fold_request request = {.rows = ROWS, .cols = COLS, .placement = p};
    cr_expect_eq(fold_rig_run(&rig, &subject, &request, got, &t).code, FOLD_UNSUPPORTED);
  }
  fold_rig_close(&rig);
}

/* Where the rig takes the input to be, and around it NaN; once a run has it. */
static void expect_laid(struct fold_rig *rig, const char *after) {
  float got[ROWS];
  run_as(rig, RIGHT, got);
  drain();
  cr_expect(memcmp(rig->in[0].room.at, rig->in[0].mirror, rig->in[0].room.bytes) == 0,
            "after %s the device has another input", after);
  size_t at = (size_t)((unsigned char *)fold_rig_input(rig) - rig->in[0].mirror);
  for (size_t i = 0; i < rig->in[0].room.bytes; i++)
    if (i < at || i >= at + BYTES) cr_expect(rig->in[0].mirror[i] == 0xff, "after %s byte %zu", after, i);
  for (size_t i = 0; i < TERMS; i++)
    cr_expect_eq(((float *)fold_rig_input(rig))[i], (float)(i + 1), "after %s term %zu", after, i);
  open_memory(PROT_NONE);
}

Test(device, has_the_input_where_the_host_has_it) {
  struct fold_rig rig;
  uint64_t former, poked;
  float got[ROWS];
  cr_assert_eq(open_rig(&rig, ROWS, COLS).code, FOLD_OK);
  expect_laid(&rig, "loading");
  for (ptrdiff_t shift = 3; shift >= -3; shift -= 3) {
    cr_assert_eq(fold_rig_move(&rig, shift).code, FOLD_OK);
    expect_laid(&rig, "moving");
    for (size_t at = 0; at < TERMS; at++) {
      cr_assert_eq(fold_rig_poke(&rig, at, fold_f32_bits(100), &former).code, FOLD_OK);
      cr_expect_eq(former, fold_f32_bits((float)(at + 1)));
      run_as(&rig, RIGHT, got);
      for (size_t r = 0; r < ROWS; r++)
        cr_expect_eq(got[r], (float)(15 + 25 * r) + (r == at / COLS ? 100 - (float)(at + 1) : 0), "term %zu", at);
      cr_assert_eq(fold_rig_poke(&rig, at, former, &poked).code, FOLD_OK);
      cr_expect_eq(poked, fold_f32_bits(100));
    }
    expect_laid(&rig, "poking");
  }
  fold_rig_close(&rig);
}

/* However often it was laid meanwhile: sent, filled around, gathered; and looked at once where nothing ran. */
Test(device, an_input_is_sent_once_and_a_run_is_waited_for_once) {
  struct fold_rig rig;
  float got[ROWS];
  uint64_t first, second;
  cr_assert_eq(open_rig(&rig, ROWS, COLS).code, FOLD_OK);
  run_as(&rig, RIGHT, got);
  unsigned before = device.calls;
  for (ptrdiff_t shift = 3; shift >= -3; shift -= 3) cr_assert_eq(fold_rig_move(&rig, shift).code, FOLD_OK);
  run_as(&rig, RIGHT, got);
  cr_expect_eq(device.calls - before, 3, "%u calls", device.calls - before);
  cr_assert_eq(fold_rig_hash(&rig, &first).code, FOLD_OK);
  before = device.calls;
  cr_assert_eq(fold_rig_hash(&rig, &first).code, FOLD_OK);
  cr_expect_eq(device.calls - before, 1, "%u calls", device.calls - before);
  cr_assert_eq(fold_rig_hash(&rig, &second).code, FOLD_OK);
  cr_expect(device.calls - before == 1 && first == second, "%u calls", device.calls - before);
  run_as(&rig, CHANGES_INPUT, got);
  cr_assert_eq(fold_rig_hash(&rig, &second).code, FOLD_OK);
  cr_expect_neq(first, second);
  fold_rig_close(&rig);
}

/* Of the device's bytes, not the host's; once read, an input that did not change is not read again. */
Test(device, the_hash_is_of_the_devices_input) {
  static const size_t lengths[] = {1, COLS, READ_PART / 4 - 1, READ_PART / 4, READ_PART / 4 + 1, READ_PART / 2 + 7};
  for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
    struct fold_subject changes = subject_of(CHANGES_INPUT);
    struct fold_request request = {.rows = 1, .cols = lengths[i], .poison = POISON};
    struct fold_traces t;
    struct fold_rig rig;
    uint64_t before, now, want;
    float got[1];
    device.most_bytes = i % 2 ? 4 * READ_PART : 0; /* with and without memory to keep it */
    cr_assert_eq(open_rig(&rig, 1, lengths[i]).code, FOLD_OK);
    want = XXH3_64bits(fold_rig_input(&rig), lengths[i] * 4);
    cr_assert_eq(fold_rig_hash(&rig, &before).code, FOLD_OK);
    cr_expect_eq(before, want, "%zu terms", lengths[i]);
    cr_expect_eq(device.read, lengths[i] * 4, "%zu bytes read of %zu terms", device.read, lengths[i]);
    device.read = 0;
    cr_assert_eq(fold_rig_hash(&rig, &now).code, FOLD_OK);
    cr_expect(now == before && device.read == (rig.in[0].known ? 0 : lengths[i] * 4), "%zu terms", lengths[i]);
    for (int change = 0; change < 2; change++) { /* and back */
      cr_assert_eq(fold_rig_run(&rig, &changes, &request, got, &t).code, FOLD_OK);
      cr_expect_not(t.wrote_input, "the rig has not looked");
      cr_assert_eq(fold_rig_hash(&rig, &now).code, FOLD_OK);
      cr_expect_eq(now == before, change == 1, "%zu terms, change %d", lengths[i], change);
    }
    fold_rig_close(&rig);
    cr_expect_eq(count_memory(), 0, "%zu terms", lengths[i]);
    device.read = 0;
  }
}

Test(device, an_empty_input_has_a_hash) {
  struct fold_rig rig;
  uint64_t hash;
  cr_assert_eq(open_rig(&rig, 0, 0).code, FOLD_OK);
  for (int again = 0; again < 2; again++) {
    cr_assert_eq(fold_rig_hash(&rig, &hash).code, FOLD_OK);
    cr_expect_eq(hash, XXH3_64bits("", 0));
  }
  fold_rig_close(&rig);
}

/* Everything that a rig is asked, once. */
static fold_status use_rig(void) {
  struct fold_rig rig;
  struct fold_subject subjects[] = {subject_of(NEEDS_SCRATCH), subject_of(AT_INPUT)};
  struct fold_request request = {.rows = ROWS, .cols = COLS, .poison = POISON};
  struct fold_traces t;
  uint64_t hash, former;
  float got[ROWS];
  aside = -1;
  FOLD_TRY(fold_rig_open(&rig, FOLD_CUDA, FOLD_F32, TERMS, ROWS));
  memset(fold_rig_input(&rig), 0, BYTES);
  fold_status status = fold_rig_load(&rig);
  if (status.code == FOLD_OK) status = fold_rig_hash(&rig, &hash);
  for (size_t i = 0; i < 2 && status.code == FOLD_OK; i++) status = fold_rig_run(&rig, &subjects[i], &request, got, &t);
  if (status.code == FOLD_OK) status = fold_rig_hash(&rig, &hash);
  if (status.code == FOLD_OK) status = fold_rig_poke(&rig, 2, 1, &former);
  if (status.code == FOLD_OK) status = fold_rig_hash(&rig, &hash);
  if (status.code == FOLD_OK) status = fold_rig_move(&rig, 2);
  fold_rig_close(&rig);
  return status;
}

Test(device, a_call_that_fails_is_told) {
  cr_assert_eq(use_rig().code, FOLD_OK);
  unsigned calls = device.calls;
  cr_expect(calls > 15, "%u calls", calls);
  for (unsigned k = 1; k <= calls; k++) {
    char text[40];
    device.calls = 0;
    device.fails_in = k;
    fold_status status = use_rig();
    snprintf(text, sizeof text, "call %u failed", k);
    cr_expect(status.code == FOLD_ENVIRONMENT && !strcmp(status.text, text), "%s: %d %s", text, (int)status.code,
              status.text);
    cr_expect_eq(count_memory(), 0, "%s: memory is left", text);
  }
}

static fold_status use_rig_again(void *context) {
  (void)context;
  return use_rig();
}

/* Where the host's is short, too. */
Test(device, a_rig_gives_its_memory_back) {
  cr_expect_geq(starve_through("a rig", use_rig_again, NULL), 4);
  cr_expect_eq(count_memory(), 0);
}

/* ---- judges ---- */

#define ALL                                                                                                 \
  (FOLD_CLAIM(FOLD_WRITES_OUTPUT) | FOLD_CLAIM(FOLD_STAYS_IN_BOUNDS) | FOLD_CLAIM(FOLD_LEAVES_NO_TRACE) |   \
   FOLD_CLAIM(FOLD_KEEPS_INPUT) | FOLD_CLAIM(FOLD_BOUNDED) | FOLD_CLAIM(FOLD_CORRECTLY_ROUNDED) |           \
   FOLD_CLAIM(FOLD_RUN_TO_RUN) | FOLD_CLAIM(FOLD_LAUNCH_INVARIANT) | FOLD_CLAIM(FOLD_ALIGNMENT_INVARIANT) | \
   FOLD_CLAIM(FOLD_BATCH_INVARIANT) | FOLD_CLAIM(FOLD_PERMUTATION_INVARIANT))

static fold_status judge(enum fault fault, uint64_t claims, size_t rows, struct tally *t) {
  static char name[] = "integers";
  struct fold_subject subject = subject_of(fault);
  subject.claims = claims;
  struct fold_registry registry = {&subject, 1};
  struct fold_case c = {.name = name, .file = name, .dtype = FOLD_F32, .op = FOLD_SUM, .rows = rows, .cols = 50};
  c.source = (struct fold_source){fold_generator_find("integers"), FOLD_F32, 7, c.cols, 0};
  struct fold_cases cases = {&c, 1, 1};
  device.calls = 0;
  seen.runs = 0;
  seen.varied.n = 0;
  return tally_verify(&registry, NULL, false, &cases, t);
}

Test(device, a_right_subject_holds_what_it_claims) {
  for (size_t rows = 1; rows <= ROWS; rows++)
    for (enum fault f = RIGHT; f <= NEEDS_SCRATCH; f += NEEDS_SCRATCH - RIGHT) {
      struct tally t;
      cr_assert_eq(judge(f, ALL, rows, &t).code, FOLD_OK);
      for (int k = 0; k < FOLD_CLAIMS; k++)
        if (ALL & FOLD_CLAIM(k))
          cr_expect_eq(t.last[k].verdict, FOLD_HELD, "%zu rows, claim %d: %s", rows, k, t.last[k].reason);
    }
}

Test(device, a_fault_is_held_against_what_it_breaks) {
  static const struct {
    enum fault fault;
    ptrdiff_t aside;
    uint64_t breaks, too;
  } rows[] = {
      {NOT_WRITTEN, 0, FOLD_CLAIM(FOLD_WRITES_OUTPUT), ALL},
      {AT_OUTPUT, -3, FOLD_CLAIM(FOLD_STAYS_IN_BOUNDS), 0},
      {AT_INPUT, -3, FOLD_CLAIM(FOLD_STAYS_IN_BOUNDS), 0},
      {AT_SCRATCH, 5003, FOLD_CLAIM(FOLD_STAYS_IN_BOUNDS), 0},
      {AT_SCRATCH, 3, FOLD_CLAIM(FOLD_LEAVES_NO_TRACE), 0},
      {LEAVES_STATE, 0, FOLD_CLAIM(FOLD_LEAVES_NO_TRACE), 0},
      {CHANGES_INPUT, 0, FOLD_CLAIM(FOLD_KEEPS_INPUT), FOLD_CLAIM(FOLD_RUN_TO_RUN)},
      {AT_7_BLOCKS, 0, FOLD_CLAIM(FOLD_LAUNCH_INVARIANT), 0},
      {AT_128_THREADS, 0, FOLD_CLAIM(FOLD_LAUNCH_INVARIANT), 0},
      {AT_AN_ADDRESS, 0, FOLD_CLAIM(FOLD_ALIGNMENT_INVARIANT), 0},
      {KEEPS_RESULTS, 0, FOLD_CLAIM(FOLD_RUN_TO_RUN), FOLD_CLAIM(FOLD_PERMUTATION_INVARIANT)},
      {COUNTS_RUNS, 0, FOLD_CLAIM(FOLD_RUN_TO_RUN), ALL},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    struct tally t;
    aside = rows[i].aside;
    cr_assert_eq(judge(rows[i].fault, ALL, ROWS, &t).code, FOLD_OK);
    for (int k = 0; k < FOLD_CLAIMS; k++) {
      if (!(ALL & FOLD_CLAIM(k))) continue;
      bool breaks = rows[i].breaks & FOLD_CLAIM(k);
      if (breaks || !(rows[i].too & FOLD_CLAIM(k)))
        cr_expect_eq(t.last[k].verdict, breaks ? FOLD_REFUTED : FOLD_HELD, "fault %zu, claim %d: %s", i, k,
                     t.last[k].reason);
    }
  }
}

/* In a batch of a row, which has memory of its own. */
Test(device, an_input_that_is_changed_elsewhere_is_told) {
  struct tally t;
  cr_assert_eq(judge(CHANGES_FIVE, ALL, 1, &t).code, FOLD_OK);
  cr_expect_eq(t.last[FOLD_BATCH_INVARIANT].verdict, FOLD_HELD);
  cr_expect_eq(t.last[FOLD_KEEPS_INPUT].verdict, FOLD_REFUTED);
  cr_expect_str_eq(t.last[FOLD_KEEPS_INPUT].reason, "the input was changed, in a run for batch_invariant");
}

/* Each claim by itself varies what it is about, and nothing beside it. */
Test(device, a_claim_alone_varies_its_own) {
  static const enum fold_claim_id claims[] = {FOLD_LAUNCH_INVARIANT, FOLD_ALIGNMENT_INVARIANT, FOLD_WRITES_OUTPUT};
  for (size_t k = 0; k < 3; k++) {
    size_t launches = 0, addresses = 0, poisons = 0;
    struct tally t;
    cr_assert_eq(judge(RIGHT, FOLD_CLAIM(claims[k]), 1, &t).code, FOLD_OK);
    for (size_t i = 0; i < seen.varied.n; i++) {
      const struct varied *v = &seen.varied.at[i];
      launches += v->blocks || v->block;
      addresses += v->shift || v->out_shift;
      poisons += v->nan;
    }
    cr_expect(launches == (k == 0 ? 5 : 0) && (addresses > 0) == (k == 1) && poisons == (k == 2),
              "claim %d: %zu launches, %zu addresses, %zu poisons", (int)claims[k], launches, addresses, poisons);
  }
}

Test(device, runs_are_varied_by_the_plan) {
  struct varied listed[FOLD_PLAN_MOST + 1];
  struct tally t;
  cr_assert_eq(
      judge(RIGHT,
            FOLD_CLAIM(FOLD_LAUNCH_INVARIANT) | FOLD_CLAIM(FOLD_ALIGNMENT_INVARIANT) | FOLD_CLAIM(FOLD_WRITES_OUTPUT),
            1, &t)
          .code,
      FOLD_OK);
  size_t n = varied_of_plan(FOLD_CUDA, 50, t.input_hash, listed);
  varied_expect(&seen.varied, listed, n + 1);
}

/* What the method adds up on a device is replayed by the method. */
Test(device, a_method_is_replayed_as_itself) {
  static char name[] = "normal";
  static const struct way ways[] = {PLAINLY, {FOLD_KAHAN, FOLD_USUAL, FOLD_USUAL}, IN_F64};
  static fold_run *const runs[] = {fold_host_ordered, fold_host_kahan, fold_host_float64};
  for (size_t m = 0; m < 3; m++)
    for (size_t own = 0; own < 3; own++) {
      struct fold_subject subject = subject_of(OF_A_METHOD);
      struct fold_registry registry = {&subject, 1};
      struct fold_case c = {.name = name, .file = name, .dtype = FOLD_F32, .op = FOLD_SUM, .rows = 8, .cols = 3000};
      c.source = (struct fold_source){fold_generator_find("normal"), FOLD_F32, 7, c.cols, 0};
      struct fold_cases cases = {&c, 1, 1};
      struct tally t;
      subject.claims = FOLD_CLAIM(FOLD_REPLAYS);
      subject.order = "host/sequential";
      subject.method = ways[own].method;
      subject.accumulator = ways[own].accumulator;
      method_run = runs[m];
      cr_assert_eq(tally_verify(&registry, NULL, false, &cases, &t).code, FOLD_OK);
      cr_expect_eq(t.last[FOLD_REPLAYS].verdict, m == own ? FOLD_HELD : FOLD_REFUTED, "method %zu as %zu: %s", m, own,
                   t.last[FOLD_REPLAYS].reason);
    }
}

/* Whatever fails of the device, and whoever is judged. Only the last look at the input comes when all is judged, and with it the input
 * that the judges of these claims laid last is sent; after keeps_input's own look there is nothing more to see. */
Test(device, nothing_holds_by_a_call_that_failed) {
  for (int k = 0; k < FOLD_CLAIMS; k++) {
    struct tally t;
    if (!(ALL & FOLD_CLAIM(k))) continue;
    device.fails_in = 0;
    cr_assert_eq(judge(NEEDS_SCRATCH, FOLD_CLAIM(k), 1, &t).code, FOLD_OK);
    const bool laid = k == FOLD_ALIGNMENT_INVARIANT || k == FOLD_PERMUTATION_INVARIANT;
    const unsigned calls = device.calls, last = k == FOLD_KEEPS_INPUT ? calls : calls - 1 - laid;
    for (device.fails_in = 1; device.fails_in <= last; device.fails_in++) {
      fold_status status = judge(NEEDS_SCRATCH, FOLD_CLAIM(k), 1, &t);
      const struct fold_finding *f = &t.last[k];
      cr_expect(status.code == FOLD_OK ? f->verdict == FOLD_BROKEN && strstr(f->reason, "failed")
                                       : status.code == FOLD_ENVIRONMENT,
                "claim %d, call %u of %u: %d, verdict %d: %s", k, device.fails_in, calls, (int)status.code,
                (int)f->verdict, f->reason);
      cr_expect_eq(count_memory(), 0, "claim %d, call %u: memory is left", k, device.fails_in);
    }
  }
}
