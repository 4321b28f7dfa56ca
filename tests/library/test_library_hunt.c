/* test_library_hunt.c: foldproof_hunt, through the library's header alone: what it says, in which order, and what it refuses. */
#include <criterion/criterion.h>
#include <dirent.h>
#include <foldproof.h>
#include <foldproof_guest.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const int honest = 0, faulty = 1;

/* The faulty one loses the first term of one length in 24. */
static int sum(const struct foldproof_guest_call *call, void *context) {
  const int *fault = context;
  for (uint64_t r = 0; r < call->rows; r++) {
    const float *x = (const float *)call->in + r * call->cols;
    float total = 0;
    for (uint64_t i = *fault && call->cols % 24 == 23; i < call->cols; i++) total += x[i];
    ((float *)call->out)[r] = total;
  }
  return 0;
}

static struct foldproof_guest_table table_of(struct foldproof_guest_subject *subject, const int *fault) {
  *subject = (struct foldproof_guest_subject){
      .name = "mine/sum", .claims = "bounded,run_to_run", .run = sum, .context = (void *)(uintptr_t)fault};
  return (struct foldproof_guest_table){1, sizeof *subject, 1, subject};
}

struct said {
  char finds[4096], last[4096];
  unsigned lines, finds_n, most; /* after so many lines it says that it has enough; 0: never */
};

static int take(const char *line, void *context) {
  struct said *said = context;
  said->lines++;
  snprintf(said->last, sizeof said->last, "%s", line);
  if (strstr(line, "\"type\":\"judgement\"")) {
    said->finds_n++;
    snprintf(said->finds, sizeof said->finds, "%s", line);
  }
  return said->most && said->lines >= said->most;
}

/* In a folder of its own, which is removed. */
static int hunt(const int *fault, struct foldproof_hunt_options options, struct said *said) {
  char folder[] = "/tmp/foldproof-hunt-XXXXXX", command[100];
  struct foldproof_guest_subject subject;
  const struct foldproof_guest_table table = table_of(&subject, fault);
  cr_assert_not_null(mkdtemp(folder));
  options.size = sizeof options;
  if (!options.found) options.found = folder;
  memset(said->finds, 0, sizeof said->finds);
  const int code = foldproof_hunt(&table, NULL, &options, take, said);
  snprintf(command, sizeof command, "rm -r %s", folder);
  cr_assert_eq(system(command), 0);
  return code;
}

Test(hunt, of_an_honest_sum_finds_nothing) {
  struct said said = {.most = 0};
  cr_assert_eq(hunt(&honest, (struct foldproof_hunt_options){.seed = 7, .cases = 200}, &said), 0, "%s",
               foldproof_error());
  cr_expect_eq(said.finds_n, 0);
  cr_expect_not_null(strstr(said.last, "\"type\":\"hunt\""), "%s", said.last);
  cr_expect_not_null(strstr(said.last, "\"seed\":\"0x0000000000000007\",\"cases\":200,"), "%s", said.last);
  cr_expect_not_null(strstr(said.last, "\"problems\":{\"sum\":200}"), "%s", said.last);
}

Test(hunt, of_a_faulty_sum_ends_with_its_first_find) {
  struct said said = {.most = 0};
  const struct foldproof_hunt_options options = {.seed = 7, .seconds = 300, .first = 1, .jobs = 2};
  cr_assert_eq(hunt(&faulty, options, &said), 0, "%s", foldproof_error());
  cr_expect_eq(said.finds_n, 1);
  cr_expect_not_null(strstr(said.finds, "\"claim\":\"bounded\""), "%s", said.finds);
  cr_expect_not_null(strstr(said.finds, "\"cols\":23"), "%s", said.finds);
  cr_expect_not_null(strstr(said.finds, "\"found\":{\"file\":\"/tmp/foldproof-hunt-"), "%s", said.finds);
  cr_expect_not_null(strstr(said.last, "\"found\":1,"), "%s", said.last);
}

Test(hunt, ends_where_its_caller_has_enough) {
  struct said said = {.most = 1};
  cr_assert_eq(hunt(&honest, (struct foldproof_hunt_options){.seconds = 300}, &said), 0, "%s", foldproof_error());
  cr_expect_not_null(strstr(said.last, "\"type\":\"hunt\""), "%s", said.last);
}

Test(hunt, refuses_what_is_no_hunt) {
  struct said said = {.most = 0};
  struct foldproof_guest_subject subject;
  const struct foldproof_guest_table table = table_of(&subject, &honest);
  cr_expect_eq(foldproof_hunt(NULL, NULL, NULL, take, &said), FOLDPROOF_BAD_INPUT);
  cr_expect_eq(foldproof_hunt(&table, NULL, NULL, NULL, &said), FOLDPROOF_BAD_INPUT);
  cr_expect_eq(hunt(&honest, (struct foldproof_hunt_options){.jobs = 9}, &said), FOLDPROOF_BAD_INPUT);
  cr_expect_str_eq(foldproof_error(), "jobs 9: 1 to 8");
  cr_expect_eq(hunt(&honest, (struct foldproof_hunt_options){.seconds = -1, .cases = 1}, &said), FOLDPROOF_BAD_INPUT);
  cr_expect_str_eq(foldproof_error(), "seconds -1: 0 or more");
  cr_expect_eq(hunt(&faulty, (struct foldproof_hunt_options){.seed = 7, .cases = 3000, .found = "/dev/null/x"}, &said),
               FOLDPROOF_BAD_INPUT);
  cr_expect_not_null(strstr(foldproof_error(), "/dev/null/x: cannot be written"), "%s", foldproof_error());
}
