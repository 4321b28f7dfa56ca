/* check.c: a certificate, line by line: what each line says, and how it is checked.
 *
 *   foldproof-certificate 1
 *   subject, engine, case, generator      statements: who was run, on what
 *   problem sum | dot                     the terms: elements of a row of input 0, or products of two inputs'
 *   dtype, accumulator, result            formats of the terms, of each join (a statement where the method is exact: there are no joins), of
 *                                         the results
 *   rows R, cols N
 *   input K PATTERNS                      R x N patterns in hexadecimal, p*k for k times p; several lines
 *   input-sha256 K HEX                    of the elements' bytes, little-endian
 *   method tree | exact
 *   order NAME                            a statement: what the tree is called
 *   tree JOINS                            join j makes node N + j of operands "a,b" (terms 0 .. N - 1, former nodes); "+a,+b*k": k times
 *                                         the former join's operands raised so; several lines; the last node is the root
 *   fused RANGES                          terms "a..b" whose exact product is added to the other operand with one rounding; "-" none
 *   height H                              the most joins above a term
 *   results PATTERNS                      one a row: the root, rounded to the result's format; or the exact value, rounded
 *   exact VALUES                          one a row: an odd hexadecimal integer, "p", the exponent of two; 0p0
 *   bound PATTERNS                        f64, one a row, not below what |result - exact| is at most (fold_cert_bound)
 *   environment KEY VALUE                 statements
 *   sha256 HEX                            of all bytes before this line
 *
 * Each line ends in " #" and the CRC-32 of its number, ":" and its text before that, so that a changed bit is found in its line. All
 * roundings are to nearest even, and no partial sum is beyond the accumulator's numbers. Numbers that are not finite, and zeros that are negative, have no certificate.
 */
#include "certify/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct fold_cert_format formats[] = {
    {"f16", 16, 11, -14, 15},     {"bf16", 16, 8, -126, 127}, {"f32", 32, 24, -126, 127},
    {"f64", 64, 53, -1022, 1023}, {"e4m3", 8, 4, -6, 8},      {"e5m2", 8, 3, -14, 15},
};

const struct fold_cert_format *fold_cert_format_of(const char *name) {
  for (size_t k = 0; k < sizeof formats / sizeof *formats; k++)
    if (strcmp(name, formats[k].name) == 0) return &formats[k];
  return NULL;
}

static int least(const struct fold_cert_format *f) { return f->emin - f->precision + 1; }

/* CRC-32 as zip has it. */
static uint32_t crc(uint32_t sum, const void *data, size_t n) {
  for (size_t k = 0; k < n; k++) {
    sum ^= ((const unsigned char *)data)[k];
    for (int bit = 0; bit < 8; bit++) sum = sum >> 1 ^ (sum & 1 ? 0xedb88320u : 0);
  }
  return sum;
}

uint32_t fold_cert_crc(unsigned long line, const char *text, size_t n) {
  char number[24];
  const int length = snprintf(number, sizeof number, "%lu:", line);
  return ~crc(crc(~0u, number, (size_t)length), text, n);
}

/* SHA-256, FIPS 180-4. */
static uint32_t turn(uint32_t x, int n) { return x >> n | x << (32 - n); }

/* The first 32 bits of the fraction of the square or cube root of the n-th prime, by integers: floor(root(p) 2^32) mod
 * 2^32. */
static uint32_t fraction(unsigned prime, unsigned root) {
  mpz_t x;
  mpz_init_set_ui(x, prime);
  mpz_mul_2exp(x, x, 32 * root);
  mpz_root(x, x, root);
  const uint32_t bits = (uint32_t)mpz_get_ui(x);
  mpz_clear(x);
  return bits;
}

static void constants(uint32_t h[8], uint32_t k[64]) {
  unsigned n = 0;
  for (unsigned p = 2; n < 64; p++) {
    bool prime = true;
    for (unsigned d = 2; d * d <= p; d++) prime &= p % d != 0;
    if (!prime) continue;
    if (n < 8) h[n] = fraction(p, 2);
    k[n++] = fraction(p, 3);
  }
}

