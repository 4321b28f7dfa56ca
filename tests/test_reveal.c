/* test_reveal.c: the revealed tree is the one by which the subject summed; a subject without a tree is reported as what
 * it is. Subjects are callbacks. */
#include <math.h>

#include "base/bits.h"
#include "integers.h"
#include "revealed.h"

static bool names(const struct fold_revealed *revealed, const char *name) {
  char list[420], wanted[100];
  snprintf(list, sizeof list, ", %s, ", revealed->name);
  snprintf(wanted, sizeof wanted, ", %s, ", name);
  return strstr(list, wanted) != NULL;
}

/* The tree of whole tiles is that of other orders and kernels, too, and has their names. */
static bool is_named(const struct fold_revealed *revealed, const struct fold_order *order) {
  const bool of_tiles = order->kind == FOLD_ORDER_TILES || order->kind == FOLD_ORDER_HILLIS_STEELE;
  return of_tiles ? revealed->name[0] != '\0' : names(revealed, order->name);
}

static void expect_order(const struct fold_order *order, size_t n, enum fold_dtype dtype) {
  struct subject s = {.order = order, .summer.factors = order->product == FOLD_NO_PRODUCT ? 1 : 2};
  struct fold_revealed revealed = reveal_usual(&s, by_order, n, dtype);
  uint64_t want;
  fold_order_fingerprint(order, dtype, NULL, n, &want);
  cr_expect(revealed.kind == FOLD_REVEALED_TREE && print_of(&revealed) == want && is_named(&revealed, order) &&
                !revealed.by_batch,
            "%s %s n = %zu: %s '%s' %s", order->name, fold_dtype_name(dtype), n, fold_revealed_text(revealed.kind),
            revealed.name, revealed.why);
  fold_revealed_free(&revealed);
}

static bool by_terms(const struct fold_order *order) {
  return order->kind == FOLD_ORDER_SORTED || order->kind == FOLD_ORDER_KEYED;
}

Test(reveal, an_orders_tree_has_the_orders_fingerprint) {
  static const size_t sizes[] = {1, 2, 3, 7, 8, 9, 64, 129, 1000, 4097, 9001};
  size_t n;
  const struct fold_order *orders = fold_orders(&n);
  for (size_t i = 0; i < n; i++)
    for (size_t k = 0; !by_terms(&orders[i]) && k < sizeof sizes / sizeof *sizes; k++) {
      struct fold_tree tree;
      uint64_t want, got = 0, height;
      cr_assert_eq(fold_tree_of_order(&orders[i], FOLD_F32, NULL, sizes[k], &tree).code, FOLD_OK);
      fold_order_fingerprint(&orders[i], FOLD_F32, NULL, sizes[k], &want);
      fold_order_height(&orders[i], FOLD_F32, NULL, sizes[k], &height);
      fold_tree_fingerprint(&tree, &got);
      cr_expect(got == want && fold_tree_height(&tree) <= height && tree.joins == sizes[k] - 1, "%s %zu",
                orders[i].name, sizes[k]);
      fold_tree_free(&tree);
    }
}

Test(reveal, each_order_is_revealed_at_and_around_its_boundaries) {
  static const size_t sizes[] = {1, 2, 3, 5, 8, 15, 16, 17, 31, 64, 65, 127, 128, 129, 136, 255, 257, 513};
  size_t n;
  const struct fold_order *orders = fold_orders(&n);
  for (size_t i = 0; i < n; i++)
    for (size_t k = 0; !by_terms(&orders[i]) && k < sizeof sizes / sizeof *sizes; k++)
      expect_order(&orders[i], sizes[k], FOLD_F32);
}

