/* test_fixture_products.c: products are tried at the sizes of k at which libraries lose terms. */
#include <criterion/criterion.h>
#include <string.h>

#include "cleanup.h"
#include "load_set.h"

/* Libraries choose tiles and splits by k, and lose a tail at few sizes: every multiple of 8, every remainder modulo numbers up to 200, and
 * so many terms in all as a host multiplies in well under a minute. */
Test(fixture_sets, products_for_guests_sweep_k_past_20000) {
  static bool swept[20600], remainder[200][200];
  CASES(cases) = load_set("guests");
  size_t terms = 0, n = 0;
  for (size_t i = 0; i < cases.n; i++) {
    const struct fold_case *c = &cases.at[i];
    if (!c->source.generator || strcmp(c->source.generator->name, "counted") != 0) continue;
    if (c->problem->id != FOLD_MATMUL || c->dtype != FOLD_F32 || c->cols >= 20600) continue;
    swept[c->cols] = true;
    terms += fold_case_terms(c);
    n++;
    for (size_t q = 1; q <= 200; q++) remainder[q - 1][c->cols % q] = true;
  }
  for (size_t k = 8; k <= 20480; k += 8) cr_expect(swept[k], "no k of %zu", k);
  for (size_t k = 1; k <= 256; k++) cr_expect(swept[k], "no k of %zu", k);
  for (size_t k = 128; k <= 20480; k += 128) cr_expect(swept[k - 1] && swept[k + 1], "k of %zu is not enclosed", k);
  for (size_t q = 1; q <= 200; q++)
    for (size_t r = 0; r < q; r++) cr_expect(remainder[q - 1][r], "no k of %zu modulo %zu", r, q);
  cr_expect(n <= 4500 && terms <= 300000000, "%zu cases, %zu products", n, terms);
}

static bool is_tail(const struct fold_case *c) { return strncmp(c->name, "tails/", 6) == 0; }

/* A library chooses its kernel by k, shape, dtype and layout. Each shape has k of each remainder modulo a tile, and the whole can be judged
 * in seconds, of some twenty subjects. */
Test(fixture_sets, products_on_gpus_are_tried_at_each_k) {
  enum { MOST_K = 20000, EACH = 4096, TILE = 32 };
  static bool tried[MOST_K + 1], of_shape[1 << 16][TILE];
  struct fold_cases cases = load_set("products");
  unsigned dtypes = 0, layouts = 0;
  size_t n = 0, terms = 0, least = SIZE_MAX, most = 0;
  for (size_t i = 0; i < cases.n; i++) {
    const struct fold_case *c = &cases.at[i];
    if (c->set != FOLD_SET_PRODUCTS || is_tail(c)) continue;
    cr_assert(c->problem->id == FOLD_MATMUL && c->shape.k <= MOST_K && c->shape.m <= 256 && c->shape.n <= 64);
    const size_t results = fold_case_results(c);
    tried[c->shape.k] = true;
    dtypes |= 1u << c->dtype, layouts |= 1u << c->layout.transposed;
    least = results < least ? results : least, most = results > most ? results : most;
    const size_t shape = (c->shape.m << 5 | c->shape.n) << 4 | (size_t)c->dtype << 2 | c->layout.transposed;
    if (results <= 16 && c->shape.k <= EACH) of_shape[shape][c->shape.k % TILE] = true;
    n++, terms += fold_case_terms(c);
  }
  for (size_t k = 1; k <= MOST_K; k++) cr_expect(tried[k] || (k > EACH && k % 8), "no k of %zu", k);
  for (size_t s = 0; s < sizeof of_shape / sizeof *of_shape; s++) {
    size_t found = 0;
    for (size_t r = 0; r < TILE; r++) found += of_shape[s][r];
    cr_expect(found == 0 || found == TILE, "shape %zx: %zu remainders of %d", s, found, TILE);
  }
  cr_expect(dtypes == (1u << FOLD_F16 | 1u << FOLD_BF16) && layouts == (1u << 0 | 1u << 2), "%x %x", dtypes, layouts);
  cr_expect(least == 1 && most == 256 * 64, "%zu to %zu results", least, most);
  cr_expect(n <= 6500 && terms <= 200000000, "%zu cases, %zu products", n, terms);
  fold_cases_free(&cases);
}

/* Parts of whole tiles of 64 terms leave a tail of fewer terms than there are parts: at some k of each dtype and layout, whatever the number
 * of parts is. Tails of 8 terms leave every line of a matrix aligned. */
Test(fixture_sets, products_on_gpus_have_tails_behind_each_number_of_parts) {
  enum { TILE = 64, PARTS = 16, LAYOUTS = 4 };
  static bool tail[FOLD_DTYPES][LAYOUTS][PARTS + 1];
  struct fold_cases cases = load_set("products");
  size_t n = 0, terms = 0;
  for (size_t i = 0; i < cases.n; i++) {
    const struct fold_case *c = &cases.at[i];
    if (c->set != FOLD_SET_PRODUCTS || !is_tail(c)) continue;
    cr_assert(c->problem->id == FOLD_MATMUL && c->layout.transposed < LAYOUTS);
    for (size_t parts = c->shape.k % TILE + 1; parts <= PARTS; parts++)
      tail[c->dtype][c->layout.transposed][parts] |= c->shape.k / TILE % parts == 0;
    n++, terms += fold_case_terms(c);
  }
  for (int dtype = 0; dtype < FOLD_DTYPES; dtype++)
    for (unsigned layout = 0; layout < LAYOUTS; layout++)
      for (size_t parts = layout == 1 ? 2 : 9; parts <= PARTS; parts++)
        cr_expect_eq(tail[dtype][layout][parts], dtype == FOLD_F16 || dtype == FOLD_BF16,
                     "dtype %d, layout %u, %zu parts", dtype, layout, parts);
  cr_expect(n <= 200 && terms <= 120000000, "%zu cases, %zu products", n, terms);
  fold_cases_free(&cases);
}
