/* foldproof.h: exact reductions and the bits of declared orders, as a C library: link with -lfoldproof, or load
 * libfoldproof.so by ctypes, cffi or their like.
 *
 * What a parallel reduction must answer, without a GPU: the exact result rounded once; the bits of a declared order
 * (what `foldproof list orders` names); and how far a result is from the exact one, beside the bound that theory gives.
 *
 * Arrays are row-major and contiguous in host memory, of dtype "f16", "bf16", "f32" or "f64", aligned to the element
 * and to no more; a reduction takes rows x cols elements and gives `rows` results. Operations are "sum", "prod", "max",
 * "min". Operands of 16 bits are accumulated in f32 and rounded once. Empty rows give +0, 1, -infinity, +infinity. NaN
 * propagates; -0 < +0 in max and min.
 *
 * Every function that returns int returns 0, or one of the codes below; then foldproof_error() tells what was wrong in
 * one line, and what the call was to write means nothing. No function prints, exits, or changes the rounding mode, and what
 * is computed depends on neither that nor flushing to zero. Calls may be made from
 * several threads at once, but for foldproof_verify.
 */
#ifndef FOLDPROOF_H
#define FOLDPROOF_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
  FOLDPROOF_BAD_INPUT = 2,    /* an unknown name, a null pointer, a size past the address space; or memory is short */
  FOLDPROOF_UNSUPPORTED = 77, /* there is no such thing for this input, for example no digits of an enclosed product */
};

/* "0.2.0". */
const char *foldproof_version(void);

/* What the last call that failed in this thread had to say; "" where none did. Valid until the thread's next call. */
const char *foldproof_error(void);

/* The name of the k-th order ("rows/par_256"); NULL past the last. `formula`, unless NULL, receives its definition in
 * one line. */
const char *foldproof_order(size_t k, const char **formula);

/* Reduces each row in the order's sequence: the bits that every implementation of that order must give, on the host or
 * on a GPU. `out` receives `rows` results of dtype and must not overlap `in`. On `threads` threads (0: all; at most 256);
 * the bits do not depend on them. */
int foldproof_replay(const char *order, const char *dtype, const char *op, const void *in, size_t rows, size_t cols,
                     unsigned threads, void *out);

/* The exact result of each row, rounded once, to nearest even, to dtype `to`: sums by a superaccumulator, products by
 * intervals in MPFR. `out` receives `rows` results of `to` and must not overlap `in`. A sum is NaN if a term is NaN or
 * both infinities occur, else the infinity, else the rounded sum; of terms that are all -0 it is -0. */
int foldproof_exact(const char *dtype, const char *op, const void *in, size_t rows, size_t cols, const char *to,
                    unsigned threads, void *out);

/* All digits of the exact result of n terms: "-1.25", "3.5e-320", "nan", "inf", "-inf". `text` receives at most `size`
 * bytes with the ending 0; *needed, unless NULL, how many there are with it, also where `size` is too small
 * (FOLDPROOF_BAD_INPUT) or 0. FOLDPROOF_UNSUPPORTED for a product with too many digits to be written. */
int foldproof_exact_text(const char *dtype, const char *op, const void *in, size_t n, char *text, size_t size,
                         size_t *needed);

/* One result against the exact one. Errors are rounded up, bounds too: error <= bound is a fact if it is true here. */
struct foldproof_measure {
  double error;   /* |got - exact| */
  double ulps;    /* the same in units of the last place, in dtype, of the exact result */
  double bound;   /* what `error` can be at most in that order: gamma_h sum |x|, with the 16-bit types' last rounding; 0
                     * for max and min; NaN where the theorem's conditions fail (terms or partial results not finite) */
  double exact;   /* the exact result, rounded to nearest */
  double abs_sum; /* sum |x| over the finite terms */
  double condition; /* sum |x| / |sum x| for a sum: infinity when it cancels to zero */
};

/* Measures `got`, one value of dtype, as the reduction of n terms. `order` names the order whose height the bound goes
 * by; NULL: any order, height n - 1. Where got or the rounded exact result is not finite, there is no distance: error
 * and ulps are 0 if both are the same (NaN as NaN), else infinity. */
int foldproof_measure(const char *order, const char *dtype, const char *op, const void *in, size_t n, const void *got,
                      struct foldproof_measure *measure);

