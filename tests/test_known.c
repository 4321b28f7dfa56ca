/* test_known.c: a known defect of a library is named, and no other is excused; shown with an MPI that is wrong on
 * purpose (mpi_shim.c). */
#include "shell.h"

#include "ranks.h"

/* The version in which the facts were seen, whatever version is here. */
#define SEEN "Open MPI v4.1.4"
#define NAN_CASE "nan_first/f32/max/9x3/ranks3/seed1"
#define ZEROS_CASE "zeros_mixed/f32/min/65x3/ranks3/seed1"
#define PLAIN_MAX "normal/f32/max/33x3/ranks3/seed1"
#define PLAIN_SUM "normal/f32/sum/7x3/ranks3/seed1"

static struct shell *open_shell(void) {
  struct shell *s = shell_open();
  ranks_environment();
  setenv("FOLDPROOF_RANKS", "3", 0); /* as many as the cases have */
  setenv("LD_PRELOAD", MPI_SHIM, 1);
  setenv("SHIM_VERSION", SEEN, 1);
  /* AddressSanitizer wants to be loaded first, and sees to it. */
  setenv("ASAN_OPTIONS", "verify_asan_link_order=0", 1);
  shell_run(s, "$F verify --subjects collective/canonical --engine mpi --claims writes_output --fixtures " PLAIN_SUM);
  if (s->code == 77) cr_skip_test("%s", s->out);
  EXPECT_CODE(s, 0);
  return s;
}

/* "N held, N refuted, ..." and how many were known, by the table's own line. */
static void expect_verdict(struct shell *s, int code, const char *word) {
  EXPECT_CODE(s, code);
  cr_expect(strstr(s->out, word) != NULL, "%s: no '%s' in %s", s->ran, word, s->out);
}

Test(known, what_was_seen_before_is_told_once_a_subject_and_alone_is_no_success) {
  struct shell *s = open_shell();
  shell_run(s, "$F verify -v --subjects mpi/sum,mpi/allreduce --fixtures '" NAN_CASE "," ZEROS_CASE "'");
  expect_verdict(s, 0, "  4 cases, mpi/sum of " SEEN ": ");
  expect_verdict(s, 0, "  4 cases, mpi/allreduce of " SEEN ": ");
  expect_verdict(s, 0, "  correctly_rounded            0       0       0       -              -\n    2 known\n");
  cr_expect(strstr(s->out, "REFUTED") == NULL && strstr(s->out, " held, 0 refuted, 0 skipped\n"), "%s", s->out);
  shell_run(s, "$F verify --subjects mpi/sum --claims correctly_rounded --fixtures " NAN_CASE);
  expect_verdict(s, 77, "\n0 held, 0 refuted, 0 skipped\n");
  shell_run(s,
            "NCCL_ALGO=Ring OMPI_MCA_oob_base_verbose=0 OMPI_MCA_coll_base_verbose=0 "
            "$F verify --strict --subjects mpi/sum --claims correctly_rounded --fixtures " NAN_CASE);
  expect_verdict(s, 1, "\n0 held, 1 refuted, 0 skipped\n");
  expect_verdict(s, 1, "OMPI_MCA_coll_base_verbose='0' "); /* what sets this library, and no other */
  cr_expect(strstr(s->out, "NCCL_ALGO") == NULL && strstr(s->out, "oob_base") == NULL, "%s", s->out);
  expect_verdict(s, 1, "  known of " SEEN " to ");
  expect_verdict(s, 1, " --strict --ranks '3'\n");
  /* Of what was judged strictly the record says that it is refuted, and a report's replay is as strict. */
  shell_run(s, "$F verify --strict --subjects mpi/sum --claims correctly_rounded --jsonl k.jsonl --fixtures " NAN_CASE);
  shell_run(s, "$F report --format markdown k.jsonl");
  expect_verdict(s, 0, "1 refuted");
  shell_run(s, "$F report --format junit k.jsonl");
  expect_verdict(s, 0, " --strict --ranks &#39;3&#39;<");
  shell_close(s);
}

