/* subject.h: a reduction under test, and the one table of them (registry.c).
 *
 * Adding a kernel is one file that defines a `fold_run` and one row of the table. Subjects know no claim's meaning,
 * no oracle and no output format: a row only names what it promises.
 */
#ifndef FOLD_SUBJECT_H
#define FOLD_SUBJECT_H

#include "claim.h"
#include "fold.h"

#ifdef __cplusplus
extern "C" {
#endif

struct fold_subject;

/* Reduces call->in to call->out, both in the engine's memory. FOLD_UNSUPPORTED skips the case with its reason. A
 * run must not depend on anything but the call: no state is kept from one to the next. */
typedef fold_status fold_run(const struct fold_subject *subject, const struct fold_call *call);

/* How many bytes of call->scratch a run of this call needs; 0 for none. */
typedef size_t fold_scratch(const struct fold_subject *subject, const struct fold_call *call);

/* At multiples of how many columns a collective's input may be cut; at least 1. */
typedef size_t fold_grain(size_t cols);

struct fold_subject {
  const char *name; /* "rows/par_256"; with the engine it is unique */
  enum fold_engine engine;
  const char *about;    /* one line */
  unsigned dtypes, ops; /* masks: 1u << fold_dtype, 1u << fold_op */
  const char *order;    /* the declared order's name (order.h), NULL where there is none */
  enum fold_method method;
  uint64_t claims;  /* for sums and products: mask of FOLD_CLAIM(...) */
  const char *twin; /* S of same_bits_as, same engine */
  unsigned width;   /* for the run function: threads a row, or what it makes of it */
  fold_run *run;
  fold_scratch *scratch; /* NULL: none */
  /* Collectives: the columns are cut over the ranks at multiples of grain(cols) (fold_comm_cut); NULL: anywhere. An
   * all-reduce of vectors takes one column a rank and no other shape. */
  fold_grain *grain;
  bool vector;
  bool peer; /* somebody else's: what refutes it is a fact about that library, not a failure of ours */
};

/* A refutation of a peer that is known: seen in that version. */
struct fold_fact {
  const char *subject;
  enum fold_claim_id claim;
  const char *version; /* as fold_peer_version tells it */
  const char *what;
};
const struct fold_fact *fold_facts(size_t *n);
/* The library behind a peer: CCCL as it was built in ("CCCL 3.0.1"), NCCL and MPI as they were loaded; "" for a subject that is no
 * peer. */
void fold_peer_version(const struct fold_subject *subject, char text[64]);

/* The table; mutants are not in it (tests/mutants.h). */
const struct fold_subject *fold_subjects(size_t *n);
const struct fold_subject *fold_subject_find(const char *name, enum fold_engine engine);

#ifdef __cplusplus
}
#endif
#endif
