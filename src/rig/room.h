/* room.h: an argument's memory in an engine: on the host between pages without access (fault.h). Private to the rig. */
#ifndef FOLD_ROOM_H
#define FOLD_ROOM_H

#include "model/engine.h"
#include "rig/fault.h"

struct fold_room {
  unsigned char *at;
  size_t bytes; /* at least those that were requested */
  struct fold_region region;
};

static inline void fold_room_close(const struct fold_engine_ops *ops, struct fold_room *room) {
  if (ops->is_host)
    fold_region_close(&room->region);
  else if (room->at)
    ops->release(room->at);
  *room = (struct fold_room){0};
}

/* `read_only`: the host's subjects can't write to it. */
static inline fold_status fold_room_open(const struct fold_engine_ops *ops, size_t n, bool read_only,
                                         struct fold_room *room) {
  *room = (struct fold_room){.bytes = n};
  if (!ops->is_host) return ops->alloc(n, (void **)&room->at);
  FOLD_TRY((read_only ? fold_region_open_read_only : fold_region_open)(n, &room->region));
  room->at = room->region.at;
  room->bytes = room->region.bytes;
  return fold_ok();
}

#endif
