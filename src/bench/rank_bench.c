/* rank_bench.c: the timing loop of one rank. */
#include "bench/rank_bench.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/bits.h"
#include "fixtures/generator.h"

#ifdef FOLD_HAVE_CUDA
#include "fixtures/cuda_generate.h"
#include "kernels/cuda/bench.h"
#endif

/* A pool is several times a GPU's L2, or a core's share of the caches. */
enum { GPU_POOL = 256 << 20, HOST_POOL = 4 << 20, ALIGN = 256, MOST_SLOTS = 1 << 12, READ_PART = 4 << 20 };
/* The largest pool, so that no entrant gets an input that another has just read. */
static const size_t gpu_most = (size_t)48 << 30, host_most = (size_t)64 << 20;
/* A GPU is kept busy for some 2 ms while the host enqueues a batch of runs: its own time is then between the events, not
 * the host's launches. */
enum { BATCH = 24, BUSY_READS = 80, BUSY_BYTES = GPU_POOL / 2 };

static bool is_gpu(const struct fold_rank_bench *b) { return !b->memory->is_host; }

static void drop(const struct fold_rank_bench *b, void *memory) {
  if (memory) b->memory->release(memory);
}

void fold_rank_bench_drop(struct fold_rank_bench *b) {
  if (!b->memory) return;
  for (size_t i = 0; i < b->n_entrants; i++) drop(b, b->entrant[i].scratch);
  for (size_t i = 0; i < b->n_pools; i++) drop(b, b->pool[i].in);
  drop(b, b->out);
  drop(b, b->meeting);
  fold_rank_clock_close(&b->clock);
  memset(b, 0, sizeof *b);
}

static fold_status generate(const struct fold_rank_bench *b, const struct fold_source *source, uint64_t first, size_t n,
                            void *to) {
#ifdef FOLD_HAVE_CUDA
  if (is_gpu(b)) return fold_cuda_generate(source, first, n, to, NULL);
#endif
  (void)b;
  FOLD_TRY(fold_source_check(source));
  fold_generate(source, first, n, to);
  return fold_ok();
}

/* Fills a pool. The slots of a vector are one long stretch of the rank's own elements; those of a part are the same
 * columns with other seeds. Slot 0 has the input that the question asks for. */
static fold_status fill_pool(const struct fold_rank_bench *b, const struct fold_rank_pool *p) {
  const struct fold_wire_lay *lay = &b->lay;
  size_t size = fold_dtype_size((enum fold_dtype)lay->dtype);
  struct fold_source source = {fold_generator_find(lay->generator), (enum fold_dtype)lay->dtype, lay->seed,
                               lay->vectors ? FOLD_WIRE_VECTOR : lay->all_cols, 0};
  if (!source.generator) return fold_error(FOLD_ENVIRONMENT, "has no generator %s", lay->generator);
  if (lay->vectors) return generate(b, &source, p->first_col * FOLD_WIRE_VECTOR, p->slots * p->stride / size, p->in);
  for (size_t k = 0; k < p->slots; k++, source.seed++)
    for (uint64_t row = 0; row < lay->rows; row++)
      FOLD_TRY(generate(b, &source, row * lay->all_cols + p->first_col, p->cols,
                        p->in + k * p->stride + row * p->cols * size));
  return fold_ok();
}

/* The number of inputs: enough to fill a pool and, if there is memory, more than there are entrants. Else an entrant
 * finds in the L2 what another left of the same input although gigabytes were read in between, because reads that are
 * marked to leave the cache first displace nothing else (bench/race.c). If nothing will be timed, there is one
 * input. */
static size_t choose_slots(const struct fold_rank_bench *b, size_t stride) {
  size_t least = (is_gpu(b) ? GPU_POOL : HOST_POOL) / stride + 1, room = (is_gpu(b) ? gpu_most : host_most) / stride;
  size_t wanted = b->lay.n_entrants + 1, slots = least;
  if (b->lay.repeats == 0) return 1;
  if (room > wanted) room = wanted;
  if (room > least && !b->lean) slots = room;
  return slots < MOST_SLOTS ? slots : MOST_SLOTS;
}

