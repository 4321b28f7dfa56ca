/* test_rig_scratch.c: a subject's scratch is as large as it asked for, its head is zero, and it lies between guards. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "rig/rig.h"

enum { ROWS = 3, COLS = 5, POISON = 0xa5, PAGE = 4096, NOWHERE = 1 << 30 };

/* What the subject asks for and writes, and what it was given. */
static struct {
  size_t need;
  ptrdiff_t writes_at;
  uintptr_t at;
  bool right; /* the head is zero, all behind it poison */
} seen;

static size_t ask(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject, (void)call;
  return seen.need;
}

static fold_status run(const struct fold_subject *subject, const struct fold_call *call) {
  unsigned char *scratch = call->scratch;
  memset(call->out, 0, call->rows * fold_dtype_size(call->dtype));
  seen.at = (uintptr_t)scratch;
  seen.right = true;
  for (size_t i = 0; subject->scratch && seen.need && (i < seen.need || i < FOLD_SCRATCH_ZEROED); i++)
    seen.right &= scratch[i] == (i < FOLD_SCRATCH_ZEROED ? 0 : POISON);
  if (seen.writes_at != NOWHERE) scratch[seen.writes_at] ^= 1;
  return fold_ok();
}

static struct fold_traces run_with(struct fold_rig *rig, size_t need, struct fold_request request,
                                   ptrdiff_t writes_at) {
  struct fold_subject subject = {.name = "test", .engine = FOLD_HOST, .run = run, .scratch = ask};
  struct fold_traces traces;
  float got[ROWS];
  seen.need = need;
  seen.writes_at = writes_at;
  request.rows = ROWS;
  request.cols = COLS;
  request.poison = POISON;
  cr_assert_eq(fold_rig_run(rig, &subject, &request, got, &traces).code, FOLD_OK);
  return traces;
}

static void open_rig(struct fold_rig *rig) {
  cr_assert_eq(fold_rig_open_rows(rig, FOLD_HOST, FOLD_SUM, FOLD_F32, ROWS * COLS, ROWS).code, FOLD_OK);
  memset(fold_rig_input(rig), 0, sizeof(float) * ROWS * COLS);
  cr_assert_eq(fold_rig_load(rig).code, FOLD_OK);
}

static const size_t sizes[] = {1, 255, 4095, 4096, 4097, 5000, 300000, 10, 9000};

/* After whatever size; at the start or the end of a page, or 256 bytes further, where that is asked for. */
Test(rig_scratch, is_what_was_asked_for) {
  struct fold_rig rig;
  open_rig(&rig);
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    size_t room = (sizes[i] < FOLD_SCRATCH_ZEROED ? FOLD_SCRATCH_ZEROED : sizes[i]) + 255, length = room / 256 * 256;
    for (int placement = FOLD_PLACED; placement <= FOLD_AT_END; placement++) {
      struct fold_traces t =
          run_with(&rig, sizes[i], (struct fold_request){.placement = (enum fold_placement)placement}, NOWHERE);
      cr_expect(seen.right && seen.at % 256 == 0, "%zu bytes, placement %d: at %#zx", sizes[i], placement, seen.at);
      cr_expect(!t.out_of_bounds && !t.left[0], "%zu bytes, placement %d: %s", sizes[i], placement, t.left);
      if (placement == FOLD_AT_START) cr_expect(seen.at % PAGE == 0, "%zu bytes: at %#zx", sizes[i], seen.at);
      if (placement == FOLD_AT_END) cr_expect((seen.at + length) % PAGE == 0, "%zu bytes: at %#zx", sizes[i], seen.at);
    }
    run_with(&rig, sizes[i], (struct fold_request){0}, NOWHERE);
    uintptr_t at = seen.at;
    run_with(&rig, sizes[i], (struct fold_request){.scratch_shift = 1}, NOWHERE);
    cr_expect(seen.right && seen.at == at + 256, "%zu bytes: %td further", sizes[i], (ptrdiff_t)(seen.at - at));
  }
  fold_rig_close(&rig);
}

