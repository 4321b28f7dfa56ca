/* ledger.c: see ledger.h. */
#include "hunt/ledger.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/path.h"

static const char *text_at(const json_t *line, const char *key) {
  return json_string_value(json_object_get(line, key));
}

static bool is_found(const json_t *line) {
  const char *type = text_at(line, "type");
  return type && strcmp(type, "found") == 0;
}

static bool is_whole(const json_t *line) {
  static const char *const keys[] = {"subject", "engine", "claim", "fixture", "case"};
  bool whole = true;
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) whole &= text_at(line, keys[i]) != NULL;
  return whole;
}

static fold_status take_line(struct fold_ledger *ledger, const char *text, size_t number) {
  json_error_t error;
  json_t *line = json_loads(text, 0, &error);
  const bool right = line && (!is_found(line) || is_whole(line));
  if (right && is_found(line)) json_array_append(ledger->lines, line);
  json_decref(line);
  if (right) return fold_ok();
  return fold_error(FOLD_BAD_INPUT, "%s:%zu: no line of a ledger: %.100s", fold_path_tail(ledger->path), number,
                    line ? "it lacks a subject, an engine, a claim, a fixture or a case" : error.text);
}

static fold_status read_lines(struct fold_ledger *ledger, FILE *in) {
  char *text = NULL;
  size_t room = 0, number = 0;
  fold_status status = fold_ok();
  while (status.code == FOLD_OK && getline(&text, &room, in) >= 0) {
    number++;
    if (text[strspn(text, " \t\r\n")]) status = take_line(ledger, text, number);
  }
  free(text);
  if (status.code == FOLD_OK && ferror(in))
    status = fold_error(FOLD_BAD_INPUT, "%s: %s", fold_path_tail(ledger->path), strerror(errno));
  return status;
}

static fold_status not_written(const char *path) {
  return fold_error(fold_write_code(errno), "%s: cannot be written: %s", fold_path_tail(path), strerror(errno));
}

/* Finds out before a hunt whether its finds can be added. */
static fold_status check_written(const char *path) {
  const bool missing = access(path, F_OK) != 0;
  FILE *out = fopen(path, "a");
  if (!out) return not_written(path);
  fclose(out);
  if (missing) unlink(path);
  return fold_ok();
}

fold_status fold_ledger_read(const char *path, struct fold_ledger *ledger) {
  *ledger = (struct fold_ledger){path, json_array()};
  if (path) FOLD_TRY(check_written(path));
  FILE *in = path ? fopen(path, "r") : NULL;
  if (path && !in && errno != ENOENT)
    return fold_error(FOLD_BAD_INPUT, "%s: %s", fold_path_tail(path), strerror(errno));
  if (!in) return fold_ok();
  const fold_status status = read_lines(ledger, in);
  fclose(in);
  return status;
}

/* How much of a path is its folder, with the '/'. */
static size_t folder_of(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? (size_t)(slash + 1 - path) : 0;
}

size_t fold_ledger_length(const struct fold_ledger *ledger) { return json_array_size(ledger->lines); }

struct fold_ledger_line fold_ledger_at(const struct fold_ledger *ledger, size_t i) {
  const json_t *line = json_array_get(ledger->lines, i);
  const char *fixture = text_at(line, "fixture");
  struct fold_ledger_line of = {.subject = text_at(line, "subject"),
                                .engine = text_at(line, "engine"),
                                .claim = text_at(line, "claim"),
                                .of_case = text_at(line, "case"),
                                .broken = json_is_true(json_object_get(line, "broken"))};
  snprintf(of.fixture, sizeof of.fixture, "%.*s%s", *fixture == '/' ? 0 : (int)folder_of(ledger->path), ledger->path,
           fixture);
  return of;
}

/* Below the ledger's folder a path is kept relative to it, so that both can be moved. */
static void path_in(const char *ledger, const char *fixture, char path[PATH_MAX]) {
  char folder[PATH_MAX], whole[PATH_MAX];
  snprintf(folder, sizeof folder, "%.*s.", (int)folder_of(ledger), ledger);
  if (!realpath(folder, path) || !realpath(fixture, whole)) {
    snprintf(path, PATH_MAX, "%s", fixture);
    return;
  }
  const size_t n = strlen(path);
  const bool below = strncmp(whole, path, n) == 0 && whole[n] == '/';
  snprintf(path, PATH_MAX, "%s", below ? whole + n + 1 : whole);
}

static json_t *line_of(const char *ledger, const struct fold_registry *registry, const struct fold_find *find,
                       uint64_t seed) {
  size_t n_claims;
  char number[24], date[40], path[PATH_MAX];
  const time_t now = time(NULL);
  struct tm parts;
  const struct fold_subject *subject = &registry->subjects[find->subject];
  snprintf(number, sizeof number, "0x%llx", (unsigned long long)seed);
  path_in(ledger, find->path, path);
  strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &parts));
  return json_pack("{s:s,s:s,s:s,s:s,s:b,s:s,s:s,s:s,s:s}", "type", "found", "subject", subject->name, "engine",
                   fold_engine_name(subject->engine), "claim", fold_claims(&n_claims)[find->claim].name, "broken",
                   find->broken, "fixture", path, "case", find->from, "seed", number, "date", date);
}

fold_status fold_ledger_add(struct fold_ledger *ledger, const struct fold_registry *registry,
                            const struct fold_find *find, uint64_t seed) {
  if (!ledger->path) return fold_ok();
  json_t *line = line_of(ledger->path, registry, find, seed);
  char *text = line ? json_dumps(line, JSON_COMPACT) : NULL;
  json_decref(line);
  if (!text) return fold_no_memory("for the ledger");
  FILE *out = fopen(ledger->path, "a+");
  const bool open = out && fseek(out, -1, SEEK_END) == 0 && fgetc(out) != '\n'; /* an editor left its last line so */
  bool written = out && fprintf(out, "%s%s\n", open ? "\n" : "", text) > 0;
  if (out) written &= fclose(out) == 0;
  free(text);
  return written ? fold_ok() : not_written(ledger->path);
}

void fold_ledger_close(struct fold_ledger *ledger) { json_decref(ledger->lines); }
