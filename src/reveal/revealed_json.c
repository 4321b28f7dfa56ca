/* revealed_json.c: what was revealed, as an object of JSON. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "reveal/reveal.h"
#include "reveal/tree_json.h"

json_t *fold_tree_joins(const struct fold_tree *tree) {
  json_t *joins = json_array();
  for (size_t j = 0; j < tree->joins; j++) {
    json_t *join = json_array();
    for (uint32_t c = tree->first[j]; c < tree->first[j + 1]; c++)
      json_array_append_new(join, json_integer(tree->child[c]));
    json_array_append_new(joins, join);
  }
  return joins;
}

static json_t *fused_of(const struct fold_tree *tree) {
  json_t *fused = json_array();
  for (size_t k = 0; tree->fused && k < tree->n; k++)
    if (tree->fused[k]) json_array_append_new(fused, json_integer((json_int_t)k));
  return fused;
}

static json_t *accumulators_of(const struct fold_tree *tree) {
  json_t *accumulators = json_array();
  for (size_t j = 0; j < tree->joins; j++)
    json_array_append_new(accumulators, json_string(fold_dtype_name((enum fold_dtype)tree->accumulator[j])));
  return accumulators;
}

/* "f64", or all that joins are rounded to: "f32, f64". */
static void name_accumulators(const struct fold_revealed *r, enum fold_dtype declared, char text[60]) {
  const unsigned char *each = r->tree.accumulator;
  size_t used = 0;
  snprintf(text, 60, "%s", fold_dtype_name(r->kind == FOLD_REVEALED_TREE ? r->how.accumulator : declared));
  for (int d = 0; each && d < FOLD_DTYPES; d++)
    if (memchr(each, d, r->tree.joins))
      used += (size_t)snprintf(text + used, 60 - used, "%s%s", used ? ", " : "", fold_dtype_name((enum fold_dtype)d));
}

static fold_status set_tree(json_t *object, const struct fold_revealed *revealed) {
  const struct fold_tree *tree = &revealed->tree;
  uint64_t print;
  char *text = NULL, hex[24];
  size_t size = 0;
  FOLD_TRY(fold_tree_fingerprint(tree, &print));
  snprintf(hex, sizeof hex, "0x%016llx", (unsigned long long)print);
  json_object_set_new(object, "fingerprint", json_string(hex));
  json_object_set_new(object, "height", json_integer((json_int_t)fold_tree_height(tree)));
  json_object_set_new(object, "operands", json_integer((json_int_t)fold_tree_width(tree)));
  FILE *out = open_memstream(&text, &size);
  fold_status status = out ? fold_tree_text(tree, out) : fold_no_memory("for a text");
  if (out) fclose(out);
  if (status.code == FOLD_OK) json_object_set_new(object, "text", json_string(text));
  free(text);
  json_object_set_new(object, "tree", fold_tree_joins(tree));
  if (tree->fused) json_object_set_new(object, "fused", fused_of(tree));
  if (tree->accumulator) json_object_set_new(object, "accumulators", accumulators_of(tree));
  if (fold_tree_width(tree) > 2)
    json_object_set_new(object, "fusing", json_string(fold_fusing_text(revealed->how.fusing)));
  return status;
}

fold_status fold_revealed_json(const struct fold_revealed *r, const struct fold_subject *subject,
                               const struct fold_summer *s, char **line) {
  char accumulator[60];
  name_accumulators(r, s->accumulator, accumulator);
  json_t *o = json_pack(
      "{s:s, s:s, s:s, s:s, s:I, s:I, s:s, s:s, s:I, s:I, s:I, s:b}", "subject", subject->name, "problem",
      subject->unknown ? "rows"
      : s->factors > 1 ? "dot"
                       : "sum",
      "dtype", fold_dtype_name(s->dtype), "accumulator", accumulator, "n", (json_int_t)s->n, "rows",
      (json_int_t)r->rows, "kind", fold_revealed_text(r->kind), "orders", r->name, "probes", (json_int_t)r->probes,
      "launches", (json_int_t)r->launches, "proofs", (json_int_t)r->proofs, "depends_on_batch", r->by_batch);
  fold_status status = o ? fold_ok() : fold_no_memory("for an object");
  if (r->place[0]) json_object_set_new(o, "depends_on_place", json_string(r->place));
  if (r->why[0]) json_object_set_new(o, "why", json_string(r->why));
  if (status.code == FOLD_OK && r->kind == FOLD_REVEALED_TREE) status = set_tree(o, r);
  *line = status.code == FOLD_OK ? json_dumps(o, JSON_COMPACT) : NULL;
  json_decref(o);
  if (status.code == FOLD_OK && *line == NULL) return fold_no_memory("for an object");
  return status;
}
