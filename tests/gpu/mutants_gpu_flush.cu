/* mutants_gpu_flush.cu: rows/par_64's plain kernel as it stands, compiled with -ftz=true: one flag is the fault. */
#define fold_rows_plain mutant_rows_plain_flush
#define fold_rows_plain_to mutant_rows_plain_to_flush
#include "kernels/cuda/rows/rows_plain.cu"

#include "mutants_gpu_run.h"

extern "C" fold_status gpu_flush(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject;
  return mutant_rows_plain_flush(call, &fold_rows_64);
}
