/* instances.c: finds at run time what was compiled for a dtype. */
#include "kernels/host/instances.h"

#define FOLD_INTEGER(...)
#define FOLD_DTYPE(TAG, name, ...) extern const struct fold_instances fold_instances_##name;
#include "base/dtype.def"

const struct fold_instances *fold_instances_of(enum fold_dtype dtype) {
  static const struct fold_instances *const instances[FOLD_DTYPES] = {
#define FOLD_INTEGER(...)
#define FOLD_DTYPE(TAG, name, ...) &fold_instances_##name,
#include "base/dtype.def"
  };
  return instances[dtype];
}
