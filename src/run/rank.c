/* rank.c: a rank holds its part of an input in a rig of its own, runs subjects on it, and answers. */
#include "run/rank.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#include "reveal/map_data.h"
#include "rig/fp_state.h"

struct rank {
  const struct fold_rank_seat *seat;
  const struct fold_comm_engine *engine;
  bool started;
  struct fold_comm **comm; /* comm[r] is that of r + 1 ranks, or NULL */
  struct fold_rig rig;
  bool loaded, moved;
  uint64_t before; /* if it moved: the input's hash before that, which no answer has told yet */
  void *results;
  size_t results_bytes;
  void *service, *head; /* the service's state; the question's head */
  size_t head_bytes;
};

static void announce(void *context, const char *call, size_t count, const char *type) {
  const struct rank *r = context;
  struct fold_wire_enter enter = {.count = count};
  snprintf(enter.call, sizeof enter.call, "%s", call);
  snprintf(enter.type, sizeof enter.type, "%s", type);
  fold_wire_send_with_next(r->seat->fd, WIRE_ENTER, &enter, sizeof enter);
}

static fold_status start(struct rank *r, char device[64]) {
  FOLD_TRY(r->engine->start((int)r->seat->rank, (int)r->seat->ranks));
  r->started = true;
  /* Where ranks are threads, other ranks' libraries may still be starting theirs. */
  if (!r->engine->threads) fold_fp_state_begin_without_openmp();
  if (r->engine->device) r->engine->device(device);
  return fold_ok();
}

static fold_status open_comm(struct rank *r, const struct fold_wire_open *open) {
  if (!r->started || open->ranks == 0 || open->ranks > r->seat->ranks)
    return fold_error(FOLD_ENVIRONMENT, "no communicator of %u ranks can be opened", open->ranks);
  struct fold_comm *comm = calloc(1, sizeof *comm);
  if (!comm) return fold_no_memory("for a communicator");
  fold_status status = r->engine->open(comm, (int)r->seat->rank, (int)open->ranks, open->token);
  if (status.code != FOLD_OK) {
    free(comm);
    return status;
  }
  comm->enter = announce;
  comm->context = r;
  r->comm[open->ranks - 1] = comm;
  return status;
}

static void drop_rig(struct rank *r) {
  if (r->loaded) fold_rig_close(&r->rig);
  r->loaded = false;
}

/* Reads and drops bytes that don't fit, so that the next question is found. */
static bool skip(int fd, size_t n) {
  char part[4096];
  for (; n > 0; n -= n < sizeof part ? n : sizeof part)
    if (!fold_wire_read(fd, part, n < sizeof part ? n : sizeof part)) return false;
  return true;
}

static fold_status room_for_input(struct rank *r, const struct fold_wire_load *load) {
  enum fold_dtype dtype = (enum fold_dtype)load->dtype;
  if (r->loaded && r->rig.dtype == dtype && r->rig.in[0].n == load->n && r->rig.max_rows == load->max_rows)
    return fold_ok();
  drop_rig(r);
  FOLD_TRY(fold_rig_open(&r->rig, r->engine->memory, fold_rows_problem(FOLD_SUM), dtype,
                         (const size_t[FOLD_INPUTS]){load->n}, load->max_rows));
  r->loaded = true;
  return fold_ok();
}

/* What the rank is to tell of its input before that is moved or replaced. */
static fold_status look_before(struct rank *r, uint64_t *before) {
  *before = r->before;
  return r->moved || !r->loaded ? fold_ok() : fold_rig_hash(&r->rig, before);
}

/* The elements follow the head on the socket, and are read directly into the rig's input. */
static fold_status load(struct rank *r, const struct fold_wire_load *load, uint64_t n_bytes, uint64_t *before,
                        bool *taken) {
  size_t n = n_bytes - sizeof *load;
  *taken = n_bytes >= sizeof *load && n == load->n * fold_dtype_size((enum fold_dtype)load->dtype);
  if (!*taken) return fold_error(FOLD_ENVIRONMENT, "a part of %zu bytes does not fit its head", (size_t)n_bytes);
  fold_status status = load->looks ? look_before(r, before) : fold_ok();
  if (status.code == FOLD_OK) status = room_for_input(r, load);
  if (status.code != FOLD_OK) {
    *taken = skip(r->seat->fd, n);
    return status;
  }
  r->moved = false;
  r->rig.in[0].shift = load->shift;
  *taken = fold_wire_read(r->seat->fd, fold_rig_input(&r->rig), n);
  return *taken ? fold_rig_load(&r->rig) : fold_error(FOLD_ENVIRONMENT, "the harness is gone");
}

