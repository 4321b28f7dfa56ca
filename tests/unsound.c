/* unsound.c: registries with one mistake each, made from a row that is right. */
#include "unsound.h"

static fold_status run(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject, (void)call;
  return fold_ok();
}
static size_t grain(size_t cols) { return cols; }
static uint64_t height(size_t cols, unsigned ranks) { return cols + ranks; }

#define C(x) FOLD_CLAIM(FOLD_##x)
/* A later initialiser takes the place of an earlier one: that is the mistake. */
#pragma GCC diagnostic ignored "-Woverride-init"
#define ROW(...)                                                                                                  \
  {                                                                                                               \
    .name = "a/row", .engine = FOLD_HOST, .about = "right", .dtypes = 1u << FOLD_F32, .problems = 1u << FOLD_SUM, \
    .method = FOLD_PLAIN, .claims = C(WRITES_OUTPUT), .run = run, ##__VA_ARGS__                                   \
  }
#define ONE(id, text, ...) \
  { .kind = id, .says = text, .subjects = {ROW(__VA_ARGS__)}, .n = 1 }
#define TWO(id, text, first, second) \
  { .kind = id, .says = text, .subjects = {first, second}, .n = 2 }

static const struct unsound table[] = {
    ONE("no_name", "subject 0 has no name", .name = NULL),
    ONE("empty_name", "subject 0 has no name", .name = ""),
    ONE("name_with_comma", "subject 0 has no name", .name = "a,b"),
    ONE("name_with_glob", "subject 0 has no name", .name = "a/*"),
    ONE("no_engine", "a/row has no engine", .engine = FOLD_ENGINES),
    ONE("no_run", "no run function", .run = NULL),
    ONE("no_dtype", "its dtypes are 0x0", .dtypes = 0),
    ONE("other_dtype", "its dtypes are 0x200", .dtypes = 1u << FOLD_DTYPES),
    ONE("no_op", "its problems are 0x0", .problems = 0),
    ONE("other_op", "its problems are 0x", .problems = 1u << FOLD_PROBLEMS),
    ONE("other_method", "its method is 99", .method = (enum fold_method)99),
    ONE("other_claim", "claim that is not in the table", .claims = (uint64_t)1 << FOLD_CLAIMS),
    ONE("order_bounded", "order 'host/sequentail' does not exist", .order = "host/sequentail", .claims = C(BOUNDED)),
    ONE("order_replays", "order 'rows/par_' does not exist", .order = "rows/par_", .claims = C(REPLAYS)),
    ONE("order_unused", "order '' does not exist", .order = ""),
    ONE("order_of_elements", "is not one for dot", .order = "host/pairwise", .problems = 1u << FOLD_DOT),
    ONE("order_of_products", "is not one for sum", .order = "dot/pairwise"),
    ONE("dot_over_ranks", "dot over ranks", .engine = FOLD_MPI, .problems = 1u << FOLD_DOT),
    ONE("replays_nothing", "claims 'replays' and declares no order", .claims = C(REPLAYS)),
    ONE("replays_kahan_by_a_tree", "its method has no replay", .claims = C(REPLAYS), .order = "host/pairwise",
        .method = FOLD_KAHAN),
    ONE("replays_other_kahan", "no replay but of sums", .claims = C(REPLAYS), .order = "host/sequential",
        .method = FOLD_KAHAN, .problems = 1u << FOLD_SUM | 1u << FOLD_MAX),
    ONE("tree_of_nothing", "claims 'tree' and declares no order", .claims = C(TREE)),
    ONE("tree_of_sorted_terms", "no order of plain additions that all terms share", .claims = C(TREE),
        .order = "host/sorted"),
    ONE("other_accumulator", "its accumulator is by rule 12", .accumulator = FOLD_ALWAYS(FOLD_DTYPES)),
    ONE("accumulator_of_itself", "its accumulator is by rule 2", .accumulator = FOLD_OF_ACCUMULATOR),
    ONE("accumulator_too_narrow", "its accumulator f16 does not hold terms of f32",
        .accumulator = FOLD_ALWAYS(FOLD_F16)),
    ONE("other_result", "its results are by rule 12", .result = FOLD_ALWAYS(FOLD_DTYPES)),
    ONE("replays_exactly", "its method has no replay", .claims = C(REPLAYS), .order = "host/sequential",
        .method = FOLD_EXACT),
    ONE("no_twin", "claims 'same_bits_as' and names no reference", .claims = C(SAME_BITS_AS)),
    ONE("twin_elsewhere", "reference 'rows/par_256' does not exist", .claims = C(SAME_BITS_AS), .twin = "rows/par_256"),
    ONE("own_twin", "its own reference", .claims = C(SAME_BITS_AS), .twin = "a/row"),
    ONE("compensated_plainly", "claims 'compensated'", .claims = C(COMPENSATED)),
    ONE("as_accurate_as_what", "claims 'accurate_as', and it names no order", .claims = C(ACCURATE_AS)),
    ONE("ulps_of_what", "claims 'ulps', and it names no number", .claims = C(ULPS)),
    ONE("compensated_product", "a bound for products", .claims = C(BOUNDED), .method = FOLD_KAHAN,
        .problems = 1u << FOLD_PROD),
    ONE("compensated_product_of_kahan", "a bound for products", .claims = C(COMPENSATED), .method = FOLD_KAHAN,
        .problems = 1u << FOLD_PROD),
    ONE("ranks_agree_alone", "about ranks", .claims = C(RANK_AGREEMENT)),
    ONE("message_alone", "about ranks", .claims = C(MESSAGE_INVARIANT)),
    ONE("world_alone", "about ranks", .claims = C(WORLD_INVARIANT)),
    ONE("vector_alone", "cut over ranks", .vector = true),
    ONE("grain_alone", "cut over ranks", .grain = grain),
    ONE("height_alone", "cut over ranks", .height = height),
    ONE("height_twice", "a height of its own", .engine = FOLD_MPI, .height = height, .order = "host/pairwise"),
    TWO("name_twice", "two of that name", ROW(), ROW()),
    TWO("twin_on_other_engine", "reference 'b/row' does not exist", ROW(.claims = C(SAME_BITS_AS), .twin = "b/row"),
        ROW(.name = "b/row", .engine = FOLD_CUDA)),
    TWO("twin_takes_less", "does not take all", ROW(.claims = C(SAME_BITS_AS), .twin = "b/row", .problems = 3),
        ROW(.name = "b/row")),
    TWO("twin_of_other_results", "results of a different dtype", ROW(.claims = C(SAME_BITS_AS), .twin = "b/row"),
        ROW(.name = "b/row", .result = FOLD_ALWAYS(FOLD_F64))),
    TWO("twin_over_ranks", "either it or its reference 'mpi:b/row' runs over ranks, and the other does not",
        ROW(.claims = C(SAME_BITS_AS), .twin = "mpi:b/row"), ROW(.name = "b/row", .engine = FOLD_MPI)),
    TWO("twin_of_rows", "does not take all",
        ROW(.engine = FOLD_MPI, .vector = true, .claims = C(SAME_BITS_AS), .twin = "b/row"),
        ROW(.name = "b/row", .engine = FOLD_MPI)),
    TWO("twin_on_a_part_of_an_engine", "reference 'mp:b/row' does not exist",
        ROW(.claims = C(SAME_BITS_AS), .twin = "mp:b/row"), ROW(.name = "b/row", .engine = FOLD_MPI)),
    TWO("second_row", "subject b/row on host: its order 'x'", ROW(), ROW(.name = "b/row", .order = "x")),
};

const struct unsound *unsound_registries(size_t *n) {
  *n = sizeof table / sizeof *table;
  return table;
}
