/* rows.cu: the entry points of the row family: each names its order's shape and the rung that runs it. */
#include "kernels/cuda/rows/rows.h"

#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/rows/rows.cuh"

#define PLAIN(NAME, SHAPE)                                                                                            \
  extern "C" fold_status fold_rows_##NAME##_plain(const struct fold_subject *subject, const struct fold_call *call) { \
    (void)subject;                                                                                                    \
    return fold_rows_plain(call, &SHAPE);                                                                             \
  }
PLAIN(single_for, fold_rows_forward)
PLAIN(single_back, fold_rows_falling)
PLAIN(par_16, fold_rows_16)
PLAIN(par_64, fold_rows_64)
PLAIN(par_256, fold_rows_256)
extern "C" fold_status fold_rows_par_256_f32(const struct fold_subject *subject, const struct fold_call *call) {
  return fold_rows_plain_to(call, &fold_rows_256, fold_subject_result(subject, call->dtype));
}
PLAIN(single_determ, fold_rows_tree_1)
PLAIN(par_16_determ, fold_rows_tree_16)
PLAIN(par_64_determ, fold_rows_tree_64)

struct device {
  bool tuned; /* the tuned rungs can run on this device */
  unsigned sms;
};

static fold_status ask_device(struct device *device) {
  int ordinal, code = 0, shared, sms;
  FOLD_CUDA_TRY(cudaGetDevice(&ordinal));
  FOLD_TRY(fold_cuda_code(&code));
  FOLD_CUDA_TRY(cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, ordinal));
  FOLD_CUDA_TRY(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, ordinal));
  /* Code for GPUs older than sm_90, which a newer GPU may run too, has empty bodies for the tuned rungs. */
  device->tuned = code >= 900 && shared >= 224 * 1024;
  device->sms = (unsigned)sms;
  return fold_ok();
}

/* Spreads a row over `parts` blocks, each with a part of its 256 chunks; then joins the parts by the tree. */
static fold_status spread(const struct fold_call *call, const struct fold_rows_shape *shape,
                          const struct device *device) {
  void *partials = (char *)call->scratch + FOLD_SCRATCH_ZEROED;
  unsigned parts = 8;
  if (fold_rows_tile_fits(call, 8)) {
    if (call->rows >= 4 * (size_t)device->sms && fold_rows_tile_fits(call, 2)) parts = 2;
    FOLD_TRY(fold_rows_tile(call, shape, partials, parts));
  } else {
    FOLD_TRY(fold_rows_window(call, shape, partials, device->sms));
  }
  return fold_rows_join(call, partials, parts);
}

/* The best rung for a shape and a call. Every branch gives the same bits. */
static fold_status best(const struct fold_call *call, const struct fold_rows_shape *shape) {
  struct device device;
  FOLD_TRY(fold_cuda_check(call));
  if (call->rows == 0) return fold_ok();
  FOLD_TRY(ask_device(&device));
  if (!device.tuned) return fold_rows_plain(call, shape);
  bool few = call->rows <= 2 * (size_t)device.sms;
  bool tile = shape->threads >= 64 || (shape->threads == 16 && few);
  if (tile && fold_rows_tile_fits(call, 1)) return fold_rows_tile(call, shape, NULL, 1);
  if (fold_rows_solo_fits(call, shape, device.sms)) return fold_rows_solo(call, shape, device.sms);
  if (shape->threads == 256) return spread(call, shape, &device);
  return fold_rows_window(call, shape, NULL, device.sms);
}

#define BEST(NAME, SHAPE)                                                                                     \
  extern "C" fold_status fold_rows_##NAME(const struct fold_subject *subject, const struct fold_call *call) { \
    (void)subject;                                                                                            \
    return best(call, &SHAPE);                                                                                \
  }
BEST(single_for, fold_rows_forward)
BEST(single_back, fold_rows_falling)
BEST(par_16, fold_rows_16)
BEST(par_64, fold_rows_64)
BEST(par_256, fold_rows_256)
BEST(single_determ, fold_rows_tree_1)
BEST(par_16_determ, fold_rows_tree_16)
BEST(par_64_determ, fold_rows_tree_64)

/* Scratch for up to eight subtrees of each row; the zeroed part of scratch is not changed. */
extern "C" size_t fold_rows_spread_scratch(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject;
  return FOLD_SCRATCH_ZEROED + call->rows * 8 * (call->dtype == FOLD_F64 ? sizeof(double) : sizeof(float));
}

extern "C" fold_status fold_rows_multi_block(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject;
  struct device device;
  FOLD_TRY(fold_cuda_check(call));
  if (call->rows == 0) return fold_ok();
  FOLD_TRY(ask_device(&device));
  if (!device.tuned) return fold_rows_plain(call, &fold_rows_256);
  return spread(call, &fold_rows_256, &device);
}
