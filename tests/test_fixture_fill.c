/* test_fixture_fill.c: a case's input is what its file says, to the bit, or it is refused. */
#include <criterion/criterion.h>

#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "cleanup.h"
#include "fixtures/fixture.h"
#include "fixtures/npy.h"
#include "scratch.h"

static fold_status load_text(struct scratch *s, const char *text, struct fold_cases *cases) {
  return fold_cases_load_file(scratch_write(s, "a.ini", text, strlen(text)), cases);
}

#define NORMAL "[a]\ngenerator = normal\n"
#define GIVEN "[a]\nprovenance = here\n"

Test(fixture_fill, a_generated_case_is_filled_by_its_generator) {
  SCRATCH(s);
  CASES(cases) = {0};
  fold_status status = load_text(&s, NORMAL "dtype = all\nrows = 3\ncols = 701\nseed = 1, 9\n", &cases);
  cr_assert(status.code == FOLD_OK && cases.n == 8, "%s", status.text);
  for (size_t i = 0; i < cases.n; i++) {
    const struct fold_case *c = &cases.at[i];
    double got[3 * 701], want[3 * 701], other[3 * 701];
    size_t nbytes = 3 * 701 * fold_dtype_size(c->dtype);
    struct fold_source source = {fold_generator_find("normal"), c->dtype, i % 2 ? 9 : 1, 701, 0};
    fold_generate(&source, 0, 3 * 701, want);
    source.seed += 1;
    fold_generate(&source, 0, 3 * 701, other);
    status = fold_case_fill(c, 0, got, 2);
    cr_expect(status.code == FOLD_OK && memcmp(got, want, nbytes) == 0, "%s %s", c->name, status.text);
    cr_expect(memcmp(got, other, nbytes) != 0, "%s: the seed changes nothing", c->name);
  }
}

Test(fixture_fill, a_literal_case_is_filled_to_the_bit) {
  static const char text[] = GIVEN "values = 1.5, -0, 0x1p-14, inf, -inf, nan, -1e2\ndtype = all\nexpect_sum = nan\n";
  static const uint64_t want[FOLD_E4M3][7] = {
      {0x3e00, 0x8000, 0x0400, 0x7c00, 0xfc00, 0x7e00, 0xd640},
      {0x3fc0, 0x8000, 0x3880, 0x7f80, 0xff80, 0x7fc0, 0xc2c8},
      {0x3fc00000, 0x80000000, 0x38800000, 0x7f800000, 0xff800000, 0x7fc00000, 0xc2c80000},
      {0x3ff8000000000000, 0x8000000000000000, 0x3f10000000000000, 0x7ff0000000000000, 0xfff0000000000000,
       0x7ff8000000000000, 0xc059000000000000},
  };
  SCRATCH(s);
  CASES(cases) = {0};
  fold_status status = load_text(&s, text, &cases);
  cr_assert(status.code == FOLD_OK && cases.n == FOLD_E4M3, "%s", status.text);
  for (size_t i = 0; i < cases.n; i++) {
    uint64_t got[7];
    const struct fold_case *c = &cases.at[i];
    cr_assert(c->rows == 1 && c->cols == 7 && fold_case_fill(c, 0, got, 1).code == FOLD_OK);
    for (size_t k = 0; k < 7; k++)
      cr_expect(fold_bits_load(c->dtype, got, k) == want[c->dtype][k], "%s: value %zu is %llx", c->name, k,
                (unsigned long long)fold_bits_load(c->dtype, got, k));
    cr_expect(strcmp(c->provenance, "here") == 0 && strcmp(c->expect, "nan") == 0, "%s", c->name);
  }
}

Test(fixture_fill, values_are_repeated_as_a_row) {
  static const char text[] = GIVEN
      "dtype = f32\nvalues = 1, -2, 4\ntimes = 3\nexpect_sum = 9\n"
      "[b]\nprovenance = here\ndtype = f32\nbits = 0x3f800000, 0xc0000000, 0x40800000\ntimes = 3\n";
  SCRATCH(s);
  CASES(cases) = {0};
  fold_status status = load_text(&s, text, &cases);
  cr_assert(status.code == FOLD_OK && cases.n == 2, "%s", status.text);
  for (size_t i = 0; i < 2; i++) {
    const float want[9] = {1, -2, 4, 1, -2, 4, 1, -2, 4};
    float got[9] = {0};
    cr_assert(cases.at[i].rows == 1 && cases.at[i].cols == 9 &&
              fold_case_fill(&cases.at[i], 0, got, 1).code == FOLD_OK);
    cr_expect(memcmp(got, want, sizeof want) == 0, "%s", cases.at[i].name);
  }
}

