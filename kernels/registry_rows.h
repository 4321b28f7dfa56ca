/* registry_rows.h: what rows of the table of subjects have in common: sets of dtypes and problems, what kinds of subjects promise, and
 * a macro for each kind of row. Used by registry.c alone, which includes the declarations of what the macros name.
 */
#ifndef FOLD_REGISTRY_ROWS_H
#define FOLD_REGISTRY_ROWS_H

#include "model/subject.h"

#define ANY_DTYPE FOLD_EVERYWHERE
#define ANY_ON_HOST (WITH_INTEGERS & ~(unsigned)FOLD_ALL_INTEGERS)
#define WITH_INTEGERS ((1u << FOLD_DTYPES) - 1)
#define ANY_OP ((1u << FOLD_OPS) - 1)
#define SUMS (1u << FOLD_SUM)
#define UP_TO_16_BITS (ANY_ON_HOST & ~WIDE)
#define DOTS (1u << FOLD_DOT)
#define SCANS (1u << FOLD_SCAN | 1u << FOLD_EXCLUSIVE)
#define ANY_SCAN (SCANS | 1u << FOLD_SCAN_MAX | 1u << FOLD_SCAN_MIN)
#define KEYED (1u << FOLD_KEYED)
#define PRODUCTS (DOTS | 1u << FOLD_SUMSQ | 1u << FOLD_MATVEC | 1u << FOLD_MATMUL)

/* What every host subject promises: it keeps to its memory, and its bits depend on the row alone. */
#define INVARIANT                                                                                                 \
  (FOLD_TIDY | FOLD_CLAIM(FOLD_RUN_TO_RUN) | FOLD_CLAIM(FOLD_FRESH_PROCESS) | FOLD_CLAIM(FOLD_LAUNCH_INVARIANT) | \
   FOLD_CLAIM(FOLD_ALIGNMENT_INVARIANT) | FOLD_CLAIM(FOLD_BATCH_INVARIANT))
#define REPLAYED (INVARIANT | FOLD_CLAIM(FOLD_BOUNDED) | FOLD_CLAIM(FOLD_REPLAYS) | FOLD_CLAIM(FOLD_TREE))
#define COMPENSATED (INVARIANT | FOLD_CLAIM(FOLD_COMPENSATED) | FOLD_CLAIM(FOLD_REPLAYS))
#define DETERM (REPLAYED | FOLD_CLAIM(FOLD_SAME_BITS_AS))
#define ROUNDED_ONCE \
  (INVARIANT | FOLD_CLAIM(FOLD_FAITHFUL) | FOLD_CLAIM(FOLD_CORRECTLY_ROUNDED) | FOLD_CLAIM(FOLD_PERMUTATION_INVARIANT))

#define HOST_ORDER(id, text)                                                                                \
  {                                                                                                         \
    .name = id, .engine = FOLD_HOST, .about = text, .dtypes = ANY_ON_HOST, .problems = ANY_OP, .order = id, \
    .method = FOLD_PLAIN, .claims = REPLAYED, .run = fold_host_ordered                                      \
  }
/* Running sums, and exact ones, of problems whose terms are not a row side by side. */
#define HOST_RUNNING(id, tree, types, folds, function, text, ...)                                                  \
  {                                                                                                                \
    .name = id, .engine = FOLD_HOST, .about = text, .dtypes = types, .problems = folds, .order = tree,             \
    .method = FOLD_PLAIN, .run = function,                                                                         \
    .claims = INVARIANT | FOLD_CLAIM(FOLD_BOUNDED) | FOLD_CLAIM(FOLD_REPLAYS) | FOLD_CLAIM(FOLD_LENGTH_INVARIANT), \
    ##__VA_ARGS__                                                                                                  \
  }
#define HOST_TERMS(id, folds, text)                                                                                 \
  {                                                                                                                 \
    .name = id, .engine = FOLD_HOST, .about = text, .dtypes = ANY_ON_HOST, .problems = folds, .method = FOLD_EXACT, \
    .claims = ROUNDED_ONCE, .run = fold_host_terms_exact                                                            \
  }
#define HOST_DETERM(id, workers, text)                                                                         \
  {                                                                                                            \
    .name = id, .engine = FOLD_HOST, .about = text, .dtypes = ANY_ON_HOST, .problems = ANY_OP,                 \
    .order = "rows/par_256", .method = FOLD_PLAIN, .claims = DETERM, .twin = "rows/par_256", .width = workers, \
    .run = fold_host_determ                                                                                    \
  }
