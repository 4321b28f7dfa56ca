/* test_device.c: rigs over a simulated device: its memory, its launches, and its calls that fail. */
#include <criterion/criterion.h>
#include <fenv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <xxhash.h>

#include "base/bits.h"
#include "played_device.h"
#include "rig/private.h"
#include "starve.h"

enum { ROWS = 3, COLS = 5, TERMS = ROWS * COLS, BYTES = TERMS * 4, READ_PART = 1 << 22 };

static struct fold_rig rig;
static float got[ROWS];

static void open_rig(size_t rows, size_t cols) {
  cr_assert_eq(fold_rig_open_rows(&rig, FOLD_CUDA, FOLD_SUM, FOLD_F32, rows * cols, rows).code, FOLD_OK);
  for (size_t i = 0; i < rows * cols; i++) ((float *)fold_rig_input(&rig))[i] = (float)(i % 1000 + 1);
  cr_assert_eq(fold_rig_load(&rig).code, FOLD_OK);
}
static void open_usual(void) { open_rig(ROWS, COLS); }
static void close_rig(void) {
  fold_rig_close(&rig);
  cr_expect_eq(count_memory(), 0);
}
/* Tests of suite device have a rig that is open; those of device_opened open and close theirs. */
TestSuite(device, .init = open_usual, .fini = close_rig);

static struct fold_traces run_as(enum fault fault) {
  struct fold_subject subject = subject_of(fault);
  struct fold_request request = {.rows = ROWS, .cols = COLS, .poison = POISON};
  struct fold_traces traces;
  memset(got, 0xa5, sizeof got);
  cr_assert_eq(fold_rig_run(&rig, &subject, &request, got, &traces).code, FOLD_OK);
  return traces;
}

static void expect_clean(const char *after) {
  struct fold_traces t = run_as(RIGHT);
  cr_expect(!t.out_of_bounds && !t.unwritten && !t.left[0] && !t.wrote_input, "after %s the next one is blamed", after);
  cr_expect(got[0] == 15 && got[1] == 40 && got[2] == 65, "after %s: %g %g %g", after, got[0], got[1], got[2]);
}

Test(device, a_run_computes_and_leaves_no_trace) {
  for (ptrdiff_t shift = -2; shift <= FOLD_RIG_SLACK; shift++) {
    cr_assert_eq(fold_rig_move(&rig, shift).code, FOLD_OK);
    expect_clean("a move");
  }
  struct fold_traces t = run_as(NOT_WRITTEN);
  cr_expect(t.unwritten && t.unwritten_at == ROWS - 1 && got[1] == 40);
  expect_clean("a row that was not written");
}

/* A byte beyond either end of any argument, as far as guards reach. */
Test(device, a_write_outside_is_seen_and_placed) {
  static const struct {
    enum fault fault;
    enum fold_argument of;
    ptrdiff_t end;
  } arguments[] = {{AT_OUTPUT, FOLD_OUTPUT, ROWS * 4}, {AT_INPUT, FOLD_INPUT, BYTES}, {AT_SCRATCH, FOLD_SCRATCH, 5000}};
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
        struct fold_traces t = run_as(arguments[i].fault);
        cr_expect(
            t.out_of_bounds && t.bounds_of == arguments[i].of && t.bounds_by == FOLD_WRITTEN && t.bounds_at == aside,
            "argument %zu, shift %td, at %td: %d, %d at %td", i, shift, aside, t.out_of_bounds, (int)t.bounds_of,
            t.bounds_at);
        cr_expect(got[0] == 15 && got[2] == 65 && !t.left[0]);
        expect_clean("a write outside");
      }
    }
}

/* Of any size in any sequence; 256 bytes further where that is asked for. */
Test(device, scratch_is_what_was_asked_for) {
  static const size_t sizes[] = {5000, 100, 300000, 4096, 300001, 1};
  struct fold_subject subject = subject_of(NEEDS_SCRATCH);
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
  struct fold_traces t = run_as(AT_SCRATCH);
  cr_expect_str_eq(t.left, "byte 17 of its scratch's head, which must be zero again");
  expect_clean("scratch that was left");
}

/* What the process had before the first run is no subject's. */
Test(device, a_subject_is_blamed_for_what_it_leaves_alone) {
  fesetround(FE_UPWARD);
  expect_clean("another rounding mode");
  cr_expect_eq(fegetround(), FE_TONEAREST);
}

Test(device, the_engines_state_is_put_back_and_named) {
  cr_expect_str_eq(run_as(LEAVES_STATE).left, "the device's state");
  expect_clean("another state of the engine");
}

Test(device, closed_pages_are_refused) {
  struct fold_subject subject = subject_of(RIGHT);
  struct fold_traces t;
  for (enum fold_placement p = FOLD_AT_START; p <= FOLD_AT_END; p++) {
    struct fold_request request = {.rows = ROWS, .cols = COLS, .placement = p};
    cr_expect_eq(fold_rig_run(&rig, &subject, &request, got, &t).code, FOLD_UNSUPPORTED);
  }
}

/* Where the rig takes the input to be, and around it NaN; once a run has it. */
static void expect_laid(const char *after) {
  run_as(RIGHT);
  device_drain();
  cr_expect(memcmp(rig.in[0].room.at, rig.in[0].mirror, rig.in[0].room.bytes) == 0,
            "after %s the device has another input", after);
  size_t at = (size_t)((unsigned char *)fold_rig_input(&rig) - rig.in[0].mirror);
  for (size_t i = 0; i < rig.in[0].room.bytes; i++)
    if (i < at || i >= at + BYTES) cr_expect(rig.in[0].mirror[i] == 0xff, "after %s byte %zu", after, i);
  for (size_t i = 0; i < TERMS; i++)
    cr_expect_eq(((float *)fold_rig_input(&rig))[i], (float)(i + 1), "after %s term %zu", after, i);
  device_open(PROT_NONE);
}

