/* outside.c: a program that knows the installed header and library alone. */
#include <foldproof.h>
#include <stdio.h>
#include <string.h>

int main(void) {
  const float x[] = {1e8f, 1, -1e8f};
  float sum, exact;
  char digits[32];
  struct foldproof_measure m;
  if (foldproof_replay("host/sequential", "f32", "sum", x, 1, 3, 0, &sum) ||
      foldproof_exact("f32", "sum", x, 1, 3, "f32", 0, &exact) ||
      foldproof_exact_text("f32", "sum", x, 3, digits, sizeof digits, NULL) ||
      foldproof_measure("host/sequential", "f32", "sum", x, 3, &sum, &m)) {
    fprintf(stderr, "%s\n", foldproof_error());
    return 1;
  }
  printf("foldproof %s: sum %g, exact %g (%s), error %g, bound %.4g\n", foldproof_version(), sum, exact, digits,
         m.error, m.bound);
  return sum == 0 && exact == 1 && strcmp(digits, "1") == 0 && m.error == 1 && m.error <= m.bound ? 0 : 1;
}
