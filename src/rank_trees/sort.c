/* rank_trees/sort.c: sorts elements by their answers, round by round. A node is an answer together with the answers before it (its parent).
 *
 * Mostly an element has the node of the one before it, so that one comparison is enough. An element whose answer is not a count, or
 * changes in a repeat, stays in its class for good: its later answers say nothing.
 */
#include <math.h>
#include <stdlib.h>

#include "base/bits.h"
#include "base/list.h"
#include "rank_trees/parts.h"

fold_status fold_map_sorter_open(struct fold_map_sorter *s, size_t n) {
  *s = (struct fold_map_sorter){.n = n, .room = 1024, .nodes = FOLD_MAP_NODE_ROOT + 1, .round = FOLD_MAP_NODE_ROOT};
  s->of = malloc((n + 1) * sizeof *s->of);
  s->node = calloc(s->room, sizeof *s->node);
  if (!s->of || !s->node) return fold_no_memory("for a map of %zu elements", n);
  for (size_t i = 0; i < n; i++) s->of[i] = FOLD_MAP_NODE_ROOT;
  return fold_ok();
}

void fold_map_sorter_close(struct fold_map_sorter *s) {
  free(s->of);
  free(s->node);
}

static fold_status add_node(struct fold_map_sorter *s, uint32_t parent, uint16_t answer, uint32_t *node) {
  if (s->nodes - s->round == FOLD_MAP_CLASSES_MOST)
    return fold_error(FOLD_UNSUPPORTED, "the elements have more than %d different trees", FOLD_MAP_CLASSES_MOST);
  struct fold_map_node *added = fold_list_grow(&s->node, &s->nodes, &s->room, sizeof *added);
  if (!added) return fold_no_memory("for %zu classes of elements", s->nodes);
  *added = (struct fold_map_node){parent, answer};
  *node = (uint32_t)(s->nodes - 1);
  return fold_ok();
}

/* This round's node for an answer after `parent`. `known` remembers the last node of the same hash, which is mostly the right one. */
static fold_status find_node(struct fold_map_sorter *s, uint32_t parent, uint16_t answer, uint32_t *node) {
  uint32_t *known = &s->known[(parent * 31 + answer) % FOLD_MAP_KNOWN];
  for (size_t k = *known >= s->round && *known < s->nodes ? *known : s->round, step = 0; step < s->nodes - s->round;
       step++) {
    if (s->node[k].parent == parent && s->node[k].answer == answer) {
      *known = *node = (uint32_t)k;
      return fold_ok();
    }
    if (++k == s->nodes) k = s->round;
  }
  FOLD_TRY(add_node(s, parent, answer, node));
  *known = *node;
  return fold_ok();
}

/* How many terms the pair's subtree has. Pair 0 has units alone, and all of them must come out. */
static uint16_t answer_of(const struct fold_map_asker *a, double count, unsigned most, size_t pair) {
  if (!(count >= 0 && count <= most && count == floor(count))) return FOLD_MAP_NO_COUNT;
  if (pair == 0 && count != most) return FOLD_MAP_NO_COUNT;
  return (uint16_t)(a->ranks - (unsigned)count);
}

static uint32_t absorbing(enum fold_map_mark mark) {
  return mark == FOLD_MAP_OTHER_IN_REPEAT ? FOLD_MAP_NODE_VARIES : FOLD_MAP_NODE_RANKS;
}

fold_status fold_map_sort(struct fold_map_sorter *s, const struct fold_map_asker *a, int unit, unsigned most,
                          size_t pair) {
  uint64_t last_bits = 0;
  uint32_t last_parent = UINT32_MAX, last = 0;
  s->round = s->nodes;
  for (size_t i = 0; i < s->n; i++) {
    const uint32_t parent = s->of[i];
    const uint64_t bits = fold_bits_load(a->result, a->got, i);
    if (parent < FOLD_MAP_NODE_ROOT) continue;
    if (a->mark[i] != FOLD_MAP_SAME) {
      s->of[i] = absorbing((enum fold_map_mark)a->mark[i]);
      continue;
    }
    if (parent != last_parent || bits != last_bits) {
      const double count = ldexp(fold_bits_to_double(a->result, bits), -unit);
      const uint16_t answer = answer_of(a, count, most, pair);
      last = FOLD_MAP_NODE_NO_COUNT;
      if (answer == FOLD_MAP_NO_COUNT && !s->bad.seen) s->bad = (struct fold_map_bad){true, i, pair, count};
      if (answer != FOLD_MAP_NO_COUNT) FOLD_TRY(find_node(s, parent, answer, &last));
      last_parent = parent;
      last_bits = bits;
    }
    s->of[i] = last;
  }
  return fold_ok();
}

void fold_map_answers(const struct fold_map_sorter *s, uint32_t node, uint16_t *answer, size_t n) {
  for (; n-- > 0; node = s->node[node].parent) answer[n] = s->node[node].answer;
}
