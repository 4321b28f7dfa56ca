/* exact_close.cuh: rounding a row's windows to the element type without the limbs: some twenty operations.
 *
 * Promised: the rounding of fold_super_round, from sums that are exact as pairs or triples of doubles. It rests on
 * rounding to odd (Boldo and Melquiond, Emulation of FMA and correctly rounded sums: proved algorithms using rounding
 * to odd, IEEE Trans. Computers 57(4), 2008): a sum rounded to odd in 53 bits, then to nearest in 51 bits or fewer,
 * is rounded once; and th + odd(tl + ul) with (uh, ul) = b + c, (th, tl) = a + uh rounds a + b + c once to double. No
 * overflow: the windows' bounds see to it. Used by exact_line.cuh and exact_short.cuh.
 */
#ifndef FOLD_EXACT_CLOSE_CUH
#define FOLD_EXACT_CLOSE_CUH

#include "kernels/cuda/exact/exact_format.cuh"

/* a + b = sum + error, exactly (Knuth). */
static __device__ __forceinline__ void exact_two_sum(double a, double b, double *sum, double *error) {
  const double s = a + b, t = s - a;
  *error = (a - (s - t)) + (b - t);
  *sum = s;
}

/* a + b rounded to odd: if it is not exact, the neighbour whose last bit is 1. */
static __device__ __forceinline__ double exact_odd_sum(double a, double b) {
  double sum, error;
  exact_two_sum(a, b, &sum, &error);
  long long bits = __double_as_longlong(sum);
  if (error != 0 && !(bits & 1)) bits += (error > 0) == (sum > 0) ? 1 : -1;
  return __longlong_as_double(bits);
}

/* x as float, rounded to odd: rounding that again to f16 or bf16 is correct, also for subnormals and beyond the largest
 * number. */
static __device__ __forceinline__ float exact_odd_float(double x) {
  const float f = __double2float_rz(x);
  return (double)f == x ? f : __uint_as_float(__float_as_uint(f) | 1);
}

static __device__ __forceinline__ uint64_t exact_round_double(fold_constant<FOLD_F16>, double x) {
  return __half_as_ushort(__float2half_rn(exact_odd_float(x)));
}
/* Rounds to nearest even by an integer addition, which carries into the exponent and to infinity; x is not NaN. */
static __device__ __forceinline__ uint64_t exact_round_double(fold_constant<FOLD_BF16>, double x) {
  const uint32_t bits = __float_as_uint(exact_odd_float(x));
  return (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}
static __device__ __forceinline__ uint64_t exact_round_double(fold_constant<FOLD_F32>, double x) {
  return __float_as_uint(__double2float_rn(x));
}
static __device__ __forceinline__ uint64_t exact_round_double(fold_constant<FOLD_F64>, double x) {
  return (uint64_t)__double_as_longlong(x);
}

/* The exact sum of the parts, rounded once. If it is zero, it is -0 only if part[0] is -0: that happens only for sums
 * that started from -0 and had only -0 as terms. */
template <int D>
static __device__ __forceinline__ uint64_t exact_round_parts(const double (&part)[exact_format<D>::PARTS]) {
  double x = part[0];
  if constexpr (D == FOLD_F32) x = exact_odd_sum(part[1], part[0]);
  if constexpr (D == FOLD_F64) {
    double uh, ul, th, tl;
    exact_two_sum(part[1], part[0], &uh, &ul);
    exact_two_sum(part[2], uh, &th, &tl);
    x = th + exact_odd_sum(tl, ul);
  }
  if (x == 0) x = __double_as_longlong(part[0]) < 0 && part[0] == 0 ? -0.0 : 0.0;
  return exact_round_double(fold_constant<D>(), x);
}

/* units * 2^exponent as a double, rounded to odd, so that it can be rounded again to 11 bits or fewer. */
static __device__ __forceinline__ double exact_odd_units(int64_t units, int exponent) {
  const int64_t kept = units >> 10 | ((units & 1023) != 0);
  return units == (units << 11 >> 11) ? (double)units * exact_power(exponent)
                                      : (double)kept * exact_power(exponent + 10);
}

#endif
