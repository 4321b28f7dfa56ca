/* cleanup.h: truths and cases that are freed where their block ends. */
#ifndef CLEANUP_H
#define CLEANUP_H

#include "fixtures/fixture.h"
#include "oracles/exact.h"

static inline struct fold_truth truth_open(void) {
  struct fold_truth truth;
  fold_truth_init(&truth);
  return truth;
}
#define TRUTH(name) struct fold_truth name __attribute__((cleanup(fold_truth_free))) = truth_open()
#define CASES(name) struct fold_cases name __attribute__((cleanup(fold_cases_free)))

#endif
