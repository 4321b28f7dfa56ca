/* reveal_subject.c: presents a subject in a rig as a function that sums rows (reveal.h). */
#include "judge/reveal_subject.h"

#include <string.h>

struct room {
  struct fold_rig rig;
  const struct fold_subject *subject;
  const struct fold_problem *problem;
  size_t n;
  char side_effect[200]; /* what a run did besides computing */
  char left[80];         /* the state that the first run left changed, or loading the guest */
};

/* A run that did this may have computed its results from what it wrote. */
static fold_status look_at(const struct fold_traces *traces, char side_effect[200], char left[80]) {
  char stray[120];
  if (!left[0]) memcpy(left, traces->left, sizeof traces->left);
  fold_traces_describe_stray(traces, stray);
  if (traces->wrote_input || traces->found_changed)
    snprintf(side_effect, 200, "a run changed its input");
  else if (traces->out_of_bounds)
    snprintf(side_effect, 200, "in a run %s", stray);
  else if (traces->unwritten)
    snprintf(side_effect, 200, "a run left result %zu unwritten", traces->unwritten_at);
  return side_effect[0] ? fold_error(FOLD_BAD_INPUT, "%s", side_effect) : fold_ok();
}

fold_status fold_reveal_run(struct fold_rig *rig, const struct fold_subject *subject,
                            const struct fold_request *request, void *out, char side_effect[200], char left[80]) {
  struct fold_traces traces, again;
  FOLD_TRY(fold_rig_load(rig));
  FOLD_TRY(fold_rig_run(rig, subject, request, out, &traces));
  if (traces.unwritten) { /* or a result equals the poison, which is frequent in 8 bits */
    struct fold_request other = *request;
    other.poison = (unsigned char)~request->poison;
    FOLD_TRY(fold_rig_run(rig, subject, &other, out, &again));
    traces.unwritten = again.unwritten && again.unwritten_at == traces.unwritten_at;
  }
  return look_at(&traces, side_effect, left);
}

static fold_status sum(void *context, size_t rows, void *out) {
  struct room *room = context;
  const struct fold_request request = {.rows = rows, .cols = room->n, .poison = FOLD_BASE_POISON};
  return fold_reveal_run(&room->rig, room->subject, &request, out, room->side_effect, room->left);
}

enum fold_dtype fold_reveal_usual_dtype(const struct fold_subject *subject) {
  if (!subject->dtypes || subject->dtypes >> FOLD_F32 & 1) return FOLD_F32;
  return (enum fold_dtype)__builtin_ctz(subject->dtypes);
}

enum fold_problem_id fold_reveal_usual_problem(const struct fold_subject *subject) {
  if (!subject->problems || subject->problems >> FOLD_ROWS_SUM & 1) return FOLD_ROWS_SUM;
  return subject->problems >> FOLD_DOT & 1 ? FOLD_DOT : (enum fold_problem_id)__builtin_ctz(subject->problems);
}

static fold_status check(const struct fold_subject *subject, const struct fold_reveal_asked *asked) {
  const struct fold_problem *problem = fold_problem(asked->problem);
  if (asked->n == 0 || asked->n > FOLD_TREE_MOST)
    return fold_error(FOLD_BAD_INPUT, "no tree of %zu terms can be revealed: 1 to %d", asked->n, FOLD_TREE_MOST);
  if (asked->rows > FOLD_REVEAL_MOST_ROWS)
    return fold_error(FOLD_BAD_INPUT, "calls with %zu rows: at most %d", asked->rows, FOLD_REVEAL_MOST_ROWS);
  if (problem->op != FOLD_SUM)
    return fold_error(FOLD_UNSUPPORTED, "only a sum has a tree to reveal, not %s", problem->name);
  if (!fold_terms_are_elements(problem))
    return fold_error(FOLD_UNSUPPORTED, "trees are revealed of rows, not of %s", problem->name);
  if (!(subject->problems >> asked->problem & 1) || !(subject->dtypes >> asked->dtype & 1))
    return fold_error(FOLD_UNSUPPORTED, "%s does not take %s of %s", subject->name, problem->name,
                      fold_dtype_name(asked->dtype));
  if (subject->vector && asked->n != asked->ranks)
    return fold_error(FOLD_UNSUPPORTED, "%s sums one term of each rank: of %u ranks, not %zu", subject->name,
                      asked->ranks, asked->n);
  return fold_ok();
}

static size_t rows_of(const struct fold_reveal_asked *asked) {
  const size_t rows = ((size_t)1 << 22) / (asked->n + 1);
  if (asked->rows) return asked->rows;
  return rows > 1024 ? 1024 : rows > 0 ? rows : 1;
}

fold_status fold_reveal_subject(const struct fold_subject *subject, const struct fold_reveal_asked *asked,
                                struct fold_revealed *revealed) {
  struct room room = {.subject = subject, .problem = fold_problem(asked->problem), .n = asked->n};
  *revealed = (struct fold_revealed){.kind = FOLD_REVEALED_NO_TREE};
  FOLD_TRY(check(subject, asked));
  const size_t rows = rows_of(asked), n[FOLD_INPUTS] = {rows * asked->n, rows * asked->n};
  FOLD_TRY(fold_engine_ready(subject->engine));
  FOLD_TRY(fold_rig_open(&room.rig, subject->engine, room.problem, asked->dtype, n, rows));
  room.rig.ranks = asked->ranks;
  struct fold_summer summer = {.sum = sum,
                               .context = &room,
                               .n = asked->n,
                               .rows = rows,
                               .dtype = asked->dtype,
                               .accumulator = fold_subject_accumulator(subject, asked->dtype),
                               .result = fold_subject_result(subject, asked->dtype),
                               .factors = room.problem->factors};
  for (unsigned k = 0; k < room.problem->inputs; k++) summer.in[k] = fold_rig_input_at(&room.rig, k);
  fold_status status = fold_reveal(&summer, revealed);
  if (revealed->why[0] && room.left[0]) {
    const size_t used = strlen(revealed->why);
    snprintf(revealed->why + used, sizeof revealed->why - used, "; it left changed: %s", room.left);
  }
  if (room.side_effect[0]) {
    fold_revealed_free(revealed); /* unseen: drop */
    *revealed = (struct fold_revealed){.kind = FOLD_REVEALED_NO_TREE};
    snprintf(revealed->why, sizeof revealed->why, "%s", room.side_effect);
    status = fold_ok();
  }
  fold_rig_close(&room.rig);
  return status;
}
