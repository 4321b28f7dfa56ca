/* test_gpu_large.c: more than 2^32 elements: none lost, none twice, rows in their places, the order kept.
 *
 * The data are made on the device; the host makes again just what it replays, piece by piece, so that no copy of the
 * whole is needed: 8.6 GB of device memory for f16, 17.2 GB for f32. Less memory skips with the reason.
 */
#include <stdio.h>

#include "fixtures/cuda_generate.h"
#include "fixtures/fixture.h"
#include "gpu.h"
#include "mutants_gpu.h"
#include "oracles/exact.h"
#include "oracles/order.h"

static const size_t past = ((size_t)1 << 32) + 12345;

/* ---- marks: a row of zeros but for ten powers of two, whose sum no order rounds and f16 holds ---- */

enum { MARKS = 10 };

static void lay_marks(unsigned char *d, size_t n) {
  const size_t at[MARKS] = {0,
                            4095,
                            ((size_t)1 << 31) - 1,
                            (size_t)1 << 31,
                            n / 3,
                            ((size_t)1 << 32) - 1,
                            (size_t)1 << 32,
                            ((size_t)1 << 32) + 1,
                            n - 4097,
                            n - 1};
  gpu_need(fold_device_set(d, 0, 2 * n, NULL));
  for (int k = 0; k < MARKS; k++) {
    uint16_t mark = (uint16_t)fold_bits_from_double(FOLD_F16, (double)(1 << k));
    gpu_need(fold_device_put(d + 2 * at[k], &mark, sizeof mark));
  }
}

static void expect_marks(const struct fold_subject *subject, const void *d_in, void *d_out, bool right) {
  struct fold_call call = {
      .dtype = FOLD_F16, .problem = fold_rows_problem(FOLD_SUM), .rows = 1, .cols = past, .in = {d_in}, .out = d_out};
  uint16_t got = 0, want = (uint16_t)fold_bits_from_double(FOLD_F16, (1 << MARKS) - 1);
  fold_status status = gpu_run(subject, call, &got);
  cr_expect_eq(status.code, FOLD_OK, "%s: %s", subject->name, status.text);
  cr_expect((got == want) == right, "%s of %zu terms: the marks' sum is %g, %s %g", subject->name, past,
            fold_bits_to_double(FOLD_F16, got), right ? "want" : "the fault was not to give", (1 << MARKS) - 1.);
}

Test(gpu_large, no_subject_loses_a_term_past_2_32) {
  gpu_open();
  unsigned char *d = gpu_alloc_or_skip(2 * past);
  void *d_out = gpu_alloc(256);
  size_t n, ran = 0;
  const struct fold_subject *subjects = fold_subjects(&n);
  lay_marks(d, past);
  for (size_t i = 0; i < n; i++) {
    /* A chain of 2^28 additions and more, or an untuned walk of 2^24, takes seconds to minutes. */
    if (!gpu_takes(&subjects[i], FOLD_F16, FOLD_SUM) ||
        fold_glob_match("rows/single*,rows/par_16*,rows/*@plain", subjects[i].name))
      continue;
    expect_marks(&subjects[i], d, d_out, true);
    ran++;
  }
  cr_expect_geq(ran, 5, "only %zu subjects ran", ran);
  /* The check can fail: an index of 32 bits loses marks. */
  expect_marks(fold_gpu_mutant_find("mutant/index_32"), d, d_out, false);
  gpu_free(d_out);
  gpu_free(d);
}

/* ---- a batch of more than 2^32 elements: rows on both sides of that place ---- */

enum { SIDE = 65537 };

/* What `subject` must give for one row: its order's replay, or the exact sum rounded once. False where it promises
 * neither. */
