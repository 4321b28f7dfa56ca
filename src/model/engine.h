/* engine.h: the memory of an engine, behind one interface, so that the runner is the same for host and GPU. */
#ifndef FOLD_ENGINE_H
#define FOLD_ENGINE_H

#include "fold.h"

/* Bytes to be read from an engine's memory. */
struct fold_piece {
  void *to_host;
  const void *from;
  size_t nbytes;
};

/* Bytes of an engine's memory to be set. */
struct fold_fill {
  void *at;
  int byte;
  size_t nbytes;
};

/* Room for a line that says why there is no device. */
#define FOLD_DEVICES_TEXT 160

/* The functions of an engine of this process. A new one is a row of engine.def and a file that defines fold_engine_NAME. */
struct fold_engine_ops {
  /* OK; UNSUPPORTED with the reason (no device); ENVIRONMENT when FOLDPROOF_REQUIRE_GPUS asks for more devices than there are, or the
   * driver failed. NULL: always. */
  fold_status (*ready)(void);
  /* How many devices there are, a rank each; with none, `reason` says why. Fails as `ready` does. NULL: as many ranks as one likes. */
  fold_status (*count)(int *n, char reason[FOLD_DEVICES_TEXT]);
  fold_status (*alloc)(size_t nbytes, void **memory); /* 256-byte aligned; nbytes > 0 */
  void (*release)(void *memory);
  fold_status (*write)(void *to, const void *from_host, size_t nbytes); /* what is launched next finds it written */
  fold_status (*read)(void *to_host, const void *from, size_t nbytes);
  /* Reads each, after what was launched before, and waits for all once; reports how what was launched ended. */
  fold_status (*gather)(const struct fold_piece *pieces, size_t n);
  fold_status (*fill)(const struct fold_fill *fills,
                      size_t n); /* apart from each other; what is launched next finds them set */
  fold_status (*copy)(void *to, const void *from, size_t nbytes); /* within the engine's memory */
  fold_status (*same)(const void *a, const void *b, size_t nbytes, bool *same);
  fold_status (*finish)(void); /* waits for what was launched and reports how it ended */
  /* State of the engine that a subject could change: saved before a run and restored after it; `changed` names what had changed.
   * NULL: none. */
  void (*keep)(void);
  void (*restore)(char changed[80]);
  /* Bytes that are in use: of the host by this process, of a device by all. NULL: nobody knows. */
  size_t (*in_use)(void);
  bool is_host; /* memory that the host may touch directly */
};

/* NULL for engines with ranks, whose memory is theirs. */
#define FOLD_ENGINE(TAG, name, ...) extern const struct fold_engine_ops fold_engine_##name;
#include "engine.def"
const struct fold_engine_ops *fold_engine_of(enum fold_engine engine);

/* Whether the engine can run here; one with ranks is started. */
fold_status fold_engine_ready(enum fold_engine engine);

#endif
