/* command/recheck_check.c: checks what a record says twice: bits and decimals, its verdict and the new one, what its run
 * did. */
#include <stdarg.h>
#include <string.h>

#include "base/bits.h"
#include "base/text.h"
#include "command/recheck.h"
#include "compare/recorded.h"
#include "records/read.h"
#include "rig/rig.h"

void fold_judge_say(size_t *count, const struct fold_judge *j, size_t line, const json_t *record, const char *kind,
                    const char *format, ...) {
  char text[400];
  va_list args;
  if ((*count)++ >= FOLD_JUDGE_LINES) return;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  fold_print_line("%s: %s:%zu: %.60s on %.10s: %.100s: %s", kind, j->path, line, fold_record_text(record, "subject"),
                  fold_record_text(record, "engine"), fold_record_text(record, "case"), text);
}

/* Whether it was refuted by results that it does not hold. */
static bool is_moved(const json_t *record) { return json_is_true(json_object_get(record, "moved")); }

/* Decimals stand beside the bits for people and must say the same. */
void fold_judge_check_values(struct fold_judge *j, const json_t *record, enum fold_dtype dtype, size_t line) {
  const json_t *values = json_object_get(record, "values"), *results = json_object_get(record, "results");
  const int row = (int)json_integer_value(json_object_get(record, "row"));
  const char *claim = fold_record_text(record, "claim"), *got = fold_record_text(record, "got");
  for (size_t i = 0; i < json_array_size(values); i++) {
    const char *bits = json_string_value(json_array_get(results, i)),
               *said = json_string_value(json_array_get(values, i));
    uint64_t pattern;
    char text[40];
    if (!fold_record_read_bits(bits, dtype, &pattern)) continue;
    fold_bits_decimal(dtype, pattern, text);
    if (said == NULL || (strcmp(said, text) != 0 && fold_bits_class(dtype, pattern) != FOLD_NAN)) {
      fold_judge_say(&j->contradictions, j, line, record, "CONTRADICTS", "result %zu is %s, which is %s, and not %.40s",
                     i, bits, text, said ? said : "nothing");
      return;
    }
  }
  size_t n;
  const struct fold_claim *claims = fold_claims(&n);
  for (size_t k = 0; k < n && *got && !is_moved(record); k++) {
    const char *there = json_string_value(json_array_get(results, (size_t)row));
    if (!claims[k].results || strcmp(claims[k].name, claim) != 0 || there == NULL || strcmp(there, got) == 0) continue;
    fold_judge_say(&j->contradictions, j, line, record, "CONTRADICTS", "row %d got %s, and result %d is %s", row, got,
                   row, there);
  }
}

/* Compares the verdict that the record tells with the new one; false if that claim was not judged again. */
bool fold_judge_check_verdict(struct fold_judge *j, const json_t *record, size_t line) {
  const struct fold_claim *claim = fold_recorded_claim(record);
  const char *said = fold_record_text(record, "verdict");
  const uint64_t bit = claim ? FOLD_CLAIM(claim->id) : 0;
  const struct fold_figures *figures = claim ? fold_judge_figures(j, claim) : NULL;
  if (is_moved(record) || (!figures && !(j->last && (j->last->held | j->last->refuted) & bit))) return false;
  const char *now = fold_verdict_name(figures ? figures->verdict : j->last->refuted & bit ? FOLD_REFUTED : FOLD_HELD);
  const bool skipped = strcmp(said, "skipped") == 0;
  /* the older program did not judge it, or by more than the record tells; or --seconds left no time to judge it */
  const bool left_open = (fold_again_is_old(record) && (skipped || strcmp(now, "skipped") == 0)) ||
                         (skipped && fold_is_left_out(fold_record_text(record, "reason")));
  if (strcmp(said, now) != 0 && !left_open && claim->id != FOLD_RUN_TO_RUN)
    fold_judge_say(&j->contradictions, j, line, record, "CONTRADICTS", "it says that %s is %.20s; the results say %s",
                   claim->name, said, now);
  return true;
}

/* Finds out whether an unwritten result contradicts the record: the record has that result, or a verdict says that all
 * were written. The latter is no contradiction if the result may equal the poison itself. */
static const char *wrong_unwritten(const struct fold_judge *j, const json_t *record) {
  const json_t *trace = json_object_get(record, "unwritten"), *results = json_object_get(record, "results");
  const json_int_t row = json_integer_value(json_object_get(trace, "row"));
  const int dtype = fold_record_result_dtype(record);
  uint64_t bits, poison;
  if (trace == NULL || dtype < 0) return NULL;
  memset(&poison, FOLD_BASE_POISON, sizeof poison);
  poison &= UINT64_MAX >> (64 - fold_format_of((enum fold_dtype)dtype).bits);
  if (row < 0 || row >= json_integer_value(json_object_get(record, "rows")))
    return "a row that it has not was unwritten";
  if (fold_record_read_bits(json_string_value(json_array_get(results, (size_t)row)), (enum fold_dtype)dtype, &bits))
    return bits != poison ? "it says that a result was not written, and has the result" : NULL;
  const bool chance = fold_dtype_size((enum fold_dtype)dtype) <= 2; /* one of 65536 results equals the poison */
  return !chance && j->last && j->last->said_held & FOLD_CLAIM(FOLD_WRITES_OUTPUT)
             ? "it says that writes_output held, and that a result was not written"
             : NULL;
}

/* Checks what a run did against verdicts on the same results that deny it. */
void fold_judge_check_traces(struct fold_judge *j, const json_t *record, size_t line) {
  size_t n;
  const struct fold_claim *claims = fold_claims(&n);
  const char *wrong = wrong_unwritten(j, record);
  if (wrong) fold_judge_say(&j->contradictions, j, line, record, "CONTRADICTS", "%s", wrong);
  const uint64_t denied = j->last ? fold_recorded_traces(record) & j->last->said_held & ~j->last->traced : 0;
  for (size_t k = 0; k < n; k++)
    if (denied & FOLD_CLAIM(k))
      fold_judge_say(&j->contradictions, j, line, record, "CONTRADICTS",
                     "it says that %s held; what its run did refutes that", claims[k].name);
  if (denied) j->last->traced |= denied;
}
