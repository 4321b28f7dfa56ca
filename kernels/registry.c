/* registry.c: the one table of subjects: what each is, what it takes, and what it promises.
 *
 * Adding a subject is one file with its run function, the function's declaration in a header that is included here, and
 * one row. Rows promise only what is theirs by construction; the judge tries to refute each promise on every fixture.
 */
#include <string.h>

#include "kernels/collective/collective.h"
#include "kernels/host/blas.h"
#include "kernels/host/host.h"
#include "model/subject.h"

#ifdef FOLD_HAVE_OPENCL
#include "kernels/opencl/opencl_rows.h"
#endif
#ifdef FOLD_HAVE_CUDA
#include "kernels/cuda/dot/dot.h"
#include "kernels/cuda/exact/exact_device.h"
#include "kernels/cuda/flat/flat.h"
#include "kernels/cuda/gemm/gemm.h"
#ifdef FOLD_HAVE_CUTLASS
#include "kernels/cuda/peers/cutlass.h"
#endif
#ifdef FOLD_HAVE_CUBLAS
#include "kernels/cuda/peers/cublas.h"
#endif
#include "kernels/cuda/peers/peers.h"
#include "kernels/cuda/rows/rows.h"
#endif

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
#define CUDA_GEMM(id, function, room, text)                                                                   \
  {                                                                                                           \
    .name = id, .engine = FOLD_CUDA, .about = text, .dtypes = ANY_DTYPE,                                      \
    .problems = 1u << FOLD_MATMUL | 1u << FOLD_MATVEC, .order = "gemm/canonical", .method = FOLD_PLAIN,       \
    .claims = REPLAYED | FOLD_CLAIM(FOLD_STRIDE_INVARIANT), .strides = true, .run = function, .scratch = room \
  }
