/* test_fixture_sets.c: the sets cover what they must, within their budgets, and every expected sum is the exact one.
 *
 * No generator is listed by hand: the default set must use all of generators.c.
 */
#include <criterion/criterion.h>

#include <mpfr.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "cleanup.h"
#include "fixtures/fixture.h"
#include "load_set.h"

Test(fixture_sets, the_default_set_takes_every_generator_in_every_dtype) {
  CASES(cases) = load_set("default");
  size_t n;
  const struct fold_generator *all = fold_generators(&n);
  for (size_t g = 0; g < n; g++) {
    unsigned sums = 0;
    for (size_t i = 0; i < cases.n; i++)
      if (cases.at[i].source.generator == &all[g] && cases.at[i].problem->op == FOLD_SUM && cases.at[i].cols > 1)
        sums |= 1u << cases.at[i].dtype;
    cr_expect((sums & FOLD_EVERYWHERE) == (all[g].dtypes & FOLD_EVERYWHERE), "%s sums in the dtypes %x of %x",
              all[g].name, sums, all[g].dtypes);
  }
}

static bool has(const struct fold_cases *cases, const char *generator, enum fold_dtype dtype, enum fold_op op,
                size_t rows, size_t cols) {
  for (size_t i = 0; i < cases->n; i++) {
    const struct fold_case *c = &cases->at[i];
    if (c->source.generator && strcmp(c->source.generator->name, generator) == 0 && c->dtype == dtype &&
        c->problem->op == op && c->rows == rows && c->cols == cols)
      return true;
  }
  return false;
}

Test(fixture_sets, the_default_set_stands_on_both_sides_of_every_boundary) {
  CASES(cases) = load_set("default");
  static const char *const dense[] = {"normal", "mixed", "integers", "ill_conditioned"};
  for (size_t g = 0; g < 4; g++) {
    size_t most = g < 2 ? 1 << 18 : 1 << 16;
    /* Powers of two: warp, block, tile and, the last, the grid of 1024 blocks. */
    for (size_t power = 1; power <= most; power *= 2)
      for (size_t n = power - 1; n <= power + 1; n++)
        cr_expect(has(&cases, dense[g], FOLD_F32, FOLD_SUM, 1, n), "%s lacks n = %zu", dense[g], n);
    /* Where ceil(n / T) grows, for each T of the row family. */
    for (size_t T = 16; T <= 256; T *= 4)
      for (size_t k = 1; k <= 3; k++)
        for (size_t n = k * T - 1; n <= k * T + 1; n++)
          cr_expect(has(&cases, dense[g], FOLD_F32, FOLD_SUM, 1, n), "%s lacks n = %zu", dense[g], n);
  }
  for (int dtype = 0; dtype < FOLD_E4M3; dtype++)
    cr_expect(has(&cases, "uniform", (enum fold_dtype)dtype, FOLD_SUM, 4, 16384), "the seed's 4 x 16384 in %s",
              fold_dtype_name((enum fold_dtype)dtype));
  for (int op = 0; op < FOLD_OPS; op++)
    for (int dtype = 0; dtype < FOLD_E4M3; dtype++) {
      size_t found = 0;
      for (size_t i = 0; i < cases.n; i++)
        found += (int)cases.at[i].problem->op == op && (int)cases.at[i].dtype == dtype;
      cr_expect(found >= 5, "%s of %s: %zu cases", fold_op_name((enum fold_op)op),
                fold_dtype_name((enum fold_dtype)dtype), found);
    }
}

/* Tiles of 1, 3, 5 and 7 times a power of two: of a warp's lanes, a block's threads, or a loop that a compiler unrolled. */
enum { LEAST_TILE = 8, GREATEST_TILE = 8192 };

/* Whether some case on one processor has a row of whole tiles whose last term shows in any result, if it is lost. */
static bool has_whole_tiles(const struct fold_cases *cases, const struct fold_problem *problem, enum fold_dtype dtype,
                            size_t tile) {
  for (size_t i = 0; i < cases->n; i++) {
    const struct fold_case *c = &cases->at[i];
    const bool shows = c->source.generator && strcmp(c->source.generator->name, "nan_last") == 0;
    if (!c->ranks && shows && c->problem == problem && c->dtype == dtype && c->cols >= tile && c->cols % tile == 0)
      return true;
  }
  return false;
}

