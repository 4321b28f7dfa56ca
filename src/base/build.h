/* build.h: what this program was built from and by. */
#ifndef FOLD_BUILD_H
#define FOLD_BUILD_H

/* The commit's first twelve digits, with "+dirty" where the tree was not that commit's; "unknown" without a checkout. */
const char *fold_build_commit(void);
/* Name and version of the C compiler. */
const char *fold_build_compiler(void);
/* The compiler options that affect arithmetic, and those that the user added. */
const char *fold_build_flags(void);

#endif