/* A NaN that signals, a NaN's payload, the smallest subnormal: no spelling of a number gives them. */
Test(fixture_fill, bits_are_filled_as_they_stand) {
  static const char text[] = GIVEN
      "dtype = f16, bf16\nbits = 0x3c00, 0x7C01, 0xffff, 0x0001, 0x8000\n"
      "[b]\nprovenance = here\ndtype = f32\nbits = 0X7f800001, 0x3f800000, 0xffc12345, 0x00000001, 0x80000000\n"
      "[c]\nprovenance = here\ndtype = f64\nbits = 0x7ff0000000000001, 0x3ff0000000000000, 0xfff8000000012345,\n"
      " 0x0000000000000001, 0x8000000000000000\n"
      "[d]\nprovenance = here\ndtype = f32\nbits = 0x3f800000, 0x3f800000\nexpect_sum = 2\n";
  static const uint64_t want[3][5] = {
      {0x3c00, 0x7c01, 0xffff, 0x0001, 0x8000},
      {0x7f800001, 0x3f800000, 0xffc12345, 1, 0x80000000},
      {0x7ff0000000000001, 0x3ff0000000000000, 0xfff8000000012345, 1, 0x8000000000000000},
  };
  SCRATCH(s);
  CASES(cases) = {0};
  fold_status status = load_text(&s, text, &cases);
  cr_assert(status.code == FOLD_OK && cases.n == 5, "%s", status.text);
  for (size_t i = 0; i < 4; i++) {
    uint64_t got[5];
    const struct fold_case *c = &cases.at[i];
    cr_assert(c->rows == 1 && c->cols == 5 && fold_case_fill(c, 0, got, 1).code == FOLD_OK);
    for (size_t k = 0; k < 5; k++)
      cr_expect_eq(fold_bits_load(c->dtype, got, k), want[i < 2 ? 0 : i - 1][k], "%s: pattern %zu is %llx", c->name, k,
                   (unsigned long long)fold_bits_load(c->dtype, got, k));
  }
}

static fold_status fill_count(void *context, uint64_t first, size_t n, void *out) {
  (void)context;
  for (size_t i = 0; i < n; i++) ((float *)out)[i] = (float)(first + i);
  return fold_ok();
}

/* A path in a fixture file is its folder's, wherever the user stands; one from the root is itself. */
Test(fixture_fill, a_path_is_relative_to_the_fixture_file) {
  struct scratch s, elsewhere;
  CASES(cases) = {0};
  char text[600];
  cr_assert(scratch_open(&s) && scratch_open(&elsewhere));
  cr_assert(fold_npy_write(scratch_path(&s, "x.npy"), FOLD_F32, 3, 4, false, fill_count, NULL).code == FOLD_OK);
  fold_status status = load_text(&s, GIVEN "npy = x.npy\n", &cases);
  cr_expect(status.code == FOLD_OK && cases.n == 1, "in a folder: %s", status.text);
  snprintf(text, sizeof text, "[b]\nprovenance = here\nnpy = %s\n", scratch_path(&s, "x.npy"));
  scratch_write(&elsewhere, "a.ini", text, strlen(text));
  status = fold_cases_load_file(scratch_path(&elsewhere, "a.ini"), &cases);
  cr_expect(status.code == FOLD_OK && cases.n == 2, "from the root: %s", status.text);
  cr_assert_eq(chdir(s.folder), 0);
  scratch_write(&s, "c.ini", "[c]\nprovenance = here\nnpy = x.npy\n", strlen("[c]\nprovenance = here\nnpy = x.npy\n"));
  status = fold_cases_load_file("c.ini", &cases);
  cr_expect(status.code == FOLD_OK && cases.n == 3, "without a folder: %s", status.text);
  cr_assert_eq(chdir("/"), 0);
  scratch_close(&s);
  scratch_close(&elsewhere);
}