/* A subject that loses the last term of a full tile is right at every other length. (guests/tiles.c has some that do.) */
Test(fixture_sets, rows_of_whole_tiles_are_there_for_every_problem_and_dtype) {
  static const char *const sets[] = {"default", "guests"};
  for (int s = 0; s < 2; s++) {
    CASES(cases) = load_set(sets[s]);
    for (int p = 0; p < FOLD_PROBLEMS; p++)
      for (int dtype = 0; dtype < FOLD_FLOATS; dtype++) {
        const struct fold_problem *problem = fold_problem((enum fold_problem_id)p);
        if (problem->inputs > 1 && dtype >= FOLD_E4M3) continue;              /* no fixture has such products */
        const size_t greatest = fold_is_scan(problem) ? 1024 : GREATEST_TILE; /* each prefix has a truth of its own */
        for (size_t odd = 1; odd <= 7; odd += 2)
          for (size_t tile = odd; tile <= greatest; tile *= 2)
            cr_expect(tile < LEAST_TILE || has_whole_tiles(&cases, problem, (enum fold_dtype)dtype, tile),
                      "%s: no %s of whole tiles of %zu in %s", sets[s], problem->name, tile,
                      fold_dtype_name((enum fold_dtype)dtype));
      }
  }
}

/* Lengths between the boundaries: from 40 to 20,000 terms no longer step than a factor of 1.7, and of 1.2 for guests up to 10,000; on data on
 * which any lost last term shows. */
static double longest_step(const struct fold_cases *cases, const struct fold_problem *problem, enum fold_dtype dtype,
                           size_t most) {
  static bool there[32768];
  memset(there, 0, sizeof there);
  for (size_t i = 0; i < cases->n; i++) {
    const struct fold_case *c = &cases->at[i];
    const char *generator = c->source.generator ? c->source.generator->name : "";
    const bool tells = strcmp(generator, "balanced") == 0 || strcmp(generator, "nan_last") == 0;
    const bool one = c->rows == 1 || !fold_is_of_rows(problem);
    if (tells && !c->ranks && one && c->problem == problem && c->dtype == dtype && c->cols < 32768)
      there[c->cols] = true;
  }
  double longest = 1, last = 40;
  for (size_t n = 41; n <= most; n++) {
    if ((double)n / last > longest) longest = (double)n / last;
    if (there[n]) last = (double)n;
  }
  return longest;
}

Test(fixture_sets, no_length_is_far_from_one_that_is_tried) {
  struct fold_cases cases = load_set("default"), more = load_set("guests");
  for (int p = 0; p < FOLD_PROBLEMS; p++)
    for (int dtype = 0; dtype < FOLD_FLOATS; dtype++) {
      const struct fold_problem *problem = fold_problem((enum fold_problem_id)p);
      if (problem->inputs > 1 && dtype >= FOLD_E4M3) continue; /* no fixture has such products */
      const bool is_scan = fold_is_scan(problem);
      const double step = longest_step(&cases, problem, (enum fold_dtype)dtype, is_scan ? 1000 : 20000),
                   guests = longest_step(&more, problem, (enum fold_dtype)dtype, is_scan ? 1000 : 10000);
      cr_expect(step <= 1.7 && guests <= (is_scan ? 1.7 : 1.2), "%s of %s: a step of a factor %.2f, of %.2f for guests",
                problem->name, fold_dtype_name((enum fold_dtype)dtype), step, guests);
    }
  fold_cases_free(&cases);
  fold_cases_free(&more);
}

/* Of integers: lengths at which tiles end; counts of bytes that leave 16 bits, and f32; sums by key. */
Test(fixture_sets, integers_for_guests_have_lengths_and_leave_narrow_accumulators) {
  static bool length[20001];
  CASES(cases) = load_set("guests");
  unsigned keyed = 0, past_16_bits = 0, past_f32 = 0;
  for (size_t i = 0; i < cases.n; i++) {
    const struct fold_case *c = &cases.at[i];
    if (!fold_dtype_is_integer(c->dtype)) continue;
    keyed |= (c->problem->id == FOLD_KEYED) << c->dtype;
    if (c->problem->id != FOLD_ROWS_SUM) continue;
    if (c->cols <= 20000) length[c->cols] = true;
    const bool ones = c->source.generator && strcmp(c->source.generator->name, "ones") == 0;
    past_16_bits |= c->dtype == FOLD_I8 && ones && c->cols > 65535;
    past_f32 |= c->dtype == FOLD_I8 && c->literal && c->literal[0] * c->cols > 1 << 24;
  }
  for (size_t k = 64; k <= 16384; k *= 2)
    for (size_t around = k - 1; around <= k + 1; around++) cr_expect(length[around], "no %zu integers", around);
  cr_expect_eq(keyed, 1u << FOLD_I8 | 1u << FOLD_I32 | 1u << FOLD_I64);
  cr_expect(past_16_bits && past_f32, "%u %u", past_16_bits, past_f32);
}

