/* fuzz_records.c: any bytes as records: refused, or a model that becomes a page, a summary and JUnit, without gnuplot. */
#include "fuzz_file.h"
#include "report/section.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
  struct fold_model model;
  fold_status trouble;
  setenv("PATH", "/nonexistent", 1);
  fold_model_open(&model);
  if (fold_model_read(&model, fuzz_file(bytes, n)).code == FOLD_OK) {
    FILE *out = fopen("/dev/null", "w");
    if (out == NULL) abort();
    fold_report_html(&model, 1, out, &trouble);
    fold_report_markdown(&model, out);
    fold_report_junit(&model, out);
    fclose(out);
  }
  fold_model_close(&model);
  return 0;
}
