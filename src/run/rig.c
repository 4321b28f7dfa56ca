/* rig.c: the rooms, and the input in them: laid, moved, changed and hashed between runs. */
#include "rig_private.h"

#include <stdlib.h>
#include <string.h>

#include "bits.h"
#include "hash.h"
#include "rig_world.h"

enum { ZONE_BYTE = 0xff, READ_PART = 1 << 22 };

/* Where the input starts, in bytes from the start of its room. */
size_t fold_rig_place(const struct fold_rig *rig) {
  if (rig->placement == FOLD_AT_START) return 0;
  if (rig->placement == FOLD_AT_END) return rig->in.bytes - rig->n * fold_rig_element(rig);
  return (size_t)((ptrdiff_t)FOLD_RIG_GUARD + rig->shift * (ptrdiff_t)fold_rig_element(rig));
}

void *fold_rig_input(const struct fold_rig *rig) { return rig->mirror + fold_rig_place(rig); }

static void lay_zones(struct fold_rig *rig) {
  size_t at = fold_rig_place(rig), end = at + rig->n * fold_rig_element(rig);
  memset(rig->mirror, ZONE_BYTE, at);
  memset(rig->mirror + end, ZONE_BYTE, rig->in.bytes - end);
}

fold_status fold_rig_load(struct fold_rig *rig) {
  lay_zones(rig);
  rig->hashed = false;
  if (rig->world) FOLD_TRY(fold_rig_world_check(rig));
  rig->spread.valid = false;
  return rig->ops->is_host ? fold_ok() : rig->ops->write(rig->in.at, rig->mirror, rig->in.bytes);
}

static fold_status open_rooms(struct fold_rig *rig) {
  size_t size = fold_rig_element(rig), guards = 2 * FOLD_RIG_GUARD;
  FOLD_TRY(fold_room_open(rig->ops, rig->n * size + guards, true, &rig->in));
  FOLD_TRY(fold_room_open(rig->ops, rig->max_rows * size + guards + FOLD_RIG_SLACK * size, false, &rig->out));
  if (rig->ops->is_host) {
    rig->mirror = rig->in.region.own;
    rig->out_host = rig->out.at;
    return fold_ok();
  }
  FOLD_TRY(fold_engine_of(FOLD_HOST)->alloc(rig->in.bytes, (void **)&rig->mirror));
  rig->out_host = malloc(rig->out.bytes);
  return rig->out_host ? fold_ok() : fold_error(FOLD_NO_MEMORY, "not enough memory for %zu results", rig->max_rows);
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
  fold_status status = open_rooms(rig);
  if (status.code != FOLD_OK) fold_rig_close(rig);
  return status;
}

void fold_rig_close(struct fold_rig *rig) {
  if (rig->ops == NULL) return;
  if (rig->ops->is_host) {
    fold_faults_give_handlers_back();
  } else {
    free(rig->mirror);
    free(rig->out_host);
    if (rig->known) rig->ops->release(rig->known);
  }
  fold_room_close(rig->ops, &rig->in);
  fold_room_close(rig->ops, &rig->out);
  fold_room_close(rig->ops, &rig->scratch);
  free(rig->spread.sent);
  *rig = (struct fold_rig){0};
}

fold_status fold_rig_move(struct fold_rig *rig, ptrdiff_t shift) {
  if (shift == rig->shift) return fold_ok();
  unsigned char *from = fold_rig_input(rig);
  rig->shift = shift;
  memmove(fold_rig_input(rig), from, rig->n * fold_rig_element(rig));
  return fold_rig_load(rig);
}

void fold_rig_lay(struct fold_rig *rig, enum fold_placement placement) {
  if (placement == rig->placement) return;
  unsigned char *from = fold_rig_input(rig);
  rig->placement = placement;
  memmove(fold_rig_input(rig), from, rig->n * fold_rig_element(rig));
  lay_zones(rig);
}

