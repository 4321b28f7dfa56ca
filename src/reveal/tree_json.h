/* tree_json.h: a tree as JSON: a list of joins. Entry j is join n + j, a list of its operands, terms 0 to n - 1 or former joins; the last is
 * the root.
 */
#ifndef FOLD_TREE_JSON_H
#define FOLD_TREE_JSON_H

#include <jansson.h>

#include "reveal/tree.h"

json_t *fold_tree_joins(const struct fold_tree *tree);

#endif