/* Also after one that was given some, and is not blamed for what that one left. */
Test(rig_scratch, who_asks_for_none_is_given_none) {
  struct fold_subject subject = {.name = "none", .engine = FOLD_HOST, .run = run};
  struct fold_request request = {.rows = ROWS, .cols = COLS, .poison = POISON};
  struct fold_traces traces;
  struct fold_rig rig;
  float got[ROWS];
  open_rig(&rig);
  for (int again = 0; again < 2; again++) {
    run_with(&rig, 0, request, NOWHERE);
    cr_expect_eq(seen.at, 0);
    seen.at = 1;
    cr_assert_eq(fold_rig_run(&rig, &subject, &request, got, &traces).code, FOLD_OK);
    cr_expect_eq(seen.at, 0);
    cr_expect(!traces.left[0] && !traces.out_of_bounds, "%s", traces.left);
    run_with(&rig, 5000, request, 17);
  }
  fold_rig_close(&rig);
}

/* A byte beyond either end is seen and placed, as far as guards are looked at; the last one within is the subject's own. */
Test(rig_scratch, a_write_outside_is_seen_and_placed) {
  struct fold_rig rig;
  open_rig(&rig);
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    ptrdiff_t end = sizes[i] < FOLD_SCRATCH_ZEROED ? FOLD_SCRATCH_ZEROED : (ptrdiff_t)sizes[i];
    const ptrdiff_t beyond[] = {-1, -100, -FOLD_RIG_GUARD, end, end + 100, end + FOLD_RIG_GUARD - 1};
    for (size_t k = 0; k < sizeof beyond / sizeof *beyond; k++) {
      struct fold_traces t = run_with(&rig, sizes[i], (struct fold_request){0}, beyond[k]);
      cr_expect(t.out_of_bounds && t.bounds_of == FOLD_SCRATCH && t.bounds_at == beyond[k],
                "%zu bytes, at %td: %d, %td", sizes[i], beyond[k], t.out_of_bounds, t.bounds_at);
      cr_expect_not(t.left[0], "%zu bytes, at %td: %s", sizes[i], beyond[k], t.left);
    }
    if (end > FOLD_SCRATCH_ZEROED) {
      struct fold_traces t = run_with(&rig, sizes[i], (struct fold_request){0}, end - 1);
      cr_expect(!t.out_of_bounds && !t.left[0], "%zu bytes: its last one", sizes[i]);
    }
  }
  fold_rig_close(&rig);
}

Test(rig_scratch, a_head_that_is_not_zero_again_is_named_by_its_first_byte) {
  static const ptrdiff_t head[] = {0, 17, FOLD_SCRATCH_ZEROED - 1};
  struct fold_rig rig;
  open_rig(&rig);
  for (size_t k = 0; k < sizeof head / sizeof *head; k++) {
    char want[80];
    struct fold_traces t = run_with(&rig, 5000, (struct fold_request){0}, head[k]);
    snprintf(want, sizeof want, "byte %td of its scratch's head, which must be zero again", head[k]);
    cr_expect_str_eq(t.left, want, "%s", t.left);
    cr_expect_not(t.out_of_bounds);
  }
  cr_expect_not(run_with(&rig, 5000, (struct fold_request){0}, FOLD_SCRATCH_ZEROED).left[0], "the rest is anything");
  fold_rig_close(&rig);
}

/* Between pages without access, as the input and the output: further than guards reach, and flush against one. */
Test(rig_scratch, a_touch_of_a_closed_page_is_seen_and_placed) {
  struct fold_rig rig;
  open_rig(&rig);
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    ptrdiff_t least = sizes[i] < FOLD_SCRATCH_ZEROED ? FOLD_SCRATCH_ZEROED : (ptrdiff_t)sizes[i];
    const struct {
      enum fold_placement placement;
      ptrdiff_t at;
    } touches[] = {{FOLD_PLACED, -20000},
                   {FOLD_PLACED, least + 20000},
                   {FOLD_AT_START, -1},
                   {FOLD_AT_END, (least + 255) / 256 * 256}};
    for (size_t k = 0; k < sizeof touches / sizeof *touches; k++) {
      struct fold_traces t =
          run_with(&rig, sizes[i], (struct fold_request){.placement = touches[k].placement}, touches[k].at);
      cr_expect(t.out_of_bounds && t.bounds_of == FOLD_SCRATCH && t.bounds_at == touches[k].at,
                "%zu bytes, touch %zu at %td: %d, %d at %td", sizes[i], k, touches[k].at, t.out_of_bounds,
                (int)t.bounds_of, t.bounds_at);
      t = run_with(&rig, sizes[i], (struct fold_request){0}, NOWHERE);
      cr_expect(!t.out_of_bounds && seen.right, "the next run is blamed");
    }
  }
  fold_rig_close(&rig);
}
