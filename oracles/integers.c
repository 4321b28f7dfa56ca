/* integers.c: see integers.h. Machine arithmetic is that of uint64_t, whose overflow C defines: the low 64 bits of a sum or product
 * are the same for signed and unsigned numbers. */
#include "oracles/integers.h"

#include <gmp.h>

#include "base/bits.h"
#include "oracles/exact.h"

static int64_t factor(const struct fold_terms *line, unsigned f, size_t t) {
  return fold_integer_value(fold_format_of(line->dtype), fold_bits_load(line->dtype, line->factor[f], t));
}

static uint64_t identity(const struct fold_terms *line) {
  const struct fold_format f = fold_format_of(line->dtype);
  switch (line->op) {
    case FOLD_SUM: return 0;
    case FOLD_PROD: return 1;
    case FOLD_MAX: return (uint64_t)fold_integer_value(f, f.sign);
    case FOLD_MIN: return f.sign - 1;
    case FOLD_OPS: break;
  }
  return 0;
}

static uint64_t join(enum fold_op op, uint64_t a, uint64_t b) {
  switch (op) {
    case FOLD_SUM: return a + b;
    case FOLD_PROD: return a * b;
    case FOLD_MAX: return (int64_t)a < (int64_t)b ? b : a;
    case FOLD_MIN: return (int64_t)a > (int64_t)b ? b : a;
    case FOLD_OPS: break;
  }
  return 0;
}

uint64_t fold_integers_fold(const struct fold_terms *line) {
  uint64_t all = identity(line);
  for (size_t t = 0; t < line->n; t++) {
    uint64_t term = (uint64_t)factor(line, 0, t);
    if (line->factors > 1) term *= (uint64_t)factor(line, 1, t);
    all = join(line->op, all, term);
  }
  return all;
}

static void join_gmp(enum fold_op op, mpz_t all, mpz_t term) {
  switch (op) {
    case FOLD_SUM: mpz_add(all, all, term); break;
    case FOLD_PROD:
      mpz_mul(all, all, term);
      mpz_tdiv_r_2exp(all, all, 64); /* of a product the low bits alone are kept, so that it stays short */
      break;
    case FOLD_MAX:
      if (mpz_cmp(all, term) < 0) mpz_set(all, term);
      break;
    case FOLD_MIN:
      if (mpz_cmp(all, term) > 0) mpz_set(all, term);
      break;
    case FOLD_OPS: break;
  }
}

uint64_t fold_integers_fold_gmp(const struct fold_terms *line) {
  mpz_t all, term;
  mpz_init_set_si(all, (int64_t)identity(line));
  mpz_init(term);
  for (size_t t = 0; t < line->n; t++) {
    mpz_set_si(term, factor(line, 0, t));
    if (line->factors > 1) mpz_mul_si(term, term, factor(line, 1, t));
    join_gmp(line->op, all, term);
  }
  mpz_fdiv_r_2exp(all, all, 64); /* two's complement of what is negative */
  const uint64_t low = mpz_get_ui(all);
  mpz_clears(all, term, (mpz_ptr)0);
  return low;
}

uint64_t fold_integer_wrap(enum fold_dtype to, uint64_t integer) {
  return integer & fold_format_mask(fold_format_of(to));
}

uint64_t fold_integer_result(struct fold_arithmetic how, uint64_t integer) {
  const struct fold_format in = fold_format_of(how.accumulator);
  if (in.integer) integer = (uint64_t)fold_integer_value(in, integer);
  return fold_integer_wrap(how.result, integer);
}

/* A sum of numbers below 2^127 in magnitude, by halves, none of which can overflow in 2^63 terms. */
struct halves {
  unsigned __int128 low;
  __int128 high;
};

static void add(struct halves *sum, __int128 x) {
  sum->low += (uint64_t)x;
  sum->high += x >> 64;
}

static void set_128(mpz_t to, __int128 x) {
  mpz_set_si(to, (int64_t)(x >> 64));
  mpz_mul_2exp(to, to, 64);
  mpz_add_ui(to, to, (uint64_t)x);
}

static void close_halves(const struct halves *sum, mpfr_t value) {
  mpz_t high, low;
  mpz_inits(high, low, (mpz_ptr)0);
  set_128(high, sum->high);
  mpz_mul_2exp(high, high, 64);
  set_128(low, (__int128)(sum->low >> 64));
  mpz_mul_2exp(low, low, 64);
  mpz_add_ui(low, low, (uint64_t)sum->low);
  mpz_add(high, high, low);
  mpfr_set_prec(value, 192);
  mpfr_set_z(value, high, MPFR_RNDN);
  if (mpfr_zero_p(value)) mpfr_set_zero(value, 1);
  mpz_clears(high, low, (mpz_ptr)0);
}

void fold_integers_dot(const struct fold_terms *line, mpfr_t sum, mpfr_t magnitudes) {
  struct halves all = {0, 0}, positive = {0, 0};
  for (size_t t = 0; t < line->n; t++) {
    const __int128 product = (__int128)factor(line, 0, t) * factor(line, 1, t);
    add(&all, product);
    add(&positive, product < 0 ? -product : product);
  }
  close_halves(&all, sum);
  close_halves(&positive, magnitudes);
}

long fold_integers_lowest(const struct fold_terms *line) {
  long lowest = FOLD_NO_BIT;
  for (size_t t = 0; t < line->n; t++) {
    const uint64_t x = (uint64_t)factor(line, 0, t), y = line->factors > 1 ? (uint64_t)factor(line, 1, t) : 1;
    if (x == 0 || y == 0) continue;
    const long own = __builtin_ctzll(x) + __builtin_ctzll(y);
    if (own < lowest) lowest = own;
  }
  return lowest;
}
