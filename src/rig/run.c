/* rig/run.c: one run. It poisons output, scratch and stack, calls the subject, and then looks for what that did besides
 * computing: at guards, pages without access, the input's hash, the head of the scratch, and the state of the process.
 */
#include "process/heartbeat.h"
#include "rig/fp_state.h"
#include "rig/late_writes.h"
#include "rig/private.h"
#include "rig/process_state.h"
#include "rig/stack_poison.h"
#include "rig/refused_input.h"
#include "rig/world.h"

#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>

enum { GUARD_BYTE = 0xc3, SCRATCH_ALIGN = 256, HOST_GUARD = 4096 };

/* A run's argument in its room: [at, end). Its guards are checked from `from` on and up to `to`. */
struct window {
  size_t from, at, end, to;
};

static struct window window_of(const struct fold_rig *rig, const struct fold_room *room, size_t at, size_t nbytes) {
  size_t guard = rig->ops->is_host ? HOST_GUARD : FOLD_RIG_GUARD, end = at + nbytes;
  return (struct window){.from = at < guard ? 0 : at - guard,
                         .at = at,
                         .end = end,
                         .to = room->bytes - end < guard ? room->bytes : end + guard}; /* unseen: <= */
}

static size_t place_in(const struct fold_room *room, enum fold_placement placement, size_t nbytes, size_t shift) {
  if (placement == FOLD_AT_START) return 0;
  return placement == FOLD_AT_END ? room->bytes - nbytes : FOLD_RIG_GUARD + shift;
}

/* The fills that prepare a run, made by one call. */
struct layout {
  struct fold_fill fills[8];
  size_t n;
};

static void lay(struct layout *layout, unsigned char *at, unsigned char *end, int byte) {
  if (end > at) layout->fills[layout->n++] = (struct fold_fill){at, byte, (size_t)(end - at)};
}

/* Prepares the output for results of `size` bytes each. */
static void lay_out(struct fold_rig *rig, const struct fold_request *request, size_t size, struct window *w,
                    struct layout *layout) {
  size_t nbytes = fold_results(rig->problem, &request->shape) * size;
  unsigned char *out = rig->out.at;
  *w = window_of(rig, &rig->out, place_in(&rig->out, request->placement, nbytes, request->out_shift * size), nbytes);
  lay(layout, out + w->from, out + w->at, GUARD_BYTE);
  lay(layout, out + w->at, out + w->end, request->poison);
  lay(layout, out + w->end, out + w->to, GUARD_BYTE);
}

/* Host memory is as long as needed, to the page, so that its end is flush against a closed page. Device memory
 * that is long enough is kept. */
static fold_status room_for_scratch(struct fold_rig *rig, size_t need) {
  size_t bytes = need + 2 * FOLD_RIG_GUARD + SCRATCH_ALIGN;
  if (rig->scratch.at && (rig->ops->is_host ? rig->scratch.bytes - bytes < HOST_GUARD : rig->scratch.bytes >= bytes))
    return fold_ok();
  fold_room_close(rig->ops, &rig->scratch);
  return fold_room_open(rig->ops, bytes, false, &rig->scratch);
}

static size_t terms_of(const struct fold_call *call) { return fold_all_terms(call->problem, &call->shape); }

/* Prepares the scratch: its head is zero, the rest poison. w->at == w->end where the subject asks for none. */
static fold_status lay_scratch(struct fold_rig *rig, const struct fold_subject *subject,
                               const struct fold_request *request, struct fold_call *call, struct window *w,
                               struct layout *layout) {
  *w = (struct window){0};
  if (!subject->scratch) return fold_ok();
  fold_watch_begin(terms_of(call)); /* it is the subject's code too, and may hang */
  size_t need = subject->scratch(subject, call);
  fold_watch_end();
  if (need == 0) return fold_ok();
  if (need > PTRDIFF_MAX) return fold_no_memory("for %zu bytes of scratch", need);
  if (need < FOLD_SCRATCH_ZEROED) need = FOLD_SCRATCH_ZEROED;
  FOLD_TRY(room_for_scratch(rig, need));
  size_t aligned = (need + SCRATCH_ALIGN - 1) / SCRATCH_ALIGN * SCRATCH_ALIGN;
  *w = window_of(rig, &rig->scratch,
                 place_in(&rig->scratch, request->placement, aligned, request->scratch_shift * SCRATCH_ALIGN), need);
  unsigned char *scratch = rig->scratch.at;
  lay(layout, scratch + w->from, scratch + w->at, GUARD_BYTE);
  lay(layout, scratch + w->at, scratch + w->at + FOLD_SCRATCH_ZEROED, 0);
  lay(layout, scratch + w->at + FOLD_SCRATCH_ZEROED, scratch + w->end, request->poison);
  lay(layout, scratch + w->end, scratch + w->to, GUARD_BYTE);
  call->scratch = scratch + w->at;
  return fold_ok();
}

