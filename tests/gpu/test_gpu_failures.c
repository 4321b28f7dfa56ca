/* test_gpu_failures.c: what fails on a GPU fails in CUDA's own words, breaks no more than it must, and is never green. */
#include <stdio.h>

#include "gpu.h"
#include "mutants_gpu.h"
#include "run/runner.h"
#include "shell.h"

/* ---- verdicts by case and subject, in the order in which they came ---- */

enum { MOST_VERDICTS = 64 };

struct verdicts {
  size_t n;
  enum fold_verdict verdict[MOST_VERDICTS];
  char reason[MOST_VERDICTS][200];
};

static fold_status take(void *context, const struct fold_judgement *j) {
  struct verdicts *v = context;
  cr_assert(v->n < MOST_VERDICTS);
  v->verdict[v->n] = j->finding.verdict;
  strcpy(v->reason[v->n++], j->finding.reason);
  return fold_ok();
}

/* Judges `claims` of `subjects` on `cases`. */
static fold_status verdicts_of(const char *subjects, const char *claims, const struct fold_cases *cases,
                               struct verdicts *v) {
  struct fold_registry registry;
  fold_gpu_mutants_join(&registry);
  struct fold_selection selection = {.subjects = subjects, .claims = claims, .engine = FOLD_CUDA, .repeats = 3};
  struct fold_sink sink = {.judgement = take, .context = v};
  volatile int stop = 0;
  memset(v, 0, sizeof *v);
  fold_status status = fold_verify(&registry, &selection, cases, NULL, &sink, &stop);
  free((void *)(uintptr_t)registry.subjects);
  return status;
}

static void load(const char *globs, struct fold_cases *cases, size_t n) {
  gpu_need(fold_cases_load(FOLD_FIXTURE_FOLDER, "default", globs, cases));
  cr_assert_eq(cases->n, n, "%s: %zu cases", globs, cases->n);
}

static void expect(const struct verdicts *v, size_t i, enum fold_verdict verdict, const char *words) {
  cr_assert(i < v->n, "only %zu verdicts", v->n);
  cr_expect_eq(v->verdict[i], verdict, "verdict %zu is %s: %s", i, fold_verdict_name(v->verdict[i]), v->reason[i]);
  cr_expect(strstr(v->reason[i], words), "verdict %zu: '%s' does not say '%s'", i, v->reason[i], words);
}

/* ---- device memory ---- */

Test(gpu_failures, more_memory_than_the_gpu_has_is_no_memory_in_cudas_words) {
  gpu_open();
  void *d = &d;
  fold_status status = fold_device_alloc(&d, (size_t)1 << 50);
  cr_expect_eq(status.code, FOLD_NO_MEMORY, "code %d: %s", (int)status.code, status.text);
  cr_expect_null(d);
  cr_expect(strstr(status.text, "cudaMalloc: out of memory (CUDA error 2)"), "%s", status.text);
  cr_expect(strstr(status.text, "1125899906842624 bytes"), "%s", status.text);
  gpu_need(fold_device_recover());
  gpu_free(gpu_alloc(1 << 20));
}

/* 2 TB of input: that case is broken, and its neighbours are judged. */
Test(gpu_failures, a_case_past_device_memory_is_broken_and_the_next_one_judged) {
  gpu_open();
  static const char ini[] =
      "[small]\ngenerator = integers\ndtype = f16\nn = 1000\n"
      "[huge]\ngenerator = integers\ndtype = f16\nn = 2^40\n"
      "[after]\ngenerator = integers\ndtype = f16\nn = 1001\n";
  struct scratch scratch;
  struct fold_cases cases = {0};
  struct verdicts v;
  cr_assert(scratch_open(&scratch));
  gpu_need(fold_cases_load_file(scratch_write(&scratch, "huge.ini", ini, sizeof ini - 1), &cases));
  cr_assert_eq(cases.n, 3);
  gpu_need(verdicts_of("flat/canonical", "replays", &cases, &v));
  expect(&v, 0, FOLD_HELD, "");
  expect(&v, 1, FOLD_BROKEN, "out of memory (CUDA error 2)");
  expect(&v, 2, FOLD_HELD, "");
  fold_cases_free(&cases);
  scratch_close(&scratch);
}

