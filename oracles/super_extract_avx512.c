/* super_extract_avx512.c: eight terms at a time. */
#if defined __x86_64__
#include <immintrin.h>

#define TARGET __attribute__((target("avx512f,avx512dq")))
#define WIDTH 8
#define BITS_OF_8(at) _mm_loadu_si128((const __m128i *)(at))
#define HALVES_OF_8(at) _mm512_cvtph_ps(_mm256_castsi128_si256(BITS_OF_8(at)))
#define LOAD_F16(at) (reals) _mm512_cvtps_pd(_mm512_castps512_ps256(HALVES_OF_8(at)))
#define LOAD_BF16(at) (reals) _mm512_cvtps_pd((__m256)_mm256_slli_epi32(_mm256_cvtepu16_epi32(BITS_OF_8(at)), 16))
#define LOAD_F32(at) (reals) _mm512_cvtps_pd(_mm256_loadu_ps((const float *)(at)))
#define WHERE __mmask8
#define WHERE_NEGATIVE(x) _mm512_movepi64_mask((__m512i)(x))
#define ADD_WHERE(where, to, x) (words) _mm512_mask_add_epi64((__m512i)(to), where, (__m512i)(to), (__m512i)(x))
#define OR_DIFFERENCE(to, a, b) (words) _mm512_ternarylogic_epi64((__m512i)(to), (__m512i)(a), (__m512i)(b), 0xf6)
#include "oracles/super_extract.inc"

static bool runs_here(void) { return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq"); }
const struct fold_extractor fold_extractor_avx512 = {"avx512", runs_here, PASSES(sum), PASSES(both)};
#endif
