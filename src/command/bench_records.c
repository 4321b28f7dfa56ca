/* command/bench_records.c: writes timed collectives as records of types "scaling" and "allreduce". */
#include <stdio.h>

#include "command/bench_world.h"

static void set_span(json_t *line, const char *share, const struct fold_span *span) {
  const struct {
    const char *name;
    double value;
  } parts[] = {{"median", span->median}, {"p10", span->p10}, {"p90", span->p90}};
  for (size_t k = 0; line && k < sizeof parts / sizeof *parts; k++) {
    char key[48];
    snprintf(key, sizeof key, "%s%s_seconds", share, parts[k].name);
    fold_record_number(line, key, parts[k].value);
  }
}

static json_t *open_record(const struct world_bench *w, const char *type, const struct line *l) {
  const struct fold_world_timing *t = l->t;
  struct fold_world *world;
  json_t *line = json_pack("{s:i, s:s, s:s, s:s, s:s, s:s, s:I, s:s, s:I, s:i, s:s, s:s, s:b}", "schema", FOLD_SCHEMA,
                           "type", type, "subject", t->subject->name, "engine", fold_engine_name(t->shape.engine),
                           "dtype", fold_dtype_name(t->shape.dtype), "op", fold_op_name(t->shape.op), "workers",
                           (json_int_t)t->shape.ranks, "generator", w->b->generator, "seed",
                           (json_int_t)w->options.seed, "iterations", (int)w->options.iterations, "setting", w->setting,
                           "verdict", fold_judged_verdict(&t->judged), "implausible", l->figures.implausible != NULL);
  if (!line) return NULL;
  if (fold_world_of(t->shape.engine, &world).code == FOLD_OK) {
    const struct fold_wire_hello *hello = fold_world_hello(world, 0);
    json_object_set_new(line, "library", json_string(hello->library));
    json_object_set_new(line, "world", json_integer(fold_world_ranks(world)));
    if (hello->device[0]) json_object_set_new(line, "device", json_string(hello->device));
  }
  set_span(line, "", &t->share[FOLD_SHARE_ALL]);
  fold_record_number(line, "to_library", l->to_library);
  json_object_set_new(line, "peer", json_string(w->peer));
  if (t->checked) {
    char hash[24];
    snprintf(hash, sizeof hash, "0x%016llx", (unsigned long long)t->hash);
    json_object_set_new(line, "output_xxh3", json_string(hash));
  }
  json_object_set_new(line, "noisy", json_boolean(l->figures.noisy != NULL));
  if (l->figures.implausible) json_object_set_new(line, "why", json_string(l->figures.implausible));
  if (l->figures.noisy) json_object_set_new(line, "why", json_string(l->figures.noisy));
  if (t->judged.note[0]) json_object_set_new(line, "note", json_string(t->judged.note));
  return line;
}

fold_status fold_bench_take_message(const struct world_bench *w, const struct line *l) {
  json_t *line = open_record(w, "allreduce", l);
  if (line) {
    uint64_t n = l->t->shape.rows;
    json_object_set_new(line, "n", json_integer((json_int_t)n));
    json_object_set_new(line, "bytes", json_integer((json_int_t)(n * fold_dtype_size(l->t->shape.dtype))));
    fold_record_number(line, "algorithm_bytes_per_second", l->figures.algorithm);
    fold_record_number(line, "bus_bytes_per_second", l->figures.bus);
    fold_record_number(line, "link_bytes_per_second", w->limits.link);
  }
  return fold_bench_take(w->b, line);
}

fold_status fold_bench_take_scaling(const struct world_bench *w, const struct line *l, bool weak, uint64_t n) {
  json_t *line = open_record(w, "scaling", l);
  if (line) {
    json_object_set_new(line, "mode", json_string(weak ? "weak" : "strong"));
    json_object_set_new(line, "n", json_integer((json_int_t)n));
    set_span(line, "local_", &l->t->share[FOLD_SHARE_LOCAL]);
    set_span(line, "calls_", &l->t->share[FOLD_SHARE_CALLS]);
    fold_record_number(line, "overhead_seconds", l->figures.overhead);
    fold_record_number(line, "speed_up", l->figures.speed_up);
    fold_record_number(line, "efficiency", l->figures.efficiency);
    fold_record_number(line, "bytes_per_second", l->figures.bytes_per_second);
    fold_record_number(line, "ceiling_bytes_per_second", w->limits.memory.rate * l->t->shape.ranks);
    fold_record_number(line, "of_ceiling", l->figures.of_ceiling);
  }
  return fold_bench_take(w->b, line);
}