/* Kernels that add by key have indices of 16 bits, tables of a block's threads, and columns by warps. */
Test(fixture_sets, keyed_sums_for_guests_are_past_16_bits_and_blocks_of_threads) {
  CASES(cases) = load_set("guests");
  size_t slots = 0, terms = 0, columns = 0;
  for (size_t i = 0; i < cases.n; i++) {
    const struct fold_case *c = &cases.at[i];
    const struct fold_shape s = c->shape;
    if (c->problem->id != FOLD_KEYED || c->dtype != FOLD_F32) continue;
    if (s.k > 500) slots = s.m > slots ? s.m : slots; /* so many that some are in high slots */
    terms = s.k > terms && s.m > 1 ? s.k : terms;
    columns = s.n > columns ? s.n : columns;
  }
  cr_expect(slots > 65536 && terms > 65536 && columns > 1024, "%zu slots, %zu terms, %zu columns", slots, terms,
            columns);
}

/* Kernels for large products may cut factors to fewer bits, which whole numbers of few bits do not show; and their order may depend on the
 * number of rows, columns or products. */
Test(fixture_sets, large_products_for_guests_have_full_significands_and_batches) {
  CASES(cases) = load_set("guests");
  unsigned full = 0, axes = 0;
  for (size_t i = 0; i < cases.n; i++) {
    const struct fold_case *c = &cases.at[i];
    const struct fold_shape s = c->shape;
    if (c->problem->id != FOLD_MATMUL || !c->source.generator) continue;
    if (strcmp(c->source.generator->name, "normal") != 0) continue;
    if (s.m > 256 && s.n > 128 && s.k > 64) full |= 1u << c->dtype;
    if (c->dtype != FOLD_F32 || !c->claims || !fold_glob_match(c->claims, "batch_invariant")) continue;
    axes |= (s.m >= 300 ? 1u : 0) | (s.n >= 300 ? 2u : 0) | (s.b > 128 ? 4u : 0) | (s.m > 128 && s.n > 128 ? 8u : 0);
  }
  cr_expect((full & FOLD_EVERYWHERE) == FOLD_EVERYWHERE, "dtypes %x of %x", full, FOLD_EVERYWHERE);
  cr_expect_eq(axes, 15u, "axes %x", axes);
}

/* On these a lost, doubled or foreign term is a whole number. */
Test(fixture_sets, terms_cannot_hide_in_any_problem_and_dtype) {
  static const char *const generators[] = {"counted", "lone", "powers", "few"};
  CASES(cases) = load_set("default");
  for (size_t g = 0; g < 4; g++)
    for (int p = 0; p < FOLD_PROBLEMS; p++) {
      const struct fold_problem *problem = fold_problem((enum fold_problem_id)p);
      unsigned dtypes = 0, swapped = 0;
      if (problem->op != FOLD_SUM || (problem->id == FOLD_SUMSQ && g == 2)) continue; /* squares of powers round */
      for (size_t i = 0; i < cases.n; i++) {
        const struct fold_case *c = &cases.at[i];
        if (c->ranks || c->problem != problem || !c->source.generator) continue;
        if (strcmp(c->source.generator->name, generators[g]) != 0) continue;
        dtypes |= 1u << c->dtype;
        if (c->source.seed >> 62) swapped |= 1u << c->dtype;
      }
      const unsigned want = problem->inputs > 1 ? FOLD_EVERYWHERE : (1u << FOLD_FLOATS) - 1;
      cr_expect((dtypes & want) == want, "%s of %s: dtypes %x of %x", problem->name, generators[g], dtypes, want);
      cr_expect(g == 0 || problem->inputs == 1 || fold_is_keys(problem, 1) || (swapped & want) == want,
                "%s of %s: the other factor in %x of %x", problem->name, generators[g], swapped, want);
    }
}

