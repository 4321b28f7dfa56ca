/* child.h: starts a program by /bin/sh, in a process group of its own, so that a program that kills its group kills
 * nothing else; asks it and reads its answers, a line of JSON each way; and reports how it ended, with the last line that it
 * wrote to standard error.
 */
#ifndef FOLD_CHILD_H
#define FOLD_CHILD_H

#include <jansson.h>
#include <stdio.h>
#include <sys/types.h>

#include "base/fold.h"

struct fold_program {
  pid_t pid; /* 0: not started */
  FILE *to, *from;
  int answers;       /* the descriptor that `from` reads */
  bool peeks;        /* reads only what is there, and does not wait for an answer */
  int errors;        /* a file in memory: its standard error */
  json_int_t asked;  /* how many questions; each has its number as "id" */
  char about[2][64]; /* the subjects of the last two questions, by the parity of their numbers */
};

/* `asked`: it has a standard input, by which fold_program_ask asks. *p must stay where it is: its streams point to it. */
fold_status fold_program_start(struct fold_program *p, const char *command, bool asked);
/* Asks one question and reads the answer, which the caller frees. The time that this takes is the run's (process/heartbeat.h). An
 * answer may repeat the question's "id", so that one that comes late is not taken for the answer to the next question. */
fold_status fold_program_ask(struct fold_program *p, json_t *question, json_t **answer);
/* Reads and drops what the program writes until it has ended, though what it has started may keep its output open. */
void fold_program_await(struct fold_program *p);
/* Waits for the program's end. An error unless `well` and it ended with exit code 0. */
fold_status fold_program_ended(struct fold_program *p, bool well);

#endif
