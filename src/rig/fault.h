/* fault.h: host memory between pages without access, and who touches them while a subject runs.
 *
 * A read or a write beyond its ends, or a write to what is read-only, does not end the process: it is noted with
 * its place, the page is opened, and the run goes on. On such a page lies NaN. What a load of a whole page's words
 * reads within the same page is not seen. A fault elsewhere goes to whoever handled it before. Who handles faults himself within a
 * run is found by an edge that can be read (edge.h).
 */
#ifndef FOLD_FAULT_H
#define FOLD_FAULT_H

#include <stdatomic.h>

#include "edge.h"
#include "fold.h"
#include "traces.h"

/* [edge without access | bytes, a multiple of a page | edge without access]; an edge has 256 KiB */
struct fold_region {
  unsigned char *at;
  size_t bytes;
  unsigned char *own; /* the harness's view of these bytes, if at `at` they are read-only; else NULL */
};

/* As many pages as hold n bytes, at least one, zero. NO_MEMORY: then `region` is none, which can be closed. */
fold_status fold_region_open(size_t n, struct fold_region *region);
/* The same for an input: read-only at `at`. */
fold_status fold_region_open_read_only(size_t n, struct fold_region *region);
void fold_region_close(struct fold_region *region);

/* The first touch of a kind; `at` in bytes from the region's start. */
struct fold_fault {
  _Atomic bool seen; /* of threads that fault at once one is told */
  enum fold_access by;
  ptrdiff_t at;
};
/* What is watched: an argument's region, and where in it the argument lies: a write to a read-only region within
 * [first, last) is `inside`, all else `outside`. */
struct fold_watched {
  struct fold_region *region;
  size_t first, last;
  struct fold_fault inside, outside;
  bool open; /* an edge can be read; set by fold_faults_watch */
};

/* Until fold_faults_end faults in these n regions are noted; all threads' are. One watch at a time. At the end what was opened is
 * closed again, and what was read-only is so again. That edge of each read-only region can be read meanwhile, and is looked at in the
 * end: then only the page is known, and `at` is its byte that is nearest to the region. NO_MEMORY: nothing is watched. */
fold_status fold_faults_watch(struct fold_watched *watched, size_t n, enum fold_edge edge);
fold_status fold_faults_end(void);
/* The handlers stay in their place between watches, where faults are handed on. Takes that place again from whoever took it; gives it
 * back to whoever had it before. What was taken since is named; NULL: nothing. */
const char *fold_faults_take_handlers(void);
void fold_faults_give_handlers_back(void);

#endif
