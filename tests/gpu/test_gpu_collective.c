/* test_gpu_collective.c: a rank's own work on a GPU, and ranks that write into each other's memory, against the host.
 *
 * The host's word is parts_host.c, replays of the orders. The first tests need one GPU, and play the ranks; the others
 * are threads with a GPU each, two at the least: with fewer they are skipped, unless FOLDPROOF_REQUIRE_GPUS asks for
 * more.
 */
#include <math.h>
#include <pthread.h>
#include <stdio.h>

#include "gpu.h"
#include "kernels/collective/collective_reach.h"
#include "kernels/collective/parts.h"

enum { MOST_RANKS = FOLD_REACH_MOST, MOST = 300007 };

/* Element i of rank r: magnitudes far apart, so that an order shows, and some -0, infinities and NaN. */
static uint64_t element(enum fold_dtype dtype, size_t i, int r) {
  uint64_t h = i * 64 + (uint64_t)r + 1;
  for (int k = 0; k < 2; k++) h = (h ^ h >> 33) * 0xff51afd7ed558ccdull;
  h ^= h >> 33;
  double x = ((double)(h >> 40) / (1 << 24) - 0.5) * ldexp(1.0, (int)(h & 15) - 8);
  if ((h & 0x3ff0) == 0x120) x = -0.0;
  if ((h & 0x3fff0) == 0x3450) x = INFINITY;
  if ((h & 0x3fff0) == 0x5550) x = NAN;
  return fold_bits_from_double(dtype, x);
}

static size_t first_wrong(enum fold_dtype dtype, const void *got, const void *want, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (!fold_bits_same(dtype, fold_bits_load(dtype, got, i), fold_bits_load(dtype, want, i))) return i;
  return n;
}

/* Terms of all ranks, rank by rank. */
static void fill(enum fold_dtype dtype, size_t n, int ranks, void *slices) {
  for (int r = 0; r < ranks; r++)
    for (size_t i = 0; i < n; i++) fold_bits_store(dtype, slices, (size_t)r * n + i, element(dtype, i, r));
}

/* A comm of which only the number of ranks is asked. */
static struct fold_call call_of(int dtype, int op, size_t rows, size_t cols, struct fold_comm *comm) {
  return (struct fold_call){.dtype = (enum fold_dtype)dtype,
                            .problem = fold_rows_problem((enum fold_op)op),
                            .rows = rows,
                            .cols = cols,
                            .comm = comm};
}

Test(gpu_collective, a_gpu_combines_the_ranks_terms_as_the_host_does) {
  gpu_open();
  enum { RANKS = 33, N = 1000 };
  unsigned char *slices = malloc(RANKS * N * 8), *got = malloc(N * 8), *want = malloc(N * 8);
  void *d_slices = gpu_alloc(RANKS * N * 8), *d_out = gpu_alloc(N * 8);
  for (int d = 0; d < GPU_DTYPES; d++)
    for (int o = 0; o < FOLD_OPS; o++)
      for (int ranks = 1; ranks <= RANKS; ranks += ranks < 9 ? 1 : 8) {
        struct fold_comm comm = {.ranks = ranks};
        struct fold_call call = call_of(d, o, N, 1, &comm);
        fill(call.dtype, N, ranks, slices);
        gpu_need(fold_device_put(d_slices, slices, (size_t)ranks * N * 8));
        gpu_need(fold_device_set(d_out, 0xa5, N * 8, NULL));
        gpu_need(fold_parts_cuda.combine(&call, d_slices, N, d_out));
        gpu_need(fold_device_get(got, d_out, N * 8));
        gpu_need(fold_parts_host.combine(&call, slices, N, want));
        size_t at = first_wrong(call.dtype, got, want, N);
        cr_expect_eq(at, (size_t)N, "%s %s over %d ranks: element %zu differs", fold_dtype_name(call.dtype),
                     fold_op_name(call.problem->op), ranks, at);
      }
  gpu_free(d_slices);
  gpu_free(d_out);
  free(slices);
  free(got);
  free(want);
}

struct sum_shape {
  size_t rows, cols, block;
  int ranks;
};

