/* command.h: the command foldproof: its subcommands, and what they share. Only these files know the command line. */
#ifndef FOLD_COMMAND_H
#define FOLD_COMMAND_H

#include <argp.h>

#include "base/did_you_mean.h"
#include "golden/golden.h"
#include "records/record.h"
#include "run/runner.h"

/* A subcommand: argv[0] is "foldproof NAME". Returns the exit code. */
typedef int fold_command(int argc, char **argv, const struct fold_registry *registry);
fold_command fold_command_list, fold_command_verify, fold_command_record, fold_command_oracle, fold_command_gen;
fold_command fold_command_hunt, fold_command_gate;
fold_command fold_command_env, fold_command_order, fold_command_bench;
fold_command fold_command_study;
fold_command fold_command_report, fold_command_compare, fold_command_recheck;
fold_command fold_command_reveal, fold_command_certify;
fold_command fold_command_rank; /* one rank of a world (world.h); not for people */

/* The whole command, over a registry: the real one in main.c, that of the mutants in tests/. */
int fold_main(int argc, char **argv, const struct fold_registry *registry);

/* Called at the start and at the end of every command; command/process.c says what is promised then. */
void fold_process_begin(void);
/* False, with a line on stderr, where the stack is limited to less than the harness needs. */
bool fold_process_has_stack(void);
int fold_process_end(int exit_code);
/* Parses the options; ends the process after --help or wrong options. */
void fold_parse(const struct argp *argp, int argc, char **argv, void *input);

/* The options that choose subjects and fixtures, those that choose claims, and those that say how claims are judged, as
 * argp children. The input of each is a struct fold_selection_options. */
struct fold_selection_options {
  struct fold_selection selection;
  struct fold_guest guests[FOLD_GUESTS_MOST];
  struct fold_registry registry;   /* the subjects of guests and the compiled ones; set by fold_selection_open */
  bool loaded;                     /* `registry` holds guests */
  struct fold_subject *copied;     /* the registry's subjects, where --same-bits-as changes them; or NULL */
  char *claims;                    /* the claims that are asked for, as the user names them */
  const char *also;                /* claims that guests make besides their own, unless the user names some; or NULL */
  double ulps;                     /* of --ulps */
  char *sweep;                     /* the sizes of --sweep and --around */
  char *subjects;                  /* those that are named without an option */
  char *expanded;                  /* the claims, with presets replaced by what they stand for */
  const char *npy[64], *given[20]; /* files; names of the options that were given, each once */
  size_t n_given;
};
/* Whether the option of that name was given. */
/* Whether --exec names a command that is started for each run: --problem says what it computes. */
bool fold_selection_has_one_run(const struct fold_selection_options *o);
bool fold_option_given(const struct fold_selection_options *options, const char *name);
extern const struct argp fold_selection_argp, fold_claims_argp, fold_judging_argp;
/* The names of options that choose or limit cases; and fold_selection_argp for a command that draws its cases, whose help has none of them. */
extern const char *const fold_case_options[];
const struct argp *fold_drawn_argp(void);
void fold_selection_defaults(struct fold_selection_options *options);
/* To be called after parsing. BAD_INPUT for a glob that matches no subject or no claim. */
fold_status fold_selection_check(const struct fold_selection *selection, const struct fold_registry *registry);
/* Loads the guests that were named and then checks in the same way; subjects are then selected from
 * options->registry. */
fold_status fold_selection_open(struct fold_selection_options *options, const struct fold_registry *own);
void fold_selection_close(struct fold_selection_options *options);

/* The options --golden, --bless and --library, as an argp child; the input is a struct fold_golden_options. */
extern const struct argp fold_golden_argp;

/* The options that say how ranks are started (--launch, --ranks, --timeout), as an argp child without input; and as an
 * argp whose only child is that. */
extern const struct argp fold_world_argp;
extern const struct argp fold_timeout_argp; /* --timeout alone */
extern const struct argp_child fold_world_child[2];

/* The help text of --in-process, an option of verify and record (supervise.h). */
#define FOLD_IN_PROCESS_HELP \
  "run subjects in this process, for debuggers and profilers; a subject that crashes or hangs then ends the command"

