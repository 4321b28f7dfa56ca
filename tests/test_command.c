/* test_command.c: the command as its user sees it: exit codes, tables, records, the oracle's answers. */
#include "shell.h"

#include "base/bits.h"
#include "fixtures/generator.h"
#include "fixtures/npy.h"
#include "judge/judge.h"
#include "mutants.h"
#include "oracles/order.h"
#include "ranks.h"

#define CASE33 "--fixtures normal/f32/sum/1x33/seed1"

Test(command, exit_codes_follow_the_contract) {
  static const struct {
    const char *line;
    int code;
  } rows[] = {
      {"$F verify --subjects host/sequential " CASE33, 0},
      {"$M verify --subjects mutant/twice " CASE33, 1},
      {"$M verify --subjects broken/environment " CASE33, 99},
      {"$M verify --subjects broken/no_memory " CASE33, 99},
      {"$M verify --subjects broken/unsupported " CASE33, 77},
      {"$M verify --subjects 'broken/environment,mutant/twice' " CASE33, 1},
      {"$M verify --subjects 'broken/environment,host/sequential' " CASE33, 99},
      {"$M verify --subjects 'broken/unsupported,host/sequential' " CASE33, 0},
      {"$M verify --subjects mutant/pid --claims fresh_process " CASE33, 1},
      {"cd / && $M verify --subjects mutant/working_folder --claims fresh_process " CASE33, 1},
#ifndef __SANITIZE_ADDRESS__ /* which keeps freed memory aside */
      {"unset MALLOC_PERTURB_; $M verify --subjects mutant/freed_memory --claims fresh_process --fixtures "
       "'normal/f32/sum/1x1023/seed1'",
       1},
#endif
      {"mkdir f; printf '[a]\\nvalues = 1, 2\\ndtype = f32\\nprovenance = x\\nclaims = boundet' >f/a.ini; "
       "$F verify --fixture-folder f",
       2},
      {"mkdir g; printf '[a]\\nvalues = 1, 2\\ndtype = f32\\nprovenance = x\\nclaims = bounded, re*' >g/a.ini; "
       "$F verify --fixture-folder g --subjects host/pairwise | grep '^2 held, 0 refuted, 0 skipped'",
       0},
      {"$M verify --subjects mutant/counter --claims run_to_run --fixtures 'normal/f32/sum/1x1023/seed1'", 1},
      {"$M verify --subjects host/sequential --claims fresh_process " CASE33, 0},
      {"$M record --subjects broken/unsupported " CASE33, 77},
      {"$M record --subjects broken/environment " CASE33, 99},
      {"$F record --subjects host/sequential " CASE33, 0},
      {"$F", 2},
      {"$F --help", 0},
      {"$F --version", 0},
      {"$F env", 0},
      {"$F env --json", 0},
      {"$F order host/pairwise --n 5 --draw text", 0},
      {"$F order host/pairwise --n 5 --draw=svg | grep '<svg'", 0},
      {"$F order host/pairwise --n 0 --draw", 0},
      {"$F order --draw host/pairwise host/numpy", 2},
      {"$F order host/pairwise --draw=pie", 2},
      {"$F list fixtures", 0},
  };
  SHELL(s);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    shell_run(s, "%s", rows[i].line);
    EXPECT_CODE(s, rows[i].code);
    cr_expect((rows[i].code == 2) == (s->out[0] == '\0'), "%s: output '%s'", s->ran, s->out);
  }
}

static void expect_listed(struct shell *s, const char *what, const char *name) {
  const char *at = s->out;
  size_t n = strlen(name);
  while ((at = strstr(at, name)) && !((at == s->out || at[-1] == '\n') && strchr(" \n", at[n]))) at += n;
  cr_expect(at != NULL, "list %s lacks %s", what, name);
}

