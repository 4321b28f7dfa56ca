/* reveal_subject.h: finds a subject's tree, by the method of reveal.h with runs in a rig. */
#ifndef FOLD_REVEAL_SUBJECT_H
#define FOLD_REVEAL_SUBJECT_H

#include "reveal/reveal.h"
#include "rig/rig.h"

enum { FOLD_REVEAL_MOST_ROWS = 1 << 20 };

struct fold_reveal_asked {
  enum fold_dtype dtype;
  enum fold_problem_id problem; /* a sum, or a dot product */
  size_t n;
  size_t rows;    /* of a launch; 0: as many as have four million terms, at most 1,024 */
  unsigned ranks; /* of an engine with ranks */
};

/* The dtype that is meant where none is given: f32, or the first that the subject takes. */
enum fold_dtype fold_reveal_usual_dtype(const struct fold_subject *subject);
/* The problem that is meant where none is given: a sum; else a dot product; else the first that the subject takes. */
enum fold_problem_id fold_reveal_usual_problem(const struct fold_subject *subject);

/* UNSUPPORTED where the subject does not take that, or the dtype shows no order; else what the engine says. */
fold_status fold_reveal_subject(const struct fold_subject *subject, const struct fold_reveal_asked *asked,
                                struct fold_revealed *revealed);

/* Runs the inputs as they are in the rig. BAD_INPUT if the run changed its input, strayed or left results unwritten;
 * `side_effect` then says what. `left`: the state that it left changed, if nothing is there yet. */
fold_status fold_reveal_run(struct fold_rig *rig, const struct fold_subject *subject,
                            const struct fold_request *request, void *out, char side_effect[200], char left[80]);

#endif
