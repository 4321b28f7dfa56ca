/* product.c: the product of a row, exact or enclosed so tightly that its rounding is proved.
 *
 * Promised: if the exact product has at most FOLD_PRODUCT_BITS significant bits it is held. Else two directed
 * products enclose it, at a precision that grows until both ends round alike in every dtype.
 *
 * It ends: a number at which rounding changes (halfway between two neighbours of a dtype, the overflow threshold
 * among them) has at most 54 significant bits, and the product has more than FOLD_PRODUCT_BITS, so it is none of them;
 * it has a positive distance to the nearest, and the enclosure's relative width, below 2 n 2^(1 - precision), falls
 * below it. (At the latest, the precision holds the exact product and the ends meet.) In practice 128 bits do.
 *
 * MPFR's exponents reach 2^62; |log2| of the product of n f64 terms is below 1075 n, so no n that fits a memory
 * overflows.
 *
 * Special values need no case of their own: MPFR multiplies by IEEE-754's rules, in which NaN stays, 0 * infinity is
 * NaN whichever comes first (a product that is zero stays zero until then, and an infinite one infinite), and the
 * sign is the parity of the signs. The policy for a product is just that.
 */
#include "oracles/truth.h"

#include "base/bits.h"
#include "oracles/integers.h"

static void set_term(mpfr_t term, enum fold_dtype dtype, const void *in, size_t i) {
  fold_mpfr_set_bits(term, dtype, fold_bits_load(dtype, in, i)); /* at least 53 bits: exact */
}

/* 0 for NaN and infinities. */
static uint64_t significand_of(struct fold_format format, uint64_t bits) {
  const int64_t integer = fold_integer_value(format, bits);
  if (format.integer) return integer < 0 ? 0 - (uint64_t)integer : (uint64_t)integer;
  if ((bits & ~format.sign) >= format.beyond) return 0;
  return (bits & format.fraction) | (bits & format.exponent ? format.fraction + 1 : 0);
}

/* The significant bits of a term: the length of its significand without trailing zeros; 1 for 0, NaN and infinities. */
static size_t width_of(enum fold_dtype dtype, uint64_t bits) {
  const uint64_t significand = significand_of(fold_format_of(dtype), bits);
  if (!significand) return 1; /* unseen: 0 */
  return (size_t)(64 - __builtin_clzll(significand) - __builtin_ctzll(significand));
}

/* Computes the exact product if it is short enough. Factors of widths w have a product of at least sum (w - 1) + 1 and
 * at most sum w bits. */
static bool hold(enum fold_dtype dtype, const void *in, size_t n, mpfr_t product) {
  size_t beyond_one = 0, most = 1; /* unseen: 2 */
  for (size_t i = 0; i < n && beyond_one < FOLD_PRODUCT_BITS; i++) {
    size_t width = width_of(dtype, fold_bits_load(dtype, in, i));
    beyond_one += width - 1; /* unseen: drop */
    if (width > 1) most += width; /* unseen: >= | 0 */
  }
  if (beyond_one + 1 > FOLD_PRODUCT_BITS) return false; /* unseen: 0 */
  if (most > FOLD_PRODUCT_BITS) most = FOLD_PRODUCT_BITS;
  mpfr_t term;
  mpfr_init2(term, 53); /* unseen: 54 */
  mpfr_set_prec(product, (mpfr_prec_t)most);
  mpfr_set_ui(product, 1, MPFR_RNDN);
  /* The odd part of a product never gets shorter, so that the first inexact step shows that the whole does not fit. */
  int inexact = 0;
  for (size_t i = 0; i < n && !inexact; i++) {
    set_term(term, dtype, in, i);
    inexact = mpfr_mul(product, product, term, MPFR_RNDN);
  }
  mpfr_clear(term);
  return !inexact;
}

static void enclose_at(mpfr_prec_t precision, const void *in, struct fold_truth *truth) {
  mpfr_t term;
  mpfr_init2(term, 53); /* unseen: 54 */
  mpfr_set_prec(truth->exact, precision);
  mpfr_set_prec(truth->exact_up, precision);
  mpfr_set_ui(truth->exact, 1, MPFR_RNDN);
  mpfr_set_ui(truth->exact_up, 1, MPFR_RNDN);
  for (size_t i = 0; i < truth->n; i++) {
    set_term(term, truth->dtype, in, i);
    mpfr_mul(truth->exact, truth->exact, term, MPFR_RNDZ);
    mpfr_mul(truth->exact_up, truth->exact_up, term, MPFR_RNDA);
  }
  mpfr_clear(term);
}

void fold_product_wrap(struct fold_truth *truth, uint64_t low) {
  for (int to = 0; to < FOLD_DTYPES; to++)
    if (fold_dtype_is_integer(to)) truth->rounded[to] = fold_integer_wrap(to, low);
}

bool fold_product_decided(const struct fold_truth *truth) {
  for (int to = 0; to < FOLD_DTYPES; to++)
    if (!fold_dtype_is_integer(to) && fold_mpfr_round(to, truth->exact) != fold_mpfr_round(to, truth->exact_up)) return false;
  return true;
}

void fold_product_enclose(const void *in, struct fold_truth *truth) {
  truth->enclosed = !hold(truth->dtype, in, truth->n, truth->exact);
  if (!truth->enclosed) return;
  mpfr_prec_t precision = 128; /* unseen: 129 */
  do {
    enclose_at(precision, in, truth);
    precision *= 2; /* unseen: 3 */
  } while (!fold_product_decided(truth));
  truth->enclosed = mpfr_regular_p(truth->exact); /* zero, infinity and NaN are exact */
}

/* The factors |x| >= 1, multiplied away from zero, and those |x| < 1, multiplied towards it, enclose the magnitude of
 * every partial product. */
void fold_product_range(const void *in, struct fold_truth *truth) {
  mpfr_t term, small;
  mpfr_inits2(64, term, small, (mpfr_ptr)0);
  mpfr_set_ui(truth->largest, 1, MPFR_RNDN);
  mpfr_set_ui(small, 1, MPFR_RNDN);
  for (size_t i = 0; i < truth->n; i++) {
    set_term(term, truth->dtype, in, i);
    if (!mpfr_regular_p(term)) continue;
    if (mpfr_get_exp(term) > 0)
      mpfr_mul(truth->largest, truth->largest, term, MPFR_RNDA);
    else
      mpfr_mul(small, small, term, MPFR_RNDZ);
  }
  mpfr_abs(truth->largest, truth->largest, MPFR_RNDN);
  truth->least_exponent = (double)(mpfr_get_exp(small) - 1); /* MPFR's x lies in [2^(e - 1), 2^e) */
  mpfr_clears(term, small, (mpfr_ptr)0); /* unseen: small , term */
}