Test(command, list_names_every_row_of_every_table) {
  SHELL(s);
  size_t n;
  shell_run(s, "$F list");
  const struct fold_subject *subjects = fold_subjects(&n);
  for (size_t i = 0; i < n; i++) expect_listed(s, "subjects", subjects[i].name);
  shell_run(s, "$F list claims");
  const struct fold_claim *claims = fold_claims(&n);
  for (size_t i = 0; i < n; i++) expect_listed(s, "claims", claims[i].name);
  expect_listed(s, "claims", "gpu_to_gpu");
  cr_expect(strstr(s->out, "by compare --claim gpu_to_gpu\n"), "%s", s->out);
  shell_run(s, "$F list claims --engine host");
  cr_expect(strstr(s->out, "replays") && !strstr(s->out, "gpu_to_gpu"), "%s", s->out);
  shell_run(s, "$F list generators");
  const struct fold_generator *generators = fold_generators(&n);
  for (size_t i = 0; i < n; i++) expect_listed(s, "generators", generators[i].name);
  shell_run(s, "$F list orders");
  const struct fold_order *orders = fold_orders(&n);
  for (size_t i = 0; i < n; i++) expect_listed(s, "orders", orders[i].name);
  shell_run(s, "$F list fixtures");
  expect_listed(s, "fixtures", "normal/f32/sum/1x33/seed1");
}

Test(command, list_leaves_out_what_the_options_leave_out) {
  static const struct {
    const char *asked, *has, *lacks;
  } rows[] = {
      {"subjects --subjects 'rows/par_*' --engine host", "rows/par_256", "rows/multi_block"},
      {"subjects --claims correctly_rounded --engine host", "host/exact", "host/kahan"},
      {"claims --subjects host/kahan", "run_to_run", "correctly_rounded"},
      {"claims --claims 'bounded'", "bounded", "run_to_run"},
      {"fixtures --fixtures 'normal/f32/*' --set large --set default", "normal/f32/sum/1x33/seed1", "normal/f64"},
  };
  SHELL(s);
  size_t n;
  const struct fold_subject *subjects = fold_subjects(&n);
  for (int e = 0; e < FOLD_ENGINES; e++) {
    char column[40];
    size_t own = 0, listed = 0;
    shell_run(s, "$F list subjects --engine %s", fold_engine_name((enum fold_engine)e));
    EXPECT_CODE(s, 0);
    for (int other = 0; other < FOLD_ENGINES; other++) {
      snprintf(column, sizeof column, "  %s  ", fold_engine_name((enum fold_engine)other));
      listed += shell_count(s->out, column);
    }
    for (size_t i = 0; i < n; i++) {
      if ((int)subjects[i].engine != e) continue;
      own++;
      expect_listed(s, "subjects", subjects[i].name);
    }
    cr_expect_eq(listed, own, "%s: %zu subjects for %zu", s->ran, listed, own);
  }
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    shell_run(s, "$F list %s", rows[i].asked);
    expect_listed(s, "what is asked for", rows[i].has);
    cr_expect(!strstr(s->out, rows[i].lacks), "%s: %s", s->ran, s->out);
  }
}

/* The numbers of "N held, N refuted, N skipped", the table's last line. */
static void closing_counts(struct shell *s, size_t count[3]) {
  int end = 0;
  const char *line = shell_last_line(s->out);
  int got = sscanf(line, "%zu held, %zu refuted, %zu skipped%n", &count[0], &count[1], &count[2], &end);
  cr_expect(got == 3 && line[end] == '\0', "%s: closing line '%s'", s->ran, line);
}

Test(command, records_say_what_the_table_counts) {
  SHELL(s);
  size_t table[3], records[3] = {0}, environments = 0;
  shell_run(
      s,
      "$M verify --subjects 'mutant/odd_first,host/kahan,broken/unsupported' --fixtures 'normal/f32/sum/1x[1-9]/*' "
      "--jsonl records.jsonl");
  EXPECT_CODE(s, 1);
  closing_counts(s, table);
  FILE *file = fopen(scratch_path(&s->scratch, "records.jsonl"), "r");
  cr_assert_not_null(file);
  json_t *line;
  json_error_t error;
  for (size_t n = 0; (line = json_loadf(file, JSON_DISABLE_EOF_CHECK, &error)); n++) {
    const char *type = json_string_value(json_object_get(line, "type"));
    const char *verdict = json_string_value(json_object_get(line, "verdict"));
    cr_expect_eq(json_integer_value(json_object_get(line, "schema")), 2);
    environments += n == 0 && type && strcmp(type, "environment") == 0;
    const json_int_t cases = json_integer_value(json_object_get(line, "cases")); /* of what could not run */
    for (int v = 0; v < 3 && verdict; v++)
      if (strcmp(verdict, fold_verdict_name((enum fold_verdict)v)) == 0) records[v] += cases ? (size_t)cases : 1;
    if (verdict) cr_expect_str_eq(json_string_value(json_object_get(line, "dtype")), "f32");
    cr_expect_null(json_object_get(line, "known"), "only of another library's refutation it is said that it is known");
    json_decref(line);
  }
  cr_expect(feof(file), "a line is no JSON: %s", error.text);
  fclose(file);
  cr_expect_eq(environments, 1, "the environment stands first");
  for (int v = 0; v < 3; v++) {
    cr_expect_eq(records[v], table[v], "%s: %zu records, %zu in the table", fold_verdict_name((enum fold_verdict)v),
                 records[v], table[v]);
    cr_expect(table[v] > 0, "nothing to compare");
  }
  cr_expect_eq(scratch_count(&s->scratch, false), 1, "nothing lies beside the records");
}