/* Subtrees of every rank's part and the root over them, as canonical_sum.c asks for them; "" or what differs. */
static void judge_sum(int d, int o, struct sum_shape shape, char fault[120]) {
  size_t size = fold_dtype_size((enum fold_dtype)d), wide = d == FOLD_F64 ? 8 : 4, at[MOST_RANKS + 1], bytes = 0;
  size_t blocks = (shape.cols + shape.block - 1) / shape.block, partials = shape.rows * (blocks + 1) * wide;
  struct fold_comm comm = {.ranks = shape.ranks};
  unsigned char *in = malloc(shape.rows * shape.cols * size + 1), *mine = malloc(partials), *theirs = malloc(partials);
  unsigned char got[64], want[64];
  void *d_in = gpu_alloc(shape.rows * shape.cols * size + 1), *d_partials = gpu_alloc(partials), *d_out = gpu_alloc(64);
  fault[0] = '\0';
  gpu_need(fold_device_set(d_partials, 0xff, partials, NULL));
  for (int r = 0; r <= shape.ranks; r++)
    at[r] = (fold_comm_cut(shape.cols, shape.block, shape.ranks, r) + shape.block - 1) / shape.block;
  for (int r = 0; r < shape.ranks; r++) {
    size_t first = fold_comm_cut(shape.cols, shape.block, shape.ranks, r),
           cols = fold_comm_cut(shape.cols, shape.block, shape.ranks, r + 1) - first;
    struct fold_call call = call_of(d, o, shape.rows, cols, &comm);
    for (size_t i = 0; i < shape.rows * cols; i++) fold_bits_store(call.dtype, in, i, element(call.dtype, i, r));
    call.in[0] = in;
    gpu_need(fold_parts_host.subtrees(&call, NULL, shape.block, theirs + bytes));
    gpu_need(fold_device_put(d_in, in, shape.rows * cols * size));
    size_t need = fold_parts_cuda.subtrees_scratch(&call, shape.block);
    call.in[0] = d_in;
    call.scratch = gpu_alloc(need);
    gpu_need(fold_device_set(call.scratch, 0xff, need, NULL));
    gpu_need(fold_device_set(call.scratch, 0, FOLD_SCRATCH_ZEROED, NULL));
    gpu_need(fold_parts_cuda.subtrees(&call, call.scratch, shape.block, (unsigned char *)d_partials + bytes));
    gpu_need(fold_device_synchronize());
    gpu_free(call.scratch);
    bytes += shape.rows * (at[r + 1] - at[r]) * wide;
  }
  gpu_need(fold_device_get(mine, d_partials, bytes));
  enum fold_dtype accumulator = d == FOLD_F64 ? FOLD_F64 : FOLD_F32;
  if (first_wrong(accumulator, mine, theirs, bytes / wide) != bytes / wide)
    snprintf(fault, 120, "block %zu differs", first_wrong(accumulator, mine, theirs, bytes / wide));
  struct fold_call call = call_of(d, o, shape.rows, 0, &comm);
  call.out = want;
  gpu_need(fold_parts_host.root(&call, theirs, at));
  call.out = d_out;
  gpu_need(fold_parts_cuda.root(&call, d_partials, at));
  gpu_need(fold_device_get(got, d_out, sizeof got));
  if (!*fault && first_wrong(call.dtype, got, want, shape.rows) != shape.rows) snprintf(fault, 120, "the root differs");
  gpu_free(d_in);
  gpu_free(d_partials);
  gpu_free(d_out);
  free(in);
  free(mine);
  free(theirs);
}

Test(gpu_collective, a_gpus_subtrees_and_root_are_the_hosts) {
  gpu_open();
  static const struct sum_shape shapes[] = {{1, 0, 4096, 3},         {1, 1, 4096, 3},      {2, 4097, 4096, 2},
                                            {1, 100000, 4096, 5},    {3, 20481, 8192, 4},  {7, 4096, 4096, 8},
                                            {1, 1000000, 65536, 3},  {2, 300001, 4096, 7}, {1, 2097152, 4096, 8},
                                            {1, 1500000, 1 << 20, 2}};
  size_t ran = 0;
  for (int d = 0; d < GPU_DTYPES; d++)
    for (int o = 0; o < FOLD_OPS; o++)
      for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        char fault[120];
        if (o != FOLD_SUM && s % 3) continue;
        judge_sum(d, o, shapes[s], fault);
        ran++;
        cr_expect(!*fault, "%s %s %zu x %zu in blocks of %zu over %d: %s", fold_dtype_name((enum fold_dtype)d),
                  fold_op_name((enum fold_op)o), shapes[s].rows, shapes[s].cols, shapes[s].block, shapes[s].ranks,
                  fault);
      }
  cr_expect_geq(ran, 60, "only %zu ran", ran);
}