static fold_status find_pool(struct fold_rank_bench *b, const struct fold_wire_entrant *part,
                             struct fold_rank_pool **found) {
  for (size_t i = 0; i < b->n_pools; i++)
    if (b->pool[i].first_col == part->first_col && b->pool[i].cols == part->cols) {
      *found = &b->pool[i];
      return fold_ok();
    }
  struct fold_rank_pool *p = &b->pool[b->n_pools];
  size_t least = is_gpu(b) ? GPU_POOL : HOST_POOL;
  *p = (struct fold_rank_pool){.first_col = part->first_col, .cols = part->cols};
  p->n_bytes = b->lay.rows * part->cols * fold_dtype_size((enum fold_dtype)b->lay.dtype);
  p->stride = (p->n_bytes + ALIGN) / ALIGN * ALIGN;
  p->slots = choose_slots(b, p->stride);
  size_t all = p->slots * p->stride;
  FOLD_TRY(b->memory->alloc(all < least ? least : all, (void **)&p->in));
  b->n_pools++;
  *found = p;
  FOLD_TRY(fill_pool(b, p));
  return b->memory->finish();
}

static struct fold_call call_of(const struct fold_rank_bench *b, struct fold_rank_entrant *e, size_t slot) {
  return (struct fold_call){.dtype = (enum fold_dtype)b->lay.dtype,
                            .problem = fold_rows_problem((enum fold_op)b->lay.op),
                            .rows = b->lay.rows,
                            .cols = e->pool->cols,
                            .in = {e->pool->in + slot % e->pool->slots * e->pool->stride},
                            .out = b->out,
                            .scratch = e->scratch,
                            .comm = &e->comm,
                            .whole = {.first.k = e->pool->first_col, .extent.k = b->lay.all_cols}};
}

static fold_status add_entrant(struct fold_rank_bench *b, const struct fold_registry *registry, enum fold_engine engine,
                               const struct fold_wire_entrant *from) {
  char name[FOLD_WIRE_NAME + 1];
  memcpy(name, from->subject, FOLD_WIRE_NAME);
  name[FOLD_WIRE_NAME] = '\0';
  struct fold_rank_entrant *e = &b->entrant[b->n_entrants++];
  *e = (struct fold_rank_entrant){.subject = fold_registry_find(registry, name, engine)};
  if (!e->subject) return fold_error(FOLD_ENVIRONMENT, "has no subject %s", name);
  fold_rank_take_share(e, b->comm, (enum fold_share)from->share);
  FOLD_TRY(find_pool(b, from, &e->pool));
  struct fold_call call = call_of(b, e, 0);
  size_t need = e->subject->scratch ? e->subject->scratch(e->subject, &call) : 0;
  if (need == 0) return fold_ok();
  if (need < FOLD_SCRATCH_ZEROED) need = FOLD_SCRATCH_ZEROED;
  FOLD_TRY(b->memory->alloc(need, &e->scratch));
  /* a share may still read what the part that is left out would have written: zeros */
  return b->memory->fill(&(struct fold_fill){e->scratch, 0, need}, 1);
}

static fold_status lay_all(struct fold_rank_bench *b, const struct fold_registry *registry, enum fold_engine engine,
                           struct fold_comm *comm, const struct fold_wire_lay *lay, bool lean) {
  const struct fold_comm_engine *e = fold_comm_engine_of(engine);
  fold_rank_bench_drop(b);
  if (lay->n_entrants > FOLD_WIRE_ENTRANTS) return fold_error(FOLD_ENVIRONMENT, "too many subjects are to be timed");
  b->memory = fold_engine_of(e->memory);
  b->comm = comm;
  b->lean = lean;
  b->lay = *lay;
  b->lay.generator[sizeof b->lay.generator - 1] = '\0';
  size_t n_bytes = lay->rows * fold_dtype_size((enum fold_dtype)lay->dtype);
  fold_status status = b->memory->alloc(n_bytes + ALIGN, (void **)&b->out);
  if (status.code == FOLD_OK) status = b->memory->alloc(2 * ALIGN, (void **)&b->meeting);
  if (status.code == FOLD_OK) status = b->memory->fill(&(struct fold_fill){b->meeting, 0, 2 * ALIGN}, 1);
  if (status.code == FOLD_OK) status = fold_rank_clock_open(&b->clock, is_gpu(b), lay->n_entrants * lay->repeats);
  for (unsigned i = 0; i < lay->n_entrants && status.code == FOLD_OK; i++)
    status = add_entrant(b, registry, engine, &lay->entrant[i]);
  fold_status finished = b->memory->finish();
  if (status.code == FOLD_OK) status = finished;
  if (status.code != FOLD_OK) fold_rank_bench_drop(b);
  return status;
}

