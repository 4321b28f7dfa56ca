/* rig/spread.c: cuts the input into the ranks' parts, sends them, and looks at what the ranks held before. */
#include "rig/spread.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "ranks/world.h"
#include "rig/world.h"

struct fold_rank_part fold_rig_part_of(const struct fold_rig_spread *s, unsigned rank) {
  size_t at = fold_comm_cut(s->cols, s->grain, (int)s->ranks, (int)rank);
  return (struct fold_rank_part){at, fold_comm_cut(s->cols, s->grain, (int)s->ranks, (int)rank + 1) - at};
}

static size_t bytes_of(const struct fold_rig *rig, const struct fold_rig_spread *s, unsigned rank) {
  return s->rows * fold_rig_part_of(s, rank).cols * fold_dtype_size(rig->dtype);
}

static void copy_part(const struct fold_rig *rig, const struct fold_rig_spread *s, unsigned rank, unsigned char *to) {
  const struct fold_rank_part part = fold_rig_part_of(s, rank);
  size_t size = fold_dtype_size(rig->dtype);
  const unsigned char *from = (const unsigned char *)fold_rig_input(rig) + (s->first + part.at) * size;
  for (size_t r = 0; r < s->rows; r++) memcpy(to + r * part.cols * size, from + r * s->cols * size, part.cols * size);
}

/* Whether the ranks hold what this rig sent them last. */
static bool is_held(const struct fold_rig *rig) {
  return rig->spread.valid && rig->spread.loads == fold_world_loads(rig->world);
}

static bool same_spread(const struct fold_rig_spread *a, const struct fold_rig_spread *b) {
  return a->first == b->first && a->rows == b->rows && a->cols == b->cols && a->grain == b->grain &&
         a->ranks == b->ranks;
}

/* The parts of all ranks, as they are sent. */
struct parts {
  unsigned char *copy;
  struct fold_wire_load *head;
  const void **body;
  size_t *n_bytes;
};

static fold_status open_parts(const struct fold_rig *rig, const struct fold_rig_spread *s, struct parts *p) {
  p->copy = malloc(s->rows * s->cols * fold_dtype_size(rig->dtype) + 1);
  p->head = calloc(s->ranks, sizeof *p->head);
  p->body = calloc(s->ranks, sizeof *p->body);
  p->n_bytes = calloc(s->ranks, sizeof *p->n_bytes);
  if (p->copy && p->head && p->body && p->n_bytes) return fold_ok();
  return fold_no_memory("to spread the input");
}

static void lay_parts(const struct fold_rig *rig, const struct fold_rig_spread *s, bool looks, struct parts *p,
                      uint64_t *sent) {
  unsigned char *to = p->copy;
  for (unsigned r = 0; r < s->ranks; r++, to += p->n_bytes[r - 1]) {
    p->n_bytes[r] = bytes_of(rig, s, r);
    p->head[r] = (struct fold_wire_load){.dtype = rig->dtype,
                                         .shift = (int32_t)rig->in[0].shift,
                                         .n = s->rows * fold_rig_part_of(s, r).cols,
                                         .max_rows = s->rows,
                                         .looks = looks};
    p->body[r] = to;
    copy_part(rig, s, r, to);
    sent[r] = XXH3_64bits(to, p->n_bytes[r]);
  }
}

/* Sends all parts. If it looks, `before` has the hashes of the parts that the ranks held before, as far as they
 * answered. */
static fold_status send_all(const struct fold_rig *rig, const struct fold_rig_spread *s, bool looks, uint64_t *sent,
                            uint64_t *before) {
  struct parts p;
  fold_status status = open_parts(rig, s, &p);
  const struct fold_question question = {.kind = WIRE_LOAD,
                                         .head = p.head,
                                         .head_bytes = sizeof *p.head,
                                         .body = p.body,
                                         .body_bytes = p.n_bytes,
                                         .answer_bytes = sizeof *before,
                                         .each_alone = true,
                                         .what = "taking its part of the input"};
  if (status.code == FOLD_OK) lay_parts(rig, s, looks, &p, sent);
  if (status.code == FOLD_OK) status = fold_world_ask(rig->world, 0, s->ranks, &question, before);
  free(p.copy);
  free(p.head);
  free(p.body);
  free(p.n_bytes);
  return status;
}

/* Replaces what the ranks hold. *kept: that was still as it was sent. A rank tells it when it takes its next part; where
 * some ranks get none, all are asked before. */
static fold_status replace(struct fold_rig *rig, const struct fold_rig_spread *s, uint64_t *sent, uint64_t *before,
                           bool *kept) {
  const unsigned had = is_held(rig) ? rig->spread.ranks : 0;
  const bool looks = had > 0 && had <= s->ranks;
  if (had > s->ranks) FOLD_TRY(fold_rig_world_kept(rig, kept));
  if (looks) memcpy(before, rig->spread.sent, had * sizeof *before);
  const fold_status status = send_all(rig, s, looks, sent, before);
  if (looks) *kept = memcmp(before, rig->spread.sent, had * sizeof *before) == 0;
  return status;
}

fold_status fold_rig_spread_parts(struct fold_rig *rig, const struct fold_rig_spread *s, bool *kept) {
  *kept = true;
  if (is_held(rig) && rig->spread.current && same_spread(&rig->spread, s)) return fold_ok();
  uint64_t *sent = calloc(s->ranks, sizeof *sent), *before = calloc(s->ranks, sizeof *before);
  fold_status status = sent && before ? replace(rig, s, sent, before, kept) : fold_no_memory("to spread the input");
  free(before);
  free(rig->spread.sent);
  rig->spread = *s;
  rig->spread.sent = sent;
  rig->spread.valid = rig->spread.current = status.code == FOLD_OK;
  rig->spread.loads = fold_world_loads(rig->world);
  return status;
}

fold_status fold_rig_world_kept(struct fold_rig *rig, bool *kept) {
  const struct fold_rig_spread *s = &rig->spread;
  *kept = true;
  if (!is_held(rig)) return fold_ok();
  uint64_t *hash = calloc(s->ranks, sizeof *hash);
  fold_status status = hash ? fold_ok() : fold_no_memory("to check the input");
  struct fold_question question = {.kind = WIRE_HASH, .answer_bytes = sizeof *hash, .what = "hashing its input"};
  if (status.code == FOLD_OK) status = fold_world_ask(rig->world, 0, s->ranks, &question, hash);
  if (status.code == FOLD_OK) *kept = memcmp(hash, s->sent, s->ranks * sizeof *hash) == 0;
  if (status.code != FOLD_OK || !*kept) rig->spread.valid = false; /* so the next run sends the right parts again */
  free(hash);
  return status;
}
