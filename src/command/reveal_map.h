/* command/reveal_map.h: foldproof reveal --map. */
#ifndef FOLD_COMMAND_REVEAL_MAP_H
#define FOLD_COMMAND_REVEAL_MAP_H

#include "command/command.h"

enum { FOLD_MAP_LENGTHS = 16 };

struct fold_map_options {
  uint64_t length[FOLD_MAP_LENGTHS];
  size_t lengths;       /* 0: the user wants no map */
  const char *settings; /* globs that choose settings of the library (ranks/setting.h) */
  const char *jsonl;    /* the file for records; NULL: none */
};

/* Makes the maps of a collective, each setting in a world of its own, and writes them as text or JSON. *code is 0 if
 * every element has a tree, else 1. */
fold_status fold_reveal_maps(const struct fold_map_options *options, const struct fold_subject *subject,
                             enum fold_dtype dtype, bool json, FILE *out, int *code);

#endif
