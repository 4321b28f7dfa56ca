/* mutants_gpu.h: GPU subjects that are broken on purpose, for the GPU suite and for foldproof-gpu-mutants.
 *
 * A row is a struct fold_mutant (tests/mutants.h): what a mutant breaks must be refuted, every other claim of the row
 * must hold. Rows that break nothing are controls: the same kernels without a fault. Plain C; the kernels are in
 * mutants_gpu_*.cu.
 */
#ifndef MUTANTS_GPU_H
#define MUTANTS_GPU_H

#include "fixtures/generator.h"
#include "mutants.h"

const struct fold_mutant *fold_gpu_mutants(size_t *n);
/* Subjects that fail, or that a tool catches and no claim does. */
const struct fold_subject *fold_gpu_broken(size_t *n);
/* By name, in either table; NULL for an unknown name. */
const struct fold_subject *fold_gpu_mutant_find(const char *name);

/* All subjects of the registry, then both tables; free its array. */
struct fold_registry;
void fold_gpu_mutants_join(struct fold_registry *registry);

/* fold_cuda_generate as compiled with FMA contraction, and with --use_fast_math. */
typedef fold_status gpu_generate(const struct fold_source *source, uint64_t first, uint64_t n, void *d_out,
                                 void *stream);
gpu_generate mutant_generate_fused, mutant_generate_fast;

#endif
