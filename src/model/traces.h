/* traces.h: what a run did besides computing its results: the evidence for claims about memory, ranks and state. */
#ifndef FOLD_TRACES_H
#define FOLD_TRACES_H

#include "base/fold.h"

/* The memory that a trace is about. */
enum fold_argument { FOLD_OUTPUT, FOLD_INPUT, FOLD_SCRATCH, FOLD_OTHER_INPUT, FOLD_ARGUMENTS };
const char *fold_argument_name(enum fold_argument argument);
int fold_argument_parse(const char *name); /* -1 for an unknown name */
/* How it was touched. */
enum fold_access { FOLD_WRITTEN, FOLD_READ, FOLD_TOUCHED /* the machine does not say which */, FOLD_ACCESSES };
const char *fold_access_name(enum fold_access access); /* "overwritten", "read", "touched" */
int fold_access_parse(const char *name);

struct fold_traces {
  bool unwritten; /* some result still held the poison */
  size_t unwritten_at;
  bool out_of_bounds; /* a guard, or a page without access, around an argument was touched */
  enum fold_argument bounds_of;
  enum fold_access bounds_by;
  ptrdiff_t bounds_at; /* the first such place, in bytes from the argument's start */
  bool wrote_input;    /* even if it put back what was there */
  ptrdiff_t input_at;  /* where, in bytes; -1: not known, only the input's hash has changed */
  bool in_other;       /* of the other input */
  bool found_changed;  /* over ranks: an earlier run had changed a rank's part of the input */
  char left[80];  /* the state that it left changed (of its thread, its process, OpenMP, its scratch, ...); "": none */
  unsigned ranks; /* of a collective: how many ran */
  bool ranks_differ; /* rank 0's results are not those of another rank */
  unsigned rank;     /* which rank; also for out_of_bounds, unwritten and the others, if it was not rank 0 */
  size_t differ_at;  /* the first result that differs, and its bits on the two ranks */
  uint64_t bits, other_bits;
  double seconds; /* how long the call took; on a device until its work had ended. 0: over ranks, and of a record */
};

/* Notes that the input's hash has changed, where no place is known. */
static inline void fold_traces_note_input(struct fold_traces *traces) {
  if (!traces->wrote_input) traces->input_at = -1;
  traces->wrote_input = true;
}

/* "byte 12 from the start of the output was overwritten" */
void fold_traces_describe_stray(const struct fold_traces *traces, char text[120]);

#endif
