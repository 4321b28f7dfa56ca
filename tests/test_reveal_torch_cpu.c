/* test_reveal_torch_cpu.c: the trees of PyTorch's sums of rows are known by name, with the kernel's parameters.
 *
 * The fingerprints were recorded by `foldproof.reveal` of x.sum(-1), and of each row's x.sum() by itself, in PyTorch 2.11.0 on an x86-64 CPU
 * with AVX512 (no launch of rows differed from a row alone).
 */
#include <criterion/criterion.h>

#include "noted_sums.h"

enum { LANES = 16, ACCUMULATORS = 4, LEVELS = 4, NAME = 120 };

struct vectors {
  size_t lanes, load, step;
};

/* Registers hold vectors. A full level is added to the next one up. */
struct registers {
  struct value level[LEVELS][ACCUMULATORS][LANES];
};

static void add_up(struct registers *r, size_t to, size_t accumulator, size_t lanes) {
  for (size_t i = 0; i < lanes; i++) {
    struct value *from = &r->level[to - 1][accumulator][i];
    r->level[to][accumulator][i] = add_noted(r->level[to][accumulator][i], *from);
    *from = none;
  }
}

static void clear(struct registers *r) {
  for (size_t i = 0; i < sizeof *r / sizeof(struct value); i++) ((struct value *)r)[i] = none;
}

/* Loads vectors at x, adds them lane by lane, and adds the sum to an accumulator. */
static void add_load(const struct vectors *v, const struct value *x, struct value *accumulator) {
  for (size_t i = 0; i < v->lanes; i++) {
    struct value loaded = x[i];
    for (size_t k = 1; k < v->load; k++) loaded = add_noted(loaded, x[k * v->lanes + i]);
    accumulator[i] = add_noted(accumulator[i], loaded);
  }
}

static void carry(const struct vectors *v, struct registers *r, size_t rounds) {
  for (size_t to = 1; to < LEVELS && rounds % v->step == 0; to++, rounds /= v->step)
    for (size_t a = 0; a < ACCUMULATORS; a++) add_up(r, to, a, v->lanes);
}

static struct value as_torch_cpu(const void *kernel, const struct value *x, size_t n) {
  const struct vectors *v = kernel;
  const size_t width = v->lanes * v->load, rounds = n / width / ACCUMULATORS;
  struct registers r;
  struct value sum = none;
  size_t at = 0;
  clear(&r);
  for (size_t k = 1; k <= rounds; k++) {
    for (size_t a = 0; a < ACCUMULATORS; a++, at += width) add_load(v, x + at, r.level[0][a]);
    carry(v, &r, k);
  }
  for (size_t i = 0; i < v->lanes; i++)
    for (size_t a = 0; a < ACCUMULATORS; a++)
      for (size_t k = 1; k < LEVELS; k++) r.level[0][a][i] = add_noted(r.level[0][a][i], r.level[k][a][i]);
  for (; n - at >= width; at += width) add_load(v, x + at, r.level[0][0]);
  for (; at < n; at++) sum = add_noted(sum, x[at]);
  for (size_t i = 0; i < v->lanes; i++) {
    for (size_t a = 1; a < ACCUMULATORS; a++) r.level[0][0][i] = add_noted(r.level[0][0][i], r.level[0][a][i]);
    sum = add_noted(sum, r.level[0][0][i]);
  }
  return sum;
}

/* Steps show from two sums of the first step's on: until then a step and one more round are added in turn. */
static void expect_vectors(const struct vectors *v, size_t n, uint64_t print) {
  const size_t rounds = n / (v->lanes * v->load) / ACCUMULATORS;
  char name[NAME];
  int used = snprintf(name, NAME, "PyTorch's sum on a CPU, %zu lanes x 4 accumulators", v->lanes);
  if (v->load > 1) used += snprintf(name + used, NAME - (size_t)used, ", loads of %zu", v->load);
  if (rounds > v->step + 1) snprintf(name + used, NAME - (size_t)used, ", steps of %zu", v->step);
  expect_name(v, as_torch_cpu, 1, n, print, name);
}

