/* at_rest.h: threads that do nothing until they are asked. */
#ifndef FOLD_AT_REST_H
#define FOLD_AT_REST_H

#include <stdbool.h>

/* Whether every other thread of this process waits without a time limit: then none does anything until this one wakes it. */
bool fold_all_are_at_rest(void);

#endif
