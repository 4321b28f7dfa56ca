/* collective_tree_f16.cu: the tree over ranks for f16; see collective_tree.cuh. */
#include "collective_tree.cuh"

FOLD_TREE_INSTANCE(f16, FOLD_F16)
