/* collective_tree_f64.cu: the tree over ranks for f64; see collective_tree.cuh. */
#include "collective_tree.cuh"

FOLD_TREE_INSTANCE(f64, FOLD_F64)
