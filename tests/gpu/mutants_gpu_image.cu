/* mutants_gpu_image.cu: a kernel compiled for one architecture alone (tests/gpu/meson.build says which), so that a
 * launch on any other finds no code: what an unsupported GPU meets.
 */
#include "base/cuda_status.cuh"
#include "mutants_gpu_run.h"

static __global__ void elsewhere_kernel(float *out) { out[0] = 0; }

extern "C" fold_status gpu_no_image(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject;
  elsewhere_kernel<<<1, 1, 0, (cudaStream_t)call->stream>>>((float *)call->out);
  return fold_cuda_launched("elsewhere_kernel");
}
