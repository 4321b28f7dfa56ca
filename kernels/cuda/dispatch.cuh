/* dispatch.cuh: from the dtype and op of a call, known at run time, to those of a kernel, known at compile time. */
#ifndef FOLD_DISPATCH_CUH
#define FOLD_DISPATCH_CUH

#include <type_traits>

#include "model/problem.h"

template <int N>
using fold_constant = std::integral_constant<int, N>;

template <class D, class F>
static fold_status fold_dispatch_op(enum fold_op op, D dtype, F f) {
  switch (op) {
    case FOLD_SUM: return f(dtype, fold_constant<FOLD_SUM>());
    case FOLD_PROD: return f(dtype, fold_constant<FOLD_PROD>());
    case FOLD_MAX: return f(dtype, fold_constant<FOLD_MAX>());
    case FOLD_MIN: return f(dtype, fold_constant<FOLD_MIN>());
    default: return fold_error(FOLD_UNSUPPORTED, "operation %d is unknown", (int)op);
  }
}

/* Calls f(fold_constant<dtype>). */
template <class F>
static fold_status fold_dispatch_dtype(enum fold_dtype dtype, F f) {
  switch (dtype) {
    case FOLD_F16: return f(fold_constant<FOLD_F16>());
    case FOLD_BF16: return f(fold_constant<FOLD_BF16>());
    case FOLD_F32: return f(fold_constant<FOLD_F32>());
    case FOLD_F64: return f(fold_constant<FOLD_F64>());
    default: return fold_error(FOLD_UNSUPPORTED, "dtype %d is unknown", (int)dtype);
  }
}

/* Calls f(fold_constant<dtype>, fold_constant<op>) for the call's dtype and op. */
template <class F>
static fold_status fold_dispatch(const struct fold_call *call, F f) {
  return fold_dispatch_dtype(call->dtype, [&](auto dtype) { return fold_dispatch_op(call->problem->op, dtype, f); });
}

#endif