/* The order's tree for n terms: the greatest number of additions on a path from a term to the result, and a hash that
 * two orders share if their trees are equal up to swapped operands. Either pointer may be NULL. FOLDPROOF_UNSUPPORTED
 * for host/sorted's fingerprint, whose tree depends on the terms. */
int foldproof_tree(const char *order, size_t n, uint64_t *height, uint64_t *fingerprint);

/* A hash of each row's bits (XXH3-64), a NaN being as any: rows of the same bits have the same, two other rows the same by a chance of
 * 2^-64. dtype may be "e4m3" or "e5m2" too. `out` receives `rows` of them. */
int foldproof_hash(const char *dtype, const void *in, size_t rows, size_t cols, uint64_t *out);

/* The name of the k-th claim that a list of names, presets ("reproducible") and globs stands for; NULL past the last, and, with
 * foldproof_error telling why, where the list has an unknown word. */
const char *foldproof_claim(const char *list, size_t k);

struct foldproof_guest_table; /* foldproof_guest.h */

/* A claim, and why nothing that the callbacks do could refute it. */
struct foldproof_unseen {
  const char *claim, *reason;
};

/* What is judged, and on what; lists are comma-separated, and NULL or 0 is what stands in brackets. */
struct foldproof_verify_options {
  size_t size;          /* bytes of this structure, as the caller knows it */
  const char *subjects; /* globs; may name foldproof's own subjects too [the table's] */
  const char *claims;   /* names or presets: judged are these alone, promised or not [all that the subjects promise] */
  const char *fixtures; /* globs of cases, fixtures or files [all of the set] */
  const char *set;      /* "default", "large" or "all" ["default"] */
  const char *folder;   /* of fixtures [$FOLDPROOF_FIXTURES, or the installed ones] */
  const char *const *npy; /* paths of n_npy arrays, rows x cols, judged instead of fixtures [none] */
  size_t n_npy;
  const char *problem; /* of those arrays ["sum"] */
  unsigned repeats;    /* of run_to_run [3] */
  const uint64_t
      *around; /* n_around numbers of rows, 16 at most, about which batch_invariant tries every size [none] */
  size_t n_around;
  /* n_unseen claims to skip: the caller, which stands between foldproof and the function that is judged, hides what they are about
   * [none] */
  const struct foldproof_unseen *unseen;
  size_t n_unseen;
  uint32_t backwards; /* 1: the last case first, to compare with another process, for what the first ones decide [0] */
};

/* One judgement, as a line of JSON as `foldproof verify --jsonl` writes it; the text is gone after the call. Other than 0: judge no
 * more, which is no failure. */
typedef int (*foldproof_take)(const char *json, void *context);

/* Judges a table of subjects IN THIS PROCESS and in this thread: one that crashes or hangs takes the process with it (`foldproof verify
 * --guest` keeps them apart). Returns 0 where all was judged, or `take` wanted no more: the verdicts are what `take` was told.
 * FOLDPROOF_BAD_INPUT for an unknown name, a table that is not as foldproof_guest.h says, a selection that judges nothing, or while
 * the process is judging already. fresh_process is skipped, with its reason. During the call the thread has the default arithmetic and
 * the C locale, and SIGSEGV and SIGBUS are handled; at the end these are as before, and OpenMP's other threads are ended. What other threads
 * change of the process meanwhile (handlers of signals, limits, the environment) is told of the table's subjects. */
int foldproof_verify(const struct foldproof_guest_table *table, const struct foldproof_verify_options *options,
                     foldproof_take take, void *context);

/* What is revealed; 0 or NULL is what stands in brackets. */
struct foldproof_reveal_options {
  size_t size;         /* bytes of this structure, as the caller knows it */
  size_t n;            /* terms of a sum [64] */
  const char *dtype;   /* of the terms ["f32"] */
  const char *problem; /* "sum" or "dot" ["sum"] */
  size_t rows;         /* of a launch [1,024, or as many as make four million terms] */
};

/* The tree by which the table's first subject sums n terms, as seen from outside, in this process and thread, which are as for
 * foldproof_verify. `take` is given one line of JSON, as `foldproof reveal --format json` prints it. FOLDPROOF_UNSUPPORTED where no sum
 * of that dtype shows an order. */
int foldproof_reveal(const struct foldproof_guest_table *table, const struct foldproof_reveal_options *options,
                     foldproof_take take, void *context);

#ifdef __cplusplus
}
#endif
#endif