Test(reveal, names_tiles_by_the_order_of_scans) {
  const struct fold_order tiled = {"tried", "", FOLD_ORDER_TILES, 16, 0, 0},
                          doubled = {"tried", "", FOLD_ORDER_HILLIS_STEELE, 64, 0, 0};
  struct subject in_turn = {.order = &tiled, .summer.factors = 1},
                 by_doubling = {.order = &doubled, .summer.factors = 1};
  struct fold_revealed revealed = reveal_usual(&in_turn, by_order, 100, FOLD_F32);
  cr_expect_str_eq(revealed.name, "scan/tiled's, in tiles of 16");
  fold_revealed_free(&revealed);
  revealed = reveal_usual(&by_doubling, by_order, 203, FOLD_F32);
  cr_expect_str_eq(revealed.name, "scan/warps', in tiles of 64");
  fold_revealed_free(&revealed);
  in_turn.order = fold_order_find("scan/tiled"), by_doubling.order = fold_order_find("scan/warps");
  revealed = reveal_usual(&in_turn, by_order, 203, FOLD_F32);
  cr_expect_str_eq(revealed.name, "scan/tiled");
  fold_revealed_free(&revealed);
  revealed = reveal_usual(&by_doubling, by_order, 203, FOLD_F32);
  cr_expect_str_eq(revealed.name, "scan/warps");
  fold_revealed_free(&revealed);
}

Test(reveal, each_dtype_reveals_beyond_what_its_result_counts) {
  static const char *const some[] = {"host/reverse", "host/pairwise", "host/numpy", "rows/par_16", "flat/canonical"};
  for (size_t i = 0; i < sizeof some / sizeof *some; i++) {
    expect_order(fold_order_find(some[i]), 300, FOLD_BF16);
    expect_order(fold_order_find(some[i]), 2100, FOLD_F16);
    expect_order(fold_order_find(some[i]), 300, FOLD_F64);
    expect_order(fold_order_find(some[i]), 60, FOLD_E5M2);
  }
}

Test(reveal, large_trees) {
  expect_order(fold_order_find("host/numpy"), 9000, FOLD_F32);
  expect_order(fold_order_find("host/reverse"), 4096, FOLD_F32);
  expect_order(fold_order_find("flat/canonical"), 4097, FOLD_F64);
}

Test(reveal, other_accumulators_and_results) {
  static const struct {
    enum fold_dtype terms, accumulator, result;
  } of[] = {{FOLD_F16, FOLD_F16, FOLD_F16}, {FOLD_BF16, FOLD_BF16, FOLD_BF16}, {FOLD_F16, FOLD_F32, FOLD_F32},
            {FOLD_F32, FOLD_F64, FOLD_F32}, {FOLD_F32, FOLD_F32, FOLD_BF16},   {FOLD_E4M3, FOLD_E4M3, FOLD_E4M3},
            {FOLD_F32, FOLD_F32, FOLD_F16}};
  for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
    struct subject s = {.order = fold_order_find("rows/par_16"),
                        .summer.accumulator = of[k].accumulator,
                        .summer.result = of[k].result};
    struct fold_revealed revealed = reveal(&s, by_order, 50, 32, of[k].terms);
    uint64_t want;
    fold_order_fingerprint(s.order, of[k].terms, NULL, 50, &want);
    cr_expect(revealed.kind == FOLD_REVEALED_TREE && print_of(&revealed) == want &&
                  revealed.how.accumulator == of[k].accumulator,
              "%zu: %s %s", k, fold_revealed_text(revealed.kind), revealed.why);
    fold_revealed_free(&revealed);
  }
}

Test(reveal, a_dtype_whose_units_no_accumulator_swallows_is_refused) {
  struct fold_masks masks;
  fold_status status = fold_masks_of(FOLD_E4M3, FOLD_F32, FOLD_E4M3, &masks);
  cr_expect_eq(status.code, FOLD_UNSUPPORTED);
  cr_expect(strstr(status.text, "no order"), "%s", status.text);
  cr_expect_eq(fold_masks_of(FOLD_F16, FOLD_F64, FOLD_F16, &masks).code, FOLD_UNSUPPORTED);
  cr_expect_eq(fold_masks_of(FOLD_F16, FOLD_F32, FOLD_F16, &masks).code, FOLD_OK);
  cr_expect_eq(masks.most, 2048);
}

/* By results of few bits, the time grows with the cube of the length; where one row counts all terms no length is refused. */
Test(reveal, a_length_that_would_take_hours_is_refused) {
  static const struct {
    enum fold_dtype dtype;
    size_t n;
    bool refused;
  } of[] = {{FOLD_E5M2, 8192, false}, {FOLD_E5M2, 8193, true}, {FOLD_BF16, 26007, false},
            {FOLD_BF16, 26009, true}, {FOLD_F16, 60000, true}, {FOLD_F32, 1 << 20, false}};
  for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
    const struct fold_summer summer = {
        .dtype = of[k].dtype, .accumulator = FOLD_F32, .result = of[k].dtype, .n = of[k].n, .rows = 1, .factors = 1};
    struct fold_prober prober;
    const fold_status status = fold_prober_open(&prober, &summer);
    cr_expect_eq(status.code, of[k].refused ? FOLD_UNSUPPORTED : FOLD_OK, "%zu: %s", k, status.text);
    cr_expect(!of[k].refused || strstr(status.text, "terms can be revealed"), "%s", status.text);
    fold_prober_close(&prober);
  }
}

