/* test_gpu_products.c: gemm/exact on whole products: a million results a dtype have the bits of the host's exact sums; what it cuts into
 * panels, groups of batches or launches has the bits of gemm/exact@plain, which cuts nothing.
 */
#include <math.h>

#include "fixtures/cuda_generate.h"
#include "fixtures/fixture.h"
#include "gpu.h"
#include "kernels/cuda/gemm/gemm.h"
#include "run/runner.h"

/* A product of generated factors, in device memory. */
struct product {
  struct fold_call call;
  size_t results, terms_a, terms_b;
};

/* Of factors that are stated: m rows, and n columns one after another, of k terms each. */
static struct product product_of_terms(enum fold_dtype dtype, struct fold_shape shape, const double *rows,
                                       const double *columns) {
  struct product p = {.call = {.dtype = dtype, .problem = fold_problem_find("matmul"), .shape = shape}};
  const size_t size = fold_dtype_size(dtype);
  p.results = shape.m * shape.n, p.terms_a = shape.m * shape.k, p.terms_b = shape.n * shape.k;
  uint64_t a[64], b[64];
  cr_assert(p.terms_a <= 64 && p.terms_b <= 64);
  for (size_t i = 0; i < p.terms_a; i++) fold_bits_store(dtype, a, i, fold_bits_from_double(dtype, rows[i]));
  for (size_t i = 0; i < p.terms_b; i++)
    fold_bits_store(dtype, b, i % shape.k * shape.n + i / shape.k, fold_bits_from_double(dtype, columns[i]));
  void *d_a = gpu_alloc(p.terms_a * size), *d_b = gpu_alloc(p.terms_b * size);
  gpu_need(fold_device_put(d_a, a, p.terms_a * size));
  gpu_need(fold_device_put(d_b, b, p.terms_b * size));
  p.call.in[0] = d_a, p.call.in[1] = d_b;
  p.call.out = gpu_alloc(p.results * size);
  return p;
}

static struct product product_of(enum fold_dtype dtype, const char *generator, struct fold_shape shape) {
  struct product p = {.call = {.dtype = dtype, .problem = fold_problem_find("matmul"), .shape = shape}};
  p.results = fold_results(p.call.problem, &shape);
  p.terms_a = shape.b * shape.m * shape.k, p.terms_b = shape.b * shape.n * shape.k;
  const struct fold_source a = {fold_generator_find(generator), dtype, 11, shape.k, 0},
                           b = {fold_generator_find(generator), dtype, 12, shape.n, 0};
  const size_t size = fold_dtype_size(dtype);
  void *d_a = gpu_alloc(p.terms_a * size), *d_b = gpu_alloc(p.terms_b * size);
  gpu_need(fold_cuda_generate(&a, 0, p.terms_a, d_a, NULL));
  gpu_need(fold_cuda_generate(&b, 0, p.terms_b, d_b, NULL));
  p.call.in[0] = d_a, p.call.in[1] = d_b;
  p.call.out = gpu_alloc(p.results * size);
  return p;
}
static void product_free(struct product *p) {
  gpu_free((void *)p->call.in[0]);
  gpu_free((void *)p->call.in[1]);
  gpu_free(p->call.out);
}

static void *room_for(size_t nbytes) {
  void *room = malloc(nbytes);
  cr_assert(room, "no memory");
  return room;
}

static void run_product(const char *subject, const struct product *p, void *got) {
  fold_status status = gpu_run(fold_subject_find(subject, FOLD_CUDA), p->call, got);
  cr_assert_eq(status.code, FOLD_OK, "%s: %s", subject, status.text);
}

/* How many results differ, and the first of these. A NaN is the same as any other. */
static size_t differing(const struct product *p, const void *a, const void *b, size_t *first) {
  size_t n = 0;
  for (size_t r = p->results; r-- > 0;) {
    const uint64_t x = fold_bits_load(p->call.dtype, a, r), y = fold_bits_load(p->call.dtype, b, r);
    if (x == y || (isnan(fold_bits_to_double(p->call.dtype, x)) && isnan(fold_bits_to_double(p->call.dtype, y))))
      continue;
    n++, *first = r;
  }
  return n;
}

/* The same product by the host's exact sums, some rows at a time side by side. */
static void host_product(const struct product *p, void *want) {
  const struct fold_subject *exact = fold_subject_find("dot/exact", FOLD_HOST);
  const size_t size = fold_dtype_size(p->call.dtype), m = p->call.shape.m, n = p->call.shape.n, k = p->call.shape.k;
  char *a = room_for(p->terms_a * size), *b = room_for(p->terms_b * size);
  gpu_need(fold_device_get(a, p->call.in[0], p->terms_a * size));
  gpu_need(fold_device_get(b, p->call.in[1], p->terms_b * size));
  bool failed = false;
#pragma omp parallel for schedule(dynamic) reduction(|| : failed)
  for (size_t row = 0; row < m; row++) {
    struct fold_call line = p->call;
    line.shape.m = 1;
    line.in[0] = a + row * k * size, line.in[1] = b, line.out = (char *)want + row * n * size;
    failed = failed || exact->run(exact, &line).code != FOLD_OK;
  }
  cr_assert(!failed, "the host's exact product failed");
  free(a);
  free(b);
}

