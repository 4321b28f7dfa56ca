/* evidence.h: results, what they are results of, and the judges that need no more than that.
 *
 * Judges of results know no rig, no trial and no command: verify, bench and study call the same functions. They ask the terms
 * for the exact result, and the subject for what it said of itself: its method, its order, its engine.
 */
#ifndef FOLD_EVIDENCE_H
#define FOLD_EVIDENCE_H

#include "exact.h"
#include "fixture.h"
#include "panel.h"
#include "subject.h"

enum fold_verdict { FOLD_HELD, FOLD_REFUTED, FOLD_SKIPPED, FOLD_BROKEN, FOLD_VERDICTS };
const char *fold_verdict_name(enum fold_verdict verdict);
/* -1 where it names none. */
int fold_verdict_parse(const char *name);

/* What a judge found. `row`, `got` and `want` are of the row that refuted, or of the worst one. */
struct fold_finding {
  enum fold_verdict verdict;
  char reason[200];   /* why refuted, skipped or broken; may be empty when held */
  size_t rows;        /* how many results there are to be judged */
  size_t unjudged;    /* rows that have no bound; where others of the case have one, `reason` says so even when held */
  size_t comparisons; /* how many results (or guards, or bytes of input) were looked at: held over none is not held */
  size_t row;
  bool compared; /* got and want mean something */
  uint64_t got, want;
  double ulps;     /* greatest |got - exact| in units of the exact result's last place; NaN where not measured */
  double fraction; /* the same error over its bound; NaN where there is none */
  enum fold_telling telling; /* of a claim about order that held: whether the input could have told */
};

/* Why there is nothing to judge. */
#define FOLD_NO_ROWS "the input has no rows"
#define FOLD_NO_TERMS "its rows have no terms"

/* Broken until a judge says otherwise: a judge that forgets to speak does not turn green. */
struct fold_finding fold_finding_open(size_t rows);
/* Held, of what was compared. Of nothing that is skipped where there is no row, and broken elsewhere: then the judge is at fault. */
void fold_find_held(struct fold_finding *finding);
void fold_find_refuted(struct fold_finding *finding, const char *format, ...) __attribute__((format(printf, 2, 3)));
void fold_find_skipped(struct fold_finding *finding, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* UNSUPPORTED becomes skipped, everything else broken. */
void fold_find_failed(struct fold_finding *finding, fold_status status);
/* Counts the rows as compared; refutes by the first that differs in bits. True when all agree. NaNs are the same NaN. */
bool fold_find_same(struct fold_finding *finding, enum fold_dtype dtype, const void *got, const void *want, size_t rows,
                    const char *what);
/* The same of results whose hashes alone are at hand. */
bool fold_find_same_hash(struct fold_finding *finding, uint64_t got, uint64_t want, const char *what);

/* Makes each NaN among results the format's default NaN, in place: no claim is about a NaN's bits. */
void fold_results_unify(enum fold_dtype dtype, void *results, size_t rows);
/* XXH3-64 of results, each NaN as the same one: what fresh_process compares and records keep. */
uint64_t fold_results_hash(enum fold_dtype dtype, const void *results, size_t rows);

enum { FOLD_WEIGHED = 2 }; /* of a row */

/* A result that was within its bound: subjects of the same height and arithmetic that give it too need not be weighed again. */
struct fold_weighed {
  bool known;
  struct fold_arithmetic how;
  uint64_t height, got;
  double ulps, fraction;
};

/* The terms of a case, and what is known of them, made when first asked for and shared by all subjects: the truths of rows, the
 * last results that were weighed, and what the order makes of them that was asked for last. */
struct fold_truths {
  const struct fold_case *c;
  const void *input; /* rows x cols, host; NULL: nowhere whole, and all truths are given */
  const void *other; /* where terms have two factors: what has the second ones */
  struct fold_truth *row;
  bool *known;
  struct fold_weighed (*weighed)[FOLD_WEIGHED];
  const struct fold_order *replayed_order, *high_order;
  struct fold_arithmetic replayed_how;
  bool replayed_wide;
  void *replayed;
  uint64_t height;
  enum fold_telling telling[FOLD_DTYPES][FOLD_DTYPES]; /* in that accumulator, of that result; once it was asked */
};
fold_status fold_truths_open(struct fold_truths *truths, const struct fold_case *c, const void *input);
void fold_truths_close(struct fold_truths *truths);
/* BAD_INPUT, naming the fixture's place, where the case states a sum that is not the exact one. */
fold_status fold_truths_check_expected(struct fold_truths *truths);
fold_status fold_truths_row(struct fold_truths *truths, size_t row, const struct fold_truth **truth);
/* Whether the terms could tell one order from another (panel.h), joined and rounded as the subject does it. To be asked while no subject's run can have changed how threads
 * round. */
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

/* The height of the declared order, or of a collective's shape; n - 1, which bounds any order, where none is known. */
fold_status fold_evidence_height(const struct fold_evidence *evidence, uint64_t *height);
/* What the declared order gives; lent until the next call for these terms. UNSUPPORTED where none is declared. */
fold_status fold_evidence_replay(const struct fold_evidence *evidence, const void **results);

/* One result against the theorem of its method (bound.h). */
struct fold_weighing {
  const struct fold_truth *truth;
  struct fold_arithmetic how;
  uint64_t height;
  const struct fold_running_product *running; /* of a product in a known order; NULL */
  size_t row;                                 /* its number, for the finding */
  uint64_t got;
  /* What comes out. Of a result that is finite: */
  mpfr_t error, bound;
  double ulps, fraction; /* NaN where it is not */
};
void fold_weighing_init(struct fold_weighing *weighing);
void fold_weighing_free(struct fold_weighing *weighing);
/* False where the theorem does not allow the result, which the finding then says. *status is FOLD_UNSUPPORTED, with the reason, where
 * there is no bound. */
bool fold_weigh(struct fold_weighing *weighing, struct fold_finding *finding, fold_status *status);

/* Whether `bounded` refutes that row, whatever becomes of the others. */
bool fold_refutes_row(const struct fold_evidence *evidence, size_t row);

typedef void fold_judge_results(const struct fold_evidence *evidence, struct fold_finding *finding);
/* The judges of results. */
#define FOLD_DECLARE_RUNS(judge)
#define FOLD_DECLARE_RESULTS(judge) fold_judge_results fold_judge_##judge;
#define FOLD_CLAIM_ROW(TAG, name, judged, judge, ...) FOLD_DECLARE_##judged(judge)
#include "claim.def"
#undef FOLD_DECLARE_RUNS
#undef FOLD_DECLARE_RESULTS

#endif
