/* test_problem.c: signatures, and the places that follow from them, against plain loops. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "model/problem.h"

Test(problem, a_signature_that_is_wrong_is_refused_with_its_reason) {
  static const struct {
    const char *signature, *says;
  } wrong[] = {{"", "\"->\" is missing"},
               {"->", "no input has axis k"},
               {"mk", "\"->\" is missing"},
               {"mk-m", "\"->\" is missing"},
               {"mx->m", "'x' is no axis; axes are b, m, n and k"},
               {"mk->m,n", "it goes on after the results"},
               {"mk->m->m", "it goes on after the results"},
               {"mkm->m", "an operand has axis m twice"},
               {"mk,k,k->m", "more than 2 inputs"},
               {"m->m", "no input has axis k"},
               {"mk->n", "the results have an axis that no input has"},
               {"bmk->m", "only k is folded"},
               {"mk->mk", "the results have axis k"}};
  struct fold_problem scan = {.name = "mine", .reach = FOLD_PREFIX};
  cr_expect_eq(fold_signature_parse("mk->mk", &scan).code, FOLD_OK);
  cr_expect_eq(fold_signature_parse("mk->m", &scan).code, FOLD_BAD_INPUT);
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    struct fold_problem p = {.name = "mine"};
    const fold_status status = fold_signature_parse(wrong[i].signature, &p);
    cr_expect_eq(status.code, FOLD_BAD_INPUT, "%s", wrong[i].signature);
    cr_expect(strstr(status.text, wrong[i].says), "%s: %s", wrong[i].signature, status.text);
  }
  static const char *const not_keyed[] = {"kn->mn", "kn,kn->mn", "mk,k->m", "kn,k->n", "k,kn->mn", "kn,k->mk"};
  struct fold_problem keyed = {.name = "mine", .reach = FOLD_BY_KEY};
  cr_expect_eq(fold_signature_parse("kn,k->mn", &keyed).code, FOLD_OK);
  cr_expect(fold_is_keys(&keyed, 1) && !fold_is_keys(&keyed, 0));
  for (size_t i = 0; i < sizeof not_keyed / sizeof *not_keyed; i++)
    cr_expect_eq(fold_signature_parse(not_keyed[i], &keyed).code, FOLD_BAD_INPUT, "%s", not_keyed[i]);
  cr_expect_eq(fold_problems_check().code, FOLD_OK);
}

Test(problem, rows_are_told_from_other_problems) {
  for (int p = 0; p < FOLD_PROBLEMS; p++)
    cr_expect_eq(fold_is_of_rows(fold_problem((enum fold_problem_id)p)), p < FOLD_MATVEC, "problem %d", p);
}

enum { B = 2, M = 3, N = 5, K = 7 };

static struct fold_problem products(void) {
  struct fold_problem p = {.name = "products", .op = FOLD_SUM, .factors = 2, .factor = {0, 1}};
  cr_assert_eq(fold_signature_parse("bmk,bkn->bmn", &p).code, FOLD_OK);
  return p;
}

static float *numbers(size_t n) {
  float *x = malloc(n * sizeof *x);
  for (size_t i = 0; i < n; i++) x[i] = (float)(i * 37 % 101);
  return x;
}

/* The result of those terms; all sums are whole numbers. */
static double add(const struct fold_terms *scattered) {
  struct fold_terms terms;
  void *room;
  double sum = 0;
  cr_assert_eq(fold_terms_line(scattered, &terms, &room).code, FOLD_OK);
  for (size_t t = 0; t < terms.n; t++)
    sum += (double)((const float *)terms.factor[0])[t] * (terms.factors > 1 ? ((const float *)terms.factor[1])[t] : 1);
  free(room);
  return sum;
}

/* B stored by rows and by columns: only the strides differ. */
Test(problem, the_terms_of_a_product_lie_where_its_strides_say) {
  const struct fold_problem p = products();
  const struct fold_shape shape = {.at = {B, M, N, K}};
  float *x = numbers(B * M * K), *y = numbers(B * K * N), *turned = numbers(B * K * N);
  for (size_t b = 0; b < B; b++)
    for (size_t t = 0; t < K; t++)
      for (size_t j = 0; j < N; j++) turned[(b * N + j) * K + t] = y[(b * K + t) * N + j];
  cr_assert(fold_elements(&p, &shape, 0) == B * M * K && fold_elements(&p, &shape, 1) == B * K * N);
  cr_assert_eq(fold_results(&p, &shape), B * M * N);
  const struct fold_call plain = {.dtype = FOLD_F32, .problem = &p, .shape = shape, .in = {x, y}};
  struct fold_call other = plain;
  other.in[1] = turned;
  other.stride[1][FOLD_B] = K * N;
  other.stride[1][FOLD_N] = K;
  other.stride[1][FOLD_K] = 1;
  for (size_t r = 0; r < B * M * N; r++) {
    const size_t b = r / (M * N), i = r / N % M, j = r % N;
    double want = 0;
    for (size_t t = 0; t < K; t++) want += (double)x[(b * M + i) * K + t] * y[(b * K + t) * N + j];
    const struct fold_terms a = fold_call_terms(&plain, r), c = fold_call_terms(&other, r);
    cr_expect_eq(add(&a), want, "result %zu", r);
    cr_expect_eq(add(&c), want, "result %zu, turned", r);
  }
  free(x);
  free(y);
  free(turned);
}

