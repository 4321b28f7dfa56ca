/* test_fixture_write.c: a case that is written as a section of a fixture file and read again is the same input, to the bit. */
#include <criterion/criterion.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "cleanup.h"
#include "fixtures/fixture.h"
#include "fixtures/literal.h"
#include "fixtures/npy.h"
#include "fixtures/write.h"
#include "sample.h"
#include "scratch.h"

enum { TRIALS = 800 };

static size_t draw(uint64_t trial, uint64_t what, size_t below) { return (size_t)(sample_bits(trial, what) % below); }

static const struct fold_generator *draw_generator(uint64_t trial, enum fold_dtype dtype) {
  size_t n;
  const struct fold_generator *all = fold_generators(&n), *g;
  uint64_t what = 100;
  do g = &all[draw(trial, what++, n)];
  while (!(g->dtypes >> dtype & 1));
  return g;
}

/* A case of any problem and dtype; one in eight has no elements in some input. */
static struct fold_case draw_case(uint64_t trial) {
  struct fold_case c = {.dtype = (enum fold_dtype)draw(trial, 0, FOLD_DTYPES),
                        .problem = fold_problem((enum fold_problem_id)draw(trial, 1, FOLD_PROBLEMS)),
                        .keys = (enum fold_key_pattern)draw(trial, 2, FOLD_KEY_PATTERNS),
                        .set = draw(trial, 3, 4) ? FOLD_SET_DEFAULT : FOLD_SET_LARGE};
  const bool sides = fold_has_axis(c.problem, c.problem->inputs, FOLD_N), empty = draw(trial, 4, 8) == 0;
  const size_t least = empty ? 0 : 1;
  c.shape = (struct fold_shape){.at = {1, least + draw(trial, 5, 5), 1, least + draw(trial, 6, 40)}};
  if (sides) c.shape.n = least + draw(trial, 7, 5);
  if (fold_has_axis(c.problem, c.problem->inputs, FOLD_B)) c.shape.b = least + draw(trial, 8, 3);
  if (c.problem->reach == FOLD_BY_KEY && c.shape.m == 0) c.shape.m = 1;
  const size_t laid = draw(trial, 9, 4);
  if (laid == 0) {
    c.layout = (struct fold_case_layout){true, 0, draw(trial, 10, 3)};
    for (unsigned k = 0; k < c.problem->inputs; k++)
      if (c.problem->n_axes[k] > 1) c.layout.transposed |= (unsigned)draw(trial, 11 + k, 2) << k;
  }
  if (laid == 1 && c.problem->factors == 1 && !sides) c.ranks = (unsigned)(1 + draw(trial, 13, 9));
  c.source = (struct fold_source){draw_generator(trial, c.dtype), c.dtype, sample_bits(trial, 14), c.cols, 0};
  c.name = (char *)"drawn";
  c.claims = draw(trial, 15, 3)
                 ? NULL
                 : (char *)"bounded,run_to_run,*_invariant,same_bits_as,a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q";
  return c;
}

static void expect_same_inputs(const struct fold_case *want, const struct fold_case *got) {
  for (unsigned k = 0; k < want->problem->inputs; k++) {
    const size_t n = fold_case_bytes(want, k);
    unsigned char *a = malloc(n + 1), *b = malloc(n + 1);
    cr_assert(a && b && fold_case_bytes(got, k) == n);
    cr_assert_eq(fold_case_fill(want, k, a, 1).code, FOLD_OK);
    cr_assert_eq(fold_case_fill(got, k, b, 1).code, FOLD_OK);
    cr_expect(memcmp(a, b, n) == 0, "%s: input %u", got->name, k);
    free(a), free(b);
  }
}

static bool same_text(const char *a, const char *b) { return a && b ? strcmp(a, b) == 0 : !a && !b; }

static void expect_same(const struct fold_case *want, const struct fold_case *got) {
  cr_assert(got->dtype == want->dtype && got->problem == want->problem, "%s", got->name);
  cr_assert(memcmp(&got->shape, &want->shape, sizeof got->shape) == 0, "%s", got->name);
  cr_expect(got->ranks == want->ranks && got->set == want->set, "%s: %u ranks, set %d", got->name, got->ranks,
            got->set);
  cr_expect(got->layout.given == want->layout.given && got->layout.transposed == want->layout.transposed &&
                got->layout.gap == want->layout.gap,
            "%s: %u +%zu", got->name, want->layout.transposed, want->layout.gap);
  cr_expect(same_text(got->claims, want->claims), "%s: %s", got->name, got->claims);
  cr_expect(same_text(got->expect, want->expect), "%s: %s", got->name, got->expect);
  if (fold_case_factors(want) > 0) expect_same_inputs(want, got);
}

