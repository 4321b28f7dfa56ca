/* check.h: checks a certificate: a text file that says what was summed, how, and what came out.
 *
 * The checker shares nothing with the harness: no kernel, no oracle, no order, no table of formats. It reads numbers as integers in units
 * of a power of two, and rounds them itself. It is written a second time in Python (tests/check_certificate.py).
 */
#ifndef FOLD_CHECK_H
#define FOLD_CHECK_H

#include <gmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* True if everything in it holds. `why`: "LINE: FIELD: what is wrong", or what was checked. *read: whether the file
 * could be read and begins like a certificate. */
bool fold_certificate_check(const char *path, bool *read, char why[300]);
/* The same for the bytes of a file. */
bool fold_certificate_check_bytes(const char *bytes, size_t n, char why[300]);

/* For the writer of certificates. */
struct fold_cert_format {
  const char *name;
  int bits, precision, emin, emax;
};
const struct fold_cert_format *fold_cert_format_of(const char *name);
/* The bound of |result - exact| for a sum of terms (or products) in a tree of height `height`, or -1 if it is rounded
 * from the exact value. It is the pattern of an f64 that is not below that bound; UINT64_MAX if it is not finite, or if
 * the tree is too high for a bound. `exact` and `magnitude` (the sum of the terms' magnitudes) are in units of
 * 2^unit. */
uint64_t fold_cert_bound(const mpz_t exact, const mpz_t magnitude, int unit, long height, size_t n, bool products,
                         const struct fold_cert_format *dtype, const struct fold_cert_format *accumulator,
                         const struct fold_cert_format *result);
/* x is an integer in units of 2^unit. fold_cert_number sets it to the number of a pattern (false if that is not
 * finite); the others round it to nearest even, and give its pattern in the format (UINT64_MAX if it is beyond the
 * format's numbers). */
bool fold_cert_number(mpz_t x, int unit, const struct fold_cert_format *format, uint64_t bits);
void fold_cert_round(mpz_t x, int unit, const struct fold_cert_format *format);
uint64_t fold_cert_pattern(const mpz_t x, int unit, const struct fold_cert_format *format);
void fold_cert_sha256(const void *data, size_t nbytes, char hex[65]);
uint32_t fold_cert_crc(unsigned long line, const char *text, size_t n);

#endif
