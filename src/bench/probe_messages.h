/* probe_messages.h: what the bits of an all-reduce depend on: which settings of the library and which lengths of message
 * give the same bits to the same elements.
 *
 * Promised: every message begins with the same `head` elements on each rank (FOLD_WIRE_VECTOR). Their results are sorted into classes of
 * equal bits over the whole table (all settings, lengths and subjects), and a letter names each class. Each setting has a world of its
 * own. With fewer than three ranks all orders look the same, because addition commutes.
 */
#ifndef FOLD_PROBE_MESSAGES_H
#define FOLD_PROBE_MESSAGES_H

#include "bench/rank_wire.h"
#include "judge/judge.h"
#include "ranks/setting.h"

enum { FOLD_PROBE_LENGTHS = 16, FOLD_PROBE_SUBJECTS = 4 };

struct fold_probe {
  enum fold_engine engine;
  enum fold_dtype dtype;
  enum fold_op op;
  const struct fold_generator *generator;
  uint64_t seed;
  unsigned ranks, checks;                  /* checks of each message, of two runs each */
  size_t n[FOLD_PROBE_LENGTHS], n_lengths; /* lengths in elements, rising; the first is the head */
  const struct fold_subject *subject[FOLD_PROBE_SUBJECTS];
  size_t n_subjects;
  const char *settings; /* globs */
};

/* One message of one subject in one setting's world. */
struct fold_probe_cell {
  bool ran, rank_agreement, run_to_run;
  uint64_t bits; /* the hash of the head's results */
  int letter;    /* its class: 0, 1, ... in the sequence of appearance */
};

struct fold_probe_row {
  const struct fold_world_setting *setting;
  fold_status status; /* why the setting's world gave no results, or no more of them */
  char library[64];
  struct fold_probe_cell cell[FOLD_PROBE_SUBJECTS][FOLD_PROBE_LENGTHS];
};

struct fold_probe_table {
  struct fold_probe_row *row;
  size_t n_rows, n_letters;
};

/* Fills the table, whose rows must be freed. A setting that the library refuses is a row with its status. */
fold_status fold_probe_run(const struct fold_probe *probe, struct fold_probe_table *table, const volatile int *stop);
/* Assigns the letters in a table whose cells have their bits. */
fold_status fold_probe_letters(const struct fold_probe *probe, struct fold_probe_table *table);
/* "A" ... "Z", "a" ... "z", then "52" ... */
const char *fold_probe_letter(int letter, char text[8]);

/* What the table shows of one subject, over all rows. */
struct fold_probe_summary {
  size_t ran, letters, ranks_differ, repeats_differ;
  bool refuted; /* of what it promises: one letter, ranks that agree, repeats that agree */
};
void fold_probe_summarise(const struct fold_probe *probe, const struct fold_probe_table *table, size_t subject,
                          struct fold_probe_summary *summary);

#endif
