/* test_reveal_kernels.c: the trees of libraries' kernels are known by name, with the kernel's parameters.
 *
 * The fingerprints were recorded by `foldproof reveal` on an NVIDIA H200 (132 SMs): cub/reduce and cub/segmented of CCCL 3.0.1, cublas/dot
 * of CUDA 13.0. The subjects here add floats as those kernels do, thread by thread, and note which are added; a recorded fingerprint says that they do.
 */
#include <criterion/criterion.h>

#include "noted_sums.h"

enum { LANES = 32, THREADS = 256, ITEMS = 32 };

struct kernel {
  unsigned threads, items, load;
  bool in_turn, one_block;
};

/* A thread's registers: what it has of earlier tiles, if any, and the items of this one. */
static struct value add_registers(struct value *x, size_t n, bool in_turn) {
  if (in_turn)
    for (size_t i = 1; i < n; i++) x[0] = add_noted(x[0], x[i]);
  else
    for (size_t step = 1; step < n; step *= 2)
      for (size_t i = 0; i + step < n; i += 2 * step) x[i] = add_noted(x[i], x[i + step]);
  return x[0];
}

/* A block adds n terms, tile after tile. */
static struct value add_block(const struct kernel *k, const struct value *x, size_t n) {
  const size_t tile = (size_t)k->threads * k->items, active = n < k->threads ? n : k->threads;
  struct value lane[THREADS], sum = none;
  for (size_t t = 0; t < active; t++) {
    size_t at = 0, has = 0;
    lane[t] = none;
    for (; at + tile <= n; at += tile) {
      struct value item[ITEMS + 1] = {lane[t]};
      const size_t first = has;
      for (size_t i = 0; i < k->items; i += k->load)
        for (size_t v = 0; v < k->load; v++) item[first + i + v] = x[at + i * k->threads + t * k->load + v];
      lane[t] = add_registers(item, first + k->items, k->in_turn);
      has = 1;
    }
    for (at += t; at < n; at += k->threads) lane[t] = add_noted(lane[t], x[at]);
  }
  for (size_t step = 1; step < LANES; step *= 2)
    for (size_t t = 0; t + step < active; t += 2 * step)
      if (t / LANES == (t + step) / LANES) lane[t] = add_noted(lane[t], lane[t + step]);
  for (size_t warp = 0; warp < active; warp += LANES) sum = add_noted(sum, lane[warp]);
  return sum;
}

static struct value add_grid(const struct kernel *k, const struct value *x, size_t n) {
  const size_t tile = (size_t)k->threads * k->items;
  struct value sums[64];
  size_t blocks = 0;
  for (size_t at = 0; at < n; at += tile) sums[blocks++] = add_block(k, x + at, n - at < tile ? n - at : tile);
  return add_block(k, sums, blocks);
}

static struct value as_cub(const void *kernel, const struct value *term, size_t n) {
  const struct kernel *k = kernel;
  return k->one_block ? add_block(k, term, n) : add_grid(k, term, n);
}

/* A segment of 128 threads' terms; a thread adds its neighbours, then threads shuffle down. */
static struct value add_segment(const struct value *term, size_t n, size_t load) {
  struct value thread[128];
  for (size_t t = 0; t < 128; t++) thread[t] = none;
  for (size_t i = 0; i < n; i++) thread[i / load] = add_noted(thread[i / load], term[i]);
  for (size_t half = 64; half > 0; half /= 2)
    for (size_t t = 0; t < half; t++) thread[t] = add_noted(thread[t], thread[t + half]);
  return thread[0];
}

static struct value as_cublas(const void *kernel, const struct value *term, size_t n) {
  const struct kernel *k = kernel;
  const size_t segment = 128 * (size_t)k->load;
  struct value slot[32], group[4] = {none, none, none, none};
  for (size_t i = 0; i < 32; i++) slot[i] = none;
  for (size_t at = 0; at < n; at += segment) {
    struct value *to = &slot[at / segment % 32];
    *to = add_noted(*to, add_segment(term + at, n - at < segment ? n - at : segment, k->load));
  }
  for (size_t i = 0; i < 32; i++) group[i % 4] = add_noted(group[i % 4], slot[i]);
  return add_noted(add_noted(add_noted(group[0], group[1]), group[2]), group[3]);
}

#define TILES(items, load, how) "CUB's tiles of 256 threads x " items " items (loads of " load ", added " how ")"
static const struct kernel cub_f32 = {.threads = 256, .items = 16, .load = 4},
                           cub_f16 = {.threads = 256, .items = 16, .load = 1},
                           cub_f64 = {.threads = 256, .items = 8, .load = 4, .in_turn = true},
                           cub_segmented = {.threads = 256, .items = 16, .load = 4, .one_block = true};

/* The same in f32, f64, bf16 and f16, where it was recorded. */
Test(reveal_kernels, cubs_block_that_has_no_full_tile) {
  static const struct recorded seen[] = {
      {255, 0x4f0f30becfce6ff4},  {256, 0x980dcd8c5625d31b},  {300, 0x33f6f08ba948a277}, {1000, 0x5489f1dd81546778},
      {1024, 0x6aa9bf31d8417283}, {1025, 0x8ef0f5757f1570b8}, {2049, 0xe4bdfac4d59e2ad1}};
  expect_name(&cub_f32, as_cub, 1, 64, 0x6dda6c515d104310, "host/pairwise, rows/par_256, flat/canonical");
  expect_name(&cub_f32, as_cub, 1, 100, 0x87a5900ad2d4e1f0, "CUB's block of one term a thread");
  for (size_t i = 0; i < sizeof seen / sizeof *seen; i++)
    expect_name(&cub_f32, as_cub, 1, seen[i].n, seen[i].print,
                seen[i].n > 256 ? "CUB's block of 256 threads" : "CUB's block of one term a thread");
}

