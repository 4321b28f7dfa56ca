/* probe_messages.h: on what the bits of an all-reduce depend: which settings of the library and which lengths of message
 * give the same bits to the same elements.
 *
 * Promised: every message begins with the same `head` elements on each rank (FOLD_WIRE_VECTOR); letters name classes of
 * equal bits of the results of these, over the whole table: all settings, lengths and subjects. Each setting has a world of
 * its own. With fewer than three ranks no order can be told from another, for an addition commutes.
 */
#ifndef FOLD_PROBE_MESSAGES_H
#define FOLD_PROBE_MESSAGES_H

#include "judge.h"
#include "rank_wire.h"
#include "world_setting.h"

enum { FOLD_PROBE_LENGTHS = 16, FOLD_PROBE_SUBJECTS = 4 };

struct fold_probe {
  enum fold_engine engine;
  enum fold_dtype dtype;
  enum fold_op op;
  const struct fold_generator *generator;
  uint64_t seed;
  unsigned ranks, checks;                  /* of each message: two runs a check */
  size_t n[FOLD_PROBE_LENGTHS], n_lengths; /* elements, rising; the first is the head */
  const struct fold_subject *subject[FOLD_PROBE_SUBJECTS];
  size_t n_subjects;
  const char *settings; /* globs */
};

/* One message of one subject in one setting's world. */
struct fold_probe_cell {
  bool ran, rank_agreement, run_to_run;
  uint64_t bits; /* hash of the head */
  int letter;    /* its class: 0, 1, ... as they came up */
};

struct fold_probe_row {
  const struct fold_world_setting *setting;
  fold_status status; /* why the setting's world gave nothing, or no more */
  char library[64];
  struct fold_probe_cell cell[FOLD_PROBE_SUBJECTS][FOLD_PROBE_LENGTHS];
};

struct fold_probe_table {
  struct fold_probe_row *row;
  size_t n_rows, n_letters;
};

/* Fills the table; free its rows. A setting that the library refuses is a row with its status. */
fold_status fold_probe_run(const struct fold_probe *probe, struct fold_probe_table *table, const volatile int *stop);
/* Names the classes of a table whose cells have their bits. */
fold_status fold_probe_letters(const struct fold_probe *probe, struct fold_probe_table *table);
/* "A" ... "Z", "a" ... "z", then "52" ... */
const char *fold_probe_letter(int letter, char text[8]);

/* What the table says of one subject, over all rows. */
struct fold_probe_summary {
  size_t ran, letters, ranks_differ, repeats_differ;
  bool refuted; /* of what it promises: one letter, ranks that agree, repeats */
};
void fold_probe_summarise(const struct fold_probe *probe, const struct fold_probe_table *table, size_t subject,
                          struct fold_probe_summary *summary);

#endif
