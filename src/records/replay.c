/* replay.c: see replay.h. */
#include "replay.h"

#include <stdlib.h>
#include <string.h>

#include "text.h"

/* Made once: they are the same for the whole of a command. */
static const json_t *guests_of(const struct fold_selection *selection) {
  static json_t *guests;
  if (selection->n_guests == 0) return NULL;
  if (guests) return guests;
  guests = json_array();
  for (size_t i = 0; i < selection->n_guests; i++)
    json_array_append_new(guests, json_pack("[s,s]", selection->guests[i].door->option, selection->guests[i].what));
  return guests;
}

void fold_asked_for(struct fold_asked *asked, const struct fold_judgement *j, const struct fold_selection *selection,
                    bool strict) {
  *asked = (struct fold_asked){.strict = strict && j->known, .guests = guests_of(selection)};
  if (j->claim->id == FOLD_RUN_TO_RUN && selection->repeats != FOLD_REPEATS) asked->repeats = selection->repeats;
  if (!fold_engine_has_ranks(j->subject->engine)) return;
  asked->ranks = getenv("FOLDPROOF_RANKS");
  asked->launch = getenv("FOLDPROOF_LAUNCH");
  asked->timeout = getenv("FOLDPROOF_TIMEOUT");
}

static bool is_one_line(const char *value) {
  for (size_t n; *value; value += n) {
    n = fold_text_character(value);
    if (n == 0 || (unsigned char)*value < ' ' || !fold_text_is_plain(value, n)) return false;
  }
  return true;
}

/* Any bytes, told in plain ones: a shell makes them again by printf. */
static void put_octal(const char *value, FILE *out) {
  fputs("\"$(printf '", out);
  for (; *value; value++)
    if (*value > ' ' && *value < 0x7f && !strchr("'\\%", *value))
      fputc(*value, out);
    else
      fprintf(out, "\\%03o", (unsigned char)*value);
  fputs("')\"", out);
}

static void put_option(const char *option, const char *value, FILE *out) {
  if (value == NULL || *value == '\0') return;
  if (!is_one_line(value)) {
    fprintf(out, " %s ", option);
    put_octal(value, out);
    return;
  }
  fprintf(out, " %s '", option);
  for (; *value; value++)
    if (*value == '\'')
      fputs("'\\''", out);
    else
      fputc(*value, out);
  fputc('\'', out);
}

void fold_put_replay(const struct fold_replay *r, FILE *out) {
  fprintf(out, "%s verify", r->program);
  for (size_t i = 0; i < json_array_size(r->asked.guests); i++) {
    const json_t *guest = json_array_get(r->asked.guests, i);
    const char *option = json_string_value(json_array_get(guest, 0)),
               *what = json_string_value(json_array_get(guest, 1));
    const bool program = option && strcmp(option, "--exec") == 0; /* of a record, which may say anything */
    put_option(program ? "--exec" : "--guest", what, out);
  }
  put_option("--subjects", r->subject, out);
  put_option("--engine", r->engine, out);
  put_option("--claims", r->claim, out);
  if (r->probe) fputs(" --probe", out);
  put_option("--npy", r->npy, out);
  if (r->npy) put_option("--op", r->op, out);
  put_option("--fixture-folder", r->folder, out);
  if (r->fixtures) fputs(" --set all", out);
  put_option("--fixtures", r->fixtures, out);
  if (r->asked.repeats) fprintf(out, " --repeats %u", r->asked.repeats);
  if (r->asked.strict) fputs(" --strict", out);
  if (r->ranks)
    fprintf(out, " --ranks '%u'", r->ranks);
  else
    put_option("--ranks", r->asked.ranks, out);
  put_option("--launch", r->asked.launch, out);
  put_option("--timeout", r->asked.timeout, out);
}
