/* command/bench_usual.c: what bench times on each engine unless the user chooses. */
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
                   .iterations = 11,
                   .sizes = {COUNTED(1000, 10000, 100000, 1000000, 10000000)}},
    [FOLD_CUDA] = {.row = {"flat/*,cub/reduce*,thrust/*", "cub/reduce"},
                   .matrix = {"rows/*,cub/segmented*,flat/canonical", "cub/segmented"},
                   .dot = {"dot/*,cublas/dot", "cublas/dot"},
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