/* Writes the cases to one file, each in a section of its own, and reads them. */
static void write_and_read(struct scratch *s, const struct fold_case *cases, size_t n, struct fold_cases *got) {
  FILE *out = fopen(scratch_path(s, "w.ini"), "wb");
  cr_assert_not_null(out);
  for (size_t i = 0; i < n; i++) {
    char section[40];
    snprintf(section, sizeof section, "w-%zu", i);
    const fold_status status = fold_case_write(out, &cases[i], section, "drawn ; by\n[chance]", "this test");
    cr_assert_eq(status.code, FOLD_OK, "%s", status.text);
  }
  cr_assert_eq(fclose(out), 0);
  const fold_status status = fold_cases_load_file(scratch_path(s, "w.ini"), got);
  cr_assert_eq(status.code, FOLD_OK, "%s", status.text);
  cr_assert_eq(got->n, n, "%zu cases of %zu", got->n, n);
}

Test(fixture_write, a_case_of_any_kind_reads_back_as_the_same_input) {
  SCRATCH(s);
  static struct fold_case cases[TRIALS];
  CASES(got) = {0};
  size_t generated = 0, problems = 0, dtypes = 0;
  for (size_t i = 0; i < TRIALS; i++) {
    cases[i] = draw_case(i);
    problems |= (size_t)1 << cases[i].problem->id, dtypes |= (size_t)1 << cases[i].dtype;
  }
  write_and_read(&s, cases, TRIALS, &got);
  for (size_t i = 0; i < TRIALS; i++) {
    expect_same(&cases[i], &got.at[i]);
    generated += got.at[i].source.generator != NULL;
    cr_expect_eq(got.at[i].literal == NULL, fold_case_factors(&cases[i]) == 0, "%s", got.at[i].name);
  }
  cr_expect(problems == (1u << FOLD_PROBLEMS) - 1 && dtypes == (1u << FOLD_DTYPES) - 1 && generated > 0);
}

/* And what was read, written again, is the same text. */
Test(fixture_write, a_case_that_was_read_is_written_as_it_was) {
  static const char text[] =
      "[w-0]\nabout = drawn , by (chance]\nprovenance = this test\ndtype = f64\nop = matmul\nm = 1\nn = "
      "1\nk = 2\n"
      "layout = nt\nlda = +3\nrepeats = 250\nclaims = bounded, run_to_run\nexpect_sum = 0x1.8p-1\nvalues = 1, -0, 0x1.8p-1, "
      "0x0.0000000000001p-1022\n"
      "[w-1]\nabout = drawn , by (chance]\nprovenance = this test\ndtype = i64\nop = keyed\nm = 3\nn = 1\nk = 2\n"
      "set = guests\nvalues = -9223372036854775808, 9223372036854775807\nslots = 2, 0\n"
      "[w-2]\nabout = drawn , by (chance]\nprovenance = this test\ndtype = e4m3\nop = sum\nrows = 2\ncols = 2\nranks = "
      "2\n"
      "bits = 0x7f, 0x80, 0xff, 0x01\n"
      "[w-3]\nabout = drawn , by (chance]\nabout = this test\ndtype = f32\nop = keyed\nm = 3\nn = 60000\nk = 3\n"
      "generator = mixture\nseed = 0xfedcba9876543210\nkeys = hot\n"
      "[w-4]\nabout = drawn , by (chance]\nabout = this test\ndtype = f32\nop = sum\nrows = 1\ncols = 131073\n"
      "generator = ill_conditioned\nseed = 0x1\ncondition = 12345.5\n"
      "[w-5]\nabout = drawn , by (chance]\nprovenance = this test\ndtype = f16\nop = max\nrows = 1\ncols = 1\n"
      "bits = 0x7c00\n"
      "[w-6]\nabout = drawn , by (chance]\nprovenance = this test\ndtype = f32\nop = sum\nrows = 3\ncols = 100\n"
      "values = 0*150, 1, 1, 1, -0*4, 0*143\n"
      "[w-7]\nabout = drawn , by (chance]\nprovenance = this test\ndtype = i32\nop = sum\nrows = 1\ncols = 9\n"
      "values = -7*9\n"
      "[w-8]\nabout = drawn , by (chance]\nprovenance = this test\ndtype = f16\nop = sum\nrows = 1\ncols = 9\n"
      "bits = 0x7e01*4, 0x0001*5\n";
  static char again[4096];
  SCRATCH(s);
  struct fold_cases first = {0}, second = {0};
  cr_assert_not_null(scratch_write(&s, "a.ini", text, sizeof text - 1));
  const fold_status status = fold_cases_load_file(scratch_path(&s, "a.ini"), &first);
  cr_assert(status.code == FOLD_OK && first.n == 9, "%s", status.text);
  write_and_read(&s, first.at, first.n, &second);
  FILE *file = fopen(scratch_path(&s, "w.ini"), "rb");
  const size_t n = file ? fread(again, 1, sizeof again - 1, file) : 0;
  again[n] = '\0';
  cr_assert(file && fclose(file) == 0);
  cr_expect_str_eq(again, text);
  for (size_t i = 0; i < first.n; i++) expect_same(&first.at[i], &second.at[i]);
  fold_cases_free(&first);
  fold_cases_free(&second);
}

