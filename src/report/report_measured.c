/* report_measured.c: what was measured, as sheets in one format. */
#include <stdint.h>

#include "report_answer.h"
#include "report_section.h"

enum { MOST_ROWS = 40 };

fold_status fold_measured_put(const struct fold_model *model, enum fold_report_format format, FILE *out) {
  static fold_view *const views[] = {fold_sheet_changes, fold_sheet_prices, fold_sheet_timings, fold_sheet_scalings, fold_sheet_messages};
  fold_status status = fold_ok();
  for (size_t i = 0; i < sizeof views / sizeof *views && status.code == FOLD_OK; i++) {
    struct fold_sheet sheet;
    views[i](&sheet, model);
    status = fold_sheet_put(&sheet, format, format == FOLD_REPORT_MARKDOWN ? MOST_ROWS : SIZE_MAX, out);
    fold_sheet_close(&sheet);
  }
  return status;
}