Test(reveal_kernels, cubs_tiles_a_block_each) {
  static const struct recorded f32[] = {{4096, 0x93e9fbafa5a17bc4},
                                        {5000, 0xaa9f40bc3412202f},
                                        {10000, 0x3ff973df6aed9da0}},
                               f16[] = {{4097, 0xa8089e4fe8692860}, {5000, 0x3d35bcb4c80c0a48}};
  for (size_t i = 0; i < sizeof f32 / sizeof *f32; i++)
    expect_name(&cub_f32, as_cub, 1, f32[i].n, f32[i].print, TILES("16", "4", "pairwise") ", a block each");
  for (size_t i = 0; i < sizeof f16 / sizeof *f16; i++)
    expect_name(&cub_f16, as_cub, 1, f16[i].n, f16[i].print, TILES("16", "1", "pairwise") ", a block each");
  expect_name(&cub_f64, as_cub, 1, 5000, 0x12e1a4e6a05a9776, TILES("8", "4", "sequentially") ", a block each");
}

Test(reveal_kernels, cubs_tiles_in_one_block) {
  static const struct recorded seen[] = {{5000, 0x493bc22e8eafe3ca}, {10000, 0xb6cc755969097504}};
  expect_name(&cub_segmented, as_cub, 1, 4096, 0x93e9fbafa5a17bc4, TILES("16", "4", "pairwise") ", a block each");
  for (size_t i = 0; i < sizeof seen / sizeof *seen; i++)
    expect_name(&cub_segmented, as_cub, 1, seen[i].n, seen[i].print, TILES("16", "4", "pairwise") ", in one block");
}

/* bf16 and f16 as f32, where they were recorded. */
Test(reveal_kernels, cublass_dot) {
  static const struct recorded f32[] = {{64, 0x740d8d1e9f484862},    {100, 0xaaa3dadca574eb68},
                                        {255, 0x4c3e4ad0c0d69f18},   {256, 0x0a3d57e4fde195e1},
                                        {1000, 0xcb97a3c3a436ae26},  {1024, 0xc1e5fc3d5c0f635f},
                                        {1025, 0x4513fc40882d0505},  {2049, 0xf214edeaf94aa8d2},
                                        {4096, 0x1b1203bceade2307},  {4097, 0x77ca483cc3106823},
                                        {5000, 0x9d5daafaa7f3570c},  {8193, 0x7cfc4c967ef6d30b},
                                        {10000, 0x79f37c3d872d6290}, {12289, 0xa70e119d63c5b561}},
                               f64[] = {{100, 0xada6ab0b1f5f681e},  {256, 0x3c4ecf4457e9c9d8},
                                        {1000, 0xc6886bb416f07f97}, {1025, 0x44f1af3f79ace224},
                                        {4097, 0x79d770fb42e1cdaf}, {5000, 0x4b75251073400dbf}};
  const struct kernel two = {.load = 2}, one = {.load = 1};
  for (size_t i = 0; i < sizeof f32 / sizeof *f32; i++)
    expect_name(&two, as_cublas, 2, f32[i].n, f32[i].print, "cuBLAS's dot of 128 threads x 2 rounded products");
  for (size_t i = 0; i < sizeof f64 / sizeof *f64; i++)
    expect_name(&one, as_cublas, 2, f64[i].n, f64[i].print, "cuBLAS's dot of 128 threads x 1 rounded product");
}

/* Of any block, around the ends of one, two and three tiles. */
Test(reveal_kernels, cubs_parameters_are_found_in_the_tree) {
  static const size_t sizes[] = {511, 512, 513, 515, 600, 1023, 1024, 1025, 1536, 1537};
  static const struct kernel kernels[] = {{.threads = 64, .items = 8, .load = 2},
                                          {.threads = 64, .items = 8, .load = 4, .in_turn = true},
                                          {.threads = 128, .items = 4, .load = 1, .one_block = true},
                                          {.threads = 64, .items = 8, .load = 2, .one_block = true}};
  for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
      const struct kernel *k = &kernels[i];
      const size_t n = sizes[s], tile = (size_t)k->threads * k->items;
      char name[120];
      if (n < tile)
        snprintf(name, sizeof name, "CUB's block of %u threads", k->threads);
      else
        snprintf(name, sizeof name, "CUB's tiles of %u threads x %u items (loads of %u, added %s), %s", k->threads,
                 k->items, k->load, k->in_turn ? "sequentially" : "pairwise",
                 k->one_block && n > tile ? "in one block" : "a block each");
      expect_name(k, as_cub, 1, n, 0, name);
    }
}

Test(reveal_kernels, a_tree_with_two_terms_swapped_is_no_kernels) {
  const struct kernel kernel = {.threads = 64, .items = 4, .load = 2};
  expect_name(&kernel, as_cub, 1, 600, 0,
              "CUB's tiles of 64 threads x 4 items (loads of 2, added pairwise), a block each");
  expect_no_name_of_swapped(&kernel, as_cub, 1, 600);
}
