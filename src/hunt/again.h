/* again.h: judges what a hunt has found once more, for its numbers. */
#ifndef FOLD_HUNT_AGAIN_H
#define FOLD_HUNT_AGAIN_H

#include "hunt/hunt.h"

/* Called at most once, with the judgement that refutes, or is broken. */
struct fold_again_sink {
  fold_status (*take)(void *context, const struct fold_judgement *judgement);
  void *context;
};

/* Judges the cases, in their order, by the find's claim. *seen: whether that was refuted again, or broken as it was found. */
fold_status fold_hunt_again(const struct fold_hunt *hunt, const struct fold_find *find, const struct fold_cases *cases,
                            const struct fold_again_sink *sink, bool *seen);

/* The same for the file of a find. What is not seen again goes to the sink as it was found; so does a run that hangs, which is not run again. */
fold_status fold_hunt_tell(const struct fold_hunt *hunt, const struct fold_find *find,
                           const struct fold_again_sink *sink);

#endif
