/* rig.c: opens a rig's memory; lays, moves, changes and hashes the inputs in it between runs. */
#include "rig/private.h"

#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "base/hash.h"
#include "rig/world.h"

enum { ZONE_BYTE = 0xff, READ_PART = 1 << 22 };

size_t fold_rig_place(const struct fold_rig *rig, const struct fold_rig_input *in) {
  if (rig->placement == FOLD_AT_START) return 0;
  if (rig->placement == FOLD_AT_END) return in->room.bytes - in->n * in->size;
  return (size_t)((ptrdiff_t)FOLD_RIG_GUARD + in->shift * (ptrdiff_t)in->size);
}

static unsigned char *mirrored(const struct fold_rig *rig, const struct fold_rig_input *in) {
  return in->mirror + fold_rig_place(rig, in);
}

void *fold_rig_input_at(const struct fold_rig *rig, unsigned input) { return mirrored(rig, &rig->in[input]); }
void *fold_rig_input(const struct fold_rig *rig) { return fold_rig_input_at(rig, 0); }

static void lay_zones(const struct fold_rig *rig, const struct fold_rig_input *in) {
  size_t at = fold_rig_place(rig, in), end = fold_rig_end(rig, in);
  memset(in->mirror, ZONE_BYTE, at);
  memset(in->mirror + end, ZONE_BYTE, in->room.bytes - end);
}

fold_status fold_rig_load(struct fold_rig *rig) {
  rig->hashed = false;
  rig->spread.current = false;
  for (unsigned k = 0; k < rig->inputs; k++) lay_zones(rig, &rig->in[k]);
  rig->stale = !rig->ops->is_host;
  return fold_ok();
}

fold_status fold_rig_send(struct fold_rig *rig) {
  if (!rig->stale) return fold_ok();
  for (unsigned k = 0; k < rig->inputs; k++) {
    const struct fold_rig_input *in = &rig->in[k];
    FOLD_TRY(rig->ops->write(in->room.at, in->mirror, in->room.bytes));
  }
  rig->stale = rig->sure = false;
  return fold_ok();
}

static fold_status open_input(struct fold_rig *rig, struct fold_rig_input *in) {
  if (in->n > (SIZE_MAX - 2 * FOLD_RIG_GUARD) / 8) /* unseen: 3 | >= | 9 */
    return fold_no_memory("for %zu elements", in->n);
  /* unseen: 3 */
  FOLD_TRY(fold_room_open(rig->ops, in->n * in->size + 2 * FOLD_RIG_GUARD, true, &in->room));
  in->mirror = in->room.region.own;
  return rig->ops->is_host ? fold_ok() : fold_engine_of(FOLD_HOST)->alloc(in->room.bytes, (void **)&in->mirror);
}

static void close_output(struct fold_rig *rig) {
  if (!rig->ops->is_host) free(rig->out_host);
  rig->out_host = NULL;
  fold_room_close(rig->ops, &rig->out);
}

/* Results of max_rows rows, each of so many bytes. */
fold_status fold_rig_open_output(struct fold_rig *rig, size_t size) {
  const size_t nbytes = rig->max_rows * size + 2 * FOLD_RIG_GUARD + FOLD_RIG_SLACK * 8;
  if (rig->out.at && rig->out_size >= size) return fold_ok();
  close_output(rig);
  rig->out_size = size;
  FOLD_TRY(fold_room_open(rig->ops, nbytes, false, &rig->out));
  rig->out_host = rig->ops->is_host ? rig->out.at : malloc(rig->out.bytes);
  return rig->out_host ? fold_ok() : fold_no_memory("for %zu results", rig->max_rows);
}

fold_status fold_rig_open(struct fold_rig *rig, enum fold_engine engine, const struct fold_problem *problem,
                          enum fold_dtype dtype, const size_t n[FOLD_INPUTS], size_t max_rows) {
  const unsigned inputs = problem->inputs;
  struct fold_world *world = NULL;
  if (fold_engine_has_ranks(engine)) FOLD_TRY(fold_world_of(engine, &world));
  if (world && inputs > 1) return fold_error(FOLD_UNSUPPORTED, "ranks share one input");
  if (world) engine = FOLD_HOST;
  *rig = (struct fold_rig){.ops = fold_engine_of(engine),
                           .problem = problem,
                           .dtype = dtype,
                           .inputs = inputs,
                           .max_rows = max_rows,
                           .world = world,
                           .ranks = 1};
  if (rig->ops == NULL) return fold_error(FOLD_UNSUPPORTED, "this build has no engine %s", fold_engine_name(engine));
  fold_status status = fold_ok();
  for (unsigned k = 0; k < inputs && status.code == FOLD_OK; k++) {
    rig->in[k].n = n[k];
    rig->in[k].size = fold_input_size(problem, dtype, k);
    status = open_input(rig, &rig->in[k]);
  }
  if (status.code == FOLD_OK) status = fold_rig_open_output(rig, fold_dtype_size(dtype));
  if (status.code != FOLD_OK) fold_rig_close(rig);
  return status;
}

