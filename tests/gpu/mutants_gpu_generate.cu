/* mutants_gpu_generate.cu: the device's generators as they stand, compiled without --fmad=false, or with
 * --use_fast_math: the flags are the fault. MUTANT names the entry point (mutants_gpu.h), MUTANT_KERNEL the kernel,
 * which would else share its name with the right one.
 */
#define fold_cuda_generate MUTANT
#define generate_kernel MUTANT_KERNEL
#include "fixtures/generate.cu"
