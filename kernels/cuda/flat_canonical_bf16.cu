/* flat_canonical_bf16.cu: flat/canonical's kernels for bf16; see flat_canonical.cuh. */
#include "flat_canonical.cuh"

FOLD_CANONICAL_INSTANCE(canonical_launch_bf16, FOLD_BF16)
