/* known_defects.c: other projects' libraries: their versions here, and the defects that the judge has found in them. */
#include <stdio.h>
#include <string.h>

#include "kernels/collective/comm.h"
#include "kernels/host/blas.h"
#include "model/subject.h"

#ifdef FOLD_HAVE_CUDA
#include "kernels/cuda/peers/peers.h"
#endif
#ifdef FOLD_HAVE_CUBLAS
#include "kernels/cuda/peers/cublas.h"
#endif

#define MAX_MIN (1u << FOLD_MAX | 1u << FOLD_MIN)
/* A comparison that is false for NaN and between zeros keeps one operand or the other, depending on which rank has
 * which. */
#define MPI_FACT(name)                                                                                      \
  {                                                                                                         \
    .subject = name, .claims = FOLD_CLAIM(FOLD_CORRECTLY_ROUNDED) | FOLD_CLAIM(FOLD_PERMUTATION_INVARIANT), \
    .ops = MAX_MIN, .lapses = FOLD_LOSES_NAN | FOLD_LOSES_SIGN,                                             \
    .seen = {{"Open MPI v4.1.4", "Open MPI v4.1.8"}, {"Open MPI v5.0.11", "Open MPI v5.0.11"}},             \
    .what = "max and min keep or lose a NaN, and a zero's sign, by which rank has it"                       \
  }
#define NCCL_FACT(name)                                                                                      \
  {                                                                                                          \
    .subject = name, .claims = FOLD_CLAIM(FOLD_CORRECTLY_ROUNDED), .ops = MAX_MIN, .lapses = FOLD_LOSES_NAN, \
    .seen = {{"NCCL 2.28.3", "NCCL 2.28.3"}}, .what = "max and min lose a NaN"                               \
  }
#define CUBLAS_TAIL(name)                                                                                  \
  {                                                                                                        \
    .subject = name, .claims = FOLD_CLAIM(FOLD_BOUNDED), .ops = 1u << FOLD_SUM, .lapses = FOLD_LOSES_TAIL, \
    .seen = {{"cuBLAS 13.1.0", "cuBLAS 13.1.0"}},                                                          \
    .what = "of 16-bit factors the last k mod 64 terms are lost at some k that is split"                   \
  }

/* What the judge refuted about peers, with the versions in which it was seen. */
static const struct fold_fact facts[] = {
    MPI_FACT("mpi/allreduce"),
    MPI_FACT("mpi/sum"),
    NCCL_FACT("nccl/allreduce"),
    NCCL_FACT("nccl/sum"),
    {.subject = "cub/reduce_gpu_to_gpu",
     .claims = FOLD_CLAIM(FOLD_BOUNDED),
     .ops = 1u << FOLD_SUM,
     .lapses = FOLD_LOSES_INFINITY | FOLD_LEAST_BINS | FOLD_WRONG_BINS | FOLD_TOP_BINS,
     .seen = {{"CCCL 3.6.0", "CCCL 3.6.0"}},
     .what = "NaN for an infinity; sums of zeros and of the least numbers are off; f64 loses small terms next to a "
             "subnormal one, and sums from 2^864 on are too small"},
    {.subject = "cub/reduce_not_guaranteed",
     .claims = FOLD_CLAIM(FOLD_BOUNDED),
     .ops = 1u << FOLD_SUM,
     .lapses = FOLD_LOSES_SUBNORMALS,
     .seen = {{"CCCL 3.6.0", "CCCL 3.6.0"}},
     .what = "a sum of f32 that is subnormal comes out as zero"},
    {.subject = "cublas/lt_bias",
     .claims = FOLD_CLAIM(FOLD_BOUNDED),
     .ops = 1u << FOLD_SUM,
     .lapses = FOLD_ROUNDS_BEFORE_BIAS,
     .seen = {{"cuBLAS 13.1.0", "cuBLAS 13.1.0"}},
     .what = "where k is split, the product is rounded to the results' dtype before the bias is added"},
    CUBLAS_TAIL("cublas/gemm_strict"),
    CUBLAS_TAIL("cublas/gemm_f32"),
    CUBLAS_TAIL("cublas/gemm_ex_f32"),
    CUBLAS_TAIL("cublas/lt_gemm"),
    CUBLAS_TAIL("cublas/lt_gemm_1mib"),
    CUBLAS_TAIL("cublas/lt_gemm_f32"),
    CUBLAS_TAIL("cublas/lt_algorithm_2"),
    CUBLAS_TAIL("cublas/lt_algorithm_3"),
    CUBLAS_TAIL("cublas/lt_algorithm_4"),
};

const struct fold_fact *fold_facts(size_t *n) {
  *n = sizeof facts / sizeof *facts;
  return facts;
}

void fold_peer_version(const struct fold_subject *subject, char text[64]) {
  const struct fold_comm_engine *engine = fold_comm_engine_of(subject->engine);
  text[0] = '\0';
  if (!subject->peer) return;
  if (engine) engine->version(text);
  if (strncmp(subject->name, "blas/", 5) == 0) {
    fold_host_blas_version(text);
    return;
  }
#ifdef FOLD_HAVE_CUDA
  int cccl = fold_peer_cccl_version();
#ifdef FOLD_HAVE_CUBLAS
  if (strncmp(subject->name, "cublas/", 7) == 0) {
    fold_cublas_version(text);
    return;
  }
#endif
  if (!engine) snprintf(text, 64, "CCCL %d.%d.%d", cccl / 1000000, cccl / 1000 % 1000, cccl % 1000);
#endif
}