fold_status fold_rank_lay(struct fold_rank_bench *b, const struct fold_registry *registry, enum fold_engine engine,
                          struct fold_comm *comm, const struct fold_wire_lay *lay) {
  fold_status status = lay_all(b, registry, engine, comm, lay, false);
  return status.code == FOLD_NO_MEMORY ? lay_all(b, registry, engine, comm, lay, true) : status;
}

static fold_status run(struct fold_rank_bench *b, struct fold_rank_entrant *e, size_t slot) {
  struct fold_call call = call_of(b, e, slot);
  return e->subject->run(e->subject, &call);
}

/* Hashes the first n bytes of the results by XXH3-64, reading them part by part, with each NaN as the same one, and
 * takes the samples on the way. */
static fold_status look(const struct fold_rank_bench *b, size_t n, uint64_t *hash, uint64_t *sample) {
  enum fold_dtype dtype = (enum fold_dtype)b->lay.dtype;
  size_t size = fold_dtype_size(dtype);
  XXH3_state_t *state = XXH3_createState();
  unsigned char *part = malloc(READ_PART);
  fold_status status = state && part ? fold_ok() : fold_no_memory("to hash results");
  if (status.code == FOLD_OK) XXH3_64bits_reset(state);
  for (size_t at = 0, k = 0; at < n && status.code == FOLD_OK; at += READ_PART) {
    size_t length = n - at < READ_PART ? n - at : READ_PART;
    status = b->memory->read(part, b->out + at, length);
    if (status.code != FOLD_OK) break;
    fold_results_unify(dtype, part, length / size);
    XXH3_64bits_update(state, part, length);
    for (; sample && k < FOLD_WIRE_SAMPLES; k++) {
      size_t place = fold_wire_sample(b->lay.rows, (unsigned)k) * size;
      if (place >= at + length) break;
      sample[k] = fold_bits_load(dtype, part + (place - at), 0);
    }
  }
  if (status.code == FOLD_OK) *hash = XXH3_64bits_digest(state);
  free(part);
  XXH3_freeState(state);
  return status;
}

static fold_status run_poisoned(struct fold_rank_bench *b, struct fold_rank_entrant *e, int poison) {
  size_t n_bytes = b->lay.rows * fold_dtype_size((enum fold_dtype)b->lay.dtype);
  FOLD_TRY(b->memory->fill(&(struct fold_fill){b->out, poison, n_bytes + 1}, 1));
  fold_status status = run(b, e, 0), finished = b->memory->finish();
  return status.code == FOLD_OK ? finished : status;
}

fold_status fold_rank_check(struct fold_rank_bench *b, const struct fold_wire_check *check,
                            struct fold_wire_checked *checked) {
  *checked = (struct fold_wire_checked){0};
  if (check->entrant >= b->n_entrants) return fold_error(FOLD_ENVIRONMENT, "what is to be checked is not laid");
  struct fold_rank_entrant *e = &b->entrant[check->entrant];
  size_t size = fold_dtype_size((enum fold_dtype)b->lay.dtype), n_bytes = b->lay.rows * size;
  size_t head = check->head < b->lay.rows ? check->head * size : n_bytes;
  FOLD_TRY(run_poisoned(b, e, 0xa5));
  FOLD_TRY(look(b, n_bytes, &checked->hash, checked->sample));
  FOLD_TRY(look(b, head, &checked->head_hash, NULL));
  FOLD_TRY(run_poisoned(b, e, 0x5a));
  return look(b, n_bytes, &checked->again, NULL);
}

/* Keeps the GPU busy before a batch of runs; every rank does the same. What it reads stays in the L2, so that it reads
 * the half of the pool that does not hold the next slots. */