/* A kernel may take one NaN's bits for a number: the dtypes of 8 bits have few enough NaN to try all. */
Test(fixture_sets, every_nan_of_8_bits_is_there_for_every_operation) {
  CASES(cases) = load_set("default");
  for (int dtype = FOLD_E4M3; dtype <= FOLD_E5M2; dtype++)
    for (int op = 0; op < FOLD_OPS; op++) {
      bool seen[256] = {false};
      for (size_t i = 0; i < cases.n; i++) {
        const struct fold_case *c = &cases.at[i];
        unsigned char x[16];
        if (!c->literal || c->ranks || (int)c->problem->op != op || (int)c->dtype != dtype || c->cols > sizeof x)
          continue;
        cr_assert(fold_case_fill(c, 0, x, 1).code == FOLD_OK);
        for (size_t k = 0; k < c->cols; k++) seen[x[k]] = true;
      }
      for (unsigned bits = 0; bits < 256; bits++)
        cr_expect(seen[bits] || fold_bits_class((enum fold_dtype)dtype, bits) != FOLD_NAN,
                  "no %s of the NaN %02x in %s", fold_op_name((enum fold_op)op), bits,
                  fold_dtype_name((enum fold_dtype)dtype));
    }
}

/* The reference study's six correctness cases, by the names that it gave them. */
Test(fixture_sets, the_reports_six_cases_are_there_by_name) {
  static const struct {
    const char *name, *expect;
    size_t n;
  } want[] = {{"small_known_sum/f32/sum/1x100", "100", 100},
              {"non_power_of_two/f32/sum/1x1337", "1337", 1337},
              {"all_zeros/f32/sum/1x1000", "0", 1000},
              {"negative_numbers/f32/sum/1x500", "-500", 500},
              {"large_random/f32/sum/1x10000000/seed1", NULL, 0},
              {"custom_vs_thrust/f32/sum/1x1000000/seed1", NULL, 0}};
  static float x[1337];
  CASES(cases) = load_set("all");
  for (size_t k = 0; k < 6; k++) {
    const struct fold_case *found = NULL;
    for (size_t i = 0; i < cases.n; i++)
      if (strcmp(cases.at[i].name, want[k].name) == 0) found = &cases.at[i];
    cr_assert_not_null(found, "%s", want[k].name);
    if (!want[k].expect) continue;
    cr_expect_str_eq(found->expect, want[k].expect);
    cr_assert(found->cols == want[k].n && fold_case_fill(found, 0, x, 1).code == FOLD_OK);
    const float one = k == 2 ? 0.f : k == 3 ? -1.f : 1.f;
    for (size_t i = 0; i < want[k].n; i++) cr_expect_eq(x[i], one, "%s, %zu: %g", found->name, i, (double)x[i]);
  }
}

/* Of a case for collectives: a vector has a term a rank in each row; else rows are cut over the ranks. */
static bool has_world(const struct fold_cases *cases, unsigned ranks, bool vector,
                      const struct fold_generator *generator, enum fold_dtype dtype, enum fold_op op) {
  for (size_t i = 0; i < cases->n; i++) {
    const struct fold_case *c = &cases->at[i];
    const bool is_vector = c->cols == c->ranks && c->rows > 1;
    if (c->ranks == ranks && c->dtype == dtype && c->problem->op == op &&
        (!generator || c->source.generator == generator) && (vector ? is_vector : c->cols > c->ranks))
      return true;
  }
  return false;
}

