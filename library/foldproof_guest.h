/* foldproof_guest.h: a reduction of your own, judged by foldproof without being compiled into it.
 *
 * Build a shared object that defines one function, foldproof_guest(), which returns a table of subjects; then
 *
 *     foldproof verify --guest ./mine.so
 *
 * For C and C++; nothing needs to be linked. foldproof loads the object in processes of its own: a subject that
 * crashes, hangs or exits loses that case and no other. Whatever a subject claims, foldproof also checks that it writes
 * all results, stays within its memory, keeps its input and leaves no trace in its process.
 *
 * Both sides say how large their structures are. So a guest that was built with an older version of this header still
 * loads, and an older foldproof loads newer guests as far as it knows their fields. Set what you don't use to zero; new
 * fields come at the end, and in them 0 means the former behaviour.
 */
#ifndef FOLDPROOF_GUEST_H
#define FOLDPROOF_GUEST_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FOLDPROOF_GUEST_ABI 1

/* The dtypes of terms, accumulators and results. In the table they are given by name: "f16", "bf16", "f32", "f64",
 * "e4m3", "e5m2", "i8", "i32", "i64". */
enum foldproof_guest_dtype {
  FOLDPROOF_GUEST_F16 = 1,  /* IEEE binary16 */
  FOLDPROOF_GUEST_BF16 = 2, /* bfloat16 */
  FOLDPROOF_GUEST_F32 = 3,
  FOLDPROOF_GUEST_F64 = 4,
  FOLDPROOF_GUEST_E4M3 = 5, /* OCP 8-bit floats */
  FOLDPROOF_GUEST_E5M2 = 6,
  FOLDPROOF_GUEST_I8 = 7, /* integers in two's complement */
  FOLDPROOF_GUEST_I32 = 8,
  FOLDPROOF_GUEST_I64 = 9
};

/* What is folded. In the table it is given by name: "sum", "prod", "max", "min" of the elements of each row; "dot", the
 * sum of the products of the elements of a row of each of two inputs; "sumsq" and "asum", the sum of the squares of each row and of its magnitudes; "matvec", a matrix (`in`, rows x cols) times a
 * vector (`other`, cols elements); "matmul", `extent[0]` products of a matrix (m x k) and one of k x n;
 * "scan", "scan_max" and "scan_min" of each row: result j folds the terms up to j, rows x cols results; "exclusive_scan", the sums of
 * the terms before j. "keyed": `in` has k rows of n values, `other` k keys (uint32_t, below m), and each of the m rows of results
 * is the sum of the rows whose key it is, +0 where there are none. "rows", which must be the only one, is any
 * function of each row by itself: as nothing is known of it, no claim about its value or its order can be judged. */
enum foldproof_guest_problem {
  FOLDPROOF_GUEST_SUM = 1,
  FOLDPROOF_GUEST_PROD = 2,
  FOLDPROOF_GUEST_MAX = 3,
  FOLDPROOF_GUEST_MIN = 4,
  FOLDPROOF_GUEST_DOT = 5,
  FOLDPROOF_GUEST_ROWS = 6,
  FOLDPROOF_GUEST_MATVEC = 7,
  FOLDPROOF_GUEST_MATMUL = 8,
  FOLDPROOF_GUEST_SCAN = 9,
  FOLDPROOF_GUEST_KEYED = 10,
  FOLDPROOF_GUEST_SCAN_MAX = 11,
  FOLDPROOF_GUEST_SCAN_MIN = 12,
  FOLDPROOF_GUEST_EXCLUSIVE_SCAN = 13,
  FOLDPROOF_GUEST_SUMSQ = 14,
  FOLDPROOF_GUEST_ASUM = 15
};

/* One run: rows x cols elements of each input, row-major and contiguous unless `strides` is set, become `rows` results.
 * Inputs and results need not be aligned to more than their element. On engine "cuda" all pointers are to device
 * memory, and the work goes to `stream`; use the current device. Results must depend only on this call's arguments. */
