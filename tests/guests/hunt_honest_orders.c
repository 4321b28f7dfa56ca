/* hunt_honest_orders.c: rows in each order, by problem, dtype and accumulator. */
#include "hunt_honest.h"
#include "hunt_orders.h"

#define WAY(id, problem, dtype, declared, sums_in, gives, text, ...)                                    \
  {                                                                                                     \
    .name = "honest/" #id, .about = text, .problems = problem, .dtypes = dtype, .order = declared,      \
    .accumulator = sums_in, .result = gives, .claims = HUNT_ORDERED, .run = hunt_run_way, .strides = 1, \
    .context = &(struct hunt_way) {                                                                     \
      __VA_ARGS__                                                                                       \
    }                                                                                                   \
  }
#define FLOATS "f16,bf16,f32,f64,e4m3,e5m2"
#define DOTS "f16,bf16,f32,f64"
static const struct foldproof_guest_subject orders[] = {
    WAY(rising_sum, "sum", FLOATS, "host/sequential", NULL, NULL, "in turn", .order = hunt_rising),
    WAY(rising_prod, "prod", "f32,f64", "host/sequential", NULL, NULL, "a product in turn", .order = hunt_rising),
    WAY(rising_prod_narrow, "prod", "f16,bf16", "rows/single_for", NULL, NULL, "a product of narrow terms",
        .order = hunt_rising),
    WAY(rising_max, "max", FLOATS, "host/sequential", NULL, NULL, "the greatest", .order = hunt_rising),
    WAY(rising_min, "min", FLOATS, "host/sequential", NULL, NULL, "the least", .order = hunt_rising),
    WAY(falling_sum, "sum", FLOATS, "host/reverse", NULL, NULL, "from the end", .order = hunt_falling),
    WAY(falling_prod, "prod", "f32,f64", "rows/single_back", NULL, NULL, "a product from the end",
        .order = hunt_falling),
    WAY(falling_max, "max", DOTS, "host/reverse", NULL, NULL, "the greatest from the end", .order = hunt_falling),
    WAY(pairwise_sum, "sum", FLOATS, "host/pairwise", NULL, NULL, "a tree over neighbours", .order = hunt_pairwise),
    WAY(pairwise_prod, "prod", "f32,f64", "host/pairwise", NULL, NULL, "the tree of a product", .order = hunt_pairwise),
    WAY(pairwise_min, "min", DOTS, "host/pairwise", NULL, NULL, "the tree of a minimum", .order = hunt_pairwise),
    WAY(chunks_16, "sum", FLOATS, "rows/par_16", NULL, NULL, "16 chunks", .order = hunt_chunks, .width = 16),
    WAY(chunks_16_prod, "prod", "f32,f64", "rows/par_16", NULL, NULL, "16 chunks of a product", .order = hunt_chunks,
        .width = 16),
    WAY(chunks_64, "sum", FLOATS, "rows/par_64", NULL, NULL, "64 chunks", .order = hunt_chunks, .width = 64),
    WAY(chunks_7, "sum", "f32,f64", "rows/par_16/7", NULL, NULL, "7 chunks", .order = hunt_chunks, .width = 7),
    WAY(chunk_tree, "sum", FLOATS, "rows/par_256", NULL, NULL, "a tree over 256 chunks", .order = hunt_chunk_tree,
        .width = 256),
    WAY(numpy, "sum", DOTS, "host/numpy", NULL, NULL, "NumPy's pairwise summation", .order = hunt_numpy, .width = 8192),
    WAY(sorted, "sum", DOTS, "host/sorted", NULL, NULL, "by rising magnitude", .order = hunt_sorted),
    WAY(canonical, "sum", FLOATS, "flat/canonical", NULL, NULL, "tiles of 16 lines", .order = hunt_canonical),
    WAY(rising_dot, "dot", DOTS, "dot/sequential", NULL, NULL, "products in turn", .order = hunt_rising),
    WAY(fused_dot, "dot", "f32,f64", "dot/sequential_fma", NULL, NULL, "products in turn, fused", .order = hunt_rising,
        .fuses = true),
    WAY(fused_dot_narrow, "dot", "f16,bf16", "dot/sequential_fma", NULL, NULL, "narrow products, fused",
        .order = hunt_rising, .fuses = true),
    WAY(pairwise_dot, "dot", DOTS, "dot/pairwise", NULL, NULL, "a tree over products", .order = hunt_pairwise),
    WAY(canonical_dot, "dot", "f32,f64", "dot/canonical", NULL, NULL, "tiles of fused products",
        .order = hunt_canonical, .fuses = true),
    WAY(squares, "sumsq", "f16,f32,f64", "dot/sequential", NULL, NULL, "squares in turn", .order = hunt_rising),
    WAY(fused_squares, "sumsq", "f32,f64", "dot/sequential_fma", NULL, NULL, "squares in turn, fused",
        .order = hunt_rising, .fuses = true),
    WAY(magnitudes, "asum", DOTS, "host/sequential", NULL, NULL, "magnitudes in turn", .order = hunt_rising),
    WAY(magnitudes_tree, "asum", "f32,f64", "host/pairwise", NULL, NULL, "a tree over magnitudes",
        .order = hunt_pairwise),
    WAY(matrix_vector, "matvec", DOTS, "dot/sequential", NULL, NULL, "a matrix times a vector", .order = hunt_rising),
    WAY(fused_matrix_vector, "matvec", "f32,f64", "dot/sequential_fma", NULL, NULL, "the same, fused",
        .order = hunt_rising, .fuses = true),
    WAY(pairwise_matrix_vector, "matvec", "f32,f64", "dot/pairwise", NULL, NULL, "the same by a tree",
        .order = hunt_pairwise),
    /* Other accumulators and results. */
    WAY(sum_in_f16, "sum", "f16", "host/sequential", "terms", NULL, "added in f16", .order = hunt_rising),
    WAY(tree_in_f16, "sum", "f16", "host/pairwise", "terms", NULL, "a tree in f16", .order = hunt_pairwise),
    WAY(sum_in_bf16, "sum", "bf16", "host/sequential", "terms", NULL, "added in bf16", .order = hunt_rising),
    WAY(sum_in_f64, "sum", "f16,bf16,f32", "host/sequential", "f64", NULL, "added in f64", .order = hunt_rising),
    WAY(sum_to_f64, "sum", "f16,bf16,f32", "host/sequential", "f64", "f64", "a sum in f64", .order = hunt_rising),
    WAY(sum_to_f32, "sum", "f16,bf16,e4m3,e5m2", "host/pairwise", NULL, "f32", "a sum in f32", .order = hunt_pairwise),
    WAY(dot_in_f64, "dot", "f32", "dot/sequential", "f64", NULL, "products added in f64", .order = hunt_rising),
    WAY(dot_to_f32, "dot", "f16,bf16", "dot/sequential", NULL, "f32", "products in f32", .order = hunt_rising),
    /* Scans. */
    WAY(scan, "scan", "f16,bf16,f32,f64", "host/sequential", NULL, NULL, "a scan in turn", .order = hunt_scan),
    WAY(exclusive_scan, "exclusive_scan", "f32,f64", "host/sequential", NULL, NULL, "sums before each term",
        .order = hunt_scan),
    WAY(scan_tiles_32, "scan", "f16,f32,f64", "scan/tiled", NULL, NULL, "a scan in tiles", .order = hunt_scan_tiles,
        .width = 32),
    WAY(scan_tiles_100, "exclusive_scan", "f32", "scan/tiled/100", NULL, NULL, "an exclusive scan in tiles of 100",
        .order = hunt_scan_tiles, .width = 100),
    WAY(scan_warps, "scan", "f32,f64", "scan/warps", NULL, NULL, "a scan by doubling", .order = hunt_scan_warps,
        .width = 32),
    WAY(scan_max, "scan_max", "f16,f32,f64", "host/sequential", NULL, NULL, "the greatest so far", .order = hunt_scan),
    WAY(scan_min, "scan_min", "bf16,f32", "scan/warps/64", NULL, NULL, "the least so far, by doubling",
        .order = hunt_scan_warps, .width = 64),
};
HUNT_TABLE(orders)
