/* subject.c: in which arithmetic a subject computes, for terms of a dtype. */
#include "model/subject.h"

enum fold_dtype fold_subject_accumulator(const struct fold_subject *s, enum fold_dtype terms) {
  if (s->accumulator >= FOLD_RULES) return (enum fold_dtype)(s->accumulator - FOLD_RULES);
  return s->accumulator == FOLD_OF_TERMS ? terms : fold_accumulator_of(terms);
}

enum fold_dtype fold_subject_result(const struct fold_subject *s, enum fold_dtype terms) {
  if (s->result >= FOLD_RULES) return (enum fold_dtype)(s->result - FOLD_RULES);
  return s->result == FOLD_OF_ACCUMULATOR ? fold_subject_accumulator(s, terms) : terms;
}

enum fold_method fold_subject_method(const struct fold_subject *s, enum fold_dtype terms) {
  return s->truncated >> terms & 1 ? FOLD_TRUNCATED : s->method;
}

struct fold_arithmetic fold_subject_arithmetic(const struct fold_subject *s, enum fold_dtype terms) {
  return (struct fold_arithmetic){fold_subject_method(s, terms), fold_subject_accumulator(s, terms),
                                  fold_subject_result(s, terms), s->factor};
}