static bool want_row(const struct fold_subject *subject, const uint16_t *row, uint16_t *want) {
  const struct fold_order *order = subject->order ? fold_order_find(subject->order) : NULL;
  struct fold_call alone = {
      .dtype = FOLD_F16, .problem = fold_rows_problem(FOLD_SUM), .rows = 1, .cols = SIDE, .in = {row}, .out = want};
  if (order) gpu_need(fold_order_replay(order, &alone));
  if (order || subject->method != FOLD_EXACT) return order != NULL;
  struct fold_truth truth;
  fold_truth_init(&truth);
  gpu_need(fold_oracle_exact(FOLD_F16, FOLD_SUM, row, SIDE, 1, &truth));
  *want = (uint16_t)truth.rounded[FOLD_F16];
  fold_truth_free(&truth);
  return true;
}

static void expect_rows(const struct fold_subject *subject, const struct fold_source *source, const void *d_in,
                        void *d_out, uint16_t *got) {
  static const size_t picks[] = {0, 1, 32768, 65533, 65534, 65535, 65536};
  struct fold_call call = {.dtype = FOLD_F16,
                           .problem = fold_rows_problem(FOLD_SUM),
                           .rows = SIDE,
                           .cols = SIDE,
                           .in = {d_in},
                           .out = d_out};
  uint16_t *row = malloc(2 * SIDE), want = 0;
  cr_assert(row, "no memory");
  fold_status status = gpu_run(subject, call, got);
  cr_expect_eq(status.code, FOLD_OK, "%s: %s", subject->name, status.text);
  for (size_t k = 0; status.code == FOLD_OK && k < sizeof picks / sizeof *picks; k++) {
    fold_generate(source, picks[k] * SIDE, SIDE, row);
    cr_assert(want_row(subject, row, &want));
    cr_expect_eq(got[picks[k]], want, "%s, row %zu of %d: got 0x%04x, want 0x%04x", subject->name, picks[k], SIDE,
                 got[picks[k]], want);
  }
  free(row);
}

Test(gpu_large, rows_of_a_batch_past_2_32_stay_right) {
  gpu_open();
  const struct fold_source source = {fold_generator_find("normal"), FOLD_F16, 3, SIDE, 0};
  void *d = gpu_alloc_or_skip(2 * (size_t)SIDE * SIDE), *d_out = gpu_alloc(2 * SIDE);
  uint16_t *got = malloc(2 * SIDE);
  cr_assert(got, "no memory");
  size_t n, ran = 0;
  const struct fold_subject *subjects = fold_subjects(&n);
  gpu_need(fold_cuda_generate(&source, 0, (uint64_t)SIDE * SIDE, d, NULL));
  for (size_t i = 0; i < n; i++) {
    if (!gpu_takes(&subjects[i], FOLD_F16, FOLD_SUM)) continue;
    if (!subjects[i].order && subjects[i].method != FOLD_EXACT) continue;
    expect_rows(&subjects[i], &source, d, d_out, got);
    ran++;
  }
  cr_expect_geq(ran, 15, "only %zu subjects ran", ran);
  free(got);
  gpu_free(d_out);
  gpu_free(d);
}

/* ---- one row of random f32 past 2^32: the whole tree, by its subtrees ---- */

/* Pieces of `length` elements, each by `order`; the tree over neighbours joins their values. flat/canonical is that for
 * pieces of 4096 * 2^k elements, rows/par_256 for its 256 chunks. */
static float replay_by_pieces(const struct fold_source *source, size_t n, const char *order, size_t length) {
  const struct fold_order *inner = fold_order_find(order), *outer = fold_order_find("host/pairwise");
  size_t pieces = (n + length - 1) / length;
  float *values = calloc(pieces, sizeof *values), result = 0;
  bool failed = !values;
#pragma omp parallel for schedule(dynamic) reduction(|| : failed)
  for (size_t p = 0; p < pieces; p++) {
    size_t first = p * length, some = n - first < length ? n - first : length;
    float *terms = malloc(some * sizeof *terms);
    struct fold_call call = {.dtype = FOLD_F32,
                             .problem = fold_rows_problem(FOLD_SUM),
                             .rows = 1,
                             .cols = some,
                             .in = {terms},
                             .out = values + p,
                             .launch = {.threads = 1}};
    if (terms && !failed) fold_generate(source, first, some, terms);
    failed = failed || !terms || fold_order_replay(inner, &call).code != FOLD_OK;
    free(terms);
  }
  cr_assert(!failed, "no memory to replay %zu pieces", pieces);
  struct fold_call join = {.dtype = FOLD_F32,
                           .problem = fold_rows_problem(FOLD_SUM),
                           .rows = 1,
                           .cols = pieces,
                           .in = {values},
                           .out = &result};
  gpu_need(fold_order_replay(outer, &join));
  free(values);
  return result;
}

