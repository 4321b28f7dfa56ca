/* flat_canonical_f16.cu: flat/canonical's kernels for f16; see flat_canonical.cuh. */
#include "flat_canonical.cuh"

FOLD_CANONICAL_INSTANCE(canonical_launch_f16, FOLD_F16)
