/* shared_library.h: a library that is opened at run time: the usual one, or that which an environment variable names. */
#ifndef FOLD_SHARED_LIBRARY_H
#define FOLD_SHARED_LIBRARY_H

#include "fold.h"

#ifdef __cplusplus
extern "C" {
#endif

struct fold_shared_library {
  const char *variable, *usual;
  const char *before, *after; /* said around the reason where the usual one can't be used */
};

/* BAD_INPUT for a library that the user named, else UNSUPPORTED: in one line which file, and why not. */
fold_status fold_shared_library_refuse(const struct fold_shared_library *library, const char *why);
/* It stays open: such libraries have threads of their own. */
fold_status fold_shared_library_open(const struct fold_shared_library *library, void **handle);
/* *pointer becomes the address of what is called so. */
fold_status fold_shared_library_find(const struct fold_shared_library *library, void *handle, const char *name,
                                     void *pointer);

#ifdef __cplusplus
}
#endif
#endif
