/* gemm_mma.cuh: products of f64 by tensor cores, with the bits of a chain of FMA.
 *
 * Order: each result's terms in rising index, joined by FMA. That products of f64 on tensor cores are this chain is not documented. On an
 * H200 all 3.8 million results of m8n8k4 and m16n8k16 were the chain's, with exponents of the whole range, zeros and underflow; those of
 * m16n8k8, which this uses, are judged by each replay. It needs sm_90; other code takes the same lanes and computes the chain by FMA, a
 * term at a time.
 *
 * A warp has rows in groups of 16 and columns in groups of 8: a lane's row is lane / 4, and 8 more; its columns are 2 (lane % 4) and the next.
 */
#ifndef FOLD_GEMM_MMA_CUH
#define FOLD_GEMM_MMA_CUH

/* The products of 8 terms, of 16 rows by 8 columns: a[i] has the row lane / 4 + 8 (i % 2) and the term lane % 4 + 4 (i / 2), b[i] this term. */
static __device__ __forceinline__ void gemm_mma(double &d0, double &d1, double &d2, double &d3, const double (&a)[4],
                                                const double (&b)[2]) {
#if __CUDA_ARCH__ >= 900
  asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+d"(d0), "+d"(d1), "+d"(d2), "+d"(d3)
      : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b[0]), "d"(b[1]));
#endif
}

/* `a` and `b` are BK rows of shared memory from the warp's first row and column on. A term past `terms` has the factors -0 and +0,
 * which change no sum. */
template <class T>
static __device__ __forceinline__ void gemm_mma_terms(double (&sums)[T::TM][T::TN], const double *a, const double *b,
                                                      unsigned lane_m, unsigned lane_n, unsigned terms) {
#if __CUDA_ARCH__ >= 900
#pragma unroll
  for (unsigned k = 0; k < T::BK; k += 8) {
    if (k >= terms) break;
    double x[T::TM / 2][4], y[T::TN / 2][2];
#pragma unroll
    for (int i = 0; i < T::TM / 2; i++)
#pragma unroll
      for (int v = 0; v < 4; v++) {
        const unsigned at = k + lane_n + v / 2 * 4;
        x[i][v] = a[at * T::LA + i * 16 + v % 2 * 8 + lane_m];
        if (at >= terms) x[i][v] = -0.0;
      }
#pragma unroll
    for (int j = 0; j < T::TN / 2; j++)
#pragma unroll
      for (int v = 0; v < 2; v++) y[j][v] = b[(k + lane_n + v * 4) * T::LB + j * 8 + lane_m];
#pragma unroll
    for (int i = 0; i < T::TM / 2; i++)
#pragma unroll
      for (int j = 0; j < T::TN / 2; j++)
        gemm_mma(sums[2 * i][2 * j], sums[2 * i][2 * j + 1], sums[2 * i + 1][2 * j], sums[2 * i + 1][2 * j + 1], x[i],
                 y[j]);
  }
#else
  for (unsigned k = 0; k < (terms < T::BK ? terms : T::BK); k++)
#pragma unroll
    for (int i = 0; i < T::TM; i++)
#pragma unroll
      for (int j = 0; j < T::TN; j++)
        sums[i][j] = __fma_rn(a[k * T::LA + i / 2 * 16 + i % 2 * 8 + lane_m],
                              b[k * T::LB + j / 2 * 8 + lane_n * 2 + j % 2], sums[i][j]);
#endif
}

#endif
