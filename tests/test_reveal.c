/* test_reveal.c: the revealed tree is the one by which the subject summed; a subject without a tree is reported as what
 * it is. Subjects are callbacks. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

#include "base/bits.h"
#include "integers.h"
#include "oracles/exact.h"
#include "oracles/fingerprint.h"
#include "reveal/reveal.h"

/* A subject. */
struct subject {
  struct fold_summer summer;
  const struct fold_order *order;
  enum fold_method method;
  const uint32_t *parent; /* a random tree's */
  const struct fold_tree *tree;
  struct fold_tree_arithmetic how;
  const char *aligned; /* the order of rows whose addresses are aligned */
  unsigned calls;
};

static struct fold_call call_of(const struct subject *s, size_t rows, void *out) {
  const struct fold_summer *m = &s->summer;
  return (struct fold_call){.dtype = m->dtype,
                            .problem = m->factors > 1 ? fold_problem(FOLD_DOT) : fold_rows_problem(FOLD_SUM),
                            .rows = rows,
                            .cols = m->n,
                            .in = {m->in[0], m->factors > 1 ? m->in[1] : NULL},
                            .out = out,
                            .launch = {.threads = 1}};
}

static fold_status by_order(void *context, size_t rows, void *out) {
  const struct subject *s = context;
  const struct fold_call call = call_of(s, rows, out);
  const struct fold_arithmetic how = {s->method, s->summer.accumulator, s->summer.result, FOLD_FACTORS_KEPT};
  /* The same bits (suite orders holds them to be), without a rounding that is computed. */
  if (how.method == FOLD_PLAIN && how.accumulator == fold_accumulator_of(call.dtype))
    return fold_order_replay_to(s->order, &call, how.result);
  return fold_method_replay(s->order, how, &call);
}

static fold_status by_tree(void *context, size_t rows, void *out) {
  const struct subject *s = context;
  const struct fold_call call = call_of(s, rows, out);
  return fold_tree_replay(s->tree, s->how, &call);
}

static struct fold_revealed reveal(struct subject *s, fold_sum_rows *sum, size_t n, size_t rows,
                                   enum fold_dtype dtype) {
  struct fold_revealed revealed;
  s->summer.sum = sum;
  s->summer.context = s;
  s->summer.n = n;
  s->summer.rows = rows;
  s->summer.dtype = dtype;
  if (!s->summer.factors) s->summer.factors = 1;
  for (unsigned k = 0; k < s->summer.factors; k++) s->summer.in[k] = malloc(rows * n * 8 + 8);
  const fold_status status = fold_reveal(&s->summer, &revealed);
  cr_expect_eq(status.code, FOLD_OK, "%s", status.text);
  for (unsigned k = 0; k < s->summer.factors; k++) free(s->summer.in[k]);
  return revealed;
}

static struct fold_revealed reveal_usual(struct subject *s, fold_sum_rows *sum, size_t n, enum fold_dtype dtype) {
  s->summer.accumulator = fold_accumulator_of(dtype);
  s->summer.result = dtype;
  return reveal(s, sum, n, 64, dtype);
}

static uint64_t print_of(const struct fold_revealed *revealed) {
  uint64_t print = 0;
  if (revealed->tree.n) fold_tree_fingerprint(&revealed->tree, &print);
  return print;
}

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

static size_t random_integer(uint64_t *state) {
  return (size_t)(fold_fingerprint_mix(*state += 0x9e3779b97f4a7c15u) >> 8);
}

/* Joins terms at random, up to `width` at once. */
static size_t random_parents(uint32_t *parent, size_t n, size_t width, uint64_t *state) {
  uint32_t top[600];
  size_t tops = n, nodes = n;
  for (size_t i = 0; i < n; i++) top[i] = (uint32_t)i;
  while (tops > 1) {
    size_t k = width > 2 ? 2 + random_integer(state) % (width - 1) : 2;
    if (k > tops) k = tops;
    for (size_t c = 0; c < k; c++) {
      const size_t at = random_integer(state) % tops;
      parent[top[at]] = (uint32_t)nodes;
      top[at] = top[--tops];
    }
    top[tops++] = (uint32_t)nodes++;
  }
  parent[nodes - 1] = FOLD_TREE_NONE;
  return nodes;
}

