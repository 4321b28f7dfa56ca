/* rig.h: the guarded memory that a subject runs in.
 *
 * An input lies between two zones of NaN, so that a subject that reads past it gets NaN. Output and scratch lie between
 * guards; they are poisoned before each run, and the guards are checked after it. On the host each argument also lies
 * between pages without access (fault.h), and the input is read-only; a run may ask for arguments that are flush
 * against such a page. On the host the rig's input is the only copy, and the harness has a writable view of it. For a
 * GPU the rig holds the device's copy, and the host keeps its own. For an engine with ranks the host keeps the whole
 * input, and each rank has a rig with its part (rig/world.c). One rig serves one case; `move` puts the input at other
 * addresses. A run's traces alone tell what it did besides computing: nothing of that stays in the rig.
 */
#ifndef FOLD_RIG_H
#define FOLD_RIG_H

#include "model/subject.h"
#include "model/traces.h"
#include "rig/room.h"

/* Bytes of guard on each side. Input and output may be moved into them by up to FOLD_RIG_SLACK elements of 8 bytes. */
#define FOLD_RIG_GUARD 512
#define FOLD_RIG_SLACK 32

/* Where the arguments of a run lie: at their aligned places and shifts; or, in host memory only, each flush against a
 * page without access, at the argument's start or its end. */
enum fold_placement { FOLD_PLACED, FOLD_AT_START, FOLD_AT_END };

/* How many threads the guest that runs on the host is to take; 0: as many as it likes, or no guest runs. */
extern unsigned fold_run_threads;
/* Whether a guest runs on the host; and whether it finds its current folder under another name (src/online.c). */
extern bool fold_run_of_guest, fold_folder_has_other_name;

/* What the ranks of a world hold now, so that only what changed is sent. */
struct fold_rig_spread {
  bool valid;     /* the ranks were sent these parts */
  bool current;   /* and the host's input has not changed since */
  uint64_t loads; /* the world's count when it was sent: another rig may have sent its own since */
  size_t first, rows, cols, grain;
  unsigned ranks;
  uint64_t *sent; /* each part's XXH3-64 */
};

/* One input: zone | elements | zone. */
struct fold_rig_input {
  size_t n, size; /* elements, and bytes of each */
  struct fold_room room;
  unsigned char *mirror; /* the host's copy; where the engine is the host, a writable view of the room */
  ptrdiff_t shift;       /* in elements from the aligned place */
  /* On a device: a copy of the input as it was last hashed, and that hash. While the input equals the copy, it need not
   * be read back. */
  void *known;
  uint64_t known_hash;
};

struct fold_rig {
  const struct fold_engine_ops *ops;
  const struct fold_problem *problem;
  enum fold_dtype dtype; /* of the inputs */
  unsigned inputs;       /* the problem's */
  struct fold_rig_input in[FOLD_INPUTS];
  size_t max_rows; /* the most results of a run */
  enum fold_placement placement;
  bool hashed; /* in host memory: `hash` is that of the inputs as they are now */
  uint64_t hash;
  bool stale;           /* on a device: the host's copies have changed, and were not sent yet */
  bool sure;            /* on a device: nothing ran or was written there since each input was found equal to `known` */
  struct fold_room out; /* guard | results | guard */
  size_t out_size;      /* bytes of a result, at most */
  unsigned char *out_host;
  struct fold_room scratch;
  const struct fold_subject *last; /* the subject that ran last, and how often it did since another one */
  size_t runs;
  bool left_some; /* `last` left something changed: so the process is looked at after each of its runs */
  /* Of an engine with ranks: the rig holds the whole input on the host, the ranks hold their parts in rigs of their own. */
  struct fold_world *world;
  unsigned ranks; /* of a run that asks for no other number; set when the rig is opened */
  struct fold_rig_spread spread;
};

/* Makes room for n[k] elements of each input of the problem, and max_rows results. The caller then writes the inputs to
 * fold_rig_input and calls fold_rig_load. Engines with ranks take one input. */
fold_status fold_rig_open(struct fold_rig *rig, enum fold_engine engine, const struct fold_problem *problem,
                          enum fold_dtype dtype, const size_t n[FOLD_INPUTS], size_t max_rows);
