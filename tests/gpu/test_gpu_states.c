/* test_gpu_states.c: the exact sum's states: exported, added as int64 in any order, closed on the device and on the
 * host: the bits of flat/exact, which are MPFR's. What collectives build on (kernels/cuda/exact/exact_device.h).
 */
#include <stdio.h>

#include "adversary.h"
#include "gpu.h"
#include "kernels/cuda/exact/exact_device.h"
#include "oracles/exact.h"

enum { MOST = 30011, PARTS = 8, WORDS = 75, MOST_ROWS = 2100 };

struct desk {
  unsigned char *in; /* host */
  void *d_in, *d_out, *d_scratch, *stream;
  int64_t *d_words, *d_sum; /* PARTS states of MOST_ROWS rows; the sum of all */
  size_t ran, wrong;
  uint64_t random;
};

static uint64_t draw(struct desk *k, uint64_t below) {
  k->random = adversary_draw(k->random);
  return (k->random >> 11) % below;
}

static void open_desk(struct desk *k) {
  memset(k, 0, sizeof *k);
  k->in = malloc(MOST * 8);
  cr_assert_not_null(k->in);
  k->d_in = gpu_alloc(MOST * 8 + 64);
  k->d_out = gpu_alloc(MOST_ROWS * 8);
  k->d_words = gpu_alloc(sizeof(int64_t) * WORDS * PARTS * MOST_ROWS);
  k->d_sum = gpu_alloc(sizeof(int64_t) * WORDS * MOST_ROWS);
  k->d_scratch = gpu_alloc((size_t)8 << 20);
  gpu_need(fold_device_stream_create(&k->stream));
  gpu_need(fold_device_set(k->d_scratch, 0xff, (size_t)8 << 20, NULL));
  gpu_need(fold_device_set(k->d_scratch, 0, FOLD_SCRATCH_ZEROED, NULL));
  gpu_need(fold_device_synchronize());
}

static void close_desk(struct desk *k) {
  gpu_need(fold_device_stream_destroy(k->stream));
  gpu_free(k->d_in);
  gpu_free(k->d_out);
  gpu_free(k->d_words);
  gpu_free(k->d_sum);
  gpu_free(k->d_scratch);
  free(k->in);
}

static uint64_t mpfr_sum_of(enum fold_dtype dtype, const void *in, size_t n) {
  struct fold_truth truth;
  fold_truth_init(&truth);
  gpu_need(fold_oracle_mpfr(dtype, FOLD_SUM, in, n, &truth));
  uint64_t bits = truth.rounded[dtype];
  fold_truth_free(&truth);
  return bits;
}

static void report(struct desk *k, bool right, const char *what, const char *of, enum fold_dtype dtype, size_t rows,
                   size_t cols, unsigned parts, uint64_t seed, uint64_t got, uint64_t want) {
  k->ran++;
  if (right || k->wrong++ >= 10) return;
  cr_expect(false, "%s: %s %s %zux%zu in %u parts, seed %llu: got %#llx, want %#llx", what, of, fold_dtype_name(dtype),
            rows, cols, parts, (unsigned long long)seed, (unsigned long long)got, (unsigned long long)want);
}

static struct fold_call call_of(const struct desk *k, enum fold_dtype dtype, size_t rows, size_t cols, const void *in) {
  return (struct fold_call){.dtype = dtype,
                            .problem = fold_rows_problem(FOLD_SUM),
                            .rows = rows,
                            .cols = cols,
                            .in = {in},
                            .out = k->d_out,
                            .stream = k->stream,
                            .scratch = k->d_scratch};
}

/* The states of a vector's parts, cut anywhere, empty parts among them: each by its own launch, poisoned before. */
static void export_parts(struct desk *k, enum fold_dtype dtype, unsigned parts, const size_t *cut) {
  size_t words = (size_t)fold_super_words(dtype), size = fold_dtype_size(dtype);
  gpu_need(fold_device_set(k->d_words, 0x5a, parts * words * sizeof(int64_t), k->stream));
  for (unsigned p = 0; p < parts; p++) {
    struct fold_call call = call_of(k, dtype, 1, cut[p + 1] - cut[p], (const unsigned char *)k->d_in + cut[p] * size);
    call.launch.blocks = (unsigned)draw(k, 4);
    cr_assert(fold_exact_state_scratch(&call) <= (size_t)8 << 20);
    gpu_need(fold_exact_state(&call, k->d_words + p * words));
  }
}

