/* study_reasons.c: why our figures are not the report's: each reason with the numbers that show it.
 *
 * What is said of the report follows from its own printed digits (study_figures.h), and is computed here where it can
 * be.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bits.h"
#include "order.h"
#include "study_course.h"

static void print_reference(FILE *out) {
  fputs(
      "\nWhy they differ\n"
      "1. The reference. The report measured against a float64 sum, and rounded that to float32 before it measured "
      "four of\n"
      "   its five columns. Its digits show it: in table 3.3.2 at 1,000 Sequential, Reverse, Tree and NumPy all give\n"
      "   100,000,000 where 100,000,333 is exact; yet the first three hold 3.36e+02 (the nearest float32 is "
      "100,000,336)\n"
      "   and NumPy's column holds 3.33e+02. In 3.3.3 the four are whole multiples of a float32 ulp (5.72e-06 is 3 * "
      "2^-19,\n"
      "   7.63e-06 is 2^-17, 1.22e-04 is 2^-13); NumPy's beside them (2.28e-06, 1.08e-05) are not. So 0.00e+00 there "
      "means\n"
      "   'the nearest float32', not 'no error'.\n"
      "2. The Tree column is zero in 3.3.1 for that reason: a float32 tree over positive terms mostly gives the "
      "nearest\n"
      "   float32, and its true error is up to half an ulp. Had the tree been computed in float64 and held against a "
      "float64\n"
      "   sum, it would be near zero too, but then on pathological data as well, where the report has 3.36e+02.\n",
      out);
}

/* What the Tree column shows under each reading of how it was made. */
static void print_tree(const struct fold_course_table *table, const char *data, FILE *out) {
  if (table->n == 0) return;
  fprintf(out, "   %s data: the tree, and what it is measured against\n", data);
  fprintf(out, "%12s %14s %14s %14s %14s %14s %14s\n", "", "f32 tree", "f32 tree", "f64 tree", "f64 tree", "f64 sum",
          "half an ulp");
  fprintf(out, "%12s %14s %14s %14s %14s %14s %14s\n", "Size", "exact", "f32(f64 sum)", "f64 sum", "exact", "exact",
          "of the f32 sum");
  for (size_t r = 0; r < table->n; r++) {
    const struct fold_course_row *row = &table->row[r];
    const struct fold_study_point *tree = row->at[FOLD_COLUMN_TREE];
    char text[32];
    fprintf(out, "%12s %14.2e %14.2e %14.2e", fold_study_count(tree->c.n, text), tree->error,
            fold_course_error(row, FOLD_COLUMN_TREE), fabs(row->way.tree64 - row->way.reference));
    fprintf(out, " %14.2e %14.2e %14.2e\n", row->way.tree64_error, row->way.reference_error,
            fold_ulp(FOLD_F32, fold_bits_to_double(FOLD_F32, tree->want)) / 2);
  }
}

/* Sums of k whole periods 1e8, 1, -1e8: the exact sum is k, and the errors are in the open. */
static fold_status print_periods(const struct fold_study_case *c, FILE *out) {
  struct fold_source source = {c->generator, FOLD_F32, c->seed, c->n / 3 * 3, 0};
  size_t n = source.cols;
  void *terms = malloc(n * 4 + 4);
  if (terms == NULL) return fold_error(FOLD_NO_MEMORY, "not enough memory for %zu terms", n);
  fold_generate_parallel(&source, 0, n, terms, 0);
  fold_status status = fold_ok();
  char text[32];
  fprintf(out, "%12s", fold_study_count(n, text));
  fprintf(out, " %12s", fold_study_count(n / 3, text));
  for (int k = 0; k < FOLD_COLUMNS && status.code == FOLD_OK; k++) {
    uint32_t sum = 0;
    struct fold_call call = {.dtype = FOLD_F32, .op = FOLD_SUM, .rows = 1, .cols = n, .in = terms, .out = &sum};
    status = fold_order_replay(fold_order_find(fold_course_methods[k]), &call);
    fprintf(out, " %12.9g", (double)fold_bits_f32(sum));
  }
  fputc('\n', out);
  free(terms);
  return status;
}

enum { MOST_PERIOD_TERMS = 1000000 }; /* sorting more says nothing new */

static fold_status print_sorted(const struct fold_course_table *table, FILE *out) {
  if (table->n == 0) return fold_ok();
  fprintf(out,
          "3. Sorted is not perfect on pathological data. The sizes of 3.3.2 are no multiples of 3, so that the sum "
          "keeps a\n"
          "   1e8, beside which float32 can't show the last units. On whole periods the sums themselves are:\n"
          "%12s %12s %12s %12s %12s %12s %12s\n",
          "Size", "exact", "Sequential", "Reverse", "Tree", "Sorted", "NumPy");
  for (size_t r = 0; r < table->n; r++)
    if (table->row[r].at[0]->c.n <= MOST_PERIOD_TERMS && table->row[r].at[0]->c.n >= 3)
      FOLD_TRY(print_periods(&table->row[r].at[0]->c, out));
  return fold_ok();
}

static void print_float64(const struct fold_study *study, FILE *out) {
  const struct fold_study_point *worst = NULL;
  for (size_t i = 0; i < study->n; i++) {
    const struct fold_study_point *p = &study->at[i];
    if (strcmp(p->subject->name, "host/float64") == 0 && p->c.dtype == FOLD_F32 && p->c.op == FOLD_SUM &&
        !isnan(p->ulps) && (worst == NULL || p->ulps > worst->ulps))
      worst = p;
  }
  fprintf(out,
          "4. A float64 sum is no truth. On the report's data it is good enough (see 'f64 sum, exact' above); it fails "
          "with\n"
          "   the condition number.");
  if (worst) {
    char text[32];
    fprintf(out, " Its worst here: %.3g ulps of float32 on %s data of %s terms, condition %.3g.", worst->ulps,
            worst->c.generator->name, fold_study_count(worst->c.n, text), worst->condition);
  }
  fputc('\n', out);
}

static void print_rest(FILE *out) {
  fputs(
      "5. Mixed and normal data are random: the report's seeds and generator are not ours, so figures agree in size "
      "and not\n"
      "   in digits. Pathological data hold no random number, and there they agree (above). Sums of signed rounding "
      "errors\n"
      "   scatter: one draw may be ten times off another.\n"
      "6. The report calls mixed data a case of catastrophic cancellation. All its terms are positive: nothing "
      "cancels, the\n"
      "   condition number is 1, and what grows is the rounding of a large running sum.\n"
      "7. NumPy's order is that of its versions before 2.3; the report does not name its version.\n",
      out);
}

fold_status fold_course_print_reasons(const struct fold_study *study, const struct fold_course_table table[3],
                                      FILE *out) {
  if (table[0].n + table[1].n + table[2].n == 0) return fold_ok();
  print_reference(out);
  print_tree(&table[0], "mixed", out);
  print_tree(&table[1], "pathological", out);
  print_tree(&table[2], "normal", out);
  FOLD_TRY(print_sorted(&table[1], out));
  print_float64(study, out);
  print_rest(out);
  return fold_ok();
}
