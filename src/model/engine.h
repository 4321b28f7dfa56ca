/* engine.h: one interface to the memory of every engine, so that the runner is the same for host and GPU. */
#ifndef FOLD_ENGINE_H
#define FOLD_ENGINE_H

#include "base/fold.h"

/* Bytes to read from an engine's memory. */
struct fold_piece {
  void *to_host;
  const void *from;
  size_t nbytes;
};

/* Bytes of an engine's memory to set. */
struct fold_fill {
  void *at;
  int byte;
  size_t nbytes;
};

/* Room for a line that says why there is no device. */
#define FOLD_DEVICES_TEXT 160

/* The functions of an engine of this process. A new one is a row of engine.def and a file that defines fold_engine_NAME. */
struct fold_engine_ops {
  /* Whether the engine can run. UNSUPPORTED with the reason: there is no device; ENVIRONMENT: FOLDPROOF_REQUIRE_GPUS
   * asks for more devices than there are, or the driver failed. NULL: it always can. */
  fold_status (*ready)(void);
  /* How many devices there are, one for each rank; with none, `reason` says why. Fails as `ready` does. NULL: there may
   * be any number of ranks. */
  fold_status (*count)(int *n, char reason[FOLD_DEVICES_TEXT]);
  fold_status (*alloc)(size_t nbytes, void **memory); /* 256-byte aligned; nbytes > 0 */
  void (*release)(void *memory);
  fold_status (*write)(void *to, const void *from_host, size_t nbytes); /* what is launched next reads the new bytes */
  fold_status (*read)(void *to_host, const void *from, size_t nbytes);
  /* Reads all pieces, after the work launched before, with one wait; reports how that work ended. */
  fold_status (*gather)(const struct fold_piece *pieces, size_t n);
  fold_status (*fill)(const struct fold_fill *fills,
                      size_t n); /* they don't overlap; what is launched next reads the new bytes */
  fold_status (*copy)(void *to, const void *from, size_t nbytes); /* within the engine's memory */
  fold_status (*same)(const void *a, const void *b, size_t nbytes, bool *same);
  fold_status (*finish)(void); /* waits for the launched work and reports how it ended */
  /* The engine's state that a subject could change: `keep` saves it before a run, `restore` puts it back after it and
   * names in `changed` what had changed. NULL: there is none. */
  void (*keep)(void);
  void (*restore)(char changed[80]);
  /* Bytes in use: on the host by this process, on a device by all processes. NULL: not known. */
  size_t (*in_use)(void);
  bool is_host; /* memory that the host may touch directly */
};

/* NULL for engines with ranks: each rank has its own memory. */
#define FOLD_ENGINE(TAG, name, ...) extern const struct fold_engine_ops fold_engine_##name;
#include "base/engine.def"
const struct fold_engine_ops *fold_engine_of(enum fold_engine engine);

/* Whether the engine can run here. Starts an engine with ranks. */
fold_status fold_engine_ready(enum fold_engine engine);

#endif