static void sha_block(uint32_t h[8], const uint32_t k[64], const unsigned char *b) {
  uint32_t w[64], v[8];
  for (int t = 0; t < 16; t++)
    w[t] = (uint32_t)b[4 * t] << 24 | (uint32_t)b[4 * t + 1] << 16 | (uint32_t)b[4 * t + 2] << 8 | b[4 * t + 3];
  for (int t = 16; t < 64; t++)
    w[t] = w[t - 16] + w[t - 7] + (turn(w[t - 15], 7) ^ turn(w[t - 15], 18) ^ w[t - 15] >> 3) +
           (turn(w[t - 2], 17) ^ turn(w[t - 2], 19) ^ w[t - 2] >> 10);
  memcpy(v, h, sizeof v);
  for (int t = 0; t < 64; t++) {
    const uint32_t s1 = turn(v[4], 6) ^ turn(v[4], 11) ^ turn(v[4], 25), ch = (v[4] & v[5]) ^ (~v[4] & v[6]);
    const uint32_t s0 = turn(v[0], 2) ^ turn(v[0], 13) ^ turn(v[0], 22),
                   most = (v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]), one = v[7] + s1 + ch + k[t] + w[t];
    memmove(v + 1, v, 7 * sizeof *v);
    v[4] += one;
    v[0] = one + s0 + most;
  }
  for (int i = 0; i < 8; i++) h[i] += v[i];
}

void fold_cert_sha256(const void *data, size_t n, char hex[65]) {
  uint32_t h[8], k[64];
  unsigned char end[128] = {0};
  const size_t whole = n / 64 * 64, rest = n - whole, padded = rest < 56 ? 64 : 128;
  constants(h, k);
  for (size_t at = 0; at < whole; at += 64) sha_block(h, k, (const unsigned char *)data + at);
  memcpy(end, (const unsigned char *)data + whole, rest);
  end[rest] = 0x80;
  for (int b = 0; b < 8; b++) end[padded - 1 - b] = (unsigned char)((uint64_t)n * 8 >> (8 * b));
  for (size_t at = 0; at < padded; at += 64) sha_block(h, k, end + at);
  for (int i = 0; i < 8; i++) snprintf(hex + 8 * i, 9, "%08x", h[i]);
}

/* Rounds x, in units of 2^unit, to p bits and to multiples of 2^lowest: to nearest even, or away from zero. */
static void round_to(mpz_t x, int unit, int precision, int lowest, bool away) {
  const long over = (long)mpz_sizeinbase(x, 2) - precision, drop = over > lowest - unit ? over : lowest - unit;
  if (mpz_sgn(x) == 0 || drop <= 0) return;
  mpz_t half;
  const bool negative = mpz_sgn(x) < 0;
  mpz_init(half);
  mpz_abs(x, x);
  if (away) {
    mpz_cdiv_q_2exp(x, x, (mp_bitcnt_t)drop);
  } else {
    const bool tie = mpz_scan1(x, 0) == (mp_bitcnt_t)drop - 1;
    mpz_setbit(half, (mp_bitcnt_t)drop - 1);
    mpz_add(x, x, half);
    mpz_fdiv_q_2exp(x, x, (mp_bitcnt_t)drop);
    if (tie) mpz_clrbit(x, 0);
  }
  mpz_mul_2exp(x, x, (mp_bitcnt_t)drop);
  if (negative) mpz_neg(x, x);
  mpz_clear(half);
}

void fold_cert_round(mpz_t x, int unit, const struct fold_cert_format *f) {
  round_to(x, unit, f->precision, least(f), false);
}

bool fold_cert_number(mpz_t x, int unit, const struct fold_cert_format *f, uint64_t bits) {
  const int p = f->precision;
  const uint64_t sign = (uint64_t)1 << (f->bits - 1), fraction = ((uint64_t)1 << (p - 1)) - 1,
                 magnitude = bits & (sign - 1);
  const uint64_t field = magnitude >> (p - 1);
  if (bits >> (f->bits - 1) > 1 || (int64_t)field > f->emax - f->emin + 1) return false;
  if (f->bits == 8 && p == 4 && magnitude == 0x7f) return false; /* e4m3's NaN */
  mpz_set_ui(x, (unsigned long)((magnitude & fraction) + (field ? fraction + 1 : 0)));
  mpz_mul_2exp(x, x, (mp_bitcnt_t)((int)(field ? field - 1 : 0) + least(f) - unit));
  if (bits & sign) mpz_neg(x, x);
  return true;
}

