/* guest.h: subjects that users bring: a shared object (--guest), a program (--exec), or a table in this process (foldproof_verify).
 *
 * A guest is asked for its table in a process of its own, so that a guest that crashes on loading ends nothing else.
 * All kinds answer with the same text (JSON), which becomes rows of a registry beside the compiled subjects. The
 * process that runs a guest loads or starts it at the first run.
 */
#ifndef FOLD_GUEST_H
#define FOLD_GUEST_H

#include <jansson.h>

#include "judge/judge.h"
#include "rig/fp_state.h"

enum { FOLD_GUESTS_MOST = 64 };

struct fold_guest;
/* How a guest is reached. */
struct fold_door {
  const char *option;        /* "--guest" */
  fold_status (*open)(void); /* prepares what all of this kind need, in the command's own process; NULL: nothing */
  /* Writes the table as JSON: {"subjects": [{"name": ..., ...}]}. Called in a process that may crash by it, unless
   * `here`. */
  fold_status (*describe)(const struct fold_guest *guest, char **json);
  bool here; /* the guest is in this process, and nowhere else */
  fold_run *run;
  fold_scratch *scratch;
  bool files;      /* its subjects get files, and no engine's memory */
  bool strides;    /* its subjects can be given views */
  bool any_thread; /* any thread may call its subjects */
  uint64_t tidy;   /* the claims about memory that each of its subjects makes */
  /* By claim: why nothing that its subjects do could refute the claim; NULL: something could. */
  const char *unseen[FOLD_CLAIMS];
};
extern const struct fold_door fold_door_object, fold_door_program, fold_door_here;

struct fold_guest {
  const struct fold_door *door;
  const char *what;                          /* a path; a command; for one that is here, its name in messages */
  const struct foldproof_guest_table *table; /* of one that is here */
  struct fold_control arithmetic;            /* of one that is here: its caller's */
  bool finite;                               /* its user says that it takes finite terms only */
  const char *problem; /* of a command that is started for each run: what it computes; NULL: sum */
};

/* Whether a program's command is started again for each run, with the names of that run's files in it. */
bool fold_command_is_one_run(const char *command);

/* What subject->guest points to. */
struct fold_guest_row {
  const struct fold_guest *guest;
  void *text;       /* the JSON that holds the subject's strings */
  const char *name; /* the name in the guest's table; the subject's may be another one (fold_guests_load) */
  char *renamed;
  size_t index; /* the place in the guest's table */
  bool has_scratch;
  /* The arithmetic that its next call in this process begins with, as in a user's thread: the one that loading it has
   * set, or that its calls have left. */
  bool begun;
  struct fold_control arithmetic;
};

/* What a user says of all guests. NULL, or 0: nothing. */
struct fold_wants {
  const char *claims;      /* names and presets, promised in addition to the tables, as far as they can be promised */
  const char *also;        /* the same, but not named: what is not for a subject is not skipped with a reason */
  const char *twin;        /* "NAME" or "ENGINE:NAME": every other guest's subject promises its bits */
  const char *accurate_as; /* the order of claim accurate_as, which every guest promises */
  double most_ulps;        /* the same of claim ulps */
};

/* Makes the registry of the guests' subjects, which come first, and of `own`. If an earlier guest has the same name on
 * the same engine, the later one gets "@2", or the next free number, so that versions can be compared; the same guest
 * twice is an error. `wants` may be NULL. BAD_INPUT names the guest and what is wrong. The registry and what it points to live until
 * fold_guests_unload, which need not be called after a failure. */
fold_status fold_guests_load(const struct fold_guest *guests, size_t n, const struct fold_wants *wants,
                             const struct fold_registry *own, struct fold_registry *all);
void fold_guests_unload(struct fold_registry *all);

/* From now on this process, and those that it starts, keep the arrays of programs in folders of this number: processes that run at the same
 * time take different ones. */
void fold_programs_separate(unsigned number);

/* Numbers the guests of a door in this process, from 0 to below FOLD_GUESTS_MOST, for what the door keeps of each;
 * BAD_INPUT if there are more. */
struct fold_guest_slots {
  const char *what[FOLD_GUESTS_MOST];
};
fold_status fold_guest_slot(struct fold_guest_slots *slots, const struct fold_guest *guest, size_t *slot);

/* The guests' files and their contents' hashes, for the environment's record: [{"file": "mine.so", "xxh3": "0x..."}];
 * NULL: memory is short. */
json_t *fold_guests_files(const struct fold_guest *guests, size_t n);

/* A mask of the claims that can't be refuted through the subject's door (`unseen`). */
uint64_t fold_guest_unseen(const struct fold_subject *subject);

/* The name of the problem that a call folds, as guests are given it. */
const char *fold_guest_problem(const struct fold_subject *subject, const struct fold_call *call);

/* Makes rows of a registry from a guest's table. The caller frees `rows`; their guest rows live until
 * fold_guest_rows_put_away. */
fold_status fold_guest_rows(const struct fold_guest *guest, const char *json, const struct fold_wants *wants,
                            struct fold_subject **rows, size_t *n);
void fold_guest_rows_put_away(struct fold_subject *rows, size_t n);

/* A field of the object that is none of `fields` (which end in NULL); NULL if there is none. */
const char *fold_guest_other_field(const json_t *object, const char *const fields[]);
#endif