#define HOST_SUM(id, how, what, sequence, text, ...)                                                            \
  {                                                                                                             \
    .name = id, .engine = FOLD_HOST, .about = text, .dtypes = ANY_ON_HOST, .problems = SUMS, .order = sequence, \
    .method = how, .claims = what, .run = fold_host_summed, ##__VA_ARGS__                                       \
  }

/* A host subject in an order of the table whose results have another dtype. */
#define HOST_TO(id, tree, takes, to, what, text)                                                        \
  {                                                                                                     \
    .name = id, .engine = FOLD_HOST, .about = text, .dtypes = takes, .problems = ANY_OP, .order = tree, \
    .method = FOLD_PLAIN, .result = FOLD_ALWAYS(to), .claims = what, .run = fold_host_ordered           \
  }

#define HOST_DOT(id, text)                                                                                  \
  {                                                                                                         \
    .name = id, .engine = FOLD_HOST, .about = text, .dtypes = ANY_DTYPE, .problems = PRODUCTS, .order = id, \
    .method = FOLD_PLAIN, .claims = REPLAYED | FOLD_CLAIM(FOLD_STRIDE_INVARIANT), .strides = true,          \
    .run = fold_host_ordered                                                                                \
  }

/* Its documentation states no order and no bits that repeat, and nothing of NaN, infinities and what its threads leave in the process. */
#define HOST_BLAS(id, problem, function, text)                                                                         \
  {                                                                                                                    \
    .name = id, .engine = FOLD_HOST, .about = text, .dtypes = WIDE, .problems = 1u << (problem), .method = FOLD_PLAIN, \
    .claims = WELL_BEHAVED & ~FOLD_CLAIM(FOLD_LEAVES_NO_TRACE), .strides = true, .finite = true, .run = function,      \
    .peer = true                                                                                                       \
  }

/* The CUDA subjects. `@plain` is the first rung of a ladder: the same order, without the tuning. */
#define CUDA_ORDER(id, tree, what, function, room, text, ...)                                               \
  {                                                                                                         \
    .name = id, .engine = FOLD_CUDA, .about = text, .dtypes = ANY_DTYPE, .problems = ANY_OP, .order = tree, \
    .method = FOLD_PLAIN, .claims = what, .run = function, .scratch = room, ##__VA_ARGS__                   \
  }
#define CUDA_DETERM(id, function, room, text, ...)                                                                    \
  {                                                                                                                   \
    .name = id, .engine = FOLD_CUDA, .about = text, .dtypes = ANY_DTYPE, .problems = ANY_OP, .order = "rows/par_256", \
    .method = FOLD_PLAIN, .claims = DETERM, .twin = "rows/par_256", .run = function, .scratch = room, ##__VA_ARGS__   \
  }
/* A thread of a kernel as its source had it takes some 14 ns for each term, so that `verify` would wait long for longer rows. The bits of
 * the `determ` kernels on all rows are tested by name (tests/gpu/test_gpu_promises.c). */
#define BY_THREADS(n) .longest = (size_t)(n) << 14
/* An order that depends on the grid keeps its bits only for the grid that it chooses itself. */
#define GRID_BOUND (REPLAYED & ~FOLD_CLAIM(FOLD_LAUNCH_INVARIANT))
/* A control: atomics add blocks as they come. Not even bounded: the judge refuted that, for an f32 atomicAdd to global
 * memory flushes subnormals to zero (as PTX's red.add.f32 documents). */
#define UNORDERED FOLD_TIDY

#define CUDA_DOT(id, ...) \
  { .name = id, .engine = FOLD_CUDA, .dtypes = ANY_DTYPE, .problems = DOTS, __VA_ARGS__ }
#define CUDA_EXACT(id, function, room, text)                                                                     \
  {                                                                                                              \
    .name = id, .engine = FOLD_CUDA, .about = text, .dtypes = ANY_DTYPE, .problems = SUMS, .method = FOLD_EXACT, \
    .claims = ROUNDED_ONCE, .run = function, .scratch = room                                                     \
  }
