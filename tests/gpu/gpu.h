/* gpu.h: what the tests on a GPU share: a skip with its reason where there is none, device memory, runs of subjects.
 *
 * A test opens one context and loops its cases inside, for a context costs a third of a second. Statuses that a test
 * cannot do without go through gpu_need.
 */
#ifndef GPU_H
#define GPU_H

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "gpu_dtypes.h"
#include "kernels/cuda/device.h"
#include "model/engine.h"
#include "model/subject.h"

static inline void gpu_need(fold_status status) { cr_assert_eq(status.code, FOLD_OK, "%s", status.text); }

/* No GPU skips the test, unless FOLDPROOF_REQUIRE_GPUS asks for one. */
static inline void gpu_open(void) {
  fold_status ready = fold_engine_ready(FOLD_CUDA);
  if (ready.code == FOLD_UNSUPPORTED) cr_skip("%s", ready.text);
  gpu_need(ready);
}

static inline void *gpu_alloc(size_t nbytes) {
  void *d = NULL;
  gpu_need(fold_device_alloc(&d, nbytes));
  return d;
}
static inline void gpu_free(void *d) { gpu_need(fold_device_free(d)); }

/* Device memory for a test's data, or a skip that says how much it takes. */
static inline void *gpu_alloc_or_skip(size_t nbytes) {
  void *d = NULL;
  fold_status status = fold_device_alloc(&d, nbytes);
  if (status.code == FOLD_NO_MEMORY) cr_skip("%s", status.text);
  gpu_need(status);
  return d;
}

/* A call's scratch, its head zero and the rest poison, as src/model/subject.h promises; NULL where none is needed. */
static inline void *gpu_scratch(const struct fold_subject *subject, const struct fold_call *call) {
  size_t need = subject->scratch ? subject->scratch(subject, call) : 0;
  if (need == 0) return NULL;
  if (need < FOLD_SCRATCH_ZEROED) need = FOLD_SCRATCH_ZEROED;
  void *d = gpu_alloc(need);
  gpu_need(fold_device_set(d, 0xff, need, NULL));
  gpu_need(fold_device_set(d, 0, FOLD_SCRATCH_ZEROED, NULL));
  gpu_need(fold_device_synchronize()); /* the call may be for another stream */
  return d;
}

/* One run on the default stream, to its end; `got` receives the results. */
static inline fold_status gpu_run(const struct fold_subject *subject, struct fold_call call, void *got) {
  const size_t nbytes = fold_results(call.problem, &call.shape) * fold_dtype_size(call.dtype);
  gpu_need(fold_device_set(call.out, 0xa5, nbytes, NULL));
  call.scratch = gpu_scratch(subject, &call);
  fold_status status = subject->run(subject, &call), finished = fold_device_synchronize();
  gpu_free(call.scratch);
  if (status.code != FOLD_OK) return status;
  return finished.code != FOLD_OK ? finished : fold_device_get(got, call.out, nbytes);
}

static inline bool gpu_takes(const struct fold_subject *subject, int dtype, int op) {
  return subject->engine == FOLD_CUDA && (subject->dtypes >> dtype & 1) && (subject->problems >> op & 1) &&
         fold_subject_result(subject, (enum fold_dtype)dtype) == (enum fold_dtype)dtype;
}

#endif
