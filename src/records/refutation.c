/* refutation.c: see refutation.h. */
#include "records/refutation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "base/wrap.h"
#include "records/replay.h"

static char *text_of(const struct fold_judgement *j, void (*print)(const struct fold_judgement *, FILE *)) {
  char *text = NULL;
  size_t size;
  FILE *out = open_memstream(&text, &size);
  if (out == NULL) return NULL;
  print(j, out);
  if (fclose(out) == 0) return text;
  free(text);
  return NULL;
}

/* What is known of a refuted peer, and why that does not excuse it here. */
static void put_fact(const struct fold_judgement *j, FILE *out) {
  char version[64];
  fold_peer_version(j->subject, version);
  if (j->version) snprintf(version, sizeof version, "%s", j->version);
  if (j->fact == NULL) {
    fprintf(out, "new: not known of %s", version);
    return;
  }
  fprintf(out, "known of");
  for (size_t i = 0; i < sizeof j->fact->seen / sizeof *j->fact->seen && j->fact->seen[i].first; i++) {
    const struct fold_versions *span = &j->fact->seen[i];
    fprintf(out, "%s %s", i ? "," : "", span->first);
    if (strcmp(span->first, span->last) != 0) fprintf(out, " to %s", span->last);
  }
  fprintf(out, ": %s; %s %s", j->fact->what, j->known ? "this is" : "but this is", version);
}

/* Prints in wrapped lines, without the first bytes, what `put` writes. */
static void print_wrapped(const struct fold_judgement *j, void (*put)(const struct fold_judgement *, FILE *),
                          size_t without, FILE *out) {
  char *text = text_of(j, put);
  if (text && strlen(text) > without) fold_put_wrapped(out, 2, 4, "%s", text + without);
  free(text);
}