/* Makes the rank's input here, so that it need not be sent: elements of one value, or the rank's column of the data
 * that maps are tested on. */
static fold_status fill(struct rank *r, const struct fold_wire_fill *fill) {
  const enum fold_dtype dtype = (enum fold_dtype)fill->load.dtype;
  FOLD_TRY(room_for_input(r, &fill->load));
  r->moved = false;
  r->rig.in[0].shift = fill->load.shift;
  if (fill->accumulator >= FOLD_DTYPES) {
    fold_map_data_equal(dtype, fill->bits, fill->load.n, fold_rig_input(&r->rig));
  } else {
    struct fold_map_data data;
    fold_map_data_open(&data, dtype, (enum fold_dtype)fill->accumulator, fill->ranks, fill->seed);
    fold_map_data_column(&data, r->seat->rank, fill->load.n, fold_rig_input(&r->rig));
  }
  return fold_rig_load(&r->rig);
}

static fold_status room_for_results(struct rank *r, size_t nbytes) {
  free(r->results);
  r->results_bytes = nbytes;
  r->results = malloc(nbytes + 1);
  return r->results ? fold_ok() : fold_no_memory("for %zu bytes of results", nbytes);
}

/* So an input that only lies elsewhere in the next run need not be sent again. */
static fold_status move(struct rank *r, ptrdiff_t shift) {
  if (r->rig.in[0].shift == shift) return fold_ok();
  FOLD_TRY(look_before(r, &r->before));
  r->moved = true;
  return fold_rig_move(&r->rig, shift);
}

static fold_status run(struct rank *r, struct fold_wire_run *run, struct fold_wire_ran *ran) {
  run->subject[sizeof run->subject - 1] = '\0';
  const struct fold_subject *subject = fold_registry_find(r->seat->registry, run->subject, r->seat->engine);
  if (!subject) return fold_error(FOLD_ENVIRONMENT, "has no subject %s", run->subject);
  if (!r->loaded || run->ranks == 0 || run->ranks > r->seat->ranks || !r->comm[run->ranks - 1])
    return fold_error(FOLD_ENVIRONMENT, "there is no input or no communicator for a run");
  struct fold_request request = {.rows = run->rows,
                                 .cols = run->cols,
                                 .launch = run->launch,
                                 .poison = (unsigned char)run->poison,
                                 .placement = (enum fold_placement)run->placement,
                                 .out_shift = run->out_shift,
                                 .scratch_shift = run->scratch_shift,
                                 .comm = r->comm[run->ranks - 1],
                                 .whole = {.first.k = run->first_col, .extent.k = run->all_cols}};
  if (run->problem >= FOLD_PROBLEMS) return fold_error(FOLD_ENVIRONMENT, "there is no problem %u", run->problem);
  r->rig.problem = fold_problem((enum fold_problem_id)run->problem);
  FOLD_TRY(room_for_results(r, run->rows * fold_dtype_size(fold_subject_result(subject, r->rig.dtype))));
  FOLD_TRY(move(r, run->shift));
  FOLD_TRY(fold_rig_run(&r->rig, subject, &request, r->results, &ran->traces));
  ran->hash = XXH3_64bits(r->results, r->results_bytes);
  if (r->results_bytes <= sizeof ran->results) memcpy(ran->results, r->results, r->results_bytes);
  ran->moved = r->moved;
  ran->before = r->before;
  r->moved = false;
  return fold_ok();
}

static bool answer(const struct rank *r, fold_status status, const void *bytes, size_t n) {
  if (status.code == FOLD_OK) return fold_wire_send(r->seat->fd, WIRE_DONE, bytes, n, NULL, 0);
  return fold_wire_send(r->seat->fd, WIRE_FAILED, &status, sizeof status, NULL, 0);
}

/* Frees the input that verdicts were about, to make room for the service's own. */
static bool serve(struct rank *r, uint32_t kind) {
  void *bytes = NULL;
  size_t n = 0;
  drop_rig(r);
  fold_status status = r->seat->service->answer(r->service, r->seat, r->comm, kind, r->head, &bytes, &n);
  const bool sent = answer(r, status, bytes, n);
  free(bytes);
  return sent;
}

/* Milliseconds. Few looks are needed, and more of them would take time from ranks that work. */
enum { LONGEST_WAIT_MS = 16 };

