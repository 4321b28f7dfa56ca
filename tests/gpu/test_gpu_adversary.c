/* test_gpu_adversary.c: the exact sum of inputs made against it, at many lengths, addresses and launches: each result
 * is the host's superaccumulator's, closed by MPFR, and some are mpfr_sum's too. The fixtures adversarial.ini hold
 * shorter ones of the kind, for every subject; here are those that fill a GPU, up to 2^34 terms.
 */
#include <stdio.h>

#include "adversary.h"
#include "gpu.h"
#include "kernels/cuda/exact/exact_device.h"
#include "mutants_gpu.h"
#include "oracles/exact.h"

enum { MOST = 1 << 20, MOST_ROWS = 70000, ROOM = 96 << 20 };

struct desk {
  unsigned char *in, *want, *got; /* host */
  unsigned char *d_in, *d_out, *d_scratch;
  size_t shift; /* of the results, in elements */
  size_t ran, wrong;
};

static void open_desk(struct desk *k) {
  memset(k, 0, sizeof *k);
  k->in = malloc((size_t)MOST * 8);
  k->want = malloc((size_t)MOST_ROWS * 8);
  k->got = malloc((size_t)MOST_ROWS * 8);
  cr_assert(k->in && k->want && k->got, "no memory");
  k->d_in = gpu_alloc((size_t)MOST * 8 + 64);
  k->d_out = gpu_alloc((size_t)(MOST_ROWS + 1) * 8);
  k->d_scratch = gpu_alloc(ROOM);
  gpu_need(fold_device_set(k->d_scratch, 0xff, ROOM, NULL));
  gpu_need(fold_device_set(k->d_scratch, 0, FOLD_SCRATCH_ZEROED, NULL));
}

static void close_desk(struct desk *k) {
  gpu_free(k->d_in);
  gpu_free(k->d_out);
  gpu_free(k->d_scratch);
  free(k->in);
  free(k->want);
  free(k->got);
}

static uint64_t oracle_of(enum fold_dtype dtype, const void *in, size_t n, bool by_mpfr) {
  struct fold_truth truth;
  fold_truth_init(&truth);
  gpu_need(by_mpfr ? fold_oracle_mpfr(dtype, FOLD_SUM, in, n, &truth)
                   : fold_oracle_exact(dtype, FOLD_SUM, in, n, 0, &truth));
  uint64_t bits = truth.rounded[dtype];
  fold_truth_free(&truth);
  return bits;
}

/* One run of a subject, against k->want. */
static void judge(struct desk *k, const char *name, struct fold_call call, const char *kind, uint64_t seed) {
  const struct fold_subject *subject = fold_subject_find(name, FOLD_CUDA);
  size_t size = fold_dtype_size(call.dtype), nbytes = call.rows * size;
  cr_assert(subject && subject->scratch(subject, &call) <= ROOM, "%s needs more scratch", name);
  call.out = k->d_out + k->shift * size;
  call.scratch = k->d_scratch;
  gpu_need(fold_device_set(call.out, 0xa5, nbytes, NULL));
  fold_status status = subject->run(subject, &call);
  if (status.code == FOLD_UNSUPPORTED) return;
  gpu_need(status);
  gpu_need(fold_device_synchronize());
  gpu_need(fold_device_get(k->got, call.out, nbytes));
  for (size_t r = 0; r < call.rows; r++) {
    uint64_t got = fold_bits_load(call.dtype, k->got, r), want = fold_bits_load(call.dtype, k->want, r);
    k->ran++;
    if (fold_bits_same(call.dtype, got, want) || k->wrong++ >= 10) continue;
    cr_expect(false, "%s: %s %s %zux%zu seed %llu, row %zu, launch %ux%u: got %#llx, want %#llx", name, kind,
              fold_dtype_name(call.dtype), call.rows, call.cols, (unsigned long long)seed, r, call.launch.blocks,
              call.launch.block, (unsigned long long)got, (unsigned long long)want);
  }
}