static void trace_stray(struct fold_traces *traces, enum fold_argument of, enum fold_access by, ptrdiff_t at) {
  if (traces->out_of_bounds) return;
  traces->out_of_bounds = true;
  traces->bounds_of = of;
  traces->bounds_by = by;
  traces->bounds_at = at;
}

/* `bytes` are those of the window, from its start. */
static void look_at_guards(const unsigned char *bytes, const struct window *w, enum fold_argument of,
                           struct fold_traces *traces) {
  size_t at;
  if (fold_rig_find_other(bytes, w->at - w->from, GUARD_BYTE, &at))
    trace_stray(traces, of, FOLD_WRITTEN, (ptrdiff_t)(w->from + at) - (ptrdiff_t)w->at);
  else if (fold_rig_find_other(bytes + (w->end - w->from), w->to - w->end, GUARD_BYTE, &at))
    trace_stray(traces, of, FOLD_WRITTEN, (ptrdiff_t)(w->end - w->at + at));
}

/* What is looked at after a run, as the host sees it. For a device these are copies, for which one wait is enough. */
struct snapshot {
  bool taken;
  void *got; /* the results; on the host, as they were when the call returned */
  struct fold_rig_zones zones[FOLD_INPUTS];
  unsigned char copied[FOLD_INPUTS][2][2 * FOLD_RIG_GUARD + FOLD_RIG_SLACK * 8];
  unsigned char around[2 * HOST_GUARD], head[FOLD_SCRATCH_ZEROED]; /* of scratch */
};

static void take_zones(const struct fold_rig *rig, unsigned k, struct snapshot *snapshot, struct fold_piece *pieces,
                       size_t *n) {
  const struct fold_rig_input *in = &rig->in[k];
  size_t start = fold_rig_place(rig, in), end = fold_rig_end(rig, in);
  snapshot->zones[k] = (struct fold_rig_zones){in->room.at, in->room.at + end};
  if (rig->ops->is_host) return;
  snapshot->zones[k] = (struct fold_rig_zones){snapshot->copied[k][0], snapshot->copied[k][1]};
  pieces[(*n)++] = (struct fold_piece){snapshot->copied[k][0], in->room.at, start};
  pieces[(*n)++] = (struct fold_piece){snapshot->copied[k][1], in->room.at + end, in->room.bytes - end};
}

static fold_status take_snapshot(struct fold_rig *rig, const struct window *out, const struct window *scratch,
                                 struct snapshot *snapshot) {
  size_t n = 0;
  struct fold_piece pieces[2 * FOLD_INPUTS + 4]; /* unseen: 5 | 3 */
  for (unsigned k = 0; k < rig->inputs; k++) take_zones(rig, k, snapshot, pieces, &n);
  if (!rig->ops->is_host)
    pieces[n++] = (struct fold_piece){rig->out_host + out->from, rig->out.at + out->from, out->to - out->from};
  if (scratch->end > scratch->at) {
    const unsigned char *at = rig->scratch.at;
    size_t before = scratch->at - scratch->from;
    pieces[n++] = (struct fold_piece){snapshot->around, at + scratch->from, before};
    pieces[n++] = (struct fold_piece){snapshot->around + before, at + scratch->end, scratch->to - scratch->end};
    pieces[n++] = (struct fold_piece){snapshot->head, at + scratch->at, sizeof snapshot->head};
  }
  return n ? rig->ops->gather(pieces, n) : fold_ok();
}

static void look_at_scratch(const struct snapshot *snapshot, const struct window *w, struct fold_traces *traces) {
  struct window near = {.from = w->from, .at = w->at, .end = w->at, .to = w->at + (w->to - w->end)};
  size_t at;
  if (w->at == w->end) return;
  bool before = traces->out_of_bounds;
  look_at_guards(snapshot->around, &near, FOLD_SCRATCH, traces);
  if (!before && traces->out_of_bounds && traces->bounds_at >= 0) traces->bounds_at += (ptrdiff_t)(w->end - w->at);
  if (!traces->left[0] && fold_rig_find_other(snapshot->head, sizeof snapshot->head, 0, &at))
    snprintf(traces->left, sizeof traces->left, "byte %zu of its scratch's head, which must be zero again", at);
}