/* Who only ran has held nothing; who could not run is skipped or broken. Records of before, with a verdict, say the same. */
Test(command, a_run_that_judges_nothing_has_no_verdict) {
  SHELL(s);
  shell_run(s, "$M record --subjects 'host/kahan,broken/unsupported,broken/environment' " CASE33 " --jsonl r.jsonl");
  EXPECT_CODE(s, 99);
  shell_run(s, "grep '\"type\":\"run\"' r.jsonl | grep -c '\"verdict\":\"\\(skipped\\|broken\\)\"'");
  cr_expect_str_eq(s->out, "2\n");
  shell_run(s, "grep '\"results\"' r.jsonl | tee with_results | grep -c '\"verdict\"'; grep -c . with_results");
  cr_expect_str_eq(s->out, "0\n1\n");
  shell_run(s,
            "sed 's/\"type\":\"run\"/&,\"verdict\":\"held\"/' with_results >old; $F compare old with_results && $F "
            "report old -o x.html");
  EXPECT_CODE(s, 0);
}

/* Standard output is a regular file here, as behind a shell's ">": it must be written to, and not replaced. */
Test(command, records_go_to_standard_output_wherever_it_leads) {
  SHELL(s);
  shell_run(s, "echo first >out.jsonl; $F record --subjects host/kahan " CASE33 " >>out.jsonl; cat out.jsonl");
  EXPECT_CODE(s, 0);
  cr_expect(strncmp(s->out, "first\n{\"schema\":2,", 18) == 0, "%s", s->out);
  cr_expect_eq(shell_lines(s->out), 4, "%s", s->out);
  shell_run(s, "$F record --subjects host/kahan " CASE33 " | cat");
  cr_expect_eq(shell_lines(s->out), 3, "%s", s->out);
  shell_run(s, "ln -s target.jsonl link.jsonl && $F record --subjects host/kahan " CASE33
               " --jsonl link.jsonl && test -L link.jsonl && test -s target.jsonl");
  EXPECT_CODE(s, 0);
}

/* Neither a slot nor a column of a product is a row. */
Test(command, what_is_not_there_is_named_as_every_problem_has_it) {
  SHELL(s);
  shell_run(s,
            "$F verify keyed/sequential matmul/blocked --claims keeps_input --fixtures "
            "'*/f32/keyed/3x0x0/*,*/f32/matmul/3x0x5/*'");
  EXPECT_CODE(s, 77);
  cr_expect(strstr(s->out, "  2: there are no results\n"), "%s", s->out);
  shell_run(s,
            "$F verify keyed/sequential matmul/blocked --claims keeps_input --fixtures "
            "'*/f32/keyed/3x2x0/*,*/f32/matmul/3x2x0/*'");
  EXPECT_CODE(s, 77);
  cr_expect(strstr(s->out, "  2: there are no terms\n"), "%s", s->out);
}

