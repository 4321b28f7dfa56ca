/* fault.h: host memory between pages without access, and a note of each touch of these while a subject runs.
 *
 * A read or a write beyond the memory's ends, or a write to read-only memory, does not end the process: it is noted
 * with its place, the page is opened, and the run goes on. A page beyond the ends then holds NaN. A read past an
 * argument that stays on the argument's last page causes no fault and is not seen. A fault elsewhere goes to the
 * handler that was there before. What a subject reads while it handles faults itself is not seen.
 */
#ifndef FOLD_FAULT_H
#define FOLD_FAULT_H

#include <stdatomic.h>

#include "base/fold.h"
#include "model/traces.h"

/* [edge without access | bytes, a multiple of a page | edge without access]; an edge has 256 KiB */
struct fold_region {
  unsigned char *at;
  size_t bytes;
  unsigned char *own; /* where `at` is read-only: the harness's writable view of these bytes; else NULL */
};

/* Opens a region of zeroed pages that hold n bytes, at least one page. After NO_MEMORY `region` is empty, and may be
 * closed. */
fold_status fold_region_open(size_t n, struct fold_region *region);
/* The same for an input: read-only at `at`. */
fold_status fold_region_open_read_only(size_t n, struct fold_region *region);
void fold_region_close(struct fold_region *region);

/* The first touch of a kind; `at` in bytes from the region's start. */
struct fold_fault {
  _Atomic bool seen; /* if several threads fault at once, one of them is noted */
  enum fold_access by;
  ptrdiff_t at;
};
/* An argument's region that is watched. The argument lies at [first, last). A write there to a read-only region is
 * `inside`; every other fault is `outside`. */
struct fold_watched {
  struct fold_region *region;
  size_t first, last;
  struct fold_fault inside, outside;
};

/* Notes the faults of all threads in these n regions until fold_faults_end, which closes the opened pages again and
 * makes inputs read-only again. Only one watch at a time. */
void fold_faults_watch(struct fold_watched *watched, size_t n);
void fold_faults_end(void);
/* Our handlers stay installed between watches, and hand faults on then. The first function installs them again where
 * somebody replaced them, and names the handler that was replaced (NULL: none). The second one puts back the handlers
 * that were there before ours. */
const char *fold_faults_take_handlers(void);
void fold_faults_give_handlers_back(void);

#endif
