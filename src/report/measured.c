/* report/measured.c: writes what was measured as sheets, in one format. */
#include <stdint.h>

#include "report/answer.h"
#include "report/section.h"

enum { MOST_ROWS = 40 };

void fold_sheet_judged(struct fold_sheet *sheet, const struct fold_model *m, const struct fold_model_timed *t) {
  char judged[500], place[200];
  const bool bad = fold_text_judged(t, judged);
  FOLD_ROW(sheet, T(judged), T(fold_text_place(m, t->environment, place)));
  if (bad) fold_sheet_mark(sheet, "bad");
}

fold_status fold_view_put(fold_view *view, const struct fold_model *model, enum fold_report_format format, size_t most,
                          FILE *out) {
  struct fold_sheet sheet;
  view(&sheet, model);
  return fold_sheet_put(&sheet, format, most, out);
}

fold_status fold_measured_put(const struct fold_model *model, enum fold_report_format format, FILE *out) {
  static fold_view *const views[] = {fold_sheet_prices,   fold_sheet_timings, fold_sheet_scalings,
                                     fold_sheet_messages, fold_sheet_ranks,   fold_sheet_simulated};
  const size_t most = format == FOLD_REPORT_MARKDOWN ? MOST_ROWS : SIZE_MAX;
  fold_status status = fold_ok();
  for (size_t i = 0; i < sizeof views / sizeof *views && status.code == FOLD_OK; i++)
    status = fold_view_put(views[i], model, format, most, out);
  if (status.code == FOLD_OK) status = fold_sheets_probes(model, format, most, out);
  if (status.code == FOLD_OK) status = fold_sheets_study(model, format, most, out);
  if (status.code == FOLD_OK) status = fold_sheets_worlds(model, format, most, out);
  return status;
}
