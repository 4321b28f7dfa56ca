/* edge.c: edges that can be read, and what mincore tells of them.
 *
 * mincore calls a page of private memory resident if its entry in the page table is present (Linux, mm/mincore.c); a
 * first read makes it present, with the zero page. Some sandboxes call every page resident: a trial at the first use
 * finds that out. mlockall makes all pages resident, those of an edge too: so a page that nobody reads is looked at beside it.
 */
#include "edge.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MOST_PAGES = 64 };

static size_t page_bytes(void) { return (size_t)sysconf(_SC_PAGESIZE); }

/* Which of the pages are resident; false where that can't be told. */
static bool look(unsigned char *edge, size_t bytes, unsigned char resident[MOST_PAGES]) {
  return bytes / page_bytes() <= MOST_PAGES && mincore(edge, bytes, resident) == 0;
}

/* Tries it with one page: not resident before it is read, resident afterwards. */
static bool try_one(void) {
  unsigned char before[MOST_PAGES] = {1}, after[MOST_PAGES] = {0};
  size_t page = page_bytes();
  volatile unsigned char *at = mmap(NULL, page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) return false;
  bool told = look((unsigned char *)at, page, before);
  (void)*at;
  told = told && look((unsigned char *)at, page, after) && !(before[0] & 1) && (after[0] & 1);
  munmap((void *)at, page);
  return told;
}

static bool find_resident(unsigned char *edge, size_t bytes, bool last, size_t *at) {
  unsigned char resident[MOST_PAGES];
  size_t page = page_bytes(), n = bytes / page;
  if (!look(edge, bytes, resident)) return false;
  for (size_t i = 0; i < n; i++) {
    size_t k = last ? n - 1 - i : i;
    *at = k * page;
    if (resident[k] & 1) return true;
  }
  return false;
}

static bool renew(unsigned char *edge, size_t bytes, int access) {
  return mmap(edge, bytes, access, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED;
}

/* The page that nobody reads; NULL where there is none. */
static unsigned char *unread;

static void open_unread(void) {
  size_t at, page = page_bytes();
  if (!unread) {
    void *new = mmap(NULL, page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (new != MAP_FAILED) unread = new;
  } else if (find_resident(unread, page, false, &at)) {
    (void)renew(unread, page, PROT_READ);
  }
}

static bool all_are_resident(void) {
  size_t at;
  return unread && find_resident(unread, page_bytes(), false, &at);
}

static fold_status failed(void) { return fold_error(FOLD_NO_MEMORY, "not enough memory to open a page and close it"); }

fold_status fold_edge_open(unsigned char *edge, size_t bytes, bool *open) {
  static int tells = -1;
  size_t at;
  *open = false;
  if (tells < 0) tells = try_one();
  if (!tells) return fold_ok();
  if (find_resident(edge, bytes, false, &at) && !renew(edge, bytes, PROT_NONE)) return failed();
  open_unread();
  *open = mprotect(edge, bytes, PROT_READ) == 0;
  return *open ? fold_ok() : failed();
}

fold_status fold_edge_close(unsigned char *edge, size_t bytes, enum fold_edge which, bool *touched, size_t *at) {
  const bool resident = find_resident(edge, bytes, which == FOLD_EDGE_BEFORE, at);
  *touched = resident && !all_are_resident();
  bool closed = resident ? renew(edge, bytes, PROT_NONE) : mprotect(edge, bytes, PROT_NONE) == 0;
  return closed ? fold_ok() : failed();
}
