/* rig.h: the guarded memory that a subject runs in.
 *
 * An input lies between two zones of NaN, so that a subject that reads past it gets NaN; output and scratch lie
 * between guards that are checked after each run, and are poisoned before it. On the host each lies between pages without
 * access too (fault.h), the input read-only, and a run may be asked to have them flush against such a page. On the host the
 * rig's input is the only copy, of which the harness has a view of its own; for a GPU the host keeps its own and the rig holds the device's; for an engine with ranks
 * the host keeps the whole, and each rank a rig with its part (rig_world.c). One rig serves one case; `move` puts the input
 * at other addresses. What a run did besides computing is told by its traces and by nothing that stays in the rig.
 */
#ifndef FOLD_RIG_H
#define FOLD_RIG_H

#include "room.h"
#include "subject.h"
#include "traces.h"

/* Bytes on each side; the input, and the output, may move by up to FOLD_RIG_SLACK elements of 8 bytes into them. */
#define FOLD_RIG_GUARD 512
#define FOLD_RIG_SLACK 32

/* Where the arguments of a run lie: at their aligned places and shifts; or each flush against a page without access, at its
 * start or its end: of host memory alone. */
enum fold_placement { FOLD_PLACED, FOLD_AT_START, FOLD_AT_END };

/* What the ranks of a world hold now, so that only what changed is sent. */
struct fold_rig_spread {
  bool valid;     /* they hold it */
  bool current;   /* and it is what the host holds */
  uint64_t loads; /* the world's count when it was sent: another rig may have sent its own since */
  size_t first, rows, cols, grain;
  unsigned ranks;
  ptrdiff_t shift;
  uint64_t *sent; /* each part's XXH3-64 */
};

/* One input: zone | elements | zone. */
struct fold_rig_input {
  size_t n; /* elements */
  struct fold_room room;
  unsigned char *mirror; /* host: the same; where the engine is the host, the same memory */
  ptrdiff_t shift;       /* in elements from the aligned place */
  /* Of a device: the input as it was when it was hashed last, and that hash: as long as they are the same it need not be read. */
  void *known;
  uint64_t known_hash;
};

struct fold_rig {
  const struct fold_engine_ops *ops;
  enum fold_dtype dtype; /* of the inputs */
  unsigned inputs;
  const struct fold_problem
      *problem; /* of its runs, set by whoever opened the rig; NULL: each row's elements, by a request's op */
  struct fold_rig_input in[FOLD_INPUTS];
  size_t max_rows; /* results at the most */
  enum fold_placement placement;
  bool hashed; /* of host memory: `hash` is of the inputs as they lie */
  uint64_t hash;
  bool stale; /* of a device: it has not been sent what the host's copies hold since they were laid */
  bool sure;  /* of a device: nothing has run or been written there since each input was found as it is known */
  struct fold_room out; /* guard | results | guard */
  size_t out_size;      /* of a result, at the most */
  unsigned char *out_host;
  struct fold_room scratch;
  const struct fold_subject *last; /* who ran in it last, and how often since another did */
  size_t runs;
  bool left_some; /* that one left something changed: the process is looked at after each further run */
  /* Of an engine with ranks: the rig holds the whole input on the host, the ranks hold their parts in rigs of their own. */
  struct fold_world *world;
  unsigned ranks; /* of a run that does not ask for another number; set by whoever opened the rig */
  struct fold_rig_spread spread;
};

/* Room for n elements of input and max_rows results. The input is then written to fold_rig_input by the caller, who
 * calls fold_rig_load. */
fold_status fold_rig_open(struct fold_rig *rig, enum fold_engine engine, enum fold_dtype dtype, size_t n,
                          size_t max_rows);
/* The same with so many inputs, of n[k] elements each. Engines with ranks take one. */
fold_status fold_rig_open_inputs(struct fold_rig *rig, enum fold_engine engine, enum fold_dtype dtype,
                                 const size_t n[FOLD_INPUTS], unsigned inputs, size_t max_rows);
void fold_rig_close(struct fold_rig *rig);

/* The host's copy of the first input, of any, at its place. After writing to one, call fold_rig_load; a device is sent them before the
 * next run. */
void *fold_rig_input(const struct fold_rig *rig);
void *fold_rig_input_at(const struct fold_rig *rig, unsigned input);
fold_status fold_rig_load(struct fold_rig *rig);

/* Writes one element, here and in the engine; *former is the pattern that was there. The inputs' elements are numbered one input after
 * the other. */
fold_status fold_rig_poke(struct fold_rig *rig, size_t at, uint64_t bits, uint64_t *former);

/* Moves the inputs to `shift` elements from the aligned place (at most FOLD_RIG_SLACK of 8 bytes); or the first so far, the others elsewhere. */
fold_status fold_rig_move(struct fold_rig *rig, ptrdiff_t shift);
fold_status fold_rig_move_apart(struct fold_rig *rig, ptrdiff_t shift, ptrdiff_t others);

/* The poison of base runs: as f32 or f64 a tiny negative number that no policy gives as a result. */
enum { FOLD_BASE_POISON = 0xa5 };

/* A run: rows x cols from element `first` of each input, output and scratch poisoned with `poison`. */
struct fold_request {
  enum fold_op op;
  size_t first, rows, cols;
  size_t row_stride, col_stride; /* see struct fold_call; 0: contiguous */
  struct fold_launch launch;
  unsigned char poison; /* any byte; 0 is allowed */
  enum fold_placement placement;
  bool open;              /* the page that the inputs are flush against can be read, and tells whether it was */
  unsigned out_shift;     /* in elements, up to FOLD_RIG_SLACK of 8 bytes */
  unsigned scratch_shift; /* in 256 bytes, 0 or 1 */
  unsigned ranks;         /* of an engine with ranks: 0 for the rig's own number */
  /* In a rank, its part of a collective: see struct fold_call. */
  struct fold_comm *comm;
  size_t first_col, all_cols;
};
/* `got` receives `rows` patterns in memory of the subject's result dtype. The status is the subject's, or the engine's. */
fold_status fold_rig_run(struct fold_rig *rig, const struct fold_subject *subject, const struct fold_request *request,
                         void *got, struct fold_traces *traces);

/* Host memory: the input's XXH3-64 is to be this one, who changed it knows; a run that finds another has changed it. */
void fold_rig_set_hash(struct fold_rig *rig, uint64_t hash);
/* Whether ranks still hold the parts of the input that they were sent: asked before another rig takes their memory. Where one has changed
 * its part that is said once, here or by the traces of the run that is sent the next parts, and the hash is another. */
fold_status fold_rig_parts_kept(struct fold_rig *rig, bool *kept);
/* What the subject's runs left changed in this process, OpenMP's other threads among it, and is put back; traces->left. */
void fold_rig_look_at_state(struct fold_rig *rig, struct fold_traces *traces);

/* XXH3-64 of the inputs, the hash of one the seed of the next, as the engine holds them now. */
fold_status fold_rig_hash(struct fold_rig *rig, uint64_t *hash);

#endif
