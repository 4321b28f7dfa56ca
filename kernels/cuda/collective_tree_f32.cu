/* collective_tree_f32.cu: the tree over ranks for f32; see collective_tree.cuh. */
#include "collective_tree.cuh"

FOLD_TREE_INSTANCE(f32, FOLD_F32)