/* Where there is no result nothing can be right: no claim about values holds. */
Test(command, an_input_without_rows_is_judged_by_no_value) {
  static const char *const claims[] = {"correctly_rounded", "faithful", "bounded"};
  SHELL(s);
  for (size_t i = 0; i < sizeof claims / sizeof *claims; i++) {
    shell_run(s, "$F verify --subjects host/exact,host/sequential --claims %s --fixtures '*/f32/sum/0x*'", claims[i]);
    EXPECT_CODE(s, 77);
    cr_expect(strstr(s->out, ": there are no results\n") && strstr(s->out, "\n0 held, 0 refuted, "), "%s: %s", s->ran,
              s->out);
  }
}

/* The first replay line, run by sh as it stands, refutes one claim of one case. */
static void replay_alone(struct shell *s) {
  char replay[700] = "";
  EXPECT_CODE(s, 1);
  const char *line = strstr(s->out, "  reproduce: ");
  cr_assert_not_null(line, "%s: no replay: %s", s->ran, s->out);
  line += strlen("  reproduce: ");
  snprintf(replay, sizeof replay, "%.*s", (int)strcspn(line, "\n"), line);
  shell_run(s, "%s", replay);
  EXPECT_CODE(s, 1);
  size_t count[3];
  closing_counts(s, count);
  cr_expect(count[0] == 0 && count[1] == 1 && count[2] == 0, "%s: more than that case", s->ran);
}

Test(command, a_refutation_can_be_replayed_alone) {
  static const char *const mutants[] = {"mutant/twice", "mutant/next_row", "mutant/flush", "mutant/max_from_zero"};
  SHELL(s);
  for (size_t i = 0; i < sizeof mutants / sizeof *mutants; i++) {
    shell_run(s,
              "$M verify --subjects '%s' --claims 'replays' --fixtures "
              "'normal/f32/*/*x33/*,normal/f32/sum/17x257/*,subnormals/f32/sum/1x33/*,zeros_negative/f32/max/*'",
              mutants[i]);
    replay_alone(s);
  }
}

/* With as many repeats, over such a world. */
Test(command, a_replay_asks_as_the_user_did) {
  SHELL(s);
  ranks_environment();
  shell_run(s,
            "$M verify --subjects mutant/counter --claims run_to_run --repeats 7 --fixtures normal/f32/sum/1x1023/*");
  cr_expect(strstr(s->out, " --repeats '7'\n"), "%s", s->out);
  replay_alone(s);
#ifdef FOLD_HAVE_MPI
  if (system("command -v mpirun >/dev/null") == 0) {
    shell_run(s,
              "$M verify --engine mpi --ranks 5 --timeout 60 --subjects mutant/own_last --claims rank_agreement "
              "--fixtures 'normal/f32/sum/1000x3/*'");
    cr_expect(strstr(s->out, " --ranks '5' --timeout '60'\n"), "%s", s->out);
    replay_alone(s);
  }
#endif
}

Test(command, a_replay_of_an_array_names_the_array) {
  SHELL(s);
  shell_run(s,
            "$F gen normal --n 100 -o 'a b.npy' && $M verify --subjects mutant/twice --claims bounded --npy 'a b.npy'");
  EXPECT_CODE(s, 1);
  cr_expect(strstr(s->out, " --npy 'a b.npy' --problem 'sum'\n"), "%s", s->out);
}

/* One array of f32 or f64 to a .npy of the scratch folder. */
struct array {
  enum fold_dtype dtype;
  const double *x;
};
static fold_status fill(void *context, uint64_t first, size_t n, void *out) {
  const struct array *a = context;
  for (size_t i = 0; i < n; i++) fold_bits_store(a->dtype, out, i, fold_bits_from_double(a->dtype, a->x[first + i]));
  return fold_ok();
}

/* One row of two has a bound, for Kahan's needs n u <= 1/10 where sums may round: that is what held says, in table and record. */
Test(command, rows_without_a_bound_are_counted) {
  enum { COLS = 1700000 };
  double *rows = calloc(2 * COLS, sizeof *rows);
  SHELL(s);
  struct array a = {FOLD_F32, rows};
  cr_assert_not_null(rows);
  rows[0] = rows[COLS] = 1;
  rows[1] = 0x1p-30;
  cr_assert_eq(fold_npy_write(scratch_path(&s->scratch, "x.npy"), FOLD_F32, 2, COLS, true, fill, &a).code, FOLD_OK);
  shell_run(s, "$F verify --npy x.npy --subjects host/kahan --claims compensated -v --jsonl /dev/stdout");
  EXPECT_CODE(s, 0);
  cr_expect_not_null(strstr(s->out, "\n    1 of 2 rows have no bound: Kahan's needs n u <= 1/10\n"), "%s", s->out);
  cr_expect_not_null(strstr(s->out, "\"reason\":\"1 of 2 rows have no bound: Kahan's needs n u <= 1/10\""), "%s",
                     s->out);
  cr_expect_not_null(strstr(s->out, "\"rows_judged\":1,\"rows_without_bound\":1"), "%s", s->out);
  free(rows);
}

