/* study_report.c: the tables 3.3.1 to 3.3.4 of the report (CISC-709 P05), anew and with the true reference.
 *
 * Three blocks a table: errors against the exact sum; the report's own figures; and our sums once more, measured in the
 * report's way, as its printed digits tell it: the first four columns against the float64 sum rounded to float32, the
 * NumPy column against the float64 sum itself. Whether that is its way is checked where its data hold no random number.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bits.h"
#include "order.h"
#include "study.h"
#include "study_figures.h"

static const char *const methods[FIGURE_COLUMNS] = {"host/sequential", "host/reverse", "host/pairwise", "host/sorted",
                                                    "host/numpy"};
enum { TREE = 2, SORTED = 3, NUMPY = 4 };

/* One row of a table: the study's points of one size. */
struct row {
  const struct fold_study_point *at[FIGURE_COLUMNS];
  struct fold_report_way way;
};

static double fold_f64(const char *order, const void *terms, size_t n) {
  double sum = 0;
  struct fold_call call = {.dtype = FOLD_F64, .op = FOLD_SUM, .rows = 1, .cols = n, .in = terms, .out = &sum};
  fold_status status = fold_order_replay(fold_order_find(order), &call);
  return status.code == FOLD_OK ? sum : NAN;
}

static void widen(const float *narrow, double *wide, size_t n) {
  for (size_t i = 0; i < n; i++) wide[i] = narrow[i];
}

fold_status fold_study_report_way(const struct fold_study_case *c, struct fold_report_way *way) {
  struct fold_source source = {c->generator, FOLD_F32, c->seed, c->n, 0};
  float *narrow = malloc(c->n * sizeof *narrow + 1);
  double *wide = malloc(c->n * sizeof *wide + 1);
  struct fold_truth truth;
  fold_truth_init(&truth);
  fold_status status = fold_ok();
  if (!narrow || !wide) status = fold_error(FOLD_NO_MEMORY, "not enough memory for %zu terms in float64", c->n);
  if (status.code == FOLD_OK) {
    fold_generate_parallel(&source, 0, c->n, narrow, 0);
    widen(narrow, wide, c->n);
    way->reference = fold_f64("host/numpy", wide, c->n);
    way->reference32 = (float)way->reference;
    way->tree64 = fold_f64("host/pairwise", wide, c->n);
    status = fold_oracle_exact(FOLD_F32, FOLD_SUM, narrow, c->n, 0, &truth);
  }
  if (status.code == FOLD_OK) {
    mpfr_sub_d(truth.exact_up, truth.exact, way->reference, MPFR_RNDA);
    way->reference_error = fabs(mpfr_get_d(truth.exact_up, MPFR_RNDA));
  }
  fold_truth_free(&truth);
  free(narrow);
  free(wide);
  return status;
}

/* False where the study lacks one of the columns. */
static bool find_row(const struct fold_study *study, const struct fold_study_case *c, struct row *row) {
  for (int k = 0; k < FIGURE_COLUMNS; k++) {
    row->at[k] = fold_study_find(study, c, FOLD_HOST, methods[k]);
    if (row->at[k] == NULL || !row->at[k]->ran) return false;
  }
  return true;
}

static bool is_report_case(const struct fold_study_case *c, const char *generator) {
  return c->dtype == FOLD_F32 && c->op == FOLD_SUM && strcmp(c->generator->name, generator) == 0;
}

enum { MOST_ROWS = 16 };

/* A table: whole rows of the study, in its sequence of sizes. */
struct table {
  const struct figures *figures;
  struct row row[MOST_ROWS];
  size_t n;
};

static fold_status fill_table(const struct fold_study *study, const struct figures *figures, struct table *table) {
  *table = (struct table){.figures = figures};
  for (size_t i = 0; i < study->n && table->n < MOST_ROWS; i++) {
    const struct fold_study_case *c = &study->at[i].c;
    struct row *row = &table->row[table->n];
    if (!is_report_case(c, figures->generator) || !find_row(study, c, row)) continue;
    if (table->n > 0 && table->row[table->n - 1].at[0]->c.n == c->n) continue;
    FOLD_TRY(fold_study_report_way(c, &row->way));
    table->n++;
  }
  return fold_ok();
}

