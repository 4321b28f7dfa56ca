/* command/measured_records.c: see command/measured_records.h. */
#include "command/measured_records.h"

#include "report/answer.h"
#include "run/environment.h"

fold_status fold_measuring_open(struct fold_measuring *m, const char *jsonl) {
  *m = (struct fold_measuring){0};
  fold_progress_open(&m->progress);
  if (jsonl == NULL) return fold_ok();
  FOLD_TRY(fold_records_open(&m->records, jsonl));
  return fold_records_environment(&m->records, fold_environment());
}

fold_status fold_measuring_take(struct fold_measuring *m, json_t *record) {
  fold_status status = record ? fold_model_add(&m->model, record) : fold_no_memory("for a record");
  if (status.code == FOLD_OK && m->records.file) return fold_records_line(&m->records, record);
  json_decref(record);
  return status;
}

fold_status fold_measuring_show(struct fold_measuring *m) {
  fold_progress_clear(&m->progress);
  const fold_status status = fold_measured_put(&m->model, FOLD_REPORT_TEXT, stdout);
  fold_model_close(&m->model);
  fflush(stdout);
  return status;
}

fold_status fold_measuring_close(struct fold_measuring *m, const char *program, fold_status status) {
  fold_progress_clear(&m->progress);
  fold_model_close(&m->model);
  const fold_status closed = fold_close_records(program, &m->records, status);
  return status.code == FOLD_OK ? closed : status;
}
