/* rank_trees/text.c: maps for people: which elements have which tree, and the trees once for all maps. */
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "rank_trees/map.h"

/* At most so many runs of a map are listed; JSON has all. */
enum { RUNS_TOLD = 24 };

static bool has_tree(const struct fold_map_class *c) { return c->kind == FOLD_MAP_TREE || c->kind == FOLD_MAP_EXACT; }

/* The place of a class; legend->n if it is not in the list. */
static size_t find_class(const struct fold_map_legend *legend, const struct fold_map_class *class) {
  size_t k = 0;
  while (k < legend->n &&
         (legend->class[k] -> fingerprint != class -> fingerprint || legend -> class[k] -> kind != class
          -> kind || memcmp(&legend->class[k] -> how, &class -> how, sizeof class->how) != 0))
    k++;
  return k;
}

fold_status fold_map_legend_add(struct fold_map_legend *legend, const struct fold_map *map) {
  for (size_t k = 0; k < map->classes; k++) {
    if (!has_tree(&map->class[k]) || find_class(legend, &map->class[k]) < legend->n) continue;
    const struct fold_map_class **added = fold_list_grow(&legend->class, &legend->n, &legend->room, sizeof *added);
    if (added == NULL) return fold_no_memory("for %zu trees", legend->n + 1);
    *added = &map->class[k];
  }
  return fold_ok();
}

void fold_map_legend_free(struct fold_map_legend *legend) { free(legend->class); }

/* Letters for any number of classes: "A" ... "Z", "A2" ... */
static void print_letter(const struct fold_map_legend *legend, const struct fold_map_class *c, FILE *out) {
  const size_t k = find_class(legend, c);
  if (!has_tree(c))
    fprintf(out, "%-4s", "-");
  else if (k < 26)
    fprintf(out, "%-4c", (char)('A' + k));
  else
    fprintf(out, "%c%-3zu", (char)('A' + k % 26), k / 26 + 1);
}

/* The classes of a map, "A" or "ABC"; if there are too many, their number. */
static void print_cell(const struct fold_map *map, const struct fold_map_legend *legend, FILE *out) {
  enum { FIT = 3 };
  char text[24] = "";
  bool letters = map->classes <= FIT;
  for (size_t k = 0; k < map->classes && letters; k++) {
    const size_t at = find_class(legend, &map->class[k]);
    letters = !has_tree(&map->class[k]) || at < 26;
    text[k] = has_tree(&map->class[k]) ? (char)('A' + at) : '-';
  }
  if (!letters) snprintf(text, sizeof text, "%zu", map->classes);
  fprintf(out, " %10s", text);
}

void fold_map_print_table(const struct fold_map *maps, const char *const *setting, size_t n,
                          const struct fold_map_legend *legend, FILE *out) {
  size_t lengths = 1;
  while (lengths < n && setting[lengths] == setting[0]) lengths++;
  fprintf(out, "%-24s", "elements:");
  for (size_t k = 0; k < lengths; k++) fprintf(out, " %10zu", maps[k].asked.n);
  for (size_t k = 0; k < n; k++) {
    if (k % lengths == 0) fprintf(out, "\n%-24s", setting[k]);
    print_cell(&maps[k], legend, out);
  }
  fprintf(out, "\n\n");
}

static void print_what(const struct fold_map_class *c, FILE *out) {
  if (has_tree(c))
    fprintf(out, "%s%s",
            c->kind == FOLD_MAP_EXACT ? fold_map_kind_text(c->kind)
            : c->name[0]              ? c->name
                                      : "a tree",
            c->declared ? " (as declared)" : "");
  else
    fprintf(out, "%s: %s", fold_map_kind_text(c->kind), c->why);
}

static void print_runs(const struct fold_map *map, const struct fold_map_legend *legend, FILE *out) {
  for (size_t k = 0; k < map->runs && k < RUNS_TOLD; k++) {
    const size_t last = (k + 1 < map->runs ? map->run[k + 1].first : map->asked.n) - 1;
    const struct fold_map_class *c = &map->class[map->run[k].class];
    char range[48];
    snprintf(range, sizeof range, "%zu..%zu", map->run[k].first, last);
    fprintf(out, "  %-21s ", range);
    print_letter(legend, c, out);
    print_what(c, out);
    if (has_tree(c) && c->untold > 0)
      fprintf(out, "; order not distinguished from others: %zu of its %zu elements", c->untold, c->elements);
    fprintf(out, "\n");
  }
  if (map->runs > RUNS_TOLD)
    fprintf(out, "  and %zu more runs of elements (--format json has all)\n", map->runs - RUNS_TOLD);
}

static void print_telling(const struct fold_map *map, FILE *out) {
  unsigned least = map->messages, most = 0;
  for (size_t k = 0; k < map->classes; k++) {
    const struct fold_map_class *c = &map->class[k];
    if (has_tree(c) && c->told_least < least) least = c->told_least;
    if (has_tree(c) && c->told_most > most) most = c->told_most;
  }
  fprintf(out,
          "  order-sensitive       %llu of %llu: they change if ranks are added from 0 up, from the last down, or "
          "pairwise\n",
          (unsigned long long)map->telling, (unsigned long long)map->looked);
  if (most > 0)
    fprintf(out, "                        each element in %u to %u of %u messages\n", least, most, map->messages);
}

void fold_map_print(const struct fold_map *map, const struct fold_map_legend *legend, const char *setting, FILE *out) {
  fprintf(out, "%s, %zu element%s: ", setting, map->asked.n, map->asked.n == 1 ? "" : "s");
  size_t trees = 0;
  for (size_t k = 0; k < map->classes; k++) trees += has_tree(&map->class[k]);
  fprintf(out, "%zu tree%s in %zu run%s\n", trees, trees == 1 ? "" : "s", map->runs, map->runs == 1 ? "" : "s");
  print_runs(map, legend, out);
  if (map->tested)
    fprintf(
        out,
        "  tested                %llu of %llu elements of %u random messages as the map says, on all %u ranks, twice\n",
        (unsigned long long)map->right, (unsigned long long)map->tested, map->messages, map->ranks);
  const uint64_t all = (uint64_t)map->messages * map->asked.n;
  if (map->tested && map->tested < all)
    fprintf(out, "  not judged            %llu: zeros and what is not finite, of several operands added at once\n",
            (unsigned long long)(all - map->tested));
  if (map->looked) print_telling(map, out);
  if (map->ranks < 3)
    fprintf(out, "  note                  fewer than three ranks: there is one order only\n");
  else if (map->looked && map->telling == 0)
    fprintf(out, "  note                  all of these results are order-insensitive\n");
  fprintf(out, "\n");
}

fold_status fold_map_legend_print(const struct fold_map_legend *legend, FILE *out) {
  if (legend->n) fprintf(out, "trees over ranks (x[r]: rank r's term)\n\n");
  for (size_t k = 0; k < legend->n; k++) {
    const struct fold_map_class *c = legend->class[k];
    print_letter(legend, c, out);
    print_what(c, out);
    fprintf(out, "; 0x%016llx, height %zu, adds in %s\n", (unsigned long long)c->fingerprint,
            fold_tree_height(&c->tree), fold_dtype_name(c->how.accumulator));
    if (fold_tree_width(&c->tree) > 2) fprintf(out, "several operands at once: %s\n", fold_fusing_text(c->how.fusing));
    FOLD_TRY(fold_tree_text(&c->tree, out));
    fprintf(out, "\n");
  }
  return fold_ok();
}