Test(problem, a_part_of_a_call_has_its_results) {
  const struct fold_problem p = products();
  float *x = numbers(B * M * K), *y = numbers(B * K * N);
  const struct fold_call all = {.dtype = FOLD_F32, .problem = &p, .shape = {.at = {B, M, N, K}}, .in = {x, y}};
  const struct fold_block block = {.first = {.at = {1, 1, 2, 3}}, .extent = {.at = {1, 2, 3, 4}}};
  const struct fold_call part = fold_call_part(&all, &block);
  for (size_t i = 0; i < 2; i++)
    for (size_t j = 0; j < 3; j++) {
      double want = 0;
      for (size_t t = 3; t < 7; t++) want += (double)x[(M + 1 + i) * K + t] * y[(K + t) * N + 2 + j];
      const struct fold_terms terms = fold_call_terms(&part, i * 3 + j);
      cr_expect_eq(add(&terms), want, "%zu, %zu", i, j);
    }
  free(x);
  free(y);
}

Test(problem, an_element_is_first_in_the_result_that_its_coordinates_say) {
  const struct fold_problem p = products(), *matvec = fold_problem(FOLD_MATVEC);
  const struct fold_shape shape = {.at = {B, M, N, K}};
  for (size_t e = 0; e < B * M * K; e++)
    cr_expect_eq(fold_first_result_of(&p, &shape, 0, e, NULL), e / K * N, "left element %zu", e);
  for (size_t e = 0; e < B * K * N; e++)
    cr_expect_eq(fold_first_result_of(&p, &shape, 1, e, NULL), e / (K * N) * M * N + e % N, "right element %zu", e);
  for (size_t e = 0; e < M * K; e++) cr_expect_eq(fold_first_result_of(matvec, &shape, 0, e, NULL), e / K, "%zu", e);
  for (size_t e = 0; e < K; e++) cr_expect_eq(fold_first_result_of(matvec, &shape, 1, e, NULL), 0, "%zu", e);
}

Test(problem, a_result_is_named_by_its_place) {
  const struct fold_problem p = products();
  const struct fold_shape many = {.at = {B, M, N, K}}, one = {.at = {1, M, N, K}};
  char text[120];
  cr_expect_str_eq(fold_result_name(fold_problem(FOLD_DOT), &one, 4, text), "row 4");
  cr_expect_str_eq(fold_result_name(&p, &one, N + 2, text), "result 7 (m 1, n 2)");
  cr_expect_str_eq(fold_result_name(&p, &many, M * N + N + 2, text), "result 22 (b 1, m 1, n 2)");
  cr_expect_str_eq(fold_result_name(fold_problem(FOLD_SCAN), &one, K + 3, text), "result 10 (m 1, k 3)");
}

/* A scan's result has the terms up to its place, or those before it. */
Test(problem, a_result_of_a_scan_has_the_terms_up_to_its_place) {
  const float x[6] = {1, 2, 4, 8, 16, 32};
  const float want[2][6] = {{1, 3, 7, 8, 24, 56}, {0, 1, 3, 0, 8, 24}};
  const enum fold_problem_id of[2] = {FOLD_SCAN, FOLD_EXCLUSIVE};
  for (size_t p = 0; p < 2; p++) {
    const struct fold_call call = {.dtype = FOLD_F32, .problem = fold_problem(of[p]), .rows = 2, .cols = 3, .in = {x}};
    cr_expect_eq(fold_results(call.problem, &call.shape), 6);
    cr_expect_eq(fold_all_terms(call.problem, &call.shape), 6, "each term is joined once");
    for (size_t r = 0; r < 6; r++) {
      const struct fold_terms terms = fold_call_terms(&call, r);
      float sum = 0;
      for (size_t t = 0; t < terms.n; t++) sum += ((const float *)terms.factor[0])[t];
      cr_expect_eq(sum, want[p][r], "problem %zu, result %zu", p, r);
      cr_expect_eq(fold_first_result_of(call.problem, &call.shape, 0, r, NULL), p && r % 3 < 2 ? r + 1 : r,
                   "element %zu", r);
    }
  }
}

