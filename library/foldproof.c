/* foldproof.c: the installed library. It finds orders, dtypes and operations by name, and turns statuses into codes; it
 * has no numerics. */
#include "foldproof.h"

#include <mpfr.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "judge/evidence.h"
#include "judge/judge.h"
#include "library/answer.h"
#include "library/call.h"
#include "library/own.h"
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

static fold_status parse_order(const char *name, const struct fold_order **order) {
  return fold_order_named(name ? name : "(null)", order);
}

int foldproof_replay(const char *order, const char *dtype, const char *op, const void *in, size_t rows, size_t cols,
                     unsigned threads, void *out) {
  struct foldproof_problem problem;
  const fold_status status = fold_library_rows(dtype, op, in, rows, cols, &problem);
  return status.code == FOLD_OK ? foldproof_problem_replay(order, &problem, threads, out) : fold_answer(status);
}

int foldproof_exact(const char *dtype, const char *op, const void *in, size_t rows, size_t cols, const char *to,
                    unsigned threads, void *out) {
  struct foldproof_problem problem;
  const fold_status status = fold_library_rows(dtype, op, in, rows, cols, &problem);
  return status.code == FOLD_OK ? foldproof_problem_exact(&problem, to, threads, out) : fold_answer(status);
}

int foldproof_measure(const char *order, const char *dtype, const char *op, const void *in, size_t n, const void *got,
                      struct foldproof_measure *measure) {
  struct foldproof_problem problem;
  const fold_status status = fold_library_rows(dtype, op, in, 1, n, &problem);
  return status.code == FOLD_OK ? foldproof_problem_measure(order, &problem, 0, got, measure) : fold_answer(status);
}

/* A call on rows by their operation. */
static fold_status parse_call(const char *dtype, const char *op, const void *in, size_t rows, size_t cols,
                              struct fold_call *call) {
  struct foldproof_problem problem;
  FOLD_TRY(fold_library_rows(dtype, op, in, rows, cols, &problem));
  return fold_library_call(&problem, call);
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
  fold_status status = parse_call(dtype, op, in, 1, n, &call);
  if (status.code == FOLD_OK && text == NULL && size > 0)
    status = fold_error(FOLD_BAD_INPUT, "the output is a null pointer");
  if (status.code != FOLD_OK) return fold_answer(status);
  fold_own_begin(&own);
  fold_truth_init(&truth);
  status = fold_oracle_exact(call.dtype, call.problem->op, call.in[0], n, 0, &truth);
  if (status.code == FOLD_OK) status = put_digits(&truth, text, size, needed);
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
  fold_status status = parse_call(dtype, "sum", in, rows, cols, &call);
  if (status.code == FOLD_OK && out == NULL && rows > 0)
    status = fold_error(FOLD_BAD_INPUT, "the output is a null pointer");
  if (status.code != FOLD_OK) return fold_answer(status);
  const size_t stride = cols * fold_dtype_size(call.dtype);
  for (size_t r = 0; r < rows; r++)
    out[r] = fold_results_hash(call.dtype, (const unsigned char *)call.in[0] + r * stride, cols);
  return fold_answer(status);
}
