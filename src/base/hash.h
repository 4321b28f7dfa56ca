/* hash.h: XXH3 with the widest vectors of this processor, if the library was built with a choice of them. Inputs are
 * hashed after each run, which takes a large part of the time of judging long ones. */
#ifndef FOLD_HASH_H
#define FOLD_HASH_H

#ifdef FOLD_HAVE_XXH_DISPATCH
#include <xxh_x86dispatch.h>
#else
#include <xxhash.h>
#endif

#endif
