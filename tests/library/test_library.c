/* test_library.c: the installed interface, through its header and shared library alone: bits, digits, errors, refusals. */
#include <criterion/criterion.h>
#include <fenv.h>
#include <foldproof.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __x86_64__
#include <xmmintrin.h>
#endif

/* A spread of magnitudes and signs from a fixed recurrence: every order gives different bits. */
static float term(uint32_t i) {
  uint32_t x = i * 2654435761u + 12345u;
  x ^= x >> 15;
  x *= 2246822519u;
  x ^= x >> 13;
  return ldexpf((float)(int32_t)x, -31 + (int)(x >> 7 & 15));
}

static float *terms(size_t n) {
  float *x = malloc(n * sizeof *x + 1);
  cr_assert_not_null(x);
  for (size_t i = 0; i < n; i++) x[i] = term((uint32_t)i);
  return x;
}

static float pairwise(const float *x, size_t n) {
  if (n == 1) return x[0];
  size_t half = 1;
  while (2 * half < n) half *= 2;
  return pairwise(x, half) + pairwise(x + half, n - half);
}

Test(library, replays_have_the_bits_of_their_orders) {
  enum { ROWS = 7, COLS = 1001 };
  float *x = terms(ROWS * COLS), got[ROWS];
  for (unsigned threads = 0; threads < 4; threads++) {
    cr_assert_eq(foldproof_replay("host/sequential", "f32", "sum", x, ROWS, COLS, threads, got), 0);
    for (size_t r = 0; r < ROWS; r++) {
      float want = 0;
      for (size_t c = 0; c < COLS; c++) want += x[r * COLS + c];
      cr_expect_eq(memcmp(&got[r], &want, 4), 0, "sequential, row %zu: %a, want %a", r, got[r], want);
    }
    cr_assert_eq(foldproof_replay("host/pairwise", "f32", "sum", x, ROWS, COLS, threads, got), 0);
    for (size_t r = 0; r < ROWS; r++) {
      float want = pairwise(x + r * COLS, COLS);
      cr_expect_eq(memcmp(&got[r], &want, 4), 0, "pairwise, row %zu: %a, want %a", r, got[r], want);
    }
  }
  free(x);
}

/* Everything that computes, of data among which subnormals decide. */
struct computed {
  float replayed, exact;
  uint16_t greatest;
  struct foldproof_measure measured;
  char digits[1200];
};

static struct computed compute(const float *x, size_t n, unsigned threads) {
  static const uint16_t small[] = {0x0003, 0x8001, 0x0002}; /* subnormal in f16, and normal in f32 */
  static const double tiny[] = {0x1p-1070, -0x1p-1074};
  struct computed c;
  memset(&c, 0, sizeof c);
  cr_assert_eq(foldproof_replay("host/numpy", "f32", "sum", x, 1, n, threads, &c.replayed), 0);
  cr_assert_eq(foldproof_exact("f32", "sum", x, 1, n, "f32", threads, &c.exact), 0);
  cr_assert_eq(foldproof_exact("f16", "max", small, 1, 3, "f16", threads, &c.greatest), 0);
  cr_assert_eq(foldproof_measure(NULL, "f64", "sum", tiny, 2, tiny, &c.measured), 0);
  cr_assert_eq(foldproof_exact_text("f64", "prod", tiny, 1, c.digits, sizeof c.digits, NULL), 0);
  return c;
}

static void expect_same(const struct computed *a, const struct computed *b, const char *where) {
  cr_expect_eq(memcmp(&a->replayed, &b->replayed, 4), 0, "%s: replay %a, want %a", where, b->replayed, a->replayed);
  cr_expect_eq(memcmp(&a->exact, &b->exact, 4), 0, "%s: sum %a, want %a", where, b->exact, a->exact);
  cr_expect_eq(a->greatest, b->greatest, "%s: max %#x, want %#x", where, b->greatest, a->greatest);
  cr_expect_eq(memcmp(&a->measured, &b->measured, sizeof a->measured), 0, "%s: measure", where);
  cr_expect_str_eq(a->digits, b->digits, "%s", where);
}

/* A subnormal sum, of threads that have no work of their own to inherit from. */
enum { MANY = 1 << 20 };
static float *subnormals(void) {
  float *x = terms(MANY);
  for (size_t i = 0; i < MANY; i++) x[i] *= 0x1p-130f;
  return x;
}

