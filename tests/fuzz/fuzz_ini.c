/* fuzz_ini.c: any bytes as a file of fixtures: refused, or cases. */
#include "fixtures/fixture.h"
#include "fuzz_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
  struct fold_cases cases = {0};
  fold_status status = fold_cases_load_file(fuzz_file(bytes, n), &cases);
  if (status.code == FOLD_OK && cases.n == 0) abort();
  fold_cases_free(&cases);
  return 0;
}
