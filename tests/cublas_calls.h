/* cublas_calls.h: calls of cuBLAS's subjects on host memory, for a fake of the library. */
#ifndef CUBLAS_CALLS_H
#define CUBLAS_CALLS_H

#include <criterion/criterion.h>
#include <stdlib.h>

#include "base/bits.h"
#include "model/subject.h"

enum { MOST = 4096, CANARY = 7 };

struct product {
  enum fold_dtype dtype;
  struct fold_shape shape;
  bool transposed[2];
  size_t gap; /* so much longer is each leading dimension than it need be */
};

struct arrays {
  struct fold_call call;
  _Alignas(256) unsigned char in[2][8 * MOST], out[8 * MOST];
  unsigned char *scratch;
};

static inline void lay(const struct product *p, unsigned input, ptrdiff_t stride[FOLD_AXES]) {
  const enum fold_axis down = input == 0 ? FOLD_M : FOLD_K, across = input == 0 ? FOLD_K : FOLD_N;
  const enum fold_axis slow = p->transposed[input] ? across : down, fast = p->transposed[input] ? down : across;
  const size_t leading = p->shape.at[fast] + p->gap;
  stride[fast] = 1;
  stride[slow] = (ptrdiff_t)leading;
  stride[FOLD_B] = (ptrdiff_t)(leading * p->shape.at[slow]);
}

/* Small whole numbers, of which no two neighbours are alike. */
static inline double element(unsigned input, size_t b, size_t i, size_t j) {
  return (double)((int)((5 * i + 3 * j + 2 * b + 7 * input) % 9) - 4);
}

static inline ptrdiff_t place_of(const struct arrays *a, unsigned input, size_t b, size_t i, size_t j) {
  const ptrdiff_t *stride = a->call.stride[input];
  return (ptrdiff_t)b * stride[FOLD_B] + (ptrdiff_t)i * stride[input == 0 ? FOLD_M : FOLD_K] +
         (ptrdiff_t)j * stride[input == 0 ? FOLD_K : FOLD_N];
}
static inline void put(struct arrays *a, unsigned input, size_t b, size_t i, size_t j, double x) {
  fold_bits_store(a->call.dtype, a->in[input], (size_t)place_of(a, input, b, i, j),
                  fold_bits_from_double(a->call.dtype, x));
}
static inline double got(const struct arrays *a, unsigned input, size_t b, size_t i, size_t j) {
  return fold_bits_to_double(a->call.dtype,
                             fold_bits_load(a->call.dtype, a->in[input], (size_t)place_of(a, input, b, i, j)));
}

static inline void fill_input(struct arrays *a, unsigned input) {
  const struct fold_shape *s = &a->call.shape;
  const size_t rows = input == 0 ? s->m : s->k, cols = input == 0 ? s->k : s->n;
  for (size_t i = 0; i < MOST; i++)
    fold_bits_store(a->call.dtype, a->in[input], i, fold_bits_from_double(a->call.dtype, 1000));
  for (size_t b = 0; b < s->b; b++)
    for (size_t i = 0; i < rows; i++)
      for (size_t j = 0; j < cols; j++) put(a, input, b, i, j, element(input, b, i, j));
}

/* To be freed. */
static inline struct arrays *arrays_of(const struct fold_subject *subject, const struct product *p) {
  struct arrays *a = aligned_alloc(256, (sizeof *a + 255) / 256 * 256);
  cr_assert_not_null(a);
  a->call = (struct fold_call){.dtype = p->dtype,
                               .problem = fold_problem(FOLD_MATMUL),
                               .shape = p->shape,
                               .in = {a->in[0], a->in[1]},
                               .out = a->out,
                               .stream = (void *)0x57};
  for (unsigned k = 0; k < 2; k++) lay(p, k, a->call.stride[k]), fill_input(a, k);
  const size_t room = subject->scratch ? subject->scratch(subject, &a->call) : 0;
  a->scratch = room ? aligned_alloc(256, (room + 256) / 256 * 256) : NULL;
  for (size_t i = 0; i <= FOLD_SCRATCH_ZEROED && room; i++) a->scratch[i] = 0;
  a->call.scratch = a->scratch;
  return a;
}
static inline void arrays_free(struct arrays *a) {
  free(a->scratch);
  free(a);
}

static inline double want(const struct arrays *a, size_t b, size_t i, size_t j) {
  double sum = 0;
  for (size_t t = 0; t < a->call.shape.k; t++) sum += got(a, 0, b, i, t) * got(a, 1, b, t, j);
  return sum;
}

/* Whether each result is what it should be, and the scratch's counters are still zero. */
static inline bool is_right(const struct fold_subject *subject, const struct arrays *a, double more, unsigned bits) {
  const enum fold_dtype result = fold_subject_result(subject, a->call.dtype);
  const struct fold_shape *s = &a->call.shape;
  bool right = true;
  for (size_t i = 0; i < FOLD_SCRATCH_ZEROED && a->scratch; i++) right &= a->scratch[i] == 0;
  for (size_t e = 0; e < s->b * s->m * s->n; e++) {
    const double sum = want(a, e / (s->m * s->n), e / s->n % s->m, e % s->n) + more;
    right &= fold_bits_load(result, a->out, e) == (fold_bits_from_double(result, sum + 0.0) | bits);
  }
  return right;
}

static inline const struct fold_subject *subject_of(const char *name) {
  const struct fold_subject *s = fold_subject_find(name, FOLD_CUDA);
  cr_assert_not_null(s, "%s", name);
  return s;
}

#endif
