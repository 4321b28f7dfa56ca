/* gpu_dtypes.h: the dtypes that GPU kernels take: the first rows of dtype.def. */
#ifndef GPU_DTYPES_H
#define GPU_DTYPES_H

#include "base/fold.h"

enum { GPU_DTYPES = FOLD_F64 + 1 };
_Static_assert(FOLD_EVERYWHERE == (1u << GPU_DTYPES) - 1, "the dtypes of GPUs are the first ones");

#endif