static void judge_row(struct desk *k, enum adversary kind, enum fold_dtype dtype, size_t n, uint64_t seed) {
  static const struct fold_launch launches[] = {{0, 0, 0}, {0, 1, 32}, {0, 3, 64}, {0, 40, 96}};
  size_t size = fold_dtype_size(dtype), offset = seed % 3 * size;
  adversary_fill(kind, dtype, n, seed, k->in);
  fold_bits_store(dtype, k->want, 0, oracle_of(dtype, k->in, n, n < 5000));
  gpu_need(fold_device_put(k->d_in + offset, k->in, n * size));
  struct fold_call call = {
      .dtype = dtype, .problem = fold_rows_problem(FOLD_SUM), .rows = 1, .cols = n, .in = {k->d_in + offset}};
  for (size_t l = 0; l < sizeof launches / sizeof *launches; l++) {
    call.launch = launches[l];
    judge(k, "flat/exact", call, adversary_name(kind), seed);
  }
}

Test(gpu_adversary, one_row_is_rounded_correctly_whatever_it_holds) {
  gpu_open();
  static const size_t lengths[] = {1, 33, 1000, 4097, 20000, 100003, MOST};
  struct desk k;
  open_desk(&k);
  for (int d = 0; d < GPU_DTYPES; d++)
    for (int kind = 0; kind < ADVERSARIES; kind++)
      for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++)
        for (uint64_t seed = 1; seed <= (lengths[l] > 20000 ? 1 : 4); seed++)
          judge_row(&k, (enum adversary)kind, (enum fold_dtype)d, lengths[l], seed * 29 + (uint64_t)kind);
  cr_expect_eq(k.wrong, 0, "%zu of %zu are wrong", k.wrong, k.ran);
  cr_expect_geq(k.ran, 3500, "only %zu were judged", k.ran);
  close_desk(&k);
}

/* Rows for each kernel of exact_rows.cuh, results at a multiple of 16 bytes and past one; ties come at another place in
 * each row. */
Test(gpu_adversary, every_row_of_many_is_rounded_correctly_whatever_it_holds) {
  gpu_open();
  static const struct {
    size_t rows, cols;
  } shapes[] = {{MOST_ROWS, 8}, {30000, 11}, {9000, 32},   {4000, 130},
                {1100, 257},    {900, 1000}, {1030, 1013}, {70, 9001}};
  struct desk k;
  open_desk(&k);
  for (int d = 0; d < GPU_DTYPES; d++)
    for (int kind = 0; kind < ADVERSARIES; kind++)
      for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        enum fold_dtype dtype = (enum fold_dtype)d;
        size_t rows = shapes[s].rows, cols = shapes[s].cols, size = fold_dtype_size(dtype);
        bool bad = false;
#pragma omp parallel for schedule(static) reduction(|| : bad)
        for (size_t r = 0; r < rows; r++) {
          unsigned char *row = k.in + r * cols * size;
          adversary_fill((enum adversary)kind, dtype, cols, r + s, row);
          struct fold_super state;
          memset(&state, 0, sizeof state);
          fold_super_add(dtype, row, cols, &state, NULL);
          fold_bits_store(dtype, k.want, r, fold_super_close(dtype, &state, dtype));
          if (r % 1000 == 0)
            bad = bad || !fold_bits_same(dtype, oracle_of(dtype, row, cols, true), fold_bits_load(dtype, k.want, r));
        }
        cr_assert(!bad, "the host's two oracles differ");
        gpu_need(fold_device_put(k.d_in, k.in, rows * cols * size));
        struct fold_call call = {
            .dtype = dtype, .problem = fold_rows_problem(FOLD_SUM), .rows = rows, .cols = cols, .in = {k.d_in}};
        for (k.shift = 0; k.shift < 2; k.shift++)
          judge(&k, "rows/exact", call, adversary_name((enum adversary)kind), s);
      }
  cr_expect_eq(k.wrong, 0, "%zu of %zu are wrong", k.wrong, k.ran);
  cr_expect_geq(k.ran, 10000000, "only %zu were judged", k.ran);
  close_desk(&k);
}

