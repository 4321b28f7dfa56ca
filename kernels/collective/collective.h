/* collective.h: the run functions of the collectives. registry.c names them; nobody else needs to. */
#ifndef FOLD_COLLECTIVE_H
#define FOLD_COLLECTIVE_H

#include "comm.h"
#include "subject.h"

/* library.c: the library's own all-reduce of a vector, one element a rank and result. */
fold_run fold_library_allreduce;
/* canonical.c: an all-reduce of vectors in a fixed order over ranks. */
fold_run fold_collective_canonical;
fold_scratch fold_collective_canonical_scratch;

#endif