#define CUDA_GEMM(id, function, room, text, ...)                                                               \
  {                                                                                                            \
    .name = id, .engine = FOLD_CUDA, .about = text, .dtypes = ANY_DTYPE,                                       \
    .problems = 1u << FOLD_MATMUL | 1u << FOLD_MATVEC, .order = "gemm/canonical", .method = FOLD_PLAIN,        \
    .claims = REPLAYED | FOLD_CLAIM(FOLD_STRIDE_INVARIANT), .strides = true, .run = function, .scratch = room, \
    ##__VA_ARGS__                                                                                              \
  }
#define CUDA_GEMM_EXACT(id, function, room, text, ...)                                                             \
  {                                                                                                                \
    .name = id, .engine = FOLD_CUDA, .about = text, .dtypes = ANY_DTYPE,                                           \
    .problems = 1u << FOLD_MATMUL | 1u << FOLD_MATVEC, .method = FOLD_EXACT,                                       \
    .claims = ROUNDED_ONCE | FOLD_CLAIM(FOLD_STRIDE_INVARIANT), .strides = true, .run = function, .scratch = room, \
    ##__VA_ARGS__                                                                                                  \
  }
/* Other people's subjects promise what their documentation says, and that the sum is the sum of some tree. */
#define CUDA_PEER(id, takes, operations, what, function, room, text, ...)                                          \
  {                                                                                                                \
    .name = id, .engine = FOLD_CUDA, .about = text, .dtypes = takes, .problems = operations, .method = FOLD_PLAIN, \
    .claims = what, .run = function, .scratch = room, .peer = true, ##__VA_ARGS__                                  \
  }
#define WIDE (1u << FOLD_F32 | 1u << FOLD_F64)
#define HALVES (1u << FOLD_F16 | 1u << FOLD_BF16)
#define WELL_BEHAVED (UNORDERED | FOLD_CLAIM(FOLD_BOUNDED))
#define RUN_TO_RUN (WELL_BEHAVED | FOLD_CLAIM(FOLD_RUN_TO_RUN) | FOLD_CLAIM(FOLD_FRESH_PROCESS))

/* NVIDIA's documentation promises the same bits in every run for one version, model and stream. */
#define CUDA_BLAS_CUT(id, types, problem, function, cut, text, ...)                                    \
  {                                                                                                    \
    .name = id, .engine = FOLD_CUDA, .about = text, .dtypes = types, .problems = 1u << FOLD_##problem, \
    .method = FOLD_PLAIN, .claims = RUN_TO_RUN, .run = function, .peer = true, .truncated = cut,       \
    .swept = FOLD_##problem == FOLD_MATMUL, ##__VA_ARGS__                                              \
  }
