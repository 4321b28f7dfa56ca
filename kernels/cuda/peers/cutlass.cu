/* cutlass.cu: see cutlass.h. */
#include "kernels/cuda/peers/cutlass.h"

#include <cutlass/gemm/device/gemm_universal.h>
#include <cutlass/gemm/threadblock/threadblock_swizzle_streamk.h>
#include <cutlass/version.h>

#include "kernels/cuda/common.cuh"
#include "kernels/cuda/dispatch.cuh"

/* What each dtype's kernel is made of: those of CUTLASS's own examples. */
template <int D>
struct cutlass_of;
template <class Element, class Threadblock, class Warp, class Instruction, class Class, int EACH, int STAGES_,
          class Accumulator = float>
struct cutlass_parts {
  typedef Element element;
  typedef Accumulator accumulator;
  typedef Threadblock threadblock;
  typedef Warp warp;
  typedef Instruction instruction;
  typedef Class operators;
  static const int ALIGNMENT = EACH, STAGES = STAGES_;
};
template <int M, int N, int K>
using cutlass_shape = cutlass::gemm::GemmShape<M, N, K>;
template <class Element>
using cutlass_half = cutlass_parts<Element, cutlass_shape<128, 128, 32>, cutlass_shape<64, 64, 32>,
                                   cutlass_shape<16, 8, 16>, cutlass::arch::OpClassTensorOp, 8, 4>;
template <>
struct cutlass_of<FOLD_F16> : cutlass_half<cutlass::half_t> {};
template <>
struct cutlass_of<FOLD_BF16> : cutlass_half<cutlass::bfloat16_t> {};
template <>
struct cutlass_of<FOLD_F32> : cutlass_parts<float, cutlass_shape<128, 128, 8>, cutlass_shape<32, 64, 8>,
                                            cutlass_shape<1, 1, 1>, cutlass::arch::OpClassSimt, 1, 4> {};
template <>
struct cutlass_of<FOLD_F64> : cutlass_parts<double, cutlass_shape<64, 64, 16>, cutlass_shape<32, 32, 16>,
                                            cutlass_shape<8, 8, 4>, cutlass::arch::OpClassTensorOp, 1, 4, double> {};

template <int D, class Swizzle>
struct cutlass_gemm {
  typedef cutlass_of<D> of;
  typedef cutlass::layout::RowMajor rows;
  typedef cutlass::epilogue::thread::LinearCombination<typename of::element, of::ALIGNMENT, typename of::accumulator,
                                                       typename of::accumulator>
      epilogue;
  typedef cutlass::gemm::device::GemmUniversal<
      typename of::element, rows, typename of::element, rows, typename of::element, rows, typename of::accumulator,
      typename of::operators, cutlass::arch::Sm80, typename of::threadblock, typename of::warp,
      typename of::instruction, epilogue, Swizzle, of::STAGES, of::ALIGNMENT, of::ALIGNMENT>
      gemm;

  /* The arguments of one batch, cut into `parts` along k. */
  static typename gemm::Arguments arguments(const struct fold_call *call, size_t batch, int parts) {
    typedef typename of::element E;
    const struct fold_shape *s = &call->shape;
    const E *a = (const E *)call->in[0] + batch * s->m * s->k, *b = (const E *)call->in[1] + batch * s->k * s->n;
    E *out = (E *)call->out + batch * s->m * s->n;
    return typename gemm::Arguments(
        cutlass::gemm::GemmUniversalMode::kGemm, {(int)s->m, (int)s->n, (int)s->k}, parts, {1, 0}, a, b, out, out,
        (int64_t)s->m * (int64_t)s->k, (int64_t)s->k * (int64_t)s->n, (int64_t)s->m * (int64_t)s->n,
        (int64_t)s->m * (int64_t)s->n, (int64_t)s->k, (int64_t)s->n, (int64_t)s->n, (int64_t)s->n);
  }

