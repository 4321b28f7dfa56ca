/* test_gpu_rows.c: whatever the shape, the address and the launch, a tuned kernel of rows has the bits of the plain one.
 *
 * The fixtures hold each order against its replay, at shapes that a host replays soon. Which tuned kernel does a call
 * depends on rows, columns and alignment: here are so many shapes that each of them, and each way into it, has its share.
 */
#include <stdio.h>

#include "fixtures/cuda_generate.h"
#include "gpu.h"

enum { TERMS = 1 << 25, MOST_ROWS = 9000, SHAPES = 60, LATEST = 200 };

static const char *const names[] = {"rows/single_for", "rows/single_back",   "rows/single_determ", "rows/par_16",
                                    "rows/par_64",     "rows/par_16_determ", "rows/par_64_determ", "rows/par_256"};

static uint64_t draw(uint64_t *seed, uint64_t below) {
  *seed = *seed * 6364136223846793005u + 1442695040888963407u;
  return (*seed >> 33) % below;
}

/* Rows below and above what decides on a kernel, for 132 multiprocessors; rows of whole chunks and of others, aligned or not. */
static struct fold_call some_call(enum fold_dtype dtype, const unsigned char *d_in, uint64_t *seed) {
  static const size_t some_rows[] = {1, 4, 31, 133, 200, 264, 265, 700, 1000, 4224, 4225, 8448, 8449, 9000};
  static const size_t some_cols[] = {17, 300, 1100, 2100, 4100, 9000, 17000, 40000};
  struct fold_call call = {.dtype = dtype,
                           .problem = fold_rows_problem(draw(seed, 3) ? FOLD_SUM : (enum fold_op)draw(seed, FOLD_OPS))};
  do {
    call.rows = draw(seed, 3) ? some_rows[draw(seed, 14)] : 1 + draw(seed, MOST_ROWS);
    call.cols = 1 + draw(seed, some_cols[draw(seed, 8)]);
    if (draw(seed, 5) == 0) call.cols = ((size_t)256 << draw(seed, 7)) - (draw(seed, 2) ? 1 + draw(seed, 40) : 0);
    if (draw(seed, 3) == 0) call.cols = (call.cols + 15) / 16 * 16;
  } while (call.rows * call.cols > TERMS - LATEST);
  call.in[0] = d_in + (draw(seed, 3) ? draw(seed, LATEST) * fold_dtype_size(dtype) : 0);
  if (draw(seed, 4) == 0) call.launch.blocks = 1 + (unsigned)draw(seed, 100);
  return call;
}

Test(gpu_rows, tuned_kernels_have_the_plain_ones_bits_at_any_shape) {
  gpu_open();
  unsigned char *d_in = gpu_alloc((size_t)TERMS * 8), *d_out = gpu_alloc((MOST_ROWS + 1) * 8);
  unsigned char *want = malloc(MOST_ROWS * 8), *got = malloc(MOST_ROWS * 8);
  cr_assert(want && got, "no memory");
  uint64_t seed = 1;
  size_t wrong = 0;
  for (int d = 0; d < GPU_DTYPES; d++) {
    const enum fold_dtype dtype = (enum fold_dtype)d;
    const struct fold_source source = {fold_generator_find("normal"), dtype, 1, TERMS, 0};
    gpu_need(fold_cuda_generate(&source, 0, TERMS, d_in, NULL));
    for (int s = 0; s < SHAPES; s++) {
      struct fold_call call = some_call(dtype, d_in, &seed);
      call.out = d_out + fold_dtype_size(dtype);
      for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        char plain[64];
        snprintf(plain, sizeof plain, "%s@plain", names[k]);
        struct fold_call simple = call;
        simple.launch.blocks = 0;
        gpu_need(gpu_run(fold_subject_find(names[k], FOLD_CUDA), call, got));
        gpu_need(gpu_run(fold_subject_find(plain, FOLD_CUDA), simple, want));
        for (size_t r = 0; r < call.rows; r++) {
          const uint64_t bits = fold_bits_load(dtype, got, r), right = fold_bits_load(dtype, want, r);
          if (fold_bits_same(dtype, bits, right) || wrong++ >= 10) continue;
          cr_expect(false, "%s: %s %s %zux%zu, %zu past a multiple of 16, %u blocks, row %zu: got %#llx, want %#llx",
                    names[k], fold_dtype_name(dtype), fold_op_name(call.problem->op), call.rows, call.cols,
                    (size_t)((uintptr_t)call.in[0] % 16), call.launch.blocks, r, (unsigned long long)bits,
                    (unsigned long long)right);
        }
      }
    }
  }
  cr_expect_eq(wrong, 0, "%zu results are wrong", wrong);
  gpu_free(d_in);
  gpu_free(d_out);
  free(want);
  free(got);
}
