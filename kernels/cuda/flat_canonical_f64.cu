/* flat_canonical_f64.cu: flat/canonical's kernels for f64; see flat_canonical.cuh. */
#include "flat_canonical.cuh"

FOLD_CANONICAL_INSTANCE(canonical_launch_f64, FOLD_F64)
