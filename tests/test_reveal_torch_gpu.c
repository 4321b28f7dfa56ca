/* test_reveal_torch_gpu.c: the trees of PyTorch's sums of rows on a GPU are known by name, with the kernel's parameters.
 *
 * The fingerprints were recorded by `foldproof.reveal` of x.sum(-1), and of each row's x.sum() by itself, in PyTorch 2.11.0 on an NVIDIA H200,
 * in f32, f64, bf16 and f16. Where launches or rows differed, the tree is that of an aligned row alone.
 */
#include <criterion/criterion.h>

#include "noted_sums.h"

enum { THREADS = 512, ACCUMULATORS = 4, MOST_LOAD = 16, NAME = 120 };

struct block {
  size_t width, height, load;
};

/* A thread loads one term for each accumulator at a time, neighbours or terms that are as many apart as there are threads. */
static struct value add_thread(const struct block *b, const struct value *x, size_t n, size_t t) {
  const size_t threads = b->width * b->height, accumulators = b->load > 1 ? b->load : ACCUMULATORS,
               apart = b->load > 1 ? 1 : threads, loaded = n - n % b->load;
  struct value sum[MOST_LOAD];
  for (size_t k = 0; k < accumulators; k++) sum[k] = none;
  for (size_t at = t * b->load; at < loaded; at += threads * accumulators)
    for (size_t k = 0; k < accumulators && at + k * apart < loaded; k++) sum[k] = add_noted(sum[k], x[at + k * apart]);
  if (loaded + t < n) sum[0] = add_noted(sum[0], x[loaded + t]);
  for (size_t k = 1; k < accumulators; k++) sum[0] = add_noted(sum[0], sum[k]);
  return sum[0];
}

/* The lower half of n values, which are so far apart, takes the upper half, until one is left. */
static void add_halves(struct value *x, size_t n, size_t apart) {
  while ((n /= 2) > 0)
    for (size_t i = 0; i < n; i++) x[i * apart] = add_noted(x[i * apart], x[(i + n) * apart]);
}

static struct value as_torch_gpu(const void *kernel, const struct value *x, size_t n) {
  const struct block *b = kernel;
  struct value thread[THREADS];
  for (size_t t = 0; t < b->width * b->height; t++) thread[t] = add_thread(b, x, n, t);
  for (size_t y = 0; y < b->height; y++) add_halves(thread + y * b->width, b->width, 1);
  add_halves(thread, b->height, b->width);
  return thread[0];
}

static void expect_block(const struct block *b, size_t n, uint64_t print) {
  char name[NAME], along_y[30] = "", terms[30] = "4 accumulators";
  if (b->height > 1) snprintf(along_y, sizeof along_y, " x %zu", b->height);
  if (b->load > 1) snprintf(terms, sizeof terms, "loads of %zu", b->load);
  snprintf(name, NAME, "PyTorch's sum on a GPU, block of %zu%s threads, %s", b->width, along_y, terms);
  expect_name(b, as_torch_gpu, 1, n, print, name);
}

Test(reveal_torch_gpu, every_recorded_tree) {
  static const struct {
    struct block block;
    size_t n;
    uint64_t print;
  } seen[] = {{{32, 1, 1}, 33, 0x7ff399db68e75b29},    {{32, 1, 1}, 64, 0x9841539dddbc3488},
              {{32, 1, 1}, 100, 0xcc841f9f13e8bef7},   {{64, 1, 1}, 100, 0xada6ab0b1f5f681e},
              {{128, 1, 4}, 1000, 0x749fc7bac0c0a988}, {{16, 1, 8}, 128, 0x4b4ac067b23c79e7},
              {{32, 1, 8}, 256, 0xfeb7a88d4fa38231},   {{32, 1, 8}, 257, 0x11edcd176913ebaf},
              {{32, 1, 8}, 512, 0x7c1888f62f0523fb},   {{32, 1, 8}, 1000, 0xdaef5558a71939be},
              {{32, 1, 8}, 2048, 0xc7ae0e1e5d36fdcf},  {{32, 1, 8}, 4096, 0xe91cf8c48ac6e7e4},
              {{32, 1, 8}, 5000, 0xaa99568b0d49a419},  {{64, 1, 8}, 512, 0xadf2bacd9d782b84},
              {{64, 1, 8}, 1000, 0x1234b9a73602e83d},  {{128, 1, 8}, 1024, 0xc869439c98b99caf},
              {{128, 1, 8}, 1025, 0x41bae17a939e6f34}, {{256, 1, 8}, 2048, 0x48573c1c050196cf},
              {{256, 1, 8}, 2049, 0x96c6300cbf1f4890}, {{512, 1, 8}, 4096, 0x82967756ad66d04a},
              {{512, 1, 8}, 5000, 0x7656920f5a2a90f1}, {{512, 1, 8}, 10000, 0x77002adfa420c855},
              {{32, 16, 8}, 10000, 0xd73f914b96111a71}};
  for (size_t i = 0; i < sizeof seen / sizeof *seen; i++) expect_block(&seen[i].block, seen[i].n, seen[i].print);
}

/* Of other blocks, around the end of the second round of loads. */
Test(reveal_torch_gpu, blocks_and_loads_are_found_in_the_tree) {
  static const struct block kinds[] = {{8, 1, 1},  {64, 1, 1}, {32, 4, 1},   {64, 2, 1}, {16, 1, 2},
                                       {32, 2, 4}, {64, 2, 8}, {128, 1, 16}, {32, 16, 2}};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    for (size_t more = 0; more < 40; more += 13) {
      const size_t round = kinds[i].width * kinds[i].height * (kinds[i].load > 1 ? kinds[i].load : ACCUMULATORS);
      expect_block(&kinds[i], 2 * round - 5 + more, 0);
    }
}

Test(reveal_torch_gpu, a_tree_with_two_terms_swapped_has_no_name) {
  expect_no_name_of_swapped(&(struct block){128, 1, 4}, as_torch_gpu, 1, 1000);
}
