/* command/compare.c: foldproof compare: where two records of the same cases have different results.
 *
 * Two records are about the same thing if subject, engine and case agree (with --across the engine may differ). Then the input's hash must
 * be the same. Their results differ if the results' hashes differ, which take NaN by its class, or if one run did what the other did not:
 * ranks that differ from rank 0, whose results are hashed; a result that was not written; writes to memory that is not the run's. What
 * only one of the two has, and records that lack a part of their run, are no agreement either; --subset accepts these.
 * Results that contradict their hash are bad input. Verdicts are compared if both records have one, held or refuted.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/output.h"
#include "command/command.h"
#include "command/compare_claim.h"
#include "compare/compare.h"

enum { OUTPUT = 'o', FORMAT = 'f', SUBSET = 0x200, CLAIM, JSONL, ACROSS, FOLDER, REGRESSIONS, MOST_LINES = 10 };

static const char *const formats[] = {"text", "markdown", "json", NULL};
static fold_compare_print *const prints[] = {fold_compare_text, fold_compare_markdown, fold_compare_json};

struct compare {
  const char *path[2], *claim, *jsonl, *folder, *output;
  char *across;
  int format;
  bool regressions;
  struct fold_comparison comparison;
};

static const struct argp_option options[] = {
    {"claim", CLAIM, "CLAIM", 0,
     "judge gpu_to_gpu (records of two models of GPU) or run_to_run (two jobs on one model of GPU), for each subject "
     "that makes it",
     1},
    {"regressions", REGRESSIONS, NULL, 0,
     "compare verdicts: fail only for what got worse from the first file to the second; name what was fixed", 1},
    {"jsonl", JSONL, "FILE", 0, "with --claim: write a record of each verdict", 1},
    {"subset", SUBSET, NULL, 0, "allow cases that only one file has", 0},
    {"across", ACROSS, "ENGINE,ENGINE", 0, "compare two engines, as host,cuda, in one file or two", 0},
    {"output", OUTPUT, "FILE", 0, "where the comparison goes (standard output)", 0},
    {"format", FORMAT, "FORMAT", 0, "text (the default), markdown or json", 0},
    {"fixture-folder", FOLDER, "DIR", 0,
     "the folder of the *.ini files, for exact results of cases that no generator makes", 0},
    {0},
};

static void read_across(struct compare *c, struct argp_state *state, char *arg) {
  c->across = arg;
  char *comma = strchr(arg, ',');
  if (comma) *comma = '\0';
  c->comparison.side[0].engine = arg;
  c->comparison.side[1].engine = comma ? comma + 1 : "";
  for (int k = 0; k < 2; k++) (void)fold_option_engine(state, "--across", c->comparison.side[k].engine);
}

static error_t parse(int key, char *arg, struct argp_state *state) {
  struct compare *c = state->input;
  switch (key) {
    case CLAIM:
      c->claim = arg;
      if (!fold_compare_knows_claim(arg))
        fold_option_refuse(state, "--claim", arg, (const char *const[]){"gpu_to_gpu", "run_to_run", NULL});
      return 0;
    case JSONL: c->jsonl = arg; return 0;
    case SUBSET: c->comparison.subset = true; return 0;
    case ACROSS: read_across(c, state, arg); return 0;
    case REGRESSIONS: c->regressions = true; return 0;
    case FOLDER: c->folder = arg; return 0;
    case OUTPUT: c->output = arg; return 0;
    case FORMAT:
      for (c->format = 0; formats[c->format] && strcmp(formats[c->format], arg) != 0;) c->format++;
      if (!formats[c->format]) fold_option_refuse(state, "--format", arg, formats);
      return 0;
    case ARGP_KEY_ARG:
      if (state->arg_num >= 2) argp_failure(state, 2, 0, "two files, no more");
      c->path[state->arg_num] = arg;
      return 0;
    case ARGP_KEY_END:
      if (state->arg_num == 1 && c->across) c->path[1] = c->path[0];
      if (!c->path[1]) argp_failure(state, 2, 0, "name two files of records: see verify --jsonl and record");
      if (c->across && strcmp(c->path[0], c->path[1]) == 0 &&
          strcmp(c->comparison.side[0].engine, c->comparison.side[1].engine) == 0)
        argp_failure(state, 2, 0, "--across needs two engines, or two files");
      if (c->jsonl && !c->claim) argp_failure(state, 2, 0, "--jsonl needs --claim");
      if (c->regressions && (c->claim || c->across || c->format || c->output))
        argp_failure(state, 2, 0, "--regressions prints text of two files: no --claim, --across, --format or --output");
      if (c->claim && (c->format || c->output))
        argp_failure(state, 2, 0, "--claim prints text: see report for other formats of its --jsonl, and its --output");
      if (c->claim && c->across) argp_failure(state, 2, 0, "--claim judges two files, --across compares two engines");
      return 0;
    default: return ARGP_ERR_UNKNOWN;
  }
}

static const struct argp argp = {
    .options = options,
    .parser = parse,
    .args_doc = "A.jsonl B.jsonl",
    .doc =
        "Compare the results in two files of records: of two machines, two versions, two days. A file may be "
        "compressed by gzip; a folder of files works too.\n"
        "\n"
        "Examples:\n"
        "  foldproof compare old.jsonl run.jsonl\n"
        "  foldproof compare old.jsonl run.jsonl --format markdown --output diff.md\n"
        "  foldproof compare before.jsonl verdicts.jsonl --regressions\v"
        "Prints, at most ten lines of each: incomplete files; cases that only one file has; cases with different "
        "inputs; results that differ, how far apart they are and which is nearer to the exact result; what a run did "
        "wrong (ranks that disagree, a result not written, memory overwritten); verdicts that differ. Then it prints "
        "counts by subject, claim, dtype and size, and what differs in the environment.\n"
        "\n"
        "Exit codes: 0 both files have the same cases and all agree; 1 something differs or is missing; 2 bad input, "
        "such as results that contradict their hash, or no case in common; 99 runs broke in both. With --subset a "
        "missing case is named but is no difference; a different input always is one. With --regressions: 0 nothing "
        "got worse; 1 a verdict is refuted or broken that was not, or what was judged is not judged now (--subset "
        "allows that); 99 a file is incomplete (not with --subset). With --claim: 0 all held; 1 refuted; 77 nothing to "
        "judge; 99 a file is incomplete (not with --subset)."};

static fold_status print(const struct compare *c, const json_t *told) {
  struct fold_output output;
  FOLD_TRY(fold_output_open(&output, c->output ? c->output : "-"));
  prints[c->format](told, output.file);
  return fold_output_close(&output, FOLD_OUTPUT_WHOLE, NULL);
}

static fold_status compare_files(struct compare *c, const struct fold_registry *registry) {
  struct fold_comparison *two = &c->comparison;
  struct fold_again again = {0};
  json_t *told = NULL;
  for (int k = 0; k < 2; k++) {
    two->side[k].path = c->path[k];
    two->side[k].name = c->across && c->path[0] == c->path[1] ? two->side[k].engine : c->path[k];
  }
  two->across = c->across != NULL;
  FOLD_TRY(fold_compare(two));
  /* exact results only explain: the comparison does not depend on them */
  const bool exact = two->n[FOLD_CHANGED_RESULTS] > 0 && fold_again_open(&again, registry, c->folder).code == FOLD_OK;
  fold_status status = fold_compare_explain(two, exact ? &again : NULL, MOST_LINES, &told);
  if (status.code == FOLD_OK) status = print(c, told);
  json_decref(told);
  fold_again_close(&again);
  FOLD_TRY(status);
  for (int k = 0; k < 2; k++)
    if (two->across && two->side[k].n == 0)
      return fold_error(FOLD_BAD_INPUT, "%.80s: no results on engine %s", c->path[k], two->side[k].engine);
  if (two->agree + two->n[FOLD_CHANGED_RESULTS] + two->n[FOLD_CHANGED_INPUT] > 0) return fold_ok();
  return fold_error(FOLD_BAD_INPUT, "%.80s and %.80s have no subject and case in common", two->side[0].name,
                    two->side[1].name);
}

