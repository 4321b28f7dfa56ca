/* fault.c: guarded regions and the handler of the faults in them.
 *
 * The handler calls mprotect, which POSIX does not list as safe in a handler; on Linux it is a bare system call. Two
 * threads may fault on one page at once: the second finds it open, and opens it again.
 */
#include "rig/fault.h"

#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

enum { EDGE = 1 << 18, NAN_BYTE = 0xff };

static size_t page_bytes(void) { return (size_t)sysconf(_SC_PAGESIZE); }

static void *map(void *at, size_t bytes, int access, int flags) {
  return mmap(at, bytes, access, flags | MAP_ANONYMOUS, -1, 0); /* unseen: drop | 2 | 0 */
}

static fold_status too_many(size_t n) { return fold_no_memory("for %zu bytes", n); }

fold_status fold_region_open(size_t n, struct fold_region *region) {
  size_t page = page_bytes();
  *region = (struct fold_region){0};
  if (n > PTRDIFF_MAX) return too_many(n); /* unseen: >= */
  size_t bytes = n ? (n + page - 1) / page * page : page;
  unsigned char *all = map(NULL, bytes + 2 * EDGE, PROT_NONE, MAP_PRIVATE);
  if (all == MAP_FAILED) return too_many(n);
  *region = (struct fold_region){.at = all + EDGE, .bytes = bytes};
  if (mprotect(region->at, bytes, PROT_READ | PROT_WRITE) == 0) return fold_ok();
  fold_region_close(region);
  return too_many(n);
}

/* mremap with an old size of 0 gives shared memory a second address. That needs no descriptor, and no limit on files'
 * sizes applies to it. */
fold_status fold_region_open_read_only(size_t n, struct fold_region *region) {
  FOLD_TRY(fold_region_open(n, region));
  size_t bytes = region->bytes;
  void *own = map(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED), *seen = MAP_FAILED;
  if (own != MAP_FAILED) {
    region->own = own;
    seen = mremap(own, 0, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, region->at);
  }
  if (seen != MAP_FAILED && mprotect(seen, bytes, PROT_READ) == 0) return fold_ok();
  fold_region_close(region);
  return too_many(n);
}

void fold_region_close(struct fold_region *region) {
  if (region->at) munmap(region->at - EDGE, region->bytes + 2 * EDGE);
  if (region->own) munmap(region->own, region->bytes);
  *region = (struct fold_region){0};
}

/* Static, since a signal handler is handed no context of ours. */
static struct {
  struct fold_watched *watched;
  size_t n, page;
  struct sigaction segv, bus; /* the former ones */
  bool placed;
} watch;

static enum fold_access access_of(const void *context, bool to_read_only) {
#if defined __x86_64__ && defined __linux__
  (void)to_read_only;
  return ((const ucontext_t *)context)->uc_mcontext.gregs[REG_ERR] & 2 ? FOLD_WRITTEN : FOLD_READ;
#else
  (void)context;
  return to_read_only ? FOLD_WRITTEN : FOLD_TOUCHED;
#endif
}

static void note(struct fold_watched *w, ptrdiff_t at, enum fold_access by) {
  bool inside = at >= (ptrdiff_t)w->first && at < (ptrdiff_t)w->last;
  struct fold_fault *fault = inside ? &w->inside : &w->outside;
  if (atomic_exchange(&fault->seen, true)) return;
  fault->by = by;
  fault->at = at;
}

/* Whether the address lies in this region or its edges; then its page is open to all from now on. */
static bool take(struct fold_watched *w, unsigned char *address, const void *context) {
  struct fold_region *region = w->region;
  ptrdiff_t at = address - region->at;
  if (at < -EDGE || at >= (ptrdiff_t)region->bytes + EDGE) return false;
  bool within = at >= 0 && at < (ptrdiff_t)region->bytes;
  note(w, at, access_of(context, within));
  unsigned char *page = address - (uintptr_t)address % watch.page;
  if (mprotect(page, watch.page, PROT_READ | PROT_WRITE) != 0) return false;
  if (!within) memset(page, NAN_BYTE, watch.page);
  return true;
}

/* Whether a process (perhaps this one) sent the signal, and no instruction faulted. */
static bool is_sent(const siginfo_t *info) { return info->si_code <= 0; }

/* Does what would happen without our handler. Where the signal is ignored, one that was sent does nothing, but a fault
 * still ends the process. */
static void hand_on(int number, siginfo_t *info, void *context) {
  const struct sigaction *former = number == SIGBUS ? &watch.bus : &watch.segv;
  if (former->sa_flags & SA_SIGINFO) {
    former->sa_sigaction(number, info, context);
  } else if (former->sa_handler != SIG_DFL && former->sa_handler != SIG_IGN) {
    former->sa_handler(number);
  } else if (former->sa_handler == SIG_DFL || !is_sent(info)) {
    signal(number, SIG_DFL); /* the instruction faults again, and the process ends by it */
    if (is_sent(info)) raise(number);
  }
}

static void handle(int number, siginfo_t *info, void *context) {
  for (size_t i = 0; i < watch.n && !is_sent(info); i++)
    if (take(&watch.watched[i], info->si_addr, context)) return;
  hand_on(number, info, context);
}

/* Installs our handler. `former` receives the one that was there first, to be put back at the end; a handler that a
 * subject installed since then is dropped. True if there was such a one. */
static bool take_handler(int number, struct sigaction *former) {
  struct sigaction now, ignored, ours = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};
  sigemptyset(&ours.sa_mask);
  if (sigaction(number, NULL, &now) == 0 && now.sa_flags & SA_SIGINFO && now.sa_sigaction == handle) return false;
  sigaction(number, &ours, watch.placed ? &ignored : former);
  return watch.placed;
}

const char *fold_faults_take_handlers(void) {
  watch.page = page_bytes();
  bool segv = take_handler(SIGSEGV, &watch.segv), bus = take_handler(SIGBUS, &watch.bus);
  watch.placed = true;
  return segv ? "the handler of SIGSEGV" : bus ? "the handler of SIGBUS" : NULL;
}

void fold_faults_give_handlers_back(void) {
  if (!watch.placed) return;
  sigaction(SIGSEGV, &watch.segv, NULL);
  sigaction(SIGBUS, &watch.bus, NULL);
  watch.placed = false;
}

void fold_faults_watch(struct fold_watched *watched, size_t n) {
  watch.watched = watched;
  watch.n = n;
  if (!watch.placed) fold_faults_take_handlers();
}

void fold_faults_end(void) {
  for (size_t i = 0; i < watch.n; i++) {
    const struct fold_watched *w = &watch.watched[i];
    struct fold_region *region = w->region;
    if (region->own && (w->inside.seen || w->outside.seen)) mprotect(region->at, region->bytes, PROT_READ);
    if (!w->outside.seen) continue;
    /* Fresh pages: what was written there is gone, and the memory given back. */
    map(region->at - EDGE, EDGE, PROT_NONE, MAP_PRIVATE | MAP_FIXED);
    map(region->at + region->bytes, EDGE, PROT_NONE, MAP_PRIVATE | MAP_FIXED);
  }
  watch.n = 0;
}
