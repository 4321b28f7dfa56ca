/* What a hunt draws. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

#include "fixtures/family.h"
#include "hunt/draw.h"

enum { HALF = 4096, ROUND = 512, LANES = 8, ENOUGH = 16384 };

static struct fold_subject sums(unsigned dtypes) {
  return (struct fold_subject){.name = "mine/sum",
                               .problems = 1u << FOLD_ROWS_SUM,
                               .dtypes = dtypes,
                               .claims = FOLD_CLAIM(FOLD_BOUNDED) | FOLD_CLAIM(FOLD_REPLAYS)};
}

/* Draws rounds of one size, and calls `look` for each case. */
static void draw(const struct fold_subject *subject, void (*look)(const struct fold_case *c, void *context),
                 void *context) {
  const struct fold_registry registry = {subject, 1};
  const struct fold_selection selection = {.engine = -1};
  const struct fold_telling_sizes none = {.n = 0};
  struct fold_draw draw;
  cr_assert_eq(fold_draw_open(&registry, &selection, 1, 0, &draw).code, FOLD_OK);
  for (uint64_t round = 0; round < ENOUGH / ROUND; round++) {
    const struct fold_draw_place place = {round, round / LANES * ROUND};
    struct fold_cases cases = {0};
    cr_assert_eq(fold_draw_round(&draw, &none, &place, ROUND, &cases).code, FOLD_OK);
    for (size_t i = 0; i < cases.n; i++) look(&cases.at[i], context);
    fold_cases_free(&cases);
  }
  fold_draw_close(&draw);
}

static void note_length(const struct fold_case *c, void *context) {
  bool *seen = context;
  if (c->shape.m == 1 && c->shape.k <= HALF) seen[c->shape.k] = true;
}

Test(hunt_draw, each_length_up_to_4096_in_16384_cases) {
  static bool seen[HALF + 1];
  const struct fold_subject subject = sums(1u << FOLD_F32);
  draw(&subject, note_length, seen);
  for (size_t k = 1; k <= HALF; k++) cr_expect(seen[k], "length %zu", k);
}

static void count_cancelling(const struct fold_case *c, void *context) {
  *(size_t *)context += strcmp(c->source.generator->name, "ill_conditioned") == 0;
}

/* Their accumulator is wider than the result, whose rounding hides the order of other data. */
Test(hunt_draw, terms_cancel_where_an_order_is_claimed_of_16_bits) {
  size_t f16 = 0, f32 = 0;
  const struct fold_subject narrow = sums(1u << FOLD_F16), plain = sums(1u << FOLD_F32);
  draw(&narrow, count_cancelling, &f16);
  draw(&plain, count_cancelling, &f32);
  cr_expect_gt(f16, (size_t)ENOUGH / 4);
  cr_expect_eq(f32, (size_t)0);
}

struct calls {
  size_t of_one_length, length, longest,
      repeated; /* cases in a row of one row and one length, whose claims need no other shape */
};

static void count_calls(const struct fold_case *c, void *context) {
  struct calls *calls = context;
  const bool alone = c->shape.m == 1 && !strstr(c->claims, "_invariant") && !strstr(c->claims, "run_to_run");
  const bool same = alone && calls->of_one_length && c->shape.k == calls->length;
  calls->of_one_length = same ? calls->of_one_length + 1 : alone;
  calls->length = c->shape.k;
  calls->longest = calls->of_one_length > calls->longest ? calls->of_one_length : calls->longest;
  calls->repeated += c->repeats >= 300 && strstr(c->claims, "run_to_run");
}

/* A subject may be wrong only after some hundred calls of one shape. */
Test(hunt_draw, calls_of_one_shape_come_in_hundreds) {
  const struct fold_subject subject = {.name = "mine/sum",
                                       .problems = 1u << FOLD_ROWS_SUM,
                                       .dtypes = 1u << FOLD_F32,
                                       .claims = FOLD_CLAIM(FOLD_BOUNDED) | FOLD_CLAIM(FOLD_RUN_TO_RUN)};
  struct calls calls = {0};
  draw(&subject, count_calls, &calls);
  cr_expect_geq(calls.longest, (size_t)32);
  cr_expect_geq(calls.repeated, (size_t)ENOUGH / 512);
}
