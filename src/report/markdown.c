/* report/markdown.c: the summary of a CI job: the answer, what was measured, the table subject x claim. It must be short, because GitHub
 * accepts one mebibyte. The same sheets are written for a terminal. */
#include <stdint.h>

#include "report/answer.h"
#include "report/section.h"

enum { MOST_LINES = 20 };

/* How many claims about order held, and for how many of these another order would have shown on the input. */
static void put_telling(const struct fold_model *m, FILE *out) {
  size_t telling = 0, idle = 0, untold = 0;
  for (size_t s = 0; s < m->n_subjects; s++)
    for (size_t k = 0; k < m->n_claims; k++) {
      const struct fold_model_cell *cell = m->subjects[s].cells[true][k];
      if (cell == NULL) continue;
      telling += cell->telling;
      idle += cell->idle;
      untold += fold_model_untold(cell);
    }
  if (telling + idle == 0) return;
  fprintf(out,
          "\nOf what held about order, %zu case%s order-sensitive, %zu %s order-insensitive (eight orders have the "
          "same bits on "
          "the input, a ninth may not).\n",
          telling, telling == 1 ? " is" : "s are", idle, idle == 1 ? "is" : "are");
  if (untold)
    fprintf(out, "† Order-insensitive inputs only: %zu claim%s held on such inputs only.\n", untold,
            untold == 1 ? "" : "s");
}

fold_status fold_report_markdown(const struct fold_model *model, FILE *out) {
  char text[300];
  fold_answer_headline(model, text);
  fprintf(out, "## foldproof: %s\n", text);
  fold_text_incomplete(model, fold_put_markdown, "\n**Incomplete records**: ", ": ", "\n", out);
  fold_text_repeated(model, "\n", "\n", out);
  fold_text_machines(model, fold_put_markdown, "\nOn ", ".\n", out);
  FOLD_TRY(fold_answer_put(model, FOLD_REPORT_MARKDOWN, out));
  put_telling(model, out);
  FOLD_TRY(fold_view_put(fold_sheet_unbounded, model, FOLD_REPORT_MARKDOWN, MOST_LINES, out));
  fold_answer_measured(model, text);
  if (model->n_subjects && text[0]) fprintf(out, "\nMeasured: %s.\n", text);
  FOLD_TRY(fold_measured_put(model, FOLD_REPORT_MARKDOWN, out));
  if (model->n_subjects == 0) return fold_ok();
  fputs("\n<details><summary>Cases by subject and claim</summary>\n", out);
  FOLD_TRY(fold_view_put(fold_sheet_matrix, model, FOLD_REPORT_MARKDOWN, SIZE_MAX, out));
  fprintf(out, "\n%s\n\n</details>\n", fold_matrix_legend);
  return fold_ok();
}

fold_status fold_report_text(const struct fold_model *model, FILE *out) {
  char text[300];
  fold_answer_headline(model, text);
  fprintf(out, "%s\n", text);
  fold_text_incomplete(model, fold_put_plain, "Incomplete records: ", ": ", "\n", out);
  fold_text_repeated(model, "", "\n", out);
  FOLD_TRY(fold_answer_put(model, FOLD_REPORT_TEXT, out));
  fold_answer_measured(model, text);
  if (model->n_subjects && text[0]) fprintf(out, "\nMeasured: %s.\n", text);
  return fold_measured_put(model, FOLD_REPORT_TEXT, out);
}
