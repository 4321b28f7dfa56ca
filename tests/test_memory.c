/* test_memory.c: oracles, bounds, orders and judges free all memory that they take, since a run judges millions of
 * rows; they report an allocation that fails, and free all memory then, too; and they fill in all their outputs.
 */
#include <criterion/criterion.h>
#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/bits.h"
#include "cleanup.h"
#include "fixtures/generator.h"
#include "judge/judge.h"
#include "judge/plan.h"
#include "oracles/bound.h"
#include "oracles/exact.h"
#include "oracles/order.h"
#include "oracles/split.h"
#include "oracles/super_dot.h"
#include "rig/fault.h"
#include "starve.h"
#include "tally.h"

/* ---- oracles and orders ---- */

/* The rows that are asked about: short and long, and so many that threads share them. */
static const struct shape {
  size_t rows, cols;
  unsigned threads;
} shapes[] = {{1, 70, 1}, {1, 700, 1}, {40, 3000, 4}};

struct question {
  enum fold_dtype dtype;
  enum fold_op op;
  const struct fold_order *order;
  struct shape shape;
  uint64_t *in;
};

/* Numbers near 1, whose product is too long to hold. */
static uint64_t *lay(enum fold_dtype dtype, struct shape shape) {
  size_t n = shape.rows * shape.cols;
  uint64_t *in = malloc(n * sizeof *in);
  for (size_t i = 0; i < n; i++)
    fold_bits_store(dtype, in, i, fold_bits_from_double(dtype, 1 + (double)(i % 70 + 1) / 128));
  return in;
}

static fold_status bound_all(const struct fold_truth *truth) {
  struct fold_outcomes may;
  mpfr_t error;
  mpfr_init2(error, 64);
  for (int method = 0; method <= (int)FOLD_EXACT; method++)
    fold_bound_outcomes(fold_arithmetic_of((enum fold_method)method, truth->dtype), truth, truth->n - 1, NULL, error,
                        &may);
  if (fold_bits_class(truth->dtype, truth->rounded[truth->dtype]) < FOLD_INFINITE) {
    fold_truth_error(error, truth, truth->dtype, truth->rounded[truth->dtype]);
    fold_truth_ulps(error, truth, truth->dtype);
    fold_ratio_up(error, truth->abs_sum);
  }
  mpfr_clear(error);
  char *text = fold_mpfr_decimal(truth->exact);
  fold_status status = text ? fold_ok() : fold_error(FOLD_NO_MEMORY, "no text");
  free(text);
  return status;
}

static fold_status ask_oracles(void *context) {
  const struct question *q = context;
  size_t n = q->shape.rows * q->shape.cols;
  TRUTH(truth);
  struct fold_super sum = {0}, abs = {0};
  fold_status status = fold_oracle_exact(q->dtype, q->op, q->in, n, q->shape.threads, &truth);
  if (status.code == FOLD_OK) status = bound_all(&truth);
  if (status.code == FOLD_OK) status = fold_oracle_mpfr(q->dtype, q->op, q->in, n < 700 ? n : 700, &truth);
  if (status.code == FOLD_OK) {
    fold_super_add(q->dtype, q->in, n, &sum, &abs);
    fold_super_close(q->dtype, &sum, q->dtype);
    status = fold_oracle_close(q->dtype, &sum, &abs, n, &truth);
  }
  return status;
}

Test(memory, of_oracles_and_bounds) {
  for (int dtype = 0; dtype < FOLD_FLOATS; dtype++)
    for (int op = 0; op < FOLD_OPS; op++)
      for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        struct question q = {.dtype = (enum fold_dtype)dtype, .op = (enum fold_op)op, .shape = shapes[s]};
        char what[80];
        snprintf(what, sizeof what, "%s, %s, %zu rows", fold_dtype_name(q.dtype), fold_op_name(q.op), q.shape.rows);
        q.in = lay(q.dtype, q.shape);
        if (q.in && (op != FOLD_PROD || s < 2)) cr_expect_geq(starve_through(what, ask_oracles, &q), 2, "%s", what);
        free(q.in);
      }
}