/* What is no subtree is refused, and nothing is written. */
Test(gpu_collective, blocks_that_are_no_subtrees_are_refused) {
  gpu_open();
  static const size_t blocks[] = {0, 1, 4095, 12288, 5 * 4096};
  struct fold_comm comm = {.ranks = 2};
  struct fold_call call = call_of(FOLD_F32, FOLD_SUM, 1, 20000, &comm);
  call.in[0] = call.scratch = gpu_alloc(1 << 20);
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
    cr_expect_eq(fold_parts_cuda.subtrees(&call, call.scratch, blocks[i], NULL).code, FOLD_BAD_INPUT, "blocks of %zu",
                 blocks[i]);
  gpu_free(call.scratch);
}

/* Ranks that are threads. What a rank cannot do without ends the world: it reports the first fault, and the others stop. */
struct world {
  int ranks;
  pthread_barrier_t meet;
  struct fold_reach_card cards[MOST_RANKS];
  void *got[MOST_RANKS]; /* results of each, on the host */
  void *slices, *want;
  char fault[400];
  size_t ran;
  void (*body)(struct world *w, int rank, struct fold_comm_reach *reach);
};
struct seat {
  struct world *w;
  int rank;
};

static void stop_on(fold_status status, int rank) {
  if (status.code == FOLD_OK) return;
  fprintf(stderr, "rank %d: %s\n", rank, status.text);
  abort(); /* the others wait for it */
}

static void *be_rank(void *of) {
  struct seat *seat = of;
  struct world *w = seat->w;
  struct fold_comm_reach *reach = NULL;
  struct fold_reach_card *own = &w->cards[seat->rank], card;
  stop_on(fold_device_select(seat->rank), seat->rank);
  stop_on(fold_reach_introduce(own), seat->rank);
  card = *own;
  pthread_barrier_wait(&w->meet);
  stop_on(fold_reach_open(&reach, seat->rank, w->ranks, w->cards, &card), seat->rank);
  pthread_barrier_wait(&w->meet);
  *own = card;
  pthread_barrier_wait(&w->meet);
  if (reach) stop_on(fold_reach_meet(reach, w->cards, &card), seat->rank);
  pthread_barrier_wait(&w->meet);
  *own = card;
  pthread_barrier_wait(&w->meet);
  w->body(w, seat->rank, reach);
  pthread_barrier_wait(&w->meet);
  fold_reach_close(reach);
  return NULL;
}

static int gpus(void) {
  int n = 0;
  char reason[FOLD_DEVICE_TEXT] = "";
  gpu_need(fold_device_count(&n, reason));
  return n;
}

static void run_world(int ranks, void (*body)(struct world *w, int rank, struct fold_comm_reach *reach)) {
  struct world *w = calloc(1, sizeof *w);
  struct seat seat[MOST_RANKS];
  pthread_t thread[MOST_RANKS];
  w->ranks = ranks;
  w->body = body;
  w->slices = malloc((size_t)ranks * MOST * 8);
  w->want = malloc(MOST * 8);
  pthread_barrier_init(&w->meet, NULL, (unsigned)ranks);
  for (int r = 0; r < ranks; r++) {
    w->got[r] = malloc((size_t)(MOST + 2) * 8);
    seat[r] = (struct seat){w, r};
    cr_assert_eq(pthread_create(&thread[r], NULL, be_rank, &seat[r]), 0);
  }
  for (int r = 0; r < ranks; r++) {
    pthread_join(thread[r], NULL);
    free(w->got[r]);
  }
  cr_expect(!*w->fault, "%d ranks: %s", ranks, w->fault);
  cr_expect_gt(w->ran, 0, "%d ranks: nothing ran", ranks);
  free(w->slices);
  free(w->want);
  free(w);
}

/* Worlds of two, three, all but one, all GPUs up to eight. */
static void run_worlds(void (*body)(struct world *w, int rank, struct fold_comm_reach *reach)) {
  gpu_open();
  int n = gpus() < MOST_RANKS ? gpus() : MOST_RANKS;
  if (n < 2) cr_skip("needs 2 GPUs, there are %d", n);
  for (int ranks = 2; ranks <= n; ranks++)
    if (ranks <= 3 || ranks >= n - 1) run_world(ranks, body);
}