/* Most machines with GPUs have one or two: their collectives are judged on all that there is. */
Test(fixture_sets, worlds_of_one_and_two_have_every_dtype_operation_and_kind_of_data) {
  CASES(cases) = load_set("default");
  size_t n;
  const struct fold_generator *all = fold_generators(&n);
  for (unsigned ranks = 1; ranks <= 2; ranks++)
    for (int vector = 0; vector < 2; vector++) {
      for (size_t g = 0; g < n; g++)
        for (int dtype = 0; dtype < FOLD_E4M3; dtype++)
          cr_expect(!(all[g].dtypes >> dtype & 1) || strcmp(all[g].name, "ill_conditioned_dot") == 0 ||
                        has_world(&cases, ranks, vector, &all[g], (enum fold_dtype)dtype, FOLD_SUM),
                    "%u ranks, %s: no sum of %s in %s", ranks, vector ? "vectors" : "rows", all[g].name,
                    fold_dtype_name((enum fold_dtype)dtype));
      for (int op = 0; op < FOLD_OPS; op++)
        for (int dtype = 0; dtype < FOLD_E4M3; dtype++)
          cr_expect(has_world(&cases, ranks, vector, NULL, (enum fold_dtype)dtype, (enum fold_op)op),
                    "%u ranks, %s: no %s in %s", ranks, vector ? "vectors" : "rows", fold_op_name((enum fold_op)op),
                    fold_dtype_name((enum fold_dtype)dtype));
    }
  /* What is there for one processor's products, maxima and minima, is there for theirs. */
  for (size_t i = 0; i < cases.n; i++) {
    const struct fold_case *c = &cases.at[i];
    if (c->ranks || c->problem->op == FOLD_SUM || !c->source.generator) continue;
    for (unsigned ranks = 1; ranks <= 2; ranks++)
      cr_expect(has_world(&cases, ranks, true, c->source.generator, FOLD_F32, c->problem->op), "%u ranks: no %s of %s",
                ranks, fold_op_name(c->problem->op), c->source.generator->name);
  }
}

/* What the speed of `verify` rests on. */
Test(fixture_sets, the_sets_stay_within_their_budgets) {
  struct fold_cases cases = load_set("default"), large = load_set("large"), all = load_set("all"),
                    guests = load_set("guests"), products = load_set("products");
  size_t elements[6] = {0}, n[6] = {0}, longest = 0, few = 0;
  for (size_t i = 0; i < cases.n; i++) {
    const struct fold_case *c = &cases.at[i];
    const bool keyed = c->problem->reach == FOLD_BY_KEY;
    const int kind = fold_dtype_is_integer(c->dtype) ? 5
                     : keyed                         ? 4
                     : fold_is_scan(c->problem)      ? 3
                     : c->problem->inputs > 1        ? 2
                                                     : c->ranks > 0;
    const size_t terms = keyed ? fold_case_terms(c) : c->rows * c->cols;
    if (c->claims) few += terms;
    if (c->claims) continue;
    elements[kind] += terms;
    n[kind]++;
  }
  cr_expect(n[0] >= 700 && n[0] <= 1600, "%zu cases", n[0]);
  cr_expect(elements[0] <= 12000000, "%zu elements", elements[0]);
  cr_expect(few <= 34500000, "%zu elements that few claims are judged on", few);
  cr_expect(n[1] >= 300 && n[1] <= 1200, "%zu cases of ranks", n[1]);
  cr_expect(elements[1] <= 5600000, "%zu elements of ranks", elements[1]);
  cr_expect(n[2] >= 400 && n[2] <= 700, "%zu cases of two inputs", n[2]);
  cr_expect(elements[2] <= 1200000, "%zu elements of two inputs", elements[2]);
  cr_expect(n[5] >= 50 && n[5] <= 150, "%zu cases of integers", n[5]);
  cr_expect(elements[5] <= 60000, "%zu elements of integers", elements[5]);
  cr_expect(n[3] >= 100 && n[3] <= 400, "%zu scans", n[3]);
  cr_expect(elements[3] <= 300000, "%zu elements of scans", elements[3]);
  cr_expect(n[4] >= 80 && n[4] <= 160, "%zu keyed sums", n[4]);
  cr_expect(elements[4] <= 150000, "%zu elements of keyed sums", elements[4]);
  for (size_t i = 0; i < large.n; i++)
    if (large.at[i].rows * large.at[i].cols > longest) longest = large.at[i].rows * large.at[i].cols;
  cr_expect(longest == 50000000, "the longest of the large set has %zu elements", longest);
  cr_expect(all.n == guests.n + large.n + products.n - cases.n && guests.n > cases.n,
            "%zu of %zu, %zu cases, %zu in all", cases.n, guests.n, large.n, all.n);
  fold_cases_free(&guests);
  fold_cases_free(&products);
  fold_cases_free(&cases);
  fold_cases_free(&large);
  fold_cases_free(&all);
}