/* Every replay that there is of the order. */
static fold_status replay_all(const struct question *q, void *out) {
  struct fold_call call = {.dtype = q->dtype,
                           .problem = fold_rows_problem(q->op),
                           .rows = q->shape.rows,
                           .cols = q->shape.cols,
                           .in = {q->in},
                           .out = out,
                           .launch = {.threads = q->shape.threads}};
  FOLD_TRY(fold_order_replay(q->order, &call));
  for (int method = FOLD_PLAIN; method <= (int)FOLD_EXACT; method++)
    if (fold_method_has_replay(q->order, (enum fold_method)method))
      FOLD_TRY(fold_method_replay(q->order, fold_arithmetic_of((enum fold_method)method, q->dtype), &call));
  return fold_ok();
}

static fold_status draw(const struct question *q) {
  static char text[1 << 16];
  if (q->shape.cols > 700) return fold_ok();
  FILE *file = fmemopen(text, sizeof text, "w");
  fold_status status = fold_order_draw(q->order, q->dtype, q->in, 70, file);
  fclose(file);
  return status;
}

static fold_status ask_order(void *context) {
  const struct question *q = context;
  uint64_t out[40], word;
  struct fold_running_product product;
  FOLD_TRY(replay_all(q, out));
  FOLD_TRY(draw(q));
  FOLD_TRY(fold_order_height(q->order, q->dtype, q->in, q->shape.cols, &word));
  FOLD_TRY(fold_order_fingerprint(q->order, q->dtype, q->in, q->shape.cols, &word));
  return fold_order_running_product(q->order, q->dtype, q->in, q->shape.cols, &product);
}

/* The sorted order asks for a place of each term, the others for nothing but a drawing's. */
Test(memory, of_orders) {
  size_t n;
  const struct fold_order *orders = fold_orders(&n);
  for (size_t i = 0; i < n; i++)
    for (int dtype = 0; dtype < FOLD_FLOATS; dtype++)
      for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        struct question q = {.dtype = (enum fold_dtype)dtype, .order = &orders[i], .shape = shapes[s]};
        bool asks = q.order->kind == FOLD_ORDER_SORTED || s < 2;
        q.in = lay(q.dtype, q.shape);
        if (q.in && (asks || dtype == FOLD_F16))
          cr_expect_eq(starve_through(q.order->name, ask_order, &q) > 0, asks, "%s", q.order->name);
        free(q.in);
      }
}

/* ---- judges ---- */

/* The exact sum of integers, in a later run one more; or all rows but the last. */
static struct {
  unsigned runs, lies_from;
  bool leaves_one_out;
} sums;

static fold_status sum_integers(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject;
  sums.runs++;
  for (size_t r = 0; r + sums.leaves_one_out < call->rows; r++) {
    double sum = sums.lies_from && sums.runs >= sums.lies_from;
    for (size_t c = 0; c < call->cols; c++)
      sum += fold_bits_to_double(call->dtype, fold_bits_load(call->dtype, call->in[0], r * call->cols + c));
    fold_bits_store(call->dtype, call->out, r, fold_bits_from_double(call->dtype, sum));
  }
  return fold_ok();
}

static size_t some_scratch(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject, (void)call;
  return 3000;
}

struct case_of {
  int claim;
  size_t rows, cols;
  enum fold_verdict want;
};

/* What was to be told, or that memory was short; a claim that then holds is none. */
static fold_status judge_case(void *context) {
  static char name[] = "integers", about[] = "integers:1";
  const struct case_of *of = context;
  struct fold_subject subject = {.name = "sums",
                                 .dtypes = 1u << FOLD_F32,
                                 .problems = 1u << FOLD_SUM,
                                 .claims = FOLD_CLAIM(of->claim),
                                 .order = "host/sequential",
                                 .twin = "sums",
                                 .run = sum_integers,
                                 .scratch = some_scratch};
  struct fold_registry registry = {&subject, 1};
  struct fold_case c = {.name = name,
                        .file = name,
                        .where = about,
                        .dtype = FOLD_F32,
                        .problem = fold_rows_problem(FOLD_SUM),
                        .rows = of->rows,
                        .cols = of->cols};
  size_t n_claims;
  c.claims =
      (char *)(uintptr_t)fold_claims(&n_claims)[of->claim].name; /* some are judged of fixtures that name them alone */
  c.source = (struct fold_source){fold_generator_find("integers"), FOLD_F32, 7, c.cols, 0};
  struct fold_cases cases = {&c, 1, 1};
  struct tally t;
  sums.runs = 0;
  FOLD_TRY(tally_verify(&registry, NULL, false, &cases, &t));
  const struct fold_finding *f = &t.last[of->claim];
  if (f->verdict == of->want) return fold_ok();
  if (f->verdict == FOLD_BROKEN && (strstr(f->reason, "memory") || strstr(f->reason, "protect")))
    return fold_error(FOLD_NO_MEMORY, "%s", f->reason);
  return fold_error(FOLD_BAD_INPUT, "verdict %d: %s", (int)f->verdict, f->reason);
}

