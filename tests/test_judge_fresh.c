/* test_judge_fresh.c: what fresh_process makes of another process's records, which are written here. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>

#include "base/bits.h"
#include "run/fresh.h"
#include "scratch.h"

enum { ROWS = 3 };
static const float results[ROWS] = {1, 2, 3};

/* The verdict where that process's record of this subject and case holds `more`, beside results of that hash. */
static struct fold_finding judge(uint64_t hash, const char *subject, const char *more, struct fold_traces traces) {
  static const struct fold_subject s = {.name = "s", .engine = FOLD_HOST};
  struct fold_case c = {
      .name = "c", .dtype = FOLD_F32, .problem = fold_rows_problem(FOLD_SUM), .rows = ROWS, .cols = 1};
  struct fold_trial trial = {.subject = &s, .c = &c, .got = results, .traces = traces};
  struct fold_finding finding;
  struct fold_fresh *fresh;
  struct memory_file file;
  char line[500];
  size_t n_claims;
  snprintf(line, sizeof line,
           "{\"schema\":1,\"type\":\"run\",\"subject\":\"%s\",\"engine\":\"host\",\"case\":\"c\",\"dtype\":\"f32\","
           "\"results_xxh3\":\"0x%016llx\"%s}\n",
           subject, (unsigned long long)hash, more);
  memory_file_open(&file);
  memory_file_write(&file, line, strlen(line));
  fold_status status = fold_fresh_read(file.fd, &fresh);
  cr_assert_eq(status.code, FOLD_OK, "%s", status.text);
  trial.fresh = fresh;
  fold_judge_claim(&fold_claims(&n_claims)[FOLD_FRESH_PROCESS], &trial, &finding);
  fold_fresh_free(fresh);
  close(file.fd);
  return finding;
}

static uint64_t own_hash(void) { return fold_results_hash(FOLD_F32, results, ROWS); }

Test(judge_fresh, the_same_hash_holds_and_another_does_not) {
  struct fold_traces none = {0};
  struct fold_finding held = judge(own_hash(), "s", "", none);
  cr_expect(held.verdict == FOLD_HELD && held.comparisons == ROWS, "%zu comparisons", held.comparisons);
  cr_expect_eq(judge(own_hash() ^ 1, "s", "", none).verdict, FOLD_REFUTED);
  cr_expect_eq(judge(own_hash(), "other", "", none).verdict, FOLD_BROKEN, "no record is no result");
}

/* The reason of one that holds says that it held in that process alone; that of one that does not is as ever. */
Test(judge_fresh, a_process_that_was_too_slow_for_others_is_told) {
  struct fold_traces none = {0};
  const char *slow = "}\n{\"slow\":5.2";
  struct fold_finding held = judge(own_hash(), "s", slow, none), refuted = judge(own_hash() ^ 1, "s", slow, none);
  cr_expect_eq(held.verdict, FOLD_HELD);
  cr_expect_str_eq(held.reason, "in 1 new process, not in several: it took 5 s");
  cr_expect(refuted.verdict == FOLD_REFUTED && strncmp(refuted.reason, "a new process gave", 18) == 0, "%s",
            refuted.reason);
  cr_expect_str_empty(judge(own_hash(), "s", "", none).reason);
}

/* Of several processes: the first leaves something changed, as ours does; the second, which went in reverse, has other results. */
Test(judge_fresh, what_one_process_leaves_hides_no_other_ones_results) {
  struct fold_traces ours = {.left = "the locale"};
  const char *more =
      ",\"left\":\"the locale\"}\n{\"backwards\":true}\n{\"subject\":\"s\",\"engine\":\"host\",\"case\":\"c\","
      "\"results_xxh3\":\"0x1\"";
  struct fold_finding refuted = judge(own_hash(), "s", more, ours);
  cr_expect(refuted.verdict == FOLD_REFUTED && strstr(refuted.reason, "in reverse"), "%s", refuted.reason);
  cr_expect_eq(judge(own_hash(), "s", ",\"left\":\"the locale\"", ours).verdict, FOLD_HELD);
}

#define UNWRITTEN ",\"unwritten\":{\"row\":2}"
#define STRAY ",\"out_of_bounds\":{\"byte\":-4,\"of\":\"input\"}"
#define LEFT ",\"left\":\"the rounding mode\""
#define SPLIT ",\"ranks_differ\":{\"rank\":5,\"row\":1,\"got\":\"0x40400000\",\"rank_0\":\"0x40000000\"}"

/* What the other process did and this one did not is refuted, by its place and its bits; what both do is other claims'. */
Test(judge_fresh, what_only_the_new_process_did_is_told) {
  static const struct {
    const char *more, *reason;
    size_t row;
    struct fold_traces same;
  } rows[] = {
      {UNWRITTEN, "in a new process result 2 was not written", 2, {.unwritten = true}},
      {STRAY, "in a new process byte -4 from the start of the input was overwritten", 0, {.out_of_bounds = true}},
      {LEFT, "in a new process it left changed: the rounding mode", 0, {.left = "a signal"}},
      {SPLIT, "in a new process rank 5 has different bits than rank 0", 1, {.ranks_differ = true}},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    struct fold_finding f = judge(own_hash(), "s", rows[i].more, (struct fold_traces){0});
    cr_expect(f.verdict == FOLD_REFUTED && strstr(f.reason, rows[i].reason) && f.row == rows[i].row, "row %zu: %s",
              f.row, f.reason);
    cr_expect_eq(f.compared, i == 3);
    if (f.compared) cr_expect(f.got == fold_f32_bits(3) && f.want == fold_f32_bits(2), "got %llx", (long long)f.got);
    cr_expect_eq(judge(own_hash(), "s", rows[i].more, rows[i].same).verdict, FOLD_HELD, "both did: row %zu", i);
    cr_expect_eq(judge(own_hash(), "s", "", rows[i].same).verdict, FOLD_HELD, "this one alone: row %zu", i);
  }
}