/* The exit code: what --subset accepts, and what it never accepts. Two runs that broke do not agree. */
static int exit_code_of(const struct compare *c) {
  const struct fold_comparison *two = &c->comparison;
  const bool part = two->n[FOLD_ONLY_FIRST] || two->n[FOLD_ONLY_SECOND] || two->side[0].lines.incomplete[0] ||
                    two->side[1].lines.incomplete[0];
  const bool altered = two->side[0].lines.altered[0] || two->side[1].lines.altered[0];
  if (two->n[FOLD_CHANGED_RESULTS] || two->n[FOLD_CHANGED_INPUT] || two->n[FOLD_CHANGED_VERDICT] || altered) return 1;
  if (part && !two->subset) return 1;
  return two->broken ? 99 : 0;
}

int fold_command_compare(int argc, char **argv, const struct fold_registry *registry) {
  struct fold_selection_options usual;
  fold_selection_defaults(&usual);
  struct compare compare = {.folder = usual.selection.folder};
  fold_parse(&argp, argc, argv, &compare);
  if (compare.regressions) return fold_compare_regressions(argv[0], compare.path, compare.comparison.subset);
  if (compare.claim)
    return fold_compare_claim(argv[0], compare.claim, compare.path, compare.jsonl, compare.comparison.subset, registry);
  fold_status status = compare_files(&compare, registry);
  int exit_code = status.code == FOLD_OK ? exit_code_of(&compare) : fold_print_error(argv[0], status);
  fold_comparison_free(&compare.comparison);
  return exit_code;
}