/* A subject that leaves a row as it was is run again. */
Test(memory, of_a_result_that_was_not_written) {
  for (size_t rows = 1; rows <= 3; rows++) {
    struct case_of of = {.claim = FOLD_WRITES_OUTPUT, .rows = rows, .cols = 300, .want = FOLD_REFUTED};
    sums.leaves_one_out = true;
    cr_expect_gt(starve_through("a row that is left", judge_case, &of), 8);
  }
}

/* A file that can't be opened is not closed. */
static fold_status open_truths(void *context) {
  static const float in[3] = {1, 2, 3};
  const struct fold_case *c = context;
  struct fold_truths truths;
  FOLD_TRY(fold_truths_open(&truths, c, in));
  const fold_status status = fold_truths_check_expected(&truths);
  fold_truths_close(&truths);
  return status;
}

Test(memory, of_truths) {
  static char six[] = "6";
  struct fold_case c = {.dtype = FOLD_F32, .problem = fold_rows_problem(FOLD_SUM), .rows = 3, .cols = 1};
  cr_expect_eq(starve_through("truths", open_truths, &c), 2);
  struct fold_case one = {
      .name = "c", .dtype = FOLD_F32, .problem = fold_rows_problem(FOLD_SUM), .rows = 1, .cols = 3, .expect = six};
  cr_expect_geq(starve_through("a truth that is stated", open_truths, &one), 2);
}

static fold_status refute_row(void *context) {
  static const float in[3] = {1, 2, 3}, got = 7;
  const struct fold_case c = {.dtype = FOLD_F32, .problem = fold_rows_problem(FOLD_SUM), .rows = 1, .cols = 3};
  struct fold_truths truths;
  FOLD_TRY(fold_truths_open(&truths, &c, in));
  const struct fold_evidence e = {.subject = context, .truths = &truths, .results = &got};
  const bool refuted = fold_refutes_row(&e, 0);
  fold_truths_close(&truths);
  return refuted ? fold_ok() : fold_error(FOLD_NO_MEMORY, "not refuted");
}

Test(memory, of_a_row_that_is_refuted) {
  struct fold_subject subject = {.name = "sums", .dtypes = 1u << FOLD_F32, .problems = 1u << FOLD_SUM};
  cr_expect_geq(starve_through("a row", refute_row, &subject), 2);
}

/* More bits than are held: 1,300 factors of 53. */
static fold_status multiply_all(void *context) {
  TRUTH(truth);
  const fold_status status = fold_oracle_mpfr(FOLD_F64, FOLD_PROD, context, 1300, &truth);
  return status;
}

Test(memory, of_a_product_that_is_enclosed) {
  static double in[1300];
  for (size_t i = 0; i < 1300; i++) in[i] = 1 + (double)(2 * i + 1) * 0x1p-52;
  starve_through("a product", multiply_all, in);
}

static fold_status add_products(void *context) {
  static const double x[3] = {1, 2, 3};
  FOLD_TRY(fold_super_dot_add(FOLD_F64, x, x, 3, 1, context));
  fold_super_dot_close(context, FOLD_F32);
  return fold_ok();
}

static fold_status ask_dot(void *context) {
  static const double x[3] = {1, 2, 3};
  const struct fold_terms terms = {
      .dtype = FOLD_F64, .op = FOLD_SUM, .factors = 2, .factor = {x, x}, .step = {1, 1}, .n = 3};
  return fold_oracle_terms(&terms, 1, context);
}

Test(memory, of_dot_products) {
  static struct fold_super_dot state;
  TRUTH(truth);
  cr_expect_eq(starve_through("products", add_products, &state), 1);
  cr_expect_eq(starve_through("the truth of products", ask_dot, &truth), 2);
}

/* ---- regions ---- */

static fold_status open_region(void *context) {
  struct fold_region *region = context;
  const fold_status status = fold_region_open_read_only(5000, region);
  fold_region_close(region);
  return status;
}

