/* worker.c: prepares a round, runs it, and sends what comes of it. */
#include "run/worker.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ranks/world.h"
#include "rig/process_state.h"
#include "run/apart.h"
#include "run/environment.h"
#include "run/fresh.h"

/* What a round needs, as far as it is made. */
struct prepared {
  struct fold_cases own;
  const struct fold_cases *cases;
  struct fold_fresh *fresh;
  char *environment; /* NULL: it is not needed */
};

static void put_away(struct prepared *p) {
  fold_fresh_free(p->fresh);
  fold_cases_free(&p->own);
  free(p->environment);
}

/* The first worker of a job finds out what the next ones, which only continue, take as given. */
static fold_status prepare(const struct fold_worker *w, struct prepared *p) {
  const struct fold_job *job = w->job;
  if (!w->shared->has_ranks) {
    if (job->ready) FOLD_TRY(job->ready(job));
    FOLD_TRY(fold_select_ranks(job->selection, &w->shared->ranks));
    w->shared->has_ranks = true;
  }
  p->cases = w->cases ? w->cases : &p->own;
  if (!w->cases) FOLD_TRY(fold_select_cases(job->selection, w->shared->ranks, &p->own));
  if (!job->begin) return fold_ok();
  json_t *environment = fold_environment();
  p->environment = environment ? json_dumps(environment, JSON_COMPACT) : NULL;
  json_decref(environment);
  return p->environment ? fold_ok() : fold_no_memory("for the environment");
}

static fold_status ask_fresh(const struct fold_worker *w, struct prepared *p) {
  if (w->fresh < 0) return fold_ok();
  if (!w->shared->has_fresh) FOLD_TRY(fold_fresh_ask(w->job->selection, p->cases, w->job->fresh_for, w->fresh));
  w->shared->has_fresh = true;
  return fold_fresh_read(w->fresh, &p->fresh);
}

static struct fold_round round_of(const struct fold_worker *w, const struct prepared *p, const struct fold_sink *sink) {
  return (struct fold_round){.registry = w->job->registry,
                             .selection = w->job->selection,
                             .cases = p->cases,
                             .fresh = p->fresh,
                             .sink = sink,
                             .stop = w->job->stop,
                             .judge = w->job->judge,
                             .place = w->place,
                             .seconds_lost = w->seconds_lost,
                             .most_lost = w->most_lost,
                             .explained = w->explained,
                             .uninformed = w->uninformed};
}

fold_status fold_worker_here(const struct fold_worker *w) {
  struct prepared p = {0};
  bool lost;
  fold_status status = prepare(w, &p);
  if (status.code == FOLD_OK && w->job->begin) status = w->job->begin(w->job->sink->context, p.environment);
  if (status.code == FOLD_OK) status = ask_fresh(w, &p);
  if (status.code == FOLD_OK) {
    struct fold_round round = round_of(w, &p, w->job->sink);
    status = fold_round_run(&round, &lost);
  }
  put_away(&p);
  return status;
}

/* The sink that sends everything on a socket. Results are sent once a trial. */
struct telling {
  int fd;
  struct fold_place place; /* of the trial */
  bool told_base;
};

/* Not sent: the listening process is gone. */
static fold_status told(bool sent) {
  return sent ? fold_ok() : fold_error(FOLD_ENVIRONMENT, "the worker's parent no longer listens");
}

static void tell_case(void *context, size_t done, size_t cases, const char *name) {
  struct telling *t = context;
  uint64_t at = t->place.c = done;
  (void)cases, (void)name;
  fold_wire_send(t->fd, FOLD_WORK_CASE, &at, sizeof at, NULL, 0);
}

static fold_status tell_trial(void *context, struct fold_place place, uint64_t input_hash) {
  struct telling *t = context;
  struct fold_begun begun;
  memset(&begun, 0, sizeof begun);
  begun.place = t->place = place;
  begun.input_hash = input_hash;
  t->told_base = false;
  return told(fold_wire_send(t->fd, FOLD_WORK_TRIAL, &begun, sizeof begun, NULL, 0));
}

