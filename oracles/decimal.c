/* decimal.c: all decimal digits of a binary number.
 *
 * Promised: the text stands for exactly the number (m 2^e is m 5^-e 10^e for negative e), no digit is rounded away.
 * NULL when memory is short, or when the number has more than FOLD_DECIMAL_BITS bits before or after the point, as a
 * product may.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "oracles/exact.h"

/* About a million decimal digits. */
#define FOLD_DECIMAL_BITS 3400000
#define PLAIN_DIGITS 40
static const char zeros[] = "0000000000000000000000000000000000000000";

/* |value| = integer * 10^exponent, as short as it can be: no trailing zeros. */
static char *digits_of(mpfr_srcptr value, long *exponent) {
  mpz_t integer, power;
  mpz_inits(integer, power, (mpz_ptr)0);
  mpfr_exp_t binary = mpfr_get_z_2exp(integer, value);
  mpz_abs(integer, integer);
  if (mpz_sgn(integer)) {
    mp_bitcnt_t twos = mpz_scan1(integer, 0); /* removing them leaves fewer digits and the smallest power of five */
    mpz_tdiv_q_2exp(integer, integer, twos);
    binary += (mpfr_exp_t)twos;
  }
  if (binary >= 0) { /* unseen: 1 */
    mpz_mul_2exp(integer, integer, (mp_bitcnt_t)binary);
  } else {
    mpz_ui_pow_ui(power, 5, (unsigned long)-binary);
    mpz_mul(integer, integer, power);
  }
  *exponent = binary < 0 ? binary : 0;
  size_t room = mpz_sizeinbase(integer, 10) + 2; /* unseen: 3 */
  char *digits = malloc(room);
  if (digits) {
    mpz_get_str(digits, 10, integer);
    size_t length = strlen(digits);
    for (; length > 1 && digits[length - 1] == '0'; length--, ++*exponent) digits[length - 1] = '\0';
  }
  mpz_clears(integer, power, (mpz_ptr)0); /* unseen: power , integer */
  return digits;
}

/* "ddd000", "dd.ddd" or "0.00ddd". */
static int write_plain(char *text, size_t room, const char *sign, const char *digits, long exponent) {
  int length = (int)strlen(digits), point = length + (int)exponent;
  if (exponent >= 0) return snprintf(text, room, "%s%s%.*s", sign, digits, (int)exponent, zeros);
  if (point > 0) return snprintf(text, room, "%s%.*s.%s", sign, point, digits, digits + point);
  return snprintf(text, room, "%s0.%.*s%s", sign, -point, zeros, digits);
}

static int write_scientific(char *text, size_t room, const char *sign, const char *digits, long exponent) {
  long leading = exponent + (long)strlen(digits) - 1;
  return snprintf(text, room, "%s%c%s%se%+ld", sign, digits[0], digits[1] ? "." : "", digits + 1, leading);
}

static char *write_finite(mpfr_srcptr value) {
  long exponent = 0;
  char *digits = digits_of(value, &exponent);
  if (!digits) return NULL;
  const char *sign = mpfr_signbit(value) ? "-" : "";
  long length = (long)strlen(digits), width = exponent >= 0 ? length + exponent : exponent;
  bool plain = exponent >= 0 ? width <= PLAIN_DIGITS : length <= PLAIN_DIGITS && -exponent <= PLAIN_DIGITS;
  size_t room = (size_t)length + 2 * PLAIN_DIGITS;
  char *text = malloc(room);
  if (text) (plain ? write_plain : write_scientific)(text, room, sign, digits, exponent);
  free(digits);
  return text;
}

char *fold_mpfr_decimal(mpfr_srcptr value) {
  if (mpfr_nan_p(value)) return strdup("nan");
  if (mpfr_inf_p(value)) return strdup(mpfr_signbit(value) ? "-inf" : "inf");
  if (mpfr_zero_p(value)) return strdup(mpfr_signbit(value) ? "-0" : "0");
  mpfr_exp_t top = mpfr_get_exp(value);
  if (top > FOLD_DECIMAL_BITS || top < -FOLD_DECIMAL_BITS) return NULL;
  return write_finite(value);
}