/* Prints the distance of two results in floats, where they have one. */
static void print_distance(enum fold_dtype dtype, uint64_t got, uint64_t want, FILE *out) {
  const enum fold_class classes[] = {fold_bits_class(dtype, got), fold_bits_class(dtype, want)};
  const uint64_t apart = fold_bits_apart(dtype, got, want);
  if (classes[0] == FOLD_NAN || classes[1] == FOLD_NAN || got == want) return;
  if (classes[0] == FOLD_ZERO && classes[1] == FOLD_ZERO)
    fputs(", the other zero", out);
  else if (fold_bits_negative(dtype, got) != fold_bits_negative(dtype, want) && classes[0] != FOLD_ZERO &&
           classes[1] != FOLD_ZERO)
    fputs(", of the other sign", out);
  else if (apart)
    fprintf(out, ", %llu float%s apart", (unsigned long long)apart, apart == 1 ? "" : "s");
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

/* A fraction of a bound, with three digits. One that would be rounded to 1 shows its distance from 1: "1+3e-08". */
static const char *print_fraction(double fraction, char text[32]) {
  snprintf(text, 32, "%.3g", fraction);
  if (strcmp(text, "1") == 0 && fraction != 1) snprintf(text, 32, "1%+.1g", fraction - 1);
  return text;
}

void fold_print_of_bound(double fraction, FILE *out) {
  char text[32];
  if (fraction >= 1000 && fraction < 1e6) /* %.3g would use an exponent */
    fprintf(out, "%.0f times the bound", fraction);
  else
    fprintf(out, "%s %s the bound", print_fraction(fraction, text), fraction > 1 ? "times" : "of");
}

static void print_replay(const struct fold_judgement *j, const char *program, const char *folder, FILE *out) {
  const struct fold_replay replay = fold_replay_of(j, program, folder);
  if (!fold_replay_can_run(&replay.asked, j->subject->guest != NULL)) return;
  fputs(FOLD_REPRODUCE, out);
  fold_put_replay(&replay, out);
  fputc('\n', out);
}

/* The subject's run or the environment failed, so nothing is known about the claim. */
static void print_broken(const struct fold_judgement *j, FILE *out) {
  const struct fold_subject *s = j->subject;
  const char *engine = fold_engine_name(s->engine), *others = j->after ? "no further claim" : "no claim";
  if (j->claim == NULL)
    fold_put_wrapped(out, 0, 2, "BROKEN: %s on %s, %s: %s: it has no result there", s->name, engine, j->c->name,
                     j->finding.reason);
  else
    fold_put_wrapped(out, 0, 2, "BROKEN: %s on %s, %s: %s: %s %s judged there", s->name, engine, j->c->name,
                     j->finding.reason, j->got ? j->claim->name : others, j->got ? "is not" : "is");
}

static void print_head(const struct fold_judgement *j, FILE *out) {
  const struct fold_finding *f = &j->finding;
  if (f->verdict == FOLD_BROKEN) {
    print_broken(j, out);
    return;
  }
  fold_put_wrapped(out, 0, 2, "REFUTED: %s on %s violates %s: %s", j->subject->name,
                   fold_engine_name(j->subject->engine), j->claim->name, j->c->name);
  fold_put_wrapped(out, 2, 4, "%s%s%s", f->reason, f->sides[0] ? "; " : "", f->sides);
}

/* "row 0: got 0x3f800001 (1.00000012), want 0x3f800000 (1)"; "result 7 (m 1, n 2): ..." of a product of matrices */
static void put_row(const struct fold_judgement *j, FILE *out) {
  const struct fold_finding *f = &j->finding;
  const enum fold_dtype dtype = fold_subject_result(j->subject, j->c->dtype);
  char got[48], want[48], where[120];
  const bool other = dtype != j->c->dtype;
  if (!f->compared) return;
  fprintf(out, "%s: got %s%s%s, want %s", fold_result_name(j->c->problem, &j->c->shape, f->row, where),
          other ? fold_dtype_name(dtype) : "", other ? " " : "", fold_bits_print_short(dtype, f->got, got),
          fold_bits_print_short(dtype, f->want, want));
}

/* ", 1 float apart, 1 ulps, 2 times the bound" */
static void put_distance(const struct fold_judgement *j, FILE *out) {
  const struct fold_finding *f = &j->finding;
  const enum fold_dtype dtype = fold_subject_result(j->subject, j->c->dtype);
  if (fold_dtype_is_integer(dtype)) return; /* they are right or wrong: the reason says by how much */
  if (f->compared) print_distance(dtype, f->got, f->want, out);
  print_error(j, out);
}

static void print_rest(const struct fold_judgement *j, FILE *out) {
  if (j->finding.verdict == FOLD_BROKEN) return;
  print_wrapped(j, put_row, 0, out);
  print_wrapped(j, put_distance, strlen(", "), out);
  if (j->subject->peer) print_wrapped(j, put_fact, 0, out);
}

void fold_print_order_change(const char *text, const char *on, FILE *out) {
  fold_put_wrapped(out, 2, 4, "order%s%s: %s", *on ? " on " : "", on, text);
}

void fold_print_refuted(const struct fold_judgement *j, const char *program, const char *folder, FILE *out) {
  print_head(j, out);
  print_rest(j, out);
  print_replay(j, program, folder, out);
}

fold_status fold_refutation_keep(struct fold_refutation *r, const struct fold_judgement *j, const char *program,
                                 const char *folder) {
  size_t size;
  fold_refutation_free(r);
  r->head = text_of(j, print_head);
  r->rest = text_of(j, print_rest);
  FILE *out = open_memstream(&r->replay, &size);
  if (out) print_replay(j, program, folder, out);
  const bool whole = out && fclose(out) == 0 && r->head && r->rest && r->replay;
  return whole ? fold_ok() : fold_no_memory("for a refutation");
}

void fold_refutation_free(struct fold_refutation *r) {
  free(r->head);
  free(r->rest);
  free(r->replay);
  *r = (struct fold_refutation){0};
}