/* Every rank's results against the host's word; rank 0 looks. The element before and the one after are as they were. */
static void compare(struct world *w, int rank, const struct fold_call *call, const char *what) {
  size_t n = call->rows, size = fold_dtype_size(call->dtype);
  uint64_t poison = 0xa5a5a5a5a5a5a5a5ull >> (64 - 8 * size);
  stop_on(fold_device_get(w->got[rank], (unsigned char *)call->out - size, (n + 2) * size), rank);
  pthread_barrier_wait(&w->meet);
  for (int r = 0; rank == 0 && r < w->ranks && !*w->fault; r++) {
    const unsigned char *got = w->got[r];
    size_t at = first_wrong(call->dtype, got + size, w->want, n);
    bool strayed = fold_bits_load(call->dtype, got, 0) != poison || fold_bits_load(call->dtype, got, n + 1) != poison;
    if (at != n || strayed)
      snprintf(w->fault, sizeof w->fault, "%s: %s %s of %zu elements on rank %d: element %zu is %s", what,
               fold_dtype_name(call->dtype), fold_op_name(call->problem->op), n, r, at,
               strayed ? "past the end" : "wrong");
  }
  w->ran += rank == 0;
  pthread_barrier_wait(&w->meet);
}

static void tell_host(struct world *w, int rank, const struct fold_call *call) {
  struct fold_comm comm = {.ranks = w->ranks};
  struct fold_call host = *call;
  host.comm = &comm;
  if (rank == 0) {
    fill(call->dtype, call->rows, w->ranks, w->slices);
    stop_on(fold_parts_host.combine(&host, w->slices, call->rows, w->want), rank);
  }
  pthread_barrier_wait(&w->meet);
}

/* Lengths around a line's, a block's, a pack's and a kernel's; by the kernel of its own choice, and by few blocks, so
 * that there are many steps; aligned and not; several times over, so that what the last call left is met. */
static void tree_body(struct world *w, int rank, struct fold_comm_reach *reach) {
  static const size_t lengths[] = {1, 2, 3, 1023, 4097, 65537, MOST};
  static const unsigned blocks[] = {0, 1, 3, 128};
  if (!reach || !w->cards[rank].willing) {
    snprintf(w->fault, sizeof w->fault, "the GPUs do not reach each other");
    return;
  }
  void *d_in = NULL, *d_out = NULL;
  unsigned char *in = malloc(MOST * 8);
  stop_on(fold_device_alloc(&d_in, (MOST + 2) * 8), rank);
  stop_on(fold_device_alloc(&d_out, (MOST + 4) * 8), rank);
  for (int d = 0; d < GPU_DTYPES; d++)
    for (int o = 0; o < FOLD_OPS; o++)
      for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++) {
        size_t size = fold_dtype_size((enum fold_dtype)d), shift = k % 2;
        struct fold_call call = call_of(d, o, lengths[k], 1, NULL);
        if (o != FOLD_SUM && lengths[k] > 10000) continue;
        tell_host(w, rank, &call);
        fill(call.dtype, call.rows, 1, in);
        for (size_t i = 0; i < call.rows; i++) fold_bits_store(call.dtype, in, i, element(call.dtype, i, rank));
        call.in[0] = (unsigned char *)d_in + shift * size;
        call.out = (unsigned char *)d_out + (1 + shift) * size;
        stop_on(fold_device_put((void *)(uintptr_t)call.in[0], in, call.rows * size), rank);
        for (size_t b = 0; b < 2 * sizeof blocks / sizeof *blocks; b++) {
          call.launch.blocks = blocks[b / 2];
          stop_on(fold_device_set(d_out, 0xa5, (MOST + 4) * 8, NULL), rank);
          stop_on(fold_reach_tree(reach, &call), rank);
          stop_on(fold_device_synchronize(), rank);
          compare(w, rank, &call, call.launch.blocks ? "by steps" : "tree");
        }
      }
  (void)fold_device_free(d_in);
  (void)fold_device_free(d_out);
  free(in);
}

Test(gpu_collective, gpus_that_reach_each_other_give_the_hosts_tree, .timeout = 120) { run_worlds(tree_body); }