/* A random tree of two operands a node, by plain float additions over the parents: not by what is tested. */
static fold_status by_parents(void *context, size_t rows, void *out) {
  const struct subject *s = context;
  const size_t n = s->summer.n;
  for (size_t r = 0; r < rows; r++) {
    float value[1200];
    bool has[1200] = {false};
    for (size_t i = 0; i < n; i++) value[i] = ((const float *)s->summer.in[0])[r * n + i];
    size_t k = 0;
    for (; s->parent[k] != FOLD_TREE_NONE; k++) {
      const uint32_t up = s->parent[k];
      value[up] = has[up] ? value[up] + value[k] : value[k];
      has[up] = true;
    }
    ((float *)out)[r] = value[k];
  }
  return fold_ok();
}

Test(reveal, two_hundred_random_trees) {
  uint64_t state = 11;
  for (int k = 0; k < 200; k++) {
    const size_t n = 2 + random_integer(&state) % 120;
    uint32_t parent[1200];
    struct fold_tree tree;
    uint64_t want;
    const size_t nodes = random_parents(parent, n, 2, &state);
    struct subject s = {.parent = parent};
    cr_assert_eq(fold_tree_of_parents(parent, n, nodes, &tree).code, FOLD_OK);
    fold_tree_fingerprint(&tree, &want);
    struct fold_revealed revealed = reveal_usual(&s, by_parents, n, FOLD_F32);
    cr_expect(revealed.kind == FOLD_REVEALED_TREE && print_of(&revealed) == want, "tree %d of %zu terms: %s %s", k, n,
              fold_revealed_text(revealed.kind), revealed.why);
    fold_revealed_free(&revealed);
    fold_tree_free(&tree);
  }
}

/* The result shows of the root's own dtype no more than the result's. */
static void expect_mixed(uint64_t *state, int k, enum fold_dtype narrow, enum fold_dtype wide, unsigned factors) {
  const size_t n = 20 + random_integer(state) % 100;
  uint32_t parent[1200];
  struct fold_tree tree;
  const size_t nodes = random_parents(parent, n, 2, state);
  cr_assert_eq(fold_tree_of_parents(parent, n, nodes, &tree).code, FOLD_OK);
  tree.accumulator = malloc(tree.joins);
  for (size_t j = 0; j < tree.joins; j++)
    tree.accumulator[j] = (unsigned char)(j + 1 < tree.joins && random_integer(state) % 3 == 0 ? wide : narrow);
  struct subject s = {.tree = &tree, .how = {narrow, narrow, FOLD_ROUNDED_ONCE}, .summer.factors = factors};
  struct fold_revealed revealed = reveal_usual(&s, by_tree, n, narrow);
  cr_expect(revealed.kind == FOLD_REVEALED_TREE && fold_tree_accumulators_alike(&revealed.tree, &tree),
            "tree %d of %zu terms, %s and %s: %s %s", k, n, fold_dtype_name(narrow), fold_dtype_name(wide),
            fold_revealed_text(revealed.kind), revealed.why);
  fold_revealed_free(&revealed);
  fold_tree_free(&tree);
}

Test(reveal, sixty_trees_in_more_than_one_precision) {
  uint64_t state = 13;
  for (int k = 0; k < 20; k++) {
    expect_mixed(&state, k, FOLD_F32, FOLD_F64, 1);
    expect_mixed(&state, k, FOLD_F32, FOLD_F64, 2);
    expect_mixed(&state, k, FOLD_BF16, FOLD_F32, 1);
  }
}

/* Whether some node of the tree has more than two operands. */
static bool expect_fused(uint64_t *state, int k, enum fold_fusing fusing) {
  const size_t n = 3 + random_integer(state) % 60;
  uint32_t parent[1200];
  struct fold_tree tree;
  uint64_t want;
  const size_t nodes = random_parents(parent, n, 3 + (size_t)k % 7, state);
  struct subject s = {.tree = &tree, .how = {FOLD_F32, FOLD_F32, fusing}};
  cr_assert_eq(fold_tree_of_parents(parent, n, nodes, &tree).code, FOLD_OK);
  fold_tree_fingerprint(&tree, &want);
  struct fold_revealed revealed = reveal_usual(&s, by_tree, n, FOLD_F32);
  const bool flat = tree.joins == 1 && fusing == FOLD_ROUNDED_ONCE;
  cr_expect((revealed.kind == FOLD_REVEALED_TREE || (flat && revealed.kind == FOLD_REVEALED_EXACT)) &&
                print_of(&revealed) == want && (fold_tree_width(&tree) == 2 || revealed.how.fusing == fusing),
            "tree %d of %zu terms, %s: %s %s", k, n, fold_fusing_text(fusing), fold_revealed_text(revealed.kind),
            revealed.why);
  fold_revealed_free(&revealed);
  const bool wide = fold_tree_width(&tree) > 2;
  fold_tree_free(&tree);
  return wide;
}

