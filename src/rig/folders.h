/* folders.h: the current folder and the root, as a run finds them, and who changed them. A subject that leaves another one would have the
 * harness find no fixture, or nothing at all. surroundings.c looks.
 */
#ifndef FOLD_FOLDERS_H
#define FOLD_FOLDERS_H

#include <stdbool.h>

/* What there is now is compared with from here on. */
void fold_folders_keep(void);
/* Puts back what is another, and names it where nothing is named yet. */
void fold_folders_restore(char changed[80]);
/* Whether the root could not be put back. */
bool fold_folders_are_lost(void);

#endif