/* A recorded call has no number of its own: the room counts. */
static void graph_body(struct world *w, int rank, struct fold_comm_reach *reach) {
  static const size_t lengths[] = {5, 100001};
  void *stream = NULL, *graph, *d_in = NULL, *d_out = NULL;
  unsigned char *in = malloc(MOST * 8);
  stop_on(fold_device_stream_create(&stream), rank);
  stop_on(fold_device_alloc(&d_in, MOST * 8), rank);
  stop_on(fold_device_alloc(&d_out, (MOST + 4) * 8), rank);
  for (size_t k = 0; k < 2; k++) {
    struct fold_call call = call_of(FOLD_F32, FOLD_SUM, lengths[k], 1, NULL);
    call.launch.blocks = k ? 2 : 0;
    call.in[0] = d_in;
    call.out = (float *)d_out + 1;
    call.stream = stream;
    tell_host(w, rank, &call);
    for (size_t i = 0; i < call.rows; i++) fold_bits_store(call.dtype, in, i, element(call.dtype, i, rank));
    stop_on(fold_device_put(d_in, in, call.rows * 4), rank);
    stop_on(fold_device_capture_begin(stream), rank);
    stop_on(fold_reach_tree(reach, &call), rank);
    stop_on(fold_device_capture_end(stream, &graph), rank);
    for (int times = 0; times < 4; times++) {
      stop_on(fold_device_set(d_out, 0xa5, (call.rows + 2) * 4, stream), rank);
      if (times == 2) stop_on(fold_reach_tree(reach, &call), rank); /* between replays */
      stop_on(fold_device_graph_launch(graph, stream), rank);
      stop_on(fold_device_stream_synchronize(stream), rank);
      compare(w, rank, &call, "a graph's replay");
    }
    stop_on(fold_device_graph_destroy(graph), rank);
  }
  stop_on(fold_device_stream_destroy(stream), rank);
  (void)fold_device_free(d_in);
  (void)fold_device_free(d_out);
  free(in);
}

Test(gpu_collective, a_recorded_tree_may_be_replayed, .timeout = 60) { run_worlds(graph_body); }

/* Sums of words wrap; parts of a gather have any length, none too, and begin anywhere. */
static void words_body(struct world *w, int rank, struct fold_comm_reach *reach) {
  enum { WORDS = 2000, BYTES = 40000 };
  int64_t words[WORDS], sums[WORDS];
  unsigned char *part = malloc(BYTES), *all = malloc(MOST_RANKS * (BYTES + 8));
  void *d_in = NULL, *d_out = NULL;
  stop_on(fold_device_alloc(&d_in, BYTES + 8), rank);
  stop_on(fold_device_alloc(&d_out, MOST_RANKS * (BYTES + 8)), rank);
  size_t lengths[] = {1, 17, 255, 256, 257, WORDS}, wrong = 0;
  for (size_t k = 0; k < 6; k++) {
    for (size_t i = 0; i < lengths[k]; i++) words[i] = (int64_t)((i + 1) * 0x9e3779b97f4a7c15ull * (size_t)(rank + 3));
    stop_on(fold_device_put(d_in, words, lengths[k] * 8), rank);
    stop_on(fold_reach_add_words(reach, d_in, k % 2 ? d_in : d_out, lengths[k], NULL), rank);
    stop_on(fold_device_get(sums, k % 2 ? d_in : d_out, lengths[k] * 8), rank);
    for (size_t i = 0; i < lengths[k]; i++) {
      uint64_t want = 0;
      for (int r = 0; r < w->ranks; r++) want += (i + 1) * 0x9e3779b97f4a7c15ull * (size_t)(r + 3);
      wrong += (uint64_t)sums[i] != want;
    }
  }
  for (size_t longest = 1; longest <= BYTES; longest = longest * 7 + 3) {
    size_t at[MOST_RANKS + 1] = {0}, shift = longest % 3;
    for (int r = 0; r < w->ranks; r++) at[r + 1] = at[r] + (r == 1 ? 0 : r == 0 ? longest : longest / (size_t)(r + 1));
    for (size_t i = 0; i < at[rank + 1] - at[rank]; i++) part[i] = (unsigned char)(i * 31 + (size_t)rank * 7 + 1);
    stop_on(fold_device_put((unsigned char *)d_in + shift, part, at[rank + 1] - at[rank]), rank);
    stop_on(fold_device_set(d_out, 0, at[w->ranks], NULL), rank);
    stop_on(fold_reach_gather(reach, (unsigned char *)d_in + shift, d_out, at, NULL), rank);
    stop_on(fold_device_get(all, d_out, at[w->ranks]), rank);
    for (int r = 0; r < w->ranks; r++)
      for (size_t i = 0; i < at[r + 1] - at[r]; i++)
        wrong += all[at[r] + i] != (unsigned char)(i * 31 + (size_t)r * 7 + 1);
  }
  if (wrong) snprintf(w->fault, sizeof w->fault, "rank %d: %zu words or bytes are wrong", rank, wrong);
  if (rank == 0) w->ran++;
  (void)fold_device_free(d_in);
  (void)fold_device_free(d_out);
  free(part);
  free(all);
}

Test(gpu_collective, words_are_added_and_parts_gathered, .timeout = 60) { run_worlds(words_body); }
