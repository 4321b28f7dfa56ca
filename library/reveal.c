/* reveal.c: foldproof_reveal: the tree of a table's subject, in the caller's process. */
#include <stdlib.h>
#include <string.h>

#include "foldproof.h"
#include "guest/guest.h"
#include "judge/reveal_subject.h"
#include "library/answer.h"
#include "library/turn.h"

struct revealing {
  struct fold_guest guest;
  struct foldproof_reveal_options options;
  foldproof_take take;
  void *context;
};

static fold_status take_problem(const char *name, const struct fold_subject *subject, enum fold_problem_id *id) {
  const bool rows = name && strcmp(name, "rows") == 0;
  const struct fold_problem *problem = name ? fold_problem_find(name) : NULL;
  *id = problem ? problem->id : fold_reveal_usual_problem(subject);
  if (rows && !subject->unknown) return fold_error(FOLD_BAD_INPUT, "%s is no function of rows", subject->name);
  if (name && !rows && !problem) return fold_error(FOLD_BAD_INPUT, "no problem is called '%.60s'", name);
  return fold_ok();
}

static fold_status ask(const struct revealing *r, const struct fold_subject *subject, struct fold_reveal_asked *asked) {
  const char *dtype = r->options.dtype;
  const int number = dtype ? fold_dtype_parse(dtype) : (int)fold_reveal_usual_dtype(subject);
  if (number < 0) return fold_error(FOLD_BAD_INPUT, "no dtype is called '%.60s'", dtype);
  *asked = (struct fold_reveal_asked){
      .dtype = (enum fold_dtype)number, .n = r->options.n ? r->options.n : 64, .rows = r->options.rows};
  return take_problem(r->options.problem, subject, &asked->problem);
}

static fold_status tell(const struct revealing *r, const struct fold_subject *subject,
                        const struct fold_reveal_asked *asked, const struct fold_revealed *revealed) {
  const struct fold_summer summer = {.n = asked->n,
                                     .dtype = asked->dtype,
                                     .accumulator = fold_subject_accumulator(subject, asked->dtype),
                                     .factors = fold_problem(asked->problem)->factors};
  char *line;
  FOLD_TRY(fold_revealed_json(revealed, subject, &summer, &line));
  r->take(line, r->context);
  free(line);
  return fold_ok();
}

/* The table's first subject. */
static fold_status reveal(void *context) {
  const struct revealing *r = context;
  struct fold_registry own, all;
  struct fold_reveal_asked asked;
  struct fold_revealed revealed = {0};
  own.subjects = fold_subjects(&own.n);
  FOLD_TRY(fold_guests_load(&r->guest, 1, NULL, &own, &all));
  fold_status status = ask(r, &all.subjects[0], &asked);
  if (status.code == FOLD_OK) status = fold_reveal_subject(&all.subjects[0], &asked, &revealed);
  if (status.code == FOLD_OK) status = tell(r, &all.subjects[0], &asked, &revealed);
  fold_revealed_free(&revealed);
  fold_guests_unload(&all);
  return status;
}

int foldproof_reveal(const struct foldproof_guest_table *table, const struct foldproof_reveal_options *options,
                     foldproof_take take, void *context) {
  const struct fold_guest guest = {
      .door = &fold_door_here, .what = "the table", .table = table, .arithmetic = fold_fp_state_arithmetic()};
  struct revealing r = {.guest = guest, .take = take, .context = context};
  if (table == NULL || take == NULL)
    return fold_answer(
        fold_error(FOLD_BAD_INPUT, "the table, or the function that takes the answer, is a null pointer"));
  if (options) memcpy(&r.options, options, options->size < sizeof r.options ? options->size : sizeof r.options);
  return fold_answer(fold_library_turn(reveal, &r));
}
