/* test_order_change.c: what is reported of two sides (run_pair.h), and where a side's rows lie. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "base/bits.h"
#include "judge/judge.h"

/* From 9 rows on otherwise: in reverse, in f64, in f64 from the ninth term on, by FMA, without the last term, and that everywhere; or each second row in
 * reverse. */
enum way { ONE_ORDER, BY_ROWS, WIDER_BY_ROWS, WIDER_TAIL_BY_ROWS, FUSED_BY_ROWS, LOST_BY_ROWS, LOST, BY_PLACE };
static struct {
  enum way way;
  size_t cols;  /* of the last run */
  size_t first; /* where its input began, in elements behind a multiple of 256 bytes */
  float behind; /* what stood behind its last row */
  float last;   /* its last element */
  float second; /* the element beside its first */
  unsigned threads;
  size_t out;    /* where its output began, and */
  bool held_nan; /* what that held */
  bool at_end;   /* its input ended a page */
} seen;

static float add_row(const float *x, const float *y, size_t n, size_t step, size_t place, bool many) {
  float s = 0;
  double wide = 0;
  for (size_t k = 0; k < n - (seen.way == LOST || (seen.way == LOST_BY_ROWS && many)); k++) {
    const bool back = many && (seen.way == BY_ROWS || (seen.way == BY_PLACE && place % 2));
    const size_t at = (back ? n - 1 - k : k) * step;
    if (k == 8 && seen.way == WIDER_TAIL_BY_ROWS) wide = s;
    const volatile float product = y ? x[at] * y[at] : x[at];
    s = seen.way == FUSED_BY_ROWS && many ? fmaf(x[at], y[at], s) : s + product;
    wide += x[at];
  }
  return (seen.way == WIDER_BY_ROWS || seen.way == WIDER_TAIL_BY_ROWS) && many ? (float)wide : s;
}

static fold_status add(const struct fold_subject *subject, const struct fold_call *call) {
  const size_t row_step = fold_call_stride(call, FOLD_M), step = fold_call_stride(call, FOLD_K);
  (void)subject;
  seen.cols = call->cols;
  seen.first = (uintptr_t)call->in[0] % 256 / sizeof(float);
  const float *last = (const float *)call->in[0] + (call->rows - 1) * row_step + (call->cols - 1) * step;
  seen.behind = last[1], seen.last = *last, seen.second = ((const float *)call->in[0])[1];
  seen.threads = call->launch.threads;
  seen.out = (uintptr_t)call->out % 256 / sizeof(float), seen.held_nan = isnan(*(const float *)call->out);
  seen.at_end = (uintptr_t)(last + 1) % 4096 == 0;
  for (size_t r = 0; r < call->rows; r++) {
    const float *x = (const float *)call->in[0] + r * row_step,
                *y = call->in[1] ? (const float *)call->in[1] + r * row_step : NULL;
    ((float *)call->out)[r] = add_row(x, y, call->cols, step, r, call->rows > 8);
  }
  return fold_ok();
}

static struct fold_order_change explain_as(enum way way, size_t n, struct fold_order_side a, struct fold_order_side b,
                                           enum fold_problem_id problem, bool unknown) {
  const struct fold_subject subject = {.name = "adds",
                                       .dtypes = 1u << FOLD_F32,
                                       .problems = 1u << FOLD_SUM | 1u << FOLD_DOT,
                                       .accumulator = FOLD_OF_TERMS,
                                       .strides = true,
                                       .run = add,
                                       .unknown = unknown};
  const struct fold_case c = {.dtype = FOLD_F32, .problem = fold_problem(problem)};
  static const size_t one_each[FOLD_INPUTS] = {1, 1};
  struct fold_rig rig;
  struct fold_order_change change;
  cr_assert_eq(fold_rig_open(&rig, FOLD_HOST, c.problem, FOLD_F32, one_each, 1).code, FOLD_OK);
  const struct fold_trial trial = {.subject = &subject, .c = &c, .rig = &rig};
  const struct fold_order_sides sides = {.n = n, .side = {a, b}};
  seen.way = way;
  fold_order_explain(&trial, FOLD_BATCH_INVARIANT, &sides, &change);
  fold_rig_close(&rig);
  return change;
}
static struct fold_order_change explain(enum way way, size_t n, struct fold_order_side a, struct fold_order_side b) {
  return explain_as(way, n, a, b, FOLD_ROWS_SUM, false);
}

#define FEW_ROWS \
  (struct fold_order_side) { .rows = 3, .behind = 1, .at = "few" }