Test(memory, of_a_region) {
  struct fold_region region;
  cr_expect_eq(starve_through("a region", open_region, &region), 4);
}

/* It grows by realloc, which is the library's own here: what that holds is asked. */
Test(memory, of_a_log) {
  static const struct fold_logged run = {.why = FOLD_REPLAYS};
  size_t held[2];
  for (int k = 0; k < 2; k++) {
    struct fold_log log = {0};
    for (int i = 0; i < 100; i++) cr_assert_eq(fold_log_add(&log, &run).code, FOLD_OK);
    cr_expect(log.n == 100 && log.run[99].why == FOLD_REPLAYS);
    fold_log_close(&log);
    const struct mallinfo2 now = mallinfo2();
    held[k] = now.uordblks + now.hblkhd;
  }
  cr_expect_eq(held[1], held[0], "%zu bytes, then %zu", held[0], held[1]);
}

/* Rows of 300 ask for memory wherever rows of 9,000 do (the stacks of all calls were compared), in a twentieth of the time. Where all
 * launches are planned, what refutes alignment is looked at again, and stays refuted if that can't be (unstable.c): a longer row. */
static size_t terms_for(int claim) { return claim == FOLD_ALIGNMENT_INVARIANT ? FOLD_PLAN_ALL + 1 : 300; }

/* Held and refuted. How often they ask is held, so that a shape which asks less is seen. */
Test(memory, of_judges) {
  long points = 0;
  for (int k = 0; k < FOLD_CLAIMS; k++)
    for (size_t rows = 1; rows <= 3; rows += 2)
      for (int lie = 0; lie < 2; lie++) {
        struct case_of of = {.claim = k, .rows = rows, .cols = terms_for(k), .want = FOLD_HELD};
        char what[80];
        snprintf(what, sizeof what, "claim %d of %zu rows, %s", k, rows, lie ? "refuted" : "held");
        sums.lies_from = lie ? (k <= FOLD_REPLAYS ? 1 : 2) : 0;
        while (of.want != FOLD_BROKEN && judge_case(&of).code != FOLD_OK) of.want++;
        cr_assert_neq(of.want, FOLD_BROKEN, "%s", what);
        const long asked = starve_through(what, judge_case, &of);
        cr_expect_gt(asked, 5, "%s", what);
        points += asked;
      }
  cr_expect_geq(points, 2700, "%ld", points);
}

/* ---- places ---- */

/* 2^32 - 1 places have 32 bits, 2^32 have not. */
Test(oracle_places, rows_of_more_than_32_bits_are_refused) {
  const struct fold_order keyed = {.name = "keyed", .kind = FOLD_ORDER_KEYED, .width = 1};
  for (size_t more = 0; more < 2; more++) {
    uint32_t *place = NULL;
    starve.asked = 0;
    starve.fails_in = 1;
    fold_status status = fold_order_places(&keyed, FOLD_F32, NULL, (size_t)UINT32_MAX + more, &place);
    starve.fails_in = 0;
    cr_expect_eq(status.code, more ? FOLD_UNSUPPORTED : FOLD_NO_MEMORY, "%s", status.text);
  }
}

/* Of any length: each place once, in rising magnitude. */
Test(oracle_places, the_sorted_order_places_each_term_once) {
  enum { MOST = 300 };
  float in[MOST];
  const struct fold_order *orders;
  size_t n_orders;
  orders = fold_orders(&n_orders);
  for (size_t i = 0; i < MOST; i++) in[i] = (float)((i * 97) % 101) - 50;
  for (size_t k = 0; k < n_orders; k++)
    for (size_t n = 1; orders[k].kind == FOLD_ORDER_SORTED && n <= MOST; n++) {
      uint32_t *place;
      bool seen[MOST] = {false};
      cr_assert_eq(fold_order_places(&orders[k], FOLD_F32, in, n, &place).code, FOLD_OK);
      for (size_t i = 0; i < n; i++) {
        cr_assert(place[i] < n && !seen[place[i]], "%zu terms, place %zu", n, i);
        seen[place[i]] = true;
        cr_expect(i == 0 || fabsf(in[place[i - 1]]) <= fabsf(in[place[i]]), "%zu terms, place %zu", n, i);
      }
      free(place);
    }
}