/* ---- more terms than a limb without carries holds: up to 64 GiB of one pattern, laid by a memset ---- */

/* n terms of the pattern whose bytes are all `byte`: n times its value, rounded once. */
static uint64_t product_of(enum fold_dtype dtype, int byte, size_t n) {
  mpfr_t value;
  mpfr_init2(value, 53);
  fold_mpfr_set_bits(value, dtype, (uint64_t)byte * 0x0101010101010101u >> (64 - 8 * fold_dtype_size(dtype)));
  mpfr_prec_round(value, 53 + 64, MPFR_RNDN);
  mpfr_mul_ui(value, value, n, MPFR_RNDN); /* 53 + 64 bits hold it */
  uint64_t bits = fold_mpfr_round(dtype, value);
  mpfr_clear(value);
  return bits;
}

static void expect_product(const struct fold_subject *subject, enum fold_dtype dtype, int byte, size_t n,
                           const void *d_in, void *d_out, bool right) {
  struct fold_call call = {
      .dtype = dtype, .problem = fold_rows_problem(FOLD_SUM), .rows = 1, .cols = n, .in = {d_in}, .out = d_out};
  uint64_t got = 0, want = product_of(dtype, byte, n);
  fold_status status = gpu_run(subject, call, &got);
  cr_expect_eq(status.code, FOLD_OK, "%s: %s", subject->name, status.text);
  cr_expect(fold_bits_same(dtype, got, want) == right, "%s: %zu %s of bytes 0x%02x: got %#llx, %s %#llx", subject->name,
            n, fold_dtype_name(dtype), byte, (unsigned long long)got, right ? "want" : "the fault was not to give",
            (unsigned long long)want);
}

/* 0x3e3e3e3e leaves 0x3e3e3e << 27 in a limb, 15/16 of its width: 2^31 + 2^29 times that is above 2^63. */
Test(gpu_adversary, a_limb_that_overflows_past_2_31_terms_is_seen) {
  gpu_open();
  const size_t n = ((size_t)1 << 31) + ((size_t)1 << 29);
  const struct fold_subject *late = fold_gpu_mutant_find("mutant/late_carries");
  void *d = gpu_alloc_or_skip(4 * n), *d_out = gpu_alloc(256);
  gpu_need(fold_device_set(d, 0x3e, 4 * n, NULL));
  expect_product(late, FOLD_F32, 0x3e, 100000, d, d_out, true);
  expect_product(late, FOLD_F32, 0x3e, n, d, d_out, false);
  expect_product(fold_subject_find("flat/exact", FOLD_CUDA), FOLD_F32, 0x3e, n, d, d_out, true);
  gpu_free(d_out);
  gpu_free(d);
}

/* 0x3d: 0.0462; 0x01: 2.4e-38; 0x80: subnormal; 0x7e: overflows; 0xff would be NaN. */
Test(gpu_adversary, sixty_four_gib_of_equal_terms_are_summed_exactly) {
  gpu_open();
  static const int bytes[] = {0x3d, 0x01, 0x80, 0x7e};
  const struct fold_subject *flat = fold_subject_find("flat/exact", FOLD_CUDA);
  const size_t nbytes = (size_t)4 << 34;
  void *d = gpu_alloc_or_skip(nbytes), *d_out = gpu_alloc(256);
  for (size_t b = 0; b < sizeof bytes / sizeof *bytes; b++) {
    gpu_need(fold_device_set(d, bytes[b], nbytes, NULL));
    for (int dtype = 0; dtype < GPU_DTYPES; dtype++) {
      const size_t n = nbytes / fold_dtype_size((enum fold_dtype)dtype);
      if (dtype == FOLD_F16 && bytes[b] == 0x7e) continue; /* a NaN */
      expect_product(flat, (enum fold_dtype)dtype, bytes[b], n, d, d_out, true);
      expect_product(flat, (enum fold_dtype)dtype, bytes[b], n - 3, d, d_out, true);
    }
  }
  gpu_free(d_out);
  gpu_free(d);
}