/* The same for the fold of rows by op, of n elements in all. */
static inline fold_status fold_rig_open_rows(struct fold_rig *rig, enum fold_engine engine, enum fold_op op,
                                             enum fold_dtype dtype, size_t n, size_t max_rows) {
  return fold_rig_open(rig, engine, fold_rows_problem(op), dtype, (const size_t[FOLD_INPUTS]){n}, max_rows);
}
void fold_rig_close(struct fold_rig *rig);

/* The host's copy of the first input, or of input number `input`, at its place. After writing to it, call
 * fold_rig_load; a device gets the copies before the next run. */
void *fold_rig_input(const struct fold_rig *rig);
void *fold_rig_input_at(const struct fold_rig *rig, unsigned input);
fold_status fold_rig_load(struct fold_rig *rig);

/* Writes one element, here and in the engine; *former is the pattern that was there. The inputs' elements are numbered one input after
 * the other. */
fold_status fold_rig_poke(struct fold_rig *rig, size_t at, uint64_t bits, uint64_t *former);

/* Moves all inputs to `shift` elements from the aligned place (at most FOLD_RIG_SLACK of 8 bytes). fold_rig_move_apart
 * moves the first input to `shift` and the others to `others`. */
fold_status fold_rig_move(struct fold_rig *rig, ptrdiff_t shift);
fold_status fold_rig_move_apart(struct fold_rig *rig, ptrdiff_t shift, ptrdiff_t others);

/* The poison of base runs: as f32 or f64 a tiny negative number that no policy gives as a result. */
enum { FOLD_BASE_POISON = 0xa5 };

/* A run of the problem in that shape, output and scratch poisoned with `poison`. */
struct fold_request {
  FOLD_SHAPE_OR_ROWS;
  size_t first[FOLD_INPUTS];                /* the element with which each input's part begins */
  ptrdiff_t stride[FOLD_INPUTS][FOLD_AXES]; /* see struct fold_call; 0: contiguous */
  struct fold_launch launch;
  unsigned char poison; /* any byte; 0 is allowed */
  enum fold_placement placement;
  unsigned out_shift;     /* in elements, up to FOLD_RIG_SLACK of 8 bytes */
  unsigned scratch_shift; /* in 256 bytes, 0 or 1 */
  bool other_thread;      /* another thread of this process calls the subject; in host memory */
  unsigned ranks;         /* of an engine with ranks: 0 for the rig's own number */
  /* In a rank, its part of a collective: see struct fold_call. */
  struct fold_comm *comm;
  struct fold_block whole;
};
/* `got` receives `rows` patterns in memory of the subject's result dtype. The status is the subject's, or the engine's. */
fold_status fold_rig_run(struct fold_rig *rig, const struct fold_subject *subject, const struct fold_request *request,
                         void *got, struct fold_traces *traces);

/* The same, for a rig whose input is not hashed later: its traces say whether the run changed the input. In host memory each run's
 * do. */
fold_status fold_rig_run_watched(struct fold_rig *rig, const struct fold_subject *subject,
                                 const struct fold_request *request, void *got, struct fold_traces *traces);

/* In host memory: states the input's XXH3-64, for a caller that changed the input and knows the new hash. A run after
 * which the hash is another one has changed the input. */
void fold_rig_set_hash(struct fold_rig *rig, uint64_t hash);
/* Whether the ranks still hold the parts of the input that they were sent; to be asked before another rig takes their
 * memory. A rank that changed its part is reported once: here, by the traces of the run that sends the next parts, or
 * by fold_rig_hash, which then gives another hash. */
fold_status fold_rig_parts_kept(struct fold_rig *rig, bool *kept);
/* Looks for what the subject's runs left changed in this process, OpenMP's other threads included; names it in
 * traces->left, and puts it back. */
void fold_rig_look_at_state(struct fold_rig *rig, struct fold_traces *traces);

/* XXH3-64 of the inputs as the engine holds them now; the hash of each input is the seed for the next one. */
fold_status fold_rig_hash(struct fold_rig *rig, uint64_t *hash);

#endif
