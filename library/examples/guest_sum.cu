// A guest in CUDA: nvcc -shared -Xcompiler -fPIC -Ilibrary library/examples/guest_sum.cu -o guest_sum.so; foldproof verify --guest ./guest_sum.so
#include "foldproof_guest.h"

static __global__ void sum_rows(const float *x, uint64_t rows, uint64_t cols, float *out) {
  for (uint64_t row = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x; row < rows; row += (uint64_t)gridDim.x * blockDim.x) {
    float s = 0;
    for (uint64_t i = 0; i < cols; i++) s += x[row * cols + i];
    out[row] = s;
  }
}

static int sum(const foldproof_guest_call *call, void *) {
  unsigned block = call->block ? call->block : 128, blocks = call->blocks ? call->blocks : 1024;
  sum_rows<<<blocks, block, 0, (cudaStream_t)call->stream>>>((const float *)call->in, call->rows, call->cols, (float *)call->out);
  return cudaGetLastError() == cudaSuccess ? FOLDPROOF_GUEST_OK : 1;
}

extern "C" const foldproof_guest_table *foldproof_guest(void) {
  static foldproof_guest_subject subject;
  static const struct foldproof_guest_table table = {FOLDPROOF_GUEST_ABI, sizeof subject, 1, &subject};
  subject.name = "mine/cuda_sum";
  subject.engine = "cuda";
  subject.order = "host/sequential";
  subject.claims = "bounded,replays,reproducible";
  subject.run = sum;
  return &table;
}
