/* mutants_table_ranks.c: mutants by class of fault: collectives on MPI ranks. */
#include "collective/collective.h"
#include "mutants_row.h"

#ifdef FOLD_HAVE_MPI
static const struct fold_mutant ranks[] = {
    VECTOR("own_first", mutant_own_first, "host/sequential", SPREAD | C(BOUNDED) | C(REPLAYS) | C(MESSAGE_INVARIANT),
           C(RANK_AGREEMENT), 0, "each rank starts with its own term, as with what arrives first"),
    VECTOR("own_last", mutant_own_last, NULL, SPREAD | C(BOUNDED) | C(MESSAGE_INVARIANT), C(RANK_AGREEMENT), 0,
           "each rank adds its own term at last"),
    VECTOR("own_now_and_then", mutant_own_now_and_then, "host/sequential",
           SPREAD | C(BOUNDED) | C(REPLAYS) | C(MESSAGE_INVARIANT), C(RANK_AGREEMENT), 0,
           "the ranks agree in every other call"),
    VECTOR("chunks", mutant_chunks, NULL, SPREAD | C(BOUNDED) | C(MESSAGE_INVARIANT), C(MESSAGE_INVARIANT), 0,
           "a ring whose chunks are as long as the message says"),
    VECTOR("long_messages", mutant_long_messages, NULL, SPREAD | C(BOUNDED) | C(MESSAGE_INVARIANT),
           C(MESSAGE_INVARIANT), 0, "another order for long messages"),
    VECTOR("call_counter", mutant_call_counter, NULL, SPREAD | C(BOUNDED), C(RUN_TO_RUN), C(ALIGNMENT_INVARIANT),
           "each call starts with the next rank's term"),
    VECTOR("last_rank_past_end", mutant_last_rank_past_end, "host/pairwise",
           SPREAD | C(BOUNDED) | C(REPLAYS) | C(MESSAGE_INVARIANT), C(STAYS_IN_BOUNDS), 0,
           "the last rank writes one result too many"),
    VECTOR("last_rank_past_read", mutant_last_rank_past_read, "host/pairwise",
           (SPREAD & ~C(ALIGNMENT_INVARIANT)) | C(BOUNDED) | C(REPLAYS) | C(MESSAGE_INVARIANT), C(STAYS_IN_BOUNDS), 0,
           "the last rank reads past its part, and says nothing of addresses"),
    VECTOR("last_rank_unwritten", mutant_last_rank_unwritten, "host/pairwise",
           SPREAD | C(BOUNDED) | C(REPLAYS) | C(MESSAGE_INVARIANT), C(WRITES_OUTPUT) | C(RANK_AGREEMENT), 0,
           "the last rank keeps its results to itself"),
    VECTOR("other_rank_in_parts", mutant_other_rank_in_parts, "host/pairwise",
           SPREAD | C(BOUNDED) | C(REPLAYS) | C(MESSAGE_INVARIANT), C(RANK_AGREEMENT), 0,
           "rank 1 has another bit in half a message"),
    ROWS("other_rank_in_worlds", mutant_other_rank_in_worlds, FOLD_EXACT, NULL, fold_collective_exact_scratch,
         SPREAD_ROWS | C(CORRECTLY_ROUNDED), C(RANK_AGREEMENT), 0, "rank 1 has another bit in a world of two"),
    {.subject = {COLLECTIVE("lost_part", "a library's sum that loses the last part of long rows", mutant_lost_part,
                            SPREAD | C(BOUNDED)),
                 .height = fold_library_sum_height_tree, .scratch = fold_library_sum_scratch},
     .breaks = C(BOUNDED),
     .fixtures = "constant/f32/sum/1x*/ranks*"},
    ROWS("last_rank_swaps", mutant_last_rank_swaps, FOLD_EXACT, NULL, fold_collective_exact_scratch,
         SPREAD_ROWS | C(CORRECTLY_ROUNDED), C(KEEPS_INPUT), 0, "the last rank swaps two of its terms"),
    ROWS("last_rank_of_four_swaps", mutant_last_rank_of_four_swaps, FOLD_EXACT, NULL, fold_collective_exact_scratch,
         SPREAD_ROWS | C(CORRECTLY_ROUNDED), C(KEEPS_INPUT), 0, "swaps two terms in a world of four"),
    ROWS("unaligned_parts", mutant_unaligned_parts, FOLD_PLAIN, "flat/canonical", fold_collective_canonical_sum_scratch,
         SPREAD_ROWS | C(BOUNDED) | C(REPLAYS), C(REPLAYS) | C(WORLD_INVARIANT), C(BOUNDED),
         "canonical, but that the parts are cut anywhere"),
    ROWS("lost_state", mutant_lost_state, FOLD_EXACT, NULL, fold_collective_exact_scratch,
         SPREAD_ROWS | C(CORRECTLY_ROUNDED) | C(PERMUTATION_INVARIANT),
         C(CORRECTLY_ROUNDED) | C(WORLD_INVARIANT) | C(PERMUTATION_INVARIANT), 0, "exact without the last rank"),
    {.subject = {COLLECTIVE("states_as_doubles", "exact on each rank, added up in f64", mutant_states_as_doubles,
                            SPREAD_ROWS | C(CORRECTLY_ROUNDED) | C(PERMUTATION_INVARIANT)),
                 .method = FOLD_EXACT},
     .breaks = C(CORRECTLY_ROUNDED) | C(WORLD_INVARIANT),
     .may = C(PERMUTATION_INVARIANT) | C(BATCH_INVARIANT),
     .fixtures = "states_as_doubles/*"},
    ROWS("last_rank_in_five", mutant_last_rank_in_five, FOLD_EXACT, NULL, fold_collective_exact_scratch,
         SPREAD_ROWS | C(CORRECTLY_ROUNDED), C(RANK_AGREEMENT), 0,
         "the last rank has another bit where there are five rows"),
    ROWS("last_rank_swaps_in_five", mutant_last_rank_swaps_in_five, FOLD_EXACT, NULL, fold_collective_exact_scratch,
         SPREAD_ROWS | C(CORRECTLY_ROUNDED), C(KEEPS_INPUT), 0,
         "the last rank swaps two of its terms where there are five rows"),
    ROWS("last_rank_swaps_elsewhere", mutant_last_rank_swaps_elsewhere, FOLD_EXACT, NULL, fold_collective_exact_scratch,
         SPREAD_ROWS | C(CORRECTLY_ROUNDED), C(KEEPS_INPUT), 0,
         "the last rank swaps two of its terms where they lie elsewhere"),
    ROWS("last_rank_rounds_up", mutant_last_rank_rounds_up, FOLD_EXACT, NULL, fold_collective_exact_scratch,
         SPREAD_ROWS | C(CORRECTLY_ROUNDED), C(LEAVES_NO_TRACE), 0, "the last rank leaves rounding upwards"),
};
END(ranks)
#else
const struct fold_mutant *fold_mutants_ranks(size_t *n) {
  *n = 0;
  return NULL;
}
#endif
