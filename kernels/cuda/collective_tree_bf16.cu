/* collective_tree_bf16.cu: the tree over ranks for bf16; see collective_tree.cuh. */
#include "collective_tree.cuh"

FOLD_TREE_INSTANCE(bf16, FOLD_BF16)
