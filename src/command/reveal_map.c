/* command/reveal_map.c: foldproof reveal --map: reveals the trees over ranks of every element, by setting and length of
 * message. */
#include "command/reveal_map.h"

#include <stdlib.h>

#include "rank_trees/map.h"
#include "ranks/setting.h"
#include "ranks/world.h"
#include "run/environment.h"

struct maps {
  const struct fold_map_options *options;
  const struct fold_subject *subject;
  enum fold_dtype dtype;
  struct fold_map *map;
  const char **setting; /* the setting of each map */
  size_t n;
  struct fold_records records;
};

static fold_status check(const struct fold_subject *s) {
  if (fold_engine_has_ranks(s->engine)) return fold_ok();
  return fold_error(FOLD_BAD_INPUT, "--map is of sums over ranks, and %s on %s has none", s->name,
                    fold_engine_rows[s->engine].title);
}

static fold_status write_record(struct maps *m, const struct fold_map *map, const char *setting) {
  json_t *line;
  if (m->records.file == NULL) return fold_ok();
  FOLD_TRY(fold_map_json(map, setting, &line));
  json_object_set_new(line, "schema", json_integer(FOLD_SCHEMA));
  json_object_set_new(line, "type", json_string("map"));
  return fold_records_line(&m->records, line);
}

static fold_status map_setting(struct maps *m, const char *setting) {
  for (size_t k = 0; k < m->options->lengths; k++) {
    const struct fold_map_asked asked = {m->subject, m->dtype, (size_t)m->options->length[k]};
    struct fold_map *map = &m->map[m->n];
    m->setting[m->n] = setting;
    m->n++;
    const fold_status status = fold_map_reveal(&asked, map);
    if (status.code != FOLD_OK) {
      fold_map_free(map);
      m->n--;
      return fold_within(status, "%s, %zu elements", setting, asked.n);
    }
    FOLD_TRY(write_record(m, map, setting));
  }
  return fold_ok();
}

static fold_status map_all(struct maps *m) {
  size_t n, mapped = 0;
  const struct fold_world_setting *settings = fold_world_settings(&n);
  m->map = calloc(n * m->options->lengths + 1, sizeof *m->map);
  m->setting = calloc(n * m->options->lengths + 1, sizeof *m->setting);
  if (!m->map || !m->setting) return fold_no_memory("for maps");
  for (size_t k = 0; k < n; k++) {
    struct fold_setting_before before;
    if (settings[k].engine != m->subject->engine || !fold_glob_match(m->options->settings, settings[k].name)) continue;
    mapped++;
    FOLD_TRY(fold_setting_enter(&settings[k], &before));
    const fold_status status = map_setting(m, settings[k].name), left = fold_setting_leave(&settings[k], &before);
    FOLD_TRY(status);
    FOLD_TRY(left);
  }
  if (mapped > 0) return fold_ok();
  return fold_world_no_setting(m->subject->engine, m->options->settings);
}

static fold_status print_text(const struct maps *m, FILE *out) {
  struct fold_map_legend legend = {0};
  fold_status status = fold_ok();
  for (size_t k = 0; k < m->n && status.code == FOLD_OK; k++) status = fold_map_legend_add(&legend, &m->map[k]);
  if (m->n > 0 && status.code == FOLD_OK)
    fprintf(out, "%s over %u ranks, %s: sums of %s, the tree of every element\n\n", m->subject->name, m->map[0].ranks,
            m->map[0].library, fold_dtype_name(m->dtype));
  if (m->n > 1 && status.code == FOLD_OK) fold_map_print_table(m->map, m->setting, m->n, &legend, out);
  for (size_t k = 0; k < m->n && status.code == FOLD_OK; k++) fold_map_print(&m->map[k], &legend, m->setting[k], out);
  if (status.code == FOLD_OK) status = fold_map_legend_print(&legend, out);
  fold_map_legend_free(&legend);
  return status;
}

static fold_status print_json(const struct maps *m, FILE *out) {
  json_t *all = json_array(), *one;
  fold_status status = all ? fold_ok() : fold_no_memory("for maps");
  for (size_t k = 0; k < m->n && status.code == FOLD_OK; k++) {
    status = fold_map_json(&m->map[k], m->setting[k], &one);
    if (status.code == FOLD_OK) json_array_append_new(all, one);
  }
  char *text = status.code == FOLD_OK ? json_dumps(all, JSON_COMPACT) : NULL;
  json_decref(all);
  FOLD_TRY(status);
  if (text == NULL) return fold_no_memory("for maps");
  fprintf(out, "%s\n", text);
  free(text);
  return fold_ok();
}

fold_status fold_reveal_maps(const struct fold_map_options *options, const struct fold_subject *subject,
                             enum fold_dtype dtype, bool json, FILE *out, int *code) {
  struct maps m = {.options = options, .subject = subject, .dtype = dtype};
  fold_status status = check(subject);
  if (status.code == FOLD_OK && options->jsonl) status = fold_records_open(&m.records, options->jsonl);
  if (status.code == FOLD_OK && options->jsonl) status = fold_records_environment(&m.records, fold_environment());
  if (status.code == FOLD_OK) status = map_all(&m);
  const fold_status closed = fold_close_records("foldproof reveal", &m.records, status);
  if (status.code == FOLD_OK) status = closed;
  /* what was finished before a failure is printed too */
  const fold_status printed = json ? print_json(&m, out) : print_text(&m, out);
  if (status.code == FOLD_OK) status = printed;
  *code = m.n == 0;
  for (size_t k = 0; k < m.n; k++) {
    *code |= !fold_map_holds(&m.map[k]);
    fold_map_free(&m.map[k]);
  }
  free(m.map);
  free(m.setting);
  return status;
}