static void look_for_poison(size_t n, size_t size, unsigned char poison, const unsigned char *results,
                            struct fold_traces *traces) {
  for (size_t r = 0, at; r < n && !traces->unwritten; r++) {
    traces->unwritten = !fold_rig_find_other(results + r * size, size, poison, &at);
    traces->unwritten_at = r;
  }
}

static void trace_fault(const struct fold_watched *w, enum fold_argument of, struct fold_traces *traces) {
  if (w->outside.seen) trace_stray(traces, of, w->outside.by, w->outside.at - (ptrdiff_t)w->first);
  if (!w->inside.seen) return;
  traces->wrote_input = true;
  traces->input_at = w->inside.at - (ptrdiff_t)w->first;
  traces->in_other = of == FOLD_OTHER_INPUT;
}

/* Checks the slow parts of the process's state, and on the host OpenMP's other threads, only after runs 1, 2, 4, 8,
 * ...: a change stays until it is found, and one look takes longer than a short run. They are also checked after a run
 * in which a guest started a thread, and at the end by fold_rig_look_at_state. */
static bool is_looked_at(const struct fold_rig *rig) { return (rig->runs & (rig->runs - 1)) == 0; }

/* `left` names what was left changed in the engine's state. */
static void restore_state(struct fold_rig *rig, const struct fold_call *call, const struct fold_openmp *before,
                          bool looks, const char left[80], struct fold_traces *traces) {
  fold_fp_state_restore(before, looks && rig->ops->is_host, traces->left);
  fold_process_state_restore(call->comm || looks || rig->left_some, traces->left);
  if (!traces->left[0]) memcpy(traces->left, left, sizeof traces->left);
  rig->left_some |= traces->left[0] != '\0';
}

/* On a device the snapshot also waits for the run, because its copies follow the run in the stream. Collectives may use
 * other streams, so they are waited for by `finish`. */
static fold_status end_run(struct fold_rig *rig, const struct fold_call *call, const struct window *out,
                           const struct window *scratch, struct snapshot *snapshot) {
  snapshot->taken = !rig->ops->is_host && !call->comm;
  if (!snapshot->taken) return rig->ops->finish();
  fold_status status = take_snapshot(rig, out, scratch, snapshot);
  if (status.code == FOLD_OK) return status;
  FOLD_TRY(rig->ops->finish()); /* says it in its own words, if it was the run that failed */
  return status;
}

unsigned fold_run_threads;
bool fold_run_of_guest, fold_folder_has_other_name;

/* Leaves this thread the processor that it is on, so that a guest which asks the scheduler how many threads to take finds 1
 * where it is to take one. That works for other numbers only where there are as many processors. The same processor each
 * time would be shared with all processes that do so. */
static bool take_one_processor(cpu_set_t *own) {
  cpu_set_t one;
  const int now = sched_getcpu();
  if (now < 0 || sched_getaffinity(0, sizeof *own, own) != 0 || CPU_COUNT(own) < 2) return false;
  CPU_ZERO(&one);
  CPU_SET(now, &one);
  return sched_setaffinity(0, sizeof one, &one) == 0;
}

/* A call that another thread of this process makes. */
struct errand {
  const struct fold_subject *subject;
  const struct fold_call *call;
  fold_status status;
};

static void *do_errand(void *context) {
  struct errand *errand = context;
  errand->status = errand->subject->run(errand->subject, errand->call);
  return NULL;
}

static fold_status run_by_other_thread(const struct fold_subject *subject, const struct fold_call *call) {
  struct errand errand = {.subject = subject, .call = call};
  pthread_t thread;
  if (pthread_create(&thread, NULL, do_errand, &errand) != 0)
    return fold_error(FOLD_ENVIRONMENT, "a second thread cannot be started");
  pthread_join(thread, NULL);
  return errand.status;
}

