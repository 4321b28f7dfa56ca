/* command/compare_regressions.c: foldproof compare --regressions.
 *
 * A verdict is that of a subject on an engine, on a case and a claim that it promises. If a file has several, the worst counts. What was
 * skipped was not judged. What held before and is not judged now may hide anything, so it is no success unless the user allows it.
 */
#include "command/compare_claim.h"

#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "base/text.h"
#include "command/command.h"
#include "compare/recorded.h"
#include "records/read.h"
#include "report/text.h"

enum { MOST_LINES = 10 };
enum state { NOT_JUDGED, HELD, REFUTED, BROKEN }; /* from the best to the worst */
static const char *const words[] = {"not judged", "held", "refuted", "broken"};

struct verdict {
  XXH128_hash_t key;
  enum state state;
  char *name, *more; /* more: the reason and the replay of what did not hold */
};

struct side {
  const char *path;
  json_t *environment;
  struct fold_lines lines;
  struct verdict *at;
  size_t n, room;
};

enum kind { WORSE, UNJUDGED, FIXED, KINDS };
static const char *const titles[KINDS] = {"WORSE", "NOT JUDGED NOW", "FIXED"};

struct comparison {
  struct side side[2];
  size_t n[KINDS], as_before, held;
};

static char *name_of(const json_t *r) {
  char *name = NULL;
  const int n = asprintf(&name, "%s on %s: %s: %s", fold_record_text(r, "subject"), fold_record_text(r, "engine"),
                         fold_record_text(r, "case"), fold_record_text(r, "claim"));
  return n < 0 ? NULL : name;
}

/* ": REASON", and the replay on a line of its own. */
static char *more_of(const json_t *r, const json_t *environment) {
  char *more = NULL;
  json_t *asked = json_copy((json_t *)(uintptr_t)r);
  fold_recorded_ask(asked, environment);
  char *replay = fold_text_replay(asked);
  const char *reason = fold_record_text(r, "reason");
  if (asprintf(&more, "%s%s%s%s", *reason ? ": " : "", reason, replay ? "\n" FOLD_REPRODUCE : "",
               replay ? replay : "") < 0)
    more = NULL;
  free(replay);
  json_decref(asked);
  return more;
}

static fold_status take(void *context, json_t *r, size_t line) {
  struct side *s = context;
  const char *verdict = fold_record_text(r, "verdict"), *claim = fold_record_text(r, "claim");
  enum state state = BROKEN;
  (void)line;
  if (strcmp(fold_record_text(r, "type"), "environment") == 0) {
    json_decref(s->environment);
    s->environment = json_incref(r);
  }
  if (strcmp(fold_record_text(r, "type"), "judgement") != 0 || !json_is_true(json_object_get(r, "promised")))
    return fold_ok();
  while (state > NOT_JUDGED && strcmp(verdict, words[state]) != 0) state--;
  if (state == NOT_JUDGED) return fold_ok();
  struct verdict *added = fold_list_grow(&s->at, &s->n, &s->room, sizeof *added);
  if (added) {
    XXH128_hash_t key = fold_record_key(r, false);
    key = XXH3_128bits_withSeed(claim, strlen(claim), key.low64 ^ key.high64);
    *added = (struct verdict){key, state, name_of(r), state == HELD ? strdup("") : more_of(r, s->environment)};
  }
  return added && added->name && added->more ? fold_ok() : fold_no_memory("for the records");
}

static int worst_first(const void *a, const void *b) {
  const struct verdict *l = a, *r = b;
  const int d = XXH128_cmp(&l->key, &r->key);
  return d ? d : (l->state < r->state) - (l->state > r->state);
}

static fold_status read_side(struct side *s) {
  FOLD_TRY(fold_lines_read(s->path, take, s, &s->lines));
  if (s->lines.altered[0]) fold_print_line("ALTERED: %s: %s", s->path, s->lines.altered);
  if (s->lines.incomplete[0]) fold_print_line("INCOMPLETE: %s: %s", s->path, s->lines.incomplete);
  if (s->n) qsort(s->at, s->n, sizeof *s->at, worst_first);
  return s->n ? fold_ok() : fold_error(FOLD_BAD_INPUT, "%.150s: no verdict is in it: see verify --jsonl", s->path);
}

static void tell(struct comparison *c, enum kind kind, enum state before, enum state now, const struct verdict *v) {
  if (c->n[kind]++ >= MOST_LINES) return;
  const size_t reason = strcspn(v->more, "\n"); /* the line of the replay is quoted already */
  fold_print_line("%s: %s: %s, now %s%.*s", titles[kind], v->name, words[before], words[now],
                  kind == WORSE ? (int)reason : 0, v->more);
  if (kind == WORSE && v->more[reason]) puts(v->more + reason + 1);
}

/* Either may be NULL: it was not judged there. */
static void compare(struct comparison *c, const struct verdict *before, const struct verdict *now) {
  const enum state was = before ? before->state : NOT_JUDGED, is = now ? now->state : NOT_JUDGED;
  if (is > HELD && is > was)
    tell(c, WORSE, was, is, now);
  else if (is > HELD && is == was)
    c->as_before++;
  else if (was >= HELD && is == NOT_JUDGED)
    tell(c, UNJUDGED, was, is, before);
  else if (was > HELD)
    tell(c, FIXED, was, is, before);
  else
    c->held++;
}

static const struct verdict *next(struct side *s, size_t *at) {
  const struct verdict *v = &s->at[*at];
  while (*at < s->n && XXH128_isEqual(s->at[*at].key, v->key)) ++*at;
  return v;
}

static void join(struct comparison *c) {
  struct side *a = &c->side[0], *b = &c->side[1];
  size_t i = 0, k = 0;
  while (i < a->n || k < b->n) {
    const int d = i == a->n ? 1 : k == b->n ? -1 : XXH128_cmp(&a->at[i].key, &b->at[k].key);
    const struct verdict *before = d <= 0 ? next(a, &i) : NULL, *now = d >= 0 ? next(b, &k) : NULL;
    compare(c, before, now);
  }
}

static int conclude(const struct comparison *c, bool subset) {
  for (int kind = 0; kind < KINDS; kind++)
    if (c->n[kind] > MOST_LINES) printf("%s: %d of %zu shown\n", titles[kind], MOST_LINES, c->n[kind]);
  printf("%zu worse, %zu not judged now, %zu fixed, %zu refuted or broken as before, %zu held\n", c->n[WORSE],
         c->n[UNJUDGED], c->n[FIXED], c->as_before, c->held);
  const struct fold_lines *a = &c->side[0].lines, *b = &c->side[1].lines;
  if (c->n[WORSE] || (c->n[UNJUDGED] && !subset) || a->altered[0] || b->altered[0]) return 1;
  return (a->incomplete[0] || b->incomplete[0]) && !subset ? 99 : 0;
}

int fold_compare_regressions(const char *program, const char *const path[2], bool subset) {
  struct comparison c = {.side = {{.path = path[0]}, {.path = path[1]}}};
  fold_status status = fold_ok();
  for (int k = 0; k < 2 && status.code == FOLD_OK; k++) status = read_side(&c.side[k]);
  if (status.code == FOLD_OK) join(&c);
  const int exit_code = status.code == FOLD_OK ? conclude(&c, subset) : fold_print_error(program, status);
  for (int k = 0; k < 2; k++) {
    for (size_t i = 0; i < c.side[k].n; i++) free(c.side[k].at[i].name), free(c.side[k].at[i].more);
    free(c.side[k].at);
    json_decref(c.side[k].environment);
  }
  return exit_code;
}
