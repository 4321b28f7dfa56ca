/* rank_trees/json.c: a map as an object of JSON, which is a record's body too. */
#include <jansson.h>

#include "rank_trees/map.h"
#include "reveal/tree_json.h"

static json_t *tree_of(const struct fold_map_class *c) {
  char hex[24];
  json_t *o = json_pack("{s:s, s:I, s:I, s:I, s:I}", "kind", fold_map_kind_text(c->kind), "first", (json_int_t)c->first,
                        "elements", (json_int_t)c->elements, "tested", (json_int_t)c->tested, "as_predicted",
                        (json_int_t)c->right);
  if (o == NULL) return NULL;
  if (c->why[0]) json_object_set_new(o, "why", json_string(c->why));
  if (c->kind != FOLD_MAP_TREE && c->kind != FOLD_MAP_EXACT) return o;
  snprintf(hex, sizeof hex, "0x%016llx", (unsigned long long)c->fingerprint);
  json_object_set_new(o, "fingerprint", json_string(hex));
  json_object_set_new(o, "name", json_string(c->name));
  json_object_set_new(o, "declared", json_boolean(c->declared));
  json_object_set_new(o, "height", json_integer((json_int_t)fold_tree_height(&c->tree)));
  json_object_set_new(o, "accumulator", json_string(fold_dtype_name(c->how.accumulator)));
  json_object_set_new(o, "telling", json_integer((json_int_t)c->telling));
  json_object_set_new(o, "told_least", json_integer(c->told_least));
  json_object_set_new(o, "told_most", json_integer(c->told_most));
  json_object_set_new(o, "untold_elements", json_integer((json_int_t)c->untold));
  if (fold_tree_width(&c->tree) > 2) json_object_set_new(o, "fusing", json_string(fold_fusing_text(c->how.fusing)));
  json_object_set_new(o, "tree", fold_tree_joins(&c->tree));
  return o;
}

fold_status fold_map_json(const struct fold_map *map, const char *setting, json_t **object) {
  const struct fold_subject *s = map->asked.subject;
  json_t *runs = json_array(), *trees = json_array();
  for (size_t k = 0; k < map->classes; k++) json_array_append_new(trees, tree_of(&map->class[k]));
  for (size_t k = 0; k < map->runs; k++) {
    const size_t last = (k + 1 < map->runs ? map->run[k + 1].first : map->asked.n) - 1;
    json_array_append_new(
        runs, json_pack("[I, I, I]", (json_int_t)map->run[k].first, (json_int_t)last, (json_int_t)map->run[k].class));
  }
  *object = json_pack("{s:s, s:s, s:s, s:s, s:s, s:i, s:I, s:b, s:i, s:I, s:I, s:I, s:I, s:I, s:f, s:o, s:o}",
                      "subject", s->name, "engine", fold_engine_name(s->engine), "setting", setting, "library",
                      map->library, "dtype", fold_dtype_name(map->asked.dtype), "workers", (int)map->ranks, "n",
                      (json_int_t)map->asked.n, "holds", (int)fold_map_holds(map), "messages", (int)map->messages,
                      "calls", (json_int_t)map->calls, "tested", (json_int_t)map->tested, "as_predicted",
                      (json_int_t)map->right, "compared_elements", (json_int_t)map->looked, "telling_elements",
                      (json_int_t)map->telling, "seconds", map->seconds, "ranges", runs, "trees", trees);
  return *object ? fold_ok() : fold_no_memory("for a map");
}
