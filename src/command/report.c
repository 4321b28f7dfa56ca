/* command/report.c: foldproof report: writes records as a page, a summary or test cases, without running anything. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/output.h"
#include "command/command.h"
#include "report/section.h"
#include "sheet/sheet.h"

enum { OUTPUT = 'o', FORMAT = 'f', FIGURE_SECONDS = 0x200, DAY = 86400 };
static const char *const formats[FOLD_REPORT_FORMATS + 1] = {"html", "markdown", "junit", "text", NULL};
static const char *const suffixes[FOLD_REPORT_FORMATS] = {".html", ".md", ".xml", ".txt"};

struct report {
  const char *output, *program;
  char **inputs;
  int n_inputs, format;
  unsigned figure_seconds;
};

static const struct argp_option options[] = {
    {"output", OUTPUT, "FILE", 0, "where the report goes (standard output)", 0},
    {"format", FORMAT, "FORMAT", 0,
     "html: a page; markdown: a CI job's summary; junit: test cases; text: for a terminal (by the output's suffix: "
     ".md, "
     ".xml, .txt; else html)",
     0},
    {"figure-seconds", FIGURE_SECONDS, "N", 0, "leave out a figure that takes gnuplot longer than N seconds (10)", 0},
    {0},
};

/* What an output of that name is expected to hold. */
static int format_of(const char *output) {
  const char *suffix = strrchr(output, '.');
  for (int f = 0; suffix && f < FOLD_REPORT_FORMATS; f++)
    if (strcmp(suffix, suffixes[f]) == 0) return f;
  return FOLD_REPORT_HTML;
}

static error_t parse(int key, char *arg, struct argp_state *state) {
  struct report *r = state->input;
  switch (key) {
    case OUTPUT: r->output = arg; return 0;
    case FORMAT:
      for (r->format = 0; r->format < FOLD_REPORT_FORMATS && strcmp(arg, formats[r->format]) != 0;) r->format++;
      if (r->format == FOLD_REPORT_FORMATS) fold_option_refuse(state, "--format", arg, formats);
      return 0;
    case FIGURE_SECONDS:
      r->figure_seconds = (unsigned)fold_option_number(state, "--figure-seconds", arg, 0, DAY);
      return 0;
    case ARGP_KEY_ARGS:
      r->inputs = state->argv + state->next;
      r->n_inputs = state->argc - state->next;
      return 0;
    case ARGP_KEY_NO_ARGS: argp_failure(state, 2, 0, "name files of records: see verify --jsonl"); return 0;
    case ARGP_KEY_END:
      if (r->format < 0) r->format = format_of(r->output);
      return 0;
    default: return ARGP_ERR_UNKNOWN;
  }
}

static const struct argp argp = {
    .options = options,
    .parser = parse,
    .args_doc = "RUN.jsonl...",
    .doc =
        "Make a report from records only, on any machine: of verify, bench and study, together.\n"
        "\n"
        "Examples:\n"
        "  foldproof report run.jsonl --output report.html\n"
        "  foldproof report run.jsonl --format markdown\n"
        "  foldproof report run.jsonl --format text\v"
        "The page is one self-contained file: verdicts with their evidence, errors, throughput, scaling, the orders, "
        "the environments. Its figures are drawn by gnuplot; without it they are left out. Records of a run that was "
        "interrupted, or of a file that was cut, are shown as incomplete. The exit code tells whether the report was "
        "written, not what the verdicts are. A verdict that occurs more than once in one environment is counted once, "
        "and the report says how many do."};

static fold_status write_report(const struct report *r, const struct fold_model *model, FILE *out) {
  if (r->format == FOLD_REPORT_MARKDOWN) return fold_report_markdown(model, out);
  if (r->format == FOLD_REPORT_JUNIT) return fold_report_junit(model, out);
  if (r->format == FOLD_REPORT_TEXT) return fold_report_text(model, out);
  fold_status trouble, status = fold_report_html(model, r->figure_seconds, out, &trouble);
  if (trouble.code != FOLD_OK) fprintf(stderr, "%s: figures are left out: %s\n", r->program, trouble.text);
  return status;
}

static void warn(const struct report *r, const struct fold_model *model) {
  char text[120];
  if (*fold_repeated_text(&model->repeated, text)) fprintf(stderr, "%s: %s\n", r->program, text);
  for (size_t i = 0; i < model->n_files; i++)
    if (model->files[i].incomplete[0])
      fprintf(stderr, "%s: %.150s: incomplete: %s\n", r->program, model->files[i].path, model->files[i].incomplete);
}

static fold_status make_report(const struct report *r, struct fold_model *model) {
  struct fold_output output;
  for (int i = 0; i < r->n_inputs; i++) FOLD_TRY(fold_model_read(model, r->inputs[i]));
  warn(r, model);
  FOLD_TRY(fold_output_open(&output, r->output));
  fold_status status = write_report(r, model, output.file);
  fold_status closed = fold_output_close(&output, status.code == FOLD_OK ? FOLD_OUTPUT_WHOLE : FOLD_OUTPUT_DROP, NULL);
  return status.code == FOLD_OK ? closed : status;
}

int fold_command_report(int argc, char **argv, const struct fold_registry *registry) {
  (void)registry;
  struct report report = {.output = "/dev/stdout", .program = argv[0], .format = -1, .figure_seconds = 10};
  struct fold_model model;
  fold_parse(&argp, argc, argv, &report);
  fold_model_open(&model);
  fold_status status = make_report(&report, &model);
  fold_model_close(&model);
  return fold_print_error(argv[0], status);
}
