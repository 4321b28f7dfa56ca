/* rig_takes.c: see rig_takes.h. */
#include "rig_takes.h"

#include "bits.h"

static bool is_finite(const struct fold_rig *rig, const struct fold_request *request) {
  const bool whole = request->row_stride || request->col_stride;
  for (unsigned k = 0; k < rig->inputs; k++) {
    const void *input = fold_rig_input_at(rig, k);
    const size_t first = whole ? 0 : request->first, end = whole ? rig->in[k].n : first + request->rows * request->cols;
    for (size_t i = first; i < end; i++)
      if (fold_bits_class(rig->dtype, fold_bits_load(rig->dtype, input, i)) >= FOLD_INFINITE) return false;
  }
  return true;
}

fold_status fold_rig_explain_failure(const struct fold_rig *rig, const struct fold_request *request,
                                     fold_status failure) {
  const char *what = request->rows == 0        ? "an input of no rows"
                     : request->cols == 0      ? "rows of no terms"
                     : is_finite(rig, request) ? NULL
                                               : "NaN or infinity";
  return what ? fold_error(FOLD_UNSUPPORTED, "it does not take %s: %.900s", what, failure.text) : failure;
}

fold_status fold_rig_check_terms(const struct fold_rig *rig, const struct fold_subject *subject,
                                 const struct fold_request *request) {
  if (!subject->finite || is_finite(rig, request)) return fold_ok();
  return fold_error(FOLD_UNSUPPORTED, "it takes finite terms alone");
}
