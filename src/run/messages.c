/* messages.c: reads a worker's messages, checks each, since the worker's memory may be spoilt, and hands it to
 * the job's sink. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "run/apart.h"
#include "run/judged_claims.h"
#include "run/supervisor.h"

bool fold_supervisor_has_message(const struct fold_supervisor *s) {
  return s->inbox.to - s->inbox.from >= sizeof(struct fold_wire_head);
}

bool fold_supervisor_receive(struct fold_supervisor *s) {
  struct fold_inbox *in = &s->inbox;
  memmove(in->bytes, in->bytes + in->from, in->to - in->from);
  in->to -= in->from;
  in->from = 0;
  ssize_t got = recv(s->fd, in->bytes + in->to, sizeof in->bytes - in->to, MSG_DONTWAIT);
  if (got > 0) in->to += (size_t)got;
  return got > 0 || (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR));
}

/* Reads what follows a head. If it does not come with it, the sender is broken. */
static bool take_bytes(struct fold_supervisor *s, void *bytes, size_t n) {
  struct fold_inbox *in = &s->inbox;
  size_t there = in->to - in->from, part = n < there ? n : there;
  memcpy(bytes, in->bytes + in->from, part);
  in->from += part;
  return part == n ||
         fold_wire_read_by(s->fd, fold_now() + s->limit, (unsigned char *)bytes + part, n - part) == FOLD_WIRE_DONE;
}

static bool take(struct fold_supervisor *s, void *bytes, size_t n, size_t want) {
  return n == want && take_bytes(s, bytes, n);
}

/* Reads the cases as the worker has, if it needed the number of ranks for that, and tells the sink of the
 * environment. */
static bool take_ready(struct fold_supervisor *s, size_t n) {
  struct fold_ready ready;
  char *text = n >= sizeof ready ? calloc(n - sizeof ready + 1, 1) : NULL;
  bool whole = text && take(s, &ready, sizeof ready, sizeof ready) && take_bytes(s, text, n - sizeof ready);
  if (whole && !s->begun) {
    s->begun = true;
    if (!s->has_cases) s->failed = fold_select_cases(s->job->selection, ready.ranks, &s->cases);
    if (s->failed.code == FOLD_OK && s->job->begin) s->failed = s->job->begin(s->job->sink->context, text);
  }
  free(text);
  return whole;
}

static bool take_case(struct fold_supervisor *s, size_t n) {
  uint64_t at;
  if (!take(s, &at, n, sizeof at) || at >= s->cases.n) return false;
  const size_t turn = s->round.place.turn, turns = fold_turns(s->job->selection);
  s->round.place = (struct fold_place){.c = at, .turn = turn};
  s->in_trial = false;
  s->explains = FOLD_CLAIMS;
  const struct fold_sink *sink = s->job->sink;
  if (sink->progress) sink->progress(sink->context, turn * s->cases.n + at, turns * s->cases.n, s->cases.at[at].name);
  return true;
}

static bool is_place(const struct fold_supervisor *s, struct fold_place place) {
  return place.c < s->cases.n && place.subject < s->job->registry->n;
}

static bool take_trial(struct fold_supervisor *s, size_t n) {
  struct fold_begun begun;
  if (!take(s, &begun, n, sizeof begun) || !is_place(s, begun.place)) return false;
  s->again = s->again && s->trials == 0;
  s->calm &= s->again;
  if (!s->again) s->told = 0;
  s->round.place = begun.place;
  s->round.input_hash = begun.input_hash;
  s->in_trial = true;
  s->explains = FOLD_CLAIMS;
  s->trials++;
  s->ran[begun.place.subject] = begun.place.c + 1;
  s->since = fold_now();
  return true;
}

static bool take_base(struct fold_supervisor *s, size_t n) {
  const struct fold_case *c = &s->cases.at[s->round.place.c];
  const struct fold_subject *subject = &s->round.registry->subjects[s->round.place.subject];
  size_t n_bytes = fold_case_results(c) * fold_dtype_size(fold_subject_result(subject, c->dtype));
  if (!s->in_trial || n != sizeof s->traces + n_bytes) return false;
  if (s->got_bytes < n_bytes + 1) {
    free(s->got);
    s->got = malloc(n_bytes + 1);
    s->got_bytes = s->got ? n_bytes + 1 : 0;
    if (!s->got) s->failed = fold_within(fold_no_memory("for %zu results", fold_case_results(c)), "%s", c->name);
  }
  return s->got && take_bytes(s, &s->traces, sizeof s->traces) && take_bytes(s, s->got, n_bytes);
}

