/* openmp_keeps.h: whether OpenMP's other threads keep their floating-point environment from one parallel region to the
 * next. LLVM's runtime gives them the first thread's at the start of each region (KMP_INHERIT_FP_CONTROL), so a change
 * in one of them can't last.
 */
#ifndef OPENMP_KEEPS_H
#define OPENMP_KEEPS_H

#include <fenv.h>
#include <omp.h>
#include <stdbool.h>

static inline bool openmp_keeps(void) {
  int found = FE_TONEAREST;
#ifndef __clang__
  return true;
#endif
#pragma omp parallel num_threads(2)
  if (omp_get_thread_num() == 1) fesetround(FE_DOWNWARD);
#pragma omp parallel num_threads(2)
  if (omp_get_thread_num() == 1) {
    found = fegetround();
    fesetround(FE_TONEAREST);
  }
  return found != FE_TONEAREST;
}

#endif