Test(reveal, fifty_trees_whose_nodes_have_several_operands) {
  uint64_t state = 12;
  int wide = 0;
  for (int k = 0; wide < 50 && k < 100; k++) wide += expect_fused(&state, k, (enum fold_fusing)(k % FOLD_FUSINGS));
  cr_expect_eq(wide, 50);
}

/* As a machine with 4 lanes of 8 terms adds: ((0 + 8 terms) + 8 terms) ... Returns the arithmetic that was revealed. */
static enum fold_fusing expect_chain(enum fold_dtype dtype, enum fold_dtype result, enum fold_fusing fusing) {
  uint32_t parent[1200];
  const size_t n = 64;
  struct fold_tree tree;
  uint64_t want;
  for (uint32_t i = 0; i < n; i++) parent[i] = (uint32_t)n + i / 8;
  for (uint32_t j = 0; j < 8; j++) parent[n + j] = j < 7 ? (uint32_t)n + j + 1 : FOLD_TREE_NONE;
  cr_assert_eq(fold_tree_of_parents(parent, n, n + 8, &tree).code, FOLD_OK);
  fold_tree_fingerprint(&tree, &want);
  struct subject s = {.tree = &tree, .how = {FOLD_F32, result, fusing}, .summer.accumulator = FOLD_F32};
  s.summer.result = result;
  struct fold_revealed revealed = reveal(&s, by_tree, n, 64, dtype);
  cr_expect(revealed.kind == FOLD_REVEALED_TREE && print_of(&revealed) == want, "%s, %s: %s %s", fold_dtype_name(dtype),
            fold_fusing_text(fusing), fold_revealed_text(revealed.kind), revealed.why);
  fold_revealed_free(&revealed);
  fold_tree_free(&tree);
  return revealed.how.fusing;
}

Test(reveal, chains_of_eight_terms_at_once) {
  for (int fusing = 0; fusing < FOLD_FUSINGS; fusing++)
    cr_expect_eq((int)expect_chain(FOLD_F16, FOLD_F16, (enum fold_fusing)fusing), fusing);
}

/* The range of e5m2 leaves few bits between M and a unit, and its sums seldom tell how many bits are kept. */
Test(reveal, masks_absorb_units_even_where_operands_keep_bits_below_the_last) {
  for (int fusing = 0; fusing < FOLD_FUSINGS; fusing++) expect_chain(FOLD_E5M2, FOLD_F32, (enum fold_fusing)fusing);
}

/* As one step of a tensor core: all products in one node. Its result has few bits, so that only products that cancel show a cut. */
Test(reveal, a_dot_product_of_one_cut_node_is_not_called_exact) {
  for (size_t n = 4; n <= 16; n++) {
    uint32_t parent[17];
    struct fold_tree tree;
    for (size_t i = 0; i < n; i++) parent[i] = (uint32_t)n;
    parent[n] = FOLD_TREE_NONE;
    cr_assert_eq(fold_tree_of_parents(parent, n, n + 1, &tree).code, FOLD_OK);
    struct subject s = {.tree = &tree, .how = {FOLD_F32, FOLD_F16, FOLD_CUT_0}, .summer.factors = 2};
    struct fold_revealed revealed = reveal_usual(&s, by_tree, n, FOLD_F16);
    cr_expect(revealed.kind == FOLD_REVEALED_TREE && revealed.how.fusing == FOLD_CUT_0, "%zu products: %s, %s", n,
              fold_revealed_text(revealed.kind), fold_fusing_text(revealed.how.fusing));
    fold_revealed_free(&revealed);
    fold_tree_free(&tree);
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