Test(library, the_callers_arithmetic_changes_no_bit_and_stays) {
  float *x = subnormals();
  const struct computed want = compute(x, MANY, 3);
  fenv_t usual;
  fegetenv(&usual);
  for (int k = 0; k < 3; k++) {
    if (k < 2) fesetround(k ? FE_TOWARDZERO : FE_UPWARD);
#ifdef __x86_64__
    if (k == 2) _mm_setcsr(_mm_getcsr() | 0x8040); /* flushes what is subnormal, before and after */
    const unsigned before = _mm_getcsr() & 0xffc0;
#endif
    const struct computed got = compute(x, MANY, 3);
#ifdef __x86_64__
    cr_expect_eq(_mm_getcsr() & 0xffc0, before);
#endif
    cr_expect_eq(fegetround(), k == 0 ? FE_UPWARD : k == 1 ? FE_TOWARDZERO : FE_TONEAREST);
    fesetenv(&usual);
    expect_same(&want, &got, k < 2 ? "rounding" : "flushing");
  }
  free(x);
}

/* The alarm ends one that waits for threads that are not there. */
Test(library, a_child_of_fork_computes_too) {
  float *x = subnormals();
  const struct computed want = compute(x, MANY, 3);
  const pid_t child = fork();
  cr_assert(child >= 0);
  if (child == 0) {
    alarm(100);
    const struct computed got = compute(x, MANY, 3);
    _exit(memcmp(&got, &want, sizeof got) != 0);
  }
  int status = -1;
  cr_assert_eq(waitpid(child, &status, 0), child);
  cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "status %d", status);
  free(x);
}

/* As an int it is negative; OpenMP would start any number that is none. */
Test(library, more_threads_than_there_can_be_give_the_same_bits) {
  enum { N = 400000 };
  float *x = terms(N), got[2], exact[2];
  for (unsigned k = 0; k < 2; k++) {
    const unsigned threads = k ? 4000000000u : 1;
    cr_assert_eq(foldproof_replay("flat/canonical", "f32", "sum", x, 1, N, threads, &got[k]), 0);
    cr_assert_eq(foldproof_exact("f32", "sum", x, 1, N, "f32", threads, &exact[k]), 0);
  }
  cr_expect(got[0] == got[1] && exact[0] == exact[1]);
  free(x);
}

/* Every order can be asked for by its name, and its bits are within its own bound. */
Test(library, every_named_order_replays_within_its_bound) {
  enum { N = 4321 };
  float *x = terms(N), got;
  const char *name, *formula;
  size_t k = 0;
  for (; (name = foldproof_order(k, &formula)); k++) {
    struct foldproof_measure m;
    uint64_t height = 0;
    cr_assert_eq(foldproof_replay(name, "f32", "sum", x, 1, N, 0, &got), 0, "%s: %s", name, foldproof_error());
    cr_assert_eq(foldproof_measure(name, "f32", "sum", x, N, &got, &m), 0, "%s: %s", name, foldproof_error());
    cr_expect(m.error <= m.bound && m.bound < INFINITY, "%s: error %g, bound %g", name, m.error, m.bound);
    cr_expect_eq(foldproof_tree(name, N, &height, NULL), 0);
    /* gamma_h S with u = 2^-24, to a rounding of the double here. */
    double u = 0x1p-24, h = (double)height, gamma = h * u / (1 - h * u) * m.abs_sum;
    cr_expect(m.bound >= gamma * (1 - 1e-12) && m.bound <= gamma * (1 + 1e-12), "%s: %g, want %g", name, m.bound,
              gamma);
    cr_expect(formula && formula[0], "%s has no formula", name);
  }
  cr_expect(k >= 12, "only %zu orders", k);
  cr_expect_null(foldproof_order(k + 1, NULL));
  free(x);
}

