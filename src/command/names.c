/* command/names.c: see command/names.h. */
#include "command/names.h"

#include "judge/judge.h"

static const char *dtype_name(unsigned id) { return fold_dtype_name((enum fold_dtype)id); }
static const char *problem_name(unsigned id) { return fold_problem((enum fold_problem_id)id)->name; }
static const char *claim_name(unsigned id) {
  size_t n;
  return fold_claims(&n)[id].name;
}

static void put(FILE *out, const char *(*name)(unsigned id), unsigned n, uint64_t mask, const char *between) {
  const char *before = "";
  for (unsigned id = 0; id < n; id++) {
    if (!(mask >> id & 1)) continue;
    fprintf(out, "%s%s", before, name(id));
    before = between;
  }
}

void fold_put_dtypes(FILE *out, uint64_t mask, const char *between) {
  put(out, dtype_name, FOLD_DTYPES, mask, between);
}
void fold_put_problems(FILE *out, uint64_t mask, const char *between) {
  put(out, problem_name, FOLD_PROBLEMS, mask, between);
}
void fold_put_problems_of(FILE *out, const struct fold_subject *subject, const char *between) {
  if (subject->unknown)
    fputs("rows", out);
  else
    fold_put_problems(out, subject->problems, between);
}
void fold_put_claims(FILE *out, uint64_t mask, const char *between) {
  put(out, claim_name, FOLD_CLAIMS, mask, between);
}
