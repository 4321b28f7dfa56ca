/* test_gpu_streams.c: the same bits in another stream and from a recorded graph, and scratch left as it was found.
 *
 * A graph is replayed over the scratch that its last replay left: fold.h promises that its head is zero again.
 */
#include <stdio.h>

#include "fixtures/cuda_generate.h"
#include "gpu.h"
#include "mutants_gpu.h"

enum { REPLAYS = 3, MOST_ROWS = 600, MOST = 600 * 1000 };

struct shape {
  size_t rows, cols;
};
static const struct shape shapes[] = {{1, 257}, {3, 1000}, {1, 70001}, {600, 1000}};

struct place {
  void *d_in, *d_out, *stream;
  unsigned char *want, *got;
};

static bool head_is_zero(const void *d_scratch) {
  unsigned char head[FOLD_SCRATCH_ZEROED];
  gpu_need(fold_device_get(head, d_scratch, sizeof head));
  for (size_t i = 0; i < sizeof head; i++)
    if (head[i]) return false;
  return true;
}

/* What differed, or NULL. The call's scratch serves all runs, poisoned once. */
static const char *run_stream(struct place *p, const struct fold_subject *subject, struct fold_call call, bool graphs) {
  size_t nbytes = call.rows * fold_dtype_size(call.dtype);
  void *graph = NULL;
  call.stream = p->stream;
  gpu_need(fold_device_set(call.out, 0xa5, nbytes, p->stream));
  gpu_need(subject->run(subject, &call));
  gpu_need(fold_device_stream_synchronize(p->stream));
  gpu_need(fold_device_get(p->got, call.out, nbytes));
  if (memcmp(p->got, p->want, nbytes) != 0) return "in another stream";
  if (call.scratch && !head_is_zero(call.scratch)) return "scratch is not zero after a run";
  if (!graphs) return NULL;
  gpu_need(fold_device_capture_begin(p->stream));
  fold_status enqueued = subject->run(subject, &call), recorded = fold_device_capture_end(p->stream, &graph);
  if (enqueued.code != FOLD_OK || recorded.code != FOLD_OK) return "it cannot be recorded";
  const char *fault = NULL;
  for (int k = 0; k < REPLAYS && !fault; k++) {
    gpu_need(fold_device_set(call.out, 0x5a, nbytes, p->stream));
    gpu_need(fold_device_graph_launch(graph, p->stream));
    gpu_need(fold_device_stream_synchronize(p->stream));
    gpu_need(fold_device_get(p->got, call.out, nbytes));
    if (memcmp(p->got, p->want, nbytes) != 0) fault = "from a graph's replay";
  }
  gpu_need(fold_device_graph_destroy(graph));
  return fault;
}

static const char *judge(struct place *p, const struct fold_subject *subject, int dtype, int op, struct shape shape) {
  struct fold_call call = {.dtype = (enum fold_dtype)dtype,
                           .problem = fold_rows_problem((enum fold_op)op),
                           .rows = shape.rows,
                           .cols = shape.cols,
                           .in = {p->d_in},
                           .out = p->d_out};
  gpu_need(gpu_run(subject, call, p->want));
  call.scratch = gpu_scratch(subject, &call);
  const char *fault = run_stream(p, subject, call, true);
  gpu_free(call.scratch);
  return fault;
}

static void open_place(struct place *p) {
  p->d_in = gpu_alloc(MOST * 8);
  p->d_out = gpu_alloc(MOST_ROWS * 8);
  p->want = malloc(MOST_ROWS * 8);
  p->got = malloc(MOST_ROWS * 8);
  cr_assert(p->want && p->got, "no memory");
  gpu_need(fold_device_stream_create(&p->stream));
}

static void close_place(struct place *p) {
  gpu_need(fold_device_stream_destroy(p->stream));
  gpu_free(p->d_in);
  gpu_free(p->d_out);
  free(p->want);
  free(p->got);
}

/* Ours that promise the same bits from run to run; a library's may allocate or wait, which no graph can record. */
Test(gpu_streams, streams_and_graphs_give_the_bits_of_the_default_stream) {
  gpu_open();
  struct place p;
  size_t n, ran = 0, wrong = 0;
  const struct fold_subject *subjects = fold_subjects(&n);
  open_place(&p);
  for (int d = 0; d < GPU_DTYPES; d++) {
    const struct fold_source source = {fold_generator_find("normal"), (enum fold_dtype)d, 5, 1000, 0};
    gpu_need(fold_cuda_generate(&source, 0, MOST, p.d_in, NULL));
    gpu_need(fold_device_synchronize());
    for (size_t i = 0; i < n; i++)
      for (int o = 0; o < FOLD_OPS; o++)
        for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
          if (!gpu_takes(&subjects[i], d, o) || subjects[i].peer) continue;
          if (!(subjects[i].claims & FOLD_CLAIM(FOLD_RUN_TO_RUN))) continue;
          const char *fault = judge(&p, &subjects[i], d, o, shapes[s]);
          ran++;
          if (fault && wrong++ < 10)
            cr_expect(false, "%s %s %s %zux%zu: %s", subjects[i].name, fold_dtype_name((enum fold_dtype)d),
                      fold_op_name((enum fold_op)o), shapes[s].rows, shapes[s].cols, fault);
        }
  }
  cr_expect_eq(wrong, 0, "%zu of %zu differ", wrong, ran);
  cr_expect_geq(ran, 500, "only %zu ran", ran);
  close_place(&p);
}

/* The check can fail: a counter that is never reset ends no second run. */
Test(gpu_streams, a_counter_that_is_left_is_seen) {
  gpu_open();
  struct place p;
  open_place(&p);
  const struct fold_source source = {fold_generator_find("normal"), FOLD_F32, 5, 1000, 0};
  gpu_need(fold_cuda_generate(&source, 0, MOST, p.d_in, NULL));
  const char *fault = judge(&p, fold_gpu_mutant_find("mutant/counter_left"), FOLD_F32, FOLD_SUM, shapes[1]);
  cr_expect_not_null(fault, "counter_left gave the same bits in its second run");
  fault = judge(&p, fold_gpu_mutant_find("mutant/blocks_sound"), FOLD_F32, FOLD_SUM, shapes[1]);
  cr_expect_null(fault, "blocks_sound: %s", fault);
  close_place(&p);
}
