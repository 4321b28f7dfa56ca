/* fake_cublas.h: what the two fakes share: matrices of host memory, columns side by side, and factors rounded as a compute type allows. */
#ifndef FAKE_CUBLAS_H
#define FAKE_CUBLAS_H

#include <cublas_v2.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline void fake_check(bool holds, const char *what) {
  if (holds) return;
  fprintf(stderr, "fake cuBLAS: %s\n", what);
  abort();
}

static inline float fake_of_bits(uint32_t bits) {
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}
static inline uint32_t fake_bits(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

static inline double fake_of_e4m3(uint8_t x) {
  const int field = x >> 3 & 15, fraction = x & 7;
  const double magnitude = field ? (1 + fraction / 8.) * (double)(1 << field) : fraction / 8. * 2;
  return (x >> 7 ? -magnitude : magnitude) / 128;
}

static inline double fake_load(const void *at, cudaDataType type, size_t i) {
  if (type == CUDA_R_64F) return ((const double *)at)[i];
  if (type == CUDA_R_32F) return (double)((const float *)at)[i];
  if (type == CUDA_R_16F) return (double)((const _Float16 *)at)[i];
  if (type == CUDA_R_8F_E4M3) return fake_of_e4m3(((const uint8_t *)at)[i]);
  fake_check(type == CUDA_R_16BF, "a data type");
  return (double)fake_of_bits((uint32_t)((const uint16_t *)at)[i] << 16);
}

/* bf16 toward zero: what is stored here is exact. */
static inline void fake_store(void *at, cudaDataType type, size_t i, double x) {
  fake_check(type == CUDA_R_64F || type == CUDA_R_32F || type == CUDA_R_16F || type == CUDA_R_16BF, "a data type");
  if (type == CUDA_R_64F) ((double *)at)[i] = x;
  if (type == CUDA_R_32F) ((float *)at)[i] = (float)x;
  if (type == CUDA_R_16F) ((_Float16 *)at)[i] = (_Float16)x;
  if (type == CUDA_R_16BF) ((uint16_t *)at)[i] = (uint16_t)(fake_bits((float)x) >> 16);
}

static inline double fake_factor(double x, cublasComputeType_t compute) {
  if (compute == CUBLAS_COMPUTE_32F_FAST_TF32) return (double)fake_of_bits(fake_bits((float)x) >> 13 << 13);
  if (compute == CUBLAS_COMPUTE_32F_FAST_16BF) return (double)fake_of_bits(fake_bits((float)x) >> 16 << 16);
  if (compute == CUBLAS_COMPUTE_32F_FAST_16F) return (double)(_Float16)x;
  fake_check(compute == CUBLAS_COMPUTE_32F || compute == CUBLAS_COMPUTE_64F || compute == CUBLAS_COMPUTE_16F,
             "a compute type");
  return x;
}

/* A partial sum, rounded to what the compute type adds in where that is f16. */
static inline double fake_sum(double sum, cublasComputeType_t compute) {
  return compute == CUBLAS_COMPUTE_16F ? (double)(_Float16)sum : sum;
}

/* rows x cols as it is stored, columns `leading` apart. */
struct fake_matrix {
  const void *at;
  cudaDataType type;
  bool transposed;
  uint64_t rows, cols;
  int64_t leading, apart;
};

static inline double fake_element(const struct fake_matrix *x, uint64_t batch, uint64_t i, uint64_t j) {
  const uint64_t row = x->transposed ? j : i, col = x->transposed ? i : j;
  fake_check(row < x->rows && col < x->cols, "an element outside its matrix");
  return fake_load(x->at, x->type, (size_t)((int64_t)batch * x->apart + (int64_t)(col * (uint64_t)x->leading + row)));
}

/* out (m x n) = a b, and bias. */
static inline void fake_multiply(const struct fake_matrix *a, const struct fake_matrix *b, void *out,
                                 cudaDataType result, int64_t leading, int64_t apart, uint64_t batches, uint64_t m,
                                 uint64_t n, uint64_t k, cublasComputeType_t compute, const void *bias,
                                 int64_t bias_apart) {
  fake_check((compute == CUBLAS_COMPUTE_64F) == (a->type == CUDA_R_64F), "f64 is added in f64, and nothing else");
  fake_check(a->leading >= (int64_t)a->rows && b->leading >= (int64_t)b->rows && leading >= (int64_t)m,
             "a leading dimension is too small");
  for (uint64_t p = 0; p < batches; p++)
    for (uint64_t j = 0; j < n; j++)
      for (uint64_t i = 0; i < m; i++) {
        double sum = bias ? fake_load(bias, result, (size_t)((int64_t)p * bias_apart + (int64_t)i)) : 0;
        for (uint64_t t = 0; t < k; t++)
          sum = fake_sum(
              sum + fake_factor(fake_element(a, p, i, t), compute) * fake_factor(fake_element(b, p, t, j), compute),
              compute);
        fake_store(out, result, (size_t)((int64_t)p * apart + (int64_t)(j * (uint64_t)leading + i)), sum);
      }
}

#endif