Test(reveal_torch_cpu, a_cpus_vectors_of_8_f32) {
  static const struct recorded seen[] = {
      {33, 0x8df82ed9fd5834a2},    {64, 0xd6f4ecce0e8482e2},   {100, 0x902c901d3565bd69},  {128, 0xd694209a89b26f2f},
      {255, 0x70ad455078291789},   {256, 0x59292716a9ac2d5d},  {257, 0xdc3330511aba766c},  {512, 0x8588479ac6f0986f},
      {1000, 0x029387ada1314fb6},  {1024, 0x0cfcb4d7a3aca6db}, {1025, 0x568fb5ea62bf7dd2}, {2048, 0x84dfe93e4ba7adbe},
      {2049, 0x46c6ceb9eea5cc44},  {4096, 0x6fbdff1f59d6793b}, {5000, 0xfea537acff919e02}, {8192, 0x23c889e02898a6ed},
      {10000, 0x999e9e91d6d69587}, {20000, 0xb99916299f70152a}};
  for (size_t i = 0; i < sizeof seen / sizeof *seen; i++)
    expect_vectors(&(struct vectors){8, 1, 16}, seen[i].n, seen[i].print);
}

Test(reveal_torch_cpu, a_cpus_vectors_of_4_f64) {
  static const struct recorded seen[] = {
      {33, 0x6934e2915dbabd80},    {64, 0x84643e157849246e},   {100, 0x1edae93451343233},  {128, 0xfb5d61589619012f},
      {255, 0xc6fe317f6e5e88c5},   {256, 0x729b46612730cf1e},  {257, 0x362979c9c5dfdeeb},  {512, 0x75bad3254571202a},
      {1000, 0x424e8a0d140e0ccf},  {1024, 0xc893c8671eadb337}, {1025, 0x2c395e4f43c9a441}, {2048, 0x27112c1c1ec16853},
      {2049, 0x61beffcfdd536ad9},  {4096, 0x96fdfe00c2ce3587}, {5000, 0x31ed3bf919caf58d}, {8192, 0x779e8f95f5c11026},
      {10000, 0xfccd0438031ae2c1}, {20000, 0x5ee442fd96e278e3}};
  for (size_t i = 0; i < sizeof seen / sizeof *seen; i++)
    expect_vectors(&(struct vectors){4, 1, 16}, seen[i].n, seen[i].print);
}

/* bf16 as f16, where it was recorded. */
Test(reveal_torch_cpu, a_cpus_vectors_of_16_f16_added_in_f32) {
  static const struct recorded seen[] = {
      {33, 0x80b38cb609d1afae},   {64, 0xd7ebf459f1be589b},   {100, 0xc6f73748c975638a},  {128, 0x7e94e435ee796212},
      {255, 0x725294f3340e9dce},  {256, 0x2259cdda5e48a737},  {257, 0x09a97dcaa2ed75b3},  {512, 0x905b8feaffb01433},
      {1000, 0x9c71f2764b06b05e}, {1024, 0x2982e864c6749c22}, {1025, 0xafb4d9318c1de94b}, {2048, 0xb09c5de06eabee7e},
      {2049, 0x2da563d70eef6bc0}, {4096, 0xff573e18b67aa5a7}, {5000, 0xb01328a09c40f4c9}, {8192, 0x7762e686eede81fd},
      {10000, 0x07c0987d45383d49}};
  for (size_t i = 0; i < sizeof seen / sizeof *seen; i++)
    expect_vectors(&(struct vectors){8, 2, 16}, seen[i].n, seen[i].print);
}

/* Of other vectors and steps, around the ends of steps and of steps of steps. */
Test(reveal_torch_cpu, a_cpus_lanes_and_steps_are_found_in_the_tree) {
  static const size_t rounds[] = {1, 4, 5, 6, 8, 9, 15, 16, 17, 31, 64, 65, 66, 127};
  static const struct vectors kinds[] = {{2, 1, 8}, {4, 2, 4}, {16, 1, 4}, {16, 2, 32}};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    for (size_t k = 0; k < sizeof rounds / sizeof *rounds; k++)
      expect_vectors(&kinds[i], rounds[k] * kinds[i].lanes * kinds[i].load * ACCUMULATORS + 5 * kinds[i].lanes + 1, 0);
}

Test(reveal_torch_cpu, a_cpus_tree_with_two_terms_swapped_has_no_name) {
  expect_no_name_of_swapped(&(struct vectors){8, 1, 16}, as_torch_cpu, 1, 1000);
}