/* ---- addresses ---- */

/* NULL where the call is refused for `which`, or what is wrong. */
static const char *refusal_fault(const struct fold_subject *subject, const struct fold_call *call, const char *which) {
  fold_status status = subject->run(subject, call);
  if (status.code != FOLD_BAD_INPUT) return "is not refused as bad input";
  return strstr(status.text, which) && strstr(status.text, "not aligned") ? NULL : "is refused in other words";
}

/* A hundred zeros: right at aligned addresses, before and after the refusals. */
static const char *misaligned_fault(const struct fold_subject *subject, struct fold_call call, bool *runs) {
  uint64_t before = 1, after = 1;
  const char *fault = NULL;
  fold_status status = gpu_run(subject, call, &before);
  *runs = status.code != FOLD_UNSUPPORTED; /* a peer that this build has not */
  if (!*runs) return NULL;
  if (status.code != FOLD_OK) return "fails at aligned addresses";
  struct fold_call in = call, out = call;
  in.scratch = out.scratch = gpu_scratch(subject, &call);
  in.in[0] = (const char *)call.in[0] + 1;
  out.out = (char *)call.out + 1;
  fault = refusal_fault(subject, &in, "in");
  if (!fault) fault = refusal_fault(subject, &out, "out");
  gpu_free(in.scratch);
  if (!fault && gpu_run(subject, call, &after).code != FOLD_OK) fault = "leaves a dead context";
  bool zero = fold_bits_load(call.dtype, &before, 0) == 0 && fold_bits_load(call.dtype, &after, 0) == 0;
  return fault || zero ? fault : "does not add +0s to +0";
}

Test(gpu_failures, a_misaligned_address_is_refused_and_the_context_lives) {
  gpu_open();
  void *d = gpu_alloc(4096), *d_out = gpu_alloc(4096);
  size_t n, ran = 0, wrong = 0;
  const struct fold_subject *subjects = fold_subjects(&n);
  gpu_need(fold_device_set(d, 0, 4096, NULL));
  for (size_t i = 0; i < n; i++)
    for (int dtype = 0; dtype < GPU_DTYPES; dtype++) {
      if (!gpu_takes(&subjects[i], dtype, FOLD_SUM)) continue;
      struct fold_call call = {.dtype = (enum fold_dtype)dtype,
                               .problem = fold_rows_problem(FOLD_SUM),
                               .rows = 1,
                               .cols = 100,
                               .in = {d},
                               .out = d_out};
      bool runs;
      const char *fault = misaligned_fault(&subjects[i], call, &runs);
      ran += runs;
      if (fault && wrong++ < 10)
        cr_expect(false, "%s %s, off by one byte: %s", subjects[i].name, fold_dtype_name(call.dtype), fault);
    }
  cr_expect_eq(wrong, 0, "%zu of %zu wrong", wrong, ran);
  cr_expect_geq(ran, 40, "only %zu ran", ran);
  gpu_free(d);
  gpu_free(d_out);
}

/* ---- launches that fail ---- */

/* Not sticky: each case of the subject is broken, and the other subject is judged before, between and after. */
static void expect_passing(const char *mutant, const char *words) {
  struct fold_cases cases = {0};
  struct verdicts v;
  char subjects[100];
  snprintf(subjects, sizeof subjects, "rows/par_64@plain,%s", mutant);
  load("normal/f32/sum/1x3[123]/*", &cases, 3);
  gpu_need(verdicts_of(subjects, "replays", &cases, &v));
  cr_assert_eq(v.n, 6, "%zu verdicts", v.n);
  for (size_t k = 0; k < 6; k += 2) {
    expect(&v, k, FOLD_HELD, "");
    expect(&v, k + 1, FOLD_BROKEN, words);
  }
  fold_cases_free(&cases);
}

/* CUDA's word for it changed: error 9, invalid configuration argument; error 1, invalid argument, in CUDA 13. */
Test(gpu_failures, a_launch_that_cannot_be_is_broken_and_the_context_lives) {
  gpu_open();
  expect_passing("mutant/bad_launch", "broken_kernel: invalid");
}

