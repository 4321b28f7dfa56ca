/* subject.h: a reduction under test, and the one table of them (registry.c).
 *
 * Adding a kernel is one file that defines a `fold_run`, declared in a header, and one row of the table. Subjects know
 * no claim's meaning, no oracle and no output format: a row only names what it promises.
 */
#ifndef FOLD_SUBJECT_H
#define FOLD_SUBJECT_H

#include <stdint.h>

#include "model/claim.h"
#include "model/problem.h"

#ifdef __cplusplus
extern "C" {
#endif

struct fold_subject;

/* Reduces call->in[0] to call->out, both in the engine's memory. FOLD_UNSUPPORTED skips the case with its reason. A run must depend
 * on the call only: no state is kept from one run to the next. */
typedef fold_status fold_run(const struct fold_subject *subject, const struct fold_call *call);

/* How many bytes of call->scratch a run of this call needs; 0 for none. */
typedef size_t fold_scratch(const struct fold_subject *subject, const struct fold_call *call);

/* A collective's input may be cut at multiples of this many columns; at least 1. */
typedef size_t fold_grain(size_t cols);
/* The largest number of joins that a term passes through, for `cols` columns over `ranks` ranks. */
typedef uint64_t fold_height_over(size_t cols, unsigned ranks);

/* How an accumulator's or a result's dtype depends on that of the terms. */
enum fold_rule {
  FOLD_USUAL,          /* an accumulator: the one in dtype.def; a result: the terms' own dtype */
  FOLD_OF_TERMS,       /* an accumulator: the terms' own dtype */
  FOLD_OF_ACCUMULATOR, /* a result: its accumulator's */
  FOLD_RULES
};
/* That dtype, whatever the terms are. */
#define FOLD_ALWAYS(dtype) (FOLD_RULES + (dtype))

struct fold_subject {
  const char *name; /* "rows/par_256"; with the engine it is unique */
  enum fold_engine engine;
  const char *about;         /* one line */
  unsigned dtypes, problems; /* masks: 1u << fold_dtype, 1u << fold_problem_id */
  const char *order;         /* the declared order's name (order.h); NULL where there is none */
  enum fold_method method;
  unsigned truncated;            /* a mask of the dtypes of terms for which the method is FOLD_TRUNCATED instead */
  unsigned accumulator, result;  /* enum fold_rule, or FOLD_ALWAYS(dtype) */
  enum fold_factor_dtype factor; /* to what it may round the factors of products */
  uint64_t claims;               /* for sums and products: mask of FOLD_CLAIM(...) */
  uint64_t named;       /* of these, those that a user has named: each gets a verdict, if only that it is skipped */
  uint64_t unjudgeable; /* requested claims that this subject can't be tested for; they are skipped, with the reason */
  uint64_t asked;       /* of a guest: those that its table names, or the usual ones; its door adds the tidy ones */
  const char *twin;     /* the subject of same_bits_as: "NAME" on the same engine, or "ENGINE:NAME" */
  const char *accurate_as; /* the order of claim accurate_as; NULL: none */
  double most_ulps;        /* of claim ulps; 0: none */
  unsigned width;          /* for the run function: threads a row, or another parameter of its own */
  fold_run *run;
  fold_scratch *scratch; /* NULL: none */
  /* For collectives: the columns are divided over the ranks at multiples of grain(cols) (fold_comm_cut); NULL:
   * anywhere. An all-reduce of vectors (`vector`) takes one column a rank and no other shape. */
  fold_grain *grain;
  /* For a collective that declares no order but knows its tree's height. NULL: the height is its order's; without an
   * order it is cols - 1, which no order exceeds. */
  fold_height_over *height;
  bool vector;
  size_t longest;  /* cases whose rows have more terms are not judged, for their runs would take too long; 0: all are */
  bool strides;    /* it takes inputs that are not contiguous (struct fold_call) */
  bool swept;      /* it is judged at each size of the set "products", too; other compiled subjects are not */
  bool finite;     /* it takes finite terms only */
  bool wraps;      /* a sum or product of integers that leaves the range wraps, modulo 2^bits */
  bool skips_nan;  /* NaN is to it as no term, which no oracle knows: it gets none */
  bool any_thread; /* its calls may come from any thread of the process */
  bool unknown;    /* problem "rows" of a guest: an unknown function of each row; it is run on the cases of sums */
  bool any_gpu; /* its documentation promises the same bits on every GPU (gpu_to_gpu); a declared order implies that */
  const struct fold_guest_row *guest; /* for a subject that a user brought (guest.h); else NULL */
  const char *const
      *why_skipped; /* by claim: why it can't be judged through a guest's door, or NULL; NULL: all can be */
  bool peer;        /* it is another library's: its known defects are counted separately (fold_fact) */
};

/* For terms of that dtype. */
enum fold_method fold_subject_method(const struct fold_subject *subject, enum fold_dtype terms);
enum fold_dtype fold_subject_accumulator(const struct fold_subject *subject, enum fold_dtype terms);
enum fold_dtype fold_subject_result(const struct fold_subject *subject, enum fold_dtype terms);
struct fold_arithmetic fold_subject_arithmetic(const struct fold_subject *subject, enum fold_dtype terms);

/* Ways in which a result is wrong, and the only terms for which it may be. */
enum fold_lapse {
  /* Of max and min: */
  FOLD_LOSES_NAN = 1,  /* a term is NaN, and the result is another of the row's terms */
  FOLD_LOSES_SIGN = 2, /* the exact result is a zero, there are zeros of both signs, and the result is the wrong one */
  /* Of a sum: */
  FOLD_LOSES_INFINITY = 4,   /* the exact result and a term are infinite, and the result is NaN */
  FOLD_LOSES_SUBNORMALS = 8, /* f32: the exact result rounds to a subnormal number, but the result is zero */
  /* Of a sum by CUB's binned accumulator, whose bins are not set up before the first terms fall into the last ones: */
  FOLD_LEAST_BINS = 16, /* a term is below 2^-106 (f64: 2^-936), and the error is below 2^-64 (2^-838) */
  FOLD_WRONG_BINS = 64, /* f64: one of n terms is subnormal and not zero, and the error is below n 2^-94 */
  /* The same accumulator scales sums of large f64 down where it should scale them up again: */
  FOLD_TOP_BINS = 32, /* f64: a term is 2^864 or above, and the result is smaller than the exact one */
  /* Of products whose last term is a bias: */
  FOLD_ROUNDS_BEFORE_BIAS = 128, /* the sum of all terms but the last one is rounded to the results' dtype, too */
  /* Of products of 16-bit factors: */
  FOLD_LOSES_TAIL = 256, /* the last n mod 64 of n terms are missing */
};

/* A known defect of a peer: a refutation that was seen, and in which versions. It covers only these claims, operations
 * and lapses. Every wrong row (for `bounded`: above its bound; else: not exact) must be one of these lapses. */
struct fold_fact {
  const char *subject;
  uint64_t claims;      /* of bounded, correctly_rounded, permutation_invariant: the runs that run/known_defects.c has */
  unsigned ops, lapses; /* masks: 1u << FOLD_MAX ...; enum fold_lapse */
  /* The versions that have it, as given by fold_peer_version. Each entry is the first and the last one of a series in
   * which it was seen; the versions between these are taken to have it too. */
  struct fold_versions {
    const char *first, *last;
  } seen[3];
  const char *what;
};
const struct fold_fact *fold_facts(size_t *n);
/* The library behind a peer: CCCL as compiled in ("CCCL 3.0.1"), NCCL and MPI as loaded; "" for a subject that is no
 * peer. */
void fold_peer_version(const struct fold_subject *subject, char text[64]);

/* The table; mutants are not in it (tests/mutants.h). */
const struct fold_subject *fold_subjects(size_t *n);
const struct fold_subject *fold_subject_find(const char *name, enum fold_engine engine);

#ifdef __cplusplus
}
#endif
#endif
