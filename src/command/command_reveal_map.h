/* command_reveal_map.h: foldproof reveal --map. */
#ifndef FOLD_COMMAND_REVEAL_MAP_H
#define FOLD_COMMAND_REVEAL_MAP_H

#include "command.h"

enum { FOLD_MAP_LENGTHS = 16 };

struct fold_map_options {
  uint64_t length[FOLD_MAP_LENGTHS];
  size_t lengths;       /* 0: no map is asked for */
  const char *settings; /* globs: of the library's (world_setting.h) */
  const char *jsonl;    /* where records go; NULL: nowhere */
};

/* The maps of a collective, each setting's in a world of its own, as text or JSON. *code: 0 where every element has a tree, else 1. */
fold_status fold_reveal_maps(const struct fold_map_options *options, const struct fold_subject *subject,
                             enum fold_dtype dtype, bool json, FILE *out, int *code);

#endif
