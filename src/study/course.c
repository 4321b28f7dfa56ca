/* study/course.c: the tables 3.3.1 to 3.3.4 of the reference study (CISC-709 P05), computed again with the exact reference.
 *
 * A table has three blocks: errors against the exact sum; the study's own figures; and our sums measured as the study's printed digits
 * suggest that it measured: the first four columns against the float64 sum rounded to float32, the NumPy column against the float64 sum
 * itself. This assumption is checked on those of its data that have no random numbers.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "oracles/native.h"
#include "oracles/order.h"
#include "sheet/text.h"
#include "study/course.h"
#include "study/figures.h"

const char *const fold_course_methods[FOLD_COLUMNS] = {"host/sequential", "host/reverse", "host/pairwise",
                                                       "host/sorted", "host/numpy"};

static double fold_f64(const char *order, const void *terms, size_t n) {
  double sum = 0;
  struct fold_call call = {
      .dtype = FOLD_F64, .problem = fold_rows_problem(FOLD_SUM), .rows = 1, .cols = n, .in = {terms}, .out = &sum};
  fold_status status = fold_order_replay(fold_order_find(order), &call);
  return status.code == FOLD_OK ? sum : NAN;
}

static void widen(const fold_element_f32 *narrow, double *wide, size_t n) {
  for (size_t i = 0; i < n; i++) wide[i] = narrow[i];
}

static double distance(mpfr_srcptr exact, double value) {
  mpfr_t d;
  mpfr_init2(d, 64);
  mpfr_sub_d(d, exact, value, MPFR_RNDA);
  double found = fabs(mpfr_get_d(d, MPFR_RNDA));
  mpfr_clear(d);
  return found;
}

fold_status fold_study_course_way(const struct fold_study_case *c, struct fold_course_way *way) {
  struct fold_source source = {c->generator, FOLD_F32, c->seed, c->n, 0};
  fold_element_f32 *narrow = malloc(c->n * sizeof *narrow + 1);
  double *wide = malloc(c->n * sizeof *wide + 1);
  struct fold_truth truth;
  fold_truth_init(&truth);
  fold_status status = fold_ok();
  if (!narrow || !wide) status = fold_no_memory("for %zu terms in float64", c->n);
  if (status.code == FOLD_OK) {
    fold_generate_parallel(&source, 0, c->n, narrow, 0);
    widen(narrow, wide, c->n);
    way->reference = fold_f64("host/numpy", wide, c->n);
    way->reference32 = (float)way->reference;
    way->tree64 = fold_f64("host/pairwise", wide, c->n);
    status = fold_oracle_exact(FOLD_F32, FOLD_SUM, narrow, c->n, 0, &truth);
  }
  if (status.code == FOLD_OK) {
    way->reference_error = distance(truth.exact, way->reference);
    way->tree64_error = distance(truth.exact, way->tree64);
  }
  fold_truth_free(&truth);
  free(narrow);
  free(wide);
  return status;
}

/* Fills a row; false if the study lacks one of its columns. */
static bool find_row(const struct fold_study *study, const struct fold_study_case *c, struct fold_course_row *row) {
  for (int k = 0; k < FOLD_COLUMNS; k++) {
    row->at[k] = fold_study_find(study, c, FOLD_HOST, fold_course_methods[k]);
    if (row->at[k] == NULL || !row->at[k]->ran) return false;
  }
  return true;
}

static bool is_report_case(const struct fold_study_case *c, const char *generator) {
  return c->dtype == FOLD_F32 && c->op == FOLD_SUM && strcmp(c->generator->name, generator) == 0;
}

static fold_status fill_table(const struct fold_study *study, const struct figures *figures,
                              struct fold_course_table *table) {
  *table = (struct fold_course_table){.figures = figures};
  for (size_t i = 0; i < study->n && table->n < FOLD_COURSE_ROWS; i++) {
    const struct fold_study_case *c = &study->at[i].c;
    struct fold_course_row *row = &table->row[table->n];
    if (!is_report_case(c, figures->generator) || !find_row(study, c, row)) continue;
    if (table->n > 0 && table->row[table->n - 1].at[0]->c.n == c->n) continue;
    FOLD_TRY(fold_study_course_way(c, &row->way));
    table->n++;
  }
  return fold_ok();
}

/* The report's row for this size; -1 if there is none. */
static int figure_row(size_t n) {
  for (int k = 0; k < FIGURE_SIZES; k++)
    if (figure_sizes[k] == n) return k;
  return -1;
}

static double value_of(const struct fold_study_point *p) { return fold_bits_to_double(FOLD_F32, p->got); }

/* The error as the reference study would have printed it. */
double fold_course_error(const struct fold_course_row *row, int column) {
  return fabs(value_of(row->at[column]) - (column == FOLD_COLUMN_NUMPY ? row->way.reference : row->way.reference32));
}

static void print_size(size_t n, FILE *out) {
  char text[32];
  fprintf(out, "%12s", fold_text_grouped((double)n, text));
}

static void print_errors(const struct fold_course_table *table, FILE *out) {
  fprintf(out, "\nTable %s, %s data, float32: |sum - exact sum|\n%12s %12s %12s %12s %12s %12s\n",
          table->figures->table, table->figures->generator, "Size", "Sequential", "Reverse", "Tree", "Sorted", "NumPy");
  for (size_t r = 0; r < table->n; r++) {
    print_size(table->row[r].at[0]->c.n, out);
    for (int k = 0; k < FOLD_COLUMNS; k++) fprintf(out, " %12.2e", table->row[r].at[k]->error);
    fputc('\n', out);
  }
}

