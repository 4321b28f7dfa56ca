/* command/bench_usual.c: what foldproof bench times on each engine, unless the user chooses. */
#include "command/bench.h"

#define COUNTED(...) (const uint64_t[]){__VA_ARGS__}, sizeof((uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t)

/* Not host/sorted: sorting takes many times as long as all others. */
#define HOST_SUBJECTS                                                                            \
  "host/sequential,host/reverse,host/pairwise,host/numpy,host/kahan,host/neumaier,host/float64," \
  "host/exact,rows/*,flat/*"
#define HOST_PEER "host/numpy"

static const struct fold_bench_usual table[FOLD_ENGINES] = {
    [FOLD_HOST] = {.row = {HOST_SUBJECTS, HOST_PEER},
                   .matrix = {HOST_SUBJECTS, HOST_PEER},
                   .dot = {"dot/*", "dot/sequential"},
                   .matvec = {"dot/*,gemm/canonical", "dot/sequential"},
                   .matmul = {"gemm/canonical,dot/exact,matmul/blocked", "matmul/blocked"},
                   .m = {COUNTED(1, 8, 64)},
                   .square = 256,
                   .iterations = 11,
                   .sizes = {COUNTED(1000, 10000, 100000, 1000000, 10000000)}},
    [FOLD_CUDA] = {.row = {"flat/*,cub/reduce*,thrust/*", "cub/reduce"},
                   .matrix = {"rows/*,cub/segmented*,flat/canonical", "cub/segmented"},
                   .dot = {"dot/*,cublas/dot", "cublas/dot"},
                   .matvec = {"gemm/canonical,gemm/exact,cublas/gemv", "cublas/gemv"},
                   .matmul = {"gemm/canonical,gemm/exact,cublas/gemm,cublas/gemm_16_8", "cublas/gemm"},
                   .m = {COUNTED(1, 8, 16, 64, 256, 2048, 4096)},
                   .square = 4096,
                   .iterations = 51,
                   .sizes = {COUNTED(1000, 10000, 100000, 1000000, 10000000, 100000000, 500000000)}},
    [FOLD_MPI] = {.iterations = 51,
                  .vector = "mpi/allreduce",
                  .sum = "mpi/sum",
                  .lengths = {COUNTED(1 << 10, 1 << 12, 1 << 14, 1 << 16, 1 << 18, 1 << 20, 1 << 22)},
                  .strong = {COUNTED(100000, 1000000)},
                  .weak = {COUNTED(100000, 1000000)}},
    [FOLD_NCCL] = {.iterations = 51,
                   .vector = "nccl/allreduce",
                   .sum = "nccl/sum",
                   .lengths = {COUNTED(1 << 10, 1 << 12, 1 << 14, 1 << 16, 1 << 18, 1 << 20, 1 << 22, 1 << 24, 1 << 26,
                                       1 << 28, 1 << 30)},
                   .strong = {COUNTED(1000000, 10000000, 100000000, 1000000000, 4000000000)},
                   .weak = {COUNTED(1000000, 100000000, 1000000000, 4000000000)}},
};

const struct fold_bench_usual *fold_bench_usual(enum fold_engine engine) { return &table[engine]; }

const struct fold_bench_contenders *fold_bench_contenders(const struct bench_command *b,
                                                          const struct fold_problem *problem) {
  const struct fold_bench_usual *usual = fold_bench_usual(b->engine);
  if (problem->id == FOLD_MATMUL) return &usual->matmul;
  if (problem->id == FOLD_MATVEC) return &usual->matvec;
  return problem->inputs > 1 ? &usual->dot : b->rows ? &usual->matrix : &usual->row;
}
