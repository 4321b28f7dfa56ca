/* records/plain.h: makes the texts of a record plain as it is read, so that nothing that prints them later must think of it. */
#ifndef FOLD_PLAIN_H
#define FOLD_PLAIN_H

#include <jansson.h>
#include <stdbool.h>

#include "base/fold.h"

/* Whether nothing in a line of JSON needs to be escaped: a quick look; false where it can't say. */
bool fold_json_is_plain(const char *text, size_t length);
/* Escapes each text and each name of a field as fold_text_escape does, where it would not stay on one line as it is. The
 * options of the run ("asked") stay as they are: they are used again, and printed only as words for a shell or escaped (sheet/text.h). */
fold_status fold_json_make_plain(json_t **record);

#endif