/* What lies side by side is not copied; a stride of 0 repeats one element. */
Test(problem, terms_are_copied_only_where_they_are_apart) {
  const float x[6] = {1, 2, 3, 4, 5, 6};
  struct fold_terms terms = fold_terms_of(FOLD_F32, FOLD_SUM, x, 3), line;
  void *room;
  cr_assert_eq(fold_terms_line(&terms, &line, &room).code, FOLD_OK);
  cr_expect(line.factor[0] == x && room == NULL);
  static const struct {
    ptrdiff_t step;
    float want[3];
  } rows[] = {{2, {1, 3, 5}}, {0, {1, 1, 1}}};
  for (size_t i = 0; i < 2; i++) {
    terms.step[0] = rows[i].step;
    cr_assert_eq(fold_terms_line(&terms, &line, &room).code, FOLD_OK);
    cr_expect(line.step[0] == 1 && memcmp(line.factor[0], rows[i].want, sizeof rows[i].want) == 0, "step %td",
              rows[i].step);
    free(room);
  }
}

/* An .npy holds the inputs one after the other; a vector has one row. */
Test(problem, rows_are_shared_among_the_inputs) {
  static const struct {
    enum fold_problem_id problem;
    size_t given, each;
    enum fold_code code;
  } rows[] = {{FOLD_ROWS_SUM, 5, 5, FOLD_OK}, {FOLD_DOT, 6, 3, FOLD_OK},    {FOLD_DOT, 5, 0, FOLD_BAD_INPUT},
              {FOLD_MATVEC, 6, 5, FOLD_OK},   {FOLD_MATVEC, 1, 0, FOLD_OK}, {FOLD_MATVEC, 0, 0, FOLD_BAD_INPUT}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    size_t each = 99;
    const fold_status status = fold_problem_share_rows(fold_problem(rows[i].problem), rows[i].given, &each);
    cr_expect_eq(status.code, rows[i].code, "row %zu: %s", i, status.text);
    if (rows[i].code == FOLD_OK) cr_expect_eq(each, rows[i].each, "row %zu: %zu", i, each);
  }
}

Test(problem, a_term_of_asum_is_the_magnitude_of_its_element) {
  const float x[4] = {1, -2, -4, 8}, want[2] = {3, 12};
  const struct fold_call call = {
      .dtype = FOLD_F32, .problem = fold_problem(FOLD_ASUM), .rows = 2, .cols = 2, .in = {x}};
  for (size_t r = 0; r < 2; r++) {
    const struct fold_terms terms = fold_call_terms(&call, r);
    cr_expect_eq(add(&terms), want[r]);
  }
  cr_expect(!fold_terms_are_elements(fold_problem(FOLD_ASUM)) && !fold_terms_are_elements(fold_problem(FOLD_SUMSQ)));
  cr_expect(fold_terms_are_elements(fold_problem(FOLD_DOT)) && !fold_terms_are_elements(fold_problem(FOLD_SCAN)));
}

/* Where keys say which terms a result has, these are gathered, in rising place; a slot may have none. */
Test(problem, a_result_of_a_keyed_sum_has_the_terms_of_its_key) {
  enum { M3 = 4, N2 = 2, K6 = 6 };
  const float x[K6 * N2] = {1, 100, 2, 200, 4, 400, 8, 800, 16, 1600, 32, 3200};
  const uint32_t keys[K6] = {3, 0, 3, 2, 0, 3}, wrong[K6] = {3, 0, 4, 2, 0, 3};
  const float want[M3 * N2] = {18, 1800, 0, 0, 8, 800, 37, 3700};
  const size_t terms_of[M3] = {2, 0, 1, 3};
  struct fold_call call = {.dtype = FOLD_F32, .problem = fold_problem(FOLD_KEYED), .shape = {.at = {1, M3, N2, K6}}};
  struct fold_call sorted;
  struct fold_slots slots;
  call.in[0] = x;
  call.in[1] = keys;
  cr_assert_eq(fold_call_sorted(&call, &slots, &sorted).code, FOLD_OK);
  cr_expect_eq(fold_results(call.problem, &call.shape), M3 * N2);
  cr_expect_eq(fold_all_terms(call.problem, &call.shape), K6 * N2);
  for (size_t r = 0; r < M3 * N2; r++) {
    const struct fold_terms terms = fold_call_terms(&sorted, r);
    cr_expect_eq(terms.n, terms_of[r / N2], "result %zu", r);
    cr_expect_eq(terms.n, fold_terms_in(&sorted, r));
    cr_expect_eq(add(&terms), want[r], "result %zu", r);
  }
  for (size_t e = 0; e < K6 * N2; e++)
    cr_expect_eq(fold_first_result_of(call.problem, &call.shape, 0, e, keys), keys[e / N2] * N2 + e % N2, "%zu", e);
  fold_slots_free(&slots);
  call.in[1] = wrong;
  const fold_status status = fold_call_sorted(&call, &slots, &sorted);
  cr_expect(status.code == FOLD_BAD_INPUT && strstr(status.text, "key 2 is 4, and there are 4 slots"), "%s",
            status.text);
}