Test(fixture_fill, a_npy_case_is_its_file_or_refused) {
  SCRATCH(s);
  struct fold_cases cases = {0};
  float got[12];
  cr_assert(fold_npy_write(scratch_path(&s, "x.npy"), FOLD_F32, 3, 4, false, fill_count, NULL).code == FOLD_OK);
  fold_status status = load_text(&s, GIVEN "npy = x.npy\nop = max\n", &cases);
  cr_assert(status.code == FOLD_OK && cases.n == 1, "%s", status.text);
  cr_assert(fold_cases_add_npy(scratch_path(&s, "x.npy"), fold_problem(FOLD_ROWS_SUM), 0, &cases).code == FOLD_OK &&
            cases.n == 2);
  cr_expect(strcmp(cases.at[0].name, "a/f32/max/3x4") == 0, "%s", cases.at[0].name);
  cr_expect(strncmp(cases.at[1].file, "npy:/tmp/", 9) == 0, "%s", cases.at[1].file);
  cr_expect(strstr(cases.at[1].name, "x.npy/f32/sum/3x4") && cases.at[1].ranks == 0, "%s", cases.at[1].name);
  cr_expect(strlen(strstr(cases.at[1].name, "x.npy/f32/sum/3x4")) == strlen("x.npy/f32/sum/3x4"), "no ranks: %s",
            cases.at[1].name);
  cr_assert_eq(fold_cases_add_npy(scratch_path(&s, "x.npy"), fold_problem(FOLD_ROWS_SUM), 12, &cases).code, FOLD_OK);
  cr_expect(cases.n == 3 && cases.at[2].ranks == 12 && strstr(cases.at[2].name, "x.npy/f32/sum/3x4/ranks12"), "%s",
            cases.at[2].name);
  status = fold_cases_add_npy(scratch_path(&s, "x.npy"), fold_problem(FOLD_ROWS_SUM), 0, &cases);
  cr_expect(status.code == FOLD_BAD_INPUT && strstr(status.text, "is there already"), "%s", status.text);
  for (size_t i = 0; i < 2; i++) {
    memset(got, 0xa5, sizeof got);
    status = fold_case_fill(&cases.at[i], 0, got, 1);
    cr_expect(status.code == FOLD_OK, "%s", status.text);
    for (size_t k = 0; k < 12; k++) cr_expect(got[k] == (float)k, "%zu is %g", k, (double)got[k]);
  }
  static const size_t shapes[][2] = {{4, 3}, {2, 4}, {3, 2}};
  for (size_t i = 0; i < 3; i++) {
    const char *path = scratch_path(&s, "x.npy");
    cr_assert(fold_npy_write(path, FOLD_F32, shapes[i][0], shapes[i][1], false, fill_count, NULL).code == FOLD_OK);
    status = fold_case_fill(&cases.at[0], 0, got, 1);
    cr_expect(status.code == FOLD_BAD_INPUT && strstr(status.text, "a.ini:1: ") && strstr(status.text, "changed"),
              "now %zu x %zu: %s", shapes[i][0], shapes[i][1], status.text);
  }
  unlink(scratch_path(&s, "x.npy"));
  status = fold_case_fill(&cases.at[0], 0, got, 1);
  cr_expect(status.code == FOLD_BAD_INPUT && strstr(status.text, "x.npy") && strstr(status.text, "No such file"), "%s",
            status.text);
  fold_cases_free(&cases);
  status = load_text(&s, GIVEN "dtype = f32\nnpy = x.npy\n", &cases);
  cr_expect(status.code == FOLD_BAD_INPUT && strstr(status.text, "a.ini:4: npy: "), "%s", status.text);
}

/* All elements of all inputs, one input after the other; a keyed sum's keys behind the values. */
Test(fixture_fill, values_of_a_given_shape_are_those_of_all_inputs) {
  static const struct {
    const char *text;
    size_t elements[2];
  } shapes[] = {{"op = sum\nrows = 2\ncols = 3\n", {6, 0}},
                {"op = dot\nrows = 2\ncols = 2\n", {4, 4}},
                {"op = matvec\nrows = 2\ncols = 3\n", {6, 3}},
                {"op = exclusive_scan\nrows = 2\ncols = 3\n", {6, 0}},
                {"op = matmul\nm = 2\nn = 1\nk = 3\n", {6, 3}},
                {"op = matmul\nbatch = 2\nm = 1\nn = 3\nk = 1\nlayout = nt\nlda = +1\n", {2, 6}},
                {"op = keyed\nm = 5\nn = 2\nk = 3\nslots = 4, 0, 3\n", {6, 3}}};
  SCRATCH(s);
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
    char text[400];
    CASES(cases) = {0};
    const bool keyed = strstr(shapes[i].text, "slots");
    const size_t all = shapes[i].elements[0] + (keyed ? 0 : shapes[i].elements[1]);
    int used = snprintf(text, sizeof text, GIVEN "dtype = f32\n%svalues = 1", shapes[i].text);
    for (size_t k = 2; k <= all; k++) used += snprintf(text + used, sizeof text - (size_t)used, ", %zu", k);
    const fold_status status = load_text(&s, text, &cases);
    cr_assert(status.code == FOLD_OK && cases.n == 1, "%s: %s", shapes[i].text, status.text);
    float got[2][6] = {{0}};
    uint32_t keys[3] = {0};
    for (unsigned k = 0; k < cases.at[0].problem->inputs; k++) {
      cr_assert_eq(fold_case_elements(&cases.at[0], k), shapes[i].elements[k], "%s", cases.at[0].name);
      cr_assert_eq(fold_case_fill(&cases.at[0], k, k == 1 && keyed ? (void *)keys : got[k], 1).code, FOLD_OK);
    }
    for (size_t k = 0; k < all; k++) {
      const size_t first = shapes[i].elements[0];
      const float here = k < first ? got[0][k] : got[1][k - first];
      cr_expect(here == (float)(k + 1), "%s: value %zu is %g", cases.at[0].name, k, (double)here);
    }
    cr_expect(!keyed || (keys[0] == 4 && keys[1] == 0 && keys[2] == 3), "%u %u %u", keys[0], keys[1], keys[2]);
  }
}