/* Sets OpenMP's number of threads to the one asked for, since a subject may take its number from OpenMP. */
static fold_status call_subject(struct fold_rig *rig, const struct fold_subject *subject, struct fold_call *call,
                                const struct fold_request *request, const struct window *out,
                                const struct window *scratch, struct snapshot *snapshot, struct fold_traces *traces) {
  bool host = rig->ops->is_host;
  /* unseen: 3 */
  struct fold_watched watched[FOLD_INPUTS + 2] = {
      {.region = &rig->out.region, .first = out->at, .last = out->end},
      {.region = &rig->scratch.region, .first = scratch->at, .last = scratch->end}};
  const struct fold_watched *own_scratch = &watched[1];
  unsigned n = scratch->end ? 2 : 1;
  struct fold_watched *inputs = &watched[n];
  for (unsigned k = 0; k < rig->inputs; k++)
    watched[n++] = (struct fold_watched){.region = &rig->in[k].room.region,
                                         .first = fold_rig_place(rig, &rig->in[k]),
                                         .last = fold_rig_end(rig, &rig->in[k])};
  if (host) fold_faults_watch(watched, n);
  struct fold_openmp own = fold_openmp_now();
  if (host && call->launch.threads) omp_set_num_threads((int)call->launch.threads);
  struct fold_openmp before = fold_openmp_now();
  const unsigned threads = fold_late_writes_threads(subject);
  cpu_set_t processors;
  const bool is_guest = host && subject->guest,
             is_alone = is_guest && call->launch.threads == 1 && take_one_processor(&processors);
  fold_run_threads = is_guest ? call->launch.threads : 0;
  fold_run_of_guest = is_guest;
  fold_watch_begin(terms_of(call));
  char left[80] = ""; /* unseen: 81 */
  if (rig->ops->keep) rig->ops->keep();
  if (call->poison) fold_stack_poison(*call->poison);
  const double began = fold_now();
  fold_status status = (request->other_thread ? run_by_other_thread : subject->run)(subject, call);
  traces->seconds = fold_now() - began;
  if (host) memcpy(snapshot->got, rig->out.at + out->at, out->end - out->at);
  if (rig->ops->restore) rig->ops->restore(left); /* before the engine is used again */
  fold_status ended = status.code == FOLD_OK ? end_run(rig, call, out, scratch, snapshot) : rig->ops->finish();
  if (!host) traces->seconds = fold_now() - began;
  fold_watch_end();
  fold_run_threads = 0;
  fold_run_of_guest = false;
  if (is_alone) sched_setaffinity(0, sizeof processors, &processors);
  const unsigned now = host ? fold_late_writes_threads(subject) : 0, started = now > threads ? now - threads : 0;
  const bool looks = is_looked_at(rig) || started > 0;
  restore_state(rig, call, &before, looks, left, traces);
  const char *late = NULL;
  if (host && (looks || fold_late_writes_by(subject)) && !call->comm)
    late = fold_late_writes_look(subject, watched, n, scratch->end ? 2 : 1, snapshot->got, started);
  if (late) snprintf(traces->left, sizeof traces->left, "%s", late);
  if (host) fold_faults_end();
  omp_set_num_threads(own.threads);
  for (unsigned k = 0; k < rig->inputs; k++) trace_fault(&inputs[k], fold_rig_argument(k), traces);
  trace_fault(&watched[0], FOLD_OUTPUT, traces);
  if (scratch->end) trace_fault(own_scratch, FOLD_SCRATCH, traces);
  return status.code != FOLD_OK ? status : ended;
}

static void look_at_output(struct fold_rig *rig, const struct fold_request *request, size_t size,
                           const struct window *w, void *got, struct fold_traces *traces) {
  if (!rig->ops->is_host) memcpy(got, rig->out_host + w->at, w->end - w->at);
  look_for_poison(fold_results(rig->problem, &request->shape), size, request->poison, got, traces);
  look_at_guards(rig->out_host + w->from, w, FOLD_OUTPUT, traces);
}

/* Checks the input's hash after each run in host memory. On a device, the owner of the rig asks for the hash. */
static void look_at_input(struct fold_rig *rig, struct fold_traces *traces) {
  if (!rig->ops->is_host) return;
  uint64_t now = fold_rig_hash_host(rig);
  if (now == rig->hash) return;
  fold_traces_note_input(traces);
  rig->hash = now;
}

/* Where a run's part of input k begins. */
static const void *part_of(const struct fold_rig *rig, const struct fold_request *request, unsigned k) {
  if (k >= rig->inputs) return NULL;
  return rig->in[k].room.at + fold_rig_place(rig, &rig->in[k]) + request->first[k] * rig->in[k].size;
}

/* A caller may pass one array as both factors. Factors that hold the same bits are passed so if they are longer than this; shorter ones
 * stay two arrays. */
enum { LONGEST_APART = 1000 };

static bool are_one_array(const struct fold_rig *rig, const struct fold_request *request) {
  const size_t n = rig->in[0].n;
  return !request->comm && rig->inputs == 2 && !fold_is_keys(rig->problem, 1) && rig->in[1].n == n &&
         n > LONGEST_APART && memcmp(fold_rig_input_at(rig, 0), fold_rig_input_at(rig, 1), n * rig->in[0].size) == 0;
}

