/* reveal_guests.c: a guest whose subjects tempt foldproof reveal to tell a wrong tree, or none; test_reveal.py says
 * what it must tell. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "foldproof_guest.h"

typedef const struct foldproof_guest_call call_of;

static float in_turn(const float *x, uint64_t n) {
  float s = 0;
  for (uint64_t i = 0; i < n; i++) s += x[i];
  return s;
}
static float pairwise(const float *x, uint64_t n) {
  return n == 1 ? x[0] : pairwise(x, n / 2) + pairwise(x + n / 2, n - n / 2);
}
static float most(const float *x, uint64_t n) {
  float m = 0;
  for (uint64_t i = 0; i < n; i++) m = fmaxf(m, fabsf(x[i]));
  return m;
}
static uint64_t count(const float *x, uint64_t n, int (*is)(float, float)) {
  uint64_t k = 0;
  for (uint64_t i = 0; i < n; i++) k += (uint64_t)is(x[i], x[0]);
  return k;
}
static int is_zero(float x, float first) { return (void)first, x == 0; }
static int is_negative_zero(float x, float first) { return (void)first, x == 0 && signbit(x); }
static int is_negative(float x, float first) { return (void)first, signbit(x) != 0; }
static int is_like_first(float x, float first) { return x == first; }
static int is_subnormal(float x, float first) { return (void)first, x != 0 && fabsf(x) < 0x1p-126f; }

/* Row by row: pairwise where `other` holds, else in turn. */
#define ROWS(name, other)                                          \
  static int name(call_of *c, void *context) {                     \
    (void)context;                                                 \
    for (uint64_t r = 0, n = c->cols; r < c->rows; r++) {          \
      const float *x = (const float *)c->in + r * n;               \
      ((float *)c->out)[r] = ((other) ? pairwise : in_turn)(x, n); \
    }                                                              \
    return 0;                                                      \
  }
ROWS(plain, 0)
ROWS(by_zeros, count(x, n, is_zero) > 0)
ROWS(by_negative_zeros, count(x, n, is_negative_zero) > 0)
ROWS(by_many_zeros, 2 * count(x, n, is_zero) > n)
ROWS(by_sign, count(x, n, is_negative) == 0)
ROWS(by_other_sign, count(x, n, is_negative) == n)
ROWS(by_equality, count(x, n, is_like_first) == n)
ROWS(by_subnormals, count(x, n, is_subnormal) > 0)
ROWS(by_large, most(x, n) > 0x1p53f && most(x, n) < 0x1p116f)
ROWS(by_small, most(x, n) < 0x1p-40f)
ROWS(by_bottom, most(x, n) < 0x1p-100f)
ROWS(by_place, r >= 96)
ROWS(by_late_place, r >= 512)
ROWS(by_address, (uintptr_t)x % 16 != 0)
ROWS(by_some_batches, c->rows > 1 && c->rows < 96)

static int exits(call_of *c, void *context) {
  (void)c, (void)context;
  exit(0);
}
static int ends(call_of *c, void *context) {
  (void)c, (void)context;
  printf("order        host/sequential\n");
  fflush(stdout);
  _exit(0);
}
static int prints(call_of *c, void *context) {
  printf("order        host/pairwise\n");
  fflush(stdout);
  return plain(c, context);
}
static int hangs(call_of *c, void *context) {
  (void)c, (void)context;
  for (;;) pause();
  return 0;
}
static int clears_its_input(call_of *c, void *context) {
  plain(c, context);
  memset((void *)(uintptr_t)c->in, 0, c->rows * c->cols * sizeof(float));
  return 0;
}
static int writes_beyond(call_of *c, void *context) {
  plain(c, context);
  ((float *)c->out)[c->rows] = 1;
  return 0;
}
static int spoils_late_rows(call_of *c, void *context) {
  plain(c, context);
  for (uint64_t r = 96; r < c->rows; r++) ((float *)c->out)[r] = 7;
  return 0;
}