/* Two inputs: of given values the first half is the first input's. */
Test(fixture_fill, each_input_of_a_dot_product_is_filled) {
  SCRATCH(s);
  struct fold_cases cases = {0};
  fold_status status = load_text(&s, NORMAL "dtype = f32\nrows = 3\ncols = 5\nop = dot, sum\n", &cases);
  cr_assert(status.code == FOLD_OK && cases.n == 2, "%s", status.text);
  const struct fold_case *sum = &cases.at[0], *dot = &cases.at[1];
  float x[15], y[15], want[15];
  cr_expect_str_eq(dot->name, "a/f32/dot/3x5/seed1");
  cr_expect(fold_case_elements(dot, 0) == 15 && fold_case_elements(dot, 1) == 15 && fold_case_all_elements(dot) == 30);
  cr_expect(fold_case_elements(sum, 1) == 0 && fold_case_all_elements(sum) == 15);
  cr_assert(fold_case_fill(sum, 0, want, 1).code == FOLD_OK && fold_case_fill(dot, 0, x, 1).code == FOLD_OK &&
            fold_case_fill(dot, 1, y, 1).code == FOLD_OK);
  cr_expect_arr_eq(x, want, sizeof want, "the first input is the one that a sum has");
  for (size_t i = 0; i < 15; i++) cr_expect_neq(x[i], y[i], "element %zu", i);
  fold_cases_free(&cases);
  status = load_text(&s, GIVEN "values = 1, 2, 3, 4, 5, 6\ndtype = f64\nop = dot\n", &cases);
  cr_assert(status.code == FOLD_OK && cases.n == 1 && cases.at[0].rows == 1 && cases.at[0].cols == 3, "%s",
            status.text);
  double got[2][3];
  for (unsigned k = 0; k < 2; k++) cr_assert_eq(fold_case_fill(&cases.at[0], k, got[k], 1).code, FOLD_OK);
  for (int i = 0; i < 3; i++) cr_expect(got[0][i] == i + 1 && got[1][i] == i + 4);
  fold_cases_free(&cases);
  status = load_text(&s, GIVEN "values = 1, 2, 3\ndtype = f64\nop = dot\n", &cases);
  cr_expect(status.code == FOLD_BAD_INPUT && strstr(status.text, "2 inputs"), "%s", status.text);
  fold_cases_free(&cases);
  status = load_text(&s, NORMAL "dtype = f32\nn = 4\nranks = 2\nop = dot\n", &cases);
  cr_expect(status.code == FOLD_BAD_INPUT && strstr(status.text, "ranks"), "%s", status.text);
  fold_cases_free(&cases);
  status = load_text(&s, NORMAL "dtype = f32\nn = 4\nop = dit\n", &cases);
  cr_expect(status.code == FOLD_BAD_INPUT && strstr(status.text, "dot, sumsq"), "%s", status.text);
  fold_cases_free(&cases);
}