Test(library, exact_sums_are_rounded_once) {
  /* Rounded to 24 bits first, the third would be lost twice: 00080000 and not 00080001. */
  static const double tiny[] = {0x1p-130, 0x1p-150, 0x1p-160};
  static const float big[] = {1e8f, 1, -1e8f, 0x1p-149f, -0.0f, 0x1p127f};
  uint32_t bits, two[2];
  double wide;
  cr_assert_eq(foldproof_exact("f64", "sum", tiny, 1, 3, "f32", 0, &bits), 0);
  cr_expect_eq(bits, 0x00080001, "%08x", bits);
  cr_assert_eq(foldproof_exact("f32", "sum", big, 2, 3, "f32", 0, two), 0);
  cr_expect(two[0] == 0x3f800000 && two[1] == 0x7f000000, "%08x %08x", two[0], two[1]);
  cr_assert_eq(foldproof_exact("f32", "sum", big, 1, 5, "f64", 0, &wide), 0);
  cr_expect_eq(wide, 1.0);
  cr_assert_eq(foldproof_exact("f32", "sum", big + 4, 1, 1, "f32", 0, &bits), 0);
  cr_expect_eq(bits, 0x80000000, "the sum of -0 is %08x", bits);
  cr_assert_eq(foldproof_exact("f32", "sum", NULL, 1, 0, "f32", 0, &bits), 0);
  cr_expect_eq(bits, 0, "the empty sum is %08x", bits);
  cr_assert_eq(foldproof_exact("f32", "min", NULL, 1, 0, "f32", 0, &bits), 0);
  cr_expect_eq(bits, 0x7f800000, "the empty minimum is %08x", bits);
  cr_assert_eq(foldproof_exact("f32", "prod", big, 1, 3, "f32", 0, &bits), 0);
  cr_expect_eq(bits, 0xda0e1bca, "-1e16 is %08x", bits);
}

static uint64_t draw(uint64_t *seed) {
  *seed = *seed * 6364136223846793005u + 1442695040888963407u;
  return (*seed ^ *seed >> 31) * 0x9e3779b97f4a7c15u >> 3;
}

/* Random patterns: of 16 exponents, every eighth term -0, all -0, or any, with NaN and infinities. */
static void draw_patterns(uint64_t *seed, size_t size, unsigned char *in, size_t n) {
  const uint64_t kind = draw(seed) % 4, kept = (uint64_t)0x80ff << 48 | 0xffffffffffff;
  for (size_t i = 0; i < n; i++) {
    uint64_t bits = draw(seed) << 3 | (i & 7);
    if (kind == 0) bits = (bits & kept) | (uint64_t)0x3c << 56;
    if (kind == 2 || (kind == 1 && i % 8 == 0)) bits = (uint64_t)1 << 63;
    bits >>= 64 - 8 * size;
    memcpy(in + i * size, &bits, size);
  }
}

/* What foldproof_measure finds from a whole truth by way of MPFR must be the one number, in f64 and in the array's own dtype. */
static void expect_one_number(const char *dtype, const char *op, const void *in, size_t n, const char *what) {
  struct foldproof_measure m;
  double wide;
  uint64_t own = 0;
  cr_assert_eq(foldproof_exact(dtype, op, in, 1, n, "f64", 1, &wide), 0);
  cr_assert_eq(foldproof_exact(dtype, op, in, 1, n, dtype, 1, &own), 0);
  cr_assert_eq(foldproof_measure(NULL, dtype, op, in, n, &own, &m), 0);
  cr_expect(memcmp(&wide, &m.exact, 8) == 0 || (isnan(wide) && isnan(m.exact)), "%s %s %s: %a, want %a", what, dtype,
            op, wide, m.exact);
  cr_expect(m.ulps <= 0.5, "%s %s %s: %g ulps", what, dtype, op, m.ulps);
}

Test(library, one_number_is_that_of_the_whole_truth) {
  static const char *const dtypes[] = {"f16", "bf16", "f32", "f64"}, *const ops[] = {"sum", "max", "min", "prod"};
  static const size_t sizes[] = {2, 2, 4, 8};
  static unsigned char in[8 * 5000];
  uint64_t seed = 1;
  char what[80];
  for (unsigned trial = 0; trial < 100000; trial++) {
    const unsigned type = trial % 4, op = trial / 4 % 16 < 13 ? 0 : trial / 4 % 16 - 12;
    const size_t n = draw(&seed) % (trial % 100 == 0 ? 5000 : 40);
    snprintf(what, sizeof what, "trial %u, %zu terms", trial, n);
    draw_patterns(&seed, sizes[type], in, n);
    expect_one_number(dtypes[type], ops[op], in, n, what);
  }
}