#define MANY_ROWS \
  (struct fold_order_side) { .rows = 12, .behind = 1, .at = "many" }
enum { LONG = 1 << 18 }; /* so many terms are not asked for */

/* Of rows as long as the case's; of shorter ones the order may be another than theirs. */
Test(order_change, one_order_on_both_sides_is_told_of_whole_rows_alone) {
  struct fold_order_change change = explain(ONE_ORDER, 20, FEW_ROWS, MANY_ROWS);
  cr_expect_str_eq(change.text, "the order is the same on test data, host/sequential: something else changed", "%s",
                   change.text);
  cr_expect_eq(change.terms, 20);
  change = explain(ONE_ORDER, LONG, FEW_ROWS, MANY_ROWS);
  cr_expect_str_eq(change.text, "", "%s", change.text);
  cr_expect_eq(change.terms, 1024);
}

Test(order_change, of_shorter_rows_a_change_is_told_as_theirs) {
  struct fold_order_change change = explain(BY_ROWS, 20, FEW_ROWS, MANY_ROWS);
  static const char told[] =
      "few: host/sequential; many: host/reverse; x[0] and x[1] first meet in a sum of 2 terms; in the second order, "
      "of ";
  char want[200];
  snprintf(want, sizeof want, "%s20", told);
  cr_expect_str_eq(change.text, want, "%s", change.text);
  change = explain(BY_ROWS, LONG, FEW_ROWS, MANY_ROWS);
  snprintf(want, sizeof want, "of rows of 1024 terms, %s1024", told);
  cr_expect_str_eq(change.text, want, "%s", change.text);
  cr_expect_eq(seen.cols, 1024);
}