/* In words, in the record, and again where the record's results are judged. */
Test(command, a_verdict_over_a_sample_says_so) {
  SHELL(s);
  shell_run(s,
            "$F gen normal --rows 70000 --cols 100 -o x.npy && "
            "$F verify host/pairwise --npy x.npy --claims bounded,replays --jsonl a.jsonl");
  EXPECT_CODE(s, 0);
  cr_expect(strstr(s->out, "sampled: 1 verdict on large cases, the first with 3,991") &&
                strstr(s->out, " of 70,000 results judged (npy:x.npy/f32/sum/70000x100)\n"),
            "%s", s->out);
  shell_run(s, "cat a.jsonl");
  cr_expect(strstr(s->out, "of 70,000 results judged\"") && strstr(s->out, "\"results_judged\":3991,"), "%s", s->out);
  shell_run(s, "$F recheck a.jsonl");
  EXPECT_CODE(s, 0);
  cr_expect(strstr(s->out, " 0 contradictions") && strstr(s->out, "sampled: 1 verdict"), "%s", s->out);
  shell_run(s, "sed 's/\"results_judged\":[0-9]*/\"results_judged\":4/' a.jsonl >b.jsonl; $F recheck b.jsonl");
  cr_expect(strstr(s->out, "results_judged of bounded: it says 4; its results and input give 3991"), "%s", s->out);
}

static json_t *ask_oracle(struct shell *s, enum fold_dtype dtype, const char *op, size_t n, const double *x) {
  struct array a = {dtype, x};
  cr_assert_eq(fold_npy_write(scratch_path(&s->scratch, "x.npy"), dtype, 1, n, true, fill, &a).code, FOLD_OK);
  shell_run(s, "$F oracle x.npy --json --check --problem %s", op);
  EXPECT_CODE(s, 0);
  json_error_t error;
  json_t *answer = json_loads(s->out, 0, &error);
  cr_assert_not_null(answer, "%s: %s", s->out, error.text);
  static const char *const keys[] = {"n", "dtype", "op", "exact", "rounded", "abs_sum", "condition"};
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
    cr_expect_not_null(json_object_get(answer, keys[i]), "no key %s", keys[i]);
  cr_expect_eq(json_integer_value(json_object_get(answer, "n")), (json_int_t)n);
  cr_expect_str_eq(json_string_value(json_object_get(answer, "dtype")), fold_dtype_name(dtype));
  cr_expect_str_eq(json_string_value(json_object_get(answer, "op")), op);
  return answer;
}

/* The upper half of the rows times the lower one: 1e8 1e8 + 1 1 - 1e8 1e8 is 1, which f64 loses. */
Test(command, the_oracle_knows_dot_products) {
  SHELL(s);
  static const double xy[2][3] = {{1e8, 1, -1e8}, {1e8, 1, 1e8}};
  struct array a = {FOLD_F64, xy[0]};
  cr_assert_eq(fold_npy_write(scratch_path(&s->scratch, "xy.npy"), FOLD_F64, 2, 3, false, fill, &a).code, FOLD_OK);
  shell_run(s, "$F oracle xy.npy --json --check --problem dot");
  cr_assert_eq(s->code, 0, "%s", s->err);
  json_t *answer = json_loads(s->out, 0, NULL);
  cr_expect_str_eq(json_string_value(json_object_get(answer, "exact")), "1");
  cr_expect_str_eq(json_string_value(json_object_get(answer, "op")), "dot");
  cr_expect_eq(json_integer_value(json_object_get(answer, "n")), 3);
  cr_expect(json_is_true(json_object_get(answer, "agrees")));
  json_decref(answer);
  cr_assert_eq(fold_npy_write(scratch_path(&s->scratch, "xy.npy"), FOLD_F64, 1, 3, true, fill, &a).code, FOLD_OK);
  shell_run(s, "$F oracle xy.npy --problem dot");
  cr_expect(s->code == 2 && strstr(s->err, "2 inputs"), "%s", s->err);
  shell_run(s, "$F verify --engine host --npy xy.npy --problem dot");
  cr_expect(s->code == 2 && strstr(s->err, "2 inputs"), "%s", s->err);
}