static int by_text(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

Test(fixture_sets, every_case_has_a_name_of_its_own_and_its_input) {
  CASES(cases) = load_set("default");
  const char **names = malloc(cases.n * sizeof *names);
  for (size_t i = 0; i < cases.n; i++) names[i] = cases.at[i].name;
  qsort(names, cases.n, sizeof *names, by_text);
  for (size_t i = 1; i < cases.n; i++) cr_expect(strcmp(names[i - 1], names[i]) != 0, "%s twice", names[i]);
  for (size_t i = 0; i < cases.n; i++) {
    const struct fold_case *c = &cases.at[i];
    int sources = (c->source.generator != NULL) + (c->literal != NULL) + (c->npy != NULL);
    cr_expect(sources == 1, "%s has %d sources", c->name, sources);
    cr_expect(c->source.generator || c->provenance, "%s says not where it comes from", c->name);
    cr_expect(c->file && c->where && strstr(c->where, c->file), "%s: where is %s", c->name, c->where);
    cr_expect(!strpbrk(c->name, "*?[]\\, '\""), "%s cannot be given as a glob for itself", c->name);
    cr_expect(fold_glob_match(c->name, c->name), "%s does not match itself", c->name);
  }
  free(names);
}

/* The exact sum of a literal or captured row, or of its products with the other: a mantissa over the whole range rounds nothing. */
static bool sum_is(const struct fold_case *c, const uint64_t *bits, const uint64_t *other, const char *expect) {
  mpfr_t sum, term, want;
  mpfr_inits2(4400, sum, term, want, (mpfr_ptr)0);
  bool exact = true;
  mpfr_set_zero(sum, 1);
  for (size_t i = 0; i < c->cols; i++) {
    exact &= mpfr_set_d(term, fold_bits_to_double(c->dtype, bits[i]), MPFR_RNDN) == 0;
    if (other) exact &= mpfr_mul_d(term, term, fold_bits_to_double(c->dtype, other[i]), MPFR_RNDN) == 0;
    exact &= (i == 0 ? mpfr_set(sum, term, MPFR_RNDN) : mpfr_add(sum, sum, term, MPFR_RNDN)) == 0;
  }
  exact &= mpfr_set_str(want, expect, 0, MPFR_RNDN) == 0;
  bool same =
      mpfr_nan_p(want) ? mpfr_nan_p(sum) != 0 : mpfr_equal_p(sum, want) && !mpfr_signbit(sum) == !mpfr_signbit(want);
  mpfr_clears(sum, term, want, (mpfr_ptr)0);
  return exact && same;
}

Test(fixture_sets, every_expected_sum_is_the_exact_sum) {
  CASES(cases) = load_set("default");
  size_t literals = 0, expected = 0;
  for (size_t i = 0; i < cases.n; i++) {
    const struct fold_case *c = &cases.at[i];
    literals += c->literal != NULL;
    cr_expect(!c->literal || c->problem->op != FOLD_SUM || c->expect, "%s has no expect_sum", c->name);
    cr_expect(!c->expect || c->problem->op == FOLD_SUM, "%s expects a sum", c->name);
    if (!c->expect) continue;
    size_t n = c->rows * c->cols;
    unsigned char *in = malloc(n * fold_dtype_size(c->dtype));
    uint64_t *bits[FOLD_INPUTS] = {NULL};
    fold_status status = fold_ok();
    for (unsigned input = 0; input < c->problem->inputs && status.code == FOLD_OK; input++) {
      status = fold_case_fill(c, input, in, 1);
      bits[input] = malloc(n * sizeof **bits);
      for (size_t k = 0; k < n; k++) bits[input][k] = fold_bits_load(c->dtype, in, k);
    }
    cr_expect(status.code == FOLD_OK && sum_is(c, bits[0], bits[1], c->expect), "%s (%s): the sum is not %s %s",
              c->name, c->where, c->expect, status.text);
    expected++;
    free(in);
    for (unsigned input = 0; input < FOLD_INPUTS; input++) free(bits[input]);
  }
  cr_expect(literals >= 30 && expected >= 40, "%zu literals, %zu expected sums", literals, expected);
}

Test(fixture_sets, a_large_case_stays_out_of_the_default_set) {
  CASES(cases) = load_set("default");
  for (size_t i = 0; i < cases.n; i++) cr_expect(cases.at[i].set == FOLD_SET_DEFAULT, "%s", cases.at[i].name);
}