/* Products of 16-bit matrices are made by tensor cores. */
#define CUDA_BLAS(id, types, problem, function, text, ...) \
  CUDA_BLAS_CUT(id, types, problem, function, FOLD_##problem == FOLD_MATMUL ? HALVES : 0, text, ##__VA_ARGS__)
/* Factors of f32 may be rounded for the tensor cores. */
#define CUDA_BLAS_FAST(id, to, text)                                                                                   \
  CUDA_BLAS_CUT(id, 1u << FOLD_F32, MATMUL, fold_cublas_gemm, 1u << FOLD_F32, "cublasGemmStridedBatchedEx with " text, \
                .strides = true, .factor = FOLD_FACTORS_##to)
#define CUDA_BLAS_LT(id, mib, text)                                                     \
  CUDA_BLAS(id, ANY_DTYPE, MATMUL, fold_cublas_lt, text, .strides = true, .width = mib, \
            .scratch = fold_cublas_lt_scratch)
#define CUDA_BLAS_LT_NTH(n)                                                                                         \
  CUDA_BLAS("cublas/lt_algorithm_" #n, ANY_DTYPE, MATMUL, fold_cublas_lt_algorithm,                                 \
            "cublasLtMatmul by algorithm " #n " of those that its heuristic offers", .strides = true, .width = (n), \
            .scratch = fold_cublas_lt_scratch_most)

/* CUTLASS documents no bits that repeat. */
#define CUDA_CUTLASS(id, function, room, text, ...)                                                                   \
  CUDA_PEER(id, ANY_DTYPE, 1u << FOLD_MATMUL, WELL_BEHAVED, function, room, text, .truncated = HALVES, .swept = true, \
            ##__VA_ARGS__)

/* Collectives. A collective is launched on its world, so that it has no launch_invariant; for vectors, batch_invariant
 * is message_invariant. */
#define OVER_RANKS \
  (FOLD_TIDY | FOLD_CLAIM(FOLD_RUN_TO_RUN) | FOLD_CLAIM(FOLD_FRESH_PROCESS) | FOLD_CLAIM(FOLD_RANK_AGREEMENT))
#define REPLAYED_OVER_RANKS \
  (OVER_RANKS | FOLD_CLAIM(FOLD_BOUNDED) | FOLD_CLAIM(FOLD_REPLAYS) | FOLD_CLAIM(FOLD_ALIGNMENT_INVARIANT))
/* The claim about the order's tree as seen from outside; it was never checked over NCCL. */
#define TREE_OVER_RANKS(ranks) ((ranks) == FOLD_MPI ? FOLD_CLAIM(FOLD_TREE) : 0)
#define ROWS_OVER_RANKS (OVER_RANKS | FOLD_CLAIM(FOLD_BATCH_INVARIANT) | FOLD_CLAIM(FOLD_WORLD_INVARIANT))
/* What we claim of a library: its result is the sum of some tree, and the same on every rank and in every run. */
#define LIBRARY (OVER_RANKS | FOLD_CLAIM(FOLD_BOUNDED))

/* Our own all-reduce, the same on either engine. */
#define COLLECTIVE_CANONICAL(ranks)                                                                              \
  {                                                                                                              \
    .name = "collective/canonical", .engine = ranks, .about = "an all-reduce of vectors, by a tree over ranks",  \
    .dtypes = ANY_DTYPE, .problems = ANY_OP, .order = "host/pairwise", .method = FOLD_PLAIN,                     \
    .claims = REPLAYED_OVER_RANKS | TREE_OVER_RANKS(ranks) | FOLD_CLAIM(FOLD_MESSAGE_INVARIANT), .vector = true, \
    .run = fold_collective_canonical, .scratch = fold_collective_canonical_scratch                               \
  }
/* The libraries' own all-reduces. */
#define LIBRARY_VECTOR(id, ranks, takes, joined_in, text)                                                    \
  {                                                                                                          \
    .name = id, .engine = ranks, .about = text, .dtypes = takes, .problems = ANY_OP, .method = FOLD_PLAIN,   \
    .accumulator = joined_in, .claims = LIBRARY, .vector = true, .peer = true, .run = fold_library_allreduce \
  }
#define LIBRARY_SUM(id, ranks, over, text)                                                                        \
  {                                                                                                               \
    .name = id, .engine = ranks, .about = text, .dtypes = WIDE, .problems = ANY_OP, .method = FOLD_PLAIN,         \
    .height = over, .claims = LIBRARY, .peer = true, .run = fold_library_sum, .scratch = fold_library_sum_scratch \
  }
#define COLLECTIVE_EXACT(ranks)                                                                                    \
  {                                                                                                                \
    .name = "collective/exact", .engine = ranks, .about = "the exact sum of rows spread over ranks, rounded once", \
    .dtypes = ANY_DTYPE, .problems = SUMS, .method = FOLD_EXACT,                                                   \
    .claims = ROWS_OVER_RANKS | FOLD_CLAIM(FOLD_FAITHFUL) | FOLD_CLAIM(FOLD_CORRECTLY_ROUNDED) |                   \
              FOLD_CLAIM(FOLD_ALIGNMENT_INVARIANT) | FOLD_CLAIM(FOLD_PERMUTATION_INVARIANT),                       \
    .run = fold_collective_exact, .scratch = fold_collective_exact_scratch                                         \
  }
#define COLLECTIVE_CANONICAL_SUM(ranks)                                                                             \
  {                                                                                                                 \
    .name = "collective/canonical_sum", .engine = ranks,                                                            \
    .about = "rows spread over ranks, in flat/canonical's order: one GPU's bits", .dtypes = ANY_DTYPE,              \
    .problems = ANY_OP, .order = "flat/canonical", .method = FOLD_PLAIN,                                            \
    .claims = REPLAYED_OVER_RANKS | TREE_OVER_RANKS(ranks) | ROWS_OVER_RANKS, .run = fold_collective_canonical_sum, \
    .scratch = fold_collective_canonical_sum_scratch, .grain = fold_collective_canonical_grain                      \
  }

#endif
