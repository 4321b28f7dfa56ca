/* sheet/write.h: the formats that have a file of their own. Private to sheet_*.c. */
#ifndef FOLD_SHEET_WRITE_H
#define FOLD_SHEET_WRITE_H

#include "sheet/sheet.h"

void fold_sheet_put_junit(const struct fold_sheet *sheet, FILE *out);

#endif
