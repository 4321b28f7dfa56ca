/* rig.c: guards, poison, and runs between them. */
#include "rig_world.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "watch.h"

enum { ZONE_BYTE = 0xff, GUARD_BYTE = 0xc3, READ_PART = 1 << 22 };

static size_t element(const struct fold_rig *rig) { return fold_dtype_size(rig->dtype); }
static size_t room_bytes(const struct fold_rig *rig) { return rig->n * element(rig) + 2 * FOLD_RIG_GUARD; }

/* Where the input starts, in bytes from the start of the room. */
static size_t place(const struct fold_rig *rig) {
  return (size_t)((ptrdiff_t)FOLD_RIG_GUARD + rig->shift * (ptrdiff_t)element(rig));
}

void *fold_rig_input(const struct fold_rig *rig) { return rig->mirror + place(rig); }

static void lay_zones(struct fold_rig *rig) {
  size_t at = place(rig), nbytes = rig->n * element(rig);
  memset(rig->mirror, ZONE_BYTE, at);
  memset(rig->mirror + at + nbytes, ZONE_BYTE, room_bytes(rig) - at - nbytes);
}

fold_status fold_rig_load(struct fold_rig *rig) {
  lay_zones(rig);
  rig->spread.valid = false;
  return rig->ops->is_host ? fold_ok() : rig->ops->write(rig->room, rig->mirror, room_bytes(rig));
}

fold_status fold_rig_open(struct fold_rig *rig, enum fold_engine engine, enum fold_dtype dtype, size_t n,
                          size_t max_rows) {
  struct fold_world *world = NULL;
  if (fold_engine_has_ranks(engine)) FOLD_TRY(fold_world_of(engine, &world));
  if (world) engine = FOLD_HOST;
  *rig = (struct fold_rig){
      .ops = fold_engine_of(engine), .dtype = dtype, .n = n, .max_rows = max_rows, .world = world, .ranks = 1};
  if (rig->ops == NULL) return fold_error(FOLD_UNSUPPORTED, "this build has no engine %s", fold_engine_name(engine));
  if (n > (SIZE_MAX - 2 * FOLD_RIG_GUARD) / 8)
    return fold_error(FOLD_NO_MEMORY, "not enough memory for %zu elements", n);
  size_t out_bytes = max_rows * element(rig) + 2 * FOLD_RIG_GUARD;
  fold_status status = rig->ops->alloc(room_bytes(rig), (void **)&rig->room);
  if (status.code == FOLD_OK) status = rig->ops->alloc(out_bytes, (void **)&rig->out);
  if (status.code == FOLD_OK && rig->ops->is_host) rig->mirror = rig->room;
  if (status.code == FOLD_OK && !rig->mirror)
    status = fold_engine_of(FOLD_HOST)->alloc(room_bytes(rig), (void **)&rig->mirror);
  if (status.code == FOLD_OK && !(rig->out_host = malloc(out_bytes)))
    status = fold_error(FOLD_NO_MEMORY, "not enough memory for %zu results", max_rows);
  if (status.code != FOLD_OK) fold_rig_close(rig);
  return status;
}

void fold_rig_close(struct fold_rig *rig) {
  if (rig->ops == NULL) return;
  if (rig->mirror != rig->room) free(rig->mirror);
  if (rig->room) rig->ops->release(rig->room);
  if (rig->out) rig->ops->release(rig->out);
  if (rig->scratch) rig->ops->release(rig->scratch);
  free(rig->out_host);
  *rig = (struct fold_rig){0};
}

fold_status fold_rig_move(struct fold_rig *rig, ptrdiff_t shift) {
  if (shift == rig->shift) return fold_ok();
  unsigned char *from = fold_rig_input(rig);
  rig->shift = shift;
  memmove(fold_rig_input(rig), from, rig->n * element(rig));
  return fold_rig_load(rig);
}

/* Scratch is kept between the runs of a case; its head is zero at first, the rest is poison. */
static fold_status provide_scratch(struct fold_rig *rig, const struct fold_subject *subject, struct fold_call *call) {
  size_t need = subject->scratch ? subject->scratch(subject, call) : 0;
  if (need == 0) return fold_ok();
  if (need < FOLD_SCRATCH_ZEROED) need = FOLD_SCRATCH_ZEROED;
  if (need > rig->scratch_bytes) {
    if (rig->scratch) rig->ops->release(rig->scratch);
    rig->scratch = NULL;
    rig->scratch_bytes = 0;
    FOLD_TRY(rig->ops->alloc(need, &rig->scratch));
    rig->scratch_bytes = need;
  }
  FOLD_TRY(rig->ops->fill(rig->scratch, ZONE_BYTE, rig->scratch_bytes));
  FOLD_TRY(rig->ops->fill(rig->scratch, 0, FOLD_SCRATCH_ZEROED));
  call->scratch = rig->scratch;
  return fold_ok();
}

static bool find_other(const unsigned char *bytes, size_t n, unsigned char want, size_t *at) {
  for (*at = 0; *at < n; ++*at)
    if (bytes[*at] != want) return true;
  return false;
}