fold_status fold_rig_poke(struct fold_rig *rig, size_t at, uint64_t bits, uint64_t *former) {
  size_t size = fold_rig_element(rig), place = fold_rig_place(rig) + at * size;
  if (rig->world) FOLD_TRY(fold_rig_world_check(rig));
  *former = fold_bits_load(rig->dtype, fold_rig_input(rig), at);
  fold_bits_store(rig->dtype, fold_rig_input(rig), at, bits);
  rig->hashed = rig->spread.valid = false;
  return rig->ops->is_host ? fold_ok() : rig->ops->write(rig->in.at + place, rig->mirror + place, size);
}

/* `from`: where the zone begins in the room. */
static void look_at_zone(const struct fold_rig *rig, const unsigned char *zone, size_t from, size_t nbytes,
                         struct fold_traces *traces) {
  size_t at;
  if (traces->out_of_bounds || !fold_rig_find_other(zone, nbytes, ZONE_BYTE, &at)) return;
  traces->out_of_bounds = true;
  traces->bounds_of = FOLD_INPUT;
  traces->bounds_by = FOLD_WRITTEN;
  traces->bounds_at = (ptrdiff_t)(from + at) - (ptrdiff_t)fold_rig_place(rig);
}

/* Who strayed is told by this run's traces, and not by the next one's: the zones are laid anew, and the input is left. */
fold_status fold_rig_look_at_zones(struct fold_rig *rig, const unsigned char *zone_before,
                                   const unsigned char *zone_after, struct fold_traces *traces) {
  size_t start = fold_rig_place(rig), end = start + rig->n * fold_rig_element(rig);
  bool before = traces->out_of_bounds;
  look_at_zone(rig, zone_before, 0, start, traces);
  look_at_zone(rig, zone_after, end, rig->in.bytes - end, traces);
  if (!traces->out_of_bounds || (before && !rig->ops->is_host)) return fold_ok();
  lay_zones(rig);
  if (rig->ops->is_host) return fold_ok();
  FOLD_TRY(rig->ops->write(rig->in.at, rig->mirror, start));
  return rig->ops->write(rig->in.at + end, rig->mirror + end, rig->in.bytes - end);
}

uint64_t fold_rig_hash_host(const struct fold_rig *rig) {
  return XXH3_64bits(fold_rig_input(rig), rig->n * fold_rig_element(rig));
}

fold_status fold_rig_settle(struct fold_rig *rig) { return rig->world ? fold_rig_world_check(rig) : fold_ok(); }

/* XXH3-64 of a device's memory, read part by part. */
static fold_status hash_device(const struct fold_rig *rig, const unsigned char *input, size_t nbytes, uint64_t *hash) {
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

/* Keeps what was hashed beside it on the device, where there is room. */
static fold_status keep_known(struct fold_rig *rig, const unsigned char *input, size_t nbytes, uint64_t hash) {
  if (!rig->known && rig->ops->alloc(nbytes, &rig->known).code != FOLD_OK) return fold_ok();
  rig->known_hash = hash;
  return rig->ops->copy(rig->known, input, nbytes);
}

fold_status fold_rig_hash(struct fold_rig *rig, uint64_t *hash) {
  size_t nbytes = rig->n * fold_rig_element(rig);
  const unsigned char *input = rig->in.at + fold_rig_place(rig);
  bool same = false;
  FOLD_TRY(fold_rig_settle(rig));
  if (rig->ops->is_host) {
    *hash = fold_rig_hash_host(rig);
    if (rig->part_changed) *hash = ~*hash;
    rig->part_changed = false;
    return fold_ok();
  }
  if (rig->known) FOLD_TRY(rig->ops->same(input, rig->known, nbytes, &same));
  *hash = rig->known_hash;
  if (same) return fold_ok();
  FOLD_TRY(hash_device(rig, input, nbytes, hash));
  return nbytes ? keep_known(rig, input, nbytes, *hash) : fold_ok();
}