Test(device, has_the_input_where_the_host_has_it) {
  uint64_t former, poked;
  expect_laid("loading");
  for (ptrdiff_t shift = 3; shift >= -3; shift -= 3) {
    cr_assert_eq(fold_rig_move(&rig, shift).code, FOLD_OK);
    expect_laid("moving");
    for (size_t at = 0; at < TERMS; at++) {
      cr_assert_eq(fold_rig_poke(&rig, at, fold_f32_bits(100), &former).code, FOLD_OK);
      cr_expect_eq(former, fold_f32_bits((float)(at + 1)));
      run_as(RIGHT);
      for (size_t r = 0; r < ROWS; r++)
        cr_expect_eq(got[r], (float)(15 + 25 * r) + (r == at / COLS ? 100 - (float)(at + 1) : 0), "term %zu", at);
      cr_assert_eq(fold_rig_poke(&rig, at, former, &poked).code, FOLD_OK);
      cr_expect_eq(poked, fold_f32_bits(100));
    }
    expect_laid("poking");
  }
}

/* However often it was laid meanwhile: sent, filled around, gathered; and looked at once where nothing ran. */
Test(device, an_input_is_sent_once_and_a_run_is_waited_for_once) {
  uint64_t first, second;
  run_as(RIGHT);
  unsigned before = device.calls;
  for (ptrdiff_t shift = 3; shift >= -3; shift -= 3) cr_assert_eq(fold_rig_move(&rig, shift).code, FOLD_OK);
  run_as(RIGHT);
  cr_expect_eq(device.calls - before, 3, "%u calls", device.calls - before);
  cr_assert_eq(fold_rig_hash(&rig, &first).code, FOLD_OK);
  before = device.calls;
  cr_assert_eq(fold_rig_hash(&rig, &first).code, FOLD_OK);
  cr_expect_eq(device.calls - before, 1, "%u calls", device.calls - before);
  cr_assert_eq(fold_rig_hash(&rig, &second).code, FOLD_OK);
  cr_expect(device.calls - before == 1 && first == second, "%u calls", device.calls - before);
  run_as(CHANGES_INPUT);
  cr_assert_eq(fold_rig_hash(&rig, &second).code, FOLD_OK);
  cr_expect_neq(first, second);
}

/* Of the device's bytes, not the host's; once read, an input that did not change is not read again. */
Test(device_opened, the_hash_is_of_the_devices_input) {
  static const size_t lengths[] = {1, COLS, READ_PART / 4 - 1, READ_PART / 4, READ_PART / 4 + 1, READ_PART / 2 + 7};
  for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
    struct fold_subject changes = subject_of(CHANGES_INPUT);
    struct fold_request request = {.rows = 1, .cols = lengths[i], .poison = POISON};
    struct fold_traces t;
    uint64_t before, now, want;
    device.most_bytes = i % 2 ? 4 * READ_PART : 0; /* with and without memory to keep it */
    open_rig(1, lengths[i]);
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

/* As a thread of the subject's may do; what the harness has changed since is no subject's. */
Test(device, what_is_changed_after_the_last_run_is_told_at_the_end) {
  struct fold_traces traces;
  run_as(RIGHT);
  setenv("FOLD_NEW", "1", 1);
  fold_rig_look_at_state(&rig, &traces);
  cr_expect_str_eq(traces.left, "the environment's variable FOLD_NEW");
  setenv("FOLD_NEW", "2", 1);
  expect_clean("a variable of the harness's");
  cr_expect_str_eq(getenv("FOLD_NEW"), "2");
}

Test(device_opened, an_empty_input_has_a_hash) {
  uint64_t hash;
  open_rig(0, 0);
  for (int again = 0; again < 2; again++) {
    cr_assert_eq(fold_rig_hash(&rig, &hash).code, FOLD_OK);
    cr_expect_eq(hash, XXH3_64bits("", 0));
  }
  fold_rig_close(&rig);
}

/* Everything that a rig is asked, once; the last subject's results need more room. */
static fold_status use_rig(void) {
  struct fold_subject subjects[] = {subject_of(NEEDS_SCRATCH), subject_of(AT_INPUT), subject_of(RIGHT)};
  struct fold_request request = {.rows = ROWS, .cols = COLS, .poison = POISON};
  struct fold_traces t;
  uint64_t hash, former;
  double results[ROWS];
  aside = -1;
  subjects[2].result = FOLD_ALWAYS(FOLD_F64);
  FOLD_TRY(fold_rig_open_rows(&rig, FOLD_CUDA, FOLD_SUM, FOLD_F32, TERMS, ROWS));
  memset(fold_rig_input(&rig), 0, BYTES);
  fold_status status = fold_rig_load(&rig);
  if (status.code == FOLD_OK) status = fold_rig_hash(&rig, &hash);
  for (size_t i = 0; i < 3 && status.code == FOLD_OK; i++)
    status = fold_rig_run(&rig, &subjects[i], &request, results, &t);
  if (status.code == FOLD_OK) status = fold_rig_hash(&rig, &hash);
  if (status.code == FOLD_OK) status = fold_rig_poke(&rig, 2, 1, &former);
  if (status.code == FOLD_OK) status = fold_rig_hash(&rig, &hash);
  if (status.code == FOLD_OK) status = fold_rig_move(&rig, 2);
  fold_rig_close(&rig);
  return status;
}

Test(device_opened, a_call_that_fails_is_told) {
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
Test(device_opened, a_rig_gives_its_memory_back) {
  cr_expect_geq(starve_through("a rig", use_rig_again, NULL), 4);
  cr_expect_eq(count_memory(), 0);
}