#define CUDA_GEMM_EXACT(id, function, room, text)                                                                 \
  {                                                                                                               \
    .name = id, .engine = FOLD_CUDA, .about = text, .dtypes = ANY_DTYPE,                                          \
    .problems = 1u << FOLD_MATMUL | 1u << FOLD_MATVEC, .method = FOLD_EXACT,                                      \
    .claims = ROUNDED_ONCE | FOLD_CLAIM(FOLD_STRIDE_INVARIANT), .strides = true, .run = function, .scratch = room \
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
#define CUDA_BLAS_CUT(id, types, problem, function, cut, text, ...)                                            \
  {                                                                                                            \
    .name = id, .engine = FOLD_CUDA, .about = text, .dtypes = types, .problems = 1u << FOLD_##problem,         \
    .method = FOLD_PLAIN, .claims = RUN_TO_RUN, .run = function, .peer = true, .truncated = cut, ##__VA_ARGS__ \
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
#define CUDA_CUTLASS(id, function, room, text, ...) \
  CUDA_PEER(id, ANY_DTYPE, 1u << FOLD_MATMUL, WELL_BEHAVED, function, room, text, .truncated = HALVES, ##__VA_ARGS__)

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

static const struct fold_subject table[] = {
    {.name = "host/sequential",
     .engine = FOLD_HOST,
     .about = "one partial, rising index",
     .dtypes = WITH_INTEGERS,
     .problems = ANY_OP,
     .order = "host/sequential",
     .method = FOLD_PLAIN,
     .wraps = true,
     .claims = REPLAYED,
     .run = fold_host_ordered},
    HOST_ORDER("host/reverse", "one partial, falling index"),
    HOST_ORDER("host/pairwise", "a perfect binary tree over neighbours"),
    {.name = "host/sorted",
     .engine = FOLD_HOST,
     .about = "rising magnitude, then one partial",
     .dtypes = ANY_ON_HOST,
     .problems = ANY_OP,
     .order = "host/sorted",
     .method = FOLD_PLAIN,
     .claims = REPLAYED & ~FOLD_CLAIM(FOLD_TREE), /* the tree depends on the values of the terms */
     .run = fold_host_ordered},
    HOST_ORDER("host/numpy", "NumPy's pairwise summation"),
    HOST_SUM("host/kahan", FOLD_KAHAN, COMPENSATED, "host/sequential", "sequential with Kahan's compensation"),
    HOST_SUM("host/neumaier", FOLD_NEUMAIER, COMPENSATED, "host/sequential", "sequential with Neumaier's compensation"),
    HOST_SUM("host/float64", FOLD_PLAIN, REPLAYED, "host/sequential", "sequential in f64, rounded once",
             .accumulator = FOLD_ALWAYS(FOLD_F64)),
    {.name = "host/exact",
     .engine = FOLD_HOST,
     .about = "superaccumulator, rounded once",
     .dtypes = WITH_INTEGERS,
     .problems = SUMS,
     .method = FOLD_EXACT,
     .wraps = true,
     .claims = ROUNDED_ONCE,
     .run = fold_host_summed},
    HOST_TO("host/sequential_f32", "host/sequential", UP_TO_16_BITS, FOLD_F32, REPLAYED,
            "one partial, rising index; the accumulator is the result"),
    HOST_TO("host/sequential_bf16", "host/sequential", 1u << FOLD_F32, FOLD_BF16, REPLAYED,
            "one partial of f32, rising index; results in bf16"),
    {.name = "host/sequential_narrow",
     .engine = FOLD_HOST,
     .about = "sequential, each partial sum rounded to the terms' dtype",
     .dtypes = UP_TO_16_BITS,
     .problems = SUMS,
     .order = "host/sequential",
     .method = FOLD_PLAIN,
     .accumulator = FOLD_OF_TERMS,
     .claims = REPLAYED,
     .run = fold_host_summed},
    {.name = "host/exact_f32",
     .engine = FOLD_HOST,
     .about = "superaccumulator of narrower terms, rounded once to f32",
     .dtypes = UP_TO_16_BITS,
     .problems = SUMS,
     .method = FOLD_EXACT,
     .result = FOLD_ALWAYS(FOLD_F32),
     .claims = ROUNDED_ONCE,
     .run = fold_host_summed},
    {.name = "dot/sequential",
     .engine = FOLD_HOST,
     .about = "dot products, rising index, each product rounded",
     .dtypes = ANY_DTYPE | FOLD_ALL_INTEGERS,
     .problems = PRODUCTS,
     .order = "dot/sequential",
     .method = FOLD_PLAIN,
     .strides = true,
     .wraps = true,
     .claims = REPLAYED | FOLD_CLAIM(FOLD_STRIDE_INVARIANT),
     .run = fold_host_ordered},
    HOST_DOT("dot/sequential_fma", "dot products, rising index, by FMA"),
    HOST_DOT("dot/pairwise", "dot products, a perfect binary tree over rounded products"),
    HOST_DOT("dot/canonical", "dot products in flat/canonical's tree, by FMA"),
    HOST_DOT("gemm/canonical", "products in an order of k alone: segments by FMA, and a tree over them"),
    {.name = "dot/exact",
     .engine = FOLD_HOST,
     .about = "dot products of exact products, superaccumulator, rounded once",
     .dtypes = ANY_DTYPE,
     .problems = PRODUCTS,
     .method = FOLD_EXACT,
     .claims = ROUNDED_ONCE | FOLD_CLAIM(FOLD_STRIDE_INVARIANT),
     .strides = true,
     .run = fold_host_terms_exact},
    {.name = "matmul/blocked",
     .engine = FOLD_HOST,
     .about = "products of matrices by tiles of m, n and k, in dot/sequential's order",
     .dtypes = ANY_DTYPE,
     .problems = 1u << FOLD_MATMUL,
     .order = "dot/sequential",
     .method = FOLD_PLAIN,
     .claims = REPLAYED | FOLD_CLAIM(FOLD_STRIDE_INVARIANT),
     .strides = true,
     .run = fold_host_blocked},
    HOST_BLAS("blas/gemm", FOLD_MATMUL, fold_host_blas_gemm, "BLAS's products of matrices"),
    HOST_BLAS("blas/gemv", FOLD_MATVEC, fold_host_blas_gemv, "BLAS's products of a matrix and a vector"),
    HOST_BLAS("blas/dot", FOLD_DOT, fold_host_blas_dot, "BLAS's dot products"),
    HOST_RUNNING("scan/sequential", "host/sequential", WITH_INTEGERS, ANY_SCAN, fold_host_scan,
                 "scans, one running sum a row", .wraps = true),
    HOST_RUNNING("scan/tiled", "scan/tiled", ANY_DTYPE, ANY_SCAN, fold_host_scan_tiled,
                 "scans by tiles of 32 in turn, the sum of the tiles before in front"),
    HOST_RUNNING("scan/warps", "scan/warps", ANY_DTYPE, SCANS, fold_host_scan_warps,
                 "scans by tiles of 32 as a warp does it, the sum of the tiles before in front"),
    {.name = "scan/exact",
     .engine = FOLD_HOST,
     .about = "scans, one running superaccumulator a row, each result rounded once",
     .dtypes = ANY_ON_HOST,
     .problems = SCANS,
     .method = FOLD_EXACT,
     .claims =
         INVARIANT | FOLD_CLAIM(FOLD_FAITHFUL) | FOLD_CLAIM(FOLD_CORRECTLY_ROUNDED) | FOLD_CLAIM(FOLD_LENGTH_INVARIANT),
     .run = fold_host_scan},
    HOST_RUNNING("keyed/sequential", "host/sequential", ANY_ON_HOST, KEYED, fold_host_keyed,
                 "keyed sums, each term to its slot as it comes"),
    HOST_TERMS("keyed/exact", KEYED, "keyed sums, each slot rounded once"),
    HOST_RUNNING("asum/sequential", "host/sequential", ANY_ON_HOST, 1u << FOLD_ASUM, fold_host_asum,
                 "sums of magnitudes, rising index"),
    HOST_TERMS("asum/exact", 1u << FOLD_ASUM, "sums of magnitudes, each rounded once"),
    HOST_ORDER("rows/single_for", "one worker a row, rising index"),
    HOST_ORDER("rows/single_back", "one worker a row, falling index"),
    HOST_ORDER("rows/par_16", "16 chunks a row, partials sequentially"),
    HOST_ORDER("rows/par_64", "64 chunks a row, partials sequentially"),
    HOST_ORDER("rows/par_256", "256 chunks a row, partials by a tree"),
    HOST_DETERM("rows/single_determ", 1, "par_256's order by one worker a row"),
    HOST_DETERM("rows/par_16_determ", 16, "par_256's order by 16 workers a row"),
    HOST_DETERM("rows/par_64_determ", 64, "par_256's order by 64 workers a row"),
    HOST_DETERM("rows/multi_block", 8, "par_256's order, a row spread over 8 blocks"),
    HOST_ORDER("flat/shuffle", "the reference study's kernel: strided threads, shuffles down, twice"),
    {.name = "flat/canonical",
     .engine = FOLD_HOST,
     .about = "a function of n only: tiles of 16 lines of 256, and trees",
     .dtypes = ANY_ON_HOST,
     .problems = ANY_OP,
     .order = "flat/canonical",
     .method = FOLD_PLAIN,
     .claims = REPLAYED | FOLD_CLAIM(FOLD_SPLIT_INVARIANT),
     .run = fold_host_ordered},
    HOST_TO("flat/canonical_f32", "flat/canonical", UP_TO_16_BITS, FOLD_F32,
            REPLAYED | FOLD_CLAIM(FOLD_SPLIT_INVARIANT), "flat/canonical's tree; the accumulator is the result"),
#ifdef FOLD_HAVE_MPI
    LIBRARY_VECTOR("mpi/allreduce", FOLD_MPI, WIDE, FOLD_USUAL, "MPI_Allreduce of a vector"),
    LIBRARY_SUM("mpi/sum", FOLD_MPI, fold_library_sum_height_tree, "each rank's own sum, and MPI_Allreduce of these"),
    COLLECTIVE_CANONICAL(FOLD_MPI),
    COLLECTIVE_EXACT(FOLD_MPI),
    COLLECTIVE_CANONICAL_SUM(FOLD_MPI),
#endif
#ifdef FOLD_HAVE_NCCL
    LIBRARY_VECTOR("nccl/allreduce", FOLD_NCCL, ANY_DTYPE, FOLD_OF_TERMS,
                   "ncclAllReduce of a vector; 16-bit elements are rounded at each addition"),
    LIBRARY_SUM("nccl/sum", FOLD_NCCL, fold_library_sum_height_any,
                "CUB's sum of each rank's columns, and ncclAllReduce of these"),
    COLLECTIVE_CANONICAL(FOLD_NCCL),
    COLLECTIVE_EXACT(FOLD_NCCL),
    COLLECTIVE_CANONICAL_SUM(FOLD_NCCL),
#endif
#ifdef FOLD_HAVE_OPENCL
    {.name = "rows/par_256",
     .engine = FOLD_OPENCL,
     .about = "256 chunks a row, a work-item each, partials by a tree",
     .dtypes = 1u << FOLD_F32 | 1u << FOLD_F64,
     .problems = SUMS,
     .order = "rows/par_256",
     .method = FOLD_PLAIN,
     .claims = DETERM,
     .twin = "host:rows/par_256",
     .run = fold_opencl_rows},
#endif
#ifdef FOLD_HAVE_CUDA
    CUDA_ORDER("rows/single_for", "rows/single_for", REPLAYED, fold_rows_single_for, NULL, "one thread a row"),
    CUDA_ORDER("rows/single_for@plain", "rows/single_for", REPLAYED, fold_rows_single_for_plain, NULL,
               "the same order, by the original, untuned kernel", BY_THREADS(1)),
    CUDA_ORDER("rows/single_back", "rows/single_back", REPLAYED, fold_rows_single_back, NULL,
               "one thread a row, falling index"),
    CUDA_ORDER("rows/single_back@plain", "rows/single_back", REPLAYED, fold_rows_single_back_plain, NULL,
               "the same order, by the original, untuned kernel", BY_THREADS(1)),
    CUDA_ORDER("rows/par_16", "rows/par_16", REPLAYED, fold_rows_par_16, NULL, "16 threads a row"),
    CUDA_ORDER("rows/par_16@plain", "rows/par_16", REPLAYED, fold_rows_par_16_plain, NULL,
               "the same order, by the original, untuned kernel", BY_THREADS(16)),
    CUDA_ORDER("rows/par_64", "rows/par_64", REPLAYED, fold_rows_par_64, NULL, "64 threads a row"),
    CUDA_ORDER("rows/par_64@plain", "rows/par_64", REPLAYED, fold_rows_par_64_plain, NULL,
               "the same order, by the original, untuned kernel"),
    CUDA_ORDER("rows/par_256", "rows/par_256", REPLAYED, fold_rows_par_256, fold_rows_spread_scratch,
               "256 threads a row"),
    CUDA_ORDER("rows/par_256@plain", "rows/par_256", REPLAYED, fold_rows_par_256_plain, NULL,
               "the same order, by the original, untuned kernel"),
    {.name = "rows/par_256_f32",
     .engine = FOLD_CUDA,
     .about = "256 threads a row, 16-bit terms; the accumulator is the result",
     .dtypes = ANY_DTYPE & ~WIDE,
     .problems = ANY_OP,
     .order = "rows/par_256",
     .method = FOLD_PLAIN,
     .result = FOLD_OF_ACCUMULATOR,
     .claims = REPLAYED,
     .run = fold_rows_par_256_f32},
    CUDA_DETERM("rows/single_determ", fold_rows_single_determ, NULL, "par_256's order by one thread a row"),
    CUDA_DETERM("rows/single_determ@plain", fold_rows_single_determ_plain, NULL,
                "the same order, by the original, untuned kernel", BY_THREADS(1)),
    CUDA_DETERM("rows/par_16_determ", fold_rows_par_16_determ, NULL, "par_256's order by 16 threads a row"),
    CUDA_DETERM("rows/par_16_determ@plain", fold_rows_par_16_determ_plain, NULL,
                "the same order, by the original, untuned kernel", BY_THREADS(16)),
    CUDA_DETERM("rows/par_64_determ", fold_rows_par_64_determ, NULL, "par_256's order by 64 threads a row"),
    CUDA_DETERM("rows/par_64_determ@plain", fold_rows_par_64_determ_plain, NULL,
                "the same order, by the original, untuned kernel"),
    CUDA_DETERM("rows/multi_block", fold_rows_multi_block, fold_rows_spread_scratch,
                "par_256's order, a row spread over several blocks"),
    CUDA_ORDER("flat/shuffle", "flat/shuffle", REPLAYED, fold_flat_shuffle, fold_flat_shuffle_scratch,
               "the reference study's kernel, tuned"),
    CUDA_ORDER("flat/shuffle@plain", "flat/shuffle", GRID_BOUND, fold_flat_shuffle_plain, fold_flat_shuffle_scratch,
               "the reference study's original, untuned kernel"),
    CUDA_ORDER("flat/cooperative", "flat/shuffle", REPLAYED, fold_flat_cooperative, fold_flat_cooperative_scratch,
               "the reference study's order in one cooperative launch"),
    CUDA_ORDER("flat/canonical", "flat/canonical", REPLAYED | FOLD_CLAIM(FOLD_SPLIT_INVARIANT), fold_flat_canonical,
               fold_flat_canonical_scratch, "a function of n only, one launch"),
    {.name = "flat/atomic",
     .engine = FOLD_CUDA,
     .about = "a control: blocks add to one cell as they come",
     .dtypes = ANY_DTYPE,
     .problems = SUMS,
     .method = FOLD_PLAIN,
     .claims = UNORDERED,
     .run = fold_flat_atomic,
     .scratch = fold_flat_atomic_scratch},
    CUDA_EXACT("flat/exact", fold_exact_flat, fold_exact_flat_scratch, "the exact sum, rounded once; for long rows"),
    CUDA_EXACT("rows/exact", fold_exact_rows, fold_exact_rows_scratch, "the exact sum, rounded once; for many rows"),
    CUDA_DOT("dot/canonical", .order = "dot/canonical", .method = FOLD_PLAIN, .claims = REPLAYED,
             .run = fold_cuda_dot_canonical, .scratch = fold_cuda_dot_canonical_scratch,
             .about = "dot products in flat/canonical's tree, by FMA"),
    CUDA_DOT("dot/exact", .method = FOLD_EXACT, .claims = ROUNDED_ONCE, .run = fold_cuda_dot_exact,
             .scratch = fold_cuda_dot_exact_scratch, .about = "dot products of exact products, rounded once"),
    CUDA_GEMM("gemm/canonical", fold_cuda_gemm, fold_cuda_gemm_scratch,
              "products in an order of k alone, by tiles in shared memory"),
    CUDA_GEMM("gemm/canonical@plain", fold_cuda_gemm_plain, NULL, "the same order, by one thread a result"),
    CUDA_GEMM_EXACT("gemm/exact", fold_cuda_gemm_exact, fold_cuda_gemm_exact_scratch,
                    "products, each result rounded once; by tensor cores on integers"),
    CUDA_GEMM_EXACT("gemm/exact@plain", fold_cuda_gemm_exact_plain, NULL,
                    "products, each result rounded once; by one warp a result"),
#ifdef FOLD_HAVE_CUBLAS
    CUDA_DOT("cublas/dot", .method = FOLD_PLAIN, .claims = RUN_TO_RUN, .run = fold_cublas_dot, .peer = true,
             .about = "cublasDotEx"),
    CUDA_BLAS("cublas/asum", WIDE, ASUM, fold_cublas_asum, "cublasSasum, cublasDasum"),
    CUDA_BLAS("cublas/gemv", WIDE, MATVEC, fold_cublas_gemv, "cublasSgemv, cublasDgemv", .strides = true),
    CUDA_BLAS("cublas/gemm", ANY_DTYPE, MATMUL, fold_cublas_gemm,
              "cublasGemmStridedBatchedEx as it comes: parts of a sum may be rounded to 16 bits", .strides = true,
              .accumulator = FOLD_OF_TERMS),
    CUDA_BLAS("cublas/gemm_strict", ANY_DTYPE, MATMUL, fold_cublas_gemm,
              "cublasGemmStridedBatchedEx, parts of a sum added in f32 or f64", .strides = true, .width = 1),
    CUDA_BLAS("cublas/gemm_f32", ANY_DTYPE & ~WIDE, MATMUL, fold_cublas_gemm,
              "cublasGemmStridedBatchedEx of 16-bit terms; results in f32", .strides = true,
              .result = FOLD_ALWAYS(FOLD_F32)),
    CUDA_BLAS("cublas/gemm_16_8", ANY_DTYPE, MATMUL, fold_cublas_gemm,
              "cublasGemmStridedBatchedEx with a workspace of 8 x 16 KiB, as CUBLAS_WORKSPACE_CONFIG=:16:8 gives",
              .strides = true, .accumulator = FOLD_OF_TERMS, .scratch = fold_cublas_gemm_scratch),
    CUDA_BLAS("cublas/gemm_ex", ANY_DTYPE, MATMUL, fold_cublas_gemm_ex,
              "cublasGemmEx as it comes, which frameworks call for two matrices", .strides = true,
              .accumulator = FOLD_OF_TERMS),
    CUDA_BLAS_FAST("cublas/gemm_tf32", TF32, "CUBLAS_COMPUTE_32F_FAST_TF32"),
    CUDA_BLAS_FAST("cublas/gemm_fast_bf16", BF16, "CUBLAS_COMPUTE_32F_FAST_16BF"),
    CUDA_BLAS_FAST("cublas/gemm_fast_f16", F16, "CUBLAS_COMPUTE_32F_FAST_16F"),
    CUDA_BLAS_LT("cublas/lt_gemm", 32, "cublasLtMatmul with a workspace of 32 MiB"),
    CUDA_BLAS_LT("cublas/lt_gemm_1mib", 1, "cublasLtMatmul with a workspace of 1 MiB"),
    CUDA_BLAS_LT("cublas/lt_gemm_0", 0, "cublasLtMatmul without a workspace"),
    CUDA_BLAS_CUT("cublas/lt_gemm_tf32", 1u << FOLD_F32, MATMUL, fold_cublas_lt, 1u << FOLD_F32,
                  "cublasLtMatmul with CUBLAS_COMPUTE_32F_FAST_TF32", .strides = true, .width = 32,
                  .factor = FOLD_FACTORS_TF32, .scratch = fold_cublas_lt_scratch),
    CUDA_BLAS("cublas/lt_bias", ANY_DTYPE, MATMUL, fold_cublas_lt_bias,
              "cublasLtMatmul with a bias, where the first matrix ends with a column of ones", .strides = true,
              .scratch = fold_cublas_lt_scratch_most),
    CUDA_BLAS_LT_NTH(2),
    CUDA_BLAS_LT_NTH(3),
    CUDA_BLAS_LT_NTH(4),
    CUDA_BLAS_LT_NTH(5),
    CUDA_BLAS_LT_NTH(6),
    CUDA_BLAS_LT_NTH(7),
    CUDA_BLAS_LT_NTH(8),
#endif
#ifdef FOLD_HAVE_CUTLASS
    CUDA_CUTLASS("cutlass/gemm", fold_cutlass_gemm, fold_cutlass_gemm_scratch,
                 "CUTLASS's GemmUniversal, one block a tile"),
    CUDA_CUTLASS("cutlass/gemm_split_k", fold_cutlass_gemm, fold_cutlass_gemm_scratch,
                 "CUTLASS's GemmUniversal, four blocks a tile that add to it in turn, in its dtype", .width = 4,
                 .accumulator = FOLD_OF_TERMS),
    CUDA_CUTLASS("cutlass/stream_k", fold_cutlass_stream_k, fold_cutlass_stream_k_scratch,
                 "CUTLASS's GemmUniversal, blocks that share all tiles' terms evenly"),
#endif
    CUDA_PEER("thrust/reduce", ANY_DTYPE, ANY_OP, WELL_BEHAVED, fold_peer_thrust, NULL, "thrust::reduce"),
    CUDA_PEER("cub/reduce", ANY_DTYPE, ANY_OP, RUN_TO_RUN, fold_peer_cub, fold_peer_cub_scratch,
              "cub::DeviceReduce, the default: documented as run_to_run"),
    CUDA_PEER("cub/segmented", ANY_DTYPE, ANY_OP, RUN_TO_RUN, fold_peer_cub_segmented, fold_peer_cub_segmented_scratch,
              "cub::DeviceSegmentedReduce: documented as run_to_run"),
    CUDA_PEER("cub/reduce_not_guaranteed", WIDE, SUMS, WELL_BEHAVED, fold_peer_cub_not_guaranteed, NULL,
              "cub::DeviceReduce, determinism not_guaranteed (CCCL 3.1 and newer)"),
    {.name = "cub/reduce_gpu_to_gpu",
     .engine = FOLD_CUDA,
     .about = "cub::DeviceReduce, determinism gpu_to_gpu (CCCL 3.1 and newer): documented as the same on every GPU",
     .dtypes = WIDE,
     .problems = SUMS,
     .method = FOLD_PLAIN,
     .claims = RUN_TO_RUN | FOLD_CLAIM(FOLD_LAUNCH_INVARIANT) | FOLD_CLAIM(FOLD_ALIGNMENT_INVARIANT) |
               FOLD_CLAIM(FOLD_BATCH_INVARIANT),
     .run = fold_peer_cub_gpu_to_gpu,
     .any_gpu = true,
     .peer = true},
#endif
};

const struct fold_subject *fold_subjects(size_t *n) {
  *n = sizeof table / sizeof *table;
  return table;
}

const struct fold_subject *fold_subject_find(const char *name, enum fold_engine engine) {
  for (size_t i = 0; i < sizeof table / sizeof *table; i++)
    if (table[i].engine == engine && strcmp(table[i].name, name) == 0) return &table[i];
  return NULL;
}