/* Many rows are shared by threads, few long ones have their terms shared. */
Test(library, rows_are_as_each_is_by_itself_on_any_threads) {
  static const size_t shapes[][2] = {{1, 300000}, {2, 200000}, {3, 70000}, {5000, 40}, {300000, 1}, {70, 3000}};
  static const char *const ops[] = {"sum", "max", "prod"};
  enum { MOST = 400000 };
  float *x = terms(MOST), *out = malloc(300000 * sizeof *out), *again = malloc(300000 * sizeof *again);
  cr_assert(out && again);
  for (size_t k = 0; k < 18; k++) {
    const size_t rows = shapes[k % 6][0], cols = k >= 12 && shapes[k % 6][1] > 3000 ? 3000 : shapes[k % 6][1];
    cr_assert_eq(foldproof_exact("f32", ops[k / 6], x, rows, cols, "f32", 1, out), 0);
    for (unsigned threads = 0; threads < 6; threads += k < 12 ? 1 : 5) {
      memset(again, 0xa5, rows * sizeof *again);
      cr_assert_eq(foldproof_exact("f32", ops[k / 6], x, rows, cols, "f32", threads, again), 0);
      cr_expect_eq(memcmp(out, again, rows * sizeof *out), 0, "%s %zu x %zu, %u threads", ops[k / 6], rows, cols,
                   threads);
    }
    for (size_t r = 0; r < rows; r += 1 + rows / 7) {
      cr_assert_eq(foldproof_exact("f32", ops[k / 6], x + r * cols, 1, cols, "f32", 1, again), 0);
      cr_expect_eq(memcmp(out + r, again, 4), 0, "%s %zu x %zu, row %zu", ops[k / 6], rows, cols, r);
    }
  }
  free(x), free(out), free(again);
}

Test(library, digits_are_all_there_and_no_byte_is_past_the_room) {
  static const float x[] = {1e8f, 1, -1e8f, 0x1p-20f};
  static const float odd[] = {INFINITY, 1}, none[] = {INFINITY, -INFINITY};
  char text[64];
  size_t needed = 0;
  cr_assert_eq(foldproof_exact_text("f32", "sum", x, 4, text, sizeof text, &needed), 0);
  cr_expect_str_eq(text, "1.00000095367431640625");
  cr_expect_eq(needed, strlen(text) + 1);
  memset(text, '#', sizeof text);
  cr_expect_eq(foldproof_exact_text("f32", "sum", x, 4, text, needed - 1, &needed), FOLDPROOF_BAD_INPUT);
  cr_expect(needed == 23 && text[0] == '#' && strstr(foldproof_error(), "23"), "%zu: %s", needed, foldproof_error());
  cr_expect_eq(foldproof_exact_text("f32", "sum", x, 4, NULL, 0, &needed), FOLDPROOF_BAD_INPUT);
  cr_expect_eq(foldproof_exact_text("f32", "sum", x, 4, text, needed, NULL), 0);
  cr_expect(text[needed - 1] == '\0' && text[needed] == '#');
  cr_assert_eq(foldproof_exact_text("f32", "sum", odd, 2, text, sizeof text, NULL), 0);
  cr_expect_str_eq(text, "inf");
  cr_assert_eq(foldproof_exact_text("f32", "sum", none, 2, text, sizeof text, NULL), 0);
  cr_expect_str_eq(text, "nan");
}

Test(library, a_result_is_measured_against_the_exact_one) {
  static const float x[] = {1e8f, 1, -1e8f}, odd[] = {INFINITY, 1};
  struct foldproof_measure m;
  float got = 0;
  cr_assert_eq(foldproof_measure(NULL, "f32", "sum", x, 3, &got, &m), 0);
  /* The ulp of 1 is 2^-23; any order: gamma_2 S. */
  cr_expect(m.error == 1 && m.ulps == 0x1p23 && m.exact == 1 && m.abs_sum == 200000001 && m.condition == 200000001);
  cr_expect(m.bound > 23.84 && m.bound < 23.85, "%g", m.bound);
  got = 2;
  cr_assert_eq(foldproof_measure("host/sequential", "f32", "max", x, 3, &got, &m), 0);
  cr_expect(m.error == 1e8 - 2 && m.bound == 0, "%g", m.error);
  got = INFINITY;
  cr_assert_eq(foldproof_measure(NULL, "f32", "sum", odd, 2, &got, &m), 0);
  cr_expect(m.error == 0 && m.ulps == 0 && isnan(m.bound));
  got = -INFINITY;
  cr_assert_eq(foldproof_measure(NULL, "f32", "sum", odd, 2, &got, &m), 0);
  cr_expect(m.error == INFINITY && m.ulps == INFINITY);
  got = NAN;
  cr_assert_eq(foldproof_measure(NULL, "f32", "sum", x, 3, &got, &m), 0);
  cr_expect(!(m.error <= m.bound), "NaN passes");
}