/* Which row of the report has this size; -1: none. */
static int figure_row(size_t n) {
  for (int k = 0; k < FIGURE_SIZES; k++)
    if (figure_sizes[k] == n) return k;
  return -1;
}

static double value_of(const struct fold_study_point *p) { return fold_bits_to_double(FOLD_F32, p->got); }

/* The error as the report would have printed it. */
static double report_error(const struct row *row, int column) {
  return fabs(value_of(row->at[column]) - (column == NUMPY ? row->way.reference : row->way.reference32));
}

static void print_size(size_t n, FILE *out) {
  char text[32];
  fprintf(out, "%12s", fold_study_count(n, text));
}

static void print_errors(const struct table *table, FILE *out) {
  fprintf(out, "\nTable %s, %s data, float32: |sum - exact sum|\n%12s %12s %12s %12s %12s %12s\n",
          table->figures->table, table->figures->generator, "Size", "Sequential", "Reverse", "Tree", "Sorted", "NumPy");
  for (size_t r = 0; r < table->n; r++) {
    print_size(table->row[r].at[0]->c.n, out);
    for (int k = 0; k < FIGURE_COLUMNS; k++) fprintf(out, " %12.2e", table->row[r].at[k]->error);
    fputc('\n', out);
  }
}

/* Our sums in the report's way, and the report's figures. */
static void print_report_way(const struct table *table, FILE *out) {
  fprintf(out, "  the same sums against np.sum in float64: rounded to float32 for four columns, as it is for NumPy\n");
  for (size_t r = 0; r < table->n; r++) {
    print_size(table->row[r].at[0]->c.n, out);
    for (int k = 0; k < FIGURE_COLUMNS; k++) fprintf(out, " %12.2e", report_error(&table->row[r], k));
    fputc('\n', out);
  }
  fprintf(out, "  the report's figures\n");
  for (size_t r = 0; r < table->n; r++) {
    int row = figure_row(table->row[r].at[0]->c.n);
    print_size(table->row[r].at[0]->c.n, out);
    for (int k = 0; k < FIGURE_COLUMNS; k++) fprintf(out, " %12s", row < 0 ? "-" : table->figures->error[row][k]);
    fputc('\n', out);
  }
}

/* How many of the report's figures come out digit for digit: only where data hold no random number can they. */
static void print_agreement(const struct table *table, FILE *out) {
  int same = 0, all = 0;
  for (size_t r = 0; r < table->n; r++) {
    int row = figure_row(table->row[r].at[0]->c.n);
    for (int k = 0; row >= 0 && k < FIGURE_COLUMNS; k++, all++) {
      char text[32];
      snprintf(text, sizeof text, "%.2e", report_error(&table->row[r], k));
      same += strcmp(text, table->figures->error[row][k]) == 0;
    }
  }
  if (all > 0)
    fprintf(out, "  %d of %d figures of the report's pathological table come out digit for digit in that way\n", same,
            all);
}

/* What the tree column shows under each reading of how it was made. */
static void print_tree(const struct table *table, FILE *out) {
  if (table->n == 0) return;
  fprintf(out, "\n%s data: the Tree column, read four ways\n%12s %14s %16s %16s %16s %14s %14s\n",
          table->figures->generator, "Size", "f32, exact", "f32, f32(f64 sum)", "f64, f64 sum", "f64, exact",
          "f64 sum, exact", "ulp of f32 sum");
  for (size_t r = 0; r < table->n; r++) {
    const struct row *row = &table->row[r];
    const struct fold_study_point *tree = row->at[TREE];
    print_size(tree->c.n, out);
    fprintf(out, " %14.2e %16.2e %16.2e", tree->error, report_error(row, TREE),
            fabs(row->way.tree64 - row->way.reference));
    fprintf(out, " %16.2e %14.2e %14.2e\n", fabs(row->way.tree64 - row->way.reference) + row->way.reference_error,
            row->way.reference_error, fold_ulp(FOLD_F32, fold_bits_to_double(FOLD_F32, tree->want)));
  }
}
