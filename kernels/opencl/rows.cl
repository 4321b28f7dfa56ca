/* rows.cl: sums of rows in the order of rows/par_256: a group of 256 work-items a row. OpenCL C 1.2.
 *
 * Chunk t of a row has ceil(cols / 256) elements, which work-item t adds in rising index from +0; then a tree over neighbours. No group hangs
 * on another, and no row on how many groups there are.
 */
#pragma OPENCL FP_CONTRACT OFF

#define CHUNKS 256

#define SUMS_OF(T)                                                                                                                \
  kernel void sums_of_##T(global const T *in, global T *out, const ulong rows, const ulong cols) {                                \
    local T partial[CHUNKS];                                                                                                      \
    const ulong t = get_local_id(0), length = cols / CHUNKS + (cols % CHUNKS != 0);                                               \
    for (ulong r = get_group_id(0); r < rows; r += get_num_groups(0)) {                                                           \
      const ulong begin = min(t * length, cols), end = min(begin + length, cols);                                                 \
      T sum = 0;                                                                                                                  \
      for (ulong i = begin; i < end; i++) sum += in[r * cols + i];                                                                \
      partial[t] = sum;                                                                                                           \
      barrier(CLK_LOCAL_MEM_FENCE);                                                                                               \
      for (uint stride = 1; stride < CHUNKS; stride *= 2) {                                                                       \
        if (t % (2 * stride) == 0) partial[t] += partial[t + stride];                                                             \
        barrier(CLK_LOCAL_MEM_FENCE);                                                                                             \
      }                                                                                                                           \
      if (t == 0) out[r] = partial[0];                                                                                            \
      barrier(CLK_LOCAL_MEM_FENCE);                                                                                               \
    }                                                                                                                             \
  }

SUMS_OF(float)
#ifdef DOUBLES
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
SUMS_OF(double)
#endif
