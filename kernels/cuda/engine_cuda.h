/* engine_cuda.h: the CUDA device as an engine of the runner (engine.h); plain C. */
#ifndef FOLD_ENGINE_CUDA_H
#define FOLD_ENGINE_CUDA_H

#include "engine.h"

const struct fold_engine_ops *fold_engine_cuda(void);
fold_status fold_engine_cuda_ready(void);

#endif