static int by_size(const void *a, const void *b) {
  size_t x = *(const size_t *)a, y = *(const size_t *)b;
  return (x > y) - (x < y);
}

/* Random places, sorted; some twice. */
static void cut_up(struct desk *k, size_t n, unsigned parts, size_t *cut) {
  cut[0] = 0;
  cut[parts] = n;
  for (unsigned p = 1; p < parts; p++) cut[p] = draw(k, 5) == 0 && p > 1 ? cut[p - 1] : draw(k, n + 1);
  qsort(cut + 1, parts - 1, sizeof *cut, by_size);
}

static void shuffle(struct desk *k, unsigned *order, unsigned n) {
  for (unsigned i = 0; i < n; i++) {
    unsigned j = (unsigned)draw(k, i + 1);
    order[i] = order[j];
    order[j] = i;
  }
}

/* The host: the parts' words are its own superaccumulator's; added in one order, and closed by MPFR. */
static void judge_host(struct desk *k, const char *of, enum fold_dtype dtype, size_t n, unsigned parts,
                       const size_t *cut, const unsigned *order, uint64_t seed, uint64_t want) {
  static int64_t got[PARTS * WORDS];
  size_t words = (size_t)fold_super_words(dtype), size = fold_dtype_size(dtype);
  int64_t sum[WORDS] = {0}, own[WORDS];
  gpu_need(fold_device_get(got, k->d_words, parts * words * sizeof *got));
  for (unsigned p = 0; p < parts; p++) {
    struct fold_super state;
    memset(&state, 0, sizeof state);
    fold_super_add(dtype, k->in + cut[p] * size, cut[p + 1] - cut[p], &state, NULL);
    fold_super_pack(dtype, &state, own);
    size_t w = 0;
    while (w < words && own[w] == got[p * words + w]) w++;
    report(k, w == words, "a state's words are not the host's", of, dtype, 1, n, parts, seed,
           (uint64_t)got[p * words + w % words], (uint64_t)own[w % words]);
  }
  for (unsigned p = 0; p < parts; p++)
    for (size_t w = 0; w < words; w++) sum[w] += got[order[p] * words + w];
  struct fold_super all;
  fold_super_unpack(dtype, sum, &all);
  uint64_t bits = fold_super_close(dtype, &all, dtype);
  report(k, fold_bits_same(dtype, bits, want), "closed on the host", of, dtype, 1, n, parts, seed, bits, want);
}

/* The device: added in another order, in the stream, and closed there. */
static void judge_device(struct desk *k, const char *of, enum fold_dtype dtype, size_t n, unsigned parts,
                         const unsigned *order, uint64_t seed, uint64_t want) {
  size_t words = (size_t)fold_super_words(dtype);
  uint64_t got = 0;
  gpu_need(fold_device_set(k->d_sum, 0, words * sizeof(int64_t), k->stream));
  gpu_need(fold_device_set(k->d_out, 0xa5, 8, k->stream));
  for (unsigned p = 0; p < parts; p++)
    gpu_need(fold_exact_merge(k->d_sum, k->d_words + order[p] * words, words, k->stream));
  gpu_need(fold_exact_close(dtype, k->d_sum, 1, k->d_out, k->stream));
  gpu_need(fold_device_stream_synchronize(k->stream));
  gpu_need(fold_device_get(&got, k->d_out, fold_dtype_size(dtype)));
  report(k, fold_bits_same(dtype, got, want), "closed on the device", of, dtype, 1, n, parts, seed, got, want);
}

static void judge_vector(struct desk *k, const char *of, enum fold_dtype dtype, size_t n, uint64_t seed) {
  const struct fold_subject *flat = fold_subject_find("flat/exact", FOLD_CUDA);
  uint64_t want = mpfr_sum_of(dtype, k->in, n), got = 0;
  gpu_need(fold_device_put(k->d_in, k->in, n * fold_dtype_size(dtype)));
  struct fold_call call = call_of(k, dtype, 1, n, k->d_in);
  call.stream = NULL;
  gpu_need(gpu_run(flat, call, &got));
  report(k, fold_bits_same(dtype, got, want), "flat/exact", of, dtype, 1, n, 1, seed, got, want);
  for (unsigned parts = 1; parts <= PARTS; parts++) {
    size_t cut[PARTS + 1];
    unsigned order[PARTS];
    cut_up(k, n, parts, cut);
    export_parts(k, dtype, parts, cut);
    gpu_need(fold_device_stream_synchronize(k->stream));
    shuffle(k, order, parts);
    judge_host(k, of, dtype, n, parts, cut, order, seed, want);
    shuffle(k, order, parts);
    judge_device(k, of, dtype, n, parts, order, seed, want);
  }
}

