/* fuzz_certificate.c: any lines as a certificate, each with its right checksum: refused at a line, with a reason, or accepted. What the
 * checker says that a line should hold is put there, so that the lines after it are reached too. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "certify/check.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

enum { MOST_LINES = 300, MOST_MENDED = 6 };

static void put_line(FILE *out, size_t number, const char *line) {
  fprintf(out, "%s #%08x\n", line, (unsigned)fold_cert_crc(number, line, strlen(line)));
}

/* The certificate of these lines; a last line "sha256" gets the hash of those before. */
static char *seal(char *const line[], size_t n, size_t *size) {
  char *text = NULL, last[80], hash[65];
  FILE *out = open_memstream(&text, size);
  if (out == NULL) abort();
  for (size_t i = 0; i + 1 < n; i++) put_line(out, i + 1, line[i]);
  fflush(out);
  fold_cert_sha256(text, *size, hash);
  snprintf(last, sizeof last, "sha256 %s", hash);
  if (n) put_line(out, n, strncmp(line[n - 1], "sha256", 6) == 0 ? last : line[n - 1]);
  if (fclose(out) != 0) abort();
  return text;
}

/* Puts into the line that is wrong what should be there; false if the reason does not say that. */
static bool mend(char *line[], size_t n, const char *why) {
  static const char *const reasons[][2] = {
      {": height: the tree's is %60s", "height %s"},
      {": results: row 0: these terms give %60s", "results %s"},
      {": bound: row 0: it is %60s", "bound %s"},
      {": input-sha256: the elements of input 0 have another: %70s", "input-sha256 0 %s"},
      {": input-sha256: the elements of input 1 have another: %70s", "input-sha256 1 %s"}};
  unsigned long number;
  int read = 0;
  char word[80];
  if (sscanf(why, "line %lu%n", &number, &read) != 1 || number < 1 || number > n) return false;
  for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++) {
    if (sscanf(why + read, reasons[i][0], word) != 1) continue;
    free(line[number - 1]);
    if (asprintf(&line[number - 1], reasons[i][1], word) < 0) abort();
    return true;
  }
  return false;
}

static void check_lines(char *line[], size_t n) {
  char why[300] = "";
  for (int mended = 0; mended < MOST_MENDED; mended++) {
    size_t size;
    char *text = seal(line, n, &size);
    const bool held = fold_certificate_check_bytes(text, size, why);
    free(text);
    if (!held && *why == '\0') abort();
    if (held || !mend(line, n, why)) return;
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
  char *text = strndup((const char *)bytes, n), *rest = text, *line[MOST_LINES], why[300] = "";
  size_t lines = 0;
  if (text == NULL) abort();
  if (!fold_certificate_check_bytes((const char *)bytes, n, why) && *why == '\0') abort();
  for (char *one; lines < MOST_LINES && (one = strsep(&rest, "\n"));)
    if ((line[lines++] = strdup(one)) == NULL) abort();
  check_lines(line, lines);
  while (lines > 0) free(line[--lines]);
  free(text);
  return 0;
}