/* Prints our sums as the reference study would have measured them, and its figures. */
static void print_report_way(const struct fold_course_table *table, FILE *out) {
  fprintf(out, "  the same sums against np.sum in float64: rounded to float32 for four columns, as it is for NumPy\n");
  for (size_t r = 0; r < table->n; r++) {
    print_size(table->row[r].at[0]->c.n, out);
    for (int k = 0; k < FOLD_COLUMNS; k++) fprintf(out, " %12.2e", fold_course_error(&table->row[r], k));
    fputc('\n', out);
  }
  fprintf(out, "  the reference study's figures\n");
  for (size_t r = 0; r < table->n; r++) {
    int row = figure_row(table->row[r].at[0]->c.n);
    print_size(table->row[r].at[0]->c.n, out);
    for (int k = 0; k < FOLD_COLUMNS; k++) fprintf(out, " %12s", row < 0 ? "-" : table->figures->error[row][k]);
    fputc('\n', out);
  }
}

/* How many of the reference study's figures are reproduced digit for digit: possible only for data without random numbers. */
static void print_agreement(const struct fold_course_table *table, FILE *out) {
  int same = 0, all = 0;
  for (size_t r = 0; r < table->n; r++) {
    int row = figure_row(table->row[r].at[0]->c.n);
    for (int k = 0; row >= 0 && k < FOLD_COLUMNS; k++, all++) {
      char text[32];
      snprintf(text, sizeof text, "%.2e", fold_course_error(&table->row[r], k));
      same += strcmp(text, table->figures->error[row][k]) == 0;
    }
  }
  if (all > 0)
    fprintf(out,
            "  %d of %d figures of the reference study's pathological table come out digit for digit in that way\n",
            same, all);
}

static double error_of(const struct fold_study *study, const struct fold_study_case *c, enum fold_engine engine,
                       const char *subject) {
  const struct fold_study_point *p = fold_study_find(study, c, engine, subject);
  return p && p->ran ? p->error : NAN;
}

static bool has_gpu(const struct fold_study *study, const struct fold_study_case *c) {
  for (size_t i = 0; i < study->n; i++)
    if (!fold_engine_is_host(study->at[i].subject->engine) && study->at[i].c.n == c->n && study->at[i].ran) return true;
  return false;
}

static void print_error(double error, int width, FILE *out) {
  char text[16];
  snprintf(text, sizeof text, "%.2e", error);
  fprintf(out, " %*s", width, isnan(error) ? "-" : text);
}

static void print_gpu_row(const struct fold_study *study, const struct fold_study_case *c, FILE *out) {
  static const char *const gpu[] = {"flat/shuffle", "flat/canonical", "cub/reduce", "thrust/reduce"};
  int row = figure_row(c->n);
  print_size(c->n, out);
  print_error(error_of(study, c, FOLD_HOST, "host/numpy"), 12, out);
  print_error(error_of(study, c, FOLD_HOST, "flat/shuffle"), 14, out);
  for (size_t k = 0; k < sizeof gpu / sizeof *gpu; k++) print_error(error_of(study, c, FOLD_CUDA, gpu[k]), 14, out);
  fprintf(out, " %14s %14s\n", row < 0 ? "-" : report_figures[2].error[row][FOLD_COLUMN_NUMPY],
          row < 0 ? "-" : report_gpu[row]);
}

/* Prints table 3.3.4. If there is no GPU, the replay of the kernel's order takes its place, which has the bits that the
 * kernel must give. Sizes that only a GPU has run have no column of the host's. */
static void print_gpu(const struct fold_study *study, const struct fold_course_table *normal, const char *no_gpu,
                      FILE *out) {
  bool any = false;
  const struct fold_study_case *last = NULL;
  if (normal->n == 0) return;
  fprintf(out, "\nTable 3.3.4, normal data, float32: |sum - exact sum|\n%12s %12s %14s %14s %14s %14s %14s %14s %14s\n",
          "Size", "CPU NumPy", "replay shuffle", "GPU shuffle", "GPU canonical", "GPU CUB", "GPU Thrust",
          "study: NumPy", "study: GPU");
  for (size_t i = 0; i < study->n; i++) {
    const struct fold_study_case *c = &study->at[i].c;
    if (!is_report_case(c, "normal") || (last && last->n == c->n)) continue;
    print_gpu_row(study, c, out);
    any |= has_gpu(study, c);
    last = c;
  }
  if (!any) fprintf(out, "  no GPU took part%s%s\n", no_gpu ? ": " : "", no_gpu ? no_gpu : "");
  fprintf(out,
          "  'replay shuffle': the order of the reference study's kernel on the host, whose bits a GPU must give\n");
  fprintf(out, "  the reference study's GPU column is PyTorch's sum on a Tesla T4\n");
}

fold_status fold_course_fill(struct fold_course *course, const struct fold_study *study) {
  *course = (struct fold_course){0};
  for (int t = 0; t < 3; t++) FOLD_TRY(fill_table(study, &report_figures[t], &course->table[t]));
  return fold_ok();
}

void fold_course_print(const struct fold_course *course, const struct fold_study *study, const char *no_gpu,
                       FILE *out) {
  size_t rows = 0;
  for (int t = 0; t < 3; t++) {
    const struct fold_course_table *table = &course->table[t];
    rows += table->n;
    if (table->n == 0) continue;
    print_errors(table, out);
    print_report_way(table, out);
    if (strcmp(table->figures->generator, "pathological") == 0) print_agreement(table, out);
  }
  print_gpu(study, &course->table[2], no_gpu, out);
  if (rows) fprintf(out, "\ndocs/case-study.md says why these figures differ from the reference study's.\n");
}
