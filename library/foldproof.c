/* foldproof.c: the installed library. It finds orders, dtypes and operations by name, and turns statuses into codes; it
 * has no numerics. */
#include "foldproof.h"

#include <math.h>
#include <mpfr.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "judge/evidence.h"
#include "judge/judge.h"
#include "library/answer.h"
#include "library/own.h"
#include "oracles/bound.h"
#include "oracles/exact.h"
#include "oracles/order.h"

static _Thread_local char last_error[sizeof((fold_status *)0)->text];

int fold_answer(fold_status status) {
  memcpy(last_error, status.text, sizeof last_error);
  return fold_exit_code(status.code);
}

const char *foldproof_version(void) { return FOLD_VERSION; }

const char *foldproof_error(void) { return last_error; }

const char *foldproof_order(size_t k, const char **formula) {
  size_t n;
  const struct fold_order *orders = fold_orders(&n);
  if (k >= n) return NULL;
  if (formula) *formula = orders[k].formula;
  return orders[k].name;
}

const char *foldproof_claim(const char *list, size_t k) {
  size_t n;
  uint64_t named, preset;
  const struct fold_claim *claims = fold_claims(&n);
  if (fold_answer(fold_claims_parse(list, &named, &preset)) != 0) return NULL;
  for (size_t i = 0; i < n; i++)
    if ((named | preset) >> i & 1 && k-- == 0) return claims[i].name;
  return NULL;
}

static fold_status parse_dtype(const char *name, enum fold_dtype *dtype) {
  int found = name ? fold_dtype_parse(name) : -1;
  if (found < 0) return fold_error(FOLD_BAD_INPUT, "no dtype '%.60s': %s", name ? name : "(null)", fold_dtype_list());
  *dtype = (enum fold_dtype)found;
  return fold_ok();
}

static fold_status parse_order(const char *name, const struct fold_order **order) {
  return fold_order_named(name ? name : "(null)", order);
}

/* Fills in the call, and refuses sizes that no array can have. */
static fold_status parse_call(const char *dtype, const char *op, const void *in, size_t rows, size_t cols,
                              const void *out, struct fold_call *call) {
  int found = op ? fold_op_parse(op) : -1;
  size_t n, nbytes;
  *call = (struct fold_call){.problem = fold_rows_problem(FOLD_SUM), .rows = rows, .cols = cols, .in = {in}};
  FOLD_TRY(parse_dtype(dtype, &call->dtype));
  if (found < 0) return fold_error(FOLD_BAD_INPUT, "no operation '%.60s': sum, prod, max, min", op ? op : "(null)");
  call->problem = fold_rows_problem((enum fold_op)found);
  if (__builtin_mul_overflow(rows, cols, &n) || __builtin_mul_overflow(n, fold_dtype_size(call->dtype), &nbytes))
    return fold_error(FOLD_BAD_INPUT, "%zu x %zu elements are past the address space", rows, cols);
  if (in == NULL && n > 0) return fold_error(FOLD_BAD_INPUT, "the input is a null pointer");
  if (out == NULL && rows > 0) return fold_error(FOLD_BAD_INPUT, "the output is a null pointer");
  /* Without elements the input may be null; to add to a null pointer is undefined in C, even 0. */
  static const double nothing;
  if (in == NULL) call->in[0] = &nothing;
  return fold_ok();
}

/* More threads would only wait for each other, and a process may have so many that OpenMP can't start them. */
static unsigned useful(unsigned threads) {
  enum { MOST_THREADS = 256 };
  return threads < MOST_THREADS ? threads : MOST_THREADS;
}

int foldproof_replay(const char *order, const char *dtype, const char *op, const void *in, size_t rows, size_t cols,
                     unsigned threads, void *out) {
  struct fold_call call;
  const struct fold_order *found;
  fold_status status = parse_call(dtype, op, in, rows, cols, out, &call);
  if (status.code == FOLD_OK) status = parse_order(order, &found);
  if (status.code != FOLD_OK) return fold_answer(status);
  call.out = out;
  call.launch.threads = useful(threads);
  struct fold_own own;
  fold_own_begin(&own);
  status = fold_order_replay(found, &call);
  fold_own_end(&own);
  return fold_answer(status);
}

int foldproof_exact(const char *dtype, const char *op, const void *in, size_t rows, size_t cols, const char *to,
                    unsigned threads, void *out) {
  struct fold_call call;
  enum fold_dtype target;
  struct fold_own own;
  fold_status status = parse_call(dtype, op, in, rows, cols, out, &call);
  if (status.code == FOLD_OK) status = parse_dtype(to, &target);
  if (status.code != FOLD_OK) return fold_answer(status);
  fold_own_begin(&own);
  status = fold_oracle_rows(&call, target, useful(threads), out);
  fold_own_end(&own);
  return fold_answer(status);
}

static fold_status put_digits(const struct fold_truth *truth, char *text, size_t size, size_t *needed) {
  const char *special = mpfr_nan_p(truth->exact) ? "nan" : mpfr_signbit(truth->exact) ? "-inf" : "inf";
  if (truth->enclosed) return fold_error(FOLD_UNSUPPORTED, "the product has too many digits");
  char *digits = mpfr_number_p(truth->exact) ? fold_mpfr_decimal(truth->exact) : strdup(special);
  if (digits == NULL) return fold_error(FOLD_UNSUPPORTED, "the result has too many digits for this machine's memory");
  size_t room = strlen(digits) + 1;
  if (needed) *needed = room;
  if (room <= size) memcpy(text, digits, room);
  free(digits);
  if (room <= size) return fold_ok();
  return fold_error(FOLD_BAD_INPUT, "the digits need %zu bytes, there are %zu", room, size);
}

