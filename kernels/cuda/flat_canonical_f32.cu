/* flat_canonical_f32.cu: flat/canonical's kernels for f32; see flat_canonical.cuh. */
#include "flat_canonical.cuh"

FOLD_CANONICAL_INSTANCE(canonical_launch_f32, FOLD_F32)
