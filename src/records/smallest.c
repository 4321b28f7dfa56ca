/* smallest.c: see smallest.h. */
#include "smallest.h"

#include <stdlib.h>

#include "refutation.h"

static fold_status no_memory(void) {
  return fold_error(FOLD_NO_MEMORY, "not enough memory for the smallest counterexamples");
}

fold_status fold_smallest_open(struct fold_smallest *smallest, const struct fold_registry *registry) {
  *smallest = (struct fold_smallest){registry, calloc(registry->n * FOLD_CLAIMS + 1, sizeof *smallest->of)};
  return smallest->of ? fold_ok() : no_memory();
}

void fold_smallest_close(struct fold_smallest *smallest) {
  for (size_t i = 0; smallest->of && i < smallest->registry->n * FOLD_CLAIMS; i++) free(smallest->of[i].text);
  free(smallest->of);
  *smallest = (struct fold_smallest){0};
}

fold_status fold_smallest_add(struct fold_smallest *smallest, const struct fold_judgement *j, const char *program,
                              const char *folder) {
  struct fold_smallest_of *of = &smallest->of[j->subject_index * FOLD_CLAIMS + j->claim->id];
  const size_t terms = j->c->rows * j->c->cols;
  if (of->text && (terms > of->terms || (terms == of->terms && j->c->rows >= of->rows))) return fold_ok();
  char *text = NULL;
  size_t size;
  FILE *out = open_memstream(&text, &size);
  if (out == NULL) return no_memory();
  fold_print_refuted(j, program, folder, out);
  const bool written = fclose(out) == 0 && text;
  if (!written) return free(text), no_memory();
  const bool first = of->text == NULL;
  free(of->text);
  *of = (struct fold_smallest_of){text, terms, j->c->rows, first};
  return fold_ok();
}

void fold_smallest_print(const struct fold_smallest *smallest, FILE *out) {
  bool said = false;
  for (size_t k = 0; k < FOLD_CLAIMS; k++)
    for (size_t i = 0; i < smallest->registry->n; i++) {
      const struct fold_smallest_of *of = &smallest->of[i * FOLD_CLAIMS + k];
      if (of->text == NULL || of->first) continue;
      if (!said) fputs("the smallest counterexamples, where a larger one came first\n", out);
      said = true;
      fputs(of->text, out);
    }
}