/* What an architecture meets that the build has no code for. */
Test(gpu_failures, no_code_for_this_gpu_is_broken_in_cudas_words) {
  gpu_open();
  expect_passing("mutant/no_image", "elsewhere_kernel: no kernel image is available for execution on the device");
}

/* Sticky: what was judged before stays judged; in this process all that follows is broken, in CUDA's words, and nothing is green.
 */
Test(gpu_failures, an_illegal_address_breaks_all_that_follows) {
  gpu_open();
  struct fold_cases cases = {0};
  struct verdicts v;
  const char *words = "an illegal memory access was encountered (CUDA error 700)";
  load("normal/f32/sum/1x3[123]/*", &cases, 3);
  gpu_need(verdicts_of("rows/par_64@plain,mutant/illegal", "replays", &cases, &v));
  cr_assert_eq(v.n, 6, "%zu verdicts", v.n);
  expect(&v, 0, FOLD_HELD, "");
  for (size_t k = 1; k < 6; k++) expect(&v, k, FOLD_BROKEN, words);
  fold_cases_free(&cases);
}

/* ---- the command ---- */

/* The sound subject, which stands before the mutant, is judged in every case: in a new process where the mutant lost the GPU. */
static void expect_command(const char *mutant, const char *words) {
  SHELL(s);
  shell_run(s,
            "FOLDPROOF_FIXTURES='%s' $M verify -v --engine cuda --timeout 2 --subjects 'rows/par_64@plain,%s' "
            "--fixtures 'normal/f32/sum/1x3[123]/*' --claims writes_output,replays,run_to_run",
            FOLD_FIXTURE_FOLDER, mutant);
  EXPECT_CODE(s, 99);
  cr_expect(strstr(s->out, words) || strstr(s->err, words), "%s: neither '%s' nor '%s' says '%s'", mutant, s->out,
            s->err, words);
  const char *sound = strstr(s->out, "rows/par_64@plain on cuda\n");
  const char *line = sound ? strstr(sound, "\n  writes_output") : NULL;
  size_t held = 0;
  if (line) sscanf(line, "\n  writes_output %zu", &held);
  cr_expect_eq(held, 3, "%s: the sound subject held in %zu cases: %s", mutant, held, s->out);
}

Test(gpu_failures, the_command_exits_99_and_judges_the_others) {
  gpu_open();
  expect_command("mutant/endless", "a run did not end within 2 s");
  expect_command("mutant/illegal", "an illegal memory access was encountered (CUDA error 700)");
  expect_command("mutant/illegal_later", "an illegal memory access was encountered (CUDA error 700)");
  expect_command("mutant/bad_launch", "broken_kernel: invalid");
  expect_command("mutant/no_image", "no kernel image is available for execution on the device");
}

/* With and without a GPU. */
Test(gpu_failures, the_command_exits_99_where_more_gpus_are_asked_for) {
  SHELL(s);
  shell_run(s,
            "FOLDPROOF_REQUIRE_GPUS=99 FOLDPROOF_FIXTURES='%s' $F verify --engine cuda "
            "--fixtures 'normal/f32/sum/1x33/*' --claims replays",
            FOLD_FIXTURE_FOLDER);
  EXPECT_CODE(s, 99);
  cr_expect(strstr(s->out, "FOLDPROOF_REQUIRE_GPUS=99") || strstr(s->err, "FOLDPROOF_REQUIRE_GPUS=99"), "%s%s", s->out,
            s->err);
}

Test(gpu_failures, the_command_skips_with_77_and_the_reason_without_a_gpu) {
  SHELL(s);
  shell_run(s,
            "unset FOLDPROOF_REQUIRE_GPUS; CUDA_VISIBLE_DEVICES= FOLDPROOF_FIXTURES='%s' $F verify --engine cuda "
            "--fixtures 'normal/f32/sum/1x33/*' --claims replays",
            FOLD_FIXTURE_FOLDER);
  EXPECT_CODE(s, 77);
  cr_expect(strstr(s->out, "no GPU here"), "no reason: %s%s", s->out, s->err);
}