Test(gpu_states, any_split_added_in_any_order_closes_to_the_bits_of_the_whole) {
  gpu_open();
  static const size_t lengths[] = {0, 1, 2, 31, 257, 1000, 4097, MOST};
  struct desk k;
  open_desk(&k);
  for (int d = 0; d < GPU_DTYPES; d++)
    for (int kind = 0; kind < ADVERSARIES; kind++)
      for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++) {
        uint64_t seed = (uint64_t)(kind * 37) + l * 11 + 3;
        adversary_fill((enum adversary)kind, (enum fold_dtype)d, lengths[l], seed, k.in);
        judge_vector(&k, adversary_name((enum adversary)kind), (enum fold_dtype)d, lengths[l], seed);
      }
  cr_expect_eq(k.wrong, 0, "%zu of %zu are wrong", k.wrong, k.ran);
  cr_expect_geq(k.ran, 4 * ADVERSARIES * 8 * (1 + 8 * 2 + 36), "only %zu were judged", k.ran);
  close_desk(&k);
}

/* ---- many rows: each rank has some of the columns ---- */

/* The shard of `parts` that has columns [first, last) of each row, as an array of its own. */
static void cut_columns(const struct desk *k, enum fold_dtype dtype, size_t rows, size_t cols, size_t first,
                        size_t last, unsigned char *shard) {
  size_t size = fold_dtype_size(dtype);
  for (size_t r = 0; r < rows; r++)
    memcpy(shard + r * (last - first) * size, k->in + (r * cols + first) * size, (last - first) * size);
}

static void judge_rows(struct desk *k, const char *of, enum fold_dtype dtype, size_t rows, size_t cols, unsigned parts,
                       uint64_t seed) {
  static unsigned char shard[MOST * 8], want[MOST_ROWS * 8], got[MOST_ROWS * 8];
  size_t words = (size_t)fold_super_words(dtype), size = fold_dtype_size(dtype), cut[PARTS + 1];
  gpu_need(fold_device_put(k->d_in, k->in, rows * cols * size));
  struct fold_call all = call_of(k, dtype, rows, cols, k->d_in);
  all.stream = NULL;
  gpu_need(gpu_run(fold_subject_find("rows/exact", FOLD_CUDA), all, want));
  for (size_t r = 0; r < rows; r += 1 + rows / 40) {
    uint64_t bits = mpfr_sum_of(dtype, k->in + r * cols * size, cols), row = fold_bits_load(dtype, want, r);
    report(k, fold_bits_same(dtype, bits, row), "rows/exact", of, dtype, rows, cols, 1, seed, row, bits);
  }
  cut_up(k, cols, parts, cut);
  gpu_need(fold_device_set(k->d_sum, 0, rows * words * sizeof(int64_t), k->stream));
  for (unsigned p = 0; p < parts; p++) {
    cut_columns(k, dtype, rows, cols, cut[p], cut[p + 1], shard);
    gpu_need(fold_device_stream_synchronize(k->stream));
    gpu_need(fold_device_put(k->d_in, shard, rows * (cut[p + 1] - cut[p]) * size));
    struct fold_call call = call_of(k, dtype, rows, cut[p + 1] - cut[p], k->d_in);
    cr_assert(fold_exact_state_scratch(&call) <= (size_t)8 << 20);
    gpu_need(fold_device_set(k->d_words, 0x5a, rows * words * sizeof(int64_t), k->stream));
    gpu_need(fold_exact_state(&call, k->d_words));
    gpu_need(fold_exact_merge(k->d_sum, k->d_words, rows * words, k->stream));
  }
  gpu_need(fold_device_set(k->d_out, 0xa5, rows * size, k->stream));
  gpu_need(fold_exact_close(dtype, k->d_sum, rows, k->d_out, k->stream));
  gpu_need(fold_device_stream_synchronize(k->stream));
  gpu_need(fold_device_get(got, k->d_out, rows * size));
  for (size_t r = 0; r < rows; r++) {
    uint64_t bits = fold_bits_load(dtype, got, r), whole = fold_bits_load(dtype, want, r);
    report(k, fold_bits_same(dtype, bits, whole), "rows of states", of, dtype, rows, cols, parts, seed, bits, whole);
  }
}

