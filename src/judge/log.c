/* log.c: the log of a trial's runs. */
#include "judge/log.h"

#include <stdlib.h>

#include "base/list.h"

fold_status fold_log_add(struct fold_log *log, const struct fold_logged *run) {
  struct fold_logged *added = fold_list_grow(&log->run, &log->n, &log->room, sizeof *added);
  if (!added) return fold_error(FOLD_NO_MEMORY, "not enough memory for the log of %zu runs", log->n + 1);
  *added = *run;
  return fold_ok();
}

void fold_log_close(struct fold_log *log) {
  free(log->run);
  *log = (struct fold_log){0};
}

static bool did(const struct fold_traces *traces, enum fold_deed deed) {
  switch (deed) {
    case FOLD_DID_NOT_WRITE: return traces->unwritten;
    case FOLD_DID_STRAY: return traces->out_of_bounds;
    case FOLD_DID_WRITE_INPUT: return traces->wrote_input;
    case FOLD_DID_LEAVE_STATE: return traces->left[0]; /* unseen: 1 */
    case FOLD_DID_DIFFER: return traces->ranks_differ;
    case FOLD_DID_RUN_TOGETHER: return traces->ranks > 1;
  }
  return false;
}

const struct fold_logged *fold_log_find(const struct fold_log *log, const struct fold_subject *subject,
                                        enum fold_deed deed) {
  for (size_t i = 0; i < log->n; i++)
    if (log->run[i].subject == subject && did(&log->run[i].traces, deed)) return &log->run[i];
  return NULL;
}
