/* nccl_library.h: NCCL's functions; the library is opened when the first of them is needed.
 *
 * The library is FOLDPROOF_NCCL, a path or a soname, else libnccl.so.2 as the dynamic linker finds it; nccl.h is needed to
 * build, the library is not. So a machine without NCCL runs everything else, and one program judges several versions.
 * Depends on it: comm_nccl.c for its calls, src/run/environment.c for what it says of the machine.
 */
#ifndef FOLD_NCCL_LIBRARY_H
#define FOLD_NCCL_LIBRARY_H

#include <nccl.h>

#include "base/fold.h"

#define FOLD_NCCL_CALLS(X) \
  X(GetVersion)            \
  X(GetErrorString)        \
  X(GetLastError)          \
  X(GetUniqueId)           \
  X(CommInitRank)          \
  X(CommDestroy)           \
  X(CommAbort)             \
  X(AllReduce)             \
  X(Send)                  \
  X(Recv)                  \
  X(GroupStart)            \
  X(GroupEnd)

/* The functions have the types of nccl.h's own prototypes, so that a call that does not fit does not compile. */
struct fold_nccl {
#define FOLD_NCCL_MEMBER(name) __typeof__(nccl##name) *name;
  FOLD_NCCL_CALLS(FOLD_NCCL_MEMBER)
#undef FOLD_NCCL_MEMBER
};

/* Opens the library at the first call in a process; every call returns what came of that. If it can't be used (no such
 * file, no library, not NCCL 2.14 or a later 2, a function is missing): FOLD_UNSUPPORTED, or FOLD_BAD_INPUT if the user
 * named it by FOLDPROOF_NCCL, because a library that the user wants must not be skipped. */
fold_status fold_nccl_ready(void);
/* The library's functions. Only call it if fold_nccl_ready is OK. */
const struct fold_nccl *fold_nccl(void);
/* The version of the library that was opened, not of the header: "NCCL 2.28.3"; "no NCCL" if none can be used. */
void fold_nccl_version(char text[64]);
/* The path of the file that was opened; "" if none was. */
const char *fold_nccl_file(void);

#endif
