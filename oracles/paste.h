/* paste.h: names pasted together from macros, for files that are compiled once for each dtype or operation. */
#ifndef FOLD_PASTE_H
#define FOLD_PASTE_H

#define FOLD_PASTE_(a, b) a##_##b
#define FOLD_PASTE(a, b) FOLD_PASTE_(a, b)

#endif
