/* folders.h: the current folder and the root folder, kept and put back between runs. If a subject left another one, the
 * harness would find no fixture, or no file at all. surroundings.c decides when to look.
 */
#ifndef FOLD_FOLDERS_H
#define FOLD_FOLDERS_H

#include <stdbool.h>

/* Keeps the folders of now; later looks compare with them. */
void fold_folders_keep(void);
/* Puts a changed folder back, and names it in `changed` if that is still empty. */
void fold_folders_restore(char changed[80]);
/* Whether the root could not be put back. */
bool fold_folders_are_lost(void);

#endif