static fold_status tell_base(struct telling *t, const struct fold_judgement *j) {
  struct fold_traces traces = j->traces ? *j->traces : (struct fold_traces){0};
  t->told_base = true;
  return told(fold_wire_send(t->fd, FOLD_WORK_BASE, &traces, sizeof traces, j->got,
                             fold_case_results(j->c) * fold_dtype_size(fold_subject_result(j->subject, j->c->dtype))));
}

static fold_status tell_judgement(void *context, const struct fold_judgement *j) {
  struct telling *t = context;
  struct fold_judged judged;
  size_t n_facts;
  if (j->got && !t->told_base) FOLD_TRY(tell_base(t, j));
  memset(&judged, 0, sizeof judged);
  judged.place = t->place;
  judged.place.subject = j->subject_index;
  judged.input_hash = j->input_hash;
  judged.claim = j->claim ? (uint32_t)j->claim->id : FOLD_CLAIMS;
  judged.fact = j->fact ? (int32_t)(j->fact - fold_facts(&n_facts)) : -1;
  judged.known = j->known;
  judged.ran = j->got != NULL;
  judged.beside = j->beside;
  judged.finding = j->finding;
  return told(fold_wire_send(t->fd, FOLD_WORK_JUDGED, &judged, sizeof judged, NULL, 0));
}

static fold_status tell_explains(void *context, enum fold_claim_id claim) {
  const struct telling *t = context;
  const uint32_t sent = claim;
  return told(fold_wire_send(t->fd, FOLD_WORK_EXPLAINS, &sent, sizeof sent, NULL, 0));
}

static fold_status tell_explanation(void *context, const struct fold_judgement *of,
                                    const struct fold_order_change *change) {
  const struct telling *t = context;
  (void)of;
  return told(fold_wire_send(t->fd, FOLD_WORK_EXPLAINED, change, sizeof *change, NULL, 0));
}

static fold_status tell_ready(const struct fold_worker *w, const struct prepared *p, int fd) {
  struct fold_ready ready = {.ranks = w->shared->ranks};
  const char *text = p->environment ? p->environment : "";
  return told(fold_wire_send(fd, FOLD_WORK_READY, &ready, sizeof ready, text, strlen(text)));
}

int fold_worker_serve(const struct fold_worker *w, int fd) {
  struct prepared p = {0};
  struct telling telling = {.fd = fd};
  const bool explains = w->job->sink->explanation != NULL;
  struct fold_sink sink = {tell_judgement, tell_case, tell_trial, explains ? tell_explanation : NULL,
                           tell_explains,  &telling};
  struct fold_ended ended;
  memset(&ended, 0, sizeof ended);
  ended.status = fold_apart_start(w->job->registry, w->job->selection, w->cases, w->place.turn);
  fold_watch_set(&w->shared->watch);
  if (w->job->selection->n_guests > 0) {
    dup2(STDERR_FILENO, STDOUT_FILENO); /* what they print is not our output */
    fold_process_state_watch_guests();
  }
  if (ended.status.code == FOLD_OK) ended.status = prepare(w, &p);
  if (ended.status.code == FOLD_OK) ended.status = tell_ready(w, &p, fd);
  if (ended.status.code == FOLD_OK) ended.status = ask_fresh(w, &p);
  if (ended.status.code == FOLD_OK) {
    struct fold_round round = round_of(w, &p, &sink);
    round.leave_lost = true;
    ended.status = fold_round_run(&round, &ended.lost);
    ended.place = round.place;
  }
  put_away(&p);
  ended.closed = fold_worlds_close();
  if (!fold_wire_send(fd, FOLD_WORK_ENDED, &ended, sizeof ended, NULL, 0)) atomic_store(&w->shared->unheard, true);
  return 0;
}