/* A world is started between two host subjects, by variables that are set for mpirun: they are no subject's. */
Test(known, what_starts_a_world_is_no_host_subjects_trace) {
  struct shell *s = open_shell();
  shell_run(s,
            "$F verify -v --subjects host/sequential,mpi/sum --claims fresh_process --fixtures "
            "'cancel*/f32/sum/*,integers/f32/sum/*,normal/f32/sum/*'");
  expect_verdict(s, 0, " held, 0 refuted, ");
  cr_expect(strstr(s->out, "mpi/sum on mpi\n") && strstr(s->out, "host/sequential on host\n"), "%s", s->out);
  shell_close(s);
}

Test(known, what_was_seen_in_another_version_is_refuted_here) {
  struct shell *s = open_shell();
  static const char *const others[] = {"Open MPI v4.1.3",     "Open MPI v4.1.9", "Open MPI v4.10.6",
                                       "Open MPI v4.1.6rc1",  "Open MPI v6.0",   "Open MPI",
                                       "MPICH Version: 4.1.6"};
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
    char line[80];
    setenv("SHIM_VERSION", others[i], 1);
    snprintf(line, sizeof line, "; but this is %s\n", others[i]);
    shell_run(s, "$F verify --subjects mpi/sum --claims correctly_rounded --fixtures '" NAN_CASE "'");
    expect_verdict(s, 1, "REFUTED: mpi/sum on mpi violates correctly_rounded: " NAN_CASE);
    expect_verdict(s, 1, "  known of " SEEN " to ");
    expect_verdict(s, 1, line);
  }
  setenv("SHIM_VERSION", "Open MPI v4.1.6", 1); /* between two that were seen */
  shell_run(s, "$F verify --subjects mpi/sum --fixtures '" NAN_CASE "'");
  EXPECT_CODE(s, 0);
  shell_close(s);
}

/* A row that is wrong in another way than the known one, on the same case and beside rows that are known, is new. */
Test(known, what_was_not_seen_before_is_refuted_whatever_the_case) {
  static const struct {
    const char *how, *fixture, *claim;
  } rows[] = {
      {"zeros", PLAIN_MAX, "correctly_rounded"}, {"zeros", NAN_CASE, "correctly_rounded"},
      {"last", NAN_CASE, "correctly_rounded"},   {"last", NAN_CASE, "permutation_invariant"},
      {"last", ZEROS_CASE, "correctly_rounded"}, {"sums", PLAIN_SUM, "bounded"},
  };
  struct shell *s = open_shell();
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    setenv("SHIM", rows[i].how, 1);
    shell_run(s, "$F verify --subjects mpi/allreduce --claims '%s' --fixtures '%s'", rows[i].claim, rows[i].fixture);
    expect_verdict(s, 1, "REFUTED: mpi/allreduce on mpi violates ");
    expect_verdict(s, 1, "  new: not known of " SEEN "\n");
    unsetenv("SHIM");
    shell_run(s, "$F verify --subjects mpi/allreduce --claims '%s' --fixtures '%s'", rows[i].claim, rows[i].fixture);
    cr_expect(strstr(s->out, "REFUTED") == NULL, "without the shim: %s", s->out);
  }
  shell_close(s);
}

