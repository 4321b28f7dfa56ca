/* engine_cuda.h: the CUDA device as an engine of the runner (engine.h); plain C. */
#ifndef FOLD_ENGINE_CUDA_H
#define FOLD_ENGINE_CUDA_H

#include "device.h"
#include "engine.h"

const struct fold_engine_ops *fold_engine_cuda(void);
fold_status fold_engine_cuda_ready(void);
/* How many GPUs are here; with none, `reason` says why. ENVIRONMENT where FOLDPROOF_REQUIRE_GPUS asks for more. */
fold_status fold_engine_cuda_count(int *n, char reason[FOLD_DEVICE_TEXT]);

#endif
