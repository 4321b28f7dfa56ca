/* super_extract_avx2.c: four terms at a time. */
#if defined __x86_64__
#include <cpuid.h>
#include <immintrin.h>

#define TARGET __attribute__((target("avx2,f16c")))
#define WIDTH 4
#define BITS_OF_4(at) _mm_loadl_epi64((const __m128i *)(at))
#define LOAD_F16(at) (reals) _mm256_cvtps_pd(_mm_cvtph_ps(BITS_OF_4(at)))
#define LOAD_BF16(at) (reals) _mm256_cvtps_pd((__m128)_mm_slli_epi32(_mm_cvtepu16_epi32(BITS_OF_4(at)), 16))
#define LOAD_F32(at) (reals) _mm256_cvtps_pd(_mm_loadu_ps((const float *)(at)))
#define WHERE words
#define WHERE_NEGATIVE(x) (words)((signs)(x) < 0)
#define ADD_WHERE(where, to, x) ((to) + ((x) & (where)))
#define OR_DIFFERENCE(to, a, b) ((to) | ((a) ^ (b)))
#include "oracles/super_extract.inc"

/* Clang 14 does not know f16c by __builtin_cpu_supports. */
static bool runs_here(void) {
  unsigned a, b, c = 0, d;
  return __builtin_cpu_supports("avx2") && __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C);
}
const struct fold_extractor fold_extractor_avx2 = {"avx2", runs_here, PASSES(sum), PASSES(both)};
#endif