uint64_t fold_cert_pattern(const mpz_t x, int unit, const struct fold_cert_format *f) {
  mpz_t m;
  uint64_t bits = 0;
  if (mpz_sgn(x) == 0) return 0;
  mpz_init(m);
  mpz_abs(m, x);
  const int top = (int)mpz_sizeinbase(m, 2) - 1 + unit, e = top > f->emin ? top : f->emin;
  mpz_fdiv_q_2exp(m, m, (mp_bitcnt_t)(e - f->precision + 1 - unit));
  bits = ((uint64_t)(e - f->emin) << (f->precision - 1)) + (uint64_t)mpz_get_ui(m);
  mpz_clear(m);
  if (top > f->emax || (f->bits == 8 && f->precision == 4 && bits == 0x7f)) return UINT64_MAX;
  return mpz_sgn(x) < 0 ? bits | (uint64_t)1 << (f->bits - 1) : bits;
}

static bool holds(const struct fold_cert_format *f, const struct fold_cert_format *part) {
  return f->precision >= part->precision && least(f) <= least(part) && f->emax >= part->emax;
}

/* Let u = 2^-p for the accumulator. Above each term there are h joins, and one rounding more if a term is rounded first (a product, or a
 * number that the accumulator may not hold). With g = h u / (1 - h u) and h u < 1 the bound is g (sum of magnitudes), plus n times the
 * accumulator's smallest number for such terms that underflow. If the format of the result is another one, the last rounding adds v times
 * the largest possible |value|, which is |exact| plus that, and the smallest number of the result. */
uint64_t fold_cert_bound(const mpz_t exact, const mpz_t magnitude, int unit, long height, size_t n, bool products,
                         const struct fold_cert_format *t, const struct fold_cert_format *a,
                         const struct fold_cert_format *r) {
  mpq_t bound, part;
  mpz_t ceiling;
  const bool rounded = products || !holds(a, t);
  const unsigned long h = height < 0 ? 0 : (unsigned long)height + rounded;
  if (h >> a->precision) return UINT64_MAX;
  mpq_inits(bound, part, NULL);
  mpz_init(ceiling);
  if (height >= 0) {
    mpz_set_ui(mpq_numref(part), h);
    mpz_setbit(mpq_denref(part), (mp_bitcnt_t)a->precision);
    mpz_sub_ui(mpq_denref(part), mpq_denref(part), h + 1); /* the denominator is 1 after mpq_init */
    mpz_mul(mpq_numref(part), mpq_numref(part), magnitude);
    mpq_canonicalize(part);
    mpq_set(bound, part);
    mpq_set_ui(part, rounded ? n : 0, 1);
    mpq_mul_2exp(part, part, (mp_bitcnt_t)(least(a) - unit));
    mpq_add(bound, bound, part);
  }
  if (height < 0 || r != a) {
    mpz_abs(ceiling, exact);
    mpq_set_z(part, ceiling);
    mpq_add(part, part, bound);
    mpq_div_2exp(part, part, (mp_bitcnt_t)r->precision);
    mpq_add(bound, bound, part);
    mpq_set_ui(part, 1, 1);
    mpq_mul_2exp(part, part, (mp_bitcnt_t)(least(r) - unit));
    mpq_add(bound, bound, part);
  }
  mpz_cdiv_q(ceiling, mpq_numref(bound), mpq_denref(bound));
  round_to(ceiling, unit, 53, -1074, true);
  const uint64_t bits = fold_cert_pattern(ceiling, unit, fold_cert_format_of("f64"));
  mpq_clears(bound, part, NULL);
  mpz_clear(ceiling);
  return bits;
}
