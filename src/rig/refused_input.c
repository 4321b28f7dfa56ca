/* rig/refused_input.c: see rig/refused_input.h. */
#include "rig/refused_input.h"

#include "base/bits.h"

/* Whether the request's terms have one of this class or a later one: FOLD_INFINITE, FOLD_NAN. What lies between them is no term. */
static bool has(const struct fold_rig *rig, const struct fold_request *request, enum fold_class class) {
  for (unsigned k = 0; k < rig->inputs; k++) {
    const void *input = fold_rig_input_at(rig, k);
    const enum fold_dtype dtype = fold_input_dtype(rig->problem, rig->dtype, k);
    const size_t n = fold_elements(rig->problem, &request->shape, k);
    for (size_t i = 0; i < n; i++) {
      size_t at = i;
      if (request->stride[k][FOLD_K]) {
        const struct fold_shape element = fold_coordinates(rig->problem, &request->shape, k, i);
        at = (size_t)fold_place(rig->problem, k, request->stride[k], &element);
      }
      if (fold_bits_class(dtype, fold_bits_load(dtype, input, request->first[k] + at)) >= class) return true;
    }
  }
  return false;
}

fold_status fold_rig_explain_failure(const struct fold_rig *rig, const struct fold_request *request,
                                     fold_status failure) {
  const char *what = fold_results(rig->problem, &request->shape) == 0 ? "an input of no rows"
                     : request->shape.k == 0                          ? "rows of no terms"
                     : has(rig, request, FOLD_INFINITE)               ? "NaN or infinity"
                                                                      : NULL;
  return what ? fold_error(FOLD_UNSUPPORTED, "it does not take %s: %.900s", what, failure.text) : failure;
}

fold_status fold_rig_check_terms(const struct fold_rig *rig, const struct fold_subject *subject,
                                 const struct fold_request *request) {
  if (subject->finite && has(rig, request, FOLD_INFINITE))
    return fold_error(FOLD_UNSUPPORTED, "it takes finite terms only");
  if (subject->skips_nan && has(rig, request, FOLD_NAN)) return fold_error(FOLD_UNSUPPORTED, "it skips NaN");
  return fold_ok();
}