static fold_status run_laid(struct fold_rig *rig, const struct fold_subject *subject,
                            const struct fold_request *request, void *got, struct fold_traces *traces) {
  struct window out, scratch;
  struct fold_call call = {
      .dtype = rig->dtype,
      .problem = rig->problem,
      .shape = request->shape,
      .in = {part_of(rig, request, 0)},
      .launch = request->launch,
      .comm = request->comm,
      .whole = request->whole,
      .poison = rig->ops->is_host ? &request->poison : NULL,
  };
  if (rig->inputs > 1) call.in[1] = part_of(rig, request, are_one_array(rig, request) ? 0 : 1);
  memcpy(call.stride, request->stride, sizeof request->stride);
  const size_t size = fold_dtype_size(fold_subject_result(subject, rig->dtype));
  struct layout layout = {.n = 0};
  FOLD_TRY(fold_rig_open_output(rig, size));
  lay_out(rig, request, size, &out, &layout);
  FOLD_TRY(lay_scratch(rig, subject, request, &call, &scratch, &layout));
  FOLD_TRY(fold_rig_send(rig));
  rig->sure = false;
  FOLD_TRY(rig->ops->fill(layout.fills, layout.n));
  call.out = rig->out.at + out.at;
  struct snapshot snapshot;
  snapshot.got = got;
  FOLD_TRY(call_subject(rig, subject, &call, request, &out, &scratch, &snapshot, traces));
  if (!snapshot.taken) FOLD_TRY(take_snapshot(rig, &out, &scratch, &snapshot));
  look_at_output(rig, request, size, &out, got, traces);
  look_at_scratch(&snapshot, &scratch, traces);
  look_at_input(rig, traces);
  return fold_rig_look_at_zones(rig, snapshot.zones, traces);
}

/* Runs with the input flush against a closed page; moves it back however the run ended. A subject that installed its
 * own handlers of faults, since its first run or within each, hides its stray reads from us, so `left` names that. Over
 * ranks it may be their library that installed them, so nothing is named. */
static fold_status run_flush(struct fold_rig *rig, const struct fold_subject *subject,
                             const struct fold_request *request, void *got, struct fold_traces *traces) {
  if (!rig->ops->is_host) return fold_error(FOLD_UNSUPPORTED, "a device's pages cannot be closed");
  const char *before = fold_faults_take_handlers();
  fold_rig_lay(rig, request->placement);
  fold_status status = run_laid(rig, subject, request, got, traces);
  const char *after = fold_faults_take_handlers(), *taken = before ? before : after;
  if (taken && !request->comm && !traces->left[0]) snprintf(traces->left, sizeof traces->left, "%s", taken);
  fold_rig_lay(rig, FOLD_PLACED);
  return status;
}

void fold_rig_look_at_state(struct fold_rig *rig, struct fold_traces *traces) {
  struct fold_openmp own = fold_openmp_now();
  *traces = (struct fold_traces){0};
  if (rig->world) return;
  fold_fp_state_restore(&own, rig->ops->is_host || (rig->last && rig->last->guest), traces->left);
  fold_process_state_end(rig->ops->is_host, traces->left);
}

fold_status fold_rig_run(struct fold_rig *rig, const struct fold_subject *subject, const struct fold_request *request,
                         void *got, struct fold_traces *traces) {
  *traces = (struct fold_traces){0};
  if (rig->world) return fold_rig_world_run(rig, subject, request, got, traces);
  if (rig->last != subject) {
    if (rig->ops->is_host) {
      fold_fp_state_reset();
      fold_faults_take_handlers();
    } else {
      fold_fp_state_begin(); /* in this process OpenMP's threads belong to the oracles */
    }
    rig->runs = 0;
    rig->left_some = false;
  }
  FOLD_TRY(fold_rig_check_terms(rig, subject, request));
  rig->last = subject;
  rig->runs++;
  FOLD_TRY(fold_process_state_keep());
  if (rig->ops->is_host && !rig->hashed) rig->hash = fold_rig_hash_host(rig);
  rig->hashed = true;
  bool flush = request->placement != FOLD_PLACED;
  const fold_status status = (flush ? run_flush : run_laid)(rig, subject, request, got, traces);
  return status.code == FOLD_FAILED ? fold_rig_explain_failure(rig, request, status) : status;
}

fold_status fold_rig_run_watched(struct fold_rig *rig, const struct fold_subject *subject,
                                 const struct fold_request *request, void *got, struct fold_traces *traces) {
  uint64_t before, after;
  if (rig->ops->is_host && !rig->world) return fold_rig_run(rig, subject, request, got, traces);
  FOLD_TRY(fold_rig_hash(rig, &before));
  FOLD_TRY(fold_rig_run(rig, subject, request, got, traces));
  FOLD_TRY(fold_rig_hash(rig, &after));
  if (before != after) fold_traces_note_input(traces);
  return fold_ok();
}