static const char *const data[] = {"normal", "mixed_pairs", "integers", "full_range", "nan_places", "zeros_mixed"};
enum { DATA = sizeof data / sizeof *data };

/* Compares gemm/exact with the host, and frees the product; returns how many results it has. */
static size_t compare_with_host(struct product p, const char *what) {
  const enum fold_dtype dtype = p.call.dtype;
  const struct fold_shape shape = p.call.shape;
  const size_t bytes = p.results * fold_dtype_size(dtype);
  void *got = room_for(bytes), *want = room_for(bytes);
  size_t first = 0;
  host_product(&p, want);
  run_product("gemm/exact", &p, got);
  const size_t other = differing(&p, got, want, &first);
  cr_expect_eq(other, 0, "%s of %s, %zu x %zu x %zu: %zu results differ, the first is %zu: %#llx, not %#llx",
               fold_dtype_name(dtype), what, shape.m, shape.n, shape.k, other, first,
               (unsigned long long)fold_bits_load(dtype, got, first),
               (unsigned long long)fold_bits_load(dtype, want, first));
  free(got);
  free(want);
  product_free(&p);
  return p.results;
}

Test(gpu_products, a_million_exact_results_have_the_hosts_bits) {
  gpu_open();
  static const struct fold_shape shapes[] = {{.b = 1, .m = 401, .n = 389, .k = 67},
                                             {.b = 1, .m = 129, .n = 255, .k = 300}};
  for (int dtype = FOLD_F16; dtype <= FOLD_F64; dtype++) {
    size_t results = 0;
    for (int g = 0; g < DATA; g++)
      for (int s = 0; s < 2; s++)
        results += compare_with_host(product_of((enum fold_dtype)dtype, data[g], shapes[s]), data[g]);
    cr_expect_geq(results, 1000000, "only %zu results of %s", results, fold_dtype_name((enum fold_dtype)dtype));
  }
}

/* A sum of zeros is -0 if each product is, whatever the signs of the rows and columns. */
Test(gpu_products, exact_sums_of_zeros_have_the_hosts_signs) {
  gpu_open();
  static const double rows[5][4] = {
      {1, 2, 3, 4}, {-1, -2, -3, -4}, {1, -1, 2, -2}, {0.0, -0.0, 0.0, -0.0}, {-0.0, -0.0, -0.0, -0.0}};
  static const double columns[5][4] = {
      {0.0, 0.0, 0.0, 0.0}, {-0.0, -0.0, -0.0, -0.0}, {0.0, -0.0, 0.0, -0.0}, {-0.0, 0.0, -0.0, 0.0}, {1, 1, 1, 1}};
  const struct fold_shape shape = {.b = 1, .m = 5, .n = 5, .k = 4};
  for (int dtype = FOLD_F16; dtype <= FOLD_F64; dtype++)
    compare_with_host(product_of_terms((enum fold_dtype)dtype, shape, rows[0], columns[0]), "zeros");
}

/* 1, half a unit of its last place, and a term just below what the digits hold: the last one decides. */
Test(gpu_products, what_the_digits_leave_out_decides_a_tie) {
  gpu_open();
  static const struct {
    enum fold_dtype dtype;
    double row[3], column[3];
  } of[] = {{FOLD_F32, {1, 0x1p-28, 0x1p-12}, {1, 0x1p-28, 0x1p-12}},
            {FOLD_F64, {1, 0x1p-44, 0x1p-26}, {1, 0x1p-44, 0x1p-27}},
            {FOLD_F32, {1, 0x1p-28, 0x1p-12}, {1, -0x1p-28, 0x1p-12}},
            {FOLD_F64, {1, 0x1p-44, 0x1p-26}, {1, -0x1p-44, 0x1p-27}}};
  const struct fold_shape shape = {.b = 1, .m = 1, .n = 1, .k = 3};
  for (size_t i = 0; i < sizeof of / sizeof *of; i++)
    compare_with_host(product_of_terms(of[i].dtype, shape, of[i].row, of[i].column), "a tie");
}