Test(library, trees_have_heights_and_fingerprints) {
  uint64_t height, print[2];
  cr_assert_eq(foldproof_tree("host/sequential", 1000, &height, NULL), 0);
  cr_expect_eq(height, 999);
  cr_assert_eq(foldproof_tree("host/pairwise", 1000, &height, &print[0]), 0);
  cr_expect_eq(height, 10);
  cr_assert_eq(foldproof_tree("host/pairwise", 1000, NULL, &print[1]), 0);
  cr_expect_eq(print[0], print[1]);
  cr_assert_eq(foldproof_tree("host/reverse", 1000, NULL, &print[1]), 0);
  cr_expect_neq(print[0], print[1]);
  cr_expect_eq(foldproof_tree("host/sorted", 1000, &height, &print[0]), FOLDPROOF_UNSUPPORTED);
  cr_expect(strstr(foldproof_error(), "terms"), "%s", foldproof_error());
  cr_expect(foldproof_tree("host/sorted", 1000, &height, NULL) == 0 && height == 999);
}

/* What has no elements has no address either; nothing is added to a null pointer, which UBSan would see. */
Test(library, rows_without_elements_need_no_input) {
  static const char *const ops[] = {"sum", "prod", "max", "min"};
  static const float want[] = {0, 1, -INFINITY, INFINITY};
  for (size_t k = 0; k < 4; k++) {
    float out[3] = {9, 9, 9}, again[3] = {9, 9, 9};
    char digits[20];
    struct foldproof_measure m;
    cr_expect_eq(foldproof_exact("f32", ops[k], NULL, 3, 0, "f32", 0, out), 0, "%s", foldproof_error());
    cr_expect_eq(foldproof_replay("host/pairwise", "f32", ops[k], NULL, 3, 0, 0, again), 0, "%s", foldproof_error());
    for (size_t r = 0; r < 3; r++)
      cr_expect(out[r] == want[k] && again[r] == want[k], "%s: %g, %g", ops[k], (double)out[r], (double)again[r]);
    cr_expect_eq(foldproof_exact_text("f32", ops[k], NULL, 0, digits, sizeof digits, NULL), 0);
    cr_expect_eq(foldproof_measure("host/pairwise", "f32", ops[k], NULL, 0, &want[k], &m), 0);
    cr_expect_eq(m.error, 0.0, "%s", ops[k]);
  }
  cr_expect_eq(foldproof_exact("f32", "sum", NULL, 0, 7, "f32", 0, NULL), 0, "no rows");
}

Test(library, an_error_is_one_line_whatever_it_names) {
  static const float x[] = {1};
  float out;
  const char *const names[] = {"a\nb", "\r\n", "\033[2J", "\xff\xfe", "x\tz"};
  for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
    cr_expect_eq(foldproof_replay(names[k], "f32", "sum", x, 1, 1, 0, &out), FOLDPROOF_BAD_INPUT);
    for (const char *c = foldproof_error(); *c; c++) cr_expect((unsigned char)*c >= ' ' && (unsigned char)*c < 0x7f);
    cr_expect_eq(foldproof_exact(names[k], "sum", x, 1, 1, "f32", 0, &out), FOLDPROOF_BAD_INPUT);
    cr_expect_null(strpbrk(foldproof_error(), "\n\r\t\033"));
    cr_expect_eq(foldproof_exact("f32", names[k], x, 1, 1, "f32", 0, &out), FOLDPROOF_BAD_INPUT);
    cr_expect_null(strpbrk(foldproof_error(), "\n\r\t\033"));
  }
}

