/* evidence.h: results, the terms and the subject that they come from, and the judges that need no more than these.
 *
 * Judges of results know no rig, no trial and no command: verify, bench and study call the same functions. They ask the terms
 * for the exact result, and the subject for what it said of itself: its method, its order, its engine.
 */
#ifndef FOLD_EVIDENCE_H
#define FOLD_EVIDENCE_H

#include "fixtures/fixture.h"
#include "judge/sample.h"
#include "model/subject.h"
#include "oracles/exact.h"
#include "oracles/narrowing.h"
#include "oracles/panel.h"
#include "oracles/prefixes.h"

enum fold_verdict { FOLD_HELD, FOLD_REFUTED, FOLD_SKIPPED, FOLD_BROKEN, FOLD_VERDICTS };
const char *fold_verdict_name(enum fold_verdict verdict);
/* -1 where no verdict has that name. */
int fold_verdict_parse(const char *name);

/* What a judge found. `row`, `got` and `want` are of the row that refuted, or of the worst one. */
struct fold_finding {
  enum fold_verdict verdict;
  char reason[200];   /* why refuted, skipped or broken; may be empty when held */
  bool miscounted;    /* refuted: the reason says which terms are missing, or counted twice */
  bool lost_tail;     /* refuted: all wrong results lack the same last terms, as the reason says */
  bool outside;       /* refuted by two runs: one is outside its bound, the other within */
  char sides[240];    /* refuted by two runs: how far each is from the exact result; may be empty */
  size_t rows;        /* how many results there are to judge */
  size_t sampled;     /* how many of them are in the sample that is judged; 0: all are judged */
  size_t unjudged;    /* rows that have no bound; if other rows of the case have one, `reason` says so even when held */
  size_t comparisons; /* results (or guards, or bytes of input) that were looked at: held over none is not held */
  size_t row;
  bool compared; /* got and want mean something */
  bool moved;    /* they are of a run whose arguments were at other addresses than the base run's, or of fewer rows */
  bool of_other_run; /* they are not results of the row's own terms */
  uint64_t got, want;
  double ulps;     /* greatest |got - exact| in units of the exact result's last place; NaN where not measured */
  double backward; /* of a sum: greatest |got - exact| / (u sum |x|), u of fold_error_unit; NaN where not measured */
  /* Of an undeclared order: greatest `ulps` of a row whose condition is at most FOLD_WELL_CONDITIONED, if above
   * FOLD_NOTABLE_ULPS; else 0. */
  double off;
  double fraction;           /* the same error over its bound; NaN where there is none */
  enum fold_telling telling; /* of a claim about order that held: whether the input could have told */
  uint64_t threads;          /* bit n: a run with n threads was compared (launch_invariant) */
};

/* An error that no reasonable order of additions makes, though the worst of all orders does: a notice, no verdict. */
enum { FOLD_WELL_CONDITIONED = 16, FOLD_NOTABLE_ULPS = 1000 };

/* Why there is nothing to judge. */
#define FOLD_NO_RESULTS "there are no results"
#define FOLD_NO_TERMS "there are no terms"

/* Broken until a judge says otherwise: a judge that forgets to speak does not turn green. */
struct fold_finding fold_finding_open(size_t rows);
/* Held, over what was compared. If nothing was compared: skipped where there is no row, else broken, since the judge is
 * at fault. */