static void compare_with_warps(enum fold_dtype dtype, const char *generator, struct fold_shape shape, unsigned blocks) {
  struct product p = product_of(dtype, generator, shape);
  const size_t bytes = p.results * fold_dtype_size(dtype);
  void *got = room_for(bytes), *want = room_for(bytes);
  size_t first = 0;
  run_product("gemm/exact@plain", &p, want);
  p.call.launch.blocks = blocks;
  run_product("gemm/exact", &p, got);
  const size_t other = differing(&p, got, want, &first);
  cr_expect_eq(other, 0, "%s of %s, batch %zu, %zu x %zu x %zu, %u blocks: %zu results differ, the first is %zu",
               fold_dtype_name(dtype), generator, shape.b, shape.m, shape.n, shape.k, blocks, other, first);
  free(got);
  free(want);
  product_free(&p);
}

Test(gpu_products, exact_results_of_parts_are_those_of_the_whole) {
  gpu_open();
  compare_with_warps(FOLD_F32, "normal", (struct fold_shape){.b = 1, .m = 17000, .n = 130, .k = 16384},
                     0); /* panels of rows */
  compare_with_warps(FOLD_F32, "mixed_pairs", (struct fold_shape){.b = 1, .m = 100, .n = 17000, .k = 16384},
                     0); /* of columns */
  compare_with_warps(FOLD_F64, "normal", (struct fold_shape){.b = 70, .m = 65, .n = 129, .k = 16384},
                     0); /* groups of batches */
  for (unsigned blocks = 1; blocks <= 64; blocks *= 8)
    compare_with_warps(FOLD_F32, "normal", (struct fold_shape){.b = 3, .m = 300, .n = 270, .k = 130}, blocks);
}

/* ---- one wrong result of a product that is judged by a sample ---- */

static const size_t wrong_places[] = {44987, 31337, 71003};
static size_t wrong_place;

/* gemm/canonical, one of whose results is off by a term. */
static fold_status run_with_one_wrong(const struct fold_subject *subject, const struct fold_call *call) {
  float wrong = 0;
  char *const at = (char *)call->out + wrong_place * sizeof wrong;
  FOLD_TRY(fold_cuda_gemm(subject, call));
  if (wrong_place >= fold_results(call->problem, &call->shape)) return fold_ok();
  FOLD_TRY(fold_device_synchronize());
  FOLD_TRY(fold_device_get(&wrong, at, sizeof wrong));
  wrong += 1;
  return fold_device_put(at, &wrong, sizeof wrong);
}

struct found {
  enum fold_verdict verdict;
  size_t row, n;
};

static fold_status keep(void *context, const struct fold_judgement *j) {
  struct found *found = context;
  *found = (struct found){j->finding.verdict, j->finding.row, found->n + 1};
  return fold_ok();
}

static struct found judge_one_wrong(void) {
  char name[] = "one_wrong";
  const struct fold_subject subject = {.name = "one_wrong",
                                       .engine = FOLD_CUDA,
                                       .dtypes = 1u << FOLD_F32,
                                       .problems = 1u << FOLD_MATMUL,
                                       .method = FOLD_PLAIN,
                                       .order = "gemm/canonical",
                                       .claims = FOLD_CLAIM(FOLD_BOUNDED),
                                       .run = run_with_one_wrong,
                                       .scratch = fold_cuda_gemm_scratch};
  struct fold_case c = {.name = name,
                        .file = name,
                        .dtype = FOLD_F32,
                        .problem = fold_problem_find("matmul"),
                        .shape = {.b = 1, .m = 300, .n = 300, .k = 64}};
  c.source = (struct fold_source){fold_generator_find("normal"), FOLD_F32, 5, 64, 0};
  const struct fold_registry registry = {&subject, 1};
  const struct fold_cases cases = {&c, 1, 1};
  const struct fold_selection selection = {.engine = FOLD_CUDA, .claims = "bounded"};
  struct found found = {.n = 0};
  const struct fold_sink sink = {.judgement = keep, .context = &found};
  const int stop = 0;
  gpu_need(fold_verify(&registry, &selection, &cases, NULL, &sink, &stop));
  cr_assert_eq(found.n, 1, "%zu judgements", found.n);
  return found;
}

/* A sample has 4,096 of 90,000: that all three places are in it would be strange. */
Test(gpu_products, one_wrong_result_of_many_is_found) {
  gpu_open();
  for (size_t i = 0; i < sizeof wrong_places / sizeof *wrong_places; i++) {
    wrong_place = wrong_places[i];
    const struct found found = judge_one_wrong();
    cr_expect(found.verdict == FOLD_REFUTED && found.row == wrong_place, "verdict %d, result %zu, not %zu",
              (int)found.verdict, found.row, wrong_place);
  }
  wrong_place = SIZE_MAX;
  cr_expect_eq(judge_one_wrong().verdict, FOLD_HELD);
}