Test(library, wrong_words_and_pointers_are_refused_with_a_reason) {
  static const float x[] = {1, 2};
  struct foldproof_measure m;
  float out;
  const struct {
    int code;
    const char *word;
    int got;
  } * row,
      rows[] = {
          {FOLDPROOF_BAD_INPUT, "nosuch", 0}, {FOLDPROOF_BAD_INPUT, "f8", 0},    {FOLDPROOF_BAD_INPUT, "mean", 0},
          {FOLDPROOF_BAD_INPUT, "(null)", 0}, {FOLDPROOF_BAD_INPUT, "input", 0}, {FOLDPROOF_BAD_INPUT, "output", 0},
          {FOLDPROOF_BAD_INPUT, "space", 0},  {FOLDPROOF_BAD_INPUT, "i32", 0},   {FOLDPROOF_BAD_INPUT, "result", 0},
      };
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    int code = -1;
    row = &rows[k];
    switch (k) {
      case 0: code = foldproof_replay("nosuch", "f32", "sum", x, 1, 2, 0, &out); break;
      case 1: code = foldproof_replay("host/numpy", "f8", "sum", x, 1, 2, 0, &out); break;
      case 2: code = foldproof_replay("host/numpy", "f32", "mean", x, 1, 2, 0, &out); break;
      case 3: code = foldproof_replay(NULL, "f32", "sum", x, 1, 2, 0, &out); break;
      case 4: code = foldproof_exact("f32", "sum", NULL, 1, 2, "f32", 0, &out); break;
      case 5: code = foldproof_exact("f32", "sum", x, 1, 2, "f32", 0, NULL); break;
      case 6: code = foldproof_exact("f32", "sum", x, (size_t)1 << 40, (size_t)1 << 40, "f32", 0, &out); break;
      case 7: code = foldproof_exact("f32", "sum", x, 1, 2, "i32", 0, &out); break;
      case 8: code = foldproof_measure(NULL, "f32", "sum", x, 2, NULL, &m); break;
    }
    cr_expect(code == row->code && strstr(foldproof_error(), row->word), "%zu: %d: %s", k, code, foldproof_error());
  }
  cr_assert_eq(foldproof_exact("f32", "sum", x, 1, 2, "f32", 0, &out), 0);
  cr_expect(out == 3 && foldproof_error()[0] == '\0', "an error stays after a call that succeeds");
}

Test(library, a_list_of_claims_is_read_as_the_command_reads_it) {
  static const struct {
    const char *list, *claims[4];
  } rows[] = {{"deterministic", {"run_to_run", "fresh_process"}},
              {"replays,boun*, bounded", {"bounded", "replays"}},
              {"", {NULL}},
              {NULL, {NULL}}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const char *const *want = rows[i].claims;
    for (size_t k = 0; want[k]; k++) {
      const char *got = foldproof_claim(rows[i].list, k);
      cr_expect(got && strcmp(got, want[k]) == 0, "%s: %s, and not %s", rows[i].list, got ? got : "none", want[k]);
      cr_expect(want[k + 1] || foldproof_claim(rows[i].list, k + 1) == NULL, "%s has more", rows[i].list);
    }
    cr_expect(want[0] || foldproof_claim(rows[i].list, 0) == NULL, "row %zu has claims", i);
    cr_expect_str_eq(foldproof_error(), "");
  }
  cr_expect_null(foldproof_claim("bounded,run_twice", 0));
  cr_expect(strstr(foldproof_error(), "no claim matches 'run_twice'"), "%s", foldproof_error());
}

Test(library, rows_of_the_same_bits_have_the_same_hash) {
  enum { ROWS = 6, COLS = 300 };
  float *x = terms(ROWS * COLS);
  uint64_t hashes[ROWS];
  const uint32_t nans[] = {0x7fc00000, 0xffa00001};
  for (size_t r = 1; r < ROWS; r++) memcpy(x + r * COLS, x, COLS * sizeof *x);
  x[1 * COLS + 299] = -x[299];
  memcpy(x + 2 * COLS, &nans[0], 4);
  memcpy(x + 3 * COLS, &nans[1], 4);
  x[4 * COLS] = x[1], x[4 * COLS + 1] = x[0];
  cr_assert_eq(foldproof_hash("f32", x, ROWS, COLS, hashes), 0);
  cr_expect_eq(hashes[0], hashes[5], "the same bits");
  cr_expect_eq(hashes[2], hashes[3], "a NaN is as any");
  for (size_t r = 1; r < 5; r++) cr_expect_neq(hashes[0], hashes[r], "row %zu has different bits", r);
  const float zeros[] = {0, -0.0f};
  cr_assert_eq(foldproof_hash("f32", zeros, 2, 1, hashes), 0);
  cr_expect_neq(hashes[0], hashes[1], "-0 is not +0");
  cr_expect_eq(foldproof_hash("f31", x, 1, 1, hashes), FOLDPROOF_BAD_INPUT);
  cr_expect_eq(foldproof_hash("f32", NULL, 1, 1, hashes), FOLDPROOF_BAD_INPUT);
  free(x);
}

