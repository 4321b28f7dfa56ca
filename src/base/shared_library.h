/* shared_library.h: opens a library at run time: the usual one, or the one that an environment variable names. */
#ifndef FOLD_SHARED_LIBRARY_H
#define FOLD_SHARED_LIBRARY_H

#include "base/fold.h"

#ifdef __cplusplus
extern "C" {
#endif

struct fold_shared_library {
  const char *variable, *usual; /* variable NULL: the user names none here */
  const char *before, *after;   /* the text around the reason if the usual one can't be used */
  const char *elsewhere;        /* tried if the usual one isn't found; may be NULL */
  bool for_all;                 /* libraries that it opens itself find its symbols among those of the process */
};

/* BAD_INPUT for a library that the user named, else UNSUPPORTED; the text names the file and the reason. */
fold_status fold_shared_library_refuse(const struct fold_shared_library *library, const char *why);
/* The library stays open, for such libraries have threads of their own. */
fold_status fold_shared_library_open(const struct fold_shared_library *library, void **handle);
/* Sets *pointer to the address of the symbol `name`. */
fold_status fold_shared_library_find(const struct fold_shared_library *library, void *handle, const char *name,
                                     void *pointer);

#ifdef __cplusplus
}
#endif
#endif