/* Each row of a matrix times the last row of the array. */
Test(command, the_oracle_knows_a_matrix_times_a_vector) {
  SHELL(s);
  static const double wx[3][2] = {{1e8, 1}, {-1e8, 3}, {1e8, 2}};
  struct array a = {FOLD_F64, wx[0]};
  cr_assert_eq(fold_npy_write(scratch_path(&s->scratch, "wx.npy"), FOLD_F64, 3, 2, false, fill, &a).code, FOLD_OK);
  for (int rows = 0; rows < 2; rows++) {
    shell_run(s, "$F oracle wx.npy --check --problem matvec%s | grep -E '^(n|op|exact|check) '", rows ? " --rows" : "");
    cr_expect_str_eq(s->out,
                     "n          2\nop         matvec\nexact      10000000000000002\ncheck      MPFR agrees\n"
                     "n          2\nop         matvec\nexact      -9999999999999994\ncheck      MPFR agrees\n");
  }
  for (int verify = 0; verify < 2; verify++) {
    shell_run(s, "$F %s wx.npy --problem matmul", verify ? "verify --engine host --npy" : "oracle");
    cr_expect(s->code == 2 && strstr(s->err, "wx.npy: matmul takes a file for each of its 2 inputs: A.npy,B.npy\n"),
              "%s", s->err);
  }
}

Test(command, the_oracle_knows_the_answers) {
  static const struct {
    enum fold_dtype dtype;
    const char *op;
    size_t n;
    double x[4];
    const char *exact, *abs_sum, *f16, *bf16, *f32, *f64;
  } rows[] = {
      {FOLD_F32, "sum", 3, {1e8, 1, -1e8}, "1", "200000001", "0x3c00", "0x3f80", "0x3f800000", "0x3ff0000000000000"},
      {FOLD_F64,
       "sum",
       3,
       {0x1p-130, 0x1p-150, 0x1p-160},
       NULL,
       NULL,
       "0x0000",
       "0x0008",
       "0x00080001",
       "0x37d0000100400000"},
      {FOLD_F32, "sum", 2, {1, NAN}, "nan", "1", NULL, NULL, NULL, NULL},
      {FOLD_F32, "sum", 2, {1, INFINITY}, "inf", "1", "0x7c00", "0x7f80", "0x7f800000", "0x7ff0000000000000"},
      {FOLD_F32, "sum", 3, {-INFINITY, 1, INFINITY}, "nan", "1", NULL, NULL, NULL, NULL},
      {FOLD_F32, "sum", 0, {0}, "0", "0", "0x0000", "0x0000", "0x00000000", "0x0000000000000000"},
      {FOLD_F32, "sum", 2, {-0.0, -0.0}, "-0", "0", "0x8000", "0x8000", "0x80000000", "0x8000000000000000"},
      {FOLD_F64, "sum", 2, {65504, 16}, "65520", "65520", "0x7c00", "0x4780", "0x477ff000", "0x40effe0000000000"},
      {FOLD_F32, "prod", 3, {1.5, -2, 3}, "-9", "6.5", "0xc880", "0xc110", "0xc1100000", "0xc022000000000000"},
      {FOLD_F32, "prod", 0, {0}, "1", "0", "0x3c00", "0x3f80", "0x3f800000", "0x3ff0000000000000"},
      {FOLD_F32, "prod", 2, {0, INFINITY}, "nan", "0", NULL, NULL, NULL, NULL},
      {FOLD_F32, "max", 3, {-1, -0.0, -3}, "-0", "4", "0x8000", "0x8000", "0x80000000", "0x8000000000000000"},
      {FOLD_F32, "max", 0, {0}, "-inf", "0", "0xfc00", "0xff80", "0xff800000", "0xfff0000000000000"},
      {FOLD_F32, "min", 3, {0, -0.0, 3}, "-0", "3", "0x8000", "0x8000", "0x80000000", "0x8000000000000000"},
      {FOLD_F32, "min", 2, {NAN, -INFINITY}, "nan", "0", NULL, NULL, NULL, NULL},
  };
  SHELL(s);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    json_t *answer = ask_oracle(s, rows[i].dtype, rows[i].op, rows[i].n, rows[i].x);
    const char *want[] = {rows[i].f16, rows[i].bf16, rows[i].f32, rows[i].f64};
    if (rows[i].exact) {
      cr_expect_str_eq(json_string_value(json_object_get(answer, "exact")), rows[i].exact, "row %zu: %s", i, s->out);
      cr_expect_str_eq(json_string_value(json_object_get(answer, "abs_sum")), rows[i].abs_sum, "row %zu: %s", i,
                       s->out);
    }
    for (int d = 0; d < FOLD_E4M3; d++) {
      const char *bits =
          json_string_value(json_object_get(json_object_get(answer, "rounded"), fold_dtype_name((enum fold_dtype)d)));
      cr_assert_not_null(bits, "row %zu: %s", i, s->out);
      if (want[d])
        cr_expect_str_eq(bits, want[d], "row %zu: %s", i, s->out);
      else
        cr_expect_eq(fold_bits_class((enum fold_dtype)d, strtoull(bits, NULL, 16)), FOLD_NAN, "row %zu: %s", i, s->out);
    }
    json_decref(answer);
  }
  json_t *answer = ask_oracle(s, FOLD_F64, "sum", 3, (double[]){1e8, 1, -1e8});
  cr_expect_eq(json_real_value(json_object_get(answer, "condition")), 200000001.0);
  json_decref(answer);
}

