/* refutation.c: see refutation.h. */
#include "refutation.h"

#include <math.h>
#include <string.h>

#include "bits.h"
#include "replay.h"

/* Prints what is known of a refuted peer, and why that does not excuse it here. */
static void print_fact(const struct fold_judgement *j, FILE *out) {
  char version[64];
  fold_peer_version(j->subject, version);
  if (j->version) snprintf(version, sizeof version, "%s", j->version);
  if (j->fact == NULL) {
    fprintf(out, "  new: not known of %s\n", version);
    return;
  }
  fprintf(out, "  known of");
  for (size_t i = 0; i < sizeof j->fact->seen / sizeof *j->fact->seen && j->fact->seen[i].first; i++) {
    const struct fold_versions *span = &j->fact->seen[i];
    fprintf(out, "%s %s", i ? "," : "", span->first);
    if (strcmp(span->first, span->last) != 0) fprintf(out, " to %s", span->last);
  }
  fprintf(out, ": %s; %s %s\n", j->fact->what, j->known ? "this is" : "but this is", version);
}

/* Prints the distance of two results in patterns, where that is meaningful: not across zero, where the number would be
 * nearly all patterns of the format, nor to an infinity or a NaN. */
static void print_distance(enum fold_dtype dtype, uint64_t got, uint64_t want, FILE *out) {
  const enum fold_class classes[] = {fold_bits_class(dtype, got), fold_bits_class(dtype, want)};
  if (classes[0] == FOLD_NAN || classes[1] == FOLD_NAN || got == want) return;
  if (classes[0] == FOLD_ZERO && classes[1] == FOLD_ZERO)
    fputs(", the other zero", out);
  else if (fold_bits_negative(dtype, got) != fold_bits_negative(dtype, want) && classes[0] != FOLD_ZERO &&
           classes[1] != FOLD_ZERO)
    fputs(", of the other sign", out);
  else if (classes[0] != FOLD_INFINITE && classes[1] != FOLD_INFINITE)
    fprintf(out, ", %llu pattern%s apart", (unsigned long long)fold_bits_distance(dtype, got, want),
            fold_bits_distance(dtype, got, want) == 1 ? "" : "s");
}

/* Prints an error in ulps of the exact result, unless that is zero, or has cancelled to almost nothing: then such a
 * number says nothing about the sum. */
static void print_error(const struct fold_judgement *j, FILE *out) {
  const struct fold_finding *f = &j->finding;
  const enum fold_dtype dtype = fold_subject_result(j->subject, j->c->dtype);
  const bool finite = !f->compared || fold_bits_class(dtype, f->got) < FOLD_INFINITE;
  if (!isnan(f->ulps) && finite && f->ulps >= ldexp(1, fold_format_of(dtype).precision))
    fputs(", an error larger than the exact result", out);
  else if (!isnan(f->ulps) && finite)
    fprintf(out, ", %.4g ulps", f->ulps);
  if (!isnan(f->fraction)) fputs(", ", out), fold_print_of_bound(f->fraction, out);
}

const char *fold_print_fraction(double fraction, char text[32]) {
  snprintf(text, 32, "%.3g", fraction);
  if (strcmp(text, "1") == 0 && fraction != 1) snprintf(text, 32, "1%+.1g", fraction - 1);
  return text;
}

void fold_print_of_bound(double fraction, FILE *out) {
  char text[32];
  if (fraction >= 1000 && fraction < 1e6) /* %.3g would use an exponent */
    fprintf(out, "%.0f times the bound", fraction);
  else
    fprintf(out, "%s %s the bound", fold_print_fraction(fraction, text), fraction > 1 ? "times" : "of");
}

static void print_case(const struct fold_judgement *j, FILE *out) {
  fprintf(out, "%s, %zu x %zu", j->c->name, j->c->rows, j->c->cols);
  if (j->c->source.generator) fprintf(out, ", seed %llu", (unsigned long long)j->c->source.seed);
}

static void print_replay(const struct fold_judgement *j, const char *program, const char *folder, FILE *out) {
  const struct fold_replay replay = fold_replay_of(j, program, folder);
  if (!fold_replay_can_run(&replay.asked, j->subject->guest != NULL)) return;
  fputs("  replay: ", out);
  fold_put_replay(&replay, out);
  fputc('\n', out);
}

/* The subject's run or the environment failed, so nothing is known about the claim. */
static void print_broken(const struct fold_judgement *j, FILE *out) {
  fprintf(out, "BROKEN: %s on %s, ", j->subject->name, fold_engine_name(j->subject->engine));
  print_case(j, out);
  if (j->claim == NULL) {
    fprintf(out, ": %s: it has no result there\n", j->finding.reason);
    return;
  }
  const char *others = j->after ? "no further claim" : "no claim";
  fprintf(out, ": %s: %s %s judged there\n", j->finding.reason, j->got ? j->claim->name : others,
          j->got ? "is not" : "is");
}

void fold_print_refuted(const struct fold_judgement *j, const char *program, const char *folder, FILE *out) {
  const struct fold_finding *f = &j->finding;
  if (f->verdict == FOLD_BROKEN) {
    print_broken(j, out);
    print_replay(j, program, folder, out);
    return;
  }
  char got[80], want[80];
  fprintf(out, "REFUTED: %s on %s violates %s: ", j->subject->name, fold_engine_name(j->subject->engine),
          j->claim->name);
  print_case(j, out);
  if (f->compared) {
    const enum fold_dtype dtype = fold_subject_result(j->subject, j->c->dtype);
    fprintf(out, ", row %zu: got %s%s%s, want %s", f->row, dtype == j->c->dtype ? "" : fold_dtype_name(dtype),
            dtype == j->c->dtype ? "" : " ", fold_bits_print(dtype, f->got, got),
            fold_bits_print(dtype, f->want, want));
    print_distance(dtype, f->got, f->want, out);
  }
  print_error(j, out);
  fprintf(out, ": %s%s%s\n", f->reason, f->sides[0] ? "; " : "", f->sides);
  if (j->change) fprintf(out, "  order: %s\n", j->change->text);
  if (j->subject->peer) print_fact(j, out);
  print_replay(j, program, folder, out);
}