static bool take_judged(struct fold_supervisor *s, size_t n) {
  struct fold_judged judged;
  size_t n_facts;
  const struct fold_fact *facts = fold_facts(&n_facts);
  if (!take(s, &judged, n, sizeof judged) || !is_place(s, judged.place) || judged.claim > FOLD_CLAIMS) return false;
  if (judged.fact >= (int32_t)n_facts || judged.finding.verdict >= FOLD_VERDICTS) return false;
  if (judged.finding.telling > FOLD_TELLING) return false;
  if (s->again && s->told & FOLD_CLAIM(judged.claim)) return true;
  s->round.input_hash = judged.input_hash;
  struct fold_judgement judgement = fold_round_judgement(&s->round, judged.place, judged.claim);
  judgement.finding = judged.finding;
  fold_judgement_count(&s->round, &judgement);
  judgement.fact = judged.fact >= 0 ? &facts[judged.fact] : NULL;
  judgement.known = judged.known;
  if (judged.ran) {
    judgement.got = s->got;
    judgement.traces = &s->traces;
  }
  judgement.beside = judged.beside;
  s->told |= FOLD_CLAIM(judged.claim);
  s->failed = s->job->sink->judgement(s->job->sink->context, &judgement);
  return true;
}

static bool is_whole(const struct fold_order_change *change) {
  bool whole = change->claim < FOLD_CLAIMS && memchr(change->text, '\0', sizeof change->text);
  for (int k = 0; k < 2; k++) {
    const struct fold_order_change_side *side = &change->side[k];
    whole = whole && memchr(side->at, '\0', sizeof side->at) && memchr(side->kind, '\0', sizeof side->kind) &&
            memchr(side->order, '\0', sizeof side->order);
  }
  return whole;
}

static bool take_explains(struct fold_supervisor *s, size_t n) {
  return s->in_trial && s->job->sink->explanation && take(s, &s->explains, n, sizeof s->explains) &&
         s->explains < FOLD_CLAIMS;
}

static bool take_explained(struct fold_supervisor *s, size_t n) {
  const struct fold_sink *sink = s->job->sink;
  struct fold_order_change change;
  if (!take(s, &change, n, sizeof change) || !is_whole(&change) || change.claim != s->explains) return false;
  const struct fold_judgement of = fold_round_judgement(&s->round, s->round.place, change.claim);
  s->explained[s->round.place.subject] |= FOLD_CLAIM(change.claim);
  s->explains = FOLD_CLAIMS;
  s->failed = sink->explanation(sink->context, &of, &change);
  return true;
}

enum fold_ending fold_supervisor_take_message(struct fold_supervisor *s) {
  struct fold_wire_head head;
  bool sense = false;
  if (!take_bytes(s, &head, sizeof head)) return FOLD_WORKER_GONE;
  switch (head.kind) {
    case FOLD_WORK_READY: sense = take_ready(s, head.n_bytes); break;
    case FOLD_WORK_CASE: sense = take_case(s, head.n_bytes); break;
    case FOLD_WORK_TRIAL: sense = take_trial(s, head.n_bytes); break;
    case FOLD_WORK_BASE: sense = take_base(s, head.n_bytes); break;
    case FOLD_WORK_JUDGED: sense = take_judged(s, head.n_bytes); break;
    case FOLD_WORK_EXPLAINS: sense = take_explains(s, head.n_bytes); break;
    case FOLD_WORK_EXPLAINED: sense = take_explained(s, head.n_bytes); break;
    case FOLD_WORK_ENDED:
      sense = take(s, &s->ended, head.n_bytes, sizeof s->ended);
      if (sense) return FOLD_WORKER_DONE;
      break;
    default: break;
  }
  return sense ? FOLD_WORKER_RUNS : FOLD_WORKER_GARBLED;
}