void fold_rig_close(struct fold_rig *rig) {
  if (rig->ops == NULL) return;
  if (rig->ops->is_host) fold_faults_give_handlers_back();
  for (unsigned k = 0; k < rig->inputs; k++) {
    struct fold_rig_input *in = &rig->in[k];
    if (!rig->ops->is_host) free(in->mirror);
    if (in->known) rig->ops->release(in->known);
    fold_room_close(rig->ops, &in->room);
  }
  close_output(rig);
  fold_room_close(rig->ops, &rig->scratch);
  free(rig->spread.sent);
  *rig = (struct fold_rig){0};
}

fold_status fold_rig_move_apart(struct fold_rig *rig, ptrdiff_t shift, ptrdiff_t others) {
  bool moved = false;
  const bool hashed = rig->hashed, current = rig->spread.current;
  for (unsigned k = 0; k < rig->inputs; k++) {
    struct fold_rig_input *in = &rig->in[k];
    ptrdiff_t to = k == 0 ? shift : others;
    if (to == in->shift) continue;
    const unsigned char *from = mirrored(rig, in);
    in->shift = to;
    memmove(mirrored(rig, in), from, in->n * in->size);
    moved = true;
  }
  fold_status status = moved ? fold_rig_load(rig) : fold_ok();
  rig->hashed = hashed; /* the same terms elsewhere; ranks move their parts themselves */
  rig->spread.current = current;
  return status;
}

fold_status fold_rig_move(struct fold_rig *rig, ptrdiff_t shift) { return fold_rig_move_apart(rig, shift, shift); }

void fold_rig_lay(struct fold_rig *rig, enum fold_placement placement) {
  if (placement == rig->placement) return;
  const unsigned char *from[FOLD_INPUTS];
  for (unsigned k = 0; k < rig->inputs; k++) from[k] = mirrored(rig, &rig->in[k]);
  rig->placement = placement;
  for (unsigned k = 0; k < rig->inputs; k++) {
    memmove(mirrored(rig, &rig->in[k]), from[k], rig->in[k].n * rig->in[k].size);
    lay_zones(rig, &rig->in[k]);
  }
}

fold_status fold_rig_poke(struct fold_rig *rig, size_t at, uint64_t bits, uint64_t *former) {
  struct fold_rig_input *in = rig->in;
  for (; at >= in->n && in + 1 < rig->in + rig->inputs; in++) at -= in->n;
  size_t place = fold_rig_place(rig, in) + at * in->size;
  *former = fold_bits_load(rig->dtype, mirrored(rig, in), at);
  fold_bits_store(rig->dtype, mirrored(rig, in), at, bits);
  rig->hashed = rig->spread.current = rig->sure = false;
  if (rig->ops->is_host || rig->stale) return fold_ok();
  return rig->ops->write(in->room.at + place, in->mirror + place, in->size);
}

/* `from`: where the zone of input k begins in the room. */
static void look_at_zone(const struct fold_rig *rig, unsigned k, const unsigned char *zone, size_t from, size_t nbytes,
                         struct fold_traces *traces) {
  size_t at;
  if (traces->out_of_bounds || !fold_rig_find_other(zone, nbytes, ZONE_BYTE, &at)) return;
  traces->out_of_bounds = true;
  traces->bounds_of = fold_rig_argument(k);
  traces->bounds_by = FOLD_WRITTEN; /* unseen: drop */
  traces->bounds_at = (ptrdiff_t)(from + at) - (ptrdiff_t)fold_rig_place(rig, &rig->in[k]);
}

static fold_status write_zones(const struct fold_rig *rig, const struct fold_rig_input *in) {
  size_t start = fold_rig_place(rig, in), end = fold_rig_end(rig, in);
  lay_zones(rig, in);
  if (rig->ops->is_host) return fold_ok();
  FOLD_TRY(rig->ops->write(in->room.at, in->mirror, start));
  return rig->ops->write(in->room.at + end, in->mirror + end, in->room.bytes - end);
}

/* The zones are laid again, so that the next run's traces do not tell this run's stray write again. The input is left as
 * it is. */