static int fma_by_value(call_of *c, void *context) {
  (void)context;
  for (uint64_t r = 0; r < c->rows; r++) {
    const float *x = (const float *)c->in + r * c->cols, *y = (const float *)c->other + r * c->cols;
    float s = 0;
    for (uint64_t i = 0; i < c->cols; i++) {
      const float product = x[i] * y[i];
      s = fabsf(y[i]) > 1.5f ? fmaf(x[i], y[i], s) : s + product;
    }
    ((float *)c->out)[r] = s;
  }
  return 0;
}
static int dot_in_double(call_of *c, void *context) {
  (void)context;
  for (uint64_t r = 0; r < c->rows; r++) {
    double s = 0;
    for (uint64_t i = r * c->cols; i < (r + 1) * c->cols; i++)
      s += (double)((const float *)c->in)[i] * ((const float *)c->other)[i];
    ((float *)c->out)[r] = (float)s;
  }
  return 0;
}
/* As OpenBLAS's sdot: whole groups of 32 in f32; the other products, rounded to f32, are added in f64. */
static float dot_group_by_group(const float *x, const float *y, uint64_t n, int wide) {
  float head = 0, narrow = 0;
  double tail = 0;
  uint64_t i = 0;
  for (; i < n / 32 * 32; i++) {
    const float product = x[i] * y[i];
    head += product;
  }
  for (; i < n; i++) {
    const float product = x[i] * y[i];
    tail += product;
    narrow += product;
  }
  return wide ? (float)(tail + head) : narrow + head;
}
static int dot_tail_in_double(call_of *c, void *context) {
  (void)context;
  for (uint64_t r = 0, n = c->cols; r < c->rows; r++)
    ((float *)c->out)[r] = dot_group_by_group((const float *)c->in + r * n, (const float *)c->other + r * n, n, 1);
  return 0;
}
static int dot_tail_by_value(call_of *c, void *context) {
  (void)context;
  for (uint64_t r = 0, n = c->cols; r < c->rows; r++) {
    const float *x = (const float *)c->in + r * n;
    ((float *)c->out)[r] = dot_group_by_group(x, (const float *)c->other + r * n, n, x[0] < 0);
  }
  return 0;
}
/* Products that are rounded to f32, all added in f64. */
static int dot_of_rounded_products(call_of *c, void *context) {
  (void)context;
  for (uint64_t r = 0; r < c->rows; r++) {
    double s = 0;
    for (uint64_t i = r * c->cols; i < (r + 1) * c->cols; i++) {
      const float product = ((const float *)c->in)[i] * ((const float *)c->other)[i];
      s += product;
    }
    ((float *)c->out)[r] = (float)s;
  }
  return 0;
}
/* Exact products are added in f64 to a sum of rounded ones in f32. */
static int dot_tail_of_exact_products(call_of *c, void *context) {
  (void)context;
  for (uint64_t r = 0; r < c->rows; r++) {
    const float *x = (const float *)c->in + r * c->cols, *y = (const float *)c->other + r * c->cols;
    const uint64_t half = c->cols / 2;
    double s = dot_group_by_group(x, y, half / 32 * 32, 0);
    for (uint64_t i = half / 32 * 32; i < c->cols; i++) s += (double)x[i] * y[i];
    ((float *)c->out)[r] = (float)s;
  }
  return 0;
}
/* Blocks of 16 in f32, their sums in f64; the converse; and blocks whose f64 sums are rounded before they are added. */
static int blocks_in_single(call_of *c, void *context) {
  (void)context;
  for (uint64_t r = 0; r < c->rows; r++) {
    const float *x = (const float *)c->in + r * c->cols;
    double s = 0;
    for (uint64_t i = 0; i < c->cols; i += 16) s += in_turn(x + i, c->cols - i < 16 ? c->cols - i : 16);
    ((float *)c->out)[r] = (float)s;
  }
  return 0;
}
static int blocks_in_double(call_of *c, void *context) {
  (void)context;
  for (uint64_t r = 0; r < c->rows; r++) {
    const float *x = (const float *)c->in + r * c->cols;
    float s = 0;
    for (uint64_t i = 0; i < c->cols; i += 16) {
      double block = 0;
      for (uint64_t k = i; k < i + 16 && k < c->cols; k++) block += x[k];
      s += (float)block;
    }
    ((float *)c->out)[r] = s;
  }
  return 0;
}

#define SUM(f) \
  { .name = "guest/" #f, .run = f }
static const struct foldproof_guest_subject subjects[] = {
    SUM(plain),
    SUM(by_zeros),
    SUM(by_negative_zeros),
    SUM(by_many_zeros),
    SUM(by_sign),
    SUM(by_other_sign),
    SUM(by_equality),
    SUM(by_subnormals),
    SUM(by_large),
    SUM(by_small),
    SUM(by_bottom),
    SUM(by_place),
    SUM(by_late_place),
    SUM(by_address),
    SUM(by_some_batches),
    SUM(exits),
    SUM(ends),
    SUM(prints),
    SUM(hangs),
    SUM(clears_its_input),
    SUM(writes_beyond),
    SUM(spoils_late_rows),
    {.name = "guest/fma_by_value", .problems = "dot", .run = fma_by_value},
    {.name = "guest/dot_in_double", .problems = "dot", .run = dot_in_double},
    {.name = "guest/dot_tail_in_double", .problems = "dot", .run = dot_tail_in_double},
    {.name = "guest/dot_tail_by_value", .problems = "dot", .run = dot_tail_by_value},
    {.name = "guest/dot_of_rounded_products",
     .problems = "dot",
     .order = "dot/sequential",
     .run = dot_of_rounded_products},
    {.name = "guest/dot_tail_of_exact_products", .problems = "dot", .run = dot_tail_of_exact_products},
    SUM(blocks_in_single),
    SUM(blocks_in_double),
};

const struct foldproof_guest_table *foldproof_guest(void) {
  static const struct foldproof_guest_table table = {FOLDPROOF_GUEST_ABI, sizeof *subjects,
                                                     sizeof subjects / sizeof *subjects, subjects};
  return &table;
}