Test(gpu_states, states_of_many_rows_are_as_those_of_one) {
  gpu_open();
  static const struct {
    size_t rows, cols;
  } shapes[] = {{2, 5001}, {3, 0}, {31, 300}, {129, 33}, {700, 17}, {MOST_ROWS, 14}, {MOST_ROWS, 1}};
  struct desk k;
  open_desk(&k);
  for (int d = 0; d < GPU_DTYPES; d++)
    for (int kind = 0; kind < ADVERSARIES; kind++)
      for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        size_t rows = shapes[s].rows, cols = shapes[s].cols, size = fold_dtype_size((enum fold_dtype)d);
        uint64_t seed = (uint64_t)kind * 5 + s;
        for (size_t r = 0; r < rows; r++)
          adversary_fill((enum adversary)kind, (enum fold_dtype)d, cols, seed + r, k.in + r * cols * size);
        judge_rows(&k, adversary_name((enum adversary)kind), (enum fold_dtype)d, rows, cols,
                   1 + (unsigned)draw(&k, PARTS), seed);
      }
  cr_expect_eq(k.wrong, 0, "%zu of %zu are wrong", k.wrong, k.ran);
  cr_expect_geq(k.ran, 200000, "only %zu were judged", k.ran);
  close_desk(&k);
}

/* ---- headroom ---- */

/* 2^log equal states, added without a carry in between, are one state's words times 2^log: closed, they are the exact
 * sum times 2^log, rounded once. */
static void judge_headroom(struct desk *k, enum fold_dtype dtype, uint64_t pattern, int log) {
  size_t words = (size_t)fold_super_words(dtype), size = fold_dtype_size(dtype);
  int64_t sum[WORDS];
  uint64_t got = 0;
  fold_bits_store(dtype, k->in, 0, pattern);
  fold_bits_store(dtype, k->in, 1, fold_format_of(dtype).sign | 1);
  gpu_need(fold_device_put(k->d_in, k->in, 2 * size));
  struct fold_call call = call_of(k, dtype, 1, 2, k->d_in);
  gpu_need(fold_exact_state(&call, k->d_words));
  gpu_need(fold_device_stream_synchronize(k->stream));
  gpu_need(fold_device_get(sum, k->d_words, words * sizeof *sum));
  struct fold_super state;
  mpfr_t value;
  mpfr_init2(value, 53);
  fold_super_unpack(dtype, sum, &state);
  fold_super_value(dtype, &state, value);
  mpfr_mul_2si(value, value, log, MPFR_RNDN);
  uint64_t want = fold_mpfr_round(dtype, value);
  mpfr_clear(value);
  for (size_t w = 0; w < words; w++) sum[w] *= (int64_t)1 << log;
  gpu_need(fold_device_put(k->d_sum, sum, words * sizeof *sum));
  gpu_need(fold_exact_close(dtype, k->d_sum, 1, k->d_out, k->stream));
  gpu_need(fold_device_stream_synchronize(k->stream));
  gpu_need(fold_device_get(&got, k->d_out, size));
  report(k, fold_bits_same(dtype, got, want), "states times a power of two", "headroom", dtype, 1, 2, (unsigned)log,
         pattern, got, want);
}

/* With the negative smallest number beside it, a state is all ones from there on up to the other term. */
Test(gpu_states, two_to_the_31_states_are_added_without_overflow) {
  gpu_open();
  struct desk k;
  open_desk(&k);
  for (int d = 0; d < GPU_DTYPES; d++)
    for (int log = 0; log <= 31; log++) {
      const struct fold_format f = fold_format_of((enum fold_dtype)d);
      const uint64_t patterns[] = {0,
                                   f.sign,
                                   1,
                                   f.sign | 1,
                                   f.exponent - 1,
                                   f.sign | (f.exponent - 1),
                                   f.fraction + 1,
                                   fold_bits_from_double((enum fold_dtype)d, -0x1.8p-9)};
      for (size_t p = 0; p < sizeof patterns / sizeof *patterns; p++)
        judge_headroom(&k, (enum fold_dtype)d, patterns[p], log);
    }
  cr_expect_eq(k.wrong, 0, "%zu of %zu are wrong", k.wrong, k.ran);
  close_desk(&k);
}