  static fold_status run(const char *name, const struct fold_call *call, int parts) {
    for (size_t batch = 0; batch < call->shape.b; batch++) {
      const typename gemm::Arguments args = arguments(call, batch, parts);
      cutlass::Status status = gemm::can_implement(args);
      if (status == cutlass::Status::kErrorMisalignedOperand)
        return fold_error(FOLD_UNSUPPORTED, "%s: rows and arrays begin on 16 bytes only", name);
      gemm kernel;
      if (status == cutlass::Status::kSuccess)
        status = kernel(args, (char *)call->scratch + FOLD_SCRATCH_ZEROED, (cudaStream_t)call->stream);
      if (status != cutlass::Status::kSuccess)
        return fold_error(FOLD_UNSUPPORTED, "%s: %s", name, cutlassGetStatusString(status));
      FOLD_TRY(fold_cuda_launched(name));
    }
    return fold_ok();
  }
};

typedef cutlass::gemm::threadblock::GemmIdentityThreadblockSwizzle<8> cutlass_tiles;
typedef cutlass::gemm::threadblock::ThreadblockSwizzleStreamK cutlass_streams;

static bool cutlass_is_aligned(const struct fold_call *call, size_t each) {
  const uintptr_t places = (uintptr_t)call->in[0] | (uintptr_t)call->in[1] | (uintptr_t)call->out;
  return places % 16 == 0 && call->shape.k % each == 0 && call->shape.n % each == 0;
}

static fold_status cutlass_check(const char *name, const struct fold_call *call) {
  const struct fold_shape *s = &call->shape;
  FOLD_TRY(fold_cuda_check(call));
  if (call->launch.block || call->launch.blocks)
    return fold_error(FOLD_UNSUPPORTED, "%s: no launch of one's own", name);
  if ((s->m | s->n | s->k) >> 30) return fold_error(FOLD_UNSUPPORTED, "%s: sizes below 2^30 only", name);
  if (fold_dtype_size(call->dtype) == 2 && !cutlass_is_aligned(call, 8))
    return fold_error(FOLD_UNSUPPORTED, "%s: rows and arrays begin on 16 bytes only", name);
  return fold_ok();
}

template <class Swizzle>
static size_t cutlass_scratch(const struct fold_call *call, int parts) {
  size_t bytes = 0;
  if (fold_results(call->problem, &call->shape) == 0) return FOLD_SCRATCH_ZEROED;
  (void)fold_dispatch_dtype(call->dtype, [&](auto d) {
    typedef cutlass_gemm<decltype(d)::value, Swizzle> own;
    bytes = own::gemm::get_workspace_size(own::arguments(call, 0, parts));
    return fold_ok();
  });
  return FOLD_SCRATCH_ZEROED + bytes;
}
template <class Swizzle>
static fold_status cutlass_run(const char *name, const struct fold_call *call, int parts) {
  FOLD_TRY(cutlass_check(name, call));
  if (fold_results(call->problem, &call->shape) == 0) return fold_ok();
  return fold_dispatch_dtype(call->dtype,
                             [&](auto d) { return cutlass_gemm<decltype(d)::value, Swizzle>::run(name, call, parts); });
}

#define CUTLASS_TEXT_(a, b, c) #a "." #b "." #c
#define CUTLASS_TEXT(a, b, c) CUTLASS_TEXT_(a, b, c)
extern "C" const char *fold_cutlass_version(void) { return CUTLASS_TEXT(CUTLASS_MAJOR, CUTLASS_MINOR, CUTLASS_PATCH); }

static int cutlass_parts_of(const struct fold_subject *subject) { return subject->width ? (int)subject->width : 1; }

extern "C" size_t fold_cutlass_gemm_scratch(const struct fold_subject *subject, const struct fold_call *call) {
  return cutlass_scratch<cutlass_tiles>(call, cutlass_parts_of(subject));
}
extern "C" fold_status fold_cutlass_gemm(const struct fold_subject *subject, const struct fold_call *call) {
  return cutlass_run<cutlass_tiles>(subject->name, call, cutlass_parts_of(subject));
}
/* CUTLASS 4.2 divides by zero where there are no terms. */
extern "C" size_t fold_cutlass_stream_k_scratch(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject;
  if (call->shape.k == 0) return FOLD_SCRATCH_ZEROED;
  return cutlass_scratch<cutlass_streams>(call, 1);
}
extern "C" fold_status fold_cutlass_stream_k(const struct fold_subject *subject, const struct fold_call *call) {
  if (call->shape.k == 0) return fold_error(FOLD_UNSUPPORTED, "%s: no results of no terms", subject->name);
  return cutlass_run<cutlass_streams>(subject->name, call, 1);
}