/* A record of either kind says of a peer's refutation whether it is known, and a report goes by that. */
Test(known, records_and_reports_tell_known_from_new) {
  struct shell *s = open_shell();
  shell_run(s, "$F verify --subjects mpi/sum --fixtures '" NAN_CASE
               "' --jsonl known.jsonl && grep -c '\"known\":\"' known.jsonl");
  EXPECT_CODE(s, 0);
  shell_run(s, "grep '\"known\"' known.jsonl | grep -vc '\"verdict\":\"refuted\"'");
  cr_expect_str_eq(s->out, "0\n", "what is not refuted is not known");
  /* What a probe finds was not promised: it is not new. */
  shell_run(
      s, "SHIM=last $F verify --probe --subjects mpi/sum --claims replays,permutation_invariant --fixtures '" PLAIN_MAX
         "' --jsonl probe.jsonl; grep '\"promised\":false' probe.jsonl | grep -c '\"known\"'");
  cr_expect_str_eq(s->out + strlen(s->out) - 2, "0\n", "%s", s->out);
  shell_run(s, "SHIM=last $F verify --subjects mpi/sum --fixtures '" NAN_CASE
               "' --jsonl new.jsonl; grep -c '\"known\":false' new.jsonl");
  EXPECT_CODE(s, 0);
  shell_run(s, "$F report --format markdown known.jsonl");
  expect_verdict(s, 0, " held, 0 refuted, 0 skipped, 2 known defects\n");
  shell_run(s, "$F report --format junit known.jsonl");
  expect_verdict(s, 0, " failures=\"0\"");
  shell_run(s, "$F report --format markdown known.jsonl new.jsonl");
  expect_verdict(s, 0, "\n**Refuted**\n");
  shell_run(s, "$F report --format junit new.jsonl known.jsonl");
  expect_verdict(s, 0, " failures=\"2\"");
  shell_close(s);
}

/* Rank 0 has the same bits in the new process, and rank 1 has not. */
Test(known, a_rank_that_differs_in_the_new_process_alone_is_seen) {
  struct shell *s = open_shell();
  const char *select = "--subjects mpi/allreduce --fixtures " PLAIN_SUM;
  shell_run(s, "SHIM_RECORD=rank_1 $F verify --claims fresh_process,rank_agreement --jsonl a.jsonl %s", select);
  expect_verdict(s, 1, "REFUTED: mpi/allreduce on mpi violates fresh_process: ");
  expect_verdict(s, 1, "  in a new process rank 1 has different bits than rank 0; want: right, got: wrong by ");
  cr_expect(strstr(s->out, "violates rank_agreement") == NULL, "%s", s->out);
  shell_run(
      s, "SHIM_RECORD=rank_1 $F record --jsonl b.jsonl %s && grep -c '\"ranks_differ\":{\"rank\":1,\"row\":0,' b.jsonl",
      select);
  EXPECT_CODE(s, 0);
  shell_run(s, "$F compare a.jsonl b.jsonl");
  expect_verdict(s, 1, "DIFFERS: mpi/allreduce on mpi: ");
  expect_verdict(s, 1, "rank 1 differs from rank 0");
  shell_run(s, "$F record --jsonl c.jsonl %s && $F compare a.jsonl c.jsonl", select);
  EXPECT_CODE(s, 0);
  shell_close(s);
}

/* Otherwise a launcher that is late may take it for one that never called MPI_Finalize, and kill the others. */
Test(known, no_rank_ends_before_the_last_has_finalized) {
  struct shell *s = open_shell();
  shell_run(s, "SHIM=ends_late $F verify --subjects mpi/sum --engine mpi --claims bounded --fixtures " PLAIN_SUM);
  expect_verdict(s, 0, "1 held, 0 refuted, 0 skipped\n");
  shell_close(s);
}

/* An array's columns go over the ranks; how many, --ranks says. */
Test(known, an_array_is_spread_over_the_ranks) {
  struct shell *s = open_shell();
  shell_run(s, "$F gen normal --rows 5 --cols 3 -o x.npy && $F verify -v --engine mpi --ranks 3 --npy x.npy");
  expect_verdict(s, 0, "collective/canonical on mpi\n");
  expect_verdict(s, 0, "mpi/sum on mpi\n");
  setenv("SHIM", "sums", 1);
  shell_run(s, "$F verify --engine mpi --ranks 2 --npy x.npy --subjects mpi/sum --claims bounded");
  expect_verdict(s, 1, "x.npy/f32/sum/5x3/ranks2");
  expect_verdict(s, 1, " --npy 'x.npy' --problem 'sum' --ranks '2'\n");
  shell_close(s);
}
