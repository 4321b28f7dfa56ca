/* rig.h: the guarded room that a subject runs in.
 *
 * The input lies between two zones of NaN, so that whoever reads past it spoils its own result; the output lies between
 * two guards that are checked after each run, and is poisoned before it. On the host the rig's input is the only copy;
 * for a GPU the host keeps its own and the rig holds the device's; for an engine with ranks the host keeps the whole, and
 * each rank a rig with its part (rig_world.c). One rig serves one case; `move` puts the input at other addresses.
 */
#ifndef FOLD_RIG_H
#define FOLD_RIG_H

#include "engine.h"
#include "subject.h"

#define FOLD_RIG_GUARD \
  512 /* bytes on each side; the input may move by up to FOLD_RIG_SLACK elements into its zones \
                            */
#define FOLD_RIG_SLACK 8

/* What a run did besides computing. */
struct fold_traces {
  bool unwritten; /* some result still held the poison */
  size_t unwritten_at;
  bool out_of_bounds;  /* a guard around the output, or a zone around the input, was overwritten */
  ptrdiff_t bounds_at; /* in bytes from the start of output (or input), for the first place */
  bool in_input_zone;
  bool ranks_differ; /* of a collective: rank 0's results are not those of another rank */
  unsigned rank;     /* which; of out_of_bounds and unwritten too, where it was not rank 0 */
  size_t differ_at;  /* the result, and what each of the two made of it */
  uint64_t bits, other_bits;
};

/* What the ranks of a world hold now, so that only what changed is sent. */
struct fold_rig_spread {
  bool valid;
  uint64_t loads; /* the world's count when it was sent: another rig may have sent its own since */
  size_t first, rows, cols, grain;
  unsigned ranks;
  ptrdiff_t shift;
};

struct fold_rig {
  const struct fold_engine_ops *ops;
  enum fold_dtype dtype;
  size_t n, max_rows;    /* elements of input; results at the most */
  unsigned char *room;   /* engine: zone | input | zone */
  unsigned char *mirror; /* host: the same; equal to room where the engine is the host */
  ptrdiff_t shift;       /* in elements from the aligned place */
  unsigned char *out;    /* engine: guard | results | guard */
  unsigned char *out_host;
  void *scratch;
  size_t scratch_bytes;
  struct fold_traces stray; /* of the first run that left its bounds since this was cleared */
  struct fold_traces split; /* and of the first whose ranks differ */
  bool had_company;         /* a run had more than one rank since then */
  /* Of an engine with ranks: the rig holds the whole input on the host, the ranks hold their parts in rigs of their own. */
  struct fold_world *world;
  unsigned ranks; /* of a run that does not ask for another number; set by whoever opened the rig */
  struct fold_rig_spread spread;
  bool part_changed; /* a rank changed its part of the input; not told yet */
};

/* Room for n elements of input and max_rows results. The input is then written to fold_rig_input by the caller, who
 * calls fold_rig_load. */
fold_status fold_rig_open(struct fold_rig *rig, enum fold_engine engine, enum fold_dtype dtype, size_t n,
                          size_t max_rows);
void fold_rig_close(struct fold_rig *rig);

/* The host's copy of the input, at its place. After writing to it, call fold_rig_load. */
void *fold_rig_input(const struct fold_rig *rig);
fold_status fold_rig_load(struct fold_rig *rig);

/* Moves the input to `shift` elements from the aligned place (|shift| <= FOLD_RIG_SLACK). */
fold_status fold_rig_move(struct fold_rig *rig, ptrdiff_t shift);

/* A run: rows x cols from element `first` of the input, the output poisoned with `poison`. */
struct fold_request {
  enum fold_op op;
  size_t first, rows, cols;
  struct fold_launch launch;
  unsigned char poison; /* any byte; 0 is allowed */
  unsigned ranks;       /* of an engine with ranks: 0 for the rig's own number */
  /* In a rank, its part of a collective: see struct fold_call. */
  struct fold_comm *comm;
  size_t first_col, all_cols;
};
/* `got` receives `rows` patterns in memory of dtype. The status is the subject's, or the engine's. */
fold_status fold_rig_run(struct fold_rig *rig, const struct fold_subject *subject, const struct fold_request *request,
                         void *got, struct fold_traces *traces);

/* XXH3-64 of the input as the engine holds it now; of another value, once, where a rank changed its part. */
fold_status fold_rig_hash(struct fold_rig *rig, uint64_t *hash);

#endif
