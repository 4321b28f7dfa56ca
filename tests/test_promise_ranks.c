/* test_promise_ranks.c: one promise of collectives by its name, over real ranks: run_to_run, fresh_process, rank_agreement,
 * same_results_over_worlds. Built once for each of these (PROMISE) and each engine (ENGINE, "mpi" or "nccl").
 *
 * The inputs are the test's own, so that worlds of two have every dtype, operation and shape; larger worlds have each dtype and shape,
 * but not each pair of these with a length. Libraries do not promise the same order in other worlds; so their sums over worlds are
 * compared on terms whose sums can't round, where all worlds must give the same numbers.
 */
#include "promises.h"

#include "ranks.h"

#define TEXT_(word) #word
#define TEXT(word) TEXT_(word)
#define TEST_OF(suite, name, ...) Test(suite, name, __VA_ARGS__)

static const char fixtures[] =
    "[normal]\ngenerator = normal\ndtype = all\nrows = 1, 4097\nranks = 2, 3, 4\n"
    "[normal]\ngenerator = normal\ndtype = all\nop = max\nrows = 1000\nranks = 2\n"
    "[mixed]\ngenerator = mixed\ndtype = all\nrows = 257\nranks = 4\n"
    "[pathological]\ngenerator = pathological\ndtype = all\nrows = 129\nranks = 3\n"
    "[normal]\ngenerator = normal\ndtype = all\nn = 7, 100003\nranks = 2, 3, 4\n"
    "[normal]\ngenerator = normal\ndtype = all\nop = max\nn = 4097\nranks = 2\n"
    "[mixed]\ngenerator = mixed\ndtype = all\nn = 20000\nranks = 2\n"
    "[integers]\ngenerator = integers\ndtype = all\nrows = 3, 4097\nranks = 2, 3\n"
    "[integers]\ngenerator = integers\ndtype = all\nrows = 3\nranks = 5\n"
    "[integers]\ngenerator = integers\ndtype = all\nn = 7, 36000\nranks = 2, 3\n"
    "[integers]\ngenerator = integers\ndtype = all\nn = 7\nranks = 4\n";

static const struct {
  const char *name, *dtypes;
  bool library, vector;
} subjects[] = {
    {ENGINE "/allreduce", LIBRARY_DTYPES, true, true},
    {ENGINE "/sum", "f32,f64", true, false},
    {"collective/canonical", "f16,bf16,f32,f64", false, true},
    {"collective/exact", "f16,bf16,f32,f64", false, false},
    {"collective/canonical_sum", "f16,bf16,f32,f64", false, false},
};
enum { SUBJECTS = sizeof subjects / sizeof *subjects };

static struct shell *open_shell(void) {
  struct shell *s = shell_open();
  FILE *ini = fopen(scratch_path(&s->scratch, "ranks.ini"), "w");
  ranks_environment();
  cr_assert(ini && fputs(fixtures, ini) >= 0 && fclose(ini) == 0);
  return s;
}

static void judge(struct shell *s, const char *claims, const char *names, const char *words) {
  shell_run(s, "$F verify --engine " ENGINE " --fixture-folder . --claims '%s' --subjects '%s' --jsonl v.jsonl %s",
            claims, names, words);
}

static void expect_promise(struct shell *s, const char *claim) {
  judge(s, claim, "*", "");
  promise_ran(s, "v.jsonl", 2);
  for (size_t k = 0; k < SUBJECTS; k++) promise_kept(s, "v.jsonl", subjects[k].name, claim, subjects[k].dtypes, 3);
}

/* Ours promise it on any data; the all-reduce of vectors, whose terms are its world, that any message has its elements' bits. */
static void expect_worlds(struct shell *s) {
  judge(s, "world_invariant,message_invariant", "collective/*", "");
  promise_ran(s, "v.jsonl", 2);
  for (size_t k = 0; k < SUBJECTS; k++)
    if (!subjects[k].library)
      promise_kept(s, "v.jsonl", subjects[k].name, subjects[k].vector ? "message_invariant" : "world_invariant",
                   subjects[k].dtypes, 3);
  /* --probe tries what is not promised and counts it for nothing: the records are what is judged here. Of vectors the exact
   * results are all worlds' results. f16 and bf16 hold these sums too: 5 terms of at most 8. */
  for (size_t k = 0; k < SUBJECTS; k++) {
    const char *claim = subjects[k].vector ? "correctly_rounded" : "world_invariant";
    if (!subjects[k].library) continue;
    judge(s, claim, subjects[k].name, "--probe --fixtures 'integers/*'");
    EXPECT_CODE(s, 0);
    promise_kept(s, "v.jsonl", subjects[k].name, claim, subjects[k].dtypes, 2);
  }
}

static void expect_this(struct shell *s) {
  if (strcmp(TEXT(PROMISE), "same_results_over_worlds") == 0)
    expect_worlds(s);
  else
    expect_promise(s, TEXT(PROMISE));
}

TEST_OF(SUITE, PROMISE, .timeout = 280) {
  struct shell *s = open_shell();
  expect_this(s);
  shell_close(s);
}

#ifdef MPI_SHIM
/* What is asked here can be refuted: by an MPI that breaks just this. */
TEST_OF(SUITE, a_library_that_breaks_it_is_refuted, .timeout = 120) {
  static const struct {
    const char *promise, *variable, *how, *claim, *subject, *words;
  } ways[] = {
      {"run_to_run", "SHIM", "turns", "run_to_run", "mpi/allreduce,mpi/sum", ""},
      {"fresh_process", "SHIM_RECORD", "sums", "fresh_process", "mpi/allreduce,mpi/sum", ""},
      {"rank_agreement", "SHIM", "rank_1", "rank_agreement", "mpi/allreduce,mpi/sum", ""},
      {"same_results_over_worlds", "SHIM", "by_world", "world_invariant", "mpi/sum", "--probe"},
      {"same_results_over_worlds", "SHIM", "by_world", "correctly_rounded", "mpi/allreduce", "--probe"},
  };
  struct shell *s = open_shell();
  size_t tried = 0;
  setenv("LD_PRELOAD", MPI_SHIM, 1);
  setenv("ASAN_OPTIONS", "verify_asan_link_order=0", 1);
  for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
    if (strcmp(ways[i].promise, TEXT(PROMISE)) != 0) continue;
    char words[120], names[64], *rest = names;
    setenv(ways[i].variable, ways[i].how, 1);
    snprintf(words, sizeof words, "%s --fixtures 'integers/f32/sum/*/ranks3/*'", ways[i].words);
    judge(s, ways[i].claim, ways[i].subject, words);
    if (s->code == 77) cr_skip_test("%s", promise_skip(s, "v.jsonl"));
    snprintf(names, sizeof names, "%s", ways[i].subject);
    for (char *name; (name = strsep(&rest, ","));) {
      struct promise_count n = promise_count(s, "v.jsonl", name, ways[i].claim, "f32");
      cr_expect(n.refuted > 0, "%s of %s with %s=%s: %zu held, %zu refuted: %s", ways[i].claim, name, ways[i].variable,
                ways[i].how, n.held, n.refuted, s->err);
    }
    unsetenv(ways[i].variable);
    tried++;
  }
  cr_expect_gt(tried, 0);
  shell_close(s);
}
#endif