static void look_at_guards(const struct fold_rig *rig, size_t out_bytes, struct fold_traces *traces) {
  const unsigned char *after = rig->out_host + FOLD_RIG_GUARD + out_bytes;
  size_t at;
  if (find_other(rig->out_host, FOLD_RIG_GUARD, GUARD_BYTE, &at)) {
    traces->out_of_bounds = true;
    traces->bounds_at = (ptrdiff_t)at - FOLD_RIG_GUARD;
  } else if (find_other(after, FOLD_RIG_GUARD, GUARD_BYTE, &at)) {
    traces->out_of_bounds = true;
    traces->bounds_at = (ptrdiff_t)(out_bytes + at);
  }
}

/* The zones around the input, read from the engine. */
static fold_status look_at_zones(const struct fold_rig *rig, struct fold_traces *traces) {
  size_t start = place(rig), end = start + rig->n * element(rig), at;
  unsigned char zone[2 * FOLD_RIG_GUARD];
  FOLD_TRY(rig->ops->read(zone, rig->room, start));
  if (find_other(zone, start, ZONE_BYTE, &at)) {
    traces->out_of_bounds = traces->in_input_zone = true;
    traces->bounds_at = (ptrdiff_t)at - (ptrdiff_t)start;
  }
  FOLD_TRY(rig->ops->read(zone, rig->room + end, room_bytes(rig) - end));
  if (find_other(zone, room_bytes(rig) - end, ZONE_BYTE, &at)) {
    traces->out_of_bounds = traces->in_input_zone = true;
    traces->bounds_at = (ptrdiff_t)(end - start + at);
  }
  return fold_ok();
}

/* Lays the zones anew, and leaves the input: who strayed is told by this run's traces, and not by the next one's. */
static fold_status renew_zones(struct fold_rig *rig) {
  size_t start = place(rig), end = start + rig->n * element(rig);
  lay_zones(rig);
  if (rig->ops->is_host) return fold_ok();
  FOLD_TRY(rig->ops->write(rig->room, rig->mirror, start));
  return rig->ops->write(rig->room + end, rig->mirror + end, room_bytes(rig) - end);
}

static void look_for_poison(const struct fold_rig *rig, const struct fold_request *request,
                            struct fold_traces *traces) {
  const unsigned char *results = rig->out_host + FOLD_RIG_GUARD;
  for (size_t r = 0, at; r < request->rows && !traces->unwritten; r++) {
    traces->unwritten = !find_other(results + r * element(rig), element(rig), request->poison, &at);
    traces->unwritten_at = r;
  }
}

fold_status fold_rig_run(struct fold_rig *rig, const struct fold_subject *subject, const struct fold_request *request,
                         void *got, struct fold_traces *traces) {
  if (rig->world) return fold_rig_world_run(rig, subject, request, got, traces);
  size_t out_bytes = request->rows * element(rig), whole = out_bytes + 2 * FOLD_RIG_GUARD;
  *traces = (struct fold_traces){0};
  memset(rig->out_host, GUARD_BYTE, whole);
  memset(rig->out_host + FOLD_RIG_GUARD, request->poison, out_bytes);
  FOLD_TRY(rig->ops->write(rig->out, rig->out_host, whole));
  struct fold_call call = {
      .dtype = rig->dtype,
      .op = request->op,
      .rows = request->rows,
      .cols = request->cols,
      .in = rig->room + place(rig) + request->first * element(rig),
      .out = rig->out + FOLD_RIG_GUARD,
      .launch = request->launch,
      .comm = request->comm,
      .first_col = request->first_col,
      .all_cols = request->all_cols,
  };
  FOLD_TRY(provide_scratch(rig, subject, &call));
  fold_watch_begin(call.rows * call.cols);
  fold_status status = subject->run(subject, &call);
  fold_status finished = rig->ops->finish();
  fold_watch_end();
  if (status.code != FOLD_OK) return status;
  FOLD_TRY(finished);
  FOLD_TRY(rig->ops->read(rig->out_host, rig->out, whole));
  memcpy(got, rig->out_host + FOLD_RIG_GUARD, out_bytes);
  look_for_poison(rig, request, traces);
  look_at_guards(rig, out_bytes, traces);
  FOLD_TRY(look_at_zones(rig, traces));
  if (traces->out_of_bounds && !rig->stray.out_of_bounds) rig->stray = *traces;
  return traces->in_input_zone ? renew_zones(rig) : fold_ok();
}

fold_status fold_rig_hash(struct fold_rig *rig, uint64_t *hash) {
  size_t nbytes = rig->n * element(rig);
  const unsigned char *input = rig->room + place(rig);
  if (rig->world) FOLD_TRY(fold_rig_world_check(rig));
  if (rig->ops->is_host) {
    *hash = XXH3_64bits(input, nbytes);
    if (rig->part_changed) *hash = ~*hash;
    rig->part_changed = false;
    return fold_ok();
  }
  XXH3_state_t *state = XXH3_createState();
  unsigned char *part = malloc(READ_PART);
  fold_status status = state && part ? fold_ok() : fold_error(FOLD_NO_MEMORY, "not enough memory to hash the input");
  if (status.code == FOLD_OK) XXH3_64bits_reset(state);
  for (size_t at = 0; status.code == FOLD_OK && at < nbytes; at += READ_PART) {
    size_t n = nbytes - at < READ_PART ? nbytes - at : READ_PART;
    status = rig->ops->read(part, input + at, n);
    if (status.code == FOLD_OK) XXH3_64bits_update(state, part, n);
  }
  if (status.code == FOLD_OK) *hash = XXH3_64bits_digest(state);
  free(part);
  XXH3_freeState(state);
  return status;
}