/* At the limit as values, above it by the generator. */
Test(fixture_write, many_generated_elements_are_written_as_their_generator) {
  SCRATCH(s);
  struct fold_case cases[2] = {draw_case(1), draw_case(1)};
  CASES(got) = {0};
  for (size_t i = 0; i < 2; i++) {
    cases[i].dtype = FOLD_F32, cases[i].problem = fold_problem(FOLD_ROWS_SUM);
    cases[i].layout = (struct fold_case_layout){0};
    cases[i].shape = (struct fold_shape){.at = {1, 1, 1, FOLD_WRITE_MOST + i}};
    cases[i].source = (struct fold_source){fold_generator_find("full_range"), FOLD_F32, UINT64_MAX, cases[i].cols, 0};
  }
  write_and_read(&s, cases, 2, &got);
  cr_expect(got.at[0].literal && !got.at[1].literal && got.at[1].source.seed == UINT64_MAX);
  for (size_t i = 0; i < 2; i++) expect_same(&cases[i], &got.at[i]);
}

/* Data of a file become values. */
static fold_status fill_some(void *context, uint64_t first, size_t n, void *out) {
  (void)context;
  for (size_t i = 0; i < n; i++) fold_bits_store(FOLD_F32, out, i, fold_f32_bits(1.f / (float)(first + i)));
  return fold_ok();
}

Test(fixture_write, an_array_is_written_as_values_or_refused) {
  SCRATCH(s);
  struct fold_cases cases = {0}, got = {0};
  cr_assert_eq(fold_npy_write(scratch_path(&s, "x.npy"), FOLD_F32, 3, 4, false, fill_some, NULL).code, FOLD_OK);
  cr_assert_eq(fold_npy_write(scratch_path(&s, "y.npy"), FOLD_F32, 1, FOLD_WRITE_MOST + 1, false, fill_some, NULL).code, FOLD_OK);
  for (size_t i = 0; i < 2; i++) {
    const char *path = scratch_path(&s, i ? "y.npy" : "x.npy");
    cr_assert_eq(fold_cases_add_npy(path, fold_problem(FOLD_ROWS_SUM), 0, &cases).code, FOLD_OK);
  }
  write_and_read(&s, cases.at, 1, &got);
  expect_same(&cases.at[0], &got.at[0]);
  const fold_status status = fold_case_write(stderr, &cases.at[1], "a", NULL, NULL);
  cr_expect(status.code == FOLD_BAD_INPUT && strstr(status.text, "131073 elements"), "%s", status.text);
  fold_cases_free(&cases);
  fold_cases_free(&got);
}

/* Whatever stands in the texts, the rest is read as it was meant. */
Test(fixture_write, no_text_breaks_a_section) {
  static const char *const texts[] = {
      "",
      " ",
      "# all",
      "a ;b ; c",
      "[x]\n[y]\n",
      "dtype = f64",
      "a\r\n\tn = 7",
      "\x01\x7f",
      "w [1] #2 ;3 w [1] #2 ;3 w [1] #2 ;3 w [1] #2 ;3 w [1] #2 ;3 w [1] #2 ;3 w [1] #2"};
  char long_text[900];
  memset(long_text, '#', sizeof long_text);
  long_text[sizeof long_text - 1] = '\0';
  SCRATCH(s);
  for (size_t i = 0; i <= sizeof texts / sizeof *texts; i++) {
    const char *text = i < sizeof texts / sizeof *texts ? texts[i] : long_text;
    CASES(got) = {0};
    const struct fold_case c = draw_case(7);
    FILE *out = fopen(scratch_path(&s, "w.ini"), "wb");
    cr_assert(out && fold_case_write(out, &c, "a", text, text).code == FOLD_OK && fclose(out) == 0);
    const fold_status status = fold_cases_load_file(scratch_path(&s, "w.ini"), &got);
    cr_assert(status.code == FOLD_OK && got.n == 1, "'%s': %s", text, status.text);
    expect_same(&c, &got.at[0]);
  }
}

Test(fixture_write, what_names_no_section_is_refused) {
  static const char *const names[] = {"",    "a b",      "a]",
                                      "a/b", "\xc3\xa4", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"};
  const struct fold_case c = draw_case(7);
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    const fold_status status = fold_case_write(stderr, &c, names[i], NULL, NULL);
    cr_expect(status.code == FOLD_BAD_INPUT && strstr(status.text, "is no name of a section"), "%s", names[i]);
  }
}
