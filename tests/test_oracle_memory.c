/* test_oracle_memory.c: oracles, bounds and orders give back all memory that they take, and fill what they give: a judge asks them millions of times. */
#include <criterion/criterion.h>
#include <malloc.h>
#include <math.h>
#include <stdlib.h>

#include "bits.h"
#include "bound.h"
#include "order.h"
#include "split.h"

enum { N = 70, ROUNDS = 80 };

/* A row whose product is too long to hold, or whose sum has an infinity, or an ordinary one. */
static void lay(enum fold_dtype dtype, int kind, void *in) {
  for (size_t i = 0; i < N; i++)
    fold_bits_store(dtype, in, i,
                    fold_bits_from_double(dtype, kind == 0 && i == 5 ? INFINITY : 1 + (double)(i + 1) / 128));
}

static void bound_all(const struct fold_truth *truth, mpfr_t error) {
  struct fold_outcomes may;
  uint64_t got = truth->rounded[truth->dtype];
  for (int method = 0; method <= (int)FOLD_EXACT; method++)
    fold_bound_outcomes((enum fold_method)method, truth, N - 1, NULL, error, &may);
  if (fold_bits_class(truth->dtype, got) < FOLD_INFINITE) {
    fold_truth_error(error, truth, truth->dtype, got);
    fold_truth_ulps(error, truth, truth->dtype);
    fold_ratio_up(error, truth->abs_sum);
  }
  free(fold_mpfr_decimal(truth->exact));
}

static void ask_all(enum fold_dtype dtype, enum fold_op op, int kind) {
  uint64_t in[N];
  struct fold_truth truth;
  struct fold_super sum = {0}, abs = {0};
  mpfr_t error;
  lay(dtype, kind, in);
  mpfr_init2(error, 64);
  fold_truth_init(&truth);
  cr_assert_eq(fold_oracle_exact(dtype, op, in, N, 1, &truth).code, FOLD_OK);
  bound_all(&truth, error);
  cr_assert_eq(fold_oracle_mpfr(dtype, op, in, N, &truth).code, FOLD_OK);
  fold_super_add(dtype, in, N, &sum, &abs);
  fold_super_close(dtype, &sum, dtype);
  cr_assert_eq(fold_oracle_close(dtype, &sum, &abs, N, &truth).code, FOLD_OK);
  mpfr_clear(error);
  fold_truth_free(&truth);
}

static void ask_orders(enum fold_dtype dtype, char form) {
  uint64_t in[N], out, word;
  struct fold_running_product product;
  double bound;
  size_t n;
  const struct fold_order *orders = fold_orders(&n);
  struct fold_call call = {.dtype = dtype, .rows = 1, .cols = N, .in = in, .out = &out, .launch = {.threads = 1}};
  char text[1 << 14];
  lay(dtype, 1, in);
  for (size_t i = 0; i < n; i++) {
    FILE *file = fmemopen(text, sizeof text, "w");
    cr_assert_eq(fold_order_draw(&orders[i], dtype, in, N, form, file).code, FOLD_OK);
    fclose(file);
    cr_assert_eq(fold_order_replay(&orders[i], &call).code, FOLD_OK);
    for (int method = FOLD_PLAIN; method <= FOLD_EXACT; method++)
      fold_method_replay(&orders[i], (enum fold_method)method, &call);
    cr_assert_eq(fold_order_height(&orders[i], dtype, in, N, &word).code, FOLD_OK);
    cr_assert_eq(fold_order_fingerprint(&orders[i], dtype, in, N, &word).code, FOLD_OK);
    cr_assert_eq(fold_order_running_error(&orders[i], dtype, in, N, &bound).code, FOLD_OK);
    cr_assert_eq(fold_order_running_product(&orders[i], dtype, in, N, &product).code, FOLD_OK);
  }
}

static void ask_everything(void) {
  for (int dtype = 0; dtype < FOLD_DTYPES; dtype++) {
    for (int kind = 0; kind < 2; kind++)
      for (int op = 0; op < FOLD_OPS; op++) ask_all((enum fold_dtype)dtype, (enum fold_op)op, kind);
    ask_orders((enum fold_dtype)dtype, 't');
    ask_orders((enum fold_dtype)dtype, 'd');
  }
}

/* MPFR keeps numbers for later, and has enough of them after the first rounds. Of 16 bytes lost in each round half is let pass. Under sanitizers, which count leaks themselves, nothing is seen. */
Test(oracle_memory, comes_back) {
  size_t before = 0;
  for (int round = 0; round < ROUNDS; round++) {
    if (round == ROUNDS / 2) before = mallinfo2().uordblks;
    ask_everything();
  }
  size_t after = mallinfo2().uordblks;
  cr_expect(after < before + ROUNDS / 4 * 16, "%zu bytes in use, then %zu", before, after);
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