static fold_status exactly(void *context, size_t rows, void *out) {
  const struct subject *s = context;
  struct fold_truth truth;
  fold_truth_init(&truth);
  for (size_t r = 0; r < rows; r++) {
    fold_oracle_exact(FOLD_F32, FOLD_SUM, (const float *)s->summer.in[0] + r * s->summer.n, s->summer.n, 1, &truth);
    ((uint32_t *)out)[r] = (uint32_t)truth.rounded[FOLD_F32];
  }
  fold_truth_free(&truth);
  return fold_ok();
}

static void expect_kind(struct subject *s, fold_sum_rows *sum, size_t n, enum fold_revealed_kind kind,
                        const char *word) {
  struct fold_revealed revealed = reveal_usual(s, sum, n, FOLD_F32);
  cr_expect(revealed.kind == kind && (strstr(revealed.name, word) || strstr(revealed.why, word)),
            "%s: '%s' '%s', not %s", fold_revealed_text(revealed.kind), revealed.name, revealed.why,
            fold_revealed_text(kind));
  fold_revealed_free(&revealed);
}

Test(reveal, an_exact_sum_has_no_order) {
  struct subject s = {0};
  expect_kind(&s, exactly, 64, FOLD_REVEALED_EXACT, "");
  expect_kind(&s, exactly, 3, FOLD_REVEALED_EXACT, "");
}

static fold_status any_order(void *context, size_t rows, void *out) {
  struct subject *s = context;
  s->order = fold_order_find(s->calls++ % 3 == 2 ? "host/reverse" : "host/pairwise");
  return by_order(context, rows, out);
}

Test(reveal, an_order_that_changes_from_call_to_call_is_told) {
  struct subject s = {0};
  expect_kind(&s, any_order, 64, FOLD_REVEALED_VARIES, "repeat");
}

Test(reveal, methods_that_are_no_plain_additions_are_told_by_name) {
  struct subject kahan = {.order = fold_order_find("host/sequential"), .method = FOLD_KAHAN};
  struct subject neumaier = {.order = kahan.order, .method = FOLD_NEUMAIER};
  struct subject sorted = {.order = fold_order_find("host/sorted")};
  expect_kind(&kahan, by_order, 64, FOLD_REVEALED_METHOD, "Kahan");
  expect_kind(&neumaier, by_order, 64, FOLD_REVEALED_METHOD, "Neumaier");
  expect_kind(&sorted, by_order, 64, FOLD_REVEALED_METHOD, "host/sorted");
}

/* Masks are alone far above all: ordinary data come in another order. */
static fold_status by_values(void *context, size_t rows, void *out) {
  struct subject *s = context;
  const struct fold_summer all = s->summer;
  for (size_t r = 0; r < rows; r++) {
    const float *row = (const float *)all.in[0] + r * all.n;
    bool masked = false;
    for (size_t i = 0; i < all.n; i++) masked |= fabsf(row[i]) > 0x1p90f;
    s->order = fold_order_find(masked ? "host/pairwise" : "host/reverse");
    s->summer.in[0] = (void *)(uintptr_t)row;
    by_order(s, 1, (float *)out + r);
  }
  s->summer = all;
  return fold_ok();
}

Test(reveal, a_tree_that_masks_show_and_other_data_do_not_is_never_told_as_one) {
  struct subject s = {0};
  expect_kind(&s, by_values, 64, FOLD_REVEALED_VALUES, "different bits");
}

static fold_status without_one(void *context, size_t rows, void *out) {
  struct subject *s = context;
  for (size_t r = 0; r < rows; r++) ((float *)s->summer.in[0])[r * s->summer.n + 5] = 0;
  return by_order(context, rows, out);
}

Test(reveal, a_lost_term_is_told) {
  struct subject s = {.order = fold_order_find("host/pairwise")};
  expect_kind(&s, without_one, 64, FOLD_REVEALED_NO_TREE, "equal terms");
}