fold_status fold_rig_look_at_zones(struct fold_rig *rig, const struct fold_rig_zones zones[FOLD_INPUTS],
                                   struct fold_traces *traces) {
  bool before = traces->out_of_bounds;
  for (unsigned k = 0; k < rig->inputs; k++) {
    const struct fold_rig_input *in = &rig->in[k];
    size_t end = fold_rig_end(rig, in);
    look_at_zone(rig, k, zones[k].before, 0, fold_rig_place(rig, in), traces);
    look_at_zone(rig, k, zones[k].after, end, in->room.bytes - end, traces);
  }
  if (!traces->out_of_bounds || (before && !rig->ops->is_host)) return fold_ok();
  for (unsigned k = 0; k < rig->inputs; k++) FOLD_TRY(write_zones(rig, &rig->in[k]));
  return fold_ok();
}

uint64_t fold_rig_hash_host(const struct fold_rig *rig) {
  uint64_t hash = 0;
  for (unsigned k = 0; k < rig->inputs; k++)
    hash = XXH3_64bits_withSeed(mirrored(rig, &rig->in[k]), rig->in[k].n * rig->in[k].size, hash);
  return hash;
}

void fold_rig_set_hash(struct fold_rig *rig, uint64_t hash) {
  rig->hash = hash;
  rig->hashed = rig->ops->is_host; /* unseen: drop */
}

fold_status fold_rig_parts_kept(struct fold_rig *rig, bool *kept) {
  *kept = true;
  return rig->world ? fold_rig_world_kept(rig, kept) : fold_ok();
}

/* XXH3-64 of a device's memory, read part by part; *hash is the seed. */
static fold_status hash_device(const struct fold_rig *rig, const unsigned char *input, size_t nbytes, uint64_t *hash) {
  XXH3_state_t *state = XXH3_createState();
  unsigned char *part = malloc(nbytes < READ_PART ? nbytes + 1 : READ_PART); /* unseen: >= */
  fold_status status = state && part ? fold_ok() : fold_no_memory("to hash the input");
  if (status.code == FOLD_OK) XXH3_64bits_reset_withSeed(state, *hash);
  for (size_t at = 0; status.code == FOLD_OK && at < nbytes; at += READ_PART) { /* unseen: <= */
    size_t n = nbytes - at < READ_PART ? nbytes - at : READ_PART;
    status = rig->ops->read(part, input + at, n);
    if (status.code == FOLD_OK) XXH3_64bits_update(state, part, n);
  }
  if (status.code == FOLD_OK) *hash = XXH3_64bits_digest(state);
  free(part);
  XXH3_freeState(state);
  return status;
}

/* Keeps a copy of the hashed input on the device, if there is room. */
static fold_status keep_known(struct fold_rig *rig, struct fold_rig_input *in, const unsigned char *input,
                              uint64_t hash) {
  size_t nbytes = in->n * in->size;
  if (!in->known && rig->ops->alloc(nbytes, &in->known).code != FOLD_OK) return fold_ok();
  in->known_hash = hash;
  return rig->ops->copy(in->known, input, nbytes);
}

/* Hashes a device's input; the seed is the hash of the input before it. The known hash still holds if this input and
 * all before it are unchanged. */
static fold_status hash_input(struct fold_rig *rig, struct fold_rig_input *in, bool *as_before, uint64_t *hash) {
  size_t nbytes = in->n * in->size;
  const unsigned char *input = in->room.at + fold_rig_place(rig, in);
  bool same = false;
  if (in->known && *as_before) FOLD_TRY(rig->ops->same(input, in->known, nbytes, &same));
  *as_before = same;
  if (same) {
    *hash = in->known_hash;
    return fold_ok();
  }
  FOLD_TRY(hash_device(rig, input, nbytes, hash));
  return nbytes ? keep_known(rig, in, input, *hash) : fold_ok();
}

fold_status fold_rig_hash(struct fold_rig *rig, uint64_t *hash) {
  bool as_before = true, kept;
  FOLD_TRY(fold_rig_parts_kept(rig, &kept));
  if (rig->ops->is_host) {
    *hash = fold_rig_hash_host(rig);
    if (!kept) *hash = ~*hash;
    return fold_ok();
  }
  FOLD_TRY(fold_rig_send(rig));
  *hash = rig->sure ? rig->in[rig->inputs - 1].known_hash : 0;
  if (rig->sure) return fold_ok();
  for (unsigned k = 0; k < rig->inputs; k++) FOLD_TRY(hash_input(rig, &rig->in[k], &as_before, hash));
  rig->sure = as_before && rig->inputs > 0;
  return fold_ok();
}