Test(fixture_fill, the_rows_of_an_array_are_shared_among_inputs) {
  SCRATCH(s);
  const char *path = scratch_path(&s, "xy.npy");
  struct fold_cases cases = {0};
  float got[2][6];
  cr_assert_eq(fold_npy_write(path, FOLD_F32, 4, 3, false, fill_count, NULL).code, FOLD_OK);
  fold_status status = fold_cases_add_npy(path, fold_problem(FOLD_DOT), 0, &cases);
  cr_assert(status.code == FOLD_OK && cases.at[0].rows == 2 && cases.at[0].cols == 3, "%s", status.text);
  for (unsigned k = 0; k < 2; k++) cr_assert_eq(fold_case_fill(&cases.at[0], k, got[k], 1).code, FOLD_OK);
  for (int i = 0; i < 6; i++) cr_expect(got[0][i] == (float)i && got[1][i] == (float)(6 + i));
  cr_assert_eq(fold_npy_write(path, FOLD_F32, 3, 3, false, fill_count, NULL).code, FOLD_OK);
  cr_expect_eq(fold_case_fill(&cases.at[0], 1, got[1], 1).code, FOLD_BAD_INPUT);
  fold_cases_free(&cases);
  cr_expect_eq(fold_cases_add_npy(path, fold_problem(FOLD_DOT), 0, &cases).code, FOLD_BAD_INPUT);
  fold_cases_free(&cases);
}

/* Keys that count up from *context. */
static fold_status fill_keys(void *context, uint64_t first, size_t n, void *out) {
  for (size_t i = 0; i < n; i++) fold_bits_store(FOLD_I64, out, i, (uint64_t) * (const int *)context + first + i);
  return fold_ok();
}

static void expect_changed(const struct fold_case *c, unsigned input, const char *words) {
  float got[8];
  const fold_status status = fold_case_fill(c, input, got, 1);
  cr_expect(status.code == FOLD_BAD_INPUT && strstr(status.text, words), "input %u: %s", input, status.text);
}

/* A file for each input, of the axes that it has. What changed behind a case's back is not read: keys that are no slot would have a
 * run write anywhere. */
Test(fixture_fill, a_file_for_each_input_is_read_as_it_was_when_the_case_was_made) {
  SCRATCH(s);
  char list[1200], wanted[1300];
  const char *values = strdup(scratch_path(&s, "v.npy")), *keys = strdup(scratch_path(&s, "k.npy"));
  CASES(cases) = {0};
  float got[8];
  uint32_t slots[4];
  int begin = 1;
  cr_assert(fold_npy_write(values, FOLD_F32, 4, 2, false, fill_count, NULL).code == FOLD_OK &&
            fold_npy_write(keys, FOLD_I64, 1, 4, true, fill_keys, &begin).code == FOLD_OK);
  snprintf(list, sizeof list, "%s,%s", values, keys);
  const fold_status status = fold_cases_add_npy(list, fold_problem(FOLD_KEYED), 0, &cases);
  cr_assert_eq(status.code, FOLD_OK, "%s", status.text);
  const struct fold_case *c = &cases.at[0];
  snprintf(wanted, sizeof wanted, "npy:%s/f32/keyed/5x2x4", list);
  cr_expect_str_eq(c->name, wanted);
  cr_assert(fold_case_fill(c, 0, got, 1).code == FOLD_OK && fold_case_fill(c, 1, slots, 1).code == FOLD_OK);
  for (unsigned i = 0; i < 8; i++) cr_expect(got[i] == (float)i && (i >= 4 || slots[i] == i + 1), "%u", i);
  begin = 2;
  cr_assert_eq(fold_npy_write(keys, FOLD_I64, 1, 4, true, fill_keys, &begin).code, FOLD_OK);
  expect_changed(c, 1, "k.npy: key 3 is 5, and there are 5 slots");
  begin = -1;
  cr_assert_eq(fold_npy_write(keys, FOLD_I64, 1, 4, true, fill_keys, &begin).code, FOLD_OK);
  expect_changed(c, 1, "k.npy: key 0 is -1, and there are 5 slots");
  cr_assert_eq(fold_npy_write(keys, FOLD_I64, 1, 3, true, fill_keys, &begin).code, FOLD_OK);
  expect_changed(c, 1, "k.npy: it changed since the case was made");
  cr_assert_eq(fold_npy_write(keys, FOLD_F32, 1, 4, true, fill_count, NULL).code, FOLD_OK);
  expect_changed(c, 1, "k.npy: it changed since the case was made");
  cr_assert_eq(fold_npy_write(values, FOLD_F32, 2, 4, false, fill_count, NULL).code, FOLD_OK);
  expect_changed(c, 0, "v.npy: it changed since the case was made");
  free((char *)(uintptr_t)values), free((char *)(uintptr_t)keys);
}