static fold_status by_batch(void *context, size_t rows, void *out) {
  struct subject *s = context;
  s->order = fold_order_find(rows > 8 ? "rows/par_16" : "host/reverse");
  return by_order(context, rows, out);
}

Test(reveal, a_tree_that_depends_on_the_batch_is_told_with_that_of_one_row) {
  struct subject s = {0};
  struct fold_revealed revealed = reveal_usual(&s, by_batch, 64, FOLD_F32);
  uint64_t many;
  fold_order_fingerprint(fold_order_find("rows/par_16"), FOLD_F32, NULL, 64, &many);
  cr_expect(revealed.kind == FOLD_REVEALED_TREE && revealed.by_batch && revealed.batch_print == many &&
                names(&revealed, "host/reverse"),
            "%s %s", revealed.name, revealed.why);
  fold_revealed_free(&revealed);
}

/* As by loads of four neighbours, which need aligned rows: one row in four is added as a row alone is. */
static fold_status by_address(void *context, size_t rows, void *out) {
  struct subject *s = context;
  const struct fold_summer all = s->summer;
  s->calls++;
  for (size_t r = 0; r < rows; r++) {
    s->order = fold_order_find(r % 4 == 0 ? s->aligned : "host/reverse");
    for (unsigned k = 0; k < all.factors; k++) s->summer.in[k] = (float *)all.in[k] + r * all.n;
    by_order(s, 1, (float *)out + r);
  }
  s->summer = all;
  return fold_ok();
}

static void expect_row_alone(fold_sum_rows *sum, const char *aligned, const char *name, unsigned factors,
                             unsigned most) {
  struct subject s = {.aligned = aligned, .summer.factors = factors};
  struct fold_revealed revealed = reveal_usual(&s, sum, 301, FOLD_F32);
  cr_expect(revealed.kind == FOLD_REVEALED_TREE && names(&revealed, name) && revealed.place[0] && revealed.rows == 1,
            "%s '%s' %s", fold_revealed_text(revealed.kind), revealed.name, revealed.why);
  cr_expect(s.calls == revealed.launches && s.calls < most, "%u calls, %llu launches, %llu pairs", s.calls,
            (unsigned long long)revealed.launches, (unsigned long long)revealed.probes);
  fold_revealed_free(&revealed);
}

/* Of these launches 400 have test data. 900 pairs, or 500 pairs and 301 products, would take one each. */
Test(reveal, a_row_alone_is_probed_in_the_rows_of_launches_that_are_added_like_it) {
  expect_row_alone(by_address, "rows/par_16", "rows/par_16", 1, 500);
  expect_row_alone(by_address, "dot/sequential_fma", "dot/sequential_fma", 2, 500);
}

/* No row of a launch of several is added like a row alone if it holds masks. */
static fold_status by_address_and_values(void *context, size_t rows, void *out) {
  struct subject *s = context;
  const struct fold_summer all = s->summer;
  by_address(context, rows, out);
  for (size_t r = 0; rows > 1 && r < rows; r++) {
    s->summer.in[0] = (float *)all.in[0] + r * all.n;
    s->order = fold_order_find("host/pairwise");
    if (fabsf(((float *)s->summer.in[0])[0]) == 0x1p-63f) by_order(s, 1, (float *)out + r);
  }
  s->summer = all;
  return fold_ok();
}

Test(reveal, a_row_alone_is_probed_alone_if_others_show_another_tree) {
  expect_row_alone(by_address_and_values, "rows/par_16", "rows/par_16", 1, 10000);
}

static fold_status failing(void *context, size_t rows, void *out) {
  (void)context, (void)rows, (void)out;
  return fold_error(FOLD_ENVIRONMENT, "no such device");
}

Test(reveal, a_subjects_own_failure_is_passed_on) {
  float room[64];
  struct fold_revealed revealed;
  const struct fold_summer s = {.sum = failing,
                                .n = 8,
                                .rows = 8,
                                .dtype = FOLD_F32,
                                .accumulator = FOLD_F32,
                                .result = FOLD_F32,
                                .factors = 1,
                                .in = {room}};
  fold_status status = fold_reveal(&s, &revealed);
  cr_expect(status.code == FOLD_ENVIRONMENT && strstr(status.text, "no such device"));
}