/* Prints "foldproof NAME: text" on stderr and returns the exit code; for FOLD_OK prints nothing and returns 0. */
int fold_print_error(const char *program, fold_status status);
/* Flushes standard output; if that fails, an exit code 0 becomes 99. */
int fold_finish_output(const char *program, int exit_code);
/* An unsigned number ("4096", "1e6", "2^20") from `least` to `most`. Anything else ends the program with one line and
 * exit code 2. */
uint64_t fold_option_number(struct argp_state *state, const char *option, const char *text, uint64_t least,
                            uint64_t most);
int fold_option_dtype(struct argp_state *state, const char *option, const char *text);
int fold_option_engine(struct argp_state *state, const char *option, const char *text);
/* Ends the program with one line and exit code 2: "OPTION TEXT: not one of a, b, c", and the one that was perhaps
 * meant. NULL ends `names`. */
void fold_option_refuse(struct argp_state *state, const char *option, const char *text, const char *const names[]);
/* Says how to list the generators, and which of them the word perhaps meant. */
const char *fold_option_generator(const char *word, char text[240]);
/* Adds a pattern that stands without an option to the list *subjects, which is then *added, for the caller to free. */
void fold_option_add_subject(struct argp_state *state, const char **subjects, char **added, const char *pattern);
int fold_option_op(struct argp_state *state, const char *option, const char *text);
const struct fold_problem *fold_option_problem(struct argp_state *state, const char *text);
/* Sets a variable of setting.h, so that new processes have it too: a number from 1 to `most`. */
void fold_option_set_number(struct argp_state *state, const char *option, const char *text, uint64_t most,
                            const char *variable);
/* Comma-separated lists of at least one item; `list` is changed. fold_option_numbers returns how many numbers there
 * are, at most `room`; fold_option_names returns a mask of the bits that parse_name gives. */
size_t fold_option_numbers(struct argp_state *state, const char *option, char *list, uint64_t least, uint64_t most,
                           uint64_t *numbers, size_t room);
unsigned fold_option_mask(struct argp_state *state, const char *option, char *list,
                          int (*parse_name)(struct argp_state *, const char *, const char *));

/* Writes the first line of records: the environment, given as JSON text, and how the run was requested. */
fold_status fold_tell_environment(struct fold_records *records, const char *environment,
                                  const struct fold_selection *selection);
/* Closes records if any are open. If `status` failed they are dropped. If the run was interrupted they are closed as a
 * part of it, and their name is printed. */
fold_status fold_close_records(const char *program, struct fold_records *records, fold_status status);

/* Counts SIGINT, SIGTERM and SIGHUP; a value other than 0 means that the user wants to stop. */
const volatile int *fold_watch_interrupt(void);
/* For a command that runs subjects in its own process, where a run may take longer than a user waits: if it has not
 * ended 0.7 s after such a signal, it ends with exit code 99, and the records of finished runs stay. */
void fold_end_in_time(void);

/* A progress line on stderr, when that is a terminal. */
struct fold_progress {
  bool shown;
  double started, last;
  double left, told; /* the estimate of the seconds that are left, and when it was made; 0: none yet */
  size_t refuted;    /* so far; or 0 */
};
void fold_progress_open(struct fold_progress *progress);
void fold_progress_show(struct fold_progress *progress, size_t done, size_t all, const char *what);
void fold_progress_clear(struct fold_progress *progress);

/* "foldproof 0.2.0 (commit 0123456789ab)"; "unknown" where the build knew no commit. */
const char *fold_version_text(void);
/* A help_filter that puts the names of the problems where a text of the options says PROBLEMS. */
char *fold_help_problems(int key, const char *text, void *input);
/* The same for OPERATIONS, by which terms of one row are joined. */
char *fold_help_operations(int key, const char *text, void *input);
/* argp_parse with --help, -h, --usage and --version, each of which ends the process, as an empty word does. */
void fold_help_parse(const struct argp *argp, int argc, char **argv, void *input);

/* Says on standard error, in a line for each of the first selected subjects, why none of the selected cases and claims
 * was judged. */
void fold_verify_none(const struct fold_registry *registry, const struct fold_selection *selection);
/* Whether guests alone are selected, and no claim that they name can be judged of them: no mistake of the selection. */
bool fold_verify_none_is_guests(const struct fold_registry *registry, const struct fold_selection *selection);

#endif
