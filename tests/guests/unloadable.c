/* unloadable.c: guests that can't be loaded, one for each value of HOW. */
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "foldproof_guest.h"

#define CRASHES 1
#define ENDS 2
#define HANGS 3
#define NO_TABLE 4
#define NEWER 5
#define SMALL 6
#define NAMELESS 7
#define EMPTY 8
#define RANKS 11
#define FORKS 12
#define SWAPS 13 /* its table has a subject of another name in the process that judges */
#define UNEVEN 14
#define NOWHERE 15
#define OLDER 9 /* loads: its subjects end behind `run` */

static int run(const struct foldproof_guest_call *call, void *context) {
  (void)context;
  for (uint64_t r = 0; r < call->rows; r++) {
    float s = 0;
    for (uint64_t i = 0; i < call->cols; i++) s += ((const float *)call->in)[r * call->cols + i];
    ((float *)call->out)[r] = s;
  }
  return 0;
}

/* A subject as it was before there were `scratch` and `context`. */
struct old_subject {
  const char *text[11];
  int (*run)(const struct foldproof_guest_call *call, void *context);
};

#if HOW <= HANGS
__attribute__((constructor)) static void on_load(void) {
  if (HOW == CRASHES) raise(SIGSEGV);
  if (HOW == ENDS) exit(0);
  while (HOW == HANGS) sleep(1);
}
#endif

const struct foldproof_guest_table *foldproof_guest(void) {
  static const struct old_subject old[2] = {{.text = {"old/one"}, .run = run}, {.text = {"old/two"}, .run = run}};
  static const struct foldproof_guest_subject one = {.name = HOW == NAMELESS                ? NULL
                                                             : HOW == RANKS || HOW == SWAPS ? "name"
                                                                                            : "a name",
                                                     .claims = HOW == RANKS ? "rank_agreement" : "",
                                                     .run = run};
  static const struct foldproof_guest_subject other = {.name = "other", .run = run};
  static struct foldproof_guest_table table = {FOLDPROOF_GUEST_ABI, sizeof one, HOW == EMPTY ? 0 : 1, &one};
  if (HOW == FORKS && fork() == 0) {
    sleep(1000);
    _exit(0);
  }
  if (HOW == SWAPS && access(getenv("FOLDPROOF_TEST_MARK"), F_OK) == 0) table.subjects = &other;
  if (HOW == SWAPS) mkdir(getenv("FOLDPROOF_TEST_MARK"), 0700);
  if (HOW == NO_TABLE) return NULL;
  if (HOW == NEWER) table.abi = 99;
  if (HOW == SMALL) table.subject_size = 8;
  if (HOW == UNEVEN) table.subject_size = 97;
  if (HOW == NOWHERE) table.subjects = NULL;
  if (HOW == OLDER) table = (struct foldproof_guest_table){FOLDPROOF_GUEST_ABI, sizeof *old, 2, (const void *)old};
  return &table;
}