static fold_status keep_busy(const struct fold_rank_bench *b, size_t slot) {
#ifdef FOLD_HAVE_CUDA
  const struct fold_rank_pool *p = &b->pool[0];
  const unsigned char *from = p->in + (slot % p->slots * p->stride < BUSY_BYTES ? BUSY_BYTES : 0);
  if (!is_gpu(b)) return fold_ok();
  FOLD_TRY(b->memory->finish());
  for (int i = 0; i < BUSY_READS; i++) FOLD_TRY(fold_cuda_read(0, from, BUSY_BYTES, b->meeting + ALIGN, NULL));
#else
  (void)b, (void)slot;
#endif
  return fold_ok();
}

/* Returns when all ranks have come here. */
static fold_status meet(const struct fold_rank_bench *b) {
  struct fold_comm quiet = *b->comm;
  quiet.enter = NULL;
  return fold_comm_allreduce(&quiet, b->meeting, b->meeting, 1, FOLD_COMM_F32, FOLD_SUM, NULL);
}

size_t fold_rank_race_entrants(const struct fold_rank_bench *b, const struct fold_wire_race *race) {
  size_t n = 0;
  for (size_t i = 0; i < b->n_entrants; i++) n += race->entrants >> i & 1;
  return n;
}

/* The sequence of entrants in round i, the same on every rank and different in each round. An entrant's place changes a
 * GPU's clocks and caches, by less than 1% but always in the same direction. Fisher and Yates, by splitmix64. */
static size_t draw_sequence(const struct fold_rank_bench *b, const struct fold_wire_race *race, unsigned i,
                            size_t sequence[FOLD_WIRE_ENTRANTS]) {
  uint64_t state = (uint64_t)(race->round + i + 1) << 32;
  size_t n = 0;
  for (size_t k = 0; k < b->n_entrants; k++)
    if (race->entrants >> k & 1) sequence[n++] = k;
  for (size_t left = n; left > 1; left--) {
    uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    size_t other = (size_t)((z ^ z >> 31) % left), last = sequence[left - 1];
    sequence[left - 1] = sequence[other];
    sequence[other] = last;
  }
  return n;
}

/* Runs all entrants again and again; the first rounds are not timed. Run i of entrant k has place i * n_entrants +
 * k. */
static fold_status race_rounds(struct fold_rank_bench *b, const struct fold_wire_race *race) {
  size_t enqueued = 0, slot = 0, sequence[FOLD_WIRE_ENTRANTS];
  for (unsigned i = 0; i < race->warm_up + race->repeats; i++) {
    size_t n = draw_sequence(b, race, i, sequence), first = (i < race->warm_up ? 0 : i - race->warm_up) * b->n_entrants;
    for (size_t k = 0; k < n; k++) {
      unsigned at = (unsigned)(first + sequence[k]);
      if (enqueued++ % BATCH == 0) FOLD_TRY(keep_busy(b, slot));
      FOLD_TRY(meet(b));
      FOLD_TRY(fold_rank_clock_begin(&b->clock, at));
      FOLD_TRY(run(b, &b->entrant[sequence[k]], slot++));
      FOLD_TRY(fold_rank_clock_end(&b->clock, at));
    }
  }
  return b->memory->finish();
}

fold_status fold_rank_race(struct fold_rank_bench *b, const struct fold_wire_race *race, double *seconds) {
  if (b->n_entrants * race->repeats > b->clock.n)
    return fold_error(FOLD_ENVIRONMENT, "more runs are to be timed than were laid");
  for (size_t k = 0; k < b->n_entrants; k++) b->entrant[k].comm.enter = NULL;
  fold_status status = race_rounds(b, race);
  for (size_t k = 0; k < b->n_entrants; k++) b->entrant[k].comm.enter = b->comm->enter;
  for (size_t k = 0; k < b->n_entrants; k++)
    for (unsigned i = 0; (race->entrants >> k & 1) && i < race->repeats && status.code == FOLD_OK; i++)
      status = fold_rank_clock_read(&b->clock, (unsigned)(i * b->n_entrants + k), seconds++);
  return status;
}
