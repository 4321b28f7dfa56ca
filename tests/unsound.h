/* unsound.h: registries with one mistake each, with which no program may start. */
#ifndef UNSOUND_H
#define UNSOUND_H

#include "judge/judge.h"

struct unsound {
  const char *kind; /* the mistake, in a word */
  const char *says; /* a part of the message that the program must print */
  struct fold_subject subjects[3];
  size_t n;
};

const struct unsound *unsound_registries(size_t *n);

#endif
