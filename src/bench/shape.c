/* bench/shape.c: where the inputs of a shape are in a slot, and the call that folds them. */
#include "bench/bench.h"

size_t fold_bench_input_bytes(const struct fold_bench_shape *shape) {
  size_t nbytes = shape->rows * shape->cols * fold_dtype_size(shape->dtype);
  return (nbytes + FOLD_BENCH_ALIGN) / FOLD_BENCH_ALIGN * FOLD_BENCH_ALIGN;
}

size_t fold_bench_slot_bytes(const struct fold_bench_shape *shape) {
  return shape->problem->inputs * fold_bench_input_bytes(shape);
}

struct fold_source fold_bench_source(const struct fold_bench_options *options, const struct fold_bench_shape *shape,
                                     unsigned input) {
  struct fold_source first = {options->generator, shape->dtype, options->seed, shape->cols, 0};
  return fold_source_of_input(&first, input);
}

struct fold_call fold_bench_call(const struct fold_bench_shape *shape, const unsigned char *slot, void *out) {
  const struct fold_problem *problem = shape->problem;
  const unsigned char *last = slot + (problem->inputs - 1) * fold_bench_input_bytes(shape);
  return (struct fold_call){.dtype = shape->dtype,
                            .op = problem->op,
                            .problem = problem,
                            .rows = shape->rows,
                            .cols = shape->cols,
                            .in = slot,
                            .other = problem->factors > 1 ? last : NULL,
                            .out = out};
}