void fold_find_held(struct fold_finding *finding);
void fold_find_refuted(struct fold_finding *finding, const char *format, ...) __attribute__((format(printf, 2, 3)));
void fold_find_skipped(struct fold_finding *finding, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* UNSUPPORTED becomes skipped, everything else broken. */
void fold_find_failed(struct fold_finding *finding, fold_status status);
/* The finding shows this row; its error too, unless it is NaN. */
void fold_find_row(struct fold_finding *finding, size_t row, uint64_t got, uint64_t want, double ulps);
/* Keep the greatest error seen so far, and the row that has it; NaN: none was measured. */
void fold_find_worst(struct fold_finding *finding, size_t row, uint64_t got, uint64_t want, double ulps,
                     double fraction);
void fold_find_backward(struct fold_finding *finding, double backward);
/* Counts the rows as compared; refutes by the first that differs in bits. True when all agree. All NaNs count as the
 * same. */
bool fold_find_same(struct fold_finding *finding, enum fold_dtype dtype, const void *got, const void *want, size_t rows,
                    const char *what);
/* The same where only the hashes of results are at hand. */
bool fold_find_same_hash(struct fold_finding *finding, uint64_t got, uint64_t want, const char *what);

/* Replaces each NaN among results by the format's default NaN, in place: no claim is about a NaN's bits. */
void fold_results_unify(enum fold_dtype dtype, void *results, size_t rows);
/* XXH3-64 of results, with each NaN taken as the same one: fresh_process compares it, and records keep it. */
uint64_t fold_results_hash(enum fold_dtype dtype, const void *results, size_t rows);

/* A result that its bound allows. If another subject of the same height, arithmetic and, for a product, order gives
 * it too, it need not be weighed again, and its truth need not be at hand. */
struct fold_weighed {
  bool known, conditioned; /* conditioned: its terms hardly cancel (FOLD_WELL_CONDITIONED) */
  struct fold_arithmetic how;
  const struct fold_order *order;
  uint64_t height, got, want;
  bool wraps;
  double ulps, backward, fraction;
};

/* A truth that is kept: about 2.5 KB. */
struct fold_kept_truth {
  bool open;
  size_t of; /* the result's number plus one; 0: of none */
  struct fold_truth truth;
};

/* The terms of a case, and what is known of them. All of it is made when it is first needed, and shared by all subjects: truths,
 * the results that were weighed last, and the replay of the last order. Truths are kept of every result of a case of up to
 * FOLD_TRUTHS_KEPT results, or of that sample of them, and else of the few that were asked for last: a larger case takes 80 bytes
 * a result. */
enum { FOLD_TRUTHS_KEPT = FOLD_SAMPLED };
struct fold_truths {
  const struct fold_case *c;
  const void
      *in[FOLD_INPUTS];      /* in host memory, contiguous; NULL: no process has them whole, and all truths are given */
  struct fold_sample judged; /* which results judges look at */
  struct fold_slots slots;   /* once they are needed */
  struct fold_kept_truth *kept;
  struct fold_weighed *weighed; /* some a result: */
  size_t n_kept, n_weighed;
  struct fold_prefixes prefixes; /* of a scan's row whose first term is at: */
  const void *prefixes_of;
  const struct fold_order *replayed_order, *high_order;
  struct fold_arithmetic replayed_how;
  bool replayed_wide;
  void *replayed;
  uint64_t height, *heights; /* of all terms; of a scan's prefixes, each plus one, 0 where it is not known */
  enum fold_telling telling[FOLD_DTYPES][FOLD_DTYPES]; /* by accumulator and result, once it is known */
};
/* The case's call, sorted. */
fold_status fold_truths_call(struct fold_truths *truths, struct fold_call *call);
fold_status fold_truths_open(struct fold_truths *truths, const struct fold_case *c, const void *input);
void fold_truths_close(struct fold_truths *truths);
/* BAD_INPUT, naming the fixture's place, where the case states a sum that is not the exact one. */
fold_status fold_truths_check_expected(struct fold_truths *truths);
/* The truth about a result, valid until the next call. */
fold_status fold_truths_row(struct fold_truths *truths, size_t row, const struct fold_truth **truth);
/* The height of an order's tree for all of the terms; and for n of them. */
fold_status fold_truths_height(struct fold_truths *truths, const struct fold_order *order, uint64_t *height);
fold_status fold_truths_height_of(struct fold_truths *truths, const struct fold_order *order, size_t n,
                                  uint64_t *height);
/* Whether the terms could tell one order from another (panel.h) if they are joined and rounded as the subject does it.
 * Ask this only while no subject's run can have changed how threads round. */
fold_status fold_truths_telling(struct fold_truths *truths, const struct fold_subject *subject,
                                enum fold_telling *telling);

struct fold_evidence {
  const struct fold_subject *subject; /* whose results */
  struct fold_truths *truths;         /* of which terms */
  unsigned ranks;                     /* by how many; 0 where there are none */
  const void *results;                /* patterns in memory of fold_evidence_result_dtype, one a row */
};
/* The dtype of its results. */
enum fold_dtype fold_evidence_result_dtype(const struct fold_evidence *evidence);

/* The height of the declared order, or of a collective's shape. Where none is known it is n - 1, which no order
 * exceeds. */
fold_status fold_evidence_height(const struct fold_evidence *evidence, uint64_t *height);
/* The results of the declared order's replay, valid until the next call for these terms. UNSUPPORTED where no order is
 * declared. */
fold_status fold_evidence_replay(const struct fold_evidence *evidence, const void **results);

/* The dtype whose unit roundoff u scales the error of a sum: the narrower of accumulator and result. No sum does
 * better than about u times the exact result, and one in few additions is off by about u times the sum of magnitudes. */
enum fold_dtype fold_error_unit(struct fold_arithmetic how);
/* The error of a sum over u sum |x|; NaN of a product, of max and of min. Below the smallest normal number, from where on
 * all roundings are of one size, that number stands for the sum of magnitudes: of a right sum this never is above 1. */
double fold_error_backward(mpfr_srcptr error, const struct fold_truth *truth, struct fold_arithmetic how);

/* One result against the theorem of its method (bound.h). */
struct fold_weighing {
  const struct fold_truth *truth;
  struct fold_arithmetic how;
  uint64_t height;
  const struct fold_order *tree;              /* whose height it is; NULL: n - 1. Read where a result has fewer terms */
  const struct fold_order *order;             /* of a product whose order is known; else NULL */
  const struct fold_running_product *running; /* what that order gives; else NULL */
  struct fold_narrowing narrowing;            /* what rounding the factors of its terms may change */
  const struct fold_case *c;                  /* and */
  size_t row;                                 /* its number, for the finding */
  bool wraps;                                 /* an integer that leaves the range may wrap, as the subject says */
  bool explained; /* a wrong integer's value shows how it came about, and the finding says so */
  uint64_t got;
  /* The outcome, for a finite result: */
  mpfr_t error, bound;
  double ulps, backward, fraction; /* NaN if the result is not finite, or there is none (fold_finding) */
};
void fold_weighing_init(struct fold_weighing *weighing);
void fold_weighing_free(struct fold_weighing *weighing);
/* False where the theorem does not allow the result; the finding then says so. *status is FOLD_UNSUPPORTED, with the
 * reason, where there is no bound. */
bool fold_weigh(struct fold_weighing *weighing, struct fold_finding *finding, fold_status *status);

/* Exact: term t, of which 113 bits hold each product. */
__float128 fold_term_value(const struct fold_terms *terms, size_t t);
/* Adds to the reason of a refuted sum which of its terms are missing or counted twice, or how many, where the difference from the
 * exact sum proves it, and says that it does (miscounted). */
void fold_find_missing(const struct fold_evidence *evidence, const struct fold_weighing *weighing,
                       struct fold_finding *finding);
/* Adds how many of their last terms all refuted floats from `row` on lack, if one number alone explains them. */
fold_status fold_find_common_tail(const struct fold_evidence *evidence, size_t row, struct fold_finding *finding);
/* fold_weigh for a result that is an integer, exactly right or wrong. Above 0 the error is no fraction of a bound. */
bool fold_weigh_integer(struct fold_weighing *weighing, struct fold_finding *finding);

/* The same result of the same row among those that were weighed by the same bound; NULL. Keeps one that is allowed. */
const struct fold_weighed *fold_truths_find_weighed(const struct fold_truths *truths, const struct fold_weighing *w);
void fold_truths_keep_weighed(struct fold_truths *truths, const struct fold_weighing *w);
/* Whether the terms of a sum hardly cancel. */
bool fold_truth_is_conditioned(const struct fold_truth *truth);

/* A result that a row of the evidence may have, against the exact one. */
struct fold_weight {
  bool known;      /* the exact result is, and there is a bound */
  bool allowed;    /* it is within its bound */
  double fraction; /* its error over the bound; NaN: it is not finite, or is exact or wrong (max, min) */
};
struct fold_weight fold_weight_of(const struct fold_evidence *evidence, size_t row, uint64_t got);
/* Whether `bounded` refutes that row, whatever it says of the others. */
bool fold_refutes_row(const struct fold_evidence *evidence, size_t row);

typedef void fold_judge_results(const struct fold_evidence *evidence, struct fold_finding *finding);
/* The judges of results. */
#define FOLD_DECLARE_RUNS(judge)
#define FOLD_DECLARE_RESULTS(judge) fold_judge_results fold_judge_##judge;
#define FOLD_CLAIM_ROW(TAG, name, judged, judge, ...) FOLD_DECLARE_##judged(judge)
#include "model/claim.def"
#undef FOLD_DECLARE_RUNS
#undef FOLD_DECLARE_RESULTS

#endif