/* Of longer rows than are asked for the reason has nothing, but where the two sides differ. */
Test(order_change, what_else_changed_is_told_in_words) {
  static const struct {
    enum way way;
    enum fold_problem_id problem;
    bool unknown, is_told_of_shorter_rows;
    const char *text;
  } rows[] = {
      {WIDER_BY_ROWS, FOLD_ROWS_SUM, false, true,
       "the order is the same, host/sequential; few it adds in f32, many in f64"},
      {WIDER_TAIL_BY_ROWS, FOLD_ROWS_SUM, false, true,
       "the order is the same, host/sequential; the precision changes: few: f32; many: its "},
      {FUSED_BY_ROWS, FOLD_DOT, false, true,
       "the order is the same, dot/sequential; different products enter by an FMA"},
      {LOST_BY_ROWS, FOLD_ROWS_SUM, false, true, "few: host/sequential; many: no tree"},
      {LOST, FOLD_ROWS_SUM, false, false, "not known: no tree is seen on either side: no tree: "},
      {LOST, FOLD_ROWS_SUM, true, false, "not known: its results are no sums of the terms"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    for (size_t n = 20; n <= LONG; n += LONG - 20) {
      const struct fold_order_change change =
          explain_as(rows[i].way, n, FEW_ROWS, MANY_ROWS, rows[i].problem, rows[i].unknown);
      const bool told = n == 20 || rows[i].is_told_of_shorter_rows;
      char want[200] = "";
      if (told) snprintf(want, sizeof want, "%s%s", n == 20 ? "" : "of rows of 1024 terms, ", rows[i].text);
      const bool begins =
          told && rows[i].text[strlen(rows[i].text) - 1] == ' '; /* what follows is how that was found */
      cr_expect_eq(strncmp(change.text, want, begins ? strlen(want) : sizeof want), 0, "row %zu, %zu terms: %s", i, n,
                   change.text);
    }
}

/* The row that differed is asked alone then. */
Test(order_change, where_the_place_decides_it_is_told_of_that_row) {
  for (size_t row = 0; row < 2; row++) {
    struct fold_order_side few = FEW_ROWS, many = MANY_ROWS;
    few.row = many.row = row;
    const struct fold_order_change change = explain(BY_PLACE, 20, few, many);
    cr_expect_str_eq(change.text,
                     row ? "few: host/sequential; many: host/reverse; x[0] and x[1] first meet in a sum of 2 terms; in "
                           "the second order, of 20"
                         : "the order is the same on test data, host/sequential: something else changed",
                     "%s", change.text);
  }
}

/* Of one row alone 1,453 terms are asked for, of more rows more. */
Test(order_change, the_side_that_takes_longer_says_how_short_the_rows_are) {
  const struct fold_order_side one = {.rows = 1, .at = "one"};
  cr_expect_eq(explain(ONE_ORDER, 1454, FEW_ROWS, one).terms, 1024);
  cr_expect_eq(explain(ONE_ORDER, 1454, one, FEW_ROWS).terms, 1024);
  cr_expect_eq(explain(ONE_ORDER, 1454, FEW_ROWS, FEW_ROWS).terms, 1454);
}

/* Shorter rows would have other strides. */
Test(order_change, of_long_rows_with_strides_nothing_is_asked) {
  struct fold_order_side strided = {.rows = 3, .row_stride = 2 * LONG, .col_stride = 2, .at = "strided"};
  const struct fold_order_change change = explain(BY_ROWS, LONG, FEW_ROWS, strided);
  cr_expect(change.text[0] == '\0' && change.terms == 0 && seen.cols == 0, "%s", change.text);
}

/* Where the run's rows lay, and beside what. */
Test(order_change, a_side_is_laid_as_its_run_was) {
  static const struct {
    struct fold_order_side side;
    size_t cols, first;
    float behind;
  } rows[] = {
      {{.rows = 3, .behind = 1}, 20, 0, 1},
      {{.rows = 3, .row_stride = 50, .col_stride = 2, .behind = 1}, 20, 0, 1},
      {{.rows = 3, .first_row = 2, .behind = 9}, 20, 40, 1},
      {{.rows = 3, .first_row = 2, .skip = 5, .behind = 9, .behind_zeros = true}, 20, 45, 0},
      {{.rows = 3, .more = 4, .more_zeros = true, .behind = 1}, 24, 0, 1},
      {{.rows = 3, .more = 4, .behind = 1}, 24, 0, 1},
      {{.rows = 3, .how.shift = 3, .behind = 1}, 20, 3, 1},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const struct fold_order_change change = explain(ONE_ORDER, 20, FEW_ROWS, rows[i].side);
    cr_expect(strstr(change.text, "the order is the same on test data"), "row %zu: %s", i, change.text);
    cr_expect(seen.cols == rows[i].cols && seen.first == rows[i].first, "row %zu: %zu columns from %zu", i, seen.cols,
              seen.first);
    cr_expect(!rows[i].side.more || (seen.last == 0 && !signbit(seen.last) == rows[i].side.more_zeros), "row %zu", i);
    cr_expect_eq(isnan(seen.second), rows[i].side.col_stride > 0, "row %zu: between two terms", i);
    cr_expect_eq(seen.behind, rows[i].behind, "row %zu: %g", i, (double)seen.behind);
  }
}

/* And in what it was varied. */
Test(order_change, a_side_is_run_as_its_run_was) {
  static const struct {
    struct fold_variation how;
    unsigned threads;
    size_t out;
    bool held_nan;
  } rows[] = {{{.shift = 0}, 0, 0, false},
              {{.launch.threads = 3}, 3, 0, false},
              {{.out_shift = 5}, 0, 5, false},
              {{.nan = true}, 0, 0, true}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    explain(ONE_ORDER, 20, FEW_ROWS, (struct fold_order_side){.rows = 3, .how = rows[i].how, .at = "varied"});
    cr_expect(seen.threads == rows[i].threads && seen.out == rows[i].out && seen.held_nan == rows[i].held_nan,
              "row %zu: %u threads, output at %zu, NaN %d", i, seen.threads, seen.out, seen.held_nan);
  }
  for (enum fold_placement p = FOLD_AT_START; p <= FOLD_AT_END; p++) {
    explain(ONE_ORDER, 20, FEW_ROWS, (struct fold_order_side){.rows = 3, .how.placement = p, .at = "at a page"});
    cr_expect_eq(seen.at_end, p == FOLD_AT_END);
  }
}

/* The longest rows, in terms: of one row, of a batch, of one row in it, of rows with strides, and of rows among others. */
Test(order_change, rows_are_asked_for_up_to_a_length) {
  static const struct {
    struct fold_order_side side;
    size_t most;
  } rows[] = {
      {{.rows = 1}, 1453},
      {{.rows = 16}, 4506},
      {{.rows = 16, .alone = true}, 1216},
      {{.rows = 4096}, 1024},
      {{.rows = 3, .row_stride = 4000, .col_stride = 2}, 4056},
      {{.rows = 4, .first_row = 10, .skip = 5000, .more = 700, .behind = 4096}, 2021},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    size_t most = 1;
    while (fold_order_side_is_short(&rows[i].side, most + 1)) most++;
    cr_expect_eq(most, rows[i].most, "row %zu: %zu terms", i, most);
  }
}
