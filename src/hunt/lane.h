/* lane.h: what one process of a hunt does, and what it says to the process that has started it, or that it is. */
#ifndef FOLD_LANE_H
#define FOLD_LANE_H

#include <stdatomic.h>

#include "hunt/hunt.h"

/* The subject is not run any more: each further run could take as long as the one that did not end. */
#define FOLD_HUNT_HUNG ((uint64_t)1 << 63)

/* Memory that all processes of a hunt share. */
struct fold_hunt_shared {
  struct fold_here here;       /* of rounds, where the hunt's selection has one */
  volatile int over;           /* no further round is begun; what is found is made small */
  volatile int interrupted;    /* what is found is kept as it is */
  _Atomic bool first_is_taken; /* where the first find ends the hunt: a process has it */
  /* Of each subject: masks of the claims that are found already, by any error (and FOLD_HUNT_HUNG), and by lost last terms or, while
   * the find is being made small, perhaps by these. */
  struct fold_hunt_refuted {
    _Atomic uint64_t any, lost_tail;
  } refuted[];
};

/* A message: written whole, since it is shorter than PIPE_BUF. */
enum fold_lane_word { FOLD_LANE_ROUND = 1, FOLD_LANE_FOUND, FOLD_LANE_ENDED };
struct fold_lane_message {
  enum fold_lane_word word;
  union {
    struct fold_hunted hunted; /* of one round */
    struct fold_find find;
    fold_status status;
  };
};
_Static_assert(sizeof(struct fold_lane_message) <= 4096, "longer messages could be mixed with others");

/* Takes the messages of a lane's process. False: the listener has ended. */
struct fold_lane_channel {
  bool (*send)(void *context, const struct fold_lane_message *message);
  void *context;
};

/* Goes through the rounds of process number `process`. */
void fold_lane_run(const struct fold_hunt *hunt, struct fold_hunt_shared *shared, unsigned process,
                   const struct fold_lane_channel *channel);

#endif
