/* build.c: see build.h. A file of its own, so that a new commit recompiles only this one. */
#include "base/build.h"

#include "commit.h"

#ifdef __clang__
#define COMPILER "clang " __clang_version__
#else
#define COMPILER "gcc " __VERSION__
#endif

const char *fold_build_commit(void) { return FOLD_COMMIT; }
const char *fold_build_compiler(void) { return COMPILER; }
const char *fold_build_flags(void) { return FOLD_FLAGS; }