int foldproof_exact_text(const char *dtype, const char *op, const void *in, size_t n, char *text, size_t size,
                         size_t *needed) {
  struct fold_call call;
  struct fold_truth truth;
  struct fold_own own;
  fold_status status = parse_call(dtype, op, in, 1, n, size > 0 ? text : "", &call);
  if (status.code != FOLD_OK) return fold_answer(status);
  fold_own_begin(&own);
  fold_truth_init(&truth);
  status = fold_oracle_exact(call.dtype, call.problem->op, call.in[0], n, 0, &truth);
  if (status.code == FOLD_OK) status = put_digits(&truth, text, size, needed);
  fold_truth_free(&truth);
  fold_own_end(&own);
  return fold_answer(status);
}

static double bound_of(const struct fold_truth *truth, uint64_t height) {
  if (truth->op == FOLD_MAX || truth->op == FOLD_MIN) return truth->finite_terms ? 0 : NAN;
  mpfr_t bound;
  mpfr_init2(bound, 128);
  bool known = fold_bound(fold_arithmetic_of(FOLD_PLAIN, truth->dtype), truth, height, bound).code == FOLD_OK;
  double value = known ? mpfr_get_d(bound, MPFR_RNDU) : NAN;
  mpfr_clear(bound);
  return value;
}

static void measure_one(const struct fold_truth *truth, uint64_t height, uint64_t got, struct foldproof_measure *m) {
  enum fold_dtype dtype = truth->dtype;
  uint64_t want = truth->rounded[dtype];
  m->exact = mpfr_get_d(truth->exact, MPFR_RNDN);
  m->abs_sum = mpfr_get_d(truth->abs_sum, MPFR_RNDN);
  m->condition = truth->condition;
  m->bound = bound_of(truth, height);
  if (fold_bits_class(dtype, got) >= FOLD_INFINITE || fold_bits_class(dtype, want) >= FOLD_INFINITE) {
    m->error = m->ulps = fold_bits_same(dtype, got, want) ? 0 : INFINITY;
    return;
  }
  mpfr_t error;
  mpfr_init2(error, 256);
  fold_truth_error(error, truth, dtype, got);
  m->error = mpfr_get_d(error, MPFR_RNDU);
  m->ulps = fold_truth_ulps(error, truth, dtype);
  mpfr_clear(error);
}

int foldproof_measure(const char *order, const char *dtype, const char *op, const void *in, size_t n, const void *got,
                      struct foldproof_measure *measure) {
  struct fold_call call;
  struct fold_truth truth;
  const struct fold_order *found = NULL;
  struct fold_own own;
  uint64_t height = n > 0 ? n - 1 : 0;
  fold_status status = parse_call(dtype, op, in, 1, n, measure, &call);
  if (status.code == FOLD_OK && got == NULL) status = fold_error(FOLD_BAD_INPUT, "the result is a null pointer");
  if (status.code == FOLD_OK && order) status = parse_order(order, &found);
  if (status.code == FOLD_OK && found) status = fold_order_height(found, call.dtype, call.in[0], n, &height);
  if (status.code != FOLD_OK) return fold_answer(status);
  fold_own_begin(&own);
  fold_truth_init(&truth);
  status = fold_oracle_exact(call.dtype, call.problem->op, call.in[0], n, 0, &truth);
  if (status.code == FOLD_OK) measure_one(&truth, height, fold_bits_load(call.dtype, got, 0), measure);
  fold_truth_free(&truth);
  fold_own_end(&own);
  return fold_answer(status);
}

int foldproof_tree(const char *order, size_t n, uint64_t *height, uint64_t *fingerprint) {
  const struct fold_order *found;
  uint64_t h = 0, f = 0;
  fold_status status = parse_order(order, &found);
  if (status.code == FOLD_OK && fingerprint && found->kind == FOLD_ORDER_SORTED)
    status = fold_error(FOLD_UNSUPPORTED, "%s: the tree depends on the terms", order);
  if (status.code == FOLD_OK && height) status = fold_order_height(found, FOLD_F64, NULL, n, &h);
  if (status.code == FOLD_OK && fingerprint) status = fold_order_fingerprint(found, FOLD_F64, NULL, n, &f);
  if (status.code == FOLD_OK && height) *height = h;
  if (status.code == FOLD_OK && fingerprint) *fingerprint = f;
  return fold_answer(status);
}

int foldproof_hash(const char *dtype, const void *in, size_t rows, size_t cols, uint64_t *out) {
  struct fold_call call;
  fold_status status = parse_call(dtype, "sum", in, rows, cols, out, &call);
  if (status.code != FOLD_OK) return fold_answer(status);
  const size_t stride = cols * fold_dtype_size(call.dtype);
  for (size_t r = 0; r < rows; r++)
    out[r] = fold_results_hash(call.dtype, (const unsigned char *)call.in[0] + r * stride, cols);
  return fold_answer(status);
}