static float replay_whole(const struct fold_source *source, size_t n, const char *order) {
  float *terms = malloc(n * sizeof *terms), result = 0;
  cr_assert(terms, "no memory");
  fold_generate(source, 0, n, terms);
  struct fold_call call = {
      .dtype = FOLD_F32, .problem = fold_rows_problem(FOLD_SUM), .rows = 1, .cols = n, .in = {terms}, .out = &result};
  gpu_need(fold_order_replay(fold_order_find(order), &call));
  free(terms);
  return result;
}

static size_t chunk_of(size_t n) { return (n + 255) / 256; }

/* Needs no GPU: where a whole replay is cheap, pieces give its bits. */
Test(gpu_large, pieces_replay_as_the_whole) {
  static const size_t lengths[] = {4097, 65536, 65537, 300001, 1048576 + 77};
  size_t wrong_pieces = 0;
  for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++) {
    size_t n = lengths[k];
    const struct fold_source source = {fold_generator_find("uniform"), FOLD_F32, 11, n, 0};
    float canonical = replay_whole(&source, n, "flat/canonical"), chunks = replay_whole(&source, n, "rows/par_256");
    float by_tiles = replay_by_pieces(&source, n, "flat/canonical", 16384);
    float by_chunks = replay_by_pieces(&source, n, "host/sequential", chunk_of(n));
    cr_expect_eq(fold_f32_bits(by_tiles), fold_f32_bits(canonical), "canonical, n %zu: %a, whole %a", n, by_tiles,
                 canonical);
    cr_expect_eq(fold_f32_bits(by_chunks), fold_f32_bits(chunks), "par_256, n %zu: %a, whole %a", n, by_chunks, chunks);
    wrong_pieces += fold_f32_bits(replay_by_pieces(&source, n, "flat/canonical", 12288)) != fold_f32_bits(canonical);
  }
  cr_expect_geq(wrong_pieces, 2, "pieces that are no subtrees give the whole's bits too");
}

static void expect_f32(const char *name, const void *d_in, void *d_out, float want) {
  const struct fold_subject *subject = fold_subject_find(name, FOLD_CUDA);
  cr_assert_not_null(subject, "no subject %s", name);
  struct fold_call call = {
      .dtype = FOLD_F32, .problem = fold_rows_problem(FOLD_SUM), .rows = 1, .cols = past, .in = {d_in}, .out = d_out};
  float got = 0;
  fold_status status = gpu_run(subject, call, &got);
  cr_expect_eq(status.code, FOLD_OK, "%s: %s", name, status.text);
  cr_expect_eq(fold_f32_bits(got), fold_f32_bits(want), "%s of %zu terms: got %a, its replay %a", name, past, got,
               want);
}

Test(gpu_large, the_order_is_kept_past_2_32) {
  gpu_open();
  const struct fold_source source = {fold_generator_find("uniform"), FOLD_F32, 11, past, 0};
  void *d = gpu_alloc_or_skip(4 * past), *d_out = gpu_alloc(256);
  gpu_need(fold_cuda_generate(&source, 0, past, d, NULL));
  float canonical = replay_by_pieces(&source, past, "flat/canonical", (size_t)1 << 22);
  float chunks = replay_by_pieces(&source, past, "host/sequential", chunk_of(past));
  expect_f32("flat/canonical", d, d_out, canonical);
  expect_f32("rows/par_256", d, d_out, chunks);
  expect_f32("rows/multi_block", d, d_out, chunks);
  gpu_free(d_out);
  gpu_free(d);
}