struct foldproof_guest_call {
  size_t size;                 /* bytes of this structure, as the caller knows it */
  int32_t problem, dtype;      /* enum foldproof_guest_problem; the terms' enum foldproof_guest_dtype */
  int32_t accumulator, result; /* as the table declares them for these terms */
  uint64_t rows, cols;
  const void *in, *other; /* other: the second input of "dot", "matvec" and "matmul", the keys of "keyed", else NULL */
  void *out;
  /* What `scratch` asked for, 256-byte aligned. Its first 4096 bytes are zero before a run and must be zero after it;
   * the rest may hold anything. */
  void *scratch;
  void *stream; /* a cudaStream_t, NULL for the default stream */
  /* A launch to try: host threads; CUDA blocks; threads of a block. 0: your own choice. */
  uint32_t threads, blocks, block;
  char *why;        /* room for a line that says why a run failed or is not supported, of */
  size_t why_bytes; /* so many bytes */
  /* Element (r, c) of an input lies at r * row_stride + c * col_stride elements: cols and 1, unless the table says that
   * the subject takes others; all rows are one row of memory where row_stride is 0. A vector has col_stride alone. */
  uint64_t row_stride, col_stride;
  /* The same by axis, for every problem: of results (batches, m, n), and k, along which terms are folded. Rows have m and
   * k. The extent is 1 on axes that the problem lacks. Strides are those of `in`, `other` and `out`, in elements; 0 on
   * axes that the array lacks. */
  uint64_t extent[4];
  int64_t stride[3][4];
};

/* What a run returns. With UNSUPPORTED the case is skipped, with `why`. Any other code: the run failed, and the case is
 * broken. */
enum { FOLDPROOF_GUEST_OK = 0, FOLDPROOF_GUEST_UNSUPPORTED = 77 };

/* Lists are comma-separated names. NULL or "" means what is in brackets. */
struct foldproof_guest_subject {
  const char *name;        /* "mine/sum": letters, digits and / _ - . @ + */
  const char *about;       /* one line [the name] */
  const char *problems;    /* ["sum"] */
  const char *dtypes;      /* of the terms ["f32"] */
  const char *accumulator; /* a dtype, or "terms": that of the terms [f64 for f64 and for results in f64, else f32] */
  const char *result;      /* a dtype, "accumulator", or "terms" ["terms"] */
  const char *order;       /* the declared order in which terms are joined ("foldproof list orders") [none] */
  /* What it claims ("foldproof list claims"), or presets: "deterministic", "batch-invariant", "reproducible",
   * "accurate", "promises" ["bounded,run_to_run,fresh_process"; of problem "rows"
   * "run_to_run,fresh_process,batch_invariant,alignment_invariant"; and "replays" of a declared order]. `same_bits_as` is
   * a claim, too. */
  const char *claims;
  /* The subject whose bits it claims, one of foldproof's or a guest's: "NAME" on the same engine, or "ENGINE:NAME"
   * [none]. */
  const char *same_bits_as;
  const char *engine; /* "host" or "cuda" ["host"] */
  /* How it adds, which decides its error bound: "plain", "kahan", "neumaier", "exact", or "truncated",
   * as tensor cores add: without rounding to nearest ["plain"]. */
  const char *method;
  int (*run)(const struct foldproof_guest_call *call, void *context);
  size_t (*scratch)(const struct foldproof_guest_call *call, void *context); /* bytes that a run needs; NULL: none */
  void *context;                                                             /* yours */
  uint32_t strides; /* 1: it takes inputs that are not contiguous, by the call's strides [0] */
  uint32_t finite;  /* 1: it takes no NaN and no infinity: no input has them [0] */
  /* Claims about the size of its errors, each if it is not 0: within the bound of a plain sum in that order, whatever the
   * guest's own order is; at most so many ulps of the exact result, wherever that is finite. */
  const char *accurate_as;
  double ulps;
  uint32_t skips_nan; /* 1: it leaves out terms that are NaN: no input has them, infinities stay [0] */
  uint32_t
      wraps; /* 1: results that are integers wrap, modulo 2^bits, where they leave the range; else they must not leave it [0] */
  /* To what it may round the factors of "dot", "sumsq", "matvec" and "matmul" before it multiplies, to nearest or toward zero:
   * "tf32" (8 bits of exponent, 10 of fraction), "bf16", "f16" [none: it multiplies them as they are]. */
  const char *factor_dtype;
};

struct foldproof_guest_table {
  uint32_t abi;          /* FOLDPROOF_GUEST_ABI */
  uint32_t subject_size; /* sizeof(struct foldproof_guest_subject) */
  size_t n;
  const struct foldproof_guest_subject *subjects;
};

/* You define this function. What it returns must stay valid. */
#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
const struct foldproof_guest_table *
foldproof_guest(void);

#ifdef __cplusplus
}
#endif
#endif