/* As lines, up to the length that the buffer has. */
static size_t lines_of(const char *path, char lines[8][512]) {
  FILE *file = fopen(path, "r");
  size_t n = 0;
  cr_assert_not_null(file);
  while (n < 8 && fgets(lines[n], sizeof lines[n], file)) n++;
  fclose(file);
  return n;
}

/* A folder of the test's own, in which a file is first closed as incomplete, then beside one that is there. */
Test(library, records_begin_with_an_environment_and_end_with_their_number) {
  char folder[] = "/tmp/foldproof-test-XXXXXX", path[64], beside[80], lines[8][512];
  struct foldproof_records *records;
  cr_assert_not_null(mkdtemp(folder));
  snprintf(path, sizeof path, "%s/r.jsonl", folder);
  snprintf(beside, sizeof beside, "%s.incomplete", path);
  for (int complete = 1; complete >= 0; complete--) {
    cr_assert_eq(foldproof_records_open(path, "{\"build\": \"b\"}", &records), 0, "%s", foldproof_error());
    cr_expect_eq(foldproof_records_add(records, "{\"type\": \"other\", \"build\": \"b\"}"), 0, "%s", foldproof_error());
    cr_expect_eq(foldproof_records_add(records, "{\"type\""), FOLDPROOF_BAD_INPUT);
    cr_expect(strstr(foldproof_error(), "no JSON: "), "%s", foldproof_error());
    cr_expect_eq(foldproof_records_add(records, "[1]"), FOLDPROOF_BAD_INPUT);
    cr_expect_eq(foldproof_records_add(records, NULL), FOLDPROOF_BAD_INPUT);
    cr_expect_eq(access(complete ? path : beside, F_OK), -1, "it is there before it is closed");
    cr_expect_eq(foldproof_records_close(records, complete), 0, "%s", foldproof_error());
    cr_assert_eq(lines_of(complete ? path : beside, lines), 3);
    cr_expect(strstr(lines[0], "\"type\":\"environment\",\"build\":\"b\""), "%s", lines[0]);
    cr_expect_str_eq(lines[1], "{\"type\":\"other\",\"build\":\"b\"}\n");
    cr_expect(strstr(lines[2], complete ? "\"records\":2,\"complete\":true" : "\"records\":2,\"complete\":false"), "%s",
              lines[2]);
  }
  unlink(path), unlink(beside), rmdir(folder);
  cr_expect_eq(foldproof_records_open(path, NULL, &records), FOLDPROOF_BAD_INPUT, "a folder that is gone");
  cr_expect_eq(foldproof_records_open(NULL, NULL, &records), FOLDPROOF_BAD_INPUT);
  cr_expect_eq(foldproof_records_add(NULL, "{}"), FOLDPROOF_BAD_INPUT);
  cr_expect_eq(foldproof_records_close(NULL, 1), 0);
}

Test(library, the_environment_is_told_where_there_is_room_for_it) {
  static char text[1 << 20];
  size_t needed = 0;
  cr_expect_eq(foldproof_environment(NULL, 0, &needed), FOLDPROOF_BAD_INPUT);
  cr_assert(needed > 2 && needed < sizeof text);
  cr_expect_eq(foldproof_environment(text, needed - 1, NULL), FOLDPROOF_BAD_INPUT);
  cr_expect_eq(foldproof_environment(text, needed, NULL), 0);
  cr_expect(strlen(text) + 1 == needed && text[0] == '{' && strstr(text, "\"compiler\":"), "%s", text);
}