/* ---- only enqueued ---- */

enum { REPLAYS = 3 };

Test(gpu_states, all_of_it_records_in_a_graph_and_leaves_scratch_as_it_was) {
  gpu_open();
  struct desk k;
  open_desk(&k);
  for (int d = 0; d < GPU_DTYPES; d++) {
    enum fold_dtype dtype = (enum fold_dtype)d;
    size_t n = 20000, words = (size_t)fold_super_words(dtype), size = fold_dtype_size(dtype);
    unsigned char head[FOLD_SCRATCH_ZEROED], zero[FOLD_SCRATCH_ZEROED] = {0};
    void *graph = NULL;
    adversary_fill(ADVERSARY_EXPONENTS, dtype, n, 9, k.in);
    gpu_need(fold_device_put(k.d_in, k.in, n * size));
    uint64_t want = mpfr_sum_of(dtype, k.in, n);
    gpu_need(fold_device_capture_begin(k.stream));
    struct fold_call first = call_of(&k, dtype, 1, n / 3, k.d_in),
                     second = call_of(&k, dtype, 1, n - n / 3, (const unsigned char *)k.d_in + n / 3 * size);
    fold_status a = fold_exact_state(&first, k.d_sum), b = fold_exact_state(&second, k.d_words),
                c = fold_exact_merge(k.d_sum, k.d_words, words, k.stream),
                e = fold_exact_close(dtype, k.d_sum, 1, k.d_out, k.stream);
    gpu_need(fold_device_capture_end(k.stream, &graph));
    gpu_need(a);
    gpu_need(b);
    gpu_need(c);
    gpu_need(e);
    for (int t = 0; t < REPLAYS; t++) {
      uint64_t got = 0;
      gpu_need(fold_device_set(k.d_out, 0x5a, 8, k.stream));
      gpu_need(fold_device_graph_launch(graph, k.stream));
      gpu_need(fold_device_stream_synchronize(k.stream));
      gpu_need(fold_device_get(&got, k.d_out, size));
      report(&k, got == want, "from a graph", "exponents", dtype, 1, n, 2, 9, got, want);
    }
    gpu_need(fold_device_graph_destroy(graph));
    gpu_need(fold_device_get(head, k.d_scratch, sizeof head));
    cr_expect_eq(memcmp(head, zero, sizeof head), 0, "%s: scratch is not zero after a run", fold_dtype_name(dtype));
  }
  cr_expect_eq(k.wrong, 0, "%zu of %zu are wrong", k.wrong, k.ran);
  close_desk(&k);
}

/* Needs no GPU: refusals come before a launch. */
Test(gpu_states, refuses_what_it_cannot_do) {
  int64_t words[WORDS + 1];
  const int64_t *odd = (const int64_t *)((const unsigned char *)words + 4);
  struct fold_call call = {.dtype = FOLD_F32,
                           .problem = fold_rows_problem(FOLD_PROD),
                           .rows = 1,
                           .cols = 1,
                           .in = {words},
                           .scratch = words};
  cr_expect_eq(fold_exact_state(&call, words).code, FOLD_UNSUPPORTED, "a product");
  call.problem = fold_rows_problem(FOLD_SUM);
  cr_expect_eq(fold_exact_state(&call, NULL).code, FOLD_BAD_INPUT, "no words");
  cr_expect_eq(fold_exact_state(&call, (int64_t *)(uintptr_t)odd).code, FOLD_BAD_INPUT, "words at an odd address");
  cr_expect_eq(fold_exact_merge((int64_t *)(uintptr_t)odd, words, 1, NULL).code, FOLD_BAD_INPUT, "merge into");
  cr_expect_eq(fold_exact_merge(words, odd, 1, NULL).code, FOLD_BAD_INPUT, "merge from");
  cr_expect_eq(fold_exact_close(FOLD_F32, odd, 1, words, NULL).code, FOLD_BAD_INPUT, "close");
  cr_expect_eq(fold_exact_close(FOLD_F32, words, 1, (unsigned char *)words + 2, NULL).code, FOLD_BAD_INPUT, "out");
}
