/* log.h: every run of a trial: which subject ran, for which claim, and what it did besides computing. Claims about
 * memory, ranks and state are judged by the log, so that no run of any judge is lost.
 */
#ifndef FOLD_LOG_H
#define FOLD_LOG_H

#include "rig/rig.h"

struct fold_logged {
  const struct fold_subject *subject; /* the trial's, or its twin */
  enum fold_claim_id why;             /* the claim whose judge made it; FOLD_CLAIMS: the base run */
  /* `unwritten` is set here once a second run with another poison has confirmed it, since one run can't tell it from a
   * result that equals the poison by chance. For the base run it is not set here: writes_output has that confirmed. */
  struct fold_traces traces;
};

struct fold_log {
  struct fold_logged *run; /* the base run first */
  size_t n, room;
};
fold_status fold_log_add(struct fold_log *log, const struct fold_logged *run);
void fold_log_close(struct fold_log *log);

enum fold_deed {
  FOLD_DID_NOT_WRITE,
  FOLD_DID_STRAY,
  FOLD_DID_WRITE_INPUT,
  FOLD_DID_LEAVE_STATE,
  FOLD_DID_DIFFER,      /* the ranks' results */
  FOLD_DID_RUN_TOGETHER /* ran on more than one rank */
};
/* The first run of the subject that did it; NULL. */
const struct fold_logged *fold_log_find(const struct fold_log *log, const struct fold_subject *subject,
                                        enum fold_deed deed);

#endif