Test(command, gen_writes_what_the_generator_makes) {
  SHELL(s);
  static const char *const shapes[] = {"--n 1000", "--rows 7 --cols 100", "--n 0"};
  for (int d = 0; d < FOLD_E4M3; d++)
    for (size_t k = 0; k < 3; k++) {
      struct fold_npy npy;
      shell_run(s, "$F gen mixed --dtype %s --seed 9 %s -o g.npy",
                d == FOLD_F16 ? "f32" : fold_dtype_name((enum fold_dtype)d), shapes[k]);
      EXPECT_CODE(s, 0);
      const char *path = scratch_path(&s->scratch, "g.npy");
      cr_assert_eq(fold_npy_open(path, &npy).code, FOLD_OK);
      size_t n = npy.rows * npy.cols;
      cr_expect_eq(n, k == 0 ? 1000 : k == 1 ? 700 : 0);
      uint64_t got[1000], want[1000];
      struct fold_source source = {fold_generator_find("mixed"), npy.dtype, 9, npy.cols, 0};
      cr_assert_eq(fold_npy_read(path, &npy, got).code, FOLD_OK);
      fold_generate(&source, 0, n, want);
      cr_expect_eq(memcmp(got, want, n * fold_dtype_size(npy.dtype)), 0, "%s", s->ran);
    }
  cr_expect_eq(scratch_count(&s->scratch, false), 1, "nothing lies beside it");
}

/* Ranks alike, results alike: the run that left a result unwritten is still another. */
Test(command, compare_sees_what_a_run_did_besides_computing) {
  static const char *const rows[][2] = {{"mutant/last_unwritten", "unwritten"}, {"mutant/past_end", "out_of_bounds"}};
  SHELL(s);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    shell_run(
        s, "$M record --subjects %s --fixtures 'normal/f32/sum/17x257/*' --jsonl a.jsonl && grep -q '\"%s\":{' a.jsonl",
        rows[i][0], rows[i][1]);
    EXPECT_CODE(s, 0);
    shell_run(s, "sed 's/\"%s\":{[^}]*}/\"none\":0/' a.jsonl >b.jsonl; $F compare a.jsonl b.jsonl", rows[i][1]);
    EXPECT_CODE(s, 1);
    shell_run(s, "$F compare a.jsonl a.jsonl");
    EXPECT_CODE(s, 0);
  }
}
