/* report_scan.c: a validating scanner of the JSON that record.c writes. */
#include "report_scan.h"

#include <endian.h>
#include <stdint.h>
#include <string.h>

static const struct fold_slice names[] = {
#define KEY(name) {#name, sizeof #name - 1},
    FOLD_SCAN_KEYS(KEY)
#undef KEY
};

enum { DEEPEST = 8 };

/* Skips a string: returns the place after its closing quote; NULL if it has an escape, a control character, or a byte
 * that is not ASCII. It tests eight bytes at a time. The lowest flag marks the first such byte; only higher flags may
 * be due to a borrow (Mycroft). A byte that is not ASCII keeps its high bit in one of the three differences. */
static const char *skip_string(const char *at, const char *end) {
  const uint64_t ones = 0x0101010101010101u, high = 0x8080808080808080u;
  for (; end - at >= 8; at += 8) {
    uint64_t word;
    memcpy(&word, at, 8);
    word = le64toh(word);
    const uint64_t quote = word ^ ones * '"', escape = word ^ ones * '\\';
    const uint64_t ends = ((quote - ones) | (escape - ones) | (word - ones * 0x20)) & high;
    if (ends == 0) continue;
    at += __builtin_ctzll(ends) / 8;
    return *at == '"' ? at + 1 : NULL;
  }
  for (; at < end; at++) {
    const unsigned char c = (unsigned char)*at;
    if (c == '"') return at + 1;
    if (c == '\\' || c < 0x20 || c >= 0x80) return NULL;
  }
  return NULL;
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static const char *skip_digits(const char *at, const char *end) {
  while (at < end && is_digit(*at)) at++;
  return at;
}

/* Skips a number. jansson may refuse some numbers for their size, so that these are left to it. */
static const char *skip_number(const char *at, const char *end) {
  const char *from = at + (*at == '-');
  at = skip_digits(from, end);
  if (at == from || at - from > 18 || (*from == '0' && at - from > 1)) return NULL;
  if (at < end && *at == '.') {
    const char *fraction = at + 1;
    at = skip_digits(fraction, end);
    if (at == fraction) return NULL;
  }
  if (at < end && (*at == 'e' || *at == 'E')) {
    const char *exponent = at + 1;
    exponent += exponent < end && (*exponent == '+' || *exponent == '-');
    at = skip_digits(exponent, end);
    if (at == exponent || at - exponent > 2) return NULL;
  }
  return at;
}

static const char *skip_word(const char *at, const char *end, const char *word) {
  const size_t n = strlen(word);
  return (size_t)(end - at) >= n && memcmp(at, word, n) == 0 ? at + n : NULL;
}

static const char *skip_value(const char *at, const char *end, int depth);

static const char *skip_list(const char *at, const char *end, int depth, bool keys) {
  const char close = keys ? '}' : ']';
  if (at < end && *at == close) return at + 1;
  while (at < end) {
    if (keys && (*at != '"' || (at = skip_string(at + 1, end)) == NULL || at == end || *at++ != ':')) return NULL;
    at = skip_value(at, end, depth - 1);
    if (at == NULL || at == end) return NULL;
    if (*at == close) return at + 1;
    if (*at++ != ',') return NULL;
  }
  return NULL;
}

static const char *skip_value(const char *at, const char *end, int depth) {
  if (at >= end || depth == 0) return NULL;
  switch (*at) {
    case '"': return skip_string(at + 1, end);
    case '{': return skip_list(at + 1, end, depth, true);
    case '[': return skip_list(at + 1, end, depth, false);
    case 't': return skip_word(at, end, "true");
    case 'f': return skip_word(at, end, "false");
    case 'n': return skip_word(at, end, "null");
    default: return skip_number(at, end);
  }
}

static bool is_name(int k, const char *key, size_t n) { return names[k].n == n && memcmp(names[k].at, key, n) == 0; }

/* The names of that length, as a mask. */
static unsigned of_length(size_t n) {
#define KEY(name) | (unsigned)(sizeof #name - 1 == n) << FOLD_KEY_##name
  return 0 FOLD_SCAN_KEYS(KEY);
#undef KEY
}

/* The index of a key in names[]. Writers write keys in the order of names[], so that the one after the last key found
 * (`likely`) is tried first. */
static int find(const char *key, size_t n, int likely) {
  if (likely < FOLD_SCANNED && is_name(likely, key, n)) return likely;
  for (unsigned left = of_length(n); left; left &= left - 1)
    if (is_name(__builtin_ctz(left), key, n)) return __builtin_ctz(left);
  return -1;
}

static void keep(struct fold_scanned *scanned, int k, const char *value, const char *end) {
  const bool string = *value == '"';
  scanned->value[k] = (struct fold_slice){value + string, (size_t)(end - value) - 2 * (size_t)string};
  scanned->has |= 1u << k;
  scanned->strings = (scanned->strings & ~(1u << k)) | (unsigned)string << k;
}

bool fold_scan(const char *text, size_t n, struct fold_scanned *scanned) {
  const char *at = text, *end = text + n;
  int last = -1;
  memset(scanned, 0, sizeof *scanned);
  if (n < 2 || *at++ != '{') return false;
  while (at < end && *at == '"') {
    const char *key = at + 1, *value, *after = skip_string(key, end);
    if (after == NULL || after == end || *after != ':') return false;
    value = after + 1;
    at = skip_value(value, end, DEEPEST);
    if (at == NULL || at == end) return false;
    const int k = find(key, (size_t)(after - 1 - key), last + 1);
    if (k >= 0) keep(scanned, last = k, value, at);
    if (*at == '}') return at + 1 == end;
    if (*at++ != ',') return false;
  }
  return false;
}