/* Other ranks may still be in the call that this rank has left, so it helps them on until the harness sends the next
 * message. */
static void await_word(const struct rank *r) {
  if (!r->started || !r->engine->progress) return;
  r->engine->progress();
  for (int wait = 1; !fold_wire_has_word(r->seat->fd, wait); wait = wait < LONGEST_WAIT_MS ? 2 * wait : wait)
    r->engine->progress();
}

/* The longest head among a world's own questions. */
enum {
  LONGEST_HEAD = sizeof(union {
    struct fold_wire_open open;
    struct fold_wire_load load;
    struct fold_wire_fill fill;
    struct fold_wire_run run;
  })
};

/* Answers one question; false when no more will come. */
static bool serve_one(struct rank *r) {
  struct fold_wire_head question;
  struct fold_wire_ran ran;
  unsigned char token[FOLD_COMM_TOKEN] = {0};
  char device[64] = "";
  uint64_t hash = 0;
  memset(&ran, 0, sizeof ran);
  await_word(r);
  if (!fold_wire_read(r->seat->fd, &question, sizeof question)) return false;
  const size_t head_bytes = question.kind == WIRE_LOAD ? sizeof(struct fold_wire_load) : question.n_bytes;
  if (head_bytes > r->head_bytes || !fold_wire_read(r->seat->fd, r->head, head_bytes)) return false;
  if (question.kind >= WIRE_SERVICE) return r->service && serve(r, question.kind);
  switch (question.kind) {
    case WIRE_START: return answer(r, start(r, device), device, sizeof device);
    case WIRE_TOKEN: return answer(r, r->engine->token(token), token, sizeof token);
    case WIRE_OPEN: return answer(r, open_comm(r, r->head), NULL, 0);
    case WIRE_LOAD: {
      bool taken;
      fold_status status = load(r, r->head, question.n_bytes, &hash, &taken);
      return answer(r, status, &hash, sizeof hash) && taken;
    }
    case WIRE_FILL: return answer(r, fill(r, r->head), NULL, 0);
    case WIRE_RUN: return answer(r, run(r, r->head, &ran), &ran, sizeof ran);
    case WIRE_FETCH: return answer(r, fold_ok(), r->results, r->results_bytes);
    case WIRE_HASH: return answer(r, fold_rig_hash(&r->rig, &hash), &hash, sizeof hash);
    default: return false; /* WIRE_END, answered when all is put away */
  }
}

static void say_hello(const struct rank *r) {
  struct fold_wire_hello hello = {.secret = r->seat->secret,
                                  .protocol = FOLD_WIRE_PROTOCOL,
                                  .rank = r->seat->rank,
                                  .ranks = r->seat->launched,
                                  .pid = getpid(),
                                  .version = FOLD_VERSION};
  r->engine->version(hello.library);
  gethostname(hello.host, sizeof hello.host - 1);
  fold_wire_send(r->seat->fd, WIRE_HELLO, &hello, sizeof hello, NULL, 0);
}

/* Sends its hello before it starts anything, so that a rank that is missing can be told from those that wait for it. */
void fold_rank_serve(struct fold_rank_seat *seat) {
  const size_t service_bytes = seat->service ? seat->service->head_bytes : 0;
  struct rank r = {.seat = seat, .engine = fold_comm_engine_of(seat->engine)};
  r.comm = calloc(seat->ranks, sizeof *r.comm);
  r.head_bytes = LONGEST_HEAD > service_bytes ? LONGEST_HEAD : service_bytes;
  r.head = malloc(r.head_bytes);
  if (seat->service) r.service = calloc(1, seat->service->state_bytes);
  if (!r.engine || !r.comm || !r.head || (seat->service && !r.service)) {
    /* Goes into the launcher's output, which the harness shows. */
    fprintf(stderr, "rank %u: this build has no such engine\n", seat->rank);
    fflush(stderr);
    _exit(99);
  }
  say_hello(&r);
  while (serve_one(&r)) continue;
  for (unsigned k = 0; k < seat->ranks; k++)
    if (r.comm[k]) {
      r.engine->close(r.comm[k]);
      free(r.comm[k]);
    }
  drop_rig(&r);
  if (r.service) seat->service->drop(r.service);
  if (r.started) r.engine->finish();
  atomic_store(&seat->ended, true);
  answer(&r, fold_ok(), NULL, 0);
  free(r.comm);
  free(r.results);
  free(r.service);
  free(r.head);
}
