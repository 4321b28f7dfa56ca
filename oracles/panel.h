/* panel.h: whether an input could tell one order from another.
 *
 * An invariance that held on data where every tree gives the same bits shows nothing about order: 1 + 2 + 3 is 6 in every order.
 * So an input is folded by a panel of eight trees. It is *telling* where two of them give different bits, which proves that
 * another order can be seen in it, and *idle* where none do: then only a tree outside the panel could show anything.
 *
 * The trees are plain, one rounding a join in the dtype's accumulator, starting zeros included, so that -0 alone tells who starts
 * at +0. Results are compared as claims compare them: rounded to the result's dtype, NaN by its class. Trees that differ in the
 * accumulator alone show in no result: that is idle.
 */
#ifndef FOLD_PANEL_H
#define FOLD_PANEL_H

#include "order.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Unknown: not asked, or from an older record. */
enum fold_telling { FOLD_TELLING_UNKNOWN, FOLD_IDLE, FOLD_TELLING };

/* Rows of more terms are folded by trees whose parts threads share; the others also with their terms sorted and shuffled. */
enum { FOLD_PANEL_TERMS = 1 << 20 };

/* The trees for rows of so many terms. */
const struct fold_order *fold_panel(size_t cols, size_t *n);

/* Whether some row of the call, by that arithmetic, has different bits in one of its panel's trees than in the first; host memory, `out` and `launch` are
 * not looked at. It ends at the first difference: most inputs tell within two trees. Max and min do not round, and have no trees to
 * differ; there a row tells that holds a NaN and a number, or ends in a zero and holds both: what a plain comparison keeps of
 * them hangs on their places. */
fold_status fold_panel_ask(const struct fold_call *call, struct fold_arithmetic how, enum fold_telling *telling);

#ifdef __cplusplus
}
#endif
#endif
