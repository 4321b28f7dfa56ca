/* rows.cu: the entry points of the row family: each names its order's shape and the rung that runs it. */
#include "rows.h"

#include "rows.cuh"

#define PLAIN(NAME, SHAPE)                                                                                        \
  extern "C" fold_status fold_rows_##NAME##_plain(const struct fold_subject *subject, const struct fold_call *call) { \
    (void)subject;                                                                                                \
    return fold_rows_plain(call, &SHAPE);                                                                         \
  }
PLAIN(single_for, fold_rows_forward)
PLAIN(single_back, fold_rows_falling)
PLAIN(par_16, fold_rows_16)
PLAIN(par_64, fold_rows_64)
PLAIN(par_256, fold_rows_256)
PLAIN(single_determ, fold_rows_tree_1)
PLAIN(par_16_determ, fold_rows_tree_16)
PLAIN(par_64_determ, fold_rows_tree_64)

struct device {
  int major, sms;
};

static fold_status ask_device(struct device *device) {
  int ordinal;
  FOLD_CUDA_TRY(cudaGetDevice(&ordinal));
  FOLD_CUDA_TRY(cudaDeviceGetAttribute(&device->major, cudaDevAttrComputeCapabilityMajor, ordinal));
  FOLD_CUDA_TRY(cudaDeviceGetAttribute(&device->sms, cudaDevAttrMultiProcessorCount, ordinal));
  return fold_ok();
}

/* The rung for a shape and a call. Every branch has the same bits. */
static fold_status best(const struct fold_call *call, const struct fold_rows_shape *shape) {
  struct device device;
  FOLD_TRY(ask_device(&device));
  unsigned sms = (unsigned)device.sms;
  if (device.major < 8) return fold_rows_plain(call, shape);
  if (device.major >= 9) {
    if (shape->chunks == 256 && shape->threads >= 64 && fold_rows_tile_fits(call))
      return fold_rows_tile(call, shape->threads, NULL, sms);
    if (call->rows <= 2 * sms && fold_rows_solo_fits(call, shape)) return fold_rows_solo(call, shape, sms);
  }
  return fold_rows_window(call, shape, NULL, sms);
}

#define BEST(NAME, SHAPE)                                                                                 \
  extern "C" fold_status fold_rows_##NAME(const struct fold_subject *subject, const struct fold_call *call) { \
    (void)subject;                                                                                        \
    return best(call, &SHAPE);                                                                            \
  }
BEST(single_for, fold_rows_forward)
BEST(single_back, fold_rows_falling)
BEST(par_16, fold_rows_16)
BEST(par_64, fold_rows_64)
BEST(par_256, fold_rows_256)
BEST(single_determ, fold_rows_tree_1)
BEST(par_16_determ, fold_rows_tree_16)
BEST(par_64_determ, fold_rows_tree_64)

/* Eight subtrees a row; the zeroed part of scratch stays as it is. */
extern "C" size_t fold_rows_multi_block_scratch(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject;
  return FOLD_SCRATCH_ZEROED + call->rows * 8 * (call->dtype == FOLD_F64 ? sizeof(double) : sizeof(float));
}

extern "C" fold_status fold_rows_multi_block(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject;
  struct device device;
  FOLD_TRY(fold_cuda_check(call));
  if (call->rows == 0) return fold_ok();
  FOLD_TRY(ask_device(&device));
  if (device.major < 8) return fold_rows_plain(call, &fold_rows_256);
  unsigned sms = (unsigned)device.sms;
  void *partials = (char *)call->scratch + FOLD_SCRATCH_ZEROED;
  if (device.major >= 9 && fold_rows_tile_fits(call))
    FOLD_TRY(fold_rows_tile(call, 256, partials, sms));
  else
    FOLD_TRY(fold_rows_window(call, &fold_rows_256, partials, sms));
  return fold_rows_join(call, partials);
}
